//! The IRIs of the program, of `ontologies/` and of `queries/` agree.

use super::support::root;
use lodeseek_rdf::vocab::{PREFIXES, VOCABULARIES, lodeseek as own};
use oxrdf::NamedOrBlankNode;
use oxttl::TurtleParser;
use spargebra::SparqlParser;
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

fn files(folder: &str, suffix: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join(folder)).expect(folder);
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut paths: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|found| found == suffix))
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "{folder} holds no .{suffix} file");
    paths
}

/// Every IRI that the ontologies say something of.
fn described() -> BTreeSet<String> {
    let mut subjects = BTreeSet::new();
    for path in files("ontologies", "ttl") {
        for triple in TurtleParser::new().for_slice(&fs::read(&path).expect("readable")) {
            let triple = triple.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            if let NamedOrBlankNode::NamedNode(subject) = triple.subject {
                subjects.insert(subject.into_string());
            }
        }
    }
    subjects
}

#[test]
fn every_constant_is_described() {
    let described = described();
    let terms = VOCABULARIES
        .iter()
        .flat_map(|(name, terms)| terms.iter().map(move |term| (name, term)));
    let missing: Vec<_> = terms
        .filter(|(_, term)| !described.contains(**term))
        .collect();
    assert!(
        missing.is_empty(),
        "in no file of ontologies/: {missing:#?}"
    );
}

#[test]
fn every_own_term_that_is_described_is_a_constant() {
    let known: BTreeSet<&str> = own::ALL.iter().copied().collect();
    let described = described();
    let terms = described
        .iter()
        .filter_map(|iri| iri.strip_prefix(own::NAMESPACE).map(|name| (iri, name)));
    let unused: Vec<_> = terms
        .filter(|(iri, name)| !name.is_empty() && !known.contains(iri.as_str()))
        .map(|(iri, _)| iri)
        .collect();
    assert!(unused.is_empty(), "described, but of no use: {unused:#?}");
}

#[test]
fn the_list_of_vocabularies_is_complete() {
    let source = fs::read_to_string(root().join("crates/rdf/src/vocab.rs")).expect("readable");
    assert_eq!(
        source
            .lines()
            .filter(|line| line.starts_with("vocabulary! {"))
            .count(),
        VOCABULARIES.len()
    );
}

#[test]
fn every_query_is_sparql_with_known_prefixes() {
    let described = described();
    for path in files("queries", "rq") {
        let name = path.display();
        let text = fs::read_to_string(&path).expect("readable");
        let parser = SparqlParser::new()
            .with_base_iri("http://localhost/")
            .expect("a base");
        let query = parser
            .parse_query(&text)
            .unwrap_or_else(|error| panic!("{name}: {error}"));

        let declared = text
            .lines()
            .filter_map(|line| line.trim().strip_prefix("PREFIX "));
        for (prefix, iri) in declared.filter_map(|declaration| declaration.split_once(':')) {
            let iri = iri.trim().trim_start_matches('<').trim_end_matches('>');
            assert!(
                PREFIXES.contains(&(prefix, iri)),
                "{name}: {prefix}: <{iri}> is not in rdf::vocab::PREFIXES"
            );
        }

        // The parsed query contains every IRI in full.
        let full = query.to_string();
        for after in full.split(&format!("<{}", own::NAMESPACE)).skip(1) {
            let term = after.split('>').next().unwrap_or_default();
            assert!(
                described.contains(&format!("{}{term}", own::NAMESPACE)),
                "{name}: lodeseek:{term} is not defined"
            );
        }
    }
}
