//! Text files read line by line, with everything that errors must say at hand.

use super::EvalError;
use std::fs;
use std::path::{Path, PathBuf};

/// What git writes into a file it could not merge.
const CONFLICT_MARKERS: [&str; 4] = ["<<<<<<<", "|||||||", "=======", ">>>>>>>"];

/// How headings call grades and scores.
const NAMES_OF_NUMBERS: [&str; 5] = ["relevance", "rel", "grade", "label", "score"];

/// The text of a file.
pub(super) struct Lines {
    path: PathBuf,
    text: String,
}

impl Lines {
    /// Reads a file in UTF-8; a byte order mark is dropped, since it would become part of the first topic's id.
    pub(super) fn read(path: &Path) -> Result<Self, EvalError> {
        let bytes = fs::read(path).map_err(|cause| EvalError::Io { path: path.to_owned(), cause })?;
        let text = String::from_utf8(bytes).map_err(|cause| {
            let before = &cause.as_bytes()[..cause.utf8_error().valid_up_to()];
            let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
            EvalError::Line { path: path.to_owned(), line, reason: "not in UTF-8".to_owned() }
        })?;
        let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
        Ok(Self { path: path.to_owned(), text })
    }

    /// The lines that are not blank, numbered from 1.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, &str)> {
        let numbered = self.text.lines().enumerate().map(|(place, line)| (place + 1, line));
        numbered.filter(|(_, line)| !line.trim().is_empty())
    }

    /// The columns of a line, parted by any white space. Where they are parted by single tabs, the last one may hold
    /// spaces: some of ACORDAR's runs are tagged `FSDM [d]`.
    pub(super) fn columns<'l, const N: usize>(
        &self,
        number: usize,
        line: &'l str,
        names: &str,
    ) -> Result<[&'l str; N], EvalError> {
        let (columns, count) = first(line.split_whitespace());
        if count == N {
            return Ok(columns);
        }
        let (tabbed, tabs) = first::<N>(line.trim().split('\t').map(str::trim));
        let is_one_word = |column: &&str| column.split_whitespace().count() == 1;
        if tabs == N && tabbed[..N - 1].iter().all(is_one_word) {
            return Ok(tabbed);
        }
        Err(self.error(
            number,
            match CONFLICT_MARKERS.iter().any(|marker| line.starts_with(marker)) {
                true => "a conflict marker of git: the file was not merged to an end".to_owned(),
                false => format!("{count} columns instead of {N} ({names})"),
            },
        ))
    }

    /// Whether a line is a heading that names columns, as DataFinder's files begin with: the first line, with the name of
    /// a number where all others have one.
    pub(super) fn is_heading(&self, number: usize, numeric: &str) -> bool {
        let first = self.iter().next().is_some_and(|(first, _)| first == number);
        first && NAMES_OF_NUMBERS.iter().any(|name| numeric.eq_ignore_ascii_case(name))
    }

    /// The error of a line.
    pub(super) fn error(&self, line: usize, reason: impl Into<String>) -> EvalError {
        EvalError::Line { path: self.path.clone(), line, reason: reason.into() }
    }

    /// The error of a file that holds none of what it should.
    pub(super) fn empty(&self, what: &'static str) -> EvalError {
        EvalError::Empty { path: self.path.clone(), what }
    }
}

/// The first parts, and how many there are.
fn first<'l, const N: usize>(mut parts: impl Iterator<Item = &'l str>) -> ([&'l str; N], usize) {
    let mut columns = [""; N];
    let filled = columns.iter_mut().zip(parts.by_ref()).map(|(column, part)| *column = part).count();
    (columns, filled + parts.count())
}
