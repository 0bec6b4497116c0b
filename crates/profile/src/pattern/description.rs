//! Serialization of patterns as triples, in addition to the VoID of a profile.

use super::{Element, EntityPattern, LinkPatternId, PatternId, Patterns};
use lodeseek_rdf::TripleGraph;
use lodeseek_rdf::vocab::{lodeseek, rdf, void};
use oxrdf::{Literal, NamedNode, Term, Triple};

impl Patterns {
    /// Returns the numbers of patterns of `dataset`, and its `most` most frequent ones of each kind. Parts have the
    /// dataset's IRI with a fragment.
    ///
    /// A link pattern is described only if both of its entity patterns are.
    #[must_use]
    pub fn to_triples(&self, graph: &TripleGraph, dataset: &NamedNode, most: usize) -> Vec<Triple> {
        let mut out = Description { graph, dataset, most, triples: Vec::new() };
        out.count(dataset, lodeseek::ENTITY_PATTERNS, self.len() as u64);
        out.count(dataset, lodeseek::LINK_PATTERNS, self.link_patterns().len() as u64);
        for pattern in self.patterns().take(most) {
            out.entity_pattern(&pattern);
        }
        for id in (0..self.link_patterns().len().min(most) as u32).map(LinkPatternId) {
            out.link_pattern(self, id);
        }
        out.triples
    }
}

struct Description<'d> {
    graph: &'d TripleGraph,
    dataset: &'d NamedNode,
    most: usize,
    triples: Vec<Triple>,
}

impl Description<'_> {
    fn entity_pattern(&mut self, pattern: &EntityPattern<'_>) {
        let part = self.part("entity-pattern", pattern.id.0);
        self.add(self.dataset, lodeseek::HAS_ENTITY_PATTERN, part.clone());
        self.add(&part, rdf::TYPE, node(lodeseek::ENTITY_PATTERN));
        self.count(&part, void::ENTITIES, pattern.count());
        for &element in pattern.elements {
            let (property, term) = match element {
                Element::Class(class) => (void::CLASS, class),
                Element::Outgoing(property) => (lodeseek::OUTGOING_PROPERTY, property),
                Element::Incoming(property) => (lodeseek::INCOMING_PROPERTY, property),
            };
            self.add(&part, property, self.graph.term(term).to_term());
        }
    }

    fn link_pattern(&mut self, patterns: &Patterns, id: LinkPatternId) {
        let pattern = patterns.link_patterns()[id.index()];
        let described = |end: PatternId| end.index() < self.most;
        if !described(pattern.subject) || !described(pattern.object) {
            return;
        }
        let part = self.part("link-pattern", id.0);
        self.add(self.dataset, lodeseek::HAS_LINK_PATTERN, part.clone());
        self.add(&part, rdf::TYPE, node(lodeseek::LINK_PATTERN));
        self.add(&part, lodeseek::SUBJECT_PATTERN, self.part("entity-pattern", pattern.subject.0));
        self.add(&part, void::PROPERTY, self.graph.term(pattern.property).to_term());
        self.add(&part, lodeseek::OBJECT_PATTERN, self.part("entity-pattern", pattern.object.0));
        self.count(&part, void::TRIPLES, patterns.link_count(id));
    }

    fn add(&mut self, subject: &NamedNode, predicate: &str, object: impl Into<Term>) {
        self.triples.push(Triple::new(subject.clone(), node(predicate), object));
    }

    fn count(&mut self, subject: &NamedNode, predicate: &str, count: u64) {
        self.add(subject, predicate, Literal::from(i64::try_from(count).unwrap_or(i64::MAX)));
    }

    fn part(&self, name: &str, place: u32) -> NamedNode {
        NamedNode::new_unchecked(format!("{}#{name}-{}", self.dataset.as_str(), place + 1))
    }
}

fn node(iri: &str) -> NamedNode {
    NamedNode::new_unchecked(iri)
}
