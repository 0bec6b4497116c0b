//! Project Open Data's `data.json`, versions 1.0 (a list) and 1.1 (a catalogue), and lists of other portals with the
//! same keys.
//! <https://resources.data.gov/resources/dcat-us/>

use super::dcat_builder::{DcatBuilder, Field, FieldKind, Object, Subject, pruned_object, scalar};
use super::json_entries::{EntryFault, read_entries};
use super::{Catalog, DatasetId};
use lodeseek_rdf::vocab::{dcat, dcterms, foaf};
use serde_json::{Value, json};
use std::path::Path;

const DATASET: &[Field] = &[
    ("title", dcterms::TITLE, FieldKind::Title),
    ("description", dcterms::DESCRIPTION, FieldKind::Text),
    ("keyword", dcat::KEYWORD, FieldKind::Keywords),
    ("keywords", dcat::KEYWORD, FieldKind::Keywords),
    ("identifier", dcterms::IDENTIFIER, FieldKind::Resource),
    ("issued", dcterms::ISSUED, FieldKind::Date),
    ("modified", dcterms::MODIFIED, FieldKind::Date),
    ("license", dcterms::LICENSE, FieldKind::Resource),
    ("rights", dcterms::RIGHTS, FieldKind::LabelledNode(dcterms::RIGHTS_STATEMENT)),
    ("accessLevel", dcterms::ACCESS_RIGHTS, FieldKind::LabelledNode(dcterms::RIGHTS_STATEMENT)),
    ("accrualPeriodicity", dcterms::ACCRUAL_PERIODICITY, FieldKind::Resource),
    ("conformsTo", dcterms::CONFORMS_TO, FieldKind::Resource),
    ("language", dcterms::LANGUAGE, FieldKind::Resource),
    ("landingPage", dcat::LANDING_PAGE, FieldKind::Resource),
    ("references", dcterms::REFERENCES, FieldKind::Resource),
    ("theme", dcat::THEME, FieldKind::Resource),
    ("spatial", dcterms::SPATIAL, FieldKind::Place),
    ("temporal", dcterms::TEMPORAL, FieldKind::Period),
    ("publisher", dcterms::PUBLISHER, FieldKind::Agent),
    ("creator", dcterms::CREATOR, FieldKind::Agent),
    ("version", dcat::VERSION, FieldKind::Text),
];
const DISTRIBUTION: &[Field] = &[
    ("title", dcterms::TITLE, FieldKind::Title),
    ("description", dcterms::DESCRIPTION, FieldKind::Text),
    ("downloadURL", dcat::DOWNLOAD_URL, FieldKind::Resource),
    ("accessURL", dcat::ACCESS_URL, FieldKind::Resource),
    ("mediaType", dcat::MEDIA_TYPE, FieldKind::MediaType),
    ("format", dcterms::FORMAT, FieldKind::Resource),
    ("byteSize", dcat::BYTE_SIZE, FieldKind::Number),
    ("license", dcterms::LICENSE, FieldKind::Resource),
    ("issued", dcterms::ISSUED, FieldKind::Date),
    ("modified", dcterms::MODIFIED, FieldKind::Date),
    ("conformsTo", dcterms::CONFORMS_TO, FieldKind::Resource),
];
/// Fields of the catalogue itself, repeated for each of its datasets.
const HEADER: &[Field] = &[
    ("title", dcterms::TITLE, FieldKind::Title),
    ("description", dcterms::DESCRIPTION, FieldKind::Text),
    ("homepage", foaf::HOMEPAGE, FieldKind::Resource),
    ("issued", dcterms::ISSUED, FieldKind::Date),
    ("modified", dcterms::MODIFIED, FieldKind::Date),
    ("language", dcterms::LANGUAGE, FieldKind::Resource),
    ("license", dcterms::LICENSE, FieldKind::Resource),
    ("conformsTo", dcterms::CONFORMS_TO, FieldKind::Resource),
];

/// Returns the entries and the header of a document; `None` if it is of another dialect.
pub(super) fn entries(document: &Value) -> Option<(Vec<&Value>, Object)> {
    match document {
        Value::Array(entries) => entries.iter().any(is_entry).then(|| (entries.iter().collect(), Object::new())),
        Value::Object(catalog) => {
            let entries: Vec<&Value> = match catalog.get("dataset") {
                Some(Value::Array(entries)) if is_plain(catalog) => entries.iter().collect(),
                Some(entry @ Value::Object(_)) if is_plain(catalog) && is_entry(entry) => vec![entry],
                _ => return is_entry(document).then(|| (vec![document], Object::new())),
            };
            let mut header = catalog.clone();
            header.retain(|key, _| key != "dataset" && !key.starts_with('@'));
            Some((entries, header))
        }
        _ => None,
    }
}

/// If true, the catalogue is not JSON-LD with a context of its own.
fn is_plain(catalog: &Object) -> bool {
    catalog.get("@context").is_none_or(|context| context.as_str().is_some_and(|iri| iri.contains("project-open-data")))
}

/// If true, the value is a dataset with the keys of the schema. It may have the class of the schema, but is no JSON-LD.
pub(super) fn is_entry(value: &Value) -> bool {
    let has = |key: &str| value.get(key).is_some();
    let linked = ["@context", "@graph", "dataset_id"].iter().any(|key| has(key));
    let class = value.get("@type").and_then(Value::as_str).unwrap_or("dcat:Dataset");
    let is_own = class.strip_prefix("dcat:").unwrap_or(class) == "Dataset" && (!has("@id") || has("accessLevel"));
    let keys = ["distribution", "accessLevel", "landingPage", "keyword", "accessURL"];
    !linked && is_own && has("title") && keys.iter().any(|key| has(key))
}

/// Reads entries.
pub(super) fn read((entries, header): (Vec<&Value>, Object), path: &Path) -> Catalog {
    let mut catalog = read_entries(entries, path, |entry, builder| write_entry(entry, &header, builder));
    catalog.other_resources.catalogs = usize::from(!header.is_empty());
    catalog
}

/// Writes an entry without a header.
pub(super) fn write_single(entry: &Object, builder: &mut DcatBuilder) -> Result<Option<DatasetId>, EntryFault> {
    write_entry(entry, &Object::new(), builder)
}

fn write_entry(entry: &Object, header: &Object, builder: &mut DcatBuilder) -> Result<Option<DatasetId>, EntryFault> {
    let mut entry = pruned_object(entry);
    let iri = entry.remove("@id").and_then(|iri| scalar(&iri));
    let node = builder.node(iri.as_deref());
    builder.class(&node, dcat::DATASET);
    builder.declared_class(&node, &mut entry, &["Dataset"]);
    builder.fields(&node, &mut entry, DATASET);
    let contact = match (entry.remove("contactPoint"), entry.remove("mbox")) {
        (Some(Value::String(name)), address) => json!({"fn": name, "hasEmail": address}),
        (None, Some(address)) => json!({"hasEmail": address}),
        (Some(Value::Object(mut contact)), Some(address)) => {
            contact.entry("mbox").or_insert(address);
            Value::Object(contact)
        }
        (contact, address) => {
            builder.extra(&node, "mbox", &address.unwrap_or_default());
            contact.unwrap_or_default()
        }
    };
    builder.field(&node, "contactPoint", dcat::CONTACT_POINT, FieldKind::Contact, &contact);
    distributions(&mut entry, &node, builder);
    if !header.is_empty() {
        let catalog = builder.part(&node, dcterms::IS_PART_OF, dcat::CATALOG);
        let mut header = pruned_object(header);
        builder.fields(&catalog, &mut header, HEADER);
        builder.extras(&catalog, header);
    }
    builder.extras(&node, entry);
    Ok(None)
}

/// Adds the distributions. In version 1.0 the dataset itself has the keys of one distribution, and a web service.
fn distributions(entry: &mut Object, node: &Subject, builder: &mut DcatBuilder) {
    let mut all = match entry.remove("distribution") {
        Some(Value::Array(all)) => all,
        Some(one) => vec![one],
        None => Vec::new(),
    };
    let own: Object =
        ["accessURL", "format"].iter().filter_map(|key| Some(((*key).to_owned(), entry.remove(*key)?))).collect();
    if !own.is_empty() {
        all.push(Value::Object(own));
    }
    if let Some(service) = entry.remove("webService") {
        all.push(json!({"accessURL": service}));
    }
    for distribution in all {
        let mut distribution = match distribution {
            Value::Object(distribution) => distribution,
            address => Object::from_iter([("accessURL".to_owned(), address)]),
        };
        let iri = distribution.remove("@id").and_then(|iri| scalar(&iri));
        let part = builder.node(iri.as_deref());
        builder.add(node, dcat::DISTRIBUTION, part.clone());
        builder.class(&part, dcat::DISTRIBUTION_CLASS);
        builder.declared_class(&part, &mut distribution, &["Distribution"]);
        builder.fields(&part, &mut distribution, DISTRIBUTION);
        builder.extras(&part, distribution);
    }
}
