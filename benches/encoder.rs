//! The default model: how near its vectors are to sentence-transformers' own, and how long a text takes.
//!
//! `cargo bench --bench encoder -- MODEL REFERENCE [VARIANT…]`: MODEL is the folder that `make model` wrote, REFERENCE a JSON
//! object with `texts` and `vectors`, what `SentenceTransformer(MODEL).encode(texts)` gives. ORT_DYLIB_PATH names the
//! library. Times are medians, one text at a time.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a benchmark prints its figures"
)]

use lodeseek_rerank::encoder::{Device, Encoder, EncoderOptions, Matrix, Passage, open};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

#[derive(Deserialize)]
struct Reference {
    texts: Vec<String>,
    vectors: Vec<Vec<f32>>,
}

const QUERIES: [&str; 4] = [
    "air quality in Paris",
    "nitrogen reduction plan",
    "where are the bus stops?",
    "ginkgo biloba",
];
const RUNS: usize = 20;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench")
        .collect();
    let [model, reference, variants @ ..] = &arguments[..] else {
        eprintln!("usage: cargo bench --bench encoder -- MODEL REFERENCE [VARIANT...]");
        return Ok(());
    };
    let reference: Reference = serde_json::from_slice(&std::fs::read(reference)?)?;
    let variants = if variants.is_empty() {
        &["model.onnx".to_owned()]
    } else {
        variants
    };
    for variant in variants {
        for threads in [1, 2] {
            measure(Path::new(model), variant, threads, &reference)?;
        }
    }
    Ok(())
}

fn measure(
    model: &Path,
    variant: &str,
    threads: usize,
    reference: &Reference,
) -> Result<(), Box<dyn std::error::Error>> {
    let library = std::env::var_os("ORT_DYLIB_PATH").map(PathBuf::from);
    let options = EncoderOptions {
        library,
        device: Device::Cpu,
        threads: Some(threads),
        variant: Some(variant.to_owned()),
        ..EncoderOptions::default()
    };
    let started = Instant::now();
    let encoder = open(model, &options)?;
    println!(
        "{variant}, {threads} threads: opened in {:.0} ms, {}",
        ms(started.elapsed()),
        encoder.device()
    );
    if threads == 1 {
        likeness(encoder.as_ref(), reference)?;
    }
    let query = median(RUNS, |run| {
        encoder
            .encode_queries(&[QUERIES[run % QUERIES.len()]])
            .map(drop)
    })?;
    let long = vec!["water quality measured in rivers and lakes of the region ".repeat(80)];
    let passage = Passage {
        parts: &long,
        pieces_a_part: None,
    };
    let full = open(
        model,
        &EncoderOptions {
            document_length: Some(512),
            ..options
        },
    )?;
    let document = median(RUNS / 4, |_| full.encode_passages(&[passage]).map(drop))?;
    println!(
        "  a query {:.1} ms, a document of 512 pieces {:.1} ms",
        ms(query),
        ms(document)
    );
    Ok(())
}

fn likeness(
    encoder: &dyn Encoder,
    reference: &Reference,
) -> Result<(), Box<dyn std::error::Error>> {
    let passages: Vec<Passage<'_>> = reference
        .texts
        .iter()
        .map(|text| Passage {
            parts: std::slice::from_ref(text),
            pieces_a_part: None,
        })
        .collect();
    let started = Instant::now();
    let ours = encoder.encode_passages(&passages)?;
    let took = started.elapsed();
    let cosines: Vec<f64> = ours
        .iter()
        .zip(&reference.vectors)
        .map(|(ours, theirs)| cosine(ours, theirs))
        .collect();
    let (least, sum) = cosines
        .iter()
        .fold((f64::INFINITY, 0.0), |(least, sum), cosine| {
            (cosine.min(least), sum + cosine)
        });
    let count = cosines.len();
    println!(
        "  {count} texts in {:.1} s: cosine {:.6} on average, {least:.6} at least",
        took.as_secs_f64(),
        sum / count as f64
    );
    Ok(())
}

fn cosine(ours: &Matrix, theirs: &[f32]) -> f64 {
    let product = |left: &[f32], right: &[f32]| {
        left.iter()
            .zip(right)
            .map(|(a, b)| f64::from(*a) * f64::from(*b))
            .sum::<f64>()
    };
    let ours = ours.row(0);
    product(ours, theirs) / (product(ours, ours) * product(theirs, theirs)).sqrt()
}

fn median<E>(runs: usize, mut run: impl FnMut(usize) -> Result<(), E>) -> Result<Duration, E> {
    run(0)?;
    let mut times = Vec::new();
    for number in 0..runs {
        let started = Instant::now();
        run(number)?;
        times.push(started.elapsed());
    }
    times.sort();
    Ok(times[times.len() / 2])
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
