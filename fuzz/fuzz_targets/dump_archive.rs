//! Compressions and archives. The first byte chooses the file name.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lodeseek_fuzz::{dumps, start};

/// Names that announce the syntaxes.
const NAMES: [&str; 7] = [
    "a.zip",
    "a.tar.gz",
    "a.nt.gz",
    "a.ttl.bz2",
    "a.nt.xz",
    "a.nt.zst",
    "a",
];

fuzz_target!(init: start(), |data: &[u8]| {
    let Some((first, document)) = data.split_first() else { return };
    let (graph, reports) = dumps::read_file(document, NAMES[usize::from(*first) % NAMES.len()]);
    dumps::check(&graph, &reports);
});
