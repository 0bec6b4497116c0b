//! What an endpoint, or the graph itself, says of a graph: titles, licence, creators, the last change.

use super::asker::{Asker, Unanswered};
use super::pages::{Pages, Row};
use super::queries;
use super::query::Template;
use lodeseek_catalog::{DatasetId, Metadata, Text, dcat};
use lodeseek_rdf::{TripleGraph, TripleGraphBuilder, local_name, words};
use oxrdf::{NamedNode, NamedOrBlankNode, Term, Triple};

const TRIPLE: &[&str] = &["s", "p", "o"];
const NODE: &[&str] = &["place", "node"];

/// Metadata, and the id that the endpoint gives.
pub(super) struct Described {
    pub(super) metadata: Metadata,
    pub(super) identifier: Option<DatasetId>,
}

/// What the endpoint says of a graph. It is asked in every run: metadata change where content does not.
pub(super) fn of_endpoint(
    asker: &mut Asker<'_>,
    graph: &NamedNode,
    id: &DatasetId,
) -> Result<Option<Described>, Unanswered> {
    let graphs = std::slice::from_ref(graph);
    let mut nodes = asker.fresh(&queries::described().with("graph", graphs).with("self", graphs), NODE)?;
    sort(&mut nodes);
    let Some(node) = nodes.iter().find_map(node) else { return Ok(None) };
    let rows = asker.fresh(&description(&node), TRIPLE)?;
    Ok(read(&rows, &node, id))
}

/// What a graph says of itself.
pub(super) fn of_graph(
    asker: &mut Asker<'_>,
    pages: &Pages,
    graph: Option<&NamedNode>,
    id: &DatasetId,
) -> Result<Option<Described>, Unanswered> {
    let mut nodes = asker.rows(pages, &queries::header().from(graph), NODE)?;
    sort(&mut nodes);
    let best = nodes.first().map(|row| &row[0]);
    let mut best = nodes.iter().filter(|row| Some(&row[0]) == best);
    let (Some(first), None) = (best.next(), best.next()) else { return Ok(None) };
    let Some(node) = node(first) else { return Ok(None) };
    let rows = asker.rows(pages, &description(&node).from(graph), TRIPLE)?;
    Ok(read(&rows, &node, id))
}

/// By place, then node: no endpoint need sort so few.
fn sort(nodes: &mut [Row]) {
    nodes.sort_by_cached_key(|row| row.iter().map(|term| term.as_ref().map(ToString::to_string)).collect::<Vec<_>>());
}

fn description(node: &NamedNode) -> Template {
    queries::description().with("node", std::slice::from_ref(node))
}

fn node(row: &Row) -> Option<NamedNode> {
    match row.last()? {
        Some(Term::NamedNode(node)) => Some(node.clone()),
        _ => None,
    }
}

fn read(rows: &[Row], node: &NamedNode, id: &DatasetId) -> Option<Described> {
    let (identifier, metadata) = dcat::metadata_of(&graph_of(rows.iter().flat_map(triples)), node, id.clone())?;
    Some(Described { metadata, identifier })
}

/// The triple of a row of subject, property and object, and where a property and value of the object follow, that too.
pub(super) fn triples(row: &Row) -> impl Iterator<Item = Triple> {
    [row.get(..3), row.get(2..5)].into_iter().flatten().filter_map(triple)
}

fn triple(row: &[Option<Term>]) -> Option<Triple> {
    let [Some(subject), Some(Term::NamedNode(predicate)), Some(object)] = row else { return None };
    let subject: NamedOrBlankNode = match subject {
        Term::NamedNode(node) => node.clone().into(),
        Term::BlankNode(node) => node.clone().into(),
        _ => return None,
    };
    Some(Triple::new(subject, predicate.clone(), object.clone()))
}

pub(super) fn graph_of(triples: impl IntoIterator<Item = Triple>) -> TripleGraph {
    let mut builder = TripleGraphBuilder::new();
    for triple in triples {
        builder.insert(triple.as_ref());
    }
    builder.finish()
}

/// The first description, with what it lacks from the second.
pub(super) fn merged(first: Option<Described>, second: Option<Described>) -> Option<Described> {
    let (mut first, second) = match (first, second) {
        (Some(first), Some(second)) => (first, second),
        (first, second) => return first.or(second),
    };
    let (ours, theirs) = (&mut first.metadata, second.metadata);
    fill(&mut ours.titles, theirs.titles);
    fill(&mut ours.alternatives, theirs.alternatives);
    fill(&mut ours.descriptions, theirs.descriptions);
    fill(&mut ours.keywords, theirs.keywords);
    fill(&mut ours.creators, theirs.creators);
    fill(&mut ours.publishers, theirs.publishers);
    ours.license = ours.license.take().or(theirs.license);
    ours.issued = ours.issued.take().or(theirs.issued);
    ours.modified = ours.modified.take().or(theirs.modified);
    ours.landing_page = ours.landing_page.take().or(theirs.landing_page);
    first.identifier = first.identifier.or(second.identifier);
    Some(first)
}

fn fill<T>(ours: &mut Vec<T>, theirs: Vec<T>) {
    if ours.is_empty() {
        *ours = theirs;
    }
}

/// The id of a graph that has no better one: its IRI without the scheme, for two graphs never have the same.
pub(super) fn id_of(iri: &str) -> Option<DatasetId> {
    let name = iri.split_once("://").map_or(iri, |(_, rest)| rest);
    DatasetId::from_text(name.trim_end_matches('/'))
}

/// A title where none is given.
pub(super) fn title_of(iri: &str) -> Text {
    Text::plain(words(local_name(iri)))
}
