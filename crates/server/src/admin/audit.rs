//! Audit log of the administration: `home/audit.jsonl`, one JSON object for each change, in the order of their ends.
//!
//! The last member of each entry is the SHA-256 of the rest of its line, so that damage is detected. It does not detect
//! deliberate changes: anyone who can write the file can compute it. Entries of earlier versions have none.

use super::tokens::digest;
use serde::Serialize;
use serde_json::json;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::PoisonError;

/// Name of the file in the home.
const FILE: &str = "audit.jsonl";
/// Number of bytes read from the end of the file for a list of the last entries. More are read only if they contain no
/// complete entry.
const READ_BYTES: u64 = 1 << 20;

/// Name of the last member of an entry, with the syntax around it.
const CHECKSUM: &str = r#","sha256":""#;

/// Members of an entry without checksum, as earlier versions wrote it.
const MEMBERS: [&str; 8] = [
    "time", "job", "by", "action", "datasets", "works", "outcome", "detail",
];

/// Returns the line of an entry: its JSON with the checksum as last member.
fn line_of(entry: &AuditEntry<'_>) -> io::Result<String> {
    let entry = serde_json::to_string(entry)?;
    let checksum = digest(&entry);
    let open = entry.strip_suffix('}').unwrap_or(&entry);
    Ok(format!("{open}{CHECKSUM}{checksum}\"}}\n"))
}

fn is_sound(line: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(line) else {
        return false;
    };
    match text.rsplit_once(CHECKSUM) {
        Some((open, rest)) => {
            rest.strip_suffix("\"}") == Some(digest(&format!("{open}}}")).as_str())
        }
        None => serde_json::from_str::<serde_json::Map<_, _>>(text).is_ok_and(|entry| {
            entry
                .keys()
                .all(|member| MEMBERS.contains(&member.as_str()))
        }),
    }
}

/// Returns the numbers of the damaged lines of a home's audit log, from 1.
///
/// # Errors
/// If the file cannot be read.
pub fn damaged_audit_lines(home: &Path) -> io::Result<Vec<usize>> {
    let file = match File::open(audit_path(home)) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut damaged = Vec::new();
    for (place, line) in BufReader::new(file).split(b'\n').enumerate() {
        if !is_sound(&line?) {
            damaged.push(place + 1);
        }
    }
    Ok(damaged)
}

/// Returns true if the last line of a file has no end: an earlier entry was not written completely.
fn is_cut(file: &mut File) -> io::Result<bool> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(false);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

/// Returns the complete lines within this number of bytes at the end of a file; at least one, if there is one.
fn last_bytes(file: &mut File, count: u64) -> io::Result<Vec<u8>> {
    let length = file.metadata()?.len();
    let mut count = count;
    loop {
        let start = length.saturating_sub(count);
        file.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        if start == 0 {
            return Ok(bytes);
        }
        // The first line is the end of an entry.
        let first_end = bytes
            .iter()
            .position(|byte| *byte == b'\n')
            .map_or(bytes.len(), |place| place + 1);
        if first_end < bytes.len() {
            return Ok(bytes.split_off(first_end));
        }
        count = count.saturating_mul(2);
    }
}

/// Returns the path of a home's audit log.
#[must_use]
pub fn audit_path(home: &Path) -> PathBuf {
    home.join(FILE)
}

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
        Self {
            path: audit_path(home),
            writing: Mutex::default(),
        }
    }

    /// Appends an entry and waits until it is on the disk.
    pub(crate) fn append(&self, entry: &AuditEntry<'_>) -> io::Result<()> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut line = line_of(entry)?;
        let mut options = File::options();
        options.read(true).append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&self.path)?;
        if is_cut(&mut file)? {
            line.insert(0, '\n');
        }
        file.write_all(line.as_bytes())?;
        file.sync_data()
    }

    /// Returns the last entries as JSON lines, the oldest first. In place of a damaged one it returns an object that contains its text.
    pub(crate) fn last(&self, most: usize) -> io::Result<String> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner); // no half of an entry is read
        let mut file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(String::new()),
            Err(error) => return Err(error),
        };
        let bytes = last_bytes(&mut file, READ_BYTES)?;
        let lines: Vec<&[u8]> = match bytes.strip_suffix(b"\n").unwrap_or(&bytes) {
            [] => Vec::new(),
            bytes => bytes.split(|byte| *byte == b'\n').collect(),
        };
        let mut text = String::new();
        for line in &lines[lines.len().saturating_sub(most)..] {
            let entry = String::from_utf8_lossy(line);
            let _ = if is_sound(line) {
                writeln!(text, "{entry}")
            } else {
                writeln!(text, "{}", json!({ "damaged": entry }))
            };
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(job: u64, datasets: &[String]) -> AuditEntry<'_> {
        AuditEntry {
            time: job,
            job,
            by: "ci",
            action: "put",
            datasets,
            works: &[],
            outcome: "done",
            detail: None,
        }
    }

    #[test]
    fn entries_are_appended() {
        let home = tempfile::tempdir().expect("a folder");
        let log = AuditLog::new(home.path());
        assert_eq!(log.last(5).expect("read"), "");
        for job in 1..=7 {
            let datasets = [format!("d{job}")];
            let entry = entry(job, &datasets);
            log.append(&entry).expect("written");
        }
        let last = log.last(2).expect("read");
        let lines: Vec<serde_json::Value> = last
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect();
        assert_eq!(
            (lines.len(), &lines[0]["job"], &lines[1]["datasets"][0]),
            (2, &6.into(), &"d7".into())
        );
    }

    #[test]
    fn a_long_entry_is_listed() {
        let home = tempfile::tempdir().expect("a folder");
        let log = AuditLog::new(home.path());
        log.append(&entry(1, &[])).expect("written");
        let many = vec!["d".repeat(200); 3 * READ_BYTES as usize / 200];
        log.append(&entry(2, &many)).expect("written");
        let last = log.last(9).expect("read");
        assert_eq!((last.lines().count(), last.ends_with("}\n")), (2, true));
        log.append(&entry(3, &[])).expect("written");
        assert_eq!(
            log.last(9).expect("read").lines().count(),
            1,
            "what the first read has"
        );
    }

    #[test]
    fn damaged_entries_are_detected() {
        let home = tempfile::tempdir().expect("a folder");
        let log = AuditLog::new(home.path());
        let old = "{\"time\":1,\"job\":1}\n";
        std::fs::write(home.path().join(FILE), old).expect("written");
        for job in 2..=4 {
            let datasets = ["a \"quoted\" id, with ,\"sha256\":\" in it".to_owned()];
            let entry = entry(job, &datasets);
            log.append(&entry).expect("written");
        }
        assert_eq!(
            damaged_audit_lines(home.path()).expect("read"),
            [0_usize; 0]
        );
        let sound = std::fs::read(home.path().join(FILE)).expect("read");
        for place in old.len()..sound.len() {
            for bit in 0..8 {
                let mut bytes = sound.clone();
                bytes[place] ^= 1 << bit;
                std::fs::write(home.path().join(FILE), &bytes).expect("written");
                let damaged = damaged_audit_lines(home.path()).expect("read");
                assert!(!damaged.is_empty(), "byte {place}, bit {bit}");
                assert!(
                    log.last(9).expect("read").contains("{\"damaged\":"),
                    "byte {place}, bit {bit}"
                );
            }
        }
    }

    #[test]
    fn an_entry_that_was_cut_damages_no_other() {
        let home = tempfile::tempdir().expect("a folder");
        let log = AuditLog::new(home.path());
        let entry = entry(1, &[]);
        log.append(&entry).expect("written");
        let bytes = std::fs::read(home.path().join(FILE)).expect("read");
        for length in 1..bytes.len() {
            std::fs::write(home.path().join(FILE), &bytes[..length]).expect("written");
            log.append(&entry).expect("written");
            let whole = length == bytes.len() - 1;
            assert_eq!(
                damaged_audit_lines(home.path()).expect("read"),
                if whole { vec![] } else { vec![1] },
                "{length}"
            );
        }
    }
}
