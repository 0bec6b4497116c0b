//! Configuration of a home: the file `lodeseek.toml` in it, and variables `LODESEEK_…`.
//!
//! Precedence: flag, variable, file, default. This module merges variables and file; commands apply their flags. A program declares
//! its keys and the type of its settings by [`Settings`].

mod file;
mod keys;

pub use keys::{
    ENCODERS_DEVICE, ENCODERS_ONNXRUNTIME, ENCODERS_THREADS, Key, Kind, LOG_FILTER, MODELS,
};

use anyhow::{Context, anyhow, bail, ensure};
use file::ConfigFile;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, de};
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use toml::{Table, Value};

/// Name of the configuration file in a home.
pub const FILE: &str = lodeseek_store::SETTINGS;
/// First part of the names of all variables.
const PREFIX: &str = "LODESEEK_";
/// Variables that are no settings of a home.
const OTHER_VARIABLES: &[&str] = &[
    "LODESEEK_HOME",
    "LODESEEK_LOG_FORMAT",
    "LODESEEK_SERVER",
    "LODESEEK_TOKEN",
    "LODESEEK_DATA",
    "LODESEEK_CACHE",
    "LODESEEK_BUNDLED",
    "LODESEEK_OFFLINE",
    "LODESEEK_FEATURES",
    "LODESEEK_COMMIT",
    "LODESEEK_PROGRAM",
    "LODESEEK_TRAINING_PYTHON",
    "LODESEEK_SKLEARN_PYTHON",
    "LODESEEK_SKLEARN_RUNS",
];
/// Minimum similarity of a suggested key to an unknown one.
const MIN_SIMILARITY: f64 = 0.8;

/// Settings of a program.
pub trait Settings: Clone + Default + DeserializeOwned {
    /// Keys that the program reads.
    const KEYS: &'static [Key];
    /// Keys of the tables in an array of tables, such as `harvest.source`.
    const KEYS_IN_ARRAYS: &'static [&'static str];
    /// If true, these are all keys of a home, and others are errors. If false, others are ignored.
    const IS_COMPLETE: bool;
}

/// Place of a setting.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Source {
    /// Line of the configuration file, from 1.
    File(usize),
    /// Environment variable.
    Variable(String),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(line) => write!(f, "{FILE}:{line}"),
            Self::Variable(name) => f.write_str(name),
        }
    }
}

/// Settings of file and variables, with the place of each.
#[derive(Clone, Debug, Default)]
pub struct Config<S> {
    /// Values by type.
    pub settings: S,
    /// Path of the file.
    path: PathBuf,
    sources: BTreeMap<&'static str, Source>,
    values: Table,
    /// Messages about variables that look like settings, and are none.
    pub unknown_variables: Vec<String>,
}

impl<S: Settings> Config<S> {
    /// Reads the configuration of a home: its file, if there is one, and the environment.
    ///
    /// # Errors
    /// If the file is not valid TOML, or a key or a value of file or environment is not valid.
    pub fn load(home: &Path) -> anyhow::Result<Self> {
        let path = home.join(FILE);
        let text = read(&path)?;
        let variables = std::env::vars_os().filter_map(|(name, value)| {
            let name = name.to_str().filter(|name| name.starts_with(PREFIX))?;
            Some((name.to_owned(), value.to_str()?.to_owned()))
        });
        Self::parse(&path, &text, &variables.collect())
    }

    /// Parses the text of a file, and variables by name.
    ///
    /// # Errors
    /// As for [`load`](Self::load).
    pub fn parse(
        path: &Path,
        text: &str,
        variables: &BTreeMap<String, String>,
    ) -> anyhow::Result<Self> {
        let file = ConfigFile::parse::<S>(path, text)?;
        let mut config = Self {
            values: file.values::<S>()?,
            path: path.to_owned(),
            ..Self::default()
        };
        for key in S::KEYS {
            if let Some(line) = file.line(key.path) {
                config.sources.insert(key.path, Source::File(line));
            }
            // Before the variables: their relative paths are relative to the current folder.
            resolve_path(
                &mut config.values,
                key,
                path.parent().unwrap_or(Path::new("")),
            );
        }
        for key in S::KEYS {
            let name = key.variable();
            // An empty variable is not set.
            if let Some(text) = variables.get(&name).filter(|text| !text.is_empty()) {
                insert_value(
                    &mut config.values,
                    key.path,
                    variable_value::<S>(key, &name, text)?,
                );
                config.sources.insert(key.path, Source::Variable(name));
            }
        }
        config.settings = config
            .values
            .clone()
            .try_into()
            .context("the configuration")?;
        if S::IS_COMPLETE {
            config.unknown_variables = unknown_variables(S::KEYS, variables);
        }
        Ok(config)
    }

    /// Returns the place of a setting. `None` for a default.
    pub fn source(&self, key: &str) -> Option<&Source> {
        self.sources.get(key)
    }

    /// Returns the place of a setting for an error: the path of the file with the line, or the variable. Empty for a default.
    pub fn place(&self, key: &str) -> String {
        match self.source(key) {
            Some(Source::File(line)) => format!("{}:{line}", self.path.display()),
            Some(Source::Variable(name)) => name.clone(),
            None => String::new(),
        }
    }

    /// Returns the value of a setting in TOML. `None` for a default.
    pub fn value(&self, key: &str) -> Option<&Value> {
        let mut parts = key.split('.');
        let first = self.values.get(parts.next()?)?;
        parts.try_fold(first, |value, part| value.as_table()?.get(part))
    }

    /// Writes a table with a comment into the configuration file of a home, in place of the table of this name if there is one. All lines
    /// of other tables remain, and comments and blank lines after its last key. Returns the path of the file.
    ///
    /// # Errors
    /// If the file cannot be read or written, or would not be valid.
    pub fn write_table(
        home: &Path,
        table: &str,
        comment: &str,
        entries: &[(&str, String)],
    ) -> anyhow::Result<PathBuf> {
        let path = home.join(FILE);
        let text = Self::with_table(&path, &read(&path)?, table, comment, entries)?;
        crate::provenance::write_atomically(&path, text.as_bytes())?;
        Ok(path)
    }

    /// Checks that [`write_table`](Self::write_table) can replace or add a table. The file keeps its content.
    ///
    /// # Errors
    /// If the file cannot be read or written, or would not be valid.
    pub fn check_table(home: &Path, table: &str) -> anyhow::Result<()> {
        let path = home.join(FILE);
        Self::with_table(&path, &read(&path)?, table, "", &[])?;
        crate::provenance::check_writable(&path)
    }

    /// Returns the text of a configuration file with a table at its end.
    ///
    /// # Errors
    /// If the text would not be valid.
    pub fn with_table(
        path: &Path,
        text: &str,
        table: &str,
        comment: &str,
        entries: &[(&str, String)],
    ) -> anyhow::Result<String> {
        let mut lines: Vec<&str> = Vec::new();
        let mut is_replaced = false;
        // Lines after the last key of the replaced table.
        let mut rest: Vec<&str> = Vec::new();
        for line in text.lines() {
            if line.trim_start().starts_with('[') {
                lines.append(&mut rest);
                is_replaced = table_name(line) == Some(table);
            } else if is_replaced && (line.trim().is_empty() || line.trim_start().starts_with('#'))
            {
                rest.push(line);
                continue;
            } else {
                rest.clear();
            }
            if !is_replaced {
                lines.push(line);
            }
        }
        lines.append(&mut rest);
        let before = Self::parse(path, text, &BTreeMap::new())?;
        while lines.last().is_some_and(|line| line.trim().is_empty()) {
            lines.pop();
        }
        let mut text = format!("{}\n\n[{table}]\n# {comment}\n", lines.join("\n"))
            .trim_start()
            .to_owned();
        for (key, value) in entries {
            text.push_str(&format!("{key} = {}\n", Value::from(value.as_str())));
        }
        let after = Self::parse(path, &text, &BTreeMap::new())?;
        // A line of a text of several lines may look like the header of a table.
        ensure!(
            other_entries(&before.values, table).eq(other_entries(&after.values, table)),
            "{}: cannot find the end of the table [{table}]; write its keys by hand",
            path.display()
        );
        Ok(text)
    }
}

/// Iterates over the entries of a configuration without those of one table.
fn other_entries<'v>(
    values: &'v Table,
    table: &'v str,
) -> impl Iterator<Item = (&'v String, &'v Value)> {
    values.iter().filter(move |(name, _)| *name != table)
}

/// Returns the name in the header of a table, such as `[ fusion ] # note`.
fn table_name(line: &str) -> Option<&str> {
    let (name, _) = line.trim_start().strip_prefix('[')?.split_once(']')?;
    Some(name.trim().trim_matches(['"', '\'']))
}

/// Makes a relative path in the file relative to the folder of the file.
fn resolve_path(values: &mut Table, key: &Key, folder: &Path) {
    let (table, name) = match key.path.split_once('.') {
        Some((table, name)) => (values.get_mut(table).and_then(Value::as_table_mut), name),
        None => (Some(values), key.path),
    };
    let Some(Value::String(text)) = table.and_then(|table| table.get_mut(name)) else {
        return;
    };
    let is_path = match key.kind {
        Kind::Path => true,
        Kind::Model => is_path(text),
        _ => false,
    };
    if is_path {
        *text = folder.join(&*text).to_string_lossy().into_owned();
    }
}

/// Returns true if the name of a model is the path of a folder, not the name of a model that the program finds itself.
pub fn is_path(model: &str) -> bool {
    model.contains(std::path::is_separator) || model.starts_with('.')
}

/// Parses the value of a variable.
///
/// # Errors
/// If it is no value of its key.
fn variable_value<S: Settings>(key: &Key, name: &str, text: &str) -> anyhow::Result<Value> {
    let value = match key.kind {
        Kind::Text | Kind::Path | Kind::Model => Value::from(text),
        Kind::Boolean => Value::Boolean(
            text.trim()
                .parse()
                .with_context(|| format!("{name}={text}: true or false is expected"))?,
        ),
        Kind::Number | Kind::Quantity(_) => {
            let number = text.trim().parse().with_context(|| {
                let expected = key.kind.describe();
                format!("{name}={text}: {expected} is expected")
            })?;
            Value::Integer(number)
        }
        Kind::List => Value::from(
            text.split(',')
                .map(|one| one.trim().to_owned())
                .collect::<Vec<_>>(),
        ),
        Kind::Harvests => {
            bail!("{name}={text}: scheduled harvests are set in the file, or by `serve --harvest`")
        }
    };
    // The value is parsed alone, so that the error names this variable.
    let mut alone = Table::new();
    insert_value(&mut alone, key.path, value.clone());
    match alone.try_into::<S>() {
        Ok(_) => Ok(value),
        Err(error) => bail!("{name}={text}: {}", error.message()),
    }
}

/// Sets the value of a key, which may be in a table.
fn insert_value(values: &mut Table, path: &str, value: Value) {
    match path.split_once('.') {
        Some((table, name)) => {
            let table = values
                .entry(table)
                .or_insert_with(|| Value::Table(Table::new()));
            if let Value::Table(table) = table {
                table.insert(name.to_owned(), value);
            }
        }
        None => {
            values.insert(path.to_owned(), value);
        }
    }
}

/// Returns a message for each variable that is neither a setting nor used otherwise.
fn unknown_variables(keys: &[Key], variables: &BTreeMap<String, String>) -> Vec<String> {
    let known: Vec<String> = keys.iter().map(Key::variable).collect();
    let mut messages = Vec::new();
    for name in variables.keys() {
        if !known.contains(name) && !OTHER_VARIABLES.contains(&name.as_str()) {
            let nearest = suggest_key(name, known.iter().map(String::as_str));
            let nearest = nearest
                .map(|nearest| format!("; did you mean {nearest}?"))
                .unwrap_or_default();
            messages.push(format!(
                "the variable {name} is no setting and is ignored{nearest}"
            ));
        }
    }
    messages
}

/// Returns the candidate most similar to a name, if one is similar. The last part of a key counts by itself, so that a key in
/// the wrong table is found.
fn suggest_key<'c>(name: &str, candidates: impl Iterator<Item = &'c str>) -> Option<&'c str> {
    let scored = candidates.map(|candidate| (key_similarity(name, candidate), candidate));
    let best = scored.max_by(|one, other| one.0.total_cmp(&other.0))?;
    (best.0 >= MIN_SIMILARITY).then_some(best.1)
}

/// Returns the higher of the similarities of two keys and of their last parts. At equal similarity, the whole key decides.
fn key_similarity(one: &str, other: &str) -> f64 {
    let whole = strsim::jaro_winkler(one, other);
    whole.max(strsim::jaro_winkler(last_part(one), last_part(other)) - 0.01)
}

/// Returns the part of a key after its last point.
fn last_part(key: &str) -> &str {
    key.rsplit('.').next().unwrap_or_default()
}

/// Reads a configuration file; the empty text if there is none.
///
/// # Errors
/// If the file cannot be read, or is not UTF-8.
pub fn read(path: &Path) -> anyhow::Result<String> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        // A home that is a file, or no folder yet, is reported by the command that needs it.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            Vec::new()
        }
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
    };
    String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = good.iter().filter(|byte| **byte == b'\n').count() + 1;
        anyhow!(
            "{}:{line}: the text is not UTF-8; correct it",
            path.display()
        )
    })
}

/// Returns the path of the configuration file of a home.
pub fn path(home: &Path) -> PathBuf {
    home.join(FILE)
}

/// Deserializes a value from a text by its parser.
///
/// # Errors
/// If the text is no such value.
pub fn parse_text<'de, D: Deserializer<'de>, T: FromStr<Err: fmt::Display>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    String::deserialize(deserializer)?
        .parse()
        .map(Some)
        .map_err(de::Error::custom)
}
