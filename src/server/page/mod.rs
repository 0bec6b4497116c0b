//! The pages: rendered here, complete without JavaScript, everything from data escaped by the templates.

mod api;
mod chart;
mod dataset;
mod diagram;
mod entity;
mod facets;
mod operator;
mod quality;
mod similar;
mod snippet;

pub(super) use api::api;
pub(super) use dataset::dataset;
pub(super) use entity::entity;
pub(super) use operator::operator;
pub(super) use quality::{quality, quality_of};
pub(super) use similar::{like, similar};
pub(super) use snippet::snippet;

use super::error::{ApiError, say_when};
use super::filter::{Pairs, filter, parameters as filter_parameters};
use super::negotiation::languages;
use super::search::{check_query, check_snippet, shown, turn};
use super::{AppState, editor};
use crate::catalog::{DatasetId, Extent, Metadata, Scheme, Work};
use crate::engine::{Card, FieldMatch, Filter, Hit, Other, SearchRequest, SearchResponse, Shown, SnippetKind};
use crate::snippet::{LabelledTerm, LabelledTriple, TermKind};
use crate::store::Answer;
use askama::Template;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use facets::{Chip, FacetView, YearsView};
use serde::Deserialize;

const PAGE: usize = 10;
/// Triples of a snippet shown with a result.
const SHOWN: usize = 6;
/// Tasks, modalities and languages shown with a result.
const THEMES: usize = 8;

/// Queries to begin with: (what it shows, the query).
pub(super) const EXAMPLES: &[(&str, &str)] = &[
    ("Datasets and their sizes", include_str!("../../../queries/datasets.rq")),
    ("Which datasets use a class", include_str!("../../../queries/datasets-by-class.rq")),
    ("Datasets for a task, with years and papers", include_str!("../../../queries/datasets-of-a-task.rq")),
    ("Stored snippets and how they came to be", include_str!("../../../queries/snippets.rq")),
    ("Search in the content of all datasets", include_str!("../../../queries/content.rq")),
    ("Datasets found by the search, and why", include_str!("../../../queries/search-why.rq")),
    ("What the datasets found describe", include_str!("../../../queries/search-classes.rq")),
    ("Into the data of the datasets found", include_str!("../../../queries/search-content.rq")),
];

#[derive(Deserialize)]
pub(super) struct Parameters {
    #[serde(default)]
    q: String,
    #[serde(default)]
    page: usize,
    #[serde(default)]
    snippet: SnippetKind,
    lang: Option<String>,
    duplicates: Option<String>,
}

/// A piece of text, and whether it is one of the query's words.
struct Piece {
    text: String,
    matched: bool,
}

/// A term ready for a template.
struct TermView {
    pieces: Vec<Piece>,
    literal: bool,
    /// The IRI, for a tooltip.
    title: String,
    language: String,
}

struct TripleView {
    subject: TermView,
    predicate: TermView,
    object: TermView,
}

/// A publication.
struct WorkView {
    title: String,
    issued: String,
    href: Option<String>,
}

struct HitView {
    rank: usize,
    href: String,
    /// The address of the snippet for the query.
    snippet: String,
    title: Vec<Piece>,
    description: Vec<Piece>,
    facts: Vec<String>,
    /// (kind, label)
    themes: Vec<(&'static str, String)>,
    more_themes: usize,
    work: Option<WorkView>,
    score: String,
    fields: Vec<FieldMatch>,
    /// What is near in meaning, where a hit has none of the words.
    near: Vec<String>,
    closest: bool,
    triples: Vec<TripleView>,
    /// The same dataset under other ids: (address, from whom).
    others: Vec<(String, String)>,
}

#[derive(Template, Default)]
#[template(path = "search.html")]
struct SearchPage {
    query: String,
    datasets: u64,
    searched: bool,
    total: usize,
    /// Whether something was shown once that the numbers, of facets too, count more often.
    each_counted: bool,
    with_words: usize,
    hits: Vec<HitView>,
    hits_have_triples: bool,
    chips: Vec<Chip>,
    facets: Vec<FacetView>,
    years: Option<YearsView>,
    /// What another query keeps: hidden fields of its form.
    kept: Vec<(&'static str, String)>,
    /// To the same query without filters.
    unfiltered: String,
    ranked_by: String,
    /// Datasets ranked by meaning too; 0 where only words were compared.
    candidates: usize,
    /// Whether no hit is more than the closest there is.
    only_closest: bool,
    /// To the same page with the other kind of snippets.
    other: String,
    /// Whether the triples were chosen for the query.
    chosen: bool,
    previous: Option<String>,
    next: Option<String>,
    /// The same search as a feed.
    feed: String,
}

#[derive(Template)]
#[template(path = "sparql.html")]
struct SparqlPage {
    query: String,
    text: String,
    examples: &'static [(&'static str, &'static str)],
    error: Option<String>,
    columns: Vec<String>,
    rows: Vec<Vec<CellView>>,
    answered: bool,
    truncated: bool,
    bars: Vec<chart::Bars>,
    map: Option<chart::Map>,
    /// Whether there is an editor in the place of the form.
    editor: bool,
}

struct CellView {
    text: String,
    href: Option<String>,
}

#[derive(Template)]
#[template(path = "error.html")]
struct ErrorPage {
    query: String,
    status: u16,
    message: String,
}

pub(super) async fn search(
    State(state): State<AppState>,
    parameters: Result<Query<Parameters>, QueryRejection>,
    Query(pairs): Query<Pairs>,
    headers: HeaderMap,
) -> Response {
    let mut response = match found(&state, parameters, &pairs, &headers).await {
        Ok(page) => render(&page),
        Err(failed) => error(&failed),
    };
    response.headers_mut().append(header::VARY, HeaderValue::from_static("accept-language"));
    response
}

async fn found(
    state: &AppState,
    parameters: Result<Query<Parameters>, QueryRejection>,
    pairs: &Pairs,
    headers: &HeaderMap,
) -> Result<SearchPage, ApiError> {
    let Query(parameters) = parameters.map_err(|rejection| ApiError::bad_request(rejection.body_text()))?;
    // A textarea may hold line breaks.
    let query = parameters.q.split_whitespace().collect::<Vec<_>>().join(" ");
    if query.is_empty() {
        return state.work(|state| Ok(SearchPage { datasets: state.searcher.len()?, ..SearchPage::default() })).await;
    }
    check_query(&query)?;
    check_snippet(parameters.snippet)?;
    let request = SearchRequest {
        depth: PAGE,
        skip: parameters.page.min(1000).saturating_mul(PAGE),
        snippet: parameters.snippet,
        languages: languages(headers, parameters.lang.as_deref())?,
        filter: filter(pairs)?,
        facets: Some(facets::MOST),
        duplicates: shown(parameters.duplicates.as_deref())?,
        ..SearchRequest::new(query)
    };
    let turn = turn(state, &request).await?;
    let lang = parameters.lang;
    state
        .work(move |state| {
            let _turn = turn;
            let response = state.searcher.search(&request)?;
            Ok(search_page(state, &request, lang.as_deref(), state.searcher.len()?, &response))
        })
        .await
}

/// A page of results, as its address says it.
#[derive(Clone, Copy)]
struct Results<'r> {
    query: &'r str,
    filter: &'r Filter,
    page: usize,
    snippet: SnippetKind,
    lang: Option<&'r str>,
    duplicates: Shown,
}

impl Results<'_> {
    fn href(&self) -> String {
        let mut parameters = form_urlencoded::Serializer::new(String::new());
        parameters.append_pair("q", self.query).append_pair("page", &self.page.to_string());
        parameters.extend_pairs(self.kept(self.filter));
        format!("/?{}", parameters.finish())
    }

    /// The feed of the same search.
    fn feed(&self) -> String {
        let mut parameters = form_urlencoded::Serializer::new(String::new());
        parameters.append_pair("q", self.query).extend_pairs(filter_parameters(self.filter));
        format!("/feeds/datasets.atom?{}", parameters.finish())
    }

    /// The first page with another filter.
    fn filtered(&self, filter: &Filter) -> String {
        Results { filter, page: 0, ..*self }.href()
    }

    /// What another query keeps.
    fn kept(&self, filter: &Filter) -> Vec<(&'static str, String)> {
        let snippet = match self.snippet {
            SnippetKind::Stored => None,
            SnippetKind::QUERY => Some("query".to_owned()),
            SnippetKind::Made(method) => Some(method.name().to_owned()),
        };
        let snippet = snippet.map(|kind| ("snippet", kind));
        let lang = self.lang.map(|lang| ("lang", lang.to_owned()));
        let all = (self.duplicates == Shown::All).then(|| ("duplicates", "all".to_owned()));
        snippet.into_iter().chain(lang).chain(all).chain(filter_parameters(filter)).collect()
    }

    /// The fields of a form that adds to another filter.
    fn fields(&self, filter: &Filter) -> Vec<(&'static str, String)> {
        [("q", self.query.to_owned())].into_iter().chain(self.kept(filter)).collect()
    }
}

fn search_page(
    state: &AppState,
    request: &SearchRequest,
    lang: Option<&str>,
    datasets: u64,
    response: &SearchResponse,
) -> SearchPage {
    let (page, snippet) = (request.skip / PAGE, request.snippet);
    let duplicates = request.duplicates;
    let results = Results { query: &request.query, filter: &request.filter, page, snippet, lang, duplicates };
    let other = if snippet == SnippetKind::Stored { SnippetKind::QUERY } else { SnippetKind::Stored };
    let link = |page: usize| Results { page, ..results }.href();
    let counts = response.facets.clone().unwrap_or_default();
    SearchPage {
        datasets,
        searched: true,
        total: response.total,
        each_counted: response.hits.iter().any(|hit| !hit.duplicates.is_empty()),
        with_words: response.with_words,
        ranked_by: ranked_by(response),
        candidates: compared(response),
        only_closest: response.only_closest,
        hits: response.hits.iter().map(|hit| hit_view(state, response, hit, request)).collect(),
        hits_have_triples: response.hits.iter().any(|hit| !hit.snippet.is_empty()),
        chips: facets::chips(&results),
        facets: facets::facets(&counts, response.total, &results),
        years: facets::years(&counts.years, &results),
        kept: results.kept(&request.filter),
        unfiltered: results.filtered(&Filter::default()),
        other: Results { snippet: other, ..results }.href(),
        chosen: snippet != SnippetKind::Stored,
        previous: (page > 0).then(|| link(page - 1)),
        next: (request.skip + PAGE < response.total).then(|| link(page + 1)),
        feed: results.feed(),
        query: request.query.clone(),
    }
}

/// A work of a dataset. An IRI that was made here, for want of one, leads nowhere.
fn work_view(work: &Work, dataset: &str) -> WorkView {
    let is_own = |iri: &str| iri.strip_prefix(dataset).is_some_and(|part| part.starts_with('#'));
    WorkView {
        title: work.title.clone(),
        issued: work.issued.clone().unwrap_or_default(),
        href: work.iri.clone().filter(|iri| is_web(iri) && !is_own(iri)),
    }
}

/// What its themes are called, with their kinds.
fn themes(metadata: &Metadata) -> Vec<(&'static str, String)> {
    let of = |scheme: Scheme| metadata.themes_of(scheme).map(move |label| (scheme.name(), label.to_owned()));
    Scheme::ALL.into_iter().flat_map(of).collect()
}

fn hit_view(state: &AppState, response: &SearchResponse, hit: &Hit, request: &SearchRequest) -> HitView {
    let metadata = &hit.card.metadata;
    let mut facts: Vec<String> = metadata.agents().take(1).map(|agent| agent.name.clone()).collect();
    facts.extend(metadata.first_year().map(|year| year.to_string()));
    // Some catalogues tell of datasets that are no RDF.
    facts.extend((hit.card.profile.triples > 0).then(|| size(&hit.card)));
    facts.extend(metadata.license.as_deref().map(facets::label));
    let mut themes = themes(metadata);
    let more_themes = themes.len().saturating_sub(THEMES);
    themes.truncate(THEMES);
    let (matching, others): (Vec<_>, Vec<_>) = hit.snippet.iter().partition(|triple| !triple.matched.is_empty());
    let shown = matching.into_iter().chain(others).take(SHOWN);
    let pieces = |text: &str| pieces(text, |word| state.searcher.is_match(word, response));
    let (own, iri) = (href(&metadata.id), state.store.iris().dataset(&metadata.id));
    let words: String = form_urlencoded::byte_serialize(request.query.as_bytes()).collect();
    HitView {
        rank: hit.rank,
        snippet: format!("{own}/snippet?query={words}"),
        href: own,
        title: pieces(metadata.title()),
        description: pieces(&shorten(metadata.description().unwrap_or_default(), 300)),
        facts,
        themes,
        more_themes,
        work: metadata.introduced_by.first().map(|work| work_view(work, iri.as_str())),
        score: hit.score.map(|score| format!("{score:.2}")).unwrap_or_default(),
        fields: hit.fields.clone(),
        near: near(hit),
        closest: hit.is_closest(),
        others: hit.duplicates.iter().map(|other| (href(&other.id), from_whom(other))).collect(),
        triples: shown.map(|triple| triple_view(&triple.triple, pieces)).collect(),
    }
}

/// Who another dataset that is the same is from; where nobody is told, its id.
fn from_whom(other: &Other) -> String {
    other.publisher.clone().unwrap_or_else(|| other.id.to_string())
}

fn near(hit: &Hit) -> Vec<String> {
    let parts = hit.dense.iter().flat_map(|dense| &dense.parts);
    if hit.fields.is_empty() { parts.map(|part| shorten(&part.text, 160)).collect() } else { Vec::new() }
}

/// The datasets compared by meaning; none where no encoder took part.
fn compared(response: &SearchResponse) -> usize {
    let rerank = response.rerank.as_ref().filter(|rerank| !rerank.encoders.is_empty());
    rerank.map_or(0, |rerank| rerank.candidates)
}

/// What ranked, in words.
fn ranked_by(response: &SearchResponse) -> String {
    let Some(rerank) = &response.rerank else { return format!("{} score", response.model) };
    let mut models: Vec<&str> = rerank.encoders.iter().map(|encoder| encoder.model.as_str()).collect();
    models.dedup();
    let by = match models[..] {
        [] => format!("{} score", response.model),
        _ => format!("Score of words and meaning together, by {}", models.join(", ")),
    };
    let counts = |weight| format!("{by}, and {weight} · ln(1 + popularity), known only later than what is asked for");
    rerank.popularity.map_or(by.clone(), counts)
}

fn href(id: &DatasetId) -> String {
    let encoded: String = form_urlencoded::byte_serialize(id.as_str().as_bytes()).collect();
    format!("/dataset/{}", encoded.replace('+', "%20"))
}

pub(super) fn shorten(text: &str, length: usize) -> String {
    let mut short: String = text.chars().take(length).collect();
    if text.chars().nth(length).is_some() {
        short.push('…');
    }
    short
}

/// The text in pieces: the query's words by themselves, without the punctuation around them. What punctuation holds
/// together (an address, a compound) is a match in those of its parts that match by themselves, and as a whole where all
/// do, or none does.
fn pieces(text: &str, is_match: impl Fn(&str) -> bool) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut add = |text: &str, matched: bool| match pieces.last_mut() {
        Some(last) if !matched && !last.matched => last.text.push_str(text),
        _ if text.is_empty() => {}
        _ => pieces.push(Piece { text: text.to_owned(), matched }),
    };
    for word in text.split_inclusive(char::is_whitespace) {
        let start = word.find(char::is_alphanumeric).unwrap_or(0);
        let end = word.trim_end_matches(|character: char| !character.is_alphanumeric()).len().max(start);
        if is_match(word) {
            add(&word[..start], false);
            marked(&word[start..end], &is_match).into_iter().for_each(|(part, matched)| add(part, matched));
            add(&word[end..], false);
        } else {
            add(word, false);
        }
    }
    pieces
}

/// A word that matches, in parts, each with whether it is to be marked.
fn marked(word: &str, is_match: impl Fn(&str) -> bool) -> Vec<(&str, bool)> {
    // Other punctuation than ASCII's may be part of a letter: signs of vowels, joiners.
    let is_between = |part: &str| part.chars().all(|character| character.is_ascii_punctuation());
    let parts = word.split_inclusive(|character: char| character.is_ascii_punctuation());
    let parts = parts.flat_map(|part| {
        let (name, behind) = part.split_at(part.trim_end_matches(|c: char| c.is_ascii_punctuation()).len());
        [name, behind].into_iter().filter(|part| !part.is_empty())
    });
    let parts: Vec<(&str, bool)> = parts.map(|part| (part, !is_between(part) && is_match(part))).collect();
    let names = || parts.iter().filter(|(part, _)| !is_between(part));
    if names().all(|(_, matched)| *matched) || names().all(|(_, matched)| !matched) {
        return vec![(word, true)];
    }
    parts
}

fn triple_view(triple: &LabelledTriple, pieces: impl Fn(&str) -> Vec<Piece>) -> TripleView {
    let term = |term: &LabelledTerm| TermView {
        pieces: pieces(&shorten(&term.label, 160)),
        literal: term.kind == TermKind::Literal,
        title: if term.kind == TermKind::Iri { term.value.clone() } else { term.datatype.clone().unwrap_or_default() },
        language: term.language.clone().unwrap_or_default(),
    };
    TripleView { subject: term(&triple.subject), predicate: term(&triple.predicate), object: term(&triple.object) }
}

/// How large a dataset is: where a sample is held, all of it.
fn size(card: &Card) -> String {
    let held = card.profile.triples;
    match card.remote.as_ref().map(|remote| (remote.extent, remote.triples)) {
        Some((Extent::Sample, Some(all))) => format!("{all} triples, a sample of {held} here"),
        Some((Extent::Sample, None)) => format!("a sample of {held} triples"),
        _ => format!("{held} triples"),
    }
}

/// Only addresses of the web become links: no `javascript:`, no `file:`.
pub(super) fn is_web(text: &str) -> bool {
    text.starts_with("http://") || text.starts_with("https://")
}

pub(super) fn sparql(state: &AppState, text: &str, answer: Option<Result<Answer, ApiError>>) -> Response {
    let mut page = SparqlPage {
        query: String::new(),
        text: if text.is_empty() { EXAMPLES[0].1.to_owned() } else { text.to_owned() },
        examples: EXAMPLES,
        error: None,
        columns: Vec::new(),
        rows: Vec::new(),
        answered: answer.is_some(),
        truncated: false,
        bars: Vec::new(),
        map: None,
        editor: state.editor.is_some(),
    };
    let mut status = StatusCode::OK;
    match answer {
        None => {}
        Some(Err(error)) => {
            status = error.status;
            page.error = Some(error.message);
        }
        Some(Ok(answer)) => {
            page.truncated = answer.is_truncated();
            (page.columns, page.rows) = table(state, &answer);
            if let Answer::Solutions { variables, rows, .. } = &answer {
                (page.bars, page.map) = (chart::bars(variables, rows), chart::map(variables, rows));
            }
        }
    }
    let mut response = (status, render(&page)).into_response();
    say_when(&mut response);
    if state.editor.is_some() {
        editor::allow(&mut response);
    }
    response
}

fn table(state: &AppState, answer: &Answer) -> (Vec<String>, Vec<Vec<CellView>>) {
    let cell = |term: &oxrdf::Term| {
        let (text, iri) = match term {
            oxrdf::Term::NamedNode(node) => (node.as_str().to_owned(), Some(node.as_str())),
            oxrdf::Term::Literal(literal) => (literal.value().to_owned(), None),
            other => (other.to_string(), None),
        };
        let own = iri.and_then(|iri| state.store.iris().dataset_id(iri)).map(|id| href(&id));
        CellView { text, href: own.or_else(|| iri.filter(|iri| is_web(iri)).map(str::to_owned)) }
    };
    let empty = || CellView { text: String::new(), href: None };
    match answer {
        Answer::Boolean(value) => {
            (vec!["answer".to_owned()], vec![vec![CellView { text: value.to_string(), href: None }]])
        }
        Answer::Solutions { variables, rows, .. } => {
            let columns = variables.iter().map(|variable| variable.as_str().to_owned()).collect();
            let rows = rows.iter().map(|row| row.iter().map(|term| term.as_ref().map_or_else(empty, cell)).collect());
            (columns, rows.collect())
        }
        Answer::Graph { triples, .. } => {
            let columns = ["subject", "predicate", "object"].map(str::to_owned).to_vec();
            let row = |t: &oxrdf::Triple| {
                vec![cell(&t.subject.clone().into()), cell(&t.predicate.clone().into()), cell(&t.object)]
            };
            (columns, triples.iter().map(row).collect())
        }
    }
}

pub(super) async fn not_found() -> Response {
    error(&ApiError::not_found("There is no such page."))
}

pub(super) fn error(error: &ApiError) -> Response {
    let page = ErrorPage { query: String::new(), status: error.status.as_u16(), message: error.message.clone() };
    (error.status, render(&page)).into_response()
}

pub(super) async fn style() -> impl IntoResponse {
    (
        [(header::CONTENT_TYPE, "text/css; charset=utf-8"), (header::CACHE_CONTROL, "max-age=3600")],
        include_str!("style.css"),
    )
}

pub(super) async fn script() -> impl IntoResponse {
    (
        [(header::CONTENT_TYPE, "text/javascript; charset=utf-8"), (header::CACHE_CONTROL, "max-age=3600")],
        include_str!("page.js"),
    )
}

pub(super) async fn icon() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "image/svg+xml"), (header::CACHE_CONTROL, "max-age=86400")], include_str!("icon.svg"))
}

fn render(page: &impl Template) -> Response {
    match page.render() {
        Ok(html) => Html(html).into_response(),
        Err(failed) => ApiError::internal(&failed).into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text with brackets around what is marked, for a query of these words.
    fn bracketed(text: &str, query: &[&str]) -> String {
        let is_match =
            |word: &str| word.split(|c: char| !c.is_alphanumeric() && c != '\'').any(|token| query.contains(&token));
        let shown = |piece: Piece| if piece.matched { format!("[{}]", piece.text) } else { piece.text };
        pieces(text, is_match).into_iter().map(shown).collect()
    }

    #[test]
    fn only_the_part_of_an_address_that_matches_is_marked() {
        let address = "see <http://water.example.org/data/water_quality#2020>, please";
        let found = "see <http://[water].example.org/data/[water]_quality#2020>, please";
        assert_eq!(bracketed(address, &["water"]), found);
        assert_eq!(bracketed("(water-quality).", &["water"]), "([water]-quality).");
        assert_eq!(bracketed("(water-quality).", &["water", "quality"]), "([water-quality]).");
        assert_eq!(bracketed("it isn't water\n", &["isn't", "water"]), "it [isn't] [water]\n");
        assert_eq!(bracketed("no match, http://example.org/", &["water"]), "no match, http://example.org/");
    }
}
