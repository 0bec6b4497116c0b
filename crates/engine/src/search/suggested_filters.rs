//! Filters by area and period that the words of a query suggest.
//!
//! # Why suggestions, and not filters?
//!
//! Few catalogues declare areas and periods: of 476 datasets of the collection `lod`, 17 have an area and 52 a period. A filter
//! that is applied without a request would hide the others. A year or the name of a country is also often a part of a title, as in
//! "Census 2011" or "Archives nationales de France". Therefore words never filter and never change a rank. A suggestion is one
//! link or option away, and the filter that it sets can be removed as any other.

use lodeseek_catalog::{CoverageValue, coverage_expressions};
use lodeseek_index::{Filter, PartForm, parse_query};
use serde::Serialize;
use std::ops::Range;

/// Maximum number of filters suggested for a query. Each is counted by one traversal of the posting lists.
const MAX_SUGGESTED_FILTERS: usize = 4;

/// A filter that words of the query suggest.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SuggestedFilter {
    /// Name of the parameter: `covers` for a period, `within` for an area.
    pub parameter: &'static str,
    /// Value of the parameter: `2010..2015`, `2.5,49.4,6.5,51.6`.
    pub value: String,
    /// The words of the query, as typed.
    pub text: String,
    /// Name of the country or state in English, if it is an area.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<&'static str>,
    /// Number of datasets that pass the filter and contain at least one of the query's terms.
    pub with_words: usize,
    /// The period or the area.
    #[serde(skip)]
    pub coverage: CoverageValue,
}

impl SuggestedFilter {
    fn new(coverage: CoverageValue, text: &str) -> Self {
        let (parameter, value, name) = match coverage {
            CoverageValue::Period(period) => ("covers", period.to_string(), None),
            CoverageValue::Place { name, bounds } => ("within", bounds.to_string(), Some(name)),
        };
        Self {
            parameter,
            value,
            text: text.to_owned(),
            name,
            with_words: 0,
            coverage,
        }
    }

    /// Returns a filter with this condition added. It replaces a condition of the same kind.
    #[must_use]
    pub fn add_to(&self, filter: &Filter) -> Filter {
        match self.coverage {
            CoverageValue::Period(period) => Filter {
                covers: Some(period),
                ..filter.clone()
            },
            CoverageValue::Place { bounds, .. } => Filter {
                within: Some(bounds),
                ..filter.clone()
            },
        }
    }
}

/// Returns the filters that the words of a query suggest, without their counts. Phrases, exclusions and names suggest none, nor
/// do conditions of a kind that `filter` has.
pub(super) fn suggested_filters(query: &str, filter: &Filter) -> Vec<SuggestedFilter> {
    let mut suggested: Vec<SuggestedFilter> = Vec::new();
    for range in word_ranges(query) {
        let text = &query[range];
        for expression in coverage_expressions(text) {
            let is_set = match expression.value {
                CoverageValue::Period(_) => filter.covers.is_some(),
                CoverageValue::Place { .. } => filter.within.is_some(),
            };
            let is_known = suggested
                .iter()
                .any(|known| known.coverage == expression.value);
            if !is_set && !is_known && suggested.len() < MAX_SUGGESTED_FILTERS {
                suggested.push(SuggestedFilter::new(
                    expression.value,
                    &text[expression.range],
                ));
            }
        }
    }
    suggested
}

/// Returns the ranges of a query that have only words, and no phrase, exclusion or name between them.
fn word_ranges(query: &str) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut follows_word = false;
    for part in parse_query(query) {
        let is_word = part.form == PartForm::Word && !part.excluded;
        match ranges.last_mut() {
            Some(last) if is_word && follows_word => last.end = part.range.end,
            _ if is_word => ranges.push(part.range),
            _ => {}
        }
        follows_word = is_word;
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suggested(query: &str, filter: &Filter) -> Vec<String> {
        let filters = suggested_filters(query, filter);
        filters
            .iter()
            .map(|one| format!("{}={} {}", one.parameter, one.value, one.text))
            .collect()
    }

    #[test]
    fn words_suggest_filters() {
        let all = [
            "within=2.5,49.4,6.5,51.6 Belgium",
            "covers=2010..2015 from 2010 to 2015",
        ];
        let query = "air quality in Belgium from 2010 to 2015";
        assert_eq!(suggested(query, &Filter::default()), all);
        let covers = Filter {
            covers: "2012".parse().ok(),
            ..Filter::default()
        };
        assert_eq!(suggested(query, &covers), all[..1]);
        assert_eq!(
            suggested("Belgium Belgien belgique", &Filter::default()),
            ["within=2.5,49.4,6.5,51.6 Belgium"]
        );
        assert_eq!(
            suggested("2001 2002 2003 2004 2005 2006", &Filter::default()).len(),
            MAX_SUGGESTED_FILTERS
        );
    }

    #[test]
    fn phrases_exclusions_and_names_suggest_none() {
        for query in [
            "\"Census 2011\"",
            "parks -Belgium",
            "foaf:2011",
            "<http://example.org/2011>",
            "«depuis 2015»",
        ] {
            assert_eq!(suggested(query, &Filter::default()), [""; 0], "{query}");
        }
        let mixed = "\"air quality\" since \"hourly\" 2015 ß-Belgium \"x\" Deutschland";
        assert_eq!(
            suggested(mixed, &Filter::default()),
            ["covers=2015 2015", "within=5.8,47.2,15.1,55.1 Deutschland"]
        );
    }

    #[test]
    fn a_suggestion_keeps_the_other_conditions() {
        let filter = Filter {
            since: Some(2000),
            covers: "2012".parse().ok(),
            ..Filter::default()
        };
        let place = &suggested_filters("Belgium", &filter)[0];
        let both = place.add_to(&filter);
        assert_eq!(
            (both.since, both.covers, both.within.is_some()),
            (filter.since, filter.covers, true)
        );
    }
}
