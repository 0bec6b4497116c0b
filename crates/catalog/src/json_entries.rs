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
    /// The entry cannot be read.
    Unreadable(String),
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
