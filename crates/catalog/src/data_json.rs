//! Project Open Data's `data.json`, versions 1.0 (a list) and 1.1 (a catalogue), and the lists of datasets in the same
//! keys that other portals write.
//! <https://resources.data.gov/resources/dcat-us/>

use super::sheet::{Field, Kind, Object, Sheet, Spot, read_entries, scalar};
use super::{Catalog, DatasetId};
use lodeseek_rdf::vocab::{dcat, dcterms, foaf};
use serde_json::Value;
use std::path::Path;

const DATASET: &[Field] = &[
    ("title", dcterms::TITLE, Kind::Text),
    ("description", dcterms::DESCRIPTION, Kind::Text),
    ("keyword", dcat::KEYWORD, Kind::Text),
    ("identifier", dcterms::IDENTIFIER, Kind::Thing),
    ("issued", dcterms::ISSUED, Kind::Date),
    ("modified", dcterms::MODIFIED, Kind::Date),
    ("license", dcterms::LICENSE, Kind::Thing),
    ("rights", dcterms::RIGHTS, Kind::Words(dcterms::RIGHTS_STATEMENT)),
    ("accessLevel", dcterms::ACCESS_RIGHTS, Kind::Words(dcterms::RIGHTS_STATEMENT)),
    ("accrualPeriodicity", dcterms::ACCRUAL_PERIODICITY, Kind::Thing),
    ("conformsTo", dcterms::CONFORMS_TO, Kind::Thing),
    ("language", dcterms::LANGUAGE, Kind::Thing),
    ("landingPage", dcat::LANDING_PAGE, Kind::Thing),
    ("references", dcterms::REFERENCES, Kind::Thing),
    ("theme", dcat::THEME, Kind::Thing),
    ("spatial", dcterms::SPATIAL, Kind::Thing),
    ("version", dcat::VERSION, Kind::Text),
];
const DISTRIBUTION: &[Field] = &[
    ("title", dcterms::TITLE, Kind::Text),
    ("description", dcterms::DESCRIPTION, Kind::Text),
    ("downloadURL", dcat::DOWNLOAD_URL, Kind::Thing),
    ("accessURL", dcat::ACCESS_URL, Kind::Thing),
    ("mediaType", dcat::MEDIA_TYPE, Kind::MediaType),
    ("format", dcterms::FORMAT, Kind::Thing),
    ("byteSize", dcat::BYTE_SIZE, Kind::Number),
    ("license", dcterms::LICENSE, Kind::Thing),
    ("issued", dcterms::ISSUED, Kind::Date),
    ("modified", dcterms::MODIFIED, Kind::Date),
    ("conformsTo", dcterms::CONFORMS_TO, Kind::Thing),
];
/// What the catalogue says of itself, for each of its datasets.
const HEADER: &[Field] = &[
    ("title", dcterms::TITLE, Kind::Text),
    ("description", dcterms::DESCRIPTION, Kind::Text),
    ("homepage", foaf::HOMEPAGE, Kind::Thing),
    ("issued", dcterms::ISSUED, Kind::Date),
    ("modified", dcterms::MODIFIED, Kind::Date),
    ("language", dcterms::LANGUAGE, Kind::Thing),
    ("license", dcterms::LICENSE, Kind::Thing),
    ("conformsTo", dcterms::CONFORMS_TO, Kind::Thing),
];

/// The entries of a document and what it says of itself, if it is of this form.
pub(super) fn entries(document: &Value) -> Option<(Vec<&Value>, Object)> {
    match document {
        Value::Array(entries) => entries.iter().any(is_entry).then(|| (entries.iter().collect(), Object::new())),
        Value::Object(catalog) => match catalog.get("dataset") {
            Some(Value::Array(entries)) if is_plain(catalog) => {
                let mut header = catalog.clone();
                header.retain(|key, _| key != "dataset" && !key.starts_with('@'));
                Some((entries.iter().collect(), header))
            }
            _ => is_entry(document).then(|| (vec![document], Object::new())),
        },
        _ => None,
    }
}

/// JSON-LD that brings its own context is read as such.
fn is_plain(catalog: &Object) -> bool {
    catalog.get("@context").is_none_or(|context| context.as_str().is_some_and(|iri| iri.contains("project-open-data")))
}

fn is_entry(value: &Value) -> bool {
    let has = |key: &str| value.get(key).is_some();
    let linked = ["@id", "@type", "@context", "dataset_id"].iter().any(|key| has(key));
    !linked && has("title") && ["distribution", "accessLevel", "landingPage", "keyword"].iter().any(|key| has(key))
}

/// Reads entries.
pub(super) fn read((entries, header): (Vec<&Value>, Object), path: &Path) -> Catalog {
    let mut catalog = read_entries(entries, path, |entry, sheet| describe(entry, &header, sheet));
    catalog.beside.catalogs = usize::from(!header.is_empty());
    catalog
}

fn describe(entry: &Object, header: &Object, sheet: &mut Sheet) -> Result<Option<DatasetId>, String> {
    let mut entry = entry.clone();
    entry.remove("@type");
    let iri = entry.remove("@id").and_then(|iri| scalar(&iri));
    let node = sheet.node(iri.as_deref());
    sheet.class(&node, dcat::DATASET);
    sheet.fields(&node, &mut entry, DATASET);
    sheet.agent(&node, dcterms::PUBLISHER, &entry.remove("publisher").unwrap_or_default());
    sheet.agent(&node, dcterms::CREATOR, &entry.remove("creator").unwrap_or_default());
    let contact = match (entry.remove("contactPoint"), entry.remove("mbox")) {
        (Some(Value::String(name)), address) => serde_json::json!({"fn": name, "hasEmail": address}),
        (None, Some(address)) => serde_json::json!({"hasEmail": address}),
        (contact, _) => contact.unwrap_or_default(),
    };
    sheet.contact(&node, &contact);
    if let Some(temporal) = entry.remove("temporal").and_then(|temporal| scalar(&temporal)) {
        sheet.interval(&node, &temporal);
    }
    distributions(&mut entry, &node, sheet);
    if !header.is_empty() {
        let catalog = sheet.part(&node, dcterms::IS_PART_OF, dcat::CATALOG);
        let mut header = header.clone();
        sheet.fields(&catalog, &mut header, HEADER);
        sheet.extras(&catalog, header);
    }
    sheet.extras(&node, entry);
    Ok(None)
}

/// Version 1.0 has the keys of one distribution on the dataset itself, and a web service beside it.
fn distributions(entry: &mut Object, node: &Spot, sheet: &mut Sheet) {
    let mut all = match entry.remove("distribution") {
        Some(Value::Array(all)) => all,
        Some(one @ Value::Object(_)) => vec![one],
        _ => Vec::new(),
    };
    let own: Object =
        ["accessURL", "format"].iter().filter_map(|key| Some(((*key).to_owned(), entry.remove(*key)?))).collect();
    if !own.is_empty() {
        all.push(Value::Object(own));
    }
    if let Some(service) = entry.remove("webService").filter(|service| !service.is_null()) {
        all.push(serde_json::json!({"accessURL": service}));
    }
    for distribution in all {
        let Value::Object(mut distribution) = distribution else { continue };
        distribution.remove("@type");
        let part = sheet.part(node, dcat::DISTRIBUTION, dcat::DISTRIBUTION_CLASS);
        sheet.fields(&part, &mut distribution, DISTRIBUTION);
        sheet.extras(&part, distribution);
    }
}
