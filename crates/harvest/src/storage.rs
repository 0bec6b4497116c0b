//! Storing in a thread of its own: meanwhile the next pages and files are fetched and read.

use super::state::DatasetRecord;
use super::{Batch, DatasetSink, HarvestError, StoreOutcome};
use lodeseek_catalog::DatasetId;
use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Scope;

type SinkResult<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Result of storing a batch. The outer error is a panic.
pub(super) type StoreResult =
    Result<SinkResult<Vec<(DatasetId, StoreOutcome)>>, Box<dyn Any + Send>>;

/// Result of removing datasets. The outer error is a panic.
type RemoveResult = Result<SinkResult<()>, Box<dyn Any + Send>>;

/// Task of the thread, with the sender of its result.
enum Task {
    Store(Batch, Sender<StoreResult>),
    Remove(Vec<DatasetId>, Sender<RemoveResult>),
}

/// A batch that is being stored.
pub(super) struct BatchInStorage {
    /// Its datasets as a phrase.
    pub(super) what: String,
    /// Their records.
    pub(super) records: BTreeMap<DatasetId, DatasetRecord>,
    /// Datasets that were known before.
    pub(super) known: BTreeSet<DatasetId>,
}

/// Thread that owns the sink of a harvest.
pub(super) struct Storage {
    tasks: Sender<Task>,
    in_storage: Option<InStorage>,
}

struct InStorage {
    batch: BatchInStorage,
    receiver: Receiver<StoreResult>,
    /// The result, if it was received before anybody waited for it.
    result: Option<StoreResult>,
}

impl Storage {
    /// Starts the thread, which ends when the value is dropped.
    pub(super) fn start<'scope, 'env>(
        scope: &'scope Scope<'scope, 'env>,
        sink: &'scope mut dyn DatasetSink,
    ) -> Self {
        // Without a bound: the harvest waits for the former batch before it sends the next one.
        let (tasks, receiver) = channel();
        scope.spawn(move || {
            for task in receiver {
                // A harvest that has failed does not wait for the result.
                match task {
                    Task::Store(batch, sender) => {
                        // A panic must not end this thread, because the harvest continues with the next batch.
                        let stored = catch_unwind(AssertUnwindSafe(|| sink.store(batch)));
                        drop(sender.send(stored));
                    }
                    Task::Remove(ids, sender) => {
                        let removed = catch_unwind(AssertUnwindSafe(|| sink.remove(&ids)));
                        drop(sender.send(removed));
                    }
                }
            }
        });
        Self {
            tasks,
            in_storage: None,
        }
    }

    /// Begins to store a batch. The caller has [waited](Self::wait) for the former one.
    ///
    /// # Errors
    /// If the thread has ended.
    pub(super) fn begin(
        &mut self,
        batch: Batch,
        description: BatchInStorage,
    ) -> Result<(), HarvestError> {
        let (sender, receiver) = channel();
        self.send(Task::Store(batch, sender))?;
        self.in_storage = Some(InStorage {
            batch: description,
            receiver,
            result: None,
        });
        Ok(())
    }

    /// Returns true if a batch is stored whose result nobody has taken.
    pub(super) fn has_result(&mut self) -> bool {
        let Some(in_storage) = &mut self.in_storage else {
            return false;
        };
        if in_storage.result.is_none() {
            in_storage.result = in_storage.receiver.try_recv().ok();
        }
        in_storage.result.is_some()
    }

    /// Waits until the batch is stored, and takes it. `None` if there is none.
    ///
    /// # Errors
    /// If the thread has ended.
    pub(super) fn wait(&mut self) -> Result<Option<(BatchInStorage, StoreResult)>, HarvestError> {
        let Some(in_storage) = self.in_storage.take() else {
            return Ok(None);
        };
        let result = match in_storage.result {
            Some(result) => result,
            None => in_storage.receiver.recv().map_err(|_| thread_error())?,
        };
        Ok(Some((in_storage.batch, result)))
    }

    /// Removes datasets.
    ///
    /// # Errors
    /// If the sink fails.
    pub(super) fn remove(&mut self, ids: &[DatasetId]) -> Result<(), HarvestError> {
        let (sender, result) = channel();
        self.send(Task::Remove(ids.to_vec(), sender))?;
        match result.recv().map_err(|_| thread_error())? {
            Ok(removed) => removed.map_err(HarvestError::Store),
            Err(panic) => resume_unwind(panic),
        }
    }

    fn send(&self, task: Task) -> Result<(), HarvestError> {
        self.tasks.send(task).map_err(|_| thread_error())
    }
}

fn thread_error() -> HarvestError {
    let reason =
        "the thread that stores datasets ended after an internal error; see the log, and report it";
    HarvestError::Store(reason.into())
}
