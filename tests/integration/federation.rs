//! `SERVICE`: bound joins with local data return the answer of SPARQL, never another one.
//!
//! The expected answer comes from Oxigraph alone: the same query with `GRAPH` instead of `SERVICE`, over one store that
//! holds the services' data as named graphs.

use super::support::{Home, limits};
use lodeseek_sparql::{
    Answer, QueryRequest, ServiceCall, ServiceError, ServiceRow, Services, SparqlError,
    SparqlLimits,
};
use oxigraph::io::{RdfFormat, RdfParser};
use oxigraph::sparql::{QueryResults, SparqlEvaluator};
use oxigraph::store::Store as Oxigraph;
use oxrdf::{BlankNode, NamedNode, Term};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

const ONE: &str = "http://one.example/sparql";
const TWO: &str = "http://two.example/sparql";
const HERE: &str = "http://localhost:7878/dataset/here";

/// Services that are stores in memory.
#[derive(Debug, Default)]
struct Stores {
    stores: HashMap<String, String>,
    /// Bindings of each call.
    calls: Mutex<Vec<usize>>,
    /// The largest block taken; larger ones are refused as too large.
    most: Option<usize>,
    /// Rows handed over.
    rows: AtomicUsize,
}

impl Stores {
    fn from_triples<'s>(stores: impl IntoIterator<Item = (&'s str, &'s str)>) -> Self {
        let stores = stores
            .into_iter()
            .map(|(name, turtle)| (name.to_owned(), turtle.to_owned()))
            .collect();
        Self {
            stores,
            ..Self::default()
        }
    }

    fn calls(&self) -> Vec<usize> {
        self.calls.lock().expect("unharmed").clone()
    }
}

fn filled<'s>(graphs: impl IntoIterator<Item = (Option<&'s str>, &'s str)>) -> Oxigraph {
    let store = Oxigraph::new().expect("a store");
    for (graph, turtle) in graphs {
        let parser = RdfParser::from_format(RdfFormat::Turtle);
        let parser = match graph {
            Some(graph) => parser.with_default_graph(NamedNode::new(graph).expect("an IRI")),
            None => parser,
        };
        store
            .load_from_slice(parser.rename_blank_nodes(), turtle)
            .expect("Turtle");
    }
    store
}

impl Services for Stores {
    fn call(
        &self,
        call: &ServiceCall<'_>,
        rows: &mut dyn FnMut(ServiceRow) -> ControlFlow<()>,
    ) -> Result<(), ServiceError> {
        self.calls
            .lock()
            .expect("unharmed")
            .push(call.bindings.rows.len());
        if self
            .most
            .is_some_and(|most| call.bindings.rows.len() > most)
        {
            return Err(ServiceError::TooLarge("too many bindings".to_owned()));
        }
        let turtle = self.stores.get(call.service.as_str());
        let turtle =
            turtle.ok_or_else(|| ServiceError::Failed(format!("{} is not there", call.service)))?;
        let store = filled([(None, turtle.as_str())]);
        // As text, as it goes to a service.
        let query = call.text();
        let prepared = SparqlEvaluator::new()
            .parse_query(&query)
            .unwrap_or_else(|error| panic!("{error}: {query}"));
        let Ok(QueryResults::Solutions(solutions)) = prepared.on_store(&store).execute() else {
            panic!("{query}")
        };
        let mut names: HashMap<Term, Term> = HashMap::new();
        for solution in solutions {
            let solution = solution.expect("a solution");
            let renamed = |term: &Term| match term {
                Term::BlankNode(_) => names
                    .entry(term.clone())
                    .or_insert_with(|| BlankNode::default().into())
                    .clone(),
                other => other.clone(),
            };
            let row = call
                .variables
                .iter()
                .map(|variable| solution.get(variable))
                .map({
                    let mut renamed = renamed;
                    move |term| term.map(&mut renamed)
                });
            self.rows.fetch_add(1, Ordering::Relaxed);
            if rows(row.collect()).is_break() {
                break;
            }
        }
        Ok(())
    }
}

/// A home with one dataset, `here`.
fn home(turtle: &str) -> Home {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("here.ttl"), turtle).expect("written");
    let catalog = folder.path().join("datasets.json");
    fs::write(
        &catalog,
        r#"[{"dataset_id": "here", "title": "here", "download": ["here.ttl"]}]"#,
    )
    .expect("written");
    let home = Home::new();
    home.load(&catalog);
    home
}

fn ask(home: &Home, services: &Arc<Stores>, query: &str) -> Result<Answer, SparqlError> {
    ask_within(home, services, query, &limits())
}

fn ask_within(
    home: &Home,
    services: &Arc<Stores>,
    query: &str,
    limits: &SparqlLimits,
) -> Result<Answer, SparqlError> {
    let request = QueryRequest {
        query: query.to_owned(),
        default_graphs: vec![NamedNode::new(HERE).expect("an IRI")],
        services: Some(Arc::clone(services) as Arc<dyn Services>),
        ..QueryRequest::default()
    };
    home.queries.evaluate(&request, limits)
}

/// Counts equal rows. All blank nodes are equal.
type Bag = BTreeMap<Vec<Option<String>>, usize>;

fn shown(term: &Term) -> String {
    match term {
        Term::BlankNode(_) => "_:".to_owned(),
        other => other.to_string(),
    }
}

fn bag(rows: impl IntoIterator<Item = Vec<Option<String>>>) -> Bag {
    let mut bag = Bag::new();
    for row in rows {
        *bag.entry(row).or_default() += 1;
    }
    bag
}

fn ours(answer: &Answer) -> Bag {
    let Answer::Solutions {
        variables, rows, ..
    } = answer
    else {
        panic!("no solutions")
    };
    let mut order: Vec<usize> = (0..variables.len()).collect();
    order.sort_by_key(|&place| variables[place].as_str());
    bag(rows.iter().map(|row| {
        order
            .iter()
            .map(|&place| row[place].as_ref().map(shown))
            .collect()
    }))
}

fn theirs(store: &Oxigraph, query: &str) -> Bag {
    let prepared = SparqlEvaluator::new()
        .parse_query(query)
        .unwrap_or_else(|error| panic!("{error}: {query}"));
    let Ok(QueryResults::Solutions(solutions)) = prepared.on_store(store).execute() else {
        panic!("{query}")
    };
    let mut variables = solutions.variables().to_vec();
    variables.sort();
    bag(solutions.map(|solution| {
        let solution = solution.expect("a solution");
        variables
            .iter()
            .map(|variable| solution.get(variable).map(shown))
            .collect()
    }))
}

const PREFIX: &str = "PREFIX : <http://e.example/> ";

/// Some data, here and at two services.
struct World {
    home: Home,
    services: Arc<Stores>,
    whole: Oxigraph,
}

impl World {
    fn new(seed: u64) -> Self {
        // Blank nodes of services are new with each answer, those of a graph are not.
        let [here, one, two] = [
            ("_:b", seed * 3),
            (":e1", seed * 3 + 1),
            (":e2", seed * 3 + 2),
        ]
        .map(turtle);
        let services = Stores::from_triples([(ONE, one.as_str()), (TWO, two.as_str())]);
        let whole = filled([(None, here.as_str()), (Some(ONE), &one), (Some(TWO), &two)]);
        Self {
            home: home(&here),
            services: Arc::new(services),
            whole,
        }
    }
}

fn worlds() -> &'static [World] {
    static WORLDS: OnceLock<Vec<World>> = OnceLock::new();
    WORLDS.get_or_init(|| (1..5).map(World::new).collect())
}

/// Triples over few names, so that much joins, and one of its own.
fn turtle((own, seed): (&str, u64)) -> String {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut draw = |most: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % most
    };
    let mut text = "@prefix : <http://e.example/> .\n".to_owned();
    for _ in 0..14 {
        let subject = match draw(8) {
            0 => own.to_owned(),
            n => format!(":e{n}"),
        };
        let object = match draw(10) {
            0 => own.to_owned(),
            n @ 1..3 => format!("\"{n}\""),
            n => format!(":e{n}"),
        };
        text += &format!("{subject} :p{} {object} .\n", draw(3));
    }
    text
}

fn variable() -> impl Strategy<Value = String> {
    prop_oneof![Just("?a"), Just("?b"), Just("?c"), Just("?d")].prop_map(str::to_owned)
}

fn node() -> impl Strategy<Value = String> {
    prop_oneof![5 => variable(), 1 => (1..8u8).prop_map(|n| format!(":e{n}"))]
}

fn triple() -> impl Strategy<Value = String> {
    let property =
        prop_oneof![4 => (0..3u8).prop_map(|n| format!(":p{n}")), 1 => Just("?p".to_owned())];
    (node(), property, node()).prop_map(|(s, p, o)| format!("{s} {p} {o} . "))
}

fn condition() -> impl Strategy<Value = String> {
    prop_oneof![
        (variable(), variable()).prop_map(|(a, b)| format!("{a} = {b}")),
        (variable(), 1..8u8).prop_map(|(a, n)| format!("{a} != :e{n}")),
        variable().prop_map(|a| format!("BOUND({a})")),
        variable().prop_map(|a| format!("!BOUND({a})")),
        variable().prop_map(|a| format!("isLiteral({a})")),
    ]
}

/// Over the whole alone: Oxigraph lets an `EXISTS` further inside see what is bound outside of its group.
fn exists() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => Just(String::new()),
        1 => triple().prop_map(|triple| format!("FILTER EXISTS {{ {triple} }}")),
        1 => triple().prop_map(|triple| format!("FILTER NOT EXISTS {{ SERVICE <{ONE}> {{ {triple} }} }}")),
    ]
}

/// Oxigraph lets a subquery count what is bound outside of it alone: what is counted here is bound inside.
fn counted(triple: String, group: &str, counted: &str) -> String {
    let is_inside = |name: &str| triple.split_whitespace().any(|word| word == name);
    if !is_inside(group) || !is_inside(counted) {
        return triple;
    }
    format!(
        "{{ SELECT {group} (COUNT(DISTINCT {counted}) AS ?n) {{ {triple} }} GROUP BY {group} HAVING(COUNT(*) > 1) }}"
    )
}

/// A condition of a group that names what the group binds alone: of other variables Oxigraph lets it see what is bound
/// outside, where the specification has them unbound.
fn filtered(group: &str, condition: &str) -> String {
    let words = |text: &str| -> BTreeSet<String> {
        let words = text
            .split(|c: char| !(c.is_alphanumeric() || c == '?'))
            .filter(|word| word.starts_with('?'));
        words.map(str::to_owned).collect()
    };
    if words(condition).is_subset(&words(group)) {
        format!("{group} FILTER({condition})")
    } else {
        group.to_owned()
    }
}

/// Patterns sent to a service: something inside may be optional or alternative.
fn asked() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => triple(),
        2 => (triple(), triple()).prop_map(|(a, b)| a + &b),
        1 => (triple(), triple()).prop_map(|(a, b)| format!("{a} OPTIONAL {{ {b} }}")),
        1 => (triple(), triple()).prop_map(|(a, b)| format!("{{ {a} }} UNION {{ {b} }}")),
        1 => (triple(), variable()).prop_map(|(a, v)| format!("{{ SELECT {v} {{ {a} }} }}")),
        2 => (triple(), variable(), variable()).prop_map(|(a, v, w)| counted(a, &v, &w)),
        // What a careless printer of queries gets wrong.
        1 => (triple(), triple()).prop_map(|(a, b)| format!("OPTIONAL {{ {a} }} {b}")),
        1 => (triple(), triple()).prop_map(|(a, b)| format!("{a} MINUS {{ {b} }}")),
        1 => (triple(), triple(), condition())
            .prop_map(|(a, b, c)| format!("{{ {} }} OPTIONAL {{ {b} }}", filtered(&a, &c))),
        1 => (triple(), triple(), condition())
            .prop_map(|(a, b, c)| format!("{a} OPTIONAL {{ {{ {} }} }}", filtered(&b, &c))),
        1 => (triple(), 1..8u8).prop_map(|(a, n)| format!("{{ {a} }} BIND(:e{n} AS ?y) FILTER((5 - (2 - 1)) * 2 = 8)")),
    ]
}

fn service() -> impl Strategy<Value = String> {
    (prop_oneof![Just(ONE), Just(TWO)], asked())
        .prop_map(|(name, inner)| format!("SERVICE <{name}> {{ {inner} }} "))
}

fn group() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![3 => triple(), 4 => service()];
    leaf.prop_recursive(4, 12, 3, |inner| {
        prop_oneof![
            4 => (inner.clone(), inner.clone()).prop_map(|(a, b)| a + &b),
            2 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{a} OPTIONAL {{ {b} }} ")),
            1 => (inner.clone(), inner.clone(), condition())
                .prop_map(|(a, b, c)| format!("{a} OPTIONAL {{ {b} FILTER({c}) }} ")),
            2 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{{ {a} }} UNION {{ {b} }} ")),
            1 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{a} MINUS {{ {b} }} ")),
            2 => (inner.clone(), condition()).prop_map(|(a, c)| format!("{{ {} }} ", filtered(&a, &c))),
            1 => (inner.clone(), variable()).prop_map(|(a, v)| format!("{{ SELECT {v} {{ {a} }} }} ")),
            1 => (inner.clone(), variable()).prop_map(|(a, v)| format!("{{ SELECT DISTINCT {v} {{ {a} }} }} ")),
            1 => (inner.clone(), variable(), variable())
                .prop_map(|(a, v, w)| format!("{{ SELECT {v} (COUNT({w}) AS ?n) {{ {a} }} GROUP BY {v} }} ")),
            1 => (inner.clone(), 1..8u8, 1..8u8)
                .prop_map(|(a, n, m)| format!("{a} VALUES (?a ?b) {{ (:e{n} :e{m}) (:e{m} UNDEF) }} ")),
            1 => (inner, 1..8u8).prop_map(|(a, n)| format!("{{ {{ {a} }} BIND(:e{n} AS ?x) }} ")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_service_joins_as_a_graph_would(world in 0..4usize, group in group(), exists in exists()) {
        let world = &worlds()[world];
        let query = format!("{PREFIX} SELECT * {{ {group} {exists} }}");
        prop_assume!(SparqlEvaluator::new().parse_query(&query).is_ok()); // BIND may meet its own variable
        let expected = theirs(&world.whole, &query.replace("SERVICE", "GRAPH"));
        let found = ask(&world.home, &world.services, &query).unwrap_or_else(|error| panic!("{error}: {query}"));
        prop_assert_eq!(ours(&found), expected, "{}", query);
    }
}

fn numbers(from: usize, to: usize, property: &str) -> String {
    let triples: String = (from..to)
        .map(|n| format!(":n{n} :{property} \"{n}\" .\n"))
        .collect();
    format!("@prefix : <http://e.example/> .\n{triples}")
}

/// A home that contains `:n0 :a "0"` and so on, and a service that contains `:n0 :b "0"`.
fn counting(here: usize, there: usize) -> (Home, Stores) {
    (
        home(&numbers(0, here, "a")),
        Stores::from_triples([(ONE, numbers(0, there, "b").as_str())]),
    )
}

fn rows(answer: &Answer) -> usize {
    match answer {
        Answer::Solutions { rows, .. } => rows.len(),
        other => panic!("no solutions: {other:?}"),
    }
}

#[test]
fn bindings_go_in_blocks_that_grow() {
    let (home, services) = counting(1000, 3000);
    let services = Arc::new(services);
    let query = format!("{PREFIX} SELECT * {{ ?n :a ?a SERVICE <{ONE}> {{ ?n :b ?b }} }}");
    let answer = ask(&home, &services, &query).expect("an answer");
    assert_eq!(rows(&answer), 1000);
    let mut calls = services.calls();
    assert_eq!(calls[0], 100, "{calls:?}");
    assert!(calls.len() <= 10, "{calls:?}");
    // On a slow machine there may be enough blocks for the trial whether the service has few rows.
    let trials = calls.iter().filter(|&&rows| rows == 1).count();
    calls.retain(|&rows| rows > 1);
    assert_eq!(calls.iter().sum::<usize>(), 1000);
    assert!(trials <= 1);
    assert_eq!(
        services.rows.load(Ordering::Relaxed),
        1000 + trials * 2001,
        "only what joins is sent"
    );
}

#[test]
fn few_rows_are_asked_for_as_a_whole() {
    let few: String = (0..30_000)
        .step_by(100)
        .map(|n| format!(":n{n} :b \"{n}\" . :n{n} :b \"again\" .\n"))
        .collect();
    let services = Stores::from_triples([(
        ONE,
        format!("@prefix : <http://e.example/> .\n{few}").as_str(),
    )]);
    let (home, services) = (home(&numbers(0, 20_000, "a")), Arc::new(services));
    let query = format!(
        "{PREFIX} SELECT * {{ ?n :a ?a SERVICE <{ONE}> {{ ?n :b ?b FILTER(?b != \"0\") }} }}"
    );
    assert_eq!(
        rows(&ask(&home, &services, &query).expect("an answer")),
        399,
        "each row once"
    );
    // Blocks and the trial go their ways at once: their order is that of chance.
    let calls = services.calls();
    assert_eq!(
        (calls.len(), calls.iter().filter(|&&rows| rows == 1).count()),
        (5, 1),
        "{calls:?}"
    );
}

#[test]
fn blocks_that_are_too_large_go_in_halves() {
    let (home, services) = counting(300, 300);
    let services = Arc::new(Stores {
        most: Some(30),
        ..services
    });
    let query = format!("{PREFIX} SELECT * {{ ?n :a ?a SERVICE <{ONE}> {{ ?n :b ?b }} }}");
    assert_eq!(
        rows(&ask(&home, &services, &query).expect("an answer")),
        300
    );
}

#[test]
fn a_limit_ends_the_asking() {
    let (home, services) = counting(20_000, 20_000);
    let services = Arc::new(services);
    let query = format!("{PREFIX} SELECT * {{ ?n :a ?a SERVICE <{ONE}> {{ ?n :b ?b }} }} LIMIT 10");
    assert_eq!(rows(&ask(&home, &services, &query).expect("an answer")), 10);
    let asked: usize = services.calls().iter().sum();
    assert!(asked < 15_000, "{asked} of 20,000 bindings were asked for");
}

#[test]
fn conditions_go_along() {
    let (home, services) = counting(3, 500);
    let services = Arc::new(services);
    let query =
        format!("{PREFIX} SELECT * {{ SERVICE <{ONE}> {{ ?n :b ?b }} FILTER(?b = \"77\") }}");
    assert_eq!(rows(&ask(&home, &services, &query).expect("an answer")), 1);
    assert_eq!(
        services.rows.load(Ordering::Relaxed),
        1,
        "the service filters"
    );
}

#[test]
fn constants_go_along() {
    let (home, services) = counting(3, 500);
    let services = Arc::new(services);
    let query = format!("{PREFIX} SELECT * {{ BIND(:n7 AS ?n) SERVICE <{ONE}> {{ ?n :b ?b }} }}");
    assert_eq!(rows(&ask(&home, &services, &query).expect("an answer")), 1);
    assert_eq!(services.rows.load(Ordering::Relaxed), 1);
}

/// The graphs of a service are its own (SPARQL 1.1 Federated Query, section 3): a `GRAPH` around it is not sent.
#[test]
fn a_service_in_a_graph_reads_its_own_graphs() {
    let (home, services) = counting(5, 3);
    let services = Arc::new(services);
    let service = format!("SERVICE <{ONE}> {{ ?n :b ?y }}");
    for (group, expected) in [
        (format!("GRAPH <{HERE}> {{ {service} }}"), 3),
        (format!("GRAPH <{HERE}> {{ ?n :a ?x {service} }}"), 3),
        (format!("GRAPH ?g {{ {service} }}"), 3),
        (format!("GRAPH ?g {{ ?n :a ?x {service} }}"), 3),
        (
            format!("GRAPH ?g {{ ?n :a ?x OPTIONAL {{ {service} }} }}"),
            5,
        ),
        (
            format!("GRAPH ?g {{ {{ ?n :a ?x }} UNION {{ {service} }} }}"),
            8,
        ),
        (
            format!("GRAPH ?g {{ ?n :a ?x FILTER EXISTS {{ {service} }} }}"),
            3,
        ),
        (format!("GRAPH ?g {{ ?n :a ?x MINUS {{ {service} }} }}"), 2),
        (format!("GRAPH ?g {{ {{ SELECT ?n {{ {service} }} }} }}"), 3),
    ] {
        let request = QueryRequest {
            query: format!("{PREFIX} SELECT * {{ {group} }}"),
            named_graphs: vec![NamedNode::new(HERE).expect("an IRI")],
            services: Some(Arc::clone(&services) as Arc<dyn Services>),
            ..QueryRequest::default()
        };
        assert_eq!(
            rows(
                &home
                    .queries
                    .evaluate(&request, &limits())
                    .expect("an answer")
            ),
            expected,
            "{group}"
        );
    }
}

#[test]
fn a_service_may_be_named_by_what_is_here() {
    let here = format!(
        "@prefix : <http://e.example/> . :x :at <{ONE}> . :y :at <{TWO}> . :z :at \"nowhere\" ."
    );
    let home = home(&here);
    let services = Arc::new(Stores::from_triples([
        (ONE, numbers(0, 2, "b").as_str()),
        (TWO, numbers(2, 5, "b").as_str()),
    ]));
    let inside = "?d :at ?service FILTER(isIRI(?service)) SERVICE ?service { ?n :b ?b }";
    let answer = ask(
        &home,
        &services,
        &format!("{PREFIX} SELECT ?d ?service ?b {{ {inside} }}"),
    )
    .expect("an answer");
    let found = ours(&answer);
    assert_eq!(found.len(), 5);
    // Columns by name: b, d, service.
    assert!(
        found
            .keys()
            .all(|row| (row[1].as_deref() == Some("<http://e.example/x>"))
                == (row[2].as_deref() == Some(&format!("<{ONE}>"))))
    );
    let all = "?d :at ?service SERVICE ?service { ?n :b ?b }";
    let error = ask(&home, &services, &format!("{PREFIX} SELECT * {{ {all} }}"))
        .expect_err("a literal is no service");
    assert!(error.to_string().contains("nowhere"), "{error}");
    let unbound = ask(
        &home,
        &services,
        "SELECT * { SERVICE ?nobody { ?s ?p ?o } }",
    )
    .expect_err("nobody is asked");
    assert!(unbound.to_string().contains("?nobody"), "{unbound}");
}

#[test]
fn silence_leaves_what_is_here() {
    let (home, services) = counting(3, 3);
    let services = Arc::new(services);
    let query = |silent: &str, variable: &str| {
        format!(
            "{PREFIX} SELECT * {{ ?n :a ?a SERVICE {silent} <http://gone.example/> {{ {variable} :b ?b }} }}"
        )
    };
    let error = ask(&home, &services, &query("", "?n")).expect_err("it is not there");
    assert!(
        matches!(&error, SparqlError::Service(reason) if reason.contains("gone.example")),
        "{error}"
    );
    for variable in ["?n", "?m"] {
        let answer = ask(&home, &services, &query("SILENT", variable)).expect("silence");
        let Answer::Solutions {
            variables, rows, ..
        } = answer
        else {
            panic!()
        };
        assert_eq!(rows.len(), 3);
        let b = variables
            .iter()
            .position(|variable| variable.as_str() == "b")
            .expect("a column");
        assert!(rows.iter().all(|row| row[b].is_none()));
    }
}

#[test]
fn blank_nodes_of_two_places_are_never_the_same() {
    let home = home("@prefix : <http://e.example/> . _:b :a 1 . :n :a 2 .");
    let services = Arc::new(Stores::from_triples([(
        ONE,
        "@prefix : <http://e.example/> . _:b :b 3 . :n :b 4 .",
    )]));
    let query = format!("{PREFIX} SELECT * {{ ?n :a ?a SERVICE <{ONE}> {{ ?n :b ?b }} }}");
    assert_eq!(rows(&ask(&home, &services, &query).expect("an answer")), 1);
    assert_eq!(services.calls(), [1], "the blank node is not asked for");
    let gone = query.replace(
        &format!("SERVICE <{ONE}>"),
        "SERVICE SILENT <http://gone.example/>",
    );
    assert_eq!(
        rows(&ask(&home, &services, &gone).expect("silence")),
        2,
        "a service that fails leaves every row"
    );
}

#[test]
fn nobody_is_asked_unless_somebody_answers() {
    let home = home("<http://e.example/a> a <http://e.example/B> .");
    let error = home
        .ask(&format!("SELECT * {{ SERVICE <{ONE}> {{ ?s ?p ?o }} }}"))
        .expect_err("refused");
    assert!(
        matches!(&error, SparqlError::Refused(reason) if reason.contains(ONE)),
        "{error}"
    );
    let many: String = (0..20)
        .map(|n| format!("SERVICE <{ONE}> {{ ?s{n} ?p ?o }} "))
        .collect();
    assert!(matches!(
        home.ask(&format!("SELECT * {{ {many} }}")),
        Err(SparqlError::TooLarge(_))
    ));
    let optional = "OPTIONAL{SERVICE<urn:a>{}}".repeat(17);
    assert!(matches!(
        home.ask(&format!("SELECT * {{ {optional} }}")),
        Err(SparqlError::TooLarge(_))
    ));
}

#[test]
fn an_answer_too_long_is_an_error_and_no_shorter_answer() {
    let (home, services) = counting(10, 2000);
    let limits = SparqlLimits {
        service_rows: 1000,
        ..limits()
    };
    let query = format!("{PREFIX} SELECT * {{ SERVICE <{ONE}> {{ ?n :b ?b }} }}");
    let error = ask_within(&home, &Arc::new(services), &query, &limits).expect_err("too long");
    assert!(error.to_string().contains("1000 rows"), "{error}");
}
