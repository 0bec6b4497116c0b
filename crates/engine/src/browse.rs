//! Listings of datasets without a query: those that pass a filter, newest first, with counts of facets.

use super::card::read_card;
use super::duplicates::references;
use super::indexed_catalog::IndexedCatalog;
use super::{Card, DatasetReference, DuplicateMode, EngineError, FacetCounts, Filter, ResultOrder};
use lodeseek_snippet::LabelledTriple;

/// A request for a page of a listing.
#[derive(Clone, Debug, Default)]
pub struct BrowseRequest {
    /// The filter that datasets must pass.
    pub filter: Filter,
    /// Number of datasets omitted at the beginning, for paging.
    pub skip: usize,
    /// Maximum number of datasets.
    pub depth: usize,
    /// Maximum number of values of a facet.
    pub facets: usize,
    /// Preferred languages of labels, best first.
    pub languages: Vec<String>,
    /// The handling of duplicate datasets. Totals and counts always include every duplicate.
    pub duplicates: DuplicateMode,
    /// The order of the datasets.
    pub order: ResultOrder,
}

/// A page of a listing.
#[derive(Clone, Debug)]
pub struct DatasetListing {
    /// Number of datasets in the index.
    pub of: u64,
    /// Number of datasets that pass the filter.
    pub total: usize,
    /// If true, further datasets follow this page. Always false for a `depth` of 0.
    pub more: bool,
    /// Counts by facet and year, as in a search.
    pub facets: FacetCounts,
    /// The datasets of the page, in the requested order; ties are ordered by year, then by id.
    pub datasets: Vec<ListedDataset>,
}

/// A dataset of a listing.
#[derive(Clone, Debug)]
pub struct ListedDataset {
    /// The position, from 1.
    pub rank: usize,
    /// The data shown of the dataset.
    pub card: Card,
    /// Its stored snippet.
    pub snippet: Vec<LabelledTriple>,
    /// The same dataset under other ids, if duplicates are grouped: at most
    /// [`MAX_DUPLICATES_SHOWN`](super::MAX_DUPLICATES_SHOWN).
    pub duplicates: Vec<DatasetReference>,
}

impl IndexedCatalog {
    /// Lists the datasets that pass a filter.
    ///
    /// *Cost.* Every dataset is tested, in columns held in memory. Ids are read up to the last dataset of the page, cards
    /// only of the page itself.
    pub fn browse(&self, request: &BrowseRequest) -> Result<DatasetListing, EngineError> {
        let snapshot = self.snapshot()?;
        let filtered = snapshot.filtered_docs(&request.filter)?;
        let mut facet_counter = snapshot.facet_counter(filtered.as_ref())?;
        let groups = self.duplicate_groups_for(request.duplicates)?;
        let end = request.skip.saturating_add(request.depth);
        // One dataset beyond the page shows if there are more. Grouping removes at most `surplus` datasets.
        let is_by_year = matches!(request.order, ResultOrder::Relevance | ResultOrder::Newest);
        let depth = match request.depth {
            0 => 0,
            _ if is_by_year => end.saturating_add(groups.surplus).saturating_add(1),
            _ => usize::MAX,
        };
        let (newest, total) = snapshot.newest(filtered.as_ref(), depth, |address| {
            facet_counter.add(address)
        });
        let mut ids = Vec::with_capacity(newest.len());
        for address in newest {
            ids.push(snapshot.id(address)?);
        }
        if !is_by_year {
            self.sort(
                &mut ids,
                request.order,
                &request.languages,
                &snapshot,
                |id| id,
            )?;
        }
        let mut is_first = groups.first_of_group();
        ids.retain(|id| is_first(id));
        let mut datasets = Vec::new();
        for (position, id) in ids
            .iter()
            .enumerate()
            .skip(request.skip)
            .take(request.depth)
        {
            let Some(card) = read_card(&snapshot, id)? else {
                continue;
            };
            let snippet = card.snippet_in(&request.languages);
            let duplicates = references(groups.others(id), &snapshot)?;
            datasets.push(ListedDataset {
                rank: position + 1,
                snippet,
                card,
                duplicates,
            });
        }
        let facets = facet_counter.finish(&request.filter, request.facets);
        Ok(DatasetListing {
            of: snapshot.len(),
            total,
            more: ids.len() > end,
            facets,
            datasets,
        })
    }
}
