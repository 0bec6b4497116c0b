//! What DCAT-AP 3.0.1 makes mandatory, what it recommends, and values of the wrong kind.
//!
//! Mandatory are the properties that the profile's shapes give `sh:minCount 1`, of the nodes that a dataset's description
//! can have; the kinds of values are [`application_profile::value_kind`]'s.

use super::description::Node;
use lodeseek_catalog::application_profile::{self, ValueKind};
use lodeseek_rdf::prefixed;
use lodeseek_rdf::vocab::{adms, dcat, dcatap, dcterms, foaf, skos, spdx};
use serde::Serialize;
use std::collections::BTreeMap;

/// What is wrong with a property of a node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// It is mandatory, and not there.
    Missing,
    /// A text where the profile wants a node.
    TextForNode,
    /// A node where the profile wants a text.
    NodeForText,
    /// More than one where the profile takes one.
    Repeated,
}

impl Fault {
    /// What it says, in words.
    #[must_use]
    pub fn message(self) -> &'static str {
        match self {
            Self::Missing => "is missing",
            Self::TextForNode => "is a text, not a node",
            Self::NodeForText => "is a node, not a text",
            Self::Repeated => "is there more than once",
        }
    }
}

/// A breach of the profile.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub struct Violation {
    /// The part of the description: `dataset`, or the name of a part as `distribution-1`.
    pub node: String,
    /// The property, by a prefixed name.
    pub property: String,
    /// What is wrong.
    pub fault: Fault,
}

/// A property that the profile recommends and the description lacks.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub struct Recommendation {
    /// The part of the description.
    pub node: String,
    /// The property, by a prefixed name.
    pub property: String,
}

/// (property that leads there, what is mandatory of the node, what is recommended).
type Part = (&'static str, &'static [&'static str], &'static [&'static str]);

const DATASET: (&[&str], &[&str]) = (
    &[dcterms::TITLE, dcterms::DESCRIPTION],
    &[
        dcat::CONTACT_POINT,
        dcat::DISTRIBUTION,
        dcat::KEYWORD,
        dcterms::PUBLISHER,
        dcterms::SPATIAL,
        dcterms::TEMPORAL,
        dcat::THEME,
    ],
);

const PARTS: &[Part] = &[
    (
        dcat::DISTRIBUTION,
        &[dcat::ACCESS_URL],
        &[dcatap::AVAILABILITY, dcterms::DESCRIPTION, dcterms::FORMAT, dcterms::LICENSE],
    ),
    (dcterms::PUBLISHER, &[foaf::NAME], &[dcterms::TYPE]),
    (dcterms::CREATOR, &[foaf::NAME], &[]),
    (dcat::ACCESS_SERVICE, &[dcterms::TITLE, dcat::ENDPOINT_URL], &[dcat::ENDPOINT_DESCRIPTION]),
    (spdx::CHECKSUM, &[spdx::CHECKSUM_VALUE, spdx::ALGORITHM], &[]),
    (adms::IDENTIFIER, &[skos::NOTATION], &[]),
];

/// Parts behind parts that are looked at: a service, or a checksum, of a distribution.
const DEPTH: usize = 2;

/// What was found.
pub(super) struct Compliance<'d> {
    /// The IRI of the dataset: with a fragment, those of its parts.
    dataset: &'d str,
    pub(super) violations: Vec<Violation>,
    pub(super) recommendations: Vec<Recommendation>,
}

impl<'d> Compliance<'d> {
    /// Of a dataset's description.
    pub(super) fn new(dataset: Node<'d>) -> Self {
        let iri = dataset.term().text();
        let mut found = Self { dataset: iri, violations: Vec::new(), recommendations: Vec::new() };
        found.node("dataset", dataset, DATASET);
        found.parts(dataset, DEPTH);
        found.violations.sort();
        found.violations.dedup();
        found.recommendations.sort();
        found.recommendations.dedup();
        found
    }

    fn parts(&mut self, of: Node<'d>, depth: usize) {
        if depth == 0 {
            return;
        }
        for &(property, mandatory, recommended) in PARTS {
            // Nodes of the web at large that are not described here keep to the profile elsewhere, or not.
            let is_here = |part: &Node<'_>| {
                part_name(*part, self.dataset) != part.term().text() || part.statements().next().is_some()
            };
            let described: Vec<Node<'_>> = of.objects(property).filter(is_here).collect();
            for part in described {
                self.node(&part_name(part, self.dataset), part, (mandatory, recommended));
                self.parts(part, depth - 1);
            }
        }
    }

    fn node(&mut self, name: &str, node: Node<'_>, (mandatory, recommended): (&[&str], &[&str])) {
        let lacks = |property: &&&str| node.value(property).is_none();
        for property in mandatory.iter().filter(lacks) {
            self.violate(name, property, Fault::Missing);
        }
        for property in recommended.iter().filter(lacks) {
            self.recommendations.push(Recommendation { node: name.to_owned(), property: prefixed(property) });
        }
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for (property, value) in node.statements() {
            let Some((kind, single)) = application_profile::value_kind(property) else { continue };
            let count = counts.entry(property).or_default();
            *count += 1;
            if single && *count == 2 {
                self.violate(name, property, Fault::Repeated);
            }
            match (kind, value.term().is_literal()) {
                (ValueKind::Node, true) => self.violate(name, property, Fault::TextForNode),
                (ValueKind::Literal, false) => self.violate(name, property, Fault::NodeForText),
                _ => {}
            }
        }
    }

    fn violate(&mut self, node: &str, property: &str, fault: Fault) {
        self.violations.push(Violation { node: node.to_owned(), property: prefixed(property), fault });
    }
}

/// The name of a part within the description of a dataset; of a node of the web at large its IRI.
pub(super) fn part_name(part: Node<'_>, dataset: &str) -> String {
    let text = part.term().text();
    let own = text.strip_prefix(dataset).and_then(|rest| rest.strip_prefix('#'));
    own.unwrap_or(text).to_owned()
}
