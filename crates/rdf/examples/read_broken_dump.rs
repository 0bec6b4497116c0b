//! Reads a damaged dump and prints what was read and what was skipped.
//!
//! Usage: `cargo run -p lodeseek-rdf --example read_broken_dump -- [FILE]`
//!
//! The file may be compressed or an archive. Without a file, a small damaged Turtle document is read.

#![expect(clippy::print_stdout, reason = "the example prints its result")]

use lodeseek_rdf::TripleGraphBuilder;
use lodeseek_rdf::dump::{DumpReader, FileReport};
use std::path::Path;

/// Turtle with an undeclared prefix, a missing dot and an unclosed string.
const BROKEN_TURTLE: &str = r#"@prefix ex: <http://example.org/> .
ex:soil ex:title "Soil moisture" ; ex:theme unknown:agriculture .
ex:rain ex:title "Rainfall"
ex:wind ex:title "Wind speed" .
ex:snow ex:title "Snow depth .
ex:frost ex:title "Frost days" .
"#;

fn main() {
    let reader = DumpReader::default();
    let mut builder = TripleGraphBuilder::new();
    let reports = match std::env::args().nth(1) {
        Some(file) => {
            reader.read_file(Path::new(&file), &file, "http://example.org/", &mut builder)
        }
        None => reader.read(
            BROKEN_TURTLE.as_bytes(),
            "broken.ttl",
            "http://example.org/",
            &mut builder,
        ),
    };
    for report in &reports {
        print_report(report);
    }
    let graph = builder.finish();
    println!(
        "graph: {} distinct triples, {} terms",
        graph.len(),
        graph.term_count()
    );
}

fn print_report(report: &FileReport) {
    let FileReport {
        file,
        outcome,
        triples,
        skipped,
        ..
    } = report;
    println!("{file}: {outcome:?}, {triples} triples read, {skipped} statements skipped");
    if let Some(syntax) = report.syntax {
        println!("  syntax {syntax:?}, layers {:?}", report.layers);
    }
    for problem in &report.problems {
        println!("  {problem}");
    }
    if report.unlisted_problems > 0 {
        println!("  and {} more problems", report.unlisted_problems);
    }
}
