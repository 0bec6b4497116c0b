//! Web pages: rendered on the server, usable without JavaScript. The templates escape all text from data.

mod columns;
mod dataset;
mod diagram;
mod entity;
mod facets;
mod quality;
mod results;
mod similar;
mod snippet;

pub(crate) use dataset::dataset;
pub(crate) use entity::entity;
pub(crate) use quality::{quality, quality_of};
pub(crate) use similar::{ExampleReport, like, similar};
pub(crate) use snippet::snippet;

use crate::AppState;
use crate::error::{ApiError, set_retry_after};
use crate::text::{is_web, shorten};
use askama::Template;
use axum::Router;
use axum::http::header;
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use lodeseek_catalog::{Extent, Work};
use lodeseek_engine::{Card, DatasetReference};
use lodeseek_snippet::{LabelledTerm, LabelledTriple, TermKind};

/// A part of a text. If `matched` is true, it matches a word of the query.
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

/// A publication, ready for a template.
struct WorkView {
    title: String,
    issued: String,
    href: Option<String>,
}

#[derive(Template)]
#[template(path = "error.html")]
struct ErrorPage {
    query: String,
    status: u16,
    message: String,
}

/// Converts a work of a dataset. IRIs that were generated for works without one are no links.
fn work_view(work: &Work, dataset: &str) -> WorkView {
    let is_own = |iri: &str| iri.strip_prefix(dataset).is_some_and(|part| part.starts_with('#'));
    WorkView {
        title: work.title.clone(),
        issued: work.issued.clone().unwrap_or_default(),
        href: work.iri.clone().filter(|iri| is_web(iri) && !is_own(iri)),
    }
}

/// Returns the publisher of a duplicate, or its id if the publisher is unknown.
fn source_name(other: &DatasetReference) -> String {
    other.publisher.clone().unwrap_or_else(|| other.id.to_string())
}

/// Splits a text into parts with and without matches, without punctuation around matches. In a sequence joined by
/// punctuation (an address, a compound) only the matching parts are marked; the whole is if all or none of them match.
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

/// Splits a matching word into parts. The boolean is true for parts to be marked.
fn marked(word: &str, is_match: impl Fn(&str) -> bool) -> Vec<(&str, bool)> {
    // Punctuation outside ASCII may be part of a letter: vowel signs, joiners.
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

/// Describes the size of a dataset: of a sample, also that of the whole dataset.
fn size(card: &Card) -> String {
    let held = card.profile.triples;
    match card.remote.as_ref().map(|remote| (remote.extent, remote.triples)) {
        Some((Extent::Sample, Some(all))) => format!("{all} triples, a sample of {held} here"),
        Some((Extent::Sample, None)) => format!("a sample of {held} triples"),
        _ => format!("{held} triples"),
    }
}

/// Returns the routes of the search page and of the files that pages load.
pub(crate) fn router() -> Router<AppState> {
    Router::new()
        .route("/", get(results::search))
        .route("/style.css", get(style))
        .route("/page.js", get(script))
        .route("/icon.svg", get(icon))
}

/// The response of unknown paths.
pub(crate) async fn not_found() -> Response {
    error(&ApiError::not_found("There is no such page."))
}

/// Renders an error as a page.
pub(crate) fn error(error: &ApiError) -> Response {
    let page = ErrorPage { query: String::new(), status: error.status.as_u16(), message: error.message.clone() };
    let mut response = (error.status, render(&page)).into_response();
    set_retry_after(&mut response);
    response
}

async fn style() -> impl IntoResponse {
    (
        [(header::CONTENT_TYPE, "text/css; charset=utf-8"), (header::CACHE_CONTROL, "max-age=3600")],
        include_str!("../../assets/style.css"),
    )
}

async fn script() -> impl IntoResponse {
    (
        [(header::CONTENT_TYPE, "text/javascript; charset=utf-8"), (header::CACHE_CONTROL, "max-age=3600")],
        include_str!("../../assets/page.js"),
    )
}

async fn icon() -> impl IntoResponse {
    (
        [(header::CONTENT_TYPE, "image/svg+xml"), (header::CACHE_CONTROL, "max-age=86400")],
        include_str!("../../assets/icon.svg"),
    )
}

/// Renders a template.
pub(crate) fn render(page: &impl Template) -> Response {
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
