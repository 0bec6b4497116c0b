//! Search responses.

use super::{Interpretation, MatchFeatures, MatchQuality, SuggestedFilter};
use crate::{
    Card, DatasetReference, DenseMatch, Evidence, FacetCounts, QueryWords, RerankSummary,
    SimilarityPart, SnippetTable, SnippetTriple, UnknownValue, WorkEvidence,
};
use lodeseek_index::document::Field;
use lodeseek_index::sparse::Explanation;
use serde::Serialize;

/// A field in which a dataset matched.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FieldMatch {
    /// The field.
    pub field: Field,
    /// Its share of the score; see [`ScoreParts::shares`](lodeseek_index::sparse::ScoreParts::shares).
    pub score: f64,
    /// The query's words found in it, as typed, in lower case.
    pub terms: Vec<String>,
}

/// The similarity of a result to an example of the request.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExampleSimilarity {
    /// The place of the example in the request, from 0.
    pub example: usize,
    /// The similarity, from 0 to 1.
    pub score: f64,
    /// The parts of the score, in descending order of their contribution.
    pub parts: Vec<SimilarityPart>,
}

/// One result.
#[derive(Clone, Debug, Serialize)]
pub struct Hit {
    /// The rank, from 1.
    pub rank: usize,
    /// The score. `None` after the candidates of a reranker, and for those that a model left out, because scores there are not
    /// comparable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// Good or weak. Only the candidates of a re-ranker can be good, or without one the best hundred datasets.
    #[serde(rename = "match")]
    pub quality: MatchQuality,
    /// The features by which it was assessed. `None` of a weak match that was not assessed.
    #[serde(skip)]
    pub features: Option<MatchFeatures>,
    /// The data shown of the dataset.
    #[serde(skip)]
    pub card: Card,
    /// The fields that match, in descending order of their share of the score.
    pub fields: Vec<FieldMatch>,
    /// The scores by vectors, one for each encoder that has vectors of the dataset. Empty without re-ranking.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dense: Vec<DenseMatch>,
    /// The part of the score added for popularity, if popularity is weighted and the request has no examples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub popularity: Option<f64>,
    /// The score by the cross-encoder, if it ordered this dataset. Its scores are comparable only with each other.
    #[serde(rename = "crossEncoder", skip_serializing_if = "Option::is_none")]
    pub cross_encoder: Option<f64>,
    /// The works nearest to the query that use the dataset, if there are some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub works: Option<WorkEvidence>,
    /// The examples to which it is similar.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub similar_to: Vec<ExampleSimilarity>,
    /// Its snippet, with the query's terms marked.
    pub snippet: Vec<SnippetTriple>,
    /// Rows of a table in place of the snippet, if the content is a table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub table: Option<SnippetTable>,
    /// The score as a tree, if the request has `explain`: for each ranking its weight, its normalised score and its score. Without
    /// a comparable score, the score by the sparse model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explanation>,
    /// The triples that contain the query's terms, if the request has `explain`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    /// The same dataset under other ids, if duplicates are grouped: at most
    /// [`MAX_DUPLICATES_SHOWN`](crate::MAX_DUPLICATES_SHOWN).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub duplicates: Vec<DatasetReference>,
}

impl Hit {
    /// Returns true if no field matches, no example is similar, and every encoder's score is below its minimum similarity: the
    /// dataset is only one of the nearest, not a match.
    #[must_use]
    pub fn is_closest(&self) -> bool {
        let has_reason = !self.fields.is_empty() || !self.similar_to.is_empty();
        !has_reason && !self.dense.is_empty() && self.dense.iter().all(|dense| dense.closest)
    }
}

/// The response to a [`SearchRequest`](crate::SearchRequest).
#[derive(Clone, Debug, Serialize)]
pub struct SearchResponse {
    /// The name of the sparse model.
    pub model: &'static str,
    /// The query's words that are searched for, each once, as typed, in lower case.
    pub terms: Vec<String>,
    /// The same words, for highlighting.
    #[serde(skip)]
    pub words: QueryWords,
    /// The parts of the query that are not only words to search for, and their meanings. Empty for a literal query.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub interpretations: Vec<Interpretation>,
    /// Filters that words of the query suggest. They are not applied. Empty for a literal query.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub suggested_filters: Vec<SuggestedFilter>,
    /// The values of facets in the filter that no dataset has, if no dataset was found.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown_values: Vec<UnknownValue>,
    /// Number of datasets that pass the filter and contain at least one of the terms.
    pub with_words: usize,
    /// Number of datasets found: those that contain a term, and those found only by vectors or examples. FSDM ranks at most 100
    /// of them.
    pub total: usize,
    /// Number of good matches among them. The others are weak.
    pub good: usize,
    /// If true, no dataset contains a term and none reaches the minimum similarity of an encoder: the hits are only the
    /// nearest datasets.
    pub only_closest: bool,
    /// A spelling correction of the query, if one of its words occurs in hardly any dataset and a similar word in many more. `None`
    /// if the query was corrected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
    /// The query that was searched for, with the spelling of words corrected that no dataset contains. A literal query is never
    /// corrected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corrected: Option<String>,
    /// The examples of the request, in its order. `None`: a graph.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<Option<DatasetReference>>,
    /// A summary of the re-ranking, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rerank: Option<RerankSummary>,
    /// Counts of the ranked datasets by year and facet, if requested. Each facet counts the datasets that pass the filter
    /// without this facet's own values, so that a count predicts the result of another choice. Datasets found only by
    /// vectors are counted only if they pass the whole filter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub facets: Option<FacetCounts>,
    /// The requested page of hits.
    pub hits: Vec<Hit>,
    /// If true, further hits follow the page.
    pub more: bool,
}
