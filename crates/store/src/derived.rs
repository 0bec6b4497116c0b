//! Derived data of datasets: their triples in the graphs of profiles and snippets.

use super::quad_changes::{BULK_MEGABYTES, QuadChanges, Written};
use super::{MAX_TRANSACTION_TRIPLES, Store, StoreError};
use lodeseek_catalog::DatasetId;
use oxigraph::store::BulkLoader;
use oxrdf::{GraphNameRef, NamedNode, Triple};
use rustc_hash::FxHashSet;

/// Changes of the triples of datasets in a graph of derived data.
struct Change {
    graph: NamedNode,
    removed: Vec<Triple>,
    added: Vec<Triple>,
    /// New triples that are stored already.
    kept: Vec<Triple>,
}

/// Writer of the derived data of many datasets. That of datasets without any is visible after [`commit`](Self::commit).
pub struct DerivedWriter<'s> {
    store: &'s Store,
    /// Loader of what is not committed.
    bulk: Option<BulkLoader<'s>>,
}

impl DerivedWriter<'_> {
    /// Replaces the triples of some datasets in graphs of derived data. Each graph, and each dataset of a graph, occurs at most once in
    /// `new`.
    ///
    /// For datasets with other data, changes of at most 20,000 new triples in all graphs together are one transaction, which writes only
    /// what differs: removing a triple costs many times as much as reading it. For larger ones all old triples are removed in one
    /// transaction, and all new ones are bulk-loaded. Between the two the data is missing, but never wrong. The stage that writes it
    /// records its work afterwards.
    ///
    /// # Errors
    /// If the store cannot be read or written.
    pub fn replace(
        &mut self,
        new: impl IntoIterator<Item = (NamedNode, Vec<(DatasetId, Vec<Triple>)>)>,
    ) -> Result<(), StoreError> {
        let store = self.store;
        let (mut first, mut changes) = (Vec::new(), Vec::new());
        for (graph, datasets) in new {
            let mut present = Vec::new();
            for (id, triples) in datasets {
                if store.has_derived(&graph, &id)? {
                    present.push((id, triples));
                } else {
                    first.extend(
                        triples
                            .into_iter()
                            .map(|triple| triple.in_graph(graph.clone())),
                    );
                }
            }
            if !present.is_empty() {
                changes.push(store.compare_derived_triples(graph, present)?);
            }
        }
        if !first.is_empty() {
            self.bulk
                .get_or_insert_with(|| store.bulk_loader(1, BULK_MEGABYTES))
                .load_quads(first)?;
        }
        if changes.is_empty() {
            return Ok(());
        }
        self.commit()?;
        store.change_derived_triples(changes)
    }

    /// Commits everything. Without anything to commit, nothing changes.
    ///
    /// # Errors
    /// Errors of the store, which then has nothing of it.
    pub fn commit(&mut self) -> Result<(), StoreError> {
        let Some(bulk) = self.bulk.take() else {
            return Ok(());
        };
        let _change = self.store.change();
        let commit = self.store.start_commit();
        let mut changes = QuadChanges::default();
        self.store.mark_commit(&commit, &mut changes)?;
        let written = changes.commit_with(bulk, self.store)?;
        self.store.finish_commit(commit, written)
    }
}

impl Store {
    /// Returns a dataset's triples in a graph of derived data (profiles or snippets).
    pub fn derived_triples(
        &self,
        graph: &NamedNode,
        id: &DatasetId,
    ) -> Result<Vec<Triple>, StoreError> {
        self.node_and_parts(graph, &self.iris.dataset(id), &[])
    }

    /// Returns true if a dataset has triples in a graph of derived data.
    pub fn has_derived(&self, graph: &NamedNode, id: &DatasetId) -> Result<bool, StoreError> {
        let (graph, dataset) = (
            GraphNameRef::NamedNode(graph.as_ref()),
            self.iris.dataset(id),
        );
        let mut quads =
            self.oxigraph
                .quads_for_pattern(Some(dataset.as_ref().into()), None, None, Some(graph));
        Ok(quads.next().transpose()?.is_some())
    }

    /// Returns a writer of derived data.
    #[must_use]
    pub fn derived_writer(&self) -> DerivedWriter<'_> {
        DerivedWriter {
            store: self,
            bulk: None,
        }
    }

    /// Replaces the triples of some datasets in graphs of derived data, as [`DerivedWriter::replace`], and commits them.
    ///
    /// # Errors
    /// If the store cannot be read or written.
    pub fn replace_derived_triples(
        &self,
        new: impl IntoIterator<Item = (NamedNode, Vec<(DatasetId, Vec<Triple>)>)>,
    ) -> Result<(), StoreError> {
        let mut writer = self.derived_writer();
        writer.replace(new)?;
        writer.commit()
    }

    /// Changes the triples of datasets that have derived data.
    fn change_derived_triples(&self, changes: Vec<Change>) -> Result<(), StoreError> {
        let _change = self.change();
        let commit = self.start_commit();
        let added: usize = changes.iter().map(|change| change.added.len()).sum();
        let is_small = added <= MAX_TRANSACTION_TRIPLES;
        let (mut removed, mut added) = (QuadChanges::default(), QuadChanges::default());
        for Change {
            graph,
            removed: old,
            added: new,
            kept,
        } in changes
        {
            for triple in &old {
                removed.remove(triple.as_ref().in_graph(&graph));
            }
            for triple in &new {
                added.add(triple.as_ref().in_graph(&graph));
            }
            if !is_small {
                // After an interruption all triples of a dataset are missing: no part of them remains without the others.
                for triple in &kept {
                    removed.remove(triple.as_ref().in_graph(&graph));
                    added.add(triple.as_ref().in_graph(&graph));
                }
            }
        }
        let mut written = Written::Files;
        if is_small {
            added.append(removed);
        } else {
            // The number follows with the additions: only then is the change complete.
            written = removed.commit(self)?;
        }
        self.mark_commit(&commit, &mut added)?;
        written = written.max(added.commit(self)?);
        self.finish_commit(commit, written)
    }

    /// Compares new triples of datasets in a graph with the stored ones.
    fn compare_derived_triples(
        &self,
        graph: NamedNode,
        new: Vec<(DatasetId, Vec<Triple>)>,
    ) -> Result<Change, StoreError> {
        let (mut removed, mut added, mut kept) = (Vec::new(), Vec::new(), Vec::new());
        for (id, triples) in new {
            let mut old: FxHashSet<Triple> =
                self.derived_triples(&graph, &id)?.into_iter().collect();
            for triple in triples {
                if old.remove(&triple) {
                    &mut kept
                } else {
                    &mut added
                }
                .push(triple);
            }
            removed.extend(old);
        }
        Ok(Change {
            graph,
            removed,
            added,
            kept,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Access;
    use oxrdf::Literal;
    use std::collections::HashSet;
    use std::ops::Range;

    #[test]
    fn small_and_large_changes_of_two_graphs_leave_the_new_triples() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(folder.path(), Access::Write, None).expect("a home");
        let ids = ["a", "b"].map(|id| DatasetId::new(id).expect("an id"));
        let property = NamedNode::new_unchecked("http://e.org/p");
        let triples = |id: &DatasetId, values: Range<i64>| -> Vec<Triple> {
            values
                .map(|value| {
                    Triple::new(
                        store.iris().dataset(id),
                        property.clone(),
                        Literal::from(value),
                    )
                })
                .collect()
        };
        let graphs = [store.iris().profiles(), store.iris().snippets()];
        let other = vec![(ids[1].clone(), triples(&ids[1], 0..3))];
        store
            .replace_derived_triples([(graphs[0].clone(), other)])
            .expect("written");
        let limit = MAX_TRANSACTION_TRIPLES as i64;
        // New triples: few; in each graph below the limit, and above it in both; few beside many removed; none.
        for values in [0..10, 5..limit - 5, limit - 10..limit, 0..0] {
            let new = graphs.clone().map(|graph| {
                (
                    graph,
                    vec![(ids[0].clone(), triples(&ids[0], values.clone()))],
                )
            });
            store.replace_derived_triples(new).expect("replaced");
            for graph in &graphs {
                let found: HashSet<Triple> = store
                    .derived_triples(graph, &ids[0])
                    .expect("read")
                    .into_iter()
                    .collect();
                assert_eq!(
                    found,
                    triples(&ids[0], values.clone()).into_iter().collect(),
                    "{values:?} in {graph}"
                );
            }
        }
        assert_eq!(
            store
                .derived_triples(&graphs[0], &ids[1])
                .expect("read")
                .len(),
            3,
            "another dataset keeps its triples"
        );
    }
}
