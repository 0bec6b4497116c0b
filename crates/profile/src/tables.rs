//! Tables of a graph: the facts that their reader stated.

use lodeseek_rdf::vocab::{csvw, lodeseek, rdf, rdfs, void};
use lodeseek_rdf::{TableGraph, TermId, TripleGraph};
use oxrdf::{Literal, NamedNode, Term, Triple};
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

impl TableSummary {
    /// Returns the facts as triples. The table is a subset of `dataset`.
    pub(crate) fn to_triples(&self, dataset: &NamedNode, place: usize) -> Vec<Triple> {
        let table = node(&self.iri);
        let mut triples = Vec::new();
        add_triple(&mut triples, dataset, void::SUBSET, table.clone());
        add_triple(&mut triples, &table, rdf::TYPE, node(csvw::TABLE));
        add_triple(
            &mut triples,
            &table,
            rdfs::LABEL,
            Literal::from(self.name.as_str()),
        );
        add_triple(
            &mut triples,
            &table,
            void::ENTITIES,
            integer_literal(self.rows),
        );
        add_triple(
            &mut triples,
            &table,
            void::PROPERTIES,
            integer_literal(self.columns),
        );
        for (property, number) in [
            (lodeseek::EMPTY_CELLS, self.empty_cells),
            (lodeseek::MIXED_CELLS, self.mixed_cells),
            (lodeseek::OMITTED_ROWS, Some(self.omitted_rows)),
        ] {
            if let Some(number) = number {
                add_triple(&mut triples, &table, property, integer_literal(number));
            }
        }
        if let Some(encoding) = &self.encoding {
            let dialect = node(&format!("{}#dialect-{}", dataset.as_str(), place + 1));
            add_triple(&mut triples, &table, csvw::DIALECT, dialect.clone());
            add_triple(&mut triples, &dialect, rdf::TYPE, node(csvw::DIALECT_CLASS));
            add_triple(
                &mut triples,
                &dialect,
                csvw::ENCODING,
                Literal::from(encoding.as_str()),
            );
            if let Some(delimiter) = &self.delimiter {
                add_triple(
                    &mut triples,
                    &dialect,
                    csvw::DELIMITER,
                    Literal::from(delimiter.as_str()),
                );
            }
            if let Some(rows) = self.header_rows {
                add_triple(
                    &mut triples,
                    &dialect,
                    csvw::HEADER_ROW_COUNT,
                    integer_literal(rows),
                );
            }
        }
        triples
    }
}

fn add_triple(
    triples: &mut Vec<Triple>,
    subject: &NamedNode,
    property: &str,
    object: impl Into<Term>,
) {
    triples.push(Triple::new(subject.clone(), node(property), object));
}

fn node(iri: &str) -> NamedNode {
    NamedNode::new_unchecked(iri)
}

fn integer_literal(number: u64) -> Literal {
    Literal::from(i64::try_from(number).unwrap_or(i64::MAX))
}
