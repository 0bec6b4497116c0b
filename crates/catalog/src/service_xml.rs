//! XML of harvesting services and metadata schemas: OAI-PMH, catalogue services (CSW), ISO 19139, DataCite, Dublin Core and sitemaps.

use super::dcat_builder::DcatBuilder;
use super::dublin_core;
use super::json_entries::EntryFault;
use super::service_response::{
    CswCapabilities, MetadataFormat, OaiRepository, RecordHeader, RecordPage, ServiceError,
    ServiceProtocol, ServiceResponse, Sitemap,
};
use super::xml_tree::{self, Element};
use super::{
    Catalog, CatalogError, CatalogFile, Dataset, DatasetId, Dialect, EntryKey, IdOrigin, Problem,
    datacite, dcat as reader, iso19139,
};
use lodeseek_rdf::TripleGraphBuilder;
use lodeseek_rdf::dump::{DumpReader, Outcome, XmlRoot};
use lodeseek_rdf::vocab::rdf;

/// Maximum size of a document in bytes: 128 MiB. It is held in memory as a tree.
const MAX_DOCUMENT_BYTES: usize = 128 << 20;
/// Maximum number of characters of an error of a service.
const MAX_MESSAGE_CHARS: usize = 500;
/// Namespaces of DCAT in lists of formats and schemas.
const DCAT: [&str; 2] = ["http://www.w3.org/ns/dcat", "https://www.w3.org/ns/dcat"];

/// Kind of a document, by its root.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    OaiPmh,
    Csw,
    OwsException,
    Iso,
    DataCite,
    DublinCore,
    Sitemap,
}

impl Kind {
    /// Returns the kind of a root; `None` for other documents.
    pub(super) fn from_root(root: &XmlRoot) -> Option<Self> {
        let (namespace, name) = (root.namespace.as_str(), root.name.as_str());
        let is_record = name.ends_with("MD_Metadata") || name == "MI_Metadata";
        Some(match namespace {
            "http://www.openarchives.org/OAI/2.0/" if name == "OAI-PMH" => Self::OaiPmh,
            "http://www.openarchives.org/OAI/2.0/oai_dc/" => Self::DublinCore,
            _ if namespace.starts_with("http://www.opengis.net/cat/csw") => Self::Csw,
            _ if namespace.starts_with("http://www.opengis.net/ows")
                && name == "ExceptionReport" =>
            {
                Self::OwsException
            }
            _ if namespace.contains("isotc211.org/") && is_record => Self::Iso,
            _ if namespace.contains("iso.org/iso/19115/-3/") && is_record => Self::Iso,
            _ if namespace.ends_with("/che") && is_record => Self::Iso,
            _ if namespace.starts_with("http://datacite.org/schema/kernel") => Self::DataCite,
            _ if namespace.starts_with("http://schema.datacite.org/oai/") => Self::DataCite,
            _ if matches!(name, "urlset" | "sitemapindex") && namespace.contains("sitemap") => {
                Self::Sitemap
            }
            _ => return None,
        })
    }
}

/// Reads a document of a known kind.
pub(super) fn read(file: &CatalogFile<'_>, kind: Kind) -> Result<Catalog, CatalogError> {
    let path = file.path;
    let decoded = super::downloaded_text(file, None).map_err(CatalogError::io(path))?;
    if decoded.text.len() > MAX_DOCUMENT_BYTES {
        let reason = format!("XML of more than {} MiB", MAX_DOCUMENT_BYTES >> 20);
        return Err(CatalogError::not_understood(path, reason));
    }
    let is_decided = decoded.is_converted || file.charset().is_some();
    let encoding = declared_encoding(&decoded.text);
    let text = match encoding.filter(|_| !is_decided) {
        Some(encoding) => {
            super::read_text(path, Some(&encoding))
                .map_err(CatalogError::io(path))?
                .text
        }
        None => decoded.text,
    };
    let root =
        xml_tree::parse(&text).map_err(|reason| CatalogError::not_understood(path, reason))?;
    // The tree has its own texts. The document does not take memory while datasets are read.
    drop(text);
    let mut reader = RecordReader::new(file);
    let dialect = match kind {
        Kind::OaiPmh => {
            reader.oai_pmh(root);
            Dialect::OaiPmh
        }
        Kind::Csw => {
            reader.csw(root);
            Dialect::Csw
        }
        Kind::OwsException => {
            let error = read_exception(&root);
            reader.catalog.response = Some(ServiceResponse::Error(error));
            Dialect::Csw
        }
        Kind::Iso => {
            reader.record(root, None);
            Dialect::Iso19139
        }
        Kind::DataCite => {
            reader.record(root, None);
            Dialect::DataCite
        }
        Kind::DublinCore => {
            reader.record(root, None);
            Dialect::DublinCore
        }
        Kind::Sitemap => {
            reader.sitemap(&root);
            Dialect::Sitemap
        }
    };
    let mut catalog = reader.catalog;
    catalog.dialect = dialect;
    if file.address.is_none() {
        if let Some(reason) = reason_of_no_list(&catalog) {
            return Err(CatalogError::not_understood(path, reason));
        }
        if let Some(ServiceResponse::Records(page)) = &catalog.response
            && (page.resumption_token.is_some() || page.next_record.is_some_and(|next| next > 0))
            && !page.records.is_empty()
        {
            let problem = "the list continues on further pages; harvest the address of the service to read all of them";
            catalog
                .problems
                .push(Problem::new(problem).at(&path.display().to_string()));
        }
    }
    Ok(catalog)
}

/// Returns the reason why a response in a file has no records.
fn reason_of_no_list(catalog: &Catalog) -> Option<String> {
    Some(match catalog.response.as_ref()? {
        ServiceResponse::Error(error) => error.to_string(),
        ServiceResponse::Records(_) => return None,
        ServiceResponse::Repository(_) | ServiceResponse::Formats(_) | ServiceResponse::OtherVerb(_) => {
            "a response of OAI-PMH without records; `harvest` reads the repository at its address".to_owned()
        }
        ServiceResponse::Capabilities(_) => {
            "the capabilities of a catalogue service (CSW); `harvest` reads the service at its address".to_owned()
        }
        ServiceResponse::Events(_) => return None,
        ServiceResponse::Sitemap(_) => {
            "a sitemap, which describes no dataset; `harvest` reads the pages at its address".to_owned()
        }
    })
}

impl std::fmt::Display for ServiceError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let service = match self.protocol {
            ServiceProtocol::Csw => "the catalogue service (CSW)",
            ServiceProtocol::OaiPmh => "the repository (OAI-PMH)",
        };
        write!(formatter, "{service} reports the error {}", self.code)?;
        if self.message.is_empty() {
            Ok(())
        } else {
            write!(formatter, ": {}", self.message)
        }
    }
}

/// Returns the encoding in the XML declaration.
fn declared_encoding(text: &str) -> Option<String> {
    let declaration = text.trim_start_matches('\u{feff}').strip_prefix("<?xml")?;
    let declaration = declaration.split_once("?>")?.0;
    let value = declaration
        .split_once("encoding")?
        .1
        .trim_start()
        .strip_prefix('=')?
        .trim_start();
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    Some(value[1..].split_once(quote)?.0.to_owned())
}

/// Reader of the records of a document.
struct RecordReader<'f, 'p> {
    file: &'f CatalogFile<'p>,
    catalog: Catalog,
    number: usize,
}

impl<'f, 'p> RecordReader<'f, 'p> {
    fn new(file: &'f CatalogFile<'p>) -> Self {
        Self {
            file,
            catalog: Catalog::default(),
            number: 0,
        }
    }

    fn report(&mut self, identifier: Option<&str>, problem: String) {
        let problem = match identifier {
            Some(identifier) => Problem::new(problem).of_dataset(identifier),
            None => Problem::new(problem).at(&format!("record {}", self.number)),
        };
        self.catalog.problems.push(problem);
    }

    fn oai_pmh(&mut self, mut root: Element) {
        let response_date = root.text_at("responseDate");
        let error = root.all("error").next().map(|error| ServiceError {
            protocol: ServiceProtocol::OaiPmh,
            code: error.attribute("code").unwrap_or("unknown").to_owned(),
            message: truncate_message(&error.text()),
        });
        if let Some(error) = error {
            self.catalog.response = Some(ServiceResponse::Error(error));
            return;
        }
        for mut verb in root.take_elements() {
            let response = match &*verb.name {
                "ListRecords" | "GetRecord" => {
                    ServiceResponse::Records(self.oai_records(&mut verb, response_date.clone()))
                }
                "Identify" => ServiceResponse::Repository(OaiRepository {
                    granularity: verb.text_at("granularity").unwrap_or_default(),
                    deleted_record: verb.text_at("deletedRecord").unwrap_or_default(),
                }),
                "ListMetadataFormats" => {
                    let formats = verb.all("metadataFormat").map(|format| MetadataFormat {
                        prefix: format.text_at("metadataPrefix").unwrap_or_default(),
                        namespace: format.text_at("metadataNamespace").unwrap_or_default(),
                    });
                    ServiceResponse::Formats(formats.collect())
                }
                "responseDate" | "request" => continue,
                other => ServiceResponse::OtherVerb(other.to_owned()),
            };
            self.catalog.response = Some(response);
            return;
        }
    }

    fn oai_records(&mut self, list: &mut Element, response_date: Option<String>) -> RecordPage {
        let token = list.take("resumptionToken");
        let token = token.first();
        let mut page = RecordPage {
            protocol: ServiceProtocol::OaiPmh,
            matched: token
                .and_then(|token| token.attribute("completeListSize"))
                .and_then(|size| size.parse().ok()),
            next_record: None,
            resumption_token: token.map(Element::text).filter(|text| !text.is_empty()),
            expiration: token
                .and_then(|token| {
                    token
                        .attribute("expirationDate")
                        .or_else(|| token.attribute("expiration_date"))
                })
                .map(str::to_owned),
            response_date,
            records: Vec::new(),
        };
        for mut record in list.take_elements() {
            self.number += 1;
            if &*record.name != "record" {
                continue;
            }
            let headers = record.take("header");
            let Some(header) = headers.first() else {
                self.catalog.unreadable_entries += 1;
                self.report(None, "a record without a header".to_owned());
                continue;
            };
            let identifier = header.text_at("identifier").unwrap_or_default();
            let is_deleted = header.attribute("status") == Some("deleted");
            let mut datasets = Vec::new();
            let payload = record
                .take("metadata")
                .into_iter()
                .flat_map(|mut one| one.take_elements())
                .next();
            match payload {
                _ if is_deleted => {}
                Some(payload) => datasets = self.record(payload, Some(&identifier)),
                None => {
                    self.catalog.unreadable_entries += 1;
                    self.report(Some(&identifier), "a record without metadata".to_owned());
                }
            }
            page.records.push(RecordHeader {
                datestamp: header.text_at("datestamp"),
                identifier,
                is_deleted,
                datasets,
            });
        }
        page
    }

    fn csw(&mut self, mut root: Element) {
        match &*root.name {
            "Capabilities" => {
                let capabilities = read_capabilities(&root);
                self.catalog.response = Some(ServiceResponse::Capabilities(capabilities));
            }
            "GetRecordsResponse" => {
                let date = root
                    .at("SearchStatus")
                    .and_then(|status| status.attribute("timestamp"));
                let date = date.map(str::to_owned);
                let mut results = root.take("SearchResults");
                if results.is_empty() {
                    let error = ServiceError {
                        protocol: ServiceProtocol::Csw,
                        code: "no SearchResults".to_owned(),
                        message: "the response has no list of results".to_owned(),
                    };
                    self.catalog.response = Some(ServiceResponse::Error(error));
                }
                for results in &mut results {
                    let page = self.csw_records(results, date.clone());
                    self.catalog.response = Some(ServiceResponse::Records(page));
                }
            }
            "GetRecordByIdResponse" => {
                let page = self.csw_records(&mut root, None);
                self.catalog.response = Some(ServiceResponse::Records(page));
            }
            _ => {
                let records = self.csw_record(root);
                let page = record_page(records);
                self.catalog.response = Some(ServiceResponse::Records(page));
            }
        }
    }

    fn csw_records(&mut self, results: &mut Element, response_date: Option<String>) -> RecordPage {
        let matched = number_attribute(results, "numberOfRecordsMatched");
        let next_record = number_attribute(results, "nextRecord");
        let mut records = Vec::new();
        for record in results.take_elements() {
            records.append(&mut self.csw_record(record));
        }
        RecordPage {
            matched,
            next_record,
            response_date,
            ..record_page(records)
        }
    }

    fn csw_record(&mut self, record: Element) -> Vec<RecordHeader> {
        self.number += 1;
        let identifier = if iso19139::is_record(&record) {
            iso19139::file_identifier(&record)
        } else {
            record.text_at("identifier")
        };
        // An RDF document may describe several datasets.
        let is_rdf = &*record.namespace == rdf::NAMESPACE;
        let datasets = self.record(record, identifier.as_deref());
        match identifier {
            None if is_rdf => datasets
                .into_iter()
                .map(|key| undated_header(key.clone(), vec![key]))
                .collect(),
            identifier => {
                let known = identifier.or_else(|| datasets.first().cloned());
                vec![undated_header(known.unwrap_or_default(), datasets)]
            }
        }
    }

    fn sitemap(&mut self, root: &Element) {
        let is_index = &*root.name == "sitemapindex";
        // Some have more than the 50,000 entries of the specification. The size of the document limits their number.
        let entries = root
            .elements()
            .filter_map(|entry| Some((entry.text_at("loc")?, entry.text_at("lastmod"))))
            .collect();
        self.catalog.response = Some(ServiceResponse::Sitemap(Sitemap { is_index, entries }));
    }

    /// Reads the metadata of a record. Returns the keys of its datasets.
    fn record(&mut self, payload: Element, identifier: Option<&str>) -> Vec<String> {
        let name = payload.name.to_string();
        let read = if &*payload.namespace == rdf::NAMESPACE || is_dcat(&payload.namespace) {
            self.rdf(&payload, identifier)
        } else if iso19139::is_record(&payload) {
            iso19139::read(payload).map(|read| vec![read])
        } else if payload.namespace.contains("datacite.org/") {
            datacite_record(payload, identifier)
        } else if dublin_core::is_record(&payload) {
            dublin_core_record(payload, identifier)
        } else {
            let namespace = &payload.namespace;
            let reason =
                format!("metadata <{name}> of the namespace {namespace}, which is not supported");
            Err(EntryFault::Unreadable(reason))
        };
        match read {
            Ok(datasets) => {
                let mut keys = Vec::new();
                for (dataset, problems) in datasets {
                    keys.push(dataset.key());
                    let named = match identifier {
                        Some(identifier) => identifier.to_owned(),
                        None => dataset.metadata.id.to_string(),
                    };
                    for problem in problems {
                        self.report(Some(&named), problem);
                    }
                    self.catalog.datasets.push(dataset);
                }
                keys
            }
            Err(EntryFault::Ignored(reason)) => {
                self.report(identifier, reason);
                Vec::new()
            }
            Err(EntryFault::Service(reason)) => {
                self.catalog.other_resources.services += 1;
                self.report(identifier, reason);
                Vec::new()
            }
            Err(EntryFault::Unreadable(reason)) => {
                self.catalog.unreadable_entries += 1;
                self.report(identifier, reason);
                Vec::new()
            }
        }
    }

    /// Reads a description in RDF/XML.
    fn rdf(&mut self, payload: &Element, identifier: Option<&str>) -> Result<Datasets, EntryFault> {
        let mut xml = payload.to_xml();
        if &*payload.namespace != rdf::NAMESPACE {
            xml = format!("<rdf:RDF xmlns:rdf=\"{}\">{xml}</rdf:RDF>", rdf::NAMESPACE);
        }
        let mut builder = TripleGraphBuilder::new();
        let base = self.file.address.unwrap_or("urn:lodeseek:record");
        let name = identifier.unwrap_or("record");
        let reports = DumpReader::default()
            .with_media_type("application/rdf+xml")
            .read(xml.as_bytes(), name, base, &mut builder);
        let mut problems = Vec::new();
        for report in &reports {
            problems.extend(
                report
                    .problems
                    .iter()
                    .map(|problem| problem.message.clone()),
            );
            if report.outcome != Outcome::Complete {
                self.catalog.unreadable_entries += 1;
            }
        }
        let graph = builder.finish();
        let has_statements = !graph.is_empty();
        let catalog = reader::from_graph(&graph);
        problems.extend(catalog.problems.into_texts());
        self.catalog.unreadable_entries += catalog.unreadable_entries;
        let mut datasets: Datasets = catalog
            .datasets
            .into_iter()
            .map(|dataset| (dataset, Vec::new()))
            .collect();
        // Problems are reported by dataset. Those of the graph go to the first one.
        match datasets.first_mut() {
            Some((_, of_first)) => of_first.append(&mut problems),
            None => {
                let reason = "ignored: RDF that describes no dataset".to_owned();
                return Err(match problems.is_empty() {
                    true if has_statements => EntryFault::Ignored(reason),
                    true => EntryFault::Unreadable("the record contains no statements".to_owned()),
                    false => EntryFault::Unreadable(problems.join("; ")),
                });
            }
        }
        Ok(datasets)
    }
}

/// Datasets of a record, with the problems of their values.
type Datasets = Vec<(Dataset, Vec<String>)>;

fn is_dcat(namespace: &str) -> bool {
    DCAT.iter().any(|dcat| namespace.starts_with(dcat))
}

fn number_attribute(element: &Element, name: &str) -> Option<u64> {
    element.attribute(name)?.parse().ok()
}

/// Creates the header of a record of CSW, which has no date and is not deleted.
fn undated_header(identifier: String, datasets: Vec<String>) -> RecordHeader {
    RecordHeader {
        identifier,
        datestamp: None,
        is_deleted: false,
        datasets,
    }
}

fn record_page(records: Vec<RecordHeader>) -> RecordPage {
    RecordPage {
        protocol: ServiceProtocol::Csw,
        matched: None,
        next_record: None,
        resumption_token: None,
        expiration: None,
        response_date: None,
        records,
    }
}

/// Reads the metadata of DataCite, bare or in the envelope of its repository.
fn datacite_record(payload: Element, identifier: Option<&str>) -> Result<Datasets, EntryFault> {
    let resource = if &*payload.name == "resource" {
        Some(&payload)
    } else {
        payload
            .at("payload/resource")
            .or_else(|| payload.at("resource"))
    };
    let resource = resource.ok_or_else(|| "metadata of DataCite without a resource".to_owned())?;
    let record = datacite::json_of(resource);
    let mut builder = DcatBuilder::default();
    let node = datacite::write_record(&record, identifier, &mut builder)?;
    finish_record(
        builder,
        identifier,
        matches!(node, oxrdf::NamedOrBlankNode::NamedNode(_)),
    )
}

fn dublin_core_record(payload: Element, identifier: Option<&str>) -> Result<Datasets, EntryFault> {
    let mut builder = DcatBuilder::default();
    let has_iri = dublin_core::write(payload, identifier, &mut builder)?;
    finish_record(builder, identifier, has_iri)
}

/// Returns the dataset of a builder. Without an IRI, the identifier of the record names it.
fn finish_record(
    builder: DcatBuilder,
    identifier: Option<&str>,
    has_iri: bool,
) -> Result<Datasets, EntryFault> {
    let (graph, mut problems) = builder.finish_with_problems();
    let node = reader::instances_of(&graph, lodeseek_rdf::vocab::dcat::DATASET)
        .next()
        .ok_or_else(|| "the record contains no statements".to_owned())?;
    let id = identifier
        .filter(|_| !has_iri)
        .map(without_repository)
        .and_then(DatasetId::from_text);
    let is_named = id.is_some();
    let (mut dataset, problem) = reader::read_entry(&graph, node, id)?;
    if let Some(identifier) = identifier.filter(|identifier| identifier.starts_with("oai:"))
        && is_named
    {
        // An aggregator has records of several repositories, whose local parts may be equal.
        dataset.entry = EntryKey::new(IdOrigin::Identifier(identifier.to_owned()));
    }
    problems.extend(problem);
    Ok(vec![(dataset, problems)])
}

/// Returns an identifier of OAI without its repository: `oai:HOST:`.
fn without_repository(identifier: &str) -> &str {
    let parts = identifier
        .strip_prefix("oai:")
        .and_then(|rest| rest.split_once(':'));
    match parts {
        Some((_, local)) => local,
        None => identifier,
    }
}

fn read_exception(root: &Element) -> ServiceError {
    let exception = root.all("Exception").next();
    let code = exception.and_then(|one| one.attribute("exceptionCode"));
    let text = exception.and_then(|one| one.text_at("ExceptionText"));
    let locator = exception.and_then(|one| one.attribute("locator"));
    let locator = locator
        .map(|locator| format!(" ({locator})"))
        .unwrap_or_default();
    ServiceError {
        protocol: ServiceProtocol::Csw,
        code: format!("{}{locator}", code.unwrap_or("unknown")),
        message: truncate_message(&text.unwrap_or_default()),
    }
}

fn truncate_message(text: &str) -> String {
    text.chars().take(MAX_MESSAGE_CHARS).collect()
}

fn read_capabilities(root: &Element) -> CswCapabilities {
    let mut found = CswCapabilities {
        version: root.attribute("version").unwrap_or_default().to_owned(),
        ..CswCapabilities::default()
    };
    let operations = root
        .all("OperationsMetadata")
        .flat_map(|all| all.all("Operation"));
    for operation in operations.filter(|one| one.attribute("name") == Some("GetRecords")) {
        let address = operation
            .at("DCP/HTTP/Get")
            .and_then(|get| get.attribute("href"));
        found.records_address = address.map(str::to_owned);
        for parameter in operation.all("Parameter") {
            let name = parameter.attribute("name").unwrap_or_default();
            if !name.eq_ignore_ascii_case("outputSchema") {
                continue;
            }
            let values = parameter.all("Value").chain(
                parameter
                    .all("AllowedValues")
                    .flat_map(|all| all.all("Value")),
            );
            found.output_schemas.extend(values.map(Element::text));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn services_are_counted_by_their_level() {
        let text = "<csw:GetRecordsResponse xmlns:csw=\"http://www.opengis.net/cat/csw/2.0.2\" xmlns:dc=\"http://purl.org/dc/elements/1.1/\" \
            xmlns:gmd=\"http://www.isotc211.org/2005/gmd\" xmlns:gco=\"http://www.isotc211.org/2005/gco\">\
            <csw:SearchStatus timestamp=\"2026-01-01T00:00:00Z\"/>\
            <csw:SearchResults numberOfRecordsMatched=\"3\" nextRecord=\"0\">\
            <gmd:MD_Metadata>\
            <gmd:fileIdentifier><gco:CharacterString>map</gco:CharacterString></gmd:fileIdentifier>\
            <gmd:hierarchyLevel><gmd:MD_ScopeCode codeList=\"x\" codeListValue=\"service\"/></gmd:hierarchyLevel>\
            </gmd:MD_Metadata>\
            <csw:Record><dc:identifier>tool</dc:identifier><dc:title>Records of the level `service`</dc:title><dc:type>software</dc:type></csw:Record>\
            <csw:Record><dc:identifier>fens</dc:identifier><dc:title>Fens</dc:title><dc:type>dataset</dc:type></csw:Record>\
            </csw:SearchResults></csw:GetRecordsResponse>";
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("records.xml");
        std::fs::write(&path, text).expect("written");
        let catalog = Catalog::read(&path).expect("a catalogue");
        assert_eq!(catalog.datasets.len(), 1, "{:?}", catalog.problems);
        assert_eq!(
            catalog.other_resources.services, 1,
            "{:?}",
            catalog.problems
        );
    }
}
