//! Changes of quads that become visible together.

use super::{Store, StoreError};
use oxigraph::store::BulkLoader;
use oxrdf::{NamedNode, Quad, QuadRef};
use rustc_hash::FxHashSet;

/// Superseded quads that may remain in the store. More of them are removed: each is read again by the next commit.
const MAX_SUPERSEDED: usize = 64;

/// Memory of Oxigraph's bulk loader, in megabytes. It counts a kilobyte for a triple: each 200,000 become a table file
/// of each order of the store.
pub(super) const BULK_MEGABYTES: usize = 200;

/// Place of committed changes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[must_use]
pub(super) enum Written {
    /// Table files.
    Files,
    /// RocksDB's write-ahead log, from where a flush moves them to table files.
    Log,
}

/// Quads to remove and to add in one commit.
///
/// Additions alone are written as sorted table files, which RocksDB adds to the store in one step. A transaction writes each quad to
/// the log, to trees in memory, and from there to table files.
#[derive(Default)]
pub(super) struct QuadChanges {
    removed: Vec<Quad>,
    superseded: Vec<Quad>,
    removed_graphs: Vec<NamedNode>,
    added: Vec<Quad>,
}

impl QuadChanges {
    /// Removes a quad that the store has. A quad that is also added stays.
    pub(super) fn remove<'q>(&mut self, quad: impl Into<QuadRef<'q>>) {
        self.removed.push(quad.into().into_owned());
    }

    /// Removes a quad that the added quads supersede, so that it may also remain: a number where the highest one counts.
    pub(super) fn supersede<'q>(&mut self, quad: impl Into<QuadRef<'q>>) {
        self.superseded.push(quad.into().into_owned());
    }

    /// Removes a graph of which no quad is added.
    pub(super) fn remove_graph(&mut self, graph: NamedNode) {
        self.removed_graphs.push(graph);
    }

    pub(super) fn add<'q>(&mut self, quad: impl Into<QuadRef<'q>>) {
        self.added.push(quad.into().into_owned());
    }

    /// Returns true if nothing needs to be removed.
    pub(super) fn only_adds(&self) -> bool {
        self.removed.is_empty() && self.removed_graphs.is_empty()
    }

    pub(super) fn added_quads(&self) -> usize {
        self.added.len()
    }

    /// Adds the changes of another dataset.
    pub(super) fn append(&mut self, mut other: Self) {
        self.removed.append(&mut other.removed);
        self.superseded.append(&mut other.superseded);
        self.removed_graphs.append(&mut other.removed_graphs);
        self.added.append(&mut other.added);
    }

    /// Hands the added quads to a bulk loader that commits them.
    ///
    /// # Errors
    /// If their table files cannot be written.
    pub(super) fn load_added_quads(&mut self, bulk: &mut BulkLoader<'_>) -> Result<(), StoreError> {
        Ok(bulk.load_quads(self.added.drain(..))?)
    }

    /// Commits the changes together with what the bulk loader has.
    ///
    /// # Errors
    /// Errors of the store, which then has none of the changes.
    pub(super) fn commit_with(
        mut self,
        mut bulk: BulkLoader<'_>,
        store: &Store,
    ) -> Result<Written, StoreError> {
        debug_assert!(self.only_adds(), "a bulk loader removes nothing");
        self.load_added_quads(&mut bulk)?;
        bulk.commit()?;
        if self.superseded.len() <= MAX_SUPERSEDED {
            return Ok(Written::Files);
        }
        // The changes are committed: what remains here is removed by the next commit.
        if let Err(error) = remove_quads(&self.superseded, store) {
            tracing::warn!(%error, "superseded numbers remain in the store");
        }
        Ok(Written::Log)
    }

    /// Commits the changes.
    ///
    /// # Errors
    /// Errors of the store, which then has none of the changes.
    pub(super) fn commit(self, store: &Store) -> Result<Written, StoreError> {
        if self.only_adds() {
            return self.commit_with(store.bulk_loader(1, BULK_MEGABYTES), store);
        }
        let added: FxHashSet<Quad> = self.added.into_iter().collect();
        let removed: FxHashSet<Quad> = self.removed.into_iter().chain(self.superseded).collect();
        let mut transaction = store.oxigraph.start_transaction()?;
        for quad in removed.difference(&added) {
            transaction.remove(quad);
        }
        for graph in &self.removed_graphs {
            transaction.remove_named_graph(graph)?;
        }
        for quad in added.difference(&removed) {
            transaction.insert(quad);
        }
        transaction.commit()?;
        Ok(Written::Log)
    }
}

fn remove_quads(quads: &[Quad], store: &Store) -> Result<(), StoreError> {
    let mut transaction = store.oxigraph.start_transaction()?;
    for quad in quads {
        transaction.remove(quad);
    }
    Ok(transaction.commit()?)
}

impl Store {
    /// Returns Oxigraph's bulk loader, which commits all its quads together.
    pub(super) fn bulk_loader(&self, threads: usize, megabytes: usize) -> BulkLoader<'_> {
        self.oxigraph
            .bulk_loader()
            .with_num_threads(threads)
            .with_max_memory_size_in_megabytes(megabytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_catalog::Iris;
    use oxrdf::Literal;
    use proptest::prelude::*;

    fn quad(number: u8) -> Quad {
        let node = |name: &str| NamedNode::new_unchecked(format!("http://e.org/{name}"));
        let graph = node(&format!("graph{}", number % 3));
        Quad::new(
            node("s"),
            node("p"),
            Literal::from(i64::from(number)),
            graph,
        )
    }

    fn numbers(store: &Store) -> FxHashSet<Quad> {
        store
            .oxigraph
            .iter()
            .map(|quad| quad.expect("a quad"))
            .collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_store_has_what_was_not_removed_and_what_was_added(
            present in proptest::collection::hash_set(0_u8..40, 0..20),
            removed in proptest::collection::hash_set(0_u8..40, 0..20),
            added in proptest::collection::vec(0_u8..40, 0..20),
        ) {
            let folder = tempfile::tempdir().expect("a folder");
            let store = Store::in_memory(folder.path(), Iris::default()).expect("a store");
            store.oxigraph.extend(present.iter().map(|&number| quad(number))).expect("written");
            let mut changes = QuadChanges::default();
            let removed: Vec<u8> = removed.into_iter().filter(|number| present.contains(number)).collect();
            added.iter().for_each(|&number| changes.add(&quad(number)));
            removed.iter().for_each(|&number| changes.remove(&quad(number)));
            let _ = changes.commit(&store).expect("committed");
            let kept = present.iter().filter(|number| !removed.contains(number));
            let expected: FxHashSet<Quad> = kept.chain(&added).map(|&number| quad(number)).collect();
            prop_assert_eq!(numbers(&store), expected);
        }
    }

    #[test]
    fn superseded_quads_do_not_accumulate() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::in_memory(folder.path(), Iris::default()).expect("a store");
        for number in 0..200 {
            let mut changes = QuadChanges::default();
            for old in numbers(&store) {
                changes.supersede(&old);
            }
            changes.add(&quad(number));
            let _ = changes.commit(&store).expect("committed");
            let present = numbers(&store);
            assert!(present.len() <= MAX_SUPERSEDED + 1 && present.contains(&quad(number)));
        }
    }

    #[cfg(feature = "rocksdb")]
    #[test]
    fn table_files_of_a_killed_process_are_removed() {
        use crate::Access;
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(folder.path(), Access::Write, None).expect("a home");
        let mut bulk = store.bulk_loader(1, 1);
        let quads = (0..200).map(quad).chain((0..200).map(quad));
        bulk.load_quads(quads.cycle().take(2000)).expect("written");
        // A process that is killed does not run destructors.
        std::mem::forget(bulk);
        drop(store);
        let files = || {
            let entries = std::fs::read_dir(folder.path().join("store")).expect("a folder");
            let names = entries.map(|entry| entry.expect("an entry").file_name());
            names
                .filter(|name| name.to_string_lossy().starts_with("bulk-"))
                .count()
        };
        assert!(files() > 0);
        // Threads of the loader, which was not dropped, close the store a moment later.
        let begun = std::time::Instant::now();
        let reopened = loop {
            match Store::open(folder.path(), Access::Read, None) {
                Err(_) if begun.elapsed().as_secs() < 30 => {
                    std::thread::sleep(std::time::Duration::from_millis(20));
                }
                opened => break opened,
            }
        };
        drop(reopened.expect("a home"));
        assert!(files() > 0, "another process may write them");
        let store = Store::open(folder.path(), Access::Write, None).expect("a home");
        assert_eq!((files(), numbers(&store).len()), (0, 0));
    }
}
