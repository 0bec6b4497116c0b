//! JSON Lines: packages of CKAN as `ckanapi dump datasets` writes them, entries of `data.json`, JSON-LD, or datasets in the
//! plainest form.
//!
//! The plainest form has `title`, `description`, optional `categories`, and other keys of a description. Lists drawn from
//! portals for experiments have it. They contain no ids: the id is made of line number and title. Two datasets of one title remain two, and the same file yields
//! the same ids.

use super::acordar::read_plain_keys;
use super::dcat_builder::prune_object;
use super::json_entries::{DescribeEntry, add_entry};
use super::{
    Catalog, CatalogError, CatalogFile, Dataset, DatasetId, Dialect, EntryKey, Head, IdOrigin,
};
use super::{ckan, data_json, dcat, json, read_text, text_limits};
use lodeseek_rdf::dump;
use serde_json::Value;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// Maximum number of characters of the title in an id.
const MAX_TITLE_CHARACTERS: usize = 60;
/// Maximum number of bytes of the first line.
const MAX_FIRST_LINE_BYTES: u64 = 64 << 20;

/// Form of the lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    Plain,
    Ckan,
    DataJson,
    JsonLd,
}

impl Form {
    /// Detects the form by the first entry.
    fn from_entry(entry: &Value) -> Option<Self> {
        let object = entry.as_object()?;
        if ["@context", "@graph"]
            .iter()
            .any(|key| object.contains_key(*key))
        {
            return Some(Self::JsonLd);
        }
        if ckan::is_package(entry) {
            return Some(Self::Ckan);
        }
        if data_json::is_entry(entry) {
            return Some(Self::DataJson);
        }
        let others = [
            "id",
            "identifier",
            "dataset_id",
            "name",
            "contents",
            "dataset",
            "resources",
        ];
        let is_other = object
            .keys()
            .any(|key| key.starts_with('@') || others.contains(&key.as_str()));
        let is_plain = ["title", "description"]
            .iter()
            .all(|key| object.get(*key).is_some_and(Value::is_string));
        (is_plain && !is_other).then_some(Self::Plain)
    }

    fn dialect(self) -> Dialect {
        match self {
            Self::Plain => Dialect::JsonLines,
            Self::Ckan => Dialect::Ckan,
            Self::DataJson => Dialect::DataJson,
            Self::JsonLd => Dialect::Dcat,
        }
    }
}

/// Reads a file if it consists of objects, one a line, in a known form. Returns `None` for other files.
pub(super) fn read(file: &CatalogFile<'_>, head: &Head) -> Result<Option<Catalog>, CatalogError> {
    if !head.text.starts_with('{') {
        return Ok(None);
    }
    // The first line of another document is rarely a whole object.
    let first = head.text.lines().next().unwrap_or_default();
    if first.len() < head.text.len()
        && serde_json::from_str::<serde::de::IgnoredAny>(first).is_err()
    {
        return Ok(None);
    }
    // A file that cannot be uncompressed is reported by its reader.
    let Ok(reader) = open(file.path, head) else {
        return Ok(None);
    };
    let Some(form) = first_entry(reader, b"{").map_err(CatalogError::io(file.path))? else {
        return Ok(None);
    };
    let Some(form) = Form::from_entry(&form) else {
        return Ok(None);
    };
    let reader = open(file.path, head).map_err(CatalogError::io(file.path))?;
    let catalog = match form {
        Form::Ckan => read_lines(reader, file.path, ckan::write_entry),
        Form::DataJson => read_lines(reader, file.path, data_json::write_single),
        Form::Plain => read_plain(reader, file.path),
        Form::JsonLd => return read_json_ld(reader, file).map(Some),
    };
    Ok(Some(Catalog {
        dialect: form.dialect(),
        ..catalog.map_err(CatalogError::io(file.path))?
    }))
}

/// Returns true if a file is a table in JSON Lines: a whole object or list in the first line, and another one after it.
///
/// # Errors
/// If the file cannot be read.
pub(super) fn is_table(file: &CatalogFile<'_>, head: &Head) -> Result<bool, CatalogError> {
    if !head.text.starts_with(['{', '[']) {
        return Ok(false);
    }
    // A file that cannot be uncompressed is reported by its reader.
    let Ok(reader) = open(file.path, head) else {
        return Ok(false);
    };
    let first = first_entry(reader, b"{[").map_err(CatalogError::io(file.path))?;
    Ok(first.is_some_and(|first: Value| first.is_object() || first.is_array()))
}

fn open(path: &Path, head: &Head) -> io::Result<Box<dyn BufRead>> {
    if head.is_converted {
        return Ok(Box::new(io::Cursor::new(read_text(path, None)?.text)));
    }
    Ok(Box::new(BufReader::new(dump::open(path, &text_limits())?)))
}

/// Returns the first entry if it is a whole line, and another entry follows, which begins with one of the given bytes.
fn first_entry(reader: impl BufRead, beginnings: &[u8]) -> io::Result<Option<Value>> {
    let mut reader = reader.take(MAX_FIRST_LINE_BYTES);
    let mut line = Vec::new();
    while line.trim_ascii().is_empty() {
        line.clear();
        if reader.read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
    }
    // The line may be incomplete.
    if reader.limit() == 0 {
        return Ok(None);
    }
    let first = dump::decode_text(line.as_slice(), None)?;
    let Ok(entry) = serde_json::from_str(&first.text) else {
        return Ok(None);
    };
    // Of the second entry, the first byte is enough.
    for byte in reader.bytes() {
        match byte? {
            byte if beginnings.contains(&byte) => return Ok(Some(entry)),
            byte if byte.is_ascii_whitespace() => {}
            _ => return Ok(None),
        }
    }
    Ok(None)
}

/// Calls a function with each line that is not empty, and its number.
fn each_line(mut reader: impl BufRead, mut read: impl FnMut(&str, usize)) -> io::Result<()> {
    let mut bytes = Vec::new();
    for number in 1.. {
        bytes.clear();
        if reader.read_until(b'\n', &mut bytes)? == 0 {
            break;
        }
        if !bytes.trim_ascii().is_empty() {
            match std::str::from_utf8(&bytes) {
                Ok(line) => read(line.trim_end(), number),
                Err(_) => read(
                    dump::decode_text(bytes.as_slice(), None)?.text.trim_end(),
                    number,
                ),
            }
        }
    }
    Ok(())
}

fn read_lines(
    reader: impl BufRead,
    path: &Path,
    describe: impl DescribeEntry,
) -> io::Result<Catalog> {
    let mut catalog = Catalog::default();
    each_line(reader, |line, number| {
        let place = format!("{}:{number}", path.display());
        match json::parse(line) {
            Ok((entry, problem)) => {
                catalog
                    .problems
                    .extend(problem.map(|problem| format!("{place}: {problem}")));
                add_entry(&mut catalog, &entry, place, &describe);
            }
            Err(error) => {
                catalog.problems.push(format!("{place}: {error}"));
                catalog.unreadable_entries += 1;
            }
        }
    })?;
    Ok(catalog)
}

fn read_plain(reader: impl BufRead, path: &Path) -> io::Result<Catalog> {
    let mut catalog = Catalog::default();
    each_line(reader, |line, number| {
        let place = format!("{}:{number}", path.display());
        match read_plain_dataset(line, number) {
            Ok((dataset, problems)) => {
                let problems = problems.iter();
                catalog
                    .problems
                    .extend(problems.map(|problem| format!("{place}: {problem}")));
                catalog.datasets.push(dataset);
            }
            Err(reason) => {
                catalog.problems.push(format!("{place}: {reason}"));
                catalog.unreadable_entries += 1;
            }
        }
    })?;
    Ok(catalog)
}

fn read_json_ld(reader: impl BufRead, file: &CatalogFile<'_>) -> Result<Catalog, CatalogError> {
    let (mut texts, mut problems) = (Vec::new(), Vec::new());
    each_line(reader, |line, number| {
        let place = format!("{}:{number}", file.path.display());
        match super::json_repair::repair(line) {
            Ok(repaired) => {
                problems.extend(
                    repaired
                        .problem()
                        .map(|problem| format!("{place}: {problem}")),
                );
                texts.push(repaired.text.into_owned());
            }
            Err(error) => problems.push(format!("{place}: {error}")),
        }
    })
    .map_err(CatalogError::io(file.path))?;
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let mut catalog = dcat::read_texts(file, &texts).map_err(CatalogError::io(file.path))?;
    catalog.problems.extend(problems);
    Ok(catalog)
}

/// Reads a line in the plainest form. Also returns the problems with its values.
fn read_plain_dataset(line: &str, number: usize) -> Result<(Dataset, Vec<String>), String> {
    let entry: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let mut entry = entry.as_object().map(prune_object).unwrap_or_default();
    let title = entry.get("title").and_then(Value::as_str).map(str::trim);
    let title = title.ok_or("no `title`")?;
    let short: String = title.chars().take(MAX_TITLE_CHARACTERS).collect();
    let id = DatasetId::from_text(&format!("{number}-{short}"))
        .ok_or("no id can be made from the title")?;
    if !entry.contains_key("tags")
        && let Some(categories) = entry.remove("categories")
    {
        entry.insert("tags".to_owned(), categories);
    }
    let (mut dataset, problems) = read_plain_keys(entry, id)?;
    // The number of a line changes with the lines before it.
    dataset.entry = EntryKey::new(IdOrigin::Line);
    Ok((dataset, problems))
}

#[cfg(test)]
mod tests {
    use super::super::Text;
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    fn form_of(lines: &str) -> Option<Form> {
        first_entry(lines.as_bytes(), b"{")
            .expect("in memory")
            .as_ref()
            .and_then(Form::from_entry)
    }

    #[test]
    fn forms_of_lines() {
        let plain = "{\"title\": \"Fish  stocks\", \"description\": \"By year\", \"categories\": [\"AGRI\"]}\n{\"title\": \"x\"}\n";
        for (lines, form) in [
            (plain, Some(Form::Plain)),
            (
                "{\"name\": \"a\", \"resources\": []}\r\n\r\n{",
                Some(Form::Ckan),
            ),
            (
                "{\"title\": \"a\", \"accessLevel\": \"public\"}\n{",
                Some(Form::DataJson),
            ),
            (
                "{\"@context\": {}, \"title\": \"a\"}\n{",
                Some(Form::JsonLd),
            ),
            ("{\"title\": \"a\", \"description\": \"b\"}", None),
            ("{\n\"title\": \"a\"}\n{", None),
            (
                "{\"id\": 1, \"title\": \"a\", \"description\": \"b\"}\n{",
                None,
            ),
            ("{\"title\": \"a\", \"description\": \"b\"}\n[", None),
            ("", None),
        ] {
            assert_eq!(form_of(lines), form, "{lines}");
        }
        let (read, _) =
            read_plain_dataset(plain.lines().next().expect("a line"), 7).expect("a dataset");
        let read = read.metadata;
        assert_eq!(
            (read.id.as_str(), read.description()),
            ("7-Fish--stocks", Some("By year"))
        );
        assert_eq!(read.keywords, [Text::plain("AGRI")]);
        assert!(read_plain_dataset("{\"description\": \"b\"}", 1).is_err());
    }

    #[test]
    fn packages_of_a_dump() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("datasets.jsonl.gz");
        let long = "x".repeat(10_000);
        let lines = format!(
            "{{\"name\": \"mills\", \"title\": \"Mills\", \"notes\": \"{long}\", \"resources\": []}}\n\
             {{\"name\": \"weirs\", \"title\": \"Weirs\", \"resources\": [],}}\n\
             {{\"name\": \"cut\n\
             {{\"name\": \"gone\", \"state\": \"deleted\", \"resources\": []}}\n"
        );
        let mut encoder = GzEncoder::new(
            std::fs::File::create(&path).expect("a file"),
            Compression::default(),
        );
        encoder.write_all(lines.as_bytes()).expect("written");
        encoder.finish().expect("written");
        let catalog = Catalog::read(&path).expect("a catalogue");
        let ids: Vec<&str> = catalog
            .datasets
            .iter()
            .map(|dataset| dataset.metadata.id.as_str())
            .collect();
        assert_eq!(
            (ids, catalog.dialect, catalog.unreadable_entries),
            (vec!["mills", "weirs"], Dialect::Ckan, 1)
        );
        let places = [":2: not valid JSON", ":3: EOF", ":4 (gone): ignored"];
        for (problem, place) in catalog.problems.iter().zip(places) {
            assert!(problem.contains(place), "{problem}");
        }
        assert_eq!(catalog.problems.len(), places.len());
    }
}
