//! Log messages on stderr: text for people, or one JSON object a line for programs.
//!
//! A server writes them on a thread of its own: a program that does not read its stderr must not stop it.

use super::config::Config;
use super::traces::Traces;
use anyhow::Context;
use std::io::{self, IsTerminal};
use tracing_appender::non_blocking::{NonBlocking, WorkerGuard};
use tracing_subscriber::fmt::writer::BoxMakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer};

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

/// Writer of log messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LogWriter {
    /// The thread that logs a message writes it. Messages are in order with all other output.
    Direct,
    /// A thread of its own writes the messages. While nobody reads them, up to 128,000 wait; further ones are dropped.
    Background,
}

/// Logging and traces of the process. Dropping the value sends the spans that wait, and then writes the messages that wait,
/// for at most a second.
pub(super) struct Logging {
    // The order of the fields is that in which they are dropped: the end of the traces may be logged.
    _traces: Option<Traces>,
    _writer: Option<WorkerGuard>,
}

/// Sets up logging for the process, filtered by `RUST_LOG`, the configuration or the default, and traces.
///
/// # Errors
/// If the configured filter is not valid.
pub(super) fn init(
    format: LogFormat,
    writer: LogWriter,
    traces: Option<Traces>,
    config: &Config,
) -> anyhow::Result<Logging> {
    let configured = config
        .settings
        .log
        .filter
        .as_deref()
        .unwrap_or(DEFAULT_FILTER);
    let filter = match EnvFilter::try_from_default_env() {
        Ok(filter) => filter,
        Err(_) => EnvFilter::try_new(configured).with_context(|| {
            let place = config.source("log.filter").map(ToString::to_string).unwrap_or_default();
            format!("{place}: `log.filter`: {configured:?} is no filter; write for example {DEFAULT_FILTER:?}")
        })?,
    };
    let (writer, guard) = match writer {
        LogWriter::Direct => (BoxMakeWriter::new(io::stderr), None),
        LogWriter::Background => {
            let (writer, guard) = NonBlocking::new(io::stderr());
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
        .with(log.with_filter(filter))
        .with(traces.as_ref().map(Traces::layer))
        .init();
    for message in &config.unknown_variables {
        tracing::warn!("{message}");
    }
    Ok(Logging {
        _traces: traces,
        _writer: guard,
    })
}

/// Returns true if stderr is a terminal that shows colours. Files and pipes get plain text.
fn has_colours() -> bool {
    io::stderr().is_terminal() && !anstyle_query::no_color() && anstyle_query::term_supports_color()
}
