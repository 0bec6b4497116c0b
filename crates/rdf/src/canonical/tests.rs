use super::*;
use crate::TripleGraphBuilder;
use crate::dump::DumpReader;
use proptest::prelude::*;
use sophia::api::prelude::QuadSource;
use sophia::api::quad::Spog;
use sophia::api::term::SimpleTerm;
use sophia::c14n::rdfc10;
use sophia::turtle::parser::nq;
use std::collections::HashSet;

fn graph(text: &str, name: &str) -> TripleGraph {
    let mut builder = TripleGraphBuilder::new();
    let reports = DumpReader::default().read(text.as_bytes(), name, "http://e.org/", &mut builder);
    assert!(
        reports.iter().all(crate::dump::FileReport::is_clean),
        "{reports:?}"
    );
    builder.finish()
}

fn fingerprint_of(text: &str, name: &str) -> Result<String, CanonicalizationError> {
    canonical_fingerprint(&graph(text, name))
}

/// Returns the hash of Sophia's canonical form of a whole graph.
fn by_sophia(lines: &str) -> String {
    let quads: HashSet<Spog<SimpleTerm<'static>>> =
        nq::parse_str(lines).collect_quads().expect("N-Quads");
    let mut canonical = Vec::new();
    rdfc10::normalize(&quads, &mut canonical).expect("canonical");
    Sha256::digest(canonical)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[test]
fn neither_syntax_nor_order_nor_labels_matter() {
    let turtle = "@prefix ex: <http://e.org/> . ex:a ex:p [ ex:q 1 , \"x\"@EN ] , [ ex:q [ ex:r ex:a ] ] , ( ex:b ex:c ) .";
    let rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
    let lines = format!(
        "_:z <http://e.org/q> \"1\"^^<http://www.w3.org/2001/XMLSchema#integer> .
         _:l2 <{rdf}first> <http://e.org/c> .
         _:l2 <{rdf}rest> <{rdf}nil> .
         <http://e.org/a> <http://e.org/p> _:z .
         <http://e.org/a> <http://e.org/p> _:l1 .
         _:y <http://e.org/r> <http://e.org/a> .
         _:x <http://e.org/q> _:y .
         _:z <http://e.org/q> \"x\"@en .
         _:l1 <{rdf}rest> _:l2 .
         _:l1 <{rdf}first> <http://e.org/b> .
         <http://e.org/a> <http://e.org/p> _:x ."
    );
    let found = fingerprint_of(turtle, "a.ttl").expect("a fingerprint");
    assert_eq!(
        found,
        fingerprint_of(&lines, "a.nt").expect("a fingerprint")
    );
    assert_eq!(found, by_sophia(&lines));
    let other = lines.replace(
        "_:z <http://e.org/q> \"x\"@en",
        "_:x <http://e.org/q> \"x\"@en",
    );
    assert_ne!(
        found,
        fingerprint_of(&other, "a.nt").expect("a fingerprint")
    );
    let empty = TripleGraphBuilder::new().finish();
    assert_eq!(
        canonical_fingerprint(&empty).expect("of nothing"),
        by_sophia("")
    );
}

#[test]
fn language_tags_are_one_in_any_case() {
    let tagged = |tags: &[&str]| {
        let lines: Vec<String> = tags
            .iter()
            .map(|tag| format!("<ex:a> <ex:p> \"x\"@{tag} .\n"))
            .collect();
        fingerprint_of(&lines.concat(), "a.nt").expect("a fingerprint")
    };
    assert_eq!(tagged(&["EN", "en"]), tagged(&["En"]));
    assert_ne!(tagged(&["en"]), tagged(&["de"]));
}

fn term() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ab]{1,2}".prop_map(|name| format!("<ex:{name}>")),
        "[ab]/?[!#$&-.]?".prop_map(|name| format!("<ex:{name}>")),
        (
            "[\\x00-\\x7f]{0,3}",
            prop_oneof![
                Just(""),
                Just("@en"),
                Just("@de-at"),
                Just("^^<ex:d>"),
                Just("^^<ex:d/>")
            ]
        )
            .prop_map(|(text, kind)| {
                let escaped: String = text
                    .chars()
                    .map(|c| format!("\\u{:04X}", u32::from(c)))
                    .collect();
                format!("\"{escaped}\"{kind}")
            }),
    ]
}

fn named() -> impl Strategy<Value = String> {
    let line =
        ("[a-c]/?", "[pq]", term()).prop_map(|(s, p, o)| format!("<ex:{s}> <ex:{p}> {o} .\n"));
    proptest::collection::vec(line, 0..20).prop_map(|lines| lines.concat())
}

fn with_blanks() -> impl Strategy<Value = Vec<(u8, u8, u8)>> {
    proptest::collection::vec((0..9_u8, 0..2_u8, 0..9_u8), 0..14)
}

fn lines(triples: &[(u8, u8, u8)], label: impl Fn(u8) -> String) -> String {
    let term = |place: u8| {
        if place < 6 {
            label(place)
        } else {
            format!("<ex:{place}>")
        }
    };
    triples
        .iter()
        .map(|(s, p, o)| format!("{} <ex:p{p}> {} .\n", term(*s), term(*o)))
        .collect()
}

proptest! {
    #[test]
    fn a_graph_without_blank_nodes_has_sophias_hash(lines in named()) {
        prop_assert_eq!(fingerprint_of(&lines, "a.nt").expect("a fingerprint"), by_sophia(&lines));
    }

    #[test]
    fn a_graph_with_blank_nodes_has_sophias_hash_under_any_labels(triples in with_blanks(), turn in 1..6_u8) {
        let first = lines(&triples, |place| format!("_:n{place}"));
        let mut reversed = triples.clone();
        reversed.reverse();
        let second = lines(&reversed, |place| format!("_:m{}", (place + turn) % 6));
        let found = fingerprint_of(&first, "a.nt").expect("a fingerprint");
        prop_assert_eq!(&found, &fingerprint_of(&second, "b.nt").expect("a fingerprint"));
        prop_assert_eq!(found, by_sophia(&first));
    }
}

/// Returns a circle of nodes. Each node is linked to the nodes at these distances.
fn circle(size: usize, distances: &[usize]) -> String {
    let link =
        |from: usize, step: usize| format!("_:n{from} <ex:p> _:n{} .\n", (from + step) % size);
    (0..size)
        .flat_map(|from| distances.iter().map(move |step| link(from, *step)))
        .collect()
}

/// Small graphs and low limits: with those of real use, such graphs would take any time.
#[test]
fn graphs_beyond_the_limits_have_no_fingerprint() {
    let low = || LabelLimits {
        depth: 8,
        permuted: 3,
        work: 1000,
    };
    for (name, text, limits) in [
        ("a clique", circle(5, &[1, 2, 3, 4]), low()),
        ("a long circle", circle(12, &[1]), low()),
        (
            "work",
            circle(6, &[1, 5]),
            LabelLimits { work: 10, ..low() },
        ),
    ] {
        let graph = graph(&text, "a.nt");
        let found = fingerprint(&graph, &limits);
        assert!(
            matches!(found, Err(CanonicalizationError::TooComplex(_))),
            "{name}: {found:?}"
        );
        assert!(
            canonical_fingerprint(&graph).is_ok(),
            "{name}: within the limits"
        );
    }
}

/// The maximum depth is reached on the stack of a thread like the loader's.
#[test]
fn alike_nodes_within_the_limits_have_a_fingerprint() {
    let cycles: String = (0..500)
        .map(|cycle| circle(6, &[1]).replace("_:n", &format!("_:c{cycle}n")))
        .collect();
    assert!(fingerprint_of(&cycles, "a.nt").is_ok());
    assert!(fingerprint_of(&circle(labels::MAX_DEPTH, &[1]), "a.nt").is_ok());
}

#[test]
fn triple_terms_have_fingerprints() {
    let lines =
        "_:x <ex:p> <<( _:x <ex:q> <<( _:y <ex:r> \"a\"@ar--rtl )>> )>> .\n_:y <ex:p> <ex:o> .";
    let found = fingerprint_of(lines, "a.nt").expect("a fingerprint");
    let renamed = lines.replace("_:x", "_:z").replace("_:y", "_:x");
    assert_eq!(
        found,
        fingerprint_of(&renamed, "a.nt").expect("a fingerprint")
    );
    for (part, other) in [
        ("_:y <ex:r>", "_:x <ex:r>"),
        ("--rtl", "--ltr"),
        ("--rtl", ""),
    ] {
        assert_ne!(
            found,
            fingerprint_of(&lines.replace(part, other), "a.nt").expect("a fingerprint"),
            "{other}"
        );
    }
    let text = "<ex:s> <ex:p> \"a\"@en-gb , \"a\"@en--rtl , \"a\"@en--ltr , \"a\"@en , \"a\" , 1 , \"a\"@fr .";
    let turtle = graph(&format!("PREFIX ex: <ex:> {text}"), "a.ttl");
    let mut found = Vec::new();
    CanonicalLines::new(&turtle, Vec::new()).each(|line| found.push(line.to_owned()));
    assert!(found.is_sorted() && found.len() == 7, "{found:#?}");
}
