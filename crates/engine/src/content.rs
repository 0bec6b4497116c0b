//! The content of datasets as snippet methods need it, and a cache of it bounded by bytes.

use lodeseek_profile::{Patterns, Profile};
use lodeseek_rdf::{TermId, TripleGraph};
use lodeseek_snippet::sample::SampledGraph;
use lodeseek_store::counts::SerializedTerm;
use lodeseek_store::{self as store, GraphCounts, ReadContent, StoreError};
use lru::LruCache;
use rustc_hash::FxHashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// A graph with its profile and its entity patterns, which are computed on first use.
pub struct Content {
    graph: TripleGraph,
    profile: OnceLock<Profile>,
    patterns: OnceLock<Patterns>,
}

impl Content {
    /// Wraps a graph.
    #[must_use]
    pub fn new(graph: TripleGraph) -> Self {
        Self {
            graph,
            profile: OnceLock::new(),
            patterns: OnceLock::new(),
        }
    }

    /// Wraps a sample of a graph, with the profile of the whole graph.
    #[must_use]
    pub fn from_sample(sample: SampledGraph) -> Self {
        Self {
            graph: sample.graph,
            profile: sample.profile.into(),
            patterns: OnceLock::new(),
        }
    }

    /// Returns the graph.
    #[must_use]
    pub fn graph(&self) -> &TripleGraph {
        &self.graph
    }

    /// Returns its profile.
    #[must_use]
    pub fn profile(&self) -> &Profile {
        self.profile.get_or_init(|| Profile::new(&self.graph))
    }

    /// Returns its entity patterns.
    #[must_use]
    pub fn patterns(&self) -> &Patterns {
        self.patterns
            .get_or_init(|| Patterns::without_links(&self.graph))
    }

    /// Estimates the memory in bytes: the graph, and four 32-bit numbers per term for profile and patterns.
    fn bytes(&self) -> usize {
        self.graph.bytes() + 16 * self.graph.term_count()
    }
}

/// A cache of the contents read last, bounded by bytes.
///
/// Entries never expire, because a version identifies its content. Two threads that miss the same content at once both
/// read it.
pub(super) struct ContentCache {
    capacity: usize,
    entries: Mutex<CacheEntries>,
}

/// The cached contents by version, and their total size in bytes.
struct CacheEntries {
    contents: LruCache<String, Arc<Content>>,
    bytes: usize,
}

impl ContentCache {
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            capacity,
            entries: Mutex::default(),
        }
    }

    /// Returns the content of a version, from the cache or from the home's files.
    pub(super) fn read(&self, home: &Path, version: &str) -> Result<Arc<Content>, StoreError> {
        if let Some(content) = self.entries().get(version) {
            return Ok(content);
        }
        let content = match store::read_content(home, version)? {
            ReadContent::Complete(graph) => Content::new(graph),
            ReadContent::Sample(sample) => {
                let content = Content::new(sample);
                if let Some(counts) = GraphCounts::read(home, version) {
                    // Coverage is weighted as in the complete graph.
                    let profile =
                        with_counts(Profile::new(&content.graph), &content.graph, &counts);
                    content.profile.get_or_init(|| profile);
                }
                content
            }
        };
        let content = Arc::new(content);
        self.entries().insert(version, &content, self.capacity);
        Ok(content)
    }

    /// Locks the entries. A panic of another thread with the lock left at most a wrong total of bytes.
    fn entries(&self) -> MutexGuard<'_, CacheEntries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Replaces the counts of a sample by those of the whole graph.
fn with_counts(mut profile: Profile, graph: &TripleGraph, counts: &GraphCounts) -> Profile {
    let classes = counts
        .classes
        .iter()
        .filter_map(|(class, count)| Some((node_name(class)?, *count)));
    replace_counts(&mut profile.classes, graph, &classes.collect());
    let properties = counts
        .properties
        .iter()
        .filter_map(|(property, uses)| Some((node_name(property)?, uses.triples)));
    replace_counts(&mut profile.properties, graph, &properties.collect());
    profile.triples = counts.all.triples;
    profile.type_triples = counts.classes.iter().map(|(_, count)| count).sum();
    profile
}

/// Replaces the counts of terms by those of the whole graph, by the names of the terms, and sorts them by the new counts.
fn replace_counts(list: &mut [(TermId, u64)], graph: &TripleGraph, whole: &FxHashMap<String, u64>) {
    for (id, count) in list.iter_mut() {
        *count = whole.get(graph.term(*id).text()).copied().unwrap_or(*count);
    }
    list.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
}

/// Returns the IRI or the label of a node; `None` of other terms.
fn node_name(term: &SerializedTerm) -> Option<String> {
    match term {
        SerializedTerm::Iri(text) | SerializedTerm::Blank(text) => Some(text.clone()),
        _ => None,
    }
}

impl Default for CacheEntries {
    fn default() -> Self {
        Self {
            contents: LruCache::unbounded(),
            bytes: 0,
        }
    }
}

impl CacheEntries {
    fn get(&mut self, version: &str) -> Option<Arc<Content>> {
        self.contents.get(version).map(Arc::clone)
    }

    /// Inserts content that fits the capacity, and evicts the least recently used entries to make room.
    fn insert(&mut self, version: &str, content: &Arc<Content>, capacity: usize) {
        // Another thread may have inserted it meanwhile. Counted twice, its size would never be subtracted again.
        if content.bytes() > capacity || self.contents.contains(version) {
            return;
        }
        while self.bytes + content.bytes() > capacity {
            self.evict_oldest();
        }
        self.bytes += content.bytes();
        self.contents.put(version.to_owned(), Arc::clone(content));
    }

    fn evict_oldest(&mut self) {
        match self.contents.pop_lru() {
            Some((_, content)) => self.bytes -= content.bytes(),
            // Only after a panic: then the total was wrong.
            None => self.bytes = 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_rdf::TripleGraphBuilder;
    use oxrdf::{NamedNode, Triple};

    fn content(name: &str) -> Arc<Content> {
        let mut builder = TripleGraphBuilder::new();
        let node = NamedNode::new_unchecked(format!("ex:{name}"));
        builder.insert(Triple::new(node.clone(), node.clone(), node).as_ref());
        Arc::new(Content::new(builder.finish()))
    }

    #[test]
    fn least_recently_used_content_is_evicted() {
        let one = content("a").bytes();
        let mut cache = CacheEntries::default();
        for name in ["a", "b"] {
            cache.insert(name, &content(name), 2 * one);
        }
        assert!(cache.get("a").is_some());
        cache.insert("c", &content("c"), 2 * one);
        assert_eq!(
            ["a", "b", "c"].map(|name| cache.get(name).is_some()),
            [true, false, true]
        );
        assert_eq!(cache.bytes, 2 * one);
        cache.insert("d", &content("d"), one - 1);
        assert!(
            cache.get("d").is_none() && cache.bytes == 2 * one,
            "content beyond the capacity evicts nothing"
        );
    }
}
