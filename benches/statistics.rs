//! Counts and listings read off statistics, beside their evaluation by Oxigraph in the same process.
//!
//! `cargo bench --bench statistics -- HOME` opens a home that has been loaded and indexed, and runs each query twenty times
//! both ways. It prints the time of the first answer, which reads or makes the statistics, and the median of the others.
//! Both answers must be equal, row by row. A query that takes Oxigraph more than five seconds runs once.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use lodeseek_sparql::{Answer, QueryEngine, QueryRequest, SparqlLimits, Statistics};
use lodeseek_store::{Access, Store};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

const ROUNDS: usize = 20;
const SLOW: Duration = Duration::from_secs(5);

/// LARGEST stands for the dataset with the most triples.
const QUERIES: &[&str] = &[
    "SELECT (COUNT(*) AS ?n) { GRAPH <LARGEST> { ?s ?p ?o } }",
    "SELECT (COUNT(*) AS ?n) { GRAPH <LARGEST> { ?s a ?c } }",
    "SELECT ?c (COUNT(?s) AS ?n) { GRAPH <LARGEST> { ?s a ?c } } GROUP BY ?c ORDER BY DESC(?n) STR(?c)",
    "SELECT DISTINCT ?p FROM <LARGEST> { ?s ?p ?o }",
    "SELECT (COUNT(DISTINCT ?s) AS ?n) FROM <LARGEST> { ?s ?p ?o }",
    "SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } }",
    "SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s <http://www.w3.org/2000/01/rdf-schema#label> ?o } }",
    "SELECT DISTINCT ?c { GRAPH ?g { ?s a ?c } }",
    "SELECT DISTINCT ?p { GRAPH ?g { ?s ?p ?o } }",
    "SELECT ?p (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } } GROUP BY ?p ORDER BY DESC(?n) STR(?p)",
    "SELECT DISTINCT ?g { GRAPH ?g { ?s a <http://www.w3.org/2004/02/skos/core#Concept> } }",
    "ASK { GRAPH ?g { ?s <http://nowhere.example/p> ?o } }",
    "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }",
    "SELECT (COUNT(*) AS ?n) { ?s a ?c }",
    "SELECT ?p (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?p",
];

const LARGEST: &str =
    "SELECT ?d { ?d <http://rdfs.org/ns/void#triples> ?n ; a <http://www.w3.org/ns/dcat#Dataset> }
  ORDER BY DESC(?n) LIMIT 1";

fn main() {
    let home = std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with("--"))
        .map(PathBuf::from);
    let home = home.expect("usage: cargo bench --bench statistics -- HOME");
    let store = QueryEngine::new(Arc::new(
        Store::open(&home, Access::Read, None).expect("a home"),
    ));
    let Answer::Solutions { rows, .. } = ask(&store, LARGEST, Statistics::Never).0 else {
        panic!("no solutions")
    };
    let largest = rows
        .first()
        .and_then(|row| row[0].clone())
        .expect("an indexed dataset")
        .to_string();
    println!(
        "{:>10} {:>10} {:>10}  query (ms: first and median with statistics, median of evaluation)",
        "first", "p50", "oxigraph"
    );
    for query in QUERIES {
        let query = query.replace("<LARGEST>", &largest);
        let (answer, first) = ask(&store, &query, Statistics::First);
        let read = median(&store, &query, Statistics::First);
        let (expected, once) = ask(&store, &query, Statistics::Never);
        let evaluated = if once > SLOW {
            once
        } else {
            median(&store, &query, Statistics::Never)
        };
        assert_eq!(lines(&answer), lines(&expected), "{query}");
        println!(
            "{:>10.2} {:>10.2} {:>10.2}  {query}",
            ms(first),
            ms(read),
            ms(evaluated)
        );
    }
    let query = "SELECT * { ?s a <http://www.w3.org/2004/02/skos/core#Concept> ; <http://www.w3.org/2004/02/skos/core#prefLabel> ?o }";
    let started = Instant::now();
    for _ in 0..ROUNDS {
        store
            .sources(query, &SparqlLimits::default())
            .expect("selected");
    }
    println!(
        "{:>10} {:>10.2} {:>10}  sources of {query}",
        "",
        ms(started.elapsed()) / ROUNDS as f64,
        ""
    );
}

fn ask(store: &Arc<QueryEngine>, query: &str, statistics: Statistics) -> (Answer, Duration) {
    let limits = SparqlLimits {
        statistics,
        deadline: Duration::from_secs(600),
        rows: 10_000_000,
        ..SparqlLimits::default()
    };
    let request = QueryRequest {
        query: query.to_owned(),
        ..QueryRequest::default()
    };
    let started = Instant::now();
    let answer = store
        .evaluate(&request, &limits)
        .unwrap_or_else(|error| panic!("{query}: {error}"));
    (answer, started.elapsed())
}

fn median(store: &Arc<QueryEngine>, query: &str, statistics: Statistics) -> Duration {
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| ask(store, query, statistics).1)
        .collect();
    times.sort_unstable();
    times[ROUNDS / 2]
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn lines(answer: &Answer) -> Vec<String> {
    let mut lines: Vec<String> = match answer {
        Answer::Solutions { rows, .. } => rows.iter().map(|row| format!("{row:?}")).collect(),
        other => vec![format!("{other:?}")],
    };
    lines.sort_unstable();
    lines
}
