//! Serialization of a profile as VoID triples.

use super::Profile;
use lodeseek_rdf::TripleGraph;
use lodeseek_rdf::vocab::{lodeseek, rdf, void};
use oxrdf::{Literal, NamedNode, Term, Triple};

impl Profile {
    /// Returns the profile as VoID triples of `dataset`. Partitions have the dataset's IRI with a fragment.
    ///
    /// VoID has no term for languages: `lodeseek:languagePartition` is used.
    #[must_use]
    pub fn to_void(&self, graph: &TripleGraph, dataset: &NamedNode) -> Vec<Triple> {
        let mut out = Void { triples: Vec::new(), dataset };
        out.add(dataset, rdf::TYPE, node(void::DATASET));
        for (property, count) in [
            (void::TRIPLES, self.triples),
            (void::ENTITIES, self.entities),
            (void::DISTINCT_SUBJECTS, self.distinct_subjects),
            (void::DISTINCT_OBJECTS, self.distinct_objects),
            (void::CLASSES, self.classes.len() as u64),
            (void::PROPERTIES, self.properties.len() as u64),
            (lodeseek::LITERALS, self.literals),
        ] {
            out.count(dataset, property, count);
        }
        for (place, &(class, count)) in self.classes.iter().enumerate() {
            let part = out.part(void::CLASS_PARTITION, "class", place);
            out.add(&part, void::CLASS, graph.term(class).to_term());
            out.count(&part, void::ENTITIES, count);
        }
        for (place, &(property, count)) in self.properties.iter().enumerate() {
            let part = out.part(void::PROPERTY_PARTITION, "property", place);
            out.add(&part, void::PROPERTY, graph.term(property).to_term());
            out.count(&part, void::TRIPLES, count);
        }
        for (namespace, _) in &self.vocabularies {
            out.add(dataset, void::VOCABULARY, node(namespace));
        }
        for (place, (tag, count)) in self.languages.iter().enumerate() {
            let part = out.part(lodeseek::LANGUAGE_PARTITION, "language", place);
            out.add(&part, lodeseek::LANGUAGE_TAG, Literal::from(tag.as_str()));
            out.count(&part, lodeseek::LITERALS, *count);
        }
        for (place, (space, count)) in self.links.iter().enumerate() {
            let part = out.part(void::SUBSET, "links", place);
            let target = NamedNode::new_unchecked(format!("{}-target", part.as_str()));
            out.add(&part, rdf::TYPE, node(void::LINKSET));
            out.add(&part, void::SUBJECTS_TARGET, dataset.clone());
            out.add(&part, void::OBJECTS_TARGET, target.clone());
            out.add(&target, void::URI_SPACE, Literal::from(space.as_str()));
            out.count(&part, void::TRIPLES, *count);
        }
        out.triples
    }
}

fn node(iri: &str) -> NamedNode {
    NamedNode::new_unchecked(iri)
}

struct Void<'d> {
    triples: Vec<Triple>,
    dataset: &'d NamedNode,
}

impl Void<'_> {
    fn add(&mut self, subject: &NamedNode, predicate: &str, object: impl Into<Term>) {
        self.triples.push(Triple::new(subject.clone(), node(predicate), object));
    }

    fn count(&mut self, subject: &NamedNode, predicate: &str, count: u64) {
        self.add(subject, predicate, Literal::from(i64::try_from(count).unwrap_or(i64::MAX)));
    }

    fn part(&mut self, property: &str, name: &str, place: usize) -> NamedNode {
        let part = node(&format!("{}#{name}-{}", self.dataset.as_str(), place + 1));
        self.add(&self.dataset.clone(), property, part.clone());
        part
    }
}
