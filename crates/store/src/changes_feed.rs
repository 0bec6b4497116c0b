//! The latest change of each dataset, in the order of the changes: what feeds publish.
//!
//! A change of a description or of content, and a removal, get the next number. It is written in the transaction of the change, as a
//! literal with JSON beside the pointers, so that no change is missing and none is published that was not committed. A later change
//! of a dataset replaces its former one; the change of a removed dataset stays. Hence there is one entry a dataset that was ever here.

use super::quad_changes::QuadChanges;
use super::{Store, StoreError};
use lodeseek_catalog::DatasetId;
use oxrdf::{Literal, NamedNode, NamedNodeRef, NamedOrBlankNode, Quad, Term};
use oxsdatatypes::DateTime;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const CHANGE: NamedNodeRef<'_> = NamedNodeRef::new_unchecked("urn:lodeseek:change");
/// Property of the catalogue: number of its latest change.
const LAST_NUMBER: NamedNodeRef<'_> = NamedNodeRef::new_unchecked("urn:lodeseek:last-change");

/// Kind of a change.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeKind {
    /// The dataset is new, or here again.
    Create,
    /// Its description or its content changed.
    Update,
    /// It was removed.
    Delete,
}

/// Latest change of a dataset.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DatasetChange {
    /// Number of the change in the order of all changes, from 1.
    pub number: u64,
    /// Kind of the change.
    pub kind: ChangeKind,
    /// Time of the change (`xsd:dateTime`).
    pub time: String,
}

impl Store {
    /// Returns the latest change of each dataset, removed ones included.
    ///
    /// Datasets that were loaded without a time have none.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn latest_changes(&self) -> Result<BTreeMap<DatasetId, DatasetChange>, StoreError> {
        let (mut changes, graph) = (BTreeMap::new(), self.iris.versions());
        for quad in
            self.oxigraph
                .quads_for_pattern(None, Some(CHANGE), None, Some(graph.as_ref().into()))
        {
            let quad = quad?;
            let NamedOrBlankNode::NamedNode(subject) = &quad.subject else {
                continue;
            };
            if let (Some(id), Some(change)) =
                (self.iris.dataset_id(subject.as_str()), read_change(&quad))
            {
                changes.insert(id, change);
            }
        }
        Ok(changes)
    }

    /// Returns true if the changes of a dataset are recorded.
    pub(super) fn has_recorded_change(&self, id: &DatasetId) -> Result<bool, StoreError> {
        let quads = self.quads_beside_pointers(&self.iris.dataset(id), CHANGE)?;
        Ok(!quads.is_empty())
    }

    /// Returns the statements of all changes, for a rebuilt store.
    pub(super) fn change_quads(&self) -> Result<Vec<Quad>, StoreError> {
        let graph = self.iris.versions();
        let mut found = Vec::new();
        for property in [CHANGE, LAST_NUMBER] {
            for quad in self.oxigraph.quads_for_pattern(
                None,
                Some(property),
                None,
                Some(graph.as_ref().into()),
            ) {
                found.push(quad?);
            }
        }
        Ok(found)
    }

    /// Adds the record of changes to the commit that makes them. The caller has started a commit, so that numbers are unique, and commits
    /// next: the time is that of the commit, because clients read on from the time of their last request.
    pub(super) fn record_changes(
        &self,
        changes: &mut QuadChanges,
        datasets: &[(&DatasetId, ChangeKind)],
    ) -> Result<(), StoreError> {
        let catalog = self.iris.catalog();
        let mut last = None;
        for quad in self.quads_beside_pointers(&catalog, LAST_NUMBER)? {
            if let Term::Literal(number) = &quad.object {
                last = last.max(number.value().parse().ok());
            }
            changes.supersede(&quad);
        }
        let mut number = match last {
            Some(number) => number,
            // Datasets of an earlier build come before the numbered changes.
            None => self.ids()?.len() as u64,
        };
        let time = DateTime::now();
        for (id, kind) in datasets {
            let dataset = self.iris.dataset(id);
            for quad in self.quads_beside_pointers(&dataset, CHANGE)? {
                changes.remove(&quad);
            }
            number += 1;
            let change = DatasetChange {
                number,
                kind: *kind,
                time: time.to_string(),
            };
            let text = serde_json::to_string(&change)
                .map_err(|error| StoreError::io(&self.home)(error.into()))?;
            changes.add(&self.quad_beside_pointers(dataset, CHANGE, &text));
        }
        changes.add(&self.quad_beside_pointers(catalog, LAST_NUMBER, &number.to_string()));
        Ok(())
    }

    fn quads_beside_pointers(
        &self,
        subject: &NamedNode,
        property: NamedNodeRef<'_>,
    ) -> Result<Vec<Quad>, StoreError> {
        let graph = self.iris.versions();
        let quads = self.oxigraph.quads_for_pattern(
            Some(subject.as_ref().into()),
            Some(property),
            None,
            Some(graph.as_ref().into()),
        );
        Ok(quads.collect::<Result<_, _>>()?)
    }

    fn quad_beside_pointers(
        &self,
        subject: NamedNode,
        property: NamedNodeRef<'_>,
        text: &str,
    ) -> Quad {
        Quad::new(
            subject,
            property.into_owned(),
            Literal::from(text),
            self.iris.versions(),
        )
    }
}

fn read_change(quad: &Quad) -> Option<DatasetChange> {
    match &quad.object {
        Term::Literal(text) => serde_json::from_str(text.value()).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LoadOptions, Loader, Stamp};
    use lodeseek_catalog::{Catalog, Iris};

    fn load(store: &Store, folder: &std::path::Path, turtle: &str, now: Option<&str>) {
        let path = folder.join("catalog.ttl");
        std::fs::write(&path, turtle).expect("written");
        let options = LoadOptions {
            stamp: Stamp {
                now: now.map(|now| now.parse().expect("a time")),
                origin: None,
            },
            ..LoadOptions::default()
        };
        Loader::new(store)
            .with_options(options)
            .load(Catalog::read(&path).expect("a catalogue"), &|_| ())
            .expect("loaded");
    }

    fn dataset(id: &str, title: &str) -> String {
        format!(
            "<http://e.org/{id}> a <http://www.w3.org/ns/dcat#Dataset> ; \
             <http://purl.org/dc/terms/identifier> \"{id}\" ; <http://purl.org/dc/terms/title> \"{title}\" ."
        )
    }

    fn changes(store: &Store) -> Vec<(String, u64, ChangeKind)> {
        let mut changes = Vec::new();
        for (id, change) in store.latest_changes().expect("changes") {
            changes.push((id.to_string(), change.number, change.kind));
        }
        changes
    }

    fn change(id: &str, number: u64, kind: ChangeKind) -> (String, u64, ChangeKind) {
        (id.to_owned(), number, kind)
    }

    #[test]
    fn each_change_has_the_next_number_and_removals_stay() {
        let folder = tempfile::tempdir().expect("a folder");
        let iris = Iris::new(Iris::DEFAULT_BASE).expect("the default");
        let store = Store::in_memory(folder.path(), iris).expect("a store");
        let now = Some("2026-01-01T00:00:00Z");
        load(&store, folder.path(), &dataset("c", "Bees"), None);
        assert_eq!(changes(&store), [], "a load without a time");
        let both = dataset("a", "Fish") + &dataset("b", "Trees");
        load(&store, folder.path(), &both, now);
        load(&store, folder.path(), &both, now);
        let mut first = changes(&store);
        first.sort_unstable_by_key(|change| change.1);
        let numbers: Vec<u64> = first.iter().map(|change| change.1).collect();
        assert_eq!(numbers, [2, 3], "unchanged descriptions are no changes");
        assert!(first.iter().all(|one| one.2 == ChangeKind::Create));
        load(&store, folder.path(), &dataset("a", "Fishes"), now);
        let id = DatasetId::new("b").expect("an id");
        store.remove(std::slice::from_ref(&id)).expect("removed");
        assert_eq!(
            changes(&store),
            [
                change("a", 4, ChangeKind::Update),
                change("b", 5, ChangeKind::Delete)
            ]
        );
        load(&store, folder.path(), &dataset("b", "Trees"), now);
        let times = store.latest_changes().expect("changes");
        assert!(
            times
                .values()
                .all(|change| change.time.as_str() > "2026-01-02"),
            "{times:?}: the time is that of the commit"
        );
        assert_eq!(changes(&store)[1], change("b", 6, ChangeKind::Create));
    }
}
