//! Inner products of query rows with the rows of a stored matrix, in panels of sixteen rows.
//!
//! Each product is one sum in the order of the columns, independent of the processor's vector width, which is detected at run
//! time. Processors with fused multiply-add give bit-identical results.

use super::Matrix;
use lodeseek_index::vectors::{PANEL_ROWS, Rotation, Rows};
use pulp::{Arch, Simd, WithSimd};
use std::sync::OnceLock;

/// Number of query rows multiplied together: enough sums to use all execution units, few enough to fit the registers.
const TILE_ROWS: usize = 8;

/// Query vectors in the memory layout of the multiplication: tile by tile, each column by column.
#[derive(Clone, Debug)]
pub struct Query {
    rows: usize,
    columns: usize,
    tiles: Vec<f32>,
    /// The tiles of the rotated rows. All stored rows with the same number of columns have the same rotation.
    rotated: OnceLock<Vec<f32>>,
}

impl Query {
    /// Copies the rows of a matrix into the layout.
    #[must_use]
    pub fn new(matrix: &Matrix) -> Self {
        Self {
            rows: matrix.rows(),
            columns: matrix.columns(),
            tiles: copy_tiles(
                (0..matrix.rows()).map(|row| matrix.row(row)),
                matrix.columns(),
            ),
            rotated: OnceLock::new(),
        }
    }

    /// Returns a row.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    #[must_use]
    pub fn row(&self, row: usize) -> Vec<f32> {
        assert!(row < self.rows, "row {row} of {}", self.rows);
        let start = row / TILE_ROWS * TILE_ROWS * self.columns + row % TILE_ROWS;
        self.tiles[start..]
            .iter()
            .step_by(TILE_ROWS)
            .take(self.columns)
            .copied()
            .collect()
    }

    /// Returns the tiles of the rotated rows.
    fn rotated_tiles(&self) -> &Vec<f32> {
        self.rotated.get_or_init(|| {
            let rotation = Rotation::new(self.columns);
            let rows: Vec<Vec<f32>> = (0..self.rows)
                .map(|row| {
                    let mut values = self.row(row);
                    rotation.apply(&mut values);
                    values
                })
                .collect();
            copy_tiles(rows.iter().map(Vec::as_slice), self.columns)
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
}

/// Copies rows into tiles.
fn copy_tiles<'r>(rows: impl ExactSizeIterator<Item = &'r [f32]>, columns: usize) -> Vec<f32> {
    let mut tiles = vec![0.0; rows.len().next_multiple_of(TILE_ROWS) * columns];
    for (row, values) in rows.enumerate() {
        let start = row / TILE_ROWS * TILE_ROWS * columns + row % TILE_ROWS;
        for (column, value) in values.iter().enumerate() {
            tiles[start + column * TILE_ROWS] = *value;
        }
    }
    tiles
}

/// Receiver of inner products.
pub(super) trait Sink {
    /// Receives the products of a query row with the `rows` rows of a panel. Products beyond `rows` are negative infinity.
    fn take(&mut self, row: usize, panel: usize, rows: usize, products: &[f32; PANEL_ROWS]);
}

/// Passes all products to a sink: panels in order, and query rows in order within each panel.
///
/// # Panics
///
/// If query and matrix have different numbers of columns.
pub(super) fn products(query: &Query, rows: &Rows, sink: &mut impl Sink) {
    if query.rows == 0 || rows.rows() == 0 {
        return;
    }
    assert_eq!(
        query.columns,
        rows.columns(),
        "query and document vectors have different dimensions: they come from different models"
    );
    let tiles = if rows.is_rotated() {
        query.rotated_tiles()
    } else {
        &query.tiles
    };
    Arch::new().dispatch(Products {
        query,
        tiles,
        rows,
        sink,
    });
}

struct Products<'p, S> {
    query: &'p Query,
    /// Tiles of the query, rotated like the rows.
    tiles: &'p [f32],
    rows: &'p Rows,
    sink: &'p mut S,
}

impl<K: Sink> WithSimd for Products<'_, K> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let mut panel = vec![0.0; PANEL_ROWS * self.query.columns];
        let mut sums = [0.0; TILE_ROWS * PANEL_ROWS];
        for number in 0..self.rows.panels() {
            let scales = self.rows.expand(number, &mut panel);
            let rows = PANEL_ROWS.min(self.rows.rows() - number * PANEL_ROWS);
            for (place, tile) in self
                .tiles
                .chunks_exact(TILE_ROWS * self.query.columns)
                .enumerate()
            {
                multiply(simd, tile, &panel, &mut sums);
                let tile_rows = TILE_ROWS.min(self.query.rows - place * TILE_ROWS);
                for (row, products) in sums
                    .as_chunks_mut::<PANEL_ROWS>()
                    .0
                    .iter_mut()
                    .take(tile_rows)
                    .enumerate()
                {
                    for (product, scale) in products.iter_mut().zip(&scales) {
                        *product *= scale;
                    }
                    // No maximum is at a row that does not exist.
                    products[rows..].fill(f32::NEG_INFINITY);
                    self.sink
                        .take(place * TILE_ROWS + row, number, rows, products);
                }
            }
        }
    }
}

/// Multiplies a tile of the query with a panel: `TILE_ROWS` rows of `PANEL_ROWS` sums.
#[inline(always)]
fn multiply<S: Simd>(
    simd: S,
    tile: &[f32],
    panel: &[f32],
    out: &mut [f32; TILE_ROWS * PANEL_ROWS],
) {
    let vectors = PANEL_ROWS / S::F32_LANES;
    let (panel, _) = S::as_simd_f32s(panel);
    let (out, _) = S::as_mut_simd_f32s(out.as_mut_slice());
    for vector in 0..vectors {
        let mut sums = [simd.splat_f32s(0.0); TILE_ROWS];
        for (factors, values) in tile
            .as_chunks::<TILE_ROWS>()
            .0
            .iter()
            .zip(panel.chunks_exact(vectors))
        {
            for (sum, factor) in sums.iter_mut().zip(factors) {
                *sum = simd.mul_add_e_f32s(simd.splat_f32s(*factor), values[vector], *sum);
            }
        }
        for (row, sum) in sums.into_iter().enumerate() {
            out[row * vectors + vector] = sum;
        }
    }
}
