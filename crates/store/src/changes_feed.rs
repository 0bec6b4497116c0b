//! The latest change of each dataset, in the order of the changes: what feeds publish.
//!
//! A change of a description or of content, and a removal, get the next number. It is written in the transaction of the change, as a
//! literal with JSON beside the pointers, so that no change is missing and none is published that was not committed. A later change
//! of a dataset replaces its former one; the change of a removed dataset stays. Hence there is one entry a dataset that was ever here.

use super::{Store, StoreError};
use lodeseek_catalog::DatasetId;
use oxigraph::store::Transaction;
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

    /// Records changes in the transaction that makes them. The caller has started a commit, so that numbers are unique.
    pub(super) fn record_changes(
        &self,
        transaction: &mut Transaction<'_>,
        changes: &[(&DatasetId, ChangeKind)],
        time: DateTime,
    ) -> Result<(), StoreError> {
        let catalog = self.iris.catalog();
        let mut number = 0;
        for quad in self.quads_beside_pointers(&catalog, LAST_NUMBER)? {
            if let Term::Literal(last) = &quad.object {
                number = number.max(last.value().parse().unwrap_or(0));
            }
            transaction.remove(&quad);
        }
        for (id, kind) in changes {
            let dataset = self.iris.dataset(id);
            for quad in self.quads_beside_pointers(&dataset, CHANGE)? {
                transaction.remove(&quad);
            }
            number += 1;
            let change = DatasetChange {
                number,
                kind: *kind,
                time: time.to_string(),
            };
            let text = serde_json::to_string(&change)
                .map_err(|error| StoreError::io(&self.home)(error.into()))?;
            transaction.insert(&self.quad_beside_pointers(dataset, CHANGE, &text));
        }
        transaction.insert(&self.quad_beside_pointers(catalog, LAST_NUMBER, &number.to_string()));
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

    fn load(store: &Store, folder: &std::path::Path, turtle: &str, second: u32) {
        let path = folder.join("catalog.ttl");
        std::fs::write(&path, turtle).expect("written");
        let options = LoadOptions {
            stamp: Stamp {
                now: Some(
                    format!("2026-01-01T00:00:{second:02}Z")
                        .parse()
                        .expect("a time"),
                ),
                origin: None,
            },
            ..LoadOptions::default()
        };
        Loader::new(store)
            .with_options(options)
            .load(Catalog::read(&path).expect("a catalogue"), &|_| ())
            .expect("loaded");
    }

    #[test]
    fn each_change_has_the_next_number_and_removals_stay() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::in_memory(
            folder.path(),
            Iris::new(Iris::DEFAULT_BASE).expect("the default"),
        )
        .expect("a store");
        let dataset = |id: &str, title: &str| {
            format!(
                "<http://e.org/{id}> a <http://www.w3.org/ns/dcat#Dataset> ; \
                 <http://purl.org/dc/terms/identifier> \"{id}\" ; <http://purl.org/dc/terms/title> \"{title}\" ."
            )
        };
        let both = dataset("a", "Fish") + &dataset("b", "Trees");
        load(&store, folder.path(), &both, 1);
        load(&store, folder.path(), &both, 2);
        let kinds = || -> Vec<(String, u64, ChangeKind, String)> {
            let changes = store.latest_changes().expect("changes");
            changes
                .into_iter()
                .map(|(id, change)| {
                    (
                        id.as_str().to_owned(),
                        change.number,
                        change.kind,
                        change.time[17..].to_owned(),
                    )
                })
                .collect()
        };
        let entry =
            |id: &str, number, kind, time: &str| (id.to_owned(), number, kind, time.to_owned());
        let mut first = kinds();
        first
            .iter_mut()
            .for_each(|change| change.1 = change.1.min(1));
        assert_eq!(
            first,
            [
                entry("a", 1, ChangeKind::Create, "01Z"),
                entry("b", 1, ChangeKind::Create, "01Z")
            ],
            "an unchanged description is no change"
        );
        load(&store, folder.path(), &dataset("a", "Fishes"), 3);
        let id = DatasetId::new("b").expect("an id");
        store.remove(std::slice::from_ref(&id)).expect("removed");
        let after = kinds();
        assert_eq!(after[0], entry("a", 3, ChangeKind::Update, "03Z"));
        assert_eq!((after[1].1, after[1].2), (4, ChangeKind::Delete));
        load(&store, folder.path(), &both, 5);
        let numbers: Vec<_> = kinds()
            .iter()
            .map(|change| (change.1 > 4, change.2))
            .collect();
        assert_eq!(
            numbers,
            [(true, ChangeKind::Update), (true, ChangeKind::Create)]
        );
    }
}
