//! Entity description patterns and link patterns: combinations of classes and properties that describe and connect
//! entities.
//!
//! X. Wang, G. Cheng, T. Lin, J. Xu, J. Z. Pan, E. Kharlamov, Y. Qu: *PCSG: Pattern-Coverage Snippet Generation for
//! RDF Datasets*, ISWC 2021.
//!
//! The *entity description pattern* of an entity is the set of its classes, its outgoing properties and its incoming
//! properties. Entities are the subjects, and the non-literal objects of triples other than `rdf:type`. Blank nodes
//! are entities; a class is one only if it occurs in such a position. `rdf:type` itself is not an element. An IRI that
//! is both a class and a property yields different elements.
//!
//! The *link pattern* of a triple between two entities is (pattern of the subject, property, pattern of the object).
//!
//! Both are numbered by descending frequency, ties by content. The same graph has the same numbers in every run.
//!
//! *Cost.* With *T* triples: O(T log d) time for entities with up to *d* distinct elements, and memory of about twelve
//! bytes per triple and eight per term.

mod description;
mod summary;

pub use summary::{CountedLinkPattern, LinkPatternCount, MAX_EXACT_LINK_PATTERNS, PatternSummary};
pub(crate) use summary::{DistinctSketch, mix};

use lodeseek_rdf::vocab::rdf;
use lodeseek_rdf::{TermId, Triple, TripleGraph};
use rustc_hash::FxHashMap;
use std::hash::Hash;

/// Mark of terms and triples without a number.
const NO_ID: u32 = u32::MAX;

/// Rank of an entity description pattern, by descending frequency.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct PatternId(pub u32);

impl PatternId {
    /// Returns the id as an index.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Rank of a link pattern, by descending frequency.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct LinkPatternId(pub u32);

impl LinkPatternId {
    /// Returns the id as an index.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One element of an entity description pattern.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Element {
    /// The entity is of this class.
    Class(TermId),
    /// A triple with this property, other than `rdf:type`, has the entity as its subject.
    Outgoing(TermId),
    /// A triple with this property, other than `rdf:type`, has the entity as its object.
    Incoming(TermId),
}

/// An entity description pattern, as a view into [`Patterns`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EntityPattern<'p> {
    /// Id of the pattern.
    pub id: PatternId,
    /// Elements: classes, then outgoing, then incoming properties, each sorted.
    pub elements: &'p [Element],
    /// Entities with this pattern, sorted.
    pub entities: &'p [TermId],
}

impl<'p> EntityPattern<'p> {
    /// Returns the number of entities with this pattern.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.entities.len() as u64
    }

    /// Iterates over the classes.
    pub fn classes(&self) -> impl Iterator<Item = TermId> + use<'p> {
        self.elements.iter().filter_map(|element| {
            if let Element::Class(class) = element {
                Some(*class)
            } else {
                None
            }
        })
    }

    /// Iterates over the outgoing properties.
    pub fn outgoing(&self) -> impl Iterator<Item = TermId> + use<'p> {
        self.elements.iter().filter_map(|element| {
            if let Element::Outgoing(id) = element {
                Some(*id)
            } else {
                None
            }
        })
    }

    /// Iterates over the incoming properties.
    pub fn incoming(&self) -> impl Iterator<Item = TermId> + use<'p> {
        self.elements.iter().filter_map(|element| {
            if let Element::Incoming(id) = element {
                Some(*id)
            } else {
                None
            }
        })
    }
}

/// A link pattern: the patterns of two entities and the property between them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct LinkPattern {
    /// Pattern of the subject.
    pub subject: PatternId,
    /// The property.
    pub property: TermId,
    /// Pattern of the object.
    pub object: PatternId,
}

/// All patterns of one graph. See the module documentation.
///
/// ```
/// use lodeseek_profile::{Element, Patterns};
/// use lodeseek_rdf::TripleGraphBuilder;
/// use oxrdf::{NamedNodeRef, TripleRef};
///
/// let iri = NamedNodeRef::new_unchecked;
/// let mut builder = TripleGraphBuilder::new();
/// for subject in ["ex:a", "ex:b"] {
///     builder.insert(TripleRef::new(iri(subject), iri("ex:partOf"), iri("ex:c")));
/// }
/// let graph = builder.finish();
/// let patterns = Patterns::new(&graph);
/// let first = patterns.patterns().next().unwrap();
/// assert_eq!(first.count(), 2); // ex:a and ex:b
/// assert_eq!(first.elements, [Element::Outgoing(graph.iri("ex:partOf").unwrap())]);
/// assert_eq!(patterns.link_patterns()[0].object, patterns.pattern_of(graph.iri("ex:c").unwrap()).unwrap());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Patterns {
    entities: Vec<TermId>,
    /// Pattern of each term; `NO_ID` for terms that are not entities.
    pattern_of: Vec<u32>,
    elements: Rows<Element>,
    members: Rows<TermId>,
    link_patterns: Vec<LinkPattern>,
    /// Link pattern of each triple; `NO_ID` for triples that are not links.
    link_pattern_of: Vec<u32>,
    links: Rows<u32>,
}

impl Patterns {
    /// Finds the patterns of a graph.
    #[must_use]
    pub fn new(graph: &TripleGraph) -> Self {
        let mut patterns = Self::without_links(graph);
        patterns.find_links(graph);
        patterns
    }

    /// Finds the entity description patterns only, without link patterns.
    #[must_use]
    pub fn without_links(graph: &TripleGraph) -> Self {
        let kind = graph.iri(rdf::TYPE);
        let numbering = Numbering::new(graph, kind);
        let described = numbering.describe(graph, kind);
        let entities = find_entities(graph, kind);
        let (numbers, first) =
            by_frequency(entities.iter().map(|entity| described.row(entity.index())));
        let mut pattern_of = vec![NO_ID; graph.term_count()];
        for (entity, &number) in entities.iter().zip(&numbers) {
            pattern_of[entity.index()] = number;
        }
        let elements = Rows::from_rows(first.iter().map(|&place| {
            described
                .row(entities[place as usize].index())
                .iter()
                .map(|&code| numbering.elements[code as usize])
        }));
        let members = Rows::group_by_row(
            first.len(),
            numbers.iter().copied().zip(entities.iter().copied()),
        );
        Self {
            entities,
            pattern_of,
            elements,
            members,
            ..Self::default()
        }
    }

    fn find_links(&mut self, graph: &TripleGraph) {
        let kind = graph.iri(rdf::TYPE);
        let (mut places, mut keys) = (Vec::new(), Vec::new());
        for (place, triple) in graph.triples().iter().enumerate() {
            if let Some(key) = is_link(graph, kind, triple)
                .then(|| self.key(triple))
                .flatten()
            {
                places.push(place as u32);
                keys.push(key);
            }
        }
        let (numbers, first) = by_frequency(keys.iter());
        self.link_patterns = first.iter().map(|&place| keys[place as usize]).collect();
        self.link_pattern_of = vec![NO_ID; graph.len()];
        for (&place, &number) in places.iter().zip(&numbers) {
            self.link_pattern_of[place as usize] = number;
        }
        self.links = Rows::group_by_row(first.len(), numbers.iter().copied().zip(places));
    }

    fn key(&self, triple: &Triple) -> Option<LinkPattern> {
        let (subject, object) = (
            self.pattern_of(triple.subject)?,
            self.pattern_of(triple.object)?,
        );
        Some(LinkPattern {
            subject,
            property: triple.predicate,
            object,
        })
    }

    /// Returns all entities, sorted.
    #[must_use]
    pub fn entities(&self) -> &[TermId] {
        &self.entities
    }

    /// Returns the pattern of a term; `None` if it is not an entity.
    #[must_use]
    pub fn pattern_of(&self, entity: TermId) -> Option<PatternId> {
        self.pattern_of
            .get(entity.index())
            .copied()
            .filter(|&id| id != NO_ID)
            .map(PatternId)
    }

    /// Returns the number of entity description patterns.
    #[must_use]
    pub fn len(&self) -> usize {
        self.elements.len()
    }

    /// If true, there is no pattern, because there is no entity.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the entity description pattern of an id from these patterns.
    #[must_use]
    pub fn pattern(&self, id: PatternId) -> EntityPattern<'_> {
        EntityPattern {
            id,
            elements: self.elements.row(id.index()),
            entities: self.members.row(id.index()),
        }
    }

    /// Iterates over the entity description patterns, most frequent first.
    pub fn patterns(&self) -> impl ExactSizeIterator<Item = EntityPattern<'_>> {
        (0..self.len()).map(|id| self.pattern(PatternId(id as u32)))
    }

    /// Returns the link patterns, most frequent first; their indexes are their ids.
    #[must_use]
    pub fn link_patterns(&self) -> &[LinkPattern] {
        &self.link_patterns
    }

    /// Returns the links of a pattern, as sorted indexes in [`TripleGraph::triples`].
    #[must_use]
    pub fn links(&self, id: LinkPatternId) -> &[u32] {
        self.links.row(id.index())
    }

    /// Returns the number of links of a pattern.
    #[must_use]
    pub fn link_count(&self, id: LinkPatternId) -> u64 {
        self.links(id).len() as u64
    }

    /// Returns the number of links between entities.
    #[must_use]
    pub fn total_links(&self) -> u64 {
        self.links.values.len() as u64
    }

    /// Returns the link pattern of the triple at an index in [`TripleGraph::triples`]; `None` if it is not a link.
    #[must_use]
    pub fn link_pattern_of(&self, place: usize) -> Option<LinkPatternId> {
        self.link_pattern_of
            .get(place)
            .copied()
            .filter(|&id| id != NO_ID)
            .map(LinkPatternId)
    }
}

/// If true, the triple links two entities.
fn is_link(graph: &TripleGraph, kind: Option<TermId>, triple: &Triple) -> bool {
    Some(triple.predicate) != kind && graph.is_resource(triple.object)
}

fn find_entities(graph: &TripleGraph, kind: Option<TermId>) -> Vec<TermId> {
    let mut marks = vec![false; graph.term_count()];
    for triple in graph.triples() {
        marks[triple.subject.index()] = true;
        if is_link(graph, kind, triple) {
            marks[triple.object.index()] = true;
        }
    }
    marks
        .iter()
        .enumerate()
        .filter(|(_, mark)| **mark)
        .map(|(term, _)| TermId(term as u32))
        .collect()
}

/// Dense numbers of the elements, in the order of [`Element`].
struct Numbering {
    elements: Vec<Element>,
    /// Number of each term's element: as a class, and as an outgoing property. The number as an incoming property is
    /// larger by `properties`.
    class: Vec<u32>,
    property: Vec<u32>,
    properties: u32,
}

impl Numbering {
    fn new(graph: &TripleGraph, kind: Option<TermId>) -> Self {
        let (mut class, mut property) = (
            vec![NO_ID; graph.term_count()],
            vec![NO_ID; graph.term_count()],
        );
        for triple in graph.triples() {
            if Some(triple.predicate) != kind {
                property[triple.predicate.index()] = 0;
            } else if graph.is_resource(triple.object) {
                class[triple.object.index()] = 0;
            }
        }
        let mut elements = Vec::new();
        number_terms(&mut class, &mut elements, Element::Class);
        let classes = elements.len() as u32;
        number_terms(&mut property, &mut elements, Element::Outgoing);
        let properties = elements.len() as u32 - classes;
        number_terms(&mut property.clone(), &mut elements, Element::Incoming);
        Self {
            elements,
            class,
            property,
            properties,
        }
    }

    /// Calls `found` with every (term, element) of the triples, repetitions included.
    fn each(&self, graph: &TripleGraph, kind: Option<TermId>, mut found: impl FnMut(TermId, u32)) {
        for triple in graph.triples() {
            if Some(triple.predicate) == kind {
                if graph.is_resource(triple.object) {
                    found(triple.subject, self.class[triple.object.index()]);
                }
                continue;
            }
            let outgoing = self.property[triple.predicate.index()];
            found(triple.subject, outgoing);
            if graph.is_resource(triple.object) {
                found(triple.object, outgoing + self.properties);
            }
        }
    }

    /// Returns the sorted, distinct elements of every term.
    fn describe(&self, graph: &TripleGraph, kind: Option<TermId>) -> Rows<u32> {
        // Last element of each term, to skip the longest runs: the incoming links of a hub with one property.
        let mut last = vec![NO_ID; graph.term_count()];
        let mut pairs = Vec::new();
        self.each(graph, kind, |term, element| {
            if std::mem::replace(&mut last[term.index()], element) != element {
                pairs.push((term.0, element));
            }
        });
        // Freed before the rows take their memory.
        drop(last);
        let mut rows = Rows::group_by_row(graph.term_count(), pairs.iter().copied());
        drop(pairs);
        rows.sort_and_dedup();
        rows
    }
}

/// Adds an element for each marked term, and replaces the mark by the number of the element.
fn number_terms(marks: &mut [u32], elements: &mut Vec<Element>, element: fn(TermId) -> Element) {
    for (term, mark) in marks
        .iter_mut()
        .enumerate()
        .filter(|(_, mark)| **mark != NO_ID)
    {
        *mark = elements.len() as u32;
        elements.push(element(TermId(term as u32)));
    }
}

/// Numbers the distinct keys by descending frequency, ties by key. Returns the number of each key, and for each number
/// the index of its first key.
fn by_frequency<K: Hash + Ord + Copy>(keys: impl Iterator<Item = K>) -> (Vec<u32>, Vec<u32>) {
    let mut known: FxHashMap<K, u32> = FxHashMap::default();
    let mut seen: Vec<(u32, u32, K)> = Vec::new(); // (count, first place, key)
    let mut numbers = Vec::new();
    for (place, key) in keys.enumerate() {
        let number = *known.entry(key).or_insert_with(|| {
            seen.push((0, place as u32, key));
            seen.len() as u32 - 1
        });
        seen[number as usize].0 += 1;
        numbers.push(number);
    }
    let mut order: Vec<u32> = (0..seen.len() as u32).collect();
    order.sort_unstable_by(|&a, &b| {
        let (a, b) = (&seen[a as usize], &seen[b as usize]);
        b.0.cmp(&a.0).then_with(|| a.2.cmp(&b.2))
    });
    let mut rank = vec![0; order.len()];
    for (new, &old) in order.iter().enumerate() {
        rank[old as usize] = new as u32;
    }
    let ranked = numbers
        .into_iter()
        .map(|number| rank[number as usize])
        .collect();
    (
        ranked,
        order.iter().map(|&old| seen[old as usize].1).collect(),
    )
}

/// Lists of different lengths, stored one after another in one allocation.
#[derive(Clone, Debug)]
struct Rows<T> {
    /// Start of each row, and the end of the last one.
    starts: Vec<usize>,
    values: Vec<T>,
}

impl<T> Default for Rows<T> {
    fn default() -> Self {
        Self {
            starts: vec![0],
            values: Vec::new(),
        }
    }
}

impl<T: Copy> Rows<T> {
    fn from_rows<R: Iterator<Item = T>>(rows: impl Iterator<Item = R>) -> Self {
        let mut all = Self::default();
        for row in rows {
            all.values.extend(row);
            all.starts.push(all.values.len());
        }
        all
    }

    /// Groups values by the number of their row. Values of a row keep their order.
    fn group_by_row(count: usize, pairs: impl Iterator<Item = (u32, T)> + Clone) -> Self {
        let mut starts = vec![0usize; count + 1];
        for (row, _) in pairs.clone() {
            starts[row as usize + 1] += 1;
        }
        for row in 1..starts.len() {
            starts[row] += starts[row - 1];
        }
        let Some((_, filler)) = pairs.clone().next() else {
            return Self {
                starts,
                values: Vec::new(),
            };
        };
        let mut values = vec![filler; starts[count]];
        let mut next = starts.clone();
        for (row, value) in pairs {
            values[next[row as usize]] = value;
            next[row as usize] += 1;
        }
        Self { starts, values }
    }

    fn len(&self) -> usize {
        self.starts.len() - 1
    }

    fn row(&self, row: usize) -> &[T] {
        &self.values[self.starts[row]..self.starts[row + 1]]
    }
}

impl Rows<u32> {
    fn sort_and_dedup(&mut self) {
        let mut kept = 0;
        for row in 0..self.len() {
            let (start, end) = (self.starts[row], self.starts[row + 1]);
            self.values[start..end].sort_unstable();
            self.starts[row] = kept;
            let mut last = None;
            for place in start..end {
                let value = self.values[place];
                if last.replace(value) != Some(value) {
                    // Never ahead of the row that is read, since values are only removed.
                    self.values[kept] = value;
                    kept += 1;
                }
            }
        }
        if let Some(end) = self.starts.last_mut() {
            *end = kept;
        }
        self.values.truncate(kept);
    }
}

#[cfg(test)]
mod tests;
