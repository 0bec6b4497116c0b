#![doc = include_str!("../README.md")]

pub mod config;
pub mod documentation;
pub mod encoder;
pub mod errors;
pub mod installation;
pub mod logging;
pub mod method;
pub mod model;
pub mod provenance;
pub mod ranking_record;
pub mod streams;
pub mod terminal;
pub mod values;

pub use errors::{ExitStatus, exit_code};

use logging::LogFormat;
use std::path::PathBuf;

/// Arguments of every command.
#[derive(clap::Args, Debug)]
pub struct GlobalArguments {
    /// Folder of the collection.
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        default_value = "lodeseek-home",
        env = "LODESEEK_HOME"
    )]
    pub home: PathBuf,
    /// Format of log messages on stderr: text, or json for one object a line.
    #[arg(
        long,
        global = true,
        value_enum,
        hide_possible_values = true,
        value_name = "FORMAT",
        default_value = "text",
        env = "LODESEEK_LOG_FORMAT"
    )]
    pub log_format: LogFormat,
}
