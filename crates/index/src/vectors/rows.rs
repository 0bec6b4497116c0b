//! Storage format of matrices: a half, a quarter or a sixteenth of the bytes, in the order of multiplication.
//!
//! Sixteen rows form a panel. A panel is stored column by column: the sixteen numbers of the first column, then those
//! of the second. One number of a query is thus multiplied with sixteen rows at once, for every width of the
//! processor's vectors. Each inner product is summed in the order of the columns, so results do not depend on that
//! width. Rows that do not fill a panel follow the panels, one after another. A matrix of one row takes no more than
//! its row.
//!
//! Loss: 20,000 random rows of length 1 with 384 columns, against a random query of length 1. The maximum error of an
//! inner product is 0.0005 with [`Precision::F16`], 0.003 with [`Precision::I8`] and 0.08 with [`Precision::I2`]. The test
//! `what_is_lost_is_as_stated` measures it.
//!
//! [`Precision::I2`] rounds each number of a rotated row (see [`Rotation`]) to the nearest of four levels: those that minimise the
//! squared error for normally distributed numbers (J. Max: *Quantizing for minimum distortion*, 1960). After the rotation the
//! numbers of any row are nearly so distributed, so that the levels are fixed and nothing is trained. TurboQuant
//! (A. Zandieh et al., 2025) proves that this is close to the least possible error.

use super::rotation::Rotation;
use half::f16;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Deref;
use std::str::FromStr;
use std::sync::Arc;
use tantivy::directory::OwnedBytes;

/// Rows of a panel.
pub const PANEL_ROWS: usize = 16;

/// Numbers in a byte of [`Precision::I2`].
const NUMBERS_PER_BYTE: usize = 4;
/// The smaller and the larger level of [`Precision::I2`], in standard deviations of a row's numbers.
const LEVELS: [f32; 2] = [0.452_8, 1.510_4];
/// Magnitude from which a number has the larger level.
const LEVEL_BOUNDARY: f32 = 0.981_6;
/// The four numbers of each byte of [`Precision::I2`].
static NUMBERS_OF_BYTE: [[f32; NUMBERS_PER_BYTE]; 256] = numbers_of_byte();

/// Number format of stored vectors.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// Two bytes for each number (IEEE 754 binary16).
    #[default]
    F16,
    /// One byte for each number and a scale for each row; the largest magnitude of a row is 127.
    I8,
    /// Two bits for each number of a rotated row. Rows get length 1.
    I2,
}

impl Precision {
    /// Returns the number of bytes of a matrix, or `None` on overflow.
    #[must_use]
    pub fn bytes(self, rows: usize, columns: usize) -> Option<usize> {
        match self {
            Self::F16 => columns.checked_mul(size_of::<f16>())?.checked_mul(rows),
            Self::I8 => columns.checked_add(size_of::<f32>())?.checked_mul(rows),
            Self::I2 => {
                let panels =
                    columns.checked_mul(rows / PANEL_ROWS * PANEL_ROWS / NUMBERS_PER_BYTE)?;
                panels.checked_add(
                    columns
                        .div_ceil(NUMBERS_PER_BYTE)
                        .checked_mul(rows % PANEL_ROWS)?,
                )
            }
        }
    }
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::F16 => "f16",
            Self::I8 => "int8",
            Self::I2 => "int2",
        })
    }
}

/// Error for an unknown precision name.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("unknown vector precision {0:?}; supported: f16, int8, int2")]
pub struct UnknownPrecision(String);

impl FromStr for Precision {
    type Err = UnknownPrecision;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        [Self::F16, Self::I8, Self::I2]
            .into_iter()
            .find(|one| one.to_string() == name)
            .ok_or_else(|| UnknownPrecision(name.to_owned()))
    }
}

/// Stored matrix: in memory, or a view of a mapped file.
#[derive(Clone, Debug)]
pub struct Rows {
    bytes: Bytes,
    rows: usize,
    columns: usize,
    precision: Precision,
}

#[derive(Clone, Debug)]
enum Bytes {
    Mapped(OwnedBytes),
    Held(Arc<[u8]>),
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Mapped(bytes) => bytes,
            Self::Held(bytes) => bytes,
        }
    }
}

impl Rows {
    /// Packs a matrix given row by row.
    ///
    /// # Panics
    ///
    /// If the values do not fill whole rows.
    #[must_use]
    pub fn pack(values: &[f32], columns: usize, precision: Precision) -> Self {
        let rows = values.len().checked_div(columns).unwrap_or(0);
        assert_eq!(values.len(), rows * columns, "ragged matrix");
        let mut bytes = Vec::with_capacity(
            precision
                .bytes(rows, columns)
                .expect("the values are in memory"),
        );
        match precision {
            Precision::F16 => in_order(values, columns, |_, value| {
                bytes.extend(f16::from_f32(value).to_le_bytes())
            }),
            Precision::I8 => {
                let scales: Vec<f32> = values.chunks_exact(columns.max(1)).map(scale_of).collect();
                bytes.extend(scales.iter().flat_map(|scale| scale.to_le_bytes()));
                in_order(values, columns, |row, value| {
                    bytes.push(quantize(value, scales[row]).cast_unsigned())
                });
            }
            Precision::I2 => {
                let mut codes = Vec::with_capacity(values.len());
                in_order(&rotate_rows(values, columns), columns, |_, value| {
                    codes.push(code_of(value))
                });
                let (panels, rest) = codes.split_at(rows / PANEL_ROWS * PANEL_ROWS * columns);
                let rows_of_codes = panels
                    .chunks_exact((PANEL_ROWS * columns).max(1))
                    .chain(rest.chunks_exact(columns.max(1)));
                bytes.extend(
                    rows_of_codes
                        .flat_map(|codes| codes.chunks(NUMBERS_PER_BYTE))
                        .map(byte_of),
                );
            }
        }
        Self {
            bytes: Bytes::Held(bytes.into()),
            rows,
            columns,
            precision,
        }
    }

    /// Creates a view of bytes from [`Rows::bytes`]. Returns `None` if their number is wrong.
    pub(super) fn view(
        bytes: OwnedBytes,
        rows: usize,
        columns: usize,
        precision: Precision,
    ) -> Option<Self> {
        (precision.bytes(rows, columns) == Some(bytes.len())).then(|| Self {
            bytes: Bytes::Mapped(bytes),
            rows,
            columns,
            precision,
        })
    }

    /// Creates rows from [`Rows::bytes`]. Returns `None` if their number is wrong.
    #[must_use]
    pub fn from_bytes(
        bytes: &[u8],
        rows: usize,
        columns: usize,
        precision: Precision,
    ) -> Option<Self> {
        let is_complete = precision.bytes(rows, columns) == Some(bytes.len());
        is_complete.then(|| Self {
            bytes: Bytes::Held(bytes.into()),
            rows,
            columns,
            precision,
        })
    }

    /// Returns the number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Returns the number format.
    #[must_use]
    pub fn precision(&self) -> Precision {
        self.precision
    }

    /// Returns the stored bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the number of panels; the last one may be partial.
    #[must_use]
    pub fn panels(&self) -> usize {
        self.rows.div_ceil(PANEL_ROWS)
    }

    /// Returns true if the rows are stored rotated. Queries must be rotated before they are multiplied with
    /// [expanded](Self::expand) rows.
    #[must_use]
    pub fn is_rotated(&self) -> bool {
        self.precision == Precision::I2
    }

    /// Writes the unscaled numbers of a panel, column by column, and returns the scale factor of each row; 0 for missing rows.
    ///
    /// # Panics
    ///
    /// If `out` does not hold [`PANEL_ROWS`] numbers for each column, or there is no such panel.
    #[inline(always)]
    #[must_use]
    pub fn expand(&self, panel: usize, out: &mut [f32]) -> [f32; PANEL_ROWS] {
        let rows = PANEL_ROWS.min(self.rows - panel * PANEL_ROWS);
        if rows == PANEL_ROWS {
            self.widen(panel * PANEL_ROWS, out);
        } else {
            let mut row = vec![0.0; self.columns];
            out.fill(0.0);
            for lane in 0..rows {
                self.widen(panel * PANEL_ROWS + lane, &mut row);
                for (column, value) in row.iter().enumerate() {
                    out[column * PANEL_ROWS + lane] = *value;
                }
            }
        }
        let mut scales = [0.0; PANEL_ROWS];
        match self.precision {
            Precision::F16 => scales[..rows].fill(1.0),
            Precision::I8 => {
                let numbered = scales[..rows].iter_mut().zip(panel * PANEL_ROWS..);
                numbered.for_each(|(scale, row)| *scale = self.stored_scale(row));
            }
            Precision::I2 => {
                let mut squares = [0.0; PANEL_ROWS];
                for column in out.as_chunks::<PANEL_ROWS>().0 {
                    squares
                        .iter_mut()
                        .zip(column)
                        .for_each(|(sum, value)| *sum += value * value);
                }
                // No level is 0, so no length is.
                scales[..rows]
                    .iter_mut()
                    .zip(squares)
                    .for_each(|(scale, square)| *scale = 1.0 / square.sqrt());
            }
        }
        scales
    }

    /// Writes the unscaled numbers from the start of a row on, in stored order: of a panel or of a row that is in none.
    #[inline(always)]
    fn widen(&self, row: usize, out: &mut [f32]) {
        match self.precision {
            Precision::F16 => {
                let start = row * self.columns * size_of::<f16>();
                widen_halves(&self.bytes[start..start + size_of_val(out) / 2], out);
            }
            Precision::I8 => {
                let start = self.rows * size_of::<f32>() + row * self.columns;
                for (value, byte) in out.iter_mut().zip(&self.bytes[start..]) {
                    *value = f32::from(byte.cast_signed());
                }
            }
            Precision::I2 => {
                let start = Precision::I2
                    .bytes(row, self.columns)
                    .expect("within the matrix");
                let stored = &self.bytes[start..start + out.len().div_ceil(NUMBERS_PER_BYTE)];
                let (whole, rest) = out.as_chunks_mut::<NUMBERS_PER_BYTE>();
                let (bytes, last) = stored.split_at(whole.len());
                for (values, byte) in whole.iter_mut().zip(bytes) {
                    *values = NUMBERS_OF_BYTE[usize::from(*byte)];
                }
                if let Some(byte) = last.first() {
                    rest.copy_from_slice(&NUMBERS_OF_BYTE[usize::from(*byte)][..rest.len()]);
                }
            }
        }
    }

    /// Returns the stored scale factor of a row of [`Precision::I8`].
    #[inline(always)]
    fn stored_scale(&self, row: usize) -> f32 {
        let start = row * size_of::<f32>();
        match self.bytes[start..].first_chunk() {
            Some(bytes) => f32::from_le_bytes(*bytes),
            None => 0.0,
        }
    }

    /// Returns a row, within the precision of the format.
    #[must_use]
    pub fn row(&self, row: usize) -> Vec<f32> {
        let mut values = vec![0.0; self.columns];
        if row < self.rows / PANEL_ROWS * PANEL_ROWS {
            let mut panel = vec![0.0; PANEL_ROWS * self.columns];
            self.widen(row / PANEL_ROWS * PANEL_ROWS, &mut panel);
            let own = panel.iter().skip(row % PANEL_ROWS).step_by(PANEL_ROWS);
            values
                .iter_mut()
                .zip(own)
                .for_each(|(value, number)| *value = *number);
        } else {
            self.widen(row, &mut values);
        }
        let scale = match self.precision {
            Precision::F16 => return values,
            Precision::I8 => self.stored_scale(row),
            Precision::I2 => 1.0 / values.iter().map(|value| value * value).sum::<f32>().sqrt(),
        };
        values.iter_mut().for_each(|value| *value *= scale);
        if self.is_rotated() {
            Rotation::new(self.columns).invert(&mut values);
        }
        values
    }
}

/// Calls `put` with the row and the value of each number, in stored order.
fn in_order(values: &[f32], columns: usize, mut put: impl FnMut(usize, f32)) {
    let whole = values.len().checked_div(columns * PANEL_ROWS).unwrap_or(0);
    for panel in 0..whole {
        for column in 0..columns {
            for row in panel * PANEL_ROWS..(panel + 1) * PANEL_ROWS {
                put(row, values[row * columns + column]);
            }
        }
    }
    for (place, value) in values.iter().enumerate().skip(whole * PANEL_ROWS * columns) {
        put(place / columns, *value);
    }
}

/// Returns rotated rows, in standard deviations of their numbers.
fn rotate_rows(values: &[f32], columns: usize) -> Vec<f32> {
    let rotation = Rotation::new(columns);
    let mut rotated = values.to_vec();
    for row in rotated.chunks_exact_mut(columns.max(1)) {
        rotation.apply(row);
        let length = row.iter().map(|value| value * value).sum::<f32>().sqrt();
        let deviation = length / (columns as f32).sqrt();
        row.iter_mut().for_each(|value| *value /= deviation);
    }
    rotated
}

/// Returns the code of a number given in standard deviations: bit 0 for its sign, bit 1 for its level.
fn code_of(value: f32) -> u8 {
    u8::from(value < 0.0) | u8::from(value.abs() >= LEVEL_BOUNDARY) << 1
}

/// Packs up to four codes, the first one in the lowest bits.
fn byte_of(codes: &[u8]) -> u8 {
    codes.iter().rev().fold(0, |byte, code| byte << 2 | code)
}

const fn numbers_of_byte() -> [[f32; NUMBERS_PER_BYTE]; 256] {
    let mut numbers = [[0.0; NUMBERS_PER_BYTE]; 256];
    let mut place = 0;
    while place < 256 * NUMBERS_PER_BYTE {
        let (byte, number) = (place / NUMBERS_PER_BYTE, place % NUMBERS_PER_BYTE);
        let code = byte >> (2 * number);
        let level = LEVELS[(code >> 1) & 1];
        numbers[byte][number] = if code & 1 == 1 { -level } else { level };
        place += 1;
    }
    numbers
}

fn scale_of(row: &[f32]) -> f32 {
    let largest = row
        .iter()
        .fold(0.0_f32, |largest, value| largest.max(value.abs()));
    largest / f32::from(i8::MAX)
}

/// Returns a value in steps of the scale. NaN becomes 0, as in Rust's casts.
fn quantize(value: f32, scale: f32) -> i8 {
    if scale > 0.0 {
        // At most 127: the scale is that of the largest magnitude of the row.
        (value / scale).round() as i8
    } else {
        0
    }
}

/// Uses a small buffer, because the bytes of a file need not be aligned.
#[inline(always)]
fn widen_halves(stored: &[u8], out: &mut [f32]) {
    use half::slice::HalfFloatSliceExt;
    let mut halves = [f16::ZERO; 256];
    for (stored, out) in stored
        .chunks(2 * halves.len())
        .zip(out.chunks_mut(halves.len()))
    {
        for (half, bytes) in halves.iter_mut().zip(stored.as_chunks().0) {
            *half = f16::from_le_bytes(*bytes);
        }
        halves[..out.len()].convert_to_f32_slice(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: [Precision; 3] = [Precision::F16, Precision::I8, Precision::I2];

    #[test]
    fn small_numbers_by_hand() {
        let values = [1.0, -2.0, 0.0, 127.0, -63.5, 0.25];
        let rows = Rows::pack(&values, 3, Precision::I8);
        assert_eq!((rows.rows(), rows.columns(), rows.panels()), (2, 3, 1));
        assert_eq!(rows.bytes().len(), 2 * 4 + 6);
        assert_eq!(
            rows.bytes()[8..]
                .iter()
                .map(|byte| byte.cast_signed())
                .collect::<Vec<_>>(),
            [64, -127, 0, 127, -64, 0]
        );
        assert_eq!(
            rows.expand(0, &mut [0.0; 3 * PANEL_ROWS])[..3],
            [2.0 / 127.0, 1.0, 0.0]
        );
        let halves = Rows::pack(&values, 3, Precision::F16);
        assert_eq!(
            (halves.row(0), halves.row(1)),
            (values[..3].to_vec(), values[3..].to_vec())
        );
        assert_eq!(halves.bytes().len(), 12);
        for precision in ALL {
            assert_eq!(Rows::pack(&[], 3, precision).panels(), 0);
            if precision != Precision::I2 {
                assert_eq!(Rows::pack(&[0.0; 4], 2, precision).row(1), [0.0, 0.0]);
            }
            assert_eq!(precision.to_string().parse(), Ok(precision));
        }
    }

    #[test]
    fn two_bits_by_hand() {
        // A panel of 16 rows and one row more, of five columns: 20 bytes and two.
        let values: Vec<f32> = (0..17)
            .flat_map(|row| (0..5).map(move |column| if column == row % 5 { 3.0 } else { 0.5 }))
            .collect();
        let rows = Rows::pack(&values, 5, Precision::I2);
        assert_eq!((rows.bytes().len(), rows.panels()), (22, 2));
        assert_eq!(
            [0b00_01_10_11].map(|byte: u8| NUMBERS_OF_BYTE[usize::from(byte)]),
            [[-LEVELS[1], LEVELS[1], -LEVELS[0], LEVELS[0]]]
        );
        for (row, values) in values.chunks(5).enumerate() {
            let read = rows.row(row);
            let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
            assert!(
                (dot(&read, &read) - 1.0).abs() < 1e-5,
                "row {row} has length 1"
            );
            assert!(
                dot(&read, values) / dot(values, values).sqrt() > 0.85,
                "row {row} keeps its direction: {read:?}"
            );
        }
    }

    #[test]
    fn what_is_lost_is_as_stated() {
        // A fixed generator: the documentation contains the numbers of this test.
        let mut state = 1_u64;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f32 / (1 << 23) as f32 - 1.0
        };
        let mut unit = || {
            let row: Vec<f32> = (0..384).map(|_| next()).collect();
            let length = row.iter().map(|x| x * x).sum::<f32>().sqrt();
            row.into_iter().map(|x| x / length).collect::<Vec<_>>()
        };
        let dot = |a: &[f32], b: &[f32]| {
            a.iter()
                .zip(b)
                .map(|(a, b)| f64::from(*a) * f64::from(*b))
                .sum::<f64>()
        };
        let query = unit();
        let mut worst = [0.0_f64; 3];
        for _ in 0..200 {
            let rows: Vec<Vec<f32>> = (0..100).map(|_| unit()).collect();
            for (precision, worst) in ALL.into_iter().zip(&mut worst) {
                let packed = Rows::pack(&rows.concat(), 384, precision);
                for (place, row) in rows.iter().enumerate() {
                    *worst = worst.max((dot(&query, row) - dot(&query, &packed.row(place))).abs());
                }
            }
        }
        assert!(
            worst[0] < 0.0005 && worst[1] < 0.003 && worst[2] < 0.08,
            "{worst:?}"
        );
        assert!(
            worst[0] > 0.000_01 && worst[1] > 0.000_3 && worst[2] > 0.04,
            "the documentation states too much: {worst:?}"
        );
    }

    proptest! {
        #[test]
        fn every_row_comes_back(rows in 0_usize..40, columns in 1_usize..9, seed in 0_u32..100) {
            let values: Vec<f32> = (0..rows * columns).map(|place| ((place as u32 * 7919 + seed) % 255) as f32 / 127.0 - 1.0).collect();
            for (precision, near) in [(Precision::F16, 0.0005), (Precision::I8, 0.004)] {
                let packed = Rows::pack(&values, columns, precision);
                prop_assert_eq!(Some(packed.bytes().len()), precision.bytes(rows, columns));
                for (place, row) in values.chunks_exact(columns).enumerate() {
                    for (a, b) in packed.row(place).iter().zip(row) {
                        prop_assert!((a - b).abs() <= near, "{a} {b}");
                    }
                }
            }
        }
    }
}
