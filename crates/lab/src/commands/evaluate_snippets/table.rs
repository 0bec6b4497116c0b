//! Measures as a table, Markdown, CSV or JSON.

use super::Row;
use lodeseek_snippet::metrics::Report;
use serde_json::json;
use std::io::{self, Write};

/// Format of the measures.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Format {
    /// Columns for a terminal.
    #[default]
    Table,
    Markdown,
    Csv,
    Json,
}

const HEAD: [&str; 12] = [
    "method",
    "snippets",
    "empty",
    "triples",
    Report::NAMES[0],
    Report::NAMES[1],
    Report::NAMES[2],
    Report::NAMES[3],
    Report::NAMES[4],
    Report::NAMES[5],
    "mean ms",
    "p95 ms",
];

impl Format {
    pub(super) fn write(self, out: &mut impl Write, rows: &[Row]) -> io::Result<()> {
        let head = HEAD.map(str::to_owned);
        let cells: Vec<[String; 12]> = std::iter::once(head)
            .chain(rows.iter().map(format_cells))
            .collect();
        match self {
            Self::Table => write_columns(out, &cells),
            Self::Markdown => write_markdown(out, &cells),
            Self::Csv => cells
                .iter()
                .try_for_each(|row| writeln!(out, "{}", row.join(","))),
            Self::Json => {
                serde_json::to_writer_pretty(&mut *out, &json!(rows))?;
                writeln!(out)
            }
        }
    }
}

fn format_cells(row: &Row) -> [String; 12] {
    let [skm, ent, desc, link, kw, qry] = Report::NAMES.map(|name| match row.means.get(name) {
        Some(value) => format!("{value:.4}"),
        None => "-".to_owned(),
    });
    [
        row.method.clone(),
        row.snippets.to_string(),
        row.failures.to_string(),
        format!("{:.2}", row.triples),
        skm,
        ent,
        desc,
        link,
        kw,
        qry,
        format!("{:.2}", row.milliseconds),
        format!("{:.2}", row.p95_milliseconds),
    ]
}

fn write_columns(out: &mut impl Write, rows: &[[String; 12]]) -> io::Result<()> {
    let mut widths = [0; 12];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    for row in rows {
        write!(out, "{:<1$}", row[0], widths[0])?;
        for (cell, width) in row.iter().zip(widths).skip(1) {
            write!(out, "  {cell:>width$}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn write_markdown(out: &mut impl Write, rows: &[[String; 12]]) -> io::Result<()> {
    for (place, row) in rows.iter().enumerate() {
        writeln!(out, "| {} |", row.join(" | "))?;
        if place == 0 {
            writeln!(out, "|---|{}", "---:|".repeat(row.len() - 1))?;
        }
    }
    Ok(())
}
