//! Profiles of graphs that exceed memory, by sequential passes.
//!
//! All counts are those of [`Profile::new`], [`Schema::new`](super::Schema::new) and [`PatternSummary::new`], in bounded
//! memory: a few bits for each term, a number of four bytes for each external IRI, and eight bytes for each entity. Memory is
//! also linear in the numbers of different classes, properties and URI spaces. Term numbers are those of the streamed graph.
//!
//! Entity description patterns need the incoming properties of each entity, which are sorted on disk. Patterns are compared by
//! 64-bit hashes. With *n* entities, the probability that two patterns are taken for one is below n² / 2⁶⁵: one in 100,000 for
//! 20 million.

use super::pattern::{
    DistinctSketch, Element, LinkPattern, MAX_EXACT_LINK_PATTERNS, PatternId, mix,
};
use super::{
    CountedLinkPattern, LinkPatternCount, Linkage, PatternSummary, Profile, sort_by_count,
    uri_space,
};
use lodeseek_rdf::vocab::rdf;
use lodeseek_rdf::{ExternalSorter, StreamedGraph, TermId, TermRef, Triple, namespace};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};
use std::io;
use std::path::Path;

/// Maximum number of linked entities of other datasets in the profile of a streamed graph.
const MAX_TARGETS: usize = 1000;

/// One bit for each term.
struct TermSet(Vec<u64>);

impl TermSet {
    fn new(terms: usize) -> Self {
        Self(vec![0; terms.div_ceil(64)])
    }

    fn insert(&mut self, id: TermId) {
        self.0[id.index() / 64] |= 1 << (id.index() % 64);
    }

    fn contains(&self, id: TermId) -> bool {
        self.0[id.index() / 64] >> (id.index() % 64) & 1 == 1
    }

    fn len(&self) -> u64 {
        self.0.iter().map(|bits| u64::from(bits.count_ones())).sum()
    }
}

/// Consecutive IRIs of one URI space. The IRIs of a graph are sorted, so a space has one range.
struct SpaceRange {
    space: String,
    first: TermId,
    /// Number of IRIs.
    length: u32,
    /// Number of described IRIs.
    described: u64,
}

impl Profile {
    /// Counts a streamed graph in two passes over its triples and two over its terms. Counts are exact. Of the linked entities
    /// of other datasets, the 1,000 with most links are listed.
    ///
    /// # Errors
    /// If the graph cannot be read.
    pub fn from_stream(graph: &StreamedGraph) -> io::Result<Self> {
        let kind = graph.iri(rdf::TYPE)?;
        let mut subjects = TermSet::new(graph.term_count());
        let mut objects = TermSet::new(graph.term_count());
        let mut entities = TermSet::new(graph.term_count());
        let mut properties: FxHashMap<TermId, u64> = FxHashMap::default();
        let mut classes: FxHashMap<TermId, u64> = FxHashMap::default();
        let mut type_triples = 0;
        for triple in graph.triples()? {
            let triple = triple?;
            subjects.insert(triple.subject);
            objects.insert(triple.object);
            entities.insert(triple.subject);
            *properties.entry(triple.predicate).or_default() += 1;
            if Some(triple.predicate) == kind {
                type_triples += 1;
                if graph.is_resource(triple.object) {
                    *classes.entry(triple.object).or_default() += 1;
                }
            } else if graph.is_resource(triple.object) {
                entities.insert(triple.object);
            }
        }
        let mut vocabularies: FxHashMap<String, u64> = FxHashMap::default();
        let mut languages: FxHashMap<String, u64> = FxHashMap::default();
        let mut spaces: Vec<SpaceRange> = Vec::new();
        let mut terms = graph.terms()?;
        while let Some((id, term)) = terms.next_term()? {
            match term {
                TermRef::Iri(iri) => {
                    add_to_space(&mut spaces, id, iri, subjects.contains(id));
                    let uses = [&classes, &properties]
                        .into_iter()
                        .filter_map(|counts| counts.get(&id))
                        .sum::<u64>();
                    if uses > 0
                        && let Some(namespace) = namespace(iri)
                    {
                        *vocabularies.entry(namespace.to_owned()).or_default() += uses;
                    }
                }
                term => {
                    if let Some(tag) = term.language() {
                        *languages.entry(tag.to_ascii_lowercase()).or_default() += 1;
                    }
                }
            }
        }
        let (linkage, links) = count_linkage(graph, kind, &spaces)?;
        Ok(Self {
            triples: graph.len(),
            entities: entities.len(),
            distinct_subjects: subjects.len(),
            distinct_objects: objects.len(),
            literals: graph.literal_count(),
            type_triples,
            vocabularies: sort_by_count(vocabularies),
            languages: sort_by_count(languages),
            links,
            linkage,
            tables: Vec::new(),
            classes: sort_by_count(classes),
            properties: sort_by_count(properties),
        })
    }

    /// Replaces the numbers of terms by those of a selection from the same graph. `ids` has, for each term of the selection, its
    /// number in the graph. Classes, properties and linked entities outside of the selection are removed from the lists.
    #[must_use]
    pub fn in_selection(mut self, ids: &[TermId]) -> Self {
        self.classes = renumber_counts(self.classes, ids);
        self.properties = renumber_counts(self.properties, ids);
        self.linkage.targets = renumber_counts(self.linkage.targets, ids);
        self
    }
}

/// Returns the number of a term within a selection.
fn renumber_term(id: TermId, ids: &[TermId]) -> Option<TermId> {
    Some(TermId(u32::try_from(ids.binary_search(&id).ok()?).ok()?))
}

fn renumber_counts(counts: Vec<(TermId, u64)>, ids: &[TermId]) -> Vec<(TermId, u64)> {
    counts
        .into_iter()
        .filter_map(|(id, count)| Some((renumber_term(id, ids)?, count)))
        .collect()
}

fn renumber_element(element: Element, ids: &[TermId]) -> Option<Element> {
    Some(match element {
        Element::Class(id) => Element::Class(renumber_term(id, ids)?),
        Element::Outgoing(id) => Element::Outgoing(renumber_term(id, ids)?),
        Element::Incoming(id) => Element::Incoming(renumber_term(id, ids)?),
    })
}

fn add_to_space(spaces: &mut Vec<SpaceRange>, id: TermId, iri: &str, is_described: bool) {
    let Some(space) = uri_space(iri) else { return };
    match spaces.last_mut() {
        Some(last) if last.space == space => {
            last.length = id.0 - last.first.0 + 1;
            last.described += u64::from(is_described);
        }
        _ => spaces.push(SpaceRange {
            space: space.to_owned(),
            first: id,
            length: 1,
            described: u64::from(is_described),
        }),
    }
}

/// Returns the spaces and targets, and the numbers of links by URI space.
fn count_linkage(
    graph: &StreamedGraph,
    kind: Option<TermId>,
    spaces: &[SpaceRange],
) -> io::Result<(Linkage, Vec<(String, u64)>)> {
    // A space in which nothing is described is external, and so are all of its IRIs.
    let external: Vec<&SpaceRange> = spaces.iter().filter(|space| space.described == 0).collect();
    let mut starts = Vec::with_capacity(external.len());
    let mut total = 0_usize;
    for space in &external {
        starts.push(total);
        total += space.length as usize;
    }
    let mut counts = vec![0_u32; total];
    for triple in graph.triples()? {
        let Triple {
            predicate, object, ..
        } = triple?;
        if Some(predicate) == kind || !graph.is_iri(object) {
            continue;
        }
        let Some(place) = external
            .partition_point(|space| space.first <= object)
            .checked_sub(1)
        else {
            continue;
        };
        let offset = object.0 - external[place].first.0;
        if offset < external[place].length {
            let count = &mut counts[starts[place] + offset as usize];
            *count = count.saturating_add(1);
        }
    }
    let mut links = FxHashMap::default();
    let mut targets: BTreeSet<(Reverse<u32>, TermId)> = BTreeSet::new();
    for (space, &start) in external.iter().zip(&starts) {
        let counts = &counts[start..start + space.length as usize];
        let triples: u64 = counts.iter().map(|&count| u64::from(count)).sum();
        if triples > 0 {
            links.insert(space.space.clone(), triples);
        }
        for (offset, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            targets.insert((Reverse(count), TermId(space.first.0 + offset as u32)));
            if targets.len() > MAX_TARGETS {
                targets.pop_last();
            }
        }
    }
    let own = spaces.iter().filter(|space| space.described > 0);
    let own: FxHashMap<String, u64> = own
        .map(|space| (space.space.clone(), space.described))
        .collect();
    let targets = targets
        .into_iter()
        .map(|(Reverse(count), id)| (id, u64::from(count)))
        .collect();
    Ok((
        Linkage {
            spaces: sort_by_count(own),
            targets,
        },
        sort_by_count(links),
    ))
}

impl PatternSummary {
    /// Counts the patterns of a streamed graph, and selects the `most` most frequent ones of each kind. `folder` is for temporary
    /// files; it need not exist and is removed at the end.
    ///
    /// Of equally frequent patterns, those of the entities with the smallest numbers are selected. Link patterns are counted
    /// and ranked between listed entity patterns. Their number is exact up to [`MAX_EXACT_LINK_PATTERNS`].
    ///
    /// # Errors
    /// If the graph cannot be read, or a temporary file cannot be written.
    pub fn from_stream(graph: &StreamedGraph, most: usize, folder: &Path) -> io::Result<Self> {
        let kind = graph.iri(rdf::TYPE)?;
        let hashes = hash_patterns(graph, kind, folder)?;
        let (entity_pattern_count, listed) = frequent_patterns(&hashes, most, folder)?;
        let elements = find_elements(graph, kind, listed.iter().map(|pattern| pattern.first))?;
        let rank_of: FxHashMap<u64, u32> = listed
            .iter()
            .enumerate()
            .map(|(rank, pattern)| (pattern.hash, rank as u32))
            .collect();
        let (link_pattern_count, link_patterns) =
            link_patterns(graph, kind, &hashes, &rank_of, most)?;
        let mut entity_patterns = Vec::with_capacity(listed.len());
        for pattern in &listed {
            let elements = elements.get(&pattern.first).into_iter().flatten();
            entity_patterns.push((elements.copied().collect(), u64::from(pattern.entities)));
        }
        Ok(Self {
            entity_pattern_count,
            link_pattern_count,
            entity_patterns,
            link_patterns,
        })
    }

    /// Replaces the numbers of terms, as [`Profile::in_selection`] does. Elements outside of the selection are removed.
    #[must_use]
    pub fn in_selection(mut self, ids: &[TermId]) -> Self {
        for (elements, _) in &mut self.entity_patterns {
            *elements = std::mem::take(elements)
                .into_iter()
                .filter_map(|element| renumber_element(element, ids))
                .collect();
        }
        self.link_patterns.retain_mut(|counted| {
            match renumber_term(counted.pattern.property, ids) {
                Some(property) => {
                    counted.pattern.property = property;
                    true
                }
                None => false,
            }
        });
        self
    }
}

fn is_link(graph: &StreamedGraph, kind: Option<TermId>, triple: &Triple) -> bool {
    Some(triple.predicate) != kind && graph.is_resource(triple.object)
}

/// Returns the hash of each entity's pattern; 0 for IRIs and blank nodes that are no entities.
fn hash_patterns(
    graph: &StreamedGraph,
    kind: Option<TermId>,
    folder: &Path,
) -> io::Result<Vec<u64>> {
    let mut incoming = ExternalSorter::new(folder.to_owned());
    let mut resources = 0;
    for triple in graph.triples()? {
        let triple = triple?;
        resources = resources.max(triple.subject.index() + 1);
        if is_link(graph, kind, &triple) {
            resources = resources.max(triple.object.index() + 1);
            incoming.push(u64::from(triple.object.0) << 32 | u64::from(triple.predicate.0))?;
        }
    }
    let mut hashes = vec![0; resources];
    let mut triples = graph.triples()?.peekable();
    let mut incoming = incoming.finish()?.peekable();
    let mut elements: Vec<Element> = Vec::new();
    // Both streams are in the order of the entities: one pass merges them.
    loop {
        let described = triples
            .peek()
            .and_then(|triple| triple.as_ref().ok())
            .map(|triple| triple.subject);
        let linked = incoming
            .peek()
            .and_then(|key| key.as_ref().ok())
            .map(|key| TermId((key >> 32) as u32));
        let Some(entity) = described.into_iter().chain(linked).min() else {
            break;
        };
        elements.clear();
        while let Some(triple) =
            triples.next_if(|triple| triple.as_ref().is_ok_and(|one| one.subject == entity))
        {
            let triple = triple?;
            if Some(triple.predicate) != kind {
                elements.push(Element::Outgoing(triple.predicate));
            } else if graph.is_resource(triple.object) {
                elements.push(Element::Class(triple.object));
            }
        }
        while let Some(key) =
            incoming.next_if(|key| key.as_ref().is_ok_and(|key| (key >> 32) as u32 == entity.0))
        {
            elements.push(Element::Incoming(TermId(key? as u32)));
        }
        elements.sort_unstable();
        elements.dedup();
        hashes[entity.index()] = hash_pattern(&elements);
    }
    // An error ends the iteration above, because it is the next item of neither kind.
    triples.next().transpose()?;
    incoming.next().transpose()?;
    Ok(hashes)
}

fn hash_pattern(elements: &[Element]) -> u64 {
    let mut hasher = FxHasher::default();
    elements.hash(&mut hasher);
    // 0 marks terms that are no entities.
    mix(hasher.finish()).max(1)
}

/// A frequent entity description pattern.
struct FrequentPattern {
    hash: u64,
    entities: u32,
    /// First entity with the pattern.
    first: TermId,
}

/// Returns the number of patterns, and the most frequent ones.
fn frequent_patterns(
    hashes: &[u64],
    most: usize,
    folder: &Path,
) -> io::Result<(u64, Vec<FrequentPattern>)> {
    let mut sorter = ExternalSorter::new(folder.to_owned());
    for (entity, &hash) in hashes.iter().enumerate().filter(|(_, hash)| **hash != 0) {
        sorter.push(u128::from(hash) << 64 | entity as u128)?;
    }
    let mut count = 0;
    let mut frequent: BTreeSet<(Reverse<u32>, TermId, u64)> = BTreeSet::new();
    let mut current: Option<(u64, TermId, u32)> = None;
    for key in sorter.finish()? {
        let key = key?;
        let (hash, entity) = ((key >> 64) as u64, TermId(key as u32));
        match &mut current {
            Some((last, _, entities)) if *last == hash => *entities += 1,
            _ => {
                count += 1;
                // Keys are sorted by hash, then by entity: the first one has the lowest number.
                if let Some(complete) = current.replace((hash, entity, 1)) {
                    insert_frequent(&mut frequent, complete, most);
                }
            }
        }
    }
    if let Some(complete) = current {
        insert_frequent(&mut frequent, complete, most);
    }
    let patterns = frequent
        .into_iter()
        .map(|(Reverse(entities), first, hash)| FrequentPattern {
            hash,
            entities,
            first,
        });
    Ok((count, patterns.collect()))
}

/// Inserts a pattern: its hash, its first entity and the number of its entities. Keeps the `most` most frequent ones.
fn insert_frequent(
    frequent: &mut BTreeSet<(Reverse<u32>, TermId, u64)>,
    (hash, first, entities): (u64, TermId, u32),
    most: usize,
) {
    frequent.insert((Reverse(entities), first, hash));
    if frequent.len() > most {
        frequent.pop_last();
    }
}

/// Returns the elements of some entities.
fn find_elements(
    graph: &StreamedGraph,
    kind: Option<TermId>,
    entities: impl Iterator<Item = TermId>,
) -> io::Result<BTreeMap<TermId, BTreeSet<Element>>> {
    let mut elements: BTreeMap<TermId, BTreeSet<Element>> =
        entities.map(|entity| (entity, BTreeSet::new())).collect();
    if elements.is_empty() {
        return Ok(elements);
    }
    for triple in graph.triples()? {
        let triple = triple?;
        if is_link(graph, kind, &triple)
            && let Some(elements) = elements.get_mut(&triple.object)
        {
            elements.insert(Element::Incoming(triple.predicate));
        }
        let Some(elements) = elements.get_mut(&triple.subject) else {
            continue;
        };
        if Some(triple.predicate) != kind {
            elements.insert(Element::Outgoing(triple.predicate));
        } else if graph.is_resource(triple.object) {
            elements.insert(Element::Class(triple.object));
        }
    }
    Ok(elements)
}

/// Counts the links between listed patterns, and the number of link patterns.
fn link_patterns(
    graph: &StreamedGraph,
    kind: Option<TermId>,
    hashes: &[u64],
    rank_of: &FxHashMap<u64, u32>,
    most: usize,
) -> io::Result<(LinkPatternCount, Vec<CountedLinkPattern>)> {
    let mut exact: Option<FxHashSet<(u64, TermId, u64)>> = Some(FxHashSet::default());
    let mut sketch = DistinctSketch::new();
    let mut counts: FxHashMap<LinkPattern, u64> = FxHashMap::default();
    for triple in graph.triples()? {
        let triple = triple?;
        if !is_link(graph, kind, &triple) {
            continue;
        }
        let (subject, object) = (
            hashes[triple.subject.index()],
            hashes[triple.object.index()],
        );
        let link = (subject, triple.predicate, object);
        sketch.insert(&link);
        if let Some(known) = &mut exact {
            known.insert(link);
            if known.len() > MAX_EXACT_LINK_PATTERNS {
                exact = None;
            }
        }
        if let (Some(&subject), Some(&object)) = (rank_of.get(&subject), rank_of.get(&object)) {
            let (subject, object) = (PatternId(subject), PatternId(object));
            *counts
                .entry(LinkPattern {
                    subject,
                    property: triple.predicate,
                    object,
                })
                .or_default() += 1;
        }
    }
    let count = match exact {
        Some(known) => LinkPatternCount::Exact(known.len() as u64),
        None => LinkPatternCount::Estimate(sketch.estimate()),
    };
    let ranked = sort_by_count(counts).into_iter().take(most).enumerate();
    let counted = ranked.map(|(rank, (pattern, links))| CountedLinkPattern {
        rank: rank as u32,
        pattern,
        links,
    });
    Ok((count, counted.collect()))
}

#[cfg(test)]
mod tests;
