//! Processing of a network's token vectors: pooling, projection, normalisation. Pure functions of numbers.

use super::ModelError;
use super::model_config::TermPooling;
use crate::term_weights as weights_of_terms;
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
    pub(super) fn from_name(name: &str) -> Option<Self> {
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
        let mut chosen = rows
            .chunks_exact(columns)
            .enumerate()
            .filter(|(place, _)| counted[*place]);
        match self {
            Self::First => rows[..columns].to_vec(),
            Self::Last => match chosen.next_back() {
                Some((_, row)) => row.to_vec(),
                None => vec![0.0; columns],
            },
            Self::Max => {
                // As in sentence-transformers, where masked tokens have this value.
                let mut greatest = vec![-1e9; columns];
                for (_, row) in chosen {
                    for (greatest, value) in greatest.iter_mut().zip(row) {
                        *greatest = value.max(*greatest);
                    }
                }
                greatest
            }
            Self::Mean => {
                let rows = chosen.map(|(_, row)| (1.0, row));
                average_rows(rows, columns, |weights| weights)
            }
            Self::MeanSqrt => {
                let rows = chosen.map(|(_, row)| (1.0, row));
                average_rows(rows, columns, f32::sqrt)
            }
            Self::WeightedMean => {
                let rows = chosen.map(|(place, row)| ((place + 1) as f32, row));
                average_rows(rows, columns, |weights| weights)
            }
        }
    }
}

/// Computes the weighted sum of rows, divided by a function of the sum of weights.
fn average_rows<'r>(
    rows: impl Iterator<Item = (f32, &'r [f32])>,
    columns: usize,
    divisor: impl Fn(f32) -> f32,
) -> Vec<f32> {
    let (mut sum, mut weights) = (vec![0.0; columns], 0.0);
    for (weight, row) in rows {
        weights += weight;
        sum.iter_mut()
            .zip(row)
            .for_each(|(sum, value)| *sum += weight * value);
    }
    // The same lower bound as in sentence-transformers: a text without a counted token has the vector 0.
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
    pub(super) fn from_class(class: &str) -> Option<Self> {
        match class {
            "Identity" => Some(Self::Identity),
            "Tanh" => Some(Self::Tanh),
            "ReLU" => Some(Self::Relu),
            "Sigmoid" => Some(Self::Sigmoid),
            _ => None,
        }
    }

    pub(super) fn apply(self, value: f32) -> f32 {
        match self {
            Self::Identity => value,
            Self::Tanh => value.tanh(),
            Self::Relu => value.max(0.0),
            Self::Sigmoid => 1.0 / (1.0 + (-value).exp()),
        }
    }
}

/// Projection y = activation(W x + b), to which PyLate may add the input itself or another projection of it.
#[derive(Clone, Debug)]
pub(super) struct Dense {
    columns: usize,
    weight: Vec<f32>,
    bias: Vec<f32>,
    activation: Activation,
    residual: Residual,
}

/// Summand of a projection.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Residual {
    Nothing,
    /// The input, if it has as many columns as the output.
    Input,
    /// A projection of the input without bias.
    Projected(Vec<f32>),
}

impl Dense {
    /// Reads `linear.weight`, and `linear.bias` if `biased` is true.
    pub(super) fn read(
        path: &Path,
        biased: bool,
        activation: Activation,
    ) -> Result<Self, ModelError> {
        Self::read_with_residual(path, biased, activation, false)
    }

    /// Reads `linear.weight`, `linear.bias` if `biased` is true, and `residual.weight` if there is a residual and input and output
    /// have different numbers of columns.
    pub(super) fn read_with_residual(
        path: &Path,
        biased: bool,
        activation: Activation,
        has_residual: bool,
    ) -> Result<Self, ModelError> {
        let bytes = std::fs::read(path).map_err(|cause| ModelError::file(path, cause))?;
        let tensors =
            SafeTensors::deserialize(&bytes).map_err(|cause| ModelError::file(path, cause))?;
        let (shape, weight) = read_tensor(&tensors, "linear.weight")
            .map_err(|cause| ModelError::file(path, cause))?;
        let [rows, columns] = shape[..] else {
            return Err(ModelError::file(
                path,
                format!("linear.weight has the shape {shape:?}, not rows and columns"),
            ));
        };
        let bias = if biased {
            read_tensor(&tensors, "linear.bias")
                .map_err(|cause| ModelError::file(path, cause))?
                .1
        } else {
            vec![0.0; rows]
        };
        if bias.len() != rows || columns == 0 {
            return Err(ModelError::file(
                path,
                "linear.weight and linear.bias do not fit together",
            ));
        }
        let residual = match has_residual {
            false => Residual::Nothing,
            true if rows == columns => Residual::Input,
            true => {
                let read = read_tensor(&tensors, "residual.weight")
                    .map_err(|cause| ModelError::file(path, cause))?;
                if read.0 != shape {
                    return Err(ModelError::file(
                        path,
                        "linear.weight and residual.weight do not fit together",
                    ));
                }
                Residual::Projected(read.1)
            }
        };
        Ok(Self {
            columns,
            weight,
            bias,
            activation,
            residual,
        })
    }

    pub(super) fn rows(&self) -> usize {
        self.bias.len()
    }

    pub(super) fn columns(&self) -> usize {
        self.columns
    }

    /// Projects each row.
    pub(super) fn apply(&self, rows: &[f32]) -> Vec<f32> {
        let mut projected = Vec::with_capacity(rows.len() / self.columns * self.rows());
        for row in rows.chunks_exact(self.columns) {
            for (place, (weights, bias)) in self
                .weight
                .chunks_exact(self.columns)
                .zip(&self.bias)
                .enumerate()
            {
                let residual = match &self.residual {
                    Residual::Nothing => 0.0,
                    Residual::Input => row[place],
                    Residual::Projected(weight) => {
                        dot(&weight[place * self.columns..][..self.columns], row)
                    }
                };
                projected.push(self.activation.apply(dot(weights, row) + bias) + residual);
            }
        }
        projected
    }

    pub(super) fn digest(&self, digest: &mut Sha256) {
        digest.update(format!(
            "dense {} {} {:?}",
            self.rows(),
            self.columns,
            self.activation
        ));
        self.weight
            .iter()
            .chain(&self.bias)
            .for_each(|value| digest.update(value.to_le_bytes()));
        match &self.residual {
            Residual::Nothing => {}
            Residual::Input => digest.update("residual"),
            Residual::Projected(weight) => weight
                .iter()
                .for_each(|value| digest.update(value.to_le_bytes())),
        }
    }
}

type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Reads a tensor as numbers: its shape, and its values in row-major order.
pub(super) fn read_tensor(
    tensors: &SafeTensors<'_>,
    name: &str,
) -> Result<(Vec<usize>, Vec<f32>), Cause> {
    let view = tensors.tensor(name)?;
    let values = match view.dtype() {
        Dtype::F32 => view
            .data()
            .as_chunks()
            .0
            .iter()
            .map(|bytes| f32::from_le_bytes(*bytes))
            .collect(),
        Dtype::F16 => view
            .data()
            .as_chunks()
            .0
            .iter()
            .map(|bytes| f16::from_le_bytes(*bytes).to_f32())
            .collect(),
        Dtype::BF16 => view
            .data()
            .as_chunks()
            .0
            .iter()
            .map(|bytes| bf16::from_le_bytes(*bytes).to_f32())
            .collect(),
        Dtype::F64 => view
            .data()
            .as_chunks()
            .0
            .iter()
            .map(|bytes| f64::from_le_bytes(*bytes) as f32)
            .collect(),
        Dtype::I8 => view
            .data()
            .iter()
            .map(|byte| f32::from(byte.cast_signed()))
            .collect(),
        other => {
            return Err(
                format!("{name} holds {other:?}; F64, F32, F16, BF16 and I8 can be read").into(),
            );
        }
    };
    Ok((view.shape().to_vec(), values))
}

/// Reads a tensor of row numbers.
pub(super) fn read_rows(tensors: &SafeTensors<'_>, name: &str) -> Result<Vec<usize>, Cause> {
    let view = tensors.tensor(name)?;
    let numbers: Vec<i64> = match view.dtype() {
        Dtype::I64 => view
            .data()
            .as_chunks()
            .0
            .iter()
            .map(|bytes| i64::from_le_bytes(*bytes))
            .collect(),
        Dtype::I32 => view
            .data()
            .as_chunks()
            .0
            .iter()
            .map(|bytes| i64::from(i32::from_le_bytes(*bytes)))
            .collect(),
        other => return Err(format!("{name} holds {other:?}; I64 and I32 can be read").into()),
    };
    numbers
        .into_iter()
        .map(|number| usize::try_from(number).map_err(Cause::from))
        .collect()
}

/// Maximum number of terms of a text; those with the largest weights are kept.
const MAX_TERMS: usize = 1024;

/// Returns the rows of the terms with a positive weight, by the logits of all terms at each token: the greatest, or the sum, of
/// ln(1 + max(0, logit)).
pub(super) fn term_weights(logits: &[f32], terms: usize, pooling: TermPooling) -> Vec<f32> {
    let mut weights = vec![0.0_f32; terms];
    for row in logits.chunks_exact(terms) {
        for (weight, logit) in weights
            .iter_mut()
            .zip(row)
            .filter(|(_, logit)| **logit > 0.0)
        {
            let once = logit.ln_1p();
            let activated = if pooling.is_log_twice {
                once.ln_1p()
            } else {
                once
            };
            *weight = if pooling.is_sum {
                *weight + activated
            } else {
                weight.max(activated)
            };
        }
    }
    let mut weighted: Vec<(u32, f32)> = (0..)
        .zip(weights)
        .filter(|(_, weight)| *weight > 0.0)
        .collect();
    if weighted.len() > MAX_TERMS {
        weighted.select_nth_unstable_by(MAX_TERMS, |a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        weighted.truncate(MAX_TERMS);
        // In the order without a maximum.
        weighted.sort_unstable_by_key(|(term, _)| *term);
    }
    weighted
        .into_iter()
        .flat_map(|(term, weight)| weights_of_terms::row(term, weight))
        .collect()
}

/// Computes an inner product with eight parallel sums, so that the compiler can use vector registers.
fn dot(left: &[f32], right: &[f32]) -> f32 {
    let mut sums = [0.0f32; 8];
    let (lefts, rights) = (left.chunks_exact(8), right.chunks_exact(8));
    let rest: f32 = lefts
        .remainder()
        .iter()
        .zip(rights.remainder())
        .map(|(left, right)| left * right)
        .sum();
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
        // The lower bound of PyTorch's `normalize`.
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
        assert_eq!(
            pooled(Pooling::MeanSqrt),
            [9.0 / 3f32.sqrt(), 2.0 / 3f32.sqrt()]
        );
        assert_eq!(pooled(Pooling::WeightedMean), [22.0 / 6.0, 1.0]);
    }

    #[test]
    fn a_projection_by_hand() {
        let dense = Dense {
            columns: 2,
            weight: vec![1.0, 0.0, 2.0, -1.0, 0.0, 1.0],
            bias: vec![0.0, 0.5, -9.0],
            activation: Activation::Relu,
            residual: Residual::Nothing,
        };
        assert_eq!(
            dense.apply(&[1.0, 2.0, 3.0, 4.0]),
            [1.0, 0.5, 0.0, 3.0, 2.5, 0.0]
        );
        let projected = Dense {
            residual: Residual::Projected(vec![0.0, 1.0, 0.0, 0.0, 1.0, 1.0]),
            ..dense
        };
        assert_eq!(projected.apply(&[1.0, 2.0]), [3.0, 0.5, 3.0]);
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
