//! A dataset by schema.org, as search engines for datasets read it from its page.
//! <https://schema.org/Dataset>, <https://developers.google.com/search/docs/appearance/structured-data/dataset>

use crate::portal::metadata::{Checksum, File, Party, PortalMetadata};
use lodeseek_catalog::{Scheme, Work};
use lodeseek_engine::Card;
use lodeseek_rdf::{local_name, vocab, words};
use serde_json::{Map, Value, json};

/// Characters of a description: fewer are refused by who reads it, more are cut there.
const DESCRIPTION: std::ops::RangeInclusive<usize> = 50..=5000;
/// Properties of the content that are named.
const VARIABLES: usize = 50;

/// The description for a `<script>` of JSON-LD: no text in it can end the script.
pub(crate) fn script(described: &PortalMetadata, card: &Card, base: &str) -> String {
    dataset(described, card, base).to_string().replace('<', "\\u003c")
}

/// The description.
fn dataset(described: &PortalMetadata, card: &Card, base: &str) -> Value {
    let metadata = &described.dataset.metadata;
    let mut value = common(described, Some(card));
    let mut add = |key: &str, more: Value| value.extend((!is_empty(&more)).then(|| (key.to_owned(), more)));
    let identifiers: Vec<&str> =
        [described.iri.as_str()].into_iter().chain(described.identifiers.iter().map(String::as_str)).collect();
    let variables = card
        .profile
        .properties
        .iter()
        .take(VARIABLES)
        .map(|(iri, _)| json!({ "@type": "PropertyValue", "name": words(local_name(iri)), "propertyID": iri }));
    let known: Vec<&String> = metadata.source.iter().chain(&metadata.landing_page).collect();
    add("@context", json!(vocab::schema::NAMESPACE));
    add("@id", json!(described.iri));
    add("@type", json!("Dataset"));
    add("identifier", json!(identifiers));
    add("sameAs", json!(known));
    let languages = described.languages.iter().map(|name| json!({ "@type": "Language", "name": name }));
    add("inLanguage", languages.collect());
    add("variableMeasured", variables.collect());
    add("isAccessibleForFree", if is_open(described) { json!(true) } else { Value::Null });
    add("includedInDataCatalog", json!({ "@type": "DataCatalog", "name": "Lodeseek", "url": base }));
    add("distribution", described.files.iter().map(|file| download(described, file, base)).collect());
    Value::Object(value)
}

/// What a dataset's description by schema.org has in every form. Without a card a short description stays short.
pub(crate) fn common(described: &PortalMetadata, card: Option<&Card>) -> Map<String, Value> {
    let metadata = &described.dataset.metadata;
    let mut value = Map::new();
    let mut add = |key: &str, more: Value| value.extend((!is_empty(&more)).then(|| (key.to_owned(), more)));
    let names: Vec<&str> = metadata.alternatives.iter().map(|text| text.value.as_str()).collect();
    let topics = described.themes_of(Scheme::Task).chain(described.themes_of(Scheme::Modality));
    let themes = described.themes.iter().map(|theme| theme.name.clone());
    let keywords: Vec<String> = described.keywords.iter().cloned().chain(themes).chain(topics).collect();
    add("name", json!(metadata.title()));
    add("alternateName", json!(names));
    add("description", json!(description(described, card)));
    add("url", json!(described.iri));
    add("keywords", json!(keywords));
    add("license", json!(metadata.license));
    add("creator", creators(described).iter().map(agent).collect());
    add("publisher", described.publishers.first().map(agent).unwrap_or_default());
    add("datePublished", json!(metadata.issued));
    add("dateModified", json!(metadata.modified));
    add("spatialCoverage", json!(described.places));
    add("version", json!(described.version));
    add("citation", metadata.introduced_by.iter().map(|one| work(one, &described.iri)).collect());
    value
}

/// Who made it; where nobody is named, who publishes it.
fn creators(described: &PortalMetadata) -> &[Party] {
    if described.creators.is_empty() { &described.publishers } else { &described.creators }
}

/// An agent of whom a name is known: where nobody says that it is a person, an organisation.
fn agent(party: &Party) -> Value {
    let kind = if party.is_person { "Person" } else { "Organization" };
    match &party.iri {
        Some(iri) => json!({ "@type": kind, "name": party.name, "url": iri }),
        None => json!({ "@type": kind, "name": party.name }),
    }
}

/// A publication. An IRI that was made here, for want of one, leads nowhere.
fn work(work: &Work, dataset: &str) -> Value {
    let is_own = |iri: &&String| iri.strip_prefix(dataset).is_some_and(|part| part.starts_with('#'));
    let url = work.iri.as_ref().filter(|iri| !is_own(iri));
    json!({ "@type": "CreativeWork", "name": work.title, "url": url, "datePublished": work.issued })
}

/// Its own description; where that is too short to be taken, with its numbers behind.
fn description(described: &PortalMetadata, card: Option<&Card>) -> String {
    let own = described.dataset.metadata.description().unwrap_or_default();
    let mut text = own.to_owned();
    if let Some(card) = card
        && text.chars().count() < *DESCRIPTION.start()
    {
        let (title, profile) = (described.dataset.metadata.title(), &card.profile);
        let numbers = format!(
            "{title}: {} triples of {} entities, with {} classes and {} properties.",
            profile.triples, profile.entities, profile.class_count, profile.property_count
        );
        text = [own, &numbers].join(" ").trim().to_owned();
    }
    text.chars().take(*DESCRIPTION.end()).collect()
}

fn download(described: &PortalMetadata, file: &File, base: &str) -> Value {
    let mut value = json!({
        "@type": "DataDownload",
        "name": file.name(),
        "contentUrl": described.address(file, base),
        "encodingFormat": file.media(),
    });
    if let Some(bytes) = file.bytes {
        value["contentSize"] = json!(bytes.to_string());
    }
    // schema.org has no term for others.
    for checksum in &file.checksums {
        if let Checksum::Sha256(number) = checksum {
            value["sha256"] = json!(number);
        }
    }
    value
}

fn is_open(described: &PortalMetadata) -> bool {
    crate::portal::ckan::License::of(described.dataset.metadata.license.as_deref()).open
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(values) => values.is_empty(),
        _ => false,
    }
}
