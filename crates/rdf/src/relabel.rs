//! Renaming of blank nodes, also in triple terms.

use oxrdf::{BlankNode, NamedOrBlankNode, Term, Triple};

/// Replaces the blank nodes of a triple.
///
/// ```
/// use oxrdf::{BlankNode, NamedNode, Triple};
///
/// let node = BlankNode::new("a")?;
/// let inner = Triple::new(node.clone(), NamedNode::new("ex:p")?, node);
/// let triple = Triple::new(NamedNode::new("ex:s")?, NamedNode::new("ex:q")?, inner);
/// let renamed = lodeseek_rdf::relabel_triple(triple, &mut |_| BlankNode::new_unchecked("b"));
/// assert_eq!(renamed.to_string(), "<ex:s> <ex:q> <<( _:b <ex:p> _:b )>>");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn relabel_triple(triple: Triple, label: &mut dyn FnMut(BlankNode) -> BlankNode) -> Triple {
    let subject = match triple.subject {
        NamedOrBlankNode::BlankNode(node) => label(node).into(),
        subject @ NamedOrBlankNode::NamedNode(_) => subject,
    };
    Triple {
        subject,
        predicate: triple.predicate,
        object: relabel_term(triple.object, label),
    }
}

/// Replaces the blank nodes of a term.
#[must_use]
pub fn relabel_term(term: Term, label: &mut dyn FnMut(BlankNode) -> BlankNode) -> Term {
    match term {
        Term::BlankNode(node) => label(node).into(),
        Term::Triple(triple) => relabel_triple(*triple, label).into(),
        term @ (Term::NamedNode(_) | Term::Literal(_)) => term,
    }
}
