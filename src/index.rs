//! `lodeseek index`: computes profiles and snippets, and updates the text index and the vectors of encoders.

use super::ExitStatus;
use super::encoder::{EncoderArguments, method_name};
use super::terminal::{bar, grouped, memory_note, rate};
use lodeseek_engine::{
    EncodingOptions, EncodingReport, IndexOptions, IndexProgress, IndexReport, Indexer, encode_all, index_folder,
    list_vectors, vectors_folder,
};
use lodeseek_index::vectors::{self, Precision, StoredVectors};
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
    /// Index all datasets again, not only those that changed.
    #[arg(long)]
    rebuild: bool,
    /// Maximum number of triples in the stored snippet of a dataset.
    #[arg(long, value_name = "N", default_value_t = TripleBudget::default().0)]
    snippet_budget: usize,
    /// Method of the stored snippets. A change indexes all datasets again.
    #[arg(long, value_name = "METHOD", value_parser = super::method::without_query(), default_value = Method::default().name())]
    snippet_method: Method,
    /// Maximum number of steps of one snippet, for methods with a bound [default: a few milliseconds for each dataset].
    #[arg(long, value_name = "N")]
    snippet_work: Option<u64>,
    /// Method that ranks the triples for encoders. `patterns` builds DR2's compact documents after PCSG. A change indexes all
    /// datasets again [default: the method of the index, else illusnip-max].
    #[arg(long, value_name = "METHOD", value_parser = super::method::without_query())]
    compact_method: Option<Method>,
    /// Number of worker threads.
    #[arg(long, value_name = "N", default_value_t = IndexOptions::default().threads)]
    threads: usize,
    /// Text analysis: acordar, or multilingual, which stems words by the language of their text. A change indexes all datasets
    /// again [default: the analysis of the index, else acordar].
    #[arg(long, value_name = "KIND")]
    analysis: Option<AnalysisKind>,
    #[command(flatten)]
    encoders: EncoderArguments,
    /// Number format of stored vectors: f16, or int8 for half the size. A change encodes all datasets again.
    #[arg(long, value_name = "PRECISION", default_value_t)]
    vectors: Precision,
    /// Delete the vectors of the model with this name, or a folder of vectors by its name.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["dpr", "colbert"])]
    forget_vectors: Option<String>,
}

pub(crate) fn run(home: &Path, arguments: &Arguments) -> anyhow::Result<ExitStatus> {
    if !is_home(home) {
        return Err(StoreError::NoHome { home: home.to_owned() }.into());
    }
    // The models are opened first, so that a missing one is reported before an hour of indexing.
    let encoders = arguments.encoders.open(None)?;
    let store = Store::open(home, Access::Write, None)?;
    // The committed index serves searches until the new documents are committed. Only an index of another version is deleted.
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
    if let Some(message) = analysis_change(home, arguments.analysis) {
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
        delete_vectors(home, name)?;
    }
    if let Some(encoder) = encoders.first() {
        writeln!(io::stderr().lock(), "the models run on {}", encoder.device())?;
    }
    update_vectors(home, &encoders, arguments.vectors)?;
    Ok(ExitStatus::Success)
}

/// Updates the text index, as `index` without arguments does, and the vectors of these models.
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

/// Compacts the store if much was written. The index is complete without it.
fn tidy(indexer: &Indexer<'_>, report: &IndexReport) -> io::Result<()> {
    if !Indexer::needs_compaction(report) {
        return Ok(());
    }
    writeln!(io::stderr().lock(), "compacting the store to speed up reads; this step may be interrupted …")?;
    let started = Instant::now();
    match indexer.compact_store(report) {
        Ok(_) => writeln!(io::stderr().lock(), "compacted in {:.1} s", started.elapsed().as_secs_f64()),
        Err(error) => {
            writeln!(io::stderr().lock(), "lodeseek: cannot compact the store; it is unchanged and usable: {error}")
        }
    }
}

fn update_vectors(home: &Path, encoders: &[Box<dyn Encoder>], precision: Precision) -> anyhow::Result<()> {
    encode_and_report(home, encoders, precision)?;
    Ok(write_vectors(&mut io::stderr().lock(), &list_vectors(home)?)?)
}

fn encode_and_report(home: &Path, encoders: &[Box<dyn Encoder>], precision: Precision) -> anyhow::Result<()> {
    let bar = bar(1, "encoding {bar:30} {pos} of {len} datasets · {eta} left");
    let options = EncodingOptions { precision, ..EncodingOptions::default() };
    let jobs: Vec<_> = encoders.iter().map(|encoder| (encoder.as_ref(), options)).collect();
    let reports = encode_all(home, &jobs, &|progress| {
        bar.set_length(progress.total as u64);
        bar.set_position(progress.datasets as u64);
    });
    bar.finish_and_clear();
    for (encoder, report) in encoders.iter().zip(reports?) {
        let EncodingReport { model, encoded, unchanged, removed, time, bytes } = report;
        let method = method_name(encoder.granularity());
        let shared_pass = if encoders[0].name() == model && encoders[0].granularity() != encoder.granularity() {
            " from the same pass"
        } else {
            ""
        };
        writeln!(
            io::stderr().lock(),
            "{encoded} datasets encoded, {method} vectors by {model}{shared_pass}, {unchanged} unchanged, {removed} removed; {:.1} MB in {:.1} s ({} datasets/s)",
            bytes as f64 / 1e6,
            time.as_secs_f64(),
            rate(encoded as u64, time),
        )?;
    }
    Ok(())
}

/// Deletes all vectors of a model by its name, for every fingerprint.
///
/// # Errors
/// If there are none.
fn delete_vectors(home: &Path, name: &str) -> anyhow::Result<()> {
    let listed = vectors::list(&vectors_folder(home))?;
    let of_name = |one: &&StoredVectors| {
        let of_model = one.description.as_ref().is_ok_and(|description| description.model == name);
        of_model || one.folder.file_name().is_some_and(|folder| folder == name)
    };
    let found: Vec<&StoredVectors> = listed.iter().filter(of_name).collect();
    anyhow::ensure!(
        !found.is_empty(),
        "cannot delete vectors: no model or folder is named {name:?}; `lodeseek index` lists the stored vectors"
    );
    for one in found {
        vectors::delete(one)?;
        writeln!(io::stderr().lock(), "deleted the vectors of {name} ({:.1} MB)", one.bytes as f64 / 1e6)?;
    }
    Ok(())
}

/// Lists the stored vectors with the number of datasets that need encoding. Vectors of unused models remain until
/// `--forget-vectors` deletes them.
fn write_vectors(out: &mut impl Write, listed: &[(StoredVectors, usize)]) -> io::Result<()> {
    for (StoredVectors { description, folder, bytes }, missing) in listed {
        let what = match description {
            Ok(stored) => format!("of {}, {} columns of {}", stored.model, stored.columns, stored.precision),
            Err(error) => format!("at {}: {error}", folder.display()),
        };
        let without = match missing {
            0 => String::new(),
            missing => format!("; {missing} datasets have no up-to-date vectors"),
        };
        writeln!(out, "vectors {what}, {:.1} MB{without}", *bytes as f64 / 1e6)?;
    }
    Ok(())
}

/// Returns a message if the index has another analysis than the requested one.
fn analysis_change(home: &Path, requested: Option<AnalysisKind>) -> Option<String> {
    let snapshot = Index::open(&index_folder(home)).ok()?.snapshot().ok()?;
    let current = snapshot.analysis().kind();
    let requested = requested.filter(|requested| *requested != current && !snapshot.is_empty())?;
    Some(format!("the analysis changes from {current} to {requested}: all datasets are indexed again"))
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
            "  {stage:<10} {:>7.2} s of thread time  {:>12} triples/s",
            time.as_secs_f64(),
            rate(report.triples, time)
        )?;
    }
    Ok(())
}
