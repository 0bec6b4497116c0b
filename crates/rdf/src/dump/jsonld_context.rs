//! Limits on JSON-LD contexts, checked before the parser processes them.
//!
//! The parser defines terms recursively: a term whose IRI is a compact IRI is defined after its prefix. It also copies all
//! term definitions for each context inside another one, and prepends the IRI of a prefix to each term that uses it. A short
//! document can therefore need much time and memory, or the stack.
//!
//! [`ContextGuard`] reads the bytes of the document in parallel to the parser. At the end of each context it computes upper
//! bounds of the recursion, of the copies and of the lengths of IRIs.

use super::Refusal;
use rustc_hash::FxHashMap;

/// Maximum number of terms defined one by the other, including contexts inside terms. Real contexts have about three.
pub(super) const MAX_CHAIN: usize = 64;
/// Maximum length of the prefixes, vocabulary and base that can be prepended to a term, in bytes.
pub(super) const MAX_NAMESPACE_BYTES: usize = 8 << 10;
/// Maximum size of one context in bytes.
const MAX_CONTEXT_BYTES: usize = 4 << 20;
/// Number of term definitions that may be copied for any document, and additionally for each byte.
const MAX_FREE_COPIES: u64 = 4 << 20;
const MAX_COPIES_PER_BYTE: u64 = 2;
/// Upper bound of the terms of a built-in context.
const MAX_BUILT_IN_TERMS: u64 = 64;
/// Maximum length of a string that is compared with terms. A longer one counts as a term.
const MAX_TERM_BYTES: usize = 4 << 10;

/// Open object or array of the document.
#[derive(Default)]
struct Container {
    is_object: bool,
    /// If true, the next string is a key.
    expects_key: bool,
    /// If true, the current value is a context.
    in_context: bool,
    /// Terms and namespace bytes that the contexts of this object add.
    terms: u64,
    namespace: usize,
    /// Number of terms with a context before this object.
    scoped: usize,
    /// Number of strings, and of contexts, in this object so far.
    strings: u64,
    contexts: u64,
}

/// Scanner for contexts, with the bounds of the contexts that are active.
pub(super) struct ContextGuard {
    open: Vec<Container>,
    /// Bytes of the current string, without quotes.
    string: Vec<u8>,
    /// Bytes of the current context, and number of its open brackets.
    context: Vec<u8>,
    depth: usize,
    terms: u64,
    namespace: usize,
    /// Terms with their own context: in the order of definition, and with their number.
    scoped: Vec<Vec<u8>>,
    scoped_counts: FxHashMap<Vec<u8>, u32>,
    copies: u64,
    bytes: u64,
}

impl ContextGuard {
    pub(super) fn new() -> Self {
        Self {
            open: Vec::new(),
            string: Vec::new(),
            context: Vec::new(),
            depth: 0,
            terms: 0,
            namespace: 0,
            scoped: Vec::new(),
            scoped_counts: FxHashMap::default(),
            copies: 0,
            bytes: 0,
        }
    }

    /// Processes a byte. `in_string` is the state before and after it.
    ///
    /// Returns the number of bytes that the parser may additionally need in memory because of this byte.
    pub(super) fn byte(
        &mut self,
        byte: u8,
        in_string: (bool, bool),
        line: u64,
    ) -> Result<u64, Refusal> {
        self.bytes += 1;
        if self.depth > 0 {
            return self.context_byte(byte, in_string, line);
        }
        match in_string {
            (true, true) => {
                if self.string.len() < MAX_TERM_BYTES {
                    self.string.push(byte);
                }
                Ok(0)
            }
            (true, false) => self.end_of_string(line),
            (false, true) => {
                self.string.clear();
                Ok(0)
            }
            (false, false) => self.mark(byte, line),
        }
    }

    fn mark(&mut self, byte: u8, line: u64) -> Result<u64, Refusal> {
        let in_context = self.open.last().is_some_and(|object| object.in_context);
        match byte {
            b'{' | b'[' if in_context => {
                self.context.clear();
                self.context.push(byte);
                self.depth = 1;
            }
            b'{' | b'[' => self.open.push(Container {
                is_object: byte == b'{',
                expects_key: byte == b'{',
                scoped: self.scoped.len(),
                ..Container::default()
            }),
            b'}' | b']' => self.close(),
            b',' => {
                if let Some(object) = self.open.last_mut() {
                    object.expects_key = object.is_object;
                    object.in_context = false;
                }
            }
            // A context copies the active one, also if it is null or a string.
            b':' if in_context => return self.copy(1, line),
            _ => {}
        }
        Ok(0)
    }

    fn close(&mut self) {
        let Some(closed) = self.open.pop() else {
            return;
        };
        // Both were added with the contexts of this object, so nothing underflows.
        self.terms -= closed.terms;
        self.namespace -= closed.namespace;
        for term in self.scoped.drain(closed.scoped..) {
            if let Some(count) = self.scoped_counts.get_mut(&term) {
                *count -= 1;
                if *count == 0 {
                    self.scoped_counts.remove(&term);
                }
            }
        }
        // They precede a context that may follow in the outer object.
        if let Some(outer) = self.open.last_mut() {
            outer.strings += closed.strings;
            outer.contexts += closed.contexts;
        }
    }

    fn end_of_string(&mut self, line: u64) -> Result<u64, Refusal> {
        let uses_scoped = !self.scoped.is_empty()
            && (self.string.len() >= MAX_TERM_BYTES
                || self.scoped_counts.contains_key(&unescape(&self.string)));
        let Some(object) = self.open.last_mut() else {
            return Ok(0);
        };
        object.strings += 1;
        if object.expects_key {
            object.expects_key = false;
            // A key may have escapes.
            object.in_context = unescape(&self.string) == b"@context";
        } else if object.in_context {
            // The context is given by its IRI.
            object.terms += MAX_BUILT_IN_TERMS;
            object.contexts += 1;
            self.terms += MAX_BUILT_IN_TERMS;
        }
        if uses_scoped {
            self.copy(2, line)?;
        }
        Ok(self.excess())
    }

    /// Number of bytes by which an IRI may be longer than usual.
    fn excess(&self) -> u64 {
        self.namespace.saturating_sub(128) as u64
    }

    fn copy(&mut self, times: u64, line: u64) -> Result<u64, Refusal> {
        self.copies = self.copies.saturating_add(times.saturating_mul(self.terms));
        if self.copies > MAX_FREE_COPIES + MAX_COPIES_PER_BYTE * self.bytes {
            let reason = format!(
                "contexts inside contexts need more than {} copies of term definitions",
                self.copies
            );
            return Err(Refusal::Context { reason, line });
        }
        Ok(0)
    }

    fn context_byte(
        &mut self,
        byte: u8,
        in_string: (bool, bool),
        line: u64,
    ) -> Result<u64, Refusal> {
        self.context.push(byte);
        if self.context.len() > MAX_CONTEXT_BYTES {
            return Err(Refusal::Context {
                reason: format!("it is longer than {MAX_CONTEXT_BYTES} bytes"),
                line,
            });
        }
        if in_string == (false, false) {
            match byte {
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth -= 1,
                _ => {}
            }
        }
        if self.depth > 0 {
            Ok(0)
        } else {
            self.end_of_context(line)
        }
    }

    fn end_of_context(&mut self, line: u64) -> Result<u64, Refusal> {
        let bytes = std::mem::take(&mut self.context);
        let mut scoped = Vec::new();
        let size = context_size(
            &JsonReader {
                bytes: &bytes,
                place: 0,
            }
            .value(),
            &mut scoped,
        );
        self.context = bytes;
        if size.chain > MAX_CHAIN {
            let reason = format!(
                "up to {} terms are defined one by the other (limit {MAX_CHAIN}); use absolute IRIs as prefixes",
                size.chain
            );
            return Err(Refusal::Context { reason, line });
        }
        self.copy(size.contexts, line)?;
        // The last call of `copy` below checks it.
        self.copies += size.copies;
        self.terms += size.terms;
        self.namespace += size.namespace;
        if self.namespace > MAX_NAMESPACE_BYTES {
            let reason = format!(
                "its prefixes, vocabulary and base have up to {} bytes together (limit {MAX_NAMESPACE_BYTES}); use shorter \
                 IRIs",
                self.namespace
            );
            return Err(Refusal::Context { reason, line });
        }
        let (mut times, mut earlier) = (0, 0);
        if let Some(object) = self.open.last_mut() {
            object.in_context = false;
            object.terms += size.terms;
            object.namespace += size.namespace;
            // The parser may process members before the context with this context.
            times = object.contexts + if scoped.is_empty() { 0 } else { object.strings };
            earlier = object.strings;
            object.contexts += size.contexts;
        }
        for term in scoped {
            *self.scoped_counts.entry(term.clone()).or_default() += 1;
            self.scoped.push(term);
        }
        self.copy(times, line)?;
        Ok(earlier.saturating_mul(self.excess()))
    }
}

/// Value of a context.
enum Json {
    String(Vec<u8>),
    Array(Vec<Json>),
    Object(Vec<(Vec<u8>, Json)>),
    Other,
}

/// Reader of the JSON of a context. It accepts malformed JSON, because the parser reports the errors.
struct JsonReader<'t> {
    bytes: &'t [u8],
    place: usize,
}

impl JsonReader<'_> {
    /// Reads a value. The recursion is limited by the nesting of the document.
    fn value(&mut self) -> Json {
        while let Some(&byte) = self.bytes.get(self.place) {
            self.place += 1;
            match byte {
                b'"' => return Json::String(self.string()),
                b'[' => return Json::Array(self.array()),
                b'{' => return Json::Object(self.object()),
                b',' | b']' | b'}' => {
                    // The mark belongs to the array or object around the value.
                    self.place -= 1;
                    return Json::Other;
                }
                _ => {}
            }
        }
        Json::Other
    }

    fn string(&mut self) -> Vec<u8> {
        let start = self.place;
        while let Some(&byte) = self.bytes.get(self.place) {
            self.place += 1;
            match byte {
                b'\\' => self.place += 1,
                b'"' => return unescape(&self.bytes[start..self.place - 1]),
                _ => {}
            }
        }
        Vec::new()
    }

    /// Skips to the next member. Returns false at the end of the array or object.
    fn next(&mut self) -> bool {
        while let Some(&byte) = self.bytes.get(self.place) {
            match byte {
                b']' | b'}' => {
                    self.place += 1;
                    return false;
                }
                b',' | b':' => self.place += 1,
                byte if byte.is_ascii_whitespace() => self.place += 1,
                _ => return true,
            }
        }
        false
    }

    fn array(&mut self) -> Vec<Json> {
        let mut values = Vec::new();
        while self.next() {
            values.push(self.value());
        }
        values
    }

    fn object(&mut self) -> Vec<(Vec<u8>, Json)> {
        let mut members = Vec::new();
        while self.next() {
            match self.value() {
                Json::String(key) => members.push((key, self.value())),
                _ => self.place += usize::from(self.bytes.get(self.place) == Some(&b',')),
            }
        }
        members
    }
}

/// Replaces the escapes of a JSON string.
fn unescape(string: &[u8]) -> Vec<u8> {
    if !string.contains(&b'\\') {
        return string.to_vec();
    }
    let mut out = Vec::with_capacity(string.len());
    let mut units = Vec::new();
    let mut place = 0;
    while let Some(&byte) = string.get(place) {
        let escaped = string.get(place + 1).copied().filter(|_| byte == b'\\');
        let unit = escaped
            .filter(|&kind| kind == b'u')
            .and_then(|_| std::str::from_utf8(string.get(place + 2..place + 6)?).ok())
            .and_then(|digits| u16::from_str_radix(digits, 16).ok());
        if let Some(unit) = unit {
            // A character may be a pair of surrogates.
            units.push(unit);
            place += 6;
            continue;
        }
        flush_units(&mut units, &mut out);
        let plain = match escaped {
            Some(b'n') => b'\n',
            Some(b't') => b'\t',
            Some(b'r') => b'\r',
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(other) => other,
            None => byte,
        };
        out.push(plain);
        place += 1 + usize::from(escaped.is_some());
    }
    flush_units(&mut units, &mut out);
    out
}

fn flush_units(units: &mut Vec<u16>, out: &mut Vec<u8>) {
    if !units.is_empty() {
        out.extend_from_slice(String::from_utf16_lossy(units).as_bytes());
        units.clear();
    }
}

/// Upper bounds of what a context needs.
#[derive(Default)]
struct ContextSize {
    /// Number of terms that are defined recursively.
    chain: usize,
    /// Number of terms, with those of contexts inside.
    terms: u64,
    /// Number of contexts, with those inside.
    contexts: u64,
    /// Number of copies of the terms of this context.
    copies: u64,
    /// Maximum number of bytes that are prepended to a term.
    namespace: usize,
}

fn context_size(context: &Json, scoped: &mut Vec<Vec<u8>>) -> ContextSize {
    match context {
        Json::Array(contexts) => {
            let mut size = ContextSize::default();
            for context in contexts {
                let next = context_size(context, scoped);
                // A context in an array copies the terms of those before it.
                size.copies += next.copies + next.contexts * size.terms;
                size.chain = size.chain.max(next.chain);
                size.terms += next.terms;
                size.contexts += next.contexts;
                size.namespace += next.namespace;
            }
            size
        }
        Json::Object(members) => object_size(members, scoped),
        Json::String(_) => ContextSize {
            terms: MAX_BUILT_IN_TERMS,
            contexts: 1,
            ..ContextSize::default()
        },
        Json::Other => ContextSize {
            contexts: 1,
            ..ContextSize::default()
        },
    }
}

fn object_size(members: &[(Vec<u8>, Json)], scoped: &mut Vec<Vec<u8>>) -> ContextSize {
    let mut size = ContextSize {
        contexts: 1,
        terms: members.len() as u64,
        ..ContextSize::default()
    };
    let mut names: FxHashMap<&[u8], usize> = FxHashMap::default();
    for (name, _) in members {
        let next = names.len();
        names.entry(name).or_insert(next);
    }
    let mut needs = vec![Vec::new(); names.len()];
    let mut lengths = vec![0; names.len()];
    let (mut inner_chain, mut inner_namespace, mut settings) = (0, 0, 0);
    for (name, definition) in members {
        let term = names[&name[..]];
        add_needs(name, &names, &mut needs[term]);
        let mut values: Vec<&[u8]> = Vec::new();
        match definition {
            Json::String(value) => values.push(value),
            Json::Object(parts) => {
                for (key, part) in parts {
                    match part {
                        Json::String(value) if key != b"@context" => values.push(value),
                        _ if key == b"@context" => {
                            let inner = context_size(part, scoped);
                            scoped.push(name.clone());
                            size.copies +=
                                inner.copies + inner.contexts * members.len() as u64 + inner.terms;
                            size.terms += inner.terms;
                            size.contexts += inner.contexts;
                            inner_chain = inner_chain.max(inner.chain + 1);
                            inner_namespace = inner_namespace.max(inner.namespace);
                        }
                        _ => {}
                    }
                }
            }
            Json::Array(_) | Json::Other => {}
        }
        for value in &values {
            add_needs(value, &names, &mut needs[term]);
            lengths[term] = lengths[term].max(value.len());
        }
        if matches!(&name[..], b"@vocab" | b"@base") {
            settings += lengths[term];
        }
    }
    size.chain = longest_chain(&needs, &vec![1; needs.len()]) + inner_chain;
    size.namespace = longest_chain(&needs, &lengths) + settings + inner_namespace;
    size
}

/// Adds the terms of a context that a term or IRI needs: itself, and its prefix.
fn add_needs(iri: &[u8], names: &FxHashMap<&[u8], usize>, needs: &mut Vec<usize>) {
    needs.extend(names.get(iri));
    let colon = memchr::memchr(b':', iri);
    needs.extend(colon.and_then(|colon| names.get(&iri[..colon])));
    // A term may begin with a colon; its prefix is then up to the next one.
    let after = iri
        .strip_prefix(b":")
        .and_then(|rest| Some(&rest[..memchr::memchr(b':', rest)?]));
    needs.extend(after.and_then(|prefix| names.get(prefix)));
}

/// Returns an upper bound of the weight of a path in the graph of terms, without recursion.
///
/// Terms that need no others are removed first, then terms that no others need. Only cycles, and terms between them, remain;
/// these are counted as one path.
fn longest_chain(needs: &[Vec<usize>], weights: &[usize]) -> usize {
    let mut needed_by = vec![Vec::new(); needs.len()];
    for (term, needed) in needs.iter().enumerate() {
        for &other in needed.iter().filter(|&&other| other != term) {
            needed_by[other].push(term);
        }
    }
    let mut remains = vec![true; needs.len()];
    let from_below = remove_sinks(needs, &needed_by, weights, &mut remains);
    if remains.iter().all(|remains| !remains) {
        return from_below;
    }
    let from_above = remove_sinks(&needed_by, needs, weights, &mut remains);
    let cycles: usize = weights
        .iter()
        .zip(&remains)
        .filter(|(_, remains)| **remains)
        .map(|(weight, _)| weight)
        .sum();
    from_below + from_above + cycles
}

/// Removes the nodes without remaining successors until there are none. Returns the weight of the longest path among them.
fn remove_sinks(
    next: &[Vec<usize>],
    previous: &[Vec<usize>],
    weights: &[usize],
    remains: &mut [bool],
) -> usize {
    let mut open = Vec::with_capacity(next.len());
    for (node, successors) in next.iter().enumerate() {
        let remaining = successors
            .iter()
            .filter(|&&other| other != node && remains[other]);
        open.push(remaining.count());
    }
    let mut ready: Vec<usize> = (0..next.len())
        .filter(|&node| remains[node] && open[node] == 0)
        .collect();
    let mut longest = vec![0; next.len()];
    let mut best = 0;
    while let Some(node) = ready.pop() {
        remains[node] = false;
        let total = longest[node] + weights[node];
        best = best.max(total);
        for &other in previous[node]
            .iter()
            .filter(|&&other| other != node && remains[other])
        {
            longest[other] = longest[other].max(total);
            open[other] -= 1;
            if open[other] == 0 {
                ready.push(other);
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(context: &str) -> usize {
        context_size(
            &JsonReader {
                bytes: context.as_bytes(),
                place: 0,
            }
            .value(),
            &mut Vec::new(),
        )
        .chain
    }

    #[test]
    fn chains_of_terms() {
        assert_eq!(
            chain(r#"{"a": "http://e/", "b": "a:x", "c": {"@id": "b:x", "@type": "@id"}}"#),
            3
        );
        assert_eq!(
            chain(r#"{"a": "http://e/", "\u0062": "a:x", "c": {"@id": "b", "@type": "c:x"}}"#),
            3
        );
        assert_eq!(
            chain(r#"{"a": "b:x", "b": "c:x", "c": "a:x", "d": "a:x"}"#),
            4
        );
        assert_eq!(
            chain(r#"[{"a": "http://e/"}, null, {"b": "a:x"}, "http://e/c"]"#),
            1
        );
        assert_eq!(
            chain(r#"{"a": {"@id": "http://e/a", "@context": {"b": "http://e/", "c": "b:x"}}}"#),
            4
        );
        assert_eq!(chain(r#"{"a": [1, tru"#), 1);
    }
}
