//! Log messages on stderr: text for people, or one JSON object a line for programs.

use super::config::Config;
use anyhow::Context;
use std::io::{self, IsTerminal};
use tracing_subscriber::EnvFilter;

/// Format of log messages.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LogFormat {
    /// One line of text for each message. Coloured if stderr is a terminal and NO_COLOR is not set.
    Text,
    /// One JSON object for each message, for log collectors.
    Json,
}

/// Default filter of log messages.
pub(super) const DEFAULT_FILTER: &str = "lodeseek=info,warn";

/// Sets up logging for the process, filtered by `RUST_LOG`, the configuration or the default.
///
/// # Errors
/// If the configured filter is not valid.
pub(super) fn init(format: LogFormat, config: &Config) -> anyhow::Result<()> {
    let configured = config.settings.log.filter.as_deref().unwrap_or(DEFAULT_FILTER);
    let filter = match EnvFilter::try_from_default_env() {
        Ok(filter) => filter,
        Err(_) => EnvFilter::try_new(configured).with_context(|| {
            let place = config.source("log.filter").map(ToString::to_string).unwrap_or_default();
            format!("{place}: `log.filter`: {configured:?} is no filter; write for example {DEFAULT_FILTER:?}")
        })?,
    };
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).with_target(false);
    match format {
        LogFormat::Text => log.with_ansi(has_colours()).init(),
        LogFormat::Json => log.json().flatten_event(true).with_current_span(false).with_span_list(false).init(),
    }
    for message in &config.unknown_variables {
        tracing::warn!("{message}");
    }
    Ok(())
}

/// Returns true if stderr is a terminal that shows colours. Files and pipes get plain text.
fn has_colours() -> bool {
    io::stderr().is_terminal() && !anstyle_query::no_color() && anstyle_query::term_supports_color()
}
