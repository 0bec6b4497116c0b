//! Configuration of a home: the keys that this program reads, and their settings by type.

pub(crate) mod command;
mod keys;
#[cfg(test)]
mod property_tests;
mod settings;

pub(crate) use keys::KEYS;
pub(crate) use lodeseek_cli::config::{Key, Kind, is_path};
pub(crate) use settings::{
    FusionSettings, HarvestSettings, RerankSettings, Settings, WORKER_MEGABYTES, parse_duration,
};

use anyhow::bail;
use lodeseek_engine::SettingFile;
use lodeseek_harvest::is_address;
use lodeseek_index::AnalysisKind;
use std::path::PathBuf;
use toml::Value;

/// Settings of file and variables, with the place of each.
pub(crate) type Config = lodeseek_cli::config::Config<Settings>;

/// Keys of folders that the program fills itself.
const OWN_FOLDERS: [&str; 2] = ["server.snapshot-cache", "server.backup-folder"];

impl lodeseek_cli::config::Settings for Settings {
    const KEYS: &'static [Key] = KEYS;
    const KEYS_IN_ARRAYS: &'static [&'static str] = &[
        "harvest.source",
        "harvest.protocol",
        "harvest.every",
        "harvest.download",
        "harvest.hosts",
    ];
    const IS_COMPLETE: bool = true;
}

/// Checks that the index has the configured analysis.
///
/// # Errors
/// If it has another one.
pub(crate) fn check_analysis(config: &Config, indexed: AnalysisKind) -> anyhow::Result<()> {
    let Some(set) = config.settings.analysis.filter(|set| *set != indexed) else {
        return Ok(());
    };
    let place = config.place("analysis");
    bail!(
        "{place}: `analysis` is {set}, but the index was made with {indexed}; run `lodeseek index`"
    )
}

/// Returns the files and folders that the settings name: those without which a server does not start, and the local sources of
/// its harvests. Caches are none.
pub(crate) fn setting_files(config: &Config) -> Vec<SettingFile> {
    let mut files = Vec::new();
    for key in KEYS.iter().filter(|key| !OWN_FOLDERS.contains(&key.path)) {
        let Some(text) = config.value(key.path).and_then(Value::as_str) else {
            continue;
        };
        let is_file = match key.kind {
            Kind::Path => true,
            Kind::Model => is_path(text),
            _ => false,
        };
        if is_file {
            files.push(SettingFile {
                key: key.path.to_owned(),
                path: PathBuf::from(text),
            });
        }
    }
    for harvest in &config.settings.harvest {
        if !is_address(&harvest.source) {
            files.push(SettingFile {
                key: "harvest.source".to_owned(),
                path: PathBuf::from(&harvest.source),
            });
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_cli::config::{FILE, Source};
    use std::fs;
    use std::path::Path;

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
            Config::check_table(home.path(), "fusion").expect("possible");
            Config::write_table(
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
            Config::check_table(home.path(), "fusion").is_err(),
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
        assert_eq!(config.settings.portal.title, Some("B".to_owned().into()));
        assert_eq!(
            config.settings.portal.description,
            Some("D".to_owned().into())
        );
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
        assert_eq!(
            (config.place("public-url"), config.place("portal.title")),
            (
                "home/lodeseek.toml:1".to_owned(),
                "LODESEEK_PORTAL_TITLE".to_owned()
            )
        );
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
                "[sparql]\ndeadline = \"soon\"",
                "home/lodeseek.toml:2: `sparql.deadline`: expected a number of seconds, 0 or more; found string \"soon\"",
            ),
            (
                "[server]\nsnippet-deadline = -1",
                "`server.snippet-deadline`: expected a number of milliseconds, 0 or more; found integer `-1`",
            ),
            (
                "[server]\nsnapshot-interval = 0",
                "`server.snapshot-interval`: expected a number of seconds, 1 or more; found integer `0`",
            ),
            (
                "[server]\nadmin = \"yes\"",
                "home/lodeseek.toml:2: `server.admin`: expected true or false; found string \"yes\"",
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
            (
                "[[harvest]]\nsource = \"a\"\nhosts = [\"files\"]",
                "home/lodeseek.toml:3: `harvest.hosts",
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
                "LODESEEK_SPARQL_DEADLINE",
                "soon",
                "LODESEEK_SPARQL_DEADLINE=soon: a number of seconds is expected",
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
    fn a_scheduled_harvest_allows_the_hosts_of_its_source_and_further_ones() {
        let text = "[[harvest]]\nsource = \"https://e.org/catalog.ttl\"\nhosts = [\"https://files.example.org/dumps/\"]\n\
                    [[harvest]]\nsource = \"https://other.example.org/\"\n";
        let config = parse(text, &[]).expect("valid");
        let schedule = crate::harvest::ScheduleArguments::default().schedule(&config, Vec::new());
        let mut listed = Vec::new();
        for source in &schedule.sources {
            let request = &source.request;
            let policy = request.policy(&request.sources).expect("a policy");
            let prefixes = policy.listed.iter().map(ToString::to_string);
            listed.push(prefixes.collect::<Vec<String>>());
        }
        assert_eq!(
            listed,
            [
                vec!["https://files.example.org/dumps/", "https://e.org/"],
                vec!["https://other.example.org/"]
            ]
        );
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
