//! Facets, years and active filters as links and a form, with the complete state of the page in the address.

use super::results::Results;
use lodeseek_engine::{Facet, FacetCounts, FacetValues, Filter, ValueCount, YearCounts, facet_label};

/// Maximum number of values of a facet.
pub(super) const MOST: usize = 30;
/// Number of values shown without unfolding.
const SHOWN: usize = 7;
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
    pub(super) title: &'static str,
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
    /// IRI of the value, for a tooltip.
    pub(super) title: String,
    pub(super) count: u64,
    pub(super) chosen: bool,
    pub(super) href: String,
}

/// The slider of years.
pub(super) struct YearsView {
    pub(super) first: i32,
    pub(super) last: i32,
    pub(super) value: i32,
    pub(super) unknown: u64,
    pub(super) bars: Vec<YearBar>,
    /// Width of the histogram in pixels.
    pub(super) width: i32,
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

fn title(facet: Facet) -> &'static str {
    match facet {
        Facet::Task => "Tasks",
        Facet::Modality => "Modalities",
        Facet::Theme => "Themes",
        Facet::Class => "Classes",
        Facet::Keyword => "Keywords",
        Facet::Publisher => "Publishers",
        Facet::Creator => "Authors and publishers",
        Facet::Format => "Formats",
        Facet::License => "Licences",
        Facet::Language => "Languages",
        Facet::Vocabulary => "Vocabularies",
        Facet::Source => "Portals",
    }
}

/// Returns the filter without a value, or with it if it is not active.
fn toggled(filter: &Filter, facet: Facet, value: &str) -> Filter {
    let filter = filter.clone();
    if filter.contains(facet, value) { filter.without(facet, value) } else { filter.with(facet, value) }
}

/// Returns the active filters.
pub(super) fn chips(results: &Results<'_>) -> Vec<Chip> {
    let filter = results.filter;
    let year = filter.until.map(|year| Chip {
        label: format!("in or before {year}"),
        href: results.filtered(&Filter { until: None, ..filter.clone() }),
    });
    let value = |(facet, value): &(Facet, String)| Chip {
        label: format!("{facet}: {}", facet_label(*facet, value)),
        href: results.filtered(&toggled(filter, *facet, value)),
    };
    year.into_iter().chain(filter.values.iter().map(value)).collect()
}

/// Returns the facets with a choice. A value of all datasets filters nothing, and a facet equal to another is redundant.
pub(super) fn facets(counts: &FacetCounts, total: usize, results: &Results<'_>) -> Vec<FacetView> {
    let chooses = |one: &&FacetValues| {
        one.distinct > 1 || one.values.iter().any(|value| value.chosen || value.count < total as u64)
    };
    let shown = counts.facets.iter().filter(chooses).filter(|one| !repeats(one, counts)).enumerate();
    let view = |(place, one): (usize, &FacetValues)| {
        let chosen = one.values.iter().any(|value| value.chosen);
        FacetView { open: chosen || place < OPEN, ..facet_view(one, results) }
    };
    shown.map(view).collect()
}

/// If the authors are the publishers, the facets are equal.
fn repeats(one: &FacetValues, counts: &FacetCounts) -> bool {
    let is_equal = |other: &FacetValues| (&other.values, other.distinct) == (&one.values, one.distinct);
    one.facet == Facet::Creator && counts.facets.iter().any(|other| other.facet == Facet::Publisher && is_equal(other))
}

fn facet_view(one: &FacetValues, results: &Results<'_>) -> FacetView {
    let value = |value: &ValueCount| ValueView {
        label: facet_label(one.facet, &value.value),
        title: if one.facet.has_iris() { value.value.clone() } else { String::new() },
        count: value.count,
        chosen: value.chosen,
        href: results.filtered(&toggled(results.filter, one.facet, &value.value)),
    };
    // Active values are always visible.
    let (chosen, others): (Vec<_>, Vec<_>) = one.values.iter().partition(|value| value.chosen);
    let mut first: Vec<ValueView> = chosen.into_iter().chain(others).map(value).collect();
    // Unfolding a single value would need as much space as showing it.
    let more = if first.len() > SHOWN + 1 { first.split_off(SHOWN) } else { Vec::new() };
    let listed = one.values.iter().filter(|value| value.count > 0).count();
    FacetView { title: title(one.facet), open: false, first, more, rest: one.distinct.saturating_sub(listed) }
}

/// Returns the slider of years; `None` if there is no choice.
pub(super) fn years(years: &YearCounts, results: &Results<'_>) -> Option<YearsView> {
    let until = results.filter.until;
    let (&oldest, &newest) = (years.known.keys().next()?, years.known.keys().next_back()?);
    let (least, most) = (newest - YEARS + 1, newest + LATER);
    let last = newest.max(until.unwrap_or(newest)).min(most);
    // Earlier years are counted with the first year shown.
    let first = oldest.min(until.unwrap_or(oldest)).max(least);
    if first == last {
        return None;
    }
    let in_year = |year: i32| -> u64 {
        let from = if year == first { i32::MIN } else { year };
        years.known.range(from..=year).map(|(_, count)| count).sum()
    };
    let tallest = (first..=last).map(in_year).max().unwrap_or(1).max(1);
    let bar = |year: i32| {
        let count = in_year(year);
        // Small counts remain visible.
        let height = (count * HEIGHT).div_ceil(tallest);
        let passes = until.is_none_or(|until| year <= until);
        YearBar { year, count, x: (year - first) * 10, y: HEIGHT - height, height, passes }
    };
    Some(YearsView {
        first,
        last,
        value: until.unwrap_or(last).clamp(first, last),
        unknown: years.unknown,
        bars: (first..=last).map(bar).filter(|bar| bar.count > 0).collect(),
        width: (last - first + 1) * 10,
        fields: results.fields(&Filter { until: None, ..results.filter.clone() }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_engine::{DuplicateMode, SnippetKind};

    #[test]
    fn a_choice_is_taken_back_whatever_its_case() {
        let filter = Filter::until(2018).with(Facet::Task, "image Captioning");
        let without = toggled(&filter, Facet::Task, "Image Captioning");
        assert_eq!(without, Filter::until(2018));
        assert_eq!(toggled(&without, Facet::Task, "x"), Filter::until(2018).with(Facet::Task, "x"));
    }

    #[test]
    fn the_slider_shows_the_years_there_are() {
        let years_of = |known: &[(i32, u64)], until| {
            let filter = Filter { until, ..Filter::default() };
            let results = Results {
                query: "q",
                filter: &filter,
                page: 0,
                snippet: SnippetKind::Stored,
                lang: None,
                duplicates: DuplicateMode::Grouped,
                model: None,
            };
            let counted = YearCounts { known: known.iter().copied().collect(), unknown: 0 };
            years(&counted, &results).map(|view| (view.first, view.last, view.value, view.bars.len()))
        };
        let known = [(1900, 1), (2016, 2), (2021, 1)];
        assert_eq!(years_of(&known, None), Some((1962, 2021, 2021, 3)), "1900 stands at the first");
        assert_eq!(years_of(&known, Some(2018)), Some((1962, 2021, 2018, 3)));
        assert_eq!(years_of(&known, Some(9999)), Some((1962, 2026, 2026, 3)));
        assert_eq!(years_of(&known, Some(1950)), Some((1962, 2021, 1962, 3)));
        assert_eq!(years_of(&known[1..], Some(2014)), Some((2014, 2021, 2014, 2)));
        assert_eq!((years_of(&known[2..], None), years_of(&[], Some(2018))), (None, None));
    }
}
