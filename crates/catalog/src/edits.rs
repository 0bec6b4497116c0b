//! Edits of a description: corrections of an operator, kept apart from what the source states.
//!
//! An edit replaces all values of a key, or texts of some languages. Edits are applied to each new description of the source,
//! so that a load does not undo them; a key that no edit names follows the source.

use super::Dataset;
use super::description_fields::{
    DescriptionField, FieldError, UNDETERMINED, description_json, with_values,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Changes of keys of a description, as a JSON Merge Patch (RFC 7396) states them.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Patch(BTreeMap<&'static str, Change>);

impl Patch {
    /// Reads a JSON Merge Patch: an object with keys of [`DescriptionField`]. Null removes the values of a key or the texts of
    /// a language.
    ///
    /// # Errors
    /// If a key is unknown, or a value is none of its kind: all such keys, in the order of the object.
    pub fn parse(object: &Map<String, Value>) -> Result<Self, Vec<FieldError>> {
        let (mut changes, mut errors) = (BTreeMap::new(), Vec::new());
        for (key, value) in object {
            let change = DescriptionField::require(key)
                .and_then(|field| Ok((field.key, Change::parse(field, value)?)));
            match change {
                Ok((key, change)) => {
                    if changes.insert(key, change).is_some() {
                        errors.push(FieldError {
                            key: key.to_owned(),
                            reason: "the key occurs twice, in two spellings".to_owned(),
                        });
                    }
                }
                Err(error) => errors.push(error),
            }
        }
        if errors.is_empty() {
            Ok(Self(changes))
        } else {
            Err(errors)
        }
    }

    /// Returns the keys that are changed.
    pub fn keys(&self) -> impl Iterator<Item = &'static str> {
        self.0.keys().copied()
    }

    /// Returns true if nothing is changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Change of the values of a key.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Change {
    /// These values replace all. Null: there is none.
    Value(Value),
    /// These texts replace those of their languages. Null: there is none in the language.
    Languages(Map<String, Value>),
}

impl Change {
    fn parse(field: &DescriptionField, value: &Value) -> Result<Self, FieldError> {
        if field.has_languages() && value.is_object() {
            return Ok(Self::Languages(field.by_language(value)?));
        }
        Ok(Self::Value(field.regular(value)?))
    }

    /// Returns the values that this change makes of those of the source, in the regular form.
    fn apply(&self, source: Option<&Value>) -> Value {
        match self {
            Self::Value(value) => value.clone(),
            Self::Languages(changed) => {
                let mut languages = match source {
                    Some(Value::Object(languages)) => languages.clone(),
                    _ => Map::new(),
                };
                for (language, texts) in changed {
                    if texts.is_null() {
                        languages.remove(language);
                    } else {
                        languages.insert(language.clone(), texts.clone());
                    }
                }
                if languages.is_empty() {
                    Value::Null
                } else {
                    Value::Object(languages)
                }
            }
        }
    }

    /// Returns the change that has the effect of both, first of an earlier one.
    fn after(self, earlier: &Self) -> Self {
        match (self, earlier) {
            (Self::Languages(later), Self::Languages(earlier)) => {
                let mut all = earlier.clone();
                all.extend(later);
                Self::Languages(all)
            }
            (later @ Self::Languages(_), Self::Value(value)) => {
                Self::Value(later.apply(Some(value)))
            }
            (later, _) => later,
        }
    }

    /// Returns the JSON Merge Patch of the values of the key.
    fn to_json(&self) -> Value {
        match self {
            Self::Value(value) => value.clone(),
            Self::Languages(languages) => Value::Object(languages.clone()),
        }
    }
}

/// An edit of one key.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Edit {
    #[serde(flatten)]
    change: Change,
    /// Name of the token with which it was made, or `local`.
    pub by: String,
    /// Time (`xsd:dateTime`).
    pub time: String,
}

impl Edit {
    /// Returns the values that the edit states: of the key, or by language.
    #[must_use]
    pub fn value(&self) -> Value {
        self.change.to_json()
    }
}

/// The edits of a description, by key.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Edits(BTreeMap<String, Edit>);

impl Edits {
    /// Returns true if there are no edits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the edited keys, sorted.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Iterates over the edits by key.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Edit)> {
        self.0.iter().map(|(key, edit)| (key.as_str(), edit))
    }

    /// Returns the edit of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Edit> {
        self.0.get(key)
    }

    /// Adds the changes of a patch. A change that leaves the values of the source as they are removes the edit of the key.
    pub fn apply_patch(&mut self, patch: &Patch, source: &Dataset, by: &str, time: &str) {
        let values = description_json(source);
        for (key, change) in &patch.0 {
            let change = match self.0.get(*key) {
                Some(earlier) => change.clone().after(&earlier.change),
                None => change.clone(),
            };
            let before = values.get(*key).unwrap_or(&Value::Null);
            if change.apply(values.get(*key)) == *before {
                self.0.remove(*key);
                continue;
            }
            let edit = Edit {
                change,
                by: by.to_owned(),
                time: time.to_owned(),
            };
            self.0.insert((*key).to_owned(), edit);
        }
    }

    /// Removes the edit of a key. Returns false if there is none.
    pub fn remove(&mut self, key: &str) -> bool {
        self.0.remove(key).is_some()
    }

    /// Returns the description of a source with these edits.
    ///
    /// # Errors
    /// If an edit cannot be stated in DCAT, for example because another version wrote it.
    pub fn apply(&self, source: &Dataset) -> Result<Dataset, FieldError> {
        let present = description_json(source);
        let mut values: Vec<(&DescriptionField, Value)> = Vec::with_capacity(self.0.len());
        for (key, edit) in &self.0 {
            let field = DescriptionField::require(key)?;
            values.push((field, edit.change.apply(present.get(field.key))));
        }
        let values: Vec<(&DescriptionField, &Value)> = values
            .iter()
            .map(|(field, value)| (*field, value))
            .collect();
        with_values(source, &values)
    }
}

/// Returns the value of an assignment `KEY=TEXT` or `KEY@LANGUAGE=TEXT` as a JSON Merge Patch of one key. A text that begins
/// with a bracket or a brace is JSON.
///
/// # Errors
/// If the text begins as JSON and is none.
pub fn parse_assignment(key: &str, text: &str) -> Result<(String, Value), FieldError> {
    let value = match text.trim_start().chars().next() {
        Some('[' | '{' | '"') => serde_json::from_str(text).map_err(|error| FieldError {
            key: key.to_owned(),
            reason: format!("the value is not valid JSON: {error}"),
        })?,
        _ => Value::from(text),
    };
    Ok(in_language(key, value))
}

/// Returns a key without its language, and a value as an object by language if there is one.
#[must_use]
pub fn in_language(key: &str, value: Value) -> (String, Value) {
    match key.split_once('@') {
        None => (key.to_owned(), value),
        Some((key, language)) => {
            let language = if language.is_empty() {
                UNDETERMINED
            } else {
                language
            };
            (
                key.to_owned(),
                Value::Object(Map::from_iter([(language.to_owned(), value)])),
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::description_fields::read_description;
    use super::super::{DatasetId, Location};
    use super::*;
    use serde_json::json;

    fn object(value: Value) -> Map<String, Value> {
        match value {
            Value::Object(object) => object,
            other => panic!("{other} is no object"),
        }
    }

    fn id() -> DatasetId {
        DatasetId::new("trees").expect("an id")
    }

    fn read(value: Value) -> Dataset {
        read_description(&object(value), &id()).expect("a description")
    }

    fn patch(value: Value) -> Patch {
        Patch::parse(&object(value)).expect("a patch")
    }

    fn edited(source: &Dataset, patches: &[Value]) -> (Edits, Map<String, Value>) {
        let mut edits = Edits::default();
        for one in patches {
            edits.apply_patch(&patch(one.clone()), source, "ci", "2026-01-01T00:00:00Z");
        }
        let dataset = edits.apply(source).expect("applied");
        (edits, description_json(&dataset))
    }

    #[test]
    fn every_key_is_read_and_written() {
        let description = json!({
            "title": {"de": "Bäume", "en": "Trees"}, "alternative": "Street trees", "description": "All trees\nof the city",
            "keywords": {"de": ["Baum", "Holz, hart"], "und": ["tree"]},
            "theme": ["http://publications.europa.eu/resource/authority/data-theme/ENVI"],
            "creator": [{"name": "Ada", "iri": "https://orcid.org/0000-0001"}, "Grace"],
            "publisher": {"name": "City", "homepage": "https://city.example/", "email": "data@city.example"},
            "contact": {"name": "Desk", "email": "desk@city.example"},
            "license": "https://creativecommons.org/licenses/by/4.0/",
            "accessRights": "http://publications.europa.eu/resource/authority/access-right/PUBLIC",
            "issued": "2020", "modified": "2024-01-31", "landingPage": "https://city.example/trees",
            "language": ["http://publications.europa.eu/resource/authority/language/DEU"],
            "spatial": ["http://sws.geonames.org/2935022/", {"name": "Dresden", "bbox": "POLYGON((13 51,14 51,14 52,13 52,13 51))"}],
            "temporal": {"start": "2010-01-01", "end": "2020-12-31"},
            "frequency": "http://publications.europa.eu/resource/authority/frequency/ANNUAL", "version": "1.10",
            "conformsTo": "http://www.opengis.net/def/crs/EPSG/0/4326", "otherIdentifier": "10.5555/trees",
        });
        let written = description_json(&read(description));
        let expected = object(json!({
            "title": {"de": "Bäume", "en": "Trees"}, "alternative": {"und": "Street trees"},
            "description": {"und": "All trees\nof the city"},
            "keywords": {"de": ["Baum", "Holz, hart"], "und": ["tree"]},
            "theme": ["http://publications.europa.eu/resource/authority/data-theme/ENVI"],
            "license": ["https://creativecommons.org/licenses/by/4.0/"],
            "issued": "2020", "modified": "2024-01-31", "landingPage": ["https://city.example/trees"],
            "version": {"und": "1.10"}, "otherIdentifier": ["10.5555/trees"],
            "conformsTo": ["http://www.opengis.net/def/crs/EPSG/0/4326"],
            "frequency": ["http://publications.europa.eu/resource/authority/frequency/ANNUAL"],
        }));
        for (key, value) in &expected {
            assert_eq!(written.get(key), Some(value), "{key} of {written:?}");
        }
        for field in DescriptionField::ALL {
            assert!(
                written.contains_key(field.key),
                "{}: {written:?}",
                field.key
            );
        }
        let again = description_json(&read(Value::Object(object(json!({
            "publisher": written["publisher"], "contact": written["contact"], "temporal": written["temporal"],
            "creator": written["creator"],
        })))));
        for key in ["publisher", "contact", "temporal", "creator"] {
            assert_eq!(again.get(key), written.get(key), "{key}");
        }
    }

    #[test]
    fn wrong_keys_and_values_are_named() {
        for (value, message) in [
            (
                json!({"titel": "Trees"}),
                "titel: unknown key; did you mean title?",
            ),
            (
                json!({"colour": "green"}),
                "colour: unknown key; supported keys: title, ",
            ),
            (
                json!({"title": 7}),
                "title: a text, or an object of texts by language is expected, not a number",
            ),
            (
                json!({"title": true}),
                "title: a text, or an object of texts by language is expected, not true or false",
            ),
            (
                json!({"title": {"value": "Trees"}}),
                "title: \"value\" is no language tag; examples: en",
            ),
            (
                json!({"title": {"en": {"a": "b"}}}),
                "title: a text, or an object of texts by language is expected, not an object",
            ),
            (json!({"title": " "}), "title: the text is empty"),
            (json!({"title": "N/A"}), "title: \"N/A\" is a placeholder"),
            (
                json!({"issued": "last year"}),
                "issued: \"last year\" is no date",
            ),
            (
                json!({"landingPage": "javascript:alert(1)"}),
                "landingPage: \"javascript:alert(1)\" is no http or https address",
            ),
            (
                json!({"publisher": {"nam": "City"}}),
                "publisher.nam: unknown key; supported here: name, iri, email, homepage",
            ),
            (
                json!({"publisher": {}}),
                "publisher: an object needs one of: name",
            ),
            (
                json!({"publisher": {"iri": "no iri"}}),
                "publisher: iri: \"no iri\" is no IRI",
            ),
            (
                json!({"temporal": "once"}),
                "temporal: \"once\" is no period",
            ),
            (
                json!({"tags": "a", "keywords": "b"}),
                "the key occurs twice",
            ),
        ] {
            let errors = Patch::parse(&object(value.clone())).expect_err("an error");
            let message_of = errors[0].to_string();
            assert!(message_of.contains(message), "{value}: {message_of}");
            assert!(
                read_description(&object(value.clone()), &id()).is_err(),
                "{value}"
            );
        }
        let errors =
            Patch::parse(&object(json!({"titel": 1, "issued": true}))).expect_err("errors");
        assert_eq!(errors.len(), 2, "all are named: {errors:?}");
        assert!(Patch::parse(&object(json!({"download": "a.ttl"}))).is_err());
        assert!(read_description(&object(json!({"id": "other"})), &id()).is_err());
        let files = read(
            json!({"id": "trees", "title": "T", "download": ["a.ttl", "https://e.org/b.ttl"]}),
        );
        assert_eq!(files.distributions.len(), 2);
        assert_eq!(
            files.distributions[0].location,
            Location::File("a.ttl".to_owned())
        );
    }

    #[test]
    fn patches_are_merged() {
        let source = read(json!({
            "title": {"en": "Trees", "de": "Bäume"}, "description": "Old", "keywords": ["a", "b"],
            "publisher": "City", "license": "https://e.org/by",
        }));
        let (edits, result) = edited(
            &source,
            &[
                json!({"title": {"de": "Straßenbäume"}, "description": null, "publisher": "Town"}),
                json!({"title": {"fr": "Arbres"}}),
            ],
        );
        assert_eq!(
            edits.keys().collect::<Vec<_>>(),
            ["description", "publisher", "title"]
        );
        assert_eq!(
            result["title"],
            json!({"en": "Trees", "de": "Straßenbäume", "fr": "Arbres"})
        );
        assert_eq!(
            (result.get("description"), &result["publisher"]),
            (None, &json!(["Town"]))
        );
        assert_eq!(
            (&result["keywords"], &result["license"]),
            (&json!({"und": ["a", "b"]}), &json!(["https://e.org/by"]))
        );
        // The source may change: what no edit names follows it.
        let later = read(
            json!({"title": {"en": "All trees", "de": "Alle Bäume"}, "description": "New", "keywords": ["c"]}),
        );
        let result = description_json(&edits.apply(&later).expect("applied"));
        assert_eq!(
            result["title"],
            json!({"en": "All trees", "de": "Straßenbäume", "fr": "Arbres"})
        );
        assert_eq!(
            (result.get("description"), &result["keywords"]),
            (None, &json!({"und": ["c"]}))
        );
        let (edits, result) = edited(
            &source,
            &[json!({"title": "One"}), json!({"title": {"de": "Eins"}})],
        );
        assert_eq!(result["title"], json!({"und": "One", "de": "Eins"}));
        assert_eq!(
            edits.get("title").expect("an edit").value(),
            json!({"und": "One", "de": "Eins"})
        );
        let (edits, _) = edited(
            &source,
            &[
                json!({"title": {"de": "Eins"}}),
                json!({"title": {"de": "Bäume"}}),
            ],
        );
        assert!(
            edits.is_empty(),
            "an edit that states what the source states is none: {edits:?}"
        );
        let (edits, result) = edited(&source, &[json!({"title": {"de": null, "en": null}})]);
        assert_eq!((edits.is_empty(), result.get("title")), (false, None));
    }

    #[test]
    fn edits_leave_everything_else_as_it_is() {
        let turtle = r#"
            @prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> . @prefix foaf: <http://xmlns.com/foaf/0.1/> .
            <http://e.org/trees> a dcat:Dataset ; dct:identifier "trees" ; dct:title "Trees"@en ;
                dct:publisher [ a foaf:Agent ; foaf:name "City" ; foaf:phone "1" ] ; dcat:version "1.10" ;
                dct:spatial [ a dct:Location ; dcat:bbox "POLYGON((13 51,14 51,14 52,13 52,13 51))" ] ;
                <http://e.org/own> [ <http://e.org/p> "kept" ] ;
                dcat:distribution [ dcat:downloadURL <http://e.org/a.ttl> ; dct:license <http://e.org/by> ; dct:title "A file" ] ."#;
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("catalog.ttl");
        std::fs::write(&path, turtle).expect("written");
        let source = super::super::Catalog::read(&path)
            .expect("a catalogue")
            .datasets
            .remove(0);
        let unchanged = Edits::default().apply(&source).expect("applied");
        assert_eq!(unchanged.metadata, source.metadata);
        let sorted = |dataset: &Dataset| {
            let mut statements: Vec<String> = dataset
                .extra_statements
                .iter()
                .map(|one| format!("{one:?}"))
                .collect();
            statements.sort();
            statements
        };
        assert_eq!(sorted(&unchanged), sorted(&source));
        let mut edits = Edits::default();
        edits.apply_patch(
            &patch(json!({"publisher": "Town"})),
            &source,
            "ci",
            "2026-01-01T00:00:00Z",
        );
        let edited = edits.apply(&source).expect("applied");
        let text = format!("{edited:?}");
        assert!(
            text.contains("kept")
                && text.contains("1.10")
                && text.contains("A file")
                && text.contains("POLYGON"),
            "{text}"
        );
        assert!(
            !text.contains("City") && !text.contains("phone"),
            "parts of the removed publisher are gone: {text}"
        );
        assert_eq!(
            (edited.key(), edited.distributions),
            (source.key(), source.distributions)
        );
    }

    #[test]
    fn assignments() {
        assert_eq!(
            parse_assignment("title", "Trees").expect("a value"),
            ("title".to_owned(), json!("Trees"))
        );
        assert_eq!(
            parse_assignment("title@de", "Bäume").expect("a value"),
            ("title".to_owned(), json!({"de": "Bäume"}))
        );
        assert_eq!(
            parse_assignment("keywords", "[\"a\", \"b\"]")
                .expect("a value")
                .1,
            json!(["a", "b"])
        );
        assert!(parse_assignment("publisher", "{\"name\"").is_err());
    }
}
