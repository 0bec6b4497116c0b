//! Metadata of a dataset for portal interfaces: CKAN's packages, schema.org, Croissant, feeds, citations and links.
//!
//! It is read from the catalogue graph by the terms of DCAT.

use lodeseek_catalog::{Agent, Dataset, DatasetId, Format, Iris, Location, Scheme, dcat};
use lodeseek_rdf::vocab::{adms, dc11, dcat as terms, dcterms, foaf, lodeseek, rdf, rdfs, schema, skos, spdx, vcard};
use lodeseek_rdf::{RdfSyntax, TermId, TermRef, TripleGraph, local_name, words};
use lodeseek_store::{Store, StoreError};
use oxsdatatypes::{DateTime, TimezoneOffset};
use std::collections::HashSet;
use std::str::FromStr;

const MEDIA_TYPES: &str = "www.iana.org/assignments/media-types/";

/// An agent or a concept with a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Party {
    pub(crate) name: String,
    /// IRI, if it is not a generated part of the description.
    pub(crate) iri: Option<String>,
    pub(crate) email: Option<String>,
    /// If true, the catalogue declares a person.
    pub(crate) is_person: bool,
}

/// A file or a service that provides the dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct File {
    /// Suffix of the distribution's IRI after that of the dataset. It is stable as long as the catalogue's order is.
    pub(crate) key: String,
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) location: Location,
    pub(crate) media_type: Option<String>,
    /// Format as written in the catalogue.
    pub(crate) format: Option<String>,
    pub(crate) bytes: Option<u64>,
    pub(crate) license: Option<String>,
    pub(crate) issued: Option<String>,
    pub(crate) modified: Option<String>,
    /// Checksums of the remote file. Locally stored content is served in another serialization without a checksum.
    pub(crate) checksums: Vec<Checksum>,
}

/// A checksum in lower case, of an algorithm that portal formats support.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Checksum {
    Md5(String),
    Sha256(String),
}

impl Checksum {
    /// Creates a checksum by the names of its algorithm or, without a name as in CKAN, by its length. `None` for other
    /// algorithms and invalid values.
    fn new(value: &str, algorithms: &[String]) -> Option<Self> {
        let hex = value.trim().to_ascii_lowercase();
        let is_named = |name: &str| {
            let mut names = algorithms.iter().map(|algorithm| algorithm_name(algorithm));
            algorithms.is_empty() || names.any(|algorithm| algorithm == name)
        };
        match hex.len() {
            _ if !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) => None,
            32 if is_named("md5") => Some(Self::Md5(hex)),
            64 if is_named("sha256") => Some(Self::Sha256(hex)),
            _ => None,
        }
    }

    /// Returns the hexadecimal digits.
    pub(crate) fn hex(&self) -> &str {
        match self {
            Self::Md5(hex) | Self::Sha256(hex) => hex,
        }
    }
}

/// Normalizes the name of an algorithm: `sha256` for `SHA-256` and for SPDX's `…#checksumAlgorithm_sha256`.
fn algorithm_name(written: &str) -> String {
    let last = written.rsplit(['#', '/', '_']).next().unwrap_or(written);
    last.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase()
}

/// Metadata of a dataset from its catalogue.
#[derive(Clone, Debug)]
pub(crate) struct PortalMetadata {
    pub(crate) iri: String,
    pub(crate) dataset: Dataset,
    pub(crate) keywords: Vec<String>,
    pub(crate) creators: Vec<Party>,
    pub(crate) publishers: Vec<Party>,
    pub(crate) contacts: Vec<Party>,
    /// Themes other than tasks, modalities and languages.
    pub(crate) themes: Vec<Party>,
    /// English names of languages.
    pub(crate) languages: Vec<String>,
    pub(crate) access_rights: Option<String>,
    pub(crate) places: Vec<String>,
    pub(crate) identifiers: Vec<String>,
    pub(crate) version: Option<String>,
    /// Number of statements of its files that could not be parsed at load.
    pub(crate) skipped: u64,
    /// If true, SPARQL cannot query its content.
    pub(crate) is_index_only: bool,
    pub(crate) files: Vec<File>,
}

impl PortalMetadata {
    /// Reads the metadata of a dataset; `None` if the catalogue does not contain it.
    pub(crate) fn read(store: &Store, id: &DatasetId) -> Result<Option<Self>, StoreError> {
        Ok(Self::from_graph(&store.description_graph(id)?, store.iris(), id))
    }

    /// Extracts the metadata of a dataset from a graph.
    pub(crate) fn from_graph(graph: &TripleGraph, iris: &Iris, id: &DatasetId) -> Option<Self> {
        let iri = iris.dataset(id);
        let dataset = dcat::from_triples(graph, &iri)?;
        let node = Node { graph, id: graph.iri(iri.as_str())? };
        let mut files: Vec<File> = node.nodes(terms::DISTRIBUTION).filter_map(|part| part.file(iri.as_str())).collect();
        // Parts are numbered: 10 comes after 9.
        files.sort_by(|a, b| (a.key.len(), &a.key).cmp(&(b.key.len(), &b.key)));
        let is_theme =
            |theme: &Node<'_>| !theme.values(skos::IN_SCHEME).any(|scheme| SCHEMES.contains(&scheme.as_str()));
        Some(Self {
            keywords: distinct(node.values(terms::KEYWORD)),
            creators: creators(node, &dataset, iri.as_str()),
            publishers: node.parties(dcterms::PUBLISHER, iri.as_str()),
            contacts: node.parties(terms::CONTACT_POINT, iri.as_str()),
            themes: node.nodes(terms::THEME).filter(is_theme).filter_map(|theme| theme.party(iri.as_str())).collect(),
            languages: languages(&dataset),
            access_rights: node.label(dcterms::ACCESS_RIGHTS),
            places: node.nodes(dcterms::SPATIAL).filter_map(|place| place.name()).collect(),
            identifiers: node.nodes(adms::IDENTIFIER).filter_map(|one| one.value(skos::NOTATION)).collect(),
            version: node.value(terms::VERSION),
            skipped: node.value(lodeseek::SKIPPED_STATEMENTS).and_then(|count| count.parse().ok()).unwrap_or_default(),
            is_index_only: node.value(lodeseek::IS_INDEX_ONLY).is_some_and(|value| value == "true"),
            files,
            iri: iri.into_string(),
            dataset,
        })
    }

    /// Returns the publisher, or the first creator if there is none.
    pub(crate) fn organization(&self) -> Option<Party> {
        self.publishers.first().or_else(|| self.creators.first()).cloned()
    }

    /// Returns the address of a file: its own or, for local files, that of the stored content.
    pub(crate) fn address(&self, file: &File, base: &str) -> String {
        match &file.location {
            Location::Remote(address) => address.clone(),
            Location::File(_) => {
                let name = match file.syntax() {
                    Some(RdfSyntax::NTriples) => "nt",
                    Some(RdfSyntax::JsonLd) => "jsonld",
                    Some(RdfSyntax::RdfXml) => "rdf",
                    _ => "ttl",
                };
                let mut query = form_urlencoded::Serializer::new(String::new());
                let query = query.append_pair("graph", &self.iri).append_pair("format", name).finish();
                format!("{base}rdf-graph-store?{query}")
            }
        }
    }

    /// Returns the time of the last change, or else of publication, in CKAN's format: `2021-02-11T00:00:00`, UTC.
    pub(crate) fn modified(&self) -> Option<String> {
        let metadata = &self.dataset.metadata;
        metadata.modified.as_deref().and_then(moment).or_else(|| self.issued())
    }

    /// Returns the time of the first publication.
    pub(crate) fn issued(&self) -> Option<String> {
        self.dataset.metadata.issued.as_deref().and_then(moment)
    }

    /// Returns the labels of its tasks or modalities.
    pub(crate) fn themes_of(&self, scheme: Scheme) -> impl Iterator<Item = String> {
        self.dataset.metadata.themes_of(scheme).map(str::to_owned)
    }
}

/// Returns the creators. Generated IRIs are omitted.
fn creators(node: Node<'_>, dataset: &Dataset, iri: &str) -> Vec<Party> {
    let own = format!("{iri}#");
    let nodes = [dcterms::CREATOR, dc11::CREATOR].into_iter().flat_map(|property| node.nodes(property));
    let persons = nodes.filter(|node| node.is_person()).filter_map(Node::name);
    let persons: HashSet<String> = persons.map(|name| name.trim().to_owned()).collect();
    let agents = dataset.metadata.creators.iter();
    let party = |agent: &Agent| Party {
        name: agent.name.clone(),
        iri: agent.iri.clone().filter(|iri| !iri.starts_with(&own)),
        email: None,
        is_person: persons.contains(&agent.name),
    };
    agents.map(party).collect()
}

fn languages(dataset: &Dataset) -> Vec<String> {
    let themes = dataset.metadata.themes_of(Scheme::Language).map(str::to_owned);
    distinct(themes.chain(dataset.language_names()))
}

const PERSONS: [&str; 3] = [foaf::PERSON, schema::PERSON, vcard::INDIVIDUAL];
const SCHEMES: [&str; 3] = [lodeseek::TASK, lodeseek::MODALITY, lodeseek::LANGUAGE];

impl File {
    /// Returns the title, or the name of the file.
    pub(crate) fn name(&self) -> String {
        let path = self.location.as_str().split(['?', '#']).next().unwrap_or_default();
        self.title.clone().unwrap_or_else(|| local_name(path).to_owned())
    }

    /// Returns the format's name as portals write it (`TTL`, `CSV`); empty if unknown.
    pub(crate) fn label(&self) -> String {
        let known = |name: &str| Format::from_name(name).map(|format| format.short.to_owned());
        let declared = self.format.as_deref().map(|format| local_name(format).to_owned());
        if let Some(label) = self.media_type.as_deref().and_then(known) {
            return label;
        }
        if let Some(declared) = declared {
            return known(&declared).unwrap_or_else(|| declared.to_ascii_uppercase());
        }
        let by_name = Format::from_path(self.location.as_str()).map(|format| format.short.to_owned());
        let subtype = self.media_type.as_deref().and_then(|media_type| media_type.split('/').nth(1));
        by_name.or_else(|| subtype.map(str::to_ascii_uppercase)).unwrap_or_default()
    }

    /// Returns the RDF syntax of the file.
    fn syntax(&self) -> Option<RdfSyntax> {
        match self.label().as_str() {
            "N-Triples" | "N-Quads" => Some(RdfSyntax::NTriples),
            "JSON-LD" => Some(RdfSyntax::JsonLd),
            "RDF" => Some(RdfSyntax::RdfXml),
            "TTL" | "TriG" | "N3" => Some(RdfSyntax::Turtle),
            _ => None,
        }
    }

    /// Returns the media type: as declared in the catalogue, or else that of the format.
    pub(crate) fn media(&self) -> Option<String> {
        let label = self.label();
        let known = Format::from_short_name(&label).and_then(|format| format.aliases.first());
        self.media_type.clone().or_else(|| known.map(|name| (*name).to_owned()))
    }
}

/// Returns the values without repetitions, in their order.
fn distinct(values: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = HashSet::new();
    values.filter(|value| seen.insert(value.clone())).collect()
}

/// Converts a date to CKAN's format; `None` for other texts. The default time zone is UTC.
pub(crate) fn moment(written: &str) -> Option<String> {
    let written = written.trim();
    let full = match written.len() {
        4 => format!("{written}-01-01T00:00:00"),
        7 => format!("{written}-01T00:00:00"),
        10 => format!("{written}T00:00:00"),
        _ => written.replacen(' ', "T", 1),
    };
    let parsed = DateTime::from_str(&full).ok()?;
    let utc = if parsed.timezone_offset().is_some() { parsed.adjust(Some(TimezoneOffset::UTC))? } else { parsed };
    let text = utc.to_string();
    let text = text.trim_end_matches('Z');
    // Fractions of seconds would break the lexicographic order.
    Some(text.split('.').next().unwrap_or(text).to_owned())
}

/// A node of a description.
#[derive(Clone, Copy)]
struct Node<'g> {
    graph: &'g TripleGraph,
    id: TermId,
}

impl<'g> Node<'g> {
    fn nodes(self, property: &str) -> impl Iterator<Item = Node<'g>> + use<'g> {
        let property = self.graph.iri(property);
        let triples = self.graph.subject_triples(self.id).iter();
        let found = triples.filter(move |triple| Some(triple.predicate) == property);
        found.map(move |triple| Node { graph: self.graph, id: triple.object })
    }

    fn term(self) -> TermRef<'g> {
        self.graph.term(self.id)
    }

    /// Returns the literals and IRIs of a property as texts.
    fn values(self, property: &str) -> impl Iterator<Item = String> + use<'g> {
        let named = self.nodes(property).filter(|node| !matches!(node.term(), TermRef::Blank(_) | TermRef::Triple(_)));
        named.map(|node| node.term().text().trim().to_owned()).filter(|text| !text.is_empty())
    }

    fn value(self, property: &str) -> Option<String> {
        self.values(property).next()
    }

    /// Returns the text of a property, in English if available.
    fn text(self, property: &str) -> Option<String> {
        let rank = |node: &Node<'_>| match node.term().language() {
            Some(tag) if tag.starts_with("en") => 0,
            Some(_) => 2,
            None => 1,
        };
        self.nodes(property).min_by_key(rank).map(|node| node.term().text().to_owned())
    }

    /// Returns the name of a property's value.
    fn label(self, property: &str) -> Option<String> {
        self.nodes(property).find_map(Node::name)
    }

    /// Returns the name of the node: a literal's text, a label, or the local name of the IRI.
    fn name(self) -> Option<String> {
        let labels = [foaf::NAME, skos::PREF_LABEL, rdfs::LABEL, vcard::FN, dcterms::TITLE];
        match self.term() {
            TermRef::Literal { lexical, .. } => Some(lexical.trim().to_owned()),
            TermRef::Iri(iri) => {
                labels.iter().find_map(|label| self.text(label)).or_else(|| Some(words(local_name(iri))))
            }
            TermRef::Blank(_) | TermRef::Triple(_) => labels.iter().find_map(|label| self.text(label)),
        }
        .filter(|name| !name.is_empty())
    }

    fn party(self, dataset: &str) -> Option<Party> {
        let iri = match self.term() {
            TermRef::Iri(iri) if !iri.starts_with(&format!("{dataset}#")) => Some(iri.to_owned()),
            _ => None,
        };
        let email = self.value(vcard::HAS_EMAIL).map(|email| email.trim_start_matches("mailto:").to_owned());
        Some(Party { name: self.name()?, iri, email, is_person: self.is_person() })
    }

    fn is_person(self) -> bool {
        self.values(rdf::TYPE)
            .any(|class| PERSONS.contains(&class.replacen("http://schema", "https://schema", 1).as_str()))
    }

    fn parties(self, property: &str, dataset: &str) -> Vec<Party> {
        self.nodes(property).filter_map(|node| node.party(dataset)).collect()
    }

    fn checksums(self) -> Vec<Checksum> {
        let checksum = |part: Node<'_>| {
            let algorithms: Vec<String> = part.values(spdx::ALGORITHM).chain(part.label(spdx::ALGORITHM)).collect();
            Checksum::new(&part.value(spdx::CHECKSUM_VALUE)?, &algorithms)
        };
        self.nodes(spdx::CHECKSUM).filter_map(checksum).collect()
    }

    fn file(self, dataset: &str) -> Option<File> {
        let service = || self.nodes(terms::ACCESS_SERVICE).find_map(|service| service.value(terms::ENDPOINT_URL));
        let downloaded = self.value(terms::DOWNLOAD_URL);
        let location = downloaded.or_else(|| self.value(terms::ACCESS_URL)).or_else(service)?;
        let location = Location::from_text(&location);
        let media_type = self.value(terms::MEDIA_TYPE);
        let own = |iri: &str| iri.strip_prefix(dataset).and_then(|rest| rest.strip_prefix('#')).map(str::to_owned);
        Some(File {
            key: own(self.term().text()).unwrap_or_else(|| local_name(self.term().text()).to_owned()),
            title: self.text(dcterms::TITLE),
            description: self.text(dcterms::DESCRIPTION),
            checksums: if matches!(location, Location::Remote(_)) { self.checksums() } else { Vec::new() },
            location,
            media_type: media_type.map(|text| text.split(MEDIA_TYPES).last().unwrap_or(&text).to_owned()),
            format: self.label(dcterms::FORMAT),
            bytes: self.value(terms::BYTE_SIZE).and_then(|size| size.parse::<f64>().ok()).map(|size| size as u64),
            license: self.value(dcterms::LICENSE),
            issued: self.value(dcterms::ISSUED),
            modified: self.value(dcterms::MODIFIED),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_keywords_are_compared_by_hash() {
        let keywords: Vec<String> = (0..100_000).map(|number| format!("keyword {number}")).collect();
        assert_eq!(distinct(keywords.iter().chain(&keywords).cloned()), keywords);
    }

    #[test]
    fn checksums_by_name_and_length() {
        let (md5, sha256) = ("0123456789abcdef".repeat(2), "0123456789ABCDEF".repeat(4));
        let of = |value: &str, algorithms: &[&str]| {
            let algorithms: Vec<String> = algorithms.iter().map(|name| (*name).to_owned()).collect();
            Checksum::new(value, &algorithms)
        };
        for names in [&[][..], &["sha256"], &["SHA-256"], &["http://spdx.org/rdf/terms#checksumAlgorithm_sha256", "x"]]
        {
            assert_eq!(of(&sha256, names), Some(Checksum::Sha256(sha256.to_lowercase())), "{names:?}");
        }
        assert_eq!(of(&md5, &["MD5"]), Some(Checksum::Md5(md5.clone())));
        assert_eq!(of(&format!(" {md5} "), &[]), Some(Checksum::Md5(md5.clone())));
        for (value, names) in [
            (md5.as_str(), &["sha256"][..]),
            (&sha256, &["sha3-256"]),
            (&sha256, &["md5"]),
            (&sha256[1..], &[]),
            ("", &[]),
            ("d41d8cd98f00b204e9800998ecf8427g", &[]),
        ] {
            assert_eq!(of(value, names), None, "{value} {names:?}");
        }
    }
}
