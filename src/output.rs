//! Output format of commands that print results.

use super::terminal::Format;
use serde::Serialize;
use std::io::Write;

/// Output format, the same for all commands with results as text or JSON.
#[derive(clap::Args, Debug, Clone, Copy)]
pub(super) struct OutputArguments {
    /// Output format: text, or json for one JSON document.
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = parse)]
    format: Format,
    /// Short for `--format json`.
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

impl OutputArguments {
    /// Returns the requested format.
    pub(super) fn format(self) -> Format {
        if self.json { Format::Json } else { self.format }
    }

    /// Returns true if JSON is requested.
    pub(super) fn is_json(self) -> bool {
        self.format() == Format::Json
    }
}

/// Parses an output format.
fn parse(name: &str) -> Result<Format, String> {
    match name {
        "text" => Ok(Format::Text),
        "json" => Ok(Format::Json),
        _ => {
            Err("supported formats: text, json; `search` filters by the format of files with --filter format=CSV".to_owned())
        }
    }
}

/// Writes a value as an indented JSON document that ends with a line break.
pub(super) fn write_json(out: &mut impl Write, value: &impl Serialize) -> anyhow::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value)?;
    writeln!(out)?;
    Ok(())
}
