//! `lodeseek index`: computes profiles and snippets, and updates the text index and the vectors of encoders.

use super::ExitStatus;
use super::config::Config;
use super::encoder::{EncoderArguments, method_name};
use super::ranking::{Choice, Opened, Preset};
use super::server_client::{ServerArguments, ServerClient};
use super::terminal::{bar, counted, grouped, memory_note, rate, verb_form};
use lodeseek_cli::streams::messages;
use lodeseek_cluster::AssemblyTarget;
use lodeseek_engine::{
    DerivedSource, EncodingOptions, EncodingReport, IndexOptions, IndexReport, Indexer,
    WorksReport, encode_all_with, encode_works, has_unusable_index, incomplete_index, index_folder,
    is_multilingual, list_vectors, vectors_folder,
};
use lodeseek_index::vectors::{self, Precision, StoredVectors};
use lodeseek_index::{AnalysisKind, Index, IndexError, read_analysis};
use lodeseek_rerank::Encoder;
use lodeseek_snippet::{Method, TripleBudget};
use lodeseek_store::{Access, Store, check_home};
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
    /// Text analysis: multilingual, which stems words by the language of their text; english; or acordar, as in the published
    /// results. A change indexes all datasets again [default: the analysis of the index, else multilingual].
    #[arg(long, value_name = "KIND")]
    analysis: Option<AnalysisKind>,
    /// Ranking of searches: words (one model), balanced (two models) or best (also vectors, which are made now). It is recorded
    /// with --dpr, --colbert and --onnx, and all other commands use it [default: as recorded, else best].
    #[arg(long, value_name = "PRESET")]
    ranking: Option<Preset>,
    #[command(flatten)]
    encoders: EncoderArguments,
    /// Number format of stored vectors: f16, int8 for half the size, or int2 for an eighth (of texts: int8). A change encodes all
    /// datasets again [default: that of the stored vectors, else f16].
    #[arg(long, value_name = "PRECISION")]
    vectors: Option<Precision>,
    /// Delete the vectors of the model with this name, or a folder of vectors by its name.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["dpr", "colbert", "ranking"])]
    forget_vectors: Option<String>,
    #[command(flatten)]
    server: ServerArguments,
}

pub(crate) fn run(
    home: &Path,
    config: &Config,
    arguments: &Arguments,
) -> anyhow::Result<ExitStatus> {
    if let Some(server) = arguments.server.find(home)? {
        return arguments.index_through(&server);
    }
    check_home(home)?;
    // A wrong name is reported before the index is updated.
    let forgotten = match &arguments.forget_vectors {
        Some(name) => vectors_of(home, name)?,
        None => Vec::new(),
    };
    // The models are opened first, so that a missing one is reported before an hour of indexing.
    let choice = Choice::new(home, config, Some(&arguments.encoders), arguments.ranking)?;
    let mut update = IndexUpdate::new(config, &choice, arguments.vectors)?;
    let requested = arguments.analysis.or(config.settings.analysis);
    let store = Store::open(home, Access::Write, None)?;
    // The committed index serves searches until the new documents are committed. Only an index that cannot be used is deleted.
    let mut analysis = arguments.analysis;
    let mut compact_method = arguments.compact_method;
    let incomplete = incomplete_index(home);
    if let Some(existing) = incomplete.filter(|_| arguments.rebuild) {
        compact_method = compact_method.or(existing.compact_method);
    }
    if arguments.rebuild && (incomplete.is_some() || has_unusable_index(home)) {
        // The new index keeps the analysis, which is lost with the folder.
        analysis = analysis.or(read_analysis(&index_folder(home)));
        std::fs::remove_dir_all(index_folder(home))?;
    }
    let options = IndexOptions {
        threads: arguments.threads.max(1),
        snippet_budget: TripleBudget(arguments.snippet_budget),
        snippet_method: arguments.snippet_method,
        snippet_work: arguments.snippet_work,
        compact_method,
        now: Some(DateTime::now()),
        rebuild: arguments.rebuild,
        analysis: analysis_of(home, requested.or(analysis)),
        ..IndexOptions::default()
    };
    if let Some(message) = analysis_change(home, requested) {
        writeln!(messages(), "{message}")?;
    }
    let bar = bar(
        1,
        "indexing {bar:30} {pos} of {len} datasets · {prefix} · {eta} left",
    );
    let started = Instant::now();
    let indexer = Indexer::new(&store, options);
    let report = indexer.run(&|progress| {
        bar.set_length(progress.total as u64);
        bar.set_position(progress.datasets as u64);
        bar.set_prefix(format!(
            "{} triples/s",
            rate(progress.triples, started.elapsed())
        ));
    })?;
    bar.finish_and_clear();
    write_report(&mut messages(), &report, started.elapsed())?;
    if let Some(incomplete) = incomplete.filter(|_| !arguments.rebuild) {
        writeln!(
            messages(),
            "an earlier version created this index: it cannot {}; run `lodeseek index --rebuild` once",
            incomplete.inability
        )?;
    }
    if report.indexed + report.unchanged == 0 {
        writeln!(
            messages(),
            "the collection has no datasets; `lodeseek load` or `lodeseek harvest` adds some"
        )?;
    }
    compact_store(&store, &indexer, &report)?;
    if arguments.forget_vectors.is_none() {
        update.add_multilingual(&store, report.analysis)?;
    }
    drop(store);
    for one in &forgotten {
        vectors::delete(one)?;
        let megabytes = one.bytes as f64 / 1e6;
        writeln!(
            messages(),
            "deleted the vectors at {} ({megabytes:.1} MB)",
            one.folder.display()
        )?;
    }
    if let Some(encoder) = update.opened.encoders.first() {
        writeln!(messages(), "the models run on {}", encoder.device())?;
    }
    // Vectors of other models stay as they are.
    if arguments.forget_vectors.is_none() {
        update.vectors(home)?;
        // Other commands use what is recorded, so the vectors come first.
        choice.write_record(home)?;
    }
    write_vectors(&mut messages(), &list_vectors(home)?)?;
    Ok(ExitStatus::Success)
}

impl Arguments {
    /// Returns the names of the given options that a server does not support. Default values are those of a server, too.
    fn local_options(&self) -> Vec<&'static str> {
        let default = IndexOptions::default();
        let options = [
            (
                "--snippet-budget",
                self.snippet_budget != default.snippet_budget.0,
            ),
            (
                "--snippet-method",
                self.snippet_method != default.snippet_method,
            ),
            ("--snippet-work", self.snippet_work.is_some()),
            ("--compact-method", self.compact_method.is_some()),
            ("--threads", self.threads != default.threads),
            ("--analysis", self.analysis.is_some()),
            ("--ranking", self.ranking.is_some()),
            ("--vectors", self.vectors.is_some()),
            ("--forget-vectors", self.forget_vectors.is_some()),
        ];
        let names = options
            .into_iter()
            .filter(|(_, is_given)| *is_given)
            .map(|(name, _)| name);
        names.chain(self.encoders.option_names()).collect()
    }

    /// Indexes through a server, which uses its own models.
    fn index_through(&self, server: &ServerClient) -> anyhow::Result<ExitStatus> {
        let options = self.local_options();
        anyhow::ensure!(
            options.is_empty(),
            "{} cannot be used through {}, which indexes with its own settings; stop it and index its home, or omit the options",
            options.join(", "),
            server.name()
        );
        let result = server.index(self.rebuild)?;
        let indexed = result["indexed"].as_u64().unwrap_or(0);
        writeln!(
            messages(),
            "{} indexed by {}",
            counted(indexed, "dataset"),
            server.name()
        )?;
        Ok(ExitStatus::Success)
    }
}

/// Returns the analysis of an update: the requested one; for a new index the multilingual one; else that of the index.
fn analysis_of(home: &Path, requested: Option<AnalysisKind>) -> Option<AnalysisKind> {
    let is_new = matches!(
        Index::open(&index_folder(home)),
        Err(IndexError::Missing(_))
    );
    requested.or(is_new.then_some(AnalysisKind::Multilingual))
}

/// An update of index and vectors with the settings of a home.
pub(super) struct IndexUpdate<'c> {
    choice: &'c Choice,
    opened: Opened,
    precision: Option<Precision>,
    analysis: Option<AnalysisKind>,
    source: Option<&'c dyn DerivedSource>,
}

impl<'c> IndexUpdate<'c> {
    /// Opens the models of a choice. Writes a line if models that nobody named are missing.
    ///
    /// # Errors
    /// If a model that was named cannot be opened.
    pub(super) fn new(
        config: &Config,
        choice: &'c Choice,
        precision: Option<Precision>,
    ) -> anyhow::Result<Self> {
        let opened = choice.open(None)?.or_warn()?;
        let precision = precision.or(config.settings.encoders.vectors);
        Ok(Self {
            choice,
            opened,
            precision,
            analysis: config.settings.analysis,
            source: None,
        })
    }

    /// Takes datasets and vectors from a source, as far as it has them.
    pub(super) fn with_source<'s>(self, source: &'s dyn DerivedSource) -> IndexUpdate<'s>
    where
        'c: 's,
    {
        IndexUpdate {
            source: Some(source),
            ..self
        }
    }

    /// Returns the settings that workers must have had whose results this update takes.
    ///
    /// # Errors
    /// If the index or the vectors cannot be read.
    pub(super) fn target(&self, home: &Path) -> anyhow::Result<AssemblyTarget> {
        let analysis = match analysis_of(home, self.analysis) {
            Some(analysis) => analysis,
            None => Index::open(&index_folder(home))?
                .snapshot()?
                .analysis()
                .kind(),
        };
        let jobs = self.jobs(home)?.into_iter();
        let precisions = jobs.map(|(encoder, options)| {
            (
                encoder.fingerprint().to_owned(),
                options.stored_precision(encoder),
            )
        });
        Ok(AssemblyTarget {
            analysis,
            precisions: precisions.collect(),
        })
    }

    /// Updates the text index, as `index` without arguments does, and the vectors.
    ///
    /// # Errors
    /// If the store, the index or the vectors cannot be read or written.
    pub(super) fn run(&mut self, home: &Path) -> anyhow::Result<()> {
        let store = Store::open(home, Access::Write, None)?;
        let analysis = analysis_of(home, self.analysis);
        let options = IndexOptions {
            now: Some(DateTime::now()),
            analysis,
            ..IndexOptions::default()
        };
        let started = Instant::now();
        let mut indexer = Indexer::new(&store, options);
        if let Some(source) = self.source {
            indexer = indexer.with_source(source);
        }
        let report = indexer.run(&|_| ())?;
        write_report(&mut messages(), &report, started.elapsed())?;
        compact_store(&store, &indexer, &report)?;
        self.add_multilingual(&store, report.analysis)?;
        drop(store);
        self.vectors(home)?;
        self.choice.write_record(home)?;
        Ok(write_vectors(&mut messages(), &list_vectors(home)?)?)
    }

    /// Opens the multilingual model if its vectors are to be made for the first time: the models are the default ones, and the
    /// collection has texts in other languages than English. Writes a line about that.
    fn add_multilingual(&mut self, store: &Store, analysis: AnalysisKind) -> anyhow::Result<()> {
        if self.opened.encoders.is_empty()
            || self.opened.multilingual.is_some()
            || self.opened.missing.is_some()
            || !self.choice.allows_multilingual()
            || !is_multilingual(store, analysis)?
        {
            return Ok(());
        }
        let (multilingual, missing) = self.choice.open_multilingual(None)?;
        if let Some(reason) = missing {
            writeln!(
                messages(),
                "lodeseek: datasets are ranked without the multilingual model: {reason}"
            )?;
        } else if let Some(multilingual) = &multilingual {
            writeln!(
                messages(),
                "the collection has texts in other languages than English: {} is used, too",
                multilingual.encoder.name()
            )?;
        }
        self.opened.multilingual = multilingual;
        Ok(())
    }

    /// Returns the encoders with the requested number format, else that of their stored vectors.
    fn jobs(&self, home: &Path) -> anyhow::Result<Vec<(&dyn Encoder, EncodingOptions)>> {
        let stored = vectors::list(&vectors_folder(home))?;
        let mut jobs = Vec::with_capacity(self.opened.encoders.len() + 1);
        for encoder in self.opened.all() {
            let precision = self
                .precision
                .or_else(|| find_precision(&stored, encoder))
                .unwrap_or_default();
            jobs.push((
                encoder,
                EncodingOptions {
                    precision,
                    ..EncodingOptions::default()
                },
            ));
        }
        Ok(jobs)
    }

    /// Updates the vectors.
    fn vectors(&self, home: &Path) -> anyhow::Result<()> {
        let jobs = self.jobs(home)?;
        encode_and_report(home, &jobs, self.source)?;
        // Works have no vectors of the multilingual model.
        for (encoder, options) in jobs.iter().take(self.opened.encoders.len()) {
            encode_works_and_report(home, *encoder, options.precision)?;
        }
        Ok(())
    }
}

/// Returns the number format of the stored vectors of an encoder.
fn find_precision(stored: &[StoredVectors], encoder: &dyn Encoder) -> Option<Precision> {
    stored
        .iter()
        .filter_map(|one| one.description.as_ref().ok())
        .find(|description| description.fingerprint == encoder.fingerprint())
        .map(|description| description.precision)
}

/// Compacts a store of many files of which most is new. The index is complete without it.
fn compact_store(store: &Store, indexer: &Indexer<'_>, report: &IndexReport) -> anyhow::Result<()> {
    if !indexer.needs_compaction(report)? {
        return Ok(());
    }
    writeln!(
        messages(),
        "compacting the store to speed up reads; this step may be interrupted …"
    )?;
    let started = Instant::now();
    match store.optimize() {
        Ok(()) => {
            let seconds = started.elapsed().as_secs_f64();
            writeln!(messages(), "compacted in {seconds:.1} s")?;
        }
        Err(error) => writeln!(
            messages(),
            "lodeseek: cannot compact the store; it is unchanged and usable: {error}"
        )?,
    }
    Ok(())
}

/// Updates the vectors of works. Writes a line if the home has works.
fn encode_works_and_report(
    home: &Path,
    encoder: &dyn Encoder,
    precision: Precision,
) -> anyhow::Result<()> {
    let bar = bar(1, "encoding {bar:30} {pos} of {len} works · {eta} left");
    let report = encode_works(home, encoder, precision, &|progress| {
        bar.set_length(progress.total as u64);
        bar.set_position(progress.datasets as u64);
    })?;
    bar.finish_and_clear();
    let Some(WorksReport {
        model,
        encoded,
        unchanged,
        time,
    }) = report
    else {
        return Ok(());
    };
    writeln!(
        messages(),
        "{} encoded by {model}, {unchanged} unchanged; {:.1} s ({} works/s)",
        counted(encoded, "work"),
        time.as_secs_f64(),
        rate(encoded as u64, time),
    )?;
    Ok(())
}

fn encode_and_report(
    home: &Path,
    jobs: &[(&dyn Encoder, EncodingOptions)],
    source: Option<&dyn DerivedSource>,
) -> anyhow::Result<()> {
    let bar = bar(1, "encoding {bar:30} {pos} of {len} datasets · {eta} left");
    let reports = encode_all_with(home, jobs, source, &|progress| {
        bar.set_length(progress.total as u64);
        bar.set_position(progress.datasets as u64);
    });
    bar.finish_and_clear();
    for ((encoder, _), report) in jobs.iter().zip(reports?) {
        let EncodingReport {
            model,
            encoded,
            reused,
            unchanged,
            removed,
            time,
            bytes,
        } = report;
        let method = method_name(encoder.granularity());
        let shared_pass =
            if jobs[0].0.name() == model && jobs[0].0.granularity() != encoder.granularity() {
                " from the same pass"
            } else {
                ""
            };
        writeln!(
            messages(),
            "{} encoded{}, {method} vectors by {model}{shared_pass}, {unchanged} unchanged, {removed} removed; {:.1} MB in {:.1} s ({} datasets/s)",
            counted(encoded, "dataset"),
            of_workers(reused),
            bytes as f64 / 1e6,
            time.as_secs_f64(),
            rate(encoded as u64, time),
        )?;
    }
    Ok(())
}

/// Returns a phrase for the number of datasets that workers did.
fn of_workers(reused: usize) -> String {
    if reused == 0 {
        String::new()
    } else {
        format!(" ({} by workers)", grouped(reused as u64))
    }
}

/// Returns all vectors of a model by its name, for every fingerprint.
///
/// # Errors
/// If there are none.
fn vectors_of(home: &Path, name: &str) -> anyhow::Result<Vec<StoredVectors>> {
    let mut found = vectors::list(&vectors_folder(home))?;
    found.retain(|one| {
        let is_of_model = one
            .description
            .as_ref()
            .is_ok_and(|description| description.model == name);
        is_of_model || one.folder.file_name().is_some_and(|folder| folder == name)
    });
    anyhow::ensure!(
        !found.is_empty(),
        "cannot delete vectors: no model or folder is named {name:?}; `lodeseek index` lists the stored vectors"
    );
    Ok(found)
}

/// Lists the stored vectors with the number of datasets that need encoding. Vectors of unused models remain until
/// `--forget-vectors` deletes them.
fn write_vectors(out: &mut impl Write, listed: &[(StoredVectors, usize)]) -> io::Result<()> {
    for (
        StoredVectors {
            description,
            folder,
            bytes,
            ..
        },
        missing,
    ) in listed
    {
        let what = match description {
            Ok(stored) => format!(
                "of {}, {} columns of {}",
                stored.model, stored.columns, stored.precision
            ),
            Err(error) => format!("at {}: {error}", folder.display()),
        };
        let without = match missing {
            0 => String::new(),
            missing => {
                format!(
                    "; {} {} no up-to-date vectors",
                    counted(*missing, "dataset"),
                    verb_form(*missing, "has", "have")
                )
            }
        };
        writeln!(
            out,
            "vectors {what}, {:.1} MB{without}",
            *bytes as f64 / 1e6
        )?;
    }
    Ok(())
}

/// Returns a message if the index has another analysis than the requested one.
fn analysis_change(home: &Path, requested: Option<AnalysisKind>) -> Option<String> {
    let snapshot = Index::open(&index_folder(home)).ok()?.snapshot().ok()?;
    let current = snapshot.analysis().kind();
    let requested = requested.filter(|requested| *requested != current && !snapshot.is_empty())?;
    Some(format!(
        "the analysis changes from {current} to {requested}: all datasets are indexed again"
    ))
}

fn write_report(out: &mut impl Write, report: &IndexReport, time: Duration) -> io::Result<()> {
    writeln!(
        out,
        "{} indexed{}, {} unchanged, {} removed; {} in {:.1} s ({} triples/s{})",
        counted(report.indexed, "dataset"),
        of_workers(report.reused),
        report.unchanged,
        report.removed,
        counted(report.triples, "triple"),
        time.as_secs_f64(),
        rate(report.triples, time),
        memory_note(),
    )?;
    if report.labels_omitted > 0 {
        let omitted = grouped(report.labels_omitted);
        writeln!(
            out,
            "labels of {omitted} resources are not in the dictionary: it has at most 200,000 of a dataset and 2,000,000 in all"
        )?;
    }
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
