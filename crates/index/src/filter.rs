//! Filters within ranking, and facet counts of search results.
//!
//! A filter decides which documents are returned; it changes no score. Collection statistics always cover all
//! documents. Term weights and dataset scores are therefore the same with and without a filter.

use super::columns::SegmentColumns;
use super::facets::FacetTable;
use super::facts::{Facet, Filter, NumericFacts};
use super::table_columns::passing_documents;
use super::{DocumentAddress, IndexError, Snapshot};
use lodeseek_catalog::{BoundingBox, Day, Period};
use lodeseek_ranking::DatasetId;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Selection of documents during a traversal.
pub trait Selection {
    /// Returns those of 64 documents that may be returned. Bit *i* of `documents` is document `first` + *i*. Set bits
    /// are live documents that contain a term. Each document is passed once.
    fn select(&mut self, segment: usize, first: u32, documents: u64) -> u64;
}

/// Documents that pass a filter, or all documents.
impl Selection for Option<&FilteredDocs> {
    fn select(&mut self, segment: usize, first: u32, documents: u64) -> u64 {
        let Some(filtered) = *self else {
            return documents;
        };
        retain_bits(documents, |place| {
            filtered.failed_conditions(segment, first + place) == 0
        })
    }
}

/// Returns the bits of `documents` that satisfy a predicate.
fn retain_bits(documents: u64, mut passes: impl FnMut(u32) -> bool) -> u64 {
    let mut filtered = 0;
    let mut rest = documents;
    while rest != 0 {
        let place = rest.trailing_zeros();
        rest &= rest - 1;
        filtered |= u64::from(passes(place)) << place;
    }
    filtered
}

/// One bit for each condition: the facets by index, then the year, the area, the period and the columns; the last bit for those
/// of the query.
type Conditions = u32;
const YEAR: Conditions = 1 << Facet::ALL.len();
const PLACE: Conditions = YEAR << 1;
const PERIOD: Conditions = YEAR << 2;
const COLUMNS: Conditions = YEAR << 3;
/// The last bit: phrases, exclusions and names in the query.
pub(super) const QUERY: Conditions = 1 << 31;

fn condition_of(facet: Facet) -> Conditions {
    1 << facet.index()
}

/// Documents that pass a filter, evaluated for all documents of a snapshot.
pub struct FilteredDocs {
    /// Failed conditions of each document, by segment.
    pub(super) failed: Vec<Vec<Conditions>>,
}

impl FilteredDocs {
    fn failed_conditions(&self, segment: usize, document: u32) -> Conditions {
        self.failed[segment][document as usize]
    }

    /// Returns true if the document passes the filter.
    #[must_use]
    pub fn contains(&self, address: DocumentAddress) -> bool {
        self.failed_conditions(address.segment as usize, address.document) == 0
    }
}

impl Snapshot {
    /// Evaluates a filter. Returns `None` if all documents pass.
    ///
    /// # Errors
    ///
    /// [`IndexError::WithoutCoverage`] if the filter has an area or a period, and the index has no columns for them;
    /// [`IndexError::WithoutTableColumns`] likewise.
    pub fn filtered_docs(&self, filter: &Filter) -> Result<Option<FilteredDocs>, IndexError> {
        if filter.is_empty() {
            return Ok(None);
        }
        let documents = self.segments.iter().map(|columns| columns.order.len());
        let mut failed: Vec<Vec<Conditions>> = documents.map(|count| vec![0; count]).collect();
        if filter.since.is_some() || filter.until.is_some() {
            let years = filter.since.unwrap_or(i32::MIN)..=filter.until.unwrap_or(i32::MAX);
            self.mark_failures(&mut failed, YEAR, |segment, document| {
                self.segments[segment]
                    .year(document)
                    .is_none_or(|year| years.contains(&year))
            });
        }
        if (filter.within.is_some() || filter.covers.is_some()) && !self.has_coverage() {
            return Err(IndexError::WithoutCoverage);
        }
        // Unlike a year, an area or a period that is unknown fails.
        if let Some(within) = filter.within {
            self.mark_failures(&mut failed, PLACE, |segment, document| {
                self.segments[segment]
                    .place(document)
                    .is_some_and(|place| place.intersects(within))
            });
        }
        if let Some(covers) = filter.covers {
            self.mark_failures(&mut failed, PERIOD, |segment, document| {
                self.segments[segment]
                    .period(document)
                    .is_some_and(|period| period.overlaps(covers))
            });
        }
        if !filter.columns.is_empty() {
            if self.fields.table_columns.is_none() {
                return Err(IndexError::WithoutTableColumns);
            }
            let mut passing = Vec::with_capacity(failed.len());
            for reader in self.searcher.segment_readers() {
                passing.push(passing_documents(reader, &filter.columns)?);
            }
            self.mark_failures(&mut failed, COLUMNS, |segment, document| {
                passing[segment][document as usize]
            });
        }
        for facet in Facet::ALL
            .into_iter()
            .filter(|facet| filter.values_of(*facet).next().is_some())
        {
            let table = &self.facets()?[facet.index()];
            let selected: Vec<u32> = filter
                .values_of(facet)
                .filter_map(|value| table.place(value))
                .collect();
            self.mark_failures(&mut failed, condition_of(facet), |segment, document| {
                table
                    .values(segment, document)
                    .iter()
                    .any(|value| selected.contains(value))
            });
        }
        Ok(Some(FilteredDocs { failed }))
    }

    /// Returns the ids of the datasets that pass, or `None` if there are more than `most`.
    pub fn ids_if_few(
        &self,
        filtered: &FilteredDocs,
        most: usize,
    ) -> Result<Option<Vec<DatasetId>>, IndexError> {
        let few: Vec<DocumentAddress> = self
            .live_documents()
            .filter(|address| filtered.contains(*address))
            .take(most + 1)
            .collect();
        if few.len() > most {
            return Ok(None);
        }
        few.into_iter()
            .map(|address| self.id(address))
            .collect::<Result<_, _>>()
            .map(Some)
    }

    /// Returns the `depth` newest documents that pass, and the number of all that pass. Documents of unknown year are
    /// last; ties are broken by id. Calls `each` with every live document.
    pub fn newest(
        &self,
        filtered: Option<&FilteredDocs>,
        depth: usize,
        mut each: impl FnMut(DocumentAddress),
    ) -> (Vec<DocumentAddress>, usize) {
        let mut newest = Vec::new();
        let mut total = 0;
        for address in self.live_documents() {
            each(address);
            let passes = filtered.is_none_or(|filtered| filtered.contains(address));
            total += usize::from(passes);
            if passes && depth > 0 {
                let columns = &self.segments[address.segment as usize];
                newest.push((
                    Reverse(columns.year(address.document)),
                    columns.order[address.document as usize],
                    address,
                ));
            }
        }
        if depth < newest.len() {
            newest.select_nth_unstable(depth);
            newest.truncate(depth);
        }
        newest.sort_unstable();
        (
            newest.into_iter().map(|(.., address)| address).collect(),
            total,
        )
    }

    fn live_documents(&self) -> impl Iterator<Item = DocumentAddress> + '_ {
        let readers = self.searcher.segment_readers().iter().zip(0_u32..);
        readers.flat_map(|(reader, segment)| {
            reader
                .doc_ids_alive()
                .map(move |document| DocumentAddress { segment, document })
        })
    }

    /// Marks the documents that fail a condition.
    fn mark_failures(
        &self,
        failed: &mut [Vec<Conditions>],
        condition: Conditions,
        passes: impl Fn(usize, u32) -> bool,
    ) {
        for (segment, failed) in failed.iter_mut().enumerate() {
            for (document, failed) in failed.iter_mut().enumerate() {
                if !passes(segment, document as u32) {
                    *failed |= condition;
                }
            }
        }
    }

    /// Returns the facet tables, loaded at first use.
    fn facets(&self) -> Result<&[FacetTable], IndexError> {
        if let Some(tables) = self.facets.get() {
            return Ok(tables);
        }
        let mut tables = FacetTable::load_all(self.searcher.segment_readers())?;
        // The last one, as in `Facet::ALL`: tables are found by the index of their facet.
        tables.push(self.suggest_themes(&tables[Facet::Theme.index()])?);
        Ok(self.facets.get_or_init(|| tables))
    }

    /// Returns the values of a facet that a dataset has; none if there is no such dataset.
    pub fn facet_values(&self, id: &DatasetId, facet: Facet) -> Result<Vec<String>, IndexError> {
        let Some(address) = self.address(id)? else {
            return Ok(Vec::new());
        };
        let table = &self.facets()?[facet.index()];
        let values = table.values(address.segment as usize, address.document);
        Ok(values
            .iter()
            .map(|value| table.label(*value).to_owned())
            .collect())
    }

    /// Creates a counter of results by year and facet.
    pub fn facet_counter<'s>(
        &'s self,
        filtered: Option<&'s FilteredDocs>,
    ) -> Result<FacetCounter<'s>, IndexError> {
        let tables = self.facets()?;
        let counts = tables.iter().map(|table| vec![0; table.len()]).collect();
        Ok(FacetCounter {
            tables,
            segments: &self.segments,
            filtered,
            counts,
            years: YearCounts::default(),
            without_place: 0,
            without_period: 0,
        })
    }

    /// Returns true if the index has columns for areas and periods. An index of an earlier version has none.
    #[must_use]
    pub fn has_coverage(&self) -> bool {
        self.fields.coverage.is_some()
    }

    /// Returns the area and the period of a dataset, as far as known.
    pub fn coverage(
        &self,
        id: &DatasetId,
    ) -> Result<(Option<BoundingBox>, Option<Period>), IndexError> {
        let Some(address) = self.address(id)? else {
            return Ok((None, None));
        };
        let columns = &self.segments[address.segment as usize];
        Ok((
            columns.place(address.document),
            columns.period(address.document),
        ))
    }

    /// Returns the first and the last year of all periods; open ends do not count. `None` without a closed end. Of early
    /// years, only the last `most` are returned.
    #[must_use]
    pub fn covered_years(&self, most: i32) -> Option<(i32, i32)> {
        let years = *self.covered_years.get_or_init(|| self.all_covered_years());
        years.map(|(first, last)| (first.max(last.saturating_sub(most)), last))
    }

    fn all_covered_years(&self) -> Option<(i32, i32)> {
        let mut years: Option<(i32, i32)> = None;
        for (columns, reader) in self.segments.iter().zip(self.searcher.segment_readers()) {
            for period in reader
                .doc_ids_alive()
                .filter_map(|document| columns.period(document))
            {
                for year in period
                    .first()
                    .into_iter()
                    .chain(period.last())
                    .map(Day::year)
                {
                    let (first, last) = years.unwrap_or((year, year));
                    years = Some((first.min(year), last.max(year)));
                }
            }
        }
        years
    }

    /// Returns the numeric facts of a dataset, or `None` if there is no such dataset.
    pub fn numeric_facts(&self, id: &DatasetId) -> Result<Option<NumericFacts>, IndexError> {
        let address = self.address(id)?;
        Ok(
            address
                .map(|address| self.segments[address.segment as usize].numbers(address.document)),
        )
    }
}

/// Counter of documents by year and facet during a search.
///
/// The counts of a facet include documents that fail only this facet's condition. The counts of years include documents
/// that fail only the year's condition. The counts therefore predict the results of another choice.
pub struct FacetCounter<'s> {
    tables: &'s [FacetTable],
    segments: &'s [SegmentColumns],
    filtered: Option<&'s FilteredDocs>,
    /// Counts by facet and value number.
    counts: Vec<Vec<u64>>,
    years: YearCounts,
    without_place: u64,
    without_period: u64,
}

impl Selection for FacetCounter<'_> {
    fn select(&mut self, segment: usize, first: u32, documents: u64) -> u64 {
        retain_bits(documents, |place| {
            self.count(segment, first + place);
            self.filtered
                .is_none_or(|filtered| filtered.failed_conditions(segment, first + place) == 0)
        })
    }
}

impl FacetCounter<'_> {
    /// Counts a document that was not found by a term.
    pub fn add(&mut self, address: DocumentAddress) {
        self.count(address.segment as usize, address.document);
    }

    fn count(&mut self, segment: usize, document: u32) {
        let failed = match self.filtered {
            Some(filtered) => filtered.failed_conditions(segment, document),
            None => 0,
        };
        for ((counts, table), facet) in self.counts.iter_mut().zip(self.tables).zip(Facet::ALL) {
            // As if the facet had no selection: otherwise, its other values would seem to have no datasets.
            if failed & !condition_of(facet) == 0 {
                table
                    .values(segment, document)
                    .iter()
                    .for_each(|&value| counts[value as usize] += 1);
            }
        }
        if failed & !YEAR == 0 {
            match self.segments[segment].year(document) {
                Some(year) => *self.years.known.entry(year).or_default() += 1,
                None => self.years.unknown += 1,
            }
        }
        let columns = &self.segments[segment];
        if failed == PLACE && columns.place(document).is_none() {
            self.without_place += 1;
        }
        if failed == PERIOD && columns.period(document).is_none() {
            self.without_period += 1;
        }
    }

    /// Returns the counts: for each facet the `most` frequent values, and those selected by the filter.
    #[must_use]
    pub fn finish(self, filter: &Filter, most: usize) -> FacetCounts {
        let mut facets = Vec::with_capacity(Facet::DISPLAY_ORDER.len());
        for facet in Facet::DISPLAY_ORDER {
            let values = facet_values(
                facet,
                &self.tables[facet.index()],
                &self.counts[facet.index()],
                filter,
                most,
            );
            if !values.values.is_empty() {
                facets.push(values);
            }
        }
        FacetCounts {
            facets,
            years: self.years,
            without_place: self.without_place,
            without_period: self.without_period,
        }
    }
}

fn facet_values(
    facet: Facet,
    table: &FacetTable,
    counts: &[u64],
    filter: &Filter,
    most: usize,
) -> FacetValues {
    let selected: Vec<Option<u32>> = filter
        .values_of(facet)
        .map(|value| table.place(value))
        .collect();
    let mut places = Vec::new();
    for place in 0..counts.len() as u32 {
        let is_listed =
            selected.contains(&Some(place)) || !facet.is_metadata_class(table.label(place));
        if counts[place as usize] > 0 && is_listed {
            places.push(place);
        }
    }
    let distinct = places.len();
    if most < distinct {
        places.select_nth_unstable_by_key(most, |&place| by_descending_count(counts, place));
        places.truncate(most);
    }
    places.sort_unstable_by_key(|&place| by_descending_count(counts, place));
    let mut values: Vec<ValueCount> = places
        .iter()
        .map(|&place| ValueCount {
            value: table.label(place).to_owned(),
            count: counts[place as usize],
            chosen: selected.contains(&Some(place)),
        })
        .collect();
    for (requested, place) in filter.values_of(facet).zip(&selected) {
        // A selected value without documents is listed, so that it can be deselected.
        let (value, count) = match place {
            Some(place) if places.contains(place) => continue,
            Some(place) => (table.label(*place), counts[*place as usize]),
            None => (requested, 0),
        };
        values.push(ValueCount {
            value: value.to_owned(),
            count,
            chosen: true,
        });
    }
    FacetValues {
        facet,
        values,
        distinct,
    }
}

/// Returns the sort key of a value. Value numbers are in the order of the names, so that equal counts are sorted by name.
fn by_descending_count(counts: &[u64], place: u32) -> (Reverse<u64>, u32) {
    (Reverse(counts[place as usize]), place)
}

/// Counts of results by facet and year.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FacetCounts {
    /// Facets that have at least one value.
    pub facets: Vec<FacetValues>,
    /// Counts by year.
    pub years: YearCounts,
    /// Number of datasets that only the area of the filter excludes, because their own area is unknown.
    pub without_place: u64,
    /// Number of datasets that only the period of the filter excludes, because their own period is unknown.
    pub without_period: u64,
}

/// Values of a facet with their counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FacetValues {
    /// Facet.
    pub facet: Facet,
    /// Most frequent values first, ties by name, followed by other selected values.
    pub values: Vec<ValueCount>,
    /// Number of all values.
    pub distinct: usize,
}

/// Value with the number of datasets that have it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ValueCount {
    /// Value in its most common spelling.
    pub value: String,
    /// Number of datasets that this value alone would return, with all other facets unchanged.
    pub count: u64,
    /// If true, the filter contains this value.
    pub chosen: bool,
}

/// Number of datasets of each year.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct YearCounts {
    /// Number of datasets by year.
    pub known: BTreeMap<i32, u64>,
    /// Number of datasets of unknown year. They pass every year filter.
    pub unknown: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Field, FieldedDocument};
    use crate::schema::Fields;
    use crate::verified_directory::VerifiedDirectory;
    use crate::{Analysis, Facts, Index, IndexDocument, IndexWriter};
    use std::path::Path;
    use tantivy::IndexSettings;

    fn document(id: &str) -> IndexDocument {
        let id = DatasetId::new(id).expect("an id");
        let fielded = FieldedDocument::default().with(Field::Title, ["words"]);
        let facts = Facts {
            place: "2.5,49.4,6.5,51.6".parse().ok(),
            period: "2010..".parse().ok(),
            values: vec![(Facet::Task, "parsing".to_owned())],
            ..Facts::default()
        };
        IndexDocument::new(
            id,
            String::new(),
            &fielded,
            &Analysis::default(),
            Vec::new(),
            Vec::new(),
        )
        .with_facts(facts)
    }

    fn write(folder: &Path) -> Snapshot {
        let mut writer = IndexWriter::open(folder).expect("opened");
        writer.put(document("1")).expect("put");
        writer.commit().expect("committed");
        writer.snapshot().expect("a snapshot")
    }

    fn within(text: &str) -> Filter {
        Filter {
            within: text.parse().ok(),
            ..Filter::default()
        }
    }

    #[test]
    fn places_and_periods_are_stored_and_filtered() {
        let folder = tempfile::tempdir().expect("a folder");
        let snapshot = write(folder.path());
        let (place, period) = snapshot
            .coverage(&DatasetId::new("1").expect("an id"))
            .expect("read");
        assert_eq!(
            place.map(|place| place.to_string()).as_deref(),
            Some("2.5,49.4,6.5,51.6")
        );
        assert_eq!(
            period.map(|period| period.to_string()).as_deref(),
            Some("2010..")
        );
        let count = |filter: &Filter| {
            let filtered = snapshot
                .filtered_docs(filter)
                .expect("evaluated")
                .expect("a filter");
            snapshot.newest(Some(&filtered), 0, |_| ()).1
        };
        assert_eq!(
            (count(&within("6,51,7,52")), count(&within("7,51,8,52"))),
            (1, 0)
        );
        let covers = |text: &str| Filter {
            covers: text.parse().ok(),
            ..Filter::default()
        };
        assert_eq!((count(&covers("2050")), count(&covers("..2009"))), (1, 0));
    }

    #[test]
    fn facets_list_topics_first_and_no_classes_of_metadata() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut writer = IndexWriter::open(folder.path()).expect("opened");
        let contact = "http://www.w3.org/2006/vcard/ns#Kind";
        let values = [
            (Facet::Class, "http://e.org/Well"),
            (Facet::Class, contact),
            (Facet::Publisher, "City"),
            (Facet::Format, "CSV"),
            (Facet::Keyword, "water"),
            (Facet::Theme, "Environment"),
        ];
        let facts = Facts {
            values: values
                .map(|(facet, value)| (facet, value.to_owned()))
                .into(),
            ..Facts::default()
        };
        writer.put(document("1").with_facts(facts)).expect("put");
        writer.commit().expect("committed");
        let snapshot = writer.snapshot().expect("a snapshot");
        let list = |filter: &Filter| {
            let filtered = snapshot.filtered_docs(filter).expect("evaluated");
            let mut counter = snapshot
                .facet_counter(filtered.as_ref())
                .expect("a counter");
            snapshot.newest(filtered.as_ref(), 0, |address| counter.add(address));
            counter.finish(filter, 10).facets
        };
        let facets = list(&Filter::default());
        assert_eq!(
            facets.iter().map(|one| one.facet).collect::<Vec<_>>(),
            [
                Facet::Theme,
                Facet::Keyword,
                Facet::Publisher,
                Facet::Format,
                Facet::Class
            ]
        );
        let classes = &facets[4];
        assert_eq!((classes.values.len(), classes.distinct), (1, 1));
        // As a filter the class works, and is listed.
        let facets = list(&Filter::default().with(Facet::Class, contact));
        let classes = facets.last().expect("classes");
        assert!(
            classes
                .values
                .iter()
                .any(|value| value.value == contact && value.chosen && value.count == 1)
        );
    }

    #[test]
    fn an_index_of_an_earlier_version_works_without_coverage() {
        let folder = tempfile::tempdir().expect("a folder");
        let directory = VerifiedDirectory::open(folder.path()).expect("a directory");
        let schema = Fields::schema_without_coverage().build();
        drop(tantivy::Index::create(directory, schema, IndexSettings::default()).expect("created"));
        let snapshot = write(folder.path());
        assert!(!snapshot.has_coverage() && snapshot.len() == 1);
        let error = snapshot
            .filtered_docs(&within("0,0,90,90"))
            .err()
            .expect("an error")
            .to_string();
        assert!(error.contains("lodeseek index --rebuild"), "{error}");
        let query = crate::AnalyzedQuery::new("trees", snapshot.analysis());
        let search = crate::EntitySearch {
            query: &query,
            filtered: None,
            depth: 1,
            max_literals: 1,
            is_cancelled: &|| false,
        };
        let error = snapshot
            .matching_entities(&search)
            .expect_err("an error")
            .to_string();
        assert!(error.contains("lodeseek index --rebuild"), "{error}");
        let task = Filter::default().with(Facet::Task, "parsing");
        let filtered = snapshot
            .filtered_docs(&task)
            .expect("evaluated")
            .expect("a filter");
        assert_eq!(snapshot.newest(Some(&filtered), 0, |_| ()).1, 1);
        assert!(
            Index::open(folder.path())
                .and_then(|index| index.snapshot())
                .is_ok()
        );
    }
}
