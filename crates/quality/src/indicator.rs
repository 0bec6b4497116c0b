//! Indicators, their dimensions and weights.

use serde::Serialize;

/// Dimensions: groups of indicators.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Dimension {
    /// Discovery by people and programs.
    Findability,
    /// Availability of the files.
    Accessibility,
    /// Machine-readable formats and metadata.
    Interoperability,
    /// Terms of use.
    Reusability,
    /// Further context for an assessment.
    Contextuality,
    /// Texts that can be displayed and translated.
    Texts,
    /// Properties of the content itself.
    Content,
}

impl Dimension {
    /// All dimensions: those of the MQA, then Lodeseek's own.
    pub const ALL: [Self; 7] = [
        Self::Findability,
        Self::Accessibility,
        Self::Interoperability,
        Self::Reusability,
        Self::Contextuality,
        Self::Texts,
        Self::Content,
    ];

    /// Returns the name in lower case.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Findability => "findability",
            Self::Accessibility => "accessibility",
            Self::Interoperability => "interoperability",
            Self::Reusability => "reusability",
            Self::Contextuality => "contextuality",
            Self::Texts => "texts",
            Self::Content => "content",
        }
    }

    /// If true, the dimension is part of the MQA and of the score.
    #[must_use]
    pub fn is_scored(self) -> bool {
        !matches!(self, Self::Texts | Self::Content)
    }
}

/// A property of a description or of content that is assessed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[expect(missing_docs, reason = "the table has a sentence on each")]
pub enum Indicator {
    Keywords,
    Themes,
    Spatial,
    Temporal,
    AccessReached,
    DownloadAddress,
    DownloadReached,
    Format,
    MediaType,
    FormatListed,
    OpenFormat,
    MachineReadable,
    Profile,
    License,
    LicenseListed,
    AccessRights,
    AccessRightsListed,
    Contact,
    Publisher,
    Rights,
    ByteSize,
    Issued,
    Modified,
    TitleLanguage,
    Description,
    DescriptionLength,
    DescriptionLanguage,
    TextEncoding,
    Sound,
    Links,
    Vocabularies,
    Classes,
    LiteralLanguages,
}

struct IndicatorRow {
    indicator: Indicator,
    key: &'static str,
    dimension: Dimension,
    weight: u32,
    /// Definition: the statement that holds if the indicator is met.
    definition: &'static str,
    /// Advice if the indicator is missed.
    advice: &'static str,
}

const fn row(
    (indicator, key, dimension, weight): (Indicator, &'static str, Dimension, u32),
    definition: &'static str,
    advice: &'static str,
) -> IndicatorRow {
    IndicatorRow {
        indicator,
        key,
        dimension,
        weight,
        definition,
        advice,
    }
}

use Dimension::{
    Accessibility, Content, Contextuality, Findability, Interoperability as Interoperable,
    Reusability, Texts,
};
use Indicator as I;

/// All indicators, in the order of the enum.
const TABLE: [IndicatorRow; 33] = [
    row(
        (I::Keywords, "keywords", Findability, 30),
        "The dataset has keywords (dcat:keyword).",
        "Add keywords.",
    ),
    row(
        (I::Themes, "themes", Findability, 30),
        "The dataset has a theme (dcat:theme).",
        "Add a theme from a controlled vocabulary.",
    ),
    row(
        (I::Spatial, "spatial", Findability, 20),
        "The dataset declares its spatial coverage (dct:spatial).",
        "Declare the spatial coverage.",
    ),
    row(
        (I::Temporal, "temporal", Findability, 20),
        "The dataset declares its temporal coverage (dct:temporal).",
        "Declare the temporal coverage.",
    ),
    row(
        (I::AccessReached, "access-reached", Accessibility, 50),
        "The access URL (dcat:accessURL) responded at its latest check.",
        "Describe a distribution with an access URL that responds.",
    ),
    row(
        (I::DownloadAddress, "download-address", Accessibility, 20),
        "There is a download URL on the web (dcat:downloadURL).",
        "Provide the URL of the file itself.",
    ),
    row(
        (I::DownloadReached, "download-reached", Accessibility, 30),
        "The download URL (dcat:downloadURL) responded at its latest check.",
        "Provide a download URL that responds.",
    ),
    row(
        (I::Format, "format", Interoperable, 20),
        "A distribution declares its format (dct:format).",
        "Declare the format.",
    ),
    row(
        (I::MediaType, "media-type", Interoperable, 10),
        "A distribution declares its media type (dcat:mediaType).",
        "Declare the media type.",
    ),
    row(
        (I::FormatListed, "format-listed", Interoperable, 10),
        "The format or media type is an IRI of the EU's file types or of IANA's media types.",
        "Use the IRI of the format or media type from the EU's or IANA's list.",
    ),
    row(
        (I::OpenFormat, "open-format", Interoperable, 20),
        "The format is open (non-proprietary).",
        "Offer an open format, such as RDF, CSV or JSON.",
    ),
    row(
        (I::MachineReadable, "machine-readable", Interoperable, 20),
        "The format is machine-readable.",
        "Offer a machine-readable format, such as RDF, CSV or JSON.",
    ),
    row(
        (I::Profile, "profile", Interoperable, 30),
        "The description has the mandatory properties of DCAT-AP 3.0.1, and values of the required kinds.",
        "Add the mandatory properties of DCAT-AP and use values of the required kinds.",
    ),
    row(
        (I::License, "licence", Reusability, 20),
        "A licence is declared (dct:license).",
        "Declare a licence.",
    ),
    row(
        (I::LicenseListed, "licence-listed", Reusability, 10),
        "The licence is an IRI of a known list of licences.",
        "Use the IRI of the licence, such as https://creativecommons.org/licenses/by/4.0/.",
    ),
    row(
        (I::AccessRights, "access-rights", Reusability, 10),
        "The access rights are declared (dct:accessRights).",
        "Declare the access rights.",
    ),
    row(
        (
            I::AccessRightsListed,
            "access-rights-listed",
            Reusability,
            5,
        ),
        "The access rights are an IRI of the EU's list.",
        "Use the IRI of the access rights from the EU's list.",
    ),
    row(
        (I::Contact, "contact", Reusability, 20),
        "The dataset has a contact point (dcat:contactPoint).",
        "Add a contact point.",
    ),
    row(
        (I::Publisher, "publisher", Reusability, 10),
        "The dataset has a publisher (dct:publisher).",
        "Add the publisher.",
    ),
    row(
        (I::Rights, "rights", Contextuality, 5),
        "The rights are declared (dct:rights).",
        "Declare the rights.",
    ),
    row(
        (I::ByteSize, "byte-size", Contextuality, 5),
        "A distribution declares its size (dcat:byteSize).",
        "Declare the size of the file in bytes.",
    ),
    row(
        (I::Issued, "issued", Contextuality, 5),
        "The dataset has a date of issue (dct:issued).",
        "Add the date of issue.",
    ),
    row(
        (I::Modified, "modified", Contextuality, 5),
        "The dataset has a date of modification (dct:modified).",
        "Add the date of the last modification.",
    ),
    row(
        (I::TitleLanguage, "title-language", Texts, 20),
        "Every title has a language tag.",
        "Tag the title with its language.",
    ),
    row(
        (I::Description, "description", Texts, 30),
        "The dataset has a description.",
        "Add a description.",
    ),
    row(
        (I::DescriptionLength, "description-length", Texts, 20),
        "A description has 50 to 5,000 characters, the limits of Google's dataset search.",
        "Write a description of 50 to 5,000 characters.",
    ),
    row(
        (I::DescriptionLanguage, "description-language", Texts, 20),
        "Every description has a language tag.",
        "Tag the description with its language.",
    ),
    row(
        (I::TextEncoding, "text-encoding", Texts, 10),
        "Title, descriptions and keywords have the right characters: their UTF-8 was not read as Latin-1 or Windows-1252.",
        "Read the catalogue's source as UTF-8, and correct texts such as “MÃ¡laga”.",
    ),
    row(
        (I::Sound, "sound", Content, 30),
        "Every statement of the content is readable, and the cells of tables have the type of their column.",
        "Correct the unreadable statements and cells; `load --report` lists them.",
    ),
    row(
        (I::Links, "links", Content, 30),
        "The content links to other sources: objects that are described elsewhere.",
        "Link entities to those of other datasets.",
    ),
    row(
        (I::Vocabularies, "vocabularies", Content, 20),
        "The content uses a widely used vocabulary, in addition to those of RDF itself.",
        "Use a widely used vocabulary where one fits.",
    ),
    row(
        (I::Classes, "classes", Content, 10),
        "Entities of the content have classes.",
        "Declare the classes of entities.",
    ),
    row(
        (I::LiteralLanguages, "literal-languages", Content, 10),
        "Literals of the content have language tags.",
        "Tag literals of the content with their language.",
    ),
];

impl Indicator {
    /// Number of indicators.
    pub const COUNT: usize = TABLE.len();

    /// Iterates over all indicators, by dimension.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|row| row.indicator)
    }

    fn row(self) -> &'static IndicatorRow {
        &TABLE[self as usize]
    }

    /// Returns the name in JSON, URLs and RDF.
    #[must_use]
    pub fn key(self) -> &'static str {
        self.row().key
    }

    /// Returns the dimension.
    #[must_use]
    pub fn dimension(self) -> Dimension {
        self.row().dimension
    }

    /// Returns the weight in points.
    #[must_use]
    pub fn weight(self) -> u32 {
        self.row().weight
    }

    /// Returns the definition.
    #[must_use]
    pub fn definition(self) -> &'static str {
        self.row().definition
    }

    /// Returns advice for datasets that miss the indicator.
    #[must_use]
    pub fn advice(self) -> &'static str {
        self.row().advice
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_weights_are_those_of_the_methodology() {
        let points = |dimension: Dimension| -> u32 {
            Indicator::all()
                .filter(|one| one.dimension() == dimension)
                .map(Indicator::weight)
                .sum()
        };
        assert_eq!(
            Dimension::ALL.map(points),
            [100, 100, 110, 75, 20, 100, 100]
        );
        assert!(
            TABLE
                .iter()
                .enumerate()
                .all(|(place, row)| row.indicator as usize == place)
        );
        assert_eq!(
            Indicator::all()
                .map(Indicator::key)
                .collect::<BTreeSet<_>>()
                .len(),
            Indicator::COUNT
        );
    }
}
