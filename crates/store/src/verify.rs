//! Verification of a home: settings, commit record, store, and the files of dataset versions.

use super::{
    Access, Entry, GraphCounts, SETTINGS, STORE, Store, StoreError, check_complete, check_home,
    commit_record, fingerprint, graph_file, journal,
};
use lodeseek_catalog::DatasetId;
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Part of a home that can be damaged.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DamagedPart {
    /// The settings, `lodeseek.toml`.
    Settings,
    /// The commit record: changes are missing in the store, or the record is damaged.
    Commit,
    /// The complete store: RocksDB cannot read it, or its indexes differ.
    Store,
    /// The description of a dataset in the catalogue graph.
    Description,
    /// The content of a dataset in the store.
    Content,
    /// The graph file of a dataset.
    GraphFile,
    /// A file of a dataset, kept for downloads.
    File,
    /// The counts of a dataset.
    Counts,
    /// The fingerprint of a dataset.
    Fingerprint,
    /// The labels of a dataset in several languages.
    Labels,
    /// The list of past loads, `loads.json`.
    Loads,
    /// The text index.
    Index,
    /// The groups of duplicates, `duplicates.json`.
    Duplicates,
    /// Vectors of an encoder.
    Vectors,
    /// The works that use datasets, `works/works.jsonl`.
    Works,
    /// The results of checked addresses, `quality/reached.json`.
    Quality,
    /// The dictionary of translations, `labels.tsv` or `translations.tsv`.
    Translations,
    /// The tokens of the administration, `tokens.json`.
    Tokens,
    /// The audit log of the administration, `audit.jsonl`.
    Audit,
}

impl DamagedPart {
    /// Returns the name, as in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Settings => "settings",
            Self::Commit => "commit",
            Self::Store => "store",
            Self::Description => "description",
            Self::Content => "content",
            Self::GraphFile => "graph-file",
            Self::File => "file",
            Self::Counts => "counts",
            Self::Fingerprint => "fingerprint",
            Self::Labels => "labels",
            Self::Loads => "loads",
            Self::Index => "index",
            Self::Duplicates => "duplicates",
            Self::Vectors => "vectors",
            Self::Works => "works",
            Self::Quality => "quality",
            Self::Translations => "translations",
            Self::Tokens => "tokens",
            Self::Audit => "audit",
        }
    }

    /// Returns true for the files of a dataset version, which [`Store::restore_files`] makes again.
    #[must_use]
    pub fn is_version_file(self) -> bool {
        matches!(
            self,
            Self::GraphFile | Self::Counts | Self::Fingerprint | Self::Labels
        )
    }

    /// Returns true if the store must be rebuilt.
    #[must_use]
    pub fn is_store(self) -> bool {
        matches!(
            self,
            Self::Commit | Self::Store | Self::Description | Self::Content
        )
    }
}

/// Damage of a home.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Damage {
    /// The damaged part.
    pub part: DamagedPart,
    /// The dataset, if only one is affected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dataset: Option<DatasetId>,
    /// The file or folder.
    pub path: PathBuf,
    /// The problem.
    pub problem: String,
}

impl Damage {
    /// Creates the damage of a file or folder that concerns no single dataset.
    #[must_use]
    pub fn new(part: DamagedPart, path: PathBuf, problem: impl Into<String>) -> Self {
        Self {
            part,
            dataset: None,
            path,
            problem: problem.into(),
        }
    }

    /// Sets the affected dataset.
    #[must_use]
    pub fn with_dataset(self, id: &DatasetId) -> Self {
        Self {
            dataset: Some(id.clone()),
            ..self
        }
    }
}

/// Result of a verification of the store and its files.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Verification {
    /// The damage found.
    pub damage: Vec<Damage>,
    /// Number of datasets whose content was read.
    pub datasets: usize,
    /// Number of triples read in their graphs.
    pub triples: u64,
}

/// Opens a home and verifies it. A store that cannot be opened is damage, not an error. `on_progress` gets the number of
/// datasets read and of all datasets.
///
/// # Errors
/// If there is no home, a change of its base or a repair was interrupted, or another process writes it.
pub fn verify_home(
    home: &Path,
    on_progress: &dyn Fn(usize, usize),
) -> Result<Verification, StoreError> {
    check_complete(home)?;
    // `check_home` would report that there is no home, although its store is lost.
    if home.join(SETTINGS).is_file()
        && !home.join(STORE).is_dir()
        && commit_record::path(home).is_file()
    {
        return Ok(Verification::from(Damage::new(
            DamagedPart::Store,
            home.join(STORE),
            "the folder is missing",
        )));
    }
    check_home(home)?;
    match Store::open_without_check(home, Access::Read, None) {
        Ok(store) => store.verify(on_progress),
        Err(StoreError::Settings { path, reason }) => Ok(Verification::from(Damage::new(
            DamagedPart::Settings,
            path,
            reason,
        ))),
        Err(StoreError::Base(error)) => {
            let path = home.join("lodeseek.toml");
            Ok(Verification::from(Damage::new(
                DamagedPart::Settings,
                path,
                error.to_string(),
            )))
        }
        Err(StoreError::Corruption(problem) | StoreError::Oxigraph(problem)) => Ok(
            Verification::from(Damage::new(DamagedPart::Store, home.join("store"), problem)),
        ),
        Err(error) => Err(error),
    }
}

impl From<Damage> for Verification {
    fn from(damage: Damage) -> Self {
        Self {
            damage: vec![damage],
            ..Self::default()
        }
    }
}

impl Store {
    /// Verifies the store and its files: the commit record, all triples by graph and by property, and for each dataset the number of its
    /// triples, its graph file, counts and fingerprint.
    pub fn verify(&self, on_progress: &dyn Fn(usize, usize)) -> Result<Verification, StoreError> {
        let mut found = Verification::default();
        self.verify_commit(&mut found.damage)?;
        if let Err(error) = journal_damage(self) {
            found.damage.push(error);
        }
        let entries = match self.verify_entries(&mut found.damage) {
            Ok(entries) => entries,
            Err(error) => {
                found.damage.push(self.store_damage(&error));
                return Ok(found);
            }
        };
        for (done, entry) in entries.iter().enumerate() {
            on_progress(done, entries.len());
            found.triples += self.verify_dataset(entry, &mut found.damage);
            found.datasets += 1;
        }
        on_progress(entries.len(), entries.len());
        if !found
            .damage
            .iter()
            .any(|damage| damage.part == DamagedPart::Content)
            && let Err(error) = self.read_all()
        {
            found.damage.push(self.store_damage(&error));
        }
        Ok(found)
    }

    /// Reads all triples in the order of graphs and again in the order of properties. RocksDB compares the checksum of each
    /// block. Oxigraph's own validation does not end if a block is damaged.
    fn read_all(&self) -> Result<(), StoreError> {
        let mut properties = HashSet::new();
        let (mut all, mut by_property) = (0_u64, 0_u64);
        for quad in self.oxigraph.quads_for_pattern(None, None, None, None) {
            properties.insert(quad?.predicate);
            all += 1;
        }
        for property in &properties {
            for quad in self
                .oxigraph
                .quads_for_pattern(None, Some(property.as_ref()), None, None)
            {
                quad?;
                by_property += 1;
            }
        }
        if all != by_property {
            return Err(StoreError::Corruption(format!(
                "{by_property} triples by property instead of {all}"
            )));
        }
        Ok(())
    }

    fn store_damage(&self, error: &StoreError) -> Damage {
        let problem = match error {
            StoreError::Corruption(problem) | StoreError::Oxigraph(problem) => problem.clone(),
            other => other.to_string(),
        };
        Damage::new(DamagedPart::Store, self.home.join("store"), problem)
    }

    fn verify_commit(&self, damage: &mut Vec<Damage>) -> Result<(), StoreError> {
        let path = commit_record::path(&self.home);
        let problem = match self.check_commit() {
            Ok(_) => return Ok(()),
            Err(StoreError::Damaged { reason, .. }) => reason,
            Err(StoreError::DamagedFile { .. }) => "wrong checksum".to_owned(),
            Err(StoreError::Corruption(problem)) => problem,
            Err(error) => return Err(error),
        };
        damage.push(Damage::new(DamagedPart::Commit, path, problem));
        Ok(())
    }

    /// Returns the datasets with a readable description, and adds the others to the damage.
    fn verify_entries(&self, damage: &mut Vec<Damage>) -> Result<Vec<Entry>, StoreError> {
        let entries = self.entries()?;
        for id in self.versions()?.keys() {
            if entries
                .binary_search_by(|entry| entry.dataset.metadata.id.cmp(id))
                .is_err()
            {
                let problem = "its description in the catalogue cannot be read";
                damage.push(
                    Damage::new(DamagedPart::Description, self.home.join("store"), problem)
                        .with_dataset(id),
                );
            }
        }
        let mut known = FxHashMap::default();
        for entry in &entries {
            let id = &entry.dataset.metadata.id;
            if let Some(statement) = self.missing_statement(id, &mut known)? {
                let problem = format!("the catalogue lacks its statement {statement}");
                damage.push(
                    Damage::new(DamagedPart::Description, self.home.join("store"), problem)
                        .with_dataset(id),
                );
            }
        }
        Ok(entries)
    }

    /// Verifies a dataset and returns the number of its triples in the store.
    fn verify_dataset(&self, entry: &Entry, damage: &mut Vec<Damage>) -> u64 {
        let (id, version) = (&entry.dataset.metadata.id, &entry.version);
        let path = graph_file::path(&self.home, version);
        let graph = self.content_folder.try_open(version);
        if let Err(problem) = &graph {
            damage.push(Damage::new(DamagedPart::GraphFile, path, problem).with_dataset(id));
        }
        for file in self.dataset_files(id).unwrap_or_default() {
            if let Err(problem) = self.verify_file(&file) {
                let problem = format!(
                    "{} ({}): {problem}; load it again",
                    file.name, file.location
                );
                damage.push(
                    Damage::new(DamagedPart::File, self.file_path(&file), problem).with_dataset(id),
                );
            }
        }
        let counts = GraphCounts::read(&self.home, version);
        let files = [
            (
                DamagedPart::Counts,
                super::counts::path(&self.home, version),
                counts.is_some(),
            ),
            (
                DamagedPart::Fingerprint,
                fingerprint::path(&self.home, version),
                fingerprint::read(&self.home, version).is_some(),
            ),
            (
                DamagedPart::Labels,
                super::labels::path(&self.home, version),
                super::labels::read(&self.home, version).is_ok(),
            ),
        ];
        for (part, path, is_readable) in files {
            // Missing files are written when they are needed.
            if !is_readable && path.exists() {
                damage.push(Damage::new(part, path, "wrong checksum").with_dataset(id));
            }
        }
        match self.is_index_only(id) {
            // The graph file is the only content.
            Ok(true) => {
                return match graph {
                    Ok(graph) => graph.len(),
                    Err(_) => 0,
                };
            }
            Ok(false) => {}
            Err(error) => {
                damage.push(
                    Damage::new(
                        DamagedPart::Store,
                        self.home.join("store"),
                        error.to_string(),
                    )
                    .with_dataset(id),
                );
                return 0;
            }
        }
        let expected = counts.or_else(|| self.content_folder.count(&graph.ok()?).ok());
        let expected = expected.map(|counts| counts.all.triples);
        let problem = match (self.count_triples(id, version), expected) {
            (Ok(count), Some(expected)) if count != expected => {
                format!("{count} triples instead of {expected}")
            }
            (Ok(count), _) => return count,
            (Err(error), _) => error.to_string(),
        };
        damage.push(
            Damage::new(DamagedPart::Content, self.home.join("store"), problem).with_dataset(id),
        );
        0
    }

    /// Counts the triples of a dataset version in the store by reading them.
    pub(super) fn count_triples(&self, id: &DatasetId, version: &str) -> Result<u64, StoreError> {
        let graph = self.iris.graph(id, version);
        let mut count = 0;
        for quad in self
            .oxigraph
            .quads_for_pattern(None, None, None, Some(graph.as_ref().into()))
        {
            quad?;
            count += 1;
        }
        Ok(count)
    }
}

fn journal_damage(store: &Store) -> Result<(), Damage> {
    match store.past_loads() {
        Ok(_) => Ok(()),
        Err(error) => Err(Damage::new(
            DamagedPart::Loads,
            journal::path(&store.home),
            error.to_string(),
        )),
    }
}
