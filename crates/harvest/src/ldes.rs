//! Harvest of a [Linked Data Event Stream](https://w3id.org/ldes/specification), for example a DCAT-AP Feed.
//!
//! All pages to which the first page leads are requested; those that did not change cost a conditional request. The order of pages is
//! not the order of time: the newest member of each entity is applied, all at once. A stream that forgets members removes only the
//! datasets that it states to be deleted.

use super::digest::hash_of_text;
use super::fetch::{FetchedFile, Purpose};
use super::pages::PageContent;
use super::{HarvestError, Run, Source, is_address};
use lodeseek_catalog::{CatalogSource, DownloadedDocument, EventPage, Problem, ServiceResponse};
use lodeseek_net::egress::MAX_IRI_BYTES;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Maximum number of pages that wait.
const MAX_WAITING_PAGES: usize = 1_000_000;

impl Run<'_, '_> {
    /// Harvests a stream. Returns the reason if the address is none.
    pub(super) fn harvest_event_stream(
        &mut self,
        source: &mut Source,
    ) -> Result<Option<String>, HarvestError> {
        let address = source.address.clone();
        let mut waiting = VecDeque::from([address.clone()]);
        let mut known = BTreeSet::from([address.clone()]);
        let mut documents: Vec<FetchedFile> = Vec::new();
        let (mut has_policy, mut is_first) = (false, true);
        while let Some(page_address) = waiting.pop_front() {
            if self.stopped || source.report.pages >= self.harvester.options.budget.pages {
                let reason = format!(
                    "not requested: the harvest had stopped, or there are more than {} pages",
                    source.report.pages
                );
                source.fail(&page_address, reason);
                break;
            }
            let (page, fetched) = match self.event_page(source, &page_address)? {
                Ok(read) => read,
                Err(reason) if is_first => return Ok(Some(reason)),
                Err(reason) => {
                    source.fail(&page_address, reason);
                    continue;
                }
            };
            has_policy |= page.has_retention_policy;
            for path in &page.unsupported_paths {
                let problem =
                    format!("the path <{path}> of the stream is no single property and is ignored");
                source.report.add_problems(&[Problem::new(problem)]);
            }
            if is_first && page.views.len() > 1 && !page.is_node {
                return Ok(Some(format!(
                    "<{address}>: {} streams; use the address of one, for example <{}>",
                    page.views.len(),
                    page.views[0]
                )));
            }
            is_first = false;
            documents.push(fetched);
            for next in page.relations.into_iter().chain(page.views) {
                let next = next.split('#').next().unwrap_or_default().to_owned();
                let is_usual = is_address(&next)
                    && next.len() <= MAX_IRI_BYTES
                    && waiting.len() < MAX_WAITING_PAGES;
                if !is_usual {
                    source.fail(
                        &next,
                        "the address of a page is not valid, or too many pages wait",
                    );
                } else if known.insert(next.clone()) {
                    waiting.push_back(next);
                }
            }
        }
        source.report.form = Some("ldes".to_owned());
        if !source.report.whole {
            // A page that is missing may hold the newest member of an entity.
            source.fail(
                &address,
                "the stream was not read completely, so none of its members is applied",
            );
            self.list_all(source, &BTreeSet::new());
            return Ok(None);
        }
        self.apply_events(source, &address, &documents, has_policy)?;
        Ok(None)
    }

    /// Fetches a page. The error is the reason why there is none.
    fn event_page(
        &mut self,
        source: &mut Source,
        address: &str,
    ) -> Result<Result<(EventPage, FetchedFile), String>, HarvestError> {
        let fetched = match self.fetcher.get(address, Purpose::Events) {
            Ok(fetched) => fetched,
            Err(error) => return Ok(Err(self.failure_reason(error)?)),
        };
        source.report.pages += 1;
        Ok(match self.read_catalog(address, &fetched)? {
            PageContent::Catalog(catalog) => match catalog.response {
                Some(ServiceResponse::Events(page)) => Ok((page, fetched)),
                _ => Err(format!(
                    "<{address}>: no page of an event stream (read as {})",
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

    /// Applies the newest member of each entity.
    fn apply_events(
        &mut self,
        source: &mut Source,
        address: &str,
        pages: &[FetchedFile],
        has_policy: bool,
    ) -> Result<(), HarvestError> {
        let documents: Vec<DownloadedDocument> = pages
            .iter()
            .map(|page| DownloadedDocument {
                path: page.path.clone(),
                address: page.file.address.clone(),
                media_type: page.file.media_type.clone(),
            })
            .collect();
        let hashes: Vec<&str> = pages.iter().map(|page| page.file.sha256.as_str()).collect();
        let content = hash_of_text(&hashes.join("\n"));
        let names: Vec<(String, String)> = documents
            .iter()
            .map(|document| {
                (
                    document.path.display().to_string(),
                    document.address.clone(),
                )
            })
            .collect();
        let stream = CatalogSource::EventStream { documents };
        let reader = &self.harvester.options.reader;
        let quarantine = &mut self.fetcher.state.quarantine;
        let read = quarantine.guard(&format!("<{address}>"), &content, || reader.read(&stream))?;
        let mut catalog = match read {
            Ok(Ok(catalog)) => catalog,
            Ok(Err(error)) => {
                source.fail(address, super::pages::error_reason(&error));
                return Ok(());
            }
            Err(reason) => {
                source.fail(address, reason);
                return Ok(());
            }
        };
        for (path, name) in &names {
            catalog.rename_file(path, &format!("<{name}>"));
        }
        let deleted: BTreeSet<String> = match catalog.response.take() {
            Some(ServiceResponse::Events(page)) => page.deleted.into_iter().collect(),
            _ => BTreeSet::new(),
        };
        self.process(source, catalog)?;
        // Members that are missing may have been forgotten by the stream, and are no deletions.
        if has_policy {
            self.list_all(source, &deleted);
        }
        Ok(())
    }

    /// Counts the datasets of earlier harvests as listed, except those that are deleted.
    fn list_all(&mut self, source: &mut Source, deleted: &BTreeSet<String>) {
        let mut keys = Vec::new();
        for id in self.fetcher.state.datasets_of_source(&source.address) {
            if let Some(record) = self.fetcher.state.dataset(&id)
                && !deleted.contains(&record.key)
            {
                keys.push(record.key.clone());
            }
        }
        self.count_unchanged_records(source, &BTreeMap::from([(String::new(), keys)]));
    }
}
