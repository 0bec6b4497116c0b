//! Log messages on stderr: text for people, or one JSON object a line for programs.
//!
//! A server writes them on a thread of its own: a program that does not read its stderr must not stop it.

use super::streams::messages;
use anyhow::Context;
use serde::Deserialize;
use std::env::{self, VarError};
use std::io::{self, IsTerminal};
use tracing_appender::non_blocking::{NonBlocking, WorkerGuard};
use tracing_subscriber::fmt::writer::BoxMakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, Registry};

/// Format of log messages.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum LogFormat {
    /// One line of text for each message. Coloured if stderr is a terminal and NO_COLOR is not set.
    Text,
    /// One JSON object for each message, for log collectors.
    Json,
}

/// Default filter of log messages.
pub const DEFAULT_FILTER: &str = "lodeseek=info,warn";

/// Writer of log messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LogWriter {
    /// The thread that logs a message writes it. Messages are in order with all other output.
    Direct,
    /// A thread of its own writes the messages. While nobody reads them, up to 128,000 wait; further ones are dropped.
    Background,
}

/// Settings of log messages.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct LogSettings {
    /// Filter of log messages, as in `RUST_LOG`, which precedes it.
    pub filter: Option<String>,
    /// Address of an OpenTelemetry collector.
    pub otlp: Option<String>,
}

/// Filter of log messages, and the reason why `RUST_LOG` does not set it.
#[derive(Debug)]
pub struct LogFilter {
    /// The filter.
    pub filter: EnvFilter,
    /// Warning about an invalid `RUST_LOG`, which is ignored.
    pub warning: Option<String>,
}

impl LogSettings {
    /// Returns the filter of log messages by `RUST_LOG`, the settings or the default. `place` is the place of the setting.
    ///
    /// # Errors
    /// If the configured filter is not valid.
    pub fn filter(&self, place: &str) -> anyhow::Result<LogFilter> {
        self.filter_with(env::var(EnvFilter::DEFAULT_ENV), place)
    }

    /// Returns the filter for a value of `RUST_LOG`.
    fn filter_with(
        &self,
        variable: Result<String, VarError>,
        place: &str,
    ) -> anyhow::Result<LogFilter> {
        let configured = self.filter.as_deref().unwrap_or(DEFAULT_FILTER);
        let reason = match variable {
            Ok(text) => match EnvFilter::try_new(&text) {
                Ok(filter) => {
                    return Ok(LogFilter {
                        filter,
                        warning: None,
                    });
                }
                Err(error) => Some(format!("{text:?}: {error}")),
            },
            Err(VarError::NotUnicode(text)) => Some(format!("{text:?} is not in UTF-8")),
            Err(VarError::NotPresent) => None,
        };
        let filter = EnvFilter::try_new(configured).with_context(|| {
            format!("{place}: `log.filter`: {configured:?} is no filter; write for example {DEFAULT_FILTER:?}")
        })?;
        Ok(LogFilter {
            filter,
            warning: reason.map(|reason| {
                format!(
                    "RUST_LOG is ignored, and the filter {configured:?} is used: {reason}; write for example {DEFAULT_FILTER:?}"
                )
            }),
        })
    }
}

/// Layer that records spans and messages elsewhere, for example in traces.
pub type OtherLayer = Box<dyn Layer<Registry> + Send + Sync>;

/// Sets up logging for the process. Dropping the returned guard writes the messages that wait, for at most a second.
pub fn init(
    format: LogFormat,
    writer: LogWriter,
    filter: EnvFilter,
    other: Option<OtherLayer>,
) -> Option<WorkerGuard> {
    let (writer, guard) = match writer {
        LogWriter::Direct => (BoxMakeWriter::new(messages), None),
        LogWriter::Background => {
            let (writer, guard) = NonBlocking::new(messages());
            (BoxMakeWriter::new(writer), Some(guard))
        }
    };
    let log = tracing_subscriber::fmt::layer()
        .with_writer(writer)
        .with_target(false);
    let log = match format {
        LogFormat::Text => log.with_ansi(has_colours()).boxed(),
        LogFormat::Json => log
            .json()
            .flatten_event(true)
            .with_current_span(false)
            .with_span_list(false)
            .boxed(),
    };
    tracing_subscriber::registry()
        .with(other)
        .with(log.with_filter(filter))
        .init();
    guard
}

/// Returns true if stderr is a terminal that shows colours. Files and pipes get plain text.
fn has_colours() -> bool {
    io::stderr().is_terminal() && !anstyle_query::no_color() && anstyle_query::term_supports_color()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invalid_variable_is_reported() {
        let settings = LogSettings {
            filter: Some("warn".to_owned()),
            ..LogSettings::default()
        };
        for (variable, filter, warning) in [
            (Ok("lodeseek=debug".to_owned()), "lodeseek=debug", ""),
            (Err(VarError::NotPresent), "warn", ""),
            (
                Ok("lodeseek=loud".to_owned()),
                "warn",
                "RUST_LOG is ignored, and the filter \"warn\" is used: \"lodeseek=loud\": ",
            ),
        ] {
            let chosen = settings
                .filter_with(variable, "here")
                .expect("a valid setting");
            assert_eq!(chosen.filter.to_string(), filter);
            let text = chosen.warning.unwrap_or_default();
            assert!(text.starts_with(warning), "{text}");
            assert_eq!(text.is_empty(), warning.is_empty(), "{text}");
        }
    }
}
