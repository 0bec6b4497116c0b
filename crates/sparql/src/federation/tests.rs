//! Services that compare terms by their text, and services that fail.

use super::{ServiceCall, ServiceError, ServiceRow, Services};
use crate::{Answer, QueryEngine, QueryRequest, SparqlError, SparqlLimits};
use lodeseek_catalog::Iris;
use lodeseek_store::Store;
use oxigraph::sparql::{QueryResults, SparqlEvaluator};
use oxigraph::store::Store as Oxigraph;
use oxrdf::{Dataset, GraphName, Literal, NamedNode, Quad, Term};
use proptest::prelude::*;
use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

const ONE: &str = "http://one.example/sparql";
const TWO: &str = "http://two.example/sparql";
const XSD: &str = "http://www.w3.org/2001/XMLSchema#";

/// Endpoints that keep the text of each literal. Others cannot be reached.
#[derive(Debug, Default)]
struct Endpoints {
    datasets: HashMap<String, Dataset>,
    calls: AtomicUsize,
}

/// Subject, property and object of the triples of an endpoint.
type Rows = Vec<(String, &'static str, Term)>;

impl Endpoints {
    fn new(triples: &[(&str, Rows)]) -> Arc<Self> {
        let quads = |triples: &Rows| -> Dataset {
            triples
                .iter()
                .map(|triple| quad(triple, GraphName::DefaultGraph))
                .collect()
        };
        let datasets = triples
            .iter()
            .map(|(name, triples)| ((*name).to_owned(), quads(triples)))
            .collect();
        Arc::new(Self {
            datasets,
            ..Self::default()
        })
    }
}

fn quad((subject, predicate, object): &(String, &str, Term), graph: impl Into<GraphName>) -> Quad {
    let node = |name: &str| NamedNode::new_unchecked(format!("x:{name}"));
    Quad::new(node(subject), node(predicate), object.clone(), graph)
}

impl Services for Endpoints {
    fn call(
        &self,
        call: &ServiceCall<'_>,
        rows: &mut dyn FnMut(ServiceRow) -> ControlFlow<()>,
    ) -> Result<(), ServiceError> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let dataset = self.datasets.get(call.service.as_str());
        let dataset = dataset
            .ok_or_else(|| ServiceError::Failed(format!("{} is unreachable", call.service)))?;
        let text = call.text();
        let query = SparqlEvaluator::new()
            .parse_query(&text)
            .unwrap_or_else(|error| panic!("{error}: {text}"));
        let Ok(QueryResults::Solutions(solutions)) = query.on_queryable_dataset(dataset).execute()
        else {
            panic!("{text}")
        };
        for solution in solutions {
            let solution = solution.expect("a solution");
            if rows(
                call.variables
                    .iter()
                    .map(|variable| solution.get(variable).map(parsed))
                    .collect(),
            )
            .is_break()
            {
                break;
            }
        }
        Ok(())
    }
}

/// Returns a term as parsers return it: with language tags in lower case.
fn parsed(term: &Term) -> Term {
    match term {
        Term::Literal(literal) if literal.language().is_some() => {
            super::join_keys::canonical_term(term)
        }
        other => other.clone(),
    }
}

fn engine() -> &'static Arc<QueryEngine> {
    static ENGINE: OnceLock<(tempfile::TempDir, Arc<QueryEngine>)> = OnceLock::new();
    let (_, engine) = ENGINE.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let iris = Iris::new(Iris::DEFAULT_BASE).expect("the default");
        let engine = QueryEngine::new(Arc::new(
            Store::in_memory(folder.path(), iris).expect("a store"),
        ));
        (folder, engine)
    });
    engine
}

fn ask(services: &Arc<Endpoints>, pattern: &str) -> Result<Answer, SparqlError> {
    let query = format!("PREFIX : <x:> PREFIX xsd: <{XSD}> SELECT * {{ {pattern} }}");
    let services: Arc<dyn Services> = Arc::<Endpoints>::clone(services);
    let limits = SparqlLimits {
        concurrent: 1000,
        deadline: Duration::from_secs(300),
        ..SparqlLimits::default()
    };
    engine().evaluate(
        &QueryRequest {
            query,
            services: Some(services),
            ..QueryRequest::default()
        },
        &limits,
    )
}

/// Rows with their number.
type Bag = BTreeMap<Vec<String>, usize>;

fn bag(rows: impl Iterator<Item = BTreeMap<String, String>>) -> Bag {
    let mut bag = Bag::new();
    for row in rows {
        *bag.entry(
            row.into_iter()
                .map(|(name, term)| format!("{name}={term}"))
                .collect(),
        )
        .or_default() += 1;
    }
    bag
}

fn found(services: &Arc<Endpoints>, pattern: &str) -> Bag {
    let answer = ask(services, pattern).unwrap_or_else(|error| panic!("{error}: {pattern}"));
    let Answer::Solutions {
        variables, rows, ..
    } = answer
    else {
        panic!("no solutions")
    };
    bag(rows.iter().map(|row| {
        let cells = variables.iter().zip(row).filter_map(|(name, term)| {
            Some((
                name.to_string(),
                super::join_keys::canonical_term(term.as_ref()?).to_string(),
            ))
        });
        cells.collect()
    }))
}

/// Returns the rows of a store with the data of all endpoints as named graphs.
fn expected(triples: &[(&str, Rows)], pattern: &str) -> Bag {
    let store = Oxigraph::new().expect("a store");
    for (name, triples) in triples {
        for (subject, predicate, object) in triples {
            let triple = (subject.clone(), *predicate, parsed(object));
            store
                .insert(&quad(&triple, NamedNode::new_unchecked(*name)))
                .expect("inserted");
        }
    }
    let query = format!(
        "PREFIX : <x:> PREFIX xsd: <{XSD}> SELECT * {{ {} }}",
        pattern.replace("SERVICE", "GRAPH")
    );
    let results = SparqlEvaluator::new()
        .parse_query(&query)
        .expect("a query")
        .on_store(&store)
        .execute();
    let Ok(QueryResults::Solutions(solutions)) = results else {
        panic!("{query}")
    };
    bag(solutions.map(|solution| {
        let solution = solution.expect("a solution");
        solution
            .iter()
            .map(|(name, term)| (name.to_string(), term.to_string()))
            .collect()
    }))
}

fn typed(text: &str, datatype: &str) -> Term {
    Literal::new_typed_literal(text, NamedNode::new_unchecked(format!("{XSD}{datatype}"))).into()
}

fn value() -> impl Strategy<Value = Term> {
    let integer = [
        "1",
        "01",
        "+1",
        "0",
        "-0",
        "2",
        "x",
        "99999999999999999999",
        "099999999999999999999",
    ];
    let integers = [
        "integer",
        "int",
        "long",
        "short",
        "byte",
        "nonNegativeInteger",
        "nonPositiveInteger",
        "negativeInteger",
        "positiveInteger",
        "unsignedLong",
        "unsignedInt",
        "unsignedShort",
        "unsignedByte",
    ];
    let number = [
        "1", "1.0", "1.00", "+1", "01", "1e0", "1.0E0", "-0", "0.0", "NaN", "INF", "+INF", "1.5",
        "1.50",
    ];
    let date = [
        "2020-01-01",
        "2020-01-01Z",
        "2020-01-01+00:00",
        "2020-01-01-05:00",
        "2020-01-02",
        "12020-01-01",
    ];
    let moment = [
        "2020-01-01T00:00:00Z",
        "2020-01-01T00:00:00.000+00:00",
        "2020-01-01T00:00:00",
        "2019-12-31T24:00:00Z",
        "2020-01-01T01:00:00+01:00",
    ];
    let other = [
        ("01:02:03Z", "time"),
        ("01:02:03.0+00:00", "time"),
        ("P1Y", "duration"),
        ("P12M", "duration"),
        ("P12M", "yearMonthDuration"),
        ("P1Y", "yearMonthDuration"),
        ("P1D", "dayTimeDuration"),
        ("PT24H", "dayTimeDuration"),
        ("2020", "gYear"),
        ("2020Z", "gYear"),
        ("2020+00:00", "gYear"),
        ("true", "boolean"),
        ("1", "boolean"),
        ("false", "boolean"),
        ("1", "string"),
        ("x", "string"),
        ("1", "anyURI"),
    ];
    let tags = ["en", "EN", "en-GB", "en-gb", "de"];
    let pick = |texts: &'static [&'static str]| prop::sample::select(texts);
    let (integer, integers) = (
        integer.map(str::to_owned).to_vec(),
        integers.map(str::to_owned).to_vec(),
    );
    let select = |values: Vec<String>| prop::sample::select(values);
    let names = pick(&["decimal", "double", "float"]);
    prop_oneof![
        4 => (select(integer), select(integers)).prop_map(|(text, name)| typed(&text, &name)),
        4 => (select(number.map(str::to_owned).to_vec()), names).prop_map(|(text, name)| typed(&text, name)),
        2 => select(date.map(str::to_owned).to_vec()).prop_map(|text| typed(&text, "date")),
        2 => select(moment.map(str::to_owned).to_vec()).prop_map(|text| typed(&text, "dateTime")),
        3 => prop::sample::select(other.to_vec()).prop_map(|(text, name)| typed(text, name)),
        3 => (pick(&["x", "y"]), select(tags.map(str::to_owned).to_vec()))
            .prop_map(|(text, tag)| Literal::new_language_tagged_literal_unchecked(text, tag).into()),
        1 => pick(&["x:1", "x:2"]).prop_map(|iri| NamedNode::new_unchecked(iri).into()),
    ]
}

/// Triples whose subjects are different: one store keeps each of them.
fn triples(property: &'static str) -> impl Strategy<Value = Vec<(String, &'static str, Term)>> {
    let number = move |values: Vec<Term>| {
        values
            .into_iter()
            .enumerate()
            .map(|(number, value)| (format!("s{number}"), property, value))
            .collect()
    };
    prop::collection::vec(value(), 0..14).prop_map(number)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn endpoints_join_as_one_store(
        one in triples("p"),
        two in triples("q"),
        more in triples("q"),
        local in prop::collection::vec(value(), 1..6),
        form in 0..9_usize,
    ) {
        let one: Vec<_> = one.into_iter().chain(more).collect();
        let data = [(ONE, one), (TWO, two)];
        let values = local.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        let (first, second) = (format!("SERVICE <{ONE}> {{ ?s :p ?v }}"), format!("SERVICE <{TWO}> {{ ?t :q ?v }}"));
        let pattern = match form {
            0 => format!("{first} {second}"),
            1 => format!("{first} SERVICE <{ONE}> {{ ?t :q ?v }}"),
            2 => format!("VALUES ?v {{ {values} }} {first}"),
            3 => format!("VALUES ?v {{ {values} }} {first} {second}"),
            4 => format!("{first} SERVICE <{TWO}> {{ ?s :q ?v }}"),
            5 => format!("{first} OPTIONAL {{ {second} }}"),
            6 => format!("{first} FILTER NOT EXISTS {{ {second} }}"),
            7 => format!("{first} MINUS {{ {second} }}"),
            _ => format!("{first} SERVICE <{ONE}> {{ ?s :q ?w }} SERVICE <{TWO}> {{ ?s :q ?w }}"),
        };
        let expected = expected(&data, &pattern);
        prop_assert_eq!(found(&Endpoints::new(&data), &pattern), expected, "{} {:?}", pattern, data);
    }
}

#[test]
fn many_values_are_joined_in_blocks() {
    let day = |number: usize| {
        format!(
            "{:04}-{:02}-{:02}",
            1900 + number / 300,
            number % 300 / 25 + 1,
            number % 25 + 1
        )
    };
    let number = |number: usize, width: usize| typed(&format!("{number:0width$}"), "integer");
    let data = |values: &dyn Fn(usize) -> Term,
                count: usize,
                property|
     -> Vec<(String, &'static str, Term)> {
        (0..count)
            .map(|number| (format!("s{number}"), property, values(number)))
            .collect()
    };
    for (left, right, count) in [
        (
            data(&|n| number(n, 1), 900, "p"),
            data(&|n| number(n, 5), 3000, "q"),
            900,
        ),
        (
            data(&|n| number(n, 1), 3000, "p"),
            data(&|n| number(n, 5), 300, "q"),
            300,
        ),
        (
            data(&|n| typed(&day(n), "date"), 900, "p"),
            data(&|n| typed(&day(n), "date"), 3000, "q"),
            900,
        ),
        (
            data(&|n| typed(&format!("PT{n}M"), "dayTimeDuration"), 900, "p"),
            data(
                &|n| typed(&format!("PT{}S", n * 60), "dayTimeDuration"),
                3000,
                "q",
            ),
            900,
        ),
    ] {
        let data = [(ONE, left), (TWO, right)];
        let services = Endpoints::new(&data);
        let rows = found(
            &services,
            &format!("SERVICE <{ONE}> {{ ?s :p ?v }} SERVICE <{TWO}> {{ ?t :q ?v }}"),
        );
        assert_eq!(rows.values().sum::<usize>(), count);
        assert!(
            services.calls.load(Ordering::Relaxed) < 60,
            "{:?}",
            services.calls
        );
    }
}

#[test]
fn a_failed_service_ends_the_query_at_every_place() {
    let data = [(
        ONE,
        vec![
            ("s0".to_owned(), "p", typed("1", "integer")),
            ("s1".to_owned(), "p", typed("2", "integer")),
        ],
    )];
    let services = Endpoints::new(&data);
    let (here, failing) = (
        format!("SERVICE <{ONE}> {{ ?s :p ?v }}"),
        format!("SERVICE <{TWO}> {{ ?s :q ?v }}"),
    );
    for pattern in [
        format!("{here} FILTER EXISTS {{ {failing} }}"),
        format!("{here} FILTER NOT EXISTS {{ {failing} }}"),
        format!("{here} FILTER(?v = 1 || EXISTS {{ {failing} }})"),
        format!("{here} BIND(EXISTS {{ {failing} }} AS ?e)"),
        format!("{here} MINUS {{ {failing} }}"),
        format!("{here} OPTIONAL {{ {failing} }}"),
        format!("{{ {here} }} UNION {{ {failing} }}"),
        format!("VALUES ?v {{ 1 }} FILTER NOT EXISTS {{ {failing} }} {here}"),
        format!(
            "{{ SELECT ?s ?v {{ {here} FILTER NOT EXISTS {{ {failing} }} }} }} SERVICE <{ONE}> {{ ?s :p ?w }}"
        ),
        format!("{{ SELECT (COUNT(*) AS ?n) {{ {here} MINUS {{ {failing} }} }} }}"),
    ] {
        let outcome = ask(&services, &pattern);
        assert!(
            matches!(&outcome, Err(SparqlError::Service(reason)) if reason.contains("unreachable")),
            "{pattern}: {outcome:?}"
        );
        let silent = pattern.replace(
            &format!("SERVICE <{TWO}>"),
            &format!("SERVICE SILENT <{TWO}>"),
        );
        assert!(ask(&services, &silent).is_ok(), "{silent}");
    }
    let unused = format!("{here} FILTER(?v = 3 && EXISTS {{ {failing} }})");
    assert!(found(&services, &unused).is_empty());
}

/// A failed silent service has one solution, which binds no variable: `MINUS` removes nothing by it (SPARQL 1.1, 8.3.1 and 18.5).
#[test]
fn a_failed_silent_service_removes_nothing() {
    let data = [(
        ONE,
        vec![
            ("s0".to_owned(), "p", typed("1", "integer")),
            ("s1".to_owned(), "p", typed("2", "integer")),
        ],
    )];
    let services = Endpoints::new(&data);
    let here = format!("SERVICE <{ONE}> {{ ?s :p ?v }}");
    let failing = format!("SERVICE SILENT <{TWO}> {{ ?s :q ?w }}");
    for (removed, expected) in [
        (failing.clone(), 2),
        (format!("SERVICE SILENT <{TWO}> {{ ?s :p ?v }}"), 2),
        (format!("SERVICE SILENT <{TWO}> {{ ?x :p ?y }}"), 2),
        (
            format!("VALUES ?g {{ <{TWO}> }} SERVICE SILENT ?g {{ ?s :p ?v }}"),
            2,
        ),
        (format!("{{ SELECT ?s {{ {failing} }} }}"), 2),
        (format!("{{ SELECT ?s {{ {failing} }} LIMIT 5 }}"), 2),
        (format!("{failing} BIND(1 AS ?x)"), 2),
        (format!("{failing} BIND(1 AS ?v)"), 1),
        (format!("{{ {failing} }} UNION {{ VALUES ?v {{ 2 }} }}"), 1),
        (format!("{failing} VALUES ?s {{ <x:s0> }}"), 1),
        (
            format!("VALUES ?s {{ <x:s0> }} OPTIONAL {{ {failing} }}"),
            1,
        ),
        (format!("{failing} SERVICE <{ONE}> {{ ?s :p 2 }}"), 1),
        (format!("{failing} FILTER(BOUND(?s))"), 2),
    ] {
        let rows = found(&services, &format!("{here} MINUS {{ {removed} }}"));
        assert_eq!(
            rows.values().sum::<usize>(),
            expected,
            "{removed}: {rows:?}"
        );
    }
    let outer = found(
        &services,
        &format!("VALUES ?g {{ <{TWO}> }} {here} MINUS {{ SERVICE SILENT ?g {{ ?s :p ?v }} }}"),
    );
    assert_eq!(outer.values().sum::<usize>(), 2, "{outer:?}");
}

/// Services may hold the store: it must be free when the answer is complete.
#[test]
fn services_are_released_with_the_answer() {
    let data = [(ONE, vec![("s0".to_owned(), "p", typed("1", "integer"))])];
    for _ in 0..50 {
        let services = Endpoints::new(&data);
        let answer = ask(&services, "?a ?b ?c");
        assert!(answer.is_ok());
        assert_eq!(Arc::strong_count(&services), 1);
    }
}

#[test]
fn filters_outside_of_a_service_are_evaluated_here() {
    let rows = vec![
        ("s".to_owned(), "d", typed("2020-01-31", "date")),
        ("s".to_owned(), "m", typed("P1M", "yearMonthDuration")),
        ("s".to_owned(), "yes", typed("1", "boolean")),
        ("s".to_owned(), "nan", typed("NaN", "double")),
        ("s".to_owned(), "n", typed("05", "integer")),
    ];
    let services = Endpoints::new(&[(ONE, rows)]);
    let service = format!("SERVICE <{ONE}> {{ ?s :d ?d ; :m ?m ; :yes ?yes ; :nan ?nan ; :n ?n }}");
    for filter in [
        "?m + ?d > '2020-02-01'^^xsd:date",
        "?d + ?m = '2020-02-29'^^xsd:date",
        "'2020-02-29'^^xsd:date IN (?m + ?d)",
        "?m * 2 = 'P2M'^^xsd:yearMonthDuration",
        "STR(?yes) = 'true'",
        "STRLEN(STR(?n)) = 1",
        "!(?nan < 1)",
        "!(?nan <= ?nan)",
        "?n < 5.5 && ?m + ?d > ?d",
    ] {
        let rows = found(&services, &format!("{service} FILTER({filter})"));
        assert_eq!(rows.len(), 1, "{filter}");
    }
}
