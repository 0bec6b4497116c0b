//! What datasets are filtered and counted by, beside their texts.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A property whose values people choose among.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Facet {
    /// What is done with the data.
    Task,
    /// What the data are.
    Modality,
    /// What it is about, by the themes of its catalogue.
    Theme,
    /// The classes of its entities, by IRI.
    Class,
    /// Keywords.
    Keyword,
    /// Publishers.
    Publisher,
    /// Authors and publishers.
    Creator,
    /// The forms of its files.
    Format,
    /// The licence.
    License,
    /// The languages that texts are in.
    Language,
    /// The vocabularies of its classes and properties, by namespace.
    Vocabulary,
    /// The portal that it is known from.
    Source,
}

impl Facet {
    /// Every facet, in the order in which they are shown: what it is about, what is in it, who made it, how it can be had.
    pub const ALL: [Self; 12] = [
        Self::Task,
        Self::Modality,
        Self::Theme,
        Self::Class,
        Self::Keyword,
        Self::Publisher,
        Self::Creator,
        Self::Format,
        Self::License,
        Self::Language,
        Self::Vocabulary,
        Self::Source,
    ];

    /// The place in [`Self::ALL`].
    #[must_use]
    pub fn index(self) -> usize {
        self as usize
    }

    /// The name, in lower case: also that of a parameter.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Task => "task",
            Self::Modality => "modality",
            Self::Theme => "theme",
            Self::Class => "class",
            Self::Keyword => "keyword",
            Self::Publisher => "publisher",
            Self::Creator => "creator",
            Self::Format => "format",
            Self::License => "license",
            Self::Language => "language",
            Self::Vocabulary => "vocabulary",
            Self::Source => "source",
        }
    }

    /// Whether its values are IRIs, in which the case of letters counts.
    #[must_use]
    pub fn has_iris(self) -> bool {
        matches!(self, Self::Class | Self::Vocabulary)
    }

    /// A value as it is compared: what differs in the case of letters or in white space alone is one, but for IRIs, and so
    /// are addresses of a licence that differ in `http` and `https`, `www.` or a slash at their end.
    pub(super) fn normalized(self, value: &str) -> String {
        if self.has_iris() {
            return value.trim().to_owned();
        }
        let folded = value.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        let address = folded.strip_prefix("https://").or_else(|| folded.strip_prefix("http://"));
        match address.filter(|_| self == Self::License) {
            Some(address) => address.strip_prefix("www.").unwrap_or(address).trim_end_matches('/').to_owned(),
            None => folded,
        }
    }
}

impl fmt::Display for Facet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no facet's.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0:?} is no facet; known are {names}", names = Facet::ALL.map(Facet::name).join(", "))]
pub struct ParseFacetError(String);

impl FromStr for Facet {
    type Err = ParseFacetError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|facet| facet.name() == name).ok_or_else(|| ParseFacetError(name.to_owned()))
    }
}

/// The numbers known of a dataset.
///
/// `uses` and `variants` both tell how popular it is, by different counts that do not compare. Both were made when the
/// catalogue was: a query from an earlier time could not know them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NumericFacts {
    /// Since when it has been known.
    pub year: Option<i32>,
    /// How many works are known to use it.
    pub uses: Option<u64>,
    /// How many other names it goes by, its title not counted.
    pub variants: u64,
}

impl NumericFacts {
    /// How popular it is: the works known to use it; where these were not counted, the names it goes by.
    #[must_use]
    pub fn popularity(&self) -> u64 {
        self.uses.unwrap_or(self.variants + 1)
    }
}

/// NumericFacts, and the values of facets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The numbers.
    pub numbers: NumericFacts,
    /// The values: of a facet any number.
    pub values: Vec<(Facet, String)>,
}

/// Which datasets may be found.
///
/// Values of one facet are alternatives; all facets, and the year, have to pass. The case of letters does not count, but
/// in IRIs, nor does how much white space there is, nor the scheme of a licence's address.
///
/// ```
/// use lodeseek_index::{Facet, Filter};
/// let filter = Filter::until(2018).with(Facet::Task, "Image Classification").with(Facet::Modality, "Images");
/// assert!(!filter.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// The last year: datasets known to be later are left out. Those whose year is not known are kept.
    pub until: Option<i32>,
    /// Values of facets.
    pub values: Vec<(Facet, String)>,
}

impl Filter {
    /// What is not known to be later than a year.
    #[must_use]
    pub fn until(year: i32) -> Self {
        Self { until: Some(year), values: Vec::new() }
    }

    /// With a value of a facet, if it does not name it already.
    #[must_use]
    pub fn with(mut self, facet: Facet, value: impl Into<String>) -> Self {
        let value = value.into();
        if !self.contains(facet, &value) {
            self.values.push((facet, value));
        }
        self
    }

    /// Without a value of a facet.
    #[must_use]
    pub fn without(mut self, facet: Facet, value: &str) -> Self {
        let value = facet.normalized(value);
        self.values.retain(|(of, other)| *of != facet || facet.normalized(other) != value);
        self
    }

    /// Whether it names a value of a facet.
    #[must_use]
    pub fn contains(&self, facet: Facet, value: &str) -> bool {
        let value = facet.normalized(value);
        self.values_of(facet).any(|other| facet.normalized(other) == value)
    }

    /// Whether everything passes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.until.is_none() && self.values.is_empty()
    }

    /// The values of a facet.
    pub fn values_of(&self, facet: Facet) -> impl Iterator<Item = &str> {
        self.values.iter().filter(move |(of, _)| *of == facet).map(|(_, value)| value.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_named_once_however_it_is_written() {
        let filter = Filter::default().with(Facet::Task, "Image  Captioning").with(Facet::Task, "image captioning ");
        assert_eq!(filter.values.len(), 1);
        assert!(filter.contains(Facet::Task, "IMAGE captioning") && !filter.contains(Facet::Keyword, "image captioning"));
        assert_eq!(filter.clone().without(Facet::Keyword, "image captioning"), filter);
        assert!(filter.without(Facet::Task, "image captioning").is_empty());
    }

    #[test]
    fn of_an_iri_the_case_of_letters_counts() {
        let filter =
            Filter::default().with(Facet::Class, "http://e.org/Place").with(Facet::Class, "http://e.org/place");
        assert_eq!(filter.values.len(), 2);
    }

    #[test]
    fn a_licence_is_one_by_whatever_address() {
        let filter = ["http://www.e.org/by/4.0/", "https://e.org/by/4.0", "HTTPS://e.org/by/4.0/"]
            .into_iter()
            .fold(Filter::default(), |filter, license| filter.with(Facet::License, license));
        assert_eq!(filter.values.len(), 1);
        assert!(filter.contains(Facet::License, "http://e.org/by/4.0") && !filter.contains(Facet::License, "e.org/by/3.0"));
        let keywords = Filter::default().with(Facet::Keyword, "http://e.org").with(Facet::Keyword, "https://e.org");
        assert_eq!(keywords.values.len(), 2);
    }

    #[test]
    fn facets_are_known_by_their_places_and_names() {
        for (place, facet) in Facet::ALL.into_iter().enumerate() {
            assert_eq!((facet.index(), facet.name().parse()), (place, Ok(facet)));
        }
    }
}
