//! Audit log of the administration: `home/audit.jsonl`, one JSON object for each change, in the order of their ends.
//!
//! The last member of each entry is the SHA-256 of the rest of its line, so that damage is detected. The member before it, `previous`,
//! is the SHA-256 of the entry before: a chain, in which a removed or changed line leaves a gap. `home/audit.head` has the SHA-256 of
//! the last entry, without which the end of the chain could be cut off. Who can write both files can write another chain, too. Entries
//! of earlier versions have no `previous`, or neither.

use crate::tokens::digest;
use lodeseek_store::{read_checked, write_checked};
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
const TAIL_BYTES: u64 = 1 << 20;

/// Name of the file with the SHA-256 of the last entry.
const HEAD_FILE: &str = "audit.head";

/// Name of the last member of an entry, with the syntax around it.
const CHECKSUM: &str = r#","sha256":""#;
/// Name of the member before it, likewise.
const PREVIOUS: &str = r#","previous":""#;

/// Members of an entry without checksum, as earlier versions wrote it.
const MEMBERS: [&str; 8] = [
    "time", "job", "by", "action", "datasets", "works", "outcome", "detail",
];

/// Returns the line of an entry after another one, and its checksum: its JSON with the two members.
fn line_of(entry: &AuditEntry<'_>, previous: &str) -> io::Result<(String, String)> {
    let entry = serde_json::to_string(entry)?;
    let open = entry.strip_suffix('}').unwrap_or(&entry);
    let linked = format!("{open}{PREVIOUS}{previous}\"");
    // It is that of the object without this member.
    let checksum = digest(&format!("{linked}}}"));
    Ok((format!("{linked}{CHECKSUM}{checksum}\"}}\n"), checksum))
}

/// Returns the text by which the next entry names a line: its checksum, or that of its text if it has none or is damaged.
fn link_to(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let own = text
        .rsplit_once(CHECKSUM)
        .and_then(|(_, rest)| rest.strip_suffix("\"}"));
    match own {
        Some(checksum) if is_sound(line) => checksum.to_owned(),
        _ => digest(&text),
    }
}

/// Returns the link of a sound line to the one before it; `None` for lines of earlier versions.
fn link_of(line: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(line).ok()?;
    let (open, _) = text.rsplit_once(CHECKSUM)?;
    let (_, link) = open.rsplit_once(PREVIOUS)?;
    // The text may be in the names of datasets, too, where quotation marks are escaped.
    link.strip_suffix('"').filter(|link| !link.contains('"'))
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

/// Damage of an audit log. Lines are numbered from 1.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AuditDamage {
    /// Damaged lines.
    pub damaged: Vec<usize>,
    /// Lines before which entries are missing, or were replaced.
    pub gaps: Vec<usize>,
    /// If true, entries at the end are missing.
    pub is_cut: bool,
}

/// Verifies the audit log of a home.
///
/// # Errors
/// If a file cannot be read.
pub fn verify_audit(home: &Path) -> io::Result<AuditDamage> {
    let head = read_head(home)?;
    let mut report = AuditDamage::default();
    let (mut link, mut is_last_sound, mut has_links, mut has_head) =
        (String::new(), true, false, head.is_none());
    let file = match File::open(audit_path(home)) {
        Ok(file) => Some(BufReader::new(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let lines = file.into_iter().flat_map(|file| file.split(b'\n'));
    for (place, line) in lines.enumerate() {
        let line = line?;
        let is_line_sound = is_sound(&line);
        if !is_line_sound {
            report.damaged.push(place + 1);
        } else if is_last_sound {
            let is_linked = match link_of(&line) {
                Some(previous) => {
                    has_links = true;
                    previous == link
                }
                // Earlier versions wrote no links, but not after this one.
                None => !has_links,
            };
            if !is_linked {
                report.gaps.push(place + 1);
            }
        }
        link = link_to(&line);
        // If a line was damaged after the next one was written, that one links to its former text.
        is_last_sound = is_line_sound;
        has_head = has_head || head.as_ref() == Some(&link);
    }
    // A damaged last line may be that of the head.
    report.is_cut = !has_head && is_last_sound;
    Ok(report)
}

/// Returns the SHA-256 of the last entry; `None` if no entry has a link yet.
fn read_head(home: &Path) -> io::Result<Option<String>> {
    let body = read_checked(&home.join(HEAD_FILE)).map_err(io::Error::other)?;
    Ok(body.map(|body| String::from_utf8_lossy(&body).into_owned()))
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
        let first_end = match bytes.iter().position(|byte| *byte == b'\n') {
            Some(place) => place + 1,
            None => bytes.len(),
        };
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
    /// Addresses, file names and folders that the change read or wrote.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub(crate) sources: &'e [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub(crate) works: &'e [String],
    /// Keys of the description that were changed.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub(crate) fields: &'e [String],
    pub(crate) outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) detail: Option<&'e str>,
}

/// The audit log of a home.
#[derive(Debug)]
pub struct AuditLog {
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
        let mut options = File::options();
        options.read(true).append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&self.path)?;
        let (mut line, checksum) = line_of(entry, &self.last_link(&mut file)?)?;
        // An incomplete entry remains as a line of its own.
        if is_cut(&mut file)? {
            line.insert(0, '\n');
        }
        file.write_all(line.as_bytes())?;
        file.sync_data()?;
        // The head may be behind the log, but not before it.
        write_checked(&self.path.with_file_name(HEAD_FILE), checksum.as_bytes())
            .map_err(io::Error::other)
    }

    /// Returns the text by which the next entry names the last line. Without a line, it is the head: the file was moved away, which is
    /// seen in the next one.
    fn last_link(&self, file: &mut File) -> io::Result<String> {
        let bytes = last_bytes(file, TAIL_BYTES)?;
        let complete = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
        match complete.rsplit(|byte| *byte == b'\n').next() {
            Some(line) if !line.is_empty() => Ok(link_to(line)),
            _ => {
                let home = self.path.parent().unwrap_or(&self.path);
                Ok(read_head(home)?.unwrap_or_default())
            }
        }
    }

    /// Returns the last entries as JSON lines, the oldest first. In place of a damaged one it returns an object that contains its text.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn last(&self, most: usize) -> io::Result<String> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner); // no half of an entry is read
        let mut file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(String::new()),
            Err(error) => return Err(error),
        };
        let bytes = last_bytes(&mut file, TAIL_BYTES)?;
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
            sources: &[],
            works: &[],
            fields: &[],
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
        let many = vec!["d".repeat(200); 3 * TAIL_BYTES as usize / 200];
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
            verify_audit(home.path()).expect("read"),
            AuditDamage::default()
        );
        let sound = std::fs::read(home.path().join(FILE)).expect("read");
        for place in old.len()..sound.len() {
            for bit in 0..8 {
                let mut bytes = sound.clone();
                bytes[place] ^= 1 << bit;
                std::fs::write(home.path().join(FILE), &bytes).expect("written");
                let damage = verify_audit(home.path()).expect("read");
                assert!(!damage.damaged.is_empty(), "byte {place}, bit {bit}");
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
            let damage = verify_audit(home.path()).expect("read");
            let expected = AuditDamage {
                damaged: if whole { vec![] } else { vec![1] },
                ..AuditDamage::default()
            };
            assert_eq!(damage, expected, "{length}");
        }
    }

    #[test]
    fn a_removed_or_replaced_line_leaves_a_gap() {
        let home = tempfile::tempdir().expect("a folder");
        let (log, path) = (AuditLog::new(home.path()), home.path().join(FILE));
        std::fs::write(&path, "{\"time\":1,\"job\":1}\n").expect("written");
        for job in 2..=5 {
            let datasets = [r#"a ,"previous":"x"#.to_owned()];
            log.append(&entry(job, &datasets)).expect("written");
        }
        assert_eq!(
            verify_audit(home.path()).expect("read"),
            AuditDamage::default()
        );
        let sound = std::fs::read_to_string(&path).expect("read");
        let lines: Vec<&str> = sound.lines().collect();
        let damage_of = |lines: &[&str]| {
            let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
            std::fs::write(&path, text).expect("written");
            verify_audit(home.path()).expect("read")
        };
        for removed in 0..lines.len() {
            let rest: Vec<&str> = [&lines[..removed], &lines[removed + 1..]].concat();
            let is_last = removed + 1 == lines.len();
            let expected = AuditDamage {
                gaps: if is_last { vec![] } else { vec![removed + 1] },
                is_cut: is_last,
                ..AuditDamage::default()
            };
            assert_eq!(damage_of(&rest), expected, "line {removed}");
        }
        // Lines in another order, and an entry with a right checksum in place of another one.
        assert_eq!(
            damage_of(&[lines[0], lines[2], lines[1], lines[3], lines[4]]).gaps,
            [2, 3, 4]
        );
        let (forged, _) = line_of(
            &entry(9, &[]),
            link_of(lines[2].as_bytes()).expect("a link"),
        )
        .expect("a line");
        assert_eq!(
            damage_of(&[lines[0], lines[1], forged.trim_end(), lines[3], lines[4]]).gaps,
            [4]
        );
        assert!(damage_of(&[]).is_cut);
        // The next entry after a removed file names the last one before.
        log.append(&entry(6, &[])).expect("written");
        let damage = verify_audit(home.path()).expect("read");
        assert_eq!((damage.gaps, damage.is_cut), (vec![1], false));
    }
}
