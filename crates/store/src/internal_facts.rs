//! Facts about datasets that no query can read: origins, edits, and kept files.
//!
//! Each fact is a literal with JSON, next to the pointers, in a graph that no query can name. A change of a description replaces
//! them in its transaction; the removal of a dataset removes them.

use super::edits::DatasetEdits;
use super::files::StoredFile;
use super::quad_changes::QuadChanges;
use super::{DatasetOrigin, Store, StoreError};
use lodeseek_catalog::DatasetId;
use lodeseek_rdf::vocab::prov;
use oxrdf::{Literal, NamedNodeRef, NamedOrBlankNode, Quad, Term};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;

/// Kind of a fact.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fact {
    /// [`DatasetOrigin`].
    Origin,
    /// [`DatasetEdits`].
    Edits,
    /// A list of [`StoredFile`].
    Files,
    /// Digest of the description.
    Description,
}

impl Fact {
    const ALL: [Self; 4] = [Self::Origin, Self::Edits, Self::Files, Self::Description];

    pub(super) fn property(self) -> NamedNodeRef<'static> {
        NamedNodeRef::new_unchecked(match self {
            Self::Origin => prov::WAS_DERIVED_FROM,
            Self::Edits => "urn:lodeseek:edits",
            Self::Files => "urn:lodeseek:files",
            Self::Description => "urn:lodeseek:description",
        })
    }
}

/// New facts about a dataset. `None` keeps the present one.
#[derive(Clone, Debug, Default)]
pub(super) struct NewFacts {
    pub(super) origin: Option<DatasetOrigin>,
    /// Edits; `Some(None)` removes those that are present.
    pub(super) edits: Option<Option<DatasetEdits>>,
    /// Kept files; an empty list removes those that are present.
    pub(super) files: Option<Vec<StoredFile>>,
}

impl NewFacts {
    pub(super) fn is_empty(&self) -> bool {
        self.origin.is_none() && self.edits.is_none() && self.files.is_none()
    }
}

impl Store {
    /// Returns the statements of all facts about a dataset.
    pub(super) fn fact_quads(&self, id: &DatasetId) -> Result<Vec<Quad>, StoreError> {
        let (node, graph) = (self.iris.dataset(id), self.iris.versions());
        let mut quads = Vec::new();
        for quad in self.oxigraph.quads_for_pattern(
            Some(node.as_ref().into()),
            None,
            None,
            Some(graph.as_ref().into()),
        ) {
            let quad = quad?;
            if Fact::ALL.iter().any(|fact| is_fact(&quad, *fact)) {
                quads.push(quad);
            }
        }
        Ok(quads)
    }

    fn quads_of_fact(&self, id: &DatasetId, fact: Fact) -> Result<Vec<Quad>, StoreError> {
        let (node, graph) = (self.iris.dataset(id), self.iris.versions());
        let quads = self.oxigraph.quads_for_pattern(
            Some(node.as_ref().into()),
            Some(fact.property()),
            None,
            Some(graph.as_ref().into()),
        );
        Ok(quads.collect::<Result<_, _>>()?)
    }

    /// Returns a fact about a dataset. Without one, or if another version wrote it, `None`.
    pub(super) fn fact<T: DeserializeOwned>(
        &self,
        id: &DatasetId,
        fact: Fact,
    ) -> Result<Option<T>, StoreError> {
        Ok(self.quads_of_fact(id, fact)?.iter().find_map(read_fact))
    }

    /// Returns a fact about each dataset that has one.
    pub(super) fn facts<T: DeserializeOwned>(
        &self,
        fact: Fact,
    ) -> Result<BTreeMap<DatasetId, T>, StoreError> {
        let (mut facts, graph) = (BTreeMap::new(), self.iris.versions());
        for quad in self.oxigraph.quads_for_pattern(
            None,
            Some(fact.property()),
            None,
            Some(graph.as_ref().into()),
        ) {
            let quad = quad?;
            let NamedOrBlankNode::NamedNode(subject) = &quad.subject else {
                continue;
            };
            if let (Some(id), Some(value)) =
                (self.iris.dataset_id(subject.as_str()), read_fact(&quad))
            {
                facts.insert(id, value);
            }
        }
        Ok(facts)
    }

    /// Returns the datasets that have a fact with this value.
    pub(super) fn datasets_with_fact(
        &self,
        fact: Fact,
        value: &impl Serialize,
    ) -> Result<Vec<DatasetId>, StoreError> {
        let text = serde_json::to_string(value)
            .map_err(|error| StoreError::io(&self.home)(error.into()))?;
        let (literal, graph) = (Literal::from(text), self.iris.versions());
        let mut ids = Vec::new();
        for quad in self.oxigraph.quads_for_pattern(
            None,
            Some(fact.property()),
            Some(literal.as_ref().into()),
            Some(graph.as_ref().into()),
        ) {
            if let NamedOrBlankNode::NamedNode(subject) = &quad?.subject {
                ids.extend(self.iris.dataset_id(subject.as_str()));
            }
        }
        Ok(ids)
    }

    /// Returns the statement of a fact.
    fn fact_quad(
        &self,
        id: &DatasetId,
        fact: Fact,
        value: &impl Serialize,
    ) -> Result<Quad, StoreError> {
        let text = serde_json::to_string(value)
            .map_err(|error| StoreError::io(&self.home)(error.into()))?;
        Ok(Quad::new(
            self.iris.dataset(id),
            fact.property().into_owned(),
            Literal::from(text),
            self.iris.versions(),
        ))
    }

    /// Replaces facts about a dataset. `present`: the statements of all its facts.
    pub(super) fn write_facts(
        &self,
        id: &DatasetId,
        new: &NewFacts,
        present: &[Quad],
        changes: &mut QuadChanges,
    ) -> Result<(), StoreError> {
        if let Some(origin) = &new.origin {
            remove_fact(present, Fact::Origin, changes);
            changes.add(&self.fact_quad(id, Fact::Origin, origin)?);
        }
        if let Some(edits) = &new.edits {
            remove_fact(present, Fact::Edits, changes);
            if let Some(edits) = edits {
                changes.add(&self.fact_quad(id, Fact::Edits, edits)?);
            }
        }
        if let Some(files) = &new.files {
            remove_fact(present, Fact::Files, changes);
            if !files.is_empty() {
                changes.add(&self.fact_quad(id, Fact::Files, files)?);
            }
        }
        Ok(())
    }

    /// Removes the facts that are as the store has them, so that nothing is written for them.
    pub(super) fn without_present_facts(
        &self,
        id: &DatasetId,
        new: NewFacts,
    ) -> Result<NewFacts, StoreError> {
        let mut changed = NewFacts::default();
        if let Some(origin) = new.origin
            && self.dataset_origin(id)?.as_ref() != Some(&origin)
        {
            changed.origin = Some(origin);
        }
        if let Some(edits) = new.edits
            && self.dataset_edits(id)? != edits
        {
            changed.edits = Some(edits);
        }
        if let Some(files) = new.files
            && self.dataset_files(id)? != files
        {
            changed.files = Some(files);
        }
        Ok(changed)
    }

    /// Replaces the digest of a dataset's description. `present`: the statements of all its facts.
    pub(super) fn write_digest(
        &self,
        id: &DatasetId,
        digest: &str,
        present: &[Quad],
        changes: &mut QuadChanges,
    ) -> Result<(), StoreError> {
        remove_fact(present, Fact::Description, changes);
        changes.add(&self.fact_quad(id, Fact::Description, &digest)?);
        Ok(())
    }

    /// Replaces facts about datasets whose descriptions and content stay.
    pub(super) fn replace_facts(&self, new: &[(DatasetId, NewFacts)]) -> Result<(), StoreError> {
        if new.iter().all(|(_, facts)| facts.is_empty()) {
            return Ok(());
        }
        let _change = self.change();
        let commit = self.start_commit();
        let mut changes = QuadChanges::default();
        self.mark_commit(&commit, &mut changes)?;
        for (id, facts) in new {
            self.write_facts(id, facts, &self.fact_quads(id)?, &mut changes)?;
        }
        let written = changes.commit(self)?;
        self.finish_commit(commit, written)
    }
}

fn is_fact(quad: &Quad, fact: Fact) -> bool {
    quad.predicate == fact.property()
}

/// Removes the present statements of a fact.
fn remove_fact(present: &[Quad], fact: Fact, changes: &mut QuadChanges) {
    for quad in present.iter().filter(|quad| is_fact(quad, fact)) {
        changes.remove(quad);
    }
}

fn read_fact<T: DeserializeOwned>(quad: &Quad) -> Option<T> {
    match &quad.object {
        Term::Literal(text) => serde_json::from_str(text.value()).ok(),
        _ => None,
    }
}
