//! Rewriting of the start tags of RDF/XML, before the parser reads them.
//!
//! oxrdfxml ends a file at an attribute without a prefix, although five of them are valid (RDF 1.1 XML Syntax, 6.1.4). It resolves
//! IRIs before anybody can repair them, and does not pass `its:dir` on to the text of inner elements. [`TagRewriter`] therefore
//!
//! * gives `about`, `ID`, `parseType`, `resource` and `type` the prefix of the RDF namespace, and removes other attributes
//!   without a prefix;
//! * repairs `rdf:ID` and `rdf:nodeID` that are no names, at which the parser ends a file, too;
//! * repairs IRIs and language tags ([`repair`](super::repair));
//! * adds the inherited `its:dir` to each element.
//!
//! It copies all other bytes. The number of lines and the content of XML literals stay the same. It holds one start tag in memory,
//! whose length the reader before it limits.

use super::repair::{correct_language_tag, iri_message, is_language_tag, repair_iri, tag_message};
use super::shorten;
use crate::rdf_xml::{encode_label, is_name};
use crate::vocab::rdf;
use oxiri::IriRef;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::cell::RefCell;
use std::io::{self, Read};
use std::ops::Range;
use std::rc::Rc;

const CHUNK_BYTES: usize = 16 << 10;
const ITS: &str = "http://www.w3.org/2005/11/its";
/// Prefixes that are declared where the document declares none for the namespace.
const RDF_PREFIX: &str = "rdf-namespace";
const ITS_PREFIX: &str = "its-namespace";
/// Attributes that belong to the RDF namespace without a prefix.
const UNPREFIXED: [&[u8]; 5] = [b"ID", b"about", b"parseType", b"resource", b"type"];
/// Attributes of the RDF namespace whose values are IRIs.
const IRI_ATTRIBUTES: [&[u8]; 5] = [b"about", b"annotation", b"datatype", b"resource", b"type"];

/// Repairs and removed attributes that are not reported yet.
#[derive(Default)]
pub(super) struct TagNotes {
    pub(super) notes: Vec<TagNote>,
    /// Number of notes beyond the limit.
    pub(super) unlisted: u64,
}

/// Note about an attribute.
pub(super) struct TagNote {
    pub(super) line: u64,
    pub(super) message: String,
    /// If true, the value of the attribute is not in the graph.
    pub(super) is_loss: bool,
}

/// Namespace of an attribute, as far as it matters here.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Namespace {
    Rdf,
    Its,
    Other,
}

impl Namespace {
    fn iri(self) -> &'static str {
        match self {
            Self::Rdf => rdf::NAMESPACE,
            Self::Its | Self::Other => ITS,
        }
    }

    fn own_prefix(self) -> &'static str {
        match self {
            Self::Rdf => RDF_PREFIX,
            Self::Its | Self::Other => ITS_PREFIX,
        }
    }
}

/// Declaration of a prefix.
struct Binding {
    depth: usize,
    prefix: Vec<u8>,
    namespace: Namespace,
}

/// Base direction of the text in an element.
#[derive(Clone, Copy)]
struct Direction {
    depth: usize,
    value: Option<&'static str>,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Text,
    Comment,
    Data,
    Instruction,
    EndTag,
    /// In a start tag, with the open quote.
    Tag(Option<u8>),
}

/// Kind of an element. Nodes and properties alternate.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// `rdf:RDF`.
    Root,
    Node,
    Property,
    /// Property whose content are the properties of its object.
    ResourceProperty,
}

/// Attribute of a start tag, as ranges of the tag.
#[derive(Clone)]
struct Attribute {
    name: Range<usize>,
    value: Range<usize>,
}

/// Change of a start tag.
struct Edit {
    range: Range<usize>,
    text: Vec<u8>,
}

/// Reader that rewrites start tags.
pub(super) struct TagRewriter<R> {
    inner: R,
    /// Values of the entities after expansion.
    entities: FxHashMap<String, String>,
    /// Input that is not processed yet.
    pending: Vec<u8>,
    /// Position in `pending` up to which an incomplete start tag was scanned.
    scanned: usize,
    ready: Vec<u8>,
    position: usize,
    is_ended: bool,
    state: State,
    depth: usize,
    /// Kinds of the open elements, without those in XML literals.
    kinds: Vec<Kind>,
    /// Depth of the open element whose content is an XML literal.
    literal: Option<usize>,
    bindings: Vec<Binding>,
    directions: Vec<Direction>,
    attributes: Vec<Attribute>,
    line: u64,
    max_notes: usize,
    notes: Rc<RefCell<TagNotes>>,
}

impl<R: Read> TagRewriter<R> {
    /// Creates a rewriter of a text that begins in this line.
    pub(super) fn new(
        inner: R,
        entities: FxHashMap<String, String>,
        line: u64,
        max_notes: usize,
        notes: Rc<RefCell<TagNotes>>,
    ) -> Self {
        Self {
            inner,
            entities,
            pending: Vec::new(),
            scanned: 0,
            ready: Vec::new(),
            position: 0,
            is_ended: false,
            state: State::Text,
            depth: 0,
            kinds: Vec::new(),
            literal: None,
            bindings: Vec::new(),
            directions: Vec::new(),
            attributes: Vec::new(),
            line,
            max_notes,
            notes,
        }
    }

    fn fill(&mut self) -> io::Result<()> {
        let start = self.pending.len();
        self.pending.resize(start + CHUNK_BYTES, 0);
        let read = self.inner.read(&mut self.pending[start..]);
        self.pending
            .truncate(start + read.as_ref().copied().unwrap_or(0));
        self.is_ended = read? == 0;
        self.ready.clear();
        self.position = 0;
        let pending = std::mem::take(&mut self.pending);
        let mut done = self.process(&pending);
        if self.is_ended {
            // The parser reports what is no complete token.
            self.copy(&pending[done..]);
            done = pending.len();
        }
        self.pending = pending;
        self.pending.drain(..done);
        self.scanned -= done.min(self.scanned);
        Ok(())
    }

    /// Passes text on unchanged.
    fn copy(&mut self, text: &[u8]) {
        self.ready.extend_from_slice(text);
        self.line += memchr::memchr_iter(b'\n', text).count() as u64;
    }

    /// Processes the complete tokens of a text. Returns the number of processed bytes.
    fn process(&mut self, text: &[u8]) -> usize {
        let mut place = 0;
        while place < text.len() {
            let rest = &text[place..];
            let length = match self.state {
                State::Text => match memchr::memchr(b'<', rest) {
                    None => rest.len(),
                    Some(0) => match begin_markup(rest) {
                        Some(state) => {
                            self.state = state;
                            if matches!(state, State::Tag(_)) {
                                self.scanned = place + 1;
                                continue;
                            }
                            2
                        }
                        None => return place,
                    },
                    Some(found) => found,
                },
                State::Comment => self.content(rest, b"-->"),
                State::Data => self.content(rest, b"]]>"),
                State::Instruction => self.content(rest, b"?>"),
                State::EndTag => {
                    let length = self.content(rest, b">");
                    if self.state == State::Text {
                        self.end_element();
                    }
                    length
                }
                State::Tag(_) => {
                    let Some(end) = self.tag_end(text) else {
                        return place;
                    };
                    self.state = State::Text;
                    self.start_tag(&text[place..end]);
                    place = end;
                    continue;
                }
            };
            if length == 0 {
                return place;
            }
            self.copy(&text[place..place + length]);
            place += length;
        }
        place
    }

    /// Returns the length of a text up to this end, or of the part of it that cannot contain the beginning of the end.
    fn content(&mut self, text: &[u8], end: &[u8]) -> usize {
        match memchr::memmem::find(text, end) {
            Some(found) => {
                self.state = State::Text;
                found + end.len()
            }
            None => text.len().saturating_sub(end.len() - 1),
        }
    }

    /// Returns the end of the start tag that was scanned up to `scanned`. `None` if it is not complete.
    fn tag_end(&mut self, text: &[u8]) -> Option<usize> {
        loop {
            let State::Tag(quote) = self.state else {
                return None;
            };
            let rest = &text[self.scanned..];
            let found = match quote {
                Some(quote) => memchr::memchr(quote, rest),
                None => memchr::memchr3(b'>', b'"', b'\'', rest),
            };
            let Some(found) = found else {
                self.scanned = text.len();
                return None;
            };
            let byte = rest[found];
            self.scanned += found + 1;
            self.state = match (quote, byte) {
                (None, b'>') => return Some(self.scanned),
                (None, quote) => State::Tag(Some(quote)),
                (Some(_), _) => State::Tag(None),
            };
        }
    }

    fn end_element(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        self.leave(self.depth);
    }

    /// Ends the scopes of the elements that are deeper than this.
    fn leave(&mut self, depth: usize) {
        self.literal = self.literal.filter(|&literal| literal <= depth);
        self.kinds.truncate(depth);
        while self
            .bindings
            .last()
            .is_some_and(|binding| binding.depth > depth)
        {
            self.bindings.pop();
        }
        while self
            .directions
            .last()
            .is_some_and(|direction| direction.depth > depth)
        {
            self.directions.pop();
        }
    }

    fn start_tag(&mut self, tag: &[u8]) {
        let is_empty = tag.ends_with(b"/>");
        self.depth += 1;
        let edits = match self.literal {
            Some(_) => Vec::new(),
            None => {
                self.kinds.push(match self.kinds.last() {
                    None if is_root(tag) => Kind::Root,
                    None | Some(Kind::Root | Kind::Property) => Kind::Node,
                    Some(Kind::Node | Kind::ResourceProperty) => Kind::Property,
                });
                self.edits(tag, is_empty)
            }
        };
        let mut copied = 0;
        for edit in edits {
            self.copy(&tag[copied..edit.range.start]);
            let replaced = &tag[edit.range.clone()];
            self.ready.extend_from_slice(&edit.text);
            // Line breaks are white space between attributes.
            let breaks = memchr::memchr_iter(b'\n', replaced).count();
            self.copy(&b"\n".repeat(breaks));
            copied = edit.range.end;
        }
        self.copy(&tag[copied..]);
        if is_empty {
            self.end_element();
        }
    }

    /// Returns the changes of a start tag in their order.
    fn edits(&mut self, tag: &[u8], is_empty: bool) -> Vec<Edit> {
        let direction = self.directions.last().and_then(|direction| direction.value);
        // There is no attribute, and no direction to inherit.
        if direction.is_none() && memchr::memchr(b'=', tag).is_none() {
            return Vec::new();
        }
        // The vector is reused, because documents have millions of tags.
        let mut attributes = std::mem::take(&mut self.attributes);
        attributes.clear();
        // The parser reports the error of a tag that is not well-formed.
        let edits = match read_attributes(tag, &mut attributes) {
            true => self.edit_attributes(tag, &attributes, is_empty, direction),
            false => Vec::new(),
        };
        self.attributes = attributes;
        edits
    }

    fn edit_attributes(
        &mut self,
        tag: &[u8],
        attributes: &[Attribute],
        is_empty: bool,
        inherited: Option<&'static str>,
    ) -> Vec<Edit> {
        // A prefix may be declared after the attribute that uses it.
        for attribute in attributes {
            self.declare(&tag[attribute.name.clone()], &tag[attribute.value.clone()]);
        }
        let mut edits = Vec::new();
        let mut declarations = Vec::new();
        let mut own_direction = false;
        for attribute in attributes {
            let (name, value) = (&tag[attribute.name.clone()], &tag[attribute.value.clone()]);
            let whole = attribute.name.start..attribute.value.end + 1;
            let replacement = match name.iter().position(|&byte| byte == b':') {
                _ if name == b"xml:lang" => self.repaired_tag(value),
                _ if name == b"xml:base" => self.repaired_iri(value),
                // Also `xmlns`: declarations stay as they are.
                _ if name.starts_with(b"xml") => None,
                None => {
                    let text = self.add_rdf_prefix(tag, attribute, attributes, &mut declarations);
                    edits.push(Edit { range: whole, text });
                    continue;
                }
                Some(colon) => match (self.namespace(&name[..colon]), &name[colon + 1..]) {
                    (Namespace::Rdf, b"parseType") => {
                        self.note_parse_type(value, is_empty);
                        None
                    }
                    (Namespace::Rdf, b"ID") => {
                        if let Some(text) = self.repaired_id(&name[..colon], value) {
                            edits.push(Edit {
                                range: whole.clone(),
                                text,
                            });
                        }
                        None
                    }
                    (Namespace::Rdf, b"nodeID" | b"annotationNodeID") => self.repaired_label(value),
                    (Namespace::Rdf, local) if IRI_ATTRIBUTES.contains(&local) => {
                        self.repaired_iri(value)
                    }
                    (Namespace::Its, b"dir") => {
                        own_direction = true;
                        if !self.set_direction(value) {
                            edits.push(Edit {
                                range: whole.clone(),
                                text: Vec::new(),
                            });
                        }
                        None
                    }
                    _ => None,
                },
            };
            if let Some(value) = replacement {
                let text = [name, b"=\"", escape(&value).as_bytes(), b"\""].concat();
                edits.push(Edit { range: whole, text });
            }
        }
        let mut added = declarations;
        if let Some(value) = inherited.filter(|_| !own_direction)
            && let Some(prefix) = self.prefix(Namespace::Its, &mut added)
        {
            added.extend_from_slice(
                &[b" ", &prefix[..], b":dir=\"", value.as_bytes(), b"\""].concat(),
            );
        }
        if !added.is_empty() {
            let end = tag.len() - if is_empty { 2 } else { 1 };
            edits.push(Edit {
                range: end..end,
                text: added,
            });
        }
        edits
    }

    /// Records the declaration of a prefix, if the attribute is one.
    fn declare(&mut self, name: &[u8], value: &[u8]) {
        let Some(prefix) = name.strip_prefix(b"xmlns:") else {
            return;
        };
        let value = self.text(value);
        let namespace = match value.as_deref() {
            Some(rdf::NAMESPACE) => Namespace::Rdf,
            Some(ITS) => Namespace::Its,
            _ => Namespace::Other,
        };
        let is_known = self.bindings.iter().any(|binding| binding.prefix == prefix);
        let is_own = prefix == RDF_PREFIX.as_bytes() || prefix == ITS_PREFIX.as_bytes();
        // Other prefixes matter only if they replace one of these.
        if namespace != Namespace::Other || is_known || is_own {
            self.bindings.push(Binding {
                depth: self.depth,
                prefix: prefix.to_vec(),
                namespace,
            });
        }
    }

    fn namespace(&self, prefix: &[u8]) -> Namespace {
        let binding = self
            .bindings
            .iter()
            .rev()
            .find(|binding| binding.prefix == prefix);
        match binding {
            Some(binding) => binding.namespace,
            None => Namespace::Other,
        }
    }

    /// Returns a prefix of a namespace. If there is none in scope, one is declared.
    fn prefix(&mut self, namespace: Namespace, declarations: &mut Vec<u8>) -> Option<Vec<u8>> {
        let mut bindings = self
            .bindings
            .iter()
            .rev()
            .filter(|binding| binding.namespace == namespace);
        // An inner element may have declared the prefix for another namespace.
        if let Some(binding) = bindings.find(|binding| self.namespace(&binding.prefix) == namespace)
        {
            return Some(binding.prefix.clone());
        }
        let prefix = namespace.own_prefix().as_bytes();
        // The document uses the prefix for another namespace.
        if self.bindings.iter().any(|binding| binding.prefix == prefix) {
            return None;
        }
        declarations.extend_from_slice(
            &[
                b" xmlns:",
                prefix,
                b"=\"",
                namespace.iri().as_bytes(),
                b"\"",
            ]
            .concat(),
        );
        self.bindings.push(Binding {
            depth: self.depth,
            prefix: prefix.to_vec(),
            namespace,
        });
        Some(prefix.to_vec())
    }

    /// Returns the text of an attribute without a prefix: with the prefix of RDF, or nothing.
    fn add_rdf_prefix(
        &mut self,
        tag: &[u8],
        attribute: &Attribute,
        attributes: &[Attribute],
        declarations: &mut Vec<u8>,
    ) -> Vec<u8> {
        let (name, value) = (&tag[attribute.name.clone()], &tag[attribute.value.clone()]);
        // The parser ends the file at an attribute that is written twice.
        let is_repeated = attributes.iter().any(|other| {
            let other = &tag[other.name.clone()];
            let Some(colon) = other.iter().position(|&byte| byte == b':') else {
                return false;
            };
            &other[colon + 1..] == name && self.namespace(&other[..colon]) == Namespace::Rdf
        });
        let is_rdf = UNPREFIXED.contains(&name) && !is_repeated;
        let prefix = if is_rdf {
            self.prefix(Namespace::Rdf, declarations)
        } else {
            None
        };
        let Some(prefix) = prefix else {
            let what = shorten(&String::from_utf8_lossy(
                &tag[attribute.name.start..=attribute.value.end],
            ));
            let message = format!(
                "the attribute {what} has no namespace, which RDF/XML forbids; it was ignored"
            );
            self.note(message, true);
            return Vec::new();
        };
        let repaired = match name {
            b"parseType" => {
                self.note_parse_type(value, tag.ends_with(b"/>"));
                None
            }
            b"ID" => match self.repaired_id(&prefix, value) {
                Some(text) => return text,
                None => None,
            },
            _ => self.repaired_iri(value),
        };
        let quoted = match repaired {
            Some(value) => format!("\"{}\"", escape(&value)).into_bytes(),
            None => tag[attribute.value.start - 1..=attribute.value.end].to_vec(),
        };
        [&prefix[..], b":", name, b"=", &quoted].concat()
    }

    /// Records that the content of this element is an XML literal, unless `rdf:parseType` has another value.
    fn note_parse_type(&mut self, value: &[u8], is_empty: bool) {
        let value = self.text(value);
        match value.as_deref() {
            Some("Resource") => {
                if let Some(kind) = self.kinds.last_mut() {
                    *kind = Kind::ResourceProperty;
                }
            }
            Some("Collection" | "Triple") => {}
            // Other values are read as `Literal` (RDF 1.1 XML Syntax, parseTypeOtherPropertyElt).
            _ if is_empty => {}
            _ => self.literal = Some(self.depth),
        }
    }

    /// Returns an attribute in place of an `rdf:ID` that is no name: `rdf:about` of a node, and nothing of a property, whose
    /// identifier stands for the statement. `None` if the value is valid.
    fn repaired_id(&mut self, prefix: &[u8], value: &[u8]) -> Option<Vec<u8>> {
        let id = self.text(value)?.into_owned();
        if is_name(&id) {
            return None;
        }
        let shown = shorten(&id);
        let fragment = repair_iri(&format!("#{}", id.trim()))
            .filter(|_| self.kinds.last() == Some(&Kind::Node));
        match fragment {
            Some(fragment) => {
                self.note(
                    format!(
                        "rdf:ID={shown:?} is no XML name and was read as rdf:about={fragment:?}"
                    ),
                    false,
                );
                Some([prefix, b":about=\"", escape(&fragment).as_bytes(), b"\""].concat())
            }
            None => {
                self.note(
                    format!("rdf:ID={shown:?} is no XML name; it was ignored"),
                    true,
                );
                Some(Vec::new())
            }
        }
    }

    /// Returns a name for the label of a blank node that is none. `None` if the value is valid.
    fn repaired_label(&mut self, value: &[u8]) -> Option<String> {
        let label = self.text(value)?.into_owned();
        if is_name(&label) {
            return None;
        }
        self.note(
            format!(
                "the blank node label {:?} is no XML name and was replaced",
                shorten(&label)
            ),
            false,
        );
        Some(encode_label(&label))
    }

    /// Sets the direction of the text in this element. Returns false if the parser must not read the attribute.
    fn set_direction(&mut self, value: &[u8]) -> bool {
        let text = self.text(value);
        let direction = match text.as_deref() {
            Some("ltr") => Some("ltr"),
            Some("rtl") => Some("rtl"),
            _ => None,
        };
        if direction.is_none() && !value.is_empty() {
            let value = shorten(&String::from_utf8_lossy(value));
            self.note(
                format!("its:dir={value:?} is no base direction (ltr, rtl); it was ignored"),
                true,
            );
        }
        self.directions.push(Direction {
            depth: self.depth,
            value: direction,
        });
        // The root element has no text. Without the attribute there, an inner element can end the direction.
        direction.is_some() && self.kinds.last() != Some(&Kind::Root)
    }

    /// Returns the repaired IRI of a value. `None` if the value is valid or cannot be repaired.
    fn repaired_iri(&mut self, value: &[u8]) -> Option<String> {
        if value.iter().all(|&byte| is_plain(byte)) {
            return None;
        }
        let text = self.text(value)?;
        if IriRef::parse(&*text).is_ok() {
            return None;
        }
        let repaired = repair_iri(&text)?;
        let message = iri_message(&text, &repaired);
        self.note(message, false);
        Some(repaired)
    }

    /// Returns the corrected language tag of a value: empty if there is none. `None` if the value is valid.
    fn repaired_tag(&mut self, value: &[u8]) -> Option<String> {
        let tag = self.text(value)?;
        if tag.is_empty() || is_language_tag(&tag) {
            return None;
        }
        let corrected = correct_language_tag(&tag);
        let message = tag_message(&tag, corrected.as_deref());
        self.note(message, false);
        Some(corrected.unwrap_or_default())
    }

    fn note(&mut self, message: String, is_loss: bool) {
        let mut notes = self.notes.borrow_mut();
        if notes.notes.len() < self.max_notes {
            notes.notes.push(TagNote {
                line: self.line,
                message,
                is_loss,
            });
        } else {
            notes.unlisted += 1;
        }
    }

    /// Returns the text of a value, with its entities expanded. `None` if the parser rejects it.
    fn text<'v>(&self, value: &'v [u8]) -> Option<Cow<'v, str>> {
        expand(std::str::from_utf8(value).ok()?, &self.entities)
    }
}

impl<R: Read> Read for TagRewriter<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // A chunk may contain a part of a tag only.
        while self.position == self.ready.len() {
            if self.is_ended {
                return Ok(0);
            }
            self.fill()?;
        }
        let count = buffer.len().min(self.ready.len() - self.position);
        buffer[..count].copy_from_slice(&self.ready[self.position..self.position + count]);
        self.position += count;
        Ok(count)
    }
}

/// Returns true if a start tag is that of `rdf:RDF`, whatever its prefix.
fn is_root(tag: &[u8]) -> bool {
    let name = tag[1..]
        .split(|byte| byte.is_ascii_whitespace() || b"/>".contains(byte))
        .next()
        .unwrap_or_default();
    name == b"RDF" || name.ends_with(b":RDF")
}

/// Returns the state after the `<` at the beginning of a text. `None` if more bytes are needed.
fn begin_markup(text: &[u8]) -> Option<State> {
    match text.get(1)? {
        b'/' => Some(State::EndTag),
        b'?' => Some(State::Instruction),
        b'!' => match text.get(2)? {
            b'-' => Some(State::Comment),
            b'[' => Some(State::Data),
            _ => Some(State::Text),
        },
        b'>' => Some(State::Text),
        _ => Some(State::Tag(None)),
    }
}

/// Reads the attributes of a start tag. Returns false if it is not well-formed.
fn read_attributes(tag: &[u8], attributes: &mut Vec<Attribute>) -> bool {
    let end = tag.len() - if tag.ends_with(b"/>") { 2 } else { 1 };
    let Some(mut place) = tag[..end].iter().position(u8::is_ascii_whitespace) else {
        return true;
    };
    loop {
        place += tag[place..end]
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace())
            .count();
        if place == end {
            return true;
        }
        let Some(equals) = memchr::memchr(b'=', &tag[place..end]).map(|found| place + found) else {
            return false;
        };
        let name = place..place + tag[place..equals].trim_ascii_end().len();
        let open = equals
            + 1
            + tag[equals + 1..end]
                .iter()
                .take_while(|byte| byte.is_ascii_whitespace())
                .count();
        let Some(&quote @ (b'"' | b'\'')) = tag[..end].get(open) else {
            return false;
        };
        let Some(close) = memchr::memchr(quote, &tag[open + 1..end]).map(|found| open + 1 + found)
        else {
            return false;
        };
        if name.is_empty() || tag[name.clone()].iter().any(u8::is_ascii_whitespace) {
            return false;
        }
        attributes.push(Attribute {
            name,
            value: open + 1..close,
        });
        place = close + 1;
    }
}

/// Returns true if a byte is valid anywhere in an IRI, and no part of an entity.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~:/@!$'()*+,;=?".contains(&byte)
}

/// Expands the entities and character references of a value. `None` if one is unknown.
pub(super) fn expand<'v>(
    value: &'v str,
    entities: &FxHashMap<String, String>,
) -> Option<Cow<'v, str>> {
    if !value.contains('&') {
        return Some(Cow::Borrowed(value));
    }
    let mut expanded = String::with_capacity(value.len());
    let mut rest = value;
    while let Some(start) = rest.find('&') {
        expanded.push_str(&rest[..start]);
        let (name, after) = rest[start + 1..].split_once(';')?;
        match name {
            "amp" => expanded.push('&'),
            "lt" => expanded.push('<'),
            "gt" => expanded.push('>'),
            "quot" => expanded.push('"'),
            "apos" => expanded.push('\''),
            _ => match name.strip_prefix('#') {
                Some(number) => {
                    let code = match number.strip_prefix('x') {
                        Some(digits) => u32::from_str_radix(digits, 16),
                        None => number.parse(),
                    };
                    expanded.push(char::from_u32(code.ok()?)?);
                }
                None => expanded.push_str(entities.get(name)?),
            },
        }
        rest = after;
    }
    expanded.push_str(rest);
    Some(Cow::Owned(expanded))
}

fn escape(value: &str) -> String {
    value
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the rewritten text, read in pieces of this size, and the messages.
    fn rewrite_in(text: &str, piece: usize) -> (String, Vec<String>) {
        let notes = Rc::new(RefCell::new(TagNotes::default()));
        let pieces = Pieces {
            text: text.as_bytes(),
            piece,
        };
        let entities = FxHashMap::from_iter([("r".to_owned(), rdf::NAMESPACE.to_owned())]);
        let mut out = String::new();
        TagRewriter::new(pieces, entities, 1, 100, Rc::clone(&notes))
            .read_to_string(&mut out)
            .expect("in memory");
        let messages = notes
            .borrow()
            .notes
            .iter()
            .map(|note| format!("{}: {}", note.line, note.message))
            .collect();
        (out, messages)
    }

    struct Pieces<'t> {
        text: &'t [u8],
        piece: usize,
    }

    impl Read for Pieces<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.piece.min(self.text.len()).min(buffer.len());
            buffer[..count].copy_from_slice(&self.text[..count]);
            self.text = &self.text[count..];
            Ok(count)
        }
    }

    fn rewrite(text: &str) -> (String, Vec<String>) {
        let whole = rewrite_in(text, usize::MAX);
        for piece in 1..8 {
            assert_eq!(rewrite_in(text, piece), whole, "pieces of {piece}");
        }
        assert_eq!(whole.0.matches('\n').count(), text.matches('\n').count());
        whole
    }

    #[test]
    fn sound_documents_stay_the_same() {
        let text = "<!-- a='b' about='c' --><x:RDF xmlns:x='&r;' xmlns:e='http://e/'>\n<?p about='<'?><e:A x:about = \"http://e/a?b&amp;c#d\" \
                    e:about='a b' xml:lang='de'><![CDATA[<a about='b'>]]><e:p x:parseType='Literal'><b about='a b' xml:lang='e_f'/></e:p>\
                    <e:q x:datatype='http://e/d'/>a > b</e:A></x:RDF>";
        assert_eq!(rewrite(text), (text.to_owned(), Vec::new()));
    }

    #[test]
    fn attributes_without_a_prefix() {
        let (text, messages) = rewrite(
            "<RDF xmlns='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:e='http://e/'>\
             <Description about='a' lang='de'><e:p resource='b c'/></Description><e:q parseType='Literal'><b id='c'/></e:q></RDF>",
        );
        let declared = " xmlns:rdf-namespace=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\"";
        assert_eq!(
            text,
            format!(
                "<RDF xmlns='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:e='http://e/'>\
                 <Description rdf-namespace:about='a' {declared}><e:p rdf-namespace:resource=\"b%20c\"/></Description>\
                 <e:q rdf-namespace:parseType='Literal'{declared}><b id='c'/></e:q></RDF>"
            )
        );
        assert_eq!(messages.len(), 2, "{messages:?}");
        let (text, _) =
            rewrite("<r:RDF xmlns:r='&r;'><r:D about='a' r:about='b'/><r:D ID='a'/></r:RDF>");
        assert_eq!(
            text,
            "<r:RDF xmlns:r='&r;'><r:D  r:about='b'/><r:D r:ID='a'/></r:RDF>"
        );
    }

    #[test]
    fn iris_and_language_tags_are_repaired() {
        let (text, messages) = rewrite(
            "<r:RDF xmlns:r='&r;' xml:base=' http://e/'>\n<r:D r:about='\n http://e/a\n b' xml:lang='en_GB'>\
             <r:p xml:lang='q!' r:resource='&#32;a&lt;b'/></r:D></r:RDF>",
        );
        assert_eq!(
            text,
            "<r:RDF xmlns:r='&r;' xml:base=\"http://e/\">\n<r:D r:about=\"http://e/ab\"\n\n xml:lang=\"en-gb\">\
             <r:p xml:lang=\"\" r:resource=\"a%3Cb\"/></r:D></r:RDF>"
        );
        assert_eq!(messages.len(), 5, "{messages:?}");
        assert!(messages[1].starts_with("2: the IRI <"), "{messages:?}");
    }

    #[test]
    fn identifiers_that_are_no_names() {
        let (text, messages) = rewrite(
            "<r:RDF xmlns:r='&r;'><r:D r:ID='1 a'><r:p r:ID='2' r:parseType='Resource'><r:q r:nodeID='b'/></r:p>\
             <r:p><r:D r:nodeID='7'/></r:p></r:D><r:D r:ID='ok'/></r:RDF>",
        );
        assert_eq!(
            text,
            "<r:RDF xmlns:r='&r;'><r:D r:about=\"#1%20a\"><r:p  r:parseType='Resource'><r:q r:nodeID='b'/></r:p>\
             <r:p><r:D r:nodeID=\"label-37\"/></r:p></r:D><r:D r:ID='ok'/></r:RDF>"
        );
        assert_eq!(messages.len(), 3, "{messages:?}");
    }

    #[test]
    fn directions_are_inherited() {
        let (text, messages) = rewrite(
            "<r:RDF xmlns:r='&r;' xmlns:i='http://www.w3.org/2005/11/its' i:dir='rtl'><r:D><r:p>a</r:p><r:q i:dir='ltr'/>\
             <r:s i:dir=''><r:D/></r:s><r:t xmlns:i='http://e/'/><r:u i:dir='lro'/></r:D></r:RDF><r:D/>",
        );
        assert_eq!(
            text,
            "<r:RDF xmlns:r='&r;' xmlns:i='http://www.w3.org/2005/11/its' ><r:D i:dir=\"rtl\"><r:p i:dir=\"rtl\">a</r:p><r:q i:dir='ltr'/>\
             <r:s ><r:D/></r:s><r:t xmlns:i='http://e/' xmlns:its-namespace=\"http://www.w3.org/2005/11/its\" its-namespace:dir=\"rtl\"/>\
             <r:u /></r:D></r:RDF><r:D/>"
        );
        assert_eq!(messages.len(), 1, "{messages:?}");
    }
}
