//! Generated queries: limits, guards and rewritten paths beside plain Oxigraph, and statistics beside evaluation.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lodeseek_fuzz::queries::{self, GeneratedQuery};
use lodeseek_fuzz::start;
use lodeseek_sparql::Statistics;

fuzz_target!(init: start(), |query: GeneratedQuery| {
    let text = &query.text;
    let Some(evaluated) = queries::guarded(text, Statistics::Never, None) else { return };
    let plain = queries::plain(text).unwrap_or_else(|error| panic!("Oxigraph rejects what the engine answers: {error}\n{text}"));
    assert_eq!(evaluated, plain, "the engine beside Oxigraph\n{text}");
    if let Some(first) = queries::guarded(text, Statistics::First, None) {
        assert_eq!(first, evaluated, "statistics beside evaluation\n{text}");
    }
});
