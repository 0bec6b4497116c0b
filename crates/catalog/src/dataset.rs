//! Types for the metadata of a dataset.

use super::addresses::is_unsafe_address;
use super::node_reader::MAX_TEXT_BYTES;
use super::{EntryKey, Node, Statement, Value, typed_fields};
use lodeseek_ranking::DatasetId;
use lodeseek_rdf::language_rank;
use lodeseek_rdf::vocab::dcat;
use oxrdf::Literal;
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A text with its language, if declared.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Text {
    /// The text.
    pub value: String,
    /// BCP 47 language tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
}

impl Text {
    /// Creates a text without a language tag.
    #[must_use]
    pub fn plain(value: impl Into<String>) -> Self {
        Self {
            value: value.into(),
            language: None,
        }
    }
}

/// Returns the best text for a reader of these languages, best first. A text without a tag comes after these languages
/// and before all others.
#[must_use]
pub fn select_text<'t>(texts: &'t [Text], languages: &[&str]) -> Option<&'t Text> {
    texts
        .iter()
        .min_by_key(|text| language_rank(text.language.as_deref(), languages))
}

/// A person or organisation.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Agent {
    /// Its name.
    pub name: String,
    /// IRI, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iri: Option<String>,
}

/// Location of a distribution.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Location {
    /// Path from the catalogue, relative to the catalogue's folder.
    File(String),
    /// URL. `load` does not fetch it.
    Remote(String),
}

impl Location {
    /// Parses a location: a text with a URL scheme and `://` is remote, any other text is a path.
    #[must_use]
    pub fn from_text(text: &str) -> Self {
        let remote = text
            .split_once("://")
            .is_some_and(|(scheme, _)| scheme.chars().all(|c| c.is_ascii_alphanumeric()));
        if remote {
            Self::Remote(text.to_owned())
        } else {
            Self::File(text.to_owned())
        }
    }

    /// Returns the path or URL.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::File(text) | Self::Remote(text) => text,
        }
    }
}

/// A distribution (`dcat:Distribution`): one way to get the content of a dataset.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Distribution {
    /// Location of the file (`dcat:downloadURL`); if not declared, of the page or service that gives access to it.
    pub location: Location,
    /// Access URL (`dcat:accessURL`), if declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access: Option<String>,
    /// IANA media type, if declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// Local copy, if the distribution was downloaded. It is not part of the description.
    #[serde(skip)]
    pub copy: Option<LocalCopy>,
}

/// Result of downloading a distribution.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum LocalCopy {
    /// Path of the downloaded file.
    File(PathBuf),
    /// The download failed for this reason.
    Missing(String),
    /// The content of the dataset is in other files: this one is described only.
    Unused,
}

impl Distribution {
    /// Creates a distribution with a location only.
    #[must_use]
    pub fn new(location: Location) -> Self {
        Self {
            location,
            access: None,
            media_type: None,
            copy: None,
        }
    }
}

/// Concept schemes of themes, after Papers with Code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scheme {
    /// Tasks for which the data are used, for example image classification.
    Task,
    /// Kinds of data, for example images or texts.
    Modality,
    /// Languages of texts and speech.
    Language,
}

impl Scheme {
    /// All schemes.
    pub const ALL: [Self; 3] = [Self::Task, Self::Modality, Self::Language];

    /// Returns the name in lower case.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Task => "task",
            Self::Modality => "modality",
            Self::Language => "language",
        }
    }
}

/// A theme (`dcat:theme`) from one of the concept schemes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Theme {
    /// Its name.
    pub label: String,
    /// Concept scheme of the theme.
    pub scheme: Scheme,
    /// IRI, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iri: Option<String>,
}

/// A publication.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Work {
    /// Its title.
    pub title: String,
    /// IRI, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iri: Option<String>,
    /// Date of publication as written: a year or a date.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issued: Option<String>,
}

/// Metadata of a dataset, as declared by its catalogue.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Metadata {
    /// Id of the dataset.
    pub id: DatasetId,
    /// Titles, in all declared languages.
    #[serde(default)]
    pub titles: Vec<Text>,
    /// Alternative names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<Text>,
    /// The descriptions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub descriptions: Vec<Text>,
    /// Further texts on the content, for example on its purpose, its lineage or the covered population.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Text>,
    /// The keywords.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<Text>,
    /// Themes from concept schemes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub themes: Vec<Theme>,
    /// The works that introduced it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub introduced_by: Vec<Work>,
    /// Number of works that use the dataset. It was counted when the catalogue was made: for earlier queries it is
    /// information from the future.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uses: Option<u64>,
    /// Authors.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub creators: Vec<Agent>,
    /// Publishers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub publishers: Vec<Agent>,
    /// Licence: an IRI or a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    /// Date of creation as written: `dct:created`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
    /// Date of first publication as written: `dct:issued`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issued: Option<String>,
    /// Date of the last change as written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified: Option<String>,
    /// Landing page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub landing_page: Option<String>,
    /// IRI in the source catalogue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// If true, it is a series (`dcat:DatasetSeries`): other datasets have the content.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_series: bool,
}

impl Metadata {
    /// Creates metadata with an id only.
    #[must_use]
    pub fn new(id: DatasetId) -> Self {
        Self {
            id,
            titles: Vec::new(),
            alternatives: Vec::new(),
            descriptions: Vec::new(),
            notes: Vec::new(),
            keywords: Vec::new(),
            themes: Vec::new(),
            introduced_by: Vec::new(),
            uses: None,
            creators: Vec::new(),
            publishers: Vec::new(),
            license: None,
            created: None,
            issued: None,
            modified: None,
            landing_page: None,
            source: None,
            is_series: false,
        }
    }

    /// Returns the title for an English reader, or the id if there is no title.
    #[must_use]
    pub fn title(&self) -> &str {
        match select_text(&self.titles, &["en"]) {
            Some(text) => &text.value,
            None => self.id.as_str(),
        }
    }

    /// Returns the year in which the dataset became known: that of the earliest introducing work, else of `issued`, else of
    /// `created`.
    #[must_use]
    pub fn first_year(&self) -> Option<i32> {
        let works = self
            .introduced_by
            .iter()
            .filter_map(|work| parse_year(work.issued.as_deref()?));
        works.min().or_else(|| {
            let date = self.issued.as_deref().or(self.created.as_deref());
            parse_year(date?)
        })
    }

    /// Iterates over the creators, then over the publishers that are not creators.
    pub fn agents(&self) -> impl Iterator<Item = &Agent> {
        let creators: FxHashSet<&Agent> = self.creators.iter().collect();
        let publishers = self
            .publishers
            .iter()
            .filter(move |agent| !creators.contains(agent));
        self.creators.iter().chain(publishers)
    }

    /// Iterates over the labels of the themes from one scheme.
    pub fn themes_of(&self, scheme: Scheme) -> impl Iterator<Item = &str> {
        self.themes
            .iter()
            .filter(move |theme| theme.scheme == scheme)
            .map(|theme| theme.label.as_str())
    }

    /// Returns the description for an English reader.
    #[must_use]
    pub fn description(&self) -> Option<&str> {
        select_text(&self.descriptions, &["en"]).map(|text| text.value.as_str())
    }
}

/// Years that are known as such. Others are mostly placeholders, such as 0000 and 9999.
const YEARS: std::ops::RangeInclusive<i32> = 1..=2100;

/// Returns the year at the beginning of a date; `None` if it is not in [`YEARS`].
fn parse_year(date: &str) -> Option<i32> {
    let digits = date
        .trim()
        .get(..4)
        .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
    let ends = date.trim()[4..]
        .chars()
        .next()
        .is_none_or(|next| !next.is_ascii_digit());
    ends.then(|| digits.parse().ok())
        .flatten()
        .filter(|year| YEARS.contains(year))
}

/// Part of a remote dataset that is stored locally.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Extent {
    /// All triples, at the time of the query.
    Whole,
    /// A sample of the triples.
    Sample,
}

/// Content at a SPARQL endpoint, with the endpoint's own counts. Counts that the endpoint does not provide are absent.
/// The counts of the local sample are in the profile.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RemoteContent {
    /// The SPARQL endpoint.
    pub endpoint: String,
    /// Named graph at the endpoint; `None` for the default graph.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph: Option<String>,
    /// Part that is stored locally.
    pub extent: Extent,
    /// Number of all triples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub triples: Option<u64>,
    /// Classes with their numbers of entities, by descending frequency.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<(String, u64)>,
    /// Properties with their numbers of triples, by descending frequency.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub properties: Vec<(String, u64)>,
}

impl RemoteContent {
    /// Returns a phrase that compares the `stored` local triples with the content of the endpoint.
    #[must_use]
    pub fn coverage(&self, stored: u64) -> String {
        let endpoint = &self.endpoint;
        let graph = self
            .graph
            .as_ref()
            .map(|graph| format!(", graph {graph}"))
            .unwrap_or_default();
        match (self.extent, self.triples) {
            (Extent::Whole, _) => format!("all {stored} triples at {endpoint}{graph}"),
            (Extent::Sample, Some(all)) => {
                format!("sample of {stored} of {all} triples at {endpoint}{graph}")
            }
            (Extent::Sample, None) => {
                format!("sample of {stored} triples at {endpoint}{graph} (total number unknown)")
            }
        }
    }

    /// Keeps the `length` most frequent classes and properties.
    #[must_use]
    pub fn cut(mut self, length: usize) -> Self {
        self.classes.truncate(length);
        self.properties.truncate(length);
        self
    }
}

/// A dataset: metadata, distributions and all further statements of its description.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dataset {
    /// Metadata from the catalogue.
    pub metadata: Metadata,
    /// Distributions of the content.
    pub distributions: Vec<Distribution>,
    /// Content at an endpoint, of which a part is stored locally.
    pub remote: Option<RemoteContent>,
    /// Statements of the description beyond the other fields: about the dataset, its parts, and the resources of the web that
    /// the same catalogue describes.
    pub extra_statements: Vec<Statement>,
    /// Key of the dataset in its catalogue. It is not part of the description.
    pub entry: EntryKey,
}

impl Dataset {
    /// Creates a dataset with metadata only.
    #[must_use]
    pub fn new(metadata: Metadata) -> Self {
        let (distributions, extra_statements) = (Vec::new(), Vec::new());
        Self {
            metadata,
            distributions,
            remote: None,
            extra_statements,
            entry: EntryKey::default(),
        }
    }

    /// Makes addresses that run a program, or are their own content, texts, and removes distributions that have only such an address.
    /// Returns them with their properties.
    pub(super) fn disarm_addresses(&mut self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        // Readers of RDF have left out such distributions, whose parts are numbered.
        self.distributions.retain(|distribution| {
            let address = distribution.location.as_str();
            let is_unsafe = is_unsafe_address(address);
            if is_unsafe {
                found.push((dcat::DOWNLOAD_URL.to_owned(), address.to_owned()));
            }
            !is_unsafe
        });
        for statement in &mut self.extra_statements {
            if let Value::Node(Node::Iri(iri)) = &statement.object
                && is_unsafe_address(iri)
            {
                found.push((statement.predicate.clone(), iri.clone()));
                statement.object = Literal::from(iri.as_str()).into();
            }
        }
        found
    }

    /// Removes texts of more than [`MAX_TEXT_BYTES`] bytes from the metadata. Returns their fields.
    pub(super) fn omit_long_texts(&mut self) -> Vec<&'static str> {
        fn fits(text: &str, field: &'static str, omitted: &mut Vec<&'static str>) -> bool {
            let fits = text.len() <= MAX_TEXT_BYTES;
            if !fits {
                omitted.push(field);
            }
            fits
        }
        let mut omitted = Vec::new();
        let Metadata {
            titles,
            alternatives,
            descriptions,
            notes,
            keywords,
            ..
        } = &mut self.metadata;
        for (field, texts) in [
            ("title", titles),
            ("alternative", alternatives),
            ("description", descriptions),
            ("note", notes),
            ("keyword", keywords),
        ] {
            texts.retain(|text| fits(&text.value, field, &mut omitted));
        }
        let Metadata {
            themes,
            introduced_by,
            creators,
            publishers,
            ..
        } = &mut self.metadata;
        themes.retain(|theme| fits(&theme.label, "theme", &mut omitted));
        introduced_by.retain(|work| fits(&work.title, "introducedBy", &mut omitted));
        creators.retain(|agent| fits(&agent.name, "creator", &mut omitted));
        publishers.retain(|agent| fits(&agent.name, "publisher", &mut omitted));
        let Metadata {
            license,
            issued,
            modified,
            landing_page,
            ..
        } = &mut self.metadata;
        for (field, value) in [
            ("license", license),
            ("issued", issued),
            ("modified", modified),
            ("landingPage", landing_page),
        ] {
            value.take_if(|text| !fits(text, field, &mut omitted));
        }
        omitted
    }

    /// Returns the size of all texts and IRIs of the description, in bytes.
    pub(super) fn text_bytes(&self) -> usize {
        let typed = typed_fields::statements(self, &|_| false);
        typed
            .iter()
            .chain(&self.extra_statements)
            .map(Statement::text_bytes)
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids() {
        assert!(DatasetId::new("12").is_ok());
        assert!(
            DatasetId::new("").is_err()
                && DatasetId::new("a b").is_err()
                && DatasetId::new("a\u{7}").is_err()
        );
        assert_eq!(
            DatasetId::from_text(" a b ").map(|id| id.to_string()),
            Some("a-b".to_owned())
        );
        assert_eq!(DatasetId::from_text("  "), None);
    }

    #[test]
    fn long_texts_are_omitted() {
        let mut dataset = Dataset::new(Metadata::new(DatasetId::new("a").expect("an id")));
        dataset.metadata.titles = vec![
            Text::plain("a".repeat(MAX_TEXT_BYTES + 1)),
            Text::plain("a"),
        ];
        dataset.metadata.descriptions = vec![Text::plain("a".repeat(MAX_TEXT_BYTES))];
        dataset.metadata.license = Some("a".repeat(MAX_TEXT_BYTES + 1));
        assert_eq!(dataset.omit_long_texts(), ["title", "license"]);
        assert_eq!(dataset.metadata.license, None);
        assert_eq!(
            (
                dataset.metadata.titles.len(),
                dataset.metadata.descriptions.len()
            ),
            (1, 1)
        );
    }

    /// If each publisher were compared with all creators, the work would be quadratic.
    #[test]
    fn many_agents_are_listed_once() {
        let agents = |numbers: std::ops::Range<u32>| {
            numbers
                .map(|number| Agent {
                    name: format!("Agent {number}"),
                    iri: None,
                })
                .collect::<Vec<_>>()
        };
        let id = DatasetId::new("a").expect("an id");
        let metadata = Metadata {
            creators: agents(0..100_000),
            publishers: agents(99_999..200_000),
            ..Metadata::new(id)
        };
        assert_eq!(metadata.agents().count(), 200_000);
        assert_eq!(
            metadata
                .agents()
                .nth(100_000)
                .map(|agent| agent.name.as_str()),
            Some("Agent 100000")
        );
    }

    #[test]
    fn locations() {
        assert_eq!(
            Location::from_text("a/b.ttl"),
            Location::File("a/b.ttl".into())
        );
        assert_eq!(
            Location::from_text("https://e.org/a"),
            Location::Remote("https://e.org/a".into())
        );
    }

    #[test]
    fn readers_get_their_language() {
        let text = |value: &str, tag: Option<&str>| Text {
            value: value.into(),
            language: tag.map(Into::into),
        };
        let texts = [
            text("Bäume", Some("de")),
            text("trees", None),
            text("Trees", Some("en-GB")),
        ];
        assert_eq!(
            select_text(&texts, &["en"]).map(|t| t.value.as_str()),
            Some("Trees")
        );
        assert_eq!(
            select_text(&texts, &["fr"]).map(|t| t.value.as_str()),
            Some("trees")
        );
        assert_eq!(
            select_text(&texts, &["de", "en"]).map(|t| t.value.as_str()),
            Some("Bäume")
        );
        assert_eq!(
            select_text(&texts, &["de-AT"]).map(|t| t.value.as_str()),
            Some("Bäume")
        );
    }
}
