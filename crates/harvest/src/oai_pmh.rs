//! Harvest of a repository by [OAI-PMH 2.0](https://www.openarchives.org/OAI/openarchivesprotocol.html).
//!
//! The format is that of the address, else the best of the repository: RDF, DataCite, ISO 19139, Dublin Core. A list is read to its
//! end only if its last page has no resumption token. A token that expires restarts the list once. Later harvests request changes, if
//! the repository keeps deleted records for ever; else a deleted record shows only in a complete list.

use super::fetch::Purpose;
use super::record_lists::{Records, RecordsOrError, next_from};
use super::state::RecordList;
use super::{HarvestError, Run, Source};
use form_urlencoded::Serializer;
use lodeseek_catalog::{MetadataFormat, OaiRepository, ServiceProtocol, ServiceResponse};
use std::collections::BTreeSet;

/// Parameters of the protocol. Others belong to the address of the repository.
const PARAMETERS: [&str; 7] = [
    "verb",
    "metadataprefix",
    "set",
    "from",
    "until",
    "resumptiontoken",
    "identifier",
];
/// Namespaces of formats that are read, the best first.
const FORMATS: [&[&str]; 4] = [
    &[
        "http://www.w3.org/ns/dcat",
        "https://www.w3.org/ns/dcat",
        "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    ],
    &[
        "http://datacite.org/schema/kernel-4",
        "http://schema.datacite.org/oai/oai-1",
        "http://datacite.org/schema/kernel-3",
        "http://datacite.org/schema/kernel",
    ],
    &[
        "http://www.isotc211.org/2005/gmd",
        "http://www.isotc211.org/2005/gmi",
        "http://standards.iso.org/iso/19115/-3/",
    ],
    &["http://www.openarchives.org/OAI/2.0/oai_dc"],
];
/// Maximum size of a resumption token in bytes.
const MAX_TOKEN_BYTES: usize = 4096;

/// Address of a repository, with the parameters that select records.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Repository {
    path: String,
    /// Parameters of the address that are none of the protocol.
    own: Vec<(String, String)>,
    set: Option<String>,
    prefix: Option<String>,
    from: Option<String>,
}

impl Repository {
    /// Reads an address. Parameters of the protocol select records, all others are kept.
    pub(super) fn from_address(address: &str) -> Self {
        let address = address.split('#').next().unwrap_or(address);
        let (path, query) = address.split_once('?').unwrap_or((address, ""));
        let mut repository = Self {
            path: path.to_owned(),
            own: Vec::new(),
            set: None,
            prefix: None,
            from: None,
        };
        for (name, value) in form_urlencoded::parse(query.as_bytes()).into_owned() {
            match name.to_ascii_lowercase().as_str() {
                "set" => repository.set = Some(value),
                "metadataprefix" => repository.prefix = Some(value),
                "from" => repository.from = Some(value),
                other if PARAMETERS.contains(&other) => {}
                _ => repository.own.push((name, value)),
            }
        }
        repository
    }

    /// Returns true if an address has parameters of the protocol.
    pub(super) fn is_address(address: &str) -> bool {
        let (_, query) = address.split_once('?').unwrap_or((address, ""));
        form_urlencoded::parse(query.as_bytes()).any(|(name, value)| {
            let name = name.to_ascii_lowercase();
            name == "metadataprefix" || name == "verb" && VERBS.contains(&value.as_ref())
        })
    }

    fn request(&self, parameters: &[(&str, &str)]) -> String {
        let mut query = Serializer::new(String::new());
        query.extend_pairs(&self.own).extend_pairs(parameters);
        format!("{}?{}", self.path, query.finish())
    }

    fn list(&self, prefix: &str, from: Option<&str>) -> String {
        let mut parameters = vec![("verb", "ListRecords"), ("metadataPrefix", prefix)];
        parameters.extend(self.set.as_deref().map(|set| ("set", set)));
        parameters.extend(from.or(self.from.as_deref()).map(|from| ("from", from)));
        self.request(&parameters)
    }

    /// Returns the address of the next page. A token excludes all other parameters.
    fn next(&self, token: &str) -> String {
        self.request(&[("verb", "ListRecords"), ("resumptionToken", token)])
    }
}

const VERBS: [&str; 6] = [
    "Identify",
    "ListRecords",
    "ListIdentifiers",
    "ListMetadataFormats",
    "ListSets",
    "GetRecord",
];

/// Returns the prefix of the best format.
fn best_format(formats: &[MetadataFormat]) -> Option<&MetadataFormat> {
    let namespaces = FORMATS.iter().flat_map(|group| group.iter());
    namespaces
        .filter_map(|namespace| {
            formats
                .iter()
                .find(|format| format.namespace.trim().starts_with(namespace))
        })
        .next()
}

/// Outcome of reading a list.
enum ListOutcome {
    Whole(Walk),
    /// It was not read to its end, which is a failure of the source.
    Broken,
    /// The repository refuses to list changes, for this reason. Nothing was processed.
    ChangesRefused(String),
}

/// A list that was read to its end.
struct Walk {
    records: Records,
    /// Time of the first response, of an earlier start of the list, too.
    response_date: Option<String>,
}

impl Run<'_, '_> {
    /// Harvests a repository. Returns the reason if the address is none.
    pub(super) fn harvest_oai_pmh(
        &mut self,
        source: &mut Source,
    ) -> Result<Option<String>, HarvestError> {
        let repository = Repository::from_address(&source.address);
        let address = repository.request(&[("verb", "Identify")]);
        let properties = match self.service_response(&address)? {
            Ok(ServiceResponse::Repository(properties)) => properties,
            Ok(ServiceResponse::Error(error)) => return Ok(Some(format!("<{address}>: {error}"))),
            Ok(_) => {
                return Ok(Some(format!(
                    "<{address}>: no response to Identify of OAI-PMH"
                )));
            }
            Err(reason) => return Ok(Some(reason)),
        };
        let prefix = match self.oai_prefix(&repository)? {
            Ok(prefix) => prefix,
            Err(reason) => {
                source.fail(&source.address.clone(), reason);
                return Ok(None);
            }
        };
        source.report.form = Some("oai-pmh".to_owned());
        let list_address = repository.list(&prefix, None);
        let earlier = self.fetcher.state.record_list(&list_address);
        if let Some(list) = earlier {
            let fault = if properties.deleted_record == "persistent" {
                self.list_fault(source, &list)
            } else {
                Some(format!(
                    "the repository does not keep deleted records (deletedRecord: {:?})",
                    properties.deleted_record
                ))
            };
            let fault = match fault {
                None => self.oai_changes(source, &repository, &prefix, &properties, list)?,
                Some(reason) => Some(reason),
            };
            let Some(reason) = fault else {
                return Ok(None);
            };
            source.report.complete_reason = Some(reason);
        }
        self.fetcher.state.remove_record_list(&list_address);
        if let ListOutcome::Whole(walk) = self.oai_list(source, &repository, &prefix, None)? {
            let has_dates_only = has_dates_only(&properties);
            let from = walk
                .response_date
                .and_then(|date| next_from(&date, has_dates_only));
            if let Some(from) = from.filter(|_| source.report.whole) {
                let list = RecordList {
                    from,
                    incremental_harvests: 0,
                    records: walk.records.datasets,
                };
                self.fetcher.state.set_record_list(&list_address, list);
            }
        }
        Ok(None)
    }

    /// Harvests the changes of a list that was read to its end before. Returns the reason if it must be read completely.
    fn oai_changes(
        &mut self,
        source: &mut Source,
        repository: &Repository,
        prefix: &str,
        properties: &OaiRepository,
        mut list: RecordList,
    ) -> Result<Option<String>, HarvestError> {
        let walk = self.oai_list(source, repository, prefix, Some(&list.from))?;
        if let ListOutcome::ChangesRefused(reason) = walk {
            return Ok(Some(reason));
        }
        if let ListOutcome::Whole(walk) = walk {
            for identifier in &walk.records.deleted {
                list.records.remove(identifier);
            }
            list.records.extend(walk.records.datasets);
            list.incremental_harvests += 1;
            let from = walk
                .response_date
                .and_then(|date| next_from(&date, has_dates_only(properties)));
            // After a failure the date stays, so that the next harvest requests the same changes again.
            if source.report.whole {
                list.from = from.unwrap_or(list.from);
                let address = repository.list(prefix, None);
                self.fetcher.state.set_record_list(&address, list.clone());
            }
        }
        self.count_unchanged_records(source, &list.records);
        Ok(None)
    }

    /// Reads a list, or its changes since a time.
    fn oai_list(
        &mut self,
        source: &mut Source,
        repository: &Repository,
        prefix: &str,
        from: Option<&str>,
    ) -> Result<ListOutcome, HarvestError> {
        let mut walk = Walk {
            records: Records::default(),
            response_date: None,
        };
        let mut address = repository.list(prefix, from);
        let (mut tokens, mut has_restarted, mut is_first) = (BTreeSet::new(), false, true);
        loop {
            if source.report.pages >= self.harvester.options.budget.pages {
                let pages = source.report.pages;
                source.fail(&address, format!("there are more than {pages} pages"));
                return Ok(ListOutcome::Broken);
            }
            let (page, mut catalog) = match self.oai_page(source, &address)? {
                Ok(RecordsOrError::Records(page, catalog)) => (page, catalog),
                Ok(RecordsOrError::Error(error))
                    if error.code == "noRecordsMatch" && is_first && !has_restarted =>
                {
                    // Nothing has changed, or the list is empty.
                    return Ok(ListOutcome::Whole(walk));
                }
                Ok(RecordsOrError::Error(error))
                    if error.code == "badResumptionToken" && !has_restarted =>
                {
                    tracing::debug!(
                        address,
                        "the resumption token has expired; restarting the list"
                    );
                    (has_restarted, is_first) = (true, true);
                    tokens.clear();
                    // A record that changed meanwhile is no second entry.
                    self.descriptions.clear();
                    address = repository.list(prefix, from);
                    continue;
                }
                Ok(RecordsOrError::Error(error))
                    if error.code == "badArgument" && is_first && from.is_some() =>
                {
                    return Ok(ListOutcome::ChangesRefused(error.to_string()));
                }
                Ok(RecordsOrError::Error(error)) => {
                    source.fail(&address, error);
                    return Ok(ListOutcome::Broken);
                }
                Ok(RecordsOrError::Other(reason)) | Err(reason) => {
                    source.fail(&address, reason);
                    return Ok(ListOutcome::Broken);
                }
            };
            if walk.response_date.is_none() {
                // Of the first response, even if the list restarts: the next harvest then requests what changed meanwhile.
                walk.response_date = page.response_date;
            }
            catalog.dialect = lodeseek_catalog::Dialect::OaiPmh;
            let count = page.records.len();
            let new = walk.records.add(page.records);
            self.process(source, *catalog)?;
            // After a restart, the first pages have known records only.
            if count > 0 && new == 0 && !is_first && !has_restarted {
                let reason = "paging loop: the page contains only records of earlier pages";
                source.fail(&address, reason);
                return Ok(ListOutcome::Broken);
            }
            let is_at_start = std::mem::replace(&mut is_first, false);
            let Some(token) = page.resumption_token else {
                let listed = walk.records.len() + walk.records.deleted.len() as u64;
                let is_stated_end = page.matched.is_some_and(|matched| matched == listed);
                // It may be a fault in the middle of the list, unless the stated number of records was read.
                if count == 0 && !is_at_start && !is_stated_end {
                    source.fail(
                        &address,
                        "the page has no record, and no token of a next page",
                    );
                    return Ok(ListOutcome::Broken);
                }
                return Ok(ListOutcome::Whole(walk));
            };
            if token.len() > MAX_TOKEN_BYTES {
                let reason = format!("the resumption token has more than {MAX_TOKEN_BYTES} bytes");
                source.fail(&address, reason);
                return Ok(ListOutcome::Broken);
            }
            if !tokens.insert(token.clone()) {
                source.fail(
                    &address,
                    "paging loop: the resumption token was used before",
                );
                return Ok(ListOutcome::Broken);
            }
            if self.stopped {
                source.fail(
                    &address,
                    "the list was not read completely: the harvest had stopped",
                );
                return Ok(ListOutcome::Broken);
            }
            address = repository.next(&token);
        }
    }

    /// Fetches a page of a list. The error is the reason why there is none.
    fn oai_page(
        &mut self,
        source: &mut Source,
        address: &str,
    ) -> Result<Result<RecordsOrError, String>, HarvestError> {
        let fetched = match self.fetcher.get(address, Purpose::Service) {
            Ok(fetched) => fetched,
            Err(error) => return Ok(Err(self.failure_reason(error)?)),
        };
        source.report.pages += 1;
        let content = self.read_catalog(address, &fetched)?;
        Ok(Ok(self.records_of(content, ServiceProtocol::OaiPmh)))
    }

    /// Returns the prefix of the format in which records are requested. The error is the reason why there is none.
    fn oai_prefix(
        &mut self,
        repository: &Repository,
    ) -> Result<Result<String, String>, HarvestError> {
        if let Some(prefix) = &repository.prefix {
            return Ok(Ok(prefix.clone()));
        }
        let address = repository.request(&[("verb", "ListMetadataFormats")]);
        Ok(match self.service_response(&address)? {
            Ok(ServiceResponse::Formats(formats)) => match best_format(&formats) {
                Some(format) => Ok(format.prefix.clone()),
                None => {
                    let names: Vec<&str> = formats
                        .iter()
                        .map(|format| format.prefix.as_str())
                        .take(20)
                        .collect();
                    Err(format!(
                        "the repository has no format that is read (RDF, DataCite, ISO 19139, Dublin Core), but {}; name one by metadataPrefix in the address",
                        names.join(", ")
                    ))
                }
            },
            Ok(ServiceResponse::Error(error)) => Err(format!("<{address}>: {error}")),
            Ok(_) => Err(format!(
                "<{address}>: no response to ListMetadataFormats of OAI-PMH"
            )),
            Err(reason) => Err(reason),
        })
    }
}

/// If true, the times of a repository are dates.
fn has_dates_only(properties: &OaiRepository) -> bool {
    properties.granularity.trim().len() <= "YYYY-MM-DD".len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_keep_their_own_parameters() {
        let repository = Repository::from_address(
            "https://e.org/?page=oai&verb=ListRecords&metadataPrefix=oai_dc&set=data:green#x",
        );
        assert_eq!(
            repository.list("oai_dc", Some("2026-01-02")),
            "https://e.org/?page=oai&verb=ListRecords&metadataPrefix=oai_dc&set=data%3Agreen&from=2026-01-02"
        );
        assert_eq!(
            repository.next("a%3Db=="),
            "https://e.org/?page=oai&verb=ListRecords&resumptionToken=a%253Db%3D%3D"
        );
        for (address, expected) in [
            ("https://e.org/oai?verb=Identify", true),
            ("https://e.org/oai?metadataPrefix=oai_dc", true),
            ("https://e.org/oai?verb=run", false),
            ("https://e.org/oai", false),
        ] {
            assert_eq!(Repository::is_address(address), expected, "{address}");
        }
    }

    #[test]
    fn formats_are_chosen_by_their_namespaces() {
        let format = |prefix: &str, namespace: &str| MetadataFormat {
            prefix: prefix.to_owned(),
            namespace: namespace.to_owned(),
        };
        let dc = format("oai_dc", "http://www.openarchives.org/OAI/2.0/oai_dc/");
        let datacite = format("datacite", "http://schema.datacite.org/oai/oai-1.1/");
        let dcat = format("dcat", "https://www.w3.org/ns/dcat");
        let marc = format("marc21", "http://www.loc.gov/MARC21/slim");
        let best = |formats: &[MetadataFormat]| best_format(formats).map(|one| one.prefix.clone());
        assert_eq!(
            best(&[dc.clone(), datacite.clone(), dcat]).as_deref(),
            Some("dcat")
        );
        assert_eq!(best(&[dc.clone(), datacite]).as_deref(), Some("datacite"));
        assert_eq!(best(&[marc.clone(), dc]).as_deref(), Some("oai_dc"));
        assert_eq!(best(&[marc]), None);
    }
}
