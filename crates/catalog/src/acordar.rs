//! Lists of datasets in JSON with plain keys, as in ACORDAR's `datasets.json`.
//!
//! Ids are numbers or strings. The keys are those of [`DescriptionField`]. A value may be an object or have texts by language, as
//! in other dialects. Any other key is kept as an additional property. Absent values are missing, `null`, empty or the
//! string `"None"`.
//!
//! Texts are kept as they are published. Of a list of titles, descriptions, licences, dates or pages, the first one counts; the
//! others are additional properties. Tags are a list, or one string split at `;`. Dumps are one path or link, a list, or
//! several in one string: paths are separated by line ends, links also by white space, commas and semicolons. An
//! unreadable entry does not affect the others.

use super::dcat_builder::{DcatBuilder, Field, FieldKind, Object, prune_object, take_first};
use super::description_fields::{DescriptionField, for_builder};
use super::json_entries::finish_entry;
use super::{
    Agent, Catalog, CatalogError, Dataset, DatasetId, Distribution, Location, Metadata, Text,
};
use lodeseek_rdf::vocab::{dcat, dcterms};
use serde_json::Value;
use std::path::Path;

/// Keys of the files, best first.
const FILES: [&str; 5] = ["download", "dump", "dumps", "distribution", "distributions"];
/// Members of a file's object that contain its address or path, best first.
const FILE_ADDRESSES: [&str; 8] = [
    "downloadURL",
    "download_url",
    "url",
    "href",
    "path",
    "file",
    "accessURL",
    "access_url",
];
/// Members of a file's object that contain its media type.
const FILE_TYPES: [&str; 3] = ["mediaType", "media_type", "mediatype"];
/// (key, other spellings, best first). They precede those of [`DescriptionField`].
const SPELLINGS: [(&str, &[&str]); 10] = [
    ("creator", &["author"]),
    (
        "landingPage",
        &["url", "landing_page", "source_repo", "homepage"],
    ),
    ("issued", &["created"]),
    ("license", &["licence"]),
    ("accessRights", &["access_rights"]),
    ("conformsTo", &["conforms_to"]),
    ("contact", &["contact_point"]),
    ("language", &["languages"]),
    ("theme", &["themes"]),
    ("otherIdentifier", &["other_identifier", "identifier"]),
];
/// Keys of which the first text counts. It is kept as it is published.
const SINGLE_TEXTS: [&str; 6] = [
    "title",
    "description",
    "license",
    "issued",
    "modified",
    "landingPage",
];

/// Reads a document.
pub(super) fn read(document: Value, path: &Path) -> Result<Catalog, CatalogError> {
    let mut catalog = Catalog::default();
    let entries = match document {
        Value::Array(entries) => Some(entries),
        Value::Object(mut object) => {
            let entries = object.remove("datasets");
            if !object.is_empty() {
                let keys: Vec<&str> = object.keys().map(String::as_str).collect();
                catalog.problems.push(format!(
                    "{}: keys beside \"datasets\" are not read: {}",
                    path.display(),
                    keys.join(", ")
                ));
            }
            match entries {
                Some(Value::Array(entries)) => Some(entries),
                _ => None,
            }
        }
        _ => None,
    };
    let Some(entries) = entries else {
        return Err(CatalogError::NoList {
            path: path.to_owned(),
        });
    };
    for (place, entry) in entries.iter().enumerate() {
        let place = format!("{}: entry {}", path.display(), place + 1);
        match read_dataset(entry) {
            Ok((dataset, problems)) => {
                let id = &dataset.metadata.id;
                let problems = problems.iter();
                catalog
                    .problems
                    .extend(problems.map(|problem| format!("{place} ({id}): {problem}")));
                catalog.datasets.push(dataset);
            }
            Err(reason) => {
                catalog.unreadable_entries += 1;
                catalog.problems.push(format!("{place}: {reason}"));
            }
        }
    }
    Ok(catalog)
}

/// Reads one entry. Also returns the problems with its values.
fn read_dataset(entry: &Value) -> Result<(Dataset, Vec<String>), String> {
    let entry = entry.as_object().ok_or("not a JSON object")?;
    let mut entry = prune_object(entry);
    remove_missing(&mut entry);
    let id = take_id(&mut entry)?;
    read_plain_keys(entry, id)
}

/// Reads the keys of a dataset with this id. Also returns the problems with its values.
pub(super) fn read_plain_keys(
    mut entry: Object,
    id: DatasetId,
) -> Result<(Dataset, Vec<String>), String> {
    let mut builder = DcatBuilder::default();
    let node = builder.blank();
    builder.class(&node, dcat::DATASET);
    let mut published = Metadata::new(id.clone());
    if let Some(tags) = take_texts(&mut entry, "tags") {
        published.keywords = tags.into_iter().map(Text::plain).collect();
    }
    rename_keys(&mut entry);
    if let Some(names) = take_texts(&mut entry, "creator") {
        let agents = names.into_iter().map(|name| Agent { name, iri: None });
        published.creators = agents.collect();
    }
    for key in SINGLE_TEXTS {
        let Some(mut texts) = take_texts(&mut entry, key) else {
            continue;
        };
        let first = texts.remove(0);
        match key {
            "title" => published.titles.push(Text::plain(first)),
            "description" => published.descriptions.push(Text::plain(first)),
            "license" => published.license = Some(first),
            "issued" => published.issued = Some(first),
            "modified" => published.modified = Some(first),
            _ => published.landing_page = Some(first),
        }
        builder.extra(&node, key, &Value::from(texts));
    }
    let mut distributions = Vec::new();
    if let Some(files) = take_first(&mut entry, &FILES) {
        for file in split_files(files) {
            let (found, rest) = read_files(&file);
            distributions.extend(found);
            if let Some(rest) = rest {
                builder.extra(&node, "download", &rest);
            }
        }
    }
    let fields = fields();
    for (key, ..) in &fields {
        if let Some(value) = entry.get_mut(*key) {
            *value = for_builder(value);
        }
    }
    builder.fields(&node, &mut entry, &fields);
    builder.extras(&node, entry);
    let (mut dataset, problems) = finish_entry(builder, Some(id))?;
    dataset.distributions.extend(distributions);
    add_published_texts(&mut dataset.metadata, published);
    Ok((dataset, problems))
}

/// Returns the mapping of the keys of [`DescriptionField`], and of the keys that may occur beside them.
fn fields() -> Vec<Field> {
    let mut fields: Vec<Field> = DescriptionField::ALL
        .iter()
        .map(DescriptionField::mapping)
        .collect();
    fields.extend([
        ("author", dcterms::CREATOR, FieldKind::Agent),
        ("tags", dcat::KEYWORD, FieldKind::Keywords),
        ("keyword", dcat::KEYWORD, FieldKind::Keywords),
        ("created", dcterms::CREATED, FieldKind::Date),
    ]);
    fields
}

/// Adds the texts that are kept as published. They precede others of their kind.
fn add_published_texts(metadata: &mut Metadata, published: Metadata) {
    metadata.titles.splice(0..0, published.titles);
    metadata.descriptions.splice(0..0, published.descriptions);
    metadata.keywords.splice(0..0, published.keywords);
    metadata.creators.splice(0..0, published.creators);
    metadata.license = published.license.or(metadata.license.take());
    metadata.issued = published.issued.or(metadata.issued.take());
    metadata.modified = published.modified.or(metadata.modified.take());
    metadata.landing_page = published.landing_page.or(metadata.landing_page.take());
}

/// Removes values that stand for none, also those in lists.
fn remove_missing(entry: &mut Object) {
    for value in entry.values_mut() {
        if let Value::Array(values) = value {
            values.retain(|value| !is_missing(value));
        }
    }
    entry.retain(|_, value| !is_missing(value));
}

fn is_missing(value: &Value) -> bool {
    match value {
        Value::String(_) => stated_text(value).is_none(),
        Value::Array(values) => values.is_empty(),
        value => value.is_null(),
    }
}

/// Removes and returns the id. A key that repeats it is removed as well.
fn take_id(entry: &mut Object) -> Result<DatasetId, String> {
    let id = ["dataset_id", "id"]
        .iter()
        .find_map(|key| first_stated_text(entry.get(*key)?));
    let id = id.ok_or("no `dataset_id` or `id`")?;
    for key in ["dataset_id", "id", "identifier"] {
        if entry.get(key).and_then(first_stated_text).as_ref() == Some(&id) {
            entry.remove(key);
        }
    }
    DatasetId::new(id.as_str()).map_err(|error| error.to_string())
}

fn first_stated_text(value: &Value) -> Option<String> {
    match value {
        Value::Array(values) => values.iter().find_map(stated_text),
        value => stated_text(value),
    }
}

/// Gives the best spelling of each field its key. Other spellings stay as they are.
///
/// As in DCAT, the date of issue precedes the date of creation: filters by year compare publication.
fn rename_keys(entry: &mut Object) {
    let own = SPELLINGS.iter().copied();
    let general = DescriptionField::ALL
        .iter()
        .map(|field| (field.key, field.aliases));
    for (key, spellings) in own.chain(general) {
        if entry.contains_key(key) {
            continue;
        }
        if let Some(value) = take_first(entry, spellings) {
            entry.insert(key.to_owned(), value);
        }
    }
}

/// Removes and returns the texts of a key. Values of another form stay.
fn take_texts(entry: &mut Object, key: &str) -> Option<Vec<String>> {
    let texts: Vec<String> = match entry.get(key)? {
        Value::Array(values) => values.iter().map(stated_text).collect::<Option<_>>()?,
        value if key == "tags" => split_values(&stated_text(value)?, ';'),
        value => vec![stated_text(value)?],
    };
    entry.remove(key);
    (!texts.is_empty()).then_some(texts)
}

fn split_values(text: &str, separator: char) -> Vec<String> {
    let parts = text.split(separator).map(str::trim);
    parts
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect()
}

fn split_files(value: Value) -> Vec<Value> {
    match value {
        Value::Array(values) => values,
        Value::String(text) => split_values(&text, '\n')
            .into_iter()
            .map(Value::from)
            .collect(),
        value => vec![value],
    }
}

/// Reads the files of a text or of an object. Also returns a value of which more is to be kept than the address.
fn read_files(file: &Value) -> (Vec<Distribution>, Option<Value>) {
    let Value::Object(object) = file else {
        let Some(text) = stated_text(file) else {
            return (Vec::new(), Some(file.clone()));
        };
        let locations = split_links(&text).into_iter().map(Location::from_text);
        return (locations.map(Distribution::new).collect(), None);
    };
    let mut rest = object.clone();
    let Some(address) = take_first(&mut rest, &FILE_ADDRESSES)
        .as_ref()
        .and_then(stated_text)
    else {
        return (Vec::new(), Some(file.clone()));
    };
    let mut distribution = Distribution::new(Location::from_text(&address));
    distribution.media_type = take_first(&mut rest, &FILE_TYPES)
        .as_ref()
        .and_then(stated_text);
    let others = (!rest.is_empty()).then(|| file.clone());
    (vec![distribution], others)
}

/// Splits a text that begins with a link into its links. Any other text is one path.
fn split_links(text: &str) -> Vec<&str> {
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

fn is_link(text: &str) -> bool {
    text.starts_with("http://") || text.starts_with("https://") || text.starts_with("ftp://")
}

/// Returns the text of a string or number, unless it stands for a missing value.
pub(super) fn stated_text(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    (!text.is_empty() && text != "None" && text != "null").then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn dataset(entry: Value) -> Dataset {
        read_dataset(&entry).expect("readable").0
    }

    fn issued(entry: Value) -> Option<String> {
        dataset(entry).metadata.issued
    }

    #[test]
    fn the_liberties_of_the_published_file() {
        let plain = dataset(
            json!({"dataset_id": 7, "title": "T", "tags": "a; b;;c", "author": "None", "download": "x.nt"}),
        );
        assert_eq!(plain.metadata.id.as_str(), "7");
        assert_eq!(plain.metadata.keywords.len(), 3);
        assert!(plain.metadata.creators.is_empty());
        assert_eq!(
            plain.distributions[0].location,
            Location::File("x.nt".into())
        );
        let other = dataset(
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
        let lists = dataset(
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
        assert!(read_dataset(&json!({"title": "no id"})).is_err());
        assert!(read_dataset(&json!({"dataset_id": "a b"})).is_err());
        assert!(read_dataset(&json!(3)).is_err());
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
            let (dataset, _) =
                read_dataset(&json!({"dataset_id": 1, "download": text})).expect("readable");
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
