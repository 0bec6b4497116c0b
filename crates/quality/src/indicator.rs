//! What is looked at, and what it counts.

use serde::Serialize;

/// The groups of indicators.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Dimension {
    /// Whether people and programs come across it.
    Findability,
    /// Whether its files can be had.
    Accessibility,
    /// Whether programs can read it.
    Interoperability,
    /// Whether it is told who may do what with it.
    Reusability,
    /// What else helps to judge it.
    Contextuality,
    /// Whether its texts can be shown and translated.
    Texts,
    /// What the content itself shows.
    Content,
}

impl Dimension {
    /// All of them: those of the MQA, then our own.
    pub const ALL: [Self; 7] = [
        Self::Findability,
        Self::Accessibility,
        Self::Interoperability,
        Self::Reusability,
        Self::Contextuality,
        Self::Texts,
        Self::Content,
    ];

    /// The name, in lower case.
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

    /// Whether the MQA has it, so that its points are part of the score.
    #[must_use]
    pub fn is_scored(self) -> bool {
        !matches!(self, Self::Texts | Self::Content)
    }
}

/// Something a description, or content, has or lacks.
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
    /// What it says where it is met.
    definition: &'static str,
    /// What to do where it is missed.
    advice: &'static str,
}

const fn row(
    (indicator, key, dimension, weight): (Indicator, &'static str, Dimension, u32),
    definition: &'static str,
    advice: &'static str,
) -> IndicatorRow {
    IndicatorRow { indicator, key, dimension, weight, definition, advice }
}

use Dimension::{
    Accessibility, Content, Contextuality, Findability, Interoperability as Interoperable, Reusability, Texts,
};
use Indicator as I;

/// In the order of the enum.
const TABLE: [IndicatorRow; 32] = [
    row((I::Keywords, "keywords", Findability, 30), "It has keywords (dcat:keyword).", "Add keywords."),
    row((I::Themes, "themes", Findability, 30), "It has a theme (dcat:theme).", "Name a theme of a list."),
    row(
        (I::Spatial, "spatial", Findability, 20),
        "It tells the place it covers (dct:spatial).",
        "Name the place it covers.",
    ),
    row(
        (I::Temporal, "temporal", Findability, 20),
        "It tells the time it covers (dct:temporal).",
        "Name the period it covers.",
    ),
    row(
        (I::AccessReached, "access-reached", Accessibility, 50),
        "Its access address (dcat:accessURL) answered when it was last asked.",
        "Give an access address that answers.",
    ),
    row(
        (I::DownloadAddress, "download-address", Accessibility, 20),
        "It has a download address on the web (dcat:downloadURL).",
        "Give the address of the file itself.",
    ),
    row(
        (I::DownloadReached, "download-reached", Accessibility, 30),
        "Its download address answered when it was last asked.",
        "Give a download address that answers.",
    ),
    row((I::Format, "format", Interoperable, 20), "A distribution tells its format (dct:format).", "Name the format."),
    row(
        (I::MediaType, "media-type", Interoperable, 10),
        "A distribution tells its media type (dcat:mediaType).",
        "Name the media type.",
    ),
    row(
        (I::FormatListed, "format-listed", Interoperable, 10),
        "Format or media type is an IRI of the EU's list of file types or of IANA's media types.",
        "Name format or media type by its IRI in the EU's or IANA's list.",
    ),
    row(
        (I::OpenFormat, "open-format", Interoperable, 20),
        "The format belongs to nobody.",
        "Offer a format whose specification is free for all.",
    ),
    row(
        (I::MachineReadable, "machine-readable", Interoperable, 20),
        "Programs can read the format by its structure.",
        "Offer a format that programs can read, as RDF, CSV or JSON.",
    ),
    row(
        (I::Profile, "profile", Interoperable, 30),
        "The description has what DCAT-AP 3.0.1 makes mandatory, and values of the kinds it wants.",
        "Add what DCAT-AP makes mandatory and give values of the kinds it wants.",
    ),
    row((I::License, "licence", Reusability, 20), "It tells its licence (dct:license).", "State a licence."),
    row(
        (I::LicenseListed, "licence-listed", Reusability, 10),
        "The licence is an IRI of a known list of licences.",
        "Name the licence by its IRI, as https://creativecommons.org/licenses/by/4.0/.",
    ),
    row(
        (I::AccessRights, "access-rights", Reusability, 10),
        "It tells who has access (dct:accessRights).",
        "State the access rights.",
    ),
    row(
        (I::AccessRightsListed, "access-rights-listed", Reusability, 5),
        "The access rights are an IRI of the EU's list.",
        "Name the access rights by their IRI in the EU's list.",
    ),
    row(
        (I::Contact, "contact", Reusability, 20),
        "It has a contact point (dcat:contactPoint).",
        "Name a contact point.",
    ),
    row((I::Publisher, "publisher", Reusability, 10), "It has a publisher (dct:publisher).", "Name the publisher."),
    row((I::Rights, "rights", Contextuality, 5), "It tells its rights (dct:rights).", "State the rights."),
    row(
        (I::ByteSize, "byte-size", Contextuality, 5),
        "A distribution tells its size (dcat:byteSize).",
        "Give the size of the file.",
    ),
    row((I::Issued, "issued", Contextuality, 5), "It has a date of issue (dct:issued).", "Give the date of issue."),
    row(
        (I::Modified, "modified", Contextuality, 5),
        "It has a date of change (dct:modified).",
        "Give the date of the last change.",
    ),
    row(
        (I::TitleLanguage, "title-language", Texts, 20),
        "Every title tells its language.",
        "Tag the title with its language.",
    ),
    row((I::Description, "description", Texts, 30), "It has a description.", "Describe it."),
    row(
        (I::DescriptionLength, "description-length", Texts, 30),
        "A description has 50 to 5,000 characters, as Google's dataset search takes it.",
        "Give a description of 50 to 5,000 characters.",
    ),
    row(
        (I::DescriptionLanguage, "description-language", Texts, 20),
        "Every description tells its language.",
        "Tag the description with its language.",
    ),
    row(
        (I::Sound, "sound", Content, 30),
        "Every statement of the content could be read.",
        "Mend the statements that cannot be read; `load --report` names them.",
    ),
    row(
        (I::Links, "links", Content, 30),
        "The content leads to other sources: objects that lie, and are described, elsewhere.",
        "Link its entities to those of other datasets.",
    ),
    row(
        (I::Vocabularies, "vocabularies", Content, 20),
        "The content uses a vocabulary that many use, beside those of RDF itself.",
        "Use a vocabulary that many use where one fits.",
    ),
    row(
        (I::Classes, "classes", Content, 10),
        "Entities of the content have classes.",
        "Say of what class entities are.",
    ),
    row(
        (I::LiteralLanguages, "literal-languages", Content, 10),
        "Texts of the content tell their language.",
        "Tag texts of the content with their language.",
    ),
];

impl Indicator {
    /// How many there are.
    pub const COUNT: usize = TABLE.len();

    /// All of them, by dimension.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|row| row.indicator)
    }

    fn row(self) -> &'static IndicatorRow {
        &TABLE[self as usize]
    }

    /// Its name in JSON, addresses and RDF.
    #[must_use]
    pub fn key(self) -> &'static str {
        self.row().key
    }

    /// Its group.
    #[must_use]
    pub fn dimension(self) -> Dimension {
        self.row().dimension
    }

    /// Its points.
    #[must_use]
    pub fn weight(self) -> u32 {
        self.row().weight
    }

    /// What it means.
    #[must_use]
    pub fn definition(self) -> &'static str {
        self.row().definition
    }

    /// What helps where it is missed.
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
            Indicator::all().filter(|one| one.dimension() == dimension).map(Indicator::weight).sum()
        };
        assert_eq!(Dimension::ALL.map(points), [100, 100, 110, 75, 20, 100, 100]);
        assert!(TABLE.iter().enumerate().all(|(place, row)| row.indicator as usize == place));
        assert_eq!(Indicator::all().map(Indicator::key).collect::<BTreeSet<_>>().len(), Indicator::COUNT);
    }
}
