use super::*;
use crate::conformance::{Guarantees, check_snippet, graph_of, random_statements};
use crate::{IlluSnip, SnippetExtractor, TripleBudget};
use lodeseek_rdf::StreamedGraph;
use lodeseek_rdf::dump::DumpReader;
use proptest::prelude::*;
use std::collections::BTreeSet;

const PREFIX: &str =
    "@prefix e: <http://e.org/> . @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .\n";

fn sample(turtle: &str, budget: usize) -> SampledGraph {
    let dump = format!("{PREFIX}{turtle}");
    let read = |sink: &mut dyn TripleSink| {
        DumpReader::default().read(dump.as_bytes(), "t.ttl", "http://e.org/", sink);
    };
    let mut survey = CountingPass::new(budget);
    read(&mut survey);
    let mut sampling = survey.finish();
    if sampling.needs_second_pass() {
        read(&mut sampling);
    }
    sampling.finish()
}

fn lines(graph: &TripleGraph) -> BTreeSet<String> {
    graph
        .triples()
        .iter()
        .map(|&triple| graph.to_triple(triple).to_string())
        .collect()
}

/// Returns the counts by name.
fn named(graph: &TripleGraph, counts: &[(TermId, u64)]) -> BTreeMap<String, u64> {
    counts
        .iter()
        .map(|&(id, count)| (graph.to_term(id).to_string(), count))
        .collect()
}

fn without_repeats(statements: &[String]) -> String {
    statements
        .iter()
        .collect::<BTreeSet<_>>()
        .into_iter()
        .map(String::as_str)
        .collect()
}

proptest! {
    #[test]
    fn what_fits_is_the_whole(statements in random_statements()) {
        let whole = graph_of(&statements.concat());
        let found = sample(&statements.concat(), 40);
        prop_assert!(found.is_whole);
        prop_assert_eq!(found.graph.to_compact(), whole.to_compact());
        let ours = found.profile;
        let theirs = Profile::new(&whole);
        let snippet = |profile| IlluSnip::default().extract(&whole, profile, TripleBudget(5));
        prop_assert_eq!(snippet(&ours), snippet(&theirs));
    }

    #[test]
    fn the_sample_keeps_its_promises(statements in random_statements(), budget in 8usize..64) {
        let turtle = without_repeats(&statements);
        let whole = graph_of(&turtle);
        let found = sample(&turtle, budget);
        prop_assert!(found.graph.len() <= budget && found.count_error == 0);
        prop_assert!(lines(&found.graph).is_subset(&lines(&whole)));
        let profile = Profile::new(&whole);
        prop_assert_eq!((found.profile.triples, found.profile.type_triples), (profile.triples, profile.type_triples));
        let pairs = [(&found.profile.classes, &profile.classes), (&found.profile.properties, &profile.properties)];
        let few = profile.classes.len() + profile.properties.len() <= budget / 4;
        for (ours, theirs) in pairs {
            let ours = named(&found.graph, ours);
            let theirs = named(&whole, theirs);
            prop_assert!(ours.iter().all(|(name, count)| theirs[name] == *count), "counts of the whole");
            prop_assert!(!few || ours.len() == theirs.len(), "every class and property: {:?} of {:?}", ours, theirs);
        }
        prop_assert_eq!(lines(&sample(&turtle, budget).graph), lines(&found.graph));
        let snippet = IlluSnip::default().extract(&found.graph, &found.profile, TripleBudget(5));
        check_snippet(&found.graph, &snippet, 5, Guarantees { connected: true, ..Guarantees::default() });
    }

    #[test]
    fn counts_of_the_frequent_miss_no_more_than_they_say(keys in proptest::collection::vec(0u8..12, 0..200), capacity in 1usize..8) {
        let mut frequent = FrequentItems::new(capacity);
        keys.iter().for_each(|&key| frequent.add(key, |_| ()));
        prop_assert!(frequent.len() <= capacity && frequent.error() <= keys.len() as u64 / (capacity as u64 + 1));
        for key in 0..12 {
            let exact = keys.iter().filter(|&&other| other == key).count() as u64;
            prop_assert!(frequent.count(&key) <= exact && exact <= frequent.count(&key) + frequent.error());
        }
    }
}

/// A hub of which every entity is a part: it is central, and shows all its statements.
#[test]
fn a_hub_is_described_in_full() {
    let parts: String = (0..500)
        .map(|n| format!("e:n{n} e:part e:hub ; e:p{} {n} .\n", n % 7))
        .collect();
    let found = sample(
        &format!("{parts} e:hub e:name \"hub\" ; e:next e:n3 ; a e:Hub ."),
        100,
    );
    assert!(!found.is_whole && found.graph.len() <= 100);
    let hub = found.graph.iri("http://e.org/hub").expect("in the sample");
    assert_eq!(found.graph.subject_triples(hub).len(), 3);
    let part = found.graph.iri("http://e.org/part").expect("in the sample");
    assert_eq!(
        found.profile.properties[0],
        (part, 500),
        "as counted in the whole"
    );
    assert!(
        found
            .graph
            .triples()
            .iter()
            .any(|triple| triple.object == hub)
    );
}

/// Two passes generate different labels for the same blank nodes.
#[test]
fn blank_nodes_are_the_same_in_both_readings() {
    let turtle: String = (0..100)
        .map(|n| format!("[] e:p [ e:q {n} ] .\n"))
        .collect();
    let first = sample(&turtle, 20);
    let second = sample(&turtle, 20);
    assert_eq!(lines(&first.graph), lines(&second.graph));
    assert!(lines(&first.graph).is_subset(&lines(&graph_of(&turtle))));
}

/// Sorted by predicate, as many dumps are: no stratum receives triples after the next one has begun.
#[test]
fn strata_stay_within_the_budget_when_properties_come_one_after_the_other() {
    let budget = 2000;
    let mut survey = CountingPass::new(budget);
    let mut most = 0;
    for property in 0..120 {
        for n in 0..(budget / 4) {
            let [subject, property, object] = [
                format!("e:s{n}"),
                format!("e:p{property}"),
                format!("e:o{n}"),
            ];
            let node = oxrdf::NamedNode::new_unchecked;
            survey.insert_triple(Triple::new(node(subject), node(property), node(object)).as_ref());
        }
        most = most.max(count_retained(&survey));
    }
    assert!(most <= budget / 2, "{most} triples held");
    assert!(
        survey
            .counter
            .strata
            .values()
            .all(|stratum| stratum.len() >= budget / 4 / 120),
        "and no stratum is cut short"
    );
}

fn count_retained(survey: &CountingPass) -> usize {
    survey.counter.strata.values().map(BTreeMap::len).sum()
}

proptest! {
    #[test]
    fn a_sample_of_a_stream_keeps_the_budget_and_the_counts(statements in random_statements(), budget in 16usize..80) {
        let whole = graph_of(&without_repeats(&statements));
        let compact = whole.to_compact();
        let stream = StreamedGraph::open(move || Ok(Box::new(std::io::Cursor::new(compact.clone())))).expect("opened");
        let profile = Profile::from_stream(&stream).expect("read");
        let sample = sample_stream(&stream, profile, budget).expect("sampled").sample;
        let (graph, found) = (&sample.graph, &sample.profile);
        prop_assert!(graph.len() <= budget);
        prop_assert_eq!(sample.is_whole, graph.len() == whole.len());
        prop_assert!(lines(graph).is_subset(&lines(&whole)));
        let profile = Profile::new(&whole);
        prop_assert_eq!((found.triples, found.entities), (profile.triples, profile.entities));
        let few = profile.classes.len() + profile.properties.len() <= budget / 8;
        for (found, expected) in [(&found.classes, &profile.classes), (&found.properties, &profile.properties)] {
            let (expected, counts) = (named(&whole, expected), named(graph, found));
            prop_assert!(counts.iter().all(|(name, count)| expected.get(name) == Some(count)));
            prop_assert!(!few || counts.len() == expected.len(), "{:?} lacks some of {:?}", counts, expected);
        }
    }
}
