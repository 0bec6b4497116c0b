//! IlluSnip beside the published Java implementation, and on large generated graphs: `make bench-snippet`.
//!
//! Java's times are those of `data/README.md`: OPT-RANK, k = 20, one cold run each on two shared cores, ±2×. Ours are
//! given cold, as a process that reads the file, and warm, without reading it: medians of several rounds.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use lodeseek_profile::Profile;
use lodeseek_rdf::dump::DumpReader;
use lodeseek_rdf::{TripleGraph, TripleGraphBuilder};
use lodeseek_snippet::{IlluSnip, Pcsg, SnippetExtractor, TripleBudget};
use oxrdf::{Literal, NamedNode, Triple};
use std::error::Error;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Milliseconds of Java's OPT-RANK by input.
const JAVA: [(&str, f64); 7] = [
    ("syn500", 777.0),
    ("syn2000", 3_412.0),
    ("reg2000", 2_134.0),
    ("syn10000", 8_631.0),
    ("reg10000", 6_506.0),
    ("dbp80", 70_807.0),
    ("reg50000", 86_455.0),
];

const ROUNDS: usize = 7;
/// Generated triples up to which PCSG is measured too.
const MAX_PCSG_TRIPLES: u64 = 1_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench")
        .collect();
    let Some((data, sizes)) = arguments.split_first() else {
        return Err("usage: snippet DATA [TRIPLES…]".into());
    };
    let inputs = Path::new(data).join("snippets/inputs");
    if inputs.is_dir() {
        beside_java(&inputs)?;
    } else {
        println!("SKIPPED: {} is not here", inputs.display());
    }
    for size in sizes {
        generated(size.parse()?);
    }
    Ok(())
}

fn beside_java(inputs: &Path) -> Result<(), Box<dyn Error>> {
    let own = std::env::current_exe()?;
    let program = own
        .ancestors()
        .find(|folder| folder.ends_with("release"))
        .ok_or("not in a release folder")?
        .join("lodeseek");
    println!("input      triples  Java ms   cold ms  ratio    warm ms   ratio");
    for (name, java) in JAVA {
        let path = inputs.join(format!("{name}.nt"));
        let cold = median(|| process(&program, &path))?;
        let mut builder = TripleGraphBuilder::new();
        DumpReader::default().read_file(&path, name, "file:///", &mut builder);
        let graph = builder.finish();
        let warm = median(|| Ok(snippet(&graph)))?;
        println!(
            "{name:<9}{:>9}{java:>9.0}{cold:>10.1}{:>7.0}{warm:>11.2}{:>8.0}",
            graph.len(),
            java / cold,
            java / warm
        );
    }
    Ok(())
}

fn median(mut measure: impl FnMut() -> Result<f64, Box<dyn Error>>) -> Result<f64, Box<dyn Error>> {
    let mut times = (0..ROUNDS)
        .map(|_| measure())
        .collect::<Result<Vec<f64>, _>>()?;
    times.sort_by(f64::total_cmp);
    Ok(times[ROUNDS / 2])
}

fn process(program: &Path, file: &Path) -> Result<f64, Box<dyn Error>> {
    let started = Instant::now();
    let status = Command::new(program)
        .arg("snippet")
        .arg(file)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    let time = started.elapsed().as_secs_f64() * 1000.0;
    if status.success() {
        Ok(time)
    } else {
        Err(format!("snippet {} ended with {status}", file.display()).into())
    }
}

/// Milliseconds of profile and snippet, without reading.
fn snippet(graph: &TripleGraph) -> f64 {
    let started = Instant::now();
    let snippet = IlluSnip::default().extract(graph, &Profile::new(graph), TripleBudget(20));
    let time = started.elapsed().as_secs_f64() * 1000.0;
    assert!(!snippet.triples.is_empty());
    time
}

fn generated(triples: u64) {
    let started = Instant::now();
    let graph = graph_of(triples);
    let made = started.elapsed().as_secs_f64();
    let before = peak_mib();
    let time = snippet(&graph);
    let after = peak_mib();
    println!(
        "generated: {} triples, {} terms: made in {made:.2} s, profile and snippet {:.3} s; peak memory {before} MiB after making, {} MiB at the end",
        graph.len(),
        graph.term_count(),
        time / 1000.0,
        after
    );
    if triples <= MAX_PCSG_TRIPLES {
        println!(
            "– PCSG of the same: {:.2} s, peak memory {} MiB",
            pcsg(&graph) / 1000.0,
            peak_mib()
        );
    }
}

/// Milliseconds of patterns and PCSG.
fn pcsg(graph: &TripleGraph) -> f64 {
    let profile = Profile::new(graph);
    let started = Instant::now();
    let snippet = Pcsg::default().extract(graph, &profile, TripleBudget(20));
    let time = started.elapsed().as_secs_f64() * 1000.0;
    assert_eq!(snippet.triples.len(), 20);
    time
}

/// Entities of 200 classes with links and values of 500 properties, both by falling frequency; the same on every run.
fn graph_of(triples: u64) -> TripleGraph {
    let name = |kind: &str, number: u64| {
        NamedNode::new_unchecked(format!("http://example.org/{kind}/{number}"))
    };
    let mut state = 20_260_101_u64;
    let mut below = move |limit: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % limit
    };
    let entities = (triples / 6).max(1);
    let kind = NamedNode::new_unchecked("http://www.w3.org/1999/02/22-rdf-syntax-ns#type");
    let mut builder = TripleGraphBuilder::new();
    for _ in 0..triples {
        let subject = name("entity", below(entities));
        // Twice a random bound: low numbers are frequent.
        let rank = |limit: u64, below: &mut dyn FnMut(u64) -> u64| {
            let bound = below(limit) + 1;
            let bound = below(bound) + 1;
            below(bound)
        };
        let triple = match below(6) {
            0 => Triple::new(subject, kind.clone(), name("class", rank(200, &mut below))),
            1..4 => Triple::new(
                subject,
                name("property", rank(500, &mut below)),
                name("entity", rank(entities, &mut below)),
            ),
            _ => Triple::new(
                subject,
                name("property", 500 + rank(100, &mut below)),
                Literal::new_simple_literal(below(triples).to_string()),
            ),
        };
        builder.insert(&triple);
    }
    builder.finish()
}

/// Returns the peak memory of the process in MiB; 0 if the system does not report it.
fn peak_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap_or_default();
    line.trim()
        .trim_end_matches(" kB")
        .parse::<u64>()
        .unwrap_or(0)
        / 1024
}
