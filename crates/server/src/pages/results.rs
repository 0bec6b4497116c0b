//! The page of search results: hits, facets and years, with the complete state of the search in the address.

use super::dataset::{SYNTAXES, content_address};
use super::facets::{self, Chip, FacetView, PlaceView, YearsView};
use super::{
    PageContext, RowsView, TextView, TripleView, WorkView, best_text, error, format_size,
    matches_in, readable, render, rows_view, shorten_around_match, source_name, split_matches,
    title_of, triple_view, work_view,
};
use super::{entities, similar, start};
use crate::AppState;
use crate::documentation::{Examples, Filters};
use crate::entity_search;
use crate::error::ApiError;
use crate::negotiation::languages;
use crate::parameters::{
    Pairs, check_query, examples, filter, filter_parameters, invalid_parameters, parse_duplicates,
    parse_model, parse_order, parse_snippet, query_syntax,
};
use crate::portal::license_label;
use crate::site::Client;
use crate::text::{href, is_web, segment, shorten};
use askama::Template;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use lodeseek_catalog::{
    CoverageValue, Distribution, Format, Location, Metadata, Scheme, coverage_expressions,
};
use lodeseek_engine::{
    BoundingBox, BrowseRequest, Card, DatasetListing, DatasetReference, DuplicateMode, Example,
    Facet, FacetCounts, FieldMatch, Filter, Hit, Interpretation, InterpretationKind, ListedDataset,
    MatchQuality, NearWork, QuerySyntax, QueryWords, ResultOrder, SearchRequest, SearchResponse,
    SimilarityClause, SnippetKind, SuggestedFilter, UnknownValue, facet_value,
};
use lodeseek_index::sparse::ModelKind;
use lodeseek_index::{PartForm, QueryPart, parse_query};
use lodeseek_snippet::LabelledTriple;
use serde::Deserialize;
use std::mem;
use utoipa::IntoParams;

/// Number of results of a page.
const MAX_PAGE_HITS: usize = 10;
/// Number of the last page that can be requested, from 0.
const MAX_PAGE_NUMBER: usize = 1000;
/// Number of triples of a snippet shown with a hit.
const MAX_HIT_TRIPLES: usize = 6;
/// Number of tasks, modalities and languages shown with a hit.
const MAX_HIT_THEMES: usize = 6;
/// Number of formats shown with a hit.
const MAX_HIT_FORMATS: usize = 3;
/// Maximum length of the range of years whose ends the form shows.
const MAX_COVERED_YEARS: i32 = 200;
/// Number of hits whose answering triples are shown open, and of these triples.
const MAX_OPEN_HITS: usize = 3;
const MAX_OPEN_TRIPLES: usize = 3;
/// Fields of the forms for years and places.
const FORM_FIELDS: [&str; 4] = ["from", "until", "of", "place"];
/// Length of a description in characters: about two lines on a wide screen.
const MAX_DESCRIPTION_CHARS: usize = 240;

/// Names of the parameters of the page, except filters and examples.
const PARAMETER_NAMES: [&str; 8] = [
    "q",
    "page",
    "snippet",
    "lang",
    "duplicates",
    "model",
    "sort",
    "literal",
];

/// Returns the names of all parameters of the page.
pub(crate) fn search_parameters() -> Vec<String> {
    let mut names: Vec<String> = PARAMETER_NAMES
        .iter()
        .chain(&FORM_FIELDS)
        .map(|name| (*name).to_owned())
        .collect();
    for documented in [
        Examples::into_params(|| None),
        Filters::into_params(|| None),
    ] {
        names.extend(documented.into_iter().map(|parameter| parameter.name));
    }
    names
}

#[derive(Deserialize)]
pub(crate) struct Parameters {
    #[serde(default)]
    q: String,
    page: Option<usize>,
    snippet: Option<String>,
    lang: Option<String>,
    duplicates: Option<String>,
    model: Option<String>,
    sort: Option<String>,
    literal: Option<bool>,
}

/// A format, a licence or the like of a dataset.
pub(super) struct Badge {
    pub(super) text: String,
    /// The complete value, for a tooltip.
    pub(super) title: String,
}

/// A field that matches, with the words found in it.
pub(super) struct FieldView {
    pub(super) name: String,
    pub(super) terms: String,
}

/// The similarity to an example, with the reasons.
pub(super) struct ExampleView {
    pub(super) title: String,
    pub(super) score: String,
    pub(super) clauses: Vec<SimilarityClause>,
}

#[derive(Default)]
pub(super) struct HitView {
    pub(super) rank: usize,
    pub(super) href: String,
    /// Addresses of the snippet for the query, and of the shown snippet as a drawing.
    pub(super) snippet: String,
    pub(super) picture: String,
    /// Text alternative of the drawing.
    pub(super) picture_shows: String,
    pub(super) title: TextView,
    pub(super) plain_title: String,
    pub(super) description: TextView,
    /// Publisher, year and size.
    pub(super) facts: Vec<String>,
    /// Formats and licence.
    pub(super) badges: Vec<Badge>,
    /// (kind, label).
    pub(super) themes: Vec<(&'static str, String)>,
    pub(super) more_themes: usize,
    pub(super) work: Option<WorkView>,
    /// The score and how it was computed, in words.
    pub(super) score: String,
    pub(super) fields: Vec<FieldView>,
    /// Parts with a similar meaning, for hits without matching words.
    pub(super) near: Vec<String>,
    /// The examples to which it is similar.
    pub(super) similar: Vec<ExampleView>,
    /// Number of works near to the query that use the dataset, and the nearest of them.
    pub(super) used_near: usize,
    pub(super) used_by: Vec<WorkView>,
    is_weak: bool,
    /// Triples that match the query, shown open.
    pub(super) answers: Vec<TripleView>,
    /// The other triples of the preview.
    pub(super) triples: Vec<TripleView>,
    /// Rows of a table in place of the triples of the preview.
    pub(super) table: Option<RowsView>,
    /// Rows of a table, shown open in place of the triples that match.
    pub(super) open_table: Option<RowsView>,
    pub(super) download: Option<DownloadLink>,
    /// Duplicates under other ids: (address, publisher).
    pub(super) others: Vec<(String, String)>,
}

impl HitView {
    /// Returns true if there are reasons for the rank.
    fn has_reasons(&self) -> bool {
        !(self.fields.is_empty()
            && self.near.is_empty()
            && self.similar.is_empty()
            && self.used_by.is_empty())
    }
}

/// Link that downloads a dataset.
pub(super) struct DownloadLink {
    /// Format.
    pub(super) label: String,
    pub(super) href: String,
    /// If true, the address is on another server.
    pub(super) is_external: bool,
}

#[derive(Template)]
#[template(path = "search.html")]
struct SearchPage {
    page: PageContext,
    counts: ResultCounts,
    hits: Vec<HitView>,
    /// Weak matches, folded unless there are no others. Empty in another order than by relevance.
    weak: Vec<HitView>,
    paging: Paging,
    sorts: Vec<SortView>,
    filter_panel: FilterPanel,
    hints: QueryHints,
    ranking: RankingOptions,
    /// Parameters that the next query keeps, as hidden fields of its form.
    kept: Vec<(&'static str, String)>,
    /// Address of the same search as a feed.
    feed: String,
}

/// Numbers of results, and what they count.
struct ResultCounts {
    total: usize,
    /// If true, duplicates are shown once while all counts include each of them.
    each_counted: bool,
    /// Numbers of good and of weaker matches; none without a close match.
    qualities: Option<(usize, usize)>,
    /// If true, no hit is a close match.
    only_closest: bool,
}

/// Links to the neighbouring pages of results.
struct Paging {
    /// Page number from 1.
    number: usize,
    previous: Option<String>,
    next: Option<String>,
}

impl Paging {
    fn new(results: &Results<'_>, has_next: bool) -> Self {
        Self {
            number: results.page + 1,
            previous: (results.page > 0).then(|| results.page_address(results.page - 1)),
            next: has_next.then(|| results.page_address(results.page + 1)),
        }
    }
}

/// Active filters, and filters to choose from.
struct FilterPanel {
    chips: Vec<Chip>,
    facets: Vec<FacetView>,
    years: Option<YearsView>,
    /// Form for a place; `None` if no dataset has an area.
    place: Option<PlaceView>,
    /// Filters that exclude datasets because a fact of them is unknown: (text with their number, address without the filter).
    left_out: Vec<(String, String)>,
    /// Values of filters that no dataset has, with filters by similar values.
    unknown_values: Vec<(String, Vec<Chip>)>,
    /// Address of the same query without filters.
    unfiltered: String,
}

impl FilterPanel {
    /// Returns the panel for results with facets. It has no unknown values, and no chips for examples.
    fn new(
        state: &AppState,
        page: &PageContext,
        results: &Results<'_>,
        counts: &FacetCounts,
        total: usize,
    ) -> Self {
        Self {
            chips: facets::chips(page, results),
            facets: facets::facets(page, counts, total, results),
            years: facets::years(page, &counts.years, covered_years(state), results),
            place: place_form(state, page, results),
            left_out: unknown_coverage(page, counts, results),
            unknown_values: Vec::new(),
            unfiltered: Results {
                examples: &[],
                ..*results
            }
            .address_with_filter(&Filter::default()),
        }
    }

    /// Returns true if there are filters to choose from.
    fn has_choices(&self) -> bool {
        !self.facets.is_empty() || self.years.is_some() || self.place.is_some()
    }

    /// Returns the message about a place that is unknown.
    fn place_failure(&self) -> Option<&str> {
        self.place.as_ref()?.failure.as_deref()
    }
}

/// Interpretation of the query, and other queries and filters that it suggests.
#[derive(Default)]
struct QueryHints {
    /// Spelling suggestion with its address.
    suggestion: Option<(String, String)>,
    /// The query that was searched for, if its spelling was corrected.
    corrected: Option<String>,
    /// Meanings of the parts of the query that are not only words.
    interpretations: Vec<String>,
    /// Address of the same query without interpretation.
    literal: String,
    /// Filters that words of the query suggest, with links that set them.
    suggested_filters: Vec<Chip>,
    /// Link to the entities with the words, or to the datasets of a resource: (text, address).
    entities: Option<(String, String)>,
}

impl QueryHints {
    fn new(
        state: &AppState,
        page: &PageContext,
        results: &Results<'_>,
        response: &SearchResponse,
    ) -> Self {
        let suggestion = response.suggestion.as_ref().map(|meant| {
            let address = Results {
                query: meant,
                page: 0,
                ..*results
            }
            .href();
            (meant.clone(), address)
        });
        Self {
            suggestion,
            corrected: response.corrected.clone(),
            interpretations: response
                .interpretations
                .iter()
                .map(|part| describe_interpretation(page, part))
                .collect(),
            literal: Results {
                syntax: QuerySyntax::Literal,
                page: 0,
                ..*results
            }
            .href(),
            suggested_filters: response
                .suggested_filters
                .iter()
                .map(|one| suggested_filter_chip(page, results, one))
                .collect(),
            entities: entities_link(state, page, results.query),
        }
    }
}

/// Choice of the ranking model and of the kind of snippets.
#[derive(Default)]
struct RankingOptions {
    /// Number of datasets re-ranked by an encoder; 0 without one.
    candidates: usize,
    /// Models to choose from, and the hidden fields of their form.
    models: Vec<ModelView>,
    model_fields: Vec<(&'static str, String)>,
    /// If true, the request names a model.
    has_model: bool,
    has_triples: bool,
    /// If true, the triples were chosen for the query.
    has_query_snippets: bool,
    /// Address of the same page with the other kind of snippets.
    other_snippets: String,
}

impl RankingOptions {
    fn new(
        state: &AppState,
        page: &PageContext,
        results: &Results<'_>,
        response: &SearchResponse,
    ) -> Self {
        let has_query_snippets = results.snippet.is_on_demand();
        let other_snippets = if has_query_snippets {
            SnippetKind::Stored
        } else {
            SnippetKind::QUERY
        };
        Self {
            candidates: count_reranked(response),
            models: model_choices(page, results.model, state.searcher.has_reranker()),
            model_fields: Results {
                model: None,
                ..*results
            }
            .fields(results.filter),
            has_model: results.model.is_some(),
            has_triples: response.hits.iter().any(|hit| !hit.snippet.is_empty()),
            has_query_snippets,
            other_snippets: Results {
                snippet: other_snippets,
                ..*results
            }
            .href(),
        }
    }
}

/// A ranking model.
struct ModelView {
    /// Value of `model`; empty for the default.
    name: &'static str,
    title: String,
    about: String,
    chosen: bool,
}

impl ModelView {
    fn new(page: &PageContext, model: ModelKind, name: &'static str, chosen: bool) -> Self {
        Self {
            name,
            title: model_title(model).to_owned(),
            about: page.text(&format!("model-{}", model.name())),
            chosen,
        }
    }
}

/// An order of the results.
struct SortView {
    label: String,
    href: String,
    chosen: bool,
}

pub(crate) async fn search(
    State(state): State<AppState>,
    client: Client,
    page: PageContext,
    parameters: Result<Query<Parameters>, QueryRejection>,
    Query(pairs): Query<Pairs>,
    headers: HeaderMap,
) -> Response {
    let answer = load_page(&state, client, &page, parameters, &pairs, &headers).await;
    answer.unwrap_or_else(|failed| error(&page, &failed))
}

async fn load_page(
    state: &AppState,
    client: Client,
    page: &PageContext,
    parameters: Result<Query<Parameters>, QueryRejection>,
    pairs: &Pairs,
    headers: &HeaderMap,
) -> Result<Response, ApiError> {
    let Query(parameters) = parameters
        .map_err(|rejection| invalid_parameters(&rejection, &[("page", 0..=MAX_PAGE_NUMBER)]))?;
    // Pasted sentences may contain line breaks.
    let query = parameters
        .q
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    let unknown_place = unknown_place(pairs);
    if let Some(name) = unknown_place
        && !state.searcher.catalog().has_coverage()?
    {
        // Without areas, the page has no form that could show the message.
        return Err(ApiError::bad_request(format!(
            "no country or state {name:?} is known; write another name, or west,south,east,north in degrees"
        )));
    }
    if unknown_place.is_none()
        && let Some(address) = form_address(page, pairs)
    {
        return Ok((StatusCode::SEE_OTHER, [(header::LOCATION, address)]).into_response());
    }
    let (filter, examples) = (filter(pairs)?, examples(pairs)?);
    if query.is_empty() && !examples.is_empty() {
        let [Example::Dataset(id)] = &examples[..] else {
            return Err(ApiError::bad_request(
                "a search with several examples requires words: q=words",
            ));
        };
        let similar = page.link_below(href(id), "/similar?format=html&k=50");
        return Ok((StatusCode::SEE_OTHER, [(header::LOCATION, similar)]).into_response());
    }
    if query.is_empty() {
        let unknown_place = unknown_place.map(str::to_owned);
        return load_list(state, page, parameters, filter, unknown_place, headers).await;
    }
    check_query(&query)?;
    let snippet = parse_snippet(parameters.snippet.as_deref())?;
    let request = SearchRequest {
        depth: MAX_PAGE_HITS,
        skip: parameters
            .page
            .unwrap_or_default()
            .min(MAX_PAGE_NUMBER)
            .saturating_mul(MAX_PAGE_HITS),
        snippet,
        languages: languages(headers, parameters.lang.as_deref())?,
        filter,
        examples,
        facets: Some(facets::MAX_FACET_VALUES),
        duplicates: parse_duplicates(parameters.duplicates.as_deref())?,
        model: parse_model(parameters.model.as_deref())?,
        order: parse_order(parameters.sort.as_deref())?,
        matching_rows: MAX_OPEN_HITS,
        syntax: query_syntax(parameters.literal),
        ..SearchRequest::new(query)
    };
    let permit = state.acquire_search_permit(client, &request).await?;
    let lang = parameters.lang;
    let unknown_place = unknown_place.map(str::to_owned);
    let page = page.clone().with_query(&request.query);
    state
        .work(move |state| {
            let _permit = permit;
            let results = Results {
                unknown_place: unknown_place.as_deref(),
                ..Results::of_search(&request, lang.as_deref())
            };
            if request.syntax == QuerySyntax::Interpreted
                && let Some(address) = resolve_iris(state, &results)?
            {
                return Ok((
                    StatusCode::SEE_OTHER,
                    [(header::LOCATION, page.link(address))],
                )
                    .into_response());
            }
            let response = state.searcher.search(&request)?;
            state.record_search(client, &request, &response);
            let found = search_page(state, page, &results, &response);
            Ok(render_results(&found))
        })
        .await
}

/// Renders a page of results. Its status is 400 if the request has an unknown place.
fn render_results(found: &SearchPage) -> Response {
    let mut response = render(found);
    if found.filter_panel.place_failure().is_some() {
        *response.status_mut() = StatusCode::BAD_REQUEST;
    }
    response
}

/// Returns the address to which a query with IRIs leads: the page of a dataset, or the search with the IRIs of classes and
/// vocabularies as filters. `None` if the index has no such value.
fn resolve_iris(state: &AppState, results: &Results<'_>) -> Result<Option<String>, ApiError> {
    let named = results.query.trim_start_matches('<').trim_end_matches('>');
    if let Some(id) = state.store.iris().dataset_id(named)
        && state.searcher.catalog().numeric_facts(&id)?.is_some()
    {
        return Ok(Some(href(&id)));
    }
    if results.query.contains(['"', '“', '„', '«']) {
        // The search itself handles names beside phrases.
        return Ok(None);
    }
    let (mut words, mut filter) = (Vec::new(), results.filter.clone());
    for part in parse_query(results.query) {
        match facet_of_name(state, &part)? {
            Some((facet, iri)) => filter = filter.with(facet, iri),
            None => words.push(&results.query[part.range]),
        }
    }
    if filter == *results.filter {
        return Ok(None);
    }
    Ok(Some(
        Results {
            query: &words.join(" "),
            ..*results
        }
        .address_with_filter(&filter),
    ))
}

/// Returns the class or vocabulary that a part of a query names: by its IRI, or as in `foaf:Person`.
fn facet_of_name(state: &AppState, part: &QueryPart) -> Result<Option<(Facet, String)>, ApiError> {
    if part.form != PartForm::Name || part.excluded {
        return Ok(None);
    }
    for facet in [Facet::Class, Facet::Vocabulary] {
        let iri = facet_value(facet, &part.text);
        if !is_web(&iri) {
            continue;
        }
        let filter = Filter::default().with(facet, iri.as_str());
        if state
            .searcher
            .catalog()
            .browse(&BrowseRequest {
                filter,
                ..BrowseRequest::default()
            })?
            .total
            > 0
        {
            return Ok(Some((facet, iri)));
        }
    }
    Ok(None)
}

/// Lists datasets without a query: those that pass the filter. Without a filter and a page number it is the start page.
async fn load_list(
    state: &AppState,
    page: &PageContext,
    parameters: Parameters,
    filter: Filter,
    unknown_place: Option<String>,
    headers: &HeaderMap,
) -> Result<Response, ApiError> {
    let lists = parameters.page.is_some() || !filter.is_empty() || unknown_place.is_some();
    let request = BrowseRequest {
        filter,
        skip: parameters
            .page
            .unwrap_or_default()
            .saturating_mul(MAX_PAGE_HITS),
        depth: if lists {
            MAX_PAGE_HITS
        } else {
            start::MAX_NEWEST_DATASETS
        },
        facets: facets::MAX_FACET_VALUES,
        languages: languages(headers, parameters.lang.as_deref())?,
        duplicates: parse_duplicates(parameters.duplicates.as_deref())?,
        order: parse_order(parameters.sort.as_deref())?,
    };
    let snippet = parse_snippet(parameters.snippet.as_deref())?;
    let model = parse_model(parameters.model.as_deref())?;
    let page = page.clone();
    state
        .work(move |state| {
            let listing = state.searcher.catalog().browse(&request)?;
            let results = Results {
                query: "",
                examples: &[],
                filter: &request.filter,
                page: request.skip / MAX_PAGE_HITS,
                // Kept for the next query. Lists show the stored snippets.
                snippet,
                lang: parameters.lang.as_deref(),
                duplicates: request.duplicates,
                model,
                order: request.order,
                syntax: QuerySyntax::Interpreted,
                unknown_place: unknown_place.as_deref(),
            };
            if !lists {
                return start::start(state, &page, &results, &listing);
            }
            let unknown = if listing.total == 0 {
                state.searcher.catalog().unknown_values(&request.filter)?
            } else {
                Vec::new()
            };
            Ok(render_results(&listed_page(
                state, page, &results, &listing, &unknown,
            )))
        })
        .await
}

/// Returns the first and the last year of the periods that datasets cover; `None` if none are known. If the index cannot be read, the
/// search itself returns the error.
fn covered_years(state: &AppState) -> Option<(i32, i32)> {
    state
        .searcher
        .catalog()
        .covered_years(MAX_COVERED_YEARS)
        .unwrap_or(None)
}

/// Returns the filters that exclude datasets whose area or period is unknown, with links to the results without them.
fn unknown_coverage(
    page: &PageContext,
    counts: &FacetCounts,
    results: &Results<'_>,
) -> Vec<(String, String)> {
    let filter = results.filter;
    let without_place = Filter {
        within: None,
        ..filter.clone()
    };
    let without_period = Filter {
        covers: None,
        ..filter.clone()
    };
    let mut left_out = Vec::new();
    for (id, count, others) in [
        ("place-unknown", counts.without_place, without_place),
        ("period-unknown", counts.without_period, without_period),
    ] {
        if count > 0 {
            left_out.push((page.count(id, count), results.address_with_filter(&others)));
        }
    }
    left_out
}

/// Returns the form for a place, if the index has a column for areas.
fn place_form(state: &AppState, page: &PageContext, results: &Results<'_>) -> Option<PlaceView> {
    let has_coverage = state.searcher.catalog().has_coverage().unwrap_or(false);
    has_coverage.then(|| facets::place(page, results))
}

/// Returns a year in the four digits of dates. Other texts stay as they are.
fn padded_year(text: &str) -> String {
    let is_year = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_year {
        format!("{text:0>4}")
    } else {
        text.to_owned()
    }
}

/// Returns the value of a parameter without white space around it.
fn find_parameter<'p>(pairs: &'p Pairs, name: &str) -> Option<&'p str> {
    pairs
        .iter()
        .find(|(known, _)| known == name)
        .map(|(_, value)| value.trim())
}

/// Returns the text of the form for a place, if it is neither the name of a known place nor a box.
fn unknown_place(pairs: &Pairs) -> Option<&str> {
    let text = find_parameter(pairs, "place")?;
    (!text.is_empty() && parse_place(text).is_none()).then_some(text)
}

/// Returns the box of a country or state by its name, or of a text with four numbers.
fn parse_place(text: &str) -> Option<BoundingBox> {
    if let Ok(bounds) = text.parse() {
        return Some(bounds);
    }
    for expression in coverage_expressions(text) {
        if let CoverageValue::Place { bounds, .. } = expression.value {
            return Some(bounds);
        }
    }
    None
}

/// Returns the two years of a form with the earlier one first.
fn ordered_years<'p>(from: &'p str, until: &'p str) -> (&'p str, &'p str) {
    match (from.parse::<u32>(), until.parse::<u32>()) {
        (Ok(first), Ok(last)) if first > last => (until, from),
        _ => (from, until),
    }
}

/// Returns the address of the search with the fields of a form as filters, so that the forms for years and places work without
/// scripts. `None` if the request has none of these fields. An unknown place is left out.
fn form_address(page: &PageContext, pairs: &Pairs) -> Option<String> {
    let (from, until) = (
        find_parameter(pairs, "from"),
        find_parameter(pairs, "until"),
    );
    let place = find_parameter(pairs, "place");
    let has_years = from.is_some() || until.is_some();
    if !has_years && place.is_none() {
        return None;
    }
    let is_published = find_parameter(pairs, "of") == Some("published");
    let mut replaced = vec!["lang"];
    replaced.extend(FORM_FIELDS);
    if place.is_some() {
        replaced.push("within");
    }
    if has_years {
        replaced.extend(["since", "before", "covers"]);
    }
    let mut parameters = form_urlencoded::Serializer::new(String::new());
    for (name, value) in pairs
        .iter()
        .filter(|(name, _)| !replaced.contains(&name.as_str()))
    {
        parameters.append_pair(name, value);
    }
    let (from, until) = ordered_years(from.unwrap_or_default(), until.unwrap_or_default());
    if is_published {
        for (name, year) in [("since", from), ("before", until)] {
            if !year.is_empty() {
                parameters.append_pair(name, year);
            }
        }
    } else if !(from.is_empty() && until.is_empty()) {
        let period = format!("{}..{}", padded_year(from), padded_year(until));
        parameters.append_pair("covers", &period);
    }
    if let Some(bounds) = place.and_then(parse_place) {
        parameters.append_pair("within", &bounds.to_string());
    }
    Some(page.link(format!("/?{}", parameters.finish())))
}

fn listed_page(
    state: &AppState,
    page: PageContext,
    results: &Results<'_>,
    listing: &DatasetListing,
    unknown: &[UnknownValue],
) -> SearchPage {
    let hits = listing
        .datasets
        .iter()
        .map(|one| listed_view(state, &page, one, results))
        .collect();
    let filter_panel = FilterPanel {
        unknown_values: facets::unknown_values(&page, results, unknown),
        ..FilterPanel::new(state, &page, results, &listing.facets, listing.total)
    };
    SearchPage {
        counts: ResultCounts {
            total: listing.total,
            each_counted: listing
                .datasets
                .iter()
                .any(|one| !one.duplicates.is_empty()),
            qualities: None,
            only_closest: false,
        },
        hits,
        weak: Vec::new(),
        paging: Paging::new(results, listing.more),
        sorts: sort_links(&page, results, listing.total),
        filter_panel,
        // These need a query.
        hints: QueryHints::default(),
        ranking: RankingOptions::default(),
        kept: results.kept_parameters(results.filter),
        feed: String::new(),
        page,
    }
}

/// A page of results with all its parameters.
#[derive(Clone, Copy)]
pub(super) struct Results<'r> {
    pub(super) query: &'r str,
    pub(super) examples: &'r [Example],
    pub(super) filter: &'r Filter,
    pub(super) page: usize,
    pub(super) snippet: SnippetKind,
    pub(super) lang: Option<&'r str>,
    pub(super) duplicates: DuplicateMode,
    pub(super) model: Option<ModelKind>,
    pub(super) order: ResultOrder,
    pub(super) syntax: QuerySyntax,
    /// Name in the form for a place that no known place has. Links do not keep it.
    pub(super) unknown_place: Option<&'r str>,
}

impl<'r> Results<'r> {
    fn of_search(request: &'r SearchRequest, lang: Option<&'r str>) -> Self {
        Self {
            query: &request.query,
            examples: &request.examples,
            filter: &request.filter,
            page: request.skip / MAX_PAGE_HITS,
            snippet: request.snippet,
            lang,
            duplicates: request.duplicates,
            model: request.model,
            order: request.order,
            syntax: request.syntax,
            unknown_place: None,
        }
    }

    fn href(&self) -> String {
        let mut parameters = form_urlencoded::Serializer::new(String::new());
        parameters
            .append_pair("q", self.query)
            .append_pair("page", &self.page.to_string());
        parameters.extend_pairs(self.lang.map(|lang| ("lang", lang)));
        parameters.extend_pairs(self.literal());
        parameters.extend_pairs(self.kept_parameters(self.filter));
        format!("/?{}", parameters.finish())
    }

    fn page_address(&self, page: usize) -> String {
        Results { page, ..*self }.href()
    }

    /// Returns the address of the feed of the same search.
    fn feed(&self) -> String {
        let mut parameters = form_urlencoded::Serializer::new(String::new());
        parameters.append_pair("q", self.query);
        parameters
            .extend_pairs(self.literal())
            .extend_pairs(self.ranking())
            .extend_pairs(self.example_parameters())
            .extend_pairs(filter_parameters(self.filter));
        format!("/feeds/datasets.atom?{}", parameters.finish())
    }

    /// Returns the examples as parameters.
    fn example_parameters(&self) -> Vec<(&'static str, String)> {
        self.examples
            .iter()
            .filter_map(|example| match example {
                Example::Dataset(id) => Some(("like", id.to_string())),
                Example::Graph(_) => None,
            })
            .collect()
    }

    /// Returns the address of the first page with another filter.
    pub(super) fn address_with_filter(&self, filter: &Filter) -> String {
        Results {
            filter,
            page: 0,
            ..*self
        }
        .href()
    }

    /// Returns the parameters that another query keeps, except the language.
    pub(super) fn kept_parameters(&self, filter: &Filter) -> Vec<(&'static str, String)> {
        let snippet = match self.snippet {
            SnippetKind::Stored => None,
            kind => Some(("snippet", kind.name().to_owned())),
        };
        let all = (self.duplicates == DuplicateMode::All).then(|| ("duplicates", "all".to_owned()));
        let sort =
            (self.order != ResultOrder::default()).then(|| ("sort", self.order.name().to_owned()));
        let examples = self.example_parameters();
        snippet
            .into_iter()
            .chain(all)
            .chain(sort)
            .chain(self.ranking())
            .chain(examples)
            .chain(filter_parameters(filter))
            .collect()
    }

    /// Returns the parameter `literal` if the query is literal. The next query does not keep it.
    fn literal(&self) -> Option<(&'static str, &'static str)> {
        (self.syntax == QuerySyntax::Literal).then_some(("literal", "true"))
    }

    /// Returns the parameter `model` if it is not the default.
    fn ranking(&self) -> Option<(&'static str, String)> {
        self.model.map(|model| ("model", model.name().to_owned()))
    }

    /// Returns the fields of a form that extends a filter.
    pub(super) fn fields(&self, filter: &Filter) -> Vec<(&'static str, String)> {
        let lang = self.lang.map(|lang| ("lang", lang.to_owned()));
        let literal = self.literal().map(|(name, value)| (name, value.to_owned()));
        // Without a query, the number of the page selects the list of all datasets.
        let page = self.query.is_empty().then(|| ("page", "0".to_owned()));
        [("q", self.query.to_owned())]
            .into_iter()
            .chain(page)
            .chain(lang)
            .chain(literal)
            .chain(self.kept_parameters(filter))
            .collect()
    }
}

/// Returns the orders with their addresses; none if there is nothing to sort.
fn sort_links(page: &PageContext, results: &Results<'_>, total: usize) -> Vec<SortView> {
    if total < 2 {
        return Vec::new();
    }
    // A list without a query has no relevance: its default is the newest first.
    let has_relevance = !results.query.is_empty();
    let chosen = match results.order {
        ResultOrder::Relevance if !has_relevance => ResultOrder::Newest,
        order => order,
    };
    let mut sorts = Vec::new();
    for order in ResultOrder::ALL {
        if order == ResultOrder::Relevance && !has_relevance {
            continue;
        }
        let address = Results {
            order,
            page: 0,
            ..*results
        }
        .href();
        sorts.push(SortView {
            label: page.text(&format!("sort-{}", order.name())),
            href: address,
            chosen: order == chosen,
        });
    }
    sorts
}

fn search_page(
    state: &AppState,
    page: PageContext,
    results: &Results<'_>,
    response: &SearchResponse,
) -> SearchPage {
    let counts = response.facets.clone().unwrap_or_default();
    let hits = response
        .hits
        .iter()
        .map(|hit| hit_view(state, &page, response, hit, results));
    // In another order, weak matches stay where they are.
    let is_separate = results.order == ResultOrder::Relevance && !response.only_closest;
    let (weak, hits): (Vec<HitView>, Vec<HitView>) =
        hits.partition(|hit| hit.is_weak && is_separate);
    let mut filter_panel = FilterPanel {
        unknown_values: facets::unknown_values(&page, results, &response.unknown_values),
        ..FilterPanel::new(state, &page, results, &counts, response.total)
    };
    let mut chips = example_chips(&page, results, response);
    chips.append(&mut filter_panel.chips);
    filter_panel.chips = chips;
    SearchPage {
        counts: ResultCounts {
            total: response.total,
            each_counted: response.hits.iter().any(|hit| !hit.duplicates.is_empty()),
            qualities: (!response.only_closest)
                .then_some((response.good, response.total - response.good)),
            only_closest: response.only_closest,
        },
        hits,
        weak,
        paging: Paging::new(results, response.more && results.page < MAX_PAGE_NUMBER),
        sorts: sort_links(&page, results, response.total),
        filter_panel,
        hints: QueryHints::new(state, &page, results, response),
        ranking: RankingOptions::new(state, &page, results, response),
        kept: results.kept_parameters(results.filter),
        feed: results.feed(),
        page,
    }
}

/// Returns the link to the entities with the words of a query, or to the datasets of the resource that it names. `None` if no
/// dataset has content.
fn entities_link(state: &AppState, page: &PageContext, query: &str) -> Option<(String, String)> {
    let has_content = state.searcher.catalog().has_content().unwrap_or(false);
    let text = if entity_search::resource(query).is_some() {
        "occurrences-link"
    } else {
        "entities-link"
    };
    has_content.then(|| (page.text(text), entities::address(query)))
}

/// Returns the examples of a search, each with the address of the search without it.
fn example_chips(
    page: &PageContext,
    results: &Results<'_>,
    response: &SearchResponse,
) -> Vec<Chip> {
    let mut chips = Vec::new();
    for (place, example) in response.examples.iter().enumerate() {
        let Some(example) = example else { continue };
        let others = [&results.examples[..place], &results.examples[place + 1..]].concat();
        chips.push(Chip {
            label: page.text_with(
                "similar-to",
                "title",
                shorten(&readable(&example.title), 60),
            ),
            href: Results {
                examples: &others,
                page: 0,
                ..*results
            }
            .href(),
        });
    }
    chips
}

/// Returns the similarity of a hit to each example, with the reasons.
fn similarity_views(page: &PageContext, hit: &Hit, response: &SearchResponse) -> Vec<ExampleView> {
    let mut views = Vec::new();
    for similarity in &hit.similar_to {
        let Some(Some(example)) = response.examples.get(similarity.example) else {
            continue;
        };
        views.push(ExampleView {
            title: page.text_with(
                "similar-to",
                "title",
                shorten(&readable(&example.title), 60),
            ),
            score: format!("{:.2}", similarity.score),
            clauses: similarity
                .parts
                .iter()
                .flat_map(|part| similar::clauses(page, part))
                .collect(),
        });
    }
    views
}

/// Returns the meaning of a part of the query in the language of the page.
fn describe_interpretation(page: &PageContext, part: &Interpretation) -> String {
    if part.kind == InterpretationKind::Translation {
        let id = "interpreted-translation";
        return page.text_with2(
            id,
            "text",
            &part.text,
            "translations",
            part.first_translations(),
        );
    }
    let text = page.text_with(
        &format!("interpreted-{}", part.kind.name()),
        "text",
        &part.text,
    );
    if part.excluded {
        page.text_with("interpreted-excluded", "part", &text)
    } else {
        text
    }
}

/// Returns a suggested filter with the number of datasets and the address of the search with it.
fn suggested_filter_chip(page: &PageContext, results: &Results<'_>, one: &SuggestedFilter) -> Chip {
    let label = match one.coverage {
        CoverageValue::Period(period) => {
            page.text_with("filter-covers", "period", facets::period_text(period))
        }
        CoverageValue::Place { .. } => page.text_with("filter-within", "box", &one.text),
    };
    Chip {
        label: format!("{label} ({})", page.number(one.with_words)),
        href: results.address_with_filter(&one.add_to(results.filter)),
    }
}

/// Returns the models: the default, then each sparse model other than it.
fn model_choices(
    page: &PageContext,
    chosen: Option<ModelKind>,
    has_reranker: bool,
) -> Vec<ModelView> {
    let default = ModelKind::default();
    let mut choices = Vec::new();
    if has_reranker {
        choices.push(ModelView {
            name: "",
            title: page.text("model-default-title"),
            about: page.text("model-default"),
            chosen: chosen.is_none(),
        });
    } else {
        choices.push(ModelView::new(page, default, "", chosen.is_none()));
    }
    for model in ModelKind::ALL {
        let is_chosen = chosen == Some(model);
        // The default is listed by name if it was selected by name.
        if has_reranker || model != default || is_chosen {
            choices.push(ModelView::new(page, model, model.name(), is_chosen));
        }
    }
    choices
}

fn model_title(model: ModelKind) -> &'static str {
    match model {
        ModelKind::TfIdf => "TF-IDF",
        ModelKind::Bm25 => "BM25",
        ModelKind::Lmd => "LMD",
        ModelKind::Fsdm => "FSDM",
    }
}

/// Returns the labels of the themes with their kinds.
fn theme_labels(metadata: &Metadata) -> Vec<(&'static str, String)> {
    let mut labels = Vec::new();
    for scheme in Scheme::ALL {
        for label in metadata.themes_of(scheme) {
            labels.push((scheme.name(), label.to_owned()));
        }
    }
    labels
}

/// Returns the address of a hit's snippet as a drawing, by the same method and query as the triples shown.
fn picture_address(page: &PageContext, dataset: &str, query: &str, snippet: SnippetKind) -> String {
    let mut parameters = form_urlencoded::Serializer::new(String::new());
    parameters.append_pair("format", "svg");
    if let SnippetKind::OnDemand(method) = snippet {
        parameters
            .append_pair("method", method.name())
            .append_pair("query", query);
    }
    page.link(format!("{dataset}/snippet?{}", parameters.finish()))
}

fn hit_view(
    state: &AppState,
    page: &PageContext,
    response: &SearchResponse,
    hit: &Hit,
    results: &Results<'_>,
) -> HitView {
    let (matching, others): (Vec<_>, Vec<_>) = hit
        .snippet
        .iter()
        .partition(|triple| !triple.matched.is_empty());
    let answers = matching.len().min(MAX_OPEN_TRIPLES);
    let triples = matching
        .into_iter()
        .chain(others)
        .map(|triple| &triple.triple);
    let mut view = card_view(
        state,
        page,
        &hit.card,
        triples,
        &hit.duplicates,
        Some(&response.words),
    );
    let table = hit
        .table
        .as_ref()
        .map(|table| rows_view(page, table, Some(&response.words)));
    let (mut open_table, mut preview_table) = (None, None);
    if hit.rank > MAX_OPEN_HITS {
        preview_table = table;
    } else if table.is_some() {
        open_table = table;
    } else {
        let others = view.triples.split_off(answers.min(view.triples.len()));
        view.answers = mem::replace(&mut view.triples, others);
    }
    let words: String = form_urlencoded::byte_serialize(results.query.as_bytes()).collect();
    HitView {
        rank: hit.rank,
        snippet: format!("{}/snippet?query={words}", view.href),
        picture: picture_address(page, &view.href, results.query, results.snippet),
        score: hit
            .score
            .map(|score| score_text(page, score, response))
            .unwrap_or_default(),
        fields: hit
            .fields
            .iter()
            .map(|field| field_view(page, field))
            .collect(),
        near: similar_parts(hit),
        similar: similarity_views(page, hit, response),
        used_near: match &hit.works {
            Some(evidence) => evidence.near,
            None => 0,
        },
        used_by: hit
            .works
            .iter()
            .flat_map(|evidence| &evidence.works)
            .map(near_work_view)
            .collect(),
        is_weak: hit.quality == MatchQuality::Weak,
        open_table,
        table: preview_table,
        ..view
    }
}

fn field_view(page: &PageContext, field: &FieldMatch) -> FieldView {
    FieldView {
        name: page.text(&format!("field-{}", field.field.name())),
        terms: field.terms.join(", "),
    }
}

fn listed_view(
    state: &AppState,
    page: &PageContext,
    one: &ListedDataset,
    results: &Results<'_>,
) -> HitView {
    let view = card_view(
        state,
        page,
        &one.card,
        one.snippet.iter(),
        &one.duplicates,
        None,
    );
    let mut open_table = None;
    if one.rank <= MAX_OPEN_HITS {
        open_table = state
            .searcher
            .condition_rows(&one.card, &results.filter.columns, &page.languages)
            .map(|table| rows_view(page, &table, None));
    }
    HitView {
        rank: one.rank,
        open_table,
        snippet: format!("{}/snippet", view.href),
        picture: picture_address(page, &view.href, "", SnippetKind::Stored),
        ..view
    }
}

/// Returns the view of a dataset's properties that do not depend on the query.
pub(super) fn card_view<'t>(
    state: &AppState,
    page: &PageContext,
    card: &Card,
    triples: impl Iterator<Item = &'t LabelledTriple>,
    others: &[DatasetReference],
    words: Option<&QueryWords>,
) -> HitView {
    let metadata = &card.metadata;
    let mut facts: Vec<String> = metadata
        .agents()
        .take(1)
        .map(|agent| readable(&agent.name))
        .collect();
    facts.extend(metadata.first_year().map(|year| year.to_string()));
    // Some catalogues contain datasets that are not RDF.
    facts.extend((card.profile.triples > 0).then(|| format_size(page, card)));
    let mut themes = theme_labels(metadata);
    let more_themes = themes.len().saturating_sub(MAX_HIT_THEMES);
    themes.truncate(MAX_HIT_THEMES);
    let iri = state.store.iris().dataset(&metadata.id);
    let (title, lang) = title_of(page, metadata);
    let description = best_text(page, &metadata.descriptions);
    let description = description.map(|text| {
        let is_match = matches_in(words, &text.value);
        TextView {
            pieces: split_matches(
                &shorten_around_match(&readable(&text.value), MAX_DESCRIPTION_CHARS, &is_match),
                &is_match,
            ),
            lang: page.foreign(text.language.as_deref()),
        }
    });
    HitView {
        download: card_download(state, page, card, iri.as_str()),
        picture_shows: page.text_with("preview-graph-of", "title", &title),
        href: href(&metadata.id),
        title: TextView {
            pieces: split_matches(&title, matches_in(words, &title)),
            lang,
        },
        plain_title: title,
        description: description.unwrap_or_default(),
        facts,
        badges: if metadata.is_series {
            vec![series_badge(page)]
        } else {
            card_badges(card)
        },
        themes,
        more_themes,
        work: metadata
            .introduced_by
            .first()
            .map(|work| work_view(work, iri.as_str())),
        others: others
            .iter()
            .map(|other| (href(&other.id), source_name(other)))
            .collect(),
        table: card
            .table
            .as_ref()
            .map(|rows| rows_view(page, &rows.into(), None)),
        triples: triples
            .take(MAX_HIT_TRIPLES)
            .map(|triple| triple_view(triple, words))
            .collect(),
        ..HitView::default()
    }
}

/// Returns the badge of a series: it has no files of its own.
fn series_badge(page: &PageContext) -> Badge {
    Badge {
        text: page.text("series"),
        title: page.text("series-note"),
    }
}

/// Returns the link to the first file of a dataset on the web, or else to the content stored here: the file of a table, RDF otherwise.
/// `None` if there is neither.
fn card_download(
    state: &AppState,
    page: &PageContext,
    card: &Card,
    iri: &str,
) -> Option<DownloadLink> {
    for distribution in &card.distributions {
        let Location::Remote(address) = &distribution.location else {
            continue;
        };
        if let Some(format) = distribution_format(distribution)
            && is_web(address)
        {
            return Some(DownloadLink {
                label: format.short.to_owned(),
                href: address.clone(),
                is_external: true,
            });
        }
    }
    if card.table.is_some()
        && let Ok(files) = state.store.dataset_files(&card.metadata.id)
        && let Some(file) = files.first()
    {
        let format = Format::from_path(&file.name);
        return Some(DownloadLink {
            label: match format {
                Some(format) => format.short.to_owned(),
                None => file.name.clone(),
            },
            href: format!("{}/files/{}", href(&card.metadata.id), segment(&file.name)),
            is_external: false,
        });
    }
    let (label, format) = SYNTAXES[0];
    (card.profile.triples > 0).then(|| DownloadLink {
        label: label.to_owned(),
        href: page.link(content_address(iri, format)),
        is_external: false,
    })
}

/// Returns the declared format of a file, or else that of its name.
fn distribution_format(distribution: &Distribution) -> Option<Format> {
    let declared = distribution
        .media_type
        .as_deref()
        .and_then(Format::from_name);
    declared.or_else(|| Format::from_path(distribution.location.as_str()))
}

/// Returns the formats of a dataset's files, and its licence.
fn card_badges(card: &Card) -> Vec<Badge> {
    let mut formats: Vec<&'static str> = Vec::new();
    for distribution in &card.distributions {
        if let Some(format) =
            distribution_format(distribution).filter(|format| !formats.contains(&format.short))
        {
            formats.push(format.short);
        }
    }
    let all = formats.join(", ");
    let mut badges: Vec<Badge> = Vec::new();
    for format in formats.iter().take(MAX_HIT_FORMATS) {
        badges.push(Badge {
            text: (*format).to_owned(),
            title: all.clone(),
        });
    }
    if let Some(license) = card.licenses().next() {
        badges.push(Badge {
            text: shorten(&license_label(license), 28),
            title: license.to_owned(),
        });
    }
    badges
}

/// Returns the view of a work that uses a dataset.
fn near_work_view(work: &NearWork) -> WorkView {
    WorkView {
        title: shorten(&readable(&work.title), 120),
        issued: work.year.map(|year| year.to_string()).unwrap_or_default(),
        href: work.url.clone().filter(|url| is_web(url)),
    }
}

/// Returns the parts of a dataset with a similar meaning, if none of its words match.
fn similar_parts(hit: &Hit) -> Vec<String> {
    let parts = hit.dense.iter().flat_map(|dense| &dense.parts);
    if hit.fields.is_empty() {
        parts
            .map(|part| shorten(&readable(&part.text), 160))
            .collect()
    } else {
        Vec::new()
    }
}

/// Returns the number of re-ranked datasets; 0 without an encoder.
fn count_reranked(response: &SearchResponse) -> usize {
    let rerank = response
        .rerank
        .as_ref()
        .filter(|rerank| !rerank.encoders.is_empty());
    match rerank {
        Some(rerank) => rerank.candidates,
        None => 0,
    }
}

/// Returns a score with the name of its model or models.
fn score_text(page: &PageContext, score: f64, response: &SearchResponse) -> String {
    let mut models: Vec<&str> = vec![response.model];
    let cross_encoder = response
        .rerank
        .as_ref()
        .and_then(|rerank| rerank.cross_encoder.as_ref());
    if let Some(cross_encoder) = cross_encoder.filter(|summary| !summary.deadline_passed) {
        models = vec![&cross_encoder.model];
    } else if let Some(rerank) = &response.rerank {
        models.extend(rerank.encoders.iter().map(|encoder| encoder.model.as_str()));
    }
    models.dedup();
    if !response.examples.is_empty() {
        models.push("like");
    }
    let score = format!("{score:.2}");
    page.locale.text_with(
        "score",
        &[("score", &score), ("models", &models.join(" + "))],
    )
}
