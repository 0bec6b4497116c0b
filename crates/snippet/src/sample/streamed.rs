//! Samples of streamed graphs: for snippets, texts and labels of graphs that exceed memory.
//!
//! Half of the budget is a sample as that of [`CountingPass`](super::CountingPass), for snippets. The other half has the
//! descriptions of classes and properties, at most a sixteenth of the budget, and of random entities, for texts. Of one
//! subject, at most [`MAX_DESCRIPTION`] triples are taken for it.

use super::{Counter, SampledGraph, SampledTriple, Sampler, hash};
use lodeseek_profile::Profile;
use lodeseek_rdf::vocab::rdf;
use lodeseek_rdf::{StreamedGraph, TermId, Triple};
use rustc_hash::FxHashSet;
use std::io;

/// Maximum number of triples of one subject in the random half of a sample.
const MAX_DESCRIPTION: usize = 100;
/// Maximum size of the texts of a sample in bytes: 256 MiB. A sample with more is thinned out.
const MAX_SAMPLE_BYTES: u64 = 256 << 20;

/// Triple of numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct NumberedTriple {
    triple: Triple,
    is_type: bool,
    has_literal: bool,
}

impl NumberedTriple {
    fn new(graph: &StreamedGraph, kind: Option<TermId>, triple: Triple) -> Self {
        Self {
            triple,
            is_type: Some(triple.predicate) == kind,
            has_literal: graph.is_literal(triple.object),
        }
    }
}

impl SampledTriple for NumberedTriple {
    type Name = u32;

    fn is_type(&self) -> bool {
        self.is_type
    }

    fn class(&self) -> Option<u32> {
        (self.is_type && !self.has_literal).then_some(self.triple.object.0)
    }

    fn property(&self) -> u32 {
        self.triple.predicate.0
    }

    fn ends(&self) -> (u64, Option<u64>) {
        let Triple {
            subject, object, ..
        } = self.triple;
        let links = !self.is_type && !self.has_literal && subject != object;
        (hash(&subject), links.then(|| hash(&object)))
    }
}

/// Sample of a streamed graph.
#[derive(Debug)]
pub struct StreamedSample {
    /// The sample, with the profile of the whole graph. Its lists of classes, properties and linked entities have those that
    /// occur in the sample, with the counts of the whole graph.
    pub sample: SampledGraph,
    /// For each term of the sample, its number in the graph.
    pub ids: Vec<TermId>,
}

/// Takes a sample of at most `budget` triples of a streamed graph, in two passes over its triples. `profile` must be the profile of
/// the graph. If the texts of the sample exceed 256 MiB, half of the random entities, or of the other triples if these are more, are
/// left out until they fit. In the latter case, classes and properties may be missing.
///
/// # Errors
/// If the graph cannot be read.
pub fn sample_stream(
    graph: &StreamedGraph,
    profile: Profile,
    budget: usize,
) -> io::Result<StreamedSample> {
    let kind = graph.iri(rdf::TYPE)?;
    let mut counter = Counter::new((budget / 2).max(8));
    for triple in graph.triples()? {
        counter.statements += 1;
        counter.add(&NumberedTriple::new(graph, kind, triple?));
    }
    let mut sampler: Sampler<NumberedTriple> = counter.finish(true);
    let mut descriptions = Descriptions::new(graph.len(), &profile, budget / 2);
    for triple in graph.triples()? {
        let triple = triple?;
        sampler.add(&NumberedTriple::new(graph, kind, triple));
        descriptions.add(triple);
    }
    let (mut random, mut others): (Vec<Triple>, Vec<Triple>) = descriptions
        .triples
        .into_iter()
        .partition(|triple| !descriptions.elements.contains(&triple.subject));
    others.extend(sampler.triples().map(|numbered| numbered.triple));
    let mut round = 0_u32;
    let (selected, ids) = loop {
        let mut triples = [random.as_slice(), &others].concat();
        triples.sort_unstable();
        triples.dedup();
        let bytes = if triples.len() <= 1 {
            u64::MAX
        } else {
            MAX_SAMPLE_BYTES
        };
        if let Some(selected) = graph.select(&triples, bytes)? {
            break selected;
        }
        round += 1;
        if random.len() < others.len() {
            others = others.into_iter().step_by(2).collect();
        } else {
            // Whole entities are left out: every second triple might be that of one property.
            random.retain(|triple| hash(&(triple.subject, round)) & 1 == 0);
        }
    };
    let is_whole = selected.len() as u64 == graph.len();
    let profile = profile.in_selection(&ids);
    Ok(StreamedSample {
        sample: SampledGraph {
            graph: selected,
            profile,
            is_whole,
            count_error: 0,
        },
        ids,
    })
}

/// Descriptions of classes, properties and random entities.
struct Descriptions {
    elements: FxHashSet<TermId>,
    /// Largest hash of a random entity.
    largest_hash: u64,
    left: usize,
    elements_left: usize,
    subject: Option<TermId>,
    /// Triples of the present subject that are still taken.
    of_subject: usize,
    triples: Vec<Triple>,
}

impl Descriptions {
    fn new(graph_triples: u64, profile: &Profile, budget: usize) -> Self {
        let quota = budget - budget / 8;
        // A tenth less than the quota is expected. If chance exceeded it, the last subjects would be left out.
        let share = 0.9 * quota as f64 / graph_triples.max(1) as f64;
        let elements = profile
            .classes
            .iter()
            .chain(&profile.properties)
            .take(budget / 8);
        Self {
            elements: elements.map(|&(id, _)| id).collect(),
            largest_hash: (share.min(1.0) * u64::MAX as f64) as u64,
            left: quota,
            elements_left: budget / 8,
            subject: None,
            of_subject: 0,
            triples: Vec::new(),
        }
    }

    fn add(&mut self, triple: Triple) {
        if self.subject != Some(triple.subject) {
            self.subject = Some(triple.subject);
            let is_taken = self.elements.contains(&triple.subject)
                || hash(&triple.subject) <= self.largest_hash;
            self.of_subject = if is_taken { MAX_DESCRIPTION } else { 0 };
        }
        if self.of_subject == 0 {
            return;
        }
        self.of_subject -= 1;
        let is_element = self.elements.contains(&triple.subject);
        let left = if is_element {
            &mut self.elements_left
        } else {
            &mut self.left
        };
        if *left > 0 {
            *left -= 1;
            self.triples.push(triple);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_rdf::TripleGraphBuilder;

    #[test]
    fn random_entities_stay_below_their_quota() {
        let profile = Profile::new(&TripleGraphBuilder::new().finish());
        for (subjects, budget) in [(20_000, 2_000), (100_000, 4_000), (100_000, 40_000)] {
            let mut descriptions = Descriptions::new(u64::from(subjects), &profile, budget);
            for subject in 0..subjects {
                descriptions.add(Triple {
                    subject: TermId(subject),
                    predicate: TermId(0),
                    object: TermId(0),
                });
            }
            let quota = budget - budget / 8;
            let drawn = descriptions.triples.len();
            assert!(drawn < quota && drawn > quota * 4 / 5, "{drawn} of {quota}");
        }
    }
}
