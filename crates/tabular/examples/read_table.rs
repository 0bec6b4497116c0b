//! Reads a table, a workbook or JSON, and prints what was found.
//!
//! ```sh
//! cargo run -p lodeseek-tabular --example read_table -- testdata/tables/wells.csv
//! ```
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "an example of the command line"
)]

use lodeseek_rdf::TripleSink;
use lodeseek_rdf::dump::DumpReader;
use lodeseek_tabular::Tables;
use oxrdf::TripleRef;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

/// Prints the first triples, and counts all.
#[derive(Default)]
struct FirstTriples {
    count: u64,
}

impl TripleSink for FirstTriples {
    fn start_file(&mut self) {}

    fn insert_triple(&mut self, triple: TripleRef<'_>) {
        if self.count < 40 {
            println!("{triple} .");
        }
        self.count += 1;
    }
}

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: read_table FILE");
        return ExitCode::FAILURE;
    };
    let mut triples = FirstTriples::default();
    let start = Instant::now();
    let base = "http://example.org/table";
    let reader = DumpReader::default().with_tables(&Tables);
    let reports = reader.read_file(Path::new(&path), &path, base, &mut triples);
    let seconds = start.elapsed().as_secs_f64();
    for report in reports {
        println!(
            "{}: {:?}, {} triples, {seconds:.2} s",
            report.file, report.outcome, report.triples
        );
        for table in &report.tables {
            println!("  {table}");
        }
        for problem in &report.problems {
            println!("  {problem}");
        }
    }
    ExitCode::SUCCESS
}
