//! Queries in other languages than the collection, by a dictionary of the home.

use super::http::Site;
use super::support::{Home, limits, testdata};
#[cfg(feature = "rocksdb")]
use super::support::{program, run};
use lodeseek_catalog::DatasetId;
use lodeseek_engine::{
    AnalysisKind, DictionaryFile, IndexOptions, LabelCollector, Updater, read_dictionary,
    update_own_translations, write_translations,
};
use lodeseek_index::Analysis;
use lodeseek_rdf::dump::DumpReader;
use serde_json::Value;
#[cfg(feature = "rocksdb")]
use std::fs;

/// Returns the collection of `testdata/` with the dictionary of its thesaurus.
fn home() -> Home {
    let home = Home::new();
    home.load(&testdata("catalog.ttl"));
    home.index_with(IndexOptions {
        analysis: Some(AnalysisKind::Multilingual),
        ..IndexOptions::default()
    });
    let mut labels = LabelCollector::default();
    let thesaurus = testdata("thesaurus.ttl");
    let reports =
        DumpReader::default().read_file(&thesaurus, "thesaurus.ttl", "file:///", &mut labels);
    assert!(
        reports.iter().all(|report| report.problems.is_empty()),
        "{reports:?}"
    );
    write_translations(home.path(), labels.into_dictionary(["en"])).expect("written");
    let analysis = Analysis::new(AnalysisKind::Multilingual);
    update_own_translations(&home.store, &analysis).expect("written");
    home
}

/// Returns the output of a search by words. The tests' program expects another analysis.
#[cfg(feature = "rocksdb")]
fn search(home: &std::path::Path, arguments: &[&str]) -> String {
    let mut command = program(home);
    command
        .env("LODESEEK_ANALYSIS", "multilingual")
        .arg("search")
        .args(arguments);
    String::from_utf8(command.output().expect("run").stdout).expect("UTF-8")
}

fn first_id(answer: &Value) -> &str {
    answer["hits"][0]["id"].as_str().unwrap_or_default()
}

#[tokio::test]
async fn a_query_in_german_finds_datasets_in_english() {
    let (app, folder) = home().serve(limits());
    let site = Site::behind(app, folder);
    let found = site
        .get("/api/search?q=Plan+zur+Stickstoffminderung")
        .await
        .json();
    assert_eq!(first_id(&found), "chesapeake-water", "{found}");
    let part = &found["interpretations"][0];
    assert_eq!(
        (&part["kind"], &part["text"], &part["language"]),
        (&"translation".into(), &"stickstoff".into(), &"de".into())
    );
    assert_eq!(part["translations"][0], "nitrogen");
    let literal = site
        .get("/api/search?q=Stickstoffminderung&literal=true")
        .await
        .json();
    assert_eq!(
        (&literal["withWords"], literal.get("interpretations")),
        (&0.into(), None)
    );
    let page = site.get("/?q=Stickstoff&lang=en").await.body;
    assert!(
        page.contains("“stickstoff” as nitrogen") && page.contains("literal=true"),
        "{page}"
    );
    let french = site
        .get("/api/search?q=r%C3%A9duction+de+l%27azote")
        .await
        .json();
    assert_eq!(
        (first_id(&french), french["terms"].as_array().map(Vec::len)),
        ("chesapeake-water", Some(2)),
        "{french}"
    );
}

#[test]
fn topics_are_translated_and_queries_in_english_are_not() {
    let home = home();
    assert_eq!(home.found("Stickstoffminderung")[0], "chesapeake-water");
    let translated = home
        .searcher()
        .rank("nitrogen reduction plan", 100)
        .expect("ranked");
    lodeseek_engine::remove_translations(home.path(), DictionaryFile::Operator).expect("removed");
    assert!(home.found("Stickstoffminderung").is_empty());
    assert_eq!(
        home.searcher()
            .rank("nitrogen reduction plan", 100)
            .expect("ranked"),
        translated
    );
}

/// Two files: a dataset in English, and a thesaurus in English and German.
#[test]
fn the_labels_of_the_collection_translate_queries() {
    let folder = tempfile::tempdir().expect("a folder");
    let home = Home::new();
    let options = IndexOptions {
        analysis: Some(AnalysisKind::Multilingual),
        ..IndexOptions::default()
    };
    let write = |name: &str, triples: &str| {
        let text = format!(
            "@prefix skos: <http://www.w3.org/2004/02/skos/core#> . @prefix dct: <http://purl.org/dc/terms/> .
             @base <http://example.org/{name}/> . {triples}"
        );
        let path = folder.path().join(format!("{name}.ttl"));
        std::fs::write(&path, text).expect("written");
        path
    };
    home.load(&write(
        "lakes",
        "<a> dct:title \"depth of the lakes\"@en ; dct:description \"lake depths\"@en .",
    ));
    home.index_with(options);
    let own = || read_dictionary(home.path(), DictionaryFile::Own).expect("read");
    assert!(own().is_none(), "no labels in several languages");
    assert!(home.found("Gewässertiefe").is_empty());
    let searcher = home.searcher();
    let thesaurus = write(
        "thesaurus",
        "<t> skos:prefLabel \"lake\"@en, \"Gewässer\"@de, \"sø\"@dk . <u> skos:prefLabel \"depth\"@en, \"Tiefe\"@de .",
    );
    home.load(&thesaurus);
    home.index_with(options);
    let lakes = home.found("depth of lakes")[0].clone();
    assert!(home.found("Gewässertiefe").contains(&lakes));
    let found = searcher.rank("Gewässertiefe", 10).expect("ranked");
    assert!(
        !found.is_empty(),
        "an open searcher reads the new dictionary"
    );
    let dictionary = own().expect("a dictionary");
    assert_eq!(dictionary.targets().collect::<Vec<_>>(), ["en"]);
    assert_eq!(dictionary.sources(), [("da", 1), ("de", 2)]);
    assert_eq!(dictionary.origins().len(), 1);
    let id = home
        .found("Gewässer")
        .into_iter()
        .find(|id| *id != lakes)
        .expect("the thesaurus");
    let id = DatasetId::new(id).expect("an id");
    Updater::new(&home.store, Default::default(), options)
        .remove(&[id])
        .expect("removed");
    assert!(own().is_none(), "its labels are removed with it");
}

#[cfg(feature = "rocksdb")]
#[test]
fn the_command_creates_lists_and_removes_the_dictionary() {
    let folder = home().into_folder();
    let home = folder.path();
    let thesaurus = testdata("thesaurus.ttl");
    let thesaurus = thesaurus.to_str().expect("UTF-8");
    run(home, &["translations", "--remove"]);
    let own = run(home, &["translations"]).out;
    assert!(
        own.starts_with("labels of the collection, translated into "),
        "{own}"
    );
    let own = own.replace("English, German", "English");
    let listed = run(home, &["translations", thesaurus]).out;
    assert_eq!(
        listed,
        format!(
            "{own}labels of files, translated into English:\n        7 German\n        6 French\n"
        )
    );
    let found = search(home, &["--json", "Stickstoffminderung"]);
    assert_eq!(
        first_id(&serde_json::from_str(&found).expect("JSON")),
        "chesapeake-water"
    );
    assert!(
        search(home, &["Stickstoff"])
            .contains("interpreted: German “stickstoff” as nitrogen (--literal")
    );
    let listed = run(home, &["translations", "--to", "de", thesaurus]).out;
    assert!(
        listed.contains("labels of the collection, translated into German:")
            && listed.ends_with(
                "labels of files, translated into German:\n        7 English\n        6 French\n"
            ),
        "{listed}"
    );
    let no_file = program(home)
        .args(["translations", "nothing.ttl"])
        .output()
        .expect("run");
    assert_eq!(no_file.status.code(), Some(2));
    let unknown = program(home)
        .args(["translations", "--to", "fi", thesaurus])
        .output()
        .expect("run");
    let error = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert!(
        unknown.status.code() == Some(2) && error.contains("in fi and in another language"),
        "{error}"
    );
    assert!(
        run(home, &["translations"]).out.contains("into German"),
        "the former dictionary remains"
    );
    run(home, &["translations", "--remove"]);
    let listed = run(home, &["translations"]).out;
    assert!(
        listed.starts_with("labels of the collection") && !listed.contains("of files"),
        "{listed}"
    );
    let twice = program(home)
        .args(["translations", "--remove"])
        .output()
        .expect("run");
    assert_eq!(twice.status.code(), Some(1), "nothing to remove");
}

#[cfg(feature = "rocksdb")]
#[test]
fn damaged_labels_of_a_dataset_are_extracted_again() {
    let folder = home().into_folder();
    let home = folder.path();
    let path = fs::read_dir(home.join("graphs"))
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .find(|path| path.extension().is_some_and(|end| end == "labels"))
        .expect("labels of a dataset");
    let expected = fs::read(&path).expect("read");
    fs::write(&path, "damaged").expect("written");
    let verified = program(home).arg("verify").output().expect("run");
    let report = String::from_utf8_lossy(&verified.stdout).into_owned();
    assert!(
        verified.status.code() == Some(1) && report.contains("labels of "),
        "{report}"
    );
    let repaired = run(home, &["repair"]).out;
    assert!(repaired.contains("no damage remains"), "{repaired}");
    assert_eq!(fs::read(&path).expect("read"), expected);
}

#[cfg(feature = "rocksdb")]
#[test]
fn backups_contain_the_dictionary_and_verification_finds_damage() {
    let folder = home().into_folder();
    let (home, copies) = (folder.path(), tempfile::tempdir().expect("a folder"));
    let (backup, restored) = (copies.path().join("backup"), copies.path().join("restored"));
    run(home, &["backup", backup.to_str().expect("UTF-8")]);
    run(&restored, &["restore", backup.to_str().expect("UTF-8")]);
    let path = restored.join("translations.tsv");
    let mut bytes = fs::read(&path).expect("restored");
    assert_eq!(
        bytes,
        fs::read(home.join("translations.tsv")).expect("written")
    );
    let last = bytes.len() - 2;
    bytes[last] ^= 1;
    fs::write(&path, bytes).expect("written");
    let searched = program(&restored)
        .args(["search", "Stickstoff"])
        .output()
        .expect("run");
    let error = String::from_utf8_lossy(&searched.stderr).into_owned();
    assert!(
        searched.status.code() == Some(2) && error.contains("translations.tsv"),
        "{error}"
    );
    let verified = program(&restored).args(["verify"]).output().expect("run");
    assert!(
        String::from_utf8_lossy(&verified.stdout).contains("translations: translations.tsv"),
        "{verified:?}"
    );
    let repaired = program(&restored).args(["repair"]).output().expect("run");
    let report = String::from_utf8_lossy(&repaired.stdout).into_owned();
    assert!(
        repaired.status.code() == Some(1)
            && report.contains("run `lodeseek translations` with its files again")
    );
    assert!(search(&restored, &["nitrogen"]).contains("chesapeake-water"));
}
