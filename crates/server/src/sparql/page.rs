//! The page of the SPARQL endpoint: a form or an editor, and results as a table, bars and a map.

use super::chart;
use super::editor;
use super::failure::Failure;
use crate::AppState;
use crate::error::{ApiError, set_retry_after};
use crate::pages::{PageContext, render};
use crate::text::{href, is_web};
use askama::Template;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use lodeseek_sparql::Answer;

/// Example queries with the ids of their titles.
pub(super) const EXAMPLES: &[(&str, &str)] = &[
    (
        "sparql-example-sizes",
        include_str!("../../queries/datasets.rq"),
    ),
    (
        "sparql-example-class",
        include_str!("../../queries/datasets-by-class.rq"),
    ),
    (
        "sparql-example-task",
        include_str!("../../queries/datasets-of-a-task.rq"),
    ),
    (
        "sparql-example-snippets",
        include_str!("../../queries/snippets.rq"),
    ),
    (
        "sparql-example-content",
        include_str!("../../queries/content.rq"),
    ),
    (
        "sparql-example-search-why",
        include_str!("../../queries/search-why.rq"),
    ),
    (
        "sparql-example-search-classes",
        include_str!("../../queries/search-classes.rq"),
    ),
    (
        "sparql-example-search-content",
        include_str!("../../queries/search-content.rq"),
    ),
];

/// Minimum and maximum number of lines of the form.
const LINES: (usize, usize) = (6, 18);

#[derive(Template)]
#[template(path = "sparql.html")]
struct SparqlPage {
    page: PageContext,
    text: String,
    /// Number of lines of the form.
    lines: usize,
    /// Example queries: (title, address of the results).
    examples: Vec<(String, String)>,
    failure: Option<Failure>,
    columns: Vec<String>,
    rows: Vec<Vec<CellView>>,
    answered: bool,
    truncated: bool,
    bars: Vec<chart::Bars>,
    map: Option<chart::Map>,
    /// If true, an editor replaces the form.
    editor: bool,
}

struct CellView {
    text: String,
    href: Option<String>,
}

/// Renders the page with a query and, if there is one, its answer.
pub(super) fn page(
    state: &AppState,
    context: &PageContext,
    text: &str,
    answer: Option<Result<Answer, ApiError>>,
) -> Response {
    let text = if text.is_empty() { EXAMPLES[0].1 } else { text };
    let mut page = SparqlPage {
        page: context.clone(),
        text: text.to_owned(),
        lines: text.lines().count().clamp(LINES.0, LINES.1),
        examples: EXAMPLES
            .iter()
            .map(|(title, query)| (context.text(title), address(query)))
            .collect(),
        failure: None,
        columns: Vec::new(),
        rows: Vec::new(),
        answered: answer.is_some(),
        truncated: false,
        bars: Vec::new(),
        map: None,
        editor: state.sparql.editor.is_some(),
    };
    let mut status = StatusCode::OK;
    match answer {
        None => {}
        Some(Err(error)) => {
            status = error.status;
            page.failure = Some(Failure::new(
                context,
                text,
                &error.message,
                &state.sparql.limits,
            ));
        }
        Some(Ok(answer)) => {
            page.truncated = answer.is_truncated();
            (page.columns, page.rows) = table(state, &answer);
            if let Answer::Solutions {
                variables, rows, ..
            } = &answer
            {
                (page.bars, page.map) = (chart::bars(variables, rows), chart::map(variables, rows));
            }
        }
    }
    let mut response = (status, render(&page)).into_response();
    set_retry_after(&mut response);
    if state.sparql.editor.is_some() {
        editor::allow(&mut response);
    }
    response
}

/// Returns the address of the results of a query.
fn address(query: &str) -> String {
    let mut parameters = form_urlencoded::Serializer::new(String::new());
    parameters
        .append_pair("query", query)
        .append_pair("format", "html");
    format!("/sparql?{}", parameters.finish())
}

fn table(state: &AppState, answer: &Answer) -> (Vec<String>, Vec<Vec<CellView>>) {
    let cell = |term: &oxrdf::Term| {
        let (text, iri) = match term {
            oxrdf::Term::NamedNode(node) => (node.as_str().to_owned(), Some(node.as_str())),
            oxrdf::Term::Literal(literal) => (literal.value().to_owned(), None),
            other => (other.to_string(), None),
        };
        let own = iri
            .and_then(|iri| state.store.iris().dataset_id(iri))
            .map(|id| href(&id));
        CellView {
            text,
            href: own.or_else(|| iri.filter(|iri| is_web(iri)).map(str::to_owned)),
        }
    };
    let empty = || CellView {
        text: String::new(),
        href: None,
    };
    match answer {
        Answer::Boolean(value) => (
            vec!["answer".to_owned()],
            vec![vec![CellView {
                text: value.to_string(),
                href: None,
            }]],
        ),
        Answer::Solutions {
            variables, rows, ..
        } => {
            let columns = variables
                .iter()
                .map(|variable| variable.as_str().to_owned())
                .collect();
            let rows = rows.iter().map(|row| {
                row.iter()
                    .map(|term| term.as_ref().map_or_else(empty, cell))
                    .collect()
            });
            (columns, rows.collect())
        }
        Answer::Graph { triples, .. } => {
            let columns = ["subject", "predicate", "object"]
                .map(str::to_owned)
                .to_vec();
            let row = |t: &oxrdf::Triple| {
                vec![
                    cell(&t.subject.clone().into()),
                    cell(&t.predicate.clone().into()),
                    cell(&t.object),
                ]
            };
            (columns, triples.iter().map(row).collect())
        }
    }
}
