//! Nothing of a JSON catalogue is lost in silence: each value of a random entry is in the description or in a problem.

use super::{Catalog, Iris, dcat};
use oxrdf::Term;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::fs;

const PACKAGE_KEYS: &[&str] = &[
    "title",
    "title_translated",
    "title_fr",
    "notes",
    "notes_translated",
    "description",
    "keywords",
    "tags",
    "extras",
    "groups",
    "organization",
    "author",
    "author_email",
    "maintainer",
    "maintainer_email",
    "publisher",
    "publisher_name",
    "creator",
    "contact_points",
    "contact_name",
    "license",
    "license_id",
    "license_title",
    "license_url",
    "url",
    "ckan_url",
    "download_url",
    "spatial",
    "spatial_text",
    "spatial_coverage",
    "temporal_start",
    "temporal_end",
    "temporal_coverage",
    "temporals",
    "theme",
    "language",
    "frequency",
    "conforms_to",
    "relations",
    "see_alsos",
    "identifier",
    "alternate_identifier",
    "version",
    "issued",
    "modified",
    "metadata_created",
    "metadata_modified",
    "provenance",
    "access_rights",
    "temporal_resolution",
    "id",
    "uri",
    "res_url",
    "own_key",
    "Other key",
];
const RESOURCE_KEYS: &[&str] = &[
    "id",
    "name",
    "name_translated",
    "title",
    "description",
    "url",
    "access_url",
    "download_url",
    "format",
    "mimetype",
    "size",
    "hash",
    "hash_algorithm",
    "license",
    "license_id",
    "access_services",
    "created",
    "rights",
    "language",
    "uri",
    "own_key",
];
const ENTRY_KEYS: &[&str] = &[
    "description",
    "keyword",
    "issued",
    "modified",
    "license",
    "rights",
    "accrualPeriodicity",
    "conformsTo",
    "language",
    "landingPage",
    "references",
    "theme",
    "spatial",
    "temporal",
    "publisher",
    "creator",
    "contactPoint",
    "mbox",
    "distribution",
    "accessURL",
    "format",
    "webService",
    "bureauCode",
    "describedBy",
    "own_key",
    "@id",
];
const DISTRIBUTION_KEYS: &[&str] = &[
    "title",
    "description",
    "downloadURL",
    "accessURL",
    "mediaType",
    "format",
    "byteSize",
    "license",
    "own_key",
    "@id",
];
const INNER_KEYS: &[&str] = &[
    "en",
    "fr_CA",
    "name",
    "title",
    "display_name",
    "url",
    "uri",
    "value",
    "id",
    "label",
    "start",
    "end",
    "key",
    "email",
    "hasEmail",
    "text",
    "geom",
    "bbox",
    "coordinates",
    "@type",
    "identifier",
    "x",
];

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => "[a-z]{6,9}".prop_map(Value::from),
        1 => "[a-z]{6,9} [a-z]{5}".prop_map(Value::from),
        1 => "http://e\\.org/[a-z]{6,9} [a-z]{5}\\.csv".prop_map(Value::from),
        1 => "[a-z]{6,9}@e\\.org".prop_map(Value::from),
        1 => "201[0-9]-0[1-9]-1[0-9]".prop_map(Value::from),
        1 => "javascript:[a-z]{6}".prop_map(Value::from),
        1 => (10_000..99_999_i32).prop_map(Value::from),
        1 => any::<bool>().prop_map(Value::from),
        1 => prop_oneof![Just(json!(null)), Just(json!("")), Just(json!("N/A")), Just(json!([])), Just(json!({}))],
        1 => "[a-z]{6,9}".prop_map(|word| Value::from(json!({"name": word, "en": word}).to_string())),
        1 => "[a-z]{6,9}".prop_map(|word| Value::from(json!([word, {"id": word}]).to_string())),
    ]
}

fn object(
    keys: &'static [&'static str],
    value: impl Strategy<Value = Value> + Clone,
) -> impl Strategy<Value = Value> {
    let members = proptest::collection::vec((proptest::sample::select(keys), value), 0..6);
    members.prop_map(|members| {
        Value::Object(
            members
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect::<Map<_, _>>(),
        )
    })
}

fn value() -> impl Strategy<Value = Value> + Clone {
    let nested = leaf().prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            object(INNER_KEYS, inner),
        ]
    });
    nested.boxed()
}

fn entry(
    keys: &'static [&'static str],
    part_key: &'static str,
    part_keys: &'static [&'static str],
) -> impl Strategy<Value = Map<String, Value>> {
    let members = proptest::collection::vec((proptest::sample::select(keys), value()), 0..8);
    let parts = proptest::collection::vec(object(part_keys, value()), 0..3);
    (members, parts).prop_map(move |(members, parts)| {
        let mut entry: Map<String, Value> = members
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect();
        entry.entry(part_key).or_insert(Value::Array(parts));
        entry
    })
}

/// Adds the texts of a value that are no placeholders. Of JSON in a text, these are its own texts.
fn add_texts(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::Null => {}
        Value::Array(values) => values.iter().for_each(|value| add_texts(value, texts)),
        Value::Object(object) => object.values().for_each(|value| add_texts(value, texts)),
        Value::String(text) if text.is_empty() || text == "N/A" => {}
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(nested @ (Value::Array(_) | Value::Object(_))) => add_texts(&nested, texts),
            _ => texts.push(text.clone()),
        },
        scalar => texts.push(scalar.to_string()),
    }
}

/// Returns the texts of a document that are neither in the description of its dataset nor in a problem.
fn lost_texts(document: &Value, entry: &Map<String, Value>) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("catalog.json");
    fs::write(&path, document.to_string()).expect("written");
    let catalog = Catalog::read(&path).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(catalog.datasets.len(), 1, "{:?}", catalog.problems);
    let iris = Iris::default();
    let mut found: Vec<String> = catalog.problems.clone().into_texts();
    for triple in dcat::to_triples(&catalog.datasets[0], &iris) {
        match triple.object {
            Term::NamedNode(iri) => found.push(iri.into_string()),
            Term::Literal(literal) => found.push(literal.value().to_owned()),
            _ => {}
        }
    }
    let mut expected = Vec::new();
    add_texts(&Value::Object(entry.clone()), &mut expected);
    expected.retain(|text| {
        let encoded = text.replace(' ', "%20");
        !found
            .iter()
            .any(|one| one.contains(text.as_str()) || one.contains(&encoded))
    });
    expected
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn values_of_packages_are_kept(entry in entry(PACKAGE_KEYS, "resources", RESOURCE_KEYS)) {
        let mut package = entry.clone();
        package.insert("name".to_owned(), json!("kilns"));
        let lost = lost_texts(&json!({"success": true, "result": package}), &entry);
        prop_assert!(lost.is_empty(), "lost: {lost:?}");
    }

    #[test]
    fn values_of_data_json_are_kept(entry in entry(ENTRY_KEYS, "distribution", DISTRIBUTION_KEYS)) {
        let mut dataset = entry.clone();
        dataset.extend([("title".to_owned(), json!("Kilns")), ("accessLevel".to_owned(), json!("public"))]);
        dataset.insert("identifier".to_owned(), json!("kilns"));
        let document = json!({"conformsTo": "https://project-open-data.cio.gov/v1.1/schema", "dataset": [dataset]});
        let lost = lost_texts(&document, &entry);
        prop_assert!(lost.is_empty(), "lost: {lost:?}");
    }

    #[test]
    fn values_of_dcat_us_are_kept(entry in entry(ENTRY_KEYS, "distribution", DISTRIBUTION_KEYS)) {
        let mut dataset = entry.clone();
        dataset.remove("@id");
        dataset.extend([("title".to_owned(), json!("Kilns")), ("identifier".to_owned(), json!("kilns"))]);
        let kept: Map<String, Value> = dataset.clone();
        let lost = lost_texts(&json!({"@type": "Catalog", "dataset": [dataset]}), &kept);
        prop_assert!(lost.is_empty(), "lost: {lost:?}");
    }
}
