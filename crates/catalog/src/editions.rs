//! Relations between editions of one dataset, derived from their titles (DCAT 3, section 11).
//!
//! A number in a title may be a version (`v1.2`, `2.0`), a year or a district. Editions are ordered only if each has
//! one number, and all numbers are versions or all are years. A single edition without a number is then the work of
//! which the others are editions.

use super::duplicates::split_words;
use serde::Serialize;

/// Relation of another edition to a dataset.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EditionRelation {
    /// The work of which the dataset is an edition.
    Whole,
    /// An edition of the dataset.
    Part,
    /// The previous version.
    PreviousVersion,
    /// The next version.
    NextVersion,
    /// The previous year in a series.
    PreviousInSeries,
    /// The next year in a series.
    NextInSeries,
    /// Another edition.
    Other,
}

impl EditionRelation {
    /// Returns the label for readers.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Whole => "of all editions",
            Self::Part => "an edition of this",
            Self::PreviousVersion => "the version before",
            Self::NextVersion => "the version after",
            Self::PreviousInSeries => "the one before",
            Self::NextInSeries => "the one after",
            Self::Other => "another edition",
        }
    }
}

/// The number that distinguishes an edition.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum TitleNumber {
    None,
    Version(Vec<u64>),
    Year(u64),
}

impl TitleNumber {
    /// Parses a title; `None` if its numbers are ambiguous.
    fn parse(title: &str) -> Option<Self> {
        let words = split_words(title);
        let mut numbers = words
            .iter()
            .filter(|word| word.contains(|c: char| c.is_ascii_digit()));
        match (numbers.next(), numbers.next()) {
            (None, _) => Some(Self::None),
            (Some(number), None) => Self::year(number).or_else(|| Self::version(number)),
            _ => None,
        }
    }

    fn year(word: &str) -> Option<Self> {
        let year = word
            .parse()
            .ok()
            .filter(|year| word.len() == 4 && (1500..2200).contains(year));
        year.map(Self::Year)
    }

    /// Parses a version: it begins with `v` or contains points. A plain number is not a version.
    fn version(word: &str) -> Option<Self> {
        let rest = word.strip_prefix('v');
        if rest.is_none() && !word.contains('.') {
            return None;
        }
        let parts = rest
            .unwrap_or(word)
            .split('.')
            .map(|part| part.parse().ok());
        parts.collect::<Option<_>>().map(Self::Version)
    }
}

/// Returns the relations of all editions to the edition at index `own`.
#[must_use]
pub fn relations(titles: &[&str], own: usize) -> Vec<EditionRelation> {
    let known = parse_ordered_numbers(titles);
    let each = (0..titles.len()).map(|other| match &known {
        Some(marks) => compare_editions(marks, own, other),
        None => EditionRelation::Other,
    });
    each.collect()
}

/// Returns the numbers of the titles if they have an order.
fn parse_ordered_numbers(titles: &[&str]) -> Option<Vec<TitleNumber>> {
    let marks = titles
        .iter()
        .map(|title| TitleNumber::parse(title))
        .collect::<Option<Vec<_>>>()?;
    let numbered = marks.iter().filter(|mark| **mark != TitleNumber::None);
    let kinds = numbered
        .clone()
        .map(|mark| matches!(mark, TitleNumber::Version(_)))
        .collect::<std::collections::BTreeSet<_>>()
        .len();
    // Two editions of the same number have no order.
    let distinct = marks
        .iter()
        .collect::<std::collections::BTreeSet<_>>()
        .len();
    (kinds == 1 && distinct == marks.len()).then_some(marks)
}

fn compare_editions(marks: &[TitleNumber], own: usize, other: usize) -> EditionRelation {
    let (here, there) = (&marks[own], &marks[other]);
    match (here, there) {
        (_, TitleNumber::None) => EditionRelation::Whole,
        (TitleNumber::None, _) => EditionRelation::Part,
        (TitleNumber::Version(_), _) if there < here && !has_between(marks, there, here) => {
            EditionRelation::PreviousVersion
        }
        (TitleNumber::Version(_), _) if here < there && !has_between(marks, here, there) => {
            EditionRelation::NextVersion
        }
        (TitleNumber::Year(_), _) if there < here && !has_between(marks, there, here) => {
            EditionRelation::PreviousInSeries
        }
        (TitleNumber::Year(_), _) if here < there && !has_between(marks, here, there) => {
            EditionRelation::NextInSeries
        }
        _ => EditionRelation::Other,
    }
}

/// Returns true if another title has a number between these two.
fn has_between(marks: &[TitleNumber], low: &TitleNumber, high: &TitleNumber) -> bool {
    marks.iter().any(|mark| low < mark && mark < high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use EditionRelation::{
        NextInSeries, NextVersion, Other, Part, PreviousInSeries, PreviousVersion, Whole,
    };

    #[test]
    fn an_order_is_known_of_versions_and_years_alone() {
        let others = |titles: &[&str], own: usize| {
            let mut found = relations(titles, own);
            found.remove(own);
            found
        };
        let versions = ["Tool v1.9", "Tool v1.10", "Tool", "Tool v2"];
        assert_eq!(others(&versions, 1), [PreviousVersion, Whole, NextVersion]);
        assert_eq!(others(&versions, 0), [NextVersion, Whole, Other]);
        assert_eq!(others(&versions, 2), [Part, Part, Part]);
        assert_eq!(
            others(&["Census 2021", "Census 2001", "Census 2011"], 2),
            [NextInSeries, PreviousInSeries]
        );
        for unordered in [
            ["Road 66", "Road 67"],
            ["Census 2020 v1.0", "Census 2021 v1.0"],
            ["Census 2020", "Census v2"],
            ["Census 2020", "The census: 2020"],
        ] {
            assert_eq!(others(&unordered, 0), [Other], "{unordered:?}");
        }
        assert_eq!(
            others(&["Census", "Census!", "Census 2020"], 2),
            [Other, Other]
        );
    }
}
