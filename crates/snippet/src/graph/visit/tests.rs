//! Comparison of algorithms on [`LinkGraph`] with the same algorithms on petgraph's own graph.

use super::super::{HubLabels, PageRank, UndirectedGraph, components};
use super::*;
use petgraph::algo::{
    bridges, connected_components, dijkstra, is_cyclic_undirected, min_spanning_tree, page_rank,
};
use petgraph::data::Element;
use petgraph::graph::NodeIndex;
use petgraph::visit::{Bfs, Dfs};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const NODES: usize = 9;

/// Links without self-loops, some of them parallel.
fn links() -> impl Strategy<Value = Vec<(u32, u32)>> {
    let link = (0..NODES as u32, 0..NODES as u32);
    proptest::collection::vec(link.prop_filter("a self-loop", |(a, b)| a != b), 0..24)
}

/// The same graph twice.
fn graphs(links: &[(u32, u32)]) -> (LinkGraph, UnGraph<(), ()>) {
    let mut graph = UnGraph::default();
    for _ in 0..NODES {
        graph.add_node(());
    }
    for &(a, b) in links {
        graph.add_edge(NodeIndex::new(a as usize), NodeIndex::new(b as usize), ());
    }
    (LinkGraph::new(NODES, links.iter().copied()), graph)
}

fn sorted<T: Ord>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut items: Vec<T> = items.into_iter().collect();
    items.sort_unstable();
    items
}

fn ends(a: usize, b: usize) -> (usize, usize) {
    (a.min(b), a.max(b))
}

proptest! {
    #[test]
    fn algorithms_of_petgraph_give_the_same_on_both(links in links()) {
        let (ours, theirs) = graphs(&links);
        prop_assert_eq!(connected_components(&ours), connected_components(&theirs));
        prop_assert_eq!(is_cyclic_undirected(&ours), is_cyclic_undirected(&theirs));
        for from in 0..NODES {
            let distances = dijkstra(&ours, from as u32, None, |_| 1_u32);
            let expected = dijkstra(&theirs, NodeIndex::new(from), None, |_| 1_u32);
            let found: BTreeMap<usize, u32> = distances.into_iter().map(|(node, d)| (node as usize, d)).collect();
            prop_assert_eq!(found, expected.into_iter().map(|(node, d)| (node.index(), d)).collect::<BTreeMap<_, _>>());
        }
        let ranks: Vec<f64> = page_rank(&ours, 0.85, 20);
        let expected: Vec<f64> = page_rank(&theirs, 0.85, 20);
        for (rank, expected) in ranks.iter().zip(&expected) {
            prop_assert!((rank - expected).abs() < 1e-12);
        }
        let found = sorted(bridges(&ours).map(|link| ends(link.source() as usize, link.target() as usize)));
        let expected = sorted(bridges(&theirs).map(|link| ends(link.source().index(), link.target().index())));
        prop_assert_eq!(found, expected);
        let is_link = |element: &Element<(), ()>| matches!(element, Element::Edge { .. });
        prop_assert_eq!(
            min_spanning_tree(&ours).filter(is_link).count(),
            min_spanning_tree(&theirs).filter(is_link).count()
        );
    }

    #[test]
    fn algorithms_of_this_crate_give_the_same_on_both(links in links()) {
        let (ours, theirs) = graphs(&links);
        prop_assert_eq!(components(&ours), components(&theirs));
        let (scores, expected) = (PageRank::default().scores(&ours), PageRank::default().scores(&theirs));
        for (score, expected) in scores.iter().zip(&expected) {
            prop_assert!((score - expected).abs() < 1e-12);
        }
        let nodes: Vec<u32> = (0..NODES as u32).collect();
        let labels = HubLabels::new(&ours, &nodes, |_| true).expect("no bound");
        let expected = HubLabels::new(&theirs, &nodes, |_| true).expect("no bound");
        for &a in &nodes {
            let paths = dijkstra(&theirs, NodeIndex::new(a as usize), None, |_| 1_u32);
            for &b in &nodes {
                prop_assert_eq!(labels.distance(a, b), expected.distance(a, b));
                prop_assert_eq!(labels.distance(a, b), paths.get(&NodeIndex::new(b as usize)).copied());
            }
        }
        let numbers = components(&ours);
        prop_assert_eq!(numbers.iter().collect::<BTreeSet<_>>().len(), connected_components(&ours));
    }

    #[test]
    fn traits_agree_with_each_other(links in links()) {
        let (graph, theirs) = graphs(&links);
        prop_assert_eq!(graph.edge_count(), links.len());
        prop_assert_eq!((&graph).edge_references().count(), links.len());
        let ids: BTreeSet<LinkId> = (&graph).edge_references().map(|link| link.id()).collect();
        prop_assert_eq!(ids.len(), links.len(), "identifiers are distinct");
        for node in (&graph).node_identifiers() {
            let at: Vec<LinkRef<'_>> = (&graph).edges(node).collect();
            prop_assert!(at.iter().all(|link| link.source() == node && ids.contains(&link.id())));
            let targets: Vec<u32> = at.iter().map(EdgeRef::target).collect();
            prop_assert_eq!(&targets, &(&graph).neighbors(node).collect::<Vec<_>>());
            prop_assert_eq!(targets.len() as u64, (&graph).link_count(node));
            let expected = theirs.neighbors(NodeIndex::new(node as usize)).map(|other| other.index() as u32);
            prop_assert_eq!(sorted(targets), sorted(expected));
        }
        // Both ends of a link give one identifier.
        let mut counts: BTreeMap<LinkId, usize> = BTreeMap::new();
        for node in (&graph).node_identifiers() {
            for link in (&graph).edges(node) {
                *counts.entry(link.id()).or_default() += 1;
            }
        }
        prop_assert!(counts.values().all(|&count| count == 2));
    }
}

#[test]
fn traversals_visit_each_node_of_a_component_once() {
    let graph = LinkGraph::new(5, [(0, 1), (1, 2), (2, 0), (3, 4)]);
    let (mut depth, mut breadth) = (Dfs::new(&graph, 0), Bfs::new(&graph, 0));
    let by_depth = sorted(std::iter::from_fn(|| depth.next(&graph)));
    let by_breadth = sorted(std::iter::from_fn(|| breadth.next(&graph)));
    assert_eq!((by_depth, by_breadth), (vec![0, 1, 2], vec![0, 1, 2]));
    depth.reset(&graph);
    depth.move_to(3);
    assert_eq!(std::iter::from_fn(|| depth.next(&graph)).count(), 2);
}
