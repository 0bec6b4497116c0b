//! The whole chain (`load` and `index`) against Oxigraph's own bulk load of the same files: `make bench-load`.
//!
//! All run as processes of their own, in turn, on the same files, with the same RocksDB. Oxigraph's side is what its command line does:
//! a bulk loader with two threads, lenient, one named graph a dataset; one loader for each file with a commit, as for files that arrive
//! one by one, and one loader for all files with one commit.

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

const ROUNDS: usize = 5;

/// Documents, profiles and snippets without vectors, by the default analysis.
const INDEX: [&str; 3] = ["index", "--ranking", "words"];
/// Clock ticks a second of the times in `/proc` on Linux.
const TICKS_PER_SECOND: f64 = 100.0;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench")
        .collect();
    match &arguments[..] {
        [mode, catalogue, folder] if mode == "by-file" => {
            bulk_load(Path::new(catalogue), Path::new(folder), true)
        }
        [mode, catalogue, folder] if mode == "at-once" => {
            bulk_load(Path::new(catalogue), Path::new(folder), false)
        }
        [catalogue] if Path::new(catalogue).exists() => compare(Path::new(catalogue)),
        [catalogue] => {
            println!("SKIPPED: {catalogue} is not here");
            Ok(())
        }
        _ => Err("usage: load CATALOGUE.json".into()),
    }
}

/// Seconds of a process.
#[derive(Clone, Copy)]
struct Times {
    clock: f64,
    /// Processor time of all its threads and children.
    processor: f64,
}

/// Times of one round.
struct Round {
    by_file: Times,
    at_once: Times,
    load: Times,
    index: Times,
}

impl Round {
    /// Ratios of load and index together: clock and processor, over Oxigraph file by file; clock and processor, over one loader.
    fn ratios(&self) -> [f64; 4] {
        let clock = self.load.clock + self.index.clock;
        let processor = self.load.processor + self.index.processor;
        [
            clock / self.by_file.clock,
            processor / self.by_file.processor,
            clock / self.at_once.clock,
            processor / self.at_once.processor,
        ]
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
    for number in 1..=ROUNDS {
        let folder = tempfile::tempdir()?;
        let bulk_load = |mode: &str| {
            timed(
                Command::new(&own)
                    .arg(mode)
                    .arg(catalogue)
                    .arg(folder.path().join(mode)),
            )
        };
        let home = folder.path().join("home");
        let round = Round {
            by_file: bulk_load("by-file")?,
            at_once: bulk_load("at-once")?,
            load: timed(
                Command::new(&program)
                    .arg("--home")
                    .arg(&home)
                    .arg("load")
                    .arg(catalogue),
            )?,
            index: timed(Command::new(&program).arg("--home").arg(&home).args(INDEX))?,
        };
        print!("round {number}:");
        let parts = [
            ("oxigraph by file", round.by_file),
            ("at once", round.at_once),
            ("lodeseek load", round.load),
            ("index", round.index),
        ];
        for (name, times) in parts {
            print!(
                " {name} {:.1} s ({:.1} s of the processor);",
                times.clock, times.processor
            );
        }
        println!();
        ratios.push(round.ratios());
    }
    let names = [
        "clock, over Oxigraph file by file",
        "processor, over Oxigraph file by file",
        "clock, over one loader",
        "processor, over one loader",
    ];
    for (place, name) in names.into_iter().enumerate() {
        let mut values: Vec<f64> = ratios.iter().map(|ratios| ratios[place]).collect();
        values.sort_by(f64::total_cmp);
        println!(
            "median ratio, {name}: {:.2} ({:.2} to {:.2})",
            values[ROUNDS / 2],
            values[0],
            values[ROUNDS - 1]
        );
    }
    Ok(())
}

fn timed(command: &mut Command) -> Result<Times, Box<dyn Error>> {
    let (started, before) = (Instant::now(), processor_of_children()?);
    let status = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    if !status.success() {
        return Err(format!("{command:?} ended with {status}").into());
    }
    Ok(Times {
        clock: started.elapsed().as_secs_f64(),
        processor: processor_of_children()? - before,
    })
}

/// Returns the processor time of the children that have ended, in seconds: fields 16 and 17 of proc_pid_stat(5).
fn processor_of_children() -> Result<f64, Box<dyn Error>> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let after_name = stat.rsplit(") ").next().unwrap_or_default();
    let mut ticks = 0.0;
    for field in after_name.split(' ').skip(13).take(2) {
        ticks += field.parse::<f64>()?;
    }
    Ok(ticks / TICKS_PER_SECOND)
}

/// Loads all files of a catalogue: with a loader for each file, else with one.
fn bulk_load(catalogue: &Path, folder: &Path, by_file: bool) -> Result<(), Box<dyn Error>> {
    let entries: Vec<Value> = serde_json::from_reader(File::open(catalogue)?)?;
    let root = catalogue.parent().map(Path::to_owned).unwrap_or_default();
    let store = Store::open(folder)?;
    let new_loader = || {
        store
            .bulk_loader()
            .with_num_threads(2)
            .on_parse_error(|_| Ok(()))
    };
    let mut loader = new_loader();
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
            if by_file {
                std::mem::replace(&mut loader, new_loader()).commit()?;
            }
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
