//! Terms of content without those that only describe its tables.
//!
//! The reader of tables describes files, sheets and columns beside the cells. These triples are the same for all tables, so they
//! do not distinguish a dataset.

use lodeseek_rdf::vocab::{csvw, lodeseek, prov, rdf, rdfs, schema, void};
use lodeseek_rdf::{TermId, TermRef, TripleGraph, namespace};
use rustc_hash::FxHashSet;

/// Properties by which the reader describes tables, rows and columns, besides those of CSV on the Web and of Lodeseek.
const TABLE_PROPERTIES: [&str; 9] = [
    rdf::TYPE,
    rdfs::LABEL,
    rdfs::COMMENT,
    rdfs::DOMAIN,
    rdfs::RANGE,
    void::ENTITIES,
    void::PROPERTIES,
    prov::WAS_DERIVED_FROM,
    schema::POSITION,
];

/// Classes and properties of a graph that describe entities.
pub(super) struct ContentTerms<'g> {
    graph: &'g TripleGraph,
    /// Addresses of the files that were read as tables.
    files: FxHashSet<&'g str>,
    terms: FxHashSet<TermId>,
}

impl<'g> ContentTerms<'g> {
    /// Reads the terms of a graph with tables. Returns `None` if the graph has none: then all of its terms describe entities.
    pub(super) fn new(graph: &'g TripleGraph) -> Option<Self> {
        let (kind, table) = (graph.iri(rdf::TYPE)?, graph.iri(csvw::TABLE)?);
        let mut content = Self {
            graph,
            files: FxHashSet::default(),
            terms: FxHashSet::default(),
        };
        for triple in graph.triples() {
            if triple.predicate == kind
                && triple.object == table
                && let TermRef::Iri(iri) = graph.term(triple.subject)
            {
                content.files.insert(without_fragment(iri));
            }
        }
        if content.files.is_empty() {
            return None;
        }
        let mut part = None;
        for triple in graph.triples() {
            // Triples of a subject are adjacent.
            let is_part = match part {
                Some((subject, is_part)) if subject == triple.subject => is_part,
                _ => content.is_part(triple.subject),
            };
            part = Some((triple.subject, is_part));
            if !is_part || !content.describes_table(triple.predicate) {
                content.terms.insert(triple.predicate);
            }
            if triple.predicate == kind && (!is_part || !content.describes_table(triple.object)) {
                content.terms.insert(triple.object);
            }
        }
        Some(content)
    }

    /// Returns true for a class or a property that describes an entity, or a row of a table by a vocabulary.
    pub(super) fn contains(&self, term: TermId) -> bool {
        self.terms.contains(&term)
    }

    /// Returns the namespaces of the classes and properties, in alphabetical order.
    pub(super) fn namespaces(&self) -> Vec<&'g str> {
        let mut namespaces = Vec::new();
        for term in &self.terms {
            if let TermRef::Iri(iri) = self.graph.term(*term) {
                namespaces.extend(namespace(iri));
            }
        }
        namespaces.sort_unstable();
        namespaces.dedup();
        namespaces
    }

    /// Returns true for the IRI of a file that was read as a table, or of a part of one.
    fn is_part(&self, term: TermId) -> bool {
        match self.graph.term(term) {
            TermRef::Iri(iri) => self.files.contains(without_fragment(iri)),
            _ => false,
        }
    }

    /// Returns true for a class or a property of the description of a table, and for a column without a vocabulary.
    fn describes_table(&self, term: TermId) -> bool {
        let iri = self.graph.term(term).text();
        self.is_part(term)
            || iri.starts_with(csvw::NAMESPACE)
            || iri.starts_with(lodeseek::NAMESPACE)
            || TABLE_PROPERTIES.contains(&iri)
    }
}

fn without_fragment(iri: &str) -> &str {
    iri.split('#').next().unwrap_or(iri)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_rdf::TripleGraphBuilder;
    use lodeseek_rdf::dump::DumpReader;

    fn read(turtle: &str) -> TripleGraph {
        let mut builder = TripleGraphBuilder::new();
        DumpReader::default().read(turtle.as_bytes(), "t.ttl", "http://e.org/", &mut builder);
        builder.finish()
    }

    #[test]
    fn descriptions_of_tables_are_no_terms_of_the_content() {
        let graph = read(
            r##"@prefix csvw: <http://www.w3.org/ns/csvw#> . @prefix s: <https://schema.org/> .
            @prefix prov: <http://www.w3.org/ns/prov#> . @prefix void: <http://rdfs.org/ns/void#> .
            @prefix foaf: <http://xmlns.com/foaf/0.1/> . @base <http://e.org/w.csv> .
            <> a csvw:Table ; void:entities 1 ; <https://w3id.org/lodeseek/ns#emptyCells> 0 ; csvw:dialect <#Dialect> .
            <#Dialect> a csvw:Dialect . <#Row> prov:wasDerivedFrom <> . <#well> s:position 1 .
            <#row=2> a <#Row>, <http://e.org/terms/Well> ; csvw:rownum 1 ; <#well> "Elm" ; foaf:maker <http://e.org/anna> .
            <http://e.org/anna> a foaf:Person ; <http://rdfs.org/ns/void#feature> 1 .
            <http://e.org/doc.xml> a csvw:Table . <http://e.org/doc.xml#/a> <http://e.org/doc.xml#key> 1 ."##,
        );
        let content = ContentTerms::new(&graph).expect("tables");
        assert_eq!(
            content.namespaces(),
            [
                "http://e.org/terms/",
                "http://rdfs.org/ns/void#",
                "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
                "http://xmlns.com/foaf/0.1/",
            ]
        );
        for (iri, expected) in [
            ("http://e.org/terms/Well", true),
            ("http://xmlns.com/foaf/0.1/maker", true),
            ("http://e.org/w.csv#Row", false),
            ("http://e.org/w.csv#well", false),
            (csvw::TABLE, false),
            (csvw::DIALECT_CLASS, false),
        ] {
            let term = graph.iri(iri).expect("a term");
            assert_eq!(content.contains(term), expected, "{iri}");
        }
    }

    #[test]
    fn all_terms_of_other_graphs_are_terms_of_the_content() {
        assert!(ContentTerms::new(&read("<a> a <http://www.w3.org/ns/csvw#Dialect> .")).is_none());
    }
}
