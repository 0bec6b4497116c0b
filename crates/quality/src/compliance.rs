//! DCAT-AP 3.0.1: mandatory and recommended properties, and kinds of values.
//!
//! A property is mandatory if the shapes of the profile contain `sh:minCount 1` for a node of a dataset's description.
//! The kinds of values are those of [`application_profile::value_kind`].

use super::description::Node;
use lodeseek_catalog::application_profile::{self, ValueKind, standard_node};
use lodeseek_rdf::vocab::{adms, dcat, dcatap, dcterms, foaf, rdf, skos, spdx};
use lodeseek_rdf::{TermId, to_prefixed_name};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Kind of a violation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// A mandatory property is missing.
    Missing,
    /// A literal where the profile requires a node.
    TextForNode,
    /// A node where the profile requires a literal.
    NodeForText,
    /// Several values where the profile allows one.
    Repeated,
}

impl Fault {
    /// Returns the message that follows the name of the property.
    #[must_use]
    pub fn message(self) -> &'static str {
        match self {
            Self::Missing => "is missing",
            Self::TextForNode => "is a literal, not a node",
            Self::NodeForText => "is a node, not a literal",
            Self::Repeated => "occurs more than once",
        }
    }
}

/// A violation of the profile.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub struct Violation {
    /// Part of the description: `dataset`, or the name of a part such as `distribution-1`.
    pub node: String,
    /// Property, as a prefixed name.
    pub property: String,
    /// Kind of the violation.
    pub fault: Fault,
}

/// A recommended property that is missing.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub struct Recommendation {
    /// Part of the description.
    pub node: String,
    /// Property, as a prefixed name.
    pub property: String,
}

/// (property that leads to the node, mandatory properties, recommended properties).
type Part = (
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
);

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
        &[
            dcatap::AVAILABILITY,
            dcterms::DESCRIPTION,
            dcterms::FORMAT,
            dcterms::LICENSE,
        ],
    ),
    (dcterms::PUBLISHER, &[foaf::NAME], &[dcterms::TYPE]),
    (dcterms::CREATOR, &[foaf::NAME], &[]),
    (
        dcat::ACCESS_SERVICE,
        &[dcterms::TITLE, dcat::ENDPOINT_URL],
        &[dcat::ENDPOINT_DESCRIPTION],
    ),
    (
        spdx::CHECKSUM,
        &[spdx::CHECKSUM_VALUE, spdx::ALGORITHM],
        &[],
    ),
    (adms::IDENTIFIER, &[skos::NOTATION], &[]),
];

/// Depth of nested parts that are checked, for example a service or checksum of a distribution.
const MAX_PART_DEPTH: usize = 2;

/// Violations and missing recommendations of one description.
pub(super) struct Compliance<'d> {
    /// IRI of the dataset; its parts have this IRI with a fragment.
    dataset: &'d str,
    /// Checked parts: node, property that leads to it, and depth. Many nodes may lead to one part.
    checked: BTreeSet<(TermId, &'static str, usize)>,
    pub(super) violations: Vec<Violation>,
    pub(super) recommendations: Vec<Recommendation>,
}

impl<'d> Compliance<'d> {
    /// Checks the description of a dataset.
    pub(super) fn new(dataset: Node<'d>) -> Self {
        let iri = dataset.term().text();
        let mut found = Self {
            dataset: iri,
            checked: BTreeSet::new(),
            violations: Vec::new(),
            recommendations: Vec::new(),
        };
        found.node("dataset", dataset, DATASET);
        found.parts(dataset, MAX_PART_DEPTH);
        // A part that several properties lead to has the same violations for each of them.
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
            // Resources of the web of which only the class is known here are not checked.
            let described: Vec<Node<'_>> = of
                .objects(property)
                .filter(|part| {
                    let is_part = part_name(*part, self.dataset) != part.term().text();
                    is_part || part.statements().any(|(property, _)| property != rdf::TYPE)
                })
                .collect();
            for part in described {
                // The depth is part of the key, since a part that was reached at the last level has unchecked parts of its own.
                if !self.checked.insert((part.id(), property, depth)) {
                    continue;
                }
                self.node(
                    &part_name(part, self.dataset),
                    part,
                    (mandatory, recommended),
                );
                self.parts(part, depth - 1);
            }
        }
    }

    fn node(&mut self, name: &str, node: Node<'_>, (mandatory, recommended): (&[&str], &[&str])) {
        let mut faults: BTreeSet<(&str, Fault)> = BTreeSet::new();
        for property in mandatory {
            if node.value(property).is_none() {
                faults.insert((*property, Fault::Missing));
            }
        }
        for property in recommended {
            if node.value(property).is_none() {
                self.recommendations.push(Recommendation {
                    node: name.to_owned(),
                    property: to_prefixed_name(property),
                });
            }
        }
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for (property, value) in node.statements() {
            let Some((kind, single)) = application_profile::value_kind(property) else {
                continue;
            };
            let count = counts.entry(property).or_default();
            *count += 1;
            if single && *count == 2 {
                faults.insert((property, Fault::Repeated));
            }
            let text = value.term().text();
            let fault = match (kind, value.term().is_literal()) {
                // The portal publishes the standard node.
                (ValueKind::Node, true) if standard_node(property, text).is_some() => None,
                (ValueKind::Node, true) => Some(Fault::TextForNode),
                (ValueKind::Literal, false) => Some(Fault::NodeForText),
                _ => None,
            };
            if let Some(fault) = fault {
                faults.insert((property, fault));
            }
        }
        for (property, fault) in faults {
            self.violations.push(Violation {
                node: name.to_owned(),
                property: to_prefixed_name(property),
                fault,
            });
        }
    }
}

/// Returns the name of a part of the description, or the IRI of a resource of the web.
pub(super) fn part_name(part: Node<'_>, dataset: &str) -> String {
    let text = part.term().text();
    // The `#` excludes datasets whose IRIs only begin with the same characters.
    let own = text
        .strip_prefix(dataset)
        .and_then(|rest| rest.strip_prefix('#'));
    own.unwrap_or(text).to_owned()
}
