//! Papers with Code: datasets of machine learning, from its `datasets.json` or from DataFinder's `collection.jsonl`.
//!
//! Both may be compressed. Both are mapped to DCAT as defined in `ontologies/papers-with-code.ttl`. DataFinder's file
//! has one object per line with less information: the year of the introducing paper, but no tasks, modalities,
//! languages or counts. It lists some datasets several times with different papers; they become one dataset with
//! several papers. Markdown descriptions are converted to plain text.
//!
//! V. Viswanathan et al.: *DataFinder: Scientific Dataset Recommendation from Natural Language Descriptions*, ACL
//! 2023.

use super::acordar::stated_text;
use super::dcat_builder::{DcatBuilder, Object, prune_object};
use super::json_entries::finish_entry;
use super::{Catalog, CatalogError, Dataset, DatasetId, Metadata, Scheme, Text, Theme, Work};
use lodeseek_rdf::dump;
use lodeseek_rdf::vocab::dcat;
use pulldown_cmark::{Event, Options, Parser, TagEnd};
use rustc_hash::FxHashSet;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hash;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// If true, the file begins like one of the two forms.
pub(super) fn looks_like(head: &str) -> bool {
    let listed = head.starts_with('[')
        && has_key(head, "name")
        && (has_key(head, "full_name")
            || has_key(head, "introduced_date")
            || has_key(head, "num_papers"));
    listed || is_lines(head)
}

/// Returns true if a text in JSON contains the key.
fn has_key(head: &str, key: &str) -> bool {
    head.contains(&format!("\"{key}\""))
}

fn is_lines(head: &str) -> bool {
    head.starts_with('{')
        && ["\"id\"", "\"contents\""]
            .iter()
            .all(|key| head.contains(key))
}

/// Keys of a line of DataFinder's collection.
const LINE_KEYS: [&str; 6] = ["id", "contents", "title", "year", "date", "variants"];
/// Keys of an entry of Papers with Code's list.
const ENTRY_KEYS: [&str; 12] = [
    "name",
    "full_name",
    "description",
    "paper",
    "introduced_date",
    "homepage",
    "url",
    "num_papers",
    "tasks",
    "modalities",
    "languages",
    "variants",
];

/// Reads the file.
///
/// # Errors
/// The file cannot be read or uncompressed, or is not valid JSON.
pub fn read(path: &Path) -> Result<Catalog, CatalogError> {
    let file = dump::open(path, &super::text_limits()).map_err(CatalogError::io(path))?;
    let mut reader = BufReader::new(file);
    let lines = !reader
        .fill_buf()
        .map_err(CatalogError::io(path))?
        .trim_ascii_start()
        .starts_with(b"[");
    let mut collection = Collection::default();
    if lines {
        for (place, line) in reader.lines().enumerate() {
            let line = line.map_err(CatalogError::io(path))?;
            if !line.trim().is_empty() {
                let entry = serde_json::from_str(&line).map_err(|error| error.to_string());
                let metadata = match &entry {
                    Ok(entry) => from_line(entry),
                    Err(error) => Err(error.clone()),
                };
                let entry = entry.unwrap_or_default();
                let place = format!("{}:{}", path.display(), place + 1);
                collection.add(metadata, other_keys(&entry, &LINE_KEYS), &place);
            }
        }
    } else {
        let entries: Vec<Value> =
            serde_json::from_reader(reader).map_err(|cause| CatalogError::Json {
                path: path.to_owned(),
                cause,
            })?;
        for (place, entry) in entries.iter().enumerate() {
            let place = format!("{}: entry {}", path.display(), place + 1);
            collection.add(from_entry(entry), other_keys(entry, &ENTRY_KEYS), &place);
        }
    }
    Ok(collection.finish())
}

/// Returns the keys of an entry that no field reads, with their values.
fn other_keys(entry: &Value, read: &[&str]) -> Object {
    let mut entry = entry.as_object().map(prune_object).unwrap_or_default();
    entry.retain(|key, _| !read.contains(&key.as_str()));
    entry
}

/// Removes repeated values.
fn make_distinct<T: Clone + Eq + Hash>(values: &mut Vec<T>) {
    let mut seen = FxHashSet::default();
    values.retain(|value| seen.insert(value.clone()));
}

/// Datasets by id; repeated entries are merged.
#[derive(Default)]
struct Collection {
    catalog: Catalog,
    places: BTreeMap<DatasetId, usize>,
    /// Keys that no field reads, with their values, by the place of the dataset.
    others: BTreeMap<usize, Vec<Object>>,
}

impl Collection {
    fn add(&mut self, metadata: Result<Metadata, String>, others: Object, place: &str) {
        let metadata = match metadata {
            Ok(metadata) => metadata,
            Err(reason) => {
                self.catalog.unreadable_entries += 1;
                self.catalog.problems.push(format!("{place}: {reason}"));
                return;
            }
        };
        let datasets = &mut self.catalog.datasets;
        let index = match self.places.get(&metadata.id) {
            Some(&known) => {
                merge_metadata(&mut datasets[known].metadata, metadata);
                known
            }
            None => {
                self.places.insert(metadata.id.clone(), datasets.len());
                datasets.push(Dataset::new(metadata));
                datasets.len() - 1
            }
        };
        if !others.is_empty() {
            self.others.entry(index).or_default().push(others);
        }
    }

    fn finish(mut self) -> Catalog {
        for (index, objects) in self.others {
            let dataset = &mut self.catalog.datasets[index];
            let mut builder = DcatBuilder::default();
            let node = builder.blank();
            builder.class(&node, dcat::DATASET);
            for object in objects {
                builder.extras(&node, object);
            }
            match finish_entry(builder, Some(dataset.metadata.id.clone())) {
                Ok((read, problems)) => {
                    dataset.extra_statements = read.extra_statements;
                    self.catalog.problems.extend(problems);
                }
                Err(reason) => self.catalog.problems.push(reason),
            }
        }
        for dataset in &mut self.catalog.datasets {
            let Metadata {
                descriptions,
                alternatives,
                themes,
                introduced_by,
                ..
            } = &mut dataset.metadata;
            make_distinct(descriptions);
            make_distinct(alternatives);
            make_distinct(themes);
            make_distinct(introduced_by);
        }
        self.catalog
    }
}

/// Merges an entry into an earlier one of the same id. Fields with a single value keep the earlier value; lists may repeat values
/// until [`Collection::finish`].
fn merge_metadata(into: &mut Metadata, from: Metadata) {
    into.descriptions.extend(from.descriptions);
    into.alternatives.extend(from.alternatives);
    into.themes.extend(from.themes);
    into.introduced_by.extend(from.introduced_by);
    into.issued = into.issued.take().or(from.issued);
    into.landing_page = into.landing_page.take().or(from.landing_page);
    into.uses = into.uses.max(from.uses);
}

/// Parses a line of DataFinder's collection: `title` and `year` are those of the introducing paper.
fn from_line(entry: &Value) -> Result<Metadata, String> {
    let entry = entry.as_object().ok_or("not a JSON object")?;
    let mut metadata = metadata_with_title(&find_text(entry, "id").ok_or("no `id`")?)?;
    add_description(&mut metadata, entry.get("contents"));
    let paper = find_text(entry, "title").map(|title| Work {
        title,
        iri: None,
        issued: find_text(entry, "year"),
    });
    metadata.introduced_by.extend(paper);
    metadata.issued = find_text(entry, "date");
    add_names(&mut metadata, find_strings(entry, "variants"));
    Ok(metadata)
}

/// Parses an entry of Papers with Code's list.
fn from_entry(entry: &Value) -> Result<Metadata, String> {
    let entry = entry.as_object().ok_or("not a JSON object")?;
    let mut metadata = metadata_with_title(&find_text(entry, "name").ok_or("no `name`")?)?;
    add_description(&mut metadata, entry.get("description"));
    metadata
        .introduced_by
        .extend(entry.get("paper").and_then(read_paper));
    metadata.issued = find_text(entry, "introduced_date");
    metadata.landing_page = find_text(entry, "homepage");
    metadata.source = find_text(entry, "url");
    metadata.uses = entry.get("num_papers").and_then(Value::as_u64);
    for (key, scheme) in [
        ("tasks", Scheme::Task),
        ("modalities", Scheme::Modality),
        ("languages", Scheme::Language),
    ] {
        metadata.themes.extend(read_themes(entry.get(key), scheme));
    }
    add_names(
        &mut metadata,
        find_text(entry, "full_name")
            .into_iter()
            .chain(find_strings(entry, "variants")),
    );
    Ok(metadata)
}

/// Creates metadata with the id used in DataFinder's judgements: runs of white space become `_`.
fn metadata_with_title(name: &str) -> Result<Metadata, String> {
    let id = name.split_whitespace().collect::<Vec<_>>().join("_");
    let id = DatasetId::new(id).map_err(|error| error.to_string())?;
    Ok(Metadata {
        titles: vec![Text::plain(name)],
        ..Metadata::new(id)
    })
}

fn add_description(metadata: &mut Metadata, markdown: Option<&Value>) {
    let text = markdown
        .and_then(Value::as_str)
        .map(plain_text)
        .unwrap_or_default();
    if !text.is_empty() {
        metadata.descriptions.push(Text::plain(text));
    }
}

/// Adds alternative names that the dataset does not have yet.
fn add_names(metadata: &mut Metadata, names: impl IntoIterator<Item = String>) {
    let known = metadata.titles.iter().chain(&metadata.alternatives);
    let mut known: BTreeSet<String> = known.map(|text| text.value.clone()).collect();
    metadata.alternatives.extend(
        names
            .into_iter()
            .filter(|name| known.insert(name.clone()))
            .map(Text::plain),
    );
}

fn read_paper(value: &Value) -> Option<Work> {
    match value {
        Value::Object(paper) => Some(Work {
            title: find_text(paper, "title")?,
            iri: find_text(paper, "url"),
            issued: None,
        }),
        other => stated_text(other).map(|title| Work {
            title,
            iri: None,
            issued: None,
        }),
    }
}

fn read_themes(value: Option<&Value>, scheme: Scheme) -> impl Iterator<Item = Theme> + '_ {
    let values = value.and_then(Value::as_array).into_iter().flatten();
    values.filter_map(move |value| match value {
        Value::Object(theme) => {
            let label = find_text(theme, "name").or_else(|| find_text(theme, "task"))?;
            Some(Theme {
                label,
                scheme,
                iri: find_text(theme, "url"),
            })
        }
        other => stated_text(other).map(|label| Theme {
            label,
            scheme,
            iri: None,
        }),
    })
}

fn find_text(entry: &Map<String, Value>, key: &str) -> Option<String> {
    stated_text(entry.get(key)?)
}

fn find_strings(entry: &Map<String, Value>, key: &str) -> Vec<String> {
    entry
        .get(key)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(stated_text)
        .collect()
}

/// Converts Markdown to plain text, one line per paragraph, heading, list item or row. Addresses of links and images
/// are removed.
fn plain_text(markdown: &str) -> String {
    let mut out = String::with_capacity(markdown.len());
    for event in Parser::new_ext(
        markdown,
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_MATH,
    ) {
        match event {
            Event::Text(text)
            | Event::Code(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text) => {
                out.push_str(&text);
            }
            Event::SoftBreak | Event::HardBreak | Event::End(TagEnd::TableCell) => out.push(' '),
            Event::End(
                TagEnd::Paragraph
                | TagEnd::Heading(_)
                | TagEnd::Item
                | TagEnd::CodeBlock
                | TagEnd::TableRow
                | TagEnd::TableHead,
            ) => out.push('\n'),
            _ => {}
        }
    }
    let lines = out
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    lines
        .filter(|line| !line.is_empty())
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn markdown_becomes_text() {
        let markdown = "**DIV2K** is a [set](http://e.org/x) of `images`.\r\n\r\n* one\r\n* two & <b>three</b>\r\n\r\n![a cat](cat.png)\r\n\r\n| a | b |\r\n|---|---|\r\n| 1 | 2 |\r\n\r\nSource: [A Paper](/paper/a)";
        assert_eq!(
            plain_text(markdown),
            "DIV2K is a set of images.\none\ntwo & three\na cat\na b\n1 2\nSource: A Paper"
        );
    }

    #[test]
    fn a_line_of_datafinder() {
        let line = json!({"id": "KITTI  Road", "contents": "*Roads*", "variants": ["KITTI  Road", "KITTI-R"],
            "title": "A benchmark", "year": 2013, "date": "2013-01-01"});
        let metadata = from_line(&line).expect("a dataset");
        assert_eq!(metadata.id.as_str(), "KITTI_Road");
        assert_eq!(metadata.description(), Some("Roads"));
        assert_eq!(metadata.alternatives, [Text::plain("KITTI-R")]);
        assert_eq!(
            metadata.introduced_by,
            [Work {
                title: "A benchmark".into(),
                iri: None,
                issued: Some("2013".into())
            }]
        );
        assert_eq!(metadata.first_year(), Some(2013));
        assert!(from_line(&json!({"contents": "x"})).is_err());
    }

    #[test]
    fn an_entry_of_papers_with_code() {
        let entry = json!({"url": "https://paperswithcode.com/dataset/mnist", "name": "MNIST", "full_name": null,
            "homepage": "http://yann.lecun.com/exdb/mnist/", "description": "Digits.", "introduced_date": "1998-11-01",
            "paper": {"title": "Gradient-based learning", "url": "https://e.org/p"},
            "modalities": [{"name": "Images", "url": "https://e.org/m"}], "languages": ["English"],
            "tasks": [{"task": "Image Classification", "url": "https://e.org/t"}], "variants": ["MNIST", "75 Superpixel MNIST"],
            "num_papers": 6000});
        let metadata = from_entry(&entry).expect("a dataset");
        assert_eq!(
            (metadata.id.as_str(), metadata.uses, metadata.first_year()),
            ("MNIST", Some(6000), Some(1998))
        );
        let themes: Vec<_> = metadata
            .themes
            .iter()
            .map(|theme| (theme.scheme, theme.label.as_str()))
            .collect();
        assert_eq!(
            themes,
            [
                (Scheme::Task, "Image Classification"),
                (Scheme::Modality, "Images"),
                (Scheme::Language, "English")
            ]
        );
        assert_eq!(metadata.alternatives.len(), 1);
        assert!(from_entry(&json!({"full_name": "x"})).is_err());
    }

    #[test]
    fn entries_of_one_id_are_one_dataset() {
        let mut collection = Collection::default();
        let line = |title: &str, year: i32| {
            from_line(
                &json!({"id": "ATIS", "contents": "Flights", "title": title, "year": year, "variants": ["ATIS"]}),
            )
        };
        collection.add(line("The pilot corpus", 1990), Object::new(), "a:1");
        collection.add(line("Faces", 2011), Object::new(), "a:2");
        collection.add(Err("no id".into()), Object::new(), "a:3");
        let catalog = collection.finish();
        assert_eq!(catalog.datasets.len(), 1);
        assert_eq!(catalog.problems[..], ["a:3: no id"]);
        assert_eq!(catalog.unreadable_entries, 1, "nothing counts as delisted");
        let metadata = &catalog.datasets[0].metadata;
        assert_eq!(
            (metadata.introduced_by.len(), metadata.descriptions.len()),
            (2, 1)
        );
        assert_eq!(metadata.first_year(), Some(1990));
    }
}
