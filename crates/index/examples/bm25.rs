//! Indexes three small datasets in memory and ranks them with BM25.
//!
//! Usage: `cargo run -p lodeseek-index --example bm25 -- [QUERY]`
//!
//! The default query is "water quality".

#![expect(clippy::print_stdout, reason = "an example prints its result")]

use lodeseek_catalog::{DatasetId, Metadata, Text};
use lodeseek_index::document::FieldedDocument;
use lodeseek_index::sparse::{Bm25, SparseModel, rank};
use lodeseek_index::{Analysis, AnalyzedQuery, IndexDocument, IndexWriter, document_version};
use lodeseek_rdf::{TripleGraph, TripleGraphBuilder, dump::DumpReader};
use std::error::Error;

/// Id, title and content of each dataset.
const DATASETS: [(&str, &str, &str); 3] = [
    (
        "bay",
        "Water quality of the bay",
        "<e:gauge1> <e:measures> \"nitrogen in water\" .",
    ),
    ("trees", "City trees", "<e:oak1> <e:growsIn> <e:park> ."),
    (
        "wells",
        "Wells and springs",
        "<e:well1> <e:quality> \"drinking water\" .",
    ),
];

fn main() -> Result<(), Box<dyn Error>> {
    let query = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "water quality".to_owned());

    let analysis = Analysis::default();
    let mut writer = IndexWriter::in_memory()?;
    for (id, title, content) in DATASETS {
        let id = DatasetId::new(id)?;
        let mut metadata = Metadata::new(id.clone());
        metadata.titles.push(Text::plain(title));
        let fields = FieldedDocument::new(&metadata, &read_triples(content));
        let version = document_version(writer.analysis(), content, title);
        writer.put(IndexDocument::new(
            id,
            version,
            &fields,
            &analysis,
            Vec::new(),
            Vec::new(),
        ))?;
    }
    writer.commit()?;

    let snapshot = writer.snapshot()?;
    let model = Bm25::default();
    let query = AnalyzedQuery::new(&query, snapshot.analysis());
    let results = rank(&model, &query, &snapshot, 10)?;
    println!("{} of {} datasets match", results.total, snapshot.len());
    for scored in results.ranking.iter() {
        println!("{:>8.4}  {}", scored.score, scored.id);
    }

    // The explanation of the best result lists every term, field and factor.
    if let Some(best) = results.ranking.iter().next()
        && let Some(address) = results.address(&best.id)
    {
        let statistics = snapshot.document_statistics(
            &query,
            &model.fields(),
            &[address],
            model.statistics_level(),
        )?;
        println!(
            "\n{}",
            model.explain(&query, &statistics[0], &results.collection)
        );
    }
    Ok(())
}

fn read_triples(ntriples: &str) -> TripleGraph {
    let mut builder = TripleGraphBuilder::new();
    DumpReader::default().read(ntriples.as_bytes(), "content.nt", "e:", &mut builder);
    builder.finish()
}
