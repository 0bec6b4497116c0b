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
            .chain(rows.iter().map(cells))
            .collect();
        match self {
            Self::Table => aligned(out, &cells),
            Self::Markdown => markdown(out, &cells),
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

fn cells(row: &Row) -> [String; 12] {
    let measure = |name| {
        row.means
            .get(name)
            .map_or_else(|| "-".to_owned(), |value| format!("{value:.4}"))
    };
    let [skm, ent, desc, link, kw, qry] = Report::NAMES.map(measure);
    let number = |value: f64| format!("{value:.2}");
    [
        row.method.clone(),
        row.snippets.to_string(),
        row.failures.to_string(),
        number(row.triples),
        skm,
        ent,
        desc,
        link,
        kw,
        qry,
        number(row.milliseconds),
        number(row.p95_milliseconds),
    ]
}

fn aligned(out: &mut impl Write, rows: &[[String; 12]]) -> io::Result<()> {
    let width = |column: usize| {
        rows.iter()
            .map(|row| row[column].chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: [usize; 12] = std::array::from_fn(width);
    for row in rows {
        write!(out, "{:<1$}", row[0], widths[0])?;
        for (cell, width) in row.iter().zip(widths).skip(1) {
            write!(out, "  {cell:>width$}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn markdown(out: &mut impl Write, rows: &[[String; 12]]) -> io::Result<()> {
    for (place, row) in rows.iter().enumerate() {
        writeln!(out, "| {} |", row.join(" | "))?;
        if place == 0 {
            writeln!(out, "|---|{}", "---:|".repeat(row.len() - 1))?;
        }
    }
    Ok(())
}
