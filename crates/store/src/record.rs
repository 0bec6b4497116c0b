//! Catalogue records of datasets (`dcat:CatalogRecord`): time of listing, time of the last change of the description,
//! source. <https://www.w3.org/TR/vocab-dcat-3/#Class:Catalog_Record>
//!
//! A record describes the listing, not the dataset: two loads of the same description differ in their time alone. It is
//! therefore excluded from the description by which versions are compared.

use super::edits::DatasetEdits;
use super::quad_changes::QuadChanges;
use super::{Store, StoreError};
use lodeseek_catalog::DatasetId;
use lodeseek_rdf::vocab::{dcat, dcterms, foaf, prov, rdf, skos};
use oxrdf::{GraphName, Literal, NamedNode, NamedNodeRef, NamedOrBlankNode, Quad, Term, Triple};
use oxsdatatypes::DateTime;
use std::collections::BTreeMap;

/// Content of the records of a load.
#[derive(Clone, Debug, Default)]
pub struct Stamp {
    /// Current time. `None`: no record is written, and existing records are kept.
    pub now: Option<DateTime>,
    /// Source of the descriptions.
    pub origin: Option<NamedNode>,
}

/// Name of the record among the parts of a description.
const PART: &str = "record";

impl Store {
    fn record(&self, id: &DatasetId) -> NamedNode {
        self.iris.part(id, PART)
    }

    /// Returns the time of the last change of each description (`xsd:dateTime`), for datasets with a record.
    pub fn records(&self) -> Result<BTreeMap<DatasetId, String>, StoreError> {
        self.record_times(dcterms::MODIFIED)
    }

    /// Returns the time at which each dataset was added to the catalogue (`xsd:dateTime`), for datasets with a record.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn arrivals(&self) -> Result<BTreeMap<DatasetId, String>, StoreError> {
        self.record_times(dcterms::ISSUED)
    }

    /// Returns the values of a property of all records.
    fn record_times(&self, property: &str) -> Result<BTreeMap<DatasetId, String>, StoreError> {
        let catalog = self.iris.catalog();
        let mut records = BTreeMap::new();
        for quad in self.oxigraph.quads_for_pattern(
            None,
            Some(NamedNodeRef::new_unchecked(property)),
            None,
            Some(catalog.as_ref().into()),
        ) {
            let quad = quad?;
            let (NamedOrBlankNode::NamedNode(subject), Term::Literal(time)) =
                (&quad.subject, &quad.object)
            else {
                continue;
            };
            let dataset = subject
                .as_str()
                .strip_suffix(PART)
                .and_then(|rest| rest.strip_suffix('#'));
            if let Some(id) = dataset.and_then(|iri| self.iris.dataset_id(iri)) {
                records.insert(id, time.value().to_owned());
            }
        }
        Ok(records)
    }

    /// Returns the time of the last change of a dataset's description (`xsd:dateTime`), if it has a record.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn record_time(&self, id: &DatasetId) -> Result<Option<String>, StoreError> {
        let record = self.record_of(id)?;
        let modified = record
            .into_iter()
            .find(|triple| triple.predicate.as_str() == dcterms::MODIFIED);
        Ok(modified.and_then(|triple| match triple.object {
            Term::Literal(time) => Some(time.value().to_owned()),
            _ => None,
        }))
    }

    /// Returns the source of each description, for datasets with a record.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn origins(&self) -> Result<BTreeMap<DatasetId, String>, StoreError> {
        let mut origins = BTreeMap::new();
        for (subject, origin) in self.query_derivations(None)? {
            let dataset = subject
                .strip_suffix(PART)
                .and_then(|rest| rest.strip_suffix('#'));
            if let Some(id) = dataset.and_then(|iri| self.iris.dataset_id(iri)) {
                origins.insert(id, origin);
            }
        }
        Ok(origins)
    }

    /// Returns the source of one description, if the dataset has a record.
    pub(super) fn origin(&self, id: &DatasetId) -> Result<Option<String>, StoreError> {
        Ok(self
            .query_derivations(Some(&self.record(id)))?
            .into_iter()
            .next()
            .map(|(_, origin)| origin))
    }

    /// Returns pairs (derived resource, source) of the catalogue.
    fn query_derivations(
        &self,
        subject: Option<&NamedNode>,
    ) -> Result<Vec<(String, String)>, StoreError> {
        let (catalog, property) = (
            self.iris.catalog(),
            NamedNodeRef::new_unchecked(prov::WAS_DERIVED_FROM),
        );
        let subject = subject.map(|subject| subject.as_ref().into());
        let mut found = Vec::new();
        for quad in self.oxigraph.quads_for_pattern(
            subject,
            Some(property),
            None,
            Some(catalog.as_ref().into()),
        ) {
            let quad = quad?;
            if let (NamedOrBlankNode::NamedNode(subject), Term::NamedNode(origin)) =
                (quad.subject, quad.object)
            {
                found.push((subject.into_string(), origin.into_string()));
            }
        }
        Ok(found)
    }

    /// Returns the record of a dataset and its link from the catalogue. Empty if there is none.
    pub fn record_of(&self, id: &DatasetId) -> Result<Vec<Triple>, StoreError> {
        Ok(self
            .record_quads(id)?
            .into_iter()
            .map(|quad| Triple::new(quad.subject, quad.predicate, quad.object))
            .collect())
    }

    pub(super) fn has_record(&self, id: &DatasetId) -> Result<bool, StoreError> {
        Ok(!self.record_quads(id)?.is_empty())
    }

    /// Returns the statements about a dataset's record, and its link from the catalogue.
    pub(super) fn record_quads(&self, id: &DatasetId) -> Result<Vec<Quad>, StoreError> {
        let (catalog, record) = (self.iris.catalog(), self.record(id));
        let graph: GraphName = catalog.clone().into();
        let statements = self.oxigraph.quads_for_pattern(
            Some(record.as_ref().into()),
            None,
            None,
            Some(graph.as_ref()),
        );
        let links = self.oxigraph.quads_for_pattern(
            Some(catalog.as_ref().into()),
            None,
            Some(record.as_ref().into()),
            Some(graph.as_ref()),
        );
        Ok(statements.chain(links).collect::<Result<Vec<_>, _>>()?)
    }

    /// Replaces the record of a dataset. It names the edited keys of the description. `old`: the statements of the present record.
    pub(super) fn write_record(
        &self,
        changes: &mut QuadChanges,
        id: &DatasetId,
        edits: Option<&DatasetEdits>,
        old: &[Quad],
        stamp: &Stamp,
    ) {
        let Some(now) = stamp.now else { return };
        let listed = old
            .iter()
            .find(|quad| quad.predicate.as_str() == dcterms::ISSUED)
            .map(|quad| quad.object.clone());
        old.iter().for_each(|quad| changes.remove(quad));
        let (catalog, record) = (self.iris.catalog(), self.record(id));
        let now: Term = Literal::from(now).into();
        let mut statements: Vec<(&NamedNode, &str, Term)> = vec![
            (&catalog, dcat::RECORD, record.clone().into()),
            (
                &record,
                rdf::TYPE,
                NamedNode::new_unchecked(dcat::CATALOG_RECORD).into(),
            ),
            (&record, foaf::PRIMARY_TOPIC, self.iris.dataset(id).into()),
            (
                &record,
                dcterms::ISSUED,
                listed.unwrap_or_else(|| now.clone()),
            ),
            (&record, dcterms::MODIFIED, now),
        ];
        if let Some(edits) = edits {
            let keys: Vec<&str> = edits.edits.keys().collect();
            let note = format!(
                "Edited in this catalogue, not by the source: {}",
                keys.join(", ")
            );
            let note = Literal::new_language_tagged_literal_unchecked(note, "en");
            statements.push((&record, skos::CHANGE_NOTE, note.into()));
        }
        if let Some(origin) = &stamp.origin {
            statements.push((&record, prov::WAS_DERIVED_FROM, origin.clone().into()));
        }
        for (subject, predicate, object) in statements {
            let predicate = NamedNode::new_unchecked(predicate);
            changes.add(&Quad::new(
                subject.clone(),
                predicate,
                object,
                catalog.clone(),
            ));
        }
    }
}
