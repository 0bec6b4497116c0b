//! Entity search: from words to entities of datasets, by the literals of their content.
//!
//! The index ranks the entities ([`Snapshot::matching_entities`]); the graphs of the datasets with the best ones give
//! their names. Only these graphs are read.

use super::content::{Content, ContentCache};
use super::indexed_catalog::IndexedCatalog;
use super::snippets::label_all;
use super::{Card, EngineError, QueryWords};
use lodeseek_catalog::DatasetId;
use lodeseek_index::{
    AnalyzedQuery, Condition, DocumentAddress, EntityMatch, EntitySearch, FilteredDocs, Snapshot,
};
use lodeseek_rdf::{TermId, TermRef, TripleGraph};
use lodeseek_snippet::{Deadline, LabelledTriple};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Maximum number of literals in the datasets of one search. Their column takes about a byte each; reading it takes less
/// than half a second.
const MAX_LITERALS: u64 = 50_000_000;

/// A search for entities.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntityRequest {
    /// The words. An entity needs one of them in a literal.
    pub text: String,
    /// Only entities of these datasets. Empty: of all.
    pub datasets: Vec<DatasetId>,
    /// Maximum number of hits.
    pub depth: usize,
    /// Number of hits to skip.
    pub skip: usize,
    /// Preferred languages of labels, best first.
    pub languages: Vec<String>,
}

/// An entity with a matching literal.
#[derive(Clone, Debug, PartialEq)]
pub struct EntityHit {
    /// Position, from 1.
    pub rank: usize,
    /// Score. Scores of all searches in one state of the index can be compared.
    pub score: f64,
    /// The dataset.
    pub dataset: DatasetId,
    /// The title of the dataset.
    pub title: String,
    /// The version of the dataset's content.
    pub version: String,
    /// The triple with the best matching literal. Its subject is the entity.
    pub triple: LabelledTriple,
}

/// The result of a search for entities.
pub struct EntityResponse {
    /// The requested hits, best first.
    pub hits: Vec<EntityHit>,
    /// Number of entities found in the searched datasets.
    pub total: u64,
    /// Number of datasets with a word in a literal that were searched.
    pub datasets: usize,
    /// If false, datasets were left out: too many literals, the deadline passed, or the content of a dataset cannot be
    /// read.
    pub is_complete: bool,
    /// The words, for highlighting.
    pub words: QueryWords,
}

/// Searches for entities.
pub(super) fn search_entities(
    catalog: &IndexedCatalog,
    contents: &ContentCache,
    request: &EntityRequest,
    deadline: Deadline<'_>,
) -> Result<EntityResponse, EngineError> {
    let snapshot = catalog.snapshot()?;
    let query = AnalyzedQuery::new(&request.text, snapshot.analysis());
    let filtered = restricted_to(&request.datasets, &snapshot)?;
    let search = EntitySearch {
        query: &query,
        filtered: filtered.as_ref(),
        depth: request.skip.saturating_add(request.depth),
        max_literals: MAX_LITERALS,
        is_cancelled: &|| deadline.has_passed(),
    };
    let found = snapshot.matching_entities(&search)?;
    let words = QueryWords::new(&request.text, snapshot.analysis());
    let mut response = EntityResponse {
        hits: Vec::new(),
        total: found.total,
        datasets: found.datasets,
        is_complete: found.is_complete,
        words,
    };
    // The graph of a dataset is read once for all its hits.
    let mut by_dataset: BTreeMap<DocumentAddress, Vec<(usize, EntityMatch)>> = BTreeMap::new();
    for (place, entity) in found.best.into_iter().enumerate().skip(request.skip) {
        by_dataset
            .entry(entity.address)
            .or_default()
            .push((place + 1, entity));
    }
    for (address, entities) in by_dataset {
        if deadline.has_passed() {
            response.is_complete = false;
            break;
        }
        let id = snapshot.id(address)?;
        let Some(card) = snapshot.card(&id)? else {
            continue;
        };
        let card: Card = serde_json::from_slice(&card)?;
        // The content may have been replaced since it was indexed.
        let Ok(content) = contents.read(catalog.home(), &card.version) else {
            response.is_complete = false;
            continue;
        };
        add_hits(
            &card,
            &content,
            &entities,
            &request.languages,
            &mut response,
        );
    }
    response.hits.sort_by_key(|hit| hit.rank);
    Ok(response)
}

/// Returns the documents of some datasets. `None`: all datasets.
fn restricted_to(
    datasets: &[DatasetId],
    snapshot: &Snapshot,
) -> Result<Option<FilteredDocs>, EngineError> {
    if datasets.is_empty() {
        return Ok(None);
    }
    let mut addresses = Vec::with_capacity(datasets.len());
    for id in datasets {
        addresses.extend(snapshot.address(id)?);
    }
    let mut filtered = snapshot.all_docs();
    filtered.restrict(&addresses, Condition::Required);
    Ok(Some(filtered))
}

fn add_hits(
    card: &Card,
    content: &Arc<Content>,
    entities: &[(usize, EntityMatch)],
    languages: &[String],
    response: &mut EntityResponse,
) {
    let graph = content.graph();
    let mut remaining: Vec<&(usize, EntityMatch)> = entities.iter().collect();
    // Literals are numbered in the order of the triples: one pass finds all of them.
    remaining.sort_by_key(|(_, entity)| entity.literal);
    let mut remaining = remaining.into_iter().peekable();
    let mut triples = Vec::with_capacity(entities.len());
    let mut found = Vec::with_capacity(entities.len());
    let literals = graph
        .triples()
        .iter()
        .filter(|triple| ends_in_literal(graph, triple.object));
    for (place, triple) in literals.enumerate() {
        if remaining.peek().is_none() {
            break;
        }
        while let Some((rank, entity)) =
            remaining.next_if(|(_, entity)| entity.literal as usize == place)
        {
            triples.push(*triple);
            found.push((*rank, entity.score));
        }
    }
    response.is_complete &= remaining.next().is_none();
    for ((rank, score), triple) in found.into_iter().zip(label_all(graph, &triples, languages)) {
        response.hits.push(EntityHit {
            rank,
            score,
            dataset: card.metadata.id.clone(),
            title: card.metadata.title().to_owned(),
            version: card.version.clone(),
            triple,
        });
    }
}

/// Returns true if the object of a triple is a literal, or a triple term that ends in one. Such triples are the places of
/// literals in the document of a dataset, in this order.
fn ends_in_literal(graph: &TripleGraph, object: TermId) -> bool {
    // Most terms need not be read.
    if graph.is_literal(object) || graph.is_resource(object) {
        return graph.is_literal(object);
    }
    match graph.term(object) {
        TermRef::Triple(nested) => ends_in_literal(graph, nested.object),
        _ => false,
    }
}
