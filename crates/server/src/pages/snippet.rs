//! The page of a snippet computed on demand.

use super::{PageContext, RowsView, TripleView, render, rows_view, title_of, triple_view};
use crate::text::href;
use askama::Template;
use axum::response::Response;
use lodeseek_engine::{DatasetSnippet, SnippetRequest};
use lodeseek_snippet::{LabelledTriple, Method, draw};

/// The formats other than the page: name, `format`, media type.
const FORMATS: [(&str, &str, &str); 6] = [
    ("Turtle", "ttl", "text/turtle"),
    ("JSON-LD", "jsonld", "application/ld+json"),
    ("N-Triples", "nt", "application/n-triples"),
    ("RDF/XML", "rdf", "application/rdf+xml"),
    ("JSON", "json", "application/json"),
    ("SVG", "svg", "image/svg+xml"),
];

struct Choice {
    name: &'static str,
    about: &'static str,
    chosen: bool,
}

struct Link {
    name: &'static str,
    media_type: &'static str,
    href: String,
}

#[derive(Template)]
#[template(path = "snippet.html")]
struct SnippetPage {
    page: PageContext,
    dataset: String,
    title: String,
    methods: Vec<Choice>,
    most: usize,
    budget: usize,
    words: String,
    lang: Option<String>,
    triples: Vec<TripleView>,
    /// Rows of a table, if the content is a table.
    table: Option<RowsView>,
    /// SVG; text from data is escaped.
    drawing: String,
    /// Number of triples shown, and of all.
    shown: String,
    method_name: &'static str,
    interrupted: bool,
    formats: Vec<Link>,
    others: Vec<Link>,
}

/// Returns the address of a snippet: of its page, or of another format.
fn snippet_address(
    dataset: &str,
    request: &SnippetRequest,
    method: Method,
    format: Option<&str>,
) -> String {
    let mut parameters = form_urlencoded::Serializer::new(String::new());
    parameters
        .append_pair("method", method.name())
        .append_pair("budget", &request.budget.0.to_string());
    if let Some(query) = &request.query {
        parameters.append_pair("query", query);
    }
    parameters.append_pair("lang", &request.languages.join(","));
    if let Some(format) = format {
        parameters.append_pair("format", format);
    }
    format!("{dataset}/snippet?{}", parameters.finish())
}

/// Renders the page of a snippet.
pub(crate) fn snippet(
    page: &PageContext,
    made: &DatasetSnippet,
    request: &SnippetRequest,
    most: usize,
) -> Response {
    let (card, dataset) = (&made.card, href(&made.card.metadata.id));
    let triples: Vec<LabelledTriple> = made
        .extracted
        .triples
        .iter()
        .map(|shown| shown.triple.clone())
        .collect();
    let (mut methods, mut others) = (Vec::new(), Vec::new());
    for method in Method::ALL {
        if !method.is_bounded() {
            continue;
        }
        methods.push(Choice {
            name: method.name(),
            about: method.description(),
            chosen: method == request.method,
        });
        // Methods that need a query are no links without one.
        if method != request.method && (request.query.is_some() || !method.takes_query()) {
            others.push(Link {
                name: method.name(),
                media_type: "text/html",
                href: snippet_address(&dataset, request, method, None),
            });
        }
    }
    let title = title_of(page, &card.metadata).0;
    let (shown, all) = (
        page.number(triples.len()),
        page.number(made.content.graph().len()),
    );
    render(&SnippetPage {
        methods,
        most,
        budget: request.budget.0,
        words: request.query.clone().unwrap_or_default(),
        lang: (request.languages != ["en"]).then(|| request.languages.join(",")),
        triples: triples
            .iter()
            .map(|triple| triple_view(triple, Some(&made.extracted.words)))
            .collect(),
        table: made
            .extracted
            .table
            .as_ref()
            .map(|table| rows_view(page, table, Some(&made.extracted.words))),
        drawing: draw(
            &triples,
            &page.text_with("preview-graph-of", "title", &title),
        ),
        shown: page
            .locale
            .text_with("preview-shown", &[("shown", &shown), ("all", &all)]),
        method_name: made.extracted.method,
        interrupted: made.extracted.snippet.interrupted,
        formats: FORMATS
            .map(|(name, format, media_type)| Link {
                name,
                media_type,
                href: snippet_address(&dataset, request, request.method, Some(format)),
            })
            .into(),
        others,
        dataset,
        title,
        page: page.clone(),
    })
}
