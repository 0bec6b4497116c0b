use super::*;
use crate::conformance::{Guarantees, check, check_deadline, graph_of, random_statements};
use crate::{Snippet, SnippetExtractor, TripleBudget};
use lodeseek_profile::{Element, PatternId, Patterns, Profile};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Matches the ends of names in [`random_statements`]: subjects and objects, properties, a class and literals.
fn matcher() -> LabelMatcher<impl Fn(&str) -> KeywordSet> {
    let words = ["n1", "p2", "n3", "C5", "7", "n4"];
    let bit = move |label: &str, place: usize| u64::from(label == words[place]) << place;
    LabelMatcher(move |label: &str| {
        KeywordSet((0..words.len()).map(|place| bit(label, place)).sum())
    })
}

fn nothing() -> LabelMatcher<impl Fn(&str) -> KeywordSet> {
    LabelMatcher(|_: &str| KeywordSet::NONE)
}

fn extract(extractor: &dyn SnippetExtractor, graph: &TripleGraph, budget: usize) -> Snippet {
    extractor.extract(graph, &Profile::new(graph), TripleBudget(budget))
}

fn share(counts: &[(TermId, u64)], id: TermId, total: u64) -> f64 {
    match counts.iter().find(|(other, _)| *other == id) {
        Some((_, count)) => *count as f64 / total as f64,
        None => 0.0,
    }
}

/// Returns the bit of a word's position in a list; 0 if the list does not contain it.
fn position_bit(words: &[&str], word: &str) -> u64 {
    match words.iter().position(|other| *other == word) {
        Some(place) => 1 << place,
        None => 0,
    }
}

/// Literal implementation of the definitions, recomputed at every call.
struct Naive<'g> {
    graph: &'g TripleGraph,
    profile: Profile,
    patterns: Patterns,
    matches: Matches,
    budget: usize,
}

impl<'g> Naive<'g> {
    fn new(graph: &'g TripleGraph, matches: Matches, budget: usize) -> Self {
        Self {
            graph,
            profile: Profile::new(graph),
            patterns: Patterns::new(graph),
            matches,
            budget,
        }
    }

    fn is_type(&self, triple: &Triple) -> bool {
        Some(triple.predicate) == self.graph.iri(rdf::TYPE)
    }

    fn entities(&self, triples: &[Triple]) -> BTreeSet<TermId> {
        let object =
            |t: &Triple| (!self.is_type(t) && self.graph.is_resource(t.object)).then_some(t.object);
        triples
            .iter()
            .flat_map(|t| [Some(t.subject), object(t)])
            .flatten()
            .collect()
    }

    fn degrees(&self, entity: TermId) -> (f64, f64) {
        let out = self
            .graph
            .triples()
            .iter()
            .filter(|t| t.subject == entity)
            .count();
        let into = self
            .graph
            .triples()
            .iter()
            .filter(|t| t.object == entity && !self.is_type(t))
            .count();
        ((out as f64 + 1.0).ln(), (into as f64 + 1.0).ln())
    }

    /// Value of a set for KSD: the total weight it covers.
    fn ksd(&self, triples: &[Triple]) -> f64 {
        let all = self.entities(self.graph.triples());
        let largest = |of: fn((f64, f64)) -> f64| {
            let most = all
                .iter()
                .map(|&entity| of(self.degrees(entity)))
                .fold(0.0, f64::max);
            if most > 0.0 { most } else { 1.0 }
        };
        let (out, into) = (largest(|d| d.0), largest(|d| d.1));
        let contained = triples.iter().fold(KeywordSet::NONE, |all, t| {
            all.union(self.matches.triple(*t))
        });
        let classes: BTreeSet<TermId> = triples
            .iter()
            .filter(|t| self.is_type(t) && self.graph.is_resource(t.object))
            .map(|t| t.object)
            .collect();
        let entities = self
            .entities(triples)
            .into_iter()
            .map(|entity| self.degrees(entity));
        2.0 * f64::from(contained.len()) / f64::from(self.matches.present().len().max(1))
            + self.properties(triples)
            + classes
                .iter()
                .map(|&c| share(&self.profile.classes, c, self.profile.type_triples))
                .sum::<f64>()
            + entities
                .map(|degrees| degrees.0 / out + degrees.1 / into)
                .sum::<f64>()
    }

    fn properties(&self, triples: &[Triple]) -> f64 {
        let properties: BTreeSet<TermId> = triples.iter().map(|t| t.predicate).collect();
        properties
            .iter()
            .map(|&p| share(&self.profile.properties, p, self.profile.triples))
            .sum()
    }

    /// Objective of the optimal data snippet.
    fn objective(&self, triples: &[Triple]) -> f64 {
        let all = self.entities(self.graph.triples());
        let total = |of: fn((f64, f64)) -> f64| {
            all.iter()
                .map(|&entity| of(self.degrees(entity)))
                .sum::<f64>()
        };
        let (out, into) = (total(|d| d.0), total(|d| d.1));
        let central =
            |degrees: (f64, f64)| degrees.0 / out + if into > 0.0 { degrees.1 / into } else { 0.0 };
        let mut shown: BTreeMap<TermId, BTreeSet<Element>> = BTreeMap::new();
        for t in triples {
            match (self.is_type(t), self.graph.is_literal(t.object)) {
                (true, true) => {}
                (true, false) => drop(
                    shown
                        .entry(t.subject)
                        .or_default()
                        .insert(Element::Class(t.object)),
                ),
                (false, literal) => {
                    shown
                        .entry(t.subject)
                        .or_default()
                        .insert(Element::Outgoing(t.predicate));
                    if !literal {
                        shown
                            .entry(t.object)
                            .or_default()
                            .insert(Element::Incoming(t.predicate));
                    }
                }
            }
        }
        let mut best: BTreeMap<PatternId, f64> = BTreeMap::new();
        for (entity, elements) in &shown {
            let id = self.patterns.pattern_of(*entity).expect("an entity");
            let part = elements.len() as f64 / self.patterns.pattern(id).elements.len() as f64;
            let best = best.entry(id).or_default();
            *best = best.max(part);
        }
        let count = |id: PatternId| self.patterns.pattern(id).count() as f64 / all.len() as f64;
        self.properties(triples)
            + self
                .entities(triples)
                .into_iter()
                .map(|e| central(self.degrees(e)))
                .sum::<f64>()
            + best
                .into_iter()
                .map(|(id, part)| count(id) * part)
                .sum::<f64>()
            + 2.0 * self.largest_piece(triples) as f64 / self.budget as f64
    }

    fn largest_piece(&self, triples: &[Triple]) -> usize {
        let mut pieces: Vec<(BTreeSet<TermId>, usize)> = Vec::new();
        for t in triples {
            let mut joined = (self.entities(&[*t]), 1);
            pieces.retain(|(entities, size)| {
                let apart = entities.is_disjoint(&joined.0);
                if !apart {
                    joined.0.extend(entities);
                    joined.1 += size;
                }
                apart
            });
            pieces.push(joined);
        }
        pieces.into_iter().map(|(_, size)| size).max().unwrap_or(0)
    }

    /// Checks that every triple from `from` on was the best choice for a value, and the first of the best.
    fn check_greedy(
        &self,
        chosen: &[Triple],
        from: usize,
        value: impl Fn(&Self, &[Triple]) -> f64,
    ) {
        for place in from..chosen.len() {
            let before = value(self, &chosen[..place]);
            let gain = |t: &Triple| value(self, &[&chosen[..place], &[*t]].concat()) - before;
            let own = gain(&chosen[place]);
            for other in self
                .graph
                .triples()
                .iter()
                .filter(|t| !chosen[..place].contains(t))
            {
                assert!(
                    gain(other) <= own + 1e-9,
                    "{} < {} at {place}",
                    own,
                    gain(other)
                );
            }
        }
    }
}

fn contained_keywords(matches: &Matches, triples: &[Triple]) -> KeywordSet {
    triples
        .iter()
        .fold(KeywordSet::NONE, |all, t| all.union(matches.triple(*t)))
}

/// Returns every subset of at most `most` triples.
fn sets_of(triples: &[Triple], most: usize) -> impl Iterator<Item = Vec<Triple>> {
    let chosen = (0u32..1 << triples.len()).filter(move |set| set.count_ones() as usize <= most);
    chosen.map(|set| {
        triples
            .iter()
            .enumerate()
            .filter(|(place, _)| set >> place & 1 == 1)
            .map(|(_, t)| *t)
            .collect()
    })
}

/// Returns the smallest number of triples that contain all keywords, by exhaustive search.
fn fewest(matches: &Matches, triples: &[Triple]) -> usize {
    let all = matches.present();
    let mut layer = BTreeSet::from([KeywordSet::NONE]);
    let mut count = 0;
    while !layer.contains(&all) {
        layer = layer
            .iter()
            .flat_map(|set| triples.iter().map(|t| set.union(matches.triple(*t))))
            .collect();
        count += 1;
    }
    count
}

proptest! {
    #[test]
    fn ksd_takes_the_greatest_gain_at_every_step(statements in random_statements()) {
        let graph = graph_of(&statements.concat());
        let keywords = matcher();
        let snippet = extract(&Ksd::new(&keywords), &graph, 6);
        let naive = Naive::new(&graph, Matches::new(&keywords, &graph), 6);
        naive.check_greedy(&snippet.triples, 0, Naive::ksd);
        prop_assert!((snippet.gain - naive.ksd(&snippet.triples)).abs() < 1e-9);
        prop_assert_eq!(snippet.triples.len(), graph.len().min(6).min(snippet.triples.len()));
    }

    #[test]
    fn the_optimal_snippet_takes_the_greatest_gain_at_every_step(statements in random_statements()) {
        let graph = graph_of(&statements.concat());
        let none = nothing();
        let snippet = extract(&OptimalSnippet::new(&none), &graph, 8);
        let naive = Naive::new(&graph, Matches::new(&none, &graph), 8);
        naive.check_greedy(&snippet.triples, 0, Naive::objective);
        prop_assert!((snippet.gain - naive.objective(&snippet.triples)).abs() < 1e-9);
    }

    #[test]
    fn the_optimal_snippet_covers_the_keywords_first(statements in random_statements(), best_first in any::<bool>()) {
        let graph = graph_of(&statements.concat());
        let keywords = matcher();
        let mut extractor = OptimalSnippet::new(&keywords);
        if best_first {
            extractor = extractor.with_best_triple_first();
        }
        let snippet = extract(&extractor, &graph, 10);
        let matches = Matches::new(&keywords, &graph);
        let naive = Naive::new(&graph, matches.clone(), 10);
        prop_assert_eq!(contained_keywords(&matches, &snippet.triples), matches.present());
        prop_assert!((snippet.gain - naive.objective(&snippet.triples)).abs() < 1e-9);
        let covering = (0..).find(|&count| contained_keywords(&matches, &snippet.triples[..count]) == matches.present()).expect("all");
        for place in usize::from(best_first)..covering {
            let before = contained_keywords(&matches, &snippet.triples[..place]);
            let new = |t: &Triple| matches.triple(*t).difference(before).len();
            prop_assert_eq!(Some(new(&snippet.triples[place])), graph.triples().iter().map(new).max());
        }
        naive.check_greedy(&snippet.triples, covering, Naive::objective);
    }

    #[test]
    fn the_cover_has_the_fewest_triples(statements in random_statements()) {
        let graph = graph_of(&statements.concat());
        let keywords = matcher();
        let matches = Matches::new(&keywords, &graph);
        let expected = fewest(&matches, graph.triples());
        let snippet = extract(&KeywordCover::new(&keywords), &graph, expected);
        prop_assert_eq!(contained_keywords(&matches, &snippet.triples), matches.present());
        prop_assert_eq!(snippet.triples.len(), expected);
        let filled = extract(&KeywordCover::new(&keywords).with_filling(), &graph, 5);
        let some = graph.triples().iter().filter(|t| !matches.triple(**t).is_empty()).count();
        prop_assert_eq!(filled.triples.len(), some.min(5));
    }

    /// Every part of the objective is subadditive over triples; hence the ratio without keywords.
    #[test]
    fn the_objective_is_at_most_the_optimum_and_at_least_its_part(statements in random_statements(), budget in 1usize..4) {
        let graph = graph_of(&statements[..statements.len().min(9)].concat());
        for keywords in [&matcher() as &dyn KeywordMatcher, &nothing()] {
            let matches = Matches::new(keywords, &graph);
            let naive = Naive::new(&graph, matches.clone(), budget);
            let snippet = extract(&OptimalSnippet::new(keywords), &graph, budget);
            let least = contained_keywords(&matches, &snippet.triples).len();
            let feasible = sets_of(graph.triples(), budget).filter(|set| contained_keywords(&matches, set).len() >= least);
            let most = feasible.map(|set| naive.objective(&set)).fold(0.0, f64::max);
            prop_assert!(snippet.gain <= most + 1e-9, "{} > {most}", snippet.gain);
            prop_assert!((snippet.gain - naive.objective(&snippet.triples)).abs() < 1e-9);
            prop_assert!(!matches.present().is_empty() || snippet.gain >= most / budget as f64 - 1e-9);
        }
    }

    /// Exact for few keywords; greedy with ratio 1 − 1/e for more.
    #[test]
    fn no_snippet_holds_more_keywords_than_the_cover(statements in random_statements(), budget in 0usize..4) {
        let graph = graph_of(&statements[..statements.len().min(9)].concat());
        let words = ["n0", "n1", "n2", "n3", "n4", "n5", "p1", "p2", "p3", "C5", "7", "8"];
        for (count, ratio) in [(8, 1.0), (words.len(), 1.0 - (-1.0_f64).exp())] {
            let keywords = LabelMatcher(|label: &str| KeywordSet(position_bit(&words[..count], label)));
            let matches = Matches::new(&keywords, &graph);
            let most = sets_of(graph.triples(), budget).map(|set| contained_keywords(&matches, &set).len()).max().unwrap_or(0);
            let cover = KeywordCover::new(&keywords).with_weights(vec![1.0; words.len()]);
            let shown = contained_keywords(&matches, &extract(&cover, &graph, budget).triples).len();
            prop_assert!(shown <= most && f64::from(shown) >= ratio * f64::from(most) - 1e-9, "{shown} of {most}");
        }
    }

    #[test]
    fn few_triples_cover_the_most_weight(sets in proptest::collection::vec(1u64..64, 1..7), limit in 0usize..4) {
        let sets: Vec<KeywordSet> = sets.into_iter().map(KeywordSet).collect();
        let weights = [5.0, 3.0, 2.5, 2.0, 1.0, 0.5];
        let value = |chosen: &[KeywordSet]| cover::sum_weights(&weights, chosen.iter().fold(KeywordSet::NONE, |a, &b| a.union(b)));
        let most = (0u32..1 << sets.len()).filter(|tried| tried.count_ones() as usize <= limit);
        let most = most.map(|tried| {
            value(&sets.iter().enumerate().filter(|(place, _)| tried >> place & 1 == 1).map(|(_, set)| *set).collect::<Vec<_>>())
        });
        let chosen = cover::cover(&sets, &weights, limit);
        prop_assert!(chosen.len() <= limit);
        prop_assert_eq!(value(&chosen), most.fold(0.0, f64::max));
    }
}

#[test]
fn what_every_extractor_keeps_to() {
    let keywords = matcher();
    let none = nothing();
    check(&Ksd::new(&keywords), Guarantees::default());
    check(&Ksd::new(&none), Guarantees::default());
    check(&OptimalSnippet::new(&keywords), Guarantees::default());
    check(
        &OptimalSnippet::new(&keywords).with_best_triple_first(),
        Guarantees::default(),
    );
    let guarantees = Guarantees {
        may_be_empty: true,
        ..Guarantees::default()
    };
    check(&KeywordCover::new(&keywords), guarantees);
    check(&KeywordCover::new(&keywords).with_filling(), guarantees);
}

/// [`matcher`] as a type with a static lifetime.
struct Names;

impl KeywordMatcher for Names {
    fn match_terms(&self, graph: &TripleGraph) -> Vec<KeywordSet> {
        matcher().match_terms(graph)
    }
}

#[test]
fn every_extractor_keeps_its_deadline() {
    let prefix = Guarantees {
        anytime: true,
        ..Guarantees::default()
    };
    check_deadline(
        |deadline| Box::new(Ksd::new(&Names).with_deadline(deadline)),
        prefix,
    );
    check_deadline(
        |deadline| Box::new(OptimalSnippet::new(&Names).with_deadline(deadline)),
        prefix,
    );
    let guarantees = Guarantees {
        may_be_empty: true,
        ..prefix
    };
    check_deadline(
        |deadline| Box::new(KeywordCover::new(&Names).with_deadline(deadline)),
        guarantees,
    );
    check_deadline(
        |deadline| {
            Box::new(
                KeywordCover::new(&Names)
                    .with_filling()
                    .with_deadline(deadline),
            )
        },
        guarantees,
    );
}

/// A bounded result is a prefix of the unbounded one, and is marked as interrupted if something is missing.
fn check_work<'k>(graph: &TripleGraph, make: &dyn Fn(u64) -> Box<dyn SnippetExtractor + 'k>) {
    let whole = extract(&*make(u64::MAX), graph, 6);
    assert!(!whole.interrupted);
    for work in [0, 1, 2, 3, 5, 10, 30, 100] {
        let part = extract(&*make(work), graph, 6);
        assert!(whole.triples.starts_with(&part.triples) && part.gain <= whole.gain + 1e-9);
        assert!(
            part.interrupted || part == whole,
            "something is missing, and it does not say so"
        );
        assert_eq!(part.triples.is_empty(), whole.triples.is_empty());
        assert_eq!(
            extract(&*make(work), graph, 6),
            part,
            "not the same on every run"
        );
    }
}

proptest! {
    #[test]
    fn a_work_bound_leaves_the_beginning(statements in random_statements()) {
        let graph = graph_of(&statements.concat());
        let keywords = matcher();
        check_work(&graph, &|work| Box::new(Ksd::new(&keywords).with_work(work)));
        check_work(&graph, &|work| Box::new(OptimalSnippet::new(&keywords).with_work(work)));
        check_work(&graph, &|work| Box::new(OptimalSnippet::new(&keywords).with_best_triple_first().with_work(work)));
        check_work(&graph, &|work| Box::new(KeywordCover::new(&keywords).with_work(work)));
        check_work(&graph, &|work| Box::new(KeywordCover::new(&keywords).with_filling().with_work(work)));
    }
}

#[test]
fn ksd_by_hand() {
    let graph = graph_of("e:a a e:C ; e:p e:b . e:b e:q \"word\" .");
    let keywords = LabelMatcher(|label: &str| KeywordSet(u64::from(label == "word")));
    let snippet = extract(&Ksd::new(&keywords), &graph, 1);
    // 2 for the word, 1/3 for e:q; e:b: ln 2/ln 3 for one of two triples out, 1 for the one link in.
    assert_eq!(graph.term(snippet.triples[0].object).text(), "word");
    assert!(
        (snippet.gain - (2.0 + 1.0 / 3.0 + 2f64.ln() / 3f64.ln() + 1.0)).abs() < 1e-12,
        "{}",
        snippet.gain
    );
}

#[test]
fn a_cover_is_near_itself_and_joined() {
    let words =
        |label: &str| KeywordSet(u64::from(label == "red") | u64::from(label == "blue") << 1);
    let keywords = LabelMatcher(words);
    let turtle =
        "e:a e:p \"red\" . e:b e:p \"blue\" . e:m e:p \"red\" ; e:q \"blue\" . e:z e:r e:a .";
    let graph = graph_of(turtle);
    let snippet = extract(&KeywordCover::new(&keywords), &graph, 20);
    let subjects: Vec<&str> = snippet
        .triples
        .iter()
        .map(|t| graph.term(t.subject).text())
        .collect();
    assert_eq!(subjects, ["http://e.org/m"; 2], "one entity holds both");
    let graph = graph_of("e:a e:p \"red\" ; e:r e:b . e:b e:p \"blue\" .");
    assert_eq!(
        extract(&KeywordCover::new(&keywords), &graph, 20)
            .triples
            .len(),
        3,
        "with the link between them"
    );
    assert_eq!(
        extract(&KeywordCover::new(&keywords), &graph, 2)
            .triples
            .len(),
        2
    );
}

#[test]
fn a_label_of_its_own_counts_for_the_entity() {
    let graph =
        graph_of("e:a <http://www.w3.org/2000/01/rdf-schema#label> \"red\" . e:b e:p e:a .");
    let keywords = LabelMatcher(|label: &str| {
        KeywordSet(u64::from(label == "red") | u64::from(label == "a") << 1)
    });
    let matches = Matches::new(&keywords, &graph);
    assert_eq!(
        matches.term(graph.iri("http://e.org/a").expect("there")),
        KeywordSet(1)
    );
    assert_eq!(
        matches.present(),
        KeywordSet(1),
        "its local name is no label then"
    );
}
