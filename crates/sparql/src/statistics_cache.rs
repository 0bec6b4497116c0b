//! Cached statistics: the list of graphs, and the counts of each.
//!
//! The counts of a dataset's graph are those of its version, which never changes. The list of graphs and the counts of
//! metadata are valid until the next change of the store ([`Store::generation`]).

use super::graphs::Graphs;
use lodeseek_rdf::vocab::rdf;
use lodeseek_store::counts::GraphCounts;
use lodeseek_store::{Store, StoreError, UsageCounts};
use oxrdf::{NamedNode, Term};
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

/// Condition under which the metadata is counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CountingPolicy {
    /// Count at once: evaluation would take longer.
    Now,
    /// Count on the second request: a single query is evaluated and does not pay for later ones.
    SecondRequest,
}

/// Counts of a graph by the ids of [`TermTable`], sorted by id.
#[derive(Debug, Default)]
pub(super) struct GraphStatistics {
    pub(super) all: UsageCounts,
    pub(super) properties: Vec<(u32, UsageCounts)>,
    pub(super) classes: Vec<(u32, u64)>,
}

impl GraphStatistics {
    pub(super) fn property(&self, id: Option<u32>) -> UsageCounts {
        let found = id.and_then(|id| {
            self.properties
                .binary_search_by_key(&id, |(id, _)| *id)
                .ok()
        });
        found
            .map(|place| self.properties[place].1)
            .unwrap_or_default()
    }

    pub(super) fn class(&self, id: Option<u32>) -> u64 {
        let found = id.and_then(|id| self.classes.binary_search_by_key(&id, |(id, _)| *id).ok());
        found.map(|place| self.classes[place].1).unwrap_or_default()
    }
}

/// Counts of the graphs of metadata, of each and of their union.
#[derive(Debug)]
pub(super) struct MetadataStatistics {
    pub(super) graphs: Vec<(NamedNode, Arc<GraphStatistics>)>,
    pub(super) merged: Arc<GraphStatistics>,
    /// If true, no triple is in two of them.
    pub(super) disjoint: bool,
}

/// Ids of properties and classes.
#[derive(Debug, Default)]
pub(super) struct TermTable {
    ids: FxHashMap<Term, u32>,
    terms: Vec<Term>,
}

impl TermTable {
    pub(super) fn id(&self, term: &Term) -> Option<u32> {
        self.ids.get(term).copied()
    }

    pub(super) fn term(&self, id: u32) -> &Term {
        &self.terms[id as usize]
    }

    pub(super) fn node_id(&self, node: &NamedNode) -> Option<u32> {
        self.id(&node.clone().into())
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

/// Cache of the graphs and of their counts.
#[derive(Debug, Default)]
pub(super) struct StatisticsCache {
    terms: Mutex<TermTable>,
    graphs: Mutex<Option<(u64, Arc<Graphs>)>>,
    contents: Mutex<FxHashMap<NamedNode, Arc<GraphStatistics>>>,
    metadata: Mutex<Option<(u64, Arc<MetadataStatistics>)>>,
    /// Generation of the latest request. Locked while metadata is counted.
    counting: Mutex<Option<u64>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl StatisticsCache {
    pub(super) fn terms(&self) -> MutexGuard<'_, TermTable> {
        lock(&self.terms)
    }

    /// Returns the current graphs.
    pub(super) fn graphs(&self, store: &Store) -> Result<Arc<Graphs>, StoreError> {
        let now = store.generation();
        if let Some((_, graphs)) = lock(&self.graphs).as_ref().filter(|(then, _)| *then == now) {
            return Ok(Arc::clone(graphs));
        }
        let graphs = Arc::new(Graphs::from_store(store)?);
        // After a change meanwhile, the list may be a mixture of two states.
        if store.generation() == now {
            lock(&self.contents).retain(|graph, _| graphs.content(graph).is_some());
            *lock(&self.graphs) = Some((now, Arc::clone(&graphs)));
        }
        Ok(graphs)
    }

    /// Returns the counts of a dataset's graph, or `None` for other graphs.
    pub(super) fn content(
        &self,
        store: &Store,
        graphs: &Graphs,
        graph: &NamedNode,
    ) -> Result<Option<Arc<GraphStatistics>>, StoreError> {
        if let Some(known) = lock(&self.contents).get(graph) {
            return Ok(Some(Arc::clone(known)));
        }
        let Some((id, version)) = graphs.content(graph) else {
            return Ok(None);
        };
        // No lock is held: two threads may read the same counts, which is only slower.
        let counts = store.counts(id, version)?;
        let known =
            Arc::new(self.intern_counts(&counts, |term| Store::to_stored_term(graph, term)));
        lock(&self.contents).insert(graph.clone(), Arc::clone(&known));
        Ok(Some(known))
    }

    /// Returns the counts of the current metadata. `None` if the policy does not require them, or another thread computes them.
    pub(super) fn metadata(
        &self,
        store: &Store,
        graphs: &Graphs,
        policy: CountingPolicy,
    ) -> Result<Option<Arc<MetadataStatistics>>, StoreError> {
        let now = store.generation();
        if let Some(metadata) = self.cached_metadata(now) {
            return Ok(Some(metadata));
        }
        let mut last_request = match self.counting.try_lock() {
            Ok(last_request) => last_request,
            Err(TryLockError::Poisoned(last_request)) => last_request.into_inner(),
            // The query is evaluated instead of waiting for a count of all metadata.
            Err(TryLockError::WouldBlock) => return Ok(None),
        };
        // Another thread may have counted it before the lock was free.
        if let Some(metadata) = self.cached_metadata(now) {
            return Ok(Some(metadata));
        }
        if last_request.replace(now) != Some(now) && policy == CountingPolicy::SecondRequest {
            return Ok(None);
        }
        let metadata = Arc::new(self.count_metadata(store, graphs)?);
        // After a change meanwhile, the counts may be a mixture of two states.
        if store.generation() != now {
            return Ok(None);
        }
        *lock(&self.metadata) = Some((now, Arc::clone(&metadata)));
        Ok(Some(metadata))
    }

    /// Reads or computes the counts of all current graphs.
    pub(super) fn prepare(&self, store: &Store) -> Result<(), StoreError> {
        let graphs = self.graphs(store)?;
        for (_, graph) in graphs.contents() {
            self.content(store, &graphs, graph)?;
        }
        self.metadata(store, &graphs, CountingPolicy::Now)?;
        Ok(())
    }

    fn cached_metadata(&self, generation: u64) -> Option<Arc<MetadataStatistics>> {
        match &*lock(&self.metadata) {
            Some((counted, metadata)) if *counted == generation => Some(Arc::clone(metadata)),
            _ => None,
        }
    }

    /// Counts the graphs of metadata in one scan, which takes some microseconds for each triple.
    fn count_metadata(
        &self,
        store: &Store,
        graphs: &Graphs,
    ) -> Result<MetadataStatistics, StoreError> {
        let mut terms = TermTable::default();
        let kind = terms.intern(NamedNode::new_unchecked(rdf::TYPE).into());
        let mut each = Vec::new();
        let mut all = Vec::new();
        for graph in graphs.metadata() {
            let mut rows = Vec::new();
            for quad in
                store
                    .oxigraph()
                    .quads_for_pattern(None, None, None, Some(graph.as_ref().into()))
            {
                let quad = quad?;
                let property = terms.intern(quad.predicate.into());
                rows.push([
                    terms.intern(quad.subject.into()),
                    property,
                    terms.intern(quad.object),
                ]);
            }
            all.extend_from_slice(&rows);
            each.push((graph, rows));
        }
        let graphs: Vec<_> = each
            .into_iter()
            .map(|(graph, rows)| (graph.clone(), self.statistics_of_rows(rows, kind, &terms)))
            .collect();
        let merged = self.statistics_of_rows(all, kind, &terms);
        // The union has each triple once.
        let disjoint = merged.all.triples
            == graphs
                .iter()
                .map(|(_, known)| known.all.triples)
                .sum::<u64>();
        Ok(MetadataStatistics {
            graphs,
            merged,
            disjoint,
        })
    }

    fn statistics_of_rows(
        &self,
        rows: Vec<[u32; 3]>,
        kind: u32,
        terms: &TermTable,
    ) -> Arc<GraphStatistics> {
        let counts = GraphCounts::from_rows(rows, Some(kind), |id| terms.term(id).clone());
        Arc::new(self.intern_counts(&counts, |term| term))
    }

    fn intern_counts(
        &self,
        counts: &GraphCounts,
        in_store: impl Fn(Term) -> Term,
    ) -> GraphStatistics {
        let mut terms = self.terms();
        let mut known = GraphStatistics {
            all: counts.all,
            ..GraphStatistics::default()
        };
        known.properties = counts
            .properties
            .iter()
            .filter_map(|(name, uses)| Some((terms.intern(name.to_term()?), *uses)))
            .collect();
        known.properties.sort_unstable_by_key(|(id, _)| *id);
        known.classes = counts
            .classes
            .iter()
            .filter_map(|(name, count)| Some((terms.intern(in_store(name.to_term()?)), *count)))
            .collect();
        known.classes.sort_unstable_by_key(|(id, _)| *id);
        known
    }
}
