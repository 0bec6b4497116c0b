//! Catalogues of all dialects. The content decides on the dialect; the first byte chooses how the file was received.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lodeseek_catalog::Catalog;
use lodeseek_fuzz::{scratch, start};
use std::collections::BTreeSet;

const ADDRESS: &str = "https://portal.example.org/api/catalog?page=1";
const MEDIA_TYPES: [Option<&str>; 5] = [
    None,
    Some("text/turtle"),
    Some("application/rdf+xml; charset=utf-8"),
    Some("application/ld+json"),
    Some("text/html"),
];

fuzz_target!(init: start(), |data: &[u8]| {
    let Some((first, document)) = data.split_first() else { return };
    let path = scratch::file("catalog", document);
    let catalog = match usize::from(*first) % 7 {
        5 => Catalog::read(&path),
        6 => Catalog::read_packages(&path, ADDRESS, &|id| !id.is_empty()),
        place => Catalog::read_download(&path, ADDRESS, MEDIA_TYPES[place]),
    };
    let Ok(catalog) = catalog else { return };
    let mut ids = BTreeSet::new();
    for dataset in &catalog.datasets {
        let _ = (dataset.metadata.title(), dataset.metadata.description(), dataset.metadata.first_year());
        // A harvest makes the ids of the packages that it requested unique.
        assert!(ids.insert(dataset.metadata.id.clone()), "two datasets with the id {}", dataset.metadata.id);
    }
});
