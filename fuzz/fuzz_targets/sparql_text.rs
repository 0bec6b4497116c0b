//! SPARQL as text, as a visitor sends it, with source selection. The input is the query.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lodeseek_fuzz::{queries, start};
use lodeseek_sparql::{QueryRequest, SparqlError, Statistics};

fuzz_target!(init: start(), |data: &[u8]| {
    let Ok(query) = str::from_utf8(data) else { return };
    let limits = queries::limits(Statistics::First);
    let engine = queries::engine();
    let _ = engine.sources(query, &limits);
    let request = QueryRequest { query: query.to_owned(), ..QueryRequest::default() };
    if let Err(SparqlError::Deadline(_) | SparqlError::Busy(_)) = engine.evaluate(&request, &limits) {
        // A cancelled query must end and give its permit back.
        let next = QueryRequest { query: "ASK { ?a ?p ?b . ?b ?q ?c }".to_owned(), ..QueryRequest::default() };
        let limits = lodeseek_sparql::SparqlLimits { concurrent: 1, queue_timeout: std::time::Duration::from_secs(10), ..limits };
        assert!(!matches!(engine.evaluate(&next, &limits), Err(SparqlError::Busy(_))), "a cancelled query goes on: {query}");
    }
});
