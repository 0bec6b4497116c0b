//! Facts by which datasets are filtered and counted, apart from their texts.

use super::analysis::compose;
use super::table_columns::{ColumnCondition, TableColumn};
use lodeseek_catalog::{BoundingBox, Period};
use lodeseek_rdf::vocab::{adms, dcat, dcterms, sd, spdx, vcard, void};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Classes and namespaces of classes of metadata.
const METADATA_CLASSES: [&str; 8] = [
    dcat::NAMESPACE,
    dcterms::NAMESPACE,
    void::NAMESPACE,
    vcard::NAMESPACE,
    adms::NAMESPACE,
    spdx::NAMESPACE,
    sd::NAMESPACE,
    "http://xmlns.com/foaf/0.1/Agent",
];

/// Facet: a property with values to select from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Facet {
    /// Tasks for which the data is used.
    Task,
    /// Modalities of the data, such as images or text.
    Modality,
    /// Subjects, by the themes of the catalogue.
    Theme,
    /// Classes of its entities, by IRI.
    Class,
    /// Keywords.
    Keyword,
    /// Publishers.
    Publisher,
    /// Authors and publishers.
    Creator,
    /// File formats.
    Format,
    /// Licence.
    License,
    /// Languages of its texts.
    Language,
    /// Vocabularies of its classes and properties, by namespace.
    Vocabulary,
    /// Portals that list the dataset.
    Source,
    /// Themes that its words suggest, of datasets without a declared theme. They are computed from the index, not stored in it.
    #[serde(rename = "suggestedTheme")]
    SuggestedTheme,
}

impl Facet {
    /// All facets, in the order of their columns in the index.
    pub const ALL: [Self; 13] = [
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
        Self::SuggestedTheme,
    ];

    /// All facets in the order of results: topics, origin, access, content.
    pub const DISPLAY_ORDER: [Self; 13] = [
        Self::Theme,
        Self::Task,
        Self::Modality,
        Self::Keyword,
        Self::SuggestedTheme,
        Self::Publisher,
        Self::Creator,
        Self::Format,
        Self::License,
        Self::Language,
        Self::Class,
        Self::Vocabulary,
        Self::Source,
    ];

    /// Number of facets whose values are stored in the index: the first ones of [`Self::ALL`].
    pub(super) const STORED: usize = Self::ALL.len() - 1;

    /// Returns the index in [`Self::ALL`].
    #[must_use]
    pub fn index(self) -> usize {
        self as usize
    }

    /// Returns the name in lower case, which is also the request parameter.
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
            Self::SuggestedTheme => "suggestedTheme",
        }
    }

    /// Returns true if the values are IRIs, which are case-sensitive.
    #[must_use]
    pub fn has_iris(self) -> bool {
        matches!(self, Self::Class | Self::Vocabulary)
    }

    /// Returns true for a class of metadata: filters accept it, and results do not list it. Data has such classes where it describes
    /// itself.
    pub(super) fn is_metadata_class(self, value: &str) -> bool {
        self == Self::Class
            && METADATA_CLASSES
                .iter()
                .any(|beginning| value.starts_with(beginning))
    }

    /// Returns the normalized form of a value. Values other than IRIs are composed (NFC), and ignore case and repeated
    /// white space. Licence addresses also ignore `http` or `https`, `www.` and a final slash.
    pub(super) fn normalize(self, value: &str) -> String {
        if self.has_iris() {
            return value.trim().to_owned();
        }
        let folded = compose(value)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .to_lowercase();
        let address = folded
            .strip_prefix("https://")
            .or_else(|| folded.strip_prefix("http://"));
        match address.filter(|_| self == Self::License) {
            Some(address) => address
                .strip_prefix("www.")
                .unwrap_or(address)
                .trim_end_matches('/')
                .to_owned(),
            None => folded,
        }
    }
}

impl fmt::Display for Facet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Error for an unknown facet name.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("unknown facet {0:?}; supported: {names}", names = Facet::ALL.map(Facet::name).join(", "))]
pub struct ParseFacetError(String);

impl FromStr for Facet {
    type Err = ParseFacetError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|facet| facet.name() == name)
            .ok_or_else(|| ParseFacetError(name.to_owned()))
    }
}

/// Numeric facts of a dataset.
///
/// `uses` and `variants` are two different measures of popularity and are not comparable. Both were counted when the
/// catalogue was created. For a query from an earlier time they are information from the future.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NumericFacts {
    /// First year in which the dataset is known.
    pub year: Option<i32>,
    /// Number of works known to use the dataset.
    pub uses: Option<u64>,
    /// Number of alternative names, without the title.
    pub variants: u64,
}

impl NumericFacts {
    /// Returns the popularity: the number of works that use the dataset or, if unknown, the number of its names.
    #[must_use]
    pub fn popularity(&self) -> u64 {
        self.uses.unwrap_or(self.variants + 1)
    }
}

/// Numeric facts and facet values of a dataset.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// Numeric facts.
    pub numbers: NumericFacts,
    /// Facet values; a facet may have several.
    pub values: Vec<(Facet, String)>,
    /// The area that the dataset covers.
    pub place: Option<BoundingBox>,
    /// The period that the dataset covers.
    pub period: Option<Period>,
    /// The columns of its tables.
    #[serde(default)]
    pub columns: Vec<TableColumn>,
}

/// Filter of datasets by year, area, period, columns of tables and facet values.
///
/// A dataset passes if it has at least one of the values of each facet in the filter, and passes the year, the area,
/// the period and the columns. Values are compared by their normalized form: without regard to case (except in IRIs), white space and the scheme of a
/// licence's address.
///
/// ```
/// use lodeseek_index::{Facet, Filter};
/// let filter = Filter::until(2018).with(Facet::Task, "Image Classification").with(Facet::Modality, "Images");
/// assert!(!filter.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// First year. Datasets of an earlier year are excluded; those of unknown year are included.
    pub since: Option<i32>,
    /// Last year. Datasets of a later year are excluded; those of unknown year are included.
    pub until: Option<i32>,
    /// Area. Only datasets whose own area has a point in common with it pass; those of unknown area do not.
    pub within: Option<BoundingBox>,
    /// Period. Only datasets whose own period has a day in common with it pass; those of unknown period do not.
    pub covers: Option<Period>,
    /// Columns of tables. Only datasets that satisfy all conditions pass.
    pub columns: Vec<ColumnCondition>,
    /// Selected facet values.
    pub values: Vec<(Facet, String)>,
}

impl Filter {
    /// Creates a filter that excludes datasets later than `year`.
    #[must_use]
    pub fn until(year: i32) -> Self {
        Self {
            until: Some(year),
            ..Self::default()
        }
    }

    /// Adds a facet value, unless the filter contains it.
    #[must_use]
    pub fn with(mut self, facet: Facet, value: impl Into<String>) -> Self {
        let value = value.into();
        if !self.contains(facet, &value) {
            self.values.push((facet, value));
        }
        self
    }

    /// Removes a facet value.
    #[must_use]
    pub fn without(mut self, facet: Facet, value: &str) -> Self {
        let value = facet.normalize(value);
        self.values
            .retain(|(of, other)| *of != facet || facet.normalize(other) != value);
        self
    }

    /// Returns true if the filter contains the facet value.
    #[must_use]
    pub fn contains(&self, facet: Facet, value: &str) -> bool {
        let value = facet.normalize(value);
        self.values_of(facet)
            .any(|other| facet.normalize(other) == value)
    }

    /// Returns true if the filter has no condition.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let has_years = self.since.is_some() || self.until.is_some();
        let has_coverage = self.within.is_some() || self.covers.is_some();
        !has_years && !has_coverage && self.columns.is_empty() && self.values.is_empty()
    }

    /// Returns the selected values of a facet.
    pub fn values_of(&self, facet: Facet) -> impl Iterator<Item = &str> {
        self.values
            .iter()
            .filter(move |(of, _)| *of == facet)
            .map(|(_, value)| value.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_named_once_however_it_is_written() {
        let filter = Filter::default()
            .with(Facet::Task, "Image  Captioning")
            .with(Facet::Task, "image captioning ");
        assert_eq!(filter.values.len(), 1);
        assert!(
            filter.contains(Facet::Task, "IMAGE captioning")
                && !filter.contains(Facet::Keyword, "image captioning")
        );
        assert_eq!(
            filter.clone().without(Facet::Keyword, "image captioning"),
            filter
        );
        assert!(filter.without(Facet::Task, "image captioning").is_empty());
    }

    #[test]
    fn of_an_iri_the_case_of_letters_counts() {
        let filter = Filter::default()
            .with(Facet::Class, "http://e.org/Place")
            .with(Facet::Class, "http://e.org/place");
        assert_eq!(filter.values.len(), 2);
    }

    #[test]
    fn a_licence_is_one_by_whatever_address() {
        let filter = [
            "http://www.e.org/by/4.0/",
            "https://e.org/by/4.0",
            "HTTPS://e.org/by/4.0/",
        ]
        .into_iter()
        .fold(Filter::default(), |filter, license| {
            filter.with(Facet::License, license)
        });
        assert_eq!(filter.values.len(), 1);
        assert!(
            filter.contains(Facet::License, "http://e.org/by/4.0")
                && !filter.contains(Facet::License, "e.org/by/3.0")
        );
        let keywords = Filter::default()
            .with(Facet::Keyword, "http://e.org")
            .with(Facet::Keyword, "https://e.org");
        assert_eq!(keywords.values.len(), 2);
    }

    #[test]
    fn every_facet_is_displayed_once() {
        let mut displayed = Facet::DISPLAY_ORDER;
        displayed.sort_unstable();
        assert_eq!(displayed, Facet::ALL);
    }

    #[test]
    fn facets_are_known_by_their_places_and_names() {
        for (place, facet) in Facet::ALL.into_iter().enumerate() {
            assert_eq!((facet.index(), facet.name().parse()), (place, Ok(facet)));
        }
    }
}
