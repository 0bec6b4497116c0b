#![doc = include_str!("../README.md")]

mod cube;
pub mod csvw;
mod delimited;
mod descriptors;
mod dialect;
mod encoding;
mod geometry;
mod iri;
mod json;
mod json_stat;
mod layout;
pub mod limits;
mod output;
mod parquet_file;
mod px;
mod recognition;
mod records;
mod table;
#[cfg(test)]
mod test_sink;
mod value;
mod values;
mod wkb;
mod workbook;
mod xml;

use lodeseek_rdf::TripleSink;
use lodeseek_rdf::dump::{DocumentHead, FileReport, Limits, Problem, TableReader};
use output::Output;
use recognition::{Format, is_table_media_type, recognize};

pub use recognition::has_table_suffix;
use std::io::{self, Read};
use table::TablePlace;

/// Reader of all formats of this crate, for [`DumpReader::with_tables`](lodeseek_rdf::dump::DumpReader::with_tables).
#[derive(Clone, Copy, Debug, Default)]
pub struct Tables;

impl TableReader for Tables {
    fn recognizes(&self, document: &DocumentHead<'_>) -> bool {
        format_of(document).is_some()
    }

    fn read(
        &self,
        document: &DocumentHead<'_>,
        content: &mut dyn Read,
        base: &str,
        limits: &Limits,
        sink: &mut dyn TripleSink,
        report: &mut FileReport,
    ) -> io::Result<()> {
        let Some(format) = format_of(document) else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        if limits.table_cells == 0 {
            report.problems.push(Problem {
                line: None,
                message: "a table, which is not read: the setting `tables` is `off`".to_owned(),
            });
            return Ok(());
        }
        let mut output = Output::new(sink, report, limits);
        let is_table = matches!(
            format,
            Format::Delimited(_) | Format::Workbook | Format::Parquet | Format::Px
        );
        let description = document
            .path
            .filter(|_| is_table)
            .map(descriptors::find)
            .unwrap_or_default();
        for problem in &description.problems {
            output.problem(None, problem.as_str());
        }
        let place = TablePlace {
            base,
            file: document.name,
            part: None,
            description: &description,
        };
        match format {
            Format::Delimited(expected) => delimited::read(content, expected, &place, &mut output),
            Format::Workbook => workbook::read(content, &place, &mut output),
            Format::Json => json::read(content, &place, &mut output),
            Format::Px => px::read(content, &place, &mut output),
            Format::Xml => xml::read(content, &place, &mut output),
            Format::Parquet => parquet_file::read(content, document.path, &place, &mut output),
        }
    }
}

fn format_of(document: &DocumentHead<'_>) -> Option<Format> {
    recognize(
        document.bytes,
        document.is_whole,
        document.name,
        document.media_type,
    )
}

/// Returns true for a file that is a table by its content, GeoJSON or JSON-stat. Other JSON and XML may be anything.
///
/// ```
/// use lodeseek_rdf::dump::DocumentHead;
/// use lodeseek_tabular::is_table_file;
///
/// let table = DocumentHead {
///     name: "trees.csv",
///     media_type: None,
///     bytes: b"name,height\noak,21\n",
///     is_whole: true,
///     path: None,
/// };
/// assert!(is_table_file(&table));
/// assert!(!is_table_file(&DocumentHead { bytes: b"@prefix e: <http://e.org/> .", ..table }));
/// let list = DocumentHead { name: "trees.json", bytes: b"[{\"name\": \"oak\"}]", ..table };
/// assert!(!is_table_file(&list));
/// let cube = br#"{"class": "dataset", "dimension": {"year": {"category": {"index": ["2025"]}}}, "id": ["year"], "size": [1], "value": [7]}"#;
/// assert!(is_table_file(&DocumentHead { bytes: cube, ..list }));
/// ```
#[must_use]
pub fn is_table_file(document: &DocumentHead<'_>) -> bool {
    match format_of(document) {
        Some(Format::Delimited(_)) => {
            has_table_suffix(document.name) || document.media_type.is_some_and(is_table_media_type)
        }
        // Other zip files begin alike.
        Some(Format::Workbook) => {
            has_table_suffix(document.name) || !document.bytes.starts_with(b"PK")
        }
        Some(Format::Json) => {
            let text = String::from_utf8_lossy(document.bytes);
            text.contains("\"FeatureCollection\"")
                || text.contains("\"Topology\"")
                || json_stat::is_json_stat(&text)
        }
        Some(Format::Parquet | Format::Px) => true,
        Some(Format::Xml) | None => false,
    }
}
