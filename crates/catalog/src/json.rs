//! JSON documents: detects the dialect from the content.

use super::json_document::{JsonDocument, with_all_digits};
use super::json_repair::repair;
use super::{
    Catalog, CatalogError, CatalogFile, Dialect, Head, acordar, ckan, csvw, data_json,
    data_package, datacite, dcat, dcat_us, lod_cloud, ogc_records, read_text, registry,
    resolve_reference, stac,
};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::path::Path;

/// Maximum number of keys that an error names.
const MAX_KEYS: usize = 12;

/// If true, the file begins with a JSON object, or a list of objects or texts. Turtle may begin with a bracket too.
pub(super) fn looks_like(head: &str) -> bool {
    head.starts_with('{')
        || head.starts_with('[') && head[1..].trim_start().starts_with(['{', ']', '"'])
}

/// If true, the document is JSON-LD to be read as RDF. Registries and portals use some of its keywords in plain JSON.
fn is_linked(head: &str) -> bool {
    if head.contains("\"ontologies\"")
        || head.contains("project-open-data")
        || head.contains("dcat-us")
    {
        return false;
    }
    let keys = outer_keys(head);
    keys.iter()
        .any(|key| matches!(key.as_str(), "@context" | "@graph"))
}

/// Returns the keys of the outer object in the beginning of a document; of a list, those of its first object.
fn outer_keys(head: &str) -> Vec<String> {
    let (mut keys, mut depth, mut outer) = (Vec::new(), 0_usize, 1);
    let mut rest = head.trim_start();
    if let Some(list) = rest.strip_prefix('[') {
        rest = list;
        (depth, outer) = (1, 2);
    }
    let mut last: Option<String> = None;
    while let Some(character) = rest.chars().next() {
        let after = &rest[character.len_utf8()..];
        rest = after;
        match character {
            '"' => {
                let mut is_escaped = false;
                let end = after.find(|c: char| {
                    let is_end = c == '"' && !is_escaped;
                    is_escaped = c == '\\' && !is_escaped;
                    is_end
                });
                let Some(end) = end else { break };
                last = (depth == outer).then(|| after[..end].to_owned());
                rest = &after[end + 1..];
                continue;
            }
            ':' => keys.extend(last.take()),
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth < outer && matches!(character, '}' | ']') {
            break;
        }
        if !character.is_whitespace() {
            last = None;
        }
    }
    keys
}

/// Reads a document of any dialect.
pub(super) fn read(file: &CatalogFile<'_>, head: &Head) -> Result<Catalog, CatalogError> {
    if is_linked(&head.text) && !csvw::looks_like(&head.text) {
        return read_json_ld(file, head);
    }
    let path = file.path;
    let decoded = read_text(path, None).map_err(CatalogError::io(path))?;
    let mut problems: Vec<String> = decoded.problems.iter().map(ToString::to_string).collect();
    let (document, repairs) = parse(&decoded.text).map_err(|cause| CatalogError::Json {
        path: path.to_owned(),
        cause,
    })?;
    problems.extend(repairs);
    drop(decoded);
    let mut catalog = read_dialect(document, file, head)?;
    catalog.problems.extend(
        problems
            .iter()
            .map(|problem| format!("{}: {problem}", path.display())),
    );
    Ok(catalog)
}

/// Parses a document; faults that leave no doubt about its content are repaired. Also returns the problem that was repaired.
pub(super) fn parse_document(
    text: &str,
    path: &Path,
) -> Result<(Value, Option<String>), CatalogError> {
    parse(text).map_err(|cause| CatalogError::Json {
        path: path.to_owned(),
        cause,
    })
}

fn read_dialect(
    document: Value,
    file: &CatalogFile<'_>,
    head: &Head,
) -> Result<Catalog, CatalogError> {
    let path = file.path;
    let (dialect, catalog) = if let Some(entries) = registry::entries(&document) {
        (Dialect::Registry, registry::read(entries, path))
    } else if csvw::looks_like(&head.text) {
        let text = csvw::to_json_ld(&document)
            .map_err(|reason| CatalogError::not_understood(path, reason))?;
        drop(document);
        let catalog = dcat::read_texts(file, &[&text]).map_err(CatalogError::io(path))?;
        (Dialect::Csvw, catalog)
    } else if data_package::is_package(&document) {
        (Dialect::DataPackage, data_package::read(&document, path))
    } else if let Some(records) = datacite::records(&document) {
        let catalog = datacite::read(&records, path);
        (
            Dialect::DataCite,
            with_links(catalog, file, records.next.as_slice()),
        )
    } else if let Some(found) = stac::document(&document) {
        let found = found.map_err(|reason| CatalogError::not_understood(path, reason))?;
        let catalog = stac::read(&found, path);
        (Dialect::Stac, with_links(catalog, file, &found.links))
    } else if let Some(found) = ogc_records::document(&document) {
        let found = found.map_err(|reason| CatalogError::not_understood(path, reason))?;
        let catalog = ogc_records::read(&found, path);
        (Dialect::OgcRecords, with_links(catalog, file, &found.links))
    } else if let Some(content) = ckan::content(&document) {
        match content {
            ckan::Document::Packages(packages) => (Dialect::Ckan, ckan::read(packages, path)),
            ckan::Document::Other(reason) => {
                return Err(CatalogError::not_understood(path, reason));
            }
        }
    } else if let Some(text) =
        dcat_us::to_json_ld(&document).filter(|_| !head.text.contains("project-open-data"))
    {
        drop(document);
        let mut catalog = dcat::read_texts(file, &[&text.json]).map_err(CatalogError::io(path))?;
        catalog.problems.extend(
            text.problems
                .iter()
                .map(|problem| format!("{}: {problem}", path.display())),
        );
        return Ok(catalog);
    } else if let Some(entries) = data_json::entries(&document) {
        (Dialect::DataJson, data_json::read(entries, path))
    } else if let Some(entries) = lod_cloud::entries(&document) {
        (Dialect::LodCloud, lod_cloud::read(entries, path))
    } else if is_json_ld(&document) {
        drop(document);
        return read_json_ld(file, head);
    } else if is_list_of_datasets(&document) {
        (Dialect::Acordar, acordar::read(document, path)?)
    } else {
        return Err(CatalogError::UnknownJson {
            path: path.to_owned(),
            reason: reason_of_unknown(&document),
        });
    };
    Ok(Catalog { dialect, ..catalog })
}

/// Returns addresses of a document as absolute ones.
fn resolve_links<'l>(
    file: &CatalogFile<'_>,
    links: impl Iterator<Item = &'l String>,
) -> Vec<String> {
    let Some(address) = file.address else {
        return Vec::new();
    };
    links.map(|link| resolve_reference(address, link)).collect()
}

/// Adds the addresses of further documents to a catalogue. A local file leads to no others: that is a problem.
fn with_links(mut catalog: Catalog, file: &CatalogFile<'_>, links: &[String]) -> Catalog {
    catalog.next_pages = resolve_links(file, links.iter());
    if file.address.is_none() && !links.is_empty() {
        catalog.problems.push(format!(
            "{}: {} further documents are linked and not read; `harvest` follows the links of an address",
            file.path.display(),
            links.len()
        ));
    }
    catalog
}

/// If true, the document uses keywords of JSON-LD, or IRIs as keys.
fn is_json_ld(document: &Value) -> bool {
    match document {
        Value::Array(values) => values
            .iter()
            .any(|value| value.as_object().is_some_and(has_json_ld_key)),
        Value::Object(object) => has_json_ld_key(object),
        _ => false,
    }
}

/// If true, a key is a keyword of JSON-LD or an IRI.
fn has_json_ld_key(object: &Map<String, Value>) -> bool {
    object
        .keys()
        .any(|key| key.starts_with('@') || key.contains("://"))
}

/// If true, the document is a list of objects with ids, alone or in `datasets`.
fn is_list_of_datasets(document: &Value) -> bool {
    let entries = match document {
        Value::Array(entries) => entries,
        Value::Object(object) => match object.get("datasets") {
            Some(Value::Array(entries)) => entries,
            _ => return false,
        },
        _ => return false,
    };
    entries.is_empty()
        || entries.iter().any(|entry| {
            entry
                .get("dataset_id")
                .or_else(|| entry.get("id"))
                .is_some()
        })
}

/// Returns the reason why a document is no catalogue, with the keys found.
fn reason_of_unknown(document: &Value) -> String {
    let supported = "supported: a list of datasets, an object with \"datasets\", CKAN, data.json, DCAT-US, Data Package, DataCite, STAC collections, OGC API Records, LOD Cloud, OBO Foundry, JSON-LD";
    let first = match document {
        Value::Array(entries) => entries.first().unwrap_or(document),
        other => other,
    };
    let Some(object) = first.as_object() else {
        return format!("JSON without objects that describe datasets; {supported}");
    };
    let mut keys: Vec<String> = object
        .keys()
        .take(MAX_KEYS)
        .map(|key| format!("{:?}", shorten_key(key)))
        .collect();
    if object.len() > MAX_KEYS {
        keys.push("…".to_owned());
    }
    format!(
        "JSON of no known catalogue, with the keys {}; {supported}",
        keys.join(", ")
    )
}

fn shorten_key(key: &str) -> String {
    key.chars().take(40).collect()
}

/// Maximum size of a JSON-LD file whose versions keep their digits, in bytes: larger ones are read as a stream.
const MAX_SCANNED_BYTES: u64 = 16 << 20;

/// Reads JSON-LD. If it is not valid JSON, a second attempt repairs it.
fn read_json_ld(file: &CatalogFile<'_>, head: &Head) -> Result<Catalog, CatalogError> {
    let path = file.path;
    if head.is_converted {
        let decoded = read_text(path, None).map_err(CatalogError::io(path))?;
        return read_repaired_text(file, &decoded.text);
    }
    let size = match std::fs::metadata(path) {
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    };
    if size <= MAX_SCANNED_BYTES
        && let Ok(decoded) = read_text(path, None)
        && let Cow::Owned(changed) = with_all_digits(&decoded.text)
        && repair(&changed).is_ok_and(|repaired| repaired.problem().is_none())
    {
        return dcat::read_text(file, &changed).map_err(CatalogError::io(path));
    }
    let read = dcat::read_place(file);
    if read
        .as_ref()
        .is_ok_and(|catalog| !catalog.is_incomplete && catalog.unreadable_entries == 0)
    {
        return read.map_err(CatalogError::io(path));
    }
    let Ok(decoded) = read_text(path, None) else {
        return read.map_err(CatalogError::io(path));
    };
    let is_valid = repair(&decoded.text).is_ok_and(|repaired| repaired.problem().is_none());
    match read {
        Ok(catalog) if is_valid => Ok(catalog),
        Err(error) if is_valid => Err(CatalogError::io(path)(error)),
        read => match (read_repaired_text(file, &decoded.text), read) {
            // Some of the datasets of a broken document are more than none.
            (Err(_), Ok(catalog))
                if catalog.dialect != Dialect::Dump && !catalog.datasets.is_empty() =>
            {
                Ok(catalog)
            }
            (repaired, _) => repaired,
        },
    }
}

/// Reads the text of a JSON-LD document after its repair.
fn read_repaired_text(file: &CatalogFile<'_>, text: &str) -> Result<Catalog, CatalogError> {
    let path = file.path;
    let repaired = repair(text).map_err(|cause| CatalogError::Json {
        path: path.to_owned(),
        cause,
    })?;
    let mut catalog = dcat::read_texts(file, &[&repaired.text]).map_err(CatalogError::io(path))?;
    catalog.problems.extend(
        repaired
            .problem()
            .map(|problem| format!("{}: {problem}", path.display())),
    );
    Ok(catalog)
}

/// Parses a text, after a repair if necessary. Also returns what was repaired, and keys that an object has twice.
pub(super) fn parse(text: &str) -> Result<(Value, Option<String>), serde_json::Error> {
    let text = text.trim_start_matches('\u{feff}');
    if let Ok(document) = JsonDocument::parse(text) {
        let problem = document.problem();
        return Ok((document.value, problem));
    }
    let repaired = repair(text)?;
    let document = JsonDocument::parse(&repaired.text)?;
    let problems: Vec<String> = repaired
        .problem()
        .into_iter()
        .chain(document.problem())
        .collect();
    let problem = (!problems.is_empty()).then(|| problems.join("; "));
    Ok((document.value, problem))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<Catalog, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("catalog.json");
        std::fs::write(&path, text).expect("written");
        Catalog::read(&path).map_err(|error| error.to_string())
    }

    #[test]
    fn keys_of_the_outer_object() {
        for (head, keys) in [
            (
                r#"{"a": {"b": 1}, "c": "d", "e\"": [{"f": 1}], "g"#,
                vec!["a", "c", "e\\\""],
            ),
            (r#"[{"a": 1}, {"b": 2}]"#, vec!["a"]),
            (r#"[{"a": {"@id": 1}, "b": "@graph"}"#, vec!["a", "b"]),
            (r#"{"a" "b": 1"#, vec!["b"]),
            ("[1]", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(outer_keys(head), keys, "{head}");
        }
    }

    #[test]
    fn commas_too_many_in_dcat_us_are_a_problem() {
        for (text, problems) in [
            (
                r#"{"@type": "Catalog", "dataset": {"title": "D", "identifier": "d"}}"#,
                0,
            ),
            (
                r#"{"@type": "Catalog", "dataset": {"title": "D", "identifier": "d",}}"#,
                1,
            ),
        ] {
            let catalog = read_text(text).expect("a catalogue");
            assert_eq!(
                (catalog.datasets.len(), catalog.problems.len()),
                (1, problems),
                "{:?}",
                catalog.problems
            );
        }
    }

    #[test]
    fn other_documents_are_errors() {
        for (text, reason) in [
            (
                r#"{"rows": [], "total": 0}"#,
                "with the keys \"rows\", \"total\"; supported",
            ),
            (r#"[{"rows": 1}]"#, "with the keys \"rows\"; supported"),
            (r#"["fish", "birds"]"#, "a list of names such as \"fish\""),
            (
                r#"{"success": true, "result": ["fish"]}"#,
                "a list of names such as \"fish\"",
            ),
            (
                r#"{"count": 1, "results": ["fish"]}"#,
                "a list of names such as \"fish\"",
            ),
            (
                r#"{"success": false, "error": {"message": "Not found"}}"#,
                "reports an error: Not found",
            ),
            (
                r#"{"success": true, "result": {"version": "2.9"}}"#,
                "without packages, but the keys \"version\"",
            ),
            ("{\"a\": [\n1, 2}", "line 2 column 5"),
            ("{\"@context\": {}, \"@graph\": [\n1, 2}", "line 2 column 5"),
            (r#"{"a": "cut"#, "line 1 column 10"),
        ] {
            let error = read_text(text).expect_err(text);
            assert!(
                error.contains(reason) && error.contains("catalog.json"),
                "{text}: {error}"
            );
        }
    }

    #[test]
    fn json_ld_is_repaired() {
        let context = "\"@context\": {\"dcat\": \"http://www.w3.org/ns/dcat#\", \"dct\": \"http://purl.org/dc/terms/\"}";
        let dataset = "\"@id\": \"http://e.org/d\", \"@type\": \"dcat:Dataset\", \"dct:description\": \"One.\nTwo.\"";
        let catalog = read_text(&format!("{{{context}, {dataset},}};")).expect("a catalogue");
        assert_eq!(
            catalog.datasets[0].metadata.description(),
            Some("One.\nTwo.")
        );
        assert!(
            catalog.problems[0].contains("line breaks"),
            "{:?}",
            catalog.problems
        );
    }

    #[test]
    fn versions_written_as_numbers_make_no_catalogue_of_a_dump() {
        let things: Vec<String> = (0..20)
            .map(|number| format!("{{\"@id\": \"http://e.org/{number}\", \"name\": \"{number}\"}}"))
            .collect();
        let catalog = read_text(&format!(
            "{{\"@context\": {{\"@vocab\": \"https://schema.org/\"}}, \"@graph\": [{{\"@id\": \"http://e.org/d\", \
             \"@type\": \"Dataset\", \"version\": 1.10}}, {}]}}",
            things.join(", ")
        ));
        assert_eq!(catalog.expect("a dump").dialect, Dialect::Dump);
    }
}
