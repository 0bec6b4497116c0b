//! `list`, `status` and `remove`, and damage of a home: it is detected, named and repaired by a command.

#![expect(clippy::print_stderr, reason = "a skipped test is reported")]

use super::support::{Ran, program, run};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A home with an index, made by the program.
fn home() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for arguments in [&["load", "testdata/catalog.ttl"][..], &["index"]] {
        succeeds(folder.path(), arguments);
    }
    folder
}

fn succeeds(home: &Path, arguments: &[&str]) -> Ran {
    let ran = run(home, arguments);
    assert_eq!(ran.code, Some(0), "{arguments:?}: {ran:?}");
    ran
}

/// Runs a command that must fail without a panic, and returns its message.
fn fails(home: &Path, arguments: &[&str]) -> String {
    let ran = run(home, arguments);
    assert_eq!(ran.code, Some(2), "{arguments:?}: {ran:?}");
    assert!(!ran.err.contains("panicked"), "{}", ran.err);
    ran.err
}

fn json(home: &Path, arguments: &[&str]) -> serde_json::Value {
    serde_json::from_str(&succeeds(home, arguments).out).expect("JSON")
}

#[test]
fn a_collection_is_listed_summarised_and_reduced() {
    let home = home();
    let home = home.path();
    let listed = json(home, &["list", "--format", "json"]);
    assert_eq!(listed.as_array().map(Vec::len), Some(12));
    let trees = listed
        .as_array()
        .and_then(|all| all.iter().find(|one| one["id"] == "street-trees"))
        .expect("listed");
    assert_eq!(
        (&trees["state"], &trees["triples"]),
        (&"indexed".into(), &105.into())
    );
    let text = succeeds(home, &["list"]).out;
    assert!(
        text.starts_with("dataset ") && text.contains("City tree register"),
        "{text}"
    );

    let status = json(home, &["status", "--format", "json"]);
    assert_eq!(
        (&status["datasets"], &status["index"]["datasets"]),
        (&12.into(), &12.into())
    );
    assert_eq!(
        (&status["index"]["outdated"], &status["index"]["notIndexed"]),
        (&0.into(), &0.into())
    );
    assert!(
        status["bytes"]["index"]
            .as_u64()
            .is_some_and(|bytes| bytes > 0),
        "{status}"
    );
    let text = succeeds(home, &["status"]).out;
    assert!(
        text.contains("datasets  12") && text.contains("up to date"),
        "{text}"
    );

    let message = fails(home, &["remove", "street-trees", "street-tress"]);
    assert!(
        message.contains("did you mean `street-trees`") && message.contains("nothing was removed"),
        "{message}"
    );
    assert!(fails(home, &["remove", "zzz"]).contains("lodeseek list"));
    assert!(
        succeeds(home, &["remove", "street-trees"])
            .err
            .contains("1 dataset removed")
    );
    assert_eq!(
        json(home, &["list", "--format", "json"])
            .as_array()
            .map(Vec::len),
        Some(11)
    );
    assert!(
        !run(home, &["search", "ginkgo"])
            .out
            .contains("street-trees")
    );
    succeeds(home, &["load", "testdata/catalog.ttl"]);
    assert!(
        succeeds(home, &["status"])
            .out
            .contains("1 not indexed; run `lodeseek index`")
    );

    // A copy may lack the empty file of the lock.
    fs::remove_file(home.join("lock")).expect("removed");
    succeeds(home, &["list"]);
    assert!(home.join("lock").is_file());

    let absent = home.join("absent");
    for command in ["list", "status"] {
        assert!(fails(&absent, &[command]).contains("is not a Lodeseek home"));
    }
    assert!(
        fails(&absent, &["remove", "a"]).contains("is not a Lodeseek home") && !absent.exists()
    );
}

/// Returns the files of a folder with this extension.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path());
    paths
        .filter(|path| path.extension().is_some_and(|one| one == extension))
        .collect()
}

/// Flips a bit in the middle of a file.
fn flip(path: &Path) {
    let mut bytes = fs::read(path).expect("read");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    fs::write(path, bytes).expect("written");
}

#[test]
fn no_change_depends_on_the_write_ahead_log_after_a_command() {
    let home = home();
    let home = home.path();
    // RocksDB reuses log files without shortening them: what is in them must not matter.
    let without_logs = || {
        let before = answers(home);
        for log in files(&home.join("store"), "log") {
            fs::write(log, "").expect("emptied");
        }
        succeeds(home, &["verify"]);
        assert_eq!(answers(home), before);
    };
    without_logs();
    succeeds(
        home,
        &["load", "testdata/acordar.json", "--id-prefix", "more:"],
    );
    without_logs();
    succeeds(home, &["remove", "boreholes"]);
    without_logs();
}

#[test]
fn missing_commits_and_another_base_are_detected() {
    let home = home();
    let home = home.path();
    let record = home.join("commit.json");
    let sound = fs::read(&record).expect("a record");
    flip(&record);
    assert!(fails(home, &["list"]).contains("`lodeseek repair`"));
    fs::write(&record, &sound).expect("restored");
    succeeds(home, &["list"]);

    let older = home.join("store-before");
    copy(&home.join("store"), &older);
    succeeds(home, &["remove", "boreholes"]);
    fs::rename(home.join("store"), home.join("store-after")).expect("renamed");
    fs::rename(&older, home.join("store")).expect("renamed");
    for arguments in [
        &["list"][..],
        &["query", "ASK { ?s ?p ?o }"],
        &["load", "testdata/catalog.ttl"],
    ] {
        let message = fails(home, arguments);
        assert!(
            message.contains("changes are missing") && message.contains("`lodeseek repair`"),
            "{message}"
        );
    }
    fs::remove_dir_all(home.join("store")).expect("removed");
    fs::rename(home.join("store-after"), home.join("store")).expect("renamed");

    let settings = home.join("lodeseek.toml");
    let text = fs::read_to_string(&settings)
        .expect("settings")
        .replace("localhost", "localhosu");
    fs::write(&settings, text).expect("written");
    assert!(fails(home, &["list"]).contains("its base is"));
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let path = entry.expect("an entry").path();
        fs::copy(&path, to.join(path.file_name().expect("a name"))).expect("copied");
    }
}

#[test]
fn a_damaged_index_is_named_and_rebuilt() {
    let home = home();
    let home = home.path();
    let expected = succeeds(home, &["search", "--json", "ginkgo"]).out;
    for extension in ["term", "idx", "fast", "store"] {
        flip(&files(&home.join("index"), extension)[0]);
        for arguments in [
            &["search", "ginkgo"][..],
            &["similar", "boreholes"],
            &["index"],
        ] {
            let message = fails(home, arguments);
            assert!(
                message.contains(&format!(".{extension}: wrong checksum")),
                "{message}"
            );
            assert!(message.contains("`lodeseek index --rebuild`"), "{message}");
            assert_eq!(message.matches("wrong checksum").count(), 1, "{message}");
        }
        succeeds(home, &["index", "--rebuild"]);
        assert_eq!(
            succeeds(home, &["search", "--json", "ginkgo"]).out,
            expected
        );
    }
    // The file that names the analysis: the new index has that of the settings, or the default.
    flip(&home.join("index/meta.json"));
    assert!(fails(home, &["search", "ginkgo"]).contains("meta.json: wrong checksum"));
    succeeds(home, &["repair"]);
    assert_eq!(
        succeeds(home, &["search", "--json", "ginkgo"]).out,
        expected
    );
}

#[test]
fn records_lost_in_a_repair_are_loaded_again() {
    let home = home();
    let home = home.path();
    succeeds(
        home,
        &["load", "testdata/acordar.json", "--id-prefix", "more:"],
    );
    succeeds(home, &["index"]);
    let records = || {
        json(home, &["list", "--format", "json"])
            .to_string()
            .matches("\"modified\"")
            .count()
    };
    let expected = records();
    flip(&home.join("store/CURRENT"));
    let repaired = run(home, &["repair"]);
    assert_eq!(repaired.code, Some(1), "{repaired:?}");
    assert_eq!(records(), 0);
    succeeds(home, &["load", "testdata/catalog.ttl"]);
    succeeds(
        home,
        &["load", "testdata/acordar.json", "--id-prefix", "more:"],
    );
    assert_eq!(records(), expected);
}

#[test]
fn a_store_that_lacks_a_file_is_damaged() {
    let home = home();
    let current = home.path().join("store/CURRENT");
    fs::write(&current, "MANIFEST-999999\n").expect("written");
    assert!(fails(home.path(), &["list"]).contains("`lodeseek repair`"));
}

#[test]
fn a_graph_file_that_cannot_be_used_is_named_with_its_remedy() {
    let home = home();
    let home = home.path();
    let file = home
        .join("graphs")
        .join(format!("{}.graph", version_of(home, "street-trees")));
    flip(&file);
    let message = fails(home, &["snippet", "street-trees"]);
    assert!(
        message.contains(&*file.to_string_lossy()) && message.contains("`lodeseek repair`"),
        "{message}"
    );
    fs::write(home.join("lodeseek.toml"), b"# \xe9\n").expect("written");
    let message = fails(home, &["list"]);
    assert!(
        message.contains("lodeseek.toml:1: the text is not UTF-8; correct it"),
        "{message}"
    );
}

#[test]
#[cfg(unix)]
fn a_read_only_home_is_searched() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;
    /// The user `nobody`. Modes do not apply to the superuser.
    const NOBODY: u32 = 65534;
    fn set_modes(folder: &Path, folders: u32, files: u32) {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).expect("a mode");
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                set_modes(&path, folders, files);
            } else {
                fs::set_permissions(&path, fs::Permissions::from_mode(files)).expect("a mode");
            }
        }
        fs::set_permissions(folder, fs::Permissions::from_mode(folders)).expect("a mode");
    }
    let home = home();
    let is_superuser = fs::metadata(home.path()).expect("a folder").uid() == 0;
    let command = |name: &str| {
        let mut command = if name == "touch" {
            Command::new(name)
        } else {
            program(home.path())
        };
        if is_superuser {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    };
    set_modes(home.path(), 0o555, 0o444);
    let touched = command("touch").arg(home.path().join("new")).output();
    let outputs = [&["search", "ginkgo"][..], &["list"]]
        .map(|arguments| command("lodeseek").args(arguments).output());
    set_modes(home.path(), 0o755, 0o644);
    if outputs.iter().any(|output| {
        output
            .as_ref()
            .is_err_and(|error| error.kind() == ErrorKind::PermissionDenied)
    }) {
        eprintln!("skipped: only the superuser can start the program here");
        return;
    }
    assert!(
        !touched.expect("touch starts").status.success(),
        "the home is read-only"
    );
    let [found, listed] = outputs.map(|output| output.expect("the program starts"));
    assert!(
        found.status.success() && listed.status.success(),
        "{found:?} {listed:?}"
    );
    assert!(String::from_utf8_lossy(&found.stdout).contains("street-trees"));
}

#[test]
#[cfg(target_os = "linux")]
fn the_process_that_holds_a_home_is_named() {
    use lodeseek_store::{Access, Store};
    let home = home();
    let store = super::support::open(home.path(), Access::Write, None).expect("opened");
    let message = fails(home.path(), &["list"]);
    drop(store);
    assert!(
        message.contains("is in use by another lodeseek process"),
        "{message}"
    );
    // Some containers hide the table of locks.
    if fs::read_to_string("/proc/locks").is_ok_and(|locks| locks.contains("FLOCK")) {
        assert!(
            message.contains(&format!("process {}", std::process::id())),
            "{message}"
        );
    }
    assert!(Store::open(home.path(), Access::Read, None).is_ok());
}

/// Returns the outputs of some reading commands.
fn answers(home: &Path) -> Vec<String> {
    let count = "SELECT ?d (COUNT(*) AS ?n) { ?d <https://w3id.org/lodeseek/ns#graph> ?g GRAPH ?g { ?s ?p ?o } } GROUP BY ?d ORDER BY ?d";
    let profiles = "SELECT ?d ?n { ?d <http://rdfs.org/ns/void#triples> ?n } ORDER BY ?d ?n";
    let commands: [&[&str]; 5] = [
        &["search", "--json", "ginkgo"],
        &["list", "--format", "json"],
        &["query", count],
        &["query", profiles],
        &["similar", "--json", "street-trees"],
    ];
    let answer = |arguments: &&[&str]| {
        let ran = run(home, arguments);
        assert!(matches!(ran.code, Some(0 | 1)), "{arguments:?}: {ran:?}"); // nothing may be similar
        // The time of loading is lost with the catalogue.
        let lines = ran
            .out
            .lines()
            .filter(|line| !line.contains("\"modified\""))
            .map(|line| line.trim_end_matches(','));
        lines.collect::<Vec<_>>().join("\n")
    };
    commands.iter().map(answer).collect()
}

/// Verifies a damaged home, repairs it and returns the report of `verify`.
fn repair(home: &Path, expected: &[String]) -> String {
    let verified = run(home, &["verify"]);
    assert_eq!(verified.code, Some(1), "{verified:?}");
    let repaired = run(home, &["repair"]);
    // A lost catalogue leaves times of loading to be loaded again.
    let is_incomplete = repaired
        .out
        .contains("some statements of its description are lost");
    assert_eq!(
        repaired.code,
        Some(i32::from(is_incomplete)),
        "{repaired:?}"
    );
    assert!(
        repaired.out.contains("no damage remains"),
        "{}",
        repaired.out
    );
    assert!(succeeds(home, &["verify"]).out.contains("no damage"));
    assert_eq!(answers(home), expected, "{}", verified.out);
    verified.out
}

#[test]
fn damage_of_the_store_and_its_files_is_listed_and_repaired() {
    let home = home();
    let home = home.path();
    let expected = answers(home);
    assert!(
        succeeds(home, &["verify"])
            .out
            .contains("verified 12 datasets with 1,0")
    );
    assert!(
        succeeds(home, &["repair"])
            .out
            .contains("no damage was found")
    );

    for (extension, part) in [
        ("graph", "graph-file of "),
        ("counts", "counts of "),
        ("rdfc", "fingerprint of "),
    ] {
        // The smallest content has numbers that the store spells differently: another test.
        let path = files(&home.join("graphs"), extension)
            .into_iter()
            .find(|path| {
                let version = path
                    .file_stem()
                    .expect("a version")
                    .to_string_lossy()
                    .into_owned();
                version == version_of(home, "street-trees")
            });
        flip(&path.expect("a file of the dataset"));
        let found = run(home, &["verify", "--format", "json"]);
        let report: serde_json::Value = serde_json::from_str(&found.out).expect("JSON");
        assert_eq!(report["damage"][0]["dataset"], "street-trees", "{report}");
        assert!(repair(home, &expected).contains(part));
    }
    for table in files(&home.join("store"), "sst") {
        let sound = fs::read(&table).expect("read");
        flip(&table);
        let verified = run(home, &["verify"]);
        assert!(matches!(verified.code, Some(0 | 1)), "{verified:?}");
        if verified.code == Some(1) {
            assert!(repair(home, &expected).contains("store"), "{verified:?}");
            assert!(home.join("store.damaged").exists());
            break;
        }
        fs::write(&table, sound).expect("restored");
    }
    // A lost commit: the index is ahead of the store.
    let older = home.join("older");
    copy(&home.join("store"), &older);
    succeeds(home, &["load", "testdata/dumps/trees.nt.gz"]);
    succeeds(home, &["index"]);
    let expected = answers(home);
    fs::remove_dir_all(home.join("store")).expect("removed");
    fs::rename(&older, home.join("store")).expect("renamed");
    assert!(repair(home, &expected[..]).contains("changes are missing"));

    fs::write(home.join("loads.json"), "[{").expect("written");
    flip(&home.join("duplicates.json"));
    let found = repair(home, &expected);
    assert!(
        found.contains("loads: ") && found.contains("duplicates: "),
        "{found}"
    );
}

/// Returns the version of a dataset's content.
fn version_of(home: &Path, id: &str) -> String {
    let store = super::support::open(home, lodeseek_store::Access::Read, None).expect("opened");
    let id = lodeseek_catalog::DatasetId::new(id).expect("an id");
    store.versions().expect("versions")[&id].clone()
}

#[test]
fn an_interrupted_repair_is_reported_and_repeated() {
    let home = home();
    let home = home.path();
    let expected = answers(home);
    // As if it were killed after the damaged store was moved away, and before the new one took its place.
    copy(&home.join("store"), &home.join("store.repaired"));
    fs::rename(home.join("store"), home.join("store.damaged")).expect("renamed");
    for arguments in [
        &["list"][..],
        &["load", "testdata/catalog.ttl"],
        &["index"],
        &["verify"],
        &["rebase", "http://e.org/"],
    ] {
        let message = fails(home, arguments);
        assert!(
            message.contains("run `lodeseek repair` again"),
            "{arguments:?}: {message}"
        );
    }
    assert!(
        !home.join("store").exists(),
        "an empty store hides the loss"
    );
    succeeds(home, &["repair"]);
    assert_eq!(answers(home), expected);
    assert!(succeeds(home, &["verify"]).out.contains("no damage"));
    assert!(!home.join("store.repaired").exists());
}

#[test]
fn a_damaged_file_of_a_dataset_is_listed_and_loaded_again() {
    let home = home();
    let home = home.path();
    let file = files_below(&home.join("files")).swap_remove(0);
    // As after a power cut.
    fs::write(&file, "").expect("emptied");
    let verified = run(home, &["verify"]);
    assert!(
        verified.code == Some(1) && verified.out.contains("file of "),
        "{verified:?}"
    );
    let repaired = run(home, &["repair"]);
    assert!(
        repaired.code == Some(1) && repaired.out.contains("a file for downloads is lost"),
        "{repaired:?}"
    );
    succeeds(home, &["load", "testdata/catalog.ttl"]);
    assert!(succeeds(home, &["verify"]).out.contains("no damage"));
}

#[test]
fn lost_content_is_named_and_loaded_again() {
    use lodeseek_store::Access;
    let home = home();
    let home = home.path();
    let expected = answers(home);
    let version = version_of(home, "boreholes");
    {
        let store = super::support::open(home, Access::Write, None).expect("opened");
        let id = lodeseek_catalog::DatasetId::new("boreholes").expect("an id");
        store
            .oxigraph()
            .remove_named_graph(&store.iris().graph(&id, &version))
            .expect("removed");
        store.oxigraph().flush().expect("flushed");
    }
    // The content is in its file: `load` does not call the dataset unchanged.
    assert!(
        succeeds(home, &["load", "testdata/catalog.ttl"])
            .err
            .contains("1 replaced, 11 unchanged")
    );
    assert_eq!(answers(home), expected);
    {
        let store = super::support::open(home, Access::Write, None).expect("opened");
        let id = lodeseek_catalog::DatasetId::new("boreholes").expect("an id");
        store
            .oxigraph()
            .remove_named_graph(&store.iris().graph(&id, &version))
            .expect("removed");
        store.oxigraph().flush().expect("flushed");
    }
    flip(&home.join("graphs").join(format!("{version}.graph")));
    let verified = run(home, &["verify"]);
    assert_eq!(verified.code, Some(1), "{verified:?}");
    assert!(
        verified.out.contains("content of boreholes")
            && verified.out.contains("graph-file of boreholes"),
        "{verified:?}"
    );
    let repaired = run(home, &["repair"]);
    assert_eq!(repaired.code, Some(1), "{repaired:?}");
    assert!(
        repaired.out.contains("boreholes (") && repaired.out.contains("all triples are lost"),
        "{}",
        repaired.out
    );
    assert!(
        succeeds(home, &["load", "testdata/catalog.ttl"])
            .err
            .contains("1 replaced, 11 unchanged")
    );
    succeeds(home, &["index"]);
    assert_eq!(answers(home), expected);
    succeeds(home, &["verify"]);
}

#[test]
fn a_backup_is_incremental_checked_and_restored() {
    let home = home();
    let home = home.path();
    let folder = tempfile::tempdir().expect("a folder");
    let (target, restored) = (folder.path().join("backup"), folder.path().join("restored"));
    let (to, from) = (
        target.to_str().expect("a path"),
        ["restore", target.to_str().expect("a path")],
    );
    let expected = answers(home);
    let first = json(home, &["backup", to, "--format", "json"]);
    assert_eq!(first["datasets"], 12);
    assert!(
        first["copiedFiles"].as_u64() > Some(12)
            && first["copiedFiles"].as_u64() <= first["files"].as_u64(),
        "{first}"
    );
    assert_eq!(
        json(home, &["backup", to, "--format", "json"])["copiedFiles"],
        0
    );
    succeeds(&restored, &from);
    assert_eq!(answers(&restored), expected);
    succeeds(&restored, &["verify"]);
    assert!(fails(&restored, &from).contains("the folder is not empty"));
    assert!(
        fails(
            home,
            &["backup", home.join("inside").to_str().expect("a path")]
        )
        .contains("inside the home")
    );
    assert!(
        fails(
            home,
            &[
                "backup",
                home.parent().expect("a folder").to_str().expect("a path")
            ]
        )
        .contains("other files")
    );

    succeeds(home, &["remove", "boreholes"]);
    let third = json(home, &["backup", to, "--format", "json"]);
    assert!(
        third["deletedObjects"].as_u64() > Some(0) && third["datasets"] == 11,
        "{third}"
    );
    assert!(
        third["copiedFiles"].as_u64() < third["files"].as_u64(),
        "{third}"
    );
    fs::remove_dir_all(&restored).expect("removed");
    succeeds(&restored, &from);
    assert_eq!(answers(&restored), answers(home));

    let object = files_below(&target.join("objects"))
        .into_iter()
        .max_by_key(|path| path.metadata().expect("a file").len());
    let object = object.expect("an object");
    flip(&object);
    fs::remove_dir_all(&restored).expect("removed");
    let message = fails(&restored, &from);
    assert!(
        message.contains("is damaged") && message.contains("use another backup"),
        "{message}"
    );
    // Restored without the damaged object, the rest could answer searches.
    for (command, further) in [
        ("list", &[][..]),
        ("search", &["wood"]),
        ("similar", &["boreholes"]),
        ("show", &["trees"]),
        ("query", &["ASK {}"]),
        ("status", &[]),
        ("verify", &[]),
        ("repair", &[]),
        ("index", &[]),
        ("remove", &["trees"]),
        ("load", &["testdata/catalog.ttl"]),
        ("backup", &[to]),
        ("publish", &["file:///tmp/none"]),
        ("rebase", &["http://e.org/"]),
        ("token", &["list"]),
        ("quality", &[]),
        ("serve", &["--bind", "127.0.0.1:0"]),
    ] {
        let arguments: Vec<&str> = [command].iter().chain(further).copied().collect();
        let message = fails(&restored, &arguments);
        assert!(
            message.contains("run `lodeseek restore DIR` again"),
            "{arguments:?}: {message}"
        );
    }
    flip(&object);
    succeeds(&restored, &from);
    flip(&target.join("manifest"));
    fs::remove_dir_all(&restored).expect("removed");
    assert!(fails(&restored, &from).contains("is damaged"));
    assert!(fails(&restored, &["restore", "no/such/folder"]).contains("there is no backup"));
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(files_below(&path))
        } else {
            found.push(path)
        }
    }
    found
}

#[cfg(unix)]
#[test]
fn a_restored_home_is_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let mode = |path: &Path| fs::metadata(path).expect("a file").permissions().mode() & 0o777;
    let home = home();
    succeeds(home.path(), &["token", "add", "ci", "--scope", "write"]);
    let folder = tempfile::tempdir().expect("a folder");
    let (target, restored) = (folder.path().join("backup"), folder.path().join("restored"));
    let to = target.to_str().expect("a path");
    succeeds(home.path(), &["backup", to]);
    fs::create_dir(&restored).expect("created");
    fs::set_permissions(&restored, fs::Permissions::from_mode(0o755)).expect("changed");
    succeeds(&restored, &["restore", to]);
    assert_eq!(mode(&restored), 0o700);
    for file in files_below(&restored) {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
        for folder in file
            .ancestors()
            .skip(1)
            .take_while(|folder| folder.starts_with(&restored))
        {
            assert_eq!(mode(folder), 0o700, "{}", folder.display());
        }
    }
    assert!(restored.join("tokens.json").exists());
}

#[test]
fn a_removed_token_is_not_restored() {
    let home = home();
    let tokens = home.path().join("tokens.json");
    succeeds(home.path(), &["token", "add", "one", "--scope", "write"]);
    let (before, modified) = (
        fs::read(&tokens).expect("read"),
        fs::metadata(&tokens)
            .expect("a file")
            .modified()
            .expect("a time"),
    );
    let folder = tempfile::tempdir().expect("a folder");
    let (target, restored) = (folder.path().join("backup"), folder.path().join("restored"));
    let to = target.to_str().expect("a path");
    succeeds(home.path(), &["backup", to]);
    // Another token in its place: neither size nor time of the file tell that it changed.
    succeeds(home.path(), &["token", "remove", "one"]);
    succeeds(home.path(), &["token", "add", "two", "--scope", "write"]);
    let file = fs::File::options()
        .write(true)
        .open(&tokens)
        .expect("a file");
    file.set_modified(modified).expect("set");
    drop(file);
    let after = fs::read(&tokens).expect("read");
    assert!(after != before && after.len() == before.len());
    succeeds(home.path(), &["backup", to]);
    succeeds(&restored, &["restore", to]);
    assert_eq!(fs::read(restored.join("tokens.json")).expect("read"), after);
    let listed = succeeds(&restored, &["token", "list"]).out;
    assert!(
        listed.contains("two") && !listed.contains("one"),
        "{listed}"
    );
}
