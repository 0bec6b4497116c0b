//! Dependencies between crates, and the one crate each heavy dependency belongs to: read from the manifests.
//!
//! Cargo rejects cycles. It cannot reject a new arrow between two crates, or a second crate that links an inference runtime.

use super::support::root;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Each library crate and the library crates it may depend on.
const CRATES: &[(&str, &[&str])] = &[
    ("ranking", &[]),
    ("rdf", &[]),
    ("tabular", &["rdf"]),
    ("net", &["rdf"]),
    ("catalog", &["ranking", "rdf", "tabular"]),
    ("worker", &[]),
    ("store", &["catalog", "rdf", "tabular"]),
    ("sparql", &["catalog", "rdf", "store", "worker"]),
    ("profile", &["rdf"]),
    ("quality", &["catalog", "net", "profile", "rdf"]),
    ("snippet", &["profile", "rdf"]),
    ("index", &["catalog", "ranking", "rdf"]),
    ("rerank", &["index", "ranking"]),
    ("harvest", &["catalog", "net", "rdf"]),
    (
        "engine",
        &[
            "catalog", "index", "net", "profile", "quality", "ranking", "rdf", "rerank", "snippet",
            "sparql", "store",
        ],
    ),
    (
        "cli",
        &["engine", "index", "rdf", "rerank", "snippet", "store"],
    ),
    ("snapshot", &["engine", "store"]),
    (
        "changes",
        &[
            "catalog", "engine", "harvest", "net", "rdf", "rerank", "snapshot", "sparql", "store",
            "worker",
        ],
    ),
    (
        "server",
        &[
            "catalog", "changes", "engine", "harvest", "index", "net", "quality", "rdf",
            "snapshot", "snippet", "sparql", "store", "worker",
        ],
    ),
    (
        "cluster",
        &[
            "catalog", "engine", "harvest", "index", "rdf", "rerank", "snapshot", "store", "worker",
        ],
    ),
    ("eval", &["ranking"]),
    (
        "lab",
        &[
            "catalog", "cli", "engine", "eval", "index", "profile", "ranking", "rdf", "rerank",
            "snippet", "store",
        ],
    ),
];

/// Heavy dependencies and the crates that may link them.
const HEAVY: &[(&str, &[&str])] = &[
    ("oxigraph", &["sparql", "store"]),
    ("spargebra", &["engine", "harvest", "sparql"]),
    ("tantivy", &["index"]),
    ("ort", &["rerank"]),
    ("tokenizers", &["rerank"]),
    ("axum", &["server"]),
    ("rmcp", &["server"]),
    ("tokio", &["server", "snapshot"]),
    ("rustls", &["server", "snapshot"]),
    ("object_store", &["snapshot"]),
    ("ureq", &["net"]),
    ("sophia", &["rdf"]),
    ("calamine", &["tabular"]),
    ("petgraph", &["snippet"]),
    ("landlock", &["worker"]),
    ("seccompiler", &["worker"]),
    ("faer", &["lab"]),
    ("bhtsne", &["lab"]),
    ("plotters", &["lab"]),
    ("arrow-ipc", &["cluster"]),
    ("parquet", &["lab", "tabular"]),
    ("clap", &["cli", "lab"]),
    ("indicatif", &["cli", "lab"]),
    ("anyhow", &["cli", "lab"]),
];

const SPARQL: &[&str] = &[
    "\"SELECT ",
    "\"CONSTRUCT ",
    "\"DESCRIBE ",
    "\"ASK {",
    "\"ASK WHERE",
];
/// The serializer of algebra patterns holds the keywords, and no query.
const SERIALIZER: &str = "federation/serialize.rs";

fn manifest(folder: &Path) -> toml::Table {
    let text = fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
    text.parse().expect("TOML")
}

fn dependencies(name: &str) -> BTreeSet<String> {
    let manifest = manifest(&root().join("crates").join(name));
    let targets = manifest.get("target").and_then(toml::Value::as_table);
    let of_targets = targets
        .into_iter()
        .flat_map(toml::Table::values)
        .filter_map(toml::Value::as_table);
    let tables = std::iter::once(&manifest).chain(of_targets);
    let tables =
        tables.filter_map(|table| table.get("dependencies").and_then(toml::Value::as_table));
    tables.flat_map(|table| table.keys().cloned()).collect()
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if path.is_dir() && !matches!(name.as_str(), "tests" | "examples") {
            sources(&path, found);
        } else if name.ends_with(".rs") && name != "tests.rs" {
            found.push(path);
        }
    }
}

#[test]
fn every_crate_depends_on_what_the_table_allows() {
    let expected: BTreeSet<&str> = CRATES.iter().map(|(name, _)| *name).collect();
    let folders = fs::read_dir(root().join("crates")).expect("crates");
    let present: BTreeSet<String> = folders
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    assert_eq!(
        present.iter().map(String::as_str).collect::<BTreeSet<_>>(),
        expected
    );
    for (name, allowed) in CRATES {
        let found: BTreeSet<String> = dependencies(name)
            .iter()
            .filter_map(|name| name.strip_prefix("lodeseek-").map(str::to_owned))
            .collect();
        let allowed: BTreeSet<String> = allowed.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(found, allowed, "dependencies of crates/{name}");
    }
}

#[test]
fn a_heavy_dependency_belongs_to_one_crate() {
    let all: BTreeMap<&str, BTreeSet<String>> = CRATES
        .iter()
        .map(|(name, _)| (*name, dependencies(name)))
        .collect();
    for (dependency, allowed) in HEAVY {
        let found: BTreeSet<&str> = all
            .iter()
            .filter(|(_, names)| names.contains(*dependency))
            .map(|(name, _)| *name)
            .collect();
        assert_eq!(
            found,
            allowed.iter().copied().collect(),
            "crates that link {dependency}"
        );
    }
}

/// The program of operators links no experiment, and no dependency of one.
#[test]
fn experiments_are_a_program_of_their_own() {
    let manifest = manifest(root());
    let linked = manifest["dependencies"].as_table().expect("a table");
    for name in ["lodeseek-lab", "faer", "bhtsne", "parquet", "plotters"] {
        assert!(!linked.contains_key(name), "{name}");
    }
    for (name, _) in CRATES {
        assert!(!dependencies(name).contains("lodeseek-lab"), "{name}");
    }
}

#[test]
fn queries_are_files() {
    let mut found = Vec::new();
    sources(&root().join("crates"), &mut found);
    sources(&root().join("src"), &mut found);
    assert!(found.len() > 300, "{} sources were found", found.len());
    for path in found.iter().filter(|path| !path.ends_with(SERIALIZER)) {
        let text = fs::read_to_string(path).expect("a source");
        let code = text
            .split("#[cfg(test)]\nmod tests {")
            .next()
            .unwrap_or_default();
        for line in code
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"))
        {
            assert!(
                !SPARQL.iter().any(|keyword| line.contains(keyword)),
                "{}: {line}: move to queries/",
                path.display()
            );
        }
    }
}
