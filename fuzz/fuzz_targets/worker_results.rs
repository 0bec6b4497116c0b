//! Messages of worker processes to the server, which does not trust them. The first byte chooses the kind; lines are messages.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lodeseek_catalog::{CatalogSource, DatasetId, Iris, dcat};
use lodeseek_engine::{ExampleGraph, Federation, Searcher};
use lodeseek_fuzz::{dumps, queries, scratch, site, start};
use lodeseek_rdf::dump::FileReport;
use lodeseek_rdf::{RdfSyntax, TripleGraphBuilder, read_triple_stream};
use lodeseek_sparql::{Head, QueryEngine, Services, Statistics, decode_rows, encode_rows};
use lodeseek_store::DatasetReport;
use std::fs::File;
use std::sync::{Arc, OnceLock};

/// Media types of results.
const RESULTS: [&str; 4] = [
    "application/sparql-results+json",
    "application/sparql-results+xml",
    "text/csv",
    "text/tab-separated-values",
];

/// Search and queries over `testdata/`, which answer the calls of workers.
struct Server {
    searcher: Arc<Searcher>,
    federation: Federation,
}

impl Server {
    fn new() -> Self {
        let (searcher, store) = site::home();
        let searcher = Arc::new(searcher);
        let federation = Federation::new(
            &QueryEngine::new(Arc::new(store)),
            queries::limits(Statistics::First),
        );
        Self {
            federation: federation.with_search(Arc::clone(&searcher)),
            searcher,
        }
    }
}

fuzz_target!(init: start(), |data: &[u8]| {
    static SERVER: OnceLock<Server> = OnceLock::new();
    let Some((first, body)) = data.split_first() else { return };
    let lines: Vec<&[u8]> = body.split(|byte| *byte == b'\n').collect();
    match first % 8 {
        0 => drop(lodeseek_worker::fuzzing::read_output(body)),
        1 => answer(&lines),
        2 => rows(body),
        3 => triples(body),
        4 => catalog(&lines),
        5 => reports(body),
        6 => {
            let Ok(example) = serde_json::from_slice::<ExampleGraph>(body) else { return };
            let _ = SERVER.get_or_init(Server::new).searcher.similar_to(&example, 10);
        }
        _ => {
            let null = File::options().write(true).open("/dev/null").expect("a file");
            let Ok(calls) = lodeseek_worker::fuzzing::accept_calls(body, null) else { return };
            let server = SERVER.get_or_init(Server::new);
            calls.iter().for_each(|(call, request)| server.federation.answer(request, call));
        }
    }
});

/// Reads an answer of a query, and writes it in each format.
fn answer(parts: &[&[u8]]) {
    let limits = queries::limits(Statistics::Never);
    let read = || lodeseek_sparql::fuzzing::read_answer(parts, &limits);
    let Ok(stream) = read() else { return };
    if *stream.head() == Head::Graph {
        for syntax in [
            RdfSyntax::NTriples,
            RdfSyntax::Turtle,
            RdfSyntax::RdfXml,
            RdfSyntax::JsonLd,
        ] {
            let _ = read()
                .expect("as before")
                .write_graph(syntax.into(), &mut Vec::new());
        }
    } else {
        for media_type in RESULTS {
            let _ = read().expect("as before").write_results(
                media_type,
                RdfVersion::V12,
                &mut Vec::new(),
            );
        }
    }
    drop(stream.whole());
}

fn rows(body: &[u8]) {
    let Ok(rows) = decode_rows(body) else { return };
    let again = decode_rows(&encode_rows(&rows).expect("rows are written")).expect("rows are read");
    assert_eq!(again, rows);
}

/// Reads triples. They are stored, so that they must not forge others when they are written.
fn triples(body: &[u8]) {
    let mut builder = TripleGraphBuilder::new();
    let _ = read_triple_stream(body, &mut builder);
    dumps::check_lenient(&builder.finish());
}

/// Reads a catalogue, and describes its datasets as the store does.
fn catalog(pieces: &[&[u8]]) {
    let source = CatalogSource::Local {
        path: scratch::folder().join("catalog.ttl"),
    };
    let Ok(catalog) = lodeseek_changes::fuzzing::read_catalog(pieces, &source) else {
        return;
    };
    assert_eq!(catalog.folder, scratch::folder());
    for dataset in &catalog.datasets {
        let mut builder = TripleGraphBuilder::new();
        let description = dcat::to_triples(
            dataset,
            &Iris::new(Iris::DEFAULT_BASE).expect("the default"),
        );
        description
            .iter()
            .for_each(|triple| builder.insert(triple.as_ref()));
        dumps::check_lenient(&builder.finish());
    }
}

fn reports(body: &[u8]) {
    let Ok(files) = serde_json::from_slice::<Vec<FileReport>>(body) else {
        return;
    };
    let report = DatasetReport::new(DatasetId::new("a").expect("an id"), "", 0, files);
    let _ = (
        serde_json::to_vec(&report).expect("written"),
        lodeseek_changes::store_outcome(&report),
    );
}
