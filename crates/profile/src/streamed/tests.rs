use super::*;
use crate::{Patterns, Schema};
use lodeseek_rdf::dump::DumpReader;
use lodeseek_rdf::{TripleGraph, TripleGraphBuilder};
use proptest::prelude::*;
use std::io::Cursor;

fn graph_of(turtle: &str) -> TripleGraph {
    let mut builder = TripleGraphBuilder::new();
    DumpReader::default().read(turtle.as_bytes(), "t.ttl", "http://e.org/", &mut builder);
    builder.finish()
}

fn streamed(graph: &TripleGraph) -> StreamedGraph {
    let compact = graph.to_compact();
    StreamedGraph::open(move || Ok(Box::new(Cursor::new(compact.clone()))))
        .expect("a compact graph")
}

fn term() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-f]".prop_map(|name| format!("<http://e.org/{name}>")),
        "[a-c]".prop_map(|name| format!("<http://other.org/{name}>")),
        "[a-c]".prop_map(|label| format!("_:{label}")),
    ]
}

fn object() -> impl Strategy<Value = String> {
    let languages = proptest::sample::select(vec!["@en", "@EN", "@de", "", "^^<http://e.org/d>"]);
    prop_oneof![2 => term(), 1 => ("[a-c]", languages).prop_map(|(text, kind)| format!("\"{text}\"{kind}"))]
}

fn property() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("a".to_owned()),
        "[p-r]".prop_map(|name| format!("<http://v.org/ns#{name}>"))
    ]
}

proptest! {
    /// Both ways to count one graph give the same.
    #[test]
    fn counts_as_in_memory(triples in proptest::collection::vec((term(), property(), object()), 0..60)) {
        let turtle: String = triples.iter().map(|(s, p, o)| format!("{s} {p} {o} .\n")).collect();
        let graph = graph_of(&turtle);
        let stream = streamed(&graph);
        prop_assert_eq!(Profile::from_stream(&stream).expect("read"), Profile::new(&graph));
        prop_assert_eq!(Schema::from_stream(&stream).expect("read"), Schema::new(&graph));

        let folder = tempfile::tempdir().expect("a folder");
        let scratch = folder.path().join("scratch");
        std::fs::create_dir(&scratch).expect("made");
        let found = PatternSummary::from_stream(&stream, 4, &scratch).expect("read");
        prop_assert!(!scratch.exists(), "temporary files remain");
        let expected = PatternSummary::new(&graph, 4);
        prop_assert_eq!(found.entity_pattern_count, expected.entity_pattern_count);
        prop_assert_eq!(found.link_pattern_count, expected.link_pattern_count);
        let counts = |summary: &PatternSummary| summary.entity_patterns.iter().map(|pattern| pattern.1).collect::<Vec<_>>();
        prop_assert_eq!(counts(&found), counts(&expected));
        let patterns = Patterns::new(&graph);
        for (elements, entities) in &found.entity_patterns {
            let pattern = patterns.patterns().find(|pattern| pattern.elements == elements.as_slice());
            prop_assert_eq!(pattern.map(|pattern| pattern.count()), Some(*entities));
        }
        for counted in &found.link_patterns {
            let elements = |id: PatternId| found.entity_patterns[id.index()].0.as_slice();
            let is_same = |pattern: &&LinkPattern| {
                pattern.property == counted.pattern.property
                    && patterns.pattern(pattern.subject).elements == elements(counted.pattern.subject)
                    && patterns.pattern(pattern.object).elements == elements(counted.pattern.object)
            };
            let place = patterns.link_patterns().iter().position(|pattern| is_same(&pattern)).expect("a link pattern");
            prop_assert_eq!(patterns.link_count(crate::LinkPatternId(place as u32)), counted.links);
        }
    }

    /// A selection has other term numbers and the same names.
    #[test]
    fn a_selection_keeps_names(triples in proptest::collection::vec((term(), property(), object()), 1..40)) {
        let turtle: String = triples.iter().map(|(s, p, o)| format!("{s} {p} {o} .\n")).collect();
        let graph = graph_of(&turtle);
        let half: Vec<Triple> = graph.triples().iter().step_by(2).copied().collect();
        let (selected, ids) = streamed(&graph).select(&half, u64::MAX).expect("selected").expect("no limit");
        let whole = Profile::new(&graph);
        let local = whole.clone().in_selection(&ids);
        for (id, count) in &local.properties {
            let name = selected.term(*id).text();
            prop_assert!(whole.properties.contains(&(graph.iri(name).expect("a property"), *count)));
        }
        prop_assert_eq!(local.triples, whole.triples);
    }
}
