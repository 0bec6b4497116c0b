//! Experiment files of all kinds. The key `task` selects the kind.

use super::{Condition, DataFinder, Iclr, Matches, Words};
use anyhow::{Context, ensure};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::fs;
use std::path::Path;

/// An experiment file.
#[derive(Clone, Debug)]
pub enum Experiment {
    /// Rankings with judgements: a file without `task`.
    Ranking(Box<Condition>),
    /// Datasets for research ideas: `task = "datafinder"`.
    DataFinder(Box<DataFinder>),
    /// Vectors of papers with labels: `task = "iclr"`.
    Iclr(Box<Iclr>),
    /// Good and weak matches: `task = "matches"`.
    Matches(Box<Matches>),
    /// Words as people type them: `task = "words"`.
    Words(Box<Words>),
}

/// The key that selects the kind of experiment. Without it, the file is a [`Condition`].
#[derive(Deserialize)]
struct Head {
    task: Option<Task>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Task {
    Datafinder,
    Iclr,
    Matches,
    Words,
}

/// Reads an experiment file of a known kind. Returns its content and its name: the name of the file without `.toml`.
///
/// # Errors
///
/// Fails if the file cannot be read or parsed.
pub(super) fn read_experiment_file<T: DeserializeOwned>(
    path: &Path,
) -> anyhow::Result<(T, String)> {
    let text = fs::read_to_string(path).with_context(|| {
        format!(
            "no condition at {}: give the path of a condition file; a NAME without .toml is the file acordar/NAME.toml of the \
             current folder, so names are for the root of the repository",
            path.display()
        )
    })?;
    let content = toml::from_str(&text).with_context(|| path.display().to_string())?;
    let name = path
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    Ok((content, name))
}

/// Describes the data that an experiment needs, for an error message. `source` is where to get them.
pub(super) fn describe_needed_data(name: &str, data: &Path, source: &str) -> String {
    format!(
        "{name} needs its data under {} ({})",
        data.display(),
        source.trim()
    )
}

/// Models whose scores an experiment file expects, by name or path. Arguments precede them.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExperimentModels {
    /// Model with one vector per text.
    pub dpr: Option<String>,
    /// Model with one vector per token.
    pub colbert: Option<String>,
    /// Learned sparse model.
    pub sparse: Option<String>,
}

/// Mandatory keys of a table in an experiment file.
struct MandatoryKeys {
    /// Path of the table, empty for the file itself. Of an array of tables, each one has the keys.
    table: &'static str,
    keys: &'static [&'static str],
}

/// Mandatory keys of a [`Condition`].
const MANDATORY_KEYS: [MandatoryKeys; 3] = [
    MandatoryKeys {
        table: "",
        keys: &["title", "about", "command", "get", "collection", "tables"],
    },
    MandatoryKeys {
        table: "collection",
        keys: &["qrels"],
    },
    MandatoryKeys {
        table: "tables",
        keys: &["id", "title", "source", "average", "measures"],
    },
];

/// Checks that a condition file has all mandatory keys. The parser would report them one by one.
///
/// # Errors
///
/// Fails with a list of all missing keys, or if the file cannot be read or parsed.
pub(super) fn check_mandatory_keys(path: &Path) -> anyhow::Result<()> {
    let (file, _) = read_experiment_file::<toml::Table>(path)?;
    let missing = missing_keys(&file);
    ensure!(
        missing.is_empty(),
        "{}: mandatory keys are missing: {}; docs/src/how-to/reproduce-results.md has an example",
        path.display(),
        missing.join(", ")
    );
    Ok(())
}

fn missing_keys(file: &toml::Table) -> Vec<String> {
    let mut missing = Vec::new();
    for MandatoryKeys { table, keys } in MANDATORY_KEYS {
        match (table, file.get(table)) {
            ("", _) => add_missing(&mut missing, "", file, keys),
            (_, Some(toml::Value::Table(one))) => {
                add_missing(&mut missing, &format!("[{table}] "), one, keys);
            }
            (_, Some(toml::Value::Array(all))) => {
                for (place, one) in all.iter().filter_map(toml::Value::as_table).enumerate() {
                    let name = format!("[[{table}]] {} ", place + 1);
                    add_missing(&mut missing, &name, one, keys);
                }
            }
            _ => {}
        }
    }
    missing
}

fn add_missing(missing: &mut Vec<String>, name: &str, table: &toml::Table, keys: &[&str]) {
    for key in keys {
        if !table.contains_key(*key) {
            missing.push(format!("{name}`{key}`"));
        }
    }
}

impl Experiment {
    /// Reads an experiment file.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read or parsed, or if it is inconsistent.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        // Only the kind is read here; its own reader rejects unknown keys.
        let (head, _) = read_experiment_file::<Head>(path)?;
        match head.task {
            None => Condition::read(path).map(|condition| Self::Ranking(Box::new(condition))),
            Some(Task::Datafinder) => {
                DataFinder::read(path).map(|experiment| Self::DataFinder(Box::new(experiment)))
            }
            Some(Task::Iclr) => Iclr::read(path).map(|iclr| Self::Iclr(Box::new(iclr))),
            Some(Task::Matches) => {
                Matches::read(path).map(|matches| Self::Matches(Box::new(matches)))
            }
            Some(Task::Words) => Words::read(path).map(|words| Self::Words(Box::new(words))),
        }
    }

    /// Returns the name of the file without `.toml`.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Ranking(condition) => &condition.name,
            Self::DataFinder(experiment) => &experiment.name,
            Self::Iclr(iclr) => &iclr.name,
            Self::Matches(matches) => &matches.name,
            Self::Words(words) => &words.name,
        }
    }

    /// Returns the models whose scores the file expects.
    #[must_use]
    pub fn models(&self) -> ExperimentModels {
        match self {
            Self::Ranking(condition) => condition.models.clone(),
            Self::DataFinder(experiment) => experiment.models.clone(),
            Self::Iclr(_) => ExperimentModels::default(),
            Self::Matches(matches) => matches.models.clone(),
            Self::Words(words) => words.models.clone(),
        }
    }

    /// Returns the shell command that runs the experiment.
    #[must_use]
    pub fn command(&self) -> &str {
        match self {
            Self::Ranking(condition) => &condition.command,
            Self::DataFinder(experiment) => &experiment.command,
            Self::Iclr(iclr) => &iclr.command,
            Self::Matches(matches) => &matches.command,
            Self::Words(words) => &words.command,
        }
    }

    /// Returns the description in a few sentences.
    #[must_use]
    pub fn about(&self) -> &str {
        match self {
            Self::Ranking(condition) => &condition.about,
            Self::DataFinder(experiment) => &experiment.about,
            Self::Iclr(iclr) => &iclr.about,
            Self::Matches(matches) => &matches.about,
            Self::Words(words) => &words.about,
        }
    }

    /// Returns the reason why the experiment has not been run yet, if so.
    #[must_use]
    pub fn awaits(&self) -> Option<&str> {
        match self {
            Self::Ranking(condition) => condition.awaits.as_deref(),
            Self::Words(words) => words.awaits.as_deref(),
            Self::DataFinder(_) | Self::Iclr(_) | Self::Matches(_) => None,
        }
    }

    /// Returns the names of its tables.
    #[must_use]
    pub fn tables(&self) -> Vec<String> {
        match self {
            Self::Ranking(condition) => condition
                .tables
                .iter()
                .map(|table| table.id.clone())
                .collect(),
            Self::DataFinder(experiment) => experiment.tables(),
            Self::Iclr(iclr) => vec![iclr.table.id.clone()],
            Self::Matches(_) => vec!["matches".to_owned()],
            Self::Words(words) => words.tables(),
        }
    }
}
