//! Datasets whose tables can be joined or united with those of another: values of columns or headers overlap.
//!
//! The kinds of relations are those of CoDaKG (<https://github.com/nju-websoft/CoDaKG>): overlap of data and of schemas. Candidates are the
//! datasets with most common hashes of sketches; only their sketches are compared.

use super::duplicates::DatasetReference;
use super::{EngineError, SimilarityClause, card::read_card};
use lodeseek_catalog::DatasetId;
use lodeseek_index::{DocumentAddress, Snapshot};
use lodeseek_profile::{ComparableTables, TableOverlap, TableSketch};
use lodeseek_rdf::grouped;
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::cmp::Reverse;

/// Maximum number of candidates by values, and by headers.
const MAX_CANDIDATES: usize = 50;
/// Maximum number of datasets with a hash: a value or a header of more of them is no evidence.
const MAX_HASH_DATASETS: usize = 2_000;
/// Maximum number of hashes of headers of a dataset. The smallest ones are a sample that is the same for all datasets.
const MAX_HEADER_HASHES: usize = 1_000;
/// Minimum number of common hashes of a candidate.
const MIN_COMMON_HASHES: usize = 3;
/// Maximum number of related datasets.
const MAX_RELATED_TABLES: usize = 10;

/// A dataset whose tables can be joined or united with those of another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RelatedTables {
    /// The dataset.
    #[serde(flatten)]
    pub dataset: DatasetReference,
    /// The evidence.
    #[serde(flatten)]
    pub overlap: TableOverlap,
}

/// Returns the hashes by which the tables of a dataset are found, distinct.
pub(super) fn hashes(tables: &[TableSketch]) -> Vec<u64> {
    let [values, headers] = value_and_header_hashes(tables);
    [values, headers].concat()
}

/// Returns the hashes of values and those of headers, which differ.
fn value_and_header_hashes(tables: &[TableSketch]) -> [Vec<u64>; 2] {
    let (mut values, mut headers) = (Vec::new(), Vec::new());
    for table in tables {
        for key in &table.keys {
            values.extend(key.hashes.iter().map(|hash| u64::from(*hash)));
        }
        let marked = table.header_hashes().into_iter();
        // Hashes of values have 32 bits: the next one marks those of headers.
        headers.extend(marked.map(|hash| 1 << 32 | u64::from(hash)));
    }
    for hashes in [&mut values, &mut headers] {
        hashes.sort_unstable();
        hashes.dedup();
    }
    headers.truncate(MAX_HEADER_HASHES);
    [values, headers]
}

/// Returns the datasets whose tables overlap with those of a dataset: first those with the most common values, then those with the most
/// common columns. `is_excluded` is true for datasets that are not compared.
pub(super) fn related_tables(
    snapshot: &Snapshot,
    id: &DatasetId,
    is_excluded: impl Fn(&DatasetId) -> bool,
) -> Result<Vec<RelatedTables>, EngineError> {
    let Some(tables) = read_sketches(snapshot, id)? else {
        return Ok(Vec::new());
    };
    let mut candidates = Vec::new();
    for hashes in value_and_header_hashes(&tables) {
        candidates.extend(with_most_hashes(snapshot, &hashes, |other| {
            other == id || is_excluded(other)
        })?);
    }
    candidates.sort_unstable();
    candidates.dedup();
    let own = ComparableTables::new(&tables);
    let mut found = Vec::new();
    for other in candidates {
        let others = read_sketches(snapshot, &other)?.unwrap_or_default();
        let overlap = TableOverlap::new(&own, &ComparableTables::new(&others));
        found.extend(overlap.map(|overlap| (other, overlap)));
    }
    found.sort_by(|(id, overlap), (other_id, other)| {
        strength(other)
            .cmp(&strength(overlap))
            .then(id.cmp(other_id))
    });
    found.truncate(MAX_RELATED_TABLES);
    let mut related = Vec::with_capacity(found.len());
    for (id, overlap) in found {
        related.extend(read_card(snapshot, &id)?.map(|card| RelatedTables {
            dataset: DatasetReference::from_card(&card),
            overlap,
        }));
    }
    Ok(related)
}

/// Returns the numbers of common values and common columns.
fn strength(overlap: &TableOverlap) -> (u64, u64) {
    let values = match overlap.joinable.first() {
        Some(pair) => pair.shared_values,
        None => 0,
    };
    let columns = match &overlap.unionable {
        Some(tables) => tables.shared_columns,
        None => 0,
    };
    (values, columns)
}

fn read_sketches(
    snapshot: &Snapshot,
    id: &DatasetId,
) -> Result<Option<Vec<TableSketch>>, EngineError> {
    let Some(bytes) = snapshot.sketches(id)? else {
        return Ok(None);
    };
    Ok(Some(serde_json::from_slice(&bytes)?))
}

/// Returns the datasets with most of some hashes, without those that are excluded.
fn with_most_hashes(
    snapshot: &Snapshot,
    hashes: &[u64],
    is_excluded: impl Fn(&DatasetId) -> bool,
) -> Result<Vec<DatasetId>, EngineError> {
    let mut counts: FxHashMap<DocumentAddress, usize> = FxHashMap::default();
    for hash in hashes {
        for address in snapshot.with_sketch_hash(*hash, MAX_HASH_DATASETS)? {
            *counts.entry(address).or_default() += 1;
        }
    }
    let mut counts: Vec<(usize, DocumentAddress)> = counts
        .into_iter()
        .filter(|(_, count)| *count >= MIN_COMMON_HASHES)
        .map(|(address, count)| (count, address))
        .collect();
    // The addresses break ties, so that the candidates do not depend on the order of a hash map.
    counts.sort_unstable_by_key(|(count, address)| (Reverse(*count), *address));
    let mut candidates = Vec::new();
    for (_, address) in counts {
        if candidates.len() == MAX_CANDIDATES {
            break;
        }
        let other = snapshot.id(address)?;
        if !is_excluded(&other) {
            candidates.push(other);
        }
    }
    Ok(candidates)
}

/// Returns the evidence as texts for users.
#[must_use]
pub fn overlap_clauses(overlap: &TableOverlap) -> Vec<SimilarityClause> {
    let mut texts = Vec::new();
    for pair in &overlap.joinable {
        let about = if pair.is_estimate { "about " } else { "" };
        texts.push(format!(
            "joinable: {about}{} of {} values of “{}” ({}) occur in “{}” ({})",
            grouped(pair.shared_values),
            grouped(pair.column.values),
            pair.column.name,
            pair.column.table,
            pair.other.name,
            pair.other.table,
        ));
    }
    if let Some(tables) = &overlap.unionable {
        texts.push(format!(
            "unionable: {} of {} columns of “{}” are in “{}”, which has {}",
            grouped(tables.shared_columns),
            grouped(tables.table.columns),
            tables.table.name,
            tables.other.name,
            grouped(tables.other.columns),
        ));
    }
    texts.into_iter().map(SimilarityClause::new).collect()
}
