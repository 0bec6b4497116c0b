//! Content that ended the process while it was read.
//!
//! A page or file may need more memory than the process may use, or hit a defect that no error can report. The process then
//! ends, and at its next start it would read the same content again. So each step is recorded in a file before it begins:
//!
//! ```text
//! harvest/<name>/reading.json      the page that is read; a file left over means that the process ended within this step
//! harvest/<name>/storing.json      the datasets that are stored, likewise
//! harvest/<name>/quarantine.json   content that is not read again: its SHA-256, and where it comes from
//! ```
//!
//! A step may be interrupted for other reasons, such as a power failure. Therefore it is repeated once. Datasets that were stored
//! together are then stored one by one, and no page is read meanwhile, so that only the one at fault is left out.

use super::HarvestError;
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// Number of times that a step may end the process before its content is quarantined.
const MAX_ATTEMPTS: u32 = 2;

/// Kind of a step. Steps of different kinds may run at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StepKind {
    Reading,
    Storing,
}

impl StepKind {
    fn file(self) -> &'static str {
        match self {
            Self::Reading => "reading.json",
            Self::Storing => "storing.json",
        }
    }
}

/// A step that is running, or during which the process ended.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Step {
    /// Address of the page, or ids of the datasets.
    what: String,
    /// Hash of the content.
    content: String,
    /// Number of times that the step was begun without an end.
    attempts: u32,
    /// Ids of the datasets that are stored together.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    datasets: BTreeSet<String>,
}

/// The steps of one harvest, and the content that is not read.
#[derive(Debug)]
pub(super) struct Quarantine {
    folder: PathBuf,
    /// Steps during which an earlier process ended.
    interrupted: Vec<Step>,
    /// Hashes of the content, and where it comes from.
    contents: BTreeMap<String, String>,
}

impl Quarantine {
    /// Opens the records in the folder of a harvest.
    pub(super) fn open(folder: &Path) -> Result<Self, HarvestError> {
        let mut interrupted: Vec<Step> = Vec::new();
        for kind in [StepKind::Reading, StepKind::Storing] {
            interrupted.extend(read_record(&folder.join(kind.file()))?);
        }
        Ok(Self {
            folder: folder.to_owned(),
            interrupted,
            contents: read_record(&folder.join("quarantine.json"))?.unwrap_or_default(),
        })
    }

    /// Returns true if an earlier process ended within a step. Then one step runs at a time: if the process ends again, the record
    /// names the step at fault.
    pub(super) fn is_cautious(&self) -> bool {
        !self.interrupted.is_empty()
    }

    /// Returns true if the process ended while it stored a dataset, alone or with others, or if its content is quarantined.
    /// Such a dataset is stored alone.
    pub(super) fn is_suspect(&self, dataset: &str, content: &str) -> bool {
        let mut interrupted = self.interrupted.iter();
        interrupted.any(|step| step.datasets.contains(dataset))
            || self.contents.contains_key(content)
    }

    /// Runs a step that reads content with a hash. Returns the reason if it is not read, or if it panicked.
    pub(super) fn guard<T>(
        &mut self,
        what: &str,
        content: &str,
        step: impl FnOnce() -> T,
    ) -> Result<Result<T, String>, HarvestError> {
        if let Some(reason) = self.begin(StepKind::Reading, what, content, BTreeSet::new())? {
            return Ok(Err(reason));
        }
        let result = catch_unwind(AssertUnwindSafe(step));
        // A panic has not ended the process, so that the record goes, too.
        self.end(StepKind::Reading)?;
        Ok(result.map_err(|panic| panic_reason(what, "read", &*panic)))
    }

    /// Records that datasets are about to be stored. Returns the reason if they are quarantined.
    pub(super) fn begin_storing(
        &mut self,
        what: &str,
        content: &str,
        datasets: BTreeSet<String>,
    ) -> Result<Option<String>, HarvestError> {
        self.begin(StepKind::Storing, what, content, datasets)
    }

    /// Records that the datasets are stored.
    pub(super) fn end_storing(&self) -> Result<(), HarvestError> {
        self.end(StepKind::Storing)
    }

    /// Forgets the steps within which an earlier process ended, after a harvest that completed all of them.
    pub(super) fn forget_interrupted_steps(&self) -> Result<(), HarvestError> {
        self.end(StepKind::Reading)?;
        self.end(StepKind::Storing)
    }

    /// Records the start of a step. Returns the reason if the content is quarantined.
    fn begin(
        &mut self,
        kind: StepKind,
        what: &str,
        content: &str,
        datasets: BTreeSet<String>,
    ) -> Result<Option<String>, HarvestError> {
        let interrupted = self
            .interrupted
            .iter()
            .filter(|step| step.content == content);
        let earlier = interrupted.map(|step| step.attempts).max().unwrap_or(0);
        if earlier >= MAX_ATTEMPTS && !self.contents.contains_key(content) {
            self.contents.insert(content.to_owned(), what.to_owned());
            write_record(&self.folder.join("quarantine.json"), &self.contents)?;
            self.end(kind)?;
            if kind == StepKind::Storing {
                // An earlier version of the program recorded both kinds there. No page is read when datasets begin to be stored.
                self.end(StepKind::Reading)?;
            }
        }
        if self.contents.contains_key(content) {
            let path = self.folder.join("quarantine.json");
            return Ok(Some(format!(
                "{what}: the process ended {MAX_ATTEMPTS} times while it read this content, which is skipped until it changes; \
                 delete {} to read it again",
                path.display()
            )));
        }
        let step = Step {
            what: what.to_owned(),
            content: content.to_owned(),
            attempts: earlier + 1,
            datasets,
        };
        // Before the step begins: a process that is killed cannot write it afterwards.
        write_record(&self.folder.join(kind.file()), &step)?;
        Ok(None)
    }

    fn end(&self, kind: StepKind) -> Result<(), HarvestError> {
        let path = self.folder.join(kind.file());
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(HarvestError::io(&path)(error))
            }
            _ => Ok(()),
        }
    }
}

/// Returns the reason why a step that panicked has no result. `done`: what was done to it, such as `read`.
pub(super) fn panic_reason(what: &str, done: &str, panic: &(dyn Any + Send)) -> String {
    format!(
        "{what}: an internal error while being {done} ({}); please report it",
        panic_message(panic)
    )
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}

/// Reads a record; `None` if there is none, or if the process ended while it was written.
fn read_record<R: for<'de> Deserialize<'de>>(path: &Path) -> Result<Option<R>, HarvestError> {
    match fs::read(path) {
        Ok(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(HarvestError::io(path)(error)),
    }
}

fn write_record(path: &Path, record: &impl Serialize) -> Result<(), HarvestError> {
    let bytes = serde_json::to_vec(record).map_err(|error| HarvestError::io(path)(error.into()))?;
    // Not synced: the record must survive the process, not a power failure, after which the step may be repeated.
    let temporary = path.with_extension("new");
    fs::write(&temporary, bytes)
        .and_then(|()| fs::rename(&temporary, path))
        .map_err(HarvestError::io(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Begins a step in a process that ends within it.
    fn interrupt(folder: &Path, what: &str, content: &str) -> Option<String> {
        Quarantine::open(folder)
            .expect("opened")
            .begin(
                StepKind::Reading,
                what,
                content,
                BTreeSet::from([what.to_owned()]),
            )
            .expect("recorded")
    }

    fn run(folder: &Path, what: &str, content: &str) -> Result<u8, String> {
        Quarantine::open(folder)
            .expect("opened")
            .guard(what, content, || 7)
            .expect("recorded")
    }

    #[test]
    fn content_that_ends_the_process_twice_is_not_read_a_third_time() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path();
        assert_eq!(interrupt(folder, "page", "bad"), None);
        assert_eq!(interrupt(folder, "page", "bad"), None);
        let reason = run(folder, "page", "bad").expect_err("quarantined");
        assert!(
            reason.starts_with("page: the process ended 2 times")
                && reason.contains("quarantine.json"),
            "{reason}"
        );
        assert!(
            Quarantine::open(folder)
                .expect("opened")
                .is_suspect("another name", "bad")
        );
        assert_eq!(run(folder, "page", "changed"), Ok(7));
        assert!(run(folder, "page", "bad").is_err(), "it stays quarantined");
        fs::remove_file(folder.join("quarantine.json")).expect("removed");
        assert_eq!(run(folder, "page", "bad"), Ok(7));
    }

    #[test]
    fn an_interruption_by_chance_is_forgotten() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path();
        for _ in 0..5 {
            assert_eq!(interrupt(folder, "page", "good"), None);
            assert!(
                Quarantine::open(folder)
                    .expect("opened")
                    .is_suspect("page", "good")
            );
            assert_eq!(run(folder, "page", "good"), Ok(7));
            assert!(
                !Quarantine::open(folder)
                    .expect("opened")
                    .is_suspect("page", "good")
            );
        }
        fs::write(folder.join("reading.json"), "{\"what").expect("written");
        assert_eq!(
            run(folder, "page", "good"),
            Ok(7),
            "cut off by a power failure"
        );
    }

    #[test]
    fn a_panic_is_a_reason_and_no_interruption() {
        let folder = tempfile::tempdir().expect("a folder");
        for _ in 0..3 {
            let mut quarantine = Quarantine::open(folder.path()).expect("opened");
            let result = quarantine.guard("page", "bad", || panic!("too deep"));
            let reason: Result<(), String> = result.expect("recorded");
            assert!(reason.is_err_and(|reason| reason.contains("too deep")));
        }
    }
}
