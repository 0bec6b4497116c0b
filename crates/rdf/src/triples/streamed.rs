//! Graphs that exceed memory, read sequentially from their compact form.
//!
//! A [`StreamedGraph`] has the term numbers and the order of triples of the [`TripleGraph`] with the same compact form. Its
//! terms and triples are read one after the other. [`StreamedGraph::select`] and [`StreamedGraph::parts`] give
//! [`TripleGraph`]s of some of its triples. Term numbers are in the order of terms, so their order is the same there.
//!
//! Triple terms (RDF 1.2) are not supported: [`StreamedGraph::open`] rejects graphs with them.

use super::runs::MAX_COMPACT_BYTES;
use super::{Key, Kind, TermId, TermRef, TermTable, Triple, TripleGraph, from_key};
use std::cmp::Ordering;
use std::io::{self, BufRead, BufReader, Error, ErrorKind, Read};

/// Buffer of a cursor in bytes.
const BUFFER_BYTES: usize = 1 << 16;
/// Maximum length of a term's text and suffix together in bytes, as in the dump reader.
const MAX_TERM_BYTES: u64 = 64 << 20;

/// Opened compact form of a graph.
pub type CompactSource = Box<dyn Read + Send>;

/// Graph in its compact form, which is read sequentially as often as necessary. See the module documentation.
///
/// ```
/// use lodeseek_rdf::{StreamedGraph, TripleGraphBuilder};
/// use oxrdf::{NamedNodeRef, TripleRef};
///
/// let iri = NamedNodeRef::new_unchecked;
/// let mut builder = TripleGraphBuilder::new();
/// builder.insert(TripleRef::new(iri("ex:b"), iri("ex:p"), iri("ex:a")));
/// let graph = builder.finish();
/// let compact = graph.to_compact();
/// let streamed = StreamedGraph::open(move || Ok(Box::new(std::io::Cursor::new(compact.clone()))))?;
/// assert_eq!(streamed.len(), 1);
/// let triples = streamed.triples()?.collect::<Result<Vec<_>, _>>()?;
/// assert_eq!(triples, graph.triples());
/// # Ok::<_, std::io::Error>(())
/// ```
pub struct StreamedGraph {
    open: Box<dyn Fn() -> io::Result<CompactSource> + Send + Sync>,
    term_count: u32,
    first_blank: u32,
    first_literal: u32,
    triple_count: u64,
}

impl std::fmt::Debug for StreamedGraph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StreamedGraph")
            .field("terms", &self.term_count)
            .field("triples", &self.triple_count)
            .finish()
    }
}

impl StreamedGraph {
    /// Opens a graph. `open` returns its compact form from the beginning, at each call.
    ///
    /// # Errors
    /// If the compact form cannot be read, or if it is malformed; [`ErrorKind::Unsupported`] if it has triple terms.
    pub fn open(
        open: impl Fn() -> io::Result<CompactSource> + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let mut input = buffer_source(open()?);
        let header = Header::read(&mut input)?;
        skip(&mut input, header.arena)?;
        let triple_count = read_number(&mut input)?;
        // A triple is three numbers. Only triple terms follow the triples.
        let numbers = count_numbers(&mut input)?;
        match triple_count
            .checked_mul(3)
            .map(|expected| numbers.cmp(&expected))
        {
            Some(Ordering::Equal) => {}
            Some(Ordering::Greater) => return Err(unsupported_triple_terms()),
            Some(Ordering::Less) | None => return Err(malformed_graph("triples are missing")),
        }
        let Header {
            term_count,
            first_blank,
            first_literal,
            ..
        } = header;
        Ok(Self {
            open: Box::new(open),
            term_count,
            first_blank,
            first_literal,
            triple_count,
        })
    }

    /// Returns the number of distinct triples.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.triple_count
    }

    /// Returns true if the graph has no triples.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.triple_count == 0
    }

    /// Returns the number of distinct terms.
    #[must_use]
    pub fn term_count(&self) -> usize {
        self.term_count as usize
    }

    /// Returns true if the term is a literal.
    #[must_use]
    pub fn is_literal(&self, id: TermId) -> bool {
        id.0 >= self.first_literal
    }

    /// Returns true if the term is an IRI or a blank node.
    #[must_use]
    pub fn is_resource(&self, id: TermId) -> bool {
        id.0 < self.first_literal
    }

    /// Returns true if the term is an IRI.
    #[must_use]
    pub fn is_iri(&self, id: TermId) -> bool {
        id.0 < self.first_blank
    }

    /// Returns the number of literals.
    #[must_use]
    pub fn literal_count(&self) -> u64 {
        u64::from(self.term_count - self.first_literal)
    }

    /// Returns a cursor over all terms, sorted.
    ///
    /// # Errors
    /// If the compact form cannot be read.
    pub fn terms(&self) -> io::Result<TermCursor> {
        TermCursor::new((self.open)()?, (self.open)()?)
    }

    /// Iterates over all triples, sorted.
    ///
    /// # Errors
    /// If the compact form cannot be read.
    pub fn triples(&self) -> io::Result<TripleCursor> {
        TripleCursor::open((self.open)()?)
    }

    /// Returns the identifier of an IRI, if it occurs. Reads terms up to this IRI.
    ///
    /// # Errors
    /// If the compact form cannot be read.
    pub fn iri(&self, iri: &str) -> io::Result<Option<TermId>> {
        let mut terms = self.terms()?;
        while let Some((id, term)) = terms.next_term()? {
            match term {
                TermRef::Iri(text) if text < iri => {}
                TermRef::Iri(text) if text == iri => return Ok(Some(id)),
                // IRIs come first and are sorted, so the IRI cannot follow.
                _ => return Ok(None),
            }
        }
        Ok(None)
    }

    /// Returns a graph of some triples, which must be sorted and distinct, and for each of its terms the identifier here. `None` if
    /// the texts of its terms have more than `bytes` bytes.
    ///
    /// # Errors
    /// If the compact form cannot be read, or lacks a term.
    pub fn select(
        &self,
        triples: &[Triple],
        bytes: u64,
    ) -> io::Result<Option<(TripleGraph, Vec<TermId>)>> {
        let mut ids: Vec<TermId> = Vec::with_capacity(2 * triples.len());
        for triple in triples {
            if ids.last() != Some(&triple.subject) {
                ids.push(triple.subject);
            }
            ids.push(triple.object);
        }
        // Predicates are few: sorted on their own, they do not make `ids` longer by one for each triple.
        let mut predicates: Vec<TermId> = triples.iter().map(|triple| triple.predicate).collect();
        predicates.sort_unstable();
        predicates.dedup();
        ids.extend(predicates);
        ids.sort_unstable();
        ids.dedup();
        let Some(terms) = self.term_table(&ids, bytes)? else {
            return Ok(None);
        };
        let mut last: Option<(TermId, TermId)> = None;
        let mut triples = triples.to_vec();
        for triple in &mut triples {
            let subject = match last {
                Some((global, local)) if global == triple.subject => local,
                _ => local_id(&ids, triple.subject),
            };
            last = Some((triple.subject, subject));
            *triple = Triple {
                subject,
                predicate: local_id(&ids, triple.predicate),
                object: local_id(&ids, triple.object),
            };
        }
        Ok(Some((
            // The order of identifiers is the same here, so the triples are still sorted.
            TripleGraph::from_parts(terms, Vec::new(), triples),
            ids,
        )))
    }

    /// Returns a graph of some terms without triples. The identifier of each term there is its index in `ids`, which must be
    /// sorted and distinct.
    ///
    /// # Errors
    /// If the compact form cannot be read, or lacks a term.
    pub fn select_terms(&self, ids: &[TermId]) -> io::Result<TripleGraph> {
        let terms = self.term_table(ids, u64::MAX)?.unwrap_or_default();
        Ok(TripleGraph::from_parts(terms, Vec::new(), Vec::new()))
    }

    /// Returns the texts of terms; `None` if they have more than `bytes` bytes.
    fn term_table(&self, ids: &[TermId], bytes: u64) -> io::Result<Option<TermTable>> {
        let mut table = TermTable::default();
        let mut terms = self.terms()?;
        let mut left = bytes;
        for id in ids {
            terms.skip_to(*id)?;
            let (_, (kind, text, suffix)) = terms
                .next_key()?
                .ok_or_else(|| malformed_graph("a term is missing"))?;
            match left.checked_sub((text.len() + suffix.len()) as u64) {
                Some(rest) => left = rest,
                None => return Ok(None),
            }
            table.push(text, suffix, kind);
        }
        Ok(Some(table))
    }

    /// Returns graphs of consecutive triples, which together have all triples: see [`GraphParts`].
    ///
    /// # Errors
    /// If the compact form cannot be read.
    pub fn parts(
        &self,
        most: usize,
    ) -> io::Result<impl Iterator<Item = io::Result<TripleGraph>> + '_> {
        let mut parts = GraphParts::new(self, most)?;
        Ok(std::iter::from_fn(move || {
            parts.next_part(self).transpose()
        }))
    }
}

/// Cursor over the parts of a [`StreamedGraph`]: graphs of at most `most` consecutive triples, and 128 MiB of texts. A triple that
/// exceeds this is a part. Each part takes a pass over the terms, and another one each time that the number of triples is halved.
pub struct GraphParts {
    triples: TripleCursor,
    most: usize,
    /// Number of triples that the next part is tried with.
    tried: usize,
    /// Maximum size of the texts of a part.
    bytes: u64,
    /// Triples that were read and do not belong to a part yet.
    waiting: Vec<Triple>,
}

impl GraphParts {
    /// Begins before the first triple.
    ///
    /// # Errors
    /// If the compact form cannot be read.
    pub fn new(graph: &StreamedGraph, most: usize) -> io::Result<Self> {
        Ok(Self {
            triples: graph.triples()?,
            most,
            tried: most,
            bytes: MAX_COMPACT_BYTES as u64,
            waiting: Vec::new(),
        })
    }

    /// Returns the next part of the graph; `None` after the last one, and after an error.
    ///
    /// # Errors
    /// If the compact form cannot be read.
    pub fn next_part(&mut self, graph: &StreamedGraph) -> io::Result<Option<TripleGraph>> {
        let part = self.read_part(graph);
        if part.is_err() {
            (self.most, self.waiting) = (0, Vec::new());
        }
        part
    }

    fn read_part(&mut self, graph: &StreamedGraph) -> io::Result<Option<TripleGraph>> {
        if self.waiting.is_empty() {
            self.waiting = self
                .triples
                .by_ref()
                .take(self.most)
                .collect::<io::Result<_>>()?;
        }
        let tried = self.waiting.len().min(self.tried);
        let mut length = tried;
        while length > 0 {
            // A single triple is taken whatever its size, so that reading goes on and the loop ends.
            let bytes = if length == 1 { u64::MAX } else { self.bytes };
            if let Some((part, _)) = graph.select(&self.waiting[..length], bytes)? {
                self.waiting.drain(..length);
                // Each attempt reads terms again, so the next part begins with a number of triples that is likely to
                // fit.
                self.tried = if length < tried {
                    length
                } else {
                    self.tried.max(length.saturating_mul(2))
                };
                return Ok(Some(part));
            }
            length = length.div_ceil(2);
        }
        Ok(None)
    }
}

/// Numbers before the texts in the compact form.
struct Header {
    term_count: u32,
    first_blank: u32,
    first_literal: u32,
    /// Bytes of all texts.
    arena: u64,
}

impl Header {
    fn read(input: &mut impl BufRead) -> io::Result<Self> {
        let term_count = read_u32(input, "too many terms")?;
        let (mut iris, mut blanks, mut bytes) = (0, 0, 0_u64);
        for _ in 0..term_count {
            let size = TermSize::read(input)?;
            match size.kind {
                Kind::Iri => iris += 1,
                Kind::Blank => blanks += 1,
                _ => {}
            }
            // At most 2³² terms of 64 MiB each: the sum fits in 64 bits.
            bytes += size.bytes();
        }
        let arena = read_number(input)?;
        if arena != bytes {
            return Err(malformed_graph("the texts have another length"));
        }
        // Terms are sorted by kind, so these counts are positions.
        Ok(Self {
            term_count,
            first_blank: iris,
            first_literal: iris + blanks,
            arena,
        })
    }
}

/// Kind and lengths of a term.
#[derive(Clone, Copy)]
struct TermSize {
    kind: Kind,
    text: u32,
    suffix: u32,
}

impl TermSize {
    fn read(input: &mut impl BufRead) -> io::Result<Self> {
        let kind = Kind::from_byte(read_byte(input)?)
            .ok_or_else(|| malformed_graph("an unknown kind of term"))?;
        let size = Self {
            kind,
            text: read_u32(input, "a term is too long")?,
            suffix: read_u32(input, "a term is too long")?,
        };
        // So many bytes are allocated before they are read.
        if size.bytes() > MAX_TERM_BYTES {
            return Err(malformed_graph("a term is too long"));
        }
        Ok(size)
    }

    fn bytes(self) -> u64 {
        u64::from(self.text) + u64::from(self.suffix)
    }
}

/// Cursor over the terms of a [`StreamedGraph`].
pub struct TermCursor {
    sizes: BufReader<CompactSource>,
    texts: BufReader<CompactSource>,
    next: u32,
    end: u32,
    bytes: Vec<u8>,
}

impl TermCursor {
    /// Creates a cursor from two readers of the same compact form: one for the lengths, one for the texts.
    pub(super) fn new(sizes: CompactSource, texts: CompactSource) -> io::Result<Self> {
        let (mut sizes, mut texts) = (buffer_source(sizes), buffer_source(texts));
        // The texts follow the lengths.
        Header::read(&mut texts)?;
        let end = read_u32(&mut sizes, "too many terms")?;
        Ok(Self {
            sizes,
            texts,
            next: 0,
            end,
            bytes: Vec::new(),
        })
    }

    /// Returns the next term and its identifier; `None` after the last one.
    ///
    /// # Errors
    /// If the compact form cannot be read, or if it is malformed.
    pub fn next_term(&mut self) -> io::Result<Option<(TermId, TermRef<'_>)>> {
        Ok(self.next_key()?.map(|(id, key)| (id, from_key(key))))
    }

    /// Returns the next term as its kind, text and suffix.
    pub(super) fn next_key(&mut self) -> io::Result<Option<(TermId, Key<'_>)>> {
        if self.next == self.end {
            return Ok(None);
        }
        let size = TermSize::read(&mut self.sizes)?;
        self.bytes.resize(size.bytes() as usize, 0);
        self.texts.read_exact(&mut self.bytes)?;
        let id = TermId(self.next);
        self.next += 1;
        let bytes =
            std::str::from_utf8(&self.bytes).map_err(|_| malformed_graph("a text is not UTF-8"))?;
        let parts = bytes.split_at_checked(size.text as usize);
        let (text, suffix) =
            parts.ok_or_else(|| malformed_graph("a text ends inside a character"))?;
        Ok(Some((id, (size.kind, text, suffix))))
    }

    /// Skips the terms before an identifier.
    fn skip_to(&mut self, id: TermId) -> io::Result<()> {
        let mut bytes = 0;
        while self.next < id.0.min(self.end) {
            bytes += TermSize::read(&mut self.sizes)?.bytes();
            self.next += 1;
        }
        skip(&mut self.texts, bytes)
    }
}

/// Iterator over the triples of a [`StreamedGraph`].
pub struct TripleCursor {
    input: BufReader<CompactSource>,
    left: u64,
    term_count: u32,
    subject: u32,
    predicate: u32,
}

impl TripleCursor {
    /// Opens a compact form at its first triple.
    pub(super) fn open(source: CompactSource) -> io::Result<Self> {
        let mut input = buffer_source(source);
        let header = Header::read(&mut input)?;
        skip(&mut input, header.arena)?;
        Self::new(input, header.term_count)
    }

    /// Creates a cursor from a reader of the number of triples and the triples.
    pub(super) fn new(mut input: BufReader<CompactSource>, term_count: u32) -> io::Result<Self> {
        let left = read_number(&mut input)?;
        Ok(Self {
            input,
            left,
            term_count,
            subject: 0,
            predicate: 0,
        })
    }

    /// Returns the number of triples that follow.
    pub(super) fn remaining(&self) -> u64 {
        self.left
    }

    fn read(&mut self) -> io::Result<Triple> {
        let step = read_u32(&mut self.input, "a term number")?;
        if step != 0 {
            self.subject = self
                .subject
                .checked_add(step)
                .ok_or_else(malformed_term_number)?;
            self.predicate = 0;
        }
        let step = read_u32(&mut self.input, "a term number")?;
        self.predicate = self
            .predicate
            .checked_add(step)
            .ok_or_else(malformed_term_number)?;
        let object = read_u32(&mut self.input, "a term number")?;
        if [self.subject, self.predicate, object]
            .iter()
            .any(|id| *id >= self.term_count)
        {
            return Err(malformed_term_number());
        }
        Ok(Triple {
            subject: TermId(self.subject),
            predicate: TermId(self.predicate),
            object: TermId(object),
        })
    }
}

impl Iterator for TripleCursor {
    type Item = io::Result<Triple>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let triple = self.read();
        if triple.is_err() {
            // The position in the bytes is uncertain.
            self.left = 0;
        }
        Some(triple)
    }
}

pub(super) fn buffer_source(source: CompactSource) -> BufReader<CompactSource> {
    BufReader::with_capacity(BUFFER_BYTES, source)
}

fn malformed_graph(problem: &str) -> Error {
    Error::new(
        ErrorKind::InvalidData,
        format!("malformed compact graph: {problem}"),
    )
}

fn malformed_term_number() -> Error {
    malformed_graph("a term number")
}

/// Returns the error for triple terms in a graph that exceeds memory.
pub(super) fn unsupported_triple_terms() -> Error {
    Error::new(
        ErrorKind::Unsupported,
        "triple terms of RDF 1.2 are not supported in a graph that exceeds memory",
    )
}

/// Counts the numbers in LEB128 up to the end: their last bytes have no mark.
fn count_numbers(input: &mut impl BufRead) -> io::Result<u64> {
    let mut count = 0;
    loop {
        let bytes = input.fill_buf()?;
        if bytes.is_empty() {
            return Ok(count);
        }
        count += bytes.iter().filter(|byte| **byte < 0x80).count() as u64;
        let length = bytes.len();
        input.consume(length);
    }
}

/// Returns the position of a term in `ids`, which are sorted and contain it.
fn local_id(ids: &[TermId], id: TermId) -> TermId {
    TermId(ids.partition_point(|other| *other < id) as u32)
}

/// Reads a number in LEB128. `problem` is the text of the error if it has more than 32 bits.
fn read_u32(input: &mut impl BufRead, problem: &str) -> io::Result<u32> {
    u32::try_from(read_number(input)?).map_err(|_| malformed_graph(problem))
}

fn read_byte(input: &mut impl BufRead) -> io::Result<u8> {
    let byte = input
        .fill_buf()?
        .first()
        .copied()
        .ok_or(ErrorKind::UnexpectedEof)?;
    input.consume(1);
    Ok(byte)
}

/// Reads a number in LEB128.
pub(super) fn read_number(input: &mut impl BufRead) -> io::Result<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = read_byte(input)?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err(malformed_graph("a number is too long"))
}

fn skip(input: &mut impl BufRead, mut bytes: u64) -> io::Result<()> {
    while bytes > 0 {
        let available = input.fill_buf()?.len();
        if available == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        let step = bytes.min(available as u64);
        input.consume(step as usize);
        bytes -= step;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TripleGraphBuilder;
    use oxrdf::{LiteralRef, NamedNodeRef, TripleRef};

    #[test]
    fn parts_are_limited_by_the_size_of_texts() {
        let iri = NamedNodeRef::new_unchecked;
        let mut builder = TripleGraphBuilder::new();
        for length in 1..=20 {
            let text = "a".repeat(10 * length);
            builder.insert(TripleRef::new(
                iri("e:s"),
                iri("e:p"),
                LiteralRef::new_simple_literal(&text),
            ));
        }
        let graph = builder.finish();
        let compact = graph.to_compact();
        let streamed = StreamedGraph::open(move || Ok(Box::new(io::Cursor::new(compact.clone()))))
            .expect("opened");
        for bytes in [0, 50, 250, 10_000] {
            let mut parts = GraphParts {
                bytes,
                ..GraphParts::new(&streamed, 7).expect("opened")
            };
            let mut all = Vec::new();
            while let Some(part) = parts.next_part(&streamed).expect("read") {
                let triples: Vec<_> = part
                    .triples()
                    .iter()
                    .map(|triple| part.to_triple(*triple))
                    .collect();
                let size: usize = triples
                    .iter()
                    .map(|triple| triple.object.to_string().len())
                    .sum();
                assert!(
                    (1..=7).contains(&triples.len())
                        && (triples.len() == 1 || size as u64 <= bytes + 14),
                    "{bytes}"
                );
                all.extend(triples);
            }
            let whole: Vec<_> = graph
                .triples()
                .iter()
                .map(|triple| graph.to_triple(*triple))
                .collect();
            assert_eq!(all, whole, "{bytes}");
        }
    }
}
