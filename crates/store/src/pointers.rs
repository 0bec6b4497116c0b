//! Pointers from datasets to the graphs of their current content.
//!
//! Clients name the graph of a dataset by the IRI of the dataset. The name of the graph in the store contains the version and
//! changes with the content, so it appears in no description. The pointers (`dataset lodeseek:graph graph`) are in a graph of
//! their own, which no query can name. A transaction that changes a description moves the pointer too.
//!
//! Homes of earlier versions have the pointers in the catalogue. They are moved when the home is opened for writing. Until then
//! such a home can be read.

use super::quad_changes::QuadChanges;
use super::{Store, StoreError};
use lodeseek_catalog::{DatasetId, Iris};
use lodeseek_rdf::vocab::{lodeseek, prov, sd};
use oxigraph::store::Store as Oxigraph;
use oxrdf::{NamedNode, NamedNodeRef, NamedOrBlankNode, Quad, Term};
use std::collections::BTreeMap;

const POINTER: NamedNodeRef<'_> = NamedNodeRef::new_unchecked(lodeseek::GRAPH);

/// Returns the graph that has the pointers: the catalogue in homes of earlier versions.
pub(super) fn find_graph(oxigraph: &Oxigraph, iris: &Iris) -> NamedNode {
    let (versions, catalog) = (iris.versions(), iris.catalog());
    if !has_pointers(oxigraph, iris, &versions) && has_pointers(oxigraph, iris, &catalog) {
        catalog
    } else {
        versions
    }
}

/// Returns true if a graph has a pointer to a graph of a version.
fn has_pointers(oxigraph: &Oxigraph, iris: &Iris, graph: &NamedNode) -> bool {
    let quads = oxigraph.quads_for_pattern(None, Some(POINTER), None, Some(graph.as_ref().into()));
    // A damaged store may return errors without end.
    quads
        .map_while(Result::ok)
        .any(|quad| matches!(&quad.object, Term::NamedNode(graph) if iris.is_graph(graph.as_str())))
}

impl Store {
    /// Returns the name of the graph with the pointers: one triple `dataset lodeseek:graph graph` for each dataset, to the
    /// graph with its current content.
    #[must_use]
    pub fn pointers(&self) -> &NamedNode {
        &self.pointers
    }

    /// Returns (id, version) of every dataset that has a current version.
    pub fn versions(&self) -> Result<BTreeMap<DatasetId, String>, StoreError> {
        let mut versions = BTreeMap::new();
        for quad in self.oxigraph.quads_for_pattern(
            None,
            Some(POINTER),
            None,
            Some(self.pointers.as_ref().into()),
        ) {
            versions.extend(self.read_pointer(&quad?));
        }
        Ok(versions)
    }

    /// Returns true if a dataset has a current version.
    pub fn contains(&self, id: &DatasetId) -> Result<bool, StoreError> {
        Ok(self.version(id)?.is_some())
    }

    pub(super) fn version(&self, id: &DatasetId) -> Result<Option<String>, StoreError> {
        let quads = self.pointer_quads(id)?;
        Ok(quads
            .iter()
            .find_map(|quad| self.read_pointer(quad))
            .map(|(_, version)| version))
    }

    /// Returns the pointer of a dataset as it is stored; more than one only if the store is damaged.
    pub(super) fn pointer_quads(&self, id: &DatasetId) -> Result<Vec<Quad>, StoreError> {
        let (node, graph) = (self.iris.dataset(id), self.pointers.as_ref());
        let quads = self.oxigraph.quads_for_pattern(
            Some(node.as_ref().into()),
            Some(POINTER),
            None,
            Some(graph.into()),
        );
        Ok(quads.collect::<Result<_, _>>()?)
    }

    /// Returns the pointer of a dataset to a version.
    pub(super) fn pointer_quad(&self, id: &DatasetId, version: &str) -> Quad {
        let (node, graph) = (self.iris.dataset(id), self.iris.graph(id, version));
        Quad::new(node, POINTER.into_owned(), graph, self.pointers.clone())
    }

    /// Returns the dataset and the version that a pointer names; `None` for other statements.
    pub(super) fn read_pointer(&self, quad: &Quad) -> Option<(DatasetId, String)> {
        let (NamedOrBlankNode::NamedNode(subject), Term::NamedNode(graph)) =
            (&quad.subject, &quad.object)
        else {
            return None;
        };
        if !self.iris.is_graph(graph.as_str()) {
            return None;
        }
        Some((
            self.iris.dataset_id(subject.as_str())?,
            graph.as_str().rsplit('/').next()?.to_owned(),
        ))
    }

    /// Moves the pointers of a home of an earlier version out of the catalogue, in one transaction. Descriptions and the
    /// provenance of snippets get the IRI of the dataset in place of the name of its graph.
    pub(super) fn move_pointers(&mut self) -> Result<(), StoreError> {
        if self.pointers == self.iris.versions() {
            return Ok(());
        }
        let versions = self.versions()?;
        // From here on, `pointer_quad` returns pointers in the new graph.
        self.pointers = self.iris.versions();
        let _change = self.change();
        let commit = self.start_commit();
        let mut changes = QuadChanges::default();
        self.mark_commit(&commit, &mut changes)?;
        for (id, version) in &versions {
            let (dataset, graph) = (self.iris.dataset(id), self.iris.graph(id, version));
            for quad in self.quads_that_name(&graph)? {
                changes.remove(&quad);
                changes.add(&Quad {
                    object: dataset.clone().into(),
                    ..quad
                });
            }
            changes.add(&self.pointer_quad(id, version));
        }
        let written = changes.commit(self)?;
        self.finish_commit(commit, written)
    }

    /// Returns the statements of an earlier version that name the graph of a dataset version.
    fn quads_that_name(&self, graph: &NamedNode) -> Result<Vec<Quad>, StoreError> {
        let (catalog, snippets) = (self.iris.catalog(), self.iris.snippets());
        let places = [
            (lodeseek::GRAPH, &catalog),
            (sd::NAME, &catalog),
            (prov::WAS_DERIVED_FROM, &snippets),
            (prov::USED, &snippets),
        ];
        let mut found = Vec::new();
        for (property, place) in places {
            let property = NamedNodeRef::new_unchecked(property);
            let object = graph.as_ref().into();
            for quad in self.oxigraph.quads_for_pattern(
                None,
                Some(property),
                Some(object),
                Some(place.as_ref().into()),
            ) {
                found.push(quad?);
            }
        }
        Ok(found)
    }
}

#[cfg(all(test, feature = "rocksdb"))]
mod tests {
    use super::*;
    use crate::{Access, LoadOptions, Loader};
    use lodeseek_catalog::{Catalog, Iris};
    use oxrdf::Triple;
    use std::fs;
    use std::path::Path;

    fn load(store: &Store, folder: &Path) {
        let catalog = "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .
            <http://e.org/a> a dcat:Dataset ; dct:identifier \"a\" ; dct:title \"A\" ;
                dcat:distribution [ dcat:downloadURL <a.nt> ] .";
        fs::write(folder.join("catalog.ttl"), catalog).expect("written");
        fs::write(
            folder.join("a.nt"),
            "<http://e.org/s> <http://e.org/p> \"1\" .",
        )
        .expect("written");
        let catalog = Catalog::read(&folder.join("catalog.ttl")).expect("a catalogue");
        Loader::new(store)
            .with_options(LoadOptions::default())
            .load(catalog, &|_| ())
            .expect("loaded");
    }

    fn quads(store: &Store) -> Vec<String> {
        let quads = store
            .oxigraph()
            .iter()
            .map(|quad| quad.expect("a quad").to_string());
        let mut quads: Vec<String> = quads.filter(|quad| !quad.contains("/commit>")).collect();
        quads.sort();
        quads
    }

    /// Writes pointers and descriptions as earlier versions did.
    fn make_old(store: &Store, id: &DatasetId) {
        let version = store.version(id).expect("read").expect("a version");
        let (dataset, graph) = (store.iris.dataset(id), store.iris.graph(id, &version));
        for (subject, property, place) in [
            (dataset.clone(), lodeseek::GRAPH, store.iris.catalog()),
            (store.iris.part(id, "graph"), sd::NAME, store.iris.catalog()),
            (
                store.iris.part(id, "snippet"),
                prov::WAS_DERIVED_FROM,
                store.iris.snippets(),
            ),
        ] {
            let property = NamedNode::new_unchecked(property);
            let quad = Quad::new(subject, property, dataset.clone(), place);
            assert!(store.oxigraph.contains(&quad).expect("read"), "{quad}");
            let old_quad = Quad {
                object: graph.clone().into(),
                ..quad.clone()
            };
            store.oxigraph.remove(&quad).expect("removed");
            store.oxigraph.insert(&old_quad).expect("inserted");
        }
        store
            .oxigraph
            .remove(&store.pointer_quad(id, &version))
            .expect("removed");
        store.oxigraph.flush().expect("flushed");
    }

    #[test]
    fn pointers_of_an_earlier_version_are_read_and_moved() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path().join("home");
        let id = DatasetId::new("a").expect("an id");
        let store = Store::open(&home, Access::Write, None).expect("a home");
        load(&store, folder.path());
        let derived = NamedNode::new_unchecked(prov::WAS_DERIVED_FROM);
        let provenance = Triple::new(
            store.iris.part(&id, "snippet"),
            derived,
            store.iris.dataset(&id),
        );
        let link = Triple::new(
            store.iris.dataset(&id),
            NamedNode::new_unchecked(lodeseek::HAS_SNIPPET),
            store.iris.part(&id, "snippet"),
        );
        store
            .replace_derived_triples([(
                store.iris().snippets(),
                vec![(id.clone(), vec![link, provenance])],
            )])
            .expect("written");
        let (new, version) = (quads(&store), store.version(&id).expect("read"));
        make_old(&store, &id);
        assert_ne!(quads(&store), new);
        drop(store);

        let old = Store::open(&home, Access::Read, None).expect("a home");
        assert_eq!(old.pointers(), &old.iris.catalog());
        assert_eq!(old.version(&id).expect("read"), version);
        assert_eq!(old.entries().expect("entries").len(), 1);
        drop(old);
        let moved = Store::open(&home, Access::Write, None).expect("a home");
        assert_eq!(quads(&moved), new);
        assert_eq!(moved.version(&id).expect("read"), version);
        drop(moved);
        let again =
            Store::open(&home, Access::Read, None).expect("the commit record is consistent");
        assert_eq!(again.pointers(), &again.iris.versions());
    }

    #[test]
    fn no_description_names_a_version() {
        let folder = tempfile::tempdir().expect("a folder");
        let iris = Iris::new(Iris::DEFAULT_BASE).expect("the default");
        let store = Store::in_memory(&folder.path().join("home"), iris).expect("a store");
        load(&store, folder.path());
        for triple in store
            .description(&DatasetId::new("a").expect("an id"))
            .expect("a description")
        {
            assert!(!triple.to_string().contains("/graph/"), "{triple}");
        }
    }
}
