//! The W3C's tests of CSV on the Web: all of csv2rdf, and those of validation that expect an error or none.

use lodeseek_tabular::csvw::{Converter, Fetched, Mode, Resolver};
use oxrdf::graph::CanonicalizationAlgorithm;
use oxrdf::{Graph, Triple};
use oxttl::TurtleParser;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// Base of the tests.
const BASE: &str = "http://www.w3.org/2013/csvw/tests/";

/// Tests that fail, with the reason.
const FAILING: &[(&str, &str)] = &[];

struct Files {
    folder: PathBuf,
    /// Address with a header `Link`, and the header.
    link: Option<(String, String)>,
    has_configuration: bool,
}

impl Resolver for Files {
    fn fetch(&self, address: &str) -> Option<Fetched> {
        if address == "http://www.w3.org/.well-known/csvm" {
            let lines = "{+url}-metadata.json\ncsv-metadata.json\n{+url}.json\ncsvm.json";
            return self.has_configuration.then(|| Fetched {
                bytes: lines.into(),
                link: None,
            });
        }
        let path = address.strip_prefix(BASE)?.split('?').next()?;
        let bytes = fs::read(self.folder.join(path)).ok()?;
        let link = self
            .link
            .as_ref()
            .filter(|(linked, _)| linked == address)
            .map(|(_, header)| header.clone());
        Some(Fetched { bytes, link })
    }
}

fn folder() -> Option<PathBuf> {
    let folder = match std::env::var_os("LODESEEK_DATA") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
    };
    let folder = folder.join("csvw-tests");
    if folder.is_dir() {
        return Some(folder);
    }
    #[expect(clippy::print_stderr, reason = "a skipped test says so")]
    {
        eprintln!(
            "SKIPPED: there is no {}; LODESEEK_DATA names the folder above it",
            folder.display()
        );
    }
    None
}

fn canonical(mut graph: Graph) -> Graph {
    graph.canonicalize(CanonicalizationAlgorithm::Unstable);
    graph
}

fn expected(folder: &Path, name: &str) -> Graph {
    let text = fs::read(folder.join(name)).expect("a result");
    let parser = TurtleParser::new()
        .with_base_iri(format!("{BASE}{name}"))
        .expect("an IRI");
    parser
        .for_slice(&text)
        .collect::<Result<Graph, _>>()
        .expect("Turtle")
}

/// Returns the reason why a test fails.
fn run(folder: &Path, test: &Value) -> Result<(), String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let action = format!("{BASE}{}", text(&test["action"]));
    let files = Files {
        folder: folder.to_owned(),
        link: test["httpLink"]
            .as_str()
            .map(|header| (action.clone(), header.to_owned())),
        has_configuration: text(&test["name"]).contains("well-known"),
    };
    let mut converter = Converter::new(&files);
    if test["option"]["minimal"] == true {
        converter = converter.with_mode(Mode::Minimal);
    }
    if let Some(metadata) = test["option"]["metadata"].as_str() {
        converter = converter.with_metadata(&format!("{BASE}{metadata}"));
    }
    let mut triples: Vec<Triple> = Vec::new();
    let result = converter.convert(&action, &mut |triple| triples.push(triple.into_owned()));
    let kind = text(&test["type"]);
    if kind.contains("Negative") {
        return match result {
            Ok(_) => Err("no error".to_owned()),
            Err(_) => Ok(()),
        };
    }
    let warnings = result.map_err(|error| error.to_string())?;
    let found = canonical(triples.into_iter().collect());
    let expected = canonical(expected(folder, &text(&test["result"])));
    if found != expected {
        let count = |left: &Graph, right: &Graph| -> Vec<String> {
            left.iter()
                .filter(|triple| !right.contains(*triple))
                .take(3)
                .map(|triple| triple.to_string())
                .collect()
        };
        return Err(format!(
            "{} triples, expected {}: found {:?}, expected {:?}; {warnings:?}",
            found.len(),
            expected.len(),
            count(&found, &expected),
            count(&expected, &found)
        ));
    }
    if kind.contains("Warnings") && warnings.is_empty() {
        return Err("no warning".to_owned());
    }
    Ok(())
}

#[test]
fn csv2rdf() {
    let Some(folder) = folder() else {
        return;
    };
    let manifest = fs::read_to_string(folder.join("manifest-rdf.jsonld")).expect("a manifest");
    let manifest: Value = serde_json::from_str(&manifest).expect("JSON");
    let tests = manifest["entries"].as_array().expect("tests");
    let mut wrong = Vec::new();
    for test in tests {
        let id = test["id"].as_str().unwrap_or_default();
        let name = id.rsplit('#').next().unwrap_or_default();
        let is_failing = FAILING.iter().any(|(failing, _)| *failing == name);
        match run(&folder, test) {
            Ok(()) if is_failing => wrong.push(format!("{name} passes, and is listed as failing")),
            Err(reason) if !is_failing => wrong.push(format!("{name}: {reason}")),
            _ => (),
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {} fail:\n{}",
        wrong.len(),
        tests.len(),
        wrong.join("\n")
    );
    assert!(20 * FAILING.len() <= tests.len(), "less than 95 % pass");
}
