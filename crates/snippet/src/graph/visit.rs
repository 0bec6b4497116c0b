//! The visit traits of petgraph for [`LinkGraph`], so that petgraph's algorithms run on it.
//!
//! Nodes and links have the weight `()`. The identifier of a link has its two ends and its place among parallel links. It
//! is computed on request, in the time of a row.

use super::LinkGraph;
use petgraph::graph::UnGraph;
use petgraph::visit::{
    Data, EdgeCount, EdgeRef, GraphBase, GraphProp, IntoEdgeReferences, IntoEdges, IntoNeighbors,
    IntoNeighborsDirected, IntoNodeIdentifiers, IntoNodeReferences, NodeCompactIndexable,
    NodeCount, NodeIndexable, Visitable,
};
use petgraph::{Direction, Undirected};
use std::iter::{Copied, Repeat, Zip};
use std::ops::Range;
use std::{fmt, iter, slice};

/// Identifier of a link, the same from both ends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LinkId {
    /// Ends, the smaller first.
    ends: (u32, u32),
    /// Number of earlier links between the same ends.
    parallel: u32,
}

/// Link, seen from one of its ends.
#[derive(Clone, Copy)]
pub struct LinkRef<'g> {
    graph: &'g LinkGraph,
    source: u32,
    /// Position in the row of the source.
    place: u32,
}

impl fmt::Debug for LinkRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LinkRef")
            .field(&self.source())
            .field(&self.target())
            .finish()
    }
}

impl EdgeRef for LinkRef<'_> {
    type NodeId = u32;
    type EdgeId = LinkId;
    type Weight = ();

    fn source(&self) -> u32 {
        self.source
    }

    fn target(&self) -> u32 {
        self.graph.neighbours(self.source)[self.place as usize]
    }

    fn weight(&self) -> &() {
        &()
    }

    /// Returns the identifier. Both rows contain parallel links in the order of construction.
    fn id(&self) -> LinkId {
        let (source, target) = (self.source, self.target());
        let earlier = &self.graph.neighbours(source)[..self.place as usize];
        let parallel = earlier.iter().filter(|&&other| other == target).count() as u32;
        LinkId {
            ends: (source.min(target), source.max(target)),
            parallel,
        }
    }
}

/// Links at one node.
#[derive(Clone, Debug)]
pub struct NodeLinks<'g> {
    graph: &'g LinkGraph,
    source: u32,
    places: Range<u32>,
}

impl<'g> Iterator for NodeLinks<'g> {
    type Item = LinkRef<'g>;

    fn next(&mut self) -> Option<LinkRef<'g>> {
        let place = self.places.next()?;
        Some(LinkRef {
            graph: self.graph,
            source: self.source,
            place,
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.places.size_hint()
    }
}

/// All links, each from its smaller end.
#[derive(Clone, Debug)]
pub struct Links<'g> {
    nodes: Range<u32>,
    row: NodeLinks<'g>,
}

impl<'g> Iterator for Links<'g> {
    type Item = LinkRef<'g>;

    fn next(&mut self) -> Option<LinkRef<'g>> {
        loop {
            if let Some(link) = self.row.find(|link| link.source < link.target()) {
                return Some(link);
            }
            self.row = self.row.graph.edges(self.nodes.next()?);
        }
    }
}

impl GraphBase for LinkGraph {
    type NodeId = u32;
    type EdgeId = LinkId;
}

impl Data for LinkGraph {
    type NodeWeight = ();
    type EdgeWeight = ();
}

impl GraphProp for LinkGraph {
    type EdgeType = Undirected;
}

impl NodeCount for LinkGraph {
    fn node_count(&self) -> usize {
        self.offsets.len() - 1
    }
}

impl EdgeCount for LinkGraph {
    fn edge_count(&self) -> usize {
        // Each link is in the rows of both ends.
        self.targets.len() / 2
    }
}

impl NodeIndexable for LinkGraph {
    fn node_bound(&self) -> usize {
        self.node_count()
    }

    fn to_index(&self, node: u32) -> usize {
        node as usize
    }

    fn from_index(&self, index: usize) -> u32 {
        index as u32
    }
}

impl NodeCompactIndexable for LinkGraph {}

/// Set of nodes: that of petgraph's own graphs.
type VisitedNodes = <UnGraph<(), ()> as Visitable>::Map;

impl Visitable for LinkGraph {
    type Map = VisitedNodes;

    fn visit_map(&self) -> VisitedNodes {
        VisitedNodes::with_capacity(self.node_count())
    }

    fn reset_map(&self, visited: &mut VisitedNodes) {
        visited.clear();
        visited.grow(self.node_count());
    }
}

impl<'g> IntoNeighbors for &'g LinkGraph {
    type Neighbors = Copied<slice::Iter<'g, u32>>;

    fn neighbors(self, node: u32) -> Self::Neighbors {
        self.neighbours(node).iter().copied()
    }
}

impl<'g> IntoNeighborsDirected for &'g LinkGraph {
    type NeighborsDirected = Copied<slice::Iter<'g, u32>>;

    fn neighbors_directed(self, node: u32, _direction: Direction) -> Self::NeighborsDirected {
        self.neighbors(node)
    }
}

impl IntoNodeIdentifiers for &LinkGraph {
    type NodeIdentifiers = Range<u32>;

    fn node_identifiers(self) -> Range<u32> {
        0..self.node_count() as u32
    }
}

impl IntoNodeReferences for &LinkGraph {
    type NodeRef = (u32, ());
    type NodeReferences = Zip<Range<u32>, Repeat<()>>;

    fn node_references(self) -> Self::NodeReferences {
        self.node_identifiers().zip(iter::repeat(()))
    }
}

impl<'g> IntoEdgeReferences for &'g LinkGraph {
    type EdgeRef = LinkRef<'g>;
    type EdgeReferences = Links<'g>;

    fn edge_references(self) -> Links<'g> {
        Links {
            nodes: self.node_identifiers(),
            row: NodeLinks {
                graph: self,
                source: 0,
                places: 0..0,
            },
        }
    }
}

impl<'g> IntoEdges for &'g LinkGraph {
    type Edges = NodeLinks<'g>;

    fn edges(self, node: u32) -> NodeLinks<'g> {
        NodeLinks {
            graph: self,
            source: node,
            places: 0..self.neighbours(node).len() as u32,
        }
    }
}

#[cfg(test)]
mod tests;
