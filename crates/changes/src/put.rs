//! Addition and replacement of one dataset.

use crate::change::DatasetUpload;
use crate::collection::{Collection, Step};
use crate::control::{ChangeError, Control};
use crate::edits::{add_tag, check_conditions, source_description};
use crate::uploads::UploadedFile;
use lodeseek_catalog::{
    Catalog, Dataset, DatasetId, Distribution, LocalCopy, Location, Metadata, description_json,
};
use lodeseek_harvest::is_address;
use lodeseek_store::{
    DatasetOutcome, DatasetReport, Entry, Incomplete, LoadOptions, LoadReport, LoadSource, Store,
    StoreError,
};
use serde_json::{Map, Value, json};

/// Origin of datasets that were uploaded one by one.
const API: &str = "upload";
/// Maximum number of problems in the result of an upload.
const MAX_PROBLEMS: usize = 20;

/// Adds or replaces a dataset.
pub(crate) fn put_dataset(
    upload: DatasetUpload,
    collection: Collection<'_>,
    control: &Control,
) -> Result<Value, ChangeError> {
    let DatasetUpload {
        id,
        metadata,
        dumps,
        conditions,
        spool,
        ..
    } = upload;
    let open = collection.open()?;
    let store = open.store();
    check_conditions(store, &id, &conditions)?;
    let mut present = find_entry(store, &id)?;
    let is_new = present.is_none();
    let (has_dumps, has_metadata) = (!dumps.is_empty(), metadata.is_some());
    // The dataset may be of a catalogue.
    let replaced = match &present {
        Some(entry) => replaced_json(store, entry)?,
        None => None,
    };
    // Edits are applied to what the source states.
    if let Some(present) = &mut present {
        present.dataset = source_description(store, &id)?;
    }
    let before = match &present {
        Some(entry) => description_json(&entry.dataset),
        None => Map::new(),
    };
    let dataset = combine_with_present(id.clone(), metadata, dumps, present.as_ref());
    let after = description_json(&dataset);
    let parser = collection
        .parser()
        .with_cancellation(control.cancellation());
    // A change of a present dataset leaves it to its source.
    let source = is_new.then(|| LoadSource {
        source: API.to_owned(),
        ..LoadSource::default()
    });
    let options = LoadOptions {
        reader: parser.contents(),
        incomplete: Incomplete::Rejected,
        source,
        ..LoadOptions::default()
    };
    let step = if is_new || has_dumps {
        Step::Store(Box::new(Catalog {
            folder: spool.path().to_owned(),
            datasets: vec![dataset],
            ..Catalog::default()
        }))
    } else {
        Step::Describe(Box::new(dataset))
    };
    let report = open.change_datasets(step, options)?;
    drop(spool);
    let mut result = put_result(report, is_new)?;
    if has_metadata {
        add_changed_keys(&mut result, &before, &after);
    }
    if let Some(edits) = store.dataset_edits(&id)? {
        result["edited"] = edits.edits.keys().collect();
    }
    add_tag(&mut result, store, &id)?;
    if let Some(replaced) = replaced {
        result["replaced"] = replaced;
    }
    Ok(result)
}

/// Adds the keys of the description whose values changed, and those that were removed.
fn add_changed_keys(result: &mut Value, before: &Map<String, Value>, after: &Map<String, Value>) {
    let (mut changed, mut removed) = (Vec::new(), Vec::new());
    for (key, value) in before {
        if after.get(key) != Some(value) {
            changed.push(key);
        }
        if !after.contains_key(key) {
            removed.push(key);
        }
    }
    changed.extend(after.keys().filter(|key| !before.contains_key(*key)));
    result["changed"] = json!(changed);
    if !removed.is_empty() {
        result["removedKeys"] = json!(removed);
    }
}

/// Returns the title and the source of a dataset that is about to be replaced, if it came from elsewhere.
fn replaced_json(store: &Store, entry: &Entry) -> Result<Option<Value>, ChangeError> {
    let metadata = &entry.dataset.metadata;
    let origin = store.dataset_origin(&metadata.id)?;
    let source = origin
        .map(|origin| origin.source.source)
        .or_else(|| entry.origin.clone());
    let source = source.filter(|source| source != API);
    Ok(source.map(|source| json!({ "title": metadata.title(), "source": public_source(&source) })))
}

/// Returns an address, or the name of a file without its folders, which are no concern of clients.
pub(crate) fn public_source(source: &str) -> &str {
    if is_address(source) {
        source
    } else {
        source.rsplit(['/', '\\']).next().unwrap_or(source)
    }
}

/// Returns the entry of a dataset, or `None` if there is no such dataset.
fn find_entry(store: &Store, id: &DatasetId) -> Result<Option<Entry>, ChangeError> {
    match store.entry(id) {
        Ok(entry) => Ok(Some(entry)),
        Err(StoreError::NoDataset(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Combines an uploaded description and files with the present description.
fn combine_with_present(
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
    // Without a new description, the files replace the former ones, but not those at addresses.
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
        let place = dataset
            .distributions
            .iter_mut()
            .find(|distribution| match &address {
                Some(address) => distribution.location.as_str() == address,
                None => file_name(distribution.location.as_str()) == name,
            });
        match place {
            Some(distribution) => distribution.copy = Some(LocalCopy::File(path)),
            None => {
                let location = match address {
                    Some(address) => Location::Remote(address),
                    None => Location::File(name),
                };
                dataset.distributions.push(Distribution {
                    media_type,
                    copy: Some(LocalCopy::File(path)),
                    ..Distribution::new(location)
                });
            }
        }
    }
    dataset
}

fn file_name(location: &str) -> &str {
    location.rsplit('/').next().unwrap_or(location)
}

fn put_result(report: LoadReport, is_new: bool) -> Result<Value, ChangeError> {
    let Some(dataset) = report.datasets.into_iter().next() else {
        return Err(ChangeError::Failed(
            "the upload contains no dataset".to_owned(),
        ));
    };
    let problems = first_problems(&dataset);
    if dataset.outcome == DatasetOutcome::Kept {
        let reason = match problems.first() {
            Some(problem) => problem.as_str(),
            None => "a file cannot be read",
        };
        return Err(ChangeError::Failed(format!(
            "nothing was changed: {reason}"
        )));
    }
    let outcome = dataset.outcome;
    Ok(json!({
        "dataset": dataset.id, "created": is_new, "outcome": outcome, "triples": dataset.triples,
        "skippedStatements": dataset.skipped, "problems": problems,
    }))
}

/// Returns the first problems with the files of a dataset.
fn first_problems(dataset: &DatasetReport) -> Vec<String> {
    let lines = dataset.files.iter().flat_map(|file| {
        file.problems
            .iter()
            .map(|problem| format!("{}: {problem}", file.file))
    });
    lines.take(MAX_PROBLEMS).collect()
}
