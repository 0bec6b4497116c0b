//! Ranking again what was ranked before.
//!
//! [`fusion`] makes several rankings of the same topic one; an [`encoder`] turns texts into vectors, by which documents are
//! compared with a query: [`dpr`] and [`colbert`] are pure functions of a query's vectors and a document's as they are
//! stored, and a [`Combination`] makes the scores of its two texts one.

pub mod colbert;
mod combination;
pub mod dpr;
pub mod encoder;
pub mod fusion;
mod product;

pub use combination::{Combination, UnknownCombination};
pub use encoder::{EncodeError, Encoder, Granularity, Matrix, Passage, Similarity};
pub use fusion::{Fusion, Method, Normalization, ParseMethodError, Pool};
pub use product::Query;
