//! Snippets made on demand, by any method, for a query or for none.

use super::{Card, Content, QueryTerms};
use lodeseek_catalog::Iris;
use lodeseek_index::{Analysis, AnalyzedQuery};
use lodeseek_rdf::{Labels, Triple, TripleGraph};
use lodeseek_snippet::{
    Deadline, LabelledTerm, LabelledTriple, Method, MethodError, MethodOptions, Provenance, Snippet, TripleBudget,
    label_triple,
};
use oxrdf::Triple as OxTriple;
use oxsdatatypes::DateTime;
use serde::Serialize;
use std::sync::Arc;

/// What is asked.
#[derive(Clone, PartialEq, Debug)]
pub struct SnippetRequest {
    /// How to choose.
    pub method: Method,
    /// The most triples.
    pub budget: TripleBudget,
    /// The bound on steps, where not the method's own.
    pub work: Option<u64>,
    /// What it is for, in words.
    pub query: Option<String>,
    /// The languages of labels, best first.
    pub languages: Vec<String>,
}

/// A triple of a snippet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SnippetTriple {
    /// The triple.
    #[serde(flatten)]
    pub triple: LabelledTriple,
    /// The query's words in its labels, as typed, in lower case.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub matched: Vec<String>,
}

/// A snippet ready to be shown.
pub struct MadeSnippet {
    /// The name of the method, as recorded with snippets.
    pub method: &'static str,
    /// The bound on steps it kept to, where it has one.
    pub work: Option<u64>,
    /// The triples as chosen.
    pub snippet: Snippet,
    /// The same with labels, the query's words marked.
    pub triples: Vec<SnippetTriple>,
    /// The words of the query; none without a query.
    pub words: QueryWords,
}

/// The words of a query, to be found again in what is shown.
pub struct QueryWords {
    query: AnalyzedQuery,
    analysis: Analysis,
}

impl QueryWords {
    /// Of a query.
    #[must_use]
    pub fn new(query: &str, analysis: &Analysis) -> Self {
        Self { query: AnalyzedQuery::new(query, analysis), analysis: analysis.clone() }
    }

    /// The words that are looked for, each once, as typed, in lower case.
    #[must_use]
    pub fn texts(&self) -> Vec<String> {
        self.query.texts()
    }

    /// Whether a word is one of them, or a form of one in some language.
    #[must_use]
    pub fn is_match(&self, word: &str) -> bool {
        is_match(&self.query, &self.analysis, word)
    }
}

pub(super) fn is_match(query: &AnalyzedQuery, analysis: &Analysis, word: &str) -> bool {
    let words = analysis.query_words(word);
    words.iter().any(|word| query.distinct.iter().any(|term| term.overlaps(word)))
}

/// A snippet of some content.
pub fn make_snippet(
    content: &Content,
    analysis: &Analysis,
    request: &SnippetRequest,
    deadline: Deadline<'_>,
) -> Result<MadeSnippet, MethodError> {
    let words = QueryWords::new(request.query.as_deref().unwrap_or_default(), analysis);
    let asked = request.query.is_some() && request.method.takes_query();
    let matches = asked.then(|| QueryTerms::new(&words.query.distinct, analysis).matches(content.graph()));
    let keywords = matches.as_ref().map(|matches| matches as _);
    let options =
        options(content, request.method, MethodOptions { work: request.work, deadline, keywords, patterns: None });
    let extractor = request.method.extractor(&options)?;
    let snippet = extractor.extract(content.graph(), content.profile(), request.budget);
    let triples = label_all(content.graph(), &snippet.triples, &request.languages);
    let triples = triples.iter().map(|triple| mark(triple, &words.query, analysis)).collect();
    Ok(MadeSnippet { method: extractor.name(), work: request.method.work_bound(&options), snippet, triples, words })
}

/// A snippet of a dataset of the index, and what it was made of.
pub struct DatasetSnippet {
    /// The dataset.
    pub card: Card,
    /// Its content.
    pub content: Arc<Content>,
    /// The snippet.
    pub made: MadeSnippet,
}

impl DatasetSnippet {
    /// The triples chosen, and how they came to be, told of the address at which the server gives this snippet.
    #[must_use]
    pub fn to_triples(&self, iris: &Iris, request: &SnippetRequest, now: Option<DateTime>) -> Vec<OxTriple> {
        let (id, budget) = (&self.card.metadata.id, request.budget.0.to_string());
        let mut parameters = vec![("method", request.method.name()), ("budget", budget.as_str())];
        parameters.extend(request.query.as_deref().map(|query| ("query", query)));
        let provenance = Provenance {
            dataset: &iris.dataset(id),
            snippet: &iris.requested_snippet(id, &parameters),
            content: &iris.graph(id, &self.card.version),
            method: self.made.method,
            budget: request.budget,
            work: self.made.work,
            query: request.query.as_deref(),
            made: now,
        };
        let mut triples = self.made.snippet.chosen_triples(self.content.graph(), &provenance);
        triples.extend(self.made.snippet.to_triples(self.content.graph(), &provenance));
        triples
    }
}

/// With what the content knows of itself, where the method has a use for it.
pub(super) fn options<'c>(content: &'c Content, method: Method, options: MethodOptions<'c>) -> MethodOptions<'c> {
    MethodOptions { patterns: (method == Method::Optimal).then(|| content.patterns()), ..options }
}

/// Triples with labels in the languages wanted.
pub(super) fn label_all(graph: &TripleGraph, triples: &[Triple], languages: &[String]) -> Vec<LabelledTriple> {
    let languages: Vec<&str> = languages.iter().map(String::as_str).chain(["en"]).collect();
    let terms = triples.iter().flat_map(|triple| [triple.subject, triple.predicate, triple.object]);
    let labels = Labels::for_terms(graph, &languages, terms);
    triples.iter().map(|&triple| label_triple(graph, &labels, triple)).collect()
}

pub(super) fn mark(triple: &LabelledTriple, query: &AnalyzedQuery, analysis: &Analysis) -> SnippetTriple {
    let tokens = |term: &LabelledTerm| analysis.tokens(&term.label).collect::<Vec<_>>();
    let held: Vec<String> = [&triple.subject, &triple.predicate, &triple.object].into_iter().flat_map(tokens).collect();
    let matched = query.distinct.iter().filter(|term| held.iter().any(|token| term.matches(token)));
    SnippetTriple { triple: triple.clone(), matched: matched.map(|term| term.text.clone()).collect() }
}
