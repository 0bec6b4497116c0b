//! A sample of a graph that does not fit memory, on which IlluSnip runs as on the whole.
//!
//! The input is read twice, and never held. The first reading, a [`Survey`], counts classes and properties and the links
//! of entities, and keeps for each class and property the triples with the smallest hashes. From these it names *central*
//! entities: those with most links, and those at the triples kept, alternately. The second reading, a [`Sampling`], takes
//! the triples at central entities, so that connected snippets exist.
//!
//! With a budget of *B* triples, of which the sample never holds more:
//!
//! * *Small inputs are not sampled.* Up to *B* statements, the sample is the graph, without a second reading.
//! * *Counts.* Of up to [`ELEMENTS`] classes and properties the counts are exact, but for repeated statements, which count
//!   again. Beyond, they are those of J. Misra and D. Gries, *Finding repeated elements* (1982): too small by no more than
//!   [`count_error`](SampledGraph::count_error), which is at most statements / `ELEMENTS`.
//! * *Strata.* Up to *B*/4 classes and properties, each is in the sample, with max(1, *B*/4 / number of them) triples or
//!   all it has; beyond, the most frequent are.
//! * *Descriptions.* *B*/2 triples: each central entity, as far as they go, has of each of its properties and classes, as
//!   subject and as object, the [`EXAMPLES`] triples with the most linked other ends. So at such an entity a snippet can
//!   cover whatever it can in the whole graph. Any entity with more than a fraction of 8/*B* of all ends of links is among
//!   the candidates.
//! * *Links.* *B*/4 triples between candidates, the most central first.
//!
//! Coverage is thus weighed as in the whole; familiarity is PageRank within the sample, without a bound. The same input
//! gives the same sample: nothing is drawn but by hash. Memory is O(*B* + `ELEMENTS`), in whatever
//! order the triples come, and 16 bytes for each blank node of
//! a file; terms known by 64 bits only can be mistaken for others, which may add a triple, never one that is not there.

use lodeseek_profile::Profile;
use lodeseek_rdf::vocab::rdf;
use lodeseek_rdf::{TermId, TermRef, TripleGraph, TripleGraphBuilder, TripleSink};
use oxrdf::{BlankNode, NamedOrBlankNode, Term, Triple, TripleRef};
use rustc_hash::{FxHashMap, FxHasher};
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

/// Classes and properties counted one by one.
pub const ELEMENTS: usize = 65_536;
/// Triples kept of one property or class at a central entity, in one direction.
pub const EXAMPLES: usize = 2;

/// The first reading. See the module documentation.
///
/// ```
/// use lodeseek_rdf::dump::DumpReader;
/// use lodeseek_snippet::sample::Survey;
/// use lodeseek_snippet::{IlluSnip, SnippetExtractor, TripleBudget};
///
/// let dump = "<e:a> <e:p> <e:b> .\n".to_owned() + &"<e:b> <e:q> <e:a> .\n".repeat(50);
/// let read = |sink: &mut dyn lodeseek_rdf::TripleSink| {
///     DumpReader::default().read(dump.as_bytes(), "d.nt", "e:", sink);
/// };
/// let mut survey = Survey::new(16);
/// read(&mut survey);
/// let mut sampling = survey.finish();
/// if sampling.wants_reading() {
///     read(&mut sampling);
/// }
/// let sample = sampling.finish();
/// let snippet = IlluSnip::default().extract(&sample.graph, &sample.profile, TripleBudget(20));
/// assert_eq!(snippet.triples.len(), 2);
/// ```
#[derive(Debug)]
pub struct Survey {
    budget: usize,
    /// Everything, as long as it fits.
    whole: Option<TripleGraphBuilder>,
    names: BlankNames,
    statements: u64,
    type_statements: u64,
    elements: Frequent<Element>,
    strata: FxHashMap<Element, Stratum>,
    /// No stratum has more triples.
    largest: usize,
    links: Frequent<u64>,
}

/// A class or a property, by name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Element {
    Class(String),
    Property(String),
}

/// The triples of one class or property with the smallest hashes.
type Stratum = BTreeMap<u64, Triple>;

impl Survey {
    /// For a sample of at most this many triples; eight at least.
    #[must_use]
    pub fn new(budget: usize) -> Self {
        let budget = budget.max(8);
        Self {
            budget,
            whole: Some(TripleGraphBuilder::new()),
            names: BlankNames::default(),
            statements: 0,
            type_statements: 0,
            elements: Frequent::new(ELEMENTS),
            strata: FxHashMap::default(),
            largest: 0,
            links: Frequent::new(budget / 8),
        }
    }

    /// Triples that every stratum may have.
    fn stratum_size(&self) -> usize {
        (self.budget / 4 / self.elements.len().max(1)).max(1)
    }

    fn count(&mut self, element: Element, triple: &Triple) {
        let strata = &mut self.strata;
        self.elements.add(element.clone(), |gone| drop(strata.remove(gone)));
        if !self.elements.contains(&element) {
            return;
        }
        let size = self.stratum_size();
        let stratum = self.strata.entry(element).or_default();
        let number = hash(triple);
        if stratum.len() < size || stratum.last_key_value().is_some_and(|(last, _)| number < *last) {
            stratum.insert(number, triple.clone());
        }
        cut(stratum, size);
        self.largest = self.largest.max(size);
        if size <= self.largest / 2 {
            self.shrink(size);
        }
    }

    /// Cuts strata that no triple comes to any more. At every halving of the size is often enough: all of them together
    /// have at most *B*/2 triples, or one each. It is seldom enough, too: the elements have doubled since the last time.
    fn shrink(&mut self, size: usize) {
        self.strata.values_mut().for_each(|stratum| cut(stratum, size));
        self.largest = size;
    }

    /// What the second reading is to look for.
    #[must_use]
    pub fn finish(mut self) -> Sampling {
        let (size, quota) = (self.stratum_size(), self.budget / 4);
        let mut strata: Vec<(u64, Element, Vec<Triple>)> = std::mem::take(&mut self.strata)
            .into_iter()
            .map(|(element, stratum)| {
                (self.elements.count(&element), element, stratum.into_values().take(size).collect())
            })
            .collect();
        strata.sort_unstable_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        strata.truncate(quota);
        let central = if self.whole.is_some() { FxHashMap::default() } else { central(&self.links, &strata) };
        let strata = strata.into_iter().flat_map(|(_, _, triples)| triples).take(quota).collect();
        Sampling {
            budget: self.budget,
            whole: self.whole,
            names: BlankNames::default(),
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

/// Leaves the smallest hashes.
fn cut(stratum: &mut Stratum, size: usize) {
    while stratum.len() > size {
        stratum.pop_last();
    }
}

/// The rank of each central entity: those with most links and those of the strata take turns.
fn central(links: &Frequent<u64>, strata: &[(u64, Element, Vec<Triple>)]) -> FxHashMap<u64, u32> {
    let mut linked: Vec<(u64, u64)> = links.counts().map(|(&entity, count)| (entity, count)).collect();
    linked.sort_unstable_by_key(|&(entity, count)| (std::cmp::Reverse(count), entity));
    let deepest = strata.iter().map(|(_, _, triples)| triples.len()).max().unwrap_or(0);
    let layer = |place: usize| strata.iter().filter_map(move |(_, _, triples)| triples.get(place));
    let sampled = (0..deepest).flat_map(layer).flat_map(ends);
    let mut ranks = FxHashMap::default();
    let mut sampled = sampled.map(|(entity, _)| entity);
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

impl TripleSink for Survey {
    fn start_file(&mut self) {
        self.names.start_file();
        if let Some(whole) = &mut self.whole {
            whole.start_file();
        }
    }

    fn insert_triple(&mut self, triple: TripleRef<'_>) {
        self.statements += 1;
        if self.statements > self.budget as u64 {
            self.whole = None;
        }
        if let Some(whole) = &mut self.whole {
            whole.insert(triple);
        }
        let triple = self.names.named(triple);
        let is_type = is_type(&triple);
        self.type_statements += u64::from(is_type);
        if let Some(class) = class(&triple) {
            self.count(Element::Class(class), &triple);
        }
        self.count(Element::Property(triple.predicate.as_str().to_owned()), &triple);
        let ends: Vec<(u64, bool)> = ends(&triple).collect();
        if ends.len() == 2 {
            ends.into_iter().for_each(|(entity, _)| self.links.add(entity, |_| ()));
        }
    }
}

/// The second reading. See the module documentation.
#[derive(Debug)]
pub struct Sampling {
    budget: usize,
    whole: Option<TripleGraphBuilder>,
    names: BlankNames,
    statements: u64,
    type_statements: u64,
    elements: Frequent<Element>,
    degrees: Frequent<u64>,
    /// By entity: its rank among the central ones.
    central: FxHashMap<u64, u32>,
    strata: Vec<Triple>,
    /// By rank.
    described: BTreeMap<u32, Description>,
    description_count: usize,
    /// The first rank that is not described: there is no room.
    end: u32,
    /// By the lower rank of the ends, and by hash.
    links: BTreeMap<(u32, u64), Triple>,
}

/// By element and direction: the examples, those with the most linked other end first.
type Description = FxHashMap<(u64, bool), BTreeMap<(std::cmp::Reverse<u64>, u64), Triple>>;

impl Sampling {
    /// Whether the same input must be read again: not where all of it is held already.
    #[must_use]
    pub fn wants_reading(&self) -> bool {
        self.whole.is_none()
    }

    fn describe(&mut self, entity: u64, is_subject: bool, other: Option<u64>, triple: &Triple) {
        let Some(&rank) = self.central.get(&entity).filter(|rank| **rank < self.end) else { return };
        let element = hash(&(class(triple), &triple.predicate));
        let linked = other.map_or(0, |other| self.degrees.count(&other));
        let examples = self.described.entry(rank).or_default().entry((element, is_subject)).or_default();
        let before = examples.len();
        examples.insert((std::cmp::Reverse(linked), hash(triple)), triple.clone());
        if examples.len() > EXAMPLES {
            examples.pop_last();
        }
        self.description_count += examples.len() - before;
        while self.description_count > self.budget / 2
            && let Some((last, description)) = self.described.pop_last()
        {
            // Descriptions only grow: what does not fit now does not fit at the end, whatever the order of the triples.
            self.description_count -= description.values().map(BTreeMap::len).sum::<usize>();
            self.end = last;
        }
    }

    fn link(&mut self, ends: &[(u64, bool)], triple: &Triple) {
        let ranks: Option<Vec<u32>> = ends.iter().map(|(entity, _)| self.central.get(entity).copied()).collect();
        if let Some(&[one, other]) = ranks.as_deref() {
            self.links.insert((one.max(other), hash(triple)), triple.clone());
            if self.links.len() > self.budget / 4 {
                self.links.pop_last();
            }
        }
    }

    /// The sample.
    #[must_use]
    pub fn finish(self) -> SampledGraph {
        if let Some(whole) = self.whole {
            let graph = whole.finish();
            return SampledGraph { profile: Profile::new(&graph), graph, is_whole: true, count_error: 0 };
        }
        let mut builder = TripleGraphBuilder::new();
        let described = self.described.values().flat_map(FxHashMap::values).flat_map(BTreeMap::values);
        for triple in self.strata.iter().chain(described).chain(self.links.values()) {
            builder.insert_with_labels(triple);
        }
        let graph = builder.finish();
        let counted = |element: Element| self.elements.count(&element);
        let mut profile = Profile::new(&graph);
        recount(&mut profile.classes, &graph, |class| counted(Element::Class(class)));
        recount(&mut profile.properties, &graph, |property| counted(Element::Property(property)));
        profile.triples = self.statements;
        profile.type_triples = self.type_statements;
        SampledGraph { graph, profile, is_whole: false, count_error: self.elements.error() }
    }
}

/// Puts counts of the whole in the place of those of the sample. Where none is known, that of the sample is the better.
fn recount(counts: &mut [(TermId, u64)], graph: &TripleGraph, counted: impl Fn(String) -> u64) {
    for (id, count) in counts.iter_mut() {
        *count = counted(name(graph.term(*id))).max(*count);
    }
    counts.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
}

impl TripleSink for Sampling {
    fn start_file(&mut self) {
        self.names.start_file();
    }

    fn insert_triple(&mut self, triple: TripleRef<'_>) {
        if !self.wants_reading() {
            return;
        }
        let triple = self.names.named(triple);
        let ends: Vec<(u64, bool)> = ends(&triple).collect();
        self.link(&ends, &triple);
        for &(entity, is_subject) in &ends {
            let other = ends.iter().map(|(end, _)| *end).find(|end| *end != entity);
            self.describe(entity, is_subject, other, &triple);
        }
    }
}

/// A sample with the counts of the whole.
#[derive(Debug)]
pub struct SampledGraph {
    /// The triples of the sample.
    pub graph: TripleGraph,
    /// The profile of the sample, but with triples, triples of `rdf:type`, and triples of each class and property as
    /// counted in the whole.
    pub profile: Profile,
    /// Whether the sample is the whole.
    pub is_whole: bool,
    /// What the count of a class or property may miss.
    pub count_error: u64,
}

/// Counts of the frequent among many, by Misra and Gries: too small by at most [`error`](Self::error).
#[derive(Debug)]
struct Frequent<K> {
    counts: FxHashMap<K, u64>,
    capacity: usize,
    error: u64,
}

impl<K: Hash + Eq> Frequent<K> {
    fn new(capacity: usize) -> Self {
        Self { counts: FxHashMap::default(), capacity, error: 0 }
    }

    /// Counts one; calls back with each key that is forgotten. Amortised O(1): forgetting one of each undoes as many calls.
    fn add(&mut self, key: K, mut forget: impl FnMut(&K)) {
        if let Some(count) = self.counts.get_mut(&key) {
            *count += 1;
        } else if self.counts.len() < self.capacity {
            self.counts.insert(key, 1);
        } else {
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

/// Names blank nodes by the order they come, so that both readings agree: readers make up labels anew each time.
#[derive(Default, Debug)]
struct BlankNames {
    numbers: FxHashMap<u64, u32>,
    count: u32,
}

impl BlankNames {
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

    fn named(&mut self, triple: TripleRef<'_>) -> Triple {
        let mut triple = triple.into_owned();
        if let NamedOrBlankNode::BlankNode(node) = &triple.subject {
            triple.subject = self.name(node.as_str()).into();
        }
        if let Term::BlankNode(node) = &triple.object {
            triple.object = self.name(node.as_str()).into();
        }
        triple
    }
}

fn is_type(triple: &Triple) -> bool {
    triple.predicate.as_str() == rdf::TYPE
}

/// The class that a triple gives, by name.
fn class(triple: &Triple) -> Option<String> {
    if is_type(triple) && !triple.object.is_literal() {
        Some(name(TermRef::from(triple.object.as_ref())))
    } else {
        None
    }
}

/// A name that tells IRIs and blank nodes apart.
fn name(term: TermRef<'_>) -> String {
    match term {
        TermRef::Blank(label) => format!("_:{label}"),
        term => term.text().to_owned(),
    }
}

/// The entities of a triple, and whether each is its subject; two for a link between two.
fn ends(triple: &Triple) -> impl Iterator<Item = (u64, bool)> + use<> {
    let subject = entity(TermRef::from(Term::from(triple.subject.clone()).as_ref()));
    let links = !is_type(triple) && !triple.object.is_literal();
    let object = links.then(|| entity(TermRef::from(triple.object.as_ref()))).filter(|&object| object != subject);
    std::iter::once((subject, true)).chain(object.map(|object| (object, false)))
}

fn entity(term: TermRef<'_>) -> u64 {
    hash(&name(term))
}

/// Spread evenly: the finaliser of Steele, Lea and Flood's SplitMix over a fast hash.
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
