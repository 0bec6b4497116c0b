//! Integration tests: what the modules promise each other, and what the whole promises its users.
//!
//! Everything runs in temporary folders, on `testdata/` or on data written by the test itself; nothing is fetched. Tests
//! that need a store on disk, or the real program, are built only with the feature `rocksdb`.

mod snippet;
mod support;

#[cfg(feature = "rocksdb")]
mod acordar_layout;
mod admin;
mod architecture;
mod catalogs;
mod catalog_feed;
mod ckan;
mod class_tables;
#[cfg(feature = "rocksdb")]
mod cli;
#[cfg(all(target_os = "linux", feature = "rocksdb"))]
mod cluster;
#[cfg(feature = "rocksdb")]
mod closed_output;
#[cfg(feature = "rocksdb")]
mod collection;
#[cfg(feature = "rocksdb")]
mod config;
#[cfg(all(unix, feature = "rocksdb"))]
mod crash;
mod coverage;
mod described_terms;
mod duplicates;
mod edits;
mod endpoints;
mod entities;
#[cfg(feature = "rocksdb")]
mod evaluate;
#[cfg(feature = "rocksdb")]
mod experiments;
mod federation;
mod files;
mod filter;
mod harvest;
mod http;
#[cfg(feature = "rocksdb")]
mod identity;
#[cfg(all(feature = "rocksdb", feature = "onnx"))]
mod mcp;
mod markup;
mod models;
mod named_graphs;
mod openapi;
mod operator;
mod operator_forms;
mod outgoing_values;
#[cfg(all(target_os = "linux", feature = "rocksdb"))]
mod overload;
mod pages;
#[cfg(all(target_os = "linux", feature = "rocksdb"))]
mod parsing;
mod profiles;
mod protocol;
mod public_url;
mod quality;
mod query_syntax;
mod ranking;
mod rdf12;
#[cfg(feature = "rocksdb")]
mod rebase;
mod rerank;
#[cfg(all(unix, feature = "rocksdb"))]
mod restored;
mod search_service;
mod similar;
#[cfg(all(unix, feature = "rocksdb"))]
mod serving;
#[cfg(all(unix, feature = "rocksdb"))]
mod snapshots;
mod stream;
mod survey;
mod tables;
mod testdata;
mod translations;
mod update;
mod vocabulary;
#[cfg(all(target_os = "linux", feature = "rocksdb"))]
mod workers;
#[cfg(all(feature = "rocksdb", feature = "onnx"))]
mod works;
