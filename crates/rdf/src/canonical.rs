//! Fingerprint of a graph: the SHA-256 of its canonical N-Quads by RDF Dataset Canonicalization (RDFC-1.0).
//! <https://www.w3.org/TR/rdf-canon/>
//!
//! The fingerprint is independent of syntax, order and blank node labels. Canonical labels depend only on the triples with
//! blank nodes, so only those are passed to Sophia. The lines are sorted and hashed one by one, never held as text.
//!
//! RDFC-1.0 has no triple terms. The fingerprint of a graph with triple terms is that of its
//! [basic encoding](super::basic_encoding).
//!
//! Canonical labels can take exponential time, and graphs can be built for this purpose
//! (<https://www.w3.org/TR/rdf-canon/#dataset-poisoning>). A graph above [`MAX_BLANK_TRIPLES`], or above the work budget of
//! [`labels`], has no fingerprint.

mod labels;
mod lines;

use super::{Triple, TripleGraph, basic_encoding};
use labels::LabelLimits;
use lines::CanonicalLines;
use sha2::{Digest, Sha256};

/// Maximum number of triples with blank nodes. Sophia needs about 300 bytes for each.
const MAX_BLANK_TRIPLES: usize = 1_000_000;

/// Reason why a graph has no fingerprint.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CanonicalizationError {
    /// Number of triples with blank nodes above the limit.
    #[error("{0} triples with blank nodes (limit {MAX_BLANK_TRIPLES})")]
    TooLarge(usize),
    /// Blank nodes that cannot be distinguished within the work budget.
    #[error("cannot label the blank nodes within the limits: {0}")]
    TooComplex(String),
}

/// Returns the SHA-256 of a graph's canonical N-Quads (RDFC-1.0), in hexadecimal digits.
///
/// ```
/// use lodeseek_rdf::{TripleGraphBuilder, canonical_fingerprint};
/// use oxrdf::{BlankNodeRef, NamedNodeRef, TripleRef};
///
/// let mut fingerprints = Vec::new();
/// for labels in [["a", "b"], ["b", "a"], ["a", "a"]] {
///     let [one, other] = labels.map(BlankNodeRef::new_unchecked);
///     let mut builder = TripleGraphBuilder::new();
///     builder.insert(TripleRef::new(one, NamedNodeRef::new_unchecked("ex:p"), other));
///     fingerprints.push(canonical_fingerprint(&builder.finish())?);
/// }
/// assert_eq!(fingerprints[0], fingerprints[1]);
/// assert_ne!(fingerprints[0], fingerprints[2]);
/// # Ok::<_, lodeseek_rdf::CanonicalizationError>(())
/// ```
pub fn canonical_fingerprint(graph: &TripleGraph) -> Result<String, CanonicalizationError> {
    if graph.triple_terms().next().is_none() {
        return fingerprint(graph, &LabelLimits::default());
    }
    fingerprint(
        &basic_encoding::encode_graph(graph),
        &LabelLimits::default(),
    )
}

fn fingerprint(graph: &TripleGraph, limits: &LabelLimits) -> Result<String, CanonicalizationError> {
    let blanks = graph.blank_nodes();
    let mut with_blanks: Vec<Triple> = Vec::new();
    for triple in graph.triples() {
        if blanks.contains(&triple.subject) || blanks.contains(&triple.object) {
            with_blanks.push(*triple);
        }
    }
    if with_blanks.len() > MAX_BLANK_TRIPLES {
        return Err(CanonicalizationError::TooLarge(with_blanks.len()));
    }
    let labels = labels::canonical(graph, &with_blanks, limits)?;
    let mut hash = Sha256::new();
    CanonicalLines::new(graph, labels).each(|line| hash.update(line.as_bytes()));
    Ok(hash
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect())
}

#[cfg(test)]
mod tests;
