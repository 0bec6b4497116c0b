//! Topics: one a line, id and text parted by a tab.

use super::EvalError;
use std::fs;
use std::path::Path;

/// A need in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topic {
    /// Its id.
    pub id: String,
    /// The words.
    pub text: String,
}

/// Topics, in the order of their file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topics(pub Vec<Topic>);

impl Topics {
    /// Reads a file of `id<TAB>text` lines; empty lines are skipped.
    pub fn read(path: &Path) -> Result<Self, EvalError> {
        let text = fs::read_to_string(path).map_err(|cause| EvalError::Io { path: path.to_owned(), cause })?;
        let mut topics = Vec::new();
        for (place, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let error =
                |reason: &str| EvalError::Line { path: path.to_owned(), line: place + 1, reason: reason.to_owned() };
            let (id, text) = line.split_once('\t').ok_or_else(|| error("no tab between id and text"))?;
            if id.trim().is_empty() || text.trim().is_empty() {
                return Err(error("an empty id or text"));
            }
            topics.push(Topic { id: id.trim().to_owned(), text: text.trim().to_owned() });
        }
        Ok(Self(topics))
    }
}
