//! Topics: one per line, identifier, text and optionally a year, separated by tabs.

use super::EvalError;
use super::lines::Lines;
use std::path::Path;

/// Information need with an identifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topic {
    /// Topic identifier, without white space.
    pub id: String,
    /// Query text.
    pub text: String,
    /// Year of the query, if stated: later datasets and works did not exist for it.
    pub year: Option<i32>,
}

/// Topics in the order of their file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topics(pub Vec<Topic>);

impl Topics {
    /// Reads a file of `id<TAB>text` or `id<TAB>text<TAB>year` lines. Empty lines are skipped, duplicate identifiers are rejected.
    pub fn read(path: &Path) -> Result<Self, EvalError> {
        let lines = Lines::read(path)?;
        let (mut topics, mut seen) = (Vec::new(), rustc_hash::FxHashSet::default());
        for (number, line) in lines.iter() {
            let columns = line.split_once('\t');
            let (id, text) =
                columns.ok_or_else(|| lines.error(number, "no tab between id and text"))?;
            let (text, year) = text.split_once('\t').unwrap_or((text, ""));
            let (id, text, year) = (id.trim(), text.trim(), year.trim());
            if id.is_empty() || text.is_empty() {
                return Err(lines.error(number, "an empty id or text"));
            }
            if id.contains(char::is_whitespace) {
                return Err(lines.error(
                    number,
                    format!("the id {id:?} holds white space, which parts columns in a run"),
                ));
            }
            if !seen.insert(id) {
                return Err(lines.error(number, format!("duplicate topic {id}")));
            }
            let year = if year.is_empty() {
                None
            } else {
                let year = year.parse().map_err(|_| {
                    lines.error(number, format!("the third column must be a year: {year:?}"))
                })?;
                Some(year)
            };
            topics.push(Topic {
                id: id.to_owned(),
                text: text.to_owned(),
                year,
            });
        }
        if topics.is_empty() {
            Err(lines.empty("topics"))
        } else {
            Ok(Self(topics))
        }
    }
}
