//! Harvest of documents that link each other: catalogues, datasets and distributions with a document each, as FAIR Data Points and
//! the interfaces of national catalogues have them.
//!
//! Links are followed breadth-first: `dcat:catalog`, `dcat:dataset`, `dcat:distribution` and `ldp:contains`, and the following pages
//! of each document. The documents of a dataset and of its distributions are read as one description. Other hosts are requested if the
//! egress policy allows them. A source was read to its end if every listed document was read.

use super::digest::hash_of_text;
use super::fetch::{FetchedFile, Purpose};
use super::pages::{Page, PageContent, following_pages};
use super::{HarvestError, Run, Source};
use lodeseek_catalog::{
    Catalog, CatalogLink, CatalogSource, Dialect, DownloadedDocument, LinkKind, Problem,
};
use lodeseek_net::egress::MAX_IRI_BYTES;
use lodeseek_rdf::dump::Syntax;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Maximum number of links from the source to a dataset.
const MAX_DEPTH: usize = 8;
/// Maximum number of documents that wait. Each may list as many again.
const MAX_WAITING_DOCUMENTS: usize = 1_000_000;
/// Maximum number of distributions of a dataset whose documents are requested.
const MAX_DISTRIBUTIONS: usize = 1_000;

/// Documents to be read.
struct Queue {
    waiting: VecDeque<(CatalogLink, usize)>,
    /// Addresses that wait or were read, without fragment and slash at the end.
    known: BTreeSet<String>,
    /// Number of links that were left out.
    left_out: usize,
}

impl Queue {
    fn new(address: &str) -> Self {
        Self {
            waiting: VecDeque::new(),
            known: BTreeSet::from([document_of(address).to_owned()]),
            left_out: 0,
        }
    }

    /// Adds the links to other documents.
    fn add(&mut self, links: Vec<CatalogLink>, depth: usize) {
        for link in links {
            let document = document_of(&link.address);
            if link.kind == LinkKind::Distribution || self.known.contains(document) {
                continue;
            }
            if depth > MAX_DEPTH
                || self.waiting.len() >= MAX_WAITING_DOCUMENTS
                || link.address.len() > MAX_IRI_BYTES
            {
                self.left_out += 1;
                continue;
            }
            self.known.insert(document.to_owned());
            self.waiting.push_back((link, depth));
        }
    }

    /// Adds the following pages of a document, which are as far from the source as the document.
    fn add_pages(
        &mut self,
        catalog: &Catalog,
        fetched: &FetchedFile,
        kind: LinkKind,
        depth: usize,
    ) {
        let pages = following_pages(catalog, fetched)
            .iter()
            .map(|address| CatalogLink {
                kind,
                address: address.clone(),
            });
        self.add(pages.collect(), depth);
    }
}

/// Returns an address without fragment and without a slash at the end: some servers name their root without it.
fn document_of(address: &str) -> &str {
    let document = address.split('#').next().unwrap_or(address);
    document.trim_end_matches('/')
}

impl Run<'_, '_> {
    /// Harvests linked documents from the source on. `first` is its document, if it was read. Returns the reason if it is no
    /// catalogue.
    pub(super) fn harvest_linked_documents(
        &mut self,
        source: &mut Source,
        first: Option<Catalog>,
    ) -> Result<Option<String>, HarvestError> {
        let address = source.address.clone();
        let mut queue = Queue::new(&address);
        let first = match first {
            Some(first) => first,
            None => match self.fetch_page(source, &address)? {
                Page::Catalog(catalog, fetched) => {
                    if !catalog.datasets.is_empty() && catalog.dialect != Dialect::Dump {
                        self.process_document(
                            source,
                            *catalog,
                            &fetched,
                            &mut Queue::new(&address),
                            1,
                        )?;
                        return self.harvest_links_of_first(source, &address);
                    }
                    queue.add_pages(&catalog, &fetched, LinkKind::Catalog, 0);
                    *catalog
                }
                Page::Other(_, reason) | Page::Missing(reason) => return Ok(Some(reason)),
            },
        };
        source.report.form = Some("linked".to_owned());
        queue.add(first.links, 1);
        if queue.waiting.is_empty() {
            return Ok(Some(
                "the document links neither catalogues nor datasets".to_owned(),
            ));
        }
        self.follow(source, queue)?;
        Ok(None)
    }

    /// Follows the links of a first document that describes datasets itself.
    fn harvest_links_of_first(
        &mut self,
        source: &mut Source,
        address: &str,
    ) -> Result<Option<String>, HarvestError> {
        let mut queue = Queue::new(address);
        source.report.form = Some("linked".to_owned());
        // The document is cached now: a conditional request costs little.
        source.visited.remove(address);
        if let Page::Catalog(catalog, fetched) = self.fetch_page(source, address)? {
            queue.add_pages(&catalog, &fetched, LinkKind::Catalog, 0);
            queue.add(catalog.links, 1);
        }
        self.follow(source, queue)?;
        Ok(None)
    }

    fn follow(&mut self, source: &mut Source, mut queue: Queue) -> Result<(), HarvestError> {
        let max_pages = self.harvester.options.budget.pages;
        while let Some((link, depth)) = queue.waiting.pop_front() {
            let address = link.address;
            if self.stopped {
                source.fail(&address, "not requested: the harvest had stopped");
                break;
            }
            if source.report.pages >= max_pages {
                source.fail(
                    &address,
                    format!("there are more than {max_pages} documents"),
                );
                break;
            }
            let (catalog, fetched) = match self.fetch_page(source, &address)? {
                Page::Catalog(catalog, fetched) => (catalog, fetched),
                Page::Other(_, reason) | Page::Missing(reason) => {
                    // A container may hold documents of other kinds.
                    source.fail(&address, reason);
                    continue;
                }
            };
            queue.add_pages(&catalog, &fetched, link.kind, depth);
            if !catalog.datasets.is_empty() && catalog.dialect != Dialect::Dump {
                self.process_document(source, *catalog, &fetched, &mut queue, depth + 1)?;
            } else if catalog
                .links
                .iter()
                .any(|link| link.kind != LinkKind::Distribution)
            {
                queue.add(catalog.links, depth + 1);
            } else if link.kind == LinkKind::Dataset {
                source.fail(&address, "the document describes no dataset");
            } else if catalog.triples == 0 {
                source.fail(&address, "the document is empty");
            } else {
                let problem = "the document describes no dataset and links none; it is ignored";
                source
                    .report
                    .add_problems(&[Problem::new(problem).at(&format!("<{address}>"))]);
            }
        }
        if queue.left_out > 0 {
            let reason = format!(
                "{} links are more than {MAX_DEPTH} documents away, or more than {MAX_WAITING_DOCUMENTS} wait",
                queue.left_out
            );
            source.fail(&source.address.clone(), reason);
        }
        Ok(())
    }

    /// Processes a document that describes datasets, together with the documents of its distributions.
    fn process_document(
        &mut self,
        source: &mut Source,
        catalog: Catalog,
        fetched: &FetchedFile,
        queue: &mut Queue,
        depth: usize,
    ) -> Result<(), HarvestError> {
        let (distributions, links): (Vec<CatalogLink>, Vec<CatalogLink>) = catalog
            .links
            .iter()
            .cloned()
            .partition(|link| link.kind == LinkKind::Distribution);
        queue.add(links, depth);
        if distributions.is_empty() {
            let form = source.report.form.clone();
            self.process(source, catalog)?;
            source.report.form = form;
            return Ok(());
        }
        let mut documents = vec![downloaded_document(fetched)];
        let mut hashes = vec![fetched.file.sha256.clone()];
        let mut is_whole = true;
        for link in &distributions {
            if documents.len() > MAX_DISTRIBUTIONS {
                let reason = format!("the dataset has more than {MAX_DISTRIBUTIONS} distributions");
                source.fail(&fetched.file.address, reason);
                break;
            }
            match self.fetcher.get(&link.address, Purpose::Page) {
                Ok(fetched) => {
                    source.report.pages += 1;
                    if self.is_description(&link.address, &fetched)? {
                        documents.push(downloaded_document(&fetched));
                        hashes.push(fetched.file.sha256);
                    } else {
                        let problem = "the distribution is no description in RDF; it is ignored";
                        let place = format!("<{}>", link.address);
                        source
                            .report
                            .add_problems(&[Problem::new(problem).at(&place)]);
                    }
                }
                Err(error) => {
                    let reason = self.failure_reason(error)?;
                    source.fail(&link.address, reason);
                    is_whole = false;
                    if self.stopped {
                        break;
                    }
                }
            }
        }
        if !is_whole {
            // The stored description has the distribution that cannot be had now.
            let keys: Vec<String> = catalog
                .datasets
                .iter()
                .map(|dataset| self.key_in_source(source, dataset.key()))
                .collect();
            let known = keys
                .iter()
                .all(|key| self.fetcher.state.id_of(key).is_some());
            if known {
                let listed = BTreeMap::from([(String::new(), keys)]);
                self.count_unchanged_records(source, &listed);
                return Ok(());
            }
        }
        let merged = self.read_documents(&fetched.file.address, documents, &hashes)?;
        let form = source.report.form.clone();
        match merged {
            PageContent::Catalog(merged) => self.process(source, *merged)?,
            PageContent::Invalid(error) => {
                source.fail(&fetched.file.address, super::pages::error_reason(&error))
            }
            PageContent::Skipped(reason) => source.fail(&fetched.file.address, reason),
        }
        source.report.form = form;
        Ok(())
    }

    /// Returns true if the document of a distribution may describe it. The IRI of a distribution may be that of its file.
    fn is_description(
        &mut self,
        address: &str,
        fetched: &FetchedFile,
    ) -> Result<bool, HarvestError> {
        match fetched.file.essence().as_str() {
            "" | "text/plain" | "application/octet-stream" => {}
            "application/json" | "application/xml" | "text/xml" => {}
            other => return Ok(Syntax::from_hint(other).is_some()),
        }
        let content = self.read_catalog(address, fetched)?;
        Ok(!matches!(content, PageContent::Invalid(_)))
    }

    /// Parses documents as one description.
    fn read_documents(
        &mut self,
        address: &str,
        documents: Vec<DownloadedDocument>,
        hashes: &[String],
    ) -> Result<PageContent, HarvestError> {
        let names: Vec<(String, String)> = documents
            .iter()
            .map(|document| {
                (
                    document.path.display().to_string(),
                    document.address.clone(),
                )
            })
            .collect();
        let merged = CatalogSource::Documents { documents };
        let reader = &self.harvester.options.reader;
        let quarantine = &mut self.fetcher.state.quarantine;
        let content = hash_of_text(&hashes.join("\n"));
        let read = quarantine.guard(&format!("<{address}>"), &content, || reader.read(&merged))?;
        Ok(match read {
            Ok(Ok(mut catalog)) => {
                for (path, address) in &names {
                    catalog.rename_file(path, &format!("<{address}>"));
                }
                PageContent::Catalog(Box::new(catalog))
            }
            Ok(Err(error)) => PageContent::Invalid(error),
            Err(reason) => PageContent::Skipped(reason),
        })
    }
}

fn downloaded_document(fetched: &FetchedFile) -> DownloadedDocument {
    DownloadedDocument {
        path: fetched.path.clone(),
        address: fetched.file.address.clone(),
        media_type: fetched.file.media_type.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_document_waits_once() {
        let link = |kind: LinkKind, address: &str| CatalogLink {
            kind,
            address: address.to_owned(),
        };
        let mut queue = Queue::new("http://e.org");
        let links = vec![
            link(LinkKind::Catalog, "http://e.org/#it"),
            link(LinkKind::Catalog, "http://e.org/a"),
            link(LinkKind::Dataset, "http://e.org/a#d"),
            link(LinkKind::Distribution, "http://e.org/b"),
        ];
        queue.add(links, 1);
        assert_eq!((queue.waiting.len(), queue.left_out), (1, 0));
        queue.add(
            vec![link(LinkKind::Dataset, "http://e.org/c")],
            MAX_DEPTH + 1,
        );
        assert_eq!((queue.waiting.len(), queue.left_out), (1, 1));
    }
}
