//! Generates a heterogeneous graph and times its profile: entities of five classes, each with a label and three of 41
//! properties, which lead to random entities. The graph has five triples an entity.
//!
//! Usage: `cargo run -p lodeseek-profile --example heterogeneous -- [ENTITIES]` (default: 100000)

#![expect(clippy::print_stdout, reason = "an example prints its results")]

use lodeseek_profile::{PatternSummary, Patterns, Profile, Schema};
use lodeseek_rdf::vocab::rdf;
use lodeseek_rdf::{TripleGraph, TripleGraphBuilder};
use oxrdf::{Literal, NamedNode, Triple};
use std::error::Error;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let entities: u64 = match std::env::args().nth(1) {
        Some(count) => count.parse()?,
        None => 100_000,
    };
    let graph = measure_time("graph", || generate_graph(entities));
    println!("{:>9} triples", graph.len());
    measure_time("Profile", || Profile::new(&graph));
    measure_time("Schema", || Schema::new(&graph));
    let summary = measure_time("PatternSummary", || PatternSummary::new(&graph, 50));
    println!(
        "{:>9} entity patterns, {:?} link patterns",
        summary.entity_pattern_count, summary.link_pattern_count
    );
    let patterns = measure_time("Patterns", || Patterns::new(&graph));
    println!(
        "{:>9} entity patterns, {} link patterns",
        patterns.len(),
        patterns.link_patterns().len()
    );
    Ok(())
}

fn measure_time<T>(name: &str, compute: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let result = compute();
    println!("{:>9.2} s {name}", started.elapsed().as_secs_f64());
    result
}

fn generate_graph(entities: u64) -> TripleGraph {
    let mut random = Random(1);
    let mut builder = TripleGraphBuilder::new();
    for number in 0..entities {
        let entity = numbered_iri("entity", number);
        let class = numbered_iri("class", random.below(5));
        builder.insert(
            Triple::new(entity.clone(), NamedNode::new_unchecked(rdf::TYPE), class).as_ref(),
        );
        let label = Literal::from(format!("Entity {number}"));
        builder.insert(Triple::new(entity.clone(), numbered_iri("property", 0), label).as_ref());
        for _ in 0..3 {
            let property = numbered_iri("property", 1 + random.below(41));
            let object = numbered_iri("entity", random.below(entities));
            builder.insert(Triple::new(entity.clone(), property, object).as_ref());
        }
    }
    builder.finish()
}

fn numbered_iri(kind: &str, number: u64) -> NamedNode {
    NamedNode::new_unchecked(format!("http://example.org/{kind}/{number}"))
}

/// A linear congruential generator with the constants of Knuth's MMIX.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}
