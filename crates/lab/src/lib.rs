//! Experiments: tables of papers reproduced, models tuned, training data written, papers tagged.
//!
//! [`reproduce`] computes the scores of a condition and compares them with the expected ones. [`training`] writes training
//! data for encoders. [`tagger`] finds datasets that papers mention. [`neighbors`] holds nearest neighbours, singular value
//! decomposition and maps of vectors.

pub mod neighbors;
pub mod reproduce;
pub mod tagger;
pub mod training;
