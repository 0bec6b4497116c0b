//! Tables of a graph: the facts that their reader stated.

use lodeseek_rdf::vocab::{csvw, lodeseek, rdfs, void};
use lodeseek_rdf::{TableGraph, TermId, TripleGraph};
use serde::{Deserialize, Serialize};

/// Facts of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TableSummary {
    /// IRI of the file, or of the sheet in it.
    pub iri: String,
    /// Name.
    pub name: String,
    /// Number of rows of data, or of records.
    pub rows: u64,
    /// Number of columns, or of different keys.
    pub columns: u64,
    /// Encoding of the file, if it is a text table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<String>,
    /// Delimiter of cells, if it is a text table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delimiter: Option<String>,
    /// Number of rows of the header, if it is a text table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header_rows: Option<u64>,
    /// Number of cells without a value. `None` for records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub empty_cells: Option<u64>,
    /// Number of cells that do not have the type of their column. `None` for records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mixed_cells: Option<u64>,
    /// Number of rows that are not in the graph, because the table is large.
    #[serde(default)]
    pub omitted_rows: u64,
}

/// Returns the tables of a graph with stated facts.
pub(crate) fn tables(graph: &TripleGraph) -> Vec<TableSummary> {
    let tables = TableGraph::new(graph);
    let files = tables.iter().flat_map(TableGraph::files);
    files
        .filter_map(|file| summarize_table(graph, *file))
        .collect()
}

fn summarize_table(graph: &TripleGraph, file: TermId) -> Option<TableSummary> {
    let dialect = find_object(graph, file, csvw::DIALECT);
    Some(TableSummary {
        iri: graph.term(file).text().to_owned(),
        name: find_text(graph, file, rdfs::LABEL)
            .unwrap_or_default()
            .to_owned(),
        rows: find_number(graph, file, void::ENTITIES)?,
        columns: find_number(graph, file, void::PROPERTIES)?,
        encoding: dialect
            .and_then(|dialect| find_text(graph, dialect, csvw::ENCODING))
            .map(str::to_owned),
        delimiter: dialect
            .and_then(|dialect| find_text(graph, dialect, csvw::DELIMITER))
            .map(str::to_owned),
        header_rows: dialect
            .and_then(|dialect| find_number(graph, dialect, csvw::HEADER_ROW_COUNT)),
        empty_cells: find_number(graph, file, lodeseek::EMPTY_CELLS),
        mixed_cells: find_number(graph, file, lodeseek::MIXED_CELLS),
        omitted_rows: find_number(graph, file, lodeseek::OMITTED_ROWS).unwrap_or(0),
    })
}

/// Returns the first object of a property of a subject.
fn find_object(graph: &TripleGraph, subject: TermId, property: &str) -> Option<TermId> {
    let property = graph.iri(property)?;
    graph
        .subject_triples(subject)
        .iter()
        .find(|triple| triple.predicate == property)
        .map(|triple| triple.object)
}

fn find_text<'g>(graph: &'g TripleGraph, subject: TermId, property: &str) -> Option<&'g str> {
    Some(graph.term(find_object(graph, subject, property)?).text())
}

fn find_number(graph: &TripleGraph, subject: TermId, property: &str) -> Option<u64> {
    find_text(graph, subject, property)?.parse().ok()
}
