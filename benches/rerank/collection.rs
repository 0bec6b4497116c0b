//! A collection made up from a seed, encoded by the model: disk, memory, times.
//!
//! A dataset has twelve words of metadata and five triples of four; words are whole entries of the model's vocabulary. The
//! model encodes the first datasets alone; all further ones hold the rows of those in turn, so that the files have their
//! true size and every row is a vector that the model gives. Memory is that of processes of their own.

use super::measure::{Random, Spread, cost, memory as of_process};
use super::models::{
    Clocked, GRANULARITIES, VARIANTS, called, copy, default_options, options, searcher,
};
use super::queries::passages;
use super::{Arguments, Failure};
use lodeseek_catalog::DatasetId;
use lodeseek_engine::{RerankOptions, index_folder, vectors_folder};
use lodeseek_index::document::{CompactDocument, Field, FieldedDocument};
use lodeseek_index::vectors::{Description, Precision, Rows, VectorsWriter, model_folder};
use lodeseek_index::{Analysis, IndexDocument, IndexWriter};
use lodeseek_rerank::{Encoder, Granularity, Matrix, Passage, Similarity, dpr};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

const THREADS: usize = 2;
const QUERIES: usize = 100;
/// Datasets handed to the model at once, as the engine has it.
const BATCH: usize = 16;
/// Datasets after which vectors are committed, as the engine has it.
const COMMIT: usize = 512;
/// Pieces that the longest texts are cut to, in the papers.
const MAX_TEXT_TOKENS: usize = 512;

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let model = arguments.model()?;
    let variant = arguments.variant.as_deref().unwrap_or(VARIANTS[1]);
    let encoded = arguments.encoded.min(arguments.size);
    let temporary = tempfile::tempdir()?;
    let folder = arguments
        .keep
        .as_deref()
        .unwrap_or(temporary.path())
        .join(format!("made-up-{}", arguments.size));
    let homes: Vec<(Precision, PathBuf)> = arguments
        .formats
        .iter()
        .map(|precision| (*precision, folder.join(precision.to_string())))
        .collect();
    let (_, first) = homes.first().ok_or("--formats names none")?;
    println!(
        "{} datasets made up, {encoded} of them encoded by {variant} on {THREADS} threads",
        arguments.size
    );
    if !folder.join("finished").exists() {
        let words = words(model)?;
        index(&index_folder(first), &words, arguments.size)?;
        for (_, home) in &homes[1..] {
            copy(&index_folder(first), &index_folder(home))?;
        }
        for granularity in GRANULARITIES {
            let clocked = Clocked::open(model, variant, granularity, THREADS)?;
            write(&clocked, &homes, &words, arguments.size, encoded)?;
        }
        std::fs::write(folder.join("finished"), "")?;
    }
    for (precision, home) in &homes {
        for granularity in GRANULARITIES {
            extrapolate(
                model,
                variant,
                granularity,
                *precision,
                home,
                arguments.size,
            )?;
        }
        for encoders in ["dpr", "colbert", "both"] {
            apart(arguments, variant, *precision, home, encoders)?;
        }
    }
    GRANULARITIES
        .into_iter()
        .try_for_each(|granularity| full_length(model, variant, granularity, arguments.size))
}

/// Entries of the model's vocabulary that are whole words.
fn words(model: &Path) -> Result<Vec<String>, Failure> {
    let told: serde_json::Value =
        serde_json::from_slice(&std::fs::read(model.join("tokenizer.json"))?)?;
    let entries = told["model"]["vocab"]
        .as_object()
        .ok_or("tokenizer.json without a vocabulary")?;
    Ok(entries
        .keys()
        .filter(|word| {
            (4..=10).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_lowercase())
        })
        .cloned()
        .collect())
}

/// So many words: common ones more often, as the smaller of two numbers is small more often.
fn text(random: &mut Random, words: &[String], count: usize) -> String {
    let mut word = || words[random.below(words.len()).min(random.below(words.len()))].as_str();
    (0..count).map(|_| word()).collect::<Vec<_>>().join(" ")
}

fn document(random: &mut Random, words: &[String]) -> CompactDocument {
    let metadata = vec![text(random, words, 4), text(random, words, 8)];
    CompactDocument {
        metadata,
        triples: (0..5).map(|_| text(random, words, 4)).collect(),
    }
}

/// The same documents each time.
fn documents(words: &[String]) -> impl Iterator<Item = CompactDocument> {
    let mut random = Random::new(31_589);
    std::iter::repeat_with(move || document(&mut random, words))
}

fn id(number: usize) -> Result<DatasetId, Failure> {
    Ok(DatasetId::new(number.to_string())?)
}

fn index(folder: &Path, words: &[String], size: usize) -> Result<(), Failure> {
    let (mut writer, analysis) = (IndexWriter::open(folder)?, Analysis::default());
    for (number, compact) in documents(words).take(size).enumerate() {
        let fielded = FieldedDocument::default()
            .with(Field::Title, [compact.metadata[0].as_str()])
            .with(Field::Description, [compact.metadata[1].as_str()])
            .with(Field::Literal, compact.triples.iter().map(String::as_str));
        let texts = serde_json::to_vec(&compact)?;
        writer.put(IndexDocument::new(
            id(number)?,
            String::new(),
            &fielded,
            &analysis,
            Vec::new(),
            texts,
        ))?;
    }
    Ok(writer.finish()?)
}

/// Encodes the first datasets and writes all, in each precision.
fn write(
    clocked: &Clocked,
    homes: &[(Precision, PathBuf)],
    words: &[String],
    size: usize,
    encoded: usize,
) -> Result<(), Failure> {
    let encoder = clocked.encoder.as_ref();
    let (mut known, mut encoding) = (Vec::with_capacity(encoded), 0.0);
    let first: Vec<CompactDocument> = documents(words).take(encoded).collect();
    for batch in first.chunks(BATCH) {
        let passages: Vec<Passage<'_>> = batch.iter().flat_map(passages).collect();
        let (cost, matrices) = cost(|| encoder.encode_passages(&passages));
        encoding += cost.wall / 1e3;
        known.extend(
            matrices?
                .as_chunks::<2>()
                .0
                .iter()
                .map(|texts| texts.each_ref().map(|text| comparable(encoder, text))),
        );
    }
    let pieces =
        known.iter().flatten().map(Matrix::rows).sum::<usize>() as f64 / known.len() as f64;
    println!(
        "  {}: {:.0} datasets/s, {pieces:.1} rows a dataset; all {size} would take {:.0} s",
        called(encoder.granularity()),
        encoded as f64 / encoding,
        encoding * size as f64 / encoded as f64
    );
    for (precision, home) in homes {
        let (cost, done) = cost(|| write_as(encoder, *precision, home, &known, size));
        done?;
        println!("    written as {precision} in {:.1} s", cost.wall / 1e3);
    }
    Ok(())
}

fn write_as(
    encoder: &dyn Encoder,
    precision: Precision,
    home: &Path,
    known: &[[Matrix; 2]],
    size: usize,
) -> Result<(), Failure> {
    let precision = stored_as(encoder.granularity(), precision);
    let description = Description {
        model: encoder.name().to_owned(),
        fingerprint: encoder.fingerprint().to_owned(),
        columns: encoder.dimension(),
        precision,
    };
    let pack = |matrix: &Matrix| Rows::pack(matrix.values(), matrix.columns(), precision);
    let packed: Vec<[Rows; 2]> = known
        .iter()
        .map(|texts| texts.each_ref().map(pack))
        .collect();
    let mut writer = VectorsWriter::open(
        &model_folder(&vectors_folder(home), encoder.fingerprint()),
        description,
    )?;
    for number in 0..size {
        writer.put(
            id(number)?,
            format!("{number:032}"),
            packed[number % packed.len()].each_ref(),
        )?;
        if number % COMMIT.max(size / 64) == 0 {
            writer.commit()?;
        }
    }
    Ok(writer.finish()?)
}

/// The engine stores single vectors of texts as int8 where those of tokens are int2.
fn stored_as(granularity: Granularity, precision: Precision) -> Precision {
    match (granularity, precision) {
        (Granularity::Text, Precision::I2) => Precision::I8,
        _ => precision,
    }
}

/// A matrix whose inner products are what the model was trained for, as the engine stores it.
fn comparable(encoder: &dyn Encoder, matrix: &Matrix) -> Matrix {
    match (encoder.granularity(), encoder.similarity()) {
        (Granularity::Text, Similarity::Cosine) => dpr::unit(matrix),
        _ => matrix.clone(),
    }
}

/// Disk, and what it would be with texts of full length: of vectors a piece so many times more, of vectors a text the same.
fn extrapolate(
    model: &Path,
    variant: &str,
    granularity: Granularity,
    precision: Precision,
    home: &Path,
    size: usize,
) -> Result<(), Failure> {
    let clocked = Clocked::open(model, variant, granularity, THREADS)?;
    let folder = model_folder(&vectors_folder(home), clocked.encoder.fingerprint());
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder)? {
        bytes += entry?.metadata()?.len();
    }
    println!(
        "  {precision}, {} on disk: {:.1} MB",
        called(granularity),
        bytes as f64 / 1e6
    );
    if granularity == Granularity::Piece {
        let full = precision
            .bytes(MAX_TEXT_TOKENS, clocked.encoder.dimension())
            .ok_or("too many rows")?
            * 2
            * size;
        println!(
            "    texts of {MAX_TEXT_TOKENS} pieces would take {:.1} GB (extrapolated)",
            full as f64 / 1e9
        );
    }
    Ok(())
}

/// Estimates the time to encode texts of full length from eight of them.
fn full_length(
    model: &Path,
    variant: &str,
    granularity: Granularity,
    size: usize,
) -> Result<(), Failure> {
    let clocked = Clocked::open_to(model, variant, granularity, THREADS, Some(MAX_TEXT_TOKENS))?;
    let (words, mut random) = (words(model)?, Random::new(7));
    let texts: Vec<[String; 1]> = (0..8)
        .map(|_| [text(&mut random, &words, MAX_TEXT_TOKENS)])
        .collect();
    let passages: Vec<Passage<'_>> = texts
        .iter()
        .map(|parts| Passage {
            parts,
            pieces_a_part: None,
        })
        .collect();
    let (cost, matrices) = cost(|| clocked.encoder.encode_passages(&passages));
    matrices?;
    let each = cost.wall / passages.len() as f64;
    println!(
        "  {}, a text of {MAX_TEXT_TOKENS} pieces: {each:.0} ms; {size} datasets of two would take {:.1} h (extrapolated)",
        called(granularity),
        each * 2.0 * size as f64 / 3.6e6
    );
    Ok(())
}

/// Starts this program once more, to see what one process takes.
fn apart(
    arguments: &Arguments,
    variant: &str,
    precision: Precision,
    home: &Path,
    encoders: &str,
) -> Result<(), Failure> {
    println!("  {precision}, {encoders}, a process of its own:");
    let status = Command::new(std::env::current_exe()?)
        .arg("memory")
        .arg(format!("--home={}", home.display()))
        .arg(format!("--model={}", arguments.model()?.display()))
        .arg(format!("--variant={variant}"))
        .arg(format!("--encoders={encoders}"))
        .status()?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("the process measured: {status}").into())
    }
}

/// Opens everything and ranks queries in the measured process. Prints its memory after each step.
pub(super) fn memory(arguments: &Arguments) -> Result<(), Failure> {
    let (model, home) = (arguments.model()?, arguments.home()?);
    let variant = arguments
        .variant
        .as_deref()
        .ok_or("--variant=FILE is missing")?;
    let chosen = match arguments.encoders.as_deref() {
        Some("dpr") => &GRANULARITIES[..1],
        Some("colbert") => &GRANULARITIES[1..],
        _ => &GRANULARITIES[..],
    };
    let (opening, encoders) = cost(|| {
        chosen
            .iter()
            .map(|granularity| Clocked::open(model, variant, *granularity, 1))
            .collect::<Result<Vec<_>, _>>()
    });
    let encoders: Vec<Arc<Clocked>> = encoders?;
    step(&format!("model opened in {:.0} ms", opening.wall));
    let options = match chosen {
        [Granularity::Text] => RerankOptions {
            dense: NonZeroUsize::new(10),
            ..options(1, 20, 1)
        },
        [_] => options(1, 20, 1),
        _ => default_options(1),
    };
    let (opening, searcher) = cost(|| searcher(home, &encoders, &options));
    let searcher = searcher?;
    step(&format!(
        "index and vectors opened in {:.1} ms",
        opening.wall
    ));
    let (words, mut random) = (words(model)?, Random::new(99));
    let mut query = || {
        let count = 1 + random.below(4);
        text(&mut random, &words, count)
    };
    let (first, ranking) = cost(|| searcher.rank(&query(), 20));
    ranking?;
    step(&format!("first query {:.0} ms", first.wall));
    let mut costs = Vec::new();
    for _ in 0..QUERIES {
        let (cost, ranking) = cost(|| searcher.rank(&query(), 20));
        ranking?;
        costs.push(cost);
    }
    let wall = Spread::new(costs.iter().map(|cost| cost.wall));
    let core = Spread::new(costs.iter().map(|cost| cost.core)).mean();
    let told = format!(
        "p50 {:.2} p95 {:.2} ms, mean on its core {core:.2} ms",
        wall.at(0.5),
        wall.at(0.95)
    );
    step(&format!("{QUERIES} queries, {told}"));
    Ok(())
}

fn step(what: &str) {
    let [now, most, private] =
        ["VmRSS", "VmHWM", "RssAnon"].map(|line| of_process(line) as f64 / 1e6);
    println!(
        "    {what}: {now:.1} MB resident ({private:.1} MB of it not files), at most {most:.1} MB"
    );
}
