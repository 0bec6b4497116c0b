//! Real tables: all files of a collection of 120 datasets, with the numbers of rows and columns that others counted.

use lodeseek_rdf::TripleSink;
use lodeseek_rdf::dump::{DumpReader, FileReport, Outcome};
use lodeseek_tabular::Tables;
use oxrdf::TripleRef;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Counts triples and checks their IRIs.
#[derive(Default)]
struct CheckingSink {
    triples: u64,
    invalid: Vec<String>,
}

impl TripleSink for CheckingSink {
    fn start_file(&mut self) {}

    fn insert_triple(&mut self, triple: TripleRef<'_>) {
        self.triples += 1;
        for term in [
            triple.subject.to_string(),
            triple.predicate.to_string(),
            triple.object.to_string(),
        ] {
            if let Some(iri) = term
                .strip_prefix('<')
                .and_then(|term| term.strip_suffix('>'))
                && oxiri::Iri::parse(iri).is_err()
            {
                self.invalid.push(iri.to_owned());
            }
        }
    }
}

fn folder() -> Option<PathBuf> {
    let folder = match std::env::var_os("LODESEEK_DATA") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
    };
    let folder = folder.join("tables");
    if folder.is_dir() {
        return Some(folder);
    }
    #[expect(clippy::print_stderr, reason = "a skipped test says so")]
    {
        eprintln!(
            "SKIPPED: there is no {}; LODESEEK_DATA names the folder above it",
            folder.display()
        );
    }
    None
}

fn read(folder: &Path, file: &str) -> (Vec<FileReport>, CheckingSink) {
    let mut sink = CheckingSink::default();
    let base = format!("http://e.org/{file}");
    let reports = DumpReader::default().with_tables(&Tables).read_file(
        &folder.join(file),
        file,
        &base,
        &mut sink,
    );
    (reports, sink)
}

fn number(value: &Value, key: &str) -> u64 {
    value[key].as_u64().unwrap_or_default()
}

#[test]
fn every_file_is_answered_with_rows_and_columns() {
    let Some(folder) = folder() else {
        return;
    };
    let text = std::fs::read_to_string(folder.join("file_stats.json")).expect("statistics");
    let statistics: Vec<Value> = serde_json::from_str(&text).expect("JSON");
    let mut wrong = Vec::new();
    let mut texts = 0;
    for file in statistics.iter().filter(|file| file["role"] == "data") {
        let name = file["file"].as_str().expect("a name");
        let (reports, sink) = read(&folder, name);
        for iri in sink.invalid.iter().take(1) {
            wrong.push(format!("{name}: the IRI {iri}"));
        }
        // A text is no table.
        if name.ends_with(".txt") {
            if sink.triples > 0 {
                wrong.push(format!("{name}: {} triples", sink.triples));
            }
            continue;
        }
        let tables = &reports[0].tables;
        if reports.len() != 1 || tables.is_empty() || reports[0].outcome.is_failure() {
            wrong.push(format!("{name}: {reports:?}"));
            continue;
        }
        if let Some(sheets) = file["sheets"].as_array() {
            let filled = sheets.iter().filter(|sheet| number(sheet, "rows") > 0);
            for (sheet, table) in filled.zip(tables) {
                let expected = (number(sheet, "rows"), number(sheet, "columns"));
                if (table.records, table.columns as u64) != expected {
                    wrong.push(format!("{name}: {sheet}, but {table:?}"));
                }
            }
        } else if file["delimiter"].is_string() {
            texts += 1;
            let expected = (number(file, "rows") + 1, number(file, "columns"));
            let delimiter = tables[0].delimiter.map(String::from).unwrap_or_default();
            let delimiter = if delimiter == "\t" { "tab" } else { &delimiter };
            if (tables[0].records, tables[0].columns as u64) != expected
                || file["delimiter"] != delimiter
            {
                wrong.push(format!("{name}: {file}, but {:?}", tables[0]));
            }
        } else if name.ends_with(".parquet") {
            let expected = (number(file, "rows"), number(file, "columns"));
            if (tables[0].rows, tables[0].columns as u64) != expected {
                wrong.push(format!("{name}: {file}, but {:?}", tables[0]));
            }
        } else if file["features"].is_u64() {
            let rows: u64 = tables.iter().map(|table| table.rows).sum();
            if rows != number(file, "features") || tables[0].format != "GeoJSON" {
                wrong.push(format!("{name}: {file}, but {tables:?}"));
            }
        }
        if sink.triples == 0 && reports[0].outcome == Outcome::Complete && number(file, "rows") > 0
        {
            wrong.push(format!("{name}: no triples"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert_eq!(texts, 190);
}
