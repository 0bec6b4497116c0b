//! What a graph is, whatever its syntax, its order and the labels of its blank nodes: the SHA-256 of its canonical N-Quads
//! by RDF Dataset Canonicalization, RDFC-1.0. <https://www.w3.org/TR/rdf-canon/>
//!
//! Labels depend on nothing but the triples with blank nodes, so Sophia is given those alone, and a graph without any is
//! only sorted: terms as their lines have them, then triples, which are hashed line by line and never held as text.
//!
//! Canonical labels can cost exponential time, and there are graphs made for it
//! (<https://www.w3.org/TR/rdf-canon/#dataset-poisoning>). Beyond [`MAX_BLANK_TRIPLES`], or what [`labels`] may spend, a graph
//! has no fingerprint here.

mod labels;
mod lines;

use super::{Triple, TripleGraph};
use lines::CanonicalLines;
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// Triples with blank nodes of a graph that has a fingerprint: Sophia takes some 300 bytes for each.
const MAX_BLANK_TRIPLES: usize = 1_000_000;

/// Why a graph has no fingerprint.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CanonicalizationError {
    /// More triples with blank nodes than are looked at.
    #[error("{0} triples have blank nodes, and {MAX_BLANK_TRIPLES} are looked at")]
    TooLarge(usize),
    /// Its blank nodes cannot be told apart within the limits.
    #[error("its blank nodes are too much alike: {0}")]
    TooComplex(String),
}

/// The SHA-256 of a graph's canonical N-Quads (RDFC-1.0), in hexadecimal digits.
///
/// ```
/// use lodeseek_rdf::{TripleGraphBuilder, canonical_fingerprint};
/// use oxrdf::{BlankNodeRef, NamedNodeRef, TripleRef};
///
/// let fingerprint = |labels: [&str; 2]| {
///     let [one, other] = labels.map(BlankNodeRef::new_unchecked);
///     let mut builder = TripleGraphBuilder::new();
///     builder.insert(TripleRef::new(one, NamedNodeRef::new_unchecked("ex:p"), other));
///     canonical_fingerprint(&builder.finish())
/// };
/// assert_eq!(fingerprint(["a", "b"])?, fingerprint(["b", "a"])?);
/// assert_ne!(fingerprint(["a", "b"])?, fingerprint(["a", "a"])?);
/// # Ok::<_, lodeseek_rdf::CanonicalizationError>(())
/// ```
pub fn canonical_fingerprint(graph: &TripleGraph) -> Result<String, CanonicalizationError> {
    let blanks = graph.blank_nodes();
    let is_with = |triple: &&Triple| blanks.contains(&triple.subject) || blanks.contains(&triple.object);
    let with_blanks: Vec<Triple> = graph.triples().iter().filter(is_with).copied().collect();
    if with_blanks.len() > MAX_BLANK_TRIPLES {
        return Err(CanonicalizationError::TooLarge(with_blanks.len()));
    }
    let labels = labels::canonical(graph, &with_blanks)?;
    let mut hash = Sha256::new();
    CanonicalLines::new(graph, labels).each(|line| hash.update(line.as_bytes()));
    Ok(hash.finalize().iter().fold(String::new(), |mut digits, byte| {
        let _ = write!(digits, "{byte:02x}"); // to a string it cannot fail
        digits
    }))
}

#[cfg(test)]
mod tests;
