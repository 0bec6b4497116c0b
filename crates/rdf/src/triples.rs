//! RDF graph in memory: each term is stored once, and each triple is three term numbers, in a canonical order.
//!
//! Profiles, snippets and index documents are computed from scans of whole graphs. In a [`TripleGraph`] such a scan reads
//! twelve bytes per triple.
//!
//! The order depends on the graph only, not on the order of files or statements. Terms are sorted (IRIs, blank nodes,
//! literals, triple terms), and triples are sorted by subject, predicate and object. Results with ties broken by
//! [`TermId`] are therefore reproducible.
//!
//! A triple term (RDF 1.2, <https://www.w3.org/TR/rdf12-concepts/#dfn-triple-term>) is three term numbers as well. Its
//! terms are terms of the graph, even if no triple uses them otherwise.

mod order;
mod runs;
mod streamed;
mod triple_terms;

pub use runs::{BuiltGraph, ExternalGraphBuilder, MAX_COMPACT_BYTES, SortedRuns};
pub use streamed::{CompactSource, GraphParts, StreamedGraph, TermCursor, TripleCursor};

use hashbrown::HashTable;
use oxrdf::{
    BaseDirection, BlankNode, Literal, LiteralRef, NamedNode, NamedOrBlankNode,
    NamedOrBlankNodeRef, Term, TermRef as OxTermRef, Triple as OxTriple, TripleRef as OxTripleRef,
};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::OnceLock;
use triple_terms::TripleTermTable;

/// Maximum nesting of triple terms. Readers reject deeper ones, because terms are compared, written and dropped recursively.
/// Processes exchange terms as JSON with two levels for each nesting, and JSON is read up to 128 levels.
pub(crate) const MAX_TRIPLE_TERM_DEPTH: usize = 50;

const XSD_STRING: &str = "http://www.w3.org/2001/XMLSchema#string";

/// Position of a term in the sorted term table of its [`TripleGraph`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct TermId(pub u32);

impl TermId {
    /// Returns the identifier as an index into arrays with one element per term.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Triple of term identifiers, ordered by subject, predicate and object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Triple {
    /// Subject: an IRI or a blank node.
    pub subject: TermId,
    /// Predicate: an IRI.
    pub predicate: TermId,
    /// Object: any term.
    pub object: TermId,
}

/// Term, borrowed from the graph.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum TermRef<'a> {
    /// IRI, without angle brackets.
    Iri(&'a str),
    /// Blank node label, unique within the dataset.
    Blank(&'a str),
    /// Literal.
    Literal {
        /// Lexical form.
        lexical: &'a str,
        /// Datatype or language tag of a literal.
        kind: LiteralKind<'a>,
    },
    /// Triple term (RDF 1.2), by the identifiers of its terms.
    Triple(Triple),
}

/// Datatype or language tag of a literal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum LiteralKind<'a> {
    /// `xsd:string`.
    Plain,
    /// `rdf:langString` with its language tag.
    Language(&'a str),
    /// Any other datatype, by IRI.
    Datatype(&'a str),
    /// `rdf:dirLangString` (RDF 1.2) with its language tag, written from left to right.
    LeftToRight(&'a str),
    /// `rdf:dirLangString` (RDF 1.2) with its language tag, written from right to left.
    RightToLeft(&'a str),
}

impl<'a> LiteralKind<'a> {
    /// Returns the language tag.
    #[must_use]
    pub fn language(self) -> Option<&'a str> {
        match self {
            Self::Language(tag) | Self::LeftToRight(tag) | Self::RightToLeft(tag) => Some(tag),
            Self::Plain | Self::Datatype(_) => None,
        }
    }

    /// Returns the base direction.
    #[must_use]
    pub fn direction(self) -> Option<BaseDirection> {
        match self {
            Self::LeftToRight(_) => Some(BaseDirection::Ltr),
            Self::RightToLeft(_) => Some(BaseDirection::Rtl),
            Self::Plain | Self::Language(_) | Self::Datatype(_) => None,
        }
    }
}

impl<'a> TermRef<'a> {
    /// Returns the text of the term: IRI, label or lexical form. It is empty for a triple term.
    #[must_use]
    pub fn text(self) -> &'a str {
        match self {
            Self::Iri(text) | Self::Blank(text) | Self::Literal { lexical: text, .. } => text,
            Self::Triple(_) => "",
        }
    }

    /// Returns true if the term is a literal.
    #[must_use]
    pub fn is_literal(self) -> bool {
        matches!(self, Self::Literal { .. })
    }

    /// Returns the language tag of a literal.
    #[must_use]
    pub fn language(self) -> Option<&'a str> {
        match self {
            Self::Literal { kind, .. } => kind.language(),
            _ => None,
        }
    }
}

impl<'a> From<LiteralRef<'a>> for TermRef<'a> {
    fn from(literal: LiteralRef<'a>) -> Self {
        from_key(literal_key(literal))
    }
}

fn to_literal(lexical: &str, kind: LiteralKind<'_>) -> Literal {
    match kind {
        LiteralKind::Plain => Literal::new_simple_literal(lexical),
        LiteralKind::Language(tag) => Literal::new_language_tagged_literal_unchecked(lexical, tag),
        LiteralKind::Datatype(iri) => {
            Literal::new_typed_literal(lexical, NamedNode::new_unchecked(iri))
        }
        LiteralKind::LeftToRight(tag) => {
            Literal::new_directional_language_tagged_literal_unchecked(
                lexical,
                tag,
                BaseDirection::Ltr,
            )
        }
        LiteralKind::RightToLeft(tag) => {
            Literal::new_directional_language_tagged_literal_unchecked(
                lexical,
                tag,
                BaseDirection::Rtl,
            )
        }
    }
}

/// Kind of a term other than a triple term. The order of the variants is the order of the term table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
enum Kind {
    Iri,
    Blank,
    Plain,
    Language,
    Datatype,
    LeftToRight,
    RightToLeft,
}

impl Kind {
    const ALL: [Self; 7] = [
        Self::Iri,
        Self::Blank,
        Self::Plain,
        Self::Language,
        Self::Datatype,
        Self::LeftToRight,
        Self::RightToLeft,
    ];

    fn from_byte(byte: u8) -> Option<Self> {
        Self::ALL.get(usize::from(byte)).copied()
    }
}

/// Kind, text and suffix of a term other than a triple term.
type Key<'a> = (Kind, &'a str, &'a str);

fn literal_key(literal: LiteralRef<'_>) -> Key<'_> {
    let text = literal.value();
    match (literal.language(), literal.direction()) {
        (Some(tag), None) => (Kind::Language, text, tag),
        (Some(tag), Some(BaseDirection::Ltr)) => (Kind::LeftToRight, text, tag),
        (Some(tag), Some(BaseDirection::Rtl)) => (Kind::RightToLeft, text, tag),
        (None, _) if literal.datatype().as_str() == XSD_STRING => (Kind::Plain, text, ""),
        (None, _) => (Kind::Datatype, text, literal.datatype().as_str()),
    }
}

/// Location of a term in the arena: its text, followed by its suffix (language tag or datatype IRI).
#[derive(Clone, Copy, Debug)]
struct Entry {
    start: u64,
    text: u32,
    suffix: u32,
    kind: Kind,
}

impl Entry {
    /// Returns true if text and suffix end at character boundaries of the arena.
    fn is_valid_in(&self, arena: &str) -> bool {
        let middle = self.start as usize + self.text as usize;
        arena.is_char_boundary(middle) && arena.is_char_boundary(middle + self.suffix as usize)
    }
}

#[derive(Default, Debug)]
struct TermTable {
    arena: String,
    entries: Vec<Entry>,
}

impl TermTable {
    fn push(&mut self, text: &str, suffix: &str, kind: Kind) {
        // The dump reader rejects literals long before they reach 4 GiB.
        let (text_len, suffix_len) = (text.len() as u32, suffix.len() as u32);
        self.entries.push(Entry {
            start: self.arena.len() as u64,
            text: text_len,
            suffix: suffix_len,
            kind,
        });
        self.arena.push_str(text);
        self.arena.push_str(suffix);
    }

    fn parts(&self, index: usize) -> (&str, &str, Kind) {
        let entry = self.entries[index];
        let start = entry.start as usize;
        let middle = start + entry.text as usize;
        (
            &self.arena[start..middle],
            &self.arena[middle..middle + entry.suffix as usize],
            entry.kind,
        )
    }

    fn get(&self, index: usize) -> TermRef<'_> {
        from_key(self.key(index))
    }

    /// Returns the position of the first term of a kind or a later one. The terms must be sorted.
    fn first_of_kind(&self, kind: Kind) -> u32 {
        self.entries.partition_point(|entry| entry.kind < kind) as u32
    }

    fn key(&self, index: usize) -> Key<'_> {
        let (text, suffix, kind) = self.parts(index);
        (kind, text, suffix)
    }
}

fn from_key<'a>((kind, text, suffix): Key<'a>) -> TermRef<'a> {
    let kind = match kind {
        Kind::Iri => return TermRef::Iri(text),
        Kind::Blank => return TermRef::Blank(text),
        Kind::Plain => LiteralKind::Plain,
        Kind::Language => LiteralKind::Language(suffix),
        Kind::Datatype => LiteralKind::Datatype(suffix),
        Kind::LeftToRight => LiteralKind::LeftToRight(suffix),
        Kind::RightToLeft => LiteralKind::RightToLeft(suffix),
    };
    TermRef::Literal {
        lexical: text,
        kind,
    }
}

/// Receiver of the triples of one or more files.
pub trait TripleSink {
    /// Starts a new file. The same blank node label in another file is another node.
    fn start_file(&mut self);

    /// Adds one triple.
    fn insert_triple(&mut self, triple: OxTripleRef<'_>);
}

/// Builder of a [`TripleGraph`].
///
/// Blank nodes are renamed to `b0`, `b1` and so on, in order of appearance. Blank nodes of different files stay distinct.
#[derive(Default, Debug)]
pub struct TripleGraphBuilder {
    terms: TermTable,
    ids: HashTable<u32>,
    triple_terms: TripleTermTable,
    triples: Vec<[u32; 3]>,
    blank_nodes: FxHashMap<String, u32>,
    blank_count: u32,
}

impl FromIterator<OxTriple> for TripleGraph {
    fn from_iter<T: IntoIterator<Item = OxTriple>>(triples: T) -> Self {
        let mut builder = TripleGraphBuilder::new();
        for triple in triples {
            builder.insert(triple.as_ref());
        }
        builder.finish()
    }
}

impl TripleGraphBuilder {
    /// Creates an empty builder.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates an empty builder whose next blank node has a number.
    fn with_blank_count(blank_count: u32) -> Self {
        Self {
            blank_count,
            ..Self::default()
        }
    }

    /// Returns an estimate of the size of the compact form. It is too large if triples are repeated.
    fn compact_bytes(&self) -> usize {
        // A term has a kind and two lengths. A triple has two differences and the number of its object.
        let terms = self.terms.arena.len() + 3 * self.terms.entries.len();
        terms + 7 * self.triples.len() + 12 * self.triple_terms.len()
    }

    /// Removes the labels of the current file. Returns them with the numbers of their blank nodes.
    fn take_blank_nodes(&mut self) -> impl Iterator<Item = (String, u32)> + '_ {
        let labels = std::mem::take(&mut self.blank_nodes);
        labels.into_iter().filter_map(|(label, id)| {
            // The labels are those of `blank`.
            let number = self
                .terms
                .parts(id as usize)
                .0
                .strip_prefix('b')?
                .parse()
                .ok()?;
            Some((label, number))
        })
    }

    /// Returns true if the label of the current file has a blank node.
    fn knows_blank(&self, label: &str) -> bool {
        self.blank_nodes.contains_key(label)
    }

    /// Adds a label of the current file and its blank node, by its number.
    fn insert_blank(&mut self, label: &str, number: u32) {
        let id = self.intern((Kind::Blank, &format!("b{number}"), ""));
        self.blank_nodes.insert(label.to_owned(), id);
    }

    /// Starts a new file. The same blank node label in another file is another node.
    pub fn start_file(&mut self) {
        // The number of blank nodes is kept, so that those of two files have different labels.
        self.blank_nodes.clear();
    }

    /// Returns the number of added triples, with repetitions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.triples.len()
    }

    /// Returns true if no triple was added.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.triples.is_empty()
    }

    /// Adds one triple.
    pub fn insert<'a>(&mut self, triple: impl Into<OxTripleRef<'a>>) {
        let triple = self.ids(triple.into(), Self::blank);
        self.triples.push(triple);
    }

    /// Adds a triple of a finished graph and keeps its blank node labels.
    ///
    /// The rebuilt graph equals the original one, regardless of the order of the triples.
    pub fn insert_with_labels<'a>(&mut self, triple: impl Into<OxTripleRef<'a>>) {
        let triple = self.ids(triple.into(), |builder, label| {
            builder.intern((Kind::Blank, label, ""))
        });
        self.triples.push(triple);
    }

    /// Returns the numbers of the terms of a triple. `blank` returns the number of a blank node's label.
    fn ids(&mut self, triple: OxTripleRef<'_>, blank: fn(&mut Self, &str) -> u32) -> [u32; 3] {
        let subject = match triple.subject {
            NamedOrBlankNodeRef::NamedNode(node) => self.intern((Kind::Iri, node.as_str(), "")),
            NamedOrBlankNodeRef::BlankNode(node) => blank(self, node.as_str()),
        };
        let predicate = self.intern((Kind::Iri, triple.predicate.as_str(), ""));
        let object = match triple.object {
            OxTermRef::NamedNode(node) => self.intern((Kind::Iri, node.as_str(), "")),
            OxTermRef::BlankNode(node) => blank(self, node.as_str()),
            OxTermRef::Literal(literal) => self.intern(literal_key(literal)),
            OxTermRef::Triple(triple) => {
                let ids = self.ids(triple.as_ref(), blank);
                self.triple_terms.intern(ids)
            }
        };
        [subject, predicate, object]
    }

    fn blank(&mut self, label: &str) -> u32 {
        if let Some(&id) = self.blank_nodes.get(label) {
            return id;
        }
        let id = self.intern((Kind::Blank, &format!("b{}", self.blank_count), ""));
        self.blank_count += 1;
        self.blank_nodes.insert(label.to_owned(), id);
        id
    }

    fn intern(&mut self, key: Key<'_>) -> u32 {
        let terms = &self.terms;
        let found = self
            .ids
            .find(hash_key(key), |&id| terms.key(id as usize) == key)
            .copied();
        found.unwrap_or_else(|| {
            let id = self.terms.entries.len() as u32;
            let (kind, text, suffix) = key;
            self.terms.push(text, suffix, kind);
            let terms = &self.terms;
            self.ids
                .insert_unique(hash_key(key), id, |&id| hash_key(terms.key(id as usize)));
            id
        })
    }

    /// Sorts terms and triples, and removes repeated triples.
    #[must_use]
    pub fn finish(self) -> TripleGraph {
        let terms = self.terms;
        // Sorting needs memory of its own.
        drop(self.ids);
        let order = order::sort_terms(&terms);
        let mut rank = vec![0u32; order.len()];
        let mut sorted = TermTable {
            arena: String::with_capacity(terms.arena.len()),
            entries: Vec::with_capacity(order.len()),
        };
        for (new, &old) in order.iter().enumerate() {
            rank[old as usize] = new as u32;
            let (text, suffix, kind) = terms.parts(old as usize);
            // The compact form has the texts in the order of their terms, so it is not enough to sort the entries.
            sorted.push(text, suffix, kind);
        }
        let mut triples = self.triples;
        let triple_terms = self.triple_terms.rank_terms(&mut rank, &mut triples);
        TripleGraph::from_parts(sorted, triple_terms, sort_triples(triples, &rank))
    }
}

impl TripleSink for TripleGraphBuilder {
    fn start_file(&mut self) {
        Self::start_file(self);
    }

    fn insert_triple(&mut self, triple: OxTripleRef<'_>) {
        self.insert(triple);
    }
}

/// Returns the distinct triples with the ranks of their terms, sorted.
///
/// Triples are counted into rows by subject, and each row is sorted: O(terms + T log d) for T triples and at most d triples
/// of a subject.
fn sort_triples(triples: Vec<[u32; 3]>, rank: &[u32]) -> Vec<Triple> {
    let mut ends = vec![0u32; rank.len() + 1];
    for &[subject, ..] in &triples {
        ends[rank[subject as usize] as usize + 1] += 1;
    }
    for place in 1..ends.len() {
        ends[place] += ends[place - 1];
    }
    let mut rows = vec![0u64; triples.len()];
    for [subject, predicate, object] in triples {
        // At the end of this loop, the start of each row has become its end, which is the start of the next row.
        let slot = &mut ends[rank[subject as usize] as usize];
        let (predicate, object) = (rank[predicate as usize], rank[object as usize]);
        rows[*slot as usize] = u64::from(predicate) << 32 | u64::from(object);
        *slot += 1;
    }
    let mut sorted = Vec::with_capacity(rows.len());
    let mut start = 0;
    for (subject, &end) in ends[..rank.len()].iter().enumerate() {
        let row = &mut rows[start..end as usize];
        row.sort_unstable();
        sorted.extend(row.chunk_by(|a, b| a == b).map(|pair| Triple {
            subject: TermId(subject as u32),
            predicate: TermId((pair[0] >> 32) as u32),
            object: TermId(pair[0] as u32),
        }));
        start = end as usize;
    }
    // Graphs stay in memory for long, without the room of repeated triples.
    sorted.shrink_to_fit();
    sorted
}

fn hash_key(key: Key<'_>) -> u64 {
    let mut hasher = FxHasher::default();
    (key.0 as u8, key.1, key.2).hash(&mut hasher);
    hasher.finish()
}

/// Sorted RDF graph without duplicate triples.
///
/// The order of terms and triples depends on the graph only, so results with ties broken by [`TermId`] are reproducible.
///
/// ```
/// use lodeseek_rdf::{TermRef, TripleGraphBuilder};
/// use oxrdf::{NamedNodeRef, TripleRef};
///
/// let [a, b, p] = ["ex:a", "ex:b", "ex:p"].map(NamedNodeRef::new_unchecked);
/// let mut builder = TripleGraphBuilder::new();
/// builder.insert(TripleRef::new(b, p, a));
/// builder.insert(TripleRef::new(b, p, a));
/// let graph = builder.finish();
/// assert_eq!(graph.len(), 1);
/// assert_eq!(graph.term(graph.triples()[0].object), TermRef::Iri("ex:a"));
/// ```
#[derive(Debug)]
pub struct TripleGraph {
    terms: TermTable,
    /// Triple terms, whose identifiers follow those of `terms`. The object of each may be a triple term before it.
    triple_terms: Vec<Triple>,
    triples: Vec<Triple>,
    /// Position of the first term that is not an IRI, and of the first literal.
    first_blank: u32,
    first_literal: u32,
    /// For each IRI and blank node, the position of its first triple; one entry more. Computed at the first use.
    subject_starts: OnceLock<Vec<u32>>,
}

impl TripleGraph {
    fn from_parts(terms: TermTable, triple_terms: Vec<Triple>, triples: Vec<Triple>) -> Self {
        let first_blank = terms.first_of_kind(Kind::Blank);
        let first_literal = terms.first_of_kind(Kind::Plain);
        Self {
            terms,
            triple_terms,
            triples,
            first_blank,
            first_literal,
            subject_starts: OnceLock::new(),
        }
    }

    /// Returns the number of distinct triples.
    #[must_use]
    pub fn len(&self) -> usize {
        self.triples.len()
    }

    /// Returns true if the graph has no triples.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.triples.is_empty()
    }

    /// Returns all triples, sorted.
    #[must_use]
    pub fn triples(&self) -> &[Triple] {
        &self.triples
    }

    /// Returns the number of distinct terms.
    #[must_use]
    pub fn term_count(&self) -> usize {
        self.terms.entries.len() + self.triple_terms.len()
    }

    /// Returns the term with an identifier.
    #[must_use]
    pub fn term(&self, id: TermId) -> TermRef<'_> {
        match id.index().checked_sub(self.terms.entries.len()) {
            None => self.terms.get(id.index()),
            Some(index) => TermRef::Triple(self.triple_terms[index]),
        }
    }

    /// Converts a term to an owned [`oxrdf::Term`].
    #[must_use]
    pub fn to_term(&self, id: TermId) -> Term {
        match self.term(id) {
            TermRef::Iri(iri) => NamedNode::new_unchecked(iri).into(),
            TermRef::Blank(label) => BlankNode::new_unchecked(label).into(),
            TermRef::Literal { lexical, kind } => to_literal(lexical, kind).into(),
            TermRef::Triple(triple) => self.to_triple(triple).into(),
        }
    }

    /// Returns the memory of the graph in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.terms.arena.len()
            + size_of_val(&*self.terms.entries)
            + size_of_val(&*self.triple_terms)
            + size_of_val(&*self.triples)
    }

    /// Returns true if the term is a literal. The term itself is not read.
    #[must_use]
    pub fn is_literal(&self, id: TermId) -> bool {
        // Triple terms follow the literals.
        id.0 >= self.first_literal && id.index() < self.terms.entries.len()
    }

    /// Returns true if the term is an IRI or a blank node: it can be a subject. The term itself is not read.
    #[must_use]
    pub fn is_resource(&self, id: TermId) -> bool {
        id.0 < self.first_literal
    }

    /// Returns true if the term is an IRI. The term itself is not read.
    #[must_use]
    pub fn is_iri(&self, id: TermId) -> bool {
        id.0 < self.first_blank
    }

    /// Iterates over the identifiers of all literals, also those of triple terms.
    pub fn literals(&self) -> impl Iterator<Item = TermId> + use<> {
        (self.first_literal..self.terms.entries.len() as u32).map(TermId)
    }

    /// Iterates over the identifiers of all triple terms. The terms of each have smaller identifiers.
    pub fn triple_terms(&self) -> impl Iterator<Item = TermId> + use<> {
        (self.terms.entries.len() as u32..self.term_count() as u32).map(TermId)
    }

    /// Calls `call` with the terms of a triple term and of those nested in it, or with the term itself if it is another.
    pub fn each_part(&self, id: TermId, call: &mut impl FnMut(TermId)) {
        let TermRef::Triple(triple) = self.term(id) else {
            return call(id);
        };
        call(triple.subject);
        call(triple.predicate);
        self.each_part(triple.object, call);
    }

    /// Iterates over the identifiers of all IRIs, also those of triple terms.
    pub fn iris(&self) -> impl Iterator<Item = TermId> + use<> {
        (0..self.first_blank).map(TermId)
    }

    /// Returns the range of the identifiers of all blank nodes.
    pub(super) fn blank_nodes(&self) -> Range<TermId> {
        TermId(self.first_blank)..TermId(self.first_literal)
    }

    /// Returns the triples with the positions of their terms in another order of all terms, sorted by it.
    pub(super) fn sorted_as(&self, order: &[TermId]) -> Vec<Triple> {
        let mut rank = vec![0; order.len()];
        for (new, old) in order.iter().enumerate() {
            rank[old.index()] = new as u32;
        }
        let triples = self
            .triples
            .iter()
            .map(|triple| [triple.subject.0, triple.predicate.0, triple.object.0]);
        sort_triples(triples.collect(), &rank)
    }

    /// Returns the identifier of an IRI, if it occurs.
    #[must_use]
    pub fn iri(&self, iri: &str) -> Option<TermId> {
        let iris = &self.terms.entries[..self.first_blank as usize];
        let index = iris.partition_point(|entry| {
            let start = entry.start as usize;
            &self.terms.arena[start..start + entry.text as usize] < iri
        });
        (index < iris.len() && self.terms.parts(index).0 == iri).then_some(TermId(index as u32))
    }

    /// Returns the positions of a subject's triples in [`triples`](Self::triples).
    #[must_use]
    pub fn subject_range(&self, subject: TermId) -> Range<usize> {
        if !self.is_resource(subject) {
            return 0..0;
        }
        let starts = self
            .subject_starts
            .get_or_init(|| self.find_subject_starts());
        starts[subject.index()] as usize..starts[subject.index() + 1] as usize
    }

    fn find_subject_starts(&self) -> Vec<u32> {
        let mut starts = Vec::with_capacity(self.first_literal as usize + 1);
        for (place, triple) in self.triples.iter().enumerate() {
            // Terms before it that are no subjects get the same start: an empty range.
            starts.resize(starts.len().max(triple.subject.index() + 1), place as u32);
        }
        starts.resize(self.first_literal as usize + 1, self.triples.len() as u32);
        starts
    }

    /// Returns the triples of a subject.
    #[must_use]
    pub fn subject_triples(&self, subject: TermId) -> &[Triple] {
        &self.triples[self.subject_range(subject)]
    }

    /// Converts a triple to an owned [`oxrdf::Triple`].
    #[must_use]
    pub fn to_triple(&self, triple: Triple) -> OxTriple {
        let subject: NamedOrBlankNode = match self.term(triple.subject) {
            TermRef::Blank(label) => BlankNode::new_unchecked(label).into(),
            term => NamedNode::new_unchecked(term.text()).into(),
        };
        OxTriple::new(
            subject,
            NamedNode::new_unchecked(self.term(triple.predicate).text()),
            self.to_term(triple.object),
        )
    }

    /// Serializes the graph to the compact form that [`from_compact`](Self::from_compact) reads.
    ///
    /// It contains the terms, the triples as differences, and the triple terms if there are any; numbers are in LEB128. It is
    /// neither compressed nor protected by a checksum: the store adds both.
    #[must_use]
    pub fn to_compact(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(
            self.terms.arena.len() + 6 * self.terms.entries.len() + 6 * self.triples.len(),
        );
        leb128(&mut out, self.terms.entries.len() as u64);
        for entry in &self.terms.entries {
            out.push(entry.kind as u8);
            leb128(&mut out, u64::from(entry.text));
            leb128(&mut out, u64::from(entry.suffix));
        }
        leb128(&mut out, self.terms.arena.len() as u64);
        out.extend_from_slice(self.terms.arena.as_bytes());
        leb128(&mut out, self.triples.len() as u64);
        let mut last = (0, 0);
        for triple in &self.triples {
            write_triple(&mut out, &mut last, *triple);
        }
        if !self.triple_terms.is_empty() {
            triple_terms::write(&self.triple_terms, &mut out);
        }
        out
    }

    /// Reads the compact form of [`to_compact`](Self::to_compact). Returns `None` if the bytes are malformed.
    #[must_use]
    pub fn from_compact(bytes: &[u8]) -> Option<Self> {
        let mut input = bytes;
        let count = usize::try_from(read_leb128(&mut input)?).ok()?;
        // The number is not trusted. Each term takes at least one byte.
        let mut entries = Vec::with_capacity(count.min(input.len()));
        let mut start = 0u64;
        for _ in 0..count {
            let (&kind, rest) = input.split_first()?;
            input = rest;
            let text = u32::try_from(read_leb128(&mut input)?).ok()?;
            let suffix = u32::try_from(read_leb128(&mut input)?).ok()?;
            entries.push(Entry {
                start,
                text,
                suffix,
                kind: Kind::from_byte(kind)?,
            });
            start += u64::from(text) + u64::from(suffix);
        }
        let arena_len = usize::try_from(read_leb128(&mut input)?).ok()?;
        let (arena, rest) = input.split_at_checked(arena_len)?;
        input = rest;
        let arena = String::from_utf8(arena.to_vec()).ok()?;
        // `parts` would panic at other positions.
        if start != arena_len as u64 || !entries.iter().all(|entry| entry.is_valid_in(&arena)) {
            return None;
        }
        let triple_count = usize::try_from(read_leb128(&mut input)?).ok()?;
        let mut triples = Vec::with_capacity(triple_count.min(input.len()));
        let mut last = (0u32, 0u32);
        let mut last_object = 0;
        for _ in 0..triple_count {
            let step = u32::try_from(read_leb128(&mut input)?).ok()?;
            // Within a subject, predicates are differences.
            if step != 0 {
                last = (last.0.checked_add(step)?, 0);
            }
            last.1 = last
                .1
                .checked_add(u32::try_from(read_leb128(&mut input)?).ok()?)?;
            let object = u32::try_from(read_leb128(&mut input)?).ok()?;
            if last.0 as usize >= count || last.1 as usize >= count {
                return None;
            }
            // Triple terms are allowed here only. How many there are follows the triples.
            last_object = last_object.max(object);
            let [subject, predicate, object] = [last.0, last.1, object].map(TermId);
            triples.push(Triple {
                subject,
                predicate,
                object,
            });
        }
        // Graphs without triple terms have the form that they had before RDF 1.2.
        let triple_terms = if input.is_empty() {
            Vec::new()
        } else {
            triple_terms::read(&mut input, count)?
        };
        let is_complete = triples.is_empty() || (last_object as usize) < count + triple_terms.len();
        (is_complete && input.is_empty())
            .then(|| Self::from_parts(TermTable { arena, entries }, triple_terms, triples))
    }
}

/// Writes a triple as the difference to the last one, of which subject and predicate are given.
fn write_triple(out: &mut Vec<u8>, last: &mut (u32, u32), triple: Triple) {
    leb128(out, u64::from(triple.subject.0 - last.0));
    if triple.subject.0 != last.0 {
        *last = (triple.subject.0, 0);
    }
    leb128(out, u64::from(triple.predicate.0 - last.1));
    leb128(out, u64::from(triple.object.0));
    last.1 = triple.predicate.0;
}

fn leb128(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push((value as u8 & 0x7f) | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn read_leb128(input: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = input.split_first()?;
        *input = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxrdf::NamedNodeRef;
    use proptest::prelude::*;

    fn term() -> impl Strategy<Value = Term> {
        atom().prop_recursive(3, 8, 1, |object| {
            ("[a-d]", "[p-q]", object).prop_map(|(s, p, o)| {
                let node = |name| NamedNode::new_unchecked(format!("ex:{name}"));
                Term::from(OxTriple::new(node(s), node(p), o))
            })
        })
    }

    fn atom() -> impl Strategy<Value = Term> {
        prop_oneof![
            "[a-c]{1,2}".prop_map(|name| NamedNode::new_unchecked(format!("ex:{name}")).into()),
            "[a-b]".prop_map(|label| BlankNode::new_unchecked(label).into()),
            "\\PC{0,3}".prop_map(|text| Literal::new_simple_literal(text).into()),
            ("[a-b]{0,2}", "[a-c]{2}").prop_map(|(text, tag)| {
                Literal::new_language_tagged_literal_unchecked(text, tag).into()
            }),
            ("[a-b]{0,2}", "[a-c]{2}", any::<bool>()).prop_map(|(text, tag, ltr)| {
                let direction = if ltr {
                    BaseDirection::Ltr
                } else {
                    BaseDirection::Rtl
                };
                Literal::new_directional_language_tagged_literal_unchecked(text, tag, direction)
                    .into()
            }),
            "[0-9]".prop_map(|text| Literal::new_typed_literal(
                text,
                NamedNode::new_unchecked("ex:int")
            )
            .into()),
        ]
    }

    fn triples() -> impl Strategy<Value = Vec<OxTriple>> {
        let triple = ("[a-d]", "[p-q]", term()).prop_map(|(s, p, o)| {
            OxTriple::new(
                NamedNode::new_unchecked(format!("ex:{s}")),
                NamedNode::new_unchecked(format!("ex:{p}")),
                o,
            )
        });
        proptest::collection::vec(triple, 0..40)
    }

    proptest! {
        #[test]
        fn the_compact_form_gives_the_graph_back(triples in triples()) {
            let graph = TripleGraph::from_iter(triples.iter().cloned());
            let again = TripleGraph::from_compact(&graph.to_compact()).expect("own form");
            prop_assert_eq!(again.triples(), graph.triples());
            for index in 0..graph.term_count() as u32 {
                prop_assert_eq!(again.term(TermId(index)), graph.term(TermId(index)));
            }
        }

        #[test]
        fn a_damaged_compact_form_is_refused_or_read_but_never_panics(triples in triples(), place in any::<prop::sample::Index>(), byte in any::<u8>()) {
            let mut bytes = TripleGraph::from_iter(triples.iter().cloned()).to_compact();
            let place = place.index(bytes.len());
            bytes[place] = byte;
            let _ = TripleGraph::from_compact(&bytes);
        }

        #[test]
        fn the_order_of_input_does_not_matter(triples in triples()) {
            let named: Vec<OxTriple> = triples.into_iter().filter(|t| !t.to_string().contains("_:")).collect();
            let mut reversed = named.clone();
            reversed.reverse();
            prop_assert_eq!(TripleGraph::from_iter(named.iter().cloned()).to_compact(), TripleGraph::from_iter(reversed.iter().cloned()).to_compact());
        }

        #[test]
        fn every_triple_is_kept_once(triples in triples()) {
            let graph = TripleGraph::from_iter(triples.iter().cloned());
            let mut distinct = triples.clone();
            distinct.sort_by_key(ToString::to_string);
            distinct.dedup();
            prop_assert_eq!(graph.len(), distinct.len());
            for id in graph.iris() {
                prop_assert_eq!(graph.iri(graph.term(id).text()), Some(id));
                let by_scan: Vec<_> = graph.triples().iter().filter(|t| t.subject == id).copied().collect();
                prop_assert_eq!(graph.subject_triples(id), &by_scan[..]);
            }
            for id in graph.triple_terms() {
                let TermRef::Triple(triple) = graph.term(id) else { panic!("a triple term") };
                prop_assert!([triple.subject, triple.predicate, triple.object].iter().all(|part| *part < id));
                prop_assert!(!graph.is_literal(id) && !graph.is_resource(id) && graph.subject_triples(id).is_empty());
            }
        }
    }

    fn named_or_blank() -> impl Strategy<Value = NamedOrBlankNode> {
        prop_oneof![
            "[a-d]".prop_map(|name| NamedNode::new_unchecked(format!("ex:{name}")).into()),
            "[a-d]".prop_map(|label| BlankNode::new_unchecked(label).into()),
        ]
    }

    proptest! {
        /// Runs of a few triples give the bytes of the graph built in memory, and every way to read them its content.
        #[test]
        fn runs_give_the_same_compact_form(
            files in proptest::collection::vec(proptest::collection::vec((named_or_blank(), "[p-q]", atom()), 0..30), 0..4),
            limit in 1_usize..200,
            most in 2_usize..20,
            part in 1_usize..9,
        ) {
            let folder = tempfile::tempdir().expect("a folder");
            let mut memory = TripleGraphBuilder::new();
            let mut external = ExternalGraphBuilder::new(folder.path().join("runs")).with_limit(limit);
            for file in files {
                memory.start_file();
                TripleSink::start_file(&mut external);
                for (subject, predicate, object) in file {
                    let triple = OxTriple::new(subject, NamedNode::new_unchecked(format!("ex:{predicate}")), object);
                    memory.insert(triple.as_ref());
                    external.insert_triple(triple.as_ref());
                }
            }
            let graph = memory.finish();
            let compact = match external.finish().expect("runs") {
                BuiltGraph::InMemory(graph) => graph.to_compact(),
                BuiltGraph::Runs(mut runs) => {
                    runs.merge_groups(most).expect("merged");
                    let mut compact = Vec::new();
                    prop_assert_eq!(runs.write_compact(&mut compact).expect("merged"), graph.len() as u64);
                    prop_assert!(!folder.path().join("runs").exists(), "temporary files remain");
                    compact
                }
            };
            prop_assert_eq!(&compact, &graph.to_compact());

            let open = move || -> std::io::Result<CompactSource> { Ok(Box::new(std::io::Cursor::new(compact.clone()))) };
            let streamed = StreamedGraph::open(open).expect("opened");
            prop_assert_eq!((streamed.len(), streamed.term_count()), (graph.len() as u64, graph.term_count()));
            let mut terms = streamed.terms().expect("opened");
            while let Some((id, term)) = terms.next_term().expect("read") {
                prop_assert_eq!(term, graph.term(id));
                prop_assert_eq!((streamed.is_iri(id), streamed.is_literal(id)), (graph.is_iri(id), graph.is_literal(id)));
            }
            for iri in ["ex:a", "ex:p", "ex:zz"] {
                prop_assert_eq!(streamed.iri(iri).expect("read"), graph.iri(iri));
            }
            let triples: Vec<Triple> = streamed.triples().expect("opened").map(|triple| triple.expect("read")).collect();
            prop_assert_eq!(&triples, graph.triples());
            let mut parts = Vec::new();
            for part in streamed.parts(part).expect("opened") {
                let part = part.expect("read");
                parts.extend(part.triples().iter().map(|triple| part.to_triple(*triple)));
            }
            prop_assert_eq!(parts, triples.iter().map(|triple| graph.to_triple(*triple)).collect::<Vec<_>>());
        }

        #[test]
        fn a_damaged_compact_form_is_refused_when_streamed(
            triples in triples(), place in any::<prop::sample::Index>(), byte in any::<u8>(),
        ) {
            let mut bytes = TripleGraph::from_iter(triples.iter().cloned()).to_compact();
            let place = place.index(bytes.len());
            bytes[place] = byte;
            let Ok(graph) = StreamedGraph::open(move || Ok(Box::new(std::io::Cursor::new(bytes.clone())))) else {
                return Ok(());
            };
            let count = match graph.triples() {
                Ok(triples) => triples.filter(Result::is_ok).count(),
                Err(_) => 0,
            };
            prop_assert!(count as u64 <= graph.len());
            let _ = graph.parts(3).map(|parts| parts.take(100).filter(Result::is_ok).count());
        }
    }

    /// Returns the compact form that is merged from the runs of a builder.
    fn merged(builder: ExternalGraphBuilder) -> Vec<u8> {
        let BuiltGraph::Runs(runs) = builder.finish().expect("runs") else {
            panic!("the limit was exceeded")
        };
        let mut compact = Vec::new();
        runs.write_compact(&mut compact).expect("merged");
        compact
    }

    /// A process may often have 1,024 open files: merged at once, these runs would need 1,200.
    #[test]
    fn many_runs_are_merged_in_passes() {
        let folder = tempfile::tempdir().expect("a folder");
        let node = |number: usize| NamedNode::new_unchecked(format!("ex:{number}"));
        let triples: Vec<OxTriple> = (0..400)
            .map(|number| OxTriple::new(node(number % 90), node(number % 7), node(number)))
            .collect();
        let mut builder = ExternalGraphBuilder::new(folder.path().join("runs")).with_limit(1);
        triples
            .iter()
            .for_each(|triple| builder.insert_triple(triple.as_ref()));
        assert!(merged(builder) == TripleGraph::from_iter(triples.iter().cloned()).to_compact());
        assert!(
            !folder.path().join("runs").exists(),
            "temporary files remain"
        );
    }

    #[test]
    fn runs_keep_the_labels_of_a_finished_graph() {
        let folder = tempfile::tempdir().expect("a folder");
        let node = |number: usize| BlankNode::new_unchecked(format!("n{number}"));
        let triples: Vec<OxTriple> = (0..12)
            .map(|number| {
                OxTriple::new(
                    node(number),
                    NamedNode::new_unchecked("ex:p"),
                    node(number + 1),
                )
            })
            .collect();
        let graph = TripleGraph::from_iter(triples.iter().cloned());
        let mut builder = ExternalGraphBuilder::new(folder.path().join("runs")).with_limit(1);
        for triple in graph.triples().iter().rev() {
            builder.insert_with_labels(graph.to_triple(*triple).as_ref());
        }
        assert!(merged(builder) == graph.to_compact());
    }

    #[test]
    fn triple_terms_beyond_the_limit_are_rejected() {
        let folder = tempfile::tempdir().expect("a folder");
        let node = |name: usize| NamedNode::new_unchecked(format!("ex:{name}"));
        let inner = OxTriple::new(node(0), node(1), node(2));
        let statements = |first: bool| {
            let outer = OxTriple::new(node(0), node(1), inner.clone());
            let mut statements: Vec<OxTriple> = (0..9)
                .map(|n| OxTriple::new(node(n), node(n), node(n)))
                .collect();
            statements.insert(if first { 0 } else { 9 }, outer);
            statements
        };
        for (limit, first, is_rejected) in
            [(10_000, true, false), (60, true, true), (60, false, true)]
        {
            let mut builder =
                ExternalGraphBuilder::new(folder.path().join("runs")).with_limit(limit);
            statements(first)
                .iter()
                .for_each(|triple| builder.insert_triple(triple.as_ref()));
            match builder.finish() {
                Ok(BuiltGraph::InMemory(graph)) => {
                    assert_eq!((graph.len(), is_rejected), (10, false))
                }
                Ok(BuiltGraph::Runs(_)) => panic!("runs have no triple terms"),
                Err(error) => {
                    assert!(
                        is_rejected && error.kind() == std::io::ErrorKind::Unsupported,
                        "{error}"
                    );
                }
            }
            assert!(
                !folder.path().join("runs").exists(),
                "temporary files remain"
            );
        }
        let compact = TripleGraph::from_iter(statements(true)).to_compact();
        let error =
            StreamedGraph::open(move || Ok(Box::new(std::io::Cursor::new(compact.clone()))))
                .expect_err("rejected");
        assert_eq!(error.kind(), std::io::ErrorKind::Unsupported);
    }

    #[test]
    fn blank_nodes_of_two_files_stay_apart() {
        let mut builder = TripleGraphBuilder::new();
        let (node, p) = (
            oxrdf::BlankNodeRef::new_unchecked("x"),
            NamedNodeRef::new_unchecked("ex:p"),
        );
        for _ in 0..2 {
            builder.start_file();
            builder.insert(OxTripleRef::new(node, p, node));
            builder.insert(OxTripleRef::new(node, p, node));
        }
        assert_eq!(builder.finish().len(), 2);
    }
}
