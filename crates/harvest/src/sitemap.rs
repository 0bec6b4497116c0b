//! Harvest of the pages that a [sitemap](https://www.sitemaps.org/protocol.html) lists, as far as they describe datasets in schema.org
//! or RDF. Pages of other hosts are left out, and `robots.txt` applies. A page with an unchanged `lastmod` is not requested again.

use super::fetch::Purpose;
use super::pages::PageContent;
use super::state::RecordList;
use super::{FetchError, HarvestError, Run, Source};
use lodeseek_catalog::{CatalogError, Dataset, Dialect, Problem, ServiceResponse, Sitemap};
use lodeseek_net::egress::{MAX_IRI_BYTES, origin_of};
use std::collections::{BTreeMap, VecDeque};

/// Maximum number of sitemaps from an index to its pages.
const MAX_DEPTH: usize = 2;

/// A page with the time of its last change, as it is written.
type Entry = (String, Option<String>);

impl Run<'_, '_> {
    /// Harvests the pages of a sitemap. `first` is the one of the source, if it was read. Returns the reason if it is none.
    pub(super) fn sitemap(
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
            match self.list_fault(list) {
                None => known.clone_from(&list.records),
                Some(reason) => source.report.complete_reason = Some(reason),
            }
        }
        let (mut records, mut unchanged) = (BTreeMap::new(), BTreeMap::new());
        let mut without_datasets = 0_u64;
        for (page, modified) in pages {
            let name = modified.map(|time| format!("{time} {page}"));
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
            let Some(keys) = self.sitemap_page(source, &page)? else {
                continue;
            };
            without_datasets += u64::from(keys.is_empty());
            records.extend(name.map(|name| (name, keys)));
        }
        self.list_unchanged(source, &unchanged);
        if without_datasets > 0 {
            let problem = format!("{without_datasets} pages of the sitemap describe no dataset");
            source.report.add_problems(&[Problem::new(problem)]);
        }
        if source.report.whole {
            let earlier = earlier.map_or(0, |list| list.incremental_harvests + 1);
            let list = RecordList {
                from: String::new(),
                incremental_harvests: if known.is_empty() { 0 } else { earlier },
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
        let origin = origin_of(&source.address);
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
                if origin_of(&entry) != origin || entry.len() > MAX_IRI_BYTES {
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

    /// Reads a page. Returns the keys of its datasets; `None` if it could not be read, which is a failure of the source.
    fn sitemap_page(
        &mut self,
        source: &mut Source,
        page: &str,
    ) -> Result<Option<Vec<String>>, HarvestError> {
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
                return Ok(Some(Vec::new()));
            }
            Err(error) => {
                let reason = self.failure_reason(error)?;
                source.fail(page, reason);
                return Ok(None);
            }
        };
        source.report.pages += 1;
        match self.read_catalog(page, &fetched)? {
            PageContent::Catalog(catalog) if catalog.dialect == Dialect::Dump => {
                Ok(Some(Vec::new()))
            }
            PageContent::Catalog(catalog) => {
                let keys = catalog.datasets.iter().map(Dataset::key).collect();
                self.process(source, *catalog)?;
                Ok(Some(keys))
            }
            PageContent::Invalid(CatalogError::NoDataset { .. }) => Ok(Some(Vec::new())),
            PageContent::Invalid(error) => {
                source.fail(page, super::pages::reason(&error));
                Ok(None)
            }
            PageContent::Skipped(reason) => {
                source.fail(page, reason);
                Ok(None)
            }
        }
    }
}
