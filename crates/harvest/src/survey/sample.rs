//! A sample that shows what a graph is: of every frequent class some entities with their descriptions, of every property
//! some triples, and names for what those lead to. The first triples of an engine's index would show one of them.
//!
//! The questions depend on the counts and on earlier answers alone, so that the same answers make the same sample.

use super::asker::{Asker, Unanswered};
use super::counts::Partition;
use super::description::{graph_of, triples};
use super::pages::{Pages, Row};
use super::queries;
use super::query::Template;
use lodeseek_catalog::Extent;
use lodeseek_rdf::vocab::rdf;
use lodeseek_rdf::{LABEL_PROPERTIES, TripleGraph};
use oxrdf::{NamedNode, NamedOrBlankNode, Term, Triple};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;

const TRIPLE: &[&str] = &["s", "p", "o"];
/// A triple, and one of its object where that is a blank node.
const TRIPLE_AND_PART: &[&str] = &["s", "p", "o", "q", "v"];
/// Classes of which entities are asked for, at most.
const CLASSES: usize = 100;
/// Triples of one class: at least, at most.
const TRIPLES_OF_CLASS: (usize, usize) = (20, 2000);
/// Triples that a short description has, to reckon how many entities to ask for.
const TRIPLES_OF_ENTITY: usize = 4;
/// Triples of each property that the sample is to have.
const TRIPLES_OF_PROPERTY: usize = 3;
/// Terms whose names are asked for at a time, and how often.
const NAMES: (usize, usize) = (100, 10);
/// Names and types of one term.
const TRIPLES_OF_NAME: usize = 5;
/// Triples of a page, where a graph is read as it comes.
const PAGE: usize = 1000;

/// What was asked for, and what was not had.
pub(super) struct Sample {
    pub(super) graph: TripleGraph,
    pub(super) extent: Extent,
}

/// What is known of a graph before it is sampled.
pub(super) struct Known<'k> {
    pub(super) graph: Option<&'k NamedNode>,
    pub(super) triples: Option<u64>,
    pub(super) classes: &'k Partition,
    pub(super) properties: &'k Partition,
    /// Triples of the sample.
    pub(super) size: usize,
}

/// Samples a graph; one that is not larger than the sample is taken whole.
pub(super) fn take(
    asker: &mut Asker<'_>,
    pages: &Pages,
    known: &Known<'_>,
    left_out: &mut Vec<String>,
) -> Result<Sample, Unanswered> {
    let mut taker = Taker { asker, pages, known, triples: FxHashSet::default(), left_out, unordered: 0 };
    if let Some(whole) = taker.whole()? {
        return Ok(whole);
    }
    taker.classes()?;
    taker.properties()?;
    taker.names()?;
    if taker.triples.is_empty() {
        taker.first_triples()?;
    }
    if taker.unordered > 0 {
        taker.left_out.push(format!("the order of {} answers: the endpoint fails at it", taker.unordered));
    }
    // In a fixed order, so that blank nodes are numbered alike.
    let mut triples: Vec<Triple> = taker.triples.into_iter().collect();
    triples.sort_by_cached_key(ToString::to_string);
    Ok(Sample { graph: graph_of(triples), extent: Extent::Sample })
}

struct Taker<'t, 's> {
    asker: &'t mut Asker<'s>,
    pages: &'t Pages,
    known: &'t Known<'t>,
    triples: FxHashSet<Triple>,
    left_out: &'t mut Vec<String>,
    /// Answers that came without order.
    unordered: usize,
}

impl Taker<'_, '_> {
    /// All triples in one answer, for blank nodes are the same within one alone. `None` where that is not all, or the
    /// endpoint does not tell what all is.
    fn whole(&mut self) -> Result<Option<Sample>, Unanswered> {
        let Some(count) = self.known.triples.filter(|count| *count <= self.known.size as u64) else { return Ok(None) };
        let all = queries::triples().from(self.known.graph).page(0, self.known.size);
        let rows = match self.asker.ordered(self.pages, &all, TRIPLE) {
            Ok((rows, _)) => rows,
            Err(Unanswered::Failed(error)) => {
                self.left_out.push(format!("all triples at once: {error}"));
                return Ok(None);
            }
            Err(other) => return Err(other),
        };
        let graph = graph_of(rows.iter().flat_map(triples));
        if graph.len() as u64 == count {
            return Ok(Some(Sample { graph, extent: Extent::Whole }));
        }
        self.left_out.push(format!("all triples at once: {} of {count} came", graph.len()));
        Ok(None)
    }

    fn left(&self) -> usize {
        self.known.size.saturating_sub(self.triples.len())
    }

    /// Takes the triples of an answer, as many as there is room for. What fails is left out.
    fn take(
        &mut self,
        template: &Template,
        variables: &[&str],
        what: impl FnOnce() -> String,
    ) -> Result<Vec<Row>, Unanswered> {
        match self.asker.ordered(self.pages, template, variables) {
            Ok((rows, ordered)) => {
                self.unordered += usize::from(!ordered);
                for triple in rows.iter().flat_map(triples) {
                    if self.left() > 0 || self.triples.contains(&triple) {
                        self.triples.insert(triple);
                    }
                }
                Ok(rows)
            }
            Err(Unanswered::Failed(error)) => {
                self.left_out.push(format!("{}: {error}", what()));
                Ok(Vec::new())
            }
            Err(other) => Err(other),
        }
    }

    /// Half of the sample: entities of the most frequent classes. The rarest of them come first, so that what they leave
    /// of their shares falls to those that have more.
    fn classes(&mut self) -> Result<(), Unanswered> {
        let (least, most) = TRIPLES_OF_CLASS;
        let room = self.known.size / 2;
        let count = self.known.classes.names.len().min(CLASSES).min(room / least).max(1);
        let chosen = self.known.classes.names.iter().take(count).rev();
        for (class, left) in chosen.zip((1..=count).rev()) {
            let share = (room.saturating_sub(self.triples.len()) / left).clamp(least, most);
            let entities = queries::entities().from(self.known.graph).with("class", std::slice::from_ref(class));
            let entities = entities.inside((share / TRIPLES_OF_ENTITY).max(2)).page(0, share);
            self.take(&entities, TRIPLE_AND_PART, || format!("entities of {class}"))?;
        }
        Ok(())
    }

    /// Up to three quarters: triples of the properties that the entities do not have.
    fn properties(&mut self) -> Result<(), Unanswered> {
        let mut seen: FxHashMap<NamedNode, usize> = FxHashMap::default();
        for triple in &self.triples {
            *seen.entry(triple.predicate.clone()).or_default() += 1;
        }
        for property in &self.known.properties.names {
            if seen.get(property).copied().unwrap_or_default() >= TRIPLES_OF_PROPERTY {
                continue;
            }
            if self.triples.len() + TRIPLES_OF_PROPERTY > self.known.size - self.known.size / 4 {
                break;
            }
            let uses = queries::uses().from(self.known.graph).with("p", std::slice::from_ref(property));
            self.take(&uses.page(0, TRIPLES_OF_PROPERTY), TRIPLE, || format!("triples of {property}"))?;
        }
        Ok(())
    }

    /// The rest: types and names of what the triples lead to and begin with, of classes and of properties.
    fn names(&mut self) -> Result<(), Unanswered> {
        let (block, times) = NAMES;
        let nameless = self.nameless();
        for terms in nameless.chunks(block).take(times) {
            if self.left() == 0 {
                break;
            }
            let names = queries::names().from(self.known.graph).with("s", terms);
            let length = (terms.len() * TRIPLES_OF_NAME).min(self.left());
            self.take(&names.page(0, length), TRIPLE, || "names of entities".to_owned())?;
        }
        Ok(())
    }

    /// IRIs that have no name in the sample, those most often met first.
    fn nameless(&self) -> Vec<NamedNode> {
        let mut met: FxHashMap<&NamedNode, usize> = FxHashMap::default();
        let mut named: FxHashSet<&NamedNode> = FxHashSet::default();
        for triple in &self.triples {
            *met.entry(&triple.predicate).or_default() += 1;
            if let Term::NamedNode(object) = &triple.object {
                *met.entry(object).or_default() += 1;
            }
            if let NamedOrBlankNode::NamedNode(subject) = &triple.subject {
                *met.entry(subject).or_default() += 1;
                if LABEL_PROPERTIES.contains(&triple.predicate.as_str()) {
                    named.insert(subject);
                }
            }
        }
        let vocabulary = |iri: &str| iri.starts_with(rdf::NAMESPACE);
        let mut nameless: Vec<(&NamedNode, usize)> =
            met.into_iter().filter(|(node, _)| !named.contains(node) && !vocabulary(node.as_str())).collect();
        nameless.sort_unstable_by_key(|(node, times)| (Reverse(*times), node.as_str()));
        nameless.into_iter().map(|(node, _)| node.clone()).collect()
    }

    /// The first triples of a graph that tells neither classes nor properties, page by page.
    fn first_triples(&mut self) -> Result<(), Unanswered> {
        let mut start = 0;
        while self.left() > 0 {
            let page = queries::triples().from(self.known.graph).page(start, PAGE.min(self.left()));
            let rows = self.take(&page, TRIPLE, || "triples".to_owned())?;
            if rows.is_empty() {
                break;
            }
            start += rows.len();
        }
        Ok(())
    }
}
