//! Facets, years and active filters as links and a form, with the complete state of the page in the address.

use super::results::Results;
use super::{PageContext, place_map, readable};
use crate::locale::{Locale, Texts};
use crate::portal::license_label;
use lodeseek_catalog::{CoverageValue, Day, Period, coverage_expressions, place_name};
use lodeseek_engine::{
    BoundingBox, Facet, FacetCounts, FacetValues, Filter, UnknownValue, ValueCount, YearCounts,
    facet_label, facet_value,
};
use lodeseek_index::Collation;
use lodeseek_rdf::vocab::{owl, rdf, rdfs, skos};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

/// Maximum number of values of a facet.
pub(super) const MAX_FACET_VALUES: usize = 30;
/// Number of values shown without unfolding.
const MAX_UNFOLDED_VALUES: usize = 7;
/// Facets above the years: topics, then publishers.
const ABOVE_YEARS: [Facet; 7] = [
    Facet::Theme,
    Facet::Task,
    Facet::Modality,
    Facet::Keyword,
    Facet::SuggestedTheme,
    Facet::Publisher,
    Facet::Creator,
];
/// Facets below the years: access, then content.
const BELOW_YEARS: [Facet; 6] = [
    Facet::Format,
    Facet::License,
    Facet::Language,
    Facet::Class,
    Facet::Vocabulary,
    Facet::Source,
];
/// Facets that are closed without an active value.
const CLOSED: [Facet; 5] = [
    Facet::SuggestedTheme,
    Facet::Creator,
    Facet::Class,
    Facet::Vocabulary,
    Facet::Source,
];
/// Facets with topics, the best first.
const TOPICS: [Facet; 4] = [
    Facet::Theme,
    Facet::Task,
    Facet::Keyword,
    Facet::SuggestedTheme,
];
/// Maximum number of topics on the start page.
const MAX_TOPICS: usize = 12;
/// Minimum number of years with datasets in a histogram.
const MIN_HISTOGRAM_YEARS: usize = 5;
/// Height of the tallest bar in pixels.
const HISTOGRAM_HEIGHT: u64 = 40;
/// Number of years shown: bars must be visible. A later year in a filter extends the range by a few years.
const MAX_HISTOGRAM_YEARS: i32 = 60;
const MAX_LATER_YEARS: i32 = 5;

/// An active filter with a link to remove it.
pub(super) struct Chip {
    pub(super) label: String,
    pub(super) href: String,
}

/// A facet.
pub(super) struct FacetView {
    pub(super) title: String,
    /// If true, the facet is above the years.
    pub(super) is_above_years: bool,
    /// If true, the facet is shown open.
    pub(super) open: bool,
    pub(super) first: Vec<ValueView>,
    pub(super) more: Vec<ValueView>,
    /// Number of values that are not listed.
    pub(super) rest: usize,
}

/// A value with a link that adds or removes it.
pub(super) struct ValueView {
    pub(super) label: String,
    /// The complete value, for a tooltip.
    pub(super) title: String,
    pub(super) count: u64,
    pub(super) chosen: bool,
    pub(super) href: String,
}

/// Form for a range of years: of the publication, or of the data.
pub(super) struct YearsView {
    /// The first and the last year of the datasets, or of their periods.
    pub(super) first: i32,
    pub(super) last: i32,
    /// The ends of the filter; empty if it has none.
    pub(super) from: String,
    pub(super) until: String,
    /// If true, the years are those of the periods that the data covers.
    pub(super) is_covered: bool,
    /// If true, periods of datasets are known.
    pub(super) has_periods: bool,
    pub(super) unknown: u64,
    pub(super) histogram: Option<HistogramView>,
    /// Other parameters of the page.
    pub(super) fields: Vec<(&'static str, String)>,
}

/// Number of datasets by year of publication.
pub(super) struct HistogramView {
    /// Text alternative.
    pub(super) description: String,
    pub(super) bars: Vec<YearBar>,
    /// Width in pixels.
    pub(super) width: i32,
}

/// Form for a place.
pub(super) struct PlaceView {
    /// Name or box of the filter, or the unknown name that was typed; empty if there is none.
    pub(super) place: String,
    /// Message about the unknown name.
    pub(super) failure: Option<String>,
    /// Map of the area of the filter as SVG.
    pub(super) map: Option<String>,
    /// Other parameters of the page.
    pub(super) fields: Vec<(&'static str, String)>,
}

/// The datasets of a year.
pub(super) struct YearBar {
    pub(super) year: i32,
    pub(super) count: u64,
    pub(super) x: i32,
    pub(super) y: u64,
    pub(super) height: u64,
    /// If true, the year passes the filter.
    pub(super) passes: bool,
}

/// Vocabularies of RDF itself. Nearly every dataset uses them, so that they hardly narrow a search.
const MACHINERY: [&str; 4] = [
    rdf::NAMESPACE,
    rdfs::NAMESPACE,
    owl::NAMESPACE,
    skos::NAMESPACE,
];

/// If true, a class or vocabulary belongs to RDF's own machinery.
pub(super) fn is_machinery(facet: Facet, value: &str) -> bool {
    facet.has_iris()
        && MACHINERY
            .iter()
            .any(|namespace| value.starts_with(namespace))
}

/// Values of facets that the pages have in all their languages: (facet, English name in the index, id of the text). Themes
/// are those of the Publications Office of the European Union, languages those of the EU and some others.
const LOCALIZED: &[(Facet, &str, &str)] = &[
    (
        Facet::Theme,
        "Agriculture, fisheries, forestry and food",
        "theme-agri",
    ),
    (Facet::Theme, "Economy and finance", "theme-econ"),
    (Facet::Theme, "Education, culture and sport", "theme-educ"),
    (Facet::Theme, "Energy", "theme-ener"),
    (Facet::Theme, "Environment", "theme-envi"),
    (Facet::Theme, "Government and public sector", "theme-gove"),
    (Facet::Theme, "Health", "theme-heal"),
    (Facet::Theme, "International issues", "theme-intr"),
    (
        Facet::Theme,
        "Justice, legal system and public safety",
        "theme-just",
    ),
    (Facet::Theme, "Regions and cities", "theme-regi"),
    (Facet::Theme, "Population and society", "theme-soci"),
    (Facet::Theme, "Science and technology", "theme-tech"),
    (Facet::Theme, "Transport", "theme-tran"),
    (Facet::Language, "Arabic", "language-arabic"),
    (Facet::Language, "Bulgarian", "language-bulgarian"),
    (Facet::Language, "Catalan", "language-catalan"),
    (Facet::Language, "Chinese", "language-chinese"),
    (Facet::Language, "Croatian", "language-croatian"),
    (Facet::Language, "Czech", "language-czech"),
    (Facet::Language, "Danish", "language-danish"),
    (Facet::Language, "Dutch", "language-dutch"),
    (Facet::Language, "English", "language-english"),
    (Facet::Language, "Estonian", "language-estonian"),
    (Facet::Language, "Finnish", "language-finnish"),
    (Facet::Language, "French", "language-french"),
    (Facet::Language, "German", "language-german"),
    (Facet::Language, "Greek", "language-greek"),
    (Facet::Language, "Hungarian", "language-hungarian"),
    (Facet::Language, "Irish", "language-irish"),
    (Facet::Language, "Italian", "language-italian"),
    (Facet::Language, "Japanese", "language-japanese"),
    (Facet::Language, "Latvian", "language-latvian"),
    (Facet::Language, "Lithuanian", "language-lithuanian"),
    (Facet::Language, "Maltese", "language-maltese"),
    (Facet::Language, "Norwegian", "language-norwegian"),
    (Facet::Language, "Polish", "language-polish"),
    (Facet::Language, "Portuguese", "language-portuguese"),
    (Facet::Language, "Romanian", "language-romanian"),
    (Facet::Language, "Russian", "language-russian"),
    (Facet::Language, "Slovak", "language-slovak"),
    (Facet::Language, "Slovenian", "language-slovenian"),
    (Facet::Language, "Spanish", "language-spanish"),
    (Facet::Language, "Swedish", "language-swedish"),
];

/// Returns the label of a value for readers, in the language of the page if it has the label.
pub(super) fn label(page: &PageContext, facet: Facet, value: &str) -> String {
    if facet == Facet::License {
        return license_label(value);
    }
    let listed = match facet {
        Facet::SuggestedTheme => Facet::Theme,
        other => other,
    };
    for (known_facet, known_value, id) in LOCALIZED {
        if *known_facet == listed && known_value.eq_ignore_ascii_case(value) {
            return page.text(id);
        }
    }
    readable(&facet_label(facet, value))
}

/// Returns the filter without a value, or with it if it is not active.
fn toggle_value(filter: &Filter, facet: Facet, value: &str) -> Filter {
    let filter = filter.clone();
    if filter.contains(facet, value) {
        filter.without(facet, value)
    } else {
        filter.with(facet, value)
    }
}

/// Returns the active filters.
pub(super) fn chips(page: &PageContext, results: &Results<'_>) -> Vec<Chip> {
    let filter = results.filter;
    let mut chips = Vec::new();
    if let Some(year) = filter.since {
        let href = results.address_with_filter(&Filter {
            since: None,
            ..filter.clone()
        });
        chips.push(Chip {
            label: page.text_with("filter-since", "year", year),
            href,
        });
    }
    if let Some(year) = filter.until {
        let href = results.address_with_filter(&Filter {
            until: None,
            ..filter.clone()
        });
        chips.push(Chip {
            label: page.text_with("filter-until", "year", year),
            href,
        });
    }
    if let Some(within) = filter.within {
        let href = results.address_with_filter(&Filter {
            within: None,
            ..filter.clone()
        });
        chips.push(Chip {
            label: page.text_with("filter-within", "box", place_text(within)),
            href,
        });
    }
    if let Some(covers) = filter.covers {
        let href = results.address_with_filter(&Filter {
            covers: None,
            ..filter.clone()
        });
        chips.push(Chip {
            label: page.text_with("filter-covers", "period", period_text(covers)),
            href,
        });
    }
    for condition in &filter.columns {
        let mut others = filter.clone();
        others.columns.retain(|other| other != condition);
        chips.push(Chip {
            label: page.text_with("filter-column", "column", condition.to_string()),
            href: results.address_with_filter(&others),
        });
    }
    for (facet, value) in &filter.values {
        let name = page.text(&format!("filter-{facet}"));
        let href = results.address_with_filter(&toggle_value(filter, *facet, value));
        chips.push(Chip {
            label: page.text_with2(
                "filter-value",
                "facet",
                name,
                "value",
                label(page, *facet, value),
            ),
            href,
        });
    }
    chips
}

/// Returns the values of filters that no dataset has, with a filter by each similar value in their place.
pub(super) fn unknown_values(
    page: &PageContext,
    results: &Results<'_>,
    unknown: &[UnknownValue],
) -> Vec<(String, Vec<Chip>)> {
    let mut values = Vec::new();
    for one in unknown.iter().filter(|one| !one.similar.is_empty()) {
        let facet = one.facet;
        let unknown = facet_value(facet, &one.value);
        let name = page.text(&format!("filter-{facet}"));
        let text = page.text_with2(
            "filter-value",
            "facet",
            name,
            "value",
            label(page, facet, &unknown),
        );
        let others = results.filter.clone().without(facet, &unknown);
        let mut chips = Vec::new();
        for similar in &one.similar {
            let value = facet_value(facet, similar);
            chips.push(Chip {
                label: label(page, facet, &value),
                href: results.address_with_filter(&others.clone().with(facet, value)),
            });
        }
        values.push((text, chips));
    }
    values
}

/// Returns a period as people write it: an en dash between years, with spaces around it between days.
pub(super) fn period_text(period: Period) -> String {
    let text = period.to_string();
    let Some((first, last)) = text.split_once("..") else {
        return text;
    };
    if first.contains('-') || last.contains('-') {
        format!("{first} – {last}").trim().to_owned()
    } else {
        format!("{first}–{last}")
    }
}

/// Returns the facets with a choice. A value of all datasets filters nothing, and a facet equal to another is redundant.
pub(super) fn facets(
    page: &PageContext,
    counts: &FacetCounts,
    total: usize,
    results: &Results<'_>,
) -> Vec<FacetView> {
    let mut views: Vec<FacetView> = Vec::new();
    for facet in ABOVE_YEARS.into_iter().chain(BELOW_YEARS) {
        let Some(one) = counts.facets.iter().find(|one| one.facet == facet) else {
            continue;
        };
        if !has_choice(one, total) || repeats_publishers(one, counts) {
            continue;
        }
        let is_chosen = one.values.iter().any(|value| value.chosen);
        // Without themes, the keywords are the topics.
        let is_topic = facet != Facet::Keyword || views.is_empty();
        let is_open = is_topic && !CLOSED.contains(&facet);
        views.push(FacetView {
            is_above_years: ABOVE_YEARS.contains(&facet),
            open: is_chosen || is_open,
            ..facet_view(page, one, results)
        });
    }
    views
}

/// Returns true if a value of a facet narrows down the datasets.
fn has_choice(one: &FacetValues, total: usize) -> bool {
    one.distinct > 1
        || one
            .values
            .iter()
            .any(|value| value.chosen || value.count < total as u64)
}

/// Returns the topics of the collection: the values of the first facet with several of them.
pub(super) fn topics(
    page: &PageContext,
    counts: &FacetCounts,
    results: &Results<'_>,
) -> Vec<ValueView> {
    for facet in TOPICS {
        let found = counts
            .facets
            .iter()
            .find(|one| one.facet == facet && one.distinct > 1);
        if let Some(one) = found {
            let FacetView { first, more, .. } = facet_view(page, one, results);
            let views: Vec<ValueView> = first.into_iter().chain(more).collect();
            let values: Vec<&str> = views.iter().map(|view| view.title.as_str()).collect();
            let mut labels = topic_labels(page, facet, &values);
            let mut topics = Vec::new();
            for (view, label) in views.into_iter().zip(&mut labels) {
                if let Some(label) = label.take() {
                    topics.push(ValueView { label, ..view });
                }
            }
            topics.truncate(MAX_TOPICS);
            return topics;
        }
    }
    Vec::new()
}

/// A topic that has names in several languages.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NamedTopic {
    /// A theme of the European Union, by the id of its text.
    Theme(&'static str),
    /// A country or a state of the USA, by its English name.
    Place(&'static str),
}

impl NamedTopic {
    /// Finds a topic by one of its names.
    fn from_name(name: &str) -> Option<Self> {
        if let Some(id) = THEME_NAMES.get(&name.to_lowercase()) {
            return Some(Self::Theme(id));
        }
        match &coverage_expressions(name)[..] {
            [expression] if expression.range == (0..name.len()) => match expression.value {
                CoverageValue::Place { name, .. } => Some(Self::Place(name)),
                CoverageValue::Period(_) => None,
            },
            _ => None,
        }
    }
}

/// Ids of the themes' texts by their names in lower case, in all languages of the pages.
static THEME_NAMES: LazyLock<HashMap<String, &'static str>> = LazyLock::new(|| {
    let mut names = HashMap::new();
    for locale in Locale::ALL {
        let texts = Texts::new(locale, Arc::default());
        for (facet, _, id) in LOCALIZED {
            if *facet == Facet::Theme {
                names.insert(texts.text(id).to_lowercase(), *id);
            }
        }
    }
    names
});

/// Returns the labels of topics. `None` for one that names the same theme or place as an earlier one, in another language.
///
/// A theme has its name in the language of the page. A place has its English name on English pages, else another one of the topics.
pub(super) fn topic_labels(
    page: &PageContext,
    facet: Facet,
    values: &[&str],
) -> Vec<Option<String>> {
    let mut labels: Vec<Option<String>> = Vec::new();
    let mut named: Vec<(NamedTopic, usize)> = Vec::new();
    for (index, value) in values.iter().enumerate() {
        let own = label(page, facet, value);
        let Some(topic) = NamedTopic::from_name(value) else {
            labels.push(Some(own));
            continue;
        };
        let own = match topic {
            NamedTopic::Theme(id) => page.text(id),
            NamedTopic::Place(_) => own,
        };
        let Some((_, first)) = named.iter().find(|(other, _)| *other == topic) else {
            named.push((topic, index));
            labels.push(Some(own));
            continue;
        };
        labels.push(None);
        let NamedTopic::Place(english) = topic else {
            continue;
        };
        let is_first_english = labels[*first]
            .as_ref()
            .is_some_and(|label| label.eq_ignore_ascii_case(english));
        let is_better = if page.lang() == Locale::English.tag() {
            own.eq_ignore_ascii_case(english)
        } else {
            is_first_english
        };
        if is_better {
            labels[*first] = Some(own);
        }
    }
    labels
}

/// If the authors are the publishers, the facets are equal.
fn repeats_publishers(one: &FacetValues, counts: &FacetCounts) -> bool {
    one.facet == Facet::Creator
        && counts.facets.iter().any(|other| {
            other.facet == Facet::Publisher
                && (&other.values, other.distinct) == (&one.values, one.distinct)
        })
}

fn facet_view(page: &PageContext, one: &FacetValues, results: &Results<'_>) -> FacetView {
    // Active values are always visible; those of the machinery come last. Equal counts are ordered by label.
    let mut values: Vec<&ValueCount> = one.values.iter().collect();
    let collation = Collation::new(page.locale.locale().tag());
    values.sort_by_cached_key(|value| {
        let label = collation.key(&label(page, one.facet, &value.value));
        (
            !value.chosen,
            is_machinery(one.facet, &value.value),
            Reverse(value.count),
            label,
        )
    });
    let mut first = Vec::with_capacity(values.len());
    for value in values {
        let filter = toggle_value(results.filter, one.facet, &value.value);
        first.push(ValueView {
            label: label(page, one.facet, &value.value),
            title: value.value.clone(),
            count: value.count,
            chosen: value.chosen,
            href: results.address_with_filter(&filter),
        });
    }
    // Unfolding a single value would need as much space as showing it.
    let more = if first.len() > MAX_UNFOLDED_VALUES + 1 {
        first.split_off(MAX_UNFOLDED_VALUES)
    } else {
        Vec::new()
    };
    let listed = one.values.iter().filter(|value| value.count > 0).count();
    let title = page.text(&format!("facet-{}", one.facet));
    FacetView {
        title,
        is_above_years: false,
        open: false,
        first,
        more,
        rest: one.distinct.saturating_sub(listed),
    }
}

/// Returns the form for a place.
pub(super) fn place(page: &PageContext, results: &Results<'_>) -> PlaceView {
    let filter = results.filter;
    let (mut place, mut map) = (String::new(), None);
    if let Some(within) = filter.within {
        place = place_text(within);
        map = Some(place_map::draw(
            within,
            &page.text_with("place-map", "box", &place),
        ));
    }
    let failure = results
        .unknown_place
        .map(|name| page.text_with("place-not-found", "name", name));
    if let Some(name) = results.unknown_place {
        name.clone_into(&mut place);
    }
    PlaceView {
        place,
        failure,
        map,
        fields: results.fields(&Filter {
            within: None,
            ..filter.clone()
        }),
    }
}

/// Returns the English name of a box if it is that of a country or a state, else the box.
pub(super) fn place_text(bounds: BoundingBox) -> String {
    match place_name(bounds) {
        Some(name) => name.to_owned(),
        None => bounds.to_string(),
    }
}

/// Returns the form for years, with those of the periods that the datasets cover, if any are known. `None` if there is no choice.
pub(super) fn years(
    page: &PageContext,
    years: &YearCounts,
    covered: Option<(i32, i32)>,
    results: &Results<'_>,
) -> Option<YearsView> {
    let scale = Scale::new(years, results.filter);
    let published = scale.map(|scale| (scale.first, scale.last));
    let (first, last) = published.or(covered)?;
    let filter = results.filter;
    let is_covered = filter.covers.is_some() || published.is_none();
    let (from, until) = match filter.covers {
        Some(period) => (period.first().map(Day::year), period.last().map(Day::year)),
        None => (filter.since, filter.until),
    };
    Some(YearsView {
        first,
        last,
        from: year_text(from),
        until: year_text(until),
        is_covered,
        has_periods: covered.is_some() || filter.covers.is_some(),
        unknown: years.unknown,
        histogram: scale.and_then(|scale| histogram_view(page, scale, years, filter)),
        fields: results.fields(&Filter {
            since: None,
            until: None,
            covers: None,
            ..filter.clone()
        }),
    })
}

fn year_text(year: Option<i32>) -> String {
    year.map(|year| year.to_string()).unwrap_or_default()
}

/// Returns the histogram; `None` for so few years that it shows nothing.
fn histogram_view(
    page: &PageContext,
    scale: Scale,
    years: &YearCounts,
    filter: &Filter,
) -> Option<HistogramView> {
    let bars = scale.bars(years, filter);
    let Scale { first, last } = scale;
    (bars.len() >= MIN_HISTOGRAM_YEARS).then(|| HistogramView {
        description: page
            .locale
            .text_with("years-histogram", &[("first", &first), ("last", &last)]),
        bars,
        width: (last - first + 1) * 10,
    })
}

/// The first and last year of a histogram. Earlier years are counted with the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Scale {
    first: i32,
    last: i32,
}

impl Scale {
    /// Returns the scale for the known years and the filter; `None` for a single year.
    fn new(years: &YearCounts, filter: &Filter) -> Option<Self> {
        let (&oldest, &newest) = (years.known.keys().next()?, years.known.keys().next_back()?);
        let (mut earliest, mut latest) = (oldest, newest);
        for year in filter.since.into_iter().chain(filter.until) {
            earliest = earliest.min(year);
            latest = latest.max(year);
        }
        let scale = Self {
            first: earliest.max(newest - MAX_HISTOGRAM_YEARS + 1),
            last: latest.min(newest + MAX_LATER_YEARS),
        };
        (scale.first < scale.last).then_some(scale)
    }

    fn bars(self, years: &YearCounts, filter: &Filter) -> Vec<YearBar> {
        let tallest = (self.first..=self.last)
            .map(|year| self.count_in_year(years, year))
            .max()
            .unwrap_or(1)
            .max(1);
        let passing = filter.since.unwrap_or(i32::MIN)..=filter.until.unwrap_or(i32::MAX);
        let mut bars = Vec::new();
        for year in self.first..=self.last {
            let count = self.count_in_year(years, year);
            if count == 0 {
                continue;
            }
            // Small counts remain visible.
            let height = (count * HISTOGRAM_HEIGHT).div_ceil(tallest);
            bars.push(YearBar {
                year,
                count,
                x: (year - self.first) * 10,
                y: HISTOGRAM_HEIGHT - height,
                height,
                passes: passing.contains(&year),
            });
        }
        bars
    }

    /// Counts the datasets of a year. The first year of the scale includes all earlier ones.
    fn count_in_year(self, years: &YearCounts, year: i32) -> u64 {
        let from = if year == self.first { i32::MIN } else { year };
        years.known.range(from..=year).map(|(_, count)| count).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_taken_back_whatever_its_case() {
        let filter = Filter::until(2018).with(Facet::Task, "image Captioning");
        let without = toggle_value(&filter, Facet::Task, "Image Captioning");
        assert_eq!(without, Filter::until(2018));
        assert_eq!(
            toggle_value(&without, Facet::Task, "x"),
            Filter::until(2018).with(Facet::Task, "x")
        );
    }

    #[test]
    fn the_histogram_shows_the_years_there_are() {
        let scale_of = |known: &[(i32, u64)], since, until| {
            let filter = Filter {
                since,
                until,
                ..Filter::default()
            };
            let counted = YearCounts {
                known: known.iter().copied().collect(),
                unknown: 0,
            };
            let scale = Scale::new(&counted, &filter)?;
            let bars = scale.bars(&counted, &filter);
            Some((
                scale.first,
                scale.last,
                bars.iter()
                    .map(|bar| (bar.year, bar.passes))
                    .collect::<Vec<_>>(),
            ))
        };
        let known = [(1900, 1), (2016, 2), (2021, 1)];
        let all = |passes: [bool; 3]| vec![(1962, passes[0]), (2016, passes[1]), (2021, passes[2])];
        assert_eq!(
            scale_of(&known, None, None),
            Some((1962, 2021, all([true; 3]))),
            "1900 stands at the first"
        );
        assert_eq!(
            scale_of(&known, None, Some(2018)),
            Some((1962, 2021, all([true, true, false])))
        );
        assert_eq!(
            scale_of(&known, Some(2018), Some(9999)),
            Some((1962, 2026, all([false, false, true])))
        );
        assert_eq!(
            scale_of(&known, Some(2018), None),
            Some((1962, 2021, all([false, false, true])))
        );
        assert_eq!(
            scale_of(&known[1..], None, Some(2014)).map(|found| (found.0, found.1)),
            Some((2014, 2021))
        );
        assert_eq!(
            (
                scale_of(&known[2..], None, None),
                scale_of(&[], None, Some(2018))
            ),
            (None, None)
        );
    }

    #[test]
    fn localized_values_are_the_english_names_of_the_index() {
        let texts = Texts::new(Locale::English, Arc::default());
        for (_, english, id) in LOCALIZED {
            assert_eq!(texts.text(id), *english);
        }
    }

    #[test]
    fn classes_of_the_machinery_are_known() {
        assert!(is_machinery(
            Facet::Class,
            "http://www.w3.org/2002/07/owl#Class"
        ));
        assert!(is_machinery(
            Facet::Vocabulary,
            "http://www.w3.org/2004/02/skos/core#"
        ));
        assert!(!is_machinery(
            Facet::Class,
            "http://xmlns.com/foaf/0.1/Person"
        ));
        assert!(!is_machinery(
            Facet::Keyword,
            "http://www.w3.org/2002/07/owl#Class"
        ));
    }
}
