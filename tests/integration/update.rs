//! Datasets that change while others are searched: nobody sees half of a change.

use super::support::{Home, limits};
use lodeseek_catalog::{Catalog, DatasetId};
use lodeseek_engine::{IndexOptions, SearchRequest, Updater};
use lodeseek_sparql::{Answer, QueryRequest};
use lodeseek_store::{DatasetOutcome, LoadOptions, Stamp};
use oxsdatatypes::DateTime;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// Datasets of the collection, and the words that all of them have.
const DATASETS: usize = 40;

/// A catalogue of datasets, each of a version: title and content tell it.
fn write(
    folder: &Path,
    version: impl Fn(usize) -> usize,
    those: impl Iterator<Item = usize>,
) -> Catalog {
    let mut list = Vec::new();
    for number in those {
        let version = version(number);
        let file = format!("d{number}.nt");
        let about = format!(
            "<http://e.org/{number}> <http://e.org/is> \"content version{version} of many\" .\n"
        );
        fs::write(folder.join(&file), about).expect("written");
        list.push(serde_json::json!({
            "dataset_id": format!("d{number}"), "title": format!("Dataset version{version}"), "download": [file],
        }));
    }
    let path = folder.join("datasets.json");
    fs::write(&path, serde_json::Value::from(list).to_string()).expect("written");
    Catalog::read(&path).expect("a catalogue")
}

fn updater(home: &Home) -> Updater<'_> {
    let now = "2026-01-02T03:04:05Z".parse::<DateTime>().expect("a time");
    let load = LoadOptions {
        stamp: Stamp {
            now: Some(now),
            origin: None,
        },
        ..LoadOptions::default()
    };
    Updater::new(&home.store, load, IndexOptions::default())
}

fn id(number: usize) -> DatasetId {
    DatasetId::new(format!("d{number}")).expect("an id")
}

#[test]
fn only_what_changed_is_indexed_and_it_is_found_at_once() {
    let (home, folder) = (Home::new(), tempfile::tempdir().expect("a folder"));
    let first = updater(&home)
        .run(write(folder.path(), |_| 1, 0..DATASETS), &[])
        .expect("updated");
    assert_eq!(
        (first.load.datasets.len(), first.index.indexed),
        (DATASETS, DATASETS)
    );
    let searcher = home.searcher(); // opened once, as a server does
    assert_eq!(
        searcher.rank("version1", 100).expect("ranked").len(),
        DATASETS
    );

    let again = updater(&home)
        .run(write(folder.path(), |_| 1, 0..DATASETS), &[])
        .expect("updated");
    assert_eq!((again.index.indexed, again.load.cleared_graphs), (0, 0));

    let third = write(
        folder.path(),
        |number| if number == 7 { 2 } else { 1 },
        0..DATASETS,
    );
    let report = updater(&home).run(third, &[]).expect("updated");
    assert_eq!(report.index.indexed, 1);
    let outcome = |number: usize| report.load.datasets[number].outcome;
    assert_eq!(
        (outcome(7), outcome(8)),
        (DatasetOutcome::Replaced, DatasetOutcome::Unchanged)
    );
    searcher.refresh().expect("refreshed");
    let found = searcher.rank("version2", 10).expect("ranked");
    assert_eq!(
        found
            .iter()
            .map(|scored| scored.id.as_str())
            .collect::<Vec<_>>(),
        ["d7"]
    );
    assert_eq!(
        searcher.rank("version1", 100).expect("ranked").len(),
        DATASETS - 1
    );
    assert_eq!(
        updater(&home).clear_replaced().expect("cleared"),
        1,
        "the replaced version, once nobody reads it"
    );
    assert!(searcher.matched_fields("content", &[id(7)]).is_ok());

    // The same as if everything were indexed anew.
    let scores = |query: &str| {
        let ranking = home.searcher().rank(query, 100).expect("ranked");
        ranking
            .iter()
            .map(|scored| (scored.id.to_string(), scored.score))
            .collect::<Vec<_>>()
    };
    let before = [scores("content version2"), scores("dataset many")];
    home.index_with(IndexOptions {
        rebuild: true,
        ..IndexOptions::default()
    });
    assert_eq!([scores("content version2"), scores("dataset many")], before);
}

/// An interrupted rebuild can leave an indexed dataset without profile and snippet: the next run makes them again.
#[test]
fn missing_derived_data_is_made_again() {
    let (home, folder) = (Home::new(), tempfile::tempdir().expect("a folder"));
    updater(&home)
        .run(write(folder.path(), |_| 1, 0..3), &[])
        .expect("updated");
    let graphs = [home.store.iris().profiles(), home.store.iris().snippets()];
    let derived = || {
        graphs.clone().map(|graph| {
            home.store
                .derived_triples(&graph, &id(1))
                .expect("read")
                .len()
        })
    };
    let before = derived();
    assert!(before.iter().all(|&count| count > 0), "{before:?}");
    assert_eq!(home.index_with(IndexOptions::default()).indexed, 0);

    home.store
        .replace_derived_triples(
            graphs
                .clone()
                .map(|graph| (graph, vec![(id(1), Vec::new())])),
        )
        .expect("removed");
    assert_eq!(derived(), [0, 0]);
    let report = home.index_with(IndexOptions::default());
    assert_eq!((report.indexed, report.unchanged), (1, 2));
    assert_eq!(derived(), before);
}

/// Everything from which an index entry is made counts as a change, not only title and content.
#[test]
fn a_changed_description_is_indexed_at_the_next_start() {
    let home = Home::new();
    let folder = tempfile::tempdir().expect("a folder");
    let load = |statements: &str| {
        let path = folder.path().join("catalog.ttl");
        let turtle = format!(
            "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .\n\
             <http://e.org/sheep> a dcat:Dataset ; dct:identifier \"sheep\" ; dct:title \"Sheep\" ; {statements} .\n"
        );
        fs::write(&path, turtle).expect("written");
        home.load(&path);
    };
    let file = |name: &str| format!("dcat:distribution [ dcat:downloadURL <http://e.org/{name}> ]");
    load(&file("one.csv"));
    home.index();
    let period = |year: u32| {
        format!(
            "{} ; dct:temporal [ dcat:startDate \"{year}-01-01\" ; dcat:endDate \"2020-12-31\" ]",
            file("two.csv")
        )
    };
    let themed = format!(
        "{} ; dcat:theme <http://publications.europa.eu/resource/authority/data-theme/AGRI>",
        period(2002)
    );
    for statements in [file("two.csv"), period(2001), period(2002), themed] {
        let catch_up = || updater(&home).catch_up(&home.searcher()).expect("indexed");
        assert_eq!(catch_up(), 0, "before {statements}");
        load(&statements);
        assert_eq!(catch_up(), 1, "{statements}");
    }
}

#[test]
fn records_tell_when_a_listing_changed() {
    let (home, folder) = (Home::new(), tempfile::tempdir().expect("a folder"));
    updater(&home)
        .run(write(folder.path(), |_| 1, 0..3), &[])
        .expect("updated");
    let records = home.store.records().expect("records");
    assert_eq!(records.len(), 3);
    let record = home.store.record_of(&id(1)).expect("a record");
    assert_eq!(
        record.len(),
        5,
        "class, topic, two times, and that the catalogue has it: {record:?}"
    );
    let later = "2026-05-06T07:08:09Z".parse::<DateTime>().expect("a time");
    let load = LoadOptions {
        stamp: Stamp {
            now: Some(later),
            origin: None,
        },
        ..LoadOptions::default()
    };
    let changed = write(
        folder.path(),
        |number| if number == 1 { 2 } else { 1 },
        0..3,
    );
    Updater::new(&home.store, load, IndexOptions::default())
        .run(changed, &[])
        .expect("updated");
    let times: Vec<String> = home
        .store
        .records()
        .expect("records")
        .into_values()
        .collect();
    assert_eq!(
        times,
        [
            "2026-01-02T03:04:05Z",
            "2026-05-06T07:08:09Z",
            "2026-01-02T03:04:05Z"
        ]
    );
    let listed = home
        .store
        .record_of(&id(1))
        .expect("a record")
        .iter()
        .any(|triple| {
            triple.predicate.as_str().ends_with("issued")
                && triple.object.to_string().contains("2026-01-02")
        });
    assert!(listed, "since when it is listed stays");
}

/// Searches and queries go on while one dataset changes thirty times. Each hit is of one version: title, snippet, and the
/// content that is read for it; each answer of SPARQL as well.
#[test]
fn nobody_sees_half_of_a_change() {
    let (home, folder) = (Home::new(), tempfile::tempdir().expect("a folder"));
    updater(&home)
        .run(write(folder.path(), |_| 0, 0..DATASETS), &[])
        .expect("updated");
    let (searcher, done, looked) = (home.searcher(), AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let request = SearchRequest {
                    explain: true,
                    depth: DATASETS,
                    ..SearchRequest::new("dataset content many")
                };
                let response = searcher.search(&request).expect("an answer");
                assert_eq!(response.hits.len(), DATASETS);
                for hit in &response.hits {
                    let version = hit
                        .card
                        .metadata
                        .title()
                        .rsplit(' ')
                        .next()
                        .expect("a version")
                        .to_owned();
                    let snippet = format!("{:?}", hit.snippet);
                    assert!(snippet.contains(&version), "{version}: {snippet}");
                    let evidence = format!("{:?}", hit.evidence);
                    assert!(evidence.contains(&version), "{version}: {evidence}");
                }
                looked.fetch_add(1, Ordering::Relaxed);
            }
        });
        scope.spawn(|| {
            let query = "PREFIX dct: <http://purl.org/dc/terms/>
                SELECT ?t ?o { ?d dct:identifier \"d7\" ; dct:title ?t . GRAPH ?d { ?s ?p ?o } }";
            while !done.load(Ordering::Relaxed) {
                let request = QueryRequest {
                    query: query.to_owned(),
                    ..QueryRequest::default()
                };
                let answer = home
                    .queries
                    .evaluate(&request, &limits())
                    .expect("an answer");
                let Answer::Solutions { rows, .. } = answer else {
                    panic!("no rows")
                };
                for row in rows {
                    let text = |place: usize| {
                        row[place]
                            .as_ref()
                            .map(ToString::to_string)
                            .unwrap_or_default()
                    };
                    let version = text(0)
                        .trim_matches('"')
                        .rsplit(' ')
                        .next()
                        .unwrap_or_default()
                        .to_owned();
                    assert!(text(1).contains(&version), "{row:?}");
                }
                looked.fetch_add(1, Ordering::Relaxed);
            }
        });
        for round in 1..=30 {
            let changed = write(folder.path(), |_| round, 7..8);
            let report = updater(&home).run(changed, &[]).expect("updated");
            assert_eq!(report.index.indexed, 1);
            searcher.refresh().expect("refreshed");
        }
        done.store(true, Ordering::Relaxed);
    });
    assert!(
        looked.load(Ordering::Relaxed) > 5,
        "somebody looked meanwhile"
    );
    searcher.refresh().expect("refreshed");
    let found = searcher.rank("version30", 10).expect("ranked");
    assert_eq!(found.len(), 1);
}
