//! Datasets in which a resource occurs, and its roles there.
//!
//! Uses as subject and object are counted in the contents of the datasets, uses as class and property are those of their
//! VoID profiles. Reading is bounded: common resources occur in millions of triples.

use super::{Store, StoreError};
use lodeseek_catalog::DatasetId;
use lodeseek_rdf::vocab::{rdf, void};
use oxrdf::{GraphName, Literal, NamedNode, NamedNodeRef, NamedOrBlankNode, Quad, Term};
use std::collections::{BTreeMap, HashMap};

/// Maximum number of triples that are counted in each role.
const MAX_COUNTED: usize = 20_000;
/// Maximum number of datasets that are checked one by one, if there are more triples.
const MAX_CHECKED: usize = 5_000;
/// Maximum number of triples of one dataset in which a use as an object, other than as class, is looked for.
const MAX_OF_DATASET: usize = 1_000;

/// Uses of a resource in a dataset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// Number of triples with the resource as subject.
    pub subject: u64,
    /// Number of triples with the resource as object, except of `rdf:type`.
    pub object: u64,
    /// Number of entities with the resource as class.
    pub class: u64,
    /// Number of triples with the resource as property.
    pub property: u64,
}

impl Uses {
    /// Returns the number of all uses.
    #[must_use]
    pub fn total(self) -> u64 {
        self.subject + self.object + self.class + self.property
    }
}

/// Datasets in which a resource occurs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Occurrences {
    /// The uses by dataset.
    pub datasets: BTreeMap<DatasetId, Uses>,
    /// If false, the resource occurs in too many triples to read all: numbers are minimums.
    pub is_exact: bool,
    /// If false, further datasets may contain the resource.
    pub is_complete: bool,
}

/// Current graphs of datasets, by their names in the store. `None` for other graphs.
type KnownGraphs = HashMap<NamedNode, Option<DatasetId>>;

impl Store {
    /// Returns the datasets in which a resource occurs. Classes and properties of datasets without a profile are not
    /// found: `lodeseek index` writes it.
    pub fn occurrences(&self, resource: &NamedNode) -> Result<Occurrences, StoreError> {
        let mut found = Occurrences { is_exact: true, is_complete: true, ..Occurrences::default() };
        let mut known = KnownGraphs::new();
        self.count_subjects(resource, &mut known, &mut found)?;
        self.count_objects(resource, &mut known, &mut found)?;
        for (id, count) in self.partitions(void::CLASS, resource, void::ENTITIES)? {
            found.datasets.entry(id).or_default().class = count;
        }
        for (id, count) in self.partitions(void::PROPERTY, resource, void::TRIPLES)? {
            found.datasets.entry(id).or_default().property = count;
        }
        Ok(found)
    }

    fn count_subjects(
        &self,
        resource: &NamedNode,
        known: &mut KnownGraphs,
        found: &mut Occurrences,
    ) -> Result<(), StoreError> {
        let mut quads = self.oxigraph.quads_for_pattern(Some(resource.as_ref().into()), None, None, None);
        for quad in quads.by_ref().take(MAX_COUNTED) {
            if let Some(id) = self.current_dataset(&quad?.graph_name, known)? {
                found.datasets.entry(id).or_default().subject += 1;
            }
        }
        if quads.next().is_none() {
            return Ok(());
        }
        self.check_each(found, |graph, uses| {
            let graph = Some(graph.as_ref().into());
            let mut quads = self.oxigraph.quads_for_pattern(Some(resource.as_ref().into()), None, None, graph);
            uses.subject = uses.subject.max(u64::from(quads.next().transpose()?.is_some()));
            Ok(())
        })
    }

    fn count_objects(
        &self,
        resource: &NamedNode,
        known: &mut KnownGraphs,
        found: &mut Occurrences,
    ) -> Result<(), StoreError> {
        let mut quads = self.oxigraph.quads_for_pattern(None, None, Some(resource.as_ref().into()), None);
        for quad in quads.by_ref().take(MAX_COUNTED) {
            let quad = quad?;
            if let Some(id) = self.current_dataset(&quad.graph_name, known)? {
                let uses = found.datasets.entry(id).or_default();
                uses.object += u64::from(!is_type(&quad));
            }
        }
        if quads.next().is_none() {
            return Ok(());
        }
        self.check_each(found, |graph, uses| {
            let graph = Some(graph.as_ref().into());
            let quads = self.oxigraph.quads_for_pattern(None, None, Some(resource.as_ref().into()), graph);
            for quad in quads.take(MAX_OF_DATASET) {
                if uses.object > 0 {
                    break;
                }
                uses.object = u64::from(!is_type(&quad?));
            }
            Ok(())
        })
    }

    /// Checks the current graphs of all datasets, for a resource in too many triples to count.
    fn check_each(
        &self,
        found: &mut Occurrences,
        check: impl Fn(&NamedNode, &mut Uses) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        found.is_exact = false;
        let versions = self.versions()?;
        found.is_complete &= versions.len() <= MAX_CHECKED;
        for (id, version) in versions.into_iter().take(MAX_CHECKED) {
            let mut uses = found.datasets.get(&id).copied().unwrap_or_default();
            check(&self.iris.graph(&id, &version), &mut uses)?;
            if uses.total() > 0 {
                found.datasets.insert(id, uses);
            }
        }
        Ok(())
    }

    /// Returns the dataset whose current content a graph of the store is.
    fn current_dataset(&self, graph: &GraphName, known: &mut KnownGraphs) -> Result<Option<DatasetId>, StoreError> {
        let GraphName::NamedNode(graph) = graph else { return Ok(None) };
        if let Some(dataset) = known.get(graph) {
            return Ok(dataset.clone());
        }
        let mut dataset = None;
        if let Some((id, version)) = self.iris.dataset_of_graph(graph.as_str())
            && self.version(&id)?.as_deref() == Some(version)
        {
            dataset = Some(id);
        }
        known.insert(graph.clone(), dataset.clone());
        Ok(dataset)
    }

    /// Returns the partitions of profiles that are about a class or property, with their counts.
    fn partitions(
        &self,
        property: &str,
        resource: &NamedNode,
        count: &str,
    ) -> Result<Vec<(DatasetId, u64)>, StoreError> {
        let profiles = self.iris.profiles();
        let (profiles, property) = (profiles.as_ref().into(), NamedNodeRef::new_unchecked(property));
        let object = Some(resource.as_ref().into());
        let mut partitions = Vec::new();
        for quad in self.oxigraph.quads_for_pattern(None, Some(property), object, Some(profiles)) {
            let NamedOrBlankNode::NamedNode(partition) = quad?.subject else { continue };
            let dataset = partition.as_str().split('#').next().unwrap_or_default();
            let Some(id) = self.iris.dataset_id(dataset) else { continue };
            let count = NamedNodeRef::new_unchecked(count);
            let mut counts =
                self.oxigraph.quads_for_pattern(Some(partition.as_ref().into()), Some(count), None, Some(profiles));
            let count = counts.next().transpose()?.and_then(|quad| number(&quad.object));
            partitions.push((id, count.unwrap_or(1)));
        }
        Ok(partitions)
    }
}

fn is_type(quad: &Quad) -> bool {
    quad.predicate.as_str() == rdf::TYPE
}

fn number(term: &Term) -> Option<u64> {
    match term {
        Term::Literal(literal) => Literal::value(literal).parse().ok(),
        _ => None,
    }
}
