//! Standard streams whose reader may end at any time. A command that changes something finishes its work nevertheless.

use std::fmt;
use std::io::{self, ErrorKind, Write};

/// Messages, progress and reports on stderr. Text that cannot be written is dropped.
#[derive(Clone, Copy, Debug, Default)]
pub struct Messages;

/// Returns the writer of messages.
#[must_use]
pub fn messages() -> Messages {
    Messages
}

impl Write for Messages {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _ = io::stderr().write_all(bytes);
        Ok(bytes.len())
    }

    /// Writes a formatted text under one lock, so that lines of several threads do not mix.
    fn write_fmt(&mut self, text: fmt::Arguments<'_>) -> io::Result<()> {
        let _ = io::stderr().write_fmt(text);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Report of a change on stdout. Text is dropped if the reader of stdout has ended: the change is made, or is being made.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReportOutput;

/// Returns the writer of the report of a change.
#[must_use]
pub fn report_output() -> ReportOutput {
    ReportOutput
}

impl Write for ReportOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match io::stdout().write(bytes) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(bytes.len()),
            written => written,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        ignore_broken_pipe(io::stdout().flush())
    }
}

/// Returns the result of an output, which succeeds if its reader has ended.
///
/// # Errors
/// Any other error of the output.
pub fn ignore_broken_pipe(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}
