//! Tolerant, guarded reading of RDF dumps.
//!
//! A dump comes as people publish it: compressed or not, one file or an archive, named by a suffix that may lie, with
//! statements that break the grammar. [`DumpReader::read`] takes what can be read and says what could not:
//!
//! * the layers ([`unpack`]) are found by content, never by name; at most one archive and one compression inside it;
//! * text ([`text`]) becomes UTF-8: byte order marks, declared encodings, stray Windows-1252 bytes;
//! * the syntax ([`format`]) is decided by media type, suffix and a look at the content, the content having the last word;
//! * a broken statement is skipped and reported with file, line and reason ([`turtle`], [`xml`], [`lines`], [`jsonld`]);
//! * HDT ([`hdt`]) is no text: it is known by its first bytes, has no lines, and is read to its end or not at all where a
//!   checksum says that it is damaged;
//! * bombs and other hostile input end in a refusal with bounded memory: [`Limits`].
//!
//! Nothing here reads the network, and no name found inside an archive is ever used as a path.

mod format;
mod hdt;
mod jsonld;
mod lines;
mod text;
mod turtle;
mod unpack;
mod xml;

pub use format::Syntax;
pub use unpack::open;

use super::triples::TripleSink;
use oxrdf::{Literal, NamedOrBlankNode, Term, Triple};
use serde::Serialize;
use std::fmt;
use std::io::{self, Read};
use std::path::Path;

/// What a dump may cost before it is refused.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Bytes after decompression, over all members of one archive; of HDT, those looked at in the dictionary and made into
    /// terms. Default 64 GiB.
    pub decompressed_bytes: u64,
    /// Decompressed over compressed bytes, looked at once [`Self::RATIO_FREE_BYTES`] are out. Default 250: bzip2 and xz
    /// reach about 100 on the most repetitive real dumps.
    pub compression_ratio: u64,
    /// Bytes of one token (literal, IRI, line of a line format), after expansion of XML entities. Default 8 MiB.
    pub token_bytes: usize,
    /// Bytes of one Turtle statement. Default 64 MiB.
    pub statement_bytes: usize,
    /// Brackets, elements or objects inside one another. Default 10,000: RDF/XML nests the cells of a list.
    pub nesting: usize,
    /// Bytes of memory, by estimate, that the reader of JSON-LD may need: it holds every top-level object until its end.
    /// Default 2 GiB, which is a document of about 80 MB in one `@graph`.
    pub json_memory: u64,
    /// Bytes that are held of an HDT file: its dictionary and its triples, as they are packed there. Default 2 GiB, which is
    /// some hundred million triples.
    pub hdt_memory: u64,
    /// Members of an archive. Default 10,000.
    pub archive_members: usize,
    /// Characters one XML entity may expand to. Default 1,024: namespace shortcuts need about 100.
    pub entity_bytes: u64,
    /// XML entities of one document. Default 1,000.
    pub entities: usize,
    /// Problems listed one by one for each file; the others are only counted. Default 1,000.
    pub listed_problems: usize,
}

impl Limits {
    /// Decompressed bytes up to which no ratio is looked at: small files of one repeated line are no bombs.
    pub const RATIO_FREE_BYTES: u64 = 4 << 20;
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            decompressed_bytes: 64 << 30,
            compression_ratio: 250,
            token_bytes: 8 << 20,
            statement_bytes: 64 << 20,
            nesting: 10_000,
            json_memory: 2 << 30,
            hdt_memory: 2 << 30,
            archive_members: 10_000,
            entity_bytes: 1024,
            entities: 1000,
            listed_problems: 1000,
        }
    }
}

/// How the reading of one file, or one member of an archive, ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Read to its end, nothing skipped; what was repaired is among the problems.
    Complete,
    /// Read to its end; some statements were skipped.
    Skipped,
    /// Not read to its end: the rest could not be understood.
    Truncated,
    /// Refused: hostile, over a limit, or no RDF.
    Refused,
    /// Could not be opened or read from disk.
    Unreadable,
}

impl Outcome {
    /// Whether there may be more in the file than was read.
    pub fn is_failure(self) -> bool {
        matches!(self, Self::Truncated | Self::Refused | Self::Unreadable)
    }
}

/// One thing that was wrong.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Problem {
    /// The line, counted from 1, where the reader knows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// What was wrong and what was done about it.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

/// What became of one file, or of one member of an archive.
#[derive(Clone, Debug, Serialize)]
pub struct FileReport {
    /// The file as the catalogue names it; `archive!member` within an archive.
    pub file: String,
    /// The syntax it was read as.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub syntax: Option<Syntax>,
    /// Compressions and archives around it, outermost first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<&'static str>,
    /// Triples read, repeated ones counted again.
    pub triples: u64,
    /// Statements that were skipped.
    pub skipped: u64,
    /// How it ended.
    pub outcome: Outcome,
    /// The first problems, in the order of the file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
    /// Problems beyond those listed.
    #[serde(skip_serializing_if = "is_zero")]
    pub unlisted_problems: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(value: &u64) -> bool {
    *value == 0
}

impl FileReport {
    fn new(file: &str) -> Self {
        Self {
            file: file.to_owned(),
            syntax: None,
            layers: Vec::new(),
            triples: 0,
            skipped: 0,
            outcome: Outcome::Complete,
            problems: Vec::new(),
            unlisted_problems: 0,
        }
    }

    /// Whether everything in the file was read as it stands.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.outcome == Outcome::Complete && self.problems.is_empty()
    }

    /// The report of a file that could not even be opened.
    #[must_use]
    pub fn unreadable(file: &str, reason: impl fmt::Display) -> Self {
        let mut report = Self::new(file);
        report.outcome = Outcome::Unreadable;
        report.problems.push(Problem { line: None, message: reason.to_string() });
        report
    }

    /// The report of a file that is refused before a look inside.
    #[must_use]
    pub fn refused(file: &str, reason: impl fmt::Display) -> Self {
        Self { outcome: Outcome::Refused, ..Self::unreadable(file, reason) }
    }
}

/// Why a dump was refused. Travels through readers as the cause of an [`io::Error`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// A decompression bomb, by its ratio.
    #[error("decompression bomb: {produced} bytes from {compressed} (more than {limit} to 1)")]
    CompressionRatio {
        /// Bytes out so far.
        produced: u64,
        /// Bytes of the file.
        compressed: u64,
        /// The limit.
        limit: u64,
    },
    /// More decompressed bytes than allowed.
    #[error("more than {limit} bytes after decompression")]
    DecompressedSize {
        /// The limit.
        limit: u64,
    },
    /// An archive inside an archive, or a compression inside a compression.
    #[error("{inner} inside {outer}: nested archives are not opened")]
    Nested {
        /// The outer layer.
        outer: &'static str,
        /// The layer found inside.
        inner: &'static str,
    },
    /// A member whose name points outside the archive.
    #[error("the member's name {name:?} leads outside the archive")]
    MemberPath {
        /// The name.
        name: String,
    },
    /// More members than allowed.
    #[error("more than {limit} members in the archive")]
    MemberCount {
        /// The limit.
        limit: usize,
    },
    /// A member protected by a password.
    #[error("the member is encrypted")]
    Encrypted,
    /// An XML entity that expands too far.
    #[error("entity bomb: the entity &{name}; expands to {expanded} characters (limit {limit})")]
    EntityBomb {
        /// The entity.
        name: String,
        /// Characters it expands to.
        expanded: u64,
        /// The limit.
        limit: u64,
    },
    /// An XML document type declaration we do not read.
    #[error("document type declaration: {reason}")]
    DocumentType {
        /// Why.
        reason: String,
    },
    /// A literal, IRI or line over the limit.
    #[error("a token of more than {limit} bytes near line {line}")]
    TokenSize {
        /// The limit.
        limit: usize,
        /// Where.
        line: u64,
    },
    /// Brackets, elements or objects nested too deeply.
    #[error("more than {limit} levels of nesting at line {line}")]
    Nesting {
        /// The limit.
        limit: usize,
        /// Where.
        line: u64,
    },
    /// An XML element with too many attributes.
    #[error("more than {limit} attributes of one element near line {line}")]
    AttributeCount {
        /// The limit.
        limit: u32,
        /// Where.
        line: u64,
    },
    /// A JSON-LD object that is too large to be held.
    #[error("a JSON-LD object that needs more than {limit} bytes of memory to read, up to line {line}")]
    JsonMemory {
        /// The limit.
        limit: u64,
        /// Where.
        line: u64,
    },
    /// An HDT file over a limit, or of a kind that is not read.
    #[error("HDT: {reason}")]
    Hdt {
        /// Why.
        reason: String,
    },
    /// A statement over the limit.
    #[error("the statement of line {line} is longer than {limit} bytes")]
    StatementSize {
        /// The limit.
        limit: usize,
        /// Where it begins.
        line: u64,
    },
    /// Content that is no RDF.
    #[error("no RDF: {reason}")]
    NotRdf {
        /// What it is instead.
        reason: String,
    },
}

impl From<Refusal> for io::Error {
    fn from(refusal: Refusal) -> Self {
        Self::other(refusal)
    }
}

/// Reads dumps into a [`TripleSink`], as a [`TripleGraphBuilder`](crate::TripleGraphBuilder).
///
/// ```
/// use lodeseek_rdf::{TripleGraphBuilder, dump::{DumpReader, Outcome}};
///
/// let turtle = "<http://e.org/a> <http://e.org/p> 1 , unknown:prefix ; <http://e.org/q> 2 .";
/// let mut graph = TripleGraphBuilder::new();
/// let reports = DumpReader::default().read(turtle.as_bytes(), "dump.ttl", "http://e.org/", &mut graph);
/// assert_eq!(reports[0].outcome, Outcome::Skipped);
/// assert_eq!(reports[0].problems[0].line, Some(1));
/// assert_eq!(graph.finish().len(), 2);
/// ```
#[derive(Clone, Debug, Default)]
pub struct DumpReader {
    limits: Limits,
    announced: Option<Syntax>,
}

impl DumpReader {
    /// DumpReader with limits of its own.
    #[must_use]
    pub fn with_limits(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// For a dump whose catalogue states a media type. It says more than a file name, and less than the content.
    #[must_use]
    pub fn with_media_type(self, media_type: &str) -> Self {
        Self { announced: Syntax::from_hint(media_type), ..self }
    }

    /// Reads the file at `path`, reported as `name`; relative IRIs are resolved against `base`.
    pub fn read_file(&self, path: &Path, name: &str, base: &str, graph: &mut dyn TripleSink) -> Vec<FileReport> {
        unpack::read_file(
            path,
            name,
            &mut ReadContext { limits: &self.limits, announced: self.announced, base, graph, reports: Vec::new() },
        )
    }

    /// Reads from any reader, as [`read_file`](Self::read_file). Zip archives need a file: their directory is at the end.
    pub fn read(&self, reader: impl Read, name: &str, base: &str, graph: &mut dyn TripleSink) -> Vec<FileReport> {
        unpack::read_stream(
            reader,
            name,
            &mut ReadContext { limits: &self.limits, announced: self.announced, base, graph, reports: Vec::new() },
        )
    }
}

/// One dump being read.
struct ReadContext<'a> {
    limits: &'a Limits,
    announced: Option<Syntax>,
    base: &'a str,
    graph: &'a mut dyn TripleSink,
    reports: Vec<FileReport>,
}

impl ReadContext<'_> {
    /// Reads one document: a plain file or a member of an archive, its layers taken off.
    fn document(&mut self, reader: Box<dyn Read + '_>, name: &str, layers: Vec<&'static str>) {
        let mut report = FileReport { layers, ..FileReport::new(name) };
        self.graph.start_file();
        let mut sink = Sink { limits: self.limits, graph: self.graph, report: &mut report };
        // A media type is of the whole distribution: it says nothing of an archive's members.
        let announced = self.announced.filter(|_| !name.contains('!')).or_else(|| Syntax::from_file_name(name));
        let result = read_document(reader, name, announced, self.base, &mut sink);
        if let Err(error) = result {
            record_error(&mut report, &error);
        } else if report.outcome == Outcome::Complete && report.skipped > 0 {
            report.outcome = Outcome::Skipped;
        }
        self.reports.push(report);
    }
}

/// Notes the error that ended a document.
fn record_error(report: &mut FileReport, error: &io::Error) {
    let refusal = error.get_ref().and_then(|cause| cause.downcast_ref::<Refusal>());
    report.outcome = match refusal {
        Some(_) => Outcome::Refused,
        None if report.triples == 0 => Outcome::Unreadable,
        None => Outcome::Truncated,
    };
    let message = match refusal {
        Some(refusal) if report.triples > 0 => format!("{refusal}; the rest was not read"),
        Some(refusal) => refusal.to_string(),
        None => format!("{error}; the rest was not read"),
    };
    report.problems.push(Problem { line: None, message });
}

fn read_document(
    reader: Box<dyn Read + '_>,
    name: &str,
    announced: Option<Syntax>,
    base: &str,
    sink: &mut Sink<'_>,
) -> io::Result<()> {
    let (head, reader) = unpack::peek(reader, hdt::MAGIC.len())?;
    if head == hdt::MAGIC {
        sink.report.syntax = Some(Syntax::Hdt);
        return hdt::read(reader, sink);
    }
    let mut text = text::to_utf8(reader)?;
    let syntax = format::detect(name, announced, text.head())?;
    sink.report.syntax = Some(syntax);
    let result = match syntax {
        Syntax::NTriples | Syntax::NQuads => lines::read(&mut text, sink),
        Syntax::Turtle | Syntax::TriG | Syntax::N3 => turtle::read(&mut text, syntax, base, sink),
        Syntax::RdfXml => xml::read(&mut text, base, sink),
        Syntax::JsonLd => jsonld::read(&mut text, base, sink),
        Syntax::Hdt => {
            let reason = format!("an HDT file begins with $HDT, and {name} does not");
            return Err(Refusal::NotRdf { reason }.into());
        }
    };
    for problem in text.problems() {
        sink.problem(problem.line, problem.message);
    }
    result
}

/// Where the readers of the syntaxes put triples and problems.
struct Sink<'a> {
    limits: &'a Limits,
    graph: &'a mut dyn TripleSink,
    report: &'a mut FileReport,
}

impl Sink<'_> {
    /// Takes a triple from a reader that checks IRIs and language tags itself.
    fn triple(&mut self, triple: &Triple) {
        self.report.triples += 1;
        self.graph.insert_triple(triple.as_ref());
    }

    /// Takes a triple from a reader that does not check; one with an invalid IRI or language tag is skipped.
    fn unchecked_triple(&mut self, triple: &Triple, line: Option<u64>) {
        match check(triple) {
            Ok(()) => self.triple(triple),
            Err(reason) => self.skip(line, reason),
        }
    }

    /// A statement that was skipped.
    fn skip(&mut self, line: Option<u64>, reason: impl Into<String>) {
        self.report.skipped += 1;
        self.problem(line, reason);
    }

    /// A problem without a statement skipped: something repaired, or the rest of the file.
    fn problem(&mut self, line: Option<u64>, message: impl Into<String>) {
        if self.report.problems.len() < self.limits.listed_problems {
            self.report.problems.push(Problem { line, message: message.into() });
        } else {
            self.report.unlisted_problems += 1;
        }
    }

    /// A problem that explains the others and is listed before them, within the limit or not.
    fn first_problem(&mut self, message: impl Into<String>) {
        self.report.problems.insert(0, Problem { line: None, message: message.into() });
    }

    /// The document could not be read further.
    fn truncate(&mut self, line: Option<u64>, reason: &str) {
        self.report.outcome = if self.report.triples == 0 { Outcome::Unreadable } else { Outcome::Truncated };
        // Listed beyond the limit, too: it is why the file ends.
        self.report.problems.push(Problem { line, message: format!("{reason}; the rest of the file was not read") });
    }
}

fn check(triple: &Triple) -> Result<(), String> {
    if let NamedOrBlankNode::NamedNode(node) = &triple.subject {
        check_iri(node.as_str())?;
    }
    check_iri(triple.predicate.as_str())?;
    match &triple.object {
        Term::NamedNode(node) => check_iri(node.as_str()),
        Term::BlankNode(_) => Ok(()),
        Term::Literal(literal) => check_literal(literal),
    }
}

fn check_iri(iri: &str) -> Result<(), String> {
    match oxiri::IriRef::parse(iri) {
        Ok(parsed) if parsed.is_absolute() => Ok(()),
        Ok(_) => Err(format!("the IRI <{}> is relative and there is no base", shorten(iri))),
        Err(error) => Err(format!("invalid IRI <{}>: {error}", shorten(iri))),
    }
}

fn check_literal(literal: &Literal) -> Result<(), String> {
    match literal.language() {
        Some(tag) => Literal::new_language_tagged_literal("", tag)
            .map(drop)
            .map_err(|error| format!("invalid language tag {:?}: {error}", shorten(tag))),
        None if literal.datatype() == oxrdf::vocab::xsd::STRING => Ok(()),
        None => check_iri(literal.datatype().as_str()),
    }
}

/// A piece of input that is safe to show: one line, at most 80 characters.
fn shorten(text: &str) -> String {
    let mut short: String = text.chars().take(80).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(80).is_some() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests;
