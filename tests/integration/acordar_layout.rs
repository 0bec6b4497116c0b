//! A collection in ACORDAR's published layout: `datasets.json` with links only, and dumps named after ids.

use super::support::{Ran, run};
use serde_json::json;
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// Subjects of the datasets 1 to 6; the words occur in the dumps only.
const SUBJECTS: [&str; 6] = ["heron", "otter", "beaver", "salmon", "osprey", "mussel"];

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a parent")).expect("made");
    fs::write(path, text).expect("written");
}

/// Writes the collection. Dataset 5 has a broken dump, dataset 6 has none, and one dump belongs to no dataset.
fn published() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let entry = |number: usize| {
        json!({
            "dataset_id": number.to_string(), "title": format!("Dataset {number}"), "description": "", "author": "None",
            "tags": "nature;water", "license": "", "version": "", "size": "1 kB", "created": "2019-01-01", "updated": "",
            "download": format!("https://e.org/{number}.rdf; https://e.org/{number}.nt"),
        })
    };
    let entries: Vec<_> = (1..=6).map(entry).collect();
    write(
        &folder.path().join("datasets.json"),
        &json!(entries).to_string(),
    );
    let triple = |number: usize| {
        format!(
            "<http://e.org/{number}> <http://www.w3.org/2000/01/rdf-schema#label> \"{}\" .\n",
            SUBJECTS[number - 1]
        )
    };
    let dumps = folder.path().join("dumps");
    write(&dumps.join("1.nt"), &triple(1));
    write(&dumps.join("2/part1.nt"), &triple(2));
    write(
        &dumps.join("2/part2.ttl"),
        "<http://e.org/2> <http://e.org/size> 3 .",
    );
    write(&dumps.join("3.ttl"), &triple(3));
    write(&dumps.join("4.nt"), &triple(4));
    write(
        &dumps.join("5.nt"),
        &format!("{}this is no triple\n", triple(5)),
    );
    write(&dumps.join("77.nt"), &triple(1));
    folder
}

/// Runs a command on the home of the collection.
fn command(folder: &Path, arguments: &[&str]) -> Ran {
    run(&folder.join("home"), arguments)
}

fn path(folder: &Path, name: &str) -> String {
    folder.join(name).display().to_string()
}

fn index(folder: &Path) {
    let indexed = command(
        folder,
        &["index", "--analysis", "acordar", "--ranking", "words"],
    );
    assert_eq!(indexed.code, Some(0), "{indexed:?}");
}

#[test]
fn dumps_are_found_by_id_and_the_rest_is_reported() {
    let folder = published();
    let (datasets, dumps) = (
        path(folder.path(), "datasets.json"),
        path(folder.path(), "dumps"),
    );
    let loaded = command(
        folder.path(),
        &[
            "load",
            &datasets,
            "--dumps",
            &dumps,
            "--report",
            &path(folder.path(), "r.json"),
        ],
    );
    assert_eq!(loaded.code, Some(0), "{loaded:?}");
    for expected in [
        "5 of 6 datasets have a dump in ",
        "; 1 file there belong",
        "without a dump: 6\n",
        "6 datasets: 5 loaded, 1 with a description and no data; ",
        "1 broken statement skipped; 5, 5.nt",
    ] {
        assert!(loaded.err.contains(expected), "{expected}: {}", loaded.err);
    }
    assert!(
        !loaded.err.contains("on the web"),
        "links beside a dump are no problem: {}",
        loaded.err
    );
    let archive = path(folder.path(), "dumps.tar.gz");
    let packed = Command::new("tar")
        .args(["-C", &path(folder.path(), "."), "-czf", &archive, "dumps"])
        .status();
    assert!(packed.expect("tar").success());
    let again = command(folder.path(), &["load", &datasets, "--dumps", &archive]);
    assert!(
        again.code == Some(0) && again.err.contains("6 datasets: 6 unchanged"),
        "{again:?}"
    );

    index(folder.path());
    let shown = command(folder.path(), &["show", "2"]);
    assert!(
        shown.out.contains("https://e.org/2.rdf") && shown.out.contains("https://e.org/2.nt"),
        "{shown:?}"
    );

    let without = command(
        folder.path(),
        &["load", &datasets, "--dumps", &path(folder.path(), "home")],
    );
    assert!(
        without.code == Some(2) && without.err.contains("no dump of any of the 6 datasets"),
        "{without:?}"
    );
    let wrong = command(
        folder.path(),
        &[
            "load",
            &datasets,
            "--dumps",
            &dumps,
            "--dumps-pattern",
            "x.nt",
        ],
    );
    assert!(
        wrong.code == Some(2) && wrong.err.contains("{id}"),
        "{wrong:?}"
    );

    // A dump that is gone does not delete the content of an earlier load.
    fs::remove_file(folder.path().join("dumps/1.nt")).expect("removed");
    let again = command(folder.path(), &["load", &datasets, "--dumps", &dumps]);
    assert!(
        again.code == Some(1) && again.err.contains("content loaded before is unchanged"),
        "{again:?}"
    );
}
