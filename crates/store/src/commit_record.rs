//! The commit record: a number on which the store and a file of the home must agree.
//!
//! When RocksDB opens a store, it replays its write-ahead log up to the first damaged record and ignores the rest. Committed
//! changes can then be missing without an error. Two measures detect this:
//!
//! - After each change the store is flushed, so that the log is empty: the change is in table files, whose blocks have
//!   checksums.
//! - Each change of metadata increments a number in the store, together with it. After the flush the number is
//!   written to `home/commit.json`. When a home is opened, the store must have this number, or a higher one if a process was
//!   killed between the two steps.
//!
//! The record also contains the base of all IRIs, since with another base no dataset would be found.

use super::quad_changes::{QuadChanges, Written};
use super::{Store, StoreError, graph_file};
use lodeseek_rdf::vocab::dcterms;
use oxrdf::{GraphNameRef, Literal, NamedNode, NamedNodeRef, Quad, Term};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::{MutexGuard, PoisonError};

const FILE: &str = "commit.json";
/// Name of the graph with the number, below the base. It is no graph of a dataset, and so invisible to queries.
const GRAPH: &str = "commit";

/// Content of the file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct CommitRecord {
    /// Number of the last commit.
    pub(super) commit: u64,
    /// Base of all IRIs.
    pub(super) base: String,
}

pub(super) fn path(home: &Path) -> PathBuf {
    home.join(FILE)
}

impl CommitRecord {
    /// Reads the record of a home, or returns `None` if there is none.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] if its checksum is wrong.
    pub(super) fn read(home: &Path) -> Result<Option<Self>, StoreError> {
        let Some(body) = graph_file::read_checked(&path(home))? else {
            return Ok(None);
        };
        serde_json::from_slice(&body)
            .map(Some)
            .map_err(|error| StoreError::Damaged {
                home: home.to_owned(),
                reason: format!("{FILE} cannot be read: {error}"),
            })
    }

    pub(super) fn write(&self, home: &Path) -> Result<(), StoreError> {
        let path = path(home);
        let body = serde_json::to_vec(self).map_err(|error| StoreError::io(&path)(error.into()))?;
        graph_file::write_checked(&path, &body)
    }
}

/// A commit in progress. No other one can start before it is dropped.
pub(super) struct Commit<'s> {
    last: MutexGuard<'s, u64>,
}

impl Store {
    /// Starts a commit. The caller marks the changes, commits them and calls [`finish_commit`](Self::finish_commit).
    pub(super) fn start_commit(&self) -> Commit<'_> {
        Commit {
            last: self
                .last_commit
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        }
    }

    /// Returns the number of the last commit. Every change of descriptions, contents, edits and derived data is one.
    #[must_use]
    pub fn commit_number(&self) -> u64 {
        *self
            .last_commit
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the number of the commit to its changes.
    pub(super) fn mark_commit(
        &self,
        commit: &Commit<'_>,
        changes: &mut QuadChanges,
    ) -> Result<(), StoreError> {
        for quad in self.commit_quads()? {
            changes.supersede(&quad);
        }
        changes.add(&self.commit_quad(*commit.last + 1));
        Ok(())
    }

    /// Flushes committed changes to table files, unless they are there, and records the number of the commit.
    pub(super) fn finish_commit(
        &self,
        mut commit: Commit<'_>,
        written: Written,
    ) -> Result<(), StoreError> {
        // The store has this number already, even if the record cannot be written.
        *commit.last += 1;
        self.record_commit(*commit.last, written)
    }

    /// Flushes changes that have no number, such as deleted content.
    pub(super) fn flush(&self) -> Result<(), StoreError> {
        // A store in memory has no files.
        #[cfg(feature = "rocksdb")]
        if self.is_on_disk() {
            self.oxigraph.flush()?;
        }
        Ok(())
    }

    fn record_commit(&self, commit: u64, written: Written) -> Result<(), StoreError> {
        // A flush waits for the merging of many new table files, even if there is nothing to flush.
        if written == Written::Log {
            self.flush()?;
        }
        if self.is_on_disk() {
            CommitRecord {
                commit,
                base: self.iris.base().to_owned(),
            }
            .write(&self.home)?;
        }
        Ok(())
    }

    /// Replaces number and record after a repair.
    pub(super) fn reset_commit(&self, commit: u64) -> Result<(), StoreError> {
        let mut last = self
            .last_commit
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let mut changes = QuadChanges::default();
        for quad in self.commit_quads()? {
            changes.remove(&quad);
        }
        changes.add(&self.commit_quad(commit));
        let written = changes.commit(self)?;
        *last = commit;
        self.record_commit(commit, written)
    }

    /// Returns the number of the last commit in the store; 0 if there is none.
    pub(super) fn read_commit(&self) -> Result<u64, StoreError> {
        let quads = self.commit_quads()?;
        let numbers = quads.iter().filter_map(|quad| match &quad.object {
            Term::Literal(number) => number.value().parse().ok(),
            _ => None,
        });
        Ok(numbers.max().unwrap_or(0))
    }

    /// Compares the store with the commit record.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] if committed changes are missing.
    pub(super) fn check_commit(&self) -> Result<u64, StoreError> {
        let stored = self.read_commit()?;
        let Some(record) = CommitRecord::read(&self.home)? else {
            // The first commit writes the record last; homes of early versions have neither number nor record.
            return if stored <= 1 {
                Ok(stored)
            } else {
                Err(self.damage_error(format!("{FILE} is missing")))
            };
        };
        if record.base != self.iris.base() {
            let (base, made) = (self.iris.base(), record.base);
            return Err(self.damage_error(format!(
                "its base is {base}, but its datasets were stored with the base {made}"
            )));
        }
        if stored < record.commit {
            let expected = record.commit;
            return Err(self.damage_error(format!(
                "the store has commit {stored} instead of {expected}: changes are missing"
            )));
        }
        Ok(stored)
    }

    fn damage_error(&self, reason: String) -> StoreError {
        StoreError::Damaged {
            home: self.home.clone(),
            reason,
        }
    }

    fn commit_graph(&self) -> NamedNode {
        NamedNode::new_unchecked(format!("{}{GRAPH}", self.iris.base()))
    }

    fn commit_quads(&self) -> Result<Vec<Quad>, StoreError> {
        let graph = self.commit_graph();
        let quads = self.oxigraph.quads_for_pattern(
            None,
            None,
            None,
            Some(GraphNameRef::NamedNode(graph.as_ref())),
        );
        Ok(quads.collect::<Result<_, _>>()?)
    }

    fn commit_quad(&self, commit: u64) -> Quad {
        let property = NamedNodeRef::new_unchecked(dcterms::IDENTIFIER);
        let number = Literal::from(i64::try_from(commit).unwrap_or(i64::MAX));
        Quad::new(self.iris.catalog(), property, number, self.commit_graph())
    }

    pub(crate) fn is_on_disk(&self) -> bool {
        self.lock.is_some()
    }
}
