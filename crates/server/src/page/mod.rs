//! The pages: rendered here, complete without JavaScript, everything from data escaped by the templates.

mod api;
mod chart;
mod columns;
mod dataset;
mod diagram;
mod entity;
mod facets;
mod operator;
mod quality;
mod results;
mod similar;
mod snippet;

pub(super) use api::api;
pub(super) use dataset::dataset;
pub(super) use entity::entity;
pub(super) use operator::operator;
pub(super) use quality::{quality, quality_of};
pub(super) use results::search;
pub(super) use similar::{like, similar};
pub(super) use snippet::snippet;

use super::error::{ApiError, say_when};
use super::{AppState, editor};
use askama::Template;
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use lodeseek_catalog::{DatasetId, Extent, Work};
use lodeseek_engine::{Card, Other};
use lodeseek_snippet::{LabelledTerm, LabelledTriple, TermKind};
use lodeseek_sparql::Answer;

/// Queries to begin with: (what it shows, the query).
pub(super) const EXAMPLES: &[(&str, &str)] = &[
    ("Datasets and their sizes", include_str!("../../queries/datasets.rq")),
    ("Which datasets use a class", include_str!("../../queries/datasets-by-class.rq")),
    ("Datasets for a task, with years and papers", include_str!("../../queries/datasets-of-a-task.rq")),
    ("Stored snippets and how they came to be", include_str!("../../queries/snippets.rq")),
    ("Search in the content of all datasets", include_str!("../../queries/content.rq")),
    ("Datasets found by the search, and why", include_str!("../../queries/search-why.rq")),
    ("What the datasets found describe", include_str!("../../queries/search-classes.rq")),
    ("Into the data of the datasets found", include_str!("../../queries/search-content.rq")),
];

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

/// A work of a dataset. An IRI that was made here, for want of one, leads nowhere.
fn work_view(work: &Work, dataset: &str) -> WorkView {
    let is_own = |iri: &str| iri.strip_prefix(dataset).is_some_and(|part| part.starts_with('#'));
    WorkView {
        title: work.title.clone(),
        issued: work.issued.clone().unwrap_or_default(),
        href: work.iri.clone().filter(|iri| is_web(iri) && !is_own(iri)),
    }
}

/// Who another dataset that is the same is from; where nobody is told, its id.
fn from_whom(other: &Other) -> String {
    other.publisher.clone().unwrap_or_else(|| other.id.to_string())
}

pub(super) fn href(id: &DatasetId) -> String {
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
    let mut response = (error.status, render(&page)).into_response();
    say_when(&mut response);
    response
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
