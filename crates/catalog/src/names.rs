//! Names of agents, licences, formats and concepts that a description contains, in the vocabularies that catalogues use.

use super::Text;
use super::node_reader::NodeReader;
use super::stated_licenses::is_stated_license;
use super::typed_fields::name_of_iri;
use lodeseek_rdf::vocab::{cc, dc11, dcat, dcterms, foaf, owl, rdf, rdfs, schema, skos, vcard};
use lodeseek_rdf::{TermRef, local_name};

/// Properties with the name of an agent. The first of these lists with a name counts.
const AGENT_NAMES: [&[&str]; 3] = [
    &[foaf::NAME, skos::PREF_LABEL, rdfs::LABEL, vcard::FN],
    &[
        vcard::ORGANIZATION_NAME,
        schema::NAME,
        dcterms::TITLE,
        dc11::TITLE,
    ],
    &[
        schema::LEGAL_NAME,
        "http://www.w3.org/ns/regorg#legalName",
        skos::ALT_LABEL,
    ],
];
/// Properties that lead to a node with the name of an agent.
const NAME_NODES: &[&str] = &[vcard::HAS_FN, vcard::HAS_ORGANIZATION_NAME];
/// Properties with the parts of the name of a person, and those that lead to a node with a part.
const GIVEN_NAMES: &[&str] = &[
    foaf::GIVEN_NAME,
    foaf::FIRST_NAME,
    schema::GIVEN_NAME,
    vcard::GIVEN_NAME,
];
const FAMILY_NAMES: &[&str] = &[
    foaf::FAMILY_NAME,
    foaf::LAST_NAME,
    foaf::SURNAME,
    schema::FAMILY_NAME,
    vcard::FAMILY_NAME,
];
/// Properties with the name of a licence, a format or a concept.
pub(super) const LABELS: &[&str] = &[
    dcterms::TITLE,
    rdfs::LABEL,
    skos::PREF_LABEL,
    schema::NAME,
    foaf::NAME,
    dc11::TITLE,
    skos::ALT_LABEL,
];
/// Properties with the name of a concept, and those with its code.
pub(super) const CONCEPT_LABELS: &[&str] =
    &[skos::PREF_LABEL, rdfs::LABEL, schema::NAME, dcterms::TITLE];
pub(super) const CONCEPT_CODES: &[&str] = &[skos::NOTATION, schema::TERM_CODE];
/// Properties with the address of a licence without an IRI of its own, best first.
pub(super) const LICENSE_ADDRESSES: &[&str] = &[
    schema::URL,
    foaf::HOMEPAGE,
    owl::SAME_AS,
    schema::SAME_AS,
    skos::EXACT_MATCH,
    dcterms::IDENTIFIER,
    schema::IDENTIFIER,
    cc::LEGAL_CODE,
    rdfs::SEE_ALSO,
    foaf::PAGE,
    dcterms::SOURCE,
];
/// Properties with the code or the words of a licence without address and name.
pub(super) const LICENSE_TEXTS: &[&str] = &[
    dcterms::IDENTIFIER,
    schema::IDENTIFIER,
    skos::NOTATION,
    schema::TEXT,
    rdf::VALUE,
    dcterms::DESCRIPTION,
    rdfs::COMMENT,
];
/// Returns the text of a licence without white space around it; `None` if it states no licence.
pub(super) fn license_text(text: &str) -> Option<&str> {
    Some(text.trim()).filter(|text| is_stated_license(text))
}

/// If true, the text is an address of the web or another absolute identifier.
pub(super) fn is_address(text: &str) -> bool {
    !text.contains(char::is_whitespace) && (text.contains("://") || text.starts_with("urn:"))
}

/// Sorts the names of licences or formats, addresses first, and removes repetitions. The order is that of a stored description,
/// too.
pub(super) fn sort_addresses_first(mut names: Vec<String>) -> Vec<String> {
    names.sort_by(|one, other| (!is_address(one), one).cmp(&(!is_address(other), other)));
    names.dedup();
    names
}

/// If true, the IRI stands for a blank node.
fn is_anonymous(iri: &str) -> bool {
    iri.contains("/.well-known/genid/") || iri.starts_with("nodeID:") || iri.starts_with("_:")
}

impl NodeReader<'_> {
    /// Returns the name of an agent: a full name, or given and family name.
    pub(super) fn agent_name(&self) -> Option<String> {
        for properties in AGENT_NAMES {
            if let Some(text) = super::select_text(&self.texts(properties), &["en"]) {
                return Some(text.value.clone());
            }
        }
        let nodes = NAME_NODES.iter().flat_map(|property| self.parts(property));
        let texts: Vec<Text> = nodes
            .flat_map(|node| node.texts(&[vcard::VALUE, rdf::VALUE, rdfs::LABEL]))
            .collect();
        let own = super::select_text(&texts, &["en"]).map(|text| text.value.clone());
        own.or_else(|| self.personal_name()).or_else(|| {
            self.parts(vcard::HAS_NAME)
                .find_map(|node| node.personal_name())
        })
    }

    /// Returns given and family name of a person.
    fn personal_name(&self) -> Option<String> {
        let [given, further, family] = [GIVEN_NAMES, &[schema::ADDITIONAL_NAME], FAMILY_NAMES]
            .map(|properties| self.name_part(properties));
        given.as_ref().or(family.as_ref())?;
        let parts: Vec<String> = [given, further, family].into_iter().flatten().collect();
        Some(parts.join(" "))
    }

    fn name_part(&self, properties: &[&str]) -> Option<String> {
        properties.iter().find_map(|property| {
            let texts = self.texts(&[property]);
            super::select_text(&texts, &["en"]).map(|text| text.value.clone())
        })
    }

    /// Returns the name that an IRI contains; `None` for IRIs of other nodes of the description, and for addresses of mail.
    pub(super) fn name_from_iri(&self) -> Option<String> {
        match self.graph.term(self.node) {
            TermRef::Iri(iri) if self.part(iri).is_none() && !is_anonymous(iri) => {
                let is_contact = iri.starts_with("mailto:") || iri.starts_with("tel:");
                if is_contact || self.file(iri).is_some() {
                    None
                } else {
                    name_of_iri(iri)
                }
            }
            _ => None,
        }
    }

    /// Returns the IRI of an agent without a name; `None` for parts, and for addresses of mail.
    pub(super) fn web_address(&self) -> Option<String> {
        self.web_iri()
            .filter(|iri| !is_anonymous(iri) && iri.contains("://"))
    }

    /// Returns the licence that this node denotes: its IRI, the address of its text, or else its name.
    pub(super) fn license(&self) -> Option<String> {
        if let TermRef::Literal { lexical, .. } = self.graph.term(self.node) {
            return license_text(lexical).map(str::to_owned);
        }
        // A reference to the document itself, which is the catalogue, is no licence.
        if self
            .objects(rdf::TYPE)
            .any(|class| self.graph.term(class).text() == dcat::CATALOG)
        {
            return None;
        }
        if let Some(iri) = self.web_iri().filter(|iri| !is_anonymous(iri)) {
            return Some(iri);
        }
        let objects = LICENSE_ADDRESSES
            .iter()
            .flat_map(|property| self.objects(property));
        let mut addresses =
            objects
                .map(|object| self.graph.term(object))
                .filter(|term| match term {
                    TermRef::Iri(iri) => self.part(iri).is_none() && self.file(iri).is_none(),
                    TermRef::Literal { lexical, .. } => is_address(lexical.trim()),
                    TermRef::Blank(_) | TermRef::Triple(_) => false,
                });
        if let Some(address) = addresses.next() {
            return Some(address.text().trim().to_owned());
        }
        let texts = self.texts(LABELS);
        let name = super::select_text(&texts, &["en"]).map(|text| text.value.clone());
        let name = name.or_else(|| {
            self.texts(LICENSE_TEXTS)
                .into_iter()
                .next()
                .map(|text| text.value)
        });
        let name = name.or_else(|| self.reference());
        name.and_then(|name| license_text(&name).map(str::to_owned))
    }

    /// Returns the text of a relative reference of which the class is stated at most.
    fn reference(&self) -> Option<String> {
        let TermRef::Iri(iri) = self.graph.term(self.node) else {
            return None;
        };
        let kind = self.graph.iri(rdf::TYPE);
        let triples = self.graph.subject_triples(self.node);
        let is_described = triples
            .last()
            .is_some_and(|one| Some(one.predicate) != kind)
            || triples
                .first()
                .is_some_and(|one| Some(one.predicate) != kind);
        self.file(iri).filter(|_| !is_described)
    }

    /// Returns the licences of a dataset or distribution, distinct, addresses first: those of `dct:license` or, without one, the IRIs
    /// and texts of `dct:rights`.
    pub(super) fn licenses(&self) -> Vec<String> {
        let licenses = self
            .parts(dcterms::LICENSE)
            .filter_map(|license| license.license());
        let licenses = sort_addresses_first(licenses.collect());
        if !licenses.is_empty() {
            return licenses;
        }
        let rights = self
            .value(&[dcterms::RIGHTS])
            .and_then(|text| license_text(&text).map(str::to_owned));
        rights.into_iter().collect()
    }

    /// Returns the names of a concept: its labels, or else its code.
    pub(super) fn concept_names(&self) -> Vec<Text> {
        let labels = self.texts(CONCEPT_LABELS);
        if labels.is_empty() {
            self.texts(CONCEPT_CODES)
        } else {
            labels
        }
    }

    /// Returns the name of a format: a media type or a name that its node contains, or else its IRI.
    pub(super) fn format_name(&self) -> Option<String> {
        let values = self.texts(&[rdf::VALUE, skos::NOTATION, dcterms::IDENTIFIER]);
        let labels = self.texts(LABELS);
        let mut names = values.iter().chain(&labels).map(|text| text.value.as_str());
        let known = names.find(|name| super::Format::from_name(name).is_some());
        let own = known.or_else(|| values.first().map(|text| text.value.as_str()));
        let own =
            own.or_else(|| super::select_text(&labels, &["en"]).map(|text| text.value.as_str()));
        let iri = self.web_iri().or_else(|| self.reference());
        let is_known = iri
            .as_deref()
            .is_some_and(|iri| super::Format::from_name(local_name(iri)).is_some());
        if is_known {
            iri
        } else {
            own.map(str::to_owned).or(iri)
        }
    }
}
