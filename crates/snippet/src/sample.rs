//! Two-pass sampling of graphs that exceed memory. IlluSnip runs on the sample as on the whole graph.
//!
//! The input is read twice and never stored. The first pass, [`CountingPass`], counts classes, properties and the links
//! of entities. For each class and property it also retains the triples with the smallest hashes. From these it selects
//! *central* entities: those with most links and those of the retained triples, alternately. The second pass,
//! [`SamplingPass`], retains triples at central entities, so that connected snippets exist.
//!
//! A sample has at most *B* triples, the budget:
//!
//! * *Small inputs are not sampled.* For at most *B* statements the sample is the graph, without a second pass.
//! * *Counts.* The counts of up to [`MAX_ELEMENTS`] classes and properties are exact, except that repeated statements count
//!   again. Beyond that number, the algorithm of J. Misra and D. Gries is used (*Finding repeated elements*, 1982). Its
//!   counts are too small by at most [`count_error`](SampledGraph::count_error), which is at most statements /
//!   `MAX_ELEMENTS`.
//! * *Strata.* Each of up to *B*/4 classes and properties is in the sample, with max(1, *B*/4 / number of them) triples
//!   or all it has. If there are more, the most frequent ones are in the sample.
//! * *Descriptions.* *B*/2 triples describe central entities, the highest ranked first. For each of an entity's
//!   properties and classes, as subject and as object, the [`MAX_EXAMPLES_PER_ELEMENT`] triples with the most linked other ends are
//!   retained. A snippet can therefore cover at such an entity all that it could cover in the whole graph. The
//!   candidates include every entity with more than 8/*B* of all link ends.
//! * *Links.* *B*/4 triples connect candidates, the most central first.
//!
//! Coverage is weighted as in the whole graph. Familiarity is PageRank within the sample, without an error bound. The
//! same input gives the same sample: all selection is by hash. Memory is O(*B* + `MAX_ELEMENTS`) for every order of the
//! triples, plus 16 bytes for each blank node of a file. Terms are compared by 64-bit hashes. A collision may add a
//! triple, but never one that the input does not contain.

mod streamed;

pub use streamed::{StreamedSample, sample_stream};

use lodeseek_profile::Profile;
use lodeseek_rdf::vocab::rdf;
use lodeseek_rdf::{TermId, TermRef, TripleGraph, TripleGraphBuilder, TripleSink, relabel_triple};
use oxrdf::{BlankNode, NamedOrBlankNode, Term, Triple, TripleRef};
use rustc_hash::{FxHashMap, FxHasher};
use std::collections::BTreeMap;
use std::fmt;
use std::hash::{Hash, Hasher};

/// Maximum number of classes and properties with individual counts.
pub const MAX_ELEMENTS: usize = 65_536;
/// Triples retained for each property or class of a central entity, in each direction.
pub const MAX_EXAMPLES_PER_ELEMENT: usize = 2;

/// First pass: counts elements and links. See the module documentation.
///
/// ```
/// use lodeseek_rdf::dump::DumpReader;
/// use lodeseek_snippet::sample::CountingPass;
/// use lodeseek_snippet::{IlluSnip, SnippetExtractor, TripleBudget};
///
/// let dump = "<e:a> <e:p> <e:b> .\n".to_owned() + &"<e:b> <e:q> <e:a> .\n".repeat(50);
/// let mut survey = CountingPass::new(16);
/// DumpReader::default().read(dump.as_bytes(), "d.nt", "e:", &mut survey);
/// let mut sampling = survey.finish();
/// if sampling.needs_second_pass() {
///     DumpReader::default().read(dump.as_bytes(), "d.nt", "e:", &mut sampling);
/// }
/// let sample = sampling.finish();
/// let snippet = IlluSnip::default().extract(&sample.graph, &sample.profile, TripleBudget(20));
/// assert_eq!(snippet.triples.len(), 2);
/// ```
#[derive(Debug)]
pub struct CountingPass {
    /// All triples, as long as they fit in the budget.
    whole: Option<TripleGraphBuilder>,
    names: BlankNodeNames,
    counter: Counter<Triple>,
}

impl CountingPass {
    /// Creates the first pass for a sample of at most `budget` triples. A budget below 8 is raised to 8.
    #[must_use]
    pub fn new(budget: usize) -> Self {
        Self {
            whole: Some(TripleGraphBuilder::new()),
            names: BlankNodeNames::default(),
            counter: Counter::new(budget.max(8)),
        }
    }

    /// Ends the first pass and returns the second pass.
    #[must_use]
    pub fn finish(self) -> SamplingPass {
        let is_sampled = self.whole.is_none();
        SamplingPass {
            whole: self.whole,
            names: BlankNodeNames::default(),
            sampler: self.counter.finish(is_sampled),
        }
    }
}

/// Triple to be sampled, with names or with numbers of its terms.
trait SampledTriple: Clone + Hash + fmt::Debug {
    /// Name of a class or property.
    type Name: Clone + Eq + Ord + Hash + fmt::Debug;

    /// Returns true if the property is `rdf:type`.
    fn is_type(&self) -> bool;

    /// Returns the class that the triple assigns.
    fn class(&self) -> Option<Self::Name>;

    /// Returns the property.
    fn property(&self) -> Self::Name;

    /// Returns the hashes of the entities of the triple: its subject, and its object if that is another entity.
    fn ends(&self) -> (u64, Option<u64>);
}

impl SampledTriple for Triple {
    type Name = String;

    fn is_type(&self) -> bool {
        self.predicate.as_str() == rdf::TYPE
    }

    fn class(&self) -> Option<String> {
        object_resource(self)
            .filter(|_| self.is_type())
            .map(|class| format_node(&class))
    }

    fn property(&self) -> String {
        self.predicate.as_str().to_owned()
    }

    fn ends(&self) -> (u64, Option<u64>) {
        let subject = hash_node(&self.subject);
        let linked = object_resource(self).filter(|_| !self.is_type());
        (
            subject,
            linked
                .map(|object| hash_node(&object))
                .filter(|&object| object != subject),
        )
    }
}

/// Class or property, by name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Element<N> {
    Class(N),
    Property(N),
}

/// Triples of one class or property with the smallest hashes, by hash.
type Stratum<T> = BTreeMap<u64, T>;

/// Counts of the first pass.
#[derive(Debug)]
struct Counter<T: SampledTriple> {
    budget: usize,
    statements: u64,
    type_statements: u64,
    elements: FrequentItems<Element<T::Name>>,
    strata: FxHashMap<Element<T::Name>, Stratum<T>>,
    /// Upper bound of the size of any stratum.
    largest: usize,
    links: FrequentItems<u64>,
}

impl<T: SampledTriple> Counter<T> {
    fn new(budget: usize) -> Self {
        Self {
            budget,
            statements: 0,
            type_statements: 0,
            elements: FrequentItems::new(MAX_ELEMENTS),
            strata: FxHashMap::default(),
            largest: 0,
            links: FrequentItems::new(budget / 8),
        }
    }

    /// Returns the present maximum size of a stratum.
    fn stratum_size(&self) -> usize {
        (self.budget / 4 / self.elements.len().max(1)).max(1)
    }

    fn add(&mut self, triple: &T) {
        self.type_statements += u64::from(triple.is_type());
        if let Some(class) = triple.class() {
            self.count(Element::Class(class), triple);
        }
        self.count(Element::Property(triple.property()), triple);
        if let (subject, Some(object)) = triple.ends() {
            [subject, object]
                .into_iter()
                .for_each(|entity| self.links.add(entity, |_| ()));
        }
    }

    fn count(&mut self, element: Element<T::Name>, triple: &T) {
        let strata = &mut self.strata;
        self.elements
            .add(element.clone(), |evicted| drop(strata.remove(evicted)));
        if !self.elements.contains(&element) {
            return;
        }
        let size = self.stratum_size();
        let stratum = self.strata.entry(element).or_default();
        let number = hash(triple);
        if stratum.len() < size
            || stratum
                .last_key_value()
                .is_some_and(|(last, _)| number < *last)
        {
            stratum.insert(number, triple.clone());
        }
        keep_smallest(stratum, size);
        self.largest = self.largest.max(size);
        if size <= self.largest / 2 {
            self.shrink(size);
        }
    }

    /// Truncates the strata that receive no further triples. This is done each time the stratum size has halved. It is
    /// often enough: all strata together have at most *B*/2 triples, or one each. It is rare enough: the number of
    /// elements has doubled since the last time.
    fn shrink(&mut self, size: usize) {
        self.strata
            .values_mut()
            .for_each(|stratum| keep_smallest(stratum, size));
        self.largest = size;
    }

    /// Returns the second pass. If `is_sampled` is false, it needs no central entities, because nothing will be sampled.
    fn finish(mut self, is_sampled: bool) -> Sampler<T> {
        let size = self.stratum_size();
        let quota = self.budget / 4;
        let mut strata: Vec<(u64, Element<T::Name>, Vec<T>)> = std::mem::take(&mut self.strata)
            .into_iter()
            .map(|(element, stratum)| {
                (
                    self.elements.count(&element),
                    element,
                    stratum.into_values().take(size).collect(),
                )
            })
            .collect();
        strata.sort_unstable_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        strata.truncate(quota);
        let central = if is_sampled {
            rank_central_entities(&self.links, &strata)
        } else {
            FxHashMap::default()
        };
        let strata = strata
            .into_iter()
            .flat_map(|(_, _, triples)| triples)
            .take(quota)
            .collect();
        Sampler {
            budget: self.budget,
            statements: self.statements,
            type_statements: self.type_statements,
            elements: self.elements,
            degrees: self.links,
            central,
            strata,
            described: BTreeMap::new(),
            description_count: 0,
            end: u32::MAX,
            links: BTreeMap::new(),
        }
    }
}

/// Retains the `size` smallest hashes.
fn keep_smallest<T>(stratum: &mut Stratum<T>, size: usize) {
    while stratum.len() > size {
        stratum.pop_last();
    }
}

/// A stratum: the count of its element, the element, and its triples.
type RankedStratum<T> = (u64, Element<<T as SampledTriple>::Name>, Vec<T>);

/// Ranks the central entities: alternately those with most links and those of the strata.
fn rank_central_entities<T: SampledTriple>(
    links: &FrequentItems<u64>,
    strata: &[RankedStratum<T>],
) -> FxHashMap<u64, u32> {
    let mut linked: Vec<(u64, u64)> = links
        .counts()
        .map(|(&entity, count)| (entity, count))
        .collect();
    linked.sort_unstable_by_key(|&(entity, count)| (std::cmp::Reverse(count), entity));
    let deepest = strata
        .iter()
        .map(|(_, _, triples)| triples.len())
        .max()
        .unwrap_or(0);
    // The first triples of all strata come before the second ones.
    let layers = (0..deepest).flat_map(|place| {
        strata
            .iter()
            .filter_map(move |(_, _, triples)| triples.get(place))
    });
    let mut sampled = layers.flat_map(|triple| {
        let (subject, object) = triple.ends();
        [Some(subject), object].into_iter().flatten()
    });
    let mut ranks = FxHashMap::default();
    let mut linked = linked.into_iter().map(|(entity, _)| entity);
    loop {
        let pair = [linked.next(), sampled.next()];
        if pair == [None, None] {
            return ranks;
        }
        for entity in pair.into_iter().flatten() {
            let next = ranks.len() as u32;
            ranks.entry(entity).or_insert(next);
        }
    }
}

impl TripleSink for CountingPass {
    fn start_file(&mut self) {
        self.names.start_file();
        if let Some(whole) = &mut self.whole {
            whole.start_file();
        }
    }

    fn insert_triple(&mut self, triple: TripleRef<'_>) {
        self.counter.statements += 1;
        if self.counter.statements > self.counter.budget as u64 {
            self.whole = None;
        }
        if let Some(whole) = &mut self.whole {
            whole.insert(triple);
        }
        self.counter.add(&self.names.relabel(triple));
    }
}

/// Second pass: retains the triples of the sample. See the module documentation.
#[derive(Debug)]
pub struct SamplingPass {
    whole: Option<TripleGraphBuilder>,
    names: BlankNodeNames,
    sampler: Sampler<Triple>,
}

impl SamplingPass {
    /// Returns true if the input must be read a second time. False if the first pass already holds all of it.
    #[must_use]
    pub fn needs_second_pass(&self) -> bool {
        self.whole.is_none()
    }

    /// Ends the second pass and returns the sample.
    #[must_use]
    pub fn finish(self) -> SampledGraph {
        if let Some(whole) = self.whole {
            let graph = whole.finish();
            return SampledGraph {
                profile: Profile::new(&graph),
                graph,
                is_whole: true,
                count_error: 0,
            };
        }
        let sampler = self.sampler;
        let mut builder = TripleGraphBuilder::new();
        for triple in sampler.triples() {
            builder.insert_with_labels(triple);
        }
        let graph = builder.finish();
        let mut profile = Profile::new(&graph);
        recount(&mut profile.classes, &graph, |class| {
            sampler.elements.count(&Element::Class(class))
        });
        recount(&mut profile.properties, &graph, |property| {
            sampler.elements.count(&Element::Property(property))
        });
        profile.triples = sampler.statements;
        profile.type_triples = sampler.type_statements;
        SampledGraph {
            graph,
            profile,
            is_whole: false,
            count_error: sampler.elements.error(),
        }
    }
}

/// Selection of the second pass.
#[derive(Debug)]
struct Sampler<T: SampledTriple> {
    budget: usize,
    statements: u64,
    type_statements: u64,
    elements: FrequentItems<Element<T::Name>>,
    degrees: FrequentItems<u64>,
    /// Rank of each central entity.
    central: FxHashMap<u64, u32>,
    strata: Vec<T>,
    /// Descriptions by rank of the entity.
    described: BTreeMap<u32, Description<T>>,
    description_count: usize,
    /// First rank without a description, because the budget is spent.
    end: u32,
    /// Triples between candidates, by the lower rank of their ends and by hash.
    links: BTreeMap<(u32, u64), T>,
}

/// Retained triples by element and direction, those with the most linked other end first.
type Description<T> = FxHashMap<(u64, bool), BTreeMap<(std::cmp::Reverse<u64>, u64), T>>;

impl<T: SampledTriple> Sampler<T> {
    fn add(&mut self, triple: &T) {
        let (subject, object) = triple.ends();
        self.describe(subject, true, object, triple);
        if let Some(object) = object {
            self.link(subject, object, triple);
            self.describe(object, false, Some(subject), triple);
        }
    }

    fn describe(&mut self, entity: u64, is_subject: bool, other: Option<u64>, triple: &T) {
        let Some(&rank) = self.central.get(&entity).filter(|rank| **rank < self.end) else {
            return;
        };
        let element = hash(&(triple.class(), triple.property()));
        let linked = match other {
            Some(other) => self.degrees.count(&other),
            None => 0,
        };
        let examples = self
            .described
            .entry(rank)
            .or_default()
            .entry((element, is_subject))
            .or_default();
        let before = examples.len();
        examples.insert((std::cmp::Reverse(linked), hash(triple)), triple.clone());
        if examples.len() > MAX_EXAMPLES_PER_ELEMENT {
            examples.pop_last();
        }
        self.description_count += examples.len() - before;
        while self.description_count > self.budget / 2
            && let Some((last, description)) = self.described.pop_last()
        {
            // Descriptions only grow. A description that does not fit now does not fit at the end, in any order of
            // triples.
            self.description_count -= description.values().map(BTreeMap::len).sum::<usize>();
            self.end = last;
        }
    }

    fn link(&mut self, subject: u64, object: u64, triple: &T) {
        if let (Some(&one), Some(&other)) = (self.central.get(&subject), self.central.get(&object))
        {
            // A link is as central as its less central end.
            self.links
                .insert((one.max(other), hash(triple)), triple.clone());
            if self.links.len() > self.budget / 4 {
                self.links.pop_last();
            }
        }
    }

    fn triples(&self) -> impl Iterator<Item = &T> {
        let described = self
            .described
            .values()
            .flat_map(FxHashMap::values)
            .flat_map(BTreeMap::values);
        self.strata
            .iter()
            .chain(described)
            .chain(self.links.values())
    }
}

/// Replaces the counts of the sample by those of the whole graph. Keeps the count of the sample if the other is
/// unknown.
fn recount(counts: &mut [(TermId, u64)], graph: &TripleGraph, counted: impl Fn(String) -> u64) {
    for (id, count) in counts.iter_mut() {
        let name = match graph.term(*id) {
            TermRef::Blank(label) => format!("_:{label}"),
            term => term.text().to_owned(),
        };
        *count = counted(name).max(*count);
    }
    counts.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
}

impl TripleSink for SamplingPass {
    fn start_file(&mut self) {
        self.names.start_file();
    }

    fn insert_triple(&mut self, triple: TripleRef<'_>) {
        if self.needs_second_pass() {
            self.sampler.add(&self.names.relabel(triple));
        }
    }
}

/// Sample with the counts of the whole graph.
#[derive(Debug)]
pub struct SampledGraph {
    /// Triples of the sample.
    pub graph: TripleGraph,
    /// Profile of the sample. The numbers of triples, of `rdf:type` triples, and of triples of each class and property
    /// are those of the whole graph.
    pub profile: Profile,
    /// If true, the sample is the whole graph.
    pub is_whole: bool,
    /// Maximum error of the count of a class or property. Counts are never too large.
    pub count_error: u64,
}

/// Frequency sketch of Misra and Gries. Counts are too small by at most [`error`](Self::error).
#[derive(Debug)]
struct FrequentItems<K> {
    counts: FxHashMap<K, u64>,
    capacity: usize,
    error: u64,
}

impl<K: Hash + Eq> FrequentItems<K> {
    fn new(capacity: usize) -> Self {
        Self {
            counts: FxHashMap::default(),
            capacity,
            error: 0,
        }
    }

    /// Counts one occurrence and calls `forget` with each evicted key. Amortised O(1): an eviction round undoes as many
    /// calls as it evicts keys.
    fn add(&mut self, key: K, mut forget: impl FnMut(&K)) {
        if let Some(count) = self.counts.get_mut(&key) {
            *count += 1;
        } else if self.counts.len() < self.capacity {
            self.counts.insert(key, 1);
        } else {
            // The new key and one occurrence of each counted key cancel each other.
            self.error += 1;
            self.counts.retain(|key, count| {
                *count -= 1;
                if *count == 0 {
                    forget(key);
                }
                *count > 0
            });
        }
    }

    fn contains(&self, key: &K) -> bool {
        self.counts.contains_key(key)
    }

    fn count(&self, key: &K) -> u64 {
        self.counts.get(key).copied().unwrap_or(0)
    }

    fn counts(&self) -> impl Iterator<Item = (&K, u64)> {
        self.counts.iter().map(|(key, count)| (key, *count))
    }

    fn len(&self) -> usize {
        self.counts.len()
    }

    fn error(&self) -> u64 {
        self.error
    }
}

/// Assigns names to blank nodes in order of occurrence. Parsers generate new labels in each pass; these names are equal
/// in both passes.
#[derive(Default, Debug)]
struct BlankNodeNames {
    numbers: FxHashMap<u64, u32>,
    count: u32,
}

impl BlankNodeNames {
    fn start_file(&mut self) {
        self.numbers.clear();
    }

    fn name(&mut self, label: &str) -> BlankNode {
        let number = *self.numbers.entry(hash(label)).or_insert_with(|| {
            self.count += 1;
            self.count - 1
        });
        BlankNode::new_unchecked(format!("b{number}"))
    }

    fn relabel(&mut self, triple: TripleRef<'_>) -> Triple {
        relabel_triple(triple.into_owned(), &mut |node| self.name(node.as_str()))
    }
}

/// Returns the object if it is an IRI or a blank node.
fn object_resource(triple: &Triple) -> Option<NamedOrBlankNode> {
    match &triple.object {
        Term::NamedNode(node) => Some(node.clone().into()),
        Term::BlankNode(node) => Some(node.clone().into()),
        Term::Literal(_) | Term::Triple(_) => None,
    }
}

/// Returns a name that is distinct for IRIs and blank nodes.
fn format_node(node: &NamedOrBlankNode) -> String {
    match node {
        NamedOrBlankNode::BlankNode(node) => format!("_:{}", node.as_str()),
        NamedOrBlankNode::NamedNode(node) => node.as_str().to_owned(),
    }
}

fn hash_node(node: &NamedOrBlankNode) -> u64 {
    hash(&format_node(node))
}

/// Returns an evenly distributed hash: a fast hash with the SplitMix finaliser of Steele, Lea and Flood.
fn hash<T: Hash + ?Sized>(value: &T) -> u64 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    let mut bits = hasher.finish();
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests;
