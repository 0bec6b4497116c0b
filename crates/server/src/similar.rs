//! `GET /dataset/{id}/similar`: the datasets most like one, and why. `GET`, `POST /like`: those most like an example.
//!
//! An example is what somebody sends: a file by the page's form, text that is pasted there, or RDF as the body of a
//! request; or a dataset of the catalogue, by its id or IRI. It is read as dumps are, broken statements skipped and told,
//! within [`EXAMPLE_BYTES`], [`EXAMPLE_TRIPLES`] and [`PATIENCE`]; nothing of it is kept.

use super::error::ApiError;
use super::negotiation::best;
use super::{AppState, page, search};
use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::QueryRejection;
use axum::extract::{FromRequest, Multipart, Path, Query, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use lodeseek_catalog::DatasetId;
use lodeseek_engine::{Example, SimilarDatasets};
use lodeseek_rdf::dump::{FileReport, DumpReader, Limits, Outcome};
use lodeseek_rdf::{TripleGraph, TripleGraphBuilder, TripleSink};
use oxrdf::TripleRef;
use serde::Deserialize;
use serde_json::json;
use std::io::{self, Read};
use std::time::{Duration, Instant};

/// Bytes of an example's request.
pub(super) const EXAMPLE_BYTES: usize = 16 << 20;
/// Bytes of an example, uncompressed.
const UNPACKED_BYTES: u64 = 64 << 20;
/// Triples of an example that are compared.
const EXAMPLE_TRIPLES: usize = 500_000;
/// Time in which an example is read.
const PATIENCE: Duration = Duration::from_secs(5);
/// Datasets of one answer at most.
const MOST: usize = 50;
/// Problems of an example that are told.
const PROBLEMS: usize = 20;

#[derive(Deserialize)]
pub(super) struct Parameters {
    k: Option<usize>,
    format: Option<String>,
    dataset: Option<String>,
}

/// The forms of the answers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Json,
    Html,
}

impl Form {
    fn asked(format: Option<&str>, headers: &HeaderMap) -> Result<Self, ApiError> {
        let offers = ["application/json", "text/html", "application/xhtml+xml"];
        match format {
            Some("json") => Ok(Self::Json),
            Some("html") => Ok(Self::Html),
            Some(name) => Err(ApiError::bad_request(format!("{name:?} is no format here: json or html"))),
            None => match best(headers, &offers) {
                Some("application/json") => Ok(Self::Json),
                Some(_) => Ok(Self::Html),
                None => {
                    let message = format!("to be had are {}", offers.join(", "));
                    Err(ApiError::with_status(StatusCode::NOT_ACCEPTABLE, message))
                }
            },
        }
    }

    /// The form of what a client accepts, whatever else was wrong with its request.
    fn of(headers: &HeaderMap, otherwise: Self) -> Self {
        Self::asked(None, headers).unwrap_or(otherwise)
    }

    fn error(self, error: &ApiError) -> Response {
        match self {
            Self::Json => search::json_error(error),
            Self::Html => page::error(error),
        }
    }
}

impl Parameters {
    fn depth(&self) -> Result<usize, ApiError> {
        let depth = self.k.unwrap_or(10);
        if !(1..=MOST).contains(&depth) {
            return Err(ApiError::bad_request(format!("k must be from 1 to {MOST}")));
        }
        Ok(depth)
    }
}

/// What was read of an example, and what was wrong with it.
pub(super) struct Reading {
    /// What it is called.
    pub(super) name: String,
    /// Distinct triples.
    pub(super) triples: usize,
    /// What was skipped or cut, with lines.
    pub(super) problems: Vec<String>,
}

pub(super) async fn of_dataset(
    State(state): State<AppState>,
    Path(id): Path<String>,
    parameters: Result<Query<Parameters>, QueryRejection>,
    headers: HeaderMap,
) -> Response {
    let (form, answer) = match asked(parameters, &headers) {
        Ok((form, parameters)) => (form, like_dataset(&state, id, &parameters, form).await),
        Err(error) => (Form::of(&headers, Form::Json), Err(error)),
    };
    told(form, answer)
}

/// The page with the form; for a dataset's id or IRI, what is like it.
pub(super) async fn form(
    State(state): State<AppState>,
    parameters: Result<Query<Parameters>, QueryRejection>,
    headers: HeaderMap,
) -> Response {
    let (form, parameters) = match asked(parameters, &headers) {
        Ok(asked) => asked,
        Err(error) => return told(Form::of(&headers, Form::Html), Err(error)),
    };
    let Some(named) = parameters.dataset.as_deref().map(str::trim).filter(|named| !named.is_empty()) else {
        return match form {
            Form::Html => told(form, Ok(page::like(None, None, EXAMPLE_BYTES))),
            Form::Json => {
                let message = "name a dataset (?dataset=ID), or POST an example in RDF";
                told(form, Err(ApiError::bad_request(message)))
            }
        };
    };
    let id = named_dataset(&state, named);
    told(form, like_dataset(&state, id, &parameters, form).await)
}

/// The id of a dataset that is named by it, by its IRI, or by the address of its page, whichever of its hosts that names.
fn named_dataset(state: &AppState, named: &str) -> String {
    let iris = state.store.iris();
    let by_address = || {
        let path = state.addresses.iter().find_map(|address| named.strip_prefix(address.as_str()))?;
        iris.dataset_id(&format!("{}{path}", iris.base()))
    };
    iris.dataset_id(named).or_else(by_address).map_or_else(|| named.to_owned(), |id| id.to_string())
}

/// What is like the example that is sent.
pub(super) async fn example(
    State(state): State<AppState>,
    parameters: Result<Query<Parameters>, QueryRejection>,
    headers: HeaderMap,
    request: Request,
) -> Response {
    let (form, parameters) = match asked(parameters, &headers) {
        Ok(asked) => asked,
        Err(error) => return told(Form::of(&headers, Form::Json), Err(error)),
    };
    let answer = async {
        let depth = parameters.depth()?;
        let sent = Sent::of(request, &headers).await?;
        if let Some(id) = sent.dataset {
            let id = named_dataset(&state, &id);
            return like_dataset(&state, id, &parameters, form).await;
        }
        let turn = state.turn().await?;
        state
            .work(move |state| {
                let _turn = turn;
                let (graph, reading) = sent.read(state.store.iris().base())?;
                let found = state.searcher.similar_to(&Example::new(graph), depth)?;
                Ok(match form {
                    Form::Html => page::like(Some(&reading), Some(&found), EXAMPLE_BYTES),
                    Form::Json => {
                        let read = json!({ "triples": reading.triples, "problems": reading.problems });
                        Json(json!({ "example": read, "of": found.of, "similar": found.similar })).into_response()
                    }
                })
            })
            .await
    };
    told(form, answer.await)
}

fn asked(
    parameters: Result<Query<Parameters>, QueryRejection>,
    headers: &HeaderMap,
) -> Result<(Form, Parameters), ApiError> {
    let Query(parameters) = parameters.map_err(|rejection| ApiError::bad_request(rejection.body_text()))?;
    Ok((Form::asked(parameters.format.as_deref(), headers)?, parameters))
}

fn told(form: Form, answer: Result<Response, ApiError>) -> Response {
    let mut response = answer.unwrap_or_else(|error| form.error(&error));
    response.headers_mut().append(header::VARY, HeaderValue::from_static("accept"));
    response
}

async fn like_dataset(state: &AppState, id: String, parameters: &Parameters, form: Form) -> Result<Response, ApiError> {
    let depth = parameters.depth()?;
    let id = DatasetId::new(id).map_err(|error| ApiError::not_found(error.to_string()))?;
    state
        .work(move |state| {
            let missing = || ApiError::not_found(format!("there is no dataset {id}"));
            let found: SimilarDatasets = state.searcher.similar(&id, depth)?.ok_or_else(missing)?;
            match form {
                Form::Json => {
                    Ok(Json(json!({ "dataset": id, "of": found.of, "similar": found.similar })).into_response())
                }
                Form::Html => {
                    let card = state.searcher.card(&id)?.ok_or_else(missing)?;
                    Ok(page::similar(&card, &found))
                }
            }
        })
        .await
}

/// What a request for an example holds.
#[derive(Default)]
struct Sent {
    name: String,
    media_type: Option<String>,
    bytes: Bytes,
    dataset: Option<String>,
}

#[derive(Deserialize)]
struct Pasted {
    #[serde(default)]
    text: String,
    #[serde(default)]
    dataset: String,
}

impl Sent {
    async fn of(request: Request, headers: &HeaderMap) -> Result<Self, ApiError> {
        let media_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let sent = match essence.as_str() {
            "multipart/form-data" => Self::of_form(request).await?,
            "application/x-www-form-urlencoded" => {
                let form = axum::Form::<Pasted>::from_request(request, &()).await;
                let axum::Form(pasted) = form.map_err(|error| refused(error.status(), error.body_text()))?;
                Self::of_text(pasted.text, pasted.dataset)
            }
            _ => {
                let bytes = Bytes::from_request(request, &()).await;
                let bytes = bytes.map_err(|error| refused(error.status(), error.body_text()))?;
                let announced = (!essence.is_empty() && essence != "application/octet-stream").then_some(essence);
                Self { name: "example".to_owned(), media_type: announced, bytes, dataset: None }
            }
        };
        if sent.bytes.is_empty() && sent.dataset.is_none() {
            return Err(ApiError::bad_request("there is no example: send a file, paste RDF, or name a dataset"));
        }
        Ok(sent)
    }

    fn of_text(text: String, dataset: String) -> Self {
        let dataset = Some(dataset.trim().to_owned()).filter(|dataset| !dataset.is_empty() && text.trim().is_empty());
        let bytes = if text.trim().is_empty() { Bytes::new() } else { Bytes::from(text) };
        Self { name: "what was pasted".to_owned(), media_type: None, bytes, dataset }
    }

    /// A file counts before text, text before a dataset's name.
    async fn of_form(request: Request) -> Result<Self, ApiError> {
        let form = Multipart::from_request(request, &()).await;
        let mut form = form.map_err(|error| refused(error.status(), error.body_text()))?;
        let (mut file, mut text, mut dataset) = (None, String::new(), String::new());
        let broken = |error: axum::extract::multipart::MultipartError| refused(error.status(), error.body_text());
        while let Some(field) = form.next_field().await.map_err(broken)? {
            match field.name().unwrap_or_default() {
                "file" => {
                    let name = field.file_name().and_then(|name| name.rsplit(['/', '\\']).next()).unwrap_or_default();
                    let name = page::shorten(name, 100);
                    let bytes = field.bytes().await.map_err(broken)?;
                    file = (!bytes.is_empty()).then_some((name, bytes));
                }
                "text" => text = field.text().await.map_err(broken)?,
                "dataset" => dataset = field.text().await.map_err(broken)?,
                _ => {}
            }
        }
        Ok(match file {
            // Browsers guess media types by names: the name itself says as much.
            Some((name, bytes)) => Self { name, media_type: None, bytes, dataset: None },
            None => Self::of_text(text, dataset),
        })
    }

    /// Its triples; an error that tells what is wrong where there are none.
    fn read(self, base: &str) -> Result<(TripleGraph, Reading), ApiError> {
        let limits = Limits { decompressed_bytes: UNPACKED_BYTES, json_memory: 512 << 20, ..Limits::default() };
        let intake = DumpReader::with_limits(limits);
        let intake = match &self.media_type {
            Some(media_type) => intake.with_media_type(media_type),
            None => intake,
        };
        let mut graph = Bounded { builder: TripleGraphBuilder::new(), over: false };
        let hasty = Hasty { reader: &self.bytes[..], until: Instant::now() + PATIENCE };
        let reports = intake.read(hasty, &self.name, &format!("{base}like"), &mut graph);
        let mut problems = problems(&reports);
        if graph.over {
            problems.push(format!("only the first {EXAMPLE_TRIPLES} triples were compared"));
        }
        if graph.builder.is_empty() {
            let why = if problems.is_empty() { "it holds no triple".to_owned() } else { problems.join("\n") };
            return Err(ApiError::bad_request(format!("{} cannot be compared:\n{why}", self.name)));
        }
        let graph = graph.builder.finish();
        let reading = Reading { name: self.name, triples: graph.len(), problems };
        Ok((graph, reading))
    }
}

fn refused(status: StatusCode, message: String) -> ApiError {
    match status {
        StatusCode::PAYLOAD_TOO_LARGE => {
            ApiError::with_status(status, format!("an example may have {} MB", EXAMPLE_BYTES >> 20))
        }
        status => ApiError::with_status(status, message),
    }
}

fn problems(reports: &[FileReport]) -> Vec<String> {
    let listed = reports.iter().flat_map(|report| &report.problems);
    let mut told: Vec<String> = listed.clone().take(PROBLEMS).map(ToString::to_string).collect();
    let unlisted: u64 = reports.iter().map(|report| report.unlisted_problems).sum();
    let more = listed.count().saturating_sub(PROBLEMS) as u64 + unlisted;
    if more > 0 {
        told.push(format!("and {more} more problems"));
    }
    if told.is_empty() && reports.iter().any(|report| report.outcome != Outcome::Complete) {
        told.push("not all of it could be read".to_owned());
    }
    told
}

/// Takes no more triples than are compared.
struct Bounded {
    builder: TripleGraphBuilder,
    over: bool,
}

impl TripleSink for Bounded {
    fn start_file(&mut self) {
        self.builder.start_file();
    }

    fn insert_triple(&mut self, triple: TripleRef<'_>) {
        match self.builder.len() < EXAMPLE_TRIPLES {
            true => self.builder.insert(triple),
            false => self.over = true,
        }
    }
}

/// Ends when its time is over.
struct Hasty<R> {
    reader: R,
    until: Instant,
}

impl<R: Read> Read for Hasty<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if Instant::now() > self.until {
            return Err(io::Error::other(format!("it took more than {} s to read", PATIENCE.as_secs())));
        }
        // In small pieces: how long one takes is bounded too.
        let most = buffer.len().min(1 << 16);
        self.reader.read(&mut buffer[..most])
    }
}
