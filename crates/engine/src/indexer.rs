//! From the store to the index: profile, snippet, documents, for every dataset that changed.

use super::duplicates;
use super::facts::{facts, portal};
use super::features::features;
use super::snippets::label_all;
use super::{CARD_LANGUAGES, Card, EngineError, index_folder};
use lodeseek_catalog::DatasetId;
use lodeseek_index::document::{CompactDocument, FieldedDocument};
use lodeseek_index::{Analysis, AnalysisKind, IndexDocument, IndexWriter};
use lodeseek_profile::{Patterns, Profile, Schema};
use lodeseek_rdf::{Labels, LiteralKind, TermId, TermRef, TripleGraph};
use lodeseek_snippet::{IlluSnip, Method, MethodError, MethodOptions, Provenance, Snippet, Starts, TripleBudget};
use lodeseek_store::{Entry, Store};
use oxrdf::Triple;
use oxsdatatypes::DateTime;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::{Duration, Instant};

/// Triples of the ranking from which an encoder's text is filled: as DR2's, about 512 pieces of three words.
pub(super) const COMPACT_BUDGET: TripleBudget = TripleBudget(171);
/// Entries of a profile's lists kept in a card.
const CARD_LIST: usize = 50;
/// How the triples are ranked that encoders read, unless another way was wished.
pub(super) const USUAL_COMPACT: Method = Method::IlluSnipMax;
/// Triples, of datasets indexed and of their profiles and snippets, from which on the store is compacted.
const TIDIED: u64 = 1_000_000;
/// Datasets that must have been indexed for each that was not: most of the store is new then, by datasets.
const TIDIED_SHARE: usize = 4;
/// Patterns of either kind written with a profile.
const PROFILE_PATTERNS: usize = 50;

/// How datasets are indexed.
#[derive(Clone, Copy, Debug)]
pub struct IndexOptions {
    /// Threads that make documents. Default 2.
    pub threads: usize,
    /// Triples, those of profiles and snippets among them, after which what is done is committed. Default 1,000,000.
    pub commit_triples: u64,
    /// The budget of the snippets shown.
    pub snippet_budget: TripleBudget,
    /// How the snippets shown are chosen: by a method that needs no query. Default IlluSnip.
    pub snippet_method: Method,
    /// The bound on the steps of one snippet. Default: few milliseconds a dataset.
    pub snippet_work: Option<u64>,
    /// How the triples are ranked that [encoders](super::encode) read: by a method that needs no query. Default: as in the
    /// index there is, else IlluSnip from the heaviest triple. DR2's other compact documents, after PCSG, are those of
    /// [`Method::Patterns`]. Another than the index has makes every dataset anew.
    pub compact_method: Option<Method>,
    /// The time now, told with the snippets made. It makes no dataset anew.
    pub now: Option<DateTime>,
    /// Whether datasets are indexed again that did not change.
    pub rebuild: bool,
    /// How texts become tokens. Default: as in the index there is. Another than that makes every dataset anew.
    pub analysis: Option<AnalysisKind>,
}

impl Default for IndexOptions {
    fn default() -> Self {
        Self {
            threads: 2,
            commit_triples: 1_000_000,
            snippet_budget: TripleBudget::default(),
            snippet_method: Method::default(),
            snippet_work: None,
            compact_method: None,
            now: None,
            rebuild: false,
            analysis: None,
        }
    }
}

/// How far the indexing has come.
#[derive(Clone, Copy, Debug)]
pub struct IndexProgress {
    /// Datasets done.
    pub datasets: usize,
    /// Datasets to do.
    pub total: usize,
    /// Triples done.
    pub triples: u64,
}

/// Working time of each stage, summed over threads.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[expect(missing_docs, reason = "the names are the stages'")]
pub struct StageTimes {
    pub read: Duration,
    pub profile: Duration,
    pub snippet: Duration,
    pub document: Duration,
    pub index: Duration,
    pub store: Duration,
}

impl StageTimes {
    fn add(&mut self, other: Self) {
        self.read += other.read;
        self.profile += other.profile;
        self.snippet += other.snippet;
        self.document += other.document;
        self.index += other.index;
        self.store += other.store;
    }
}

/// What an indexing did.
#[derive(Clone, Debug, Default, Serialize)]
pub struct IndexReport {
    /// How texts became tokens.
    pub analysis: AnalysisKind,
    /// Datasets indexed.
    pub indexed: usize,
    /// Datasets that had not changed.
    pub unchanged: usize,
    /// Datasets no longer in the catalogue.
    pub removed: usize,
    /// Triples of the datasets indexed.
    pub triples: u64,
    /// Triples of their profiles and snippets.
    pub derived: u64,
    /// Where the time went.
    pub times: StageTimes,
}

/// The steps of PCSG at index time: less than its default, as all datasets pay for it.
const PATTERN_WORK: u64 = 1_000_000;

impl IndexOptions {
    /// The bound on steps that the snippet of so many triples keeps to, where its method has one.
    fn work(&self, triples: usize) -> Option<u64> {
        let is_illusnip = self.snippet_method == Method::IlluSnip;
        let usual = if is_illusnip { IlluSnip::work_beside_indexing(triples as u64) } else { PATTERN_WORK };
        self.snippet_method.default_work().map(|_| self.snippet_work.unwrap_or(usual))
    }
}

/// One dataset's way through the stages, done by a worker.
struct Made {
    document: IndexDocument,
    profile: Vec<Triple>,
    snippet: Vec<Triple>,
    triples: u64,
    times: StageTimes,
}

/// Indexes the datasets of a store.
pub struct Indexer<'s> {
    store: &'s Store,
    options: IndexOptions,
}

impl<'s> Indexer<'s> {
    /// An indexer with these options.
    #[must_use]
    pub fn new(store: &'s Store, options: IndexOptions) -> Self {
        Self { store, options }
    }

    /// Brings the index up to date with the store. Interrupted at any moment, it has kept what it committed.
    pub fn run(&self, on_progress: &dyn Fn(IndexProgress)) -> Result<IndexReport, EngineError> {
        self.check_methods()?;
        let writer = IndexWriter::open(&index_folder(self.store.home()))?;
        self.as_indexed(&writer)?.run_with(writer, on_progress)
    }

    /// The same with what the index says of how it was made.
    fn as_indexed(&self, writer: &IndexWriter) -> Result<Self, EngineError> {
        let had = || -> Result<Option<Method>, EngineError> {
            let snapshot = writer.snapshot()?;
            let Some(id) = snapshot.versions()?.into_keys().next() else { return Ok(None) };
            let card = snapshot.card(&id)?.map(|card| serde_json::from_slice::<Card>(&card)).transpose()?;
            Ok(card.and_then(|card| card.compact_method.parse().ok()))
        };
        let compact_method = if let Some(wanted) = self.options.compact_method { Some(wanted) } else { had()? };
        Ok(Self { store: self.store, options: IndexOptions { compact_method, ..self.options } })
    }

    fn run_with(
        &self,
        mut writer: IndexWriter,
        on_progress: &dyn Fn(IndexProgress),
    ) -> Result<IndexReport, EngineError> {
        if let Some(analysis) = self.options.analysis {
            writer = writer.with_analysis(analysis);
        }
        let indexed = writer.snapshot()?.versions()?;
        let entries = self.store.entries()?;
        let mut report = IndexReport { analysis: writer.analysis(), ..IndexReport::default() };
        for id in
            indexed.keys().filter(|id| entries.binary_search_by(|entry| entry.dataset.metadata.id.cmp(id)).is_err())
        {
            writer.remove(id);
            report.removed += 1;
        }
        duplicates::keep(self.store, &entries)?;
        let mut waiting = Vec::new();
        for entry in entries {
            let version = self.version(&entry, &writer)?;
            if !self.options.rebuild && indexed.get(&entry.dataset.metadata.id) == Some(&version) {
                report.unchanged += 1;
            } else {
                waiting.push((entry, version));
            }
        }
        self.work(&waiting, &mut writer, &mut report, on_progress)?;
        let started = Instant::now();
        writer.commit()?;
        writer.finish()?;
        report.times.index += started.elapsed();
        Ok(report)
    }

    /// Compacts the store where the profiles and snippets of most datasets, and mostly their content, were just written: what
    /// is read of it then, as the whole catalogue, is read up to ten times as fast. Whether it did. A small part is left to
    /// RocksDB, which compacts while a store is open for writing.
    pub fn tidy(&self, report: &IndexReport) -> Result<bool, EngineError> {
        let is_due = Self::is_untidy(report);
        if is_due {
            self.store.optimize()?;
        }
        Ok(is_due)
    }

    /// Whether [`Self::tidy`] would compact.
    #[must_use]
    pub fn is_untidy(report: &IndexReport) -> bool {
        report.triples + report.derived >= TIDIED && report.indexed >= TIDIED_SHARE * report.unchanged
    }

    /// Brings some datasets of the index up to date with the store, without a look at the others: what changed, and what is
    /// there no longer. It becomes visible at once.
    pub fn update(&self, changed: &[DatasetId], gone: &[DatasetId]) -> Result<IndexReport, EngineError> {
        self.check_methods()?;
        let mut writer = IndexWriter::open(&index_folder(self.store.home()))?;
        let made_as = self.as_indexed(&writer)?;
        let mut report = IndexReport { analysis: writer.analysis(), removed: gone.len(), ..IndexReport::default() };
        gone.iter().for_each(|id| writer.remove(id));
        let mut waiting = Vec::new();
        for id in changed {
            let entry = self.store.entry(id)?;
            let version = made_as.version(&entry, &writer)?;
            waiting.push((entry, version));
        }
        // One commit: none of the changes is seen before the others.
        let options = IndexOptions { commit_triples: u64::MAX, ..made_as.options };
        Indexer { store: self.store, options }.work(&waiting, &mut writer, &mut report, &|_| ())?;
        let started = Instant::now();
        writer.merge_segments()?;
        report.times.index += started.elapsed();
        Ok(report)
    }

    fn compact_method(&self) -> Method {
        self.options.compact_method.unwrap_or(USUAL_COMPACT)
    }

    fn check_methods(&self) -> Result<(), MethodError> {
        let methods = [Some(self.options.snippet_method), self.options.compact_method].into_iter().flatten();
        methods
            .into_iter()
            .find(|method| method.takes_query())
            .map_or(Ok(()), |method| Err(MethodError::NeedsQuery(method)))
    }

    fn version(&self, entry: &Entry, writer: &IndexWriter) -> Result<String, EngineError> {
        let metadata = serde_json::to_string(&entry.dataset.metadata)?;
        let places: Vec<&str> = entry.dataset.distributions.iter().map(|d| d.location.as_str()).collect();
        let IndexOptions { snippet_method, snippet_budget, .. } = self.options;
        let compact = Some(self.compact_method()).filter(|method| *method != USUAL_COMPACT);
        let compact = compact.map_or(String::new(), |method| format!(" {method}"));
        let work = self.options.work(0);
        let snippet = format!("{snippet_method} {} {work:?} {CARD_LANGUAGES:?}{compact}", snippet_budget.0);
        let remote = entry.dataset.remote.as_ref().map(serde_json::to_string).transpose()?.unwrap_or_default();
        let (themes, formats) = (entry.dataset.theme_names(), entry.dataset.format_names());
        let chosen_by = format!("{themes:?}{formats:?}{:?}", portal(entry));
        let told = format!("{metadata}{places:?}{remote}{snippet}{chosen_by}");
        Ok(writer.version(&entry.version, &told))
    }

    fn work(
        &self,
        waiting: &[(Entry, String)],
        writer: &mut IndexWriter,
        report: &mut IndexReport,
        on_progress: &dyn Fn(IndexProgress),
    ) -> Result<(), EngineError> {
        let next = AtomicUsize::new(0);
        let analysis = Analysis::new(writer.analysis());
        let (sender, receiver) = sync_channel(self.options.threads);
        thread::scope(|scope| {
            for _ in 0..self.options.threads {
                let (sender, next, analysis) = (sender.clone(), &next, &analysis);
                scope.spawn(move || {
                    while let Some((entry, version)) = waiting.get(next.fetch_add(1, Ordering::Relaxed)) {
                        if sender.send(self.make(entry, version, analysis)).is_err() {
                            return; // the writing side has failed and said why
                        }
                    }
                });
            }
            drop(sender);
            let mut batch = Batch::default();
            for made in receiver {
                let made = made?;
                report.indexed += 1;
                report.triples += made.triples;
                report.times.add(made.times);
                // Profiles of many small datasets are larger than what they are of.
                let derived = (made.profile.len() + made.snippet.len()) as u64;
                report.derived += derived;
                batch.triples += made.triples + derived;
                batch.profiles.push((made.document.id.clone(), made.profile));
                batch.snippets.push((made.document.id.clone(), made.snippet));
                let started = Instant::now();
                writer.put(made.document)?;
                report.times.index += started.elapsed();
                if batch.triples >= self.options.commit_triples {
                    self.commit(std::mem::take(&mut batch), writer, &mut report.times)?;
                }
                on_progress(IndexProgress { datasets: report.indexed, total: waiting.len(), triples: report.triples });
            }
            self.commit(batch, writer, &mut report.times)
        })
    }

    /// Derived data first, the index last: what the index does not record is done again.
    fn commit(&self, batch: Batch, writer: &mut IndexWriter, times: &mut StageTimes) -> Result<(), EngineError> {
        let started = Instant::now();
        self.store.replace_derived(&self.store.iris().profiles(), batch.profiles)?;
        self.store.replace_derived(&self.store.iris().snippets(), batch.snippets)?;
        times.store += started.elapsed();
        let started = Instant::now();
        writer.commit()?;
        times.index += started.elapsed();
        Ok(())
    }

    fn make(&self, entry: &Entry, version: &str, analysis: &Analysis) -> Result<Made, EngineError> {
        let mut times = StageTimes::default();
        let graph = timed(&mut times.read, || self.store.content(entry))?;
        let node = self.store.iris().dataset(&entry.dataset.metadata.id);
        let extractor = self
            .options
            .snippet_method
            .extractor(&MethodOptions { work: self.options.work(graph.len()), ..MethodOptions::default() })?;
        let compact_method = self.compact_method();
        let work = compact_method.default_work().map(|default| default.min(PATTERN_WORK));
        let telling = compact_method.extractor(&MethodOptions { work, ..MethodOptions::default() })?;
        let (profile, features, schema, described) = timed(&mut times.profile, || {
            let profile = Profile::new(&graph);
            let mut described = profile.to_void(&graph, &node);
            described.extend(Patterns::new(&graph).to_triples(&graph, &node, PROFILE_PATTERNS));
            let features = features(&graph, &profile);
            (profile, features, Schema::new(&graph), described)
        });
        let metadata = &entry.dataset.metadata;
        let (snippet, ranking) = timed(&mut times.snippet, || {
            let budget = self.options.snippet_budget;
            if (self.options.snippet_method, compact_method) == (Method::IlluSnip, USUAL_COMPACT) {
                // Both are of the same weights.
                let ranking = IlluSnip::default().with_starts(Starts::Heaviest);
                let work = self.options.work(graph.len()).unwrap_or(u64::MAX);
                let illusnip = IlluSnip::default().with_work(work);
                illusnip.extract_with(budget, (&ranking, COMPACT_BUDGET), &graph, &profile)
            } else {
                let snippet = extractor.extract(&graph, &profile, budget);
                (snippet, telling.extract(&graph, &profile, COMPACT_BUDGET))
            }
        });
        let document = timed(&mut times.document, || -> Result<IndexDocument, EngineError> {
            let card = Card {
                metadata: metadata.clone(),
                distributions: entry.dataset.distributions.clone(),
                remote: entry.dataset.remote.clone().map(|remote| remote.cut(CARD_LIST)),
                version: entry.version.clone(),
                profile: profile.summary(&graph, CARD_LIST),
                schema,
                snippet_method: extractor.name().to_owned(),
                compact_method: compact_method.name().to_owned(),
                snippet: label_all(&graph, &snippet.triples, &["en".to_owned()]),
                labels: other_labels(&graph, &snippet),
            };
            let compact = CompactDocument::new(metadata, &graph, &ranking);
            let fielded = FieldedDocument::new(metadata, &graph);
            let facts = facts(entry, &profile, &graph);
            let (card, compact) = (serde_json::to_vec(&card)?, serde_json::to_vec(&compact)?);
            let document =
                IndexDocument::new(metadata.id.clone(), version.to_owned(), &fielded, analysis, card, compact);
            Ok(document.with_facts(facts).with_features(features))
        })?;
        Ok(Made {
            document,
            profile: described,
            snippet: self.described(&graph, &snippet, entry, extractor.name()),
            triples: graph.len() as u64,
            times,
        })
    }

    /// The snippet as it is kept in the store.
    fn described(&self, graph: &TripleGraph, snippet: &Snippet, entry: &Entry, method: &str) -> Vec<Triple> {
        let (iris, id) = (self.store.iris(), &entry.dataset.metadata.id);
        let provenance = Provenance {
            dataset: &iris.dataset(id),
            snippet: &iris.part(id, "snippet"),
            content: &iris.graph(id, &entry.version),
            method,
            budget: self.options.snippet_budget,
            work: self.options.work(graph.len()),
            query: None,
            made: self.options.now,
        };
        snippet.to_triples(graph, &provenance)
    }
}

#[derive(Default)]
struct Batch {
    profiles: Vec<(DatasetId, Vec<Triple>)>,
    snippets: Vec<(DatasetId, Vec<Triple>)>,
    triples: u64,
}

/// The labels of a snippet's terms in the languages of cards: language → term → label.
fn other_labels(graph: &TripleGraph, snippet: &Snippet) -> BTreeMap<String, BTreeMap<String, String>> {
    let terms = || snippet.triples.iter().flat_map(|triple| [triple.subject, triple.predicate, triple.object]);
    let tagged = |language: &str, id: TermId| match graph.term(id) {
        TermRef::Literal { lexical, kind: LiteralKind::Language(tag) } => {
            tag.split('-').next().is_some_and(|primary| primary.eq_ignore_ascii_case(language)).then_some(lexical)
        }
        _ => None,
    };
    let in_language = |language: &str| {
        let labels = Labels::for_terms(graph, &[language], terms());
        let label = |id| Some((graph.term(id).text().to_owned(), tagged(language, labels.label_term(id)?)?.to_owned()));
        (language.to_owned(), terms().filter_map(label).collect::<BTreeMap<_, _>>())
    };
    let all = CARD_LANGUAGES.iter().map(|language| in_language(language));
    all.filter(|(_, labels)| !labels.is_empty()).collect()
}

fn timed<T>(total: &mut Duration, work: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let result = work();
    *total += started.elapsed();
    result
}
