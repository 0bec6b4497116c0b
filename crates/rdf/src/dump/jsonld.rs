//! JSON-LD. Remote contexts are never fetched: some well-known ones are built in, others are treated as empty and
//! reported.
//!
//! The parser holds each top-level object in memory, and each value once per enclosing object. This memory is estimated
//! and limited, and so are nesting and contexts ([`jsonld_context`](super::jsonld_context)).
//!
//! The parser is lenient: it passes invalid IRIs and language tags on, which the sink repairs. It converts integral numbers from
//! 10^20 to 10^21 to `xsd:double`; they are `xsd:integer` (JSON-LD 1.1 API, 8.2.2), and are corrected here.

use super::jsonld_context::ContextGuard;
use super::repair::is_language_tag;
use super::{Refusal, Sink, shorten};
use oxjsonld::{JsonLdParseError, JsonLdParser, JsonLdRemoteDocument};
use oxrdf::vocab::xsd;
use oxrdf::{Literal, Term, Triple};
use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;
use std::sync::{Arc, Mutex};

/// Maximum number of consecutive errors without a triple. After that the rest of the document is not read.
const MAX_CONSECUTIVE_ERRORS: usize = 1000;
/// Maximum nesting. Real documents have about ten levels.
const MAX_NESTING: usize = 100;
/// Measured memory of a value in bytes, for each enclosing object and for the value itself.
const BYTES_PER_VALUE: u64 = 128;
/// Maximum number of remote contexts, and of undefined terms, listed in the report.
const MAX_LISTED: usize = 10;

/// Built-in contexts: (prefix of the context's IRI, context document).
///
/// They were written for this program from the vocabularies' definitions and contain terms and their types only.
const CONTEXTS: &[(&str, &str)] = &[
    ("http://schema.org", include_str!("contexts/schema.jsonld")),
    ("https://schema.org", include_str!("contexts/schema.jsonld")),
    (
        "http://mlcommons.org/croissant/",
        include_str!("contexts/croissant.jsonld"),
    ),
    (
        "https://mlcommons.org/croissant/",
        include_str!("contexts/croissant.jsonld"),
    ),
    (
        "https://w3id.org/ro/crate/",
        include_str!("contexts/ro_crate.jsonld"),
    ),
    (
        "http://www.w3.org/ns/dcat",
        include_str!("contexts/dcat.jsonld"),
    ),
    (
        "https://www.w3.org/ns/dcat",
        include_str!("contexts/dcat.jsonld"),
    ),
    (
        "https://semiceu.github.io/DCAT-AP/",
        include_str!("contexts/dcat.jsonld"),
    ),
    (
        "https://semiceu.github.io/uri.semic.eu-generated/DCAT-AP/",
        include_str!("contexts/dcat.jsonld"),
    ),
    (
        "http://data.europa.eu/r5r",
        include_str!("contexts/dcat.jsonld"),
    ),
];

pub(super) fn read(reader: impl Read, base: &str, sink: &mut Sink<'_>) -> io::Result<()> {
    let missing = Arc::new(Mutex::new(Vec::<String>::new()));
    let asked = Arc::clone(&missing);
    let parser = JsonLdParser::new().lenient();
    let parser = parser.clone().with_base_iri(base).unwrap_or(parser);
    let guard = LimitGuard::new(reader, sink);
    let names_double = Rc::clone(&guard.names_double);
    let quads = parser
        .for_reader(guard)
        .with_load_document_callback(move |iri, _| {
            let known = CONTEXTS
                .iter()
                .find(|(prefix, _)| iri.starts_with(prefix))
                .map(|(_, context)| *context);
            if known.is_none()
                && let Ok(mut missing) = asked.lock()
                && missing.len() < MAX_LISTED
                && !missing.iter().any(|m| m == iri)
            {
                missing.push(iri.to_owned());
            }
            let document = known.unwrap_or("{\"@context\": {}}").as_bytes().to_vec();
            Ok(JsonLdRemoteDocument {
                document,
                document_url: iri.to_owned(),
            })
        });
    let mut undefined = UndefinedTerms::default();
    let mut consecutive_errors = 0;
    let mut result = Ok(());
    for quad in quads {
        match quad {
            Ok(quad) => {
                consecutive_errors = 0;
                let object = with_integer(with_lower_case_tag(quad.object), names_double.get());
                let triple = Triple::new(quad.subject, quad.predicate, object);
                if is_undefined(triple.predicate.as_str()) {
                    undefined.note(triple.predicate.as_str());
                } else {
                    sink.unchecked_triple(&triple, None);
                }
            }
            Err(JsonLdParseError::Io(error)) => {
                result = Err(error);
                break;
            }
            Err(JsonLdParseError::Syntax(error)) => {
                consecutive_errors += 1;
                let line = error.location().map(|location| location.start.line + 1);
                // Errors with a position are those of JSON: the nesting is uncertain after them.
                if line.is_some() || consecutive_errors > MAX_CONSECUTIVE_ERRORS {
                    sink.truncate(line, &error.to_string());
                    break;
                }
                sink.skip(None, error.to_string());
            }
        }
    }
    let missing = missing
        .lock()
        .map(|missing| missing.clone())
        .unwrap_or_default();
    undefined.report(!missing.is_empty(), sink);
    for iri in missing {
        sink.first_problem(format!(
            "the context <{}> is remote and never fetched: terms that only it defines were skipped",
            shorten(&iri)
        ));
    }
    result
}

/// Converts a language tag to lower case, as the readers of all other syntaxes do. Tags are case-insensitive, and a dump
/// must not become another graph because its syntax changed.
fn with_lower_case_tag(object: Term) -> Term {
    let Term::Literal(literal) = &object else {
        return object;
    };
    let Some(tag) = literal
        .language()
        .filter(|tag| tag.bytes().any(|byte| byte.is_ascii_uppercase()))
    else {
        return object;
    };
    // A malformed tag is reported as it is written.
    if !is_language_tag(tag) {
        return object;
    }
    let (value, tag) = (literal.value(), tag.to_ascii_lowercase());
    match literal.direction() {
        None => Literal::new_language_tagged_literal_unchecked(value, tag).into(),
        Some(direction) => {
            Literal::new_directional_language_tagged_literal_unchecked(value, tag, direction).into()
        }
    }
}

/// Converts a number from 10^20 to 10^21 without fraction to the canonical form of integers.
///
/// A document that names the datatype double may have coerced the number, which the literal does not show. It stays a double.
fn with_integer(object: Term, names_double: bool) -> Term {
    let Term::Literal(literal) = &object else {
        return object;
    };
    let datatype = literal.datatype();
    let is_number = datatype == xsd::DOUBLE && !names_double;
    let is_coerced = datatype == xsd::DECIMAL || datatype == xsd::INTEGER;
    let Some(mantissa) = literal
        .value()
        .strip_suffix("E20")
        .filter(|_| is_number || is_coerced)
    else {
        return object;
    };
    let (sign, number) = match mantissa.strip_prefix('-') {
        Some(number) => ("-", number),
        None => ("", mantissa),
    };
    let Some((whole, fraction)) = number.split_once('.') else {
        return object;
    };
    let fraction = fraction.trim_end_matches('0');
    if whole.len() != 1
        || fraction.len() > 20
        || !has_only_digits(whole)
        || !has_only_digits(fraction)
    {
        return object;
    }
    let digits = format!("{sign}{whole}{fraction:0<20}");
    Literal::new_typed_literal(digits, if is_number { xsd::INTEGER } else { datatype }).into()
}

/// Returns true if every character is a digit. An empty text has no other character.
fn has_only_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns true if a predicate is a term without a definition. The parser leaves such terms as relative IRIs.
fn is_undefined(predicate: &str) -> bool {
    !predicate.contains(':')
}

/// Statements with terms that no context defines. JSON-LD ignores them; the report lists them, because the context may
/// have been forgotten.
#[derive(Default)]
struct UndefinedTerms {
    statements: u64,
    terms: Vec<String>,
}

impl UndefinedTerms {
    fn note(&mut self, term: &str) {
        self.statements += 1;
        // One more than listed shows that there are more.
        if self.terms.len() <= MAX_LISTED && !self.terms.iter().any(|known| known == term) {
            self.terms.push(term.to_owned());
        }
    }

    fn report(self, is_loss: bool, sink: &mut Sink<'_>) {
        if self.statements == 0 {
            return;
        }
        if is_loss {
            sink.report.skipped += self.statements;
        }
        let named: Vec<String> = self
            .terms
            .iter()
            .take(MAX_LISTED)
            .map(|term| shorten(term))
            .collect();
        let more = if self.terms.len() > MAX_LISTED {
            ", …"
        } else {
            ""
        };
        let named = named.join(", ");
        let message = match self.statements {
            1 => format!("1 statement uses a term without a definition ({named}) and was left out"),
            count => format!(
                "{count} statements use terms without a definition ({named}{more}) and were left out"
            ),
        };
        sink.first_problem(message);
    }
}

/// Number of bytes that are checked together.
const CHUNK_BYTES: usize = 32 << 10;

/// Reader that rejects strings, nesting, objects and contexts above the limits before they reach the JSON parser.
struct LimitGuard<R> {
    inner: R,
    token_limit: usize,
    memory_limit: u64,
    nesting_limit: usize,
    memory: u64,
    token: usize,
    nesting: usize,
    objects: u64,
    in_string: bool,
    escaped: bool,
    line: u64,
    contexts: ContextGuard,
    /// If true, the text contains the name of the datatype double.
    names_double: Rc<Cell<bool>>,
    /// Number of the last bytes that are the beginning of that name.
    matched: usize,
    /// Checked bytes, unread from `position` on.
    buffer: Vec<u8>,
    position: usize,
}

impl<R> LimitGuard<R> {
    fn new(inner: R, sink: &Sink<'_>) -> Self {
        let limits = sink.limits;
        Self {
            inner,
            token_limit: limits.token_bytes,
            memory_limit: limits.json_memory,
            nesting_limit: limits.nesting.min(MAX_NESTING),
            memory: 0,
            token: 0,
            nesting: 0,
            objects: 0,
            in_string: false,
            escaped: false,
            line: 1,
            contexts: ContextGuard::new(),
            names_double: Rc::default(),
            matched: 0,
            buffer: Vec::new(),
            position: 0,
        }
    }

    fn byte(&mut self, byte: u8) -> Result<(), Refusal> {
        self.token += 1;
        self.memory += 1;
        self.line += u64::from(byte == b'\n');
        let was_in_string = self.in_string;
        if self.in_string {
            self.in_string = self.escaped || byte != b'"';
            self.escaped = !self.escaped && byte == b'\\';
        } else {
            self.mark(byte);
        }
        self.memory = self.memory.saturating_add(self.contexts.byte(
            byte,
            (was_in_string, self.in_string),
            self.line,
        )?);
        if self.token > self.token_limit {
            return Err(Refusal::TokenSize {
                limit: self.token_limit,
                line: self.line,
            });
        }
        if self.nesting > self.nesting_limit {
            return Err(Refusal::Nesting {
                limit: self.nesting_limit,
                line: self.line,
            });
        }
        if self.memory > self.memory_limit {
            return Err(Refusal::JsonMemory {
                limit: self.memory_limit,
                line: self.line,
            });
        }
        Ok(())
    }

    /// Processes a byte outside of strings.
    fn mark(&mut self, byte: u8) {
        match byte {
            b'"' => self.in_string = true,
            b'[' | b'{' => self.nesting += 1,
            b']' | b'}' => self.nesting = self.nesting.saturating_sub(1),
            b',' | b':' => {}
            _ => return,
        }
        self.token = 0;
        match byte {
            b'{' => self.objects += 1,
            b'}' => self.objects = self.objects.saturating_sub(1),
            _ => {}
        }
        match byte {
            // The parser releases the memory at the end of an object that is not in another.
            b'}' if self.objects == 0 => self.memory = 0,
            b',' | b':' | b'[' | b'{' => self.memory += BYTES_PER_VALUE * (self.objects + 1),
            _ => {}
        }
    }
}

/// Name of the datatype of doubles, whatever its prefix.
const DOUBLE: &[u8] = b"double";

impl<R: Read> LimitGuard<R> {
    /// Searches the bytes from `start` on for the name of the datatype double, which may have begun before.
    fn find_double(&mut self, start: usize) {
        if self.names_double.get() {
            return;
        }
        let text = &self.buffer[start..];
        let rest = &DOUBLE[self.matched..];
        let is_split = self.matched > 0 && text.starts_with(rest);
        if is_split || memchr::memmem::find(text, DOUBLE).is_some() {
            self.names_double.set(true);
            return;
        }
        let lengths = (1..DOUBLE.len()).rev();
        self.matched = lengths
            .into_iter()
            .find(|&length| text.ends_with(&DOUBLE[..length]))
            .unwrap_or(0);
    }

    /// Reads and checks the next chunk.
    ///
    /// A string longer than a chunk is read completely first, because the parser scans an open string again from its
    /// beginning with each chunk.
    fn fill(&mut self) -> io::Result<()> {
        self.buffer.clear();
        self.position = 0;
        loop {
            let start = self.buffer.len();
            self.buffer.resize(start + CHUNK_BYTES, 0);
            let read = self.inner.read(&mut self.buffer[start..]);
            self.buffer
                .truncate(start + read.as_ref().copied().unwrap_or(0));
            let ended = read? == 0;
            for place in start..self.buffer.len() {
                self.byte(self.buffer[place])?;
            }
            self.find_double(start);
            if ended || !self.in_string || self.token <= CHUNK_BYTES {
                return Ok(());
            }
        }
    }
}

impl<R: Read> Read for LimitGuard<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.position == self.buffer.len() {
            self.fill()?;
        }
        let count = buffer.len().min(self.buffer.len() - self.position);
        buffer[..count].copy_from_slice(&self.buffer[self.position..self.position + count]);
        self.position += count;
        Ok(count)
    }
}
