//! Reads lists of JSON entries: each entry becomes a DCAT graph, from which [`dcat`] reads the dataset.

use super::dcat_builder::{DcatBuilder, Object, first_scalar};
use super::{Catalog, Dataset, DatasetId, dcat as reader};
use lodeseek_rdf::vocab::dcat;
use lodeseek_rdf::{TermId, TermRef, TripleGraph};
use serde_json::Value;
use std::fmt::Display;
use std::path::Path;

/// Reason why an entry is no dataset.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum EntryFault {
    /// The portal does not list the entry as a dataset: a dataset of this id is delisted.
    Ignored(String),
    /// The entry describes a data service, which is no dataset.
    Service(String),
    /// The entry cannot be read.
    Unreadable(String),
}

impl EntryFault {
    /// Creates the fault of an entry whose declared type is not that of a dataset.
    pub(super) fn from_type(kind: &str, reason: String) -> Self {
        if kind.eq_ignore_ascii_case("service") {
            Self::Service(reason)
        } else {
            Self::Ignored(reason)
        }
    }
}

impl From<String> for EntryFault {
    fn from(reason: String) -> Self {
        Self::Unreadable(reason)
    }
}

/// Writer of an entry to a builder. It returns the dataset's id, if it has one.
pub(super) trait DescribeEntry:
    Fn(&Object, &mut DcatBuilder) -> Result<Option<DatasetId>, EntryFault>
{
}

impl<F: Fn(&Object, &mut DcatBuilder) -> Result<Option<DatasetId>, EntryFault>> DescribeEntry
    for F
{
}

/// Reads the datasets of a list of entries.
///
/// Unreadable entries are reported by position and name.
pub(super) fn read_entries<'v>(
    entries: impl IntoIterator<Item = &'v Value>,
    path: &Path,
    describe: impl DescribeEntry,
) -> Catalog {
    let mut catalog = Catalog::default();
    for (place, entry) in entries.into_iter().enumerate() {
        let place = format!("{}: entry {}", path.display(), place + 1);
        add_entry(&mut catalog, entry, place, &describe);
    }
    catalog
}

/// Returns true if the value is an object with the key.
pub(super) fn has_key(value: &Value, key: &str) -> bool {
    value.get(key).is_some()
}

/// Adds the dataset of an entry to a catalogue. `place` names the entry in problems.
pub(super) fn add_entry(
    catalog: &mut Catalog,
    entry: &Value,
    place: impl Display,
    describe: &impl DescribeEntry,
) {
    let name = entry
        .as_object()
        .and_then(|entry| first_scalar(entry, &["id", "identifier", "name", "title"]));
    let name = name.map(|name| format!(" ({name})")).unwrap_or_default();
    let reasons = match read_entry(entry, describe) {
        Ok((dataset, problems)) => {
            catalog.datasets.push(dataset);
            problems
        }
        Err(EntryFault::Ignored(reason)) => vec![reason],
        Err(EntryFault::Service(reason)) => {
            catalog.other_resources.services += 1;
            vec![reason]
        }
        Err(EntryFault::Unreadable(reason)) => {
            catalog.unreadable_entries += 1;
            vec![reason]
        }
    };
    for reason in reasons {
        catalog.problems.push(format!("{place}{name}: {reason}"));
    }
}

fn read_entry(
    entry: &Value,
    describe: &impl DescribeEntry,
) -> Result<(Dataset, Vec<String>), EntryFault> {
    let mut builder = DcatBuilder::default();
    let entry = entry
        .as_object()
        .ok_or_else(|| "not a JSON object".to_owned())?;
    let id = describe(entry, &mut builder)?;
    Ok(finish_entry(builder, id)?)
}

/// Reads the dataset of a builder. Also returns the problems with its values.
pub(super) fn finish_entry(
    builder: DcatBuilder,
    id: Option<DatasetId>,
) -> Result<(Dataset, Vec<String>), String> {
    let (graph, mut problems) = builder.finish_with_problems();
    let node = find_root(&graph).ok_or_else(|| "the entry contains no statements".to_owned())?;
    let (dataset, problem) = reader::read_entry(&graph, node, id)?;
    problems.extend(problem);
    Ok((dataset, problems))
}

/// Returns the node of the dataset in the graph of one entry.
fn find_root(graph: &TripleGraph) -> Option<TermId> {
    reader::instances_of(graph, dcat::DATASET)
        .next()
        .filter(|&node| !matches!(graph.term(node), TermRef::Literal { .. }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn reject_entry(entry: &Object, _: &mut DcatBuilder) -> Result<Option<DatasetId>, EntryFault> {
        let kind = first_scalar(entry, &["type"]).unwrap_or_default();
        Err(EntryFault::from_type(&kind, "ignored".to_owned()))
    }

    #[test]
    fn services_are_counted() {
        let entries = [json!({"type": "Service"}), json!({"type": "software"})];
        let catalog = read_entries(&entries, Path::new("records.json"), reject_entry);
        assert_eq!(catalog.other_resources.services, 1);
        assert_eq!(catalog.problems.len(), 2, "{:?}", catalog.problems);
        assert_eq!(catalog.unreadable_entries, 0);
    }
}
