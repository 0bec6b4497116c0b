//! The commands of the program, one file each.

pub(crate) mod evaluate_snippets;
pub(crate) mod fuse;
pub(crate) mod interleave;
pub(crate) mod reproduce;
pub(crate) mod tag;
pub(crate) mod training_data;
pub(crate) mod tune_fields;
