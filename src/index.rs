//! `lodeseek index`: profiles, snippets, the text index, and an encoder's vectors.

use super::Done;
use super::encoder::{EncoderArguments, rows};
use super::terminal::{bar, grouped, memory_note, rate};
use lodeseek_engine::{
    EncodingOptions, EncodingReport, IndexOptions, IndexProgress, IndexReport, Indexer, encode_by, index_folder,
    vectors_folder, vectors_of,
};
use lodeseek_index::vectors::{self, StoredVectors, Precision};
use lodeseek_index::{AnalysisKind, Index, IndexError};
use lodeseek_rerank::Encoder;
use lodeseek_snippet::{Method, TripleBudget};
use lodeseek_store::{Access, Store, StoreError, is_home};
use oxsdatatypes::DateTime;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// Index every dataset again, not only those that changed.
    #[arg(long)]
    rebuild: bool,
    /// Triples of the snippet shown for a dataset.
    #[arg(long, value_name = "N", default_value_t = TripleBudget::default().0)]
    snippet_budget: usize,
    /// How the snippet shown for a dataset is chosen; another than before makes every dataset anew.
    #[arg(long, value_name = "METHOD", value_parser = super::method::without_query(), default_value = Method::default().name())]
    snippet_method: Method,
    /// The bound on the steps of one snippet, where its method has one. Default: few milliseconds a dataset.
    #[arg(long, value_name = "N")]
    snippet_work: Option<u64>,
    /// How the triples are ranked that encoders read; another than the index has makes every dataset anew. `patterns` makes
    /// DR2's compact documents after PCSG. Default: as the index has it, else `illusnip-max`.
    #[arg(long, value_name = "METHOD", value_parser = super::method::without_query())]
    compact_method: Option<Method>,
    /// Working threads.
    #[arg(long, value_name = "N", default_value_t = IndexOptions::default().threads)]
    threads: usize,
    /// How texts become tokens: `acordar` or `multilingual` (words stemmed by the language of their text). Another than
    /// the index has makes every dataset anew. Default: as the index has it, else `acordar`.
    #[arg(long, value_name = "KIND")]
    analysis: Option<AnalysisKind>,
    #[command(flatten)]
    encoders: EncoderArguments,
    /// How vectors are stored: f16 or int8, half the size. Another than they have encodes every dataset anew.
    #[arg(long, value_name = "PRECISION", default_value_t)]
    vectors: Precision,
    /// Remove the vectors that the model of this name made, or a folder of vectors by its own name.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["dpr", "colbert"])]
    forget_vectors: Option<String>,
}

pub(crate) fn run(home: &Path, arguments: &Arguments) -> anyhow::Result<Done> {
    if !is_home(home) {
        return Err(StoreError::NoHome { home: home.to_owned() }.into());
    }
    // A model that cannot be had is better known before an hour of indexing.
    let encoders = arguments.encoders.open(None)?;
    let store = Store::open(home, Access::Write, None)?;
    // The committed index answers until the new documents are; only one of another version cannot be gone on with.
    if arguments.rebuild
        && matches!(Index::open(&index_folder(home)), Err(IndexError::OtherVersion(_) | IndexError::OtherAnalysis(_)))
    {
        std::fs::remove_dir_all(index_folder(home))?;
    }
    let options = IndexOptions {
        threads: arguments.threads.max(1),
        snippet_budget: TripleBudget(arguments.snippet_budget),
        snippet_method: arguments.snippet_method,
        snippet_work: arguments.snippet_work,
        compact_method: arguments.compact_method,
        now: Some(DateTime::now()),
        rebuild: arguments.rebuild,
        analysis: arguments.analysis,
        ..IndexOptions::default()
    };
    if let Some(message) = other_analysis(home, arguments.analysis) {
        writeln!(io::stderr().lock(), "{message}")?;
    }
    let bar = bar(1, "indexing {bar:30} {pos} of {len} datasets · {prefix} · {eta} left");
    let started = Instant::now();
    let show = |progress: IndexProgress| {
        bar.set_length(progress.total as u64);
        bar.set_position(progress.datasets as u64);
        bar.set_prefix(format!("{} triples/s", rate(progress.triples, started.elapsed())));
    };
    let indexer = Indexer::new(&store, options);
    let report = indexer.run(&show)?;
    bar.finish_and_clear();
    write_report(&mut io::stderr().lock(), &report, started.elapsed())?;
    tidy(&indexer, &report)?;
    drop(store);
    if let Some(name) = &arguments.forget_vectors {
        forget(home, name)?;
    }
    if let Some(encoder) = encoders.first() {
        writeln!(io::stderr().lock(), "encoding runs on {}", encoder.device())?;
    }
    update_vectors(home, &encoders, arguments.vectors)?;
    Ok(Done::Something)
}

/// Brings the text index up to date, as `index` without arguments does, and the vectors of these models.
pub(super) fn update(home: &Path, encoders: &[Box<dyn Encoder>], precision: Precision) -> anyhow::Result<()> {
    let store = Store::open(home, Access::Write, None)?;
    let options = IndexOptions { now: Some(DateTime::now()), ..IndexOptions::default() };
    let started = Instant::now();
    let indexer = Indexer::new(&store, options);
    let report = indexer.run(&|_| ())?;
    write_report(&mut io::stderr().lock(), &report, started.elapsed())?;
    tidy(&indexer, &report)?;
    drop(store);
    update_vectors(home, encoders, precision)
}

/// Compacts the store after much was written. The index is whole without it.
fn tidy(indexer: &Indexer<'_>, report: &IndexReport) -> io::Result<()> {
    if !Indexer::is_untidy(report) {
        return Ok(());
    }
    writeln!(io::stderr().lock(), "compacting the store, which makes it faster; it may be interrupted …")?;
    let started = Instant::now();
    match indexer.tidy(report) {
        Ok(_) => writeln!(io::stderr().lock(), "compacted in {:.1} s", started.elapsed().as_secs_f64()),
        Err(error) => {
            writeln!(io::stderr().lock(), "lodeseek: the store could not be compacted, and is as it was: {error}")
        }
    }
}

fn update_vectors(home: &Path, encoders: &[Box<dyn Encoder>], precision: Precision) -> anyhow::Result<()> {
    encode_all(home, encoders, precision)?;
    Ok(write_vectors(&mut io::stderr().lock(), &vectors_of(home)?)?)
}

fn encode_all(home: &Path, encoders: &[Box<dyn Encoder>], precision: Precision) -> anyhow::Result<()> {
    let bar = bar(1, "encoding {bar:30} {pos} of {len} datasets · {eta} left");
    let options = EncodingOptions { precision, ..EncodingOptions::default() };
    let of_each: Vec<_> = encoders.iter().map(|encoder| (encoder.as_ref(), options)).collect();
    let reports = encode_by(home, &of_each, &|progress| {
        bar.set_length(progress.total as u64);
        bar.set_position(progress.datasets as u64);
    });
    bar.finish_and_clear();
    for (encoder, report) in encoders.iter().zip(reports?) {
        let EncodingReport { model, encoded, unchanged, removed, time, bytes } = report;
        let what = rows(encoder.granularity());
        let shared = if encoders[0].name() == model && encoders[0].granularity() != encoder.granularity() {
            " from the same pass"
        } else {
            ""
        };
        writeln!(
            io::stderr().lock(),
            "{encoded} datasets encoded, {what} by {model}{shared}, {unchanged} unchanged, {removed} removed; {:.1} MB in {:.1} s ({} datasets/s)",
            bytes as f64 / 1e6,
            time.as_secs_f64(),
            rate(encoded as u64, time),
        )?;
    }
    Ok(())
}

/// Removes all vectors of a model by its name, whatever its fingerprint was.
fn forget(home: &Path, name: &str) -> anyhow::Result<()> {
    let listed = vectors::list(&vectors_folder(home))?;
    let of_name = |one: &&StoredVectors| {
        let of_model = one.description.as_ref().is_ok_and(|description| description.model == name);
        of_model || one.folder.file_name().is_some_and(|folder| folder == name)
    };
    let found: Vec<&StoredVectors> = listed.iter().filter(of_name).collect();
    anyhow::ensure!(!found.is_empty(), "there are no vectors of a model named {name:?}");
    for one in found {
        vectors::delete(one)?;
        writeln!(io::stderr().lock(), "the vectors of {name} are removed ({:.1} MB)", one.bytes as f64 / 1e6)?;
    }
    Ok(())
}

/// The vectors there are, and how many datasets are without: those of a model that is no longer used lie there until they
/// are forgotten.
fn write_vectors(out: &mut impl Write, listed: &[(StoredVectors, usize)]) -> io::Result<()> {
    for (StoredVectors { description, folder, bytes }, missing) in listed {
        let what = match description {
            Ok(known) => format!("of {}, {} columns of {}", known.model, known.columns, known.precision),
            Err(error) => format!("at {}: {error}", folder.display()),
        };
        let without = match missing {
            0 => String::new(),
            missing => format!("; {missing} datasets have none of their present texts"),
        };
        writeln!(out, "vectors {what}, {:.1} MB{without}", *bytes as f64 / 1e6)?;
    }
    Ok(())
}

/// What there is to say where the index is of another analysis than the one wanted.
fn other_analysis(home: &Path, wanted: Option<AnalysisKind>) -> Option<String> {
    let snapshot = Index::open(&index_folder(home)).ok()?.snapshot().ok()?;
    let had = snapshot.analysis().kind();
    let wanted = wanted.filter(|wanted| *wanted != had && !snapshot.is_empty())?;
    Some(format!("the index was analysed as {had}; every dataset is indexed anew, analysed as {wanted}"))
}

fn write_report(out: &mut impl Write, report: &IndexReport, time: Duration) -> io::Result<()> {
    writeln!(
        out,
        "{} datasets indexed, {} unchanged, {} removed; {} triples in {:.1} s ({} triples/s{})",
        report.indexed,
        report.unchanged,
        report.removed,
        grouped(report.triples),
        time.as_secs_f64(),
        rate(report.triples, time),
        memory_note(),
    )?;
    if report.triples == 0 {
        return Ok(());
    }
    let stages = [
        ("reading", report.times.read),
        ("profiles", report.times.profile),
        ("snippets", report.times.snippet),
        ("documents", report.times.document),
        ("index", report.times.index),
        ("store", report.times.store),
    ];
    for (stage, time) in stages {
        writeln!(
            out,
            "  {stage:<10} {:>7.2} s of one thread  {:>12} triples/s",
            time.as_secs_f64(),
            rate(report.triples, time)
        )?;
    }
    Ok(())
}
