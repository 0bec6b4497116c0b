//! CKAN: packages as its action API answers with them, alone or in lists, with the fields that its DCAT extension keeps
//! in `extras` or as keys of their own.
//! <https://docs.ckan.org/en/latest/api/>

use super::sheet::{Field, Kind, Object, Sheet, Spot, first, read_entries, scalar, scalars};
use super::{Catalog, DatasetId};
use lodeseek_rdf::vocab::{adms, dcat, dcatap, dcterms, foaf, locn, skos, spdx};
use oxrdf::Literal;
use serde_json::{Value, json};
use std::path::Path;

const PACKAGE: &[Field] = &[
    ("title", dcterms::TITLE, Kind::Text),
    ("title_translated", dcterms::TITLE, Kind::Text),
    ("notes", dcterms::DESCRIPTION, Kind::Text),
    ("notes_translated", dcterms::DESCRIPTION, Kind::Text),
    ("url", dcat::LANDING_PAGE, Kind::Thing),
    ("version", dcat::VERSION, Kind::Text),
    ("version_notes", adms::VERSION_NOTES, Kind::Text),
    ("issued", dcterms::ISSUED, Kind::Date),
    ("modified", dcterms::MODIFIED, Kind::Date),
    ("frequency", dcterms::ACCRUAL_PERIODICITY, Kind::Thing),
    ("provenance", dcterms::PROVENANCE, Kind::Words(dcterms::PROVENANCE_STATEMENT)),
    ("access_rights", dcterms::ACCESS_RIGHTS, Kind::Words(dcterms::RIGHTS_STATEMENT)),
    ("rights", dcterms::RIGHTS, Kind::Words(dcterms::RIGHTS_STATEMENT)),
    ("dcat_type", dcterms::TYPE, Kind::Thing),
    ("identifier", dcterms::IDENTIFIER, Kind::Thing),
    ("alternate_identifier", adms::IDENTIFIER, Kind::Identifier),
    ("theme", dcat::THEME, Kind::Thing),
    ("language", dcterms::LANGUAGE, Kind::Thing),
    ("documentation", foaf::PAGE, Kind::Thing),
    ("conforms_to", dcterms::CONFORMS_TO, Kind::Thing),
    ("is_referenced_by", dcterms::IS_REFERENCED_BY, Kind::Thing),
    ("related_resource", dcterms::RELATION, Kind::Thing),
    ("source", dcterms::SOURCE, Kind::Thing),
    ("sample", adms::SAMPLE, Kind::Thing),
    ("applicable_legislation", dcatap::APPLICABLE_LEGISLATION, Kind::Thing),
    ("hvd_category", dcatap::HVD_CATEGORY, Kind::Thing),
    ("temporal_resolution", dcat::TEMPORAL_RESOLUTION, Kind::Duration),
    ("spatial_resolution_in_meters", dcat::SPATIAL_RESOLUTION, Kind::Number),
    ("bbox", dcat::BBOX, Kind::Text),
];
const RESOURCE: &[Field] = &[
    ("name", dcterms::TITLE, Kind::Text),
    ("title", dcterms::TITLE, Kind::Text),
    ("name_translated", dcterms::TITLE, Kind::Text),
    ("description", dcterms::DESCRIPTION, Kind::Text),
    ("description_translated", dcterms::DESCRIPTION, Kind::Text),
    ("access_url", dcat::ACCESS_URL, Kind::Thing),
    ("download_url", dcat::DOWNLOAD_URL, Kind::Thing),
    ("format", dcterms::FORMAT, Kind::Thing),
    ("mimetype", dcat::MEDIA_TYPE, Kind::MediaType),
    ("compress_format", dcat::COMPRESS_FORMAT, Kind::Thing),
    ("package_format", dcat::PACKAGE_FORMAT, Kind::Thing),
    ("size", dcat::BYTE_SIZE, Kind::Number),
    ("status", adms::STATUS, Kind::Thing),
    ("availability", dcatap::AVAILABILITY, Kind::Thing),
    ("issued", dcterms::ISSUED, Kind::Date),
    ("created", dcterms::ISSUED, Kind::Date),
    ("modified", dcterms::MODIFIED, Kind::Date),
    ("last_modified", dcterms::MODIFIED, Kind::Date),
    ("license", dcterms::LICENSE, Kind::Thing),
    ("rights", dcterms::RIGHTS, Kind::Words(dcterms::RIGHTS_STATEMENT)),
    ("language", dcterms::LANGUAGE, Kind::Thing),
    ("conforms_to", dcterms::CONFORMS_TO, Kind::Thing),
    ("documentation", foaf::PAGE, Kind::Thing),
    ("temporal_resolution", dcat::TEMPORAL_RESOLUTION, Kind::Duration),
    ("spatial_resolution_in_meters", dcat::SPATIAL_RESOLUTION, Kind::Number),
];
const SERVICE: &[Field] = &[
    ("title", dcterms::TITLE, Kind::Text),
    ("description", dcterms::DESCRIPTION, Kind::Text),
    ("endpoint_url", dcat::ENDPOINT_URL, Kind::Thing),
    ("endpoint_description", dcat::ENDPOINT_DESCRIPTION, Kind::Thing),
    ("serves_dataset", dcat::SERVES_DATASET, Kind::Thing),
];

/// The packages of a document, if it is CKAN's.
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

/// Reads packages.
pub(super) fn read(packages: Vec<&Value>, path: &Path) -> Catalog {
    read_entries(packages, path, describe)
}

fn describe(package: &Object, sheet: &mut Sheet) -> Result<Option<DatasetId>, String> {
    if package.get("state").and_then(Value::as_str) == Some("deleted") {
        return Err("the portal has deleted it".to_owned());
    }
    let mut package = with_extras(package);
    let name = first(&package, &["name", "id"]).or_else(|| first(&package, &["identifier", "title"]));
    let id = name.as_deref().and_then(DatasetId::from_text);
    let uri = package.remove("uri").and_then(|uri| scalar(&uri));
    let node = sheet.node(uri.as_deref());
    sheet.class(&node, dcat::DATASET);
    for key in ["id", "name"] {
        if let Some(text) =
            package.remove(key).and_then(|value| scalar(&value)).filter(|text| Some(text) != name.as_ref())
        {
            sheet.value(&node, adms::IDENTIFIER, Kind::Identifier, &json!(text));
        }
    }
    record(&mut package, &node, sheet);
    sheet.fields(&node, &mut package, PACKAGE);
    keywords(&mut package, &node, sheet);
    agents(&mut package, &node, sheet);
    license(&mut package, &node, sheet);
    places(&mut package, &node, sheet);
    times(&mut package, &node, sheet);
    for resource in array(package.remove("resources")) {
        if let Value::Object(resource) = resource {
            distribution(resource, &node, sheet);
        }
    }
    sheet.extras(&node, package);
    Ok(id)
}

/// The package with its extras as keys, those in JSON read; its own keys win.
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

/// When the portal took the package up is of the record; of the dataset only where it says nothing better.
fn record(package: &mut Object, node: &Spot, sheet: &mut Sheet) {
    let dates = [("metadata_created", "issued", dcterms::ISSUED), ("metadata_modified", "modified", dcterms::MODIFIED)];
    let dates = dates.map(|(key, own, property)| (package.remove(key), own, property));
    if dates.iter().all(|(date, ..)| date.is_none()) {
        return;
    }
    let record = sheet.part(node, foaf::IS_PRIMARY_TOPIC_OF, dcat::CATALOG_RECORD);
    for (date, own, property) in dates {
        if let Some(date) = date {
            sheet.value(&record, property, Kind::Date, &date);
            package.entry(own).or_insert(date);
        }
    }
}

fn keywords(package: &mut Object, node: &Spot, sheet: &mut Sheet) {
    for tag in array(package.remove("tags")) {
        let name = tag.as_object().and_then(|tag| first(tag, &["display_name", "name"])).or_else(|| scalar(&tag));
        if let Some(name) = name {
            sheet.add(node, dcat::KEYWORD, Literal::from(name));
        }
    }
    if let Some(translated) = package.remove("tags_translated") {
        sheet.text(node, dcat::KEYWORD, &translated);
    }
    for group in array(package.remove("groups")) {
        let Some(title) = group.as_object().and_then(|group| first(group, &["title", "display_name", "name"])) else {
            continue;
        };
        let concept = sheet.part(node, dcat::THEME, skos::CONCEPT);
        sheet.add(&concept, skos::PREF_LABEL, Literal::from(title));
    }
}

/// People and organisations: keys of their own, else those that begin with their role, else CKAN's.
fn agents(package: &mut Object, node: &Spot, sheet: &mut Sheet) {
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
        sheet.agent(node, property, &agent);
    }
    let mut contact = collected(package, "contact", &["uri", "name", "email", "url", "phone", "identifier"]);
    if contact.is_null() {
        let keys = ["maintainer", "maintainer_email", "maintainer_phone"];
        let [name, email, phone] = keys.map(|key| package.remove(key));
        contact = json!({"name": name, "email": email, "phone": phone});
    }
    sheet.contact(node, &contact);
}

/// `publisher`, else `publisher_name`, `publisher_email` and so on, as one.
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

fn license(package: &mut Object, node: &Spot, sheet: &mut Sheet) {
    let [url, id, title] = ["license_url", "license_id", "license_title"].map(|key| first(package, &[key]));
    match (&url, title.as_ref().or(id.as_ref())) {
        (Some(url), _) => {
            sheet.thing(node, dcterms::LICENSE, url);
            package.remove("license_url");
        }
        (None, Some(name)) => {
            sheet.thing(node, dcterms::LICENSE, name);
            package.remove(if title.is_some() { "license_title" } else { "license_id" });
        }
        (None, None) => {}
    }
}

fn places(package: &mut Object, node: &Spot, sheet: &mut Sheet) {
    let mut coverage = array(package.remove("spatial_coverage"));
    let keys = [("spatial", "geom"), ("spatial_text", "text"), ("spatial_uri", "uri"), ("spatial_bbox", "bbox")];
    let keys = keys.into_iter().chain([("spatial_centroid", "centroid")]);
    let flat: Object = keys.filter_map(|(key, name)| Some((name.to_owned(), package.remove(key)?))).collect();
    if !flat.is_empty() {
        coverage.push(Value::Object(flat));
    }
    for place in coverage {
        let Value::Object(mut place) = place else {
            sheet.value(node, dcterms::SPATIAL, Kind::Thing, &place);
            continue;
        };
        let uri = place.remove("uri").and_then(|uri| scalar(&uri));
        let location = sheet.node(uri.as_deref());
        sheet.add(node, dcterms::SPATIAL, location.clone());
        sheet.class(&location, dcterms::LOCATION);
        sheet.text(&location, skos::PREF_LABEL, &place.remove("text").unwrap_or_default());
        for (key, property) in [("geom", locn::GEOMETRY), ("bbox", dcat::BBOX), ("centroid", dcat::CENTROID)] {
            sheet.geometry(&location, property, &place.remove(key).unwrap_or_default());
        }
        sheet.extras(&location, place);
    }
}

fn times(package: &mut Object, node: &Spot, sheet: &mut Sheet) {
    let ends = [package.remove("temporal_start"), package.remove("temporal_end")];
    let [start, end] = ends.map(|end| end.as_ref().and_then(scalar));
    sheet.period(node, start.as_deref(), end.as_deref());
    for period in array(package.remove("temporal_coverage")) {
        match period.as_object() {
            Some(period) => {
                let (start, end) = (first(period, &["start"]), first(period, &["end"]));
                sheet.period(node, start.as_deref(), end.as_deref());
            }
            None => scalars(&period).iter().for_each(|text| sheet.interval(node, text)),
        }
    }
}

fn distribution(mut resource: Object, node: &Spot, sheet: &mut Sheet) {
    let uri = resource.remove("uri").and_then(|uri| scalar(&uri));
    let part = sheet.node(uri.as_deref());
    sheet.add(node, dcat::DISTRIBUTION, part.clone());
    sheet.class(&part, dcat::DISTRIBUTION_CLASS);
    if let Some(url) = resource.remove("url").and_then(|url| scalar(&url)) {
        let uploaded = resource.get("url_type").and_then(Value::as_str) == Some("upload");
        let key = if uploaded { "download_url" } else { "access_url" };
        if scalar(resource.get(key).unwrap_or(&Value::Null)).is_none() {
            resource.insert(key.to_owned(), Value::String(url));
        }
    }
    if let Some(hash) = resource.remove("hash").and_then(|hash| scalar(&hash)) {
        let checksum = sheet.part(&part, spdx::CHECKSUM, spdx::CHECKSUM_CLASS);
        sheet.typed(&checksum, spdx::CHECKSUM_VALUE, &hash, "hexBinary");
        let algorithm = resource.remove("hash_algorithm").unwrap_or_default();
        sheet.value(&checksum, spdx::ALGORITHM, Kind::Thing, &algorithm);
    }
    for service in array(resource.remove("access_services")) {
        if let Value::Object(mut service) = service {
            let node = sheet.part(&part, dcat::ACCESS_SERVICE, dcat::DATA_SERVICE);
            sheet.fields(&node, &mut service, SERVICE);
            sheet.extras(&node, service);
        }
    }
    sheet.fields(&part, &mut resource, RESOURCE);
    sheet.extras(&part, resource);
}
