//! Lists of works that use datasets. The first byte chooses the prefix of ids.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lodeseek_catalog::{CitingWork, CitingWorks};
use lodeseek_fuzz::{scratch, start};

const PREFIXES: [&str; 3] = ["", "a-", "a b"];

fuzz_target!(init: start(), |data: &[u8]| {
    let Some((first, list)) = data.split_first() else { return };
    let path = scratch::file("works.jsonl", list);
    let _ = CitingWorks::is_list(&path);
    let Ok(read) = CitingWorks::read(&path) else { return };
    for work in &read.works {
        assert!(!work.datasets.is_empty() && !work.text().is_empty() && work.key().len() == 32);
        let json = serde_json::to_vec(work).expect("written");
        assert_eq!(serde_json::from_slice::<CitingWork>(&json).expect("a work"), *work);
    }
    let _ = read.with_prefix(PREFIXES[usize::from(*first) % PREFIXES.len()]);
});
