//! `GET /dataset/{id}/similar`: the datasets most similar to one, with reasons. `GET`, `POST /like`: search by example.
//!
//! An example is a file uploaded by the page's form, text pasted there, RDF as the body of a request, or a dataset of the
//! catalogue by its id or IRI. It is parsed like a dump: broken statements are skipped and reported. [`MAX_EXAMPLE_BYTES`],
//! [`MAX_EXAMPLE_TRIPLES`] and [`READ_TIMEOUT`] limit it. The server does not store it.

use crate::AppState;
use crate::documentation::{
    self, BadRequest, Busy, Error, FormatParameter, Html, Id, JsonError, JsonObject, Negotiated, NotAcceptable,
    NotFound,
};
use crate::error::ApiError;
use crate::negotiation::best;
use crate::pages::{self, ExampleReport};
use crate::text::shorten;
use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::QueryRejection;
use axum::extract::{FromRequest, Multipart, Path, Query, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use lodeseek_catalog::DatasetId;
use lodeseek_engine::{ExampleGraph, SimilarDatasets};
use lodeseek_rdf::dump::{DumpReader, FileReport, Limits, Outcome};
use lodeseek_rdf::{TripleGraph, TripleGraphBuilder, TripleSink};
use oxrdf::TripleRef;
use serde::Deserialize;
use serde_json::json;
use std::io::{self, Read};
use std::time::{Duration, Instant};
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::openapi::schema::Type;
use utoipa::{IntoParams, ToSchema};

/// Maximum size of a request with an example in bytes.
pub(super) const MAX_EXAMPLE_BYTES: usize = 16 << 20;
/// Maximum size of an uncompressed example in bytes.
const MAX_UNPACKED_BYTES: u64 = 64 << 20;
/// Maximum number of triples of an example that are compared.
const MAX_EXAMPLE_TRIPLES: usize = 500_000;
/// Time limit for parsing an example.
const READ_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum number of similar datasets.
const MAX_DATASETS: usize = 50;
/// Maximum number of reported problems of an example.
const MAX_PROBLEMS: usize = 20;

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
        let number = documentation::object(Type::Integer).minimum(Some(1)).maximum(Some(MAX_DATASETS));
        vec![documentation::query("k", "Number of datasets.", number.default(Some(10.into())))]
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

    fn error(self, error: &ApiError) -> Response {
        match self {
            Self::Json => error.to_json_response(),
            Self::Html => pages::error(error),
        }
    }
}

impl Parameters {
    fn depth(&self) -> Result<usize, ApiError> {
        let depth = self.k.unwrap_or(10);
        if !(1..=MAX_DATASETS).contains(&depth) {
            return Err(ApiError::bad_request(format!("k must be from 1 to {MAX_DATASETS}")));
        }
        Ok(depth)
    }
}

#[utoipa::path(get, path = "/dataset/{id}/similar", tag = "Search", operation_id = "similar",
    summary = "The most similar datasets, with reasons",
    params(Id, Depth, FormatParameter),
    responses(
        Negotiated<(Html, JsonObject)>,
        BadRequest<(JsonError, Html)>,
        NotFound<(JsonError, Html)>,
        NotAcceptable<(JsonError, Html)>))]
pub(super) async fn of_dataset(
    State(state): State<AppState>,
    Path(id): Path<String>,
    parameters: Result<Query<Parameters>, QueryRejection>,
    headers: HeaderMap,
) -> Response {
    let (form, answer) = match parse_parameters(parameters, &headers) {
        Ok((form, parameters)) => (form, similar_to_dataset(&state, id, &parameters, form).await),
        Err(error) => (Format::for_error(&headers, Format::Json), Err(error)),
    };
    respond(form, answer)
}

/// `GET /like`: the form, or the datasets similar to that of the parameter `dataset`.
#[utoipa::path(get, path = "/like", tag = "Search", operation_id = "likeForm",
    summary = "Search by example: the form, or the datasets most similar to one",
    params(("dataset" = Option<String>, Query, description = "A dataset's id or IRI."), Depth, FormatParameter),
    responses(
        Negotiated<(Html, JsonObject)>,
        BadRequest<(JsonError, Html)>,
        NotFound<(JsonError, Html)>,
        NotAcceptable<(JsonError, Html)>))]
pub(super) async fn form(
    State(state): State<AppState>,
    parameters: Result<Query<Parameters>, QueryRejection>,
    headers: HeaderMap,
) -> Response {
    let (form, parameters) = match parse_parameters(parameters, &headers) {
        Ok(parsed) => parsed,
        Err(error) => return respond(Format::for_error(&headers, Format::Html), Err(error)),
    };
    let named = parameters.dataset.as_deref().map(str::trim).filter(|named| !named.is_empty());
    let Some(named) = named else {
        return match form {
            Format::Html => respond(form, Ok(pages::like(None, None, MAX_EXAMPLE_BYTES))),
            Format::Json => {
                let message = "name a dataset (?dataset=ID), or POST an example in RDF";
                respond(form, Err(ApiError::bad_request(message)))
            }
        };
    };
    let id = resolve_dataset(&state, named);
    respond(form, similar_to_dataset(&state, id, &parameters, form).await)
}

/// Returns the id of a dataset given by id, by IRI, or by the address of its page under any host name of the server.
fn resolve_dataset(state: &AppState, named: &str) -> String {
    let iris = state.store.iris();
    let by_address = || {
        let path = state.addresses.iter().find_map(|address| named.strip_prefix(address.as_str()))?;
        iris.dataset_id(&format!("{}{path}", iris.base()))
    };
    iris.dataset_id(named).or_else(by_address).map_or_else(|| named.to_owned(), |id| id.to_string())
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
        (status = 413, description = "The body is too large.", content((Error = "application/json"), (String = "text/html"))),
        Busy<(JsonError, Html)>))]
pub(super) async fn example(
    State(state): State<AppState>,
    parameters: Result<Query<Parameters>, QueryRejection>,
    headers: HeaderMap,
    request: Request,
) -> Response {
    let (form, parameters) = match parse_parameters(parameters, &headers) {
        Ok(parsed) => parsed,
        Err(error) => return respond(Format::for_error(&headers, Format::Json), Err(error)),
    };
    let answer = async {
        let depth = parameters.depth()?;
        let sent = SentExample::from_request(request, &headers).await?;
        if let Some(id) = sent.dataset {
            let id = resolve_dataset(&state, &id);
            return similar_to_dataset(&state, id, &parameters, form).await;
        }
        let permit = state.acquire_permit().await?;
        state
            .work(move |state| {
                let _permit = permit;
                let (graph, report) = sent.read(state.store.iris().base())?;
                let found = state.searcher.similar_to(&ExampleGraph::new(graph), depth)?;
                Ok(match form {
                    Format::Html => pages::like(Some(&report), Some(&found), MAX_EXAMPLE_BYTES),
                    Format::Json => {
                        let read = json!({ "triples": report.triples, "problems": report.problems });
                        Json(json!({ "example": read, "of": found.of, "similar": found.similar })).into_response()
                    }
                })
            })
            .await
    };
    respond(form, answer.await)
}

fn parse_parameters(
    parameters: Result<Query<Parameters>, QueryRejection>,
    headers: &HeaderMap,
) -> Result<(Format, Parameters), ApiError> {
    let Query(parameters) = parameters.map_err(|rejection| ApiError::bad_request(rejection.body_text()))?;
    Ok((Format::negotiate(parameters.format.as_deref(), headers)?, parameters))
}

fn respond(form: Format, answer: Result<Response, ApiError>) -> Response {
    let mut response = answer.unwrap_or_else(|error| form.error(&error));
    response.headers_mut().append(header::VARY, HeaderValue::from_static("accept"));
    response
}

async fn similar_to_dataset(
    state: &AppState,
    id: String,
    parameters: &Parameters,
    form: Format,
) -> Result<Response, ApiError> {
    let depth = parameters.depth()?;
    let id = DatasetId::new(id).map_err(|error| ApiError::not_found(error.to_string()))?;
    state
        .work(move |state| {
            let missing = || ApiError::no_dataset(&id);
            let found: SimilarDatasets = state.searcher.similar(&id, depth)?.ok_or_else(missing)?;
            match form {
                Format::Json => {
                    Ok(Json(json!({ "dataset": id, "of": found.of, "similar": found.similar })).into_response())
                }
                Format::Html => {
                    let card = state.searcher.catalog().card(&id)?.ok_or_else(missing)?;
                    Ok(pages::similar(&card, &found))
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
        let media_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let sent = match essence.as_str() {
            "multipart/form-data" => Self::from_multipart(request).await?,
            "application/x-www-form-urlencoded" => {
                let form = axum::Form::<Pasted>::from_request(request, &()).await;
                let axum::Form(pasted) = form.map_err(|error| body_error(error.status(), error.body_text()))?;
                Self::from_text(pasted.text, pasted.dataset)
            }
            _ => {
                let bytes = Bytes::from_request(request, &()).await;
                let bytes = bytes.map_err(|error| body_error(error.status(), error.body_text()))?;
                let announced = (!essence.is_empty() && essence != "application/octet-stream").then_some(essence);
                Self { name: "example".to_owned(), media_type: announced, bytes, dataset: None }
            }
        };
        if sent.bytes.is_empty() && sent.dataset.is_none() {
            return Err(ApiError::bad_request("there is no example: send a file, paste RDF, or name a dataset"));
        }
        Ok(sent)
    }

    fn from_text(text: String, dataset: String) -> Self {
        let dataset = Some(dataset.trim().to_owned()).filter(|dataset| !dataset.is_empty() && text.trim().is_empty());
        let bytes = if text.trim().is_empty() { Bytes::new() } else { Bytes::from(text) };
        Self { name: "pasted text".to_owned(), media_type: None, bytes, dataset }
    }

    /// Reads a form. A file takes precedence over text, and text over the name of a dataset.
    async fn from_multipart(request: Request) -> Result<Self, ApiError> {
        let form = Multipart::from_request(request, &()).await;
        let mut form = form.map_err(|error| body_error(error.status(), error.body_text()))?;
        let (mut file, mut text, mut dataset) = (None, String::new(), String::new());
        let broken = |error: axum::extract::multipart::MultipartError| body_error(error.status(), error.body_text());
        while let Some(field) = form.next_field().await.map_err(broken)? {
            match field.name().unwrap_or_default() {
                "file" => {
                    let name = field.file_name().and_then(|name| name.rsplit(['/', '\\']).next()).unwrap_or_default();
                    let name = shorten(name, 100);
                    let bytes = field.bytes().await.map_err(broken)?;
                    file = (!bytes.is_empty()).then_some((name, bytes));
                }
                "text" => text = field.text().await.map_err(broken)?,
                "dataset" => dataset = field.text().await.map_err(broken)?,
                _ => {}
            }
        }
        Ok(match file {
            // Browsers derive media types from file names, so only the name is used.
            Some((name, bytes)) => Self { name, media_type: None, bytes, dataset: None },
            None => Self::from_text(text, dataset),
        })
    }

    /// Parses the example. It is an error, with the problems found, if it has no triple.
    fn read(self, base: &str) -> Result<(TripleGraph, ExampleReport), ApiError> {
        let limits = Limits { decompressed_bytes: MAX_UNPACKED_BYTES, json_memory: 512 << 20, ..Limits::default() };
        let dump_reader = DumpReader::with_limits(limits);
        let dump_reader = match &self.media_type {
            Some(media_type) => dump_reader.with_media_type(media_type),
            None => dump_reader,
        };
        let mut graph = BoundedGraph { builder: TripleGraphBuilder::new(), over: false };
        let reader = TimeLimitedReader { reader: &self.bytes[..], until: Instant::now() + READ_TIMEOUT };
        let reports = dump_reader.read(reader, &self.name, &format!("{base}like"), &mut graph);
        let mut problems = problems(&reports);
        if graph.over {
            problems.push(format!("only the first {MAX_EXAMPLE_TRIPLES} triples were compared"));
        }
        if graph.builder.is_empty() {
            let why = if problems.is_empty() { "it contains no triple".to_owned() } else { problems.join("\n") };
            return Err(ApiError::bad_request(format!("{} cannot be compared:\n{why}", self.name)));
        }
        let graph = graph.builder.finish();
        let report = ExampleReport { name: self.name, triples: graph.len(), problems };
        Ok((graph, report))
    }
}

fn body_error(status: StatusCode, message: String) -> ApiError {
    match status {
        StatusCode::PAYLOAD_TOO_LARGE => {
            ApiError::with_status(status, format!("an example may have at most {} MB", MAX_EXAMPLE_BYTES >> 20))
        }
        status => ApiError::with_status(status, message),
    }
}

fn problems(reports: &[FileReport]) -> Vec<String> {
    let listed = reports.iter().flat_map(|report| &report.problems);
    let mut problems: Vec<String> = listed.clone().take(MAX_PROBLEMS).map(ToString::to_string).collect();
    let unlisted: u64 = reports.iter().map(|report| report.unlisted_problems).sum();
    let more = listed.count().saturating_sub(MAX_PROBLEMS) as u64 + unlisted;
    if more > 0 {
        problems.push(format!("and {more} more problems"));
    }
    if problems.is_empty() && reports.iter().any(|report| report.outcome != Outcome::Complete) {
        problems.push("not all of it could be read".to_owned());
    }
    problems
}

/// Graph of at most [`MAX_EXAMPLE_TRIPLES`] triples.
struct BoundedGraph {
    builder: TripleGraphBuilder,
    over: bool,
}

impl TripleSink for BoundedGraph {
    fn start_file(&mut self) {
        self.builder.start_file();
    }

    fn insert_triple(&mut self, triple: TripleRef<'_>) {
        match self.builder.len() < MAX_EXAMPLE_TRIPLES {
            true => self.builder.insert(triple),
            false => self.over = true,
        }
    }
}

/// Reader that fails at a point in time.
struct TimeLimitedReader<R> {
    reader: R,
    until: Instant,
}

impl<R: Read> Read for TimeLimitedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if Instant::now() > self.until {
            return Err(io::Error::other(format!("parsing took more than {} s", READ_TIMEOUT.as_secs())));
        }
        // In small chunks, so that the time for each is bounded, too.
        let most = buffer.len().min(1 << 16);
        self.reader.read(&mut buffer[..most])
    }
}
