//! The LOD Cloud's `lod-data.json`: an object with one entry per dataset, converted to DCAT and VoID.
//! <https://lod-cloud.net/>

use super::dcat_builder::{
    DcatBuilder, Field, FieldKind, Object, Subject, list, pruned_object, scalar, scalars, take_text,
};
use super::json_entries::{EntryFault, read_entries};
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
    let is_entry = |value: &Value| {
        let has = |key: &str| value.get(key).is_some();
        has("title")
            && ["sparql", "full_download", "links", "domain"]
                .iter()
                .filter(|key| has(key))
                .count()
                >= 2
    };
    document
        .values()
        .any(is_entry)
        .then(|| document.values().collect())
}

/// Reads entries.
pub(super) fn read(entries: Vec<&Value>, path: &Path) -> Catalog {
    read_entries(entries, path, write_entry)
}

fn write_entry(entry: &Object, builder: &mut DcatBuilder) -> Result<Option<DatasetId>, EntryFault> {
    let mut entry = pruned_object(entry);
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
    for endpoint in list(entry.remove("sparql")) {
        service(&endpoint, &node, builder);
    }
    for (key, property) in [
        ("full_download", dcat::DISTRIBUTION),
        ("other_download", dcat::DISTRIBUTION),
        ("example", adms::SAMPLE),
    ] {
        for download in list(entry.remove(key)) {
            distribution(download, &node, property, builder);
        }
    }
    for link in list(entry.remove("links")) {
        linkset(link, &node, builder);
    }
    builder.extras(&node, entry);
    Ok(id)
}

fn service(endpoint: &Value, node: &Subject, builder: &mut DcatBuilder) {
    let mut rest = endpoint.as_object().cloned().unwrap_or_default();
    let address = ["access_url", "url"]
        .iter()
        .find_map(|key| take_text(&mut rest, key))
        .or_else(|| scalar(endpoint));
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
fn distribution(download: Value, node: &Subject, property: &str, builder: &mut DcatBuilder) {
    let Value::Object(mut download) = download else {
        return scalars(&download).iter().for_each(|address| {
            builder.resource(node, void::DATA_DUMP, address);
        });
    };
    let part = builder.part(node, property, dcat::DISTRIBUTION_CLASS);
    builder.fields(&part, &mut download, DISTRIBUTION);
    builder.extras(&part, download);
}

/// Adds the linkset to another dataset of the cloud, with the number of links.
fn linkset(link: Value, node: &Subject, builder: &mut DcatBuilder) {
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
