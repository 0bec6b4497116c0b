//! Processing of a network's token vectors: pooling, projection, normalisation. Pure functions of numbers.

use super::ModelError;
use half::{bf16, f16};
use safetensors::{Dtype, SafeTensors};
use sha2::{Digest, Sha256};
use std::path::Path;

/// Pooling of token vectors, as in sentence-transformers.
///
/// Its `Debug` form is part of the encoder's fingerprint: do not rename variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pooling {
    /// Vector of the first token.
    First,
    /// Maximum of each column.
    Max,
    /// Mean of each column.
    Mean,
    /// Sum divided by the square root of the number of tokens.
    MeanSqrt,
    /// Mean weighted by position; the first token has weight 1.
    WeightedMean,
    /// Vector of the last token.
    Last,
}

impl Pooling {
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "cls" => Some(Self::First),
            "max" => Some(Self::Max),
            "mean" => Some(Self::Mean),
            "mean_sqrt_len_tokens" => Some(Self::MeanSqrt),
            "weightedmean" => Some(Self::WeightedMean),
            "lasttoken" => Some(Self::Last),
            _ => None,
        }
    }

    /// Pools the counted rows. `First` uses the first row even if it is not counted.
    pub(super) fn apply(self, rows: &[f32], columns: usize, counted: &[bool]) -> Vec<f32> {
        let chosen = || rows.chunks_exact(columns).enumerate().filter(|(place, _)| counted[*place]);
        match self {
            Self::First => rows[..columns].to_vec(),
            Self::Last => chosen().next_back().map_or_else(|| vec![0.0; columns], |(_, row)| row.to_vec()),
            Self::Max => chosen().fold(vec![-1e9; columns], |mut greatest, (_, row)| {
                greatest.iter_mut().zip(row).for_each(|(greatest, value)| *greatest = value.max(*greatest));
                greatest
            }),
            Self::Mean => weighted(chosen().map(|(_, row)| (1.0, row)), columns, |weights| weights),
            Self::MeanSqrt => weighted(chosen().map(|(_, row)| (1.0, row)), columns, f32::sqrt),
            Self::WeightedMean => {
                weighted(chosen().map(|(place, row)| ((place + 1) as f32, row)), columns, |weights| weights)
            }
        }
    }
}

/// Computes the weighted sum of rows, divided by a function of the sum of weights.
fn weighted<'r>(
    rows: impl Iterator<Item = (f32, &'r [f32])>,
    columns: usize,
    divisor: impl Fn(f32) -> f32,
) -> Vec<f32> {
    let (mut sum, mut weights) = (vec![0.0; columns], 0.0);
    for (weight, row) in rows {
        weights += weight;
        sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += weight * value);
    }
    let divisor = divisor(f32::max(weights, 1e-9));
    sum.iter_mut().for_each(|value| *value /= divisor);
    sum
}

/// Activation function of a projection.
///
/// Its `Debug` form is part of the encoder's fingerprint: do not rename variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Activation {
    Identity,
    Tanh,
    Relu,
    Sigmoid,
}

impl Activation {
    /// Returns the activation of a PyTorch class name.
    pub(super) fn named(class: &str) -> Option<Self> {
        match class {
            "Identity" => Some(Self::Identity),
            "Tanh" => Some(Self::Tanh),
            "ReLU" => Some(Self::Relu),
            "Sigmoid" => Some(Self::Sigmoid),
            _ => None,
        }
    }

    fn apply(self, value: f32) -> f32 {
        match self {
            Self::Identity => value,
            Self::Tanh => value.tanh(),
            Self::Relu => value.max(0.0),
            Self::Sigmoid => 1.0 / (1.0 + (-value).exp()),
        }
    }
}

/// Projection y = activation(W x + b).
#[derive(Clone, Debug)]
pub(super) struct Dense {
    columns: usize,
    weight: Vec<f32>,
    bias: Vec<f32>,
    activation: Activation,
}

impl Dense {
    /// Reads `linear.weight`, and `linear.bias` if `biased` is true.
    pub(super) fn read(path: &Path, biased: bool, activation: Activation) -> Result<Self, ModelError> {
        let bytes = std::fs::read(path).map_err(|cause| ModelError::file(path, cause))?;
        let tensors = SafeTensors::deserialize(&bytes).map_err(|cause| ModelError::file(path, cause))?;
        let (shape, weight) = tensor(&tensors, "linear.weight").map_err(|cause| ModelError::file(path, cause))?;
        let [rows, columns] = shape[..] else {
            return Err(ModelError::file(path, format!("linear.weight has the shape {shape:?}, not rows and columns")));
        };
        let bias = if biased {
            tensor(&tensors, "linear.bias").map_err(|cause| ModelError::file(path, cause))?.1
        } else {
            vec![0.0; rows]
        };
        if bias.len() != rows || columns == 0 {
            return Err(ModelError::file(path, "linear.weight and linear.bias do not fit together"));
        }
        Ok(Self { columns, weight, bias, activation })
    }

    pub(super) fn rows(&self) -> usize {
        self.bias.len()
    }

    pub(super) fn columns(&self) -> usize {
        self.columns
    }

    /// Projects each row.
    pub(super) fn apply(&self, rows: &[f32]) -> Vec<f32> {
        let project = |row| {
            let outputs = self.weight.chunks_exact(self.columns).zip(&self.bias);
            outputs.map(move |(weights, bias)| self.activation.apply(dot(weights, row) + bias))
        };
        rows.chunks_exact(self.columns).flat_map(project).collect()
    }

    pub(super) fn digest(&self, digest: &mut Sha256) {
        digest.update(format!("dense {} {} {:?}", self.rows(), self.columns, self.activation));
        self.weight.iter().chain(&self.bias).for_each(|value| digest.update(value.to_le_bytes()));
    }
}

type Cause = Box<dyn std::error::Error + Send + Sync>;

fn tensor(tensors: &SafeTensors<'_>, name: &str) -> Result<(Vec<usize>, Vec<f32>), Cause> {
    let view = tensors.tensor(name)?;
    let two = |bytes: &[u8]| [bytes[0], bytes[1]];
    let values = match view.dtype() {
        Dtype::F32 => view
            .data()
            .chunks_exact(4)
            .map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
            .collect(),
        Dtype::F16 => view.data().chunks_exact(2).map(|bytes| f16::from_le_bytes(two(bytes)).to_f32()).collect(),
        Dtype::BF16 => view.data().chunks_exact(2).map(|bytes| bf16::from_le_bytes(two(bytes)).to_f32()).collect(),
        other => return Err(format!("{name} holds {other:?}; F32, F16 and BF16 can be read").into()),
    };
    Ok((view.shape().to_vec(), values))
}

/// Computes an inner product with eight parallel sums, so that the compiler can use vector registers.
fn dot(left: &[f32], right: &[f32]) -> f32 {
    let mut sums = [0.0f32; 8];
    let (lefts, rights) = (left.chunks_exact(8), right.chunks_exact(8));
    let rest: f32 = lefts.remainder().iter().zip(rights.remainder()).map(|(left, right)| left * right).sum();
    for (left, right) in lefts.zip(rights) {
        for lane in 0..8 {
            sums[lane] += left[lane] * right[lane];
        }
    }
    sums.iter().sum::<f32>() + rest
}

/// Normalises each row to length 1; a row of zeros is unchanged.
pub(super) fn normalize(rows: &mut [f32], columns: usize) {
    for row in rows.chunks_exact_mut(columns) {
        let length = dot(row, row).sqrt().max(1e-12);
        row.iter_mut().for_each(|value| *value /= length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: [f32; 8] = [1.0, -2.0, 3.0, 4.0, 5.0, 0.0, 100.0, 100.0];
    const COUNTED: [bool; 4] = [true, true, true, false];

    #[test]
    fn pooling_by_hand() {
        let pooled = |pooling: Pooling| pooling.apply(&ROWS, 2, &COUNTED);
        assert_eq!(pooled(Pooling::First), [1.0, -2.0]);
        assert_eq!(pooled(Pooling::Last), [5.0, 0.0]);
        assert_eq!(pooled(Pooling::Max), [5.0, 4.0]);
        assert_eq!(pooled(Pooling::Mean), [3.0, 2.0 / 3.0]);
        assert_eq!(pooled(Pooling::MeanSqrt), [9.0 / 3f32.sqrt(), 2.0 / 3f32.sqrt()]);
        assert_eq!(pooled(Pooling::WeightedMean), [22.0 / 6.0, 1.0]);
    }

    #[test]
    fn a_projection_by_hand() {
        let dense = Dense {
            columns: 2,
            weight: vec![1.0, 0.0, 2.0, -1.0, 0.0, 1.0],
            bias: vec![0.0, 0.5, -9.0],
            activation: Activation::Relu,
        };
        assert_eq!(dense.apply(&[1.0, 2.0, 3.0, 4.0]), [1.0, 0.5, 0.0, 3.0, 2.5, 0.0]);
    }

    #[test]
    fn long_rows_and_their_remainders() {
        let row: Vec<f32> = (1..=19u8).map(f32::from).collect();
        assert_eq!(dot(&row, &row), 2470.0);
        let mut rows = [3.0, 4.0, 0.0, 0.0];
        normalize(&mut rows, 2);
        assert_eq!(rows, [0.6, 0.8, 0.0, 0.0]);
    }
}
