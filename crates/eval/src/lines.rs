//! Line-oriented text files, with path and line number for error messages.

use super::EvalError;
use std::fs;
use std::path::{Path, PathBuf};

/// Prefixes of the conflict markers that git writes into a file with a merge conflict.
const CONFLICT_MARKERS: [&str; 4] = ["<<<<<<<", "|||||||", "=======", ">>>>>>>"];

/// Column headings for grades and scores.
const NAMES_OF_NUMBERS: [&str; 5] = ["relevance", "rel", "grade", "label", "score"];

/// Text of a file.
pub(super) struct Lines {
    path: PathBuf,
    text: String,
}

impl Lines {
    /// Reads a UTF-8 file. A byte order mark is dropped, because it would become part of the first topic's identifier.
    pub(super) fn read(path: &Path) -> Result<Self, EvalError> {
        let bytes = fs::read(path).map_err(EvalError::io(path))?;
        let text = String::from_utf8(bytes).map_err(|cause| {
            let before = &cause.as_bytes()[..cause.utf8_error().valid_up_to()];
            let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
            EvalError::Line {
                path: path.to_owned(),
                line,
                reason: "not in UTF-8".to_owned(),
            }
        })?;
        let text = text
            .strip_prefix('\u{feff}')
            .map(str::to_owned)
            .unwrap_or(text);
        Ok(Self {
            path: path.to_owned(),
            text,
        })
    }

    /// Iterates over the non-blank lines, numbered from 1.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, &str)> {
        let numbered = self
            .text
            .lines()
            .enumerate()
            .map(|(place, line)| (place + 1, line));
        numbered.filter(|(_, line)| !line.trim().is_empty())
    }

    /// Splits a line into columns at white space.
    ///
    /// If the columns are separated by single tabs, the last one may contain spaces: some of ACORDAR's runs have the tag
    /// `FSDM [d]`.
    pub(super) fn columns<'l, const N: usize>(
        &self,
        number: usize,
        line: &'l str,
        names: &str,
    ) -> Result<[&'l str; N], EvalError> {
        let (columns, count) = split_first_parts(line.split_whitespace());
        if count == N {
            return Ok(columns);
        }
        let (tabbed, tabs) = split_first_parts::<N>(line.trim().split('\t').map(str::trim));
        if tabs == N
            && tabbed[..N - 1]
                .iter()
                .all(|column| column.split_whitespace().count() == 1)
        {
            return Ok(tabbed);
        }
        Err(self.error(
            number,
            match CONFLICT_MARKERS
                .iter()
                .any(|marker| line.starts_with(marker))
            {
                true => "a conflict marker of git: resolve the merge conflict first".to_owned(),
                false => format!("expected {N} columns ({names}), found {count}"),
            },
        ))
    }

    /// Returns true if a line is a column heading, as in DataFinder's files.
    ///
    /// A heading is the first line of the file, with a name in a column that is numeric in all other lines.
    pub(super) fn is_heading(&self, number: usize, numeric: &str) -> bool {
        let first = self.iter().next().is_some_and(|(first, _)| first == number);
        first
            && NAMES_OF_NUMBERS
                .iter()
                .any(|name| numeric.eq_ignore_ascii_case(name))
    }

    /// Creates the error of a line.
    pub(super) fn error(&self, line: usize, reason: impl Into<String>) -> EvalError {
        EvalError::Line {
            path: self.path.clone(),
            line,
            reason: reason.into(),
        }
    }

    /// Creates the error of a file without entries.
    pub(super) fn empty(&self, what: &'static str) -> EvalError {
        EvalError::Empty {
            path: self.path.clone(),
            what,
        }
    }
}

/// Returns the first `N` parts and the number of all parts.
fn split_first_parts<'l, const N: usize>(
    mut parts: impl Iterator<Item = &'l str>,
) -> ([&'l str; N], usize) {
    let mut columns = [""; N];
    let filled = columns
        .iter_mut()
        .zip(parts.by_ref())
        .map(|(column, part)| *column = part)
        .count();
    (columns, filled + parts.count())
}
