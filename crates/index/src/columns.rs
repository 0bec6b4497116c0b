//! Document columns in memory: field lengths, and the rank of each id among all ids.

use super::schema::{self, Fields};
use super::top_docs::WINDOW_DOCS;
use super::{FieldStatistics, IndexError, NumericFacts};
use crate::document::Field;
use lodeseek_catalog::{BoundingBox, Day, Period};
use rustc_hash::FxHashMap;
use tantivy::SegmentReader;
use tantivy::columnar::{Cardinality, Column, StrColumn};

/// Columns of a segment.
pub(super) struct SegmentColumns {
    ids: Option<StrColumn>,
    /// Lengths by field.
    lengths: [Lengths; 8],
    /// Rank of each document's id among the ids of all segments, sorted as strings.
    pub(super) order: Vec<u32>,
    years: Option<Column<i64>>,
    uses: Option<Column<u64>>,
    variants: Option<Column<u64>>,
    place: Option<[Column<i64>; 4]>,
    period: Option<[Column<i64>; 2]>,
}

impl SegmentColumns {
    /// Loads the columns of all segments.
    pub(super) fn load_all(
        readers: &[SegmentReader],
        fields: &Fields,
    ) -> Result<Vec<Self>, IndexError> {
        let mut columns = readers
            .iter()
            .map(|reader| Self::read(reader, fields))
            .collect::<Result<Vec<_>, _>>()?;
        if columns.len() > 1 {
            order_together(&mut columns)?;
        }
        Ok(columns)
    }

    fn read(reader: &SegmentReader, fields: &Fields) -> Result<Self, IndexError> {
        let count = reader.max_doc() as usize;
        let mut lengths: [Lengths; 8] = Default::default();
        for field in Field::ALL {
            let column = reader.fast_fields().u64(fields.length_name(field)).ok();
            lengths[field.index()] = Lengths::new(&read_first_values(column.as_ref(), count));
        }
        let ids = reader.fast_fields().str(schema::ID)?;
        // Ordinals of a segment's dictionary are in the order of the strings.
        let order = read_first_values(ids.as_ref().map(|ids| ids.ords()), count);
        let years = reader.fast_fields().column_opt(schema::YEAR)?;
        let [uses, variants] =
            [schema::USES, schema::VARIANTS].map(|name| reader.fast_fields().column_opt(name));
        let place = all_columns(reader, schema::PLACE)?;
        let period = all_columns(reader, schema::PERIOD)?;
        Ok(Self {
            ids,
            lengths,
            order,
            years,
            uses: uses?,
            variants: variants?,
            place,
            period,
        })
    }

    /// Returns the area of a document.
    pub(super) fn place(&self, document: u32) -> Option<BoundingBox> {
        let mut edges = [0; 4];
        for (edge, column) in edges.iter_mut().zip(self.place.as_ref()?) {
            *edge = i32::try_from(column.first(document)?).ok()?;
        }
        BoundingBox::from_microdegrees(edges)
    }

    /// Returns the period of a document.
    pub(super) fn period(&self, document: u32) -> Option<Period> {
        let [first, last] = self.period.as_ref()?;
        Period::new(
            read_day(first.first(document)?, OPEN_FIRST),
            read_day(last.first(document)?, OPEN_LAST),
        )
    }

    /// Returns the year of a document.
    pub(super) fn year(&self, document: u32) -> Option<i32> {
        self.years
            .as_ref()?
            .first(document)
            .and_then(|year| i32::try_from(year).ok())
    }

    /// Returns the numeric facts of a document.
    pub(super) fn numbers(&self, document: u32) -> NumericFacts {
        let uses = self.uses.as_ref();
        let variants = self.variants.as_ref();
        NumericFacts {
            year: self.year(document),
            uses: uses.and_then(|column| column.first(document)),
            variants: variants
                .and_then(|column| column.first(document))
                .unwrap_or(0),
        }
    }

    /// Returns the id of a document.
    pub(super) fn id(&self, document: u32) -> Result<String, IndexError> {
        let mut name = String::new();
        if let Some(ids) = &self.ids
            && let Some(ordinal) = ids.term_ords(document).next()
        {
            ids.ord_to_str(ordinal, &mut name)?;
        }
        Ok(name)
    }

    /// Returns the length of a field of a document in tokens.
    pub(super) fn length(&self, field: Field, document: u32) -> u32 {
        self.lengths[field.index()].get(document)
    }

    /// Returns the lengths of a field in a window.
    pub(super) fn window(&self, field: Field, window: usize) -> WindowLengths<'_> {
        self.lengths[field.index()].window(window)
    }

    /// Adds the live documents to the field statistics and returns their number.
    pub(super) fn add_to(&self, reader: &SegmentReader, fields: &mut [FieldStatistics; 8]) -> u64 {
        let alive = reader.alive_bitset();
        for (statistics, lengths) in fields.iter_mut().zip(&self.lengths) {
            let living = (0..reader.max_doc())
                .filter(|&document| alive.is_none_or(|alive| alive.is_alive(document)));
            for length in living
                .map(|document| lengths.get(document))
                .filter(|&length| length > 0)
            {
                statistics.documents += 1;
                statistics.tokens += u64::from(length);
            }
        }
        u64::from(reader.num_docs())
    }
}

/// Number in the column of first days for an open beginning.
pub(super) const OPEN_FIRST: i64 = i32::MIN as i64;
/// Number in the column of last days for an open end.
pub(super) const OPEN_LAST: i64 = i32::MAX as i64;

/// Returns the day of a number in a column. `None` of the number for an open end.
fn read_day(number: i64, open: i64) -> Option<Day> {
    if number == open {
        return None;
    }
    i32::try_from(number).ok().map(Day::from_number)
}

/// Returns columns of a segment, or `None` if one has no values.
fn all_columns<const N: usize>(
    reader: &SegmentReader,
    names: [&str; N],
) -> Result<Option<[Column<i64>; N]>, IndexError> {
    let mut columns = Vec::with_capacity(N);
    for name in names {
        columns.extend(reader.fast_fields().column_opt(name)?);
    }
    Ok(columns.try_into().ok())
}

/// Marks a length that does not fit.
const LONG_LENGTH: u16 = u16::MAX;

/// Lengths of a field by document, in two bytes each. Memory access limits scoring more than arithmetic, and nearly all
/// lengths fit.
#[derive(Default)]
struct Lengths {
    /// Short lengths, padded with zeros to whole windows.
    short: Vec<u16>,
    /// Lengths of [`LONG_LENGTH`] and more, by document.
    long: FxHashMap<u32, u32>,
}

impl Lengths {
    fn new(lengths: &[u32]) -> Self {
        let mut short = vec![0; lengths.len().next_multiple_of(WINDOW_DOCS)];
        let mut long = FxHashMap::default();
        for (document, (short, &length)) in short.iter_mut().zip(lengths).enumerate() {
            *short = u16::try_from(length).unwrap_or(LONG_LENGTH);
            if *short == LONG_LENGTH {
                long.insert(document as u32, length);
            }
        }
        Self { short, long }
    }

    fn window(&self, window: usize) -> WindowLengths<'_> {
        let (windows, _) = self.short.as_chunks();
        WindowLengths {
            short: &windows[window],
            long: &self.long,
        }
    }

    fn get(&self, document: u32) -> u32 {
        self.window(document as usize / WINDOW_DOCS).get(document)
    }
}

/// Lengths of a field in a window of documents.
#[derive(Clone, Copy)]
pub(super) struct WindowLengths<'c> {
    short: &'c [u16; WINDOW_DOCS],
    long: &'c FxHashMap<u32, u32>,
}

impl WindowLengths<'_> {
    /// Returns the length of a document of the window in tokens.
    #[inline]
    pub(super) fn get(&self, document: u32) -> u32 {
        match self.short[document as usize % WINDOW_DOCS] {
            LONG_LENGTH => self.look_up_long(document),
            length => u32::from(length),
        }
    }

    #[cold]
    fn look_up_long(&self, document: u32) -> u32 {
        self.long
            .get(&document)
            .copied()
            .unwrap_or(u32::from(LONG_LENGTH))
    }
}

/// Returns the first value of a column for each of `count` documents; 0 if there is none.
fn read_first_values(column: Option<&Column<u64>>, count: usize) -> Vec<u32> {
    let mut values = vec![0; count];
    let Some(column) = column else { return values };
    // With one value for each document, the column is decoded as a whole.
    if column.get_cardinality() == Cardinality::Full {
        let mut wide = vec![0; count];
        column.values.get_range(0, &mut wide);
        for (value, wide) in values.iter_mut().zip(wide) {
            *value = saturate(wide);
        }
    } else {
        for (document, value) in values.iter_mut().enumerate() {
            *value = saturate(column.first(document as u32).unwrap_or(0));
        }
    }
    values
}

fn saturate(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// Merges the orders of several segments, which are not comparable with each other.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_exact_whatever_their_size() {
        let mut tokens = vec![0, 1, 65_534, 65_535, 65_536, u32::MAX];
        tokens.resize(WINDOW_DOCS, 7);
        tokens.extend([70_000, 3]);
        let lengths = Lengths::new(&tokens);
        let read: Vec<u32> = (0..tokens.len() as u32)
            .map(|document| lengths.get(document))
            .collect();
        assert_eq!(read, tokens);
        assert_eq!(lengths.window(1).get(WINDOW_DOCS as u32), 70_000);
        assert_eq!(
            (lengths.short.len(), lengths.long.len()),
            (2 * WINDOW_DOCS, 4)
        );
    }
}
