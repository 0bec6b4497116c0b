//! Recovery in N-Triples: one damaged line costs no other line.
#![no_main]

use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use lodeseek_fuzz::quads::Quads;
use lodeseek_fuzz::{dumps, start};
use lodeseek_rdf::RdfSyntax;
use std::collections::BTreeSet;

#[derive(Arbitrary, Debug)]
struct Damaged {
    quads: Quads,
    line: u8,
    place: u8,
    inserted: Vec<u8>,
}

fuzz_target!(init: start(), |input: Damaged| {
    let triples: Vec<_> = input.quads.triples().into_iter().filter(|triple| !triple.to_string().contains("_:")).collect();
    let text = RdfSyntax::NTriples.write(&triples).expect("N-Triples");
    let mut lines: Vec<Vec<u8>> = text.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    // The first line also decides on the syntax.
    if lines.len() < 2 {
        return;
    }
    let damaged = 1 + usize::from(input.line) % (lines.len() - 1);
    let line = &mut lines[damaged];
    let place = usize::from(input.place) % line.len();
    // Other bytes change the encoding of the document.
    let inserted = input.inserted.into_iter().map(|byte| byte & 0x7f).filter(|byte| matches!(byte, b' '..=b'~'));
    line.splice(place..place, inserted);
    let (graph, reports) = dumps::read(&lines.concat(), "a.nt");
    dumps::check(&graph, &reports);
    let found: BTreeSet<String> = dumps::triples(&graph).iter().map(ToString::to_string).collect();
    for (number, triple) in triples.iter().enumerate().filter(|(number, _)| *number != damaged) {
        assert!(found.contains(&triple.to_string()), "line {number} is missing: {triple}\n{reports:?}");
    }
});
