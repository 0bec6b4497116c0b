//! Snippets: a few triples that say what a dataset is.

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
pub mod sample;

pub use drawing::{cut, draw, draw_file, escaped};
pub use illusnip::{IlluSnip, Starts};
pub use method::{Method, MethodError, MethodOptions};
pub use pcsg::{LoneEntities, PatternRepresentatives, PatternShares, Pcsg, PcsgOptions, RepresentativeOptions};
pub use provenance::Provenance;

use lodeseek_profile::Profile;
use lodeseek_rdf::{Labels, LiteralKind, TermId, TermRef, Triple, TripleGraph};
use serde::{Deserialize, Serialize};

/// The most triples a snippet may have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TripleBudget(pub usize);

impl Default for TripleBudget {
    /// Twenty, as in the papers' evaluations.
    fn default() -> Self {
        Self(20)
    }
}

/// A subset of a dataset's triples, in the order they were chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Snippet {
    /// The triples.
    pub triples: Vec<Triple>,
    /// What the method maximises, for these triples.
    pub gain: f64,
    /// Whether the search ended before every possibility was tried.
    pub interrupted: bool,
}

/// When a search must end. Stages read no clock: the caller does, in a hook.
///
/// ```
/// use lodeseek_snippet::Deadline;
/// use std::time::{Duration, Instant};
/// let started = Instant::now();
/// let passed = || started.elapsed() >= Duration::from_secs(3600);
/// assert!(!Deadline::when(&passed).has_passed() && !Deadline::never().has_passed());
/// ```
#[derive(Clone, Copy, Default)]
pub struct Deadline<'h>(Option<&'h (dyn Fn() -> bool + Sync)>);

impl<'h> Deadline<'h> {
    /// No deadline.
    #[must_use]
    pub const fn never() -> Self {
        Self(None)
    }

    /// Passed as soon as the hook says so.
    #[must_use]
    pub const fn when(passed: &'h (dyn Fn() -> bool + Sync)) -> Self {
        Self(Some(passed))
    }

    /// Asks the hook.
    #[must_use]
    pub fn has_passed(&self) -> bool {
        self.0.is_some_and(|passed| passed())
    }
}

/// A way to choose the triples.
pub trait SnippetExtractor {
    /// The method and its variant, as recorded with the snippet.
    fn name(&self) -> &'static str;

    /// At most `budget` triples of `graph`, whose profile is `profile`: the same on every run.
    fn extract(&self, graph: &TripleGraph, profile: &Profile, budget: TripleBudget) -> Snippet;
}

/// A term as shown to people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelledTerm {
    /// `iri`, `blank` or `literal`.
    #[serde(rename = "type")]
    pub kind: TermKind,
    /// The IRI, blank node label or lexical form.
    pub value: String,
    /// The human-readable form.
    pub label: String,
    /// The language of a literal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// The datatype of a literal other than a string.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub datatype: Option<String>,
}

impl LabelledTerm {
    /// Whether it is a literal.
    #[must_use]
    pub fn is_literal(&self) -> bool {
        self.kind == TermKind::Literal
    }
}

/// What kind of term a [`LabelledTerm`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum TermKind {
    Iri,
    Blank,
    Literal,
}

/// A triple as shown to people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct LabelledTriple {
    pub subject: LabelledTerm,
    pub predicate: LabelledTerm,
    pub object: LabelledTerm,
}

/// Labels a triple.
#[must_use]
pub fn labelled(graph: &TripleGraph, labels: &Labels<'_>, triple: Triple) -> LabelledTriple {
    let term = |id: TermId| labelled_term(graph, labels, id);
    LabelledTriple { subject: term(triple.subject), predicate: term(triple.predicate), object: term(triple.object) }
}

fn labelled_term(graph: &TripleGraph, labels: &Labels<'_>, id: TermId) -> LabelledTerm {
    let term = graph.term(id);
    let (language, datatype) = match term {
        TermRef::Literal { kind: LiteralKind::Language(tag), .. } => (Some(tag.to_owned()), None),
        TermRef::Literal { kind: LiteralKind::Datatype(iri), .. } => (None, Some(iri.to_owned())),
        _ => (None, None),
    };
    let kind = match term {
        TermRef::Iri(_) => TermKind::Iri,
        TermRef::Blank(_) => TermKind::Blank,
        TermRef::Literal { .. } => TermKind::Literal,
    };
    let label = labels.label(id).unwrap_or_else(|| "[…]".to_owned());
    LabelledTerm { kind, value: term.text().to_owned(), label, language, datatype }
}
