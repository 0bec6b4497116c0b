//! Catalogues of every form: what is read of them, and that nothing of it is lost on the way through the store's graph.

use super::support::{root, testdata};
use lodeseek::catalog::{Catalog, Dataset, Iris, dcat};
use lodeseek::rdf::{TripleGraph, TripleGraphBuilder};
use oxrdf::Triple;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The folder of real catalogues; without it the test says that it did nothing.
fn real(test: &str) -> Option<PathBuf> {
    let data = std::env::var_os("LODESEEK_DATA").map_or_else(|| root().join("../shared/data"), PathBuf::from);
    let folder = data.join("catalogs");
    if !folder.is_dir() {
        eprintln!("SKIPPED {test}: there is no {}; LODESEEK_DATA names the folder above it", folder.display());
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

/// Out and in again, twice: the same graph, of which every subject is the dataset, a part of it, or an agent or concept
/// that the typed fields name.
fn round_trip(dataset: &Dataset, file: &str) {
    let node = iris().dataset(&dataset.metadata.id);
    let first = dcat::to_triples(dataset, &iris());
    let read =
        dcat::from_triples(&graph_of(&first), &node).unwrap_or_else(|| panic!("{file}: {node} is not described"));
    let second = dcat::to_triples(&read, &iris());
    let (first, second) = (lines(&first), lines(&second));
    let (lost, new): (Vec<_>, Vec<_>) = (first.difference(&second).collect(), second.difference(&first).collect());
    assert!(lost.is_empty() && new.is_empty(), "{file}: {node}: lost {lost:#?} new {new:#?}");
    assert!(!first.iter().any(|line| line.contains("_:") && !line.contains('"')), "{file}: a blank node");
    assert!(!first.iter().any(|line| line.contains("catalog-folder")), "{file}: {first:#?}");
}

fn read(path: &Path) -> Catalog {
    Catalog::read(path).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn real_catalogues_hold_what_was_counted_in_them() {
    let Some(folder) = real("real_catalogues_hold_what_was_counted_in_them") else { return };
    let table = fs::read_to_string(testdata("catalogs.tsv")).expect("a table");
    let mut wrong = Vec::new();
    for row in table.lines().filter(|line| !line.starts_with('#')) {
        let mut cells = row.split('\t');
        let (Some(file), Some(_), Some(count)) = (cells.next(), cells.next(), cells.next()) else {
            panic!("catalogs.tsv: {row:?} lacks a cell");
        };
        let catalog = read(&folder.join(file));
        if catalog.datasets.len().to_string() != count {
            let ids: Vec<&str> = catalog.datasets.iter().map(|dataset| dataset.metadata.id.as_str()).take(12).collect();
            wrong.push(format!("{file}: {} for {count}: {ids:?} {:?}", catalog.datasets.len(), catalog.problems));
        }
        for dataset in &catalog.datasets {
            round_trip(dataset, file);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let rows = table.lines().filter(|line| !line.starts_with('#')).count();
    let files = fs::read_dir(&folder).expect("a folder").count() - 1; // without MANIFEST.json
    assert_eq!(rows, files, "every file has its row");
}
