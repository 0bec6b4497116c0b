//! `GET /dataset/{id}/similar`: the datasets most similar to one, with reasons. `GET`, `POST /like`: search by example.
//!
//! An example is a file uploaded by the page's form, text pasted there, RDF as the body of a request, or a dataset of the
//! catalogue by its id or IRI. [`MAX_EXAMPLE_BYTES`] limits it. The server does not store it.

use super::example::ExampleSource;
use crate::AppState;
use crate::documentation::{
    self, AnyError, BadRequest, BodyTimeout, Busy, ClientLimit, Error, FormatParameter, Html, Id,
    JsonError, JsonObject, Negotiated, NotAcceptable, NotFound,
};
use crate::error::ApiError;
use crate::negotiation::best;
use crate::pages::{self, ExampleReport, PageContext};
use crate::parameters::invalid_parameters;
use crate::site::Client;
use crate::text::shorten;
use axum::Json;
use axum::body::Bytes;
use axum::extract::multipart::MultipartError;
use axum::extract::rejection::QueryRejection;
use axum::extract::{FromRequest, Multipart, Path, Query, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use lodeseek_catalog::DatasetId;
use lodeseek_engine::SimilarDatasets;
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::openapi::schema::Type;
use utoipa::{IntoParams, ToSchema};

/// Maximum size of a request with an example in bytes.
pub(super) const MAX_EXAMPLE_BYTES: usize = 16 << 20;
/// Maximum number of similar datasets.
const MAX_DATASETS: usize = 50;

#[derive(Deserialize)]
pub(super) struct Parameters {
    k: Option<usize>,
    format: Option<String>,
    dataset: Option<String>,
}

/// The parameter `k`, for the descriptions of the operations.
struct Depth;

impl IntoParams for Depth {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let number = documentation::object(Type::Integer)
            .minimum(Some(1))
            .maximum(Some(MAX_DATASETS));
        vec![documentation::query(
            "k",
            "Number of datasets.",
            number.default(Some(10.into())),
        )]
    }
}

/// Formats of the responses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Json,
    Html,
}

impl Format {
    fn negotiate(format: Option<&str>, headers: &HeaderMap) -> Result<Self, ApiError> {
        let offers = ["application/json", "text/html", "application/xhtml+xml"];
        match format {
            Some("json") => Ok(Self::Json),
            Some("html") => Ok(Self::Html),
            Some(name) => Err(ApiError::unknown_format(name, "json, html")),
            None => match best(headers, &offers) {
                Some("application/json") => Ok(Self::Json),
                Some(_) => Ok(Self::Html),
                None => Err(ApiError::not_acceptable(&offers)),
            },
        }
    }

    /// Returns the format that a client accepts, for the report of an error in its request.
    fn for_error(headers: &HeaderMap, otherwise: Self) -> Self {
        Self::negotiate(None, headers).unwrap_or(otherwise)
    }

    fn error(self, page: &PageContext, error: &ApiError) -> Response {
        match self {
            Self::Json => error.to_json_response(),
            Self::Html => pages::error(page, error),
        }
    }
}

impl Parameters {
    fn depth(&self) -> Result<usize, ApiError> {
        let depth = self.k.unwrap_or(10);
        if !(1..=MAX_DATASETS).contains(&depth) {
            return Err(ApiError::bad_request(format!(
                "k must be from 1 to {MAX_DATASETS}"
            )));
        }
        Ok(depth)
    }
}

#[utoipa::path(get, path = "/dataset/{id}/similar", tag = "Search", operation_id = "similar",
    summary = "The most similar datasets, with reasons",
    params(Id, Depth, FormatParameter),
    responses(
        Negotiated<(Html, JsonObject)>,
        BadRequest<AnyError>,
        NotFound<(JsonError, Html)>,
        NotAcceptable<(JsonError, Html)>,
        ClientLimit<(JsonError, Html)>,
        Busy<(JsonError, Html)>))]
pub(super) async fn of_dataset(
    State(state): State<AppState>,
    client: Client,
    Path(id): Path<String>,
    parameters: Result<Query<Parameters>, QueryRejection>,
    page: PageContext,
    headers: HeaderMap,
) -> Response {
    let (form, answer) = match parse_parameters(parameters, &headers) {
        Ok((form, parameters)) => (
            form,
            similar_to_dataset(&state, client, &page, id, &parameters, form).await,
        ),
        Err(error) => (Format::for_error(&headers, Format::Json), Err(error)),
    };
    respond(&page, form, answer)
}

/// `GET /like`: the form, or the datasets similar to that of the parameter `dataset`.
#[utoipa::path(get, path = "/like", tag = "Search", operation_id = "likeForm",
    summary = "Search by example: the form, or the datasets most similar to one",
    params(("dataset" = Option<String>, Query, description = "A dataset's id or IRI."), Depth, FormatParameter),
    responses(
        Negotiated<(Html, JsonObject)>,
        BadRequest<AnyError>,
        NotFound<(JsonError, Html)>,
        NotAcceptable<(JsonError, Html)>,
        ClientLimit<(JsonError, Html)>,
        Busy<(JsonError, Html)>))]
pub(super) async fn form(
    State(state): State<AppState>,
    client: Client,
    parameters: Result<Query<Parameters>, QueryRejection>,
    page: PageContext,
    headers: HeaderMap,
) -> Response {
    let (form, parameters) = match parse_parameters(parameters, &headers) {
        Ok(parsed) => parsed,
        Err(error) => return respond(&page, Format::for_error(&headers, Format::Html), Err(error)),
    };
    let named = parameters
        .dataset
        .as_deref()
        .map(str::trim)
        .filter(|named| !named.is_empty());
    let Some(named) = named else {
        return match form {
            Format::Html => respond(
                &page,
                form,
                Ok(pages::like(&page, None, None, MAX_EXAMPLE_BYTES)),
            ),
            Format::Json => {
                let message = "name a dataset (?dataset=ID), or POST an example in RDF";
                respond(&page, form, Err(ApiError::bad_request(message)))
            }
        };
    };
    let id = resolve_dataset(&state, named);
    respond(
        &page,
        form,
        similar_to_dataset(&state, client, &page, id, &parameters, form).await,
    )
}

/// Returns the id of a dataset given by id, by IRI, or by the address of its page under any host name of the server.
fn resolve_dataset(state: &AppState, named: &str) -> String {
    let iris = state.store.iris();
    let id = iris
        .dataset_id(named)
        .or_else(|| id_of_address(state, named));
    match id {
        Some(id) => id.to_string(),
        None => named.to_owned(),
    }
}

/// Returns the id of a dataset by the address of its page.
fn id_of_address(state: &AppState, address: &str) -> Option<DatasetId> {
    let iris = state.store.iris();
    let path = state
        .site
        .addresses
        .iter()
        .find_map(|site| address.strip_prefix(site.as_str()))?;
    iris.dataset_id(&format!("{}{path}", iris.base()))
}

/// `POST /like`: the datasets similar to the example of the request.
#[utoipa::path(post, path = "/like", tag = "Search", operation_id = "like",
    summary = "The datasets most similar to an RDF file",
    params(Depth, FormatParameter),
    request_body(content(
        (String = "text/turtle"),
        (String = "application/rdf+xml"),
        (String = "application/n-triples"),
        (Object = "application/ld+json"),
        (Object = "multipart/form-data"),
        (inline(Pasted) = "application/x-www-form-urlencoded"))),
    responses(
        Negotiated<(Html, JsonObject)>,
        BadRequest<(JsonError, Html)>,
        NotFound<(JsonError, Html)>,
        NotAcceptable<(JsonError, Html)>,
        BodyTimeout<(JsonError, Html)>,
        (status = 413, description = "The body is too large, or needs too much memory to parse.", content((Error = "application/json"), (String = "text/html"))),
        (status = 422, description = "The body needs too much time to parse.", content((Error = "application/json"), (String = "text/html"))),
        ClientLimit<(JsonError, Html)>,
        Busy<(JsonError, Html)>))]
pub(super) async fn example(
    State(state): State<AppState>,
    client: Client,
    parameters: Result<Query<Parameters>, QueryRejection>,
    page: PageContext,
    headers: HeaderMap,
    request: Request,
) -> Response {
    let (form, parameters) = match parse_parameters(parameters, &headers) {
        Ok(parsed) => parsed,
        Err(error) => return respond(&page, Format::for_error(&headers, Format::Json), Err(error)),
    };
    let answer = async {
        let depth = parameters.depth()?;
        // Before the body is read, because the permits limit the number of bodies in memory.
        let upload = state.limits.acquire_upload_permit(client).await?;
        let sent = SentExample::from_request(request, &headers).await?;
        if let Some(id) = sent.dataset {
            let id = resolve_dataset(&state, &id);
            return similar_to_dataset(&state, client, &page, id, &parameters, form).await;
        }
        let permit = state.limits.acquire_parse_permit(client).await?;
        let gone = GoneOnDrop::default();
        let is_gone = Arc::clone(&gone.0);
        let (name, parsed, permit) = state
            .work(move |state| {
                // The bytes are in memory until they are parsed.
                let _upload = upload;
                let (bytes, source) = sent.into_source(state);
                let workers = state.workers.as_ref().map(|workers| &workers.examples);
                let parsed = source.parse(&bytes, workers, &is_gone)?;
                Ok((source.name, parsed, permit))
            })
            .await?;
        let context = page.clone();
        // Encoding an example takes many times as long as a search, which must not wait behind examples for a permit.
        state
            .work(move |state| {
                let _permit = permit;
                let found = state.searcher.similar_to(&parsed.example, depth)?;
                let report = ExampleReport {
                    name,
                    triples: parsed.example.len(),
                    problems: parsed.problems,
                };
                Ok(match form {
                    Format::Html => {
                        pages::like(&context, Some(&report), Some(&found), MAX_EXAMPLE_BYTES)
                    }
                    Format::Json => {
                        let read =
                            json!({ "triples": report.triples, "problems": report.problems });
                        Json(json!({ "example": read, "of": found.of, "similar": found.similar }))
                            .into_response()
                    }
                })
            })
            .await
    };
    respond(&page, form, answer.await)
}

fn parse_parameters(
    parameters: Result<Query<Parameters>, QueryRejection>,
    headers: &HeaderMap,
) -> Result<(Format, Parameters), ApiError> {
    let Query(parameters) = parameters
        .map_err(|rejection| invalid_parameters(&rejection, &[("k", 1..=MAX_DATASETS)]))?;
    Ok((
        Format::negotiate(parameters.format.as_deref(), headers)?,
        parameters,
    ))
}

fn respond(page: &PageContext, form: Format, answer: Result<Response, ApiError>) -> Response {
    answer.unwrap_or_else(|error| form.error(page, &error))
}

async fn similar_to_dataset(
    state: &AppState,
    client: Client,
    page: &PageContext,
    id: String,
    parameters: &Parameters,
    form: Format,
) -> Result<Response, ApiError> {
    let depth = parameters.depth()?;
    let id = DatasetId::new(id).map_err(|error| ApiError::not_found(error.to_string()))?;
    let page = page.clone();
    state.check_dataset(&id).await?;
    state
        .work_with_permit(client, move |state| {
            let found: SimilarDatasets = state
                .searcher
                .similar(&id, depth)?
                .ok_or_else(|| ApiError::no_dataset(&id))?;
            match form {
                Format::Json => Ok(Json(json!({
                    "dataset": id,
                    "of": found.of,
                    "similar": found.similar,
                    "tables": found.tables,
                }))
                .into_response()),
                Format::Html => {
                    let card = state
                        .searcher
                        .catalog()
                        .card(&id)?
                        .ok_or_else(|| ApiError::no_dataset(&id))?;
                    Ok(pages::similar(&page, &card, &found))
                }
            }
        })
        .await
}

/// The example of a request, or the name of a dataset.
#[derive(Default)]
struct SentExample {
    name: String,
    media_type: Option<String>,
    bytes: Bytes,
    dataset: Option<String>,
}

#[derive(Deserialize, ToSchema)]
struct Pasted {
    #[serde(default)]
    text: String,
    #[serde(default)]
    dataset: String,
}

impl SentExample {
    async fn from_request(request: Request, headers: &HeaderMap) -> Result<Self, ApiError> {
        let media_type = headers
            .get(header::CONTENT_TYPE)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        let essence = media_type
            .split(';')
            .next()
            .unwrap_or_default()
            .trim()
            .to_ascii_lowercase();
        let sent = match essence.as_str() {
            "multipart/form-data" => Self::from_multipart(request).await?,
            "application/x-www-form-urlencoded" => {
                let form = axum::Form::<Pasted>::from_request(request, &()).await;
                let axum::Form(pasted) =
                    form.map_err(|error| body_error(error.status(), error.body_text()))?;
                Self::from_text(pasted.text, pasted.dataset)
            }
            _ => {
                let bytes = Bytes::from_request(request, &()).await;
                let bytes = bytes.map_err(|error| body_error(error.status(), error.body_text()))?;
                let announced = (!essence.is_empty() && essence != "application/octet-stream")
                    .then_some(essence);
                Self {
                    name: "example".to_owned(),
                    media_type: announced,
                    bytes,
                    dataset: None,
                }
            }
        };
        if sent.bytes.is_empty() && sent.dataset.is_none() {
            return Err(ApiError::bad_request(
                "there is no example: send a file, paste RDF, or name a dataset",
            ));
        }
        Ok(sent)
    }

    fn from_text(text: String, dataset: String) -> Self {
        let dataset = Some(dataset.trim().to_owned())
            .filter(|dataset| !dataset.is_empty() && text.trim().is_empty());
        let bytes = if text.trim().is_empty() {
            Bytes::new()
        } else {
            Bytes::from(text)
        };
        Self {
            name: "pasted text".to_owned(),
            media_type: None,
            bytes,
            dataset,
        }
    }

    /// Reads a form. A file takes precedence over text, and text over the name of a dataset.
    async fn from_multipart(request: Request) -> Result<Self, ApiError> {
        let form = Multipart::from_request(request, &()).await;
        let mut form = form.map_err(|error| body_error(error.status(), error.body_text()))?;
        let (mut file, mut text, mut dataset) = (None, String::new(), String::new());
        while let Some(field) = form.next_field().await.map_err(multipart_error)? {
            match field.name().unwrap_or_default() {
                "file" => {
                    let name = field
                        .file_name()
                        .and_then(|name| name.rsplit(['/', '\\']).next())
                        .unwrap_or_default();
                    let name = shorten(name, 100);
                    let bytes = field.bytes().await.map_err(multipart_error)?;
                    // Browsers send an empty field if no file is chosen.
                    if !bytes.is_empty() && file.replace((name, bytes)).is_some() {
                        return Err(ApiError::bad_request(
                            "there are several files in fields `file`; send one",
                        ));
                    }
                }
                "text" => text = field.text().await.map_err(multipart_error)?,
                "dataset" => dataset = field.text().await.map_err(multipart_error)?,
                _ => {}
            }
        }
        Ok(match file {
            // Browsers derive media types from file names, so only the name is used.
            Some((name, bytes)) => Self {
                name,
                media_type: None,
                bytes,
                dataset: None,
            },
            None => Self::from_text(text, dataset),
        })
    }

    /// Returns the bytes of the example and their description.
    fn into_source(self, state: &AppState) -> (Bytes, ExampleSource) {
        let base = format!("{}like", state.store.iris().base());
        let has_texts = state.searcher.encodes_examples();
        (
            self.bytes,
            ExampleSource {
                name: self.name,
                media_type: self.media_type,
                base,
                has_texts,
            },
        )
    }
}

/// Flag that is set when the future of a request is dropped because the client disconnected.
#[derive(Default)]
struct GoneOnDrop(Arc<AtomicBool>);

impl Drop for GoneOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn multipart_error(error: MultipartError) -> ApiError {
    body_error(error.status(), error.body_text())
}

fn body_error(status: StatusCode, message: String) -> ApiError {
    match status {
        StatusCode::PAYLOAD_TOO_LARGE => ApiError::with_status(
            status,
            format!("an example may have at most {} MB", MAX_EXAMPLE_BYTES >> 20),
        ),
        status => ApiError::with_status(status, message),
    }
}
