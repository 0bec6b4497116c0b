//! The content of datasets as snippets need it, kept as long as there is room.

use lodeseek_profile::{Patterns, Profile};
use lodeseek_rdf::TripleGraph;
use lodeseek_snippet::sample::SampledGraph;
use lodeseek_store::{self as store, StoreError};
use rustc_hash::FxHashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// A graph, with its profile and its patterns once they were asked for.
pub struct Content {
    graph: TripleGraph,
    profile: OnceLock<Profile>,
    patterns: OnceLock<Patterns>,
}

impl Content {
    /// Of a graph.
    #[must_use]
    pub fn new(graph: TripleGraph) -> Self {
        Self { graph, profile: OnceLock::new(), patterns: OnceLock::new() }
    }

    /// Of a sample, and the profile of the whole.
    #[must_use]
    pub fn of_sample(sample: SampledGraph) -> Self {
        Self { graph: sample.graph, profile: sample.profile.into(), patterns: OnceLock::new() }
    }

    /// The graph.
    #[must_use]
    pub fn graph(&self) -> &TripleGraph {
        &self.graph
    }

    /// Its profile.
    #[must_use]
    pub fn profile(&self) -> &Profile {
        self.profile.get_or_init(|| Profile::new(&self.graph))
    }

    /// Its entity patterns.
    #[must_use]
    pub fn patterns(&self) -> &Patterns {
        self.patterns.get_or_init(|| Patterns::without_links(&self.graph))
    }

    /// What it is reckoned to take: the graph, and for what is found later four numbers a term.
    fn bytes(&self) -> usize {
        self.graph.bytes() + 16 * self.graph.term_count()
    }
}

/// The contents read last, up to a number of bytes.
///
/// Versions name content, so nothing here is ever out of date. Two who miss the same content at once both read it.
pub(super) struct Contents {
    most: usize,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    contents: FxHashMap<String, (Arc<Content>, u64)>,
    bytes: usize,
    /// Counts uses: the smallest was longest ago.
    uses: u64,
}

impl Contents {
    pub(super) fn new(most: usize) -> Self {
        Self { most, kept: Mutex::default() }
    }

    pub(super) fn read(&self, home: &Path, version: &str) -> Result<Arc<Content>, StoreError> {
        if let Some(content) = self.kept().find(version) {
            return Ok(content);
        }
        let content = Arc::new(Content::new(store::read_content(home, version)?));
        self.kept().keep(version, &content, self.most);
        Ok(content)
    }

    /// Whoever panicked with the lock left at most a wrong count of bytes.
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn find(&mut self, version: &str) -> Option<Arc<Content>> {
        self.uses += 1;
        let (content, used) = self.contents.get_mut(version)?;
        *used = self.uses;
        Some(Arc::clone(content))
    }

    fn keep(&mut self, version: &str, content: &Arc<Content>, most: usize) {
        if content.bytes() > most || self.contents.contains_key(version) {
            return;
        }
        while self.bytes + content.bytes() > most {
            self.forget_oldest();
        }
        self.uses += 1;
        self.bytes += content.bytes();
        self.contents.insert(version.to_owned(), (Arc::clone(content), self.uses));
    }

    fn forget_oldest(&mut self) {
        let oldest = self.contents.iter().min_by_key(|(_, (_, used))| *used).map(|(version, _)| version.clone());
        match oldest.and_then(|version| self.contents.remove(&version)) {
            Some((content, _)) => self.bytes -= content.bytes(),
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
    fn what_was_used_last_is_kept() {
        let one = content("a").bytes();
        let mut kept = Kept::default();
        for name in ["a", "b"] {
            kept.keep(name, &content(name), 2 * one);
        }
        assert!(kept.find("a").is_some());
        kept.keep("c", &content("c"), 2 * one);
        assert_eq!(["a", "b", "c"].map(|name| kept.find(name).is_some()), [true, false, true]);
        assert_eq!(kept.bytes, 2 * one);
        kept.keep("d", &content("d"), one - 1);
        assert!(kept.find("d").is_none() && kept.bytes == 2 * one, "what does not fit drives nothing out");
    }
}
