//! Derived data of datasets: their triples in the graphs of profiles and snippets.

use super::{MAX_TRANSACTION_TRIPLES, Store, StoreError};
use lodeseek_catalog::DatasetId;
use oxrdf::{GraphNameRef, NamedNode, Triple};
use rustc_hash::FxHashSet;

/// Memory of Oxigraph's bulk loader for derived data. It counts a kilobyte for a triple, so that a batch of the indexer usually becomes one file
/// of each index of the store. RocksDB merges every two files with up to half a gigabyte of each index: its work grows with their number.
const BULK_MEGABYTES: usize = 1000;

/// Changes of the triples of datasets in a graph of derived data.
struct Change {
    graph: NamedNode,
    removed: Vec<Triple>,
    added: Vec<Triple>,
    /// New triples that are stored already.
    kept: Vec<Triple>,
}

impl Store {
    /// Returns a dataset's triples in a graph of derived data (profiles or snippets).
    pub fn derived(&self, graph: &NamedNode, id: &DatasetId) -> Result<Vec<Triple>, StoreError> {
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

    /// Replaces the triples of some datasets in graphs of derived data. Each graph, and each dataset of a graph, occurs at most once in
    /// `new`.
    ///
    /// Changes of at most 20,000 new triples in all graphs together are one transaction, which writes only what differs: removing a triple
    /// costs many times as much as reading it. For larger ones all old triples are removed in one transaction, and all new ones are
    /// bulk-loaded. Between the two the data is missing, but never wrong. The stage that writes it records its work afterwards.
    pub fn replace_derived(
        &self,
        new: impl IntoIterator<Item = (NamedNode, Vec<(DatasetId, Vec<Triple>)>)>,
    ) -> Result<(), StoreError> {
        let _change = self.change();
        let commit = self.start_commit();
        let mut transaction = self.oxigraph.start_transaction()?;
        self.mark(&commit, &mut transaction)?;
        let mut changes = Vec::new();
        for (graph, datasets) in new {
            changes.push(self.change_of_derived(graph, datasets)?);
        }
        let is_small = changes
            .iter()
            .map(|change| change.added.len())
            .sum::<usize>()
            <= MAX_TRANSACTION_TRIPLES;
        for change in &mut changes {
            for triple in &change.removed {
                transaction.remove(triple.as_ref().in_graph(&change.graph));
            }
            if !is_small {
                // After an interruption all triples of a dataset are missing: no part of them remains without the others.
                for triple in &change.kept {
                    transaction.remove(triple.as_ref().in_graph(&change.graph));
                }
                change.added.append(&mut change.kept);
            }
        }
        let quads = changes.into_iter().flat_map(|change| {
            change
                .added
                .into_iter()
                .map(move |triple| triple.in_graph(change.graph.clone()))
        });
        if is_small {
            for quad in quads {
                transaction.insert(&quad);
            }
            transaction.commit()?;
            return self.finish_commit(commit);
        }
        transaction.commit()?;
        let mut loader = self
            .oxigraph
            .bulk_loader()
            .with_num_threads(1)
            .with_max_memory_size_in_megabytes(BULK_MEGABYTES);
        loader.load_quads(quads)?;
        loader.commit()?;
        self.finish_commit(commit)
    }

    /// Compares new triples of datasets in a graph with the stored ones.
    fn change_of_derived(
        &self,
        graph: NamedNode,
        new: Vec<(DatasetId, Vec<Triple>)>,
    ) -> Result<Change, StoreError> {
        let (mut removed, mut added, mut kept) = (Vec::new(), Vec::new(), Vec::new());
        for (id, triples) in new {
            let mut old: FxHashSet<Triple> = self.derived(&graph, &id)?.into_iter().collect();
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
            .replace_derived([(graphs[0].clone(), other)])
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
            store.replace_derived(new).expect("replaced");
            for graph in &graphs {
                let found: HashSet<Triple> = store
                    .derived(graph, &ids[0])
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
            store.derived(&graphs[0], &ids[1]).expect("read").len(),
            3,
            "another dataset keeps its triples"
        );
    }
}
