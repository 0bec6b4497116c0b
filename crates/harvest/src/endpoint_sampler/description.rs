//! Metadata of a graph, from the endpoint's description and from the graph itself: titles, licence, creators, modification
//! date.

use super::client::{QueryClient, QueryFailure};
use super::queries;
use super::query::Template;
use super::response_cache::{ResponseCache, Row};
use lodeseek_catalog::{DatasetId, Metadata, Text, dcat, disambiguate_id};
use lodeseek_rdf::{local_name, words};
use oxrdf::{NamedNode, NamedOrBlankNode, Term, Triple};
use std::collections::BTreeMap;

const TRIPLE: &[&str] = &["s", "p", "o"];
const NODE: &[&str] = &["place", "node"];

/// Metadata of a graph, with the identifier that its description contains.
pub(super) struct GraphDescription {
    pub(super) metadata: Metadata,
    pub(super) identifier: Option<DatasetId>,
}

/// Returns the endpoint's description of a graph. It bypasses the cache, because metadata may change without the content.
pub(super) fn from_endpoint(
    client: &mut QueryClient<'_>,
    graph: &NamedNode,
    id: &DatasetId,
) -> Result<Option<GraphDescription>, QueryFailure> {
    let graphs = std::slice::from_ref(graph);
    let mut nodes = client.uncached_rows(
        &queries::described()
            .with_values("graph", graphs)
            .with_values("self", graphs),
        NODE,
    )?;
    sort_nodes(&mut nodes);
    let Some(node) = nodes.iter().find_map(last_node) else {
        return Ok(None);
    };
    let rows = client.uncached_rows(&description_query(&node), TRIPLE)?;
    Ok(read_description(&rows, &node, id))
}

/// Returns the description that a graph contains of itself.
pub(super) fn from_graph(
    client: &mut QueryClient<'_>,
    cache: &ResponseCache,
    graph: Option<&NamedNode>,
    id: &DatasetId,
) -> Result<Option<GraphDescription>, QueryFailure> {
    let mut nodes = client.rows(cache, &queries::header().in_graph(graph), NODE)?;
    sort_nodes(&mut nodes);
    let best = nodes.first().map(|row| &row[0]);
    let mut best = nodes.iter().filter(|row| Some(&row[0]) == best);
    // Of several nodes in the same place, none is known to be that of the graph.
    let (Some(first), None) = (best.next(), best.next()) else {
        return Ok(None);
    };
    let Some(node) = last_node(first) else {
        return Ok(None);
    };
    let rows = client.rows(cache, &description_query(&node).in_graph(graph), TRIPLE)?;
    Ok(read_description(&rows, &node, id))
}

/// Sorts rows by place, then node. They are few, so the query needs no `ORDER BY`.
fn sort_nodes(nodes: &mut [Row]) {
    nodes.sort_by_cached_key(|row| {
        row.iter()
            .map(|term| term.as_ref().map(ToString::to_string))
            .collect::<Vec<_>>()
    });
}

fn description_query(node: &NamedNode) -> Template {
    queries::description().with_values("node", std::slice::from_ref(node))
}

fn last_node(row: &Row) -> Option<NamedNode> {
    match row.last()? {
        Some(Term::NamedNode(node)) => Some(node.clone()),
        _ => None,
    }
}

fn read_description(rows: &[Row], node: &NamedNode, id: &DatasetId) -> Option<GraphDescription> {
    let (identifier, metadata) = dcat::metadata_of(
        &rows.iter().flat_map(row_triples).collect(),
        node,
        id.clone(),
    )?;
    Some(GraphDescription {
        metadata,
        identifier,
    })
}

/// Yields the triples of a row: subject, property and object, then a property and value of the object if the row has them.
pub(super) fn row_triples(row: &Row) -> impl Iterator<Item = Triple> {
    [row.get(..3), row.get(2..5)]
        .into_iter()
        .flatten()
        .filter_map(parse_triple)
}

fn parse_triple(row: &[Option<Term>]) -> Option<Triple> {
    let [
        Some(subject),
        Some(Term::NamedNode(predicate)),
        Some(object),
    ] = row
    else {
        return None;
    };
    let subject: NamedOrBlankNode = match subject {
        Term::NamedNode(node) => node.clone().into(),
        Term::BlankNode(node) => node.clone().into(),
        _ => return None,
    };
    Some(Triple::new(subject, predicate.clone(), object.clone()))
}

/// Returns the first description, with missing properties taken from the second.
pub(super) fn merge_descriptions(
    first: Option<GraphDescription>,
    second: Option<GraphDescription>,
) -> Option<GraphDescription> {
    let (mut first, second) = match (first, second) {
        (Some(first), Some(second)) => (first, second),
        (first, second) => return first.or(second),
    };
    let (ours, theirs) = (&mut first.metadata, second.metadata);
    fill_if_empty(&mut ours.titles, theirs.titles);
    fill_if_empty(&mut ours.alternatives, theirs.alternatives);
    fill_if_empty(&mut ours.descriptions, theirs.descriptions);
    fill_if_empty(&mut ours.keywords, theirs.keywords);
    fill_if_empty(&mut ours.creators, theirs.creators);
    fill_if_empty(&mut ours.publishers, theirs.publishers);
    ours.license = ours.license.take().or(theirs.license);
    ours.issued = ours.issued.take().or(theirs.issued);
    ours.modified = ours.modified.take().or(theirs.modified);
    ours.landing_page = ours.landing_page.take().or(theirs.landing_page);
    first.identifier = first.identifier.or(second.identifier);
    Some(first)
}

fn fill_if_empty<T>(ours: &mut Vec<T>, theirs: Vec<T>) {
    if ours.is_empty() {
        *ours = theirs;
    }
}

/// Derives an id from each of some distinct IRIs, without its scheme. IRIs that give the same id, such as `http://e.org/g` and
/// `https://e.org/g/`, each get a hash of the IRI as well, so that an id depends on no order.
/// `None` for an IRI that gives no id.
pub(super) fn ids_of<'i>(iris: impl Iterator<Item = &'i str>) -> Vec<Option<DatasetId>> {
    let derived: Vec<_> = iris.map(|iri| (iri, id_of(iri))).collect();
    let mut counts = BTreeMap::<&DatasetId, usize>::new();
    for id in derived.iter().filter_map(|(_, id)| id.as_ref()) {
        *counts.entry(id).or_default() += 1;
    }
    let mut ids = Vec::with_capacity(derived.len());
    for (iri, id) in &derived {
        let is_unique = id.as_ref().is_some_and(|id| counts[id] == 1);
        ids.push(if is_unique {
            id.clone()
        } else {
            id.as_ref().and_then(|id| disambiguate_id(id, iri))
        });
    }
    ids
}

fn id_of(iri: &str) -> Option<DatasetId> {
    let name = match iri.split_once("://") {
        Some((_, rest)) => rest,
        None => iri,
    };
    DatasetId::from_text(name.trim_end_matches('/'))
}

/// Derives a title from the local name of an IRI.
pub(super) fn title_of(iri: &str) -> Text {
    Text::plain(words(local_name(iri)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique_and_independent_of_the_order() {
        let ids = |iris: &[&str]| -> Vec<String> {
            ids_of(iris.iter().copied())
                .into_iter()
                .map(|id| id.expect("an id").to_string())
                .collect()
        };
        let [plain, slash, other] = ["http://e.org/g", "https://e.org/g/", "http://e.org/h"];
        assert_eq!(ids(&[plain, other]), ["e.org/g", "e.org/h"]);
        let all = ids(&[plain, slash, other]);
        assert!(
            all[0].starts_with("e.org/g-") && all[1].starts_with("e.org/g-") && all[0] != all[1],
            "{all:?}"
        );
        assert_eq!(all[2], "e.org/h");
        let [second, first] = <[String; 2]>::try_from(ids(&[slash, plain])).expect("two ids");
        assert_eq!([first, second], [all[0].clone(), all[1].clone()]);
        assert_eq!(
            ids_of(["http:///", other].into_iter()),
            [None, DatasetId::new("e.org/h").ok()]
        );
    }
}
