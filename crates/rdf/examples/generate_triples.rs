//! Writes a heterogeneous graph of any size as N-Triples: entities of five classes, each with a label and three of 41 properties,
//! which lead to random entities. The graph has five triples an entity; a few of them may be equal.
//!
//! Usage: `cargo run --release -p lodeseek-rdf --example generate_triples -- TRIPLES | gzip > FILE.nt.gz`
//!
//! The same number gives the same graph.

use std::error::Error;
use std::io::{self, BufWriter, Write};

const TYPE: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";

fn main() -> Result<(), Box<dyn Error>> {
    let triples: u64 = std::env::args()
        .nth(1)
        .ok_or("usage: generate_triples TRIPLES")?
        .parse()?;
    let entities = (triples / 5).max(1);
    let mut random = Random(1);
    let mut out = BufWriter::with_capacity(1 << 18, io::stdout().lock());
    for number in 0..entities {
        let subject = format!("<http://example.org/entity/{number}>");
        writeln!(
            out,
            "{subject} <{TYPE}> <http://example.org/class/{}> .",
            random.below(5)
        )?;
        writeln!(
            out,
            "{subject} <http://example.org/property/0> \"Entity {number}\" ."
        )?;
        for _ in 0..3 {
            let (property, object) = (1 + random.below(41), random.below(entities));
            writeln!(
                out,
                "{subject} <http://example.org/property/{property}> <http://example.org/entity/{object}> ."
            )?;
        }
    }
    out.flush()?;
    Ok(())
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
