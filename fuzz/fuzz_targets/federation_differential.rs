//! Generated queries with `SERVICE`: bound joins beside Oxigraph, which sends each pattern whole.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lodeseek_fuzz::queries::{self, FederatedQuery, TextService};
use lodeseek_fuzz::start;
use lodeseek_sparql::Statistics;
use std::sync::Arc;

fuzz_target!(init: start(), |query: FederatedQuery| {
    let text = &query.text;
    let Some(federated) = queries::guarded(text, Statistics::First, Some(Arc::new(TextService))) else { return };
    let plain = queries::plain(text).unwrap_or_else(|error| panic!("Oxigraph rejects what the engine answers: {error}\n{text}"));
    assert_eq!(federated, plain, "bound joins beside whole patterns\n{text}");
});
