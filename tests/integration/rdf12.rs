//! RDF 1.2 and SPARQL 1.2: the W3C's test suites through the reader of dumps and through the endpoint, beside plain Oxigraph.
//!
//! The suites are not part of this repository: `LODESEEK_DATA/w3c-rdf-tests` holds them.
//!
//! The reader of dumps skips broken statements and goes on. A test of wrong syntax passes if the report lists a problem.

use super::http::{Site, encoded};
use super::protocol::{MF, Manifest, QT};
use super::support::limits;
use lodeseek_rdf::dump::DumpReader;
use lodeseek_rdf::{RdfSyntax, TripleGraph, TripleGraphBuilder, canonical_fingerprint};
use oxigraph::io::{RdfFormat, RdfParser};
use oxigraph::sparql::{QueryResults, SparqlEvaluator};
use oxigraph::store::Store as Oxigraph;
use oxrdf::{Term, Triple};
use sparesults::{QueryResultsFormat, QueryResultsParser, SliceQueryResultsParserOutput};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

const RDF: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
const RDFT: &str = "http://www.w3.org/ns/rdftest#";

/// Tests that fail here, with the reason.
const FAILING: &[(&str, &str)] = &[
    ("rdf12/rdf-n-quads/c14n/literal_ascii_boundaries", NUL),
    (
        "rdf12/rdf-n-quads/c14n/literal_needing_uchar_escaping-01",
        NUL,
    ),
    ("rdf12/rdf-n-triples/c14n/literal_ascii_boundaries", NUL),
    (
        "rdf12/rdf-n-triples/c14n/literal_needing_uchar_escaping-01",
        NUL,
    ),
    ("sparql12/eval-triple-terms/graphs-1", ONE_GRAPH),
    ("sparql12/eval-triple-terms/graphs-2", ONE_GRAPH),
    ("sparql12/eval-triple-terms/expr-1", ONE_GRAPH),
    (
        "sparql12/eval-triple-terms/op-2",
        "numbers in triple terms are compared by value, as in Oxigraph",
    ),
    (
        "sparql12/grouping/group01",
        "numbers are stored by value: `001` is `1`, as in Oxigraph",
    ),
    (
        "sparql12/syntax/nested-aggregate-functions",
        "the parser accepts nested aggregates, as in Oxigraph",
    ),
    (
        "sparql12/syntax-triple-terms-negative/tripleterm-subject-03",
        SUBJECT,
    ),
    (
        "sparql12/syntax-triple-terms-negative/tripleterm-subject-06",
        SUBJECT,
    ),
];

const NUL: &str = "a document with zero bytes is refused as a binary file";
const ONE_GRAPH: &str = "the named graphs of a dump are one graph here";
const SUBJECT: &str = "the parser accepts a triple term as subject, as in Oxigraph";

/// Tests of updates, which the endpoint refuses.
const UPDATES: [&str; 3] = [
    "UpdateEvaluationTest",
    "PositiveUpdateSyntaxTest",
    "NegativeUpdateSyntaxTest",
];

/// Returns a folder of the suites, if it is there.
fn suite(name: &str) -> Option<PathBuf> {
    let data = match std::env::var_os("LODESEEK_DATA") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from("../shared/data"),
    };
    let folder = data.join("w3c-rdf-tests").join(name);
    if !folder.is_dir() {
        let _ = writeln!(
            std::io::stderr().lock(),
            "SKIPPED: no W3C tests in {} (LODESEEK_DATA)",
            folder.display()
        );
        return None;
    }
    Some(folder)
}

/// Number of tests, and names of those that fail here and in Oxigraph.
#[derive(Default)]
struct Tally {
    tests: usize,
    here: Vec<String>,
    oxigraph: Vec<String>,
}

impl Tally {
    fn add(&mut self, name: &str, here: Result<(), String>, oxigraph: Result<(), String>) {
        self.tests += 1;
        self.here
            .extend(here.err().map(|reason| format!("{name}: {reason}")));
        self.oxigraph
            .extend(oxigraph.err().map(|reason| format!("{name}: {reason}")));
    }

    /// Fails if a test fails that is not listed, or if a listed one passes.
    fn check(&self, suite: &str, least: usize) {
        let (here, oxigraph) = (
            self.tests - self.here.len(),
            self.tests - self.oxigraph.len(),
        );
        let _ = writeln!(
            std::io::stderr().lock(),
            "{suite}: {} tests; passed here: {here}; with Oxigraph alone: {oxigraph}; failing there:\n{}",
            self.tests,
            self.oxigraph.join("\n")
        );
        let name = |failure: &String| failure.split(':').next().unwrap_or_default().to_owned();
        let failing: Vec<String> = self.here.iter().map(name).collect();
        let is_listed =
            |failure: &&String| FAILING.iter().any(|(listed, _)| *listed == name(failure));
        let new: Vec<&String> = self
            .here
            .iter()
            .filter(|failure| !is_listed(failure))
            .collect();
        assert!(
            new.is_empty(),
            "{suite}: {} of {} tests fail and are not listed:\n{new:#?}",
            new.len(),
            self.tests
        );
        let of_suite = FAILING
            .iter()
            .filter(|(listed, _)| listed.starts_with(suite));
        let passing: Vec<_> = of_suite
            .filter(|(listed, _)| !failing.iter().any(|name| name == listed))
            .collect();
        assert!(
            passing.is_empty(),
            "{suite}: tests that pass are listed as failing: {passing:?}"
        );
        assert!(
            self.tests >= least,
            "{suite}: {} tests are too few",
            self.tests
        );
    }
}

/// The tests of a manifest: name, class, test.
fn tests(manifest: &Manifest) -> Vec<(String, String, Term)> {
    let entries = format!("{MF}entries");
    let (own, _) = manifest
        .pairs(&entries)
        .into_iter()
        .next()
        .expect("entries");
    let mut tests = Vec::new();
    for test in manifest.list(&own, &entries) {
        let class = manifest
            .object(&test, &format!("{RDF}type"))
            .expect("a class")
            .to_string();
        let class = class
            .trim_matches(|c| "<>".contains(c))
            .replace(RDFT, "")
            .replace(MF, "");
        tests.push((local_name(&test), class, test));
    }
    tests
}

fn local_name(term: &Term) -> String {
    match term {
        Term::NamedNode(node) => node
            .as_str()
            .rsplit(['#', '/'])
            .next()
            .unwrap_or_default()
            .to_owned(),
        other => panic!("{other} has no name"),
    }
}

fn fingerprint(triples: &[Triple]) -> String {
    let mut builder = TripleGraphBuilder::new();
    triples.iter().for_each(|triple| builder.insert(triple));
    canonical_fingerprint(&builder.finish()).expect("a fingerprint")
}

/// Reads a document as a dump. Returns the graph, and the problems.
fn read_here(path: &Path, base: &str) -> (TripleGraph, String) {
    let mut builder = TripleGraphBuilder::new();
    let name = path
        .file_name()
        .expect("a name")
        .to_string_lossy()
        .into_owned();
    let reports = DumpReader::default().read_file(path, &name, base, &mut builder);
    let mut problems = String::new();
    for report in reports.iter().filter(|report| !report.is_clean()) {
        let _ = write!(problems, "{:?} {:?}", report.outcome, report.problems);
    }
    (builder.finish(), problems)
}

fn triples_of(graph: &TripleGraph) -> Vec<Triple> {
    graph
        .triples()
        .iter()
        .map(|triple| graph.to_triple(*triple))
        .collect()
}

/// Reads a document with Oxigraph. Graph names are dropped.
fn read_oxigraph(path: &Path, base: &str) -> Result<Vec<Triple>, String> {
    let extension = path
        .extension()
        .and_then(|extension| extension.to_str())
        .expect("an extension");
    let format = RdfFormat::from_extension(extension).expect("a syntax");
    let parser = RdfParser::from_format(format)
        .with_base_iri(base)
        .expect("a base");
    let mut triples = Vec::new();
    for quad in parser.for_slice(&fs::read(path).expect("readable")) {
        triples.push(quad.map_err(|error| error.to_string())?.into());
    }
    Ok(triples)
}

fn same(found: &[Triple], expected: &[Triple]) -> Result<(), String> {
    if fingerprint(found) == fingerprint(expected) {
        Ok(())
    } else {
        Err(format!("found {found:?}, not {expected:?}"))
    }
}

/// Writes triples as sorted lines of N-Triples.
fn lines(triples: &[Triple]) -> Vec<String> {
    let text =
        String::from_utf8(RdfSyntax::NTriples.write(triples).expect("written")).expect("UTF-8");
    let mut lines: Vec<String> = text.lines().map(without_labels).collect();
    lines.sort();
    lines
}

/// Replaces the labels of blank nodes.
fn without_labels(text: &str) -> String {
    let word = |word: &str| {
        if word.starts_with("_:") {
            "_:".to_owned()
        } else {
            word.to_owned()
        }
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

#[test]
fn the_syntaxes_of_rdf_1_2() {
    let Some(folder) = suite("rdf/rdf12") else {
        return;
    };
    let mut tally = Tally::default();
    for part in [
        "rdf-n-quads/c14n",
        "rdf-n-quads/syntax",
        "rdf-n-triples/c14n",
        "rdf-n-triples/syntax",
        "rdf-trig/eval",
        "rdf-trig/syntax",
        "rdf-turtle/eval",
        "rdf-turtle/syntax",
        "rdf-xml/eval",
    ] {
        let folder = folder.join(part);
        let manifest = Manifest::read(&folder.join("manifest.ttl"));
        let base = format!("https://w3c.github.io/rdf-tests/rdf/rdf12/{part}/");
        let file = |test: &Term, property: &str| manifest.file(test, &format!("{MF}{property}"));
        for (name, class, test) in tests(&manifest) {
            let action = file(&test, "action").expect("an action");
            let (path, address) = (folder.join(&action), format!("{base}{action}"));
            let (graph, problems) = read_here(&path, &address);
            let (here, oxigraph) = (triples_of(&graph), read_oxigraph(&path, &address));
            let clean = || {
                if problems.is_empty() {
                    Ok(())
                } else {
                    Err(problems.clone())
                }
            };
            let result = file(&test, "result").map(|result| folder.join(result));
            let expected =
                || read_oxigraph(result.as_ref().expect("a result"), &base).expect("readable");
            let (here, oxigraph) = if class.contains("Negative") {
                let accepted = |wrong: bool| {
                    if wrong {
                        Err("accepted".to_owned())
                    } else {
                        Ok(())
                    }
                };
                (accepted(problems.is_empty()), accepted(oxigraph.is_ok()))
            } else if class.ends_with("Eval") {
                let expected = expected();
                (
                    clean().and_then(|()| same(&here, &expected)),
                    oxigraph.and_then(|found| same(&found, &expected)),
                )
            } else if class.ends_with("PositiveC14N") {
                let text =
                    fs::read_to_string(result.as_ref().expect("a result")).expect("readable");
                let is_quads = part.starts_with("rdf-n-quads");
                let written = |triples: &[Triple]| {
                    // A dump is one graph here, so the names of graphs are not compared.
                    let mut expected: Vec<String> = if is_quads {
                        lines(&expected())
                    } else {
                        text.lines().map(without_labels).collect()
                    };
                    expected.sort();
                    let found = lines(triples);
                    if found == expected {
                        Ok(())
                    } else {
                        Err(format!("{found:?}, not {expected:?}"))
                    }
                };
                (
                    clean().and_then(|()| written(&here)),
                    oxigraph.and_then(|found| written(&found)),
                )
            } else {
                (clean(), oxigraph.map(drop))
            };
            tally.add(&format!("rdf12/{part}/{name}"), here, oxigraph);
        }
    }
    tally.check("rdf12", 330);
}

/// Result of a query. Rows are sorted if the query does not order them; blank nodes have no labels.
#[derive(PartialEq, Debug)]
enum Outcome {
    Boolean(bool),
    Rows(Vec<BTreeMap<String, String>>),
    Graph(String),
}

struct Case {
    query: String,
    data: Option<PathBuf>,
}

impl Case {
    fn rows<'r>(&self, rows: impl Iterator<Item = Vec<(&'r str, &'r Term)>>) -> Outcome {
        let row = |row: Vec<(&str, &Term)>| {
            row.into_iter()
                .map(|(name, term)| (name.to_owned(), without_labels(&term.to_string())))
                .collect()
        };
        let mut rows: Vec<BTreeMap<String, String>> = rows.map(row).collect();
        let is_ordered = self.query.to_uppercase().rfind("ORDER BY") > self.query.rfind('}');
        if !is_ordered {
            rows.sort();
        }
        Outcome::Rows(rows)
    }

    fn results(&self, format: QueryResultsFormat, text: &[u8]) -> Result<Outcome, String> {
        match QueryResultsParser::from_format(format)
            .for_slice(text)
            .map_err(|error| error.to_string())?
        {
            SliceQueryResultsParserOutput::Boolean(value) => Ok(Outcome::Boolean(value)),
            SliceQueryResultsParserOutput::Solutions(solutions) => {
                let solutions: Vec<_> = solutions
                    .collect::<Result<_, _>>()
                    .map_err(|error| error.to_string())?;
                Ok(self.rows(solutions.iter().map(|row| {
                    row.iter()
                        .map(|(name, term)| (name.as_str(), term))
                        .collect()
                })))
            }
        }
    }

    fn expected(&self, result: &Path) -> Outcome {
        let text = fs::read(result).expect("readable");
        match result.extension().and_then(|extension| extension.to_str()) {
            Some("srx") => self
                .results(QueryResultsFormat::Xml, &text)
                .expect("results"),
            Some("srj") => self
                .results(QueryResultsFormat::Json, &text)
                .expect("results"),
            _ => Outcome::Graph(fingerprint(
                &read_oxigraph(result, "http://w3c.example/").expect("a graph"),
            )),
        }
    }

    /// Evaluates the query at the endpoint. The data is the content of a dataset.
    async fn here(&self) -> Result<Outcome, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let mut catalog = "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .\n\
             <http://e.org/d> a dcat:Dataset ; dct:identifier \"d\" ; dct:title \"W3C\""
            .to_owned();
        if let Some(data) = &self.data {
            let name = data.file_name().expect("a name");
            fs::copy(data, folder.path().join(name)).expect("copied");
            let _ = write!(
                catalog,
                " ; dcat:distribution [ dcat:downloadURL <{}> ]",
                name.to_string_lossy()
            );
        }
        let path = folder.path().join("catalog.ttl");
        fs::write(&path, catalog + " .").expect("written");
        let site = Site::from_catalog(&path, limits());
        self.ask(&site).await
    }

    async fn ask(&self, site: &Site) -> Result<Outcome, String> {
        let is_graph = self.query.to_uppercase().contains("CONSTRUCT");
        let format = if is_graph {
            "nt;version=1.2"
        } else {
            "json;version=1.2"
        };
        let graph = "http://localhost:7878/dataset/d";
        let parameters = [
            ("query", self.query.as_str()),
            ("format", format),
            ("default-graph-uri", graph),
        ];
        let reply = site.get(&format!("/sparql?{}", encoded(&parameters))).await;
        if reply.status != 200 {
            return Err(format!("status {}: {}", reply.status, reply.body));
        }
        if !is_graph {
            return self.results(QueryResultsFormat::Json, reply.body.as_bytes());
        }
        // Turtle, because the parser of N-Triples rejects the declaration of the version.
        let triples = RdfParser::from_format(RdfFormat::Turtle).for_slice(&reply.body);
        let triples: Result<Vec<Triple>, _> = triples.map(|quad| quad.map(Triple::from)).collect();
        Ok(Outcome::Graph(fingerprint(
            &triples.map_err(|error| error.to_string())?,
        )))
    }

    fn oxigraph(&self) -> Result<Outcome, String> {
        let store = Oxigraph::new().expect("a store");
        if let Some(data) = &self.data {
            let extension = data
                .extension()
                .and_then(|extension| extension.to_str())
                .expect("an extension");
            let parser =
                RdfParser::from_format(RdfFormat::from_extension(extension).expect("a syntax"));
            let parser = parser.with_base_iri("http://w3c.example/").expect("a base");
            store
                .load_from_slice(parser, &fs::read(data).expect("readable"))
                .expect("loaded");
        }
        let query = SparqlEvaluator::new()
            .parse_query(&self.query)
            .map_err(|error| error.to_string())?;
        match query
            .on_store(&store)
            .execute()
            .map_err(|error| error.to_string())?
        {
            QueryResults::Boolean(value) => Ok(Outcome::Boolean(value)),
            QueryResults::Solutions(solutions) => {
                let solutions: Vec<_> = solutions
                    .collect::<Result<_, _>>()
                    .map_err(|error| error.to_string())?;
                Ok(self.rows(solutions.iter().map(|row| {
                    row.iter()
                        .map(|(name, term)| (name.as_str(), term))
                        .collect()
                })))
            }
            QueryResults::Graph(triples) => {
                let triples: Result<Vec<Triple>, _> = triples.collect();
                Ok(Outcome::Graph(fingerprint(
                    &triples.map_err(|error| error.to_string())?,
                )))
            }
        }
    }
}

#[tokio::test]
async fn the_queries_of_sparql_1_2() {
    let Some(folder) = suite("sparql/sparql12") else {
        return;
    };
    let mut tally = Tally::default();
    let mut updates = 0;
    for part in [
        "codepoint-escapes",
        "eval-triple-terms",
        "expression",
        "grouping",
        "lang-basedir",
        "rdf11",
        "syntax",
        "syntax-triple-terms-negative",
        "syntax-triple-terms-positive",
        "version",
    ] {
        let folder = folder.join(part);
        let manifest = Manifest::read(&folder.join("manifest.ttl"));
        let file = |subject: &Term, property: &str| {
            manifest
                .file(subject, property)
                .map(|name| folder.join(name))
        };
        let empty = Site::testdata();
        for (name, class, test) in tests(&manifest) {
            let name = format!("sparql12/{part}/{name}");
            if UPDATES.contains(&class.as_str()) {
                updates += 1;
                continue;
            }
            let action = manifest
                .object(&test, &format!("{MF}action"))
                .expect("an action");
            if class != "QueryEvaluationTest" {
                let query =
                    fs::read_to_string(file(&test, &format!("{MF}action")).expect("a query"))
                        .expect("readable");
                let case = Case { query, data: None };
                let oxigraph = SparqlEvaluator::new()
                    .parse_query(&case.query)
                    .map(drop)
                    .map_err(|e| e.to_string());
                let here = case.ask(&empty).await.map(drop);
                let expects_error = class.starts_with("Negative");
                let verdict = |found: Result<(), String>| match found {
                    Ok(()) if expects_error => Err("accepted".to_owned()),
                    Err(_) if expects_error => Ok(()),
                    other => other,
                };
                tally.add(&name, verdict(here), verdict(oxigraph));
                continue;
            }
            let query = file(&action, &format!("{QT}query")).expect("a query");
            let data = file(&action, &format!("{QT}data"));
            let case = Case {
                query: fs::read_to_string(query).expect("readable"),
                data,
            };
            let expected = case.expected(&file(&test, &format!("{MF}result")).expect("a result"));
            let verdict = |found: Result<Outcome, String>| match found {
                Ok(found) if found == expected => Ok(()),
                Ok(found) => Err(format!("found {found:?}, not {expected:?}")),
                Err(error) => Err(error),
            };
            tally.add(&name, verdict(case.here().await), verdict(case.oxigraph()));
        }
    }
    assert_eq!(updates, 23, "updates");
    tally.check("sparql12", 240);
}

const ANNOTATED: &str = "PREFIX : <http://e.org/> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
    PREFIX dct: <http://purl.org/dc/terms/>
    :mill a :Mill ; rdfs:label \"Old mill\" ; :builtIn 1620 ~ :claim {| dct:source \"parish ledger\" |} .
    :claim rdfs:label \"Year of the mill\" .
    :claim :says <<( :mill :owner \"Zwetschgenberger\" )>> .
    :mill :evidence :claim ; rdfs:comment \"\u{5d8}\u{5d7}\u{5e0}\u{5d4}\"@he--rtl .";

/// A site with one dataset of triple terms.
fn annotated() -> Site {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("mill.ttl"), ANNOTATED).expect("written");
    let catalog =
        "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .
        <http://e.org/d> a dcat:Dataset ; dct:identifier \"d\" ; dct:title \"Mills\" ;
            dcat:distribution [ dcat:downloadURL <mill.ttl> ] .";
    let path = folder.path().join("catalog.ttl");
    fs::write(&path, catalog).expect("written");
    Site::from_catalog(&path, limits())
}

#[tokio::test]
async fn triple_terms_are_searched_and_shown() {
    let site = annotated();
    let found = site.get("/api/search?q=Zwetschgenberger").await.json();
    let hit = &found["hits"][0];
    assert_eq!(
        (&hit["id"], &hit["triples"]),
        (&"d".into(), &9.into()),
        "{found:#}"
    );
    let snippet = hit["snippet"].as_array().expect("a snippet");
    let shown = snippet
        .iter()
        .find(|triple| triple["object"]["type"] == "triple" && triple["matched"][0].is_string());
    let object =
        &shown.unwrap_or_else(|| panic!("no matching triple term in {snippet:#?}"))["object"];
    assert_eq!(
        object["value"],
        "<<( <http://e.org/mill> <http://e.org/owner> \"Zwetschgenberger\" )>>"
    );
    assert_eq!(object["label"], "<<( Old mill owner Zwetschgenberger )>>");
    assert_eq!(object["triple"]["object"]["type"], "literal");
    let hebrew = snippet
        .iter()
        .find(|triple| triple["object"]["language"] == "he")
        .expect("a literal");
    assert_eq!(hebrew["object"]["direction"], "rtl");

    let page = site.get("/?q=Zwetschgenberger").await.body;
    assert!(
        page.contains("( Old mill owner <mark>Zwetschgenberger</mark> )"),
        "{page}"
    );
    let drawn = site.get("/dataset/d/snippet?format=svg").await;
    assert!(drawn.body.contains("&lt;&lt;( Old mill"), "{}", drawn.body);
    let page = site
        .get("/dataset/d/entity?iri=http%3A%2F%2Fe.org%2Fclaim")
        .await;
    assert!(
        page.body.contains("Old mill owner Zwetschgenberger"),
        "{}",
        page.body
    );
}

/// Workers get the terms of results as JSON, whose reader limits the nesting, too.
#[test]
fn the_deepest_triple_terms_pass_between_processes() {
    let folder = tempfile::tempdir().expect("a folder");
    let read = |depth: usize| {
        let path = folder.path().join("deep.nt");
        let (start, end) = ("<<( <x:a> <x:p> ".repeat(depth), " )>>".repeat(depth));
        fs::write(&path, format!("<x:a> <x:p> {start}\"x\"@en{end} .\n")).expect("written");
        read_here(&path, "x:")
    };
    let (graph, problems) = read(50);
    assert_eq!((graph.len(), problems.as_str()), (1, ""));
    let rows = vec![vec![Some(triples_of(&graph).remove(0).object), None]];
    let bytes = lodeseek_sparql::encode_rows(&rows).expect("written");
    assert_eq!(lodeseek_sparql::decode_rows(&bytes).expect("read"), rows);
    let (graph, problems) = read(51);
    assert!(
        graph.is_empty() && problems.contains("more than 50 levels of nesting"),
        "{problems}"
    );
}

#[tokio::test]
async fn results_contain_triple_terms_in_all_formats() {
    let site = annotated();
    let query = "SELECT ?t ?o (LANGDIR(?c) AS ?d) { ?r ?p ?t . FILTER(isTRIPLE(?t)) BIND(OBJECT(?t) AS ?o) \
        FILTER(?o = \"Zwetschgenberger\") ?m <http://www.w3.org/2000/01/rdf-schema#comment> ?c }";
    let graph = "http://localhost:7878/dataset/d";
    for (format, wanted) in [
        ("json", "\"type\":\"triple\""),
        (
            "xml",
            "<triple><subject><uri>http://e.org/mill</uri></subject>",
        ),
        (
            "csv",
            "http://e.org/mill http://e.org/owner Zwetschgenberger",
        ),
        (
            "tsv",
            "<<( <http://e.org/mill> <http://e.org/owner> \"Zwetschgenberger\" )>>\t\"Zwetschgenberger\"\t\"rtl\"",
        ),
    ] {
        let format = format!("{format};version=1.2");
        let parameters = [
            ("query", query),
            ("format", format.as_str()),
            ("default-graph-uri", graph),
        ];
        let reply = site.get(&format!("/sparql?{}", encoded(&parameters))).await;
        assert!(
            reply.status == 200 && reply.body.contains(wanted),
            "{format}: {} {}",
            reply.status,
            reply.body
        );
    }
    let construct = "CONSTRUCT WHERE { <http://e.org/claim> ?p ?o }";
    for (format, wanted) in [
        (
            "nt",
            "<<( <http://e.org/mill> <http://e.org/builtIn> \"1620\"",
        ),
        ("ttl", "<<( <http://e.org/mill>"),
        ("rdf", "rdf:parseType=\"Triple\""),
        (
            "jsonld",
            "http://www.w3.org/1999/02/22-rdf-syntax-ns#ttSubject",
        ),
    ] {
        let format = format!("{format};version=1.2");
        let parameters = [
            ("query", construct),
            ("format", format.as_str()),
            ("default-graph-uri", graph),
        ];
        let reply = site.get(&format!("/sparql?{}", encoded(&parameters))).await;
        assert!(
            reply.status == 200 && reply.body.contains(wanted),
            "{format}: {} {}",
            reply.status,
            reply.body
        );
        assert!(
            reply.header("content-type").ends_with("; version=1.2"),
            "{:?}",
            reply.headers
        );
    }
    let nested = format!(
        "SELECT * {{ ?s ?p {}?o{} }}",
        "<< ?a ?b ".repeat(17),
        " >>".repeat(17)
    );
    let reply = site
        .get(&format!(
            "/sparql?{}",
            encoded(&[("query", nested.as_str())])
        ))
        .await;
    assert!(
        reply.status.is_client_error() && reply.body.contains("reified triples deeper than 16"),
        "{}",
        reply.body
    );
}

/// Parsers of RDF 1.1 reject base directions and triple terms.
#[tokio::test]
async fn clients_of_rdf_1_1_get_rdf_1_1() {
    let site = annotated();
    let graph = "http://localhost:7878/dataset/d";
    let path = format!("/rdf-graph-store?{}", encoded(&[("graph", graph)]));
    let construct = encoded(&[
        ("query", "CONSTRUCT WHERE { ?s ?p ?o }"),
        ("default-graph-uri", graph),
    ]);
    let mut fingerprints = Vec::new();
    for (media_type, name) in [
        ("text/turtle", "a.ttl"),
        ("application/n-triples", "a.nt"),
        ("application/rdf+xml", "a.rdf"),
        ("application/ld+json", "a.jsonld"),
        ("application/trig", "a.trig"),
    ] {
        for path in [&path, &format!("/sparql?{construct}")] {
            let reply = site.accept(path, media_type).await;
            assert!(
                !reply.header("content-type").contains("version"),
                "{:?}",
                reply.headers
            );
            let mut builder = TripleGraphBuilder::new();
            let reports = DumpReader::default().read(
                reply.body.as_bytes(),
                name,
                "http://e.org/",
                &mut builder,
            );
            assert!(reports[0].is_clean(), "{media_type}: {reports:?}");
            let graph = builder.finish();
            assert_eq!(graph.triple_terms().count(), 0, "{media_type}");
            for part in ["VERSION", "--rtl", "<<(", "its:dir", "@direction"] {
                assert!(!reply.body.contains(part), "{media_type}: {part}");
            }
            fingerprints.push(canonical_fingerprint(&graph).expect("a fingerprint"));
            let latest = site
                .accept(path, &format!("{media_type};version=\"1.2\""))
                .await;
            assert!(
                latest.header("content-type").ends_with("; version=1.2"),
                "{:?}",
                latest.headers
            );
            let has_direction = latest.body.contains("--rtl") || latest.body.contains("\"rtl\"");
            assert!(has_direction, "{media_type}: {}", latest.body);
            let declares = name != "a.rdf" && name != "a.jsonld";
            assert_eq!(
                latest.body.starts_with("VERSION \"1.2\"\n"),
                declares,
                "{media_type}: {}",
                latest.body
            );
        }
    }
    fingerprints.dedup();
    assert_eq!(fingerprints.len(), 1, "all syntaxes have the same graph");

    let query = "SELECT ?t ?c { ?r ?p ?t . FILTER(isTRIPLE(?t)) ?m <http://www.w3.org/2000/01/rdf-schema#comment> ?c }";
    let path = format!(
        "/sparql?{}",
        encoded(&[("query", query), ("default-graph-uri", graph)])
    );
    let rows = site.get(&path).await.json();
    let row = &rows["results"]["bindings"][0];
    assert_eq!(
        (&row["t"]["type"], &row["c"]["its:dir"]),
        (&"bnode".into(), &serde_json::Value::Null),
        "{rows:#}"
    );
    let rows = site
        .accept(&path, "application/sparql-results+json; version=1.2")
        .await
        .json();
    let row = &rows["results"]["bindings"][0];
    assert_eq!(
        (&row["t"]["type"], &row["c"]["its:dir"]),
        (&"triple".into(), &"rtl".into()),
        "{rows:#}"
    );
}
