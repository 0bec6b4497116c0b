//! Graphs and graph algorithms, independent of RDF, over the traits of petgraph.
//!
//! | | of this crate | of petgraph |
//! |---|---|---|
//! | graph | [`LinkGraph`]: compressed rows, 8 bytes a link | `UnGraph` and others, 16 bytes a link without weights |
//! | traits | implemented for `&LinkGraph` | `petgraph::visit` |
//! | algorithms | [`PageRank`], [`HubLabels`], [`GroupSteiner`], [`components`], [`set_cover`] | `petgraph::algo`, `UnionFind` |
//!
//! All algorithms here that read a graph accept any undirected graph of petgraph whose nodes are numbered without holes
//! ([`UndirectedGraph`]). All algorithms of petgraph that its traits permit run on a [`LinkGraph`]: shortest paths,
//! components, bridges, spanning trees and others.
//!
//! PageRank is not petgraph's: that one compares all pairs of nodes in each iteration, counts parallel links once, and
//! gives linked nodes no share of the random jumps. Its `steiner_tree` connects single nodes instead of groups.
//!
//! The traits cost nothing: with them, hub labels, PageRank and components of a [`LinkGraph`] execute 1.001, 1.000 and 1.013 times the
//! instructions of the same functions without them (callgrind, 3,000 nodes and 12,000 links). The rows are what makes them fast:
//! `UnGraph` keeps the links of a node as a linked list (`cargo bench -p lodeseek-snippet --bench graph`).

mod hub_labeling;
mod steiner;
mod visit;

pub use hub_labeling::{HubDistance, HubLabels};
pub use steiner::{GroupSteiner, Member, Tree, components, set_cover};
pub use visit::{LinkId, LinkRef, Links, NodeLinks};

use petgraph::Undirected;
use petgraph::visit::{GraphProp, IntoNeighbors, NodeCompactIndexable};

/// Undirected graph of petgraph whose nodes are numbered without holes, such as `&LinkGraph` and `&UnGraph`.
///
/// It must have fewer than 2³² nodes. A node occurs once among the neighbours of another for each parallel link.
pub trait UndirectedGraph:
    IntoNeighbors + NodeCompactIndexable + GraphProp<EdgeType = Undirected>
{
    /// Returns the numbers of the other ends of the links at a node, once for each link.
    fn neighbour_numbers(self, node: u32) -> impl Iterator<Item = u32> {
        self.neighbors(self.from_index(node as usize))
            .map(move |neighbour| self.to_index(neighbour) as u32)
    }

    /// Returns the number of links at a node.
    fn link_count(self, node: u32) -> u64 {
        self.neighbors(self.from_index(node as usize)).count() as u64
    }
}

impl<G: IntoNeighbors + NodeCompactIndexable + GraphProp<EdgeType = Undirected>> UndirectedGraph
    for G
{
}

/// Undirected multigraph: parallel links count as often as they occur.
///
/// Stored as compressed sparse rows with both directions of every link. Construction takes O(nodes + links) time.
/// Memory is four bytes for each node and eight for each link. A reference to it is a graph of petgraph:
///
/// ```
/// use lodeseek_snippet::graph::LinkGraph;
/// use petgraph::algo::{connected_components, dijkstra};
/// let graph = LinkGraph::new(4, [(0, 1), (1, 2)]);
/// assert_eq!(connected_components(&graph), 2);
/// assert_eq!(dijkstra(&graph, 0, Some(2), |_| 1).get(&2), Some(&2));
/// ```
#[derive(Debug)]
pub struct LinkGraph {
    /// The row of a node is `targets[offsets[node]..offsets[node + 1]]`.
    offsets: Vec<u32>,
    targets: Vec<u32>,
}

impl LinkGraph {
    /// Creates the graph of `nodes` nodes with these links. Self-loops are ignored.
    #[must_use]
    pub fn new(nodes: usize, links: impl IntoIterator<Item = (u32, u32), IntoIter: Clone>) -> Self {
        let links = links.into_iter().filter(|(a, b)| a != b);
        let mut offsets = vec![0u32; nodes + 1];
        for (a, b) in links.clone() {
            offsets[a as usize + 1] += 1;
            offsets[b as usize + 1] += 1;
        }
        for node in 0..nodes {
            offsets[node + 1] += offsets[node];
        }
        let mut next = offsets.clone();
        let mut targets = vec![0u32; offsets[nodes] as usize];
        for (a, b) in links {
            for (from, to) in [(a, b), (b, a)] {
                let slot = &mut next[from as usize];
                targets[*slot as usize] = to;
                *slot += 1;
            }
        }
        Self { offsets, targets }
    }

    /// Returns the other ends of the links at a node, once for each link.
    #[must_use]
    pub fn neighbours(&self, node: u32) -> &[u32] {
        let node = node as usize;
        &self.targets[self.offsets[node] as usize..self.offsets[node + 1] as usize]
    }
}

/// Parameters of PageRank.
#[derive(Clone, Copy, Debug)]
pub struct PageRank {
    /// Probability of following a link. Default: 0.85.
    pub damping: f64,
    /// Maximum number of iterations. Default: 100.
    pub iterations: usize,
    /// Largest change of a score at which the iteration ends. Default: 0.0001.
    pub tolerance: f64,
}

impl Default for PageRank {
    /// Returns JGraphT's defaults, which the published IlluSnip used.
    fn default() -> Self {
        Self {
            damping: 0.85,
            iterations: 100,
            tolerance: 1e-4,
        }
    }
}

impl PageRank {
    /// Returns the score of every node. The scores sum to 1. Nodes without links distribute their score over all nodes.
    /// An iteration takes O(nodes + links) time.
    ///
    /// ```
    /// use lodeseek_snippet::graph::{LinkGraph, PageRank};
    /// let star = LinkGraph::new(4, [(0, 1), (0, 2), (0, 3)]);
    /// let scores = PageRank::default().scores(&star);
    /// assert!(scores[0] > scores[1] && (scores.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    /// ```
    #[must_use]
    pub fn scores(&self, graph: impl UndirectedGraph) -> Vec<f64> {
        let count = graph.node_count() as f64;
        let nodes = 0..graph.node_count() as u32;
        let mut scores = vec![1.0 / count; graph.node_count()];
        // Score that each node gives to each of its links in this iteration.
        let mut link_scores = vec![0.0; graph.node_count()];
        for _ in 0..self.iterations {
            let mut shared = 0.0;
            for (node, score) in nodes.clone().zip(&scores) {
                let degree = graph.link_count(node);
                shared += if degree > 0 { 1.0 - self.damping } else { 1.0 } * score;
                link_scores[node as usize] = if degree > 0 {
                    score / degree as f64
                } else {
                    0.0
                };
            }
            let mut change = 0.0_f64;
            for (node, score) in nodes.clone().zip(&mut scores) {
                let incoming: f64 = graph
                    .neighbour_numbers(node)
                    .map(|from| link_scores[from as usize])
                    .sum();
                let next = shared / count + self.damping * incoming;
                change = change.max((next - *score).abs());
                *score = next;
            }
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
        /// Compares with the dense matrix, iterated until convergence.
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
                prop_assert_eq!((&graph).link_count(node as u32) as f64, degree[node]);
            }
        }
    }

    #[test]
    fn no_nodes_no_scores() {
        assert!(
            PageRank::default()
                .scores(&LinkGraph::new(0, []))
                .is_empty()
        );
    }
}
