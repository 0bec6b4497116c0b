//! Schedules that operators have set in a browser: `home/harvest/NAME/schedule.json`.
//!
//! They belong to the home, as the state of its harvests does: they survive a restart, and a backup contains them. Those of the
//! configuration are in its file.

use crate::control::ChangeError;
use crate::harvest_records::read_harvest_file;
use crate::jobs::now;
use lodeseek_harvest::HarvestRequest;
use lodeseek_store::{StoreError, write_checked};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Name of the file in the folder of a harvest.
const FILE: &str = "schedule.json";

/// A requested change of a schedule.
pub struct ScheduleChange {
    /// Sources and options.
    pub request: HarvestRequest,
    /// Time between two harvests; `None` removes the schedule.
    pub every: Option<Duration>,
}

/// Report of a change of a schedule.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Scheduled {
    /// Time between two harvests in seconds; `None` if there is no schedule any more.
    pub interval_seconds: Option<u64>,
}

/// A schedule of the home.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StoredSchedule {
    /// Time from the end of a harvest to the beginning of the next one, in seconds.
    pub every: u64,
    /// Time at which it was set, in seconds since 1970.
    pub set: u64,
    /// Sources and options. Private networks are not stored: the configuration allows them at the time of a harvest.
    pub request: HarvestRequest,
}

impl StoredSchedule {
    /// Returns the name of its harvest.
    #[must_use]
    pub fn name(&self) -> String {
        self.request.name_of(&self.request.sources)
    }

    /// Returns true if it harvests a source.
    #[must_use]
    pub fn has_source(&self, source: &str) -> bool {
        self.request.sources.iter().any(|own| own == source)
    }
}

/// Returns the schedules of a home, by their names.
#[must_use]
pub fn stored_schedules(home: &Path) -> Vec<StoredSchedule> {
    let mut schedules = Vec::new();
    let entries = fs::read_dir(home.join("harvest")).into_iter().flatten();
    for entry in entries.flatten() {
        schedules.extend(read_harvest_file::<StoredSchedule>(
            &entry.path().join(FILE),
        ));
    }
    schedules.sort_by_key(StoredSchedule::name);
    schedules
}

/// Sets or removes the schedule of the sources of a request. Each source has one schedule: one that was set with other options is
/// removed.
pub(crate) fn change_schedule(
    change: &ScheduleChange,
    home: &Path,
) -> Result<Scheduled, ChangeError> {
    let request = &change.request;
    for schedule in stored_schedules(home) {
        if request
            .sources
            .iter()
            .any(|source| schedule.has_source(source))
        {
            remove_file(&schedule_path(home, &schedule.name()))?;
        }
    }
    let interval_seconds = change.every.map(|every| every.as_secs());
    if let Some(every) = interval_seconds {
        let schedule = StoredSchedule {
            every,
            set: now(),
            request: HarvestRequest {
                private_networks: Vec::new(),
                ..request.clone()
            },
        };
        let path = schedule_path(home, &schedule.name());
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|cause| io_error(folder, cause))?;
        }
        let text = serde_json::to_vec(&schedule)
            .map_err(|error| ChangeError::Failed(error.to_string()))?;
        write_checked(&path, &text)?;
    }
    Ok(Scheduled { interval_seconds })
}

fn schedule_path(home: &Path, name: &str) -> PathBuf {
    home.join("harvest").join(name).join(FILE)
}

fn remove_file(path: &Path) -> Result<(), StoreError> {
    match fs::remove_file(path) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(io_error(path, cause)),
        _ => Ok(()),
    }
}

fn io_error(path: &Path, cause: io::Error) -> StoreError {
    StoreError::Io {
        path: path.to_owned(),
        cause,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(source: &str, download: bool, every: Option<u64>) -> ScheduleChange {
        ScheduleChange {
            request: HarvestRequest {
                sources: vec![source.to_owned()],
                download,
                private_networks: vec!["10.0.0.0/8".parse().expect("a network")],
                ..HarvestRequest::default()
            },
            every: every.map(Duration::from_secs),
        }
    }

    #[test]
    fn a_schedule_is_set_replaced_and_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path();
        let (trees, soils) = ("https://e.org/trees.ttl", "https://e.org/soils.ttl");
        assert!(stored_schedules(home).is_empty());
        for (source, every) in [(trees, 3600), (soils, 60), (trees, 86_400)] {
            let scheduled = change_schedule(&change(source, true, Some(every)), home);
            let scheduled = scheduled.expect("stored");
            assert_eq!(scheduled.interval_seconds, Some(every));
        }
        let stored = stored_schedules(home);
        let mut intervals: Vec<(&str, u64)> = stored
            .iter()
            .map(|schedule| (schedule.request.sources[0].as_str(), schedule.every))
            .collect();
        intervals.sort_unstable();
        assert_eq!(intervals, [(soils, 60), (trees, 86_400)]);
        assert!(stored.iter().all(|schedule| schedule.request.download
            && schedule.request.private_networks.is_empty()
            && schedule.set > 1_700_000_000));
        // The same source in a harvest of another name.
        let named = ScheduleChange {
            request: HarvestRequest {
                name: Some("both".to_owned()),
                sources: vec![trees.to_owned(), "https://e.org/moths.ttl".to_owned()],
                ..HarvestRequest::default()
            },
            every: Some(Duration::from_secs(7)),
        };
        change_schedule(&named, home).expect("stored");
        let stored = stored_schedules(home);
        let trees_schedules: Vec<u64> = stored
            .iter()
            .filter(|schedule| schedule.has_source(trees))
            .map(|schedule| schedule.every)
            .collect();
        assert_eq!((stored.len(), trees_schedules), (2, vec![7]));
        change_schedule(&change(trees, false, None), home).expect("removed");
        change_schedule(&change(trees, false, None), home).expect("nothing to remove");
        let stored = stored_schedules(home);
        assert!(stored.len() == 1 && stored[0].has_source(soils));
        fs::write(schedule_path(home, &stored[0].name()), "damaged").expect("written");
        assert!(stored_schedules(home).is_empty());
    }
}
