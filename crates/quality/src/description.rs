//! Nodes of a description in the catalogue graph.

use lodeseek_rdf::vocab::{dcterms, foaf, rdfs, skos, vcard};
use lodeseek_rdf::{TermId, TermRef, TripleGraph, local_name};

/// A node or a value.
#[derive(Clone, Copy)]
pub(super) struct Node<'g> {
    graph: &'g TripleGraph,
    id: TermId,
}

impl<'g> Node<'g> {
    pub(super) fn find(graph: &'g TripleGraph, iri: &str) -> Option<Self> {
        graph.iri(iri).map(|id| Self { graph, id })
    }

    /// Returns the identifier of the node in its graph.
    pub(super) fn id(self) -> TermId {
        self.id
    }

    pub(super) fn term(self) -> TermRef<'g> {
        self.graph.term(self.id)
    }

    pub(super) fn objects(self, property: &str) -> impl Iterator<Item = Self> + use<'g> {
        let property = self.graph.iri(property);
        // The triples of a subject are sorted by predicate.
        let triples = self.graph.subject_triples(self.id);
        let start = triples.partition_point(|triple| Some(triple.predicate) < property);
        // The property is `None` if the graph lacks its IRI; no triple equals that.
        let found = triples[start..]
            .iter()
            .take_while(move |triple| Some(triple.predicate) == property);
        found.map(move |triple| Self {
            graph: self.graph,
            id: triple.object,
        })
    }

    /// Iterates over all (property, value) of the node.
    pub(super) fn statements(self) -> impl Iterator<Item = (&'g str, Self)> {
        let triples = self.graph.subject_triples(self.id).iter();
        triples.map(move |triple| {
            (
                self.graph.term(triple.predicate).text(),
                Self {
                    graph: self.graph,
                    id: triple.object,
                },
            )
        })
    }

    /// Returns the first non-empty value of a property.
    pub(super) fn value(self, property: &str) -> Option<Self> {
        self.objects(property)
            .find(|object| !object.term().text().trim().is_empty())
    }

    /// Returns the IRI; `None` for a blank node or a literal.
    pub(super) fn iri(self) -> Option<&'g str> {
        match self.term() {
            TermRef::Iri(iri) => Some(iri),
            TermRef::Blank(_) | TermRef::Literal { .. } | TermRef::Triple(_) => None,
        }
    }

    /// Returns the language tag of a literal.
    pub(super) fn language(self) -> Option<&'g str> {
        self.term().language()
    }

    /// Returns the name: the literal itself, a label, or the end of the IRI.
    pub(super) fn name(self) -> String {
        match self.term() {
            TermRef::Literal { lexical, .. } => lexical.trim().to_owned(),
            TermRef::Iri(iri) => self.label().unwrap_or_else(|| local_name(iri)).to_owned(),
            TermRef::Blank(_) | TermRef::Triple(_) => self.label().unwrap_or_default().to_owned(),
        }
    }

    fn label(self) -> Option<&'g str> {
        let properties = [
            foaf::NAME,
            skos::PREF_LABEL,
            rdfs::LABEL,
            vcard::FN,
            dcterms::TITLE,
        ];
        let label = properties
            .iter()
            .find_map(|property| self.value(property))?;
        Some(label.term().text())
    }

    /// Returns texts that may contain the name of a format: the value itself and its label.
    pub(super) fn texts(self) -> [String; 2] {
        [self.term().text().to_owned(), self.name()]
    }
}
