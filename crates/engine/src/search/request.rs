//! Search requests.

use crate::{DuplicateMode, ExampleGraph, Filter, ResultOrder, Searcher};
use lodeseek_catalog::DatasetId;
use lodeseek_index::sparse::{LengthMode, ModelKind};
use lodeseek_index::{PartForm, StatisticsLevel, parse_query};
use lodeseek_snippet::Method;
use std::str::FromStr;

/// The kind of snippet shown with a hit.
///
/// ```
/// use lodeseek_engine::SnippetKind;
/// use lodeseek_snippet::Method;
/// assert_eq!("stored".parse(), Ok(SnippetKind::Stored));
/// assert_eq!("query".parse(), Ok(SnippetKind::QUERY));
/// assert_eq!("cover".parse(), Ok(SnippetKind::OnDemand(Method::Cover)));
/// assert_eq!("none".parse(), Ok(SnippetKind::None));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SnippetKind {
    /// The snippet extracted when the dataset was indexed.
    #[default]
    Stored,
    /// No snippet, and no rows of a table.
    None,
    /// A snippet extracted during the search, for the query if the method takes one. Reads the dataset's graph.
    OnDemand(Method),
}

impl SnippetKind {
    /// A snippet extracted for the query by the default query-biased method.
    pub const QUERY: Self = Self::OnDemand(Method::Optimal);

    /// Returns all names with their kinds. The first name of a kind is that of [`name`](Self::name).
    #[must_use]
    pub fn kinds_with_names() -> Vec<(&'static str, Self)> {
        let mut kinds = vec![
            ("stored", Self::Stored),
            ("query", Self::QUERY),
            ("none", Self::None),
        ];
        kinds.extend(Method::ALL.map(|method| (method.name(), Self::OnDemand(method))));
        kinds
    }

    /// Returns the names of the kinds with a bound on their work: those that a server accepts.
    #[must_use]
    pub fn bounded_names() -> Vec<&'static str> {
        let mut names = Vec::new();
        for (name, kind) in Self::kinds_with_names() {
            if kind.is_bounded() {
                names.push(name);
            }
        }
        names
    }

    /// Returns the name, as used on the command line and in requests.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Stored => "stored",
            Self::None => "none",
            Self::QUERY => "query",
            Self::OnDemand(method) => method.name(),
        }
    }

    /// Returns true if the work is bounded for every dataset.
    #[must_use]
    pub fn is_bounded(self) -> bool {
        match self {
            Self::Stored | Self::None => true,
            Self::OnDemand(method) => method.is_bounded(),
        }
    }

    /// Returns true if the graphs of the hits are read.
    #[must_use]
    pub fn is_on_demand(self) -> bool {
        matches!(self, Self::OnDemand(_))
    }
}

/// Error: no kind of snippet has this name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("unknown kind of snippet {0:?}; supported kinds: {names}", names = join_kind_names())]
pub struct UnknownSnippetKind(String);

/// Returns the names of all kinds of snippets, separated by commas.
fn join_kind_names() -> String {
    let names: Vec<&str> = SnippetKind::kinds_with_names()
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    names.join(", ")
}

impl FromStr for SnippetKind {
    type Err = UnknownSnippetKind;

    fn from_str(name: &str) -> Result<Self, UnknownSnippetKind> {
        for (known, kind) in Self::kinds_with_names() {
            if known == name {
                return Ok(kind);
            }
        }
        // Methods have alternative names, too.
        match name.parse() {
            Ok(method) => Ok(Self::OnDemand(method)),
            Err(_) => Err(UnknownSnippetKind(name.to_owned())),
        }
    }
}

/// The syntax of a query.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum QuerySyntax {
    /// Words only, which are not translated.
    #[default]
    Literal,
    /// Words, phrases in quotation marks, exclusions by minus, and names of classes, properties, vocabularies and
    /// entities; see [`parse_query`](lodeseek_index::parse_query).
    Interpreted,
}

/// Maximum number of examples of a search.
pub const MAX_EXAMPLES: usize = 5;

/// An example of what is searched for: results are similar to it.
#[derive(Clone, Debug)]
pub enum Example {
    /// A dataset of the index.
    Dataset(DatasetId),
    /// A graph.
    Graph(ExampleGraph),
}

/// A search request.
#[derive(Clone, Debug)]
pub struct SearchRequest {
    /// The keywords.
    pub query: String,
    /// The syntax of the query. Default: literal.
    pub syntax: QuerySyntax,
    /// Maximum number of hits. Default 10.
    pub depth: usize,
    /// Number of hits omitted at the top, for paging. Default 0.
    pub skip: usize,
    /// If true, scores are explained and the triples that match are looked up. Default false.
    pub explain: bool,
    /// The sparse model, if it differs from the searcher's: this model then ranks alone, without a reranker.
    pub model: Option<ModelKind>,
    /// The kind of snippet shown. Default: the stored one.
    pub snippet: SnippetKind,
    /// Preferred languages of labels, best first. Default: English. Without a label in any of them, an English or else an
    /// arbitrary label is used.
    pub languages: Vec<String>,
    /// The filter that datasets must pass. It changes no score.
    pub filter: Filter,
    /// If set, the datasets found are counted by year and by facet, with at most so many values of each facet.
    pub facets: Option<usize>,
    /// The handling of duplicate datasets. Totals and counts always include every duplicate.
    pub duplicates: DuplicateMode,
    /// Examples of what is searched for, at most [`MAX_EXAMPLES`]. Datasets are ranked by the query and by their similarity to the
    /// examples. The examples themselves, their duplicates and other editions are not found.
    pub examples: Vec<Example>,
    /// Number of hits at the top of which tables show the rows that match the query and the conditions on columns, if their content is
    /// small. Others show their first rows. Default 0.
    pub matching_rows: usize,
    /// The order of the hits. An order other than by relevance covers all datasets found.
    pub order: ResultOrder,
}

impl SearchRequest {
    /// Returns a request for the ten best datasets for a query.
    #[must_use]
    pub fn new(query: impl Into<String>) -> Self {
        Self {
            query: query.into(),
            syntax: QuerySyntax::default(),
            depth: 10,
            skip: 0,
            explain: false,
            model: None,
            snippet: SnippetKind::default(),
            languages: vec!["en".to_owned()],
            filter: Filter::default(),
            facets: None,
            duplicates: DuplicateMode::All,
            examples: Vec::new(),
            matching_rows: 0,
            order: ResultOrder::default(),
        }
    }

    /// Returns true if a search takes a searcher much longer than a lookup of words: it reads whole graphs or positions of words,
    /// runs a model, or compares examples with all datasets.
    ///
    /// FSDM and phrases read positions of words. Exclusions may be phrases, and names are looked up in all datasets.
    #[must_use]
    pub fn is_expensive(&self, searcher: &Searcher) -> bool {
        let reads_graphs = self.explain || self.snippet.is_on_demand();
        let runs_model = self.model.is_none() && searcher.has_reranker();
        let compares_examples = !self.examples.is_empty();
        reads_graphs
            || runs_model
            || compares_examples
            || self.statistics_level(searcher) == StatisticsLevel::Pairs
            || self.has_conditions()
    }

    /// Returns the level of statistics that the sparse model of the search requires.
    fn statistics_level(&self, searcher: &Searcher) -> StatisticsLevel {
        match self.model {
            Some(kind) => kind.model(LengthMode::Exact).statistics_level(),
            None => searcher.statistics_level(),
        }
    }

    /// Returns true if the query has parts other than words: phrases, names or exclusions.
    fn has_conditions(&self) -> bool {
        self.syntax == QuerySyntax::Interpreted
            && parse_query(&self.query)
                .iter()
                .any(|part| part.form != PartForm::Word || part.excluded)
    }
}

/// Error: a query without a letter or digit, which no dataset can match.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the query is empty: it contains no letter and no digit")]
pub struct EmptyQuery;

/// Checks that a query contains something to search for.
///
/// # Errors
/// If it has no letter and no digit.
pub fn check_query(query: &str) -> Result<(), EmptyQuery> {
    if query.contains(char::is_alphanumeric) {
        Ok(())
    } else {
        Err(EmptyQuery)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{IndexOptions, Indexer};
    use lodeseek_catalog::Iris;
    use lodeseek_store::Store;
    use tempfile::TempDir;

    /// Returns the searcher of an empty home with a model.
    fn searcher(kind: ModelKind) -> (Searcher, TempDir) {
        let home = tempfile::tempdir().expect("a folder");
        let store = Store::in_memory(home.path(), Iris::default()).expect("a store");
        let indexer = Indexer::new(&store, IndexOptions::default());
        indexer.run(&|_| ()).expect("indexed");
        let searcher = Searcher::open(home.path()).expect("an index");
        (searcher.with_model(kind.model(LengthMode::Exact)), home)
    }

    #[test]
    fn a_search_is_expensive_if_it_reads_more_than_the_posting_lists_of_words() {
        let (searcher, _home) = searcher(ModelKind::Bm25);
        let words = SearchRequest::new("oak \"old trees\"");
        assert!(!words.is_expensive(&searcher));
        let interpreted = SearchRequest {
            syntax: QuerySyntax::Interpreted,
            ..words.clone()
        };
        assert!(interpreted.is_expensive(&searcher), "it has a phrase");
        let with_fsdm = SearchRequest {
            model: Some(ModelKind::Fsdm),
            ..words.clone()
        };
        assert!(with_fsdm.is_expensive(&searcher));
        let with_snippet = SearchRequest {
            snippet: SnippetKind::QUERY,
            ..words.clone()
        };
        assert!(with_snippet.is_expensive(&searcher));
        let without_snippet = SearchRequest {
            snippet: SnippetKind::None,
            ..words.clone()
        };
        assert!(!without_snippet.is_expensive(&searcher));
        let explained = SearchRequest {
            explain: true,
            ..words
        };
        assert!(explained.is_expensive(&searcher));
    }

    #[test]
    fn the_model_of_the_request_replaces_that_of_the_searcher() {
        let (searcher, _home) = searcher(ModelKind::Fsdm);
        let words = SearchRequest::new("oak");
        assert!(words.is_expensive(&searcher));
        let with_bm25 = SearchRequest {
            model: Some(ModelKind::Bm25),
            ..words
        };
        assert!(!with_bm25.is_expensive(&searcher));
    }

    #[test]
    fn every_name_of_a_snippet_is_parsed_and_listed() {
        let unknown = "guess".parse::<SnippetKind>().expect_err("no such kind");
        let message = unknown.to_string();
        let listed = message.split_once("supported kinds: ").expect("a list").1;
        let mut names = Vec::new();
        for (name, kind) in SnippetKind::kinds_with_names() {
            assert_eq!(name.parse(), Ok(kind));
            assert_eq!(kind.name().parse(), Ok(kind));
            names.push(name);
        }
        assert_eq!(listed.split(", ").collect::<Vec<_>>(), names);
        assert_eq!(names[..3], ["stored", "query", "none"]);
        assert_eq!(names.len(), 3 + Method::ALL.len());
        assert_eq!(
            "opt-rank".parse(),
            Ok(SnippetKind::OnDemand(Method::IlluSnip))
        );
        let unbounded = SnippetKind::OnDemand(Method::IlluSnipBasic);
        let bounded = SnippetKind::bounded_names();
        assert_eq!(bounded.len(), names.len() - 1);
        assert!(!bounded.contains(&unbounded.name()));
    }

    #[test]
    fn a_query_has_a_letter_or_digit() {
        for query in ["snow", "C++", "北京", "1", "«été»"] {
            assert_eq!(check_query(query), Ok(()), "{query}");
        }
        for query in ["", "  ", "!!!", "\"\"", "—"] {
            assert_eq!(check_query(query), Err(EmptyQuery), "{query}");
        }
    }
}
