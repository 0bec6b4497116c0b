//! Facts about the content of a dataset in its description: the number of skipped statements, and the place of the content.

use super::{Store, StoreError};
use lodeseek_catalog::DatasetId;
use lodeseek_rdf::vocab::lodeseek;
use oxrdf::{Literal, NamedNode, NamedNodeRef, NamedOrBlankNode, Quad, Term, Triple};
use std::collections::BTreeSet;

impl Store {
    /// Adds the number of skipped statements and the place of the content to the description of a dataset.
    pub(super) fn add_content_facts(
        &self,
        description: &mut Vec<Triple>,
        id: &DatasetId,
        skipped: u64,
        is_index_only: bool,
    ) {
        if skipped > 0 {
            let property = NamedNode::new_unchecked(lodeseek::SKIPPED_STATEMENTS);
            let count = Literal::from(i64::try_from(skipped).unwrap_or(i64::MAX));
            description.push(Triple::new(self.iris.dataset(id), property, count));
        }
        if is_index_only {
            description.push(self.index_only_quad(id).into());
        }
    }

    /// Returns the number of statements in the files of a dataset that could not be read.
    pub(super) fn skipped_statements(&self, id: &DatasetId) -> Result<u64, StoreError> {
        let triples = self.subject_triples(&self.iris.catalog(), &self.iris.dataset(id))?;
        let skipped = triples
            .into_iter()
            .find(|triple| triple.predicate.as_str() == lodeseek::SKIPPED_STATEMENTS);
        Ok(match skipped.map(|triple| triple.object) {
            Some(Term::Literal(count)) => count.value().parse().unwrap_or(0),
            _ => 0,
        })
    }

    /// Returns true if the store has RDF of a dataset, which SPARQL can query.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn stores_content(&self, id: &DatasetId) -> Result<bool, StoreError> {
        let Some(version) = self.version(id)? else {
            return Ok(false);
        };
        let graph = self.iris.graph(id, &version);
        let mut quads =
            self.oxigraph
                .quads_for_pattern(None, None, None, Some(graph.as_ref().into()));
        Ok(quads.next().transpose()?.is_some())
    }

    /// Returns true if the content of a dataset is in its graph file alone, so that SPARQL cannot query it.
    pub fn is_index_only(&self, id: &DatasetId) -> Result<bool, StoreError> {
        Ok(self.oxigraph.contains(&self.index_only_quad(id))?)
    }

    /// Returns the mark of an index-only dataset in the catalogue graph.
    pub(super) fn index_only_quad(&self, id: &DatasetId) -> Quad {
        let index_only = NamedNode::new_unchecked(lodeseek::IS_INDEX_ONLY);
        Quad::new(
            self.iris.dataset(id),
            index_only,
            Literal::from(true),
            self.iris.catalog(),
        )
    }

    /// Returns the datasets for which [`Self::is_index_only`] is true.
    pub fn index_only(&self) -> Result<BTreeSet<DatasetId>, StoreError> {
        let (catalog, property) = (
            self.iris.catalog(),
            NamedNodeRef::new_unchecked(lodeseek::IS_INDEX_ONLY),
        );
        let yes = Term::from(Literal::from(true));
        let mut ids = BTreeSet::new();
        let catalog = Some(catalog.as_ref().into());
        for quad in
            self.oxigraph
                .quads_for_pattern(None, Some(property), Some(yes.as_ref()), catalog)
        {
            if let NamedOrBlankNode::NamedNode(node) = quad?.subject {
                ids.extend(self.iris.dataset_id(node.as_str()));
            }
        }
        Ok(ids)
    }
}
