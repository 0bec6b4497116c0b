//! Record of the last complete run of the indexer: `home/examined.json`. The next run reads no description that is still the same.

use super::{Deriver, IndexOptions};
use crate::EngineError;
use lodeseek_catalog::DatasetId;
use lodeseek_catalog::duplicates::Candidate;
use lodeseek_index::Snapshot;
use lodeseek_store::{self as store, Store};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;
use std::{fs, io};

/// A dataset as the indexer found it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ExaminedDataset {
    /// Digest of its description.
    pub(crate) description: String,
    /// Version of its content.
    pub(crate) content: String,
    /// Version of its document.
    pub(crate) document: String,
    /// Its title in plain text. `None` in files of earlier versions.
    #[serde(default)]
    pub(crate) title: Option<String>,
    /// Keys by which duplicates are found.
    pub(crate) candidate: Candidate,
}

impl ExaminedDataset {
    /// Returns true if the dataset still has this content and this description. `digest` is that of the description in the store.
    pub(crate) fn is_unchanged(&self, content: &str, digest: Option<&String>) -> bool {
        self.content == content && Some(&self.description) == digest
    }
}

/// The datasets of a complete run.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Examined {
    /// Program and options, on which documents depend beside the dataset.
    maker: String,
    /// Number of the last commit of the store that the run included. 0 in files of earlier versions.
    #[serde(default)]
    commit: u64,
    pub(super) datasets: BTreeMap<DatasetId, ExaminedDataset>,
}

fn file_path(home: &Path) -> PathBuf {
    home.join("examined.json")
}

impl Examined {
    pub(super) fn new(
        deriver: &Deriver<'_>,
        store: &Store,
        datasets: BTreeMap<DatasetId, ExaminedDataset>,
    ) -> Self {
        Self {
            maker: describe_maker(deriver),
            commit: store.commit_number(),
            datasets,
        }
    }

    /// Returns true if nothing has changed since the run: the store has no later commit, and the index as many datasets.
    pub(super) fn includes_all(&self, store: &Store, index: &Snapshot) -> bool {
        self.commit > 0
            && self.commit == store.commit_number()
            && self.datasets.len() as u64 == index.len()
    }

    /// Reads the last run. It has no datasets if it was not complete, or made by another program or with other options.
    pub(super) fn read(home: &Path, deriver: &Deriver<'_>) -> Self {
        match Self::read_file(home) {
            Some(examined) if examined.maker == describe_maker(deriver) => examined,
            _ => Self::default(),
        }
    }

    /// Reads the datasets of the last run, of any program and any options. There are none if it was not complete.
    pub(crate) fn read_any(home: &Path) -> BTreeMap<DatasetId, ExaminedDataset> {
        match Self::read_file(home) {
            Some(examined) => examined.datasets,
            None => BTreeMap::new(),
        }
    }

    /// Reads the datasets of the last run, of this program and any options. There are none if it was not complete.
    pub(crate) fn read_of_this_program(home: &Path) -> BTreeMap<DatasetId, ExaminedDataset> {
        match Self::read_file(home) {
            Some(examined) if examined.maker.starts_with(&describe_program()) => examined.datasets,
            _ => BTreeMap::new(),
        }
    }

    /// Reads the file. A damaged one is as good as none: everything is read.
    fn read_file(home: &Path) -> Option<Self> {
        let text = store::read_checked(&file_path(home)).ok()??;
        serde_json::from_slice(&text).ok()
    }

    /// Removes the file, before derived data changes.
    pub(super) fn remove(home: &Path) -> Result<(), EngineError> {
        let path = file_path(home);
        match fs::remove_file(&path) {
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => {
                Err(EngineError::Io { path, cause })
            }
            _ => Ok(()),
        }
    }

    pub(super) fn write(&self, home: &Path) -> Result<(), EngineError> {
        Ok(store::write_checked(
            &file_path(home),
            &serde_json::to_vec(self)?,
        )?)
    }
}

/// Returns what documents depend on beside the dataset: this program and the options.
fn describe_maker(deriver: &Deriver<'_>) -> String {
    let IndexOptions {
        snippet_budget,
        snippet_method,
        snippet_work,
        ..
    } = deriver.options;
    format!(
        "{}{:?} {snippet_budget:?} {snippet_method} {snippet_work:?} {}",
        describe_program(),
        deriver.analysis.kind(),
        deriver.options.compact_method()
    )
}

/// Returns the version, the size and the time of this program, each with a space after it. A new program may read more from a
/// description: then everything is read again.
fn describe_program() -> String {
    let program = std::env::current_exe().and_then(fs::metadata);
    let (size, time) = match program {
        Ok(program) => (program.len(), program.modified().ok()),
        Err(_) => (0, None),
    };
    let time = time.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let seconds = match time {
        Some(time) => time.as_secs(),
        None => 0,
    };
    format!("{} {size} {seconds} ", env!("CARGO_PKG_VERSION"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{IndexReport, Indexer, Updater, duplicates};
    use lodeseek_catalog::{Catalog, Iris};
    use lodeseek_store::{LoadOptions, Loader};

    fn load(store: &Store, folder: &Path, titles: &[(&str, &str)]) {
        let prefixes = "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .";
        let mut turtle = prefixes.to_owned();
        for (id, title) in titles {
            turtle += &format!(
                "<http://e.org/{id}> a dcat:Dataset ; dct:identifier \"{id}\" ; dct:title \"{title}\" ; dcat:distribution [ dcat:downloadURL <data.ttl> ] ."
            );
        }
        fs::write(folder.join("catalog.ttl"), turtle).expect("written");
        fs::write(folder.join("data.ttl"), "<e:s> <e:p> <e:o> .").expect("written");
        let catalog = Catalog::read(&folder.join("catalog.ttl")).expect("a catalogue");
        Loader::new(store).load(catalog, &|_| ()).expect("loaded");
    }

    fn index(store: &Store, options: IndexOptions) -> [usize; 3] {
        let IndexReport {
            indexed,
            unchanged,
            removed,
            ..
        } = Indexer::new(store, options).run(&|_| ()).expect("indexed");
        [indexed, unchanged, removed]
    }

    #[test]
    fn without_a_commit_since_the_last_run_nothing_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let iris = Iris::new(Iris::DEFAULT_BASE).expect("the default");
        let store = Store::in_memory(&folder.path().join("home"), iris).expect("a store");
        let options = IndexOptions::default();
        load(&store, folder.path(), &[("a", "A"), ("b", "B")]);
        assert_eq!(index(&store, options), [2, 0, 0]);
        // The record of the last run alone decides: a description that cannot be found would be a removed dataset.
        let node = store.iris().dataset(&DatasetId::new("a").expect("an id"));
        for quad in store
            .oxigraph()
            .quads_for_pattern(Some(node.as_ref().into()), None, None, None)
        {
            store
                .oxigraph()
                .remove(&quad.expect("a quad"))
                .expect("removed");
        }
        assert_eq!(index(&store, options), [0, 2, 0]);
        // An index that lost its documents is another one.
        fs::remove_dir_all(crate::index_folder(store.home())).expect("removed");
        assert_eq!(index(&store, options)[1], 0);
    }

    #[test]
    fn only_changed_descriptions_are_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let iris = Iris::new(Iris::DEFAULT_BASE).expect("the default");
        let store = Store::in_memory(&folder.path().join("home"), iris).expect("a store");
        let options = IndexOptions::default();
        load(&store, folder.path(), &[("a", "A"), ("b", "B"), ("c", "C")]);
        assert_eq!(index(&store, options), [3, 0, 0]);
        // A description that was changed behind the back of the store shows whether it is read.
        let id = |name: &str| DatasetId::new(name).expect("an id");
        let title = |name: &str| {
            let node = store.iris().dataset(&id(name));
            let property = oxrdf::NamedNode::new_unchecked("http://purl.org/dc/terms/title");
            let quads = store.oxigraph().quads_for_pattern(
                Some(node.as_ref().into()),
                Some(property.as_ref()),
                None,
                None,
            );
            quads.map(|quad| quad.expect("a quad")).collect::<Vec<_>>()
        };
        for quad in title("a") {
            store.oxigraph().remove(&quad).expect("removed");
        }
        load(&store, folder.path(), &[("b", "Other")]);
        assert_eq!(index(&store, options), [1, 2, 0]);
        store.remove(&[id("c")]).expect("removed");
        assert_eq!(index(&store, options), [0, 2, 1]);
        // After an interruption everything is read.
        Examined::remove(store.home()).expect("removed");
        assert_eq!(index(&store, options), [1, 1, 0]);
        let rebuilt = IndexOptions {
            rebuild: true,
            ..options
        };
        assert_eq!(index(&store, rebuilt), [2, 0, 0]);
        let other = IndexOptions {
            snippet_budget: lodeseek_snippet::TripleBudget(3),
            ..options
        };
        assert_eq!(index(&store, other), [2, 0, 0]);
    }

    #[test]
    fn duplicates_are_found_without_reading_what_did_not_change() {
        let folder = tempfile::tempdir().expect("a folder");
        let iris = Iris::new(Iris::DEFAULT_BASE).expect("the default");
        let store = Store::in_memory(&folder.path().join("home"), iris).expect("a store");
        load(
            &store,
            folder.path(),
            &[("a", "Street trees"), ("b", "Wells")],
        );
        let options = IndexOptions::default();
        index(&store, options);
        load(&store, folder.path(), &[("b", "Street trees")]);
        let updater = Updater::new(&store, LoadOptions::default(), options);
        let found = || {
            updater.find_duplicates().expect("found");
            fs::read_to_string(duplicates::path(store.home())).expect("written")
        };
        let by_last_run = found();
        Examined::remove(store.home()).expect("removed");
        assert_eq!(by_last_run, found());
        assert!(
            by_last_run.contains("\"a\"") && by_last_run.contains("\"b\""),
            "{by_last_run}"
        );
    }

    #[test]
    fn descriptions_without_digests_get_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let iris = Iris::new(Iris::DEFAULT_BASE).expect("the default");
        let store = Store::in_memory(&folder.path().join("home"), iris).expect("a store");
        load(&store, folder.path(), &[("a", "A"), ("b", "B")]);
        let digests = store.description_digests().expect("read");
        assert_eq!(digests.len(), 2);
        let property = oxrdf::NamedNode::new_unchecked("urn:lodeseek:description");
        let quads = store
            .oxigraph()
            .quads_for_pattern(None, Some(property.as_ref()), None, None);
        for quad in quads.collect::<Result<Vec<_>, _>>().expect("read") {
            store.oxigraph().remove(&quad).expect("removed");
        }
        let options = IndexOptions::default();
        assert_eq!(index(&store, options), [2, 0, 0]);
        assert_eq!(store.description_digests().expect("read"), digests);
        assert_eq!(index(&store, options), [0, 2, 0]);
        let examined = Examined::read(
            store.home(),
            &Deriver::new(
                store.iris(),
                options,
                lodeseek_index::AnalysisKind::default(),
            ),
        );
        let found: BTreeMap<_, _> = examined
            .datasets
            .into_iter()
            .map(|(id, dataset)| (id, dataset.description))
            .collect();
        assert_eq!(found, digests);
    }
}
