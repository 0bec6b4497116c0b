//! The search inside SPARQL.

use super::http::Site;
use super::support::{Home, limits, root, testdata};
use lodeseek_engine::Federation;
use lodeseek_sparql::{Answer, QueryRequest, Services, SparqlError};
use oxrdf::Term;
use std::fs;
use std::sync::{Arc, OnceLock};

struct Served {
    home: Home,
    services: Arc<dyn Services>,
    /// Evaluates queries in worker processes.
    #[cfg(all(target_os = "linux", feature = "rocksdb"))]
    isolated: Arc<lodeseek_sparql::QueryEngine>,
}

/// The test data, indexed once.
fn served() -> &'static Served {
    static SERVED: OnceLock<Served> = OnceLock::new();
    SERVED.get_or_init(|| {
        let home = Home::from_catalog(&testdata("catalog.ttl"));
        let services = Federation::new(&home.queries, limits())
            .with_search(Arc::new(home.searcher()))
            .with_addresses(vec!["http://127.0.0.1:7979/".to_owned()]);
        Served {
            #[cfg(all(target_os = "linux", feature = "rocksdb"))]
            isolated: home.isolated_queries(),
            home,
            services: Arc::new(services),
        }
    })
}

/// Evaluates a query in this process, and compares the answer with that of a worker process.
fn ask(query: &str) -> Result<Answer, SparqlError> {
    let Served { home, services, .. } = served();
    let request = QueryRequest {
        query: query.to_owned(),
        services: Some(Arc::clone(services)),
        ..QueryRequest::default()
    };
    let answer = home.queries.evaluate(&request, &limits());
    #[cfg(all(target_os = "linux", feature = "rocksdb"))]
    assert_eq!(
        shown(&served().isolated.evaluate(&request, &limits())),
        shown(&answer),
        "in a worker: {query}"
    );
    answer
}

/// Returns the lines of an answer in order, or the error: without labels of blank nodes, and with the words of each term in order, as
/// `GROUP_CONCAT` has none.
#[cfg(all(target_os = "linux", feature = "rocksdb"))]
fn shown(answer: &Result<Answer, SparqlError>) -> Vec<String> {
    let text = |term: &Term| {
        let shown = if term.is_blank_node() {
            "_:".to_owned()
        } else {
            term.to_string().replace('"', " ")
        };
        let mut words: Vec<&str> = shown.split(' ').collect();
        words.sort_unstable();
        words.join(" ")
    };
    let mut lines: Vec<String> = match answer {
        Ok(Answer::Boolean(value)) => vec![value.to_string()],
        Ok(Answer::Solutions { rows, .. }) => {
            let row = |row: &Vec<Option<Term>>| {
                format!(
                    "{:?}",
                    row.iter()
                        .map(|term| term.as_ref().map(text))
                        .collect::<Vec<_>>()
                )
            };
            rows.iter().map(row).collect()
        }
        Ok(Answer::Graph { triples, .. }) => triples
            .iter()
            .map(|triple| format!("{} {}", triple.predicate, text(&triple.object)))
            .collect(),
        Err(error) => vec![error.to_string()],
    };
    lines.sort();
    lines
}

fn texts(query: &str) -> Vec<Vec<String>> {
    let answer = ask(&format!(
        "PREFIX search: <https://w3id.org/lodeseek/search#> {query}"
    ));
    let Answer::Solutions { rows, .. } = answer.unwrap_or_else(|error| panic!("{query}: {error}"))
    else {
        panic!("no solutions: {query}")
    };
    let text = |term: Option<Term>| match term {
        Some(Term::Literal(literal)) => literal.value().to_owned(),
        Some(other) => other.to_string(),
        None => "-".to_owned(),
    };
    rows.into_iter()
        .map(|row| row.into_iter().map(text).collect())
        .collect()
}

#[test]
fn every_worked_query_answers() {
    let mut names = Vec::new();
    for entry in fs::read_dir(root().join("queries")).expect("queries") {
        let path = entry.expect("an entry").path();
        let name = path
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        if !name.starts_with("search-") {
            continue;
        }
        let query = fs::read_to_string(&path).expect("readable");
        let found = match ask(&query).unwrap_or_else(|error| panic!("{name}: {error}")) {
            Answer::Solutions { rows, .. } => rows.len(),
            Answer::Graph { triples, .. } => triples.len(),
            Answer::Boolean(_) => 0,
        };
        assert!(found > 0, "{name} has no answer over the test data");
        names.push(name);
    }
    assert_eq!(names.len(), 13, "{names:?}");
}

#[test]
fn years_exclude_datasets() {
    let count = |filter: &str| {
        let query = format!(
            "SELECT ?d {{ ?d search:text 'data city water street' ; search:limit 100 ; {filter} search:rank ?rank }}"
        );
        texts(&query).len()
    };
    let [all, since, before] = ["", "search:since 2018 ;", "search:before 2017 ;"].map(count);
    assert!(
        since > 0 && before > 0 && since < all && since + before >= all,
        "{all} {since} {before}"
    );
}

#[test]
fn what_is_found_is_what_the_search_finds() {
    let Served { home, .. } = served();
    for (_, text) in super::support::queries() {
        let expected: Vec<String> = home
            .found(&text)
            .into_iter()
            .take(10)
            .map(|id| home.iri(&id))
            .collect();
        let found = texts(&format!(
            "SELECT ?d ?rank {{ SERVICE <search> {{ ?d search:text {} ; search:rank ?rank }} }} ORDER BY ?rank",
            oxrdf::Literal::from(text.as_str())
        ));
        assert_eq!(
            found.iter().map(|row| row[0].clone()).collect::<Vec<_>>(),
            expected,
            "{text}"
        );
        assert!(
            found
                .iter()
                .enumerate()
                .all(|(place, row)| row[1] == (place + 1).to_string()),
            "{found:?}"
        );
    }
}

#[test]
fn a_pattern_may_hold_whatever_sparql_has() {
    let best = texts(
        "SELECT ?title { SERVICE search:service {
           ?d search:text 'nitrogen' ; search:rank ?rank ; search:title ?title .
           OPTIONAL { ?d search:match ?m } FILTER(?rank < 2) } }",
    );
    assert!(!best.is_empty());
    let one = texts(
        "SELECT ?rank { { SELECT ?d { ?d search:text 'nitrogen' } ORDER BY ?d LIMIT 1 } ?d search:text 'nitrogen' ; search:rank ?rank }",
    );
    assert_eq!(one.len(), 1, "{one:?}");
    let title = |subject: &str| {
        let pattern =
            format!("{subject} search:text 'nitrogen' ; <http://purl.org/dc/terms/title> ?t");
        let mut found = texts(&format!("SELECT ?t {{ {pattern} }}"));
        found.sort();
        found
    };
    assert_eq!(
        title("[]"),
        title("?d"),
        "a blank node is the same on both sides"
    );
    let mut within = texts(
        "SELECT ?t { GRAPH <http://localhost:7878/catalog> { ?d search:text 'nitrogen' ; <http://purl.org/dc/terms/title> ?t } }",
    );
    within.sort();
    assert_eq!(
        within,
        title("?d"),
        "what is found is in no graph, whichever is around"
    );
    let words = texts("SELECT ?w ?d { BIND(CONCAT('gink', 'go') AS ?w) ?d search:text ?w }");
    assert!(
        !words.is_empty() && words.iter().all(|row| row[0] == "ginkgo"),
        "{words:?}"
    );
}

#[test]
fn what_cannot_be_searched_for_is_an_error() {
    for (pattern, reason) in [
        ("?d search:rank ?rank", "needs words"),
        ("?d search:text ?words", "binds ?words"),
        ("?d search:text ''", "empty"),
        ("?d search:text 'a', 'b'", "more than one value"),
        ("?d search:text 'a' . ?e search:text 'b'", "two searches"),
        ("?d search:text 'a' ; search:limit 1000", "from 1 to 100"),
        ("?d search:text 'a' ; search:limit 'many'", "limit"),
        ("?d search:text 'a' ; search:model 'magic'", "model"),
        ("?d search:text <http://e.example/a>", "literal"),
        (
            "?d search:text 'a' ; search:snippetMethod 'query' ; search:limit 50",
            "10 with snippets",
        ),
        (
            "?d search:text 'a' ; search:snippetMethod 'guess'",
            "stored, query, none, illusnip",
        ),
    ] {
        let query =
            format!("PREFIX search: <https://w3id.org/lodeseek/search#> SELECT * {{ {pattern} }}");
        let error = ask(&query).expect_err(pattern);
        assert!(
            matches!(&error, SparqlError::Unsupported(text) if text.contains(reason)),
            "{pattern}: {error}"
        );
    }
}

#[tokio::test]
async fn other_engines_ask_it_by_http() {
    let site = Site::testdata();
    // What an engine sends for SERVICE <http://…/search> { … }.
    let sent = "SELECT ?d ?rank WHERE { ?d <https://w3id.org/lodeseek/search#text> \"nitrogen\" ; \
                <https://w3id.org/lodeseek/search#rank> ?rank }";
    for path in ["/search", "/sparql"] {
        let reply = site.post(path, "application/sparql-query", sent).await;
        assert_eq!(reply.status, 200, "{}", reply.body);
        assert!(
            !reply.json()["results"]["bindings"]
                .as_array()
                .expect("rows")
                .is_empty()
        );
    }
    let reply = site
        .post(
            "/sparql",
            "application/sparql-query",
            "SELECT * { SERVICE <http://localhost:7878/sparql> { ?d a <http://www.w3.org/ns/dcat#Dataset> } }",
        )
        .await;
    assert_eq!(reply.status, 200, "{}", reply.body);
    let reply = site
        .post(
            "/sparql",
            "application/sparql-query",
            "SELECT * { SERVICE <http://other.example/sparql> { ?d a ?c } }",
        )
        .await;
    assert_eq!(reply.status, 403, "{}", reply.body);
}

#[tokio::test]
async fn words_at_its_address_lead_to_the_results() {
    let site = Site::testdata();
    let reply = site.get("/search?q=nitrogen+Maryland&lang=de").await;
    assert_eq!(
        (reply.status.as_u16(), reply.header("location")),
        (303, "/?q=nitrogen+Maryland&lang=de")
    );
    let form = site.accept("/search", "text/html").await;
    assert_eq!(form.status, 200, "{}", form.body);
}

/// Comunica sends a `SERVICE` that names the address by which it came on to the endpoint there.
#[test]
fn it_is_meant_by_the_address_it_is_reached_at() {
    let asked = |service: &str| {
        let mut found = texts(&format!(
            "SELECT ?rank ?title {{ SERVICE <{service}> {{ ?d search:text \"nitrogen\" ; search:rank ?rank ; search:title ?title }} }}"
        ));
        found.sort();
        found
    };
    let expected = asked("https://w3id.org/lodeseek/search#service");
    assert!(!expected.is_empty());
    assert_eq!(asked("http://127.0.0.1:7979/search"), expected);
    let own = texts(
        "SELECT ?d { SERVICE <http://127.0.0.1:7979/sparql> { ?d a <http://www.w3.org/ns/dcat#Dataset> } }",
    );
    assert_eq!(own.len(), 12);
    for stranger in [
        "http://127.0.0.1:7979/searches",
        "http://127.0.0.1:7980/search",
    ] {
        let refused = ask(&format!(
            "SELECT * {{ SERVICE <{stranger}> {{ ?s ?p ?o }} }}"
        ));
        assert!(
            matches!(refused, Err(SparqlError::Refused(_))),
            "{stranger}: {refused:?}"
        );
    }
}
