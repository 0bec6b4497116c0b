//! OGC API Records: records as GeoJSON, pages of them, and the documents that lead to them.
//! <https://docs.ogc.org/is/20-004r1/20-004r1.html>

use super::ckan_licenses::license_iri;
use super::dcat_builder::{
    DcatBuilder, Field, FieldKind, Object, Subject, into_list, prune_object, scalar_text,
    scalar_texts, take_text,
};
use super::json_entries::{EntryFault, read_entries};
use super::{Catalog, DatasetId};
use lodeseek_rdf::vocab::{adms, dcat, dcterms, foaf, locn, rdfs, skos};
use serde_json::{Value, json};
use std::path::Path;

const RECORD: &[Field] = &[
    ("title", dcterms::TITLE, FieldKind::Title),
    ("description", dcterms::DESCRIPTION, FieldKind::Text),
    ("keywords", dcat::KEYWORD, FieldKind::Keywords),
    ("created", dcterms::ISSUED, FieldKind::Date),
    ("updated", dcterms::MODIFIED, FieldKind::Date),
    (
        "rights",
        dcterms::RIGHTS,
        FieldKind::LabelledNode(dcterms::RIGHTS_STATEMENT),
    ),
    ("version", dcat::VERSION, FieldKind::Text),
    ("conformsTo", dcterms::CONFORMS_TO, FieldKind::Resource),
];
/// Types of records that are no datasets.
const OTHER_TYPES: [&str; 6] = [
    "service",
    "software",
    "document",
    "application",
    "person",
    "organization",
];
/// Relations of links to other representations and documents of the service.
const NAVIGATION: [&str; 11] = [
    "self",
    "root",
    "parent",
    "collection",
    "alternate",
    "items",
    "data",
    "next",
    "prev",
    "up",
    "conformance",
];
/// Relation of a link to a catalogue of records.
const CATALOG: &str = "/ogc-catalog";

/// Document of a service.
pub(super) struct Document<'v> {
    pub(super) records: Vec<&'v Value>,
    /// Addresses of further documents, as they are written.
    pub(super) links: Vec<String>,
}

impl Document<'_> {
    /// Creates a document without records.
    fn from_links(links: Vec<String>) -> Self {
        Self {
            records: Vec::new(),
            links,
        }
    }
}

/// Returns the records of a document; `None` if it is of another dialect. The error is the reason why it has none.
pub(super) fn document(document: &Value) -> Option<Result<Document<'_>, String>> {
    match document.get("type").and_then(Value::as_str) {
        Some("Feature") if is_record(document) => Some(Ok(Document {
            records: vec![document],
            links: Vec::new(),
        })),
        Some("Feature") => {
            let has_parts =
                document.get("properties").is_some() && document.get("geometry").is_some();
            has_parts.then(|| {
                Err("a feature of GeoJSON that is no record of OGC API Records".to_owned())
            })
        }
        Some("FeatureCollection") => {
            let features = document.get("features")?.as_array()?;
            if !features.is_empty() && !features.iter().any(is_record) {
                let reason = "features of GeoJSON that are no records of OGC API Records: data, not a catalogue";
                return Some(Err(reason.to_owned()));
            }
            let mut next = find_links(document, "next");
            // A page after the end has no features.
            next.retain(|_| !features.is_empty());
            Some(Ok(Document {
                records: features.iter().collect(),
                links: next,
            }))
        }
        _ => service_document(document),
    }
}

/// Returns the links of a landing page, of the list of collections, or of one of them.
fn service_document(document: &Value) -> Option<Result<Document<'_>, String>> {
    if let Some(collections) = document.get("collections").and_then(Value::as_array) {
        document.get("links")?;
        let catalogs = collections.iter().filter(|one| is_record_collection(one));
        let mut items: Vec<String> = catalogs.filter_map(items_link).collect();
        items.extend(find_links(document, "next"));
        if items.is_empty() {
            let reason = "collections of an OGC API, none of which is a catalogue of records (itemType `record`)";
            return Some(Err(reason.to_owned()));
        }
        return Some(Ok(Document::from_links(items)));
    }
    if is_record_collection(document) && document.get("links").is_some() {
        let items = items_link(document).into_iter().collect();
        return Some(Ok(Document::from_links(items)));
    }
    let is_landing = !find_links(document, "conformance").is_empty()
        || !find_links(
            document,
            "http://www.opengis.net/def/rel/ogc/1.0/conformance",
        )
        .is_empty();
    let mut data = find_links(document, "data");
    data.extend(find_links(
        document,
        "http://www.opengis.net/def/rel/ogc/1.0/data",
    ));
    data.truncate(1);
    if is_landing && !data.is_empty() {
        return Some(Ok(Document::from_links(data)));
    }
    let is_error = ["code", "description"]
        .iter()
        .all(|key| document.get(*key).is_some_and(Value::is_string));
    is_error.then(|| {
        let code = scalar_text(&document["code"]).unwrap_or_default();
        let description = scalar_text(&document["description"]).unwrap_or_default();
        Err(format!("an error of an OGC API: {code}: {description}"))
    })
}

fn is_record_collection(collection: &Value) -> bool {
    let is_record = collection.get("itemType").and_then(Value::as_str) == Some("record");
    let links = collection.get("links").and_then(Value::as_array);
    is_record
        || links.into_iter().flatten().any(|link| {
            let relation = link.get("rel").and_then(Value::as_str);
            relation.is_some_and(|relation| relation.ends_with(CATALOG))
        })
}

/// Returns the address of the records of a collection.
fn items_link(collection: &Value) -> Option<String> {
    find_links(collection, "items").into_iter().next()
}

/// Returns the addresses of the links with a relation. Representations in JSON are preferred to others.
fn find_links(document: &Value, relation: &str) -> Vec<String> {
    let links = document.get("links").and_then(Value::as_array);
    let mut found: Vec<(bool, String)> = Vec::new();
    for link in links.into_iter().flatten() {
        if link["rel"].as_str() == Some(relation)
            && let Some(address) = link["href"].as_str()
        {
            let kind = link["type"].as_str().unwrap_or_default();
            let is_json = kind.contains("geo+json") || kind.starts_with("application/json");
            found.push((!is_json, address.to_owned()));
        }
    }
    let has_json = found.iter().any(|(is_other, _)| !is_other);
    found.retain(|(is_other, _)| !has_json || !is_other);
    found.into_iter().map(|(_, address)| address).collect()
}

/// If true, the feature is a record: it conforms to the standard, or has a type and a title.
fn is_record(feature: &Value) -> bool {
    let conforms = feature
        .get("conformsTo")
        .map(scalar_texts)
        .unwrap_or_default()
        .iter()
        .any(|iri| iri.contains("ogcapi-records"));
    let properties = &feature["properties"];
    let has_texts = properties["title"].is_string() && properties["type"].is_string();
    feature.get("stac_version").is_none() && (conforms || has_texts && feature.get("id").is_some())
}

/// Reads records.
pub(super) fn read(document: &Document<'_>, path: &Path) -> Catalog {
    read_entries(document.records.iter().copied(), path, write_entry)
}

fn write_entry(
    record: &Object,
    builder: &mut DcatBuilder,
) -> Result<Option<DatasetId>, EntryFault> {
    let mut record = prune_object(record);
    record.remove("type");
    let id = take_text(&mut record, "id");
    let mut properties = match record.remove("properties") {
        Some(Value::Object(properties)) => properties,
        _ => return Err("the record has no properties".to_owned().into()),
    };
    let kind = take_text(&mut properties, "type");
    if let Some(kind) = kind.as_ref().filter(|kind| {
        OTHER_TYPES
            .iter()
            .any(|other| kind.eq_ignore_ascii_case(other))
    }) {
        let reason = format!("ignored: a record of the type `{kind}`, not a dataset");
        return Err(EntryFault::from_type(kind, reason));
    }
    let mut identifiers = Vec::new();
    for identifier in into_list(properties.remove("externalIds")) {
        identifiers.push(match identifier {
            Value::Object(identifier) => identifier,
            text => Object::from_iter([("value".to_owned(), text)]),
        });
    }
    let iri = identifiers.iter().find_map(|one| {
        let text = one.get("value").and_then(scalar_text)?;
        text.contains("://").then_some(text)
    });
    let node = builder.node(iri.as_deref());
    builder.class(&node, dcat::DATASET);
    let dataset_id = id.as_deref().and_then(DatasetId::from_text);
    if let (Some(id), None) = (&id, &dataset_id) {
        builder.extra(&node, "id", &json!(id));
    }
    for mut identifier in identifiers {
        let value = identifier.remove("value").unwrap_or_default();
        if iri.is_some() && scalar_text(&value) == iri {
            if !identifier.is_empty() {
                builder.extra(&node, "externalIds", &Value::Object(identifier));
            }
            continue;
        }
        let part = builder.part(&node, adms::IDENTIFIER, adms::IDENTIFIER_CLASS);
        builder.text(&part, skos::NOTATION, &value);
        builder.extras(&part, identifier);
    }
    if let Some(kind) = kind {
        builder.text(&node, dcterms::TYPE, &json!(kind));
    }
    if let Some(conforms) = record.remove("conformsTo") {
        let described = builder.part(&node, foaf::IS_PRIMARY_TOPIC_OF, dcat::CATALOG_RECORD);
        let kind = FieldKind::Resource;
        builder.field(
            &described,
            "conformsTo",
            dcterms::CONFORMS_TO,
            kind,
            &conforms,
        );
    }
    add_languages(&mut properties, &node, builder);
    builder.fields(&node, &mut properties, RECORD);
    add_themes(&mut properties, &node, builder);
    add_contacts(&mut properties, &node, builder);
    add_license(&mut properties, &node, builder);
    add_extent(&mut record, &node, builder);
    links_and_formats(&mut record, &mut properties, &node, builder);
    builder.extras(&node, properties);
    builder.extras(&node, record);
    Ok(dataset_id)
}

fn add_languages(properties: &mut Object, node: &Subject, builder: &mut DcatBuilder) {
    for language in into_list(properties.remove("language")) {
        let Value::Object(mut language) = language else {
            let (property, kind) = (dcterms::LANGUAGE, FieldKind::Resource);
            builder.field(node, "language", property, kind, &language);
            continue;
        };
        if let Some(code) = take_text(&mut language, "code") {
            builder.text(node, dcterms::LANGUAGE, &json!(code));
        }
        if !language.is_empty() {
            builder.extra(node, "language", &Value::Object(language));
        }
    }
}

fn add_themes(properties: &mut Object, node: &Subject, builder: &mut DcatBuilder) {
    for theme in into_list(properties.remove("themes")) {
        let Value::Object(mut theme) = theme else {
            builder.extra(node, "themes", &theme);
            continue;
        };
        let scheme = take_text(&mut theme, "scheme");
        for concept in into_list(theme.remove("concepts")) {
            let mut concept = match concept {
                Value::Object(concept) => concept,
                text => Object::from_iter([("id".to_owned(), text)]),
            };
            let iri = take_text(&mut concept, "url");
            let part = builder.node(iri.as_deref());
            builder.add(node, dcat::THEME, part.clone());
            builder.class(&part, skos::CONCEPT);
            let identifier = concept.remove("id");
            let label = concept.remove("title").or_else(|| identifier.clone());
            if let Some(label) = &label {
                builder.title(&part, "themes", skos::PREF_LABEL, label);
            }
            if let Some(identifier) = identifier.filter(|one| Some(one) != label.as_ref()) {
                builder.text(&part, skos::NOTATION, &identifier);
            }
            if let Some(scheme) = &scheme {
                builder.resource(&part, skos::IN_SCHEME, scheme);
            }
            builder.extras(&part, concept);
        }
        if !theme.is_empty() {
            builder.extra(node, "themes", &Value::Object(theme));
        }
    }
}

fn add_contacts(properties: &mut Object, node: &Subject, builder: &mut DcatBuilder) {
    for contact in into_list(properties.remove("contacts")) {
        let Value::Object(mut contact) = contact else {
            builder.extra(node, "contacts", &contact);
            continue;
        };
        if !contact.contains_key("name")
            && let Some(organization) = contact.remove("organization")
        {
            contact.insert("name".to_owned(), organization);
        }
        for (key, other) in [("emails", "email"), ("phones", "phone")] {
            let values: Vec<Value> = into_list(contact.remove(key))
                .into_iter()
                .map(|value| match value {
                    Value::Object(mut one) => one.remove("value").unwrap_or(Value::Object(one)),
                    value => value,
                })
                .collect();
            if !values.is_empty() {
                contact.insert(other.to_owned(), Value::Array(values));
            }
        }
        if let Some(Value::Array(links)) = contact.get("links") {
            let address = links.first().and_then(|link| link.get("href")).cloned();
            if let (1, Some(address)) = (links.len(), address) {
                contact.remove("links");
                contact.insert("url".to_owned(), address);
            }
        }
        let roles = contact.get("roles").map(scalar_texts).unwrap_or_default();
        let mut is_mapped = !roles.is_empty();
        let mut properties = Vec::new();
        for role in &roles {
            properties.push(match role.as_str() {
                "publisher" | "distributor" => (dcterms::PUBLISHER, FieldKind::Agent),
                "author" | "creator" | "originator" => (dcterms::CREATOR, FieldKind::Agent),
                "owner" | "rightsHolder" => (dcterms::RIGHTS_HOLDER, FieldKind::Agent),
                "pointOfContact" | "contact" => (dcat::CONTACT_POINT, FieldKind::Contact),
                _ => {
                    is_mapped = false;
                    (dcterms::CONTRIBUTOR, FieldKind::Agent)
                }
            });
        }
        if properties.is_empty() {
            properties.push((dcat::CONTACT_POINT, FieldKind::Contact));
        }
        properties.dedup();
        if is_mapped {
            contact.remove("roles");
        }
        for (property, kind) in properties {
            let agent = Value::Object(contact.clone());
            builder.field(node, "contacts", property, kind, &agent);
        }
    }
}

fn add_license(properties: &mut Object, node: &Subject, builder: &mut DcatBuilder) {
    if let Some(license) = take_text(properties, "license") {
        match license_iri(&license) {
            Some(iri) => builder.resource(node, dcterms::LICENSE, &iri),
            None => builder.resource(node, dcterms::LICENSE, &license),
        }
    }
}

fn add_extent(record: &mut Object, node: &Subject, builder: &mut DcatBuilder) {
    if let Some(geometry) = record.remove("geometry") {
        let location = builder.part(node, dcterms::SPATIAL, dcterms::LOCATION);
        builder.geometry(&location, locn::GEOMETRY, &geometry);
    }
    let Some(Value::Object(mut time)) = record.remove("time") else {
        return;
    };
    if let Some(interval) = time.remove("interval") {
        let ends: Vec<Value> = into_list(Some(interval));
        let [start, end] = [0, 1].map(|place| ends.get(place).and_then(scalar_text));
        builder.period(node, start.as_deref(), end.as_deref());
    }
    for key in ["date", "timestamp"] {
        if let Some(moment) = take_text(&mut time, key) {
            builder.period(node, Some(&moment), Some(&moment));
        }
    }
    if let Some(resolution) = time.remove("resolution") {
        let (property, kind) = (dcat::TEMPORAL_RESOLUTION, FieldKind::Duration);
        builder.field(node, "resolution", property, kind, &resolution);
    }
    if !time.is_empty() {
        builder.extra(node, "time", &Value::Object(time));
    }
}

/// Adds links, and the formats of the only distribution that has none.
fn links_and_formats(
    record: &mut Object,
    properties: &mut Object,
    node: &Subject,
    builder: &mut DcatBuilder,
) {
    for link in into_list(record.remove("links")) {
        let Value::Object(mut link) = link else {
            builder.extra(node, "links", &link);
            continue;
        };
        let relation = take_text(&mut link, "rel").unwrap_or_default();
        if NAVIGATION.contains(&relation.as_str()) || relation.ends_with(CATALOG) {
            continue;
        }
        let Some(address) = take_text(&mut link, "href") else {
            builder.extra(node, "links", &Value::Object(link));
            continue;
        };
        let property = match relation.as_str() {
            "license" => dcterms::LICENSE,
            "about" | "canonical" => dcat::LANDING_PAGE,
            "describedby" => foaf::PAGE,
            "preview" => foaf::DEPICTION,
            "enclosure" | "item" | "download" | "" => {
                let part = builder.part(node, dcat::DISTRIBUTION, dcat::DISTRIBUTION_CLASS);
                builder.resource(&part, dcat::DOWNLOAD_URL, &address);
                let fields: &[Field] = &[
                    ("title", dcterms::TITLE, FieldKind::Title),
                    ("type", dcat::MEDIA_TYPE, FieldKind::MediaType),
                    ("length", dcat::BYTE_SIZE, FieldKind::Number),
                    ("updated", dcterms::MODIFIED, FieldKind::Date),
                ];
                builder.fields(&part, &mut link, fields);
                builder.extras(&part, link);
                continue;
            }
            "service" => {
                let part = builder.part(node, dcat::DISTRIBUTION, dcat::DISTRIBUTION_CLASS);
                builder.resource(&part, dcat::ACCESS_URL, &address);
                let service = builder.part(&part, dcat::ACCESS_SERVICE, dcat::DATA_SERVICE);
                builder.resource(&service, dcat::ENDPOINT_URL, &address);
                let fields: &[Field] = &[("title", dcterms::TITLE, FieldKind::Title)];
                builder.fields(&service, &mut link, fields);
                builder.extras(&service, link);
                continue;
            }
            _ => {
                link.insert("rel".to_owned(), json!(relation));
                link.insert("href".to_owned(), json!(address));
                builder.extra(node, "links", &Value::Object(link));
                continue;
            }
        };
        builder.resource(node, property, &address);
        link.remove("type");
        if !link.is_empty() {
            builder.extra(node, "links", &Value::Object(link));
        }
    }
    for format in into_list(properties.remove("formats")) {
        let Value::Object(mut format) = format else {
            builder.field(
                node,
                "formats",
                dcterms::FORMAT,
                FieldKind::Resource,
                &format,
            );
            continue;
        };
        let declared = builder.part(node, dcterms::FORMAT, dcterms::MEDIA_TYPE_OR_EXTENT);
        for key in ["mediaType", "name"] {
            if let Some(value) = format.remove(key) {
                builder.text(&declared, rdfs::LABEL, &value);
            }
        }
        builder.extras(&declared, format);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dialect;

    fn read_text(document: &Value) -> Result<Catalog, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("items.json");
        std::fs::write(&path, document.to_string()).expect("written");
        let address = "https://records.example.org/collections/meta/items";
        Catalog::read_download(&path, address, Some("application/geo+json"))
            .map_err(|error| error.to_string())
    }

    fn record(id: &str, kind: &str) -> Value {
        json!({"type": "Feature", "id": id, "conformsTo": ["http://www.opengis.net/spec/ogcapi-records-1/1.0/req/record-core"],
            "geometry": {"type": "Polygon", "coordinates": [[[1, 2], [3, 2], [3, 4], [1, 4], [1, 2]]]},
            "time": {"interval": ["2015-01-01", ".."], "resolution": "P1Y"},
            "properties": {"type": kind, "title": format!("Kilns {id}"), "keywords": ["clay"], "language": {"code": "en"},
                "externalIds": [{"value": format!("https://clay.example.org/{id}")}],
                "themes": [{"concepts": [{"id": "craft"}], "scheme": "https://clay.example.org/themes"}],
                "contacts": [{"organization": "Clay Board", "emails": [{"value": "a@clay.example.org"}], "roles": ["publisher"]}],
                "license": "CC-BY-4.0", "formats": [{"mediaType": "text/turtle"}]},
            "links": [{"rel": "enclosure", "href": "https://clay.example.org/k.ttl", "type": "text/turtle", "length": 7},
                {"rel": "self", "href": "x"}, {"rel": "about", "href": "https://clay.example.org/page"}]})
    }

    #[test]
    fn a_page_has_records_and_a_next_page() {
        let page = json!({"type": "FeatureCollection", "features": [record("a", "dataset"), record("b", "service")],
            "numberMatched": 9, "links": [{"rel": "next", "type": "text/html", "href": "?f=html"}, {"rel": "next", "type": "application/geo+json", "href": "?offset=2"}]});
        let catalog = read_text(&page).expect("a page");
        assert_eq!(
            (catalog.dialect, catalog.datasets.len()),
            (Dialect::OgcRecords, 1)
        );
        assert_eq!(
            catalog.next_pages,
            ["https://records.example.org/collections/meta/items?offset=2"]
        );
        assert!(
            catalog.problems[0].contains("the type `service`"),
            "{:?}",
            catalog.problems
        );
        let dataset = &catalog.datasets[0];
        let metadata = &dataset.metadata;
        assert_eq!(
            metadata.source.as_deref(),
            Some("https://clay.example.org/a")
        );
        assert_eq!(metadata.publishers[0].name, "Clay Board");
        assert_eq!(
            metadata.license.as_deref(),
            Some("https://creativecommons.org/licenses/by/4.0/")
        );
        assert_eq!(
            dataset.distributions[0].location.as_str(),
            "https://clay.example.org/k.ttl"
        );
        assert_eq!(
            dataset
                .declared_place()
                .expect("a place")
                .bounds
                .to_string(),
            "1,2,3,4"
        );
    }

    #[test]
    fn documents_of_a_service_lead_to_records() {
        let landing = json!({"links": [{"rel": "conformance", "href": "/conformance"}, {"rel": "data", "type": "application/json", "href": "/collections?f=json"}]});
        assert_eq!(
            read_text(&landing).expect("a landing page").next_pages,
            ["https://records.example.org/collections?f=json"]
        );
        let collections = json!({"collections": [{"id": "meta", "itemType": "record", "links": [{"rel": "items", "type": "application/geo+json", "href": "/collections/meta/items?f=json"}]},
            {"id": "roads", "itemType": "feature", "links": []}], "links": []});
        assert_eq!(
            read_text(&collections).expect("collections").next_pages,
            ["https://records.example.org/collections/meta/items?f=json"]
        );
        for (document, reason) in [
            (
                json!({"collections": [{"id": "roads"}], "links": []}),
                "none of which is a catalogue",
            ),
            (
                json!({"type": "FeatureCollection", "features": [{"type": "Feature", "properties": {"height": 3}, "geometry": null}]}),
                "no records",
            ),
            (
                json!({"code": "InvalidParameterValue", "description": "limit"}),
                "an error of an OGC API: InvalidParameterValue",
            ),
        ] {
            let error = read_text(&document).expect_err(reason);
            assert!(error.contains(reason), "{error}");
        }
    }
}
