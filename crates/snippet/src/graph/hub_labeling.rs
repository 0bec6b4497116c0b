//! Pruned landmark labeling: exact distances from small labels. Every node stores its distances to a few hubs; two
//! nodes have a common hub on a shortest path.
//!
//! T. Akiba, Y. Iwata, Y. Yoshida: *Fast Exact Shortest-Path Distance Queries on Large Networks by Pruned Landmark
//! Labeling*, SIGMOD 2013. A breadth-first search starts at each node in order of decreasing degree. It is pruned at
//! nodes whose distance the existing labels already give. Each entry also stores the next node towards the hub, so that
//! paths can be reconstructed.

use super::UndirectedGraph;
use std::cmp::Reverse;

/// Entry of a node's label.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HubDistance {
    /// Number of the hub in the order of searches.
    pub hub: u32,
    /// Number of links between the node and the hub.
    pub distance: u32,
    /// Next node on a shortest path to the hub. For the hub itself: the hub.
    pub towards: u32,
}

/// Labels of some nodes of a graph.
#[derive(Debug)]
pub struct HubLabels {
    labels: Vec<Vec<HubDistance>>,
}

impl HubLabels {
    /// Labels `nodes`, which must be whole components. Returns `None` if `try_spend` returned false.
    ///
    /// `try_spend` is called with a number of steps before they are taken. A step follows one link or compares one
    /// entry.
    ///
    /// The worst-case cost is O(Σ |label|²). It is much lower if a few nodes lie on most shortest paths.
    #[must_use]
    pub fn new(
        graph: impl UndirectedGraph,
        nodes: &[u32],
        try_spend: impl FnMut(u64) -> bool,
    ) -> Option<Self> {
        let mut order = nodes.to_vec();
        order.sort_by_cached_key(|&node| (Reverse(graph.link_count(node)), node));
        let count = graph.node_count();
        let mut search = Search {
            graph,
            labels: vec![Vec::new(); count],
            to_hub: vec![u32::MAX; count],
            seen: vec![u32::MAX; count],
            try_spend,
        };
        for (hub, &node) in order.iter().enumerate() {
            search.run(hub as u32, node)?;
        }
        Some(Self {
            labels: search.labels,
        })
    }

    /// Returns the label of a node, sorted by hub.
    #[must_use]
    pub fn label(&self, node: u32) -> &[HubDistance] {
        &self.labels[node as usize]
    }

    /// Returns the number of links on a shortest path between two nodes, or `None` if there is no path.
    #[must_use]
    pub fn distance(&self, a: u32, b: u32) -> Option<u32> {
        let mut left = self.label(a);
        let mut right = self.label(b);
        let mut best: Option<u32> = None;
        while let (Some(x), Some(y)) = (left.first(), right.first()) {
            if x.hub == y.hub {
                let through = x.distance + y.distance;
                best = Some(match best {
                    Some(best) => best.min(through),
                    None => through,
                });
            }
            left = &left[usize::from(x.hub <= y.hub)..];
            right = &right[usize::from(y.hub <= x.hub)..];
        }
        best
    }

    /// Returns the nodes of a shortest path from a node to a hub of its label, including both ends.
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

struct Search<G, M> {
    graph: G,
    labels: Vec<Vec<HubDistance>>,
    /// Distance of each hub from the start of the present search.
    to_hub: Vec<u32>,
    /// Last search that visited each node.
    seen: Vec<u32>,
    try_spend: M,
}

impl<G: UndirectedGraph, M: FnMut(u64) -> bool> Search<G, M> {
    fn run(&mut self, hub: u32, root: u32) -> Option<()> {
        for entry in &self.labels[root as usize] {
            self.to_hub[entry.hub as usize] = entry.distance;
        }
        let mut queue = vec![(root, 0, root)];
        self.seen[root as usize] = hub;
        let mut next = 0;
        while let Some(&(node, distance, towards)) = queue.get(next) {
            next += 1;
            let label = &self.labels[node as usize];
            if !(self.try_spend)(1 + label.len() as u64) {
                return None;
            }
            // An earlier hub covers the pair with a path that is not longer.
            let is_pruned = label.iter().any(|entry| {
                self.to_hub[entry.hub as usize].saturating_add(entry.distance) <= distance
            });
            if is_pruned {
                continue;
            }
            self.labels[node as usize].push(HubDistance {
                hub,
                distance,
                towards,
            });
            if !(self.try_spend)(self.graph.link_count(node)) {
                return None;
            }
            for neighbour in self.graph.neighbour_numbers(node) {
                if std::mem::replace(&mut self.seen[neighbour as usize], hub) != hub {
                    queue.push((neighbour, distance + 1, node));
                }
            }
        }
        // Only the entries of this search: the table is as long as the graph.
        for place in 0..self.labels[root as usize].len() {
            self.to_hub[self.labels[root as usize][place].hub as usize] = u32::MAX;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::LinkGraph;
    use super::*;
    use petgraph::visit::NodeCount;
    use proptest::prelude::*;

    fn by_search(graph: &LinkGraph, from: u32) -> Vec<Option<u32>> {
        let mut distances = vec![None; graph.node_count()];
        distances[from as usize] = Some(0);
        let mut queue = std::collections::VecDeque::from([from as usize]);
        while let Some(node) = queue.pop_front() {
            for neighbour in graph
                .neighbours(node as u32)
                .iter()
                .map(|&node| node as usize)
            {
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
            let labels = HubLabels::new(&graph, &nodes, |_| true).expect("no bound");
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
        assert!(HubLabels::new(&graph, &[0, 1, 2], up_to(3)).is_none());
        assert!(HubLabels::new(&graph, &[0, 1, 2], up_to(100)).is_some());
    }
}
