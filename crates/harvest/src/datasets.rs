//! Datasets on their way into the home: their ids, what changed of them, and what is gone.

use super::state::{Known, hash_of_text};
use super::{Batch, Gone, HarvestError, Ids, Run, Shelved, Source, SourceReport};
use lodeseek_catalog::{Catalog, Dataset, DatasetId, Iris, LocalCopy, dcat, told_apart};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of files after which the datasets that wait are handed over.
const BATCH_BYTES: u64 = 256 << 20;
/// Problems listed of one source.
const PROBLEMS: usize = 1000;

/// Datasets that wait to be stored.
#[derive(Default)]
pub(super) struct Waiting {
    datasets: Vec<Dataset>,
    known: BTreeMap<DatasetId, Known>,
    bytes: u64,
}

impl Run<'_, '_> {
    /// Takes what a page lists.
    pub(super) fn take(&mut self, source: &mut Source, catalog: Catalog) -> Result<(), HarvestError> {
        source.report.form = Some(catalog.form.name());
        if catalog.lost > 0 {
            source.report.whole = false;
        }
        let room = PROBLEMS.saturating_sub(source.report.problems.len());
        source.report.problems.extend(catalog.problems.into_iter().take(room));
        for dataset in catalog.datasets {
            self.dataset(source, dataset)?;
        }
        self.show();
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
        let known = Known { key, source: source.address.clone(), fingerprint };
        let is_local = !super::is_address(&source.address);
        let is_same = self.fetcher.state.known(&id).is_some_and(|before| before.fingerprint == known.fingerprint);
        if is_same && !is_local && self.harvester.options.present.contains(&id) {
            self.report.unchanged += 1;
            self.fetcher.state.know(id, known);
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
            let here = state.known(id).map(|known| known.key != key);
            let is_foreign = here.unwrap_or_else(|| self.harvester.options.present.contains(id));
            !is_foreign && !state.is_of_another(id) && !self.taken.contains(id)
        };
        let prefixed = DatasetId::from_text(&format!("{}-{given}", self.harvester.name));
        let plain = Some(given.clone()).filter(|_| self.harvester.options.ids == Ids::AsGiven);
        let marked =
            [told_apart(given, key).filter(|_| plain.is_some()), prefixed.as_ref().and_then(|id| told_apart(id, key))];
        let own = plain.as_ref().is_some_and(|id| !state.is_of_another(id));
        let [first, second] = marked;
        let candidates = if own { [plain, first, prefixed, second] } else { [prefixed, second, None, None] };
        candidates.into_iter().flatten().find(is_free)
    }

    fn wait(&mut self, source: &mut Source, dataset: Dataset, known: Known) -> Result<(), HarvestError> {
        let copies = dataset.distributions.iter().filter_map(|distribution| match &distribution.copy {
            Some(LocalCopy::Here(path)) => path.metadata().ok(),
            _ => None,
        });
        self.waiting.bytes += copies.map(|metadata| metadata.len()).sum::<u64>();
        self.waiting.known.insert(dataset.metadata.id.clone(), known);
        self.waiting.datasets.push(dataset);
        let is_full = self.waiting.datasets.len() >= self.harvester.options.batch || self.waiting.bytes >= BATCH_BYTES;
        if is_full { self.flush(source) } else { Ok(()) }
    }

    /// Hands over what waits. Only what is stored is known next time.
    pub(super) fn flush(&mut self, source: &mut Source) -> Result<(), HarvestError> {
        let Waiting { datasets, mut known, .. } = std::mem::take(&mut self.waiting);
        if datasets.is_empty() {
            return Ok(());
        }
        // Known before they are stored: whatever happens in between, the next harvest takes them for its own, and hands
        // them over again.
        let before: BTreeSet<DatasetId> =
            known.keys().filter(|id| self.fetcher.state.known(id).is_some()).cloned().collect();
        for (id, known) in &known {
            self.fetcher.state.know(id.clone(), Known { fingerprint: String::new(), ..known.clone() });
        }
        self.fetcher.state.save()?;
        let batch = Batch { source: source.address.clone(), folder: source.folder.clone(), datasets };
        for (id, outcome) in self.shelf.store(batch).map_err(HarvestError::Store)? {
            let Some(known) = known.remove(&id) else { continue };
            let was_known = before.contains(&id);
            match outcome {
                Shelved::Unchanged => self.report.unchanged += 1,
                Shelved::Stored if was_known => self.report.changed.push(id.clone()),
                Shelved::Stored => self.report.new.push(id.clone()),
                Shelved::Kept => {
                    self.report.kept.push(id);
                    continue;
                }
            }
            self.fetcher.state.know(id, known);
        }
        self.fetcher.state.save()
    }

    /// What a source does not list any more is removed, if it told all that it lists.
    pub(super) fn gone(&mut self, report: &mut SourceReport) -> Result<(), HarvestError> {
        let mut gone = self.fetcher.state.of_source(&report.source);
        gone.retain(|id| !self.taken.contains(id));
        if !gone.is_empty() && report.datasets == 0 && report.repeated == 0 {
            report.fail(&report.source.clone(), "it lists no dataset at all; nothing is taken for gone");
        }
        if report.whole && self.harvester.options.gone == Gone::Removed && !gone.is_empty() {
            self.shelf.remove(&gone).map_err(HarvestError::Store)?;
            self.fetcher.state.forget(&gone);
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
