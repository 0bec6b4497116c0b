//! Datasets as JSON Lines in the plainest form: `title`, `description` and optional `categories`.
//!
//! Lists drawn from portals for experiments have this form. They contain no ids: the id is made of line number and
//! title. Two datasets of one title remain two, and the same file yields the same ids.

use super::{Catalog, CatalogError, Dataset, DatasetId, Metadata, Text};
use lodeseek_rdf::dump;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// Maximum number of characters of the title in an id.
const TITLE: usize = 60;

/// If true, the first line is a whole object with title and description, and a second line begins an object. A
/// document with ids, or in JSON-LD, is of another dialect.
pub(super) fn looks_like(head: &str) -> bool {
    let mut lines = head.lines();
    let Some(Ok(Value::Object(first))) = lines.next().map(serde_json::from_str) else { return false };
    let others = ["id", "identifier", "dataset_id", "name", "contents", "dataset", "resources"];
    let is_other = first.keys().any(|key| key.starts_with('@') || others.contains(&key.as_str()));
    let is_said = ["title", "description"].iter().all(|key| first.get(*key).is_some_and(Value::is_string));
    is_said && !is_other && lines.next().is_some_and(|line| line.starts_with('{'))
}

/// Reads the file.
pub(super) fn read(path: &Path) -> Result<Catalog, CatalogError> {
    let failed = |cause| CatalogError::Io { path: path.to_owned(), cause };
    let reader = BufReader::new(dump::open(path, &super::limits()).map_err(failed)?);
    let mut catalog = Catalog::default();
    for (line, number) in reader.lines().zip(1..) {
        let line = line.map_err(failed)?;
        if line.trim().is_empty() {
            continue;
        }
        match metadata(&line, number) {
            Ok(metadata) => catalog.datasets.push(Dataset::new(metadata)),
            Err(reason) => {
                catalog.problems.push(format!("{}:{number}: {reason}", path.display()));
                catalog.unreadable_entries += 1;
            }
        }
    }
    Ok(catalog)
}

fn metadata(line: &str, number: usize) -> Result<Metadata, String> {
    let entry: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let text = |key: &str| entry[key].as_str().map(str::trim).filter(|text| !text.is_empty());
    let title = text("title").ok_or("no `title`")?;
    let short: String = title.chars().take(TITLE).collect();
    let id = DatasetId::from_text(&format!("{number}-{short}")).ok_or("no id can be made from the title")?;
    let categories = entry["categories"].as_array().into_iter().flatten().filter_map(Value::as_str);
    Ok(Metadata {
        titles: vec![Text::plain(title)],
        descriptions: text("description").map(Text::plain).into_iter().collect(),
        keywords: categories.map(Text::plain).collect(),
        ..Metadata::new(id)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_with_titles_and_no_ids() {
        let lines = "{\"title\": \"Fish  stocks\", \"description\": \"By year\", \"categories\": [\"AGRI\"]}\n{\"title\": \"x\"}\n";
        assert!(looks_like(lines));
        for other in [
            "{\"title\": \"a\", \"description\": \"b\"}",
            "{\n\"title\": \"a\"}",
            "{\"id\": 1, \"title\": \"a\", \"description\": \"b\"}\n{",
        ] {
            assert!(!looks_like(other), "{other}");
        }
        let read = metadata(lines.lines().next().expect("a line"), 7).expect("a dataset");
        assert_eq!((read.id.as_str(), read.description()), ("7-Fish--stocks", Some("By year")));
        assert_eq!(read.keywords, [Text::plain("AGRI")]);
        assert!(metadata("{\"description\": \"b\"}", 1).is_err());
    }
}
