//! The page of the SPARQL endpoint: a form or an editor, and results as a table, bars and a map.

use super::chart;
use super::editor;
use super::failure::Failure;
use crate::AppState;
use crate::error::ApiError;
use crate::pages::{PageContext, render};
use crate::text::{href, is_web, query_address};
use askama::Template;
use axum::response::Response;
use lodeseek_engine::{BrowseRequest, Facet, Filter};
use lodeseek_rdf::vocab::skos;
use lodeseek_sparql::Answer;

/// An example query.
pub(super) struct Example {
    /// Id of its title.
    pub(super) title: &'static str,
    pub(super) query: &'static str,
    /// Condition on the collection under which the query has results.
    requirement: Requirement,
}

/// A condition on the collection.
#[derive(Clone, Copy)]
enum Requirement {
    /// Descriptions of datasets are enough.
    None,
    /// A dataset with content.
    Content,
    /// A dataset with a value of a facet, at the latest of a year.
    Value(Facet, &'static str, Option<i32>),
}

impl Requirement {
    /// Returns true if the collection meets it. An index that cannot be read meets none.
    fn is_met(self, state: &AppState) -> bool {
        let catalog = state.searcher.catalog();
        match self {
            Self::None => true,
            Self::Content => catalog.has_content().unwrap_or(false),
            Self::Value(facet, value, until) => {
                let filter = Filter {
                    until,
                    ..Filter::default()
                };
                let request = BrowseRequest {
                    filter: filter.with(facet, value),
                    ..BrowseRequest::default()
                };
                catalog
                    .browse(&request)
                    .is_ok_and(|listing| listing.total > 0)
            }
        }
    }
}

/// Example queries, a simple one first.
pub(super) const EXAMPLES: &[Example] = &[
    Example {
        title: "sparql-example-sizes",
        query: include_str!("../../queries/datasets.rq"),
        requirement: Requirement::None,
    },
    Example {
        title: "sparql-example-class",
        query: include_str!("../../queries/datasets-by-class.rq"),
        requirement: Requirement::Value(Facet::Class, skos::CONCEPT, None),
    },
    Example {
        title: "sparql-example-task",
        query: include_str!("../../queries/datasets-of-a-task.rq"),
        requirement: Requirement::Value(Facet::Task, "semantic segmentation", Some(2018)),
    },
    Example {
        title: "sparql-example-snippets",
        query: include_str!("../../queries/snippets.rq"),
        requirement: Requirement::Content,
    },
    Example {
        title: "sparql-example-content",
        query: include_str!("../../queries/content.rq"),
        requirement: Requirement::Content,
    },
    Example {
        title: "sparql-example-search-why",
        query: include_str!("../../queries/search-why.rq"),
        requirement: Requirement::None,
    },
    Example {
        title: "sparql-example-search-classes",
        query: include_str!("../../queries/search-classes.rq"),
        requirement: Requirement::Content,
    },
    Example {
        title: "sparql-example-search-content",
        query: include_str!("../../queries/search-content.rq"),
        requirement: Requirement::Content,
    },
];

/// Maximum length of the address of a result in bytes. Some proxies reject addresses of more than 8 kB. Forms send longer queries by POST.
pub(crate) const MAX_ADDRESS_BYTES: usize = 4000;

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
    /// Address of this result; `None` for a long query.
    own: Option<String>,
    /// Maximum length of an address, for the script of the form.
    max_address: usize,
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

#[derive(Default)]
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
    let text = if text.is_empty() {
        EXAMPLES[0].query
    } else {
        text
    };
    let mut page = SparqlPage {
        page: context.clone(),
        text: text.to_owned(),
        lines: text.lines().count().clamp(LINES.0, LINES.1),
        examples: example_links(state, context),
        own: Some(query_address(text)).filter(|own| own.len() <= MAX_ADDRESS_BYTES),
        max_address: MAX_ADDRESS_BYTES,
        failure: None,
        columns: Vec::new(),
        rows: Vec::new(),
        answered: answer.is_some(),
        truncated: false,
        bars: Vec::new(),
        map: None,
        editor: state.sparql.editor.is_some(),
    };
    let mut failed = None;
    match answer {
        None => {}
        Some(Err(error)) => {
            page.failure = Some(Failure::new(
                context,
                text,
                &error.message,
                &state.sparql.limits,
            ));
            failed = Some(error);
        }
        Some(Ok(answer)) => {
            page.truncated = answer.is_truncated();
            (page.columns, page.rows) = result_table(state, &answer);
            if let Answer::Solutions {
                variables, rows, ..
            } = &answer
            {
                (page.bars, page.map) = (chart::bars(variables, rows), chart::map(variables, rows));
            }
        }
    }
    let mut response = render(&page);
    if let Some(error) = failed {
        *response.status_mut() = error.status;
        error.set_retry_after(&mut response);
    }
    if state.sparql.editor.is_some() {
        editor::allow(&mut response);
    }
    response
}

/// Returns the titles of the example queries that have results, with the addresses of these.
fn example_links(state: &AppState, context: &PageContext) -> Vec<(String, String)> {
    let mut linked = Vec::new();
    for example in EXAMPLES {
        if example.requirement.is_met(state) {
            linked.push((context.text(example.title), query_address(example.query)));
        }
    }
    linked
}

fn result_table(state: &AppState, answer: &Answer) -> (Vec<String>, Vec<Vec<CellView>>) {
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
                    .map(|term| match term {
                        Some(term) => cell_view(state, term),
                        None => CellView::default(),
                    })
                    .collect()
            });
            (columns, rows.collect())
        }
        Answer::Graph { triples, .. } => {
            let columns = ["subject", "predicate", "object"]
                .map(str::to_owned)
                .to_vec();
            let mut rows = Vec::with_capacity(triples.len());
            for triple in triples {
                rows.push(vec![
                    cell_view(state, &triple.subject.clone().into()),
                    cell_view(state, &triple.predicate.clone().into()),
                    cell_view(state, &triple.object),
                ]);
            }
            (columns, rows)
        }
    }
}

/// Returns the cell of a term. Datasets are links to their pages, other IRIs to the web.
fn cell_view(state: &AppState, term: &oxrdf::Term) -> CellView {
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
}
