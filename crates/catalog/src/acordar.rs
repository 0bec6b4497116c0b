//! ACORDAR's `datasets.json`: a list of objects in a loose form.
//!
//! Ids are numbers or strings. Other values are strings or lists, of which the first one counts. Tags are a list, or one string split at `;`. Absent values are missing, `null`, empty
//! or the string `"None"`. Dumps are one path or link, a list, or several in one string: paths are separated by line ends, links
//! also by white space, commas and semicolons. An unreadable entry does not affect the others.

use super::{
    Agent, Catalog, CatalogError, Dataset, DatasetId, Distribution, Location, Metadata, Text,
};
use serde_json::{Map, Value};
use std::path::Path;

/// Reads a document.
pub(super) fn read(document: Value, path: &Path) -> Result<Catalog, CatalogError> {
    let entries = match document {
        Value::Array(entries) => entries,
        Value::Object(mut object) => match object.remove("datasets") {
            Some(Value::Array(entries)) => entries,
            _ => {
                return Err(CatalogError::NoList {
                    path: path.to_owned(),
                });
            }
        },
        _ => {
            return Err(CatalogError::NoList {
                path: path.to_owned(),
            });
        }
    };
    let mut catalog = Catalog::default();
    for (place, entry) in entries.iter().enumerate() {
        match dataset(entry) {
            Ok(dataset) => catalog.datasets.push(dataset),
            Err(reason) => {
                catalog.unreadable_entries += 1;
                catalog
                    .problems
                    .push(format!("{}: entry {}: {reason}", path.display(), place + 1));
            }
        }
    }
    Ok(catalog)
}

/// Reads one entry. As in DCAT, the date of issue precedes the date of creation: filters by year compare publication.
fn dataset(entry: &Value) -> Result<Dataset, String> {
    let entry = entry.as_object().ok_or("not a JSON object")?;
    let id = text(entry, &["dataset_id", "id"]).ok_or("no `dataset_id` or `id`")?;
    let id = DatasetId::new(id.as_str()).map_err(|error| error.to_string())?;
    let texts = |keys: &[&str]| {
        text(entry, keys)
            .map(Text::plain)
            .into_iter()
            .collect::<Vec<_>>()
    };
    let metadata = Metadata {
        titles: texts(&["title"]),
        descriptions: texts(&["description"]),
        keywords: list(entry, &["tags", "keywords"], ';')
            .into_iter()
            .map(Text::plain)
            .collect(),
        creators: text(entry, &["author", "publisher"])
            .map(|name| Agent { name, iri: None })
            .into_iter()
            .collect(),
        license: text(entry, &["license"]),
        issued: text(entry, &["issued", "created"]),
        modified: text(entry, &["modified", "updated"]),
        landing_page: text(entry, &["url", "landing_page", "source_repo"]),
        ..Metadata::new(id)
    };
    let distributions = list(entry, &["download", "dump", "dumps"], '\n')
        .iter()
        .flat_map(|text| links(text))
        .map(|path| Distribution::new(Location::from_text(path)))
        .collect();
    Ok(Dataset {
        distributions,
        ..Dataset::new(metadata)
    })
}

/// Splits a text that begins with a link into its links. Any other text is one path.
fn links(text: &str) -> Vec<&str> {
    let is_link = |text: &str| {
        text.starts_with("http://") || text.starts_with("https://") || text.starts_with("ftp://")
    };
    if !is_link(text) {
        return vec![text];
    }
    let mut starts: Vec<usize> = text
        .char_indices()
        .filter(|(place, c)| {
            (c.is_whitespace() || matches!(c, ',' | ';')) && is_link(&text[place + c.len_utf8()..])
        })
        .map(|(place, c)| place + c.len_utf8())
        .collect();
    starts.insert(0, 0);
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    let parts = starts.iter().zip(ends).map(|(start, end)| {
        text[*start..end].trim_matches(|c: char| c.is_whitespace() || matches!(c, ',' | ';'))
    });
    parts.filter(|part| !part.is_empty()).collect()
}

/// Returns the value of the first key that has one, as text; the first one of a list.
fn text(entry: &Map<String, Value>, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| match entry.get(*key)? {
        Value::Array(values) => values.iter().find_map(scalar),
        value => scalar(value),
    })
}

pub(super) fn scalar(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    (!text.is_empty() && text != "None" && text != "null").then_some(text)
}

/// Returns the values of the first key that has any: a list, or one string that is split.
fn list(entry: &Map<String, Value>, keys: &[&str], separator: char) -> Vec<String> {
    let Some(value) = keys
        .iter()
        .find_map(|key| entry.get(*key).filter(|value| !value.is_null()))
    else {
        return Vec::new();
    };
    match value {
        Value::Array(values) => values.iter().filter_map(scalar).collect(),
        other => scalar(other)
            .map(|text| {
                text.split(separator)
                    .map(str::trim)
                    .filter(|part| !part.is_empty())
                    .map(str::to_owned)
                    .collect()
            })
            .unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_liberties_of_the_published_file() {
        let read = |value: Value| dataset(&value).expect("readable");
        let plain = read(
            json!({"dataset_id": 7, "title": "T", "tags": "a; b;;c", "author": "None", "download": "x.nt"}),
        );
        assert_eq!(plain.metadata.id.as_str(), "7");
        assert_eq!(plain.metadata.keywords.len(), 3);
        assert!(plain.metadata.creators.is_empty());
        assert_eq!(
            plain.distributions[0].location,
            Location::File("x.nt".into())
        );
        let other = read(
            json!({"dataset_id": "7a", "tags": ["a", null, ""], "description": "", "download": null}),
        );
        assert_eq!(
            (
                other.metadata.keywords.len(),
                other.metadata.descriptions.len()
            ),
            (1, 0)
        );
        assert_eq!(other.metadata.title(), "7a");
        let lists = read(
            json!({"dataset_id": ["8"], "title": ["None", "T"], "license": ["by"], "created": ["2019"]}),
        );
        assert_eq!(
            (lists.metadata.id.as_str(), lists.metadata.title()),
            ("8", "T")
        );
        assert_eq!(
            (
                lists.metadata.license.as_deref(),
                lists.metadata.issued.as_deref()
            ),
            (Some("by"), Some("2019"))
        );
        assert!(dataset(&json!({"title": "no id"})).is_err());
        assert!(dataset(&json!({"dataset_id": "a b"})).is_err());
        assert!(dataset(&json!(3)).is_err());
    }

    #[test]
    fn an_unreadable_entry_is_counted() {
        let catalog = read(
            json!([{"dataset_id": 1}, {"title": "T"}]),
            Path::new("datasets.json"),
        )
        .expect("a catalogue");
        assert_eq!(
            (
                catalog.datasets.len(),
                catalog.unreadable_entries,
                catalog.problems.len()
            ),
            (1, 1, 1)
        );
    }

    #[test]
    fn several_links_in_one_string() {
        for (text, expected) in [
            (
                "http://e.org/a.nt https://e.org/b.nt",
                vec!["http://e.org/a.nt", "https://e.org/b.nt"],
            ),
            (
                "http://e.org/a.nt, http://e.org/b;c.nt;http://e.org/d",
                vec!["http://e.org/a.nt", "http://e.org/b;c.nt", "http://e.org/d"],
            ),
            (
                "http://e.org/a,b.nt\nhttp://e.org/c.nt",
                vec!["http://e.org/a,b.nt", "http://e.org/c.nt"],
            ),
            (
                "http://e.org/a  ;  http://e.org/b",
                vec!["http://e.org/a", "http://e.org/b"],
            ),
            ("a file, with a comma.nt", vec!["a file, with a comma.nt"]),
            ("http://e.org/?a=1;b=2,3", vec!["http://e.org/?a=1;b=2,3"]),
        ] {
            let dataset = dataset(&json!({"dataset_id": 1, "download": text})).expect("readable");
            let found: Vec<&str> = dataset
                .distributions
                .iter()
                .map(|one| one.location.as_str())
                .collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn dates_of_creation_and_of_issue() {
        let issued = |entry: Value| dataset(&entry).expect("readable").metadata.issued;
        assert_eq!(
            issued(json!({"dataset_id": 1, "created": "2019-03-04"})).as_deref(),
            Some("2019-03-04")
        );
        assert_eq!(
            issued(json!({"dataset_id": 1, "issued": "2020"})).as_deref(),
            Some("2020")
        );
        assert_eq!(
            issued(json!({"dataset_id": 1, "created": "2019", "issued": "2020"})).as_deref(),
            Some("2020")
        );
        assert_eq!(issued(json!({"dataset_id": 1, "modified": "2021"})), None);
    }
}
