//! Processes that hold a lock on a file, for messages.

use std::fs::File;

/// Returns the numbers and command lines of the processes that hold a lock on a file, if the system reports them.
#[cfg(target_os = "linux")]
pub(super) fn describe(file: &File) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let inode = file.metadata().ok()?.ino();
    let locks = std::fs::read_to_string("/proc/locks").ok()?;
    let mut processes: Vec<u32> = locks
        .lines()
        .filter_map(|line| parse_holder(line, inode))
        .collect();
    processes.sort_unstable();
    processes.dedup();
    if processes.is_empty() {
        return None;
    }
    let named: Vec<String> = processes.into_iter().map(describe_process).collect();
    Some(named.join(", "))
}

#[cfg(not(target_os = "linux"))]
pub(super) fn describe(_file: &File) -> Option<String> {
    None
}

/// Returns the process of a line of `/proc/locks` if it holds a lock on this inode:
/// `1: FLOCK  ADVISORY  WRITE 1234 fe:00:5678 0 EOF`. Waiting processes have `->` in place of the kind.
#[cfg(target_os = "linux")]
fn parse_holder(line: &str, inode: u64) -> Option<u32> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let [_, "FLOCK", _, _, process, file, ..] = fields.as_slice() else {
        return None;
    };
    let is_file = file.rsplit(':').next()?.parse() == Ok(inode);
    // Processes of other containers have the number 0.
    process
        .parse()
        .ok()
        .filter(|process| is_file && *process > 0)
}

/// Returns for example ``process 1234: `lodeseek serve` ``.
#[cfg(target_os = "linux")]
fn describe_process(process: u32) -> String {
    const MAX_CHARACTERS: usize = 80;
    let Ok(command) = std::fs::read(format!("/proc/{process}/cmdline")) else {
        return format!("process {process}");
    };
    let words = command
        .split(|byte| *byte == 0)
        .filter(|word| !word.is_empty());
    let words: Vec<String> = words
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect();
    let line: String = words
        .join(" ")
        .chars()
        .filter(|character| !character.is_control())
        .collect();
    let short: String = line.chars().take(MAX_CHARACTERS).collect();
    let end = if short.len() < line.len() { "…" } else { "" };
    format!("process {process}: `{short}{end}`")
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_holder_of_a_lock_is_named() {
        let line = "1: FLOCK  ADVISORY  WRITE 1234 fe:00:5678 0 EOF";
        assert_eq!(
            (parse_holder(line, 5678), parse_holder(line, 678)),
            (Some(1234), None)
        );
        assert_eq!(
            parse_holder("2: -> FLOCK  ADVISORY  WRITE 1234 fe:00:5678 0 EOF", 5678),
            None
        );
        let file = tempfile::NamedTempFile::new().expect("a file");
        assert_eq!(describe(file.as_file()), None);
        file.as_file().lock().expect("locked");
        // A container may hide /proc/locks.
        if let Some(named) = describe(file.as_file()) {
            assert!(named.contains(&std::process::id().to_string()), "{named}");
        }
    }
}
