//! Serialization of patterns as triples, in addition to the VoID of a profile.

use super::{CountedLinkPattern, Element, LinkPatternCount, PatternId, PatternSummary};
use crate::MAX_NAME_BYTES;
use lodeseek_rdf::TripleGraph;
use lodeseek_rdf::vocab::{lodeseek, rdf, void};
use oxrdf::{Literal, NamedNode, Term, Triple};
use std::collections::HashSet;

/// Minimum number of entities or links of a written pattern. In small datasets most combinations occur once, and their descriptions would
/// exceed the data.
const MIN_OCCURRENCES: u64 = 2;

impl PatternSummary {
    /// Returns the numbers of patterns of `dataset`, and the listed ones that occur twice or more. Parts have the dataset's IRI with a
    /// fragment. An entity pattern that occurs once is included if an included link pattern refers to it. Without entities there are
    /// no triples.
    ///
    /// An estimated number of link patterns is `lodeseek:estimatedLinkPatterns`, an exact one `lodeseek:linkPatterns`.
    #[must_use]
    pub fn to_triples(&self, graph: &TripleGraph, dataset: &NamedNode) -> Vec<Triple> {
        let mut out = Description {
            graph,
            dataset,
            triples: Vec::new(),
        };
        if self.entity_pattern_count == 0 {
            return out.triples;
        }
        out.count(
            dataset,
            lodeseek::ENTITY_PATTERNS,
            self.entity_pattern_count,
        );
        match self.link_pattern_count {
            LinkPatternCount::Exact(count) => out.count(dataset, lodeseek::LINK_PATTERNS, count),
            LinkPatternCount::Estimate(count) => {
                out.count(dataset, lodeseek::ESTIMATED_LINK_PATTERNS, count)
            }
        }
        let linked: HashSet<PatternId> = self
            .repeated_link_patterns()
            .flat_map(|counted| [counted.pattern.subject, counted.pattern.object])
            .collect();
        for (rank, (elements, entities)) in self.entity_patterns.iter().enumerate() {
            let rank = rank as u32;
            if *entities >= MIN_OCCURRENCES || linked.contains(&PatternId(rank)) {
                out.entity_pattern(rank, elements, *entities);
            }
        }
        for counted in self.repeated_link_patterns() {
            out.link_pattern(counted);
        }
        out.triples
    }

    /// Returns the link patterns that occur often enough for a description.
    fn repeated_link_patterns(&self) -> impl Iterator<Item = &CountedLinkPattern> {
        self.link_patterns
            .iter()
            .filter(|counted| counted.links >= MIN_OCCURRENCES)
    }
}

/// Maximum number of described elements of a pattern. Names of more than 2,000 bytes are left out.
const MAX_ELEMENTS: usize = 1_000;

struct Description<'d> {
    graph: &'d TripleGraph,
    dataset: &'d NamedNode,
    triples: Vec<Triple>,
}

impl Description<'_> {
    fn entity_pattern(&mut self, rank: u32, elements: &[Element], entities: u64) {
        let part = self.part("entity-pattern", rank);
        self.add(self.dataset, lodeseek::HAS_ENTITY_PATTERN, part.clone());
        self.add(&part, rdf::TYPE, node(lodeseek::ENTITY_PATTERN));
        self.count(&part, void::ENTITIES, entities);
        let elements = elements.iter().map(|&element| match element {
            Element::Class(class) => (void::CLASS, class),
            Element::Outgoing(property) => (lodeseek::OUTGOING_PROPERTY, property),
            Element::Incoming(property) => (lodeseek::INCOMING_PROPERTY, property),
        });
        let short =
            elements.filter(|(_, term)| self.graph.term(*term).text().len() <= MAX_NAME_BYTES);
        for (property, term) in short.take(MAX_ELEMENTS) {
            self.add(&part, property, self.graph.to_term(term));
        }
    }

    fn link_pattern(&mut self, counted: &CountedLinkPattern) {
        let pattern = counted.pattern;
        let part = self.part("link-pattern", counted.rank);
        self.add(self.dataset, lodeseek::HAS_LINK_PATTERN, part.clone());
        self.add(&part, rdf::TYPE, node(lodeseek::LINK_PATTERN));
        self.add(
            &part,
            lodeseek::SUBJECT_PATTERN,
            self.part("entity-pattern", pattern.subject.0),
        );
        self.add(&part, void::PROPERTY, self.graph.to_term(pattern.property));
        self.add(
            &part,
            lodeseek::OBJECT_PATTERN,
            self.part("entity-pattern", pattern.object.0),
        );
        self.count(&part, void::TRIPLES, counted.links);
    }

    fn add(&mut self, subject: &NamedNode, predicate: &str, object: impl Into<Term>) {
        self.triples
            .push(Triple::new(subject.clone(), node(predicate), object));
    }

    fn count(&mut self, subject: &NamedNode, predicate: &str, count: u64) {
        self.add(subject, predicate, Literal::from(count));
    }

    fn part(&self, name: &str, rank: u32) -> NamedNode {
        NamedNode::new_unchecked(format!("{}#{name}-{}", self.dataset.as_str(), rank + 1))
    }
}

fn node(iri: &str) -> NamedNode {
    NamedNode::new_unchecked(iri)
}
