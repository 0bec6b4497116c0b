//! A dataset's metadata as types.

use super::Statement;
use lodeseek_ranking::DatasetId;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A text and the language it is in, where that is said.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Text {
    /// The text.
    pub value: String,
    /// Its BCP 47 tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
}

impl Text {
    /// A text of unknown language.
    #[must_use]
    pub fn plain(value: impl Into<String>) -> Self {
        Self { value: value.into(), language: None }
    }
}

/// The text for a reader of these languages, best first: a text without a tag comes after those and before all others.
#[must_use]
pub fn preferred<'t>(texts: &'t [Text], languages: &[&str]) -> Option<&'t Text> {
    let rank = |text: &Text| match &text.language {
        None => languages.len(),
        Some(tag) => {
            let primary = tag.split('-').next().unwrap_or(tag);
            languages.iter().position(|wanted| wanted.eq_ignore_ascii_case(primary)).unwrap_or(languages.len() + 1)
        }
    };
    texts.iter().min_by_key(|text| rank(text))
}

/// A person or organisation.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Agent {
    /// Its name.
    pub name: String,
    /// Its IRI, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iri: Option<String>,
}

/// Where a distribution lies.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Location {
    /// A path as the catalogue gives it, relative to the catalogue's folder.
    File(String),
    /// An address on the web. `load` does not fetch it.
    Remote(String),
}

impl Location {
    /// The location a catalogue's text means.
    #[must_use]
    pub fn from_text(text: &str) -> Self {
        let remote =
            text.split_once("://").is_some_and(|(scheme, _)| scheme.chars().all(|c| c.is_ascii_alphanumeric()));
        if remote { Self::Remote(text.to_owned()) } else { Self::File(text.to_owned()) }
    }

    /// The path or address as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::File(text) | Self::Remote(text) => text,
        }
    }
}

/// One way to get a dataset's content.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Distribution {
    /// Where it lies: the file itself, or where that is not told, what gives access to it.
    pub location: Location,
    /// What gives access to it, as the catalogue says beside the file or instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access: Option<String>,
    /// Its IANA media type, where the catalogue says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// What is here of it, where somebody fetched it; descriptions do not tell.
    #[serde(skip)]
    pub copy: Option<LocalCopy>,
}

/// What came of fetching a distribution.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LocalCopy {
    /// The file.
    File(PathBuf),
    /// It could not be had, and why.
    Missing(String),
}

impl Distribution {
    /// A file of which no more is known than its place.
    #[must_use]
    pub fn new(location: Location) -> Self {
        Self { location, access: None, media_type: None, copy: None }
    }
}

/// The lists of concepts that themes are taken from, as Papers with Code has them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scheme {
    /// What is done with the data: image classification.
    Task,
    /// What the data are: images, texts.
    Modality,
    /// The languages that texts and speech are in.
    Language,
}

impl Scheme {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Task, Self::Modality, Self::Language];

    /// The name, in lower case.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Task => "task",
            Self::Modality => "modality",
            Self::Language => "language",
        }
    }
}

/// A concept that says what a dataset is about.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Theme {
    /// Its name.
    pub label: String,
    /// The list it is from.
    pub scheme: Scheme,
    /// Its IRI, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iri: Option<String>,
}

/// A publication.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Work {
    /// Its title.
    pub title: String,
    /// Its IRI, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iri: Option<String>,
    /// When it was published, as written: a year or a date.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issued: Option<String>,
}

/// What a catalogue says of a dataset.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Metadata {
    /// The id.
    pub id: DatasetId,
    /// The titles, in all languages given.
    #[serde(default)]
    pub titles: Vec<Text>,
    /// Other names it goes by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<Text>,
    /// The descriptions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub descriptions: Vec<Text>,
    /// The keywords.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<Text>,
    /// What it is about, by concepts of a list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub themes: Vec<Theme>,
    /// The works that introduced it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub introduced_by: Vec<Work>,
    /// How many works are known to use it. Counted when the catalogue was made: a query from earlier could not know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uses: Option<u64>,
    /// Authors.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub creators: Vec<Agent>,
    /// Publishers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub publishers: Vec<Agent>,
    /// The licence: an IRI, or a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    /// When it was first published, as written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issued: Option<String>,
    /// When it was last changed, as written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified: Option<String>,
    /// A page about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub landing_page: Option<String>,
    /// Its IRI in the catalogue it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

impl Metadata {
    /// Metadata of which only the id is known.
    #[must_use]
    pub fn new(id: DatasetId) -> Self {
        Self {
            id,
            titles: Vec::new(),
            alternatives: Vec::new(),
            descriptions: Vec::new(),
            keywords: Vec::new(),
            themes: Vec::new(),
            introduced_by: Vec::new(),
            uses: None,
            creators: Vec::new(),
            publishers: Vec::new(),
            license: None,
            issued: None,
            modified: None,
            landing_page: None,
            source: None,
        }
    }

    /// The title for an English reader; the id where there is none.
    #[must_use]
    pub fn title(&self) -> &str {
        preferred(&self.titles, &["en"]).map_or(self.id.as_str(), |text| &text.value)
    }

    /// The year since when it has been known: that of the earliest work that introduced it, else that of its issue.
    #[must_use]
    pub fn first_year(&self) -> Option<i32> {
        let works = self.introduced_by.iter().filter_map(|work| year(work.issued.as_deref()?));
        works.min().or_else(|| year(self.issued.as_deref()?))
    }

    /// Authors, then publishers that are no authors.
    pub fn agents(&self) -> impl Iterator<Item = &Agent> {
        let publishers = self.publishers.iter().filter(|agent| !self.creators.contains(agent));
        self.creators.iter().chain(publishers)
    }

    /// The labels of its themes from a list.
    pub fn themes_of(&self, scheme: Scheme) -> impl Iterator<Item = &str> {
        self.themes.iter().filter(move |theme| theme.scheme == scheme).map(|theme| theme.label.as_str())
    }

    /// The description for an English reader.
    #[must_use]
    pub fn description(&self) -> Option<&str> {
        preferred(&self.descriptions, &["en"]).map(|text| text.value.as_str())
    }
}

/// The year that a date begins with.
fn year(date: &str) -> Option<i32> {
    let digits = date.trim().get(..4).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
    let ends = date.trim()[4..].chars().next().is_none_or(|next| !next.is_ascii_digit());
    ends.then(|| digits.parse().ok()).flatten()
}

/// How much of remote content is held here.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Extent {
    /// All of it, when it was asked.
    Whole,
    /// Some triples of it.
    Sample,
}

/// Content that stays at an endpoint, and what the endpoint counts in it. Counts that it does not give are missing here:
/// those of the sample are the profile's.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RemoteContent {
    /// The SPARQL endpoint.
    pub endpoint: String,
    /// The graph there; its default graph where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph: Option<String>,
    /// How much of it is held here.
    pub extent: Extent,
    /// All its triples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub triples: Option<u64>,
    /// Its classes with their entities, the most frequent first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<(String, u64)>,
    /// Its properties with their triples, the most frequent first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub properties: Vec<(String, u64)>,
}

impl RemoteContent {
    /// How the content held here, so many triples, stands to that of the endpoint.
    #[must_use]
    pub fn coverage(&self, held: u64) -> String {
        let endpoint = &self.endpoint;
        let graph = self.graph.as_ref().map(|graph| format!(", graph {graph}")).unwrap_or_default();
        match (self.extent, self.triples) {
            (Extent::Whole, _) => format!("all {held} triples at {endpoint}{graph}"),
            (Extent::Sample, Some(all)) => format!("sample of {held} of {all} triples at {endpoint}{graph}"),
            (Extent::Sample, None) => {
                format!("sample of {held} triples at {endpoint}{graph}, which does not tell how many there are")
            }
        }
    }

    /// With the most frequent classes and properties alone.
    #[must_use]
    pub fn cut(mut self, length: usize) -> Self {
        self.classes.truncate(length);
        self.properties.truncate(length);
        self
    }
}

/// Metadata and where the content lies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dataset {
    /// What the catalogue says of it.
    pub metadata: Metadata,
    /// Where its content lies.
    pub distributions: Vec<Distribution>,
    /// Content that stays where it is, of which a part is held here.
    pub remote: Option<RemoteContent>,
    /// What the catalogue says beyond the other fields, of the dataset and of its parts: no subject is a [`Node::Iri`].
    ///
    /// [`Node::Iri`]: super::Node::Iri
    pub extra_statements: Vec<Statement>,
}

impl Dataset {
    /// A dataset with metadata alone.
    #[must_use]
    pub fn new(metadata: Metadata) -> Self {
        Self { metadata, distributions: Vec::new(), remote: None, extra_statements: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids() {
        assert!(DatasetId::new("12").is_ok());
        assert!(DatasetId::new("").is_err() && DatasetId::new("a b").is_err() && DatasetId::new("a\u{7}").is_err());
        assert_eq!(DatasetId::from_text(" a b ").map(|id| id.to_string()), Some("a-b".to_owned()));
        assert_eq!(DatasetId::from_text("  "), None);
    }

    #[test]
    fn locations() {
        assert_eq!(Location::from_text("a/b.ttl"), Location::File("a/b.ttl".into()));
        assert_eq!(Location::from_text("https://e.org/a"), Location::Remote("https://e.org/a".into()));
    }

    #[test]
    fn readers_get_their_language() {
        let text = |value: &str, tag: Option<&str>| Text { value: value.into(), language: tag.map(Into::into) };
        let texts = [text("Bäume", Some("de")), text("trees", None), text("Trees", Some("en-GB"))];
        assert_eq!(preferred(&texts, &["en"]).map(|t| t.value.as_str()), Some("Trees"));
        assert_eq!(preferred(&texts, &["fr"]).map(|t| t.value.as_str()), Some("trees"));
        assert_eq!(preferred(&texts, &["de", "en"]).map(|t| t.value.as_str()), Some("Bäume"));
    }
}
