#![doc = include_str!("../README.md")]

pub mod graph;

#[cfg(test)]
mod conformance;
mod drawing;
mod illusnip;
pub mod keyword;
mod method;
pub mod metrics;
pub mod pcsg;
mod provenance;
mod rows;
pub mod sample;

pub use drawing::{draw, draw_document, escape_xml, truncate_label};
pub use illusnip::{IlluSnip, Starts, rank_triples};
pub use method::{Method, MethodError, MethodOptions};
pub use pcsg::{
    IsolatedEntities, PatternRepresentatives, PatternShares, Pcsg, PcsgOptions,
    RepresentativeOptions,
};
pub use provenance::Provenance;
pub use rows::{RowBudget, RowCriteria, RowKeywords, TableColumn, TableRow, TableRows};

use lodeseek_profile::Profile;
use lodeseek_rdf::{Labels, LiteralKind, NO_LABEL, TermId, TermRef, Triple, TripleGraph};
use serde::{Deserialize, Serialize};

/// Maximum number of triples of a snippet. Default: 20.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TripleBudget(pub usize);

impl Default for TripleBudget {
    /// Returns 20, the budget of the papers' evaluations.
    fn default() -> Self {
        Self(20)
    }
}

/// Subset of a dataset's triples, in the order in which they were chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Snippet {
    /// Chosen triples.
    pub triples: Vec<Triple>,
    /// Value of the method's objective function for these triples.
    pub gain: f64,
    /// If true, a work bound or a deadline ended the search before all possibilities were tried. The budget of triples is no such
    /// bound.
    pub interrupted: bool,
}

/// End of a search, checked with a callback. Library code reads no clock; the caller does, in the callback.
///
/// ```
/// use lodeseek_snippet::Deadline;
/// use std::time::{Duration, Instant};
/// let started = Instant::now();
/// assert!(!Deadline::new(&|| started.elapsed() >= Duration::from_secs(3600)).has_passed());
/// assert!(!Deadline::never().has_passed());
/// ```
#[derive(Clone, Copy, Default)]
pub struct Deadline<'h>(Option<&'h (dyn Fn() -> bool + Sync)>);

impl<'h> Deadline<'h> {
    /// Returns a deadline that never passes.
    #[must_use]
    pub const fn never() -> Self {
        Self(None)
    }

    /// Creates a deadline that has passed as soon as the callback returns true.
    #[must_use]
    pub const fn new(passed: &'h (dyn Fn() -> bool + Sync)) -> Self {
        Self(Some(passed))
    }

    /// Returns true if the deadline has passed. Calls the callback.
    #[must_use]
    pub fn has_passed(&self) -> bool {
        self.0.is_some_and(|has_passed| has_passed())
    }
}

/// Method that chooses the triples of a snippet.
pub trait SnippetExtractor {
    /// Returns the name of the method and its variant, as recorded with the snippet.
    fn name(&self) -> &'static str;

    /// Returns at most `budget` triples of `graph`. `profile` must be the profile of `graph`.
    ///
    /// Extraction is deterministic: the same arguments give the same snippet.
    fn extract(&self, graph: &TripleGraph, profile: &Profile, budget: TripleBudget) -> Snippet;
}

/// Term with a human-readable label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelledTerm {
    /// Kind of the term; serialized as `iri`, `blank`, `literal` or `triple`.
    #[serde(rename = "type")]
    pub kind: TermKind,
    /// IRI, blank node label, lexical form, or triple term in N-Triples; of a longer text 10,000 characters and an ellipsis.
    pub value: String,
    /// Human-readable label.
    pub label: String,
    /// Language tag of a literal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// Datatype IRI of a literal that is not a plain string.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub datatype: Option<String>,
    /// Base direction of a literal: `ltr` or `rtl`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<String>,
    /// Subject, predicate and object of a triple term.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub triple: Option<Box<LabelledTriple>>,
}

impl LabelledTerm {
    /// Returns true if the value is only the beginning of the text. That of a triple term does not count, but those of its parts do.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        match &self.triple {
            Some(triple) => triple.is_cut(),
            None => self.value.chars().nth(MAX_TEXT_CHARACTERS).is_some(),
        }
    }

    /// Returns true if the term is a literal.
    #[must_use]
    pub fn is_literal(&self) -> bool {
        self.kind == TermKind::Literal
    }

    /// Returns true if the term is an IRI or a blank node.
    #[must_use]
    pub fn is_resource(&self) -> bool {
        matches!(self.kind, TermKind::Iri | TermKind::Blank)
    }

    /// Creates a triple term, labelled by the labels of its parts. `value` is its form in N-Triples.
    #[must_use]
    pub fn from_triple(triple: LabelledTriple, value: String) -> Self {
        let LabelledTriple {
            subject,
            predicate,
            object,
        } = &triple;
        Self {
            kind: TermKind::Triple,
            value,
            label: truncate_text(&format!(
                "<<( {} {} {} )>>",
                subject.label, predicate.label, object.label
            )),
            language: None,
            datatype: None,
            direction: None,
            triple: Some(Box::new(triple)),
        }
    }
}

/// Kind of a [`LabelledTerm`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "self-explanatory names")]
pub enum TermKind {
    Iri,
    Blank,
    Literal,
    Triple,
}

/// Triple of labelled terms.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "self-explanatory names")]
pub struct LabelledTriple {
    pub subject: LabelledTerm,
    pub predicate: LabelledTerm,
    pub object: LabelledTerm,
}

impl LabelledTriple {
    /// Returns true if the value of a term is only the beginning of its text.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        [&self.subject, &self.predicate, &self.object]
            .into_iter()
            .any(LabelledTerm::is_cut)
    }
}

/// Maximum number of characters of a shown text.
const MAX_TEXT_CHARACTERS: usize = 10_000;

/// Truncates a text to 10,000 characters, followed by an ellipsis.
#[must_use]
pub fn truncate_text(text: &str) -> String {
    match text.char_indices().nth(MAX_TEXT_CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns the links between entities with their positions: the triples with a resource as object, except those of `kind`, the term
/// of `rdf:type`.
fn find_links(
    graph: &TripleGraph,
    kind: Option<TermId>,
) -> impl Iterator<Item = (usize, &Triple)> + Clone {
    graph
        .triples()
        .iter()
        .enumerate()
        .filter(move |(_, triple)| {
            Some(triple.predicate) != kind && graph.is_resource(triple.object)
        })
}

/// Adds labels to the terms of a triple. Long texts are cut by [`truncate_text`].
#[must_use]
pub fn label_triple(graph: &TripleGraph, labels: &Labels<'_>, triple: Triple) -> LabelledTriple {
    LabelledTriple {
        subject: label_term(graph, labels, triple.subject),
        predicate: label_term(graph, labels, triple.predicate),
        object: label_term(graph, labels, triple.object),
    }
}

fn label_term(graph: &TripleGraph, labels: &Labels<'_>, id: TermId) -> LabelledTerm {
    let term = graph.term(id);
    let (kind, literal) = match term {
        TermRef::Iri(_) => (TermKind::Iri, None),
        TermRef::Blank(_) => (TermKind::Blank, None),
        TermRef::Literal { kind, .. } => (TermKind::Literal, Some(kind)),
        TermRef::Triple(triple) => {
            let value = truncate_text(&graph.to_term(id).to_string());
            return LabelledTerm::from_triple(label_triple(graph, labels, triple), value);
        }
    };
    let datatype = match literal {
        Some(LiteralKind::Datatype(iri)) => Some(iri.to_owned()),
        _ => None,
    };
    let label = match labels.label(id) {
        Some(label) => truncate_text(&label),
        None => NO_LABEL.to_owned(),
    };
    LabelledTerm {
        kind,
        value: truncate_text(term.text()),
        label,
        language: term.language().map(str::to_owned),
        datatype,
        direction: literal
            .and_then(LiteralKind::direction)
            .map(|direction| direction.to_string()),
        triple: None,
    }
}
