//! Reads one node of an RDF graph: its texts, values, parts and IRI. Readers of datasets build on it.

use super::Text;
use lodeseek_rdf::vocab::{lodeseek, owl};
use lodeseek_rdf::{TermId, TermRef, TripleGraph};
use rustc_hash::FxHashSet;

/// Placeholder for the catalogue's folder while IRIs are resolved. An IRI of this scheme is a relative reference.
///
/// The folder lies deep enough to recognise references to the folders above it.
pub(super) const FOLDER: &str = "catalog-folder://local/-/-/-/-/";
/// Scheme of the placeholder, and its folders above [`FOLDER`].
const SCHEME: &str = "catalog-folder:";
const ROOT: &str = "//local/";
const LOCAL_BASE_DEPTH: usize = 4;

/// If true, the IRI is a relative reference in a file without an address.
pub(super) fn is_relative(iri: &str) -> bool {
    iri.starts_with(SCHEME)
}

/// Returns a relative reference as its file has it, percent-decoded; `None` for other IRIs.
pub(super) fn relative_reference(iri: &str) -> Option<String> {
    let reference = iri.strip_prefix(SCHEME)?;
    // A reference with an authority, as in `//example.org/`.
    let Some(mut path) = reference.strip_prefix(ROOT) else {
        return Some(reference.to_owned());
    };
    let mut depth = 0;
    // The bound is the number of folders of the placeholder: a real folder may have the name `-` too.
    while let Some(rest) = path.strip_prefix("-/").filter(|_| depth < LOCAL_BASE_DEPTH) {
        path = rest;
        depth += 1;
    }
    let decoded = super::iris::decode_segment(path);
    let path = decoded.as_deref().unwrap_or(path);
    Some(if depth == 0 {
        format!("/{path}")
    } else {
        format!("{}{path}", "../".repeat(LOCAL_BASE_DEPTH - depth))
    })
}

/// Maximum size of a text or an IRI in a description, in bytes. Triples with longer objects are left out.
pub(super) const MAX_TEXT_BYTES: usize = 100_000;

/// Returns true if a term is not too long for a description.
pub(super) fn is_short(graph: &TripleGraph, term: TermId) -> bool {
    graph.term(term).text().len() <= MAX_TEXT_BYTES
}

/// A node of a graph and its description.
#[derive(Clone, Copy)]
pub(super) struct NodeReader<'g> {
    pub(super) graph: &'g TripleGraph,
    pub(super) node: TermId,
    /// IRI of the dataset if the description is from the catalogue graph: nodes under this IRI are its parts.
    pub(super) dataset_iri: Option<&'g str>,
}

impl<'g> NodeReader<'g> {
    pub(super) fn at(&self, node: TermId) -> Self {
        Self { node, ..*self }
    }

    pub(super) fn is_stored(&self) -> bool {
        self.dataset_iri.is_some()
    }

    /// Returns true if the description is from a home of an earlier version. Its `dct:source` is the dataset's IRI in its
    /// catalogue, and its `dct:identifier` the id.
    pub(super) fn is_of_earlier_version(&self) -> bool {
        let Some(iri) = self.dataset_iri.and_then(|iri| self.graph.iri(iri)) else {
            return false;
        };
        self.at(iri).objects(lodeseek::ID).next().is_none()
    }

    /// Returns the name of the part with this IRI.
    pub(super) fn part<'a>(&self, iri: &'a str) -> Option<&'a str> {
        iri.strip_prefix(self.dataset_iri?)?.strip_prefix('#')
    }

    /// Returns true if the description is from the catalogue graph of a home, and the IRI begins with the home's base.
    pub(super) fn is_of_home(&self, iri: &str) -> bool {
        // The IRI of a dataset is the base, `dataset/` and one segment.
        let base = self
            .dataset_iri
            .and_then(|dataset| dataset.rsplit_once("dataset/"))
            .map(|(base, _)| base);
        base.is_some_and(|base| iri.starts_with(base))
    }

    /// Returns the text of a relative reference, which may be the path of a file in the catalogue's folder.
    pub(super) fn file(&self, iri: &str) -> Option<String> {
        relative_reference(iri)
    }

    /// Iterates over the objects of a property. Terms of schema.org are found with both schemes.
    pub(super) fn objects<'a>(
        &'a self,
        property: &str,
    ) -> impl Iterator<Item = TermId> + use<'a, 'g> {
        let twin = property
            .strip_prefix("https://schema.org/")
            .map(|name| format!("http://schema.org/{name}"));
        let further = twin
            .map(|property| self.own_objects(&property))
            .into_iter()
            .flatten();
        self.own_objects(property).chain(further)
    }

    fn own_objects<'a>(&'a self, property: &str) -> impl Iterator<Item = TermId> + use<'a, 'g> {
        let property = self.graph.iri(property);
        // The triples of a subject are sorted by predicate.
        let triples = self.graph.subject_triples(self.node);
        let start = triples.partition_point(|triple| Some(triple.predicate) < property);
        let (graph, triples) = (self.graph, triples[start..].iter());
        let objects = triples
            .take_while(move |triple| Some(triple.predicate) == property)
            .map(|triple| triple.object);
        objects.filter(move |object| is_short(graph, *object))
    }

    pub(super) fn texts(&self, properties: &[&str]) -> Vec<Text> {
        let (mut texts, mut seen) = (Vec::new(), FxHashSet::default());
        for property in properties {
            for object in self.objects(property) {
                let TermRef::Literal { lexical, kind } = self.graph.term(object) else {
                    continue;
                };
                let language = kind.language().map(str::to_owned);
                let text = Text {
                    value: lexical.trim().to_owned(),
                    language,
                };
                if !text.value.is_empty() && seen.insert(text.clone()) {
                    texts.push(text);
                }
            }
        }
        texts
    }

    pub(super) fn value(&self, properties: &[&str]) -> Option<String> {
        self.values(properties).next()
    }

    /// Returns the values of some properties as texts, in this order.
    pub(super) fn values(&self, properties: &[&str]) -> impl Iterator<Item = String> {
        let objects = properties
            .iter()
            .flat_map(|property| self.objects(property));
        let texts = objects.filter_map(|object| match self.graph.term(object) {
            TermRef::Blank(_) | TermRef::Triple(_) => None,
            TermRef::Iri(iri) if self.part(iri).is_some() => self.at(object).web_iri(),
            TermRef::Iri(iri) if is_relative(iri) => self.file(iri),
            term => Some(term.text().trim().to_owned()),
        });
        texts.filter(|text| !text.is_empty())
    }

    pub(super) fn parts<'a>(
        &'a self,
        property: &str,
    ) -> impl Iterator<Item = NodeReader<'g>> + use<'a, 'g> {
        self.objects(property).map(|node| self.at(node))
    }

    /// Returns the node's IRI on the web: its own, or that of the resource described by the part (`owl:sameAs`).
    pub(super) fn web_iri(&self) -> Option<String> {
        let TermRef::Iri(iri) = self.graph.term(self.node) else {
            return None;
        };
        match (self.part(iri), self.file(iri)) {
            (Some(_), _) => {
                let same = self
                    .objects(owl::SAME_AS)
                    .map(|object| self.graph.term(object).text());
                same.filter(|iri| self.part(iri).is_none())
                    .map(str::to_owned)
                    .next()
            }
            (None, Some(_)) => None,
            (None, None) => Some(iri.to_owned()),
        }
    }

    pub(super) fn number(&self, property: &str) -> Option<u64> {
        self.value(&[property])?.parse().ok()
    }
}
