//! Extraction of snippets on demand, by any method, with or without a query.

use super::facts::{column_names, number_of};
use super::{Card, Content, QueryTerms};
use lodeseek_catalog::Iris;
use lodeseek_index::{Analysis, AnalyzedQuery, ColumnCondition};
use lodeseek_rdf::{Labels, TableGraph, Triple, TripleGraph};
use lodeseek_snippet::{
    Deadline, LabelledTriple, Method, MethodError, MethodOptions, Provenance, RowBudget,
    RowCriteria, RowKeywords, Snippet, TableRows, TripleBudget, label_triple,
};
use oxrdf::Triple as OxTriple;
use oxsdatatypes::DateTime;
use rustc_hash::FxHashSet;
use serde::Serialize;
use std::sync::Arc;

/// A request for a snippet.
#[derive(Clone, PartialEq, Debug)]
pub struct SnippetRequest {
    /// The extraction method.
    pub method: Method,
    /// Maximum number of triples.
    pub budget: TripleBudget,
    /// Maximum number of steps. Default: the method's own bound.
    pub work: Option<u64>,
    /// The keywords of the query, for methods that take one.
    pub query: Option<String>,
    /// Preferred languages of labels, best first.
    pub languages: Vec<String>,
    /// Maximum number of rows of a table.
    pub rows: usize,
}

/// A triple of a snippet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SnippetTriple {
    /// The triple.
    #[serde(flatten)]
    pub triple: LabelledTriple,
    /// The query's terms in its labels, as typed, in lower case.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub matched: Vec<String>,
}

/// Rows of a table that represent a dataset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SnippetTable {
    /// The name of the table.
    pub title: String,
    /// The headers of the shown columns.
    pub columns: Vec<SnippetCell>,
    /// The shown rows, in the order of the file.
    pub rows: Vec<SnippetRow>,
    /// Number of all columns.
    pub all_columns: usize,
    /// Number of all rows.
    pub all_rows: usize,
    /// Number of all rows with a word of the query or a cell that satisfies a condition; `None` without either.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matching_rows: Option<usize>,
}

/// A row of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SnippetRow {
    /// The number among the rows of data, beginning with 1.
    pub number: u64,
    /// The IRI of the row.
    pub iri: String,
    /// The cells of the shown columns.
    pub cells: Vec<SnippetCell>,
}

/// A header or cell of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SnippetCell {
    /// The text; empty for an empty cell.
    pub text: String,
    /// The query's terms in it, as typed, in lower case, and the conditions on the column that its number satisfies.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub matched: Vec<String>,
}

/// A snippet with labels, ready to be shown.
pub struct ExtractedSnippet {
    /// The name of the method, as recorded with snippets.
    pub method: &'static str,
    /// The bound on steps, if the method has one.
    pub work: Option<u64>,
    /// The triples as extracted.
    pub snippet: Snippet,
    /// The same triples with labels and marked query terms.
    pub triples: Vec<SnippetTriple>,
    /// Rows of a table, if the content is a table.
    pub table: Option<SnippetTable>,
    /// The words of the query. Empty without a query.
    pub words: QueryWords,
}

/// The words of a query, for highlighting.
#[derive(Clone, Debug)]
pub struct QueryWords {
    query: AnalyzedQuery,
    analysis: Analysis,
}

impl QueryWords {
    /// Analyses a query.
    #[must_use]
    pub fn new(query: &str, analysis: &Analysis) -> Self {
        Self::from_query(AnalyzedQuery::new(query, analysis), analysis)
    }

    /// Creates the words of an analysed query.
    pub(crate) fn from_query(query: AnalyzedQuery, analysis: &Analysis) -> Self {
        Self {
            query,
            analysis: analysis.clone(),
        }
    }

    /// Returns the words that are searched for, each once, as typed, in lower case.
    #[must_use]
    pub fn texts(&self) -> Vec<String> {
        self.query.texts()
    }

    /// Returns a predicate for the words of a text. It is true for words of the query and their forms in the language of the text.
    pub fn in_text<'a>(&'a self, text: &str) -> impl Fn(&str) -> bool + use<'a> {
        let tokens = self.analysis.word_tokens(text);
        move |word| {
            tokens(word)
                .iter()
                .any(|token| self.query.distinct.iter().any(|term| term.matches(token)))
        }
    }
}

/// Extracts a snippet of some content.
pub fn extract_snippet(
    content: &Content,
    analysis: &Analysis,
    request: &SnippetRequest,
    deadline: Deadline<'_>,
) -> Result<ExtractedSnippet, MethodError> {
    let words = QueryWords::new(request.query.as_deref().unwrap_or_default(), analysis);
    // Whatever the method, rows of a table are chosen by the query.
    let uses_query = request.query.is_some()
        && (request.method.takes_query() || TableGraph::new(content.graph()).is_some());
    let matches = uses_query
        .then(|| QueryTerms::new(&words.query.distinct, analysis).matches(content.graph()));
    let keywords = matches
        .as_ref()
        .filter(|_| request.method.takes_query())
        .map(|matches| matches as _);
    let options = MethodOptions {
        work: request.work,
        deadline,
        keywords,
        patterns: None,
    };
    let options = with_patterns(content, request.method, options);
    let extractor = request.method.extractor(&options)?;
    let snippet = extractor.extract(content.graph(), content.profile(), request.budget);
    let triples = label_all(content.graph(), &snippet.triples, &request.languages);
    let triples = triples
        .iter()
        .map(|triple| mark_terms(triple, &words.query, analysis))
        .collect();
    let weights = vec![1.0; words.query.distinct.len()];
    let criteria = RowCriteria {
        keywords: matches.as_ref().map(|matches| RowKeywords {
            matches,
            weights: &weights,
        }),
        cells: None,
    };
    let budget = RowBudget {
        rows: request.rows,
        ..RowBudget::default()
    };
    let mut rows = choose_rows(content.graph(), criteria, budget, &request.languages);
    if let Some(rows) = &mut rows
        && rows.matching_rows == Some(0)
    {
        // Rows without a word of the query are no answer to it.
        rows.rows.clear();
    }
    let table = rows.map(|rows| mark_rows(&rows, &words.query, analysis));
    Ok(ExtractedSnippet {
        method: extractor.name(),
        work: request.method.work_bound(&options),
        snippet,
        triples,
        table,
        words,
    })
}

/// A snippet of an indexed dataset, with the dataset's card and content.
pub struct DatasetSnippet {
    /// The dataset.
    pub card: Card,
    /// Its content.
    pub content: Arc<Content>,
    /// The snippet.
    pub extracted: ExtractedSnippet,
}

impl DatasetSnippet {
    /// Returns the triples of the snippet and their provenance, about the IRI at which the server publishes this snippet.
    #[must_use]
    pub fn to_triples(
        &self,
        iris: &Iris,
        request: &SnippetRequest,
        now: Option<DateTime>,
    ) -> Vec<OxTriple> {
        let (id, budget) = (&self.card.metadata.id, request.budget.0.to_string());
        let mut parameters = vec![
            ("method", request.method.name()),
            ("budget", budget.as_str()),
        ];
        parameters.extend(request.query.as_deref().map(|query| ("query", query)));
        let provenance = Provenance {
            dataset: &iris.dataset(id),
            snippet: &iris.requested_snippet(id, &parameters),
            content: &iris.dataset(id),
            method: self.extracted.method,
            budget: request.budget,
            work: self.extracted.work,
            query: request.query.as_deref(),
            generated_at: now,
        };
        let mut triples = self
            .extracted
            .snippet
            .chosen_triples(self.content.graph(), &provenance);
        triples.extend(
            self.extracted
                .snippet
                .to_triples(self.content.graph(), &provenance),
        );
        triples
    }
}

/// Adds the content's entity patterns to the options of a method that uses them.
pub(super) fn with_patterns<'c>(
    content: &'c Content,
    method: Method,
    options: MethodOptions<'c>,
) -> MethodOptions<'c> {
    // Other methods do not need the patterns, which would be computed here.
    MethodOptions {
        patterns: (method == Method::Optimal).then(|| content.patterns()),
        ..options
    }
}

/// Adds labels to triples, in the first of the preferred languages or else in English.
pub(super) fn label_all(
    graph: &TripleGraph,
    triples: &[Triple],
    languages: &[String],
) -> Vec<LabelledTriple> {
    let languages: Vec<&str> = languages.iter().map(String::as_str).chain(["en"]).collect();
    let terms = triples
        .iter()
        .flat_map(|triple| [triple.subject, triple.predicate, triple.object]);
    let labels = Labels::for_terms(graph, &languages, terms);
    triples
        .iter()
        .map(|&triple| label_triple(graph, &labels, triple))
        .collect()
}

/// Adds the terms of a query that occur in the labels of a triple.
pub(super) fn mark_terms(
    triple: &LabelledTriple,
    query: &AnalyzedQuery,
    analysis: &Analysis,
) -> SnippetTriple {
    let labels = [&triple.subject, &triple.predicate, &triple.object].map(|term| &*term.label);
    SnippetTriple {
        triple: triple.clone(),
        matched: matched_terms(&labels, query, analysis),
    }
}

/// Returns the terms of a query that occur in texts.
fn matched_terms(texts: &[&str], query: &AnalyzedQuery, analysis: &Analysis) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    for text in texts {
        tokens.extend(analysis.tokens(text));
    }
    let mut matched = Vec::new();
    for term in &query.distinct {
        if tokens.iter().any(|token| term.matches(token)) {
            matched.push(term.text.clone());
        }
    }
    matched
}

/// Chooses rows of the tables of some content, with labels in the first of the preferred languages or else in English.
pub(super) fn choose_rows(
    graph: &TripleGraph,
    criteria: RowCriteria<'_>,
    budget: RowBudget,
    languages: &[String],
) -> Option<TableRows> {
    let languages: Vec<&str> = languages.iter().map(String::as_str).chain(["en"]).collect();
    TableRows::choose(graph, criteria, budget, &languages)
}

/// Returns the cells of tables whose numbers satisfy one of the conditions.
pub(super) fn condition_cells(
    graph: &TripleGraph,
    conditions: &[ColumnCondition],
) -> FxHashSet<Triple> {
    let mut cells = FxHashSet::default();
    let Some(tables) = TableGraph::new(graph).filter(|_| !conditions.is_empty()) else {
        return cells;
    };
    for table in tables.tables() {
        for column in table.columns {
            let names = column_names(graph, column);
            let of_column: Vec<&ColumnCondition> = conditions
                .iter()
                .filter(|condition| names.iter().any(|name| condition.is_on(name)))
                .collect();
            if of_column.is_empty() {
                continue;
            }
            for cell in table.rows.iter().flat_map(|(_, row)| tables.cells(*row)) {
                if cell.predicate == column
                    && let Some(number) = number_of(graph.term(cell.object))
                    && of_column.iter().any(|condition| condition.accepts(number))
                {
                    cells.insert(cell);
                }
            }
        }
    }
    cells
}

/// Marks the cells of rows, in the table made of them, whose numbers satisfy a condition on their column.
pub(super) fn mark_conditions(
    table: &mut SnippetTable,
    rows: &TableRows,
    graph: &TripleGraph,
    conditions: &[ColumnCondition],
) {
    if conditions.is_empty() {
        return;
    }
    for (place, column) in rows.columns.iter().enumerate() {
        let Some(property) = graph.iri(&column.property) else {
            continue;
        };
        let names = column_names(graph, property);
        for condition in conditions {
            if !names.iter().any(|name| condition.is_on(name)) {
                continue;
            }
            for row in &mut table.rows {
                let is_accepted = graph.iri(&row.iri).is_some_and(|row| {
                    graph.subject_triples(row).iter().any(|cell| {
                        cell.predicate == property
                            && number_of(graph.term(cell.object))
                                .is_some_and(|number| condition.accepts(number))
                    })
                });
                if is_accepted {
                    row.cells[place].matched.push(condition.to_string());
                }
            }
        }
    }
}

/// Adds the terms of a query that occur in the headers and cells of rows.
pub(super) fn mark_rows(
    rows: &TableRows,
    query: &AnalyzedQuery,
    analysis: &Analysis,
) -> SnippetTable {
    let mut table = SnippetTable::from(rows);
    let cells = table.rows.iter_mut().flat_map(|row| &mut row.cells);
    for cell in table.columns.iter_mut().chain(cells) {
        cell.matched = matched_terms(&[&cell.text], query, analysis);
    }
    table
}

impl From<&TableRows> for SnippetTable {
    /// Creates a table without marks.
    fn from(rows: &TableRows) -> Self {
        fn cell(text: &str) -> SnippetCell {
            SnippetCell {
                text: text.to_owned(),
                matched: Vec::new(),
            }
        }
        let columns = rows.columns.iter().map(|column| cell(&column.label));
        let rows_of_cells = rows.rows.iter().map(|row| SnippetRow {
            number: row.number,
            iri: row.iri.clone(),
            cells: row.cells.iter().map(|text| cell(text)).collect(),
        });
        Self {
            title: rows.title.clone(),
            columns: columns.collect(),
            rows: rows_of_cells.collect(),
            all_columns: rows.all_columns,
            all_rows: rows.all_rows,
            matching_rows: rows.matching_rows,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_index::AnalysisKind;

    #[test]
    fn words_match_in_the_language_of_their_text() {
        let analysis = Analysis::new(AnalysisKind::Multilingual);
        let is_match = |query: &str, text: &str, word: &str| {
            QueryWords::new(query, &analysis).in_text(text)(word)
        };
        let title = "Ontology of cultural institutes and sites in Italy";
        assert!(
            !is_match("since", title, "site"),
            "the two have one stem in Turkish"
        );
        assert!(is_match("italy", title, "Italy") && is_match("site", title, "sites"));
        let spanish = "Ofertas de los alojamientos turísticos de Euskadi";
        assert!(is_match("alojamiento", spanish, "alojamientos"));
    }
}
