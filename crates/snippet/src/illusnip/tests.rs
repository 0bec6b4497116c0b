use super::published::joins;
use super::*;
use crate::conformance::{Guarantees, check, check_deadline, graph_of, random_statements};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn extract(graph: &TripleGraph, budget: usize, starts: Starts) -> Snippet {
    let profile = Profile::new(graph);
    IlluSnip::default()
        .with_starts(starts)
        .with_work(u64::MAX)
        .extract(graph, &profile, TripleBudget(budget))
}

/// Literal implementation of the definition: the frontier is a set, and every gain is recomputed at every step.
struct Naive<'w> {
    weights: &'w Weights<'w>,
    schema: BTreeSet<(bool, TermId)>,
    entities: BTreeSet<TermId>,
}

impl Naive<'_> {
    fn gain(&self, number: u32) -> f64 {
        let triple = self.weights.triple(number);
        let is_type = self.weights.is_type(triple);
        let (element, coverage) = if is_type {
            (triple.object, &self.weights.class)
        } else {
            (triple.predicate, &self.weights.property)
        };
        let coverage = if self.schema.contains(&(is_type, element)) {
            0.0
        } else {
            coverage[element.index()]
        };
        let ends = BTreeSet::from_iter(
            [Some(triple.subject), self.weights.link_target(triple)]
                .into_iter()
                .flatten(),
        );
        let new: Vec<f64> = ends
            .difference(&self.entities)
            .map(|entity| self.weights.familiarity[entity.index()])
            .collect();
        let familiarity = if new.is_empty() {
            0.0
        } else {
            new.iter().sum::<f64>() / new.len() as f64
        };
        COVERAGE_WEIGHT * coverage + FAMILIARITY_WEIGHT * familiarity
    }

    fn grow(&mut self, start: u32, budget: usize) -> (Vec<u32>, f64) {
        let mut chosen = Vec::new();
        let mut frontier = BTreeSet::from([start]);
        let mut total = 0.0;
        while chosen.len() < budget {
            let Some(heaviest) = self.heaviest(&frontier) else {
                break;
            };
            chosen.push(heaviest.triple);
            total += heaviest.gain;
            self.cover(heaviest.triple);
            self.widen(&mut frontier, &chosen);
        }
        (chosen, total)
    }

    fn heaviest(&self, triples: &BTreeSet<u32>) -> Option<Candidate> {
        let candidates = triples.iter().map(|&triple| Candidate {
            gain: self.gain(triple),
            triple,
            run: NO_RUN,
        });
        candidates.max().filter(|heaviest| heaviest.gain > 0.0)
    }

    fn cover(&mut self, number: u32) {
        let triple = self.weights.triple(number);
        let is_type = self.weights.is_type(triple);
        self.schema.insert((
            is_type,
            if is_type {
                triple.object
            } else {
                triple.predicate
            },
        ));
        self.entities.extend(
            [Some(triple.subject), self.weights.link_target(triple)]
                .into_iter()
                .flatten(),
        );
    }

    /// Adds the triples at the entities of the last chosen triple.
    fn widen(&self, frontier: &mut BTreeSet<u32>, chosen: &[u32]) {
        let Some(last) = chosen.last().map(|&last| self.weights.triple(last)) else {
            return;
        };
        for (place, other) in self.weights.graph.triples().iter().enumerate() {
            let ends = [last.subject, last.object]
                .into_iter()
                .filter(|end| self.weights.is_entity[end.index()]);
            if ends
                .into_iter()
                .any(|end| other.subject == end || other.object == end)
            {
                frontier.insert(place as u32);
            }
        }
        frontier.retain(|place| !chosen.contains(place));
    }

    /// Ranks triples: the frontier first, then any triple with a gain, then by the gain in an empty snippet.
    fn rank(&mut self, seeds: &[u32], count: usize) -> Vec<u32> {
        let mut rest: BTreeSet<u32> = (0..self.weights.graph.len() as u32).collect();
        let empty = Naive {
            weights: self.weights,
            schema: BTreeSet::new(),
            entities: BTreeSet::new(),
        };
        let mut frontier = BTreeSet::new();
        let mut chosen: Vec<u32> = Vec::new();
        while chosen.len() < count.min(self.weights.graph.len()) {
            let seed = seeds.get(chosen.len()).copied();
            let gaining = || {
                self.heaviest(&frontier)
                    .or_else(|| self.heaviest(&rest))
                    .map(|found| found.triple)
            };
            let next = seed
                .or_else(gaining)
                .or_else(|| empty.heaviest(&rest).map(|found| found.triple));
            let next = next.expect("every triple of an empty snippet has a gain");
            rest.remove(&next);
            chosen.push(next);
            self.cover(next);
            self.widen(&mut frontier, &chosen);
        }
        chosen
    }
}

/// Returns the largest gain of connected triples, by trying all sequences.
fn optimum(growth: &mut Growth<'_>, sequence: &mut Vec<u32>, budget: usize) -> f64 {
    growth.grow(sequence, sequence.len());
    let mut most = growth.total;
    let open = if sequence.len() < budget {
        0..growth.weights.graph.len() as u32
    } else {
        0..0
    };
    for place in open {
        let joined = sequence.is_empty() || joins(growth.weights, sequence, place);
        if joined && !sequence.contains(&place) {
            sequence.push(place);
            most = most.max(optimum(growth, sequence, budget));
            sequence.pop();
        }
    }
    most
}

fn random_graph() -> impl Strategy<Value = TripleGraph> {
    random_statements().prop_map(|statements| graph_of(&statements.concat()))
}

#[test]
fn every_variant_does_what_all_extractors_must() {
    let guarantees = Guarantees {
        connected: true,
        anytime: true,
        ..Guarantees::default()
    };
    for starts in [Starts::All, Starts::Heaviest, Starts::Ranked] {
        let extractor = IlluSnip::default().with_starts(starts);
        check(&extractor, guarantees);
        check_deadline(
            |deadline| Box::new(extractor.with_work(u64::MAX).with_deadline(deadline)),
            guarantees,
        );
    }
}

proptest! {
    #[test]
    fn the_lazy_heap_grows_what_the_definition_says(graph in random_graph(), budget in 1usize..12) {
        let profile = Profile::new(&graph);
        let weights = Weights::new(&graph, &profile);
        let mut growth = Growth::new(&weights);
        for start in 0..graph.len() as u32 {
            let naive = Naive { weights: &weights, schema: BTreeSet::new(), entities: BTreeSet::new() }.grow(start, budget);
            growth.grow(&[start], budget);
            prop_assert_eq!((growth.triples.clone(), growth.total), naive);
        }
    }

    /// Approximation ratio 1/budget: one triple of the optimum has that share of its gain, and it is a start or
    /// adjacent to one.
    #[test]
    fn the_gain_is_at_most_the_optimum_and_at_least_its_part(statements in random_statements(), budget in 1usize..4) {
        let graph = graph_of(&statements[..statements.len().min(13)].concat());
        let profile = Profile::new(&graph);
        let weights = Weights::new(&graph, &profile);
        let mut growth = Growth::new(&weights);
        let most = optimum(&mut growth, &mut Vec::new(), budget);
        for starts in [Starts::All, Starts::Ranked] {
            let snippet = extract(&graph, budget, starts);
            prop_assert!(snippet.gain <= most + 1e-9, "{} > {most}", snippet.gain);
            prop_assert!(snippet.gain >= most / budget as f64 - 1e-9, "{} < {most} / {budget}", snippet.gain);
            let places: Result<Vec<u32>, usize> = snippet.triples.iter().map(|triple| graph.triples().binary_search(triple).map(|place| place as u32)).collect();
            growth.grow(&places.expect("of the graph"), budget);
            prop_assert!((growth.total - snippet.gain).abs() < 1e-9);
        }
    }

    #[test]
    fn snippet_and_ranking_at_once_are_the_same_two(graph in random_graph(), budget in 0usize..8, count in 0usize..60) {
        let profile = Profile::new(&graph);
        let search = IlluSnip::default().with_work(50);
        let (snippet, ranking) = search.extract_and_rank(TripleBudget(budget), TripleBudget(count), &graph, &profile);
        prop_assert_eq!(snippet, search.extract(&graph, &profile, TripleBudget(budget)));
        prop_assert_eq!(ranking, rank_triples(&graph, &profile, &[], TripleBudget(count)));
    }

    #[test]
    fn a_ranking_is_what_its_definition_says(graph in random_graph(), count in 0usize..60, first in 0usize..4) {
        let profile = Profile::new(&graph);
        let weights = Weights::new(&graph, &profile);
        let mut seeds: Vec<u32> = (0..graph.len() as u32).rev().step_by(3).take(first).collect();
        seeds.truncate(count);
        let first: Vec<Triple> = seeds.iter().map(|&seed| weights.triple(seed)).collect();
        let ranking = rank_triples(&graph, &profile, &first, TripleBudget(count));
        prop_assert_eq!(ranking.len(), count.min(graph.len()));
        let mut naive = Naive { weights: &weights, schema: BTreeSet::new(), entities: BTreeSet::new() };
        let expected: Vec<Triple> = naive.rank(&seeds, count).into_iter().map(|place| weights.triple(place)).collect();
        prop_assert_eq!(&ranking, &expected);
        if first.is_empty() {
            prop_assert!(ranking.starts_with(&extract(&graph, count, Starts::Heaviest).triples));
        }
    }

    #[test]
    fn more_starts_never_give_less(graph in random_graph()) {
        prop_assert!(extract(&graph, 5, Starts::Ranked).gain >= extract(&graph, 5, Starts::Heaviest).gain - 1e-12);
    }
}

#[test]
fn weights_by_hand() {
    // T = 4 triples, C = 2 of rdf:type. e:a and e:b have one link each and the same PageRank.
    let graph = graph_of("@prefix e: <http://e.org/> . e:a a e:C ; e:p e:b ; e:q 1 . e:b a e:C .");
    let profile = Profile::new(&graph);
    let weights = Weights::new(&graph, &profile);
    let growth = Growth::new(&weights);
    let gain = |predicate: &str| {
        let place = graph
            .triples()
            .iter()
            .position(|t| graph.term(t.predicate).text() == predicate)
            .expect("present");
        growth.gain(place as u32)
    };
    let expected_link = 0.8 * (2.0_f64.ln() / 5.0_f64.ln()) + 0.2;
    assert!((gain("http://e.org/p") - expected_link).abs() < 1e-12);
    assert!((gain(rdf::TYPE) - (0.8 * (3.0_f64.ln() / 3.0_f64.ln()) + 0.2)).abs() < 1e-12);
}

#[test]
fn a_work_bound_ends_the_search_and_says_so() {
    let turtle: String = (0..50)
        .map(|n| {
            format!(
                "<http://e.org/{n}> <http://e.org/p> <http://e.org/{}> .\n",
                n + 1
            )
        })
        .collect();
    let graph = graph_of(&turtle);
    let profile = Profile::new(&graph);
    let snippet = IlluSnip::default()
        .with_work(1)
        .extract(&graph, &profile, TripleBudget(5));
    assert!(snippet.interrupted && !snippet.triples.is_empty());
    let hook = || true;
    assert!(
        IlluSnip::default()
            .with_deadline(Deadline::new(&hook))
            .extract(&graph, &profile, TripleBudget(5))
            .interrupted
    );
}

#[test]
fn nothing_gives_an_empty_snippet() {
    assert!(
        extract(&graph_of(""), 20, Starts::Ranked)
            .triples
            .is_empty()
    );
    assert!(
        extract(
            &graph_of("<http://e.org/a> a <http://e.org/b> ."),
            0,
            Starts::Ranked
        )
        .triples
        .is_empty()
    );
}
