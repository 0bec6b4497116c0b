//! Loads a catalogue or a dump into a store in memory, indexes it, and prints the hits of a search.
//!
//! ```text
//! cargo run -p lodeseek-engine --example index_and_search -- testdata/catalog.ttl nitrogen
//! ```
//!
//! The catalogue may be a Turtle file with descriptions in DCAT, as `testdata/catalog.ttl`, or a plain dump, which becomes a
//! catalogue of one dataset.

#![expect(clippy::print_stdout, reason = "an example prints its result")]

use lodeseek_catalog::{Catalog, Iris};
use lodeseek_engine::{Hit, IndexOptions, Indexer, SearchRequest, Searcher};
use lodeseek_store::{Loader, Store};
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let Some(catalog) = arguments.next() else {
        return Err("usage: index_and_search CATALOG WORDS...".into());
    };
    let query = arguments.collect::<Vec<String>>().join(" ");

    // The store is in memory; the index and the graph files are in the home folder.
    let home = tempfile::tempdir()?;
    let store = Store::in_memory(home.path(), Iris::new(Iris::DEFAULT_BASE)?)?;
    let loaded = Loader::new(&store).load(Catalog::read(Path::new(&catalog))?, &|_| ())?;
    let indexed = Indexer::new(&store, IndexOptions::default()).run(&|_| ())?;
    println!(
        "{} datasets loaded, {} indexed, {} triples",
        loaded.datasets.len(),
        indexed.indexed,
        indexed.triples
    );

    let searcher = Searcher::open(home.path())?;
    let response = searcher.search(&SearchRequest {
        explain: true,
        ..SearchRequest::new(query)
    })?;
    println!(
        "{} of {} datasets match",
        response.with_words,
        searcher.catalog().len()?
    );
    for hit in &response.hits {
        print_hit(hit);
    }
    Ok(())
}

fn print_hit(hit: &Hit) {
    println!(
        "\n{}. {} ({:.3})",
        hit.rank,
        hit.card.metadata.title(),
        hit.score.unwrap_or_default()
    );
    for field in &hit.fields {
        println!(
            "   {} {:.3}: {}",
            field.field,
            field.score,
            field.terms.join(", ")
        );
    }
    for evidence in &hit.evidence {
        let triple = &evidence.triple;
        println!(
            "   {} | {} | {}",
            triple.subject.label, triple.predicate.label, triple.object.label
        );
    }
}
