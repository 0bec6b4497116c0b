//! Configuration of a home: the file `lodeseek.toml` in it, and variables `LODESEEK_…`.
//!
//! Precedence: flag, variable, file, default. This module merges variables and file; commands apply their flags.

pub(crate) mod command;
mod file;
mod keys;
#[cfg(test)]
mod property_tests;
mod settings;

pub(crate) use keys::{KEYS, Key, Kind};
pub(crate) use settings::{FusionSettings, HarvestSettings, Settings, WORKER_MEGABYTES, duration};

use anyhow::{Context, anyhow, bail, ensure};
use file::ConfigFile;
use lodeseek_engine::SettingFile;
use lodeseek_harvest::is_address;
use lodeseek_index::AnalysisKind;
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// Name of the configuration file in a home.
pub(crate) const FILE: &str = lodeseek_store::SETTINGS;
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
/// Keys of folders that the program fills itself.
const OWN_FOLDERS: [&str; 2] = ["server.snapshot-cache", "server.backup-folder"];
/// Minimum similarity of a suggested key to an unknown one.
const MIN_SIMILARITY: f64 = 0.8;

/// Place of a setting.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Source {
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
pub(crate) struct Config {
    pub(crate) settings: Settings,
    sources: BTreeMap<&'static str, Source>,
    values: Table,
    /// Messages about variables that look like settings, and are none.
    pub(crate) unknown_variables: Vec<String>,
}

impl Config {
    /// Reads the configuration of a home: its file, if there is one, and the environment.
    ///
    /// # Errors
    /// If the file is not valid TOML, or a key or a value of file or environment is not valid.
    pub(crate) fn load(home: &Path) -> anyhow::Result<Self> {
        let path = home.join(FILE);
        let text = read(&path)?;
        let variables = std::env::vars_os().filter_map(|(name, value)| {
            let name = name.to_str().filter(|name| name.starts_with(PREFIX))?;
            Some((name.to_owned(), value.to_str()?.to_owned()))
        });
        Self::parse(&path, &text, &variables.collect())
    }

    /// Parses the text of a file, and variables by name.
    fn parse(
        path: &Path,
        text: &str,
        variables: &BTreeMap<String, String>,
    ) -> anyhow::Result<Self> {
        let file = ConfigFile::parse(path, text)?;
        let mut config = Self {
            values: file.values()?,
            ..Self::default()
        };
        for key in KEYS {
            if let Some(line) = file.line(key.path) {
                config.sources.insert(key.path, Source::File(line));
            }
            resolve_path(
                &mut config.values,
                key,
                path.parent().unwrap_or(Path::new("")),
            );
        }
        for key in KEYS {
            let name = key.variable();
            if let Some(text) = variables.get(&name).filter(|text| !text.is_empty()) {
                insert(
                    &mut config.values,
                    key.path,
                    variable_value(key, &name, text)?,
                );
                config.sources.insert(key.path, Source::Variable(name));
            }
        }
        config.settings = config
            .values
            .clone()
            .try_into()
            .context("the configuration")?;
        config.unknown_variables = unknown_variables(variables);
        Ok(config)
    }

    /// Checks that the index has the configured analysis.
    ///
    /// # Errors
    /// If it has another one.
    pub(crate) fn check_analysis(&self, indexed: AnalysisKind) -> anyhow::Result<()> {
        let Some(set) = self.settings.analysis.filter(|set| *set != indexed) else {
            return Ok(());
        };
        let place = self
            .source("analysis")
            .map(ToString::to_string)
            .unwrap_or_default();
        bail!(
            "{place}: `analysis` is {set}, but the index was made with {indexed}; run `lodeseek index`"
        )
    }

    /// Returns the files and folders that the settings name: those without which a server does not start, and the local sources of
    /// its harvests. Caches are none.
    pub(crate) fn files(&self) -> Vec<SettingFile> {
        let mut files = Vec::new();
        for key in KEYS.iter().filter(|key| !OWN_FOLDERS.contains(&key.path)) {
            let is_file = match (key.kind, self.value(key.path).and_then(Value::as_str)) {
                (Kind::Path, Some(_)) => true,
                (Kind::Model, Some(model)) => is_path(model),
                _ => false,
            };
            if let Some(path) = self
                .value(key.path)
                .and_then(Value::as_str)
                .filter(|_| is_file)
            {
                files.push(SettingFile {
                    key: key.path.to_owned(),
                    path: PathBuf::from(path),
                });
            }
        }
        for harvest in &self.settings.harvest {
            if !is_address(&harvest.source) {
                files.push(SettingFile {
                    key: "harvest.source".to_owned(),
                    path: PathBuf::from(&harvest.source),
                });
            }
        }
        files
    }

    /// Returns the place of a setting. `None` for a default.
    pub(crate) fn source(&self, key: &str) -> Option<&Source> {
        self.sources.get(key)
    }

    /// Returns the value of a setting in TOML. `None` for a default.
    pub(crate) fn value(&self, key: &str) -> Option<&Value> {
        let mut parts = key.split('.');
        let first = self.values.get(parts.next()?)?;
        parts.try_fold(first, |value, part| value.as_table()?.get(part))
    }
}

/// Writes a table with a comment into the configuration file of a home, in place of the table of this name if there is one. All lines
/// of other tables remain, and comments and blank lines after its last key. Returns the path of the file.
///
/// # Errors
/// If the file cannot be read or written, or would not be valid.
pub(crate) fn write_table(
    home: &Path,
    table: &str,
    comment: &str,
    entries: &[(&str, String)],
) -> anyhow::Result<PathBuf> {
    let path = home.join(FILE);
    let text = with_table(&path, &read(&path)?, table, comment, entries)?;
    super::provenance::write_atomically(&path, text.as_bytes())?;
    Ok(path)
}

/// Checks that [`write_table`] can replace or add a table. The file keeps its content.
///
/// # Errors
/// If the file cannot be read or written, or would not be valid.
pub(crate) fn check_table(home: &Path, table: &str) -> anyhow::Result<()> {
    let path = home.join(FILE);
    with_table(&path, &read(&path)?, table, "", &[])?;
    super::provenance::check_writable(&path)
}

/// Returns the text of a configuration file with a table at its end.
fn with_table(
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
        } else if is_replaced && (line.trim().is_empty() || line.trim_start().starts_with('#')) {
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
    let before = Config::parse(path, text, &BTreeMap::new())?;
    while lines.last().is_some_and(|line| line.trim().is_empty()) {
        lines.pop();
    }
    let mut text = format!("{}\n\n[{table}]\n# {comment}\n", lines.join("\n"))
        .trim_start()
        .to_owned();
    for (key, value) in entries {
        text.push_str(&format!("{key} = {}\n", Value::from(value.as_str())));
    }
    let after = Config::parse(path, &text, &BTreeMap::new())?;
    // A line of a text of several lines may look like the header of a table.
    let is_other = |(name, _): &(&String, &Value)| *name != table;
    ensure!(
        before
            .values
            .iter()
            .filter(is_other)
            .eq(after.values.iter().filter(is_other)),
        "{}: cannot find the end of the table [{table}]; write its keys by hand",
        path.display()
    );
    Ok(text)
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
pub(crate) fn is_path(model: &str) -> bool {
    model.contains(std::path::is_separator) || model.starts_with('.')
}

/// Parses the value of a variable.
///
/// # Errors
/// If it is no value of its key.
fn variable_value(key: &Key, name: &str, text: &str) -> anyhow::Result<Value> {
    let wrong = |expected: &str| format!("{name}={text}: {expected}");
    let value = match key.kind {
        Kind::Text | Kind::Path | Kind::Model => Value::from(text),
        Kind::Boolean => Value::Boolean(
            text.trim()
                .parse()
                .with_context(|| wrong("true or false is expected"))?,
        ),
        Kind::Number => Value::Integer(
            text.trim()
                .parse()
                .with_context(|| wrong("a number is expected"))?,
        ),
        Kind::List => Value::from(
            text.split(',')
                .map(|one| one.trim().to_owned())
                .collect::<Vec<_>>(),
        ),
        Kind::Harvests => bail!(wrong(
            "scheduled harvests are set in the file, or by `serve --harvest`"
        )),
    };
    let mut alone = Table::new();
    insert(&mut alone, key.path, value.clone());
    match alone.try_into::<Settings>() {
        Ok(_) => Ok(value),
        Err(error) => bail!(wrong(error.message())),
    }
}

fn insert(values: &mut Table, path: &str, value: Value) {
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
fn unknown_variables(variables: &BTreeMap<String, String>) -> Vec<String> {
    let known: Vec<String> = KEYS.iter().map(Key::variable).collect();
    let mut messages = Vec::new();
    for name in variables.keys() {
        if !known.contains(name) && !OTHER_VARIABLES.contains(&name.as_str()) {
            let nearest = suggestion(name, known.iter().map(String::as_str));
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
fn suggestion<'c>(name: &str, candidates: impl Iterator<Item = &'c str>) -> Option<&'c str> {
    let last = |key: &str| key.rsplit('.').next().unwrap_or_default().to_owned();
    let similarity = |candidate: &str| {
        let whole = strsim::jaro_winkler(name, candidate);
        whole.max(strsim::jaro_winkler(&last(name), &last(candidate)) - 0.01)
    };
    let scored = candidates.map(|candidate| (similarity(candidate), candidate));
    let best = scored.max_by(|one, other| one.0.total_cmp(&other.0))?;
    (best.0 >= MIN_SIMILARITY).then_some(best.1)
}

/// Reads a configuration file; the empty text if there is none.
fn read(path: &Path) -> anyhow::Result<String> {
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
pub(crate) fn path(home: &Path) -> PathBuf {
    home.join(FILE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str, variables: &[(&str, &str)]) -> anyhow::Result<Config> {
        let variables = variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        Config::parse(Path::new("home/lodeseek.toml"), text, &variables)
    }

    fn error(text: &str, variables: &[(&str, &str)]) -> String {
        format!("{:#}", parse(text, variables).expect_err(text))
    }

    #[test]
    fn a_written_table_replaces_the_old_one_in_any_form() {
        let home = tempfile::tempdir().expect("a folder");
        let path = home.path().join(FILE);
        let new = "[fusion]\n# Learned.\nweights = \"1,2\"\n";
        for header in ["[fusion]", "[fusion] # note", "[ fusion ]"] {
            let old = format!(
                "ranking = \"best\"\n\n{header}\n# Old.\nweights = \"1,1\"\n\n# Of the portal.\n[portal]\n"
            );
            fs::write(&path, old).expect("written");
            check_table(home.path(), "fusion").expect("possible");
            write_table(
                home.path(),
                "fusion",
                "Learned.",
                &[("weights", "1,2".to_owned())],
            )
            .expect("written");
            let expected = format!("ranking = \"best\"\n\n\n# Of the portal.\n[portal]\n\n{new}");
            assert_eq!(
                fs::read_to_string(&path).expect("a file"),
                expected,
                "{header}"
            );
        }
        fs::write(&path, "fusion.weights = \"1,1\"\n").expect("written");
        assert!(
            check_table(home.path(), "fusion").is_err(),
            "a key outside of a table of its own"
        );
        assert_eq!(fs::read_dir(home.path()).expect("a folder").count(), 1);
    }

    #[test]
    fn a_variable_precedes_the_file() {
        let text =
            "public-url = \"https://a.example/\"\n[portal]\ntitle = \"A\"\ndescription = \"D\"\n";
        let config = parse(
            text,
            &[("LODESEEK_PORTAL_TITLE", "B"), ("LODESEEK_PUBLIC_URL", "")],
        )
        .expect("valid");
        assert_eq!(config.settings.portal.title.as_deref(), Some("B"));
        assert_eq!(config.settings.portal.description.as_deref(), Some("D"));
        assert_eq!(
            config
                .settings
                .public_url
                .as_ref()
                .map(ToString::to_string)
                .as_deref(),
            Some("https://a.example/")
        );
        assert_eq!(
            config.source("portal.title"),
            Some(&Source::Variable("LODESEEK_PORTAL_TITLE".to_owned()))
        );
        assert_eq!(config.source("portal.description"), Some(&Source::File(4)));
        assert_eq!(
            config.source("public-url"),
            Some(&Source::File(1)),
            "an empty variable is not set"
        );
        assert_eq!(config.source("ranking"), None);
    }

    #[test]
    fn unknown_keys_are_errors_with_line_and_suggestion() {
        for (text, expected) in [
            (
                "\nrankin = \"best\"",
                "home/lodeseek.toml:2: unknown key `rankin`; did you mean `ranking`?",
            ),
            (
                "title = \"A\"",
                "home/lodeseek.toml:1: unknown key `title`; did you mean `portal.title`?",
            ),
            (
                "[portal]\n\ntitel = \"A\"",
                "home/lodeseek.toml:3: unknown key `portal.titel`; did you mean `portal.title`?",
            ),
            (
                "[portl]\ntitle = \"A\"",
                "home/lodeseek.toml:1: unknown table `portl`; did you mean `portal`?",
            ),
            (
                "[[harvest]]\nsource = \"a\"\nevry = \"1h\"",
                ":3: unknown key `harvest.evry`; did you mean `harvest.every`?",
            ),
            (
                "zzz = 1",
                "home/lodeseek.toml:1: unknown key `zzz`; `lodeseek config show` lists all keys",
            ),
        ] {
            let error = error(text, &[]);
            assert!(error.contains(expected), "{text}: {error}");
        }
        let both = error("a1 = 1\nb2 = 2", &[]);
        assert!(
            both.contains(":1: unknown key `a1`") && both.contains(":2: unknown key `b2`"),
            "{both}"
        );
    }

    #[test]
    fn wrong_values_are_errors_with_line_and_key() {
        for (text, expected) in [
            (
                "base = \"http://e.org/\"\nthis is no TOML",
                "home/lodeseek.toml:2: ",
            ),
            (
                "[sparql]\nrows = \"many\"",
                "home/lodeseek.toml:2: `sparql.rows`: ",
            ),
            (
                "[server]\nadmin = \"yes\"",
                "home/lodeseek.toml:2: `server.admin`: ",
            ),
            (
                "[server]\nmax-connections = 0",
                "home/lodeseek.toml:2: `server.max-connections`: ",
            ),
            (
                "[server]\nworker-memory = 8",
                "home/lodeseek.toml:2: `server.worker-memory`: 8 is not from 16 to 1048576 megabytes",
            ),
            (
                "ranking = \"bets\"",
                "home/lodeseek.toml:1: `ranking`: unknown ranking \"bets\"; supported: words, balanced, best",
            ),
            (
                "public-url = \"https://e.org/?x\"",
                ":1: `public-url`: \"https://e.org/?x\" is not a public URL",
            ),
            (
                "[server]\ntrusted-proxies = [\n\"10.0.0.1\",\n\"here\"]",
                "`server.trusted-proxies`: ",
            ),
            ("portal = 3", "home/lodeseek.toml:1: `portal`: "),
            (
                "[[harvest]]\nevery = \"1h\"",
                "`harvest`: missing field `source`",
            ),
            (
                "[[harvest]]\nsource = \"a\"\nevery = \"1 fortnight\"",
                "home/lodeseek.toml:3: `harvest.every`: ",
            ),
        ] {
            let error = error(text, &[]);
            assert!(error.contains(expected), "{text}: {error}");
        }
        for (name, value, expected) in [
            (
                "LODESEEK_SPARQL_ROWS",
                "many",
                "LODESEEK_SPARQL_ROWS=many: a number is expected",
            ),
            (
                "LODESEEK_RANKING",
                "bets",
                "LODESEEK_RANKING=bets: unknown ranking",
            ),
            (
                "LODESEEK_SERVER_ADMIN",
                "1",
                "LODESEEK_SERVER_ADMIN=1: true or false is expected",
            ),
            (
                "LODESEEK_SERVER_WORKER_MEMORY",
                "8",
                "LODESEEK_SERVER_WORKER_MEMORY=8: 8 is not from 16 to 1048576",
            ),
            (
                "LODESEEK_HARVEST",
                "http://e.org/",
                "LODESEEK_HARVEST=http://e.org/: scheduled harvests are set in the file",
            ),
        ] {
            let error = error("", &[(name, value)]);
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn unknown_variables_are_named() {
        let variables = [
            ("LODESEEK_PORTAL_TITEL", "A"),
            ("LODESEEK_HOME", "x"),
            ("LODESEEK_RANKING", "best"),
        ];
        let config = parse("", &variables).expect("valid");
        assert_eq!(config.unknown_variables.len(), 1);
        assert!(config.unknown_variables[0].ends_with("did you mean LODESEEK_PORTAL_TITLE?"));
    }

    #[test]
    fn relative_paths_of_the_file_begin_at_the_home() {
        let text = "[encoders]\ndpr = \"lodeseek-minilm\"\ncolbert = \"models/x\"\n[server]\noperator-token-file = \"token\"";
        let config = parse(text, &[("LODESEEK_ENCODERS_ONNXRUNTIME", "lib/x.so")]).expect("valid");
        let Settings {
            encoders, server, ..
        } = &config.settings;
        assert_eq!(encoders.dpr.as_deref(), Some("lodeseek-minilm"));
        assert_eq!(encoders.colbert.as_deref(), Some("home/models/x"));
        assert_eq!(
            server.operator_token_file.as_deref(),
            Some(Path::new("home/token"))
        );
        assert_eq!(
            encoders.onnxruntime.as_deref(),
            Some(Path::new("lib/x.so")),
            "variables begin at the working folder"
        );
    }
}
