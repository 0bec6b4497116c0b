//! Surveys of real endpoints on loopback: our own server, whole, failing in parts, and refusing to count.

use super::support::{Home, limits, testdata};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{Request, StatusCode, header};
use axum::response::{IntoResponse, Response};
use lodeseek_catalog::{Catalog, Dataset, DatasetId, Extent};
use lodeseek_harvest::endpoint_sampler::{
    Budget, EndpointSampler, GraphOutcome, GraphReport, GraphSelection, SampledGraph, SamplerError,
    SamplerOptions, SamplerReport,
};
use lodeseek_net::egress::{Egress, EgressPolicy};
use lodeseek_net::sparql_client::{ClientOptions, SparqlClient};
use lodeseek_rdf::vocab::{lodeseek as own, rdf};
use lodeseek_rdf::{TermRef, TripleGraph};
use lodeseek_store::{DatasetOutcome, DatasetReport, Loader, Store};
use oxrdf::NamedNode;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tower::ServiceExt;

/// Queries that an endpoint fails at, matched by their text.
type Refusal = Box<dyn Fn(&str) -> bool + Send + Sync>;

#[derive(Clone)]
struct Front {
    app: Router,
    refused: Arc<Mutex<Refusal>>,
    queries: Arc<Mutex<Vec<String>>>,
}

/// Our own server on a socket, behind a front that may refuse.
struct Endpoint {
    iri: NamedNode,
    front: Front,
    source: TempDir,
    _runtime: Runtime,
}

async fn answer(State(front): State<Front>, body: Bytes) -> Response {
    let query = form_urlencoded::parse(&body)
        .find(|(name, _)| name == "query")
        .map(|(_, query)| query.into_owned());
    let query = query.unwrap_or_default();
    front.queries.lock().expect("unharmed").push(query.clone());
    if (front.refused.lock().expect("unharmed"))(&query) {
        return (StatusCode::INTERNAL_SERVER_ERROR, "that is too much for me").into_response();
    }
    let request =
        Request::post("/sparql").header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
    let request = request
        .header(header::ACCEPT, "application/sparql-results+json")
        .body(Body::from(body));
    front
        .app
        .oneshot(request.expect("a request"))
        .await
        .expect("an answer")
}

impl Endpoint {
    fn from_catalog(catalog: &Path) -> Self {
        let (app, source) = Home::from_catalog(catalog).serve(limits());
        let runtime = Runtime::new().expect("a runtime");
        let listener = runtime
            .block_on(TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))))
            .expect("a port");
        let iri = format!(
            "http://{}/sparql",
            listener.local_addr().expect("an address")
        );
        let front = Front {
            app,
            refused: Arc::new(Mutex::new(Box::new(|_| false))),
            queries: Arc::default(),
        };
        let served = Router::new()
            .route("/sparql", axum::routing::post(answer))
            .with_state(front.clone());
        runtime.spawn(async move { axum::serve(listener, served).await });
        Self {
            iri: NamedNode::new(iri).expect("an IRI"),
            front,
            source,
            _runtime: runtime,
        }
    }

    fn refuse(&self, refused: impl Fn(&str) -> bool + Send + Sync + 'static) {
        *self.front.refused.lock().expect("unharmed") = Box::new(refused);
    }

    /// Returns the number of queries since the last call.
    fn asked(&self) -> u64 {
        std::mem::take(&mut *self.front.queries.lock().expect("unharmed")).len() as u64
    }

    fn graph_of(&self, id: &str) -> NamedNode {
        let graphs = fs::read_dir(self.source.path().join("graphs")).expect("graphs");
        assert!(graphs.count() > 0);
        self.graphs()[id].clone()
    }

    /// The graph of every dataset, by the service description's own means.
    fn graphs(&self) -> BTreeMap<String, NamedNode> {
        let query = format!("SELECT ?d ?g {{ ?d <{}> ?g }}", own::GRAPH);
        let rows = client(&self.iri)
            .select(self.iri.as_ref(), &query, &Default::default())
            .expect("graphs");
        let pair = |row: Result<sparesults::QuerySolution, _>| {
            let row = row.expect("a row");
            let text = |name| {
                row.get(name)
                    .expect("bound")
                    .to_string()
                    .trim_matches(['<', '>'])
                    .to_owned()
            };
            let id = text("d").rsplit('/').next().expect("an id").to_owned();
            (id, NamedNode::new(text("g")).expect("an IRI"))
        };
        rows.map(pair).collect()
    }
}

fn client(endpoint: &NamedNode) -> SparqlClient {
    let policy = EgressPolicy {
        listed: vec![endpoint.as_str().parse().expect("a prefix")],
        private_networks: vec!["127.0.0.0/8".parse().expect("a network")],
        ..EgressPolicy::default()
    };
    let options = ClientOptions {
        back_off: vec![Duration::from_millis(10)],
        ..ClientOptions::default()
    };
    SparqlClient::new(Arc::new(Egress::new(policy)), options)
}

/// A survey in a home: its report, its datasets, and what became of them in the store.
struct Run {
    report: SamplerReport,
    surveyed: BTreeMap<String, (Dataset, usize)>,
    loaded: Vec<DatasetReport>,
}

fn survey(
    home: &Home,
    endpoint: &Endpoint,
    graphs: &GraphSelection,
    options: SamplerOptions,
) -> Result<Run, SamplerError> {
    let (client, folder) = (client(&endpoint.iri), home.path().join("remote"));
    let surveyor = EndpointSampler::new(&client, &endpoint.iri, &folder).with_options(options);
    let (mut surveyed, mut loads) = (BTreeMap::new(), Vec::new());
    let mut take = |found: SampledGraph| {
        let id = found.dataset.metadata.id.to_string();
        surveyed.insert(id, (found.dataset.clone(), found.graph.len()));
        loads.push((found.dataset, found.graph));
        Ok::<(), SamplerError>(())
    };
    let report = surveyor.run(graphs, &mut take, &|_| ())?;
    let loaded = Loader::new(&home.store)
        .load_graphs(loads, &|_| ())
        .expect("stored")
        .datasets;
    Ok(Run {
        report,
        surveyed,
        loaded,
    })
}

fn sampled(size: usize) -> SamplerOptions {
    SamplerOptions {
        sample_triples: size,
        ..SamplerOptions::default()
    }
}

fn one(run: &Run) -> &GraphReport {
    assert_eq!(run.report.graphs.len(), 1);
    &run.report.graphs[0]
}

/// Triples as lines; blank nodes are all alike.
fn lines(graph: &TripleGraph) -> BTreeSet<String> {
    let term = |id| match graph.term(id) {
        TermRef::Blank(_) => "_:".to_owned(),
        _ => graph.to_term(id).to_string(),
    };
    graph
        .triples()
        .iter()
        .map(|t| {
            format!(
                "{} {} {}",
                term(t.subject),
                term(t.predicate),
                term(t.object)
            )
        })
        .collect()
}

fn content(store: &Store, id: &str) -> TripleGraph {
    let entry = store
        .entry(&DatasetId::new(id).expect("an id"))
        .expect("there");
    store.content(&entry).expect("content")
}

/// Content of the dumps of the test data.
fn original(id: &str) -> TripleGraph {
    static HOME: std::sync::OnceLock<Home> = std::sync::OnceLock::new();
    let home = HOME.get_or_init(|| {
        let home = Home::new();
        home.load(&testdata("catalog.ttl"));
        home
    });
    content(&home.store, id)
}

/// (class, entities) of a graph, the most frequent first.
fn classes(graph: &TripleGraph) -> Vec<(String, u64)> {
    counts(graph, |predicate, object| {
        (predicate == rdf::TYPE).then_some(object)
    })
}

fn properties(graph: &TripleGraph) -> Vec<(String, u64)> {
    counts(graph, |predicate, _| Some(predicate))
}

fn counts<'g>(
    graph: &'g TripleGraph,
    key: impl Fn(&'g str, &'g str) -> Option<&'g str>,
) -> Vec<(String, u64)> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for triple in graph.triples() {
        if let Some(key) = key(
            graph.term(triple.predicate).text(),
            graph.term(triple.object).text(),
        ) {
            *counts.entry(key.to_owned()).or_default() += 1;
        }
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    counts
}

/// A catalogue of one dataset of many classes: trees with names, places, owners, and one property on a single entity.
fn forest(trees: usize) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let mut dump = String::from(
        "@prefix : <http://e.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n",
    );
    for tree in 0..trees {
        let _ = writeln!(
            dump,
            ":tree{tree} a :Tree ; rdfs:label \"Tree {tree}\"@en ; :girth {tree} ; :owner :owner{} ; :at [ :x {tree} ] .",
            tree % 7
        );
    }
    for owner in 0..7 {
        let _ = writeln!(
            dump,
            ":owner{owner} a :Owner ; rdfs:label \"Owner {owner}\" ."
        );
    }
    let _ = writeln!(
        dump,
        ":tree{} :struckBy \"\"\"a bolt of \\\"lightning\\\"\nand thunder\"\"\" .",
        trees - 1
    );
    fs::write(folder.path().join("forest.ttl"), dump).expect("written");
    let catalog = r#"[{"dataset_id": "forest", "title": "Forest", "download": ["forest.ttl"]}]"#;
    fs::write(folder.path().join("datasets.json"), catalog).expect("written");
    folder
}

fn forest_endpoint(trees: usize) -> (Endpoint, GraphSelection) {
    let endpoint = Endpoint::from_catalog(&forest(trees).path().join("datasets.json"));
    let graphs = GraphSelection::Named(vec![endpoint.graph_of("forest")]);
    endpoint.asked();
    (endpoint, graphs)
}

#[test]
fn an_endpoint_becomes_datasets_that_are_found() {
    let endpoint = Endpoint::from_catalog(&testdata("catalog.ttl"));
    let home = Home::new();
    let run = survey(
        &home,
        &endpoint,
        &GraphSelection::All,
        SamplerOptions::default(),
    )
    .expect("surveyed");
    assert!(
        run.report
            .graphs
            .iter()
            .all(|graph| graph.outcome == GraphOutcome::Sampled),
        "{:#?}",
        run.report
    );
    assert_eq!(run.report.spent.requests, endpoint.asked());
    home.index();
    let catalog = Catalog::read(&testdata("catalog.ttl")).expect("a catalogue");
    let mut contents = 0;
    for dataset in &catalog.datasets {
        let (id, original) = (
            dataset.metadata.id.as_str(),
            original(dataset.metadata.id.as_str()),
        );
        if original.is_empty() {
            continue;
        }
        contents += 1;
        let (surveyed, held) = &run.surveyed[id];
        let remote = surveyed.remote.as_ref().expect("remote");
        assert_eq!(
            (surveyed.metadata.title(), &surveyed.metadata.descriptions),
            (dataset.metadata.title(), &dataset.metadata.descriptions)
        );
        assert_eq!(
            (remote.extent, remote.triples),
            (Extent::Whole, Some(*held as u64)),
            "{id}"
        );
        assert_eq!(
            home.store
                .entry(&dataset.metadata.id)
                .expect("there")
                .dataset
                .remote
                .as_ref(),
            Some(remote)
        );
        let card = home
            .searcher()
            .catalog()
            .card(&dataset.metadata.id)
            .expect("a card")
            .expect("indexed");
        assert!(card.remote.is_some() && !card.snippet.is_empty(), "{id}");
    }
    assert!(contents >= 10, "{contents} datasets with content");
    for (query, id) in [
        ("tree register", "street-trees"),
        ("museum objects", "museum-objects"),
    ] {
        assert_eq!(home.found(query).first().map(String::as_str), Some(id));
    }
}

#[test]
fn a_sample_is_part_of_the_whole_and_the_counts_are_those_of_the_whole() {
    let (endpoint, graphs) = forest_endpoint(500);
    let home = Home::new();
    let run = survey(&home, &endpoint, &graphs, sampled(200)).expect("surveyed");
    assert_eq!(one(&run).left_out, Vec::<String>::new());
    let (dataset, held) = &run.surveyed["forest"];
    let remote = dataset.remote.as_ref().expect("remote");
    assert!((90..=200).contains(held), "{held}");
    let source = Home::new();
    source.load(&forest(500).path().join("datasets.json"));
    let (whole, sample) = (
        content(&source.store, "forest"),
        content(&home.store, "forest"),
    );
    assert!(lines(&sample).is_subset(&lines(&whole)));
    assert_eq!(
        (remote.extent, remote.triples),
        (Extent::Sample, Some(whole.len() as u64))
    );
    assert_eq!(
        (&remote.classes, &remote.properties),
        (&classes(&whole), &properties(&whole))
    );
    // Every class and every property is shown, the one that a single tree has too, and its text is whole.
    let names = |counts: Vec<(String, u64)>| {
        counts
            .into_iter()
            .map(|(name, _)| name)
            .collect::<BTreeSet<_>>()
    };
    assert_eq!(names(classes(&sample)), names(classes(&whole)));
    assert_eq!(names(properties(&sample)), names(properties(&whole)));
    assert!(
        lines(&sample)
            .iter()
            .any(|line| line.ends_with(r#""a bolt of \"lightning\"\nand thunder""#))
    );
    // The store records that it holds a sample, and the location of the whole.
    let ask = |query: &str| home.count(&format!("SELECT (COUNT(*) AS ?n) {{ {query} }}"));
    assert_eq!(
        ask(&format!(
            "?d a <{}> ; <{}> ?w . ?w <http://rdfs.org/ns/void#triples> {} ; <http://rdfs.org/ns/void#sparqlEndpoint> {}",
            own::SAMPLED_CONTENT,
            own::SAMPLE_OF,
            whole.len(),
            endpoint.iri
        )),
        1
    );
    assert_eq!(
        ask(&format!("GRAPH {} {{ ?s ?p ?o }}", home.iri("forest"))),
        sample.len() as u64
    );
    let sources = home
        .queries
        .sources("SELECT * { ?s <http://e.org/girth> ?o }", &limits())
        .expect("sources");
    let endpoints: Vec<&BTreeSet<String>> = sources.endpoints.values().collect();
    assert_eq!(
        endpoints,
        [&BTreeSet::from([endpoint.iri.as_str().to_owned()])]
    );
    let card = {
        home.index();
        home.searcher()
            .catalog()
            .card(&dataset.metadata.id)
            .expect("a card")
            .expect("indexed")
    };
    let relation = card.remote.expect("remote").coverage(card.profile.triples);
    assert!(
        relation.starts_with(&format!(
            "sample of {held} of {} triples at {}",
            whole.len(),
            endpoint.iri.as_str()
        )),
        "{relation}"
    );
}

#[test]
fn what_was_answered_is_not_asked_again() {
    let (endpoint, graphs) = forest_endpoint(300);
    let straight = survey(&Home::new(), &endpoint, &graphs, sampled(150)).expect("surveyed");
    let all = endpoint.asked();
    assert!(all > 6, "{all}");
    let home = Home::new();
    let budget = |requests| SamplerOptions {
        budget: Budget {
            requests,
            ..Budget::default()
        },
        ..sampled(150)
    };
    let first = survey(&home, &endpoint, &graphs, budget(all - 2)).expect("begun");
    assert_eq!(
        (one(&first).outcome, endpoint.asked()),
        (GraphOutcome::Unfinished, all - 2)
    );
    assert!(
        one(&first).left_out[0].contains("budget"),
        "{:?}",
        one(&first)
    );
    assert!(first.loaded.is_empty() && first.surveyed.is_empty());
    let second = survey(&home, &endpoint, &graphs, budget(all - 2)).expect("gone on");
    let again = endpoint.asked();
    assert_eq!(
        one(&second).outcome,
        GraphOutcome::Sampled,
        "{:?}",
        one(&second)
    );
    assert!(again < all / 2 + 1, "{again} of {all}");
    assert_eq!(second.surveyed["forest"], straight.surveyed["forest"]);
    // Once more: what may have changed is requested, nothing is written.
    let third = survey(&home, &endpoint, &graphs, sampled(150)).expect("again");
    assert_eq!(
        (third.loaded[0].outcome, endpoint.asked()),
        (DatasetOutcome::Unchanged, again - 2)
    );
    // A damaged page is requested again.
    let pages: Vec<_> = walk(&home.path().join("remote"));
    let page = pages
        .iter()
        .find(|page| fs::read_to_string(page).is_ok_and(|text| text.contains("Owner 3")))
        .expect("a page");
    fs::write(page, "00\n{}").expect("written");
    let fourth = survey(&home, &endpoint, &graphs, sampled(150)).expect("again");
    assert_eq!(
        (fourth.loaded[0].outcome, endpoint.asked()),
        (DatasetOutcome::Unchanged, again - 1)
    );
}

fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path());
    entries
        .flat_map(|path| {
            if path.is_dir() {
                walk(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}

#[test]
fn one_bad_graph_stops_no_other() {
    let endpoint = Endpoint::from_catalog(&testdata("catalog.ttl"));
    let bad = endpoint.graph_of("museum-objects");
    let from = format!("FROM {bad}");
    endpoint.refuse(move |query| query.contains(&from));
    let home = Home::new();
    let run = survey(
        &home,
        &endpoint,
        &GraphSelection::All,
        SamplerOptions::default(),
    )
    .expect("surveyed");
    let failed: Vec<_> = run
        .report
        .graphs
        .iter()
        .filter(|graph| graph.outcome == GraphOutcome::Failed)
        .collect();
    assert_eq!(
        failed
            .iter()
            .map(|graph| graph.graph.as_deref())
            .collect::<Vec<_>>(),
        [Some(bad.as_str())]
    );
    assert!(
        failed[0]
            .left_out
            .iter()
            .any(|line| line.contains("too much for me")),
        "{:?}",
        failed[0].left_out
    );
    assert!(run.report.graphs.len() >= 12 && run.surveyed.len() == run.report.graphs.len() - 1);
    // What was there before stays.
    endpoint.refuse(|_| false);
    let good = survey(
        &home,
        &endpoint,
        &GraphSelection::Named(vec![bad.clone()]),
        SamplerOptions::default(),
    )
    .expect("surveyed");
    assert_eq!(good.loaded[0].outcome, DatasetOutcome::Loaded);
    endpoint.refuse(|_| true);
    survey(
        &home,
        &endpoint,
        &GraphSelection::Named(vec![bad]),
        SamplerOptions {
            cache_policy: lodeseek_harvest::endpoint_sampler::CachePolicy::Discard,
            ..SamplerOptions::default()
        },
    )
    .expect("failed");
    assert_eq!(
        lines(&content(&home.store, "museum-objects")),
        lines(&original("museum-objects"))
    );
}

#[test]
fn an_endpoint_that_does_not_count_is_sampled_and_says_so() {
    let (endpoint, graphs) = forest_endpoint(300);
    endpoint.refuse(|query| query.contains("COUNT"));
    let home = Home::new();
    let run = survey(&home, &endpoint, &graphs, sampled(150)).expect("surveyed");
    let (dataset, held) = &run.surveyed["forest"];
    let remote = dataset.remote.as_ref().expect("remote");
    assert_eq!((remote.extent, remote.triples), (Extent::Sample, None));
    assert!(
        remote.classes.is_empty() && remote.properties.is_empty(),
        "{remote:?}"
    );
    assert_eq!(
        one(&run)
            .left_out
            .iter()
            .filter(|line| line.starts_with("count"))
            .count(),
        3,
        "{:?}",
        one(&run)
    );
    assert!(
        remote
            .coverage(*held as u64)
            .contains("total number unknown")
    );
    let sample = content(&home.store, "forest");
    assert_eq!(classes(&sample).len(), 2, "{:?}", classes(&sample));
}

#[test]
fn an_endpoint_that_does_not_sort_is_asked_without_order() {
    let (endpoint, graphs) = forest_endpoint(300);
    endpoint.refuse(|query| {
        query.contains("ORDER BY") && query.contains("LIMIT") && !query.contains("GROUP BY")
    });
    let run = survey(&Home::new(), &endpoint, &graphs, sampled(150)).expect("surveyed");
    assert!(run.surveyed["forest"].1 > 75);
    assert!(
        one(&run).left_out.iter().any(|line| line.contains("order")),
        "{:?}",
        one(&run)
    );
}

#[test]
fn a_graph_that_has_changed_is_asked_anew() {
    let home = Home::new();
    let folder = forest(100);
    let catalog = folder.path().join("datasets.json");
    let small = Endpoint::from_catalog(&catalog);
    let graphs = GraphSelection::Default;
    survey(&home, &small, &graphs, sampled(50)).expect("surveyed");
    let before = survey(&home, &small, &graphs, sampled(50)).expect("surveyed");
    assert!(
        !one(&before).changed && one(&before).kept_answers > 3,
        "{:?}",
        one(&before)
    );
    // The same address with one triple more.
    let state = walk(&home.path().join("remote"))
        .into_iter()
        .find(|path| path.ends_with("state.json"))
        .expect("a state");
    let text = fs::read_to_string(&state).expect("readable");
    let body = text.lines().nth(1).expect("a body");
    let count = one(&before).triples.expect("counted");
    let body = body.replace(
        &format!("\"triples\":{count}"),
        &format!("\"triples\":{}", count - 1),
    );
    let checksum: String = {
        use sha2::{Digest, Sha256};
        Sha256::digest(&body)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    };
    fs::write(&state, format!("{checksum}\n{body}")).expect("written");
    let after = survey(&home, &small, &graphs, sampled(50)).expect("surveyed");
    assert!(
        one(&after).changed && one(&after).kept_answers == 0,
        "{:?}",
        one(&after)
    );
}

/// The program itself: a run within a small budget, the next one, and what is shown of the dataset.
#[cfg(feature = "rocksdb")]
#[test]
fn the_program_goes_on_and_says_what_it_holds() {
    use super::support::run;
    let (endpoint, _) = forest_endpoint(300);
    let graph = endpoint.graph_of("forest").into_string();
    let folder = tempfile::tempdir().expect("a folder");
    let load = |more: &[&str]| {
        let arguments = [
            "load",
            "--endpoint",
            endpoint.iri.as_str(),
            "--graphs",
            &graph,
            "--sample-triples",
            "150",
        ];
        let politeness = ["--allow-private-network", "127.0.0.0/8", "--pause", "1"];
        run(folder.path(), &[&arguments[..], &politeness, more].concat())
    };
    let refused = run(
        folder.path(),
        &["load", "--endpoint", endpoint.iri.as_str()],
    );
    assert_eq!(refused.code, Some(2), "loopback is not public: {refused:?}");
    let first = load(&["--budget", "5"]);
    assert_eq!(first.code, Some(1), "{first:?}");
    for part in [
        "0 sampled",
        "1 unfinished",
        "5 requests",
        "the budget of 5 requests is exhausted",
        "run the same command again to continue",
    ] {
        assert!(first.err.contains(part), "{part:?} in {}", first.err);
    }
    let report = folder.path().join("report.json");
    let second = load(&["--report", report.to_str().expect("a path")]);
    assert_eq!(
        (second.code, second.out.as_str()),
        (Some(0), ""),
        "{second:?}"
    );
    let report: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(report).expect("a report")).expect("JSON");
    assert_eq!(report["graphs"][0]["outcome"], "surveyed");
    assert!(
        report["graphs"][0]["kept_answers"].as_u64() > Some(0),
        "{report}"
    );
    let held = report["graphs"][0]["sampled"].as_u64().expect("a number");
    assert_eq!(run(folder.path(), &["index"]).code, Some(0));
    let shown = run(folder.path(), &["show", "forest"]).out;
    let all = &report["graphs"][0]["triples"];
    assert!(
        shown.contains(&format!(
            "sample of {held} of {all} triples at {}",
            endpoint.iri.as_str()
        )),
        "{shown}"
    );
    let found = run(folder.path(), &["search", "forest", "--json"]).out;
    let found: serde_json::Value = serde_json::from_str(&found).expect("JSON");
    assert_eq!(&found["hits"][0]["remote"]["triples"], all, "{found}");
    assert_eq!(found["hits"][0]["remote"]["extent"], "sample");
}

/// The identifier that an endpoint gives a graph is here that of a dataset from a file. Each run gives the graph the same other id.
#[cfg(feature = "rocksdb")]
#[test]
fn an_endpoint_replaces_no_dataset_from_elsewhere() {
    use super::support::run;
    use lodeseek_store::Access;
    let (endpoint, _) = forest_endpoint(50);
    let graph = endpoint.graph_of("forest").into_string();
    let (folder, own) = (tempfile::tempdir().expect("a folder"), forest(5));
    let [catalog, report] = ["datasets.json", "report.json"]
        .map(|name| own.path().join(name).to_str().expect("a path").to_owned());
    let loaded = run(folder.path(), &["load", &catalog]);
    assert_eq!(loaded.code, Some(0), "{loaded:?}");
    let sampled_id = || {
        let arguments = [
            "load",
            "--endpoint",
            endpoint.iri.as_str(),
            "--graphs",
            &graph,
            "--report",
            &report,
        ];
        let politeness = ["--allow-private-network", "127.0.0.0/8", "--pause", "1"];
        let ran = run(folder.path(), &[&arguments[..], &politeness].concat());
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let report: serde_json::Value =
            serde_json::from_str(&fs::read_to_string(&report).expect("a report")).expect("JSON");
        report["graphs"][0]["dataset"]
            .as_str()
            .expect("an id")
            .to_owned()
    };
    let id = sampled_id();
    assert_ne!(id, "forest");
    assert_eq!(sampled_id(), id, "the id is stable");
    let store = Store::open(folder.path(), Access::Read, None).expect("a home");
    let remote = |id: &str| {
        store
            .entry(&DatasetId::new(id).expect("an id"))
            .expect("there")
            .dataset
            .remote
    };
    assert!(remote("forest").is_none() && remote(&id).is_some());
    assert_eq!(store.ids().expect("ids").len(), 2);
}

#[test]
fn an_endpoint_that_may_not_be_asked_is_an_error() {
    let (endpoint, graphs) = forest_endpoint(10);
    let closed = SparqlClient::new(
        Arc::new(Egress::new(EgressPolicy::default())),
        ClientOptions::default(),
    );
    let folder = tempfile::tempdir().expect("a folder");
    let surveyor = EndpointSampler::new(&closed, &endpoint.iri, folder.path());
    let refused = surveyor.run(&graphs, &mut |_| Ok::<(), SamplerError>(()), &|_| ());
    assert!(
        matches!(refused, Err(SamplerError::Remote(_))),
        "{refused:?}"
    );
    assert_eq!(endpoint.asked(), 0);
}

#[test]
fn an_endpoint_that_is_gone_is_left_alone() {
    let (endpoint, _) = forest_endpoint(10);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let gone = format!(
        "http://{}/sparql",
        listener.local_addr().expect("an address")
    );
    drop(listener);
    let gone = NamedNode::new(gone).expect("an IRI");
    let names: Vec<NamedNode> = (0..20)
        .map(|n| NamedNode::new_unchecked(format!("http://e.org/g{n}")))
        .collect();
    let folder = tempfile::tempdir().expect("a folder");
    let client = client(&gone);
    let surveyor = EndpointSampler::new(&client, &gone, folder.path());
    let report = surveyor
        .run(
            &GraphSelection::Named(names),
            &mut |_| Ok::<(), SamplerError>(()),
            &|_| (),
        )
        .expect("a report");
    assert_eq!(report.count(GraphOutcome::Unfinished), 20);
    assert!(report.spent.requests <= 4, "{:?}", report.spent);
    drop(endpoint);
}
