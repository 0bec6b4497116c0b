//! `/catalog`: all datasets in DCAT-AP or another application profile, in pages for harvesters.
//!
//! | parameter | meaning |
//! |---|---|
//! | `page` | page number from 1 |
//! | `rows` | datasets a page, 1 to 1,000 (default 100) |
//! | `modified_since` | date, or date with time: only datasets that changed here since |
//! | `q` | only datasets with one of these words, by descending score, at most 1,000 |
//! | `profile` | application profile, by name or IRI: `dcat-ap`, `geodcat-ap`, `healthdcat-ap`, `dcat-us` |
//! | `format` | as for datasets, if the address has no suffix |
//!
//! Without the parameter, the header `Accept-Profile` selects the profile (Content Negotiation by Profile,
//! <https://www.w3.org/TR/dx-prof-conneg/>).
//!
//! Page links use both dialects of Hydra, because harvesters know one or the other, and `Link` headers. They start with the
//! public URL, independent of the request's host. A page has an `ETag` computed from its content, so that harvesters
//! download only changes.

use super::Portal;
use crate::AppState;
use crate::cache::GenerationCache;
use crate::documentation::{
    BadRequest, Busy, ClientLimit, FormatParameter, Graph, JsonError, Negotiated, NotAcceptable,
    NotFound, Text,
};
use crate::error::ApiError;
use crate::negotiation::ranges;
use crate::parameters::{check_query, pairs};
use crate::public_url::LinkBase;
use crate::response_formats::{self, Kind};
use crate::site::Client;
use crate::text::uri;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get};
use lodeseek_catalog::application_profile::{LocalContent, Profile, to_profile};
use lodeseek_catalog::{DatasetId, Iris, Moment};
use lodeseek_engine::{BoundingBox, Card, CoverageSource, add_file_addresses};
use lodeseek_rdf::vocab::{dcat, dcterms, foaf, hydra, rdf};
use lodeseek_rdf::{RdfSyntax, SerializedGraph};
use lodeseek_rdf::{local_name, words};
use lodeseek_store::text_bytes;
use oxrdf::{Literal, NamedNode, NamedOrBlankNode, Term, Triple};
use oxsdatatypes::DateTime;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Default number of datasets of a page.
const DEFAULT_ROWS: usize = 100;
/// Maximum number of datasets of a page, and of a search.
const MAX_PAGE_DATASETS: usize = 1000;
/// Maximum size of the descriptions on a page in bytes. One description may exceed it.
const MAX_PAGE_BYTES: usize = 64 << 20;
/// Number of classes in a generated description.
const MAX_CLASSES: usize = 3;

/// Parsed parameters of a request.
#[derive(Clone, Debug)]
struct Request {
    profile: Profile,
    /// Suffix of the address; empty if the format is negotiated.
    suffix: &'static str,
    page: usize,
    rows: usize,
    modified_since: Option<DateTime>,
    query: Option<String>,
    /// All parameters except `page`, for the links to other pages.
    others: Vec<(String, String)>,
}

/// Returns the route of the catalogue at an address with a suffix. Without one the format is negotiated.
#[utoipa::path(get, path = "/catalog", tag = "Catalogue", operation_id = "catalog",
    summary = "All datasets in DCAT-AP 3.0.1 or another application profile, page by page, with links to the other pages",
    params(
        ("page" = Option<usize>, Query, description = "Page number from 1.", minimum = 1),
        ("rows" = Option<usize>, Query, description = "Number of datasets of a page.", minimum = 1),
        ("q" = Option<String>, Query, description = "Query: only datasets that match."),
        ("modified_since" = Option<String>, Query, description = "Only datasets that changed since this date or time."),
        ("profile" = Option<String>, Query, description = "Application profile, by name or IRI, instead of Accept-Profile: \
            dcat-ap, geodcat-ap, healthdcat-ap, dcat-us."),
        FormatParameter),
    responses(
        Negotiated<Graph>,
        (status = 303, description = "HTML: the search page lists the datasets."),
        (status = 304, description = "If-None-Match has the entity tag of the page."),
        BadRequest<(JsonError, Text)>,
        NotFound<Text>,
        NotAcceptable<Text>,
        (status = 414, description = "The query is too long.", body = String),
        ClientLimit<Text>,
        Busy<Text>))]
pub(crate) fn with_suffix(suffix: &'static str) -> MethodRouter<AppState> {
    get(
        async move |State(state): State<AppState>,
                    client: Client,
                    links: LinkBase,
                    RawQuery(query): RawQuery,
                    headers: HeaderMap| {
            let parameters = pairs(query.as_deref().unwrap_or_default().as_bytes());
            respond(&state, client, links, &parameters, &headers, suffix)
                .await
                .unwrap_or_else(IntoResponse::into_response)
        },
    )
}

async fn respond(
    state: &AppState,
    client: Client,
    links: LinkBase,
    parameters: &[(String, String)],
    headers: &HeaderMap,
    suffix: &'static str,
) -> Result<Response, ApiError> {
    let media_type = match RdfSyntax::from_name(suffix.trim_start_matches('.')) {
        Some(syntax) => response_formats::with_requested_version(syntax.media_type(), headers),
        None => Kind::Graph.negotiate(parameters, headers)?,
    };
    if media_type == response_formats::HTML {
        // The search page lists the datasets as HTML.
        return Ok(axum::response::Redirect::to("/").into_response());
    }
    let request = Request::read(parameters, headers, suffix)?;
    let profile = request.profile;
    let known = headers
        .get(header::IF_NONE_MATCH)
        .and_then(|value| value.to_str().ok())
        .map(str::to_owned);
    let page = state
        .work_with_permit(client, move |state| {
            build_page(state, &links, &request, media_type, known.as_deref())
        })
        .await?;
    let mut response = match page.body {
        Some(written) => {
            let mut response = response_formats::sent(media_type, written.bytes);
            response_formats::mark_omissions(&written.omissions, response.headers_mut());
            response
        }
        None => StatusCode::NOT_MODIFIED.into_response(),
    };
    let own = response.headers_mut();
    own.extend(page.links.into_iter().map(|link| (header::LINK, link)));
    own.insert(header::ETAG, page.tag);
    if let Ok(iri) = HeaderValue::from_str(&format!("<{}>", profile.iri())) {
        own.insert("content-profile", iri);
    }
    own.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    Ok(response)
}

impl Request {
    fn read(
        parameters: &[(String, String)],
        headers: &HeaderMap,
        suffix: &'static str,
    ) -> Result<Self, ApiError> {
        let profile = find_value(parameters, "profile");
        // Content Negotiation by Profile has `_profile` as the name of this parameter.
        let profile = match profile.or_else(|| find_value(parameters, "_profile")) {
            Some(text) => Profile::from_text(text).ok_or_else(|| unknown_profile(text))?,
            None => accepted_profile(headers),
        };
        let query = find_value(parameters, "q").map(str::to_owned);
        if let Some(query) = &query {
            check_query(query)?;
        }
        Ok(Self {
            profile,
            suffix,
            page: parse_number(parameters, "page", 1, usize::MAX)?,
            rows: parse_number(parameters, "rows", DEFAULT_ROWS, MAX_PAGE_DATASETS)?,
            modified_since: find_value(parameters, "modified_since")
                .map(parse_moment)
                .transpose()?,
            query,
            others: parameters
                .iter()
                .filter(|(name, _)| name != "page")
                .cloned()
                .collect(),
        })
    }

    /// Returns the address of the page in another profile.
    fn address_in(&self, profile: Profile, links: &LinkBase) -> String {
        let mut others = self.others.clone();
        others.retain(|(name, _)| !matches!(name.as_str(), "profile" | "_profile"));
        others.push(("profile".to_owned(), profile.name().to_owned()));
        Self {
            others,
            ..self.clone()
        }
        .address(self.page, links)
    }

    /// Returns the address of a page.
    fn address(&self, page: usize, links: &LinkBase) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query
            .extend_pairs(&self.others)
            .append_pair("page", &page.to_string());
        format!("{links}catalog{}?{}", self.suffix, query.finish())
    }
}

/// Returns the last value of a parameter; `None` if it is blank.
fn find_value<'p>(parameters: &'p [(String, String)], name: &str) -> Option<&'p str> {
    let (_, value) = parameters.iter().rev().find(|(known, _)| known == name)?;
    Some(value.trim()).filter(|value| !value.is_empty())
}

/// Parses a parameter as a number from 1 to `max`.
fn parse_number(
    parameters: &[(String, String)],
    name: &str,
    default: usize,
    max: usize,
) -> Result<usize, ApiError> {
    match find_value(parameters, name).map(str::parse::<usize>) {
        None => Ok(default),
        Some(Ok(number)) if (1..=max).contains(&number) => Ok(number),
        Some(_) => Err(ApiError::bad_request(format!(
            "{name} must be a number from 1 to {max}"
        ))),
    }
}

fn unknown_profile(text: &str) -> ApiError {
    let names = Profile::ALL.map(Profile::name).join(", ");
    ApiError::bad_request(format!(
        "profile={text:?} is not supported; supported profiles: {names}"
    ))
}

/// Returns the supported profile with the highest quality in `Accept-Profile`, else the default.
fn accepted_profile(headers: &HeaderMap) -> Profile {
    let mut best = (Profile::default(), 0.0);
    for (iri, quality) in ranges(headers, &HeaderName::from_static("accept-profile")) {
        let profile = Profile::from_text(iri.trim_start_matches('<').trim_end_matches('>'));
        if let Some(profile) = profile.filter(|_| quality > best.1) {
            best = (profile, quality);
        }
    }
    best.0
}

/// Parses a date with or without time. A date is its first moment. The default time zone is UTC.
fn parse_moment(text: &str) -> Result<DateTime, ApiError> {
    // An unencoded plus sign is parsed as a space.
    let plus = text.replace(' ', "+");
    let found = Moment::parse(text).or_else(|| Moment::parse(&plus));
    let found = found.filter(|moment| moment.day().is_some());
    let found = found.and_then(|moment| format!("{}Z", moment.second()).parse().ok());
    found.ok_or_else(|| {
        ApiError::bad_request(format!(
            "modified_since={text:?} is not a date; examples: 2026-01-31, 2026-01-31T12:00:00Z"
        ))
    })
}

struct CatalogResponse {
    /// Body; `None` if the client's copy is current.
    body: Option<SerializedGraph>,
    tag: HeaderValue,
    links: Vec<HeaderValue>,
}

fn build_page(
    state: &AppState,
    links: &LinkBase,
    request: &Request,
    media_type: &'static str,
    known: Option<&str>,
) -> Result<CatalogResponse, ApiError> {
    let listing = Listing::current(state)?;
    let records = &listing.records;
    let ids = find_matching_ids(state, request, &listing)?;
    // An empty catalogue has one page, without datasets.
    let pages = ids.len().div_ceil(request.rows).max(1);
    if request.page > pages {
        return Err(ApiError::not_found(format!(
            "there is no such page; the last page is {pages}"
        )));
    }
    let changed = match records.values().max() {
        Some(time) => time.as_str(),
        None => "",
    };
    let (iris, portal) = (state.store.iris(), &state.portal.portal);
    let view = View {
        request,
        iris,
        links,
        portal,
        changed,
        pages,
        total: ids.len(),
    };
    let page_ids = ids
        .iter()
        .skip((request.page - 1) * request.rows)
        .take(request.rows);
    let listed = read_entries(state, page_ids, links, MAX_PAGE_BYTES)?;
    // The tag is that of the inputs, so that a current copy needs no conversion.
    let (tag, links) = (compute_tag(&view, &listed, media_type), view.links());
    let is_known = known.is_some_and(|known| {
        known
            .split(',')
            .any(|one| one.trim() == tag || one.trim() == "*")
    });
    let body = if is_known {
        None
    } else {
        Some(serialize(&view, listed, media_type)?)
    };
    let tag = HeaderValue::from_str(&tag).map_err(|error| ApiError::internal(&error))?;
    Ok(CatalogResponse { body, tag, links })
}

/// Returns the datasets of all pages, by id or in the order of a search.
fn find_matching_ids(
    state: &AppState,
    request: &Request,
    listing: &Listing,
) -> Result<Vec<DatasetId>, ApiError> {
    let mut ids = match &request.query {
        Some(query) => state
            .searcher
            .rank(query, MAX_PAGE_DATASETS)?
            .iter()
            .map(|scored| scored.id.clone())
            .collect(),
        None => listing.ids.clone(),
    };
    if let Some(since) = request.modified_since {
        // Datasets without a record may have changed.
        ids.retain(|id| {
            listing
                .records
                .get(id)
                .and_then(|time| time.parse().ok())
                .is_none_or(|time: DateTime| time >= since)
        });
    }
    Ok(ids)
}

/// The ids and records of all datasets.
pub(crate) struct Listing {
    /// Every dataset, by id.
    ids: Vec<DatasetId>,
    /// Time of the last change of each description, from its record.
    records: BTreeMap<DatasetId, String>,
}

/// Cache of the listing. Its generation changes with the catalogue.
pub(crate) type CachedListing = GenerationCache<u64, Listing>;

impl Listing {
    /// Returns the current listing. Harvesters request page after page, so it is cached.
    fn current(state: &AppState) -> Result<Arc<Self>, ApiError> {
        let generation = state.store.catalog_generation();
        state.portal.listing.get_or_compute(generation, || {
            Ok(Self {
                ids: state.store.ids()?,
                records: state.store.records()?,
            })
        })
    }
}

/// The data of one dataset of a page.
struct CatalogEntry {
    id: DatasetId,
    description: Vec<Triple>,
    record: Vec<Triple>,
    card: Option<Card>,
    /// Series of this home that the dataset belongs to.
    series: Vec<DatasetId>,
    /// If false, the dataset is described because a dataset of the page links to it.
    is_listed: bool,
}

/// Properties between datasets, and between datasets and their series. They are published with the IRIs of this home.
const DATASET_LINKS: [&str; 15] = [
    dcterms::HAS_PART,
    dcterms::IS_PART_OF,
    dcterms::SOURCE,
    dcterms::RELATION,
    dcterms::HAS_VERSION,
    dcterms::IS_VERSION_OF,
    dcterms::REPLACES,
    dcterms::IS_REPLACED_BY,
    dcat::HAS_VERSION,
    dcat::IN_SERIES,
    dcat::SERIES_MEMBER,
    dcat::PREV,
    dcat::NEXT,
    dcat::FIRST,
    dcat::LAST,
];

impl CatalogEntry {
    fn read(state: &AppState, id: &DatasetId, links: &LinkBase) -> Result<Self, ApiError> {
        let (mut description, record) = (state.store.description(id)?, state.store.record_of(id)?);
        add_file_addresses(&state.store, id, &mut description, links.as_str())?;
        let mut series = Vec::new();
        for triple in description
            .iter_mut()
            .filter(|triple| DATASET_LINKS.contains(&triple.predicate.as_str()))
        {
            if let Term::NamedNode(other) = &triple.object
                && let Some(other) = state.store.dataset_with_iri(other.as_str())?
            {
                triple.object = state.store.iris().dataset(&other).into();
                if triple.predicate.as_str() == dcat::IN_SERIES {
                    series.push(other);
                }
            }
        }
        let card = state.searcher.catalog().card(id)?;
        Ok(Self {
            id: id.clone(),
            description,
            record,
            card,
            series,
            is_listed: true,
        })
    }

    /// Returns the description in an application profile, without the record.
    fn in_profile(&self, profile: Profile, iris: &Iris, links: &LinkBase) -> Vec<Triple> {
        let card = self.card.as_ref();
        let local = LocalContent {
            series: self.series.iter().map(|id| iris.dataset(id)).collect(),
            place: card.and_then(declared_place),
            ..local_content(card, &self.id, iris, links)
        };
        to_profile(profile, &self.description, &self.id, iris, &local).triples
    }

    /// Returns the size of the description in bytes, without that of the card.
    fn bytes(&self) -> usize {
        self.description
            .iter()
            .chain(&self.record)
            .map(text_bytes)
            .sum()
    }
}

/// Returns the description of a dataset in DCAT-AP, as the catalogue publishes it, without its record.
pub(super) fn dcat_ap_description(
    state: &AppState,
    id: &DatasetId,
    links: &LinkBase,
) -> Result<Vec<Triple>, ApiError> {
    let entry = CatalogEntry::read(state, id, links)?;
    Ok(entry.in_profile(Profile::default(), state.store.iris(), links))
}

/// Reads the datasets of a page, and their series: profiles require the description of a series that a dataset links to.
///
/// Status 400 if several datasets have more than `max_bytes` of descriptions. A page with one dataset is always possible: from
/// the first series that exceeds `max_bytes` on, series are omitted. Their descriptions are on their own pages.
fn read_entries<'i>(
    state: &AppState,
    ids: impl Iterator<Item = &'i DatasetId>,
    links: &LinkBase,
    max_bytes: usize,
) -> Result<Vec<CatalogEntry>, ApiError> {
    let mut entries: Vec<CatalogEntry> = Vec::new();
    let mut bytes = 0;
    for id in ids {
        let entry = CatalogEntry::read(state, id, links)?;
        bytes += entry.bytes();
        if bytes > max_bytes && !entries.is_empty() {
            return Err(ApiError::bad_request(format!(
                "the descriptions of this page have more than {} MiB; request pages with fewer datasets by the parameter rows",
                max_bytes >> 20
            )));
        }
        entries.push(entry);
    }
    let mut series: BTreeSet<DatasetId> = BTreeSet::new();
    for entry in &entries {
        series.extend(entry.series.iter().cloned());
    }
    // A series that the page lists is described already.
    for entry in &entries {
        series.remove(&entry.id);
    }
    for id in &series {
        let entry = CatalogEntry {
            record: Vec::new(),
            is_listed: false,
            ..CatalogEntry::read(state, id, links)?
        };
        bytes += entry.bytes();
        if bytes > max_bytes {
            break;
        }
        entries.push(entry);
    }
    Ok(entries)
}

/// Computes the entity tag of a page from its inputs.
fn compute_tag(view: &View<'_>, listed: &[CatalogEntry], media_type: &str) -> String {
    let mut hash = Sha256::new();
    for text in [
        env!("CARGO_PKG_VERSION"),
        media_type,
        view.request.profile.name(),
        view.changed,
        &view.address(view.request.page),
        &view.pages.to_string(),
        &view.total.to_string(),
        &format!("{:?}", view.portal),
    ] {
        hash_text(&mut hash, text);
    }
    for CatalogEntry {
        id,
        description,
        record,
        card,
        ..
    } in listed
    {
        hash_text(&mut hash, id.as_str());
        let version = match card {
            Some(card) => card.version.as_str(),
            None => "",
        };
        hash_text(&mut hash, version);
        let mut lines: Vec<String> = description
            .iter()
            .chain(record)
            .map(ToString::to_string)
            .collect();
        // The order of the triples in the store must not change the tag.
        lines.sort_unstable();
        for line in &lines {
            hash_text(&mut hash, line);
        }
    }
    let hash = hash.finalize();
    let hex: String = hash
        .iter()
        .take(12)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("W/\"{hex}\"")
}

/// Adds a text and its length, so that different lists of texts have different hashes.
fn hash_text(hash: &mut Sha256, text: &str) {
    hash.update((text.len() as u64).to_le_bytes());
    hash.update(text.as_bytes());
}

fn serialize(
    view: &View<'_>,
    listed: Vec<CatalogEntry>,
    media_type: &'static str,
) -> Result<SerializedGraph, ApiError> {
    let (iris, mut triples) = (view.iris, view.triples());
    for entry in listed {
        let mut description = entry.in_profile(view.request.profile, iris, view.links);
        description.retain(|triple| !describes_other_feed(triple, iris));
        triples.extend(description);
        if entry.is_listed {
            triples.push(Triple::new(
                iris.catalog(),
                NamedNode::new_unchecked(dcat::HAS_DATASET),
                iris.dataset(&entry.id),
            ));
        }
        triples.extend(entry.record);
    }
    // One dataset must not cost all others: what RDF/XML cannot express is left out and counted.
    response_formats::form(media_type)
        .serialize(&triples)
        .map_err(|error| ApiError::internal(&error))
}

/// Returns true if a triple makes a resource of the web a catalogue or a page of one. Descriptions of harvested datasets contain
/// the catalogue that they come from, and readers of a feed take the first catalogue that they find as its own.
fn describes_other_feed(triple: &Triple, iris: &Iris) -> bool {
    let NamedOrBlankNode::NamedNode(subject) = &triple.subject else {
        return false;
    };
    if iris.dataset_id(subject.as_str()).is_some() {
        return false;
    }
    match &triple.object {
        Term::NamedNode(class) if triple.predicate.as_str() == rdf::TYPE => {
            class.as_str() == dcat::CATALOG || class.as_str().starts_with(hydra::NAMESPACE)
        }
        _ => triple.predicate.as_str().starts_with(hydra::NAMESPACE),
    }
}

/// Returns the area that the description of a dataset declares.
fn declared_place(card: &Card) -> Option<BoundingBox> {
    let place = card
        .coverage
        .place
        .as_ref()
        .filter(|place| place.source == CoverageSource::Metadata);
    place.map(|place| place.bounds)
}

/// Returns the content that this home offers for a dataset.
fn local_content(
    card: Option<&Card>,
    id: &DatasetId,
    iris: &Iris,
    links: &LinkBase,
) -> LocalContent {
    let Some(summary) = card
        .map(|card| &card.profile)
        .filter(|summary| summary.triples > 0)
    else {
        return LocalContent {
            summary: "No description is given.".to_owned(),
            ..LocalContent::default()
        };
    };
    let mut query = form_urlencoded::Serializer::new(String::new());
    let query = query
        .append_pair("graph", iris.dataset(id).as_str())
        .finish();
    let content = NamedNode::new(format!("{links}rdf-graph-store?{query}")).ok();
    let classes: Vec<String> = summary
        .classes
        .iter()
        .take(MAX_CLASSES)
        .map(|(class, _)| words(local_name(class)))
        .collect();
    let about = if classes.is_empty() {
        String::new()
    } else {
        format!(", most of them about: {}", classes.join(", "))
    };
    let summary = format!(
        "No description is given. The data are {} RDF triples{about}.",
        summary.triples
    );
    LocalContent {
        content,
        summary,
        ..LocalContent::default()
    }
}

/// A page with its position among all pages.
struct View<'v> {
    request: &'v Request,
    iris: &'v Iris,
    links: &'v LinkBase,
    portal: &'v Portal,
    /// Time of the last change of the catalogue; empty if unknown.
    changed: &'v str,
    pages: usize,
    total: usize,
}

impl View<'_> {
    fn address(&self, page: usize) -> String {
        self.request.address(page, self.links)
    }

    /// (relation of links, Hydra's property, its older name, page).
    fn neighbours(&self) -> Vec<(&'static str, &'static str, &'static str, usize)> {
        let page = self.request.page;
        let mut found = vec![
            ("first", hydra::FIRST, hydra::FIRST_PAGE, 1),
            ("last", hydra::LAST, hydra::LAST_PAGE, self.pages),
        ];
        if page > 1 {
            found.push(("prev", hydra::PREVIOUS, hydra::PREVIOUS_PAGE, page - 1));
        }
        if page < self.pages {
            found.push(("next", hydra::NEXT, hydra::NEXT_PAGE, page + 1));
        }
        found
    }

    fn links(&self) -> Vec<HeaderValue> {
        let mut links: Vec<HeaderValue> = Vec::new();
        for (relation, _, _, page) in self.neighbours() {
            let address = uri(&self.address(page));
            links.extend(HeaderValue::from_str(&format!(
                "<{address}>; rel=\"{relation}\""
            )));
        }
        let profile = self.request.profile;
        links.extend(HeaderValue::from_str(&format!(
            "<{}>; rel=\"profile\"",
            profile.iri()
        )));
        for other in Profile::ALL.into_iter().filter(|other| *other != profile) {
            let address = uri(&self.request.address_in(other, self.links));
            links.extend(HeaderValue::from_str(&format!(
                "<{address}>; rel=\"alternate\"; profile=\"{}\"",
                other.iri()
            )));
        }
        links
    }

    /// Returns the triples of the catalogue and its page.
    fn triples(&self) -> Vec<Triple> {
        let (catalog, portal) = (self.iris.catalog(), self.portal);
        let own = named_node(&uri(&self.address(self.request.page)));
        let mut triples = Vec::new();
        let homepage = named_node(self.links.as_str());
        for class in [dcat::CATALOG, hydra::COLLECTION] {
            add_triple(&mut triples, &catalog, rdf::TYPE, named_node(class));
        }
        for title in portal.title.literals() {
            add_triple(&mut triples, &catalog, dcterms::TITLE, title);
        }
        for description in portal.description.literals() {
            add_triple(&mut triples, &catalog, dcterms::DESCRIPTION, description);
        }
        add_triple(&mut triples, &catalog, foaf::HOMEPAGE, homepage.clone());
        add_triple(
            &mut triples,
            &homepage,
            rdf::TYPE,
            named_node(foaf::DOCUMENT),
        );
        if let Ok(modified) = self.changed.parse::<DateTime>() {
            add_triple(
                &mut triples,
                &catalog,
                dcterms::MODIFIED,
                Literal::from(modified),
            );
        }
        let publisher = portal
            .publisher_iri
            .as_deref()
            .and_then(|iri| NamedNode::new(iri).ok());
        let publisher = publisher.unwrap_or_else(|| {
            NamedNode::new_unchecked(format!("{catalog}#publisher", catalog = catalog.as_str()))
        });
        add_triple(
            &mut triples,
            &catalog,
            dcterms::PUBLISHER,
            publisher.clone(),
        );
        add_triple(&mut triples, &publisher, rdf::TYPE, named_node(foaf::AGENT));
        for name in portal.publisher.literals() {
            add_triple(&mut triples, &publisher, foaf::NAME, name);
        }
        add_triple(
            &mut triples,
            &catalog,
            hydra::TOTAL_ITEMS,
            Literal::from(self.total as u64),
        );
        add_triple(&mut triples, &catalog, hydra::VIEW, own.clone());
        for class in [hydra::PARTIAL_COLLECTION_VIEW, hydra::PAGED_COLLECTION] {
            add_triple(&mut triples, &own, rdf::TYPE, named_node(class));
        }
        add_triple(
            &mut triples,
            &own,
            hydra::TOTAL_ITEMS,
            Literal::from(self.total as u64),
        );
        add_triple(
            &mut triples,
            &own,
            hydra::ITEMS_PER_PAGE,
            Literal::from(self.request.rows as u64),
        );
        for (_, property, older, page) in self.neighbours() {
            for property in [property, older] {
                add_triple(
                    &mut triples,
                    &own,
                    property,
                    named_node(&uri(&self.address(page))),
                );
            }
        }
        triples
    }
}

/// Adds a statement to a description.
pub(super) fn add_triple(
    triples: &mut Vec<Triple>,
    subject: &NamedNode,
    predicate: &str,
    object: impl Into<Term>,
) {
    triples.push(Triple::new(subject.clone(), named_node(predicate), object));
}

/// Returns the node of a valid IRI.
pub(super) fn named_node(iri: &str) -> NamedNode {
    NamedNode::new_unchecked(iri)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_catalog::Catalog;
    use lodeseek_engine::{IndexOptions, Indexer, Searcher};
    use lodeseek_sparql::SparqlLimits;
    use lodeseek_store::{Loader, Store};
    use std::path::Path;

    fn empty_state(folder: &Path) -> AppState {
        let iris = Iris::new(Iris::DEFAULT_BASE).expect("the default");
        let store = Store::in_memory(folder, iris).expect("a store");
        Indexer::new(&store, IndexOptions::default())
            .run(&|_| ())
            .expect("indexed");
        AppState::new(
            Searcher::open(folder).expect("an index"),
            store,
            SparqlLimits::default(),
        )
    }

    #[test]
    fn the_listing_is_made_anew_when_the_catalogue_changes() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = empty_state(folder.path());
        let listing = || Listing::current(&state).expect("a listing");
        assert!(listing().ids.is_empty());
        assert!(Arc::ptr_eq(&listing(), &listing()), "nothing changed");
        let path = folder.path().join("catalog.ttl");
        let turtle = "<http://e.org/1> a <http://www.w3.org/ns/dcat#Dataset> ; <http://purl.org/dc/terms/title> \"Fish\" .";
        std::fs::write(&path, turtle).expect("written");
        Loader::new(&state.store)
            .load(Catalog::read(&path).expect("a catalogue"), &|_| ())
            .expect("loaded");
        let [id] = &listing().ids[..] else {
            panic!("{:?}", listing().ids)
        };
        state
            .store
            .remove(std::slice::from_ref(id))
            .expect("removed");
        assert!(listing().ids.is_empty());
    }

    #[test]
    fn catalogues_of_origin_are_no_catalogues_of_the_feed() {
        let iris = Iris::new(Iris::DEFAULT_BASE).expect("the default");
        let own = iris.dataset(&DatasetId::new("a").expect("an id"));
        let other = NamedNode::new_unchecked("http://e.org/catalog");
        let class = |iri: &str| Term::from(NamedNode::new_unchecked(iri));
        let triple = |subject: &NamedNode, property: &str, object: Term| {
            let property = NamedNode::new_unchecked(property);
            describes_other_feed(&Triple::new(subject.clone(), property, object), &iris)
        };
        assert!(triple(&other, rdf::TYPE, class(dcat::CATALOG)));
        assert!(triple(&other, rdf::TYPE, class(hydra::PAGED_COLLECTION)));
        assert!(triple(&other, hydra::NEXT, class("http://e.org/?page=2")));
        assert!(!triple(
            &other,
            dcterms::TITLE,
            Literal::from("Origin").into()
        ));
        assert!(!triple(&own, rdf::TYPE, class(dcat::CATALOG)));
    }

    #[test]
    fn pages_of_several_datasets_are_limited_in_bytes() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = empty_state(folder.path());
        let path = folder.path().join("catalog.ttl");
        let turtle = "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> . \
                      <http://e.org/1> a dcat:Dataset ; dct:title \"Fish\" . \
                      <http://e.org/2> a dcat:Dataset ; dct:title \"Trees\" .";
        std::fs::write(&path, turtle).expect("written");
        Loader::new(&state.store)
            .load(Catalog::read(&path).expect("a catalogue"), &|_| ())
            .expect("loaded");
        let ids = state.store.ids().expect("ids");
        assert_eq!(
            read_entries(&state, ids.iter(), &state.site.link_base, MAX_PAGE_BYTES)
                .expect("read")
                .len(),
            2
        );
        let error = read_entries(&state, ids.iter(), &state.site.link_base, 1)
            .err()
            .expect("too many bytes");
        assert_eq!(error.status, StatusCode::BAD_REQUEST);
        assert!(error.message.contains("rows"), "{}", error.message);
        for id in &ids {
            assert_eq!(
                read_entries(&state, [id].into_iter(), &state.site.link_base, 1)
                    .expect("read")
                    .len(),
                1
            );
        }
    }

    #[test]
    fn moments_are_dates_with_or_without_time() {
        let time = |text: &str| parse_moment(text).ok().map(|time| time.to_string());
        let expected = Some("2026-01-31T00:00:00Z".to_owned());
        for text in [
            "2026-01-31",
            "2026-01-31Z",
            "2026-01-31T00:00:00",
            "2026-01-31T00:00:00Z",
        ] {
            assert_eq!(time(text), expected, "{text}");
        }
        assert!(
            parse_moment("2026-01-31T01:00:00 01:00").is_ok(),
            "a plus that was not encoded"
        );
        for text in ["yesterday", "2026", "2026-13-01", ""] {
            assert!(parse_moment(text).is_err(), "{text}");
        }
    }
}
