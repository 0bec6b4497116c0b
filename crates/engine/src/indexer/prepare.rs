//! Preparation of a dataset for the index: profile, snippet, card and document.

use super::{
    COMPACT_BUDGET, DEFAULT_COMPACT_METHOD, Indexer, MAX_CARD_LIST, MAX_PROFILE_PATTERNS, PATTERN_WORK, StageTimes,
};
use crate::facts::facts;
use crate::features::features;
use crate::snippets::label_all;
use crate::{CARD_LANGUAGES, Card, Coverage, EngineError};
use lodeseek_index::document::{CompactDocument, FieldedDocument};
use lodeseek_index::{Analysis, Feature, IndexDocument};
use lodeseek_profile::{PatternSummary, Profile, Schema};
use lodeseek_rdf::vocab::lodeseek;
use lodeseek_rdf::{Labels, LiteralKind, StreamedGraph, TermId, TermRef, TripleGraph};
use lodeseek_snippet::sample::{SampledGraph, StreamedSample, sample_stream};
use lodeseek_snippet::{IlluSnip, Method, MethodOptions, Provenance, Snippet, Starts};
use lodeseek_store::{Entry, StoreError, StoredContent};
use oxrdf::{Literal, NamedNode, Triple};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Maximum number of triples of the sample of a graph that exceeds memory.
const SAMPLE_TRIPLES: usize = 2_000_000;

/// The data of one dataset to be written, computed by a worker thread.
pub(super) struct PreparedDataset {
    pub(super) document: IndexDocument,
    pub(super) profile: Vec<Triple>,
    pub(super) snippet: Vec<Triple>,
    pub(super) triples: u64,
    pub(super) times: StageTimes,
}

/// The profile of a dataset's content and what is derived from it.
struct DescribedContent {
    profile: Profile,
    features: Vec<Feature>,
    schema: Schema,
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
    ranking: Snippet,
}

impl Indexer<'_> {
    /// Computes the profile, snippet and document of a dataset.
    pub(super) fn prepare(
        &self,
        entry: &Entry,
        version: &str,
        analysis: &Analysis,
    ) -> Result<PreparedDataset, EngineError> {
        let mut times = StageTimes::default();
        let content = timed(&mut times.read, || self.store.open_content(entry))?;
        let triples = content.len();
        let (graph, mut described) = match content {
            StoredContent::InMemory(graph) => {
                let described = timed(&mut times.profile, || self.profile(entry, &graph));
                (graph, described)
            }
            StoredContent::Streamed(stream) => timed(&mut times.profile, || self.profile_stream(entry, &stream))?,
        };
        let snippets = timed(&mut times.snippet, || self.snippets(&graph, &described.profile))?;
        let snippet = self.snippet_triples(&graph, &snippets, entry);
        let profile = std::mem::take(&mut described.triples);
        let document =
            timed(&mut times.document, || self.document(entry, version, analysis, &graph, described, &snippets))?;
        Ok(PreparedDataset { document, profile, snippet, triples, times })
    }

    fn profile(&self, entry: &Entry, graph: &TripleGraph) -> DescribedContent {
        let node = self.store.iris().dataset(&entry.dataset.metadata.id);
        let profile = Profile::new(graph);
        let mut triples = profile.to_void(graph, &node);
        triples.extend(PatternSummary::new(graph, MAX_PROFILE_PATTERNS).to_triples(graph, &node));
        let features = features(graph, &profile);
        DescribedContent { features, schema: Schema::new(graph), profile, triples, sampled_triples: None }
    }

    /// Counts a graph that exceeds memory, and takes a sample of it for everything else. The sample is stored for snippets on
    /// demand.
    fn profile_stream(
        &self,
        entry: &Entry,
        stream: &StreamedGraph,
    ) -> Result<(TripleGraph, DescribedContent), StoreError> {
        let node = self.store.iris().dataset(&entry.dataset.metadata.id);
        let profile = Profile::from_stream(stream)?;
        let patterns = PatternSummary::from_stream(stream, MAX_PROFILE_PATTERNS, &self.store.scratch_folder())?;
        let schema = Schema::from_stream(stream)?;
        let StreamedSample { sample, ids } = sample_stream(stream, profile, SAMPLE_TRIPLES)?;
        let SampledGraph { graph, profile, .. } = sample;
        self.store.write_sample(&entry.version, &graph)?;
        let mut triples = profile.to_void(&graph, &node);
        triples.extend(patterns.in_selection(&ids).to_triples(&graph, &node));
        let sampled = NamedNode::new_unchecked(lodeseek::SAMPLED_TRIPLES);
        triples.push(Triple::new(node, sampled, Literal::from(graph.len() as u64 as i64)));
        let features = features(&graph, &profile);
        let sampled_triples = Some(graph.len() as u64);
        Ok((graph, DescribedContent { features, schema, profile, triples, sampled_triples }))
    }

    /// Extracts the stored snippet and ranks triples for encoders.
    fn snippets(&self, graph: &TripleGraph, profile: &Profile) -> Result<IndexedSnippets, EngineError> {
        let (method, compact_method) = (self.options.snippet_method, self.compact_method());
        let (budget, work) = (self.options.snippet_budget, self.options.work(graph.len()));
        let extractor = method.extractor(&MethodOptions { work, ..MethodOptions::default() })?;
        let compact_work = compact_method.default_work().map(|default| default.min(PATTERN_WORK));
        let ranker = compact_method.extractor(&MethodOptions { work: compact_work, ..MethodOptions::default() })?;
        let (snippet, ranking) = if (method, compact_method) == (Method::IlluSnip, DEFAULT_COMPACT_METHOD) {
            // Both use the same weights, which are computed once.
            let heaviest_first = IlluSnip::default().with_starts(Starts::Heaviest);
            let illusnip = IlluSnip::default().with_work(work.unwrap_or(u64::MAX));
            illusnip.extract_with(budget, (&heaviest_first, COMPACT_BUDGET), graph, profile)
        } else {
            (extractor.extract(graph, profile, budget), ranker.extract(graph, profile, COMPACT_BUDGET))
        };
        Ok(IndexedSnippets { method: extractor.name(), snippet, ranking })
    }

    /// Returns the index document of a dataset, with its card, its compact document, its facts and its features.
    fn document(
        &self,
        entry: &Entry,
        version: &str,
        analysis: &Analysis,
        graph: &TripleGraph,
        content: DescribedContent,
        snippets: &IndexedSnippets,
    ) -> Result<IndexDocument, EngineError> {
        let metadata = &entry.dataset.metadata;
        let coverage = Coverage::new(&entry.dataset, graph);
        let facts = facts(entry, &content.profile, graph, &coverage);
        let card = Card {
            metadata: metadata.clone(),
            distributions: entry.dataset.distributions.clone(),
            remote: entry.dataset.remote.clone().map(|remote| remote.cut(MAX_CARD_LIST)),
            coverage,
            version: entry.version.clone(),
            profile: content.profile.summary(graph, MAX_CARD_LIST),
            schema: content.schema,
            sampled_triples: content.sampled_triples,
            snippet_method: snippets.method.to_owned(),
            compact_method: self.compact_method().name().to_owned(),
            snippet: label_all(graph, &snippets.snippet.triples, &["en".to_owned()]),
            labels: other_labels(graph, &snippets.snippet),
        };
        let compact = CompactDocument::new(metadata, graph, &snippets.ranking);
        let fielded = FieldedDocument::new(metadata, graph);
        let (card, compact) = (serde_json::to_vec(&card)?, serde_json::to_vec(&compact)?);
        let document = IndexDocument::new(metadata.id.clone(), version.to_owned(), &fielded, analysis, card, compact);
        Ok(document.with_facts(facts).with_features(content.features))
    }

    /// Returns the triples of a snippet and its provenance, as written to the store.
    fn snippet_triples(&self, graph: &TripleGraph, snippets: &IndexedSnippets, entry: &Entry) -> Vec<Triple> {
        let (iris, id) = (self.store.iris(), &entry.dataset.metadata.id);
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

/// Returns the labels of a snippet's terms in [`CARD_LANGUAGES`]: language → term → label.
fn other_labels(graph: &TripleGraph, snippet: &Snippet) -> BTreeMap<String, BTreeMap<String, String>> {
    let mut terms = Vec::with_capacity(3 * snippet.triples.len());
    for triple in &snippet.triples {
        terms.extend([triple.subject, triple.predicate, triple.object]);
    }
    let mut all = BTreeMap::new();
    for language in CARD_LANGUAGES {
        let labels = Labels::for_terms(graph, &[language], terms.iter().copied());
        let mut in_language = BTreeMap::new();
        for id in &terms {
            let label = labels.label_term(*id).and_then(|label| text_in_language(graph, label, language));
            if let Some(label) = label {
                in_language.insert(graph.term(*id).text().to_owned(), label.to_owned());
            }
        }
        if !in_language.is_empty() {
            all.insert(language.to_owned(), in_language);
        }
    }
    all
}

/// Returns the text of a literal tagged with a language or a regional variant of it.
fn text_in_language<'g>(graph: &'g TripleGraph, literal: TermId, language: &str) -> Option<&'g str> {
    match graph.term(literal) {
        TermRef::Literal { lexical, kind: LiteralKind::Language(tag) } => {
            let primary = tag.split('-').next()?;
            primary.eq_ignore_ascii_case(language).then_some(lexical)
        }
        _ => None,
    }
}

/// Runs a function and adds its running time to a total.
fn timed<T>(total: &mut Duration, work: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let result = work();
    *total += started.elapsed();
    result
}
