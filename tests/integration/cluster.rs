//! Plan, work and assembly: a home of derived datasets, compared with one that `load` and `index` made.

use super::harvest::{Portal, Reply};
use super::support::{program, root, run};
use lodeseek_catalog::{Catalog, Iris};
use lodeseek_cluster::{
    Assembly, AssemblyTarget, DERIVATION_ROLE, Plan, PlanOptions, TaskResult, TaskStatus, Worker,
    WorkerOptions,
};
use lodeseek_engine::{DerivedDataset, DerivedSource, Deriver, IndexOptions, Indexer};
use lodeseek_harvest::{Downloader, Downloads, HarvestOptions};
use lodeseek_index::AnalysisKind;
use lodeseek_index::vectors::Precision;
use lodeseek_net::egress::Egress;
use lodeseek_rdf::vocab::lodeseek;
use lodeseek_snapshot::{RemoteFiles, RemoteSnapshots, StorageOptions};
use lodeseek_store::{Loader, Stamp, Store};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Runs the program with a standard input. Returns its exit code, its output and its messages.
fn pipe(home: &Path, arguments: &[&str], input: &[u8]) -> (Option<i32>, Vec<u8>, String) {
    let mut command = program(home);
    // A credential of the storage, which no other host may receive.
    command
        .env("AWS_ACCESS_KEY_ID", "public")
        .env("AWS_SECRET_ACCESS_KEY", "secret");
    command
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("started");
    let mut stdin = child.stdin.take().expect("piped");
    let input = input.to_vec();
    let writing = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().expect("ended");
    let _ = writing.join(); // the program may end before its input
    (
        output.status.code(),
        output.stdout,
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

struct Site(TempDir);

impl Site {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    fn location(&self) -> String {
        format!("file://{}", self.path("storage").display())
    }

    /// Returns the names of all stored objects, which are hashes of their contents.
    fn objects(&self) -> Vec<String> {
        let mut names = Vec::new();
        for folder in fs::read_dir(self.path("storage/objects")).expect("objects") {
            for object in fs::read_dir(folder.expect("a folder").path()).expect("objects") {
                names.push(
                    object
                        .expect("an object")
                        .file_name()
                        .to_string_lossy()
                        .into_owned(),
                );
            }
        }
        names.sort();
        names
    }

    fn plan(&self, catalog: &str) -> Vec<u8> {
        self.plan_with(catalog, &[])
    }

    fn plan_with(&self, catalog: &str, options: &[&str]) -> Vec<u8> {
        let (code, plan, messages) = pipe(
            &self.path("none"),
            &[&["cluster", "plan", catalog], options].concat(),
            b"",
        );
        assert_eq!(code, Some(0), "{messages}");
        plan
    }

    fn work(&self, plan: &[u8]) -> Vec<u8> {
        self.work_with(plan, &["--ranking", "balanced"])
    }

    fn work_with(&self, plan: &[u8], options: &[&str]) -> Vec<u8> {
        let location = self.location();
        let arguments = [&["cluster", "work", &location], options].concat();
        let (code, results, messages) = pipe(&self.path("none"), &arguments, plan);
        assert_eq!(code, Some(0), "{messages}");
        results
    }

    fn assemble(&self, results: &[u8], expected: i32) -> String {
        self.assemble_with(results, &["--ranking", "balanced"], expected)
    }

    fn assemble_with(&self, results: &[u8], options: &[&str], expected: i32) -> String {
        let location = self.location();
        let arguments = [&["cluster", "assemble", &location], options].concat();
        let (code, _, messages) = pipe(&self.path("home"), &arguments, results);
        assert_eq!(code, Some(expected), "{messages}");
        messages
    }
}

#[test]
fn an_assembled_home_ranks_as_an_indexed_one() {
    let site = Site::new();
    let catalog = root().join("testdata/catalog.ttl").display().to_string();
    let results = site.work(&site.plan(&catalog));
    let messages = site.assemble(&results, 0);
    assert!(
        messages.contains("12 datasets indexed (12 by workers)"),
        "{messages}"
    );
    let single = site.path("single");
    for arguments in [&["load", &catalog][..], &["index", "--ranking", "balanced"]] {
        assert_eq!(run(&single, arguments).code, Some(0), "{arguments:?}");
    }
    let topics = site.path("topics.tsv");
    fs::write(
        &topics,
        "1\tnitrogen reduction plan\n2\tstreet trees at night\n3\tsoil and water quality\n",
    )
    .expect("written");
    let topics = topics.display().to_string();
    for model in ["tf-idf", "bm25", "lmd", "fsdm"] {
        let arguments = ["run", "--topics", &topics, "--model", model];
        let (indexed, assembled) = (
            run(&single, &arguments),
            run(&site.path("home"), &arguments),
        );
        assert!(
            !indexed.out.is_empty() && indexed.out == assembled.out,
            "{model}"
        );
    }
    let sorted = |home: &Path| {
        let ran = run(home, &["show", "chesapeake-water", "--rdf", "nt"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        // Times of listing differ, and an assembled home keeps no files of datasets.
        let mut lines: Vec<String> = ran
            .out
            .lines()
            .filter(|line| {
                !["dateTime", "downloadURL", "hecksum", "byteSize"]
                    .iter()
                    .any(|part| line.contains(part))
            })
            .map(str::to_owned)
            .collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&single), sorted(&site.path("home")));
    assert_eq!(run(&site.path("home"), &["verify"]).code, Some(0));
    let again = site.assemble(&results, 0);
    assert!(again.contains("12 unchanged"), "{again}");
}

#[test]
fn a_changed_file_is_not_read_and_other_datasets_are_assembled() {
    let site = Site::new();
    let folder = site.path("catalog");
    fs::create_dir(&folder).expect("a folder");
    let entries = ["oak", "elm"].map(|name| {
        format!(
            "<http://e.org/{name}> a dcat:Dataset ; dct:identifier \"{name}\" ; dct:title \"{name} trees\" ; \
             dcat:distribution [ dcat:downloadURL <{name}.ttl> ] .\n"
        )
    });
    let prefixes =
        "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .\n";
    fs::write(
        folder.join("catalog.ttl"),
        prefixes.to_owned() + &entries.concat(),
    )
    .expect("written");
    for name in ["oak", "elm"] {
        fs::write(
            folder.join(format!("{name}.ttl")),
            format!("<http://e.org/{name}> <http://e.org/p> \"{name}\" ."),
        )
        .expect("written");
    }
    let plan = site.plan(&folder.join("catalog.ttl").display().to_string());
    fs::write(
        folder.join("elm.ttl"),
        "<http://e.org/elm> <http://e.org/p> \"changed\" .",
    )
    .expect("written");
    let results = site.work(&plan);
    let objects = site.objects();
    site.work(&plan);
    assert_eq!(
        (site.objects(), objects.len()),
        (objects, 8),
        "a repeated task stores the same objects"
    );
    site.assemble(&results, 0);
    let listed = run(&site.path("home"), &["list", "--json"]);
    assert!(
        listed.out.contains("oak") && listed.out.contains("elm"),
        "{listed:?}"
    );
    let shown = run(&site.path("home"), &["show", "elm", "--rdf", "ntriples"]);
    assert!(!shown.out.contains("changed"), "{shown:?}");
}

#[test]
fn other_settings_of_workers_are_an_error_with_both_values() {
    let site = Site::new();
    let plan = site.plan(&root().join("testdata/catalog.ttl").display().to_string());
    let english = site.work_with(&plan, &["--ranking", "balanced", "--analysis", "english"]);
    let refused = site.assemble(&english, 2);
    let expected = "was derived with the text analysis english, but the home has acordar; run `lodeseek cluster work` with \
                    --analysis acordar";
    assert!(refused.contains(expected), "{refused}");
    let assembled = site.assemble(&site.work(&plan), 0);
    assert!(
        assembled.contains("12 datasets indexed (12 by workers)"),
        "{assembled}"
    );
    let model = ["--dpr", "testdata/models/static-model2vec"];
    let int8 = [&model[..], &["--vectors", "int8"]].concat();
    let vectors = site.work_with(&plan, &int8);
    let refused = site.assemble_with(&vectors, &model, 2);
    assert!(
        refused.contains("has vectors of int8, but the home has vectors of f16"),
        "{refused}"
    );
    let assembled = site.assemble_with(&vectors, &int8, 0);
    assert!(
        assembled.contains("12 datasets encoded (12 by workers)"),
        "{assembled}"
    );
}

/// Size of the compact form above which the graphs of a test are not held in memory.
const GRAPH_LIMIT: usize = 20_000;
const ANALYSIS: AnalysisKind = AnalysisKind::Multilingual;

/// Writes a catalogue of three datasets: one exceeds [`GRAPH_LIMIT`], one does not, and one exceeds it with triple terms.
fn write_large_catalog(folder: &Path) -> PathBuf {
    fs::create_dir(folder).expect("a folder");
    let mut catalog =
        "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .\n"
            .to_owned();
    for (id, files) in [
        ("large", &["one.ttl", "two.ttl"][..]),
        ("small", &["small.nt"]),
        ("terms", &["terms.ttl"]),
    ] {
        let files: Vec<String> = files
            .iter()
            .map(|file| format!("[ dcat:downloadURL <{file}> ]"))
            .collect();
        writeln!(
            catalog,
            "<http://e.org/{id}> a dcat:Dataset ; dct:identifier \"{id}\" ; dct:title \"{id} forest\" ; \
             dcat:distribution {} .",
            files.join(", ")
        )
        .expect("written");
    }
    let mut large = String::new();
    for number in 0..1500 {
        let (tree, class, other) = (number % 600, number % 7, (number * number) % 600);
        writeln!(
            large,
            "<e:tree{tree}> a <e:Class{class}> ; <e:near> <e:tree{other}>, _:b{} .",
            number % 90
        )
        .expect("written");
        writeln!(large, "<e:tree{tree}> <e:label> \"tree {number} of {class}\"@en ; <e:height> {number}.{class}0 .")
            .expect("written");
    }
    let half = large.len() / 2 + large[large.len() / 2..].find('\n').expect("a line") + 1;
    let terms =
        (0..900).map(|number| format!("<e:a{number}> <e:p> <<( <e:a> <e:q> {number} )>> .\n"));
    for (name, content) in [
        ("catalog.ttl", catalog),
        ("one.ttl", large[..half].to_owned()),
        (
            "two.ttl",
            large[half..].to_owned() + "this is no statement .\n",
        ),
        (
            "small.nt",
            "<e:oak> <e:label> \"an oak\" .\n_:b <e:near> <e:oak> .\n".to_owned(),
        ),
        ("terms.ttl", terms.collect()),
    ] {
        fs::write(folder.join(name), content).expect("written");
    }
    folder.join("catalog.ttl")
}

/// Files of all versions, by name.
fn version_files(store: &Store) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(store.home().join("graphs")).expect("a folder") {
        let entry = entry.expect("a file");
        files.insert(
            entry.file_name().to_string_lossy().into_owned(),
            fs::read(entry.path()).expect("read"),
        );
    }
    files
}

/// Quads of contents, descriptions, profiles and snippets.
fn quads(store: &Store) -> BTreeSet<String> {
    store
        .oxigraph()
        .iter()
        .map(|quad| quad.expect("a quad").to_string())
        // An assembled home keeps no files of datasets.
        .filter(|quad| !quad.contains("<urn:lodeseek:files>"))
        .collect()
}

/// Document, profile and snippet as JSON and N-Triples.
fn derived_text(derived: &DerivedDataset) -> String {
    let DerivedDataset {
        document,
        profile,
        snippet,
        triples,
        ..
    } = derived;
    let document = serde_json::to_string(document).expect("JSON");
    format!("{triples}\n{document}\n{profile:?}\n{snippet:?}")
}

/// A worker that derived large datasets in memory gave other profiles, snippets and documents than one machine.
#[test]
fn workers_derive_datasets_that_exceed_memory_as_one_machine() {
    let site = Site::new();
    let path = write_large_catalog(&site.path("catalog"));
    let catalog = || Catalog::read(&path).expect("a catalogue");
    let iris = Iris::new(Iris::DEFAULT_BASE).expect("the default");
    let home = |name: &str| {
        let store = Store::in_memory(&site.path(name), iris.clone()).expect("a store");
        store.with_graph_limit(GRAPH_LIMIT)
    };
    let options = IndexOptions {
        analysis: Some(ANALYSIS),
        ..IndexOptions::default()
    };
    let single = home("single");
    let loaded = Loader::new(&single)
        .load(catalog(), &|_| ())
        .expect("loaded");
    Indexer::new(&single, options)
        .run(&|_| ())
        .expect("indexed");

    let scratch = site.path("scratch");
    fs::create_dir(&scratch).expect("a folder");
    let worker_options = WorkerOptions {
        program: env!("CARGO_BIN_EXE_lodeseek").into(),
        arguments: vec!["worker-process".into(), DERIVATION_ROLE.into()],
        scratch: scratch.clone(),
        memory_megabytes: 1024,
        time: Duration::from_secs(120),
        analysis: ANALYSIS,
        precision: Precision::default(),
        graph_limit: GRAPH_LIMIT,
    };
    let remote = || {
        let location = site.location().parse().expect("a location");
        RemoteSnapshots::open(&location, &StorageOptions::default()).expect("storage")
    };
    let mut plan = Plan::default();
    let plan_options = PlanOptions {
        iris: iris.clone(),
        now: None,
        files_at: None,
        downloads: Downloads::None,
    };
    plan.add(&catalog(), &plan_options).expect("planned");
    let files = RemoteFiles::new(StorageOptions::default()).expect("files");
    let (egress, web) = (Egress::default(), HarvestOptions::default());
    let downloader = Downloader::open(&egress, &web, &scratch).expect("a downloader");
    let mut worker =
        Worker::start(worker_options, remote(), files, downloader, Vec::new()).expect("a worker");
    let results: Vec<TaskResult> = plan
        .tasks()
        .iter()
        .map(|task| worker.run(task).expect("a result"))
        .collect();
    assert!(
        results
            .iter()
            .all(|result| result.status == TaskStatus::Derived),
        "{results:?}"
    );
    drop(worker);
    assert_eq!(
        fs::read_dir(&scratch).expect("a folder").count(),
        0,
        "temporary files remain"
    );

    let assembled = home("assembled");
    let storage = remote();
    let target = AssemblyTarget {
        analysis: ANALYSIS,
        precisions: BTreeMap::new(),
    };
    let mut assembly = Assembly::new(&storage, &results, &assembled, target).expect("an assembly");
    let reloaded = assembly
        .load(&assembled, Stamp::default(), &|_| ())
        .expect("loaded");
    let report = Indexer::new(&assembled, options)
        .with_source(&assembly)
        .run(&|_| ())
        .expect("indexed");
    assert_eq!((report.indexed, report.reused), (3, 3));

    let reports =
        [&loaded, &reloaded].map(|report| serde_json::to_string(&report.datasets).expect("JSON"));
    assert_eq!(reports[0], reports[1]);
    let (expected, found) = (version_files(&single), version_files(&assembled));
    let samples: Vec<&String> = expected
        .keys()
        .filter(|name| name.ends_with(".sample"))
        .collect();
    assert_eq!(samples.len(), 1, "one dataset exceeds memory: {samples:?}");
    assert_eq!(
        found.keys().collect::<Vec<_>>(),
        expected.keys().collect::<Vec<_>>()
    );
    for (name, content) in &expected {
        assert!(found[name] == *content, "{name} differs");
    }
    assert_eq!(quads(&assembled), quads(&single));
    assert!(
        quads(&single)
            .iter()
            .any(|quad| quad.contains(lodeseek::SAMPLED_TRIPLES))
    );
    let deriver = Deriver::new(&iris, options, ANALYSIS);
    for entry in single.entries().expect("entries") {
        let version = deriver.version(&entry).expect("a version");
        let content = single.open_content(&entry).expect("content");
        let expected = deriver
            .derive(single.content_folder(), &entry, &version, &content)
            .expect("derived");
        let derived = assembly
            .derived_dataset(&entry.dataset.metadata.id, &version)
            .expect("derived by the worker");
        assert_eq!(derived_text(&derived), derived_text(&expected));
    }
}

#[test]
fn an_address_that_no_storage_has_fails_its_task_only() {
    let site = Site::new();
    let testdata = root().join("testdata").display().to_string();
    let catalog = root().join("testdata/catalog.ttl").display().to_string();
    let arguments = [
        "cluster",
        "plan",
        &catalog,
        "--files",
        &testdata,
        "--files-at",
        "ftp://example.org/files",
    ];
    let (code, plan, messages) = pipe(&site.path("none"), &arguments, b"");
    assert_eq!(code, Some(0), "{messages}");
    let assembled = site.assemble(&site.work(&plan), 1);
    assert!(
        assembled.contains("not derived: ") && assembled.contains("unknown scheme"),
        "{assembled}"
    );
}

#[test]
fn damaged_input_is_an_error_with_its_reason() {
    let site = Site::new();
    let (code, _, messages) = pipe(
        &site.path("none"),
        &["cluster", "work", &site.location(), "--ranking", "words"],
        b"no table",
    );
    assert_eq!(code, Some(2));
    assert!(messages.contains("the Arrow table of tasks"), "{messages}");
    let (code, _, messages) = pipe(
        &site.path("home"),
        &["cluster", "assemble", &site.location()],
        b"",
    );
    assert_eq!(code, Some(2));
    assert!(
        messages.contains("the Arrow table of results"),
        "{messages}"
    );
}

/// Crawl delay of the host of a test.
const CRAWL_DELAY: Duration = Duration::from_millis(500);

/// Writes a catalogue of datasets with one file of the web each.
fn write_web_catalog(path: &Path, files: &[(&str, String)]) {
    let mut catalog =
        "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .\n"
            .to_owned();
    for (id, address) in files {
        writeln!(
            catalog,
            "<http://e.org/{id}> a dcat:Dataset ; dct:identifier \"{id}\" ; dct:title \"{id} trees\" ; \
             dcat:distribution [ dcat:downloadURL <{address}> ] ."
        )
        .expect("written");
    }
    fs::write(path, catalog).expect("written");
}

#[test]
fn files_of_the_web_are_downloaded_by_the_rules_of_a_harvest() {
    let inner = Portal::start(|_| Reply::turtle("<e:inner> <e:p> <e:secret> ."));
    let (inside, times) = (inner.iri("/inner.ttl"), Arc::new(Mutex::new(Vec::new())));
    let log = Arc::clone(&times);
    let portal = Portal::start(move |asked| {
        assert!(
            asked.header("authorization").is_none() && asked.header("cookie").is_none(),
            "a credential was sent"
        );
        log.lock()
            .expect("no panic")
            .push((asked.path.clone(), Instant::now()));
        match asked.path.as_str() {
            "/robots.txt" => {
                let rules = format!(
                    "User-agent: *\nDisallow: /private/\nCrawl-delay: {}\n",
                    CRAWL_DELAY.as_secs_f32()
                );
                Reply::new(200, "text/plain", rules)
            }
            "/oak.ttl" => Reply::turtle("<#oak> <e:near> <#elm> ."),
            "/elm.nt" => Reply::new(200, "text/plain", "<e:elm> <e:p> \"an elm\" .\n"),
            "/large.nt" => Reply::new(
                200,
                "text/plain",
                "<e:elm> <e:p> \"a large one\" .\n".repeat(60_000),
            ),
            "/moved.nt" => Reply::status(302).with("Location", &inside),
            _ => Reply::status(404),
        }
    });
    let site = Site::new();
    let catalog = site.path("catalog.ttl");
    let names = [
        "oak.ttl",
        "elm.nt",
        "none.nt",
        "private/secret.nt",
        "large.nt",
        "moved.nt",
    ];
    let ids = ["oak", "elm", "none", "private", "large", "moved"];
    let mut files: Vec<(&str, String)> = ids
        .into_iter()
        .zip(names.map(|name| portal.iri(&format!("/{name}"))))
        .collect();
    files.push(("inner", inner.iri("/inner.ttl")));
    files.push(("leaflet", portal.iri("/leaflet.pdf")));
    write_web_catalog(&catalog, &files);
    let catalog = catalog.display().to_string();
    let (scratch, host) = (site.path("scratch"), portal.iri("/"));
    fs::create_dir(&scratch).expect("a folder");
    let scratch = scratch.display().to_string();
    let options = [
        "--ranking",
        "words",
        "--scratch",
        &scratch,
        "--max-file-megabytes",
        "1",
    ];
    let local = ["--host", &host, "--allow-private-network", "127.0.0.0/8"];

    let results = site.work_with(
        &site.plan_with(&catalog, &["--download"]),
        &[&options[..], &local].concat(),
    );
    let results = lodeseek_cluster::read_results(&results[..]).expect("results");
    assert!(
        results
            .iter()
            .all(|result| result.status == TaskStatus::Derived),
        "{results:?}"
    );
    let result = |id: &str| {
        results
            .iter()
            .find(|result| result.id == id)
            .expect("a result")
    };
    assert_eq!(
        ["oak", "elm"].map(|id| (result(id).triples, result(id).reason.as_deref())),
        [(1, None), (1, None)]
    );
    for (id, expected) in [
        ("none", "status 404"),
        ("private", "robots.txt does not allow it"),
        ("large", "response larger than 1048576 bytes"),
        ("moved", "the host is in a network that is not public"),
        ("inner", "the host is in a network that is not public"),
        ("leaflet", "is on the web"),
    ] {
        let reason = result(id).reason.as_deref().unwrap_or_default();
        assert!(
            result(id).triples == 0 && reason.contains(expected),
            "{id}: {reason}"
        );
    }
    assert_eq!(
        fs::read_dir(&scratch).expect("a folder").count(),
        0,
        "temporary files remain"
    );
    assert!(
        inner.asked().is_empty(),
        "a host of a private network was accessed"
    );
    let times = std::mem::take(&mut *times.lock().expect("no panic"));
    let paths: Vec<&str> = times.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(
        paths,
        [
            "/robots.txt",
            "/elm.nt",
            "/large.nt",
            "/moved.nt",
            "/none.nt",
            "/oak.ttl"
        ]
    );
    for pair in times[1..].windows(2) {
        // A request arrives somewhat later than it was sent.
        let pause = pair[1].1 - pair[0].1;
        assert!(pause > CRAWL_DELAY * 4 / 5, "{} after {pause:?}", pair[1].0);
    }

    let refused = site.work_with(&site.plan_with(&catalog, &["--download"]), &options);
    let refused = lodeseek_cluster::read_results(&refused[..]).expect("results");
    assert!(
        refused
            .iter()
            .all(|result| result.triples == 0 && result.reason.is_some()),
        "{refused:?}"
    );
    let unplanned = site.work_with(&site.plan(&catalog), &[&options[..], &local].concat());
    let unplanned = lodeseek_cluster::read_results(&unplanned[..]).expect("results");
    assert!(
        unplanned.iter().all(|result| result.triples == 0),
        "{unplanned:?}"
    );
    assert!(
        portal.asked().len() == paths.len() && inner.asked().is_empty(),
        "a host was accessed"
    );
}

#[test]
fn a_home_of_downloaded_files_is_that_of_a_harvest() {
    let portal = Portal::start(|asked| match asked.path.as_str() {
        "/catalog.ttl" => Reply::turtle(
            "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .\n\
             <http://e.org/oak> a dcat:Dataset ; dct:identifier \"oak\" ; dct:title \"oak trees\" ; \
             dcat:distribution [ dcat:downloadURL </oak.ttl> ] .",
        ),
        "/oak.ttl" => Reply::turtle("<#oak> <e:near> <#elm> ; <e:label> \"oak\" ."),
        _ => Reply::status(404),
    });
    let site = Site::new();
    let catalog = site.path("catalog.ttl");
    write_web_catalog(&catalog, &[("oak", portal.iri("/oak.ttl"))]);
    let host = portal.iri("/");
    let local = [
        "--ranking",
        "balanced",
        "--host",
        &host,
        "--allow-private-network",
        "127.0.0.0/8",
    ];
    let results = site.work_with(
        &site.plan_with(&catalog.display().to_string(), &["--download"]),
        &local,
    );
    site.assemble(&results, 0);
    let harvested = site.path("harvested");
    let source = portal.iri("/catalog.ttl");
    let ran = run(
        &harvested,
        &[
            "harvest",
            &source,
            "--download",
            "--allow-private-network",
            "127.0.0.0/8",
        ],
    );
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let content = |home: &Path| {
        let query = "SELECT ?s ?p ?o { GRAPH ?g { ?s ?p ?o } } ORDER BY ?p";
        let ran = run(home, &["query", query]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        ran.out
    };
    let (assembled, expected) = (content(&site.path("home")), content(&harvested));
    assert!(
        assembled.contains(&portal.iri("/oak.ttl#elm")) && assembled == expected,
        "{assembled} and {expected}"
    );
}
