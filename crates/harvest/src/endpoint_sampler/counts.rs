//! Counts, class and property lists of a graph, as the endpoint computes them.

use super::client::{QueryClient, QueryFailure};
use super::queries;
use super::query::Template;
use super::response_cache::{ResponseCache, Row};
use oxrdf::{NamedNode, Term};

/// Number of rows requested in one page of a list.
const PAGE_ROWS: usize = 1000;
/// Divisor of the result limits that endpoints impose. A page whose length is a multiple of it may not be the last.
const LIMIT_DIVISOR: usize = 100;

/// Classes or properties of a graph, ordered by decreasing frequency if they are counted.
#[derive(Debug, Default)]
pub(super) struct Partition {
    pub(super) names: Vec<NamedNode>,
    /// Count of each name; `None` if the endpoint does not count.
    pub(super) counts: Option<Vec<u64>>,
}

impl Partition {
    /// Returns all pairs of name and count; an empty list if the endpoint does not count.
    pub(super) fn named_counts(&self) -> Vec<(String, u64)> {
        let Some(counts) = &self.counts else {
            return Vec::new();
        };
        self.names
            .iter()
            .zip(counts)
            .map(|(name, count)| (name.as_str().to_owned(), *count))
            .collect()
    }
}

/// Requests the current number of triples, bypassing the cache.
pub(super) fn count_triples(
    client: &mut QueryClient<'_>,
    graph: Option<&NamedNode>,
) -> Result<Option<u64>, QueryFailure> {
    let rows = client.uncached_rows(&queries::count().in_graph(graph), &["triples"])?;
    Ok(rows
        .first()
        .and_then(|row| parse_number(row.first()?.as_ref()?)))
}

/// Queries for a partition: one with counts, one with names only.
pub(super) struct ListQueries {
    pub(super) what: &'static str,
    pub(super) counted: Template,
    pub(super) named: Template,
}

impl ListQueries {
    pub(super) fn classes(graph: Option<&NamedNode>) -> Self {
        let (counted, named) = (
            queries::classes().in_graph(graph),
            queries::class_names().in_graph(graph),
        );
        Self {
            what: "classes",
            counted,
            named,
        }
    }

    pub(super) fn properties(graph: Option<&NamedNode>) -> Self {
        let (counted, named) = (
            queries::properties().in_graph(graph),
            queries::property_names().in_graph(graph),
        );
        Self {
            what: "properties",
            counted,
            named,
        }
    }

    /// Fetches the partition, at most `max_rows` names of it. Missing parts are appended to `left_out`.
    pub(super) fn fetch(
        &self,
        client: &mut QueryClient<'_>,
        cache: &ResponseCache,
        max_rows: usize,
        left_out: &mut Vec<String>,
    ) -> Result<Partition, QueryFailure> {
        let what = self.what;
        let failure = match fetch_list(client, cache, &self.counted, &["name", "count"], max_rows) {
            Ok(List { rows, is_complete }) => {
                report_truncation(is_complete, what, rows.len(), left_out);
                return Ok(read_partition(&rows));
            }
            Err(QueryFailure::Remote(error)) => error,
            Err(other) => return Err(other),
        };
        left_out.push(format!("counts of {what}: {failure}"));
        match fetch_list(client, cache, &self.named, &["name"], max_rows) {
            Ok(List { rows, is_complete }) => {
                report_truncation(is_complete, what, rows.len(), left_out);
                Ok(Partition {
                    names: rows.iter().filter_map(first_iri).collect(),
                    counts: None,
                })
            }
            Err(QueryFailure::Remote(error)) => {
                left_out.push(format!("{what}: {error}"));
                Ok(Partition::default())
            }
            Err(other) => Err(other),
        }
    }
}

fn report_truncation(is_complete: bool, what: &str, listed: usize, left_out: &mut Vec<String>) {
    if !is_complete {
        left_out.push(format!("{what} after the first {listed}"));
    }
}

/// Rows of a list.
struct List {
    rows: Vec<Row>,
    /// If true, the endpoint has no more rows.
    is_complete: bool,
}

/// Fetches a list page by page.
fn fetch_list(
    client: &mut QueryClient<'_>,
    cache: &ResponseCache,
    template: &Template,
    variables: &[&str],
    max_rows: usize,
) -> Result<List, QueryFailure> {
    let mut rows: Vec<Row> = Vec::new();
    while rows.len() < max_rows {
        let limit = PAGE_ROWS.min(max_rows - rows.len());
        let page = client.rows(
            cache,
            &template.clone().with_page(rows.len(), limit),
            variables,
        )?;
        let length = page.len();
        rows.extend(page);
        // A shorter page is the last one, unless its length is a limit that the endpoint imposes.
        if length == 0 || length < limit && length % LIMIT_DIVISOR != 0 {
            return Ok(List {
                rows,
                is_complete: true,
            });
        }
    }
    Ok(List {
        rows,
        is_complete: false,
    })
}

/// Fetches the named graphs of an endpoint, at most `max_rows`. The flag is true if there are no more.
pub(super) fn fetch_graphs(
    client: &mut QueryClient<'_>,
    max_rows: usize,
) -> Result<(Vec<NamedNode>, bool), QueryFailure> {
    let mut found: Vec<NamedNode> = Vec::new();
    while found.len() < max_rows {
        let page = client.uncached_rows(
            &queries::graphs().with_page(found.len(), PAGE_ROWS),
            &["graph"],
        )?;
        let length = page.len();
        found.extend(page.iter().filter_map(first_iri));
        if length == 0 || length < PAGE_ROWS && length % LIMIT_DIVISOR != 0 {
            return Ok((found, true));
        }
    }
    found.truncate(max_rows);
    Ok((found, false))
}

fn read_partition(rows: &[Row]) -> Partition {
    let pairs = rows
        .iter()
        .filter_map(|row| Some((first_iri(row)?, parse_number(row.get(1)?.as_ref()?)?)));
    let (names, counts) = pairs.unzip();
    Partition {
        names,
        counts: Some(counts),
    }
}

/// Returns the IRI in the first column. Classes and properties without an IRI cannot be queried later.
fn first_iri(row: &Row) -> Option<NamedNode> {
    match row.first()? {
        Some(Term::NamedNode(name)) => Some(name.clone()),
        _ => None,
    }
}

fn parse_number(term: &Term) -> Option<u64> {
    match term {
        Term::Literal(literal) => literal.value().parse().ok(),
        _ => None,
    }
}
