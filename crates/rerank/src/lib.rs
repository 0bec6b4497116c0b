#![doc = include_str!("../README.md")]

pub mod colbert;
mod combination;
pub mod dpr;
pub mod encoder;
pub mod fusion;
mod product;
mod signs;
pub mod term_weights;

pub use combination::{Combination, UnknownCombination};
pub use encoder::{EncodeError, Encoder, Granularity, Matrix, PairScorer, Passage, Similarity};
pub use fusion::{Contribution, Fusion, Method, Normalization, ParseMethodError, Pool};
pub use product::Query;
pub use signs::SignRows;
