//! `GET /api/endpoints`: statistics of the remote endpoints in `SERVICE` patterns since the start of the server.

use super::SparqlState;
use axum::Json;
use axum::extract::State;
use lodeseek_net::sparql_client::EndpointStatistics;
use serde_json::{Map, Value, json};

#[utoipa::path(get, path = "/api/endpoints", tag = "Server",
    summary = "Statistics of remote endpoints in SERVICE patterns",
    responses((status = 200, description = "Statistics of each endpoint.", body = Object)))]
pub(crate) async fn endpoints(State(state): State<SparqlState>) -> Json<Value> {
    Json(json!({ "endpoints": endpoint_statistics(&state) }))
}

/// Returns the statistics of each endpoint.
pub(crate) fn endpoint_statistics(state: &SparqlState) -> Vec<Value> {
    state.client.snapshot().iter().map(endpoint_json).collect()
}

fn endpoint_json(endpoint: &EndpointStatistics) -> Value {
    let failures: Map<String, Value> = endpoint
        .failures
        .iter()
        .map(|(kind, count)| (kind.name().to_owned(), json!(count)))
        .collect();
    let answered = endpoint.calls.max(1) as f64;
    json!({
        // The query part of the address may contain a secret key.
        "endpoint": endpoint.endpoint.as_str().split(['?', '#']).next(),
        "calls": endpoint.calls,
        "requests": endpoint.requests,
        "failures": failures,
        "rows": endpoint.rows,
        "repairs": endpoint.repairs,
        "bytes": endpoint.bytes,
        "meanSeconds": endpoint.total_time.as_secs_f64() / answered,
        "maxSeconds": endpoint.max_time.as_secs_f64(),
        "lastErrorSecondsAgo": endpoint.last_error.as_ref().map(|(when, _)| when.elapsed().as_secs()),
        "lastSuccessSecondsAgo": endpoint.last_success.map(|when| when.elapsed().as_secs()),
    })
}
