//! CKAN: packages from responses of its action API, alone or in lists. The fields of its DCAT extension are read from
//! `extras` or from keys of their own.
//! <https://docs.ckan.org/en/latest/api/>

use super::dcat_builder::{DcatBuilder, Field, FieldKind, Object, Subject, first, scalar, scalars};
use super::json_entries::read_entries;
use super::{Catalog, DatasetId};
use lodeseek_rdf::vocab::{adms, dcat, dcatap, dcterms, foaf, locn, skos, spdx};
use oxrdf::Literal;
use serde_json::{Value, json};
use std::path::Path;

const PACKAGE: &[Field] = &[
    ("title", dcterms::TITLE, FieldKind::Text),
    ("title_translated", dcterms::TITLE, FieldKind::Text),
    ("notes", dcterms::DESCRIPTION, FieldKind::Text),
    ("notes_translated", dcterms::DESCRIPTION, FieldKind::Text),
    ("url", dcat::LANDING_PAGE, FieldKind::Resource),
    ("version", dcat::VERSION, FieldKind::Text),
    ("version_notes", adms::VERSION_NOTES, FieldKind::Text),
    ("issued", dcterms::ISSUED, FieldKind::Date),
    ("modified", dcterms::MODIFIED, FieldKind::Date),
    ("frequency", dcterms::ACCRUAL_PERIODICITY, FieldKind::Resource),
    ("provenance", dcterms::PROVENANCE, FieldKind::LabelledNode(dcterms::PROVENANCE_STATEMENT)),
    ("access_rights", dcterms::ACCESS_RIGHTS, FieldKind::LabelledNode(dcterms::RIGHTS_STATEMENT)),
    ("rights", dcterms::RIGHTS, FieldKind::LabelledNode(dcterms::RIGHTS_STATEMENT)),
    ("dcat_type", dcterms::TYPE, FieldKind::Resource),
    ("identifier", dcterms::IDENTIFIER, FieldKind::Resource),
    ("alternate_identifier", adms::IDENTIFIER, FieldKind::Identifier),
    ("theme", dcat::THEME, FieldKind::Resource),
    ("language", dcterms::LANGUAGE, FieldKind::Resource),
    ("documentation", foaf::PAGE, FieldKind::Resource),
    ("conforms_to", dcterms::CONFORMS_TO, FieldKind::Resource),
    ("is_referenced_by", dcterms::IS_REFERENCED_BY, FieldKind::Resource),
    ("related_resource", dcterms::RELATION, FieldKind::Resource),
    ("source", dcterms::SOURCE, FieldKind::Resource),
    ("sample", adms::SAMPLE, FieldKind::Resource),
    ("applicable_legislation", dcatap::APPLICABLE_LEGISLATION, FieldKind::Resource),
    ("hvd_category", dcatap::HVD_CATEGORY, FieldKind::Resource),
    ("temporal_resolution", dcat::TEMPORAL_RESOLUTION, FieldKind::Duration),
    ("spatial_resolution_in_meters", dcat::SPATIAL_RESOLUTION, FieldKind::Number),
    ("bbox", dcat::BBOX, FieldKind::Text),
];
const RESOURCE: &[Field] = &[
    ("name", dcterms::TITLE, FieldKind::Text),
    ("title", dcterms::TITLE, FieldKind::Text),
    ("name_translated", dcterms::TITLE, FieldKind::Text),
    ("description", dcterms::DESCRIPTION, FieldKind::Text),
    ("description_translated", dcterms::DESCRIPTION, FieldKind::Text),
    ("access_url", dcat::ACCESS_URL, FieldKind::Resource),
    ("download_url", dcat::DOWNLOAD_URL, FieldKind::Resource),
    ("format", dcterms::FORMAT, FieldKind::Resource),
    ("mimetype", dcat::MEDIA_TYPE, FieldKind::MediaType),
    ("compress_format", dcat::COMPRESS_FORMAT, FieldKind::Resource),
    ("package_format", dcat::PACKAGE_FORMAT, FieldKind::Resource),
    ("size", dcat::BYTE_SIZE, FieldKind::Number),
    ("status", adms::STATUS, FieldKind::Resource),
    ("availability", dcatap::AVAILABILITY, FieldKind::Resource),
    ("issued", dcterms::ISSUED, FieldKind::Date),
    ("created", dcterms::ISSUED, FieldKind::Date),
    ("modified", dcterms::MODIFIED, FieldKind::Date),
    ("last_modified", dcterms::MODIFIED, FieldKind::Date),
    ("license", dcterms::LICENSE, FieldKind::Resource),
    ("rights", dcterms::RIGHTS, FieldKind::LabelledNode(dcterms::RIGHTS_STATEMENT)),
    ("language", dcterms::LANGUAGE, FieldKind::Resource),
    ("conforms_to", dcterms::CONFORMS_TO, FieldKind::Resource),
    ("documentation", foaf::PAGE, FieldKind::Resource),
    ("temporal_resolution", dcat::TEMPORAL_RESOLUTION, FieldKind::Duration),
    ("spatial_resolution_in_meters", dcat::SPATIAL_RESOLUTION, FieldKind::Number),
];
const SERVICE: &[Field] = &[
    ("title", dcterms::TITLE, FieldKind::Text),
    ("description", dcterms::DESCRIPTION, FieldKind::Text),
    ("endpoint_url", dcat::ENDPOINT_URL, FieldKind::Resource),
    ("endpoint_description", dcat::ENDPOINT_DESCRIPTION, FieldKind::Resource),
    ("serves_dataset", dcat::SERVES_DATASET, FieldKind::Resource),
];

/// Returns the packages of a document; `None` if it is not CKAN's.
pub(super) fn entries(document: &Value) -> Option<Vec<&Value>> {
    let content = match document.get("result") {
        Some(result) if document.get("success").is_some() => result,
        _ => document,
    };
    match content {
        Value::Array(packages) => packages.iter().any(is_package).then(|| packages.iter().collect()),
        Value::Object(answer) => match answer.get("results") {
            Some(Value::Array(packages)) if packages.is_empty() || packages.iter().any(is_package) => {
                Some(packages.iter().collect())
            }
            _ => is_package(content).then(|| vec![content]),
        },
        _ => None,
    }
}

fn is_package(value: &Value) -> bool {
    let has = |key: &str| value.get(key).is_some();
    let is_list = |key: &str| value.get(key).is_some_and(Value::is_array);
    let keyed = value.get("extras").and_then(|extras| extras.get(0)).is_some_and(|extra| extra.get("key").is_some());
    is_list("resources") || has("owner_org") || keyed || has("notes") && (has("name") || has("id"))
}

/// Reads packages. A deleted one is reported, but does not count as unreadable: its dataset is delisted.
pub(super) fn read(packages: Vec<&Value>, path: &Path) -> Catalog {
    let deleted = packages.iter().filter(|package| is_deleted(package.get("state"))).count();
    let mut catalog = read_entries(packages, path, write_entry);
    catalog.unreadable_entries -= deleted;
    catalog
}

fn is_deleted(state: Option<&Value>) -> bool {
    state.and_then(Value::as_str) == Some("deleted")
}

fn write_entry(package: &Object, builder: &mut DcatBuilder) -> Result<Option<DatasetId>, String> {
    if is_deleted(package.get("state")) {
        return Err("ignored: its state in the portal is `deleted`".to_owned());
    }
    let mut package = with_extras(package);
    let name = first(&package, &["name", "id"]).or_else(|| first(&package, &["identifier", "title"]));
    let id = name.as_deref().and_then(DatasetId::from_text);
    let uri = package.remove("uri").and_then(|uri| scalar(&uri));
    let node = builder.node(uri.as_deref());
    builder.class(&node, dcat::DATASET);
    for key in ["id", "name"] {
        if let Some(text) =
            package.remove(key).and_then(|value| scalar(&value)).filter(|text| Some(text) != name.as_ref())
        {
            builder.value(&node, adms::IDENTIFIER, FieldKind::Identifier, &json!(text));
        }
    }
    record(&mut package, &node, builder);
    builder.fields(&node, &mut package, PACKAGE);
    keywords(&mut package, &node, builder);
    agents(&mut package, &node, builder);
    license(&mut package, &node, builder);
    places(&mut package, &node, builder);
    times(&mut package, &node, builder);
    for resource in array(package.remove("resources")) {
        if let Value::Object(resource) = resource {
            distribution(resource, &node, builder);
        }
    }
    builder.extras(&node, package);
    Ok(id)
}

/// Returns the package with its extras as keys; JSON in their values is parsed. Existing keys take precedence.
fn with_extras(package: &Object) -> Object {
    let mut package = package.clone();
    package.retain(|_, value| !value.is_null());
    for extra in array(package.remove("extras")) {
        let (Some(key), Some(value)) = (extra.get("key").and_then(Value::as_str), extra.get("value")) else { continue };
        let key = key.strip_prefix("dcat_").filter(|rest| *rest != "type").unwrap_or(key);
        let nested =
            value.as_str().filter(|text| text.starts_with(['[', '{'])).and_then(|t| serde_json::from_str(t).ok());
        package.entry(key).or_insert_with(|| nested.unwrap_or_else(|| value.clone()));
    }
    package
}

fn array(value: Option<Value>) -> Vec<Value> {
    match value {
        Some(Value::Array(values)) => values,
        Some(Value::Null) | None => Vec::new(),
        Some(other) => vec![other],
    }
}

/// Adds the dates of the catalogue record. They are also the dataset's dates if the package has no `issued` or
/// `modified`.
fn record(package: &mut Object, node: &Subject, builder: &mut DcatBuilder) {
    let dates = [("metadata_created", "issued", dcterms::ISSUED), ("metadata_modified", "modified", dcterms::MODIFIED)];
    let dates = dates.map(|(key, own, property)| (package.remove(key), own, property));
    if dates.iter().all(|(date, ..)| date.is_none()) {
        return;
    }
    let record = builder.part(node, foaf::IS_PRIMARY_TOPIC_OF, dcat::CATALOG_RECORD);
    for (date, own, property) in dates {
        if let Some(date) = date {
            builder.value(&record, property, FieldKind::Date, &date);
            package.entry(own).or_insert(date);
        }
    }
}

fn keywords(package: &mut Object, node: &Subject, builder: &mut DcatBuilder) {
    for tag in array(package.remove("tags")) {
        let name = tag.as_object().and_then(|tag| first(tag, &["display_name", "name"])).or_else(|| scalar(&tag));
        if let Some(name) = name {
            builder.add(node, dcat::KEYWORD, Literal::from(name));
        }
    }
    if let Some(translated) = package.remove("tags_translated") {
        builder.text(node, dcat::KEYWORD, &translated);
    }
    for group in array(package.remove("groups")) {
        let Some(title) = group.as_object().and_then(|group| first(group, &["title", "display_name", "name"])) else {
            continue;
        };
        let concept = builder.part(node, dcat::THEME, skos::CONCEPT);
        builder.add(&concept, skos::PREF_LABEL, Literal::from(title));
    }
}

/// Adds people and organisations, from: a key of their own, keys that begin with their role, CKAN's standard keys.
fn agents(package: &mut Object, node: &Subject, builder: &mut DcatBuilder) {
    let organization = package.get("organization").and_then(Value::as_object).cloned();
    let roles =
        [("publisher", dcterms::PUBLISHER), ("creator", dcterms::CREATOR), ("contributor", dcterms::CONTRIBUTOR)];
    for (role, property) in roles {
        let mut agent = collected(package, role, &["uri", "name", "email", "url", "type", "identifier"]);
        if agent.is_null() && role == "publisher" {
            let title = organization.as_ref().and_then(|organization| first(organization, &["title", "name"]));
            agent = title.map_or(Value::Null, Value::String);
        }
        if agent.is_null() && role == "creator" {
            let (name, email) = (package.remove("author"), package.remove("author_email"));
            if name.is_some() || email.is_some() {
                agent = json!({"name": name, "email": email});
            }
        }
        builder.agent(node, property, &agent);
    }
    let mut contact = collected(package, "contact", &["uri", "name", "email", "url", "phone", "identifier"]);
    if contact.is_null() {
        let keys = ["maintainer", "maintainer_email", "maintainer_phone"];
        let [name, email, phone] = keys.map(|key| package.remove(key));
        contact = json!({"name": name, "email": email, "phone": phone});
    }
    builder.contact(node, &contact);
}

/// Returns the key of a role, for example `publisher`, else an object made of `publisher_name`, `publisher_email` and
/// similar keys.
fn collected(package: &mut Object, role: &str, keys: &[&str]) -> Value {
    let whole = package.remove(role).filter(|value| !matches!(value, Value::Array(list) if list.is_empty()));
    let parts = keys.iter().filter_map(|key| Some(((*key).to_owned(), package.remove(&format!("{role}_{key}"))?)));
    let parts: Object = parts.collect();
    match whole {
        Some(Value::String(text)) if text.is_empty() => Value::Null,
        Some(whole) => whole,
        None if parts.is_empty() => Value::Null,
        None => Value::Object(parts),
    }
}

fn license(package: &mut Object, node: &Subject, builder: &mut DcatBuilder) {
    let [url, id, title] = ["license_url", "license_id", "license_title"].map(|key| first(package, &[key]));
    match (&url, title.as_ref().or(id.as_ref())) {
        (Some(url), _) => {
            builder.resource(node, dcterms::LICENSE, url);
            package.remove("license_url");
        }
        (None, Some(name)) => {
            builder.resource(node, dcterms::LICENSE, name);
            package.remove(if title.is_some() { "license_title" } else { "license_id" });
        }
        (None, None) => {}
    }
}

fn places(package: &mut Object, node: &Subject, builder: &mut DcatBuilder) {
    let mut coverage = array(package.remove("spatial_coverage"));
    let keys = [("spatial", "geom"), ("spatial_text", "text"), ("spatial_uri", "uri"), ("spatial_bbox", "bbox")];
    let keys = keys.into_iter().chain([("spatial_centroid", "centroid")]);
    let flat: Object = keys.filter_map(|(key, name)| Some((name.to_owned(), package.remove(key)?))).collect();
    if !flat.is_empty() {
        coverage.push(Value::Object(flat));
    }
    for place in coverage {
        let Value::Object(mut place) = place else {
            builder.value(node, dcterms::SPATIAL, FieldKind::Resource, &place);
            continue;
        };
        let uri = place.remove("uri").and_then(|uri| scalar(&uri));
        let location = builder.node(uri.as_deref());
        builder.add(node, dcterms::SPATIAL, location.clone());
        builder.class(&location, dcterms::LOCATION);
        builder.text(&location, skos::PREF_LABEL, &place.remove("text").unwrap_or_default());
        for (key, property) in [("geom", locn::GEOMETRY), ("bbox", dcat::BBOX), ("centroid", dcat::CENTROID)] {
            builder.geometry(&location, property, &place.remove(key).unwrap_or_default());
        }
        builder.extras(&location, place);
    }
}

fn times(package: &mut Object, node: &Subject, builder: &mut DcatBuilder) {
    let ends = [package.remove("temporal_start"), package.remove("temporal_end")];
    let [start, end] = ends.map(|end| end.as_ref().and_then(scalar));
    builder.period(node, start.as_deref(), end.as_deref());
    for period in array(package.remove("temporal_coverage")) {
        match period.as_object() {
            Some(period) => {
                let (start, end) = (first(period, &["start"]), first(period, &["end"]));
                builder.period(node, start.as_deref(), end.as_deref());
            }
            None => scalars(&period).iter().for_each(|text| builder.interval(node, text)),
        }
    }
}

fn distribution(mut resource: Object, node: &Subject, builder: &mut DcatBuilder) {
    let uri = resource.remove("uri").and_then(|uri| scalar(&uri));
    let part = builder.node(uri.as_deref());
    builder.add(node, dcat::DISTRIBUTION, part.clone());
    builder.class(&part, dcat::DISTRIBUTION_CLASS);
    if let Some(url) = resource.remove("url").and_then(|url| scalar(&url)) {
        let uploaded = resource.get("url_type").and_then(Value::as_str) == Some("upload");
        let key = if uploaded { "download_url" } else { "access_url" };
        if scalar(resource.get(key).unwrap_or(&Value::Null)).is_none() {
            resource.insert(key.to_owned(), Value::String(url));
        }
    }
    if let Some(hash) = resource.remove("hash").and_then(|hash| scalar(&hash)) {
        let checksum = builder.part(&part, spdx::CHECKSUM, spdx::CHECKSUM_CLASS);
        builder.typed(&checksum, spdx::CHECKSUM_VALUE, &hash, "hexBinary");
        let algorithm = resource.remove("hash_algorithm").unwrap_or_default();
        builder.value(&checksum, spdx::ALGORITHM, FieldKind::Resource, &algorithm);
    }
    for service in array(resource.remove("access_services")) {
        if let Value::Object(mut service) = service {
            let node = builder.part(&part, dcat::ACCESS_SERVICE, dcat::DATA_SERVICE);
            builder.fields(&node, &mut service, SERVICE);
            builder.extras(&node, service);
        }
    }
    builder.fields(&part, &mut resource, RESOURCE);
    builder.extras(&part, resource);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deleted_packages_are_not_unreadable() {
        let document = json!({"success": true, "result": {"count": 3, "results": [
            {"id": "1", "name": "rivers", "title": "Rivers", "state": "active", "resources": []},
            {"id": "2", "name": "lakes", "title": "Lakes", "state": "deleted", "resources": []},
            "no package",
        ]}});
        let catalog = read(entries(&document).expect("packages"), Path::new("ckan.json"));
        let ids: Vec<&str> = catalog.datasets.iter().map(|dataset| dataset.metadata.id.as_str()).collect();
        assert_eq!((ids.as_slice(), catalog.unreadable_entries), (&["rivers"][..], 1));
        assert_eq!(catalog.problems.len(), 2, "{:?}", catalog.problems);
    }
}
