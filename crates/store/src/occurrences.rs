//! Datasets in which a resource occurs, and its roles there.
//!
//! Uses as subject and object are counted in the contents of the datasets, uses as class and property are those of their
//! VoID profiles. Reading is bounded: common resources occur in millions of triples.

use super::{Store, StoreError};
use lodeseek_catalog::DatasetId;
use lodeseek_rdf::vocab::{rdf, void};
use oxrdf::{GraphName, Literal, NamedNode, NamedNodeRef, NamedOrBlankNode, Quad, Term};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

/// Maximum number of triples that are counted in each role.
const MAX_COUNTED_TRIPLES: usize = 20_000;
/// Maximum number of datasets that are checked one by one, if there are more triples.
const MAX_CHECKED_DATASETS: usize = 5_000;
/// Maximum number of triples of one dataset in which a use as an object, other than as class, is looked for.
const MAX_DATASET_TRIPLES: usize = 1_000;

/// Maximum number of datasets that [`Occurrences::most_used_datasets`] returns.
const MAX_RETURNED_DATASETS: usize = 250;

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
    /// If false, further datasets may contain the resource: there are too many to check, or the contents of some are not in
    /// the store.
    pub is_complete: bool,
}

impl Occurrences {
    /// Returns at most 250 datasets, those with most uses first, and true if no further dataset may contain the resource.
    #[must_use]
    pub fn most_used_datasets(&self) -> (Vec<(&DatasetId, Uses)>, bool) {
        let mut datasets: Vec<(&DatasetId, Uses)> =
            self.datasets.iter().map(|(id, uses)| (id, *uses)).collect();
        // Equal numbers remain in the order of ids.
        datasets.sort_by_key(|(_, uses)| Reverse(uses.total()));
        let is_complete = self.is_complete && datasets.len() <= MAX_RETURNED_DATASETS;
        datasets.truncate(MAX_RETURNED_DATASETS);
        (datasets, is_complete)
    }
}

/// Current graphs of datasets, by their names in the store. `None` for other graphs.
type GraphDatasets = HashMap<NamedNode, Option<DatasetId>>;

impl Store {
    /// Returns the datasets in which a resource occurs. Classes and properties of datasets without a profile are not
    /// found: `lodeseek index` writes it. Subjects and objects of index-only datasets are not found.
    pub fn occurrences(&self, resource: &NamedNode) -> Result<Occurrences, StoreError> {
        let is_complete = self.index_only()?.is_empty();
        let mut found = Occurrences {
            is_exact: true,
            is_complete,
            ..Occurrences::default()
        };
        let mut known = GraphDatasets::new();
        self.count_subjects(resource, &mut known, &mut found)?;
        self.count_objects(resource, &mut known, &mut found)?;
        for (id, count) in self.partitions(
            [void::CLASS_PARTITION, void::CLASS, void::ENTITIES],
            resource,
        )? {
            found.datasets.entry(id).or_default().class = count;
        }
        for (id, count) in self.partitions(
            [void::PROPERTY_PARTITION, void::PROPERTY, void::TRIPLES],
            resource,
        )? {
            found.datasets.entry(id).or_default().property = count;
        }
        Ok(found)
    }

    fn count_subjects(
        &self,
        resource: &NamedNode,
        known: &mut GraphDatasets,
        found: &mut Occurrences,
    ) -> Result<(), StoreError> {
        let mut quads =
            self.oxigraph
                .quads_for_pattern(Some(resource.as_ref().into()), None, None, None);
        for quad in quads.by_ref().take(MAX_COUNTED_TRIPLES) {
            if let Some(id) = self.current_dataset(&quad?.graph_name, known)? {
                found.datasets.entry(id).or_default().subject += 1;
            }
        }
        if quads.next().is_none() {
            return Ok(());
        }
        // The triples that were read may all be of a few datasets.
        self.check_each(found, |graph, uses| {
            let graph = Some(graph.as_ref().into());
            let mut quads =
                self.oxigraph
                    .quads_for_pattern(Some(resource.as_ref().into()), None, None, graph);
            uses.subject = uses
                .subject
                .max(u64::from(quads.next().transpose()?.is_some()));
            Ok(())
        })
    }

    fn count_objects(
        &self,
        resource: &NamedNode,
        known: &mut GraphDatasets,
        found: &mut Occurrences,
    ) -> Result<(), StoreError> {
        let mut quads =
            self.oxigraph
                .quads_for_pattern(None, None, Some(resource.as_ref().into()), None);
        for quad in quads.by_ref().take(MAX_COUNTED_TRIPLES) {
            let quad = quad?;
            if !is_type(&quad)
                && let Some(id) = self.current_dataset(&quad.graph_name, known)?
            {
                found.datasets.entry(id).or_default().object += 1;
            }
        }
        if quads.next().is_none() {
            return Ok(());
        }
        self.check_each(found, |graph, uses| {
            let graph = Some(graph.as_ref().into());
            let quads =
                self.oxigraph
                    .quads_for_pattern(None, None, Some(resource.as_ref().into()), graph);
            for quad in quads.take(MAX_DATASET_TRIPLES) {
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
        found.is_complete &= versions.len() <= MAX_CHECKED_DATASETS;
        for (id, version) in versions.into_iter().take(MAX_CHECKED_DATASETS) {
            let mut uses = found.datasets.get(&id).copied().unwrap_or_default();
            check(&self.iris.graph(&id, &version), &mut uses)?;
            if uses.total() > 0 {
                found.datasets.insert(id, uses);
            }
        }
        Ok(())
    }

    /// Returns the dataset whose current content a graph of the store is.
    fn current_dataset(
        &self,
        graph: &GraphName,
        known: &mut GraphDatasets,
    ) -> Result<Option<DatasetId>, StoreError> {
        let GraphName::NamedNode(graph) = graph else {
            return Ok(None);
        };
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

    /// Returns the counts of a class or property in the partitions of profiles. The properties are those of a dataset, to a
    /// partition, and of the partition. Parts of patterns have the same properties and are no partitions.
    fn partitions(
        &self,
        properties: [&'static str; 3],
        resource: &NamedNode,
    ) -> Result<Vec<(DatasetId, u64)>, StoreError> {
        let profiles = self.iris.profiles();
        let profiles = profiles.as_ref().into();
        let [has_partition, property, count] = properties.map(NamedNodeRef::new_unchecked);
        let object = Some(resource.as_ref().into());
        let mut partitions = Vec::new();
        for quad in self
            .oxigraph
            .quads_for_pattern(None, Some(property), object, Some(profiles))
        {
            let NamedOrBlankNode::NamedNode(partition) = quad?.subject else {
                continue;
            };
            let dataset = partition.as_str().split('#').next().unwrap_or_default();
            let Some(id) = self.iris.dataset_id(dataset) else {
                continue;
            };
            let (node, object) = (self.iris.dataset(&id), partition.as_ref().into());
            let mut links = self.oxigraph.quads_for_pattern(
                Some(node.as_ref().into()),
                Some(has_partition),
                Some(object),
                Some(profiles),
            );
            if links.next().transpose()?.is_none() {
                continue;
            }
            let mut counts = self.oxigraph.quads_for_pattern(
                Some(partition.as_ref().into()),
                Some(count),
                None,
                Some(profiles),
            );
            let count = counts
                .next()
                .transpose()?
                .and_then(|quad| read_number(&quad.object));
            partitions.push((id, count.unwrap_or(1)));
        }
        Ok(partitions)
    }
}

fn is_type(quad: &Quad) -> bool {
    quad.predicate.as_str() == rdf::TYPE
}

fn read_number(term: &Term) -> Option<u64> {
    match term {
        Term::Literal(literal) => Literal::value(literal).parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ContentPlace, LoadOptions, Loader};
    use lodeseek_catalog::{Catalog, Iris};
    use oxrdf::Triple;
    use std::fs;

    #[test]
    fn roles_are_counted_by_dataset() {
        let folder = tempfile::tempdir().expect("a folder");
        let catalog = "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .
            <http://e.org/a> a dcat:Dataset ; dct:identifier \"a\" ; dcat:distribution [ dcat:downloadURL <a.ttl> ] .
            <http://e.org/b> a dcat:Dataset ; dct:identifier \"b\" ; dct:creator <http://x.org/one> ;
                dcat:distribution [ dcat:downloadURL <b.ttl> ] .";
        fs::write(folder.path().join("catalog.ttl"), catalog).expect("written");
        let prefix = "@prefix x: <http://x.org/> .";
        fs::write(
            folder.path().join("a.ttl"),
            format!("{prefix} x:one a x:Class ; x:p x:two ; x:q 1 ."),
        )
        .expect("written");
        let frequent: String = (0..MAX_COUNTED_TRIPLES + 5)
            .map(|number| format!("x:n{number} x:p x:two . "))
            .collect();
        fs::write(
            folder.path().join("b.ttl"),
            format!("{prefix} x:three a x:Class ; x:p x:one . {frequent}"),
        )
        .expect("written");
        let iris = Iris::new(Iris::DEFAULT_BASE).expect("the default");
        let store = Store::in_memory(&folder.path().join("home"), iris).expect("a store");
        let catalog = Catalog::read(&folder.path().join("catalog.ttl")).expect("a catalogue");
        Loader::new(&store)
            .with_options(LoadOptions::default())
            .load(catalog, &|_| ())
            .expect("loaded");
        let (a, b) = (
            DatasetId::new("a").expect("an id"),
            DatasetId::new("b").expect("an id"),
        );
        let part = store.iris().part(&a, "class-1");
        let triple = |property: &str, object: Term| {
            Triple::new(part.clone(), NamedNode::new_unchecked(property), object)
        };
        let class = NamedNode::new_unchecked("http://x.org/Class");
        let dataset = Triple::new(
            store.iris().dataset(&a),
            NamedNode::new_unchecked(void::CLASS_PARTITION),
            part.clone(),
        );
        let profile = vec![
            dataset,
            triple(void::CLASS, class.into()),
            triple(void::ENTITIES, Literal::from(1).into()),
        ];
        store
            .replace_derived_triples([(store.iris().profiles(), vec![(a.clone(), profile)])])
            .expect("written");

        let find = |name: &str| {
            store
                .occurrences(&NamedNode::new_unchecked(format!("http://x.org/{name}")))
                .expect("found")
        };
        let one = find("one");
        assert_eq!(
            one.datasets.get(&a),
            Some(&Uses {
                subject: 3,
                ..Uses::default()
            })
        );
        assert_eq!(
            one.datasets.get(&b),
            Some(&Uses {
                object: 1,
                ..Uses::default()
            }),
            "the catalogue is no content"
        );
        assert!(one.is_exact && one.is_complete);
        let class = find("Class");
        assert_eq!(
            class.datasets.get(&a),
            Some(&Uses {
                class: 1,
                ..Uses::default()
            })
        );
        let frequent = find("two");
        assert!(!frequent.is_exact && frequent.is_complete);
        assert!(
            frequent.datasets[&a].object == 1 && frequent.datasets[&b].object > 1000,
            "{frequent:?}"
        );
        assert!(find("nothing").datasets.is_empty());
    }

    #[test]
    fn index_only_datasets_may_contain_further_uses() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(
            folder.path().join("a.ttl"),
            "<http://x.org/one> <http://x.org/p> 1 .",
        )
        .expect("written");
        let iris = Iris::new(Iris::DEFAULT_BASE).expect("the default");
        let store = Store::in_memory(&folder.path().join("home"), iris).expect("a store");
        for (place, is_complete) in [
            (ContentPlace::IndexOnly, false),
            (ContentPlace::Store, true),
        ] {
            let options = LoadOptions {
                content: Some(place),
                ..LoadOptions::default()
            };
            let catalog = Catalog::read(&folder.path().join("a.ttl")).expect("a catalogue");
            Loader::new(&store)
                .with_options(options)
                .load(catalog, &|_| ())
                .expect("loaded");
            let found = store
                .occurrences(&NamedNode::new_unchecked("http://x.org/one"))
                .expect("found");
            assert_eq!(
                (found.datasets.is_empty(), found.is_complete),
                (!is_complete, is_complete)
            );
        }
    }

    #[test]
    fn the_datasets_with_most_uses_are_kept() {
        let mut found = Occurrences {
            is_exact: true,
            is_complete: true,
            ..Occurrences::default()
        };
        for number in 0..MAX_RETURNED_DATASETS as u64 {
            let id = DatasetId::new(format!("d{number:03}")).expect("an id");
            found.datasets.insert(
                id,
                Uses {
                    subject: 1 + number / 100,
                    ..Uses::default()
                },
            );
        }
        let (datasets, is_complete) = found.most_used_datasets();
        assert!(is_complete && datasets.len() == MAX_RETURNED_DATASETS);
        assert_eq!(
            (datasets[0].0.as_str(), datasets[50].0.as_str()),
            ("d200", "d100")
        );
        let last = DatasetId::new("e").expect("an id");
        found.datasets.insert(
            last.clone(),
            Uses {
                class: 1,
                property: 7,
                ..Uses::default()
            },
        );
        let (datasets, is_complete) = found.most_used_datasets();
        assert!(!is_complete && datasets.len() == MAX_RETURNED_DATASETS && *datasets[0].0 == last);
    }
}
