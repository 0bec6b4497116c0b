//! PCSG: snippets that cover the patterns in which a dataset describes and links its entities.
//!
//! X. Wang, G. Cheng, T. Lin, J. Xu, J. Z. Pan, E. Kharlamov, Y. Qu: *PCSG: Pattern-Coverage Snippet Generation for RDF
//! Datasets*, ISWC 2021. A US patent (12,164,567) concerns pattern-based analysis of RDF close to this method. Have it
//! checked before you ship this code commercially; nothing uses it unless requested.
//!
//! A description pattern (see [`lodeseek_profile::pattern`]) is *covered* if the snippet shows an entity with all
//! elements of its description. A link pattern is covered if the snippet shows a link between two such entities. The
//! steps:
//!
//! 1. Compute the connected components of the entity graph, and a greedy set cover of all patterns by components.
//! 2. In each chosen component, grow a group Steiner tree. Each pattern that the component adds is a group: its
//!    entities, or the two ends of its links. Entities that are not needed are removed, if the rest stays connected.
//! 3. Choose triples for the entities of the tree, the most useful first: elements of both ends, a new link pattern, a
//!    new connection. Redundant triples are removed.
//! 4. Order the triples within a component along the chosen links, the most frequent pattern first.
//!
//! *PCSG-τ* ignores rare patterns: it covers the most frequent ones up to a share of the entities and links. *QPCSG*
//! adds the triples that match keywords as further groups.
//!
//! *Limits.* The trees require distance labels, which are too many for graphs without central entities. A random graph
//! of a million triples reaches the limit. A single step count therefore bounds labels, trees and removal, over all
//! components. A deadline is checked throughout.
//!
//! Beyond either limit, the remaining patterns are covered without trees, by the entities that add fewest elements.
//! Only connection and size suffer. Only as many of the most frequent patterns are covered as the budget can show. The
//! snippet is then marked as interrupted. The unbounded parts are linear: patterns, components and their cover.
//! [`PatternRepresentatives`] is the variant without trees.

mod assembly;
mod representatives;
mod selection;

pub use representatives::{PatternRepresentatives, RepresentativeOptions};

use super::keyword::{KeywordMatcher, Limit, Matches, Meter};
use super::{Deadline, Snippet, SnippetExtractor, TripleBudget, find_links};
use crate::graph::{GroupSteiner, HubLabels, LinkGraph, components, set_cover};
use lodeseek_profile::{Element, LinkPatternId, PatternId, Patterns, Profile};
use lodeseek_rdf::vocab::rdf;
use lodeseek_rdf::{TermId, Triple, TripleGraph};
use rustc_hash::{FxHashMap, FxHashSet};
use selection::Selection;

/// Default number of steps after which no further trees are grown: less than a second. Each of the seven shared inputs
/// takes fewer than 10,000,000.
const DEFAULT_WORK: u64 = 20_000_000;

/// Shares of the entities and of the links whose patterns must be covered, from 0 to 1. Default: all.
#[derive(Clone, Copy, PartialEq, Debug)]
#[expect(missing_docs, reason = "self-explanatory names")]
pub struct PatternShares {
    pub entities: f64,
    pub links: f64,
}

impl Default for PatternShares {
    fn default() -> Self {
        Self {
            entities: 1.0,
            links: 1.0,
        }
    }
}

impl PatternShares {
    /// PCSG-τ as evaluated by its authors: 0.9 of the entities, 0.8 of the links.
    pub const TAU: Self = Self {
        entities: 0.9,
        links: 0.8,
    };
}

/// Treatment of entities without links to other entities.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum IsolatedEntities {
    /// Their patterns are covered like all others.
    #[default]
    Cover,
    /// They are ignored, as in the published implementation.
    LeaveOut,
}

/// Options of PCSG.
#[derive(Clone, Copy)]
pub struct PcsgOptions<'h> {
    /// Shares of entities and links to cover.
    pub shares: PatternShares,
    /// Treatment of entities without links.
    pub isolated: IsolatedEntities,
    /// Maximum number of steps of labelling, tree growth and removal in total. Default: 20,000,000.
    pub work: u64,
    /// Deadline of labelling, tree growth and removal.
    pub deadline: Deadline<'h>,
    /// Keywords to cover as well (QPCSG).
    pub keywords: Option<&'h dyn KeywordMatcher>,
}

impl Default for PcsgOptions<'_> {
    fn default() -> Self {
        Self {
            shares: PatternShares::default(),
            isolated: IsolatedEntities::default(),
            work: DEFAULT_WORK,
            deadline: Deadline::never(),
            keywords: None,
        }
    }
}

/// PCSG extractor. See the module documentation.
///
/// ```
/// use lodeseek_profile::Profile;
/// use lodeseek_rdf::TripleGraphBuilder;
/// use lodeseek_snippet::{Pcsg, SnippetExtractor, TripleBudget};
/// use oxrdf::{NamedNodeRef, TripleRef};
///
/// let iri = NamedNodeRef::new_unchecked;
/// let mut builder = TripleGraphBuilder::new();
/// for subject in ["ex:a", "ex:b", "ex:c"] {
///     builder.insert(TripleRef::new(iri(subject), iri("ex:partOf"), iri("ex:d")));
/// }
/// let graph = builder.finish();
/// let snippet = Pcsg::default().extract(&graph, &Profile::new(&graph), TripleBudget::default());
/// assert_eq!(snippet.triples.len(), 1); // a part, the whole, and how they are linked
/// ```
#[derive(Clone, Copy, Default)]
pub struct Pcsg<'h> {
    options: PcsgOptions<'h>,
}

impl<'h> Pcsg<'h> {
    /// Creates an extractor with these options.
    #[must_use]
    pub fn new(options: PcsgOptions<'h>) -> Self {
        Self { options }
    }

    /// Creates the extractor PCSG-τ.
    #[must_use]
    pub fn tau() -> Self {
        Self::new(PcsgOptions {
            shares: PatternShares::TAU,
            ..PcsgOptions::default()
        })
    }
}

impl SnippetExtractor for Pcsg<'_> {
    fn name(&self) -> &'static str {
        if self.options.keywords.is_some() {
            "qpcsg"
        } else if self.options.shares == PatternShares::default() {
            "pcsg"
        } else {
            "pcsg-tau"
        }
    }

    fn extract(&self, graph: &TripleGraph, _profile: &Profile, budget: TripleBudget) -> Snippet {
        let patterns = Patterns::new(graph);
        let entity_graph = EntityGraph::new(graph, &patterns);
        let goals = Goals::new(&entity_graph, &self.options);
        let mut places = Vec::new();
        let mut meter = Meter::new(Limit {
            work: self.options.work,
            deadline: self.options.deadline,
        });
        meter.start();
        if budget.0 > 0 {
            let mut parts = Partition::new(&entity_graph, &goals, &self.options, &mut meter);
            while places.len() <= budget.0
                && let Some(part) = parts.next(budget.0 - places.len(), &mut meter)
            {
                places.extend(assembly::assemble(&entity_graph, &goals, &part, &mut meter));
            }
        }
        // The budget cuts the snippet of every method: only the bound of steps and the deadline interrupt the search.
        let interrupted = meter.was_over();
        places.truncate(budget.0);
        let triples: Vec<Triple> = places
            .iter()
            .map(|&place| entity_graph.triple(place))
            .collect();
        Snippet {
            gain: described_share(&entity_graph, &triples),
            triples,
            interrupted,
        }
    }
}

/// Returns the share of the dataset's entities whose pattern is covered by the triples.
fn described_share(entity_graph: &EntityGraph<'_>, triples: &[Triple]) -> f64 {
    let mut shown: FxHashMap<TermId, FxHashSet<Element>> = FxHashMap::default();
    for &triple in triples {
        for (entity, element) in entity_graph.contributions(triple) {
            shown.entry(entity).or_default().insert(element);
        }
    }
    let mut covered: FxHashMap<PatternId, u64> = FxHashMap::default();
    for (entity, elements) in shown {
        let Some(pattern) = entity_graph.patterns.pattern_of(entity) else {
            continue;
        };
        let pattern = entity_graph.patterns.pattern(pattern);
        if elements.len() == pattern.elements.len() {
            covered.insert(pattern.id, pattern.count());
        }
    }
    covered.values().sum::<u64>() as f64 / entity_graph.patterns.entities().len().max(1) as f64
}

/// Graph with the lookup tables of all steps. Entities are numbered by their position in [`Patterns::entities`].
struct EntityGraph<'g> {
    graph: &'g TripleGraph,
    patterns: &'g Patterns,
    kind: Option<TermId>,
    /// Entity number of each term; meaningless for terms that are not entities.
    numbers: Vec<u32>,
    /// Positions of the links to each entity, as rows.
    incoming: Vec<u32>,
    incoming_starts: Vec<u32>,
}

impl<'g> EntityGraph<'g> {
    fn new(graph: &'g TripleGraph, patterns: &'g Patterns) -> Self {
        let kind = graph.iri(rdf::TYPE);
        let mut numbers = vec![0; graph.term_count()];
        for (number, entity) in patterns.entities().iter().enumerate() {
            numbers[entity.index()] = number as u32;
        }
        let mut starts = vec![0u32; patterns.entities().len() + 1];
        for (_, triple) in find_links(graph, kind) {
            starts[numbers[triple.object.index()] as usize + 1] += 1;
        }
        for place in 1..starts.len() {
            starts[place] += starts[place - 1];
        }
        let mut next = starts.clone();
        let mut incoming = vec![0; starts.last().copied().unwrap_or(0) as usize];
        for (place, triple) in find_links(graph, kind) {
            let slot = &mut next[numbers[triple.object.index()] as usize];
            incoming[*slot as usize] = place as u32;
            *slot += 1;
        }
        Self {
            graph,
            patterns,
            kind,
            numbers,
            incoming,
            incoming_starts: starts,
        }
    }

    fn triple(&self, place: u32) -> Triple {
        self.graph.triples()[place as usize]
    }

    fn number(&self, entity: TermId) -> u32 {
        self.numbers[entity.index()]
    }

    fn entity(&self, number: u32) -> TermId {
        self.patterns.entities()[number as usize]
    }

    fn pattern(&self, number: u32) -> PatternId {
        self.patterns
            .pattern_of(self.entity(number))
            .unwrap_or(PatternId(0))
    }

    fn elements(&self, number: u32) -> &'g [Element] {
        self.patterns.pattern(self.pattern(number)).elements
    }

    fn is_link(&self, triple: Triple) -> bool {
        Some(triple.predicate) != self.kind && self.graph.is_resource(triple.object)
    }

    /// Returns the entities at both ends of a triple: twice the subject if it is no link.
    fn ends(&self, place: u32) -> (u32, u32) {
        let triple = self.triple(place);
        let subject = self.number(triple.subject);
        (
            subject,
            if self.is_link(triple) {
                self.number(triple.object)
            } else {
                subject
            },
        )
    }

    /// Returns the positions of the triples with this entity as subject.
    fn outgoing(&self, number: u32) -> impl Iterator<Item = u32> + use<> {
        self.graph
            .subject_range(self.entity(number))
            .map(|place| place as u32)
    }

    /// Returns the positions of the links to an entity.
    fn incoming(&self, number: u32) -> &[u32] {
        let number = number as usize;
        &self.incoming
            [self.incoming_starts[number] as usize..self.incoming_starts[number + 1] as usize]
    }

    fn shows(&self, triple: Triple, entity: TermId, element: Element) -> bool {
        self.contributions(triple)
            .any(|shown| shown == (entity, element))
    }

    /// Returns the description elements that a triple shows.
    fn contributions(&self, triple: Triple) -> impl Iterator<Item = (TermId, Element)> + use<> {
        let resource = self.graph.is_resource(triple.object);
        let (first, second) = if Some(triple.predicate) == self.kind {
            (
                resource.then_some((triple.subject, Element::Class(triple.object))),
                None,
            )
        } else {
            let incoming = resource.then_some((triple.object, Element::Incoming(triple.predicate)));
            (
                Some((triple.subject, Element::Outgoing(triple.predicate))),
                incoming,
            )
        };
        first.into_iter().chain(second)
    }
}

/// Numbered goals of coverage: entity description patterns, link patterns, keywords.
struct Goals {
    first_link: u32,
    first_keyword: u32,
    selected: Vec<bool>,
    /// Keywords matched by each triple, by its position.
    keywords: FxHashMap<u32, Vec<u32>>,
}

impl Goals {
    fn new(entity_graph: &EntityGraph<'_>, options: &PcsgOptions<'_>) -> Self {
        let patterns = entity_graph.patterns;
        let first_link = patterns.len() as u32;
        let first_keyword = first_link + patterns.link_patterns().len() as u32;
        let described = patterns.patterns().map(|pattern| pattern.count());
        let mut selected = mark_frequent(
            described,
            options.shares.entities,
            patterns.entities().len() as u64,
        );
        let links = (0..patterns.link_patterns().len() as u32)
            .map(|id| patterns.link_count(LinkPatternId(id)));
        selected.extend(mark_frequent(
            links,
            options.shares.links,
            patterns.total_links(),
        ));
        let mut goals = Self {
            first_link,
            first_keyword,
            selected,
            keywords: FxHashMap::default(),
        };
        if let Some(matcher) = options.keywords {
            goals.find_keywords(entity_graph.graph, matcher);
        }
        goals
    }

    /// Adds the keywords as goals. Keywords that no term contains are not goals.
    fn find_keywords(&mut self, graph: &TripleGraph, matcher: &dyn KeywordMatcher) {
        let matches = Matches::new(matcher, graph);
        for (number, keyword) in matches.present().places().enumerate() {
            for (place, triple) in graph.triples().iter().enumerate() {
                if matches.triple(*triple).0 >> keyword & 1 == 1 {
                    self.keywords
                        .entry(place as u32)
                        .or_default()
                        .push(self.first_keyword + number as u32);
                }
            }
            self.selected.push(true);
        }
    }

    /// Retains the most frequent patterns of either kind: as many as require more than `room` triples. A triple shows
    /// elements of at most two entities. All keywords are retained.
    fn keep_frequent(&self, goals: &mut FxHashSet<u32>, room: usize) {
        let most = room.saturating_add(1).saturating_mul(2);
        if goals.len() <= most {
            return;
        }
        let mut sorted: Vec<u32> = goals.iter().copied().collect();
        sorted.sort_unstable();
        let links = sorted.partition_point(|&goal| goal < self.first_link);
        let keywords = sorted.partition_point(|&goal| goal < self.first_keyword);
        sorted.drain(links.saturating_add(most).min(keywords)..keywords);
        sorted.drain(most.min(links)..links);
        *goals = sorted.into_iter().collect();
    }

    /// Returns the goals that a triple serves between complete entities.
    fn of_triple<'s>(
        &'s self,
        entity_graph: &EntityGraph<'_>,
        place: u32,
    ) -> impl Iterator<Item = u32> + use<'s> {
        let link = entity_graph
            .patterns
            .link_pattern_of(place as usize)
            .map(|id| self.first_link + id.0);
        link.into_iter()
            .chain(self.keywords.get(&place).into_iter().flatten().copied())
    }
}

/// Marks the most frequent patterns until they reach the given share (PCSG-τ).
fn mark_frequent(counts: impl Iterator<Item = u64>, share: f64, total: u64) -> Vec<bool> {
    let mut sum = 0;
    let taken = counts.map(|count| {
        let more = (sum as f64) < share * total as f64;
        sum += count;
        more
    });
    taken.collect()
}

/// Chosen component: the entities to show in full, and the goals to cover.
struct Part {
    entities: Vec<u32>,
    goals: FxHashSet<u32>,
    connected: bool,
}

/// Iterator over the chosen components, in the order of the set cover.
struct Partition<'s, 'g> {
    selection: Selection<'s, 'g>,
    chosen: std::vec::IntoIter<(usize, Vec<u32>)>,
    members: Vec<Vec<u32>>,
    labels: Option<HubLabels>,
    weights: Vec<u32>,
}

impl<'s, 'g> Partition<'s, 'g> {
    fn new(
        entity_graph: &'s EntityGraph<'g>,
        goals: &'s Goals,
        options: &PcsgOptions<'_>,
        meter: &mut Meter<'_>,
    ) -> Self {
        let count = entity_graph.patterns.entities().len();
        let links = (0..entity_graph.graph.len() as u32).map(|place| entity_graph.ends(place));
        let graph = LinkGraph::new(count, links);
        let mut members: Vec<Vec<u32>> = Vec::new();
        for (entity, &component) in components(&graph).iter().enumerate() {
            // Components are numbered by their first node: a new one has the next number.
            if component as usize == members.len() {
                members.push(Vec::new());
            }
            members[component as usize].push(entity as u32);
        }
        let selection = Selection {
            entity_graph,
            goals,
        };
        let mut chosen = set_cover(
            &members
                .iter()
                .map(|entities| selection.offers(entities))
                .collect::<Vec<_>>(),
        );
        for (_, new) in &mut chosen {
            new.retain(|&goal| goals.selected[goal as usize]);
        }
        chosen.retain(|(place, new)| {
            let is_left_out =
                options.isolated == IsolatedEntities::LeaveOut && members[*place].len() == 1;
            !new.is_empty() && !is_left_out
        });
        // A component of one entity needs no tree.
        let linked = chosen.iter().filter(|(place, _)| members[*place].len() > 1);
        let labelled: Vec<u32> = linked
            .flat_map(|(place, _)| members[*place].iter().copied())
            .collect();
        let labels = HubLabels::new(&graph, &labelled, |steps| !meter.is_over(steps));
        let weights = (0..count as u32)
            .map(|number| entity_graph.elements(number).len() as u32)
            .collect();
        Self {
            selection,
            chosen: chosen.into_iter(),
            members,
            labels,
            weights,
        }
    }

    /// Returns the next part. A part without a tree fills `room` triples and one more.
    fn next(&mut self, room: usize, meter: &mut Meter<'_>) -> Option<Part> {
        let (place, new) = self.chosen.next()?;
        let entities = &self.members[place];
        let mut goals: FxHashSet<u32> = new.into_iter().collect();
        if let &[lone] = &entities[..] {
            return Some(Part {
                entities: vec![lone],
                goals,
                connected: true,
            });
        }
        let labels = self.labels.as_ref().filter(|_| !meter.is_over(1));
        if let Some(labels) = labels {
            let groups = self.selection.groups(entities, &goals);
            let steiner = GroupSteiner {
                labels,
                weights: &self.weights,
            };
            if let Some(tree) = steiner.tree(&groups, |steps| !meter.is_over(steps)) {
                let mut entities = tree.nodes;
                self.selection
                    .take_out(&mut entities, &goals, &self.weights, meter);
                return Some(Part {
                    entities,
                    goals,
                    connected: true,
                });
            }
        }
        self.selection.goals.keep_frequent(&mut goals, room);
        let groups = self.selection.groups(entities, &goals);
        Some(Part {
            entities: selection::cover_cheaply(&groups, &self.weights),
            goals,
            connected: false,
        })
    }
}

#[cfg(test)]
mod tests;
