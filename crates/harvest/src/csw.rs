//! Harvest of a catalogue service by [CSW 2.0.2](https://www.ogc.org/standards/cat/) or 3.0.
//!
//! Records are requested in the best schema of the service: GeoDCAT-AP, DCAT, ISO 19115-3, ISO 19139, Dublin Core. A page that fails is
//! requested in smaller ones, down to one record, which then counts as failed. The list was read to its end if the number of distinct
//! records is the one that the last page states. The protocol has no deletions, so an incremental harvest compares numbers, too.

use super::fetch::Purpose;
use super::record_lists::{Records, RecordsOrError, next_from};
use super::state::RecordList;
use super::{HarvestError, Run, Source};
use form_urlencoded::Serializer;
use lodeseek_catalog::{CswCapabilities, Problem, ServiceProtocol, ServiceResponse};

/// Numbers of records of a page, and of the smaller ones that replace a page that fails.
const PAGE_SIZES: [u64; 4] = [100, 25, 5, 1];
/// Number of records that are requested alone to find out which requests the service accepts.
const MAX_PROBED_RECORDS: u64 = 2;
/// Maximum number of consecutive records that fail alone. Then the service itself is at fault.
const MAX_FAILED_RECORDS: u64 = 20;
/// Versions, the preferred one first.
const VERSIONS: [&str; 2] = ["2.0.2", "3.0.0"];
/// Parameters of the protocol. Others belong to the address of the service.
const PARAMETERS: [&str; 16] = [
    "service",
    "version",
    "acceptversions",
    "request",
    "resulttype",
    "elementsetname",
    "typenames",
    "outputschema",
    "outputformat",
    "startposition",
    "maxrecords",
    "sortby",
    "constraint",
    "constraintlanguage",
    "constraint_language_version",
    "namespace",
];
/// Schemas that are read, the best first: (IRI, type of records, property of the identifier, of the last change).
const SCHEMAS: [Schema; 6] = [
    Schema::new("http://data.europa.eu/930/", ISO_TYPE),
    Schema::new("http://www.w3.org/ns/dcat#", ISO_TYPE),
    Schema::new("http://standards.iso.org/iso/19115/-3/mdb/2.0", ISO_TYPE),
    Schema::new("http://standards.iso.org/iso/19115/-3/mdb/1.0", ISO_TYPE),
    Schema::new("http://www.isotc211.org/2005/gmd", ISO_TYPE),
    Schema::new("http://www.opengis.net/cat/csw/2.0.2", "csw:Record"),
];
const ISO_TYPE: &str = "gmd:MD_Metadata";

/// A schema of records.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Schema {
    iri: &'static str,
    type_name: &'static str,
}

impl Schema {
    const fn new(iri: &'static str, type_name: &'static str) -> Self {
        Self { iri, type_name }
    }

    /// Returns true if a service that declares these schemas may have records in this one: if it declares this one or none, or if
    /// this is the schema of the standard.
    fn is_offered(self, declared: &[String]) -> bool {
        declared.is_empty()
            || declared.iter().any(|one| one.trim() == self.iri)
            || self.iri.starts_with("http://www.opengis.net/cat/csw")
    }

    fn is_iso(self) -> bool {
        self.type_name == ISO_TYPE
    }
}

/// Address of a service.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Service {
    path: String,
    /// Parameters of the address that are none of the protocol.
    own: Vec<(String, String)>,
    /// Filter of the address: language and text.
    constraint: Option<(String, String)>,
    schema: Option<String>,
    version: &'static str,
}

impl Service {
    /// Reads an address. A filter and a schema in it select records; other parameters of the protocol are replaced.
    pub(super) fn from_address(address: &str) -> Self {
        let address = address.split('#').next().unwrap_or(address);
        let (path, query) = address.split_once('?').unwrap_or((address, ""));
        let (mut constraint, mut language, mut schema, mut own) = (None, None, None, Vec::new());
        let mut version = VERSIONS[0];
        for (name, value) in form_urlencoded::parse(query.as_bytes()).into_owned() {
            match name.to_ascii_lowercase().as_str() {
                "constraint" => constraint = Some(value),
                "constraintlanguage" => language = Some(value),
                "outputschema" => schema = Some(value),
                "version" | "acceptversions" if value.starts_with('3') => version = VERSIONS[1],
                other if PARAMETERS.contains(&other) => {}
                _ => own.push((name, value)),
            }
        }
        let language = language.unwrap_or_else(|| "CQL_TEXT".to_owned());
        Self {
            path: path.to_owned(),
            own,
            constraint: constraint.map(|text| (language, text)),
            schema,
            version,
        }
    }

    /// Returns true if an address names the service.
    pub(super) fn is_address(address: &str) -> bool {
        let (path, query) = address.split_once('?').unwrap_or((address, ""));
        let is_named = form_urlencoded::parse(query.as_bytes()).any(|(name, value)| {
            name.eq_ignore_ascii_case("service") && value.eq_ignore_ascii_case("CSW")
        });
        is_named || path.trim_end_matches('/').ends_with("/csw")
    }

    fn request(&self, parameters: &[(&str, &str)]) -> String {
        let mut query = Serializer::new(String::new());
        query.extend_pairs(&self.own).append_pair("service", "CSW");
        query.extend_pairs(parameters);
        format!("{}?{}", self.path, query.finish())
    }

    fn capabilities(&self) -> String {
        let version = if self.version == VERSIONS[0] {
            "version"
        } else {
            "acceptVersions"
        };
        self.request(&[(version, self.version), ("request", "GetCapabilities")])
    }

    fn records(&self, list: &ListRequest<'_>, start: u64, rows: u64) -> String {
        let (start, rows) = (start.to_string(), rows.to_string());
        let is_third = self.version == VERSIONS[1];
        let record_schema = "http://www.opengis.net/cat/csw/3.0";
        let schema = match list.schema.iri {
            "http://www.opengis.net/cat/csw/2.0.2" if is_third => record_schema,
            iri => iri,
        };
        let mut parameters = vec![
            ("version", self.version),
            ("request", "GetRecords"),
            ("elementSetName", "full"),
            ("typeNames", list.schema.type_name),
            ("outputSchema", schema),
            ("startPosition", &start),
            ("maxRecords", &rows),
        ];
        if !is_third {
            parameters.push(("resultType", "results"));
        }
        if list.is_sorted {
            let sort = if list.schema.is_iso() {
                "apiso:Identifier:A"
            } else {
                "dc:identifier:A"
            };
            parameters.push(("sortBy", sort));
        }
        let constraint = match (&self.constraint, list.since) {
            (Some((_, own)), Some(since)) => Some(format!("({own}) AND {}", modified_since(since))),
            (Some((_, own)), None) => Some(own.clone()),
            (None, Some(since)) => Some(modified_since(since)),
            (None, None) => None,
        };
        let language = match &self.constraint {
            Some((language, _)) => language.as_str(),
            None => "CQL_TEXT",
        };
        if let Some(constraint) = &constraint {
            parameters.push(("constraintLanguage", language));
            parameters.push(("constraint_language_version", "1.1.0"));
            parameters.push(("constraint", constraint));
        }
        self.request(&parameters)
    }
}

fn modified_since(date: &str) -> String {
    format!("apiso:Modified >= '{date}'")
}

/// Request of a list, without its pages.
#[derive(Clone, Copy)]
struct ListRequest<'l> {
    schema: Schema,
    is_sorted: bool,
    /// Date from which on records have changed.
    since: Option<&'l str>,
}

/// Returns the number of the first record of the next page; `None` at the end. Services count differently beyond the end.
fn next_start(start: u64, returned: u64, next: Option<u64>, matched: u64) -> Option<u64> {
    let next = next.unwrap_or(0);
    // At the end, the next record is 0, missing, or one beyond the number of records.
    (returned > 0 && next > start && next <= matched).then_some(next)
}

/// A list of records that was read, completely or not.
struct Walk {
    records: Records,
    /// Number of records of the last page.
    matched: u64,
    response_date: Option<String>,
    is_whole: bool,
}

impl Run<'_, '_> {
    /// Harvests a service. Returns the reason if the address is none.
    pub(super) fn harvest_csw(
        &mut self,
        source: &mut Source,
    ) -> Result<Option<String>, HarvestError> {
        let mut service = Service::from_address(&source.address);
        let capabilities = match self.csw_capabilities(&mut service)? {
            Ok(capabilities) => capabilities,
            Err(reason) => return Ok(Some(reason)),
        };
        source.report.form = Some("csw".to_owned());
        let request = match self.csw_request(source, &service, &capabilities)? {
            Ok(request) => request,
            Err(reason) => {
                source.fail(&source.address.clone(), reason);
                return Ok(None);
            }
        };
        // With a constant page: the key does not depend on the sizes of pages.
        let key = service.records(&request, 1, 0);
        if let Some(list) = self.fetcher.state.record_list(&key) {
            let reason = match self.list_fault(source, &list) {
                Some(reason) => reason,
                None => match self.csw_changes(source, &service, request, list)? {
                    Ok(list) => {
                        self.fetcher.state.set_record_list(&key, list);
                        return Ok(None);
                    }
                    Err(reason) => reason,
                },
            };
            if self.stopped {
                source.fail(&service.path, reason);
                return Ok(None);
            }
            source.report.complete_reason = Some(reason);
        }
        self.fetcher.state.remove_record_list(&key);
        let walk = self.csw_list(source, &service, request)?;
        let had = walk.records.len();
        if walk.is_whole && had != walk.matched {
            let matched = walk.matched;
            let reason =
                format!("the service counts {matched} records but returned {had} different ones");
            source.fail(&service.path, reason);
        }
        let from = walk.response_date.and_then(|date| next_from(&date, true));
        // A list with failures is no base for changes: the next harvest reads all again.
        if let Some(from) = from.filter(|_| walk.is_whole && source.report.whole) {
            let list = RecordList {
                from,
                incremental_harvests: 0,
                records: walk.records.datasets,
            };
            self.fetcher.state.set_record_list(&key, list);
        }
        Ok(None)
    }

    /// Returns the capabilities, and the version of the service. The error is the reason why there is no service.
    fn csw_capabilities(
        &mut self,
        service: &mut Service,
    ) -> Result<Result<CswCapabilities, String>, HarvestError> {
        let mut reasons = Vec::new();
        let mut versions = VERSIONS.to_vec();
        versions.sort_by_key(|version| *version != service.version);
        for version in versions {
            service.version = version;
            let address = service.capabilities();
            match self.service_response(&address)? {
                Ok(ServiceResponse::Capabilities(capabilities)) => {
                    if capabilities.version.starts_with('3') {
                        service.version = VERSIONS[1];
                    }
                    return Ok(Ok(capabilities));
                }
                Ok(ServiceResponse::Error(error)) => reasons.push(format!("<{address}>: {error}")),
                Ok(_) => reasons.push(format!(
                    "<{address}>: no capabilities of a catalogue service"
                )),
                // Some services answer a version that they do not have with status 400.
                Err(reason) => reasons.push(reason),
            }
            if self.stopped {
                break;
            }
        }
        Ok(Err(reasons.join("; ")))
    }

    /// Returns the request of the best schema that the service has. The error is the reason why there is none.
    fn csw_request(
        &mut self,
        source: &mut Source,
        service: &Service,
        capabilities: &CswCapabilities,
    ) -> Result<Result<ListRequest<'static>, String>, HarvestError> {
        let declared = &capabilities.output_schemas;
        let schemas: Vec<Schema> = match &service.schema {
            Some(requested) => SCHEMAS
                .iter()
                .filter(|schema| schema.iri == requested)
                .copied()
                .collect(),
            None => SCHEMAS
                .iter()
                .filter(|schema| schema.is_offered(declared))
                .copied()
                .collect(),
        };
        if schemas.is_empty() {
            return Ok(Err(format!(
                "the outputSchema {:?} is none that is read",
                service.schema.as_deref().unwrap_or_default()
            )));
        }
        let mut reasons = Vec::new();
        let mut requests = Vec::new();
        for schema in schemas {
            // Sorted pages neither overlap nor leave gaps, but not every service can sort.
            for is_sorted in [true, false] {
                requests.push(ListRequest {
                    schema,
                    is_sorted,
                    since: None,
                });
            }
        }
        // The first record may spoil its page in every schema.
        for start in 1..=MAX_PROBED_RECORDS {
            for &request in &requests {
                match self.csw_page(source, &service.records(&request, start, 1))? {
                    Ok(RecordsOrError::Records(..)) => return Ok(Ok(request)),
                    Ok(RecordsOrError::Error(error)) => reasons.push(error.to_string()),
                    Ok(RecordsOrError::Other(reason)) | Err(reason) => reasons.push(reason),
                }
                if self.stopped {
                    break;
                }
            }
        }
        reasons.dedup();
        Ok(Err(reasons.join("; ")))
    }

    /// Harvests the records that have changed since the last harvest. The error is the reason why the list must be read completely.
    fn csw_changes(
        &mut self,
        source: &mut Source,
        service: &Service,
        request: ListRequest<'static>,
        mut list: RecordList,
    ) -> Result<Result<RecordList, String>, HarvestError> {
        let all = service.records(&request, 1, 1);
        let (matched, date) = match self.csw_page(source, &all)? {
            Ok(RecordsOrError::Records(page, _)) => (page.matched, page.response_date),
            Ok(RecordsOrError::Error(error)) => return Ok(Err(error.to_string())),
            Ok(RecordsOrError::Other(reason)) | Err(reason) => return Ok(Err(reason)),
        };
        let since = list.from.clone();
        let request = ListRequest {
            since: Some(&since),
            ..request
        };
        // A service that cannot filter reports an error, and nothing is processed.
        match self.csw_page(source, &service.records(&request, 1, 1))? {
            Ok(RecordsOrError::Records(..)) => {}
            Ok(RecordsOrError::Error(error)) => return Ok(Err(error.to_string())),
            Ok(RecordsOrError::Other(reason)) | Err(reason) => return Ok(Err(reason)),
        }
        let walk = self.csw_list(source, service, request)?;
        let had = walk.records.len();
        if !walk.is_whole || had != walk.matched {
            return Ok(Err(format!(
                "{had} of {} changed records were read",
                walk.matched
            )));
        }
        list.records.extend(walk.records.datasets);
        let known = list.records.len() as u64;
        // The protocol lists no deletions, but the number shows them.
        if matched != Some(known) {
            let matched = matched.unwrap_or_default();
            return Ok(Err(format!(
                "it counts {matched} records, but {known} are known"
            )));
        }
        self.count_unchanged_records(source, &list.records);
        list.incremental_harvests += 1;
        list.from = date
            .and_then(|date| next_from(&date, true))
            .unwrap_or(list.from);
        Ok(Ok(list))
    }

    /// Reads a list, as far as possible.
    fn csw_list(
        &mut self,
        source: &mut Source,
        service: &Service,
        request: ListRequest<'_>,
    ) -> Result<Walk, HarvestError> {
        let mut walk = Walk {
            records: Records::default(),
            matched: 0,
            response_date: None,
            is_whole: true,
        };
        let (mut start, mut size, mut failed_in_a_row) = (1, 0, 0);
        let mut is_first = true;
        loop {
            let rows = PAGE_SIZES[size];
            let address = service.records(&request, start, rows);
            if self.stopped || source.report.pages >= self.harvester.options.budget.pages {
                let reason = if self.stopped {
                    "the list was not read completely: the harvest had stopped".to_owned()
                } else {
                    format!("there are more than {} pages", source.report.pages)
                };
                source.fail(&address, reason);
                walk.is_whole = false;
                return Ok(walk);
            }
            let (page, catalog) = match self.csw_page(source, &address)? {
                Ok(RecordsOrError::Records(page, catalog)) => (page, catalog),
                failure => {
                    let reason = match failure {
                        Ok(RecordsOrError::Error(error)) => error.to_string(),
                        Ok(RecordsOrError::Other(reason)) | Err(reason) => reason,
                        Ok(RecordsOrError::Records(..)) => continue,
                    };
                    // The next round reports it.
                    if self.stopped {
                        continue;
                    }
                    if size + 1 < PAGE_SIZES.len() {
                        size += 1;
                        let problem = format!(
                            "{reason}; the records from {start} are requested in smaller pages"
                        );
                        source.report.add_problems(&[Problem::new(problem)]);
                        continue;
                    }
                    source.fail(&address, format!("record {start}: {reason}"));
                    walk.is_whole = false;
                    failed_in_a_row += 1;
                    // Without a page, the number of records is unknown.
                    let is_end = if is_first {
                        start >= MAX_PROBED_RECORDS
                    } else {
                        start >= walk.matched
                    };
                    if is_end || failed_in_a_row >= MAX_FAILED_RECORDS {
                        return Ok(walk);
                    }
                    start += 1;
                    continue;
                }
            };
            failed_in_a_row = 0;
            let returned = page.records.len() as u64;
            walk.matched = page.matched.unwrap_or(walk.matched);
            if is_first {
                walk.response_date = page.response_date;
                is_first = false;
            }
            let new = walk.records.add(page.records);
            if returned > 0 {
                let mut catalog = catalog;
                catalog.dialect = lodeseek_catalog::Dialect::Csw;
                self.process(source, *catalog)?;
            }
            if returned > 0 && new == 0 {
                source.fail(
                    &address,
                    "paging loop: the page contains only records of earlier pages",
                );
                walk.is_whole = false;
                return Ok(walk);
            }
            match next_start(start, returned, page.next_record, walk.matched) {
                Some(next) => start = next,
                None => return Ok(walk),
            }
            // After a failure, pages grow again.
            size = size.saturating_sub(1);
        }
    }

    /// Fetches a page of records. The error is the reason why there is none.
    fn csw_page(
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
        Ok(Ok(self.records_of(content, ServiceProtocol::Csw)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_keep_filters_and_their_own_parameters() {
        let service = Service::from_address(
            "https://e.org/srv/csw?SERVICE=CSW&version=3.0.0&map=a&constraint=apiso:Type%20%3D%20'dataset'&request=GetCapabilities",
        );
        assert_eq!(
            service.capabilities(),
            "https://e.org/srv/csw?map=a&service=CSW&acceptVersions=3.0.0&request=GetCapabilities"
        );
        let request = ListRequest {
            schema: SCHEMAS[4],
            is_sorted: true,
            since: Some("2026-03-01"),
        };
        let address = service.records(&request, 11, 25);
        for part in [
            "map=a",
            "startPosition=11",
            "maxRecords=25",
            "sortBy=apiso%3AIdentifier%3AA",
            "constraint=%28apiso%3AType+%3D+%27dataset%27%29+AND+apiso%3AModified+%3E%3D+%272026-03-01%27",
        ] {
            assert!(address.contains(part), "{part}: {address}");
        }
        for (address, expected) in [
            ("https://e.org/geonetwork/srv/eng/csw", true),
            ("https://e.org/csw/?x=1", true),
            ("https://e.org/?Service=csw", true),
            ("https://e.org/csw.html", false),
        ] {
            assert_eq!(Service::is_address(address), expected, "{address}");
        }
    }

    #[test]
    fn the_end_of_a_list_is_known() {
        for (start, returned, next, matched, expected) in [
            (1, 10, Some(11), 30, Some(11)),
            (21, 10, Some(0), 30, None),
            (31, 0, Some(1), 30, None),
            (31, 0, Some(32), 40, None),
            (21, 10, None, 40, None),
            (21, 10, Some(31), 30, None),
            (21, 10, Some(21), 40, None),
        ] {
            assert_eq!(next_start(start, returned, next, matched), expected);
        }
    }
}
