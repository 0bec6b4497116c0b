//! Commands whose output nobody reads: those that change something finish their work.

use super::support::{Ran, program, run};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

/// Runs a command whose reader of stdout and stderr has ended. Returns its exit code.
fn run_unread(home: &Path, arguments: &[&str]) -> Option<i32> {
    let (reader, writer) = io::pipe().expect("a pipe");
    drop(reader);
    let status = unread(&mut program(home), writer)
        .args(arguments)
        .status()
        .expect("the program starts");
    status.code()
}

fn unread(command: &mut Command, writer: io::PipeWriter) -> &mut Command {
    let copy = writer.try_clone().expect("a copy");
    command.stdout(writer).stderr(copy)
}

/// Returns the names in a home.
fn names(home: &Path) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(home).expect("a folder") {
        let entry = entry.expect("an entry");
        names.insert(entry.file_name().to_string_lossy().into_owned());
    }
    names
}

#[test]
fn a_change_is_complete_if_nobody_reads_the_output() {
    let folder = tempfile::tempdir().expect("a folder");
    let (read, silent) = (folder.path().join("read"), folder.path().join("silent"));
    let [backup, copy] =
        ["backup", "copy"].map(|name| folder.path().join(name).display().to_string());
    let commands: [&[&str]; 8] = [
        &["load", "testdata/catalog.ttl"],
        &["index", "--ranking", "balanced"],
        &["edit", "street-trees", "--set", "title=Trees of streets"],
        &["edit", "street-trees", "--set", "license=Other", "--json"],
        &["remove", "air-quality"],
        &["index", "--rebuild"],
        &["config", "init"],
        &["rebase", "https://data.example.org/"],
    ];
    for arguments in commands {
        let expected = run(&read, arguments);
        assert_eq!(expected.code, Some(0), "{arguments:?}: {expected:?}");
        assert_eq!(run_unread(&silent, arguments), Some(0), "{arguments:?}");
    }
    assert!(names(&read).contains("ranking.json"), "{:?}", names(&read));
    assert_eq!(names(&silent), names(&read));
    for arguments in [
        &["list", "--json"][..],
        &["search", "trees", "--json"],
        &["show", "street-trees", "--json"],
    ] {
        let (expected, found) = (run(&read, arguments), run(&silent, arguments));
        assert_eq!(
            without_times(&found),
            without_times(&expected),
            "{arguments:?}"
        );
    }

    assert_eq!(run_unread(&silent, &["backup", &backup, "--json"]), Some(0));
    assert_eq!(run_unread(Path::new(&copy), &["restore", &backup]), Some(0));
    let verified = run(Path::new(&copy), &["verify"]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
    // The exit code of a repair does not depend on its reader.
    fs::remove_file(silent.join("duplicates.json")).expect("a file of the index");
    assert_eq!(
        run_unread(&silent, &["repair"]),
        run(&read, &["repair"]).code
    );
}

/// Returns the output without the times of edits and loads, and the tags that depend on them.
fn without_times(ran: &Ran) -> Vec<&str> {
    ran.out
        .lines()
        .filter(|line| !has_time(line) && !line.contains("\"etag\""))
        .collect()
}

/// Returns true if a text contains a time, such as `2026-11-30T06:32:48Z`.
fn has_time(text: &str) -> bool {
    text.as_bytes().windows(11).any(|part| {
        part.iter().enumerate().all(|(place, byte)| match place {
            4 | 7 => *byte == b'-',
            10 => *byte == b'T',
            _ => byte.is_ascii_digit(),
        })
    })
}

#[test]
fn a_command_that_prints_ends_quietly() {
    let folder = tempfile::tempdir().expect("a folder");
    assert_eq!(
        run(folder.path(), &["load", "testdata/catalog.ttl"]).code,
        Some(0)
    );
    for arguments in [
        &["list"][..],
        &["query", "SELECT * { ?s ?p ?o }"],
        &["status", "--json"],
    ] {
        assert_eq!(
            run_unread(folder.path(), arguments),
            Some(0),
            "{arguments:?}"
        );
    }
}
