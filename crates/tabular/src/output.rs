//! Triples of a document: counted, and passed on without copies.

use lodeseek_rdf::TripleSink;
use lodeseek_rdf::dump::{FileReport, Limits, TableFacts};
use oxrdf::{LiteralRef, NamedNodeRef, NamedOrBlankNodeRef, TermRef, TripleRef};

/// Receiver of the triples and problems of one document.
pub(crate) struct Output<'a> {
    sink: &'a mut dyn TripleSink,
    report: &'a mut FileReport,
    limits: &'a Limits,
    /// Number of cells that may still become triples.
    pub(crate) cells_left: u64,
}

impl<'a> Output<'a> {
    pub(crate) fn new(
        sink: &'a mut dyn TripleSink,
        report: &'a mut FileReport,
        limits: &'a Limits,
    ) -> Self {
        Self {
            sink,
            report,
            limits,
            cells_left: crate::limits::MAX_CELLS,
        }
    }

    pub(crate) fn limits(&self) -> &'a Limits {
        self.limits
    }

    /// Adds a triple.
    pub(crate) fn triple(&mut self, triple: TripleRef<'_>) {
        self.report.triples += 1;
        self.sink.insert_triple(triple);
    }

    /// Adds a triple of IRIs that are valid.
    pub(crate) fn iri(&mut self, subject: &str, predicate: &str, object: &str) {
        self.add(
            subject,
            predicate,
            NamedNodeRef::new_unchecked(object).into(),
        );
    }

    /// Adds a triple with a string.
    pub(crate) fn text(&mut self, subject: &str, predicate: &str, object: &str) {
        self.add(
            subject,
            predicate,
            LiteralRef::new_simple_literal(object).into(),
        );
    }

    /// Adds a triple with a typed literal.
    pub(crate) fn typed(
        &mut self,
        subject: &str,
        predicate: &str,
        object: &str,
        datatype: NamedNodeRef<'_>,
    ) {
        self.add(
            subject,
            predicate,
            LiteralRef::new_typed_literal(object, datatype).into(),
        );
    }

    fn add(&mut self, subject: &str, predicate: &str, object: TermRef<'_>) {
        self.triple(TripleRef::new(
            NamedOrBlankNodeRef::NamedNode(NamedNodeRef::new_unchecked(subject)),
            NamedNodeRef::new_unchecked(predicate),
            object,
        ));
    }

    /// Reports a problem. Values that were left out count as skipped.
    pub(crate) fn problem(&mut self, line: Option<u64>, message: impl Into<String>) {
        self.report
            .add_problem(line, message, self.limits.listed_problems);
    }

    /// Counts statements that were left out.
    pub(crate) fn skip(&mut self, count: u64) {
        self.report.skipped += count;
    }

    pub(crate) fn facts(&mut self, facts: TableFacts) {
        self.report.tables.push(facts);
    }
}
