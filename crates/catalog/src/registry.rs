//! A registry of ontologies in the form of the OBO Foundry's. It is JSON-LD, but read by its keys: the context is
//! never fetched.
//! <https://obofoundry.org/>

use super::dcat_builder::{DcatBuilder, Field, FieldKind, Object, first, scalar};
use super::json_entries::read_entries;
use super::{Catalog, DatasetId};
use lodeseek_rdf::vocab::{adms, dcat, dcterms, foaf, skos};
use oxrdf::Literal;
use serde_json::{Value, json};
use std::path::Path;

const ONTOLOGY: &[Field] = &[
    ("title", dcterms::TITLE, FieldKind::Text),
    ("description", dcterms::DESCRIPTION, FieldKind::Text),
    ("homepage", dcat::LANDING_PAGE, FieldKind::Resource),
    ("page", foaf::PAGE, FieldKind::Resource),
    ("depicted_by", foaf::DEPICTION, FieldKind::Resource),
    ("tags", dcat::KEYWORD, FieldKind::Text),
    ("activity_status", adms::STATUS, FieldKind::Resource),
    ("preferredPrefix", adms::IDENTIFIER, FieldKind::Identifier),
];

/// Returns the ontologies of a document; `None` if it is of another dialect.
pub(super) fn entries(document: &Value) -> Option<Vec<&Value>> {
    let entries = document.get("ontologies")?.as_array()?;
    entries.iter().any(|entry| entry.get("ontology_purl").is_some()).then(|| entries.iter().collect())
}

/// Reads ontologies.
pub(super) fn read(entries: Vec<&Value>, path: &Path) -> Catalog {
    read_entries(entries, path, write_entry)
}

fn write_entry(entry: &Object, builder: &mut DcatBuilder) -> Result<Option<DatasetId>, String> {
    let mut entry = entry.clone();
    let id = entry.remove("id").and_then(|id| scalar(&id)).as_deref().and_then(DatasetId::from_text);
    let purl = entry.remove("ontology_purl").and_then(|purl| scalar(&purl));
    let node = builder.node(purl.as_deref());
    builder.class(&node, dcat::DATASET);
    builder.fields(&node, &mut entry, ONTOLOGY);
    if let Some(domain) = entry.remove("domain").and_then(|domain| scalar(&domain)) {
        let concept = builder.part(&node, dcat::THEME, skos::CONCEPT);
        builder.add(&concept, skos::PREF_LABEL, Literal::from(domain));
    }
    if let Some(Value::Object(mut license)) = entry.remove("license") {
        let name = license.remove("label").unwrap_or_default();
        let address = license.remove("url").and_then(|url| scalar(&url)).or_else(|| scalar(&name));
        address.iter().for_each(|address| builder.resource(&node, dcterms::LICENSE, address));
        builder.extra(&node, "license", &name);
    }
    if let Some(Value::Object(mut contact)) = entry.remove("contact") {
        let name = contact.remove("label").unwrap_or_default();
        contact.insert("fn".to_owned(), name);
        if let Some(orcid) = contact.remove("orcid").and_then(|orcid| scalar(&orcid)) {
            contact.insert("uri".to_owned(), json!(format!("https://orcid.org/{orcid}")));
        }
        builder.contact(&node, &Value::Object(contact));
    }
    for product in entry.remove("products").as_ref().and_then(Value::as_array).into_iter().flatten() {
        let Some(product) = product.as_object() else { continue };
        let part = builder.part(&node, dcat::DISTRIBUTION, dcat::DISTRIBUTION_CLASS);
        let mut product = product.clone();
        product
            .remove("ontology_purl")
            .iter()
            .for_each(|purl| builder.value(&part, dcat::DOWNLOAD_URL, FieldKind::Resource, purl));
        product.remove("title").iter().for_each(|title| builder.text(&part, dcterms::TITLE, title));
        product.remove("description").iter().for_each(|text| builder.text(&part, dcterms::DESCRIPTION, text));
        builder.extras(&part, product);
    }
    for publication in entry.remove("publications").as_ref().and_then(Value::as_array).into_iter().flatten() {
        let Some(publication) = publication.as_object() else { continue };
        let work = builder.node(first(publication, &["id"]).as_deref());
        builder.add(&node, dcterms::IS_REFERENCED_BY, work.clone());
        first(publication, &["title"])
            .into_iter()
            .for_each(|title| builder.add(&work, dcterms::TITLE, Literal::from(title)));
    }
    builder.extras(&node, entry);
    Ok(id)
}
