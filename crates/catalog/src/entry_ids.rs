//! Ids of the entries of a catalogue: one for each dataset, and keys by which an entry is recognised when it is read again.
//!
//! The last part of an IRI, a title or the name of a file need not be unique. Entries whose ids would be equal get longer
//! ones, each from its own IRI, identifier or file alone, so that no id depends on the order of the entries. A catalogue that
//! grows may thus need longer ids for entries that were loaded before. The key of an entry does not depend on the other
//! entries: a home or a harvest finds the id under which it has the dataset.

use super::digest::format_hex;
use super::statement::{listed_id, listed_node, reference_of};
use super::typed_fields;
use super::{Dataset, DatasetId, Node, Problem, Statement, Value};
use lodeseek_rdf::vocab::{dcterms, lodeseek};
use oxrdf::Literal;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of further parts of an IRI in an id.
const MAX_PARTS: usize = 5;
/// Maximum number of characters of an id before a hash.
const MAX_STEM_CHARS: usize = 180;
/// Length of the hash of a content in a key, in hexadecimal digits.
const KEY_HASH_DIGITS: usize = 32;
/// Beginning of the key of a dump that no catalogue lists.
const DUMP: &str = "dump:";
/// Beginning of the key of an entry with neither IRI nor identifier.
const TITLE: &str = "title:";

/// Part of an entry from which its id is taken.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum IdOrigin {
    /// A short identifier that the catalogue declares.
    #[default]
    Declared,
    /// The last part of its IRI.
    Iri,
    /// An identifier that is an IRI or a longer text.
    Identifier(String),
    /// Its title, because it has neither IRI nor identifier.
    Title,
    /// The number of its line. Lines may be equal.
    Line,
    /// The name of its file: a dump that no catalogue lists.
    File(String),
}

/// Key of a dataset in its catalogue. It is not part of the description.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct EntryKey {
    /// Part from which the id is taken.
    pub origin: IdOrigin,
    /// Text of the key; empty until the catalogue is read to its end.
    text: String,
    /// First id; empty until then.
    first_id: String,
    /// Text with which other datasets of the catalogue refer to an entry without an IRI.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reference: Option<String>,
}

impl EntryKey {
    /// Creates the key of an entry that is being read.
    #[must_use]
    pub fn new(origin: IdOrigin) -> Self {
        Self {
            origin,
            ..Self::default()
        }
    }
}

impl Dataset {
    /// Returns the key of the dataset in its catalogue: its IRI, else its identifier, else its title with a digest of its
    /// content. It is the same in every run, whatever other datasets the catalogue lists. The key of a dump is the name of its
    /// file.
    #[must_use]
    pub fn key(&self) -> String {
        if !self.entry.text.is_empty() {
            return self.entry.text.clone();
        }
        let Self {
            metadata, entry, ..
        } = self;
        match (&entry.origin, &metadata.source) {
            (IdOrigin::File(name), _) => format!("{DUMP}{name}"),
            (_, Some(iri)) => iri.clone(),
            (IdOrigin::Identifier(text), None) => format!("identifier:{text}"),
            (IdOrigin::Title | IdOrigin::Line, None) => {
                format!("{TITLE}{}#{}", metadata.title(), self.content_hash())
            }
            (IdOrigin::Declared | IdOrigin::Iri, None) => format!("id:{}", metadata.id),
        }
    }

    /// Returns the key that earlier versions gave this dataset, if they read it from the same place.
    #[must_use]
    pub fn earlier_key(&self) -> Option<String> {
        match (&self.metadata.source, &self.entry.origin) {
            (Some(iri), IdOrigin::File(_)) => Some(iri.clone()),
            (None, _) if !self.entry.first_id.is_empty() => {
                Some(format!("id:{}", self.entry.first_id))
            }
            _ => None,
        }
    }

    /// Sets another id. An identifier that the catalogue declares is kept in the description.
    pub fn set_id(&mut self, id: DatasetId) {
        if self.metadata.id == id {
            return;
        }
        self.fix_key();
        let old = std::mem::replace(&mut self.metadata.id, id);
        let is_declared =
            self.entry.origin == IdOrigin::Declared && self.entry.first_id == old.as_str();
        if is_declared
            && !typed_fields::states_property(&self.extra_statements, dcterms::IDENTIFIER)
        {
            let identifier = Literal::from(old.as_str());
            self.extra_statements.push(Statement::new(
                Node::Dataset,
                dcterms::IDENTIFIER,
                identifier,
            ));
        }
    }

    /// Returns the text with which other datasets of the catalogue refer to this one. It follows from the content.
    pub(super) fn make_reference(&mut self) -> String {
        let reference = self.content_hash();
        self.entry.reference = Some(reference.clone());
        reference
    }

    /// Replaces objects of statements that refer to other datasets of the catalogue. `None` removes the statement.
    pub(super) fn replace_references(&mut self, replace: impl Fn(&Value) -> Option<Value>) {
        let statements = std::mem::take(&mut self.extra_statements);
        for mut statement in statements {
            if let Some(object) = replace(&statement.object) {
                statement.object = object;
                self.extra_statements.push(statement);
            }
        }
    }

    /// Computes the key, so that it does not depend on another id or on changes of the description.
    fn fix_key(&mut self) {
        if self.entry.text.is_empty() {
            self.entry.text = self.key();
            self.entry.first_id = self.metadata.id.to_string();
        }
    }

    /// Returns other ids for the dataset, readable ones first: with further parts of its IRI, with the name of its source, with
    /// a hash. All begin with the prefix, which the id has, too.
    #[must_use]
    pub fn other_ids(&self, source_name: &str, prefix: &str) -> Vec<DatasetId> {
        let own = self.metadata.id.as_str();
        let own = own.strip_prefix(prefix).unwrap_or(own);
        let mut ids = Vec::new();
        for level in 1..=MAX_PARTS {
            ids.extend(
                self.longer_id(level)
                    .and_then(|id| DatasetId::from_text(&format!("{prefix}{id}"))),
            );
        }
        if !source_name.is_empty() {
            ids.extend(DatasetId::from_text(&format!(
                "{prefix}{source_name}-{own}"
            )));
        }
        ids.extend(disambiguate_id(
            &self.metadata.id,
            &format!("{source_name}\n{}", self.key()),
        ));
        ids.dedup();
        ids
    }

    /// Returns the id with this number of further parts of the IRI or the name; `None` if there are no more parts.
    fn longer_id(&self, level: usize) -> Option<DatasetId> {
        if let IdOrigin::File(name) = &self.entry.origin {
            return DatasetId::from_text(name).filter(|_| level == 1);
        }
        let iri = match &self.entry.origin {
            IdOrigin::Iri => self.metadata.source.as_deref()?,
            IdOrigin::Identifier(text) => text,
            _ => return None,
        };
        let path = match iri.split_once("://") {
            Some((_, path)) => path,
            None => iri,
        };
        let mut parts: Vec<&str> = path
            .split(['#', '/', ':'])
            .filter(|part| !part.is_empty())
            .collect();
        let first = parts.len().checked_sub(level + 1)?;
        DatasetId::from_text(&parts.split_off(first).join("-"))
    }

    /// Returns a digest of all statements of the description.
    fn content_hash(&self) -> String {
        let statements = typed_fields::statements(self, &|_| true);
        let statements = statements.iter().chain(&self.extra_statements);
        // The key does not depend on the id, which is the identifier if the catalogue has none.
        let statements = statements.filter(|statement| {
            ![dcterms::IDENTIFIER, lodeseek::ID].contains(&statement.predicate.as_str())
                && reference_of(&statement.object).is_none()
        });
        let mut lines: Vec<String> = statements
            .map(|statement| format!("{statement:?}"))
            .collect();
        lines.sort_unstable();
        lines.dedup();
        let mut digest = Sha256::new();
        for line in lines {
            digest.update(line.as_bytes());
            digest.update(b"\n");
        }
        format_hex(&digest.finalize()[..KEY_HASH_DIGITS / 2])
    }
}

/// Returns the path of the file in the key of a dump; `None` for other keys.
#[must_use]
pub fn dump_path(key: &str) -> Option<&str> {
    key.strip_prefix(DUMP)
}

/// Returns true if a key is an IRI, thus the same in every source.
#[must_use]
pub fn is_iri_key(key: &str) -> bool {
    !["id:", "identifier:", DUMP, TITLE]
        .iter()
        .any(|kind| key.starts_with(kind))
}

/// Returns true if a key is an identifier that is unique in its catalogue only. Another catalogue may have another dataset with it.
#[must_use]
pub fn is_local_key(key: &str) -> bool {
    key.starts_with("id:")
}

/// Returns the title in the key of an entry with neither IRI nor identifier; `None` for other keys. The keys of an entry before and
/// after a change of its content have the same title.
#[must_use]
pub fn title_of_key(key: &str) -> Option<&str> {
    let (mut title, mut last) = key.strip_prefix(TITLE)?.rsplit_once('#')?;
    if last.len() != KEY_HASH_DIGITS {
        // The number of an equal line follows the digest.
        (title, last) = title.rsplit_once('#')?;
    }
    Some(title).filter(|_| last.len() == KEY_HASH_DIGITS)
}

/// Returns the id with a hash of a key, to distinguish datasets of one id. `None` if the result is not a valid id.
#[must_use]
pub fn disambiguate_id(id: &DatasetId, key: &str) -> Option<DatasetId> {
    let stem: String = id.as_str().chars().take(MAX_STEM_CHARS).collect();
    DatasetId::new(typed_fields::part_name(&stem, &[key])).ok()
}

/// Gives each dataset an id of its own. Returns the later entries of datasets that are listed twice, which are left out.
///
/// Catalogues repeat the description of a series with its members: this is no second entry.
pub(super) fn make_ids_unique(
    datasets: &mut Vec<Dataset>,
    problems: &mut Vec<Problem>,
) -> Vec<Problem> {
    let mut duplicates = Vec::new();
    let mut titles: BTreeMap<String, String> = BTreeMap::new();
    let mut lines: BTreeMap<String, usize> = BTreeMap::new();
    datasets.retain_mut(|dataset| {
        // Before ids change: the key must not depend on an id that other entries cause.
        dataset.fix_key();
        if dataset.entry.origin == IdOrigin::Line {
            number_line(&mut dataset.entry.text, &mut lines);
        }
        let key = dataset.key();
        match titles.get(&key) {
            None => {
                titles.insert(key, dataset.metadata.title().to_owned());
                true
            }
            Some(first) => {
                if !(dataset.metadata.is_series && dataset.metadata.source.is_some()) {
                    duplicates.push(duplicate_problem(dataset, &key, first));
                }
                false
            }
        }
    });
    make_ids_distinct(datasets, problems);
    resolve_references(datasets);
    duplicates
}

/// Replaces references to entries of the catalogue by their ids.
fn resolve_references(datasets: &mut [Dataset]) {
    let mut ids: BTreeMap<String, DatasetId> = BTreeMap::new();
    for dataset in datasets.iter() {
        if let Some(reference) = &dataset.entry.reference {
            ids.insert(reference.clone(), dataset.metadata.id.clone());
        }
    }
    if ids.is_empty() {
        return;
    }
    for dataset in datasets {
        if dataset
            .extra_statements
            .iter()
            .any(|one| reference_of(&one.object).is_some())
        {
            dataset.replace_references(|object| match reference_of(object) {
                Some(reference) => ids.get(&reference).map(|id| listed_node(id).into()),
                None => Some(object.clone()),
            });
        }
    }
}

/// Renames datasets in the statements that refer to them: (former id, id).
pub fn rename_references(datasets: &mut [Dataset], renames: &BTreeMap<DatasetId, DatasetId>) {
    if renames.is_empty() {
        return;
    }
    for dataset in datasets {
        dataset.replace_references(|object| {
            let renamed = match object {
                Value::Node(Node::Iri(iri)) => listed_id(iri).and_then(|id| renames.get(&id)),
                Value::Node(_) | Value::Literal(_) => None,
            };
            match renamed {
                Some(id) => Some(Value::Node(listed_node(id))),
                None => Some(object.clone()),
            }
        });
    }
}

/// Adds a number to the key of a line that equals earlier ones.
fn number_line(key: &mut String, lines: &mut BTreeMap<String, usize>) {
    let number = lines.entry(key.clone()).or_default();
    *number += 1;
    if *number > 1 {
        key.push_str(&format!("#{number}"));
    }
}

fn duplicate_problem(dataset: &Dataset, key: &str, first: &str) -> Problem {
    let (id, title) = (&dataset.metadata.id, dataset.metadata.title());
    let identifier = match title_of_key(key) {
        Some(_) => "its content".to_owned(),
        None => {
            format!(
                "the identifier {}",
                key.strip_prefix("id:")
                    .or(key.strip_prefix("identifier:"))
                    .unwrap_or(key)
            )
        }
    };
    let other = if first == title {
        "an earlier entry".to_owned()
    } else {
        format!("the earlier entry {first:?}")
    };
    Problem::new(format!(
        "listed twice: {other} has {identifier}, too; the later entry {title:?} was left out"
    ))
    .of_dataset(id.as_str())
}

/// Gives datasets with equal ids longer ones, until all differ.
fn make_ids_distinct(datasets: &mut Vec<Dataset>, problems: &mut Vec<Problem>) {
    let mut ids: Vec<DatasetId> = datasets
        .iter()
        .map(|dataset| dataset.metadata.id.clone())
        .collect();
    // In rounds: longer ids may be equal to others, too. The last round uses hashes.
    for level in 1..=MAX_PARTS + 1 {
        let equal = equal_ids(&ids);
        if equal.is_empty() {
            break;
        }
        for (dataset, id) in datasets
            .iter()
            .zip(&mut ids)
            // All datasets of an id get another one, and not all but the first: no id depends on the order of the entries.
            .filter(|(_, id)| equal.contains(*id))
        {
            // An identifier of a catalogue without IRIs is the dataset's own.
            if dataset.key() != format!("id:{}", dataset.metadata.id) {
                let longer = if level <= MAX_PARTS {
                    dataset.longer_id(level)
                } else {
                    None
                };
                let other =
                    longer.or_else(|| disambiguate_id(&dataset.metadata.id, &dataset.key()));
                if let Some(other) = other {
                    *id = other;
                }
            }
        }
    }
    let mut used = BTreeSet::new();
    for (dataset, id) in datasets.iter_mut().zip(ids) {
        if dataset.metadata.id != id && dataset.entry.origin == IdOrigin::Declared {
            let reason =
                format!("another dataset has this identifier, too; this one gets the id {id}");
            problems.push(Problem::new(reason).of_dataset(dataset.metadata.id.as_str()));
        }
        dataset.set_id(id);
    }
    // Hashes differ. An id that an entry declares may still look like one with a hash.
    datasets.retain(|dataset| {
        let is_new = used.insert(dataset.metadata.id.clone());
        if !is_new {
            let reason = "left out: no id distinguishes it from another dataset";
            problems.push(Problem::new(reason).of_dataset(dataset.metadata.id.as_str()));
        }
        is_new
    });
}

/// Returns the ids that occur more than once.
fn equal_ids(ids: &[DatasetId]) -> BTreeSet<DatasetId> {
    let (mut seen, mut equal) = (BTreeSet::new(), BTreeSet::new());
    for id in ids {
        if !seen.insert(id) {
            equal.insert(id.clone());
        }
    }
    equal
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Catalog;

    /// Reads a catalogue with this file name and content.
    fn read(name: &str, content: &str) -> Catalog {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(name);
        std::fs::write(&path, content).expect("written");
        Catalog::read(&path).expect("a catalogue")
    }

    fn data_json(entries: &[&str]) -> Catalog {
        read(
            "data.json",
            &format!(r#"{{"dataset": [{}]}}"#, entries.join(",")),
        )
    }

    fn entry(identifier: &str, title: &str) -> String {
        format!(r#"{{"identifier": "{identifier}", "title": "{title}", "keyword": ["k"]}}"#)
    }

    fn ids(catalog: &Catalog) -> Vec<(&str, &str)> {
        let mut ids: Vec<_> = catalog
            .datasets
            .iter()
            .map(|one| (one.metadata.title(), one.metadata.id.as_str()))
            .collect();
        ids.sort_unstable();
        ids
    }

    #[test]
    fn identifiers_that_end_alike_give_an_id_each_in_any_order() {
        let entries = [
            entry("https://e.org/tables/a/rows", "A"),
            entry("https://e.org/tables/b/rows", "B"),
            entry("https://e.org/other/b/rows/", "C"),
            entry("rows", "D"),
            entry("plain", "E"),
        ];
        let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
        let catalog = data_json(&entries);
        let expected = [
            ("A", "a-rows"),
            ("B", "tables-b-rows"),
            ("C", "other-b-rows"),
            ("D", "rows"),
            ("E", "plain"),
        ];
        assert_eq!(ids(&catalog), expected);
        assert!(
            catalog.problems.is_empty() && catalog.duplicates.is_empty(),
            "{catalog:?}"
        );
        let reversed: Vec<&str> = entries.iter().rev().copied().collect();
        assert_eq!(ids(&data_json(&reversed)), expected);
        let alone = data_json(&entries[..1]);
        assert_eq!(ids(&alone), [("A", "rows")]);
        assert_eq!(
            alone.datasets[0].key(),
            catalog.datasets[0].key(),
            "the key depends on no other entry"
        );
    }

    #[test]
    fn iris_that_end_alike_give_an_id_each() {
        let prefixes = "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .";
        let text = format!(
            "{prefixes} <http://e.org/a/set> a dcat:Dataset ; dct:title \"A\" .
             <https://e.org/a/set> a dcat:Dataset ; dct:title \"B\" . <urn:x:set> a dcat:Dataset ; dct:title \"C\" .
             <http://e.org/one> a dcat:Dataset ; dct:identifier \"7\" ; dct:title \"D\" .
             <http://e.org/two> a dcat:Dataset ; dct:identifier \"7\" ; dct:title \"E\" ."
        );
        let catalog = read("c.ttl", &text);
        let found = ids(&catalog);
        assert!(
            found[0].1.starts_with("set-")
                && found[1].1.starts_with("set-")
                && found[0].1 != found[1].1,
            "{found:?}"
        );
        assert_eq!(found[2].1, "x-set");
        assert!(
            found[3].1.starts_with("7-") && found[4].1.starts_with("7-"),
            "{found:?}"
        );
        assert_eq!(catalog.problems.len(), 2, "{:?}", catalog.problems);
        for dataset in catalog
            .datasets
            .iter()
            .filter(|one| ["D", "E"].contains(&one.metadata.title()))
        {
            let statements = format!("{:?}", dataset.extra_statements);
            assert!(
                statements.contains("\"7\""),
                "the declared identifier is kept: {statements}"
            );
        }
    }

    #[test]
    fn equal_titles_without_identifiers_are_a_dataset_each() {
        let package = |title: &str, notes: &str| {
            format!(r#"{{"title": "{title}", "notes": "{notes}", "resources": []}}"#)
        };
        let packages = |texts: &[String]| read("ckan.json", &format!("[{}]", texts.join(",")));
        let [one, two] = [package("Bridges", "north"), package("Bridges", "south")];
        let catalog = packages(&[one.clone(), two.clone()]);
        let found: BTreeSet<String> = catalog
            .datasets
            .iter()
            .map(|one| one.metadata.id.to_string())
            .collect();
        assert!(
            found.len() == 2 && found.iter().all(|id| id.starts_with("Bridges-")),
            "{found:?}"
        );
        let reversed = packages(&[two, one.clone()]);
        assert_eq!(
            reversed
                .datasets
                .iter()
                .map(|one| one.metadata.id.to_string())
                .collect::<BTreeSet<_>>(),
            found
        );
        let alone = packages(&[one]);
        assert_eq!(alone.datasets[0].key(), catalog.datasets[0].key());
        assert_eq!(title_of_key(&alone.datasets[0].key()), Some("Bridges"));
        let blank = "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .
            [] a dcat:Dataset ; dct:title \"Bridges\" ; dct:description \"north\" .
            [] a dcat:Dataset ; dct:title \"Bridges\" ; dct:description \"south\" .";
        assert_eq!(read("c.ttl", blank).datasets.len(), 2);
    }

    #[test]
    fn a_second_entry_of_a_dataset_is_named_and_no_unreadable_entry() {
        let catalog = data_json(&[
            &entry("t-1", "Trees"),
            &entry("t-1", "Shrubs"),
            &entry("t-2", "Ferns"),
        ]);
        assert_eq!(ids(&catalog), [("Ferns", "t-2"), ("Trees", "t-1")]);
        assert_eq!(
            (catalog.duplicates.len(), catalog.unreadable_entries),
            (1, 0)
        );
        let line = catalog.duplicates[0].to_string();
        assert!(
            ["t-1", "Shrubs", "Trees"]
                .iter()
                .all(|part| line.contains(part)),
            "{line}"
        );
        let copies = data_json(&[
            r#"{"title": "A", "keyword": ["k"]}"#,
            r#"{"title": "A", "keyword": ["k"]}"#,
        ]);
        assert_eq!((copies.datasets.len(), copies.duplicates.len()), (1, 1));
    }

    #[test]
    fn equal_lines_remain_and_have_keys_of_their_own() {
        let line = r#"{"title": "Fish", "description": "By year"}"#;
        let catalog = read("list.jsonl", &format!("{line}\n{line}\n"));
        assert_eq!(ids(&catalog), [("Fish", "1-Fish"), ("Fish", "2-Fish")]);
        let keys: Vec<String> = catalog.datasets.iter().map(Dataset::key).collect();
        assert_eq!(keys[1], format!("{}#2", keys[0]));
        let later = read(
            "list.jsonl",
            &format!("{}\n{line}\n", line.replace("Fish", "Birds")),
        );
        assert_eq!(
            later.datasets[1].key(),
            keys[0],
            "the key depends on no number"
        );
    }

    #[test]
    fn long_ids_get_a_hash_too() {
        let long = "a".repeat(200);
        let id = DatasetId::new(long).expect("an id");
        let [one, two] = ["http://e.org/1", "http://e.org/2"]
            .map(|key| disambiguate_id(&id, key).expect("an id"));
        assert!(one != two && one.as_str().len() < 200);
    }

    #[test]
    fn other_ids_name_the_iri_or_the_source() {
        let catalog = data_json(&[&entry("https://e.org/tables/a/rows", "A"), &entry("1", "B")]);
        let named = |place: usize| {
            catalog.datasets[place]
                .other_ids("city", "")
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            named(0)[..3],
            ["a-rows", "tables-a-rows", "e.org-tables-a-rows"]
        );
        assert_eq!(named(1)[0], "city-1");
        assert_eq!(named(1).len(), 2);
    }
}
