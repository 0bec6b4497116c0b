//! Checks of what the tolerant reader returns.

use crate::{BASE, scratch};
use lodeseek_rdf::dump::{DumpReader, FileReport, Limits};
use lodeseek_rdf::{RdfSyntax, TripleGraph, TripleGraphBuilder};
use lodeseek_tabular::Tables;
use oxrdf::Triple;
use oxttl::NTriplesParser;

/// Limits of the reader in bytes. They are below the defaults, so that inputs reach them.
fn limits() -> Limits {
    Limits {
        decompressed_bytes: 8 << 20,
        json_memory: 64 << 20,
        hdt_memory: 64 << 20,
        archive_members: 100,
        ..Limits::default()
    }
}

/// Reads a document. Its name decides on the announced syntax.
#[must_use]
pub fn read(bytes: &[u8], name: &str) -> (TripleGraph, Vec<FileReport>) {
    let mut builder = TripleGraphBuilder::new();
    let reports = DumpReader::with_limits(limits()).read(bytes, name, BASE, &mut builder);
    (builder.finish(), reports)
}

/// Reads a document from a file, as workbooks need it, with tables and other documents that are no RDF.
#[must_use]
pub fn read_tables(bytes: &[u8], name: &str) -> (TripleGraph, Vec<FileReport>) {
    let path = scratch::file("table", bytes);
    let mut builder = TripleGraphBuilder::new();
    let reader = DumpReader::with_limits(limits()).with_tables(&Tables);
    let reports = reader.read_file(&path, name, BASE, &mut builder);
    (builder.finish(), reports)
}

/// Reads a document from a file, as archives need it.
#[must_use]
pub fn read_file(bytes: &[u8], name: &str) -> (TripleGraph, Vec<FileReport>) {
    let path = scratch::file("dump", bytes);
    let mut builder = TripleGraphBuilder::new();
    let reports = DumpReader::with_limits(limits()).read_file(&path, name, BASE, &mut builder);
    (builder.finish(), reports)
}

/// Returns the triples of a graph.
#[must_use]
pub fn triples(graph: &TripleGraph) -> Vec<Triple> {
    graph
        .triples()
        .iter()
        .map(|triple| graph.to_triple(*triple))
        .collect()
}

/// Checks a graph that was read: it is valid RDF, and its compact form gives it back.
///
/// # Panics
/// If one of the checks fails.
pub fn check(graph: &TripleGraph, reports: &[FileReport]) {
    let read: u64 = reports.iter().map(|report| report.triples).sum();
    assert!(
        graph.len() as u64 <= read,
        "{} triples, but {read} were reported",
        graph.len()
    );
    let triples = triples(graph);
    let text = RdfSyntax::NTriples.write(&triples).expect("N-Triples");
    let strict: Vec<Triple> = match NTriplesParser::new().for_slice(&text).collect() {
        Ok(strict) => strict,
        Err(error) => panic!(
            "the reader returned invalid RDF: {error}\n{}",
            String::from_utf8_lossy(&text)
        ),
    };
    assert_eq!(strict, triples, "N-Triples change the triples");
    check_compact(graph, &triples);
}

/// Checks a graph whose IRIs are not validated: it has the same triples after it was written and read, and in its compact form.
///
/// # Panics
/// If one of the checks fails.
pub fn check_lenient(graph: &TripleGraph) {
    let triples = triples(graph);
    let text = RdfSyntax::NTriples.write(&triples).expect("N-Triples");
    let read: Result<Vec<Triple>, _> = NTriplesParser::new().lenient().for_slice(&text).collect();
    let read = read.unwrap_or_else(|error| {
        panic!("no N-Triples: {error}\n{}", String::from_utf8_lossy(&text))
    });
    // The parser converts language tags to lower case.
    let again = RdfSyntax::NTriples.write(&read).expect("N-Triples");
    assert!(
        again.eq_ignore_ascii_case(&text),
        "N-Triples change the triples\n{}",
        String::from_utf8_lossy(&text)
    );
    check_compact(graph, &triples);
}

fn check_compact(graph: &TripleGraph, triples: &[Triple]) {
    let again =
        TripleGraph::from_compact(&graph.to_compact()).expect("the compact form is readable");
    assert_eq!(
        self::triples(&again),
        *triples,
        "the compact form changes the triples"
    );
}
