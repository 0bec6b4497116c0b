//! What a snapshot keeps in memory of each document: its field lengths, and the place of its id among all ids.

use super::schema::{self, Fields};
use super::traverse::WINDOW;
use super::{FieldStatistics, IndexError};
use crate::document::Field;
use tantivy::SegmentReader;
use tantivy::columnar::{Cardinality, Column, StrColumn};

/// The columns of a segment.
pub(super) struct SegmentColumns {
    ids: Option<StrColumn>,
    /// By field; padded with zeros to whole windows.
    lengths: [Vec<u32>; 8],
    /// By document: the place of its id among the ids of all segments, sorted as strings.
    pub(super) order: Vec<u32>,
}

impl SegmentColumns {
    /// The columns of all segments.
    pub(super) fn of(readers: &[SegmentReader], fields: &Fields) -> Result<Vec<Self>, IndexError> {
        let mut columns = readers.iter().map(|reader| Self::read(reader, fields)).collect::<Result<Vec<_>, _>>()?;
        if columns.len() > 1 {
            order_together(&mut columns)?;
        }
        Ok(columns)
    }

    fn read(reader: &SegmentReader, fields: &Fields) -> Result<Self, IndexError> {
        let count = reader.max_doc() as usize;
        let mut lengths: [Vec<u32>; 8] = Default::default();
        for field in Field::ALL {
            let column = reader.fast_fields().u64(fields.length_name(field)).ok();
            lengths[field.index()] = values(column.as_ref(), count, count.next_multiple_of(WINDOW));
        }
        let ids = reader.fast_fields().str(schema::ID)?;
        // Ordinals of a segment's dictionary are in the order of the strings.
        let order = values(ids.as_ref().map(|ids| ids.ords()), count, count);
        Ok(Self { ids, lengths, order })
    }

    /// The id of a document.
    pub(super) fn id(&self, document: u32) -> Result<String, IndexError> {
        let mut name = String::new();
        if let Some(ids) = &self.ids
            && let Some(ordinal) = ids.term_ords(document).next()
        {
            ids.ord_to_str(ordinal, &mut name)?;
        }
        Ok(name)
    }

    /// The length of a field of a document, in tokens.
    pub(super) fn length(&self, field: Field, document: u32) -> u32 {
        self.lengths[field.index()][document as usize]
    }

    /// The lengths of a field in a window.
    pub(super) fn window(&self, field: Field, window: usize) -> &[u32; WINDOW] {
        let (windows, _) = self.lengths[field.index()].as_chunks();
        &windows[window]
    }

    /// Adds the living documents to the statistics of the fields, and returns their number.
    pub(super) fn add_to(&self, reader: &SegmentReader, fields: &mut [FieldStatistics; 8]) -> u64 {
        let alive = reader.alive_bitset();
        let lives = |document: usize| alive.is_none_or(|alive| alive.is_alive(document as u32));
        for (statistics, lengths) in fields.iter_mut().zip(&self.lengths) {
            for (_, &length) in lengths.iter().enumerate().filter(|&(place, &length)| length > 0 && lives(place)) {
                statistics.documents += 1;
                statistics.tokens += u64::from(length);
            }
        }
        u64::from(reader.num_docs())
    }
}

/// The first value of a column for each of `count` documents, 0 where there is none, padded to `padded` values.
fn values(column: Option<&Column<u64>>, count: usize, padded: usize) -> Vec<u32> {
    let mut values = vec![0; padded];
    let Some(column) = column else { return values };
    if column.get_cardinality() == Cardinality::Full {
        let mut wide = vec![0; count];
        column.values.get_range(0, &mut wide);
        for (value, wide) in values.iter_mut().zip(wide) {
            *value = narrow(wide);
        }
    } else {
        for (document, value) in values.iter_mut().take(count).enumerate() {
            *value = narrow(column.first(document as u32).unwrap_or(0));
        }
    }
    values
}

fn narrow(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// Several segments: their own orders say nothing about each other.
fn order_together(columns: &mut [SegmentColumns]) -> Result<(), IndexError> {
    let mut all = Vec::new();
    for (segment, one) in columns.iter().enumerate() {
        for document in 0..one.order.len() {
            all.push((one.id(document as u32)?, segment, document));
        }
    }
    all.sort_unstable();
    for (place, (_, segment, document)) in all.into_iter().enumerate() {
        columns[segment].order[document] = place as u32;
    }
    Ok(())
}
