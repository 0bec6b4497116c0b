//! Datasets on their way into the home: their ids, what changed of them, and what is gone.

use super::state::{DatasetRecord, hash_of_text};
use super::{Batch, DelistedPolicy, HarvestError, IdScheme, Run, Source, SourceReport, StoreOutcome};
use lodeseek_catalog::{Catalog, Dataset, DatasetId, Iris, LocalCopy, dcat, disambiguate_id};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of files after which the datasets that wait are handed over.
const BATCH_BYTES: u64 = 256 << 20;
/// Problems listed of one source.
const PROBLEMS: usize = 1000;

/// Datasets that wait to be stored.
#[derive(Default)]
pub(super) struct PendingDatasets {
    datasets: Vec<Dataset>,
    known: BTreeMap<DatasetId, DatasetRecord>,
    bytes: u64,
}

impl Run<'_, '_> {
    /// Takes what a page lists.
    pub(super) fn take(&mut self, source: &mut Source, catalog: Catalog) -> Result<(), HarvestError> {
        source.report.form = Some(catalog.dialect.name());
        if catalog.unreadable_entries > 0 {
            source.report.whole = false;
        }
        let room = PROBLEMS.saturating_sub(source.report.problems.len());
        source.report.problems.extend(catalog.problems.into_iter().take(room));
        for dataset in catalog.datasets {
            self.dataset(source, dataset)?;
        }
        self.report_progress();
        Ok(())
    }

    fn dataset(&mut self, source: &mut Source, mut dataset: Dataset) -> Result<(), HarvestError> {
        let key = dataset.metadata.source.clone().unwrap_or_else(|| format!("id:{}", dataset.metadata.id));
        if self.seen.contains(&key) {
            source.report.repeated += 1;
            return Ok(());
        }
        let Some(id) = self.id_of(&key, &dataset.metadata.id) else {
            source.fail(&key, "no id can be made for it that is not another's");
            return Ok(());
        };
        self.seen.insert(key.clone());
        self.taken.insert(id.clone());
        source.report.datasets += 1;
        dataset.metadata.id = id.clone();
        let hashes = self.download(&mut dataset)?;
        let fingerprint = fingerprint(&dataset, &hashes);
        let known = DatasetRecord { key, source: source.address.clone(), fingerprint };
        let is_local = !super::is_address(&source.address);
        let is_same = self.fetcher.state.dataset(&id).is_some_and(|before| before.fingerprint == known.fingerprint);
        if is_same && !is_local && self.harvester.options.existing_ids.contains(&id) {
            self.report.unchanged += 1;
            self.fetcher.state.set_dataset(id, known);
            return Ok(());
        }
        self.wait(source, dataset, known)
    }

    /// The id that a dataset has, or gets: the same as before; what the catalogue gives where nobody else has it.
    fn id_of(&self, key: &str, given: &DatasetId) -> Option<DatasetId> {
        let state = &self.fetcher.state;
        if let Some(id) = state.id_of(key) {
            return Some(id.clone());
        }
        // What the home has, and no harvest brought, is somebody's own: whoever lists its id gets another.
        let is_free = |id: &DatasetId| {
            let here = state.dataset(id).map(|known| known.key != key);
            let is_foreign = here.unwrap_or_else(|| self.harvester.options.existing_ids.contains(id));
            !is_foreign && !state.is_used_elsewhere(id) && !self.taken.contains(id)
        };
        let prefixed = DatasetId::from_text(&format!("{}-{given}", self.harvester.name));
        let plain = Some(given.clone()).filter(|_| self.harvester.options.ids == IdScheme::Original);
        let marked = [
            disambiguate_id(given, key).filter(|_| plain.is_some()),
            prefixed.as_ref().and_then(|id| disambiguate_id(id, key)),
        ];
        let own = plain.as_ref().is_some_and(|id| !state.is_used_elsewhere(id));
        let [first, second] = marked;
        let candidates = if own { [plain, first, prefixed, second] } else { [prefixed, second, None, None] };
        candidates.into_iter().flatten().find(is_free)
    }

    fn wait(&mut self, source: &mut Source, dataset: Dataset, known: DatasetRecord) -> Result<(), HarvestError> {
        let copies = dataset.distributions.iter().filter_map(|distribution| match &distribution.copy {
            Some(LocalCopy::File(path)) => path.metadata().ok(),
            _ => None,
        });
        self.pending.bytes += copies.map(|metadata| metadata.len()).sum::<u64>();
        self.pending.known.insert(dataset.metadata.id.clone(), known);
        self.pending.datasets.push(dataset);
        let is_full =
            self.pending.datasets.len() >= self.harvester.options.batch_size || self.pending.bytes >= BATCH_BYTES;
        if is_full { self.flush(source) } else { Ok(()) }
    }

    /// Hands over what waits. Only what is stored is known next time.
    pub(super) fn flush(&mut self, source: &mut Source) -> Result<(), HarvestError> {
        let PendingDatasets { datasets, mut known, .. } = std::mem::take(&mut self.pending);
        if datasets.is_empty() {
            return Ok(());
        }
        // DatasetRecord before they are stored: whatever happens in between, the next harvest takes them for its own, and hands
        // them over again.
        let before: BTreeSet<DatasetId> =
            known.keys().filter(|id| self.fetcher.state.dataset(id).is_some()).cloned().collect();
        for (id, known) in &known {
            self.fetcher.state.set_dataset(id.clone(), DatasetRecord { fingerprint: String::new(), ..known.clone() });
        }
        self.fetcher.state.save()?;
        let batch = Batch { source: source.address.clone(), folder: source.folder.clone(), datasets };
        for (id, outcome) in self.sink.store(batch).map_err(HarvestError::Store)? {
            let Some(known) = known.remove(&id) else { continue };
            let was_known = before.contains(&id);
            match outcome {
                StoreOutcome::Unchanged => self.report.unchanged += 1,
                StoreOutcome::Stored if was_known => self.report.changed.push(id.clone()),
                StoreOutcome::Stored => self.report.new.push(id.clone()),
                StoreOutcome::Retained => {
                    self.report.kept.push(id);
                    continue;
                }
            }
            self.fetcher.state.set_dataset(id, known);
        }
        self.fetcher.state.save()
    }

    /// What a source does not list any more is removed, if it told all that it lists.
    pub(super) fn remove_delisted(&mut self, report: &mut SourceReport) -> Result<(), HarvestError> {
        let mut gone = self.fetcher.state.datasets_of_source(&report.source);
        gone.retain(|id| !self.taken.contains(id));
        if !gone.is_empty() && report.datasets == 0 && report.repeated == 0 {
            report.fail(&report.source.clone(), "it lists no dataset at all; nothing is taken for gone");
        }
        if report.whole && self.harvester.options.delisted == DelistedPolicy::Remove && !gone.is_empty() {
            self.sink.remove(&gone).map_err(HarvestError::Store)?;
            self.fetcher.state.remove_datasets(&gone);
            self.fetcher.state.save()?;
            report.removed = true;
        }
        report.gone = gone;
        Ok(())
    }
}

/// What a dataset is, its description and its files; the base of the home's IRIs has no part in it.
fn fingerprint(dataset: &Dataset, hashes: &[String]) -> String {
    let mut lines: Vec<String> = dcat::to_triples(dataset, &Iris::default()).iter().map(ToString::to_string).collect();
    lines.sort_unstable();
    lines.extend(hashes.iter().cloned());
    let missing = dataset.distributions.iter().filter(|one| matches!(one.copy, Some(LocalCopy::Missing(_))));
    lines.push(missing.count().to_string());
    hash_of_text(&lines.join("\n"))
}
