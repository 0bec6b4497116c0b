//! Project Open Data's `data.json`, versions 1.0 (a list) and 1.1 (a catalogue), and lists of other portals with the
//! same keys.
//! <https://resources.data.gov/resources/dcat-us/>

use super::dcat_builder::{
    DcatBuilder, Field, FieldKind, Object, Subject, prune_object, take_text,
};
use super::json_entries::{EntryFault, has_key, read_entries};
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
    (
        "rights",
        dcterms::RIGHTS,
        FieldKind::LabelledNode(dcterms::RIGHTS_STATEMENT),
    ),
    (
        "accessLevel",
        dcterms::ACCESS_RIGHTS,
        FieldKind::LabelledNode(dcterms::RIGHTS_STATEMENT),
    ),
    (
        "accrualPeriodicity",
        dcterms::ACCRUAL_PERIODICITY,
        FieldKind::Resource,
    ),
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
        Value::Array(entries) => entries
            .iter()
            .any(is_entry)
            .then(|| (entries.iter().collect(), Object::new())),
        Value::Object(catalog) => {
            let entries: Vec<&Value> = match catalog.get("dataset") {
                Some(Value::Array(entries)) if is_plain(catalog) => entries.iter().collect(),
                Some(entry @ Value::Object(_)) if is_plain(catalog) && is_entry(entry) => {
                    vec![entry]
                }
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
    catalog.get("@context").is_none_or(|context| {
        context
            .as_str()
            .is_some_and(|iri| iri.contains("project-open-data"))
    })
}

/// If true, the value is a dataset with the keys of the schema. It may have the class of the schema, but is no JSON-LD.
pub(super) fn is_entry(value: &Value) -> bool {
    let linked = ["@context", "@graph", "dataset_id"]
        .iter()
        .any(|key| has_key(value, key));
    let class = value
        .get("@type")
        .and_then(Value::as_str)
        .unwrap_or("dcat:Dataset");
    let is_own = class.strip_prefix("dcat:").unwrap_or(class) == "Dataset"
        && (!has_key(value, "@id") || has_key(value, "accessLevel"));
    let keys = [
        "distribution",
        "accessLevel",
        "landingPage",
        "keyword",
        "accessURL",
    ];
    !linked && is_own && has_key(value, "title") && keys.iter().any(|key| has_key(value, key))
}

/// Reads entries.
pub(super) fn read((entries, header): (Vec<&Value>, Object), path: &Path) -> Catalog {
    let mut catalog = read_entries(entries, path, |entry, builder| {
        write_entry(entry, &header, builder)
    });
    catalog.other_resources.catalogs = usize::from(!header.is_empty());
    catalog
}

/// Writes an entry without a header.
pub(super) fn write_single(
    entry: &Object,
    builder: &mut DcatBuilder,
) -> Result<Option<DatasetId>, EntryFault> {
    write_entry(entry, &Object::new(), builder)
}

fn write_entry(
    entry: &Object,
    header: &Object,
    builder: &mut DcatBuilder,
) -> Result<Option<DatasetId>, EntryFault> {
    let mut entry = prune_object(entry);
    let iri = take_text(&mut entry, "@id");
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
    builder.field(
        &node,
        "contactPoint",
        dcat::CONTACT_POINT,
        FieldKind::Contact,
        &contact,
    );
    add_distributions(&mut entry, &node, builder);
    if !header.is_empty() {
        let catalog = builder.part(&node, dcterms::IS_PART_OF, dcat::CATALOG);
        let mut header = prune_object(header);
        builder.fields(&catalog, &mut header, HEADER);
        builder.extras(&catalog, header);
    }
    builder.extras(&node, entry);
    Ok(None)
}

/// Adds the distributions. In version 1.0 the dataset itself has the keys of one distribution, and a web service.
fn add_distributions(entry: &mut Object, node: &Subject, builder: &mut DcatBuilder) {
    let mut all = match entry.remove("distribution") {
        Some(Value::Array(all)) => all,
        Some(one) => vec![one],
        None => Vec::new(),
    };
    let own: Object = ["accessURL", "format"]
        .iter()
        .filter_map(|key| Some(((*key).to_owned(), entry.remove(*key)?)))
        .collect();
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
        let iri = take_text(&mut distribution, "@id");
        let part = builder.node(iri.as_deref());
        builder.add(node, dcat::DISTRIBUTION, part.clone());
        builder.class(&part, dcat::DISTRIBUTION_CLASS);
        builder.declared_class(&part, &mut distribution, &["Distribution"]);
        builder.fields(&part, &mut distribution, DISTRIBUTION);
        builder.extras(&part, distribution);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_one(entry: Value) -> crate::Dataset {
        let document = json!({"dataset": [entry]});
        let mut catalog = read(entries(&document).expect("entries"), Path::new("data.json"));
        assert!(catalog.problems.is_empty(), "{:?}", catalog.problems);
        catalog.datasets.remove(0)
    }

    #[test]
    fn documents_are_catalogues_lists_or_single_entries() {
        let entry = json!({"@type": "dcat:Dataset", "title": "Kilns", "accessLevel": "public"});
        for document in [
            json!({"dataset": [entry]}),
            json!({"conformsTo": "https://project-open-data.cio.gov/v1.1/schema", "dataset": entry}),
            json!([entry]),
            entry.clone(),
        ] {
            assert_eq!(
                entries(&document).expect("entries").0,
                [&entry],
                "{document}"
            );
        }
        for document in [
            json!({"@context": "https://schema.org/", "title": "Kilns", "keyword": []}),
            json!({"@type": "sc:Dataset", "title": "Kilns", "keyword": []}),
            json!({"title": "Kilns"}),
        ] {
            assert!(entries(&document).is_none(), "{document}");
        }
    }

    #[test]
    fn places_have_the_forms_of_federal_feeds() {
        let bounds = |spatial: &Value| {
            let dataset = read_one(
                json!({"title": "Kilns", "identifier": "k", "accessLevel": "public", "spatial": spatial}),
            );
            dataset
                .declared_place()
                .map(|place| place.bounds.to_string())
        };
        let polygon = json!({"type": "Polygon", "coordinates": [[[-84.9, 33.5], [-84.2, 33.5], [-84.2, 33.9], [-84.9, 33.5]]]});
        for spatial in [
            polygon.clone(),
            Value::String(polygon.to_string()),
            json!({"type": "Feature", "properties": {"name": "Kiln Valley"}, "geometry": polygon}),
            json!({"type": "FeatureCollection", "features": [{"type": "Feature", "geometry": polygon}]}),
            json!({"type": "envelope", "coordinates": [[-84.9, 33.5], [-84.2, 33.9]]}),
            json!({"xmin": -84.9, "ymin": 33.5, "xmax": -84.2, "ymax": 33.9}),
            json!([-84.9, 33.5, -84.2, 33.9]),
            json!("-84.9,33.5,-84.2,33.9"),
            json!("-84.9 33.5 -84.2 33.9"),
            json!("ENVELOPE(-84.9, -84.2, 33.9, 33.5)"),
            json!("POLYGON ((-84.9 33.5, -84.2 33.5, -84.2 33.9, -84.9 33.5))"),
            json!(
                "<gml:Envelope srsName=\"urn:ogc:def:crs:EPSG::4326\"><gml:lowerCorner>33.5 -84.9</gml:lowerCorner><gml:upperCorner>33.9 -84.2</gml:upperCorner></gml:Envelope>"
            ),
            json!(["Kiln Valley", "-84.9,33.5,-84.2,33.9"]),
            json!({"@type": "Location", "prefLabel": "Kiln Valley", "bbox": [-84.9, 33.5, -84.2, 33.9]}),
        ] {
            assert_eq!(
                bounds(&spatial).as_deref(),
                Some("-84.9,33.5,-84.2,33.9"),
                "{spatial}"
            );
        }
        for spatial in [
            json!("Kiln Valley, Clay County, Ohio, United States"),
            json!("http://sws.geonames.org/4509177/"),
            json!(""),
        ] {
            assert_eq!(bounds(&spatial), None, "{spatial}");
        }
    }

    #[test]
    fn titles_and_names_are_plain_and_descriptions_as_published() {
        let dataset = read_one(
            json!({"title": "Kilns &amp; ovens", "identifier": "k", "accessLevel": "public",
            "description": "<p>Kilns &amp; ovens</p>", "keyword": ["brick &amp; tile"], "publisher": {"name": "Clay &#39;Board&#39;"},
            "temporal": "2010-01-01/P1Y"}),
        );
        let metadata = &dataset.metadata;
        assert_eq!(
            (metadata.title(), metadata.description()),
            ("Kilns & ovens", Some("<p>Kilns &amp; ovens</p>"))
        );
        assert_eq!(
            (
                metadata.keywords[0].value.as_str(),
                metadata.publishers[0].name.as_str()
            ),
            ("brick & tile", "Clay 'Board'")
        );
        assert_eq!(
            dataset
                .declared_period()
                .map(|one| one.period.to_string())
                .as_deref(),
            Some("2010")
        );
    }
}
