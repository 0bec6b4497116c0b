//! Works that use datasets: their list, and their description in RDF.
//!
//! ```text
//! home/works/works.jsonl   all works; the first line is a checksum
//! BASE/works               graph that describes the works of the list, for queries
//! ```
//!
//! The graph is derived from the list. Beside the pointers the store has the checksum of the list that the graph describes. If it
//! differs from that of the file, the graph is written again when the home is opened for writing: in a home of an earlier version,
//! after a repair of the store, or if a process was killed between the two writes. If the graph describes the list that is
//! replaced, only the works that differ are described again.
//!
//! A work names each dataset that it uses (`cito:usesDataFrom`), in the home or not. The inverse (`dcterms:isReferencedBy`) is
//! stated of the datasets of the home only: it is written and removed in the transactions that write and remove their descriptions.

use super::quad_changes::QuadChanges;
use super::{Access, MAX_TRANSACTION_TRIPLES, Store, StoreError, graph_file};
use lodeseek_catalog::{CitingWork, DatasetId};
use lodeseek_rdf::vocab::{cito, dcterms, schema};
use oxrdf::{Literal, NamedNode, NamedNodeRef, NamedOrBlankNode, Quad, Term};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, ErrorKind};
use std::path::{Path, PathBuf};

/// Returns the folder of a home's works and of their vectors.
#[must_use]
pub fn works_folder(home: &Path) -> PathBuf {
    home.join("works")
}

/// Returns the list of a home's works.
#[must_use]
pub fn works_path(home: &Path) -> PathBuf {
    works_folder(home).join("works.jsonl")
}

/// Reads the works of a home by their keys. A home without works has an empty list.
///
/// # Errors
/// If the list is damaged or cannot be read.
pub fn read_works(home: &Path) -> Result<BTreeMap<String, CitingWork>, StoreError> {
    let path = works_path(home);
    let Some(body) = graph_file::read_checked(&path)? else {
        return Ok(BTreeMap::new());
    };
    let mut works = BTreeMap::new();
    for line in body
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
    {
        let work: CitingWork =
            serde_json::from_slice(line).map_err(|error| StoreError::io(&path)(error.into()))?;
        works.insert(work.key(), work);
    }
    Ok(works)
}

/// Reads the checksum of the list, which is its first line: it differs after every change. Returns `None` without a list.
///
/// # Errors
/// If the list cannot be read.
pub fn works_checksum(home: &Path) -> Result<Option<String>, StoreError> {
    let path = works_path(home);
    let mut line = String::new();
    match File::open(&path).and_then(|file| BufReader::new(file).read_line(&mut line)) {
        Ok(_) => Ok(Some(line.trim_end().to_owned())),
        Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(None),
        // A damaged line is no checksum of a list.
        Err(cause) if cause.kind() == ErrorKind::InvalidData => Ok(Some(String::new())),
        Err(cause) => Err(StoreError::Io { path, cause }),
    }
}

/// A work that uses a dataset.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct DatasetWork {
    /// Its title.
    pub title: String,
    /// Year of publication.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub year: Option<i32>,
    /// URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

/// The works of a home that use a dataset.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct DatasetWorks {
    /// Number of these works.
    pub all: usize,
    /// The latest of them, as many as requested. Works of unknown year are last; those of the same year are ordered by title.
    pub works: Vec<DatasetWork>,
}

impl DatasetWorks {
    fn new(all: usize, mut works: Vec<DatasetWork>) -> Self {
        works.sort_by(|one, other| {
            (Reverse(one.year), &one.title).cmp(&(Reverse(other.year), &other.title))
        });
        Self { all, works }
    }

    /// Returns the number of works that are not listed.
    #[must_use]
    pub fn more(&self) -> usize {
        self.all.saturating_sub(self.works.len())
    }
}

/// Reads the works that use a dataset from the list of a home, at most `max_works` of them. The whole list is read: a server uses
/// [`Store::dataset_works`], which has the same result.
///
/// # Errors
/// If the list is damaged or cannot be read.
pub fn read_dataset_works(
    home: &Path,
    id: &DatasetId,
    max_works: usize,
) -> Result<DatasetWorks, StoreError> {
    let mut found: Vec<CitingWork> = read_works(home)?
        .into_values()
        .filter(|work| work.datasets.contains(id))
        .collect();
    let all = found.len();
    // Works of the same year remain in the order of their keys.
    found.sort_by_key(|work| Reverse(work.year));
    found.truncate(max_works);
    let works = found.into_iter().map(|work| DatasetWork {
        title: work.title,
        year: work.year,
        url: work.url,
    });
    Ok(DatasetWorks::new(all, works.collect()))
}

/// Returns the lines of a list.
fn list_body(path: &Path, works: &BTreeMap<String, CitingWork>) -> Result<Vec<u8>, StoreError> {
    let mut body = Vec::new();
    for work in works.values() {
        serde_json::to_writer(&mut body, work)
            .map_err(|error| StoreError::io(path)(error.into()))?;
        body.push(b'\n');
    }
    Ok(body)
}

impl Store {
    /// Replaces the list of works, which [`read_works`] returned, and their descriptions. The keys are those of the works. A
    /// failure restores the former list.
    ///
    /// # Errors
    /// If the list or the descriptions cannot be written.
    pub fn replace_works(
        &self,
        former: &BTreeMap<String, CitingWork>,
        works: &BTreeMap<String, CitingWork>,
    ) -> Result<(), StoreError> {
        let path = works_path(&self.home);
        let former_body = list_body(&path, former)?;
        let folder = works_folder(&self.home);
        fs::create_dir_all(&folder).map_err(StoreError::io(&folder))?;
        graph_file::write_checked(&path, &list_body(&path, works)?)?;
        let described = if self.describes_list(&former_body)? {
            self.describe_changed_works(former, works)
        } else {
            self.describe_works(works)
        };
        // The first failure is the one to report. Without the former list, the graph is repaired when the home is opened.
        if described.is_err()
            && let Err(error) = graph_file::write_checked(&path, &former_body)
        {
            tracing::warn!(%error, "the list of works could not be restored");
        }
        described
    }

    /// Returns true if the graph describes the list with these lines.
    fn describes_list(&self, body: &[u8]) -> Result<bool, StoreError> {
        let checksum = Term::from(Literal::from(graph_file::checksum(body)));
        Ok(self
            .query_described_checksums()?
            .iter()
            .any(|quad| quad.object == checksum))
    }

    /// Renames a damaged list, so that the home can be used without works. Returns its new path.
    ///
    /// # Errors
    /// If the list cannot be renamed, or the descriptions cannot be removed.
    pub fn set_works_aside(&self) -> Result<PathBuf, StoreError> {
        let path = works_path(&self.home);
        let aside = path.with_extension("damaged");
        fs::rename(&path, &aside).map_err(StoreError::io(&path))?;
        self.describe_works(&BTreeMap::new())?;
        Ok(aside)
    }

    /// Describes the works if the graph belongs to another list. In a home that is open for reading, and if the list is damaged, a
    /// warning is logged instead.
    pub(super) fn update_work_descriptions(&self) -> Result<(), StoreError> {
        let described = self
            .query_described_checksums()?
            .pop()
            .map(|quad| quad.object);
        if described == works_checksum(&self.home)?.map(|checksum| Literal::from(checksum).into()) {
            return Ok(());
        }
        if self.access == Access::Read {
            tracing::warn!(
                "the works of this home are not described in RDF yet; run `lodeseek index` once"
            );
            return Ok(());
        }
        match read_works(&self.home) {
            Ok(works) => self.describe_works(&works),
            Err(error) => {
                tracing::warn!(%error, "the works of this home cannot be described in RDF");
                Ok(())
            }
        }
    }

    /// Makes the graph of works describe exactly the given works.
    fn describe_works(&self, works: &BTreeMap<String, CitingWork>) -> Result<(), StoreError> {
        let graph = self.iris.works();
        let mut new = self.work_quads(works.iter())?;
        let mut old = Vec::new();
        for quad in self
            .oxigraph
            .quads_for_pattern(None, None, None, Some(graph.as_ref().into()))
        {
            let quad = quad?;
            if !new.remove(&quad) {
                old.push(quad);
            }
        }
        self.change_work_quads(&old, new)
    }

    /// Makes the graph of works, which describes one list, describe another one. Works have no quads in common.
    fn describe_changed_works(
        &self,
        former: &BTreeMap<String, CitingWork>,
        works: &BTreeMap<String, CitingWork>,
    ) -> Result<(), StoreError> {
        let mut old = self.work_quads(
            former
                .iter()
                .filter(|(key, work)| works.get(*key) != Some(*work)),
        )?;
        let mut new = self.work_quads(
            works
                .iter()
                .filter(|(key, work)| former.get(*key) != Some(*work)),
        )?;
        old.retain(|quad| !new.remove(quad));
        self.change_work_quads(&old.into_iter().collect::<Vec<_>>(), new)
    }

    /// Removes and adds descriptions of works, in one transaction with the checksum of the list. Many new ones are bulk-loaded before
    /// it.
    fn change_work_quads(&self, old: &[Quad], mut new: HashSet<Quad>) -> Result<(), StoreError> {
        let _change = self.change();
        if new.len() > MAX_TRANSACTION_TRIPLES {
            // After a failure the graph describes no list. Without a checksum it is written again when the home is opened.
            for quad in self.query_described_checksums()? {
                self.oxigraph.remove(&quad)?;
            }
            // Bulk loads bypass the log: the removal must not be lost while the new statements remain.
            self.flush()?;
            self.bulk_load(new.drain())?;
        }
        let commit = self.start_commit();
        let mut changes = QuadChanges::default();
        self.mark_commit(&commit, &mut changes)?;
        old.iter().for_each(|quad| changes.remove(quad));
        new.iter().for_each(|quad| changes.add(quad));
        self.write_described_checksum(&mut changes)?;
        let written = changes.commit(self)?;
        self.finish_commit(commit, written)
    }

    /// Returns the descriptions of works, and the links to them from the datasets of the home.
    fn work_quads<'w>(
        &self,
        works: impl Iterator<Item = (&'w String, &'w CitingWork)>,
    ) -> Result<HashSet<Quad>, StoreError> {
        let (graph, ids) = (self.iris.works(), self.ids()?);
        let mut quads = HashSet::new();
        for (key, work) in works {
            quads.extend(
                work.to_triples(&self.iris)
                    .into_iter()
                    .map(|triple| triple.in_graph(graph.clone())),
            );
            let present = work
                .datasets
                .iter()
                .filter(|id| ids.binary_search(id).is_ok());
            quads.extend(present.map(|id| self.work_link(id, self.iris.work(key))));
        }
        Ok(quads)
    }

    /// Returns the links from a dataset to the works that use it.
    pub(super) fn works_that_use(&self, id: &DatasetId) -> Result<Vec<Quad>, StoreError> {
        let (graph, dataset) = (self.iris.works(), Term::from(self.iris.dataset(id)));
        let property = NamedNodeRef::new_unchecked(cito::USES_DATA_FROM);
        let mut links = Vec::new();
        for quad in self.oxigraph.quads_for_pattern(
            None,
            Some(property),
            Some(dataset.as_ref()),
            Some(graph.as_ref().into()),
        ) {
            if let NamedOrBlankNode::NamedNode(work) = quad?.subject {
                links.push(self.work_link(id, work));
            }
        }
        Ok(links)
    }

    /// Returns the works that use a dataset, as the graph describes them, at most `max_works` of them.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn dataset_works(
        &self,
        id: &DatasetId,
        max_works: usize,
    ) -> Result<DatasetWorks, StoreError> {
        let mut found = Vec::new();
        for link in self.works_that_use(id)? {
            let Term::NamedNode(work) = link.object else {
                continue;
            };
            let year = self.work_value(&work, dcterms::ISSUED)?;
            let year: Option<i32> = year.and_then(|year| year.parse().ok());
            found.push((year, work));
        }
        let all = found.len();
        // Only the listed works are read completely. The IRI decides between works of the same year, as their keys do in the list.
        found.sort_by(|(year, work), (other_year, other)| {
            (Reverse(*year), work.as_str()).cmp(&(Reverse(*other_year), other.as_str()))
        });
        found.truncate(max_works);
        let mut works = Vec::with_capacity(found.len());
        for (year, work) in found {
            works.push(DatasetWork {
                title: self.work_value(&work, dcterms::TITLE)?.unwrap_or_default(),
                year,
                url: self.work_value(&work, schema::URL)?,
            });
        }
        Ok(DatasetWorks::new(all, works))
    }

    /// Returns the value of a property of a work: a text or an IRI.
    fn work_value(&self, work: &NamedNode, property: &str) -> Result<Option<String>, StoreError> {
        let graph = self.iris.works();
        let mut quads = self.oxigraph.quads_for_pattern(
            Some(work.as_ref().into()),
            Some(NamedNodeRef::new_unchecked(property)),
            None,
            Some(graph.as_ref().into()),
        );
        let Some(quad) = quads.next() else {
            return Ok(None);
        };
        Ok(match quad?.object {
            Term::NamedNode(iri) => Some(iri.into_string()),
            Term::Literal(literal) => Some(literal.value().to_owned()),
            _ => None,
        })
    }

    fn work_link(&self, id: &DatasetId, work: NamedNode) -> Quad {
        let property = NamedNode::new_unchecked(dcterms::IS_REFERENCED_BY);
        Quad::new(self.iris.dataset(id), property, work, self.iris.works())
    }

    /// Returns the stored checksum of the described list. At most one, unless the store is damaged.
    fn query_described_checksums(&self) -> Result<Vec<Quad>, StoreError> {
        let (works, place) = (self.iris.works(), self.iris.versions());
        let quads = self.oxigraph.quads_for_pattern(
            Some(works.as_ref().into()),
            None,
            None,
            Some(place.as_ref().into()),
        );
        Ok(quads.collect::<Result<_, _>>()?)
    }

    fn write_described_checksum(&self, changes: &mut QuadChanges) -> Result<(), StoreError> {
        self.query_described_checksums()?
            .iter()
            .for_each(|quad| changes.remove(quad));
        if let Some(checksum) = works_checksum(&self.home)? {
            let property = NamedNode::new_unchecked(dcterms::IDENTIFIER);
            changes.add(&Quad::new(
                self.iris.works(),
                property,
                Literal::from(checksum),
                self.iris.versions(),
            ));
        }
        Ok(())
    }
}

#[cfg(all(test, feature = "rocksdb"))]
mod tests {
    use super::*;
    use crate::{Loader, change_base};
    use lodeseek_catalog::{Catalog, Iris};
    use proptest::prelude::*;

    fn load(store: &Store, folder: &Path, ids: &[&str]) {
        let mut catalog =
            "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .".to_owned();
        for id in ids {
            catalog += &format!(
                "<http://e.org/{id}> a dcat:Dataset ; dct:identifier \"{id}\" ; dct:title \"{id}\" ."
            );
        }
        fs::write(folder.join("catalog.ttl"), catalog).expect("written");
        let catalog = Catalog::read(&folder.join("catalog.ttl")).expect("a catalogue");
        Loader::new(store).load(catalog, &|_| ()).expect("loaded");
    }

    /// Replaces the present list.
    fn replace(store: &Store, works: &BTreeMap<String, CitingWork>) {
        let former = read_works(&store.home).expect("a list");
        store.replace_works(&former, works).expect("written");
    }

    fn id(text: &str) -> DatasetId {
        DatasetId::new(text).expect("an id")
    }

    fn works(list: &[(&str, &[&str])]) -> BTreeMap<String, CitingWork> {
        list.iter()
            .map(|(title, datasets)| CitingWork {
                title: (*title).to_owned(),
                summary: String::new(),
                year: Some(2020),
                url: None,
                datasets: datasets.iter().map(|text| id(text)).collect(),
            })
            .map(|work| (work.key(), work))
            .collect()
    }

    /// Returns all quads of the graph of works.
    fn quads(store: &Store) -> HashSet<Quad> {
        let graph = store.iris.works();
        let quads = store
            .oxigraph
            .quads_for_pattern(None, None, None, Some(graph.as_ref().into()));
        quads.map(|quad| quad.expect("a quad")).collect()
    }

    /// Returns the number of triples in the graph of works, and the links from datasets as (dataset, title).
    fn graph(store: &Store) -> (usize, Vec<(String, String)>) {
        let works = read_works(&store.home).expect("a list");
        let quads = quads(store);
        let mut links = Vec::new();
        for quad in quads
            .iter()
            .filter(|quad| quad.predicate.as_str() == dcterms::IS_REFERENCED_BY)
        {
            let (NamedOrBlankNode::NamedNode(dataset), Term::NamedNode(work)) =
                (&quad.subject, &quad.object)
            else {
                panic!("{quad}")
            };
            let dataset = store
                .iris
                .dataset_id(dataset.as_str())
                .expect("a dataset")
                .to_string();
            let title = works[work.as_str().rsplit('/').next().expect("a key")]
                .title
                .clone();
            links.push((dataset, title));
        }
        links.sort();
        (quads.len(), links)
    }

    fn links(list: &[(&str, &str)]) -> Vec<(String, String)> {
        list.iter()
            .map(|(dataset, title)| ((*dataset).to_owned(), (*title).to_owned()))
            .collect()
    }

    #[test]
    fn links_follow_the_works_and_the_datasets() {
        let folder = tempfile::tempdir().expect("a folder");
        let store =
            Store::in_memory(&folder.path().join("home"), Iris::default()).expect("a store");
        load(&store, folder.path(), &["a"]);
        replace(&store, &works(&[("One", &["a", "b"]), ("Two", &["b"])]));
        // Of each work type, title and year; three uses, of which one is of a dataset of the home.
        assert_eq!(graph(&store), (2 * 3 + 3 + 1, links(&[("a", "One")])));
        let before = store.undo(&[id("b")]).expect("the state");
        load(&store, folder.path(), &["b"]);
        let all = links(&[("a", "One"), ("b", "One"), ("b", "Two")]);
        assert_eq!(graph(&store), (2 * 3 + 3 + 3, all.clone()));
        let loaded = store.undo(&[id("b")]).expect("the state");
        store.restore(&before).expect("restored");
        assert_eq!(graph(&store).1, links(&[("a", "One")]));
        store.restore(&loaded).expect("restored");
        assert_eq!(graph(&store).1, all);
        store.remove(&[id("a")]).expect("removed");
        assert_eq!(graph(&store).1, links(&[("b", "One"), ("b", "Two")]));
        replace(&store, &works(&[("Two", &["a"]), ("Three", &["b"])]));
        assert_eq!(graph(&store), (2 * 3 + 2 + 1, links(&[("b", "Three")])));
        assert!(
            !store
                .oxigraph
                .iter()
                .any(|quad| quad.expect("a quad").to_string().contains("\"One\""))
        );
    }

    #[test]
    fn many_works_are_described_and_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let store =
            Store::in_memory(&folder.path().join("home"), Iris::default()).expect("a store");
        load(&store, folder.path(), &["a"]);
        let titles: Vec<String> = (0..MAX_TRANSACTION_TRIPLES / 4)
            .map(|number| format!("Work {number}"))
            .collect();
        let list: Vec<(&str, &[&str])> = titles
            .iter()
            .map(|title| (title.as_str(), &["a"][..]))
            .collect();
        replace(&store, &works(&list));
        assert_eq!(graph(&store).0, 5 * list.len());
        replace(&store, &works(&list[..1]));
        assert_eq!(graph(&store), (5, links(&[("a", "Work 0")])));
    }

    #[test]
    fn a_graph_of_another_list_is_written_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path().join("home");
        let store = Store::open(&home, Access::Write, None).expect("a home");
        load(&store, folder.path(), &["a"]);
        replace(&store, &works(&[("One", &["a"])]));
        let first = fs::read(works_path(&home)).expect("a list");
        replace(&store, &works(&[("One", &["a"]), ("Two", &["a"])]));
        let expected = graph(&store);
        // A home of an earlier version has a list alone.
        let _ = store.oxigraph.remove_named_graph(&store.iris.works());
        store
            .query_described_checksums()
            .expect("read")
            .iter()
            .for_each(|quad| store.oxigraph.remove(quad).expect("removed"));
        store.flush().expect("flushed");
        drop(store);
        let reader = Store::open(&home, Access::Read, None).expect("a home");
        assert_eq!(graph(&reader).0, 0, "it cannot be written");
        drop(reader);
        let store = Store::open(&home, Access::Write, None).expect("a home");
        assert_eq!(graph(&store), expected);
        drop(store);
        // The file changed, and the graph did not.
        fs::write(works_path(&home), first).expect("written");
        let store = Store::open(&home, Access::Write, None).expect("a home");
        assert_eq!(graph(&store), (5, links(&[("a", "One")])));
        drop(store);
        fs::write(works_path(&home), "damaged\n").expect("written");
        let store = Store::open(&home, Access::Write, None).expect("a home");
        store.set_works_aside().expect("renamed");
        assert_eq!(graph(&store), (0, Vec::new()));
    }

    #[test]
    fn works_of_a_dataset_are_the_same_in_the_list_and_in_the_graph() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path().join("home");
        let store = Store::open(&home, Access::Write, None).expect("a home");
        load(&store, folder.path(), &["a"]);
        let mut list = works(&[("Two", &["a", "b"]), ("One", &["a"]), ("Other", &["b"])]);
        for (title, year, url) in [
            ("Late", Some(2024), Some("https://e.org/late")),
            ("Undated", None, Some("no IRI")),
        ] {
            let work = CitingWork {
                title: title.to_owned(),
                summary: "Text".to_owned(),
                year,
                url: url.map(str::to_owned),
                datasets: vec![id("a")],
            };
            list.insert(work.key(), work);
        }
        replace(&store, &list);
        for max_works in [0, 1, 2, 3, 9] {
            let by_graph = store.dataset_works(&id("a"), max_works).expect("read");
            let by_list = read_dataset_works(&home, &id("a"), max_works).expect("read");
            assert_eq!(by_graph, by_list, "{max_works}");
            assert_eq!(
                (by_graph.all, by_graph.works.len(), by_graph.more()),
                (4, max_works.min(4), 4 - max_works.min(4))
            );
        }
        let listed = store.dataset_works(&id("a"), 9).expect("read").works;
        let shown: Vec<(&str, Option<i32>, Option<&str>)> = listed
            .iter()
            .map(|work| (work.title.as_str(), work.year, work.url.as_deref()))
            .collect();
        assert_eq!(
            shown,
            [
                ("Late", Some(2024), Some("https://e.org/late")),
                ("One", Some(2020), None),
                ("Two", Some(2020), None),
                ("Undated", None, Some("no IRI")),
            ]
        );
        let none = store.dataset_works(&id("c"), 9).expect("read");
        assert_eq!(none, DatasetWorks::default());
    }

    #[test]
    fn works_move_to_another_base_and_into_a_rebuilt_store() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path().join("home");
        let store = Store::open(&home, Access::Write, None).expect("a home");
        load(&store, folder.path(), &["a"]);
        replace(&store, &works(&[("One", &["a", "b"])]));
        let expected = graph(&store);
        drop(store);
        change_base(&home, "https://b.org/x/").expect("moved");
        let store = Store::open(&home, Access::Read, None).expect("a home");
        assert_eq!(graph(&store), expected);
        assert!(!store.oxigraph.iter().any(|quad| {
            quad.expect("a quad")
                .to_string()
                .contains(Iris::DEFAULT_BASE)
        }));
        drop(store);
        crate::rebuild_store(&home, &[]).expect("rebuilt");
        assert_eq!(
            graph(&Store::open(&home, Access::Write, None).expect("a home")),
            expected
        );
    }

    #[test]
    fn a_failed_change_keeps_the_former_list() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path().join("home");
        let store = Store::open(&home, Access::Write, None).expect("a home");
        replace(&store, &works(&[("One", &["a"])]));
        let (list, graph) = (read_works(&home).expect("a list"), quads(&store));
        // The record of the commit cannot be replaced by a file.
        fs::remove_file(home.join("commit.json")).expect("removed");
        fs::create_dir_all(home.join("commit.json/folder")).expect("created");
        let changed = works(&[("Two", &["a"])]);
        assert!(store.replace_works(&list, &changed).is_err());
        assert_eq!(read_works(&home).expect("a list"), list);
        fs::remove_dir_all(home.join("commit.json")).expect("removed");
        replace(&store, &changed);
        assert_eq!(read_works(&home).expect("a list"), changed);
        replace(&store, &list);
        assert_eq!(quads(&store), graph);
    }

    #[test]
    fn a_failed_large_change_leaves_no_other_works() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path().join("home");
        let store = Store::open(&home, Access::Write, None).expect("a home");
        load(&store, folder.path(), &["a"]);
        replace(&store, &works(&[("One", &["a"])]));
        let (list, graph) = (read_works(&home).expect("a list"), quads(&store));
        let titles: Vec<String> = (0..MAX_TRANSACTION_TRIPLES / 4)
            .map(|number| format!("Work {number}"))
            .collect();
        let many: Vec<(&str, &[&str])> = titles
            .iter()
            .map(|title| (title.as_str(), &["a"][..]))
            .collect();
        // After the bulk load, the checksum of the list cannot be read.
        let (path, aside) = (works_path(&home), folder.path().join("works.jsonl"));
        fs::rename(&path, &aside).expect("renamed");
        fs::create_dir(&path).expect("a folder in place of the file");
        assert!(store.describe_changed_works(&list, &works(&many)).is_err());
        assert!(
            quads(&store).len() > graph.len(),
            "descriptions of other works remain"
        );
        fs::remove_dir(&path).expect("removed");
        fs::rename(&aside, &path).expect("restored");
        drop(store);
        let store = Store::open(&home, Access::Write, None).expect("a home");
        assert!(
            quads(&store) == graph,
            "{} quads instead of {}",
            quads(&store).len(),
            graph.len()
        );
    }

    /// A list: title, year, datasets and presence of a URL of each work.
    type RandomList = Vec<(u8, u8, Vec<u8>, bool)>;

    fn random_list() -> impl Strategy<Value = RandomList> {
        let datasets = prop::collection::vec(0_u8..4, 1..3);
        prop::collection::vec((0_u8..6, 0_u8..2, datasets, any::<bool>()), 0..8)
    }

    fn works_of(list: &RandomList) -> BTreeMap<String, CitingWork> {
        list.iter()
            .map(|(title, year, datasets, has_url)| CitingWork {
                title: format!("Work {title}"),
                summary: String::new(),
                year: Some(2000 + i32::from(*year)),
                url: has_url.then(|| format!("https://e.org/{title}")),
                datasets: datasets
                    .iter()
                    .map(|number| id(&format!("d{number}")))
                    .collect(),
            })
            .map(|work| (work.key(), work))
            .collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn the_difference_equals_all_descriptions(lists in prop::collection::vec(random_list(), 1..5)) {
            let folder = tempfile::tempdir().expect("a folder");
            let store = Store::in_memory(&folder.path().join("home"), Iris::default()).expect("a store");
            load(&store, folder.path(), &["d0", "d1"]);
            for list in &lists {
                let list = works_of(list);
                replace(&store, &list);
                let by_difference = quads(&store);
                prop_assert_eq!(&by_difference, &store.work_quads(list.iter()).expect("described"));
                store.describe_works(&list).expect("described");
                prop_assert_eq!(by_difference, quads(&store));
            }
        }
    }
}
