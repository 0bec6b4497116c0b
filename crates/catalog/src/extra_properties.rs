//! Properties of a dataset beyond the typed fields, with labels and values for readers.

use super::{Dataset, Node, Statement, Value};
use lodeseek_rdf::vocab::{adms, dcat, dcterms, foaf, owl, prov, rdfs, skos, vcard};

/// Maximum number of values per property.
const SHOWN: usize = 10;

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
    (dcat::IN_SERIES, "Series"),
    (dcat::HAS_VERSION, "Version of this dataset"),
    (dcterms::RELATION, "Related"),
    (dcterms::IS_REFERENCED_BY, "Referenced by"),
    (foaf::PAGE, "Documentation"),
    (adms::IDENTIFIER, "Identifier"),
    (dcterms::IDENTIFIER, "Identifier"),
    (dcat::CONTACT_POINT, "Contact"),
];
/// Properties with the name of a part, best first.
const NAMES: &[&str] =
    &[foaf::NAME, vcard::FN, skos::PREF_LABEL, rdfs::LABEL, dcterms::TITLE, skos::NOTATION, dcat::BBOX, owl::SAME_AS];

impl Dataset {
    /// Returns the properties beyond the typed fields as (label, value), in a fixed order.
    #[must_use]
    pub fn extra_properties(&self) -> Vec<(&'static str, String)> {
        let mut properties = Vec::new();
        for (property, name) in PROPERTIES {
            let values = self.property_values(&Node::Dataset, property).filter_map(|value| self.value_text(value));
            let mut values: Vec<String> = values.filter(|value| !value.is_empty()).collect();
            values.sort();
            values.dedup();
            properties.extend(values.into_iter().take(SHOWN).map(|value| (*name, value)));
        }
        properties
    }

    pub(super) fn property_values<'d>(&'d self, node: &'d Node, property: &'d str) -> impl Iterator<Item = &'d Value> {
        let is_requested = move |one: &&Statement| one.subject == *node && one.predicate == property;
        self.extra_statements.iter().filter(is_requested).map(|one| &one.object)
    }

    fn value_text(&self, value: &Value) -> Option<String> {
        match value {
            Value::Literal(literal) => Some(literal.value().trim().to_owned()),
            Value::Node(Node::Iri(iri)) => Some(iri.clone()),
            Value::Node(Node::Dataset) => None,
            Value::Node(part @ Node::Part(_)) => self.part_text(part),
        }
    }

    /// Returns the name of a part. A period without a name becomes its two ends; an e-mail address follows the name.
    fn part_text(&self, part: &Node) -> Option<String> {
        let text = |property: &str| {
            self.property_values(part, property).find_map(|value| match value {
                Value::Literal(literal) => Some(literal.value().trim().to_owned()),
                Value::Node(Node::Iri(iri)) => Some(iri.clone()),
                Value::Node(_) => None,
            })
        };
        let name = NAMES.iter().find_map(|property| text(property));
        let ends = [dcat::START_DATE, dcat::END_DATE].map(text);
        let period = ends.iter().any(Option::is_some).then(|| ends.map(Option::unwrap_or_default).join(" – "));
        let mail = text(vcard::HAS_EMAIL).map(|mail| mail.trim_start_matches("mailto:").to_owned());
        match (name.or(period), mail) {
            (Some(name), Some(mail)) if name != mail => Some(format!("{name} ({mail})")),
            (name, mail) => name.or(mail),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{DatasetId, Metadata};
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
            (part("c"), vcard::HAS_EMAIL, Node::Iri("mailto:ann@e.org".to_owned()).into()),
            (Node::Dataset, dcterms::TEMPORAL, part("t").into()),
            (part("t"), dcat::START_DATE, literal("2001")),
            (Node::Dataset, dcterms::SPATIAL, Node::Iri("http://e.org/place".to_owned()).into()),
            (Node::Dataset, dcterms::ACCRUAL_PERIODICITY, literal(" yearly ")),
            (Node::Dataset, dcterms::ACCRUAL_PERIODICITY, literal("yearly")),
            (Node::Dataset, dcat::THEME, part("nameless").into()),
            (part("other"), dcat::VERSION, literal("of a part")),
        ] {
            dataset.extra_statements.push(Statement { subject, predicate: property.to_owned(), object });
        }
        let expected = [
            ("Place", "http://e.org/place"),
            ("Period", "2001 – "),
            ("Frequency", "yearly"),
            ("Contact", "Ann (ann@e.org)"),
        ];
        assert_eq!(dataset.extra_properties(), expected.map(|(name, value)| (name, value.to_owned())));
    }
}
