//! Origins of datasets: the source from which each was loaded, and its key there.
//!
//! Two sources may use the same ids. The origin shows that an entry of a source is a dataset that the home has, perhaps under
//! another id, and that a dataset with the id of an entry is another one. A dataset with an IRI is the same in every source.
//!
//! Origins are next to the pointers, in a graph that no query can name: a source may be a path of this machine. Datasets that
//! earlier versions stored have none.

use super::internal_facts::Fact;
use super::{Entry, Store, StoreError};
use lodeseek_catalog::{Dataset, DatasetId, IdOrigin, dump_path, rename_references, title_of_key};
use lodeseek_rdf::vocab::{dcterms, lodeseek};
use oxrdf::{NamedNodeRef, NamedOrBlankNode, Quad, Term};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::path::Path;

/// Source of the datasets of a load.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct LoadSource {
    /// Address or absolute path of the catalogue or dump.
    pub source: String,
    /// Prefix that the load gives to all ids. With another prefix it is another source.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id_prefix: String,
    /// If true, the datasets are harvested.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_harvest: bool,
}

impl LoadSource {
    /// Creates the source of a file or folder.
    #[must_use]
    pub fn from_path(path: &Path, id_prefix: &str) -> Self {
        let absolute = path
            .canonicalize()
            .or_else(|_| std::path::absolute(path))
            .unwrap_or_else(|_| path.to_owned());
        Self {
            source: absolute.to_string_lossy().into_owned(),
            id_prefix: id_prefix.to_owned(),
            is_harvest: false,
        }
    }

    /// Returns a text that identifies the entry with a key in this source. For a dump, it is the path of its file, whether the file
    /// or its folder is loaded.
    fn identity(&self, key: &str) -> String {
        match dump_path(key) {
            Some(path) if self.source.ends_with(&format!("/{path}")) => self.source.clone(),
            Some(path) => format!("{}/{path}", self.source.trim_end_matches('/')),
            None => format!("{}\n{key}", self.source),
        }
    }

    /// Returns the name of the source in ids: the name of its file without suffixes.
    fn name(&self) -> &str {
        let name = self
            .source
            .trim_end_matches('/')
            .rsplit(['/', '\\'])
            .next()
            .unwrap_or_default();
        name.split('.')
            .find(|part| !part.is_empty())
            .unwrap_or(name)
    }
}

/// Origin of a dataset.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DatasetOrigin {
    /// Source of the load.
    #[serde(flatten)]
    pub source: LoadSource,
    /// Key of the dataset in the source, as [`Dataset::key`] returns it.
    pub key: String,
}

impl DatasetOrigin {
    /// Creates the origin of a dataset.
    #[must_use]
    pub fn new(source: &LoadSource, dataset: &Dataset) -> Self {
        Self {
            source: source.clone(),
            key: dataset.key(),
        }
    }
}

/// An id that a dataset of another source has.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct IdConflict {
    /// The id in both sources.
    pub id: DatasetId,
    /// Title of the loaded dataset.
    pub title: String,
    /// Other id of the loaded dataset. `None`: it replaces the dataset of the other source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_id: Option<DatasetId>,
    /// Id that the loaded dataset had in the home until it replaced the other one. It is to be removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub former_id: Option<DatasetId>,
    /// Title of the dataset of the other source.
    pub other_title: String,
    /// The other source, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_source: Option<String>,
}

/// Treatment of datasets of other sources that have the id of a loaded dataset.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OtherSources {
    /// They are kept. The loaded dataset gets another id.
    #[default]
    Kept,
    /// They are replaced.
    Replaced,
}

impl Store {
    /// Returns the origin of each dataset that has one.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn dataset_origins(&self) -> Result<BTreeMap<DatasetId, DatasetOrigin>, StoreError> {
        self.facts(Fact::Origin)
    }

    /// Returns the origin of a dataset, if it has one.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn dataset_origin(&self, id: &DatasetId) -> Result<Option<DatasetOrigin>, StoreError> {
        self.fact(id, Fact::Origin)
    }

    fn subject_id(&self, quad: &Quad) -> Option<DatasetId> {
        match &quad.subject {
            NamedOrBlankNode::NamedNode(subject) => self.iris.dataset_id(subject.as_str()),
            NamedOrBlankNode::BlankNode(_) => None,
        }
    }

    /// Returns the IRIs that datasets, or one of them, have in their catalogues.
    fn catalog_iris(
        &self,
        dataset: Option<&DatasetId>,
    ) -> Result<BTreeMap<DatasetId, String>, StoreError> {
        let catalog = self.iris.catalog();
        let node = dataset.map(|id| self.iris.dataset(id));
        let mut iris = BTreeMap::new();
        // In homes of earlier versions, it was `dct:source`.
        for property in [lodeseek::SOURCE_IRI, dcterms::SOURCE] {
            let property = NamedNodeRef::new_unchecked(property);
            for quad in self.oxigraph.quads_for_pattern(
                node.as_ref().map(|node| node.as_ref().into()),
                Some(property),
                None,
                Some(catalog.as_ref().into()),
            ) {
                let quad = quad?;
                if property.as_str() == dcterms::SOURCE
                    && (self.subject_id(&quad).is_none() || !self.is_of_earlier_version(&quad)?)
                {
                    continue;
                }
                self.add_catalog_iri(&quad, &mut iris);
            }
        }
        Ok(iris)
    }

    /// Returns true if an earlier version wrote the description of a quad's subject: it has no `lodeseek:id`.
    pub(super) fn is_of_earlier_version(&self, quad: &Quad) -> Result<bool, StoreError> {
        let (catalog, id) = (
            self.iris.catalog(),
            NamedNodeRef::new_unchecked(lodeseek::ID),
        );
        let mut ids = self.oxigraph.quads_for_pattern(
            Some(quad.subject.as_ref()),
            Some(id),
            None,
            Some(catalog.as_ref().into()),
        );
        Ok(ids.next().transpose()?.is_none())
    }

    fn add_catalog_iri(&self, quad: &Quad, iris: &mut BTreeMap<DatasetId, String>) {
        let iri = match &quad.object {
            Term::NamedNode(iri) => iri.as_str(),
            Term::Literal(text) => text.value(),
            _ => return,
        };
        if let Some(id) = self.subject_id(quad) {
            iris.insert(id, iri.to_owned());
        }
    }

    /// Gives each dataset of a load the id under which the home has it, or keeps its id if that is free. A dataset whose id
    /// another source uses gets another id, or replaces the other dataset. Returns the datasets of the last two kinds.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn assign_ids(
        &self,
        datasets: &mut [Dataset],
        source: &LoadSource,
        others: OtherSources,
    ) -> Result<Vec<IdConflict>, StoreError> {
        let home = HomeIds {
            store: self,
            source,
            keys: datasets.iter().map(Dataset::key).collect(),
        };
        let mut ids = match home.find_known_ids(datasets)? {
            Some(ids) => ids,
            None => home.compare_all(datasets)?,
        };
        let mut used: BTreeSet<DatasetId> = ids.iter().flatten().cloned().collect();
        let requested: BTreeSet<DatasetId> = datasets
            .iter()
            .map(|dataset| dataset.metadata.id.clone())
            .collect();
        let (mut conflicts, mut renames) = (Vec::new(), BTreeMap::new());
        for (place, dataset) in datasets.iter_mut().enumerate() {
            let id = dataset.metadata.id.clone();
            let id_before = id.clone();
            // Only a dataset of another source is a conflict: that of this source is known by its key or IRI.
            let holder =
                if ids[place].as_ref() != Some(&id) && !used.contains(&id) && self.contains(&id)? {
                    self.other_holder(&home, &id, dataset)?
                } else {
                    None
                };
            let known = ids[place].take();
            let is_replacement = holder.is_some() && others == OtherSources::Replaced;
            let former_id = known.clone().filter(|_| is_replacement);
            let new_id = match known {
                Some(known) if !is_replacement => known,
                None if holder.is_none() && used.insert(id.clone()) => continue,
                _ if is_replacement => {
                    used.insert(id.clone());
                    id.clone()
                }
                _ => {
                    let mut candidates = dataset.other_ids(source.name(), &source.id_prefix);
                    // A later dataset of the load may keep its id.
                    candidates.retain(|other| !used.contains(other) && !requested.contains(other));
                    let other = self
                        .first_free_id(candidates)?
                        .ok_or_else(|| StoreError::NoId(id.clone()))?;
                    used.insert(other.clone());
                    other
                }
            };
            if let Some((entry, other_source)) = holder {
                conflicts.push(IdConflict {
                    title: dataset.metadata.title().to_owned(),
                    new_id: Some(new_id.clone()).filter(|new_id| *new_id != id),
                    former_id,
                    other_title: entry.dataset.metadata.title().to_owned(),
                    other_source,
                    id,
                });
            }
            if new_id != id_before {
                renames.insert(id_before, new_id.clone());
            }
            dataset.set_id(new_id);
        }
        rename_references(datasets, &renames);
        Ok(conflicts)
    }

    fn first_free_id(&self, candidates: Vec<DatasetId>) -> Result<Option<DatasetId>, StoreError> {
        for candidate in candidates {
            if !self.contains(&candidate)? {
                return Ok(Some(candidate));
            }
        }
        Ok(None)
    }

    /// Returns the dataset of the home with an id and its source, if it is another one than the dataset of the load.
    fn other_holder(
        &self,
        home: &HomeIds<'_>,
        id: &DatasetId,
        dataset: &Dataset,
    ) -> Result<Option<(Entry, Option<String>)>, StoreError> {
        let origin = self.dataset_origin(id)?;
        if let Some(origin) = &origin
            && home.is_former_entry(origin)
        {
            return Ok(None);
        }
        let (own, other) = (
            dataset.metadata.source.as_ref(),
            self.catalog_iris(Some(id))?.remove(id),
        );
        if own.is_some() && own == other.as_ref() {
            return Ok(None);
        }
        let entry = match self.entry(id) {
            Ok(entry) => entry,
            // Nothing is lost with a dataset without a description.
            Err(StoreError::NoDataset(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        // Datasets of earlier versions have no origin: one with the same title counts as the same.
        let is_unknown =
            origin.is_none() && entry.origin.is_none() && (own.is_none() || other.is_none());
        if is_unknown && entry.dataset.metadata.title() == dataset.metadata.title() {
            return Ok(None);
        }
        let source = origin
            .map(|origin| origin.source.source)
            .or_else(|| entry.origin.clone());
        Ok(Some((entry, source)))
    }
}

/// Datasets of a home, as a load compares them with its own.
struct HomeIds<'s> {
    store: &'s Store,
    /// Source of the load.
    source: &'s LoadSource,
    /// Keys of the datasets of the load.
    keys: BTreeSet<String>,
}

impl HomeIds<'_> {
    fn is_same_source(&self, origin: &DatasetOrigin) -> bool {
        let LoadSource {
            source, id_prefix, ..
        } = self.source;
        origin.source.source == *source && origin.source.id_prefix == *id_prefix
    }

    /// If true, the source of the load had an entry that it no longer has, perhaps because its IRI was corrected.
    fn is_former_entry(&self, origin: &DatasetOrigin) -> bool {
        self.is_same_source(origin) && !self.keys.contains(&origin.key)
    }

    /// Returns the ids under which the home has the datasets of the load, in their order, if it has each of them from the same entry
    /// of the same source. A load of few datasets then reads nothing about all others.
    fn find_known_ids(
        &self,
        datasets: &[Dataset],
    ) -> Result<Option<Vec<Option<DatasetId>>>, StoreError> {
        let mut used = BTreeSet::new();
        let mut ids = Vec::with_capacity(datasets.len());
        for dataset in datasets {
            let origin = DatasetOrigin::new(self.source, dataset);
            let mut found = self.store.datasets_with_fact(Fact::Origin, &origin)?;
            // An origin of several datasets, or an entry that occurs twice, needs the comparison with all.
            let (Some(id), true) = (found.pop(), found.is_empty()) else {
                return Ok(None);
            };
            if !self.store.contains(&id)? || !used.insert(id.clone()) {
                return Ok(None);
            }
            ids.push(Some(id));
        }
        Ok(Some(ids))
    }

    /// Returns the ids under which the home has the datasets of the load, in their order. All datasets of the home are compared.
    fn compare_all(&self, datasets: &[Dataset]) -> Result<Vec<Option<DatasetId>>, StoreError> {
        let present: BTreeSet<DatasetId> = self.store.versions()?.into_keys().collect();
        let origins = self.store.dataset_origins()?;
        // IRIs of datasets in their catalogues.
        let iris = self.store.catalog_iris(None)?;
        let (mut by_entry, mut by_iri) = (
            HashMap::<String, &DatasetId>::new(),
            HashMap::<&str, Vec<&DatasetId>>::new(),
        );
        // Entries without IRI and identifier that have changed, by their titles.
        let mut edited: HashMap<&str, VecDeque<&DatasetId>> = HashMap::new();
        for (id, origin) in origins.iter().filter(|(id, _)| present.contains(*id)) {
            if origin.source.id_prefix == self.source.id_prefix {
                by_entry.insert(origin.source.identity(&origin.key), id);
            }
            if self.is_same_source(origin)
                && !self.keys.contains(&origin.key)
                && let Some(title) = title_of_key(&origin.key)
            {
                edited.entry(title).or_default().push_back(id);
            }
        }
        for (id, iri) in iris.iter().filter(|(id, _)| present.contains(*id)) {
            let has_prefix = match origins.get(id) {
                Some(origin) => origin.source.id_prefix == self.source.id_prefix,
                None => id.as_str().starts_with(&self.source.id_prefix),
            };
            // The key of a described dataset is its IRI, that of a dump is a path.
            let is_dump = origins.get(id).is_some_and(|origin| origin.key != *iri);
            if has_prefix && !is_dump {
                by_iri.entry(iri).or_default().push(id);
            }
        }
        let mut used: BTreeSet<&DatasetId> = BTreeSet::new();
        let mut ids = Vec::with_capacity(datasets.len());
        for dataset in datasets {
            let key = dataset.key();
            let title = title_of_key(&key);
            let known = by_entry
                .get(&self.source.identity(&key))
                .copied()
                .or_else(|| find_by_iri(&by_iri, dataset));
            let known = known.or_else(|| edited.get_mut(title?)?.pop_front());
            // Two entries of a load must not become one dataset.
            ids.push(known.filter(|id| used.insert(*id)).cloned());
        }
        Ok(ids)
    }
}

/// Returns the dataset of the home with the IRI of a dataset, preferably the one with its id.
fn find_by_iri<'h>(
    by_iri: &HashMap<&str, Vec<&'h DatasetId>>,
    dataset: &Dataset,
) -> Option<&'h DatasetId> {
    if matches!(dataset.entry.origin, IdOrigin::File(_)) {
        return None;
    }
    let known = by_iri.get(dataset.metadata.source.as_deref()?)?;
    known
        .iter()
        .find(|id| ***id == dataset.metadata.id)
        .or(known.first())
        .copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DatasetOutcome, LoadOptions, Loader};
    use lodeseek_catalog::{Catalog, Iris};
    use std::fs;
    use std::path::PathBuf;

    struct Home {
        folder: tempfile::TempDir,
        store: Store,
    }

    impl Home {
        fn new() -> Self {
            let folder = tempfile::tempdir().expect("a folder");
            let store =
                Store::in_memory(&folder.path().join("home"), Iris::default()).expect("a store");
            Self { folder, store }
        }

        fn write(&self, name: &str, content: &str) -> PathBuf {
            let path = self.folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(&path, content).expect("written");
            path
        }

        fn load_with(&self, path: &Path, prefix: &str, others: OtherSources) -> Vec<IdConflict> {
            let catalog = Catalog::read_all(&[path.to_owned()], prefix)
                .expect("a catalogue")
                .remove(0);
            let mut catalog = catalog;
            let source = LoadSource::from_path(path, prefix);
            let conflicts = self
                .store
                .assign_ids(&mut catalog.datasets, &source, others)
                .expect("assigned");
            let options = LoadOptions {
                source: Some(source),
                ..LoadOptions::default()
            };
            Loader::new(&self.store)
                .with_options(options)
                .load(catalog, &|_| ())
                .expect("loaded");
            conflicts
        }

        fn load(&self, name: &str, content: &str) -> Vec<IdConflict> {
            self.load_with(&self.write(name, content), "", OtherSources::Kept)
        }

        fn titles(&self) -> Vec<String> {
            let entries = self.store.entries().expect("entries");
            entries
                .iter()
                .map(|entry| {
                    format!(
                        "{} {}",
                        entry.dataset.metadata.id,
                        entry.dataset.metadata.title()
                    )
                })
                .collect()
        }
    }

    fn turtle(datasets: &[(&str, &str, &str)]) -> String {
        let mut text =
            "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .\n".to_owned();
        for (node, id, title) in datasets {
            text += &format!(
                "{node} a dcat:Dataset ; dct:identifier \"{id}\" ; dct:title \"{title}\" .\n"
            );
        }
        text
    }

    #[test]
    fn a_load_replaces_no_dataset_of_another_source() {
        let home = Home::new();
        assert!(
            home.load(
                "north.ttl",
                &turtle(&[("[]", "1", "Fir"), ("[]", "2", "Yew")])
            )
            .is_empty()
        );
        let south = turtle(&[("[]", "1", "Palm"), ("[]", "3", "Fig")]);
        let conflicts = home.load("south.ttl", &south);
        assert_eq!(conflicts.len(), 1);
        assert_eq!(
            conflicts[0].new_id.as_ref().map(DatasetId::as_str),
            Some("south-1")
        );
        assert_eq!(
            (
                conflicts[0].other_title.as_str(),
                conflicts[0].title.as_str()
            ),
            ("Fir", "Palm")
        );
        assert!(
            conflicts[0]
                .other_source
                .as_ref()
                .is_some_and(|source| source.ends_with("north.ttl"))
        );
        let expected = ["1 Fir", "2 Yew", "3 Fig", "south-1 Palm"];
        assert_eq!(home.titles(), expected);
        assert_eq!(
            home.load("south.ttl", &south),
            conflicts,
            "the id is the same in the next load"
        );
        assert_eq!(home.titles(), expected);
        let replaced = home.load_with(
            &home.folder.path().join("south.ttl"),
            "x-",
            OtherSources::Replaced,
        );
        assert!(replaced.is_empty(), "another prefix: other ids");
        assert_eq!(home.titles().len(), 6);
    }

    #[test]
    fn replacement_is_possible_and_named() {
        let home = Home::new();
        home.load("north.ttl", &turtle(&[("[]", "1", "Fir")]));
        let path = home.write("south.ttl", &turtle(&[("[]", "1", "Palm")]));
        let conflicts = home.load_with(&path, "", OtherSources::Replaced);
        assert_eq!((conflicts.len(), &conflicts[0].new_id), (1, &None));
        assert_eq!(home.titles(), ["1 Palm"]);
        let again = home.load_with(&path, "", OtherSources::Kept);
        assert!(again.is_empty(), "it is the source's own now: {again:?}");
        let path = home.write("east.ttl", &turtle(&[("[]", "1", "Larch")]));
        home.load_with(&path, "", OtherSources::Kept);
        assert_eq!(home.titles(), ["1 Palm", "east-1 Larch"]);
        let conflicts = home.load_with(&path, "", OtherSources::Replaced);
        let former: Vec<DatasetId> = conflicts
            .into_iter()
            .filter_map(|conflict| conflict.former_id)
            .collect();
        assert_eq!(
            former.iter().map(DatasetId::as_str).collect::<Vec<_>>(),
            ["east-1"]
        );
        home.store.remove(&former).expect("removed");
        assert_eq!(home.titles(), ["1 Larch"]);
    }

    #[test]
    fn datasets_with_the_same_iri_are_the_same_from_any_place() {
        let home = Home::new();
        let text = |title: &str| turtle(&[("<http://e.org/1>", "1", title)]);
        home.load("a/c.ttl", &text("Fir"));
        assert!(home.load("b/corrected.ttl", &text("Silver fir")).is_empty());
        assert_eq!(home.titles(), ["1 Silver fir"]);
        // A corrected IRI in the same source.
        assert!(
            home.load(
                "b/corrected.ttl",
                &turtle(&[("<https://e.org/1>", "1", "Fir")])
            )
            .is_empty()
        );
        assert_eq!(home.titles(), ["1 Fir"]);
        assert_eq!(
            home.load("d.ttl", &turtle(&[("<http://e.org/other/1>", "1", "Palm")]))
                .len(),
            1
        );
    }

    #[test]
    fn a_grown_catalogue_renames_nothing() {
        let home = Home::new();
        let entry = |part: &str, title: &str| {
            format!(
                r#"{{"identifier": "https://e.org/{part}/rows", "title": "{title}", "keyword": ["k"]}}"#
            )
        };
        let catalog_of = |entries: &[String]| format!(r#"{{"dataset": [{}]}}"#, entries.join(","));
        home.load("data.json", &catalog_of(&[entry("a", "A")]));
        assert_eq!(home.titles(), ["rows A"]);
        let grown = catalog_of(&[entry("b", "B"), entry("a", "A")]);
        assert!(home.load("data.json", &grown).is_empty());
        assert_eq!(home.titles(), ["b-rows B", "rows A"]);
        let untitled = |notes: &[&str]| {
            let packages = notes
                .iter()
                .map(|notes| format!(r#"{{"title": "T", "notes": "{notes}", "resources": []}}"#));
            format!("[{}]", packages.collect::<Vec<_>>().join(","))
        };
        home.load("ckan.json", &untitled(&["one"]));
        home.load("ckan.json", &untitled(&["two", "one"]));
        assert_eq!(
            home.titles().iter().filter(|title| *title == "T T").count(),
            1
        );
        assert_eq!(home.titles().len(), 4);
        home.load("ckan.json", &untitled(&["two", "one, corrected"]));
        assert_eq!(
            home.titles().len(),
            4,
            "an edited entry is the same dataset"
        );
    }

    #[test]
    fn dumps_are_known_by_their_files() {
        let home = Home::new();
        let dump = |text: &str| format!("<http://e.org/a> <http://e.org/p> \"{text}\" .");
        assert!(
            home.load("trees.nt", &dump("1")).is_empty()
                && home.load("trees.nt", &dump("2")).is_empty()
        );
        assert_eq!(home.titles().len(), 1);
        let conflicts = home.load("other/trees.nt", &dump("3"));
        assert_eq!(
            (conflicts.len(), home.titles().len()),
            (1, 2),
            "{conflicts:?}"
        );
        let folder = home.folder.path().join("other");
        let again = home.load_with(&folder, "", OtherSources::Kept);
        assert_eq!(
            again, conflicts,
            "the same file in its folder has the same id"
        );
        assert_eq!(home.titles().len(), 2);
        let ontology = |path: &str| {
            home.load(path, "<http://e.org/o> a <http://www.w3.org/2002/07/owl#Ontology> . <http://e.org/A> a <http://www.w3.org/2002/07/owl#Class> .")
        };
        assert!(ontology("v1.ttl").is_empty() && ontology("v2.ttl").is_empty());
        assert_eq!(
            home.titles().len(),
            4,
            "two versions of an ontology are two datasets"
        );
    }

    #[test]
    fn datasets_of_earlier_versions_are_replaced_if_their_titles_are_equal() {
        let home = Home::new();
        let path = home.write("c.ttl", &turtle(&[("[]", "1", "Fir"), ("[]", "2", "Yew")]));
        let catalog = Catalog::read(&path).expect("a catalogue");
        Loader::new(&home.store)
            .load(catalog, &|_| ())
            .expect("loaded");
        assert!(home.store.dataset_origins().expect("read").is_empty());
        let conflicts = home.load("c.ttl", &turtle(&[("[]", "1", "Fir"), ("[]", "2", "Palm")]));
        assert_eq!((conflicts.len(), conflicts[0].id.as_str()), (1, "2"));
        assert_eq!(home.store.dataset_origins().expect("read").len(), 2);
    }

    #[test]
    fn an_unchanged_dataset_gets_its_new_origin() {
        let home = Home::new();
        let text = turtle(&[("<http://e.org/1>", "1", "Fir")]);
        home.load("a.ttl", &text);
        let path = home.write("b.ttl", &text);
        let source = LoadSource::from_path(&path, "");
        let options = LoadOptions {
            source: Some(source),
            ..LoadOptions::default()
        };
        let catalog = Catalog::read(&path).expect("a catalogue");
        let report = Loader::new(&home.store)
            .with_options(options)
            .load(catalog, &|_| ())
            .expect("loaded");
        assert_eq!(report.datasets[0].outcome, DatasetOutcome::Unchanged);
        let id = DatasetId::new("1").expect("an id");
        let origin = home
            .store
            .dataset_origin(&id)
            .expect("read")
            .expect("an origin");
        assert!(origin.source.source.ends_with("b.ttl") && origin.key == "http://e.org/1");
        let undo = home
            .store
            .undo(std::slice::from_ref(&id))
            .expect("the state");
        home.store
            .remove(std::slice::from_ref(&id))
            .expect("removed");
        assert_eq!(home.store.dataset_origin(&id).expect("read"), None);
        home.store.restore(&undo).expect("restored");
        assert_eq!(home.store.dataset_origin(&id).expect("read"), Some(origin));
    }
}
