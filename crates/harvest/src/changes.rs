//! Incremental harvest of a CKAN portal: packages changed since the last harvest.
//!
//! CKAN records the last change of every package (`metadata_modified`) and sorts by it. One short page, newest first, shows
//! that nothing has changed; a few more contain the changes. All other packages are taken from cached pages. A removed package
//! shows only in the number of packages. The result is checked wherever possible:
//!
//! * The portal was read completely before, every package with its id and timestamp, and its sort order matched them.
//! * The timestamps of the pages descend, and packages older than the watermark are unchanged.
//! * Packages at or after the watermark are still listed. Packages with equal timestamps are compared by id, not by number.
//! * Cached and new packages together are as many as the portal counts.
//! * Changes of some minutes before the newest known one are checked again, because the portal may list them late.
//!
//! If a check fails, the portal is read completely, and the report gives the reason. Two changes escape these checks: a package
//! that appears with an old timestamp while another disappears, and a change without a new timestamp, such as a renamed
//! organisation. The next complete harvest finds them.

use super::ckan::{Api, PackageSummary, SearchResult, read_response};
use super::fetch::Purpose;
use super::state::{CachedFile, PortalRecord};
use super::{HarvestError, Run, Source};
use lodeseek_catalog::CatalogSource;
use oxsdatatypes::{DateTime, DayTimeDuration, TimezoneOffset};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Number of packages in the page that shows if anything has changed.
pub(super) const NEWEST_PAGE_SIZE: u64 = 5;
/// Divisor of the maximum share of timestamps at a full or half hour: at most one in ten.
const MAX_ROUND_TIMES_DIVISOR: usize = 10;
/// Maximum delay in seconds until a portal lists a change. A package is listed once it is indexed, and one that changed later
/// may be indexed earlier.
const MAX_DELAY_SECONDS: i64 = 300;

/// A package with the timestamp of its last change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) id: String,
    /// Timestamp in the form of [`normalize_timestamp`].
    pub(super) timestamp: String,
}

impl Stamp {
    /// Reads id and timestamp of a package; `None` if one is missing or invalid.
    pub(super) fn from_package(package: &PackageSummary) -> Option<Self> {
        let id = package.id.as_deref().filter(|id| !id.is_empty())?;
        Some(Self {
            id: id.to_owned(),
            timestamp: normalize_timestamp(package.metadata_modified.as_deref()?)?,
        })
    }
}

/// Normalises a timestamp to UTC, so that the order of texts is the order of time. CKAN omits the zone and means UTC.
fn normalize_timestamp(written: &str) -> Option<String> {
    let parsed: DateTime = written.trim().parse().ok()?;
    let is_usual = (0..=9999).contains(&parsed.year());
    let utc = if parsed.timezone_offset().is_some() {
        parsed.adjust(Some(TimezoneOffset::UTC))?
    } else {
        parsed
    };
    Some(utc.to_string().trim_end_matches('Z').to_owned()).filter(|_| is_usual)
}

/// Returns true if timestamps have a time of day. CKAN-compatible portals may instead give the date of the description (midnight
/// in some zone), which does not change with the description.
fn have_time_of_day(timestamps: &BTreeMap<String, String>) -> bool {
    let round = timestamps
        .values()
        .filter(|timestamp| timestamp.ends_with(":00:00") || timestamp.ends_with(":30:00"));
    round.count() * MAX_ROUND_TIMES_DIVISOR <= timestamps.len()
}

/// Returns the timestamp from which the next harvest requests changes, given the newest known one.
pub(super) fn with_overlap(newest: &str) -> Option<String> {
    let newest: DateTime = newest.parse().ok()?;
    Some(
        newest
            .checked_sub_day_time_duration(DayTimeDuration::new(MAX_DELAY_SECONDS))?
            .to_string(),
    )
}

/// A page of recently changed packages.
#[derive(Clone, Debug)]
struct NewPage {
    address: String,
    file: CachedFile,
    stamps: Vec<Stamp>,
}

/// The most recently changed packages, as far as they were read.
#[derive(Clone, Debug)]
pub(super) struct NewestPackages {
    /// Number of packages that the portal counts.
    count: u64,
    pages: Vec<NewPage>,
}

/// Timestamp and cached page of a package.
struct CachedPackage {
    timestamp: String,
    /// Name of the page that contains the package.
    page: Rc<str>,
}

/// Known packages, by id.
type CachedPackages = BTreeMap<String, CachedPackage>;

impl NewestPackages {
    fn stamps(&self) -> impl Iterator<Item = &Stamp> {
        self.pages.iter().flat_map(|page| &page.stamps)
    }

    fn rows(&self) -> u64 {
        self.stamps().count() as u64
    }

    fn first(&self) -> Option<&str> {
        self.stamps().next().map(|stamp| stamp.timestamp.as_str())
    }

    /// Returns true if all packages at or after the watermark were read.
    fn reaches(&self, watermark: &str) -> bool {
        self.rows() >= self.count
            || self
                .stamps()
                .last()
                // Strictly older: packages with the timestamp of the watermark may go on.
                .is_some_and(|stamp| stamp.timestamp.as_str() < watermark)
    }

    fn append(&mut self, next: Self) -> Result<(), String> {
        // Packages may have moved between the pages while they were read.
        if next.count != self.count {
            return Err(format!(
                "it counted {} packages, and {} on a later page",
                self.count, next.count
            ));
        }
        if next.rows() == 0 {
            return Err(format!(
                "it counts {} packages and ends after {}",
                self.count,
                self.rows()
            ));
        }
        self.pages.extend(next.pages);
        Ok(())
    }

    fn is_descending(&self) -> bool {
        let timestamps: Vec<&str> = self
            .stamps()
            .map(|stamp| stamp.timestamp.as_str())
            .collect();
        timestamps.is_sorted_by(|one, next| one >= next)
    }

    /// Returns the newest timestamp before the portal was read completely, or `None` if the portal does not sort by timestamp.
    /// The order is verified against `timestamps` of the complete harvest: the unchanged packages of this page must be the
    /// newest of all unchanged packages.
    pub(super) fn watermark(&self, timestamps: &BTreeMap<String, String>) -> Option<String> {
        let watermark = self.first()?;
        let mut settled: Vec<&str> = timestamps
            .values()
            .map(String::as_str)
            // Packages that changed during the complete harvest have later timestamps, and prove no order.
            .filter(|time| *time <= watermark)
            .collect();
        settled.sort_unstable_by(|one, other| other.cmp(one));
        let unchanged = self
            .stamps()
            .filter(|stamp| timestamps.get(&stamp.id) == Some(&stamp.timestamp));
        let unchanged: Vec<&str> = unchanged.map(|stamp| stamp.timestamp.as_str()).collect();
        let is_sorted =
            self.is_descending() && !unchanged.is_empty() && settled.starts_with(&unchanged);
        (is_sorted && have_time_of_day(timestamps)).then(|| watermark.to_owned())
    }

    /// Returns the reason why these packages and the known ones may be incomplete.
    fn inconsistency(&self, known: &CachedPackages, watermark: &str) -> Option<String> {
        if !self.is_descending() {
            return Some("it does not sort by metadata_modified".to_owned());
        }
        let listed: BTreeSet<&str> = self.stamps().map(|stamp| stamp.id.as_str()).collect();
        for (id, package) in known {
            if package.timestamp.as_str() >= watermark && !listed.contains(id.as_str()) {
                return Some(format!("package {id} is no longer among the newest"));
            }
        }
        for Stamp { id, timestamp } in self.stamps() {
            let is_unchanged = known
                .get(id)
                .is_some_and(|package| package.timestamp == *timestamp);
            if timestamp.as_str() < watermark && !is_unchanged {
                return Some(format!(
                    "package {id} changed at {timestamp}, before the last harvest, which did not see it"
                ));
            }
        }
        // The only sign of a removed package is the number: known and new ones must be as many as the portal counts.
        let added = listed.iter().filter(|id| !known.contains_key(**id)).count();
        let total = (known.len() + added) as u64;
        (total != self.count)
            .then(|| format!("it counts {} packages, but {total} were found", self.count))
    }
}

/// Adds the packages of a page, and replaces earlier versions.
fn add_packages(known: &mut CachedPackages, name: &str, stamps: Vec<Stamp>) {
    let page: Rc<str> = name.into();
    for Stamp { id, timestamp } in stamps {
        known.insert(
            id,
            CachedPackage {
                timestamp,
                page: Rc::clone(&page),
            },
        );
    }
}

impl Run<'_, '_> {
    /// Fetches a page of recently changed packages. The inner error is the reason why the page cannot be used.
    pub(super) fn newest(
        &mut self,
        source: &mut Source,
        api: &Api,
        start: u64,
        rows: u64,
    ) -> Result<Result<NewestPackages, String>, HarvestError> {
        let address = api.newest(start, rows);
        let fetched = match self.fetcher.get(&address, Purpose::Page) {
            Ok(fetched) => fetched,
            Err(error) => return Ok(Err(self.failure_reason(error)?)),
        };
        source.report.pages += 1;
        let SearchResult { count, results } = match read_response(&fetched.path)? {
            Ok(found) => found,
            Err(reason) => return Ok(Err(format!("<{address}>: {reason}"))),
        };
        let stamps: Option<Vec<Stamp>> = results.iter().map(Stamp::from_package).collect();
        Ok(match stamps {
            Some(stamps) => Ok(NewestPackages {
                count,
                pages: vec![NewPage {
                    address,
                    file: fetched.file,
                    stamps,
                }],
            }),
            None => Err(format!(
                "<{address}>: a package has no id, or no timestamp in metadata_modified"
            )),
        })
    }

    /// Processes changed packages, and all others from the cache. Returns the new record of the portal. The inner error is the
    /// reason why the result may be incomplete; nothing was processed then.
    pub(super) fn harvest_changes(
        &mut self,
        source: &mut Source,
        api: &Api,
        portal: &PortalRecord,
        mut newest: NewestPackages,
    ) -> Result<Result<PortalRecord, String>, HarvestError> {
        let limit = self.harvester.options.full_harvest_every;
        if limit == 0 {
            return Ok(Err("incremental harvests are disabled".to_owned()));
        }
        if portal.incremental_harvests >= limit {
            return Ok(Err(format!("it is due after {limit} incremental harvests")));
        }
        let known = match self.known_packages(portal)? {
            Ok(known) => known,
            Err(reason) => return Ok(Err(reason)),
        };
        // Even if others were added, some were removed, and no list names them.
        if newest.count < portal.count {
            return Ok(Err(format!(
                "it counts {} packages, and counted {} before",
                newest.count, portal.count
            )));
        }
        let rows = self.harvester.options.page_size.max(1);
        while !newest.reaches(&portal.watermark) {
            if source.report.pages >= self.harvester.options.budget.pages {
                return Ok(Err(format!(
                    "its changes have more than {} pages",
                    source.report.pages
                )));
            }
            let next = self.newest(source, api, newest.rows(), rows)?;
            if let Err(reason) = next.and_then(|next| newest.append(next)) {
                return Ok(Err(reason));
            }
        }
        match newest.inconsistency(&known, &portal.watermark) {
            Some(reason) => Ok(Err(reason)),
            None => self
                .process_changed_packages(source, portal, known, newest)
                .map(Ok),
        }
    }

    /// Reads the packages of the cached pages. The inner error is the reason why the cache is incomplete.
    fn known_packages(
        &mut self,
        portal: &PortalRecord,
    ) -> Result<Result<CachedPackages, String>, HarvestError> {
        let mut known = CachedPackages::new();
        for name in &portal.pages {
            let Some(file) = self.fetcher.state.cached_file(name) else {
                return Ok(Err(format!("the cached copy of <{name}> is missing")));
            };
            let path = self.fetcher.state.path(&file.file);
            // A page of a search, or the response to a request for a single package.
            let packages = match read_response::<SearchResult>(&path)? {
                Ok(found) => Ok(found.results),
                Err(_) => read_response::<PackageSummary>(&path)?.map(|package| vec![package]),
            };
            let stamps: Option<Vec<Stamp>> =
                packages.iter().flatten().map(Stamp::from_package).collect();
            let Some(stamps) = stamps.filter(|stamps| !stamps.is_empty()) else {
                return Ok(Err(format!("the cached copy of <{name}> is unreadable")));
            };
            add_packages(&mut known, name, stamps);
        }
        let count = known.len() as u64;
        if count == portal.count {
            Ok(Ok(known))
        } else {
            Ok(Err(format!(
                "{count} of {} packages are cached",
                portal.count
            )))
        }
    }

    fn process_changed_packages(
        &mut self,
        source: &mut Source,
        portal: &PortalRecord,
        mut known: CachedPackages,
        newest: NewestPackages,
    ) -> Result<PortalRecord, HarvestError> {
        let watermark = newest
            .first()
            .and_then(with_overlap)
            .unwrap_or_else(|| portal.watermark.clone());
        let count = newest.count;
        let mut new_pages: Vec<String> = Vec::new();
        for NewPage {
            address,
            file,
            stamps,
        } in newest.pages
        {
            let name = self.fetcher.state.pin_file(&address, file)?;
            add_packages(&mut known, &name, stamps);
            new_pages.push(name);
        }
        // A page with the same address and content keeps its name, and moves behind the others: later pages override.
        let earlier = portal
            .pages
            .iter()
            .filter(|name| !new_pages.contains(name))
            .cloned();
        let mut pages: Vec<String> = earlier.chain(new_pages.iter().cloned()).collect();
        let in_use: BTreeSet<Rc<str>> = known
            .values()
            .map(|package| Rc::clone(&package.page))
            .collect();
        // Pages whose packages all have newer versions are no longer needed.
        pages.retain(|name| in_use.contains(name.as_str()));
        for name in &pages {
            let before = source.report.datasets;
            let current = known
                .iter()
                .filter(|(_, package)| *package.page == **name)
                .map(|(id, _)| id.clone());
            self.process_cached_packages(source, name, current.collect())?;
            if !new_pages.contains(name) {
                source.report.not_requested += source.report.datasets - before;
            }
        }
        Ok(PortalRecord {
            watermark,
            count,
            incremental_harvests: portal.incremental_harvests + 1,
            pages,
        })
    }

    /// Processes the packages of a cached page with these ids.
    fn process_cached_packages(
        &mut self,
        source: &mut Source,
        name: &str,
        ids: BTreeSet<String>,
    ) -> Result<(), HarvestError> {
        let Some(file) = self.fetcher.state.cached_file(name) else {
            source.fail(name, "the cached copy is missing");
            return Ok(());
        };
        let path = self.fetcher.state.path(&file.file);
        let packages = CatalogSource::Packages {
            path,
            address: file.address,
            ids,
        };
        let reader = &self.harvester.options.reader;
        let quarantine = &mut self.fetcher.state.quarantine;
        let read = quarantine.guard(&format!("<{name}>"), &file.sha256, || {
            reader.read(&packages)
        });
        match read? {
            Ok(Ok(catalog)) => self.process(source, catalog)?,
            Ok(Err(error)) => source.fail(name, error),
            Err(reason) => source.fail(name, reason),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WATERMARK: &str = "2024-05-01T10:00:00.5";

    fn stamps(all: &[(&str, &str)]) -> Vec<Stamp> {
        all.iter()
            .map(|(id, second)| Stamp {
                id: (*id).to_owned(),
                timestamp: normalize_timestamp(&format!("2024-05-01T10:00:0{second}"))
                    .expect("a timestamp"),
            })
            .collect()
    }

    fn newest(count: u64, all: &[(&str, &str)]) -> NewestPackages {
        let file = serde_json::json!({"file": "f", "length": 0, "sha256": "", "address": ""});
        let file = serde_json::from_value(file).expect("a file");
        NewestPackages {
            count,
            pages: vec![NewPage {
                address: String::new(),
                file,
                stamps: stamps(all),
            }],
        }
    }

    fn known(all: &[(&str, &str)]) -> BTreeMap<String, CachedPackage> {
        let package = |Stamp { id, timestamp }| {
            (
                id,
                CachedPackage {
                    timestamp,
                    page: "page".into(),
                },
            )
        };
        stamps(all).into_iter().map(package).collect()
    }

    fn timestamps(all: &[(&str, &str)]) -> BTreeMap<String, String> {
        stamps(all)
            .into_iter()
            .map(|stamp| (stamp.id, stamp.timestamp))
            .collect()
    }

    #[test]
    fn moments_sort_as_texts() {
        let written = [
            "2024-05-01T10:00:00",
            "2024-05-01T10:00:00.000001Z",
            "2024-05-01T10:00:00.5",
            "2024-05-01T12:00:00.50001+02:00",
            "2024-05-01T10:00:01",
        ];
        let read: Vec<String> = written
            .iter()
            .map(|text| normalize_timestamp(text).expect(text))
            .collect();
        assert!(read.is_sorted_by(|one, next| one < next), "{read:?}");
        assert_eq!(
            normalize_timestamp("2024-05-01T10:00:00.500000Z").as_deref(),
            Some(WATERMARK)
        );
        for none in [
            "",
            "2024-05-01",
            "yesterday",
            "20240-05-01T10:00:00",
            "-2024-05-01T10:00:00",
        ] {
            assert_eq!(normalize_timestamp(none), None, "{none}");
        }
    }

    #[test]
    fn what_leaves_a_doubt() {
        let before = known(&[("a", "0.5"), ("b", "0.5"), ("c", "0.2"), ("d", "0.1")]);
        let reason = |newest: NewestPackages| newest.inconsistency(&before, WATERMARK);
        let same = [("a", "0.5"), ("b", "0.5"), ("c", "0.2")];
        assert_eq!(reason(newest(4, &same)), None);
        assert_eq!(
            reason(newest(5, &[&[("e", "0.9")], &same[..]].concat())),
            None,
            "one is new"
        );
        assert_eq!(
            reason(newest(
                4,
                &[("d", "0.9"), ("a", "0.5"), ("b", "0.5"), ("c", "0.2")]
            )),
            None,
            "one changed"
        );
        assert_eq!(
            reason(newest(
                5,
                &[("a", "0.5"), ("b", "0.5"), ("e", "0.5"), ("c", "0.2")]
            )),
            None,
            "of one timestamp"
        );
        let cases = [
            (
                newest(4, &[("a", "0.5"), ("c", "0.2"), ("b", "0.5")]),
                "does not sort",
            ),
            (
                newest(4, &[("a", "0.5"), ("e", "0.5"), ("c", "0.2")]),
                "package b is no longer among the newest",
            ),
            (
                newest(5, &[("a", "0.5"), ("b", "0.5"), ("e", "0.3")]),
                "package e changed at",
            ),
            (
                newest(4, &[("a", "0.5"), ("b", "0.5"), ("c", "0.1")]),
                "package c changed at",
            ),
            (
                newest(4, &[&[("e", "0.9")], &same[..]].concat()),
                "but 5 were found",
            ),
            (newest(5, &same), "but 4 were found"),
        ];
        for (newest, expected) in cases {
            let reason = reason(newest.clone()).unwrap_or_default();
            assert!(reason.contains(expected), "{newest:?}: {reason}");
        }
    }

    #[test]
    fn the_whole_reading_shows_whether_a_portal_sorts() {
        let all = [("a", "0.5"), ("b", "0.4"), ("c", "0.3"), ("d", "0.2")];
        let mark = |first: &[(&str, &str)], all: &[(&str, &str)]| {
            newest(4, first).watermark(&timestamps(all))
        };
        assert_eq!(mark(&all[..2], &all).as_deref(), Some(WATERMARK));
        // b changed while the portal was read.
        assert_eq!(
            mark(&all[..3], &[all[0], ("b", "0.9"), all[2], all[3]]).as_deref(),
            Some(WATERMARK)
        );
        // Newer ones may have changed since; if they had not, the next harvest misses them among the newest.
        assert_eq!(
            mark(&all[1..3], &all),
            normalize_timestamp("2024-05-01T10:00:00.4")
        );
        assert!(
            newest(4, &all[1..3])
                .inconsistency(&known(&all), "2024-05-01T10:00:00.4")
                .is_some()
        );
        assert_eq!(mark(&[all[0], all[2]], &all), None, "one is passed over");
        assert_eq!(mark(&[all[1], all[0]], &all), None, "they grow");
        assert_eq!(mark(&[("e", "0.5")], &all), None, "nothing of it was found");
        assert_eq!(mark(&[], &all), None);
        for date in [
            "2024-05-01T00:00:00",
            "2024-05-01T00:00:00+02:00",
            "2024-05-01T00:00:00+05:30",
        ] {
            let dates: BTreeMap<String, String> =
                [("a".to_owned(), normalize_timestamp(date).expect(date))].into();
            assert!(!have_time_of_day(&dates), "{date}");
        }
        assert!(have_time_of_day(&timestamps(&all)));
        assert_eq!(
            with_overlap(WATERMARK).as_deref(),
            Some("2024-05-01T09:55:00.5")
        );
    }

    #[test]
    fn reading_on() {
        let mut read = newest(5, &[("a", "0.9"), ("b", "0.5")]);
        assert!(
            !read.reaches(WATERMARK),
            "there may be more of this timestamp"
        );
        assert!(
            read.append(newest(6, &[("c", "0.5")])).is_err(),
            "it changes meanwhile"
        );
        assert!(read.append(newest(5, &[])).is_err());
        read.append(newest(5, &[("c", "0.5"), ("d", "0.1")]))
            .expect("as many");
        assert!(read.reaches(WATERMARK) && read.rows() == 4);
        assert!(
            newest(2, &[("a", "0.9"), ("b", "0.5")]).reaches(WATERMARK),
            "there are no more"
        );
    }
}
