//! Canonical labels of blank nodes, by Sophia, which is stopped when it takes too much.
//!
//! Sophia bounds how deep it looks and what it permutes, not how often: nodes that are alike in a net of others like them
//! cost exponentially with both limits kept. It looks at a node by asking for the label of each of its neighbours, so the
//! terms it is dataset count how often they are asked ([`WorkMeter`]) and break off by unwinding, which is caught here.

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

/// How far Sophia walks from a node, one call within another: more could outgrow the stack of a thread.
pub(super) const MAX_DEPTH: usize = 100;
/// Neighbours of a node that look the same: all their orders are tried.
const MAX_PERMUTED: usize = 6;
/// Looks at a node's neighbour, each as dear as what Sophia copies for it: the largest set of linked blank nodes.
const WORK_BUDGET: usize = 100_000_000;
/// Looks at each place of a triple that every graph takes.
const BASE_WORK_PER_TRIPLE: usize = 16;

/// The labels of a graph's blank nodes in the order of their ids.
pub(super) fn canonical(graph: &TripleGraph, triples: &[Triple]) -> Result<Vec<Box<str>>, CanonicalizationError> {
    let blanks = graph.blank_nodes();
    let count = blanks.end.index() - blanks.start.index();
    if count == 0 {
        return Ok(Vec::new());
    }
    let budget = triples.len() * BASE_WORK_PER_TRIPLE + WORK_BUDGET / largest_component(&blanks, triples);
    let meter = WorkMeter(Cell::new(budget));
    let dataset = MeteredDataset { graph, triples, meter: &meter };
    let depth_factor = MAX_DEPTH as f32 / count as f32;
    let relabelled = catch_unwind(AssertUnwindSafe(|| {
        relabel_with::<Sha256, _>(&dataset, depth_factor, MAX_PERMUTED).map(|(_, labels)| labels)
    }));
    let labels = match relabelled {
        Ok(labels) => labels.map_err(|error| CanonicalizationError::TooComplex(error.to_string()))?,
        Err(cause) if cause.is::<BudgetExhausted>() => {
            return Err(CanonicalizationError::TooComplex(format!("{budget} looks at neighbours did not do")));
        }
        Err(cause) => resume_unwind(cause),
    };
    let ids = blanks.start.0..blanks.end.0;
    let label = |id| labels.get(graph.term(TermId(id)).text()).map(|label| label.as_str().into());
    ids.map(label)
        .collect::<Option<_>>()
        .ok_or_else(|| CanonicalizationError::TooComplex("a node got no label".to_owned()))
}

/// The size of the largest set of blank nodes that triples link to each other.
fn largest_component(blanks: &Range<TermId>, triples: &[Triple]) -> usize {
    let first = blanks.start.index();
    let mut above: Vec<usize> = (0..blanks.end.index() - first).collect();
    let root = |above: &mut Vec<usize>, mut place: usize| {
        while above[place] != place {
            above[place] = above[above[place]];
            place = above[place];
        }
        place
    };
    for triple in triples.iter().filter(|triple| blanks.contains(&triple.subject) && blanks.contains(&triple.object)) {
        let one = root(&mut above, triple.subject.index() - first);
        let other = root(&mut above, triple.object.index() - first);
        above[one.max(other)] = one.min(other);
    }
    let mut sizes = vec![0; above.len()];
    (0..above.len()).for_each(|place| sizes[root(&mut above, place)] += 1);
    sizes.into_iter().max().unwrap_or(1)
}

/// Looks that are left.
#[derive(Debug)]
struct WorkMeter(Cell<usize>);

/// Nothing is left.
struct BudgetExhausted;

impl WorkMeter {
    fn tick(&self) {
        match self.0.get().checked_sub(1) {
            Some(left) => self.0.set(left),
            None => resume_unwind(Box::new(BudgetExhausted)),
        }
    }
}

/// The triples with blank nodes, as Sophia has them.
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
        let term = |id| Metered { term: self.graph.term(id), meter: self.meter };
        self.triples.iter().map(move |triple| Ok(([triple.subject, triple.predicate, triple.object].map(term), None)))
    }
}

/// A [`TripleGraph`] has each triple once.
impl SetDataset for MeteredDataset<'_> {}

/// A term that counts how often it is asked for its label.
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
        }
    }

    fn iri(&self) -> Option<IriRef<MownStr<'_>>> {
        self.is_iri().then(|| IriRef::new_unchecked(MownStr::from(self.term.text())))
    }

    fn bnode_id(&self) -> Option<BnodeId<MownStr<'_>>> {
        self.meter.tick();
        self.is_blank_node().then(|| BnodeId::new_unchecked(MownStr::from(self.term.text())))
    }

    fn lexical_form(&self) -> Option<MownStr<'_>> {
        self.is_literal().then(|| MownStr::from(self.term.text()))
    }

    fn datatype(&self) -> Option<IriRef<MownStr<'_>>> {
        self.kind_of_literal().map(|kind| match kind {
            LiteralKind::Datatype(iri) => IriRef::new_unchecked(MownStr::from(iri)),
            // Sophia asks for the datatype of literals without a language.
            LiteralKind::Plain | LiteralKind::Language(_) => IriRef::new_unchecked(MownStr::from(XSD_STRING)),
        })
    }

    fn language_tag(&self) -> Option<LanguageTag<MownStr<'_>>> {
        match self.kind_of_literal() {
            Some(LiteralKind::Language(tag)) => Some(LanguageTag::new_unchecked(MownStr::from(tag))),
            _ => None,
        }
    }

    fn base_direction(&self) -> Option<BaseDirection> {
        None
    }

    fn borrow_term(&self) -> Self {
        *self
    }
}
