//! Assembly of a home from the results of tasks.

use crate::record::{Record, RecordHeader};
use crate::{ClusterError, TaskResult, TaskStatus, result};
use arrow_ipc::reader::StreamReader;
use lodeseek_catalog::DatasetId;
use lodeseek_engine::{DerivedDataset, DerivedSource, StageTimes};
use lodeseek_index::vectors::Rows;
use lodeseek_snapshot::{RemoteSnapshots, StoredObject};
use lodeseek_store::{LoadOptions, LoadProgress, LoadReport, Loader, StagedDataset, Stamp, Store, VersionFiles};
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::PathBuf;
use tempfile::TempDir;

/// Number of datasets whose objects are fetched at once.
const DATASETS_AT_ONCE: usize = 64;

/// Reads results as an Arrow stream, and sorts them by their place in the plan. Repeated results of a task are dropped.
///
/// # Errors
/// If the stream is not valid.
pub fn read_results(input: impl Read) -> Result<Vec<TaskResult>, ClusterError> {
    let failed = ClusterError::arrow(result::TABLE);
    let mut results = Vec::new();
    for batch in StreamReader::try_new(input, None).map_err(&failed)? {
        results.extend(TaskResult::from_batch(&batch.map_err(&failed)?)?);
    }
    results.sort_by_key(|result| result.position);
    results.dedup_by(|one, other| (one.position, &one.id) == (other.position, &other.id));
    Ok(results)
}

/// Datasets that workers derived, and their records in a local folder.
pub struct Assembly<'r> {
    remote: &'r RemoteSnapshots,
    results: Vec<&'r TaskResult>,
    folder: TempDir,
    records: BTreeMap<DatasetId, PathBuf>,
}

impl<'r> Assembly<'r> {
    /// Prepares the assembly of all derived datasets in a home. Records are kept in its folder until the assembly is dropped.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub fn new(remote: &'r RemoteSnapshots, results: &'r [TaskResult], store: &Store) -> Result<Self, ClusterError> {
        let folder = tempfile::Builder::new().prefix("assembly-").tempdir_in(store.home());
        let folder = folder.map_err(ClusterError::io(store.home()))?;
        let results = results.iter().filter(|result| result.status == TaskStatus::Derived).collect();
        Ok(Self { remote, results, folder, records: BTreeMap::new() })
    }

    /// Loads the datasets, in the order of the plan.
    ///
    /// # Errors
    /// If the storage or the store fails, or if a record is not valid.
    pub fn load(
        &mut self,
        store: &Store,
        stamp: Stamp,
        on_progress: &dyn Fn(LoadProgress),
    ) -> Result<LoadReport, ClusterError> {
        let total = self.results.len();
        let results = std::mem::take(&mut self.results);
        let chunks = results.chunks(DATASETS_AT_ONCE);
        let datasets = chunks.flat_map(|results| match self.stage(store, results) {
            Ok(staged) => staged.into_iter().map(Ok).collect(),
            Err(error) => vec![Err(error)],
        });
        let options = LoadOptions { stamp, ..LoadOptions::default() };
        Loader::new(store).with_options(options).load_staged(datasets, total, on_progress)
    }

    /// Fetches the records and the version files of some datasets.
    fn stage(&mut self, store: &Store, results: &[&TaskResult]) -> Result<Vec<StagedDataset>, ClusterError> {
        let mut objects = Vec::with_capacity(results.len());
        for result in results {
            let missing = || ClusterError::row(result::TABLE, &result.id, "a derived dataset has no record");
            let record = result.record.clone().ok_or_else(missing)?;
            objects.push((record, self.folder.path().join(result.position.to_string())));
        }
        self.remote.fetch_objects(&objects)?;
        let mut files = BTreeMap::new();
        let mut staged = Vec::with_capacity(results.len());
        for (result, (_, path)) in results.iter().zip(objects) {
            let record = Record::read(&path)?;
            let header = record.header()?;
            check_base(&header, store)?;
            let description = record.description(&result.id)?;
            self.records.insert(DatasetId::new(result.id.as_str())?, path);
            if !store.has_graph_file(&header.version) {
                let paths = VersionFiles::paths(store.home(), &header.version);
                files.extend(paths.into_iter().zip(header.objects));
            }
            let RecordHeader { version, lacks_content, report, .. } = header;
            staged.push(StagedDataset { description, version, lacks_content, report });
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

    fn record(&self, id: &DatasetId) -> Option<Record> {
        Record::read(self.records.get(id)?).ok()
    }
}

impl DerivedSource for Assembly<'_> {
    fn derived(&self, id: &DatasetId, version: &str) -> Option<DerivedDataset> {
        let record = self.record(id)?;
        let document = record.document(id.as_str()).ok()?;
        if document.version != version || document.id != *id {
            return None;
        }
        let [profile, snippet] = record.derived_triples(id.as_str()).ok()?;
        let triples = record.header().ok()?.report.triples;
        Some(DerivedDataset { document, profile, snippet, triples, times: StageTimes::default(), is_reused: true })
    }

    fn vectors(&self, id: &DatasetId, fingerprint: &str, digest: &str) -> Option<[Rows; 2]> {
        self.record(id)?.vectors(fingerprint, digest)
    }
}

/// Returns an error if a dataset was derived for another base: all IRIs in its data would be wrong.
fn check_base(header: &RecordHeader, store: &Store) -> Result<(), ClusterError> {
    let home = store.iris().base();
    if header.base == home {
        return Ok(());
    }
    Err(ClusterError::OtherBase { id: header.id.clone(), derived: header.base.clone(), home: home.to_owned() })
}
