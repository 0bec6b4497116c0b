//! Statements of other people's catalogues as they leave: with their properties, datatypes and identifiers, each once.

use super::{Catalog, Iris, dcat};
use std::fs;

const PREFIXES: &str =
    "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .
    @prefix foaf: <http://xmlns.com/foaf/0.1/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
    @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> . @prefix : <http://e.org/> .\n";
const DCT: &str = "http://purl.org/dc/terms/";

fn read(name: &str, text: &str) -> Catalog {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    fs::write(&path, text).expect("written");
    Catalog::read(&path).expect("a catalogue")
}

fn turtle(text: &str) -> Catalog {
    read("c.ttl", &format!("{PREFIXES}{text}"))
}

/// Returns the triples of all datasets, and those that they become after a round trip through the catalogue graph.
fn lines(catalog: &Catalog) -> Vec<String> {
    let iris = Iris::default();
    let mut lines = Vec::new();
    for dataset in &catalog.datasets {
        let triples = dcat::to_triples(dataset, &iris);
        let mut builder = lodeseek_rdf::TripleGraphBuilder::new();
        for triple in &triples {
            builder.insert(triple.as_ref());
        }
        let node = iris.dataset(&dataset.metadata.id);
        let stored = dcat::from_triples(&builder.finish(), &node).expect("described");
        assert_eq!(
            stored.metadata.id, dataset.metadata.id,
            "the id is that of the IRI"
        );
        let mut first: Vec<String> = triples.iter().map(ToString::to_string).collect();
        let mut second: Vec<String> = dcat::to_triples(&stored, &iris)
            .iter()
            .map(ToString::to_string)
            .collect();
        first.sort();
        second.sort();
        first.dedup();
        second.dedup();
        assert_eq!(first, second);
        lines.extend(first);
    }
    lines
}

/// Returns the objects of a property.
fn objects<'l>(lines: &'l [String], property: &str) -> Vec<&'l str> {
    let middle = format!(" <{property}> ");
    lines
        .iter()
        .filter_map(|line| line.split_once(&middle))
        .map(|(_, object)| object)
        .collect()
}

#[test]
fn identifiers_are_those_of_the_catalogue() {
    let catalog = turtle(
        ":a a dcat:Dataset ; dct:title \"A\" ; dct:identifier \"https://e.org/id/a-1\" .
         :b a dcat:Dataset ; dct:title \"B\" ; dct:identifier \"b-1\" , \"10.5/b\" .
         :c a dcat:Dataset ; dct:title \"C\" .",
    );
    let lines = lines(&catalog);
    let mut found = objects(&lines, &format!("{DCT}identifier"));
    found.sort_unstable();
    assert_eq!(
        found,
        ["\"10.5/b\"", "\"b-1\"", "\"c\"", "\"https://e.org/id/a-1\""]
    );
    assert!(objects(&lines, "http://www.w3.org/ns/adms#identifier").is_empty());
}

#[test]
fn literals_with_a_datatype_are_one_value() {
    let catalog = turtle(
        ":a a dcat:Dataset ; dct:title \"A\" ; dct:description \"<p>x</p>\"^^rdf:HTML ;
           dct:issued \"2020-13-01\"^^xsd:date ; dct:modified \"2020-01-01T00:00:00\"^^xsd:date ; dcat:keyword \"k\"^^xsd:token .",
    );
    let lines = lines(&catalog);
    let xsd = "http://www.w3.org/2001/XMLSchema#";
    let rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
    for (property, expected) in [
        (
            format!("{DCT}description"),
            format!("\"<p>x</p>\"^^<{rdf}HTML>"),
        ),
        (
            format!("{DCT}issued"),
            format!("\"2020-13-01\"^^<{xsd}date>"),
        ),
        (
            format!("{DCT}modified"),
            format!("\"2020-01-01T00:00:00\"^^<{xsd}date>"),
        ),
        (
            "http://www.w3.org/ns/dcat#keyword".to_owned(),
            format!("\"k\"^^<{xsd}token>"),
        ),
    ] {
        assert_eq!(objects(&lines, &property), [expected], "{property}");
    }
    assert_eq!(catalog.datasets[0].metadata.description(), Some("<p>x</p>"));
}

#[test]
fn xml_literals_of_rdf_xml_are_well_formed_and_one_value() {
    let catalog = read(
        "c.rdf",
        "<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" xmlns:dcat=\"http://www.w3.org/ns/dcat#\"
           xmlns:dct=\"http://purl.org/dc/terms/\" xmlns=\"http://e.org/default\">
           <dcat:Dataset rdf:about=\"http://e.org/a\"><dct:title>A</dct:title>
             <dct:description rdf:parseType=\"Literal\"><p xmlns=\"http://www.w3.org/1999/xhtml\">two <b>words</b></p></dct:description>
           </dcat:Dataset></rdf:RDF>",
    );
    let lines = lines(&catalog);
    let rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
    let text = r#"<p xmlns=\"http://www.w3.org/1999/xhtml\">two <b>words</b></p>"#;
    assert_eq!(
        objects(&lines, &format!("{DCT}description")),
        [format!("\"{text}\"^^<{rdf}XMLLiteral>")]
    );
}

#[test]
fn media_types_have_no_parameters() {
    let catalog = turtle(
        ":a a dcat:Dataset ; dct:title \"A\" ; dcat:distribution [ dcat:downloadURL <https://e.org/a> ;
           dcat:mediaType \"text/csv;charset=utf-8\" ] .",
    );
    let lines = lines(&catalog);
    assert_eq!(
        objects(&lines, "http://www.w3.org/ns/dcat#mediaType"),
        ["<https://www.iana.org/assignments/media-types/text/csv>"]
    );
    assert_eq!(
        objects(&lines, &format!("{DCT}format")),
        ["\"text/csv;charset=utf-8\""]
    );
}

#[test]
fn repaired_addresses_are_one_value_and_reported() {
    let catalog = turtle(
        ":a a dcat:Dataset ; dct:title \"A\" ; dcat:landingPage \"https://e.org/the page\" ;
           dcat:distribution [ dcat:downloadURL \"https://e.org/a b.csv\" ] .",
    );
    let lines = lines(&catalog);
    assert_eq!(
        objects(&lines, "http://www.w3.org/ns/dcat#downloadURL"),
        ["<https://e.org/a%20b.csv>"]
    );
    assert_eq!(
        objects(&lines, "http://www.w3.org/ns/dcat#landingPage"),
        ["<https://e.org/the%20page>"]
    );
    let problem = catalog.problems[0].to_string();
    assert!(
        problem.contains("2 addresses") && problem.contains("`downloadURL`"),
        "{problem}"
    );
}

#[test]
fn rights_are_no_licence_in_the_description() {
    let catalog = turtle(
        ":a a dcat:Dataset ; dct:title \"A\" ; dct:rights <https://e.org/terms> .
         :b a dcat:Dataset ; dct:title \"B\" ; dct:rights <https://e.org/l> ; dct:license <https://e.org/l> .",
    );
    let lines = lines(&catalog);
    assert_eq!(
        objects(&lines, &format!("{DCT}license")),
        ["<https://e.org/l>"]
    );
    assert_eq!(objects(&lines, &format!("{DCT}rights")).len(), 2);
    assert_eq!(
        catalog.datasets[0].licenses(),
        ["https://e.org/terms"],
        "facets have it"
    );
}

#[test]
fn resources_of_no_dataset_are_reported() {
    let catalog = turtle(
        ":cat a dcat:Catalog ; dct:title \"All\" ; dcat:dataset :a , :gone ; dcat:service :lonely , :serving .
         :a a dcat:Dataset ; dct:title \"A\" .
         :lonely a dcat:DataService ; dct:title \"Lonely\" . :serving a dcat:DataService ; dcat:servesDataset :a .
         :untyped dct:title \"t\" ; dcat:distribution [ dcat:downloadURL <https://e.org/t.csv> ] .",
    );
    let problems: Vec<String> = catalog.problems.iter().map(ToString::to_string).collect();
    assert_eq!(problems.len(), 2, "{problems:#?}");
    assert!(problems[0].ends_with("description: <http://e.org/gone>"));
    assert!(
        problems[1].starts_with("2 ")
            && problems[1].ends_with("<http://e.org/lonely>, <http://e.org/untyped>"),
        "{problems:#?}"
    );
    let lines = lines(&catalog);
    let served = format!(
        "<http://e.org/serving> <http://www.w3.org/ns/dcat#servesDataset> <{}dataset/a>",
        Iris::DEFAULT_BASE
    );
    assert!(lines.contains(&served), "{lines:#?}");
}

#[test]
fn sources_and_embedded_datasets_keep_their_properties() {
    let catalog = turtle(
        ":a a dcat:Dataset ; dct:title \"A\" ; dct:source <https://e.org/raw> ;
           dct:hasPart [ a dcat:Dataset ; dct:title \"Part one\" ] .",
    );
    let lines = lines(&catalog);
    let base = Iris::DEFAULT_BASE;
    for triple in [
        format!("<{base}dataset/a> <{DCT}source> <https://e.org/raw>"),
        format!("<{base}dataset/a> <http://www.w3.org/2002/07/owl#sameAs> <http://e.org/a>"),
        format!("<{base}dataset/a> <{DCT}hasPart> <{base}dataset/Part-one>"),
    ] {
        assert!(lines.contains(&triple), "{triple}: {lines:#?}");
    }
    assert_eq!(objects(&lines, &format!("{DCT}title")).len(), 2);
}
