//! Turtle, TriG and N3, statement by statement.
//!
//! The parser of oxttl recovers from an error at the next token, in the middle of the broken statement: what follows
//! there may then look like a statement and give triples nobody wrote (`( broken:x ex:a ex:b ex:c )` would give
//! `ex:a ex:b ex:c`). So the text is cut into statements here, by a scanner that knows strings, IRIs, comments and
//! braces. Whole batches of statements go through one parser; where a batch fails, its statements are read one by one,
//! each by a parser with the prefixes and base declared so far, and of a broken statement
//!
//! * the predicate lists (between `;`) that are sound are kept, with its subject;
//! * of the broken predicate list the objects before the error are kept, unless it holds a list or a blank node
//!   property list, which would be left half-built;
//! * where only a final dot is missing, the parser's own recovery is right and everything is kept.
//!
//! Every document is read as TriG, a superset of Turtle, unless it is N3. Graph names are dropped: a dataset is one
//! graph. The content of N3 formulas is quoted, not stated, and is left out.

use super::{Refusal, Sink, Syntax};
use oxrdf::{GraphName, NamedOrBlankNode, Term, Triple};
use oxttl::n3::{LowLevelN3Parser, N3Parser, N3Quad, N3Term};
use oxttl::trig::LowLevelTriGParser;
use oxttl::{TriGParser, TurtleSyntaxError};
use std::io::{self, Read};

const CHUNK: usize = 64 << 10;
/// Statements are parsed together until they are this many bytes.
const BATCH: usize = 128 << 10;
const MISSING_DOT: &str = "A dot is expected at the end of statements";

pub(super) fn read(reader: impl Read, syntax: Syntax, base: &str, sink: &mut Sink<'_>) -> io::Result<()> {
    let mut document = Document {
        declared: Declared { base: Some(base.to_owned()), prefixes: Vec::new() },
        n3: syntax == Syntax::N3,
        parser: None,
        line: 0,
        depth: 0,
        formulas: 0,
        sink,
    };
    let result = read_batches(reader, &mut document);
    if document.formulas > 0 {
        let message =
            format!("{} statements inside N3 formulas are quoted, not stated, and were left out", document.formulas);
        document.sink.problem(None, message);
    }
    result
}

/// Where a statement ends in the buffer, and how deep in braces the text is after it.
#[derive(Clone, Copy)]
struct End {
    place: usize,
    depth: u32,
}

fn read_batches(mut reader: impl Read, document: &mut Document<'_, '_>) -> io::Result<()> {
    let mut buffer: Vec<u8> = Vec::new();
    let mut ends: Vec<End> = Vec::new();
    let (mut scanned, mut depth, mut ended) = (0, 0u32, false);
    while !ended {
        let start = buffer.len();
        buffer.resize(start + CHUNK, 0);
        let read = reader.read(&mut buffer[start..]);
        buffer.truncate(start + read.as_ref().map_or(0, |&read| read));
        ended = read? == 0;
        while let Some(next) = (scanned < buffer.len()).then(|| element_end(&buffer, scanned, ended)).flatten() {
            match buffer[scanned] {
                b'{' => depth += 1,
                b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            match ends_statement(&buffer, scanned, depth, document.n3, ended) {
                Some(true) => ends.push(End { place: next, depth }),
                Some(false) => {}
                None => break, // the byte after the dot is not here yet
            }
            scanned = next;
        }
        if buffer.len() - scanned > document.sink.limits.token_bytes {
            return Err(document.refuse_token(&buffer[..scanned]).into());
        }
        let done = ends.last().map_or(0, |end| end.place);
        if buffer.len() - done > document.sink.limits.statement_bytes {
            let line = document.line + newlines(&buffer[..done]) + 1;
            return Err(Refusal::StatementSize { limit: document.sink.limits.statement_bytes, line }.into());
        }
        if done >= BATCH || ended {
            if ended && done < buffer.len() {
                ends.push(End { place: buffer.len(), depth: 0 });
            }
            let done = ends.last().map_or(0, |end| end.place);
            document.batch(&buffer[..done], &ends);
            buffer.drain(..done);
            scanned -= done.min(scanned);
            ends.clear();
        }
    }
    Ok(())
}

/// Whether the element at `place` ends a statement; `None` where that depends on a byte not read yet.
fn ends_statement(text: &[u8], place: usize, depth: u32, n3: bool, ended: bool) -> Option<bool> {
    match text[place] {
        b'.' if n3 && depth > 0 => Some(false),
        b'.' => match text.get(place + 1) {
            Some(next) => Some(next.is_ascii_whitespace() || matches!(next, b'#' | b'}')),
            None if ended => Some(true),
            None => None,
        },
        b'}' => Some(!n3 && depth == 0),
        _ => Some(false),
    }
}

/// The end of the lexical element that begins at `at`: string, IRI, comment, escape, or one byte of anything else.
///
/// `None` where the text ends inside the element and more may follow.
fn element_end(text: &[u8], at: usize, ended: bool) -> Option<usize> {
    let rest = &text[at + 1..];
    let or_end = |found: Option<usize>| found.map(|place| at + 1 + place).or_else(|| ended.then_some(text.len()));
    match text[at] {
        b'<' => match rest.first() {
            Some(b'=' | b' ' | b'-' | b'<') => Some(at + 1),
            // An IRI holds no line break: a broken one ends there, so that it breaks one statement, not the file.
            Some(_) => or_end(memchr::memchr2(b'>', b'\n', rest).map(|place| place + 1)),
            None => ended.then_some(text.len()),
        },
        b'#' => or_end(memchr::memchr2(b'\n', b'\r', rest)),
        b'\\' => (rest.is_empty() && !ended).then_some(None).unwrap_or(Some((at + 2).min(text.len()))),
        quote @ (b'"' | b'\'') => match (rest.first(), rest.get(1)) {
            (Some(&a), Some(&b)) if a == quote && b == quote => {
                or_end(long_string_end(&rest[2..], quote).map(|place| place + 2))
            }
            (Some(&a), _) if a == quote && (rest.len() > 1 || ended) => Some(at + 2),
            (Some(&a), None) if a == quote => None,
            (None, _) if !ended => None,
            _ => or_end(short_string_end(rest, quote)),
        },
        _ => Some(at + 1),
    }
}

fn short_string_end(text: &[u8], quote: u8) -> Option<usize> {
    let mut place = 0;
    loop {
        place += memchr::memchr3(quote, b'\\', b'\n', text.get(place..)?)?;
        match text[place] {
            b'\\' => place += 2,
            _ => return Some(place + 1),
        }
    }
}

fn long_string_end(text: &[u8], quote: u8) -> Option<usize> {
    let mut place = 0;
    loop {
        place += memchr::memchr2(quote, b'\\', text.get(place..)?)?;
        if text[place] == b'\\' {
            place += 2;
        } else if text.get(place..place + 3)?.iter().all(|&byte| byte == quote) {
            // Up to two more quotes may belong to the string's content: """a"""" ends with the last three.
            let extra = text[place + 3..].iter().take(2).take_while(|&&byte| byte == quote).count();
            return Some(place + 3 + extra);
        } else {
            place += 1;
        }
    }
}

fn newlines(text: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', text).count() as u64
}

/// Prefixes and base in force, from which a fresh parser can go on.
#[derive(Clone)]
struct Declared {
    base: Option<String>,
    prefixes: Vec<(String, String)>,
}

enum Parser {
    TriG(LowLevelTriGParser),
    N3(LowLevelN3Parser),
}

/// What a parser gives: a triple, a statement quoted in a formula, or an error.
enum Event {
    Triple(Triple),
    Quoted,
    Error(TurtleSyntaxError),
}

impl Parser {
    fn new(declared: &Declared, n3: bool) -> Self {
        // Prefixes and base were accepted once by a parser of the same kind; the first base is ours.
        macro_rules! declare {
            ($parser:expr) => {{
                let mut parser = $parser;
                if let Some(base) = &declared.base {
                    parser = parser.clone().with_base_iri(base.as_str()).unwrap_or(parser);
                }
                for (name, iri) in &declared.prefixes {
                    parser = parser.clone().with_prefix(name.as_str(), iri.as_str()).unwrap_or(parser);
                }
                parser.low_level()
            }};
        }
        if n3 { Self::N3(declare!(N3Parser::new())) } else { Self::TriG(declare!(TriGParser::new())) }
    }

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
                Ok(quad) => n3_triple(quad).map_or(Event::Quoted, Event::Triple),
                Err(error) => Event::Error(error),
            },
        })
    }

    fn declared(&self) -> Declared {
        let (base, prefixes) = match self {
            Self::TriG(parser) => (parser.base_iri(), collect(parser.prefixes())),
            Self::N3(parser) => (parser.base_iri(), collect(parser.prefixes())),
        };
        Declared { base: base.map(str::to_owned), prefixes }
    }
}

fn collect<'a>(prefixes: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<(String, String)> {
    prefixes.map(|(name, iri)| (name.to_owned(), iri.to_owned())).collect()
}

/// A stated triple; `None` for one inside a formula or with a variable, which RDF cannot say.
fn n3_triple(quad: N3Quad) -> Option<Triple> {
    if quad.graph_name != GraphName::DefaultGraph {
        return None;
    }
    let subject: NamedOrBlankNode = match quad.subject {
        N3Term::NamedNode(node) => node.into(),
        N3Term::BlankNode(node) => node.into(),
        _ => return None,
    };
    let N3Term::NamedNode(predicate) = quad.predicate else { return None };
    let object: Term = match quad.object {
        N3Term::NamedNode(node) => node.into(),
        N3Term::BlankNode(node) => node.into(),
        N3Term::Literal(literal) => literal.into(),
        _ => return None,
    };
    Some(Triple::new(subject, predicate, object))
}

struct Document<'s, 'a> {
    declared: Declared,
    n3: bool,
    /// The parser that goes from batch to batch, and the line its text began at.
    parser: Option<(Parser, u64)>,
    /// Lines before the current batch.
    line: u64,
    /// Braces open before the current batch.
    depth: u32,
    formulas: u64,
    sink: &'s mut Sink<'a>,
}

/// What came of one piece of text.
#[derive(Default)]
struct Parsed {
    triples: Vec<Triple>,
    quoted: u64,
    /// Triples that came before the first error.
    before_error: usize,
    /// (line within the text, message), in order.
    errors: Vec<(u64, String)>,
}

impl Parsed {
    fn drain(parser: &mut Parser) -> Self {
        let mut parsed = Self::default();
        while let Some(event) = parser.next() {
            match event {
                Event::Triple(triple) => parsed.triples.push(triple),
                Event::Quoted => parsed.quoted += 1,
                Event::Error(error) => {
                    if parsed.errors.is_empty() {
                        parsed.before_error = parsed.triples.len();
                    }
                    parsed.errors.push((error.location().start.line, error.message().to_owned()));
                }
            }
        }
        parsed
    }
}

impl Document<'_, '_> {
    fn refuse_token(&self, before: &[u8]) -> Refusal {
        Refusal::TokenSize { limit: self.sink.limits.token_bytes, line: self.line + newlines(before) + 1 }
    }

    fn batch(&mut self, text: &[u8], ends: &[End]) {
        let (mut parser, _) = self.parser.take().unwrap_or_else(|| (Parser::new(&self.declared, self.n3), self.line));
        parser.feed(text);
        parser.feed(b" "); // a dot at the very end could still begin a number
        let parsed = Parsed::drain(&mut parser);
        if parsed.errors.is_empty() {
            self.keep(&parsed, parsed.triples.len());
            if declares(text) {
                self.declared = parser.declared();
            }
            self.parser = Some((parser, self.line));
        } else {
            self.one_by_one(text, ends);
        }
        self.line += newlines(text);
        self.depth = ends.last().map_or(0, |end| end.depth);
        if self.depth > 0 && self.parser.is_none() {
            // The next batch goes on inside the graph.
            let mut parser = Parser::new(&self.declared, self.n3);
            parser.feed(b"{ ");
            self.parser = Some((parser, self.line));
        }
    }

    fn keep(&mut self, parsed: &Parsed, count: usize) {
        self.formulas += parsed.quoted;
        for triple in &parsed.triples[..count] {
            self.sink.triple(triple);
        }
    }

    fn one_by_one(&mut self, text: &[u8], ends: &[End]) {
        let (mut start, mut depth, mut line) = (0, self.depth, self.line);
        for end in ends {
            let statement = &text[start..end.place];
            self.statement(statement, depth, end.depth, line);
            line += newlines(statement);
            start = end.place;
            depth = end.depth;
        }
    }

    /// Parses one piece of text by a parser of its own, inside and up to the given depths of braces.
    fn parse(&self, text: &[u8], before: u32, after: u32) -> (Parsed, Declared) {
        let mut parser = Parser::new(&self.declared, self.n3);
        if before > 0 {
            parser.feed(b"{ ");
        }
        parser.feed(text);
        parser.feed(if after > 0 { b" }" } else { b" " });
        parser.end();
        let parsed = Parsed::drain(&mut parser);
        let declared = parser.declared();
        (parsed, declared)
    }

    fn statement(&mut self, text: &[u8], before: u32, after: u32, line: u64) {
        let (parsed, declared) = self.parse(text, before, after);
        if parsed.errors.is_empty() || parsed.errors.iter().all(|(_, message)| message == MISSING_DOT) {
            for (offset, _) in &parsed.errors {
                self.sink
                    .problem(Some(line + offset + 1), "a dot is missing before this line; read as if it were there");
            }
            self.keep(&parsed, parsed.triples.len());
            if declares(text) {
                self.declared = declared;
            }
            return;
        }
        match predicate_lists(text) {
            Some((subject, lists)) if lists.len() > 1 && before == after => {
                self.lists(text, subject, &lists, before, line)
            }
            _ => self.broken(text, &parsed, line),
        }
    }

    /// A broken statement of several predicate lists: each is tried with the subject.
    fn lists(&mut self, text: &[u8], subject: &[u8], lists: &[(usize, usize)], depth: u32, line: u64) {
        for &(start, end) in lists {
            let list = &text[start..end];
            let line = line + newlines(&text[..start]);
            let candidate = [subject, b" ", list, b" ."].concat();
            let (parsed, _) = self.parse(&candidate, depth, depth);
            if parsed.errors.is_empty() {
                self.keep(&parsed, parsed.triples.len());
                continue;
            }
            self.broken(list, &parsed, line);
            if !is_predicate_list(list) {
                // Perhaps another statement began here: what follows may not belong to this subject.
                self.sink.problem(Some(line + 1), "the rest of the statement was left out: its subject is uncertain");
                return;
            }
        }
    }

    /// Reports a broken piece; keeps the triples before the error unless a structure would be left half-built.
    fn broken(&mut self, text: &[u8], parsed: &Parsed, line: u64) {
        let (offset, message) = &parsed.errors[0];
        self.sink.skip(Some(line + offset + 1), message.as_str());
        if !text.iter().any(|byte| matches!(byte, b'(' | b'[' | b'{')) {
            self.keep(parsed, parsed.before_error);
        }
    }
}

fn declares(text: &[u8]) -> bool {
    text.windows(4).any(|word| word.eq_ignore_ascii_case(b"pref") || word.eq_ignore_ascii_case(b"base"))
}

/// The subject of a statement and its predicate lists, as ranges of the text; `None` for directives and for subjects
/// that cannot be said twice (`[…]`, `(…)`).
fn predicate_lists(text: &[u8]) -> Option<(&[u8], Vec<(usize, usize)>)> {
    let elements = top_level(text);
    let (first, second) = (elements.first()?, elements.get(1)?);
    let begin = text[first.0];
    if matches!(begin, b'[' | b'(' | b'{' | b'@' | b'"') || text[first.0..first.1].eq_ignore_ascii_case(b"prefix") {
        return None;
    }
    let mut lists = Vec::new();
    let mut start = second.0;
    for &(from, to) in &elements {
        if matches!(&text[from..to], b";" | b"." | b"}") {
            if from > start {
                lists.push((start, from));
            }
            start = to;
        }
    }
    Some((&text[first.0..first.1], lists))
}

/// Whether the text has the shape `verb object (, object)*`.
fn is_predicate_list(text: &[u8]) -> bool {
    let elements = top_level(text);
    let mut groups = elements.split(|&(from, to)| &text[from..to] == b",");
    groups.next().is_some_and(|first| first.len() == 2) && groups.all(|group| group.len() == 1)
}

/// The terms and punctuation of a text as ranges; a bracketed group is one term, a literal includes its tag or datatype.
fn top_level(text: &[u8]) -> Vec<(usize, usize)> {
    let mut elements = Vec::new();
    let (mut place, mut nested, mut start) = (0, 0u32, None::<usize>);
    while place < text.len() {
        let byte = text[place];
        let next = element_end(text, place, true).unwrap_or(text.len());
        let at_top = nested == 0;
        match byte {
            b'[' | b'(' => nested += 1,
            b']' | b')' => nested = nested.saturating_sub(1),
            _ => {}
        }
        let closes_term = byte.is_ascii_whitespace() || byte == b'#';
        let punctuation = matches!(byte, b';' | b',' | b'{' | b'}')
            || byte == b'.'
                && text.get(next).is_none_or(|after| after.is_ascii_whitespace() || matches!(after, b'#' | b'}'));
        if at_top && (closes_term || punctuation) {
            if let Some(start) = start.take() {
                elements.push((start, place));
            }
            if punctuation {
                elements.push((place, next));
            }
        } else if start.is_none() {
            start = Some(place);
        }
        place = next;
    }
    elements.extend(start.map(|start| (start, text.len())));
    elements
}
