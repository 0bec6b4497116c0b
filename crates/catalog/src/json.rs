//! JSON documents: detects the dialect from the content.

use super::{
    Catalog, CatalogError, CatalogFile, Dialect, acordar, ckan, data_json, dcat, dcat_us, lod_cloud, registry, text,
};
use serde_json::Value;
use std::path::Path;

/// If true, the file begins with a JSON object or a list of objects. Turtle may begin with a bracket too.
pub(super) fn looks_like(head: &str) -> bool {
    head.starts_with('{') || head.starts_with('[') && head[1..].trim_start().starts_with(['{', ']'])
}

/// If true, the document is JSON-LD to be read as RDF. Registries and portals use some of its keywords in plain JSON.
fn is_linked(head: &str) -> bool {
    let has = |keys: &[&str]| keys.iter().any(|key| head.contains(key));
    has(&["\"@context\"", "\"@graph\"", "\"@id\"", "\"@type\""]) && !has(&["\"ontologies\"", "project-open-data"])
}

/// Reads a document of any dialect.
pub(super) fn read(file: &CatalogFile<'_>, head: &str) -> Result<Catalog, CatalogError> {
    let path = file.path;
    if is_linked(head) {
        let Some((text, problem)) = dcat_us_json_ld(path, head) else { return read_json_ld(file) };
        let catalog = dcat::read_texts(file, &[&text]).map_err(CatalogError::io(path))?;
        return Ok(with_problem(catalog, problem, path));
    }
    let text = text(path).map_err(CatalogError::io(path))?;
    let (document, problem) = match parse(&text) {
        Ok(parsed) => parsed,
        Err(cause) if acordar::looks_like(head) => return Err(CatalogError::Json { path: path.to_owned(), cause }),
        Err(_) => return read_json_ld(file),
    };
    drop(text);
    Ok(with_problem(read_dialect(document, file, head)?, problem, path))
}

/// Adds the problem of parsing a document, if there is one.
fn with_problem(mut catalog: Catalog, problem: Option<&str>, path: &Path) -> Catalog {
    catalog.problems.extend(problem.map(|problem| format!("{}: {problem}", path.display())));
    catalog
}

/// Returns a document of DCAT-US 3 as JSON-LD, and the problem of parsing it; `None` for other documents.
fn dcat_us_json_ld(path: &Path, head: &str) -> Option<(String, Option<&'static str>)> {
    // A document with another context is not parsed twice.
    if head.contains("\"@context\"") && !head.contains("dcat-us") {
        return None;
    }
    let (document, problem) = parse(&text(path).ok()?).ok()?;
    Some((dcat_us::to_json_ld(document)?, problem))
}

/// Parses a document; extra commas are ignored.
pub(super) fn document(text: &str, path: &Path) -> Result<Value, CatalogError> {
    let parsed = parse(text).map_err(|cause| CatalogError::Json { path: path.to_owned(), cause })?;
    Ok(parsed.0)
}

fn read_dialect(document: Value, file: &CatalogFile<'_>, head: &str) -> Result<Catalog, CatalogError> {
    let path = file.path;
    let (dialect, catalog) = if let Some(entries) = registry::entries(&document) {
        (Dialect::Registry, registry::read(entries, path))
    } else if let Some(entries) = ckan::entries(&document) {
        (Dialect::Ckan, ckan::read(entries, path))
    } else if let Some(entries) = data_json::entries(&document) {
        (Dialect::DataJson, data_json::read(entries, path))
    } else if let Some(entries) = lod_cloud::entries(&document) {
        (Dialect::LodCloud, lod_cloud::read(entries, path))
    } else if acordar::looks_like(head) {
        (Dialect::Acordar, acordar::read(document, path)?)
    } else {
        return read_json_ld(file);
    };
    Ok(Catalog { dialect, ..catalog })
}

/// Reads JSON-LD. If it is not valid JSON, a second attempt removes trailing commas.
fn read_json_ld(file: &CatalogFile<'_>) -> Result<Catalog, CatalogError> {
    let path = file.path;
    let error = match dcat::read_place(file) {
        Ok(catalog) => return Ok(catalog),
        Err(error) => error,
    };
    let repaired = text(path).ok().and_then(|text| without_commas(&text));
    let read = repaired.and_then(|text| dcat::read_texts(file, &[&text]).ok());
    let mut catalog = read.ok_or_else(|| CatalogError::io(path)(error))?;
    catalog.problems.push(format!("{}: {REPAIRED}", path.display()));
    Ok(catalog)
}

const REPAIRED: &str = "removed commas before closing brackets, which JSON does not allow";

fn parse(text: &str) -> Result<(Value, Option<&'static str>), serde_json::Error> {
    let text = text.trim_start_matches('\u{feff}');
    match serde_json::from_str(text) {
        Ok(document) => Ok((document, None)),
        Err(error) => match without_commas(text).and_then(|text| serde_json::from_str(&text).ok()) {
            Some(document) => Ok((document, Some(REPAIRED))),
            None => Err(error),
        },
    }
}

/// Removes commas before closing brackets; `None` if there are none.
fn without_commas(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let (mut in_string, mut escaped, mut comma, mut found) = (false, false, None, false);
    for character in text.chars() {
        if in_string {
            in_string = escaped || character != '"';
            escaped = !escaped && character == '\\';
        } else {
            in_string = character == '"';
            if let Some(place) = comma.filter(|_| matches!(character, ']' | '}')) {
                out.replace_range(place..place + 1, " ");
                found = true;
            }
            if !character.is_whitespace() {
                comma = (character == ',').then_some(out.len());
            }
        }
        out.push(character);
    }
    found.then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_too_many() {
        let text = "{\"a\": [1, 2, ], \"b,]\": \",]\\\"\", \"c\": {\"d\": 1,\n },}";
        let value: Value = serde_json::from_str(&without_commas(text).expect("repaired")).expect("JSON");
        assert_eq!(value, serde_json::json!({"a": [1, 2], "b,]": ",]\"", "c": {"d": 1}}));
        assert_eq!(without_commas(r#"{"a": ",}"}"#), None);
    }

    #[test]
    fn commas_too_many_in_dcat_us_are_a_problem() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("catalog.json");
        for (text, problems) in [
            (r#"{"@type": "Catalog", "dataset": {"title": "D", "identifier": "d"}}"#, 0),
            (r#"{"@type": "Catalog", "dataset": {"title": "D", "identifier": "d",}}"#, 1),
        ] {
            std::fs::write(&path, text).expect("written");
            let catalog = Catalog::read(&path).expect("a catalogue");
            assert_eq!((catalog.datasets.len(), catalog.problems.len()), (1, problems), "{:?}", catalog.problems);
        }
    }
}
