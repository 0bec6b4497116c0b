//! Integration tests of the laboratory: its library on whole homes and conditions, and its program as people run it.
//!
//! Everything runs in temporary folders, on `testdata/` or on data written by the test itself; nothing is fetched.
#![cfg(feature = "rocksdb")]

mod published_layout;
mod reproduce;
mod reranking;
mod snippets;
mod support;
mod tagging;
mod training;
mod tune_fields;
