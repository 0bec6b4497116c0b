//! The latest changes of all datasets in their order, which the event stream and OAI-PMH publish.

use crate::AppState;
use crate::cache::GenerationCache;
use crate::error::ApiError;
use lodeseek_catalog::{DatasetId, Moment};
use lodeseek_store::ChangeKind;
use std::sync::Arc;

/// Time of a change that nobody recorded: both formats require a time.
const UNKNOWN_TIME: &str = "1970-01-01T00:00:00Z";

/// Latest change of a dataset.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Change {
    /// Place in the order of all changes, from 1.
    pub(super) place: u64,
    /// Number of the change, which is its place. 0: the dataset was loaded by an earlier build, and precedes the numbered changes.
    pub(super) number: u64,
    pub(super) id: DatasetId,
    pub(super) kind: ChangeKind,
    /// Time in UTC, in seconds: `2026-01-31T12:00:00Z`.
    pub(super) time: String,
}

/// The latest changes of all datasets.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// By place, then by id.
    pub(super) all: Vec<Change>,
}

/// Cache of the changes. Its generation changes with the catalogue.
pub(crate) type CachedChanges = GenerationCache<u64, Changes>;

impl Changes {
    /// Returns the current changes. Clients request page after page, so they are cached.
    pub(super) fn current(state: &AppState) -> Result<Arc<Self>, ApiError> {
        let generation = state.store.catalog_generation();
        state
            .portal
            .changes
            .get_or_compute(generation, || Self::read(state))
    }

    fn read(state: &AppState) -> Result<Self, ApiError> {
        // Datasets that are removed in between have a change, and those that are added get one in the next generation.
        let ids = state.store.ids()?;
        let (mut recorded, records) = (state.store.latest_changes()?, state.store.records()?);
        let mut all = Vec::new();
        let mut unnumbered = 0;
        for id in ids {
            let change = if let Some(change) = recorded.remove(&id) {
                Change {
                    place: change.number,
                    number: change.number,
                    kind: change.kind,
                    time: in_seconds(&change.time),
                    id,
                }
            } else {
                unnumbered += 1;
                let time = records.get(&id).map(String::as_str);
                Change {
                    place: unnumbered,
                    number: 0,
                    kind: ChangeKind::Create,
                    time: in_seconds(time.unwrap_or_default()),
                    id,
                }
            };
            all.push(change);
        }
        for (id, change) in recorded {
            if change.kind == ChangeKind::Delete {
                all.push(Change {
                    place: change.number,
                    number: change.number,
                    kind: change.kind,
                    time: in_seconds(&change.time),
                    id,
                });
            }
        }
        all.sort_by(|a, b| (a.place, &a.id).cmp(&(b.place, &b.id)));
        Ok(Self { all })
    }
}

/// Returns a time in UTC, in seconds.
pub(super) fn in_seconds(time: &str) -> String {
    match Moment::parse(time) {
        Some(moment) => format!("{}Z", moment.second()),
        None => UNKNOWN_TIME.to_owned(),
    }
}
