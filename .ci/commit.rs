//! Tells a release build the commit it is made from, for the records beside runs. A debug build is rebuilt too often
//! to follow every commit, and records none.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=.ci/commit.rs");
    if std::env::var("PROFILE").as_deref() != Ok("release") || !Path::new(".git").is_dir() {
        return;
    }
    for watched in [".git/HEAD", ".git/index", ".git/logs/HEAD"].into_iter().filter(|path| Path::new(path).exists()) {
        println!("cargo::rerun-if-changed={watched}");
    }
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
        String::from_utf8(output.stdout).ok().map(|text| text.trim().to_owned())
    };
    if let Some(commit) = git(&["rev-parse", "--short=12", "HEAD"]) {
        let changed = git(&["status", "--porcelain", "--untracked-files=no"]).is_none_or(|text| !text.is_empty());
        println!("cargo::rustc-env=LODESEEK_COMMIT={commit}{}", if changed { "+changes" } else { "" });
    }
}
