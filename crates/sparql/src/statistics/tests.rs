//! Statistics against evaluation: the same queries with and without, over stores that have all that could go wrong.

use super::answer_first;
use crate::statistics_cache::CountingPolicy;
use crate::{Answer, QueryEngine, QueryRequest, SparqlLimits, Statistics};
use lodeseek_catalog::{Catalog, Iris};
use lodeseek_store::{Loader, Store};
use oxrdf::{BlankNode, Literal, NamedNode, Triple};
use proptest::prelude::*;
use proptest::sample::select;
use spargebra::SparqlParser;
use std::fs;
use std::sync::{Arc, OnceLock};
use tempfile::TempDir;

/// Datasets that share triples, have literals of one value, blank nodes as classes and in two places, nothing at all.
const DUMPS: [(&str, &str); 5] = [
    (
        "a",
        "e:x a e:C, e:D ; e:p 1, 1.0, 1.00, \"1\"^^x:int, \"01\"^^x:integer, \"1\" ; e:q e:y, [ a e:C ] . e:y a e:C, [] .",
    ),
    (
        "b",
        "e:x a e:C ; e:p 1, 2 ; e:q e:y, e:z . e:y a \"54.0\"^^x:decimal, \"54\"^^x:decimal ; e:r \"A\"@en, \"A\"@EN .",
    ),
    (
        "c",
        "e:u e:only true, \"1\"^^x:boolean, \"2000-01-01T00:00:00Z\"^^x:dateTime, \"2000-01-01T00:00:00.0Z\"^^x:dateTime .",
    ),
    ("d", "[] a [], e:D ; e:s [ e:s [] ] ."),
    ("empty", ""),
];

struct Home {
    folder: TempDir,
    store: Arc<Store>,
    queries: Arc<QueryEngine>,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let iris = Iris::new(Iris::DEFAULT_BASE).expect("the default");
        let store = Arc::new(Store::in_memory(folder.path(), iris).expect("a store"));
        let queries = QueryEngine::new(Arc::clone(&store));
        let home = Self {
            folder,
            store,
            queries,
        };
        home.load(&DUMPS);
        home
    }

    fn load(&self, dumps: &[(&str, &str)]) {
        let mut catalog =
            "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .\n".to_owned();
        for (name, dump) in dumps {
            let dump = format!(
                "@prefix e: <http://e.org/> . @prefix x: <http://www.w3.org/2001/XMLSchema#> .\n{dump}"
            );
            fs::write(self.folder.path().join(format!("{name}.ttl")), dump).expect("written");
            catalog += &format!(
                "<http://c.org/{name}> a dcat:Dataset ; dct:identifier \"{name}\" ; dct:title \"{name}\" ;
                   dcat:distribution [ dcat:downloadURL <{name}.ttl> ] .\n"
            );
        }
        let path = self.folder.path().join("catalog.ttl");
        fs::write(&path, catalog).expect("written");
        let report = Loader::new(&self.store)
            .load(Catalog::read(&path).expect("a catalogue"), &|_| ())
            .expect("loaded");
        assert!(
            report.with_problems().next().is_none(),
            "{:?}",
            report.datasets
        );
    }

    /// Profiles that say of a dataset what is wanted.
    fn derive(&self, triples: Vec<Triple>) {
        let id = lodeseek_catalog::DatasetId::new("a").expect("an id");
        self.store
            .replace_derived_triples([(self.store.iris().profiles(), vec![(id, triples)])])
            .expect("replaced");
    }

    fn answer(&self, request: &QueryRequest, statistics: Statistics) -> Vec<String> {
        let limits = SparqlLimits {
            concurrent: 1000,
            statistics,
            ..SparqlLimits::default()
        };
        let answer = self.queries.evaluate(request, &limits);
        match answer.unwrap_or_else(|error| panic!("{}: {error}", request.query)) {
            Answer::Boolean(value) => vec![value.to_string()],
            Answer::Solutions { rows, .. } => {
                let mut rows: Vec<String> = rows.iter().map(|row| format!("{row:?}")).collect();
                if !request.query.contains("LIMIT") {
                    rows.sort_unstable();
                }
                rows
            }
            Answer::Graph { .. } => panic!("no query of these tests makes a graph"),
        }
    }

    /// Evaluates twice: metadata is counted on the second request.
    fn compare(&self, request: &QueryRequest) -> Vec<String> {
        let expected = self.answer(request, Statistics::Never);
        for _ in 0..2 {
            assert_eq!(
                self.answer(request, Statistics::First),
                expected,
                "{request:?}"
            );
        }
        expected
    }

    fn same(&self, query: &str) -> Vec<String> {
        self.compare(&request(query, &[]))
    }

    /// Returns true if statistics answer a query completely.
    fn is_answered_by_statistics(&self, query: &str) -> bool {
        let text = format!("{PREFIXES}{query}");
        let parser = SparqlParser::new()
            .with_base_iri(self.store.iris().base())
            .expect("a base");
        let mut query = parser.parse_query(&text).expect("a query");
        let cache = &self.queries.statistics;
        let graphs = cache.graphs(&self.store).expect("graphs");
        cache
            .metadata(&self.store, &graphs, CountingPolicy::Now)
            .expect("counted");
        let visible = graphs.visible(&QueryRequest::default(), &query);
        graphs.resolve(&mut query, &visible);
        let limits = SparqlLimits::default();
        answer_first(&self.queries, &graphs, &mut query, &visible, &limits).expect("rewritten");
        !query.to_sse().contains("(bgp")
    }
}

const PREFIXES: &str = "PREFIX e: <http://e.org/>\n";

fn request(query: &str, default_graphs: &[&str]) -> QueryRequest {
    let node = |name: &&str| NamedNode::new_unchecked(format!("{}{name}", Iris::DEFAULT_BASE));
    QueryRequest {
        query: format!("{PREFIXES}{query}"),
        default_graphs: default_graphs.iter().map(node).collect(),
        ..QueryRequest::default()
    }
}

fn pattern() -> impl Strategy<Value = &'static str> {
    select(vec![
        "?s ?p ?o",
        "?s e:p ?o",
        "?s e:q ?o",
        "?s e:only ?o",
        "?s e:nothing ?o",
        "?s a ?c",
        "?s a e:C",
        "?s a e:D",
        "?s a e:Nothing",
        "[] ?p ?o",
        "?s ?p []",
        "[] a ?c",
        "?s ?p ?s",
        "?s ?s ?o",
        "_:b e:q _:b",
        "?g ?p ?o",
        "?s ?p e:y",
        "e:x ?p ?o",
        "?s ?p 1",
        "?s a \"54\"",
        "?s <http://purl.org/dc/terms/title> ?o",
    ])
}

fn active() -> impl Strategy<Value = &'static str> {
    select(vec![
        "P",
        "P",
        "GRAPH ?g { P }",
        "GRAPH ?g { P }",
        "GRAPH <dataset/a> { P }",
        "GRAPH <dataset/b> { P }",
        "GRAPH <catalog> { P }",
        "GRAPH <dataset/nothing> { P }",
        "GRAPH <dataset/empty> { P }",
        "GRAPH ?g { P FILTER(?p != e:p) }",
    ])
}

fn query() -> impl Strategy<Value = String> {
    let variable = || select(vec!["?s", "?p", "?o", "?c", "?g", "?none"]);
    let filter = select(vec![
        "",
        "",
        "",
        "FILTER(?p != e:p)",
        "FILTER(isBlank(?c))",
        "FILTER(?g != <catalog> && STR(?p) > \"http://e\")",
        "FILTER(?o = 1)",
        "FILTER EXISTS { ?s a e:C }",
        "BIND(STR(?p) AS ?name)",
        "BIND(?c AS ?name)",
        "FILTER(BOUND(?g))",
    ]);
    let head = (variable(), variable(), variable()).prop_flat_map(|(v, w, d)| {
        select(vec![
            format!("SELECT (COUNT(*) AS ?n) FROM {{ A }}"),
            format!("SELECT (COUNT(DISTINCT *) AS ?n) FROM {{ A }}"),
            format!("SELECT (COUNT({v}) AS ?n) (COUNT(DISTINCT {w}) AS ?m) FROM {{ A }}"),
            format!("SELECT (COUNT(*) AS ?n) (COUNT(DISTINCT ?s) AS ?m) (COUNT(DISTINCT ?o) AS ?k) FROM {{ A }}"),
            format!("SELECT (COUNT(DISTINCT ?name) AS ?n) FROM {{ A }}"),
            format!("SELECT {v} (COUNT(*) AS ?n) (COUNT(DISTINCT {d}) AS ?m) FROM {{ A }} GROUP BY {v}"),
            format!("SELECT (COUNT({d}) AS ?n) FROM {{ A }} GROUP BY {v} HAVING(COUNT(*) > 2)"),
            format!("SELECT ?name (COUNT(*) AS ?n) FROM {{ A }} GROUP BY ?name"),
            format!("SELECT (MIN({v}) AS ?n) (SUM({w}) AS ?m) FROM {{ A }}"),
            format!("SELECT DISTINCT {v} FROM {{ A }}"),
            format!("SELECT REDUCED {v} FROM {{ A }}").replace("REDUCED", "DISTINCT"),
            format!("SELECT DISTINCT (STR({v}) AS ?x) FROM {{ A }}"),
            format!("SELECT DISTINCT ?g {v} FROM {{ A }}"),
            format!("SELECT DISTINCT {v} FROM {{ A }} ORDER BY DESC(STR({v})) LIMIT 2"),
            format!("SELECT {v} FROM {{ A }}"),
            format!("SELECT * FROM {{ {{ SELECT ?p (COUNT(*) AS ?n) {{ A }} GROUP BY ?p }} UNION {{ SELECT (COUNT(*) AS ?k) {{ A }} }} }}"),
            format!("SELECT * FROM {{ ?x e:q ?y {{ SELECT (COUNT({v}) AS ?n) {{ A }} }} }}"),
            format!("SELECT * FROM {{ GRAPH ?h {{ SELECT (COUNT({v}) AS ?n) {{ A }} }} }}"),
            format!("ASK FROM {{ A }}"),
        ])
    });
    let from = select(vec![
        "",
        "",
        "",
        "FROM <dataset/a>",
        "FROM <dataset/a> FROM <dataset/b>",
        "FROM <dataset/a> FROM <dataset/a>",
        "FROM <dataset/a> FROM <dataset/c>",
        "FROM <catalog> FROM <dataset/c>",
        "FROM <catalog> FROM <profiles> FROM <snippets> FROM <works>",
        "FROM <catalog> FROM <profiles>",
        "FROM NAMED <dataset/a> FROM NAMED <dataset/b>",
        "FROM NAMED <dataset/d> FROM NAMED <dataset/d>",
        "FROM <dataset/b> FROM NAMED <catalog>",
        "FROM <nowhere>",
    ]);
    (head, from, active(), pattern(), filter).prop_map(|(head, from, active, pattern, filter)| {
        head.replacen("FROM", from, 1)
            .replace("{ A }", &format!("{{ {active} {filter} }}"))
            .replace(" P ", &format!(" {pattern} "))
    })
}

fn node(text: &str) -> NamedNode {
    NamedNode::new_unchecked(text)
}

/// A triple of the catalogue, which the profiles may say too.
fn shared() -> Triple {
    let title = node("http://purl.org/dc/terms/title");
    Triple::new(
        node("http://localhost:7878/dataset/a"),
        title,
        Literal::new_language_tagged_literal_unchecked("a", "en"),
    )
}

fn homes() -> &'static [Home; 3] {
    static HOMES: OnceLock<[Home; 3]> = OnceLock::new();
    HOMES.get_or_init(|| {
        let [plain, overlapping, replaced] = [Home::new(), Home::new(), Home::new()];
        let subject = node("http://localhost:7878/dataset/a");
        let own = Triple::new(subject, node("http://e.org/p"), BlankNode::default());
        plain.derive(vec![own.clone()]);
        let catalog = overlapping
            .store
            .description(&lodeseek_catalog::DatasetId::new("a").expect("an id"))
            .expect("described");
        overlapping.derive(catalog.into_iter().chain([own, shared()]).collect());
        replaced.load(&[("a", ""), ("b", DUMPS[3].1), ("new", DUMPS[0].1)]);
        [plain, overlapping, replaced]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]
    #[test]
    fn answers_are_those_of_evaluation(
        query in query(),
        default in select(vec![&[] as &[&str], &[], &["dataset/a"], &["dataset/a", "dataset/b"], &["catalog", "profiles"]]),
        home in 0..3usize,
    ) {
        if SparqlParser::new().with_base_iri(Iris::DEFAULT_BASE).expect("a base").parse_query(&format!("{PREFIXES}{query}")).is_ok() {
            homes()[home].compare(&request(&query, default));
        }
    }
}

#[test]
fn what_is_to_be_read_off_is() {
    let home = &homes()[0];
    for query in [
        "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }",
        "SELECT (COUNT(*) AS ?n) (COUNT(DISTINCT ?s) AS ?a) (COUNT(DISTINCT ?p) AS ?b) (COUNT(DISTINCT ?o) AS ?c) { ?s ?p ?o }",
        "SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } }",
        "SELECT (COUNT(*) AS ?n) { GRAPH <dataset/a> { ?s e:p ?o } }",
        "SELECT (COUNT(DISTINCT ?o) AS ?n) { GRAPH <dataset/a> { ?s e:p ?o } }",
        "SELECT (COUNT(?s) AS ?n) FROM <dataset/b> { ?s a e:C }",
        "SELECT (COUNT(DISTINCT ?s) AS ?n) FROM <dataset/b> { ?s a e:C }",
        "SELECT (COUNT(*) AS ?n) FROM <dataset/b> FROM <dataset/c> { ?s ?p ?o }",
        "SELECT DISTINCT ?c { GRAPH ?g { ?s a ?c } } ORDER BY ?c LIMIT 5",
        "SELECT DISTINCT ?p FROM <dataset/a> FROM <dataset/b> { ?s ?p ?o }",
        "SELECT ?c (COUNT(DISTINCT ?s) AS ?n) FROM <dataset/a> { ?s a ?c } GROUP BY ?c ORDER BY DESC(?n)",
        "SELECT ?g ?c (COUNT(?s) AS ?n) { GRAPH ?g { ?s a ?c } FILTER(isIRI(?c)) } GROUP BY ?g ?c HAVING(COUNT(*) > 1)",
        "SELECT (COUNT(DISTINCT ?c) AS ?n) { GRAPH ?g { ?s a ?c } }",
        "SELECT (COUNT(DISTINCT ?g) AS ?n) { GRAPH ?g { ?s e:p ?o } }",
        "SELECT DISTINCT ?g { GRAPH ?g { ?s a e:C } }",
        "ASK { GRAPH ?g { ?s e:only ?o } }",
    ] {
        assert!(home.is_answered_by_statistics(query), "{query}");
        home.same(query);
    }
    for query in [
        "SELECT (COUNT(*) AS ?n) FROM <dataset/a> FROM <dataset/b> { ?s ?p ?o }",
        "SELECT (COUNT(DISTINCT ?s) AS ?n) { GRAPH ?g { ?s ?p ?o } }",
        "SELECT (COUNT(*) AS ?n) { ?s ?p ?s }",
        "SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o FILTER(RAND() < 2) } }",
        "SELECT (COUNT(*) AS ?n) { ?s ?p ?o . ?o ?q ?r }",
        "SELECT DISTINCT ?s { ?s ?p ?o }",
    ] {
        assert!(!home.is_answered_by_statistics(query), "{query}");
        home.same(query);
    }
    assert!(
        !homes()[1].is_answered_by_statistics("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"),
        "two graphs of metadata share triples"
    );
}

#[test]
fn counts_follow_loads_removals_and_profiles() {
    let home = Home::new();
    let all = "SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s e:p ?o } }";
    let number = |count: i64| {
        vec![format!(
            "{:?}",
            vec![Some(oxrdf::Term::from(Literal::from(count)))]
        )]
    };
    let metadata = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }";
    assert_eq!(home.same(all), number(3 + 2));
    let before = home.same(metadata);
    home.derive(vec![Triple::new(
        node("http://localhost:7878/dataset/a"),
        node("http://e.org/p"),
        node("http://e.org/y"),
    )]);
    assert_eq!(
        home.same(all),
        number(5),
        "profiles are no graph of a dataset"
    );
    assert_ne!(home.same(metadata), before);
    home.load(&[("a", "e:x e:p 7 .")]);
    assert_eq!(home.same(all), number(3));
    home.load(&[("a", ""), ("b", ""), ("f", "e:x e:p 7, 8, 9 .")]);
    assert_eq!(home.same(all), number(3));
    assert_eq!(
        home.same("SELECT (COUNT(*) AS ?n) FROM <dataset/a> { ?s ?p ?o }"),
        number(0)
    );
    home.derive(Vec::new());
    assert_eq!(home.same(all), number(3));
    let id = lodeseek_catalog::DatasetId::new("f").expect("an id");
    assert_eq!(home.store.remove(&[id]).expect("removed"), 1);
    assert_eq!(home.same(all), number(0));
    assert_eq!(
        home.same("SELECT (COUNT(DISTINCT ?g) AS ?n) { GRAPH ?g { ?s e:p ?o } }"),
        number(0)
    );
    home.store.clear_replaced(&|_, _| ()).expect("cleared");
    assert_eq!(home.same(all), number(0));
}

#[test]
fn counts_that_are_lost_are_made_again() {
    let home = Home::new();
    for entry in fs::read_dir(home.folder.path().join("graphs")).expect("a folder") {
        let path = entry.expect("an entry").path();
        if lodeseek_store::counts::is_counts(&path) {
            fs::write(path, "damaged").expect("written");
        }
    }
    home.same("SELECT ?g ?p (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } } GROUP BY ?g ?p");
    let path = home.folder.path().join("graphs");
    let kept = fs::read_dir(path)
        .expect("a folder")
        .filter_map(|entry| fs::read(entry.expect("an entry").path()).ok());
    assert!(
        !kept.into_iter().any(|bytes| bytes == b"damaged"),
        "a writer mends them"
    );
}

#[test]
fn no_source_is_left_out() {
    let home = &homes()[0];
    let ids = |query: &str| {
        let found = home
            .queries
            .sources(&format!("{PREFIXES}{query}"), &SparqlLimits::default())
            .expect("selected");
        let names = |ids: Vec<&lodeseek_catalog::DatasetId>| {
            ids.iter()
                .map(|id| id.as_str())
                .collect::<Vec<_>>()
                .join(" ")
        };
        let each = found.patterns.iter().map(|pattern| {
            names(
                pattern
                    .sources
                    .iter()
                    .map(|source| &source.dataset)
                    .collect(),
            )
        });
        (
            each.collect::<Vec<_>>().join(" | "),
            names(found.alone.iter().collect()),
        )
    };
    let pair = |each: &str, alone: &str| (each.to_owned(), alone.to_owned());
    assert_eq!(
        ids("SELECT * { ?s a e:C ; e:p ?o }"),
        pair("a b | a b", "a b")
    );
    assert_eq!(
        ids("SELECT * { ?s a e:D ; e:only ?o }"),
        pair("a d | c", "")
    );
    assert_eq!(
        ids("SELECT * { { ?s e:r ?o } UNION { ?s e:only ?o } }"),
        pair("b | c", "b c")
    );
    assert_eq!(
        ids("SELECT * { ?s e:r ?o OPTIONAL { ?s e:only ?o } }"),
        pair("b | c", "b")
    );
    assert_eq!(
        ids("SELECT * { ?s e:p 1 GRAPH <dataset/a> { ?s a ?c } }"),
        pair("a b | a", "a")
    );
    assert_eq!(ids("SELECT * { ?s e:r/e:only ?o }"), pair("b | c", ""));
    assert_eq!(ids("SELECT * { ?s (e:r|e:only)+ ?o }").1, "b c");
    assert_eq!(ids("SELECT * { ?s !e:only ?o }").1, "a b d");
    assert_eq!(ids("SELECT * { ?s e:only* ?o }").1, "a b c d empty");
}

#[test]
fn services_of_a_query_are_named() {
    let home = &homes()[0];
    let select = |query: &str| {
        let query = format!("{PREFIXES}{query}");
        let found = home.queries.sources(&query, &SparqlLimits::default());
        found.expect("selected")
    };
    let found = select(
        "SELECT * { ?s e:r ?o { SERVICE <http://b.org/sparql> { ?o e:p ?x } } FILTER EXISTS { SERVICE ?where { ?o e:q ?y } } }",
    );
    assert_eq!(found.patterns.len(), 1, "{found:?}");
    assert_eq!(
        found.services.into_iter().collect::<Vec<_>>(),
        ["<http://b.org/sparql>", "?where"]
    );
    assert_eq!(found.alone.len(), 1);
    let elsewhere = select("SELECT * { SERVICE <http://b.org/sparql> { ?s e:p ?o } }");
    assert!(elsewhere.alone.is_empty() && elsewhere.services.len() == 1);
    assert!(select("SELECT * { ?s e:r ?o }").services.is_empty());
}

/// Every dataset that has an answer is among the selected sources.
#[test]
fn sources_are_sound() {
    let home = &homes()[0];
    for pattern in [
        "?s e:p 1",
        "?s a e:C",
        "e:x ?p ?o",
        "?s ?p e:y",
        "?s a \"54\"^^<http://www.w3.org/2001/XMLSchema#decimal>",
        "e:x a e:C",
        "?s e:only true",
        "e:x e:q e:y",
        "?s a [] ; e:s/e:s ?o",
    ] {
        let query = format!("{PREFIXES}SELECT * {{ {pattern} }}");
        let found = home
            .queries
            .sources(&query, &SparqlLimits::default())
            .expect("selected");
        for (id, _) in DUMPS {
            let answer = home.same(&format!("ASK FROM <dataset/{id}> {{ {pattern} }}"));
            let named = found.alone.iter().any(|source| source.as_str() == id);
            assert!(named || answer == ["false"], "{pattern} in {id}");
        }
    }
}

#[test]
fn endpoints_come_from_the_catalogue() {
    let home = Home::new();
    let catalog = home.store.iris().catalog();
    for (subject, property, object) in [
        (
            "http://localhost:7878/dataset/a",
            "http://rdfs.org/ns/void#sparqlEndpoint",
            "http://a.org/sparql",
        ),
        (
            "http://localhost:7878/dataset/b#distribution-1",
            "http://www.w3.org/ns/dcat#accessService",
            "http://b.org/",
        ),
        (
            "http://b.org/",
            "http://www.w3.org/ns/dcat#endpointURL",
            "http://b.org/sparql",
        ),
    ] {
        let quad =
            Triple::new(node(subject), node(property), node(object)).in_graph(catalog.clone());
        home.store.oxigraph().insert(&quad).expect("inserted");
    }
    let found = home.queries.sources(
        &format!("{PREFIXES}SELECT * {{ ?s e:r ?o }}"),
        &SparqlLimits::default(),
    );
    let endpoints: Vec<String> = found
        .expect("selected")
        .endpoints
        .into_values()
        .flatten()
        .collect();
    assert_eq!(
        endpoints,
        ["http://b.org/sparql"],
        "those of the sources alone"
    );
}
