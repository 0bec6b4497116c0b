//! Reads lists of JSON entries: each entry becomes a DCAT graph, from which [`dcat`] reads the dataset.

use super::dcat_builder::{DcatBuilder, Object, first};
use super::{Catalog, Dataset, DatasetId, dcat as reader};
use lodeseek_rdf::vocab::dcat;
use lodeseek_rdf::{TermId, TermRef, TripleGraph};
use serde_json::Value;
use std::path::Path;

/// Reads the datasets of a list of entries. `describe` writes an entry to a builder and returns the dataset's id, if
/// it has one.
///
/// Unreadable entries are reported by position and name.
pub(super) fn read_entries<'v>(
    entries: impl IntoIterator<Item = &'v Value>,
    path: &Path,
    describe: impl Fn(&Object, &mut DcatBuilder) -> Result<Option<DatasetId>, String>,
) -> Catalog {
    let mut catalog = Catalog::default();
    for (place, entry) in entries.into_iter().enumerate() {
        let name = entry.as_object().and_then(|entry| first(entry, &["id", "identifier", "name", "title"]));
        let name = name.map(|name| format!(" ({name})")).unwrap_or_default();
        let mut report = |reason: String| {
            catalog.problems.push(format!("{}: entry {}{name}: {reason}", path.display(), place + 1));
        };
        match read_entry(entry, &describe) {
            Ok((dataset, problem)) => {
                problem.into_iter().for_each(&mut report);
                catalog.datasets.push(dataset);
            }
            Err(reason) => {
                report(reason);
                catalog.unreadable_entries += 1;
            }
        }
    }
    catalog
}

fn read_entry(
    entry: &Value,
    describe: &impl Fn(&Object, &mut DcatBuilder) -> Result<Option<DatasetId>, String>,
) -> Result<(Dataset, Option<String>), String> {
    let mut builder = DcatBuilder::default();
    let id = describe(entry.as_object().ok_or("not a JSON object")?, &mut builder)?;
    let graph = builder.finish();
    let node = root(&graph).ok_or("the entry contains no statements")?;
    reader::read_entry(&graph, node, id)
}

/// Returns the node of the dataset in the graph of one entry.
fn root(graph: &TripleGraph) -> Option<TermId> {
    reader::instances_of(graph, dcat::DATASET)
        .next()
        .filter(|&node| !matches!(graph.term(node), TermRef::Literal { .. }))
}
