//! Snippets of tables: a few rows with a few columns.
//!
//! Without a query these are the first rows of the largest table. For a query, only rows with a keyword or a selected cell are chosen,
//! greedily: the next row is the one whose cells contain most of the keywords that no chosen row contains, by weight; then the one with
//! most keywords; then the first one. Selected cells, such as those that satisfy a condition, precede keywords: a row with more of them
//! is chosen first. If no row has one, the first rows are a preview. The table is the one whose rows and headers contain most. Of many
//! columns, those with keywords or selected cells stay, then the first ones. Columns that are empty in the chosen rows are omitted.

use super::keyword::{KeywordSet, Matches};
use super::truncate_text;
use lodeseek_rdf::{GraphTable, Labels, NO_LABEL, TableGraph, TermId, Triple, TripleGraph};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

/// Rank of a column, the best first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ColumnRank {
    /// It has a value, and a keyword or a selected cell.
    Matching,
    /// It has a value in the chosen rows.
    Filled,
    Empty,
}

/// Maximum number of rows and columns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RowBudget {
    /// Maximum number of rows.
    pub rows: usize,
    /// Maximum number of columns.
    pub columns: usize,
}

impl Default for RowBudget {
    /// Returns five rows and ten columns, which fit on a page.
    fn default() -> Self {
        Self {
            rows: 5,
            columns: 10,
        }
    }
}

/// Rows of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TableRows {
    /// Name of the table.
    pub title: String,
    /// Shown columns, in the order of the file.
    pub columns: Vec<TableColumn>,
    /// Chosen rows, in the order of the file.
    pub rows: Vec<TableRow>,
    /// Number of all columns.
    pub all_columns: usize,
    /// Number of all rows in the graph.
    pub all_rows: usize,
    /// Number of all rows with a keyword or a selected cell; `None` without criteria. If it is 0, the rows are the first ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matching_rows: Option<usize>,
}

/// Column of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableColumn {
    /// Label of the header.
    pub label: String,
    /// IRI of the property.
    pub property: String,
}

/// Row of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableRow {
    /// Number among the rows of data, beginning with 1.
    pub number: u64,
    /// IRI of the row.
    pub iri: String,
    /// Text of each shown column; empty for an empty cell.
    pub cells: Vec<String>,
}

/// Keywords of a query, for the choice of rows.
#[derive(Clone, Copy, Debug)]
pub struct RowKeywords<'m> {
    /// Keywords of each term of the graph.
    pub matches: &'m Matches,
    /// Weight of each keyword, by its position in the query.
    pub weights: &'m [f64],
}

impl RowKeywords<'_> {
    fn weight(&self, keywords: KeywordSet) -> f64 {
        let weights = keywords
            .places()
            .map(|place| self.weights.get(place).copied());
        weights.map(|weight| weight.unwrap_or(1.0)).sum()
    }
}

/// Criteria for the choice of rows. Without any, the first rows are chosen.
#[derive(Clone, Copy, Debug, Default)]
pub struct RowCriteria<'m> {
    /// Keywords of a query.
    pub keywords: Option<RowKeywords<'m>>,
    /// Selected cells.
    pub cells: Option<&'m FxHashSet<Triple>>,
}

impl RowCriteria<'_> {
    fn is_empty(&self) -> bool {
        self.keywords.is_none() && self.cells.is_none_or(FxHashSet::is_empty)
    }

    fn keywords_of(&self, term: TermId) -> KeywordSet {
        match self.keywords {
            Some(keywords) => keywords.matches.term(term),
            None => KeywordSet::NONE,
        }
    }

    fn weight(&self, keywords: KeywordSet) -> f64 {
        match self.keywords {
            Some(criterion) => criterion.weight(keywords),
            None => 0.0,
        }
    }

    fn selects(&self, cell: Triple) -> bool {
        self.cells.is_some_and(|cells| cells.contains(&cell))
    }
}

impl TableRows {
    /// Chooses rows of the tables of a graph. Returns `None` if the graph has no table with rows and columns.
    #[must_use]
    pub fn choose(
        graph: &TripleGraph,
        criteria: RowCriteria<'_>,
        budget: RowBudget,
        languages: &[&str],
    ) -> Option<Self> {
        let tables = TableGraph::new(graph)?;
        let chooser = Chooser {
            graph,
            tables: &tables,
            criteria,
            budget,
        };
        let mut all = tables.tables();
        all.retain(|table| !table.columns.is_empty());
        // Of equal ones the first is kept.
        let mut best: Option<Choice> = None;
        for table in all {
            let choice = chooser.choose(table);
            let is_better = best
                .as_ref()
                .is_none_or(|other| choice.quality() > other.quality());
            if is_better {
                best = Some(choice);
            }
        }
        best.map(|choice| chooser.describe(&choice, languages))
    }
}

struct Chooser<'c, 'g> {
    graph: &'g TripleGraph,
    tables: &'c TableGraph<'g>,
    criteria: RowCriteria<'c>,
    budget: RowBudget,
}

/// Rows chosen of a table.
struct Choice {
    table: GraphTable,
    /// Chosen rows, in the order of the file.
    rows: Vec<(u64, TermId)>,
    /// Number of selected cells in the chosen rows.
    cells: usize,
    /// Weight of the keywords of the chosen rows and of the headers.
    weight: f64,
    /// Number of rows with a keyword or a selected cell; `None` without criteria.
    matching: Option<usize>,
}

impl Choice {
    /// Returns the values by which tables are compared, the most important first.
    fn quality(&self) -> (usize, f64, usize) {
        (self.cells, self.weight, self.table.rows.len())
    }
}

/// A row that may be chosen.
struct Candidate {
    /// Number of selected cells.
    cells: usize,
    keywords: KeywordSet,
    number: u64,
    row: TermId,
}

impl Chooser<'_, '_> {
    fn choose(&self, table: GraphTable) -> Choice {
        let first_rows = table.rows.iter().take(self.budget.rows).copied();
        if self.criteria.is_empty() {
            return Choice {
                rows: first_rows.collect(),
                table,
                cells: 0,
                weight: 0.0,
                matching: None,
            };
        }
        let mut candidates = Vec::new();
        for &(number, row) in &table.rows {
            let mut candidate = Candidate {
                cells: 0,
                keywords: KeywordSet::NONE,
                number,
                row,
            };
            for cell in self.tables.cells(row) {
                let keywords = self.criteria.keywords_of(cell.object);
                candidate.keywords = candidate.keywords.union(keywords);
                candidate.cells += usize::from(self.criteria.selects(cell));
            }
            if candidate.cells > 0 || !candidate.keywords.is_empty() {
                candidates.push(candidate);
            }
        }
        let matching = candidates.len();
        let mut covered = KeywordSet::NONE;
        let mut rows = Vec::new();
        let mut cells = 0;
        while rows.len() < self.budget.rows {
            let Some(place) = find_best_row(&candidates, covered, &self.criteria) else {
                break;
            };
            let best = &candidates[place];
            let taken = if best.keywords.difference(covered).is_empty() {
                // Rows with as many selected cells have no other keyword: their order is final.
                let cells = best.cells;
                let (mut group, others): (Vec<_>, Vec<_>) = candidates
                    .into_iter()
                    .partition(|one: &Candidate| one.cells == cells);
                group.sort_by(|a, b| {
                    let [a, b] = [a, b].map(|one| self.criteria.weight(one.keywords));
                    b.total_cmp(&a)
                });
                candidates = others;
                group
            } else {
                vec![candidates.remove(place)]
            };
            for candidate in taken.into_iter().take(self.budget.rows - rows.len()) {
                covered = covered.union(candidate.keywords);
                cells += candidate.cells;
                rows.push((candidate.number, candidate.row));
            }
        }
        if matching == 0 {
            rows.extend(first_rows);
        }
        rows.sort_unstable();
        for column in &table.columns {
            covered = covered.union(self.criteria.keywords_of(*column));
        }
        Choice {
            weight: self.criteria.weight(covered),
            table,
            rows,
            matching: Some(matching),
            cells,
        }
    }

    fn describe(&self, choice: &Choice, languages: &[&str]) -> TableRows {
        let mut cells: FxHashMap<(TermId, TermId), Vec<TermId>> = FxHashMap::default();
        for (_, row) in &choice.rows {
            for cell in self.tables.cells(*row) {
                let values = cells.entry((*row, cell.predicate)).or_default();
                values.push(cell.object);
            }
        }
        let columns = self.columns(choice, &cells);
        let objects = cells.values().flatten().copied();
        let named = columns.iter().copied().chain([choice.table.class]);
        let labels = Labels::for_terms(self.graph, languages, named.chain(objects));
        let mut rows = Vec::with_capacity(choice.rows.len());
        for (number, row) in &choice.rows {
            let mut texts = Vec::with_capacity(columns.len());
            for column in &columns {
                let values = cells.get(&(*row, *column)).into_iter().flatten();
                let values: Vec<String> =
                    values.map(|value| short_label(&labels, *value)).collect();
                texts.push(values.join(", "));
            }
            rows.push(TableRow {
                number: *number,
                iri: self.graph.term(*row).text().to_owned(),
                cells: texts,
            });
        }
        TableRows {
            title: short_label(&labels, choice.table.class),
            columns: columns
                .iter()
                .map(|column| TableColumn {
                    label: short_label(&labels, *column),
                    property: self.graph.term(*column).text().to_owned(),
                })
                .collect(),
            rows,
            all_columns: choice.table.columns.len(),
            all_rows: choice.table.rows.len(),
            matching_rows: choice.matching,
        }
    }

    /// Returns the columns to show, in the order of the file. Columns without a value in the chosen rows are omitted, unless all are.
    fn columns(
        &self,
        choice: &Choice,
        cells: &FxHashMap<(TermId, TermId), Vec<TermId>>,
    ) -> Vec<TermId> {
        let mut order: Vec<(ColumnRank, usize)> = Vec::with_capacity(choice.table.columns.len());
        for (place, column) in choice.table.columns.iter().enumerate() {
            let mut is_filled = false;
            let mut is_match = !self.criteria.keywords_of(*column).is_empty();
            for (_, row) in &choice.rows {
                for value in cells.get(&(*row, *column)).into_iter().flatten() {
                    is_filled = true;
                    let cell = Triple {
                        subject: *row,
                        predicate: *column,
                        object: *value,
                    };
                    is_match |= self.criteria.selects(cell)
                        || !self.criteria.keywords_of(*value).is_empty();
                }
            }
            let rank = match (is_filled, is_match) {
                (false, _) => ColumnRank::Empty,
                (true, true) => ColumnRank::Matching,
                (true, false) => ColumnRank::Filled,
            };
            order.push((rank, place));
        }
        order.sort_unstable();
        if order
            .first()
            .is_some_and(|(rank, _)| *rank < ColumnRank::Empty)
        {
            order.retain(|(rank, _)| *rank < ColumnRank::Empty);
        }
        order.truncate(self.budget.columns);
        let mut places: Vec<usize> = order.into_iter().map(|(_, place)| place).collect();
        places.sort_unstable();
        places
            .into_iter()
            .map(|place| choice.table.columns[place])
            .collect()
    }
}

fn short_label(labels: &Labels<'_>, id: TermId) -> String {
    match labels.label(id) {
        Some(label) => truncate_text(&label),
        None => NO_LABEL.to_owned(),
    }
}

/// Returns the place of the row with most selected cells, then with the largest weight of new keywords, then of all its keywords; of
/// equal ones the first.
fn find_best_row(
    candidates: &[Candidate],
    covered: KeywordSet,
    criteria: &RowCriteria<'_>,
) -> Option<usize> {
    let mut best: Option<((usize, f64, f64), usize)> = None;
    for (place, candidate) in candidates.iter().enumerate() {
        let weight = (
            candidate.cells,
            criteria.weight(candidate.keywords.difference(covered)),
            criteria.weight(candidate.keywords),
        );
        if best.is_none_or(|(other, _)| weight > other) {
            best = Some((weight, place));
        }
    }
    best.map(|(_, place)| place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_rdf::TripleGraphBuilder;
    use lodeseek_rdf::dump::DumpReader;
    use std::fmt::Write as _;

    /// Returns a graph of a table with columns `a`, `b` and `c`.
    fn table(rows: &[[&str; 3]]) -> TripleGraph {
        let mut turtle = "@prefix csvw: <http://www.w3.org/ns/csvw#> . @prefix s: <https://schema.org/> .
            @prefix prov: <http://www.w3.org/ns/prov#> . @base <http://e.org/w.csv> .
            <> a csvw:Table . <#Row> prov:wasDerivedFrom <> ; <http://www.w3.org/2000/01/rdf-schema#label> \"wells\" .
            <#a> s:position 3 . <#b> s:position 2 . <#c> s:position 1 ."
            .to_owned();
        for (number, cells) in rows.iter().enumerate() {
            let _ = write!(
                turtle,
                "<#row={0}> a <#Row> ; csvw:rownum {0} .",
                number + 1
            );
            for (name, cell) in ["a", "b", "c"].iter().zip(cells) {
                if !cell.is_empty() {
                    let _ = write!(turtle, "<#row={}> <#{name}> \"{cell}\" .", number + 1);
                }
            }
        }
        let mut builder = TripleGraphBuilder::new();
        DumpReader::default().read(turtle.as_bytes(), "t.ttl", "http://e.org/", &mut builder);
        builder.finish()
    }

    fn matches(graph: &TripleGraph, words: &[&str]) -> Matches {
        let matcher = crate::keyword::LabelMatcher(|label: &str| {
            let mut found = 0;
            for (place, word) in words.iter().enumerate() {
                found |= u64::from(label.split(' ').any(|part| part == *word)) << place;
            }
            KeywordSet(found)
        });
        Matches::new(&matcher, graph)
    }

    fn numbers(rows: &TableRows) -> Vec<u64> {
        rows.rows.iter().map(|row| row.number).collect()
    }

    #[test]
    fn first_rows_without_a_query() {
        let graph = table(&[["1", "2", "3"], ["", "5", ""], ["7", "", ""]]);
        let budget = RowBudget {
            rows: 2,
            columns: 2,
        };
        let rows =
            TableRows::choose(&graph, RowCriteria::default(), budget, &["en"]).expect("rows");
        assert_eq!(
            (rows.title.as_str(), rows.all_rows, rows.all_columns),
            ("wells", 3, 3)
        );
        let labels: Vec<&str> = rows
            .columns
            .iter()
            .map(|column| column.label.as_str())
            .collect();
        assert_eq!(labels, ["c", "b"], "the order of the file");
        assert_eq!(rows.rows[0].cells, ["3", "2"]);
        assert_eq!(rows.rows[1].cells, ["", "5"]);
    }

    #[test]
    fn rows_with_the_keywords() {
        let graph = table(&[
            ["elm", "x", ""],
            ["ash", "y", ""],
            ["elm", "tall oak", "z"],
            ["oak", "", ""],
            ["old ash", "", "q"],
        ]);
        let matches = matches(&graph, &["oak", "ash", "elm", "a"]);
        let keywords = RowKeywords {
            matches: &matches,
            weights: &[1.0, 1.0, 0.5, 1.0],
        };
        let choose = |rows, columns| {
            let budget = RowBudget { rows, columns };
            let criteria = RowCriteria {
                keywords: Some(keywords),
                cells: None,
            };
            TableRows::choose(&graph, criteria, budget, &["en"]).expect("rows")
        };
        assert_eq!(numbers(&choose(1, 3)), [3], "two keywords");
        assert_eq!(
            numbers(&choose(2, 3)),
            [2, 3],
            "the third keyword is in row 2 first"
        );
        assert_eq!(numbers(&choose(9, 3)), [1, 2, 3, 4, 5]);
        let narrow = choose(1, 1);
        assert_eq!(
            narrow.columns[0].label, "b",
            "the first column of the file with a keyword"
        );
    }

    #[test]
    fn rows_without_a_keyword_do_not_fill_up() {
        let graph = table(&[["elm", "", ""], ["ash", "", ""], ["oak", "", ""]]);
        for (words, expected, matching) in [
            (&["oak", "elm"][..], &[1, 3][..], Some(2)),
            (&["oak"], &[3], Some(1)),
            (&["yew"], &[1, 2, 3], Some(0)),
            (&["b"], &[1, 2, 3], Some(0)),
        ] {
            let matches = matches(&graph, words);
            let criteria = RowCriteria {
                keywords: Some(RowKeywords {
                    matches: &matches,
                    weights: &[1.0, 1.0],
                }),
                cells: None,
            };
            let rows = TableRows::choose(&graph, criteria, RowBudget::default(), &["en"]);
            let rows = rows.expect("rows");
            assert_eq!(numbers(&rows), expected, "{words:?}");
            assert_eq!((rows.matching_rows, rows.all_rows), (matching, 3));
        }
        let criteria = RowCriteria::default();
        let all = TableRows::choose(&graph, criteria, RowBudget::default(), &["en"]).expect("rows");
        assert_eq!(all.matching_rows, None);
    }

    #[test]
    fn rows_with_selected_cells_and_columns_with_values() {
        let graph = table(&[
            ["elm", "1", ""],
            ["ash", "2", ""],
            ["oak", "30", ""],
            ["", "40", ""],
        ]);
        let column = graph.iri("http://e.org/w.csv#b").expect("a column");
        let mut cells = FxHashSet::default();
        for triple in graph.triples() {
            if triple.predicate == column && graph.term(triple.object).text().len() == 2 {
                cells.insert(*triple);
            }
        }
        let budget = RowBudget {
            rows: 2,
            columns: 3,
        };
        let criteria = RowCriteria {
            keywords: None,
            cells: Some(&cells),
        };
        let rows = TableRows::choose(&graph, criteria, budget, &["en"]).expect("rows");
        assert_eq!(numbers(&rows), [3, 4]);
        let labels: Vec<&str> = rows
            .columns
            .iter()
            .map(|column| column.label.as_str())
            .collect();
        assert_eq!(labels, ["b", "a"], "column c is empty");
        assert_eq!(rows.all_columns, 2, "no row has a value in column c");
    }
}
