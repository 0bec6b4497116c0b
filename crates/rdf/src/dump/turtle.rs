//! Turtle, TriG and N3, with error recovery by statement.
//!
//! The parser of oxttl recovers from an error at the next token, within the broken statement. The following tokens may
//! then form a statement that is not in the document: `( broken:x ex:a ex:b ex:c )` would give `ex:a ex:b ex:c`.
//!
//! This module therefore splits the text into statements with a scanner for strings, IRIs, comments and braces. Batches of
//! statements are parsed together. If a batch contains an error, its statements are parsed one by one, each with the
//! prefixes and base declared so far. Invalid IRIs and language tags of a broken statement are repaired
//! ([`repair`](super::repair)). If it is still broken, it is split further, and its valid parts are kept:
//!
//! * the statements before and after a missing dot at the end of a line;
//! * the valid predicate lists (between `;`), with the subject of the statement;
//! * the valid objects (between `,`) of a broken predicate list, with its predicate. A collection, a blank node property
//!   list, a triple term, or an object with its annotations is one object, so it is kept or skipped as a whole.
//!
//! After a broken directive, its prefix or the base has no meaning until the next valid one: statements that need it are skipped.
//!
//! A document that ends within a statement or a graph is read to its end, and reported as truncated: the rest may be missing.
//!
//! Quoted triples of RDF-star (`<< s p o >>`) are reified triples of RDF 1.2, and are read as such.
//!
//! Documents are parsed as TriG, a superset of Turtle, except N3. Graph names are dropped, because a dataset is one
//! graph. The content of N3 formulas is quoted, not asserted, and is skipped.

use super::repair::repair_terms;
use super::{
    Refusal, ResolvedBudget, ResolvedCounter, Sink, Syntax, object_length, shorten, subject_text,
};
use crate::triples::MAX_TRIPLE_TERM_DEPTH;
use oxrdf::{BlankNode, GraphName, NamedOrBlankNode, Term, Triple};
use oxttl::n3::{LowLevelN3Parser, N3Parser, N3Quad, N3Term};
use oxttl::trig::LowLevelTriGParser;
use oxttl::{TriGParser, TurtleSyntaxError};
use rustc_hash::{FxHashMap, FxHashSet};
use std::io::{self, Read};
use std::ops::Range;
use std::rc::Rc;

const CHUNK_BYTES: usize = 64 << 10;
/// Size of a batch of statements that are parsed together, in bytes.
const BATCH_BYTES: usize = 128 << 10;
/// Maximum size of a text whose triples are collected before they are added. A longer text is parsed twice instead.
const MAX_COLLECTED_BYTES: usize = 1 << 20;
/// Maximum size of a broken text that is split further. A longer one is skipped, because its elements need much memory.
const MAX_RECOVERED_BYTES: usize = 16 << 20;
/// Maximum size of an N3 statement, whose triples are held in memory until its end.
const MAX_N3_STATEMENT_BYTES: usize = 4 << 20;
/// Number of bytes in which the closing quote is searched after a line end in a string.
const MAX_STRING_LOOKAHEAD: usize = 4 << 10;
/// Maximum length of a prefix or base in bytes. Each short name can become as long.
const MAX_NAMESPACE_BYTES: usize = 8 << 10;
/// Maximum size of the terms that are collected before they are added, in bytes.
const MAX_COLLECTED_TERMS: usize = 16 << 20;
/// Maximum number of prefixes that are copied for each batch. With more, and for each text that is parsed again after an
/// error, only the ones that occur in the text are declared.
const MAX_COPIED_PREFIXES: usize = 64;
/// Number of bytes that may be parsed again after errors, in any document and additionally for each byte read. The base and
/// the prefixes that are declared for a text count, too.
const MAX_FREE_RECOVERED_BYTES: u64 = 32 << 20;
const MAX_RECOVERED_PER_BYTE: u64 = 64;
/// Number of bytes that a text's triples may have with repeated subjects and predicates, and additionally for each byte.
const MAX_FREE_REPEATED_BYTES: u64 = 1 << 30;
const MAX_REPEATED_PER_BYTE: u64 = 1024;
const MISSING_DOT: &str = "a dot is missing before this line; read as if it were there";

pub(super) fn read(
    reader: impl Read,
    syntax: Syntax,
    base: &str,
    sink: &mut Sink<'_>,
) -> io::Result<()> {
    let n3 = syntax == Syntax::N3;
    let declared = Declarations {
        base: Some(base.to_owned()),
        prefixes: FxHashMap::default(),
    };
    let mut document = Document {
        declared,
        template: None,
        n3,
        line: 0,
        depth: 0,
        formulas: 0,
        recovered: 0,
        is_recovering: false,
        refusal: None,
        sink,
    };
    let result = read_batches(reader, &mut document);
    if document.formulas > 0 {
        let message = format!(
            "{} statements inside or about N3 formulas are quoted, not stated, and were left out",
            document.formulas
        );
        document.sink.problem(None, message);
    }
    result
}

fn read_batches(mut reader: impl Read, document: &mut Document<'_, '_>) -> io::Result<()> {
    let mut buffer: Vec<u8> = Vec::new();
    let mut scanner = Scanner {
        n3: document.n3,
        ..Scanner::default()
    };
    loop {
        let start = buffer.len();
        buffer.resize(start + CHUNK_BYTES, 0);
        let read = reader.read(&mut buffer[start..]);
        buffer.truncate(start + read.as_ref().copied().unwrap_or(0));
        let ended = matches!(read, Ok(0));
        let result = read.and_then(|_| Ok(scanner.scan(&buffer, ended, document)?));
        let is_cut = ended && (scanner.depth > 0 || ends_in_statement(&buffer[scanner.done()..]));
        if ended && result.is_ok() {
            // The last statement may lack its dot.
            scanner.end_at(buffer.len(), 0);
        }
        let done = scanner.done();
        // After a refusal, the complete statements before it are read all the same.
        if done >= BATCH_BYTES || ended || result.is_err() {
            document.batch(&buffer[..done], &scanner.ends);
            if is_cut && result.is_ok() && !document.is_stopped() {
                let line = document.line + 1;
                let reason = "the file ends within a statement or a graph";
                document.sink.truncate(Some(line), reason);
            }
            buffer.drain(..done);
            scanner.drop_front(done);
        }
        if let Some(refusal) = document.refusal.take() {
            return Err(refusal.into());
        }
        if ended || result.is_err() {
            return result;
        }
    }
}

/// Returns true if a text after the last complete statement is the beginning of another one. Directives without a dot are complete.
fn ends_in_statement(text: &[u8]) -> bool {
    let mut rest = text;
    while let Some(directive) = Directive::first_of(rest) {
        if directive.lacks_dot {
            return true;
        }
        rest = &rest[directive.end..];
    }
    !split_first_elements(rest, 1).is_empty()
}

/// End of a statement, or of the opening or closing of a graph: position in the buffer and brace depth after it.
#[derive(Clone, Copy)]
struct StatementEnd {
    place: usize,
    depth: u32,
}

/// Scanner for the ends of statements.
#[derive(Default)]
struct Scanner {
    n3: bool,
    place: usize,
    /// Number of open braces.
    depth: u32,
    /// Number of open brackets in the current statement.
    nested: usize,
    /// Number of open triple terms in the current statement.
    triple_terms: usize,
    ends: Vec<StatementEnd>,
}

impl Scanner {
    fn scan(
        &mut self,
        text: &[u8],
        ended: bool,
        document: &Document<'_, '_>,
    ) -> Result<(), Refusal> {
        let limits = document.sink.limits;
        while let Some(plain) = text[self.place..].iter().position(|&byte| is_special(byte)) {
            self.place += plain;
            let Some(next) = element_end(text, self.place, ended) else {
                break;
            };
            if next - self.place > limits.token_bytes {
                return Err(Refusal::TokenSize {
                    limit: limits.token_bytes,
                    line: document.line_at(text, self.place),
                });
            }
            if !self.element(text, next, ended) {
                break; // the byte after a dot is not in the buffer yet
            }
            if self.nested + self.depth as usize > limits.nesting {
                return Err(Refusal::Nesting {
                    limit: limits.nesting,
                    line: document.line_at(text, self.place),
                });
            }
            if self.triple_terms > MAX_TRIPLE_TERM_DEPTH {
                return Err(Refusal::Nesting {
                    limit: MAX_TRIPLE_TERM_DEPTH,
                    line: document.line_at(text, self.place),
                });
            }
            self.place = next;
        }
        if !text[self.place..].iter().any(|&byte| is_special(byte)) {
            // It need not be scanned again.
            self.place = text.len();
        } else if text.len() - self.place > limits.token_bytes {
            return Err(Refusal::TokenSize {
                limit: limits.token_bytes,
                line: document.line_at(text, self.place),
            });
        }
        let limit = if self.n3 {
            limits.statement_bytes.min(MAX_N3_STATEMENT_BYTES)
        } else {
            limits.statement_bytes
        };
        // A statement is in the buffer until its end.
        if text.len() - self.done() > limit {
            let statement = &text[self.done()..];
            let blank = statement.len() - statement.trim_ascii_start().len();
            return Err(Refusal::StatementSize {
                limit,
                line: document.line_at(text, self.done() + blank),
            });
        }
        Ok(())
    }

    /// Processes the element that ends at `next`. Returns false if more bytes are needed.
    fn element(&mut self, text: &[u8], next: usize, ended: bool) -> bool {
        let place = self.place;
        match text[place] {
            // A formula is part of a statement, and the dots in it end no statement of the document.
            b'.' if self.n3 && self.depth > 0 => {}
            b'.' if next == text.len() && !ended => return false,
            b'.' if is_final_dot(text.get(next)) => self.end_at(next, self.depth),
            // Otherwise, the next statement would be lost as well.
            b'"' | b'\'' | b'<' if breaks_off_with_dot(&text[place..next]) => {
                self.end_at(next, self.depth)
            }
            // The next byte decides between a graph and an annotation (`{
            // `).
            b'{' if !self.n3 && next == text.len() && !ended => return false,
            b'{' if !self.n3 && text.get(next) == Some(&b'|') => self.nested += 1,
            b'}' if !self.n3 && text[..place].ends_with(b"|") => {
                self.nested = self.nested.saturating_sub(1)
            }
            b'{' => {
                self.depth += 1;
                if !self.n3 {
                    self.end_at(next, self.depth);
                }
            }
            b'}' => {
                let before = self.depth;
                self.depth = before.saturating_sub(1);
                if !self.n3 {
                    // The last statement of a graph needs no dot.
                    self.end_at(place, before);
                    self.end_at(next, self.depth);
                }
            }
            b'(' if text[..place].ends_with(b"<<") => {
                self.nested += 1;
                self.triple_terms += 1;
            }
            b'[' | b'(' => self.nested += 1,
            b')' => {
                self.nested = self.nested.saturating_sub(1);
                // A collection in a triple term is not valid.
                self.triple_terms = self.triple_terms.saturating_sub(1);
            }
            b']' => self.nested = self.nested.saturating_sub(1),
            _ => {}
        }
        true
    }

    fn end_at(&mut self, place: usize, depth: u32) {
        if place > self.done() {
            self.ends.push(StatementEnd { place, depth });
        }
        // An unclosed bracket must not affect later statements.
        (self.nested, self.triple_terms) = (0, 0);
    }

    fn done(&self) -> usize {
        match self.ends.last() {
            Some(end) => end.place,
            None => 0,
        }
    }

    fn drop_front(&mut self, done: usize) {
        self.place -= done.min(self.place);
        self.ends.clear();
    }
}

fn is_special(byte: u8) -> bool {
    // A table, because each byte of the document is tested.
    const SPECIAL: [bool; 256] = {
        let mut table = [false; 256];
        let bytes = b"<#\\\"'.{}[]()";
        let mut index = 0;
        while index < bytes.len() {
            table[bytes[index] as usize] = true;
            index += 1;
        }
        table
    };
    SPECIAL[usize::from(byte)]
}

/// Returns true if a dot before this byte ends a statement, and is not part of a name or number.
fn is_final_dot(next: Option<&u8>) -> bool {
    next.is_none_or(|&byte| {
        !(byte.is_ascii_alphanumeric() || byte >= 0x80 || b"_-:%\\.".contains(&byte))
    })
}

/// Returns true if an unclosed string or IRI includes the end of its line and the dot of the statement.
fn breaks_off_with_dot(element: &[u8]) -> bool {
    element.ends_with(b"\n") && element.trim_ascii_end().ends_with(b".")
}

/// Returns the end of the lexical element that begins at `at`: a string, IRI, comment, escape, or any other single byte.
///
/// Returns `None` if the element is incomplete and more text may follow.
pub(super) fn element_end(text: &[u8], at: usize, ended: bool) -> Option<usize> {
    let rest = &text[at + 1..];
    let end_of_text = ended.then_some(text.len());
    match text[at] {
        b'<' => match rest.first() {
            Some(b' ') => match spaced_iri_length(rest) {
                Some(length) => Some(at + 1 + length),
                None if rest.len() < MAX_IRI_LOOKAHEAD && !ended && !rest.contains(&b'\n') => None,
                None => Some(at + 1),
            },
            // Begins `<=` or `<-` of N3.
            Some(b'=' | b'-') => Some(at + 1),
            // Begins a reified triple, or a triple term.
            Some(b'<') => Some(at + 2),
            Some(_) => match memchr::memchr2(b'>', b'\n', rest) {
                Some(place) if rest[place] == b'\n' => match wrapped_iri_length(rest, place) {
                    Some(length) => Some(at + 1 + length),
                    None if rest.len() - place < MAX_IRI_LOOKAHEAD
                        && !ended
                        && can_be_wrapped(&rest[place..]) =>
                    {
                        None
                    }
                    // A line break ends an unclosed IRI, so that only one statement is lost.
                    None => Some(at + 1 + place + 1),
                },
                found => found.map(|place| at + 1 + place + 1).or(end_of_text),
            },
            None => end_of_text,
        },
        b'#' => memchr::memchr2(b'\n', b'\r', rest)
            .map(|place| at + 1 + place)
            .or(end_of_text),
        b'\\' if rest.is_empty() => end_of_text,
        b'\\' => Some(at + 2),
        quote @ (b'"' | b'\'') => match (rest.first(), rest.get(1)) {
            (Some(&a), Some(&b)) if a == quote && b == quote => long_string_end(&rest[2..], quote)
                .map(|place| at + 1 + place + 2)
                .or(end_of_text),
            (Some(&a), Some(_)) if a == quote => Some(at + 2),
            // A third quote would begin a long string.
            (Some(&a), None) if a == quote => ended.then_some(at + 2),
            _ => short_string_end(rest, quote, ended)
                .map(|place| at + 1 + place)
                .or(end_of_text),
        },
        _ => Some(at + 1),
    }
}

/// Number of bytes in which the end of an IRI is searched after a line break, or after white space at its beginning.
const MAX_IRI_LOOKAHEAD: usize = 2 << 10;

/// Returns the length of the rest of an IRI that begins with white space, as in `< http://…>`. `None` if there is none on this line.
fn spaced_iri_length(text: &[u8]) -> Option<usize> {
    let text = &text[..text.len().min(MAX_IRI_LOOKAHEAD)];
    let end = memchr::memchr2(b'>', b'\n', text).filter(|&end| text[end] == b'>')?;
    let iri = text[..end].trim_ascii();
    let is_iri = iri.contains(&b':') && is_unbroken(iri);
    is_iri.then_some(end + 1)
}

/// Returns the length of the rest of an IRI that continues after the line break at `place`. `None` if it does not.
fn wrapped_iri_length(text: &[u8], place: usize) -> Option<usize> {
    let rest = &text[place..text.len().min(place + MAX_IRI_LOOKAHEAD)];
    let end = memchr::memchr(b'>', rest)?;
    let is_iri = text[..place].contains(&b':')
        && is_unbroken(text[..place].trim_ascii_end())
        && rest[..end]
            .split(|&byte| byte == b'\n')
            .all(|line| is_continuation(line.trim_ascii()));
    is_iri.then_some(place + end + 1)
}

/// Returns true if a text without `>` may be the incomplete rest of an IRI after a line break.
fn can_be_wrapped(text: &[u8]) -> bool {
    !text.contains(&b'>')
        && text
            .split(|&byte| byte == b'\n')
            .all(|line| is_continuation(line.trim_ascii()))
}

/// Returns true if a line may be a part of an IRI, and no punctuation between terms.
fn is_continuation(line: &[u8]) -> bool {
    is_unbroken(line)
        && !line.iter().any(|byte| b"{}".contains(byte))
        && !matches!(line, b"." | b";" | b",")
}

fn is_unbroken(text: &[u8]) -> bool {
    !text
        .iter()
        .any(|byte| byte.is_ascii_whitespace() || b"<>\"'".contains(byte))
}

fn short_string_end(text: &[u8], quote: u8, ended: bool) -> Option<usize> {
    let mut place = 0;
    loop {
        place += memchr::memchr3(quote, b'\\', b'\n', text.get(place..)?)?;
        match text[place] {
            b'\\' => place += 2,
            b'\n' => {
                place += 1;
                let end = broken_string_end(&text[place..], quote, ended)?;
                return Some(place + end.unwrap_or(0));
            }
            _ => return Some(place + 1),
        }
    }
}

/// Returns the end of a string that contains a line end.
///
/// It is after the next quote, if that looks like the closing one. `Some(None)`: the next quote looks like the start of
/// another string. `None`: more text is needed.
#[expect(clippy::option_option, reason = "unknown so far, or no end")]
fn broken_string_end(text: &[u8], quote: u8, ended: bool) -> Option<Option<usize>> {
    let whole = ended || text.len() >= MAX_STRING_LOOKAHEAD;
    let text = &text[..text.len().min(MAX_STRING_LOOKAHEAD)];
    let Some(place) =
        memchr::memchr_iter(quote, text).find(|&place| place == 0 || text[place - 1] != b'\\')
    else {
        return whole.then_some(None);
    };
    let after = &text[place + 1..];
    match after.trim_ascii_start().first() {
        Some(b'.' | b';' | b',' | b')' | b']' | b'}') => Some(Some(place + 1)),
        Some(b'@' | b'^') if !after[0].is_ascii_whitespace() => Some(Some(place + 1)),
        None if !whole => None,
        _ => Some(None),
    }
}

fn long_string_end(text: &[u8], quote: u8) -> Option<usize> {
    let mut place = 0;
    loop {
        place += memchr::memchr2(quote, b'\\', text.get(place..)?)?;
        if text[place] == b'\\' {
            place += 2;
        } else if text
            .get(place..place + 3)?
            .iter()
            .all(|&byte| byte == quote)
        {
            return Some(place + 3);
        } else {
            place += 1;
        }
    }
}

/// Counts line ends as the parser does: `\n`, `\r\n`, and a single `\r`.
fn count_newlines(text: &[u8]) -> u64 {
    memchr::memchr2_iter(b'\n', b'\r', text)
        .filter(|&place| text[place] == b'\n' || text.get(place + 1) != Some(&b'\n'))
        .count() as u64
}

/// Current prefixes and base.
struct Declarations {
    /// `None` after a broken directive, until the next valid one: relative IRIs are then errors.
    base: Option<String>,
    prefixes: FxHashMap<String, String>,
}

impl Declarations {
    /// Returns the declared prefixes that may occur in a text.
    fn prefixes_in(&self, text: &[u8]) -> FxHashMap<&str, &str> {
        let mut found = FxHashMap::default();
        for colon in memchr::memchr_iter(b':', text) {
            let delimiter = text[..colon].iter().rposition(|byte| {
                byte.is_ascii_whitespace() || b"<>\"'{}[](),;:^@#\\".contains(byte)
            });
            let start = match delimiter {
                Some(place) => place + 1,
                None => 0,
            };
            // A name may follow a number or a dot directly.
            let tails =
                (start..=colon).filter(|&place| place == start || colon - place <= MAX_NAME_TAIL);
            for name in tails.filter_map(|place| std::str::from_utf8(&text[place..colon]).ok()) {
                found.extend(
                    self.prefixes
                        .get_key_value(name)
                        .map(|(name, iri)| (name.as_str(), iri.as_str())),
                );
            }
        }
        found
    }
}

/// Maximum length of a prefix that is found directly after another token.
const MAX_NAME_TAIL: usize = 64;

/// Parser with the current declarations, cloned for each batch.
enum ParserTemplate {
    TriG(TriGParser),
    N3(N3Parser),
}

impl ParserTemplate {
    fn new<'a>(
        base: Option<&str>,
        mut prefixes: impl Iterator<Item = (&'a str, &'a str)>,
        n3: bool,
    ) -> Self {
        // A parser of the same kind has accepted the prefixes and bases before; only the caller's base may be rejected.
        macro_rules! declare {
            ($parser:ty) => {{
                let parser = base
                    .and_then(|base| <$parser>::new().with_base_iri(base).ok())
                    .unwrap_or_default();
                prefixes
                    .try_fold(parser, |parser, (name, iri)| parser.with_prefix(name, iri))
                    .unwrap_or_default()
            }};
        }
        if n3 {
            Self::N3(declare!(N3Parser))
        } else {
            Self::TriG(declare!(TriGParser))
        }
    }

    fn parser(&self) -> Parser {
        match self {
            Self::TriG(parser) => Parser::TriG(parser.clone().low_level()),
            Self::N3(parser) => Parser::N3(parser.clone().low_level()),
        }
    }
}

enum Parser {
    TriG(LowLevelTriGParser),
    N3(LowLevelN3Parser),
}

/// Parser event: a triple, a quoted statement with its formula, or an error.
enum Event {
    Triple(Triple),
    Quoted(GraphName),
    Error(TurtleSyntaxError),
}

impl Parser {
    fn feed(&mut self, text: &[u8]) {
        match self {
            Self::TriG(parser) => parser.extend_from_slice(text),
            Self::N3(parser) => parser.extend_from_slice(text),
        }
    }

    fn end(&mut self) {
        match self {
            Self::TriG(parser) => parser.end(),
            Self::N3(parser) => parser.end(),
        }
    }

    fn next(&mut self) -> Option<Event> {
        Some(match self {
            Self::TriG(parser) => match parser.parse_next()? {
                Ok(quad) => Event::Triple(Triple::new(quad.subject, quad.predicate, quad.object)),
                Err(error) => Event::Error(error),
            },
            Self::N3(parser) => match parser.parse_next()? {
                Ok(quad) => n3_event(quad),
                Err(error) => Event::Error(error),
            },
        })
    }

    fn base(&self) -> Option<&str> {
        match self {
            Self::TriG(parser) => parser.base_iri(),
            Self::N3(parser) => parser.base_iri(),
        }
    }

    fn prefixes(&self) -> Box<dyn Iterator<Item = (&str, &str)> + '_> {
        match self {
            Self::TriG(parser) => Box::new(parser.prefixes()),
            Self::N3(parser) => Box::new(parser.prefixes()),
        }
    }
}

/// Converts an N3 statement. One inside a formula, or with a variable, is not an RDF triple.
fn n3_event(quad: N3Quad) -> Event {
    let graph = quad.graph_name;
    if graph != GraphName::DefaultGraph {
        return Event::Quoted(graph);
    }
    let subject: NamedOrBlankNode = match quad.subject {
        N3Term::NamedNode(node) => node.into(),
        N3Term::BlankNode(node) => node.into(),
        _ => return Event::Quoted(graph),
    };
    let N3Term::NamedNode(predicate) = quad.predicate else {
        return Event::Quoted(graph);
    };
    let object: Term = match quad.object {
        N3Term::NamedNode(node) => node.into(),
        N3Term::BlankNode(node) => node.into(),
        N3Term::Literal(literal) => literal.into(),
        N3Term::Variable(_) | N3Term::Triple(_) => return Event::Quoted(graph),
    };
    Event::Triple(Triple::new(subject, predicate, object))
}

struct Document<'s, 'a> {
    declared: Declarations,
    /// `None` after a change of the declarations.
    template: Option<ParserTemplate>,
    n3: bool,
    /// Number of lines before the current batch.
    line: u64,
    /// Number of open braces before the current batch.
    depth: u32,
    formulas: u64,
    /// Number of bytes parsed again after errors, with the base and the prefixes declared for them.
    recovered: u64,
    /// If true, the statements of a broken batch are parsed one by one.
    is_recovering: bool,
    /// Reason for not reading the rest.
    refusal: Option<Refusal>,
    sink: &'s mut Sink<'a>,
}

/// Error of the parser: the line within the text, starting at 0, and the message.
type SyntaxError = (u64, String);

/// Counter that converts ascending positions to line numbers in one pass.
struct LineCounter<'t> {
    text: &'t [u8],
    place: usize,
    line: u64,
}

impl<'t> LineCounter<'t> {
    fn new(text: &'t [u8], line: u64) -> Self {
        Self {
            text,
            place: 0,
            line,
        }
    }

    fn at(&mut self, place: usize) -> u64 {
        let place = place.max(self.place);
        self.line += count_newlines(&self.text[self.place..place]);
        self.place = place;
        self.line
    }
}

/// Parses a text with the given brace depths before and after it, and passes its triples to `take`.
///
/// Returns the number of quoted statements. It stops at the first error, because triples after an error are unreliable.
fn parse(
    parser: &mut Parser,
    text: &[u8],
    depths: (u32, u32),
    budget: &ResolvedBudget,
    mut take: impl FnMut(Triple),
) -> Result<u64, SyntaxError> {
    let mut counter = ResolvedCounter::default();
    let (mut resolved, mut repeated) = (0, 0);
    let repeated_limit = MAX_FREE_REPEATED_BYTES + MAX_REPEATED_PER_BYTE * text.len() as u64;
    // A batch may begin or end within a graph.
    if depths.0 > 0 {
        parser.feed(b"{ ");
    }
    parser.feed(text);
    parser.feed(if depths.1 > 0 { b" }" } else { b" " });
    parser.end();
    let mut quoted = 0;
    let mut formulas = FxHashSet::default();
    // N3 triples are held until all formulas are known, because triples about formulas are skipped.
    let mut waiting = Vec::new();
    while let Some(event) = parser.next() {
        if let Event::Triple(triple) = &event {
            resolved += counter.bytes(triple) as u64;
            repeated += (counter.last_subject.len() + counter.last_predicate.len()) as u64;
            if resolved > budget.limit() || repeated > repeated_limit {
                budget.exhaust();
                return Err((0, "the names resolve to too many bytes".to_owned()));
            }
        }
        match event {
            Event::Triple(triple) if matches!(parser, Parser::N3(_)) => waiting.push(triple),
            Event::Triple(triple) => take(triple),
            Event::Quoted(formula) => {
                quoted += 1;
                if let GraphName::BlankNode(formula) = formula {
                    formulas.insert(formula);
                }
            }
            Event::Error(error) => {
                return Err((error.location().start.line, error.message().to_owned()));
            }
        }
    }
    for triple in waiting {
        if has_formula(&triple, &formulas) {
            quoted += 1;
        } else {
            take(triple);
        }
    }
    Ok(quoted)
}

impl Document<'_, '_> {
    /// Returns the line of a place in the text that begins with the current batch.
    fn line_at(&self, text: &[u8], place: usize) -> u64 {
        self.line + count_newlines(&text[..place]) + 1
    }

    /// Adds the triples, and the declarations if `declares` is true, of a text without errors. Adds nothing otherwise.
    fn take(&mut self, text: &[u8], depths: (u32, u32), declares: bool) -> Result<(), SyntaxError> {
        self.may_parse(text.len())?;
        let budget = Rc::clone(&self.sink.budget);
        let mut parser = self.parser(text);
        let mut triples = Vec::new();
        let mut collected = 0;
        let mut is_collected = text.len() <= MAX_COLLECTED_BYTES;
        let formulas = parse(&mut parser, text, depths, &budget, |triple| {
            if is_collected {
                let object = object_length(&triple.object);
                collected +=
                    subject_text(&triple.subject).len() + triple.predicate.as_str().len() + object;
                triples.push(triple);
                if collected > MAX_COLLECTED_TERMS {
                    (triples, is_collected) = (Vec::new(), false);
                }
            }
        })?;
        if is_collected {
            triples
                .iter()
                .for_each(|triple| self.sink.triple(triple, None));
        } else {
            // Triples need several times the memory of their text, so a long text is parsed twice.
            parser = self.parser(text);
            parse(&mut parser, text, depths, &budget, |triple| {
                self.sink.triple(&triple, None)
            })?;
        }
        self.formulas += formulas;
        if declares {
            self.declare(&parser);
        }
        Ok(())
    }

    /// Counts a text that is parsed. Fails if the document is not read further.
    fn may_parse(&mut self, length: usize) -> Result<(), SyntaxError> {
        if self.is_recovering {
            self.recovered += length as u64;
            if self.recovered
                > MAX_FREE_RECOVERED_BYTES + MAX_RECOVERED_PER_BYTE * self.sink.budget.read.get()
            {
                self.refusal.get_or_insert(Refusal::Recovery {
                    line: self.line + 1,
                });
            }
        }
        match self.is_stopped() {
            true => Err((0, "not read".to_owned())),
            false => Ok(()),
        }
    }

    fn is_stopped(&self) -> bool {
        self.refusal.is_some() || self.sink.budget.is_exceeded()
    }

    /// Creates a parser with the current declarations that the text may use.
    fn parser(&mut self, text: &[u8]) -> Parser {
        let Declarations { base, prefixes } = &self.declared;
        let base = base.as_deref();
        if !self.is_recovering && prefixes.len() <= MAX_COPIED_PREFIXES {
            let prefixes = prefixes
                .iter()
                .map(|(name, iri)| (name.as_str(), iri.as_str()));
            return self
                .template
                .get_or_insert_with(|| ParserTemplate::new(base, prefixes, self.n3))
                .parser();
        }
        let prefixes = self.declared.prefixes_in(text);
        if self.is_recovering {
            // A short text may name many long prefixes.
            let bytes: usize = prefixes
                .iter()
                .map(|(name, iri)| name.len() + iri.len())
                .sum();
            self.recovered += (base.unwrap_or_default().len() + bytes) as u64;
        }
        ParserTemplate::new(base, prefixes.into_iter(), self.n3).parser()
    }

    /// Adopts the declarations after a text.
    fn declare(&mut self, parser: &Parser) {
        let mut is_changed = self.declared.base.as_deref() != parser.base();
        if is_changed {
            self.declared.base = parser.base().map(str::to_owned);
        }
        for (name, iri) in parser.prefixes() {
            if self.declared.prefixes.get(name).map(String::as_str) != Some(iri) {
                self.declared
                    .prefixes
                    .insert(name.to_owned(), iri.to_owned());
                is_changed = true;
            }
            if iri.len() > MAX_NAMESPACE_BYTES {
                self.refuse_namespace();
            }
        }
        if self
            .declared
            .base
            .as_ref()
            .is_some_and(|base| base.len() > MAX_NAMESPACE_BYTES)
        {
            self.refuse_namespace();
        }
        if is_changed {
            self.template = None;
        }
    }

    fn refuse_namespace(&mut self) {
        let (limit, line) = (MAX_NAMESPACE_BYTES, self.line + 1);
        self.refusal
            .get_or_insert(Refusal::NamespaceSize { limit, line });
    }

    /// Adds one statement, given without its final dot.
    fn take_statement(&mut self, parts: &[&[u8]], depth: u32) -> Result<(), SyntaxError> {
        self.take(&join_with_dot(parts), (depth, depth), false)
    }

    fn is_sound(&mut self, parts: &[&[u8]], depth: u32) -> bool {
        let text = join_with_dot(parts);
        self.may_parse(text.len()).is_ok()
            && parse(
                &mut self.parser(&text),
                &text,
                (depth, depth),
                &self.sink.budget,
                drop,
            )
            .is_ok()
    }

    /// Reports the error of a broken text that begins after `line` lines.
    fn skip(&mut self, line: u64, (offset, message): &SyntaxError, text: &[u8]) {
        if self.is_stopped() {
            return; // one reason is reported for the rest
        }
        let message = if message == "Unexpected end of file" {
            "a string or an IRI is not closed"
        } else {
            message
        };
        // The added dot is on a separate line.
        let line = line + count_newlines(text.trim_ascii_end()).min(*offset) + 1;
        self.sink.skip(
            Some(line),
            format!("{message}, in {}", format_excerpt(text)),
        );
    }

    fn batch(&mut self, text: &[u8], ends: &[StatementEnd]) {
        let after = match ends.last() {
            Some(end) => end.depth,
            None => self.depth,
        };
        if self.take(text, (self.depth, after), true).is_err() {
            let (mut start, mut depth) = (0, self.depth);
            let mut lines = LineCounter::new(text, self.line);
            self.is_recovering = true;
            for end in ends {
                if self.is_stopped() {
                    break;
                }
                self.piece(&text[start..end.place], (depth, end.depth), lines.at(start));
                (start, depth) = (end.place, end.depth);
            }
            self.is_recovering = false;
        }
        self.line += count_newlines(text);
        self.depth = after;
    }

    /// Reads the text between two ends: directives, then a statement or the beginning of a graph.
    fn piece(&mut self, text: &[u8], depths: (u32, u32), line: u64) {
        let declares = Directive::first_of(text).is_some();
        let Err(mut error) = self.take(text, depths, declares) else {
            return;
        };
        if text.len() > MAX_RECOVERED_BYTES {
            return self.skip(line, &error, text);
        }
        let repaired = repair_terms(text);
        let text = match &repaired {
            Some(repaired) => {
                let mut lines = LineCounter::new(text, line);
                for (place, message) in &repaired.repairs {
                    let line = lines.at(*place) + 1;
                    self.sink.repair(Some(line), message.clone());
                }
                &repaired.text[..]
            }
            None => text,
        };
        if repaired.is_some() {
            match self.take(text, depths, declares) {
                Ok(()) => return,
                Err(other) => error = other,
            }
        }
        // Later statements need the valid directives, although the statement after them is broken.
        let start = if declares {
            self.directives(text, line)
        } else {
            0
        };
        let (text, line) = (&text[start..], line + count_newlines(&text[..start]));
        let elements = split_elements(text);
        let Some(first) = elements.first() else {
            return;
        };
        // The beginning of a graph has no parts that could be kept. Without directives, it was read above.
        if depths.1 > depths.0 {
            if start == 0 || self.take(text, depths, false).is_err() {
                self.skip(line, &error, text);
            }
            return;
        }
        if self.n3
            && elements
                .iter()
                .any(|element| text[element.clone()].starts_with(b"<<"))
        {
            let error = (
                0,
                "N3 has no triple terms and no reified triples".to_owned(),
            );
            return self.skip(
                line + count_newlines(&text[..first.start]),
                &error,
                &text[first.start..],
            );
        }
        let mut lines = LineCounter::new(text, line);
        for (index, statement) in split_at_missing_dots(text, &elements)
            .into_iter()
            .enumerate()
        {
            let elements = &elements[statement];
            let line = lines.at(elements[0].start);
            if index > 0 {
                self.sink.problem(Some(line + 1), MISSING_DOT);
            }
            self.statement(text, elements, depths.0, line);
        }
    }

    /// Reads the directives at the beginning of a text one by one. Returns their end.
    fn directives(&mut self, text: &[u8], line: u64) -> usize {
        let mut start = 0;
        let mut lines = LineCounter::new(text, line);
        while let Some(directive) = Directive::first_of(&text[start..]) {
            let line = lines.at(start);
            let end = start + directive.end;
            let source = &text[start..end];
            if directive.lacks_dot {
                let blank = text[end..].len() - text[end..].trim_ascii_start().len();
                self.sink.problem(
                    Some(line + count_newlines(&text[start..end + blank]) + 1),
                    MISSING_DOT,
                );
            }
            let result = self.take(
                &[source, if directive.lacks_dot { b" ." } else { b"" }].concat(),
                (0, 0),
                true,
            );
            if let Err(error) = result {
                self.skip(line, &error, source);
                self.forget_declaration(&directive);
            }
            start = end;
        }
        start
    }

    /// Removes the former meaning of a prefix or base with a broken directive: it would be wrong from here on. Statements that need it are
    /// then skipped and reported.
    fn forget_declaration(&mut self, directive: &Directive) {
        if directive.is_base {
            self.declared.base = None;
        } else if !directive.prefix.is_empty() {
            let name = directive.prefix.trim_end_matches(':');
            self.declared.prefixes.remove(name);
        }
        self.template = None;
    }

    /// Reads one statement, given by its elements. The valid parts of a broken statement are kept.
    fn statement(&mut self, text: &[u8], elements: &[Range<usize>], depth: u32, line: u64) {
        let complete =
            elements.len() > 1 && element_at(text, elements, elements.len() - 1) == Some(b".");
        let elements = &elements[..elements.len() - usize::from(complete)];
        let whole = &text[elements[0].start..elements[elements.len() - 1].end];
        let Err(error) = self.take_statement(&[whole], depth) else {
            return;
        };
        // Each predicate list is read with the subject again. A subject in brackets would be another node each time.
        let subject = &text[elements[0].clone()];
        // A reified triple that is repeated would have several reifiers.
        let can_be_repeated = !matches!(subject[0], b'[' | b'(' | b'{' | b'@' | b'"' | b'\'')
            && !subject.starts_with(b"<<");
        // A broken subject breaks all predicate lists.
        if !can_be_repeated
            || elements.len() < 3
            || !self.is_sound(&[subject, b"<a:p> <a:o>"], depth)
        {
            return self.skip(line, &error, whole);
        }
        let mut lines = LineCounter {
            text,
            place: elements[0].start,
            line,
        };
        for list in elements[1..]
            .split(|element| matches!(&text[element.clone()], b";" | b"." | b"}"))
            .filter(|list| !list.is_empty())
        {
            if !self.predicate_list(text, subject, list, depth, &mut lines) {
                let end = list[list.len() - 1].end;
                if elements
                    .iter()
                    .any(|element| element.start >= end && !is_punctuation(&text[element.clone()]))
                {
                    let message = "the rest of the statement was skipped: its subject is uncertain";
                    self.sink.problem(Some(lines.at(end) + 1), message);
                }
                return;
            }
        }
    }

    /// Reads one predicate list of a broken statement, object by object if necessary.
    ///
    /// Returns false if it does not have the shape of a predicate list: another statement may start in it.
    fn predicate_list(
        &mut self,
        text: &[u8],
        subject: &[u8],
        list: &[Range<usize>],
        depth: u32,
        lines: &mut LineCounter<'_>,
    ) -> bool {
        let source = &text[list[0].start..list[list.len() - 1].end];
        let Err(error) = self.take_statement(&[subject, source], depth) else {
            return true;
        };
        let line = lines.at(list[0].start);
        let verb = &text[list[0].clone()];
        let has_shape = list.len() == 1 || is_predicate_list(text, list);
        // A broken verb breaks all of its objects.
        if !has_shape || list.len() <= 2 || !self.is_sound(&[subject, verb, b"<a:o>"], depth) {
            self.skip(line, &error, source);
            return has_shape;
        }
        // The others are commas.
        for object in list[1..].iter().step_by(2) {
            if self.is_stopped() {
                return true;
            }
            let object_text = &text[object.clone()];
            if let Err(error) = self.take_statement(&[subject, verb, object_text], depth) {
                self.skip(lines.at(object.start), &error, object_text);
            }
        }
        true
    }
}

/// Joins the parts of a statement and adds the final dot on a separate line, so that an unclosed string or IRI does not
/// include it.
fn join_with_dot(parts: &[&[u8]]) -> Vec<u8> {
    [&parts.join(&b' ')[..], b"\n."].concat()
}

/// Returns the beginning of a text for a report.
fn format_excerpt(text: &[u8]) -> String {
    let text = text.trim_ascii();
    // 80 characters have at most 320 bytes.
    shorten(&String::from_utf8_lossy(&text[..text.len().min(400)]))
}

/// Returns true if the subject or object of a triple is a formula, as in `{ … } => { … }`.
fn has_formula(triple: &Triple, formulas: &FxHashSet<BlankNode>) -> bool {
    matches!(&triple.subject, NamedOrBlankNode::BlankNode(node) if formulas.contains(node))
        || matches!(&triple.object, Term::BlankNode(node) if formulas.contains(node))
}

/// Directive at the beginning of a text.
struct Directive {
    /// Declared prefix with its colon; empty for a base or version.
    prefix: String,
    /// If true, it declares the base.
    is_base: bool,
    end: usize,
    lacks_dot: bool,
}

impl Directive {
    fn first_of(text: &[u8]) -> Option<Self> {
        let elements = split_first_elements(text, 4);
        let word = element_at(text, &elements, 0)?;
        let (at, name) = match word.strip_prefix(b"@") {
            Some(name) => (true, name),
            None => (false, word),
        };
        let is_prefix = name.eq_ignore_ascii_case(b"prefix");
        let is_version = name.eq_ignore_ascii_case(b"version");
        let is_base = name.eq_ignore_ascii_case(b"base");
        if !is_prefix && !is_version && !is_base {
            return None;
        }
        let iri = 1 + usize::from(is_prefix);
        let prefix = element_at(text, &elements, 1)
            .filter(|_| is_prefix)
            .map(|name| String::from_utf8_lossy(name).into_owned())
            .unwrap_or_default();
        let has_value = element_at(text, &elements, iri).is_some_and(|value| match is_version {
            true => matches!(value, [b'"' | b'\'', ..]),
            false => value.starts_with(b"<") && value.ends_with(b">"),
        });
        if !has_value {
            // Broken: it ends with the dot or, for the form without a dot, with the line.
            let line_end = memchr::memchr(b'\n', &text[elements[0].end..])
                .map(|place| elements[0].end + place);
            return Some(Self {
                prefix,
                is_base,
                end: line_end.filter(|_| !at).unwrap_or(text.len()),
                lacks_dot: false,
            });
        }
        let has_dot = element_at(text, &elements, iri + 1) == Some(b".");
        // Unlike `@prefix` and `@base`, `PREFIX` and `BASE` have no dot.
        let end = elements[iri + usize::from(at && has_dot)].end;
        Some(Self {
            prefix,
            is_base,
            end,
            lacks_dot: at && !has_dot,
        })
    }
}

fn element_at<'t>(text: &'t [u8], elements: &[Range<usize>], index: usize) -> Option<&'t [u8]> {
    elements.get(index).map(|element| &text[element.clone()])
}

fn is_punctuation(element: &[u8]) -> bool {
    matches!(element, b"," | b";" | b"." | b"}" | b"{")
}

fn is_term_at(text: &[u8], elements: &[Range<usize>], index: usize) -> bool {
    element_at(text, elements, index).is_some_and(|element| !is_punctuation(element))
}

/// Splits the elements of a text into statements at missing dots.
///
/// A dot is missing if a line begins with a term after a complete object, without a comma, semicolon or dot, and the term
/// is followed by a predicate and an object.
fn split_at_missing_dots(text: &[u8], elements: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut statements = Vec::new();
    // Number of terms since the start or the last mark: subject, predicate, object.
    let (mut start, mut terms) = (0, 0);
    for (index, element) in elements.iter().enumerate() {
        // At 4, the statement has another shape, and no dot is added.
        terms = match &text[element.clone()] {
            b"," if terms == 3 => 2,
            b";" if terms < 4 => 1,
            element if is_punctuation(element) => 4,
            _ if terms == 3
                && begins_line(text, element.start)
                && is_term_at(text, elements, index + 1)
                && is_term_at(text, elements, index + 2) =>
            {
                statements.push(start..index);
                start = index;
                1
            }
            _ => (terms + 1).min(4),
        };
    }
    if start < elements.len() {
        statements.push(start..elements.len());
    }
    statements
}

fn begins_line(text: &[u8], place: usize) -> bool {
    text[..place]
        .iter()
        .rev()
        .find(|byte| !matches!(byte, b' ' | b'\t'))
        .is_none_or(|&byte| byte == b'\n' || byte == b'\r')
}

/// Returns true if the elements have the shape `verb object (, object)*`.
fn is_predicate_list(text: &[u8], elements: &[Range<usize>]) -> bool {
    elements.len() >= 2
        && elements.len().is_multiple_of(2)
        && elements.iter().enumerate().all(|(index, element)| {
            let is_comma = &text[element.clone()] == b",";
            is_comma == (index >= 2 && index % 2 == 0)
        })
}

fn split_elements(text: &[u8]) -> Vec<Range<usize>> {
    split_first_elements(text, usize::MAX)
}

/// Returns the ranges of the first `count` terms and punctuation marks of a text.
///
/// A bracketed group is one term. A literal includes its language tag or datatype.
fn split_first_elements(text: &[u8], count: usize) -> Vec<Range<usize>> {
    let mut elements = Vec::new();
    let (mut place, mut nested, mut start) = (0, 0u32, None::<usize>);
    while place < text.len() && elements.len() < count {
        let byte = text[place];
        let mut next = element_end(text, place, true).unwrap_or(text.len());
        let at_top = nested == 0;
        match byte {
            b'[' | b'(' | b'{' => nested += 1,
            b']' | b')' | b'}' => nested = nested.saturating_sub(1),
            b'<' if text[place..].starts_with(b"<<") => nested += 1,
            b'>' if text[place..].starts_with(b">>") => {
                (nested, next) = (nested.saturating_sub(1), place + 2)
            }
            _ => {}
        }
        let closes_term = byte.is_ascii_whitespace() || byte == b'#';
        let punctuation =
            matches!(byte, b';' | b',' | b'}') || byte == b'.' && is_final_dot(text.get(next));
        if at_top && (closes_term || punctuation) {
            elements.extend(start.take().map(|start| start..place));
            if punctuation {
                elements.push(place..next);
            }
        } else if start.is_none() {
            start = Some(place);
        }
        place = next;
    }
    elements.extend(start.map(|start| start..text.len()));
    with_annotations(text, elements)
}

/// Joins reifiers (`~ name`) and annotations (`{| … |}`) with the objects before them.
fn with_annotations(text: &[u8], elements: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut joined: Vec<Range<usize>> = Vec::with_capacity(elements.len());
    let mut awaits_name = false;
    for element in elements {
        let term = &text[element.clone()];
        let annotates = term.starts_with(b"~")
            || term.starts_with(b"{|")
            || (awaits_name && !is_punctuation(term));
        awaits_name = term == b"~";
        match joined.last_mut() {
            Some(last) if annotates && !is_punctuation(&text[last.clone()]) => {
                last.end = element.end
            }
            _ => joined.push(element),
        }
    }
    joined
}
