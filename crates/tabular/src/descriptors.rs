//! Descriptions of tables in files beside them: metadata of CSV on the Web, data packages, data dictionaries.

use crate::csvw::{Fetched, Resolver, describe_table};
use crate::table::{ColumnDescription, file_stem};
use lodeseek_rdf::percent_encode;
use serde_json::{Map, Value};
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

/// Maximum size of a descriptor in bytes.
const MAX_DESCRIPTOR_BYTES: u64 = 8 << 20;
/// Number of folders, from that of the table upwards, in which descriptors are sought.
const MAX_FOLDERS: usize = 4;
/// Maximum number of files of a folder among which metadata documents are sought.
const MAX_FILES: usize = 1000;

/// Description of a table.
#[derive(Clone, Debug, Default)]
pub(crate) struct TableDescription {
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) columns: Vec<ColumnDescription>,
    /// Descriptors that cannot be read, with the reasons.
    pub(crate) problems: Vec<String>,
}

/// Finds the description of a local table.
pub(crate) fn find(path: &Path) -> TableDescription {
    let mut description = TableDescription::default();
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return description;
    };
    let name = name.to_string_lossy();
    csvw_metadata(folder, &name, &mut description);
    let mut folder = Some(folder);
    for _ in 0..MAX_FOLDERS {
        let Some(current) = folder else {
            break;
        };
        // The nearest description counts.
        if description.columns.is_empty() {
            data_package(current, path, &mut description);
        }
        if description.columns.is_empty() {
            for place in ["dictionary.csv", "data-raw/dictionary.csv"] {
                read_dictionary(&current.join(place), path, &mut description);
            }
        }
        folder = current.parent();
    }
    description
}

/// Reads a file; `None` if it does not exist or is too large.
fn read_file(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = File::open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    file.take(MAX_DESCRIPTOR_BYTES + 1)
        .read_to_end(&mut bytes)
        .ok()?;
    (bytes.len() as u64 <= MAX_DESCRIPTOR_BYTES).then_some(bytes)
}

/// Address of the folder of a table while its metadata are read.
const FOLDER: &str = "https://lodeseek.invalid/";

struct FolderResolver<'f> {
    folder: &'f Path,
}

impl Resolver for FolderResolver<'_> {
    fn fetch(&self, address: &str) -> Option<Fetched> {
        let relative = Path::new(address.strip_prefix(FOLDER)?);
        let is_inside = relative
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        let bytes = is_inside.then(|| read_file(&self.folder.join(relative)))??;
        Some(Fetched { bytes, link: None })
    }
}

fn address_of(name: &str) -> String {
    let mut address = FOLDER.to_owned();
    for character in name.chars() {
        if character.is_ascii_alphanumeric() || matches!(character, '-' | '.' | '_' | '~') {
            address.push(character);
        } else {
            percent_encode(character, &mut address);
        }
    }
    address
}

/// Reads the first metadata document of the folder that describes the table.
fn csvw_metadata(folder: &Path, name: &str, description: &mut TableDescription) {
    let mut documents = vec![
        format!("{name}-metadata.json"),
        "csv-metadata.json".to_owned(),
    ];
    let mut others = Vec::new();
    for entry in fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .take(MAX_FILES)
    {
        let found = entry.file_name().to_string_lossy().into_owned();
        if found.ends_with("-metadata.json") && !documents.contains(&found) {
            others.push(found);
        }
    }
    // The order of a folder depends on the file system.
    others.sort();
    documents.append(&mut others);
    let resolver = FolderResolver { folder };
    for document in documents {
        let Some(bytes) = read_file(&folder.join(&document)) else {
            continue;
        };
        let text = String::from_utf8_lossy(&bytes);
        // Other documents have this name, too.
        if !text.contains("http://www.w3.org/ns/csvw") {
            continue;
        }
        match describe_table(&text, &address_of(&document), &address_of(name), &resolver) {
            Ok(None) => (),
            Ok(Some(mut table)) => {
                for column in &mut table.columns {
                    // A relative property is a column of the file, whose address is not known here.
                    column.property.take_if(|iri| iri.starts_with(FOLDER));
                }
                description.title = table.title;
                description.description = table.description;
                description.columns = table.columns;
                if !table.unused.is_empty() {
                    let unused: Vec<&str> = table.unused.into_iter().collect();
                    description.problems.push(format!(
                        "{document}: without effect on the rows of {name}: {}; to have them, convert the table with a tool for CSV on the Web and load its RDF",
                        unused.join(", ")
                    ));
                }
                return;
            }
            Err(error) => description.problems.push(format!("{document}: {error}")),
        }
    }
}

/// Reads the resource of a data package (Frictionless, versions 1 and 2) that is the table.
fn data_package(folder: &Path, table: &Path, description: &mut TableDescription) {
    let Some(bytes) = read_file(&folder.join("datapackage.json")) else {
        return;
    };
    let package: Value = match serde_json::from_slice(&bytes) {
        Ok(package) => package,
        Err(error) => {
            description
                .problems
                .push(format!("datapackage.json: {error}"));
            return;
        }
    };
    let resources = package["resources"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    for resource in resources {
        if !resource_paths(resource)
            .iter()
            .any(|path| folder.join(path) == table)
        {
            continue;
        }
        description.title = text_member(resource, "title");
        description.description = text_member(resource, "description");
        let referenced;
        let schema = match &resource["schema"] {
            Value::String(reference) => {
                referenced = inner_path(reference)
                    .and_then(|path| read_file(&folder.join(path)))
                    .and_then(|bytes| serde_json::from_slice(&bytes).ok())
                    .unwrap_or(Value::Null);
                &referenced
            }
            schema => schema,
        };
        let fields = schema["fields"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        description.columns = fields
            .iter()
            .filter_map(Value::as_object)
            .map(describe_field)
            .collect();
        return;
    }
}

/// Returns a path that stays in its folder.
fn inner_path(text: &str) -> Option<PathBuf> {
    let path: PathBuf = Path::new(text)
        .components()
        .filter(|part| *part != Component::CurDir)
        .collect();
    let is_inside = path
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    is_inside.then_some(path)
}

fn resource_paths(resource: &Value) -> Vec<PathBuf> {
    match &resource["path"] {
        Value::String(path) => inner_path(path).into_iter().collect(),
        Value::Array(paths) => paths
            .iter()
            .filter_map(Value::as_str)
            .filter_map(inner_path)
            .collect(),
        _ => Vec::new(),
    }
}

/// Returns a text; of several languages, the first one.
fn text_member(object: &Value, key: &str) -> Option<String> {
    let text = match &object[key] {
        Value::String(text) => text.trim(),
        Value::Object(languages) => languages.values().find_map(Value::as_str)?.trim(),
        _ => return None,
    };
    (!text.is_empty()).then(|| text.to_owned())
}

fn describe_field(field: &Map<String, Value>) -> ColumnDescription {
    let value = Value::Object(field.clone());
    let name = text_member(&value, "name").unwrap_or_default();
    ColumnDescription {
        title: text_member(&value, "title").filter(|title| *title != name),
        description: text_member(&value, "description"),
        unit: text_member(&value, "unit"),
        // `rdfType` is the class of the values, no property.
        property: None,
        is_text: field.get("type").and_then(Value::as_str) == Some("string"),
        name,
    }
}

/// Reads a data dictionary: a table with a row for each column, as packages of R have it.
fn read_dictionary(path: &Path, table: &Path, description: &mut TableDescription) {
    let Some(bytes) = read_file(path).filter(|_| path != table) else {
        return;
    };
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .from_reader(bytes.as_slice());
    let Ok(header) = reader.headers().cloned() else {
        return;
    };
    let (Some(name), Some(text)) = (
        find_column(&header, &["variable_name", "variable", "column", "field"]),
        find_column(&header, &["description", "label", "definition"]),
    ) else {
        return;
    };
    let file = find_column(&header, &["file_name", "file"]);
    let unit = find_column(&header, &["unit", "unit_type"]);
    let table = table.file_name().unwrap_or_default().to_string_lossy();
    let (mut own, mut others) = (Vec::new(), Vec::new());
    for record in reader.records().take(crate::limits::MAX_COLUMNS).flatten() {
        let Some(name) = cell_text(&record, name) else {
            continue;
        };
        let column = ColumnDescription {
            name: name.to_owned(),
            description: cell_text(&record, text).map(str::to_owned),
            unit: unit
                .and_then(|unit| cell_text(&record, unit))
                .map(str::to_owned),
            ..ColumnDescription::default()
        };
        let file = file.and_then(|file| cell_text(&record, file));
        if file.is_none_or(|file| file_stem(file).eq_ignore_ascii_case(file_stem(&table))) {
            own.push(column);
        } else {
            others.push(column);
        }
    }
    // A dictionary of other files explains the columns of the same names.
    description.columns = if own.is_empty() { others } else { own };
}

/// Returns the place of the first column with one of these names.
fn find_column(header: &csv::StringRecord, names: &[&str]) -> Option<usize> {
    header
        .iter()
        .position(|cell| names.contains(&cell.trim().to_lowercase().as_str()))
}

/// Returns the text of a cell, if there is any.
fn cell_text(record: &csv::StringRecord, place: usize) -> Option<&str> {
    let text = record.get(place)?.trim();
    if text.is_empty() { None } else { Some(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_are_found() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = |name: &str| folder.path().join(name);
        fs::create_dir_all(place("data")).expect("made");
        fs::create_dir_all(place("data-raw")).expect("made");
        fs::write(
            place("datapackage.json"),
            r#"{"resources": [{"path": "./data/trees.csv", "title": "Trees", "schema": "s.json"},
                {"path": "../secret.csv"}]}"#,
        )
        .expect("written");
        fs::write(
            place("s.json"),
            r#"{"fields": [{"name": "h", "title": "Height", "unit": "m", "type": "number", "rdfType": "http://e.org/Height"}]}"#,
        )
        .expect("written");
        fs::write(
            place("data-raw/dictionary.csv"),
            "file_name,variable_name,description\nelms.rda,Pb,lead\noaks.rda,Hg,mercury\n",
        )
        .expect("written");
        fs::write(
            place("data/ash.csv-metadata.json"),
            r#"{"@context": "http://www.w3.org/ns/csvw", "url": "ash.csv", "tableSchema": {"columns": [
                {"titles": "d", "dc:description": "diameter", "propertyUrl": "schema:width"},
                {"titles": ["tree height", "h"], "name": "height", "dc:description": "of the crown"},
                {"titles": "own", "propertyUrl": "ash.csv#own"},
                {"titles": "age", "propertyUrl": "http://e.org/{_name}"}]}}"#,
        )
        .expect("written");
        let trees = find(&place("data/trees.csv"));
        assert_eq!(trees.title.as_deref(), Some("Trees"));
        assert_eq!(trees.columns[0].title.as_deref(), Some("Height"));
        assert_eq!(trees.columns[0].unit.as_deref(), Some("m"));
        assert_eq!(trees.columns[0].property, None, "a class");
        let elms = find(&place("data/elms.csv"));
        assert_eq!(elms.columns.len(), 1);
        assert_eq!(elms.columns[0].description.as_deref(), Some("lead"));
        let yews = find(&place("data/yews.csv"));
        assert_eq!(yews.columns.len(), 2, "a dictionary of other files");
        let ash = find(&place("data/ash.csv"));
        assert_eq!(ash.columns[0].description.as_deref(), Some("diameter"));
        assert_eq!(
            ash.columns[0].property.as_deref(),
            Some("http://schema.org/width")
        );
        assert_eq!(
            ash.columns[3].property.as_deref(),
            Some("http://e.org/age"),
            "the name is that of the first title"
        );
        assert_eq!(ash.columns[2].property, None);
        for header in ["tree height", "h", "height"] {
            let column = ash.columns.iter().find(|column| column.name == header);
            let description = column.and_then(|column| column.description.as_deref());
            assert_eq!(description, Some("of the crown"), "{header}");
        }
        assert!(ash.problems.is_empty(), "{:?}", ash.problems);

        fs::write(
            place("data/rain.csv-metadata.json"),
            r#"{"@context": "http://www.w3.org/ns/csvw", "url": "rain.csv", "dc:title": "Rain gauges", "tableSchema": {
                "aboutUrl": "http://e.org/{station}", "columns": [{"titles": "stn", "name": "station"},
                {"titles": "mm", "name": "daily_precipitation"}, {"name": "none", "virtual": true}]}}"#,
        )
        .expect("written");
        let rain = find(&place("data/rain.csv"));
        assert_eq!(rain.title.as_deref(), Some("Rain gauges"));
        let labels = rain.columns.iter().map(|column| column.title.as_deref());
        let names = ["station", "daily precipitation"].map(Some);
        assert_eq!(labels.take(2).collect::<Vec<_>>(), names);
        assert!(
            rain.problems.len() == 1
                && rain.problems[0].contains("of rain.csv: aboutUrl, virtual;"),
            "{:?}",
            rain.problems
        );
    }
}
