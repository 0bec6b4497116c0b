//! The indexed datasets of a home: ids, cards, numeric facts, duplicates and properties of the whole index.

use super::card::{read_card, read_coverage};
use super::duplicates::{DuplicateCache, DuplicateGroups, references};
use super::order::OrderKeyCache;
use super::table_overlap::{RelatedTables, related_tables};
use super::translations::{DictionaryFile, read_translations};
use super::{
    AnalysisKind, Card, Coverage, DatasetReference, DuplicateMode, EngineError, Facet,
    NumericFacts, RelatedDatasets, RelatedEdition, encoding, index_folder,
};
use lodeseek_catalog::DatasetId;
use lodeseek_catalog::duplicates::Duplicates;
use lodeseek_catalog::editions::{self, EditionRelation};
use lodeseek_index::document::{CompactDocument, Field};
use lodeseek_index::{AnalyzedQuery, Index, IndexError, Snapshot, StatisticsLevel};
use lodeseek_store::{self as store, StoreError};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// Maximum number of editions of a dataset that are read and ordered.
const MAX_EDITIONS: usize = 100;

/// The indexed datasets of a home. Returned by [`Searcher::catalog`](super::Searcher::catalog).
pub struct IndexedCatalog {
    home: PathBuf,
    index: Index,
    duplicates: DuplicateCache,
    pub(super) order_keys: OrderKeyCache,
    /// The stamps of the files of the dictionary when they were read.
    dictionary: Mutex<[Option<FileStamp>; 2]>,
}

/// Time of the last change of a file, and its size in bytes.
type FileStamp = (SystemTime, u64);

/// Returns the stamp of a file. `None` if it does not exist.
fn file_stamp(path: &Path) -> Option<FileStamp> {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

impl IndexedCatalog {
    pub(super) fn open(home: &Path) -> Result<Self, EngineError> {
        store::check_complete(home)?;
        let index = Index::open(&index_folder(home)).map_err(|error| match error {
            // `IndexError::Missing` advises to run `index`, which would then advise to run `load`.
            IndexError::Missing(_) if !store::is_home(home) => StoreError::NoHome {
                home: home.to_owned(),
            }
            .into(),
            other => EngineError::from(other),
        })?;
        let catalog = Self {
            home: home.to_owned(),
            index,
            duplicates: DuplicateCache::default(),
            order_keys: OrderKeyCache::default(),
            dictionary: Mutex::default(),
        };
        catalog.refresh_translations()?;
        Ok(catalog)
    }

    /// Reads the dictionary, if one of its files changed.
    fn refresh_translations(&self) -> Result<(), EngineError> {
        let mut current = self
            .dictionary
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        // Before the files are read: one that changes meanwhile is read again.
        let stamps = DictionaryFile::ALL.map(|file| file_stamp(&file.path(&self.home)));
        if *current != stamps {
            self.index.set_translations(read_translations(&self.home)?);
            *current = stamps;
        }
        Ok(())
    }

    /// Returns the folder of the home.
    #[must_use]
    pub fn home(&self) -> &Path {
        &self.home
    }

    pub(super) fn snapshot(&self) -> Result<Arc<Snapshot>, EngineError> {
        self.refresh_translations()?;
        Ok(self.index.snapshot()?)
    }

    /// Reloads the index and prepares the statistics that the next search needs.
    pub(super) fn refresh(&self) -> Result<(), EngineError> {
        self.index.refresh()?;
        self.snapshot()?;
        Ok(())
    }

    /// Returns the groups of duplicates found when the index was last made.
    pub(super) fn duplicate_groups(&self) -> Result<Arc<DuplicateGroups>, EngineError> {
        self.duplicates.read(&self.home)
    }

    /// Returns the groups of duplicates that a mode merges: none for [`DuplicateMode::All`].
    pub(super) fn duplicate_groups_for(
        &self,
        mode: DuplicateMode,
    ) -> Result<Arc<DuplicateGroups>, EngineError> {
        match mode {
            DuplicateMode::All => Ok(Arc::default()),
            DuplicateMode::Grouped => self.duplicate_groups(),
        }
    }

    /// Returns the ids of all datasets, in ascending order.
    pub fn ids(&self) -> Result<Vec<DatasetId>, EngineError> {
        Ok(self.snapshot()?.versions()?.into_keys().collect())
    }

    /// Returns the version of every dataset's document.
    pub(super) fn document_versions(&self) -> Result<BTreeMap<DatasetId, String>, EngineError> {
        Ok(self.snapshot()?.versions()?)
    }

    /// Returns the card of a dataset. `None` if the index has no such dataset.
    pub fn card(&self, id: &DatasetId) -> Result<Option<Card>, EngineError> {
        read_card(&*self.snapshot()?, id)
    }

    /// Passes the area and the period of every dataset to a function, in no particular order.
    pub(super) fn visit_coverage(
        &self,
        mut visit: impl FnMut(Coverage),
    ) -> Result<(), EngineError> {
        self.snapshot()?.visit_cards(|bytes| {
            visit(read_coverage(bytes)?);
            Ok(())
        })
    }

    /// Returns the year and popularity of a dataset. `None` if the index has no such dataset.
    ///
    /// Reads no card, so it is cheap enough for every candidate of a query.
    pub fn numeric_facts(&self, id: &DatasetId) -> Result<Option<NumericFacts>, EngineError> {
        Ok(self.snapshot()?.numeric_facts(id)?)
    }

    /// Returns the values of a facet that a dataset has. None if the index has no such dataset.
    pub fn facet_values(&self, id: &DatasetId, facet: Facet) -> Result<Vec<String>, EngineError> {
        Ok(self.snapshot()?.facet_values(id, facet)?)
    }

    /// Returns true if datasets can be filtered by area and period. An index of an earlier version has neither.
    pub fn has_coverage(&self) -> Result<bool, EngineError> {
        Ok(self.snapshot()?.has_coverage())
    }

    /// Returns the first and the last year of the periods that datasets cover; at most `most` years before the last.
    /// `None` if no period is known.
    pub fn covered_years(&self, most: i32) -> Result<Option<(i32, i32)>, EngineError> {
        Ok(self.snapshot()?.covered_years(most))
    }

    /// Returns the texts of a dataset that encoders read. `None` if the index has no such dataset.
    pub fn compact_document(&self, id: &DatasetId) -> Result<Option<CompactDocument>, EngineError> {
        encoding::read_compact_document(&*self.snapshot()?, id)
    }

    /// Returns the groups of duplicates and of editions found when the index was last made.
    pub fn duplicates(&self) -> Result<Duplicates, EngineError> {
        Ok(self.duplicate_groups()?.duplicates.clone())
    }

    /// Returns the same dataset under other ids, and its other editions. `None` if the index has no such dataset.
    pub fn related_datasets(&self, id: &DatasetId) -> Result<Option<RelatedDatasets>, EngineError> {
        let snapshot = self.snapshot()?;
        let groups = self.duplicate_groups()?;
        let Some(card) = read_card(&snapshot, id)? else {
            return Ok(None);
        };
        let all_editions = groups.editions(id);
        let mut cards = vec![card];
        for other in all_editions
            .iter()
            .filter(|other| *other != id)
            .take(MAX_EDITIONS)
        {
            cards.extend(read_card(&snapshot, other)?);
        }
        // The dataset itself is one of the editions.
        let more_editions = all_editions.len().saturating_sub(MAX_EDITIONS + 1);
        Ok(Some(RelatedDatasets {
            duplicates: references(groups.others(id), &snapshot)?,
            reasons: groups.reasons(id),
            editions: related_editions(&cards, more_editions == 0),
            more_editions,
            tables: self.related_tables(&snapshot, id)?,
        }))
    }

    /// Returns the datasets whose tables overlap with those of a dataset, without its duplicates.
    pub(super) fn related_tables(
        &self,
        snapshot: &Snapshot,
        id: &DatasetId,
    ) -> Result<Vec<RelatedTables>, EngineError> {
        let groups = self.duplicate_groups()?;
        let duplicates: Vec<&DatasetId> = groups.others(id).collect();
        related_tables(snapshot, id, |other| duplicates.contains(&other))
    }

    /// Returns the number of datasets in the index.
    pub fn len(&self) -> Result<u64, EngineError> {
        Ok(self.snapshot()?.len())
    }

    /// Returns true if the index is empty.
    pub fn is_empty(&self) -> Result<bool, EngineError> {
        Ok(self.snapshot()?.is_empty())
    }

    /// Returns the number of tokens in all fields of all datasets.
    pub fn tokens(&self) -> Result<u64, EngineError> {
        let query = AnalyzedQuery::default();
        let statistics =
            self.snapshot()?
                .collection_statistics(&query, &[], StatisticsLevel::Documents)?;
        Ok(statistics.fields.iter().map(|field| field.tokens).sum())
    }

    /// Returns the kind of text analysis that made the tokens of the index.
    pub fn analysis(&self) -> Result<AnalysisKind, EngineError> {
        Ok(self.snapshot()?.analysis().kind())
    }

    /// Returns the names of the methods that ranked the triples for encoders.
    ///
    /// There is one name, or several if indexing with another method was interrupted.
    pub fn compact_methods(&self) -> Result<BTreeSet<String>, EngineError> {
        let snapshot = self.snapshot()?;
        let mut methods = BTreeSet::new();
        for id in snapshot.versions()?.into_keys() {
            methods.extend(read_card(&snapshot, &id)?.map(|card| card.compact_method));
        }
        Ok(methods)
    }

    /// Returns the number of datasets with content: at least one triple beside their descriptions.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub fn with_content(&self) -> Result<u64, EngineError> {
        let snapshot = self.snapshot()?;
        let mut found = 0;
        for id in snapshot.versions()?.into_keys() {
            found +=
                u64::from(read_card(&snapshot, &id)?.is_some_and(|card| card.profile.triples > 0));
        }
        Ok(found)
    }

    /// Returns true if a dataset of the index has content: a class, a property, an entity or a text beside its description.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub fn has_content(&self) -> Result<bool, EngineError> {
        let fields = [Field::Property, Field::Class, Field::Entity, Field::Literal];
        let query = AnalyzedQuery::default();
        let statistics =
            self.snapshot()?
                .collection_statistics(&query, &fields, StatisticsLevel::Documents)?;
        Ok(fields
            .iter()
            .any(|field| statistics.fields[field.index()].documents > 0))
    }

    /// Returns the number of datasets with a word as written, in lower case. 0 in an index of an earlier version; removed datasets count until the next merge.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub fn written_frequency(&self, word: &str) -> Result<u64, EngineError> {
        Ok(self.snapshot()?.written_frequency(word)?)
    }

    /// Returns a number that changes with every commit to the index.
    pub fn generation(&self) -> Result<u64, EngineError> {
        Ok(self.snapshot()?.generation())
    }

    /// Returns a SHA-256 hash, in hexadecimal, of the ids and versions of all datasets in the index.
    ///
    /// Indexes with equal fingerprints must give equal rankings.
    pub fn fingerprint(&self) -> Result<String, EngineError> {
        use sha2::{Digest, Sha256};
        let mut hasher = Sha256::new();
        for (id, version) in self.snapshot()?.versions()? {
            hasher.update(format!("{id} {version}\n"));
        }
        Ok(hasher
            .finalize()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect())
    }
}

/// Returns the relations of other editions to the first card, ordered by title, then id.
///
/// If the list of editions is incomplete, no order in time is derived from their titles.
fn related_editions(cards: &[Card], is_complete: bool) -> Vec<RelatedEdition> {
    let titles: Vec<&str> = cards.iter().map(|card| card.metadata.title()).collect();
    // Which edition follows which is unknown without all of them.
    let relations = if is_complete {
        editions::relations(&titles, 0)
    } else {
        vec![EditionRelation::Other; titles.len()]
    };
    let mut related: Vec<RelatedEdition> = Vec::new();
    for (card, edition) in cards.iter().zip(relations).skip(1) {
        related.push(RelatedEdition {
            edition,
            dataset: DatasetReference::from_card(card),
        });
    }
    related
        .sort_by(|a, b| (&a.dataset.title, &a.dataset.id).cmp(&(&b.dataset.title, &b.dataset.id)));
    related
}
