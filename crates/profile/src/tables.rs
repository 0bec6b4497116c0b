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
    files.filter_map(|file| summary(graph, *file)).collect()
}

fn summary(graph: &TripleGraph, file: TermId) -> Option<TableSummary> {
    let value = |subject: TermId, property: &str| {
        let property = graph.iri(property)?;
        let triples = graph.subject_triples(subject).iter();
        let mut objects = triples.filter(|triple| triple.predicate == property);
        objects.next().map(|triple| triple.object)
    };
    let text = |subject, property| Some(graph.term(value(subject, property)?).text().to_owned());
    let number = |subject, property| graph.term(value(subject, property)?).text().parse().ok();
    let dialect = value(file, csvw::DIALECT);
    Some(TableSummary {
        iri: graph.term(file).text().to_owned(),
        name: text(file, rdfs::LABEL).unwrap_or_default(),
        rows: number(file, void::ENTITIES)?,
        columns: number(file, void::PROPERTIES)?,
        encoding: dialect.and_then(|dialect| text(dialect, csvw::ENCODING)),
        delimiter: dialect.and_then(|dialect| text(dialect, csvw::DELIMITER)),
        header_rows: dialect.and_then(|dialect| number(dialect, csvw::HEADER_ROW_COUNT)),
        empty_cells: number(file, lodeseek::EMPTY_CELLS),
        mixed_cells: number(file, lodeseek::MIXED_CELLS),
        omitted_rows: number(file, lodeseek::OMITTED_ROWS).unwrap_or(0),
    })
}

impl TableSummary {
    /// Returns the facts as triples. The table is a subset of `dataset`.
    pub(crate) fn to_triples(&self, dataset: &NamedNode, place: usize) -> Vec<Triple> {
        fn node(iri: &str) -> NamedNode {
            NamedNode::new_unchecked(iri)
        }
        fn count(number: u64) -> Literal {
            Literal::from(i64::try_from(number).unwrap_or(i64::MAX))
        }
        let table = node(&self.iri);
        let mut triples = Vec::new();
        let mut add = |subject: &NamedNode, property: &str, object: Term| {
            triples.push(Triple::new(subject.clone(), node(property), object));
        };
        add(dataset, void::SUBSET, table.clone().into());
        add(&table, rdf::TYPE, node(csvw::TABLE).into());
        add(
            &table,
            rdfs::LABEL,
            Literal::from(self.name.as_str()).into(),
        );
        add(&table, void::ENTITIES, count(self.rows).into());
        add(&table, void::PROPERTIES, count(self.columns).into());
        for (property, number) in [
            (lodeseek::EMPTY_CELLS, self.empty_cells),
            (lodeseek::MIXED_CELLS, self.mixed_cells),
            (lodeseek::OMITTED_ROWS, Some(self.omitted_rows)),
        ] {
            if let Some(number) = number {
                add(&table, property, count(number).into());
            }
        }
        if let Some(encoding) = &self.encoding {
            let dialect = node(&format!("{}#dialect-{}", dataset.as_str(), place + 1));
            add(&table, csvw::DIALECT, dialect.clone().into());
            add(&dialect, rdf::TYPE, node(csvw::DIALECT_CLASS).into());
            add(
                &dialect,
                csvw::ENCODING,
                Literal::from(encoding.as_str()).into(),
            );
            if let Some(delimiter) = &self.delimiter {
                add(
                    &dialect,
                    csvw::DELIMITER,
                    Literal::from(delimiter.as_str()).into(),
                );
            }
            if let Some(rows) = self.header_rows {
                add(&dialect, csvw::HEADER_ROW_COUNT, count(rows).into());
            }
        }
        triples
    }
}
