//! Tolerant reader of RDF dumps, protected against hostile input.
//!
//! Published dumps may be compressed, packed in archives, have a wrong suffix, or contain syntax errors.
//! [`DumpReader::read`] reads the valid statements and reports the others:
//!
//! * Compressions and archives ([`unpack`]) are detected by content, not by name. Archives in archives are rejected.
//! * Text ([`text`]) is converted to UTF-8: byte order marks, declared encodings, stray Windows-1252 bytes.
//! * The syntax ([`format`]) is detected by content; media type and file suffix decide ambiguous cases.
//! * A broken statement is skipped and reported with file, line and reason ([`turtle`], [`xml`], [`lines`], [`jsonld`]).
//! * Invalid IRIs and language tags are repaired and reported ([`repair`]), so that their statements are kept.
//! * Documents that are no RDF, such as tables, are passed to a [`TableReader`] if there is one.
//! * HDT ([`hdt`]) is a binary format with checksums. It is detected by its first bytes. A damaged file is rejected.
//! * Decompression bombs and other hostile input are rejected with bounded memory ([`Limits`]).
//!
//! The reader never accesses the network, and member names of archives are never used as paths.

mod beginning;
mod format;
mod hdt;
mod jsonld;
mod jsonld_context;
mod lines;
mod plain_text;
mod repair;
mod tables;
mod text;
mod turtle;
mod unpack;
mod xml;
mod xml_literal;
mod xml_root;
mod xml_scope;
mod xml_tags;

pub use beginning::{Beginning, read_beginning};
pub use format::Syntax;
pub use plain_text::{DecodedText, decode_text};
pub use repair::{correct_language_tag, percent_encode, repair_iri};
pub use tables::{DocumentHead, TableFacts, TableReader};
pub use unpack::{extract, open};
pub use xml_root::XmlRoot;

use super::triples::TripleSink;
use oxrdf::{Literal, NamedOrBlankNode, Term, Triple};
use rustc_hash::{FxBuildHasher, FxHashSet};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;
use std::hash::BuildHasher;
use std::io::{self, Read};
use std::path::Path;
use std::rc::Rc;

/// Limits beyond which a dump is rejected.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Limits {
    /// Maximum number of bytes after decompression, over all members of an archive. Default 64 GiB.
    ///
    /// For HDT it limits the bytes that are read from the dictionary and converted to terms.
    pub decompressed_bytes: u64,
    /// Maximum number of bytes of one document, also if it is not compressed. HDT has none. Default: no maximum.
    pub document_bytes: u64,
    /// Maximum ratio of decompressed to compressed bytes, checked after [`Self::RATIO_FREE_BYTES`]. Default 250.
    ///
    /// bzip2 and xz reach about 100 on the most repetitive real dumps.
    pub compression_ratio: u64,
    /// Maximum size of a token (literal, IRI, line of N-Triples) in bytes, with XML entities expanded. Default 8 MiB.
    pub token_bytes: usize,
    /// Maximum size of a Turtle statement in bytes. Default 64 MiB.
    pub statement_bytes: usize,
    /// Maximum nesting of brackets, elements or objects. Default 10,000, because RDF/XML nests the cells of a list.
    pub nesting: usize,
    /// Maximum estimated memory of the JSON-LD reader in bytes. Default 2 GiB: a document of about 80 MB in one `@graph`.
    ///
    /// The reader holds each top-level object in memory until its end.
    pub json_memory: u64,
    /// Maximum memory of the packed dictionary and triples of an HDT file in bytes. Default 2 GiB: some hundred million
    /// triples.
    pub hdt_memory: u64,
    /// Maximum number of members of an archive. Default 10,000.
    pub archive_members: usize,
    /// Maximum expanded length of an XML entity in characters. Default 1,024; namespace abbreviations need about 100.
    pub entity_bytes: u64,
    /// Maximum number of XML entities of a document. Default 1,000.
    pub entities: usize,
    /// Maximum number of cells of tables in a file that become triples; of further rows, a sample is taken. 0: tables are
    /// not read, which is no failure. Default 4 million.
    pub table_cells: u64,
    /// Maximum number of listed problems per file; further ones are counted only. Default 1,000.
    pub listed_problems: usize,
}

impl Limits {
    /// Number of decompressed bytes up to which the ratio is not checked: a small file of one repeated line is not a bomb.
    pub const RATIO_FREE_BYTES: u64 = 4 << 20;
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            decompressed_bytes: 64 << 30,
            document_bytes: u64::MAX,
            compression_ratio: 250,
            token_bytes: 8 << 20,
            statement_bytes: 64 << 20,
            nesting: 10_000,
            json_memory: 2 << 30,
            hdt_memory: 2 << 30,
            archive_members: 10_000,
            entity_bytes: 1024,
            entities: 1000,
            table_cells: 4_000_000,
            listed_problems: 1000,
        }
    }
}

/// Result of reading one file, or one member of an archive.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Read completely, without skipped statements. Repairs are listed as problems.
    Complete,
    /// Read completely, with skipped statements.
    Skipped,
    /// Read in part: the rest is damaged.
    Truncated,
    /// Rejected: hostile, over a limit, or not RDF.
    Refused,
    /// Not readable: missing, damaged from the beginning, or an input error.
    Unreadable,
}

impl Outcome {
    /// Returns true if the file may contain more statements than were read.
    pub fn is_failure(self) -> bool {
        matches!(self, Self::Truncated | Self::Refused | Self::Unreadable)
    }
}

/// Problem in a file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Problem {
    /// Line number, starting at 1, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Description of the problem and its consequence.
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

/// Report about one file, or one member of an archive.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FileReport {
    /// File name as in the catalogue; `archive!member` for a member of an archive.
    pub file: String,
    /// Detected syntax.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub syntax: Option<Syntax>,
    /// Tables in the document, if it is no RDF.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<TableFacts>,
    /// Compressions and archives around the document, outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<Cow<'static, str>>,
    /// Number of triples read, with repetitions.
    pub triples: u64,
    /// Number of skipped statements.
    pub skipped: u64,
    /// Result of reading.
    pub outcome: Outcome,
    /// First problems, in the order of the file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
    /// Number of problems that are not listed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unlisted_problems: u64,
    /// If true, the process that read the file failed: with other limits, it may be readable. Not serialized.
    #[serde(skip)]
    pub reader_failed: bool,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde requires a reference"
)]
fn is_zero(value: &u64) -> bool {
    *value == 0
}

impl FileReport {
    fn new(file: &str) -> Self {
        Self {
            file: file.to_owned(),
            syntax: None,
            tables: Vec::new(),
            layers: Vec::new(),
            triples: 0,
            skipped: 0,
            outcome: Outcome::Complete,
            problems: Vec::new(),
            unlisted_problems: 0,
            reader_failed: false,
        }
    }

    /// Adds a problem, or counts it if `limit` problems are listed.
    pub fn add_problem(&mut self, line: Option<u64>, message: impl Into<String>, limit: usize) {
        if self.problems.len() < limit {
            self.problems.push(Problem {
                line,
                message: message.into(),
            });
        } else {
            self.unlisted_problems += 1;
        }
    }

    /// Returns true if the whole file was read without problems.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.outcome == Outcome::Complete && self.problems.is_empty() && self.unlisted_problems == 0
    }

    /// Returns true if the file is on the web and was not downloaded: it is described, and no failure.
    #[must_use]
    pub fn is_on_web(&self) -> bool {
        let is_address = self.file.starts_with("http://") || self.file.starts_with("https://");
        self.outcome == Outcome::Refused && is_address
    }

    /// Creates the report of a file that could not be opened.
    #[must_use]
    pub fn unreadable(file: &str, reason: impl fmt::Display) -> Self {
        let mut report = Self::new(file);
        report.outcome = Outcome::Unreadable;
        report.problems.push(Problem {
            line: None,
            message: reason.to_string(),
        });
        report
    }

    /// Creates the report of a file that is rejected before it is opened.
    #[must_use]
    pub fn refused(file: &str, reason: impl fmt::Display) -> Self {
        Self {
            outcome: Outcome::Refused,
            ..Self::unreadable(file, reason)
        }
    }
}

/// Reason for rejecting a dump. It passes through readers as the cause of an [`io::Error`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// Decompression bomb: the ratio is above the limit.
    #[error("decompression bomb: {produced} bytes from {compressed} (more than {limit} to 1)")]
    CompressionRatio {
        /// Number of decompressed bytes so far.
        produced: u64,
        /// Number of compressed bytes read.
        compressed: u64,
        /// Limit.
        limit: u64,
    },
    /// Decompressed size above the limit.
    #[error("more than {limit} bytes after decompression")]
    DecompressedSize {
        /// Limit.
        limit: u64,
    },
    /// Archive inside an archive, or compression inside a compression.
    #[error("{inner} inside {outer}: nested archives are not opened")]
    Nested {
        /// Outer layer.
        outer: &'static str,
        /// Inner layer.
        inner: &'static str,
    },
    /// Archive member whose name contains an absolute path or `..`.
    #[error("the member's name {name:?} leads outside the archive")]
    MemberPath {
        /// Member name.
        name: String,
    },
    /// Number of archive members above the limit.
    #[error("more than {limit} members in the archive")]
    MemberCount {
        /// Limit.
        limit: usize,
    },
    /// Members of a zip archive that share bytes, as in a zip bomb.
    #[error("the members of the archive overlap: together they are longer than the file")]
    OverlappingMembers,
    /// Archive member with a password.
    #[error("the member is encrypted")]
    Encrypted,
    /// XML entity whose expansion is above the limit.
    #[error("entity bomb: the entity &{name}; expands to {expanded} characters (limit {limit})")]
    EntityBomb {
        /// Entity name.
        name: String,
        /// Expanded length in characters.
        expanded: u64,
        /// Limit.
        limit: u64,
    },
    /// Unsupported XML document type declaration.
    #[error("document type declaration: {reason}")]
    DocumentType {
        /// Reason.
        reason: String,
    },
    /// Literal, IRI or line above the limit.
    #[error("a token of more than {limit} bytes near line {line}")]
    TokenSize {
        /// Limit.
        limit: usize,
        /// Line number.
        line: u64,
    },
    /// Nesting of brackets, elements or objects above the limit.
    #[error("more than {limit} levels of nesting at line {line}")]
    Nesting {
        /// Limit.
        limit: usize,
        /// Line number.
        line: u64,
    },
    /// Number of attributes of an XML element above the limit.
    #[error("more than {limit} attributes of one element near line {line}")]
    AttributeCount {
        /// Limit.
        limit: u32,
        /// Line number.
        line: u64,
    },
    /// XML namespaces and attributes that need too many comparisons.
    #[error(
        "the {namespaces} namespaces and {attributes} attributes at line {line} need too many comparisons; declare fewer \
         namespaces at once"
    )]
    NamespaceCount {
        /// Number of namespaces in scope.
        namespaces: u64,
        /// Number of attributes of the element.
        attributes: u64,
        /// Line number.
        line: u64,
    },
    /// JSON-LD object whose memory is above the limit.
    #[error(
        "a JSON-LD object that needs more than {limit} bytes of memory to read, up to line {line}"
    )]
    JsonMemory {
        /// Limit.
        limit: u64,
        /// Line number.
        line: u64,
    },
    /// JSON-LD context that needs too much recursion, time or memory.
    #[error("a JSON-LD context is over a limit at line {line}: {reason}")]
    Context {
        /// Limit, and what to do.
        reason: String,
        /// Line number.
        line: u64,
    },
    /// Unsupported HDT file, or one above a limit.
    #[error("HDT: {reason}")]
    Hdt {
        /// Reason.
        reason: String,
    },
    /// Short names that resolve to long IRIs.
    #[error(
        "the names resolve to more than {limit} bytes of IRIs and literals, from {read} bytes: the base or a prefix is too \
         long; declare a shorter one"
    )]
    ResolvedSize {
        /// Limit for the bytes read so far.
        limit: u64,
        /// Number of bytes read.
        read: u64,
    },
    /// Base or prefix above the limit.
    #[error(
        "the base, a prefix or a language tag declared up to line {line} is longer than {limit} bytes; declare a shorter one"
    )]
    NamespaceSize {
        /// Limit.
        limit: usize,
        /// Line number.
        line: u64,
    },
    /// Broken statements that need too much time.
    #[error(
        "too many errors in long statements, or with long prefixes, up to line {line}: their parts were read again and again; \
         correct them first"
    )]
    Recovery {
        /// Line number.
        line: u64,
    },
    /// Statement above the limit.
    #[error("the statement of line {line} is longer than {limit} bytes")]
    StatementSize {
        /// Limit.
        limit: usize,
        /// First line of the statement.
        line: u64,
    },
    /// Record of a table above the limit.
    #[error(
        "the record that begins at line {line} has more than {limit} bytes: a quote may not be closed"
    )]
    RecordSize {
        /// Limit.
        limit: u64,
        /// First line of the record.
        line: u64,
    },
    /// Number of columns of a table above the limit.
    #[error("a table of more than {limit} columns")]
    ColumnCount {
        /// Limit.
        limit: usize,
    },
    /// Workbook or other document above a limit.
    #[error("{reason}")]
    Document {
        /// Reason.
        reason: String,
    },
    /// Content that is not RDF.
    #[error("not RDF: {reason}")]
    NotRdf {
        /// Detected content.
        reason: String,
    },
}

impl From<Refusal> for io::Error {
    fn from(refusal: Refusal) -> Self {
        Self::other(refusal)
    }
}

/// Reader of dumps. It writes to a [`TripleSink`], such as a [`TripleGraphBuilder`](crate::TripleGraphBuilder).
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
    media_type: Option<String>,
    tables: Option<&'static dyn TableReader>,
}

impl DumpReader {
    /// Creates a reader with custom limits.
    #[must_use]
    pub fn with_limits(limits: Limits) -> Self {
        Self {
            limits,
            ..Self::default()
        }
    }

    /// Sets the media type declared by the catalogue. It takes precedence over the file name, but not over the content.
    #[must_use]
    pub fn with_media_type(self, media_type: &str) -> Self {
        Self {
            announced: Syntax::from_hint(media_type),
            media_type: Some(media_type.to_owned()),
            ..self
        }
    }

    /// Sets the reader of documents that are no RDF. Default: such documents are refused.
    #[must_use]
    pub fn with_tables(self, tables: &'static dyn TableReader) -> Self {
        Self {
            tables: Some(tables),
            ..self
        }
    }

    /// Reads a file or archive. Returns one report per document.
    ///
    /// `name` is used in reports. Relative IRIs are resolved against `base`.
    pub fn read_file(
        &self,
        path: &Path,
        name: &str,
        base: &str,
        graph: &mut dyn TripleSink,
    ) -> Vec<FileReport> {
        unpack::read_file(path, name, &mut self.context(base, graph))
    }

    /// Reads from any reader, as [`read_file`](Self::read_file) does.
    ///
    /// Zip archives need [`read_file`](Self::read_file), because their directory is at the end of the file.
    pub fn read(
        &self,
        reader: impl Read,
        name: &str,
        base: &str,
        graph: &mut dyn TripleSink,
    ) -> Vec<FileReport> {
        unpack::read_stream(reader, name, &mut self.context(base, graph))
    }

    fn context<'a>(&'a self, base: &'a str, graph: &'a mut dyn TripleSink) -> ReadContext<'a> {
        ReadContext {
            limits: &self.limits,
            announced: self.announced,
            media_type: self.media_type.as_deref(),
            tables: self.tables,
            path: None,
            member: None,
            base,
            graph,
            reports: Vec::new(),
        }
    }
}

/// State of reading one dump.
struct ReadContext<'a> {
    limits: &'a Limits,
    announced: Option<Syntax>,
    media_type: Option<&'a str>,
    tables: Option<&'static dyn TableReader>,
    /// The file, if the document is not in an archive or compressed.
    path: Option<&'a Path>,
    /// Name of the member, if the document is in an archive.
    member: Option<String>,
    base: &'a str,
    graph: &'a mut dyn TripleSink,
    reports: Vec<FileReport>,
}

/// Number of bytes from which documents that are no RDF are recognised.
const MAX_RECOGNIZED_BYTES: usize = 64 << 10;

impl ReadContext<'_> {
    /// Reads one decompressed document: a file or a member of an archive.
    fn document(&mut self, reader: Box<dyn Read + '_>, name: &str, layers: Vec<Cow<'static, str>>) {
        let mut report = FileReport {
            layers,
            ..FileReport::new(name)
        };
        self.graph.start_file();
        let reader = match self.table(reader, name, &mut report) {
            Some(reader) => reader,
            None => {
                self.reports.push(report);
                return;
            }
        };
        let mut sink = Sink {
            limits: self.limits,
            graph: self.graph,
            report: &mut report,
            budget: Rc::default(),
            counter: ResolvedCounter::default(),
            rdf_star: None,
            repairs: FxHashSet::default(),
        };
        // The media type describes the whole distribution, not the members of an archive.
        let announced = self
            .announced
            .filter(|_| !name.contains('!'))
            .or_else(|| Syntax::from_file_name(name));
        let result = read_document(reader, name, announced, self.base, &mut sink);
        if let Err(error) = result {
            record_error(&mut report, &error);
        } else if report.outcome == Outcome::Complete && report.skipped > 0 {
            report.outcome = Outcome::Skipped;
        }
        self.reports.push(report);
    }

    /// Reads a document that is no RDF, if there is a reader of it. Returns the content of any other document.
    fn table<'r>(
        &mut self,
        reader: Box<dyn Read + 'r>,
        name: &str,
        report: &mut FileReport,
    ) -> Option<Box<dyn Read + 'r>> {
        let Some(tables) = self.tables else {
            return Some(reader);
        };
        let beginning = match read_beginning(reader, MAX_RECOGNIZED_BYTES) {
            Ok(beginning) => beginning,
            Err(error) => {
                record_error(report, &error);
                return None;
            }
        };
        let mut reader = beginning.reader;
        let document = DocumentHead {
            name,
            media_type: self.media_type,
            bytes: &beginning.bytes,
            is_whole: beginning.is_whole,
            path: self
                .path
                .filter(|_| report.layers.is_empty() && !name.contains('!')),
        };
        if !tables.recognizes(&document) {
            return Some(reader);
        }
        // Equal fragments of several members are different entities.
        let base = match &self.member {
            Some(member) => Cow::Owned(member_address(self.base, member)),
            None => Cow::Borrowed(self.base),
        };
        let result = tables.read(
            &document,
            &mut reader,
            &base,
            self.limits,
            self.graph,
            report,
        );
        match result {
            Err(error) => record_error(report, &error),
            Ok(()) if report.skipped > 0 => report.outcome = Outcome::Skipped,
            Ok(()) => (),
        }
        None
    }
}

/// Returns the address of an archive's member: `ARCHIVE!MEMBER`, as in reports. Letters and digits of all scripts, and slashes, stay.
fn member_address(archive: &str, member: &str) -> String {
    let archive = match archive.split_once('#') {
        Some((address, _)) => address,
        None => archive,
    };
    let mut address = format!("{archive}!");
    for character in member.chars() {
        let is_kept = if character.is_ascii() {
            character.is_ascii_alphanumeric() || "-._~/".contains(character)
        } else {
            character.is_alphanumeric()
        };
        if is_kept {
            address.push(character);
        } else {
            percent_encode(character, &mut address);
        }
    }
    address
}

/// Adds the error that ended a document to its report.
fn record_error(report: &mut FileReport, error: &io::Error) {
    let refusal = error
        .get_ref()
        .and_then(|cause| cause.downcast_ref::<Refusal>());
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
    report.problems.push(Problem {
        line: None,
        message,
    });
}

fn read_document(
    reader: Box<dyn Read + '_>,
    name: &str,
    announced: Option<Syntax>,
    base: &str,
    sink: &mut Sink<'_>,
) -> io::Result<()> {
    // The conversion to UTF-8 would change it.
    let beginning = read_beginning(reader, hdt::MAGIC.len())?;
    if beginning.bytes == hdt::MAGIC {
        sink.report.syntax = Some(Syntax::Hdt);
        return hdt::read(beginning.reader, sink);
    }
    let mut text = text::to_utf8(beginning.reader)?;
    let syntax = match format::detect(name, announced, text.head()) {
        Ok(syntax) => syntax,
        // The beginning of a document that breaks off may be too short.
        Err(refusal) => return Err(text.take_failure().unwrap_or_else(|| refusal.into())),
    };
    sink.report.syntax = Some(syntax);
    let budget = Rc::clone(&sink.budget);
    let limit = sink.limits.document_bytes;
    let counted = CountedText {
        inner: &mut text,
        budget: Rc::clone(&budget),
        limit,
    };
    let result = read_text(counted, syntax, name, base, sink);
    // The text is converted while it is read, so its problems are complete only now.
    for problem in text.problems() {
        sink.problem(problem.line, problem.message);
    }
    // The last triples may have spent the budget after the last byte was read.
    result.and(budget.check().map_err(Into::into))
}

fn read_text(
    reader: impl Read,
    syntax: Syntax,
    name: &str,
    base: &str,
    sink: &mut Sink<'_>,
) -> io::Result<()> {
    match syntax {
        Syntax::NTriples | Syntax::NQuads => lines::read(reader, sink),
        Syntax::Turtle | Syntax::TriG | Syntax::N3 => turtle::read(reader, syntax, base, sink),
        Syntax::RdfXml => xml::read(reader, base, sink),
        Syntax::JsonLd => jsonld::read(reader, base, sink),
        Syntax::Hdt => {
            let reason = format!("{name} is not an HDT file: it does not begin with $HDT");
            Err(Refusal::NotRdf { reason }.into())
        }
    }
}

/// Number of bytes that terms may have in any document, and additionally for each byte read.
const MAX_FREE_RESOLVED_BYTES: u64 = 16 << 20;
const MAX_RESOLVED_PER_BYTE: u64 = 256;
/// Maximum length of an IRI, a blank node label or a language tag in bytes: 64 KiB, more than usual servers accept. Statistics,
/// pages and descriptions repeat IRIs.
const MAX_IRI: usize = 64 << 10;

/// Counters of bytes read, and of bytes of the terms that were made from them.
///
/// A document with a base of a megabyte and thousands of short relative IRIs would otherwise need gigabytes. Subjects and
/// predicates that are repeated count once.
#[derive(Default)]
struct ResolvedBudget {
    read: Cell<u64>,
    resolved: Cell<u64>,
}

impl ResolvedBudget {
    fn limit(&self) -> u64 {
        MAX_FREE_RESOLVED_BYTES
            .saturating_add(MAX_RESOLVED_PER_BYTE.saturating_mul(self.read.get()))
    }

    fn is_exceeded(&self) -> bool {
        self.resolved.get() > self.limit()
    }

    /// Adds bytes of terms. Returns false if there are too many.
    fn spend(&self, bytes: usize) -> bool {
        self.resolved
            .set(self.resolved.get().saturating_add(bytes as u64));
        !self.is_exceeded()
    }

    /// Marks the budget as spent, so that reading ends.
    fn exhaust(&self) {
        self.resolved.set(u64::MAX);
    }

    fn check(&self) -> Result<(), Refusal> {
        let (limit, read) = (self.limit(), self.read.get());
        if self.is_exceeded() {
            Err(Refusal::ResolvedSize { limit, read })
        } else {
            Ok(())
        }
    }
}

/// Text that counts the bytes read, and ends with an error at the limit of bytes, or when the budget is spent.
struct CountedText<R> {
    inner: R,
    budget: Rc<ResolvedBudget>,
    limit: u64,
}

impl<R: Read> Read for CountedText<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // All readers end at an error of their input, so they need not check the budget themselves.
        self.budget.check()?;
        let read = self.inner.read(buffer)?;
        let all = self.budget.read.get() + read as u64;
        if all > self.limit {
            return Err(Refusal::DecompressedSize { limit: self.limit }.into());
        }
        self.budget.read.set(all);
        Ok(read)
    }
}

/// Counter of the bytes of terms. A subject or predicate that is repeated counts once.
#[derive(Default)]
struct ResolvedCounter {
    last_subject: String,
    last_predicate: String,
}

impl ResolvedCounter {
    fn bytes(&mut self, triple: &Triple) -> usize {
        let mut bytes = object_length(&triple.object);
        let (subject, predicate) = (subject_text(&triple.subject), triple.predicate.as_str());
        for (last, term) in [
            (&mut self.last_subject, subject),
            (&mut self.last_predicate, predicate),
        ] {
            if last != term {
                bytes += term.len();
                last.clear();
                last.push_str(term);
            }
        }
        bytes
    }
}

fn object_length(object: &Term) -> usize {
    match object {
        Term::NamedNode(node) => node.as_str().len(),
        Term::BlankNode(node) => node.as_str().len(),
        Term::Literal(literal) => {
            let datatype = literal
                .language()
                .unwrap_or_else(|| literal.datatype().as_str())
                .len();
            // Usual datatypes are short, and few in a document.
            literal.value().len() + if datatype > 256 { datatype } else { 0 }
        }
        Term::Triple(triple) => {
            subject_text(&triple.subject).len()
                + triple.predicate.as_str().len()
                + object_length(&triple.object)
        }
    }
}

/// Returns an IRI, a blank node label or a language tag of more than [`MAX_IRI`] bytes, if the triple has one.
fn long_iri(triple: &Triple) -> Option<&str> {
    let object = match &triple.object {
        Term::NamedNode(node) => node.as_str(),
        Term::BlankNode(node) => node.as_str(),
        Term::Literal(literal) => literal
            .language()
            .unwrap_or_else(|| literal.datatype().as_str()),
        Term::Triple(triple) => long_iri(triple).unwrap_or_default(),
    };
    [
        subject_text(&triple.subject),
        triple.predicate.as_str(),
        object,
    ]
    .into_iter()
    .find(|text| text.len() > MAX_IRI)
}

fn subject_text(subject: &NamedOrBlankNode) -> &str {
    match subject {
        NamedOrBlankNode::NamedNode(node) => node.as_str(),
        NamedOrBlankNode::BlankNode(node) => node.as_str(),
    }
}

/// Receiver of the triples and problems of all syntax readers.
struct Sink<'a> {
    limits: &'a Limits,
    graph: &'a mut dyn TripleSink,
    report: &'a mut FileReport,
    budget: Rc<ResolvedBudget>,
    counter: ResolvedCounter,
    /// First line with a quoted triple of RDF-star.
    rdf_star: Option<u64>,
    /// Hashes of the reported repairs.
    repairs: FxHashSet<u64>,
}

impl Sink<'_> {
    /// Adds a triple from a reader that checks IRIs and language tags itself.
    ///
    /// A triple beyond the budget of resolved bytes is dropped; the reader then ends with an error. One with a long IRI is skipped.
    fn triple(&mut self, triple: &Triple, line: Option<u64>) {
        // HDT has a budget of its own.
        if self.report.syntax != Some(Syntax::Hdt) && !self.spend(triple) {
            return;
        }
        if let Some(text) = long_iri(triple) {
            let what = "an IRI, blank node label or language tag of more than";
            return self.skip(line, format!("{what} {MAX_IRI} bytes: {}", shorten(text)));
        }
        self.report.triples += 1;
        self.graph.insert_triple(triple.as_ref());
    }

    /// Adds the terms of a triple to the budget. Returns false if it is spent.
    fn spend(&mut self, triple: &Triple) -> bool {
        let bytes = self.counter.bytes(triple);
        self.budget.spend(bytes)
    }

    /// Checks and adds a triple. Invalid IRIs and language tags are repaired. If that is impossible, the triple is skipped.
    fn unchecked_triple(&mut self, triple: &Triple, line: Option<u64>) {
        if check_triple(triple).is_ok() {
            return self.triple(triple, line);
        }
        let mut messages = Vec::new();
        match repair::repair_triple(triple, &mut messages) {
            Ok(repaired) => {
                for message in messages {
                    self.repair(line, message);
                }
                self.triple(&repaired, line);
            }
            Err(reason) => self.skip(line, reason),
        }
    }

    /// Reports a repair. An equal one is reported once.
    fn repair(&mut self, line: Option<u64>, message: String) {
        let hash = FxBuildHasher.hash_one(&message);
        let is_known = self.repairs.contains(&hash);
        // The set stays as small as the list of problems.
        if !is_known && self.repairs.len() < self.limits.listed_problems {
            self.repairs.insert(hash);
        }
        if !is_known {
            self.problem(line, message);
        }
    }

    /// Reports a skipped statement.
    fn skip(&mut self, line: Option<u64>, reason: impl Into<String>) {
        self.report.skipped += 1;
        self.problem(line, reason);
    }

    /// Reports a problem without a skipped statement, such as a repair.
    fn problem(&mut self, line: Option<u64>, message: impl Into<String>) {
        self.report
            .add_problem(line, message, self.limits.listed_problems);
    }

    /// Reports a problem that explains the others. It is listed first, regardless of the limit.
    fn first_problem(&mut self, message: impl Into<String>) {
        self.report.problems.insert(
            0,
            Problem {
                line: None,
                message: message.into(),
            },
        );
    }

    /// Reports that the rest of the document cannot be read.
    fn truncate(&mut self, line: Option<u64>, reason: &str) {
        self.report.outcome = if self.report.triples == 0 {
            Outcome::Unreadable
        } else {
            Outcome::Truncated
        };
        // Listed regardless of the limit, because it explains why the file was not read completely.
        self.report.problems.push(Problem {
            line,
            message: format!("{reason}; the rest of the file was not read"),
        });
    }
}

fn check_triple(triple: &Triple) -> Result<(), String> {
    if let NamedOrBlankNode::NamedNode(node) = &triple.subject {
        check_iri(node.as_str())?;
    }
    check_iri(triple.predicate.as_str())?;
    match &triple.object {
        Term::NamedNode(node) => check_iri(node.as_str()),
        Term::BlankNode(_) => Ok(()),
        Term::Literal(literal) => check_literal(literal),
        Term::Triple(triple) => check_triple(triple),
    }
}

fn check_iri(iri: &str) -> Result<(), String> {
    match oxiri::IriRef::parse(iri) {
        Ok(parsed) if parsed.is_absolute() => Ok(()),
        Ok(_) => Err(format!(
            "the IRI <{}> is relative and there is no base",
            shorten(iri)
        )),
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

/// Returns an excerpt of the input for messages: one line of at most 80 characters.
fn shorten(text: &str) -> String {
    let mut short: String = text
        .chars()
        .take(80)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if text.chars().nth(80).is_some() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests;
