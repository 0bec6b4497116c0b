//! Catalogues of every form: what is read of them, and that nothing of it is lost on the way through the store's graph.

use super::support::{root, testdata};
use lodeseek_catalog::{Catalog, Dataset, Iris, dcat};
use lodeseek_rdf::{TripleGraph, TripleGraphBuilder};
use oxrdf::Triple;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the folder of real catalogues; without it the test prints that it was skipped.
#[expect(
    clippy::print_stderr,
    reason = "whoever runs the tests must see what was not tested"
)]
fn real(test: &str) -> Option<PathBuf> {
    let data = match std::env::var_os("LODESEEK_DATA") {
        Some(folder) => PathBuf::from(folder),
        None => root().join("../shared/data"),
    };
    let folder = data.join("catalogs");
    if !folder.is_dir() {
        eprintln!(
            "SKIPPED {test}: there is no {}; LODESEEK_DATA names the folder above it",
            folder.display()
        );
        return None;
    }
    Some(folder)
}

fn iris() -> Iris {
    Iris::new(Iris::DEFAULT_BASE).expect("the default")
}

fn graph_of(triples: &[Triple]) -> TripleGraph {
    let mut builder = TripleGraphBuilder::new();
    for triple in triples {
        builder.insert(triple.as_ref());
    }
    builder.finish()
}

fn lines(triples: &[Triple]) -> BTreeSet<String> {
    triples.iter().map(ToString::to_string).collect()
}

/// Out and in again, twice: the same graph, of which every subject is the dataset, a part of it, or a resource that the
/// catalogue describes.
fn round_trip(dataset: &Dataset, file: &str) {
    let difference = difference(dataset);
    assert!(difference.is_none(), "{file}: {difference:?}");
}

fn difference(dataset: &Dataset) -> Option<String> {
    let node = iris().dataset(&dataset.metadata.id);
    let first = dcat::to_triples(dataset, &iris());
    let read = dcat::from_triples(&graph_of(&first), &node).expect("described");
    let second = dcat::to_triples(&read, &iris());
    let (first, second) = (lines(&first), lines(&second));
    let (lost, new): (Vec<_>, Vec<_>) = (
        first.difference(&second).collect(),
        second.difference(&first).collect(),
    );
    let blank = first
        .iter()
        .find(|line| line.contains("_:") && !line.contains('"'));
    let inner = first.iter().find(|line| line.contains("catalog-folder"));
    let same = lost.is_empty() && new.is_empty() && blank.is_none() && inner.is_none();
    (!same).then(|| format!("{node}: lost {lost:#?} new {new:#?} {blank:?} {inner:?}"))
}

fn read(path: &Path) -> Catalog {
    Catalog::read(path).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn real_catalogues_hold_what_was_counted_in_them() {
    let Some(folder) = real("real_catalogues_hold_what_was_counted_in_them") else {
        return;
    };
    let table = fs::read_to_string(testdata("catalogs.tsv")).expect("a table");
    let mut wrong = Vec::new();
    for row in table.lines().filter(|line| !line.starts_with('#')) {
        let mut cells = row.split('\t');
        let (Some(file), Some(form), Some(count)) = (cells.next(), cells.next(), cells.next())
        else {
            panic!("catalogs.tsv: {row:?} lacks a cell");
        };
        let catalog = read(&folder.join(file));
        let (all, nameless) = count.split_once('-').unwrap_or((count, "0"));
        let number = |text: &str| {
            text.parse::<usize>()
                .unwrap_or_else(|_| panic!("catalogs.tsv: {row:?}"))
        };
        let expected = (number(all) - number(nameless), number(nameless), form);
        let nameless = catalog
            .problems
            .iter()
            .filter(|problem| problem.contains("no id: "))
            .count();
        if (catalog.datasets.len(), nameless, catalog.dialect.name()) != expected {
            let ids: Vec<&str> = catalog
                .datasets
                .iter()
                .map(|dataset| dataset.metadata.id.as_str())
                .take(12)
                .collect();
            wrong.push(format!(
                "{file}: {} {} for {form} {count}: {ids:?} {:?}",
                catalog.dialect.name(),
                catalog.datasets.len(),
                catalog.problems
            ));
        }
        let differences = catalog.datasets.iter().filter_map(difference);
        wrong.extend(differences.map(|difference| format!("{file}: {difference}")));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let rows = table.lines().filter(|line| !line.starts_with('#')).count();
    let files = fs::read_dir(&folder).expect("a folder").count() - 1; // without MANIFEST.json
    assert_eq!(rows, files, "every file has its row");
}

/// (sample, form, ids, number of problems)
const SAMPLES: &[(&str, &str, &[&str], usize)] = &[
    ("ckan.json", "ckan", &["river-levels"], 2),
    ("ckan-languages.json", "ckan", &["mill-ponds"], 0),
    ("packages.jsonl", "ckan", &["lime-kilns"], 2),
    ("data.json", "data.json", &["parking"], 1),
    ("lod-cloud.json", "lod-cloud", &["bird-names"], 0),
    ("page.html", "schema.org", &["tides"], 0),
    ("page-scripts.html", "schema.org", &["routes"], 2),
    ("croissant.jsonld", "schema.org", &["Leaf-photos"], 1),
    ("croissant-fields.json", "schema.org", &["shells"], 0),
    ("ro-crate.json", "ro-crate", &["Levels-of-a-river"], 0),
    ("void.ttl", "void", &["hills"], 0),
    ("registry.jsonld", "registry", &["mo"], 0),
    ("dcat.ttl", "dcat", &["elms", "oaks", "series"], 1),
    ("dcat-us.json", "dcat", &["berths", "berths-2025"], 0),
    ("dcat-us-places.json", "dcat", &["quarries"], 0),
    ("data-package.json", "data-package", &["bell-towers"], 0),
    ("datacite.json", "datacite", &["10.99999/echoes"], 0),
    ("datacite.xml", "datacite", &["10.99999/kites"], 0),
    ("iso-19139.xml", "iso-19139", &["marshes"], 2),
    ("iso-19115-3.xml", "iso-19139", &["dunes"], 0),
    ("oai-dublin-core.xml", "oai-pmh", &["lamps"], 1),
    ("stac.json", "stac", &["cloud-photos"], 0),
    ("ogc-records.json", "ogc-records", &["ferries"], 0),
    ("csvw.json", "csvw", &["Wells-and-springs"], 0),
];

/// The triples of a catalogue, a line each, in order.
fn description(catalog: &Catalog) -> BTreeSet<String> {
    catalog
        .datasets
        .iter()
        .flat_map(|dataset| lines(&dcat::to_triples(dataset, &iris())))
        .collect()
}

#[test]
fn every_dialect_is_told_as_dcat() {
    let mut wrong = Vec::new();
    for (name, form, ids, problems) in SAMPLES {
        let catalog = read(&testdata("catalogs").join(name));
        let mut read: Vec<&str> = catalog
            .datasets
            .iter()
            .map(|dataset| dataset.metadata.id.as_str())
            .collect();
        read.sort_unstable();
        assert_eq!(
            (catalog.dialect.name(), &read[..]),
            (*form, *ids),
            "{name}: {:#?}",
            catalog.problems
        );
        assert_eq!(
            catalog.problems.len(),
            *problems,
            "{name}: {:#?}",
            catalog.problems
        );
        catalog
            .datasets
            .iter()
            .for_each(|dataset| round_trip(dataset, name));
        // No description has a blank node, so isomorphic graphs are equal sets of lines.
        let golden = testdata("catalogs").join(format!("{name}.nt"));
        let golden = fs::read_to_string(&golden).unwrap_or_default();
        let (golden, actual): (BTreeSet<String>, _) = (
            golden
                .lines()
                .map(|line| line.trim_end_matches(" .").to_owned())
                .collect(),
            description(&catalog),
        );
        if golden != actual {
            let place = std::env::temp_dir().join(format!("lodeseek-{name}.nt"));
            let text: String = actual.iter().map(|line| format!("{line} .\n")).collect();
            fs::write(&place, text).expect("written");
            let (lost, new): (Vec<_>, Vec<_>) = (
                golden.difference(&actual).collect(),
                actual.difference(&golden).collect(),
            );
            wrong.push(format!(
                "{name}: lost {lost:#?}, new {new:#?}; all in {}",
                place.display()
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn problems_name_file_entry_and_reason() {
    let catalog = read(&testdata("catalogs/ckan.json"));
    assert!(
        catalog.problems[0]
            .ends_with("ckan.json: entry 2 (77): ignored: its state in the portal is `deleted`"),
        "{:?}",
        catalog.problems
    );
    assert!(
        catalog.problems[1].ends_with("ckan.json: entry 3: not a JSON object"),
        "{:?}",
        catalog.problems
    );
}

#[test]
fn what_else_a_catalogue_describes_is_counted() {
    let beside = read(&testdata("catalogs/dcat.ttl")).other_resources;
    assert_eq!(
        (beside.catalogs, beside.records, beside.services),
        (1, 1, 1)
    );
}

#[test]
fn parts_are_named_by_what_they_say() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("c.nt");
    let kind =
        "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://www.w3.org/ns/dcat#Dataset>";
    let place = |label: &str, url: &str| {
        format!(
            "<http://e.org/d> <http://www.w3.org/ns/dcat#distribution> _:{label} .
             _:{label} <http://www.w3.org/ns/dcat#downloadURL> <http://e.org/{url}> .
             _:{label} <http://spdx.org/rdf/terms#checksum> _:{label}c .
             _:{label}c <http://spdx.org/rdf/terms#checksumValue> \"{url}\" .\n"
        )
    };
    let written = |pieces: &[String]| {
        fs::write(
            &path,
            format!("<http://e.org/d> {kind} .\n{}", pieces.concat()),
        )
        .expect("written");
        description(&read(&path))
    };
    let one = written(&[place("x", "1"), place("y", "2"), place("z", "3")]);
    let other = written(&[place("b", "3"), place("c", "2"), place("a", "1")]);
    assert_eq!(one, other, "neither labels nor order matter");
    assert_ne!(
        one,
        written(&[place("x", "1"), place("y", "2"), place("z", "4")])
    );
}

#[test]
fn a_description_has_bounds() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("deep.ttl");
    let nested = format!("{}1{}", "[ <http://e.org/p> ".repeat(30), " ]".repeat(30));
    let dataset = "<http://e.org/d> a <http://www.w3.org/ns/dcat#Dataset> ; <http://purl.org/dc/terms/relation>";
    fs::write(&path, format!("{dataset} {nested} .")).expect("written");
    let catalog = read(&path);
    assert_eq!(catalog.problems.len(), 1, "{:?}", catalog.problems);
    assert!(
        catalog.problems[0].contains("exceed the limits"),
        "{:?}",
        catalog.problems
    );
    round_trip(&catalog.datasets[0], "deep.ttl");
}

#[test]
fn two_datasets_of_one_publisher_are_stored_replaced_and_found_unchanged() {
    use lodeseek_store::DatasetOutcome;
    let home = super::support::Home::new();
    let path = testdata("catalogs/dcat.ttl");
    let outcomes = |report: lodeseek_store::LoadReport| -> Vec<DatasetOutcome> {
        report
            .datasets
            .iter()
            .map(|dataset| dataset.outcome)
            .collect()
    };
    assert_eq!(
        outcomes(home.load(&path)),
        [DatasetOutcome::MetadataOnly; 3],
        "a series is one of them"
    );
    assert_eq!(
        outcomes(home.load(&path)),
        [DatasetOutcome::Unchanged; 3],
        "compared with all their parts"
    );
    let own = "GRAPH <http://localhost:7878/catalog> { <http://woods.example.org/office> ?p ?o }";
    assert_eq!(
        home.count(&format!("SELECT (COUNT(*) AS ?n) {{ {own} }}")),
        5,
        "the publisher keeps its IRI"
    );
    for entry in home.store.entries().expect("entries") {
        let names: Vec<&str> = entry
            .dataset
            .metadata
            .publishers
            .iter()
            .map(|agent| agent.name.as_str())
            .collect();
        let expected: &[&str] = if entry.dataset.metadata.is_series {
            &[]
        } else {
            &["Forest Office"]
        };
        assert_eq!(names, expected);
        assert_eq!(
            home.store
                .entry(&entry.dataset.metadata.id)
                .expect("an entry")
                .dataset,
            entry.dataset
        );
    }
}

#[test]
fn a_folder_is_a_catalogue() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, text).expect("written");
    };
    let dump = "<http://e.org/a> <http://e.org/p> 1 .";
    write("b.ttl", dump);
    write("in/a.ttl", dump);
    write("in/named.ttl", dump);
    write(".hidden.ttl", dump);
    write("in/notes.txt", "words");
    write(
        "in/catalog.ttl",
        "<http://e.org/d> a <http://www.w3.org/ns/dcat#Dataset> ; <http://www.w3.org/ns/dcat#distribution> [ <http://www.w3.org/ns/dcat#downloadURL> <named.ttl> ] .",
    );
    let outside = tempfile::tempdir().expect("a folder");
    fs::write(outside.path().join("secret.ttl"), dump).expect("written");
    #[cfg(unix)]
    std::os::unix::fs::symlink(
        outside.path().join("secret.ttl"),
        folder.path().join("link.ttl"),
    )
    .expect("linked");
    let catalog = read(folder.path());
    let places: Vec<(&str, &str)> = catalog
        .datasets
        .iter()
        .map(|dataset| {
            (
                dataset.metadata.id.as_str(),
                dataset.distributions[0].location.as_str(),
            )
        })
        .collect();
    assert_eq!(
        places,
        [("d", "in/named.ttl"), ("b", "b.ttl"), ("in/a", "in/a.ttl")]
    );
    let told = |word: &str| {
        catalog
            .problems
            .iter()
            .any(|problem| problem.contains(word))
    };
    assert!(
        told("notes.txt") && (!cfg!(unix) || told("link.ttl")),
        "{:?}",
        catalog.problems
    );
    assert!(!catalog.is_incomplete);
}

/// Returns the ids of the datasets of a catalogue.
fn ids(catalog: &Catalog) -> Vec<&str> {
    let datasets = catalog.datasets.iter();
    datasets
        .map(|dataset| dataset.metadata.id.as_str())
        .collect()
}

#[test]
fn json_of_a_folder_is_a_table() {
    let folder = tempfile::tempdir().expect("a folder");
    let write =
        |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("written");
    let point = r#"{"type": "Feature", "properties": {"name": "Oak"}, "geometry": {"type": "Point", "coordinates": [1, 2]}}"#;
    write(
        "g.geojson",
        &format!(r#"{{"type": "FeatureCollection", "features": [{point}]}}"#),
    );
    write("l.jsonl", "{\"name\": \"Oak\"}\n{\"name\": \"Elm\"}\n");
    write("o.json", r#"{"oak": {"height": 3}, "elm": {"height": 4}}"#);
    write("trees.json", r#"[{"name": "Oak", "height": 3}]"#);
    let catalog = read(folder.path());
    assert_eq!(
        ids(&catalog),
        ["g", "l", "o", "trees"],
        "{:?}",
        catalog.problems
    );
    assert!(
        !catalog.is_incomplete && catalog.problems.is_empty(),
        "{:?}",
        catalog.problems
    );

    write("cut.json", r#"[{"name": "Oak"}, {"name": "E"#);
    let catalog = read(folder.path());
    assert_eq!(ids(&catalog), ["g", "l", "o", "trees"]);
    assert!(catalog.is_incomplete, "a broken file is reported");
    assert!(
        catalog.problems[0].contains("cut.json: not valid JSON"),
        "{:?}",
        catalog.problems
    );

    // A file that a catalogue names is content, whatever it looks like.
    write(
        "l.jsonl",
        "{\"title\": \"Oak\", \"description\": \"Tree\"}\n{\"title\": \"Elm\", \"description\": \"Tree\"}\n",
    );
    write("trees.json", r#"[{"id": 1, "name": "Oak"}]"#);
    write(
        "datasets.json",
        r#"[{"dataset_id": "d", "title": "Trees", "download": ["trees.json", "l.jsonl", "cut.json"]}]"#,
    );
    let catalog = read(folder.path());
    assert_eq!(ids(&catalog), ["d", "g", "o"], "{:?}", catalog.problems);
    assert!(
        !catalog.is_incomplete && catalog.problems.is_empty(),
        "{:?}",
        catalog.problems
    );
}

#[test]
fn a_descriptor_of_the_tables_of_another_dataset_is_left_out() {
    let folder = tempfile::tempdir().expect("a folder");
    // A resource without a file in the folder is no table.
    for (name, text) in [
        ("1/oaks.csv", "name,height\noak,3\n"),
        ("2/elms.csv", "name,height\nelm,4\n"),
        ("2/ash.csv", "name,height\nash,5\n"),
        (
            "1/datapackage.json",
            r#"{"name": "p", "title": "Package", "resources": [{"path": "oaks.csv"}, {"path": "none.csv"}]}"#,
        ),
        (
            "2/datapackage.json",
            r#"{"name": "p", "title": "Package", "resources": [{"path": "elms.csv"}, {"path": "ash.csv"}]}"#,
        ),
        (
            "datasets.json",
            r#"[{"dataset_id": "a", "title": "Oaks", "download": "1/oaks.csv"}, {"dataset_id": "b", "title": "Elms", "download": "2/elms.csv"}]"#,
        ),
    ] {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, text).expect("written");
    }
    let catalog = read(folder.path());
    assert_eq!(
        ids(&catalog),
        ["p", "a", "b"],
        "the second package has a table of its own"
    );
    let message = "1/datapackage.json: left out: it describes files of the dataset a";
    assert_eq!(catalog.problems.len(), 1, "{:?}", catalog.problems);
    assert!(
        catalog.problems[0].contains(message),
        "{:?}",
        catalog.problems
    );
}

/// What a catalogue names is content. A catalogue that only such content names is none of it, whatever the names of the files.
#[test]
fn a_chain_of_catalogues_loses_none() {
    for [first, second, third] in [["z", "b", "a"], ["a", "b", "z"]] {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, download) in [(first, second), (second, third), (third, "none")] {
            let text = format!(
                r#"[{{"dataset_id": "{name}", "title": "{name}", "download": "{download}.json"}}]"#
            );
            fs::write(folder.path().join(format!("{name}.json")), text).expect("written");
        }
        let mut expected = [first, third];
        expected.sort_unstable();
        assert_eq!(ids(&read(folder.path())), expected);
    }
}

/// Root reads every folder: nothing is tested then.
#[cfg(unix)]
#[test]
fn an_unreadable_folder_stops_no_other() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder");
    let locked = folder.path().join("lost+found");
    fs::create_dir(&locked).expect("made");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o000)).expect("locked");
    fs::write(
        folder.path().join("trees.nt"),
        "<http://e.org/a> <http://e.org/p> \"1\" .",
    )
    .expect("written");
    if fs::read_dir(&locked).is_ok() {
        return;
    }
    let catalog = read(folder.path());
    assert_eq!((catalog.datasets.len(), catalog.is_incomplete), (1, true));
    assert!(
        catalog.problems[0].starts_with("lost+found: the folder cannot be read: "),
        "{:?}",
        catalog.problems
    );
}
