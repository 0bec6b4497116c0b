//! Sketches of tables, by which tables are found that can be joined or united.
//!
//! The sketch of a column are the 256 smallest hashes of its distinct values (bottom-k MinHash: A. Broder: *On the resemblance and
//! containment of documents*, SEQUENCES 1997; K. Beyer et al.: *On Synopses for Distinct-Value Estimation Under Multiset
//! Operations*, SIGMOD 2007). Of two columns, the hashes up to the smaller of both largest ones are random samples of the same values, so
//! that their intersection estimates that of the columns. It is exact if both columns have no more than 256 values.
//!
//! Only columns whose values identify something have a sketch. Years, dates, measurements and running numbers are equal by chance:
//! they would join every table with every other one.
//!
//! # Why not a library?
//!
//! Crates of MinHash leave the hash function to the caller or to their version, and sketches are stored. The sketch is a sorted list.

use lodeseek_rdf::vocab::{lodeseek, prov};
use lodeseek_rdf::{GraphTable, Labels, LiteralKind, TableGraph, TermId, TermRef, TripleGraph};
use oxrdf::vocab::xsd;
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

/// Maximum number of hashes of a column.
const MAX_HASHES: usize = 256;
/// Minimum number of hashes that are compared for an estimate. Fewer ones give errors above 25 %.
const MIN_COMPARED_HASHES: usize = 16;
/// Maximum number of columns with a sketch in one dataset: those with the most distinct values.
const MAX_SKETCHED_COLUMNS: usize = 32;
/// Maximum number of tables of one dataset.
const MAX_TABLES: usize = 100;
/// Minimum number of distinct values of a column with a sketch: shorter lists, such as months, agree by chance.
const MIN_DISTINCT_VALUES: u64 = 20;
/// Maximum mean length of the values in bytes: longer ones are descriptions.
const MAX_MEAN_BYTES: usize = 80;
/// Minimum number of digits of integers that identify something.
const MIN_DIGITS: usize = 5;
/// Minimum ratio of the range of integers to their number. Running numbers are dense.
const MIN_SPREAD: u64 = 10;
/// Maximum length of names in characters.
const MAX_NAME_CHARS: usize = 50;

/// Minimum share of the values of a column that occur in the other one, in either direction.
const MIN_CONTAINMENT: f64 = 0.5;
/// The same for values of at most three characters on average, of which there are few: codes of states are codes of countries, too.
const MIN_SHORT_CONTAINMENT: f64 = 0.8;
/// Maximum mean length of short values in bytes.
const MAX_SHORT_BYTES: usize = 3;
/// Minimum number of common values.
const MIN_SHARED_VALUES: u64 = 10;
/// Minimum number of columns of tables that can be united, and of those that they share.
const MIN_SHARED_COLUMNS: usize = 3;
/// Minimum share of the columns of both tables that they share.
const MIN_HEADER_RESEMBLANCE: f64 = 0.6;
/// Maximum number of pairs of columns that are returned for two datasets.
const MAX_JOINS: usize = 3;

/// Sketch of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TableSketch {
    /// IRI of the file, or of the sheet in it.
    pub iri: String,
    /// Name.
    pub name: String,
    /// Names of its columns, at most 1,000.
    pub columns: Vec<String>,
    /// Columns whose values identify something.
    pub keys: Vec<ColumnSketch>,
    /// If true, the values are those of a sample of the rows.
    #[serde(default)]
    pub is_sample: bool,
}

/// Sketch of a column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnSketch {
    /// IRI of the property.
    pub iri: String,
    /// Name.
    pub name: String,
    /// Number of distinct values, without regard to case.
    pub distinct: u64,
    /// If true, the values are short, so that they may agree by chance.
    #[serde(default)]
    pub is_short: bool,
    /// Smallest hashes of the values, ascending.
    pub hashes: Vec<u32>,
}

/// Common values of two columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedValues {
    /// Number of common values.
    pub count: u64,
    /// If true, the number is an estimate by the sketches.
    pub is_estimate: bool,
}

/// Column with its table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KeyColumn {
    /// Name.
    pub name: String,
    /// IRI of the property.
    pub iri: String,
    /// Name of its table.
    pub table: String,
    /// IRI of its table.
    pub table_iri: String,
    /// Number of distinct values, without regard to case.
    pub values: u64,
}

/// Two columns by which tables can be joined.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct JoinableColumns {
    /// Column of the dataset.
    pub column: KeyColumn,
    /// Column of the other dataset.
    pub other: KeyColumn,
    /// Number of common values.
    pub shared_values: u64,
    /// If true, the number is an estimate by sketches, or by a sample of the rows.
    pub is_estimate: bool,
}

/// Table with the number of its columns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ComparedTable {
    /// Name.
    pub name: String,
    /// IRI of the file, or of the sheet in it.
    pub iri: String,
    /// Number of columns.
    pub columns: u64,
}

/// Two tables with nearly the same columns, whose rows can be united.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UnionableTables {
    /// Table of the dataset.
    pub table: ComparedTable,
    /// Table of the other dataset.
    pub other: ComparedTable,
    /// Number of columns with the same name.
    pub shared_columns: u64,
}

/// Overlap of the tables of two datasets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TableOverlap {
    /// Columns by which they can be joined, those with the most common values first.
    pub joinable: Vec<JoinableColumns>,
    /// Tables that can be united: those with the most common columns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unionable: Option<UnionableTables>,
}

impl TableSketch {
    /// Returns the sketches of the tables of a graph, in the order of the graph.
    #[must_use]
    pub fn from_graph(graph: &TripleGraph) -> Vec<Self> {
        let Some(tables) = TableGraph::new(graph) else {
            return Vec::new();
        };
        let mut sketches = Vec::new();
        for table in tables.tables().into_iter().take(MAX_TABLES) {
            if let Some(sketch) = sketch_table(graph, &tables, &table) {
                sketches.push(sketch);
            }
        }
        keep_largest_keys(&mut sketches);
        sketches
    }

    /// Returns a hash for each of its columns, by the words of its name. None if it has too few to be united with others.
    #[must_use]
    pub fn header_hashes(&self) -> Vec<u32> {
        let headers = self.headers();
        if headers.len() < MIN_SHARED_COLUMNS {
            return Vec::new();
        }
        headers.iter().map(|header| hash(header)).collect()
    }

    /// Returns the names of its columns in lower case, ascending and distinct. Columns without a header are left out.
    fn headers(&self) -> Vec<String> {
        let names = self.columns.iter().map(|name| name.to_lowercase());
        let mut headers: Vec<String> = names.filter(|name| !is_place(name)).collect();
        headers.sort_unstable();
        headers.dedup();
        headers
    }
}

impl ColumnSketch {
    /// Returns the common values of two columns. `None` if the sketches are too small for an estimate.
    #[must_use]
    pub fn shared_values(&self, other: &Self) -> Option<SharedValues> {
        let limit = self.hash_limit().min(other.hash_limit());
        let own = hashes_up_to(&self.hashes, limit);
        let others = hashes_up_to(&other.hashes, limit);
        let common = own.iter().filter(|hash| others.binary_search(hash).is_ok());
        let common = common.count() as u64;
        if limit == u32::MAX {
            return Some(SharedValues {
                count: common,
                is_estimate: false,
            });
        }
        // Both are samples; the larger one gives the better estimate.
        let (sample, distinct) = if own.len() >= others.len() {
            (own.len(), self.distinct)
        } else {
            (others.len(), other.distinct)
        };
        if own.len().min(others.len()) < MIN_COMPARED_HASHES {
            return None;
        }
        let estimate = common as f64 / sample as f64 * distinct as f64;
        Some(SharedValues {
            count: (estimate.round() as u64)
                .min(self.distinct)
                .min(other.distinct),
            is_estimate: true,
        })
    }

    /// Returns the hash up to which the sketch has all values.
    fn hash_limit(&self) -> u32 {
        match self.hashes.last() {
            Some(last) if self.distinct > MAX_HASHES as u64 => *last,
            _ => u32::MAX,
        }
    }
}

/// Tables of a dataset with their headers, for comparisons with many others.
#[derive(Debug)]
pub struct ComparableTables<'t>(Vec<(&'t TableSketch, Vec<String>)>);

impl<'t> ComparableTables<'t> {
    /// Prepares the tables of a dataset.
    #[must_use]
    pub fn new(tables: &'t [TableSketch]) -> Self {
        let with_headers = tables.iter().map(|table| (table, table.headers()));
        Self(with_headers.collect())
    }
}

impl TableOverlap {
    /// Compares the tables of two datasets. `None` if they have nothing in common.
    #[must_use]
    pub fn new(tables: &ComparableTables<'_>, others: &ComparableTables<'_>) -> Option<Self> {
        let mut joinable = Vec::new();
        let mut unionable: Option<UnionableTables> = None;
        for (table, headers) in &tables.0 {
            for (other, other_headers) in &others.0 {
                add_joins(table, other, &mut joinable);
                let compared = count_shared_headers(headers, other_headers)
                    .map(|shared| UnionableTables::new(table, other, shared));
                if let Some(found) = compared
                    && unionable
                        .as_ref()
                        .is_none_or(|best| best.shared_columns < found.shared_columns)
                {
                    unionable = Some(found);
                }
            }
        }
        joinable.sort_by_key(|pair| std::cmp::Reverse(pair.shared_values));
        // Each column of either side is named once.
        let mut named = FxHashSet::default();
        joinable.retain(|pair| {
            let is_new = !named.contains(&pair.column.iri) && !named.contains(&pair.other.iri);
            if is_new {
                named.insert(pair.column.iri.clone());
                named.insert(pair.other.iri.clone());
            }
            is_new
        });
        joinable.truncate(MAX_JOINS);
        (!joinable.is_empty() || unionable.is_some()).then_some(Self {
            joinable,
            unionable,
        })
    }
}

fn add_joins(table: &TableSketch, other: &TableSketch, joinable: &mut Vec<JoinableColumns>) {
    for column in &table.keys {
        for other_column in &other.keys {
            let Some(shared) = column.shared_values(other_column) else {
                continue;
            };
            let smaller = column.distinct.min(other_column.distinct);
            let min_containment = if column.is_short && other_column.is_short {
                MIN_SHORT_CONTAINMENT
            } else {
                MIN_CONTAINMENT
            };
            if shared.count >= MIN_SHARED_VALUES
                && shared.count as f64 >= min_containment * smaller as f64
            {
                joinable.push(JoinableColumns {
                    column: KeyColumn::new(table, column),
                    other: KeyColumn::new(other, other_column),
                    shared_values: shared.count,
                    is_estimate: shared.is_estimate || table.is_sample || other.is_sample,
                });
            }
        }
    }
}

impl KeyColumn {
    fn new(table: &TableSketch, column: &ColumnSketch) -> Self {
        Self {
            name: column.name.clone(),
            iri: column.iri.clone(),
            table: table.name.clone(),
            table_iri: table.iri.clone(),
            values: column.distinct,
        }
    }
}

/// Returns the number of common headers of two tables. `None` if they cannot be united.
fn count_shared_headers(headers: &[String], others: &[String]) -> Option<usize> {
    let (smaller, larger) = (
        headers.len().min(others.len()),
        headers.len().max(others.len()),
    );
    // Most pairs of tables need no comparison.
    if smaller < MIN_SHARED_COLUMNS || (smaller as f64) < MIN_HEADER_RESEMBLANCE * larger as f64 {
        return None;
    }
    let shared = headers
        .iter()
        .filter(|header| others.binary_search(header).is_ok());
    let shared = shared.count();
    let all = headers.len() + others.len() - shared;
    if shared < MIN_SHARED_COLUMNS || (shared as f64) < MIN_HEADER_RESEMBLANCE * all as f64 {
        return None;
    }
    Some(shared)
}

impl UnionableTables {
    fn new(table: &TableSketch, other: &TableSketch, shared: usize) -> Self {
        Self {
            table: ComparedTable::new(table),
            other: ComparedTable::new(other),
            shared_columns: shared as u64,
        }
    }
}

/// Returns true for the name of a column without a header: its place in the table.
fn is_place(name: &str) -> bool {
    let number = name.strip_prefix("column ");
    number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}

impl ComparedTable {
    fn new(table: &TableSketch) -> Self {
        Self {
            name: table.name.clone(),
            iri: table.iri.clone(),
            columns: table.columns.len() as u64,
        }
    }
}

fn hashes_up_to(hashes: &[u32], limit: u32) -> &[u32] {
    &hashes[..hashes.partition_point(|hash| *hash <= limit)]
}

fn sketch_table(
    graph: &TripleGraph,
    tables: &TableGraph<'_>,
    table: &GraphTable,
) -> Option<TableSketch> {
    let derived = graph.iri(prov::WAS_DERIVED_FROM)?;
    let mut facts = graph.subject_triples(table.class).iter();
    let file = facts.find(|triple| triple.predicate == derived)?.object;
    // Relations between tables need IRIs.
    let TermRef::Iri(iri) = graph.term(file) else {
        return None;
    };
    let omitted = graph.iri(lodeseek::OMITTED_ROWS);
    let is_sample = graph
        .subject_triples(file)
        .iter()
        .any(|triple| Some(triple.predicate) == omitted);
    let mut cells: Vec<(TermId, TermId)> = Vec::new();
    for (_, row) in &table.rows {
        cells.extend(tables.cells(*row).map(|cell| (cell.predicate, cell.object)));
    }
    cells.sort_unstable();
    cells.dedup();
    let terms = table.columns.iter().copied().chain([table.class]);
    let labels = Labels::for_terms(graph, &["en"], terms);
    let mut keys = Vec::new();
    for column in cells.chunk_by(|a, b| a.0 == b.0) {
        let property = column[0].0;
        // Values with values of their own have no text, but an IRI.
        let values = column.iter().filter(|(_, value)| !tables.is_part(*value));
        let values = values.map(|(_, value)| graph.term(*value));
        if let Some(sketch) = sketch_values(values) {
            keys.push(ColumnSketch {
                iri: graph.term(property).text().to_owned(),
                name: short_label(&labels, property),
                ..sketch
            });
        }
    }
    Some(TableSketch {
        iri: iri.to_owned(),
        name: short_label(&labels, table.class),
        columns: table
            .columns
            .iter()
            .map(|column| short_label(&labels, *column))
            .collect(),
        keys,
        is_sample,
    })
}

/// Returns the beginning of a term's label.
fn short_label(labels: &Labels<'_>, term: TermId) -> String {
    let label = labels.label(term).unwrap_or_default();
    label.chars().take(MAX_NAME_CHARS).collect()
}

/// Keeps the columns with the most distinct values.
fn keep_largest_keys(sketches: &mut [TableSketch]) {
    let mut all: Vec<(u64, String)> = Vec::new();
    for sketch in sketches.iter() {
        all.extend(
            sketch
                .keys
                .iter()
                .map(|key| (key.distinct, key.iri.clone())),
        );
    }
    all.sort_unstable_by(|(count, iri), (other_count, other)| {
        other_count.cmp(count).then_with(|| iri.cmp(other))
    });
    all.truncate(MAX_SKETCHED_COLUMNS);
    let kept: FxHashSet<String> = all.into_iter().map(|(_, iri)| iri).collect();
    for sketch in sketches {
        sketch.keys.retain(|key| kept.contains(&key.iri));
    }
}

/// Returns the sketch of a column without its names. `None` if its values do not identify anything.
fn sketch_values<'v>(values: impl Iterator<Item = TermRef<'v>>) -> Option<ColumnSketch> {
    let mut hashes: Vec<u64> = Vec::new();
    let mut numbers: Vec<u64> = Vec::new();
    let mut integers = 0usize;
    let (mut all, mut bytes) = (0usize, 0usize);
    for value in values {
        all += 1;
        let text = value.text().trim();
        match value {
            TermRef::Literal {
                kind: LiteralKind::Datatype(datatype),
                ..
            } => {
                // Decimals, dates and booleans identify nothing.
                if datatype != xsd::INTEGER.as_str() {
                    continue;
                }
                // Negative numbers are measurements.
                let Ok(integer) = text.parse::<u64>() else {
                    continue;
                };
                numbers.push(integer);
                integers += 1;
            }
            _ if is_period_or_short_number(text) => continue,
            // Numbers with leading zeros are texts.
            _ => numbers.extend(text.parse::<u64>()),
        }
        bytes += text.len();
        hashes.push(hash64(&text.to_lowercase()));
    }
    let is_short = bytes <= MAX_SHORT_BYTES * hashes.len();
    // Most values are of a kind that identifies something.
    if 2 * hashes.len() <= all || bytes > MAX_MEAN_BYTES * hashes.len() {
        return None;
    }
    numbers.sort_unstable();
    if 2 * numbers.len() > hashes.len() && (are_dense(&numbers) || are_dates(&numbers)) {
        return None;
    }
    if 2 * integers > hashes.len() && are_short_or_rounded(&numbers) {
        return None;
    }
    hashes.sort_unstable();
    hashes.dedup();
    let distinct = hashes.len() as u64;
    if distinct < MIN_DISTINCT_VALUES {
        return None;
    }
    let mut kept: Vec<u32> = hashes.iter().map(|hash| upper_half(*hash)).collect();
    kept.dedup();
    kept.truncate(MAX_HASHES);
    Some(ColumnSketch {
        iri: String::new(),
        name: String::new(),
        distinct,
        is_short,
        hashes: kept,
    })
}

/// Returns true for running numbers. The numbers are ascending.
fn are_dense(numbers: &[u64]) -> bool {
    let (Some(first), Some(last)) = (numbers.first(), numbers.last()) else {
        return false;
    };
    (last - first) / (numbers.len() as u64) < MIN_SPREAD
}

/// Returns true if most numbers are dates such as 20240131 or months such as 202401.
fn are_dates(numbers: &[u64]) -> bool {
    let dates = numbers.iter().filter(|number| {
        let (month, day) = match **number {
            10_000_000..22_000_000 => (**number / 100 % 100, **number % 100),
            100_000..220_000 => (**number % 100, 1),
            _ => return false,
        };
        (1..=12).contains(&month) && (1..=31).contains(&day)
    });
    2 * dates.count() > numbers.len()
}

/// Returns true if most integers have few digits, or are multiples of 100. The integers are ascending.
fn are_short_or_rounded(integers: &[u64]) -> bool {
    let median = integers[integers.len() / 2];
    let rounded = integers.iter().filter(|integer| **integer % 100 == 0);
    median < 10u64.pow(MIN_DIGITS as u32 - 1) || 2 * rounded.count() > integers.len()
}

/// Returns true for texts that are equal by chance: short numbers, dates and periods.
fn is_period_or_short_number(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    if letters == 0 {
        // A date has two separators, a pair of years one: 2021/22.
        let separators = text
            .bytes()
            .filter(|byte| matches!(byte, b'-' | b'/' | b'.' | b':'));
        let min_separators = if digits <= 8 && is_year(text) { 1 } else { 2 };
        return digits < MIN_DIGITS || separators.count() >= min_separators;
    }
    // Periods such as 2021Q1, 2021M01 and Q1 2021.
    let last_digits = text
        .len()
        .checked_sub(4)
        .and_then(|start| text.get(start..));
    letters == 1
        && (5..=6).contains(&digits)
        && text.len() <= digits + 2
        && (is_year(text) || last_digits.is_some_and(is_year))
        || is_date_with_time(text.as_bytes())
}

/// Returns true for texts that begin as `2024-01-31T`.
fn is_date_with_time(text: &[u8]) -> bool {
    let Some((date, [b'T' | b't' | b' ', ..])) = text.split_at_checked(10) else {
        return false;
    };
    date.iter().enumerate().all(|(place, byte)| match place {
        4 | 7 => *byte == b'-',
        _ => byte.is_ascii_digit(),
    })
}

fn is_year(text: &str) -> bool {
    let year = text.get(..4).and_then(|year| year.parse::<u32>().ok());
    year.is_some_and(|year| (1000..2200).contains(&year))
}

/// Returns the hash of a text in 32 bits.
fn hash(text: &str) -> u32 {
    upper_half(hash64(text))
}

fn upper_half(hash: u64) -> u32 {
    (hash >> 32) as u32
}

/// Returns the hash of a text: FNV-1a, and the finalizer of SplitMix64, whose upper bits are uniform. Sketches of different versions are
/// compared, so that it never changes.
fn hash64(text: &str) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in text.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn sketch(values: impl IntoIterator<Item = String>) -> ColumnSketch {
        let values: Vec<String> = values.into_iter().collect();
        let terms = values.iter().map(|value| TermRef::Literal {
            lexical: value,
            kind: LiteralKind::Plain,
        });
        sketch_values(terms).expect("a sketch")
    }

    fn names(range: std::ops::Range<u32>) -> impl Iterator<Item = String> {
        range.map(|number| format!("station {number}"))
    }

    proptest! {
        /// Against the intersection of the sets themselves.
        #[test]
        fn intersections_are_those_of_sets(
            first in 20u32..4000, second in 20u32..4000, offset in 0u32..4000,
        ) {
            let (a, b) = (sketch(names(0..first)), sketch(names(offset..offset + second)));
            let own: BTreeSet<u32> = (0..first).collect();
            let other: BTreeSet<u32> = (offset..offset + second).collect();
            let expected = own.intersection(&other).count() as f64;
            prop_assert_eq!((a.distinct, b.distinct), (u64::from(first), u64::from(second)));
            match a.shared_values(&b) {
                Some(shared) if shared.is_estimate => {
                    // Five standard errors of the smallest sample that is compared.
                    let larger = f64::from(first.max(second));
                    let error = 5.0 * larger / 2.0 / (MIN_COMPARED_HASHES as f64).sqrt();
                    prop_assert!((shared.count as f64 - expected).abs() <= error, "{shared:?}, {expected}");
                }
                Some(shared) => prop_assert_eq!(shared.count as f64, expected),
                None => prop_assert!(first.max(second) > 8 * first.min(second)),
            }
        }
    }

    #[test]
    fn estimates_are_near_the_truth() {
        let (a, b) = (sketch(names(0..15_000)), sketch(names(700..40_000)));
        let shared = a.shared_values(&b).expect("an estimate");
        assert!(shared.is_estimate);
        assert!(
            (shared.count as f64 - 14_300.0).abs() < 1_500.0,
            "{shared:?}"
        );
        let equal = a.shared_values(&a.clone()).expect("an estimate");
        assert_eq!(equal.count, 15_000);
        let none = a.shared_values(&sketch(names(50_000..60_000)));
        assert_eq!(none.expect("an estimate").count, 0);
    }

    fn list(number: fn(u32) -> String) -> Vec<String> {
        (0..100).map(number).collect()
    }

    fn has_sketch(values: &[String], is_integer: bool) -> bool {
        let terms = values.iter().map(|value| TermRef::Literal {
            lexical: value,
            kind: match is_integer {
                true => LiteralKind::Datatype(xsd::INTEGER.as_str()),
                false => LiteralKind::Plain,
            },
        });
        sketch_values(terms).is_some()
    }

    #[test]
    fn columns_that_agree_by_chance_have_no_sketch() {
        for (values, is_integer, expected) in [
            (list(|n| (1950 + n).to_string()), true, false),
            (list(|n| n.to_string()), true, false),
            (list(|n| (100_000 + n).to_string()), true, false),
            (list(|n| (100_000 + 977 * n).to_string()), true, true),
            (list(|n| (100_000 + 900 * n).to_string()), true, false),
            (list(|n| format!("{:02}", n)), false, false),
            (list(|n| format!("{:05}", 17 * n)), false, true),
            (list(|n| format!("{n:05}")), false, false),
            (
                list(|n| (-100_000 - 977 * i64::from(n)).to_string()),
                true,
                false,
            ),
            (
                list(|n| format!("20{:02}{:02}{:02}", n % 30, n % 12 + 1, n % 28 + 1)),
                true,
                false,
            ),
            (list(|n| format!("{}-01-01T00:00", 1950 + n)), false, false),
            (
                list(|n| format!("{}-01-01T00:00:00Z", 1950 + n)),
                false,
                false,
            ),
            (list(|n| format!("Q1 {}", 1950 + n)), false, false),
            (
                list(|n| format!("{}/{:02}", 1950 + n, (51 + n) % 100)),
                false,
                false,
            ),
            (list(|n| format!("{:05}-{}", 17 * n, n % 7)), false, true),
            (list(|n| format!("{}-01-01", 1950 + n)), false, false),
            (list(|n| format!("{}Q1", 1950 + n)), false, false),
            (list(|n| format!("DE{n}")), false, true),
            (
                list(|n| format!("{n} {}", "long ".repeat(30))),
                false,
                false,
            ),
            (list(|n| format!("type {}", n % 12)), false, false),
        ] {
            assert_eq!(has_sketch(&values, is_integer), expected, "{:?}", values[1]);
        }
    }

    fn table(columns: &[&str]) -> TableSketch {
        TableSketch {
            iri: "http://e.org/a.csv".to_owned(),
            name: "a".to_owned(),
            columns: columns.iter().map(|name| (*name).to_owned()).collect(),
            keys: Vec::new(),
            is_sample: false,
        }
    }

    #[test]
    fn tables_with_the_same_columns_can_be_united() {
        let wells = table(&["Well", "depth", "year"]);
        let found = compare(&wells, &table(&["well", "depth", "year", "owner"]));
        let unionable = found
            .and_then(|overlap| overlap.unionable)
            .expect("unionable");
        assert_eq!((unionable.shared_columns, unionable.other.columns), (3, 4));
        let other = table(&["well", "depth", "owner"]);
        assert_eq!(compare(&wells, &other), None);
        let nameless = table(&["column 1", "column 2", "column 3"]);
        assert_eq!(compare(&nameless, &nameless), None);
        assert!(nameless.header_hashes().is_empty());
    }

    fn compare(table: &TableSketch, other: &TableSketch) -> Option<TableOverlap> {
        let sides = [table, other].map(std::slice::from_ref);
        let [own, others] = sides.map(ComparableTables::new);
        TableOverlap::new(&own, &others)
    }

    fn with_keys(keys: Vec<(&str, ColumnSketch)>) -> TableSketch {
        let mut with_keys = table(&[]);
        for (iri, key) in keys {
            with_keys.keys.push(ColumnSketch {
                iri: iri.to_owned(),
                ..key
            });
        }
        with_keys
    }

    #[test]
    fn each_column_has_one_partner() {
        let own = with_keys(vec![
            ("a", sketch(names(0..100))),
            ("b", sketch(names(0..60))),
        ]);
        let mut other = with_keys(vec![
            ("c", sketch(names(0..100))),
            ("d", sketch(names(0..50))),
        ]);
        let pairs = |overlap: Option<TableOverlap>| -> Vec<(String, u64, bool)> {
            let joinable = overlap.expect("joins").joinable.into_iter();
            let pairs = joinable.map(|pair| {
                let name = format!("{}{}", pair.column.iri, pair.other.iri);
                (name, pair.shared_values, pair.is_estimate)
            });
            pairs.collect()
        };
        // The pair of a and d has as many values as that of b and d, but a has a partner.
        assert_eq!(
            pairs(compare(&own, &other)),
            [("ac".to_owned(), 100, false), ("bd".to_owned(), 50, false)]
        );
        other.is_sample = true;
        assert!(pairs(compare(&own, &other)).iter().all(|pair| pair.2));
    }

    #[test]
    fn sketches_of_256_values_are_whole() {
        let (a, b) = (sketch(names(0..256)), sketch(names(0..10_000)));
        assert_eq!(a.hash_limit(), u32::MAX);
        assert_ne!(b.hash_limit(), u32::MAX);
    }

    #[test]
    fn largest_keys_are_kept() {
        let small = sketch(names(0..20));
        let iris: Vec<String> = (0..MAX_SKETCHED_COLUMNS)
            .map(|number| format!("{number:03}"))
            .collect();
        let first = with_keys(
            iris.iter()
                .map(|iri| (iri.as_str(), small.clone()))
                .collect(),
        );
        let mut sketches = [first, with_keys(vec![("z", sketch(names(0..30)))])];
        keep_largest_keys(&mut sketches);
        assert_eq!(sketches[0].keys.len(), MAX_SKETCHED_COLUMNS - 1);
        assert_eq!(sketches[1].keys.len(), 1);
    }
}
