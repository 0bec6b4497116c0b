//! `GET /dataset/{id}/shapes` and `GET /dataset/{id}/void`: SHACL shapes and VoID statistics of the content, in RDF.

use super::snippet::cacheable;
use crate::AppState;
use crate::documentation::{
    BadRequest, Busy, ClientLimit, FormatParameter, Graph, Id, JsonError, Negotiated,
    NotAcceptable, NotFound, Text,
};
use crate::error::ApiError;
use crate::negotiation::matches_tag;
use crate::parameters::pairs;
use crate::response_formats::{self, Kind};
use crate::site::Client;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use lodeseek_catalog::DatasetId;
use lodeseek_engine::{dataset_shapes, dataset_void};
use lodeseek_store::StoreError;
use sha2::{Digest, Sha256};

/// Returns the dataset and the media type of a request.
fn parse_request(
    id: String,
    query: Option<&str>,
    headers: &HeaderMap,
) -> Result<(DatasetId, &'static str), ApiError> {
    let media_type = Kind::Data.negotiate(&pairs(query.unwrap_or_default().as_bytes()), headers)?;
    let id = DatasetId::new(id).map_err(|error| ApiError::not_found(error.to_string()))?;
    Ok((id, media_type))
}

#[utoipa::path(get, path = "/dataset/{id}/shapes", tag = "Datasets",
    summary = "SHACL shapes that the content satisfies",
    params(Id, FormatParameter),
    responses(
        Negotiated<Graph>,
        (status = 304, description = "If-None-Match has the entity tag of the shapes."),
        BadRequest<(JsonError, Text)>,
        NotFound<Text>,
        NotAcceptable<Text>,
        ClientLimit<Text>,
        Busy<Text>))]
pub(super) async fn shapes(
    State(state): State<AppState>,
    client: Client,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let (id, media_type) = parse_request(id, query.as_deref(), &headers)?;
    let entry = state.work(move |state| Ok(state.store.entry(&id)?)).await?;
    let tag = entity_tag(&entry.version, media_type);
    if matches_tag(&headers, &tag) {
        return Ok((StatusCode::NOT_MODIFIED, cacheable(&tag)).into_response());
    }
    let made = state.work_with_permit(client, move |state| {
        let shapes = dataset_shapes(&state.store, &entry).map_err(shapes_error)?;
        response_formats::graph(&shapes, media_type)
    });
    Ok((cacheable(&tag), made.await?).into_response())
}

/// Returns the error of a request for shapes. Content that exceeds memory has none.
fn shapes_error(error: StoreError) -> ApiError {
    match error {
        StoreError::TooLarge { id } => ApiError::not_found(format!(
            "there are no shapes of {id}: its content exceeds memory; its statistics are at /dataset/{id}/void"
        )),
        other => other.into(),
    }
}

/// Computes the entity tag. It is weak because a syntax may write the same triples in another order.
fn entity_tag(version: &str, media_type: &str) -> String {
    let digest = Sha256::digest(format!(
        "{:?}",
        (version, media_type, env!("CARGO_PKG_VERSION"))
    ));
    let name: String = digest
        .iter()
        .take(12)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("W/\"{name}\"")
}

#[utoipa::path(get, path = "/dataset/{id}/void", tag = "Datasets", operation_id = "void_of_dataset",
    summary = "Statistics of the content in VoID",
    params(Id, FormatParameter),
    responses(
        Negotiated<Graph>,
        BadRequest<(JsonError, Text)>,
        NotFound<Text>,
        NotAcceptable<Text>,
        ClientLimit<Text>,
        Busy<Text>))]
pub(super) async fn void(
    State(state): State<AppState>,
    client: Client,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let (id, media_type) = parse_request(id, query.as_deref(), &headers)?;
    state.check_dataset(&id).await?;
    let written = state.work_with_permit(client, move |state| {
        response_formats::graph(&dataset_void(&state.store, &id)?, media_type)
    });
    written.await
}
