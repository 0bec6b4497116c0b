//! Records of Dublin Core, as OAI-PMH (`oai_dc`) and catalogue services (`csw:Record`) have them.

use super::Format;
use super::addresses::{Address, parse_address};
use super::dcat_builder::{DcatBuilder, FieldKind, Subject};
use super::json_entries::EntryFault;
use super::languages::language_tag;
use super::xml_tree::Element;
use lodeseek_rdf::vocab::{adms, dcat, dcterms, foaf};
use serde_json::{Value, json};

/// Names of types that are datasets, in lower case.
const DATASETS: [&str; 7] = [
    "dataset",
    "info:eu-repo/semantics/dataset",
    "http://purl.org/coar/resource_type/c_ddb1",
    "http://purl.org/dc/dcmitype/dataset",
    "series",
    "nongeographicdataset",
    "collection",
];
/// Elements with a property: (local name, property, kind).
const ELEMENTS: &[(&str, &str, FieldKind)] = &[
    ("title", dcterms::TITLE, FieldKind::Title),
    ("alternative", dcterms::ALTERNATIVE, FieldKind::Title),
    ("description", dcterms::DESCRIPTION, FieldKind::Text),
    ("abstract", dcterms::DESCRIPTION, FieldKind::Text),
    ("creator", dcterms::CREATOR, FieldKind::Agent),
    ("contributor", dcterms::CONTRIBUTOR, FieldKind::Agent),
    ("publisher", dcterms::PUBLISHER, FieldKind::Agent),
    ("subject", dcat::KEYWORD, FieldKind::Title),
    ("date", dcterms::ISSUED, FieldKind::Date),
    ("issued", dcterms::ISSUED, FieldKind::Date),
    ("modified", dcterms::MODIFIED, FieldKind::Date),
    ("created", dcterms::CREATED, FieldKind::Date),
    ("language", dcterms::LANGUAGE, FieldKind::Resource),
    ("relation", dcterms::RELATION, FieldKind::Resource),
    ("source", dcterms::SOURCE, FieldKind::Resource),
    ("coverage", dcterms::SPATIAL, FieldKind::Place),
    ("spatial", dcterms::SPATIAL, FieldKind::Place),
    ("temporal", dcterms::TEMPORAL, FieldKind::Period),
    ("license", dcterms::LICENSE, FieldKind::Resource),
    ("type", dcterms::TYPE, FieldKind::Resource),
    ("format", dcterms::FORMAT, FieldKind::Resource),
];

/// Returns true if an element is a record.
pub(super) fn is_record(element: &Element) -> bool {
    let namespace = &*element.namespace;
    namespace.starts_with("http://www.openarchives.org/OAI/2.0/oai_dc")
        || namespace.starts_with("http://www.opengis.net/cat/csw")
            && matches!(&*element.name, "Record" | "SummaryRecord" | "BriefRecord")
        || namespace.starts_with("http://purl.org/dc/")
}

/// Writes a record. Returns true if the dataset has an IRI.
pub(super) fn write(
    mut record: Element,
    identifier: Option<&str>,
    builder: &mut DcatBuilder,
) -> Result<bool, EntryFault> {
    if record.leaves(&|_| true).is_empty() {
        return Err("the record has no content".to_owned().into());
    }
    let types: Vec<String> = record.all("type").map(Element::text).collect();
    let is_dataset = types
        .iter()
        .any(|kind| DATASETS.contains(&kind.to_ascii_lowercase().as_str()));
    if !types.is_empty() && !is_dataset {
        let title = record.text_at("title").unwrap_or_default();
        let kind = &types[0];
        let reason =
            format!("ignored: {title:?} is a resource of the type `{kind}`, not a dataset");
        return Err(EntryFault::from_type(kind, reason));
    }
    let identifiers: Vec<String> = record
        .take("identifier")
        .iter()
        .map(Element::text)
        .filter(|text| !text.is_empty())
        .collect();
    let iris: Vec<String> = identifiers.iter().filter_map(|text| iri_of(text)).collect();
    let doi = iris.iter().find(|iri| iri.contains("//doi.org/"));
    let iri = doi.or_else(|| iris.iter().find(|iri| Format::from_path(iri).is_none()));
    let node = builder.node(iri.map(String::as_str).or(identifier));
    builder.class(&node, dcat::DATASET);
    if let Some(iri) = iri {
        builder.resource(&node, dcat::LANDING_PAGE, iri);
    }
    let formats: Vec<String> = record.all("format").map(Element::text).collect();
    let mut has_file = false;
    for text in &identifiers {
        let own = iri_of(text);
        match &own {
            Some(one) if Some(one) == iri => {}
            Some(one) if Format::from_path(one).is_some() => {
                has_file = true;
                add_file(builder, &node, one, &formats);
            }
            _ => {
                let kind = FieldKind::Identifier;
                builder.field(&node, "identifier", adms::IDENTIFIER, kind, &json!(text));
            }
        }
    }
    for reference in record
        .take("references")
        .into_iter()
        .chain(record.take("URI"))
    {
        let address = reference.text();
        let protocol = ["scheme", "protocol"]
            .iter()
            .find_map(|name| reference.attribute(name));
        let protocol = protocol.unwrap_or_default().to_ascii_uppercase();
        if protocol.contains("DOWNLOAD") || Format::from_path(&address).is_some() {
            has_file = true;
            add_file(builder, &node, &address, &formats);
        } else {
            builder.resource(&node, foaf::PAGE, &address);
        }
    }
    if has_file && formats.len() == 1 {
        record.take("format");
    }
    add_rights(&mut record, &node, builder);
    for element in record.take_elements() {
        let text = element.text();
        let language = element.attribute("lang").and_then(language_tag);
        let mapping = ELEMENTS.iter().find(|(name, ..)| *name == &*element.name);
        match mapping {
            Some((name, property, kind)) if !text.is_empty() => {
                builder.add_field_in_language(
                    &node,
                    name,
                    property,
                    *kind,
                    &Value::String(text),
                    language.as_deref(),
                );
            }
            _ => {
                if let Some(wkt) = box_of(&element) {
                    let place = builder.part(&node, dcterms::SPATIAL, dcterms::LOCATION);
                    builder.geometry(&place, dcat::BBOX, &json!(wkt));
                } else {
                    for leaf in element.leaves(&|_| true) {
                        builder.extra(&node, &leaf.path, &json!(leaf.text));
                    }
                }
            }
        }
    }
    Ok(iri.is_some())
}

/// Returns the IRI of an identifier: an address, or a DOI.
fn iri_of(text: &str) -> Option<String> {
    let bare = text.trim_start_matches("doi:");
    if bare.starts_with("10.") && bare.contains('/') {
        return match parse_address(&format!("https://doi.org/{bare}")) {
            Address::Iri(iri) => Some(iri),
            _ => None,
        };
    }
    let text = text
        .strip_prefix("http://dx.doi.org/")
        .map(|rest| format!("https://doi.org/{rest}"))
        .unwrap_or_else(|| text.to_owned());
    match parse_address(&text) {
        Address::Iri(iri) if iri.contains("://") => Some(iri),
        _ => None,
    }
}

fn add_file(builder: &mut DcatBuilder, node: &Subject, address: &str, formats: &[String]) {
    let part = builder.part(node, dcat::DISTRIBUTION, dcat::DISTRIBUTION_CLASS);
    builder.resource(&part, dcat::DOWNLOAD_URL, address);
    builder.resource(&part, dcat::ACCESS_URL, address);
    if let [format] = formats {
        let kind = FieldKind::MediaType;
        builder.field(&part, "format", dcat::MEDIA_TYPE, kind, &json!(format));
    }
}

/// Adds rights: IRIs of licences and of access, and texts.
fn add_rights(record: &mut Element, node: &Subject, builder: &mut DcatBuilder) {
    let mut elements = record.take("rights");
    elements.append(&mut record.take("accessRights"));
    for element in elements {
        let text = element.text();
        let language = element.attribute("lang").and_then(language_tag);
        let property = match parse_address(&text) {
            Address::Iri(iri) if iri.contains("/semantics/") || iri.contains("/access_right/") => {
                dcterms::ACCESS_RIGHTS
            }
            Address::Iri(_) => dcterms::LICENSE,
            _ => dcterms::RIGHTS,
        };
        let kind = FieldKind::LabelledNode(dcterms::RIGHTS_STATEMENT);
        builder.add_field_in_language(
            node,
            "rights",
            property,
            kind,
            &json!(text),
            language.as_deref(),
        );
    }
}

/// Returns the box of an element with corners, latitude first, as catalogue services write it.
fn box_of(element: &Element) -> Option<String> {
    let system = element.attribute("crs").unwrap_or_default();
    let (one, other) = read_corner(element, "LowerCorner")?;
    let (three, four) = read_corner(element, "UpperCorner")?;
    let all = [&one, &other, &three, &four];
    if !all
        .iter()
        .all(|number| number.parse::<f64>().is_ok_and(f64::is_finite))
    {
        return None;
    }
    // Catalogue services write the latitude first, except in CRS 84.
    Some(if system.contains("CRS84") {
        super::iso19139::box_wkt(&one, &other, &three, &four)
    } else {
        super::iso19139::box_wkt(&other, &one, &four, &three)
    })
}

/// Returns the two numbers of a corner, as they are written.
fn read_corner(element: &Element, name: &str) -> Option<(String, String)> {
    let text = element.text_at(name)?;
    let mut numbers = text.split_ascii_whitespace().map(str::to_owned);
    Some((numbers.next()?, numbers.next()?))
}
