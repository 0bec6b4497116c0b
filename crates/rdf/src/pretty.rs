//! Formatted Turtle by Sophia's pretty serializer: with prefixes, one block per subject, and nested blank nodes.

use super::vocab::PREFIXES;
use oxrdf::Triple;
use sophia::api::prefix::Prefix;
use sophia::api::prelude::{Iri, Stringifier, TripleSerializer};
use sophia::turtle::parser::nt;
use sophia::turtle::serializer::turtle::{TurtleConfig, TurtleSerializer};
use std::fmt::Write;

/// Error of the pretty serializer.
#[derive(Debug, thiserror::Error)]
#[error("cannot serialize the graph as Turtle: {0}")]
pub struct PrettyError(String);

/// Serializes triples as formatted Turtle, with those prefixes of [`PREFIXES`] that are used.
///
/// ```
/// use oxrdf::{NamedNode, Triple};
/// let [subject, label] = ["http://e.org/a", "http://www.w3.org/2000/01/rdf-schema#label"].map(NamedNode::new_unchecked);
/// let triple = Triple::new(subject, label, oxrdf::Literal::from("A"));
/// let turtle = lodeseek_rdf::to_pretty_turtle(&[triple])?;
/// assert!(turtle.contains("rdfs:label \"A\""));
/// # Ok::<_, lodeseek_rdf::PrettyError>(())
/// ```
pub fn to_pretty_turtle(triples: &[Triple]) -> Result<String, PrettyError> {
    // Sophia has terms of its own, and reads them from N-Triples.
    let mut lines = String::new();
    for triple in triples {
        // Writing to a string cannot fail.
        let _ = writeln!(lines, "{triple} .");
    }
    let prefixes = PREFIXES
        .iter()
        .filter(|(_, namespace)| lines.contains(&format!("<{namespace}")))
        .map(|(name, namespace)| {
            (
                Prefix::new_unchecked((*name).into()),
                Iri::new_unchecked((*namespace).into()),
            )
        })
        .collect();
    let config = TurtleConfig::new()
        .with_pretty(true)
        .with_own_prefix_map(prefixes);
    let mut serializer = TurtleSerializer::new_stringifier_with_config(config);
    serializer
        .serialize_triples(nt::parse_str(&lines))
        .map_err(|error| PrettyError(error.to_string()))?;
    Ok(serializer.to_string())
}
