//! Collections of a SpatioTemporal Asset Catalog (STAC), alone or as a list of its API. Items are no datasets.
//! <https://github.com/radiantearth/stac-spec>, <https://github.com/radiantearth/stac-api-spec>

use super::ckan_licenses::license_iri;
use super::dcat_builder::{
    DcatBuilder, Field, FieldKind, Object, Subject, into_list, prune_object, scalar_text,
    scalar_texts, take_text,
};
use super::json_entries::{EntryFault, has_key, read_entries};
use super::{Catalog, DatasetId};
use lodeseek_rdf::vocab::{adms, dcat, dcterms};
use serde_json::{Value, json};
use std::path::Path;

const COLLECTION: &[Field] = &[
    ("title", dcterms::TITLE, FieldKind::Title),
    ("description", dcterms::DESCRIPTION, FieldKind::Text),
    ("keywords", dcat::KEYWORD, FieldKind::Keywords),
    ("created", dcterms::ISSUED, FieldKind::Date),
    ("updated", dcterms::MODIFIED, FieldKind::Date),
    ("version", dcat::VERSION, FieldKind::Text),
    ("stac_extensions", dcterms::CONFORMS_TO, FieldKind::Resource),
    ("sci:doi", adms::IDENTIFIER, FieldKind::Identifier),
    (
        "sci:citation",
        dcterms::BIBLIOGRAPHIC_CITATION,
        FieldKind::Text,
    ),
];
const ASSET: &[Field] = &[
    ("title", dcterms::TITLE, FieldKind::Title),
    ("description", dcterms::DESCRIPTION, FieldKind::Text),
    ("href", dcat::DOWNLOAD_URL, FieldKind::Resource),
    ("type", dcat::MEDIA_TYPE, FieldKind::MediaType),
    ("created", dcterms::ISSUED, FieldKind::Date),
    ("updated", dcterms::MODIFIED, FieldKind::Date),
    ("file:size", dcat::BYTE_SIZE, FieldKind::Number),
];
/// Licences that are none: STAC's names for several licences and for one without an SPDX name.
const NO_LICENSES: [&str; 3] = ["various", "proprietary", "other"];
/// Relations of links to other parts of the catalogue, which are not part of a description.
const NAVIGATION: [&str; 10] = [
    "self",
    "root",
    "parent",
    "collection",
    "child",
    "item",
    "items",
    "data",
    "next",
    "prev",
];
/// Relations of links that lead to further collections.
const FURTHER: [&str; 3] = ["child", "data", "next"];

/// Document of a catalogue.
pub(super) struct Document<'v> {
    pub(super) collections: Vec<&'v Value>,
    /// Addresses of further documents, as they are written.
    pub(super) links: Vec<String>,
}

/// Returns the collections of a document; `None` if it is of another dialect. The error is the reason why it has none.
pub(super) fn document(document: &Value) -> Option<Result<Document<'_>, String>> {
    if has_key(document, "stac_version") {
        let links = further_links(document);
        return Some(match document.get("type").and_then(Value::as_str) {
            Some("Feature") => Err(
                "an item of STAC, which is no dataset; use its collection (the link `collection`)"
                    .to_owned(),
            ),
            Some("Catalog") => Ok(Document {
                collections: Vec::new(),
                links,
            }),
            // Before version 1.0, a collection has no type.
            _ if document.get("extent").is_some() || document.get("license").is_some() => {
                Ok(Document {
                    collections: vec![document],
                    links,
                })
            }
            _ => Ok(Document {
                collections: Vec::new(),
                links,
            }),
        });
    }
    let collections = document.get("collections")?.as_array()?;
    if !collections.iter().any(|one| has_key(one, "stac_version")) {
        return None;
    }
    let mut links = further_links(document);
    links.retain(|_| document.get("links").is_some());
    Some(Ok(Document {
        collections: collections.iter().collect(),
        links,
    }))
}

fn find_links(value: &Value) -> impl Iterator<Item = (&str, &str)> {
    let links = value.get("links").and_then(Value::as_array);
    links
        .into_iter()
        .flatten()
        .filter_map(|link| Some((link["rel"].as_str()?, link["href"].as_str()?)))
}

fn further_links(value: &Value) -> Vec<String> {
    find_links(value)
        .filter(|(relation, _)| FURTHER.contains(relation))
        .map(|(_, address)| address.to_owned())
        .collect()
}

/// Reads collections.
pub(super) fn read(document: &Document<'_>, path: &Path) -> Catalog {
    read_entries(document.collections.iter().copied(), path, write_entry)
}

fn write_entry(
    collection: &Object,
    builder: &mut DcatBuilder,
) -> Result<Option<DatasetId>, EntryFault> {
    let mut collection = prune_object(collection);
    collection.remove("type");
    let id = take_text(&mut collection, "id");
    let node = builder.blank();
    builder.class(&node, dcat::DATASET);
    let dataset_id = id.as_deref().and_then(DatasetId::from_text);
    if let Some(id) = id {
        if dataset_id.is_none() {
            builder.extra(&node, "id", &json!(id));
        }
        collection.entry("title").or_insert(Value::String(id));
    }
    builder.fields(&node, &mut collection, COLLECTION);
    add_license(&mut collection, &node, builder);
    add_links(&mut collection, &node, builder);
    for provider in into_list(collection.remove("providers")) {
        add_provider(provider, &node, builder);
    }
    add_extent(&mut collection, &node, builder);
    if let Some(Value::Object(assets)) = collection.remove("assets") {
        for (key, asset) in assets {
            let Value::Object(mut asset) = asset else {
                builder.extra(&node, &key, &asset);
                continue;
            };
            let part = builder.part(&node, dcat::DISTRIBUTION, dcat::DISTRIBUTION_CLASS);
            asset.entry("title").or_insert(Value::String(key));
            builder.fields(&part, &mut asset, ASSET);
            builder.extras(&part, asset);
        }
    }
    builder.extras(&node, collection);
    Ok(dataset_id)
}

fn add_license(collection: &mut Object, node: &Subject, builder: &mut DcatBuilder) {
    let Some(license) = take_text(collection, "license") else {
        return;
    };
    match license_iri(&license) {
        Some(iri) => builder.resource(node, dcterms::LICENSE, &iri),
        None if NO_LICENSES.contains(&license.as_str()) => {
            let kind = FieldKind::LabelledNode(dcterms::RIGHTS_STATEMENT);
            builder.field(node, "license", dcterms::RIGHTS, kind, &json!(license));
        }
        None => builder.text(node, dcterms::LICENSE, &json!(license)),
    }
}

fn add_links(collection: &mut Object, node: &Subject, builder: &mut DcatBuilder) {
    for link in into_list(collection.remove("links")) {
        let relation = scalar_text(&link["rel"]).unwrap_or_default();
        let address = scalar_text(&link["href"]);
        let property = match relation.as_str() {
            relation if NAVIGATION.contains(&relation) => continue,
            "license" => dcterms::LICENSE,
            "about" | "canonical" | "via" => dcat::LANDING_PAGE,
            "cite-as" => dcterms::IDENTIFIER,
            "derived_from" => dcterms::SOURCE,
            _ => {
                builder.extra(node, "links", &link);
                continue;
            }
        };
        if let Some(address) = address {
            let kind = FieldKind::Resource;
            builder.field(node, "links", property, kind, &json!(address));
        }
    }
}

fn add_provider(provider: Value, node: &Subject, builder: &mut DcatBuilder) {
    let Value::Object(mut agent) = provider else {
        return builder.extra(node, "providers", &provider);
    };
    let roles = agent.get("roles").map(scalar_texts).unwrap_or_default();
    let mut properties = Vec::new();
    for role in &roles {
        properties.push(match role.as_str() {
            "producer" => dcterms::CREATOR,
            "licensor" => dcterms::RIGHTS_HOLDER,
            "host" => dcterms::PUBLISHER,
            _ => dcterms::CONTRIBUTOR,
        });
    }
    if properties.is_empty() {
        properties.push(dcterms::CONTRIBUTOR);
    }
    properties.dedup();
    let is_mapped = ["producer", "licensor", "host"];
    if roles.iter().all(|role| is_mapped.contains(&role.as_str())) {
        agent.remove("roles");
    }
    for property in properties {
        let agent = Value::Object(agent.clone());
        builder.field(node, "providers", property, FieldKind::Agent, &agent);
    }
}

/// Adds the extent. The first box and the first interval are those of the whole collection, so the others are parts of them.
fn add_extent(collection: &mut Object, node: &Subject, builder: &mut DcatBuilder) {
    let Some(Value::Object(mut extent)) = collection.remove("extent") else {
        return;
    };
    if let Some((sides, count)) = first_of_extent(&extent, "spatial", "bbox")
        && let Some(wkt) = box_of_sides(&sides)
    {
        let location = builder.part(node, dcterms::SPATIAL, dcterms::LOCATION);
        builder.geometry(&location, dcat::BBOX, &json!(wkt));
        if count == 1 && sides.len() == 4 {
            extent.remove("spatial");
        }
    }
    if let Some((ends, count)) = first_of_extent(&extent, "temporal", "interval") {
        let [start, end] = [0, 1].map(|place| ends.get(place).and_then(scalar_text));
        builder.period(node, start.as_deref(), end.as_deref());
        if count == 1 {
            extent.remove("temporal");
        }
    }
    builder.extra(node, "extent", &Value::Object(extent));
}

/// Returns the first box or interval of the extent, and the number of all.
fn first_of_extent(extent: &Object, key: &str, inner: &str) -> Option<(Vec<Value>, usize)> {
    let values = extent.get(key)?.get(inner)?.as_array()?;
    let first = values.first()?.as_array()?;
    Some((first.clone(), values.len()))
}

/// Returns the box of four or six numbers: west, south, (lowest,) east, north (, highest).
pub(super) fn box_of_sides(sides: &[Value]) -> Option<String> {
    let (west, south, east, north) = match sides {
        [west, south, east, north] => (west, south, east, north),
        [west, south, _, east, north, _] => (west, south, east, north),
        _ => return None,
    };
    let is_box = [west, south, east, north]
        .iter()
        .all(|side| side.is_number());
    is_box.then(|| {
        super::iso19139::box_wkt(
            &west.to_string(),
            &south.to_string(),
            &east.to_string(),
            &north.to_string(),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dialect;

    fn read_text(document: &Value) -> Result<Catalog, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("collection.json");
        std::fs::write(&path, document.to_string()).expect("written");
        let address = "https://stac.example.org/kilns/collection.json";
        Catalog::read_download(&path, address, Some("application/json"))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_collection_is_a_dataset() {
        let collection = json!({"type": "Collection", "id": "kilns", "stac_version": "1.1.0", "description": "Kilns from above",
            "license": "CC-BY-4.0", "extent": {"spatial": {"bbox": [[1.5, 2, 3, 4]]}, "temporal": {"interval": [["2015-01-01T00:00:00Z", null]]}},
            "providers": [{"name": "Clay Board", "roles": ["producer", "host"], "url": "https://clay.example.org/"}],
            "assets": {"list": {"href": "./list.ttl", "type": "text/turtle"}},
            "links": [{"rel": "self", "href": "x"}, {"rel": "item", "href": "./1.json"}, {"rel": "child", "href": "../ovens/collection.json"},
                {"rel": "about", "href": "https://clay.example.org/kilns"}]});
        let catalog = read_text(&collection).expect("a collection");
        assert_eq!(
            (catalog.dialect, catalog.datasets.len()),
            (Dialect::Stac, 1)
        );
        assert_eq!(
            catalog.next_pages,
            ["https://stac.example.org/ovens/collection.json"]
        );
        let dataset = &catalog.datasets[0];
        let metadata = &dataset.metadata;
        assert_eq!((metadata.id.as_str(), metadata.title()), ("kilns", "kilns"));
        assert_eq!(
            metadata.license.as_deref(),
            Some("https://creativecommons.org/licenses/by/4.0/")
        );
        assert_eq!(
            (metadata.publishers.len(), metadata.creators.len()),
            (1, 1),
            "{metadata:?}"
        );
        let place = dataset.declared_place().expect("a place");
        assert_eq!(place.bounds.to_string(), "1.5,2,3,4");
        assert_eq!(
            dataset.distributions[0].location.as_str(),
            "https://stac.example.org/kilns/list.ttl"
        );
    }

    #[test]
    fn catalogues_lead_to_collections_and_items_are_refused() {
        let catalog = json!({"type": "Catalog", "id": "c", "stac_version": "1.0.0", "description": "All", "links": [
            {"rel": "child", "href": "a/collection.json"}, {"rel": "item", "href": "i.json"}]});
        let read = read_text(&catalog).expect("a catalogue");
        assert_eq!((read.datasets.len(), read.next_pages.len()), (0, 1));
        let item = json!({"type": "Feature", "stac_version": "1.0.0", "id": "i", "properties": {}});
        let error = read_text(&item).expect_err("an item");
        assert!(error.contains("an item of STAC"), "{error}");
    }
}
