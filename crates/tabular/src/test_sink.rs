//! Sink of triples for tests.

use lodeseek_rdf::TripleSink;
use oxrdf::TripleRef;

/// The triples that were inserted, as texts.
#[derive(Default)]
pub(crate) struct Collected(pub(crate) Vec<String>);

impl TripleSink for Collected {
    fn start_file(&mut self) {}

    fn insert_triple(&mut self, triple: TripleRef<'_>) {
        self.0.push(triple.to_string());
    }
}
