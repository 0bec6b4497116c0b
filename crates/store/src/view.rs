//! Read-only views of an open store for other processes.
//!
//! While a store is open for writing, no other process may read its files. A view is then a checkpoint of RocksDB: a folder of hard
//! links to files that never change. It is written once for each generation of the store and removed when it is no longer used. A
//! store that is open for reading has no writer, so its own folder is the view.

use super::{Access, Store, StoreError, lock_mutex};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Folder of the checkpoints in a home.
const VIEWS: &str = "views";

/// Folder with the RDF store at one moment. Other processes may read it while this value exists.
#[derive(Debug)]
pub struct StoreView {
    folder: PathBuf,
    is_checkpoint: bool,
}

impl StoreView {
    /// Returns the folder, for [`Store::open_view`].
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for StoreView {
    fn drop(&mut self) {
        if self.is_checkpoint
            && let Err(error) = fs::remove_dir_all(&self.folder)
        {
            tracing::warn!(folder = %self.folder.display(), %error, "cannot remove a checkpoint; the next start removes it");
        }
    }
}

/// The view of the last generation.
#[derive(Debug, Default)]
pub(crate) struct ViewCache {
    last: Option<(u64, Arc<StoreView>)>,
    number: AtomicU64,
}

impl Store {
    /// Returns a view of the current committed content.
    ///
    /// # Errors
    /// If the store is in memory, or if the checkpoint cannot be written.
    pub fn view(&self) -> Result<Arc<StoreView>, StoreError> {
        if self.is_in_memory() {
            return Err(StoreError::InMemory);
        }
        let mut views = lock_mutex(&self.views);
        // Read before the checkpoint: a change in between makes the view newer than its number, never older.
        let now = self.generation();
        if let Some((_, view)) = views.last.as_ref().filter(|(then, _)| *then == now) {
            return Ok(Arc::clone(view));
        }
        let view = Arc::new(match self.access {
            Access::Read => StoreView {
                folder: self.home().join("store"),
                is_checkpoint: false,
            },
            Access::Write => {
                let number = views.number.fetch_add(1, Ordering::Relaxed);
                let folder = self.home().join(VIEWS).join(number.to_string());
                fs::create_dir_all(self.home().join(VIEWS)).map_err(StoreError::io(&folder))?;
                self.checkpoint(&folder)?;
                StoreView {
                    folder,
                    is_checkpoint: true,
                }
            }
        });
        views.last = Some((now, Arc::clone(&view)));
        Ok(view)
    }

    /// Writes a consistent copy of the store to a folder that does not exist, as hard links where possible. The store must be
    /// open for writing.
    ///
    /// # Errors
    /// [`StoreError::InMemory`] if the store has no files: it is in memory, or the feature `rocksdb` is disabled.
    pub fn checkpoint(&self, folder: &Path) -> Result<(), StoreError> {
        if self.is_in_memory() {
            return Err(StoreError::InMemory);
        }
        self.write_checkpoint(folder)
    }

    #[cfg(feature = "rocksdb")]
    fn write_checkpoint(&self, folder: &Path) -> Result<(), StoreError> {
        Ok(self.oxigraph.backup(folder)?)
    }

    #[cfg(not(feature = "rocksdb"))]
    fn write_checkpoint(&self, _: &Path) -> Result<(), StoreError> {
        Err(StoreError::InMemory)
    }

    /// Opens a view that another process holds. The home is not locked: the process that created the view holds the lock.
    ///
    /// # Errors
    /// If the folder is no store, or if the settings of the home cannot be read.
    pub fn open_view(home: &Path, folder: &Path) -> Result<Self, StoreError> {
        let iris = super::read_settings(home, Access::Read, None)?.iris;
        Ok(Self::with_parts(
            home,
            iris,
            super::open_oxigraph(folder, Access::Read)?,
            Access::Read,
            None,
        ))
    }
}

/// Removes the checkpoints that a killed process left.
pub(crate) fn remove_old_views(home: &Path) -> Result<(), StoreError> {
    let folder = home.join(VIEWS);
    match fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(StoreError::io(&folder)(error))
        }
        _ => Ok(()),
    }
}

#[cfg(all(test, feature = "rocksdb"))]
mod tests {
    use super::*;
    use lodeseek_catalog::Iris;
    use oxrdf::{NamedNode, Triple};

    fn triple(number: usize) -> Triple {
        Triple::new(
            NamedNode::new_unchecked(format!("http://e.org/{number}")),
            NamedNode::new_unchecked("http://e.org/p"),
            NamedNode::new_unchecked("http://e.org/o"),
        )
    }

    fn write(store: &Store, number: usize) {
        let id = lodeseek_catalog::DatasetId::new(number.to_string()).expect("an id");
        store
            .replace_derived_triples([(store.iris().profiles(), vec![(id, vec![triple(number)])])])
            .expect("written");
    }

    fn triples(store: &Store) -> usize {
        let profiles = store.iris().profiles();
        store
            .oxigraph()
            .quads_for_pattern(None, None, None, Some(profiles.as_ref().into()))
            .count()
    }

    #[test]
    fn a_view_keeps_the_content_of_its_moment() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path();
        let store = Store::open(home, Access::Write, None).expect("a home");
        write(&store, 1);
        let first = store.view().expect("a view");
        assert_eq!(
            first.folder(),
            store.view().expect("a view").folder(),
            "nothing changed"
        );
        let reader = Store::open_view(home, first.folder()).expect("opened beside the writer");
        write(&store, 2);
        let second = store.view().expect("a view");
        assert_ne!(first.folder(), second.folder());
        assert_eq!(triples(&reader), 1);
        assert_eq!(
            triples(&Store::open_view(home, second.folder()).expect("opened")),
            2
        );
        let old = first.folder().to_owned();
        drop(reader);
        assert!(old.exists(), "it is in use");
        drop(first);
        assert!(!old.exists(), "it is no longer used");
        let last = second.folder().to_owned();
        drop((second, store));
        assert!(!last.exists());
        let store = Store::open(home, Access::Read, Some(Iris::DEFAULT_BASE)).expect("a home");
        assert_eq!(store.view().expect("a view").folder(), home.join("store"));
    }

    #[test]
    fn checkpoints_of_a_killed_process_are_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(folder.path(), Access::Write, None).expect("a home");
        let view = store.view().expect("a view");
        let left = view.folder().to_owned();
        std::mem::forget(view);
        drop(store);
        assert!(left.exists());
        drop(Store::open(folder.path(), Access::Write, None).expect("a home"));
        assert!(!left.exists());
    }

    #[test]
    fn a_store_in_memory_has_no_view() {
        let folder = tempfile::tempdir().expect("a folder");
        let iris = Iris::new(Iris::DEFAULT_BASE).expect("the default");
        let store = Store::in_memory(folder.path(), iris).expect("a store");
        assert!(matches!(store.view(), Err(StoreError::InMemory)));
        let checkpoint = folder.path().join("checkpoint");
        assert!(matches!(
            store.checkpoint(&checkpoint),
            Err(StoreError::InMemory)
        ));
        assert!(!checkpoint.exists());
    }
}
