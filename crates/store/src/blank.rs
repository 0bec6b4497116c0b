//! Blank nodes in the store.
//!
//! A [`TripleGraph`](lodeseek_rdf::TripleGraph) numbers its blank nodes `b0`, `b1`, …; the store identifies a blank
//! node by its label alone, across all graphs. A query with two `FROM` clauses would join two datasets that share a
//! label. The number is therefore combined with a hash of the graph's name. The result is one of oxrdf's numeric ids,
//! which the store keeps without a string.

use lodeseek_rdf::{relabel_term, relabel_triple};
use oxrdf::{BlankNode, NamedNode, Quad, Term, Triple};
use sha2::{Digest, Sha256};

/// Upper half of the ids of the blank nodes of a graph.
#[derive(Clone, Copy)]
pub(super) struct BlankNodeScope(u64);

impl BlankNodeScope {
    pub(super) fn from_graph(graph: &NamedNode) -> Self {
        let digest = Sha256::digest(graph.as_str().as_bytes());
        let hash = digest
            .iter()
            .take(8)
            .fold(0, |hash, &byte| hash << 8 | u64::from(byte));
        // A label that begins with a letter is also a name in RDF/XML.
        Self(hash & (u64::MAX >> 4) | 0xa << 60)
    }

    fn blank(self, node: BlankNode) -> BlankNode {
        let number: u64 = node
            .as_str()
            .strip_prefix('b')
            .and_then(|number| number.parse().ok())
            .unwrap_or_default();
        BlankNode::new_from_unique_id(u128::from(self.0) << 64 | u128::from(number))
    }

    /// Converts a term of the graph for the store.
    pub(super) fn term_to_store(self, term: Term) -> Term {
        relabel_term(term, &mut |node| self.blank(node))
    }

    /// Converts a triple of the graph for the store.
    pub(super) fn to_store(self, triple: Triple) -> Triple {
        relabel_triple(triple, &mut |node| self.blank(node))
    }
}

/// Converts a triple of the store to one of its graph.
pub(super) fn from_store(quad: Quad) -> Triple {
    let triple = Triple::new(quad.subject, quad.predicate, quad.object);
    relabel_triple(triple, &mut |node| match node.as_ref().unique_id() {
        // The lower half is the number of the node in its graph.
        Some(id) => BlankNode::new_unchecked(format!("b{}", id as u64)),
        None => node,
    })
}
