//! The SPARQL Protocol: what the W3C's manifests ask of an endpoint, and what they do not ask of this one.
//!
//! The manifests and their data are not part of this repository: `LODESEEK_DATA/w3c` holds them. Their graphs are datasets
//! here, so a request that names a graph names the dataset made of it; nothing else of a request is changed.
//!
//! | not run | why |
//! |---|---|
//! | seven tests of `protocol` | they update: [`UPDATES`], each refused |
//! | all but one of `graph-store-protocol`, indirect | they write first: each refused |
//! | `graph-store-protocol`, direct | graphs are named by `?graph=` and `?default` alone, not by paths |
//! | `http-rdf-update` | deprecated by the W3C in favour of `graph-store-protocol` |
//! | `csv03`, `tsv03` | run, and known to differ: [`BY_VALUE`] |
//! | `service` | run in `endpoints.rs`, with a server for each endpoint |

use super::http::{Reply, Site, encoded, triples};
use super::support::{iri, limits, testdata};
use axum::body::Body;
use axum::http::{Method, Request};
use lodeseek_sparql::SparqlLimits;
use oxrdf::{Graph, Literal, NamedNode, NamedNodeRef, NamedOrBlankNodeRef, Term, TermRef};
use oxttl::TurtleParser;
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Tests of the manifests that an endpoint which changes nothing cannot pass: each of their updates has to be refused.
const UPDATES: &[&str] = &[
    "update_dataset_default_graph",
    "update_dataset_default_graphs",
    "update_dataset_named_graphs",
    "update_dataset_full",
    "update_post_form",
    "update_post_direct",
    "update_base_uri",
];

/// Graphs of the protocol's tests, and the datasets used in their place.
const GRAPHS: &str = "http://kasei.us/2009/09/sparql/data/";
const DATASETS: &str = "http://localhost:7878/dataset/";

pub(crate) const MF: &str = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#";
const HT: &str = "http://www.w3.org/2011/http#";
const CNT: &str = "http://www.w3.org/2011/content#";
pub(crate) const QT: &str = "http://www.w3.org/2001/sw/DataAccess/tests/test-query#";
const RDF: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
const HTS: &str = "http://www.w3.org/2011/http-statusCodes#";

/// A folder of the W3C's tests, if it is there.
pub(crate) fn w3c(name: &str) -> Option<PathBuf> {
    let data = match std::env::var_os("LODESEEK_DATA") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from("../shared/data"),
    };
    let folder = data.join("w3c").join(name);
    let there = folder.join("manifest.ttl").is_file();
    if !there {
        let _ = writeln!(
            std::io::stderr().lock(),
            "SKIPPED: no W3C tests in {} (LODESEEK_DATA)",
            folder.display()
        );
    }
    there.then_some(folder)
}

/// A manifest, read as a graph.
pub(crate) struct Manifest {
    graph: Graph,
    base: String,
}

impl Manifest {
    pub(crate) fn read(path: &Path) -> Self {
        let base = "http://w3c.example/";
        let parser = TurtleParser::new().with_base_iri(base).expect("a base");
        let text = fs::read(path).expect("readable");
        let triples = parser
            .for_slice(&text)
            .map(|triple| triple.unwrap_or_else(|error| panic!("{error}")));
        Self {
            graph: triples.collect(),
            base: base.to_owned(),
        }
    }

    pub(crate) fn objects(&self, subject: &Term, property: &str) -> Vec<Term> {
        let subject: NamedOrBlankNodeRef<'_> = match subject {
            Term::NamedNode(node) => node.into(),
            Term::BlankNode(node) => node.into(),
            Term::Literal(_) | Term::Triple(_) => return Vec::new(),
        };
        let property = NamedNodeRef::new(property).expect("an IRI");
        self.graph
            .objects_for_subject_predicate(subject, property)
            .map(TermRef::into_owned)
            .collect()
    }

    pub(crate) fn object(&self, subject: &Term, property: &str) -> Option<Term> {
        self.objects(subject, property).into_iter().next()
    }

    /// All subjects and objects of a property.
    pub(crate) fn pairs(&self, property: &str) -> Vec<(Term, Term)> {
        let property = NamedNodeRef::new(property).expect("an IRI");
        let triples = self.graph.triples_for_predicate(property);
        triples
            .map(|triple| {
                (
                    triple.subject.into_owned().into(),
                    triple.object.into_owned(),
                )
            })
            .collect()
    }

    fn text(&self, subject: &Term, property: &str) -> Option<String> {
        self.object(subject, property).map(|term| match term {
            Term::Literal(literal) => literal.value().to_owned(),
            other => other.to_string(),
        })
    }

    pub(crate) fn list(&self, subject: &Term, property: &str) -> Vec<Term> {
        let mut items = Vec::new();
        let mut rest = self.object(subject, property);
        while let Some(node) = rest {
            items.extend(self.object(&node, &format!("{RDF}first")));
            rest = self.object(&node, &format!("{RDF}rest"));
        }
        items
    }

    /// The tests, in the manifest's order, with their local names.
    pub(crate) fn entries(&self) -> Vec<(String, Term)> {
        let own = Term::NamedNode(NamedNode::new_unchecked(self.base.as_str()));
        let entries = self.list(&own, &format!("{MF}entries"));
        assert!(!entries.is_empty(), "the manifest has no entries");
        let name = |term: &Term| match term {
            Term::NamedNode(node) => node
                .as_str()
                .rsplit('#')
                .next()
                .unwrap_or_default()
                .to_owned(),
            other => panic!("{other} has no name"),
        };
        entries
            .into_iter()
            .map(|entry| (name(&entry), entry))
            .collect()
    }

    /// The name of a file of the manifest's folder.
    pub(crate) fn file(&self, subject: &Term, property: &str) -> Option<String> {
        match self.object(subject, property)? {
            Term::NamedNode(node) => node.as_str().strip_prefix(&self.base).map(str::to_owned),
            _ => None,
        }
    }

    fn requests(&self, test: &Term) -> Vec<Asked> {
        let action = self
            .object(test, &format!("{MF}action"))
            .expect("an action");
        self.list(&action, &format!("{HT}requests"))
            .iter()
            .map(|request| self.asked(request))
            .collect()
    }

    fn asked(&self, request: &Term) -> Asked {
        let headers = self.list(request, &format!("{HT}headers"));
        let header = |header: &Term| {
            let part = |name: &str| self.text(header, &format!("{HT}{name}")).expect("a header");
            (part("fieldName"), part("fieldValue"))
        };
        let body = self.object(request, &format!("{HT}body"));
        let response = self
            .object(request, &format!("{HT}resp"))
            .expect("a response");
        let statuses = self.objects(&response, &format!("{MF}expectedStatus"));
        Asked {
            method: self
                .text(request, &format!("{HT}methodName"))
                .expect("a method"),
            path: self
                .text(request, &format!("{HT}absolutePath"))
                .expect("a path"),
            headers: headers.iter().map(header).collect(),
            body: body
                .as_ref()
                .and_then(|body| self.text(body, &format!("{CNT}chars")))
                .unwrap_or_default(),
            encoding: body
                .as_ref()
                .and_then(|body| self.text(body, &format!("{CNT}characterEncoding"))),
            statuses: statuses
                .iter()
                .map(|term| term.to_string().replace(['<', '>'], "").replace(HTS, ""))
                .collect(),
            boolean: self.text(&response, &format!("{MF}expectedBoolean")),
            format: self.text(&response, &format!("{MF}expectedFormat")),
        }
    }
}

/// A request of a test and what it has to bring.
#[derive(Debug)]
struct Asked {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: String,
    encoding: Option<String>,
    statuses: Vec<String>,
    boolean: Option<String>,
    format: Option<String>,
}

impl Asked {
    async fn send(&self, site: &Site, path: &str) -> Reply {
        let method = Method::from_bytes(self.method.as_bytes()).expect("a method");
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let text = self
            .body
            .replace(&format!("FROM <{GRAPHS}"), &format!("FROM <{DATASETS}"));
        let body = match self.encoding.as_deref() {
            Some("UTF-16") => [0xfeff]
                .into_iter()
                .chain(text.encode_utf16())
                .flat_map(u16::to_be_bytes)
                .collect(),
            _ => text.into_bytes(),
        };
        site.send(request.body(Body::from(body)).expect("a request"))
            .await
    }

    /// The path at our endpoint, graphs named as here.
    fn our_path(&self) -> String {
        let query = match self.path.split_once('?') {
            Some((_, query)) => query,
            None => "",
        };
        let pairs = form_urlencoded::parse(query.as_bytes()).map(|(name, value)| {
            let value = if name.ends_with("graph-uri") {
                value.replace(GRAPHS, DATASETS)
            } else {
                value.into_owned()
            };
            (name, value)
        });
        let query = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(pairs)
            .finish();
        format!("/sparql?{query}")
    }

    fn check(&self, reply: &Reply) -> Result<(), String> {
        let status = format!("StatusCode{}xx", reply.status.as_u16() / 100);
        if !self.statuses.contains(&status) {
            return Err(format!(
                "{} is none of {:?}: {}",
                reply.status, self.statuses, reply.body
            ));
        }
        let boolean = || reply.json()["boolean"].as_bool();
        let right = match self.format.as_deref() {
            None => true,
            Some("boolean") => boolean().is_some(),
            Some("tabular") => reply.json()["results"]["bindings"].is_array(),
            Some("RDF") => {
                reply.media_type() == "text/turtle" && triples(&reply.body, "a.ttl") < usize::MAX
            }
            Some(other) => return Err(format!("unknown format {other}")),
        };
        let expected = self.boolean.as_deref().map(|value| value == "true");
        if !right || expected.is_some_and(|expected| boolean() != Some(expected)) {
            return Err(format!(
                "not {:?} {:?}: {}",
                self.format, self.boolean, reply.body
            ));
        }
        Ok(())
    }
}

/// A home with a dataset for each of some files: (id, file).
fn site(folder: &Path, files: &[(&str, &str)]) -> Site {
    let home = tempfile::tempdir().expect("a folder");
    let catalog: Vec<Value> = files
        .iter()
        .map(|(id, file)| {
            fs::copy(folder.join(file), home.path().join(file)).expect("copied");
            serde_json::json!({ "dataset_id": id, "title": id, "download": [file] })
        })
        .collect();
    let path = home.path().join("datasets.json");
    fs::write(&path, Value::from(catalog).to_string()).expect("written");
    Site::from_catalog(&path, limits())
}

#[tokio::test]
async fn the_protocols_manifest() {
    let Some(folder) = w3c("protocol") else {
        return;
    };
    let site = site(
        &folder,
        &[
            ("data1.rdf", "data1.nt"),
            ("data2.rdf", "data2.nt"),
            ("data3.rdf", "data3.nt"),
        ],
    );
    let manifest = Manifest::read(&folder.join("manifest.ttl"));
    let (mut failed, mut passed, mut refused) = (Vec::new(), 0, Vec::new());
    for (name, test) in manifest.entries() {
        let requests = manifest.requests(&test);
        if UPDATES.contains(&name.as_str()) {
            let reply = requests[0].send(&site, &requests[0].our_path()).await;
            assert!(
                reply.status == 403 && reply.body.contains("read-only"),
                "{name}: {} {}",
                reply.status,
                reply.body
            );
            refused.push(name);
            continue;
        }
        for request in &requests {
            let reply = request.send(&site, &request.our_path()).await;
            failed.extend(
                request
                    .check(&reply)
                    .err()
                    .map(|reason| format!("{name}: {reason}")),
            );
        }
        passed += 1;
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert_eq!(
        (refused, passed),
        (UPDATES.iter().map(|name| (*name).to_owned()).collect(), 27),
        "every test is accounted for"
    );
}

#[tokio::test]
async fn calls_of_services_are_parsed_and_refused() {
    let Some(folder) = w3c("syntax-fed") else {
        return;
    };
    let site = Site::testdata();
    let manifest = Manifest::read(&folder.join("manifest.ttl"));
    for (name, test) in manifest.entries() {
        assert_eq!(
            manifest.object(&test, &format!("{RDF}type")),
            Some(named(&format!("{MF}PositiveSyntaxTest11")))
        );
        let query = manifest
            .file(&test, &format!("{MF}action"))
            .expect("a query");
        let query = fs::read_to_string(folder.join(query)).expect("readable");
        let reply = site.post("/sparql", QUERY, &query).await;
        let silent = query.contains("SILENT");
        assert_eq!(
            reply.status.as_u16(),
            if silent { 200 } else { 403 },
            "{name}: {}",
            reply.body
        );
        assert!(
            silent || reply.body.contains("/g"),
            "{name}: {}",
            reply.body
        );
    }
}

fn named(iri: &str) -> Term {
    NamedNode::new(iri).expect("an IRI").into()
}

/// The results manifests: (folder, tests that differ, why).
const RESULTS: &[(&str, &[(&str, &str)])] = &[
    ("csv-tsv-res", &[("csv03", BY_VALUE), ("tsv03", BY_VALUE)]),
    ("json-res", &[]),
];
const BY_VALUE: &str = "Oxigraph keeps numbers by their value: 1.0E6 comes back as 1000000";

#[tokio::test]
async fn results_are_written_as_the_manifests_have_them() {
    let mut wrong = Vec::new();
    for (name, differing) in RESULTS {
        let Some(folder) = w3c(name) else { continue };
        let manifest = Manifest::read(&folder.join("manifest.ttl"));
        for (test, node) in manifest.entries() {
            let action = manifest
                .object(&node, &format!("{MF}action"))
                .expect("an action");
            let data = manifest.file(&action, &format!("{QT}data")).expect("data");
            let query = manifest
                .file(&action, &format!("{QT}query"))
                .expect("a query");
            let result = manifest
                .file(&node, &format!("{MF}result"))
                .expect("a result");
            let format = result.rsplit('.').next().expect("a suffix");
            let query = fs::read_to_string(folder.join(query)).expect("readable");
            let site = site(&folder, &[("data", &data)]);
            let path = format!(
                "/sparql?{}",
                encoded(&[
                    ("default-graph-uri", &format!("{DATASETS}data")),
                    ("format", format)
                ])
            );
            let reply = site.post(&path, QUERY, &query).await;
            let expected = fs::read_to_string(folder.join(&result)).expect("readable");
            let (found, expected) = (
                comparable(&reply.body, format),
                comparable(&expected, format),
            );
            let reason = differing
                .iter()
                .find(|(name, _)| *name == test)
                .map(|(_, reason)| reason);
            if (found == expected) != reason.is_none() {
                wrong.push(format!("{test} ({reason:?})\n{found}\n{expected}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A result without the names of blank nodes, of which the tests have one at most, and with its columns by name: all tests
/// ask for `*`, which has no order.
fn comparable(text: &str, format: &str) -> String {
    if format == "srj" {
        let mut value: Value =
            serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
        for binding in value["results"]["bindings"]
            .as_array_mut()
            .into_iter()
            .flatten()
        {
            for term in binding.as_object_mut().expect("an object").values_mut() {
                if term["type"] == "bnode" {
                    term["value"] = "b".into();
                }
            }
        }
        if let Some(variables) = value["head"]["vars"].as_array_mut() {
            variables.sort_by_key(Value::to_string);
        }
        return format!("{value:#}");
    }
    let (separator, quoted) = if format == "csv" {
        (',', '"')
    } else {
        ('\t', '\0')
    };
    let lines: Vec<Vec<String>> = text
        .lines()
        .map(|line| cells(line, separator, quoted))
        .collect();
    let mut order: Vec<usize> = (0..lines[0].len()).collect();
    order.sort_by_key(|&column| &lines[0][column]);
    let line = |cells: &Vec<String>| {
        order
            .iter()
            .map(|&column| cells[column].as_str())
            .collect::<Vec<_>>()
            .join("\t")
    };
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn cells(line: &str, separator: char, quote: char) -> Vec<String> {
    let mut within = false;
    let cells = line.split(|character| {
        within ^= character == quote;
        character == separator && !within
    });
    cells
        .map(|cell| {
            if cell.starts_with("_:") {
                "_:b".to_owned()
            } else {
                cell.to_owned()
            }
        })
        .collect()
}

fn graph_of(reply: &Reply) -> Graph {
    assert_eq!(reply.media_type(), "text/turtle", "{}", reply.body);
    let triples = TurtleParser::new().for_slice(reply.body.as_bytes());
    triples
        .map(|triple| triple.unwrap_or_else(|error| panic!("{error}: {}", reply.body)))
        .collect()
}

fn objects(graph: &Graph, subject: &str, property: &str) -> Vec<Term> {
    let subject = NamedNodeRef::new(subject).expect("an IRI");
    let property = NamedNodeRef::new(property).expect("an IRI");
    graph
        .objects_for_subject_predicate(subject, property)
        .map(TermRef::into_owned)
        .collect()
}

const QUERY: &str = "application/sparql-query";
const SD: &str = "http://www.w3.org/ns/sparql-service-description#";
const VOID: &str = "http://rdfs.org/ns/void#";
const ENDPOINT: &str = "http://localhost:7878/sparql";

/// The three tests of the W3C's manifest: RDF comes back, the endpoint is named, the terms are used as the schema has them.
#[tokio::test]
async fn the_endpoint_describes_itself() {
    if let Some(folder) = w3c("service-description") {
        let names = Manifest::read(&folder.join("manifest.ttl"))
            .entries()
            .into_iter()
            .map(|(name, _)| name);
        assert_eq!(
            names.collect::<Vec<_>>(),
            ["has-endpoint-triple", "returns-rdf", "conforms-to-schema"]
        );
    }
    let site = Site::testdata();
    let graph = graph_of(&site.get("/sparql").await);
    let sd = |name: &str| format!("{SD}{name}");
    assert_eq!(
        objects(&graph, ENDPOINT, &format!("{RDF}type")),
        [named(&sd("Service"))]
    );
    assert_eq!(
        objects(&graph, ENDPOINT, &sd("endpoint")),
        [named(ENDPOINT)]
    );
    let languages = objects(&graph, ENDPOINT, &sd("supportedLanguage"));
    assert!(
        languages.len() == 3
            && languages
                .iter()
                .all(|language| language.to_string().contains("Query>"))
    );
    assert_eq!(objects(&graph, ENDPOINT, &sd("resultFormat")).len(), 10);
    for feature in objects(&graph, ENDPOINT, &sd("feature")) {
        let Term::NamedNode(feature) = feature else {
            panic!("{feature}")
        };
        assert_eq!(
            objects(&graph, feature.as_str(), &format!("{RDF}type")).len(),
            1,
            "{feature} is a sd:Feature"
        );
    }
    let (dataset, default) = (
        format!("{ENDPOINT}#dataset"),
        format!("{ENDPOINT}#default-graph"),
    );
    assert_eq!(objects(&graph, ENDPOINT, &sd("defaultDataset")).len(), 1);
    assert_eq!(objects(&graph, &dataset, &sd("defaultGraph")).len(), 1);
    let graphs = objects(&graph, &dataset, &sd("namedGraph"));
    assert_eq!(graphs.len(), 12, "every dataset: {graphs:#?}");
    let mut declared = Vec::new();
    for entry in graphs {
        let Term::NamedNode(entry) = entry else {
            panic!("{entry}")
        };
        let name = objects(&graph, entry.as_str(), &sd("name"));
        assert_eq!(
            (
                name.len(),
                objects(&graph, entry.as_str(), &sd("graph")).len()
            ),
            (1, 1),
            "{entry}"
        );
        assert_eq!(
            objects(&graph, entry.as_str(), &format!("{RDF}type")).len(),
            1,
            "{entry}"
        );
        let all = site
            .post(
                "/sparql",
                QUERY,
                &format!("ASK {{ GRAPH {} {{ ?s ?p ?o }} }}", name[0]),
            )
            .await;
        assert_eq!(
            all.json()["boolean"],
            true,
            "{entry} can be asked by its name"
        );
        declared.push(name[0].to_string());
    }
    declared.sort();
    assert_eq!(
        bound_graphs(&site).await,
        declared,
        "GRAPH ?g binds the graphs that are declared"
    );
    assert_eq!(
        counts(&site, "?s ?p ?o").await,
        number(&graph, &default, "triples")
    );
    for name in ["catalog", "profiles", "snippets"] {
        let own = format!("http://localhost:7878/{name}");
        assert_eq!(
            counts(&site, &format!("GRAPH <{own}> {{ ?s ?p ?o }}")).await,
            number(&graph, &own, "triples")
        );
    }
    let trees = objects(
        &graph,
        iri("street-trees").trim_matches(['<', '>']),
        &format!("{VOID}triples"),
    );
    assert_eq!(trees, [Literal::from(105).into()]);
    for (property, part, count, pattern) in [
        ("propertyPartition", "property", "triples", "?s <TERM> ?o"),
        ("classPartition", "class", "entities", "?s a <TERM>"),
    ] {
        let parts = objects(&graph, &default, &format!("{VOID}{property}"));
        assert!(parts.len() > 3, "{property}");
        for node in parts {
            let Term::BlankNode(node) = node else {
                panic!("{node}")
            };
            let value = |name: &str| {
                let name = format!("{VOID}{name}");
                graph
                    .object_for_subject_predicate(&node, NamedNodeRef::new(&name).expect("an IRI"))
                    .map(TermRef::into_owned)
            };
            let (Some(Term::NamedNode(term)), Some(Term::Literal(count))) =
                (value(part), value(count))
            else {
                panic!("{property} without {part} or {count}")
            };
            let asked = counts(&site, &pattern.replace("TERM", term.as_str())).await;
            assert_eq!(asked, count.value(), "{property} {term}");
        }
    }
}

/// Returns the values of `GRAPH ?g`, sorted.
async fn bound_graphs(site: &Site) -> Vec<String> {
    let reply = site
        .post(
            "/sparql",
            QUERY,
            "SELECT DISTINCT ?g { GRAPH ?g { ?s ?p ?o } }",
        )
        .await
        .json();
    let rows = reply["results"]["bindings"].as_array().expect("rows");
    let mut names: Vec<String> = rows
        .iter()
        .map(|row| format!("<{}>", row["g"]["value"].as_str().expect("a name")))
        .collect();
    names.sort();
    names
}

/// Returns the number of matches of a pattern in the default graph, as counted by the endpoint.
async fn counts(site: &Site, pattern: &str) -> String {
    let reply = site
        .post(
            "/sparql",
            QUERY,
            &format!("SELECT (COUNT(*) AS ?n) {{ {pattern} }}"),
        )
        .await;
    reply.json()["results"]["bindings"][0]["n"]["value"]
        .as_str()
        .expect("a number")
        .to_owned()
}

fn number(graph: &Graph, subject: &str, property: &str) -> String {
    match objects(graph, subject, &format!("{VOID}{property}")).as_slice() {
        [Term::Literal(literal)] => literal.value().to_owned(),
        other => panic!("{subject} {property}: {other:?}"),
    }
}

#[tokio::test]
async fn descriptions_come_as_asked_and_from_where_they_are_asked() {
    let site = Site::testdata();
    let expected = triples(
        &site.accept("/sparql", "application/n-triples").await.body,
        "a.nt",
    );
    for (accept, format, media_type, name) in [
        ("*/*", "", "text/turtle", "a.ttl"),
        ("text/turtle", "", "text/turtle", "a.ttl"),
        ("application/ld+json", "", "application/ld+json", "a.jsonld"),
        (
            "application/rdf+xml, */*;q=0.1",
            "",
            "application/rdf+xml",
            "a.rdf",
        ),
        ("text/html", "?format=trig", "application/trig", "a.trig"),
        ("text/html", "?format=nq", "application/n-quads", "a.nq"),
    ] {
        for (path, least) in [("/sparql", expected), ("/.well-known/void", 12 * 8)] {
            let reply = site.accept(&format!("{path}{format}"), accept).await;
            assert_eq!(
                (reply.status.as_u16(), reply.media_type()),
                (200, media_type),
                "{path} {accept} {format}"
            );
            assert!(
                reply.header("vary").contains("accept"),
                "{:?}",
                reply.headers
            );
            let found = triples(&reply.body, name);
            assert!(
                found >= least && (path != "/sparql" || found == least),
                "{path} {accept}: {found} of {least}"
            );
        }
    }
    for (path, accept) in [("/sparql", "image/png"), ("/.well-known/void", "text/html")] {
        assert_eq!(site.accept(path, accept).await.status, 406, "{path}");
    }
    // The header Host is not reflected: a cache could serve the address of one client to others.
    for host in ["localhost:7878", "127.0.0.1:9999", "evil.example"] {
        let headers = [("accept", "text/turtle"), ("host", host)];
        let graph = graph_of(&site.request(Method::GET, "/sparql", &headers, "").await);
        assert_eq!(
            objects(&graph, ENDPOINT, &format!("{SD}endpoint")).len(),
            1,
            "{host}"
        );
    }
    for host in ["e.org/> <x:y", "<>", "user@localhost"] {
        let reply = site
            .request(
                Method::GET,
                "/sparql",
                &[("accept", "text/turtle"), ("host", host)],
                "",
            )
            .await;
        assert_eq!(reply.status, 400, "{host}: {}", reply.body);
    }
}

#[tokio::test]
async fn void_names_every_dataset_and_where_it_can_be_asked() {
    let site = Site::testdata();
    let graph = graph_of(&site.get("/.well-known/void").await);
    let document = "http://localhost:7878/.well-known/void";
    let topics = objects(&graph, document, "http://xmlns.com/foaf/0.1/topic");
    assert_eq!(topics.len(), 12);
    for topic in topics {
        let Term::NamedNode(topic) = topic else {
            panic!("{topic}")
        };
        let endpoint = objects(&graph, topic.as_str(), &format!("{VOID}sparqlEndpoint"));
        assert_eq!(endpoint, [named(ENDPOINT)]);
        let path = format!(
            "/sparql?{}",
            encoded(&[("default-graph-uri", topic.as_str())])
        );
        let count = site
            .post(&path, QUERY, "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }")
            .await
            .json();
        assert_eq!(
            count["results"]["bindings"][0]["n"]["value"],
            number(&graph, topic.as_str(), "triples"),
            "{topic}"
        );
    }
}

#[tokio::test]
async fn the_endpoint_names_its_methods_and_takes_query() {
    let site = Site::testdata();
    let expected = "GET, HEAD, POST, QUERY, OPTIONS";
    for method in ["GET", "HEAD", "OPTIONS", "PUT", "DELETE", "PATCH", "MKCOL"] {
        let reply = site
            .request(
                Method::from_bytes(method.as_bytes()).expect("a method"),
                "/sparql",
                &[],
                "",
            )
            .await;
        assert_eq!(reply.header("allow"), expected, "{method}");
        assert!(
            reply
                .header("accept-post")
                .contains("application/sparql-query"),
            "{method}"
        );
        let refused = !["GET", "HEAD", "OPTIONS"].contains(&method);
        assert_eq!(
            reply.status.as_u16(),
            if refused { 405 } else { 200 },
            "{method}"
        );
        assert!(
            !refused || reply.body.contains("read-only") && reply.body.contains(expected),
            "{}",
            reply.body
        );
    }
    let query = Method::from_bytes(b"QUERY").expect("a method");
    let asked = site
        .request(
            query.clone(),
            "/sparql?format=csv",
            &[("content-type", QUERY)],
            "SELECT (1 AS ?n) {}",
        )
        .await;
    assert_eq!(
        (asked.status.as_u16(), asked.body.as_str()),
        (200, "n\r\n1\r\n")
    );
    assert_eq!(
        site.request(query, "/sparql", &[], "ASK {}").await.status,
        415
    );
    let head = site
        .request(Method::HEAD, "/sparql?query=ASK%7B%7D", &[], "")
        .await;
    assert_eq!(
        (head.status.as_u16(), head.media_type(), head.body.as_str()),
        (200, "application/sparql-results+json", "")
    );
}

/// An error is text and names its place; requests that no answer could satisfy are rejected before any work.
#[tokio::test]
async fn errors_say_where() {
    let site = Site::testdata();
    for (media_type, body, status, part) in [
        (QUERY, "SELECT *\nWHERE { ?s ?p }", 400, "line 2, column 15"),
        (
            "application/sparql-query; charset=utf-16",
            "ASK {}",
            415,
            "UTF-8",
        ),
        (
            "application/sparql-query; charset=\"UTF-8\"",
            "ASK {}",
            200,
            "true",
        ),
        (
            "application/x-www-form-urlencoded; charset=latin1",
            "query=ASK{}",
            415,
            "latin1",
        ),
        ("", "ASK {}", 415, "no Content-Type"),
        ("application/json", "{}", 415, "application/json"),
    ] {
        let reply = site
            .request(
                Method::POST,
                "/sparql",
                &[("content-type", media_type)],
                body,
            )
            .await;
        assert_eq!(
            reply.status.as_u16(),
            status,
            "{media_type}: {}",
            reply.body
        );
        assert!(reply.body.contains(part), "{media_type}: {}", reply.body);
        assert!(
            status == 200 || reply.media_type() == "text/plain",
            "{:?}",
            reply.headers
        );
    }
    let headers = [("accept", "image/png"), ("content-type", QUERY)];
    assert_eq!(
        site.request(Method::POST, "/sparql", &headers, "CONSTRUCT {} {}")
            .await
            .status,
        406
    );
    let graph = [
        ("accept", "application/sparql-results+json"),
        ("content-type", QUERY),
    ];
    assert_eq!(
        site.request(Method::POST, "/sparql", &graph, "CONSTRUCT {} {}")
            .await
            .status,
        406
    );
    let two = site.post("/sparql?query=ASK%7B%7D", QUERY, "ASK {}").await;
    assert!(
        two.status == 400 && two.body.contains("more than one"),
        "{}",
        two.body
    );
}

/// Clients set a format before they know the form of a query.
#[tokio::test]
async fn a_format_of_another_form_leaves_the_choice_to_the_server() {
    let site = Site::testdata();
    for (query, format, media_type) in [
        (
            "SELECT (1 AS ?n) {}",
            "turtle",
            "application/sparql-results+json",
        ),
        (
            "SELECT (1 AS ?n) {}",
            "json-ld",
            "application/sparql-results+json",
        ),
        ("ASK {}", "rdf+xml", "application/sparql-results+json"),
        (
            "SELECT (1 AS ?n) {}",
            "auto",
            "application/sparql-results+json",
        ),
        ("CONSTRUCT {} {}", "csv", "text/turtle"),
        ("CONSTRUCT {} {}", "sparql-results+json", "text/turtle"),
        ("CONSTRUCT {} {}", "text/plain", "application/n-triples"),
    ] {
        let path = format!(
            "/sparql?{}",
            encoded(&[("query", query), ("format", format), ("output", format)])
        );
        let reply = site.accept(&path, "*/*").await;
        assert_eq!(
            (reply.status.as_u16(), reply.media_type()),
            (200, media_type),
            "{query} {format}: {}",
            reply.body
        );
    }
    let unknown = format!(
        "/sparql?{}",
        encoded(&[("query", "ASK {}"), ("format", "nonsense")])
    );
    assert_eq!(site.accept(&unknown, "*/*").await.status, 400);
}

/// Other bytes than UTF-8 would become other characters, and another query.
#[tokio::test]
async fn only_utf8_without_compression_is_read() {
    let site = Site::testdata();
    let form = [("content-type", "application/x-www-form-urlencoded")];
    for path in [
        "/sparql?query=ASK%7B%7D&default-graph-uri=%E9",
        "/api/search?q=caf%E9",
        "/api/3/action/package_search?q=caf%E9",
        "/?q=caf%E9",
    ] {
        let reply = site.get(path).await;
        assert!(
            reply.status == 400 && reply.body.contains("not UTF-8"),
            "{path}: {}",
            reply.body
        );
    }
    let query = "query=ASK%7B%3Fs+%3Fp+%22caf%E9%22%7D";
    let reply = site.request(Method::POST, "/sparql", &form, query).await;
    assert!(
        reply.status == 400 && reply.body.contains("\"query\""),
        "{}",
        reply.body
    );
    assert_eq!(site.get("/api/search?q=caf%C3%A9&k=1").await.status, 200);
    let compressed = [("content-type", QUERY), ("content-encoding", "gzip")];
    let reply = site
        .request(Method::POST, "/sparql", &compressed, "ASK {}")
        .await;
    assert_eq!(
        (reply.status.as_u16(), reply.header("accept-encoding")),
        (415, "identity")
    );
}

/// Variables of a SELECT clause, blank nodes by text, and a byte order mark.
#[tokio::test]
async fn queries_of_other_engines_are_answered() {
    let site = Site::testdata();
    for (query, expected) in [
        (
            "\u{feff}SELECT ?k (COUNT(*) AS ?n) (SUM(?x) AS ?s) (?s/?n AS ?avg) \
             { VALUES (?k ?x) { ('a' 1) ('a' 2) } } GROUP BY ?k",
            "k,n,s,avg\r\na,2,3,1.5\r\n",
        ),
        (
            "SELECT (COUNT(DISTINCT ?s) AS ?n) (COUNT(*) AS ?m) \
             { VALUES ?x { 'a b' 'a b' } BIND(BNODE(?x) AS ?s) BIND(BNODE(?x) AS ?t) FILTER(?s = ?t) }",
            "n,m\r\n2,2\r\n",
        ),
        (
            "SELECT (<http://www.w3.org/2001/XMLSchema#integer>(1e10) AS ?n) {}",
            "n\r\n10000000000\r\n",
        ),
    ] {
        let reply = site.post("/sparql?format=csv", QUERY, query).await;
        assert_eq!(
            (reply.status.as_u16(), reply.body.as_str()),
            (200, expected),
            "{query}"
        );
    }
    let triples =
        "CONSTRUCT { ?b <urn:p> ?x } { VALUES ?x { 1 2 } BIND(BNODE('not a label') AS ?b) }";
    let reply = site.post("/sparql?format=nt", QUERY, triples).await;
    assert_eq!(reply.body.lines().count(), 2, "{}", reply.body);
}

#[tokio::test]
async fn graphs_are_read_whole_by_name() {
    let few = SparqlLimits {
        rows: 7,
        ..limits()
    };
    let site = Site::from_catalog(&testdata("catalog.ttl"), few);
    let path = |graph: &str| {
        format!(
            "/rdf-graph-store?{}",
            encoded(&[("graph", graph.trim_matches(['<', '>']))])
        )
    };
    let trees = path(&iri("street-trees"));
    for (accept, format, media_type, name) in [
        ("*/*", "", "text/turtle", "a.ttl"),
        ("application/n-triples", "", "application/n-triples", "a.nt"),
        ("application/n-quads", "", "application/n-quads", "a.nq"),
        (
            "text/html, */*;q=0.5",
            "&format=jsonld",
            "application/ld+json",
            "a.jsonld",
        ),
        ("application/rdf+xml", "", "application/rdf+xml", "a.rdf"),
    ] {
        let reply = site.accept(&format!("{trees}{format}"), accept).await;
        assert_eq!(
            (reply.status.as_u16(), reply.media_type()),
            (200, media_type),
            "{accept}"
        );
        assert_eq!(
            triples(&reply.body, name),
            105,
            "all, whatever the limit of rows: {accept}"
        );
        let head = site
            .request(
                Method::HEAD,
                &format!("{trees}{format}"),
                &[("accept", accept)],
                "",
            )
            .await;
        assert_eq!(
            (head.status.as_u16(), head.media_type(), head.body.as_str()),
            (200, media_type, "")
        );
    }
    let description = graph_of(&site.get("/sparql").await);
    let names =
        description.triples_for_predicate(NamedNodeRef::new(&format!("{SD}name")).expect("an IRI"));
    for name in names.map(|triple| triple.object.to_string()) {
        let reply = site.accept(&path(&name), "application/n-triples").await;
        assert_eq!(reply.status, 200, "{name}");
    }
    let mut sum = 0;
    for name in ["catalog", "profiles", "snippets"] {
        let reply = site
            .accept(
                &path(&format!("http://localhost:7878/{name}")),
                "application/n-triples",
            )
            .await;
        sum += triples(&reply.body, "a.nt");
    }
    let default = site
        .accept("/rdf-graph-store?default", "application/n-triples")
        .await;
    assert_eq!(
        default.body.lines().count(),
        sum,
        "the default graph is the metadata"
    );
    for (path, status, part) in [
        (
            path("http://e.org/none"),
            404,
            "no graph <http://e.org/none>",
        ),
        (path(&iri("none")), 404, "no graph"),
        (
            path("http://localhost:7878/graph/street-trees/0123"),
            404,
            "no graph",
        ),
        (path("http://localhost:7878/versions"), 404, "no graph"),
        (path("not absolute"), 400, "not absolute"),
        ("/rdf-graph-store".to_owned(), 400, "?default"),
        (
            "/rdf-graph-store?default&graph=a:b".to_owned(),
            400,
            "one graph",
        ),
        (format!("{trees}&format=csv"), 400, "csv"),
    ] {
        let reply = site.get(&path).await;
        assert_eq!(
            (reply.status.as_u16(), reply.media_type()),
            (status, "text/plain"),
            "{path}"
        );
        assert!(reply.body.contains(part), "{path}: {}", reply.body);
        assert_eq!(
            site.request(Method::HEAD, &path, &[], "")
                .await
                .status
                .as_u16(),
            status,
            "{path}"
        );
    }
    assert_eq!(site.accept(&trees, "text/html").await.status, 406);
}

/// The manifests write before they read: every first request but one is refused, and nothing changes.
#[tokio::test]
async fn the_graph_stores_manifests() {
    let Some(folder) = w3c("graph-store-protocol") else {
        return;
    };
    let site = Site::testdata();
    let before = site.get("/rdf-graph-store?default").await.body;
    let (mut read, mut refused) = (Vec::new(), 0);
    let manifest = Manifest::read(&folder.join("manifest-indirect.ttl"));
    for (name, test) in manifest.entries() {
        let first = &manifest.requests(&test)[0];
        let path = first.path.replace("/gsp", "/rdf-graph-store");
        let reply = first.send(&site, &path).await;
        if matches!(first.method.as_str(), "GET" | "HEAD") {
            assert_eq!(
                (first.statuses.as_slice(), reply.status.as_u16()),
                (["NotFound".to_owned()].as_slice(), 404)
            );
            read.push(name);
        } else {
            assert_eq!(
                (reply.status.as_u16(), reply.header("allow")),
                (405, "GET, HEAD, OPTIONS"),
                "{name}"
            );
            assert!(reply.body.contains("read-only"), "{name}: {}", reply.body);
            refused += 1;
        }
    }
    assert_eq!(
        (read, refused),
        (vec!["head_non_existing_indirect".to_owned()], 8)
    );
    assert_eq!(site.get("/rdf-graph-store?default").await.body, before);
}

/// SPARQL clients send names of formats that they know beside `Accept`, and empty fields of forms.
#[tokio::test]
async fn parameters_of_other_clients() {
    let site = Site::testdata();
    let construct = "CONSTRUCT { ?s ?p ?o } { ?s ?p ?o } LIMIT 1";
    for (format, accept, media_type) in [
        ("rdf+xml", "application/rdf+xml", "application/rdf+xml"),
        ("n3", "text/rdf+n3,application/n3", "text/turtle"),
        ("unknown", "application/turtle,text/turtle", "text/turtle"),
        ("json", "*/*", "application/ld+json"),
    ] {
        let parameters = [
            ("query", construct),
            ("format", format),
            ("output", format),
            ("results", format),
            ("default-graph-uri", ""),
        ];
        let reply = site
            .accept(&format!("/sparql?{}", encoded(&parameters)), accept)
            .await;
        assert_eq!(
            (reply.status.as_u16(), reply.media_type()),
            (200, media_type),
            "{format}: {}",
            reply.body
        );
    }
    let reply = site
        .get("/sparql?query=ASK%7B%7D&format=application/sparql-results+xml")
        .await;
    assert_eq!(
        reply.media_type(),
        "application/sparql-results+xml",
        "a plus that is not encoded is a space"
    );
}
