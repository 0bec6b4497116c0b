//! Exit codes, and error messages: the chain of causes without repetitions, and advice for causes outside of the program.

use super::streams::messages;
use std::io::{self, Write};
use std::process::ExitCode;

/// Advice for a full disk.
const DISK_FULL: &str =
    "the disk is full; free space and run the command again: committed datasets are not lost";

/// Result of a command that did not fail.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExitStatus {
    /// The command succeeded. Exit code 0.
    Success,
    /// There is no result, or an incomplete one. Exit code 1.
    NoResult,
}

/// Returns the exit code of a program after its command: 0 or 1 by its status, 2 after an error, which is written to stderr.
pub fn exit_code(program: &str, result: anyhow::Result<ExitStatus>) -> ExitCode {
    match result {
        Ok(ExitStatus::Success) => ExitCode::SUCCESS,
        Ok(ExitStatus::NoResult) => ExitCode::from(1),
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(messages(), "{program}: {}", message(&error));
            ExitCode::from(2)
        }
    }
}

/// Returns the messages of an error and of its causes, outermost first. A cause that an outer message contains is omitted.
pub fn message(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error
        .chain()
        .map(ToString::to_string)
        .filter(|cause| !cause.is_empty())
    {
        if text.contains(&cause) {
            continue;
        }
        if !text.is_empty() {
            text.push_str(": ");
        }
        text.push_str(&cause);
    }
    if is_disk_full(error, &text) {
        format!("{text}; {DISK_FULL}")
    } else {
        text
    }
}

/// RocksDB reports a full disk as text only.
fn is_disk_full(error: &anyhow::Error, text: &str) -> bool {
    error.chain().any(is_storage_full) || text.contains("No space left on device")
}

fn is_storage_full(cause: &(dyn std::error::Error + 'static)) -> bool {
    cause
        .downcast_ref::<io::Error>()
        .is_some_and(|cause| cause.kind() == io::ErrorKind::StorageFull)
}

/// Returns true if the reader of stdout closed the pipe, which is not an error.
///
/// Commands return an error of stdout without context. A pipe or connection that breaks during the work is the cause of another
/// error: the command has failed.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let Some(error) = error.chain().next() else {
        return false;
    };
    let kind = match error.downcast_ref::<serde_json::Error>() {
        Some(error) => error.io_error_kind(),
        None => error.downcast_ref::<io::Error>().map(io::Error::kind),
    };
    kind == Some(io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::anyhow;

    #[test]
    fn only_a_broken_pipe_of_the_output_is_no_error() {
        fn broken() -> io::Error {
            io::Error::from(io::ErrorKind::BrokenPipe)
        }
        assert!(is_broken_pipe(&broken().into()));
        assert!(is_broken_pipe(&serde_json::Error::io(broken()).into()));
        let upload = anyhow::Error::from(broken()).context("the upload was interrupted");
        assert!(!is_broken_pipe(&upload));
        assert!(!is_broken_pipe(
            &io::Error::from(io::ErrorKind::NotFound).into()
        ));
    }

    #[test]
    fn a_cause_is_printed_once() {
        let cause = "IO error: No space left on device: While appending to file";
        let error = anyhow!(cause)
            .context(format!("store: {cause}"))
            .context("cannot load");
        let text = message(&error);
        assert_eq!(text, format!("cannot load: store: {cause}; {DISK_FULL}"));
        let error = anyhow::Error::from(io::Error::from(io::ErrorKind::StorageFull))
            .context("cannot write a.ttl");
        assert!(message(&error).ends_with(DISK_FULL), "{}", message(&error));
        let error = anyhow!("x.ttl: no such file").context("cannot read the sources");
        assert_eq!(
            message(&error),
            "cannot read the sources: x.ttl: no such file"
        );
    }
}
