//! The linked-data description of a dataset: the form of `GET /dataset/{id}` and of `lodeseek show`.

use lodeseek_catalog::DatasetId;
use lodeseek_store::{Store, StoreError};
use oxrdf::Triple;

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
