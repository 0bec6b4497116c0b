//! Graph algorithms over numbered nodes, on petgraph. Nothing here knows RDF or SPARQL.

mod hub_labeling;
mod steiner;

pub use hub_labeling::{HubDistance, HubLabels};
pub use steiner::{GroupSteiner, Member, Tree, components, set_cover};

use petgraph::csr::Csr;

/// An undirected multigraph: parallel links count as often as they occur.
///
/// Stored as compressed sparse rows with both directions of every link, the multiplicity as its weight.
#[derive(Debug)]
pub struct LinkGraph {
    rows: Csr<(), u32>,
    nodes: usize,
    /// Links at each node, by multiplicity.
    degrees: Vec<u64>,
}

impl LinkGraph {
    /// The graph of `nodes` nodes with these links; a link of a node to itself is left out.
    #[must_use]
    pub fn new(nodes: usize, links: impl IntoIterator<Item = (u32, u32)>) -> Self {
        let mut directed: Vec<(u32, u32)> = Vec::new();
        for (a, b) in links.into_iter().filter(|(a, b)| a != b) {
            directed.extend([(a, b), (b, a)]);
        }
        directed.sort_unstable();
        let mut rows: Vec<(u32, u32, u32)> = Vec::with_capacity(directed.len());
        let mut degrees = vec![0; nodes];
        for (from, to) in directed {
            degrees[from as usize] += 1;
            match rows.last_mut() {
                Some(last) if (last.0, last.1) == (from, to) => last.2 += 1,
                _ => rows.push((from, to, 1)),
            }
        }
        // The rows are sorted and without repetition: all that the constructor can object to.
        let rows = Csr::from_sorted_edges(&rows).unwrap_or_default();
        Self { rows, nodes, degrees }
    }

    /// The number of nodes.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.nodes
    }

    /// The number of links at a node.
    #[must_use]
    pub fn degree(&self, node: u32) -> u64 {
        self.degrees[node as usize]
    }

    fn row(&self, node: usize) -> impl Iterator<Item = (usize, u32)> + '_ {
        let known = node < self.rows.node_count();
        let (neighbours, weights) = if known {
            (self.rows.neighbors_slice(node as u32), self.rows.edges_slice(node as u32))
        } else {
            (&[][..], &[][..])
        };
        neighbours.iter().map(|&n| n as usize).zip(weights.iter().copied())
    }
}

/// How PageRank is computed.
#[derive(Clone, Copy, Debug)]
pub struct PageRank {
    /// The probability of following a link. Default 0.85.
    pub damping: f64,
    /// Rounds at most. Default 100.
    pub iterations: usize,
    /// The largest change of a score at which the rounds end. Default 0.0001.
    pub tolerance: f64,
}

impl Default for PageRank {
    /// JGraphT's defaults, with which the published IlluSnip was computed.
    fn default() -> Self {
        Self { damping: 0.85, iterations: 100, tolerance: 1e-4 }
    }
}

impl PageRank {
    /// The score of every node; they sum to 1. Nodes without links share their score among all.
    ///
    /// ```
    /// use lodeseek::graph::{LinkGraph, PageRank};
    /// let star = LinkGraph::new(4, [(0, 1), (0, 2), (0, 3)]);
    /// let scores = PageRank::default().scores(&star);
    /// assert!(scores[0] > scores[1] && (scores.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    /// ```
    #[must_use]
    pub fn scores(&self, graph: &LinkGraph) -> Vec<f64> {
        let count = graph.node_count() as f64;
        let mut scores = vec![1.0 / count; graph.node_count()];
        let mut next = scores.clone();
        for _ in 0..self.iterations {
            let follows = |node: usize| if graph.degrees[node] > 0 { 1.0 - self.damping } else { 1.0 };
            let shared: f64 = scores.iter().enumerate().map(|(node, score)| follows(node) * score).sum::<f64>() / count;
            let mut change = 0.0_f64;
            for (node, target) in next.iter_mut().enumerate() {
                let incoming: f64 = graph
                    .row(node)
                    .map(|(from, weight)| scores[from] * f64::from(weight) / graph.degrees[from] as f64)
                    .sum();
                *target = shared + self.damping * incoming;
                change = change.max((*target - scores[node]).abs());
            }
            std::mem::swap(&mut scores, &mut next);
            if change <= self.tolerance {
                break;
            }
        }
        scores
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against the dense matrix, iterated to rest.
        #[test]
        fn page_rank_is_that_of_the_matrix(links in proptest::collection::vec((0u32..7, 0u32..7), 0..20)) {
            let graph = LinkGraph::new(7, links.iter().copied());
            let exact = PageRank { tolerance: 1e-13, iterations: 2000, ..PageRank::default() }.scores(&graph);
            let mut weights = [[0.0_f64; 7]; 7];
            for &(a, b) in links.iter().filter(|(a, b)| a != b) {
                weights[a as usize][b as usize] += 1.0;
                weights[b as usize][a as usize] += 1.0;
            }
            let degree: Vec<f64> = weights.iter().map(|row| row.iter().sum()).collect();
            let mut scores = [1.0 / 7.0; 7];
            for _ in 0..2000 {
                let mut next = [0.0; 7];
                for from in 0..7 {
                    for to in 0..7 {
                        let step = if degree[from] > 0.0 { 0.85 * weights[from][to] / degree[from] + 0.15 / 7.0 } else { 1.0 / 7.0 };
                        next[to] += scores[from] * step;
                    }
                }
                scores = next;
            }
            for node in 0..7 {
                prop_assert!((exact[node] - scores[node]).abs() < 1e-9);
                prop_assert_eq!(graph.degree(node as u32) as f64, degree[node]);
            }
        }
    }

    #[test]
    fn no_nodes_no_scores() {
        assert!(PageRank::default().scores(&LinkGraph::new(0, [])).is_empty());
    }
}
