//! Filters within ranking, and counts of what is found by year and facet.
//!
//! A filter decides which documents may be found; it changes no score. Statistics of the collection stay those of all its
//! documents: what a word is worth, and so a dataset's score, is the same whatever is filtered.

use super::columns::SegmentColumns;
use super::facets::FacetTable;
use super::facts::{Facet, Filter, NumericFacts};
use super::{DocumentAddress, IndexError, Snapshot};
use lodeseek_ranking::DatasetId;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Which of the documents with a term may be found.
pub trait Selection {
    /// Those of 64 documents that may be found. Documents are bits, `first` the lowest; those that are set live and have a
    /// term. Each document is shown once.
    fn select(&mut self, segment: usize, first: u32, documents: u64) -> u64;
}

/// Those that pass, or all.
impl Selection for Option<&FilteredDocs> {
    fn select(&mut self, segment: usize, first: u32, documents: u64) -> u64 {
        self.map_or(documents, |filtered| retain_bits(documents, |place| filtered.failed(segment, first + place) == 0))
    }
}

/// The bits of `documents` that pass.
fn retain_bits(documents: u64, mut passes: impl FnMut(u32) -> bool) -> u64 {
    let (mut filtered, mut rest) = (0, documents);
    while rest != 0 {
        let place = rest.trailing_zeros();
        rest &= rest - 1;
        filtered |= u64::from(passes(place)) << place;
    }
    filtered
}

/// A bit for every part of a filter: the facets by their places, then the year.
type Conditions = u16;
const YEAR: Conditions = 1 << Facet::ALL.len();

fn condition_of(facet: Facet) -> Conditions {
    1 << facet.index()
}

/// What passes a filter, decided for all documents of a snapshot.
pub struct FilteredDocs {
    /// By segment and document: the parts of the filter that it failed.
    failed: Vec<Vec<Conditions>>,
}

impl FilteredDocs {
    fn failed(&self, segment: usize, document: u32) -> Conditions {
        self.failed[segment][document as usize]
    }

    /// Whether a document passes.
    #[must_use]
    pub fn contains(&self, address: DocumentAddress) -> bool {
        self.failed(address.segment as usize, address.document) == 0
    }
}

impl Snapshot {
    /// What passes a filter; `None` where that is everything.
    pub fn filtered_docs(&self, filter: &Filter) -> Result<Option<FilteredDocs>, IndexError> {
        if filter.is_empty() {
            return Ok(None);
        }
        let documents = self.segments.iter().map(|columns| columns.order.len());
        let mut failed: Vec<Vec<Conditions>> = documents.map(|count| vec![0; count]).collect();
        if let Some(until) = filter.until {
            self.mark_failed(&mut failed, YEAR, |segment, document| {
                self.segments[segment].year(document).is_none_or(|year| year <= until)
            });
        }
        for facet in Facet::ALL.into_iter().filter(|facet| filter.values_of(*facet).next().is_some()) {
            let table = &self.facets()?[facet.index()];
            let wanted: Vec<u32> = filter.values_of(facet).filter_map(|value| table.place(value)).collect();
            self.mark_failed(&mut failed, condition_of(facet), |segment, document| {
                table.values(segment, document).iter().any(|value| wanted.contains(value))
            });
        }
        Ok(Some(FilteredDocs { failed }))
    }

    /// The datasets that pass, where there are so many at most; `None` where there are more.
    pub fn ids_if_few(&self, filtered: &FilteredDocs, most: usize) -> Result<Option<Vec<DatasetId>>, IndexError> {
        let few: Vec<DocumentAddress> =
            self.living().filter(|address| filtered.contains(*address)).take(most + 1).collect();
        if few.len() > most {
            return Ok(None);
        }
        few.into_iter().map(|address| self.id(address)).collect::<Result<_, _>>().map(Some)
    }

    /// The documents that pass, by year, the newest first and those of unknown year last, equals by id: `depth` of them, and
    /// how many there are. Every living document is shown to `each`.
    pub fn newest(
        &self,
        filtered: Option<&FilteredDocs>,
        depth: usize,
        mut each: impl FnMut(DocumentAddress),
    ) -> (Vec<DocumentAddress>, usize) {
        let (mut found, mut total) = (Vec::new(), 0);
        for address in self.living() {
            each(address);
            let passes = filtered.is_none_or(|filtered| filtered.contains(address));
            total += usize::from(passes);
            if passes && depth > 0 {
                let columns = &self.segments[address.segment as usize];
                found.push((
                    Reverse(columns.year(address.document)),
                    columns.order[address.document as usize],
                    address,
                ));
            }
        }
        if depth < found.len() {
            found.select_nth_unstable(depth);
            found.truncate(depth);
        }
        found.sort_unstable();
        (found.into_iter().map(|(.., address)| address).collect(), total)
    }

    fn living(&self) -> impl Iterator<Item = DocumentAddress> + '_ {
        let readers = self.searcher.segment_readers().iter().zip(0_u32..);
        readers.flat_map(|(reader, segment)| {
            reader.doc_ids_alive().map(move |document| DocumentAddress { segment, document })
        })
    }

    /// Marks the documents that fail a part.
    fn mark_failed(&self, failed: &mut [Vec<Conditions>], condition: Conditions, passes: impl Fn(usize, u32) -> bool) {
        for (segment, failed) in failed.iter_mut().enumerate() {
            for (document, failed) in failed.iter_mut().enumerate() {
                if !passes(segment, document as u32) {
                    *failed |= condition;
                }
            }
        }
    }

    /// The values of facets; read when they are first asked for.
    fn facets(&self) -> Result<&[FacetTable], IndexError> {
        if let Some(tables) = self.facets.get() {
            return Ok(tables);
        }
        let tables = FacetTable::load_all(self.searcher.segment_readers())?;
        Ok(self.facets.get_or_init(|| tables))
    }

    /// A count of what is found, by year and facet.
    pub fn facet_counter<'s>(&'s self, filtered: Option<&'s FilteredDocs>) -> Result<FacetCounter<'s>, IndexError> {
        let tables = self.facets()?;
        let counts = tables.iter().map(|table| vec![0; table.len()]).collect();
        Ok(FacetCounter { tables, segments: &self.segments, filtered, counts, years: YearCounts::default() })
    }

    /// The numbers of a dataset; `None` where there is no such dataset.
    pub fn numeric_facts(&self, id: &DatasetId) -> Result<Option<NumericFacts>, IndexError> {
        let address = self.address(id)?;
        Ok(address.map(|address| self.segments[address.segment as usize].numbers(address.document)))
    }
}

/// Counts documents by year and facet while they are found.
///
/// A facet counts what passes all of the filter but its own values, and the years what passes all but the year: the counts
/// say what another choice would find.
pub struct FacetCounter<'s> {
    tables: &'s [FacetTable],
    segments: &'s [SegmentColumns],
    filtered: Option<&'s FilteredDocs>,
    /// By facet and place of a value.
    counts: Vec<Vec<u64>>,
    years: YearCounts,
}

impl Selection for FacetCounter<'_> {
    fn select(&mut self, segment: usize, first: u32, documents: u64) -> u64 {
        retain_bits(documents, |place| {
            self.count(segment, first + place);
            self.filtered.is_none_or(|filtered| filtered.failed(segment, first + place) == 0)
        })
    }
}

impl FacetCounter<'_> {
    /// Counts a document that was not found by a term.
    pub fn add(&mut self, address: DocumentAddress) {
        self.count(address.segment as usize, address.document);
    }

    fn count(&mut self, segment: usize, document: u32) {
        let failed = self.filtered.map_or(0, |filtered| filtered.failed(segment, document));
        for ((counts, table), facet) in self.counts.iter_mut().zip(self.tables).zip(Facet::ALL) {
            if failed & !condition_of(facet) == 0 {
                table.values(segment, document).iter().for_each(|&value| counts[value as usize] += 1);
            }
        }
        if failed & !YEAR == 0 {
            match self.segments[segment].year(document) {
                Some(year) => *self.years.known.entry(year).or_default() += 1,
                None => self.years.unknown += 1,
            }
        }
    }

    /// The counts, of each facet the `most` frequent values, and those that the filter names.
    #[must_use]
    pub fn finish(self, filter: &Filter, most: usize) -> FacetCounts {
        let of =
            |facet: Facet| facet_values(facet, &self.tables[facet.index()], &self.counts[facet.index()], filter, most);
        FacetCounts {
            facets: Facet::ALL.map(of).into_iter().filter(|one| !one.values.is_empty()).collect(),
            years: self.years,
        }
    }
}

fn facet_values(facet: Facet, table: &FacetTable, counts: &[u64], filter: &Filter, most: usize) -> FacetValues {
    let wanted: Vec<Option<u32>> = filter.values_of(facet).map(|value| table.place(value)).collect();
    let mut found: Vec<u32> = (0..counts.len() as u32).filter(|&place| counts[place as usize] > 0).collect();
    let distinct = found.len();
    // Places are in the order of the names: equal counts by name.
    let order = |&place: &u32| (Reverse(counts[place as usize]), place);
    if most < distinct {
        found.select_nth_unstable_by_key(most, order);
        found.truncate(most);
    }
    found.sort_unstable_by_key(order);
    let value = |&place: &u32| ValueCount {
        value: table.label(place).to_owned(),
        count: counts[place as usize],
        chosen: wanted.contains(&Some(place)),
    };
    let mut values: Vec<ValueCount> = found.iter().map(value).collect();
    for (given, place) in filter.values_of(facet).zip(&wanted) {
        // What nothing has is still chosen: it can be taken away.
        values.extend(match place {
            Some(place) if found.contains(place) => None,
            Some(place) => Some(value(place)),
            None => Some(ValueCount { value: given.to_owned(), count: 0, chosen: true }),
        });
    }
    FacetValues { facet, values, distinct }
}

/// What was found, by year and facet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FacetCounts {
    /// The facets that have a value.
    pub facets: Vec<FacetValues>,
    /// By year.
    pub years: YearCounts,
}

/// The values of a facet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FacetValues {
    /// The facet.
    pub facet: Facet,
    /// The most frequent first, equals by name; behind them what else was chosen.
    pub values: Vec<ValueCount>,
    /// How many values there are in all.
    pub distinct: usize,
}

/// A value, and how many datasets have it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ValueCount {
    /// The value, as most datasets write it.
    pub value: String,
    /// The datasets that would be found with it alone of its facet.
    pub count: u64,
    /// Whether the filter names it.
    pub chosen: bool,
}

/// How many datasets are of each year.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct YearCounts {
    /// The datasets by year.
    pub known: BTreeMap<i32, u64>,
    /// Those whose year is not known: they pass every filter by year.
    pub unknown: u64,
}
