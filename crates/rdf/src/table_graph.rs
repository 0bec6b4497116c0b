//! Tables in a graph: rows, columns and cells of files that were read as tables.
//!
//! The reader of tables describes a file or sheet as a `csvw:Table` from which the class of its rows is derived
//! (`prov:wasDerivedFrom`). A row has this class and a number (`csvw:rownum`). The IRIs of rows, columns and inner values begin with
//! the IRI of the table. No other graph has all of this: one without it has no [`TableGraph`].

use super::triples::{TermId, TermRef, Triple, TripleGraph};
use super::vocab::{csvw, prov, rdf, schema};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;

/// Tables of a graph.
#[derive(Clone, Debug)]
pub struct TableGraph<'g> {
    graph: &'g TripleGraph,
    rownum: TermId,
    kind: TermId,
    /// Tables, in the order of their identifiers.
    files: Vec<TermId>,
    /// Classes of rows, in the order of their identifiers.
    classes: Vec<TermId>,
    /// Identifiers of tables, rows, columns, classes and inner values, ascending and disjoint.
    parts: Vec<Range<u32>>,
    /// Positions of columns in their tables, beginning with 1.
    positions: FxHashMap<TermId, u64>,
}

/// Table of a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphTable {
    /// Class of the rows.
    pub class: TermId,
    /// Properties of the columns, in the order of the file.
    pub columns: Vec<TermId>,
    /// Rows with their numbers, ascending.
    pub rows: Vec<(u64, TermId)>,
}

impl<'g> TableGraph<'g> {
    /// Finds the tables of a graph. Returns `None` if it has none.
    #[must_use]
    pub fn new(graph: &'g TripleGraph) -> Option<Self> {
        let [kind, table, derived, rownum] =
            [rdf::TYPE, csvw::TABLE, prov::WAS_DERIVED_FROM, csvw::ROWNUM]
                .map(|iri| graph.iri(iri));
        let (kind, table, derived, rownum) = (kind?, table?, derived?, rownum?);
        let position = graph.iri(schema::POSITION);
        let mut all_files = FxHashSet::default();
        let mut derivations = Vec::new();
        let mut positions: FxHashMap<TermId, u64> = FxHashMap::default();
        for triple in graph.triples() {
            if triple.predicate == kind && triple.object == table {
                all_files.insert(triple.subject);
            } else if triple.predicate == derived {
                derivations.push((triple.subject, triple.object));
            } else if Some(triple.predicate) == position
                && let Ok(number) = graph.term(triple.object).text().parse::<u64>()
            {
                // Tables may share a property.
                let place = positions.entry(triple.subject).or_insert(number);
                *place = number.min(*place);
            }
        }
        derivations.retain(|(_, file)| all_files.contains(file));
        let mut classes: Vec<TermId> = derivations.iter().map(|(class, _)| *class).collect();
        classes.sort_unstable();
        if classes.is_empty() {
            return None;
        }
        let mut files: Vec<TermId> = derivations.iter().map(|(_, table)| *table).collect();
        files.sort_unstable();
        files.dedup();
        let mut parts = Vec::with_capacity(2 * files.len());
        for table in &files {
            parts.push(table.0..table.0 + 1);
            let iri = graph.term(*table).text();
            // A sheet is a fragment of its file.
            let separator = if iri.contains('#') { '/' } else { '#' };
            parts.push(iris_that_begin_with(graph, &format!("{iri}{separator}")));
        }
        let parts = merge_ranges(parts);
        Some(Self {
            graph,
            rownum,
            kind,
            files,
            classes,
            parts,
            positions,
        })
    }

    /// Returns the tables themselves, such as files and sheets.
    #[must_use]
    pub fn files(&self) -> &[TermId] {
        &self.files
    }

    /// Returns true for the IRI of a table, or of a row, a column, a class or an inner value of one.
    #[must_use]
    pub fn is_part(&self, term: TermId) -> bool {
        let after = self.parts.partition_point(|range| range.start <= term.0);
        self.parts[..after]
            .last()
            .is_some_and(|range| range.contains(&term.0))
    }

    /// Returns true for a property that is a column, false for those that describe tables and rows, such as `rdf:type`.
    #[must_use]
    pub fn is_column(&self, property: TermId) -> bool {
        self.positions.contains_key(&property) || self.is_part(property)
    }

    /// Returns the number of a row, beginning with 1. `None` if the term is no row.
    #[must_use]
    pub fn row_number(&self, term: TermId) -> Option<u64> {
        let triples = self.graph.subject_triples(term);
        let number = triples
            .iter()
            .find(|triple| triple.predicate == self.rownum)?;
        self.graph.term(number.object).text().parse().ok()
    }

    /// Returns the class of a row.
    #[must_use]
    fn class_of(&self, row: TermId) -> Option<TermId> {
        let triples = self.graph.subject_triples(row);
        let class = triples.iter().find(|triple| {
            triple.predicate == self.kind && self.classes.binary_search(&triple.object).is_ok()
        });
        class.map(|triple| triple.object)
    }

    /// Returns the tables, in the order of the identifiers of their classes. A class without numbered rows is no table.
    #[must_use]
    pub fn tables(&self) -> Vec<GraphTable> {
        let mut rows: FxHashMap<TermId, Vec<(u64, TermId)>> = FxHashMap::default();
        for triple in self.graph.triples() {
            if triple.predicate != self.rownum || !self.is_part(triple.subject) {
                continue;
            }
            let number = self.graph.term(triple.object).text().parse();
            if let (Ok(number), Some(class)) = (number, self.class_of(triple.subject)) {
                rows.entry(class)
                    .or_default()
                    .push((number, triple.subject));
            }
        }
        let mut tables = Vec::with_capacity(rows.len());
        for (class, mut rows) in rows {
            rows.sort_unstable();
            tables.push(GraphTable {
                class,
                columns: self.columns(&rows),
                rows,
            });
        }
        tables.sort_unstable_by_key(|table| table.class);
        tables
    }

    /// Returns the columns of some rows, in the order of the file.
    fn columns(&self, rows: &[(u64, TermId)]) -> Vec<TermId> {
        let mut columns = FxHashSet::default();
        for (_, row) in rows {
            for cell in self.cells(*row) {
                columns.insert(cell.predicate);
            }
        }
        let mut columns: Vec<TermId> = columns.into_iter().collect();
        columns.sort_unstable_by_key(|column| {
            let position = self.positions.get(column).copied();
            (position.unwrap_or(u64::MAX), *column)
        });
        columns
    }

    /// Returns the cells of a row: its triples whose property is a column.
    pub fn cells(&self, row: TermId) -> impl Iterator<Item = Triple> {
        let triples = self.graph.subject_triples(row).iter().copied();
        triples.filter(|triple| self.is_column(triple.predicate))
    }
}

/// Returns the union of ranges, ascending and disjoint.
fn merge_ranges(mut ranges: Vec<Range<u32>>) -> Vec<Range<u32>> {
    ranges.sort_unstable_by_key(|range| range.start);
    let mut merged: Vec<Range<u32>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

/// Returns the identifiers of the IRIs that begin with a text. IRIs are in the order of their texts.
fn iris_that_begin_with(graph: &TripleGraph, prefix: &str) -> Range<u32> {
    let count = graph.iris().count() as u32;
    let start = first_that(count, |id| iri_text(graph, id) >= prefix);
    let end = first_that(count, |id| {
        let text = iri_text(graph, id);
        text > prefix && !text.starts_with(prefix)
    });
    start..end
}

fn iri_text(graph: &TripleGraph, id: u32) -> &str {
    match graph.term(TermId(id)) {
        TermRef::Iri(iri) => iri,
        _ => "",
    }
}

/// Returns the first of the numbers below `count` that satisfies a predicate, which all after it satisfy as well.
fn first_that(count: u32, satisfies: impl Fn(u32) -> bool) -> u32 {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        if satisfies(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TripleGraphBuilder;
    use crate::dump::DumpReader;

    fn read(turtle: &str) -> TripleGraph {
        let mut builder = TripleGraphBuilder::new();
        DumpReader::default().read(turtle.as_bytes(), "t.ttl", "http://e.org/", &mut builder);
        builder.finish()
    }

    #[test]
    fn rows_and_columns_in_the_order_of_the_file() {
        let graph = read(
            r##"@prefix csvw: <http://www.w3.org/ns/csvw#> . @prefix s: <https://schema.org/> .
            @prefix prov: <http://www.w3.org/ns/prov#> . @base <http://e.org/w.csv> .
            <> a csvw:Table . <#Row> prov:wasDerivedFrom <> .
            <#well> s:position 1 . <#depth> s:position 2 . <http://e.org/lead> s:position 3 .
            <#row=2> a <#Row> ; csvw:rownum 1 ; <#depth> 2.5 ; <#well> "Elm" .
            <#row=10> a <#Row> ; csvw:rownum 9 ; <http://e.org/lead> 3 ; <#well> "Oak" .
            <http://e.org/w.csvx> a <#Row> ; csvw:rownum 10 ."##,
        );
        let tables = TableGraph::new(&graph).expect("tables");
        let name = |id: TermId| graph.term(id).text().rsplit(['#', '/']).next();
        let found = tables.tables();
        let [table] = found.as_slice() else {
            panic!("{found:?}");
        };
        let names: Vec<_> = table.columns.iter().map(|id| name(*id)).collect();
        assert_eq!(names, [Some("well"), Some("depth"), Some("lead")]);
        let numbers: Vec<u64> = table.rows.iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers, [1, 9], "another file is no part");
        let row = table.rows[1].1;
        assert_eq!(tables.cells(row).count(), 2);
        assert_eq!(tables.row_number(row), Some(9));
        assert_eq!(tables.class_of(row), Some(table.class));
    }

    #[test]
    fn ranges_are_merged() {
        let ranges = vec![7..9, 1..2, 2..4, 8..12, 20..21, 9..10];
        assert_eq!(merge_ranges(ranges), [1..4, 7..12, 20..21]);
    }

    #[test]
    fn published_graphs_have_no_tables() {
        let graph = read(
            "@prefix csvw: <http://www.w3.org/ns/csvw#> . <a> a csvw:Table ; csvw:row [ csvw:rownum 1 ; csvw:describes [ <#b> 2 ] ] .",
        );
        assert!(TableGraph::new(&graph).is_none());
    }
}
