//! Restoring datasets after a change that could not be completed.

use super::quad_changes::QuadChanges;
use super::statements::StatementChange;
use super::{ChangeKind, Store, StoreError};
use lodeseek_catalog::DatasetId;
use oxrdf::{GraphName, Quad, Triple};
use rustc_hash::FxHashSet;
use std::collections::HashSet;
use std::sync::atomic::Ordering;

/// State of some datasets before a change: descriptions, records, pointers and derived data.
///
/// The content is not copied: replaced content stays until [`Store::clear_replaced`].
#[derive(Clone, Debug)]
pub struct Undo {
    ids: Vec<DatasetId>,
    quads: HashSet<Quad>,
}

impl Store {
    /// Returns the current state of some datasets, present or not.
    pub fn undo(&self, ids: &[DatasetId]) -> Result<Undo, StoreError> {
        let mut quads = HashSet::new();
        for id in ids {
            quads.extend(self.quads_of(id)?);
        }
        Ok(Undo {
            ids: ids.to_vec(),
            quads,
        })
    }

    /// Restores the state of datasets, in one transaction.
    pub fn restore(&self, undo: &Undo) -> Result<(), StoreError> {
        let _change = self.change();
        let mut present = HashSet::new();
        for id in &undo.ids {
            present.extend(self.quads_of(id)?);
        }
        let commit = self.start_commit();
        let mut changes = QuadChanges::default();
        self.mark_commit(&commit, &mut changes)?;
        present
            .difference(&undo.quads)
            .for_each(|quad| changes.remove(quad));
        undo.quads
            .difference(&present)
            .for_each(|quad| changes.add(quad));
        let mut change = StatementChange::new(self, undo.ids.iter());
        change.change(
            self.statements_of(&present),
            self.statements_of(&undo.quads),
        );
        change.remove_unused_statements(&mut changes)?;
        change.insert_new(&mut changes);
        self.record_restored_datasets(undo, &mut changes)?;
        let written = changes.commit(self)?;
        self.described.fetch_add(1, Ordering::SeqCst);
        self.finish_commit(commit, written)
    }

    /// Records that datasets have their former state again: clients may have read the change that is undone.
    fn record_restored_datasets(
        &self,
        undo: &Undo,
        changes: &mut QuadChanges,
    ) -> Result<(), StoreError> {
        let mut former = HashSet::new();
        for quad in &undo.quads {
            former.extend(self.read_pointer(quad).map(|(id, _)| id));
        }
        let mut restored = Vec::new();
        for id in &undo.ids {
            if !self.has_recorded_change(id)? {
                continue;
            }
            match (former.contains(id), self.contains(id)?) {
                (true, true) => restored.push((id, ChangeKind::Update)),
                (true, false) => restored.push((id, ChangeKind::Create)),
                (false, true) => restored.push((id, ChangeKind::Delete)),
                (false, false) => {}
            }
        }
        if restored.is_empty() {
            return Ok(());
        }
        self.record_changes(changes, &restored)
    }

    /// Returns all quads that a change of a dataset may replace.
    fn quads_of(&self, id: &DatasetId) -> Result<Vec<Quad>, StoreError> {
        let (catalog, node) = (self.iris.catalog(), self.iris.dataset(id));
        let mut quads = self.record_quads(id)?;
        quads.extend(self.pointer_quads(id)?);
        quads.extend(self.fact_quads(id)?);
        let memberships = self.oxigraph.quads_for_pattern(
            Some(catalog.as_ref().into()),
            None,
            Some(node.as_ref().into()),
            Some(catalog.as_ref().into()),
        );
        for membership in memberships {
            quads.push(membership?);
        }
        let parts = self.own_statements(id)?.parts(&node);
        for graph in &self.iris.metadata_graphs() {
            let triples = self.node_and_parts(graph, &node, &parts)?;
            quads.extend(
                triples
                    .into_iter()
                    .map(|triple| triple.in_graph(graph.clone())),
            );
        }
        quads.extend(self.own_statement_quads(id)?);
        Ok(quads)
    }

    /// Returns the statements about resources of the web among the quads of a state.
    fn statements_of(&self, quads: &HashSet<Quad>) -> FxHashSet<Triple> {
        let mut statements = FxHashSet::default();
        for quad in quads {
            if let GraphName::NamedNode(graph) = &quad.graph_name
                && self.iris.is_statements(graph.as_str())
            {
                statements.insert(Triple::from(quad.clone()));
            }
        }
        statements
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LoadOptions, Loader, Replaced, Stamp};
    use lodeseek_catalog::{Catalog, Iris};
    use std::fs;

    fn catalog(version: u32) -> String {
        format!(
            "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .
             @prefix foaf: <http://xmlns.com/foaf/0.1/> .
             <http://e.org/a> a dcat:Dataset ; dct:identifier \"a\" ; dct:title \"Title {version}\" ;
                 dct:publisher <http://e.org/city> ; dcat:distribution [ dcat:downloadURL <a.nt> ] .
             <http://e.org/city> foaf:name \"City {version}\" ."
        )
    }

    fn quads(store: &Store) -> HashSet<Quad> {
        // Content stays until it is cleared, and each commit and change has its own number.
        let visible = |quad: &Quad| {
            let graph = quad.graph_name.to_string();
            !graph.contains("/graph/")
                && !graph.ends_with("/commit>")
                && !quad.predicate.as_str().ends_with("change")
        };
        store
            .oxigraph()
            .iter()
            .map(|quad| quad.expect("a quad"))
            .filter(visible)
            .collect()
    }

    #[test]
    fn a_change_of_datasets_is_undone_completely() {
        let folder = tempfile::tempdir().expect("a folder");
        let iris = Iris::new(Iris::DEFAULT_BASE).expect("the default");
        let store = Store::in_memory(&folder.path().join("home"), iris).expect("a store");
        let load = |version: u32| {
            fs::write(folder.path().join("catalog.ttl"), catalog(version)).expect("written");
            let triple = format!("<http://e.org/s> <http://e.org/p> \"{version}\" .");
            fs::write(folder.path().join("a.nt"), triple).expect("written");
            let now = format!("2026-01-02T03:04:{:02}Z", version % 60)
                .parse()
                .expect("a time");
            let stamp = Stamp {
                now: Some(now),
                origin: None,
            };
            let options = LoadOptions {
                stamp,
                replaced: Replaced::Kept,
                ..LoadOptions::default()
            };
            let catalog = Catalog::read(&folder.path().join("catalog.ttl")).expect("a catalogue");
            Loader::new(&store)
                .with_options(options)
                .load(catalog, &|_| ())
                .expect("loaded")
        };
        let ids = [DatasetId::new("a").expect("an id")];
        let empty = store.undo(&ids).expect("the state");
        load(1);
        let (first, undo) = (quads(&store), store.undo(&ids).expect("the state"));
        load(2);
        assert_ne!(quads(&store), first);
        store.restore(&undo).expect("restored");
        assert_eq!(quads(&store), first);
        let entry = store.entry(&ids[0]).expect("an entry");
        assert_eq!(
            (
                entry.dataset.metadata.title(),
                store.content(&entry).expect("content").len()
            ),
            ("Title 1", 1)
        );
        store.remove(&ids).expect("removed");
        store.restore(&undo).expect("restored");
        assert_eq!(quads(&store), first);
        store.restore(&empty).expect("restored");
        assert!(store.ids().expect("ids").is_empty());
    }
}
