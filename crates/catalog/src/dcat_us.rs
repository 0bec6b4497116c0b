//! DCAT-US 3 in JSON: keys of the schema with `@id` and `@type`, but often without a context that can be read. The
//! document is read as JSON-LD with the context in `dcat_us.jsonld`.
//! <https://resources.data.gov/resources/dcat-us-3/>

use super::addresses::{Address, parse_address};
use super::dcat_builder::{
    Object, is_box, is_geometry, is_scalar, is_text_or_list, prune, scalar_texts,
};
use super::languages::texts_by_language;
use lodeseek_rdf::vocab::{dcterms, geosparql, schema};
use rustc_hash::FxHashSet;
use serde_json::{Value, json};

/// Context for the keys of the schema.
const CONTEXT: &str = include_str!("dcat_us.jsonld");
/// Classes of the objects at the top of a document.
const ROOTS: [&str; 3] = ["Catalog", "Dataset", "DatasetSeries"];
/// Keys of geometries.
const GEOMETRIES: [&str; 3] = ["bbox", "geometry", "centroid"];
const GEO_JSON: &str = "http://www.opengis.net/ont/geosparql#geoJSONLiteral";
/// Maximum number of problems that are listed.
const MAX_PROBLEMS: usize = 1000;

/// A document as JSON-LD, and the values that were changed on the way.
pub(super) struct JsonLd {
    pub(super) json: String,
    pub(super) problems: Vec<String>,
}

/// Returns a document of DCAT-US as JSON-LD with a context; `None` if it is of another dialect, or has a context of its
/// own.
///
/// Keys that the schema does not have become additional properties, geometries become literals, and addresses become valid
/// IRIs: JSON-LD would ignore them.
pub(super) fn to_json_ld(document: &Value) -> Option<JsonLd> {
    let root = document.as_object()?;
    let has_context = root
        .get("@context")
        .is_some_and(|context| !is_of_dcat_us(context));
    let class = root
        .get("@type")
        .and_then(Value::as_str)
        .map(|class| class.trim_start_matches("dcat:"));
    if has_context || !class.is_some_and(|class| ROOTS.contains(&class)) {
        return None;
    }
    let context: Value = serde_json::from_str(CONTEXT).ok()?;
    let context = context.get("@context")?.as_object()?;
    let mut converter = Converter {
        terms: context,
        problems: Vec::new(),
        nodes: FxHashSet::default(),
    };
    converter.collect_nodes(document);
    let mut root = converter.object(root);
    root.insert("@context".to_owned(), Value::Object(context.clone()));
    for (key, class) in [
        ("dataset", "Dataset"),
        ("datasetSeries", "DatasetSeries"),
        ("service", "DataService"),
    ] {
        let entries = match root.get_mut(key) {
            Some(Value::Array(entries)) => entries.as_mut_slice(),
            Some(entry) => std::slice::from_mut(entry),
            None => continue,
        };
        entries
            .iter_mut()
            .filter_map(Value::as_object_mut)
            .for_each(|entry| add_class(entry, class));
    }
    Some(JsonLd {
        json: Value::Object(root).to_string(),
        problems: converter.problems,
    })
}

/// Converter of the values of a document.
struct Converter<'c> {
    /// Terms of the context.
    terms: &'c Object,
    problems: Vec<String>,
    /// Identifiers of the nodes that the document describes.
    nodes: FxHashSet<String>,
}

impl Converter<'_> {
    fn collect_nodes(&mut self, value: &Value) {
        match value {
            Value::Array(values) => values.iter().for_each(|value| self.collect_nodes(value)),
            Value::Object(object) => {
                self.nodes
                    .extend(object.get("@id").and_then(Value::as_str).map(str::to_owned));
                object.values().for_each(|value| self.collect_nodes(value));
            }
            _ => {}
        }
    }

    /// If true, the texts of a key are IRIs.
    fn has_iris(&self, key: &str) -> bool {
        self.terms
            .get(key)
            .and_then(|term| term.get("@type"))
            .and_then(Value::as_str)
            == Some("@id")
    }

    fn object(&mut self, object: &Object) -> Object {
        let (mut out, mut others) = (Object::new(), Vec::new());
        for (key, value) in object {
            let is_known =
                key.starts_with('@') || self.terms.contains_key(key) || key.contains(':');
            if key == "@context" {
                continue;
            } else if key == "@id" {
                let (identifier, other) = self.identifier(value);
                out.extend(identifier.map(|identifier| (key.clone(), identifier)));
                others.extend(other);
            } else if key == "@type" && !is_text_or_list(value) {
                others.extend(prune(value.clone()).map(|value| additional_property(key, &value)));
            } else if key == "@type" {
                let (known, unknown): (Vec<String>, _) = scalar_texts(value)
                    .into_iter()
                    .partition(|class| self.is_class(class));
                if !known.is_empty() {
                    out.insert(key.clone(), json!(known));
                }
                let unknown: Vec<String> = unknown;
                others.extend(
                    (!unknown.is_empty()).then(|| additional_property(key, &json!(unknown))),
                );
            } else if !is_known || key.contains(':') && !self.is_compact_iri(key) {
                others.extend(prune(value.clone()).map(|value| additional_property(key, &value)));
            } else if GEOMETRIES.contains(&key.as_str()) {
                out.insert(key.clone(), convert_geometry(value));
            } else {
                out.insert(key.clone(), self.value(key, value));
            }
        }
        if !others.is_empty() {
            out.insert(schema::ADDITIONAL_PROPERTY.to_owned(), Value::Array(others));
        }
        out
    }

    /// If true, the key is an absolute IRI or begins with a prefix of the context.
    fn is_compact_iri(&self, key: &str) -> bool {
        key.split_once(':')
            .is_some_and(|(prefix, rest)| rest.starts_with("//") || self.terms.contains_key(prefix))
    }

    fn value(&mut self, key: &str, value: &Value) -> Value {
        match value {
            Value::Array(values) if key == "spatial" && is_box(values) => {
                convert_location(convert_geometry(value))
            }
            Value::Array(values) => {
                Value::Array(values.iter().map(|value| self.value(key, value)).collect())
            }
            Value::Object(object) if key == "spatial" && is_geometry(object) => {
                convert_location(convert_geometry(value))
            }
            Value::Object(object) => self.convert_inner_object(key, object),
            Value::String(text) if self.has_iris(key) => self.address(key, text),
            other => other.clone(),
        }
    }

    fn convert_inner_object(&mut self, key: &str, object: &Object) -> Value {
        if object.contains_key("@value") {
            return self.literal(key, object);
        }
        let is_linked = object.keys().any(|key| key.starts_with('@'));
        match texts_by_language(object)
            .filter(|(_, rest)| !is_linked && !self.has_iris(key) && rest.is_empty())
        {
            None => Value::Object(self.object(object)),
            Some((texts, _)) => {
                let mut values = Vec::new();
                for text in texts {
                    for value in scalar_texts(text.value) {
                        values.push(match &text.language {
                            Some(language) => json!({"@value": value, "@language": language}),
                            None => Value::String(value),
                        });
                    }
                }
                Value::Array(values)
            }
        }
    }

    /// Returns a literal of JSON-LD without other members, which would make it invalid.
    fn literal(&mut self, key: &str, object: &Object) -> Value {
        let (mut literal, mut others) = (object.clone(), object.clone());
        literal.retain(|key, _| {
            matches!(
                key.as_str(),
                "@value" | "@type" | "@language" | "@direction"
            )
        });
        others.retain(|key, _| !literal.contains_key(key));
        let is_valid = literal.get("@value").is_some_and(is_scalar);
        if is_valid && others.is_empty() {
            return Value::Object(literal);
        }
        json!({schema::ADDITIONAL_PROPERTY: additional_property(key, &Value::Object(object.clone()))})
    }

    /// Returns a text in the place of an IRI: a repaired IRI, an identifier of a node, or a literal.
    fn address(&mut self, key: &str, text: &str) -> Value {
        let is_email = key == "hasEmail" && text.contains('@') && !text.contains(':');
        let mailbox = format!("mailto:{}", text.trim());
        match parse_address(if is_email { &mailbox } else { text }) {
            Address::Iri(iri) => Value::String(iri),
            Address::Text if self.nodes.contains(text) => Value::String(text.to_owned()),
            // Files in the folder of the catalogue.
            Address::Text if is_file_name(key, text) => Value::String(text.to_owned()),
            Address::Text => json!({"@value": text}),
            Address::Unsafe => {
                if self.problems.len() < MAX_PROBLEMS {
                    let start: String = text.chars().take(200).collect();
                    self.problems.push(format!(
                        "{key}: an address of this scheme is kept as text only: {start}"
                    ));
                }
                json!({schema::ADDITIONAL_PROPERTY: additional_property(key, &Value::from(text))})
            }
        }
    }

    /// Returns the identifier of a node. If it is no IRI, it is an additional property, too.
    fn identifier(&self, value: &Value) -> (Option<Value>, Option<Value>) {
        match value.as_str().map(|text| (text, parse_address(text))) {
            Some((_, Address::Iri(iri))) => (Some(Value::String(iri)), None),
            Some((text, _)) if text.starts_with("_:") => (Some(value.clone()), None),
            Some((text, Address::Text)) if is_reference(text) => {
                (Some(value.clone()), id_property(value))
            }
            _ => (None, id_property(value)),
        }
    }

    fn is_class(&self, class: &str) -> bool {
        self.terms.contains_key(class) || self.is_compact_iri(class)
    }
}

/// If true, the text may be a relative reference.
fn is_reference(text: &str) -> bool {
    !text.is_empty()
        && !text
            .contains(|c: char| c.is_whitespace() || c.is_control() || "<>\"{}|\\^`".contains(c))
}

/// If true, the text may be the path of a file beside the catalogue.
fn is_file_name(key: &str, text: &str) -> bool {
    key == "downloadURL" && is_reference(text) && text.contains(['.', '/'])
}

/// Returns an identifier that is no IRI as an additional property.
fn id_property(value: &Value) -> Option<Value> {
    prune(value.clone()).map(|value| additional_property("@id", &value))
}

/// Returns a value of a key that the schema does not have.
fn additional_property(key: &str, value: &Value) -> Value {
    let texts = if is_text_or_list(value) {
        scalar_texts(value)
    } else {
        vec![value.to_string()]
    };
    json!({"@type": schema::PROPERTY_VALUE, schema::NAME: key, schema::VALUE: texts})
}

fn convert_location(geometry: Value) -> Value {
    json!({"@type": dcterms::LOCATION, "geometry": geometry})
}

/// Returns a geometry as literals: GeoJSON, the numbers of a box, or texts.
fn convert_geometry(value: &Value) -> Value {
    match value {
        Value::Array(values) if is_box(values) => Value::String(value.to_string()),
        Value::Array(values) => Value::Array(values.iter().map(convert_geometry).collect()),
        Value::Object(object) if object.contains_key("@value") || object.contains_key("@id") => {
            value.clone()
        }
        Value::Object(_) => json!({"@type": GEO_JSON, "@value": value.to_string()}),
        Value::String(text) if text.trim_start().starts_with('{') => {
            json!({"@type": GEO_JSON, "@value": text})
        }
        Value::String(text) if super::box_of_wkt(text).is_some() => {
            json!({"@type": geosparql::WKT_LITERAL, "@value": text})
        }
        other => other.clone(),
    }
}

/// If true, the context is an address of DCAT-US. Remote contexts are not fetched.
fn is_of_dcat_us(context: &Value) -> bool {
    match context {
        Value::String(address) => address.contains("dcat-us"),
        Value::Array(contexts) => !contexts.is_empty() && contexts.iter().all(is_of_dcat_us),
        _ => false,
    }
}

/// Adds the class that the schema implies.
fn add_class(entry: &mut Object, class: &str) {
    if !entry.contains_key("@type") {
        entry.insert("@type".to_owned(), Value::from(class));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn converted(document: Value) -> Value {
        let converted = to_json_ld(&document).expect("DCAT-US");
        serde_json::from_str(&converted.json).expect("JSON")
    }

    #[test]
    fn documents_of_the_schema_get_a_context() {
        let schema = json!({"@type": "dcat:Catalog", "title": "C", "dataset": [{"title": "D"}, {"@type": "Dataset"}]});
        let read = converted(schema);
        assert_eq!(read["dataset"][0]["@type"], "Dataset");
        assert_eq!(read["@context"]["title"], "dct:title");
        let read = converted(json!({"@type": "Catalog", "dataset": {"title": "D"}}));
        assert_eq!(read["dataset"]["@type"], "Dataset");
        assert!(
            to_json_ld(
                &json!({"@type": "Dataset", "@context": "https://e.org/dcat-us-3.0.jsonld"})
            )
            .is_some()
        );
        for other in [
            json!({"@type": "Dataset", "@context": "https://schema.org/"}),
            json!({"@type": "Dataset", "@context": {"title": "http://purl.org/dc/terms/title"}}),
            json!({"@type": "Dataset", "@context": []}),
            json!({"@type": "sc:Dataset"}),
            json!({"title": "D"}),
            json!([]),
        ] {
            assert!(to_json_ld(&other).is_none(), "{other}");
        }
    }

    #[test]
    fn geometries_become_literals() {
        let point = json!({"type": "Point", "coordinates": [1.5, 2]});
        let read = converted(json!({"@type": "Dataset", "spatial": [
            {"@type": "Location", "bbox": [1, 2, 3, 4], "centroid": point, "geometry": point.to_string()},
            point, [1, 2, 3, 4, 5, 6], "Old town"]}));
        let literal = json!({"@type": GEO_JSON, "@value": point.to_string()});
        assert_eq!(read["spatial"][0]["bbox"], "[1,2,3,4]");
        assert_eq!(
            (
                &read["spatial"][0]["centroid"],
                &read["spatial"][0]["geometry"]
            ),
            (&literal, &literal)
        );
        assert_eq!(read["spatial"][1]["geometry"], literal);
        assert_eq!(read["spatial"][2]["geometry"], "[1,2,3,4,5,6]");
        assert_eq!(read["spatial"][3], "Old town");
    }

    #[test]
    fn unknown_keys_and_addresses_are_kept() {
        let document = json!({"@type": "Dataset", "title": {"en": "Kilns", "fr_CA": "Fours"}, "bureauCode": ["010:1"], "note": {"a": 1},
            "publisher": "Kiln Office", "landingPage": "http://e.org/a b", "describedBy": "javascript:x"});
        let converted = to_json_ld(&document).expect("DCAT-US");
        let read: Value = serde_json::from_str(&converted.json).expect("JSON");
        assert_eq!(
            read["title"][1],
            json!({"@value": "Fours", "@language": "fr-CA"})
        );
        assert_eq!(read["publisher"], json!({"@value": "Kiln Office"}));
        assert_eq!(read["landingPage"], "http://e.org/a%20b");
        let others = &read[schema::ADDITIONAL_PROPERTY];
        assert_eq!(
            (&others[0][schema::VALUE], &others[1][schema::VALUE]),
            (&json!(["010:1"]), &json!(["{\"a\":1}"]))
        );
        assert!(
            converted.problems[0].starts_with("describedBy: "),
            "{:?}",
            converted.problems
        );
    }
}
