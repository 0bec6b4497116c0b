//! Comparison with snippets of the published Java implementation, on the shared data.

use super::*;
use crate::sample::CountingPass;
use lodeseek_rdf::TripleGraphBuilder;
use lodeseek_rdf::dump::DumpReader;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const INPUTS: [&str; 7] = [
    "syn500", "syn2000", "reg2000", "syn10000", "reg10000", "dbp80", "reg50000",
];

fn find_data() -> Option<PathBuf> {
    let folder = match std::env::var_os("LODESEEK_DATA") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
    };
    Some(folder.join("snippets")).filter(|snippets| snippets.is_dir())
}

fn read_graph(path: &Path) -> TripleGraph {
    let mut builder = TripleGraphBuilder::new();
    DumpReader::default().read_file(path, "f.nt", "file:///", &mut builder);
    builder.finish()
}

/// Returns the positions in `graph` of another graph's triples.
fn find_places(graph: &TripleGraph, other: &TripleGraph) -> Vec<u32> {
    let texts: BTreeSet<String> = other
        .triples()
        .iter()
        .map(|&triple| other.to_triple(triple).to_string())
        .collect();
    (0..graph.len() as u32)
        .filter(|&place| {
            let triple = graph.triples()[place as usize];
            texts.contains(&graph.to_triple(triple).to_string())
        })
        .collect()
}

/// Counts distinct classes and properties.
fn count_elements(weights: &Weights<'_>, triples: &[Triple]) -> usize {
    triples
        .iter()
        .map(|triple| weights.element(*triple))
        .collect::<BTreeSet<_>>()
        .len()
}

/// Returns the largest gain of these triples over all connected orders. Only the first triple matters.
fn find_largest_gain(growth: &mut Growth<'_>, places: &[u32]) -> f64 {
    let mut most = 0.0_f64;
    for first in 0..places.len() {
        let mut order = places.to_vec();
        order.swap(0, first);
        let mut joined = vec![order.remove(0)];
        while let Some(next) = order
            .iter()
            .position(|&place| joins(growth.weights, &joined, place))
        {
            joined.push(order.remove(next));
        }
        assert!(order.is_empty(), "the peer's triples hang together");
        growth.grow(&joined, joined.len());
        most = most.max(growth.total);
    }
    most
}

pub(super) fn joins(weights: &Weights<'_>, joined: &[u32], place: u32) -> bool {
    let triple = weights.triple(place);
    joined.iter().any(|&other| {
        let other = weights.triple(other);
        [other.subject, other.object].into_iter().any(|end| {
            weights.is_entity[end.index()] && [triple.subject, triple.object].contains(&end)
        })
    })
}

#[test]
fn gain_and_coverage_are_at_least_those_of_the_published_code() {
    let Some(folder) = find_data() else {
        print_note("SKIPPED: no snippets to compare with (LODESEEK_DATA, or ../shared/data)");
        return;
    };
    let mut short = Vec::new();
    for name in INPUTS {
        let graph = read_graph(&folder.join(format!("inputs/{name}.nt")));
        let theirs = read_graph(&folder.join(format!("peers/pcsg-{name}-illusnip-k20.nt")));
        let profile = Profile::new(&graph);
        let places = find_places(&graph, &theirs);
        assert_eq!(
            places.len(),
            theirs.len(),
            "{name}: the peer's triples are of the input"
        );
        let weights = Weights::new(&graph, &profile);
        let peer = find_largest_gain(&mut Growth::new(&weights), &places);
        for work in [DEFAULT_WORK, IlluSnip::indexing_work(graph.len() as u64)] {
            let snippet =
                IlluSnip::default()
                    .with_work(work)
                    .extract(&graph, &profile, TripleBudget(20));
            let ours = count_elements(&weights, &snippet.triples);
            let other = count_elements(&weights, &theirs_in(&graph, &places));
            let gain = snippet.gain;
            print_note(&format!(
                "{name}, {work}: gain {gain:.4} to {peer:.4}, classes and properties {ours} to {other}"
            ));
            if gain < peer - 1e-9 || ours < other {
                short.push((name, work));
            }
        }
    }
    assert!(
        short.is_empty(),
        "less than the published code's: {short:?}"
    );
}

fn theirs_in(graph: &TripleGraph, places: &[u32]) -> Vec<Triple> {
    places
        .iter()
        .map(|&place| graph.triples()[place as usize])
        .collect()
}

/// Prints a note beside the test results.
fn print_note(text: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// A sample of a fifth of the triples reaches nine tenths of the gain. Both are weighted as in the whole graph.
#[test]
fn a_sample_reaches_most_of_the_gain() {
    let Some(folder) = find_data() else {
        print_note("SKIPPED: no snippets to compare with (LODESEEK_DATA, or ../shared/data)");
        return;
    };
    for name in INPUTS {
        let path = folder.join(format!("inputs/{name}.nt"));
        let graph = read_graph(&path);
        let profile = Profile::new(&graph);
        let full = IlluSnip::default()
            .extract(&graph, &profile, TripleBudget(20))
            .gain;
        let mut survey = CountingPass::new(graph.len() / 5);
        DumpReader::default().read_file(&path, "f.nt", "file:///", &mut survey);
        let mut sampling = survey.finish();
        DumpReader::default().read_file(&path, "f.nt", "file:///", &mut sampling);
        let sample = sampling.finish();
        let snippet = IlluSnip::default().extract(&sample.graph, &sample.profile, TripleBudget(20));
        let shown: BTreeSet<String> = snippet
            .triples
            .iter()
            .map(|&triple| sample.graph.to_triple(triple).to_string())
            .collect();
        let places: Vec<u32> = (0..graph.len() as u32)
            .filter(|&place| {
                let triple = graph.triples()[place as usize];
                shown.contains(&graph.to_triple(triple).to_string())
            })
            .collect();
        let weights = Weights::new(&graph, &profile);
        let reached = find_largest_gain(&mut Growth::new(&weights), &places) / full;
        print_note(&format!(
            "{name}: {} of {} triples, {reached:.4} of the gain",
            sample.graph.len(),
            graph.len()
        ));
        assert!(
            sample.graph.len() <= graph.len() / 5 && reached > 0.9,
            "{name}: {reached}"
        );
    }
}
