//! Filters and counts by year and facet, against ranking everything first and filtering then.

use super::support::{Home, testdata};
use lodeseek_catalog::{BoundingBox, DatasetId, Day, Period};
use lodeseek_engine::{BrowseRequest, SearchRequest};
use lodeseek_index::document::{Field, FieldedDocument};
use lodeseek_index::sparse::{Fsdm, LengthMode, ModelKind, SparseModel, rank, rank_selection};
use lodeseek_index::{
    Analysis, AnalyzedQuery, Facet, FacetCounts, Facts, Filter, Index, IndexDocument, IndexWriter,
    NumericFacts, Snapshot,
};
use lodeseek_ranking::Ranking;
use proptest::prelude::*;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tempfile::TempDir;

/// The first, the last and one of IRIs, in which the case of letters counts.
const FACETS: [Facet; 3] = [Facet::Task, Facet::Class, Facet::Source];

/// A document: words, a year, an area, a period, and values of three facets.
#[derive(Clone, Debug, Default)]
struct Document {
    words: Vec<u8>,
    year: Option<i32>,
    place: Option<BoundingBox>,
    period: Option<Period>,
    values: [Vec<u8>; 3],
}

impl Document {
    /// As text, the case of letters at random.
    fn value(letter: u8) -> String {
        if letter.is_multiple_of(2) {
            format!("V{}", letter / 2)
        } else {
            format!("v{}", letter / 2)
        }
    }

    fn facts(&self) -> Facts {
        let of = |(facet, values): (Facet, &Vec<u8>)| {
            values
                .iter()
                .map(move |&value| (facet, Self::value(value)))
                .collect::<Vec<_>>()
        };
        Facts {
            numbers: NumericFacts {
                year: self.year,
                uses: self.year.map(|year| year as u64 % 7),
                variants: 2,
            },
            values: FACETS.into_iter().zip(&self.values).flat_map(of).collect(),
            place: self.place,
            period: self.period,
            columns: Vec::new(),
        }
    }

    /// The values of a facet as they are compared.
    fn folded(&self, facet: usize) -> BTreeSet<String> {
        self.values[facet]
            .iter()
            .map(|&value| folded(FACETS[facet], &Self::value(value)))
            .collect()
    }

    fn is_of_year(&self, filter: &Filter) -> bool {
        let is_in_years = |year| {
            filter.since.unwrap_or(i32::MIN) <= year && year <= filter.until.unwrap_or(i32::MAX)
        };
        self.year.is_none_or(is_in_years)
    }

    fn has_value(&self, filter: &Filter, facet: usize) -> bool {
        let wanted: Vec<String> = filter
            .values_of(FACETS[facet])
            .map(|value| folded(FACETS[facet], value))
            .collect();
        wanted.is_empty()
            || self
                .folded(facet)
                .iter()
                .any(|value| wanted.contains(value))
    }

    /// Returns true if a point of a grid of ten degrees is in both areas. All edges are on the grid.
    fn is_within(&self, filter: &Filter) -> bool {
        let Some(within) = filter.within else {
            return true;
        };
        let point = |number: i32| {
            (
                f64::from(number % 36) * 10.0 - 180.0,
                f64::from(number / 36) * 10.0 - 90.0,
            )
        };
        self.place.is_some_and(|place| {
            (0..36 * 19)
                .map(point)
                .any(|point| holds(place, point) && holds(within, point))
        })
    }

    /// Returns true if a day of the years of the test is in both periods.
    fn covers(&self, filter: &Filter) -> bool {
        let Some(covers) = filter.covers else {
            return true;
        };
        let day = |year| Day::from_date(year, 7, 1).expect("a day");
        let has = |period: Period, day: Day| {
            period.first().is_none_or(|first| first <= day)
                && period.last().is_none_or(|last| day <= last)
        };
        self.period.is_some_and(|period| {
            (1990..2030)
                .map(day)
                .any(|day| has(period, day) && has(covers, day))
        })
    }

    fn is_covered(&self, filter: &Filter) -> bool {
        self.is_within(filter) && self.covers(filter)
    }

    fn passes(&self, filter: &Filter) -> bool {
        self.is_of_year(filter) && self.is_covered(filter) && self.has_values(filter, None)
    }

    /// Returns true if it satisfies a filter in all facets but one.
    fn has_values(&self, filter: &Filter, but: Option<usize>) -> bool {
        (0..FACETS.len())
            .filter(|facet| Some(*facet) != but)
            .all(|facet| self.has_value(filter, facet))
    }
}

/// Returns true if a point is in an area, by the definition. -180° and 180° are one meridian.
fn holds(bounds: BoundingBox, (longitude, latitude): (f64, f64)) -> bool {
    let [west, south, east, north] = bounds.degrees();
    let is_between = |longitude: f64| {
        if west <= east {
            west <= longitude && longitude <= east
        } else {
            longitude >= west || longitude <= east
        }
    };
    let is_meridian = is_between(longitude) || longitude == -180.0 && is_between(180.0);
    is_meridian && south <= latitude && latitude <= north
}

fn area() -> impl Strategy<Value = BoundingBox> {
    (-18i32..=18, -9i32..=9, -18i32..=18, 0i32..4).prop_map(|(west, south, east, height)| {
        let degrees = |tens: i32| f64::from(tens) * 10.0;
        BoundingBox::new(
            degrees(west),
            degrees(south),
            degrees(east),
            degrees((south + height).min(9)),
        )
        .expect("a box")
    })
}

fn period() -> impl Strategy<Value = Period> {
    let end = || proptest::option::of(2000i32..2010);
    (end(), end()).prop_filter_map("no period", |(first, last)| {
        let first = first.and_then(|year| Day::from_date(year, 1, 1));
        Period::new(first, last.and_then(|year| Day::from_date(year, 12, 31)))
    })
}

fn folded(facet: Facet, value: &str) -> String {
    if facet == Facet::Class {
        value.to_owned()
    } else {
        value.to_lowercase()
    }
}

fn document() -> impl Strategy<Value = Document> {
    let values = || proptest::collection::vec(0u8..6, 0..4);
    let words = proptest::collection::vec(0u8..5, 0..6);
    let (place, period) = (proptest::option::of(area()), proptest::option::of(period()));
    (
        words,
        proptest::option::of(2010..2015),
        [values(), values(), values()],
        place,
        period,
    )
        .prop_map(|(words, year, values, place, period)| Document {
            words,
            year,
            place,
            period,
            values,
        })
}

fn filter() -> impl Strategy<Value = Filter> {
    // One value more than there are: a value that no dataset has can be requested.
    let value = (0..FACETS.len(), 0u8..8)
        .prop_map(|(facet, value)| (FACETS[facet], Document::value(value)));
    let year = || proptest::option::of(2009..2015);
    let (within, covers) = (proptest::option::of(area()), proptest::option::of(period()));
    (
        year(),
        year(),
        proptest::collection::vec(value, 0..4),
        within,
        covers,
    )
        .prop_map(|(since, until, values, within, covers)| Filter {
            since,
            until,
            within,
            covers,
            values,
            columns: Vec::new(),
        })
}

type Documents = BTreeMap<String, Document>;

fn write(documents: &Documents, commits: usize, removed: &[String]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let mut writer = IndexWriter::open(folder.path()).expect("a writer");
    for (place, (name, document)) in documents.iter().enumerate() {
        let words: Vec<String> = document
            .words
            .iter()
            .map(|word| format!("w{word}"))
            .collect();
        let fielded =
            FieldedDocument::default().with(Field::Title, words.iter().map(String::as_str));
        let id = DatasetId::new(name.as_str()).expect("an id");
        let made = IndexDocument::new(
            id,
            String::new(),
            &fielded,
            &Analysis::default(),
            Vec::new(),
            Vec::new(),
        );
        writer.put(made.with_facts(document.facts())).expect("put");
        if (place + 1) % (documents.len() / commits + 1) == 0 {
            writer.commit().expect("committed");
        }
    }
    removed
        .iter()
        .for_each(|name| writer.remove(&DatasetId::new(name.as_str()).expect("an id")));
    writer.commit().expect("committed");
    folder
}

fn filtered(ranking: &Ranking, documents: &Documents, filter: &Filter) -> Ranking {
    let passing = ranking
        .iter()
        .filter(|scored| documents[scored.id.as_str()].passes(filter));
    Ranking::from_scores(passing.cloned().collect())
}

/// (value as compared, count) by facet, then (year, count), then those of no known year: counted from the definitions.
type Counts = ([BTreeMap<String, u64>; 3], BTreeMap<i32, u64>, u64);

fn counted(found: &[&Document], filter: &Filter) -> Counts {
    let (mut facets, mut years, mut unknown) =
        (<[BTreeMap<String, u64>; 3]>::default(), BTreeMap::new(), 0);
    for document in found {
        for (facet, counts) in facets.iter_mut().enumerate() {
            if document.is_of_year(filter)
                && document.is_covered(filter)
                && document.has_values(filter, Some(facet))
            {
                document
                    .folded(facet)
                    .into_iter()
                    .for_each(|value| *counts.entry(value).or_default() += 1);
            }
        }
        if document.is_covered(filter) && document.has_values(filter, None) {
            match document.year {
                Some(year) => *years.entry(year).or_default() += 1,
                None => unknown += 1,
            }
        }
    }
    (facets, years, unknown)
}

fn as_counts(counts: &FacetCounts) -> Counts {
    let of = |facet: Facet| {
        let values = counts
            .facets
            .iter()
            .filter(|one| one.facet == facet)
            .flat_map(|one| &one.values);
        values
            .filter(|value| value.count > 0)
            .map(|value| (folded(facet, &value.value), value.count))
            .collect()
    };
    (
        FACETS.map(of),
        counts.years.known.clone(),
        counts.years.unknown,
    )
}

fn snapshot(folder: &TempDir) -> Arc<Snapshot> {
    Index::open(folder.path())
        .expect("an index")
        .snapshot()
        .expect("a snapshot")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Several segments, deleted documents, unknown years, values in other cases: ranking what passes is ranking all and
    /// leaving out what does not pass, and the counts are those of the definitions.
    #[test]
    fn filtering_within_ranking_is_filtering_behind_it(
        all in proptest::collection::vec(document(), 1..25),
        filter in filter(),
        commits in 1usize..4,
        gone in proptest::collection::vec(0usize..25, 0..4),
        kind in 0usize..4,
        depth in 1usize..30,
        listed_depth in 0usize..30,
    ) {
        let mut documents: Documents = all.into_iter().enumerate().map(|(n, one)| (format!("d{n}"), one)).collect();
        let gone: Vec<String> = gone.iter().map(|n| format!("d{n}")).collect();
        let folder = write(&documents, commits, &gone);
        documents.retain(|name, _| !gone.contains(name));
        let snapshot = snapshot(&folder);
        let query = AnalyzedQuery::new("w0 w1", &Analysis::default());
        let model: Box<dyn SparseModel> = match ModelKind::ALL[kind] {
            ModelKind::Fsdm => Box::new(Fsdm { candidates: 100, ..Fsdm::default() }),
            other => other.model(LengthMode::Exact),
        };
        let everything = rank(model.as_ref(), &query, &snapshot, 100).expect("ranked");
        let expected = filtered(&everything.ranking, &documents, &filter);
        let passing = snapshot.filtered_docs(&filter).expect("decided");
        prop_assert_eq!(passing.is_none(), filter.is_empty());
        let mut passing = passing.as_ref();
        let ranked = rank_selection(model.as_ref(), &query, &snapshot, depth, &mut passing).expect("ranked");
        prop_assert_eq!(ranked.total, expected.len());
        prop_assert_eq!(&ranked.ranking, &expected.clone().cut(depth));

        let mut counting = snapshot.facet_counter(passing).expect("counting");
        let counted_too = rank_selection(model.as_ref(), &query, &snapshot, depth, &mut counting).expect("ranked");
        prop_assert_eq!((counted_too.total, &counted_too.ranking), (ranked.total, &ranked.ranking));
        let found: Vec<&Document> = everything.ranking.iter().map(|scored| &documents[scored.id.as_str()]).collect();
        let counts = counting.finish(&filter, usize::MAX);
        prop_assert_eq!(as_counts(&counts), counted(&found, &filter));
        for one in &counts.facets {
            let chosen = one.values.iter().filter(|value| value.chosen).map(|value| folded(one.facet, &value.value));
            prop_assert_eq!(chosen.collect::<BTreeSet<_>>(), filter.values_of(one.facet).map(|value| folded(one.facet, value)).collect());
        }
        // Without words: all that pass, by year and then id.
        let mut listed: Vec<(Reverse<Option<i32>>, &str)> = documents
            .iter()
            .filter(|(_, document)| document.passes(&filter))
            .map(|(name, document)| (Reverse(document.year), name.as_str()))
            .collect();
        listed.sort_unstable();
        let mut counting = snapshot.facet_counter(passing).expect("counting");
        let (newest, total) = snapshot.newest(passing, listed_depth, |address| counting.add(address));
        prop_assert_eq!(total, listed.len());
        let ids: Vec<DatasetId> = newest.into_iter().map(|address| snapshot.id(address).expect("an id")).collect();
        let expected: Vec<&str> = listed.iter().take(listed_depth).map(|(_, name)| *name).collect();
        prop_assert_eq!(ids.iter().map(DatasetId::as_str).collect::<Vec<_>>(), expected);
        let living: Vec<&Document> = documents.values().collect();
        prop_assert_eq!(as_counts(&counting.finish(&filter, usize::MAX)), counted(&living, &filter));
        for (name, document) in &documents {
            let numbers = snapshot.numeric_facts(&DatasetId::new(name.as_str()).expect("an id")).expect("read");
            prop_assert_eq!(numbers, Some(document.facts().numbers));
        }
    }
}

/// The commonest spelling is shown; equal counts are in the order of names; what was chosen is shown though it is rare.
#[test]
fn values_are_shown_as_most_write_them() {
    let document = |tasks: &[u8]| Document {
        words: vec![0],
        values: [tasks.to_vec(), Vec::new(), Vec::new()],
        ..Document::default()
    };
    // 2 and 3 are V1 and v1.
    let documents: Documents = [
        document(&[3, 5]),
        document(&[2, 3]),
        document(&[3, 7]),
        document(&[5, 7, 9]),
    ]
    .into_iter()
    .enumerate()
    .map(|(n, one)| (format!("d{n}"), one))
    .collect();
    let snapshot = snapshot(&write(&documents, 1, &[]));
    let filter = Filter::default()
        .with(Facet::Task, "V4")
        .with(Facet::Task, "nothing");
    let query = AnalyzedQuery::new("w0", &Analysis::default());
    let passing = snapshot.filtered_docs(&filter).expect("decided");
    let mut counting = snapshot.facet_counter(passing.as_ref()).expect("counting");
    let model = ModelKind::Bm25.model(LengthMode::Exact);
    assert_eq!(
        rank_selection(model.as_ref(), &query, &snapshot, 9, &mut counting)
            .expect("ranked")
            .total,
        1
    );
    let counts = counting.finish(&filter, 2);
    let values = counts.facets[0]
        .values
        .iter()
        .map(|one| (one.value.as_str(), one.count, one.chosen));
    assert_eq!(
        values.collect::<Vec<_>>(),
        [
            ("v1", 3, false),
            ("v2", 2, false),
            ("v4", 1, true),
            ("nothing", 0, true)
        ]
    );
    assert_eq!(counts.facets[0].distinct, 4);
}

fn pwc() -> Home {
    Home::from_catalog(&testdata("papers-with-code.json"))
}

fn titles(home: &Home, filter: Filter) -> Vec<String> {
    let request = SearchRequest {
        filter,
        ..SearchRequest::new("domain adaptation for semantic segmentation")
    };
    let response = home.searcher().search(&request).expect("answered");
    assert_eq!(response.total, response.hits.len());
    response
        .hits
        .iter()
        .map(|hit| hit.card.metadata.title().to_owned())
        .collect()
}

#[test]
fn a_search_keeps_to_its_filter() {
    let home = pwc();
    let all = titles(&home, Filter::default());
    assert!(all.iter().any(|title| title == "Fog & Quay"), "{all:?}");
    let early = titles(&home, Filter::until(2018));
    assert_eq!(early.len(), all.len() - 1);
    assert!(!early.iter().any(|title| title == "Fog & Quay"));
    let task = Filter::until(2021)
        .with(Facet::Task, "SEMANTIC segmentation")
        .with(Facet::Modality, "point cloud");
    assert_eq!(titles(&home, task), ["Crane Clouds"]);
    let unknown = home
        .searcher()
        .rank_filtered("gulls", &Filter::until(1900), 10)
        .expect("ranked");
    assert_eq!(unknown.len(), 1, "its year is not known");
}

#[test]
fn numbers_are_those_of_the_catalogue() {
    let home = pwc();
    let numbers = |id: &str| {
        home.searcher()
            .catalog()
            .numeric_facts(&DatasetId::new(id).expect("an id"))
            .expect("read")
    };
    let harbour = NumericFacts {
        year: Some(2016),
        uses: Some(1204),
        variants: 4,
    };
    assert_eq!(numbers("Harbour_Scenes"), Some(harbour));
    assert_eq!(
        numbers("Gull_Sounds"),
        Some(NumericFacts {
            year: None,
            uses: Some(0),
            variants: 0
        })
    );
    assert_eq!(numbers("none"), None);
}

#[test]
fn lists_without_words_are_whole_page_by_page() {
    let home = Home::from_catalog(&testdata("catalog.ttl"));
    let searcher = home.searcher();
    let request = BrowseRequest {
        depth: 5,
        facets: 100,
        ..BrowseRequest::default()
    };
    let mut years = Vec::new();
    let mut ids = BTreeSet::new();
    for skip in [0, 5, 10, 15] {
        let page = searcher
            .catalog()
            .browse(&BrowseRequest {
                skip,
                ..request.clone()
            })
            .expect("listed");
        assert_eq!(
            (page.total, page.datasets.len()),
            (12, (12_usize.saturating_sub(skip)).min(5))
        );
        assert!(
            page.datasets
                .iter()
                .enumerate()
                .all(|(place, one)| one.rank == skip + place + 1)
        );
        years.extend(
            page.datasets
                .iter()
                .map(|one| one.card.metadata.first_year().unwrap_or(i32::MIN)),
        );
        ids.extend(page.datasets.into_iter().map(|one| one.card.metadata.id));
    }
    assert!(
        ids.len() == 12 && years.is_sorted_by(|one, other| one >= other),
        "{years:?}"
    );
    let counts = searcher
        .catalog()
        .browse(&BrowseRequest {
            depth: 0,
            ..request.clone()
        })
        .expect("counted");
    assert!(counts.datasets.is_empty() && counts.total == 12 && counts.facets.facets.len() > 5);
    for one in counts
        .facets
        .facets
        .iter()
        .flat_map(|facet| facet.values.iter().map(|value| (facet.facet, value)))
    {
        let filter = Filter::default().with(one.0, one.1.value.as_str());
        let found = searcher
            .catalog()
            .browse(&BrowseRequest {
                filter,
                depth: 100,
                ..request.clone()
            })
            .expect("listed");
        assert_eq!(
            (found.total as u64, found.datasets.len() as u64),
            (one.1.count, one.1.count),
            "{} {}",
            one.0,
            one.1.value
        );
    }
}

/// Computes the values of a facet from the description and triples of a dataset, without the index.
fn has(home: &Home, id: &DatasetId, facet: Facet, value: &str) -> bool {
    let entry = home.store.entry(id).expect("an entry");
    let graph = home.store.content(&entry).expect("content");
    let text = |id| graph.term(id).text();
    let class = |triple: &lodeseek_rdf::Triple| {
        (text(triple.predicate) == RDF_TYPE).then(|| text(triple.object))
    };
    let names = |agents: &[lodeseek_catalog::Agent]| agents.iter().any(|agent| agent.name == value);
    match facet {
        Facet::Class => graph
            .triples()
            .iter()
            .filter_map(class)
            .any(|class| class == value),
        Facet::Vocabulary => {
            let terms = graph
                .triples()
                .iter()
                .flat_map(|triple| [class(triple), Some(text(triple.predicate))]);
            terms.flatten().any(|term| {
                term.strip_prefix(value)
                    .is_some_and(|name| !name.contains(['#', '/']))
            })
        }
        Facet::Publisher => names(&entry.dataset.metadata.publishers),
        Facet::Theme => entry
            .dataset
            .theme_names()
            .iter()
            .any(|theme| theme == value),
        Facet::Format => entry
            .dataset
            .format_names()
            .iter()
            .any(|format| format == value),
        Facet::Source => entry
            .dataset
            .metadata
            .source
            .is_some_and(|source| source.contains(&format!("//{value}/"))),
        other => panic!("{other} is not looked at here"),
    }
}

const RDF_TYPE: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";

/// Each value of the facets that come from content, files and catalogues: as many are counted as have it, and a filter by
/// it finds those and no others.
#[test]
fn counts_and_filters_are_those_of_descriptions_and_content() {
    let home = Home::from_catalog(&testdata("catalog.ttl"));
    let searcher = home.searcher();
    let query = "the of trees water city data register objects soil stops contracts sensors trials port street air";
    let request = SearchRequest {
        facets: Some(1000),
        depth: 100,
        ..SearchRequest::new(query)
    };
    let everything = searcher.search(&request).expect("answered");
    let ids: BTreeSet<DatasetId> = everything
        .hits
        .iter()
        .map(|hit| hit.card.metadata.id.clone())
        .collect();
    assert!(ids.len() > 8, "{}", ids.len());
    let counts = everything.facets.expect("counted");
    let looked_at = [
        Facet::Theme,
        Facet::Class,
        Facet::Publisher,
        Facet::Format,
        Facet::Vocabulary,
        Facet::Source,
    ];
    for facet in looked_at {
        let of_facet = counts.facets.iter().find(|one| one.facet == facet);
        let values = &of_facet
            .unwrap_or_else(|| panic!("there is no {facet}"))
            .values;
        for one in values {
            let expected: BTreeSet<DatasetId> = ids
                .iter()
                .filter(|id| has(&home, id, facet, &one.value))
                .cloned()
                .collect();
            assert_eq!(one.count, expected.len() as u64, "{facet} {}", one.value);
            let filter = Filter::default().with(facet, one.value.as_str());
            let found = searcher
                .search(&SearchRequest {
                    filter,
                    ..request.clone()
                })
                .expect("answered");
            let found: BTreeSet<DatasetId> = found
                .hits
                .into_iter()
                .map(|hit| hit.card.metadata.id)
                .collect();
            assert_eq!(found, expected, "{facet} {}", one.value);
        }
    }
    let formats = counts
        .facets
        .iter()
        .find(|one| one.facet == Facet::Format)
        .expect("formats");
    assert!(
        formats.values.iter().any(|value| value.value == "Turtle"),
        "{formats:?}"
    );
}
