//! Lists of records that were read to their end: OAI-PMH and catalogue services. The state has the datasets of each record, so that
//! later harvests request changes only.

use super::fetch::Purpose;
use super::pages::PageContent;
use super::state::RecordList;
use super::{Downloads, HarvestError, Run, Source};
use lodeseek_catalog::{
    Catalog, RecordHeader, RecordPage, ServiceError, ServiceProtocol, ServiceResponse,
};
use oxsdatatypes::{DateTime, DayTimeDuration, TimezoneOffset};
use std::collections::{BTreeMap, BTreeSet};

/// Seconds before a response from which on the next harvest requests changes, because a service may list a change late.
const OVERLAP_SECONDS: i64 = 300;
/// Seconds of a day, for services whose times are dates.
const DAY_SECONDS: i64 = 86_400;

/// A page of records, and its datasets.
pub(super) enum RecordsOrError {
    Records(RecordPage, Box<Catalog>),
    /// An error that the service reports.
    Error(ServiceError),
    /// Another content; the reason why it is none of both.
    Other(String),
}

/// Records that were listed in this harvest.
#[derive(Default)]
pub(super) struct Records {
    /// Keys of the datasets, by the identifier of the record.
    pub(super) datasets: BTreeMap<String, Vec<String>>,
    /// Identifiers of deleted records.
    pub(super) deleted: BTreeSet<String>,
    /// Number of records without an identifier.
    pub(super) nameless: u64,
}

impl Records {
    /// Adds the records of a page. Returns the number of those that no earlier page had.
    pub(super) fn add(&mut self, headers: Vec<RecordHeader>) -> u64 {
        let mut new = 0;
        for header in headers {
            if header.identifier.is_empty() {
                self.nameless += 1;
                new += 1;
            } else if header.is_deleted {
                // The last entry of a record counts, because a record may be listed twice.
                self.datasets.remove(&header.identifier);
                new += u64::from(self.deleted.insert(header.identifier));
            } else {
                self.deleted.remove(&header.identifier);
                let is_known = self.datasets.insert(header.identifier, header.datasets);
                new += u64::from(is_known.is_none());
            }
        }
        new
    }

    /// Returns the number of records that are not deleted.
    pub(super) fn len(&self) -> u64 {
        self.datasets.len() as u64 + self.nameless
    }
}

impl Run<'_, '_> {
    /// Returns the page of records in a response. The catalogue has no response any more.
    pub(super) fn records_of(
        &self,
        content: PageContent,
        protocol: ServiceProtocol,
    ) -> RecordsOrError {
        let mut catalog = match content {
            PageContent::Catalog(catalog) => catalog,
            PageContent::Invalid(error) => {
                return RecordsOrError::Other(super::pages::error_reason(&error));
            }
            PageContent::Skipped(reason) => return RecordsOrError::Other(reason),
        };
        match catalog.response.take() {
            Some(ServiceResponse::Records(page)) if page.protocol == protocol => {
                RecordsOrError::Records(page, catalog)
            }
            Some(ServiceResponse::Error(error)) if error.protocol == protocol => {
                RecordsOrError::Error(error)
            }
            _ => RecordsOrError::Other(format!(
                "the response is no list of records (read as {})",
                catalog.dialect.name()
            )),
        }
    }

    /// Fetches a response that is no list of records. The error is the reason why there is none.
    pub(super) fn service_response(
        &mut self,
        address: &str,
    ) -> Result<Result<ServiceResponse, String>, HarvestError> {
        let fetched = match self.fetcher.get(address, Purpose::Service) {
            Ok(fetched) => fetched,
            Err(error) => return Ok(Err(self.failure_reason(error)?)),
        };
        Ok(match self.read_catalog(address, &fetched)? {
            PageContent::Catalog(catalog) => match catalog.response {
                Some(response) => Ok(response),
                None => Err(format!(
                    "<{address}>: no response of the protocol (read as {})",
                    catalog.dialect.name()
                )),
            },
            PageContent::Invalid(error) => Err(format!(
                "<{address}>: {}",
                super::pages::error_reason(&error)
            )),
            PageContent::Skipped(reason) => Err(reason),
        })
    }

    /// Returns the reason why the known records of a list do not suffice: it must be read completely.
    pub(super) fn list_fault(&self, source: &Source, list: &RecordList) -> Option<String> {
        let options = &self.harvester.options;
        let limit = options.full_harvest_every;
        if limit == 0 {
            return Some("incremental harvests are disabled".to_owned());
        }
        if list.incremental_harvests >= limit {
            return Some(format!("it is due after {limit} incremental harvests"));
        }
        if options.downloads != Downloads::None {
            return Some("the files of all its datasets are requested".to_owned());
        }
        let mut keys = list.records.values().flatten();
        let missing = keys.find(|key| !self.is_stored(source, key))?;
        Some(format!("its dataset {missing} is not stored"))
    }

    /// Returns true if an earlier harvest stored a dataset, and no later one has to store it again.
    fn is_stored(&self, source: &Source, key: &str) -> bool {
        let state = &self.fetcher.state;
        let Some(id) = state.id_of(&self.key_in_source(source, key.to_owned())) else {
            return false;
        };
        let record = state.dataset(id);
        self.harvester.options.existing_ids.contains(id)
            && record.is_some_and(|record| !record.fingerprint.is_empty())
    }

    /// Counts the datasets of unchanged records as listed.
    pub(super) fn count_unchanged_records(
        &mut self,
        source: &mut Source,
        records: &BTreeMap<String, Vec<String>>,
    ) {
        for key in records.values().flatten() {
            let key = self.key_in_source(source, key.clone());
            if self.seen.contains(&key) {
                continue;
            }
            if let Some(id) = self.fetcher.state.id_of(&key).cloned() {
                self.seen.insert(key);
                self.taken.insert(id);
                source.report.datasets += 1;
                source.report.not_requested += 1;
                self.report.unchanged += 1;
            }
        }
    }
}

/// Returns the time from which the next harvest requests changes: some time before a response. `None` if its time cannot be read.
///
/// A service whose times are dates compares dates, so the time is a date, too.
pub(super) fn next_from(response_date: &str, has_dates_only: bool) -> Option<String> {
    let date: DateTime = response_date.trim().parse().ok()?;
    let date = if date.timezone_offset().is_some() {
        date.adjust(Some(TimezoneOffset::UTC))?
    } else {
        date
    };
    let seconds = if has_dates_only {
        DAY_SECONDS
    } else {
        OVERLAP_SECONDS
    };
    let date = date.checked_sub_day_time_duration(DayTimeDuration::new(seconds))?;
    let text = date.to_string();
    if has_dates_only {
        return text.get(..10).map(str::to_owned);
    }
    // Some services refuse fractions of seconds.
    Some(format!("{}Z", text.get(..19)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_requested_from_before_the_last_response() {
        for (date, has_dates_only, expected) in [
            ("2026-11-28T18:37:36Z", false, Some("2026-11-28T18:32:36Z")),
            (
                "2026-11-28T18:37:36.25Z",
                false,
                Some("2026-11-28T18:32:36Z"),
            ),
            ("2026-11-28T00:37:36+02:00", true, Some("2026-11-26")),
            ("2026-03-01T00:00:00Z", true, Some("2026-02-28")),
            ("today", true, None),
        ] {
            assert_eq!(
                next_from(date, has_dates_only).as_deref(),
                expected,
                "{date}"
            );
        }
    }

    #[test]
    fn the_last_word_about_a_record_counts() {
        let header = |identifier: &str, is_deleted: bool| RecordHeader {
            identifier: identifier.to_owned(),
            datestamp: None,
            is_deleted,
            datasets: vec![format!("id:{identifier}")],
        };
        let mut records = Records::default();
        assert_eq!(
            records.add(vec![
                header("a", false),
                header("b", true),
                header("", false)
            ]),
            3
        );
        assert_eq!(records.add(vec![header("a", true), header("b", false)]), 2);
        assert_eq!(records.add(vec![header("a", true), header("b", false)]), 0);
        assert_eq!((records.len(), records.deleted.len()), (2, 1));
    }
}
