//! Identity of datasets: loads, reloads and harvests replace their own datasets and no others.

use super::support::{Ran, run};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

struct Workplace(TempDir);

impl Workplace {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn home(&self) -> PathBuf {
        self.0.path().join("home")
    }

    fn write(&self, name: &str, content: &str) -> String {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(&path, content).expect("written");
        path.to_str().expect("UTF-8").to_owned()
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        run(&self.home(), arguments)
    }

    /// Runs a command that succeeds.
    fn succeed(&self, arguments: &[&str]) -> String {
        let Ran { code, err, .. } = self.run(arguments);
        assert_eq!(code, Some(0), "{arguments:?}: {err}");
        err
    }

    fn titles(&self) -> Vec<String> {
        titles(&self.home())
    }
}

/// Returns id and title of each dataset.
pub(crate) fn titles(home: &Path) -> Vec<String> {
    let listed = run(home, &["list", "--json"]);
    let listed: Value = serde_json::from_str(&listed.out).unwrap_or_else(|_| panic!("{listed:?}"));
    let datasets = listed
        .as_array()
        .or_else(|| listed["datasets"].as_array())
        .expect("a list");
    let text = |dataset: &Value, key: &str| dataset[key].as_str().expect("a text").to_owned();
    datasets
        .iter()
        .map(|dataset| format!("{} {}", text(dataset, "id"), text(dataset, "title")))
        .collect()
}

/// Returns a catalogue of datasets without IRIs: (identifier, title).
pub(crate) fn catalog(datasets: &[(&str, &str)]) -> String {
    let entry = |(id, title): &(&str, &str)| {
        format!(r#"{{"identifier": "{id}", "title": "{title}", "keyword": ["wood"]}}"#)
    };
    format!(
        r#"{{"dataset": [{}]}}"#,
        datasets.iter().map(entry).collect::<Vec<_>>().join(",")
    )
}

#[test]
fn two_catalogues_with_equal_ids_are_kept_apart() {
    let place = Workplace::new();
    let north = place.write("north.json", &catalog(&[("1", "Firs"), ("2", "Yews")]));
    let south = place.write("south.json", &catalog(&[("1", "Palms"), ("2", "Figs")]));
    place.succeed(&["load", &north]);
    let report = place.write("report.json", "");
    let loaded = place.succeed(&["load", &south, "--report", &report]);
    for part in [
        "\"Palms\" has the id south-1, because 1 is \"Firs\" from",
        "north.json",
        "south-2",
    ] {
        assert!(loaded.contains(part), "{part}: {loaded}");
    }
    let report: Value = serde_json::from_slice(&fs::read(report).expect("a report")).expect("JSON");
    assert_eq!(
        (
            &report["id_conflicts"][0]["id"],
            &report["id_conflicts"][0]["new_id"]
        ),
        (&"1".into(), &"south-1".into())
    );
    let all = ["1 Firs", "2 Yews", "south-1 Palms", "south-2 Figs"];
    assert_eq!(place.titles(), all);

    // Both sources find their own datasets again.
    let again = place.succeed(&["load", &south]);
    assert!(again.contains("2 datasets: 2 unchanged"), "{again}");
    place.write(
        "north.json",
        &catalog(&[("1", "Silver firs"), ("2", "Yews")]),
    );
    let corrected = place.succeed(&["load", &north]);
    assert!(corrected.contains("1 replaced, 1 unchanged"), "{corrected}");
    assert_eq!(
        place.titles(),
        ["1 Silver firs", "2 Yews", "south-1 Palms", "south-2 Figs"]
    );

    // Replacement must be requested. The dataset then has one id.
    let replaced = place.succeed(&["load", &south, "--replace"]);
    assert!(
        replaced.contains("\"Palms\" has replaced 1, which was \"Silver firs\""),
        "{replaced}"
    );
    assert!(replaced.contains("it is no longer south-1"), "{replaced}");
    assert_eq!(place.titles(), ["1 Palms", "2 Figs"]);
    place.succeed(&["load", &north]);
    assert_eq!(
        place.titles(),
        ["1 Palms", "2 Figs", "north-1 Silver firs", "north-2 Yews"]
    );
}

#[test]
fn a_moved_catalogue_with_iris_replaces_its_datasets() {
    let place = Workplace::new();
    let turtle = |title: &str| {
        format!(
            "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .
             <http://woods.example/1> a dcat:Dataset ; dct:identifier \"1\" ; dct:title \"{title}\" ;
               dcat:distribution [ dcat:downloadURL <firs.nt> ] ."
        )
    };
    let dump = |folder: &str, text: &str| {
        place.write(
            &format!("{folder}/firs.nt"),
            &format!("<http://woods.example/a> <http://e.example/p> \"{text}\" .\n"),
        )
    };
    dump("old", "1");
    dump("new", "2");
    place.succeed(&["load", &place.write("old/c.ttl", &turtle("Firs"))]);
    let moved = place.succeed(&[
        "load",
        &place.write("new/corrected.ttl", &turtle("Silver firs")),
    ]);
    assert!(
        moved.contains("1 replaced") && !moved.contains("because"),
        "{moved}"
    );
    assert_eq!(place.titles(), ["1 Silver firs"]);
    // A dump without a description is known by its file.
    let first = dump("a", "3");
    place.succeed(&["load", &first]);
    dump("a", "4");
    assert!(place.succeed(&["load", &first]).contains("1 replaced"));
    let other = place.succeed(&["load", &dump("b", "5")]);
    assert!(other.contains("because firs is \"firs\""), "{other}");
    assert_eq!(place.titles().len(), 3);
}

#[test]
fn a_grown_feed_renames_nothing() {
    let place = Workplace::new();
    let url = |part: &str| format!("https://woods.example/{part}/table");
    let feed = place.write("feed.json", &catalog(&[(&url("a"), "A")]));
    for command in ["load", "harvest"] {
        let place = Workplace::new();
        fs::write(&feed, catalog(&[(&url("a"), "A")])).expect("written");
        place.succeed(&[command, &feed]);
        assert_eq!(place.titles(), ["table A"]);
        fs::write(&feed, catalog(&[(&url("b"), "B"), (&url("a"), "A")])).expect("written");
        let grown = place.succeed(&[command, &feed]);
        assert_eq!(
            place.titles(),
            ["b-table B", "table A"],
            "{command}: {grown}"
        );
        let again = place.succeed(&[command, &feed]);
        assert!(again.contains("2 unchanged"), "{command}: {again}");
    }
}

#[test]
fn a_dataset_that_is_listed_twice_is_a_failure_and_hides_no_other() {
    let place = Workplace::new();
    let text = catalog(&[("1", "Firs"), ("2", "Yews"), ("1", "Spruces")]);
    let feed = place.write("feed.json", &text);
    let loaded = place.run(&["load", &feed]);
    assert_eq!(loaded.code, Some(1), "{loaded:?}");
    assert!(
        ["not loaded: ", "\"Spruces\"", "the identifier 1"]
            .iter()
            .all(|part| loaded.err.contains(part)),
        "{loaded:?}"
    );
    let place = Workplace::new();
    let harvested = place.run(&["harvest", &feed]);
    assert!(
        harvested.code == Some(1) && harvested.err.contains("\"Spruces\""),
        "{harvested:?}"
    );
    assert!(!harvested.err.contains("incomplete"), "{harvested:?}");
    fs::write(&feed, catalog(&[("1", "Firs"), ("1", "Spruces")])).expect("written");
    let harvested = place.run(&["harvest", &feed]);
    assert!(
        harvested.code == Some(1) && harvested.err.contains("1 gone (1 removed)"),
        "{harvested:?}"
    );
    assert_eq!(place.titles(), ["1 Firs"]);
}

#[test]
fn a_load_and_a_harvest_do_not_replace_each_other() {
    let place = Workplace::new();
    let feed = place.write("feed.json", &catalog(&[("1", "Firs")]));
    let file = place.write("file.json", &catalog(&[("1", "Palms")]));
    place.succeed(&["harvest", &feed]);
    let loaded = place.succeed(&["load", &file]);
    assert!(
        loaded.contains("has the id file-1, because 1 is \"Firs\" from"),
        "{loaded}"
    );
    place.write("feed.json", &catalog(&[("1", "Silver firs")]));
    place.succeed(&["harvest", &feed]);
    assert_eq!(place.titles(), ["1 Silver firs", "file-1 Palms"]);
    // A dataset that replaced a harvested one stays.
    place.succeed(&["load", &file, "--replace"]);
    assert_eq!(place.titles(), ["1 Palms"]);
    place.succeed(&["harvest", &feed]);
    let titles = place.titles();
    assert!(
        titles.len() == 2 && titles[0] == "1 Palms" && titles[1].ends_with("Silver firs"),
        "{titles:?}"
    );
    place.write("feed.json", &catalog(&[("3", "Yews")]));
    place.succeed(&["harvest", &feed]);
    assert_eq!(place.titles(), ["1 Palms", "3 Yews"]);
}

#[test]
fn problems_of_a_catalogue_are_counted_by_kind() {
    let place = Workplace::new();
    let long = "x".repeat(100_001);
    let entries: Vec<String> = (0..5)
        .map(|number| {
            format!(r#"{{"dataset_id": "d{number}", "title": "T", "description": "{long}"}}"#)
        })
        .collect();
    let list = place.write(
        "list.json",
        &format!("[{},{{\"title\": \"no id\"}}]", entries.join(",")),
    );
    let report = place.write("report.json", "");
    let loaded = place.run(&["load", &list, "--report", &report]);
    let expected = [
        "catalogue: 5 like dataset d0: description: left out",
        "entry 6: no `dataset_id` or `id`",
    ];
    assert!(
        expected.iter().all(|part| loaded.err.contains(part)),
        "{loaded:?}"
    );
    let report: Value = serde_json::from_slice(&fs::read(report).expect("a report")).expect("JSON");
    let kinds = report["catalog_problem_kinds"].as_array().expect("kinds");
    assert_eq!(
        (kinds.len(), &kinds[0]["count"], &kinds[0]["dataset"]),
        (2, &5.into(), &"d0".into())
    );
    assert_eq!(
        (
            &kinds[0]["property"],
            report["catalog_problems"].as_array().map(Vec::len)
        ),
        (&"description".into(), Some(6))
    );
}
