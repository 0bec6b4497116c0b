//! The pages: rendered here, complete without JavaScript, everything from data escaped by the templates.

mod facets;
mod quality;
mod results;
mod snippet;

pub(super) use quality::{quality, quality_of};
pub(super) use results::search;
pub(super) use snippet::snippet;

use super::described::Described;
use super::error::{ApiError, say_when};
use super::examples::examples;
use super::{AppState, editor, schema_org, signposting};
use crate::catalog::{DatasetId, Extent, Scheme, Work};
use crate::engine::{Card, Other, OtherEdition, Related};
use crate::rdf::{local_name, words};
use crate::snippet::{LabelledTerm, LabelledTriple, TermKind, draw};
use crate::store::Answer;
use askama::Template;
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Response};

/// Queries to begin with: (what it shows, the query).
pub(super) const EXAMPLES: &[(&str, &str)] = &[
    ("Datasets and their sizes", include_str!("../../../queries/datasets.rq")),
    ("Which datasets use a class", include_str!("../../../queries/datasets-by-class.rq")),
    ("Datasets for a task, with years and papers", include_str!("../../../queries/datasets-of-a-task.rq")),
    ("Stored snippets and how they came to be", include_str!("../../../queries/snippets.rq")),
    ("Search in the content of all datasets", include_str!("../../../queries/content.rq")),
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

struct Bar {
    label: String,
    iri: String,
    count: u64,
    /// Of the longest bar, for `<meter>`.
    longest: u64,
}

#[derive(Template)]
#[template(path = "dataset.html")]
struct DatasetPage {
    query: String,
    href: String,
    title: String,
    descriptions: Vec<String>,
    /// Whether triples were loaded for it.
    has_content: bool,
    /// How those triples stand to content that is elsewhere.
    relation: String,
    names: Vec<String>,
    works: Vec<WorkView>,
    facts: Vec<(&'static str, String, bool)>,
    keywords: Vec<String>,
    numbers: Vec<(&'static str, u64)>,
    classes: Vec<Bar>,
    properties: Vec<Bar>,
    languages: Vec<Bar>,
    links: Vec<Bar>,
    method: String,
    triples: Vec<TripleView>,
    /// SVG, everything from data escaped.
    drawing: String,
    files: Vec<(String, bool)>,
    /// The same under other ids: (address, who has it).
    others: Vec<(String, String)>,
    /// Why they are the same.
    why: String,
    /// (address, title, what it is to this one)
    editions: Vec<(String, String, &'static str)>,
    more_editions: usize,
    /// The first example.
    example: String,
    /// (what it shows, the address of its answer)
    examples: Vec<(String, String)>,
    /// The address by which it is to be known: its IRI.
    canonical: String,
    /// The description by schema.org; nothing in it can end its script.
    json_ld: Option<String>,
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

pub(super) async fn dataset(state: &AppState, id: DatasetId, languages: Vec<String>) -> Response {
    let page = state.work(move |state| {
        let card = state.searcher.card(&id)?;
        let card = card.ok_or_else(|| ApiError::not_found(format!("there is no dataset {id}")))?;
        let iri = state.store.iris().dataset(&id);
        let (described, base) = (Described::read(&state.store, &id)?, state.store.iris().base());
        let json_ld = described.as_ref().map(|described| schema_org::script(described, &card, base));
        let links = described.as_ref().map(|described| signposting::links(described, base)).unwrap_or_default();
        let mut page = DatasetPage { json_ld, ..dataset_page(&card, iri.as_str(), &languages) };
        let told = described.iter().flat_map(|described| described.dataset.told());
        page.facts.extend(told.map(|(name, value)| (name, value.clone(), is_web(&value))));
        page.relate(state.searcher.related(&id)?.unwrap_or_default());
        Ok((page, links))
    });
    match page.await {
        Ok((page, links)) => {
            let mut response = render(&page);
            response.headers_mut().extend(links.into_iter().map(|link| (header::LINK, link)));
            response
        }
        Err(failed) => error(&failed),
    }
}

impl DatasetPage {
    fn relate(&mut self, related: Related) {
        self.others = related.duplicates.iter().map(|other| (href(&other.id), from_whom(other))).collect();
        self.why = related.reasons.iter().map(|reason| reason.words()).collect::<Vec<_>>().join("; ");
        let edition = |one: OtherEdition| (href(&one.dataset.id), one.dataset.title, one.edition.words());
        self.editions = related.editions.into_iter().map(edition).collect();
        self.more_editions = related.more_editions;
    }
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

fn dataset_page(card: &Card, iri: &str, languages: &[String]) -> DatasetPage {
    let (metadata, profile) = (&card.metadata, &card.profile);
    let mut facts: Vec<(&'static str, String, bool)> = Vec::new();
    let mut fact = |name: &'static str, value: Option<String>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            let link = is_web(&value);
            facts.push((name, value, link));
        }
    };
    fact("By", Some(metadata.agents().map(|agent| agent.name.as_str()).collect::<Vec<_>>().join(", ")));
    for (name, scheme) in [("Tasks", Scheme::Task), ("Modalities", Scheme::Modality), ("Languages", Scheme::Language)] {
        fact(name, Some(metadata.themes_of(scheme).collect::<Vec<_>>().join(", ")));
    }
    fact("Uses", metadata.uses.map(|uses| format!("{uses} works, as of the catalogue")));
    fact("Licence", metadata.license.clone());
    fact("Issued", metadata.issued.clone());
    fact("Modified", metadata.modified.clone());
    fact("Homepage", metadata.landing_page.clone());
    fact("Source", metadata.source.clone());
    fact("Dataset IRI", Some(iri.to_owned()));
    fact("Endpoint", card.remote.as_ref().map(|remote| remote.endpoint.clone()));
    let snippet = card.snippet_in(languages);
    let examples = examples(card, &oxrdf::NamedNode::new_unchecked(iri));
    let plain = |text: &str| vec![Piece { text: text.to_owned(), matched: false }];
    DatasetPage {
        query: String::new(),
        href: href(&metadata.id),
        title: metadata.title().to_owned(),
        has_content: profile.triples > 0,
        relation: card.remote.as_ref().map(|remote| remote.relation(profile.triples)).unwrap_or_default(),
        names: metadata.alternatives.iter().map(|text| text.value.clone()).collect(),
        works: metadata.introduced_by.iter().map(|work| work_view(work, iri)).collect(),
        descriptions: metadata.descriptions.iter().map(|text| text.value.clone()).collect(),
        facts,
        keywords: metadata.keywords.iter().map(|text| text.value.clone()).collect(),
        numbers: vec![
            ("triples", profile.triples),
            ("entities", profile.entities),
            ("classes", profile.class_count),
            ("properties", profile.property_count),
            ("literals", profile.literals),
        ],
        classes: bars(&profile.classes, true),
        properties: bars(&profile.properties, true),
        languages: bars(&profile.languages, false),
        links: bars(&profile.links, false),
        method: card.snippet_method.clone(),
        triples: snippet.iter().map(|triple| triple_view(triple, plain)).collect(),
        drawing: draw(&snippet, &format!("The snippet of {} as a graph", metadata.title())),
        files: card
            .distributions
            .iter()
            .map(|d| (d.location.as_str().to_owned(), is_web(d.location.as_str())))
            .collect(),
        others: Vec::new(),
        why: String::new(),
        editions: Vec::new(),
        more_editions: 0,
        example: examples.first().map(|example| example.query.clone()).unwrap_or_default(),
        examples: examples.into_iter().map(|example| (example.title, asked(&example.query))).collect(),
        canonical: iri.to_owned(),
        json_ld: None,
    }
}

/// The page with the answer to a query.
fn asked(query: &str) -> String {
    let mut parameters = form_urlencoded::Serializer::new(String::new());
    format!("/sparql?{}", parameters.append_pair("query", query).append_pair("format", "html").finish())
}

/// Only addresses of the web become links: no `javascript:`, no `file:`.
pub(super) fn is_web(text: &str) -> bool {
    text.starts_with("http://") || text.starts_with("https://")
}

fn bars(counts: &[(String, u64)], names: bool) -> Vec<Bar> {
    let longest = counts.first().map_or(1, |(_, count)| *count);
    let label = |text: &str| if names { words(local_name(text)) } else { text.to_owned() };
    counts
        .iter()
        .take(15)
        .map(|(iri, count)| Bar { label: label(iri), iri: iri.clone(), count: *count, longest })
        .collect()
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
