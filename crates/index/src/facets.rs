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
    /// Loads the tables of all facets, by facet index.
    pub(super) fn load_all(readers: &[SegmentReader]) -> Result<Vec<Self>, IndexError> {
        Facet::ALL
            .into_iter()
            .map(|facet| Self::load(readers, facet))
            .collect()
    }

    fn load(readers: &[SegmentReader], facet: Facet) -> Result<Self, IndexError> {
        let mut columns = Vec::with_capacity(readers.len());
        let mut spellings: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
        for reader in readers {
            let column = reader.fast_fields().str(schema::facet_name(facet))?;
            let spelled = column
                .as_ref()
                .map(read_values)
                .transpose()?
                .unwrap_or_default();
            for (spelling, count) in
                spelled
                    .iter()
                    .zip(living(reader, column.as_ref(), spelled.len()))
            {
                *spellings
                    .entry(facet.normalize(spelling))
                    .or_default()
                    .entry(spelling.clone())
                    .or_default() += count;
            }
            columns.push((column, spelled));
        }
        let labels = spellings.values().map(commonest).collect();
        let keys: Vec<String> = spellings.into_keys().collect();
        let places =
            |(reader, (column, spelled)): (&SegmentReader, (Option<StrColumn>, Vec<String>))| {
                let global: Vec<u32> = spelled
                    .iter()
                    .map(|spelling| place(&keys, &facet.normalize(spelling)))
                    .collect();
                ValueLists::from_column(reader.max_doc(), column.as_ref(), &global)
            };
        let segments = readers.iter().zip(columns).map(places).collect();
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
fn place(keys: &[String], key: &str) -> u32 {
    keys.partition_point(|other| other.as_str() < key) as u32
}

impl ValueLists {
    fn from_column(documents: u32, column: Option<&StrColumn>, global: &[u32]) -> Self {
        let mut places = Self {
            starts: Vec::with_capacity(documents as usize + 1),
            values: Vec::new(),
        };
        for document in 0..documents {
            let start = places.values.len();
            places.starts.push(start as u32);
            let ordinals = column
                .into_iter()
                .flat_map(|column| column.term_ords(document));
            let mut values: Vec<u32> = ordinals.map(|ordinal| global[ordinal as usize]).collect();
            values.sort_unstable();
            values.dedup();
            places.values.extend(values);
        }
        places.starts.push(places.values.len() as u32);
        places
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
fn living(reader: &SegmentReader, column: Option<&StrColumn>, values: usize) -> Vec<u64> {
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
fn commonest(spellings: &BTreeMap<String, u64>) -> String {
    let best = spellings.iter().rev().max_by_key(|(_, count)| **count);
    best.map(|(spelling, _)| spelling.clone())
        .unwrap_or_default()
}
