//! Catalogues and dumps of portals and clients in worker processes: a file that fills or ends its worker costs its own dataset, or
//! its own page of the catalogue.

use super::harvest::{Portal, Reply};
use super::http::Site;
use super::serving::Server;
use super::support::{Home, limits, run, start_workers, testdata};
use super::workers::{kill, processes};
use axum::http::Method;
use lodeseek_catalog::Catalog;
use lodeseek_changes::{Parser, Scope, Tokens, WorkerOptions};
use lodeseek_server::{Operators, app};
use lodeseek_store::{ContentReader, LoadOptions, Loader, Store};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// Memory of a worker in these tests, in megabytes.
const MEMORY: &str = "24";
const REASON: &str = "parsing it needs more than 24 MB of memory";

/// A JSON-LD document that its reader holds in memory as a whole.
fn greedy() -> String {
    let mut text = "{\"@id\": \"http://e.org/greedy\", \"http://e.org/p\": [".to_owned();
    for number in 0..400_000 {
        let _ = write!(
            text,
            "{}\"text {number}\"",
            if number == 0 { "" } else { "," }
        );
    }
    text + "]}"
}

fn triple(text: &str) -> String {
    format!("<http://e.org/{text}> <http://e.org/name> \"{text}\" .\n")
}

/// A page of a feed with a file for each dataset.
fn feed(names: &[&str], next: Option<&str>) -> String {
    let mut text =
        "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .
        @prefix hydra: <http://www.w3.org/ns/hydra/core#> .\n"
            .to_owned();
    for name in names {
        let _ = writeln!(
            text,
            "<http://e.org/set/{name}> a dcat:Dataset ; dct:identifier \"{name}\" ; dct:title \"{name}\" ;
                dcat:distribution [ dcat:downloadURL </{name}.rdf> ; dcat:mediaType \"application/ld+json\" ] ."
        );
    }
    if let Some(next) = next {
        let _ = writeln!(
            text,
            "</feed> a hydra:PartialCollectionView ; hydra:next <{next}> ."
        );
    }
    text
}

/// A portal of three datasets, of which one is greedy after a while, and of a second page that is greedy then.
fn portal(is_greedy: &Arc<AtomicBool>) -> Portal {
    let is_greedy = Arc::clone(is_greedy);
    Portal::start(move |asked| {
        let is_greedy = is_greedy.load(Ordering::SeqCst);
        match asked.path.as_str() {
            "/feed" => Reply::turtle(feed(&["elm", "greedy", "oak"], Some("/second"))),
            "/second" if is_greedy => Reply::turtle(greedy()),
            "/second" => Reply::turtle(feed(&["yew"], None)),
            "/greedy.rdf" if is_greedy => Reply::turtle(greedy()),
            path if path.ends_with(".rdf") && is_greedy => {
                Reply::turtle(triple(path.trim_matches('/')) + &triple("more"))
            }
            path if path.ends_with(".rdf") => Reply::turtle(triple(path.trim_matches('/'))),
            _ => Reply::status(404),
        }
    })
}

/// Returns the number of triples of each dataset of a home.
fn triples(home: &Path) -> Vec<(String, usize)> {
    let store = Store::open(home, lodeseek_store::Access::Read, None).expect("a home");
    let entries = store.entries().expect("entries");
    let count = |entry: &lodeseek_store::Entry| store.content(entry).expect("content").len();
    entries
        .iter()
        .map(|entry| (entry.dataset.metadata.id.to_string(), count(entry)))
        .collect()
}

fn counted(names: &[(&str, usize)]) -> Vec<(String, usize)> {
    names
        .iter()
        .map(|(name, count)| ((*name).to_owned(), *count))
        .collect()
}

fn harvest(home: &Path, portal: &Portal, arguments: &[&str]) -> (super::support::Ran, Value) {
    let (source, report) = (portal.iri("/feed"), home.join("report.json"));
    let mut all = vec![
        "harvest",
        &source,
        "--download",
        "--pause",
        "0",
        "--allow-private-network",
        "127.0.0.0/8",
    ];
    let path = report.to_string_lossy().into_owned();
    all.extend(["--report", &path]);
    all.extend(arguments);
    let ran = run(home, &all);
    (
        ran,
        serde_json::from_slice(&fs::read(report).expect("a report")).expect("JSON"),
    )
}

#[test]
fn a_greedy_file_of_a_portal_costs_its_dataset() {
    let is_greedy = Arc::new(AtomicBool::new(false));
    let portal = portal(&is_greedy);
    let home = tempfile::tempdir().expect("a folder");
    let home = home.path();
    let (ran, report) = harvest(home, &portal, &["--worker-memory", MEMORY]);
    assert_eq!(
        (ran.code, report["new"].as_array().map(Vec::len)),
        (Some(0), Some(4)),
        "{ran:?}"
    );
    let before = counted(&[("elm", 1), ("greedy", 1), ("oak", 1), ("yew", 1)]);
    assert_eq!(triples(home), before);

    is_greedy.store(true, Ordering::SeqCst);
    for _ in 0..2 {
        let (ran, report) = harvest(home, &portal, &["--worker-memory", MEMORY]);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert_eq!(report["kept"], serde_json::json!(["greedy"]), "{report:#}");
        let problems = report["problems"].to_string();
        assert!(
            problems.contains("greedy.rdf") && problems.contains(REASON),
            "{problems}"
        );
        let failed = report["sources"][0]["failed"].to_string();
        assert!(
            failed.contains("/second") && failed.contains(REASON),
            "{failed}"
        );
        assert_eq!(
            report["sources"][0]["removed"], false,
            "the second page was not read"
        );
        // The old content of the dataset remains, and so does the dataset of the page that could not be read.
        assert_eq!(
            triples(home),
            counted(&[("elm", 2), ("greedy", 1), ("oak", 2), ("yew", 1)])
        );
    }

    let (ran, report) = harvest(home, &portal, &["--no-workers"]);
    assert_eq!(
        report["changed"],
        serde_json::json!(["greedy"]),
        "without limits it is read: {ran:?}"
    );
    assert_eq!(triples(home)[1], ("greedy".to_owned(), 400_000));
}

#[test]
fn a_server_that_harvests_a_greedy_file_goes_on() {
    let is_greedy = Arc::new(AtomicBool::new(true));
    let portal = portal(&is_greedy);
    let home = tempfile::tempdir().expect("a folder");
    let source = portal.iri("/feed");
    let arguments = ["--allow-private-network", "127.0.0.0/8", "--every", "1d"];
    let arguments = [
        &["--harvest", source.as_str(), "--download"],
        &arguments[..],
    ]
    .concat();
    let settings = format!("[server]\nworker-memory = {MEMORY}\n");
    fs::write(home.path().join("lodeseek.toml"), settings).expect("written");
    let mut server = Server::start(home.path(), &arguments);
    let page = server.wait_for("/second");
    assert!(page.contains(REASON), "{page}");
    let dataset = server.wait_for("dataset greedy");
    assert!(
        dataset.contains("greedy.rdf") && dataset.contains(REASON),
        "{dataset}"
    );
    let harvested = server.wait_for("harvested");
    assert!(harvested.contains("3 new"), "{harvested}");
    assert!(server.get("/livez").ends_with("ok\n"));
    assert!(
        server.get("/dataset/oak?format=nt").contains("oak"),
        "the others are served"
    );
    drop(server);
    assert_eq!(
        triples(home.path()),
        counted(&[("elm", 2), ("greedy", 0), ("oak", 2)])
    );

    for (memory, kept, changed) in [
        (MEMORY, Some("greedy"), None),
        ("1024", None, Some("greedy")),
    ] {
        let (_, report) = harvest(home.path(), &portal, &["--worker-memory", memory]);
        assert_eq!(
            report["kept"],
            serde_json::json!(kept.as_slice()),
            "read again: {report:#}"
        );
        assert_eq!(
            report["changed"],
            serde_json::json!(changed.as_slice()),
            "read with more memory: {report:#}"
        );
    }
    assert_eq!(triples(home.path())[1], ("greedy".to_owned(), 400_000));
}

#[test]
fn a_killed_worker_costs_its_dataset() {
    let large: String = (0..300_000)
        .map(|number| triple(&format!("large{number}")))
        .collect();
    let portal = Portal::start(move |asked| match asked.path.as_str() {
        "/feed" => Reply::turtle(feed(&["elm", "large", "oak"], None)),
        "/large.rdf" => Reply::turtle(large.clone()),
        path if path.ends_with(".rdf") => Reply::turtle(triple(path.trim_matches('/'))),
        _ => Reply::status(404),
    });
    let home = tempfile::tempdir().expect("a folder");
    let home = home.path();
    let is_done = AtomicBool::new(false);
    let (ran, report) = thread::scope(|scope| {
        // The worker of the large file is the only one that has used processor time.
        scope.spawn(|| {
            while !is_done.load(Ordering::SeqCst) {
                let busy = processes(home, "files")
                    .into_iter()
                    .find(|process| processor_time(process) >= 15);
                if let Some(process) = busy {
                    kill(&process);
                    return;
                }
                thread::sleep(Duration::from_millis(2));
            }
        });
        let harvested = harvest(home, &portal, &[]);
        is_done.store(true, Ordering::SeqCst);
        harvested
    });
    let problems = report["problems"].to_string();
    assert!(
        problems.contains("the process that parsed it ended: signal: 9"),
        "{problems} {ran:?}"
    );
    let found = triples(home);
    assert!(
        found.contains(&("elm".to_owned(), 1)) && found.contains(&("oak".to_owned(), 1)),
        "{found:?}"
    );
    assert_eq!(
        report["new"].as_array().map(Vec::len),
        Some(3),
        "stored with what could be read: {report:#}"
    );

    let (_, report) = harvest(home, &portal, &[]);
    assert_eq!(
        report["changed"],
        serde_json::json!(["large"]),
        "it is read again: {report:#}"
    );
    assert!(triples(home).contains(&("large".to_owned(), 300_000)));
    let (_, report) = harvest(home, &portal, &[]);
    assert_eq!(report["unchanged"], 3, "{report:#}");
}

/// Returns the processor time of a process in hundredths of a second.
fn processor_time(process: &str) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let fields = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace();
    fields
        .skip(11)
        .take(2)
        .filter_map(|ticks| ticks.parse::<u64>().ok())
        .sum()
}

const BOUNDARY: &str = "multipart/form-data; boundary=BOUNDARY";

/// A form with files, one for each field.
fn form(files: &[(&str, &str, &str)]) -> String {
    let part = |(field, name, text): &(&str, &str, &str)| {
        let name = if name.is_empty() {
            String::new()
        } else {
            format!("; filename=\"{name}\"")
        };
        format!(
            "--BOUNDARY\r\nContent-Disposition: form-data; name=\"{field}\"{name}\r\n\r\n{text}\r\n"
        )
    };
    files.iter().map(part).collect::<String>() + "--BOUNDARY--\r\n"
}

#[tokio::test(flavor = "multi_thread")]
async fn a_greedy_upload_changes_nothing() {
    let home = Home::new();
    home.index();
    let (state, folder) = home.state(limits());
    Tokens::new(folder.path())
        .add("write", Scope::Write, "write-secret", 1)
        .expect("added");
    let workers = start_workers(folder.path(), MEMORY.parse().expect("a number"));
    let state = state.with_workers(workers).expect("a store on disk");
    let state = state
        .with_operators(Operators::default())
        .expect("counters");
    let (state, _worker) = state.with_administration().expect("started");
    let site = Site::behind(app(state), folder);
    let headers = [
        ("authorization", "Bearer write-secret"),
        ("content-type", BOUNDARY),
        ("prefer", "wait=120"),
    ];
    let send = |method: Method, path: &'static str, body: String| {
        let site = &site;
        async move { site.request(method, path, &headers, &body).await }
    };
    let put = |name: &'static str, text: String| {
        send(
            Method::PUT,
            "/api/admin/datasets/trees",
            form(&[("dump", name, &text)]),
        )
    };
    let oak = put("trees.nt", triple("oak")).await;
    assert_eq!(
        (oak.status.as_u16(), &oak.json()["result"]["triples"]),
        (201, &Value::from(1)),
        "{}",
        oak.body
    );
    let reply = put("trees.jsonld", greedy()).await;
    assert_eq!(reply.status, 422, "{}", reply.body);
    assert!(
        reply.body.contains("nothing was changed: trees.jsonld: ") && reply.body.contains(REASON),
        "{}",
        reply.body
    );
    let kept = site.get("/dataset/trees?format=nt").await;
    assert!(kept.status == 200, "{}", kept.body);
    assert!(
        site.get("/api/search?q=oak").await.body.contains("trees"),
        "the old content is found"
    );

    // A greedy description, and a catalogue of several datasets.
    let greedy = greedy();
    let described = form(&[("metadata", "description.jsonld", &greedy)]);
    let reply = send(Method::PUT, "/api/admin/datasets/other", described).await;
    assert!(
        reply.status == 400 && reply.body.contains(REASON),
        "{}",
        reply.body
    );
    assert!(
        !reply.body.contains("/uploads/"),
        "no path of the server: {}",
        reply.body
    );
    let catalog = feed(&["elm", "greedy", "yew"], None).replace("</", "<");
    let (elm, yew) = (triple("elm"), triple("yew"));
    let files = [
        ("source", "", "catalog.ttl"),
        ("file", "catalog.ttl", &catalog),
        ("file", "elm.rdf", &elm),
        ("file", "greedy.rdf", &greedy),
        ("file", "yew.rdf", &yew),
    ];
    let reply = send(Method::POST, "/api/admin/load", form(&files)).await;
    assert_eq!(reply.status, 200, "{}", reply.body);
    let datasets = reply.json()["result"]["datasets"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let outcomes: Vec<(&str, u64)> = datasets
        .iter()
        .map(|dataset| {
            (
                dataset["outcome"].as_str().unwrap_or_default(),
                dataset["triples"].as_u64().unwrap_or(9),
            )
        })
        .collect();
    assert_eq!(
        outcomes,
        [("loaded", 1), ("metadata-only", 0), ("loaded", 1)],
        "{}",
        reply.body
    );
    assert!(reply.body.contains(REASON), "{}", reply.body);
    assert_eq!(site.get("/livez").await.status, 200);
}

/// Loads a catalogue in an empty home. Returns the reports of its datasets, and their versions.
fn loaded(catalog: &Path, reader: Option<Arc<dyn ContentReader>>) -> Vec<(String, String)> {
    let home = Home::new();
    let default = LoadOptions::default();
    let options = LoadOptions {
        reader: reader.unwrap_or(default.reader),
        ..LoadOptions::default()
    };
    let catalog = Catalog::read(catalog).expect("a catalogue");
    let report = Loader::new(&home.store)
        .with_options(options)
        .load(catalog, &|_| ())
        .expect("loaded");
    let reports = report
        .datasets
        .iter()
        .map(|dataset| serde_json::to_string(dataset).expect("JSON"));
    let entries = home.store.entries().expect("entries");
    reports
        .zip(entries.into_iter().map(|entry| entry.version))
        .collect()
}

#[test]
fn workers_read_what_the_process_reads() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = PathBuf::from(env!("CARGO_BIN_EXE_lodeseek"));
    let arguments = vec![
        "--home".into(),
        folder.path().into(),
        "worker-process".into(),
    ];
    let options = WorkerOptions {
        program,
        arguments,
        memory_megabytes: 1024,
    };
    let parser = Parser::in_workers(folder.path(), &options);
    let catalog = testdata("catalog.ttl");
    let expected = loaded(&catalog, None);
    assert!(expected.len() > 5);
    assert_eq!(loaded(&catalog, Some(parser.contents())), expected);

    // Files that a link of the catalogue's folder leads to, and some that cannot be opened.
    let (linked, elsewhere) = (
        folder.path().join("linked"),
        tempfile::tempdir().expect("a folder"),
    );
    fs::create_dir(&linked).expect("a folder");
    fs::write(elsewhere.path().join("oak.nt"), triple("oak")).expect("written");
    std::os::unix::fs::symlink(elsewhere.path().join("oak.nt"), linked.join("oak.rdf"))
        .expect("linked");
    fs::create_dir(linked.join("yew.rdf")).expect("a folder");
    let catalog = linked.join("catalog.ttl");
    fs::write(
        &catalog,
        feed(&["elm", "oak", "yew"], None).replace("</", "<"),
    )
    .expect("written");
    let expected = loaded(&catalog, None);
    assert_eq!(loaded(&catalog, Some(parser.contents())), expected);
    let whole = parser
        .catalogs()
        .read(&lodeseek_catalog::CatalogSource::Local {
            path: catalog.clone(),
        });
    let direct = Catalog::read(&catalog).expect("a catalogue");
    assert_eq!(
        format!("{:?}", whole.expect("a catalogue")),
        format!("{direct:?}")
    );
}
