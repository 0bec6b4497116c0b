//! Lodeseek: a search engine for RDF and Linked Open Data *datasets*.
//!
//! Read the modules downward, as data travels: a dump is read ([`rdf`]) for a dataset that a catalogue describes
//! ([`catalog`]), put into a store ([`store`]), counted ([`profile`]), judged ([`quality`]), summed up in a few triples ([`graph`],
//! [`snippet`]), turned into documents ([`document`]), indexed ([`index`]), scored ([`sparse`], [`ranking`]) and ranked
//! again ([`rerank`]). The [`engine`] is the only room where the stages meet; [`eval`] judges rankings and knows nothing
//! of where they come from; [`reproduce`] holds experiments against the scores expected of them; [`training`] makes what
//! encoders are trained on; [`server`] and [`cli`] are the faces. Beside the road stand [`neighbors`], vectors of texts and what is near them, and the [`tagger`], which
//! finds a catalogue's datasets in what papers say. What the program asks of others goes out through [`egress`] alone,
//! SPARQL queries by way of [`remote`]; content that stays at an endpoint is counted and sampled by the [`survey`]; catalogues
//! of the web come in by the [`harvest`].
//!
//! Every module imports only from modules above it; `src/tests/architecture.rs` holds the table.

pub mod rdf;
pub mod egress;
pub mod catalog;
pub mod ranking;
pub mod neighbors;
pub mod tagger;
pub mod remote;
pub mod survey;
pub mod harvest;
pub mod store;
pub mod profile;
pub mod quality;
pub mod graph;
pub mod snippet;
pub mod document;
pub mod index;
pub mod sparse;
pub mod rerank;
pub mod engine;
pub mod eval;
pub mod reproduce;
pub mod training;
pub mod server;
pub mod cli;
