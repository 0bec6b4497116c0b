//! What is known of graphs without looking at them: which there are, and the counts of each.
//!
//! The counts of a dataset's graph are those of its version, which never changes. Which graphs there are, and what the
//! graphs of metadata hold, is known until the next change: every writer of metadata holds a [`Change`] meanwhile.

use super::graphs::Graphs;
use crate::blank::Space;
use crate::counts::{Counts, Name, Uses};
use crate::{Access, Store, StoreError};
use lodeseek_rdf::vocab::rdf;
use oxrdf::{NamedNode, Term};
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

/// Whether the counts of metadata are worth making now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Patience {
    /// Yes: evaluation would take longer still.
    Count,
    /// From the second time on: who asks once is served by evaluation, and does not pay for others.
    SecondTime,
}

/// The counts of a graph by the ids of [`Terms`], sorted by them.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub(super) all: Uses,
    pub(super) properties: Vec<(u32, Uses)>,
    pub(super) classes: Vec<(u32, u64)>,
}

impl Known {
    pub(super) fn property(&self, id: Option<u32>) -> Uses {
        let found = id.and_then(|id| self.properties.binary_search_by_key(&id, |(id, _)| *id).ok());
        found.map(|place| self.properties[place].1).unwrap_or_default()
    }

    pub(super) fn class(&self, id: Option<u32>) -> u64 {
        let found = id.and_then(|id| self.classes.binary_search_by_key(&id, |(id, _)| *id).ok());
        found.map(|place| self.classes[place].1).unwrap_or_default()
    }
}

/// The graphs of metadata, each and merged.
#[derive(Debug)]
pub(super) struct Metadata {
    pub(super) graphs: Vec<(NamedNode, Arc<Known>)>,
    pub(super) merged: Arc<Known>,
    /// Whether no triple is in two of them.
    pub(super) disjoint: bool,
}

/// Properties and classes, numbered.
#[derive(Debug, Default)]
pub(super) struct Terms {
    ids: FxHashMap<Term, u32>,
    terms: Vec<Term>,
}

impl Terms {
    pub(super) fn id(&self, term: &Term) -> Option<u32> {
        self.ids.get(term).copied()
    }

    pub(super) fn term(&self, id: u32) -> &Term {
        &self.terms[id as usize]
    }

    fn intern(&mut self, term: Term) -> u32 {
        let next = self.terms.len() as u32;
        let terms = &mut self.terms;
        *self.ids.entry(term).or_insert_with_key(|term| {
            terms.push(term.clone());
            next
        })
    }
}

/// See the module documentation.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    changes: AtomicU64,
    terms: Mutex<Terms>,
    graphs: Mutex<Option<(u64, Arc<Graphs>)>>,
    contents: Mutex<FxHashMap<NamedNode, Arc<Known>>>,
    metadata: Mutex<Option<(u64, Arc<Metadata>)>>,
    /// Held while metadata is counted; the change after which it was last asked for.
    counting: Mutex<Option<u64>>,
}

/// A change of metadata under way: what is read meanwhile is not kept.
pub(crate) struct Change<'k>(&'k AtomicU64);

impl Drop for Change<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Kept {
    /// To be held while metadata is written.
    pub(crate) fn change(&self) -> Change<'_> {
        self.changes.fetch_add(1, Ordering::SeqCst);
        Change(&self.changes)
    }

    fn now(&self) -> u64 {
        self.changes.load(Ordering::SeqCst)
    }

    pub(super) fn terms(&self) -> MutexGuard<'_, Terms> {
        lock(&self.terms)
    }

    /// The graphs of now.
    pub(super) fn graphs(&self, store: &Store) -> Result<Arc<Graphs>, StoreError> {
        let now = self.now();
        if let Some((_, graphs)) = lock(&self.graphs).as_ref().filter(|(then, _)| *then == now) {
            return Ok(Arc::clone(graphs));
        }
        let graphs = Arc::new(Graphs::of(store)?);
        if self.now() == now {
            lock(&self.contents).retain(|graph, _| graphs.content(graph).is_some());
            *lock(&self.graphs) = Some((now, Arc::clone(&graphs)));
        }
        Ok(graphs)
    }

    /// The counts of a dataset's graph; `None` for one that is none.
    pub(super) fn content(
        &self,
        store: &Store,
        graphs: &Graphs,
        graph: &NamedNode,
    ) -> Result<Option<Arc<Known>>, StoreError> {
        if let Some(known) = lock(&self.contents).get(graph) {
            return Ok(Some(Arc::clone(known)));
        }
        let Some((id, version)) = graphs.content(graph) else { return Ok(None) };
        let counts = match Counts::read(&store.home, version) {
            Some(counts) => counts,
            None => {
                let counts = Counts::of(&store.content_of(id, version)?);
                if store.access == Access::Write {
                    counts.write(&store.home, version)?;
                }
                counts
            }
        };
        let known = Arc::new(self.known(&counts, |term| Space::of(graph).term_to_store(term)));
        lock(&self.contents).insert(graph.clone(), Arc::clone(&known));
        Ok(Some(known))
    }

    /// The counts of the metadata of now; `None` where they are not worth making, or are being made.
    pub(super) fn metadata(
        &self,
        store: &Store,
        graphs: &Graphs,
        patience: Patience,
    ) -> Result<Option<Arc<Metadata>>, StoreError> {
        let now = self.now();
        let present = || lock(&self.metadata).as_ref().filter(|(then, _)| *then == now).map(|(_, known)| known.clone());
        if let Some(metadata) = present() {
            return Ok(Some(metadata));
        }
        let mut asked = match self.counting.try_lock() {
            Ok(asked) => asked,
            Err(TryLockError::Poisoned(asked)) => asked.into_inner(),
            Err(TryLockError::WouldBlock) => return Ok(None),
        };
        if let Some(metadata) = present() {
            return Ok(Some(metadata));
        }
        if asked.replace(now) != Some(now) && patience == Patience::SecondTime {
            return Ok(None);
        }
        let metadata = Arc::new(self.count_metadata(store, graphs)?);
        if self.now() != now {
            return Ok(None);
        }
        *lock(&self.metadata) = Some((now, Arc::clone(&metadata)));
        Ok(Some(metadata))
    }

    /// Learns what there is to know of the graphs of now, so that no query has to wait for it.
    pub(crate) fn prepare(&self, store: &Store) -> Result<(), StoreError> {
        let graphs = self.graphs(store)?;
        for (_, graph) in graphs.contents() {
            self.content(store, &graphs, graph)?;
        }
        self.metadata(store, &graphs, Patience::Count)?;
        Ok(())
    }

    /// One scan of the graphs of metadata: some microseconds a triple.
    fn count_metadata(&self, store: &Store, graphs: &Graphs) -> Result<Metadata, StoreError> {
        let mut terms = Terms::default();
        let kind = terms.intern(NamedNode::new_unchecked(rdf::TYPE).into());
        let mut each = Vec::new();
        let mut all = Vec::new();
        for graph in graphs.metadata() {
            let mut rows = Vec::new();
            for quad in store.oxigraph.quads_for_pattern(None, None, None, Some(graph.as_ref().into())) {
                let quad = quad?;
                let property = terms.intern(quad.predicate.into());
                rows.push([terms.intern(quad.subject.into()), property, terms.intern(quad.object)]);
            }
            all.extend_from_slice(&rows);
            each.push((graph, rows));
        }
        let known = |rows| {
            let counts = Counts::of_rows(rows, Some(kind), |id| terms.term(id).clone());
            Arc::new(self.known(&counts, |term| term))
        };
        let graphs: Vec<_> = each.into_iter().map(|(graph, rows)| (graph.clone(), known(rows))).collect();
        let merged = known(all);
        let disjoint = merged.all.triples == graphs.iter().map(|(_, known)| known.all.triples).sum::<u64>();
        Ok(Metadata { graphs, merged, disjoint })
    }

    fn known(&self, counts: &Counts, in_store: impl Fn(Term) -> Term) -> Known {
        let mut terms = self.terms();
        let mut known = Known { all: counts.all, ..Known::default() };
        known.properties = counts.properties.iter().map(|(name, uses)| (terms.intern(name.to_term()), *uses)).collect();
        known.properties.sort_unstable_by_key(|(id, _)| *id);
        let class = |(name, count): &(Name, u64)| (terms.intern(in_store(name.to_term())), *count);
        known.classes = counts.classes.iter().map(class).collect();
        known.classes.sort_unstable_by_key(|(id, _)| *id);
        known
    }
}
