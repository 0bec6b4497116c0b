//! Assembly of a home from the results of tasks.

use crate::record::{Record, RecordHeader};
use crate::{ClusterError, TaskResult, TaskStatus, result};
use arrow_ipc::reader::StreamReader;
use lodeseek_catalog::DatasetId;
use lodeseek_engine::{AnalysisKind, DerivedDataset, DerivedSource, StageTimes};
use lodeseek_index::vectors::{Precision, Rows};
use lodeseek_snapshot::{RemoteSnapshots, StoredObject};
use lodeseek_store::{
    LoadOptions, LoadProgress, LoadReport, Loader, StagedDataset, Stamp, Store, version_paths,
};
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use tempfile::TempDir;

/// Maximum number of datasets whose objects are fetched together.
const MAX_FETCHED_DATASETS: usize = 64;

/// Reads results as an Arrow stream, and sorts them by their place in the plan. Of repeated results of a task, one is kept:
/// a derived one if there is one.
///
/// # Errors
/// If the stream is not valid.
pub fn read_results(input: impl Read) -> Result<Vec<TaskResult>, ClusterError> {
    let failed = ClusterError::arrow(result::TABLE);
    let mut results = Vec::new();
    for batch in StreamReader::try_new(input, None).map_err(&failed)? {
        results.extend(TaskResult::from_batch(&batch.map_err(&failed)?)?);
    }
    // The first result of a task stays: a derived one precedes failed ones.
    results.sort_by(|one, other| {
        (one.position, &one.id, one.is_failed()).cmp(&(
            other.position,
            &other.id,
            other.is_failed(),
        ))
    });
    results.dedup_by(|one, other| (one.position, &one.id) == (other.position, &other.id));
    Ok(results)
}

/// Settings of the home that workers must have had, too.
#[derive(Clone, Debug)]
pub struct AssemblyTarget {
    /// Text analysis of the index.
    pub analysis: AnalysisKind,
    /// Number format of the stored vectors, by the fingerprint of the encoder.
    pub precisions: BTreeMap<String, Precision>,
}

/// Datasets that workers derived, and their records in a local folder.
pub struct Assembly<'r> {
    remote: &'r RemoteSnapshots,
    results: Vec<&'r TaskResult>,
    folder: TempDir,
    records: BTreeMap<DatasetId, PathBuf>,
    target: AssemblyTarget,
    damaged: Mutex<BTreeMap<DatasetId, ClusterError>>,
}

impl<'r> Assembly<'r> {
    /// Prepares the assembly of all derived datasets in a home. Records are kept in its folder until the assembly is dropped.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub fn new(
        remote: &'r RemoteSnapshots,
        results: &'r [TaskResult],
        store: &Store,
        target: AssemblyTarget,
    ) -> Result<Self, ClusterError> {
        // In the home, so that version files are renamed into place on one file system.
        let folder = tempfile::Builder::new()
            .prefix("assembly-")
            .tempdir_in(store.home());
        let folder = folder.map_err(ClusterError::io(store.home()))?;
        let results = results
            .iter()
            .filter(|result| result.status == TaskStatus::Derived)
            .collect();
        Ok(Self {
            remote,
            results,
            folder,
            records: BTreeMap::new(),
            target,
            damaged: Mutex::default(),
        })
    }

    /// Loads the datasets, in the order of the plan.
    ///
    /// # Errors
    /// If the storage or the store fails, if a record is not valid, or if the settings of its worker differ from those of the
    /// home.
    pub fn load(
        &mut self,
        store: &Store,
        stamp: Stamp,
        on_progress: &dyn Fn(LoadProgress),
    ) -> Result<LoadReport, ClusterError> {
        let total = self.results.len();
        // Results of two plans can have equal positions, so that these cannot name the files.
        let results: Vec<_> = std::mem::take(&mut self.results)
            .into_iter()
            .enumerate()
            .collect();
        // Lazily: the loader takes the datasets of a chunk before the next one is fetched.
        let chunks = results.chunks(MAX_FETCHED_DATASETS);
        let datasets = chunks.flat_map(|results| match self.stage(store, results) {
            Ok(staged) => staged.into_iter().map(Ok).collect(),
            Err(error) => vec![Err(error)],
        });
        let options = LoadOptions {
            stamp,
            ..LoadOptions::default()
        };
        Loader::new(store)
            .with_options(options)
            .load_staged_datasets(datasets, total, on_progress)
    }

    /// Fetches the records and the version files of some datasets, which have distinct numbers.
    fn stage(
        &mut self,
        store: &Store,
        results: &[(usize, &TaskResult)],
    ) -> Result<Vec<StagedDataset>, ClusterError> {
        let mut objects = Vec::with_capacity(results.len());
        for (number, result) in results {
            let record = result
                .record
                .clone()
                .ok_or_else(|| invalid_result(result, "a derived dataset has no record"))?;
            objects.push((record, self.folder.path().join(number.to_string())));
        }
        self.remote.fetch_objects(&objects)?;
        let mut files = BTreeMap::new();
        let mut staged = Vec::with_capacity(results.len());
        for ((_, result), (_, path)) in results.iter().zip(objects) {
            let record = Record::read(&path)?;
            let header = record.header()?;
            // The results are a table from outside: a row may name the record of another dataset.
            if header.id != result.id || header.report.id.as_str() != result.id {
                return Err(invalid_result(
                    result,
                    "its record belongs to another dataset",
                ));
            }
            check_base(&header, store)?;
            check_settings(&record, &header, &self.target)?;
            let description = record.description(&result.id)?;
            self.records
                .insert(DatasetId::new(result.id.as_str())?, path);
            let paths = version_paths(store.home(), &header.version);
            let [graph, counts, fingerprint, sample, labels] = paths
                .ok_or_else(|| invalid_result(result, "the version of its content is not valid"))?;
            // Datasets with equal contents share a version, whose files are fetched once.
            if !store.has_graph_file(&header.version) {
                files.extend([graph, counts, fingerprint].into_iter().zip(header.objects));
            }
            // A version that was loaded, and not indexed, has none.
            if let Some(object) = header.sample.filter(|_| !sample.exists()) {
                files.insert(sample, object);
            }
            if let Some(object) = header.labels.filter(|_| !labels.exists()) {
                files.insert(labels, object);
            }
            let RecordHeader {
                version,
                lacks_content,
                report,
                ..
            } = header;
            staged.push(StagedDataset {
                description,
                version,
                lacks_content,
                report,
            });
        }
        self.fetch_files(files)?;
        Ok(staged)
    }

    /// Fetches version files. Each appears with its complete content.
    fn fetch_files(&self, files: BTreeMap<PathBuf, StoredObject>) -> Result<(), ClusterError> {
        let mut fetched = Vec::with_capacity(files.len());
        for (number, (path, object)) in files.into_iter().enumerate() {
            let beside = self.folder.path().join(format!("file-{number}"));
            fetched.push((path, (object, beside)));
        }
        let objects: Vec<_> = fetched.iter().map(|(_, object)| object.clone()).collect();
        self.remote.fetch_objects(&objects)?;
        for (path, (_, beside)) in fetched {
            fs::rename(beside, &path).map_err(ClusterError::io(&path))?;
        }
        Ok(())
    }

    /// Returns the record of a dataset.
    fn record(&self, id: &DatasetId) -> Result<Option<Record>, ClusterError> {
        self.records
            .get(id)
            .map(|path| Record::read(path))
            .transpose()
    }

    fn read_dataset(
        &self,
        id: &DatasetId,
        version: &str,
    ) -> Result<Option<DerivedDataset>, ClusterError> {
        let Some(record) = self.record(id)? else {
            return Ok(None);
        };
        let document = record.document(id.as_str())?;
        // The store has another version by now, for example after a later load: the indexer derives it.
        if document.version != version || document.id != *id {
            return Ok(None);
        }
        let [profile, snippet] = record.derived_triples(id.as_str())?;
        let triples = record.header()?.report.triples;
        let times = StageTimes::default();
        Ok(Some(DerivedDataset {
            document,
            profile,
            snippet,
            triples,
            times,
            is_reused: true,
        }))
    }

    fn read_vectors(
        &self,
        id: &DatasetId,
        fingerprint: &str,
        digest: &str,
    ) -> Result<Option<[Rows; 2]>, ClusterError> {
        let Some(record) = self.record(id)? else {
            return Ok(None);
        };
        record.vectors(fingerprint, digest)
    }

    /// Returns what was read. Notes a dataset whose record is damaged.
    fn note_damage<T>(&self, id: &DatasetId, read: Result<Option<T>, ClusterError>) -> Option<T> {
        read.unwrap_or_else(|error| {
            self.damaged
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .entry(id.clone())
                .or_insert(error);
            None
        })
    }

    /// Returns the datasets whose records were found damaged, each with the first error. They were derived again.
    #[must_use]
    pub fn damaged_datasets(self) -> BTreeMap<DatasetId, ClusterError> {
        self.damaged
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl DerivedSource for Assembly<'_> {
    fn derived_dataset(&self, id: &DatasetId, version: &str) -> Option<DerivedDataset> {
        self.note_damage(id, self.read_dataset(id, version))
    }

    fn vectors(&self, id: &DatasetId, fingerprint: &str, digest: &str) -> Option<[Rows; 2]> {
        self.note_damage(id, self.read_vectors(id, fingerprint, digest))
    }
}

fn invalid_result(result: &TaskResult, reason: &str) -> ClusterError {
    ClusterError::row(result::TABLE, &result.id, reason)
}

/// Returns an error if a dataset was derived for another base: all IRIs in its data would be wrong.
fn check_base(header: &RecordHeader, store: &Store) -> Result<(), ClusterError> {
    let home = store.iris().base();
    if header.base == home {
        return Ok(());
    }
    Err(ClusterError::OtherBase {
        id: header.id.clone(),
        derived: header.base.clone(),
        home: home.to_owned(),
    })
}

/// Returns an error if the worker of a record had other settings than the home: the assembly would derive its dataset again.
fn check_settings(
    record: &Record,
    header: &RecordHeader,
    target: &AssemblyTarget,
) -> Result<(), ClusterError> {
    if header.analysis != target.analysis {
        let (derived, home) = (header.analysis, target.analysis);
        return Err(ClusterError::OtherAnalysis {
            id: header.id.clone(),
            derived,
            home,
        });
    }
    for (fingerprint, &home) in &target.precisions {
        if let Some(derived) = record
            .precision(fingerprint)?
            .filter(|derived| *derived != home)
        {
            return Err(ClusterError::OtherPrecision {
                id: header.id.clone(),
                derived,
                home,
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Task;
    use arrow_ipc::writer::StreamWriter;

    #[test]
    fn a_derived_result_precedes_a_failed_one_of_the_same_task() {
        let task = Task {
            position: 0,
            id: "a".to_owned(),
            base: String::new(),
            planned: String::new(),
            description: String::new(),
            sources: Vec::new(),
        };
        let failed = TaskResult::failed(&task, "lost");
        let derived = TaskResult {
            status: TaskStatus::Derived,
            reason: None,
            ..failed.clone()
        };
        for order in [[&failed, &derived], [&derived, &failed]] {
            let mut writer =
                StreamWriter::try_new(Vec::new(), &TaskResult::schema()).expect("a stream");
            for result in order {
                writer
                    .write(&result.to_batch().expect("a table"))
                    .expect("written");
            }
            let stream = writer.into_inner().expect("a stream");
            assert_eq!(
                read_results(&stream[..]).expect("results"),
                std::slice::from_ref(&derived)
            );
        }
    }
}
