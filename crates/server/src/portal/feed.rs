//! `/feeds/datasets.atom`, a search as an Atom feed (RFC 4287), and `/opensearch.xml`, the description of the search for
//! browsers.

use crate::AppState;
use crate::documentation::{BadRequest, Busy, ClientLimit, Examples, Filters, JsonError, Text};
use crate::error::ApiError;
use crate::locale::{Locale, Texts};
use crate::negotiation::languages;
use crate::parameters::{Pairs, check_query, examples, filter, parse_model, query_syntax};
use crate::portal::ckan::Table;
use crate::portal::metadata::{PortalMetadata, ckan_time};
use crate::public_url::LinkBase;
use crate::response_formats::xml;
use crate::site::Client;
use crate::text::shorten;
use crate::text::uri;
use askama::Template;
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::Response;
use lodeseek_catalog::{DatasetId, plain_text};
use lodeseek_engine::{MatchQuality, SearchRequest};
use lodeseek_rdf::vocab::dcterms;
use oxrdf::Term;
use std::cmp::Reverse;
use std::sync::Arc;

/// Maximum number of entries.
const MAX_ENTRIES: usize = 50;
/// Maximum number of characters of a summary.
const MAX_SUMMARY_CHARACTERS: usize = 500;
/// Time of entries without one: neither the catalogue nor this server recorded it. Atom requires a time.
const UNKNOWN_TIME: &str = "1970-01-01T00:00:00Z";

#[derive(Template)]
#[template(path = "feed.xml")]
struct Feed {
    own: String,
    page: String,
    title: String,
    /// Name of the portal.
    portal: String,
    updated: String,
    entries: Vec<Entry>,
}

struct Entry {
    id: String,
    address: String,
    title: String,
    updated: String,
    published: Option<String>,
    authors: Vec<String>,
    categories: Vec<String>,
    summary: String,
}

#[derive(Template)]
#[template(path = "opensearch.xml")]
struct OpenSearch<'b> {
    base: &'b str,
    /// Name of the portal.
    portal: String,
    /// Description of the portal.
    description: String,
}

/// `GET /feeds/datasets.atom`: the best datasets for a query, or without one the last changed; in descending order of change.
#[utoipa::path(get, path = "/feeds/datasets.atom", tag = "Search", operation_id = "feed",
    summary = "The best datasets for a query, or the last changed, as a feed",
    params(
        ("q" = Option<String>, Query, description = "Query; without it the last changed datasets."),
        ("model" = Option<String>, Query, description = "Ranking model."),
        ("literal" = Option<bool>, Query, description = "If true, searches for the words as typed."),
        Examples,
        Filters,
        ("lang" = Option<String>, Query, description = "Languages of the title, best first: de,en.")),
    responses(
        (status = 200, description = "Atom.", content_type = "application/atom+xml", body = String),
        BadRequest<(JsonError, Text)>,
        ClientLimit<Text>,
        Busy<Text>))]
pub(crate) async fn datasets(
    State(state): State<AppState>,
    client: Client,
    links: LinkBase,
    headers: HeaderMap,
    Query(pairs): Query<Pairs>,
) -> Result<Response, ApiError> {
    let query = pairs
        .iter()
        .find(|(name, _)| name == "q")
        .map(|(_, query)| query.trim())
        .unwrap_or_default()
        .to_owned();
    let languages = requested_languages(&headers, &pairs)?;
    let filter = filter(&pairs)?;
    let examples = examples(&pairs)?;
    if query.is_empty() && !(filter.is_empty() && examples.is_empty()) {
        return Err(ApiError::bad_request(
            "a feed with filters or examples requires a query: q=words",
        ));
    }
    let named = pairs
        .iter()
        .find(|(name, _)| name == "model")
        .map(|(_, model)| model.as_str());
    let is_literal = pairs
        .iter()
        .any(|(name, value)| name == "literal" && value == "true");
    let request = SearchRequest {
        depth: MAX_ENTRIES,
        filter,
        examples,
        model: parse_model(named)?,
        syntax: query_syntax(Some(is_literal)),
        ..SearchRequest::new(query.as_str())
    };
    let permit = if query.is_empty() {
        None
    } else {
        check_query(&request.query)?;
        state.acquire_search_permit(client, &request).await?
    };
    let text = state.work(move |state| {
        // The permit ends with the work, which continues if the client disconnects.
        let _permit = permit;
        let ids = if query.is_empty() {
            latest_ids(state)?
        } else {
            search_ids(state, &request)?
        };
        let mut entries = Vec::with_capacity(ids.len());
        for id in ids {
            let Some(described) = PortalMetadata::read(&state.store, &id)? else {
                continue;
            };
            let updated = match described.modification_time() {
                Some(time) => Some(time),
                None => time_of_record(state, &id)?,
            };
            let address = links.link(&described.iri, state.store.iris());
            entries.push(build_entry(&described, &address, updated));
        }
        entries.sort_by(|a: &Entry, b: &Entry| b.updated.cmp(&a.updated));
        let portal = state.portal.portal.title.value(&languages);
        let texts = Texts::new(
            Locale::best(&languages),
            Arc::clone(&state.branding.theme.texts),
        );
        let title = if query.is_empty() {
            texts.text("feed-last-changed")
        } else {
            remove_invalid_characters(&query)
        };
        build_feed(portal, &links, title, &pairs, entries)
            .render()
            .map_err(|error| ApiError::internal(&error))
    });
    xml("application/atom+xml; charset=utf-8", &text.await?)
}

/// Returns the languages of the parameter `lang`, else those of `Accept-Language`.
fn requested_languages(headers: &HeaderMap, pairs: &Pairs) -> Result<Vec<String>, ApiError> {
    let lang = pairs.iter().find(|(name, _)| name == "lang");
    languages(headers, lang.map(|(_, value)| value.as_str()))
}

/// Returns the good matches of a search: a feed of it does not list all the weak ones. Without a good one, all.
fn search_ids(state: &AppState, request: &SearchRequest) -> Result<Vec<DatasetId>, ApiError> {
    let mut hits = state.searcher.search(request)?.hits;
    if hits.iter().any(|hit| hit.quality == MatchQuality::Good) {
        hits.retain(|hit| hit.quality == MatchQuality::Good);
    }
    Ok(hits.into_iter().map(|hit| hit.card.metadata.id).collect())
}

/// Returns the datasets with the latest times that their entries show.
fn latest_ids(state: &AppState) -> Result<Vec<DatasetId>, ApiError> {
    let table = Table::current(state)?;
    let mut rows: Vec<_> = table.rows.iter().collect();
    rows.sort_by_key(|row| Reverse(&row.updated));
    Ok(rows
        .into_iter()
        .take(MAX_ENTRIES)
        .map(|row| row.id.clone())
        .collect())
}

fn build_feed(
    portal: &str,
    base: &LinkBase,
    title: String,
    pairs: &Pairs,
    entries: Vec<Entry>,
) -> Feed {
    let parameters = form_urlencoded::Serializer::new(String::new())
        .extend_pairs(pairs.iter().filter(|(_, value)| !value.is_empty()))
        .finish();
    let behind = if parameters.is_empty() {
        String::new()
    } else {
        format!("?{parameters}")
    };
    Feed {
        own: format!("{base}feeds/datasets.atom{behind}"),
        page: format!("{base}{behind}"),
        title,
        portal: remove_invalid_characters(portal),
        updated: entries
            .iter()
            .map(|entry| entry.updated.clone())
            .max()
            .unwrap_or_else(|| UNKNOWN_TIME.to_owned()),
        entries,
    }
}

/// Returns the time at which the description of a dataset arrived here, or changed here.
fn time_of_record(state: &AppState, id: &DatasetId) -> Result<Option<String>, ApiError> {
    let record = state.store.record_of(id)?;
    let mut times = record.iter().filter_map(|triple| match &triple.object {
        Term::Literal(time) if triple.predicate == dcterms::MODIFIED => ckan_time(time.value()),
        _ => None,
    });
    Ok(times.next())
}

fn build_entry(described: &PortalMetadata, address: &str, updated: Option<String>) -> Entry {
    let metadata = &described.dataset.metadata;
    Entry {
        id: described.iri.clone(),
        address: uri(address),
        title: remove_invalid_characters(&plain_text(metadata.title())),
        updated: match updated {
            Some(time) => add_zone(time),
            None => UNKNOWN_TIME.to_owned(),
        },
        published: metadata.issued.as_deref().and_then(ckan_time).map(add_zone),
        authors: metadata
            .creators
            .iter()
            .map(|agent| remove_invalid_characters(&agent.name))
            .collect(),
        categories: described
            .keywords
            .iter()
            .map(|keyword| remove_invalid_characters(keyword))
            .collect(),
        summary: remove_invalid_characters(&shorten(
            &plain_text(metadata.description().unwrap_or_default()),
            MAX_SUMMARY_CHARACTERS,
        )),
    }
}

/// Adds the time zone to a time in UTC.
fn add_zone(time: String) -> String {
    format!("{time}Z")
}

/// Removes the characters that XML cannot represent, even escaped.
fn remove_invalid_characters(text: &str) -> String {
    text.chars().filter(|c| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)).collect()
}

pub(crate) async fn opensearch(
    State(state): State<AppState>,
    links: LinkBase,
    headers: HeaderMap,
    Query(pairs): Query<Pairs>,
) -> Result<Response, ApiError> {
    let languages = requested_languages(&headers, &pairs)?;
    let portal = &state.portal.portal;
    let page = OpenSearch {
        base: links.as_str(),
        portal: remove_invalid_characters(portal.title.value(&languages)),
        description: remove_invalid_characters(portal.description.value(&languages)),
    };
    let text = page.render().map_err(|error| ApiError::internal(&error))?;
    xml("application/opensearchdescription+xml", &text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_cannot_hold_is_left_out() {
        assert_eq!(
            remove_invalid_characters("a\u{0}b\u{1b}c\u{ffff}d\te\u{1f333}"),
            "abcd\te\u{1f333}"
        );
    }
}
