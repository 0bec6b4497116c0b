//! `GET /dataset/{id}/snippet`: a snippet made on demand, by any bounded method, for a query or for none.

use super::error::ApiError;
use super::negotiation::{best, languages};
use super::{AppState, page};
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use lodeseek_catalog::DatasetId;
use lodeseek_engine::{Card, DatasetSnippet, SnippetRequest};
use lodeseek_rdf::RdfSyntax;
use lodeseek_snippet::{Deadline, LabelledTriple, Method, TripleBudget, draw_document};
use oxsdatatypes::DateTime;
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What snippets made on demand may cost. Beside the deadline every method keeps to its own bound on steps.
#[derive(Clone, Debug)]
pub struct SnippetLimits {
    /// Time after which a method gives what it has. Answers cut by it are not to be cached.
    pub deadline: Duration,
    /// Requests that make snippets, or read graphs for explanations, at the same time.
    pub concurrent: usize,
    /// Time a request waits for its turn.
    pub patience: Duration,
    /// Triples of a snippet at most.
    pub budget: usize,
    /// Bytes of graphs kept for the next request.
    pub kept_bytes: usize,
}

impl Default for SnippetLimits {
    fn default() -> Self {
        Self {
            deadline: Duration::from_secs(2),
            concurrent: 4,
            patience: Duration::from_secs(5),
            budget: 100,
            kept_bytes: 256 << 20,
        }
    }
}

#[derive(Deserialize)]
pub(super) struct Parameters {
    method: Option<Method>,
    budget: Option<usize>,
    query: Option<String>,
    lang: Option<String>,
    format: Option<String>,
}

/// The forms of the answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    Html,
    Json,
    Svg,
    Rdf(RdfSyntax),
}

impl Form {
    /// Every form with its media type, the one for who has no preference first.
    const ALL: [(&'static str, Self); 8] = [
        ("text/html", Self::Html),
        ("application/xhtml+xml", Self::Html),
        ("application/json", Self::Json),
        ("image/svg+xml", Self::Svg),
        ("text/turtle", Self::Rdf(RdfSyntax::Turtle)),
        ("application/ld+json", Self::Rdf(RdfSyntax::JsonLd)),
        ("application/n-triples", Self::Rdf(RdfSyntax::NTriples)),
        ("application/rdf+xml", Self::Rdf(RdfSyntax::RdfXml)),
    ];

    fn asked(name: Option<&str>, headers: &HeaderMap) -> Result<Self, ApiError> {
        match name {
            Some("html") => Ok(Self::Html),
            Some("json") => Ok(Self::Json),
            Some("svg") => Ok(Self::Svg),
            Some(name) => RdfSyntax::from_name(name).map(Self::Rdf).ok_or_else(|| {
                let there = "html, json, svg, ttl, jsonld, nt or rdf";
                ApiError::bad_request(format!("{name:?} is no format here: {there}"))
            }),
            None => Self::accepted(headers),
        }
    }

    fn accepted(headers: &HeaderMap) -> Result<Self, ApiError> {
        let offers = Self::ALL.map(|(media_type, _)| media_type);
        let chosen = best(headers, &offers).and_then(|best| Self::ALL.into_iter().find(|(offer, _)| *offer == best));
        chosen.map(|(_, form)| form).ok_or_else(|| {
            ApiError::with_status(StatusCode::NOT_ACCEPTABLE, format!("to be had are {}", offers.join(", ")))
        })
    }
}

impl Parameters {
    fn request(&self, headers: &HeaderMap, limits: &SnippetLimits) -> Result<SnippetRequest, ApiError> {
        let query = self.query.as_deref().map(str::trim).filter(|query| !query.is_empty());
        if let Some(query) = query {
            super::search::check_query(query)?;
        }
        let default = if query.is_some() { Method::Optimal } else { Method::default() };
        let method = self.method.unwrap_or(default);
        if !method.is_bounded() {
            return Err(ApiError::bad_request(format!("{method} takes too long here; there are {}", offered())));
        }
        let budget = self.budget.unwrap_or(TripleBudget::default().0);
        if !(1..=limits.budget).contains(&budget) {
            return Err(ApiError::bad_request(format!("budget must be from 1 to {}", limits.budget)));
        }
        Ok(SnippetRequest {
            method,
            budget: TripleBudget(budget),
            work: None,
            query: query.map(str::to_owned),
            languages: languages(headers, self.lang.as_deref())?,
        })
    }
}

/// The names of the methods to be had.
fn offered() -> String {
    let methods = Method::ALL.into_iter().filter(|method| method.is_bounded());
    methods.map(Method::name).collect::<Vec<_>>().join(", ")
}

pub(super) async fn snippet(
    State(state): State<AppState>,
    Path(id): Path<String>,
    parameters: Result<Query<Parameters>, QueryRejection>,
    headers: HeaderMap,
) -> Response {
    let accepted = Form::accepted(&headers).unwrap_or(Form::Rdf(RdfSyntax::Turtle));
    let (form, answer) = match parameters {
        Ok(Query(parameters)) => {
            let asked = Form::asked(parameters.format.as_deref(), &headers);
            (*asked.as_ref().unwrap_or(&accepted), answer(&state, id, &parameters, asked, &headers).await)
        }
        Err(rejection) => (accepted, Err(ApiError::bad_request(rejection.body_text()))),
    };
    let mut response = answer.unwrap_or_else(|error| match form {
        Form::Html => page::error(&error),
        Form::Json => super::search::json_error(&error),
        Form::Svg | Form::Rdf(_) => error.into_response(),
    });
    response.headers_mut().append(header::VARY, HeaderValue::from_static("accept, accept-language"));
    response
}

async fn answer(
    state: &AppState,
    id: String,
    parameters: &Parameters,
    form: Result<Form, ApiError>,
    headers: &HeaderMap,
) -> Result<Response, ApiError> {
    let form = form?;
    let id = DatasetId::new(id).map_err(|error| ApiError::not_found(error.to_string()))?;
    let request = parameters.request(headers, &state.snippets)?;
    let (wanted, asked) = (id.clone(), request.clone());
    let tag = state
        .work(move |state| {
            let card = state.searcher.card(&wanted)?.ok_or_else(|| missing(&wanted))?;
            Ok(entity_tag(&card, &asked, form))
        })
        .await?;
    if is_known(headers, &tag) {
        return Ok((StatusCode::NOT_MODIFIED, whole(&tag)).into_response());
    }
    let turn = state.turn().await?;
    state
        .work(move |state| {
            let _turn = turn;
            let (made, late) = make(state, &id, &request)?;
            let response = respond(state, &made, &request, form)?;
            Ok(if late { (CUT, response).into_response() } else { (whole(&tag), response).into_response() })
        })
        .await
}

fn missing(id: &DatasetId) -> ApiError {
    ApiError::not_found(format!("there is no dataset {id}"))
}

/// The snippet, and whether the deadline cut it.
fn make(state: &AppState, id: &DatasetId, request: &SnippetRequest) -> Result<(DatasetSnippet, bool), ApiError> {
    let (started, late) = (Instant::now(), AtomicBool::new(false));
    let passed = || {
        let over = started.elapsed() >= state.snippets.deadline;
        late.fetch_or(over, Ordering::Relaxed);
        over
    };
    let made = state.searcher.snippet(id, request, Deadline::new(&passed))?.ok_or_else(|| missing(id))?;
    Ok((made, late.load(Ordering::Relaxed)))
}

/// Equal where the answer must be, but for the time told in it: hence a weak tag.
fn entity_tag(card: &Card, request: &SnippetRequest, form: Form) -> String {
    let told = (&card.version, card.metadata.title(), request, form, env!("CARGO_PKG_VERSION"));
    let digest = Sha256::digest(format!("{told:?}"));
    let name: String = digest.iter().take(12).map(|byte| format!("{byte:02x}")).collect();
    format!("W/\"{name}\"")
}

/// `If-None-Match` (RFC 9110, 13.1.2), compared weakly.
fn is_known(headers: &HeaderMap, tag: &str) -> bool {
    let opaque = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    let known = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    known.flat_map(|value| value.split(',')).any(|known| known.trim() == "*" || opaque(known) == opaque(tag))
}

/// Kept, but asked about before it is used again: content may be loaded anew at any time, and to ask is cheap.
fn whole(tag: &str) -> [(HeaderName, String); 2] {
    [(header::ETAG, tag.to_owned()), (header::CACHE_CONTROL, "public, no-cache".to_owned())]
}

/// Another time there may be more of it.
const CUT: [(HeaderName, &str); 1] = [(header::CACHE_CONTROL, "no-store")];

/// A picture brings its own style, known by its hash, and nothing else.
const PICTURE_POLICY: &str =
    "default-src 'none'; style-src 'sha256-Jpke1JFRMEcobGSAeg7XaNOUUOm7q/MSuXh/3+Nn1ZM='; frame-ancestors 'none'";

fn respond(
    state: &AppState,
    made: &DatasetSnippet,
    request: &SnippetRequest,
    form: Form,
) -> Result<Response, ApiError> {
    Ok(match form {
        Form::Html => page::snippet(made, request, state.snippets.budget),
        Form::Json => Json(snippet_json(made, request)).into_response(),
        Form::Svg => {
            let triples: Vec<LabelledTriple> = made.made.triples.iter().map(|shown| shown.triple.clone()).collect();
            let headers = [(header::CONTENT_TYPE, "image/svg+xml"), (header::CONTENT_SECURITY_POLICY, PICTURE_POLICY)];
            (headers, draw_document(&triples, made.card.metadata.title())).into_response()
        }
        Form::Rdf(syntax) => {
            let triples = made.to_triples(state.store.iris(), request, Some(DateTime::now()));
            let bytes = syntax.write(&triples).map_err(|error| {
                // RDF/XML has no way to write some properties.
                ApiError::with_status(StatusCode::NOT_ACCEPTABLE, format!("{error}; try another syntax"))
            })?;
            ([(header::CONTENT_TYPE, syntax.media_type())], bytes).into_response()
        }
    })
}

fn snippet_json(made: &DatasetSnippet, request: &SnippetRequest) -> Value {
    json!({
        "dataset": made.card.metadata.id,
        "title": made.card.metadata.title(),
        "version": made.card.version,
        "method": request.method,
        "method_name": made.made.method,
        "budget": request.budget.0,
        "work_bound": made.made.work,
        "query": request.query,
        "terms": made.made.words.texts(),
        "languages": request.languages,
        "gain": made.made.snippet.gain,
        "interrupted": made.made.snippet.interrupted,
        "triples": made.made.triples,
    })
}
