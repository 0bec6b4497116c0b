//! Limits on namespaces, bases and attributes of RDF/XML, checked before the parser processes an element.
//!
//! quick-xml compares each name with all namespace declarations in scope (RUSTSEC-2026-0195), and each attribute with all
//! others of its element (RUSTSEC-2026-0194). oxrdfxml prepends the base to each relative IRI, writes all namespaces in scope
//! into each top-level element of an XML literal, and searches its stack for the base. A short document can therefore need
//! much time and memory.
//!
//! [`ScopeGuard`] reads the tags in parallel to the parser. At the end of each tag it computes upper bounds of the comparisons,
//! of the bytes of resolved IRIs and of the bytes of XML literals.

use super::{Refusal, ResolvedBudget};
use crate::triples::MAX_TRIPLE_TERM_DEPTH;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Maximum length of a namespace, base or language tag in bytes, with entities expanded. Each name can become as long.
pub(super) const MAX_NAMESPACE_BYTES: usize = 8 << 10;
/// Number of comparisons that names may need in any document, and additionally for each byte.
const MAX_FREE_STEPS: u64 = 64 << 20;
const MAX_STEPS_PER_BYTE: u64 = 256;
/// Number of bytes that are compared or copied in one step, and of open elements that are searched in one step.
const BYTES_PER_STEP: u64 = 16;
const ELEMENTS_PER_STEP: u64 = 4;

/// Lengths of the declared entities after expansion, and of the declarations in scope.
#[derive(Clone, Copy, Default)]
struct Scope {
    /// Nesting of the element with the declarations.
    nesting: usize,
    /// Number of namespaces, and bytes of their prefixes.
    namespaces: u64,
    prefix_bytes: u64,
    /// Bytes of all declarations as attributes, which an XML literal repeats.
    attribute_bytes: u64,
    /// Length of the longest namespace.
    longest: u64,
    /// Length of the base.
    base: u64,
}

/// Attribute whose value is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Attribute {
    Other,
    Namespace {
        prefix_bytes: u64,
    },
    Base,
    Language,
    /// `rdf:parseType`, with any prefix.
    ParseType,
}

/// Scanner for tags, with the declarations in scope.
pub(super) struct ScopeGuard {
    /// Lengths of the entities after expansion.
    entities: FxHashMap<String, u64>,
    budget: Rc<ResolvedBudget>,
    /// Declarations in scope, innermost last. The first one belongs to the document.
    scopes: Vec<Scope>,
    /// Declarations of the current tag.
    own: Scope,
    has_own: bool,
    /// Name of the current attribute: bytes outside of quotes since the last value.
    name: Vec<u8>,
    attribute: Attribute,
    /// Start of the current value, and its length.
    value: Vec<u8>,
    value_bytes: u64,
    attributes: u64,
    name_bytes: u64,
    has_literal: bool,
    has_triple: bool,
    /// Nesting of the open elements whose content is a triple term.
    triples: Vec<usize>,
    /// Nesting of the open element whose content is an XML literal, and the bytes written for its children.
    literal: Option<usize>,
    literal_bytes: u64,
    steps: u64,
    bytes: u64,
}

/// Maximum number of bytes of a name, and of a value, that are held. Longer ones are handled by their length.
const MAX_HELD_NAME: usize = 4 << 10;
const MAX_HELD_VALUE: usize = MAX_NAMESPACE_BYTES + 1;

impl ScopeGuard {
    pub(super) fn new(
        base: &str,
        entities: FxHashMap<String, u64>,
        budget: Rc<ResolvedBudget>,
    ) -> Self {
        let document = Scope {
            base: base.len() as u64,
            ..Scope::default()
        };
        Self {
            entities,
            budget,
            scopes: vec![document],
            own: document,
            has_own: false,
            name: Vec::new(),
            attribute: Attribute::Other,
            value: Vec::new(),
            value_bytes: 0,
            attributes: 0,
            name_bytes: 0,
            has_literal: false,
            has_triple: false,
            triples: Vec::new(),
            literal: None,
            literal_bytes: 0,
            steps: 0,
            bytes: 0,
        }
    }

    /// Creates a guard with a number of free steps, so that a small document reaches the limit.
    #[cfg(test)]
    pub(super) fn with_free_steps(base: &str, steps: u64) -> Self {
        Self {
            steps: MAX_FREE_STEPS - steps,
            ..Self::new(base, FxHashMap::default(), Rc::default())
        }
    }

    /// Counts bytes of the document.
    pub(super) fn count(&mut self, bytes: usize) {
        self.bytes += bytes as u64;
    }

    /// Begins a start tag.
    pub(super) fn begin_tag(&mut self) {
        self.own = self.scope();
        (self.has_own, self.has_literal, self.has_triple) = (false, false, false);
        (self.attributes, self.name_bytes) = (0, 0);
        self.name.clear();
    }

    fn scope(&self) -> Scope {
        self.scopes.last().copied().unwrap_or_default()
    }

    /// Processes bytes of a start tag outside of quotes.
    pub(super) fn continue_tag(&mut self, text: &[u8]) {
        self.name_bytes += text.len() as u64;
        let room = MAX_HELD_NAME.saturating_sub(self.name.len());
        self.name.extend_from_slice(&text[..text.len().min(room)]);
    }

    /// Processes the opening quote of a value.
    pub(super) fn begin_value(&mut self) {
        self.attributes += 1;
        self.attribute = classify_attribute(&self.name);
        self.value.clear();
        self.value_bytes = 0;
    }

    /// Processes bytes of a value.
    pub(super) fn continue_value(&mut self, text: &[u8]) {
        self.value_bytes += text.len() as u64;
        if self.attribute != Attribute::Other {
            let room = MAX_HELD_VALUE.saturating_sub(self.value.len());
            self.value.extend_from_slice(&text[..text.len().min(room)]);
        }
    }

    /// Processes the closing quote of a value.
    pub(super) fn end_value(&mut self, line: u64) -> Result<(), Refusal> {
        self.name.clear();
        let length = match self.attribute {
            Attribute::Other => return Ok(()),
            Attribute::ParseType => {
                // The value may contain entities.
                self.has_literal =
                    !matches!(&self.value[..], b"Resource" | b"Collection" | b"Triple");
                self.has_triple =
                    !matches!(&self.value[..], b"Resource" | b"Collection" | b"Literal");
                return Ok(());
            }
            _ => self.expanded_value(),
        };
        if length > MAX_NAMESPACE_BYTES as u64 {
            return Err(Refusal::NamespaceSize {
                limit: MAX_NAMESPACE_BYTES,
                line,
            });
        }
        match self.attribute {
            Attribute::Namespace { prefix_bytes } => {
                self.own.namespaces += 1;
                self.own.prefix_bytes += prefix_bytes;
                // ` xmlns:=""` has ten characters.
                self.own.attribute_bytes += prefix_bytes + self.value_bytes + 10;
                self.own.longest = self.own.longest.max(length);
                self.has_own = true;
            }
            Attribute::Base => {
                self.own.base = length;
                self.has_own = true;
            }
            Attribute::Other | Attribute::Language | Attribute::ParseType => {}
        }
        Ok(())
    }

    fn expanded_value(&self) -> u64 {
        // What is held is longer than the limit already.
        if self.value_bytes > self.value.len() as u64 {
            return self.value_bytes;
        }
        let value = String::from_utf8_lossy(&self.value);
        super::xml::expanded_length(&value, |name| self.entities.get(name).copied())
    }

    /// Processes the end of a start tag. `nesting` is the number of open elements, with this one.
    pub(super) fn end_tag(
        &mut self,
        nesting: usize,
        is_empty: bool,
        limits: (usize, u64),
    ) -> Result<(), Refusal> {
        let (token_limit, line) = limits;
        let (scope, names) = (self.own, self.attributes + 2);
        let lookup = scope.namespaces
            + (scope.prefix_bytes + scope.longest + scope.base) / BYTES_PER_STEP
            + nesting as u64 / ELEMENTS_PER_STEP;
        let duplicates = self.attributes * (self.attributes + self.name_bytes / BYTES_PER_STEP) / 2;
        self.spend(
            names.saturating_mul(lookup).saturating_add(duplicates),
            line,
        )?;
        if !self
            .budget
            .spend(usize::try_from(scope.base).unwrap_or(usize::MAX))
        {
            self.budget.check()?;
        }
        match self.literal {
            Some(level) if nesting == level + 1 => {
                self.spend(scope.namespaces.saturating_mul(scope.namespaces), line)?;
                self.literal_bytes += scope.attribute_bytes;
                if self.literal_bytes > token_limit as u64 {
                    return Err(Refusal::TokenSize {
                        limit: token_limit,
                        line,
                    });
                }
            }
            None if self.has_literal && !is_empty => {
                (self.literal, self.literal_bytes) = (Some(nesting), 0)
            }
            _ => {}
        }
        if self.has_triple && !is_empty {
            self.triples.push(nesting);
            if self.triples.len() > MAX_TRIPLE_TERM_DEPTH {
                return Err(Refusal::Nesting {
                    limit: MAX_TRIPLE_TERM_DEPTH,
                    line,
                });
            }
        }
        if self.has_own && !is_empty {
            self.scopes.push(Scope {
                nesting,
                ..self.own
            });
        }
        Ok(())
    }

    /// Processes the end of an element. `nesting` is the number of elements that are still open.
    pub(super) fn end_element(&mut self, nesting: usize) {
        while self.scopes.len() > 1 && self.scope().nesting > nesting {
            self.scopes.pop();
        }
        self.literal = self.literal.filter(|&level| level <= nesting);
        while self.triples.last().is_some_and(|&level| level > nesting) {
            self.triples.pop();
        }
    }

    fn spend(&mut self, steps: u64, line: u64) -> Result<(), Refusal> {
        self.steps = self.steps.saturating_add(steps);
        if self.steps > MAX_FREE_STEPS + MAX_STEPS_PER_BYTE * self.bytes {
            return Err(Refusal::NamespaceCount {
                namespaces: self.own.namespaces,
                attributes: self.attributes,
                line,
            });
        }
        Ok(())
    }
}

/// Returns the kind of an attribute from the bytes between the last value and its own one.
fn classify_attribute(unquoted: &[u8]) -> Attribute {
    let name = unquoted.trim_ascii_end();
    let name = name.strip_suffix(b"=").unwrap_or(name).trim_ascii_end();
    let start = match name.iter().rposition(u8::is_ascii_whitespace) {
        Some(place) => place + 1,
        None => 0,
    };
    match &name[start..] {
        b"xmlns" => Attribute::Namespace { prefix_bytes: 0 },
        b"xml:base" => Attribute::Base,
        b"xml:lang" => Attribute::Language,
        // A name that is too long to be held may begin with "xmlns:".
        _ if unquoted.len() >= MAX_HELD_NAME => Attribute::Namespace {
            prefix_bytes: unquoted.len() as u64,
        },
        name => match name.strip_prefix(b"xmlns:") {
            Some(prefix) => Attribute::Namespace {
                prefix_bytes: prefix.len() as u64,
            },
            None if may_be_parse_type(name) => Attribute::ParseType,
            None => Attribute::Other,
        },
    }
}

/// Returns true if the IRI of an attribute may be `rdf:parseType`. The namespace may contain the beginning of that name.
fn may_be_parse_type(name: &[u8]) -> bool {
    let local = match memchr::memchr(b':', name) {
        Some(colon) => &name[colon + 1..],
        None => name,
    };
    b"parseType".ends_with(local) || local.contains(&b'&')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_attributes() {
        assert!(classify_attribute(b"e:a xmlns = ") == Attribute::Namespace { prefix_bytes: 0 });
        assert!(classify_attribute(b" \n xmlns:abc=") == Attribute::Namespace { prefix_bytes: 3 });
        assert!(classify_attribute(b" xml:base\t=\n") == Attribute::Base);
        assert!(classify_attribute(b" xml:lang=") == Attribute::Language);
        assert!(classify_attribute(b" r:parseType=") == Attribute::ParseType);
        assert!(classify_attribute(b" rdf-parse:Type=") == Attribute::ParseType);
        for other in [
            &b" e:xmlns="[..],
            b" xmlnsa=",
            b" e:base=",
            b" r:parseTypes=",
            b" e:parse=",
        ] {
            assert!(
                classify_attribute(other) == Attribute::Other,
                "{}",
                String::from_utf8_lossy(other)
            );
        }
    }
}
