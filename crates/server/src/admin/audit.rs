//! Audit log of the administration: `home/audit.jsonl`, one JSON object for each change, in the order of their ends.

use serde::Serialize;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::PoisonError;

/// Name of the file in the home.
const FILE: &str = "audit.jsonl";
/// Maximum number of bytes read from the end of the file for a list of the last entries.
const MAX_READ: u64 = 1 << 20;

/// A change that was made, failed, or was cancelled.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct AuditEntry<'e> {
    /// Time of the end, in seconds since 1970.
    pub(crate) time: u64,
    pub(crate) job: u64,
    /// Name of the token, or `local`.
    pub(crate) by: &'e str,
    pub(crate) action: &'static str,
    pub(crate) datasets: &'e [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub(crate) works: &'e [String],
    pub(crate) outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) detail: Option<&'e str>,
}

/// The audit log of a home.
#[derive(Debug)]
pub(crate) struct AuditLog {
    path: PathBuf,
    writing: Mutex<()>,
}

impl AuditLog {
    pub(crate) fn new(home: &Path) -> Self {
        Self { path: home.join(FILE), writing: Mutex::default() }
    }

    /// Appends an entry and waits until it is on the disk.
    pub(crate) fn append(&self, entry: &AuditEntry<'_>) -> io::Result<()> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut line = serde_json::to_vec(entry)?;
        line.push(b'\n');
        let mut options = File::options();
        options.append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&self.path)?;
        file.write_all(&line)?;
        file.sync_data()
    }

    /// Returns the last entries as JSON lines, the oldest first.
    pub(crate) fn last(&self, most: usize) -> io::Result<String> {
        let mut file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(String::new()),
            Err(error) => return Err(error),
        };
        let start = file.metadata()?.len().saturating_sub(MAX_READ);
        file.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let text = String::from_utf8_lossy(&bytes);
        let mut lines: Vec<&str> = text.lines().collect();
        if start > 0 && !lines.is_empty() {
            lines.remove(0); // the end of an entry
        }
        let first = lines.len().saturating_sub(most);
        Ok(lines[first..].iter().map(|line| format!("{line}\n")).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_appended() {
        let home = tempfile::tempdir().expect("a folder");
        let log = AuditLog::new(home.path());
        assert_eq!(log.last(5).expect("read"), "");
        for job in 1..=7 {
            let datasets = [format!("d{job}")];
            let entry = AuditEntry {
                time: job,
                job,
                by: "ci",
                action: "put",
                datasets: &datasets,
                works: &[],
                outcome: "done",
                detail: None,
            };
            log.append(&entry).expect("written");
        }
        let last = log.last(2).expect("read");
        let lines: Vec<serde_json::Value> =
            last.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        assert_eq!((lines.len(), &lines[0]["job"], &lines[1]["datasets"][0]), (2, &6.into(), &"d7".into()));
    }
}
