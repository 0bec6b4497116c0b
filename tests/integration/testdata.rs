//! The whole chain on `testdata/`: dumps in, ranked datasets with snippets and SPARQL out.

use super::support::{Home, copy_of_testdata, json, limits, queries, testdata};
use lodeseek_catalog::Catalog;
use lodeseek_engine::IndexOptions;
use lodeseek_eval::{Metric, Qrels, mean};
use lodeseek_index::document::Field;
use lodeseek_index::sparse::{LengthMode, ModelKind};
use lodeseek_rdf::dump::Outcome;
use lodeseek_sparql::{Answer, QueryRequest, SparqlError, SparqlLimits};
use lodeseek_store::{DatasetOutcome, LoadReport};
use oxrdf::{NamedNode, Term};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// (id, distinct triples, triples read).
const DATASETS: [(&str, u64, u64); 12] = [
    ("air-quality", 64, 64),
    ("boreholes", 126, 126),
    ("building-sensors", 92, 92),
    ("chesapeake-water", 103, 103),
    ("clinical-trials", 85, 98),
    ("contracts", 73, 75),
    ("museum-objects", 75, 75),
    ("port-library", 71, 71),
    ("soil-types", 103, 103),
    ("street-scenes", 99, 99),
    ("street-trees", 105, 105),
    ("transit-stops", 85, 88),
];

fn outcomes(report: &LoadReport) -> BTreeMap<&str, DatasetOutcome> {
    report
        .datasets
        .iter()
        .map(|dataset| (dataset.id.as_str(), dataset.outcome))
        .collect()
}

#[test]
fn every_dataset_is_read_as_far_as_it_can_be() {
    let home = Home::new();
    let report = home.load(&testdata("catalog.ttl"));
    assert_eq!(report.catalog_problems, Vec::<String>::new());
    let mut counts: Vec<_> = report
        .datasets
        .iter()
        .map(|d| (d.id.as_str(), d.triples, d.read))
        .collect();
    counts.sort_unstable();
    assert_eq!(counts, DATASETS);
    for (id, triples, _) in DATASETS {
        let in_store = home.count(&format!(
            "SELECT (COUNT(*) AS ?n) FROM {} {{ ?s ?p ?o }}",
            home.iri(id)
        ));
        assert_eq!(in_store, triples, "{id}");
    }
}

#[test]
fn what_is_broken_is_reported_by_line() {
    let home = Home::new();
    let report = home.load(&testdata("catalog.ttl"));
    let troubled: Vec<_> = report.with_problems().collect();
    assert_eq!(
        troubled
            .iter()
            .map(|dataset| dataset.id.as_str())
            .collect::<Vec<_>>(),
        ["air-quality"]
    );
    let file = &troubled[0].files[0];
    assert_eq!((troubled[0].skipped, file.outcome), (3, Outcome::Skipped));
    let problems: Vec<_> = file
        .problems
        .iter()
        .map(|p| (p.line.unwrap_or(0), p.message.as_str()))
        .collect();
    assert_eq!(
        problems.iter().map(|(line, _)| *line).collect::<Vec<_>>(),
        [24, 30, 35]
    );
    assert!(problems[0].1.contains("wgs:"), "{problems:?}");
    let skipped = home.count(
        "SELECT ?n { ?dataset <http://purl.org/dc/terms/identifier> \"air-quality\" ;
           <https://w3id.org/lodeseek/ns#skippedStatements> ?n }",
    );
    assert_eq!(skipped, 3, "the catalogue graph says so too");
}

#[test]
fn packed_files_show_their_layers() {
    let home = Home::new();
    let report = home.load(&testdata("catalog.ttl"));
    let layers = |id: &str| {
        let dataset = report
            .datasets
            .iter()
            .find(|dataset| dataset.id.as_str() == id)
            .expect(id);
        dataset
            .files
            .iter()
            .map(|file| (file.triples, file.layers.clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(layers("street-trees"), [(105, vec!["gzip".into()])]);
    let zipped = layers("port-library");
    assert!(zipped.contains(&(71, vec!["zip".into()])), "{zipped:?}");
    assert_eq!(layers("clinical-trials"), [(55, vec![]), (43, vec![])]);
}

/// Mean nDCG@10 over the judged queries, with the fields that pass.
fn quality(home: &Home, passes: fn(Field) -> bool) -> f64 {
    let qrels = Qrels::read(&testdata("qrels.txt")).expect("judgements");
    let model = ModelKind::Bm25
        .model(LengthMode::Exact)
        .restricted_to(&passes);
    let searcher = home.searcher().with_model(model);
    let values: Vec<f64> = queries()
        .iter()
        .map(|(id, text)| {
            Metric::ndcg(10).evaluate(&qrels, id, &searcher.rank(text, 10).expect("ranked"))
        })
        .collect();
    assert_eq!(values.len(), 10);
    mean(&values)
}

#[test]
fn content_finds_what_metadata_does_not() {
    let home = Home::from_catalog(&testdata("catalog.ttl"));
    let (all, metadata) = (quality(&home, |_| true), quality(&home, Field::is_metadata));
    assert!(
        all >= 1.0 - 1e-9,
        "nDCG@10 {all}: every query had its ideal order"
    );
    assert!(
        metadata <= 0.41,
        "nDCG@10 {metadata} from metadata alone: the queries no longer test the content"
    );
}

#[test]
fn the_same_again_changes_nothing() {
    let home = Home::from_catalog(&testdata("catalog.ttl"));
    let before: Vec<String> = queries().iter().map(|(_, text)| home.json(text)).collect();
    let report = home.load(&testdata("catalog.ttl"));
    assert!(
        report
            .datasets
            .iter()
            .all(|d| d.outcome == DatasetOutcome::Unchanged),
        "{:?}",
        outcomes(&report)
    );
    assert_eq!((report.datasets.len(), report.cleared_graphs), (12, 0));
    let indexed = home.index();
    assert_eq!(
        (indexed.indexed, indexed.unchanged, indexed.removed),
        (0, 12, 0)
    );
    let after: Vec<String> = queries().iter().map(|(_, text)| home.json(text)).collect();
    assert_eq!(before, after);
}

#[test]
fn a_changed_dump_replaces_its_dataset_alone() {
    let folder = copy_of_testdata();
    let catalog = folder.path().join("catalog.ttl");
    let home = Home::from_catalog(&catalog);
    let (water, versions, names) = (
        home.iri("chesapeake-water"),
        versions(&home),
        bound_graphs(&home),
    );
    assert_eq!(home.found("Susquehanna"), ["chesapeake-water"]);

    fs::write(
        folder.path().join("dumps/chesapeake-water.ttl"),
        "<http://example.org/new> <http://www.w3.org/2000/01/rdf-schema#label> \"quokka\" .",
    )
    .expect("written");
    let report = home.load(&catalog);
    for (id, outcome) in outcomes(&report) {
        let expected = if id == "chesapeake-water" {
            DatasetOutcome::Replaced
        } else {
            DatasetOutcome::Unchanged
        };
        assert_eq!(outcome, expected, "{id}");
    }
    assert_eq!(report.cleared_graphs, 1);

    // Seen through the dataset's IRI and through all named graphs at once; the graph's name in the store is hidden.
    assert_eq!(
        home.count(&format!(
            "SELECT (COUNT(*) AS ?n) FROM {water} {{ ?s ?p ?o }}"
        )),
        1
    );
    assert_eq!(
        home.count(&format!(
            "SELECT (COUNT(*) AS ?n) {{ GRAPH <{}> {{ ?s ?p ?o }} }}",
            versions["chesapeake-water"]
        )),
        0
    );
    let susquehanna = "SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o FILTER(CONTAINS(STR(?o), \"Susquehanna\")) } }";
    let graphs = home.count("SELECT (COUNT(DISTINCT ?g) AS ?n) { GRAPH ?g { ?s ?p ?o } }");
    assert_eq!(graphs, 12, "one graph a dataset");
    assert_eq!(bound_graphs(&home), names, "the names are those of before");

    let indexed = home.index();
    assert_eq!((indexed.indexed, indexed.unchanged), (1, 11));
    assert_eq!(
        home.count(susquehanna),
        0,
        "profile and snippet are of the new content too"
    );
    assert_eq!(home.found("quokka"), ["chesapeake-water"]);
    assert_eq!(home.found("Susquehanna"), Vec::<String>::new());
}

/// The values of `GRAPH ?g`.
fn bound_graphs(home: &Home) -> Vec<String> {
    let query = "SELECT DISTINCT ?g { GRAPH ?g { ?s ?p ?o } } ORDER BY ?g".to_owned();
    let request = QueryRequest {
        query,
        ..QueryRequest::default()
    };
    let Ok(Answer::Solutions { rows, .. }) = home.queries.evaluate(&request, &limits()) else {
        panic!("no answer")
    };
    rows.iter()
        .map(|row| row[0].as_ref().expect("a name").to_string())
        .collect()
}

/// The graph of each dataset's content.
fn versions(home: &Home) -> BTreeMap<String, String> {
    let entries = home.store.entries().expect("entries");
    let iris = home.store.iris();
    let graph = |id, version: &str| iris.graph(id, version).into_string();
    entries
        .iter()
        .map(|e| {
            (
                e.dataset.metadata.id.to_string(),
                graph(&e.dataset.metadata.id, &e.version),
            )
        })
        .collect()
}

#[test]
fn changed_metadata_keeps_the_content() {
    let folder = copy_of_testdata();
    let catalog = folder.path().join("catalog.ttl");
    let home = Home::from_catalog(&catalog);
    let before = versions(&home);
    let text = fs::read_to_string(&catalog).expect("readable");
    fs::write(
        &catalog,
        text.replace("City tree register", "Quokka habitats"),
    )
    .expect("written");
    let report = home.load(&catalog);
    let replaced: Vec<_> = outcomes(&report)
        .into_iter()
        .filter(|(_, outcome)| *outcome != DatasetOutcome::Unchanged)
        .collect();
    assert_eq!(replaced, [("street-trees", DatasetOutcome::Replaced)]);
    assert_eq!((versions(&home), report.cleared_graphs), (before, 0));
    assert_eq!(home.index().indexed, 1);
    assert_eq!(home.found("quokka"), ["street-trees"]);
    assert_eq!(
        home.found("register"),
        ["clinical-trials"],
        "the old title is gone"
    );
}

#[test]
fn acordars_form_is_read_with_its_quirks() {
    let home = Home::new();
    let report = home.load(&testdata("acordar.json"));
    assert_eq!(report.catalog_problems, Vec::<String>::new());
    assert_eq!(
        report
            .datasets
            .iter()
            .map(|d| (d.id.as_str(), d.outcome, d.triples))
            .collect::<Vec<_>>(),
        [
            ("42", DatasetOutcome::Loaded, 105),
            ("clinical-trials", DatasetOutcome::Loaded, 85),
            ("soil-types", DatasetOutcome::Loaded, 103),
            ("port-library", DatasetOutcome::MetadataOnly, 0),
        ]
    );
    let missing = &report.datasets[3].files[0];
    assert_eq!(
        (missing.file.as_str(), missing.outcome),
        ("dumps/port-library-2019.zip", Outcome::Unreadable)
    );
    assert_eq!(missing.problems.len(), 1, "it says why");

    let entries = home.store.entries().expect("entries");
    let trees = &entries
        .iter()
        .find(|entry| entry.dataset.metadata.id.as_str() == "42")
        .expect("42")
        .dataset
        .metadata;
    assert_eq!((trees.keywords.len(), trees.description()), (3, None));
    home.index();
    assert_eq!(home.found("ginkgo biloba"), ["42"]);
    assert_eq!(
        home.found("manuscripts"),
        ["port-library"],
        "a dataset without content is found by its metadata"
    );
    assert_eq!(home.found("None"), Vec::<String>::new());
}

#[test]
fn lost_graph_files_are_survived() {
    let home = Home::from_catalog(&testdata("catalog.ttl"));
    let other = Home::new();
    other.load(&testdata("catalog.ttl"));
    let folder = other.path().join("graphs");
    let mut paths: Vec<PathBuf> = fs::read_dir(&folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.retain(|path| !is_derived(path)); // those are made again from what stands in
    paths.sort();
    assert_eq!(paths.len(), 12);
    let files: Vec<(PathBuf, Vec<u8>)> = paths
        .into_iter()
        .map(|path| (path.clone(), fs::read(path).expect("readable")))
        .collect();
    for (place, (path, bytes)) in files.iter().enumerate() {
        match place % 3 {
            0 => fs::remove_file(path).expect("removed"),
            1 => fs::write(path, b"no graph").expect("written"),
            _ => fs::write(path, &bytes[..bytes.len() / 2]).expect("written"),
        }
    }
    assert_eq!(other.index().indexed, 12, "the store stands in");
    for (_, text) in queries() {
        assert_eq!(home.found(&text), other.found(&text), "{text}");
    }
    // From the store a graph comes back whole, but for the spelling of numbers: those files wait for the next load.
    let same = |(path, bytes): &&(PathBuf, Vec<u8>)| fs::read(path).is_ok_and(|now| now == *bytes);
    let restored = files.iter().filter(same).count();
    assert!(restored >= 6, "{restored} of 12 files are as they were");
    assert_eq!(
        fs::read_dir(&folder)
            .expect("a folder")
            .filter(|e| is_unknown(e, &files))
            .count(),
        0
    );

    let again = other.load(&testdata("catalog.ttl"));
    assert!(
        again
            .datasets
            .iter()
            .all(|dataset| dataset.outcome == DatasetOutcome::Unchanged)
    );
    assert_eq!(
        files.iter().filter(same).count(),
        12,
        "load makes every file again"
    );
    other.index_with(IndexOptions {
        rebuild: true,
        ..IndexOptions::default()
    });
    for (_, text) in queries() {
        assert_eq!(home.json(&text), other.json(&text), "{text}");
    }
}

fn is_unknown(entry: &std::io::Result<fs::DirEntry>, files: &[(PathBuf, Vec<u8>)]) -> bool {
    let path = entry.as_ref().expect("an entry").path();
    !is_derived(&path) && files.iter().all(|(known, _)| *known != path)
}

/// Returns true if a file contains counts, a fingerprint or labels of a graph instead of the graph.
fn is_derived(path: &Path) -> bool {
    path.extension().is_some_and(|extension| {
        ["counts", "rdfc", "labels"]
            .iter()
            .any(|one| extension == *one)
    })
}

#[test]
fn blank_nodes_of_two_datasets_never_meet() {
    let home = Home::new();
    home.load(&testdata("catalog.ttl"));
    home.load(&testdata("acordar.json")); // 42 has the very content of street-trees
    let blank = home
        .count("SELECT (COUNT(DISTINCT ?g) AS ?n) { GRAPH ?g { ?x ?p ?o FILTER(ISBLANK(?x)) } }");
    assert!(
        blank >= 3,
        "{blank} graphs with blank nodes are too few to tell"
    );
    let shared = home.count(
        "SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?x ?p ?o FILTER(ISBLANK(?x)) } GRAPH ?h { ?x ?q ?r } FILTER(?g != ?h) }",
    );
    assert_eq!(shared, 0);
    let merged = format!(
        "SELECT (COUNT(*) AS ?n) FROM {} FROM {} {{ ?x ?p ?o }}",
        home.iri("42"),
        home.iri("street-trees")
    );
    let surveys = "?s a <http://example.org/trees/vocab#Survey>";
    let merged_surveys = merged
        .replace("?x ?p ?o", surveys)
        .replace("COUNT(*)", "COUNT(DISTINCT ?s)");
    assert!(home.count(&merged) > 105, "each brings its own blank nodes");
    assert_eq!(home.count(&merged_surveys), 2);
}

#[test]
fn another_home_gives_the_same_bytes() {
    let folder = copy_of_testdata();
    let (one, other) = (
        Home::from_catalog(&testdata("catalog.ttl")),
        Home::from_catalog(&folder.path().join("catalog.ttl")),
    );
    for (_, text) in queries() {
        let json = one.json(&text);
        assert!(json.contains("\"rank\": 1"), "{json}");
        assert_eq!(json, other.json(&text), "{text}");
    }
    assert_ne!(
        one.json("water"),
        json(other.path(), "soil"),
        "different queries differ"
    );
}

#[test]
fn the_catalogue_holds_what_was_read_from_it() {
    let home = Home::new();
    home.load(&testdata("catalog.ttl"));
    let source = Catalog::read(&testdata("catalog.ttl")).expect("a catalogue");
    let entries = home.store.entries().expect("entries");
    for read in &source.datasets {
        let entry = entries
            .iter()
            .find(|e| e.dataset.metadata.id == read.metadata.id)
            .expect("an entry");
        let (stored, read) = (&entry.dataset.metadata, &read.metadata);
        let sorted = |texts: &[lodeseek_catalog::Text]| {
            let mut texts = texts.to_vec();
            texts.sort();
            texts
        };
        assert_eq!(stored.title(), read.title());
        assert_eq!(sorted(&stored.keywords), sorted(&read.keywords));
        assert_eq!(
            (&stored.license, &stored.issued, &stored.modified),
            (&read.license, &read.issued, &read.modified)
        );
        assert_eq!(stored.source, read.source);
        let names = |metadata: &lodeseek_catalog::Metadata| -> Vec<String> {
            metadata.agents().map(|agent| agent.name.clone()).collect()
        };
        assert_eq!(names(stored), names(read));
    }
}

/// The rows of `queries/snippets.rq`.
fn stored_snippets(home: &Home) -> Vec<Vec<String>> {
    let query =
        fs::read_to_string(super::support::root().join("queries/snippets.rq")).expect("a query");
    let Ok(Answer::Solutions { rows, .. }) = home.ask(&query) else {
        panic!("no answer")
    };
    let text = |term: &Option<Term>| match term {
        Some(Term::Literal(literal)) => literal.value().to_owned(),
        Some(term) => term.to_string(),
        None => String::new(),
    };
    rows.iter()
        .map(|row| row.iter().map(text).collect())
        .collect()
}

#[test]
fn stored_snippets_tell_how_they_came_to_be() {
    use lodeseek_snippet::{IlluSnip, Method, TripleBudget};
    let home = Home::new();
    home.load(&testdata("catalog.ttl"));
    let noon = "2026-01-02T12:00:00Z";
    let dated = |now: &str, snippet_method| IndexOptions {
        now: now.parse().ok(),
        snippet_method,
        snippet_budget: TripleBudget(7),
        ..IndexOptions::default()
    };
    assert_eq!(home.index_with(dated(noon, Method::IlluSnip)).indexed, 12);
    let rows = stored_snippets(&home);
    assert_eq!(rows.len(), 12);
    let entries = home.store.entries().expect("entries");
    let made_of = |dataset: &str| {
        let iris = home.store.iris();
        let of = |id| iris.dataset(id).as_str() == dataset.trim_matches(['<', '>']);
        let entry = entries
            .iter()
            .find(|entry| of(&entry.dataset.metadata.id))
            .expect("a dataset");
        let triples = home.store.content(entry).expect("content").len() as u64;
        let work = IlluSnip::indexing_work(triples).to_string();
        (iris.dataset(&entry.dataset.metadata.id).to_string(), work)
    };
    for row in &rows {
        let (graph, work) = made_of(&row[0]);
        let expected = [
            "IlluSnip OPT-RANK",
            "7",
            &work,
            &graph,
            noon,
            "Lodeseek",
            env!("CARGO_PKG_VERSION"),
            "7",
        ];
        assert_eq!(row[2..], expected, "{row:?}");
    }

    let later = home.index_with(dated("2026-01-03T12:00:00Z", Method::IlluSnip));
    assert_eq!(
        (later.indexed, later.unchanged),
        (0, 12),
        "another day changes nothing"
    );
    assert_eq!(stored_snippets(&home), rows);
    let changed = home.index_with(dated(noon, Method::Patterns));
    assert_eq!(
        changed.indexed, 12,
        "another method makes every snippet anew"
    );
    assert!(
        stored_snippets(&home)
            .iter()
            .all(|row| row[2] == "patterns" && row[4].is_empty()),
        "and no old one stays"
    );
    let undated = IndexOptions {
        snippet_work: Some(1),
        ..IndexOptions::default()
    };
    assert_eq!(home.index_with(undated).indexed, 12);
    assert!(
        stored_snippets(&home)
            .iter()
            .all(|row| row[4] == "1" && row[6].is_empty()),
        "no clock, no date"
    );
}

#[test]
fn the_triples_that_encoders_read_are_ranked_as_is_wished() {
    use lodeseek_engine::Indexer;
    use lodeseek_snippet::Method;
    let home = Home::new();
    home.load(&testdata("catalog.ttl"));
    let by = |method| IndexOptions {
        compact_method: Some(method),
        ..IndexOptions::default()
    };
    let usual = home.index_with(IndexOptions::default());
    assert_eq!(home.index_with(by(Method::IlluSnipMax)).unchanged, 12);
    let id = lodeseek_catalog::DatasetId::new("soil-types").expect("an id");
    let card = |home: &Home| {
        home.searcher()
            .catalog()
            .card(&id)
            .expect("read")
            .expect("a card")
    };
    let triples = |home: &Home| {
        home.searcher()
            .catalog()
            .compact_document(&id)
            .expect("read")
            .expect("texts")
            .triples
    };
    let (before, heaviest) = (card(&home), triples(&home));
    assert!(
        !serde_json::to_string(&before)
            .expect("JSON")
            .contains("compact_method"),
        "the usual one is not told"
    );
    assert_eq!(
        home.index_with(by(Method::Patterns)).indexed,
        12,
        "another method makes every dataset anew"
    );
    let after = card(&home);
    assert_eq!(
        (before.snippet, "patterns"),
        (after.snippet, after.compact_method.as_str()),
        "what is shown stays"
    );
    let representatives = triples(&home);
    assert_ne!(representatives, heaviest);
    assert_eq!(
        home.index_with(IndexOptions::default()).unchanged,
        12,
        "as the index has it"
    );
    let shown = IndexOptions {
        snippet_method: Method::Patterns,
        ..by(Method::IlluSnipMax)
    };
    assert_eq!(
        (home.index_with(shown).indexed, triples(&home)),
        (12, heaviest),
        "whatever is shown"
    );
    assert_eq!(
        (
            home.index_with(by(Method::Patterns)).indexed,
            triples(&home)
        ),
        (12, representatives)
    );
    assert_eq!(
        home.searcher()
            .catalog()
            .compact_methods()
            .expect("read")
            .into_iter()
            .collect::<Vec<_>>(),
        ["patterns"]
    );
    let error = Indexer::new(&home.store, by(Method::Cover))
        .run(&|_| ())
        .expect_err("no query")
        .to_string();
    assert!(error.contains("requires a query"), "{error}");

    // A store of few files is left as it is. After a compaction everything is there.
    let indexer = Indexer::new(&home.store, by(Method::Patterns));
    let rows = stored_snippets(&home);
    assert!(!indexer.needs_compaction(&usual).expect("a folder"));
    home.store.optimize().expect("compacted");
    assert_eq!(stored_snippets(&home), rows);
}

#[test]
fn a_snippet_to_be_stored_needs_no_query() {
    use lodeseek_engine::Indexer;
    use lodeseek_snippet::Method;
    let home = Home::new();
    home.load(&testdata("catalog.ttl"));
    let options = IndexOptions {
        snippet_method: Method::Ksd,
        ..IndexOptions::default()
    };
    let error = Indexer::new(&home.store, options)
        .run(&|_| ())
        .expect_err("no query")
        .to_string();
    assert!(
        error.contains("ksd requires a query; methods without a query: illusnip"),
        "{error}"
    );
}

#[test]
fn cards_have_labels_in_several_languages() {
    let home = Home::from_catalog(&testdata("catalog.ttl"));
    let id = lodeseek_catalog::DatasetId::new("soil-types").expect("an id");
    let card = home
        .searcher()
        .catalog()
        .card(&id)
        .expect("read")
        .expect("a card");
    let names = |languages: &[&str]| -> BTreeSet<String> {
        let languages: Vec<String> = languages
            .iter()
            .map(|&language| language.to_owned())
            .collect();
        card.snippet_in(&languages)
            .into_iter()
            .map(|triple| triple.subject.label)
            .collect()
    };
    let (english, german, french) = (names(&["en"]), names(&["de", "en"]), names(&["fr-CH"]));
    assert!(
        english != german && german != french && english != french,
        "{english:?} {german:?} {french:?}"
    );
    assert_eq!(names(&["tlh", "de"]), german, "the first that there is");
    assert_eq!(
        (names(&["tlh"]), names(&["en", "de"])),
        (english.clone(), english),
        "else English"
    );
}

#[test]
fn a_snippet_is_a_part_of_its_dataset() {
    let home = Home::from_catalog(&testdata("catalog.ttl"));
    for (id, triples, _) in DATASETS {
        let dataset = home.iri(id);
        let select = format!(
            "PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> PREFIX l: <https://w3id.org/lodeseek/ns#>
             SELECT ?s ?p ?o {{ GRAPH <http://localhost:7878/snippets> {{ {dataset} l:snippet/l:statement ?statement .
               ?statement rdf:subject ?s ; rdf:predicate ?p ; rdf:object ?o ; l:rank ?rank }} }} ORDER BY ?rank"
        );
        let Ok(Answer::Solutions { rows, .. }) = home.ask(&select) else {
            panic!("{id}: no snippet")
        };
        assert!(
            (5..=20.min(triples as usize)).contains(&rows.len()),
            "{id}: {}",
            rows.len()
        );
        // Blank nodes were given names under the dataset's IRI; in a pattern each is a variable, the same throughout.
        let node = format!("{}#node-", dataset.trim_end_matches('>'));
        let term = |term: &Option<Term>| {
            let text = term.as_ref().expect("bound").to_string();
            match text.strip_prefix(&node) {
                Some(label) => format!("?b{}", label.trim_end_matches('>')),
                None => text,
            }
        };
        let pattern: Vec<String> = rows
            .iter()
            .map(|row| format!("{} {} {} .", term(&row[0]), term(&row[1]), term(&row[2])))
            .collect();
        let ask = |pattern: &str| {
            home.ask(&format!("ASK {{ GRAPH {dataset} {{ {pattern} }} }}"))
                .expect("an answer")
        };
        assert_eq!(
            ask(&pattern.join("\n")),
            Answer::Boolean(true),
            "{id}: {pattern:#?}"
        );
        assert_eq!(
            ask(&format!(
                "{} ?any <http://example.org/no> 1",
                pattern.join("\n")
            )),
            Answer::Boolean(false),
            "{id}"
        );
    }
}

#[test]
fn profiles_are_void_of_the_content() {
    let home = Home::from_catalog(&testdata("catalog.ttl"));
    for (id, triples, _) in DATASETS {
        let (dataset, void) = (home.iri(id), "PREFIX void: <http://rdfs.org/ns/void#>");
        let stated = |property: &str| {
            home.count(&format!(
                "{void} SELECT ?n {{ {dataset} void:{property} ?n }}"
            ))
        };
        let counted = |what: &str| {
            home.count(&format!(
                "SELECT (COUNT(DISTINCT {what}) AS ?n) {{ GRAPH {dataset} {{ ?s ?p ?o }} }}"
            ))
        };
        assert_eq!(stated("triples"), triples, "{id}");
        assert_eq!(stated("properties"), counted("?p"), "{id}");
        assert_eq!(stated("distinctSubjects"), counted("?s"), "{id}");
        assert_eq!(stated("distinctObjects"), counted("?o"), "{id}");
        let parts = home.count(&format!(
            "{void} SELECT (SUM(?t) AS ?n) {{ {dataset} void:propertyPartition/void:triples ?t }}"
        ));
        assert_eq!(parts, triples, "{id}");
    }
}

#[test]
fn a_datasets_iri_stands_for_its_graph() {
    let home = Home::from_catalog(&testdata("catalog.ttl"));
    let (trees, stops) = (home.iri("street-trees"), home.iri("transit-stops"));
    for (query, expected) in [
        (format!("SELECT (COUNT(*) AS ?n) FROM {trees} {{ ?s ?p ?o }}"), 105),
        (format!("SELECT (COUNT(*) AS ?n) FROM {trees} FROM {stops} {{ ?s ?p ?o }}"), 190),
        (format!("SELECT (COUNT(*) AS ?n) {{ GRAPH {trees} {{ ?s ?p ?o }} }}"), 105),
        (format!("SELECT (COUNT(*) AS ?n) FROM NAMED {trees} {{ GRAPH ?g {{ ?s ?p ?o }} }}"), 105),
        (format!("SELECT (COUNT(*) AS ?n) FROM NAMED {trees} {{ GRAPH {stops} {{ ?s ?p ?o }} }}"), 0),
        (format!("SELECT (COUNT(*) AS ?n) FROM {trees} {{ ?s ?p ?o FILTER EXISTS {{ GRAPH {stops} {{ ?a ?b ?c }} }} }}"), 0),
        (format!("SELECT (COUNT(*) AS ?n) {{ GRAPH {trees} {{ ?s ?p ?o }} FILTER EXISTS {{ GRAPH {stops} {{ ?a ?b ?c }} }} }}"), 105),
        ("SELECT (COUNT(*) AS ?n) { ?d a <http://www.w3.org/ns/dcat#Dataset> }".to_owned(), 12),
        ("SELECT (COUNT(DISTINCT ?g) AS ?n) { GRAPH ?g { ?s ?p ?o } }".to_owned(), 12),
        ("SELECT (COUNT(*) AS ?n) { ?d a <http://www.w3.org/ns/dcat#Dataset> GRAPH ?d {} }".to_owned(), 12),
        (
            "SELECT (COUNT(*) AS ?n) { <http://localhost:7878/dataset/street-trees> <https://w3id.org/lodeseek/ns#graph> ?g
               GRAPH ?g { ?s ?p ?o } }"
                .to_owned(),
            105,
        ),
    ] {
        assert_eq!(home.count(&query), expected, "{query}");
    }
    let node = |text: &str| NamedNode::new(text.trim_matches(['<', '>'])).expect("an IRI");
    let query = format!("SELECT (COUNT(*) AS ?n) FROM {stops} {{ ?s ?p ?o }}");
    let request = QueryRequest {
        query,
        default_graphs: vec![node(&trees)],
        ..QueryRequest::default()
    };
    let Ok(Answer::Solutions { rows, .. }) = home.queries.evaluate(&request, &limits()) else {
        panic!("no answer")
    };
    assert_eq!(
        rows[0][0],
        Some(oxrdf::Literal::from(105).into()),
        "the request's graphs win over FROM"
    );
}

#[test]
fn queries_are_bounded() {
    let home = Home::from_catalog(&testdata("catalog.ttl"));
    let evaluate = |query: &str, limits: &SparqlLimits| {
        home.queries.evaluate(
            &QueryRequest {
                query: query.to_owned(),
                ..QueryRequest::default()
            },
            limits,
        )
    };
    let few = SparqlLimits {
        rows: 5,
        ..limits()
    };
    for (query, cut) in [
        ("SELECT * { ?s ?p ?o } LIMIT 5", false),
        ("SELECT * { ?s ?p ?o } LIMIT 6", true),
        ("CONSTRUCT WHERE { ?s ?p ?o } LIMIT 5", false),
        ("CONSTRUCT WHERE { ?s ?p ?o }", true),
    ] {
        let answer = evaluate(query, &few).expect("an answer");
        let rows = match &answer {
            Answer::Solutions { rows, .. } => rows.len(),
            Answer::Graph { triples, .. } => triples.len(),
            Answer::Boolean(_) => 0,
        };
        assert_eq!((rows, answer.is_truncated()), (5, cut), "{query}");
    }

    let soon = SparqlLimits {
        deadline: Duration::from_millis(50),
        ..limits()
    };
    let slow = "SELECT (COUNT(*) AS ?n) { { SELECT * { ?a ?b ?c } LIMIT 4000 } { SELECT * { ?d ?e ?f } LIMIT 4000 } }";
    assert!(matches!(
        evaluate(slow, &soon),
        Err(SparqlError::Deadline(_))
    ));

    let few = SparqlLimits {
        combinations: 1000,
        ..limits()
    };
    let values = format!("VALUES ?a {{ {0} }} VALUES ?b {{ {0} }}", "1 ".repeat(32));
    let patterns = "?a ?b ?c . ".repeat(201);
    let path = format!("?s <a:b>{} ?o", "/<a:b>".repeat(201));
    for large in [values, patterns, path] {
        let answer = evaluate(&format!("SELECT (COUNT(*) AS ?n) {{ {large} }}"), &few);
        assert!(
            matches!(answer, Err(SparqlError::TooLarge(_))),
            "{answer:?}"
        );
    }
    let little = SparqlLimits {
        memory_megabytes: 50,
        deadline: Duration::from_secs(120),
        ..limits()
    };
    let greedy = "SELECT DISTINCT * { { SELECT * { ?a ?b ?c } LIMIT 600 } { SELECT * { ?d ?e ?f } LIMIT 600 } } ORDER BY ?c";
    assert!(matches!(
        evaluate(greedy, &little),
        Err(SparqlError::Memory(50))
    ));

    let deep = format!(
        "SELECT * {{ {} ?s ?p ?o {} }}",
        "{".repeat(17),
        "}".repeat(17)
    );
    assert!(matches!(
        evaluate(&deep, &limits()),
        Err(SparqlError::TooLarge(_))
    ));
    let small = SparqlLimits {
        query_bytes: 10,
        ..limits()
    };
    assert!(matches!(
        evaluate("SELECT * { ?s ?p ?o }", &small),
        Err(SparqlError::TooLarge(_))
    ));
    let none = SparqlLimits {
        concurrent: 0,
        waiting: 0,
        ..limits()
    };
    assert!(matches!(
        evaluate("ASK {}", &none),
        Err(SparqlError::Busy(_))
    ));

    let elsewhere = evaluate(
        "SELECT * { SERVICE <http://127.0.0.1:9/sparql> { ?s ?p ?o } }",
        &limits(),
    );
    assert!(
        matches!(&elsewhere, Err(SparqlError::Refused(reason)) if reason.contains("127.0.0.1")),
        "{elsewhere:?}"
    );
    assert!(matches!(
        evaluate("INSERT DATA { <a:b> <a:b> <a:b> }", &limits()),
        Err(SparqlError::Refused(_))
    ));
    assert!(matches!(
        evaluate("SELECT", &limits()),
        Err(SparqlError::Syntax(_))
    ));
}

#[test]
fn deep_queries_are_answered_or_refused_but_never_fatal() {
    let home = Home::new();
    let ask = |before: &str, inside: &str, after: &str, times: usize| {
        home.ask(&format!(
            "ASK {{ {}{inside}{} }}",
            before.repeat(times),
            after.repeat(times)
        ))
    };
    let filter = |before: &str, times: usize| {
        home.ask(&format!(
            "ASK {{ FILTER({}true{}) }}",
            before.repeat(times),
            ")".repeat(times)
        ))
    };
    let answered = |answer| assert!(matches!(answer, Ok(Answer::Boolean(_))), "{answer:?}");
    let refused = |answer| {
        assert!(
            matches!(answer, Err(SparqlError::TooLarge(_))),
            "{answer:?}"
        )
    };
    answered(ask("{", "", "}", 15));
    answered(ask("FILTER NOT EXISTS { ?s ?p ?o ", "", "}", 15));
    answered(filter("(", 140));
    answered(filter("!(", 8));
    refused(ask("{", "", "}", 17));
    // The parser cannot be interrupted: each of these is the smallest query beyond its limit.
    refused(ask(
        "{ SELECT ?s { ",
        "?s ?p ?o",
        "} GROUP BY ?s HAVING(COUNT(*) > 0) }",
        9,
    ));
    refused(filter("!(", 9));
    refused(filter("!EXISTS { ?s ?p ?o } && !(", 9));
    // Every bracket seems to be closed at once.
    refused(filter("( #)\n", 151));
    refused(filter("(1<'>)'+", 151));
}

#[cfg(feature = "rocksdb")]
mod on_disk {
    use super::super::support::{count, open, run};
    use super::*;
    use lodeseek_store::{Access, ReadContent, Store, StoreError, is_home, read_content};
    use std::sync::Arc;

    #[test]
    fn what_was_loaded_is_there_after_opening_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let base = "https://data.example.org/";
        assert_eq!(
            run(
                folder.path(),
                &["load", "testdata/catalog.ttl", "--base", base]
            )
            .code,
            Some(0)
        );
        let store = Arc::new(open(folder.path(), Access::Read, None).expect("a home"));
        let entries = store.entries().expect("entries");
        assert_eq!(entries.len(), 12);
        for entry in &entries {
            let id = &entry.dataset.metadata.id;
            let query = format!(
                "SELECT (COUNT(*) AS ?n) FROM {} {{ ?s ?p ?o }}",
                store.iris().dataset(id)
            );
            assert!(query.contains("<https://data.example.org/"));
            let content = read_content(folder.path(), &entry.version).expect("a graph file");
            let ReadContent::Complete(content) = content else {
                panic!("{content:?}")
            };
            assert_eq!(count(&store, &query), content.len() as u64, "{id}");
        }
    }

    #[test]
    fn one_writer_or_many_readers() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path();
        assert!(matches!(
            Store::open(home, Access::Read, None),
            Err(StoreError::NoHome { .. })
        ));
        let writer = Store::open(home, Access::Write, None).expect("a home");
        for access in [Access::Read, Access::Write] {
            assert!(matches!(
                Store::open(home, access, None),
                Err(StoreError::InUse { .. })
            ));
        }
        drop(writer);
        let _readers = [(); 2].map(|()| open(home, Access::Read, None).expect("a reader"));
        assert!(matches!(
            Store::open(home, Access::Write, None),
            Err(StoreError::InUse { .. })
        ));
    }

    #[test]
    fn a_home_keeps_its_base() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path().join("home");
        let open = |base| open(&home, Access::Write, Some(base));
        assert!(matches!(open("ftp://e.org/"), Err(StoreError::Base(_))));
        assert!(
            !home.exists() && !is_home(&home),
            "a refused base leaves nothing behind"
        );
        drop(open("http://e.org/").expect("a home"));
        assert!(matches!(
            open("http://e.com/"),
            Err(StoreError::OtherBase { .. })
        ));
        assert_eq!(
            open("http://e.org/").expect("the same base").iris().base(),
            "http://e.org/"
        );
        fs::write(home.join("lodeseek.toml"), "base = 3").expect("written");
        assert!(matches!(
            Store::open(&home, Access::Read, None),
            Err(StoreError::Settings { .. })
        ));
    }
}

/// A share that is not mounted during a nightly load must not empty the collection.
#[test]
fn a_dump_that_cannot_be_read_any_more_costs_nothing() {
    let folder = copy_of_testdata();
    let catalog = folder.path().join("catalog.ttl");
    let home = Home::from_catalog(&catalog);
    fs::remove_file(folder.path().join("dumps/chesapeake-water.ttl")).expect("removed");
    let report = home.load(&catalog);
    assert_eq!(outcomes(&report)["chesapeake-water"], DatasetOutcome::Kept);
    let water = home.iri("chesapeake-water");
    assert_eq!(
        home.count(&format!(
            "SELECT (COUNT(*) AS ?n) FROM {water} {{ ?s ?p ?o }}"
        )),
        103
    );
    assert_eq!(home.found("Susquehanna"), ["chesapeake-water"]);
}

#[test]
fn an_agent_that_is_named_anew_loses_its_old_name() {
    let folder = copy_of_testdata();
    let catalog = folder.path().join("catalog.ttl");
    let text = fs::read_to_string(&catalog).expect("readable");
    let agent = "<http://example.org/agent/parks>";
    let text = text.replace("[ a foaf:Agent ; foaf:name \"Parks Department\" ]", agent);
    let named = |name: &str| {
        fs::write(
            &catalog,
            format!("{text}\n{agent} foaf:name \"{name}\" .\n"),
        )
        .expect("written")
    };
    named("Oldname");
    let home = Home::from_catalog(&catalog);
    named("Newname");
    assert_eq!(
        outcomes(&home.load(&catalog))["street-trees"],
        DatasetOutcome::Replaced
    );
    home.index();
    assert_eq!(
        (home.found("newname"), home.found("oldname")),
        (vec!["street-trees".to_owned()], vec![])
    );
    let names =
        format!("SELECT (COUNT(*) AS ?n) {{ {agent} <http://xmlns.com/foaf/0.1/name> ?name }}");
    assert_eq!(home.count(&names), 1);
}
