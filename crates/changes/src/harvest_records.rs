//! Records of the last harvests with their options: `home/harvest/NAME/request.json`.
//!
//! An operator repeats a harvest as it was made the last time. The state of a harvest has the datasets and files of its sources, but no
//! options; without a record, a repeated harvest would, for example, download no files.

use crate::jobs::now;
use lodeseek_harvest::HarvestRequest;
use lodeseek_store::{read_checked, write_checked};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;

/// Name of the file in the folder of a harvest.
const FILE: &str = "request.json";

/// The last harvest of some sources.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HarvestRecord {
    /// Time of its end, in seconds since 1970.
    pub time: u64,
    /// Its sources and options. Private networks are not recorded: the configuration allows them, not an earlier request.
    pub request: HarvestRequest,
}

impl HarvestRecord {
    /// Writes the record of a harvest that has ended. A failure is logged only, because the datasets are stored.
    pub(crate) fn write(home: &Path, name: &str, request: HarvestRequest) {
        let record = Self {
            time: now(),
            request: HarvestRequest {
                private_networks: Vec::new(),
                ..request
            },
        };
        let path = home.join("harvest").join(name).join(FILE);
        let written = match serde_json::to_vec(&record) {
            Ok(text) => write_checked(&path, &text).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        if let Err(error) = written {
            tracing::warn!(error, "the options of the harvest {name} are not recorded");
        }
    }

    /// Returns the record of the last harvest of this name.
    pub(crate) fn read(home: &Path, name: &str) -> Option<Self> {
        read_harvest_file(&home.join("harvest").join(name).join(FILE))
    }
}

/// Reads a file with the options of a harvest. Returns `None` if it is missing, or cannot be read, which is logged.
pub(crate) fn read_harvest_file<T: DeserializeOwned>(path: &Path) -> Option<T> {
    let text = match read_checked(path) {
        Ok(text) => text?,
        Err(error) => {
            tracing::warn!(%error, "the options of a harvest cannot be read");
            return None;
        }
    };
    match serde_json::from_slice(&text) {
        Ok(read) => Some(read),
        Err(error) => {
            tracing::warn!(%error, "{}: the options of a harvest cannot be read", path.display());
            None
        }
    }
}

/// Returns the records of the harvests of a home, the latest first. Harvests of earlier versions have none.
#[must_use]
pub fn harvest_records(home: &Path) -> Vec<HarvestRecord> {
    let mut records = Vec::new();
    let entries = fs::read_dir(home.join("harvest")).into_iter().flatten();
    for folder in entries.flatten().map(|entry| entry.path()) {
        if folder.is_dir() {
            records.extend(read_harvest_file::<HarvestRecord>(&folder.join(FILE)));
        }
    }
    records.sort_by_key(|record| std::cmp::Reverse(record.time));
    records
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_options_of_the_last_harvest_are_kept() {
        let home = tempfile::tempdir().expect("a folder");
        assert!(harvest_records(home.path()).is_empty());
        fs::create_dir_all(home.path().join("harvest/e.org")).expect("made");
        let request = HarvestRequest {
            sources: vec!["https://e.org/catalog.ttl".to_owned()],
            download: true,
            private_networks: vec!["10.0.0.0/8".parse().expect("a network")],
            ..HarvestRequest::default()
        };
        HarvestRecord::write(home.path(), "e.org", request.clone());
        let records = harvest_records(home.path());
        assert_eq!(records.len(), 1);
        assert!(records[0].time > 1_700_000_000 && records[0].request.download);
        assert_eq!(records[0].request.sources, request.sources);
        assert!(records[0].request.private_networks.is_empty());
        fs::write(home.path().join("harvest/e.org").join(FILE), "damaged").expect("written");
        assert!(harvest_records(home.path()).is_empty());
    }
}
