//! Web pages: rendered on the server, usable without JavaScript. The templates escape all text from data.

mod columns;
mod context;
mod dataset;
mod diagram;
mod place_map;
mod entities;
mod entity;
mod facets;
mod quality;
mod results;
mod similar;
mod snippet;
mod start;
mod tables;
#[cfg(test)]
mod template_texts;

pub(crate) use context::PageContext;
pub(crate) use dataset::dataset;
pub(crate) use entities::entities;
pub(crate) use entity::entity;
pub(crate) use quality::{quality, quality_of};
pub(crate) use results::search_parameters;
pub(crate) use similar::{ExampleReport, like, similar};
pub(crate) use snippet::snippet;
pub(crate) use tables::{TableView, address as table_address, class_label, table};

use crate::AppState;
use crate::base_path::Rendered;
use crate::branding::ServedFile;
use crate::error::ApiError;
use crate::text::{is_fragment_of, is_web, shorten};
use askama::Template;
use axum::extract::{Path, State};
use axum::http::{StatusCode, Uri, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Router};
use lodeseek_catalog::{Extent, Metadata, Text, Work, select_text};
use lodeseek_engine::{Card, DatasetReference, QueryWords, SnippetCell, SnippetTable};
use lodeseek_rdf::repair_encoding;
use lodeseek_snippet::{LabelledTerm, LabelledTriple, TermKind};

/// A part of a text. If `matched` is true, it matches a word of the query.
struct Piece {
    text: String,
    matched: bool,
}

/// A text of a dataset. `lang` is its language, if it differs from that of the page.
#[derive(Default)]
struct TextView {
    pieces: Vec<Piece>,
    lang: Option<String>,
}

/// A term ready for a template.
struct TermView {
    pieces: Vec<Piece>,
    literal: bool,
    /// The IRI, datatype or triple term, for a tooltip.
    title: String,
    language: String,
    direction: String,
}

struct TripleView {
    subject: TermView,
    predicate: TermView,
    object: TermView,
}

/// Rows of a table, ready for a template.
struct RowsView {
    title: String,
    headers: Vec<Vec<Piece>>,
    rows: Vec<RowView>,
    /// Number of rows and columns shown, and of all.
    shown: String,
}

struct RowView {
    number: String,
    iri: String,
    cells: Vec<Vec<Piece>>,
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
    page: PageContext,
    status: u16,
    /// The kind of error and what to do, in the language of the page.
    heading: String,
    advice: String,
    message: String,
}

/// Converts a work of a dataset. IRIs that were generated for works without one are no links.
fn work_view(work: &Work, dataset: &str) -> WorkView {
    WorkView {
        title: work.title.clone(),
        issued: work.issued.clone().unwrap_or_default(),
        href: work
            .iri
            .clone()
            .filter(|iri| is_web(iri) && !is_fragment_of(iri, dataset)),
    }
}

/// Returns the publisher of a duplicate, or its id if the publisher is unknown.
fn source_name(other: &DatasetReference) -> String {
    other
        .publisher
        .clone()
        .unwrap_or_else(|| other.id.to_string())
}

/// Splits a text into parts with and without matches, without punctuation around matches. In a sequence joined by
/// punctuation (an address, a compound) only the matching parts are marked; the whole is if all or none of them match.
fn split_matches(text: &str, is_match: impl Fn(&str) -> bool) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for word in text.split_inclusive(char::is_whitespace) {
        let start = word.find(char::is_alphanumeric).unwrap_or(0);
        let end = word
            .trim_end_matches(|character: char| !character.is_alphanumeric())
            .len()
            .max(start);
        if is_match(word) {
            add_piece(&mut pieces, &word[..start], false);
            for (part, matched) in split_matching_word(&word[start..end], &is_match) {
                add_piece(&mut pieces, part, matched);
            }
            add_piece(&mut pieces, &word[end..], false);
        } else {
            add_piece(&mut pieces, word, false);
        }
    }
    pieces
}

/// Adds a text that is not empty. Texts without a match are joined.
fn add_piece(pieces: &mut Vec<Piece>, text: &str, matched: bool) {
    match pieces.last_mut() {
        Some(last) if !matched && !last.matched => last.text.push_str(text),
        _ if text.is_empty() => {}
        _ => pieces.push(Piece {
            text: text.to_owned(),
            matched,
        }),
    }
}

/// Returns about `length` characters of a text: its beginning or, if the first match is later, a part around it.
fn shorten_around_match(text: &str, length: usize, is_match: impl Fn(&str) -> bool) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let first = words.iter().position(|word| is_match(word)).unwrap_or(0);
    let before: usize = words[..first]
        .iter()
        .map(|word| word.chars().count() + 1)
        .sum();
    let mut start = 0;
    if before > length * 2 / 3 {
        let mut context = 0;
        start = first;
        while start > 0 && context < length / 4 {
            start -= 1;
            context += words[start].chars().count() + 1;
        }
    }
    let rest = shorten(&words[start..].join(" "), length);
    if start > 0 {
        format!("… {rest}")
    } else {
        rest
    }
}

/// Splits a matching word into parts. The boolean is true for parts to be marked.
fn split_matching_word(word: &str, is_match: impl Fn(&str) -> bool) -> Vec<(&str, bool)> {
    let parts = word.split_inclusive(|character: char| character.is_ascii_punctuation());
    let parts = parts.flat_map(|part| {
        let (name, behind) = part.split_at(
            part.trim_end_matches(|c: char| c.is_ascii_punctuation())
                .len(),
        );
        [name, behind].into_iter().filter(|part| !part.is_empty())
    });
    let parts: Vec<(&str, bool)> = parts
        .map(|part| (part, !is_punctuation(part) && is_match(part)))
        .collect();
    let mut are_matches = Vec::new();
    for (part, matched) in &parts {
        if !is_punctuation(part) {
            are_matches.push(*matched);
        }
    }
    if !are_matches.contains(&false) || !are_matches.contains(&true) {
        return vec![(word, true)];
    }
    parts
}

/// Punctuation outside ASCII is excluded. It may be part of a letter: vowel signs, joiners.
fn is_punctuation(text: &str) -> bool {
    text.chars()
        .all(|character| character.is_ascii_punctuation())
}

/// Returns a predicate that is true for the words of a text by which a query finds it. Without a query there are none.
fn matches_in<'q>(words: Option<&'q QueryWords>, text: &str) -> impl Fn(&str) -> bool + use<'q> {
    let is_match = words.map(|words| words.in_text(text));
    move |word| is_match.as_ref().is_some_and(|is_match| is_match(word))
}

fn triple_view(triple: &LabelledTriple, words: Option<&QueryWords>) -> TripleView {
    TripleView {
        subject: term_view(&triple.subject, words),
        predicate: term_view(&triple.predicate, words),
        object: term_view(&triple.object, words),
    }
}

fn term_view(term: &LabelledTerm, words: Option<&QueryWords>) -> TermView {
    TermView {
        pieces: split_matches(
            &shorten(&readable(&term.label), 160),
            matches_in(words, &term.label),
        ),
        literal: term.kind == TermKind::Literal,
        title: match term.kind {
            TermKind::Iri | TermKind::Triple => term.value.clone(),
            TermKind::Blank | TermKind::Literal => term.datatype.clone().unwrap_or_default(),
        },
        language: term.language.clone().unwrap_or_default(),
        direction: term.direction.clone().unwrap_or_default(),
    }
}

/// Maximum length of a shown cell in characters.
const MAX_CELL_CHARS: usize = 120;

fn rows_view(page: &PageContext, table: &SnippetTable, words: Option<&QueryWords>) -> RowsView {
    // Cards of earlier versions have columns without a value. Without rows, the headers remain.
    let mut columns: Vec<usize> = (0..table.columns.len()).collect();
    if !table.rows.is_empty() {
        columns.retain(|place| {
            table
                .rows
                .iter()
                .any(|row| !row.cells[*place].text.is_empty())
        });
    }
    let mut rows = Vec::with_capacity(table.rows.len());
    for row in &table.rows {
        rows.push(RowView {
            number: page.number(row.number),
            iri: row.iri.clone(),
            cells: columns
                .iter()
                .map(|place| cell_pieces(&row.cells[*place], words))
                .collect(),
        });
    }
    RowsView {
        title: readable(&table.title),
        headers: columns
            .iter()
            .map(|place| cell_pieces(&table.columns[*place], words))
            .collect(),
        shown: page.locale.text_with(
            "preview-rows-shown",
            &[
                ("rows", &page.number(table.rows.len())),
                ("all-rows", &page.number(table.all_rows)),
                ("columns", &page.number(columns.len())),
                ("all-columns", &page.number(table.all_columns)),
            ],
        ),
        rows,
    }
}

/// Returns the text of a cell. A cell that matches as a whole, such as a number that satisfies a condition, is marked as a whole.
fn cell_pieces(cell: &SnippetCell, words: Option<&QueryWords>) -> Vec<Piece> {
    let text = shorten(&readable(&cell.text), MAX_CELL_CHARS);
    let mut pieces = split_matches(&text, matches_in(words, &cell.text));
    if !cell.matched.is_empty() && pieces.iter().all(|piece| !piece.matched) {
        for piece in &mut pieces {
            piece.matched = true;
        }
    }
    pieces
}

/// Describes the size of a dataset: of a sample, also that of the whole dataset.
fn format_size(page: &PageContext, card: &Card) -> String {
    let stored = card.profile.triples;
    match card
        .remote
        .as_ref()
        .map(|remote| (remote.extent, remote.triples))
    {
        Some((Extent::Sample, Some(all))) => page.locale.text_with(
            "triples-sample-of",
            &[("held", &page.number(stored)), ("all", &page.number(all))],
        ),
        Some((Extent::Sample, None)) => page.count("triples-sample", stored),
        _ => page.count("triples", stored),
    }
}

/// Returns the best text for the visitor, with its language.
fn best_text<'t>(page: &PageContext, texts: &'t [Text]) -> Option<&'t Text> {
    let languages: Vec<&str> = page.languages.iter().map(String::as_str).collect();
    select_text(texts, &languages)
}

/// Returns the title of a dataset for the visitor, or its id.
pub(crate) fn title(page: &PageContext, card: &Card) -> String {
    title_of(page, &card.metadata).0
}

/// Returns the title of a dataset for the visitor, with its language, or its id.
fn title_of(page: &PageContext, metadata: &Metadata) -> (String, Option<String>) {
    match best_text(page, &metadata.titles) {
        Some(title) => (
            readable(&title.value),
            page.foreign(title.language.as_deref()),
        ),
        None => (metadata.id.to_string(), None),
    }
}

/// Returns a text of data for display: with its encoding repaired.
fn readable(text: &str) -> String {
    repair_encoding(text).into_owned()
}

/// Returns the routes of the search page and of the files that pages load.
pub(crate) fn router() -> Router<AppState> {
    Router::new()
        .route("/", get(results::search))
        .route("/style.css", get(style))
        .route("/page.js", get(script))
        .route("/query.js", get(query_script))
        .route("/icon.svg", get(icon))
        .route("/logo", get(logo))
        .route("/theme/{name}", get(theme_file))
}

/// The response of unknown paths.
pub(crate) async fn not_found(uri: Uri, page: PageContext) -> Response {
    if uri.path().starts_with("/api/") {
        return ApiError::not_found("no resource has this address").to_json_response();
    }
    error(&page, &ApiError::not_found("no page has this address"))
}

/// Renders an error as a page.
pub(crate) fn error(page: &PageContext, error: &ApiError) -> Response {
    let kind = match error.status {
        StatusCode::NOT_FOUND => "missing",
        StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS => "busy",
        StatusCode::URI_TOO_LONG | StatusCode::PAYLOAD_TOO_LARGE => "long",
        status if status.is_server_error() => "internal",
        _ => "request",
    };
    let content = ErrorPage {
        status: error.status.as_u16(),
        heading: page.text(&format!("error-{kind}")),
        advice: page.text(&format!("error-{kind}-advice")),
        message: error.message.clone(),
        page: page.clone(),
    };
    let mut response = (error.status, render(&content)).into_response();
    error.set_retry_after(&mut response);
    response
}

async fn style(State(state): State<AppState>) -> impl IntoResponse {
    let headers = [
        (header::CONTENT_TYPE, "text/css; charset=utf-8"),
        (header::CACHE_CONTROL, "max-age=3600"),
    ];
    (Extension(Rendered), headers, state.branding.style())
}

async fn script() -> impl IntoResponse {
    (
        [
            (header::CONTENT_TYPE, "text/javascript; charset=utf-8"),
            (header::CACHE_CONTROL, "max-age=3600"),
        ],
        include_str!("../../assets/page.js"),
    )
}

async fn query_script() -> impl IntoResponse {
    (
        [
            (header::CONTENT_TYPE, "text/javascript; charset=utf-8"),
            (header::CACHE_CONTROL, "max-age=3600"),
        ],
        include_str!("../../assets/query.js"),
    )
}

async fn icon(State(state): State<AppState>) -> impl IntoResponse {
    let headers = [
        (header::CONTENT_TYPE, "image/svg+xml"),
        (header::CACHE_CONTROL, "max-age=86400"),
    ];
    (headers, state.branding.icon())
}

/// `GET /logo`: the logo of the portal.
async fn logo(State(state): State<AppState>, page: PageContext) -> Response {
    serve_file(state.branding.logo(), page).await
}

/// `GET /theme/{name}`: a file of the theme.
async fn theme_file(
    State(state): State<AppState>,
    Path(name): Path<String>,
    page: PageContext,
) -> Response {
    serve_file(state.branding.theme.file(&name), page).await
}

async fn serve_file(file: Option<&ServedFile>, page: PageContext) -> Response {
    match file {
        Some(file) => {
            let headers = [
                (header::CONTENT_TYPE, file.media_type),
                (header::CACHE_CONTROL, "max-age=3600"),
            ];
            (headers, file.bytes.clone()).into_response()
        }
        None => error(&page, &ApiError::not_found("no page has this address")),
    }
}

/// Renders a template.
pub(crate) fn render(page: &impl Template) -> Response {
    match page.render() {
        Ok(html) => (Extension(Rendered), Html(html)).into_response(),
        Err(failed) => ApiError::internal(&failed).into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text with brackets around what is marked, for a query of these words.
    fn bracketed(text: &str, query: &[&str]) -> String {
        let is_match = |word: &str| {
            word.split(|c: char| !c.is_alphanumeric() && c != '\'')
                .any(|token| query.contains(&token))
        };
        let shown = |piece: Piece| {
            if piece.matched {
                format!("[{}]", piece.text)
            } else {
                piece.text
            }
        };
        split_matches(text, is_match)
            .into_iter()
            .map(shown)
            .collect()
    }

    #[test]
    fn an_excerpt_contains_the_first_match() {
        let text = format!(
            "{} water {}",
            "stone ".repeat(40).trim(),
            "sand ".repeat(40).trim()
        );
        let found = shorten_around_match(&text, 60, |word| word == "water");
        assert!(
            found.starts_with("… stone") && found.contains(" water sand") && found.ends_with('…'),
            "{found}"
        );
        assert!(found.chars().count() <= 63, "{found}");
        let begin = shorten_around_match(&text, 60, |word| word == "stone");
        assert!(
            begin.starts_with("stone") && begin.ends_with('…'),
            "{begin}"
        );
        assert_eq!(
            shorten_around_match(" a  short\ntext ", 60, |_| false),
            "a short text"
        );
        assert_eq!(shorten_around_match("", 60, |_| true), "");
    }

    #[test]
    fn only_the_part_of_an_address_that_matches_is_marked() {
        let address = "see <http://water.example.org/data/water_quality#2020>, please";
        let found = "see <http://[water].example.org/data/[water]_quality#2020>, please";
        assert_eq!(bracketed(address, &["water"]), found);
        assert_eq!(
            bracketed("(water-quality).", &["water"]),
            "([water]-quality)."
        );
        assert_eq!(
            bracketed("(water-quality).", &["water", "quality"]),
            "([water-quality])."
        );
        assert_eq!(
            bracketed("it isn't water\n", &["isn't", "water"]),
            "it [isn't] [water]\n"
        );
        assert_eq!(
            bracketed("no match, http://example.org/", &["water"]),
            "no match, http://example.org/"
        );
    }
}
