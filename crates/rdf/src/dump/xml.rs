//! RDF/XML. The document type declaration is checked before the parser reads it.
//!
//! oxrdfxml expands entities eagerly and without a limit. OWL files often use entities (`&owl;Class`), so they cannot be
//! rejected in general. Instead, their expanded lengths are computed and compared with [`Limits`](super::Limits). The token
//! limit is divided by the largest expansion factor.
//!
//! IRIs and language tags are repaired in the start tags ([`xml_tags`](super::xml_tags)), and checked here for each triple. An error of
//! the parser in the middle of an element would corrupt its stack. An error in XML or in the grammar of RDF/XML ends the file, because
//! the nesting is unknown after it.

use super::beginning::FailedReader;
use super::xml_literal::canonical_xml;
use super::xml_scope::ScopeGuard;
use super::xml_tags::{TagNotes, TagRewriter, expand};
use super::{Refusal, Sink};
use oxrdf::{Literal, Term, Triple};
use oxrdfxml::{RdfXmlParseError, RdfXmlParser};
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io::{self, Read};
use std::ops::Range;
use std::rc::Rc;

/// Maximum number of bytes up to the end of the document type declaration.
const MAX_PROLOG_BYTES: usize = 256 << 10;
/// Number of bytes that the rewriter and the parser may read ahead.
const PARSER_BUFFER_BYTES: usize = 64 << 10;
/// Maximum number of attributes of an element. The parser compares each attribute with all others.
const MAX_ATTRIBUTES: u32 = 10_000;

pub(super) fn read(mut reader: impl Read, base: &str, sink: &mut Sink<'_>) -> io::Result<()> {
    let mut start = Vec::new();
    let (prolog, rest, entities, values, failure) = loop {
        let seen = start.len();
        // An error is reported after the statements before it.
        let failure = (&mut reader).take(8 << 10).read_to_end(&mut start).err();
        let whole = failure.is_some() || start.len() == seen;
        let prolog = match read_prolog(&start, whole) {
            Ok(prolog) => prolog,
            Err(refusal) => return Err(failure.unwrap_or_else(|| refusal.into())),
        };
        if let Some(prolog) = prolog {
            let entities = entity_lengths(&prolog.entities, sink.limits)?;
            let values = expand_entities(&prolog.entities);
            break (
                prolog.rewritten(&start)?,
                start[prolog.end..].to_vec(),
                entities,
                values,
                failure,
            );
        }
        if start.len() > MAX_PROLOG_BYTES {
            return Err(Refusal::DocumentType {
                reason: format!("it does not end within {MAX_PROLOG_BYTES} bytes"),
            }
            .into());
        }
    };
    let lines = Rc::new(RefCell::new(LineIndex::default()));
    let since_triple = Rc::new(Cell::new(0));
    let is_closed = Rc::new(Cell::new(false));
    let line = 1 + memchr::memchr_iter(b'\n', &prolog).count() as u64;
    let guard = LimitGuard {
        inner: io::Cursor::new(rest).chain(FailedReader::new(failure, reader)),
        token_limit: sink.limits.token_bytes / max_amplification(&entities),
        nesting_limit: sink.limits.nesting,
        state: MarkupState::Text,
        token: 0,
        attributes: 0,
        nesting: 0,
        has_root: false,
        last: 0,
        since_triple: Rc::clone(&since_triple),
        is_closed: Rc::clone(&is_closed),
        scope: ScopeGuard::new(base, entities, Rc::clone(&sink.budget)),
        line,
    };
    let notes = Rc::new(RefCell::new(TagNotes::default()));
    let rewriter = TagRewriter::new(
        guard,
        values,
        line,
        sink.limits.listed_problems,
        Rc::clone(&notes),
    );
    let counted = LineCounter {
        inner: io::Cursor::new(prolog).chain(rewriter),
        lines: Rc::clone(&lines),
    };
    let parser = RdfXmlParser::new().lenient();
    let parser = parser.clone().with_base_iri(base).unwrap_or(parser);
    let mut triples = parser.for_reader(counted);
    while let Some(triple) = triples.next() {
        report_notes(&notes, sink);
        match triple {
            Ok(triple) => {
                since_triple.set(0);
                let triple = normalize_literals(triple);
                let line = lines.borrow_mut().line_at(triples.buffer_position());
                sink.unchecked_triple(&triple, Some(line));
            }
            Err(RdfXmlParseError::Io(error)) => return Err(error),
            Err(RdfXmlParseError::Syntax(error)) => {
                let line = lines.borrow_mut().line_at(triples.buffer_position());
                sink.truncate(Some(line), &error.to_string());
                return Ok(());
            }
        }
    }
    report_notes(&notes, sink);
    if !is_closed.get() {
        // The parser accepts an end of the file between two elements.
        let line = lines.borrow_mut().line_at(u64::MAX);
        sink.truncate(Some(line), "the end tag of the root element is missing");
    }
    Ok(())
}

/// Reports the repairs in the start tags that were read since the last call.
fn report_notes(notes: &RefCell<TagNotes>, sink: &mut Sink<'_>) {
    if notes.borrow().notes.is_empty() {
        return;
    }
    let found = notes.take();
    for note in found.notes {
        if note.is_loss {
            sink.skip(Some(note.line), note.message);
        } else {
            sink.repair(Some(note.line), note.message);
        }
    }
    sink.report.unlisted_problems += found.unlisted;
}

/// Converts a literal with an empty language tag, because `xml:lang=""` ends the scope of a language, and an XML literal to its
/// canonical form.
fn normalize_literals(triple: Triple) -> Triple {
    let object = match triple.object {
        Term::Literal(literal) if literal.datatype() == oxrdf::vocab::rdf::XML_LITERAL => {
            match canonical_xml(literal.value()) {
                Some(text) => {
                    Literal::new_typed_literal(text, literal.datatype().into_owned()).into()
                }
                None => literal.into(),
            }
        }
        Term::Literal(literal) if literal.language() == Some("") => {
            Literal::new_simple_literal(literal.value()).into()
        }
        Term::Triple(inner) => normalize_literals(*inner).into(),
        object => object,
    };
    Triple { object, ..triple }
}

/// Positions of line ends between the last queried offset and the end of the input read so far.
#[derive(Default)]
struct LineIndex {
    ends: VecDeque<u64>,
    passed: u64,
    read: u64,
}

impl LineIndex {
    /// Returns the line of a byte offset, starting at 1. Offsets must not decrease between calls.
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
    lines: Rc<RefCell<LineIndex>>,
}

impl<R: Read> Read for LineCounter<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        let mut lines = self.lines.borrow_mut();
        let start = lines.read;
        lines
            .ends
            .extend(memchr::memchr_iter(b'\n', &buffer[..read]).map(|place| start + place as u64));
        lines.read += read as u64;
        Ok(read)
    }
}

/// State of the markup scanner.
#[derive(Clone, Copy, PartialEq)]
enum MarkupState {
    Text,
    /// After `<`.
    Opened,
    /// After `<!`.
    Declaration,
    /// After `<!-`.
    HalfComment,
    /// In a comment, with the number of preceding dashes (at most 2).
    Comment(u8),
    /// In a CDATA section, with the number of preceding closing brackets (at most 2).
    Data(u8),
    /// In a processing instruction. If true, the preceding byte is a question mark.
    Instruction(bool),
    /// In a start tag, with the open quote.
    Tag(Option<u8>),
    EndTag(Option<u8>),
}

/// Reader that rejects hostile input before it reaches the XML parser.
///
/// It rejects long tokens and literals, deep nesting, too many attributes and namespaces ([`ScopeGuard`]), and document type
/// declarations after the prolog, whose entities were not checked.
struct LimitGuard<R> {
    inner: R,
    token_limit: usize,
    nesting_limit: usize,
    state: MarkupState,
    token: usize,
    attributes: u32,
    nesting: usize,
    has_root: bool,
    /// Last byte of the previous read.
    last: u8,
    since_triple: Rc<Cell<usize>>,
    /// If true, the root element was closed, and no markup is open after it.
    is_closed: Rc<Cell<bool>>,
    scope: ScopeGuard,
    line: u64,
}

impl<R> LimitGuard<R> {
    fn scan(&mut self, text: &[u8]) -> Result<(), Refusal> {
        let mut place = 0;
        self.scope.count(text.len());
        while place < text.len() {
            let marks: [u8; 3] = match self.state {
                MarkupState::Text => [b'<'; 3],
                MarkupState::Tag(Some(quote)) | MarkupState::EndTag(Some(quote)) => [quote; 3],
                MarkupState::Tag(None) | MarkupState::EndTag(None) => [b'>', b'"', b'\''],
                _ => {
                    // Each byte may change the state.
                    self.byte(text[place], 0)?;
                    self.token += 1;
                    self.check_token()?;
                    place += 1;
                    continue;
                }
            };
            let found = memchr::memchr3(marks[0], marks[1], marks[2], &text[place..])
                .map(|found| place + found);
            let end = match found {
                Some(found) => found + 1,
                None => text.len(),
            };
            self.token += end - place;
            self.check_token()?;
            let before = &text[place..found.unwrap_or(end)];
            match self.state {
                MarkupState::Tag(None) => self.scope.continue_tag(before),
                MarkupState::Tag(Some(_)) => self.scope.continue_value(before),
                _ => {}
            }
            if let Some(found) = found {
                // `/>` ends an empty element. The slash may have been in the read before.
                let previous = if found == 0 {
                    self.last
                } else {
                    text[found - 1]
                };
                self.byte(text[found], previous)?;
            }
            place = end;
        }
        self.check_token()?;
        self.last = text.last().copied().unwrap_or(self.last);
        self.line += memchr::memchr_iter(b'\n', text).count() as u64;
        self.since_triple.set(self.since_triple.get() + text.len());
        self.is_closed
            .set(self.has_root && self.nesting == 0 && self.state == MarkupState::Text);
        // The parser handles an XML literal, or text between comments, as one token. It may be one buffer behind.
        if self.since_triple.get() > self.token_limit + PARSER_BUFFER_BYTES {
            return Err(Refusal::TokenSize {
                limit: self.token_limit,
                line: self.line,
            });
        }
        Ok(())
    }

    fn check_token(&self) -> Result<(), Refusal> {
        if self.token > self.token_limit {
            return Err(Refusal::TokenSize {
                limit: self.token_limit,
                line: self.line,
            });
        }
        Ok(())
    }

    /// Processes one byte that can change the state. In a tag, the preceding byte is also relevant.
    fn byte(&mut self, byte: u8, previous: u8) -> Result<(), Refusal> {
        self.state = match (self.state, byte) {
            (MarkupState::Text, b'<') => {
                (self.token, self.attributes) = (0, 0);
                MarkupState::Opened
            }
            (MarkupState::Opened, b'!') => MarkupState::Declaration,
            (MarkupState::Opened, b'?') => MarkupState::Instruction(false),
            (MarkupState::Opened, b'/') => MarkupState::EndTag(None),
            (MarkupState::Opened, b'>') => MarkupState::Text,
            (MarkupState::Opened, _) => {
                self.nesting += 1;
                self.has_root = true;
                if self.nesting > self.nesting_limit {
                    return Err(Refusal::Nesting {
                        limit: self.nesting_limit,
                        line: self.line,
                    });
                }
                self.scope.begin_tag();
                if is_quote(byte) {
                    self.scope.begin_value();
                }
                MarkupState::Tag(Some(byte).filter(|&byte| is_quote(byte)))
            }
            (MarkupState::Declaration, b'-') => MarkupState::HalfComment,
            (MarkupState::HalfComment, b'-') => MarkupState::Comment(0),
            (MarkupState::Declaration, b'[') => MarkupState::Data(0),
            (MarkupState::Declaration | MarkupState::HalfComment, _) => {
                return Err(Refusal::DocumentType {
                    reason: format!("not at the beginning, near line {}", self.line),
                });
            }
            (MarkupState::Comment(2), b'>')
            | (MarkupState::Data(2), b'>')
            | (MarkupState::Instruction(true), b'>') => MarkupState::Text,
            (MarkupState::Comment(seen), b'-') => MarkupState::Comment(2.min(seen + 1)),
            (MarkupState::Comment(_), _) => MarkupState::Comment(0),
            (MarkupState::Data(seen), b']') => MarkupState::Data(2.min(seen + 1)),
            (MarkupState::Data(_), _) => MarkupState::Data(0),
            (MarkupState::Instruction(_), _) => MarkupState::Instruction(byte == b'?'),
            (MarkupState::Tag(None), b'>') => {
                let is_empty = previous == b'/';
                self.scope
                    .end_tag(self.nesting, is_empty, (self.token_limit, self.line))?;
                self.nesting -= usize::from(is_empty);
                MarkupState::Text
            }
            (MarkupState::EndTag(None), b'>') => {
                self.nesting = self.nesting.saturating_sub(1);
                self.scope.end_element(self.nesting);
                MarkupState::Text
            }
            (MarkupState::Tag(None), _) if is_quote(byte) => {
                self.attributes += 1;
                if self.attributes > MAX_ATTRIBUTES {
                    return Err(Refusal::AttributeCount {
                        limit: MAX_ATTRIBUTES,
                        line: self.line,
                    });
                }
                self.scope.begin_value();
                MarkupState::Tag(Some(byte))
            }
            (MarkupState::Tag(Some(quote)), _) if byte == quote => {
                self.scope.end_value(self.line)?;
                MarkupState::Tag(None)
            }
            (MarkupState::EndTag(None), _) if is_quote(byte) => MarkupState::EndTag(Some(byte)),
            (MarkupState::EndTag(Some(quote)), _) if byte == quote => MarkupState::EndTag(None),
            (inside, _) => inside,
        };
        if self.state == MarkupState::Text {
            self.token = 0;
        }
        Ok(())
    }
}

fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'')
}

impl<R: Read> Read for LimitGuard<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.scan(&buffer[..read])?;
        Ok(read)
    }
}

type Entities<'a> = Vec<(&'a str, &'a str)>;

/// Text before the root element, up to the end of the document type declaration, if any.
#[derive(Default)]
struct Prolog<'a> {
    entities: Entities<'a>,
    declaration: Option<Range<usize>>,
    end: usize,
}

impl Prolog<'_> {
    /// Returns the prolog with a rewritten document type declaration that contains only the checked entities.
    ///
    /// oxrdfxml supports double quotes only, uses the last definition of an entity, and also reads entities in comments.
    fn rewritten(&self, text: &[u8]) -> Result<Vec<u8>, Refusal> {
        let Some(declaration) = &self.declaration else {
            return Ok(text[..self.end].to_vec());
        };
        let mut out = text[..declaration.start].to_vec();
        out.extend_from_slice(b"<!DOCTYPE rdf [");
        for (index, (name, value)) in self.entities.iter().enumerate() {
            // The first declaration of an entity is binding (XML 1.0, 4.2).
            if self.entities[..index]
                .iter()
                .any(|(earlier, _)| earlier == name)
            {
                continue;
            }
            if value.contains('<') || name.contains(['<', '>', '"', '\'', '&', ';']) {
                return Err(Refusal::DocumentType {
                    reason: format!("the entity &{}; contains markup", super::shorten(name)),
                });
            }
            // All line breaks of the declaration follow its end, so none may remain here.
            let value = value
                .replace('>', "&gt;")
                .replace('"', "&quot;")
                .replace(['\n', '\r'], " ");
            out.extend_from_slice(format!("<!ENTITY {name} \"{value}\">").as_bytes());
        }
        out.extend_from_slice(b"]>");
        // Keep the line numbers.
        out.extend(
            text[declaration.clone()]
                .iter()
                .filter(|&&byte| byte == b'\n'),
        );
        Ok(out)
    }
}

/// Reads the prolog. Returns `None` if it does not end within these bytes.
fn read_prolog(bytes: &[u8], whole: bool) -> Result<Option<Prolog<'_>>, Refusal> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        // The last character may be incomplete; the text is UTF-8 by construction.
        Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
    };
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        let start = text.len() - rest.len();
        if let Some(after) = rest.strip_prefix("<?") {
            let Some(end) = after.find("?>") else {
                return await_rest(whole, "a processing instruction does not end");
            };
            rest = &after[end + 2..];
        } else if let Some(after) = rest.strip_prefix("<!--") {
            let Some(end) = after.find("-->") else {
                return await_rest(whole, "a comment does not end");
            };
            rest = &after[end + 3..];
        } else if let Some(after) = rest.strip_prefix("<!DOCTYPE") {
            return match declared_entities(after)? {
                Some((entities, rest)) => {
                    let end = text.len() - rest.len();
                    Ok(Some(Prolog {
                        entities,
                        declaration: Some(start..end),
                        end,
                    }))
                }
                None => await_rest(whole, "it does not end"),
            };
        } else if ["<!DOCTYPE", "<?", "<!--"]
            .iter()
            .any(|mark| mark.starts_with(rest))
            && !whole
        {
            // The end of these bytes may cut the mark.
            return Ok(None);
        } else {
            return Ok(Some(Prolog {
                end: start,
                ..Prolog::default()
            }));
        }
    }
}

/// Returns `None` for a prolog that continues after the bytes read so far, and an error for one that does not end.
fn await_rest<'t>(whole: bool, reason: &str) -> Result<Option<Prolog<'t>>, Refusal> {
    if whole {
        return Err(Refusal::DocumentType {
            reason: reason.to_owned(),
        });
    }
    Ok(None)
}

/// Returns the general entities of a document type declaration and the text after it.
///
/// Returns `None` if the declaration does not end within this text.
fn declared_entities(declaration: &str) -> Result<Option<(Entities<'_>, &str)>, Refusal> {
    let mut entities = Vec::new();
    let mut rest = declaration;
    let mut inside = false;
    loop {
        let Some(place) = rest.find(['[', ']', '>', '<', '%', '"', '\'']) else {
            return Ok(None);
        };
        let (character, after) = (rest.as_bytes()[place], &rest[place + 1..]);
        match character {
            b'[' => (inside, rest) = (true, after),
            b']' => (inside, rest) = (false, after),
            b'>' if inside => rest = after,
            b'>' => return Ok(Some((entities, after))),
            // A bracket in quotes ends nothing.
            quote @ (b'"' | b'\'') => {
                let Some(end) = after.find(char::from(quote)) else {
                    return Ok(None);
                };
                rest = &after[end + 1..];
            }
            b'%' if inside => {
                return Err(Refusal::DocumentType {
                    reason: "parameter entities are not supported".to_owned(),
                });
            }
            b'%' => rest = after,
            _ if after.starts_with("!--") => {
                let Some(end) = after.find("-->") else {
                    return Ok(None);
                };
                rest = &after[end + 3..];
            }
            _ if after.starts_with("!ENTITY") => {
                let definition = after["!ENTITY".len()..].trim_start();
                let Some(name_end) = definition.find(char::is_whitespace) else {
                    return Ok(None);
                };
                let (name, value) = (&definition[..name_end], definition[name_end..].trim_start());
                match value.chars().next() {
                    None => return Ok(None),
                    Some(quote @ ('"' | '\'')) => {
                        let Some(end) = value[1..].find(quote) else {
                            return Ok(None);
                        };
                        entities.push((name, &value[1..=end]));
                        rest = &value[end + 2..];
                    }
                    Some(_) if name == "%" => {
                        return Err(Refusal::DocumentType {
                            reason: "parameter entities are not supported".to_owned(),
                        });
                    }
                    Some(_) => {
                        return Err(Refusal::DocumentType {
                            reason: format!(
                                "the entity &{name}; is external; external entities are never fetched"
                            ),
                        });
                    }
                }
            }
            _ => rest = after,
        }
    }
}

/// Returns the lengths of the entities after expansion. Rejects entity bombs.
///
/// The length of an entity is the sum over its parts. An undeclared entity counts as one character, because the parser
/// rejects it.
fn entity_lengths(
    entities: &Entities<'_>,
    limits: &super::Limits,
) -> Result<FxHashMap<String, u64>, Refusal> {
    if entities.len() > limits.entities {
        return Err(Refusal::DocumentType {
            reason: format!("more than {} entities", limits.entities),
        });
    }
    let mut lengths: FxHashMap<String, u64> = FxHashMap::default();
    for (name, value) in entities {
        let expanded = expanded_length(value, |name| lengths.get(name).copied());
        if expanded > limits.entity_bytes {
            return Err(Refusal::EntityBomb {
                name: (*name).to_owned(),
                expanded,
                limit: limits.entity_bytes,
            });
        }
        // The first declaration is binding.
        lengths.entry((*name).to_owned()).or_insert(expanded);
    }
    Ok(lengths)
}

/// Returns the values of the entities after expansion. Their lengths were checked.
fn expand_entities(entities: &Entities<'_>) -> FxHashMap<String, String> {
    let mut values = FxHashMap::default();
    for (name, value) in entities {
        if let Some(expanded) = expand(value, &values)
            && !values.contains_key(*name)
        {
            let expanded = expanded.into_owned();
            values.insert((*name).to_owned(), expanded);
        }
    }
    values
}

/// Returns the largest factor by which entities expand a token.
fn max_amplification(entities: &FxHashMap<String, u64>) -> usize {
    // A reference has two more characters than the name.
    let factors = entities
        .iter()
        .map(|(name, expanded)| expanded.div_ceil(name.len() as u64 + 2));
    usize::try_from(factors.max().unwrap_or(1).max(1)).unwrap_or(usize::MAX)
}

/// Returns the length of a text after the expansion of its entities, given the lengths of these.
pub(super) fn expanded_length(value: &str, length_of: impl Fn(&str) -> Option<u64>) -> u64 {
    let mut total = 0u64;
    let mut rest = value;
    while let Some(start) = rest.find('&') {
        total = total.saturating_add(start as u64);
        let after = &rest[start + 1..];
        let Some(end) = after.find(';') else { break };
        total = total.saturating_add(length_of(&after[..end]).unwrap_or(1));
        rest = &after[end + 1..];
    }
    total.saturating_add(rest.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a text with a number of free comparisons.
    fn scan(free_steps: u64, text: &str) -> Result<(), Refusal> {
        let mut guard = LimitGuard {
            inner: io::empty(),
            token_limit: 1 << 20,
            nesting_limit: 50,
            state: MarkupState::Text,
            token: 0,
            attributes: 0,
            nesting: 0,
            has_root: false,
            last: 0,
            since_triple: Rc::default(),
            is_closed: Rc::default(),
            scope: ScopeGuard::with_free_steps("http://e/", free_steps),
            line: 1,
        };
        guard.scan(text.as_bytes())
    }

    /// quick-xml compares each name with all namespaces in scope, and each attribute with all others of its element.
    #[test]
    fn xml_namespaces_and_attributes_are_limited() {
        let namespaces: String = (0..1000)
            .map(|n| format!("xmlns:n{n}='http://e/{n}/' "))
            .collect();
        let many = format!("<e:R {namespaces}>{}", "<e:C/>".repeat(8000));
        let refused = scan(1000, &many).expect_err("too many namespaces");
        let message = refused.to_string();
        assert!(
            message.contains("the 1000 namespaces and 0 attributes"),
            "{message}"
        );
        let attributes: String = (0..9000).map(|n| format!("e:p{n}='' ")).collect();
        let element = format!("<e:C {attributes}/>");
        let refused = scan(1000, &element).expect_err("too many attributes");
        assert!(refused.to_string().contains("9000 attributes"), "{refused}");
        assert_eq!(scan(64 << 20, &element), Ok(()));
        // A declaration ends with its element.
        let one = format!("<e:C {namespaces}/>");
        assert_eq!(scan(1000, &(one + &"<e:C/>".repeat(8000))), Ok(()));
    }
}
