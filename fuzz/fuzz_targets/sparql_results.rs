//! Responses of SPARQL endpoints: rows and booleans in XML and JSON, graphs in several syntaxes. The first byte chooses.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lodeseek_fuzz::start;
use lodeseek_net::sparql_client::fuzzing::{read_boolean, read_graph, read_rows};

/// Maximum number of rows.
const MAX_ROWS: u64 = 1_000;
const MEDIA_TYPES: [&str; 4] = [
    "application/rdf+xml",
    "text/turtle",
    "application/n-triples",
    "text/html",
];

fuzz_target!(init: start(), |data: &[u8]| {
    let Some((first, body)) = data.split_first() else { return };
    match usize::from(*first) % 8 {
        0 => drop(read_boolean(body.to_vec())),
        choice @ 1..=4 => drop(read_graph(MEDIA_TYPES[choice - 1], body, MAX_ROWS)),
        _ => {
            let Ok(rows) = read_rows(body.to_vec(), MAX_ROWS) else { return };
            assert!(rows.len() as u64 <= MAX_ROWS);
        }
    }
});
