//! Derivation of what the index has of a dataset: profile, snippet, card and document.

use super::{
    COMPACT_BUDGET, DEFAULT_COMPACT_METHOD, Deriver, IndexOptions, MAX_CARD_LIST,
    MAX_PATTERN_STEPS, MAX_PROFILE_PATTERNS, StageTimes,
};
use crate::facts::{facts, portal_host};
use crate::features::features;
use crate::snippets::{choose_rows, label_all};
use crate::table_overlap;
use crate::{CARD_LANGUAGES, Card, Coverage, EngineError};
use lodeseek_catalog::Iris;
use lodeseek_index::document::{CompactDocument, FieldedDocument};
use lodeseek_index::{Analysis, AnalysisKind, Feature, IndexDocument, document_version};
use lodeseek_profile::{PatternSummary, Profile, Schema, TableSketch};
use lodeseek_rdf::vocab::lodeseek;
use lodeseek_rdf::{Labels, StreamedGraph, TermId, TripleGraph};
use lodeseek_snippet::sample::{SampledGraph, StreamedSample, sample_stream};
use lodeseek_snippet::{
    IlluSnip, Method, MethodOptions, Provenance, RowBudget, RowCriteria, Snippet, rank_triples,
    truncate_text,
};
use lodeseek_store::{ContentFolder, Entry, MultilingualLabels, StoreError, StoredContent};
use oxrdf::{Literal, NamedNode, Triple};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Maximum number of triples of the sample of a graph that exceeds memory.
const MAX_SAMPLE_TRIPLES: usize = 2_000_000;

/// The data of one dataset that the indexer writes.
#[derive(Clone, Debug)]
pub struct DerivedDataset {
    /// The document of the index.
    pub document: IndexDocument,
    /// The profile, in VoID.
    pub profile: Vec<Triple>,
    /// The snippet with its provenance.
    pub snippet: Vec<Triple>,
    /// Number of triples of the content.
    pub triples: u64,
    /// The time of each stage.
    pub times: StageTimes,
    /// If true, the data was derived elsewhere.
    pub is_reused: bool,
}

/// The profile of a dataset's content and what is derived from it.
struct DescribedContent {
    profile: Profile,
    features: Vec<Feature>,
    schema: Schema,
    /// Sketches of tables.
    tables: Vec<TableSketch>,
    /// The profile in VoID, with the most frequent patterns.
    triples: Vec<Triple>,
    /// Number of triples of the sample, if the content exceeds memory.
    sampled_triples: Option<u64>,
}

/// The stored snippet of a dataset and the triples ranked for encoders.
struct IndexedSnippets {
    /// The name of the snippet's method.
    method: &'static str,
    snippet: Snippet,
    ranking: Vec<lodeseek_rdf::Triple>,
}

impl<'i> Deriver<'i> {
    /// Creates a deriver for a home with these IRIs. An option without a value gets the default of a new index.
    #[must_use]
    pub fn new(iris: &'i Iris, options: IndexOptions, analysis: AnalysisKind) -> Self {
        Self {
            iris,
            options,
            analysis: Analysis::new(analysis),
        }
    }

    /// Returns the version of a dataset's document: it changes with the content, the metadata and the options.
    pub fn version(&self, entry: &Entry) -> Result<String, EngineError> {
        let IndexOptions {
            snippet_method,
            snippet_budget,
            ..
        } = self.options;
        // The rule, not its value for this graph: the version contains that of the content anyway.
        let compact_method = self.options.compact_method();
        let compact = if compact_method == DEFAULT_COMPACT_METHOD {
            String::new()
        } else {
            format!(" {compact_method}")
        };
        let work = self.options.work(0);
        let snippet = format!(
            "{snippet_method} {} {work:?} {CARD_LANGUAGES:?}{compact}",
            snippet_budget.0
        );
        let [description, facets] = described_parts(entry)?;
        Ok(document_version(
            self.analysis.kind(),
            &entry.version,
            &format!("{description}{snippet}{facets}"),
        ))
    }

    /// Derives the profile, snippet and document of a dataset from its content in `folder`. Of content that exceeds memory, counts
    /// are from all of it, and the rest is from a sample, which is stored in `folder`. Labels in several languages are stored, too.
    ///
    /// # Errors
    /// If a method needs a query, a file cannot be read or written, or the data cannot be serialized.
    pub fn derive(
        &self,
        folder: &ContentFolder,
        entry: &Entry,
        version: &str,
        content: &StoredContent,
    ) -> Result<DerivedDataset, EngineError> {
        let mut times = StageTimes::default();
        match content {
            StoredContent::InMemory(graph) => {
                let described = measure_time(&mut times.profile, || self.profile(entry, graph));
                let labels = MultilingualLabels::from_graph(graph);
                folder.write_labels(&entry.version, &labels)?;
                self.derive_document(entry, version, graph, described, times)
            }
            StoredContent::Streamed(stream) => {
                let (sample, described) = measure_time(&mut times.profile, || {
                    self.profile_stream(folder, entry, stream)
                })?;
                let labels = MultilingualLabels::from_graph(&sample);
                folder.write_labels(&entry.version, &labels)?;
                self.derive_document(entry, version, &sample, described, times)
            }
        }
    }

    /// Derives the snippet and the document from content with its profile.
    fn derive_document(
        &self,
        entry: &Entry,
        version: &str,
        graph: &TripleGraph,
        mut described: DescribedContent,
        mut times: StageTimes,
    ) -> Result<DerivedDataset, EngineError> {
        let snippets = measure_time(&mut times.snippet, || {
            self.snippets(graph, &described.profile)
        })?;
        let snippet = self.snippet_triples(graph, &snippets, entry);
        let profile = std::mem::take(&mut described.triples);
        let triples = described.profile.triples;
        let document = measure_time(&mut times.document, || {
            self.document(entry, version, graph, described, &snippets)
        })?;
        Ok(DerivedDataset {
            document,
            profile,
            snippet,
            triples,
            times,
            is_reused: false,
        })
    }

    fn profile(&self, entry: &Entry, graph: &TripleGraph) -> DescribedContent {
        let node = self.iris.dataset(&entry.dataset.metadata.id);
        let profile = Profile::new(graph);
        let mut triples = profile.to_void(graph, &node);
        triples.extend(PatternSummary::new(graph, MAX_PROFILE_PATTERNS).to_triples(graph, &node));
        let features = features(graph, &profile);
        DescribedContent {
            features,
            schema: Schema::new(graph),
            tables: TableSketch::from_graph(graph),
            profile,
            triples,
            sampled_triples: None,
        }
    }

    /// Counts a graph that exceeds memory, and takes a sample of it for everything else. The sample is stored for snippets on
    /// demand.
    fn profile_stream(
        &self,
        folder: &ContentFolder,
        entry: &Entry,
        stream: &StreamedGraph,
    ) -> Result<(TripleGraph, DescribedContent), StoreError> {
        let node = self.iris.dataset(&entry.dataset.metadata.id);
        let (path, scratch) = (folder.graph_path(&entry.version), folder.scratch_folder());
        let profile = Profile::from_stream(stream).map_err(StoreError::io(&path))?;
        let patterns = PatternSummary::from_stream(stream, MAX_PROFILE_PATTERNS, &scratch);
        let patterns = patterns.map_err(StoreError::io(&scratch))?;
        let schema = Schema::from_stream(stream).map_err(StoreError::io(&path))?;
        let sample = sample_stream(stream, profile, MAX_SAMPLE_TRIPLES);
        let StreamedSample { sample, ids } = sample.map_err(StoreError::io(&path))?;
        let SampledGraph { graph, profile, .. } = sample;
        folder.write_sample(&entry.version, &graph)?;
        let mut triples = profile.to_void(&graph, &node);
        triples.extend(patterns.in_selection(&ids).to_triples(&graph, &node));
        let sampled = NamedNode::new_unchecked(lodeseek::SAMPLED_TRIPLES);
        // Both casts are exact: the sample has at most `MAX_SAMPLE_TRIPLES`.
        triples.push(Triple::new(
            node,
            sampled,
            Literal::from(graph.len() as u64 as i64),
        ));
        let features = features(&graph, &profile);
        let sampled_triples = Some(graph.len() as u64);
        let tables = TableSketch::from_graph(&graph);
        Ok((
            graph,
            DescribedContent {
                features,
                schema,
                tables,
                profile,
                triples,
                sampled_triples,
            },
        ))
    }

    /// Extracts the stored snippet and ranks triples for encoders.
    fn snippets(
        &self,
        graph: &TripleGraph,
        profile: &Profile,
    ) -> Result<IndexedSnippets, EngineError> {
        let (method, compact_method) = (self.options.snippet_method, self.options.compact_method());
        let (budget, work) = (self.options.snippet_budget, self.options.work(graph.len()));
        let extractor = method.extractor(&MethodOptions {
            work,
            ..MethodOptions::default()
        })?;
        if (method, compact_method) == (Method::IlluSnip, DEFAULT_COMPACT_METHOD) {
            // Both use the same weights, which are computed once.
            let illusnip = IlluSnip::default().with_work(work.unwrap_or(u64::MAX));
            let (snippet, ranking) =
                illusnip.extract_and_rank(budget, COMPACT_BUDGET, graph, profile);
            return Ok(IndexedSnippets {
                method: extractor.name(),
                snippet,
                ranking,
            });
        }
        let compact_work = compact_method
            .default_work()
            .map(|default| default.min(MAX_PATTERN_STEPS));
        let ranker = compact_method.extractor(&MethodOptions {
            work: compact_work,
            ..MethodOptions::default()
        })?;
        let snippet = extractor.extract(graph, profile, budget);
        let first = ranker.extract(graph, profile, COMPACT_BUDGET).triples;
        let ranking = rank_triples(graph, profile, &first, COMPACT_BUDGET);
        Ok(IndexedSnippets {
            method: extractor.name(),
            snippet,
            ranking,
        })
    }

    /// Returns the index document of a dataset, with its card, its compact document, its facts and its features.
    fn document(
        &self,
        entry: &Entry,
        version: &str,
        graph: &TripleGraph,
        content: DescribedContent,
        snippets: &IndexedSnippets,
    ) -> Result<IndexDocument, EngineError> {
        let changed;
        let plain = match entry.dataset.plain_texts() {
            Cow::Borrowed(_) => entry,
            Cow::Owned(dataset) => {
                changed = Entry {
                    dataset,
                    version: entry.version.clone(),
                    origin: entry.origin.clone(),
                };
                &changed
            }
        };
        let metadata = &plain.dataset.metadata;
        let coverage = Coverage::new(&plain.dataset, graph);
        let facts = facts(plain, &content.profile, graph, &coverage);
        let card = Card {
            metadata: metadata.clone(),
            distributions: entry.dataset.distributions.clone(),
            licenses: entry.dataset.licenses(),
            remote: entry
                .dataset
                .remote
                .clone()
                .map(|remote| remote.cut(MAX_CARD_LIST)),
            coverage,
            version: entry.version.clone(),
            description_version: Some(description_version(entry)?),
            profile: content.profile.summary(graph, MAX_CARD_LIST),
            schema: content.schema,
            sampled_triples: content.sampled_triples,
            snippet_method: snippets.method.to_owned(),
            compact_method: self.options.compact_method().name().to_owned(),
            snippet: label_all(graph, &snippets.snippet.triples, &["en".to_owned()]),
            table: choose_rows(graph, RowCriteria::default(), RowBudget::default(), &[]),
            labels: other_labels(graph, &snippets.snippet),
        };
        let compact = CompactDocument::new(metadata, graph, &snippets.ranking);
        let fielded = FieldedDocument::new(metadata, graph);
        let (card, compact) = (serde_json::to_vec(&card)?, serde_json::to_vec(&compact)?);
        let document = IndexDocument::new(
            metadata.id.clone(),
            version.to_owned(),
            &fielded,
            &self.analysis,
            card,
            compact,
        );
        let sketches = match content.tables.is_empty() {
            true => String::new(),
            false => serde_json::to_string(&content.tables)?,
        };
        let names = metadata.titles.iter().chain(&metadata.alternatives);
        Ok(document
            .with_names(names.map(|name| name.value.as_str()))
            .with_facts(facts)
            .with_features(content.features)
            .with_sketches(sketches, table_overlap::hashes(&content.tables)))
    }

    /// Returns the triples of a snippet and its provenance, as written to the store.
    fn snippet_triples(
        &self,
        graph: &TripleGraph,
        snippets: &IndexedSnippets,
        entry: &Entry,
    ) -> Vec<Triple> {
        let (iris, id) = (self.iris, &entry.dataset.metadata.id);
        let provenance = Provenance {
            dataset: &iris.dataset(id),
            snippet: &iris.part(id, "snippet"),
            content: &iris.dataset(id),
            method: snippets.method,
            budget: self.options.snippet_budget,
            work: self.options.work(graph.len()),
            query: None,
            generated_at: self.options.now,
        };
        snippets.snippet.to_triples(graph, &provenance)
    }
}

/// Returns the parts of a description from which documents are made: metadata and distributions; facets and coverage.
fn described_parts(entry: &Entry) -> Result<[String; 2], EngineError> {
    let metadata = serde_json::to_string(&*entry.dataset.metadata.plain_texts())?;
    let places: Vec<&str> = entry
        .dataset
        .distributions
        .iter()
        .map(|d| d.location.as_str())
        .collect();
    let remote = entry
        .dataset
        .remote
        .as_ref()
        .map(serde_json::to_string)
        .transpose()?
        .unwrap_or_default();
    let (themes, formats) = (entry.dataset.theme_names(), entry.dataset.format_names());
    let coverage = Coverage::from_description(&entry.dataset);
    let coverage = if coverage.is_empty() {
        String::new()
    } else {
        serde_json::to_string(&coverage)?
    };
    Ok([
        format!("{metadata}{places:?}{remote}"),
        format!("{themes:?}{formats:?}{:?}{coverage}", portal_host(entry)),
    ])
}

/// Returns the version of a description: it changes with everything from which the document is made, except content and options.
pub(crate) fn description_version(entry: &Entry) -> Result<String, EngineError> {
    let digest = Sha256::digest(described_parts(entry)?.concat());
    Ok(digest
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect())
}

/// Returns the labels of a snippet's terms in [`CARD_LANGUAGES`]: language → term → label.
fn other_labels(
    graph: &TripleGraph,
    snippet: &Snippet,
) -> BTreeMap<String, BTreeMap<String, String>> {
    let mut terms = Vec::with_capacity(3 * snippet.triples.len());
    for triple in &snippet.triples {
        terms.extend([triple.subject, triple.predicate]);
        graph.each_part(triple.object, &mut |part| terms.push(part));
    }
    let mut all = BTreeMap::new();
    for language in CARD_LANGUAGES {
        let labels = Labels::for_terms(graph, &[language], terms.iter().copied());
        let mut in_language = BTreeMap::new();
        for id in &terms {
            let label = labels
                .label_term(*id)
                .and_then(|label| text_in_language(graph, label, language));
            if let Some(label) = label {
                in_language.insert(truncate_text(graph.term(*id).text()), truncate_text(label));
            }
        }
        if !in_language.is_empty() {
            all.insert(language.to_owned(), in_language);
        }
    }
    all
}

/// Returns the text of a literal tagged with a language or a regional variant of it.
fn text_in_language<'g>(
    graph: &'g TripleGraph,
    literal: TermId,
    language: &str,
) -> Option<&'g str> {
    let literal = graph.term(literal);
    let primary = literal.language()?.split('-').next()?;
    primary
        .eq_ignore_ascii_case(language)
        .then_some(literal.text())
}

/// Runs a function and adds its running time to a total.
fn measure_time<T>(total: &mut Duration, work: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let result = work();
    *total += started.elapsed();
    result
}
