//! The LOD Cloud's `lod-data.json`: an object with one entry per dataset, converted to DCAT and VoID.
//! <https://lod-cloud.net/>

use super::dcat_builder::{
    DcatBuilder, Field, FieldKind, Object, Subject, into_list, prune_object, scalar_text,
    scalar_texts, take_text,
};
use super::json_entries::{EntryFault, has_key, read_entries};
use super::{Catalog, DatasetId};
use lodeseek_rdf::vocab::{adms, dcat, dcterms, foaf, skos, void};
use oxrdf::Literal;
use serde_json::Value;
use std::path::Path;

const DATASET: &[Field] = &[
    ("title", dcterms::TITLE, FieldKind::Title),
    ("description", dcterms::DESCRIPTION, FieldKind::Text),
    ("keywords", dcat::KEYWORD, FieldKind::Keywords),
    ("license", dcterms::LICENSE, FieldKind::Resource),
    ("website", dcat::LANDING_PAGE, FieldKind::Resource),
    ("image", foaf::DEPICTION, FieldKind::Resource),
    ("doi", adms::IDENTIFIER, FieldKind::Identifier),
    ("owner", dcterms::PUBLISHER, FieldKind::Agent),
    ("contact_point", dcat::CONTACT_POINT, FieldKind::Contact),
    ("namespace", void::URI_SPACE, FieldKind::Text),
    ("triples", void::TRIPLES, FieldKind::Number),
];
const DISTRIBUTION: &[Field] = &[
    ("title", dcterms::TITLE, FieldKind::Title),
    ("description", dcterms::DESCRIPTION, FieldKind::Text),
    ("download_url", dcat::DOWNLOAD_URL, FieldKind::Resource),
    ("access_url", dcat::ACCESS_URL, FieldKind::Resource),
    ("media_type", dcat::MEDIA_TYPE, FieldKind::MediaType),
    ("status", adms::STATUS, FieldKind::Resource),
];

/// Returns the entries of a document; `None` if it is of another dialect.
pub(super) fn entries(document: &Value) -> Option<Vec<&Value>> {
    let document = document
        .as_object()
        .filter(|document| !document.is_empty())?;
    document
        .values()
        .any(is_entry)
        .then(|| document.values().collect())
}

/// If true, the value has a title and at least two other keys of the dialect.
fn is_entry(value: &Value) -> bool {
    let keys = ["sparql", "full_download", "links", "domain"];
    has_key(value, "title") && keys.iter().filter(|key| has_key(value, key)).count() >= 2
}

/// Reads entries.
pub(super) fn read(entries: Vec<&Value>, path: &Path) -> Catalog {
    read_entries(entries, path, write_entry)
}

fn write_entry(entry: &Object, builder: &mut DcatBuilder) -> Result<Option<DatasetId>, EntryFault> {
    let mut entry = prune_object(entry);
    let [name, other] = ["identifier", "_id"].map(|key| take_text(&mut entry, key));
    let id = name
        .as_deref()
        .or(other.as_deref())
        .and_then(DatasetId::from_text);
    let node = builder.blank();
    builder.class(&node, dcat::DATASET);
    builder.class(&node, void::DATASET);
    if let Some(other) = other.filter(|other| name.as_ref().is_some_and(|name| name != other)) {
        builder.field(
            &node,
            "_id",
            adms::IDENTIFIER,
            FieldKind::Identifier,
            &Value::String(other),
        );
    }
    builder.fields(&node, &mut entry, DATASET);
    if let Some(domain) = take_text(&mut entry, "domain") {
        let concept = builder.part(&node, dcat::THEME, skos::CONCEPT);
        builder.title(&concept, "domain", skos::PREF_LABEL, &Value::String(domain));
    }
    for endpoint in into_list(entry.remove("sparql")) {
        add_service(&endpoint, &node, builder);
    }
    for (key, property) in [
        ("full_download", dcat::DISTRIBUTION),
        ("other_download", dcat::DISTRIBUTION),
        ("example", adms::SAMPLE),
    ] {
        for download in into_list(entry.remove(key)) {
            add_distribution(download, &node, property, builder);
        }
    }
    for link in into_list(entry.remove("links")) {
        add_linkset(link, &node, builder);
    }
    builder.extras(&node, entry);
    Ok(id)
}

fn add_service(endpoint: &Value, node: &Subject, builder: &mut DcatBuilder) {
    let mut rest = endpoint.as_object().cloned().unwrap_or_default();
    let address = ["access_url", "url"]
        .iter()
        .find_map(|key| take_text(&mut rest, key))
        .or_else(|| scalar_text(endpoint));
    let Some(address) = address else {
        return builder.extra(node, "sparql", endpoint);
    };
    builder.resource(node, void::SPARQL_ENDPOINT, &address);
    let distribution = builder.part(node, dcat::DISTRIBUTION, dcat::DISTRIBUTION_CLASS);
    builder.resource(&distribution, dcat::ACCESS_URL, &address);
    let service = builder.part(&distribution, dcat::ACCESS_SERVICE, dcat::DATA_SERVICE);
    builder.resource(&service, dcat::ENDPOINT_URL, &address);
    builder.fields(&service, &mut rest, DISTRIBUTION);
    builder.extras(&service, rest);
}

/// Adds a download or an example. Mirrors become additional addresses of the distribution.
fn add_distribution(download: Value, node: &Subject, property: &str, builder: &mut DcatBuilder) {
    let Value::Object(mut download) = download else {
        return scalar_texts(&download).iter().for_each(|address| {
            builder.resource(node, void::DATA_DUMP, address);
        });
    };
    let part = builder.part(node, property, dcat::DISTRIBUTION_CLASS);
    builder.fields(&part, &mut download, DISTRIBUTION);
    builder.extras(&part, download);
}

/// Adds the linkset to another dataset of the cloud, with the number of links.
fn add_linkset(link: Value, node: &Subject, builder: &mut DcatBuilder) {
    let mut rest = link.as_object().cloned().unwrap_or_default();
    let Some(target) = take_text(&mut rest, "target") else {
        return builder.extra(node, "links", &link);
    };
    let linkset = builder.part(node, void::SUBSET, void::LINKSET);
    builder.add(&linkset, void::SUBJECTS_TARGET, node.clone());
    builder.add(&linkset, void::OBJECTS_TARGET, Literal::from(target));
    if let Some(count) = rest.remove("value") {
        builder.field(&linkset, "value", void::TRIPLES, FieldKind::Number, &count);
    }
    builder.extras(&linkset, rest);
}
