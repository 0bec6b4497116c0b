//! A backup that is restored into an empty folder is a portal that starts: with the files that its settings name.

use super::serving::Server;
use super::support::{program, run};
use serde_json::Value;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

const STYLE: &str = "main { border: 3px solid rebeccapurple; }";

/// A home with a logo, a theme, an imprint, a file that was loaded, and an edited description.
fn branded(folder: &TempDir) -> std::path::PathBuf {
    let home = folder.path().join("home");
    let dump = folder.path().join("trees.ttl");
    fs::write(
        &dump,
        "# a comment\n<http://e.org/oak> <http://e.org/p> 01.50 .\n",
    )
    .expect("written");
    let dump = dump.to_str().expect("a path").to_owned();
    for arguments in [
        &["load", dump.as_str()][..],
        &["index"],
        &["edit", "trees", "--set", "title=Branded trees"],
    ] {
        let ran = run(&home, arguments);
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
    fs::create_dir_all(home.join("theme/files")).expect("a folder");
    fs::write(home.join("theme/style.css"), STYLE).expect("written");
    fs::write(
        home.join("theme/files/seal.svg"),
        "<svg xmlns=\"http://www.w3.org/2000/svg\"/>",
    )
    .expect("written");
    fs::write(
        home.join("logo.svg"),
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"9\" height=\"9\"/>",
    )
    .expect("written");
    let settings = home.join("lodeseek.toml");
    let text = fs::read_to_string(&settings).expect("read");
    let text =
        format!("{text}\n[portal]\ntitle = \"Branded\"\ntheme = \"theme\"\nlogo = \"logo.svg\"\n");
    fs::write(&settings, text).expect("written");
    home
}

fn copy_of(backup: &Path, folder: &TempDir, name: &str) -> std::path::PathBuf {
    let restored = folder.path().join(name);
    let ran = run(&restored, &["restore", backup.to_str().expect("a path")]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    restored
}

fn check(home: &Path) {
    let verified = run(home, &["verify"]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
    let server = Server::start(home, &[]);
    let page = server.get("/dataset/trees?format=html");
    assert!(
        page.contains("Branded trees") && page.contains("Edited in this catalogue"),
        "{page}"
    );
    assert!(
        server.get("/theme/seal.svg").contains("<svg"),
        "files of the theme"
    );
    assert!(
        server
            .get("/dataset/trees/files/trees.ttl")
            .ends_with("# a comment\n<http://e.org/oak> <http://e.org/p> 01.50 .\n")
    );
}

#[test]
fn a_restored_portal_starts() {
    let folder = tempfile::tempdir().expect("a folder");
    let home = branded(&folder);
    let backup = folder.path().join("backup");
    let to = backup.to_str().expect("a path");
    let ran = run(&home, &["backup", to]);
    assert!(
        ran.code == Some(0) && !ran.err.contains("not in the backup"),
        "{ran:?}"
    );
    check(&copy_of(&backup, &folder, "restored"));
    // A backup by a running server, after a change of the theme.
    let other = folder.path().join("other");
    {
        let _server = Server::start(&home, &["--admin"]);
        fs::write(
            home.join("theme/files/seal.svg"),
            "<svg xmlns=\"http://www.w3.org/2000/svg\" id=\"new\"/>",
        )
        .expect("written");
        let ran = run(&home, &["backup", other.to_str().expect("a path")]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
    let restored = copy_of(&other, &folder, "again");
    assert!(
        fs::read_to_string(restored.join("theme/files/seal.svg"))
            .expect("read")
            .contains("new")
    );
    check(&restored);
}

#[test]
fn missing_and_outside_files_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let home = branded(&folder);
    let outside = folder.path().join("outside.svg");
    fs::copy(home.join("logo.svg"), &outside).expect("copied");
    let settings = home.join("lodeseek.toml");
    let text = fs::read_to_string(&settings)
        .expect("read")
        .replace("\"logo.svg\"", "\"../outside.svg\"");
    fs::write(&settings, text).expect("written");
    let backup = folder.path().join("backup");
    let to = backup.to_str().expect("a path");
    let ran = run(&home, &["backup", to]);
    assert!(
        ran.code == Some(0)
            && ran.err.contains(
                "outside.svg, which the setting `portal.logo` names, is outside of the home"
            ),
        "{ran:?}"
    );
    let report: Value =
        serde_json::from_str(&run(&home, &["backup", to, "--json"]).out).expect("JSON");
    assert_eq!(report["notCopied"][0]["key"], "portal.logo");
    // Elsewhere, the file is missing: the restoration and the verification say so.
    let elsewhere = folder.path().join("elsewhere/home");
    let ran = run(&elsewhere, &["restore", to]);
    assert!(
        ran.code == Some(1)
            && ran
                .err
                .contains("the setting `portal.logo` names it, and it does not exist"),
        "{ran:?}"
    );
    let verified = run(&elsewhere, &["verify"]);
    assert!(
        verified.code == Some(1)
            && verified.out.contains("settings: ")
            && verified.out.contains("portal.logo"),
        "{verified:?}"
    );
    fs::remove_dir_all(home.join("theme")).expect("removed");
    let verified = run(&home, &["verify"]);
    assert!(
        verified.code == Some(1) && verified.out.contains("portal.theme"),
        "{verified:?}"
    );
    let ran = run(&home, &["backup", to]);
    assert!(
        ran.err
            .contains("theme, which the setting `portal.theme` names, is missing"),
        "{ran:?}"
    );
    let started = program(&home)
        .args(["serve", "--bind", "127.0.0.1:0"])
        .output()
        .expect("run");
    assert!(!started.status.success());
}
