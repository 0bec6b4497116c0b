//! Changes of the collection: what a job does.
//!
//! Each change is all or nothing: it is visible after the commit of the index, and a failure restores the store. A load or a
//! harvest consists of several such steps.

use super::Live;
use super::downloads::download;
use super::edits::{DatasetEdit, add_tag, check, edit, source_description};
use super::harvest_schedule::index_pending;
use super::harvests::harvest;
use super::jobs::{Jobs, Next, Progress};
use super::preconditions::Preconditions;
use super::tokens::{Rights, Scope};
use super::works::{ADD, add_list, remove_listed};
use axum::http::StatusCode;
use lodeseek_catalog::{
    Catalog, CatalogError, Dataset, DatasetId, Distribution, LocalCopy, Location, Metadata,
    description_json,
};
use lodeseek_engine::{EngineError, IndexOptions, Indexer, UpdateReport, backup};
use lodeseek_harvest::{HarvestRequest, is_address};
use lodeseek_net::egress::{Cancellation, IpNet};
use lodeseek_snapshot::{
    PublishOptions, RemoteSnapshots, Retention, SigningKey, SnapshotError, SnapshotLocation,
    publish,
};
use lodeseek_store::{
    DatasetOutcome, DatasetReport, Entry, Incomplete, LoadOptions, LoadReport, LoadSource,
    OtherSources, Store, StoreError,
};
use oxsdatatypes::DateTime;
use serde_json::{Value, json};
use std::fs;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

/// Quiet time after which derived data of the whole collection is updated: duplicates, vectors, statistics.
const QUIET: Duration = Duration::from_secs(2);
/// Time after which it is updated even if changes never pause.
const MAX_DELAY: Duration = Duration::from_secs(60);
/// Number of datasets of a catalogue that are loaded and indexed as one step.
const STEP: usize = 200;
/// Origin of datasets that were uploaded one by one.
const API: &str = "upload";
/// Maximum number of problems in the result of an upload.
const MAX_PROBLEMS: usize = 20;
/// Maximum number of datasets, of files, and of problems in the result of a load or a harvest, and of datasets of an ended job.
pub(super) const MAX_LISTED: usize = 1000;

/// A requested change.
pub(crate) enum Change {
    /// Adds or replaces one dataset.
    Put(Box<DatasetUpload>),
    /// Loads catalogues and dumps: of this machine, or uploaded into a folder.
    Load(Box<SourcesUpload>),
    /// Adds the works of an uploaded list.
    Works(Spool),
    /// Harvests portals.
    Harvest(Box<HarvestRequest>),
    /// Changes the edits of a description.
    Edit(Box<DatasetEdit>),
    /// Removes datasets.
    Remove(Vec<DatasetId>),
    /// Removes a dataset under conditions.
    RemoveIf(DatasetId, Preconditions),
    /// Removes works.
    RemoveWorks(Vec<String>),
    /// Indexes the datasets whose entries are missing or outdated, or all.
    Index { rebuild: bool },
    /// Writes a backup of the home to a folder. It changes nothing, but no change may run meanwhile.
    Backup(PathBuf),
    /// Publishes a snapshot of the home. It changes nothing, but no change may run meanwhile.
    Publish(Box<Publication>),
}

/// A requested publication.
pub(crate) struct Publication {
    pub(crate) location: SnapshotLocation,
    /// Number of snapshots that are kept; all without it.
    pub(crate) keep: Option<NonZeroUsize>,
    /// File with the private key that signs the snapshot.
    pub(crate) key: Option<PathBuf>,
    /// If true, records that are not of this home are deleted.
    pub(crate) force: bool,
}

impl Change {
    pub(crate) fn action(&self) -> &'static str {
        match self {
            Self::Put(_) => "put",
            Self::Load(_) => "load",
            Self::Works(_) => ADD,
            Self::Harvest(_) => "harvest",
            Self::Edit(_) => "edit",
            Self::Remove(_) | Self::RemoveIf(..) | Self::RemoveWorks(_) => "remove",
            Self::Index { .. } => "index",
            Self::Backup(_) => "backup",
            Self::Publish(_) => "publish",
        }
    }

    /// Returns the ids of the datasets that the change names.
    pub(crate) fn datasets(&self) -> Vec<String> {
        match self {
            Self::Put(upload) => vec![upload.id.to_string()],
            Self::Remove(ids) => ids.iter().map(ToString::to_string).collect(),
            Self::Edit(edit) => vec![edit.id.to_string()],
            Self::RemoveIf(id, _) => vec![id.to_string()],
            Self::Load(_)
            | Self::Works(_)
            | Self::RemoveWorks(_)
            | Self::Harvest(_)
            | Self::Index { .. }
            | Self::Backup(_)
            | Self::Publish(_) => Vec::new(),
        }
    }

    /// Returns the ids of the works that the change names.
    pub(crate) fn works(&self) -> Vec<String> {
        match self {
            Self::RemoveWorks(ids) => ids.clone(),
            _ => Vec::new(),
        }
    }

    /// Returns the keys of the description that the change names.
    pub(crate) fn fields(&self) -> Vec<String> {
        match self {
            Self::Edit(edit) => edit.fields(),
            _ => Vec::new(),
        }
    }

    /// Returns the scope that a token needs for the change.
    pub(crate) fn scope(&self) -> Scope {
        match self {
            Self::Harvest(_) | Self::Index { .. } | Self::Backup(_) | Self::Publish(_) => {
                Scope::Admin
            }
            // Only administrators may download from private networks.
            Self::Put(upload) if !upload.networks.is_empty() => Scope::Admin,
            _ => Scope::Write,
        }
    }

    /// Returns the lane in which the change waits.
    pub(crate) fn lane(&self) -> Lane {
        match self {
            Self::Harvest(_) => Lane::Harvests,
            Self::Put(upload) if !upload.addresses.is_empty() => Lane::Downloads,
            _ => Lane::Changes,
        }
    }
}

/// Lane of the queue. Jobs of one lane are done one after the other; jobs of several lanes take turns at the collection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Lane {
    /// Changes that need nothing from the network.
    Changes,
    /// Datasets whose files are downloaded first.
    Downloads,
    /// Harvests.
    Harvests,
}

impl Lane {
    /// All lanes. Each has a thread of its own.
    pub(crate) const ALL: [Self; 3] = [Self::Changes, Self::Downloads, Self::Harvests];

    /// Returns the name of the thread.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Changes => "changes",
            Self::Downloads => "downloads",
            Self::Harvests => "harvests",
        }
    }
}

/// Catalogues and dumps to load: of this machine, or uploaded.
pub(crate) struct SourcesUpload {
    pub(crate) sources: Vec<PathBuf>,
    /// Paths of uploaded sources on the machine of the client, in their order; may be fewer.
    pub(crate) origins: Vec<String>,
    pub(crate) id_prefix: String,
    /// If true, datasets of other sources with the same ids are replaced.
    pub(crate) replace: bool,
    /// Folder of uploaded files.
    pub(crate) spool: Option<Spool>,
}

impl SourcesUpload {
    /// Returns the source that becomes the origin of the datasets of a catalogue.
    fn load_source(&self, number: usize) -> LoadSource {
        let path = &self.sources[number];
        let Some(spool) = &self.spool else {
            return LoadSource::from_path(path, &self.id_prefix);
        };
        let origin = self.origins.get(number).filter(|origin| !origin.is_empty());
        let relative = || {
            path.strip_prefix(spool.path())
                .unwrap_or(path)
                .to_string_lossy()
                .into_owned()
        };
        let source = format!("upload:{}", origin.cloned().unwrap_or_else(relative));
        LoadSource {
            source,
            id_prefix: self.id_prefix.clone(),
            is_harvest: false,
        }
    }
}

/// An uploaded dataset: a description, files, or both.
pub(crate) struct DatasetUpload {
    pub(crate) id: DatasetId,
    /// Description; `None` keeps the present one.
    pub(crate) metadata: Option<Dataset>,
    /// Files of the content; without any, the present content is kept.
    pub(crate) dumps: Vec<UploadedFile>,
    /// Addresses of further files, which the job downloads.
    pub(crate) addresses: Vec<String>,
    /// Private networks that these addresses may be in.
    pub(crate) networks: Arc<[IpNet]>,
    /// Conditions under which it is stored.
    pub(crate) conditions: Preconditions,
    /// Folder of the files.
    pub(crate) spool: Spool,
}

/// An uploaded file.
pub(crate) struct UploadedFile {
    /// Name, without folders.
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) media_type: Option<String>,
    /// Address from which it was downloaded.
    pub(crate) address: Option<String>,
}

/// Folder of uploaded files. It is deleted with this value.
pub(crate) struct Spool(PathBuf);

impl Spool {
    /// Creates an empty folder.
    pub(crate) fn create(folder: PathBuf) -> std::io::Result<Self> {
        fs::create_dir_all(&folder)?;
        Ok(Self(folder))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Removes the path of the folder from a message: it is no concern of the sender.
    fn without_path(&self, message: &str) -> String {
        message.replace(&format!("{}/", self.0.display()), "")
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            tracing::warn!(%error, path = %self.0.display(), "cannot delete uploaded files; the next start deletes them");
        }
    }
}

/// Outcome of a job.
pub(crate) enum Outcome {
    Done(Value),
    Failed(String),
    /// The change was not made, because the disk is full.
    DiskFull,
    /// The change was not made, for a reason with a status code of its own.
    Rejected(StatusCode, String),
    Cancelled,
}

/// Progress and cancellation of a running job.
pub(crate) struct Control {
    is_cancelled: Arc<AtomicBool>,
    rights: Rights,
    report: Box<dyn Fn(Progress) + Send + Sync>,
}

impl Control {
    pub(crate) fn new(
        is_cancelled: Arc<AtomicBool>,
        rights: Rights,
        report: impl Fn(Progress) + Send + Sync + 'static,
    ) -> Self {
        Self {
            is_cancelled,
            rights,
            report: Box::new(report),
        }
    }

    /// Ends the job here if its cancellation was requested, or if its client lost the rights.
    pub(super) fn check(&self) -> Result<(), Failure> {
        if self.is_cancelled.load(Ordering::SeqCst) {
            return Err(Failure::Cancelled);
        }
        self.rights.check().map_err(Failure::Error)
    }

    fn report(&self, done: usize, total: usize) {
        self.report_progress(Progress {
            done,
            total,
            ..Progress::default()
        });
    }

    pub(super) fn report_progress(&self, progress: Progress) {
        (self.report)(progress);
    }

    /// Returns the cancellation of requests that the job sends.
    pub(super) fn cancellation(&self) -> Cancellation {
        Cancellation::from(Arc::clone(&self.is_cancelled))
    }
}

/// Reason why a change was not made.
pub(super) enum Failure {
    Cancelled,
    Error(String),
    /// A reason with a status code of its own.
    Rejected(StatusCode, String),
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        tracing::error!(%error, "a change failed");
        Self::Error(error.to_string())
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        EngineError::from(error).into()
    }
}

impl From<SnapshotError> for Failure {
    fn from(error: SnapshotError) -> Self {
        tracing::error!(%error, "a publication failed");
        Self::Error(error.to_string())
    }
}

impl From<CatalogError> for Failure {
    fn from(error: CatalogError) -> Self {
        Self::Error(error.to_string())
    }
}

/// Makes the changes of a lane until the server stops.
pub(crate) fn make_changes(jobs: &Arc<Jobs>, lane: Lane, live: &Live) {
    let mut tasks = Upkeep::default();
    if lane == Lane::Changes {
        index_pending(live);
        // The server may have stopped between a change and the derived data of the collection.
        tasks.note_change();
    }
    loop {
        match jobs.next(lane, QUIET) {
            Next::Stop => return,
            Next::Idle => tasks.run(live),
            Next::Job(id, change, rights, is_cancelled) => {
                let control = jobs.control(id, rights, is_cancelled);
                // A panic ends one job, not the queue.
                let made = catch_unwind(AssertUnwindSafe(|| make(change, live, &control)));
                let made = made.unwrap_or_else(|_| {
                    Err(Failure::Error(
                        "internal error; see the server's log".to_owned(),
                    ))
                });
                tasks.note_change();
                jobs.end(
                    id,
                    match made {
                        Ok(result) => Outcome::Done(result),
                        Err(Failure::Cancelled) => Outcome::Cancelled,
                        Err(Failure::Error(error)) => failed(&error, live.store.home()),
                        Err(Failure::Rejected(status, error)) => Outcome::Rejected(status, error),
                    },
                );
                if tasks.are_overdue() {
                    tasks.run(live);
                }
            }
        }
    }
}

/// Returns the outcome of a failed change. Paths of the home are no concern of clients.
fn failed(error: &str, home: &Path) -> Outcome {
    if is_full_disk(error) {
        tracing::error!(error, "the disk is full");
        return Outcome::DiskFull;
    }
    let mut error = error.to_owned();
    for home in [Some(home.to_owned()), home.canonicalize().ok()]
        .iter()
        .flatten()
    {
        error = error.replace(&format!("{}/", home.display()), "");
    }
    Outcome::Failed(error)
}

/// Returns true if a message contains the cause of a full disk or of an exhausted quota. RocksDB, tantivy and worker processes report
/// it as a text only.
fn is_full_disk(error: &str) -> bool {
    let signs = [
        "No space left on device",
        "Disk quota exceeded",
        "not enough space on the disk",
    ];
    signs.iter().any(|sign| error.contains(sign))
}

fn make(change: Change, live: &Live, control: &Control) -> Result<Value, Failure> {
    control.check()?;
    // A cancellation ends the processes that parse files, and so lets the current step fail.
    perform(change, live, control).map_err(|failure| control.check().err().unwrap_or(failure))
}

fn perform(change: Change, live: &Live, control: &Control) -> Result<Value, Failure> {
    match change {
        // A harvest locks changes for each of its batches.
        Change::Harvest(request) => harvest(&request, live, control),
        Change::Put(upload) => {
            let upload = downloaded(*upload, control)?;
            control.check()?;
            locked(live, || put(upload, live, control))
        }
        Change::Load(upload) => locked(live, || load(&upload, live, control)),
        Change::Works(spool) => locked(live, || add_list(&spool, live)),
        Change::Edit(change) => locked(live, || edit(&change, live)),
        Change::Remove(ids) => locked(live, || remove(&ids, live)),
        Change::RemoveIf(id, conditions) => locked(live, || {
            check(&live.store, &id, &conditions)?;
            remove(std::slice::from_ref(&id), live)
        }),
        Change::RemoveWorks(ids) => locked(live, || remove_listed(&ids, live)),
        Change::Index { rebuild } => locked(live, || index(rebuild, live, control)),
        Change::Backup(folder) => locked(live, || save(&folder, live, control)),
        Change::Publish(publication) => {
            locked(live, || publish_snapshot(&publication, live, control))
        }
    }
}

/// Makes a change while no other task changes the collection.
fn locked(live: &Live, change: impl FnOnce() -> Result<Value, Failure>) -> Result<Value, Failure> {
    let _change = live.lock_changes();
    let result = change();
    // Earlier steps of a failed load are visible too.
    live.searcher.refresh()?;
    result
}

/// Downloads the files of an upload that are named by their addresses, beside other changes.
fn downloaded(mut upload: DatasetUpload, control: &Control) -> Result<DatasetUpload, Failure> {
    if upload.addresses.is_empty() {
        return Ok(upload);
    }
    let files = download(&upload.addresses, &upload.networks, &upload.spool, control)?;
    upload.dumps.extend(files);
    Ok(upload)
}

fn put(upload: DatasetUpload, live: &Live, control: &Control) -> Result<Value, Failure> {
    let DatasetUpload {
        id,
        metadata,
        dumps,
        conditions,
        spool,
        ..
    } = upload;
    check(&live.store, &id, &conditions)?;
    let mut present = entry(&live.store, &id)?;
    let is_new = present.is_none();
    // A change of a present dataset leaves it to its source.
    let source = is_new.then(|| LoadSource {
        source: API.to_owned(),
        ..LoadSource::default()
    });
    // The dataset may be of a catalogue.
    let replaced = present
        .as_ref()
        .map(|entry| replaced_json(&live.store, entry))
        .transpose()?
        .flatten();
    let has_dumps = !dumps.is_empty();
    let has_metadata = metadata.is_some();
    // Edits are applied to what the source states.
    if let Some(present) = &mut present {
        present.dataset = source_description(&live.store, &id)?;
    }
    let before = present
        .as_ref()
        .map(|entry| description_json(&entry.dataset));
    let dataset = described(id.clone(), metadata, dumps, present.as_ref());
    let after = description_json(&dataset);
    let reader = live
        .parser
        .with_cancellation(control.cancellation())
        .contents();
    let incomplete = Incomplete::Rejected;
    let updater = live.updater(LoadOptions {
        reader,
        incomplete,
        source,
        ..LoadOptions::default()
    });
    let report = if is_new || has_dumps {
        let catalog = Catalog {
            folder: spool.path().to_owned(),
            datasets: vec![dataset],
            ..Catalog::default()
        };
        updater.all_or_nothing(std::slice::from_ref(&id), |updater| {
            updater.run(catalog, &[])
        })?
    } else {
        updater.all_or_nothing(std::slice::from_ref(&id), |updater| {
            updater.replace_description(&dataset)
        })?
    };
    drop(spool);
    let mut result = put_result(report, is_new)?;
    if has_metadata {
        let before = before.unwrap_or_default();
        let removed: Vec<&String> = before
            .keys()
            .filter(|key| !after.contains_key(*key))
            .collect();
        let keys = before
            .keys()
            .chain(after.keys().filter(|key| !before.contains_key(*key)));
        let changed: Vec<&String> = keys
            .filter(|key| before.get(*key) != after.get(*key))
            .collect();
        result["changed"] = json!(changed);
        if !removed.is_empty() {
            result["removedKeys"] = json!(removed);
        }
    }
    if let Some(edits) = live.store.dataset_edits(&id)? {
        result["edited"] = edits.edits.keys().collect();
    }
    add_tag(&mut result, &live.store, &id)?;
    if let Some(replaced) = replaced {
        result["replaced"] = replaced;
    }
    Ok(result)
}

/// Returns the title and the source of a dataset that is about to be replaced, if it came from elsewhere.
fn replaced_json(store: &Store, entry: &Entry) -> Result<Option<Value>, Failure> {
    let metadata = &entry.dataset.metadata;
    let origin = store.dataset_origin(&metadata.id)?;
    let source = origin
        .map(|origin| origin.source.source)
        .or_else(|| entry.origin.clone());
    let source = source.filter(|source| source != API);
    Ok(source.map(|source| json!({ "title": metadata.title(), "source": public_source(&source) })))
}

/// Returns an address, or the name of a file without its folders, which are no concern of clients.
fn public_source(source: &str) -> &str {
    if is_address(source) {
        source
    } else {
        source.rsplit(['/', '\\']).next().unwrap_or(source)
    }
}

/// Writes a backup. The progress counts files.
fn save(folder: &Path, live: &Live, control: &Control) -> Result<Value, Failure> {
    let settings = live.setting_files.read().map_err(Failure::Error)?;
    let report = backup(
        &live.store,
        folder,
        &settings,
        Some(DateTime::now()),
        &|done, total| control.report(done, total),
    )?;
    Ok(json!(report))
}

/// Publishes a snapshot. The progress counts files.
fn publish_snapshot(
    publication: &Publication,
    live: &Live,
    control: &Control,
) -> Result<Value, Failure> {
    let remote = RemoteSnapshots::open(&publication.location, &live.storage)?;
    let options = PublishOptions {
        now: Some(DateTime::now()),
        retention: publication.keep.map(|keep| Retention {
            keep,
            now: SystemTime::now(),
        }),
        key: publication
            .key
            .as_deref()
            .map(SigningKey::read)
            .transpose()?,
        force: publication.force,
    };
    let on_progress = |done, total| control.report(done, total);
    Ok(json!(publish(
        &live.store,
        &remote,
        &options,
        &on_progress
    )?))
}

/// Returns the entry of a dataset, or `None` if there is no such dataset.
fn entry(store: &Store, id: &DatasetId) -> Result<Option<Entry>, Failure> {
    match store.entry(id) {
        Ok(entry) => Ok(Some(entry)),
        Err(StoreError::NoDataset(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Combines an uploaded description and files with the present description.
fn described(
    id: DatasetId,
    metadata: Option<Dataset>,
    dumps: Vec<UploadedFile>,
    present: Option<&Entry>,
) -> Dataset {
    let has_metadata = metadata.is_some();
    let mut dataset = metadata
        .or_else(|| present.map(|entry| entry.dataset.clone()))
        .unwrap_or_else(|| Dataset::new(Metadata::new(id.clone())));
    dataset.set_id(id);
    if dumps.is_empty() {
        // The content is kept, and so is the list of its files, unless a new one is given.
        if let Some(entry) = present.filter(|_| dataset.distributions.is_empty()) {
            dataset
                .distributions
                .clone_from(&entry.dataset.distributions);
        }
        return dataset;
    }
    if !has_metadata {
        dataset
            .distributions
            .retain(|distribution| matches!(distribution.location, Location::Remote(_)));
    }
    for UploadedFile {
        name,
        path,
        media_type,
        address,
    } in dumps
    {
        let is_named = |distribution: &&mut Distribution| match &address {
            Some(address) => distribution.location.as_str() == address,
            None => file_name(distribution.location.as_str()) == name,
        };
        let place = dataset.distributions.iter_mut().find(is_named);
        match place {
            Some(distribution) => distribution.copy = Some(LocalCopy::File(path)),
            None => dataset.distributions.push(Distribution {
                media_type,
                copy: Some(LocalCopy::File(path)),
                ..Distribution::new(address.map_or(Location::File(name), Location::Remote))
            }),
        }
    }
    dataset
}

fn file_name(location: &str) -> &str {
    location.rsplit('/').next().unwrap_or(location)
}

fn put_result(report: UpdateReport, is_new: bool) -> Result<Value, Failure> {
    let Some(dataset) = report.load.datasets.into_iter().next() else {
        return Err(Failure::Error("the upload contains no dataset".to_owned()));
    };
    let problems = problems(&dataset);
    if dataset.outcome == DatasetOutcome::Kept {
        let reason = problems
            .first()
            .map_or("a file cannot be read", String::as_str);
        return Err(Failure::Error(format!("nothing was changed: {reason}")));
    }
    let outcome = dataset.outcome;
    Ok(json!({
        "dataset": dataset.id, "created": is_new, "outcome": outcome, "triples": dataset.triples,
        "skippedStatements": dataset.skipped, "problems": problems,
    }))
}

/// Returns the first problems with the files of a dataset.
fn problems(dataset: &DatasetReport) -> Vec<String> {
    let lines = dataset.files.iter().flat_map(|file| {
        file.problems
            .iter()
            .map(|problem| format!("{}: {problem}", file.file))
    });
    lines.take(MAX_PROBLEMS).collect()
}

/// Loads sources step by step. A cancellation keeps the steps that are done.
fn load(upload: &SourcesUpload, live: &Live, control: &Control) -> Result<Value, Failure> {
    let SourcesUpload {
        sources,
        id_prefix,
        spool,
        ..
    } = upload;
    let others = if upload.replace {
        OtherSources::Replaced
    } else {
        OtherSources::Kept
    };
    let parser = live.parser.with_cancellation(control.cancellation());
    let catalogs = Catalog::read_all_with(parser.catalogs().as_ref(), sources, id_prefix).map_err(
        |error| match spool {
            Some(spool) => Failure::Error(spool.without_path(&error.to_string())),
            None => error.into(),
        },
    )?;
    let total = catalogs.iter().map(|catalog| catalog.datasets.len()).sum();
    let mut whole = LoadReport::default();
    let incomplete_sources: Vec<usize> = (0..catalogs.len())
        .filter(|&number| catalogs[number].is_incomplete)
        .collect();
    for (number, mut catalog) in catalogs.into_iter().enumerate() {
        let incomplete = Incomplete::of_catalog(&catalog);
        let source = upload.load_source(number);
        let mut id_conflicts = live
            .store
            .assign_ids(&mut catalog.datasets, &source, others)?;
        if spool.is_some() {
            for other in id_conflicts
                .iter_mut()
                .filter_map(|conflict| conflict.other_source.as_mut())
            {
                *other = public_source(other).to_owned();
            }
        }
        let former: Vec<DatasetId> = id_conflicts
            .iter()
            .filter_map(|conflict| conflict.former_id.clone())
            .collect();
        let options = LoadOptions {
            reader: parser.contents(),
            incomplete,
            source: Some(source),
            ..LoadOptions::default()
        };
        let updater = live.updater(options);
        whole.merge(LoadReport {
            id_conflicts,
            ..LoadReport::of_catalog(catalog.problems, catalog.duplicates)
        });
        let mut datasets = catalog.datasets.into_iter().peekable();
        while datasets.peek().is_some() {
            control.check()?;
            control.report(whole.datasets.len(), total);
            let step: Vec<Dataset> = datasets.by_ref().take(STEP).collect();
            let ids: Vec<DatasetId> = step
                .iter()
                .map(|dataset| dataset.metadata.id.clone())
                .collect();
            let part = Catalog {
                folder: catalog.folder.clone(),
                datasets: step,
                ..Catalog::default()
            };
            let report = updater.all_or_nothing(&ids, |updater| updater.run(part, &[]))?;
            live.searcher.refresh()?;
            whole.datasets.extend(report.load.datasets);
        }
        live.updater(LoadOptions::default())
            .all_or_nothing(&former, |updater| updater.remove(&former))?;
    }
    control.report(total, total);
    whole.limit(MAX_LISTED);
    let mut result =
        serde_json::to_value(&whole).map_err(|error| Failure::Error(error.to_string()))?;
    result["incomplete_sources"] = json!(incomplete_sources);
    Ok(result)
}

fn remove(ids: &[DatasetId], live: &Live) -> Result<Value, Failure> {
    let present = live.store.ids()?;
    if let Some(missing) = ids.iter().find(|id| present.binary_search(id).is_err()) {
        return Err(Failure::Error(format!(
            "nothing was removed: there is no dataset {missing}"
        )));
    }
    live.updater(LoadOptions::default())
        .all_or_nothing(ids, |updater| updater.remove(ids))?;
    Ok(json!({ "removed": ids.len() }))
}

fn index(rebuild: bool, live: &Live, control: &Control) -> Result<Value, Failure> {
    if !rebuild {
        let indexed = live
            .updater(LoadOptions::default())
            .catch_up(&live.searcher)?;
        return Ok(json!({ "indexed": indexed }));
    }
    let options = IndexOptions {
        rebuild,
        now: Some(DateTime::now()),
        ..IndexOptions::default()
    };
    let show = |progress: lodeseek_engine::IndexProgress| {
        control.report(progress.datasets, progress.total)
    };
    let report = Indexer::new(&live.store, options).run(&show)?;
    Ok(json!({ "indexed": report.indexed, "removed": report.removed }))
}

/// Updates of derived data of the whole collection, which follow changes with a delay.
#[derive(Default)]
struct Upkeep {
    /// Time of the first change since the last update.
    changed: Option<Instant>,
    /// If true, there were changes since replaced content was deleted.
    has_replaced: bool,
}

impl Upkeep {
    fn note_change(&mut self) {
        self.changed.get_or_insert_with(Instant::now);
        self.has_replaced = true;
    }

    fn are_overdue(&self) -> bool {
        self.changed
            .is_some_and(|since| since.elapsed() >= MAX_DELAY)
    }

    fn run(&mut self, live: &Live) {
        // The next start updates all.
        if live.is_stopping() {
            return;
        }
        if self.changed.take().is_some()
            && let Err(error) = update_derived(live)
        {
            tracing::warn!(%error, "cannot update duplicates, vectors and statistics; the next change tries again");
        }
        // The jobs of other lanes replace content, too.
        if self.has_replaced {
            match live.clear_replaced() {
                Ok(is_cleared) => self.has_replaced = !is_cleared,
                Err(error) => {
                    self.has_replaced = false;
                    tracing::warn!(%error, "cannot delete replaced content; the next change tries again");
                }
            }
        }
    }
}

fn update_derived(live: &Live) -> Result<(), EngineError> {
    let _change = live.lock_changes();
    live.updater(LoadOptions::default()).find_duplicates()?;
    live.update_vectors_and_statistics()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_contain_no_paths_of_the_home() {
        let home = Path::new("/srv/lodeseek");
        let Outcome::Failed(error) = failed("/srv/lodeseek/works/works.jsonl: damaged", home)
        else {
            panic!("it failed");
        };
        assert_eq!(error, "works/works.jsonl: damaged");
        for text in [
            "/srv/lodeseek/uploads/1/a.nt: No space left on device (os error 28)",
            "store: IO error: No space left on device: While appending to file: /srv/lodeseek/store/000012.sst",
            "/srv/lodeseek/index: Disk quota exceeded (os error 122)",
        ] {
            assert!(matches!(failed(text, home), Outcome::DiskFull), "{text}");
        }
    }
}
