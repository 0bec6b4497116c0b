//! Complete harvest of a portal through [CKAN's Action API](https://docs.ckan.org/en/latest/api/).
//!
//! Packages are listed by `package_search`, sorted by name so that pages neither overlap nor leave gaps while the portal is
//! edited. A failing page is requested in smaller pages. Packages that are still missing are found by `package_list` and
//! requested one by one (`package_show`), so that one defective package does not hide the others. Later harvests request
//! only [changes](super::changes).

use super::changes::{NEWEST_PAGE_SIZE, NewestPackages, Stamp, with_overlap};
use super::fetch::{FetchedFile, Purpose};
use super::pages::{PageContent, error_reason, root_of};
use super::report::shorten_text;
use super::state::PortalRecord;
use super::{HarvestError, Run, Source};
use form_urlencoded::Serializer;
use lodeseek_catalog::{Dialect, Problem};
use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::File;
use std::io::BufReader;
use std::marker::PhantomData;
use std::path::Path;

/// Number of packages in the smaller pages that replace a failing page.
const SMALL_PAGE_SIZE: u64 = 10;
/// Maximum size of a response in bytes, because this process reads its list of ids and dates. A longer page is requested in
/// smaller ones.
const MAX_RESPONSE_BYTES: u64 = 64 << 20;
/// Maximum number of packages of a response. The list of their names is not paged.
const MAX_PACKAGES: usize = 1_000_000;
/// Maximum size of the name, id or timestamp of a package in bytes. A longer one counts as missing.
const MAX_VALUE_BYTES: usize = 1000;

/// Address of an API with the parameters of a search.
pub(super) struct Api {
    /// Base address of the actions, with a trailing slash.
    pub(super) actions: String,
    /// Search parameters given by the operator.
    search: Vec<(String, String)>,
}

#[derive(Deserialize)]
struct ApiResponse<R> {
    success: bool,
    result: R,
}

#[derive(Deserialize)]
pub(super) struct SearchResult {
    pub(super) count: u64,
    #[serde(deserialize_with = "read_packages")]
    pub(super) results: Vec<PackageSummary>,
}

/// Names of all packages.
#[derive(Deserialize)]
pub(super) struct PackageNames(#[serde(deserialize_with = "read_packages")] Vec<String>);

/// Properties of a package that the harvest reads. Portals omit or misuse them: a value that is no short string is ignored.
#[derive(Deserialize)]
pub(super) struct PackageSummary {
    #[serde(default, deserialize_with = "short_string")]
    name: Option<String>,
    #[serde(default, deserialize_with = "short_string")]
    pub(super) id: Option<String>,
    #[serde(default, deserialize_with = "short_string")]
    pub(super) metadata_modified: Option<String>,
}

/// Reads a string of at most [`MAX_VALUE_BYTES`], with quotes and escapes; `None` for any other value.
fn short_string<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let json = Box::<RawValue>::deserialize(deserializer)?;
    // The raw text first: a large value is never copied into memory as a string.
    let is_short = json.get().len() <= MAX_VALUE_BYTES;
    Ok(if is_short {
        serde_json::from_str(json.get()).ok()
    } else {
        None
    })
}

/// Reads a list of at most [`MAX_PACKAGES`]. Its elements may be much larger in memory than in the response.
fn read_packages<'de, D: Deserializer<'de>, P: Deserialize<'de>>(
    deserializer: D,
) -> Result<Vec<P>, D::Error> {
    deserializer.deserialize_seq(PackageVisitor(PhantomData))
}

struct PackageVisitor<P>(PhantomData<P>);

impl<'de, P: Deserialize<'de>> Visitor<'de> for PackageVisitor<P> {
    type Value = Vec<P>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of at most {MAX_PACKAGES} packages")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Vec<P>, A::Error> {
        let mut packages = Vec::new();
        while let Some(package) = elements.next_element()? {
            if packages.len() == MAX_PACKAGES {
                return Err(A::Error::invalid_length(MAX_PACKAGES + 1, &self));
            }
            packages.push(package);
        }
        Ok(packages)
    }
}

impl Api {
    /// Recognises an API by its path, or by an action that lists packages.
    pub(super) fn from_address(address: &str) -> Option<Self> {
        let (path, query) = address.split_once('?').unwrap_or((address, ""));
        let (site, rest) = ["/api/3", "/api/action"].iter().find_map(|mark| {
            let (site, rest) = path.split_once(mark)?;
            rest.is_empty()
                .then_some((site, ""))
                .or_else(|| Some((site, rest.strip_prefix('/')?)))
        })?;
        let action = rest.trim_start_matches("action").trim_matches('/');
        let lists = [
            "",
            "package_search",
            "package_list",
            "current_package_list_with_resources",
        ];
        let mut search = Vec::new();
        if action == "package_search" {
            for (name, value) in form_urlencoded::parse(query.as_bytes()).into_owned() {
                // The harvest sets these itself.
                if !matches!(
                    name.as_str(),
                    "rows" | "start" | "sort" | "limit" | "offset"
                ) {
                    search.push((name, value));
                }
            }
        }
        lists.contains(&action).then(|| Self {
            actions: format!("{site}/api/3/action/"),
            search,
        })
    }

    /// Guesses the API of a site from the address of its root or of a folder (trailing slash).
    pub(super) fn from_site(address: &str) -> Option<Self> {
        let path = address.split(['?', '#']).next().unwrap_or(address);
        let root = root_of(address)?;
        let is_site = path.trim_end_matches('/').len() < root.len() || path.ends_with('/');
        is_site.then(|| Self {
            actions: format!("{}/api/3/action/", path.trim_end_matches('/')),
            search: Vec::new(),
        })
    }

    fn page(&self, start: u64, rows: u64) -> String {
        self.sorted_page("name asc", start, rows)
    }

    /// Returns the address of a page of recently changed packages.
    pub(super) fn newest(&self, start: u64, rows: u64) -> String {
        self.sorted_page("metadata_modified desc, name asc", start, rows)
    }

    fn sorted_page(&self, order: &str, start: u64, rows: u64) -> String {
        let mut query = Serializer::new(String::new());
        query.extend_pairs(&self.search).append_pair("sort", order);
        query
            .append_pair("rows", &rows.to_string())
            .append_pair("start", &start.to_string());
        format!("{}package_search?{}", self.actions, query.finish())
    }

    /// Returns the address of the search without paging.
    fn search(&self) -> String {
        let query = Serializer::new(String::new())
            .extend_pairs(&self.search)
            .finish();
        format!("{}package_search?{query}", self.actions)
    }

    fn package(&self, name: &str) -> String {
        let query = Serializer::new(String::new())
            .append_pair("id", name)
            .finish();
        format!("{}package_show?{query}", self.actions)
    }
}

/// State of a complete harvest of a portal.
struct PortalCrawl<'a> {
    api: &'a Api,
    /// Number of packages that the portal counted last; `u64::MAX` before the first response.
    count: u64,
    /// Smallest and largest count. A portal counts fewer packages while it rebuilds its index. If the counts differ, a package
    /// may have moved to a page that was read before.
    least: u64,
    most: u64,
    /// Names of the packages read.
    names: BTreeSet<String>,
    /// Addresses of failed pages, with the reason.
    missing: Vec<(String, String)>,
    /// Timestamps of the packages, by id.
    timestamps: BTreeMap<String, String>,
    /// Addresses of the pages read.
    pages: Vec<String>,
    /// If true, every package read has an id and a timestamp.
    has_all_stamps: bool,
}

impl<'a> PortalCrawl<'a> {
    fn new(api: &'a Api) -> Self {
        Self {
            api,
            count: u64::MAX,
            least: u64::MAX,
            most: 0,
            names: BTreeSet::new(),
            missing: Vec::new(),
            timestamps: BTreeMap::new(),
            pages: Vec::new(),
            has_all_stamps: true,
        }
    }

    fn add_page(&mut self, page: &str, stamps: Option<Vec<Stamp>>) {
        self.has_all_stamps &= stamps.is_some();
        self.pages.push(page.to_owned());
        self.timestamps.extend(
            stamps
                .into_iter()
                .flatten()
                .map(|stamp| (stamp.id, stamp.timestamp)),
        );
    }

    /// Returns the record of the portal, if the harvest is complete and the sort order is reliable.
    fn portal(self, newest: &NewestPackages) -> Option<PortalRecord> {
        let is_whole = self.has_all_stamps
            && self.least == self.most
            && self.timestamps.len() as u64 == self.count;
        let watermark = newest
            .watermark(&self.timestamps)
            .filter(|_| is_whole)
            .and_then(|newest| with_overlap(&newest))?;
        Some(PortalRecord {
            watermark,
            count: self.count,
            incremental_harvests: 0,
            pages: self.pages,
        })
    }
}

impl Run<'_, '_> {
    /// Harvests a portal. Returns the reason if the address is no portal.
    pub(super) fn harvest_ckan(
        &mut self,
        source: &mut Source,
        api: &Api,
    ) -> Result<Option<String>, HarvestError> {
        // Read first, so that every change during the harvest has a newer timestamp.
        let newest = match self.newest(source, api, 0, NEWEST_PAGE_SIZE)? {
            Err(reason) if self.stopped => return Ok(Some(reason)),
            newest => newest,
        };
        let search = api.search();
        let portal = self.fetcher.state.portal(&search);
        if let Some(portal) = &portal {
            let since = match newest.clone() {
                Ok(newest) => self.harvest_changes(source, api, portal, newest)?,
                Err(reason) => Err(reason),
            };
            match since {
                Ok(portal) => {
                    self.fetcher.state.set_portal(&search, portal);
                    return Ok(None);
                }
                Err(reason) if self.stopped => {
                    source.fail(&api.actions, reason);
                    return Ok(None);
                }
                Err(reason) => source.report.complete_reason = Some(reason),
            }
        }
        // The complete harvest replaces the cached pages that the record references.
        self.fetcher.state.remove_portal(&search);
        match self.full_harvest(source, api)? {
            Ok(crawl) => {
                let known = newest
                    .ok()
                    .and_then(|newest| crawl.portal(&newest))
                    .filter(|_| !self.stopped);
                known
                    .into_iter()
                    .for_each(|portal| self.fetcher.state.set_portal(&search, portal));
                Ok(None)
            }
            Err(reason) => {
                portal
                    .into_iter()
                    // The address may be no portal for a while only: the next harvest then needs the record.
                    .for_each(|portal| self.fetcher.state.set_portal(&search, portal));
                Ok(Some(reason))
            }
        }
    }

    /// Reads all packages. The inner error is the reason why the address is no portal.
    fn full_harvest<'a>(
        &mut self,
        source: &mut Source,
        api: &'a Api,
    ) -> Result<Result<PortalCrawl<'a>, String>, HarvestError> {
        let rows = self.harvester.options.page_size.max(1);
        let mut crawl = PortalCrawl::new(api);
        // Pages of recent changes do not count.
        let before = source.report.pages;
        let mut start = 0;
        while start < crawl.count && !self.stopped {
            let read = source.report.pages - before;
            if read >= self.harvester.options.budget.pages {
                source.fail(
                    &api.page(start, rows),
                    format!("there are more than {read} pages"),
                );
                break;
            }
            match self.process_page(source, &mut crawl, start, rows)? {
                Ok(0) => break,
                Ok(length) => start += length,
                // Without any valid response the address is not considered a portal.
                Err(reason) if crawl.count == u64::MAX => return Ok(Err(reason)),
                Err(reason) if rows <= SMALL_PAGE_SIZE => {
                    crawl.missing.push((api.page(start, rows), reason));
                    start += rows;
                }
                Err(_) => {
                    self.in_small_pages(source, &mut crawl, start, rows)?;
                    start += rows;
                }
            }
        }
        if self.stopped {
            source.fail(
                &api.actions,
                "the portal was not read completely: the harvest had stopped",
            );
        }
        self.missing_packages(source, &mut crawl)?;
        Ok(Ok(crawl))
    }

    fn in_small_pages(
        &mut self,
        source: &mut Source,
        crawl: &mut PortalCrawl<'_>,
        start: u64,
        rows: u64,
    ) -> Result<(), HarvestError> {
        let end = (start + rows).min(crawl.count);
        for start in (start..end).step_by(SMALL_PAGE_SIZE as usize) {
            let rows = SMALL_PAGE_SIZE.min(end - start);
            if let Err(reason) = self.process_page(source, crawl, start, rows)? {
                crawl.missing.push((crawl.api.page(start, rows), reason));
            }
            if self.stopped {
                break;
            }
        }
        Ok(())
    }

    /// Processes a page of the search and returns its number of packages. The inner error is the reason of a failure.
    fn process_page(
        &mut self,
        source: &mut Source,
        crawl: &mut PortalCrawl<'_>,
        start: u64,
        rows: u64,
    ) -> Result<Result<u64, String>, HarvestError> {
        let address = crawl.api.page(start, rows);
        let fetched = match self.fetcher.get(&address, Purpose::Page) {
            Ok(fetched) => fetched,
            Err(error) => return Ok(Err(self.failure_reason(error)?)),
        };
        let found: SearchResult = match read_response(&fetched.path)? {
            Ok(found) => found,
            Err(reason) => return Ok(Err(format!("<{address}>: {reason}"))),
        };
        source.report.pages += 1;
        crawl.count = found.count;
        (crawl.least, crawl.most) = (crawl.least.min(found.count), crawl.most.max(found.count));
        let length = found.results.len() as u64;
        let before = crawl.names.len();
        let stamps = found.results.iter().map(Stamp::from_package).collect();
        crawl
            .names
            .extend(found.results.into_iter().filter_map(|package| package.name));
        // By names, not by addresses: a portal that ignores `start` returns its first page each time.
        if length > 0 && crawl.names.len() == before {
            source.fail(
                &address,
                "paging loop: the page contains only packages of earlier pages",
            );
            return Ok(Ok(0));
        }
        if length > 0 {
            crawl.add_page(&address, stamps);
            crawl.has_all_stamps &= self.package_file(source, &address, &fetched)?;
        }
        Ok(Ok(length))
    }

    /// Processes the packages of a response. Returns true if it has any.
    fn package_file(
        &mut self,
        source: &mut Source,
        address: &str,
        fetched: &FetchedFile,
    ) -> Result<bool, HarvestError> {
        match self.read_catalog(address, fetched)? {
            PageContent::Catalog(catalog) if catalog.dialect == Dialect::Ckan => {
                self.process(source, *catalog)?;
                return Ok(true);
            }
            PageContent::Catalog(_) => source.fail(address, "the response contains no packages"),
            PageContent::Invalid(error) => source.fail(address, error_reason(&error)),
            PageContent::Skipped(reason) => source.fail(address, reason),
        }
        Ok(false)
    }

    /// Requests the packages of failed pages one by one.
    fn missing_packages(
        &mut self,
        source: &mut Source,
        crawl: &mut PortalCrawl<'_>,
    ) -> Result<(), HarvestError> {
        if crawl.missing.is_empty() {
            return self.compare(source, crawl);
        }
        // The list of names cannot be restricted by a search: it would add packages that were not selected.
        let all = if crawl.api.search.is_empty() {
            self.names(crawl.api)?
        } else {
            None
        };
        let Some(all) = all.filter(|_| !self.stopped) else {
            crawl
                .missing
                .iter()
                .for_each(|(page, reason)| source.fail(page, reason));
            return Ok(());
        };
        let missing: Vec<String> = all
            .into_iter()
            .filter(|name| !crawl.names.contains(name))
            .collect();
        for name in missing {
            let address = crawl.api.package(&name);
            match self.fetcher.get(&address, Purpose::Page) {
                Ok(fetched) => {
                    crawl.add_page(
                        &address,
                        read_response(&fetched.path)?
                            .ok()
                            .and_then(|package| Some(vec![Stamp::from_package(&package)?])),
                    );
                    crawl.has_all_stamps &= self.package_file(source, &address, &fetched)?;
                }
                Err(error) => {
                    let reason = self.failure_reason(error)?;
                    source.fail(&address, reason);
                    if self.stopped {
                        break;
                    }
                }
            }
        }
        for (_, reason) in crawl.missing.drain(..) {
            let problem = Problem::new(format!("{reason}; its packages were requested one by one"));
            source.report.add_problems(&[problem]);
        }
        Ok(())
    }

    /// Records a failure if the portal returned fewer packages than it counts, because the others may still exist.
    fn compare(&self, source: &mut Source, crawl: &PortalCrawl<'_>) -> Result<(), HarvestError> {
        let had = crawl.names.len() as u64;
        // Of the largest count, because a portal counts fewer while it rebuilds its index.
        if source.report.whole && had < crawl.most {
            source.fail(
                &crawl.api.actions,
                format!(
                    "the portal counts {} packages but returned {had}",
                    crawl.most
                ),
            );
        }
        Ok(())
    }

    fn names(&mut self, api: &Api) -> Result<Option<Vec<String>>, HarvestError> {
        match self
            .fetcher
            .get(&format!("{}package_list", api.actions), Purpose::Page)
        {
            Ok(fetched) => Ok(read_response(&fetched.path)?
                .ok()
                .map(|PackageNames(names)| names)),
            Err(error) => self.failure_reason(error).map(|_| None),
        }
    }
}

/// Reads the result of a response. The inner error is the reason why there is none.
pub(super) fn read_response<R: for<'de> Deserialize<'de>>(
    path: &Path,
) -> Result<Result<R, String>, HarvestError> {
    let file = File::open(path).map_err(HarvestError::io(path))?;
    if file.metadata().map_err(HarvestError::io(path))?.len() > MAX_RESPONSE_BYTES {
        return Ok(Err(format!(
            "not a response of CKAN (more than {MAX_RESPONSE_BYTES} bytes)"
        )));
    }
    Ok(
        match serde_json::from_reader::<_, ApiResponse<R>>(BufReader::new(file)) {
            Ok(answer) if answer.success => Ok(answer.result),
            Ok(_) => Err("the portal reports a failure (success: false)".to_owned()),
            // The message may contain a value of the response.
            Err(error) => Err(shorten_text(&format!("not a response of CKAN ({error})"))),
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::de::IgnoredAny;
    use std::fs;

    #[test]
    fn values_of_packages_are_short_strings() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("page.json");
        let read = |count: &str, package: &str| {
            let json = format!(
                r#"{{"success": true, "result": {{"count": {count}, "results": [{package}]}}}}"#
            );
            fs::write(&path, json).expect("written");
            read_response::<SearchResult>(&path)
                .expect("readable")
                .map(|mut found| found.results.remove(0))
        };
        let long = "x".repeat(MAX_VALUE_BYTES);
        let package = read(
            "1",
            r#"{"name": "o\u0061ks", "id": [0, 0], "metadata_modified": "2026", "notes": {}}"#,
        );
        let PackageSummary {
            name,
            id,
            metadata_modified,
        } = package.expect("a package");
        assert_eq!(
            (name.as_deref(), id, metadata_modified.as_deref()),
            (Some("oaks"), None, Some("2026"))
        );
        let package = read(
            "1",
            &format!(r#"{{"name": "{long}", "metadata_modified": null}}"#),
        );
        let PackageSummary {
            name,
            id,
            metadata_modified,
        } = package.expect("a package");
        assert_eq!((name, id, metadata_modified), (None, None, None));
        let reason = read(&format!("\"{}\"", long.repeat(10)), "{}")
            .err()
            .expect("no number");
        assert!(
            reason.starts_with("not a response of CKAN (invalid type") && reason.len() < 3000,
            "{reason}"
        );
    }

    #[test]
    fn lists_of_packages_are_limited() {
        let read = |count: usize| {
            let json = format!("[{}0]", "0,".repeat(count - 1));
            read_packages::<_, IgnoredAny>(&mut serde_json::Deserializer::from_str(&json))
                .map(|list| list.len())
        };
        assert_eq!(read(MAX_PACKAGES).expect("a list"), MAX_PACKAGES);
        let error = read(MAX_PACKAGES + 1).expect_err("too many").to_string();
        assert!(
            error.contains("expected a list of at most 1000000 packages"),
            "{error}"
        );
    }

    #[test]
    fn portals_are_known_by_their_addresses() {
        let named = |address: &str| Api::from_address(address).map(|api| api.page(0, 5));
        let page = |site: &str| {
            Some(format!(
                "{site}/api/3/action/package_search?sort=name+asc&rows=5&start=0"
            ))
        };
        for address in [
            "http://e.org/api/3",
            "http://e.org/api/3/",
            "http://e.org/api/3/action/package_search?rows=1",
        ] {
            assert_eq!(named(address), page("http://e.org"), "{address}");
        }
        assert_eq!(
            named("http://e.org/ckan/api/action/package_list"),
            page("http://e.org/ckan")
        );
        let search = "http://e.org/api/3/action/package_search?fq=a:b&sort=name+asc&rows=5&start=0";
        assert_eq!(
            named("http://e.org/api/3/action/package_search?fq=a:b&start=7")
                .map(|s| s.replace("%3A", ":")),
            Some(search.into())
        );
        for address in [
            "http://e.org/",
            "http://e.org/api/30",
            "http://e.org/api/3/action/package_show?id=a",
        ] {
            assert_eq!(named(address), None, "{address}");
        }
        let from_site = |address: &str| Api::from_site(address).map(|api| api.page(0, 5));
        assert_eq!(from_site("http://e.org"), page("http://e.org"));
        assert_eq!(from_site("http://e.org/data/"), page("http://e.org/data"));
        assert_eq!(from_site("http://e.org/data.ttl"), None);
    }
}
