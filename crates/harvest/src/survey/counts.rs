//! What an endpoint counts in a graph, and what it only names.

use super::asker::{Asker, Unanswered};
use super::pages::{Pages, Row};
use super::queries;
use super::query::Template;
use oxrdf::{NamedNode, Term};

/// Rows of one page of a list.
const PAGE: usize = 1000;
/// Limits that endpoints set to their answers are round numbers: a page that ends at one may not be the last.
const ROUND: usize = 100;

/// The classes or the properties of a graph, the most frequent first if they are counted.
#[derive(Debug, Default)]
pub(super) struct Partition {
    pub(super) names: Vec<NamedNode>,
    /// The count of each name; none if the endpoint does not count.
    pub(super) counts: Option<Vec<u64>>,
}

impl Partition {
    /// (name, count) of all; nothing if the endpoint does not count.
    pub(super) fn counted(&self) -> Vec<(String, u64)> {
        let names = self.names.iter().map(|name| name.as_str().to_owned());
        self.counts.iter().flat_map(|counts| names.clone().zip(counts.iter().copied())).collect()
    }
}

/// The number of triples, as of today.
pub(super) fn triples(asker: &mut Asker<'_>, graph: Option<&NamedNode>) -> Result<Option<u64>, Unanswered> {
    let rows = asker.fresh(&queries::count().from(graph), &["triples"])?;
    Ok(rows.first().and_then(|row| number(row.first()?.as_ref()?)))
}

/// What to ask for a partition: with counts, and without.
pub(super) struct Listing {
    pub(super) what: &'static str,
    pub(super) counted: Template,
    pub(super) named: Template,
}

impl Listing {
    pub(super) fn classes(graph: Option<&NamedNode>) -> Self {
        let (counted, named) = (queries::classes().from(graph), queries::class_names().from(graph));
        Self { what: "classes", counted, named }
    }

    pub(super) fn properties(graph: Option<&NamedNode>) -> Self {
        let (counted, named) = (queries::properties().from(graph), queries::property_names().from(graph));
        Self { what: "properties", counted, named }
    }

    /// The partition, at most `most` names of it; what is missing is told in `left_out`.
    pub(super) fn ask(
        &self,
        asker: &mut Asker<'_>,
        pages: &Pages,
        most: usize,
        left_out: &mut Vec<String>,
    ) -> Result<Partition, Unanswered> {
        let what = self.what;
        let failure = match list(asker, pages, &self.counted, &["name", "count"], most) {
            Ok(List { rows, whole }) => {
                note_rest(whole, what, rows.len(), left_out);
                return Ok(counted(&rows));
            }
            Err(Unanswered::Failed(error)) => error,
            Err(other) => return Err(other),
        };
        left_out.push(format!("counts of {what}: {failure}"));
        match list(asker, pages, &self.named, &["name"], most) {
            Ok(List { rows, whole }) => {
                note_rest(whole, what, rows.len(), left_out);
                Ok(Partition { names: rows.iter().filter_map(name).collect(), counts: None })
            }
            Err(Unanswered::Failed(error)) => {
                left_out.push(format!("{what}: {error}"));
                Ok(Partition::default())
            }
            Err(other) => Err(other),
        }
    }
}

fn note_rest(whole: bool, what: &str, listed: usize, left_out: &mut Vec<String>) {
    if !whole {
        left_out.push(format!("{what} after the first {listed}"));
    }
}

/// Rows of a list, and whether there are no more.
struct List {
    rows: Vec<Row>,
    whole: bool,
}

/// A list, page by page.
fn list(
    asker: &mut Asker<'_>,
    pages: &Pages,
    template: &Template,
    variables: &[&str],
    most: usize,
) -> Result<List, Unanswered> {
    let mut rows: Vec<Row> = Vec::new();
    while rows.len() < most {
        let asked = PAGE.min(most - rows.len());
        let page = asker.rows(pages, &template.clone().page(rows.len(), asked), variables)?;
        let length = page.len();
        rows.extend(page);
        if length == 0 || length < asked && length % ROUND != 0 {
            return Ok(List { rows, whole: true });
        }
    }
    Ok(List { rows, whole: false })
}

/// The graphs of an endpoint that have names.
pub(super) fn graphs(asker: &mut Asker<'_>, most: usize) -> Result<(Vec<NamedNode>, bool), Unanswered> {
    let mut found: Vec<NamedNode> = Vec::new();
    while found.len() < most {
        let page = asker.fresh(&queries::graphs().page(found.len(), PAGE), &["graph"])?;
        let length = page.len();
        found.extend(page.iter().filter_map(name));
        if length == 0 || length < PAGE && length % ROUND != 0 {
            return Ok((found, true));
        }
    }
    found.truncate(most);
    Ok((found, false))
}

fn counted(rows: &[Row]) -> Partition {
    let pairs = rows.iter().filter_map(|row| Some((name(row)?, number(row.get(1)?.as_ref()?)?)));
    let (names, counts) = pairs.unzip();
    Partition { names, counts: Some(counts) }
}

/// Classes and properties without an IRI cannot be asked about.
fn name(row: &Row) -> Option<NamedNode> {
    match row.first()? {
        Some(Term::NamedNode(name)) => Some(name.clone()),
        _ => None,
    }
}

fn number(term: &Term) -> Option<u64> {
    match term {
        Term::Literal(literal) => literal.value().parse().ok(),
        _ => None,
    }
}
