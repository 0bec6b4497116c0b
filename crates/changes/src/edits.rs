//! Edits of descriptions: corrections, kept apart from the source.

use crate::collection::{Collection, Step};
use crate::control::ChangeError;
use crate::preconditions::{DatasetState, Preconditions};
use lodeseek_catalog::{Dataset, DatasetId, Edit, Edits, Patch};
use lodeseek_store::{DatasetEdits, LoadOptions, Store, StoreError};
use oxsdatatypes::DateTime;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Name of the action that adds edits.
pub(crate) const EDIT: &str = "edit";

/// A requested change of the edits of a description.
pub struct DatasetEdit {
    /// The dataset.
    pub id: DatasetId,
    /// Change of its edits.
    pub action: EditAction,
    /// Conditions under which it is made.
    pub conditions: Preconditions,
    /// Name of the token.
    pub by: String,
}

/// Change of the edits of a description.
pub enum EditAction {
    /// Adds the changes of a patch.
    Patch(Patch),
    /// Removes the edits of these keys; all without keys.
    Reset(Vec<String>),
}

impl DatasetEdit {
    /// Returns the name of the action.
    pub(crate) fn action_name(&self) -> &'static str {
        match self.action {
            EditAction::Patch(_) => EDIT,
            EditAction::Reset(_) => "reset",
        }
    }

    /// Returns the keys that the change names.
    pub(crate) fn fields(&self) -> Vec<String> {
        match &self.action {
            EditAction::Patch(patch) => patch.keys().map(str::to_owned).collect(),
            EditAction::Reset(keys) if keys.is_empty() => vec!["*".to_owned()],
            EditAction::Reset(keys) => keys.clone(),
        }
    }
}

/// Returns the edits of a dataset and the description of its source.
///
/// # Errors
/// If there is no such dataset, or the store cannot be read.
pub fn present_edits(store: &Store, id: &DatasetId) -> Result<DatasetEdits, StoreError> {
    match store.dataset_edits(id)? {
        Some(edits) => Ok(edits),
        None => Ok(DatasetEdits {
            edits: Edits::default(),
            source: store.entry(id)?.dataset,
        }),
    }
}

/// Returns the description of a dataset as its source states it.
pub(crate) fn source_description(store: &Store, id: &DatasetId) -> Result<Dataset, StoreError> {
    present_edits(store, id).map(|edits| edits.source)
}

/// Changes the edits of a description.
pub(crate) fn edit_dataset(
    edit: &DatasetEdit,
    collection: Collection<'_>,
) -> Result<Value, ChangeError> {
    let DatasetEdit { id, action, by, .. } = edit;
    let open = collection.open()?;
    check_conditions(open.store(), id, &edit.conditions)?;
    let DatasetEdits { mut edits, source } = present_edits(open.store(), id)?;
    let before = edits.clone();
    match action {
        EditAction::Patch(patch) => {
            edits.apply_patch(patch, &source, by, &DateTime::now().to_string());
        }
        EditAction::Reset(keys) if keys.is_empty() => edits = Edits::default(),
        EditAction::Reset(keys) => {
            for key in keys {
                edits.remove(key);
            }
        }
    }
    let edited: Vec<String> = edits.keys().map(str::to_owned).collect();
    let keys: BTreeSet<&str> = before.keys().chain(edits.keys()).collect();
    let changed: Vec<&str> = keys
        .into_iter()
        .filter(|key| before.get(key).map(Edit::value) != edits.get(key).map(Edit::value))
        .collect();
    let corrected: Vec<&str> = match action {
        EditAction::Patch(_) => changed
            .iter()
            .copied()
            .filter(|key| before.get(key).is_some())
            .collect(),
        EditAction::Reset(_) => Vec::new(),
    };
    let (changed, corrected) = (json!(changed), json!(corrected));
    let step = Step::Edit(id.clone(), edits);
    let report = open.change_datasets(step, LoadOptions::default())?;
    let outcome = report.datasets.first().map(|dataset| dataset.outcome);
    let mut result = json!({
        "dataset": id, "outcome": outcome, "changed": changed, "corrected": corrected, "edited": edited,
    });
    add_tag(&mut result, open.store(), id)?;
    Ok(result)
}

/// Checks conditions when a job begins.
pub(crate) fn check_conditions(
    store: &Store,
    id: &DatasetId,
    conditions: &Preconditions,
) -> Result<(), ChangeError> {
    if conditions.is_empty() {
        return Ok(());
    }
    let state = DatasetState::read(store, id)?;
    conditions
        .check(id, state.as_ref())
        .map_err(ChangeError::ConditionFailed)
}

/// Adds the entity tag of a dataset to the result of its change.
pub(crate) fn add_tag(
    result: &mut Value,
    store: &Store,
    id: &DatasetId,
) -> Result<(), ChangeError> {
    if let Some(state) = DatasetState::read(store, id)? {
        result["etag"] = json!(state.tag);
    }
    Ok(())
}
