//! Properties of a dataset beyond the typed fields, with labels and values for readers.

use super::statement::{NodeCache, StatementIndex, get_or_compute};
use super::typed_fields::agent_node;
use super::{Dataset, Node, Value, plain_text};
use lodeseek_rdf::vocab::{
    adms, dcat, dcatus, dcterms, dpv, foaf, geodcatap, healthdcatap, owl, prov, rdf, rdfs, schema,
    skos, vcard,
};
use lodeseek_rdf::{local_name, words};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Maximum number of values per property.
const MAX_VALUES: usize = 10;
/// Maximum number of characters of an agent or a role: many attributions may share it.
const MAX_ATTRIBUTION_CHARACTERS: usize = 1_000;

/// (property, label), in the order of display.
const PROPERTIES: &[(&str, &str)] = &[
    (dcat::VERSION, "Version"),
    (adms::VERSION_NOTES, "Version notes"),
    (adms::STATUS, "Status"),
    (dcterms::LANGUAGE, "Language"),
    (dcat::THEME, "Theme"),
    (dcterms::SPATIAL, "Place"),
    (dcterms::TEMPORAL, "Period"),
    (dcterms::ACCRUAL_PERIODICITY, "Frequency"),
    (dcat::TEMPORAL_RESOLUTION, "Temporal resolution"),
    (dcat::SPATIAL_RESOLUTION, "Spatial resolution (metres)"),
    (dcterms::ACCESS_RIGHTS, "Access"),
    (dcterms::RIGHTS, "Rights"),
    (dcterms::CONFORMS_TO, "Conforms to"),
    (dcterms::PROVENANCE, "Provenance"),
    (prov::WAS_DERIVED_FROM, "Derived from"),
    (dcterms::SOURCE, "Derived from"),
    (dcat::IN_SERIES, "Series"),
    (dcat::HAS_VERSION, "Version of this dataset"),
    (dcterms::RELATION, "Related"),
    (dcterms::IS_REFERENCED_BY, "Referenced by"),
    (foaf::PAGE, "Documentation"),
    (adms::IDENTIFIER, "Identifier"),
    (dcterms::IDENTIFIER, "Identifier"),
    (dcat::CONTACT_POINT, "Contact"),
    (dcterms::RIGHTS_HOLDER, "Rights holder"),
    (dcterms::CONTRIBUTOR, "Contributor"),
    (schema::FUNDER, "Funder"),
    (schema::MAINTAINER, "Maintainer"),
    (schema::PROVIDER, "Provider"),
    (schema::SOURCE_ORGANIZATION, "Source organization"),
    (prov::QUALIFIED_ATTRIBUTION, "Attribution"),
    (skos::SCOPE_NOTE, "Usage note"),
    (healthdcatap::ANALYTICS, "Analytics"),
    (healthdcatap::HAS_CODE_VALUES, "Code values"),
    (healthdcatap::HAS_CODING_SYSTEM, "Coding system"),
    (healthdcatap::HDAB, "Health data access body"),
    (healthdcatap::HEALTH_CATEGORY, "Health category"),
    (healthdcatap::HEALTH_THEME, "Health theme"),
    (healthdcatap::MAX_TYPICAL_AGE, "Maximum typical age"),
    (healthdcatap::MIN_TYPICAL_AGE, "Minimum typical age"),
    (healthdcatap::NUMBER_OF_RECORDS, "Number of records"),
    (
        healthdcatap::NUMBER_OF_UNIQUE_INDIVIDUALS,
        "Number of individuals",
    ),
    (healthdcatap::POPULATION_COVERAGE, "Population"),
    (healthdcatap::PUBLISHER_NOTE, "Publisher note"),
    (healthdcatap::PUBLISHER_TYPE, "Publisher type"),
    (healthdcatap::RETENTION_PERIOD, "Retention period"),
    (healthdcatap::TRUSTED_DATA_HOLDER, "Trusted data holder"),
    (dpv::HAS_LEGAL_BASIS, "Legal basis"),
    (dpv::HAS_PERSONAL_DATA, "Personal data"),
    (dpv::HAS_PURPOSE, "Purpose of processing"),
    (dcatus::PURPOSE, "Purpose"),
    (dcatus::LIABILITY_STATEMENT, "Liability"),
    (dcatus::DESCRIBED_BY, "Data dictionary"),
    (dcatus::METADATA_DISTRIBUTION, "Metadata document"),
    (dcatus::ACCESS_RESTRICTION, "Access restriction"),
    (dcatus::USE_RESTRICTION, "Use restriction"),
    (
        dcatus::CUI_RESTRICTION,
        "Controlled unclassified information",
    ),
    (dcatus::GEOGRAPHIC_BOUNDING_BOX, "Bounding box"),
    (geodcatap::REFERENCE_SYSTEM, "Reference system"),
    (geodcatap::SPATIAL_RESOLUTION_AS_TEXT, "Spatial resolution"),
    (geodcatap::TOPIC_CATEGORY, "Topic category"),
    (geodcatap::RESOURCE_TYPE, "Resource type"),
    (geodcatap::SERVICE_TYPE, "Service type"),
    (geodcatap::SERVICE_CATEGORY, "Service category"),
    (geodcatap::SERVICE_PROTOCOL, "Service protocol"),
    (geodcatap::PURPOSE, "Purpose"),
    (geodcatap::CUSTODIAN, "Custodian"),
    (geodcatap::DISTRIBUTOR, "Distributor"),
    (geodcatap::ORIGINATOR, "Originator"),
    (geodcatap::PRINCIPAL_INVESTIGATOR, "Principal investigator"),
    (geodcatap::PROCESSOR, "Processor"),
    (geodcatap::RESOURCE_PROVIDER, "Resource provider"),
    (geodcatap::USER, "User"),
];
/// Properties with the name of a part, best first.
const NAMES: &[&str] = &[
    foaf::NAME,
    vcard::FN,
    vcard::ORGANIZATION_NAME,
    skos::PREF_LABEL,
    rdfs::LABEL,
    schema::NAME,
    dcterms::TITLE,
    skos::NOTATION,
    rdf::VALUE,
    dcat::BBOX,
    owl::SAME_AS,
];

/// A value of a property beyond the typed fields.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExtraProperty {
    /// IRI of the property.
    pub property: &'static str,
    /// English label of the property.
    pub label: &'static str,
    /// The value as text: an IRI, a literal, or the name of a part.
    pub value: String,
}

impl Dataset {
    /// Returns the properties beyond the typed fields, in a fixed order.
    #[must_use]
    pub fn extra_properties(&self) -> Vec<ExtraProperty> {
        let texts = ValueTexts::new(self);
        let mut properties = Vec::new();
        for (property, name) in PROPERTIES {
            let mut values = BTreeSet::new();
            for value in texts.statements.values(&Node::Dataset, property) {
                let text = texts
                    .value_text(value)
                    .map(|text| plain_text(&text).into_owned());
                values.extend(text.filter(|text| !text.is_empty()));
                if values.len() > MAX_VALUES {
                    values.pop_last();
                }
            }
            properties.extend(values.into_iter().map(|value| ExtraProperty {
                property,
                label: name,
                value,
            }));
        }
        properties
    }

    /// Returns the IRIs of the values of a property, in the order of the statements: of a part, that which it denotes.
    #[must_use]
    pub fn linked_iris(&self, property: &str) -> Vec<&str> {
        let statements = StatementIndex::new(&self.extra_statements);
        let mut iris = Vec::new();
        for value in statements.values(&Node::Dataset, property) {
            match value {
                Value::Node(Node::Dataset) | Value::Literal(_) => {}
                Value::Node(node) => iris.extend(statements.web_iris(node).next()),
            }
        }
        iris
    }
}

/// Texts of the values of a description.
struct ValueTexts<'d> {
    statements: StatementIndex<'d>,
    /// Names of the creators and publishers, by their nodes. The further statements may leave them out.
    agents: FxHashMap<Node, &'d str>,
    /// Texts of agents and roles: many attributions may share one.
    attributed: NodeCache<'d, Option<String>>,
}

impl<'d> ValueTexts<'d> {
    fn new(dataset: &'d Dataset) -> Self {
        let mut agents = FxHashMap::default();
        for agent in dataset.metadata.agents() {
            agents.insert(agent_node(agent), agent.name.as_str());
        }
        let statements = StatementIndex::new(&dataset.extra_statements);
        Self {
            statements,
            agents,
            attributed: NodeCache::default(),
        }
    }

    fn value_text(&self, value: &'d Value) -> Option<String> {
        match value {
            Value::Literal(literal) => Some(literal.value().trim().to_owned()),
            Value::Node(Node::Dataset) => None,
            Value::Node(part @ Node::Part(_)) => self
                .name(part)
                .or_else(|| self.attribution(part))
                .or_else(|| self.listed_values(part)),
            Value::Node(node @ Node::Iri(iri)) => self.name(node).or_else(|| Some(iri.clone())),
        }
    }

    /// Returns the name of a part or of a described resource. A period without a name becomes its two ends; an e-mail address follows the name.
    fn name(&self, part: &Node) -> Option<String> {
        let agent = self.agents.get(part).map(|name| (*name).to_owned());
        if agent.is_none() && !self.statements.describes(part) {
            return None;
        }
        let name = agent.or_else(|| {
            NAMES
                .iter()
                .find_map(|property| self.first_text(part, property))
        });
        let ends = [dcat::START_DATE, dcat::END_DATE].map(|end| self.first_text(part, end));
        let period = ends
            .iter()
            .any(Option::is_some)
            .then(|| ends.map(Option::unwrap_or_default).join(" – "));
        let mail = self
            .first_text(part, vcard::HAS_EMAIL)
            .map(|mail| mail.trim_start_matches("mailto:").to_owned());
        match (name.or(period), mail) {
            (Some(name), Some(mail)) if name != mail => Some(format!("{name} ({mail})")),
            (name, mail) => name.or(mail),
        }
    }

    /// Returns the first literal or IRI of a property.
    fn first_text(&self, part: &Node, property: &str) -> Option<String> {
        self.statements
            .values(part, property)
            .find_map(|value| match value {
                Value::Literal(literal) => Some(literal.value().trim().to_owned()),
                Value::Node(Node::Iri(iri)) => Some(iri.clone()),
                Value::Node(_) => None,
            })
    }

    /// Returns the agent of an attribution with its role.
    fn attribution(&self, part: &Node) -> Option<String> {
        let agent = self
            .statements
            .values(part, prov::AGENT)
            .find_map(|agent| self.attributed_text(agent))?;
        let role = self
            .statements
            .values(part, dcat::HAD_ROLE)
            .find_map(|role| match role {
                Value::Node(role @ Node::Iri(iri)) => {
                    self.name(role).or_else(|| Some(words(local_name(iri))))
                }
                other => self.attributed_text(other),
            });
        match role {
            Some(role) => Some(format!("{agent} ({role})")),
            None => Some(agent),
        }
    }

    /// Returns the text of an agent or a role. Its own attributions are not followed: they may form a cycle.
    fn attributed_text(&self, value: &'d Value) -> Option<String> {
        match value {
            Value::Node(part @ Node::Part(_)) => get_or_compute(&self.attributed, part, || {
                let text = self.name(part).or_else(|| self.listed_values(part))?;
                Some(text.chars().take(MAX_ATTRIBUTION_CHARACTERS).collect())
            }),
            Value::Node(node) if self.agents.contains_key(node) => {
                self.agents.get(node).map(|name| (*name).to_owned())
            }
            other => self.value_text(other),
        }
    }

    /// Returns the values of a part without a name, for example of a restriction.
    fn listed_values(&self, part: &Node) -> Option<String> {
        let mut values = Vec::new();
        for one in self
            .statements
            .about(part)
            .iter()
            .filter(|one| one.predicate != rdf::TYPE)
        {
            match &one.object {
                Value::Literal(literal) => values.push(literal.value().trim().to_owned()),
                Value::Node(Node::Iri(iri)) => values.push(words(local_name(iri))),
                Value::Node(_) => {}
            }
        }
        values.truncate(MAX_VALUES);
        (!values.is_empty()).then(|| values.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{DatasetId, Metadata, Statement};
    use super::*;
    use oxrdf::Literal;

    #[test]
    fn parts_are_told_by_their_names() {
        let mut dataset = Dataset::new(Metadata::new(DatasetId::new("a").expect("an id")));
        let part = |name: &str| Node::Part(name.to_owned());
        let literal = |text: &str| Value::Literal(Literal::from(text));
        for (subject, property, object) in [
            (Node::Dataset, dcat::CONTACT_POINT, part("c").into()),
            (part("c"), vcard::FN, literal("Ann")),
            (
                part("c"),
                vcard::HAS_EMAIL,
                Node::Iri("mailto:ann@e.org".to_owned()).into(),
            ),
            (Node::Dataset, dcterms::TEMPORAL, part("t").into()),
            (part("t"), dcat::START_DATE, literal("2001")),
            (
                Node::Dataset,
                dcterms::SPATIAL,
                Node::Iri("http://e.org/place".to_owned()).into(),
            ),
            (
                Node::Dataset,
                dcterms::ACCRUAL_PERIODICITY,
                literal(" yearly "),
            ),
            (
                Node::Dataset,
                dcterms::ACCRUAL_PERIODICITY,
                literal("yearly"),
            ),
            (Node::Dataset, dcat::THEME, part("nameless").into()),
            (part("other"), dcat::VERSION, literal("of a part")),
        ] {
            dataset.extra_statements.push(Statement {
                subject,
                predicate: property.to_owned(),
                object,
            });
        }
        let expected = [
            ("Place", "http://e.org/place"),
            ("Period", "2001 – "),
            ("Frequency", "yearly"),
            ("Contact", "Ann (ann@e.org)"),
        ];
        let found = dataset.extra_properties();
        let found: Vec<(&str, &str)> = found
            .iter()
            .map(|one| (one.label, one.value.as_str()))
            .collect();
        assert_eq!(found, expected);
    }

    fn values(dataset: &Dataset) -> Vec<String> {
        dataset
            .extra_properties()
            .into_iter()
            .map(|one| one.value)
            .collect()
    }

    /// If each relation searched all statements, or each attribution read the agent again, the work would be quadratic.
    #[test]
    fn many_relations_and_attributions_are_shown() {
        let mut dataset = Dataset::new(Metadata::new(DatasetId::new("a").expect("an id")));
        let agent = Node::Part("agent".to_owned());
        for number in 0..25_000 {
            let relation = Node::Part(format!("relation-{number}"));
            let attribution = Node::Part(format!("attribution-{number}"));
            let title = Literal::from(format!("Relation {number:05}"));
            let homepage = Node::Iri(format!("http://e.org/{number}"));
            dataset.extra_statements.extend([
                Statement::new(Node::Dataset, dcterms::RELATION, relation.clone()),
                Statement::new(relation.clone(), dcterms::TITLE, title),
                Statement::new(relation, owl::SAME_AS, homepage.clone()),
                Statement::new(
                    Node::Dataset,
                    prov::QUALIFIED_ATTRIBUTION,
                    attribution.clone(),
                ),
                Statement::new(attribution, prov::AGENT, agent.clone()),
                Statement::new(agent.clone(), foaf::HOMEPAGE, homepage),
            ]);
        }
        let shown = values(&dataset);
        assert_eq!(
            (shown.len(), shown[9].as_str()),
            (MAX_VALUES + 1, "Relation 00009")
        );
        assert_eq!(shown[MAX_VALUES], "0; 1; 2; 3; 4; 5; 6; 7; 8; 9");
        assert_eq!(dataset.linked_iris(dcterms::RELATION).len(), 25_000);
    }

    #[test]
    fn circular_attributions_have_no_text() {
        let mut dataset = Dataset::new(Metadata::new(DatasetId::new("a").expect("an id")));
        let attribution = Node::Part("attribution".to_owned());
        dataset.extra_statements = vec![
            Statement::new(
                Node::Dataset,
                prov::QUALIFIED_ATTRIBUTION,
                attribution.clone(),
            ),
            Statement::new(attribution.clone(), prov::AGENT, attribution.clone()),
            Statement::new(attribution.clone(), dcat::HAD_ROLE, attribution),
        ];
        assert!(values(&dataset).is_empty());
    }
}
