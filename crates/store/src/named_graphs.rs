//! Complete graphs by their public names.

use super::{Store, StoreError, graph_file};
use lodeseek_catalog::DatasetId;
use oxrdf::{NamedNode, Triple};

/// Graph of the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoredGraph {
    /// Union of graphs of metadata: the catalogue, the profiles, the snippets or the works.
    Metadata(Vec<NamedNode>),
    /// Current content of a dataset.
    Content {
        /// The dataset.
        id: DatasetId,
        /// The version of its content.
        version: String,
    },
}

impl Store {
    /// Returns the default graph of queries.
    #[must_use]
    pub fn default_graph(&self) -> StoredGraph {
        StoredGraph::Metadata(self.iris.metadata_graphs().to_vec())
    }

    /// Returns the graph with a public name: the IRI of a dataset, or of a graph of metadata. `None` for other names, as in queries.
    pub fn graph(&self, name: &NamedNode) -> Result<Option<StoredGraph>, StoreError> {
        if let Some(id) = self.iris.dataset_id(name.as_str()) {
            return Ok(self
                .version(&id)?
                .map(|version| StoredGraph::Content { id, version }));
        }
        if self.iris.metadata_graphs().contains(name) {
            return Ok(Some(StoredGraph::Metadata(vec![name.clone()])));
        }
        Ok(None)
    }

    /// Iterates over the triples of a graph. A triple in two graphs of metadata is returned twice.
    pub fn triples(
        &self,
        graph: &StoredGraph,
    ) -> Result<Box<dyn Iterator<Item = Result<Triple, StoreError>> + '_>, StoreError> {
        match graph {
            StoredGraph::Metadata(graphs) => {
                let graphs = graphs.clone().into_iter();
                let quads = graphs.flat_map(|graph| {
                    self.oxigraph
                        .quads_for_pattern(None, None, None, Some(graph.as_ref().into()))
                });
                Ok(Box::new(quads.map(|quad| {
                    let quad = quad?;
                    Ok(Triple::new(quad.subject, quad.predicate, quad.object))
                })))
            }
            StoredGraph::Content { id, version } => {
                let content = self.open_content_of(id, version)?;
                let path = graph_file::path(&self.home, version);
                Ok(Box::new(
                    content
                        .into_triples()
                        .map(move |triple| triple.map_err(StoreError::io(&path))),
                ))
            }
        }
    }
}
