//! The page of results: hits, facets and years, with the whole state of the search in the address.

use super::super::error::ApiError;
use super::super::filter::{Pairs, filter, parameters as filter_parameters};
use super::super::negotiation::languages;
use super::super::search::{check_query, check_snippet, model, shown, turn};
use super::facets::{self, Chip, FacetView, YearsView};
use super::{
    AppState, Piece, TripleView, WorkView, error, from_whom, href, pieces, render, shorten, size, triple_view,
    work_view,
};
use crate::catalog::{Metadata, Scheme};
use crate::engine::{Facet, FieldMatch, Filter, Hit, SearchRequest, SearchResponse, Shown, SnippetKind, facet_label};
use crate::sparse::ModelKind;
use askama::Template;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use serde::Deserialize;

const PAGE: usize = 10;
/// Triples of a snippet shown with a result.
const SHOWN: usize = 6;
/// Tasks, modalities and languages shown with a result.
const THEMES: usize = 8;

#[derive(Deserialize)]
pub(in crate::server) struct Parameters {
    #[serde(default)]
    q: String,
    #[serde(default)]
    page: usize,
    #[serde(default)]
    snippet: SnippetKind,
    lang: Option<String>,
    duplicates: Option<String>,
    model: Option<String>,
}

struct HitView {
    rank: usize,
    href: String,
    /// The address of the snippet for the query, and of the one shown as a picture.
    snippet: String,
    picture: String,
    /// What the picture shows, for who does not see it.
    picture_shows: String,
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
    /// The models to choose among, and what a form that chooses keeps.
    models: Vec<ModelView>,
    model_fields: Vec<(&'static str, String)>,
    is_ranked_otherwise: bool,
    /// The query as it may have been meant, and its address.
    suggestion: Option<(String, String)>,
}

/// A way to rank.
struct ModelView {
    /// The value of `model`: nothing for the usual one.
    name: &'static str,
    title: &'static str,
    about: &'static str,
    chosen: bool,
}

pub(in crate::server) async fn search(
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
        model: model(parameters.model.as_deref())?,
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
pub(super) struct Results<'r> {
    pub(super) query: &'r str,
    pub(super) filter: &'r Filter,
    pub(super) page: usize,
    pub(super) snippet: SnippetKind,
    pub(super) lang: Option<&'r str>,
    pub(super) duplicates: Shown,
    pub(super) model: Option<ModelKind>,
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
        parameters.append_pair("q", self.query);
        parameters.extend_pairs(self.ranking()).extend_pairs(filter_parameters(self.filter));
        format!("/feeds/datasets.atom?{}", parameters.finish())
    }

    /// The first page with another filter.
    pub(super) fn filtered(&self, filter: &Filter) -> String {
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
        snippet.into_iter().chain(lang).chain(all).chain(self.ranking()).chain(filter_parameters(filter)).collect()
    }

    /// The model, where it is not the usual one.
    fn ranking(&self) -> Option<(&'static str, String)> {
        self.model.map(|model| ("model", model.name().to_owned()))
    }

    /// The fields of a form that adds to another filter.
    pub(super) fn fields(&self, filter: &Filter) -> Vec<(&'static str, String)> {
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
    let SearchRequest { duplicates, model, .. } = *request;
    let results = Results { query: &request.query, filter: &request.filter, page, snippet, lang, duplicates, model };
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
        hits: response.hits.iter().map(|hit| hit_view(state, response, hit, request, lang)).collect(),
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
        models: models(model, state.searcher.has_reranker()),
        model_fields: Results { model: None, ..results }.fields(&request.filter),
        is_ranked_otherwise: model.is_some(),
        suggestion: response
            .suggestion
            .as_ref()
            .map(|meant| (meant.clone(), Results { query: meant, page: 0, ..results }.href())),
        query: request.query.clone(),
    }
}

/// The ways to rank: the usual one, then each model of words alone that it is not.
fn models(chosen: Option<ModelKind>, has_reranker: bool) -> Vec<ModelView> {
    let usual = if has_reranker {
        ("Words and meaning", "the usual way: candidates by words, compared by meaning")
    } else {
        model_words(ModelKind::default())
    };
    let usual = ModelView { name: "", title: usual.0, about: usual.1, chosen: chosen.is_none() };
    let view = |model: ModelKind| {
        let (title, about) = model_words(model);
        ModelView { name: model.name(), title, about, chosen: chosen == Some(model) }
    };
    // Asked for by its name, the usual one is shown as chosen by its name.
    let is_other = |model: &ModelKind| has_reranker || *model != ModelKind::default() || chosen == Some(*model);
    [usual].into_iter().chain(ModelKind::ALL.into_iter().filter(is_other).map(view)).collect()
}

fn model_words(model: ModelKind) -> (&'static str, &'static str) {
    match model {
        ModelKind::TfIdf => ("TF-IDF", "how often a word occurs, and how rare it is"),
        ModelKind::Bm25 => ("BM25", "how often and how rare; many occurrences and long texts count less"),
        ModelKind::Lmd => ("LMD", "how likely the dataset’s language is to say the words"),
        ModelKind::Fsdm => ("FSDM", "words that stand together count too, field by field"),
    }
}

/// What its themes are called, with their kinds.
fn themes(metadata: &Metadata) -> Vec<(&'static str, String)> {
    let of = |scheme: Scheme| metadata.themes_of(scheme).map(move |label| (scheme.name(), label.to_owned()));
    Scheme::ALL.into_iter().flat_map(of).collect()
}

/// The address of the snippet of a hit as a picture: made by the method, and for the words, that chose the triples shown.
fn picture(dataset: &str, request: &SearchRequest, lang: Option<&str>) -> String {
    let mut parameters = form_urlencoded::Serializer::new(String::new());
    parameters.append_pair("format", "svg");
    if let SnippetKind::Made(method) = request.snippet {
        parameters.append_pair("method", method.name()).append_pair("query", &request.query);
    }
    if let Some(lang) = lang {
        parameters.append_pair("lang", lang);
    }
    format!("{dataset}/snippet?{}", parameters.finish())
}

fn hit_view(
    state: &AppState,
    response: &SearchResponse,
    hit: &Hit,
    request: &SearchRequest,
    lang: Option<&str>,
) -> HitView {
    let metadata = &hit.card.metadata;
    let mut facts: Vec<String> = metadata.agents().take(1).map(|agent| agent.name.clone()).collect();
    facts.extend(metadata.first_year().map(|year| year.to_string()));
    // Some catalogues tell of datasets that are no RDF.
    facts.extend((hit.card.profile.triples > 0).then(|| size(&hit.card)));
    facts.extend(metadata.license.as_deref().map(|license| facet_label(Facet::License, license)));
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
        picture: picture(&own, request, lang),
        picture_shows: format!("Some triples of {} as a graph", metadata.title()),
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
