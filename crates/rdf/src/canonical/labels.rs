//! Canonical labels of blank nodes, computed by Sophia within a work budget.
//!
//! Sophia limits the recursion depth and the number of permutations, but not the total work. Similar nodes in a component
//! of similar nodes take exponential time within both limits. Sophia reads the label of each neighbour of a node, so the
//! terms passed to it count these reads ([`WorkMeter`]). If the budget is exhausted, they unwind, which is caught here.

use super::super::{LiteralKind, TermId, TermRef, Triple, TripleGraph};
use super::CanonicalizationError;
use sophia::api::MownStr;
use sophia::api::dataset::{Dataset, SetDataset};
use sophia::api::quad::Spog;
use sophia::api::term::{BaseDirection, BnodeId, IriRef, LanguageTag, Term, TermKind};
use sophia::c14n::hash::Sha256;
use sophia::c14n::rdfc10::relabel_with;
use std::cell::Cell;
use std::convert::Infallible;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

const XSD_STRING: &str = "http://www.w3.org/2001/XMLSchema#string";

/// Maximum recursion depth. A larger depth could overflow the stack of a thread.
pub(super) const MAX_DEPTH: usize = 100;
/// Maximum number of indistinguishable neighbours of a node, whose permutations are all tried.
const MAX_PERMUTED: usize = 6;
/// Maximum number of label reads, multiplied by the size of the largest component, which Sophia copies.
const MAX_LABEL_WORK: usize = 100_000_000;
/// Number of label reads per triple that do not count.
const FREE_READS_PER_TRIPLE: usize = 16;

/// Limits of the computation of labels.
pub(super) struct LabelLimits {
    /// Maximum recursion depth.
    pub(super) depth: usize,
    /// Maximum number of indistinguishable neighbours of a node.
    pub(super) permuted: usize,
    /// Maximum number of label reads, multiplied by the size of the largest component.
    pub(super) work: usize,
}

impl Default for LabelLimits {
    fn default() -> Self {
        Self {
            depth: MAX_DEPTH,
            permuted: MAX_PERMUTED,
            work: MAX_LABEL_WORK,
        }
    }
}

/// Returns the canonical labels of a graph's blank nodes, in the order of their identifiers.
pub(super) fn canonical(
    graph: &TripleGraph,
    triples: &[Triple],
    limits: &LabelLimits,
) -> Result<Vec<Box<str>>, CanonicalizationError> {
    let blanks = graph.blank_nodes();
    let count = blanks.end.index() - blanks.start.index();
    if count == 0 {
        return Ok(Vec::new());
    }
    let budget =
        triples.len() * FREE_READS_PER_TRIPLE + limits.work / largest_component(&blanks, triples);
    let meter = WorkMeter(Cell::new(budget));
    let dataset = MeteredDataset {
        graph,
        triples,
        meter: &meter,
    };
    // Sophia multiplies the factor by the number of blank nodes.
    let depth_factor = limits.depth as f32 / count as f32;
    // After a panic, neither the dataset nor the meter is used again.
    let relabelled = catch_unwind(AssertUnwindSafe(|| {
        relabel_with::<Sha256, _>(&dataset, depth_factor, limits.permuted).map(|(_, labels)| labels)
    }));
    let labels = match relabelled {
        Ok(labels) => {
            labels.map_err(|error| CanonicalizationError::TooComplex(error.to_string()))?
        }
        Err(cause) if cause.is::<BudgetExhausted>() => {
            return Err(CanonicalizationError::TooComplex(format!(
                "more than {budget} reads of neighbours needed"
            )));
        }
        // Any other panic is an error of the program.
        Err(cause) => resume_unwind(cause),
    };
    let ids = blanks.start.0..blanks.end.0;
    ids.map(|id| Some(labels.get(graph.term(TermId(id)).text())?.as_str().into()))
        .collect::<Option<_>>()
        .ok_or_else(|| CanonicalizationError::TooComplex("a blank node has no label".to_owned()))
}

/// Returns the size of the largest connected component of blank nodes.
fn largest_component(blanks: &Range<TermId>, triples: &[Triple]) -> usize {
    let first = blanks.start.index();
    let mut parents: Vec<usize> = (0..blanks.end.index() - first).collect();
    for triple in triples
        .iter()
        .filter(|triple| blanks.contains(&triple.subject) && blanks.contains(&triple.object))
    {
        let one = find_root(&mut parents, triple.subject.index() - first);
        let other = find_root(&mut parents, triple.object.index() - first);
        parents[one.max(other)] = one.min(other);
    }
    let mut sizes = vec![0; parents.len()];
    for node in 0..parents.len() {
        sizes[find_root(&mut parents, node)] += 1;
    }
    sizes.into_iter().max().unwrap_or(1)
}

/// Returns the root of a node in a union-find forest, and halves the path to it.
fn find_root(parents: &mut [usize], mut node: usize) -> usize {
    while parents[node] != node {
        parents[node] = parents[parents[node]];
        node = parents[node];
    }
    node
}

/// Counter of the remaining label reads.
#[derive(Debug)]
struct WorkMeter(Cell<usize>);

/// Panic payload for an exhausted budget.
struct BudgetExhausted;

impl WorkMeter {
    fn tick(&self) {
        match self.0.get().checked_sub(1) {
            Some(left) => self.0.set(left),
            // Unlike `panic!`, this prints no message.
            None => resume_unwind(Box::new(BudgetExhausted)),
        }
    }
}

/// Adapter of the triples with blank nodes to Sophia's interface.
struct MeteredDataset<'g> {
    graph: &'g TripleGraph,
    triples: &'g [Triple],
    meter: &'g WorkMeter,
}

impl Dataset for MeteredDataset<'_> {
    type Quad<'x>
        = Spog<Metered<'x>>
    where
        Self: 'x;
    type Error = Infallible;

    fn quads(&self) -> impl Iterator<Item = Result<Self::Quad<'_>, Infallible>> + '_ {
        self.triples.iter().map(|triple| {
            let terms = [triple.subject, triple.predicate, triple.object].map(|id| Metered {
                term: self.graph.term(id),
                meter: self.meter,
            });
            Ok((terms, None))
        })
    }
}

/// A [`TripleGraph`] contains each triple once.
impl SetDataset for MeteredDataset<'_> {}

/// Term that counts the reads of its label.
#[derive(Clone, Copy, Debug)]
struct Metered<'g> {
    term: TermRef<'g>,
    meter: &'g WorkMeter,
}

impl Metered<'_> {
    fn kind_of_literal(&self) -> Option<LiteralKind<'_>> {
        match self.term {
            TermRef::Literal { kind, .. } => Some(kind),
            _ => None,
        }
    }
}

impl Term for Metered<'_> {
    type BorrowTerm<'x>
        = Self
    where
        Self: 'x;

    fn kind(&self) -> TermKind {
        match self.term {
            TermRef::Iri(_) => TermKind::Iri,
            TermRef::Blank(_) => TermKind::BlankNode,
            TermRef::Literal { .. } => TermKind::Literal,
            TermRef::Triple(_) => TermKind::Triple,
        }
    }

    fn iri(&self) -> Option<IriRef<MownStr<'_>>> {
        self.is_iri()
            .then(|| IriRef::new_unchecked(MownStr::from(self.term.text())))
    }

    fn bnode_id(&self) -> Option<BnodeId<MownStr<'_>>> {
        self.meter.tick();
        self.is_blank_node()
            .then(|| BnodeId::new_unchecked(MownStr::from(self.term.text())))
    }

    fn lexical_form(&self) -> Option<MownStr<'_>> {
        self.is_literal().then(|| MownStr::from(self.term.text()))
    }

    fn datatype(&self) -> Option<IriRef<MownStr<'_>>> {
        self.kind_of_literal().map(|kind| match kind {
            LiteralKind::Datatype(iri) => IriRef::new_unchecked(MownStr::from(iri)),
            // Sophia reads the datatype of literals without a language tag.
            _ => IriRef::new_unchecked(MownStr::from(XSD_STRING)),
        })
    }

    fn language_tag(&self) -> Option<LanguageTag<MownStr<'_>>> {
        self.term
            .language()
            .map(|tag| LanguageTag::new_unchecked(MownStr::from(tag)))
    }

    fn base_direction(&self) -> Option<BaseDirection> {
        self.kind_of_literal()?
            .direction()
            .map(|direction| match direction {
                oxrdf::BaseDirection::Ltr => BaseDirection::Ltr,
                oxrdf::BaseDirection::Rtl => BaseDirection::Rtl,
            })
    }

    fn borrow_term(&self) -> Self {
        *self
    }
}
