//! The page of search results: hits, facets and years, with the complete state of the search in the address.

use super::facets::{self, Chip, FacetView, YearsView};
use super::{Piece, TripleView, WorkView, error, pieces, render, size, source_name, triple_view, work_view};
use crate::AppState;
use crate::error::ApiError;
use crate::negotiation::languages;
use crate::parameters::{Pairs, check_query, check_snippet, filter, filter_parameters, parse_duplicates, parse_model};
use crate::text::{href, shorten};
use askama::Template;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use lodeseek_catalog::{Metadata, Scheme};
use lodeseek_engine::{
    BrowseRequest, Card, DatasetListing, DatasetReference, DuplicateMode, Facet, FieldMatch, Filter, Hit,
    ListedDataset, SearchRequest, SearchResponse, SnippetKind, facet_label,
};
use lodeseek_index::sparse::ModelKind;
use lodeseek_snippet::LabelledTriple;
use serde::Deserialize;

const PAGE: usize = 10;
/// Number of facets on the start page.
const BEGINNINGS: usize = 6;
/// Number of triples of a snippet shown with a hit.
const SHOWN: usize = 6;
/// Number of tasks, modalities and languages shown with a hit.
const THEMES: usize = 8;

#[derive(Deserialize)]
pub(crate) struct Parameters {
    #[serde(default)]
    q: String,
    page: Option<usize>,
    #[serde(default)]
    snippet: SnippetKind,
    lang: Option<String>,
    duplicates: Option<String>,
    model: Option<String>,
}

#[derive(Default)]
struct HitView {
    rank: usize,
    href: String,
    /// Addresses of the snippet for the query, and of the shown snippet as a drawing.
    snippet: String,
    picture: String,
    /// Text alternative of the drawing.
    picture_shows: String,
    title: Vec<Piece>,
    description: Vec<Piece>,
    facts: Vec<String>,
    /// (kind, label).
    themes: Vec<(&'static str, String)>,
    more_themes: usize,
    work: Option<WorkView>,
    score: String,
    fields: Vec<FieldMatch>,
    /// Parts with a similar meaning, for hits without matching words.
    near: Vec<String>,
    closest: bool,
    triples: Vec<TripleView>,
    /// Duplicates under other ids: (address, publisher).
    others: Vec<(String, String)>,
}

#[derive(Template, Default)]
#[template(path = "search.html")]
struct SearchPage {
    query: String,
    datasets: u64,
    searched: bool,
    /// For lists: page number from 1. If `years_known` is true, some datasets have a year.
    number: usize,
    years_known: bool,
    total: usize,
    /// If true, duplicates are shown once while all counts include each of them.
    each_counted: bool,
    with_words: usize,
    hits: Vec<HitView>,
    hits_have_triples: bool,
    chips: Vec<Chip>,
    facets: Vec<FacetView>,
    years: Option<YearsView>,
    /// Parameters that the next query keeps, as hidden fields of its form.
    kept: Vec<(&'static str, String)>,
    /// Address of the same query without filters.
    unfiltered: String,
    ranked_by: String,
    /// Number of datasets re-ranked by an encoder; 0 without one.
    candidates: usize,
    /// If true, no hit is a close match.
    only_closest: bool,
    /// Address of the same page with the other kind of snippets.
    other: String,
    /// If true, the triples were chosen for the query.
    chosen: bool,
    previous: Option<String>,
    next: Option<String>,
    /// Address of the same search as a feed.
    feed: String,
    /// Models to choose from, and the hidden fields of their form.
    models: Vec<ModelView>,
    model_fields: Vec<(&'static str, String)>,
    is_ranked_otherwise: bool,
    /// Spelling suggestion with its address.
    suggestion: Option<(String, String)>,
}

/// A ranking model.
struct ModelView {
    /// Value of `model`; empty for the default.
    name: &'static str,
    title: &'static str,
    about: &'static str,
    chosen: bool,
}

pub(crate) async fn search(
    State(state): State<AppState>,
    parameters: Result<Query<Parameters>, QueryRejection>,
    Query(pairs): Query<Pairs>,
    headers: HeaderMap,
) -> Response {
    let mut response = match load_page(&state, parameters, &pairs, &headers).await {
        Ok(page) => render(&page),
        Err(failed) => error(&failed),
    };
    response.headers_mut().append(header::VARY, HeaderValue::from_static("accept-language"));
    response
}

async fn load_page(
    state: &AppState,
    parameters: Result<Query<Parameters>, QueryRejection>,
    pairs: &Pairs,
    headers: &HeaderMap,
) -> Result<SearchPage, ApiError> {
    let Query(parameters) = parameters.map_err(|rejection| ApiError::bad_request(rejection.body_text()))?;
    // A textarea may contain line breaks.
    let query = parameters.q.split_whitespace().collect::<Vec<_>>().join(" ");
    if query.is_empty() {
        return load_list(state, parameters, filter(pairs)?, headers).await;
    }
    check_query(&query)?;
    check_snippet(parameters.snippet)?;
    let request = SearchRequest {
        depth: PAGE,
        skip: parameters.page.unwrap_or_default().min(1000).saturating_mul(PAGE),
        snippet: parameters.snippet,
        languages: languages(headers, parameters.lang.as_deref())?,
        filter: filter(pairs)?,
        facets: Some(facets::MOST),
        duplicates: parse_duplicates(parameters.duplicates.as_deref())?,
        model: parse_model(parameters.model.as_deref())?,
        ..SearchRequest::new(query)
    };
    let permit = state.acquire_search_permit(&request).await?;
    let lang = parameters.lang;
    state
        .work(move |state| {
            let _permit = permit;
            let response = state.searcher.search(&request)?;
            Ok(search_page(state, &request, lang.as_deref(), state.searcher.catalog().len()?, &response))
        })
        .await
}

/// Lists datasets without a query: those that pass the filter. Without a filter and a page number it is the start page.
async fn load_list(
    state: &AppState,
    parameters: Parameters,
    filter: Filter,
    headers: &HeaderMap,
) -> Result<SearchPage, ApiError> {
    let lists = parameters.page.is_some() || !filter.is_empty();
    let request = BrowseRequest {
        filter,
        skip: parameters.page.unwrap_or_default().saturating_mul(PAGE),
        depth: if lists { PAGE } else { 0 },
        facets: facets::MOST,
        languages: languages(headers, parameters.lang.as_deref())?,
        duplicates: parse_duplicates(parameters.duplicates.as_deref())?,
    };
    check_snippet(parameters.snippet)?;
    let model = parse_model(parameters.model.as_deref())?;
    state
        .work(move |state| {
            let mut listing = state.searcher.catalog().browse(&request)?;
            if !lists {
                // Authors are mostly the publishers again.
                listing.facets.facets.retain(|one| one.facet != Facet::Creator);
            }
            let results = Results {
                query: "",
                filter: &request.filter,
                page: request.skip / PAGE,
                // Kept for the next query. Lists show the stored snippets.
                snippet: parameters.snippet,
                lang: parameters.lang.as_deref(),
                duplicates: request.duplicates,
                model,
            };
            let mut page = listed_page(state, &results, &listing);
            page.searched = lists;
            if !lists {
                page.facets.truncate(BEGINNINGS);
            }
            Ok(page)
        })
        .await
}

fn listed_page(state: &AppState, results: &Results<'_>, listing: &DatasetListing) -> SearchPage {
    let (page, total) = (results.page, listing.total);
    let link = |page: usize| Results { page, ..*results }.href();
    SearchPage {
        datasets: listing.of,
        searched: true,
        number: page + 1,
        years_known: !listing.facets.years.known.is_empty(),
        total,
        each_counted: listing.datasets.iter().any(|one| !one.duplicates.is_empty()),
        hits: listing.datasets.iter().map(|one| listed_view(state, one, results.lang)).collect(),
        chips: facets::chips(results),
        facets: facets::facets(&listing.facets, total, results),
        years: facets::years(&listing.facets.years, results),
        kept: results.kept_parameters(results.filter),
        unfiltered: results.filtered(&Filter::default()),
        previous: (page > 0).then(|| link(page - 1)),
        next: listing.more.then(|| link(page + 1)),
        ..SearchPage::default()
    }
}

/// A page of results with all its parameters.
#[derive(Clone, Copy)]
pub(super) struct Results<'r> {
    pub(super) query: &'r str,
    pub(super) filter: &'r Filter,
    pub(super) page: usize,
    pub(super) snippet: SnippetKind,
    pub(super) lang: Option<&'r str>,
    pub(super) duplicates: DuplicateMode,
    pub(super) model: Option<ModelKind>,
}

impl Results<'_> {
    fn href(&self) -> String {
        let mut parameters = form_urlencoded::Serializer::new(String::new());
        parameters.append_pair("q", self.query).append_pair("page", &self.page.to_string());
        parameters.extend_pairs(self.kept_parameters(self.filter));
        format!("/?{}", parameters.finish())
    }

    /// Returns the address of the feed of the same search.
    fn feed(&self) -> String {
        let mut parameters = form_urlencoded::Serializer::new(String::new());
        parameters.append_pair("q", self.query);
        parameters.extend_pairs(self.ranking()).extend_pairs(filter_parameters(self.filter));
        format!("/feeds/datasets.atom?{}", parameters.finish())
    }

    /// Returns the address of the first page with another filter.
    pub(super) fn filtered(&self, filter: &Filter) -> String {
        Results { filter, page: 0, ..*self }.href()
    }

    /// Returns the parameters that another query keeps.
    fn kept_parameters(&self, filter: &Filter) -> Vec<(&'static str, String)> {
        let snippet = match self.snippet {
            SnippetKind::Stored => None,
            SnippetKind::QUERY => Some("query".to_owned()),
            SnippetKind::OnDemand(method) => Some(method.name().to_owned()),
        };
        let snippet = snippet.map(|kind| ("snippet", kind));
        let lang = self.lang.map(|lang| ("lang", lang.to_owned()));
        let all = (self.duplicates == DuplicateMode::All).then(|| ("duplicates", "all".to_owned()));
        snippet.into_iter().chain(lang).chain(all).chain(self.ranking()).chain(filter_parameters(filter)).collect()
    }

    /// Returns the parameter `model` if it is not the default.
    fn ranking(&self) -> Option<(&'static str, String)> {
        self.model.map(|model| ("model", model.name().to_owned()))
    }

    /// Returns the fields of a form that extends a filter.
    pub(super) fn fields(&self, filter: &Filter) -> Vec<(&'static str, String)> {
        [("q", self.query.to_owned())].into_iter().chain(self.kept_parameters(filter)).collect()
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
        number: page + 1,
        years_known: false,
        with_words: response.with_words,
        ranked_by: ranked_by(response),
        candidates: compared(response),
        only_closest: response.only_closest,
        hits: response.hits.iter().map(|hit| hit_view(state, response, hit, request, lang)).collect(),
        hits_have_triples: response.hits.iter().any(|hit| !hit.snippet.is_empty()),
        chips: facets::chips(&results),
        facets: facets::facets(&counts, response.total, &results),
        years: facets::years(&counts.years, &results),
        kept: results.kept_parameters(&request.filter),
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

/// Returns the models: the default, then each sparse model other than it.
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
    // The default is listed by name if it was selected by name.
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

/// Returns the labels of the themes with their kinds.
fn themes(metadata: &Metadata) -> Vec<(&'static str, String)> {
    let of = |scheme: Scheme| metadata.themes_of(scheme).map(move |label| (scheme.name(), label.to_owned()));
    Scheme::ALL.into_iter().flat_map(of).collect()
}

/// Returns the address of a hit's snippet as a drawing, by the same method and query as the triples shown.
fn picture(dataset: &str, request: &SearchRequest, lang: Option<&str>) -> String {
    let mut parameters = form_urlencoded::Serializer::new(String::new());
    parameters.append_pair("format", "svg");
    if let SnippetKind::OnDemand(method) = request.snippet {
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
    let (matching, others): (Vec<_>, Vec<_>) = hit.snippet.iter().partition(|triple| !triple.matched.is_empty());
    let triples = matching.into_iter().chain(others).map(|triple| &triple.triple);
    let pieces = |text: &str| pieces(text, |word| state.searcher.is_match(word, response));
    let view = card_view(state, &hit.card, triples, &hit.duplicates, pieces);
    let words: String = form_urlencoded::byte_serialize(request.query.as_bytes()).collect();
    HitView {
        rank: hit.rank,
        snippet: format!("{}/snippet?query={words}", view.href),
        picture: picture(&view.href, request, lang),
        score: hit.score.map(|score| format!("{score:.2}")).unwrap_or_default(),
        fields: hit.fields.clone(),
        near: near(hit),
        closest: hit.is_closest(),
        ..view
    }
}

fn listed_view(state: &AppState, one: &ListedDataset, lang: Option<&str>) -> HitView {
    let view = card_view(state, &one.card, one.snippet.iter(), &one.duplicates, |text| pieces(text, |_| false));
    let lang_of =
        |lang: &str| format!("?lang={}", form_urlencoded::byte_serialize(lang.as_bytes()).collect::<String>());
    HitView {
        rank: one.rank,
        snippet: format!("{}/snippet{}", view.href, lang.map(lang_of).unwrap_or_default()),
        picture: picture(&view.href, &SearchRequest::new(""), lang),
        ..view
    }
}

/// Returns the view of a dataset's properties that do not depend on the query.
fn card_view<'t>(
    state: &AppState,
    card: &Card,
    triples: impl Iterator<Item = &'t LabelledTriple>,
    others: &[DatasetReference],
    pieces: impl Fn(&str) -> Vec<Piece>,
) -> HitView {
    let metadata = &card.metadata;
    let mut facts: Vec<String> = metadata.agents().take(1).map(|agent| agent.name.clone()).collect();
    facts.extend(metadata.first_year().map(|year| year.to_string()));
    // Some catalogues contain datasets that are not RDF.
    facts.extend((card.profile.triples > 0).then(|| size(card)));
    facts.extend(metadata.license.as_deref().map(|license| facet_label(Facet::License, license)));
    let mut themes = themes(metadata);
    let more_themes = themes.len().saturating_sub(THEMES);
    themes.truncate(THEMES);
    let iri = state.store.iris().dataset(&metadata.id);
    HitView {
        picture_shows: format!("Some triples of {} as a graph", metadata.title()),
        href: href(&metadata.id),
        title: pieces(metadata.title()),
        description: pieces(&shorten(metadata.description().unwrap_or_default(), 300)),
        facts,
        themes,
        more_themes,
        work: metadata.introduced_by.first().map(|work| work_view(work, iri.as_str())),
        others: others.iter().map(|other| (href(&other.id), source_name(other))).collect(),
        triples: triples.take(SHOWN).map(|triple| triple_view(triple, &pieces)).collect(),
        ..HitView::default()
    }
}

fn near(hit: &Hit) -> Vec<String> {
    let parts = hit.dense.iter().flat_map(|dense| &dense.parts);
    if hit.fields.is_empty() { parts.map(|part| shorten(&part.text, 160)).collect() } else { Vec::new() }
}

/// Returns the number of re-ranked datasets; 0 without an encoder.
fn compared(response: &SearchResponse) -> usize {
    let rerank = response.rerank.as_ref().filter(|rerank| !rerank.encoders.is_empty());
    rerank.map_or(0, |rerank| rerank.candidates)
}

/// Describes the ranking in words.
fn ranked_by(response: &SearchResponse) -> String {
    let Some(rerank) = &response.rerank else { return format!("{} score", response.model) };
    let mut models: Vec<&str> = rerank.encoders.iter().map(|encoder| encoder.model.as_str()).collect();
    models.dedup();
    let by = match models[..] {
        [] => format!("{} score", response.model),
        _ => format!("Combined score of words and {}", models.join(", ")),
    };
    let counts = |weight| format!("{by}, and {weight} · ln(1 + popularity), a measure later than the query");
    rerank.popularity.map_or(by.clone(), counts)
}
