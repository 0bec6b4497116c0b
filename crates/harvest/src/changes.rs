//! What a portal of CKAN changed since it was read.
//!
//! CKAN tells of every package when it was last changed (`metadata_modified`) and sorts by it. So one short page, the newest
//! first, tells that nothing has changed, and a few more tell what has; all other packages are taken from the pages that are
//! kept here. That a package is gone is told by the count alone. Nothing is taken on trust that can be checked:
//!
//! * A portal must have been read whole, every package with its id and its moment, and its order have fitted what was read.
//! * Moments of the pages fall, and what is older than the last reading is as it was known.
//! * What was known to be as new as the last reading, or newer, is still there: so packages of one moment are compared by
//!   their ids, and never by how many they are.
//! * What is known and what is new are together as many as the portal counts.
//! * What changed some minutes before the newest that was seen is looked at again: it may have been told of late.
//!
//! Wherever one of these does not hold, the portal is read whole, and the report tells why. What they cannot tell is a package
//! that appears with an old moment while another one disappears, and what changes without a new moment, as the name of an
//! organisation: these are found by the whole reading that is due after some harvests.

use super::ckan::{Api, PackageSummary, SearchResult, read_response};
use super::fetch::Purpose;
use super::state::{CachedFile, PortalRecord};
use super::{HarvestError, Run, Source};
use lodeseek_catalog::Catalog;
use oxsdatatypes::{DateTime, DayTimeDuration, TimezoneOffset};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Packages of the page that tells whether anything has changed.
pub(super) const NEWEST_PAGE_SIZE: u64 = 5;
/// One in so many packages may be of a whole or half hour.
const MAX_ROUND_SHARE: usize = 10;
/// Seconds that a change may be late to be told: a portal tells of a package once it is indexed, which another one that
/// changed later may have been before.
const OVERLAP_SECONDS: i64 = 300;

/// A package, and when the portal last changed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) id: String,
    /// As [`moment`] writes it.
    pub(super) moment: String,
}

impl Stamp {
    /// `None` where one of them is not told.
    pub(super) fn from_package(package: &PackageSummary) -> Option<Self> {
        let id = package.id.as_str().filter(|id| !id.is_empty())?;
        Some(Self { id: id.to_owned(), moment: moment(package.metadata_modified.as_str()?)? })
    }
}

/// A moment in UTC, which is what CKAN means where it names no zone, as a text that sorts as moments do.
fn moment(written: &str) -> Option<String> {
    let parsed: DateTime = written.trim().parse().ok()?;
    let is_usual = (0..=9999).contains(&parsed.year());
    let utc = if parsed.timezone_offset().is_some() { parsed.adjust(Some(TimezoneOffset::UTC))? } else { parsed };
    Some(utc.to_string().trim_end_matches('Z').to_owned()).filter(|_| is_usual)
}

/// Whether moments are those of a clock. Portals that are not CKAN but speak its language may tell the date of the
/// description instead, midnight somewhere, which stays what it is when the description changes.
fn are_timestamps(moments: &BTreeMap<String, String>) -> bool {
    let is_hour = |moment: &&String| moment.ends_with(":00:00") || moment.ends_with(":30:00");
    moments.values().filter(is_hour).count() * MAX_ROUND_SHARE <= moments.len()
}

/// From which moment on changes are asked for, where this is the newest that was seen.
pub(super) fn with_overlap(newest: &str) -> Option<String> {
    let moment: DateTime = newest.parse().ok()?;
    Some(moment.checked_sub_day_time_duration(DayTimeDuration::new(OVERLAP_SECONDS))?.to_string())
}

/// A page of those that changed last.
#[derive(Clone, Debug)]
struct NewPage {
    address: String,
    kept: CachedFile,
    stamps: Vec<Stamp>,
}

/// The packages that changed last, as far as they were read.
#[derive(Clone, Debug)]
pub(super) struct Newest {
    /// Packages that the portal says there are.
    count: u64,
    pages: Vec<NewPage>,
}

/// What is known of a package.
struct KnownPackage {
    moment: String,
    /// The page that tells it.
    page: Rc<str>,
}

impl Newest {
    fn stamps(&self) -> impl Iterator<Item = &Stamp> {
        self.pages.iter().flat_map(|page| &page.stamps)
    }

    fn rows(&self) -> u64 {
        self.stamps().count() as u64
    }

    fn first(&self) -> Option<&str> {
        self.stamps().next().map(|stamp| stamp.moment.as_str())
    }

    /// Whether all that are of a moment, or newer, were read.
    fn reaches_behind(&self, mark: &str) -> bool {
        self.rows() >= self.count || self.stamps().last().is_some_and(|stamp| stamp.moment.as_str() < mark)
    }

    fn append(&mut self, next: Self) -> Result<(), String> {
        if next.count != self.count {
            return Err(format!("it counted {} packages, and {} while it was asked on", self.count, next.count));
        }
        if next.rows() == 0 {
            return Err(format!("it counts {} packages and ends after {}", self.count, self.rows()));
        }
        self.pages.extend(next.pages);
        Ok(())
    }

    fn is_descending(&self) -> bool {
        let moments: Vec<&str> = self.stamps().map(|stamp| stamp.moment.as_str()).collect();
        moments.is_sorted_by(|one, next| one >= next)
    }

    /// The moment of the newest package before the portal was read whole, if that reading shows that the portal sorts by
    /// moments: those of this page that stayed as they were are the newest of all that stayed.
    pub(super) fn mark(&self, moments: &BTreeMap<String, String>) -> Option<String> {
        let mark = self.first()?;
        let mut settled: Vec<&str> = moments.values().map(String::as_str).filter(|moment| *moment <= mark).collect();
        settled.sort_unstable_by(|one, other| other.cmp(one));
        let stayed = self.stamps().filter(|stamp| moments.get(&stamp.id) == Some(&stamp.moment));
        let stayed: Vec<&str> = stayed.map(|stamp| stamp.moment.as_str()).collect();
        let is_sorted = self.is_descending() && !stayed.is_empty() && settled.starts_with(&stayed);
        (is_sorted && are_timestamps(moments)).then(|| mark.to_owned())
    }

    /// Why these packages and those that are known may not be all there are.
    fn inconsistency(&self, known: &BTreeMap<String, KnownPackage>, mark: &str) -> Option<String> {
        if !self.is_descending() {
            return Some("it does not sort by metadata_modified".to_owned());
        }
        let told: BTreeSet<&str> = self.stamps().map(|stamp| stamp.id.as_str()).collect();
        let is_lost =
            |(id, held): &(&String, &KnownPackage)| held.moment.as_str() >= mark && !told.contains(id.as_str());
        if let Some((id, _)) = known.iter().find(is_lost) {
            return Some(format!("package {id} is not among the newest any more"));
        }
        let is_known = |stamp: &Stamp| known.get(&stamp.id).is_some_and(|held| held.moment == stamp.moment);
        if let Some(Stamp { id, moment }) = self.stamps().find(|stamp| stamp.moment.as_str() < mark && !is_known(stamp))
        {
            return Some(format!("package {id} is of {moment}, before the last reading, and was not known to be"));
        }
        let all = (known.len() + told.iter().filter(|id| !known.contains_key(**id)).count()) as u64;
        (all != self.count)
            .then(|| format!("it counts {} packages, and with the new ones {all} would be known", self.count))
    }
}

impl Run<'_, '_> {
    /// A page of the packages that changed last; or why it does not tell them.
    pub(super) fn newest(
        &mut self,
        source: &mut Source,
        api: &Api,
        start: u64,
        rows: u64,
    ) -> Result<Result<Newest, String>, HarvestError> {
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
            Some(stamps) => Ok(Newest { count, pages: vec![NewPage { address, kept: fetched.kept, stamps }] }),
            None => Err(format!("<{address}>: packages without an id, or a moment as metadata_modified")),
        })
    }

    /// Takes what changed since the portal was read and all else as it was, and tells what is to be known of it now; or why
    /// that may not be all there is, with nothing taken.
    pub(super) fn harvest_changes(
        &mut self,
        source: &mut Source,
        api: &Api,
        portal: &PortalRecord,
        mut newest: Newest,
    ) -> Result<Result<PortalRecord, String>, HarvestError> {
        let most = self.harvester.options.full_harvest_every;
        if portal.in_part >= most {
            let due = format!("it is due after {most} harvests that asked for changes alone");
            return Ok(Err(if most == 0 { "that was asked for".to_owned() } else { due }));
        }
        let known = match self.known_packages(portal)? {
            Ok(known) => known,
            Err(doubt) => return Ok(Err(doubt)),
        };
        if newest.count < portal.count {
            return Ok(Err(format!("it counts {} packages, and had {}", newest.count, portal.count)));
        }
        let rows = self.harvester.options.page_size.max(1);
        while !newest.reaches_behind(&portal.mark) {
            if source.report.pages >= self.harvester.options.budget.pages {
                return Ok(Err(format!("its changes have more than {} pages", source.report.pages)));
            }
            let next = self.newest(source, api, newest.rows(), rows)?;
            if let Err(doubt) = next.and_then(|next| newest.append(next)) {
                return Ok(Err(doubt));
            }
        }
        match newest.inconsistency(&known, &portal.mark) {
            Some(doubt) => Ok(Err(doubt)),
            None => self.take_changed_packages(source, portal, known, newest).map(Ok),
        }
    }

    /// What the kept pages tell; or why they do not.
    fn known_packages(
        &mut self,
        portal: &PortalRecord,
    ) -> Result<Result<BTreeMap<String, KnownPackage>, String>, HarvestError> {
        let mut known = BTreeMap::new();
        for name in &portal.pages {
            let Some(kept) = self.fetcher.state.cached_file(name) else {
                return Ok(Err(format!("the copy of <{name}> is not there any more")));
            };
            let path = self.fetcher.state.path(&kept.file);
            let packages = match read_response::<SearchResult>(&path)? {
                Ok(found) => Ok(found.results),
                Err(_) => read_response::<PackageSummary>(&path)?.map(|package| vec![package]),
            };
            let stamps: Option<Vec<Stamp>> = packages.iter().flatten().map(Stamp::from_package).collect();
            let Some(stamps) = stamps.filter(|stamps| !stamps.is_empty()) else {
                return Ok(Err(format!("the copy of <{name}> cannot be read any more")));
            };
            let page: Rc<str> = name.as_str().into();
            known.extend(
                stamps.into_iter().map(|Stamp { id, moment }| (id, KnownPackage { moment, page: Rc::clone(&page) })),
            );
        }
        let count = known.len() as u64;
        Ok(if count == portal.count {
            Ok(known)
        } else {
            Err(format!("of {} packages {count} are kept", portal.count))
        })
    }

    fn take_changed_packages(
        &mut self,
        source: &mut Source,
        portal: &PortalRecord,
        mut known: BTreeMap<String, KnownPackage>,
        newest: Newest,
    ) -> Result<PortalRecord, HarvestError> {
        let mark = newest.first().and_then(with_overlap).unwrap_or_else(|| portal.mark.clone());
        let count = newest.count;
        let mut asked: Vec<String> = Vec::new();
        for NewPage { address, kept, stamps } in newest.pages {
            let name = self.fetcher.state.pin_file(&address, kept)?;
            let page: Rc<str> = name.as_str().into();
            known.extend(
                stamps.into_iter().map(|Stamp { id, moment }| (id, KnownPackage { moment, page: Rc::clone(&page) })),
            );
            asked.push(name);
        }
        let earlier = portal.pages.iter().filter(|name| !asked.contains(name)).cloned();
        let mut pages: Vec<String> = earlier.chain(asked.iter().cloned()).collect();
        let in_use: BTreeSet<Rc<str>> = known.values().map(|held| Rc::clone(&held.page)).collect();
        pages.retain(|name| in_use.contains(name.as_str()));
        for name in &pages {
            let before = source.report.datasets;
            self.take_cached_packages(source, name, &|id| known.get(id).is_some_and(|held| *held.page == **name))?;
            if !asked.contains(name) {
                source.report.as_before += source.report.datasets - before;
            }
        }
        Ok(PortalRecord { mark, count, in_part: portal.in_part + 1, pages })
    }

    /// Takes packages of a kept page.
    fn take_cached_packages(
        &mut self,
        source: &mut Source,
        name: &str,
        is_wanted: &dyn Fn(&str) -> bool,
    ) -> Result<(), HarvestError> {
        let Some(kept) = self.fetcher.state.cached_file(name) else {
            source.fail(name, "the copy is not there any more");
            return Ok(());
        };
        match Catalog::read_packages(&self.fetcher.state.path(&kept.file), &kept.address, is_wanted) {
            Ok(catalog) => self.take(source, catalog),
            Err(error) => {
                source.fail(name, error);
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARK: &str = "2024-05-01T10:00:00.5";

    fn stamps(all: &[(&str, &str)]) -> Vec<Stamp> {
        let stamp = |(id, second): &(&str, &str)| Stamp {
            id: (*id).to_owned(),
            moment: moment(&format!("2024-05-01T10:00:0{second}")).expect("a moment"),
        };
        all.iter().map(stamp).collect()
    }

    fn newest(count: u64, all: &[(&str, &str)]) -> Newest {
        let kept = serde_json::json!({"file": "f", "length": 0, "sha256": "", "address": ""});
        let kept = serde_json::from_value(kept).expect("a file");
        Newest { count, pages: vec![NewPage { address: String::new(), kept, stamps: stamps(all) }] }
    }

    fn known(all: &[(&str, &str)]) -> BTreeMap<String, KnownPackage> {
        let held = |Stamp { id, moment }| (id, KnownPackage { moment, page: "page".into() });
        stamps(all).into_iter().map(held).collect()
    }

    fn moments(all: &[(&str, &str)]) -> BTreeMap<String, String> {
        stamps(all).into_iter().map(|stamp| (stamp.id, stamp.moment)).collect()
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
        let read: Vec<String> = written.iter().map(|text| moment(text).expect(text)).collect();
        assert!(read.is_sorted_by(|one, next| one < next), "{read:?}");
        assert_eq!(moment("2024-05-01T10:00:00.500000Z").as_deref(), Some(MARK));
        for none in ["", "2024-05-01", "yesterday", "20240-05-01T10:00:00", "-2024-05-01T10:00:00"] {
            assert_eq!(moment(none), None, "{none}");
        }
    }

    #[test]
    fn what_leaves_a_doubt() {
        let before = known(&[("a", "0.5"), ("b", "0.5"), ("c", "0.2"), ("d", "0.1")]);
        let doubt = |newest: Newest| newest.inconsistency(&before, MARK);
        let same = [("a", "0.5"), ("b", "0.5"), ("c", "0.2")];
        assert_eq!(doubt(newest(4, &same)), None);
        assert_eq!(doubt(newest(5, &[&[("e", "0.9")], &same[..]].concat())), None, "one is new");
        assert_eq!(doubt(newest(4, &[("d", "0.9"), ("a", "0.5"), ("b", "0.5"), ("c", "0.2")])), None, "one changed");
        assert_eq!(doubt(newest(5, &[("a", "0.5"), ("b", "0.5"), ("e", "0.5"), ("c", "0.2")])), None, "of one moment");
        let cases = [
            (newest(4, &[("a", "0.5"), ("c", "0.2"), ("b", "0.5")]), "does not sort"),
            (newest(4, &[("a", "0.5"), ("e", "0.5"), ("c", "0.2")]), "package b is not among the newest"),
            (newest(5, &[("a", "0.5"), ("b", "0.5"), ("e", "0.3")]), "package e is of"),
            (newest(4, &[("a", "0.5"), ("b", "0.5"), ("c", "0.1")]), "package c is of"),
            (newest(4, &[&[("e", "0.9")], &same[..]].concat()), "5 would be known"),
            (newest(5, &same), "4 would be known"),
        ];
        for (newest, expected) in cases {
            let doubt = doubt(newest.clone()).unwrap_or_default();
            assert!(doubt.contains(expected), "{newest:?}: {doubt}");
        }
    }

    #[test]
    fn the_whole_reading_shows_whether_a_portal_sorts() {
        let all = [("a", "0.5"), ("b", "0.4"), ("c", "0.3"), ("d", "0.2")];
        let mark = |first: &[(&str, &str)], all: &[(&str, &str)]| newest(4, first).mark(&moments(all));
        assert_eq!(mark(&all[..2], &all).as_deref(), Some(MARK));
        // b changed while the portal was read.
        assert_eq!(mark(&all[..3], &[all[0], ("b", "0.9"), all[2], all[3]]).as_deref(), Some(MARK));
        // Newer ones may have changed since; if they had not, the next harvest misses them among the newest.
        assert_eq!(mark(&all[1..3], &all), moment("2024-05-01T10:00:00.4"));
        assert!(newest(4, &all[1..3]).inconsistency(&known(&all), "2024-05-01T10:00:00.4").is_some());
        assert_eq!(mark(&[all[0], all[2]], &all), None, "one is passed over");
        assert_eq!(mark(&[all[1], all[0]], &all), None, "they grow");
        assert_eq!(mark(&[("e", "0.5")], &all), None, "nothing of it was found");
        assert_eq!(mark(&[], &all), None);
        for date in ["2024-05-01T00:00:00", "2024-05-01T00:00:00+02:00", "2024-05-01T00:00:00+05:30"] {
            let dates: BTreeMap<String, String> = [("a".to_owned(), moment(date).expect(date))].into();
            assert!(!are_timestamps(&dates), "{date}");
        }
        assert!(are_timestamps(&moments(&all)));
        assert_eq!(with_overlap(MARK).as_deref(), Some("2024-05-01T09:55:00.5"));
    }

    #[test]
    fn reading_on() {
        let mut read = newest(5, &[("a", "0.9"), ("b", "0.5")]);
        assert!(!read.reaches_behind(MARK), "there may be more of this moment");
        assert!(read.append(newest(6, &[("c", "0.5")])).is_err(), "it changes meanwhile");
        assert!(read.append(newest(5, &[])).is_err());
        read.append(newest(5, &[("c", "0.5"), ("d", "0.1")])).expect("as many");
        assert!(read.reaches_behind(MARK) && read.rows() == 4);
        assert!(newest(2, &[("a", "0.9"), ("b", "0.5")]).reaches_behind(MARK), "there are no more");
    }
}
