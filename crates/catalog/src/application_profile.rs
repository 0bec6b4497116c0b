//! DCAT-AP 3.0.1, the application profile of European portals: converts a description so that the tools of other
//! portals accept it.
//! <https://semiceu.github.io/DCAT-AP/releases/3.0.1/>
//!
//! Catalogues use literals where the profile requires nodes (licence, language), omit the classes of nodes, or repeat
//! properties that are allowed once. The conversion gives each property the kind of value required by the profile
//! ([`RANGES`]). Each node gets the class implied by its property, and each class its mandatory properties where they
//! are known. Nothing is invented. A missing title becomes the id. A missing description becomes a sentence that
//! states its absence and summarises the content. Statements that the profile cannot express are left out and
//! returned.
//!
//! Properties outside of the profile are kept unchanged.
//!
//! HealthDCAT-AP and GeoDCAT-AP are extensions of DCAT-AP, so their properties get their ranges in every description.
//! DCAT-US 3 has classes of its own. [`Profile`] selects what one of them has beyond DCAT-AP.

use super::ckan_licenses::license_iri;
use super::digest::format_hex;
use super::theme::data_theme;
use super::typed_fields::{MEDIA_TYPES, PART_HASH_BYTES};
use super::{BoundingBox, DatasetId, Format, Iris};
use lodeseek_rdf::local_name;
use lodeseek_rdf::vocab::{
    adms, dcat, dcatap, dcatus, dcterms, foaf, geodcatap, geosparql, healthdcatap, locn, lodeseek,
    org, owl, prov, rdf, rdfs, sd, skos, spdx, vcard,
};
use oxrdf::{Literal, NamedNode, NamedOrBlankNode, Term, Triple};
use rustc_hash::{FxHashMap, FxHashSet};
use sha2::{Digest, Sha256};

const XSD: &str = "http://www.w3.org/2001/XMLSchema#";
/// Maximum size of a licence that each distribution repeats, in bytes.
const MAX_COPIED_BYTES: usize = 2048;
const LEGAL_RESOURCE: &str = "http://data.europa.eu/eli/ontology#LegalResource";
const AS_WKT: &str = "http://www.opengis.net/ont/geosparql#asWKT";

/// Application profiles in which descriptions are published.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Profile {
    /// DCAT-AP 3.0.1.
    #[default]
    DcatAp,
    /// GeoDCAT-AP 3: the area is a `dcat:bbox`. <https://semiceu.github.io/GeoDCAT-AP/releases/3.0.0/>
    GeoDcatAp,
    /// HealthDCAT-AP. <https://healthdcat-ap.github.io/>
    HealthDcatAp,
    /// DCAT-US 3: the area is a `dcat-us:GeographicBoundingBox`, and publishers are organizations.
    /// <https://resources.data.gov/resources/dcat-us-3/>
    DcatUs,
}

impl Profile {
    /// All profiles, the default first.
    pub const ALL: [Self; 4] = [
        Self::DcatAp,
        Self::GeoDcatAp,
        Self::HealthDcatAp,
        Self::DcatUs,
    ];

    /// Returns the short name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::DcatAp => "dcat-ap",
            Self::GeoDcatAp => "geodcat-ap",
            Self::HealthDcatAp => "healthdcat-ap",
            Self::DcatUs => "dcat-us",
        }
    }

    /// Returns the IRI that identifies the profile: the namespace of its terms.
    #[must_use]
    pub fn iri(self) -> &'static str {
        match self {
            Self::DcatAp => dcatap::NAMESPACE,
            Self::GeoDcatAp => geodcatap::NAMESPACE,
            Self::HealthDcatAp => healthdcatap::NAMESPACE,
            Self::DcatUs => dcatus::NAMESPACE,
        }
    }

    /// Returns the profile with a short name or an IRI; the last slash or hash of the IRI may be missing.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| {
            profile.name().eq_ignore_ascii_case(text)
                || normalize_profile_iri(profile.iri()) == normalize_profile_iri(text)
        })
    }
}

fn normalize_profile_iri(iri: &str) -> String {
    iri.trim_end_matches(['/', '#']).to_ascii_lowercase()
}

/// Range of a property.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Range {
    /// Literals.
    Text,
    /// Literals of an XML Schema datatype, by its local name.
    Typed(&'static str),
    /// Nodes of any class.
    Address,
    /// Documents: nodes of a class without mandatory properties.
    Document,
    /// Nodes of a class. A literal becomes a node with the literal as its `by` property.
    Named {
        class: &'static str,
        by: &'static str,
    },
    /// Nodes that are described and of this class. Other nodes become a `dct:relation`.
    Described(&'static str),
}

impl Range {
    fn class(self) -> Option<&'static str> {
        match self {
            Self::Document => Some(foaf::DOCUMENT),
            Self::Named { class, .. } | Self::Described(class) => Some(class),
            Self::Text | Self::Typed(_) | Self::Address => None,
        }
    }
}

const fn node(class: &'static str, by: &'static str) -> Range {
    Range::Named { class, by }
}

/// (property, range, at most one value), from the shapes of the profile.
const RANGES: &[(&str, Range, bool)] = &[
    (dcterms::TITLE, Range::Text, false),
    (dcterms::DESCRIPTION, Range::Text, false),
    (dcterms::IDENTIFIER, Range::Text, false),
    (dcat::KEYWORD, Range::Text, false),
    (dcterms::ISSUED, Range::Text, true),
    (dcterms::MODIFIED, Range::Text, true),
    (dcat::VERSION, Range::Text, true),
    (adms::VERSION_NOTES, Range::Text, false),
    (dcat::START_DATE, Range::Text, true),
    (dcat::END_DATE, Range::Text, true),
    (dcat::BBOX, Range::Text, true),
    (dcat::CENTROID, Range::Text, true),
    (dcat::BYTE_SIZE, Range::Typed("nonNegativeInteger"), true),
    (dcat::SPATIAL_RESOLUTION, Range::Typed("decimal"), true),
    (dcat::TEMPORAL_RESOLUTION, Range::Typed("duration"), true),
    (spdx::CHECKSUM_VALUE, Range::Typed("hexBinary"), true),
    (dcat::ACCESS_URL, Range::Address, false),
    (dcat::DOWNLOAD_URL, Range::Address, false),
    (dcat::ENDPOINT_URL, Range::Address, false),
    (dcat::ENDPOINT_DESCRIPTION, Range::Address, false),
    (dcterms::RELATION, Range::Address, false),
    (dcterms::IS_REFERENCED_BY, Range::Address, false),
    (dcat::LANDING_PAGE, Range::Document, false),
    (foaf::PAGE, Range::Document, false),
    (foaf::HOMEPAGE, Range::Document, true),
    (dcterms::PUBLISHER, node(foaf::AGENT, foaf::NAME), true),
    (dcterms::CREATOR, node(foaf::AGENT, foaf::NAME), false),
    (dcat::THEME, node(skos::CONCEPT, skos::PREF_LABEL), false),
    (dcterms::TYPE, node(skos::CONCEPT, skos::PREF_LABEL), false),
    (adms::STATUS, node(skos::CONCEPT, skos::PREF_LABEL), true),
    (
        dcterms::LANGUAGE,
        node(dcterms::LINGUISTIC_SYSTEM, rdfs::LABEL),
        false,
    ),
    (
        dcterms::LICENSE,
        node(dcterms::LICENSE_DOCUMENT, dcterms::TITLE),
        true,
    ),
    (
        dcterms::RIGHTS,
        node(dcterms::RIGHTS_STATEMENT, rdfs::LABEL),
        false,
    ),
    (
        dcterms::ACCESS_RIGHTS,
        node(dcterms::RIGHTS_STATEMENT, rdfs::LABEL),
        true,
    ),
    (
        dcterms::ACCRUAL_PERIODICITY,
        node(dcterms::FREQUENCY, rdfs::LABEL),
        true,
    ),
    (
        dcterms::CONFORMS_TO,
        node(dcterms::STANDARD, dcterms::TITLE),
        false,
    ),
    (
        dcterms::PROVENANCE,
        node(dcterms::PROVENANCE_STATEMENT, rdfs::LABEL),
        false,
    ),
    (
        dcterms::SPATIAL,
        node(dcterms::LOCATION, rdfs::LABEL),
        false,
    ),
    (
        dcterms::TEMPORAL,
        node(dcterms::PERIOD_OF_TIME, rdfs::LABEL),
        false,
    ),
    (
        dcterms::FORMAT,
        node(dcterms::MEDIA_TYPE_OR_EXTENT, rdfs::LABEL),
        true,
    ),
    (
        dcat::MEDIA_TYPE,
        node(dcterms::MEDIA_TYPE, rdfs::LABEL),
        true,
    ),
    (
        dcat::COMPRESS_FORMAT,
        node(dcterms::MEDIA_TYPE, rdfs::LABEL),
        true,
    ),
    (
        dcat::PACKAGE_FORMAT,
        node(dcterms::MEDIA_TYPE, rdfs::LABEL),
        true,
    ),
    (dcat::CONTACT_POINT, node(vcard::KIND, vcard::FN), false),
    (
        adms::IDENTIFIER,
        node(adms::IDENTIFIER_CLASS, skos::NOTATION),
        false,
    ),
    (
        prov::WAS_GENERATED_BY,
        node(prov::ACTIVITY, rdfs::LABEL),
        false,
    ),
    (
        dcat::DISTRIBUTION,
        node(dcat::DISTRIBUTION_CLASS, dcterms::TITLE),
        false,
    ),
    (
        dcat::THEME_TAXONOMY,
        node(skos::CONCEPT_SCHEME, dcterms::TITLE),
        false,
    ),
    (dcat::HAD_ROLE, node(dcat::ROLE, rdfs::LABEL), false),
    (
        dcatap::APPLICABLE_LEGISLATION,
        node(LEGAL_RESOURCE, rdfs::LABEL),
        false,
    ),
    (
        dcatap::AVAILABILITY,
        node(skos::CONCEPT, skos::PREF_LABEL),
        true,
    ),
    (
        dcatap::HVD_CATEGORY,
        node(skos::CONCEPT, skos::PREF_LABEL),
        false,
    ),
    (locn::GEOMETRY, node(locn::GEOMETRY_CLASS, AS_WKT), true),
    (dcterms::RIGHTS_HOLDER, node(foaf::AGENT, foaf::NAME), false),
    (healthdcatap::HDAB, node(foaf::AGENT, foaf::NAME), false),
    (
        healthdcatap::HEALTH_THEME,
        node(skos::CONCEPT, skos::PREF_LABEL),
        false,
    ),
    (
        healthdcatap::HEALTH_CATEGORY,
        node(skos::CONCEPT, skos::PREF_LABEL),
        false,
    ),
    (
        healthdcatap::PUBLISHER_TYPE,
        node(skos::CONCEPT, skos::PREF_LABEL),
        false,
    ),
    (
        healthdcatap::HAS_CODING_SYSTEM,
        node(dcterms::STANDARD, dcterms::TITLE),
        false,
    ),
    (
        healthdcatap::RETENTION_PERIOD,
        node(dcterms::PERIOD_OF_TIME, rdfs::LABEL),
        false,
    ),
    (healthdcatap::POPULATION_COVERAGE, Range::Text, false),
    (healthdcatap::PUBLISHER_NOTE, Range::Text, false),
    (
        healthdcatap::NUMBER_OF_RECORDS,
        Range::Typed("nonNegativeInteger"),
        true,
    ),
    (
        healthdcatap::NUMBER_OF_UNIQUE_INDIVIDUALS,
        Range::Typed("nonNegativeInteger"),
        true,
    ),
    (
        healthdcatap::MIN_TYPICAL_AGE,
        Range::Typed("nonNegativeInteger"),
        true,
    ),
    (
        healthdcatap::MAX_TYPICAL_AGE,
        Range::Typed("nonNegativeInteger"),
        true,
    ),
    (
        geodcatap::REFERENCE_SYSTEM,
        node(dcterms::STANDARD, dcterms::TITLE),
        false,
    ),
    (
        geodcatap::TOPIC_CATEGORY,
        node(skos::CONCEPT, skos::PREF_LABEL),
        false,
    ),
    (
        geodcatap::RESOURCE_TYPE,
        node(skos::CONCEPT, skos::PREF_LABEL),
        false,
    ),
    (geodcatap::SPATIAL_RESOLUTION_AS_TEXT, Range::Text, false),
    (geodcatap::CUSTODIAN, node(foaf::AGENT, foaf::NAME), false),
    (geodcatap::DISTRIBUTOR, node(foaf::AGENT, foaf::NAME), false),
    (geodcatap::ORIGINATOR, node(foaf::AGENT, foaf::NAME), false),
    (
        geodcatap::PRINCIPAL_INVESTIGATOR,
        node(foaf::AGENT, foaf::NAME),
        false,
    ),
    (geodcatap::PROCESSOR, node(foaf::AGENT, foaf::NAME), false),
    (
        geodcatap::RESOURCE_PROVIDER,
        node(foaf::AGENT, foaf::NAME),
        false,
    ),
    (geodcatap::USER, node(foaf::AGENT, foaf::NAME), false),
    (dcatus::PURPOSE, Range::Text, false),
    (dcterms::SOURCE, Range::Described(dcat::DATASET), false),
    (spdx::CHECKSUM, Range::Described(spdx::CHECKSUM_CLASS), true),
    (
        spdx::ALGORITHM,
        node(spdx::CHECKSUM_ALGORITHM, rdfs::LABEL),
        true,
    ),
    (
        dcat::ACCESS_SERVICE,
        Range::Described(dcat::DATA_SERVICE),
        false,
    ),
    (
        dcat::IN_SERIES,
        Range::Described(dcat::DATASET_SERIES),
        false,
    ),
    (dcat::HAS_VERSION, Range::Described(dcat::DATASET), false),
    (
        adms::SAMPLE,
        Range::Described(dcat::DISTRIBUTION_CLASS),
        false,
    ),
    (
        dcat::QUALIFIED_RELATION,
        Range::Described(dcat::RELATIONSHIP),
        false,
    ),
];

/// Mandatory properties of classes that cannot be supplied. A node without them is a `dcat:Resource` only.
const MANDATORY: &[(&str, &[&str])] = &[
    (
        dcat::CATALOG,
        &[dcterms::TITLE, dcterms::DESCRIPTION, dcterms::PUBLISHER],
    ),
    (dcat::DATASET, &[dcterms::TITLE, dcterms::DESCRIPTION]),
    (
        dcat::DATASET_SERIES,
        &[dcterms::TITLE, dcterms::DESCRIPTION],
    ),
    (
        dcat::CATALOG_RECORD,
        &[dcterms::MODIFIED, foaf::PRIMARY_TOPIC],
    ),
    (dcat::DATA_SERVICE, &[dcat::ENDPOINT_URL]),
    (dcat::RELATIONSHIP, &[dcterms::RELATION, dcat::HAD_ROLE]),
    (
        spdx::CHECKSUM_CLASS,
        &[spdx::ALGORITHM, spdx::CHECKSUM_VALUE],
    ),
];

/// Kind of a property's values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueKind {
    /// Texts, numbers or dates.
    Literal,
    /// Nodes.
    Node,
}

/// Returns the kind of values that the profile requires, and true if it allows one value only. `None` for properties
/// outside of the profile.
#[must_use]
pub fn value_kind(property: &str) -> Option<(ValueKind, bool)> {
    let (_, range, single) = RANGES.iter().find(|(known, _, _)| *known == property)?;
    let is_literal = matches!(range, Range::Text | Range::Typed(_));
    Some((
        if is_literal {
            ValueKind::Literal
        } else {
            ValueKind::Node
        },
        *single,
    ))
}

/// Local information about a dataset, in addition to its catalogue.
#[derive(Clone, Debug, Default)]
pub struct LocalContent {
    /// Address of the local content, if there is any.
    pub content: Option<NamedNode>,
    /// Summary of the content in a sentence. It replaces a missing description.
    pub summary: String,
    /// Series of this home that the dataset belongs to. They are described beside it.
    pub series: Vec<NamedNode>,
    /// The area that the description declares, in any form.
    pub place: Option<BoundingBox>,
}

/// A description in DCAT-AP.
#[derive(Clone, Debug, Default)]
pub struct DcatApDescription {
    /// Triples of the description.
    pub triples: Vec<Triple>,
    /// Statements that the profile cannot express.
    pub left_out: Vec<Triple>,
}

/// Converts the description of a dataset in the catalogue graph to a profile.
#[must_use]
pub fn to_profile(
    profile: Profile,
    description: &[Triple],
    id: &DatasetId,
    iris: &Iris,
    content: &LocalContent,
) -> DcatApDescription {
    let mut writer = Writer {
        series: content.series.iter().collect(),
        ..Writer::new(description, id, iris)
    };
    for triple in description {
        writer.add_statement(triple);
    }
    writer.complete_dataset(content);
    writer.complete_nodes();
    match profile {
        Profile::DcatAp | Profile::HealthDcatAp => {}
        Profile::GeoDcatAp => writer.add_location(content),
        Profile::DcatUs => writer.complete_dcat_us(content),
    }
    writer.finish()
}

struct Writer<'d> {
    id: &'d DatasetId,
    iris: &'d Iris,
    /// Series that are described elsewhere.
    series: FxHashSet<&'d NamedNode>,
    /// If true, an earlier version wrote the description: its `dct:source` is the IRI of the dataset in its catalogue.
    is_of_earlier_version: bool,
    /// Distributions whose files are no RDF: this server does not have them.
    foreign_files: FxHashSet<&'d str>,
    /// Notations and values of nodes, such as those of identifiers.
    notations: FxHashMap<&'d str, Literal>,
    node: NamedNode,
    /// Classes of the nodes, without those whose mandatory properties are missing.
    classes: FxHashMap<&'d str, FxHashSet<&'d str>>,
    out: Vec<Triple>,
    seen: FxHashSet<Triple>,
    /// Indexes of the statements in `out`, by node and property.
    statements: FxHashMap<NamedNode, FxHashMap<String, Vec<usize>>>,
    left_out: Vec<Triple>,
}

impl<'d> Writer<'d> {
    fn new(description: &'d [Triple], id: &'d DatasetId, iris: &'d Iris) -> Self {
        let mut properties: FxHashMap<&str, FxHashSet<&str>> = FxHashMap::default();
        let mut classes: FxHashMap<&str, FxHashSet<&str>> = FxHashMap::default();
        for triple in description {
            let NamedOrBlankNode::NamedNode(subject) = &triple.subject else {
                continue;
            };
            match (triple.predicate.as_str(), &triple.object) {
                (rdf::TYPE, Term::NamedNode(class)) => {
                    classes
                        .entry(subject.as_str())
                        .or_default()
                        .insert(class.as_str());
                }
                // A value that is not `xsd:hexBinary` is left out later. Here it must not count as the mandatory one.
                (spdx::CHECKSUM_VALUE, object)
                    if parse_literal(&term_text(object), "hexBinary").is_none() => {}
                (property, _) => {
                    properties
                        .entry(subject.as_str())
                        .or_default()
                        .insert(property);
                }
            }
        }
        let own = iris.dataset(id);
        for (node, classes) in classes
            .iter_mut()
            .filter(|(node, _)| **node != own.as_str())
        {
            let declared = properties.get(node);
            classes.retain(|class| {
                let mandatory = MANDATORY.iter().find(|(known, _)| known == class);
                mandatory.is_none_or(|(_, mandatory)| {
                    mandatory.iter().all(|property| {
                        declared.is_some_and(|declared| declared.contains(property))
                    })
                })
            });
        }
        let (out, left_out) = (Vec::with_capacity(description.len()), Vec::new());
        let has_id = description
            .iter()
            .any(|triple| triple.predicate.as_str() == lodeseek::ID);
        let (series, seen, statements) = (
            FxHashSet::default(),
            FxHashSet::default(),
            FxHashMap::default(),
        );
        Self {
            id,
            iris,
            series,
            is_of_earlier_version: !has_id,
            foreign_files: foreign_files(description),
            notations: collect_notations(description),
            node: own,
            classes,
            out,
            seen,
            statements,
            left_out,
        }
    }

    /// Sorts the triples by their text, so that the output is the same in every run.
    fn finish(mut self) -> DcatApDescription {
        self.out.sort_by_cached_key(ToString::to_string);
        DcatApDescription {
            triples: self.out,
            left_out: self.left_out,
        }
    }

    fn add(&mut self, subject: &NamedNode, predicate: &str, object: impl Into<Term>) {
        let triple = Triple::new(subject.clone(), NamedNode::new_unchecked(predicate), object);
        if self.seen.insert(triple.clone()) {
            let properties = self.statements.entry(subject.clone()).or_default();
            properties
                .entry(predicate.to_owned())
                .or_default()
                .push(self.out.len());
            self.out.push(triple);
        }
    }

    fn is_a(&self, node: &NamedNode, class: &str) -> bool {
        self.classes
            .get(node.as_str())
            .is_some_and(|classes| classes.contains(class))
    }

    /// If true, the node has the property already.
    fn has(&self, node: &NamedNode, property: &str) -> bool {
        self.objects(node, property).next().is_some()
    }

    fn objects<'a>(
        &'a self,
        node: &NamedNode,
        property: &str,
    ) -> impl Iterator<Item = &'a Term> + use<'a, 'd> {
        let places = self
            .statements
            .get(node)
            .and_then(|properties| properties.get(property));
        places
            .into_iter()
            .flatten()
            .map(|&place| &self.out[place].object)
    }

    /// Adds a statement of the description in the form of the profile.
    fn add_statement(&mut self, triple: &Triple) {
        let NamedOrBlankNode::NamedNode(subject) = &triple.subject else {
            return self.left_out.push(triple.clone());
        };
        match triple.predicate.as_str() {
            // Internal statements about stored content are of no use elsewhere.
            lodeseek::GRAPH
            | sd::NAMED_GRAPH
            | lodeseek::SKIPPED_STATEMENTS
            | lodeseek::IS_INDEX_ONLY
            | lodeseek::ID
            | lodeseek::SOURCE_IRI
            | lodeseek::SERVED_BY
            | sd::NAME => {}
            rdf::TYPE
                if triple.object == NamedNode::new_unchecked(sd::NAMED_GRAPH_CLASS).into() => {}
            rdf::TYPE if matches!(&triple.object, Term::NamedNode(class) if !self.is_a(subject, class.as_str())) =>
            {
                self.left_out.push(triple.clone());
                self.add(subject, rdf::TYPE, NamedNode::new_unchecked(dcat::RESOURCE));
            }
            dcat::HAS_DATASET if *subject != self.node => {} // the page lists its members
            dcterms::SOURCE if *subject == self.node && self.is_of_earlier_version => {
                self.add(subject, owl::SAME_AS, triple.object.clone())
            }
            property => match RANGES.iter().find(|(known, _, _)| *known == property) {
                Some(&(property, range, single)) => {
                    self.add_in_range(subject, (property, range, single), triple)
                }
                None => self.add(subject, property, triple.object.clone()),
            },
        }
    }

    fn add_in_range(
        &mut self,
        subject: &NamedNode,
        (property, range, single): (&str, Range, bool),
        triple: &Triple,
    ) {
        if single && self.has(subject, property) {
            // DCAT-AP has at most one publisher, but any number of creators.
            // <https://semiceu.github.io/DCAT-AP/releases/3.0.0/>
            let more = if property == dcterms::PUBLISHER {
                Some(dcterms::CREATOR)
            } else {
                None
            };
            return match more {
                Some(more) => self.add_in_range(subject, (more, range, false), triple),
                None => self.left_out.push(triple.clone()),
            };
        }
        match (range, &triple.object) {
            (Range::Text, Term::Literal(_)) => self.add(subject, property, triple.object.clone()),
            (Range::Text, Term::NamedNode(node)) if self.is_part(node) => {
                // The IRI of the node was made here: what it states is the value.
                match self.notations.get(node.as_str()) {
                    Some(notation) => self.add(subject, property, notation.clone()),
                    None => self.left_out.push(triple.clone()),
                }
                if property == dcterms::IDENTIFIER {
                    self.add(subject, adms::IDENTIFIER, node.clone());
                }
            }
            (Range::Text, Term::NamedNode(node)) => {
                let address = Literal::new_typed_literal(
                    node.as_str(),
                    NamedNode::new_unchecked(format!("{XSD}anyURI")),
                );
                self.add(subject, property, address);
            }
            (Range::Typed(kind), Term::Literal(literal)) => {
                match parse_literal(literal.value(), kind) {
                    Some(literal) => self.add(subject, property, literal),
                    None => self.left_out.push(triple.clone()),
                }
            }
            (Range::Address | Range::Document, Term::NamedNode(node)) => {
                self.add_link(subject, property, range, node)
            }
            (Range::Named { .. }, Term::NamedNode(node)) => {
                self.add_link(subject, property, range, node)
            }
            (Range::Named { class, by }, Term::Literal(words)) => {
                self.add_labelled_node(subject, property, (class, by), words)
            }
            // A series of this home is described beside its members.
            (Range::Described(class), Term::NamedNode(node))
                if self.is_a(node, class)
                    || property == dcat::IN_SERIES && self.series.contains(node) =>
            {
                self.add(subject, property, node.clone());
            }
            // A resource of the web may be described elsewhere, for example on another page of the catalogue.
            (Range::Described(class), Term::NamedNode(node))
                if class == dcat::DATASET && !self.is_part(node) =>
            {
                self.add(subject, property, node.clone());
            }
            (Range::Described(_), Term::NamedNode(node)) => {
                self.add(subject, dcterms::RELATION, node.clone())
            }
            _ => self.left_out.push(triple.clone()),
        }
    }

    fn add_link(&mut self, subject: &NamedNode, property: &str, range: Range, node: &NamedNode) {
        self.add(subject, property, node.clone());
        if let Some(class) = range.class() {
            self.add(node, rdf::TYPE, NamedNode::new_unchecked(class));
        }
    }

    /// Adds a literal where the profile requires a node: a node with this label.
    fn add_labelled_node(
        &mut self,
        subject: &NamedNode,
        property: &str,
        (class, by): (&str, &str),
        words: &Literal,
    ) {
        let known = standard_node(property, words.value());
        let node = known.clone().unwrap_or_else(|| self.part(class, words));
        self.add(subject, property, node.clone());
        self.add(&node, rdf::TYPE, NamedNode::new_unchecked(class));
        if known.is_none() {
            self.add(&node, by, words.clone());
        }
    }

    /// If true, the node is a part of the description.
    fn is_part(&self, node: &NamedNode) -> bool {
        node.as_str()
            .strip_prefix(self.node.as_str())
            .is_some_and(|rest| rest.starts_with('#'))
    }

    fn part(&self, class: &str, words: &Literal) -> NamedNode {
        let digest = Sha256::digest(words.to_string());
        let hash = format_hex(&digest[..PART_HASH_BYTES]);
        self.iris.part(
            self.id,
            &format!("{}-{hash}", local_name(class).to_lowercase()),
        )
    }

    /// Adds the mandatory properties of the dataset, and distributions of the local content.
    fn complete_dataset(&mut self, content: &LocalContent) {
        let node = self.node.clone();
        // The shapes of the profile do not include that a dataset is a resource.
        self.add(&node, rdf::TYPE, NamedNode::new_unchecked(dcat::RESOURCE));
        if !self.has(&node, dcterms::TITLE) {
            self.add(&node, dcterms::TITLE, Literal::from(self.id.as_str()));
        }
        if !self.has(&node, dcterms::DESCRIPTION) && !content.summary.is_empty() {
            let summary =
                Literal::new_language_tagged_literal_unchecked(content.summary.as_str(), "en");
            self.add(&node, dcterms::DESCRIPTION, summary);
        }
        let distributions: Vec<NamedNode> = self.nodes_of_class(dcat::DISTRIBUTION_CLASS);
        if let Some(content) = content
            .content
            .as_ref()
            .filter(|_| distributions.is_empty())
        {
            let part = self.iris.part(self.id, "content");
            self.add(&node, dcat::DISTRIBUTION, part.clone());
            self.add(
                &part,
                rdf::TYPE,
                NamedNode::new_unchecked(dcat::DISTRIBUTION_CLASS),
            );
            self.add(&part, dcat::ACCESS_URL, node.clone());
            self.add(&part, dcat::DOWNLOAD_URL, content.clone());
        }
        let license: Option<Term> = self
            .objects(&node, dcterms::LICENSE)
            .find(|license| license.to_string().len() <= MAX_COPIED_BYTES)
            .cloned();
        for distribution in distributions {
            self.complete_distribution(&distribution, license.as_ref(), content);
        }
    }

    /// Adds the area as a location with a box in Well-known Text, unless a declared location has one.
    fn add_location(&mut self, content: &LocalContent) {
        let Some(place) = content.place else {
            return;
        };
        for declared in self.objects(&self.node, dcterms::SPATIAL) {
            if let Term::NamedNode(declared) = declared
                && self.has(declared, dcat::BBOX)
            {
                return;
            }
        }
        let (node, part) = (self.node.clone(), self.iris.part(self.id, "area"));
        let datatype = NamedNode::new_unchecked(geosparql::WKT_LITERAL);
        self.add(&node, dcterms::SPATIAL, part.clone());
        self.add(
            &part,
            rdf::TYPE,
            NamedNode::new_unchecked(dcterms::LOCATION),
        );
        self.add(
            &part,
            dcat::BBOX,
            Literal::new_typed_literal(place.to_wkt(), datatype),
        );
    }

    /// Adds what DCAT-US requires beyond DCAT-AP, as far as it is known: the area as a box of its own class, and the
    /// class and label of publishers.
    fn complete_dcat_us(&mut self, content: &LocalContent) {
        let node = self.node.clone();
        if let Some(place) = content
            .place
            .filter(|_| !self.has(&node, dcatus::GEOGRAPHIC_BOUNDING_BOX))
        {
            let part = self.iris.part(self.id, "area");
            self.add(&node, dcatus::GEOGRAPHIC_BOUNDING_BOX, part.clone());
            self.add(
                &part,
                rdf::TYPE,
                NamedNode::new_unchecked(dcatus::GEOGRAPHIC_BOUNDING_BOX_CLASS),
            );
            let edges = [dcatus::WEST, dcatus::SOUTH, dcatus::EAST, dcatus::NORTH];
            for (property, degrees) in edges.into_iter().zip(place.degrees()) {
                if let Some(degrees) = parse_literal(&degrees.to_string(), "decimal") {
                    self.add(&part, property, degrees);
                }
            }
        }
        let publishers: Vec<Term> = self.objects(&node, dcterms::PUBLISHER).cloned().collect();
        for publisher in publishers {
            let Term::NamedNode(publisher) = publisher else {
                continue;
            };
            let names: Vec<Term> = self.objects(&publisher, foaf::NAME).cloned().collect();
            self.add(
                &publisher,
                rdf::TYPE,
                NamedNode::new_unchecked(org::ORGANIZATION),
            );
            for name in names {
                self.add(&publisher, skos::PREF_LABEL, name);
            }
        }
    }

    /// Completes a distribution. A local file without a public address gets the address of this server. The licence of
    /// the dataset is copied, because tools expect it here.
    fn complete_distribution(
        &mut self,
        distribution: &NamedNode,
        license: Option<&Term>,
        content: &LocalContent,
    ) {
        let download = self
            .objects(distribution, dcat::DOWNLOAD_URL)
            .next()
            .cloned();
        if download.is_none()
            && !self.has(distribution, dcat::ACCESS_URL)
            && !self.foreign_files.contains(distribution.as_str())
            && let Some(content) = &content.content
        {
            self.add(distribution, dcat::DOWNLOAD_URL, content.clone());
        }
        if !self.has(distribution, dcat::ACCESS_URL) {
            // A distribution outside of this description is at its own IRI.
            let is_part = distribution.as_str().starts_with(self.node.as_str());
            let page = if is_part {
                self.node.clone()
            } else {
                distribution.clone()
            };
            self.add(
                distribution,
                dcat::ACCESS_URL,
                download.unwrap_or_else(|| page.into()),
            );
        }
        if let Some(license) = license.filter(|_| !self.has(distribution, dcterms::LICENSE)) {
            self.add(distribution, dcterms::LICENSE, license.clone());
        }
    }

    fn nodes_of_class(&self, class: &str) -> Vec<NamedNode> {
        let subjects = self
            .out
            .iter()
            .filter(|triple| {
                triple.predicate.as_str() == rdf::TYPE
                    && matches!(&triple.object, Term::NamedNode(object) if object.as_str() == class)
            })
            .filter_map(|triple| match &triple.subject {
                NamedOrBlankNode::NamedNode(node) => Some(node.clone()),
                NamedOrBlankNode::BlankNode(_) => None,
            });
        subjects.collect()
    }

    /// Adds names to nodes that must have one, if the description has them in another form or the node is in a list with known
    /// names. A name made of the address would be an invention.
    fn complete_nodes(&mut self) {
        for (class, name) in [
            (foaf::AGENT, foaf::NAME),
            (skos::CONCEPT, skos::PREF_LABEL),
            (skos::CONCEPT_SCHEME, dcterms::TITLE),
            (dcat::DATA_SERVICE, dcterms::TITLE),
            (adms::IDENTIFIER_CLASS, skos::NOTATION),
        ] {
            for node in self.nodes_of_class(class) {
                if !self.has(&node, name)
                    && let Some(label) = self.label_of(&node)
                {
                    self.add(&node, name, label);
                }
            }
        }
    }

    /// Returns the label of a node.
    fn label_of(&self, node: &NamedNode) -> Option<Literal> {
        let names = [
            rdfs::LABEL,
            skos::PREF_LABEL,
            dcterms::TITLE,
            foaf::NAME,
            vcard::FN,
            skos::NOTATION,
        ];
        for name in names {
            for object in self.objects(node, name) {
                if let Term::Literal(literal) = object {
                    return Some(literal.clone());
                }
            }
        }
        if let Some(name) = data_theme(node.as_str()) {
            return Some(Literal::new_language_tagged_literal_unchecked(name, "en"));
        }
        let endpoint = self.objects(node, dcat::ENDPOINT_URL).next()?;
        Some(Literal::from(term_text(endpoint)))
    }
}

/// Returns the distributions whose media type, format or path is known and is that of neither RDF nor an archive.
fn foreign_files(description: &[Triple]) -> FxHashSet<&str> {
    let mut formats: FxHashMap<&str, Vec<Option<Format>>> = FxHashMap::default();
    for triple in description {
        let NamedOrBlankNode::NamedNode(subject) = &triple.subject else {
            continue;
        };
        let text = term_text(&triple.object);
        let format = match triple.predicate.as_str() {
            dcat::MEDIA_TYPE | dcterms::FORMAT => Format::from_text(&text),
            dcat::DOWNLOAD_URL | dcat::ACCESS_URL => Format::from_path(&text),
            _ => continue,
        };
        formats.entry(subject.as_str()).or_default().push(format);
    }
    // The content comes from the only file, whatever its format is declared to be.
    if formats.len() < 2 {
        return FxHashSet::default();
    }
    formats
        .into_iter()
        .filter(|(_, formats)| is_foreign(formats))
        .map(|(node, _)| node)
        .collect()
}

/// Returns true if a format is known, and no known format is one of RDF or of an archive.
fn is_foreign(formats: &[Option<Format>]) -> bool {
    let mut known = formats.iter().flatten().peekable();
    known.peek().is_some() && known.all(|format| !format.may_be_rdf())
}

/// Returns the first notation, else the first value of each node.
fn collect_notations(description: &[Triple]) -> FxHashMap<&str, Literal> {
    let mut notations = FxHashMap::default();
    for property in [skos::NOTATION, rdf::VALUE] {
        for triple in description {
            if let (NamedOrBlankNode::NamedNode(node), Term::Literal(text)) =
                (&triple.subject, &triple.object)
                && triple.predicate.as_str() == property
            {
                notations
                    .entry(node.as_str())
                    .or_insert_with(|| text.clone());
            }
        }
    }
    notations
}

fn term_text(term: &Term) -> String {
    match term {
        Term::NamedNode(node) => node.as_str().to_owned(),
        Term::BlankNode(node) => node.as_str().to_owned(),
        Term::Literal(literal) => literal.value().to_owned(),
        Term::Triple(triple) => triple.to_string(),
    }
}

/// Returns the standard node for a name, as the profiles publish it: for a language tag, a media type or the id of a licence.
#[must_use]
pub fn standard_node(property: &str, name: &str) -> Option<NamedNode> {
    let lower = name.trim().to_ascii_lowercase();
    let iri = match property {
        dcterms::LICENSE => license_iri(&lower)?,
        dcterms::LANGUAGE => {
            let tag = lower
                .split(['-', '_'])
                .next()
                .filter(|tag| matches!(tag.len(), 2 | 3))?;
            let is_code = tag.bytes().all(|byte| byte.is_ascii_lowercase());
            let list = if tag.len() == 2 {
                "iso639-1"
            } else {
                "iso639-2"
            };
            is_code.then(|| format!("http://id.loc.gov/vocabulary/{list}/{tag}"))?
        }
        dcat::MEDIA_TYPE | dcat::COMPRESS_FORMAT | dcat::PACKAGE_FORMAT => {
            let (kind, rest) = lower.split_once('/')?;
            (is_media_type_token(kind) && is_media_type_token(rest))
                .then(|| format!("{MEDIA_TYPES}{kind}/{rest}"))?
        }
        _ => return None,
    };
    NamedNode::new(iri).ok()
}

/// Returns true if the text is a type or a subtype of a media type (RFC 6838).
fn is_media_type_token(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&byte))
}

/// Returns a literal of the datatype; `None` if the text is not valid.
fn parse_literal(text: &str, kind: &str) -> Option<Literal> {
    let text = text.trim();
    let value = match kind {
        "nonNegativeInteger" => {
            let whole = text.strip_suffix(".0").unwrap_or(text);
            let digits = !whole.is_empty() && whole.bytes().all(|byte| byte.is_ascii_digit());
            digits.then(|| whole.to_owned())?
        }
        "decimal" => text.parse::<oxsdatatypes::Decimal>().ok()?.to_string(),
        "duration" => text
            .parse::<oxsdatatypes::Duration>()
            .ok()
            .map(|_| text.to_owned())?,
        "hexBinary" => {
            let is_hex = text.len().is_multiple_of(2)
                && !text.is_empty()
                && text.bytes().all(|byte| byte.is_ascii_hexdigit());
            is_hex.then(|| text.to_ascii_uppercase())?
        }
        _ => return None,
    };
    Some(Literal::new_typed_literal(
        value,
        NamedNode::new_unchecked(format!("{XSD}{kind}")),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_rdf::dump::DumpReader;
    use lodeseek_rdf::{TripleGraph, TripleGraphBuilder};

    const PREFIXES: &str = "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .
        @prefix foaf: <http://xmlns.com/foaf/0.1/> . @prefix spdx: <http://spdx.org/rdf/terms#> .
        @prefix skos: <http://www.w3.org/2004/02/skos/core#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
        @base <http://localhost:7878/dataset/> .";

    fn graph(turtle: &str) -> TripleGraph {
        let mut builder = TripleGraphBuilder::new();
        let text = format!("{PREFIXES}\n{turtle}");
        let reports = DumpReader::default().read(
            text.as_bytes(),
            "t.ttl",
            "http://localhost:7878/dataset/",
            &mut builder,
        );
        assert!(
            reports.iter().all(|report| report.problems.is_empty()),
            "{reports:?}"
        );
        builder.finish()
    }

    fn lines(triples: &[Triple]) -> Vec<String> {
        let mut lines: Vec<String> = triples.iter().map(ToString::to_string).collect();
        lines.sort();
        lines
    }

    /// Converts a description of the dataset `<1>` in Turtle to DCAT-AP.
    fn dcat_ap_of(turtle: &str) -> DcatApDescription {
        let graph = graph(&format!(
            "<1> a dcat:Dataset ; dct:title \"One\" ; dct:description \"First\" . {turtle}"
        ));
        let description: Vec<Triple> = graph
            .triples()
            .iter()
            .map(|&triple| graph.to_triple(triple))
            .collect();
        let (id, iris) = (
            DatasetId::new("1").expect("an id"),
            Iris::new(Iris::DEFAULT_BASE).expect("a base"),
        );
        let content = NamedNode::new("http://localhost:7878/content").ok();
        let local = LocalContent {
            content,
            summary: "Some data.".to_owned(),
            ..LocalContent::default()
        };
        to_profile(Profile::DcatAp, &description, &id, &iris, &local)
    }

    #[track_caller]
    fn becomes(turtle: &str, expected: &str) {
        let found = lines(&dcat_ap_of(turtle).triples);
        let expected_graph = graph(expected);
        for line in lines(
            &expected_graph
                .triples()
                .iter()
                .map(|&triple| expected_graph.to_triple(triple))
                .collect::<Vec<_>>(),
        ) {
            assert!(
                found.contains(&line),
                "{line} is not among\n{}",
                found.join("\n")
            );
        }
    }

    #[test]
    fn words_become_nodes_that_are_called_so() {
        becomes(
            "<1> dct:language \"de\" .",
            "<1> dct:language <http://id.loc.gov/vocabulary/iso639-1/de> .
             <http://id.loc.gov/vocabulary/iso639-1/de> a dct:LinguisticSystem .",
        );
        let by = "https://creativecommons.org/licenses/by/4.0/";
        for name in ["CC-BY-4.0", "CC BY 4.0", "cc_by_4.0"] {
            becomes(
                &format!("<1> dct:license \"{name}\" ."),
                &format!("<1> dct:license <{by}> . <{by}> a dct:LicenseDocument ."),
            );
        }
        let license = dcat_ap_of("<1> dct:license \"House rules\" .");
        let text = lines(&license.triples).join("\n");
        let named = text
            .lines()
            .find(|line| line.ends_with("\"House rules\""))
            .expect("a licence of that name");
        assert!(
            named.contains("#licensedocument-") && text.contains("LicenseDocument"),
            "{text}"
        );
        assert!(license.left_out.is_empty());
    }

    #[test]
    fn an_identifier_that_is_a_node_is_its_notation() {
        let statements = "<1> dct:identifier <1#identifier-1> .
             <1#identifier-1> skos:notation \"10.5/a\" .";
        becomes(
            statements,
            "<1> dct:identifier \"10.5/a\" ; <http://www.w3.org/ns/adms#identifier> <1#identifier-1> .
             <1#identifier-1> skos:notation \"10.5/a\" .",
        );
        let text = lines(&dcat_ap_of(statements).triples).join("\n");
        assert!(!text.contains("anyURI"), "{text}");
        let without = dcat_ap_of("<1> dct:identifier <1#identifier-1> .");
        assert_eq!(without.left_out.len(), 1);
    }

    #[test]
    fn nodes_have_the_class_and_the_name_that_are_asked_for() {
        becomes(
            "<1> dcat:theme <http://e.org/themes/water> ; dct:publisher <http://e.org/people/city> .
             <http://e.org/themes/water> <http://www.w3.org/2000/01/rdf-schema#label> \"Water\"@en .",
            "<http://e.org/themes/water> a skos:Concept ; skos:prefLabel \"Water\"@en . <http://e.org/people/city> a foaf:Agent .",
        );
        let envi = "http://publications.europa.eu/resource/authority/data-theme/ENVI";
        becomes(
            &format!("<1> dcat:theme <{envi}> ."),
            &format!("<{envi}> skos:prefLabel \"Environment\"@en ."),
        );
    }

    #[test]
    fn no_name_is_made_of_an_address() {
        let profiled = dcat_ap_of(
            "<1> dcat:theme <http://e.org/themes/water_supply> ; dct:publisher <http://e.org/people/city> , <1#publisher-0123456789ab> .",
        );
        let text = lines(&profiled.triples).join("\n");
        assert!(
            !text.contains("foaf/0.1/name") && !text.contains("prefLabel"),
            "{text}"
        );
    }

    #[test]
    fn what_may_be_there_once_is_there_once() {
        let profiled = dcat_ap_of(
            "<1> dct:publisher <http://e.org/a> , <http://e.org/b> ; dct:accessRights <http://e.org/c> , <http://e.org/d> .",
        );
        let count = |property: &str| {
            profiled
                .triples
                .iter()
                .filter(|triple| triple.predicate.as_str() == property)
                .count()
        };
        assert_eq!(
            (
                count(dcterms::PUBLISHER),
                count(dcterms::CREATOR),
                count(dcterms::ACCESS_RIGHTS)
            ),
            (1, 1, 1)
        );
        assert_eq!(profiled.left_out.len(), 1);
    }

    /// If each date searched all keywords, the work would be quadratic.
    #[test]
    fn many_values_of_a_single_property_are_left_out() {
        let (id, iris) = (
            DatasetId::new("1").expect("an id"),
            Iris::new(Iris::DEFAULT_BASE).expect("a base"),
        );
        let mut description = Vec::new();
        for property in [dcat::KEYWORD, dcterms::MODIFIED] {
            for number in 0..50_000 {
                let text = Literal::from(number.to_string());
                description.push(Triple::new(
                    iris.dataset(&id),
                    NamedNode::new_unchecked(property),
                    text,
                ));
            }
        }
        let profiled = to_profile(
            Profile::DcatAp,
            &description,
            &id,
            &iris,
            &LocalContent::default(),
        );
        assert_eq!(profiled.left_out.len(), 49_999);
    }

    #[test]
    fn a_file_here_is_had_from_here() {
        becomes(
            "<1> dcat:distribution <1#distribution-1> ; dct:license <http://e.org/license> . <1#distribution-1> a dcat:Distribution ; dcat:downloadURL \"data/one.ttl\" .",
            "<1#distribution-1> dcat:accessURL <1> ; dcat:downloadURL <http://localhost:7878/content> ; dct:license <http://e.org/license> .",
        );
        becomes(
            "<1> dcat:distribution <1#d> . <1#d> a dcat:Distribution ; dcat:downloadURL <http://e.org/one.ttl> ; dcat:byteSize \"12.0\"^^xsd:decimal .",
            "<1#d> dcat:accessURL <http://e.org/one.ttl> ; dcat:byteSize \"12\"^^xsd:nonNegativeInteger .",
        );
        becomes(
            "",
            "<1> dcat:distribution <1#content> . <1#content> dcat:accessURL <1> .",
        );
    }

    #[test]
    fn what_lacks_something_is_a_resource() {
        let profiled = dcat_ap_of(
            "<1> dct:hasPart <1#part> ; dcat:inSeries <1#series> . <1#part> a dcat:Dataset . <1#series> a dcat:DatasetSeries ; dct:title \"S\" .",
        );
        let text = lines(&profiled.triples).join("\n");
        assert!(
            text.contains(
                "#part> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://www.w3.org/ns/dcat#Resource>"
            ),
            "{text}"
        );
        assert!(
            text.contains(
                "<http://purl.org/dc/terms/relation> <http://localhost:7878/dataset/1#series>"
            ),
            "{text}"
        );
        assert_eq!(profiled.left_out.len(), 2);
    }

    #[test]
    fn what_is_missing_is_said_to_be() {
        let graph = graph("<1> a dcat:Dataset .");
        let description: Vec<Triple> = graph
            .triples()
            .iter()
            .map(|&triple| graph.to_triple(triple))
            .collect();
        let (id, iris) = (
            DatasetId::new("1").expect("an id"),
            Iris::new(Iris::DEFAULT_BASE).expect("a base"),
        );
        let made = to_profile(
            Profile::DcatAp,
            &description,
            &id,
            &iris,
            &LocalContent {
                summary: "No description.".to_owned(),
                ..LocalContent::default()
            },
        );
        let text = lines(&made.triples).join("\n");
        assert!(
            text.contains("\"No description.\"@en") && text.contains("title> \"1\""),
            "{text}"
        );
        assert!(!text.contains("distribution"), "{text}");
    }
}
