//! Messages for unknown dataset ids, with the most similar ids of the index, and for an index without datasets.

use lodeseek_catalog::DatasetId;
use lodeseek_engine::{Searcher, similar_ids};
use lodeseek_store::{Access, Store};
use std::path::Path;

/// Returns the error for an id that the index does not contain.
pub(super) fn unknown(home: &Path, searcher: &Searcher, id: &DatasetId) -> anyhow::Error {
    // A store that another process writes cannot be read: the error is then that of any unknown id.
    let loaded = Store::open(home, Access::Read, None).and_then(|store| store.ids());
    if loaded.is_ok_and(|ids| ids.contains(id)) {
        return anyhow::anyhow!("dataset {id} is loaded, but not indexed; run `lodeseek index`");
    }
    let advice = match searcher.catalog().ids() {
        Ok(ids) => advice(id.as_str(), &ids),
        Err(error) => error.to_string(),
    };
    anyhow::anyhow!("there is no dataset {id} in the index; {advice}")
}

/// Returns the message for an index without datasets.
pub(super) fn empty_collection(home: &Path) -> &'static str {
    let loaded = Store::open(home, Access::Read, None).and_then(|store| store.ids());
    if loaded.is_ok_and(|ids| !ids.is_empty()) {
        "No dataset is indexed; run `lodeseek index`."
    } else {
        "The collection has no datasets; `lodeseek load` or `lodeseek harvest` adds some."
    }
}

fn advice(name: &str, ids: &[DatasetId]) -> String {
    let similar: Vec<String> = similar_ids(name, ids)
        .into_iter()
        .map(ToString::to_string)
        .collect();
    if similar.is_empty() {
        return "`lodeseek list` lists all datasets, and `lodeseek index` indexes those loaded since".to_owned();
    }
    format!("did you mean {}?", similar.join(" or "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_ids_are_suggested() {
        let ids = ["street-trees", "air-quality", "soil-types"]
            .map(|id| DatasetId::new(id).expect("an id"));
        assert_eq!(advice("Soil-Type", &ids), "did you mean soil-types?");
        assert!(advice("zzz", &ids).starts_with("`lodeseek list`"));
    }
}
