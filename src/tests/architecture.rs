//! Who may import what, and which dependency lives where: the two tables of the house style, held by reading the sources.
//!
//! Rust checks no direction between the modules of a crate. This does: comments, literals and test code are blanked out,
//! then every path through `crate::` or a chain of `super::` is resolved to the room it leads to.

use super::support::root;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Every room, from the ground up, and the rooms it may import.
const IMPORTS: &[(&str, &[&str])] = &[
    ("rdf", &[]),
    ("egress", &[]),
    ("catalog", &["rdf"]),
    ("ranking", &["catalog"]),
    ("neighbors", &[]),
    ("tagger", &["catalog"]),
    ("remote", &["egress", "rdf"]),
    ("survey", &["catalog", "remote", "rdf"]),
    ("harvest", &["egress", "catalog", "rdf"]),
    ("store", &["catalog", "rdf"]),
    ("profile", &["store", "rdf"]),
    ("quality", &["egress", "catalog", "profile", "rdf"]), // egress to ask addresses
    ("graph", &[]),
    ("snippet", &["graph", "profile", "rdf"]),
    ("document", &["snippet", "store", "catalog", "rdf"]),
    ("index", &["document", "catalog"]), // catalog for `DatasetId` alone
    ("sparse", &["index", "document", "ranking", "catalog"]), // catalog for `DatasetId` alone
    ("rerank", &["index", "ranking", "catalog"]), // index for vectors as they are stored, catalog for `DatasetId`
    (
        "engine",
        &[
            "rdf", "egress", "catalog", "ranking", "remote", "store", "profile", "quality", "graph", "snippet",
            "document", "index", "sparse", "rerank",
        ],
    ),
    ("eval", &["ranking", "catalog"]),
    ("reproduce", &["engine", "eval", "catalog", "document", "neighbors", "ranking", "rerank", "sparse"]),
    ("training", &["engine", "eval", "catalog", "document", "sparse", "tagger", "rdf"]),
    ("server", &["egress", "engine", "quality", "sparse", "remote", "store", "snippet", "catalog", "rdf"]),
    (
        "cli",
        &[
            "rdf",
            "egress",
            "catalog",
            "ranking",
            "tagger",
            "remote",
            "survey",
            "harvest",
            "store",
            "profile",
            "quality",
            "graph",
            "snippet",
            "document",
            "index",
            "sparse",
            "rerank",
            "engine",
            "eval",
            "reproduce",
            "training",
            "server",
        ],
    ),
];

/// Heavy dependencies, as crates are named in code, and the only places that may name them.
const ROOMS_OF_DEPENDENCIES: &[(&[&str], &[&str])] = &[
    // One parser and one serializer for all syntaxes: dumps come in through intake, descriptions go out through output.
    (&["oxrdfio"], &["rdf/intake", "rdf/output.rs"]),
    (&["oxttl", "oxrdfxml", "oxjsonld"], &["rdf/intake"]),
    (&["flate2", "bzip2", "lzma_rust2", "ruzstd", "zip", "tar"], &["rdf/intake"]),
    (&["encoding_rs", "encoding_rs_io"], &["rdf/intake"]),
    (&["crc"], &["rdf/intake"]),
    (&["sophia"], &["rdf"]),
    // Every request goes out by one door.
    (&["ureq", "url"], &["egress"]),
    (&["ipnet"], &["egress", "cli"]), // networks, as the policy and its arguments have them
    (&["sparesults"], &["remote", "store"]),
    (&["httpdate"], &["egress"]),
    (&["texting_robots"], &["harvest"]),
    (&["pulldown_cmark"], &["catalog"]),
    (&["aho_corasick"], &["tagger"]),
    (&["petgraph"], &["graph"]),
    (&["oxigraph", "lz4_flex", "rustix"], &["store"]),
    // The store evaluates; a service of the engine reads the pattern it is asked with; a survey fills in what it asks.
    (&["spargebra"], &["store", "engine", "survey"]),
    (&["toml"], &["store", "reproduce"]),
    (&["tantivy", "tantivy_fst", "levenshtein_automata", "unicode_segmentation", "whatlang"], &["index"]),
    (&["unicode_normalization"], &["server"]),
    (&["crc32fast"], &["index/vectors"]),
    (&["half"], &["index/vectors", "rerank/encoder"]),
    (&["pulp"], &["rerank"]),
    (&["lru"], &["engine"]),
    (&["ort", "tokenizers", "safetensors", "num_cpus"], &["rerank/encoder"]),
    (&["statrs"], &["eval"]),
    (&["rand_chacha"], &["eval", "neighbors"]),
    (&["faer", "bhtsne", "rayon"], &["neighbors"]),
    (&["parquet"], &["reproduce/iclr"]),
    (&["axum", "tower_http", "askama", "tokio", "http_body", "prometheus", "base64"], &["server"]),
    (&["form_urlencoded"], &["egress", "server", "harvest"]), // forms sent, and forms received
    (&["clap", "clap_complete", "clap_mangen", "anstyle_query", "supports_hyperlinks"], &["cli"]),
    (&["indicatif", "plotters", "tracing_subscriber"], &["cli"]),
    (&["anyhow"], &["cli", "reproduce"]),
];

/// Common ground: small, or a vocabulary all rooms speak.
const GROUND: &[&str] = &[
    "oxrdf",
    "oxiri",
    "oxsdatatypes",
    "rustc_hash",
    "hashbrown",
    "sha2",
    "memchr",
    "serde",
    "serde_json",
    "thiserror",
    "tracing",
];

const PRINTING: &[&str] = &["println!", "print!", "eprintln!", "eprint!", "dbg!"];
const SPARQL: &[&str] = &["SELECT ", "CONSTRUCT ", "DESCRIBE ", "ASK {", "ASK WHERE"];

/// A source file without comments, literals and test code; every byte stands where it stood.
struct Source {
    /// Relative to `src/`, with `/`.
    path: String,
    code: String,
    literals: Vec<(usize, String)>,
}

impl Source {
    fn of(path: &str, text: &str) -> Self {
        let (mut code, mut literals) = blank(text);
        while let Some(test) = test_item(&code) {
            literals.retain(|(place, _)| !test.contains(place));
            code.replace_range(test.clone(), &" ".repeat(test.len()));
        }
        Self { path: path.to_owned(), code, literals }
    }

    fn room(&self) -> &str {
        self.path.split(['/', '.']).next().unwrap_or_default()
    }

    /// How many modules deep the file is: 1 for `store/mod.rs` and `ranking.rs`, 2 for `store/load.rs`.
    fn depth(&self) -> usize {
        self.path.trim_end_matches("/mod.rs").split('/').count()
    }

    /// What the file names at the root of the crate: rooms, if all is well.
    fn imports(&self) -> Vec<String> {
        let mut found = Vec::new();
        for place in paths_from(&self.code, "crate") {
            found.extend(heads(&self.code[place..]));
        }
        let chain = "super::".repeat(self.depth());
        for place in paths_from(&self.code, "super") {
            if let Some(rest) = self.code[place - "super::".len()..].strip_prefix(&chain) {
                found.extend(heads(rest));
            }
        }
        found.retain(|name| name != self.room());
        found
    }

    fn names(&self, dependency: &str) -> bool {
        let renamed = [format!("use {dependency};"), format!("use {dependency} as ")];
        paths_from(&self.code, dependency).next().is_some() || renamed.iter().any(|text| self.code.contains(text))
    }

    fn lies_in(&self, place: &str) -> bool {
        let rest = self.path.strip_prefix(place);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || rest == ".rs")
    }
}

/// Where the text after `name::` begins, for every path that starts with `name`.
fn paths_from<'c>(code: &'c str, name: &'c str) -> impl Iterator<Item = usize> + 'c {
    code.match_indices(name).filter_map(move |(place, _)| {
        let before = code[..place].chars().next_back();
        let starts = before.is_none_or(|c| !(c.is_alphanumeric() || matches!(c, '_' | ':' | '.' | '\'')));
        let end = place + name.len();
        (starts && code[end..].starts_with("::")).then_some(end + 2)
    })
}

/// The first segments of what follows `crate::`: one name, or those of a group.
fn heads(rest: &str) -> Vec<String> {
    let name = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let Some(group) = rest.strip_prefix('{') else {
        return vec![name(rest)];
    };
    let (mut depth, mut heads, mut item) = (0, Vec::new(), String::new());
    for character in group.chars() {
        match character {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => heads.push(name(std::mem::take(&mut item).trim())),
            _ => {}
        }
        if depth == 0 && character != ',' {
            item.push(character);
        }
    }
    heads.push(name(item.trim()));
    heads.retain(|head| !head.is_empty());
    heads
}

/// Blanks comments and literals, and hands out the literals of strings with their places.
fn blank(text: &str) -> (String, Vec<(usize, String)>) {
    let bytes = text.as_bytes();
    let mut code = bytes.to_vec();
    let mut literals = Vec::new();
    let mut place = 0;
    while place < bytes.len() {
        let rest = &text[place..];
        let end = if rest.starts_with("//") {
            place + rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            place + block_comment(rest)
        } else if let Some(length) = string(text, place) {
            literals.push((place, rest[..length].to_owned()));
            place + length
        } else if let Some(length) = character(rest) {
            place + length
        } else {
            place += rest.chars().next().map_or(1, char::len_utf8);
            continue;
        };
        for byte in code[place..end].iter_mut().filter(|byte| **byte != b'\n') {
            *byte = b' ';
        }
        place = end;
    }
    (String::from_utf8(code).expect("whole characters were blanked"), literals)
}

fn block_comment(rest: &str) -> usize {
    let (mut depth, mut place) = (0, 0);
    while place < rest.len() {
        match &rest.as_bytes()[place..] {
            [b'/', b'*', ..] => (depth, place) = (depth + 1, place + 2),
            [b'*', b'/', ..] => (depth, place) = (depth - 1, place + 2),
            _ => place += 1,
        }
        if depth == 0 {
            break;
        }
    }
    place
}

/// The length of the string literal that begins here, prefix included.
fn string(text: &str, place: usize) -> Option<usize> {
    let before = text[..place].chars().next_back();
    if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
        return None;
    }
    let rest = &text[place..];
    let plain = rest.trim_start_matches(['b', 'c']);
    let prefix = rest.len() - plain.len();
    if prefix > 1 {
        return None;
    }
    if let Some(raw) = plain.strip_prefix('r') {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        let body = raw[hashes..].strip_prefix('"')?;
        let close = format!("\"{}", "#".repeat(hashes));
        return Some(prefix + 1 + hashes + 1 + body.find(&close)? + close.len());
    }
    let body = plain.strip_prefix('"')?;
    let mut escaped = false;
    for (at, character) in body.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return Some(prefix + 1 + at + 1),
            _ => {}
        }
    }
    None
}

/// The length of a character literal; `None` for a lifetime.
fn character(rest: &str) -> Option<usize> {
    let body = rest.strip_prefix('\'')?;
    let first = body.chars().next()?;
    if first == '\\' {
        let escaped = body[1..].chars().next()?.len_utf8();
        return Some(1 + 1 + escaped + body[1 + escaped..].find('\'')? + 1);
    }
    body[first.len_utf8()..].starts_with('\'').then(|| 1 + first.len_utf8() + 1)
}

/// The first `#[cfg(test)]` item, up to its closing brace or semicolon.
fn test_item(code: &str) -> Option<Range<usize>> {
    let start = code.find("#[cfg(test)]")?;
    let mut depth = 0;
    for (place, character) in code[start..].char_indices() {
        match character {
            '{' => depth += 1,
            '}' if depth == 1 => return Some(start..start + place + 1),
            '}' => depth -= 1,
            ';' if depth == 0 => return Some(start..start + place + 1),
            _ => {}
        }
    }
    Some(start..code.len())
}

fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            walk(&path, found);
        } else if path.extension().is_some_and(|suffix| suffix == "rs") {
            found.push(path);
        }
    }
}

/// Every source of the program, without its tests.
fn sources() -> Vec<Source> {
    let folder = root().join("src");
    let mut paths = Vec::new();
    walk(&folder, &mut paths);
    paths.sort();
    let sources = paths.iter().map(|path| {
        let name = path.strip_prefix(&folder).expect("inside").to_string_lossy().replace('\\', "/");
        (name, fs::read_to_string(path).expect("readable"))
    });
    sources
        .filter(|(name, _)| !name.starts_with("tests/") && !name.ends_with("tests.rs") && !name.contains("/tests/"))
        .map(|(name, text)| Source::of(&name, &text))
        .collect()
}

/// The rooms in the order of `lib.rs`.
fn rooms() -> Vec<String> {
    let (lib, _) = blank(&fs::read_to_string(root().join("src/lib.rs")).expect("readable"));
    let lines = lib.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';').map(str::to_owned));
    lines.collect()
}

fn allowed(room: &str) -> &'static [&'static str] {
    IMPORTS.iter().find(|(name, _)| *name == room).map_or(&[], |(_, imports)| imports)
}

fn forbidden_imports(source: &Source) -> Vec<String> {
    let imports = source.imports().into_iter();
    let breaches = imports.filter(|import| !allowed(source.room()).contains(&import.as_str()));
    breaches.map(|import| format!("{} may not import {import}", source.path)).collect()
}

fn misplaced_dependencies(source: &Source) -> Vec<String> {
    let mut breaches = Vec::new();
    for (dependencies, places) in ROOMS_OF_DEPENDENCIES {
        let here = places.iter().any(|place| source.lies_in(place));
        for dependency in dependencies.iter().filter(|dependency| !here && source.names(dependency)) {
            breaches.push(format!("{} may not name {dependency}, which lives in {places:?}", source.path));
        }
    }
    breaches
}

fn printing(source: &Source) -> Vec<String> {
    let loud = PRINTING.iter().filter(|name| {
        source.code.match_indices(**name).any(|(place, _)| {
            let before = source.code[..place].chars().next_back();
            before.is_none_or(|c| !(c.is_alphanumeric() || c == '_'))
        })
    });
    loud.map(|name| format!("{} uses {name}: the library is silent", source.path)).collect()
}

/// The room that writes patterns of the algebra as text holds the keywords, and no query.
const PRINTER: &str = "store/sparql/federation/print.rs";

fn embedded_sparql(source: &Source) -> Vec<String> {
    if source.path == PRINTER {
        return Vec::new();
    }
    let queries = source.literals.iter().filter(|(_, text)| SPARQL.iter().any(|keyword| text.contains(keyword)));
    queries.map(|(_, text)| format!("{}: {text} belongs into queries/*.rq", source.path)).collect()
}

fn none(breaches: impl Iterator<Item = String>) {
    let breaches: Vec<String> = breaches.collect();
    assert!(breaches.is_empty(), "\n{}", breaches.join("\n"));
}

#[test]
fn lib_rs_lists_the_rooms_of_the_table() {
    let table: Vec<&str> = IMPORTS.iter().map(|(room, _)| *room).collect();
    assert_eq!(rooms(), table);
    for source in sources().iter().filter(|source| !matches!(source.path.as_str(), "lib.rs" | "main.rs")) {
        assert!(table.contains(&source.room()), "{} is in no room", source.path);
    }
}

#[test]
fn the_table_and_the_code_point_upwards_only() {
    let rooms = rooms();
    let place = |room: &str| rooms.iter().position(|other| other == room);
    for (room, imports) in IMPORTS {
        for import in *imports {
            assert!(place(import) < place(room) && place(import).is_some(), "the table: {room} → {import}");
        }
    }
    let sources = sources();
    let arrows = sources.iter().filter(|source| place(source.room()).is_some());
    none(arrows.flat_map(|source| {
        let wrong = source.imports().into_iter().filter(|import| {
            place(import).is_none_or(|imported| place(source.room()).is_none_or(|own| imported >= own))
        });
        let breach = |import: String| format!("{} → {import} is no earlier line of lib.rs", source.path);
        wrong.map(breach).collect::<Vec<_>>()
    }));
}

#[test]
fn rooms_import_only_what_the_table_allows() {
    let sources = sources();
    assert!(sources.iter().map(|source| source.imports().len()).sum::<usize>() > 50, "the imports were not found");
    none(sources.iter().flat_map(forbidden_imports));
}

#[test]
fn a_heavy_dependency_has_one_room() {
    let sources = sources();
    for (dependencies, places) in ROOMS_OF_DEPENDENCIES {
        for dependency in *dependencies {
            assert!(sources.iter().any(|source| source.names(dependency)), "{dependency} is used nowhere ({places:?})");
        }
    }
    none(sources.iter().flat_map(misplaced_dependencies));
}

#[test]
fn every_dependency_has_been_given_its_place() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("readable");
    let manifest: toml::Table = manifest.parse().expect("TOML");
    let dependencies = manifest["dependencies"].as_table().expect("a table");
    let placed = ROOMS_OF_DEPENDENCIES.iter().flat_map(|(names, _)| names.iter()).chain(GROUND);
    let placed: Vec<&str> = placed.copied().collect();
    none(dependencies.keys().map(|name| name.replace('-', "_")).filter(|name| !placed.contains(&name.as_str())));
}

#[test]
fn only_the_command_line_prints() {
    none(sources().iter().filter(|source| source.room() != "cli").flat_map(printing));
}

#[test]
fn no_sparql_in_rust() {
    none(sources().iter().flat_map(embedded_sparql));
}

#[test]
fn breaches_are_seen() {
    let imports = |path: &str, text: &str| Source::of(path, text).imports();
    for (path, text, expected) in [
        ("graph/mod.rs", "use crate::store::Store;", vec!["store"]),
        ("graph/mod.rs", "fn f() { crate::rdf::words(\"\") }", vec!["rdf"]),
        ("graph/mod.rs", "use crate::{store::{Store, load}, rdf};", vec!["store", "rdf"]),
        ("graph/mod.rs", "use super::store::Store;", vec!["store"]),
        ("graph/steiner.rs", "use super::super::store;", vec!["store"]),
        ("graph/steiner.rs", "use super::LinkGraph;", vec![]),
        (
            "graph/mod.rs",
            "// crate::store\n/* crate::store /* */ crate::store */ const A: &str = \"crate::store\";",
            vec![],
        ),
        (
            "graph/mod.rs",
            "const A: &str = r#\"crate::\"store\"#; const B: char = '\"'; use crate::rdf::A;",
            vec!["rdf"],
        ),
        ("graph/mod.rs", "fn f<'a>(x: &'a str) {} use crate::rdf::A;", vec!["rdf"]),
        (
            "graph/mod.rs",
            "#[cfg(test)]\nmod tests { use crate::rdf::A; fn f() { {} } }\nuse crate::store::B;",
            vec!["store"],
        ),
        ("graph/mod.rs", "#[cfg(test)]\nmod tests;\nuse crate::graph::B;", vec![]),
        ("ranking.rs", "use crate::catalog::DatasetId;", vec!["catalog"]),
    ] {
        assert_eq!(imports(path, text), expected, "{path}: {text}");
    }
    let source = |path: &str, text: &str| Source::of(path, text);
    assert_eq!(forbidden_imports(&source("rdf/mod.rs", "use crate::catalog::Iris;")).len(), 1);
    assert_eq!(forbidden_imports(&source("store/mod.rs", "use crate::StoreError;")).len(), 1);
    for (path, text, breaches) in [
        ("server/mod.rs", "use oxigraph::store::Store;", 1),
        ("server/mod.rs", "#[derive(clap::ValueEnum)] enum A {}", 1),
        ("rdf/pretty.rs", "use oxttl::TurtleParser;", 1),
        ("rdf/intake/turtle.rs", "use oxttl::TurtleParser;", 0),
        ("rdf/intakes.rs", "use oxttl::TurtleParser;", 1),
        ("cli/mod.rs", "use anyhow as wrong; use clap;", 0),
        ("store/mod.rs", "use anyhow as wrong;", 1),
        ("store/mod.rs", "let all = a.iter().zip(b); super::zip::f();", 0),
    ] {
        assert_eq!(misplaced_dependencies(&source(path, text)).len(), breaches, "{path}: {text}");
    }
    assert_eq!(printing(&source("rdf/mod.rs", "fn f() { println!(\"a\"); dbg!(1); } // print!")).len(), 2);
    assert_eq!(embedded_sparql(&source("server/mod.rs", "f(\"SELECT * {}\") // \"SELECT *\"")).len(), 1);
}
