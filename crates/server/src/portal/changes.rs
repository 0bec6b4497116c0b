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
    /// Number of the change in the order of all changes. 0: the dataset was loaded without a time.
    pub(super) number: u64,
    pub(super) id: DatasetId,
    pub(super) kind: ChangeKind,
    /// Time in UTC, in seconds: `2026-01-31T12:00:00Z`.
    pub(super) time: String,
}

/// The latest changes of all datasets.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// By number, then by id.
    pub(super) all: Vec<Change>,
}

/// Cache of the changes. Its generation changes with the catalogue.
pub(crate) type CachedChanges = GenerationCache<u64, Changes>;

impl Changes {
    /// Returns the current changes. Clients request page after page, so they are cached.
    pub(super) fn current(state: &AppState) -> Result<Arc<Self>, ApiError> {
        let compute = || {
            let mut recorded = state.store.latest_changes()?;
            let mut all = Vec::new();
            for id in state.store.ids()? {
                if let Some(change) = recorded.remove(&id) {
                    all.push(Change {
                        number: change.number,
                        kind: change.kind,
                        time: in_seconds(&change.time),
                        id,
                    });
                } else {
                    let time = state.store.record_time(&id)?;
                    all.push(Change {
                        number: 0,
                        kind: ChangeKind::Create,
                        time: in_seconds(time.as_deref().unwrap_or_default()),
                        id,
                    });
                }
            }
            for (id, change) in recorded {
                all.push(Change {
                    number: change.number,
                    kind: ChangeKind::Delete,
                    time: in_seconds(&change.time),
                    id,
                });
            }
            all.sort_by(|a, b| (a.number, &a.id).cmp(&(b.number, &b.id)));
            Ok(Self { all })
        };
        state
            .portal
            .changes
            .get_or_compute(state.store.catalog_generation(), compute)
    }
}

fn in_seconds(time: &str) -> String {
    match Moment::parse(time) {
        Some(moment) => format!("{}Z", moment.second()),
        None => UNKNOWN_TIME.to_owned(),
    }
}
