//! Triples of a document: counted, and passed on without copies.

use lodeseek_rdf::TripleSink;
use lodeseek_rdf::dump::{FileReport, Limits, TableFacts};
use lodeseek_rdf::vocab::{csvw, lodeseek, rdf, rdfs, void};
use oxrdf::vocab::xsd;
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
            cells_left: limits.table_cells,
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

    /// Adds a label in a language. `tag` is well-formed and in lower case.
    pub(crate) fn tagged_label(&mut self, subject: &str, text: &str, tag: &str) {
        let literal = LiteralRef::new_language_tagged_literal_unchecked(text, tag);
        self.add(subject, rdfs::LABEL, literal.into());
    }

    /// Adds a triple with a typed literal.
    pub(crate) fn typed_literal(
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

    /// Adds a triple with an `xsd:integer`.
    pub(crate) fn integer(&mut self, subject: &str, predicate: &str, object: u64) {
        self.typed_literal(subject, predicate, &object.to_string(), xsd::INTEGER);
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

    /// Adds the facts of a table to the report.
    pub(crate) fn facts(&mut self, facts: TableFacts) {
        self.report.tables.push(facts);
    }

    /// Adds the triples of a table's facts. `dialect` is the IRI of its dialect.
    pub(crate) fn describe_facts(&mut self, table: &str, dialect: &str, facts: &TableFacts) {
        self.integer(table, void::ENTITIES, facts.rows);
        self.integer(table, void::PROPERTIES, facts.columns as u64);
        self.integer(table, lodeseek::EMPTY_CELLS, facts.empty_cells);
        self.integer(table, lodeseek::MIXED_CELLS, facts.mixed_cells);
        if facts.sampled_rows > 0 {
            self.integer(table, lodeseek::OMITTED_ROWS, facts.sampled_rows);
        }
        let Some(encoding) = &facts.encoding else {
            return;
        };
        self.iri(table, csvw::DIALECT, dialect);
        self.iri(dialect, rdf::TYPE, csvw::DIALECT_CLASS);
        self.text(dialect, csvw::ENCODING, encoding);
        if let Some(delimiter) = facts.delimiter {
            self.text(dialect, csvw::DELIMITER, delimiter.encode_utf8(&mut [0; 4]));
            self.integer(dialect, csvw::HEADER_ROW_COUNT, facts.header_rows);
        }
    }
}
