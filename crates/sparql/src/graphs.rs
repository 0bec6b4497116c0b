//! Graphs visible to a query, and their names.
//!
//! For clients the graph of a dataset has the IRI of the dataset; in the store it has a name that contains the version. A constant
//! after `GRAPH` is translated here ([`Visible::resolve`]), a variable when the query is prepared (`graph_names`).

use super::QueryRequest;
use super::algebra::{each_inside, inner_patterns, pattern_of};
use lodeseek_catalog::DatasetId;
use lodeseek_store::{Store, StoreError};
use oxrdf::NamedNode;
use spargebra::Query;
use spargebra::algebra::{GraphPattern, QueryDataset};
use spargebra::term::NamedNodePattern;
use std::collections::{HashMap, HashSet};

/// Name of no graph.
const NO_GRAPH: &str = "urn:lodeseek:no-graph";

/// The graphs of a store at one moment.
#[derive(Debug)]
pub(super) struct Graphs {
    metadata: Vec<NamedNode>,
    /// Dataset IRI → graph of its current content.
    content: HashMap<NamedNode, NamedNode>,
    /// Graph of current content → its dataset and version.
    versions: HashMap<NamedNode, StoredVersion>,
    /// IRIs of datasets whose content is not in the store.
    index_only: HashSet<NamedNode>,
}

#[derive(Debug)]
struct StoredVersion {
    id: DatasetId,
    version: String,
    dataset: NamedNode,
}

/// The graphs that a query can read, by their names in the store.
#[derive(Clone, Debug)]
pub(super) struct Visible {
    /// Graphs that are merged to the default graph.
    pub(super) default: Vec<NamedNode>,
    /// Graphs that `GRAPH` with a variable reads.
    pub(super) named: Vec<NamedNode>,
    /// If true, the query or the request lists the named graphs.
    pub(super) is_declared: bool,
}

impl Graphs {
    pub(super) fn from_store(store: &Store) -> Result<Self, StoreError> {
        let iris = store.iris();
        let not_stored = store.index_only()?;
        let (mut content, mut versions, mut index_only) =
            (HashMap::new(), HashMap::new(), HashSet::new());
        for (id, version) in store.versions()? {
            let (graph, dataset) = (iris.graph(&id, &version), iris.dataset(&id));
            if not_stored.contains(&id) {
                index_only.insert(dataset);
                continue;
            }
            content.insert(dataset.clone(), graph.clone());
            versions.insert(
                graph,
                StoredVersion {
                    id,
                    version,
                    dataset,
                },
            );
        }
        Ok(Self {
            metadata: iris.metadata_graphs().to_vec(),
            content,
            versions,
            index_only,
        })
    }

    /// Returns the first name of a dataset in a query or a request whose content is not in the store.
    pub(super) fn find_index_only<'q>(
        &self,
        request: &'q QueryRequest,
        query: &'q Query,
    ) -> Option<&'q NamedNode> {
        if self.index_only.is_empty() {
            return None;
        }
        let from = from_clauses(query).into_iter();
        let from =
            from.flat_map(|dataset| dataset.default.iter().chain(dataset.named.iter().flatten()));
        let declared = request
            .default_graphs
            .iter()
            .chain(&request.named_graphs)
            .chain(from);
        declared
            .into_iter()
            .find(|name| self.index_only.contains(*name))
            .or_else(|| self.index_only_in(pattern_of(query)))
    }

    fn index_only_in<'q>(&self, pattern: &'q GraphPattern) -> Option<&'q NamedNode> {
        match pattern {
            GraphPattern::Service { .. } => None, // it has graphs of its own
            GraphPattern::Graph {
                name: NamedNodePattern::NamedNode(name),
                ..
            } if self.index_only.contains(name) => Some(name),
            _ => inner_patterns(pattern)
                .into_iter()
                .find_map(|inner| self.index_only_in(inner)),
        }
    }

    /// Returns the graphs of metadata, which are merged to the default graph.
    pub(super) fn metadata(&self) -> &[NamedNode] {
        &self.metadata
    }

    /// Returns the dataset and version of a graph with content.
    pub(super) fn content(&self, graph: &NamedNode) -> Option<(&DatasetId, &str)> {
        self.versions
            .get(graph)
            .map(|stored| (&stored.id, stored.version.as_str()))
    }

    /// Returns true if a name in the store is that of a graph of metadata or of current content.
    pub(super) fn exists(&self, graph: &NamedNode) -> bool {
        self.metadata.contains(graph) || self.versions.contains_key(graph)
    }

    /// Returns the graphs of the current content of all datasets.
    pub(super) fn contents(&self) -> impl Iterator<Item = (&DatasetId, &NamedNode)> {
        self.versions
            .iter()
            .map(|(graph, stored)| (&stored.id, graph))
    }

    /// Returns the name of a graph for clients.
    pub(super) fn public_name<'g>(&'g self, graph: &'g NamedNode) -> &'g NamedNode {
        match self.versions.get(graph) {
            Some(stored) => &stored.dataset,
            None => graph,
        }
    }

    /// Returns the name in the store of a graph that clients can name.
    fn stored_name<'g>(&'g self, name: &'g NamedNode) -> Option<&'g NamedNode> {
        self.content
            .get(name)
            .or_else(|| self.metadata.contains(name).then_some(name))
    }

    /// Returns the graphs of a query that names none: those of metadata as default graph, those of all datasets as named graphs.
    pub(super) fn all(&self) -> Visible {
        Visible {
            default: self.metadata.clone(),
            named: self.versions.keys().cloned().collect(),
            is_declared: false,
        }
    }

    /// Returns the graphs for a request and a query's own `FROM` clauses. A graph named twice is one graph.
    pub(super) fn visible(&self, request: &QueryRequest, query: &Query) -> Visible {
        if !request.default_graphs.is_empty() || !request.named_graphs.is_empty() {
            return self.select_graphs(&request.default_graphs, &request.named_graphs);
        }
        match from_clauses(query) {
            Some(dataset) => self.select_graphs(
                &dataset.default,
                dataset.named.as_deref().unwrap_or_default(),
            ),
            None => self.all(),
        }
    }

    /// Returns the declared graphs.
    fn select_graphs(&self, default: &[NamedNode], named: &[NamedNode]) -> Visible {
        Visible {
            default: self.stored_names(default),
            named: self.stored_names(named),
            is_declared: true,
        }
    }

    fn stored_names(&self, names: &[NamedNode]) -> Vec<NamedNode> {
        let mut seen = HashSet::new();
        let known = names
            .iter()
            .filter_map(|name| self.stored_name(name))
            .cloned();
        known.filter(|graph| seen.insert(graph.clone())).collect()
    }

    /// Replaces the names of graphs in a query by those in the store. Graphs that the query cannot read are replaced by one that does
    /// not exist.
    pub(super) fn resolve(&self, query: &mut Query, visible: &Visible) {
        let (Query::Select { pattern, .. }
        | Query::Construct { pattern, .. }
        | Query::Describe { pattern, .. }
        | Query::Ask { pattern, .. }) = query;
        self.resolve_pattern(pattern, visible);
    }

    fn resolve_pattern(&self, pattern: &mut GraphPattern, visible: &Visible) {
        match pattern {
            GraphPattern::Service { .. } => return, // it has graphs of its own
            GraphPattern::Graph {
                name: NamedNodePattern::NamedNode(name),
                ..
            } => {
                let stored = self
                    .stored_name(name)
                    .filter(|graph| visible.can_be_named(graph));
                *name = stored
                    .cloned()
                    .unwrap_or_else(|| NamedNode::new_unchecked(NO_GRAPH));
            }
            _ => {}
        }
        each_inside(pattern, &mut |inner| self.resolve_pattern(inner, visible));
    }
}

/// Returns true if a name was resolved to no graph.
pub(super) fn is_no_graph(name: &NamedNodePattern) -> bool {
    matches!(name, NamedNodePattern::NamedNode(name) if name.as_str() == NO_GRAPH)
}

impl Visible {
    /// Returns true if a constant after `GRAPH` can be this graph. Graphs of metadata need no declaration.
    fn can_be_named(&self, graph: &NamedNode) -> bool {
        !self.is_declared || self.named.contains(graph)
    }
}

fn from_clauses(query: &Query) -> Option<&QueryDataset> {
    let (Query::Select { dataset, .. }
    | Query::Construct { dataset, .. }
    | Query::Describe { dataset, .. }
    | Query::Ask { dataset, .. }) = query;
    dataset.as_ref()
}
