//! `GET /dataset/{id}/snippet`: a snippet computed on demand by any bounded method, with or without a query.

use crate::AppState;
use crate::documentation::{
    AnyError, BadRequest, Busy, ClientLimit, FormatParameter, Html, Id, JsonObject, Negotiated,
    NotAcceptable, NotFound, Rdf, Svg, Text,
};
use crate::error::ApiError;
use crate::negotiation::{accepted_form, best, languages, matches_tag, named_form};
use crate::pages::{self, PageContext};
use crate::parameters::{check_query, invalid_parameters};
use crate::response_formats::{graph_in, xml};
use crate::site::Client;
use crate::work_limits::SnippetLimits;
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use lodeseek_catalog::DatasetId;
use lodeseek_engine::{Card, DatasetSnippet, SnippetRequest};
use lodeseek_rdf::{RdfForm, RdfSyntax, RdfVersion};
use lodeseek_snippet::{Deadline, LabelledTriple, Method, RowBudget, TripleBudget, draw_document};
use oxsdatatypes::DateTime;
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use utoipa::IntoParams;

/// Maximum number of rows of a table.
const MAX_ROWS: usize = 100;

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Parameters {
    /// Method: illusnip, pcsg and others.
    #[param(value_type = Option<String>)]
    method: Option<Method>,
    /// Maximum number of triples.
    #[param(minimum = 1, maximum = 100, default = 20)]
    budget: Option<usize>,
    /// Query that the triples should match.
    query: Option<String>,
    /// Maximum number of rows of a table. With a query, only rows with one of its words are returned.
    #[param(minimum = 1, maximum = 100, default = 5)]
    rows: Option<usize>,
    /// Languages of labels, best first.
    lang: Option<String>,
    #[param(ignore)]
    format: Option<String>,
}

/// Formats of the response.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Format {
    Html,
    Json,
    Svg,
    Rdf(RdfForm),
}

impl Format {
    const fn rdf(syntax: RdfSyntax) -> Self {
        Self::Rdf(RdfForm {
            syntax,
            version: RdfVersion::V11,
        })
    }

    /// Every format with its media type, the default first.
    const ALL: [(&'static str, Self); 8] = [
        ("text/html", Self::Html),
        ("application/xhtml+xml", Self::Html),
        ("application/json", Self::Json),
        ("image/svg+xml", Self::Svg),
        ("text/turtle", Self::rdf(RdfSyntax::Turtle)),
        ("application/ld+json", Self::rdf(RdfSyntax::JsonLd)),
        ("application/n-triples", Self::rdf(RdfSyntax::NTriples)),
        ("application/rdf+xml", Self::rdf(RdfSyntax::RdfXml)),
    ];

    fn negotiate(name: Option<&str>, headers: &HeaderMap) -> Result<Self, ApiError> {
        match name {
            Some("html") => Ok(Self::Html),
            Some("json") => Ok(Self::Json),
            Some("svg") => Ok(Self::Svg),
            Some(name) => match RdfSyntax::from_name(name) {
                Some(syntax) => Ok(Self::Rdf(named_form(syntax, name, headers))),
                None => Err(ApiError::unknown_format(
                    name,
                    "html, json, svg, ttl, jsonld, nt, rdf",
                )),
            },
            None => Self::from_accept(headers),
        }
    }

    fn from_accept(headers: &HeaderMap) -> Result<Self, ApiError> {
        let offers = Self::ALL.map(|(media_type, _)| media_type);
        let chosen = best(headers, &offers)
            .and_then(|best| Self::ALL.into_iter().find(|(offer, _)| *offer == best));
        let (_, format) = chosen.ok_or_else(|| ApiError::not_acceptable(&offers))?;
        Ok(match format {
            Self::Rdf(form) => Self::Rdf(accepted_form(form.syntax, headers)),
            other => other,
        })
    }
}

impl Parameters {
    fn request(
        &self,
        headers: &HeaderMap,
        limits: &SnippetLimits,
    ) -> Result<SnippetRequest, ApiError> {
        let query = self
            .query
            .as_deref()
            .map(str::trim)
            .filter(|query| !query.is_empty());
        if let Some(query) = query {
            check_query(query)?;
        }
        let default = if query.is_some() {
            Method::Optimal
        } else {
            Method::default()
        };
        let method = self.method.unwrap_or(default);
        if !method.is_bounded() {
            return Err(ApiError::bad_request(format!(
                "method={method} is not supported here: its run time is not bounded; supported methods: {}",
                bounded_methods()
            )));
        }
        let budget = self.budget.unwrap_or(TripleBudget::default().0);
        if !(1..=limits.budget).contains(&budget) {
            return Err(ApiError::bad_request(format!(
                "budget must be from 1 to {}",
                limits.budget
            )));
        }
        let rows = self.rows.unwrap_or(RowBudget::default().rows);
        if !(1..=MAX_ROWS).contains(&rows) {
            return Err(ApiError::bad_request(format!(
                "rows must be from 1 to {MAX_ROWS}"
            )));
        }
        Ok(SnippetRequest {
            method,
            budget: TripleBudget(budget),
            work: None,
            query: query.map(str::to_owned),
            languages: languages(headers, self.lang.as_deref())?,
            rows,
        })
    }
}

/// Lists the names of the methods with a bound on their work.
fn bounded_methods() -> String {
    let methods = Method::ALL.into_iter().filter(|method| method.is_bounded());
    methods.map(Method::name).collect::<Vec<_>>().join(", ")
}

#[utoipa::path(get, path = "/dataset/{id}/snippet", tag = "Datasets",
    summary = "Snippet: a few triples that represent a dataset",
    params(Id, Parameters, FormatParameter),
    responses(
        Negotiated<((Html, JsonObject, Svg), Rdf)>,
        (status = 304, description = "If-None-Match has the entity tag of the snippet."),
        BadRequest<AnyError>,
        NotFound<AnyError>,
        NotAcceptable<Text>,
        ClientLimit<AnyError>,
        Busy<AnyError>))]
pub(super) async fn snippet(
    State(state): State<AppState>,
    client: Client,
    Path(id): Path<String>,
    parameters: Result<Query<Parameters>, QueryRejection>,
    page: PageContext,
    headers: HeaderMap,
) -> Response {
    let accepted = Format::from_accept(&headers).unwrap_or(Format::rdf(RdfSyntax::Turtle));
    let (form, answer) = match parameters {
        Ok(Query(parameters)) => {
            let chosen = Format::negotiate(parameters.format.as_deref(), &headers);
            (
                *chosen.as_ref().unwrap_or(&accepted),
                snippet_response(&state, client, &page, id, &parameters, chosen, &headers).await,
            )
        }
        Err(rejection) => (accepted, Err(invalid_parameters(&rejection, &[]))),
    };
    answer.unwrap_or_else(|error| match form {
        Format::Html => pages::error(&page, &error),
        Format::Json => error.to_json_response(),
        Format::Svg | Format::Rdf(_) => error.into_response(),
    })
}

async fn snippet_response(
    state: &AppState,
    client: Client,
    page: &PageContext,
    id: String,
    parameters: &Parameters,
    form: Result<Format, ApiError>,
    headers: &HeaderMap,
) -> Result<Response, ApiError> {
    let form = form?;
    let id = DatasetId::new(id).map_err(|error| ApiError::not_found(error.to_string()))?;
    let request = parameters.request(headers, &state.limits.snippets)?;
    // A page also has texts of the portal in the language of the reader, so it has no tag.
    let tag = match form {
        Format::Html => None,
        Format::Json | Format::Svg | Format::Rdf(_) => {
            let (id, request) = (id.clone(), request.clone());
            let tag = state
                .work(move |state| {
                    let card = state
                        .searcher
                        .catalog()
                        .card(&id)?
                        .ok_or_else(|| ApiError::no_dataset(&id))?;
                    Ok(entity_tag(&card, &request, form))
                })
                .await?;
            Some(tag)
        }
    };
    if let Some(tag) = &tag
        && matches_tag(headers, tag)
    {
        return Ok((StatusCode::NOT_MODIFIED, cacheable(tag)).into_response());
    }
    let page = page.clone();
    state
        .work_with_permit(client, move |state| {
            let (made, is_cut) = compute_snippet(state, &id, &request)?;
            let response = respond(state, &page, &made, &request, form)?;
            Ok(match tag {
                _ if is_cut => (NOT_CACHEABLE, response).into_response(),
                Some(tag) => (cacheable(&tag), response).into_response(),
                None => (NOT_TAGGED, response).into_response(),
            })
        })
        .await
}

/// Computes the snippet. The boolean is true if the deadline cut the computation.
fn compute_snippet(
    state: &AppState,
    id: &DatasetId,
    request: &SnippetRequest,
) -> Result<(DatasetSnippet, bool), ApiError> {
    let started = Instant::now();
    let is_cut = AtomicBool::new(false);
    let made = state.searcher.snippet(
        id,
        request,
        Deadline::new(&|| {
            let is_over = started.elapsed() >= state.limits.snippets.deadline;
            is_cut.fetch_or(is_over, Ordering::Relaxed);
            is_over
        }),
    )?;
    let made = made.ok_or_else(|| ApiError::no_dataset(id))?;
    Ok((made, is_cut.load(Ordering::Relaxed)))
}

/// Computes the entity tag. It is weak because RDF responses contain the time.
fn entity_tag(card: &Card, request: &SnippetRequest, form: Format) -> String {
    let inputs = (
        &card.version,
        card.metadata.title(),
        request,
        form,
        env!("CARGO_PKG_VERSION"),
    );
    let digest = Sha256::digest(format!("{inputs:?}"));
    let name: String = digest
        .iter()
        .take(12)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("W/\"{name}\"")
}

/// Headers of a complete snippet or of shapes. Caches store it and revalidate it before each use: content may be reloaded at any time,
/// and validation is cheap.
pub(super) fn cacheable(tag: &str) -> [(HeaderName, String); 2] {
    [
        (header::ETAG, tag.to_owned()),
        (header::CACHE_CONTROL, "public, no-cache".to_owned()),
    ]
}

/// Header of a snippet that the deadline cut: the next computation may find more.
const NOT_CACHEABLE: [(HeaderName, &str); 1] = [(header::CACHE_CONTROL, "no-store")];

/// Header of a page, which is made again for each request.
const NOT_TAGGED: [(HeaderName, &str); 1] = [(header::CACHE_CONTROL, "no-cache")];

/// Content security policy of a drawing: its own inline style, allowed by hash, and nothing else.
const PICTURE_POLICY: &str = "default-src 'none'; style-src 'sha256-Jpke1JFRMEcobGSAeg7XaNOUUOm7q/MSuXh/3+Nn1ZM='; frame-ancestors 'none'";

fn respond(
    state: &AppState,
    page: &PageContext,
    made: &DatasetSnippet,
    request: &SnippetRequest,
    form: Format,
) -> Result<Response, ApiError> {
    Ok(match form {
        Format::Html => pages::snippet(page, made, request, state.limits.snippets.budget),
        Format::Json => Json(snippet_json(made, request)).into_response(),
        Format::Svg => {
            let triples: Vec<LabelledTriple> = made
                .extracted
                .triples
                .iter()
                .map(|shown| shown.triple.clone())
                .collect();
            let mut response = xml(
                "image/svg+xml",
                &draw_document(&triples, made.card.metadata.title()),
            )?;
            response.headers_mut().insert(
                header::CONTENT_SECURITY_POLICY,
                HeaderValue::from_static(PICTURE_POLICY),
            );
            response
        }
        Format::Rdf(form) => {
            let triples = made.to_triples(state.store.iris(), request, Some(DateTime::now()));
            graph_in(&triples, form)?
        }
    })
}

fn snippet_json(made: &DatasetSnippet, request: &SnippetRequest) -> Value {
    let mut value = json!({
        "dataset": made.card.metadata.id,
        "title": made.card.metadata.title(),
        "version": made.card.version,
        "method": request.method,
        "method_name": made.extracted.method,
        "budget": request.budget.0,
        "work_bound": made.extracted.work,
        "query": request.query,
        "terms": made.extracted.words.texts(),
        "languages": request.languages,
        "gain": made.extracted.snippet.gain,
        "interrupted": made.extracted.snippet.interrupted,
        "triples": made.extracted.triples,
    });
    if let Some(table) = &made.extracted.table {
        value["table"] = json!(table);
    }
    value
}
