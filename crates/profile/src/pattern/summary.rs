//! The numbers of patterns and the most frequent ones, in bounded memory.
//!
//! In heterogeneous graphs nearly every entity has its own description pattern, and nearly every link its own link
//! pattern. [`Patterns`](super::Patterns) ranks them all; a profile needs the most frequent ones only. They are selected
//! in linear time, without a sort.
//!
//! Link patterns are counted exactly up to [`MAX_EXACT_LINK_PATTERNS`] different ones. Beyond this bound, the links between
//! the listed entity patterns are still counted exactly. All others are folded into an estimate of the number of
//! different link patterns by HyperLogLog (P. Flajolet, É. Fusy, O. Gandouet, F. Meunier, AofA 2007), whose standard
//! error is 0.8 %.

use super::{Element, LinkPattern, NO_ID, Numbering, PatternId, Rows, find_entities, is_link};
use lodeseek_rdf::vocab::rdf;
use lodeseek_rdf::{TermId, Triple, TripleGraph};
use rustc_hash::{FxHashMap, FxHasher};
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

/// Maximum number of different link patterns that are counted exactly. The table takes up to 54 MB while it grows.
pub const MAX_EXACT_LINK_PATTERNS: usize = 1_000_000;

/// Number of different link patterns of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkPatternCount {
    /// The exact number.
    Exact(u64),
    /// An estimate: there are more than [`MAX_EXACT_LINK_PATTERNS`]. Only links between listed entity patterns are ranked.
    Estimate(u64),
}

/// A link pattern between two listed entity patterns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedLinkPattern {
    /// Rank by descending frequency, from 0; among all link patterns if they were counted exactly.
    pub rank: u32,
    /// The pattern.
    pub pattern: LinkPattern,
    /// Number of links.
    pub links: u64,
}

/// Numbers of the patterns of a graph, and the most frequent ones. See the module documentation.
///
/// ```
/// use lodeseek_profile::{LinkPatternCount, PatternSummary};
/// use lodeseek_rdf::TripleGraphBuilder;
/// use oxrdf::{NamedNodeRef, TripleRef};
///
/// let iri = NamedNodeRef::new_unchecked;
/// let mut builder = TripleGraphBuilder::new();
/// for subject in ["ex:a", "ex:b"] {
///     builder.insert(TripleRef::new(iri(subject), iri("ex:partOf"), iri("ex:c")));
/// }
/// let summary = PatternSummary::new(&builder.finish(), 50);
/// assert_eq!(summary.entity_pattern_count, 2);
/// assert_eq!(summary.link_pattern_count, LinkPatternCount::Exact(1));
/// assert_eq!(summary.link_patterns[0].links, 2);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternSummary {
    /// Number of different entity description patterns; always exact.
    pub entity_pattern_count: u64,
    /// Number of different link patterns.
    pub link_pattern_count: LinkPatternCount,
    /// The most frequent entity description patterns by rank: elements and number of entities.
    pub entity_patterns: Vec<(Vec<Element>, u64)>,
    /// The most frequent link patterns. If they were counted exactly, those with an end that is not listed are omitted.
    pub link_patterns: Vec<CountedLinkPattern>,
}

impl PatternSummary {
    /// Counts the patterns of a graph, and selects the `most` most frequent ones of each kind.
    #[must_use]
    pub fn new(graph: &TripleGraph, most: usize) -> Self {
        Self::with_bound(graph, most, MAX_EXACT_LINK_PATTERNS)
    }

    /// Counts as [`Self::new`] does, with another bound than [`MAX_EXACT_LINK_PATTERNS`].
    pub(super) fn with_bound(graph: &TripleGraph, most: usize, bound: usize) -> Self {
        let kind = graph.iri(rdf::TYPE);
        let numbering = Numbering::new(graph, kind);
        let described = numbering.describe(graph, kind);
        let groups = Groups::new(graph, kind, &described);
        let listed = groups.most_frequent(most);
        let entity_patterns = listed.iter().map(|&group| {
            let (elements, count) = groups.patterns[group as usize];
            (
                elements
                    .iter()
                    .map(|&code| numbering.elements[code as usize])
                    .collect(),
                u64::from(count),
            )
        });
        let mut rank_of = vec![NO_ID; groups.patterns.len()];
        for (rank, &group) in listed.iter().enumerate() {
            rank_of[group as usize] = rank as u32;
        }
        let links = Links {
            graph,
            kind,
            groups: &groups,
            rank_of: &rank_of,
            most,
        };
        let (link_pattern_count, link_patterns) = links
            .count_exactly(bound)
            .unwrap_or_else(|| links.count_with_estimate());
        Self {
            entity_pattern_count: groups.patterns.len() as u64,
            link_pattern_count,
            entity_patterns: entity_patterns.collect(),
            link_patterns,
        }
    }
}

/// Entities grouped by their description pattern.
struct Groups<'d> {
    /// Group of each term; `NO_ID` for terms that are not entities.
    group_of: Vec<u32>,
    /// Element numbers and number of entities of each group.
    patterns: Vec<(&'d [u32], u32)>,
}

impl<'d> Groups<'d> {
    fn new(graph: &TripleGraph, kind: Option<TermId>, described: &'d Rows<u32>) -> Self {
        let mut known: FxHashMap<&[u32], u32> = FxHashMap::default();
        let mut groups = Self {
            group_of: vec![NO_ID; graph.term_count()],
            patterns: Vec::new(),
        };
        for entity in find_entities(graph, kind) {
            let elements = described.row(entity.index());
            let group = *known
                .entry(elements)
                .or_insert(groups.patterns.len() as u32);
            if group as usize == groups.patterns.len() {
                groups.patterns.push((elements, 0));
            }
            groups.patterns[group as usize].1 += 1;
            groups.group_of[entity.index()] = group;
        }
        groups
    }

    /// Compares two groups by descending number of entities, then by elements: the order of pattern ids.
    fn compare(&self, a: u32, b: u32) -> Ordering {
        let (a, b) = (&self.patterns[a as usize], &self.patterns[b as usize]);
        b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0))
    }

    fn most_frequent(&self, most: usize) -> Vec<u32> {
        let groups = (0..self.patterns.len() as u32).collect();
        select_smallest(groups, most, |&a, &b| self.compare(a, b))
    }
}

/// A link pattern between two groups.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct GroupLink {
    subject: u32,
    property: TermId,
    object: u32,
}

/// Counts the link patterns of a graph.
struct Links<'g> {
    graph: &'g TripleGraph,
    kind: Option<TermId>,
    groups: &'g Groups<'g>,
    /// Rank of each group; `NO_ID` for those that are not listed.
    rank_of: &'g [u32],
    most: usize,
}

impl Links<'_> {
    /// Counts all link patterns; `None` if there are more than `bound`.
    fn count_exactly(&self, bound: usize) -> Option<(LinkPatternCount, Vec<CountedLinkPattern>)> {
        let mut counts: FxHashMap<GroupLink, u32> = FxHashMap::default();
        for link in self.links() {
            *counts.entry(link).or_default() += 1;
            if counts.len() > bound {
                return None;
            }
        }
        Some((
            LinkPatternCount::Exact(counts.len() as u64),
            self.most_frequent(counts),
        ))
    }

    /// Counts the links between listed patterns, and estimates the number of link patterns.
    fn count_with_estimate(&self) -> (LinkPatternCount, Vec<CountedLinkPattern>) {
        let mut counts: FxHashMap<GroupLink, u32> = FxHashMap::default();
        let mut sketch = DistinctSketch::new();
        for link in self.links() {
            sketch.insert(&link);
            if self.is_listed(link.subject) && self.is_listed(link.object) {
                *counts.entry(link).or_default() += 1;
            }
        }
        (
            LinkPatternCount::Estimate(sketch.estimate()),
            self.most_frequent(counts),
        )
    }

    fn links(&self) -> impl Iterator<Item = GroupLink> {
        let links = self
            .graph
            .triples()
            .iter()
            .filter(|triple| is_link(self.graph, self.kind, triple));
        links.map(|triple| self.group_link(triple))
    }

    fn group_link(&self, triple: &Triple) -> GroupLink {
        let subject = self.groups.group_of[triple.subject.index()];
        let object = self.groups.group_of[triple.object.index()];
        GroupLink {
            subject,
            property: triple.predicate,
            object,
        }
    }

    fn is_listed(&self, group: u32) -> bool {
        self.rank_of[group as usize] != NO_ID
    }

    /// Returns the most frequent ones, without those that have an end that is not listed.
    fn most_frequent(&self, counts: FxHashMap<GroupLink, u32>) -> Vec<CountedLinkPattern> {
        let ranked = select_smallest(counts.into_iter().collect(), self.most, |a, b| {
            self.compare(a, b)
        });
        let mut kept = Vec::new();
        for (rank, (link, count)) in ranked.into_iter().enumerate() {
            if self.is_listed(link.subject) && self.is_listed(link.object) {
                let pattern = LinkPattern {
                    subject: PatternId(self.rank_of[link.subject as usize]),
                    property: link.property,
                    object: PatternId(self.rank_of[link.object as usize]),
                };
                kept.push(CountedLinkPattern {
                    rank: rank as u32,
                    pattern,
                    links: u64::from(count),
                });
            }
        }
        kept
    }

    /// Compares by descending number of links, then by subject, property and object: the order of link pattern ids.
    fn compare(&self, a: &(GroupLink, u32), b: &(GroupLink, u32)) -> Ordering {
        let by_count = b.1.cmp(&a.1);
        by_count
            .then_with(|| self.groups.compare(a.0.subject, b.0.subject))
            .then_with(|| a.0.property.cmp(&b.0.property))
            .then_with(|| self.groups.compare(a.0.object, b.0.object))
    }
}

/// Returns the `most` smallest values, sorted. Takes linear time in the number of values.
fn select_smallest<T>(
    mut values: Vec<T>,
    most: usize,
    compare: impl Fn(&T, &T) -> Ordering,
) -> Vec<T> {
    if most < values.len() {
        values.select_nth_unstable_by(most, &compare);
        values.truncate(most);
    }
    values.sort_unstable_by(compare);
    values
}

/// HyperLogLog with 64-bit hashes, in 16 KiB.
pub(crate) struct DistinctSketch {
    registers: Vec<u8>,
}

impl DistinctSketch {
    const INDEX_BITS: u32 = 14;

    pub(crate) fn new() -> Self {
        Self {
            registers: vec![0; 1 << Self::INDEX_BITS],
        }
    }

    pub(crate) fn insert(&mut self, value: &impl Hash) {
        let mut hasher = FxHasher::default();
        value.hash(&mut hasher);
        let hash = mix(hasher.finish());
        let register = &mut self.registers[(hash >> (64 - Self::INDEX_BITS)) as usize];
        // The set bit bounds the number of leading zeros.
        let rest = hash << Self::INDEX_BITS | 1 << (Self::INDEX_BITS - 1);
        *register = (*register).max(rest.leading_zeros() as u8 + 1);
    }

    /// Returns the estimated number of different values.
    pub(crate) fn estimate(&self) -> u64 {
        let size = self.registers.len() as f64;
        let sum: f64 = self
            .registers
            .iter()
            .map(|&register| (-f64::from(register)).exp2())
            .sum();
        // α · m² / Σ 2^−register, with the α of the paper for 128 registers and more.
        let raw = 0.7213 / (1.0 + 1.079 / size) * size * size / sum;
        let empty = self
            .registers
            .iter()
            .filter(|&&register| register == 0)
            .count();
        if raw <= 2.5 * size && empty > 0 {
            return (size * (size / empty as f64).ln()).round() as u64; // linear counting
        }
        // Hashes of 64 bits need no correction of large numbers.
        raw.round() as u64
    }
}

/// Distributes the bits of a hash: the finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
pub(crate) fn mix(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}
