//! A need in words to ranked, explained datasets.

use super::{Card, EngineError, Evidence, evidence, index_folder};
use crate::catalog::DatasetId;
use crate::document::Field;
use crate::index::{Analysis, AnalyzedQuery, CollectionStatistics, Gathered, Index, IndexError};
use crate::ranking::Ranking;
use crate::snippet::{LabelledTerm, LabelledTriple};
use crate::sparse::{Bm25, Explanation, SparseModel, rank};
use crate::store::{self, StoreError};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// What is asked.
#[derive(Clone, Debug)]
pub struct SearchRequest {
    /// The need, in words.
    pub query: String,
    /// Hits wanted.
    pub depth: usize,
    /// Hits left out at the top, for paging.
    pub skip: usize,
    /// Whether scores are explained and the triples that matched are looked up.
    pub explain: bool,
}

impl SearchRequest {
    /// The ten best for a query.
    #[must_use]
    pub fn new(query: impl Into<String>) -> Self {
        Self { query: query.into(), depth: 10, skip: 0, explain: false }
    }
}

/// A field in which a dataset matched.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FieldMatch {
    /// The field.
    pub field: Field,
    /// Its part of the score.
    pub score: f64,
    /// The query's terms found in it, as analysed.
    pub terms: Vec<String>,
}

/// A triple of a snippet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SnippetTriple {
    /// The triple.
    #[serde(flatten)]
    pub triple: LabelledTriple,
    /// The query's terms in its labels.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub matched: Vec<String>,
}

/// One result.
#[derive(Clone, Debug, Serialize)]
pub struct Hit {
    /// From 1.
    pub rank: usize,
    /// The score.
    pub score: f64,
    /// What is shown of the dataset.
    #[serde(skip)]
    pub card: Card,
    /// Where it matched, the most telling field first.
    pub fields: Vec<FieldMatch>,
    /// Its snippet, with the query's terms marked.
    pub snippet: Vec<SnippetTriple>,
    /// The score as a tree, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explanation>,
    /// The triples that hold the query's terms, where they were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
}

/// The answer.
#[derive(Clone, Debug, Serialize)]
pub struct SearchResponse {
    /// The query's terms, as analysed.
    pub terms: Vec<String>,
    /// Datasets with at least one of the terms.
    pub total: usize,
    /// The hits asked for.
    pub hits: Vec<Hit>,
}

/// Triples shown as evidence for one hit.
const EVIDENCE: usize = 5;

/// Searches the index of a home; needs nothing but its files.
pub struct Searcher {
    home: PathBuf,
    index: Index,
    model: Box<dyn SparseModel + Send + Sync>,
}

impl Searcher {
    /// Opens the index of a home, with fielded BM25.
    pub fn open(home: &Path) -> Result<Self, EngineError> {
        let index = Index::open(&index_folder(home)).map_err(|error| match error {
            // "There is no index" would send people to `index`, which would send them to `load`.
            IndexError::Missing(_) if !store::is_home(home) => StoreError::NoHome { home: home.to_owned() }.into(),
            other => EngineError::from(other),
        })?;
        Ok(Self { home: home.to_owned(), index, model: Box::new(Bm25::default()) })
    }

    /// With another model.
    #[must_use]
    pub fn with_model(self, model: Box<dyn SparseModel + Send + Sync>) -> Self {
        Self { model, ..self }
    }

    /// The name of the model.
    #[must_use]
    pub fn model_name(&self) -> &'static str {
        self.model.name()
    }

    /// The ranking alone.
    pub fn rank(&self, query: &str, depth: usize) -> Result<Ranking, EngineError> {
        let snapshot = self.index.snapshot()?;
        let query = AnalyzedQuery::new(query, snapshot.analysis());
        let gathered = snapshot.gather(&query, &self.model.fields())?;
        Ok(rank(self.model.as_ref(), &query, &gathered).cut(depth))
    }

    /// The answer to a request.
    pub fn search(&self, request: &SearchRequest) -> Result<SearchResponse, EngineError> {
        let snapshot = self.index.snapshot()?;
        let analysis = snapshot.analysis();
        let query = AnalyzedQuery::new(&request.query, analysis);
        let gathered = snapshot.gather(&query, &self.model.fields())?;
        let ranking = rank(self.model.as_ref(), &query, &gathered);
        let mut hits = Vec::new();
        for (place, scored) in ranking.iter().enumerate().skip(request.skip).take(request.depth) {
            let Some(card) = snapshot.card(&scored.id)? else { continue };
            let card: Card = serde_json::from_slice(&card)?;
            let mut hit = self.hit(&query, &gathered, &scored.id, card, analysis);
            hit.rank = place + 1;
            hit.score = scored.score;
            if request.explain {
                self.explain(&mut hit, &query, &gathered.collection, analysis);
            } else {
                hit.explanation = None;
            }
            hits.push(hit);
        }
        Ok(SearchResponse { terms: query.distinct.clone(), total: ranking.len(), hits })
    }

    fn hit(&self, query: &AnalyzedQuery, gathered: &Gathered, id: &DatasetId, card: Card, analysis: &Analysis) -> Hit {
        let document = gathered.documents.iter().find(|(other, _)| other == id).map(|(_, document)| document);
        let explanation = document.map(|document| self.model.explain(query, document, &gathered.collection));
        let fields = document.map_or_else(Vec::new, |document| {
            let matched = Field::ALL.into_iter().filter_map(|field| {
                let terms: Vec<String> = query
                    .distinct
                    .iter()
                    .zip(&document.frequencies)
                    .filter(|(_, frequencies)| frequencies[field.index()] > 0)
                    .map(|(term, _)| term.clone())
                    .collect();
                let score = explanation.as_ref().map_or(0.0, |tree| of_field(tree, field));
                (!terms.is_empty()).then_some(FieldMatch { field, score, terms })
            });
            let mut matched: Vec<FieldMatch> = matched.collect();
            matched.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.field.cmp(&b.field)));
            matched
        });
        let snippet = card.snippet.iter().map(|triple| mark(triple, query, analysis)).collect();
        Hit { rank: 0, score: 0.0, card, fields, snippet, explanation, evidence: Vec::new() }
    }

    /// Looks up the triples that matched. Where the graph's file is gone meanwhile, the answer is without them and the
    /// log says why.
    fn explain(&self, hit: &mut Hit, query: &AnalyzedQuery, collection: &CollectionStatistics, analysis: &Analysis) {
        let weights: Vec<f64> = collection
            .terms
            .iter()
            .map(|term| {
                let documents = term.iter().map(|field| field.documents).max().unwrap_or(0) as f64;
                (1.0 + collection.documents as f64 / (documents + 1.0)).ln()
            })
            .collect();
        match store::read_content(&self.home, &hit.card.version) {
            Ok(graph) => hit.evidence = evidence::find(&graph, query, &weights, analysis, EVIDENCE),
            Err(error) => {
                tracing::warn!(dataset = %hit.card.metadata.id, %error, "no evidence: the graph cannot be read")
            }
        }
    }

    /// Whether a word of a text is one of the query's terms: for highlighting.
    #[must_use]
    pub fn is_match(&self, word: &str, terms: &[String]) -> bool {
        self.index
            .snapshot()
            .is_ok_and(|snapshot| snapshot.analysis().query_tokens(word).any(|token| terms.contains(&token)))
    }

    /// The card of a dataset.
    pub fn card(&self, id: &DatasetId) -> Result<Option<Card>, EngineError> {
        let card = self.index.snapshot()?.card(id)?;
        Ok(card.map(|card| serde_json::from_slice(&card)).transpose()?)
    }

    /// The number of datasets in the index.
    pub fn len(&self) -> Result<u64, EngineError> {
        Ok(self.index.snapshot()?.len())
    }

    /// Whether the index is empty.
    pub fn is_empty(&self) -> Result<bool, EngineError> {
        Ok(self.index.snapshot()?.is_empty())
    }
}

fn mark(triple: &LabelledTriple, query: &AnalyzedQuery, analysis: &Analysis) -> SnippetTriple {
    let tokens = |term: &LabelledTerm| analysis.tokens(&term.label).collect::<Vec<_>>();
    let held: Vec<String> = [&triple.subject, &triple.predicate, &triple.object].into_iter().flat_map(tokens).collect();
    let matched = query.distinct.iter().filter(|term| held.contains(term)).cloned().collect();
    SnippetTriple { triple: triple.clone(), matched }
}

/// The part of a score that the explanation gives to a field.
fn of_field(tree: &Explanation, field: Field) -> f64 {
    let own = tree.description.strip_prefix(field.name()).is_some_and(|rest| rest.starts_with(':'));
    if own { tree.value } else { tree.details.iter().map(|detail| of_field(detail, field)).sum() }
}
