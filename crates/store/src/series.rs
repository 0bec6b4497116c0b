//! Links between datasets by the IRIs of their source catalogues: a series (`dcat:DatasetSeries`) and its members.
//! <https://www.w3.org/TR/vocab-dcat-3/#dataset-series>

use super::{Store, StoreError};
use lodeseek_catalog::DatasetId;
use lodeseek_rdf::vocab::{dcat, dcterms, lodeseek};
use oxrdf::{NamedNode, NamedNodeRef, NamedOrBlankNode, NamedOrBlankNodeRef, Term, TermRef};
use std::collections::BTreeSet;

impl Store {
    /// Returns the dataset with an IRI: its IRI in this home or in its source catalogue. `None` if there is none.
    pub fn dataset_with_iri(&self, iri: &str) -> Result<Option<DatasetId>, StoreError> {
        let node = NamedNode::new_unchecked(iri);
        if let Some(id) = self.iris.dataset_id(iri)
            && !self
                .query_links(Some((&node).into()), dcterms::IDENTIFIER, None)?
                .is_empty()
        {
            return Ok(Some(id));
        }
        let sources = self.source_iris(None, Some((&node).into()))?;
        Ok(sources
            .iter()
            .find_map(|(subject, _)| self.iris.dataset_id(subject)))
    }

    /// Returns the members of a series: the datasets that declare it, and those that it declares.
    pub fn series_members(&self, id: &DatasetId) -> Result<BTreeSet<DatasetId>, StoreError> {
        let own = self.iris.dataset(id);
        let mut series = vec![own.clone()];
        for (_, source) in self.source_iris(Some((&own).into()), None)? {
            if let Term::NamedNode(source) = source {
                series.push(source);
            }
        }
        let mut members = BTreeSet::new();
        for series in &series {
            for (subject, _) in self.query_links(None, dcat::IN_SERIES, Some(series.into()))? {
                members.extend(self.iris.dataset_id(&subject));
            }
        }
        for (_, member) in self.query_links(Some((&own).into()), dcat::SERIES_MEMBER, None)? {
            if let Term::NamedNode(member) = member {
                members.extend(self.dataset_with_iri(member.as_str())?);
            }
        }
        members.remove(id);
        Ok(members)
    }

    /// Returns the (dataset, IRI in its source catalogue) with this subject or object. In homes of earlier versions, the property
    /// is `dct:source`.
    fn source_iris(
        &self,
        subject: Option<NamedOrBlankNodeRef<'_>>,
        object: Option<TermRef<'_>>,
    ) -> Result<Vec<(String, Term)>, StoreError> {
        let mut found = self.query_links(subject, lodeseek::SOURCE_IRI, object)?;
        for (dataset, iri) in self.query_links(subject, dcterms::SOURCE, object)? {
            let node = NamedNode::new_unchecked(dataset.as_str());
            if self
                .query_links(Some((&node).into()), lodeseek::ID, None)?
                .is_empty()
            {
                found.push((dataset, iri));
            }
        }
        Ok(found)
    }

    /// Returns the (subject, object) of the statements of the catalogue with a property, without blank subjects.
    fn query_links(
        &self,
        subject: Option<NamedOrBlankNodeRef<'_>>,
        property: &str,
        object: Option<TermRef<'_>>,
    ) -> Result<Vec<(String, Term)>, StoreError> {
        let (catalog, property) = (self.iris.catalog(), NamedNodeRef::new_unchecked(property));
        let mut found = Vec::new();
        for quad in self.oxigraph.quads_for_pattern(
            subject,
            Some(property),
            object,
            Some(catalog.as_ref().into()),
        ) {
            let quad = quad?;
            if let NamedOrBlankNode::NamedNode(subject) = quad.subject {
                found.push((subject.into_string(), quad.object));
            }
        }
        Ok(found)
    }
}
