//! Traversal of the pages of a source.

use super::csw::Service;
use super::fetch::{FetchedFile, Purpose, written_origin};
use super::oai_pmh::Repository;
use super::{HarvestError, HarvestProtocol, Run, Source, ckan, sparql_catalog};
use lodeseek_catalog::{
    Catalog, CatalogError, CatalogSource, Dialect, LinkKind, Problem, ServiceProtocol,
    ServiceResponse,
};
use lodeseek_net::egress::MAX_IRI_BYTES;
use oxiri::Iri;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

/// Media types of alternate representations that may contain a catalogue, in order of preference.
const ALTERNATES: &[&str] = &[
    "text/turtle",
    "application/ld+json",
    "application/rdf+xml",
    "application/n-triples",
    "application/trig",
];
/// Number of bytes of a page that are searched for links.
const MAX_SEARCHED_BYTES: u64 = 1 << 20;
/// Number of bytes of a document that are searched for the vocabulary of service descriptions.
const MAX_SERVICE_DESCRIPTION_BYTES: u64 = 1 << 16;
/// Maximum number of alternate representations that are requested for one page.
const MAX_ALTERNATES: usize = 10;

/// A page that was fetched, as it was parsed.
pub(super) enum PageContent {
    Catalog(Box<Catalog>),
    /// No catalogue.
    Invalid(CatalogError),
    /// Not parsed, or not to the end, for this reason: its content ended the process before, or the parser panicked.
    Skipped(String),
}

/// Content of a page.
pub(super) enum Page {
    /// A catalogue.
    Catalog(Box<Catalog>, FetchedFile),
    /// A page without datasets: addresses of alternate representations, and the reason.
    Other(Vec<String>, String),
    /// A page that could not be fetched: the reason.
    Missing(String),
}

impl Run<'_, '_> {
    pub(super) fn harvest_local(&mut self, source: &mut Source) -> Result<(), HarvestError> {
        let local = CatalogSource::Local {
            path: PathBuf::from(&source.address),
        };
        match self.harvester.options.reader.read(&local) {
            Ok(catalog) => {
                source.folder.clone_from(&catalog.folder);
                source.report.pages = 1;
                self.process(source, catalog)
            }
            Err(error) => {
                source.fail(&source.address.clone(), error);
                Ok(())
            }
        }
    }

    /// Harvests an address by the protocol that the operator named.
    pub(super) fn harvest_remote(&mut self, source: &mut Source) -> Result<(), HarvestError> {
        let address = source.address.clone();
        let fault = match self.harvester.options.protocol {
            HarvestProtocol::Auto => return self.recognise(source),
            HarvestProtocol::Pages => {
                let Some(reason) = self.documents(source, &address)? else {
                    return Ok(());
                };
                Some(reason)
            }
            HarvestProtocol::Ckan => {
                let api =
                    ckan::Api::from_address(&address).or_else(|| ckan::Api::from_site(&address));
                match api {
                    Some(api) => self.harvest_ckan(source, &api)?,
                    None => Some("no address of a portal of CKAN: use that of its site, or of its API (/api/3)".to_owned()),
                }
            }
            HarvestProtocol::Csw => self.harvest_csw(source)?,
            HarvestProtocol::OaiPmh => self.harvest_oai_pmh(source)?,
            HarvestProtocol::Linked => self.harvest_linked_documents(source, None)?,
            HarvestProtocol::Sparql => self.harvest_sparql_catalog(source)?,
            HarvestProtocol::Sitemap => self.harvest_sitemap(source, None)?,
            HarvestProtocol::Ldes => self.harvest_event_stream(source)?,
        };
        if let Some(reason) = fault {
            source.fail(&address, reason);
        }
        Ok(())
    }

    /// Recognises the protocol of an address. It tries in this order: an API of CKAN, a catalogue service, a repository or an
    /// endpoint that the address names; a catalogue with its following pages, or another protocol that its first response shows;
    /// alternate representations that the page links to; the CKAN API of the same site.
    fn recognise(&mut self, source: &mut Source) -> Result<(), HarvestError> {
        let address = source.address.clone();
        let mut tried = Vec::new();
        let named = if let Some(api) = ckan::Api::from_address(&address) {
            Some(self.harvest_ckan(source, &api)?)
        } else if Service::is_address(&address) {
            Some(self.harvest_csw(source)?)
        } else if Repository::is_address(&address) {
            Some(self.harvest_oai_pmh(source)?)
        } else if sparql_catalog::is_address(&address) {
            match self.harvest_sparql_catalog(source)? {
                None => return Ok(()),
                Some(reason) => {
                    tried.push(reason);
                    None
                }
            }
        } else {
            None
        };
        if let Some(fault) = named {
            if let Some(reason) = fault {
                source.fail(&address, reason);
            }
            return Ok(());
        }
        if let Some(reason) = self.documents(source, &address)? {
            tried.push(reason);
        } else {
            return Ok(());
        }
        // The last try, because it sends requests to another address than the named one.
        if let (false, Some(api)) = (self.stopped, ckan::Api::from_site(&address)) {
            match self.harvest_ckan(source, &api)? {
                None => return Ok(()),
                Some(reason) => tried.push(reason),
            }
        }
        source.fail(&address, tried.join("; "));
        Ok(())
    }

    /// Harvests documents from an address on. Returns the reason if neither the document nor its alternates are a catalogue.
    fn documents(
        &mut self,
        source: &mut Source,
        address: &str,
    ) -> Result<Option<String>, HarvestError> {
        let address = address.to_owned();
        let mut tried = Vec::new();
        let mut waiting = VecDeque::from([address.clone()]);
        while let Some(candidate) = waiting.pop_front() {
            match self.fetch_page(source, &candidate)? {
                Page::Catalog(catalog, fetched) => {
                    let Some(reason) = self.catalog(source, *catalog, fetched)? else {
                        return Ok(None);
                    };
                    tried.push(reason);
                }
                Page::Other(alternates, reason) => {
                    tried.push(reason);
                    // Alternates of alternates are not followed: they could lead in a circle.
                    if candidate == address {
                        waiting.extend(alternates.into_iter().take(MAX_ALTERNATES));
                    }
                }
                Page::Missing(reason) => tried.push(reason),
            }
        }
        Ok(Some(tried.join("; ")))
    }

    /// Harvests from the first document on, by the protocol that it shows. Returns the reason if it is none.
    fn catalog(
        &mut self,
        source: &mut Source,
        mut catalog: Catalog,
        fetched: FetchedFile,
    ) -> Result<Option<String>, HarvestError> {
        let is_forced = self.harvester.options.protocol != HarvestProtocol::Auto;
        let protocol = match &catalog.response {
            _ if is_forced => None,
            Some(ServiceResponse::Error(error)) => Some(error.protocol),
            Some(ServiceResponse::Records(page)) => Some(page.protocol),
            Some(ServiceResponse::Capabilities(_)) => Some(ServiceProtocol::Csw),
            Some(
                ServiceResponse::Repository(_)
                | ServiceResponse::Formats(_)
                | ServiceResponse::OtherVerb(_),
            ) => Some(ServiceProtocol::OaiPmh),
            Some(ServiceResponse::Sitemap(_) | ServiceResponse::Events(_)) | None => None,
        };
        if let (true, Some(ServiceResponse::Records(page))) = (is_forced, &catalog.response)
            && (page.resumption_token.is_some() || page.next_record.is_some_and(|next| next > 0))
        {
            let reason =
                "the list of records continues, and --protocol pages reads its first page only";
            source.fail(&source.address.clone(), reason);
        }
        match protocol {
            Some(ServiceProtocol::Csw) => return self.harvest_csw(source),
            Some(ServiceProtocol::OaiPmh) => return self.harvest_oai_pmh(source),
            None => {}
        }
        match catalog.response.take() {
            Some(ServiceResponse::Sitemap(sitemap)) if !is_forced => {
                return self.harvest_sitemap(source, Some(sitemap));
            }
            Some(ServiceResponse::Events(_)) if !is_forced => {
                return self.harvest_event_stream(source);
            }
            _ => {}
        }
        let has_links = catalog
            .links
            .iter()
            .any(|link| link.kind != LinkKind::Distribution);
        if catalog.dialect == Dialect::Dump
            && !is_forced
            && !has_links
            && is_service_description(&fetched.path)?
            && self.harvest_sparql_catalog(source)?.is_none()
        {
            return Ok(None);
        }
        if catalog.dialect == Dialect::Dump
            && !is_forced
            && let Some((other, fetched)) = self.json_form(source, &fetched)?
        {
            self.harvest_pages(source, other, &fetched)?;
            return Ok(None);
        }
        let is_list = catalog.datasets.is_empty() || catalog.dialect == Dialect::Dump;
        if is_list
            && has_links
            && catalog.next_pages.is_empty()
            && fetched.file.next.is_none()
            && !is_forced
        {
            return self.harvest_linked_documents(source, Some(catalog));
        }
        self.harvest_pages(source, catalog, &fetched)?;
        Ok(None)
    }

    /// Requests a document in JSON-LD as JSON. Services of OGC API Records describe themselves in RDF without their records. Returns
    /// `None` unless the JSON is a catalogue.
    fn json_form(
        &mut self,
        source: &mut Source,
        fetched: &FetchedFile,
    ) -> Result<Option<(Catalog, FetchedFile)>, HarvestError> {
        if fetched.file.essence() != "application/ld+json" {
            return Ok(None);
        }
        let address = source.address.clone();
        let other = match self.fetcher.get(&address, Purpose::JsonPage) {
            Ok(other) => other,
            Err(error) => {
                let reason = self.failure_reason(error)?;
                tracing::debug!(address, reason, "the document has no JSON");
                return Ok(None);
            }
        };
        if other.file.sha256 == fetched.file.sha256 {
            return Ok(None);
        }
        source.report.pages += 1;
        Ok(match self.read_catalog(&address, &other)? {
            PageContent::Catalog(catalog) if catalog.dialect != Dialect::Dump => {
                Some((*catalog, other))
            }
            _ => None,
        })
    }

    /// Processes the first page and all following pages.
    fn harvest_pages(
        &mut self,
        source: &mut Source,
        first: Catalog,
        fetched: &FetchedFile,
    ) -> Result<(), HarvestError> {
        let max_pages = self.harvester.options.budget.pages;
        let mut waiting = VecDeque::new();
        queue_pages(
            &mut waiting,
            source,
            following_pages(&first, fetched),
            max_pages,
        );
        let mut counts = ItemCounts::default();
        counts.add(source, &fetched.file.address, &first, fetched)?;
        let mut undescribed = linked_datasets(&first);
        // Without `f=json`, pygeoapi answers a request for RDF with a description of the page in schema.org.
        let purpose = match first.dialect {
            Dialect::OgcRecords | Dialect::Stac => Purpose::JsonPage,
            _ => Purpose::Page,
        };
        self.process(source, first)?;
        while let Some(address) = waiting.pop_front() {
            if self.stopped {
                source.fail(&address, "not requested: the harvest had stopped");
                break;
            }
            if source.report.pages >= max_pages {
                source.fail(
                    &address,
                    format!("there are more than {} pages", source.report.pages),
                );
                break;
            }
            if source.visited.contains(&address) {
                source.fail(&address, "paging loop: the page was read before");
                continue;
            }
            match self.page_for(source, &address, purpose)? {
                Page::Catalog(catalog, _)
                    if catalog.dialect == Dialect::Dump && !catalog.datasets.is_empty() =>
                {
                    source.fail(&address, "the page describes no dataset");
                }
                Page::Catalog(catalog, fetched) => {
                    if is_blank(&catalog) {
                        source.fail(&address, "the page is empty");
                    }
                    if !source.contents.insert(fetched.file.sha256.clone()) {
                        source.fail(
                            &address,
                            "paging loop: the content is identical to an earlier page",
                        );
                        continue;
                    }
                    counts.add(source, &address, &catalog, &fetched)?;
                    let mut next = following_pages(&catalog, &fetched).to_vec();
                    // Catalogues of STAC are a graph, in which several lead to one collection. In a list, that is a loop.
                    if catalog.dialect == Dialect::Stac && catalog.datasets.len() <= 1 {
                        next.retain(|page| {
                            !source.visited.contains(page) && !waiting.contains(page)
                        });
                    }
                    queue_pages(&mut waiting, source, &next, max_pages);
                    undescribed.extend(linked_datasets(&catalog));
                    self.process(source, *catalog)?;
                }
                Page::Other(_, reason) | Page::Missing(reason) => source.fail(&address, reason),
            }
        }
        undescribed.retain(|dataset| !self.seen.contains(dataset));
        if let Some(first) = undescribed.first() {
            let problem = format!(
                "{} datasets are listed and not described, for example <{first}>; `--protocol linked` requests them",
                undescribed.len()
            );
            source.report.add_problems(&[Problem::new(problem)]);
        }
        Ok(())
    }

    /// Fetches and parses a page.
    pub(super) fn fetch_page(
        &mut self,
        source: &mut Source,
        address: &str,
    ) -> Result<Page, HarvestError> {
        self.page_for(source, address, Purpose::Page)
    }

    /// Fetches and parses a page in the formats of a purpose.
    fn page_for(
        &mut self,
        source: &mut Source,
        address: &str,
        purpose: Purpose,
    ) -> Result<Page, HarvestError> {
        source.visited.insert(address.to_owned());
        let fetched = match self.fetcher.get(address, purpose) {
            Ok(fetched) => fetched,
            Err(error) => return Ok(Page::Missing(self.failure_reason(error)?)),
        };
        source.report.pages += 1;
        // Only the first page: the others are added when they are compared.
        if source.report.pages == 1 {
            source.contents.insert(fetched.file.sha256.clone());
        }
        Ok(match self.read_catalog(address, &fetched)? {
            PageContent::Catalog(catalog) => Page::Catalog(catalog, fetched),
            PageContent::Invalid(CatalogError::NoDataset { .. }) => {
                let alternates = find_alternates(&fetched.path, &fetched.file.address)?;
                Page::Other(
                    alternates,
                    format!("<{address}>: a page without a description of a dataset"),
                )
            }
            PageContent::Invalid(error) => {
                Page::Other(Vec::new(), format!("<{address}>: {}", error_reason(&error)))
            }
            PageContent::Skipped(reason) => Page::Missing(reason),
        })
    }

    /// Parses a page.
    pub(super) fn read_catalog(
        &mut self,
        address: &str,
        fetched: &FetchedFile,
    ) -> Result<PageContent, HarvestError> {
        let FetchedFile { path, file, .. } = fetched;
        let download = CatalogSource::Download {
            path: path.clone(),
            address: file.address.clone(),
            media_type: file.media_type.clone(),
        };
        let reader = &self.harvester.options.reader;
        let quarantine = &mut self.fetcher.state.quarantine;
        let read = quarantine.guard(&format!("<{address}>"), &file.sha256, || {
            reader.read(&download)
        })?;
        let name = path.display().to_string();
        Ok(match read {
            Ok(Ok(mut catalog)) => {
                // The report names the address, not the cached file.
                catalog.rename_file(&name, &format!("<{address}>"));
                PageContent::Catalog(Box::new(catalog))
            }
            Ok(Err(error)) => PageContent::Invalid(error),
            Err(reason) => PageContent::Skipped(reason),
        })
    }
}

/// Returns true if a document may be the description of a SPARQL endpoint, which many endpoints return to a request without a query.
fn is_service_description(path: &Path) -> Result<bool, HarvestError> {
    let mut start = Vec::new();
    File::open(path)
        .and_then(|file| {
            file.take(MAX_SERVICE_DESCRIPTION_BYTES)
                .read_to_end(&mut start)
        })
        .map_err(HarvestError::io(path))?;
    let namespace = "http://www.w3.org/ns/sparql-service-description#";
    Ok(String::from_utf8_lossy(&start).contains(namespace))
}

/// Returns the datasets that a catalogue lists and does not describe.
fn linked_datasets(catalog: &Catalog) -> BTreeSet<String> {
    let datasets = catalog
        .links
        .iter()
        .filter(|link| link.kind == LinkKind::Dataset);
    datasets.map(|link| link.address.clone()).collect()
}

/// Returns the message of an error without the name of the cached file.
pub(super) fn error_reason(error: &CatalogError) -> String {
    match error {
        CatalogError::Io { cause, .. } => cause.to_string(),
        CatalogError::Json { cause, .. } => cause.to_string(),
        CatalogError::NotUnderstood { reason, .. }
        | CatalogError::UnknownJson { reason, .. }
        | CatalogError::Reader { reason, .. } => reason.clone(),
        CatalogError::NoList { .. } => "JSON without a list of datasets".to_owned(),
        CatalogError::NoDataset { .. } => "a page without a description of a dataset".to_owned(),
        other => other.to_string(),
    }
}

/// Numbers of the records that the pages of OGC API Records list.
#[derive(Default)]
struct ItemCounts {
    /// Number of records before a page, by the address that is requested. Redirects may lead to another one.
    before: BTreeMap<String, u64>,
}

/// A page of records, as far as it is counted.
#[derive(Deserialize)]
struct ItemPage {
    features: Vec<IgnoredAny>,
    #[serde(rename = "numberMatched")]
    matched: Option<Value>,
}

impl ItemCounts {
    /// Adds the page of a requested address. A last page that states more records than all pages have is a failure of the source.
    fn add(
        &mut self,
        source: &mut Source,
        address: &str,
        catalog: &Catalog,
        fetched: &FetchedFile,
    ) -> Result<(), HarvestError> {
        if catalog.dialect != Dialect::OgcRecords {
            return Ok(());
        }
        let file = File::open(&fetched.path).map_err(HarvestError::io(&fetched.path))?;
        let Ok(page) = serde_json::from_reader::<_, ItemPage>(BufReader::new(file)) else {
            return Ok(());
        };
        let listed = self.before.remove(address).unwrap_or(0) + page.features.len() as u64;
        let next = following_pages(catalog, fetched);
        for page in next {
            self.before.insert(page.clone(), listed);
        }
        let matched = page.matched.as_ref().and_then(Value::as_u64);
        if let Some(matched) = matched.filter(|matched| *matched > listed && next.is_empty()) {
            let reason =
                format!("the collection counts {matched} records, but its pages have {listed}");
            source.fail(address, reason);
        }
        Ok(())
    }
}

/// Returns true if a following page has no content: no statement, or a bare list without an entry. A page after the last one
/// describes itself, or is an object with an empty list.
fn is_blank(catalog: &Catalog) -> bool {
    let has_envelope = matches!(
        catalog.dialect,
        Dialect::OgcRecords | Dialect::Stac | Dialect::DataCite | Dialect::Ckan | Dialect::DataJson
    );
    catalog.datasets.is_empty() && catalog.triples == 0 && !has_envelope
}

/// Returns the addresses of the following pages: from the page itself, else from its `Link` headers.
pub(super) fn following_pages<'p>(catalog: &'p Catalog, fetched: &'p FetchedFile) -> &'p [String] {
    if catalog.next_pages.is_empty() {
        fetched.file.next.as_slice()
    } else {
        &catalog.next_pages
    }
}

/// Adds following pages to a queue: as many as may still be read, and one more, which then exceeds the limit.
fn queue_pages(
    waiting: &mut VecDeque<String>,
    source: &mut Source,
    following: &[String],
    max_pages: u64,
) {
    let left = usize::try_from(max_pages.saturating_sub(source.report.pages)).unwrap_or(usize::MAX);
    // The queue grows with the pages that may still be read, and not with what a page lists.
    let room = left.saturating_add(1).saturating_sub(waiting.len());
    let usual = following
        .iter()
        .filter(|address| address.len() <= MAX_IRI_BYTES);
    waiting.extend(usual.take(room).cloned());
    if let Some(long) = following
        .iter()
        .find(|address| address.len() > MAX_IRI_BYTES)
    {
        source.fail(
            long,
            format!("the address of the page has more than {MAX_IRI_BYTES} bytes"),
        );
    }
}

/// Returns the addresses of a page's RDF representations (`<link rel="alternate">`), in order of preference.
pub(super) fn find_alternates(path: &Path, address: &str) -> Result<Vec<String>, HarvestError> {
    let mut bytes = Vec::new();
    let read =
        File::open(path).and_then(|file| file.take(MAX_SEARCHED_BYTES).read_to_end(&mut bytes));
    read.map_err(HarvestError::io(path))?;
    let page = String::from_utf8_lossy(&bytes);
    let mut found: Vec<(usize, String)> = alternate_links(&page)
        .filter_map(|(media_type, target)| {
            let rank = ALTERNATES
                .iter()
                .position(|candidate| *candidate == media_type)?;
            Some((
                rank,
                Iri::parse(address)
                    .ok()?
                    .resolve(&target)
                    .ok()?
                    .into_inner(),
            ))
        })
        .collect();
    found.sort();
    found.dedup();
    Ok(found.into_iter().map(|(_, target)| target).collect())
}

/// Yields the media type and address of every `<link rel="alternate">`.
fn alternate_links(page: &str) -> impl Iterator<Item = (String, String)> {
    let lower = page.to_ascii_lowercase();
    let starts: Vec<usize> = lower
        .match_indices("<link")
        .map(|(place, _)| place)
        .collect();
    starts.into_iter().filter_map(move |start| {
        // Ended at the next tag at the latest, so that each byte belongs to one tag.
        let end = start + 1 + page[start + 1..].find(['>', '<'])?;
        let (tag, lower) = (&page[start..end], &lower[start..end]);
        let is_alternate = find_attribute(tag, lower, "rel")?
            .split_ascii_whitespace()
            .any(|one| one.eq_ignore_ascii_case("alternate"));
        let media_type = find_attribute(tag, lower, "type")?
            .split(';')
            .next()?
            .trim()
            .to_ascii_lowercase();
        let address = find_attribute(tag, lower, "href")?.replace("&amp;", "&");
        is_alternate.then_some((media_type, address))
    })
}

/// Returns the value of an attribute; `lower` is the tag in lower case.
fn find_attribute(tag: &str, lower: &str, name: &str) -> Option<String> {
    let place = lower
        .match_indices(name)
        .map(|(place, _)| place)
        .find(|place| {
            let before = lower[..*place]
                .ends_with(|c: char| c.is_ascii_whitespace() || matches!(c, '"' | '\''));
            before && lower[place + name.len()..].trim_start().starts_with('=')
        })?;
    let value = tag[place + name.len()..]
        .trim_start()
        .strip_prefix('=')?
        .trim_start();
    match value.chars().next()? {
        quote @ ('"' | '\'') => value[1..].split(quote).next().map(str::to_owned),
        _ => value
            .split_ascii_whitespace()
            .next()
            .map(|value| value.trim_end_matches('/').to_owned()),
    }
}

/// Returns the root address of a site.
pub(super) fn root_of(address: &str) -> Option<String> {
    written_origin(address).map(|origin| format!("{origin}/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::ErrorKind;

    #[test]
    fn the_queue_of_pages_is_limited() {
        let (mut waiting, mut source) = (VecDeque::new(), Source::new("http://e.org/feed"));
        source.report.pages = 15;
        let following: Vec<String> = (0..1000)
            .map(|page| format!("http://e.org/feed?page={page}"))
            .collect();
        queue_pages(&mut waiting, &mut source, &following[..2], 20);
        assert_eq!(waiting.len(), 2);
        queue_pages(&mut waiting, &mut source, &following[2..], 20);
        queue_pages(&mut waiting, &mut source, &following, 20);
        assert_eq!(
            waiting,
            &following[..6],
            "five more pages, and the one that exceeds the limit"
        );
        assert!(source.report.whole);
        waiting.clear();
        queue_pages(
            &mut waiting,
            &mut source,
            &["x".repeat(MAX_IRI_BYTES + 1), "y".repeat(MAX_IRI_BYTES)],
            20,
        );
        assert!(
            waiting.len() == 1 && !source.report.whole,
            "one page is missing"
        );
    }

    #[test]
    fn reasons_do_not_name_the_cached_file() {
        let path = PathBuf::from("/home/harvest/files/3f-a1");
        let reason = "a reason".to_owned();
        for error in [
            CatalogError::Io {
                path: path.clone(),
                cause: ErrorKind::UnexpectedEof.into(),
            },
            CatalogError::NoDataset { path: path.clone() },
            CatalogError::NoList { path: path.clone() },
            CatalogError::NotUnderstood {
                path: path.clone(),
                reason: reason.clone(),
            },
            CatalogError::UnknownJson {
                path: path.clone(),
                reason: reason.clone(),
            },
            CatalogError::Reader { path, reason },
        ] {
            let reason = error_reason(&error);
            assert!(!reason.contains("3f-a1"), "{reason}");
        }
    }

    #[test]
    fn other_forms_of_a_page() {
        let page = r#"<html><head><LINK rel="stylesheet" href="a.css"><link
            REL='nofollow alternate' data-href="no" type='text/turtle; charset=utf-8' href='feed.ttl?a=1&amp;b=2'/>
            <link href=/feed.rdf rel=alternate type=application/rdf+xml><link rel=alternate type=text/html href=x>
            <link rel="alternate" type="text/turtle">"#;
        let found: Vec<(String, String)> = alternate_links(page).collect();
        let pair = |one: &str, other: &str| (one.to_owned(), other.to_owned());
        assert_eq!(
            found,
            [
                pair("text/turtle", "feed.ttl?a=1&b=2"),
                pair("application/rdf+xml", "/feed.rdf"),
                pair("text/html", "x")
            ]
        );
        let many = format!(
            "{} rel=alternate type=text/turtle href=x>",
            "<link".repeat(100_000)
        );
        let one = ("text/turtle".to_owned(), "x".to_owned());
        assert_eq!(alternate_links(&many).collect::<Vec<_>>(), [one]);
        for hostile in [
            "<link",
            "<link rel",
            "<link rel=",
            "<link rel=\"",
            "<linké rel=alternate type=é href=é>",
        ] {
            assert!(alternate_links(hostile).count() <= 1, "{hostile}");
        }
    }
}
