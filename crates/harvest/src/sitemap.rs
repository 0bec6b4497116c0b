//! Harvest of the pages that a [sitemap](https://www.sitemaps.org/protocol.html) lists, as far as they describe datasets in schema.org
//! or RDF. Pages of other hosts are left out, and `robots.txt` applies. A page with an unchanged `lastmod` is not requested again. The
//! datasets of a page that `robots.txt` does not allow any more are kept while the sitemap lists it.

use super::fetch::Purpose;
use super::pages::PageContent;
use super::state::RecordList;
use super::{FetchError, HarvestError, Run, Source};
use lodeseek_catalog::{CatalogError, Dataset, Dialect, Problem, ServiceResponse, Sitemap};
use lodeseek_net::egress::{MAX_IRI_BYTES, origin_of};
use std::collections::{BTreeMap, VecDeque};

/// Maximum number of sitemaps from an index to its pages.
const MAX_DEPTH: usize = 2;

/// Outcome of a request for a page.
enum PageOutcome {
    /// It was read: the keys of its datasets.
    Read(Vec<String>),
    /// `robots.txt` does not allow it.
    Disallowed,
    /// It could not be read, which is a failure of the source.
    Failed,
}

/// Returns the name of a page in the list of the state: the time of its last change, if it is stated, and its address.
fn name_of(page: &str, modified: Option<&str>) -> String {
    format!("{} {page}", modified.unwrap_or_default())
}

/// Returns the keys of the datasets that each page of a list had when it was read last.
fn keys_of_pages(list: &RecordList) -> BTreeMap<&str, &[String]> {
    let mut pages = BTreeMap::new();
    for (name, keys) in &list.records {
        if let Some((_, page)) = name.rsplit_once(' ') {
            pages.insert(page, &keys[..]);
        }
    }
    pages
}

/// A page with the time of its last change, as it is written.
type Entry = (String, Option<String>);

impl Run<'_, '_> {
    /// Harvests the pages of a sitemap. `first` is the one of the source, if it was read. Returns the reason if it is none.
    pub(super) fn harvest_sitemap(
        &mut self,
        source: &mut Source,
        first: Option<Sitemap>,
    ) -> Result<Option<String>, HarvestError> {
        let address = source.address.clone();
        let first = match first {
            Some(first) => first,
            None => match self.service_response(&address)? {
                Ok(ServiceResponse::Sitemap(sitemap)) => sitemap,
                Ok(_) => return Ok(Some(format!("<{address}>: no sitemap"))),
                Err(reason) => return Ok(Some(reason)),
            },
        };
        source.report.form = Some("sitemap".to_owned());
        let pages = self.sitemap_pages(source, first)?;
        let earlier = self.fetcher.state.record_list(&address);
        let mut known = BTreeMap::new();
        if let Some(list) = &earlier {
            match self.list_fault(source, list) {
                None => known.clone_from(&list.records),
                Some(reason) => source.report.complete_reason = Some(reason),
            }
        }
        let earlier_keys = earlier.as_ref().map(keys_of_pages).unwrap_or_default();
        let (mut records, mut unchanged) = (BTreeMap::new(), BTreeMap::new());
        let mut without_datasets = 0_u64;
        for (page, modified) in pages {
            let name = modified.as_deref().map(|time| name_of(&page, Some(time)));
            // The name contains the time of the last change, so that another time is another name.
            if let Some((name, keys)) = name.as_ref().and_then(|name| known.get_key_value(name)) {
                unchanged.insert(name.clone(), keys.clone());
                records.insert(name.clone(), keys.clone());
                continue;
            }
            if self.stopped {
                source.fail(&page, "not requested: the harvest had stopped");
                break;
            }
            if source.report.pages >= self.harvester.options.budget.pages {
                let reason = format!("there are more than {} pages", source.report.pages);
                source.fail(&page, reason);
                break;
            }
            match self.sitemap_page(source, &page)? {
                PageOutcome::Read(keys) => {
                    without_datasets += u64::from(keys.is_empty());
                    records.insert(name_of(&page, modified.as_deref()), keys);
                }
                PageOutcome::Disallowed => {
                    // Its datasets are not gone. Without a time, the page is requested once it is allowed.
                    let name = name_of(&page, None);
                    if let Some(keys) = earlier_keys.get(page.as_str()) {
                        unchanged.insert(name.clone(), keys.to_vec());
                        records.insert(name, keys.to_vec());
                    }
                }
                PageOutcome::Failed => {}
            }
        }
        self.count_unchanged_records(source, &unchanged);
        if without_datasets > 0 {
            let problem = format!("{without_datasets} pages of the sitemap describe no dataset");
            source.report.add_problems(&[Problem::new(problem)]);
        }
        if source.report.whole {
            let incremental_harvests = match &earlier {
                Some(list) if !known.is_empty() => list.incremental_harvests + 1,
                _ => 0,
            };
            let list = RecordList {
                from: String::new(),
                incremental_harvests,
                records,
            };
            self.fetcher.state.set_record_list(&address, list);
        }
        source.report.form = Some("sitemap".to_owned());
        Ok(None)
    }

    /// Returns the pages of a sitemap, and of those in its index.
    fn sitemap_pages(
        &mut self,
        source: &mut Source,
        first: Sitemap,
    ) -> Result<Vec<Entry>, HarvestError> {
        // The sitemap may have moved, for example to HTTPS.
        let moved = self.fetcher.state.cached_file(&source.address);
        let origins = [
            origin_of(&source.address),
            moved.and_then(|file| origin_of(&file.address)),
        ];
        let (mut pages, mut others) = (Vec::new(), 0_usize);
        let mut waiting = VecDeque::from([(source.address.clone(), Some(first), 0)]);
        while let Some((address, sitemap, depth)) = waiting.pop_front() {
            let sitemap = match sitemap {
                Some(sitemap) => sitemap,
                None => {
                    source.report.pages += 1;
                    match self.service_response(&address)? {
                        Ok(ServiceResponse::Sitemap(sitemap)) => sitemap,
                        Ok(_) => {
                            source.fail(&address, "no sitemap");
                            continue;
                        }
                        Err(reason) => {
                            source.fail(&address, reason);
                            continue;
                        }
                    }
                }
            };
            for (entry, modified) in sitemap.entries {
                if !origins.contains(&origin_of(&entry)) || entry.len() > MAX_IRI_BYTES {
                    others += 1;
                } else if !sitemap.is_index {
                    pages.push((entry, modified));
                } else if depth < MAX_DEPTH && source.visited.insert(entry.clone()) {
                    waiting.push_back((entry, None, depth + 1));
                } else {
                    source.fail(&entry, "a sitemap of an index is listed twice, or too deep");
                }
            }
        }
        if others > 0 {
            let problem =
                format!("{others} addresses of the sitemap are of other hosts and are left out");
            source.report.add_problems(&[Problem::new(problem)]);
        }
        Ok(pages)
    }

    /// Reads a page.
    fn sitemap_page(
        &mut self,
        source: &mut Source,
        page: &str,
    ) -> Result<PageOutcome, HarvestError> {
        let fetched = match self
            .fetcher
            .check_robots(page)
            .and_then(|()| self.fetcher.get(page, Purpose::Page))
        {
            Ok(fetched) => fetched,
            Err(FetchError::RobotsDisallowed(_)) => {
                let problem = "robots.txt does not allow a page of the sitemap";
                source
                    .report
                    .add_problems(&[Problem::new(problem).at(&format!("<{page}>"))]);
                return Ok(PageOutcome::Disallowed);
            }
            Err(error) => {
                let reason = self.failure_reason(error)?;
                source.fail(page, reason);
                return Ok(PageOutcome::Failed);
            }
        };
        source.report.pages += 1;
        match self.read_catalog(page, &fetched)? {
            PageContent::Catalog(catalog) if catalog.dialect == Dialect::Dump => {
                Ok(PageOutcome::Read(Vec::new()))
            }
            PageContent::Catalog(catalog) => {
                let keys = catalog.datasets.iter().map(Dataset::key).collect();
                self.process(source, *catalog)?;
                Ok(PageOutcome::Read(keys))
            }
            PageContent::Invalid(CatalogError::NoDataset { .. }) => {
                Ok(PageOutcome::Read(Vec::new()))
            }
            PageContent::Invalid(error) => {
                source.fail(page, super::pages::error_reason(&error));
                Ok(PageOutcome::Failed)
            }
            PageContent::Skipped(reason) => {
                source.fail(page, reason);
                Ok(PageOutcome::Failed)
            }
        }
    }
}
