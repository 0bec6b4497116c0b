//! A registry of ontologies in the form of the OBO Foundry's. It is JSON-LD, but read by its keys: the context is
//! never fetched.
//! <https://obofoundry.org/>

use super::dcat_builder::{
    DcatBuilder, Field, FieldKind, Object, into_list, prune_object, scalar_text, take_text,
};
use super::json_entries::{EntryFault, read_entries};
use super::{Catalog, DatasetId};
use lodeseek_rdf::vocab::{adms, dcat, dcterms, foaf, skos};
use serde_json::{Value, json};
use std::path::Path;

const ONTOLOGY: &[Field] = &[
    ("title", dcterms::TITLE, FieldKind::Title),
    ("description", dcterms::DESCRIPTION, FieldKind::Text),
    ("homepage", dcat::LANDING_PAGE, FieldKind::Resource),
    ("page", foaf::PAGE, FieldKind::Resource),
    ("depicted_by", foaf::DEPICTION, FieldKind::Resource),
    ("tags", dcat::KEYWORD, FieldKind::Keywords),
    ("activity_status", adms::STATUS, FieldKind::Resource),
    ("preferredPrefix", adms::IDENTIFIER, FieldKind::Identifier),
];

const PRODUCT: &[Field] = &[
    ("ontology_purl", dcat::DOWNLOAD_URL, FieldKind::Resource),
    ("title", dcterms::TITLE, FieldKind::Title),
    ("description", dcterms::DESCRIPTION, FieldKind::Text),
];

/// Returns the ontologies of a document; `None` if it is of another dialect.
pub(super) fn entries(document: &Value) -> Option<Vec<&Value>> {
    let entries = document.get("ontologies")?.as_array()?;
    entries
        .iter()
        .any(|entry| entry.get("ontology_purl").is_some())
        .then(|| entries.iter().collect())
}

/// Reads ontologies.
pub(super) fn read(entries: Vec<&Value>, path: &Path) -> Catalog {
    read_entries(entries, path, write_entry)
}

fn write_entry(entry: &Object, builder: &mut DcatBuilder) -> Result<Option<DatasetId>, EntryFault> {
    let mut entry = prune_object(entry);
    let id = take_text(&mut entry, "id")
        .as_deref()
        .and_then(DatasetId::from_text);
    let purl = take_text(&mut entry, "ontology_purl");
    let node = builder.node(purl.as_deref());
    builder.class(&node, dcat::DATASET);
    builder.fields(&node, &mut entry, ONTOLOGY);
    if let Some(domain) = entry.remove("domain") {
        let concept = builder.part(&node, dcat::THEME, skos::CONCEPT);
        builder.title(&concept, "domain", skos::PREF_LABEL, &domain);
    }
    match entry.remove("license") {
        Some(Value::Object(mut license)) => {
            let name = license.remove("label").unwrap_or_default();
            let address = take_text(&mut license, "url").or_else(|| scalar_text(&name));
            address
                .iter()
                .for_each(|address| builder.resource(&node, dcterms::LICENSE, address));
            builder.extra(&node, "license", &name);
            builder.extra(&node, "license", &Value::Object(license));
        }
        Some(license) => builder.field(
            &node,
            "license",
            dcterms::LICENSE,
            FieldKind::Resource,
            &license,
        ),
        None => {}
    }
    match entry.remove("contact") {
        Some(Value::Object(mut contact)) => {
            if let Some(name) = contact.remove("label") {
                contact.insert("fn".to_owned(), name);
            }
            if let Some(orcid) = take_text(&mut contact, "orcid") {
                contact.insert(
                    "uri".to_owned(),
                    json!(format!("https://orcid.org/{orcid}")),
                );
            }
            builder.field(
                &node,
                "contact",
                dcat::CONTACT_POINT,
                FieldKind::Contact,
                &Value::Object(contact),
            );
        }
        Some(contact) => builder.field(
            &node,
            "contact",
            dcat::CONTACT_POINT,
            FieldKind::Contact,
            &contact,
        ),
        None => {}
    }
    for product in into_list(entry.remove("products")) {
        let Value::Object(mut product) = product else {
            builder.extra(&node, "products", &product);
            continue;
        };
        let part = builder.part(&node, dcat::DISTRIBUTION, dcat::DISTRIBUTION_CLASS);
        builder.fields(&part, &mut product, PRODUCT);
        builder.extras(&part, product);
    }
    for publication in into_list(entry.remove("publications")) {
        let Value::Object(mut publication) = publication else {
            builder.field(
                &node,
                "publications",
                dcterms::IS_REFERENCED_BY,
                FieldKind::Resource,
                &publication,
            );
            continue;
        };
        let work = builder.node(take_text(&mut publication, "id").as_deref());
        builder.add(&node, dcterms::IS_REFERENCED_BY, work.clone());
        if let Some(title) = publication.remove("title") {
            builder.title(&work, "title", dcterms::TITLE, &title);
        }
        builder.extras(&work, publication);
    }
    builder.extras(&node, entry);
    Ok(id)
}
