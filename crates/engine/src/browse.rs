//! Datasets where no words are given to rank them by: those that pass a filter, by year, and what there is to choose among.

use super::searcher::{Searcher, others};
use super::{Card, EngineError, FacetCounts, Filter, Other, Shown};
use lodeseek_snippet::LabelledTriple;

/// What is to be listed.
#[derive(Clone, Debug, Default)]
pub struct BrowseRequest {
    /// What passes.
    pub filter: Filter,
    /// Datasets left out at the beginning.
    pub skip: usize,
    /// Datasets at most.
    pub depth: usize,
    /// Values of a facet at most.
    pub facets: usize,
    /// The languages of labels, best first.
    pub languages: Vec<String>,
    /// Whether datasets that are one are shown as one. Totals and counts are of all of them either way.
    pub duplicates: Shown,
}

/// A list of datasets.
#[derive(Clone, Debug)]
pub struct Listing {
    /// How many there are.
    pub of: u64,
    /// How many pass.
    pub total: usize,
    /// Whether more are behind those asked for; where none is asked for, it is not looked at, and `false`.
    pub more: bool,
    /// What there is to choose among, counted as in a search.
    pub facets: FacetCounts,
    /// Those asked for: by the year in which each was first known, the newest first, those of unknown year last; equals by
    /// id.
    pub datasets: Vec<Listed>,
}

/// A dataset of a list.
#[derive(Clone, Debug)]
pub struct Listed {
    /// From 1.
    pub rank: usize,
    /// What is shown of it.
    pub card: Card,
    /// Its stored snippet.
    pub snippet: Vec<LabelledTriple>,
    /// The same dataset under other ids, where it is shown once: at most [`OTHERS`](super::OTHERS).
    pub duplicates: Vec<Other>,
}

impl Searcher {
    /// Lists what passes a filter.
    ///
    /// *Cost.* Every dataset is looked at once, in columns that are in memory; ids are read of those up to the last shown,
    /// cards of those shown.
    pub fn browse(&self, request: &BrowseRequest) -> Result<Listing, EngineError> {
        let snapshot = self.snapshot()?;
        let passing = snapshot.filtered_docs(&request.filter)?;
        let mut counting = snapshot.facet_counter(passing.as_ref())?;
        let folding = self.folding_of(request.duplicates)?;
        let end = request.skip.saturating_add(request.depth);
        // One more tells whether there are more, and of those at most the surplus is folded away.
        let depth = if request.depth == 0 { 0 } else { end.saturating_add(folding.surplus).saturating_add(1) };
        let (newest, total) = snapshot.newest(passing.as_ref(), depth, |address| counting.add(address));
        let mut is_first = folding.first_seen();
        let mut ids = Vec::new();
        for address in newest {
            let id = snapshot.id(address)?;
            if is_first(&id) {
                ids.push(id);
            }
        }
        let mut datasets = Vec::new();
        for (place, id) in ids.iter().enumerate().skip(request.skip).take(request.depth) {
            let Some(card) = snapshot.card(id)? else { continue };
            let card: Card = serde_json::from_slice(&card)?;
            let duplicates = others(folding.others(id), &snapshot)?;
            datasets.push(Listed { rank: place + 1, snippet: card.snippet_in(&request.languages), card, duplicates });
        }
        let facets = counting.finish(&request.filter, request.facets);
        Ok(Listing { of: snapshot.len(), total, more: ids.len() > end, facets, datasets })
    }
}
