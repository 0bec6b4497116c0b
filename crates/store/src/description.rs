//! Descriptions of datasets in the catalogue graph and in their graphs of [statements](super::statements).

use super::internal_facts::{Fact, NewFacts};
use super::quad_changes::QuadChanges;
use super::statements::{self, OwnStatements, StatementChange};
use super::{ChangeKind, Stamp, Store, StoreError};
use lodeseek_catalog::DatasetId;
use lodeseek_rdf::TripleGraph;
use lodeseek_rdf::vocab::{dcat as dcat_terms, rdf};
use oxrdf::{NamedNode, NamedOrBlankNode, Quad, Term, Triple};
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::Ordering;

/// New description of a dataset, and the version of its content.
pub(super) struct Description {
    pub(super) id: DatasetId,
    pub(super) version: String,
    pub(super) triples: Vec<Triple>,
    /// Its origin, edits and files.
    pub(super) facts: NewFacts,
}

/// Present statements about a dataset, without its content.
struct PresentDescription {
    facts: Vec<Quad>,
    /// Triples of the catalogue graph about the dataset and its parts.
    triples: Vec<Triple>,
    own: OwnStatements,
    pointers: Vec<Quad>,
    record: Vec<Quad>,
}

impl PresentDescription {
    fn is_empty(&self) -> bool {
        self.facts.is_empty()
            && self.triples.is_empty()
            && self.own.is_empty()
            && self.pointers.is_empty()
            && self.record.is_empty()
    }
}

impl Store {
    /// Returns a dataset's description, as its catalogue states it: the statements about its node and its parts, and its own
    /// statements about resources of the web. Literals have their original lexical forms.
    pub fn description(&self, id: &DatasetId) -> Result<Vec<Triple>, StoreError> {
        let (catalog, node) = (self.iris.catalog(), self.iris.dataset(id));
        if !self.has_separate_statements {
            let mut triples = self.node_and_parts(&catalog, &node, &[])?;
            triples.extend(self.shared_statements(&node, &triples)?);
            return Ok(triples);
        }
        let own = self.own_statements(id)?;
        let mut triples = self.node_and_parts(&catalog, &node, &own.parts(&node))?;
        triples.extend(own.statements.iter().cloned());
        own.restore_forms(&mut triples);
        Ok(triples)
    }

    /// Returns a dataset's description as a graph.
    pub fn description_graph(&self, id: &DatasetId) -> Result<TripleGraph, StoreError> {
        Ok(self.description(id)?.into_iter().collect())
    }

    /// Returns the triples of a node and of its parts: objects with the IRI of the node and a fragment. `more` are parts to which
    /// other nodes link.
    pub(super) fn node_and_parts(
        &self,
        graph: &NamedNode,
        node: &NamedNode,
        more: &[NamedNode],
    ) -> Result<Vec<Triple>, StoreError> {
        let mut triples = Vec::new();
        let mut seen: HashSet<NamedNode> = more.iter().cloned().collect();
        let mut waiting: Vec<NamedNode> = seen.iter().cloned().collect();
        waiting.push(node.clone());
        while let Some(next) = waiting.pop() {
            let found = self.subject_triples(graph, &next)?;
            for triple in &found {
                if let Term::NamedNode(object) = &triple.object
                    && is_part(object, node)
                    && seen.insert(object.clone())
                {
                    waiting.push(object.clone());
                }
            }
            triples.extend(found);
        }
        Ok(triples)
    }

    /// Returns true if the store contains exactly this description of a dataset.
    pub(super) fn is_described(
        &self,
        id: &DatasetId,
        description: &[Triple],
    ) -> Result<bool, StoreError> {
        let catalog = NamedOrBlankNode::from(self.iris.catalog());
        // The catalogue lists the dataset: this is no statement about it.
        let new: HashSet<&Triple> = description
            .iter()
            .filter(|triple| triple.subject != catalog)
            .collect();
        let present = self.description(id)?;
        let present: HashSet<&Triple> = present.iter().collect();
        Ok(self.has_separate_statements && present == new)
    }

    /// Replaces descriptions, records, pointers and links to works in one commit.
    pub(super) fn describe(&self, new: &[Description], stamp: &Stamp) -> Result<(), StoreError> {
        let _change = self.change();
        let commit = self.start_commit();
        let mut changes = QuadChanges::default();
        self.mark_commit(&commit, &mut changes)?;
        let mut present = Vec::with_capacity(new.len());
        for description in new {
            present.push(self.present_description(&description.id)?);
        }
        let kinds = self.change_descriptions(new, present, stamp, &mut changes)?;
        if stamp.now.is_some() {
            self.record_changes(&mut changes, &kinds)?;
        }
        let written = changes.commit(self)?;
        self.described.fetch_add(1, Ordering::SeqCst);
        self.finish_commit(commit, written)
    }

    /// Returns the quads of the description of a new dataset, without the record of the change. `None` if the store has anything
    /// that it replaces.
    pub(super) fn describe_new(
        &self,
        new: &Description,
        stamp: &Stamp,
    ) -> Result<Option<QuadChanges>, StoreError> {
        let present = self.present_description(&new.id)?;
        if !present.is_empty() || self.has_recorded_change(&new.id)? {
            return Ok(None);
        }
        let mut changes = QuadChanges::default();
        let new = std::slice::from_ref(new);
        self.change_descriptions(new, vec![present], stamp, &mut changes)?;
        Ok(Some(changes))
    }

    /// Returns the present statements about a dataset, without its content.
    fn present_description(&self, id: &DatasetId) -> Result<PresentDescription, StoreError> {
        let node = self.iris.dataset(id);
        let own = self.own_statements(id)?;
        Ok(PresentDescription {
            triples: self.node_and_parts(&self.iris.catalog(), &node, &own.parts(&node))?,
            own,
            facts: self.fact_quads(id)?,
            pointers: self.pointer_quads(id)?,
            record: self.record_quads(id)?,
        })
    }

    /// Adds the changes that replace descriptions. Returns what each change is for its dataset. `present`: the present statements
    /// about each dataset, in the order of `new`.
    fn change_descriptions<'d>(
        &self,
        new: &'d [Description],
        present: Vec<PresentDescription>,
        stamp: &Stamp,
        changes: &mut QuadChanges,
    ) -> Result<Vec<(&'d DatasetId, ChangeKind)>, StoreError> {
        let catalog = self.iris.catalog();
        let kind = NamedNode::new_unchecked(rdf::TYPE);
        let class = NamedNode::new_unchecked(dcat_terms::CATALOG);
        changes.add(&Quad::new(catalog.clone(), kind, class, catalog.clone()));
        changes.add(&statements::mark(&self.iris));
        let mut change = StatementChange::new(self, new.iter().map(|description| &description.id));
        let mut kinds = Vec::with_capacity(new.len());
        for (description, present) in new.iter().zip(present) {
            let Description {
                id,
                version,
                triples,
                facts,
            } = description;
            let PresentDescription {
                facts: present_facts,
                triples: present_triples,
                own: present_own,
                pointers,
                record,
            } = present;
            self.write_facts(id, facts, &present_facts, changes)?;
            for triple in present_triples {
                changes.remove(&triple.in_graph(catalog.clone()));
            }
            let kind = if pointers.is_empty() {
                ChangeKind::Create
            } else {
                ChangeKind::Update
            };
            kinds.push((id, kind));
            for pointer in &pointers {
                changes.remove(pointer);
            }
            changes.add(&self.pointer_quad(id, version));
            for link in self.works_that_use(id)? {
                changes.add(&link);
            }
            let own = OwnStatements::from_description(triples, id, &self.iris);
            change.replace(id, present_own, own, changes);
            let origin = match stamp.now {
                Some(_) => stamp.origin.clone().map(NamedNode::into_string),
                None => self.origin(id)?,
            };
            let digest = self.digest(triples, origin.as_deref());
            self.write_digest(id, &digest, &present_facts, changes)?;
            let edits = facts.edits.as_ref().and_then(Option::as_ref);
            self.write_record(changes, id, edits, &record, stamp);
        }
        // After all datasets: a statement that one drops, another one may make.
        change.remove_unused_statements(changes)?;
        change.insert_new(changes);
        for Description { id, triples, .. } in new {
            let node = self.iris.dataset(id);
            for triple in triples {
                let is_own = match &triple.subject {
                    NamedOrBlankNode::NamedNode(subject) => {
                        *subject == node || is_part(subject, &node) || *subject == catalog
                    }
                    NamedOrBlankNode::BlankNode(_) => true,
                };
                if is_own {
                    changes.add(triple.as_ref().in_graph(&catalog));
                }
            }
        }
        Ok(kinds)
    }

    /// Returns a digest of each description that has one: it changes with the description and its origin. Descriptions that earlier
    /// versions stored, and restored ones, have none.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn description_digests(&self) -> Result<BTreeMap<DatasetId, String>, StoreError> {
        self.facts(Fact::Description)
    }

    /// Stores and returns the digests of descriptions that have none.
    ///
    /// # Errors
    /// If the store cannot be read or written.
    pub fn add_description_digests(
        &self,
        ids: Vec<DatasetId>,
    ) -> Result<BTreeMap<DatasetId, String>, StoreError> {
        let mut digests = BTreeMap::new();
        if ids.is_empty() {
            return Ok(digests);
        }
        let commit = self.start_commit();
        let mut changes = QuadChanges::default();
        self.mark_commit(&commit, &mut changes)?;
        for id in ids {
            let digest = self.digest(&self.description(&id)?, self.origin(&id)?.as_deref());
            self.write_digest(&id, &digest, &self.fact_quads(&id)?, &mut changes)?;
            digests.insert(id, digest);
        }
        let written = changes.commit(self)?;
        self.finish_commit(commit, written)?;
        Ok(digests)
    }

    fn digest(&self, description: &[Triple], origin: Option<&str>) -> String {
        let catalog = NamedOrBlankNode::from(self.iris.catalog());
        let mut lines: Vec<String> = description
            .iter()
            .filter(|triple| triple.subject != catalog)
            .map(ToString::to_string)
            .collect();
        lines.sort_unstable();
        lines.dedup();
        lines.extend(origin.map(str::to_owned));
        let hash = Sha256::digest(lines.join("\n"));
        hash.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

pub(super) fn is_part(node: &NamedNode, of: &NamedNode) -> bool {
    node.as_str()
        .strip_prefix(of.as_str())
        .is_some_and(|rest| rest.starts_with('#'))
}
