//! Triple terms in RDF 1.1: the basic encoding of *RDF 1.2 Interoperability*. <https://www.w3.org/TR/rdf12-interop/>
//!
//! Each distinct triple term becomes a blank node of the class `rdf:TripleTerm`, described by `rdf:ttSubject`,
//! `rdf:ttPredicate` and `rdf:ttObject`. Two graphs are isomorphic if and only if their encodings are.

use super::vocab::rdf;
use super::{TripleGraph, TripleGraphBuilder};
use oxrdf::{BlankNode, NamedNode, Term, Triple};
use sha2::{Digest, Sha256};

/// Prefix of the labels of blank nodes that stand for triple terms. All other blank nodes have numbers as labels.
const LABEL: &str = "tripleTerm";

/// Passes a triple without triple terms, and the descriptions of its triple terms, to `add`.
///
/// The label of a triple term depends on the triple term only. It is described for each triple that it occurs in.
pub(crate) fn encode<E>(
    triple: Triple,
    add: &mut impl FnMut(Triple) -> Result<(), E>,
) -> Result<(), E> {
    let object = match triple.object {
        Term::Triple(inner) => {
            let node = node(&inner);
            let class = NamedNode::new_unchecked(rdf::TRIPLE_TERM);
            add(describe_node(&node, rdf::TYPE, class))?;
            add(describe_node(&node, rdf::TT_SUBJECT, inner.subject))?;
            add(describe_node(&node, rdf::TT_PREDICATE, inner.predicate))?;
            encode(describe_node(&node, rdf::TT_OBJECT, inner.object), add)?;
            node.into()
        }
        other => other,
    };
    add(Triple { object, ..triple })
}

fn describe_node(node: &BlankNode, property: &str, object: impl Into<Term>) -> Triple {
    Triple::new(node.clone(), NamedNode::new_unchecked(property), object)
}

/// Returns the blank node that stands for a triple term.
pub(crate) fn node(triple: &Triple) -> BlankNode {
    hashed_blank_node(LABEL, triple)
}

/// Returns the encoding of a graph.
pub(crate) fn encode_graph(graph: &TripleGraph) -> TripleGraph {
    let mut builder = TripleGraphBuilder::new();
    for triple in graph.triples() {
        let Ok(()) = encode(graph.to_triple(*triple), &mut |triple: Triple| {
            builder.insert(&triple);
            Ok::<_, std::convert::Infallible>(())
        });
    }
    builder.finish()
}

/// Returns a blank node whose label is a hash of a triple.
pub(crate) fn hashed_blank_node(prefix: &str, triple: &Triple) -> BlankNode {
    let digest = Sha256::digest(triple.to_string().as_bytes());
    let hex: String = digest
        .iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    BlankNode::new_unchecked(format!("{prefix}{hex}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dump::DumpReader;

    #[test]
    fn equal_triple_terms_are_one_node() {
        let turtle = "PREFIX : <http://e/> :a :p <<( :s :q <<( :s :r _:x )>> )>> . :b :p <<( :s :r _:x )>> , <<( :s :r _:y )>> .";
        let mut builder = TripleGraphBuilder::new();
        DumpReader::default().read(turtle.as_bytes(), "a.ttl", "http://e/", &mut builder);
        let graph = builder.finish();
        assert_eq!((graph.len(), graph.triple_terms().count()), (3, 3));
        let encoded = encode_graph(&graph);
        let blanks = encoded.blank_nodes();
        assert_eq!(
            (
                encoded.len(),
                encoded.triple_terms().count(),
                blanks.end.0 - blanks.start.0
            ),
            (15, 0, 5)
        );
    }
}
