//! Executor of changes: the same for a collection that is served and for a home that this process opens.
//!
//! Each change is all or nothing: it is visible after the commit of the index, and a failure restores the store. A load or a
//! harvest consists of several such steps.

use crate::change::{Change, DatasetUpload, Publication};
use crate::collection::{Collection, Step};
use crate::control::{ChangeError, Control};
use crate::downloads::download_files;
use crate::edits::{check_conditions, edit_dataset};
use crate::harvests::harvest_groups;
use crate::load::load_sources;
use crate::preconditions::Preconditions;
use crate::put::put_dataset;
use crate::report::{ChangeReport, Indexed, Removed};
use crate::stored_schedules::change_schedule;
use crate::works::{add_uploaded_works, remove_works_by_id};
use lodeseek_catalog::DatasetId;
use lodeseek_engine::{BackupReport, IndexOptions, Indexer, backup, similar_ids};
use lodeseek_snapshot::{
    PublishOptions, PublishReport, RemoteSnapshots, Retention, SigningKey, publish,
};
use lodeseek_store::LoadOptions;
use oxsdatatypes::DateTime;
use std::path::Path;
use std::time::SystemTime;

/// Maximum number of datasets, of files, and of problems in the result of a load or a harvest, and of datasets of an ended job.
pub(crate) const MAX_LIST_ENTRIES: usize = 1000;

/// Makes a change of a collection.
///
/// # Errors
/// [`ChangeError`] if the change is not made. Steps of a load or a harvest that were made before are kept.
pub fn make_change(
    change: Change,
    collection: Collection<'_>,
    control: &Control,
) -> Result<ChangeReport, ChangeError> {
    control.check()?;
    let made = dispatch(change, collection, control);
    // A cancellation ends the processes that parse files, and so lets the current step fail.
    made.map_err(|error| control.check().err().unwrap_or(error))
}

fn dispatch(
    change: Change,
    collection: Collection<'_>,
    control: &Control,
) -> Result<ChangeReport, ChangeError> {
    Ok(match change {
        Change::Harvest(request) => {
            ChangeReport::Harvest(harvest_groups(&request, collection, control)?)
        }
        Change::Schedule(change) => {
            ChangeReport::Schedule(change_schedule(&change, collection.home())?)
        }
        Change::Put(upload) => {
            let upload = with_downloads(*upload, control)?;
            control.check()?;
            ChangeReport::Dataset(put_dataset(upload, collection, control)?)
        }
        Change::Load(request) => {
            ChangeReport::Load(Box::new(load_sources(&request, collection, control)?))
        }
        Change::Works(works) => ChangeReport::Works(add_uploaded_works(works, collection)?),
        Change::Edit(change) => ChangeReport::Dataset(edit_dataset(&change, collection)?),
        Change::Remove(ids) => {
            ChangeReport::Remove(remove_datasets(ids, &Preconditions::default(), collection)?)
        }
        Change::RemoveIf(id, conditions) => {
            ChangeReport::Remove(remove_datasets(vec![id], &conditions, collection)?)
        }
        Change::RemoveWorks(ids) => ChangeReport::Remove(remove_works_by_id(&ids, collection)?),
        Change::Index { rebuild } => {
            ChangeReport::Index(index_datasets(rebuild, collection, control)?)
        }
        Change::Backup(folder) => ChangeReport::Backup(write_backup(&folder, collection, control)?),
        Change::Publish(publication) => {
            ChangeReport::Publish(publish_snapshot(&publication, collection, control)?)
        }
    })
}

/// Downloads the files of an upload that are named by their addresses, beside other changes.
fn with_downloads(
    mut upload: DatasetUpload,
    control: &Control,
) -> Result<DatasetUpload, ChangeError> {
    if upload.addresses.is_empty() {
        return Ok(upload);
    }
    let files = download_files(&upload.addresses, &upload.networks, &upload.spool, control)?;
    upload.dumps.extend(files);
    Ok(upload)
}

/// Removes datasets, all or none, if each meets the conditions.
fn remove_datasets(
    ids: Vec<DatasetId>,
    conditions: &Preconditions,
    collection: Collection<'_>,
) -> Result<Removed, ChangeError> {
    let open = collection.open()?;
    for id in &ids {
        check_conditions(open.store(), id, conditions)?;
    }
    let present = open.store().ids()?;
    if let Some(missing) = ids.iter().find(|id| present.binary_search(id).is_err()) {
        return Err(ChangeError::Failed(format!(
            "nothing was removed: there is no dataset {missing}; {}",
            advise_ids(missing.as_str(), &present)
        )));
    }
    let removed = ids.len();
    open.change_datasets(Step::Remove(ids), LoadOptions::default())?;
    Ok(Removed { removed })
}

/// Returns advice for an id without a dataset: the most similar ids.
#[must_use]
pub fn advise_ids(id: &str, present: &[DatasetId]) -> String {
    let similar = similar_ids(id, present);
    let similar: Vec<String> = similar.iter().map(|id| format!("`{id}`")).collect();
    if similar.is_empty() {
        return "`lodeseek list` lists all ids".to_owned();
    }
    format!("did you mean {}?", similar.join(" or "))
}

/// Writes a backup. The progress counts files.
fn write_backup(
    folder: &Path,
    collection: Collection<'_>,
    control: &Control,
) -> Result<BackupReport, ChangeError> {
    let settings = collection
        .setting_files()
        .read()
        .map_err(ChangeError::Failed)?;
    let open = collection.open_to_read()?;
    let now = Some(DateTime::now());
    Ok(backup(
        open.store(),
        folder,
        &settings,
        now,
        &|done, total| control.report(done, total),
    )?)
}

/// Publishes a snapshot. The progress counts files.
fn publish_snapshot(
    publication: &Publication,
    collection: Collection<'_>,
    control: &Control,
) -> Result<PublishReport, ChangeError> {
    let key = publication.key.as_deref().map(SigningKey::read);
    let options = PublishOptions {
        now: Some(DateTime::now()),
        retention: publication.keep.map(|keep| Retention {
            keep,
            now: SystemTime::now(),
        }),
        key: key.transpose()?,
        force: publication.force,
    };
    let open = collection.open_to_read()?;
    let remote = RemoteSnapshots::open(&publication.location, collection.storage())?;
    Ok(publish(open.store(), &remote, &options, &|done, total| {
        control.report(done, total);
    })?)
}

/// Indexes the datasets whose entries are missing or outdated, or all.
fn index_datasets(
    rebuild: bool,
    collection: Collection<'_>,
    control: &Control,
) -> Result<Indexed, ChangeError> {
    let open = collection.open()?;
    if let Collection::Served(live) = collection
        && !rebuild
    {
        let updater = live.updater(LoadOptions::default());
        let indexed = updater.catch_up(&live.searcher)?;
        open.refresh()?;
        return Ok(Indexed {
            indexed,
            removed: None,
        });
    }
    let options = IndexOptions {
        rebuild,
        now: Some(DateTime::now()),
        ..IndexOptions::default()
    };
    let report = Indexer::new(open.store(), options)
        .run(&|progress| control.report(progress.datasets, progress.total))?;
    open.refresh()?;
    Ok(Indexed {
        indexed: report.indexed,
        removed: Some(report.removed),
    })
}
