//! Edits of descriptions by an operator.
//!
//! The catalogue graph has the edited description. The description of the source is kept beside the edits, so that an edit can
//! be removed. Each new description of the source is edited before it is stored.

use super::intake::describe_dataset;
use super::internal_facts::Fact;
use super::{Store, StoreError};
use lodeseek_catalog::{Dataset, DatasetId, Edits, SerializedDataset, dcat};
use lodeseek_rdf::TripleGraphBuilder;
use oxrdf::Triple;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};

/// Length of the hash in an entity tag, in bytes.
const TAG_BYTES: usize = 12;

/// Edits of a description, and the description that the source states.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct DatasetEdits {
    /// The edits by key.
    pub edits: Edits,
    /// Description of the source.
    #[serde(serialize_with = "write_dataset", deserialize_with = "read_dataset")]
    pub source: Dataset,
}

fn write_dataset<S: Serializer>(dataset: &Dataset, serializer: S) -> Result<S::Ok, S::Error> {
    let mut dataset = dataset.clone();
    // Files of this machine, which are no part of the description.
    dataset
        .distributions
        .iter_mut()
        .for_each(|distribution| distribution.copy = None);
    SerializedDataset::from(dataset).serialize(serializer)
}

fn read_dataset<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Dataset, D::Error> {
    SerializedDataset::deserialize(deserializer).map(Dataset::from)
}

impl DatasetEdits {
    /// Returns the edited description.
    ///
    /// # Errors
    /// If an edit cannot be stated in DCAT.
    pub fn apply(&self) -> Result<Dataset, StoreError> {
        let edited = self.edits.apply(&self.source);
        edited.map_err(|error| StoreError::Edit {
            id: self.source.metadata.id.clone(),
            reason: error.to_string(),
        })
    }
}

impl Store {
    /// Returns the edits of a dataset's description; `None` if it is as its source states it.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn dataset_edits(&self, id: &DatasetId) -> Result<Option<DatasetEdits>, StoreError> {
        self.fact(id, Fact::Edits)
    }

    /// Returns the entity tag of a dataset, with quotation marks: it changes with its description, its content and its files. `None`
    /// if there is no such dataset.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn dataset_tag(&self, id: &DatasetId) -> Result<Option<String>, StoreError> {
        let Some(version) = self.version(id)? else {
            return Ok(None);
        };
        let description = self.description(id)?;
        let mut lines: Vec<String> = description.iter().map(ToString::to_string).collect();
        lines.sort_unstable();
        lines.push(version);
        for file in self.dataset_files(id)? {
            lines.extend([file.name, file.sha256]);
        }
        let mut hash = Sha256::new();
        for line in &lines {
            // With the lengths, lines that are split elsewhere have another hash.
            hash.update((line.len() as u64).to_le_bytes());
            hash.update(line);
        }
        let digits = hash.finalize();
        let digits = digits.iter().take(TAG_BYTES);
        let tag: String = digits.map(|byte| format!("{byte:02x}")).collect();
        Ok(Some(format!("\"{tag}\"")))
    }

    /// Returns the description of a dataset by its source, with the present edits of this home.
    pub(super) fn edited_description(
        &self,
        source: &Dataset,
    ) -> Result<(Vec<Triple>, Option<DatasetEdits>), StoreError> {
        let Some(present) = self.dataset_edits(&source.metadata.id)? else {
            return Ok((describe_dataset(source, &self.iris), None));
        };
        let mut source = source.clone();
        // Stored edits have no copies: otherwise each load would seem to change them.
        source
            .distributions
            .iter_mut()
            .for_each(|distribution| distribution.copy = None);
        let edits = DatasetEdits { source, ..present };
        Ok((describe_dataset(&edits.apply()?, &self.iris), Some(edits)))
    }

    /// Returns a description that was made elsewhere, with the present edits of this home.
    pub(super) fn edited_triples(
        &self,
        id: &DatasetId,
        description: Vec<Triple>,
    ) -> Result<(Vec<Triple>, Option<DatasetEdits>), StoreError> {
        if self.dataset_edits(id)?.is_none() {
            return Ok((description, None));
        }
        let mut graph = TripleGraphBuilder::new();
        description
            .iter()
            .for_each(|triple| graph.insert(triple.as_ref()));
        match dcat::from_triples(&graph.finish(), &self.iris.dataset(id)) {
            Some(source) => self.edited_description(&source),
            None => Ok((description, None)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DatasetOutcome, LoadOptions, LoadSource, Loader, Stamp};
    use lodeseek_catalog::{Catalog, Iris, Patch};
    use oxrdf::NamedNode;
    use serde_json::{Value, json};
    use std::fs;
    use std::io::Read;
    use tempfile::TempDir;

    struct Home {
        folder: TempDir,
        store: Store,
    }

    impl Home {
        fn new() -> Self {
            let folder = tempfile::tempdir().expect("a folder");
            let store =
                Store::in_memory(&folder.path().join("home"), Iris::default()).expect("a store");
            Self { folder, store }
        }

        fn options(&self) -> LoadOptions {
            let stamp = Stamp {
                now: Some("2026-01-02T03:04:05Z".parse().expect("a time")),
                origin: NamedNode::new("http://e.org/catalog").ok(),
            };
            LoadOptions {
                stamp,
                source: Some(LoadSource::from_path(&self.folder.path().join("c.ttl"), "")),
                ..LoadOptions::default()
            }
        }

        fn load(&self, title: &str, keyword: &str, dump: &str) -> DatasetOutcome {
            let text = format!(
                "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .
                 <http://e.org/trees> a dcat:Dataset ; dct:identifier \"trees\" ; dct:title \"{title}\"@en ;
                     dcat:keyword \"{keyword}\" ; dcat:version \"1.10\" ; dct:publisher [ a <http://xmlns.com/foaf/0.1/Agent> ; <http://xmlns.com/foaf/0.1/name> \"City\" ] ;
                     dcat:distribution [ dcat:downloadURL <dumps/trees.ttl> ] ."
            );
            let path = self.folder.path().join("c.ttl");
            fs::create_dir_all(self.folder.path().join("dumps")).expect("a folder");
            fs::write(&path, text).expect("written");
            fs::write(self.folder.path().join("dumps/trees.ttl"), dump).expect("written");
            let catalog = Catalog::read(&path).expect("a catalogue");
            let report = Loader::new(&self.store)
                .with_options(self.options())
                .load(catalog, &|_| ())
                .expect("loaded");
            report.datasets[0].outcome
        }

        fn edit(&self, patch: Value) -> DatasetOutcome {
            let Value::Object(patch) = patch else {
                panic!("{patch} is no object")
            };
            let patch = Patch::parse(&patch).expect("a patch");
            let present = self.store.dataset_edits(&id()).expect("read");
            let (mut edits, source) = match present {
                Some(present) => (present.edits, present.source),
                None => (
                    Edits::default(),
                    self.store.entry(&id()).expect("present").dataset,
                ),
            };
            edits.apply_patch(&patch, &source, "ci", "2026-01-01T00:00:00Z");
            self.set(edits)
        }

        fn set(&self, edits: Edits) -> DatasetOutcome {
            let report = Loader::new(&self.store)
                .with_options(LoadOptions {
                    source: None,
                    stamp: Stamp {
                        origin: None,
                        ..self.options().stamp
                    },
                    ..self.options()
                })
                .edit(&id(), edits)
                .expect("edited");
            report.datasets[0].outcome
        }

        fn described(&self) -> (String, Vec<String>) {
            let metadata = self.store.entry(&id()).expect("present").dataset.metadata;
            let keywords = metadata.keywords.iter().map(|text| text.value.clone());
            (metadata.title().to_owned(), keywords.collect())
        }

        fn quads(&self) -> Vec<String> {
            let quads = self
                .store
                .oxigraph()
                .iter()
                .map(|quad| quad.expect("a quad").to_string());
            let mut quads: Vec<String> = quads
                .filter(|quad| !quad.contains("/graph/") && !quad.contains("/commit>"))
                .filter(|quad| !quad.contains("change>"))
                .collect();
            quads.sort();
            quads
        }

        fn count_kept_files(&self) -> usize {
            match fs::read_dir(self.store.home().join("files")) {
                Ok(files) => files.count(),
                Err(_) => 0,
            }
        }
    }

    fn id() -> DatasetId {
        DatasetId::new("trees").expect("an id")
    }

    const DUMP: &str = "# a comment\n<http://e.org/oak> <http://e.org/height> 01.50 .\n";

    #[test]
    fn an_edit_is_not_among_the_past_loads() {
        let home = Home::new();
        home.load("Trees", "tree", DUMP);
        let loads = home.store.past_loads().expect("read");
        assert_eq!(loads.len(), 1);
        let edited = home.edit(json!({"title": {"en": "Street trees"}}));
        assert_eq!(edited, DatasetOutcome::Replaced);
        assert_eq!(home.store.past_loads().expect("read"), loads);
    }

    #[test]
    fn edits_survive_loads_and_can_be_removed() {
        let home = Home::new();
        home.load("Trees", "tree", DUMP);
        let before = home.quads();
        assert_eq!(
            home.edit(json!({"title": {"en": "Street trees"}})),
            DatasetOutcome::Replaced
        );
        assert_eq!(
            home.edit(json!({"title": {"en": "Street trees"}})),
            DatasetOutcome::Unchanged
        );
        assert_eq!(
            home.described(),
            ("Street trees".to_owned(), vec!["tree".to_owned()])
        );
        let record: Vec<String> = home
            .store
            .record_of(&id())
            .expect("a record")
            .iter()
            .map(ToString::to_string)
            .collect();
        assert!(
            record
                .iter()
                .any(|line| line.contains("changeNote") && line.contains(": title")),
            "{record:?}"
        );
        assert_eq!(
            home.store.entry(&id()).expect("present").origin.as_deref(),
            Some("http://e.org/catalog")
        );
        assert_eq!(
            home.load("Trees", "tree", DUMP),
            DatasetOutcome::Unchanged,
            "a load of the same source"
        );
        assert_eq!(home.described().0, "Street trees");
        // What the edit hides changes: it is what a removal of the edit shows.
        assert_eq!(
            home.load("All trees", "tree", DUMP),
            DatasetOutcome::Unchanged
        );
        assert_eq!(
            home.load("All trees", "wood", DUMP),
            DatasetOutcome::Replaced
        );
        assert_eq!(
            home.described(),
            ("Street trees".to_owned(), vec!["wood".to_owned()])
        );
        let source = home
            .store
            .dataset_edits(&id())
            .expect("read")
            .expect("edits")
            .source;
        assert_eq!(source.metadata.title(), "All trees");
        assert!(source.distributions.iter().all(|one| one.copy.is_none()));
        assert_eq!(home.set(Edits::default()), DatasetOutcome::Replaced);
        assert_eq!(
            home.described(),
            ("All trees".to_owned(), vec!["wood".to_owned()])
        );
        assert_eq!(home.store.dataset_edits(&id()).expect("read"), None);
        home.load("Trees", "tree", DUMP);
        assert_eq!(home.quads(), before, "nothing of the edits is left");
    }

    #[test]
    fn edits_and_files_are_undone_and_removed_with_the_dataset() {
        let home = Home::new();
        home.load("Trees", "tree", DUMP);
        home.edit(json!({"title": "Street trees", "publisher": null}));
        let undo = home.store.undo(&[id()]).expect("the state");
        let before = home.quads();
        home.store.remove(&[id()]).expect("removed");
        assert!(
            home.quads()
                .iter()
                .all(|quad| !quad.contains("urn:lodeseek:")),
            "{:?}",
            home.quads()
        );
        home.store.restore(&undo).expect("restored");
        assert_eq!(home.quads(), before);
        home.set(Edits::default());
        home.store.restore(&undo).expect("restored");
        assert_eq!(home.quads(), before);
    }

    #[test]
    fn files_are_kept_as_they_are() {
        let home = Home::new();
        home.load("Trees", "tree", DUMP);
        let read = |home: &Home| {
            let files = home.store.dataset_files(&id()).expect("files");
            let mut text = String::new();
            home.store
                .open_file(&files[0])
                .expect("opened")
                .read_to_string(&mut text)
                .expect("read");
            (files[0].name.clone(), files[0].location.clone(), text)
        };
        let expected = |text: &str| {
            (
                "trees.ttl".to_owned(),
                "dumps/trees.ttl".to_owned(),
                text.to_owned(),
            )
        };
        assert_eq!(read(&home), expected(DUMP));
        // The graph is the same; the file is not.
        let other = DUMP.replace("a comment", "another comment");
        assert_eq!(
            home.load("Trees", "tree", &other),
            DatasetOutcome::Unchanged
        );
        assert_eq!(read(&home), expected(&other));
        assert_eq!(home.store.kept_file_paths().expect("paths").len(), 1);
        home.load("Trees", "tree", "this is no RDF .");
        assert_eq!(
            read(&home),
            expected(&other),
            "content that is not replaced keeps its file"
        );
        home.edit(json!({"title": "Street trees"}));
        assert_eq!(read(&home), expected(&other));
        home.store.remove(&[id()]).expect("removed");
        home.store.clear_replaced(&|_, _| ()).expect("cleared");
        assert_eq!(home.count_kept_files(), 0, "no garbage is left");
        let options = LoadOptions {
            keep_files: Some(false),
            ..home.options()
        };
        let catalog = Catalog::read(&home.folder.path().join("c.ttl")).expect("a catalogue");
        fs::write(home.folder.path().join("dumps/trees.ttl"), DUMP).expect("written");
        Loader::new(&home.store)
            .with_options(options)
            .load(catalog, &|_| ())
            .expect("loaded");
        assert_eq!(
            (
                home.store.dataset_files(&id()).expect("files").len(),
                home.count_kept_files()
            ),
            (0, 0)
        );
    }

    #[test]
    fn other_files_of_the_folder_are_not_kept() {
        let home = Home::new();
        fs::write(home.folder.path().join("secret.txt"), "password: 1234\n").expect("written");
        let text = "@prefix dcat: <http://www.w3.org/ns/dcat#> . <http://e.org/trees> a dcat:Dataset ; <http://purl.org/dc/terms/identifier> \"trees\" ;
            dcat:distribution [ dcat:downloadURL <secret.txt> ] .";
        let path = home.folder.path().join("c.ttl");
        fs::write(&path, text).expect("written");
        let catalog = Catalog::read(&path).expect("a catalogue");
        Loader::new(&home.store)
            .load(catalog, &|_| ())
            .expect("loaded");
        assert!(home.store.dataset_files(&id()).expect("files").is_empty());
        assert!(!home.store.home().join("files").exists());
    }
}
