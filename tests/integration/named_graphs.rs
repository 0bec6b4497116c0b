//! Named graphs over HTTP: `GRAPH ?g` binds what the endpoint declares, whatever is loaded, and the W3C's tests with named graphs.
//!
//! The W3C's tests are not part of this repository: `LODESEEK_DATA/w3c-rdf-tests` holds them. Each of their graphs is a dataset whose id
//! is the name of the file, so that a `BASE` before the query names them all; nothing else of a query is changed.

use super::http::{Reply, Site, encoded};
use super::protocol::{MF, Manifest, QT};
use super::support::{Home, limits, testdata};
use lodeseek_catalog::{Catalog, DatasetId};
use lodeseek_server::app;
use lodeseek_store::{ContentPlace, LoadOptions, Loader};
use oxrdf::graph::CanonicalizationAlgorithm;
use oxrdf::{Graph, NamedNode, Term};
use oxttl::{NTriplesParser, TurtleParser};
use serde_json::Value;
use sparesults::{QueryResultsFormat, QueryResultsParser, SliceQueryResultsParserOutput};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

const DATASETS: &str = "http://localhost:7878/dataset/";
const RDF: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
const RS: &str = "http://www.w3.org/2001/sw/DataAccess/tests/result-set#";
const GRAPHS: &str = "SELECT DISTINCT ?g { GRAPH ?g { ?s ?p ?o } } ORDER BY ?g";

/// Tests that differ, with the reason.
const DIFFERENT: &[(&str, &str)] = &[
    (
        "graph-variable-scope",
        "a filter inside `GRAPH ?g` sees `?g`, as in Oxigraph",
    ),
    (
        "graph-variable-join",
        "`<>` in the data is an IRI of the file, here not the graph's",
    ),
    ("graph-optional", "the same"),
    ("exists-graph-variable", "the same"),
    ("subquery02", "the same"),
    ("constructwhere04", "the request's graphs win over `FROM`"),
];

async fn ask(site: &Site, query: &str) -> Value {
    let reply = site
        .get(&format!("/sparql?{}", encoded(&[("query", query)])))
        .await;
    assert_eq!(reply.status, 200, "{query}: {}", reply.body);
    reply.json()
}

/// The values of a variable, as they come.
async fn values(site: &Site, query: &str, variable: &str) -> Vec<String> {
    let answer = ask(site, query).await;
    let rows = answer["results"]["bindings"].as_array().expect("rows");
    rows.iter()
        .filter_map(|row| Some(row[variable]["value"].as_str()?.to_owned()))
        .collect()
}

#[tokio::test]
async fn graphs_have_the_iris_of_datasets_through_every_load() {
    let folder = tempfile::tempdir().expect("a folder");
    let catalog = folder.path().join("catalog.ttl");
    let write = |label: &str| {
        let text = "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .
            <http://e.org/a> a dcat:Dataset ; dct:identifier \"a\" ; dct:title \"A\" ; dcat:distribution [ dcat:downloadURL <a.nt> ] .
            <http://e.org/b> a dcat:Dataset ; dct:identifier \"b\" ; dct:title \"B\" ; dcat:distribution [ dcat:downloadURL <b.nt> ] .";
        fs::write(&catalog, text).expect("written");
        fs::write(
            folder.path().join("a.nt"),
            format!("<http://e.org/s> <http://e.org/p> \"{label}\" ."),
        )
        .expect("written");
        fs::write(
            folder.path().join("b.nt"),
            "<http://e.org/s> <http://e.org/p> \"b\" .",
        )
        .expect("written");
    };
    write("one");
    let home = Home::from_catalog(&catalog);
    let names = [format!("{DATASETS}a"), format!("{DATASETS}b")];
    let both = format!(
        "SELECT ?g {{ GRAPH ?g {{ ?s ?p ?o }} FILTER(?g IN (<{}>, <{}>)) }}",
        names[0], names[1]
    );
    assert_eq!(
        home.count(&format!("SELECT (COUNT(*) AS ?n) {{ {{ {both} }} }}")),
        2
    );
    write("two");
    home.load(&catalog);
    let (state, kept) = home.state(limits());
    let site = Site::behind(app(state), kept);
    let empty = |graph: &str| format!("ASK {{ GRAPH <{graph}> {{}} }}");
    assert_eq!(ask(&site, &empty(&names[0])).await["boolean"], true);
    assert_eq!(
        ask(&site, &empty("http://e.org/unknown")).await["boolean"],
        false
    );
    let labels = "SELECT ?o { GRAPH ?g { ?s <http://e.org/p> ?o } ?g <http://purl.org/dc/terms/title> ?t } ORDER BY ?t";
    assert_eq!(
        values(&site, GRAPHS, "g").await,
        names,
        "a load changes no name"
    );
    assert_eq!(values(&site, labels, "o").await, ["two", "b"]);
    let counted = "SELECT ?g (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } } GROUP BY ?g ORDER BY ?g";
    assert_eq!(
        values(&site, counted, "g").await,
        names,
        "statistics give the same names"
    );
}

#[tokio::test]
async fn no_name_of_a_version_leaves_the_endpoint() {
    let site = Site::testdata();
    for query in [
        "SELECT * { ?s ?p ?o FILTER(ISIRI(?o) && CONTAINS(STR(?o), '/graph/')) }",
        "SELECT * { GRAPH ?g { ?s ?p ?o } FILTER(CONTAINS(STR(?g), '/graph/')) }",
        "SELECT * { GRAPH <http://localhost:7878/versions> { ?s ?p ?o } }",
        "SELECT * { GRAPH <http://localhost:7878/commit> { ?s ?p ?o } }",
    ] {
        let answer = ask(&site, query).await;
        assert_eq!(
            answer["results"]["bindings"].as_array().map(Vec::len),
            Some(0),
            "{query}: {answer}"
        );
    }
    for path in [
        "/sparql",
        "/.well-known/void",
        "/dataset/street-trees?format=nt",
        "/dataset/street-trees/snippet?format=nt",
    ] {
        let reply = site.get(path).await;
        assert!(
            reply.status == 200 && !reply.body.contains("7878/graph/"),
            "{path}: {}",
            reply.body
        );
    }
}

#[tokio::test]
async fn metadata_is_among_the_named_graphs_where_it_is_declared() {
    let site = Site::testdata();
    let catalog = "http://localhost:7878/catalog";
    let titles = "SELECT (COUNT(*) AS ?n) { GRAPH <http://localhost:7878/catalog> { ?d a <http://www.w3.org/ns/dcat#Dataset> } }";
    assert_eq!(values(&site, titles, "n").await, ["12"]);
    let from = format!("FROM NAMED <{catalog}> FROM NAMED <{DATASETS}street-trees>");
    let declared = GRAPHS.replacen("?g {", &format!("?g {from} {{"), 1);
    assert_eq!(
        values(&site, &declared, "g").await,
        [catalog.to_owned(), format!("{DATASETS}street-trees")]
    );
    let parameters = [("query", GRAPHS), ("named-graph-uri", catalog)];
    let reply = site
        .get(&format!("/sparql?{}", encoded(&parameters)))
        .await
        .json();
    assert_eq!(
        reply["results"]["bindings"].as_array().map(Vec::len),
        Some(1),
        "{reply}"
    );
    assert_eq!(values(&site, GRAPHS, "g").await.len(), testdata_datasets());
}

fn testdata_datasets() -> usize {
    let text = fs::read_to_string(testdata("catalog.ttl")).expect("readable");
    text.matches("a dcat:Dataset").count()
}

#[tokio::test]
async fn content_outside_of_the_store_is_rejected_wherever_it_is_named() {
    let home = Home::new();
    let options = LoadOptions {
        content: Some(ContentPlace::IndexOnly),
        ..LoadOptions::default()
    };
    let catalog = Catalog::read(&testdata("catalog.ttl")).expect("a catalogue");
    Loader::new(&home.store)
        .with_options(options)
        .load(catalog, &|_| ())
        .expect("loaded");
    home.index();
    let id = DatasetId::new("street-trees").expect("an id");
    let version = home.store.entry(&id).expect("a dataset").version;
    let version = home.store.iris().graph(&id, &version);
    let (state, kept) = home.state(limits());
    let site = Site::behind(app(state), kept);
    let inside = format!("GRAPH <{DATASETS}street-trees> {{ ?a ?b ?c }}");
    for query in [
        format!("ASK {{ {inside} }}"),
        format!("ASK {{ FILTER EXISTS {{ {inside} }} }}"),
        format!(
            "ASK {{ ?s ?p ?o FILTER NOT EXISTS {{ ?s ?q ?r FILTER NOT EXISTS {{ {inside} }} }} }}"
        ),
        format!("SELECT * {{ ?s ?p ?o BIND(EXISTS {{ {inside} }} AS ?x) }}"),
        format!(
            "SELECT * {{ ?s ?p ?o OPTIONAL {{ ?s ?q ?r FILTER(?o = 1 || EXISTS {{ {inside} }}) }} }}"
        ),
    ] {
        let reply = site
            .get(&format!("/sparql?{}", encoded(&[("query", &query)])))
            .await;
        assert!(
            reply.status == 400 && reply.body.contains("index-only"),
            "{query}: {} {}",
            reply.status,
            reply.body
        );
    }
    let named = format!("SELECT * {{ GRAPH {version} {{ ?s ?p ?o }} }}");
    assert_eq!(
        ask(&site, &named).await["results"]["bindings"]
            .as_array()
            .map(Vec::len),
        Some(0),
        "no name of clients"
    );
}

/// Rows with sorted cells, and how many times each comes; blank nodes are all alike.
type Bag = BTreeMap<Vec<(String, String)>, usize>;

#[derive(PartialEq, Debug)]
enum Outcome {
    Boolean(bool),
    Rows(Bag),
    Graph(Box<Graph>),
}

/// A test with named graphs.
struct Case {
    name: String,
    query: String,
    default: Option<String>,
    named: Vec<String>,
    result: PathBuf,
}

impl Case {
    /// An IRI of the results: that of a graph becomes the dataset's.
    fn cell(&self, term: &Term) -> String {
        let file = |node: &NamedNode| node.as_str().rsplit('/').next().map(str::to_owned);
        match term {
            Term::BlankNode(_) => "_:".to_owned(),
            Term::NamedNode(node) if file(node).is_some_and(|file| self.named.contains(&file)) => {
                format!("<{DATASETS}{}>", file(node).unwrap_or_default())
            }
            other => other.to_string(),
        }
    }

    fn results(&self, format: QueryResultsFormat, text: &[u8]) -> Outcome {
        let mut bag = Bag::new();
        match QueryResultsParser::from_format(format)
            .for_slice(text)
            .expect("results")
        {
            SliceQueryResultsParserOutput::Boolean(value) => return Outcome::Boolean(value),
            SliceQueryResultsParserOutput::Solutions(solutions) => {
                for solution in solutions {
                    let solution = solution.expect("a solution");
                    let cells = solution
                        .iter()
                        .map(|(name, term)| (name.as_str().to_owned(), self.cell(term)));
                    let mut row: Vec<_> = cells.collect();
                    row.sort();
                    *bag.entry(row).or_default() += 1;
                }
            }
        }
        Outcome::Rows(bag)
    }

    /// Results in the vocabulary of the first test suite, or the graph of a `CONSTRUCT`.
    fn turtle(&self, path: &Path) -> Outcome {
        let manifest = Manifest::read(path);
        let all = |property: &str| manifest.pairs(&format!("{RS}{property}"));
        if let Some((_, Term::Literal(value))) = all("boolean").into_iter().next() {
            return Outcome::Boolean(value.value() == "true");
        }
        let is_result_set = manifest
            .pairs(&format!("{RDF}type"))
            .iter()
            .any(|(_, class)| class.to_string().contains(RS));
        if !is_result_set {
            let text = fs::read(path).expect("readable");
            let parser = TurtleParser::new().with_base_iri(DATASETS).expect("a base");
            let mut graph: Graph = parser
                .for_slice(&text)
                .map(|triple| triple.expect("a triple"))
                .collect();
            graph.canonicalize(CanonicalizationAlgorithm::Unstable);
            return Outcome::Graph(Box::new(graph));
        }
        let mut bag = Bag::new();
        for (_, solution) in all("solution") {
            let mut row = Vec::new();
            for binding in manifest.objects(&solution, &format!("{RS}binding")) {
                let Some(Term::Literal(name)) = manifest.object(&binding, &format!("{RS}variable"))
                else {
                    panic!()
                };
                let value = manifest
                    .object(&binding, &format!("{RS}value"))
                    .expect("a value");
                row.push((name.value().to_owned(), self.cell(&value)));
            }
            row.sort();
            *bag.entry(row).or_default() += 1;
        }
        Outcome::Rows(bag)
    }

    fn expected(&self) -> Outcome {
        let text = || fs::read(&self.result).expect("readable");
        match self
            .result
            .extension()
            .and_then(|extension| extension.to_str())
        {
            Some("srx") => self.results(QueryResultsFormat::Xml, &text()),
            Some("srj") => self.results(QueryResultsFormat::Json, &text()),
            _ => self.turtle(&self.result),
        }
    }

    fn found(&self, reply: &Reply) -> Outcome {
        if reply.media_type() == "application/n-triples" {
            let parsed = NTriplesParser::new().for_slice(&reply.body);
            let mut graph: Graph = parsed.map(|triple| triple.expect("a triple")).collect();
            graph.canonicalize(CanonicalizationAlgorithm::Unstable);
            return Outcome::Graph(Box::new(graph));
        }
        self.results(QueryResultsFormat::Json, reply.body.as_bytes())
    }

    /// Loads the graphs as datasets, and sends the query.
    async fn run(&self, folder: &Path) -> Reply {
        let loaded = tempfile::tempdir().expect("a folder");
        let mut catalog =
            "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .\n".to_owned();
        let default = self
            .default
            .iter()
            .map(|file| (file, format!("default.{file}")));
        for (file, id) in self
            .named
            .iter()
            .map(|file| (file, file.clone()))
            .chain(default)
        {
            fs::copy(folder.join(file), loaded.path().join(file)).expect("copied");
            let entry = "a dcat:Dataset ; dct:title \"W3C\" ; dcat:distribution [ dcat:downloadURL";
            writeln!(
                catalog,
                "<http://e.org/{id}> dct:identifier \"{id}\" ; {entry} <{file}> ] ."
            )
            .expect("written");
        }
        fs::write(loaded.path().join("catalog.ttl"), catalog).expect("written");
        let site = Site::from_catalog(&loaded.path().join("catalog.ttl"), limits());
        let query = format!("BASE <{DATASETS}>\n{}", self.query);
        let accept = if self.query.to_uppercase().contains("CONSTRUCT") {
            "nt"
        } else {
            "json"
        };
        let names: Vec<String> = self
            .named
            .iter()
            .map(|file| format!("{DATASETS}{file}"))
            .collect();
        let default = self
            .default
            .iter()
            .map(|file| format!("{DATASETS}default.{file}"))
            .collect::<Vec<_>>();
        let mut parameters = vec![("query", query.as_str()), ("format", accept)];
        parameters.extend(names.iter().map(|name| ("named-graph-uri", name.as_str())));
        parameters.extend(
            default
                .iter()
                .map(|name| ("default-graph-uri", name.as_str())),
        );
        site.get(&format!("/sparql?{}", encoded(&parameters))).await
    }
}

fn file_name(term: Term) -> String {
    match term {
        Term::NamedNode(node) => node
            .as_str()
            .rsplit('/')
            .next()
            .unwrap_or_default()
            .to_owned(),
        other => panic!("{other} is no file"),
    }
}

fn cases(folder: &Path) -> Vec<Case> {
    let manifest = Manifest::read(&folder.join("manifest.ttl"));
    let mut cases = Vec::new();
    for (name, test) in manifest.entries() {
        let Some(action) = manifest.object(&test, &format!("{MF}action")) else {
            continue;
        };
        let named: Vec<String> = manifest
            .objects(&action, &format!("{QT}graphData"))
            .into_iter()
            .map(file_name)
            .collect();
        let (Some(query), Some(result)) = (
            manifest.file(&action, &format!("{QT}query")),
            manifest.file(&test, &format!("{MF}result")),
        ) else {
            continue; // an update
        };
        if named.is_empty() {
            continue;
        }
        let query = fs::read_to_string(folder.join(query)).expect("readable");
        let default = manifest.file(&action, &format!("{QT}data"));
        cases.push(Case {
            name,
            query,
            default,
            named,
            result: folder.join(result),
        });
    }
    cases
}

#[tokio::test]
async fn the_tests_of_the_w3c_with_named_graphs() {
    let data = match std::env::var_os("LODESEEK_DATA") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from("../shared/data"),
    };
    let suite = data.join("w3c-rdf-tests/sparql");
    if !suite.is_dir() {
        let _ = writeln!(
            std::io::stderr().lock(),
            "SKIPPED: no W3C tests in {} (LODESEEK_DATA)",
            suite.display()
        );
        return;
    }
    let (mut passed, mut failed) = (0, Vec::new());
    for part in [
        "sparql10/algebra",
        "sparql10/graph",
        "sparql10/optional",
        "sparql11/aggregates",
        "sparql11/bindings",
        "sparql11/construct",
        "sparql11/exists",
        "sparql11/negation",
        "sparql11/property-path",
        "sparql11/subquery",
    ] {
        let folder = suite.join(part);
        for case in cases(&folder) {
            let reply = case.run(&folder).await;
            let is_right = reply.status == 200 && case.found(&reply) == case.expected();
            let is_known = DIFFERENT.iter().any(|(name, _)| *name == case.name);
            match (is_right, is_known) {
                (true, false) => passed += 1,
                (false, true) => {}
                (true, true) => failed.push(format!(
                    "{part} {}: passes, and is listed as different",
                    case.name
                )),
                (false, false) => failed.push(format!(
                    "{part} {}: {}\n{}\n{:?}",
                    case.name,
                    case.query,
                    reply.body,
                    case.expected()
                )),
            }
        }
    }
    assert!(
        failed.is_empty(),
        "{} failed, {passed} passed:\n{}",
        failed.len(),
        failed.join("\n\n")
    );
    assert!(passed >= 29, "{passed} tests are too few");
}
