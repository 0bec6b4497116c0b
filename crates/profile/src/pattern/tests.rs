//! Patterns against their definition, computed with sets.

use super::*;
use lodeseek_rdf::vocab::lodeseek;
use lodeseek_rdf::{TermRef, TripleGraphBuilder};
use oxrdf::{BlankNode, Literal, NamedNode, NamedOrBlankNode, Term, Triple as OxTriple};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

fn node() -> impl Strategy<Value = Term> {
    prop_oneof![
        4 => "[a-e]".prop_map(|name| NamedNode::new_unchecked(format!("ex:{name}")).into()),
        1 => "[x-y]".prop_map(|label| BlankNode::new_unchecked(label).into()),
    ]
}

fn triple() -> impl Strategy<Value = OxTriple> {
    let predicate = prop_oneof![Just(rdf::TYPE.to_owned()), "ex:[pqa]"];
    let object = prop_oneof![3 => node(), 1 => "[0-2]".prop_map(|text| Literal::from(text).into())];
    (node(), predicate, object).prop_map(|(subject, predicate, object)| {
        let subject: NamedOrBlankNode = match subject {
            Term::BlankNode(node) => node.into(),
            other => NamedNode::new_unchecked(other.to_string().trim_matches(['<', '>'])).into(),
        };
        OxTriple::new(subject, NamedNode::new_unchecked(predicate), object)
    })
}

fn graph_of(triples: &[OxTriple]) -> TripleGraph {
    let mut builder = TripleGraphBuilder::new();
    for triple in triples {
        builder.insert(triple.as_ref());
    }
    builder.finish()
}

/// The definition, word by word.
fn by_definition(graph: &TripleGraph) -> BTreeMap<TermId, BTreeSet<Element>> {
    let mut patterns: BTreeMap<TermId, BTreeSet<Element>> = BTreeMap::new();
    for triple in graph.triples() {
        let literal = graph.term(triple.object).is_literal();
        let subject = patterns.entry(triple.subject).or_default();
        if graph.term(triple.predicate) == TermRef::Iri(rdf::TYPE) {
            if !literal {
                subject.insert(Element::Class(triple.object));
            }
            continue;
        }
        subject.insert(Element::Outgoing(triple.predicate));
        if !literal {
            patterns
                .entry(triple.object)
                .or_default()
                .insert(Element::Incoming(triple.predicate));
        }
    }
    patterns
}

proptest! {
    #[test]
    fn every_entity_has_the_pattern_of_the_definition(triples in proptest::collection::vec(triple(), 0..40)) {
        let graph = graph_of(&triples);
        let (patterns, expected) = (Patterns::new(&graph), by_definition(&graph));
        prop_assert_eq!(patterns.entities(), expected.keys().copied().collect::<Vec<_>>());
        for term in (0..graph.term_count() as u32).map(TermId) {
            let found = patterns.pattern_of(term).map(|id| patterns.pattern(id).elements.to_vec());
            prop_assert_eq!(found, expected.get(&term).map(|set| set.iter().copied().collect::<Vec<_>>()));
        }
        let distinct: BTreeSet<_> = expected.values().collect();
        prop_assert_eq!(patterns.len(), distinct.len());
        for pattern in patterns.patterns() {
            prop_assert!(pattern.entities.is_sorted());
            prop_assert!(pattern.entities.iter().all(|&entity| patterns.pattern_of(entity) == Some(pattern.id)));
            let parts: Vec<_> = pattern.classes().map(Element::Class)
                .chain(pattern.outgoing().map(Element::Outgoing))
                .chain(pattern.incoming().map(Element::Incoming))
                .collect();
            prop_assert_eq!(&parts[..], pattern.elements);
        }
        prop_assert_eq!(patterns.patterns().map(|p| p.count()).sum::<u64>(), expected.len() as u64);
        let order: Vec<_> = patterns.patterns().map(|p| (std::cmp::Reverse(p.count()), p.elements.to_vec())).collect();
        prop_assert!(order.is_sorted());
    }

    #[test]
    fn every_link_has_the_pattern_of_the_definition(triples in proptest::collection::vec(triple(), 0..40)) {
        let graph = graph_of(&triples);
        let patterns = Patterns::new(&graph);
        let mut links: BTreeMap<LinkPattern, Vec<u32>> = BTreeMap::new();
        for (place, triple) in graph.triples().iter().enumerate() {
            let link = graph.term(triple.predicate) != TermRef::Iri(rdf::TYPE) && graph.is_resource(triple.object);
            let key = link.then(|| LinkPattern {
                subject: patterns.pattern_of(triple.subject).expect("an entity"),
                property: triple.predicate,
                object: patterns.pattern_of(triple.object).expect("an entity"),
            });
            prop_assert_eq!(patterns.link_pattern_of(place).map(|id| patterns.link_patterns()[id.index()]), key);
            if let Some(key) = key {
                links.entry(key).or_default().push(place as u32);
            }
        }
        let mut expected: Vec<_> = links.into_iter().collect();
        expected.sort_by_key(|(key, places)| (std::cmp::Reverse(places.len()), *key));
        let ids = (0..patterns.link_patterns().len() as u32).map(LinkPatternId);
        let found: Vec<_> = ids.map(|id| (patterns.link_patterns()[id.index()], patterns.links(id).to_vec())).collect();
        prop_assert_eq!(&found, &expected);
        prop_assert_eq!(patterns.total_links(), found.iter().map(|(_, places)| places.len() as u64).sum::<u64>());
    }
}

/// The summary by the ranking of all patterns.
fn exact_summary(graph: &TripleGraph, most: usize) -> PatternSummary {
    let patterns = Patterns::new(graph);
    let mut link_patterns = Vec::new();
    for (rank, &pattern) in patterns.link_patterns().iter().enumerate().take(most) {
        if pattern.subject.index() < most && pattern.object.index() < most {
            let links = patterns.link_count(LinkPatternId(rank as u32));
            link_patterns.push(CountedLinkPattern {
                rank: rank as u32,
                pattern,
                links,
            });
        }
    }
    PatternSummary {
        entity_pattern_count: patterns.len() as u64,
        link_pattern_count: LinkPatternCount::Exact(patterns.link_patterns().len() as u64),
        entity_patterns: patterns
            .patterns()
            .take(most)
            .map(|p| (p.elements.to_vec(), p.count()))
            .collect(),
        link_patterns,
    }
}

proptest! {
    #[test]
    fn a_summary_equals_the_first_ranks_of_all_patterns(
        triples in proptest::collection::vec(triple(), 0..60), most in 0..12_usize,
    ) {
        let graph = graph_of(&triples);
        prop_assert_eq!(PatternSummary::new(&graph, most), exact_summary(&graph, most));
    }

    #[test]
    fn beyond_the_bound_listed_links_have_exact_counts(
        triples in proptest::collection::vec(triple(), 0..60), most in 0..12_usize, bound in 0..4_usize,
    ) {
        let graph = graph_of(&triples);
        let (summary, all) = (PatternSummary::with_bound(&graph, most, bound), exact_summary(&graph, usize::MAX));
        prop_assume!(all.link_pattern_count != summary.link_pattern_count);
        prop_assert!(all.link_patterns.len() > bound);
        prop_assert!(matches!(summary.link_pattern_count, LinkPatternCount::Estimate(_)));
        prop_assert_eq!(&summary.entity_patterns[..], &exact_summary(&graph, most).entity_patterns[..]);
        let expected: Vec<_> = all.link_patterns.iter().filter(|link| link.pattern.subject.index() < most && link.pattern.object.index() < most).take(most).map(|l| (l.pattern, l.links)).collect();
        let found: Vec<_> = summary.link_patterns.iter().map(|link| (link.pattern, link.links)).collect();
        prop_assert_eq!(found, expected);
    }
}

#[test]
fn a_class_that_is_also_a_property_makes_different_elements() {
    let iri = |name: &str| NamedNode::new_unchecked(name);
    let graph = graph_of(&[
        OxTriple::new(iri("ex:s"), iri(rdf::TYPE), iri("ex:x")),
        OxTriple::new(iri("ex:s"), iri("ex:x"), iri("ex:o")),
    ]);
    let patterns = Patterns::new(&graph);
    let x = graph.iri("ex:x").expect("there");
    let subject = patterns
        .pattern_of(graph.iri("ex:s").expect("there"))
        .expect("an entity");
    assert_eq!(
        patterns.pattern(subject).elements,
        [Element::Class(x), Element::Outgoing(x)]
    );
    assert_eq!(patterns.pattern_of(x), None);
}

#[test]
fn nothing_has_no_patterns() {
    let patterns = Patterns::new(&graph_of(&[]));
    assert!(
        patterns.is_empty()
            && patterns.entities().is_empty()
            && patterns.link_patterns().is_empty()
    );
}

#[test]
fn patterns_as_triples() {
    let iri = |name: &str| NamedNode::new_unchecked(name);
    let graph = graph_of(&[
        OxTriple::new(iri("ex:s1"), iri("ex:p"), iri("ex:o")),
        OxTriple::new(iri("ex:s2"), iri("ex:p"), iri("ex:o")),
        OxTriple::new(iri("ex:o"), iri("ex:q"), Literal::from("x")),
        OxTriple::new(iri("ex:alone"), iri("ex:r"), iri("ex:once")),
    ]);
    let lines = |most| -> Vec<String> {
        let triples = PatternSummary::new(&graph, most).to_triples(&graph, &iri("ex:d"));
        triples
            .iter()
            .map(|triple| {
                triple
                    .to_string()
                    .replace("https://w3id.org/lodeseek/ns#", "")
            })
            .collect()
    };
    assert_eq!(lines(0).len(), 2);
    assert_eq!(lines(1).len(), 2 + 4); // the link pattern's other end is not described
    let all = lines(9);
    let has = |line: &str| all.iter().any(|found| found == line);
    for line in [
        "<ex:d#entity-pattern-1> <outgoingProperty> <ex:p>",
        "<ex:d#link-pattern-1> <subjectPattern> <ex:d#entity-pattern-1>",
        "<ex:d#link-pattern-1> <objectPattern> <ex:d#entity-pattern-2>",
        // It occurs once, and is the object's.
        "<ex:d#entity-pattern-2> <incomingProperty> <ex:p>",
    ] {
        assert!(has(line), "{line} is not in {all:#?}");
    }
    for once in ["<ex:r>", "link-pattern-2"] {
        assert!(
            !all.iter().any(|line| line.contains(once)),
            "{once} is in {all:#?}"
        );
    }
}

#[test]
fn an_estimate_has_a_property_of_its_own() {
    let iri = |name: &str| NamedNode::new_unchecked(name);
    let graph = graph_of(&[
        OxTriple::new(iri("ex:s"), iri("ex:p"), iri("ex:o")),
        OxTriple::new(iri("ex:s"), iri("ex:q"), iri("ex:o")),
    ]);
    let properties = |bound| -> Vec<String> {
        let triples = PatternSummary::with_bound(&graph, 9, bound).to_triples(&graph, &iri("ex:d"));
        triples
            .into_iter()
            .map(|triple| triple.predicate.into_string())
            .collect()
    };
    let has = |bound, property: &str| properties(bound).iter().any(|found| found == property);
    assert!(has(2, lodeseek::LINK_PATTERNS) && !has(2, lodeseek::ESTIMATED_LINK_PATTERNS));
    assert!(has(1, lodeseek::ESTIMATED_LINK_PATTERNS) && !has(1, lodeseek::LINK_PATTERNS));
}

#[test]
fn the_number_of_link_patterns_is_estimated_within_three_percent() {
    let iri = |kind: &str, number: usize| NamedNode::new_unchecked(format!("ex:{kind}{number}"));
    let links = 60_000;
    let triples: Vec<_> = (0..links)
        .map(|number| OxTriple::new(iri("s", number), iri("p", number), iri("o", number)))
        .collect();
    let summary = PatternSummary::with_bound(&graph_of(&triples), 5, 1000);
    let LinkPatternCount::Estimate(estimate) = summary.link_pattern_count else {
        panic!("{summary:?}")
    };
    assert!(
        estimate.abs_diff(links as u64) < links as u64 * 3 / 100,
        "{estimate}"
    );
}
