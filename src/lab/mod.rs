//! Research commands, built with the feature `lab` alone.

pub(crate) mod evaluate_snippets;
pub(crate) mod fuse;
pub(crate) mod reproduce;
pub(crate) mod tag;
pub(crate) mod training_data;
pub(crate) mod tune;
