//! Tables, workbooks, Parquet, PX, JSON and XML that are no RDF. The first byte chooses the file name.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lodeseek_fuzz::{dumps, start};

/// Names that announce the formats.
const NAMES: [&str; 10] = [
    "a", "a.csv", "a.tsv", "a.xlsx", "a.xls", "a.json", "a.geojson", "a.xml", "a.parquet", "a.px",
];

fuzz_target!(init: start(), |data: &[u8]| {
    let Some((first, document)) = data.split_first() else { return };
    let (graph, reports) = dumps::read_tables(document, NAMES[usize::from(*first) % NAMES.len()]);
    dumps::check(&graph, &reports);
});
