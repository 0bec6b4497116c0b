//! Repair of a home: a damaged store is rebuilt from readable data.
//!
//! The new store is written to a folder of its own, and has its final name only when it is complete. Then two folders are renamed:
//! the old store becomes `store.damaged`, and the new one takes its place. A process killed between these two steps leaves a home without a
//! store. Such a home cannot be opened; [`undo_interrupted_repair`] puts the old store back, so that the repair can be repeated. Killed
//! at any other moment, it leaves the old store or the new one.
//!
//! Sources, in this order:
//!
//! - The catalogue graph of the old store and the statements of its datasets, if they can be read. If it cannot, or if a commit is missing, the descriptions that the
//!   caller recovered, for example from the index, replace those that differ from them.
//! - Content from graph files, which are verified by their names; else from the old store, if it has the expected number of
//!   triples.
//!
//! Profiles and snippets are not copied: the caller indexes all datasets again.

use super::commit_record::CommitRecord;
use super::internal_facts::Fact;
use super::quad_changes::BULK_MEGABYTES;
use super::statements::{self, OwnStatements};
use super::{
    Access, ContentPlace, Entry, GraphCounts, HomeSettings, LoadOptions, Loader,
    MultilingualLabels, Replaced, STORE, Store, StoreError, StoredContent, check_complete,
    check_restoration, counts, empty_version, fingerprint, graph_file, journal, labels, lock_home,
    open_oxigraph, read_settings, rebase, sample,
};
use lodeseek_catalog::{Dataset, DatasetId, dcat};
use lodeseek_rdf::{TripleGraph, TripleGraphBuilder};
use oxrdf::{NamedNode, NamedOrBlankNode, Quad, Term, Triple};
use serde::Serialize;
use std::borrow::Borrow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Dataset with a lost part.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct LostDataset {
    /// Id of the dataset.
    pub id: DatasetId,
    /// Title of the dataset.
    pub title: String,
    /// Source of the dataset, if known: its catalogue, or else its files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The lost part.
    pub lost: Lost,
}

/// Part of a dataset that only a further load can restore.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lost {
    /// All triples. The description remains.
    Content,
    /// Lexical forms of numbers and dates. The store has their values.
    LexicalForms,
    /// Statements of the description that only the catalogue had. The main properties were recovered.
    Description,
    /// The bytes of a file, kept for downloads. The content of the dataset is not affected.
    File,
}

impl LostDataset {
    /// Describes a dataset that lacks a part.
    #[must_use]
    pub fn new(entry: &Entry, lost: Lost) -> Self {
        let metadata = &entry.dataset.metadata;
        let files: Vec<&str> = entry
            .dataset
            .distributions
            .iter()
            .map(|one| one.location.as_str())
            .collect();
        let source = entry.origin.clone().or_else(|| metadata.source.clone());
        Self {
            id: metadata.id.clone(),
            title: metadata.title().to_owned(),
            source: source.or_else(|| (!files.is_empty()).then(|| files.join(", "))),
            lost,
        }
    }
}

/// The new store, until it is complete.
const NEW: &str = "store.new";
/// The complete new store, until it takes the place of the old one.
const COMPLETE: &str = "store.repaired";
/// The old store.
const OLD: &str = "store.damaged";
/// Number of triples from which a batch is loaded into the store.
const MIN_BATCH_TRIPLES: usize = 500_000;

/// Returns true if a repair was killed after it moved the old store away, and before the new one took its place.
fn is_interrupted(home: &Path) -> bool {
    !home.join(STORE).exists() && home.join(COMPLETE).is_dir() && home.join(OLD).is_dir()
}

/// Returns an error if a repair was interrupted, and the home has no store.
pub(super) fn check_replacement(home: &Path) -> Result<(), StoreError> {
    if is_interrupted(home) {
        return Err(StoreError::RepairInterrupted {
            home: home.to_owned(),
        });
    }
    Ok(())
}

/// Puts the damaged store back if a repair was killed while the new one replaced it. Nothing is lost: a further repair reads the same
/// sources, and reports the same losses. Has no effect on other homes.
///
/// # Errors
/// If another process uses the home, another command left it incomplete, or a folder cannot be renamed.
pub fn undo_interrupted_repair(home: &Path) -> Result<(), StoreError> {
    if !is_interrupted(home) {
        return Ok(());
    }
    // A change of the base also renames folders, and has another remedy.
    check_restoration(home)?;
    rebase::check(home)?;
    let _lock = lock_home(home, Access::Write)?;
    // Another process may have repaired the home before this one got the lock.
    if is_interrupted(home) {
        let old = home.join(OLD);
        fs::rename(&old, home.join(STORE)).map_err(StoreError::io(&old))?;
        remove_folder(&home.join(COMPLETE))?;
    }
    Ok(())
}

/// Rebuilds the store of a home. `recovered` contains descriptions and versions from other sources, for a catalogue that cannot be
/// read or lacks commits.
///
/// # Errors
/// If another process uses the home, an earlier repair was [interrupted](undo_interrupted_repair), the settings cannot be read, or a
/// file cannot be written.
pub fn rebuild_store(home: &Path, recovered: &[Entry]) -> Result<Vec<LostDataset>, StoreError> {
    let _lock = lock_home(home, Access::Write)?;
    check_complete(home)?;
    // A missing folder is damage, too. The settings cannot be read without it.
    let present = home.join(STORE);
    fs::create_dir_all(&present).map_err(StoreError::io(&present))?;
    let (record, lost) = write_new_store(home, recovered)?;
    replace_store(home)?;
    // Last: until then, the new store has a higher number than the record, as after any interrupted commit.
    record.write(home)?;
    Ok(lost)
}

/// Writes the new store to the folder of complete ones. Returns its commit record, and the datasets with a lost part. The caller holds
/// the lock.
fn write_new_store(
    home: &Path,
    recovered: &[Entry],
) -> Result<(CommitRecord, Vec<LostDataset>), StoreError> {
    let HomeSettings {
        iris,
        content_place,
        ..
    } = read_settings(home, Access::Read, None)?;
    let base = iris.base().to_owned();
    let record = CommitRecord::read(home).ok().flatten();
    if let Some(record) = &record
        && record.base != base
    {
        let reason = format!(
            "the base is {base}, but the datasets were stored with {}; correct it",
            record.base
        );
        return Err(StoreError::Settings {
            path: home.join("lodeseek.toml"),
            reason,
        });
    }
    let (new, complete) = (home.join(NEW), home.join(COMPLETE));
    // An interrupted repair may have left them.
    remove_folder(&new)?;
    remove_folder(&complete)?;
    let old = open_oxigraph(&home.join(STORE), Access::Read).ok();
    // Neither store has the lock, so that no commit is recorded before the new one is in place.
    let old =
        old.map(|oxigraph| Store::with_parts(home, iris.clone(), oxigraph, Access::Write, None));
    // An unreadable number counts as missing commits: then recovered descriptions have priority.
    let stored = old
        .as_ref()
        .and_then(|old| old.read_commit().ok())
        .unwrap_or(0);
    let recorded = match &record {
        Some(record) => record.commit,
        None => 0,
    };
    let new_oxigraph = open_oxigraph(&new, Access::Write)?;
    let mut store = Store {
        content_place,
        ..Store::with_parts(home, iris, new_oxigraph, Access::Write, None)
    };
    let commits = if stored >= recorded && stored > 0 {
        Commits::All
    } else {
        Commits::SomeMissing
    };
    let (entries, mut lost) = store.copy_catalog(old.as_ref(), commits, recovered)?;
    lost.extend(store.copy_content(&entries, old.as_ref())?);
    let commit = stored.max(recorded) + 1;
    // Before the folders are renamed: without its number, the new store would seem to lack all commits.
    store.reset_commit(commit)?;
    // The folder is renamed below: everything must be in its files by then.
    #[cfg(feature = "rocksdb")]
    store.oxigraph.flush()?;
    // Closed before its name states that it is complete.
    drop((store, old));
    fs::rename(&new, &complete).map_err(StoreError::io(&new))?;
    Ok((CommitRecord { commit, base }, lost))
}

/// Keeps the old store as `store.damaged`, and puts the new one in its place.
fn replace_store(home: &Path) -> Result<(), StoreError> {
    let (present, complete, old) = (home.join(STORE), home.join(COMPLETE), home.join(OLD));
    // That of an earlier repair.
    remove_folder(&old)?;
    fs::rename(&present, &old).map_err(StoreError::io(&present))?;
    fs::rename(&complete, &present).map_err(StoreError::io(&complete))
}

/// Commits that the old store has, compared with the commit record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Commits {
    All,
    SomeMissing,
}

pub(super) fn remove_folder(path: &Path) -> Result<(), StoreError> {
    match fs::remove_dir_all(path) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(StoreError::Io {
            path: path.to_owned(),
            cause,
        }),
        _ => Ok(()),
    }
}

impl Store {
    /// Writes the descriptions of all datasets. Returns their entries, and the datasets whose descriptions were recovered.
    fn copy_catalog(
        &mut self,
        old: Option<&Self>,
        commits: Commits,
        recovered: &[Entry],
    ) -> Result<(Vec<Entry>, Vec<LostDataset>), StoreError> {
        let readable = old.and_then(|old| {
            let (quads, entries) = (old.catalog_quads().ok()?, old.entries().ok()?);
            let statements = old.all_own_statements(&entries).ok()?;
            Some((quads, entries, old.index_only().ok()?, statements))
        });
        let is_readable = readable.is_some();
        let (stored_quads, described, index_only, mut statements) = readable.unwrap_or_default();
        // Without graphs of statements, all descriptions share the statements of the catalogue graph.
        let is_shared = is_readable && old.is_some_and(|old| !old.has_separate_statements);
        let mut entries: BTreeMap<DatasetId, Entry> = BTreeMap::new();
        for entry in described {
            entries.insert(entry.dataset.metadata.id.clone(), entry);
        }
        // The index is written after the store: if commits are missing in the store, the index has the later description.
        let recovered = if is_readable && commits == Commits::All {
            &[]
        } else {
            recovered
        };
        let empty_version = empty_version();
        let mut lost = Vec::new();
        let mut replaced: Vec<Quad> = Vec::new();
        let mut replaced_names: HashSet<String> = HashSet::new();
        for entry in recovered {
            let id = &entry.dataset.metadata.id;
            let present = entries.get(id);
            let is_same = present.is_some_and(|present| {
                present.version == entry.version
                    && present.dataset.metadata == entry.dataset.metadata
            });
            if is_same {
                continue;
            }
            let has_content = entry.version != empty_version;
            let is_index_only = match present {
                Some(_) => index_only.contains(id),
                None => has_content && self.content_place == ContentPlace::IndexOnly,
            };
            let triples = self.description_triples(&entry.dataset);
            statements.insert(
                id.clone(),
                OwnStatements::from_description(&triples, id, &self.iris),
            );
            replaced.extend(
                triples
                    .into_iter()
                    .map(|triple| triple.in_graph(self.iris.catalog())),
            );
            replaced.extend(is_index_only.then(|| self.index_only_quad(id)));
            replaced_names.insert(self.iris.dataset(id).into_string());
            // The index lacks some statements of a description.
            let origin = present.and_then(|present| present.origin.clone());
            let entry = Entry {
                origin,
                ..entry.clone()
            };
            lost.push(LostDataset::new(&entry, Lost::Description));
            entries.insert(id.clone(), entry);
        }
        let entries: Vec<Entry> = entries.into_values().collect();
        if entries.is_empty() && old.is_none() {
            let reason = "neither its catalogue nor its index can be read; restore a backup, or load everything into a new home";
            return Err(StoreError::Damaged {
                home: self.home.clone(),
                reason: reason.to_owned(),
            });
        }
        // All other statements stay as they are, also those that an entry lacks, such as the times of records.
        let graphs = self.datasets_of_graphs(&entries);
        let kept = stored_quads
            .into_iter()
            .filter(|quad| {
                let name = name_without_part(&quad.subject);
                !replaced_names.contains(name) && (is_shared || name.starts_with(self.iris.base()))
            })
            .map(|quad| with_dataset_name(quad, &graphs));
        let pointers = entries
            .iter()
            .map(|entry| self.pointer_quad(&entry.dataset.metadata.id, &entry.version));
        let mut facts = Vec::new();
        for entry in &entries {
            // Facts that cannot be read are made again by the next load; edits are lost.
            let read = old.and_then(|old| old.fact_quads(&entry.dataset.metadata.id).ok());
            let mut read = read.unwrap_or_default();
            // The description may differ from that of the digest.
            read.retain(|quad| quad.predicate != Fact::Description.property());
            facts.append(&mut read);
        }
        let changes = old.and_then(|old| old.change_quads().ok());
        facts.extend(changes.unwrap_or_default());
        self.bulk_load(kept.chain(replaced).chain(pointers).chain(facts))?;
        self.bulk_load(self.statement_quads(&statements).into_iter())?;
        if is_shared {
            self.has_separate_statements = false;
            self.separate_statements()?;
        } else {
            self.bulk_load(std::iter::once(statements::mark(&self.iris)))?;
        }
        Ok((entries, lost))
    }

    fn all_own_statements(
        &self,
        entries: &[Entry],
    ) -> Result<BTreeMap<DatasetId, OwnStatements>, StoreError> {
        let mut statements = BTreeMap::new();
        for entry in entries {
            let id = &entry.dataset.metadata.id;
            statements.insert(id.clone(), self.own_statements(id)?);
        }
        Ok(statements)
    }

    /// Returns the statements of datasets about resources of the web, in their graphs and, each once, in the catalogue graph.
    fn statement_quads(&self, statements: &BTreeMap<DatasetId, OwnStatements>) -> HashSet<Quad> {
        let mut quads = HashSet::new();
        for (id, own) in statements {
            quads.extend(own.quads(id, &self.iris));
            quads.extend(
                own.statements
                    .iter()
                    .map(|triple| triple.clone().in_graph(self.iris.catalog())),
            );
        }
        quads
    }

    /// Returns the dataset of each graph of current content.
    fn datasets_of_graphs(&self, entries: &[Entry]) -> HashMap<Term, NamedNode> {
        let mut datasets = HashMap::new();
        for entry in entries {
            let id = &entry.dataset.metadata.id;
            datasets.insert(
                self.iris.graph(id, &entry.version).into(),
                self.iris.dataset(id),
            );
        }
        datasets
    }

    fn catalog_quads(&self) -> Result<Vec<Quad>, StoreError> {
        let catalog = self.iris.catalog();
        let quads =
            self.oxigraph
                .quads_for_pattern(None, None, None, Some(catalog.as_ref().into()));
        Ok(quads.collect::<Result<_, _>>()?)
    }

    fn description_triples(&self, dataset: &Dataset) -> Vec<Triple> {
        let id = &dataset.metadata.id;
        let mut triples = dcat::to_triples(dataset, &self.iris);
        triples.extend(dcat::content_graph(
            &self.iris.dataset(id),
            self.iris.part(id, "graph"),
        ));
        triples
    }

    pub(super) fn bulk_load(&self, quads: impl Iterator<Item = Quad>) -> Result<(), StoreError> {
        let mut bulk = self.bulk_loader(1, BULK_MEGABYTES);
        bulk.load_quads(quads)?;
        bulk.commit()?;
        Ok(())
    }

    /// Writes the content of all datasets. Lost content becomes empty. Returns the datasets to load again.
    pub(super) fn copy_content(
        &self,
        entries: &[Entry],
        old: Option<&Self>,
    ) -> Result<Vec<LostDataset>, StoreError> {
        let mut lost = Vec::new();
        let mut empty = Vec::new();
        let mut batch = Vec::new();
        let mut triples = 0;
        for entry in entries {
            let (id, version) = (&entry.dataset.metadata.id, &entry.version);
            let is_index_only = self.is_index_only(id)?;
            let content = match self.content_folder.try_open(version) {
                Ok(_) if is_index_only => continue,
                Ok(content) => Some(content),
                Err(_) => old
                    .map(|old| old.whole_content(id, version))
                    .transpose()?
                    .flatten(),
            };
            let graph = match content {
                Some(StoredContent::InMemory(graph)) => graph,
                Some(content @ StoredContent::Streamed(_)) => {
                    let name = self.iris.graph(id, version);
                    let path = graph_file::path(&self.home, version);
                    content.each_part(&path, |part| self.write_graphs(&[(name.clone(), part)]))?;
                    continue;
                }
                None => {
                    lost.push(LostDataset::new(entry, Lost::Content));
                    empty.push((entry.dataset.clone(), TripleGraphBuilder::new().finish()));
                    continue;
                }
            };
            triples += graph.len();
            batch.push((self.iris.graph(id, version), graph));
            if triples >= MIN_BATCH_TRIPLES {
                self.write_graphs(&std::mem::take(&mut batch))?;
                triples = 0;
            }
        }
        self.write_graphs(&batch)?;
        if !empty.is_empty() {
            let options = LoadOptions {
                replaced: Replaced::Kept,
                ..LoadOptions::default()
            };
            Loader::new(self)
                .with_options(options)
                .load_graphs(empty, &|_| ())?;
        }
        Ok(lost)
    }

    fn write_graphs(
        &self,
        graphs: &[(NamedNode, impl Borrow<TripleGraph>)],
    ) -> Result<(), StoreError> {
        let quads = graphs.iter().flat_map(|(name, graph)| {
            let space = super::blank::BlankNodeScope::from_graph(name);
            let graph: &TripleGraph = graph.borrow();
            let triples = graph.triples().iter();
            triples.map(move |&triple| {
                space
                    .to_store(graph.to_triple(triple))
                    .in_graph(name.clone())
            })
        });
        self.bulk_load(quads)
    }

    /// Reads the content of a dataset version, if the store has the expected number of its triples, and restores its graph file.
    fn whole_content(
        &self,
        id: &DatasetId,
        version: &str,
    ) -> Result<Option<StoredContent>, StoreError> {
        let Some(counts) = GraphCounts::read(&self.home, version) else {
            return Ok(None);
        };
        match self.restore_content(id, version) {
            Ok((content, _)) => {
                // With fewer triples, the dataset is reported as lost: a part of it must not count as its content.
                Ok((content.len() == counts.all.triples && !content.is_empty()).then_some(content))
            }
            Err(StoreError::Corruption(_) | StoreError::Oxigraph(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Restores the damaged files of a dataset version: graph file, counts, fingerprint and labels. Returns the dataset if its graph
    /// file cannot be restored exactly.
    pub fn restore_files(&self, entry: &Entry) -> Result<Option<LostDataset>, StoreError> {
        let (id, version) = (&entry.dataset.metadata.id, &entry.version);
        let path = graph_file::path(&self.home, version);
        let mut lost = None;
        if self.content_folder.try_open(version).is_err() {
            if self.is_index_only(id)? {
                return Ok(Some(LostDataset::new(entry, Lost::Content)));
            }
            let (_, is_same) = self.restore_content(id, version)?;
            if !is_same {
                // Readers then take the content from the store.
                remove_file(&path)?;
                lost = Some(LostDataset::new(entry, Lost::LexicalForms));
            }
        }
        if GraphCounts::read(&self.home, version).is_none() {
            remove_file(&counts::path(&self.home, version))?;
            self.counts(id, version)?;
        }
        if fingerprint::read(&self.home, version).is_none() {
            remove_file(&fingerprint::path(&self.home, version))?;
            self.fingerprint(entry)?;
        }
        if labels::read(&self.home, version).is_err() {
            remove_file(&labels::path(&self.home, version))?;
            self.restore_labels(id, version)?;
        }
        Ok(lost)
    }

    /// Extracts the labels of a dataset version from its content or, if that exceeds memory, from its sample, as the indexer does. Without
    /// a sample, the version has no labels until it is indexed again.
    fn restore_labels(&self, id: &DatasetId, version: &str) -> Result<(), StoreError> {
        let graph = match sample::read(&self.home, version) {
            Some(sample) => sample,
            None => match self.open_content_of(id, version)? {
                StoredContent::InMemory(graph) => graph,
                StoredContent::Streamed(_) => return Ok(()),
            },
        };
        labels::write(&self.home, version, &MultilingualLabels::from_graph(&graph))
    }

    /// Removes a damaged list of past loads, which cannot be restored.
    pub fn forget_loads(&self) -> Result<(), StoreError> {
        remove_file(&journal::path(&self.home))
    }
}

/// Returns the IRI of a subject without the fragment that names a part. Blank nodes have an empty one.
fn name_without_part(subject: &NamedOrBlankNode) -> &str {
    match subject {
        NamedOrBlankNode::NamedNode(name) => name.as_str().split('#').next().unwrap_or_default(),
        NamedOrBlankNode::BlankNode(_) => "",
    }
}

/// Names a dataset in place of its graph, which descriptions of earlier versions name.
fn with_dataset_name(quad: Quad, datasets: &HashMap<Term, NamedNode>) -> Quad {
    match datasets.get(&quad.object) {
        Some(dataset) => Quad {
            object: dataset.clone().into(),
            ..quad
        },
        None => quad,
    }
}

/// Returns the folder of the store that [`rebuild_store`] replaced, if there is one.
#[must_use]
pub fn find_damaged_store(home: &Path) -> Option<PathBuf> {
    let path = home.join(OLD);
    path.exists().then_some(path)
}

/// Removes a file, if it exists.
pub(super) fn remove_file(path: &Path) -> Result<(), StoreError> {
    match fs::remove_file(path) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(StoreError::Io {
            path: path.to_owned(),
            cause,
        }),
        _ => Ok(()),
    }
}

#[cfg(all(test, feature = "rocksdb"))]
mod tests {
    use super::*;
    use lodeseek_catalog::Catalog;

    const CATALOG: &str = r#"
        @prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .
        <http://e.org/a> a dcat:Dataset ; dct:identifier "a" ; dcat:distribution [ dcat:downloadURL <a.ttl> ] .
        <http://e.org/b> a dcat:Dataset ; dct:identifier "b" ."#;

    /// Loads two index-only datasets, of which one has content, and returns their entries.
    fn load(folder: &Path, home: &Path) -> Vec<Entry> {
        fs::write(folder.join("catalog.ttl"), CATALOG).expect("written");
        fs::write(folder.join("a.ttl"), "<e:a> <e:p> 1, 2 .").expect("written");
        let store = Store::open(home, Access::Write, None).expect("a home");
        let catalog = Catalog::read(&folder.join("catalog.ttl")).expect("a catalogue");
        let options = LoadOptions {
            content: Some(ContentPlace::IndexOnly),
            ..LoadOptions::default()
        };
        Loader::new(&store)
            .with_options(options)
            .load(catalog, &|_| ())
            .expect("loaded");
        store.entries().expect("entries")
    }

    /// Returns the index-only datasets of a home, and the number of triples of content in its store.
    fn index_only(home: &Path) -> (Vec<String>, usize) {
        let store = Store::open(home, Access::Read, None).expect("repaired");
        let entries = store.entries().expect("entries");
        assert_eq!(entries.len(), 2);
        let graphs = entries
            .iter()
            .map(|entry| store.iris.graph(&entry.dataset.metadata.id, &entry.version));
        let triples = graphs
            .map(|graph| store.read_graph(&graph).expect("read").len())
            .sum();
        (
            store
                .index_only()
                .expect("read")
                .iter()
                .map(ToString::to_string)
                .collect(),
            triples,
        )
    }

    #[test]
    fn index_only_datasets_remain_index_only() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path().join("home");
        let recovered = load(folder.path(), &home);
        let expected = (vec!["a".to_owned()], 0);
        assert!(rebuild_store(&home, &[]).expect("rebuilt").is_empty());
        assert_eq!(index_only(&home), expected, "from the whole store");

        let mut record = CommitRecord::read(&home).expect("read").expect("a record");
        record.commit += 1;
        record.write(&home).expect("written");
        assert!(
            rebuild_store(&home, &recovered)
                .expect("rebuilt")
                .is_empty()
        );
        assert_eq!(
            index_only(&home),
            expected,
            "from a store that lacks a commit"
        );

        let settings = home.join(crate::SETTINGS);
        let text = fs::read_to_string(&settings).expect("read");
        fs::write(&settings, format!("{text}content = \"index-only\"\n")).expect("written");
        fs::remove_dir_all(home.join(STORE)).expect("removed");
        let lost = rebuild_store(&home, &recovered).expect("rebuilt");
        assert!(
            lost.iter().all(|lost| lost.lost == Lost::Description),
            "{lost:?}"
        );
        assert_eq!(index_only(&home), expected, "from recovered descriptions");
    }

    #[test]
    fn statements_that_entries_lack_survive_a_missing_commit() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path().join("home");
        let mut recovered = load(folder.path(), &home);
        let property = NamedNode::new_unchecked(lodeseek_rdf::vocab::lodeseek::SKIPPED_STATEMENTS);
        let ids: Vec<DatasetId> = recovered
            .iter()
            .map(|entry| entry.dataset.metadata.id.clone())
            .collect();
        let store = Store::open(&home, Access::Write, None).expect("a home");
        for id in &ids {
            let count = oxrdf::Literal::from(3);
            let quad = Quad::new(
                store.iris.dataset(id),
                property.clone(),
                count,
                store.iris.catalog(),
            );
            store.oxigraph.insert(&quad).expect("inserted");
        }
        drop(store);
        let mut record = CommitRecord::read(&home).expect("read").expect("a record");
        record.commit += 1;
        record.write(&home).expect("written");
        recovered[1].dataset.metadata.source = Some("http://e.org/changed".to_owned());
        let lost = rebuild_store(&home, &recovered).expect("rebuilt");
        assert_eq!(lost, [LostDataset::new(&recovered[1], Lost::Description)]);
        let store = Store::open(&home, Access::Read, None).expect("repaired");
        let subjects = store
            .oxigraph
            .quads_for_pattern(None, Some(property.as_ref()), None, None);
        let subjects: Vec<NamedOrBlankNode> =
            subjects.map(|quad| quad.expect("read").subject).collect();
        assert_eq!(
            subjects,
            [store.iris.dataset(&ids[0]).into()],
            "the other description is replaced"
        );
    }

    fn is_interruption(error: &StoreError) -> bool {
        matches!(error, StoreError::RepairInterrupted { .. })
    }

    #[test]
    fn a_repair_killed_without_a_store_is_undone() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path().join("home");
        let expected = load(folder.path(), &home);
        undo_interrupted_repair(&home).expect("nothing to undo");
        write_new_store(&home, &[]).expect("written");
        assert_eq!(index_only(&home), (vec!["a".to_owned()], 0));
        // The first of the two steps that replace the store.
        fs::rename(home.join(STORE), home.join(OLD)).expect("renamed");
        for access in [Access::Read, Access::Write] {
            let opened = Store::open(&home, access, None);
            assert!(
                opened.is_err_and(|error| is_interruption(&error)),
                "{access:?}"
            );
        }
        let rebuilt = rebuild_store(&home, &[]).expect_err("no store");
        let verified = crate::verify_home(&home, &|_, _| ()).expect_err("no store");
        let moved = crate::change_base(&home, "http://b.org/").expect_err("no store");
        for error in [rebuilt, verified, moved] {
            assert!(is_interruption(&error), "{error}");
        }
        assert!(!home.join(STORE).exists(), "an empty store hides the loss");

        undo_interrupted_repair(&home).expect("undone");
        assert!(!home.join(COMPLETE).exists() && !home.join(OLD).exists());
        assert!(rebuild_store(&home, &[]).expect("rebuilt").is_empty());
        let store = Store::open(&home, Access::Read, None).expect("repaired");
        assert_eq!(store.entries().expect("entries"), expected);
    }

    #[test]
    fn an_interrupted_change_of_the_base_is_not_undone() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path().join("home");
        load(folder.path(), &home);
        fs::rename(home.join(STORE), home.join("store.old")).expect("renamed");
        for earlier in [OLD, COMPLETE] {
            fs::create_dir(home.join(earlier)).expect("created");
        }
        let mark = r#"{"from":"http://a.org/","to":"http://b.org/","commit":9}"#;
        fs::write(home.join("rebase.json"), mark).expect("written");
        let error = undo_interrupted_repair(&home).expect_err("another command");
        assert!(matches!(error, StoreError::RebaseInterrupted { .. }));
        assert!(!home.join(STORE).exists());
    }

    #[test]
    fn a_new_store_has_the_next_commit_before_it_replaces_the_old_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path().join("home");
        load(folder.path(), &home);
        let before = CommitRecord::read(&home).expect("read").expect("a record");
        let (record, _) = write_new_store(&home, &[]).expect("written");
        assert_eq!(record.commit, before.commit + 1);
        // A process killed here leaves the former record.
        replace_store(&home).expect("replaced");
        let store = Store::open(&home, Access::Read, None).expect("no commit is missing");
        assert_eq!(store.read_commit().expect("read"), record.commit);
    }

    #[test]
    fn labels_are_restored_without_a_graph_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path().join("home");
        let label = "http://www.w3.org/2000/01/rdf-schema#label";
        // The store does not keep the lexical form of the number.
        let dump = format!("<e:a> <{label}> \"lake\"@en, \"See\"@de ; <e:p> 01 .");
        fs::write(folder.path().join("catalog.ttl"), CATALOG).expect("written");
        fs::write(folder.path().join("a.ttl"), dump).expect("written");
        let store = Store::open(&home, Access::Write, None).expect("a home");
        let catalog = Catalog::read(&folder.path().join("catalog.ttl")).expect("a catalogue");
        Loader::new(&store).load(catalog, &|_| ()).expect("loaded");
        let entry = store.entries().expect("entries").remove(0);
        let expected = MultilingualLabels::from_graph(&store.content(&entry).expect("content"));
        assert_eq!(expected.resources.len(), 1);
        for file in [
            labels::path(&home, &entry.version),
            graph_file::path(&home, &entry.version),
        ] {
            fs::write(file, "damaged").expect("written");
        }
        let lost = store.restore_files(&entry).expect("restored");
        assert_eq!(lost, Some(LostDataset::new(&entry, Lost::LexicalForms)));
        let labels = labels::read(&home, &entry.version).expect("read");
        assert_eq!(labels, Some(expected));
    }

    #[test]
    fn lost_content_of_index_only_datasets_is_reported() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path().join("home");
        let entries = load(folder.path(), &home);
        fs::write(graph_file::path(&home, &entries[0].version), "damaged").expect("written");
        let lost = rebuild_store(&home, &[]).expect("rebuilt");
        assert_eq!(lost, [LostDataset::new(&entries[0], Lost::Content)]);
        assert_eq!(index_only(&home), (Vec::new(), 0));
    }
}
