//! HDT. Checksums are ignored in fuzz builds; otherwise every damage would end there.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lodeseek_fuzz::{dumps, start};

fuzz_target!(init: start(), |data: &[u8]| {
    let (graph, reports) = dumps::read(data, "a.hdt");
    dumps::check(&graph, &reports);
});
