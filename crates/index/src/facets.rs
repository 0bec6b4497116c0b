//! Facet values over all segments, in memory, loaded at first use.

use super::facts::Facet;
use super::{IndexError, schema};
use std::collections::BTreeMap;
use tantivy::SegmentReader;
use tantivy::columnar::StrColumn;

/// Values of one facet. Spellings with the same normalized form ([`Facet::normalize`]) are one value.
pub(super) struct FacetTable {
    facet: Facet,
    /// Normalized values, ascending.
    keys: Vec<String>,
    /// Most common spellings.
    labels: Vec<String>,
    segments: Vec<ValueLists>,
}

/// Value numbers of each document of a segment.
#[derive(Default)]
struct ValueLists {
    /// Start of each document's values, followed by the end of the last.
    starts: Vec<u32>,
    values: Vec<u32>,
}

impl FacetTable {
    /// Loads the tables of the facets that the index stores, by facet index.
    pub(super) fn load_all(readers: &[SegmentReader]) -> Result<Vec<Self>, IndexError> {
        let mut tables = Vec::with_capacity(Facet::ALL.len());
        for facet in Facet::ALL {
            if let Some(name) = schema::facet_name(facet) {
                tables.push(Self::load(readers, facet, name)?);
            }
        }
        Ok(tables)
    }

    /// Creates a table of values that are not stored: the labels, and for each document of each segment the indexes of its labels.
    pub(super) fn from_labels(
        facet: Facet,
        labels: &[&str],
        documents: &[Vec<Vec<usize>>],
    ) -> Self {
        let mut keys: Vec<(String, usize)> = Vec::with_capacity(labels.len());
        for (index, label) in labels.iter().enumerate() {
            keys.push((facet.normalize(label), index));
        }
        keys.sort_unstable();
        let mut places = vec![0; labels.len()];
        for (place, (_, index)) in keys.iter().enumerate() {
            places[*index] = place as u32;
        }
        let mut segments = Vec::with_capacity(documents.len());
        for segment in documents {
            let mut lists = ValueLists::default();
            for labels in segment {
                lists.push(labels.iter().map(|index| places[*index]).collect());
            }
            lists.starts.push(lists.values.len() as u32);
            segments.push(lists);
        }
        Self {
            facet,
            labels: keys
                .iter()
                .map(|(_, index)| labels[*index].to_owned())
                .collect(),
            keys: keys.into_iter().map(|(key, _)| key).collect(),
            segments,
        }
    }

    fn load(readers: &[SegmentReader], facet: Facet, name: &str) -> Result<Self, IndexError> {
        let mut columns = Vec::with_capacity(readers.len());
        let mut spellings: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
        for reader in readers {
            let column = reader.fast_fields().str(name)?;
            let spelled = column
                .as_ref()
                .map(read_values)
                .transpose()?
                .unwrap_or_default();
            for (spelling, count) in
                spelled
                    .iter()
                    .zip(count_live_by_value(reader, column.as_ref(), spelled.len()))
            {
                *spellings
                    .entry(facet.normalize(spelling))
                    .or_default()
                    .entry(spelling.clone())
                    .or_default() += count;
            }
            columns.push((column, spelled));
        }
        let labels = spellings.values().map(most_common_spelling).collect();
        let keys: Vec<String> = spellings.into_keys().collect();
        let mut segments = Vec::with_capacity(readers.len());
        for (reader, (column, spelled)) in readers.iter().zip(columns) {
            let global: Vec<u32> = spelled
                .iter()
                .map(|spelling| find_place(&keys, &facet.normalize(spelling)))
                .collect();
            segments.push(ValueLists::from_column(
                reader.max_doc(),
                column.as_ref(),
                &global,
            ));
        }
        Ok(Self {
            facet,
            keys,
            labels,
            segments,
        })
    }

    /// Returns the number of values.
    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Returns the most common spelling of a value.
    pub(super) fn label(&self, place: u32) -> &str {
        &self.labels[place as usize]
    }

    /// Returns the number of a value in any spelling.
    pub(super) fn place(&self, value: &str) -> Option<u32> {
        self.keys
            .binary_search(&self.facet.normalize(value))
            .ok()
            .map(|place| place as u32)
    }

    /// Returns the distinct value numbers of a document, ascending.
    pub(super) fn values(&self, segment: usize, document: u32) -> &[u32] {
        let ValueLists { starts, values } = &self.segments[segment];
        let document = document as usize;
        &values[starts[document] as usize..starts[document + 1] as usize]
    }
}

/// Returns the number of an existing key.
fn find_place(keys: &[String], key: &str) -> u32 {
    keys.partition_point(|other| other.as_str() < key) as u32
}

impl ValueLists {
    fn from_column(documents: u32, column: Option<&StrColumn>, global: &[u32]) -> Self {
        let mut places = Self {
            starts: Vec::with_capacity(documents as usize + 1),
            values: Vec::new(),
        };
        for document in 0..documents {
            let ordinals = column
                .into_iter()
                .flat_map(|column| column.term_ords(document));
            places.push(ordinals.map(|ordinal| global[ordinal as usize]).collect());
        }
        places.starts.push(places.values.len() as u32);
        places
    }

    /// Adds the values of the next document.
    fn push(&mut self, mut values: Vec<u32>) {
        self.starts.push(self.values.len() as u32);
        values.sort_unstable();
        values.dedup();
        self.values.extend(values);
    }
}

/// Returns the values of a segment, by ordinal.
fn read_values(column: &StrColumn) -> Result<Vec<String>, IndexError> {
    let mut values = Vec::with_capacity(column.num_terms());
    let mut stream = column.dictionary().stream()?;
    while stream.advance() {
        values.push(String::from_utf8_lossy(stream.key()).into_owned());
    }
    Ok(values)
}

/// Counts the live documents of a segment by value.
fn count_live_by_value(
    reader: &SegmentReader,
    column: Option<&StrColumn>,
    values: usize,
) -> Vec<u64> {
    let mut counts = vec![0; values];
    let Some(column) = column else { return counts };
    for ordinal in reader
        .doc_ids_alive()
        .flat_map(|document| column.term_ords(document))
    {
        counts[ordinal as usize] += 1;
    }
    counts
}

/// Returns the most frequent spelling, the first of equals.
fn most_common_spelling(spellings: &BTreeMap<String, u64>) -> String {
    // `max_by_key` returns the last of equals, so in reverse order the first.
    let best = spellings.iter().rev().max_by_key(|(_, count)| **count);
    best.map(|(spelling, _)| spelling.clone())
        .unwrap_or_default()
}
