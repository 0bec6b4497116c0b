//! Verification and repair of a home: store, graph files, index, duplicates, vectors, and results of checked addresses.

use super::{
    AnalysisKind, Card, EngineError, IndexOptions, Indexer, Searcher, Updater, duplicates,
    index_folder, vectors_folder,
};
use crate::indexer::compact_method_of;
use crate::quality::{read_url_checks, url_checks_path};
use crate::translations::{
    DictionaryFile, read_dictionary, remove_translations, update_own_translations,
};
use lodeseek_catalog::{Dataset, DatasetId};
use lodeseek_index::vectors::{self, Vectors};
use lodeseek_index::{self as index, Analysis, Index, IndexError};
use lodeseek_snippet::Method;
use lodeseek_store::{
    Access, Damage, DamagedPart, Entry, LoadOptions, Lost, LostDataset, Store, Verification,
    find_damaged_store, read_works, rebuild_store, undo_interrupted_repair, verify_home,
    works_folder, works_path,
};
use oxsdatatypes::DateTime;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Report of a verification.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct IntegrityReport {
    /// The damage found; empty if the home is sound.
    pub damage: Vec<Damage>,
    /// Number of datasets whose content was read from the store.
    pub datasets: usize,
    /// Number of triples read.
    pub triples: u64,
    /// Number of index files compared with their checksums.
    pub index_files: usize,
    /// Number of datasets and works whose vectors were compared with their checksums, summed over models.
    pub vectors: usize,
}

impl IntegrityReport {
    /// Returns true if no damage was found.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.damage.is_empty()
    }
}

/// Verifies everything in a home. `on_progress` gets the number of datasets read and of all datasets.
///
/// # Errors
/// If there is no home, or another process writes it.
pub fn verify(
    home: &Path,
    on_progress: &dyn Fn(usize, usize),
) -> Result<IntegrityReport, EngineError> {
    verify_files(home, verify_home(home, on_progress)?)
}

/// Verifies everything in the home of an open store.
pub fn verify_open(
    store: &Store,
    on_progress: &dyn Fn(usize, usize),
) -> Result<IntegrityReport, EngineError> {
    verify_files(store.home(), store.verify(on_progress)?)
}

fn verify_files(home: &Path, verification: Verification) -> Result<IntegrityReport, EngineError> {
    let Verification {
        damage,
        datasets,
        triples,
    } = verification;
    let mut report = IntegrityReport {
        damage,
        datasets,
        triples,
        ..IntegrityReport::default()
    };
    verify_index(home, &mut report)?;
    if let Err(error) = duplicates::check(home) {
        let path = duplicates::path(home);
        report.damage.push(Damage::new(
            DamagedPart::Duplicates,
            path,
            error.to_string(),
        ));
    }
    if let Err(error) = read_works(home) {
        report.damage.push(Damage::new(
            DamagedPart::Works,
            works_path(home),
            error.to_string(),
        ));
    }
    for folder in [vectors_folder(home), works_folder(home)] {
        verify_vectors(&folder, &mut report)?;
    }
    if let Err(error) = read_url_checks(home) {
        report.damage.push(Damage::new(
            DamagedPart::Quality,
            url_checks_path(home),
            error.to_string(),
        ));
    }
    for file in DictionaryFile::ALL {
        if let Err(error) = read_dictionary(home, file) {
            let path = file.path(home);
            report.damage.push(Damage::new(
                DamagedPart::Translations,
                path,
                error.to_string(),
            ));
        }
    }
    Ok(report)
}

fn verify_index(home: &Path, report: &mut IntegrityReport) -> Result<(), EngineError> {
    let folder = index_folder(home);
    if !folder.exists() {
        return Ok(());
    }
    let damaged = match index::verify(&folder) {
        Ok((damaged, files)) => {
            report.index_files = files;
            damaged
        }
        Err(IndexError::Missing(_)) => {
            let problem = "meta.json is missing";
            report
                .damage
                .push(Damage::new(DamagedPart::Index, folder, problem));
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    };
    let is_sound = damaged.is_empty();
    for file in damaged {
        report
            .damage
            .push(Damage::new(DamagedPart::Index, file.path, file.problem));
    }
    // Cards are read only if the files are sound: damaged ones are named already.
    if is_sound && let Err(error) = read_cards(home) {
        report
            .damage
            .push(Damage::new(DamagedPart::Index, folder, error.to_string()));
    }
    Ok(())
}

/// Reads the cards and texts of all datasets in the index.
fn read_cards(home: &Path) -> Result<Vec<Card>, EngineError> {
    let searcher = Searcher::open(home)?;
    let mut cards = Vec::new();
    for id in searcher.catalog().ids()? {
        searcher.catalog().compact_document(&id)?;
        cards.extend(searcher.catalog().card(&id)?);
    }
    Ok(cards)
}

fn verify_vectors(folder: &Path, report: &mut IntegrityReport) -> Result<(), EngineError> {
    for stored in vectors::list(folder)? {
        // An interrupted first encoding leaves nothing that could be damaged. The next one begins again.
        if !stored.is_committed {
            continue;
        }
        let snapshot = match &stored.description {
            Ok(description) => Vectors::open(&stored.folder, &description.fingerprint)
                .and_then(|one| one.snapshot()),
            Err(problem) => {
                report.damage.push(Damage::new(
                    DamagedPart::Vectors,
                    stored.folder.clone(),
                    problem,
                ));
                continue;
            }
        };
        match snapshot {
            Err(error) => report.damage.push(Damage::new(
                DamagedPart::Vectors,
                stored.folder,
                error.to_string(),
            )),
            Ok(snapshot) => {
                report.vectors += snapshot.len();
                for id in snapshot.find_damaged_datasets() {
                    let problem = "wrong checksum";
                    let damage = Damage::new(DamagedPart::Vectors, stored.folder.clone(), problem);
                    report.damage.push(damage.with_dataset(&id));
                }
            }
        }
    }
    Ok(())
}

/// Report of a repair.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RepairReport {
    /// The damage found before.
    pub found: Vec<Damage>,
    /// The damage that remains.
    pub remaining: Vec<Damage>,
    /// Datasets that must be loaded again, since a part of them is lost.
    pub load_again: Vec<LostDataset>,
    /// If true, commits are missing, and the index could not be used to complete them: all sources must be loaded again.
    pub lost_commits: bool,
    /// Number of datasets indexed again.
    pub indexed: usize,
    /// Folders whose vectors must be encoded again by `index` with the encoder.
    pub encode_again: Vec<PathBuf>,
    /// The damaged list of works, if it was set aside: the lists must be loaded again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost_works: Option<PathBuf>,
    /// If true, the damaged dictionary of the operator's files was removed: it must be created again.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub lost_translations: bool,
    /// Folder of the damaged store, if it was replaced. It can be deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaced_store: Option<PathBuf>,
}

/// Repairs a home: what can be derived is made again, the rest is listed in the report. `analysis` is that of a new index if
/// that of the damaged one cannot be read. `now` is recorded as the time of new snippets.
///
/// # Errors
/// If another process uses the home, or a file cannot be written. An interrupted repair can be repeated.
pub fn repair(
    home: &Path,
    analysis: AnalysisKind,
    now: Option<DateTime>,
    on_progress: &dyn Fn(usize, usize),
) -> Result<RepairReport, EngineError> {
    undo_interrupted_repair(home)?;
    let found = verify(home, on_progress)?.damage;
    let mut report = RepairReport {
        found,
        ..RepairReport::default()
    };
    let parts: BTreeSet<DamagedPart> = report.found.iter().map(|damage| damage.part).collect();
    // Without settings, the base is unknown, and with it the meaning of all IRIs.
    if parts.is_empty() || parts.contains(&DamagedPart::Settings) {
        report.remaining.clone_from(&report.found);
        return Ok(report);
    }
    // Read before the damaged index is removed.
    let analysis = index::read_analysis(&index_folder(home)).unwrap_or(analysis);
    let is_store = parts.iter().any(|part| part.is_store());
    if is_store {
        let recovered = recovered_entries(home);
        report.lost_commits = parts.contains(&DamagedPart::Commit) && recovered.is_empty();
        report.load_again = rebuild_store(home, &recovered)?;
        report.replaced_store = find_damaged_store(home);
    }
    let store = Store::open(home, Access::Write, None)?;
    restore_files(&store, &mut report)?;
    list_lost_files(&store, &mut report)?;
    if parts.contains(&DamagedPart::Loads) {
        store.forget_loads()?;
    }
    if parts.contains(&DamagedPart::Works) {
        report.lost_works = Some(store.set_works_aside()?);
    }
    if parts.contains(&DamagedPart::Quality) {
        remove_folder(&home.join("quality"))?;
    }
    if parts.contains(&DamagedPart::Translations) {
        if read_dictionary(home, DictionaryFile::Operator).is_err() {
            report.lost_translations = remove_translations(home, DictionaryFile::Operator)?;
        }
        update_own_translations(&store, &Analysis::new(analysis))?;
    }
    if parts.contains(&DamagedPart::Index) {
        remove_folder(&index_folder(home))?;
    }
    let had_index = parts.contains(&DamagedPart::Index) || index_folder(home).exists();
    if had_index && (is_store || parts.contains(&DamagedPart::Index)) {
        // This finds the duplicates, too.
        report.indexed = index_again(&store, analysis, now)?;
    } else if parts.contains(&DamagedPart::Duplicates) {
        Updater::new(&store, LoadOptions::default(), IndexOptions::default()).find_duplicates()?;
    }
    // Closed, because `verify` opens the home again.
    drop(store);
    repair_vectors(&mut report)?;
    report.remaining = verify(home, on_progress)?.damage;
    Ok(report)
}

/// Returns the descriptions and versions of the datasets in the index, or none if it cannot be read.
fn recovered_entries(home: &Path) -> Vec<Entry> {
    let cards = read_cards(home).unwrap_or_default();
    let mut entries = Vec::with_capacity(cards.len());
    for card in cards {
        entries.push(Entry {
            dataset: Dataset {
                distributions: card.distributions,
                remote: card.remote,
                ..Dataset::new(card.metadata)
            },
            version: card.version,
            origin: None,
        });
    }
    entries
}

/// Restores the graph files, counts, fingerprints and labels of the damaged datasets.
fn restore_files(store: &Store, report: &mut RepairReport) -> Result<(), EngineError> {
    for entry in find_damaged_entries(store, report, DamagedPart::is_version_file)? {
        report.load_again.extend(store.restore_files(&entry)?);
    }
    Ok(())
}

/// Lists the datasets with damaged files for downloads, of which the home has no copy. Loading a dataset writes its files again.
fn list_lost_files(store: &Store, report: &mut RepairReport) -> Result<(), EngineError> {
    for entry in find_damaged_entries(store, report, |part| part == DamagedPart::File)? {
        report.load_again.push(LostDataset::new(&entry, Lost::File));
    }
    Ok(())
}

/// Returns the datasets of the store with some damaged parts, except those that must be loaded again anyway.
fn find_damaged_entries(
    store: &Store,
    report: &RepairReport,
    is_affected: fn(DamagedPart) -> bool,
) -> Result<Vec<Entry>, EngineError> {
    let mut ids: BTreeSet<&DatasetId> = BTreeSet::new();
    for damage in &report.found {
        if is_affected(damage.part) {
            ids.extend(damage.dataset.as_ref());
        }
    }
    for lost in &report.load_again {
        ids.remove(&lost.id);
    }
    let stored = store.ids()?;
    let mut entries = Vec::new();
    for id in ids {
        if stored.binary_search(id).is_ok() {
            entries.push(store.entry(id)?);
        }
    }
    Ok(entries)
}

fn index_again(
    store: &Store,
    analysis: AnalysisKind,
    now: Option<DateTime>,
) -> Result<usize, EngineError> {
    let options = IndexOptions {
        rebuild: true,
        analysis: Some(analysis),
        now,
        ..IndexOptions::default()
    };
    Ok(Indexer::new(store, options).run(&|_| ())?.indexed)
}

/// Removes damaged vectors, so that the next encoding makes them again.
fn repair_vectors(report: &mut RepairReport) -> Result<(), EngineError> {
    let damaged = report
        .found
        .iter()
        .filter(|damage| damage.part == DamagedPart::Vectors);
    let folders: BTreeSet<PathBuf> = damaged.map(|damage| damage.path.clone()).collect();
    for folder in folders {
        vectors::remove_damaged_vectors(&folder)?;
        report.encode_again.push(folder);
    }
    Ok(())
}

/// Removes a folder with its content, if it exists.
pub(super) fn remove_folder(path: &Path) -> Result<(), EngineError> {
    match fs::remove_dir_all(path) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(EngineError::io(path)(cause)),
        _ => Ok(()),
    }
}

/// Returns true if the index of a home cannot be used: it is damaged, or of another version.
#[must_use]
pub fn has_unusable_index(home: &Path) -> bool {
    let folder = index_folder(home);
    if index::verify(&folder).is_ok_and(|(damaged, _)| !damaged.is_empty()) {
        return true;
    }
    let snapshot = Index::open(&folder).and_then(|index| index.snapshot());
    matches!(
        snapshot.map(|_| ()),
        Err(IndexError::OtherVersion(_) | IndexError::OtherAnalysis(_) | IndexError::Damaged(_))
    )
}

/// An index that an earlier version created, without some columns of this version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IncompleteIndex {
    /// The missing ability, as in “it cannot search literals”.
    pub inability: &'static str,
    /// The method that ranked the triples for encoders, if the index has a dataset.
    pub compact_method: Option<Method>,
}

/// Returns a description of the index of a home if it lacks fields of this version: for names, literals, or areas and
/// periods. It serves all other searches; only a new index has the fields. Returns `None` if there is no readable index.
#[must_use]
pub fn incomplete_index(home: &Path) -> Option<IncompleteIndex> {
    let snapshot = Index::open(&index_folder(home))
        .and_then(|index| index.snapshot())
        .ok()?;
    let abilities = (
        snapshot.has_coverage(),
        snapshot.has_literals(),
        snapshot.has_names(),
    );
    let inability = match abilities {
        (_, _, true) => return None,
        (_, true, false) => "find datasets by their exact names",
        (true, false, false) => "search literals or find datasets by their exact names",
        (false, false, false) => {
            "search literals, find datasets by their exact names, or filter by place or period"
        }
    };
    Some(IncompleteIndex {
        inability,
        compact_method: compact_method_of(&snapshot).ok().flatten(),
    })
}
