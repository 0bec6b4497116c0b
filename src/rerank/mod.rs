//! Ranking again what was ranked before.
//!
//! [`fusion`] makes several rankings of the same topic one; an [`encoder`] turns texts into vectors, by which documents are
//! compared with a query.

pub mod encoder;
pub mod fusion;

pub use encoder::{EncodeError, Encoder, Granularity, Matrix, Passage, Similarity};
pub use fusion::{Fusion, Method, Normalization, ParseMethodError, Pool};
