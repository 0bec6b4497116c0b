//! Graphs visible to a query, and the names under which queries refer to them.

use super::QueryRequest;
use super::algebra::each_inside;
use lodeseek_catalog::DatasetId;
use lodeseek_store::{Store, StoreError};
use oxrdf::NamedNode;
use spargebra::Query;
use spargebra::algebra::{GraphPattern, QueryDataset};
use spargebra::term::NamedNodePattern;
use std::collections::{HashMap, HashSet};

/// The graphs of a store at one moment.
#[derive(Debug)]
pub(super) struct Graphs {
    metadata: Vec<NamedNode>,
    /// Dataset IRI → graph of its present content.
    content: HashMap<NamedNode, NamedNode>,
    /// Graph of present content → what it is of.
    versions: HashMap<NamedNode, (DatasetId, String)>,
}

impl Graphs {
    pub(super) fn from_store(store: &Store) -> Result<Self, StoreError> {
        let iris = store.iris();
        let (mut content, mut versions) = (HashMap::new(), HashMap::new());
        for (id, version) in store.versions()? {
            let graph = iris.graph(&id, &version);
            content.insert(iris.dataset(&id), graph.clone());
            versions.insert(graph, (id, version));
        }
        Ok(Self { metadata: vec![iris.catalog(), iris.profiles(), iris.snippets()], content, versions })
    }

    /// The graphs of metadata, which together are the default graph.
    pub(super) fn metadata(&self) -> &[NamedNode] {
        &self.metadata
    }

    /// The dataset and version whose content a graph is.
    pub(super) fn content(&self, graph: &NamedNode) -> Option<&(DatasetId, String)> {
        self.versions.get(graph)
    }

    /// Every dataset's graph of present content.
    pub(super) fn contents(&self) -> impl Iterator<Item = (&DatasetId, &NamedNode)> {
        self.versions.iter().map(|(graph, (id, _))| (id, graph))
    }

    fn name(&self, graph: &NamedNode) -> NamedNode {
        self.content.get(graph).unwrap_or(graph).clone()
    }

    fn is_visible(&self, graph: &NamedNode) -> bool {
        self.metadata.contains(graph) || self.versions.contains_key(graph)
    }

    /// (default graph, named graphs) for a request and a query's own `FROM` clauses. A graph named twice is one graph.
    pub(super) fn visible(
        &self,
        request: &QueryRequest,
        from: Option<QueryDataset>,
    ) -> (Vec<NamedNode>, Vec<NamedNode>) {
        let pick = |graphs: &[NamedNode]| -> Vec<NamedNode> {
            let mut seen = HashSet::new();
            let known = graphs.iter().map(|graph| self.name(graph)).filter(|graph| self.is_visible(graph));
            known.filter(|graph| seen.insert(graph.clone())).collect()
        };
        if !request.default_graphs.is_empty() || !request.named_graphs.is_empty() {
            return (pick(&request.default_graphs), pick(&request.named_graphs));
        }
        match from {
            Some(dataset) => (pick(&dataset.default), pick(&dataset.named.unwrap_or_default())),
            None => {
                let named = self.metadata.iter().chain(self.versions.keys()).cloned().collect();
                (self.metadata.clone(), named)
            }
        }
    }

    /// Dataset IRIs that stand for graphs become the graphs' own names.
    pub(super) fn resolve(&self, query: &mut Query) {
        let pattern = match query {
            Query::Select { pattern, .. }
            | Query::Construct { pattern, .. }
            | Query::Describe { pattern, .. }
            | Query::Ask { pattern, .. } => pattern,
        };
        self.in_pattern(pattern);
    }

    fn in_pattern(&self, pattern: &mut GraphPattern) {
        match pattern {
            GraphPattern::Service { .. } => return, // it has graphs of its own
            GraphPattern::Graph { name: NamedNodePattern::NamedNode(node), .. } => *node = self.name(node),
            _ => {}
        }
        each_inside(pattern, &mut |inner| self.in_pattern(inner));
    }
}
