//! Licences of a dataset and of its distributions.

use super::names::{
    LABELS, LICENSE_ADDRESSES, LICENSE_TEXTS, is_address, license_text, sort_addresses_first,
};
use super::stated_licenses::is_stated_license;
use super::statement::StatementIndex;
use super::typed_fields::{distribution_part, states_property};
use super::{Dataset, Node, Text, Value, select_text};
use lodeseek_rdf::vocab::dcterms;
use rustc_hash::FxHashSet;

impl Dataset {
    /// Returns the distinct licences, in their order: those of the dataset or, if it has none, those of its distributions. A licence
    /// is an IRI or a text.
    ///
    /// In DCAT, the licence is a property of the distributions. The description does not state that a licence of a
    /// distribution is one of the dataset.
    #[must_use]
    pub fn licenses(&self) -> Vec<String> {
        let statements = StatementIndex::new(&self.extra_statements);
        let mut licenses: Vec<String> = self
            .metadata
            .license
            .iter()
            .filter_map(|text| license_text(text).map(str::to_owned))
            .collect();
        licenses.extend(stated_licenses(&statements, &Node::Dataset));
        if licenses.is_empty() {
            for place in 0..self.distributions.len() {
                licenses.extend(stated_licenses(
                    &statements,
                    &Node::Part(distribution_part(place)),
                ));
            }
        }
        let mut seen = FxHashSet::default();
        licenses.retain(|license| seen.insert(license.clone()));
        licenses
    }

    /// Returns the licence of each distribution, in their order.
    #[must_use]
    pub fn distribution_licenses(&self) -> Vec<Option<String>> {
        let statements = StatementIndex::new(&self.extra_statements);
        let parts = (0..self.distributions.len()).map(|place| Node::Part(distribution_part(place)));
        parts
            .map(|part| stated_licenses(&statements, &part).into_iter().next())
            .collect()
    }

    /// If true, the further statements contain the licence of the dataset, for example as a node with its address.
    pub(super) fn states_license(&self) -> bool {
        let Some(license) = &self.metadata.license else {
            return false;
        };
        // Without such a statement, no index of all statements is made.
        if !states_property(&self.extra_statements, dcterms::LICENSE) {
            return false;
        }
        let statements = StatementIndex::new(&self.extra_statements);
        let mut licenses = statements.values(&Node::Dataset, dcterms::LICENSE);
        licenses.any(|value| license_of(&statements, value).as_ref() == Some(license))
    }
}

/// Returns the licences of a node: those of `dct:license` or, without one, the IRIs of `dct:rights`.
fn stated_licenses(statements: &StatementIndex<'_>, node: &Node) -> Vec<String> {
    let licenses = statements
        .values(node, dcterms::LICENSE)
        .filter_map(|value| license_of(statements, value))
        .filter(|license| is_stated_license(license));
    let licenses = sort_addresses_first(licenses.collect());
    if !licenses.is_empty() || *node == Node::Dataset {
        return licenses;
    }
    let rights = statements
        .values(node, dcterms::RIGHTS)
        .filter_map(|value| match value {
            Value::Node(Node::Iri(iri)) => Some(iri.clone()),
            Value::Literal(literal) if is_address(literal.value().trim()) => {
                Some(literal.value().trim().to_owned())
            }
            _ => None,
        });
    sort_addresses_first(rights.collect())
}

/// Returns the text of a licence: an IRI, a literal, or what the description states of a node.
fn license_of<'d>(statements: &StatementIndex<'d>, value: &'d Value) -> Option<String> {
    let part = match value {
        Value::Literal(literal) => return license_text(literal.value()).map(str::to_owned),
        Value::Node(Node::Iri(iri)) => return Some(iri.clone()),
        Value::Node(Node::Dataset) => return None,
        Value::Node(part @ Node::Part(_)) => part,
    };
    if let Some(iri) = statements.web_iris(part).next() {
        return Some(iri.to_owned());
    }
    let addresses = LICENSE_ADDRESSES
        .iter()
        .flat_map(|property| statements.values(part, property));
    let mut addresses = addresses.filter_map(|value| match value {
        Value::Node(Node::Iri(iri)) => Some(iri.as_str()),
        Value::Literal(literal) => Some(literal.value().trim()).filter(|text| is_address(text)),
        Value::Node(_) => None,
    });
    if let Some(address) = addresses.next() {
        return Some(address.to_owned());
    }
    let labels = find_texts(statements, part, LABELS);
    let name = select_text(&labels, &["en"]).map(|text| text.value.clone());
    let name = name.or_else(|| {
        find_texts(statements, part, LICENSE_TEXTS)
            .into_iter()
            .next()
            .map(|text| text.value)
    });
    name.and_then(|name| license_text(&name).map(str::to_owned))
}

/// Returns the literals of the properties of a node that are not empty.
fn find_texts(statements: &StatementIndex<'_>, node: &Node, properties: &[&str]) -> Vec<Text> {
    let values = properties
        .iter()
        .flat_map(|property| statements.values(node, property));
    let texts = values.filter_map(|value| match value {
        Value::Literal(literal) => Some(Text {
            value: literal.value().trim().to_owned(),
            language: literal.language().map(str::to_owned),
        }),
        Value::Node(_) => None,
    });
    texts.filter(|text| !text.value.is_empty()).collect()
}
