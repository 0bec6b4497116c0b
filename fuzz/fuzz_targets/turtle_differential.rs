//! The recovering parser beside oxttl: a document that oxttl accepts gives the same graph, without a report.
//!
//! The first byte chooses the syntax, and either generated quads or the rest of the input as the document.
#![no_main]

use arbitrary::{Arbitrary, Unstructured};
use libfuzzer_sys::fuzz_target;
use lodeseek_fuzz::quads::Quads;
use lodeseek_fuzz::{BASE, dumps, start};
use lodeseek_rdf::dump::Outcome;
use lodeseek_rdf::{TripleGraphBuilder, canonical_fingerprint};
use oxrdf::{Triple, TripleRef};
use oxttl::{
    NQuadsParser, NQuadsSerializer, NTriplesParser, TriGParser, TriGSerializer, TurtleParser,
    TurtleSerializer,
};

#[derive(Clone, Copy)]
enum Syntax {
    Turtle,
    TriG,
    NTriples,
    NQuads,
}

fuzz_target!(init: start(), |data: &[u8]| {
    let Some((first, rest)) = data.split_first() else { return };
    let syntax = [Syntax::Turtle, Syntax::TriG, Syntax::NTriples, Syntax::NQuads][usize::from(*first) % 4];
    if *first < 0x80 {
        compare(syntax, rest);
    } else if let Ok(quads) = Quads::arbitrary(&mut Unstructured::new(rest)) {
        compare(syntax, &serialized(syntax, &quads));
    }
});

fn compare(syntax: Syntax, document: &[u8]) {
    // A zero byte is taken for a binary file.
    if document.contains(&0) {
        return;
    }
    let Some(strict) = strict(syntax, document) else {
        return;
    };
    let (graph, reports) = dumps::read(document, name(syntax));
    let text = String::from_utf8_lossy(document);
    let [report] = reports.as_slice() else {
        panic!("{} reports", reports.len())
    };
    assert_eq!(
        report.outcome,
        Outcome::Complete,
        "{:?}\n{text}",
        report.problems
    );
    let mut builder = TripleGraphBuilder::new();
    strict
        .iter()
        .for_each(|triple| builder.insert(triple.as_ref()));
    let expected = builder.finish();
    assert_eq!(
        graph.len(),
        expected.len(),
        "{:?} beside {strict:?}\n{text}",
        dumps::triples(&graph)
    );
    let (Ok(found), Ok(wanted)) = (
        canonical_fingerprint(&graph),
        canonical_fingerprint(&expected),
    ) else {
        return;
    };
    assert_eq!(
        found,
        wanted,
        "{:?} beside {strict:?}\n{text}",
        dumps::triples(&graph)
    );
}

fn name(syntax: Syntax) -> &'static str {
    match syntax {
        Syntax::Turtle => "a.ttl",
        Syntax::TriG => "a.trig",
        Syntax::NTriples => "a.nt",
        Syntax::NQuads => "a.nq",
    }
}

/// Returns the triples of a document, or `None` if oxttl rejects it.
fn strict(syntax: Syntax, document: &[u8]) -> Option<Vec<Triple>> {
    let triple = |quad: oxrdf::Quad| TripleRef::from(quad.as_ref()).into_owned();
    match syntax {
        Syntax::Turtle => TurtleParser::new()
            .with_base_iri(BASE)
            .ok()?
            .for_slice(document)
            .collect::<Result<_, _>>()
            .ok(),
        Syntax::TriG => {
            let quads = TriGParser::new()
                .with_base_iri(BASE)
                .ok()?
                .for_slice(document);
            quads
                .map(|quad| quad.map(triple))
                .collect::<Result<_, _>>()
                .ok()
        }
        Syntax::NTriples => NTriplesParser::new()
            .for_slice(document)
            .collect::<Result<_, _>>()
            .ok(),
        Syntax::NQuads => NQuadsParser::new()
            .for_slice(document)
            .map(|quad| quad.map(triple))
            .collect::<Result<_, _>>()
            .ok(),
    }
}

fn serialized(syntax: Syntax, quads: &Quads) -> Vec<u8> {
    match syntax {
        Syntax::Turtle | Syntax::NTriples => {
            let mut writer = TurtleSerializer::new().for_writer(Vec::new());
            for triple in quads.triples() {
                writer.serialize_triple(triple.as_ref()).expect("written");
            }
            writer.finish().expect("written")
        }
        Syntax::TriG => {
            let mut writer = TriGSerializer::new().for_writer(Vec::new());
            for quad in &quads.0 {
                writer.serialize_quad(quad.as_ref()).expect("written");
            }
            writer.finish().expect("written")
        }
        Syntax::NQuads => {
            let mut writer = NQuadsSerializer::new().for_writer(Vec::new());
            for quad in &quads.0 {
                writer.serialize_quad(quad.as_ref()).expect("written");
            }
            writer.finish()
        }
    }
}
