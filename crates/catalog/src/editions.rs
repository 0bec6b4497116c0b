//! How the editions of one dataset stand to each other, as far as their titles tell (DCAT 3, §11).
//!
//! Numbers in titles are many things: a version (`v1.2`, `2.0`), a year, a district. An order is known only where each
//! edition has one number and all numbers are versions, or all are years. One edition without a number is then what the
//! others are editions of; of two without, neither is.

use super::duplicates::folded;
use serde::Serialize;

/// What another edition is to a dataset.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EditionRelation {
    /// What it is an edition of.
    Whole,
    /// An edition of it.
    Part,
    /// The version before.
    PreviousVersion,
    /// The version after.
    NextVersion,
    /// The one of the years before, in a series.
    PreviousInSeries,
    /// The one of the years after, in a series.
    NextInSeries,
    /// Another edition.
    Other,
}

impl EditionRelation {
    /// What it is, in words for people.
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

/// What tells an edition apart.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum TitleNumber {
    None,
    Version(Vec<u64>),
    Year(u64),
}

impl TitleNumber {
    /// Of a title; `None` where its numbers may mean anything.
    fn parse(title: &str) -> Option<Self> {
        let words = folded(title);
        let mut numbers = words.iter().filter(|word| word.contains(|c: char| c.is_ascii_digit()));
        match (numbers.next(), numbers.next()) {
            (None, _) => Some(Self::None),
            (Some(number), None) => Self::year(number).or_else(|| Self::version(number)),
            _ => None,
        }
    }

    fn year(word: &str) -> Option<Self> {
        let year = word.parse().ok().filter(|year| word.len() == 4 && (1500..2200).contains(year));
        year.map(Self::Year)
    }

    /// A number alone is no version: it has a `v` before it, or points within.
    fn version(word: &str) -> Option<Self> {
        let rest = word.strip_prefix('v');
        if rest.is_none() && !word.contains('.') {
            return None;
        }
        let parts = rest.unwrap_or(word).split('.').map(|part| part.parse().ok());
        parts.collect::<Option<_>>().map(Self::Version)
    }
}

/// What the others are to the edition at a place of these titles.
#[must_use]
pub fn relations(titles: &[&str], own: usize) -> Vec<EditionRelation> {
    let known = ordered(titles);
    let each = (0..titles.len()).map(|other| match &known {
        Some(marks) => edition(marks, own, other),
        None => EditionRelation::Other,
    });
    each.collect()
}

/// The marks, where they have an order.
fn ordered(titles: &[&str]) -> Option<Vec<TitleNumber>> {
    let marks = titles.iter().map(|title| TitleNumber::parse(title)).collect::<Option<Vec<_>>>()?;
    let numbered = marks.iter().filter(|mark| **mark != TitleNumber::None);
    let is_version = |mark: &TitleNumber| matches!(mark, TitleNumber::Version(_));
    let kinds = numbered.clone().map(is_version).collect::<std::collections::BTreeSet<_>>().len();
    let distinct = marks.iter().collect::<std::collections::BTreeSet<_>>().len();
    (kinds == 1 && distinct == marks.len()).then_some(marks)
}

fn edition(marks: &[TitleNumber], own: usize, other: usize) -> EditionRelation {
    let (here, there) = (&marks[own], &marks[other]);
    let between = |low: &TitleNumber, high: &TitleNumber| marks.iter().any(|mark| low < mark && mark < high);
    match (here, there) {
        (_, TitleNumber::None) => EditionRelation::Whole,
        (TitleNumber::None, _) => EditionRelation::Part,
        (TitleNumber::Version(_), _) if there < here && !between(there, here) => EditionRelation::PreviousVersion,
        (TitleNumber::Version(_), _) if here < there && !between(here, there) => EditionRelation::NextVersion,
        (TitleNumber::Year(_), _) if there < here && !between(there, here) => EditionRelation::PreviousInSeries,
        (TitleNumber::Year(_), _) if here < there && !between(here, there) => EditionRelation::NextInSeries,
        _ => EditionRelation::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use EditionRelation::{NextInSeries, NextVersion, Other, Part, PreviousInSeries, PreviousVersion, Whole};

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
        assert_eq!(others(&["Census 2021", "Census 2001", "Census 2011"], 2), [NextInSeries, PreviousInSeries]);
        for unordered in [
            ["Road 66", "Road 67"],
            ["Census 2020 v1.0", "Census 2021 v1.0"],
            ["Census 2020", "Census v2"],
            ["Census 2020", "The census: 2020"],
        ] {
            assert_eq!(others(&unordered, 0), [Other], "{unordered:?}");
        }
        assert_eq!(others(&["Census", "Census!", "Census 2020"], 2), [Other, Other]);
    }
}
