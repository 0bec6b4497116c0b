use super::*;
use crate::TripleGraphBuilder;
use crate::triples::MAX_TRIPLE_TERM_DEPTH;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use std::io::{Cursor, Write};

const BASE: &str = "http://localhost/";
const PREFIX: &str = "@prefix e: <http://e/> .\n";
const NT: &str = "<http://e/a> <http://e/p> \"x\" .\n";

fn read_with(limits: Limits, name: &str, bytes: &[u8]) -> (Vec<String>, Vec<FileReport>) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("dump");
    std::fs::write(&path, bytes).expect("writable");
    let mut graph = TripleGraphBuilder::new();
    let reports = DumpReader::with_limits(limits).read_file(&path, name, BASE, &mut graph);
    let graph = graph.finish();
    let text = |triple: &crate::Triple| {
        graph
            .to_triple(*triple)
            .to_string()
            .replace("http://e/", "")
    };
    let mut triples: Vec<String> = graph.triples().iter().map(text).collect();
    triples.sort();
    (triples, reports)
}

fn read(name: &str, text: &str) -> (Vec<String>, FileReport) {
    let (triples, mut reports) = read_with(Limits::default(), name, text.as_bytes());
    assert_eq!(reports.len(), 1, "{reports:?}");
    (triples, reports.remove(0))
}

fn lines_of(report: &FileReport) -> Vec<u64> {
    report
        .problems
        .iter()
        .filter_map(|problem| problem.line)
        .collect()
}

fn refusal(limits: Limits, name: &str, bytes: &[u8]) -> String {
    let (_, reports) = read_with(limits, name, bytes);
    let last = reports.last().expect("a report");
    assert_eq!(last.outcome, Outcome::Refused, "{reports:?}");
    last.problems.last().expect("a problem").message.clone()
}

/// Turtle documents with one error each: (name, text, triples, lines of problems). `s p o` stands for `<s> <p> <o>`, `e:` for
/// `http://e/`.
#[test]
fn turtle_recovers_statement_by_statement() {
    let cases: &[(&str, &str, &[&str], &[u64])] = &[
        (
            "sound",
            "e:a e:p e:b , e:c ; e:q e:d .",
            &["a p b", "a p c", "a q d"],
            &[],
        ),
        (
            "undeclared prefix",
            "e:a e:p e:b ;\n x:p e:c ;\n e:q e:d .\ne:z e:p e:b .",
            &["a p b", "a q d", "z p b"],
            &[3],
        ),
        (
            "undeclared object",
            "e:a e:p e:b ,\n x:o , e:c .",
            &["a p b", "a p c"],
            &[3],
        ),
        (
            "undeclared subject",
            "x:a e:p e:b ; e:q e:c .\ne:z e:p e:b .",
            &["z p b"],
            &[2],
        ),
        (
            "bad IRI",
            "e:a e:p <http://e/x y> , e:c ; e:q e:d .",
            &["a p c", "a p x%20y", "a q d"],
            &[2],
        ),
        (
            "IRI on two lines",
            "e:a e:p <http://e/x\n   y> .\ne:z e:p x:b .",
            &["a p xy"],
            &[2, 4],
        ),
        (
            "IRI with spaces around",
            "e:a e:p < http://e/x > , <http://e/y#z#\\u0020 >.",
            &["a p x", "a p y#z%23"],
            &[2, 2],
        ),
        (
            "bad prefix",
            "@prefix f: <http://e/{f}/> .\nf:a e:p f:b .",
            &["%7Bf%7D/a p %7Bf%7D/b"],
            &[2],
        ),
        (
            "bad IRI and error",
            "e:a e:p <http://e/x y> , x:b ; e:q e:d .",
            &["a p x%20y", "a q d"],
            &[2, 2],
        ),
        (
            "bad language",
            "e:a e:p \"x\"@t ; e:q e:d .",
            &["a p \"x\"", "a q d"],
            &[2],
        ),
        (
            "language of a locale",
            "e:a e:p \"x\"@de_AT.UTF-8, 'y'@en- .",
            &["a p \"x\"@de-at", "a p \"y\"@en"],
            &[2, 2],
        ),
        (
            "missing dot",
            "e:a e:p e:b\ne:c e:p e:d ; e:q e:f .",
            &["a p b", "c p d", "c q f"],
            &[3],
        ),
        (
            "missing dot, more wrong",
            "e:a e:p e:b\ne:c e:p x:d ; e:q e:f .",
            &["a p b", "c q f"],
            &[3, 3],
        ),
        (
            "missing dot, same line",
            "e:a e:p e:b e:c e:p e:d ; e:q e:f .\ne:z e:p e:b .",
            &["z p b"],
            &[2, 2],
        ),
        (
            "missing object",
            "e:a e:p\ne:c e:p e:d .\ne:z e:p e:b .",
            &["z p b"],
            &[3],
        ),
        (
            "missing object and dot",
            "e:a e:p ;\n e:q e:d\ne:c e:p e:d .",
            &["a q d", "c p d"],
            &[2, 4],
        ),
        (
            "broken list",
            "e:a e:p ( x:y e:a e:p e:c ) ; e:q e:d .",
            &["a q d"],
            &[2],
        ),
        (
            "broken property list",
            "e:a e:p e:b , [ e:p e:x ; x:y e:z ] ; e:q e:d .",
            &["a p b", "a q d"],
            &[2],
        ),
        (
            "unclosed bracket",
            "e:a e:p [ e:q e:b .\ne:z e:p e:b .",
            &["z p b"],
            &[2],
        ),
        (
            "unclosed string",
            "e:a e:p \"x .\ne:z e:p \"y\" .",
            &["z p \"y\""],
            &[2],
        ),
        (
            "string on two lines",
            "e:a e:p \"x. \ne:c e:p e:d .\" ; e:q e:d .\ne:z e:p e:b .",
            &["a q d", "z p b"],
            &[2],
        ),
        (
            "unclosed long string",
            "e:a e:p e:b .\ne:a e:p \"\"\"x .\ne:z e:p e:b .",
            &["a p b"],
            &[3, 4],
        ),
        (
            "unclosed IRI",
            "e:a e:p <http://e/x .\ne:z e:p <http://e/b> .",
            &["z p b"],
            &[2],
        ),
        (
            "bad escape",
            "e:a e:p \"\\x\" , \"\\\"\" .",
            &["a p \"\\\"\""],
            &[2],
        ),
        (
            "dots in strings",
            "e:a e:p \"\"\"x . \"y\" . \\\"\"\"\" , 'it. s' .",
            &["a p \"it. s\"", "a p \"x . \\\"y\\\" . \\\"\""],
            &[],
        ),
        (
            "dots without blanks",
            "e:a.b e:p e:1.c.<http://e/z> e:p x:b,e:b.[] x:p 1.",
            &["a.b p 1.c", "z p b"],
            &[2, 2],
        ),
        (
            "broken directive",
            "@prefix f: <http://f/ /> .\ne:a e:p f:b , e:c .",
            &["a p c", "a p http://f/%20/b"],
            &[2],
        ),
        (
            "broken again",
            "@prefix e: http://f/ .\ne:a e:p e:b .",
            &[],
            &[2, 3],
        ),
        (
            "broken base",
            "@base \"http://f/\" .\n<a> e:p e:b , e:c .\ne:a e:p e:b , <c> .\n@base <http://e/> .\n<z> e:p <b> .",
            &["a p b", "z p b"],
            &[2, 3, 4],
        ),
        (
            "broken base without dot",
            "BASE http://f/\n<a> e:p e:b .\nBASE <g/>\n<a> e:p e:b .\nBASE <http://e/>\n<z> e:p <b> .",
            &["z p b"],
            &[2, 3, 4, 5],
        ),
        (
            "broken version",
            "@base <http://e/> .\n@version 1.2 .\n<a> e:p <b> .",
            &["a p b"],
            &[3],
        ),
        (
            "directive without dot",
            "@prefix f: <http://e/>\nf:a e:p f:b .",
            &["a p b"],
            &[3],
        ),
        (
            "SPARQL directives",
            "PREFIX f: <http://e/>\nBASE <http://e/>\ne:a x:p e:b ; f:p <c> .\nf:z e:p e:b .",
            &["a p c", "z p b"],
            &[4],
        ),
        (
            "truncated",
            "e:a e:p e:b .\ne:c e:p e:d ; e:q",
            &["a p b", "c p d"],
            &[3, 3],
        ),
        (
            "broken reified triple",
            "<< e:a e:p x:b >> e:q 1 .\ne:z e:p e:b .",
            &["z p b"],
            &[2],
        ),
        (
            "broken triple term",
            "e:a e:p <<( e:a e:p x:b )>> , e:c .\ne:z e:p e:b .",
            &["a p c", "z p b"],
            &[2],
        ),
        (
            "broken annotation",
            "e:a e:p e:b ~ e:r {| e:q x:y ; e:q 1 |} , e:c ; e:q e:d .\ne:z e:p e:b .",
            &["a p c", "a q d", "z p b"],
            &[2],
        ),
        (
            "versions",
            "VERSION \"1.2\"\n@version '1.2' .\ne:a x:p e:b ; e:q e:c .",
            &["a q c"],
            &[4],
        ),
        (
            "no statement",
            ". . ; ] e:a } e:z e:p e:b .",
            &["z p b"],
            &[2, 2, 2, 2],
        ),
    ];
    for (case, text, triples, lines) in cases {
        let expected: Vec<String> = triples.iter().map(|triple| brackets(triple)).collect();
        let (found, report) = read("a.ttl", &format!("{PREFIX}{text}"));
        assert_eq!(found, expected, "{case}: {:?}", report.problems);
        assert_eq!(lines_of(&report), *lines, "{case}: {:?}", report.problems);
    }
}

fn brackets(triple: &str) -> String {
    let term = |term: &str| {
        if term.starts_with('"') {
            term.to_owned()
        } else {
            format!("<{term}>")
        }
    };
    triple
        .splitn(3, ' ')
        .map(term)
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn trig_and_n3() {
    let trig = format!(
        "{PREFIX}e:g {{ e:a e:p e:b .\n e:c e:p x:d ; e:q e:f .\n e:i e:p e:k }}\nGRAPH x:g {{ e:l e:p e:m }} e:z e:p e:b ."
    );
    let (triples, report) = read("a.trig", &trig);
    let expected: Vec<String> = ["a p b", "c q f", "i p k", "l p m", "z p b"]
        .map(brackets)
        .into();
    assert_eq!(
        (triples, lines_of(&report)),
        (expected, vec![3, 5]),
        "{report:?}"
    );
    let n3 =
        format!("{PREFIX}{{ ?x e:p ?y . e:a e:p e:c }} => {{ ?y e:p ?x }} .\ne:a e:p e:b , x:c .");
    let (triples, report) = read("a.n3", &n3);
    assert_eq!(
        (triples, report.skipped),
        (vec![brackets("a p b")], 1),
        "{report:?}"
    );
    assert!(
        report
            .problems
            .iter()
            .any(|problem| problem.message.contains("formulas")),
        "{report:?}"
    );
}

#[test]
fn documents_that_end_early_are_truncated() {
    let rdf = |content: &str| {
        format!(
            "<r:RDF xmlns:r=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" xmlns:e=\"http://e/\">\n<e:C r:about=\"http://e/a\"/>{content}"
        )
    };
    let cases = [
        ("a.ttl", format!("{PREFIX}e:a e:p e:b"), true),
        ("a.ttl", format!("{PREFIX}e:a e:p e:b ; e:q e:c ;\n"), true),
        (
            "a.ttl",
            format!("{PREFIX}e:a e:p e:b .\n@prefix f: <http://f/>"),
            true,
        ),
        ("a.ttl", format!("{PREFIX}e:a e:p e:b . # e:c e:p"), false),
        (
            "a.ttl",
            format!("{PREFIX}e:a e:p e:b .\nPREFIX f: <http://f/>\n"),
            false,
        ),
        ("a.trig", format!("{PREFIX}e:g {{ e:a e:p e:b"), true),
        ("a.trig", format!("{PREFIX}e:g {{ e:a e:p e:b ."), true),
        ("a.trig", format!("{PREFIX}e:g {{ e:a e:p e:b }}\n"), false),
        ("a.n3", format!("{PREFIX}e:a e:p e:b .\ne:c e:p e:d"), true),
        (
            "a.n3",
            format!("{PREFIX}e:a e:p e:b .\n{{ e:c e:p e:d }} => {{ e:e e:p e:f }} ."),
            false,
        ),
        ("a.rdf", rdf(""), true),
        ("a.rdf", rdf("</r:RDF"), true),
        ("a.rdf", rdf("</r:RDF> <!-- "), true),
        ("a.rdf", rdf("</r:RDF>\n<!-- the end --> "), false),
    ];
    for (name, text, is_cut) in cases {
        let (triples, report) = read(name, &text);
        assert!(!triples.is_empty(), "{text}: {report:?}");
        let outcome = if is_cut {
            Outcome::Truncated
        } else {
            Outcome::Complete
        };
        assert_eq!(report.outcome, outcome, "{text}: {report:?}");
    }
}

#[test]
fn statements_across_chunks() {
    for shift in 0..5 {
        let mut text = format!("{PREFIX}#{}\n", "x".repeat(shift));
        for number in 0..9000 {
            let object = if number % 1000 == 7 {
                "x:y"
            } else {
                "'''é€𝄞. \" '''"
            };
            text.push_str(&format!("e:s{number} e:p {object} ;\n e:q 1.5 .\n"));
        }
        let (triples, report) = read("a.ttl", &text);
        assert_eq!(
            (triples.len(), report.skipped),
            (18_000 - 9, 9),
            "{:?}",
            report.problems
        );
        assert_eq!(lines_of(&report)[..2], [17, 2017]);
    }
}

#[test]
fn lines_recover_line_by_line() {
    let text = format!(
        "{NT}<http://e/a> <http://e/p> \"open .\n<http://e/b> <http://e/p> \"y\" .\n# comment\n\n<b> <p> <c> .\r\n_:b <http://e/p> <http://e/o> <http://e/g> ."
    );
    for name in ["a.nt", "a.nq"] {
        let (triples, report) = read(name, &text);
        assert_eq!(
            (triples.len(), report.outcome, lines_of(&report)),
            (3, Outcome::Skipped, vec![2, 6]),
            "{report:?}"
        );
    }
}

#[test]
fn triple_terms_reifiers_and_directions() {
    let cases = [
        ("a.ttl", "<< e:a e:p e:b >> e:q 1 .", 2),
        (
            "a.ttl",
            "e:a e:p e:b ~ e:r {| e:q 1 |} , e:c {| e:q \"x. >\"@ar--rtl |} .",
            6,
        ),
        (
            "a.ttl",
            "e:a e:p <<( e:a e:q \"> . \" )>> , <<( e:b e:q '.' )>> . e:c e:p <<<http://e/a> e:q e:b>> .",
            4,
        ),
        ("a.ttl", "e:a e:p <<( e:a e:q <<( e:b e:p [] )>> )>> .", 1),
        (
            "a.trig",
            "e:g { e:a e:p e:b {| e:q 1 |} . e:c e:p e:d } e:z e:p << e:a e:p e:b ~ e:r >> .",
            6,
        ),
    ];
    for (name, text, triples) in cases {
        let (found, report) = read(name, &format!("{PREFIX}{text}"));
        assert!(report.is_clean(), "{text}: {report:?}");
        assert_eq!(found.len(), triples, "{text}: {found:?}");
    }
    let (found, report) = read(
        "a.ttl",
        &format!("{PREFIX}e:a e:p \"x\"@ar--up , \"y\"@ar--rtl ."),
    );
    assert_eq!(
        (found.len(), report.skipped, lines_of(&report)),
        (2, 0, vec![2]),
        "{report:?}"
    );
    assert_eq!(found, ["<a> <p> \"x\"@ar", "<a> <p> \"y\"@ar--rtl"]);
    let (_, report) = read("a.n3", &format!("{PREFIX}<< e:a e:p e:b >> e:q 1 ."));
    assert!(
        report
            .problems
            .iter()
            .any(|problem| problem.message.contains("N3 has no")),
        "{report:?}"
    );
    let xml = "<e:C r:about='http://e/a' r:version='1.2'><e:p r:parseType='Triple'><r:Description r:about='http://e/b'>\
               <e:q>x</e:q></r:Description></e:p></e:C>";
    let (found, report) = read("a.rdf", &rdf_xml("", xml));
    assert!(
        report.is_clean() && found.contains(&"<a> <p> <<( <b> <q> \"x\" )>>".to_owned()),
        "{found:?} {report:?}"
    );
}

#[test]
fn quoted_triples_of_lines_get_one_reifier() {
    let text = "VERSION \"1.2\"\n<< <http://e/a> <http://e/p> <http://e/b> >> <http://e/q> \"x\" .\n\
        << <http://e/a> <http://e/p> <http://e/b> >> <http://e/q> << << _:s <http://e/p> \"<<(\" >> <http://e/r> \"y\" >> .\n\
        << <http://e/a> <http://e/p> .\n";
    let (found, report) = read("a.nt", text);
    assert_eq!(
        (found.len(), report.skipped, lines_of(&report)),
        (5, 1, vec![4, 2]),
        "{found:?} {report:?}"
    );
    let problem = report.problems.last().expect("a problem");
    assert!(problem.message.contains("RDF-star"), "{problem:?}");
}

#[test]
fn nested_triple_terms_are_limited() {
    let levels = MAX_TRIPLE_TERM_DEPTH + 1;
    let turtle = format!("{PREFIX}e:a e:p {} e:b", "<<( e:a e:p ".repeat(levels));
    let triples = format!(
        "<x:a> <x:p> {}<x:b>{} .",
        "<<( <x:a> <x:p> ".repeat(levels),
        " )>>".repeat(levels)
    );
    let xml = "<e:C r:version='1.2'><e:p r:parseType='Triple'>".repeat(levels);
    for (name, text) in [
        ("a.ttl", turtle),
        ("a.nt", triples),
        ("a.rdf", rdf_xml("", &xml)),
    ] {
        let message = refusal(Limits::default(), name, text.as_bytes());
        assert!(
            message.contains("more than 50 levels of nesting"),
            "{name}: {message}"
        );
    }
    let quoted = format!("<x:a> <x:p> \"{}\" .", "<<( ".repeat(levels));
    assert_eq!(read("a.nt", &quoted).0.len(), 1);
}

fn rdf_xml(doctype: &str, content: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>\n{doctype}\n<r:RDF xmlns:r=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" xmlns:e=\"http://e/\">\n{content}</r:RDF>"
    )
}

#[test]
fn rdf_xml_entities_encodings_and_errors() {
    let doctype = "<!DOCTYPE r:RDF [\n<!-- <!ENTITY e \"http://no/\"> --><!ENTITY e 'http://e/'>\n<!ENTITY ab \"&e;a'>\" > <!ENTITY e \"http://no/\">\n]>";
    let text = rdf_xml(
        doctype,
        "<e:C r:about='&e;s'><e:p>caf\u{e9} &ab;</e:p><e:q r:resource='&e;b c'/></e:C>\n",
    );
    let latin: Vec<u8> = text.chars().map(|c| c as u8).collect();
    let (triples, reports) = read_with(Limits::default(), "a.rdf", &latin);
    assert_eq!(
        (triples.len(), triples[1].as_str()),
        (3, "<s> <p> \"café a'>\""),
        "{triples:?} {reports:?}"
    );
    assert_eq!(lines_of(&reports[0]), [7], "{reports:?}");

    let (triples, report) = read(
        "a.owl",
        &rdf_xml("", "<e:C r:about='http://e/a'/>\n<e:C></e:D>\n"),
    );
    assert_eq!(
        (triples.len(), report.outcome, lines_of(&report)),
        (2, Outcome::Truncated, vec![5]),
        "{report:?}"
    );
}

#[test]
fn rdf_xml_refusals() {
    let chain = |open: &str, close: &str| {
        let mut entities = "<!ENTITY a0 \"0123456789\">".to_owned();
        (1..4).for_each(|level| {
            entities.push_str(&format!(
                "<!ENTITY a{level} \"{}\">",
                format!("&a{};", level - 1).repeat(10)
            ))
        });
        rdf_xml(
            &format!("<!DOCTYPE r:RDF [{open}{entities}{close}]>"),
            "<e:C e:p='&a3;'/>",
        )
    };
    let nested = |levels: usize| rdf_xml("", &"<e:C><e:p>".repeat(levels));
    let cases = [
        (chain("", ""), "entity bomb"),
        (
            rdf_xml("<!DOCTYPE r [<!ENTITY x SYSTEM \"entity.txt\">]>", "<e:C/>"),
            "never fetched",
        ),
        (
            rdf_xml("<!DOCTYPE r [<!ENTITY % x \"y\"> %x;]>", "<e:C/>"),
            "parameter entities",
        ),
        (
            rdf_xml("<!DOCTYPE r [<!ENTITY x \"<b/>\">]>", "<e:C/>"),
            "markup",
        ),
        (rdf_xml("<!DOCTYPE r [ <!ENTITY", ""), "declaration"),
        (
            rdf_xml("", "<e:C/><!DOCTYPE r [<!ENTITY x \"y\">]>"),
            "not at the beginning",
        ),
        (nested(26), "levels of nesting"),
        (
            rdf_xml("", &format!("<e:C {}/>", "e:p='' ".repeat(10_001))),
            "attributes",
        ),
    ];
    let limits = Limits {
        nesting: 50,
        ..Limits::default()
    };
    for (text, word) in cases {
        let message = refusal(limits.clone(), "a.rdf", text.as_bytes());
        assert!(message.contains(word), "{word}: {message}");
    }
    // In a comment no entity is declared: what refers to it is unknown, and nothing expands.
    let (triples, report) = read("a.rdf", &chain("<!--", "-->"));
    assert!(
        triples.is_empty() && report.outcome == Outcome::Unreadable,
        "{report:?}"
    );
}

#[test]
fn json_ld() {
    let inline = r#"{"@context": {"p": "http://e/p"}, "@id": "http://e/a", "p": "x", "q": 1, "http://e/q": {"@id": "http://e/b c"}}"#;
    let (triples, report) = read("a.jsonld", inline);
    assert_eq!(
        (triples.join(" , ").as_str(), report.skipped),
        ("<a> <p> \"x\" , <a> <q> <b%20c>", 0),
        "{report:?}"
    );
    assert!(report.problems[0].message.contains("(q)"), "{report:?}");

    let mixed = r#"{"@context": {"p": {"@id": "http://e/p", "@container": "@language"}}, "@id": "http://e/a",
        "p": {"de-AT": "x"}, "http://e/q": {"@value": "y", "@language": "en-GB"}}"#;
    let (triples, _) = read("a.jsonld", mixed);
    assert_eq!(
        triples,
        ["<a> <p> \"x\"@de-at", "<a> <q> \"y\"@en-gb"],
        "tags are in lower case, as in other syntaxes"
    );
    let remote =
        r#"{"@context": "http://e/c.jsonld", "@id": "http://e/a", "p": "x", "http://e/p": "x"}"#;
    let (triples, report) = read("a.json", remote);
    assert_eq!(
        (triples.len(), report.skipped, report.outcome),
        (1, 1, Outcome::Skipped),
        "{report:?}"
    );
    assert!(
        report.problems[0]
            .message
            .contains("<http://e/c.jsonld> is remote"),
        "{report:?}"
    );

    let (triples, report) = read(
        "a.jsonld",
        "[{\"@id\": \"http://e/a\", \"http://e/p\": 1},\n{\"@id\": ,}]",
    );
    assert_eq!(
        (triples.len(), report.outcome, lines_of(&report)),
        (1, Outcome::Truncated, vec![2]),
        "{report:?}"
    );
    assert!(
        refusal(
            Limits::default(),
            "a.json",
            "[{\"@graph\": ".repeat(51).as_bytes()
        )
        .contains("nesting")
    );
    let small = Limits {
        json_memory: 10_000,
        ..Limits::default()
    };
    let node = r#"{"@id": "http://e/a", "http://e/p": [1, 2, 3]}"#;
    let nodes = vec![node; 100].join(",");
    assert!(
        refusal(
            small.clone(),
            "a.json",
            format!("{{\"@graph\": [{nodes}]}}").as_bytes()
        )
        .contains("JSON-LD object")
    );
    let (triples, _) = read_with(small, "a.json", format!("[{nodes}]").as_bytes());
    assert_eq!(triples.len(), 3);
}

/// Documents with the same two faults in all text syntaxes.
#[test]
fn invalid_iris_and_language_tags_are_repaired_in_every_syntax() {
    let json = r#"{"@context": {"t": {"@id": "http://e/t", "@container": "@language"}}, "@id": " http://e/a{1}",
        "http://e/p": {"@id": "http://e/b c"}, "t": {"en_GB": "x", "english text": "y"}}"#;
    let xml = "<r:Description r:about=' http://e/a{1}'><e:p r:resource='http://e/b c'/><e:t xml:lang='en_GB'>x</e:t>\
               <e:t xml:lang='english text'>y</e:t></r:Description>";
    let line = |end: &str| format!("< http://e/a{{1}}> {end} .\n");
    let lines = [
        line("<http://e/p> <http://e/b c>"),
        line("<http://e/t> \"x\"@en_GB"),
        "<http://e/a{1}> <http://e/t> \"y\"@englisch_text_ohne_Sprache .".to_owned(),
    ];
    for (name, text) in [
        ("a.jsonld", json.to_owned()),
        ("a.rdf", rdf_xml("", xml)),
        ("a.nt", lines.concat()),
        ("a.ttl", lines.concat()),
    ] {
        let (triples, report) = read(name, &text);
        assert_eq!(
            triples,
            [
                "<a%7B1%7D> <p> <b%20c>",
                "<a%7B1%7D> <t> \"x\"@en-gb",
                "<a%7B1%7D> <t> \"y\""
            ],
            "{name}: {report:?}"
        );
        assert_eq!(
            (report.outcome, report.skipped),
            (Outcome::Complete, 0),
            "{name}: {report:?}"
        );
        let is_reported = |part: &str| {
            report
                .problems
                .iter()
                .any(|problem| problem.message.contains(part))
        };
        assert!(
            is_reported("<http://e/b%20c>")
                && is_reported("\"en-gb\"")
                && is_reported("without a language"),
            "{report:?}"
        );
    }
}

#[test]
fn rdf_xml_attributes_without_a_prefix() {
    let root = |content: &str| {
        format!(
            "<RDF xmlns='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:e='http://e/'>{content}</RDF>"
        )
    };
    let (triples, report) = read(
        "a.rdf",
        &root(
            "<Description about='http://e/a' type='http://e/C'><e:p resource='http://e/b'/><e:q parseType='Resource'/></Description>",
        ),
    );
    assert!(
        report.is_clean() && triples.len() == 3,
        "{triples:?} {report:?}"
    );
    let (triples, report) = read(
        "a.rdf",
        &root("<e:C about='http://e/a'>\n<e:p lang='de' datatype='http://e/d'>x</e:p></e:C>"),
    );
    assert_eq!(
        (triples.len(), report.skipped, lines_of(&report)),
        (2, 2, vec![2, 2]),
        "{report:?}"
    );
    assert!(
        triples.contains(&"<a> <p> \"x\"".to_owned())
            && report.problems[0].message.contains("lang='de'"),
        "{report:?}"
    );
}

#[test]
fn rdf_xml_directions_and_languages_are_inherited() {
    let root = |attributes: &str, content: &str| {
        rdf_xml("", content).replacen(
            "<r:RDF",
            &format!("<r:RDF xmlns:i='http://www.w3.org/2005/11/its' {attributes}"),
            1,
        )
    };
    let content = "<e:C r:about='http://e/a' e:q='y'><e:p>x</e:p><e:p i:dir='ltr'>z</e:p><e:p i:dir=''>v</e:p><e:p xml:lang=''>w</e:p></e:C>";
    let (triples, report) = read(
        "a.rdf",
        &root(
            "r:version='1.2' i:version='2.0' i:dir='rtl' xml:lang='ar-EG'",
            content,
        ),
    );
    assert!(report.is_clean(), "{report:?}");
    assert_eq!(
        triples[1..],
        [
            "<a> <p> \"v\"@ar-eg",
            "<a> <p> \"w\"",
            "<a> <p> \"x\"@ar-eg--rtl",
            "<a> <p> \"z\"@ar-eg--ltr",
            "<a> <q> \"y\"@ar-eg--rtl"
        ]
    );
    let (triples, _) = read(
        "a.rdf",
        &root(
            "i:dir='rtl' xml:lang='ar'",
            "<e:C r:about='http://e/a'><e:p>x</e:p></e:C>",
        ),
    );
    assert!(
        triples.contains(&"<a> <p> \"x\"@ar".to_owned()),
        "RDF 1.1 has no directions: {triples:?}"
    );
}

#[test]
fn json_ld_numbers() {
    let integer =
        |digits: &str| format!("\"{digits}\"^^<http://www.w3.org/2001/XMLSchema#integer>");
    let double = |text: &str| format!("\"{text}\"^^<http://www.w3.org/2001/XMLSchema#double>");
    for (number, expected) in [
        ("1e20", integer("100000000000000000000")),
        ("-123456789012345678901", integer("-123456789012345678901")),
        ("9.5E20", integer("950000000000000000000")),
        ("9007199254740993", integer("9007199254740993")),
        ("1.0", integer("1")),
        ("-0", integer("0")),
        (
            "123456789012345678901.5",
            double("1.234567890123456789015E20"),
        ),
        ("5e-7", double("5.0E-7")),
        ("1e21", double("1.0E21")),
    ] {
        let (triples, _) = read(
            "a.jsonld",
            &format!("{{\"@id\": \"http://e/a\", \"http://e/p\": {number}}}"),
        );
        assert_eq!(triples, [format!("<a> <p> {expected}")], "{number}");
    }
    let typed = |datatype: &str| {
        let text = format!(
            "{{\"@context\": {{\"p\": {{\"@id\": \"http://e/p\", \"@type\": \"http://www.w3.org/2001/XMLSchema#{datatype}\"}}}}, \
             \"@id\": \"http://e/a\", \"p\": 1e20}}"
        );
        read("a.jsonld", &text).0[0].clone()
    };
    assert_eq!(typed("double"), format!("<a> <p> {}", double("1.0E20")));
    assert!(
        typed("decimal").starts_with("<a> <p> \"100000000000000000000\"^^"),
        "{}",
        typed("decimal")
    );
}

#[test]
fn tokens_and_statements_over_the_limit() {
    let limits = || Limits {
        token_bytes: 1000,
        statement_bytes: 5000,
        nesting: 50,
        ..Limits::default()
    };
    let long = "x".repeat(2000);
    let many = "e:b , ".repeat(1000);
    let cases = [
        (
            "a.ttl",
            format!("{NT}{NT}<http://e/a> <http://e/p> \"{long}\" ."),
            "token of more than 1000 bytes near line 3",
        ),
        (
            "a.ttl",
            format!("{NT}{PREFIX}e:a e:p {many} e:c"),
            "statement of line 3",
        ),
        (
            "a.ttl",
            format!("{NT}{PREFIX}e:a e:p {}", "[ e:p ".repeat(60)),
            "more than 50 levels of nesting at line 3",
        ),
        (
            "a.nt",
            format!("{NT}{NT}<http://e/a> <http://e/p> \"{long}\" ."),
            "token of more than 1000 bytes near line 3",
        ),
        (
            "a.rdf",
            rdf_xml("", &format!("<e:C><e:p>{long}</e:p></e:C>")),
            "token of more than 1000 bytes",
        ),
        (
            "a.rdf",
            rdf_xml("", &format!("<e:C e:p='{long}'/>")),
            "token of more than 1000 bytes",
        ),
        (
            "a.rdf",
            rdf_xml(
                "",
                &format!(
                    "<e:C><e:p r:parseType='Literal'>{}</e:p></e:C>",
                    "<b/>".repeat(20_000)
                ),
            ),
            "token of more than 1000 bytes",
        ),
        (
            "a.rdf",
            rdf_xml("", &format!("<!--{}-->", "<!".repeat(1000))),
            "token of more than 1000 bytes",
        ),
        (
            "a.json",
            format!("{{\"http://e/p\": \"\\\"{long}\"}}"),
            "token of more than 1000 bytes",
        ),
    ];
    for (name, text, expected) in cases {
        let message = refusal(limits(), name, text.as_bytes());
        assert!(message.contains(expected), "{name}: {message}");
    }
    let (triples, _) = read_with(
        limits(),
        "a.ttl",
        format!("{NT}<http://e/b> <http://e/p> \"{long}\" .").as_bytes(),
    );
    assert_eq!(triples.len(), 1);
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).expect("in memory");
    encoder.finish().expect("in memory")
}

fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(bytes).expect("in memory");
    encoder.finish().expect("in memory")
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut writer =
        lzma_rust2::XzWriter::new(Vec::new(), lzma_rust2::XzOptions::default()).expect("in memory");
    writer.write_all(bytes).expect("in memory");
    writer.finish().expect("in memory")
}

fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        writer
            .start_file(*name, zip::write::SimpleFileOptions::default())
            .expect("in memory");
        writer.write_all(bytes).expect("in memory");
    }
    writer.finish().expect("in memory").into_inner()
}

fn tar(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, bytes) in members {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        if name.len() < 100 {
            // The library would refuse to write what leads outside.
            header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
            header.set_cksum();
            builder.append(&header, *bytes).expect("in memory");
        } else {
            builder
                .append_data(&mut header, name, *bytes)
                .expect("in memory");
        }
    }
    builder.into_inner().expect("in memory")
}

/// [`NT`], compressed by the zstd command.
const ZSTD: &[u8] =
    b"(\xb5/\xfd\x04h\xe5\x00\x00\xb0<http://e/a> p> \x22x\x22 .\x0a\x01\x00\xb0\xcd/\x05t\x84N";

#[test]
fn compressions_and_archives() {
    let nt = NT.as_bytes();
    let long = format!("{}/a.nt", "folder/".repeat(30));
    let twice = |bytes: &[u8]| [bytes, bytes].concat();
    let cases: Vec<(Vec<u8>, &[&str])> = vec![
        (gzip(nt), &["gzip"]),
        (twice(&gzip(nt)), &["gzip"]),
        (bzip2(nt), &["bzip2"]),
        (xz(nt), &["xz"]),
        (ZSTD.to_vec(), &["zstd"]),
        (twice(ZSTD), &["zstd"]),
        (zip(&[("a.nt", nt)]), &["zip"]),
        (zip(&[("a.nt.gz", &gzip(nt))]), &["zip", "gzip"]),
        (tar(&[("a.nt", nt), ("README", b"not RDF")]), &["tar"]),
        (tar(&[(&long, nt)]), &["tar"]),
        (gzip(&tar(&[("a.nt", nt)])), &["gzip", "tar"]),
        (tar(&[("a.nt.xz", &xz(nt))]), &["tar", "xz"]),
    ];
    for (bytes, layers) in cases {
        // Layers and syntax are detected by content, because the name has no suffix.
        let (triples, reports) = read_with(Limits::default(), "dump", &bytes);
        assert_eq!(
            (triples.len(), reports.len()),
            (1, 1),
            "{layers:?}: {reports:?}"
        );
        assert_eq!(reports[0].layers, layers, "{reports:?}");
        assert!(reports[0].is_clean(), "{reports:?}");
    }
    let (_, reports) = read_with(Limits::default(), "dump", &tar(&[(&long, nt)]));
    assert_eq!(reports[0].file, format!("dump!{long}"));
    let cut = gzip(NT.repeat(5000).as_bytes());
    let (triples, reports) = read_with(Limits::default(), "a.ttl.gz", &cut[..cut.len() - 9]);
    assert_eq!(
        (triples.len(), reports[0].outcome),
        (1, Outcome::Truncated),
        "{reports:?}"
    );
}

/// Returns a Zstandard frame of two uncompressed blocks, [`NT`] and the beginning of another statement.
fn zstd_blocks() -> Vec<u8> {
    let nt = NT.as_bytes();
    // A window of 1 KiB, and no checksum. The lowest bit of a block's header is set in the last one.
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x00];
    let header = (nt.len() as u32) << 3;
    frame.extend_from_slice(&header.to_le_bytes()[..3]);
    frame.extend_from_slice(nt);
    frame.extend_from_slice(&[(5 << 3) | 1, 0, 0]);
    frame.extend_from_slice(b"<http");
    frame
}

/// The files are shorter than what is read ahead to detect their format.
#[test]
fn a_short_file_that_breaks_off_keeps_what_precedes_the_break() {
    let text: String = (0..10)
        .map(|number| {
            format!(
                "<http://e/a{number}> <http://e/p> \"{}\" .\n",
                number * 7919
            )
        })
        .collect();
    let nt = text.as_bytes();
    let turtle = format!("{PREFIX}e:a e:p 1 .\n{text}");
    let xml = format!(
        "<r:RDF xmlns:r=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" xmlns:e=\"http://e/\">\n{}</r:RDF>",
        "<e:C r:about=\"http://e/a\"/><e:D r:about=\"http://e/b\"/>\n".repeat(3)
    );
    let utf16: Vec<u8> = format!("\u{feff}{text}")
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let cases = [
        ("a.nt.gz", gzip(nt), 12),
        ("a.ttl.gz", gzip(turtle.as_bytes()), 12),
        ("a.rdf.gz", gzip(xml.as_bytes()), 12),
        ("a.utf16.nt.gz", gzip(&utf16), 12),
        // A block of bzip2 is decompressed as a whole: what is missing is the end of the file.
        ("a.nt.bz2", bzip2(nt), 6),
        ("a.nt.xz", xz(nt), 44),
        ("b.nt.xz", xz(nt), 12),
        ("a.nt.zst", zstd_blocks(), 2),
        ("a.nt.zst", ZSTD.to_vec(), 2),
        ("a.tar.gz", gzip(&tar(&[("a.nt", nt)])), 20),
    ];
    for (name, bytes, missing) in cases {
        let (triples, reports) =
            read_with(Limits::default(), name, &bytes[..bytes.len() - missing]);
        assert!(!triples.is_empty(), "{name}: {reports:?}");
        assert!(
            reports
                .iter()
                .any(|report| report.outcome.is_failure() && !report.problems.is_empty()),
            "{name}: {reports:?}"
        );
        let report = &reports[0];
        if reports.len() == 1 {
            assert_eq!(report.outcome, Outcome::Truncated, "{name}: {reports:?}");
            let problem = report.problems.last().expect("a problem");
            assert!(
                problem.message.ends_with("; the rest was not read"),
                "{name}: {problem}"
            );
        }
    }
    // Without a statement before the break, the reason is that of the compression.
    let packed = gzip(nt);
    let (triples, reports) = read_with(Limits::default(), "dump", &packed[..20]);
    assert!(triples.is_empty(), "{reports:?}");
    assert_eq!(reports[0].outcome, Outcome::Unreadable, "{reports:?}");
}

/// The directory of a zip archive is at its end.
#[test]
fn a_zip_archive_that_breaks_off_keeps_its_first_members() {
    let second = NT.replace("/a>", "/b>");
    let archive = zip(&[("a.nt", NT.as_bytes()), ("b.nt", second.as_bytes())]);
    let directory = memchr::memmem::find(&archive, b"PK\x01\x02").expect("a directory");
    // The file breaks off in the directory, then in the content of the second member.
    for (length, complete) in [(directory + 10, 2), (directory - 8, 1)] {
        let (triples, reports) = read_with(Limits::default(), "a.zip", &archive[..length]);
        assert!(triples.len() >= complete, "{reports:?}");
        let outcomes = reports.iter().map(|report| report.outcome);
        assert_eq!(
            outcomes
                .filter(|&outcome| outcome == Outcome::Complete)
                .count(),
            complete,
            "{reports:?}"
        );
        let last = reports.last().expect("a report");
        assert_eq!(last.outcome, Outcome::Unreadable, "{reports:?}");
        assert!(
            last.problems[0].message.contains("may be truncated"),
            "{last:?}"
        );
    }
}

/// A long name is small when compressed. The library alone would read it whole.
#[test]
fn names_of_archive_members_are_cut() {
    let nt = NT.as_bytes();
    let mut builder = tar::Builder::new(Vec::new());
    for (kind, bytes) in [
        (tar::EntryType::GNULongName, vec![b'n'; (64 << 10) + 1]),
        (tar::EntryType::Regular, nt.to_vec()),
    ] {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(kind);
        header.set_size(bytes.len() as u64);
        header.set_cksum();
        builder
            .append(&header, bytes.as_slice())
            .expect("in memory");
    }
    let (triples, reports) = read_with(
        Limits::default(),
        "dump",
        &builder.into_inner().expect("in memory"),
    );
    assert_eq!(triples.len(), 1);
    assert_eq!(reports[0].file.len(), "dump!".len() + (64 << 10));
}

#[test]
fn bombs_nesting_and_paths() {
    let nt = NT.as_bytes();
    // A little more than the bytes whose ratio is not checked.
    let repeated = vec![b'\n'; Limits::RATIO_FREE_BYTES as usize + (1 << 20)];
    let bomb = gzip(&repeated);
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (bomb.clone(), "decompression bomb"),
        (zip(&[("a.nt", &repeated)]), "decompression bomb"),
        (gzip(&gzip(nt)), "gzip inside gzip"),
        (gzip(&bzip2(nt)), "bzip2 inside gzip"),
        (gzip(&zip(&[("a.nt", nt)])), "zip inside gzip"),
        (zip(&[("b.zip", &zip(&[("a.nt", nt)]))]), "zip inside zip"),
        (zip(&[("b.tar", &tar(&[("a.nt", nt)]))]), "tar inside zip"),
        (tar(&[("b.zip", &zip(&[("a.nt", nt)]))]), "zip inside tar"),
        (
            zip(&[("b.tgz", &gzip(&tar(&[("a.nt", nt)])))]),
            "tar inside zip",
        ),
    ];
    for (bytes, expected) in cases {
        let message = refusal(Limits::default(), "a.nt.gz", &bytes);
        assert!(message.contains(expected), "{expected}: {message}");
    }
    let few = Limits {
        archive_members: 1,
        decompressed_bytes: 10,
        ..Limits::default()
    };
    assert!(
        refusal(few.clone(), "a", &zip(&[("a.nt", nt), ("b.nt", nt)]))
            .contains("more than 1 members")
    );
    assert!(refusal(few, "a", &gzip(nt)).contains("more than 10 bytes"));
    for name in [
        "../evil.nt",
        "/evil.nt",
        "a/../../evil.nt",
        "..\\evil.nt",
        "C:evil.nt",
    ] {
        for archive in [
            zip(&[(name, nt), ("b.nt", nt)]),
            tar(&[(name, nt), ("b.nt", nt)]),
        ] {
            let (triples, reports) = read_with(Limits::default(), "a", &archive);
            let outcomes: Vec<Outcome> = reports.iter().map(|report| report.outcome).collect();
            assert_eq!(
                (triples.len(), outcomes),
                (1, vec![Outcome::Refused, Outcome::Complete]),
                "{name}: {reports:?}"
            );
        }
    }
}

/// Simple statement: subject number, then (predicate number, object) pairs.
type Statement = (u8, Vec<(u8, String)>);

fn statement() -> impl Strategy<Value = (Statement, [bool; 3])> {
    let object = prop_oneof![
        "[a-z]{1,3}".prop_map(|name| format!("e:{name}")),
        "[a-z .;,#<>()\\[\\]{}é€]{0,12}".prop_map(|text| format!("\"{text}\"")),
        "[a-z .;,#\"\n<(\\[{]{0,12}".prop_map(|text| format!("'''{text}'''@en")),
        (0..99u8).prop_map(|number| format!("{number}.5")),
        Just("<http://e/i>".to_owned()),
    ];
    (
        (0..9u8, prop::collection::vec((0..3u8, object), 1..4)),
        any::<[bool; 3]>(),
    )
}

fn render(((subject, pairs), [compact, commas, comment]): &(Statement, [bool; 3])) -> String {
    let mut text = format!("e:s{subject}");
    for (index, (predicate, object)) in pairs.iter().enumerate() {
        let same = *commas && index > 0 && pairs[index - 1].0 == *predicate;
        match (index, same) {
            (0, _) => text.push_str(&format!(" e:p{predicate} {object}")),
            (_, true) => text.push_str(&format!(" , {object}")),
            _ if *compact => text.push_str(&format!(";e:p{predicate} {object}")),
            _ => text.push_str(&format!(" ;\n\te:p{predicate} {object}")),
        }
    }
    text + if *comment {
        " . # it's <a comment\n"
    } else {
        " .\n"
    }
}

proptest! {
    #[test]
    fn one_broken_statement_costs_nothing_else(statements in prop::collection::vec(statement(), 1..12), place in any::<prop::sample::Index>(), spot in any::<prop::sample::Index>(), repeat in prop_oneof![Just(1usize), Just(400)]) {
        let broken = place.index(statements.len());
        let (mut sound, mut text) = (PREFIX.to_owned(), PREFIX.to_owned());
        for _ in 0..repeat {
            for (index, statement) in statements.iter().enumerate() {
                let source = render(statement);
                if index == broken {
                    // One name of the statement loses its prefix; its other parts may be kept.
                    let names: Vec<usize> = source.match_indices("e:s").chain(source.match_indices("e:p")).map(|(at, _)| at).collect();
                    let at = names[spot.index(names.len())];
                    text.push_str(&format!("{}unknown{}", &source[..at], &source[at + 1..]));
                } else {
                    sound.push_str(&source);
                    text.push_str(&source);
                }
            }
        }
        let (expected, report) = read("a.ttl", &sound);
        prop_assert!(report.is_clean(), "{:?}", report);
        let (everything, _) = read("a.ttl", &format!("{sound}{}", render(&statements[broken])));
        let (found, report) = read("a.ttl", &text);
        prop_assert!(expected.iter().all(|triple| found.contains(triple)), "lost from {text}");
        prop_assert!(found.iter().all(|triple| everything.contains(triple)), "invented in {text}: {found:?}");
        prop_assert!(report.skipped >= repeat as u64);
    }

    #[test]
    fn nothing_panics(bytes in prop::collection::vec(any::<u8>(), 0..200), tokens in prop::collection::vec(token(), 0..40)) {
        for extension in ["ttl", "trig", "n3", "nt", "nq", "rdf", "jsonld"] {
            for start in ["", "<a:b> <a:c> <a:d> . ", "<?xml version='1.0'?>", "{\"@id\": "] {
                for text in [&bytes[..], tokens.concat().as_bytes(), tokens.join(" ").as_bytes()] {
                    let text = [start.as_bytes(), text].concat();
                    let mut graph = TripleGraphBuilder::new();
                    let reports = DumpReader::default().read(&text[..], &format!("a.{extension}"), BASE, &mut graph);
                    prop_assert_eq!(reports.len(), 1);
                }
            }
        }
    }
}

fn token() -> impl Strategy<Value = &'static str> {
    prop::sample::select(TOKENS.split(' ').collect::<Vec<_>>())
}

const TOKENS: &str = "< > \" ' \"\"\" \\ . ; , [ ] ( ) { } \n \r # @prefix PREFIX e: <http://e/> a @en ^^ _:b 1. << >> => \
    <!DOCTYPE <!ENTITY &e; <!-- --> <![CDATA[ ]]> <? ?> </ /> \"@id\" : é \0";

/// The parser keeps a state for each level.
#[test]
fn json_ld_nesting_is_limited() {
    let nested = |levels: usize| {
        let (opening, closing) = (r#"{"http://e/p":"#.repeat(levels), "}".repeat(levels));
        format!(r#"{{"@id": "http://e/a", "http://e/p": {opening}1{closing}}}"#)
    };
    let message = refusal(Limits::default(), "a.jsonld", nested(100).as_bytes());
    assert!(message.contains("levels of nesting at line 1"), "{message}");
    assert_eq!(read("a.jsonld", &nested(50)).0.len(), 51);
}

/// The parser defines a chain of terms recursively.
#[test]
fn json_ld_chains_of_terms_are_rejected() {
    let document = |terms: usize| {
        let chain: String = (1..terms)
            .map(|term| format!(", \"a{term}\": \"a{}:x\"", term - 1))
            .collect();
        format!(
            "{{\"@context\": {{\"a0\": \"http://e/\"{chain}}}, \"@id\": \"http://e/a\", \"http://e/p\": 1}}"
        )
    };
    let message = refusal(Limits::default(), "a.jsonld", document(65).as_bytes());
    assert!(
        message.contains("up to 65 terms are defined one by the other"),
        "{message}"
    );
    assert_eq!(read("a.jsonld", &document(60)).0.len(), 1);
    let terms: Vec<String> = (0..5000)
        .map(|term| format!("\"t{term}\": \"e:term-of-the-context-{term}\""))
        .collect();
    let wide = format!(
        "{{\"@context\": {{\"e\": \"http://e/\", {}}}, \"@id\": \"e:a\", \"t7\": 1}}",
        terms.join(", ")
    );
    assert!(wide.len() > 150_000);
    assert_eq!(read("a.jsonld", &wide).0.len(), 1);
}

/// The parser copies all terms for each context inside another one.
#[test]
fn json_ld_contexts_inside_contexts_are_limited() {
    let terms: Vec<String> = (0..2300)
        .map(|term| format!("\"a{term}\": \"http://e/{term}\""))
        .collect();
    let document = |inner: &str, node: &str, nodes: usize| {
        let nodes = vec![node; nodes].join(",");
        format!(
            "{{\"@context\": {{{inner}{}}}, \"@graph\": [{nodes}]}}",
            terms.join(", ")
        )
    };
    let node = r#"{"@context": {}, "@id": "http://e/x", "a1": 1}"#;
    let message = refusal(
        Limits::default(),
        "a.jsonld",
        document("", node, 2300).as_bytes(),
    );
    assert!(message.contains("copies of term definitions"), "{message}");
    let inner = r#""s": {"@id": "http://e/s", "@context": {}}, "#;
    let message = refusal(
        Limits::default(),
        "a.jsonld",
        document(inner, r#"{"s": {"a1": 1}}"#, 2300).as_bytes(),
    );
    assert!(message.contains("copies of term definitions"), "{message}");
    assert_eq!(read("a.jsonld", &document("", node, 20)).0.len(), 1);
}

/// A long prefix is prepended to each short name.
#[test]
fn json_ld_namespaces_are_limited() {
    let context = format!("{{\"e\": \"http://e/{}/\"}}", "x".repeat(8200));
    let message = refusal(
        Limits::default(),
        "a.jsonld",
        format!("{{\"@context\": {context}}}").as_bytes(),
    );
    assert!(
        message.contains("prefixes, vocabulary and base"),
        "{message}"
    );
}

#[test]
fn statements_with_long_iris_are_skipped() {
    let iri = |length: usize| {
        format!(
            "<http://e.org/{}>",
            "a".repeat(length - "http://e.org/".len())
        )
    };
    for name in ["d.nt", "d.ttl"] {
        let (long, short) = (iri((64 << 10) + 1), iri(64 << 10));
        let text = format!(
            "{short} <e:p> {long} .\n<e:s> {long} <e:o> .\n<e:s> <e:p> \"1\"^^{long} .\n<e:s> <e:p> {short} .\n"
        );
        let (triples, report) = read(name, &text);
        assert_eq!((triples.len(), report.skipped), (1, 3), "{name}");
        let message = &report.problems[0].message;
        let expected =
            "an IRI, blank node label or language tag of more than 65536 bytes: http://e.org/aaa";
        assert!(
            message.starts_with(expected) && message.ends_with("a…"),
            "{message}"
        );
    }
}

/// Names that are resolved against a long base or prefix.
#[test]
fn long_bases_and_prefixes_are_rejected() {
    let long = "x".repeat(8000);
    let names: String = (0..2500)
        .map(|name| format!("<a{name}> <p> <b{name}> .\n"))
        .collect();
    let message = refusal(
        Limits::default(),
        "a.ttl",
        format!("@base <http://e/{long}/> .\n{names}").as_bytes(),
    );
    assert!(message.contains("resolve to more than"), "{message}");
    let longer = "x".repeat(8200);
    let text = rdf_xml(
        "",
        &format!("<e:C xml:base='http://e/{longer}/' r:about='a'/>"),
    );
    let message = refusal(Limits::default(), "a.rdf", text.as_bytes());
    assert!(message.contains("longer than 8192 bytes"), "{message}");
    let filler = format!("{PREFIX}{}", "e:a e:p e:b .\n".repeat(20_000));
    let message = refusal(
        Limits::default(),
        "a.ttl",
        format!("@prefix l: <http://e/{longer}> .\n{filler}").as_bytes(),
    );
    assert!(message.contains("longer than 8192 bytes"), "{message}");
}

/// Time after errors.
#[test]
fn errors_among_many_prefixes_and_in_long_statements() {
    let mut text = String::new();
    for number in 0..3000 {
        text += &format!(
            "@prefix p{number}: <http://e/{number}/> .\np{number}:a p0:p 1.p7:b x:y p{number}:c .\n"
        );
        text += &format!("p{number}:a p0:p p{}:c .\n", number / 2);
    }
    let started = std::time::Instant::now();
    let (triples, report) = read("a.ttl", &text);
    assert_eq!(
        (triples.len(), report.skipped >= 3000),
        (3000, true),
        "{:?}",
        &report.problems[..3]
    );
    assert!(started.elapsed().as_secs() < 120, "{:?}", started.elapsed());
    let subject = format!("<http://e/{}> <http://e/p> ", "s".repeat(100_000));
    let message = refusal(
        Limits::default(),
        "a.ttl",
        format!("{subject}{} 1 .\n", "x:y, ".repeat(20_000)).as_bytes(),
    );
    assert!(message.contains("read again and again"), "{message}");
}

/// A text that is parsed again gets a copy of each prefix in it, and of no other one.
#[test]
fn copies_of_long_prefixes_are_limited_after_errors() {
    let long = "x".repeat(8000);
    let text = format!(
        "@prefix e: <http://e/{long}/> .\ne:a e:p {} 1 .\n",
        "x:y, ".repeat(20_000)
    );
    let message = refusal(Limits::default(), "a.ttl", text.as_bytes());
    assert!(message.contains("read again and again"), "{message}");
    let others: String = (0..60)
        .map(|number| format!("@prefix p{number}: <http://e/{number}{long}/> .\n"))
        .collect();
    let (triples, report) = read(
        "a.ttl",
        &format!("{PREFIX}{others}e:a e:p {} 1 .\n", "x:y, ".repeat(2000)),
    );
    assert_eq!(
        (triples.len(), report.skipped, report.outcome),
        (1, 2000, Outcome::Skipped)
    );
}

/// Entries of the directory that share one member.
#[test]
fn zip_members_that_overlap_are_rejected() {
    let long: String = (0..500u32)
        .map(|n| {
            format!(
                "<http://e/{:x}> <http://e/p> {n} .\n",
                n.wrapping_mul(2_654_435_761)
            )
        })
        .collect();
    let mut archive = zip(&[("a.ttl", long.as_bytes()), ("b.ttl", b"")]);
    let entries: Vec<usize> = memchr::memmem::find_iter(&archive, b"PK\x01\x02").collect();
    for field in [10..28, 42..46] {
        archive.copy_within(
            entries[0] + field.start..entries[0] + field.end,
            entries[1] + field.start,
        );
    }
    assert!(refusal(Limits::default(), "a.zip", &archive).contains("overlap"));
}

/// Returns RDF/XML whose root element has these attributes in addition.
fn rdf_xml_with(attributes: &str, content: &str) -> String {
    rdf_xml("", content).replacen(" xmlns:e=", &format!(" {attributes} xmlns:e="), 1)
}

#[test]
fn many_namespaces_and_attributes_are_read() {
    let namespaces = |count: usize| -> String {
        (0..count)
            .map(|n| format!("xmlns:n{n}='http://e/{n}/' "))
            .collect()
    };
    let elements = |count: usize| -> String {
        (0..count)
            .map(|n| format!("<e:C r:about='http://e/{n}'/>\n"))
            .collect()
    };
    let attributes: String = (0..9000).map(|n| format!("e:p{n}='' ")).collect();
    // As many as in the largest real documents.
    let (triples, report) = read("a.rdf", &rdf_xml_with(&namespaces(500), &elements(20_000)));
    assert_eq!(
        (triples.len(), report.outcome),
        (20_000, Outcome::Complete),
        "{report:?}"
    );
    let (triples, report) = read("a.rdf", &rdf_xml("", &format!("<e:C {attributes}/>")));
    assert_eq!(
        (triples.len(), report.outcome),
        (9001, Outcome::Complete),
        "{report:?}"
    );
    // A declaration ends with its element.
    let nested = |count: usize| format!("<e:C {}><e:p/></e:C>\n", namespaces(count)).repeat(300);
    let (triples, report) = read("a.rdf", &rdf_xml("", &nested(100)));
    assert_eq!(
        (triples.len(), report.outcome),
        (600, Outcome::Complete),
        "{report:?}"
    );
}

/// oxrdfxml writes all namespaces in scope into each top-level element of an XML literal.
#[test]
fn namespaces_of_xml_literals_are_limited() {
    let namespaces: String = (0..200)
        .map(|n| format!("xmlns:n{n}='http://e/{n}/' "))
        .collect();
    let literal = |parse_type: &str, parts: usize| {
        let content = format!(
            "<e:C><e:p {parse_type}>{}</e:p></e:C>",
            "<b><i/></b>".repeat(parts)
        );
        rdf_xml_with(
            &format!("xmlns:l='http://www.w3.org/1999/02/22-rdf-syntax-ns#parse' {namespaces}"),
            &content,
        )
    };
    let limits = Limits {
        token_bytes: 100_000,
        ..Limits::default()
    };
    for parse_type in [
        "r:parseType='Literal'",
        "r:parseType = \"any\"",
        "l:Type='Literal'",
        "r:parse&#84;ype='Literal'",
    ] {
        let message = refusal(limits.clone(), "a.rdf", literal(parse_type, 100).as_bytes());
        assert!(
            message.contains("token of more than"),
            "{parse_type}: {message}"
        );
    }
    let (triples, report) = read("a.rdf", &literal("r:parseType='Literal'", 100));
    assert_eq!(
        (triples.len(), report.outcome),
        (2, Outcome::Complete),
        "{report:?}"
    );
    assert!(
        triples
            .iter()
            .any(|triple| triple.contains("<b><i></i></b>") && !triple.contains("xmlns")),
        "the literal declares namespaces that it does not use: {triples:?}"
    );
}

/// Names that are resolved against a base of some kilobytes, without triples.
#[test]
fn xml_bases_are_limited() {
    let long = "x".repeat(8000);
    let items = "<e:C r:about=''/>".repeat(6_000);
    let text = format!(
        "<e:C xml:base='http://e/{long}/'><e:p r:parseType='Collection'>{items}</e:p></e:C>"
    );
    let message = refusal(Limits::default(), "a.rdf", rdf_xml("", &text).as_bytes());
    assert!(message.contains("resolve to more than"), "{message}");
    for (attribute, doctype) in [
        (
            format!("xml:base='http://e/{long}{}/'", "x".repeat(200)),
            "",
        ),
        (format!("xmlns:x='http://e/{long}{}/'", "x".repeat(200)), ""),
        (format!("xml:lang='{}en'", "en-".repeat(2800)), ""),
        (
            format!("xmlns:x='http://e/{}'", "&x;".repeat(200)),
            "<!DOCTYPE r [<!ENTITY x \"0123456789012345678901234567890123456789012345678901234567890123456789\">]>",
        ),
    ] {
        let message = refusal(
            Limits::default(),
            "a.rdf",
            rdf_xml(doctype, &format!("<e:C {attribute}/>")).as_bytes(),
        );
        assert!(message.contains("longer than 8192 bytes"), "{message}");
    }
    let (triples, report) = read(
        "a.rdf",
        &rdf_xml(
            "",
            "<e:C xml:base='http://e/' xml:lang='en' r:about='a' e:p='x'/>",
        ),
    );
    assert_eq!(
        triples,
        [
            "<a> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <C>",
            "<a> <p> \"x\"@en"
        ],
        "{report:?}"
    );
}

/// The parts of workbooks and letters were read as RDF/XML.
#[test]
fn documents_of_office_programs_are_no_archives() {
    let part = rdf_xml("", "<e:C e:p='x'/>");
    let part = part.as_bytes();
    for members in [
        [
            ("[Content_Types].xml", &b"<Types/>"[..]),
            ("xl/a.rdf", part),
        ],
        [
            (
                "mimetype",
                &b"application/vnd.oasis.opendocument.spreadsheet"[..],
            ),
            ("content.rdf", part),
        ],
    ] {
        let (triples, reports) = read_with(Limits::default(), "dump.zip", &zip(&members));
        assert!(triples.is_empty(), "{triples:?}");
        assert_eq!(reports.len(), 1, "{reports:?}");
        assert_eq!(reports[0].outcome, Outcome::Refused, "{reports:?}");
        let problem = reports[0].problems[0].to_string();
        assert!(problem.contains("office program"), "{problem}");
    }
    let (triples, _) = read_with(Limits::default(), "dump.zip", &zip(&[("a.rdf", part)]));
    assert!(!triples.is_empty());
}
