//! Graph algorithms over [`LinkGraph`] beside the same algorithms over petgraph's `UnGraph`: part of `make bench-snippet`.
//!
//! Both are called through the traits of petgraph. The generated graphs resemble those of RDF: half of the links end at one of a
//! hundred nodes. Times are minima of several rounds that alternate between both.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use lodeseek_snippet::graph::{HubLabels, LinkGraph, PageRank, components};
use petgraph::graph::UnGraph;
use std::hint::black_box;
use std::time::Instant;

const HUBS: u32 = 100;
const ROUNDS: usize = 9;
/// Numbers of nodes and links, and whether hub labels are computed.
const SIZES: [(u32, usize, bool); 2] = [(10_000, 40_000, true), (200_000, 1_000_000, false)];

fn main() {
    println!("algorithm    nodes    links      LinkGraph ms  UnGraph ms  ratio");
    for (nodes, count, has_labels) in SIZES {
        let links = links(nodes, count);
        let rows = LinkGraph::new(nodes as usize, links.iter().copied());
        let lists: UnGraph<(), ()> = UnGraph::from_edges(&links);
        let report = |algorithm: &str, (ours, theirs): (f64, f64)| {
            println!(
                "{algorithm:11} {nodes:8} {count:8} {ours:12.2} {theirs:12.2} {:8.1}",
                theirs / ours
            );
        };
        let scores = PageRank::default();
        report(
            "PageRank",
            minima(|| scores.scores(&rows), || scores.scores(&lists)),
        );
        report(
            "components",
            minima(|| components(&rows), || components(&lists)),
        );
        if has_labels {
            let nodes: Vec<u32> = (0..nodes).collect();
            let labels = minima(
                || HubLabels::new(&rows, &nodes, |_| true),
                || HubLabels::new(&lists, &nodes, |_| true),
            );
            report("hub labels", labels);
        }
    }
}

/// Returns links without self-loops, the last one at the last node.
fn links(nodes: u32, count: usize) -> Vec<(u32, u32)> {
    let mut state = 88_172_645_463_325_252_u64;
    let mut below = |bound: u32| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % u64::from(bound)) as u32
    };
    let mut links = vec![(0, nodes - 1)];
    while links.len() < count {
        let from = below(nodes);
        let to = if below(2) == 0 {
            below(HUBS)
        } else {
            below(nodes)
        };
        if from != to {
            links.push((from, to));
        }
    }
    links
}

/// Returns the shortest times of two computations in milliseconds.
fn minima<A, B>(first: impl Fn() -> A, second: impl Fn() -> B) -> (f64, f64) {
    let mut shortest = (f64::INFINITY, f64::INFINITY);
    for _ in 0..ROUNDS {
        shortest = (
            shortest.0.min(milliseconds(&first)),
            shortest.1.min(milliseconds(&second)),
        );
    }
    shortest
}

fn milliseconds<T>(compute: impl Fn() -> T) -> f64 {
    let start = Instant::now();
    black_box(compute());
    start.elapsed().as_secs_f64() * 1_000.0
}
