//! Metadata of a dataset in schema.org, for dataset search engines.
//! <https://schema.org/Dataset>, <https://developers.google.com/search/docs/appearance/structured-data/dataset>

use crate::portal::metadata::{
    AgentKind, Checksum, File, Party, PortalMetadata, Term, distinct, iso_date,
};
use crate::text::{is_fragment_of, is_web};
use lodeseek_catalog::{
    BoundingBox, Node, Period, Scheme, Value as ObjectValue, Work, is_stated_license, plain_text,
};
use lodeseek_engine::{Card, PlaceCoverage};
use lodeseek_rdf::{local_name, vocab, words};
use serde_json::{Map, Value, json};

/// Maximum number of characters of a description in the markup of a page. Consumers cut longer ones.
const MAX_DESCRIPTION_CHARS: usize = 5000;
/// Maximum number of properties listed as variables.
const MAX_VARIABLES: usize = 50;
/// Maximum number of places.
const MAX_PLACES: usize = 50;

/// Serializes the description for a `<script>` element of JSON-LD, escaped so that it cannot end the element. `own` is the
/// address of the page, `base` the first part of links, `portal` the name of the catalogue.
pub(crate) fn script(
    described: &PortalMetadata,
    card: &Card,
    own: &str,
    base: &str,
    portal: &str,
) -> String {
    describe_dataset(described, card, own, base, portal)
        .to_string()
        .replace('<', "\\u003c")
}

/// Returns the description.
fn describe_dataset(
    described: &PortalMetadata,
    card: &Card,
    own: &str,
    base: &str,
    portal: &str,
) -> Value {
    let metadata = &described.dataset.metadata;
    let mut value = common_properties(described);
    let identifiers: Vec<&str> = [described.iri.as_str()]
        .into_iter()
        .chain(described.identifiers.iter().map(String::as_str))
        .collect();
    let variables = card
        .profile
        .properties
        .iter()
        .take(MAX_VARIABLES)
        .map(|(iri, _)| json!({ "@type": "PropertyValue", "name": words(local_name(iri)), "propertyID": iri }));
    let known: Vec<&String> = metadata
        .source
        .iter()
        .chain(&metadata.landing_page)
        .collect();
    add_property(&mut value, "name", json!(plain_text(metadata.title())));
    add_property(
        &mut value,
        "description",
        json!(plain_description(described)),
    );
    add_property(
        &mut value,
        "license",
        format_license(metadata.license.as_deref()),
    );
    add_property(
        &mut value,
        "temporalCoverage",
        json!(
            card.coverage
                .period
                .as_ref()
                .map(|covered| format_interval(covered.period))
        ),
    );
    add_property(
        &mut value,
        "spatialCoverage",
        format_places(described, card.coverage.place.as_ref()),
    );
    add_property(&mut value, "url", json!(own));
    add_property(&mut value, "@context", json!(vocab::schema::NAMESPACE));
    add_property(&mut value, "@id", json!(described.iri));
    add_property(&mut value, "@type", json!("Dataset"));
    // Dataset search engines show the creator, and its publisher in place of a creator that is not stated.
    if described.creators.is_empty() {
        add_property(
            &mut value,
            "creator",
            described.publishers.iter().map(format_agent).collect(),
        );
    }
    add_property(&mut value, "identifier", json!(identifiers));
    add_property(&mut value, "sameAs", json!(known));
    let languages = described
        .languages
        .iter()
        .map(|name| json!({ "@type": "Language", "name": name }));
    add_property(&mut value, "inLanguage", languages.collect());
    add_property(&mut value, "variableMeasured", variables.collect());
    add_property(&mut value, "isAccessibleForFree", json!(is_free(described)));
    add_property(
        &mut value,
        "includedInDataCatalog",
        json!({ "@type": "DataCatalog", "name": portal, "url": base }),
    );
    add_property(
        &mut value,
        "distribution",
        described
            .files
            .iter()
            .map(|file| format_download(described, file, base))
            .collect(),
    );
    Value::Object(value)
}

/// Returns the properties that all forms of the description share.
pub(crate) fn common_properties(described: &PortalMetadata) -> Map<String, Value> {
    let metadata = &described.dataset.metadata;
    let mut value = Map::new();
    let names: Vec<&str> = metadata
        .alternatives
        .iter()
        .map(|text| text.value.as_str())
        .collect();
    let topics = described
        .themes_of(Scheme::Task)
        .chain(described.themes_of(Scheme::Modality));
    let themes = described.themes.iter().map(|theme| theme.name.clone());
    let keywords = distinct(
        described
            .keywords
            .iter()
            .cloned()
            .chain(themes)
            .chain(topics),
    );
    add_property(&mut value, "name", json!(metadata.title()));
    add_property(&mut value, "alternateName", json!(names));
    add_property(&mut value, "description", json!(metadata.description()));
    add_property(&mut value, "url", json!(described.iri));
    add_property(&mut value, "keywords", json!(keywords));
    add_property(&mut value, "license", one_or_all(&described.licenses));
    add_property(
        &mut value,
        "creator",
        described.creators.iter().map(format_agent).collect(),
    );
    add_property(
        &mut value,
        "publisher",
        described
            .publishers
            .first()
            .map(format_agent)
            .unwrap_or_default(),
    );
    add_property(
        &mut value,
        "datePublished",
        json!(metadata.issued.as_deref().and_then(iso_date)),
    );
    add_property(
        &mut value,
        "dateModified",
        json!(metadata.modified.as_deref().and_then(iso_date)),
    );
    add_property(
        &mut value,
        "spatialCoverage",
        described.places.iter().map(format_place).collect(),
    );
    let concepts = described
        .themes
        .iter()
        .filter_map(|theme| Some((theme.iri.as_ref()?, &theme.name)));
    add_property(
        &mut value,
        "about",
        concepts
            .map(|(iri, name)| json!({ "@type": "DefinedTerm", "@id": iri, "name": name }))
            .collect(),
    );
    add_property(&mut value, "version", json!(described.version));
    add_property(
        &mut value,
        "citation",
        metadata
            .introduced_by
            .iter()
            .map(|one| format_work(one, &described.iri))
            .collect(),
    );
    value
}

/// Adds a property, unless its value is empty.
fn add_property(object: &mut Map<String, Value>, key: &str, value: Value) {
    if !is_empty(&value) {
        object.insert(key.to_owned(), value);
    }
}

/// Returns a single text, or else the list.
fn one_or_all(texts: &[String]) -> Value {
    match texts {
        [text] => json!(text),
        texts => json!(texts),
    }
}

/// Converts a place: an IRI is its identity, and a name alone is a text.
fn format_place(place: &Term) -> Value {
    match (&place.iri, &place.name) {
        (Some(iri), Some(name)) => json!({ "@type": "Place", "@id": iri, "name": name }),
        (Some(iri), None) => json!({ "@type": "Place", "@id": iri }),
        (None, Some(name)) => json!({ "@type": "Place", "name": name }),
        (None, None) => Value::Null,
    }
}

/// Converts an agent. It has a class only if the catalogue declares one.
fn format_agent(party: &Party) -> Value {
    let mut value = json!({ "name": party.name });
    if let Some(kind) = party.kind {
        value["@type"] = json!(match kind {
            AgentKind::Person => "Person",
            AgentKind::Organization => "Organization",
        });
    }
    if let Some(iri) = &party.iri {
        value["url"] = json!(iri);
    }
    value
}

/// Converts a publication. Generated IRIs are omitted.
fn format_work(work: &Work, dataset: &str) -> Value {
    let url = work
        .iri
        .as_ref()
        .filter(|iri| !is_fragment_of(iri, dataset));
    json!({ "@type": "CreativeWork", "name": work.title, "url": url, "datePublished": work.issued.as_deref().and_then(iso_date) })
}

/// Returns the licence: its address, or a work with its name.
fn format_license(license: Option<&str>) -> Value {
    let license = license.map(str::trim);
    match license.filter(|text| is_stated_license(text)) {
        Some(address) if is_web(address) => json!(address),
        Some(name) => json!({ "@type": "CreativeWork", "name": plain_text(name) }),
        None => Value::Null,
    }
}

/// Returns a period as an interval of ISO 8601; an open end is `..`.
fn format_interval(period: Period) -> String {
    let [first, last] = [period.first(), period.last()].map(|day| day.map(|day| day.to_string()));
    match (first, last) {
        (Some(first), Some(last)) if first == last => first,
        (first, last) => format!(
            "{}/{}",
            first.as_deref().unwrap_or(".."),
            last.as_deref().unwrap_or("..")
        ),
    }
}

/// Returns the places: the covered area, and the names of the catalogue.
fn format_places(described: &PortalMetadata, area: Option<&PlaceCoverage>) -> Value {
    let mut places: Vec<Value> = Vec::new();
    if let Some(covered) = area {
        let mut value = json!({ "@type": "Place", "geo": format_geometry(covered.bounds) });
        if let Some(name) = &covered.name {
            value["name"] = json!(plain_text(name));
        }
        // A single place of the catalogue is the area, also if both have its name in different languages.
        if let [only] = described.places.as_slice() {
            let declared = format_place(only);
            for key in ["@id", "name"] {
                if let Some(text) = declared.get(key).filter(|text| !is_empty(text)) {
                    value[key] = text.clone();
                }
            }
            return value;
        }
        places.push(value);
    }
    for value in described.places.iter().map(format_place) {
        if places.len() < MAX_PLACES && !places.iter().any(|place| is_same_place(place, &value)) {
            places.push(value);
        }
    }
    if places.len() > 1 {
        Value::Array(places)
    } else {
        places.pop().unwrap_or_default()
    }
}

/// If true, two places have the same IRI or name.
fn is_same_place(one: &Value, other: &Value) -> bool {
    ["@id", "name"].iter().any(|key| {
        other
            .get(*key)
            .is_some_and(|text| !is_empty(text) && one.get(*key) == Some(text))
    })
}

/// Returns a box as schema.org writes it, latitudes first: south, west, north, east; or a point.
fn format_geometry(bounds: BoundingBox) -> Value {
    let [west, south, east, north] = bounds.degrees();
    if (west, south) == (east, north) {
        return json!({ "@type": "GeoCoordinates", "latitude": south, "longitude": west });
    }
    json!({ "@type": "GeoShape", "box": format!("{south} {west} {north} {east}") })
}

/// Returns the beginning of the plain text of the description.
fn plain_description(described: &PortalMetadata) -> String {
    let text = described.dataset.metadata.description().unwrap_or_default();
    plain_text(text)
        .trim()
        .chars()
        .take(MAX_DESCRIPTION_CHARS)
        .collect()
}

/// Returns the declaration of the catalogue that the dataset costs nothing, or something.
fn is_free(described: &PortalMetadata) -> Option<bool> {
    let property = vocab::schema::IS_ACCESSIBLE_FOR_FREE;
    let by_http = property.replacen("https:", "http:", 1);
    let statements = described.dataset.extra_statements.iter();
    let mut declared = statements
        .filter(|one| {
            one.subject == Node::Dataset && (one.predicate == property || one.predicate == by_http)
        })
        .filter_map(|one| match &one.object {
            ObjectValue::Literal(literal) => {
                match literal.value().trim().to_ascii_lowercase().as_str() {
                    "true" | "1" => Some(true),
                    "false" | "0" => Some(false),
                    _ => None,
                }
            }
            ObjectValue::Node(_) => None,
        });
    declared.next()
}

fn format_download(described: &PortalMetadata, file: &File, base: &str) -> Value {
    let mut value = json!({
        "@type": "DataDownload",
        "name": file.name(),
        "contentUrl": described.address_or_text(file, base),
        "encodingFormat": file.media(),
    });
    if let Some(bytes) = file.bytes {
        value["contentSize"] = json!(bytes.to_string());
    }
    // schema.org has no term for other algorithms.
    for checksum in &file.checksums {
        if let Checksum::Sha256(number) = checksum {
            value["sha256"] = json!(number);
        }
    }
    value
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(values) => values.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_catalog::{DatasetId, Iris};
    use lodeseek_engine::CoverageSource;
    use lodeseek_rdf::TripleGraphBuilder;
    use lodeseek_rdf::dump::DumpReader;

    fn described(statements: &str) -> PortalMetadata {
        let (iris, id) = (Iris::default(), DatasetId::new("1").expect("an id"));
        let turtle = format!(
            "@prefix dct: <http://purl.org/dc/terms/> . <{}> a <http://www.w3.org/ns/dcat#Dataset> ; {statements} .",
            iris.dataset(&id).as_str()
        );
        let mut graph = TripleGraphBuilder::new();
        DumpReader::default().read(turtle.as_bytes(), "1.ttl", iris.base(), &mut graph);
        PortalMetadata::from_graph(&graph.finish(), &iris, &id, true).expect("a dataset")
    }

    #[test]
    fn the_area_of_a_single_place_is_that_place() {
        let label = "<http://www.w3.org/2004/02/skos/core#prefLabel>";
        let area = PlaceCoverage {
            bounds: BoundingBox::new(9.0, 54.0, 10.0, 55.0).expect("a box"),
            name: Some("Kopenhagen".to_owned()),
            source: CoverageSource::Metadata,
            reason: String::new(),
        };
        let one = described(&format!(
            "dct:spatial [ {label} \"Kopenhagen\"@de , \"Copenhagen\"@en ]"
        ));
        let place = format_places(&one, Some(&area));
        assert_eq!(place["name"], "Copenhagen");
        assert_eq!(place["geo"]["@type"], "GeoShape");
        let two = described(&format!(
            "dct:spatial [ {label} \"Oslo\" ] , [ {label} \"Bergen\" ]"
        ));
        let unnamed = PlaceCoverage { name: None, ..area };
        assert_eq!(
            format_places(&two, Some(&unnamed)).as_array().map(Vec::len),
            Some(3)
        );
    }

    #[test]
    fn only_dates_are_published_as_dates() {
        let value = common_properties(&described(
            "dct:issued \"Spring 2021\" ; dct:modified \"2021-12-31T24:00:00Z\"",
        ));
        assert_eq!(value.get("datePublished"), None);
        assert_eq!(value["dateModified"], "2022-01-01T00:00:00Z");
    }

    #[test]
    fn both_schemes_of_schema_org_declare_the_price() {
        for (scheme, text, expected) in [
            ("https", "true", Some(true)),
            ("http", "false", Some(false)),
            ("http", "perhaps", None),
        ] {
            let statement = format!("<{scheme}://schema.org/isAccessibleForFree> \"{text}\"");
            assert_eq!(is_free(&described(&statement)), expected, "{statement}");
        }
    }
}
