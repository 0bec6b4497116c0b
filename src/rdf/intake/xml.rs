//! RDF/XML, with its document type declaration judged before a parser sees it.
//!
//! oxrdfxml expands the entities of a declaration eagerly and without bound: 677 bytes of nested entities become a
//! literal of a billion characters. Entities are a habit of OWL files (`&owl;Class`), so they cannot simply be refused.
//! Their expanded lengths are computed instead, as numbers, and held against [`Limits`](super::Limits); what an entity
//! may add to a token is then taken off the limit of tokens.
//!
//! IRIs and language tags are checked here, triple by triple, and not by the parser, whose error in the middle of an
//! element would leave its stack wrong for everything after. What is no XML or breaks the grammar of RDF/XML ends the
//! file: its nesting cannot be guessed.

use super::lines::TokenGuard;
use super::{Refusal, Sink};
use oxrdfxml::{RdfXmlParseError, RdfXmlParser};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, Read};
use std::rc::Rc;

/// A document type declaration must end within this many bytes.
const PROLOG: usize = 256 << 10;

pub(super) fn read(mut reader: impl Read, base: &str, sink: &mut Sink<'_>) -> io::Result<()> {
    let mut prolog = Vec::new();
    let amplification = loop {
        let seen = prolog.len();
        (&mut reader).take(8 << 10).read_to_end(&mut prolog)?;
        let whole = prolog.len() == seen;
        if let Some(entities) = entities(&prolog, whole)? {
            break amplification(&entities, sink.limits)?;
        }
        if prolog.len() > PROLOG {
            return Err(Refusal::DocumentType { reason: format!("it does not end within {PROLOG} bytes") }.into());
        }
    };
    let token_limit = (sink.limits.token_bytes as u64 / amplification.max(1)) as usize;
    let lines = Rc::new(RefCell::new(Lines::default()));
    let counted = LineCounter { inner: io::Cursor::new(prolog).chain(reader), lines: Rc::clone(&lines) };
    let guarded = TokenGuard::new(counted, b'<', token_limit);
    let parser = RdfXmlParser::new().lenient();
    let parser = parser.clone().with_base_iri(base).unwrap_or(parser);
    let mut triples = parser.for_reader(guarded);
    while let Some(triple) = triples.next() {
        let line = || Some(lines.borrow_mut().line_at(triples.buffer_position()));
        match triple {
            Ok(triple) => {
                sink.unchecked_triple(&triple, line());
            }
            Err(RdfXmlParseError::Io(error)) => return Err(error),
            Err(RdfXmlParseError::Syntax(error)) => {
                sink.truncate(line(), &error.to_string());
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Line ends between what was asked for last and what was read.
#[derive(Default)]
struct Lines {
    ends: VecDeque<u64>,
    passed: u64,
    read: u64,
}

impl Lines {
    /// The line, from 1, of a byte offset; offsets must not go back.
    fn line_at(&mut self, offset: u64) -> u64 {
        while self.ends.front().is_some_and(|&end| end < offset) {
            self.ends.pop_front();
            self.passed += 1;
        }
        self.passed + 1
    }
}

struct LineCounter<R> {
    inner: R,
    lines: Rc<RefCell<Lines>>,
}

impl<R: Read> Read for LineCounter<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        let mut lines = self.lines.borrow_mut();
        let start = lines.read;
        lines.ends.extend(memchr::memchr_iter(b'\n', &buffer[..read]).map(|place| start + place as u64));
        lines.read += read as u64;
        Ok(read)
    }
}

type Entities<'a> = Vec<(&'a str, &'a str)>;

/// The entities declared before the root element; `None` where the prolog does not end in these bytes.
fn entities(prolog: &[u8], whole: bool) -> Result<Option<Entities<'_>>, Refusal> {
    let text = match std::str::from_utf8(prolog) {
        Ok(text) => text,
        // A character cut at the end; the text is UTF-8 by construction.
        Err(error) => std::str::from_utf8(&prolog[..error.valid_up_to()]).unwrap_or_default(),
    };
    let cut = |reason: &str| if whole { Err(Refusal::DocumentType { reason: reason.to_owned() }) } else { Ok(None) };
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        if let Some(after) = rest.strip_prefix("<?") {
            let Some(end) = after.find("?>") else { return cut("a processing instruction does not end") };
            rest = &after[end + 2..];
        } else if let Some(after) = rest.strip_prefix("<!--") {
            let Some(end) = after.find("-->") else { return cut("a comment does not end") };
            rest = &after[end + 3..];
        } else if let Some(after) = rest.strip_prefix("<!DOCTYPE") {
            return match declared_entities(after)? {
                Some(entities) => Ok(Some(entities)),
                None => cut("it does not end"),
            };
        } else if "<!DOCTYPE".starts_with(rest) || "<?".starts_with(rest) || "<!--".starts_with(rest) {
            return if whole { Ok(Some(Vec::new())) } else { Ok(None) };
        } else {
            return Ok(Some(Vec::new()));
        }
    }
}

/// The general entities of a document type declaration; `None` where it does not end in this text.
fn declared_entities(declaration: &str) -> Result<Option<Entities<'_>>, Refusal> {
    let mut entities = Vec::new();
    let mut rest = declaration;
    let mut inside = false;
    loop {
        let Some(place) = rest.find(['[', ']', '>', '<', '%', '"', '\'']) else { return Ok(None) };
        let (character, after) = (rest.as_bytes()[place], &rest[place + 1..]);
        match character {
            b'[' => (inside, rest) = (true, after),
            b']' => (inside, rest) = (false, after),
            b'>' if inside => rest = after,
            b'>' => return Ok(Some(entities)),
            quote @ (b'"' | b'\'') => {
                let Some(end) = after.find(char::from(quote)) else { return Ok(None) };
                rest = &after[end + 1..];
            }
            b'%' if inside => {
                return Err(Refusal::DocumentType { reason: "parameter entities are not read".to_owned() });
            }
            b'%' => rest = after,
            _ if after.starts_with("!--") => {
                let Some(end) = after.find("-->") else { return Ok(None) };
                rest = &after[end + 3..];
            }
            _ if after.starts_with("!ENTITY") => {
                let definition = after["!ENTITY".len()..].trim_start();
                let Some(name_end) = definition.find(char::is_whitespace) else { return Ok(None) };
                let (name, value) = (&definition[..name_end], definition[name_end..].trim_start());
                match value.chars().next() {
                    None => return Ok(None),
                    Some(quote @ ('"' | '\'')) => {
                        let Some(end) = value[1..].find(quote) else { return Ok(None) };
                        entities.push((name, &value[1..=end]));
                        rest = &value[end + 2..];
                    }
                    Some(_) if name == "%" => {
                        return Err(Refusal::DocumentType { reason: "parameter entities are not read".to_owned() });
                    }
                    Some(_) => {
                        return Err(Refusal::DocumentType {
                            reason: format!("the entity &{name}; is external and never fetched"),
                        });
                    }
                }
            }
            _ => rest = after,
        }
    }
}

/// How many times longer a token may become when its entities are expanded; refuses bombs.
///
/// An entity's length is the sum over its parts; a reference to itself never gets a length and is refused as endless.
fn amplification(entities: &Entities<'_>, limits: &super::Limits) -> Result<u64, Refusal> {
    if entities.len() > limits.entities {
        return Err(Refusal::DocumentType { reason: format!("more than {} entities", limits.entities) });
    }
    let mut lengths: FxHashMap<&str, u64> = FxHashMap::default();
    let mut worst = 1;
    for (name, value) in entities {
        // oxrdfxml, as XML asks, knows only entities declared before.
        let expanded = expanded_length(value, &lengths);
        if expanded > limits.entity_bytes {
            return Err(Refusal::EntityBomb { name: (*name).to_owned(), expanded, limit: limits.entity_bytes });
        }
        worst = worst.max(expanded.div_ceil(name.len() as u64 + 2));
        lengths.entry(name).or_insert(expanded);
    }
    Ok(worst)
}

fn expanded_length(value: &str, lengths: &FxHashMap<&str, u64>) -> u64 {
    let mut total = 0u64;
    let mut rest = value;
    while let Some(start) = rest.find('&') {
        total = total.saturating_add(start as u64);
        let after = &rest[start + 1..];
        let Some(end) = after.find(';') else { break };
        total = total.saturating_add(lengths.get(&after[..end]).copied().unwrap_or(1));
        rest = &after[end + 1..];
    }
    total.saturating_add(rest.len() as u64)
}
