//! Serialization of a profile as VoID triples.

use super::{Profile, TableSummary};
use lodeseek_rdf::TripleGraph;
use lodeseek_rdf::vocab::{csvw, lodeseek, rdf, rdfs, void};
use oxrdf::{Literal, NamedNode, Term, Triple};

/// Maximum length of each list of partitions, the most frequent first. The counts are those of the whole lists.
const MAX_PARTITIONS: usize = 100_000;

impl Profile {
    /// Returns the profile as VoID triples of `dataset`. Partitions have the dataset's IRI with a fragment. Without content there
    /// are none: a number that is not known is not 0.
    ///
    /// VoID has no term for languages: `lodeseek:languagePartition` is used.
    #[must_use]
    pub fn to_void(&self, graph: &TripleGraph, dataset: &NamedNode) -> Vec<Triple> {
        let mut out = Void {
            triples: Vec::new(),
            dataset,
        };
        if self.triples == 0 {
            return out.triples;
        }
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
        for (place, &(class, count)) in self.classes.iter().take(MAX_PARTITIONS).enumerate() {
            out.class_partition(place, graph.to_term(class), count);
        }
        for (place, &(property, count)) in self.properties.iter().take(MAX_PARTITIONS).enumerate() {
            out.property_partition(place, graph.to_term(property), count);
        }
        for (namespace, _) in self.vocabularies.iter().take(MAX_PARTITIONS) {
            out.add(dataset, void::VOCABULARY, node(namespace));
        }
        for (place, (tag, count)) in self.languages.iter().take(MAX_PARTITIONS).enumerate() {
            out.language_partition(place, tag, *count);
        }
        for (place, (space, count)) in self.links.iter().take(MAX_PARTITIONS).enumerate() {
            out.linkset(place, space, *count);
        }
        for (place, table) in self.tables.iter().take(MAX_PARTITIONS).enumerate() {
            out.add_table(place, table);
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
        self.triples
            .push(Triple::new(subject.clone(), node(predicate), object));
    }

    fn count(&mut self, subject: &NamedNode, predicate: &str, count: u64) {
        self.add(subject, predicate, Literal::from(count));
    }

    fn class_partition(&mut self, place: usize, class: Term, entities: u64) {
        let part = self.part(void::CLASS_PARTITION, "class", place);
        self.add(&part, void::CLASS, class);
        self.count(&part, void::ENTITIES, entities);
    }

    fn property_partition(&mut self, place: usize, property: Term, triples: u64) {
        let part = self.part(void::PROPERTY_PARTITION, "property", place);
        self.add(&part, void::PROPERTY, property);
        self.count(&part, void::TRIPLES, triples);
    }

    fn language_partition(&mut self, place: usize, tag: &str, literals: u64) {
        let part = self.part(lodeseek::LANGUAGE_PARTITION, "language", place);
        self.add(&part, lodeseek::LANGUAGE_TAG, Literal::from(tag));
        self.count(&part, lodeseek::LITERALS, literals);
    }

    fn linkset(&mut self, place: usize, space: &str, triples: u64) {
        let part = self.part(void::SUBSET, "links", place);
        let target = NamedNode::new_unchecked(format!("{}-target", part.as_str()));
        self.add(&part, rdf::TYPE, node(void::LINKSET));
        self.add(&part, void::SUBJECTS_TARGET, self.dataset.clone());
        self.add(&part, void::OBJECTS_TARGET, target.clone());
        self.add(&target, void::URI_SPACE, Literal::from(space));
        self.count(&part, void::TRIPLES, triples);
    }

    /// Adds the facts of a table, which is a subset of the dataset.
    fn add_table(&mut self, place: usize, summary: &TableSummary) {
        let table = node(&summary.iri);
        self.add(self.dataset, void::SUBSET, table.clone());
        self.add(&table, rdf::TYPE, node(csvw::TABLE));
        self.add(&table, rdfs::LABEL, Literal::from(summary.name.as_str()));
        for (property, number) in [
            (void::ENTITIES, Some(summary.rows)),
            (void::PROPERTIES, Some(summary.columns)),
            (lodeseek::EMPTY_CELLS, summary.empty_cells),
            (lodeseek::MIXED_CELLS, summary.mixed_cells),
            (lodeseek::OMITTED_ROWS, Some(summary.omitted_rows)),
        ] {
            if let Some(number) = number {
                self.count(&table, property, number);
            }
        }
        let Some(encoding) = &summary.encoding else {
            return;
        };
        let dialect = node(&format!("{}#dialect-{}", self.dataset.as_str(), place + 1));
        self.add(&table, csvw::DIALECT, dialect.clone());
        self.add(&dialect, rdf::TYPE, node(csvw::DIALECT_CLASS));
        self.add(&dialect, csvw::ENCODING, Literal::from(encoding.as_str()));
        if let Some(delimiter) = &summary.delimiter {
            self.add(&dialect, csvw::DELIMITER, Literal::from(delimiter.as_str()));
        }
        if let Some(rows) = summary.header_rows {
            self.count(&dialect, csvw::HEADER_ROW_COUNT, rows);
        }
    }

    /// Adds a part of the dataset and returns its node.
    fn part(&mut self, property: &str, name: &str, place: usize) -> NamedNode {
        let part = node(&format!("{}#{name}-{}", self.dataset.as_str(), place + 1));
        self.add(self.dataset, property, part.clone());
        part
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_rdf::TripleGraphBuilder;

    #[test]
    fn no_content_has_no_counts() {
        let dataset = node("http://e.org/d");
        let mut builder = TripleGraphBuilder::new();
        let empty = TripleGraphBuilder::new().finish();
        assert!(
            Profile::new(&empty).to_void(&empty, &dataset).is_empty(),
            "an unknown number is not 0"
        );
        let triple = Triple::new(dataset.clone(), node("http://e.org/p"), Literal::from("x"));
        builder.insert(triple.as_ref());
        let graph = builder.finish();
        let triples = Profile::new(&graph).to_void(&graph, &dataset);
        let count = Triple::new(dataset, node(void::TRIPLES), Literal::from(1));
        assert!(triples.contains(&count), "{triples:?}");
    }
}
