//! RDF about a dataset: its linked-data description (the form of `GET /dataset/{id}` and of `lodeseek show`), its
//! statistics in VoID and its shapes in SHACL.

use lodeseek_catalog::DatasetId;
use lodeseek_profile::Shapes;
use lodeseek_store::{Entry, Store, StoreError};
use oxrdf::{NamedNode, Triple};

/// Returns the triples of a dataset's catalogue entry, VoID profile and stored snippet.
///
/// # Errors
/// [`StoreError::NoDataset`] if the store has no such dataset, and other errors of the store.
pub fn dataset_triples(store: &Store, id: &DatasetId) -> Result<Vec<Triple>, StoreError> {
    store.entry(id)?;
    let mut triples = store.description(id)?;
    triples.extend(store.derived(&store.iris().profiles(), id)?);
    triples.extend(store.derived(&store.iris().snippets(), id)?);
    Ok(triples)
}

/// Returns the triples of a dataset's VoID profile, as of the last `index`.
///
/// # Errors
/// [`StoreError::NoDataset`] if the store has no such dataset, and other errors of the store.
pub fn dataset_void(store: &Store, id: &DatasetId) -> Result<Vec<Triple>, StoreError> {
    store.entry(id)?;
    store.derived(&store.iris().profiles(), id)
}

/// Derives SHACL shapes from the stored content of a dataset. The content conforms to them.
///
/// # Errors
/// Errors of reading the content.
pub fn dataset_shapes(store: &Store, entry: &Entry) -> Result<Vec<Triple>, StoreError> {
    let graph = store.content(entry)?;
    let dataset = store.iris().dataset(&entry.dataset.metadata.id);
    let shapes = NamedNode::new_unchecked(format!("{}/shapes", dataset.as_str()));
    Ok(Shapes::new(&graph).to_shacl(&graph, &shapes, &dataset))
}
