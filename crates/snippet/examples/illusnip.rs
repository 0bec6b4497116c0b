//! Extracts the IlluSnip snippet of an RDF file and prints it as Turtle.
//!
//! Usage: `cargo run -p lodeseek-snippet --example illusnip -- FILE [TRIPLES]`
//!
//! FILE may have any RDF syntax, and may be compressed. TRIPLES is the maximum number of triples (default 20). Without
//! arguments, a small built-in graph is used.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "an example prints its result"
)]

use lodeseek_profile::Profile;
use lodeseek_rdf::dump::DumpReader;
use lodeseek_rdf::{TripleGraph, TripleGraphBuilder, to_pretty_turtle};
use lodeseek_snippet::{IlluSnip, SnippetExtractor, TripleBudget};
use std::error::Error;
use std::path::Path;

/// IRI against which relative IRIs are resolved.
const BASE: &str = "http://example.org/";

const SAMPLE: &str = r#"
@prefix e: <http://example.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
e:oak a e:Tree ; rdfs:label "Old oak" ; e:growsIn e:park ; e:height 21 .
e:elm a e:Tree ; rdfs:label "Elm" ; e:growsIn e:park .
e:park a e:Park ; rdfs:label "City park" ; e:partOf e:city .
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let graph = match arguments.first() {
        Some(file) => read_file(Path::new(file))?,
        None => read_sample(),
    };
    let budget = match arguments.get(1) {
        Some(triples) => TripleBudget(triples.parse()?),
        None => TripleBudget::default(),
    };

    let profile = Profile::new(&graph);
    let snippet = IlluSnip::default().extract(&graph, &profile, budget);

    let mut triples = Vec::new();
    for &triple in &snippet.triples {
        triples.push(graph.to_triple(triple));
    }
    print!("{}", to_pretty_turtle(&triples)?);
    eprintln!(
        "{} of {} triples, gain {:.3}",
        triples.len(),
        graph.len(),
        snippet.gain
    );
    Ok(())
}

/// Reads an RDF file. Malformed statements are skipped and reported.
fn read_file(path: &Path) -> Result<TripleGraph, Box<dyn Error>> {
    let mut builder = TripleGraphBuilder::new();
    let name = path.display().to_string();
    for report in DumpReader::default().read_file(path, &name, BASE, &mut builder) {
        for problem in &report.problems {
            eprintln!("{}: {problem}", report.file);
        }
    }
    let graph = builder.finish();
    if graph.is_empty() {
        return Err(format!(
            "no triples in {name}; the file must be an RDF file or an archive of RDF files"
        )
        .into());
    }
    Ok(graph)
}

fn read_sample() -> TripleGraph {
    let mut builder = TripleGraphBuilder::new();
    DumpReader::default().read(SAMPLE.as_bytes(), "sample.ttl", BASE, &mut builder);
    builder.finish()
}
