//! Reads an RDF dump in any syntax and prints its VoID statistics as N-Triples.
//!
//! Usage: `cargo run -p lodeseek-profile --example profile_dump -- DUMP [DATASET_IRI]`
//!
//! The default IRI of the dataset is `http://example.org/dataset`.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "an example prints its results"
)]

use lodeseek_profile::Profile;
use lodeseek_rdf::TripleGraphBuilder;
use lodeseek_rdf::dump::DumpReader;
use oxrdf::NamedNode;
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let Some(path) = arguments.next() else {
        return Err("usage: profile_dump DUMP [DATASET_IRI]".into());
    };
    let dataset = NamedNode::new(
        arguments
            .next()
            .unwrap_or_else(|| "http://example.org/dataset".to_owned()),
    )?;

    let mut builder = TripleGraphBuilder::new();
    let reports =
        DumpReader::default().read_file(Path::new(&path), &path, dataset.as_str(), &mut builder);
    for problem in reports.iter().flat_map(|report| &report.problems) {
        eprintln!("warning: {path}: {problem}");
    }
    let graph = builder.finish();
    for triple in Profile::new(&graph).to_void(&graph, &dataset) {
        println!("{triple} .");
    }
    Ok(())
}
