//! Quality measures of snippets, with respect to the dataset and to a query.
//!
//! The measures of X. Wang, G. Cheng, J. Z. Pan, E. Kharlamov, Y. Qu: *BANDAR: Benchmarking Snippet Generation
//! Algorithms for (RDF) Dataset Search*, IEEE TKDE 35(2), 2023. All values are from 0 to 1; larger is better. *S* is
//! the snippet. *E(S)* are its entities: subjects, and non-literal objects of triples other than `rdf:type`.
//!
//! | measure | definition |
//! |---|---|
//! | SkmRep | harmonic mean of the shares of the dataset's triples whose property, and of its `rdf:type` triples whose class, is in *S*; the first alone where nothing has a type |
//! | EntRep | harmonic mean of the mean ln(out + 1)/ln(largest out + 1) and the mean ln(in + 1)/ln(largest in + 1) over *E(S)*; the first alone where the dataset has no links |
//! | DescRep | share of the dataset's entities whose description pattern some entity shows completely in *S* |
//! | LinkRep | share of the dataset's links whose link pattern a link in *S* has whose ends both show their whole pattern there |
//! | KwRel | share of the keywords that *S* contains, of those that the dataset contains |
//! | QryRel | share of the pairs of adjacent query keywords that *S* contains in one component, of those that the dataset contains in one; KwRel where there is no such pair |
//!
//! *Differences from BANDAR's code.*
//!
//! * Its link patterns include the `rdf:type` triples to classes that are themselves described. Here links are as in
//!   [`Patterns`]: between entities and without `rdf:type`.
//! * It counts an incoming `rdf:type` as an element that such a class shows, but not as one that it has. Here it is
//!   neither.
//! * If the second word of a pair is no keyword, it skips this pair and the next one. The next pair starts with a
//!   non-keyword and never counts. Here every pair is checked on its own.
//! * For components, the nodes of a snippet are subjects, predicates and objects, as in its code. The nodes of the
//!   dataset are subjects and objects; the keywords of a predicate belong to the component of its triple.
//!
//! A dataset without triples scores 0 in all measures, and so does an empty snippet. If the dataset contains no
//! keyword, KwRel and QryRel are absent.

use super::Snippet;
use super::keyword::{Degrees, KeywordSet, Matches, log1};
use lodeseek_profile::{Element, Patterns, Profile};
use lodeseek_rdf::vocab::rdf;
use lodeseek_rdf::{TermId, Triple, TripleGraph};
use petgraph::unionfind::UnionFind;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;
use std::fmt;

/// Reference data of a dataset, computed once for all its snippets.
pub struct Reference<'g> {
    graph: &'g TripleGraph,
    profile: &'g Profile,
    patterns: &'g Patterns,
    degrees: Degrees,
    kind: Option<TermId>,
}

/// Information need: a query's keywords, restricted to those that the dataset contains.
#[derive(Clone, Debug)]
pub struct InformationNeed<'g> {
    matches: &'g Matches,
    present: KeywordSet,
    pairs: Vec<KeywordSet>,
}

/// Measures of one snippet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[expect(missing_docs, reason = "defined in the module's table")]
pub struct Report {
    pub skm_rep: f64,
    pub ent_rep: f64,
    pub desc_rep: f64,
    pub link_rep: f64,
    /// Absent without a query, or if the dataset contains none of its keywords.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kw_rel: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qry_rel: Option<f64>,
}

impl Report {
    /// Names of the measures, in the order of [`values`](Self::values).
    pub const NAMES: [&str; 6] = ["SkmRep", "EntRep", "DescRep", "LinkRep", "KwRel", "QryRel"];

    /// Measures a snippet of a graph without a query.
    #[must_use]
    pub fn new(
        graph: &TripleGraph,
        profile: &Profile,
        patterns: &Patterns,
        snippet: &Snippet,
    ) -> Self {
        Reference::new(graph, profile, patterns).report(snippet, None)
    }

    /// Returns the values, in the order of [`NAMES`](Self::NAMES).
    #[must_use]
    pub fn values(&self) -> [Option<f64>; 6] {
        let Self {
            skm_rep,
            ent_rep,
            desc_rep,
            link_rep,
            kw_rel,
            qry_rel,
        } = *self;
        [
            Some(skm_rep),
            Some(ent_rep),
            Some(desc_rep),
            Some(link_rep),
            kw_rel,
            qry_rel,
        ]
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let present = Self::NAMES
            .iter()
            .zip(self.values())
            .filter_map(|(name, value)| Some((name, value?)));
        for (place, (name, value)) in present.enumerate() {
            write!(f, "{}{name} {value:.4}", if place == 0 { "" } else { "  " })?;
        }
        Ok(())
    }
}

impl<'g> InformationNeed<'g> {
    /// Creates the need of a query. `sequence` lists its keywords in query order, as positions of the matcher's bits.
    #[must_use]
    pub fn new(graph: &TripleGraph, matches: &'g Matches, sequence: &[usize]) -> Self {
        let present = matches.present();
        let mut pairs: Vec<KeywordSet> = sequence
            .windows(2)
            .filter(|pair| pair.iter().all(|&place| place < 64) && pair[0] != pair[1])
            .map(|pair| KeywordSet(1 << pair[0] | 1 << pair[1]))
            .filter(|pair| pair.difference(present).is_empty())
            .collect();
        if !pairs.is_empty() {
            let links = graph
                .triples()
                .iter()
                .map(|triple| (triple.subject, triple.object, matches.triple(*triple)));
            let components = connect_keywords(links);
            pairs.retain(|&pair| contains_pair(&components, pair));
        }
        Self {
            matches,
            present,
            pairs,
        }
    }
}

impl<'g> Reference<'g> {
    /// Creates the reference data of a graph.
    #[must_use]
    pub fn new(graph: &'g TripleGraph, profile: &'g Profile, patterns: &'g Patterns) -> Self {
        Self {
            graph,
            profile,
            patterns,
            degrees: Degrees::new(graph),
            kind: graph.iri(rdf::TYPE),
        }
    }

    /// Measures a snippet.
    #[must_use]
    pub fn report(&self, snippet: &Snippet, need: Option<&InformationNeed<'_>>) -> Report {
        let complete = self.complete(&snippet.triples);
        let kw_rel = need.and_then(|need| kw_rel(&snippet.triples, need));
        Report {
            skm_rep: self.skm_rep(&snippet.triples),
            ent_rep: self.ent_rep(&snippet.triples),
            desc_rep: self.desc_rep(&complete),
            link_rep: self.link_rep(&snippet.triples, &complete),
            kw_rel,
            qry_rel: need
                .and_then(|need| qry_rel(&snippet.triples, need))
                .or(kw_rel),
        }
    }

    /// Returns the entity that a triple links to.
    fn target(&self, triple: Triple) -> Option<TermId> {
        (Some(triple.predicate) != self.kind && self.graph.is_resource(triple.object))
            .then_some(triple.object)
    }

    fn class(&self, triple: Triple) -> Option<TermId> {
        (Some(triple.predicate) == self.kind && self.graph.is_resource(triple.object))
            .then_some(triple.object)
    }

    fn skm_rep(&self, snippet: &[Triple]) -> f64 {
        let properties = snippet.iter().map(|triple| triple.predicate).collect();
        let properties = covered_share(&self.profile.properties, &properties, self.profile.triples);
        if self.profile.type_triples == 0 {
            return properties;
        }
        let classes = snippet
            .iter()
            .filter_map(|&triple| self.class(triple))
            .collect();
        harmonic_mean(
            properties,
            covered_share(&self.profile.classes, &classes, self.profile.type_triples),
        )
    }

    fn ent_rep(&self, snippet: &[Triple]) -> f64 {
        let entities: FxHashSet<TermId> = snippet
            .iter()
            .flat_map(|&triple| [Some(triple.subject), self.target(triple)])
            .flatten()
            .collect();
        if entities.is_empty() {
            return 0.0;
        }
        // Sorted, because a floating-point sum must not depend on the order of a hash table.
        let mut entities: Vec<TermId> = entities.into_iter().collect();
        entities.sort_unstable();
        let out = mean_log_degree(&self.degrees.out, &entities).unwrap_or(0.0);
        match mean_log_degree(&self.degrees.into, &entities) {
            Some(into) => harmonic_mean(out, into),
            None => out,
        }
    }

    /// Returns the entities that show their whole description pattern.
    fn complete(&self, snippet: &[Triple]) -> FxHashSet<TermId> {
        let mut shown: FxHashMap<TermId, FxHashSet<Element>> = FxHashMap::default();
        for &triple in snippet {
            if let Some(class) = self.class(triple) {
                shown
                    .entry(triple.subject)
                    .or_default()
                    .insert(Element::Class(class));
            } else if Some(triple.predicate) != self.kind {
                shown
                    .entry(triple.subject)
                    .or_default()
                    .insert(Element::Outgoing(triple.predicate));
            }
            if let Some(target) = self.target(triple) {
                shown
                    .entry(target)
                    .or_default()
                    .insert(Element::Incoming(triple.predicate));
            }
        }
        // Shown elements are a subset of the pattern, so equal sizes imply equal sets.
        shown
            .into_iter()
            .filter_map(|(entity, elements)| {
                let pattern = self.patterns.pattern(self.patterns.pattern_of(entity)?);
                (pattern.elements.len() == elements.len()).then_some(entity)
            })
            .collect()
    }

    fn desc_rep(&self, complete: &FxHashSet<TermId>) -> f64 {
        let patterns: FxHashSet<_> = complete
            .iter()
            .filter_map(|&entity| self.patterns.pattern_of(entity))
            .collect();
        let described = patterns
            .into_iter()
            .map(|id| self.patterns.pattern(id).count())
            .sum();
        ratio(described, self.patterns.entities().len() as u64)
    }

    fn link_rep(&self, snippet: &[Triple], complete: &FxHashSet<TermId>) -> f64 {
        let mut patterns = FxHashSet::default();
        for triple in snippet {
            if complete.contains(&triple.subject)
                && let Some(target) = self.target(*triple)
                && complete.contains(&target)
                && let Ok(place) = self.graph.triples().binary_search(triple)
            {
                patterns.extend(self.patterns.link_pattern_of(place));
            }
        }
        ratio(
            patterns
                .into_iter()
                .map(|id| self.patterns.link_count(id))
                .sum(),
            self.patterns.total_links(),
        )
    }
}

/// Returns the share of the classes or properties in `shown`, by their counts.
fn covered_share(counts: &[(TermId, u64)], shown: &FxHashSet<TermId>, total: u64) -> f64 {
    let counts = counts.iter().filter(|(id, _)| shown.contains(id));
    ratio(counts.map(|(_, count)| count).sum(), total)
}

/// Returns the mean logarithm of the entities' degrees, relative to the largest; `None` if all degrees are 0.
fn mean_log_degree(degrees: &[u32], entities: &[TermId]) -> Option<f64> {
    let largest = degrees.iter().copied().max().unwrap_or(0);
    let sum: f64 = entities
        .iter()
        .map(|entity| log1(degrees[entity.index()]))
        .sum();
    (largest > 0).then(|| sum / log1(largest) / entities.len() as f64)
}

fn kw_rel(snippet: &[Triple], need: &InformationNeed<'_>) -> Option<f64> {
    let contained = snippet.iter().fold(KeywordSet::NONE, |all, triple| {
        all.union(need.matches.triple(*triple))
    });
    (!need.present.is_empty()).then(|| f64::from(contained.len()) / f64::from(need.present.len()))
}

/// Returns `None` if the dataset contains no pair.
fn qry_rel(snippet: &[Triple], need: &InformationNeed<'_>) -> Option<f64> {
    if need.pairs.is_empty() {
        return None;
    }
    let links = snippet.iter().flat_map(|&triple| {
        let keywords = need.matches.triple(triple);
        [
            (triple.subject, triple.predicate, keywords),
            (triple.predicate, triple.object, keywords),
        ]
    });
    let components = connect_keywords(links);
    let contained = need
        .pairs
        .iter()
        .filter(|&&pair| contains_pair(&components, pair))
        .count();
    Some(contained as f64 / need.pairs.len() as f64)
}

/// Returns the keywords of each connected component of the graph of these links.
fn connect_keywords(links: impl Iterator<Item = (TermId, TermId, KeywordSet)>) -> Vec<KeywordSet> {
    let mut numbers: FxHashMap<TermId, usize> = FxHashMap::default();
    let mut sets: UnionFind<usize> = UnionFind::new_empty();
    let mut contained: Vec<KeywordSet> = Vec::new();
    for (from, to, keywords) in links {
        let [from, to] = [from, to].map(|term| {
            let node = *numbers.entry(term).or_insert_with(|| sets.new_set());
            contained.resize(sets.len(), KeywordSet::NONE);
            sets.find_mut(node)
        });
        sets.union(from, to);
        let all = contained[from].union(contained[to]).union(keywords);
        // After the union: which of both roots remains is up to the union.
        contained[sets.find_mut(from)] = all;
    }
    let roots = (0..sets.len()).filter(|&node| sets.find(node) == node);
    roots.map(|node| contained[node]).collect()
}

fn contains_pair(components: &[KeywordSet], pair: KeywordSet) -> bool {
    components
        .iter()
        .any(|contained| pair.difference(*contained).is_empty())
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

fn harmonic_mean(a: f64, b: f64) -> f64 {
    if a + b == 0.0 {
        0.0
    } else {
        2.0 * a * b / (a + b)
    }
}

#[cfg(test)]
mod tests;
