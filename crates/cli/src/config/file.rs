//! The configuration file: its keys with their lines, and errors that name them.

use super::keys::{Key, Kind, is_table};
use super::{Settings, suggest_key};
use anyhow::{bail, ensure};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use toml::Table;
use toml::de::{DeTable, DeValue};

/// Returns the message of a wrong value without the names of types of the program's language.
fn describe_wrong_value(message: &str, kind: Kind) -> String {
    let found = message
        .strip_prefix("invalid type: ")
        .or_else(|| message.strip_prefix("invalid value: "));
    let Some((found, expected)) = found.and_then(|rest| rest.rsplit_once(", expected ")) else {
        return message.to_owned();
    };
    let expected = match expected {
        "u16" | "u32" | "u64" | "usize" => format!("{}, 0 or more", kind.describe()),
        "a nonzero u64" | "a nonzero usize" => format!("{}, 1 or more", kind.describe()),
        "a boolean" | "a string" | "a sequence" => kind.describe(),
        _ => return message.to_owned(),
    };
    format!("expected {expected}; found {found}")
}

/// Returns the place of an error in bytes; 0 if the error has no place.
fn start_of(error: &toml::de::Error) -> usize {
    match error.span() {
        Some(span) => span.start,
        None => 0,
    }
}

/// A parsed configuration file with known keys only.
#[derive(Debug)]
pub(super) struct ConfigFile<'t> {
    path: &'t Path,
    text: &'t str,
    keys: &'static [Key],
    keys_in_arrays: &'static [&'static str],
    /// (key, place of the key, place of the value) in the order of the file.
    entries: Vec<(String, Range<usize>, Range<usize>)>,
    lines: BTreeMap<String, usize>,
}

impl<'t> ConfigFile<'t> {
    /// Parses the text of a file.
    ///
    /// # Errors
    /// If it is not valid TOML, or keys are unknown although the settings are complete.
    pub(super) fn parse<S: Settings>(path: &'t Path, text: &'t str) -> anyhow::Result<Self> {
        let mut file = Self {
            path,
            text,
            keys: S::KEYS,
            keys_in_arrays: S::KEYS_IN_ARRAYS,
            entries: Vec::new(),
            lines: BTreeMap::new(),
        };
        match DeTable::parse(text) {
            Ok(table) => file.collect("", table.get_ref()),
            Err(error) => {
                bail!(
                    "{}: {}",
                    file.place(start_of(&error)),
                    error.message().trim()
                )
            }
        }
        // Tables are maps and have lost the order of the file.
        file.entries.sort_by_key(|(_, key, _)| key.start);
        if S::IS_COMPLETE {
            file.check_keys()?;
        }
        for (key, place, _) in &file.entries {
            let line = file.line_of(place.start);
            // Keys of an array of tables occur several times: the first one counts.
            file.lines.entry(key.clone()).or_insert(line);
        }
        Ok(file)
    }

    /// Checks that all keys are known.
    fn check_keys(&self) -> anyhow::Result<()> {
        let mut unknown = Vec::new();
        for (key, place, _) in &self.entries {
            unknown.extend(self.unknown(key, place));
        }
        ensure!(unknown.is_empty(), "{}", unknown.join("\n"));
        Ok(())
    }

    /// Collects the keys of a table. Tables within known tables, and those in arrays, have their own keys.
    fn collect(&mut self, prefix: &str, table: &DeTable<'_>) {
        for (key, value) in table {
            let name = if prefix.is_empty() {
                key.get_ref().to_string()
            } else {
                format!("{prefix}.{}", key.get_ref())
            };
            self.entries.push((name.clone(), key.span(), value.span()));
            match value.get_ref() {
                DeValue::Table(table) if is_table(self.keys, &name) => self.collect(&name, table),
                DeValue::Array(array) if is_table(self.keys, &name) => {
                    for element in array {
                        if let DeValue::Table(table) = element.get_ref() {
                            self.collect(&name, table);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// Returns a message if a key is unknown.
    fn unknown(&self, key: &str, place: &Range<usize>) -> Option<String> {
        if is_table(self.keys, key)
            || self.keys.iter().any(|known| known.path == key)
            || self.keys_in_arrays.contains(&key)
        {
            return None;
        }
        // A bracket before the name makes it the header of a table.
        let is_header = self.text[..place.start].ends_with('[');
        let tables = self
            .keys
            .iter()
            .filter_map(|key| key.path.split_once('.'))
            .map(|(table, _)| table);
        let (kind, nearest) = match is_header {
            true => ("table", suggest_key(key, tables)),
            false => (
                "key",
                suggest_key(
                    key,
                    self.keys
                        .iter()
                        .map(|key| key.path)
                        .chain(self.keys_in_arrays.iter().copied()),
                ),
            ),
        };
        let advice = match nearest {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => "`lodeseek config show` lists all keys".to_owned(),
        };
        Some(format!(
            "{}: unknown {kind} `{key}`; {advice}",
            self.place(place.start)
        ))
    }

    /// Returns the values.
    ///
    /// # Errors
    /// If a value is not valid.
    pub(super) fn values<S: Settings>(&self) -> anyhow::Result<Table> {
        // Parsed by type first, since only the errors of this parser have places in the text.
        if let Err(error) = toml::from_str::<S>(self.text) {
            let start = start_of(&error);
            // The innermost key whose value contains the place.
            let key = self
                .entries
                .iter()
                .filter(|(_, _, value)| value.contains(&start))
                .min_by_key(|(_, _, value)| value.len());
            let message = error.message().trim();
            match key {
                Some((key, ..)) => {
                    let kind = self.keys.iter().find(|known| known.path == key);
                    let message = match kind {
                        Some(known) => describe_wrong_value(message, known.kind),
                        None => message.to_owned(),
                    };
                    bail!("{}: `{key}`: {message}", self.place(start))
                }
                None => bail!("{}: {message}", self.place(start)),
            }
        }
        Ok(toml::from_str(self.text)?)
    }

    /// Returns the line of a key, from 1.
    pub(super) fn line(&self, key: &str) -> Option<usize> {
        self.lines.get(key).copied()
    }

    fn line_of(&self, place: usize) -> usize {
        1 + self
            .text
            .bytes()
            .take(place)
            .filter(|byte| *byte == b'\n')
            .count()
    }

    fn place(&self, place: usize) -> String {
        format!("{}:{}", self.path.display(), self.line_of(place))
    }
}
