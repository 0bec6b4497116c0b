//! Results of `CONSTRUCT` and `DESCRIBE`.

use super::error::RemoteError;
use super::solutions::relabel_node;
use super::source::{Meter, ResponseContext};
use crate::egress::EgressError;
use lodeseek_rdf::TripleSink;
use lodeseek_rdf::dump::{DumpReader, FileReport};
use oxrdf::{Triple, TripleRef};
use std::cell::{Cell, RefCell};
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// Result of a `CONSTRUCT` or `DESCRIBE` query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RemoteGraph {
    /// Triples in the order of the response.
    pub triples: Vec<Triple>,
    /// Number of skipped statements that are not valid RDF, such as those with blanks in an IRI.
    pub skipped: u64,
}

/// Sink that collects triples up to a limit.
struct Collector<'c> {
    triples: Vec<Triple>,
    limit: u64,
    full: &'c Cell<bool>,
    response: u64,
}

impl TripleSink for Collector<'_> {
    fn start_file(&mut self) {}

    fn insert_triple(&mut self, triple: TripleRef<'_>) {
        if self.triples.len() as u64 >= self.limit {
            self.full.set(true);
        } else {
            self.triples
                .push(relabel_triple(triple.into_owned(), self.response));
        }
    }
}

fn relabel_triple(triple: Triple, response: u64) -> Triple {
    lodeseek_rdf::relabel_triple(triple, &mut |node| relabel_node(&node, response))
}

/// Reader that stops when the collector is full. It keeps the error, because the dump reader only reports its text.
struct LimitedReader<'t, R> {
    reader: R,
    full: &'t Cell<bool>,
    error: &'t RefCell<Option<io::Error>>,
}

impl<R: Read> Read for LimitedReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // The dump reader cannot be stopped by its sink: the end of the input stops it.
        if self.full.get() {
            return Err(io::Error::other("more triples than the limit"));
        }
        self.reader.read(buffer).inspect_err(|error| {
            let copy = match EgressError::find_in(error) {
                Some(egress_error) => io::Error::other(egress_error.clone()),
                None => error.kind().into(),
            };
            self.error.replace(Some(copy));
        })
    }
}

/// Reads a graph with the tolerant dump reader. Invalid statements are skipped and counted.
pub(super) fn read(
    endpoint: &str,
    media_type: &str,
    body: impl Read,
    bytes: Arc<AtomicU64>,
    limit: u64,
    response: u64,
) -> Result<RemoteGraph, RemoteError> {
    let context = ResponseContext::new(endpoint);
    let (full, error) = (Cell::new(false), RefCell::new(None));
    let mut collector = Collector {
        triples: Vec::new(),
        limit,
        full: &full,
        response,
    };
    let limited = LimitedReader {
        reader: Meter::new(body, bytes, &context),
        full: &full,
        error: &error,
    };
    let reports = DumpReader::default().with_media_type(media_type).read(
        limited,
        "the answer",
        endpoint,
        &mut collector,
    );
    // Before the error of the reader, which is a consequence of the limit.
    if full.get() {
        return Err(RemoteError::TooManyRows {
            endpoint: endpoint.to_owned(),
            limit,
        });
    }
    if let Some(error) = error.take() {
        return Err(context.io_error(&error));
    }
    let skipped =
        count_skipped_statements(&reports).map_err(|message| context.unreadable_error(&message))?;
    Ok(RemoteGraph {
        triples: collector.triples,
        skipped,
    })
}

/// Returns the number of skipped statements of a completely read document.
fn count_skipped_statements(reports: &[FileReport]) -> Result<u64, String> {
    let [report] = reports else {
        return Err("expected one document".to_owned());
    };
    if report.outcome.is_failure() {
        return match report.problems.last() {
            Some(problem) => Err(problem.to_string()),
            None => Err("not RDF".to_owned()),
        };
    }
    Ok(report.skipped)
}
