//! Joins the answers of two SPARQL endpoints on this machine.
//!
//! ```text
//! cargo run -p lodeseek-engine --example bound_join -- http://localhost:7878/sparql http://localhost:7879/sparql
//! ```
//!
//! The titles of the first endpoint are sent to the second one in blocks of `VALUES`; no endpoint is read whole.

#![expect(clippy::print_stdout, reason = "an example prints its result")]

use lodeseek_catalog::Iris;
use lodeseek_engine::Federation;
use lodeseek_net::egress::{Egress, EgressPolicy};
use lodeseek_net::sparql_client::{ClientOptions, SparqlClient};
use lodeseek_sparql::{Answer, QueryEngine, QueryRequest, SparqlLimits};
use lodeseek_store::Store;
use std::error::Error;
use std::sync::Arc;

/// Titles that datasets of both endpoints have in common.
const QUERY: &str = "SELECT ?title ?here ?there {
  SERVICE <ENDPOINT_1> { ?here <http://purl.org/dc/terms/title> ?title }
  SERVICE <ENDPOINT_2> { ?there <http://purl.org/dc/terms/title> ?title }
}";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [first, second] = &arguments[..] else {
        return Err("usage: bound_join ENDPOINT_1 ENDPOINT_2".into());
    };

    // Requests are limited to the two endpoints. Loopback addresses are permitted for IRIs of the allow list only.
    let policy = EgressPolicy {
        listed: vec![first.parse()?, second.parse()?],
        private_networks: vec!["127.0.0.0/8".parse()?, "::1/128".parse()?],
        ..EgressPolicy::default()
    };
    let client = Arc::new(SparqlClient::new(
        Arc::new(Egress::new(policy)),
        ClientOptions::default(),
    ));

    let folder = tempfile::tempdir()?;
    let store = Store::in_memory(folder.path(), Iris::new(Iris::DEFAULT_BASE)?)?;
    let engine = QueryEngine::new(Arc::new(store));
    let limits = SparqlLimits::default();
    let request = QueryRequest {
        query: QUERY
            .replace("ENDPOINT_1", first)
            .replace("ENDPOINT_2", second),
        services: Some(Arc::new(
            Federation::new(&engine, limits.clone()).with_endpoints(client),
        )),
        ..QueryRequest::default()
    };
    let Answer::Solutions { rows, .. } = engine.evaluate(&request, &limits)? else {
        return Err("no solutions".into());
    };
    for row in rows {
        let cells: Vec<String> = row
            .iter()
            .map(|term| term.as_ref().map(ToString::to_string).unwrap_or_default())
            .collect();
        println!("{}", cells.join("  "));
    }
    Ok(())
}
