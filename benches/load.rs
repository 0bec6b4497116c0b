//! The whole chain (`load` and `index`) against Oxigraph's own bulk load of the same files: `make bench-load`.
//!
//! Both run as processes of their own, in turn, on the same files, with the same RocksDB. Oxigraph's side is what its
//! command line does: one bulk loader over all files, lenient, two threads, one commit, one named graph a dataset.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use oxigraph::io::{RdfFormat, RdfParser};
use oxigraph::model::NamedNode;
use oxigraph::store::Store;
use serde_json::Value;
use std::error::Error;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

const ROUNDS: usize = 3;

/// Documents, profiles and snippets without vectors, by the analysis of the published figures.
const INDEX: [&str; 5] = ["index", "--analysis", "acordar", "--ranking", "words"];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench")
        .collect();
    match &arguments[..] {
        [mode, catalogue, folder] if mode == "oxigraph" => {
            bulk_load(Path::new(catalogue), Path::new(folder))
        }
        [catalogue] if Path::new(catalogue).exists() => compare(Path::new(catalogue)),
        [catalogue] => {
            println!("SKIPPED: {catalogue} is not here");
            Ok(())
        }
        _ => Err("usage: load CATALOGUE.json".into()),
    }
}

fn compare(catalogue: &Path) -> Result<(), Box<dyn Error>> {
    let own = std::env::current_exe()?;
    let program = own
        .ancestors()
        .find(|folder| folder.ends_with("release"))
        .ok_or("not in a release folder")?
        .join("lodeseek");
    let mut ratios = Vec::new();
    for round in 1..=ROUNDS {
        let folder = tempfile::tempdir()?;
        let oxigraph = timed(
            Command::new(&own)
                .arg("oxigraph")
                .arg(catalogue)
                .arg(folder.path().join("oxigraph")),
        )?;
        let home = folder.path().join("home");
        let load = timed(
            Command::new(&program)
                .arg("--home")
                .arg(&home)
                .arg("load")
                .arg(catalogue),
        )?;
        let index = timed(Command::new(&program).arg("--home").arg(&home).args(INDEX))?;
        let ratio = (load + index) / oxigraph;
        println!(
            "round {round}: oxigraph bulk load {oxigraph:.2} s; lodeseek load {load:.2} s + index {index:.2} s = {:.2} s; ratio {ratio:.2}",
            load + index
        );
        ratios.push(ratio);
    }
    ratios.sort_by(f64::total_cmp);
    println!(
        "whole chain over Oxigraph's bulk load: median ratio {:.2}",
        ratios[ratios.len() / 2]
    );
    Ok(())
}

fn timed(command: &mut Command) -> Result<f64, Box<dyn Error>> {
    let started = Instant::now();
    let status = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    if !status.success() {
        return Err(format!("{command:?} ended with {status}").into());
    }
    Ok(started.elapsed().as_secs_f64())
}

fn bulk_load(catalogue: &Path, folder: &Path) -> Result<(), Box<dyn Error>> {
    let entries: Vec<Value> = serde_json::from_reader(File::open(catalogue)?)?;
    let root = catalogue.parent().map(Path::to_owned).unwrap_or_default();
    let store = Store::open(folder)?;
    let mut loader = store
        .bulk_loader()
        .with_num_threads(2)
        .on_parse_error(|_| Ok(()));
    for entry in &entries {
        let graph = NamedNode::new(format!("http://localhost/{}", entry["dataset_id"]))?;
        for path in entry["download"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
        {
            let path: PathBuf = root.join(path);
            let Some(format) = format_of(&path)? else {
                continue;
            };
            let parser = RdfParser::from_format(format)
                .with_base_iri("http://localhost/")?
                .without_named_graphs()
                .with_default_graph(graph.clone())
                .rename_blank_nodes()
                .lenient();
            let file = File::open(&path)?;
            let reader: Box<dyn Read + Send> =
                if path.extension().is_some_and(|suffix| suffix == "gz") {
                    Box::new(flate2::read::MultiGzDecoder::new(file))
                } else {
                    Box::new(file)
                };
            // A file it cannot read further is left where it broke, as its command line does with --lenient.
            let _ = loader.load_from_reader(parser, reader);
        }
    }
    loader.commit()?;
    Ok(())
}

/// By suffix; `.owl`, `.xml` and `.json` by their first byte, as someone would choose the format by hand.
fn format_of(path: &Path) -> Result<Option<RdfFormat>, Box<dyn Error>> {
    let name = path.to_string_lossy().to_lowercase();
    let stem = name.strip_suffix(".gz").unwrap_or(&name);
    let suffix = stem.rsplit('.').next().unwrap_or_default();
    if matches!(suffix, "owl" | "xml" | "rdf") {
        let head = fs::read(path)?;
        let turtle = head
            .iter()
            .find(|byte| !byte.is_ascii_whitespace())
            .is_some_and(|byte| *byte == b'@');
        return Ok(Some(if turtle {
            RdfFormat::Turtle
        } else {
            RdfFormat::RdfXml
        }));
    }
    Ok(match suffix {
        "json" => RdfFormat::from_extension("jsonld"),
        other => RdfFormat::from_extension(other),
    })
}
