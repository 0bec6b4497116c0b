use super::*;
use crate::conformance::{graph_of, random_statements};
use crate::keyword::{KeywordSet, LabelMatcher};
use crate::{IlluSnip, SnippetExtractor, TripleBudget};
use proptest::prelude::*;

fn snippet(graph: &TripleGraph, is_selected: impl Fn(&str, &str) -> bool) -> Snippet {
    let short = |id: TermId| {
        graph
            .term(id)
            .text()
            .trim_start_matches("http://e.org/")
            .to_owned()
    };
    let chosen = graph
        .triples()
        .iter()
        .filter(|t| is_selected(&short(t.subject), &short(t.object)));
    Snippet {
        triples: chosen.copied().collect(),
        gain: 0.0,
        interrupted: false,
    }
}

fn near(value: f64, expected: f64) {
    assert!(
        (value - expected).abs() < 1e-12,
        "{value} is not {expected}"
    );
}

/// Six triples: a and b are cities, a is near b, both have names, c stands in b.
const CITIES: &str = "e:a a e:City ; e:near e:b ; e:name \"green bay\" . e:b a e:City ; e:name \"red hill\" . e:c e:in e:b .";

fn words(label: &str) -> KeywordSet {
    let all = ["green", "bay", "red", "hill", "City"];
    KeywordSet(
        all.iter()
            .enumerate()
            .map(|(place, word)| u64::from(label.split(' ').any(|one| one == *word)) << place)
            .sum(),
    )
}

#[test]
fn by_hand() {
    let graph = graph_of(CITIES);
    let profile = Profile::new(&graph);
    let patterns = Patterns::new(&graph);
    // All triples except those of c.
    let snippet = snippet(&graph, |subject, _| subject != "c");
    let report = Report::new(&graph, &profile, &patterns, &snippet);
    // Properties: rdf:type 2, near 1, name 2 of 6; classes: 2 of 2.
    near(report.skm_rep, harmonic_mean(5.0 / 6.0, 1.0));
    // Out: a 3, b 2, at most 3. In: a 0, b 2, at most 2.
    near(
        report.ent_rep,
        harmonic_mean(f64::midpoint(1.0, 3f64.ln() / 4f64.ln()), 0.5),
    );
    // a shows City, near, name: all. b lacks its incoming link from c. One of three entities is complete.
    near(report.desc_rep, 1.0 / 3.0);
    assert_eq!(report.link_rep, 0.0, "b is not complete");
    assert_eq!((report.kw_rel, report.qry_rel), (None, None));
    let whole = Snippet {
        triples: graph.triples().to_vec(),
        ..snippet
    };
    let report = Report::new(&graph, &profile, &patterns, &whole);
    assert_eq!(
        (report.skm_rep, report.desc_rep, report.link_rep),
        (1.0, 1.0, 1.0)
    );
    assert_eq!(report.to_string().split("  ").count(), 4);
}

#[test]
fn a_need_by_hand() {
    let graph = graph_of(CITIES);
    let profile = Profile::new(&graph);
    let patterns = Patterns::new(&graph);
    let reference = Reference::new(&graph, &profile, &patterns);
    let keywords = LabelMatcher(words);
    let matches = Matches::new(&keywords, &graph);
    let names = snippet(&graph, |_, object| object.contains(' '));
    // "green bay red": the dataset contains all three, and both pairs in its only component. The two names share their
    // property, which is a node.
    let need = InformationNeed::new(&graph, &matches, &[0, 1, 2]);
    let report = reference.report(&names, Some(&need));
    assert_eq!(
        (report.kw_rel, report.qry_rel),
        (Some(4.0 / 5.0), Some(1.0))
    );
    let green = snippet(&graph, |_, object| object == "green bay");
    assert_eq!(reference.report(&green, Some(&need)).qry_rel, Some(0.5));
    // One word, no pair.
    let need = InformationNeed::new(&graph, &matches, &[0]);
    assert_eq!(
        reference.report(&green, Some(&need)).qry_rel,
        Some(2.0 / 5.0)
    );
}

#[test]
fn a_dataset_without_types_or_links() {
    let graph = graph_of("e:a e:p 1 ; e:q 2 . e:b e:p 3 .");
    let snippet = snippet(&graph, |_, object| object == "1");
    let report = Report::new(
        &graph,
        &Profile::new(&graph),
        &Patterns::new(&graph),
        &snippet,
    );
    near(report.skm_rep, 2.0 / 3.0);
    near(report.ent_rep, 1.0);
    assert_eq!((report.desc_rep, report.link_rep), (0.0, 0.0));
}

proptest! {
    #[test]
    fn from_zero_to_one_and_whole_for_the_whole(statements in random_statements(), budget in 0usize..9) {
        let graph = graph_of(&statements.concat());
        let profile = Profile::new(&graph);
        let patterns = Patterns::new(&graph);
        let reference = Reference::new(&graph, &profile, &patterns);
        let keywords = LabelMatcher(|label: &str| KeywordSet(u64::from(label == "n1") | u64::from(label == "n2") << 1));
        let matches = Matches::new(&keywords, &graph);
        let need = InformationNeed::new(&graph, &matches, &[0, 1]);
        let snippet = IlluSnip::default().extract(&graph, &profile, TripleBudget(budget));
        for value in reference.report(&snippet, Some(&need)).values().into_iter().flatten() {
            prop_assert!((0.0..=1.0).contains(&value), "{}", value);
        }
        let whole = Snippet { triples: graph.triples().to_vec(), ..snippet };
        let report = reference.report(&whole, Some(&need));
        near(report.skm_rep, 1.0);
        prop_assert!(report.kw_rel.is_none_or(|value| value == 1.0) && report.qry_rel.is_none_or(|value| value == 1.0));
        // An entity whose only triples have literals as types has an empty pattern, which no triple shows.
        let whole = if patterns.total_links() > 0 { 1.0 } else { 0.0 };
        prop_assert_eq!(report.link_rep, whole);
    }
}
