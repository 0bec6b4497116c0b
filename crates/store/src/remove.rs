//! Removal of datasets from the catalogue.

use super::quad_changes::QuadChanges;
use super::statements::{OwnStatements, StatementChange};
use super::{ChangeKind, Store, StoreError};
use lodeseek_catalog::DatasetId;
use oxrdf::{NamedOrBlankNode, Quad, Term};
use std::sync::atomic::Ordering;

impl Store {
    /// Removes datasets: descriptions, records, pointers and links to works in one transaction, then derived data in another. Their content
    /// becomes invisible and is deleted by [`clear_replaced`](Self::clear_replaced) or by the next load; current
    /// readers may read it to the end. Returns the number of datasets removed.
    ///
    /// Statements about resources of the web stay in the catalogue graph if another dataset makes them.
    pub fn remove(&self, ids: &[DatasetId]) -> Result<usize, StoreError> {
        let mut present = Vec::new();
        for id in ids {
            if self.version(id)?.is_some() {
                present.push(id);
            }
        }
        if present.is_empty() {
            return Ok(0);
        }
        self.remove_from_catalog(&present)?;
        let nothing: Vec<_> = present
            .iter()
            .map(|id| ((*id).clone(), Vec::new()))
            .collect();
        self.replace_derived_triples([
            (self.iris.profiles(), nothing.clone()),
            (self.iris.snippets(), nothing),
        ])?;
        Ok(present.len())
    }

    fn remove_from_catalog(&self, ids: &[&DatasetId]) -> Result<(), StoreError> {
        let _change = self.change();
        let (catalog, works) = (self.iris.catalog(), self.iris.works());
        let commit = self.start_commit();
        let mut changes = QuadChanges::default();
        self.mark_commit(&commit, &mut changes)?;
        let mut change = StatementChange::new(self, ids.iter().copied());
        let mut recorded = Vec::new();
        for id in ids {
            let node = self.iris.dataset(id);
            let own = self.own_statements(id)?;
            for triple in self.node_and_parts(&catalog, &node, &own.parts(&node))? {
                changes.remove(&triple.in_graph(catalog.clone()));
            }
            for triple in self.node_and_parts(&works, &node, &[])? {
                changes.remove(&triple.in_graph(works.clone()));
            }
            change.replace(id, own, OwnStatements::default(), &mut changes);
            let record = self.record_quads(id)?;
            // A dataset without a record was loaded without a time: its changes are not recorded.
            if !record.is_empty() {
                recorded.push((*id, ChangeKind::Delete));
            }
            record.iter().for_each(|quad| changes.remove(quad));
            self.pointer_quads(id)?
                .iter()
                .for_each(|quad| changes.remove(quad));
            self.fact_quads(id)?
                .iter()
                .for_each(|quad| changes.remove(quad));
            let membership: Vec<Quad> = self
                .oxigraph
                .quads_for_pattern(
                    Some(NamedOrBlankNode::from(catalog.clone()).as_ref()),
                    None,
                    Some(Term::from(node).as_ref()),
                    Some(catalog.as_ref().into()),
                )
                .collect::<Result<_, _>>()?;
            membership.iter().for_each(|quad| changes.remove(quad));
        }
        change.remove_unused_statements(&mut changes)?;
        if !recorded.is_empty() {
            self.record_changes(&mut changes, &recorded)?;
        }
        let written = changes.commit(self)?;
        self.described.fetch_add(1, Ordering::SeqCst);
        self.finish_commit(commit, written)
    }
}
