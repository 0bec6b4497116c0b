//! The LOD Cloud's `lod-data.json`: an object with an entry for each dataset, told as DCAT and VoID.
//! <https://lod-cloud.net/>

use super::sheet::{Field, Kind, Object, Sheet, Spot, read_entries, scalar, scalars};
use super::{Catalog, DatasetId};
use lodeseek_rdf::vocab::{adms, dcat, dcterms, foaf, skos, void};
use oxrdf::Literal;
use serde_json::Value;
use std::path::Path;

const DATASET: &[Field] = &[
    ("title", dcterms::TITLE, Kind::Text),
    ("description", dcterms::DESCRIPTION, Kind::Text),
    ("keywords", dcat::KEYWORD, Kind::Text),
    ("license", dcterms::LICENSE, Kind::Thing),
    ("website", dcat::LANDING_PAGE, Kind::Thing),
    ("image", foaf::DEPICTION, Kind::Thing),
    ("doi", adms::IDENTIFIER, Kind::Identifier),
    ("namespace", void::URI_SPACE, Kind::Text),
    ("triples", void::TRIPLES, Kind::Number),
];
const DISTRIBUTION: &[Field] = &[
    ("title", dcterms::TITLE, Kind::Text),
    ("description", dcterms::DESCRIPTION, Kind::Text),
    ("download_url", dcat::DOWNLOAD_URL, Kind::Thing),
    ("access_url", dcat::ACCESS_URL, Kind::Thing),
    ("media_type", dcat::MEDIA_TYPE, Kind::MediaType),
    ("status", adms::STATUS, Kind::Thing),
];

/// The entries of a document, if it is of this form.
pub(super) fn entries(document: &Value) -> Option<Vec<&Value>> {
    let document = document.as_object().filter(|document| !document.is_empty())?;
    let is_entry = |value: &Value| {
        let has = |key: &str| value.get(key).is_some();
        has("title") && ["sparql", "full_download", "links", "domain"].iter().filter(|key| has(key)).count() >= 2
    };
    document.values().any(is_entry).then(|| document.values().collect())
}

/// Reads entries.
pub(super) fn read(entries: Vec<&Value>, path: &Path) -> Catalog {
    read_entries(entries, path, describe)
}

fn describe(entry: &Object, sheet: &mut Sheet) -> Result<Option<DatasetId>, String> {
    let mut entry = entry.clone();
    let names = ["identifier", "_id"].map(|key| entry.remove(key).and_then(|name| scalar(&name)));
    let [name, other] = names;
    let id = name.as_deref().or(other.as_deref()).and_then(DatasetId::from_text);
    let node = sheet.blank();
    sheet.class(&node, dcat::DATASET);
    sheet.class(&node, void::DATASET);
    if let Some(other) = other.filter(|other| name.as_ref().is_some_and(|name| name != other)) {
        sheet.value(&node, adms::IDENTIFIER, Kind::Identifier, &Value::String(other));
    }
    sheet.fields(&node, &mut entry, DATASET);
    if let Some(domain) = entry.remove("domain").and_then(|domain| scalar(&domain)) {
        let concept = sheet.part(&node, dcat::THEME, skos::CONCEPT);
        sheet.add(&concept, skos::PREF_LABEL, Literal::from(domain));
    }
    sheet.agent(&node, dcterms::PUBLISHER, &entry.remove("owner").unwrap_or_default());
    sheet.contact(&node, &entry.remove("contact_point").unwrap_or_default());
    for endpoint in list(entry.remove("sparql")) {
        service(&endpoint, &node, sheet);
    }
    for (key, property) in
        [("full_download", dcat::DISTRIBUTION), ("other_download", dcat::DISTRIBUTION), ("example", adms::SAMPLE)]
    {
        for download in list(entry.remove(key)) {
            distribution(download, &node, property, sheet);
        }
    }
    for link in list(entry.remove("links")) {
        linkset(&link, &node, sheet);
    }
    sheet.extras(&node, entry);
    Ok(id)
}

fn list(value: Option<Value>) -> Vec<Value> {
    match value {
        Some(Value::Array(values)) => values,
        _ => Vec::new(),
    }
}

fn service(endpoint: &Value, node: &Spot, sheet: &mut Sheet) {
    let address =
        endpoint.get("access_url").or_else(|| endpoint.get("url")).and_then(scalar).or_else(|| scalar(endpoint));
    let Some(address) = address else { return };
    sheet.thing(node, void::SPARQL_ENDPOINT, &address);
    let distribution = sheet.part(node, dcat::DISTRIBUTION, dcat::DISTRIBUTION_CLASS);
    sheet.thing(&distribution, dcat::ACCESS_URL, &address);
    let service = sheet.part(&distribution, dcat::ACCESS_SERVICE, dcat::DATA_SERVICE);
    sheet.thing(&service, dcat::ENDPOINT_URL, &address);
    if let Value::Object(rest) = endpoint {
        let mut rest = rest.clone();
        rest.remove("access_url");
        sheet.fields(&service, &mut rest, DISTRIBUTION);
        sheet.extras(&service, rest);
    }
}

/// A download, or an example. Copies elsewhere are distributions' further addresses.
fn distribution(download: Value, node: &Spot, property: &str, sheet: &mut Sheet) {
    let Value::Object(mut download) = download else {
        return scalars(&download).iter().for_each(|address| sheet.thing(node, void::DATA_DUMP, address));
    };
    let part = sheet.part(node, property, dcat::DISTRIBUTION_CLASS);
    sheet.fields(&part, &mut download, DISTRIBUTION);
    sheet.extras(&part, download);
}

/// Links to another dataset of the cloud, with their number.
fn linkset(link: &Value, node: &Spot, sheet: &mut Sheet) {
    let Some(target) = link.get("target").and_then(scalar) else { return };
    let linkset = sheet.part(node, void::SUBSET, void::LINKSET);
    sheet.add(&linkset, void::SUBJECTS_TARGET, node.clone());
    sheet.add(&linkset, void::OBJECTS_TARGET, Literal::from(target));
    if let Some(count) = link.get("value") {
        sheet.value(&linkset, void::TRIPLES, Kind::Number, count);
    }
}
