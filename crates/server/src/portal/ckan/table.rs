//! In-memory table of all datasets for lists, filters and facets, cached until the index or the catalogue changes.

use super::names::{License, package_name, slug};
use super::texts::Texts;
use crate::AppState;
use crate::cache::GenerationCache;
use crate::error::ApiError;
use crate::portal::metadata::PortalMetadata;
use lodeseek_catalog::{DatasetId, Moment, Scheme, plain_text};
use lodeseek_index::{Collation, compose, fold_text};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Facets of datasets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Facet {
    Organization,
    Groups,
    Tags,
    ResFormat,
    LicenseId,
    Task,
    Modality,
    Language,
    Author,
    Maintainer,
    IsOpen,
}

/// Number of facets.
const FACET_COUNT: usize = Facet::ALL.len();

impl Facet {
    pub(super) const ALL: [Self; 11] = [
        Self::Organization,
        Self::Groups,
        Self::Tags,
        Self::ResFormat,
        Self::LicenseId,
        Self::Task,
        Self::Modality,
        Self::Language,
        Self::Author,
        Self::Maintainer,
        Self::IsOpen,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Organization => "organization",
            Self::Groups => "groups",
            Self::Tags => "tags",
            Self::ResFormat => "res_format",
            Self::LicenseId => "license_id",
            Self::Task => "task",
            Self::Modality => "modality",
            Self::Language => "language",
            Self::Author => "author",
            Self::Maintainer => "maintainer",
            Self::IsOpen => "isopen",
        }
    }

    /// Returns the facet of a name, or of CKAN's synonym: an organisation's name is also its id.
    pub(super) fn of_name(name: &str) -> Option<Self> {
        match name {
            "owner_org" => Some(Self::Organization),
            _ => Self::ALL.into_iter().find(|facet| facet.name() == name),
        }
    }
}

/// A value of a facet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) name: String,
    pub(super) title: String,
    /// Address, if it has one.
    pub(super) url: Option<String>,
    /// Number of datasets with this value.
    pub(super) count: usize,
    /// Sort key of the title.
    pub(super) key: Box<[u8]>,
}

impl Value {
    /// Returns the key of the order by title; values with equal titles are ordered by name.
    pub(super) fn order(&self) -> (&[u8], &str) {
        (&self.key, &self.name)
    }
}

/// The values of a facet, with a place for each.
#[derive(Default)]
pub(super) struct Values {
    pub(super) all: Vec<Value>,
    places: FxHashMap<String, u32>,
}

impl Values {
    pub(super) fn find(&self, name: &str) -> Option<&Value> {
        self.places
            .get(&*compose(name))
            .map(|place| &self.all[*place as usize])
    }

    /// Returns the place of a value, which is added if its name is new. Names are composed: spellings of one text are one value.
    fn place(
        &mut self,
        name: String,
        title: String,
        url: Option<String>,
        collation: &Collation,
    ) -> u32 {
        let name = compose(&name).into_owned();
        // Places are `u32` to save memory; the names in memory cannot reach 2^32.
        let next = self.all.len() as u32;
        let place = *self.places.entry(name.clone()).or_insert(next);
        if place == next {
            let key = collation.key(&title);
            self.all.push(Value {
                name,
                title,
                url,
                count: 0,
                key,
            });
        }
        place
    }

    /// Returns the values with at least `min_count` datasets, the most frequent first, then by title.
    pub(super) fn most_frequent<'v>(
        &'v self,
        counts: &'v [usize],
        min_count: usize,
    ) -> Vec<(&'v Value, usize)> {
        let mut found: Vec<(&Value, usize)> = self
            .all
            .iter()
            .zip(counts.iter().copied())
            .filter(|(_, count)| *count >= min_count)
            .collect();
        found.sort_by(|a, b| (Reverse(a.1), a.0.order()).cmp(&(Reverse(b.1), b.0.order())));
        found
    }
}

/// A file of a dataset.
pub(super) struct Resource {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) url: String,
    pub(super) format: String,
}

/// A dataset.
pub(crate) struct Row {
    pub(crate) id: DatasetId,
    pub(super) name: String,
    pub(crate) title: String,
    /// Title in lower case and without accents, for comparison.
    pub(super) folded: String,
    /// Sort key of the title.
    pub(super) key: Box<[u8]>,
    /// Time of the last change with its fraction of a second, in UTC.
    pub(crate) modified: Option<String>,
    /// Time of the last change or, without one, the time at which the description arrived or changed here.
    pub(crate) updated: Option<String>,
    pub(super) created: Option<String>,
    pub(super) resources: Vec<Resource>,
    values: [Vec<u32>; FACET_COUNT],
}

impl Row {
    /// Returns the places of its values of a facet.
    pub(super) fn values(&self, facet: Facet) -> &[u32] {
        &self.values[facet as usize]
    }
}

/// All datasets in both the catalogue and the index, by name.
#[derive(Default)]
pub(crate) struct Table {
    pub(crate) rows: Vec<Row>,
    values: [Values; FACET_COUNT],
    by_id: FxHashMap<DatasetId, u32>,
    by_name: FxHashMap<String, u32>,
    /// Texts by field, computed at the first use.
    texts: OnceLock<Texts>,
    computing: Mutex<()>,
}

/// Language in which titles are ordered. CKAN's API has no language.
const LANGUAGE: &str = "en";

/// Cache of the table. Its generation changes with the index and the catalogue.
pub(crate) type CachedTable = GenerationCache<(u64, u64), Table>;

impl Table {
    /// Returns the current table.
    pub(crate) fn current(state: &AppState) -> Result<Arc<Self>, ApiError> {
        let generation = (
            state.searcher.catalog().generation()?,
            state.store.catalog_generation(),
        );
        state
            .portal
            .table
            .get_or_compute(generation, || Self::read(state))
    }

    fn read(state: &AppState) -> Result<Self, ApiError> {
        let iris = state.store.iris();
        let mut table = Self::default();
        let collation = Collation::new(LANGUAGE);
        let records = state.store.records()?;
        for id in state.store.ids()? {
            if state.searcher.catalog().numeric_facts(&id)?.is_none() {
                continue; // not indexed yet: no search could find it
            }
            if let Some(described) = PortalMetadata::read(&state.store, &id)? {
                let recorded = records.get(&id).map(String::as_str);
                table.add(&described, recorded, iris.base(), &collation);
            }
        }
        // Places are positions in this order, so they are assigned after the sort.
        table.rows.sort_by(|a, b| a.name.cmp(&b.name));
        table.by_id = table
            .rows
            .iter()
            .zip(0..)
            .map(|(row, place)| (row.id.clone(), place))
            .collect();
        table.by_name = table
            .rows
            .iter()
            .zip(0..)
            .map(|(row, place)| (row.name.clone(), place))
            .collect();
        Ok(table)
    }

    /// Adds a dataset. `recorded` is the time at which its description arrived or changed.
    fn add(
        &mut self,
        described: &PortalMetadata,
        recorded: Option<&str>,
        base: &str,
        collation: &Collation,
    ) {
        let metadata = &described.dataset.metadata;
        let name = package_name(&metadata.id);
        let mut resources = Vec::with_capacity(described.files.len());
        for file in &described.files {
            resources.push(Resource {
                id: format!("{name}.{}", file.key),
                name: file.name(),
                url: described.address_or_text(file, base),
                format: file.label(),
            });
        }
        let mut values: [Vec<u32>; FACET_COUNT] = Default::default();
        for (facet, name, title, url) in facet_values(described) {
            values[facet as usize]
                .push(self.values[facet as usize].place(name, title, url, collation));
        }
        for (facet, row) in self.values.iter_mut().zip(&mut values) {
            // A value that several files or fields repeat counts once for the dataset.
            row.sort_unstable();
            row.dedup();
            for place in row.iter() {
                facet.all[*place as usize].count += 1;
            }
        }
        let title = plain_text(metadata.title());
        let modified = described
            .modified_moment()
            .map(|time| time.instant().to_owned());
        let recorded = recorded
            .and_then(Moment::parse)
            .map(|time| time.instant().to_owned());
        self.rows.push(Row {
            id: metadata.id.clone(),
            folded: fold_text(&title),
            key: collation.key(&title),
            title: title.into_owned(),
            updated: modified.clone().or(recorded),
            modified,
            created: described
                .issued_moment()
                .map(|time| time.instant().to_owned()),
            resources,
            name,
            values,
        });
    }

    pub(super) fn values(&self, facet: Facet) -> &Values {
        &self.values[facet as usize]
    }

    /// Returns the name of the first value of a facet that a dataset has.
    pub(super) fn first_value(&self, row: &Row, facet: Facet) -> Option<&str> {
        let place = row.values(facet).first()?;
        Some(&self.values(facet).all[*place as usize].name)
    }

    /// Returns the texts of all datasets. Concurrent callers wait for one computation.
    pub(super) fn texts(&self, state: &AppState) -> Result<&Texts, ApiError> {
        if let Some(texts) = self.texts.get() {
            return Ok(texts);
        }
        let _computing = self
            .computing
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        // Another thread may have computed them while this one waited.
        if let Some(texts) = self.texts.get() {
            return Ok(texts);
        }
        let texts = Texts::read(state, self)?;
        Ok(self.texts.get_or_init(|| texts))
    }

    /// Returns the dataset of an id or name.
    pub(super) fn find(&self, name: &str) -> Option<&Row> {
        // Ids come first: a derived name cannot hide a dataset whose id is the same text.
        let by_id = DatasetId::new(name).ok().and_then(|id| self.place(&id));
        by_id
            .or_else(|| self.by_name.get(name).copied())
            .map(|place| &self.rows[place as usize])
    }

    /// Returns the place of a dataset.
    pub(super) fn place(&self, id: &DatasetId) -> Option<u32> {
        self.by_id.get(id).copied()
    }

    /// Counts the datasets of each value of a facet.
    pub(super) fn count_values<'t>(
        &self,
        facet: Facet,
        rows: impl Iterator<Item = &'t Row>,
    ) -> Vec<usize> {
        let mut counts = vec![0; self.values(facet).all.len()];
        for row in rows {
            for place in row.values(facet) {
                counts[*place as usize] += 1;
            }
        }
        counts
    }
}

/// A facet value of a dataset: (facet, name, title, address).
type DatasetValue = (Facet, String, String, Option<String>);

/// Returns all facet values of a dataset.
fn facet_values(described: &PortalMetadata) -> Vec<DatasetValue> {
    let mut values: Vec<DatasetValue> = Vec::new();
    if let Some(one) = described.organization() {
        values.push((Facet::Organization, slug(&one.name), one.name, one.iri));
    }
    for theme in &described.themes {
        values.push((
            Facet::Groups,
            slug(&theme.name),
            theme.name.clone(),
            theme.iri.clone(),
        ));
    }
    add_names(&mut values, Facet::Tags, described.keywords.iter().cloned());
    let formats = described.files.iter().map(|file| file.label());
    add_names(
        &mut values,
        Facet::ResFormat,
        formats.filter(|label| !label.is_empty()),
    );
    let license = License::of_dataset(described);
    values.push((Facet::LicenseId, license.id, license.title, license.url));
    add_names(&mut values, Facet::IsOpen, [license.open.to_string()]);
    let creators = described.dataset.metadata.creators.iter();
    add_names(
        &mut values,
        Facet::Author,
        creators.map(|agent| agent.name.clone()),
    );
    let maintainer = described.contacts.first();
    add_names(
        &mut values,
        Facet::Maintainer,
        maintainer.and_then(|contact| contact.name.clone()),
    );
    add_names(&mut values, Facet::Task, described.themes_of(Scheme::Task));
    add_names(
        &mut values,
        Facet::Modality,
        described.themes_of(Scheme::Modality),
    );
    add_names(
        &mut values,
        Facet::Language,
        described.languages.iter().cloned(),
    );
    values
}

/// Adds values whose names are their titles.
fn add_names(
    values: &mut Vec<DatasetValue>,
    facet: Facet,
    names: impl IntoIterator<Item = String>,
) {
    values.extend(
        names
            .into_iter()
            .map(|name| (facet, name.clone(), name, None)),
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_catalog::Iris;
    use lodeseek_rdf::TripleGraphBuilder;
    use lodeseek_rdf::dump::DumpReader;

    #[test]
    fn repeated_values_of_a_dataset_count_once() {
        let (iris, id) = (Iris::default(), DatasetId::new("1").expect("an id"));
        let turtle = format!(
            "<{}> a <http://www.w3.org/ns/dcat#Dataset> .",
            iris.dataset(&id).as_str()
        );
        let mut graph = TripleGraphBuilder::new();
        DumpReader::default().read(turtle.as_bytes(), "1.ttl", iris.base(), &mut graph);
        let mut described =
            PortalMetadata::from_graph(&graph.finish(), &iris, &id, true).expect("a dataset");
        described.keywords = (0..300_000)
            .map(|number| format!("k{}", number % 150_000))
            .collect();
        let mut table = Table::default();
        table.add(&described, None, iris.base(), &Collation::new("en"));
        let tags = table.values(Facet::Tags);
        assert_eq!(
            (tags.all.len(), table.rows[0].values(Facet::Tags).len()),
            (150_000, 150_000)
        );
        assert!(tags.all.iter().all(|tag| tag.count == 1));
    }

    #[test]
    fn a_dataset_without_dates_has_the_time_of_its_record() {
        let (iris, id) = (Iris::default(), DatasetId::new("1").expect("an id"));
        let updated = |date: &str| {
            let turtle = format!(
                "<{}> a <http://www.w3.org/ns/dcat#Dataset> {date} .",
                iris.dataset(&id).as_str()
            );
            let mut graph = TripleGraphBuilder::new();
            DumpReader::default().read(turtle.as_bytes(), "1.ttl", iris.base(), &mut graph);
            let described = PortalMetadata::from_graph(&graph.finish(), &iris, &id, true);
            let mut table = Table::default();
            table.add(
                &described.expect("a dataset"),
                Some("2026-11-02T10:00:00Z"),
                iris.base(),
                &Collation::new("en"),
            );
            table.rows.remove(0).updated.expect("a time")
        };
        assert!(updated("").starts_with("2026-11-02T10:00:00"));
        let dated = updated("; <http://purl.org/dc/terms/modified> \"2024-03-01\"");
        assert!(dated.starts_with("2024-03-01"), "{dated}");
    }
}
