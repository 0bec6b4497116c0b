//! Content of dataset versions: in memory, or streamed if it is large.

use super::{Access, ContentFolder, Entry, Store, StoreError, blank, graph_file};
use lodeseek_catalog::DatasetId;
use lodeseek_rdf::{BuiltGraph, ExternalGraphBuilder, GraphParts, StreamedGraph, TripleGraph};
use oxrdf::Triple as OxTriple;
use std::io;
use std::path::Path;

/// Maximum number of triples of a large graph in memory.
pub(super) const MAX_PART_TRIPLES: usize = 2_000_000;

/// Content of a dataset version.
#[derive(Debug)]
pub enum StoredContent {
    /// Graph in memory.
    InMemory(TripleGraph),
    /// Graph that exceeds [`MAX_COMPACT_BYTES`](lodeseek_rdf::MAX_COMPACT_BYTES), read from its file.
    Streamed(StreamedGraph),
}

impl StoredContent {
    /// Returns the number of triples.
    #[must_use]
    pub fn len(&self) -> u64 {
        match self {
            Self::InMemory(graph) => graph.len() as u64,
            Self::Streamed(graph) => graph.len(),
        }
    }

    /// Returns true if there are no triples.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Calls `each` with graphs that together have all triples: the graph itself, or its parts. `path` is the graph file, for
    /// errors.
    pub(super) fn each_part(
        &self,
        path: &Path,
        mut each: impl FnMut(&TripleGraph) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        match self {
            Self::InMemory(graph) => each(graph),
            Self::Streamed(graph) => {
                for part in graph
                    .parts(MAX_PART_TRIPLES)
                    .map_err(StoreError::io(path))?
                {
                    each(&part.map_err(StoreError::io(path))?)?;
                }
                Ok(())
            }
        }
    }

    /// Iterates over all triples.
    pub(super) fn into_triples(self) -> Box<dyn Iterator<Item = io::Result<OxTriple>>> {
        match self {
            Self::InMemory(graph) => Box::new(triples_of(graph).map(Ok)),
            Self::Streamed(graph) => match GraphParts::new(&graph, MAX_PART_TRIPLES) {
                Ok(parts) => Box::new(StreamedTriples {
                    graph,
                    parts,
                    part: Box::new(std::iter::empty()),
                }),
                Err(error) => Box::new(std::iter::once(Err(error))),
            },
        }
    }
}

fn triples_of(graph: TripleGraph) -> impl Iterator<Item = OxTriple> {
    (0..graph.len()).map(move |place| graph.to_triple(graph.triples()[place]))
}

/// Triples of a large graph, part by part.
struct StreamedTriples {
    graph: StreamedGraph,
    /// The parts after the current one.
    parts: GraphParts,
    part: Box<dyn Iterator<Item = OxTriple>>,
}

impl Iterator for StreamedTriples {
    type Item = io::Result<OxTriple>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(triple) = self.part.next() {
                return Some(Ok(triple));
            }
            match self.parts.next_part(&self.graph) {
                Ok(Some(part)) => self.part = Box::new(triples_of(part)),
                Ok(None) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

impl Store {
    /// Sets the size of the compact form in bytes above which a graph is not held in memory. Default:
    /// [`MAX_COMPACT_BYTES`](lodeseek_rdf::MAX_COMPACT_BYTES). For tests of large graphs.
    #[must_use]
    pub fn with_graph_limit(self, bytes: usize) -> Self {
        Self {
            content_folder: self.content_folder.clone().with_graph_limit(bytes),
            ..self
        }
    }

    /// Returns the folder of the files of dataset versions, which is the home.
    #[must_use]
    pub fn content_folder(&self) -> &ContentFolder {
        &self.content_folder
    }

    /// Opens all of a dataset's content.
    pub fn open_content(&self, entry: &Entry) -> Result<StoredContent, StoreError> {
        self.open_content_of(&entry.dataset.metadata.id, &entry.version)
    }

    pub(super) fn open_content_of(
        &self,
        id: &DatasetId,
        version: &str,
    ) -> Result<StoredContent, StoreError> {
        match self.content_folder.try_open(version) {
            Ok(content) => Ok(content),
            Err(reason) => {
                let path = self.content_folder.graph_path(version);
                tracing::warn!(dataset = %id, path = %path.display(), %reason, "graph file cannot be used; reading the graph from the store");
                if self.is_index_only(id)? {
                    return Err(StoreError::Damaged {
                        home: self.home.clone(),
                        reason: format!(
                            "{}: {reason}, and the store has no copy of {id}",
                            path.display()
                        ),
                    });
                }
                if self.access == Access::Write {
                    return Ok(self.restore_content(id, version)?.0);
                }
                Ok(StoredContent::InMemory(
                    self.read_graph(&self.iris.graph(id, version))?,
                ))
            }
        }
    }

    /// Reads the content of a dataset version from the store, and restores its graph file. Returns the content, and true if it is exactly
    /// that of the version. If it differs, a graph that exceeds memory gets a file of another version, which the next load removes.
    pub(super) fn restore_content(
        &self,
        id: &DatasetId,
        version: &str,
    ) -> Result<(StoredContent, bool), StoreError> {
        let (name, limit) = (
            self.iris.graph(id, version),
            self.content_folder.graph_limit,
        );
        let scratch = self.content_folder.scratch_folder();
        let mut builder = ExternalGraphBuilder::new(scratch.clone()).with_limit(limit);
        for quad in self
            .oxigraph
            .quads_for_pattern(None, None, None, Some(name.as_ref().into()))
        {
            builder.insert_with_labels(blank::from_store(quad?).as_ref());
        }
        let graph = match builder.finish() {
            Ok(BuiltGraph::InMemory(graph)) => graph,
            Ok(BuiltGraph::Runs(runs)) => {
                let (written, content) = graph_file::write_runs(&self.home, runs, limit)?;
                return Ok((content, written == version));
            }
            // A graph with triple terms is held in memory, as when its file is opened.
            Err(error) if error.kind() == io::ErrorKind::Unsupported => self.read_graph(&name)?,
            Err(error) => return Err(StoreError::io(&scratch)(error)),
        };
        let is_same = graph_file::restore(&self.home, version, &graph)?;
        Ok((StoredContent::InMemory(graph), is_same))
    }

    /// Returns true if the graph file of a version is present and undamaged.
    #[must_use]
    pub fn has_graph_file(&self, version: &str) -> bool {
        graph_file::verify(&graph_file::path(&self.home, version), version).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        ContentPlace, ContentReader, DatasetOutcome, DumpFile, GraphCounts, LoadOptions, Loader,
        ReadContent, StoredGraph,
    };
    use lodeseek_catalog::{Catalog, Iris};
    use lodeseek_rdf::TripleSink;
    use lodeseek_rdf::dump::FileReport;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use std::fs;
    use std::sync::Arc;

    const CATALOG: &str = r#"
        @prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .
        <http://e.org/d> a dcat:Dataset ; dct:identifier "d" ; dct:title "D" ;
            dcat:distribution [ dcat:downloadURL <one.ttl> ], [ dcat:downloadURL <two.ttl> ] ."#;

    /// A store and its folder, with a dataset of two files.
    struct Loaded {
        folder: tempfile::TempDir,
        store: Store,
        entry: Entry,
    }

    impl Loaded {
        fn new(dumps: &[String; 2], limit: usize, place: ContentPlace) -> Self {
            let folder = tempfile::tempdir().expect("a folder");
            let iris = Iris::new(Iris::DEFAULT_BASE).expect("the default");
            let store = Store::in_memory(&folder.path().join("home"), iris)
                .expect("a store")
                .with_graph_limit(limit);
            fs::write(folder.path().join("catalog.ttl"), CATALOG).expect("written");
            fs::write(folder.path().join("one.ttl"), &dumps[0]).expect("written");
            fs::write(folder.path().join("two.ttl"), &dumps[1]).expect("written");
            let outcome = Self::load(&store, folder.path(), place);
            let loaded = if dumps.iter().all(String::is_empty) {
                DatasetOutcome::MetadataOnly
            } else {
                DatasetOutcome::Loaded
            };
            assert_eq!(outcome, loaded);
            let entry = store.entries().expect("entries").remove(0);
            Self {
                folder,
                store,
                entry,
            }
        }

        fn load(store: &Store, folder: &Path, place: ContentPlace) -> DatasetOutcome {
            let catalog = Catalog::read(&folder.join("catalog.ttl")).expect("a catalogue");
            let options = LoadOptions {
                content: Some(place),
                ..LoadOptions::default()
            };
            Loader::new(store)
                .with_options(options)
                .load(catalog, &|_| ())
                .expect("loaded")
                .datasets[0]
                .outcome
        }

        fn quads(&self) -> BTreeSet<String> {
            let graph = self
                .store
                .iris()
                .graph(&self.entry.dataset.metadata.id, &self.entry.version);
            let quads = self.store.oxigraph().quads_for_pattern(
                None,
                None,
                None,
                Some(graph.as_ref().into()),
            );
            quads
                .map(|quad| quad.expect("a quad").to_string())
                .collect()
        }

        fn triples(&self) -> Vec<String> {
            let id = self.entry.dataset.metadata.id.clone();
            let graph = StoredGraph::Content {
                id,
                version: self.entry.version.clone(),
            };
            let triples = self.store.triples(&graph).expect("opened");
            triples
                .map(|triple| triple.expect("a triple").to_string())
                .collect()
        }
    }

    fn dump() -> impl Strategy<Value = String> {
        let term = || {
            prop_oneof![
                "[a-e]".prop_map(|name| format!("<http://e.org/{name}>")),
                "[a-d]".prop_map(|label| format!("_:{label}"))
            ]
        };
        let number =
            proptest::sample::select(vec!["1", "01", "1.0", "1.00", "\"x\"@en", "\"x\"", "true"])
                .prop_map(str::to_owned);
        let object = prop_oneof![term(), number];
        let line = (term(), "[p-r]", object)
            .prop_map(|(s, p, o)| format!("{s} <http://e.org/{p}> {o} .\n"));
        proptest::collection::vec(line, 1..40).prop_map(|lines| lines.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        /// A graph that exceeds the limit has the same version, files, counts and triples as in memory.
        #[test]
        fn a_large_graph_is_the_same(one in dump(), two in dump(), limit in 1_usize..300) {
            let dumps = [one, two];
            let whole = Loaded::new(&dumps, usize::MAX / 2, ContentPlace::Store);
            let large = Loaded::new(&dumps, limit, ContentPlace::Store);
            prop_assert_eq!(&large.entry.version, &whole.entry.version);
            prop_assert_eq!(large.triples(), whole.triples());
            prop_assert_eq!(large.quads(), whole.quads());
            let counts = |loaded: &Loaded| GraphCounts::read(loaded.store.home(), &loaded.entry.version);
            prop_assert_eq!(counts(&large), counts(&whole));
            let damage = large.store.verify(&|_, _| ()).expect("verified").damage;
            prop_assert!(damage.iter().all(|damage| damage.part != crate::DamagedPart::Content && damage.part != crate::DamagedPart::GraphFile), "{:?}", damage);
            let scratch = large.store.home().join("scratch");
            prop_assert!(!scratch.exists() || fs::read_dir(&scratch).expect("read").count() == 0, "temporary files remain");
        }
    }

    /// Reader that cannot start a worker process.
    #[derive(Debug)]
    struct WithoutWorkers;

    impl ContentReader for WithoutWorkers {
        fn read_file(
            &self,
            _: &DumpFile,
            _: &Path,
            _: &mut dyn TripleSink,
        ) -> io::Result<Vec<FileReport>> {
            Err(io::Error::other("cannot start a worker process"))
        }
    }

    #[test]
    fn errors_of_a_load_name_their_cause() {
        let dumps = [
            "<http://e.org/a> <http://e.org/p> 1, 2, _:b .".to_owned(),
            String::new(),
        ];
        let Loaded { folder, store, .. } = Loaded::new(&dumps, 5, ContentPlace::Store);
        let load = |options: LoadOptions| {
            let catalog = Catalog::read(&folder.path().join("catalog.ttl")).expect("a catalogue");
            Loader::new(&store)
                .with_options(options)
                .load(catalog, &|_| ())
                .expect_err("it fails")
                .to_string()
        };
        let error = load(LoadOptions {
            reader: Arc::new(WithoutWorkers),
            ..LoadOptions::default()
        });
        assert_eq!(
            error,
            "cannot read the files of datasets: cannot start a worker process"
        );
        let scratch = store.home().join("scratch");
        fs::remove_dir_all(&scratch).expect("removed");
        fs::write(&scratch, "a file in place of the folder").expect("written");
        let error = load(LoadOptions::default());
        assert!(
            error.starts_with(scratch.to_str().expect("UTF-8")),
            "{error}"
        );
    }

    #[test]
    fn index_only_content_is_in_files_alone() {
        let dumps = [
            "<http://e.org/a> <http://e.org/p> 1, 2, _:b .".to_owned(),
            "# no triples\n".to_owned(),
        ];
        for limit in [5, usize::MAX / 2] {
            let loaded = Loaded::new(&dumps, limit, ContentPlace::IndexOnly);
            let id = &loaded.entry.dataset.metadata.id;
            assert!(loaded.store.is_index_only(id).expect("read"));
            assert_eq!((loaded.quads().len(), loaded.triples().len()), (0, 3));
            let found = loaded.store.verify(&|_, _| ()).expect("verified");
            assert_eq!(found.triples, 3, "{:?}", found.damage);
            let load = |place| Loaded::load(&loaded.store, loaded.folder.path(), place);
            assert_eq!(load(ContentPlace::IndexOnly), DatasetOutcome::Unchanged);
            assert_eq!(load(ContentPlace::Store), DatasetOutcome::Replaced);
            assert_eq!(
                (
                    loaded.quads().len(),
                    loaded.store.is_index_only(id).expect("read")
                ),
                (3, false)
            );
            assert_eq!(load(ContentPlace::IndexOnly), DatasetOutcome::Replaced);
            assert_eq!(
                (loaded.quads().len(), loaded.triples().len()),
                (0, 3),
                "the store's copy is cleared"
            );
            // A damaged graph file has no copy.
            let path = graph_file::path(loaded.store.home(), &loaded.entry.version);
            fs::write(&path, "damaged").expect("written");
            let error = loaded
                .store
                .open_content(&loaded.entry)
                .expect_err("damaged")
                .to_string();
            assert!(error.contains("the store has no copy of d"), "{error}");
        }
    }

    #[test]
    fn a_damaged_file_of_a_large_graph_is_restored_from_the_store() {
        let none = "# no triples\n".to_owned();
        let exact = [
            "<http://e.org/a> <http://e.org/p> 1, \"x\", _:b .".to_owned(),
            none.clone(),
        ];
        let Loaded {
            folder: _folder,
            store,
            entry,
        } = Loaded::new(&exact, 5, ContentPlace::Store);
        let path = graph_file::path(store.home(), &entry.version);
        let bytes = fs::read(&path).expect("read");
        fs::write(&path, "damaged").expect("written");
        let content = store.open_content(&entry).expect("restored");
        assert!(
            matches!(content, StoredContent::Streamed(_)) && content.len() == 3,
            "{content:?}"
        );
        assert_eq!(fs::read(&path).expect("read"), bytes);
        fs::remove_file(&path).expect("removed");
        assert_eq!(store.restore_files(&entry).expect("restored"), None);
        assert_eq!(fs::read(&path).expect("read"), bytes);
        // The store has the value of a number, and not its lexical form.
        let other = [
            "<http://e.org/a> <http://e.org/p> 01, \"x\", _:b .".to_owned(),
            none,
        ];
        let Loaded {
            folder: _folder,
            store,
            entry,
        } = Loaded::new(&other, 5, ContentPlace::Store);
        let path = graph_file::path(store.home(), &entry.version);
        fs::write(&path, "damaged").expect("written");
        let content = store.open_content(&entry).expect("read");
        assert!(
            matches!(content, StoredContent::Streamed(_)) && content.len() == 3,
            "{content:?}"
        );
        let lost = store
            .restore_files(&entry)
            .expect("read")
            .expect("a lost part");
        assert_eq!(
            (lost.lost, path.exists()),
            (crate::Lost::LexicalForms, false)
        );
        store.clear_replaced(&|_, _| ()).expect("cleared");
        let mut files = fs::read_dir(store.home().join("graphs")).expect("read");
        let is_graph = |path: &Path| path.extension().is_some_and(|suffix| suffix == "graph");
        assert!(
            !files.any(|file| is_graph(&file.expect("read").path())),
            "the file of the other version remains"
        );
    }

    #[test]
    fn content_that_exceeds_memory_is_rejected_without_a_sample() {
        let dumps = [
            "<http://e.org/a> <http://e.org/p> 1, 2, _:b .".to_owned(),
            "# no triples\n".to_owned(),
        ];
        let loaded = Loaded::new(&dumps, 5, ContentPlace::Store);
        let error = loaded
            .store
            .content(&loaded.entry)
            .expect_err("too large")
            .to_string();
        assert!(
            error.contains("the content of d exceeds the memory limit"),
            "{error}"
        );
        let (home, version) = (loaded.store.home(), &loaded.entry.version);
        assert!(crate::read_content_within(home, version, 5).is_err());
        let content = crate::read_content_within(home, version, 1000).expect("read");
        let ReadContent::Complete(graph) = content else {
            panic!("{content:?}")
        };
        assert_eq!(graph.len(), 3);
        loaded
            .store
            .content_folder()
            .write_sample(version, &graph)
            .expect("written");
        let content = crate::read_content_within(home, version, 5).expect("a sample");
        assert!(matches!(content, ReadContent::Sample(_)));
    }
}
