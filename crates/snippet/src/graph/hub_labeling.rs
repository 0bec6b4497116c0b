//! Exact distances from small labels: every node knows its distance to a few hubs, and two nodes meet at one of them.
//!
//! T. Akiba, Y. Iwata, Y. Yoshida: *Fast Exact Shortest-Path Distance Queries on Large Networks by Pruned Landmark
//! Labeling*, SIGMOD 2013. Nodes are searched from in order of decreasing degree; a search does not go past a node whose
//! distance the labels made so far already give. Each entry also keeps the node before, so that paths can be read off.

use super::LinkGraph;
use std::cmp::Reverse;

/// One entry of a node's label.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HubDistance {
    /// The place of the hub in the order of searches.
    pub hub: u32,
    /// Links between the node and the hub.
    pub distance: u32,
    /// The next node on a shortest path to the hub; the hub itself names itself.
    pub towards: u32,
}

/// The labels of some nodes of a graph.
#[derive(Debug)]
pub struct HubLabels {
    labels: Vec<Vec<HubDistance>>,
}

impl HubLabels {
    /// Labels `nodes`, which must be whole components. `may_take` is told of steps before they are made, each a link looked
    /// at or an entry compared; as soon as it says no, there are no labels.
    ///
    /// The cost is O(Σ |label|²) in the worst case, and far less where a few nodes lie on most shortest paths.
    #[must_use]
    pub fn of(graph: &LinkGraph, nodes: &[u32], may_take: impl FnMut(u64) -> bool) -> Option<Self> {
        let mut order = nodes.to_vec();
        order.sort_by_key(|&node| (Reverse(graph.degree(node)), node));
        let count = graph.node_count();
        let mut search = Search {
            graph,
            labels: vec![Vec::new(); count],
            to_hub: vec![u32::MAX; count],
            seen: vec![u32::MAX; count],
            may_take,
        };
        for (hub, &node) in order.iter().enumerate() {
            search.from(hub as u32, node)?;
        }
        Some(Self { labels: search.labels })
    }

    /// The label of a node, by hub.
    #[must_use]
    pub fn label(&self, node: u32) -> &[HubDistance] {
        &self.labels[node as usize]
    }

    /// Links on a shortest path between two nodes; `None` where there is no path.
    #[must_use]
    pub fn distance(&self, a: u32, b: u32) -> Option<u32> {
        let (mut left, mut right) = (self.label(a), self.label(b));
        let mut best = None;
        while let (Some(x), Some(y)) = (left.first(), right.first()) {
            if x.hub == y.hub {
                let through = x.distance + y.distance;
                best = Some(best.map_or(through, |best: u32| best.min(through)));
            }
            left = &left[usize::from(x.hub <= y.hub)..];
            right = &right[usize::from(y.hub <= x.hub)..];
        }
        best
    }

    /// The nodes of a shortest path from a node to a hub of its label, both ends included.
    #[must_use]
    pub fn path(&self, node: u32, hub: u32) -> Vec<u32> {
        let mut path = vec![node];
        let mut at = node;
        while let Ok(place) = self.label(at).binary_search_by_key(&hub, |entry| entry.hub) {
            let entry = self.label(at)[place];
            if entry.distance == 0 {
                break;
            }
            at = entry.towards;
            path.push(at);
        }
        path
    }
}

struct Search<'g, M> {
    graph: &'g LinkGraph,
    labels: Vec<Vec<HubDistance>>,
    /// By hub: its distance from the node searched from now.
    to_hub: Vec<u32>,
    /// By node: the last search that came by.
    seen: Vec<u32>,
    may_take: M,
}

impl<M: FnMut(u64) -> bool> Search<'_, M> {
    fn from(&mut self, hub: u32, root: u32) -> Option<()> {
        for entry in &self.labels[root as usize] {
            self.to_hub[entry.hub as usize] = entry.distance;
        }
        let mut queue = vec![(root, 0, root)];
        self.seen[root as usize] = hub;
        let mut next = 0;
        while let Some(&(node, distance, towards)) = queue.get(next) {
            next += 1;
            let label = &self.labels[node as usize];
            if !(self.may_take)(1 + label.len() as u64) {
                return None;
            }
            let known =
                |entry: &HubDistance| self.to_hub[entry.hub as usize].saturating_add(entry.distance) <= distance;
            if label.iter().any(known) {
                continue;
            }
            self.labels[node as usize].push(HubDistance { hub, distance, towards });
            if !(self.may_take)(self.graph.degree(node)) {
                return None;
            }
            for neighbour in self.graph.neighbours(node).iter().map(|&node| node as usize) {
                if std::mem::replace(&mut self.seen[neighbour], hub) != hub {
                    queue.push((neighbour as u32, distance + 1, node));
                }
            }
        }
        for place in 0..self.labels[root as usize].len() {
            self.to_hub[self.labels[root as usize][place].hub as usize] = u32::MAX;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn by_search(graph: &LinkGraph, from: u32) -> Vec<Option<u32>> {
        let mut distances = vec![None; graph.node_count()];
        distances[from as usize] = Some(0);
        let mut queue = std::collections::VecDeque::from([from as usize]);
        while let Some(node) = queue.pop_front() {
            for neighbour in graph.neighbours(node as u32).iter().map(|&node| node as usize) {
                if distances[neighbour].is_none() {
                    distances[neighbour] = distances[node].map(|distance: u32| distance + 1);
                    queue.push_back(neighbour);
                }
            }
        }
        distances
    }

    proptest! {
        #[test]
        fn distances_are_those_of_a_search(links in proptest::collection::vec((0u32..12, 0u32..12), 0..30)) {
            let graph = LinkGraph::new(12, links);
            let nodes: Vec<u32> = (0..12).collect();
            let labels = HubLabels::of(&graph, &nodes, |_| true).expect("no bound");
            for &a in &nodes {
                let expected = by_search(&graph, a);
                for &b in &nodes {
                    prop_assert_eq!(labels.distance(a, b), expected[b as usize]);
                }
                for entry in labels.label(a) {
                    let path = labels.path(a, entry.hub);
                    prop_assert_eq!(path.len() as u32, entry.distance + 1);
                    for step in path.windows(2) {
                        prop_assert!(graph.neighbours(step[0]).contains(&step[1]));
                    }
                }
            }
        }
    }

    #[test]
    fn too_much_work_is_refused() {
        let graph = LinkGraph::new(3, [(0, 1), (1, 2)]);
        let up_to = |mut left: u64| {
            move |steps: u64| {
                left = left.saturating_sub(steps);
                left > 0
            }
        };
        assert!(HubLabels::of(&graph, &[0, 1, 2], up_to(3)).is_none());
        assert!(HubLabels::of(&graph, &[0, 1, 2], up_to(100)).is_some());
    }
}
