//! All that is known of a dataset, as triples.

use lodeseek_catalog::DatasetId;
use lodeseek_store::{Store, StoreError};
use oxrdf::Triple;

/// What catalogue, profiles and snippets say of a dataset.
pub fn dataset_triples(store: &Store, id: &DatasetId) -> Result<Vec<Triple>, StoreError> {
    store.entry(id)?;
    let mut triples = store.description(id)?;
    triples.extend(store.derived(&store.iris().profiles(), id)?);
    triples.extend(store.derived(&store.iris().snippets(), id)?);
    Ok(triples)
}
