//! State of a collection: its datasets, and its size and freshness.

use super::indexer::{Examined, ExaminedDataset};
use super::translations::read_translations;
use super::works::count_works;
use super::{AnalysisKind, CoverageSource, EngineError, Searcher, index_folder, list_vectors};
use lodeseek_catalog::{DatasetId, plain_text};
use lodeseek_index::vectors::Precision;
use lodeseek_store::{Entry, Store};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

/// Relation of a dataset in the store to the index.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IndexState {
    /// The index contains its current content and description.
    Indexed,
    /// The index contains an earlier content or description.
    Outdated,
    /// The index does not contain it: searches do not find it.
    NotIndexed,
}

impl IndexState {
    /// Returns the name, as in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Indexed => "indexed",
            Self::Outdated => "outdated",
            Self::NotIndexed => "not-indexed",
        }
    }
}

/// A dataset of the store and its state.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CollectionDataset {
    /// Its id.
    pub id: DatasetId,
    /// Its title.
    pub title: String,
    /// Number of its triples in the store.
    pub triples: u64,
    /// Its relation to the index.
    pub state: IndexState,
    /// Time of the last change of its description (`xsd:dateTime`), if recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modified: Option<String>,
    /// Source of its description, if it was harvested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
}

/// Lists the datasets of a store by id, with their states. Without an index, every dataset is not indexed.
///
/// Descriptions that are those of the last complete run of the indexer are not read: the run kept their titles.
///
/// # Errors
/// If the store or the index cannot be read.
pub fn list_datasets(store: &Store) -> Result<Vec<CollectionDataset>, EngineError> {
    let searcher = open_index(store.home())?;
    let last_run = match &searcher {
        Some(searcher) => Some(LastRun::read(store, searcher)?),
        None => None,
    };
    let mut modified = store.records()?;
    let mut origins = store.origins()?;
    let mut datasets = Vec::new();
    for (id, version) in store.versions()? {
        let known = match &last_run {
            Some(run) => run.title(&id, &version),
            None => None,
        };
        let (title, state) = if let Some(title) = known {
            (title.to_owned(), IndexState::Indexed)
        } else {
            // Without a description it is not in the catalogue.
            let Some(entry) = store.read_entry(&id, version.clone())? else {
                continue;
            };
            let title = plain_text(entry.dataset.metadata.title()).into_owned();
            (title, index_state(&entry, searcher.as_ref())?)
        };
        datasets.push(CollectionDataset {
            title,
            triples: store.counts(&id, &version)?.all.triples,
            state,
            modified: modified.remove(&id),
            origin: origins.remove(&id),
            id,
        });
    }
    Ok(datasets)
}

/// The findings of the last complete run of the indexer, and the present versions of the store and the index.
struct LastRun {
    examined: BTreeMap<DatasetId, ExaminedDataset>,
    digests: BTreeMap<DatasetId, String>,
    documents: BTreeMap<DatasetId, String>,
}

impl LastRun {
    fn read(store: &Store, searcher: &Searcher) -> Result<Self, EngineError> {
        Ok(Self {
            examined: Examined::read_any(store.home()),
            digests: store.description_digests()?,
            documents: searcher.catalog().document_versions()?,
        })
    }

    /// Returns the title of a dataset if neither its description nor its content nor its document changed since.
    fn title(&self, id: &DatasetId, content: &str) -> Option<&str> {
        let examined = self.examined.get(id)?;
        let is_current = examined.is_unchanged(content, self.digests.get(id))
            && self.documents.get(id) == Some(&examined.document);
        examined.title.as_deref().filter(|_| is_current)
    }
}

/// Opens the index of a home, or returns `None` if there is none yet.
fn open_index(home: &Path) -> Result<Option<Searcher>, EngineError> {
    if has_index(home) {
        Ok(Some(Searcher::open(home)?))
    } else {
        Ok(None)
    }
}

/// Returns true if a home has an index, which may be outdated or unusable.
#[must_use]
pub fn has_index(home: &Path) -> bool {
    index_folder(home).join("meta.json").exists()
}

/// Returns the state of a dataset. `searcher` reads the index, if there is one.
fn index_state(entry: &Entry, searcher: Option<&Searcher>) -> Result<IndexState, EngineError> {
    let Some(searcher) = searcher else {
        return Ok(IndexState::NotIndexed);
    };
    Ok(match searcher.catalog().card(&entry.dataset.metadata.id)? {
        None => IndexState::NotIndexed,
        Some(card) if card.is_current(entry)? => IndexState::Indexed,
        Some(_) => IndexState::Outdated,
    })
}

/// State of a collection at a glance.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CollectionStatus {
    /// Base of all IRIs.
    pub base: String,
    /// Number of datasets in the store.
    pub datasets: u64,
    /// Number of their triples.
    pub triples: u64,
    /// Number of datasets without a triple.
    pub without_content: u64,
    /// State of the index; `None` if there is no index.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<IndexStatus>,
    /// The dictionary that translates queries; `None` if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub translations: Option<TranslationStatus>,
    /// Stored vectors, one entry for each model.
    pub vectors: Vec<VectorStatus>,
    /// Number of works that use datasets.
    #[serde(default)]
    pub works: u64,
    /// Time of the last change of a description (`xsd:dateTime`), if recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modified: Option<String>,
    /// Size of each part of the home in bytes, by file or folder name.
    pub bytes: BTreeMap<String, u64>,
}

/// State of the dictionary that translates queries.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TranslationStatus {
    /// The languages of the collection, into which queries are translated, as BCP 47 tags.
    pub into: Vec<String>,
    /// Number of languages from which queries are translated.
    pub languages: usize,
    /// Number of expressions with translations.
    pub expressions: u64,
}

/// State of an index.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IndexStatus {
    /// The kind of text analysis.
    pub analysis: AnalysisKind,
    /// Number of datasets in the index.
    pub datasets: u64,
    /// Number of datasets of the store whose entry is of an earlier content or description.
    pub outdated: u64,
    /// Number of datasets of the store without an entry.
    pub not_indexed: u64,
    /// Number of entries whose dataset the store no longer has.
    pub removed: u64,
    /// Numbers of datasets with an area.
    #[serde(default)]
    pub places: CoverageCounts,
    /// Numbers of datasets with a period.
    #[serde(default)]
    pub periods: CoverageCounts,
}

/// Numbers of datasets with an area or a period, by its origin.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct CoverageCounts {
    /// The description declares it.
    pub metadata: u64,
    /// It was derived from the content.
    pub content: u64,
}

impl CoverageCounts {
    fn add(&mut self, source: Option<CoverageSource>) {
        match source {
            Some(CoverageSource::Metadata) => self.metadata += 1,
            Some(CoverageSource::Content) => self.content += 1,
            None => {}
        }
    }
}

impl IndexStatus {
    /// Returns true if `index` would change no entry because of a dataset.
    #[must_use]
    pub fn is_up_to_date(&self) -> bool {
        self.outdated + self.not_indexed + self.removed == 0
    }
}

/// State of the vectors of a model.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VectorStatus {
    /// Name of the model, or of the folder if its description cannot be read.
    pub model: String,
    /// Number of columns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns: Option<usize>,
    /// Number format.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision: Option<Precision>,
    /// Number of indexed datasets without vectors of their current texts.
    pub missing: usize,
    /// Size in bytes.
    pub bytes: u64,
    /// Reason why the description cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Returns the state of the dictionary of a home. `None` if it has none.
fn translation_status(home: &Path) -> Result<Option<TranslationStatus>, EngineError> {
    let Some(translations) = read_translations(home)? else {
        return Ok(None);
    };
    let sources = translations.sources();
    Ok(Some(TranslationStatus {
        into: translations.targets().map(str::to_owned).collect(),
        languages: sources.len(),
        expressions: sources.iter().map(|(_, number)| *number as u64).sum(),
    }))
}

fn count_in_state(datasets: &[CollectionDataset], state: IndexState) -> u64 {
    datasets
        .iter()
        .filter(|dataset| dataset.state == state)
        .count() as u64
}

/// Returns the state of a collection.
pub fn collection_status(store: &Store) -> Result<CollectionStatus, EngineError> {
    let datasets = list_datasets(store)?;
    let index = match open_index(store.home())? {
        None => None,
        Some(searcher) => {
            let entries = searcher.catalog().len()?;
            let outdated = count_in_state(&datasets, IndexState::Outdated);
            let not_indexed = count_in_state(&datasets, IndexState::NotIndexed);
            let in_both = datasets.len() as u64 - not_indexed;
            let analysis = searcher.catalog().analysis()?;
            let removed = entries.saturating_sub(in_both);
            let [places, periods] = coverage_counts(&searcher)?;
            Some(IndexStatus {
                analysis,
                datasets: entries,
                outdated,
                not_indexed,
                removed,
                places,
                periods,
            })
        }
    };
    Ok(CollectionStatus {
        base: store.iris().base().to_owned(),
        datasets: datasets.len() as u64,
        triples: datasets.iter().map(|dataset| dataset.triples).sum(),
        without_content: datasets
            .iter()
            .filter(|dataset| dataset.triples == 0)
            .count() as u64,
        translations: translation_status(store.home())?,
        vectors: if index.is_some() {
            vector_states(store.home())?
        } else {
            Vec::new()
        },
        index,
        works: count_works(store.home())? as u64,
        modified: datasets
            .iter()
            .filter_map(|dataset| dataset.modified.clone())
            .max(),
        bytes: measure_sizes(store.home()).map_err(EngineError::io(store.home()))?,
    })
}

/// Counts the datasets of an index with an area, and those with a period.
fn coverage_counts(searcher: &Searcher) -> Result<[CoverageCounts; 2], EngineError> {
    let mut counts = [CoverageCounts::default(); 2];
    searcher.catalog().visit_coverage(|coverage| {
        counts[0].add(coverage.place.map(|place| place.source));
        counts[1].add(coverage.period.map(|period| period.source));
    })?;
    Ok(counts)
}

fn vector_states(home: &Path) -> Result<Vec<VectorStatus>, EngineError> {
    let mut states = Vec::new();
    for (stored, missing) in list_vectors(home)? {
        let folder = stored
            .folder
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let (description, problem) = match stored.description {
            Ok(description) => (Some(description), None),
            Err(problem) => (None, Some(problem)),
        };
        states.push(VectorStatus {
            columns: description.as_ref().map(|description| description.columns),
            precision: description
                .as_ref()
                .map(|description| description.precision),
            model: match description {
                Some(description) => description.model,
                None => folder,
            },
            missing,
            bytes: stored.bytes,
            problem,
        });
    }
    Ok(states)
}

/// Returns the size of each file and folder of a home, by name.
fn measure_sizes(home: &Path) -> io::Result<BTreeMap<String, u64>> {
    let mut sizes = BTreeMap::new();
    for entry in fs::read_dir(home)? {
        let entry = entry?;
        sizes.insert(
            entry.file_name().to_string_lossy().into_owned(),
            measure_size(&entry.path())?,
        );
    }
    Ok(sizes)
}

/// Returns the size of a file, or of all files of a folder. Files that another process removes meanwhile count 0.
fn measure_size(path: &Path) -> io::Result<u64> {
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(error),
    };
    if !metadata.is_dir() {
        return Ok(metadata.len());
    }
    let mut sum = 0;
    for entry in fs::read_dir(path)? {
        sum += measure_size(&entry?.path())?;
    }
    Ok(sum)
}

/// Maximum number of ids suggested in place of an unknown one.
const MAX_SUGGESTIONS: usize = 3;
/// Minimum similarity (Jaro-Winkler) of a suggested id.
const MIN_ID_SIMILARITY: f64 = 0.75;

/// Returns the ids most similar to an unknown one, the most similar first, for messages.
#[must_use]
pub fn similar_ids<'i>(
    unknown: &str,
    ids: impl IntoIterator<Item = &'i DatasetId>,
) -> Vec<&'i DatasetId> {
    let unknown = unknown.to_lowercase();
    let mut scored = Vec::new();
    for id in ids {
        let other = id.as_str().to_lowercase();
        let is_long = unknown.len().min(other.len()) > 2;
        let is_part = is_long && (other.contains(&unknown) || unknown.contains(&other));
        let similarity = strsim::jaro_winkler(&unknown, &other);
        if is_part || similarity >= MIN_ID_SIMILARITY {
            scored.push((similarity, id));
        }
    }
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    scored
        .into_iter()
        .take(MAX_SUGGESTIONS)
        .map(|(_, id)| id)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{IndexOptions, Indexer};
    use lodeseek_catalog::{Dataset, Iris, Metadata, Text};
    use lodeseek_rdf::TripleGraphBuilder;
    use lodeseek_store::Loader;
    use oxrdf::{Literal, NamedNodeRef, TripleRef};

    fn id(name: &str) -> DatasetId {
        DatasetId::new(name).expect("an id")
    }

    fn load(store: &Store, datasets: &[(&str, &str)]) {
        for (name, text) in datasets {
            load_titled(store, &[(name, name)], text);
        }
    }

    fn load_titled(store: &Store, datasets: &[(&str, &str)], text: &str) {
        let mut graphs = Vec::new();
        for (name, title) in datasets {
            let metadata = Metadata {
                titles: vec![Text::plain(*title)],
                ..Metadata::new(id(name))
            };
            let mut builder = TripleGraphBuilder::new();
            let literal = Literal::from(text);
            let node = NamedNodeRef::new_unchecked("http://e.org/s");
            builder.insert(TripleRef::new(node, node, &literal));
            graphs.push((Dataset::new(metadata), builder.finish()));
        }
        Loader::new(store)
            .load_graphs(graphs, &|_| ())
            .expect("loaded");
    }

    fn states(store: &Store) -> Vec<(String, u64, IndexState)> {
        let datasets = list_datasets(store).expect("listed");
        datasets
            .into_iter()
            .map(|dataset| (dataset.title, dataset.triples, dataset.state))
            .collect()
    }

    #[test]
    fn datasets_are_listed_with_their_state() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::in_memory(
            folder.path(),
            Iris::new(Iris::DEFAULT_BASE).expect("a base"),
        )
        .expect("a store");
        load(&store, &[("a", "one"), ("b", "two")]);
        let not_indexed = |name: &str| (name.to_owned(), 1, IndexState::NotIndexed);
        assert_eq!(states(&store), [not_indexed("a"), not_indexed("b")]);
        assert_eq!(collection_status(&store).expect("a status").index, None);
        Indexer::new(&store, IndexOptions::default())
            .run(&|_| ())
            .expect("indexed");
        load(&store, &[("b", "three"), ("c", "four")]);
        let expected = [
            ("a".to_owned(), 1, IndexState::Indexed),
            ("b".to_owned(), 1, IndexState::Outdated),
            not_indexed("c"),
        ];
        assert_eq!(states(&store), expected);
        store.remove(&[id("a")]).expect("removed");
        let status = collection_status(&store).expect("a status");
        assert_eq!(
            (status.datasets, status.triples, status.without_content),
            (2, 2, 0)
        );
        let index = status.index.expect("an index");
        assert_eq!(
            (
                index.datasets,
                index.outdated,
                index.not_indexed,
                index.removed
            ),
            (2, 1, 1, 1)
        );
        assert!(!index.is_up_to_date() && status.bytes["index"] > 0);
    }

    #[test]
    fn descriptions_of_the_last_run_are_not_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let iris = Iris::new(Iris::DEFAULT_BASE).expect("a base");
        let store = Store::in_memory(folder.path(), iris).expect("a store");
        load_titled(&store, &[("a", "one"), ("b", "two")], "text");
        let indexer = Indexer::new(&store, IndexOptions::default());
        indexer.run(&|_| ()).expect("indexed");
        let node = store.iris().dataset(&id("a"));
        let quads = store
            .oxigraph()
            .quads_for_pattern(Some(node.as_ref().into()), None, None, None)
            .collect::<Result<Vec<_>, _>>()
            .expect("read");
        for quad in quads.iter().filter(|quad| quad.object.is_literal()) {
            if quad.predicate.as_str() == lodeseek_rdf::vocab::dcterms::TITLE {
                store.oxigraph().remove(quad).expect("removed");
            }
        }
        let indexed = |name: &str| (name.to_owned(), 1, IndexState::Indexed);
        assert_eq!(states(&store), [indexed("one"), indexed("two")]);

        // The index of an update is that of no complete run.
        load_titled(&store, &[("b", "three")], "text");
        indexer.update(&[id("b")], &[]).expect("indexed");
        assert_eq!(states(&store), [indexed("one"), indexed("three")]);
        load_titled(&store, &[("b", "two")], "text");
        let outdated = ("two".to_owned(), 1, IndexState::Outdated);
        assert_eq!(states(&store), [indexed("one"), outdated]);
    }

    #[test]
    fn similar_ids_are_suggested() {
        let ids = ["air-quality", "street-trees", "air-traffic", "soils"].map(id);
        let named = |unknown| {
            similar_ids(unknown, &ids)
                .into_iter()
                .map(DatasetId::as_str)
                .collect::<Vec<_>>()
        };
        assert_eq!(named("air-qualty")[0], "air-quality");
        assert_eq!(named("Trees"), ["street-trees"]);
        assert_eq!(named("zzz"), Vec::<&str>::new());
        let short = [id("1")];
        assert!(
            similar_ids("ds1", &short).is_empty(),
            "one character in common is no similarity"
        );
    }
}
