//! Settings that the program reads from the configuration of a home. `lodeseek` checks the others.

use lodeseek_cli::config::{
    ENCODERS_DEVICE, ENCODERS_ONNXRUNTIME, ENCODERS_THREADS, Key, LOG_FILTER, MODELS,
};
use lodeseek_cli::encoder::EncoderSettings;
use lodeseek_cli::logging::LogSettings;
use serde::Deserialize;
use std::path::PathBuf;

/// Settings of file and variables, with the place of each.
pub(crate) type Config = lodeseek_cli::config::Config<Settings>;

/// Settings of experiments. Everything that ranks is an argument, so that a command states all of its experiment.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Settings {
    /// Folder of models by name.
    pub(crate) models: Option<PathBuf>,
    pub(crate) encoders: EncoderSettings,
    pub(crate) log: LogSettings,
}

impl lodeseek_cli::config::Settings for Settings {
    const KEYS: &'static [Key] = &[
        MODELS,
        ENCODERS_DEVICE,
        ENCODERS_THREADS,
        ENCODERS_ONNXRUNTIME,
        LOG_FILTER,
    ];
    const KEYS_IN_ARRAYS: &'static [&'static str] = &[];
    const IS_COMPLETE: bool = false;
}

#[cfg(test)]
mod tests {
    use super::Config;
    use std::collections::BTreeMap;
    use std::path::Path;

    fn parse(text: &str) -> anyhow::Result<Config> {
        let variables = [
            ("LODESEEK_ENCODERS_THREADS", "3"),
            ("LODESEEK_PORTAL_TITLE", "Trees"),
        ];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let variables = BTreeMap::from(variables);
        Config::parse(Path::new("home/lodeseek.toml"), text, &variables)
    }

    #[test]
    fn settings_of_the_other_program_are_ignored() {
        let text = "models = \"m\"\nranking = \"words\"\n[encoders]\ndpr = \"x\"\nthreads = 2\n[portal]\ntitle = 1";
        let config = parse(text).expect("valid");
        let settings = &config.settings;
        assert_eq!(settings.models.as_deref(), Some(Path::new("home/m")));
        let threads = settings.encoders.threads.map(|threads| threads.get());
        assert_eq!(threads, Some(3), "a variable precedes the file");
        assert!(config.unknown_variables.is_empty());
    }

    #[test]
    fn a_wrong_value_is_an_error_with_its_line() {
        let error = parse("[encoders]\ndevice = \"tpu\"").expect_err("no device");
        let error = format!("{error:#}");
        assert!(
            error.starts_with("home/lodeseek.toml:2: `encoders.device`: "),
            "{error}"
        );
    }
}
