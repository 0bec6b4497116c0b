use super::super::{DumpReader, FileReport, Limits, Outcome, Syntax};
use super::*;
use crate::TripleSink;
use oxrdf::TripleRef;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::io::Write as _;

/// Sink that keeps triples in order, with their blank node labels.
#[derive(Default)]
struct Taken(BTreeSet<String>);

impl TripleSink for Taken {
    fn start_file(&mut self) {}

    fn insert_triple(&mut self, triple: TripleRef<'_>) {
        self.0.insert(triple.to_string());
    }
}

fn read_with(limits: Limits, name: &str, bytes: &[u8]) -> (BTreeSet<String>, FileReport) {
    let mut taken = Taken::default();
    let mut reports =
        DumpReader::with_limits(limits).read(bytes, name, "http://localhost/", &mut taken);
    assert_eq!(reports.len(), 1, "{reports:?}");
    (taken.0, reports.remove(0))
}

fn read(name: &str, bytes: &[u8]) -> (BTreeSet<String>, FileReport) {
    read_with(Limits::default(), name, bytes)
}

/// Parts of a file, which tests change before it is written. Checksums are those of the written bytes.
#[derive(Clone)]
struct Parts {
    container: String,
    header: String,
    dictionary: String,
    order: String,
    section_kind: u8,
    block: u64,
    sections: [Vec<Vec<u8>>; 4],
    /// Declared size of the text of the objects in bytes.
    objects_text: Option<u64>,
    predicates: Vec<u64>,
    predicate_ends: Vec<bool>,
    objects: Vec<u64>,
    object_ends: Vec<bool>,
    /// Declared width and number of the objects.
    objects_preamble: Option<(u8, u64)>,
}

impl Parts {
    fn new(triples: &[Triple], block: u64) -> Self {
        let named: BTreeSet<[String; 3]> = triples.iter().map(names).collect();
        let all = |place: usize| {
            named
                .iter()
                .map(|triple| triple[place].clone())
                .collect::<BTreeSet<_>>()
        };
        let (subjects, predicates, objects) = (all(0), all(1), all(2));
        let bytes = |terms: &mut dyn Iterator<Item = &String>| {
            terms.map(|term| term.clone().into_bytes()).collect()
        };
        let sections: [Vec<Vec<u8>>; 4] = [
            bytes(&mut subjects.intersection(&objects)),
            bytes(&mut subjects.difference(&objects)),
            bytes(&mut predicates.iter()),
            bytes(&mut objects.difference(&subjects)),
        ];
        let number = |sections: &[&Vec<Vec<u8>>], term: &str| {
            let mut terms = sections.iter().flat_map(|section| section.iter());
            terms
                .position(|known| known == term.as_bytes())
                .expect("a term") as u64
                + 1
        };
        let mut numbers: Vec<[u64; 3]> = named
            .iter()
            .map(|[subject, predicate, object]| {
                [
                    number(&[&sections[0], &sections[1]], subject),
                    number(&[&sections[2]], predicate),
                    number(&[&sections[0], &sections[3]], object),
                ]
            })
            .collect();
        numbers.sort_unstable();
        let mut parts = Self {
            container: CONTAINER.to_owned(),
            header: "<http://e/> <http://purl.org/HDT/hdt#ofTests> _:nothing .\n".to_owned(),
            dictionary: FOUR_SECTIONS.to_owned(),
            order: "order=1;numTriples=7;".to_owned(),
            section_kind: FRONT_CODING,
            block,
            sections,
            objects_text: None,
            predicates: Vec::new(),
            predicate_ends: Vec::new(),
            objects: Vec::new(),
            object_ends: Vec::new(),
            objects_preamble: None,
        };
        for (place, [subject, predicate, object]) in numbers.iter().enumerate() {
            let next = numbers.get(place + 1);
            parts.objects.push(*object);
            let ends_predicate = next.is_none_or(|next| next[..2] != [*subject, *predicate]);
            parts.object_ends.push(ends_predicate);
            if ends_predicate {
                parts.predicates.push(*predicate);
                parts
                    .predicate_ends
                    .push(next.is_none_or(|next| next[0] != *subject));
            }
        }
        parts
    }

    fn bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        write_control(&mut out, GLOBAL, &self.container, "Software=tests;");
        write_control(
            &mut out,
            HEADER,
            "ntriples",
            &format!("length={};", self.header.len()),
        );
        out.extend_from_slice(self.header.as_bytes());
        write_control(
            &mut out,
            DICTIONARY,
            &self.dictionary,
            "mapping=1;sizeStrings=9;",
        );
        for (place, section) in self.sections.iter().enumerate() {
            let (starts, text) = self.packed(section);
            let declared = self
                .objects_text
                .filter(|_| place == 3)
                .unwrap_or(text.len() as u64);
            write_preamble(
                &mut out,
                &[self.section_kind],
                &[section.len() as u64, declared, self.block],
            );
            write_numbers(&mut out, &starts, None);
            write_block(&mut out, &text);
        }
        write_control(&mut out, TRIPLES, BITMAP_TRIPLES, &self.order);
        write_marks(&mut out, &self.predicate_ends);
        write_marks(&mut out, &self.object_ends);
        write_numbers(&mut out, &self.predicates, None);
        write_numbers(&mut out, &self.objects, self.objects_preamble);
        out
    }

    /// Returns the starts of the blocks, the end of the last block, and the terms.
    fn packed(&self, terms: &[Vec<u8>]) -> (Vec<u64>, Vec<u8>) {
        let (mut starts, mut text) = (Vec::new(), Vec::new());
        for (place, term) in terms.iter().enumerate() {
            let mut common = 0;
            if (place as u64).is_multiple_of(self.block.max(1)) {
                starts.push(text.len() as u64);
            } else {
                let before = &terms[place - 1];
                common = before
                    .iter()
                    .zip(term)
                    .take_while(|(one, other)| one == other)
                    .count();
                write_number(&mut text, common as u64);
            }
            text.extend_from_slice(&term[common..]);
            text.push(0);
        }
        starts.push(text.len() as u64);
        (starts, text)
    }
}

fn names(triple: &Triple) -> [String; 3] {
    let node = |node: &NamedOrBlankNode| match node {
        NamedOrBlankNode::NamedNode(node) => node.as_str().to_owned(),
        NamedOrBlankNode::BlankNode(node) => node.to_string(),
    };
    let object = match &triple.object {
        Term::Triple(_) => panic!("HDT has no triple terms"),
        Term::NamedNode(object) => object.as_str().to_owned(),
        Term::BlankNode(object) => object.to_string(),
        Term::Literal(literal) => {
            let rest = match literal.language() {
                Some(language) => format!("@{language}"),
                None if literal.datatype() == oxrdf::vocab::xsd::STRING => String::new(),
                None => format!("^^{}", literal.datatype()),
            };
            format!("\"{}\"{rest}", literal.value())
        }
    };
    [
        node(&triple.subject),
        triple.predicate.as_str().to_owned(),
        object,
    ]
}

fn write_control(out: &mut Vec<u8>, kind: u8, format: &str, properties: &str) {
    let start = out.len();
    out.extend_from_slice(MAGIC);
    out.push(kind);
    for text in [format, properties] {
        out.extend_from_slice(text.as_bytes());
        out.push(0);
    }
    let sum = CRC16.checksum(&out[start..]);
    out.extend_from_slice(&sum.to_le_bytes());
}

fn write_number(out: &mut Vec<u8>, mut number: u64) {
    while number > 0x7f {
        out.push((number & 0x7f) as u8);
        number >>= 7;
    }
    out.push(number as u8 | 0x80);
}

fn write_preamble(out: &mut Vec<u8>, kinds: &[u8], numbers: &[u64]) {
    let start = out.len();
    out.extend_from_slice(kinds);
    numbers.iter().for_each(|number| write_number(out, *number));
    out.push(CRC8.checksum(&out[start..]));
}

fn write_block(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(bytes);
    out.extend_from_slice(&CRC32.checksum(bytes).to_le_bytes());
}

fn packed_bits(bits: impl Iterator<Item = bool>) -> Vec<u8> {
    let bits: Vec<bool> = bits.collect();
    let byte = |bits: &[bool]| {
        bits.iter()
            .rev()
            .fold(0, |byte, bit| byte << 1 | u8::from(*bit))
    };
    bits.chunks(8).map(byte).collect()
}

fn write_numbers(out: &mut Vec<u8>, numbers: &[u64], preamble: Option<(u8, u64)>) {
    let width = 64 - numbers.iter().max().copied().unwrap_or(0).leading_zeros() as u8;
    let (declared, len) = preamble.unwrap_or((width, numbers.len() as u64));
    write_preamble(out, &[LOG64, declared], &[len]);
    write_block(
        out,
        &packed_bits(
            numbers
                .iter()
                .flat_map(|number| (0..width).map(move |bit| number >> bit & 1 == 1)),
        ),
    );
}

fn write_marks(out: &mut Vec<u8>, marks: &[bool]) {
    write_preamble(out, &[PLAIN], &[marks.len() as u64]);
    write_block(out, &packed_bits(marks.iter().copied()));
}

const TINY: &str = "<http://e/a> <http://e/p> <http://e/b> .
<http://e/a> <http://e/p> \"a \\\"b\\\"\\n\" .
<http://e/a> <http://e/q> \"été\"@fr .
<http://e/b> <http://e/p> \"1\"^^<http://www.w3.org/2001/XMLSchema#integer> .
<http://e/b> <http://e/q> _:b1 .
_:b1 <http://e/p> <http://e/abc> .
_:b1 <http://e/p> <http://e/abd> .
";

fn triples_of(n_triples: &str) -> Vec<Triple> {
    oxttl::NTriplesParser::new()
        .for_slice(n_triples)
        .map(|triple| triple.expect("a triple"))
        .collect()
}

fn tiny() -> Parts {
    Parts::new(&triples_of(TINY), 2)
}

/// Check values of the catalogue of parametrised CRC algorithms: CRC-8/SMBUS, CRC-16/ARC, CRC-32/ISCSI.
#[test]
fn checksums_are_those_of_the_format() {
    let digits = b"123456789";
    assert_eq!(
        (
            CRC8.checksum(digits),
            CRC16.checksum(digits),
            CRC32.checksum(digits)
        ),
        (0xf4, 0xbb3d, 0xe306_9283)
    );
}

#[test]
fn the_graph_is_that_of_the_n_triples() {
    let (expected, lines) = read("a.nt", TINY.as_bytes());
    assert_eq!((expected.len(), lines.outcome), (7, Outcome::Complete));
    let bytes = tiny().bytes();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(&bytes).expect("written");
    let packed = packed.finish().expect("written");
    // Its first bytes tell it, whatever it is called.
    for (name, bytes, layers) in [
        ("a.hdt", &bytes, vec![]),
        ("a.hdt.gz", &packed, vec!["gzip"]),
        ("a.ttl", &bytes, vec![]),
        ("a", &bytes, vec![]),
    ] {
        let (found, report) = read(name, bytes);
        assert_eq!(found, expected, "{name}: {report:?}");
        assert_eq!(
            (report.syntax, report.outcome, report.triples),
            (Some(Syntax::Hdt), Outcome::Complete, 7),
            "{name}"
        );
        assert_eq!(report.layers, layers, "{name}");
        assert_eq!(report.problems, [], "{name}");
    }
}

/// A file written by the crate `hdt` 0.7.3 from [`TINY`] is read.
///
/// Its literal is simpler, because that writer keeps the escapes of N-Triples, which HDT does not have.
#[test]
fn what_others_write_is_read() {
    let plain = TINY.replace("a \\\"b\\\"\\n", "a b");
    let (found, report) = read("tiny.hdt", include_bytes!("tiny.hdt"));
    assert_eq!(
        (found, report.outcome),
        (read("a.nt", plain.as_bytes()).0, Outcome::Complete),
        "{:?}",
        report.problems
    );
}

#[test]
fn an_empty_graph_is_no_error() {
    let (found, report) = read("a.hdt", &Parts::new(&[], 16).bytes());
    assert_eq!(
        (found.len(), report.outcome),
        (0, Outcome::Complete),
        "{report:?}"
    );
}

/// A file that is cut off at any byte gives an error and no triples.
#[test]
fn cut_off_anywhere_it_is_an_error() {
    let bytes = tiny().bytes();
    for length in 0..bytes.len() {
        let (found, report) = read("a.hdt", &bytes[..length]);
        assert!(
            found.is_empty() && report.outcome != Outcome::Complete,
            "{length}: {report:?}"
        );
        let message = &report.problems[0].message;
        let expected = if length < MAGIC.len() {
            "does not begin with $HDT"
        } else {
            "the HDT file ends within"
        };
        assert!(message.contains(expected), "{length}: {message}");
    }
}

/// Every byte is covered by a checksum, except those of the header, which are not read.
#[test]
fn a_byte_that_is_another_is_seen() {
    let parts = tiny();
    let bytes = parts.bytes();
    let header = bytes
        .windows(parts.header.len())
        .position(|part| part == parts.header.as_bytes())
        .expect("the header");
    let whole = read("a.hdt", &bytes).0;
    for place in 0..bytes.len() {
        for change in [0x01, 0x80, 0xff] {
            let mut changed = bytes.clone();
            changed[place] ^= change;
            let (found, report) = read("a.hdt", &changed);
            if (header..header + parts.header.len()).contains(&place) {
                assert_eq!(
                    (found, report.outcome),
                    (whole.clone(), Outcome::Complete),
                    "{place}"
                );
            } else {
                assert!(
                    found.is_empty() && report.outcome != Outcome::Complete,
                    "{place} {change:x}: {report:?}"
                );
            }
        }
    }
}

/// Damaged files with valid checksums: (change, outcome, message).
#[test]
fn what_a_file_says_of_itself_is_not_believed() {
    type Change = fn(&mut Parts);
    let cases: &[(Change, Outcome, &str)] = &[
        (
            |parts| parts.objects_text = Some(u64::MAX),
            Outcome::Refused,
            "more than 2147483648 bytes of memory",
        ),
        (
            |parts| parts.objects_text = Some(1 << 30),
            Outcome::Unreadable,
            "ends within the objects",
        ),
        (
            |parts| parts.objects_preamble = Some((65, 7)),
            Outcome::Unreadable,
            "numbers of 65 bits",
        ),
        (
            |parts| parts.objects_preamble = Some((64, u64::MAX)),
            Outcome::Unreadable,
            "18446744073709551615 numbers",
        ),
        (
            |parts| parts.objects_preamble = Some((64, 1 << 40)),
            Outcome::Refused,
            "bytes of memory needed up to the triples",
        ),
        (
            |parts| parts.objects = vec![0; 7],
            Outcome::Unreadable,
            "no term with number 0 among",
        ),
        (
            |parts| parts.objects[6] = 1000,
            Outcome::Truncated,
            "no term with number 1000 among the objects",
        ),
        (
            |parts| parts.predicates[0] = 3,
            Outcome::Unreadable,
            "no term with number 3 among the predicates",
        ),
        (
            |parts| parts.predicate_ends.fill(true),
            Outcome::Truncated,
            "no term with number 4 among the subjects",
        ),
        (
            |parts| parts.object_ends.fill(false),
            Outcome::Unreadable,
            "inconsistent numbers of subjects",
        ),
        (
            |parts| parts.objects.truncate(6),
            Outcome::Unreadable,
            "inconsistent numbers of subjects",
        ),
        (
            |parts| parts.block = 0,
            Outcome::Unreadable,
            "term 1 of 2 cannot be located",
        ),
        (
            |parts| parts.container = "<http://e/HDTv2>".to_owned(),
            Outcome::Refused,
            "<http://e/HDTv2>",
        ),
        (
            |parts| parts.dictionary = "<http://e/dictionaryMult>".to_owned(),
            Outcome::Refused,
            "dictionaryMult",
        ),
        (
            |parts| parts.order = "order=3;".to_owned(),
            Outcome::Refused,
            "triple order 3",
        ),
        (
            |parts| parts.order = String::new(),
            Outcome::Refused,
            "triple order none",
        ),
        (
            |parts| parts.section_kind = 3,
            Outcome::Refused,
            "section kind 3",
        ),
    ];
    for (place, (change, outcome, message)) in cases.iter().enumerate() {
        let mut parts = tiny();
        change(&mut parts);
        let (_, report) = read("a.hdt", &parts.bytes());
        let messages = report
            .problems
            .last()
            .map(|problem| problem.message.as_str())
            .unwrap_or_default();
        assert_eq!(report.outcome, *outcome, "{place}: {report:?}");
        assert!(messages.contains(message), "{place}: {messages}");
    }
}

#[test]
fn limits_are_kept() {
    let bytes = tiny().bytes();
    let limits = Limits::default;
    for (limits, message) in [
        (
            Limits {
                hdt_memory: 100,
                ..limits()
            },
            "more than 100 bytes of memory needed",
        ),
        (
            Limits {
                token_bytes: 8,
                ..limits()
            },
            "term of more than 8 bytes",
        ),
        (
            Limits {
                decompressed_bytes: 50,
                ..limits()
            },
            "more than 50 bytes after decompression",
        ),
    ] {
        let (_, report) = read_with(limits, "a.hdt", &bytes);
        assert_eq!(report.outcome, Outcome::Refused, "{report:?}");
        assert!(report.problems[0].message.contains(message), "{report:?}");
    }
}

#[test]
fn terms_are_checked_and_repaired() {
    let mut parts = tiny();
    // The last object of those that are objects alone is an IRI; the first ones are literals.
    let objects = &mut parts.sections[3];
    let named = objects
        .iter()
        .position(|term| term == b"http://e/abd")
        .expect("the object");
    objects[named] = b"http://e/a c".to_vec();
    let tagged = objects
        .iter()
        .position(|term| term.ends_with(b"@fr"))
        .expect("the object");
    objects[tagged] = b"\"\xc3\xa9t\xc3\xa9\"@f r".to_vec();
    let plain = objects
        .iter()
        .position(|term| term.starts_with(b"\"a "))
        .expect("the object");
    objects[plain] = b"\"\xff\"".to_vec();
    let (found, report) = read("a.hdt", &parts.bytes());
    assert_eq!(
        (found.len(), report.outcome, report.skipped),
        (6, Outcome::Skipped, 1),
        "{report:?}"
    );
    let messages: Vec<&str> = report
        .problems
        .iter()
        .map(|problem| problem.message.as_str())
        .collect();
    for expected in [
        "the IRI <http://e/a c> is not valid",
        "the language tag \"f r\"",
        "term is not valid UTF-8",
    ] {
        assert!(
            messages.iter().any(|message| message.contains(expected)),
            "{expected}: {messages:?}"
        );
    }
}

/// HDT permits any text as a blank node label; the text syntaxes do not.
#[test]
fn any_label_is_one_of_a_blank_node() {
    let mut parts = tiny();
    parts.sections[0]
        .iter_mut()
        .filter(|term| *term == b"_:b1")
        .for_each(|term| *term = b"_:-7f:a b".to_vec());
    let (found, report) = read("a.hdt", &parts.bytes());
    assert_eq!(
        (found.len(), report.outcome),
        (7, Outcome::Complete),
        "{report:?}"
    );
    assert_eq!(
        found
            .iter()
            .filter(|triple| triple.contains("_:hdt-2d37663a612062 ")
                || triple.ends_with("_:hdt-2d37663a612062"))
            .count(),
        3,
        "{found:?}"
    );
}

fn a_triple() -> impl Strategy<Value = Triple> {
    let iri = |number: u8| {
        NamedNode::new_unchecked(format!("http://e/{}", "x".repeat(usize::from(number))))
    };
    let node = prop_oneof![
        (0..9_u8).prop_map(move |number| NamedOrBlankNode::from(iri(number))),
        (0..4_u8).prop_map(|number| BlankNode::new_unchecked(format!("b{number}")).into()),
    ];
    // A zero byte ends a term.
    let text = prop::collection::vec(any::<char>().prop_filter("no zero", |c| *c != '\0'), 0..12);
    let literal = (text, 0..3_u8).prop_map(move |(text, kind)| {
        let text: String = text.into_iter().collect();
        match kind {
            0 => Literal::new_simple_literal(text),
            1 => Literal::new_language_tagged_literal_unchecked(text, "en-gb"),
            _ => Literal::new_typed_literal(text, iri(3)),
        }
    });
    let object = prop_oneof![
        node.clone().prop_map(Term::from),
        literal.prop_map(Term::from)
    ];
    (node, 0..5_u8, object)
        .prop_map(move |(subject, predicate, object)| Triple::new(subject, iri(predicate), object))
}

proptest! {
    /// Reading HDT returns the graph of the original N-Triples for any block length.
    #[test]
    fn hdt_and_n_triples_agree(triples in prop::collection::vec(a_triple(), 0..40), block in 1..20_u64) {
        let lines: String = triples.iter().map(|triple| format!("{triple} .\n")).collect();
        let (expected, report) = read("a.nt", lines.as_bytes());
        prop_assert_eq!(report.outcome, Outcome::Complete);
        let (found, report) = read("a.hdt", &Parts::new(&triples, block).bytes());
        prop_assert_eq!(found, expected);
        prop_assert_eq!(report.outcome, Outcome::Complete, "{:?}", report.problems);
    }
}

/// One block of many terms, whose objects are read backwards.
#[test]
fn long_blocks_are_limited() {
    let subjects = |number: u32| format!("<http://e/s{number:05}> <http://e/p> ");
    let long = "x".repeat(200);
    let forwards: String = (0..6000)
        .map(|n| format!("{}<http://e/{long}{n:05}> .\n", subjects(n)))
        .collect();
    let backwards: String = (0..6000)
        .map(|n| format!("{}<http://e/{}{long}> .\n", subjects(n), 99_999 - n))
        .collect();
    // In the order of the block, each term is decoded once.
    let (found, report) = read("a.hdt", &Parts::new(&triples_of(&forwards), 6000).bytes());
    assert_eq!(
        (found.len(), report.outcome),
        (6000, Outcome::Complete),
        "{report:?}"
    );
    let started = std::time::Instant::now();
    let (found, report) = read("a.hdt", &Parts::new(&triples_of(&backwards), 6000).bytes());
    assert_eq!(report.outcome, Outcome::Refused, "{report:?}");
    assert!(
        report.problems[0]
            .message
            .contains("write the file with blocks of 16 terms"),
        "{report:?}"
    );
    assert!(!found.is_empty() && found.len() < 6000, "{}", found.len());
    assert!(started.elapsed().as_secs() < 120, "{:?}", started.elapsed());
    let (found, report) = read("a.hdt", &Parts::new(&triples_of(&backwards), 16).bytes());
    assert_eq!(
        (found.len(), report.outcome),
        (6000, Outcome::Complete),
        "{report:?}"
    );
}

/// A short object among long ones is decoded once, although all triples have it.
#[test]
fn frequent_objects_are_decoded_once() {
    let long = "x".repeat(3000);
    let mut triples: String = (0..15)
        .map(|n| format!("<http://e/a> <http://e/q> \"a{n:02}{long}\" .\n"))
        .collect();
    triples.extend((0..20_000).map(|n| format!("<http://e/{n:05}> <http://e/p> \"b\" .\n")));
    let parts = Parts::new(&triples_of(&triples), 16);
    let limits = Limits {
        decompressed_bytes: 4 << 20,
        ..Limits::default()
    };
    let (found, report) = read_with(limits, "a.hdt", &parts.bytes());
    assert_eq!(
        (found.len(), report.outcome),
        (20_015, Outcome::Complete),
        "{report:?}"
    );
}
