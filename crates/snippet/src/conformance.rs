//! Conformance suite for all extractors, called by the tests of each.
//!
//! ```ignore
//! conformance::check(&Mine::default(), Guarantees { connected: true, ..Guarantees::default() });
//! conformance::check_deadline(|deadline| Box::new(Mine::default().with_deadline(deadline)), guarantees);
//! ```

use super::{Deadline, Snippet, SnippetExtractor, TripleBudget};
use lodeseek_profile::Profile;
use lodeseek_rdf::dump::DumpReader;
use lodeseek_rdf::{TermId, Triple, TripleGraph, TripleGraphBuilder};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Properties of an extractor's snippets beyond those that every extractor must have.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Guarantees {
    /// If true, every triple shares a non-literal subject or object with an earlier triple.
    pub connected: bool,
    /// If true, a snippet may be empty although graph and budget are not, for example if no keyword matches.
    pub may_be_empty: bool,
    /// If true, more time never gives a smaller gain.
    pub anytime: bool,
}

/// Budgets tested on every graph: none, few, the default, and more than any graph has.
const BUDGETS: [usize; 5] = [0, 1, 3, 20, usize::MAX];

/// Edge cases that were bugs in some extractor, in Turtle after [`PREFIX`].
const EDGE_CASES: [&str; 14] = [
    "",
    "e:a e:p e:b .",
    "e:a e:p 1 .",
    "e:a a e:C .",
    "e:a e:p e:a .",
    "e:a a e:a .",
    "e:a a \"no class\" . e:b a e:C .",
    "e:a a e:C . e:b a e:C . e:C a e:Class ; e:p e:a .",
    "e:p e:p e:p . e:p a e:p .",
    "_:a e:p _:b . _:b e:q _:c . _:c a e:C .",
    "e:a e:p \"x\" . e:b e:p \"x\" . e:c e:q \"x\" .",
    "e:a e:p e:b . e:c e:p e:d . e:e e:q e:f ; a e:C .",
    "e:a e:p e:b , e:c , e:d , e:f ; e:q e:b , e:c ; e:r 1 , 2 , 3 , 4 , 5 , 6 , 7 , 8 , 9 .",
    "e:a a rdf:type ; rdf:type e:b . rdf:type e:p e:a .",
];

const PREFIX: &str =
    "@prefix e: <http://e.org/> . @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .\n";

/// Parses Turtle in which the prefixes `e:` and `rdf:` are declared.
pub(crate) fn graph_of(turtle: &str) -> TripleGraph {
    let mut builder = TripleGraphBuilder::new();
    DumpReader::default().read(
        format!("{PREFIX}{turtle}").as_bytes(),
        "t.ttl",
        "http://e.org/",
        &mut builder,
    );
    builder.finish()
}

/// Generates small graphs of types, links (some to classes, some reflexive) and literals, as Turtle statements.
pub(crate) fn random_statements() -> impl Strategy<Value = Vec<String>> {
    let triple = (0..6u8, 0..4u8, 0..9u8).prop_map(|(s, p, o)| match (p, o) {
        (0, o) => format!("e:n{s} a e:{}{o} .\n", if o < 2 { "n" } else { "C" }),
        (p, 0..6) => format!("e:n{s} e:p{p} e:n{o} .\n"),
        (p, o) => format!("e:n{s} e:p{p} \"{o}\" .\n"),
    });
    proptest::collection::vec(triple, 1..40)
}

/// Checks subset, budget, determinism and the guarantees, on the edge cases and on random graphs.
pub(crate) fn check(extractor: &dyn SnippetExtractor, guarantees: Guarantees) {
    assert!(!extractor.name().is_empty());
    for turtle in EDGE_CASES {
        check_on(&graph_of(turtle), extractor, guarantees);
    }
    let outcome = TestRunner::default().run(&random_statements(), |statements| {
        let graph = graph_of(&statements.concat());
        check_on(&graph, extractor, guarantees);
        let reversed: String = statements.iter().rev().map(String::as_str).collect();
        let other = graph_of(&reversed);
        let ours = extract(extractor, &graph, 5);
        let theirs = extract(extractor, &other, 5);
        assert_eq!(
            format_triples(&graph, &ours),
            format_triples(&other, &theirs),
            "the order of statements must not matter"
        );
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{}: {failure}", extractor.name());
    }
}

/// Checks one graph with every budget.
pub(crate) fn check_on(
    graph: &TripleGraph,
    extractor: &dyn SnippetExtractor,
    guarantees: Guarantees,
) {
    for budget in BUDGETS {
        let snippet = extract(extractor, graph, budget);
        check_snippet(graph, &snippet, budget, guarantees);
        assert_eq!(
            extract(extractor, graph, budget),
            snippet,
            "not the same on every run, budget {budget}"
        );
    }
}

/// Checks that a deadline ends the search soon, at any time, and that the snippet satisfies all other checks.
///
/// `make` creates the extractor with a deadline. Other bounds should be off, so that only the deadline ends the search.
pub(crate) fn check_deadline(
    make: impl for<'d> Fn(Deadline<'d>) -> Box<dyn SnippetExtractor + 'd>,
    guarantees: Guarantees,
) {
    let chain: String = (0..200)
        .map(|n| format!("e:n{n} e:p{} e:n{} ; a e:C{} .\n", n % 7, n + 1, n % 5))
        .collect();
    for turtle in EDGE_CASES.into_iter().chain([chain.as_str()]) {
        let graph = graph_of(turtle);
        let unhurried = extract(&*make(Deadline::never()), &graph, 5);
        let mut last = f64::NEG_INFINITY;
        for call_limit in [0, 1, 2, 5, 20, 100, usize::MAX] {
            let calls = AtomicUsize::new(0);
            let snippet = extract(
                &*make(Deadline::new(&|| {
                    calls.fetch_add(1, Ordering::Relaxed) >= call_limit
                })),
                &graph,
                5,
            );
            check_snippet(&graph, &snippet, 5, guarantees);
            let late = calls.load(Ordering::Relaxed).saturating_sub(call_limit);
            assert!(
                late <= 8,
                "{late} more questions after the deadline had passed"
            );
            assert!(
                late == 0 || snippet.interrupted || snippet == unhurried,
                "interrupted, but it does not say so"
            );
            assert!(
                late > 0 || snippet == unhurried,
                "in time, but not the same as without a deadline"
            );
            assert!(
                !guarantees.anytime || snippet.gain >= last,
                "more time gave less: {} after {last}",
                snippet.gain
            );
            last = snippet.gain;
        }
    }
}

fn extract(extractor: &dyn SnippetExtractor, graph: &TripleGraph, budget: usize) -> Snippet {
    extractor.extract(graph, &Profile::new(graph), TripleBudget(budget))
}

fn format_triples(graph: &TripleGraph, snippet: &Snippet) -> Vec<String> {
    snippet
        .triples
        .iter()
        .map(|&triple| graph.to_triple(triple).to_string())
        .collect()
}

/// Checks the properties of any snippet of any extractor.
pub(crate) fn check_snippet(
    graph: &TripleGraph,
    snippet: &Snippet,
    budget: usize,
    guarantees: Guarantees,
) {
    assert!(
        snippet.triples.len() <= budget,
        "{} triples of {budget}",
        snippet.triples.len()
    );
    let distinct: BTreeSet<_> = snippet.triples.iter().collect();
    assert_eq!(distinct.len(), snippet.triples.len(), "a triple twice");
    assert!(
        snippet
            .triples
            .iter()
            .all(|triple| graph.triples().binary_search(triple).is_ok()),
        "a triple that is not the graph's"
    );
    assert!(
        snippet.gain.is_finite() && snippet.gain >= 0.0,
        "a gain of {}",
        snippet.gain
    );
    if !guarantees.may_be_empty {
        assert_eq!(
            snippet.triples.is_empty(),
            budget == 0 || graph.is_empty(),
            "empty without need"
        );
    }
    if guarantees.connected {
        assert!(
            is_connected(graph, &snippet.triples),
            "not connected: {:?}",
            format_triples(graph, snippet)
        );
    }
}

/// Returns true if every triple shares a non-literal subject or object with an earlier triple.
pub(crate) fn is_connected(graph: &TripleGraph, triples: &[Triple]) -> bool {
    let mut before: BTreeSet<TermId> = BTreeSet::new();
    triples.iter().enumerate().all(|(place, triple)| {
        let ends = [triple.subject, triple.object]
            .into_iter()
            .filter(|&end| graph.is_resource(end));
        let joined = place == 0 || ends.clone().any(|end| before.contains(&end));
        before.extend(ends);
        joined
    })
}
