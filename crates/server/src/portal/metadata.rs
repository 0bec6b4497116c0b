//! Metadata of a dataset for portal interfaces: CKAN's packages, schema.org, Croissant, feeds, citations and links.
//!
//! It is read from the catalogue graph by the terms of DCAT.

use crate::text::{href, segment};
use lodeseek_catalog::{
    Agent, Dataset, DatasetId, Format, Iris, Location, Moment, Scheme, data_theme, dcat,
    name_of_iri,
};
use lodeseek_index::compose;
use lodeseek_rdf::vocab::{
    adms, dc11, dcat as terms, dcterms, foaf, lodeseek, org, owl, rdf, rdfs, schema, skos, spdx,
    vcard,
};
use lodeseek_rdf::{RdfSyntax, TermId, TermRef, TripleGraph, local_name};
use lodeseek_store::{Store, StoreError, StoredFile};
use oxrdf::NamedNode;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};

pub(crate) const MEDIA_TYPES: &str = "www.iana.org/assignments/media-types/";

/// An agent or a concept with a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Party {
    pub(crate) name: String,
    /// IRI, if it is not a generated part of the description.
    pub(crate) iri: Option<String>,
    /// Kind of agent, if the catalogue declares one.
    pub(crate) kind: Option<AgentKind>,
    /// E-mail address of an agent.
    pub(crate) email: Option<String>,
}

/// Kinds of agents in schema.org.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AgentKind {
    Person,
    Organization,
}

/// A contact point. It may have an address without a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Contact {
    pub(crate) name: Option<String>,
    pub(crate) email: Option<String>,
}

/// A value with a name, an IRI, or both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Term {
    pub(crate) name: Option<String>,
    pub(crate) iri: Option<String>,
}

impl Term {
    /// Returns the IRI, else the name: CKAN's DCAT harvesters prefer IRIs.
    pub(crate) fn iri_or_name(&self) -> Option<&String> {
        self.iri.as_ref().or(self.name.as_ref())
    }
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
    /// Checksums of the bytes at its address. Stored content that is served in another serialization has none.
    pub(crate) checksums: Vec<Checksum>,
    /// The file as it was loaded, if the home keeps it.
    pub(crate) kept: Option<StoredFile>,
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
        match hex.len() {
            _ if !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) => None,
            32 if may_be_algorithm(algorithms, "md5") => Some(Self::Md5(hex)),
            64 if may_be_algorithm(algorithms, "sha256") => Some(Self::Sha256(hex)),
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

/// If true, the names of a checksum's algorithm include `name`, or there are none.
fn may_be_algorithm(algorithms: &[String], name: &str) -> bool {
    let mut names = algorithms.iter().map(|algorithm| algorithm_name(algorithm));
    algorithms.is_empty() || names.any(|algorithm| algorithm == name)
}

/// Normalizes the name of an algorithm: `sha256` for `SHA-256` and for SPDX's `…#checksumAlgorithm_sha256`.
fn algorithm_name(written: &str) -> String {
    let last = written.rsplit(['#', '/', '_']).next().unwrap_or(written);
    last.chars()
        .filter(char::is_ascii_alphanumeric)
        .collect::<String>()
        .to_ascii_lowercase()
}

/// Metadata of a dataset from its catalogue.
#[derive(Clone, Debug)]
pub(crate) struct PortalMetadata {
    pub(crate) iri: String,
    pub(crate) dataset: Dataset,
    pub(crate) keywords: Vec<String>,
    pub(crate) creators: Vec<Party>,
    /// E-mail address of the first creator with a name, or else of one without.
    pub(crate) creator_email: Option<String>,
    pub(crate) publishers: Vec<Party>,
    pub(crate) contacts: Vec<Contact>,
    /// Themes other than tasks, modalities and languages.
    pub(crate) themes: Vec<Party>,
    /// English names of languages.
    pub(crate) languages: Vec<String>,
    /// Languages as the catalogue declares them.
    pub(crate) declared_languages: Vec<Term>,
    pub(crate) access_rights: Option<Term>,
    pub(crate) places: Vec<Term>,
    pub(crate) frequency: Option<Term>,
    pub(crate) standards: Vec<Term>,
    /// Identifiers other than the id.
    pub(crate) identifiers: Vec<String>,
    /// If true, the first of them is the identifier of the catalogue.
    pub(crate) has_identifier: bool,
    pub(crate) version: Option<String>,
    /// Licences of the dataset or, if it has none, of its files.
    pub(crate) licenses: Vec<String>,
    /// Number of statements of its files that could not be parsed at load.
    pub(crate) skipped: u64,
    /// If true, SPARQL cannot query its content.
    pub(crate) is_index_only: bool,
    /// If true, the store has RDF of the dataset.
    pub(crate) has_content: bool,
    /// Licence as a package of CKAN declares it.
    pub(crate) declared_license: DeclaredLicense,
    /// IRIs and texts of further properties, by their keys in CKAN's DCAT harvesters.
    pub(crate) relations: Vec<(&'static str, Vec<String>)>,
    pub(crate) files: Vec<File>,
}

/// Members of a package of CKAN on its licence. Their values are additional properties of the description.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DeclaredLicense {
    pub(crate) id: Option<String>,
    pub(crate) title: Option<String>,
}

impl PortalMetadata {
    /// Reads the metadata of a dataset; `None` if the catalogue does not contain it.
    pub(crate) fn read(store: &Store, id: &DatasetId) -> Result<Option<Self>, StoreError> {
        let graph = store.description_graph(id)?;
        let read = Self::from_graph(&graph, store.iris(), id, store.stores_content(id)?);
        match read {
            Some(described) => Ok(Some(described.with_kept_files(store)?)),
            None => Ok(None),
        }
    }

    /// Adds the files that the home keeps. Files without an address of their own are then served with their own bytes.
    pub(crate) fn with_kept_files(mut self, store: &Store) -> Result<Self, StoreError> {
        for kept in store.dataset_files(&self.dataset.metadata.id)? {
            let file = self
                .files
                .iter_mut()
                // Several files may have one location: each kept file belongs to one of them.
                .find(|file| file.kept.is_none() && file.location.as_str() == kept.location);
            let Some(file) = file else { continue };
            // A remote file is not sent by this server: size and checksums remain those of its catalogue.
            if matches!(file.location, Location::File(_)) {
                file.bytes = Some(kept.bytes);
                file.checksums = vec![Checksum::Sha256(kept.sha256.clone())];
            }
            file.kept = Some(kept);
        }
        Ok(self)
    }

    /// Extracts the metadata of a dataset from a graph. `has_content` is true if the store has RDF of the dataset.
    pub(crate) fn from_graph(
        graph: &TripleGraph,
        iris: &Iris,
        id: &DatasetId,
        has_content: bool,
    ) -> Option<Self> {
        let iri = iris.dataset(id);
        let dataset = dcat::from_triples(graph, &iri)?;
        let id = graph.iri(iri.as_str())?;
        let node = Node {
            graph,
            id,
            dataset: id,
        };
        let mut files: Vec<File> = node
            .nodes(terms::DISTRIBUTION)
            .filter_map(Node::file)
            .collect();
        // Parts are numbered: 10 comes after 9.
        files.sort_by(|a, b| (a.key.len(), &a.key).cmp(&(b.key.len(), &b.key)));
        complete_files(&mut files, &dataset);
        let creators = read_parties(
            node,
            &[dcterms::CREATOR, dc11::CREATOR],
            &dataset.metadata.creators,
        );
        Some(Self {
            keywords: distinct(node.values(terms::KEYWORD)),
            creator_email: match creators.first() {
                Some(first) => first.email.clone(),
                None => node.nodes(dcterms::CREATOR).find_map(Node::email),
            },
            creators,
            publishers: read_parties(node, &[dcterms::PUBLISHER], &dataset.metadata.publishers),
            contacts: node
                .nodes(terms::CONTACT_POINT)
                .filter_map(Node::contact)
                .collect(),
            themes: merge_concepts(
                node.nodes(terms::THEME)
                    .filter(|theme| !theme.is_in_own_scheme())
                    .filter_map(Node::concept),
            ),
            languages: language_names(&dataset),
            declared_languages: node.terms(dcterms::LANGUAGE),
            access_rights: node.terms(dcterms::ACCESS_RIGHTS).into_iter().next(),
            places: node.terms(dcterms::SPATIAL),
            frequency: node.terms(dcterms::ACCRUAL_PERIODICITY).into_iter().next(),
            standards: node.terms(dcterms::CONFORMS_TO),
            has_identifier: node
                .values(dcterms::IDENTIFIER)
                .all(|text| Some(text) != node.value(lodeseek::ID)),
            identifiers: read_identifiers(node),
            version: node
                .value(terms::VERSION)
                .or_else(|| node.value(owl::VERSION_INFO)),
            licenses: dataset.licenses(),
            skipped: node
                .value(lodeseek::SKIPPED_STATEMENTS)
                .and_then(|count| count.parse().ok())
                .unwrap_or_default(),
            is_index_only: node
                .value(lodeseek::IS_INDEX_ONLY)
                .is_some_and(|value| value == "true"),
            has_content,
            declared_license: DeclaredLicense {
                id: node.additional_property("license_id"),
                title: node.additional_property("license_title"),
            },
            relations: RELATIONS
                .iter()
                .map(|(key, property)| (*key, distinct(node.values(property))))
                .collect(),
            files,
            iri: iri.into_string(),
            dataset,
        })
    }

    /// Returns the first licence.
    pub(crate) fn license(&self) -> Option<&str> {
        self.licenses.first().map(String::as_str)
    }

    /// Returns the publisher.
    pub(crate) fn organization(&self) -> Option<Party> {
        self.publishers.first().cloned()
    }

    /// If true, the content of a local file is stored as RDF.
    pub(crate) fn is_stored(&self, file: &File) -> bool {
        let is_rdf = match Format::from_short_name(&file.label()) {
            Some(format) => format.may_be_rdf(),
            None => file.label().is_empty(),
        };
        // The content of a dataset with a single file can only be that of this file.
        let is_only_file = self.files.len() == 1;
        self.has_content && matches!(file.location, Location::File(_)) && (is_rdf || is_only_file)
    }

    /// Returns the address of a file, or the text that its catalogue has in the place of one.
    pub(crate) fn address_or_text(&self, file: &File, base: &str) -> String {
        self.address(file, base)
            .unwrap_or_else(|| file.location.as_str().to_owned())
    }

    /// Returns the files as JSON, each with its address, name, media type, format, bytes, licence and date as far as known. The
    /// address is that of the publisher, or that of the content on the server at `base`, or else the text of the catalogue.
    pub(crate) fn downloads_json(&self, base: &str) -> Vec<Value> {
        let mut downloads = Vec::with_capacity(self.files.len());
        for file in &self.files {
            let mut download =
                json!({ "url": self.address_or_text(file, base), "title": file.name() });
            let format = Some(file.label()).filter(|label| !label.is_empty());
            for (name, value) in [
                ("mediaType", json!(file.media())),
                ("format", json!(format)),
                ("bytes", json!(file.bytes)),
                ("license", json!(file.license)),
                ("modified", json!(file.modified)),
            ] {
                if !value.is_null() {
                    download[name] = value;
                }
            }
            downloads.push(download);
        }
        downloads
    }

    /// Returns the address of a file as it was loaded, on the server at `base`.
    pub(crate) fn kept_address(&self, kept: &StoredFile, base: &str) -> String {
        let path = href(&self.dataset.metadata.id);
        format!(
            "{base}{}/files/{}",
            path.trim_start_matches('/'),
            segment(&kept.name)
        )
    }

    /// Returns the address of a file: its own or, for local files, that of the kept file, else of the content if it is stored as RDF.
    pub(crate) fn address(&self, file: &File, base: &str) -> Option<String> {
        match (&file.location, &file.kept) {
            (Location::Remote(address), _) => Some(address.clone()),
            (Location::File(_), Some(kept)) => Some(self.kept_address(kept, base)),
            (Location::File(_), None) if !self.is_stored(file) => None,
            (Location::File(_), None) => {
                let name = match file.syntax() {
                    Some(RdfSyntax::NTriples) => "nt",
                    Some(RdfSyntax::JsonLd) => "jsonld",
                    Some(RdfSyntax::RdfXml) => "rdf",
                    _ => "ttl",
                };
                let mut query = form_urlencoded::Serializer::new(String::new());
                let query = query
                    .append_pair("graph", &self.iri)
                    .append_pair("format", name)
                    .finish();
                Some(format!("{base}rdf-graph-store?{query}"))
            }
        }
    }

    /// Returns the time of the last change, or else of publication, in CKAN's format: `2021-02-11T00:00:00`, UTC.
    pub(crate) fn modification_time(&self) -> Option<String> {
        self.modified_moment().map(|moment| moment.second())
    }

    /// Returns the time of [`modification_time`](Self::modification_time) in all its forms.
    pub(crate) fn modified_moment(&self) -> Option<Moment> {
        let modified = self.dataset.metadata.modified.as_deref();
        modified
            .and_then(Moment::parse)
            .or_else(|| self.issued_moment())
    }

    /// Returns the time of the first publication.
    pub(crate) fn publication_time(&self) -> Option<String> {
        self.issued_moment().map(|moment| moment.second())
    }

    /// Returns the time of the first publication in all its forms.
    pub(crate) fn issued_moment(&self) -> Option<Moment> {
        let issued = self.dataset.metadata.issued.as_deref();
        issued.and_then(Moment::parse)
    }

    /// Returns the labels of its tasks or modalities.
    pub(crate) fn themes_of(&self, scheme: Scheme) -> impl Iterator<Item = String> {
        self.dataset.metadata.themes_of(scheme).map(str::to_owned)
    }
}

/// Returns the agents of a dataset, which are the values of some properties. An agent without a name is none.
fn read_parties(node: Node<'_>, properties: &[&str], agents: &[Agent]) -> Vec<Party> {
    let mut declared: HashMap<Agent, (Option<AgentKind>, Option<String>)> = HashMap::new();
    for value in properties.iter().flat_map(|property| node.nodes(property)) {
        if let Some(agent) = value.agent() {
            let (kind, email) = declared.entry(agent).or_default();
            *kind = kind.or_else(|| value.agent_kind());
            if email.is_none() {
                *email = value.email();
            }
        }
    }
    let mut parties = Vec::with_capacity(agents.len());
    for agent in agents {
        let (kind, email) = declared.remove(agent).unwrap_or_default();
        parties.push(Party {
            name: agent.name.clone(),
            iri: agent.iri.clone(),
            kind,
            email,
        });
    }
    parties
}

/// Returns the identifiers: those of the catalogue other than the id, the first of which is the one of `dct:identifier`.
fn read_identifiers(node: Node<'_>) -> Vec<String> {
    let mut own: Vec<String> = node.values(dcterms::IDENTIFIER).collect();
    own.sort();
    let id = node.value(lodeseek::ID);
    let further = node.nodes(adms::IDENTIFIER).filter_map(|one| {
        one.value(skos::NOTATION)
            .or_else(|| matches!(one.term(), TermRef::Literal { .. }).then(|| one.name())?)
    });
    distinct(own.into_iter().chain(further))
        .into_iter()
        .filter(|text| Some(text) != id.as_ref())
        .collect()
}

/// Returns concepts with distinct names. A concept without an IRI is that of the same name with one.
fn merge_concepts(concepts: impl Iterator<Item = Party>) -> Vec<Party> {
    let all: Vec<Party> = concepts.collect();
    let named: HashSet<String> = all
        .iter()
        .filter(|one| one.iri.is_some())
        .map(|one| one.name.to_lowercase())
        .collect();
    let mut seen = HashSet::new();
    all.into_iter()
        .filter(|one| one.iri.is_some() || !named.contains(&one.name.to_lowercase()))
        .filter(|one| seen.insert((one.name.to_lowercase(), one.iri.clone())))
        .collect()
}

/// (key in CKAN's DCAT harvesters, property) of relations to other resources.
const RELATIONS: [(&str, &str); 6] = [
    ("documentation", foaf::PAGE),
    ("has_version", dcterms::HAS_VERSION),
    ("is_version_of", dcterms::IS_VERSION_OF),
    ("source", dcterms::SOURCE),
    ("related_resource", dcterms::RELATION),
    ("is_referenced_by", dcterms::IS_REFERENCED_BY),
];

/// Replaces licences and media types that are nodes of the description by the texts that these nodes contain.
fn complete_files(files: &mut [File], dataset: &Dataset) {
    let licenses = dataset.distribution_licenses();
    for file in files {
        let place = file
            .key
            .strip_prefix("distribution-")
            .and_then(|number| number.parse::<usize>().ok());
        let Some(place) = place.and_then(|number| number.checked_sub(1)) else {
            continue;
        };
        file.license = licenses.get(place).cloned().flatten();
        let declared = dataset
            .distributions
            .get(place)
            .and_then(|distribution| distribution.media_type.clone());
        // A media type with `#` is the IRI of a node of the description.
        let is_part = file
            .media_type
            .as_ref()
            .is_some_and(|text| text.contains('#'));
        if is_part {
            file.media_type = declared.filter(|name| name.contains('/'));
        }
    }
}

fn language_names(dataset: &Dataset) -> Vec<String> {
    let themes = dataset
        .metadata
        .themes_of(Scheme::Language)
        .map(str::to_owned);
    distinct(themes.chain(dataset.language_names()))
}

const PERSONS: [&str; 3] = [foaf::PERSON, schema::PERSON, vcard::INDIVIDUAL];
const ORGANIZATIONS: [&str; 4] = [
    foaf::ORGANIZATION,
    schema::ORGANIZATION,
    vcard::ORGANIZATION,
    org::ORGANIZATION,
];
const SCHEMES: [&str; 3] = [lodeseek::TASK, lodeseek::MODALITY, lodeseek::LANGUAGE];

impl File {
    /// If true, it has no address of its own, and the home keeps its bytes.
    pub(crate) fn is_kept(&self) -> bool {
        matches!(self.location, Location::File(_)) && self.kept.is_some()
    }

    /// Returns the title, or the name of the file.
    pub(crate) fn name(&self) -> String {
        let path = self
            .location
            .as_str()
            .split(['?', '#'])
            .next()
            .unwrap_or_default();
        self.title
            .clone()
            .unwrap_or_else(|| local_name(path).to_owned())
    }

    /// Returns the format's name as portals write it (`TTL`, `CSV`); empty if unknown.
    pub(crate) fn label(&self) -> String {
        let declared = self
            .format
            .as_deref()
            .map(|format| local_name(format).to_owned());
        if let Some(label) = self.media_type.as_deref().and_then(short_format_name) {
            return label;
        }
        if let Some(declared) = declared {
            // A letter and its accent are one character, which stays as it is.
            return short_format_name(&declared)
                .unwrap_or_else(|| compose(&declared).to_ascii_uppercase());
        }
        let by_name =
            Format::from_path(self.location.as_str()).map(|format| format.short.to_owned());
        let subtype = self
            .media_type
            .as_deref()
            .and_then(|media_type| media_type.split('/').nth(1));
        by_name
            .or_else(|| subtype.map(str::to_ascii_uppercase))
            .unwrap_or_default()
    }

    /// Returns the RDF syntax of the file.
    pub(crate) fn syntax(&self) -> Option<RdfSyntax> {
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
        if let (Location::File(_), Some(kept)) = (&self.location, &self.kept) {
            return Some(kept.media_type().to_owned());
        }
        let label = self.label();
        let known = Format::from_short_name(&label).and_then(|format| format.aliases.first());
        self.media_type
            .clone()
            .or_else(|| known.map(|name| (*name).to_owned()))
    }
}

/// Returns the short name of a known format or media type.
fn short_format_name(name: &str) -> Option<String> {
    Format::from_name(name).map(|format| format.short.to_owned())
}

/// Returns the values without repetitions, in their order.
pub(crate) fn distinct(values: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = HashSet::new();
    values.filter(|value| seen.insert(value.clone())).collect()
}

/// Converts a date to CKAN's format; `None` for other texts. The default time zone is UTC.
pub(crate) fn ckan_time(written: &str) -> Option<String> {
    Moment::parse(written).map(|moment| moment.second())
}

/// Returns a date as in ISO 8601, without the zone of a day; `None` for other texts.
pub(crate) fn iso_date(written: &str) -> Option<String> {
    Moment::parse(written).map(|moment| moment.iso().to_owned())
}

/// A node of a description.
#[derive(Clone, Copy)]
struct Node<'g> {
    graph: &'g TripleGraph,
    id: TermId,
    /// The described dataset: IRIs with its IRI and a fragment are generated.
    dataset: TermId,
}

/// Properties with the name of a term.
const LABELS: [&str; 6] = [
    skos::PREF_LABEL,
    rdfs::LABEL,
    dcterms::TITLE,
    foaf::NAME,
    schema::NAME,
    vcard::FN,
];

impl<'g> Node<'g> {
    fn nodes(self, property: &str) -> impl Iterator<Item = Node<'g>> + use<'g> {
        let property = self.graph.iri(property);
        let triples = self.graph.subject_triples(self.id).iter();
        let found = triples.filter(move |triple| Some(triple.predicate) == property);
        found.map(move |triple| Node {
            id: triple.object,
            ..self
        })
    }

    /// If true, the node is a task, modality or language of this program.
    fn is_in_own_scheme(self) -> bool {
        self.values(skos::IN_SCHEME)
            .any(|scheme| SCHEMES.contains(&scheme.as_str()))
    }

    fn term(self) -> TermRef<'g> {
        self.graph.term(self.id)
    }

    /// Returns the suffix of the IRI if it is generated: a part of the description.
    fn part(self) -> Option<&'g str> {
        let TermRef::Iri(iri) = self.term() else {
            return None;
        };
        iri.strip_prefix(self.graph.term(self.dataset).text())?
            .strip_prefix('#')
    }

    /// Returns the IRI, which for a part is the one that is declared for it.
    fn iri(self) -> Option<String> {
        let is_part = self.part().is_some();
        match self.term() {
            TermRef::Iri(iri) if !is_part => Some(iri.to_owned()),
            TermRef::Iri(_) => self
                .nodes(owl::SAME_AS)
                .filter(|node| node.part().is_none())
                .find_map(Self::iri),
            _ => None,
        }
    }

    /// Returns the literals and IRIs of a property as texts. Generated IRIs are omitted.
    fn values(self, property: &str) -> impl Iterator<Item = String> + use<'g> {
        let texts = self.nodes(property).filter_map(|node| match node.term() {
            TermRef::Literal { lexical, .. } => Some(lexical.trim().to_owned()),
            _ => node.iri(),
        });
        texts.filter(|text| !text.is_empty())
    }

    fn value(self, property: &str) -> Option<String> {
        self.values(property).next()
    }

    /// Returns the text of a property, in English if available.
    fn text(self, property: &str) -> Option<String> {
        self.nodes(property)
            .min_by_key(|node| match node.term().language() {
                Some(tag) if tag.starts_with("en") => 0,
                None => 1,
                Some(_) => 2,
            })
            .map(|node| node.term().text().to_owned())
    }

    /// Returns the name of a property's value.
    fn label(self, property: &str) -> Option<String> {
        self.nodes(property).find_map(Node::name)
    }

    /// Returns the name of the node: a literal's text, a label, or the end of the IRI if it is a word.
    fn name(self) -> Option<String> {
        let name = match self.term() {
            TermRef::Literal { lexical, .. } => Some(lexical.trim().to_owned()),
            _ => self.declared_name().or_else(|| name_of_iri(&self.iri()?)),
        };
        name.filter(|name| !name.is_empty())
    }

    /// Returns the label of a node in English if available.
    fn declared_name(self) -> Option<String> {
        let labels = LABELS.iter().filter_map(|label| self.text(label));
        labels
            .map(|label| label.trim().to_owned())
            .find(|label| !label.is_empty())
    }

    fn agent(self) -> Option<Agent> {
        let dataset = NamedNode::new_unchecked(self.graph.term(self.dataset).text());
        dcat::agent_at(self.graph, self.id, &dataset)
    }

    /// Returns a theme. Data themes of the European Union have their English names, unless the catalogue has one.
    fn concept(self) -> Option<Party> {
        let listed = self
            .iri()
            .filter(|_| !LABELS.iter().any(|label| self.has_english_text(label)))
            .and_then(|iri| data_theme(&iri));
        Some(Party {
            name: listed.or_else(|| self.name())?,
            iri: self.iri(),
            kind: None,
            email: None,
        })
    }

    /// If true, a property has a text in English, or one without a language.
    fn has_english_text(self, property: &str) -> bool {
        self.nodes(property).any(|label| match label.term() {
            TermRef::Literal { kind, .. } => {
                kind.language().is_none_or(|tag| tag.starts_with("en"))
            }
            _ => false,
        })
    }

    /// Returns the values of a property that have a name or an IRI.
    fn terms(self, property: &str) -> Vec<Term> {
        self.nodes(property)
            .map(Node::name_and_iri)
            .filter(|term| term.iri_or_name().is_some())
            .collect()
    }

    /// Returns the node as a term. A description replaces a missing name.
    fn name_and_iri(self) -> Term {
        Term {
            name: self.name().or_else(|| {
                self.text(dcterms::DESCRIPTION)
                    .filter(|text| !text.trim().is_empty())
            }),
            iri: self.iri(),
        }
    }

    fn contact(self) -> Option<Contact> {
        let own = self.iri().filter(|iri| iri.starts_with("mailto:"));
        let declared = self.email();
        let name = if own.is_some() {
            self.declared_name()
        } else {
            self.agent().map(|agent| agent.name)
        };
        let own = own.map(|iri| mail_address(&iri));
        let email = declared.or(own);
        (name.is_some() || email.is_some()).then_some(Contact { name, email })
    }

    /// Returns the e-mail address: of the node itself, or of a node that has it as its value.
    fn email(self) -> Option<String> {
        for property in [vcard::HAS_EMAIL, foaf::MBOX, schema::EMAIL] {
            for node in self.nodes(property) {
                let text = match node.term() {
                    TermRef::Literal { lexical, .. } => Some(lexical.trim().to_owned()),
                    _ => node
                        .iri()
                        .or_else(|| node.value(vcard::HAS_VALUE))
                        .or_else(|| node.value(vcard::VALUE))
                        .or_else(|| node.value(rdf::VALUE)),
                };
                if let Some(text) = text.filter(|text| !text.is_empty()) {
                    return Some(mail_address(&text));
                }
            }
        }
        None
    }

    /// Returns the kind of agent that the catalogue declares.
    fn agent_kind(self) -> Option<AgentKind> {
        self.values(rdf::TYPE).find_map(|class| {
            // Catalogues write the namespace of schema.org with either scheme.
            let class = class.replacen("http://schema", "https://schema", 1);
            if PERSONS.contains(&class.as_str()) {
                Some(AgentKind::Person)
            } else if ORGANIZATIONS.contains(&class.as_str()) {
                Some(AgentKind::Organization)
            } else {
                None
            }
        })
    }

    /// Returns the only text of an additional property with this name.
    fn additional_property(self, name: &str) -> Option<String> {
        let mut found = self
            .nodes(schema::ADDITIONAL_PROPERTY)
            .filter(|one| one.value(schema::NAME).as_deref() == Some(name));
        found.next().and_then(|one| one.value(schema::VALUE))
    }

    fn checksum(self) -> Option<Checksum> {
        let algorithms: Vec<String> = self
            .values(spdx::ALGORITHM)
            .chain(self.label(spdx::ALGORITHM))
            .collect();
        Checksum::new(&self.value(spdx::CHECKSUM_VALUE)?, &algorithms)
    }

    /// Returns the endpoint of the first service that has one.
    fn endpoint(self) -> Option<String> {
        self.nodes(terms::ACCESS_SERVICE)
            .find_map(|service| service.value(terms::ENDPOINT_URL))
    }

    fn file(self) -> Option<File> {
        let location = self
            .value(terms::DOWNLOAD_URL)
            .or_else(|| self.value(terms::ACCESS_URL))
            .or_else(|| self.endpoint())?;
        let location = Location::from_text(&location);
        let media_type = self.value(terms::MEDIA_TYPE);
        Some(File {
            key: self
                .part()
                .unwrap_or_else(|| local_name(self.term().text()))
                .to_owned(),
            title: self.text(dcterms::TITLE),
            description: self.text(dcterms::DESCRIPTION),
            checksums: if matches!(location, Location::Remote(_)) {
                self.nodes(spdx::CHECKSUM)
                    .filter_map(Node::checksum)
                    .collect()
            } else {
                Vec::new()
            },
            location,
            media_type: media_type
                .map(|text| text.split(MEDIA_TYPES).last().unwrap_or(&text).to_owned()),
            format: self.label(dcterms::FORMAT),
            kept: None,
            bytes: self
                .value(terms::BYTE_SIZE)
                // Sizes of DCAT 2 are decimals.
                .and_then(|size| size.parse::<f64>().ok())
                .map(|size| size as u64),
            license: self.value(dcterms::LICENSE),
            issued: self.value(dcterms::ISSUED),
            modified: self.value(dcterms::MODIFIED),
        })
    }
}

/// Returns an e-mail address without its scheme.
fn mail_address(text: &str) -> String {
    text.strip_prefix("mailto:").unwrap_or(text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_keywords_are_compared_by_hash() {
        let keywords: Vec<String> = (0..100_000)
            .map(|number| format!("keyword {number}"))
            .collect();
        assert_eq!(
            distinct(keywords.iter().chain(&keywords).cloned()),
            keywords
        );
    }

    #[test]
    fn checksums_by_name_and_length() {
        let (md5, sha256) = ("0123456789abcdef".repeat(2), "0123456789ABCDEF".repeat(4));
        let of = |value: &str, algorithms: &[&str]| {
            let algorithms: Vec<String> =
                algorithms.iter().map(|name| (*name).to_owned()).collect();
            Checksum::new(value, &algorithms)
        };
        for names in [
            &[][..],
            &["sha256"],
            &["SHA-256"],
            &["http://spdx.org/rdf/terms#checksumAlgorithm_sha256", "x"],
        ] {
            assert_eq!(
                of(&sha256, names),
                Some(Checksum::Sha256(sha256.to_lowercase())),
                "{names:?}"
            );
        }
        assert_eq!(of(&md5, &["MD5"]), Some(Checksum::Md5(md5.clone())));
        assert_eq!(
            of(&format!(" {md5} "), &[]),
            Some(Checksum::Md5(md5.clone()))
        );
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
