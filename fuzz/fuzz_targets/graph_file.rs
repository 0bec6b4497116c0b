//! The compact form of a graph, in which the home keeps versions of datasets: generated graphs with changed bytes.
#![no_main]

use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use lodeseek_fuzz::quads::Quads;
use lodeseek_fuzz::{dumps, start};
use lodeseek_rdf::{TripleGraph, TripleGraphBuilder};
use lodeseek_store::GraphCounts;

#[derive(Arbitrary, Debug)]
struct Damaged {
    quads: Quads,
    changes: Vec<(u16, u8)>,
    cut: Option<u16>,
    appended: Vec<u8>,
}

fuzz_target!(init: start(), |input: Damaged| {
    let mut builder = TripleGraphBuilder::new();
    input.quads.triples().iter().for_each(|triple| builder.insert(triple.as_ref()));
    let mut bytes = builder.finish().to_compact();
    for (place, byte) in input.changes {
        let place = usize::from(place) % bytes.len();
        bytes[place] = byte;
    }
    if let Some(cut) = input.cut {
        bytes.truncate(usize::from(cut));
    }
    bytes.extend(input.appended);
    let Some(graph) = TripleGraph::from_compact(&bytes) else { return };
    // A reader of the graph must not fail, whatever its terms are.
    assert_eq!(dumps::triples(&graph).len(), graph.len());
    for id in graph.iris() {
        let _ = graph.iri(graph.term(id).text());
        let _ = graph.subject_triples(id);
    }
    let _ = GraphCounts::from_graph(&graph);
    let again = TripleGraph::from_compact(&graph.to_compact()).expect("its own form is readable");
    assert_eq!(again.triples(), graph.triples());
});
