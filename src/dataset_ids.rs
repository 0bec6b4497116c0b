//! Errors for unknown dataset ids, with the most similar ids of the index.

use lodeseek_catalog::DatasetId;
use lodeseek_engine::{Searcher, similar_ids};

/// Returns the error for an id that the index does not contain.
pub(super) fn unknown(searcher: &Searcher, id: &DatasetId) -> anyhow::Error {
    let advice = match searcher.catalog().ids() {
        Ok(ids) => advice(id.as_str(), &ids),
        Err(error) => error.to_string(),
    };
    anyhow::anyhow!("there is no dataset {id} in the index; {advice}")
}

fn advice(name: &str, ids: &[DatasetId]) -> String {
    let similar: Vec<String> = similar_ids(name, ids).into_iter().map(ToString::to_string).collect();
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
        let ids = ["street-trees", "air-quality", "soil-types"].map(|id| DatasetId::new(id).expect("an id"));
        assert_eq!(advice("Soil-Type", &ids), "did you mean soil-types?");
        assert!(advice("zzz", &ids).starts_with("`lodeseek list`"));
    }
}
