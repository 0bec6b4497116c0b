//! Metadata documents of CSV on the Web, and the table that they describe. A zero byte separates them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lodeseek_fuzz::start;
use lodeseek_tabular::csvw::{Converter, Fetched, Resolver};

struct Documents<'d> {
    metadata: &'d [u8],
    table: &'d [u8],
}

impl Resolver for Documents<'_> {
    fn fetch(&self, address: &str) -> Option<Fetched> {
        let bytes = match address {
            "http://e.org/a.csv" => self.table,
            "http://e.org/a.csv-metadata.json" => self.metadata,
            _ => return None,
        };
        Some(Fetched { bytes: bytes.to_vec(), link: None })
    }
}

fuzz_target!(init: start(), |data: &[u8]| {
    let place = data.iter().position(|byte| *byte == 0).unwrap_or(data.len());
    let (metadata, table) = data.split_at(place);
    let documents = Documents { metadata, table: table.get(1..).unwrap_or_default() };
    let mut triples = 0u64;
    let _ = Converter::new(&documents).convert("http://e.org/a.csv", &mut |_| triples += 1);
    assert!(triples < 1 << 32, "{triples} triples");
});
