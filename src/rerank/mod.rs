//! Ranking again what was ranked before.
//!
//! So far one way: [`fusion`], several rankings of the same topic made one.

pub mod fusion;

pub use fusion::{Fusion, Method, Normalization, ParseMethodError, Pool};
