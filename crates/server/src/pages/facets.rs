//! Facets, years and active filters as links and a form, with the complete state of the page in the address.

use super::results::Results;
use super::{PageContext, place_map, readable};
use crate::portal::license_label;
use lodeseek_catalog::Day;
use lodeseek_engine::{
    BoundingBox, Facet, FacetCounts, FacetValues, Filter, Period, ValueCount, YearCounts,
    facet_label,
};
use lodeseek_index::Collation;
use lodeseek_rdf::vocab::{owl, rdf, rdfs, skos};
use std::cmp::Reverse;

/// Maximum number of values of a facet.
pub(super) const MAX_FACET_VALUES: usize = 30;
/// Number of values shown without unfolding.
const MAX_UNFOLDED_VALUES: usize = 7;
/// Number of facets that are open in addition to those with an active value.
const OPEN: usize = 4;
/// Height of the tallest bar in pixels.
const HEIGHT: u64 = 40;
/// Number of years shown: bars must be visible. A later year in a filter extends the range by a few years.
const YEARS: i32 = 60;
const LATER: i32 = 5;

/// An active filter with a link to remove it.
pub(super) struct Chip {
    pub(super) label: String,
    pub(super) href: String,
}

/// A facet.
pub(super) struct FacetView {
    pub(super) title: String,
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

/// The range of years.
pub(super) struct YearsView {
    pub(super) first: i32,
    pub(super) last: i32,
    /// The ends of the filter; empty if it has none.
    pub(super) since: String,
    pub(super) until: String,
    /// Text alternative of the histogram.
    pub(super) description: String,
    pub(super) unknown: u64,
    pub(super) bars: Vec<YearBar>,
    /// Width of the histogram in pixels.
    pub(super) width: i32,
    /// Other parameters of the page.
    pub(super) fields: Vec<(&'static str, String)>,
}

/// Fields for an area and a period.
pub(super) struct CoverageView {
    /// The area of the filter; empty if it has none.
    pub(super) within: String,
    /// The first and the last year of the filter's period; empty if it is open.
    pub(super) from: String,
    pub(super) until: String,
    /// If true, the filter has an area or a period.
    pub(super) is_active: bool,
    /// The first and the last year of all periods; `None` if no period is known.
    pub(super) years: Option<(i32, i32)>,
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
    let is_value =
        |known: &&(Facet, &str, &str)| known.0 == facet && known.1.eq_ignore_ascii_case(value);
    match LOCALIZED.iter().find(is_value) {
        Some((_, _, id)) => page.text(id),
        None => readable(&facet_label(facet, value)),
    }
}

/// Returns the filter without a value, or with it if it is not active.
fn toggled(filter: &Filter, facet: Facet, value: &str) -> Filter {
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
        let href = results.filtered(&Filter {
            since: None,
            ..filter.clone()
        });
        chips.push(Chip {
            label: page.text_with("filter-since", "year", year),
            href,
        });
    }
    if let Some(year) = filter.until {
        let href = results.filtered(&Filter {
            until: None,
            ..filter.clone()
        });
        chips.push(Chip {
            label: page.text_with("filter-until", "year", year),
            href,
        });
    }
    if let Some(within) = filter.within {
        let href = results.filtered(&Filter {
            within: None,
            ..filter.clone()
        });
        chips.push(Chip {
            label: page.text_with("filter-within", "box", within.to_string()),
            href,
        });
    }
    if let Some(covers) = filter.covers {
        let href = results.filtered(&Filter {
            covers: None,
            ..filter.clone()
        });
        chips.push(Chip {
            label: page.text_with("filter-covers", "period", covers.to_string()),
            href,
        });
    }
    for condition in &filter.columns {
        let mut others = filter.clone();
        others.columns.retain(|other| other != condition);
        chips.push(Chip {
            label: page.text_with("filter-column", "column", condition.to_string()),
            href: results.filtered(&others),
        });
    }
    for (facet, value) in &filter.values {
        let name = page.text(&format!("filter-{facet}"));
        let href = results.filtered(&toggled(filter, *facet, value));
        chips.push(Chip {
            label: format!("{name}: {}", label(page, *facet, value)),
            href,
        });
    }
    chips
}

/// Returns the facets with a choice. A value of all datasets filters nothing, and a facet equal to another is redundant.
pub(super) fn facets(
    page: &PageContext,
    counts: &FacetCounts,
    total: usize,
    results: &Results<'_>,
) -> Vec<FacetView> {
    let chooses = |one: &&FacetValues| {
        one.distinct > 1
            || one
                .values
                .iter()
                .any(|value| value.chosen || value.count < total as u64)
    };
    let shown = counts
        .facets
        .iter()
        .filter(chooses)
        .filter(|one| !repeats(one, counts))
        .enumerate();
    let view = |(place, one): (usize, &FacetValues)| {
        let chosen = one.values.iter().any(|value| value.chosen);
        FacetView {
            open: chosen || place < OPEN,
            ..facet_view(page, one, results)
        }
    };
    shown.map(view).collect()
}

/// If the authors are the publishers, the facets are equal.
fn repeats(one: &FacetValues, counts: &FacetCounts) -> bool {
    let is_equal =
        |other: &FacetValues| (&other.values, other.distinct) == (&one.values, one.distinct);
    one.facet == Facet::Creator
        && counts
            .facets
            .iter()
            .any(|other| other.facet == Facet::Publisher && is_equal(other))
}

fn facet_view(page: &PageContext, one: &FacetValues, results: &Results<'_>) -> FacetView {
    let value = |value: &ValueCount| ValueView {
        label: label(page, one.facet, &value.value),
        title: value.value.clone(),
        count: value.count,
        chosen: value.chosen,
        href: results.filtered(&toggled(results.filter, one.facet, &value.value)),
    };
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
    let mut first: Vec<ValueView> = values.into_iter().map(value).collect();
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
        open: false,
        first,
        more,
        rest: one.distinct.saturating_sub(listed),
    }
}

/// Returns the fields for an area and a period.
pub(super) fn coverage(
    page: &PageContext,
    results: &Results<'_>,
    years: Option<(i32, i32)>,
) -> CoverageView {
    let filter = results.filter;
    let year = |day: Option<Day>| day.map(|day| day.year().to_string()).unwrap_or_default();
    let map =
        |within: BoundingBox| place_map::draw(within, &page.text_with("place-map", "box", within));
    CoverageView {
        within: filter
            .within
            .map(|within| within.to_string())
            .unwrap_or_default(),
        from: year(filter.covers.and_then(Period::first)),
        until: year(filter.covers.and_then(Period::last)),
        is_active: filter.within.is_some() || filter.covers.is_some(),
        years,
        map: filter.within.map(map),
        fields: results.fields(&Filter {
            within: None,
            covers: None,
            ..filter.clone()
        }),
    }
}

/// Returns the range of years; `None` if there is no choice.
pub(super) fn years(
    page: &PageContext,
    years: &YearCounts,
    results: &Results<'_>,
) -> Option<YearsView> {
    let scale = Scale::new(years, results.filter)?;
    let (first, last) = (scale.first, scale.last);
    let year = |year: Option<i32>| year.map(|year| year.to_string()).unwrap_or_default();
    Some(YearsView {
        first,
        last,
        since: year(results.filter.since),
        until: year(results.filter.until),
        description: page
            .locale
            .text_with("years-histogram", &[("first", &first), ("last", &last)]),
        unknown: years.unknown,
        bars: scale.bars(years, results.filter),
        width: (last - first + 1) * 10,
        fields: results.fields(&Filter {
            since: None,
            until: None,
            ..results.filter.clone()
        }),
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
        let ends = || filter.since.into_iter().chain(filter.until);
        let latest = ends().max().unwrap_or(newest).max(newest);
        let earliest = ends().min().unwrap_or(oldest).min(oldest);
        let scale = Self {
            first: earliest.max(newest - YEARS + 1),
            last: latest.min(newest + LATER),
        };
        (scale.first < scale.last).then_some(scale)
    }

    fn bars(self, years: &YearCounts, filter: &Filter) -> Vec<YearBar> {
        let in_year = |year: i32| -> u64 {
            let from = if year == self.first { i32::MIN } else { year };
            years.known.range(from..=year).map(|(_, count)| count).sum()
        };
        let tallest = (self.first..=self.last)
            .map(in_year)
            .max()
            .unwrap_or(1)
            .max(1);
        let passing = filter.since.unwrap_or(i32::MIN)..=filter.until.unwrap_or(i32::MAX);
        let bar = |year: i32| {
            let count = in_year(year);
            // Small counts remain visible.
            let height = (count * HEIGHT).div_ceil(tallest);
            let passes = passing.contains(&year);
            YearBar {
                year,
                count,
                x: (year - self.first) * 10,
                y: HEIGHT - height,
                height,
                passes,
            }
        };
        (self.first..=self.last)
            .map(bar)
            .filter(|bar| bar.count > 0)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::locale::{Locale, Texts};
    use std::sync::Arc;

    #[test]
    fn a_choice_is_taken_back_whatever_its_case() {
        let filter = Filter::until(2018).with(Facet::Task, "image Captioning");
        let without = toggled(&filter, Facet::Task, "Image Captioning");
        assert_eq!(without, Filter::until(2018));
        assert_eq!(
            toggled(&without, Facet::Task, "x"),
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
