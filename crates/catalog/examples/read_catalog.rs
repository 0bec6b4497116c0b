//! Reads a catalogue of any dialect and prints its datasets with titles and distributions.
//!
//! Usage: `cargo run -p lodeseek-catalog --example read_catalog -- FILE_OR_FOLDER`

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "an example prints its results"
)]

use lodeseek_catalog::{Catalog, Dataset};
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let Some(path) = std::env::args().nth(1) else {
        return Err("usage: read_catalog FILE_OR_FOLDER".into());
    };
    let catalog = Catalog::read(Path::new(&path))?;
    println!(
        "{path}: {}, {} datasets",
        catalog.dialect.name(),
        catalog.datasets.len()
    );
    for dataset in &catalog.datasets {
        print_dataset(dataset);
    }
    for problem in &catalog.problems {
        eprintln!("warning: {problem}");
    }
    Ok(())
}

fn print_dataset(dataset: &Dataset) {
    println!("{} [{}]", dataset.metadata.title(), dataset.metadata.id);
    for distribution in &dataset.distributions {
        let media_type = distribution
            .media_type
            .as_deref()
            .unwrap_or("media type not declared");
        println!("  {} ({media_type})", distribution.location.as_str());
    }
}
