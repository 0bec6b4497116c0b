//! `GET /dataset/{id}`: a page, linked data, or the JSON object of search results.

use crate::AppState;
use crate::documentation::{
    AnyError, BadRequest, Busy, ClientLimit, DatasetJson, FormatParameter, Html, Id, Negotiated,
    NotAcceptable, NotFound, Rdf, Text,
};
use crate::error::ApiError;
use crate::negotiation::{Representation, choose_representation, languages};
use crate::pages::{self, PageContext};
use crate::portal::metadata::PortalMetadata;
use crate::public_url::LinkBase;
use crate::response_formats;
use crate::site::Client;
use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use lodeseek_catalog::DatasetId;
use lodeseek_engine::{dataset_json, dataset_triples, suggested_theme_triples};
use lodeseek_rdf::RdfForm;
use serde::Deserialize;
use serde_json::json;

/// Maximum number of works that use the dataset in JSON.
const MAX_WORKS: usize = 50;

#[derive(Deserialize)]
pub(super) struct Parameters {
    format: Option<String>,
    lang: Option<String>,
}

#[utoipa::path(get, path = "/dataset/{id}", tag = "Datasets", summary = "A dataset: a page, or its description in RDF or JSON",
    params(Id, FormatParameter),
    responses(Negotiated<(Html, Rdf, DatasetJson)>, BadRequest<AnyError>, NotFound<AnyError>, NotAcceptable<Text>,
        ClientLimit<AnyError>, Busy<AnyError>))]
pub(super) async fn dataset(
    State(state): State<AppState>,
    client: Client,
    links: LinkBase,
    Path(id): Path<String>,
    Query(parameters): Query<Parameters>,
    page: PageContext,
    headers: HeaderMap,
) -> Response {
    let chosen = choose_representation(parameters.format.as_deref(), &headers);
    let id = DatasetId::new(id).map_err(|error| ApiError::not_found(error.to_string()));
    let lang = parameters.lang.as_deref();
    match (chosen, id) {
        (Err(error), _) => error.into_response(),
        (Ok(Representation::Page), Err(error)) => pages::error(&page, &error),
        (Ok(Representation::Page), Ok(id)) => match languages(&headers, lang) {
            Ok(_) => pages::dataset(&state, client, links, page, id).await,
            Err(error) => pages::error(&page, &error),
        },
        (Ok(Representation::Rdf(_)), Err(error)) => error.into_response(),
        (Ok(Representation::Rdf(form)), Ok(id)) => linked_data(&state, client, id, form, links)
            .await
            .unwrap_or_else(IntoResponse::into_response),
        (Ok(Representation::Json), Err(error)) => error.to_json_response(),
        (Ok(Representation::Json), Ok(id)) => json_object(&state, client, id, lang, links)
            .await
            .unwrap_or_else(|error| error.to_json_response()),
    }
}

/// Responds with the object of the dataset in search results, its IRI, its downloads, and the works that use it.
async fn json_object(
    state: &AppState,
    client: Client,
    id: DatasetId,
    lang: Option<&str>,
    links: LinkBase,
) -> Result<Response, ApiError> {
    let languages = languages(&HeaderMap::new(), lang)?;
    let card = state.card(&id).await?;
    let object = state.work_with_permit(client, move |state| {
        let mut object = dataset_json(&card, &languages);
        object["iri"] = json!(state.store.iris().dataset(&id).as_str());
        if let Some(described) = PortalMetadata::read(&state.store, &id)? {
            object["downloads"] = described.downloads_json(links.as_str()).into();
        }
        let works = state.store.dataset_works(&id, MAX_WORKS)?;
        if works.all > 0 {
            object["works"] = json!(works);
        }
        Ok(object)
    });
    Ok(Json(object.await?).into_response())
}

async fn linked_data(
    state: &AppState,
    client: Client,
    id: DatasetId,
    form: RdfForm,
    links: LinkBase,
) -> Result<Response, ApiError> {
    state.check_dataset(&id).await?;
    let written = state.work_with_permit(client, move |state| {
        let mut triples = dataset_triples(&state.store, &id, links.as_str())?;
        let (catalog, iris) = (state.searcher.catalog(), state.store.iris());
        triples.extend(suggested_theme_triples(catalog, iris, &id)?);
        response_formats::graph_in(&triples, form)
    });
    written.await
}
