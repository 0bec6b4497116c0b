//! `GET /dataset/{id}`: a page, or linked data.

use crate::AppState;
use crate::documentation::{
    BadRequest, Busy, ClientLimit, FormatParameter, Html, Id, Negotiated, NotAcceptable, NotFound,
    Rdf, Text,
};
use crate::error::ApiError;
use crate::negotiation::{languages, page_or_syntax};
use crate::pages::{self, PageContext};
use crate::public_url::LinkBase;
use crate::response_formats;
use crate::site::Client;
use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use lodeseek_catalog::DatasetId;
use lodeseek_engine::{dataset_triples, suggested_theme_triples};
use lodeseek_rdf::RdfForm;
use serde::Deserialize;

#[derive(Deserialize)]
pub(super) struct Parameters {
    format: Option<String>,
    lang: Option<String>,
}

#[utoipa::path(get, path = "/dataset/{id}", tag = "Datasets", summary = "A dataset: a page, or its description in RDF",
    params(Id, FormatParameter),
    responses(Negotiated<(Html, Rdf)>, BadRequest<(Html, Text)>, NotFound<(Html, Text)>, NotAcceptable<(Html, Text)>,
        ClientLimit<(Html, Text)>, Busy<(Html, Text)>))]
pub(super) async fn dataset(
    State(state): State<AppState>,
    client: Client,
    links: LinkBase,
    Path(id): Path<String>,
    Query(parameters): Query<Parameters>,
    page: PageContext,
    headers: HeaderMap,
) -> Response {
    let chosen = page_or_syntax(parameters.format.as_deref(), &headers);
    let id = DatasetId::new(id).map_err(|error| ApiError::not_found(error.to_string()));
    match (chosen, id) {
        (Err(error), _) => error.into_response(),
        (Ok(None), Err(error)) => pages::error(&page, &error),
        (Ok(Some(_)), Err(error)) => error.into_response(),
        (Ok(None), Ok(id)) => match languages(&headers, parameters.lang.as_deref()) {
            Ok(_) => pages::dataset(&state, client, links, page, id).await,
            Err(error) => pages::error(&page, &error),
        },
        (Ok(Some(form)), Ok(id)) => linked_data(&state, client, id, form, links)
            .await
            .unwrap_or_else(IntoResponse::into_response),
    }
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
