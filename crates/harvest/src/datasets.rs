//! Processing of listed datasets: ids, change detection, batching and removal of delisted datasets.

use super::digest::hash_of_text;
use super::quarantine::panic_reason;
use super::state::DatasetRecord;
use super::storage::BatchInStorage;
use super::{
    Batch, DelistedPolicy, HarvestError, IdScheme, Run, Source, SourceReport, StoreOutcome,
};
use lodeseek_catalog::{
    Catalog, Dataset, DatasetId, Dialect, Iris, LocalCopy, Problem, dcat, disambiguate_id,
    is_local_key, title_of_key,
};
use lodeseek_net::egress::MAX_IRI_BYTES;
use std::collections::{BTreeMap, BTreeSet};

/// Size of descriptions and described files in bytes at which pending datasets are stored.
const FULL_BATCH_BYTES: u64 = 256 << 20;

/// Maximum number of datasets of a source that wait for its end. Further ones get an id of their own.
const MAX_DEFERRED: usize = 10_000;

/// Datasets of the next batch.
#[derive(Default)]
pub(super) struct PendingDatasets {
    datasets: Vec<Dataset>,
    records: BTreeMap<DatasetId, DatasetRecord>,
    /// Ids by key.
    ids: BTreeMap<String, DatasetId>,
    /// Size of the descriptions and of the described files.
    bytes: u64,
}

impl PendingDatasets {
    /// Returns the id of a pending dataset.
    fn id_of(&self, key: &str) -> Option<&DatasetId> {
        self.ids.get(key)
    }

    fn push(&mut self, dataset: Dataset, record: DatasetRecord, description_bytes: u64) {
        let copies =
            dataset
                .distributions
                .iter()
                .filter_map(|distribution| match &distribution.copy {
                    Some(LocalCopy::File(path)) => path.metadata().ok(),
                    _ => None,
                });
        self.bytes += description_bytes + copies.map(|metadata| metadata.len()).sum::<u64>();
        let id = &dataset.metadata.id;
        self.ids.insert(record.key.clone(), id.clone());
        self.records.insert(id.clone(), record);
        self.datasets.push(dataset);
    }
}

impl Run<'_, '_> {
    /// Processes the datasets of a page.
    pub(super) fn process(
        &mut self,
        source: &mut Source,
        mut catalog: Catalog,
    ) -> Result<(), HarvestError> {
        if self.storage.has_result() {
            // A failure of the sink ends the harvest at once. The outcomes are saved with the next batch or file.
            self.record_stored(source)?;
        }
        source.report.form = Some(catalog.dialect.name().to_owned());
        if catalog.unreadable_entries > 0 {
            source.report.whole = false;
        }
        if catalog.is_incomplete && catalog.dialect != Dialect::Folder {
            self.keep_stored_versions(source, &mut catalog);
        }
        source.report.add_problems(&catalog.problems);
        // The page is known completely: a dataset that is listed twice does not hide others.
        catalog
            .duplicates
            .iter()
            .for_each(|duplicate| source.report.add_failure(duplicate));
        for dataset in catalog.datasets {
            self.process_dataset(source, dataset, source.deferred.len() < MAX_DEFERRED)?;
        }
        self.pages = source.report.pages;
        self.report_progress();
        Ok(())
    }

    /// Removes the stored datasets from a truncated page: what is cut off may belong to any of them.
    fn keep_stored_versions(&mut self, source: &mut Source, catalog: &mut Catalog) {
        let mut stored = Vec::new();
        for dataset in std::mem::take(&mut catalog.datasets) {
            let key = dataset.key();
            let key_in_source = self.key_in_source(source, key.clone());
            if self.fetcher.state.id_of(&key_in_source).is_some() {
                stored.push(key);
            } else {
                catalog.datasets.push(dataset);
            }
        }
        if !stored.is_empty() {
            let problem = format!(
                "a page is truncated: stored descriptions that stay as they are: {}",
                stored.len()
            );
            source.report.add_problems(&[Problem::new(&problem)]);
        }
        self.count_unchanged_records(source, &BTreeMap::from([(String::new(), stored)]));
    }

    /// Processes the datasets of a source that may be changed versions of others, after all others are known.
    pub(super) fn process_deferred_datasets(
        &mut self,
        source: &mut Source,
    ) -> Result<(), HarvestError> {
        for dataset in std::mem::take(&mut source.deferred) {
            self.process_dataset(source, dataset, false)?;
        }
        Ok(())
    }

    /// Processes a dataset. If it may be deferred, one that may be a changed version of another one waits for the end of the source.
    fn process_dataset(
        &mut self,
        source: &mut Source,
        mut dataset: Dataset,
        may_wait: bool,
    ) -> Result<(), HarvestError> {
        let key = self.key_in_source(source, dataset.key());
        if self.seen.contains(&key) {
            self.process_repeated_dataset(source, dataset, &key);
            return Ok(());
        }
        // A page that follows may list the other dataset unchanged: then this one is new, and must not take its id.
        if may_wait && self.edited_versions(source, &key).next().is_some() {
            source.deferred.push(dataset);
            return Ok(());
        }
        if key.len() > MAX_IRI_BYTES {
            source.fail(
                &key,
                format!("the IRI of the dataset has more than {MAX_IRI_BYTES} bytes"),
            );
            return Ok(());
        }
        let Some(id) = self.id_of(source, &dataset, &key) else {
            source.fail(&key, "cannot derive an unused dataset id");
            return Ok(());
        };
        self.seen.insert(key.clone());
        self.taken.insert(id.clone());
        source.report.datasets += 1;
        dataset.set_id(id.clone());
        if is_local_key(&key) {
            self.descriptions
                .insert(key.clone(), fingerprint(&dataset, &[]).0);
        }
        let hashes = self.download(&mut dataset)?;
        let (fingerprint, description_bytes) = fingerprint(&dataset, &hashes);
        let record = DatasetRecord {
            key,
            source: source.address.clone(),
            fingerprint,
        };
        let is_local = !super::is_address(&source.address);
        let is_same = self
            .fetcher
            .state
            .dataset(&id)
            .is_some_and(|before| before.fingerprint == record.fingerprint);
        // Local files are not copied: their descriptions may be the same although their content has changed.
        if is_same && !is_local && self.harvester.options.existing_ids.contains(&id) {
            self.report.unchanged += 1;
            self.fetcher.state.set_dataset(id, record);
            return Ok(());
        }
        self.enqueue(source, dataset, record, description_bytes)
    }

    /// Returns the key of a dataset of a source. An identifier that another source has, too, gets the address of this source.
    pub(super) fn key_in_source(&self, source: &Source, key: String) -> String {
        if !is_local_key(&key) {
            return key;
        }
        let state = &self.fetcher.state;
        let own_key = format!("{key}\n{}", source.address);
        let owner = state.id_of(&key).and_then(|id| state.dataset(id));
        let is_of_other = owner.is_some_and(|record| {
            record.source != source.address && self.sources.contains(&record.source)
        });
        if is_of_other || state.id_of(&own_key).is_some() {
            own_key
        } else {
            key
        }
    }

    /// Counts a dataset that was listed before. Another entry with the same identifier is a failure.
    fn process_repeated_dataset(&mut self, source: &mut Source, mut dataset: Dataset, key: &str) {
        source.report.repeated += 1;
        let Some(first) = self.descriptions.get(key) else {
            return;
        };
        let title = dataset.metadata.title().to_owned();
        let stored = self.fetcher.state.id_of(key);
        // Equal ids, so that the comparison of descriptions does not depend on them.
        if let Some(id) = stored.or_else(|| self.pending.id_of(key)) {
            dataset.set_id(id.clone());
        }
        if fingerprint(&dataset, &[]).0 != *first {
            let reason = format!(
                "dataset {}: listed twice: an entry of an earlier page has this identifier, too; the later entry {title:?} was left \
                 out",
                dataset.metadata.id
            );
            source.report.add_failure(&reason);
        }
    }

    /// Returns the id of a dataset: the id of earlier harvests, else the first unused candidate. Candidates are the id in the
    /// catalogue, the prefixed id, and both with a hash of the key.
    fn id_of(&self, source: &Source, dataset: &Dataset, key: &str) -> Option<DatasetId> {
        let (state, declared_id) = (&self.fetcher.state, &dataset.metadata.id);
        if let Some(id) = state.id_of(key) {
            return Some(id.clone());
        }
        if let Some(id) = self.edited_id(source, dataset, key) {
            return Some(id);
        }

        let prefixed = DatasetId::from_text(&format!("{}-{declared_id}", self.harvester.name));
        let plain =
            Some(declared_id.clone()).filter(|_| self.harvester.options.ids == IdScheme::Original);
        let marked = [
            disambiguate_id(declared_id, key).filter(|_| plain.is_some()),
            prefixed.as_ref().and_then(|id| disambiguate_id(id, key)),
        ];
        let own = plain
            .as_ref()
            .is_some_and(|id| !state.is_used_elsewhere(id));
        let [first, second] = marked;
        let candidates = if own {
            [plain, first, prefixed, second]
        } else {
            [prefixed, second, None, None]
        };
        candidates
            .into_iter()
            .flatten()
            .find(|id| self.is_available(id, key))
    }

    /// Returns the id that an earlier harvest gave a dataset under another key: that of an earlier version of lodeseek, or that of
    /// an entry with neither IRI nor identifier whose content has changed.
    fn edited_id(&self, source: &Source, dataset: &Dataset, key: &str) -> Option<DatasetId> {
        let state = &self.fetcher.state;
        let earlier = dataset.earlier_key().and_then(|key| state.id_of(&key));
        if let Some(id) = earlier.filter(|id| !self.taken.contains(*id)) {
            return Some(id.clone());
        }
        // A part that was not read may list the other dataset.
        if !source.report.whole {
            return None;
        }
        self.edited_versions(source, key).next().cloned()
    }

    /// Returns the ids of datasets of a source that are not listed in this run, of which a new key may be a changed version: both
    /// have neither IRI nor identifier, and the same title.
    fn edited_versions<'s>(
        &'s self,
        source: &'s Source,
        key: &'s str,
    ) -> impl Iterator<Item = &'s DatasetId> {
        let state = &self.fetcher.state;
        let title = title_of_key(key).filter(|_| state.id_of(key).is_none());
        title
            .into_iter()
            .flat_map(|title| state.ids_with_title(title))
            .filter(|(other, id)| {
                let is_of_source = state
                    .dataset(id)
                    .is_some_and(|record| record.source == source.address);
                is_of_source && !self.seen.contains(*other) && !self.taken.contains(*id)
            })
            .map(|(_, id)| id)
    }

    /// Returns true if no other dataset uses an id. Ids of the home that no harvest assigned are never reused.
    fn is_available(&self, id: &DatasetId, key: &str) -> bool {
        let state = &self.fetcher.state;
        let is_taken = match state.dataset(id) {
            Some(record) => record.key != key,
            None => self.harvester.options.existing_ids.contains(id),
        };
        !is_taken && !state.is_used_elsewhere(id) && !self.taken.contains(id)
    }

    fn enqueue(
        &mut self,
        source: &mut Source,
        dataset: Dataset,
        record: DatasetRecord,
        description_bytes: u64,
    ) -> Result<(), HarvestError> {
        let content = content_of(std::iter::once(&record));
        let is_suspect = self
            .fetcher
            .state
            .quarantine
            .is_suspect(dataset.metadata.id.as_str(), &content);
        if is_suspect {
            // It is stored alone, so the datasets before it go first.
            self.flush(source)?;
        }
        self.pending.push(dataset, record, description_bytes);
        let is_full = is_suspect
            || self.pending.datasets.len() >= self.harvester.options.batch_size
            || self.pending.bytes >= FULL_BATCH_BYTES;
        if is_full { self.flush(source) } else { Ok(()) }
    }

    /// Starts storing the pending datasets once the previous batch is stored. The fingerprint is recorded only for datasets that were
    /// stored.
    pub(super) fn flush(&mut self, source: &mut Source) -> Result<(), HarvestError> {
        if self.pending.datasets.is_empty() {
            return self.finish_storing(source);
        }
        self.record_stored(source)?;
        let PendingDatasets {
            datasets, records, ..
        } = std::mem::take(&mut self.pending);
        // Recorded before they are stored: after an interruption, the next harvest recognises the datasets as its own and
        // stores them again.
        let known: BTreeSet<DatasetId> = records
            .keys()
            .filter(|id| self.fetcher.state.dataset(id).is_some())
            .cloned()
            .collect();
        for (id, record) in &records {
            self.fetcher.state.set_dataset(
                id.clone(),
                DatasetRecord {
                    fingerprint: String::new(),
                    ..record.clone()
                },
            );
        }
        self.fetcher.state.save()?;
        let ids: BTreeSet<String> = records.keys().map(ToString::to_string).collect();
        let what = match ids.first() {
            Some(only) if ids.len() == 1 => format!("dataset {only}"),
            _ => format!("{} datasets", ids.len()),
        };
        let content = content_of(records.values());
        let batch = Batch {
            source: source.address.clone(),
            folder: source.folder.clone(),
            datasets,
        };
        let quarantine = &mut self.fetcher.state.quarantine;
        if let Some(reason) = quarantine.begin_storing(&what, &content, ids)? {
            source.fail(&what, reason);
            return Ok(());
        }
        let is_cautious = quarantine.is_cautious();
        let description = BatchInStorage {
            what,
            records,
            known,
        };
        self.storage.begin(batch, description)?;
        if is_cautious {
            // One step at a time: if the process ends again, the record names the step at fault.
            self.finish_storing(source)
        } else {
            Ok(())
        }
    }

    /// Waits for the batch in storage, and saves its outcomes.
    pub(super) fn finish_storing(&mut self, source: &mut Source) -> Result<(), HarvestError> {
        if self.record_stored(source)? {
            self.fetcher.state.save()?;
        }
        Ok(())
    }

    /// Waits for the batch in storage, and records its outcomes, without saving them. Returns true if there are any.
    fn record_stored(&mut self, source: &mut Source) -> Result<bool, HarvestError> {
        let Some((batch, result)) = self.storage.wait()? else {
            return Ok(false);
        };
        let BatchInStorage {
            what,
            mut records,
            known,
        } = batch;
        self.fetcher.state.quarantine.end_storing()?;
        let stored = match result {
            Ok(stored) => stored.map_err(HarvestError::Store)?,
            Err(panic) => {
                source.fail(&what, panic_reason(&what, "stored", &*panic));
                return Ok(false);
            }
        };
        for (id, outcome) in stored {
            let Some(record) = records.remove(&id) else {
                continue;
            };
            let was_known = known.contains(&id);
            match outcome {
                StoreOutcome::Unchanged => self.report.unchanged += 1,
                StoreOutcome::Stored | StoreOutcome::Incomplete if was_known => {
                    self.report.changed.push(id.clone())
                }
                StoreOutcome::Stored | StoreOutcome::Incomplete => self.report.new.push(id.clone()),
                StoreOutcome::Retained => self.report.kept.push(id.clone()),
                StoreOutcome::Conflict => {
                    let reason = "another change added a dataset with this id during the harvest; it is not replaced, and the \
                                  next harvest uses another id";
                    source.fail(&format!("dataset {id}"), reason);
                    // The id belongs to the other dataset now. Without a record, the next harvest chooses another one.
                    self.fetcher.state.remove_datasets(&[id]);
                    continue;
                }
            }
            // After another outcome the fingerprint stays empty, so that the next harvest stores the dataset again.
            if matches!(outcome, StoreOutcome::Stored | StoreOutcome::Unchanged) {
                self.fetcher.state.set_dataset(id, record);
            }
        }
        Ok(true)
    }

    /// Removes the datasets that a source no longer lists, if it was read completely.
    pub(super) fn remove_delisted_datasets(
        &mut self,
        report: &mut SourceReport,
    ) -> Result<(), HarvestError> {
        let mut gone = self.fetcher.state.datasets_of_source(&report.source);
        gone.retain(|id| !self.taken.contains(id));
        // An empty list is taken for a fault of the source, and not for the end of all its datasets.
        if !gone.is_empty() && report.datasets == 0 && report.repeated == 0 {
            report.fail(
                &report.source.clone(),
                "the source lists no dataset, so none of its datasets is removed",
            );
        }
        if report.whole
            && self.harvester.options.delisted == DelistedPolicy::Remove
            && !gone.is_empty()
        {
            // First from the home: if the process ends between, the next harvest removes them again.
            self.storage.remove(&gone)?;
            self.fetcher.state.remove_datasets(&gone);
            self.fetcher.state.save()?;
            report.removed = true;
        }
        report.gone = gone;
        Ok(())
    }
}

/// Returns the hash by which the content of datasets that are stored together is quarantined.
fn content_of<'r>(records: impl Iterator<Item = &'r DatasetRecord>) -> String {
    let fingerprints: Vec<&str> = records.map(|record| record.fingerprint.as_str()).collect();
    hash_of_text(&fingerprints.join("\n"))
}

/// Returns a digest of a dataset's description and files, and the size of the description in bytes. Neither depends on the base
/// of the home's IRIs.
fn fingerprint(dataset: &Dataset, hashes: &[String]) -> (String, u64) {
    let mut lines: Vec<String> = dcat::to_triples(dataset, &Iris::default())
        .iter()
        .map(ToString::to_string)
        .collect();
    lines.sort_unstable();
    lines.extend(hashes.iter().cloned());
    // A file that is missing now and present later, or the reverse, is a change.
    let missing = dataset
        .distributions
        .iter()
        .filter(|one| matches!(one.copy, Some(LocalCopy::Missing(_))));
    lines.push(missing.count().to_string());
    let text = lines.join("\n");
    (hash_of_text(&text), text.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_catalog::{Metadata, Text};

    #[test]
    fn pending_descriptions_are_counted() {
        let mut pending = PendingDatasets::default();
        for (id, length) in [("a", 5_000), ("b", 70_000)] {
            let id = DatasetId::new(id).expect("an id");
            let descriptions = vec![Text::plain("x".repeat(length))];
            let dataset = Dataset::new(Metadata {
                descriptions,
                ..Metadata::new(id)
            });
            let (fingerprint, bytes) = fingerprint(&dataset, &[]);
            let record = DatasetRecord {
                key: "key".to_owned(),
                source: "source".to_owned(),
                fingerprint,
            };
            pending.push(dataset, record, bytes);
        }
        assert!(
            (75_000..100_000).contains(&pending.bytes),
            "{}",
            pending.bytes
        );
        assert_eq!(pending.datasets.len(), 2);
    }

    #[test]
    fn pending_datasets_are_found_by_their_keys() {
        let mut pending = PendingDatasets::default();
        for id in ["a", "b"] {
            let dataset = Dataset::new(Metadata::new(DatasetId::new(id).expect("an id")));
            let record = DatasetRecord {
                key: format!("identifier:{id}"),
                source: "source".to_owned(),
                fingerprint: String::new(),
            };
            pending.push(dataset, record, 0);
        }
        let id = pending.id_of("identifier:b").map(DatasetId::as_str);
        assert_eq!(id, Some("b"));
        assert_eq!(pending.id_of("identifier:c"), None);
    }
}
