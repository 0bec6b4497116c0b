//! Datasets that a query names. They precede all others: who types a name looks for the dataset of this name.
//!
//! A dataset is named by its title, an alternative title or its id, without regard to case, accents and punctuation. A query of
//! stop words only (`WHO`, `to be or not to be`) also names the datasets that have it in their names.

use super::EngineError;
use super::scope::CandidateScope;
use lodeseek_catalog::DatasetId;
use lodeseek_index::{AnalysisKind, AnalyzedQuery};
use lodeseek_ranking::{Ranking, Scored};

/// Maximum number of datasets that have the stop words of a query in their names.
const MAX_NAMED_DATASETS: usize = 50;

/// Returns the datasets of a scope that a query names, those with exactly this name first. Analyses that are compared with
/// published results have no names.
pub(super) fn named_datasets(
    text: &str,
    query: &AnalyzedQuery,
    scope: CandidateScope<'_>,
) -> Result<Vec<DatasetId>, EngineError> {
    let snapshot = scope.snapshot;
    if snapshot.analysis().kind() != AnalysisKind::Multilingual {
        return Ok(Vec::new());
    }
    let mut documents = snapshot.with_name(text)?;
    if query.is_empty() {
        for address in snapshot.with_words_in_name(text, MAX_NAMED_DATASETS)? {
            if !documents.contains(&address) {
                documents.push(address);
            }
        }
    }
    let mut named = Vec::with_capacity(documents.len());
    for address in documents {
        if scope
            .filtered
            .is_none_or(|filtered| filtered.contains(address))
        {
            named.push(snapshot.id(address)?);
        }
    }
    Ok(named)
}

/// Returns a ranking in which the named datasets come first. Those that it contains keep their order among each other, the
/// others follow. Each moved dataset gets a score above that of the next one. A ranking that begins with the named datasets
/// stays as it is.
pub(super) fn with_named_first(ranking: Ranking, named: &[DatasetId]) -> Ranking {
    let mut first: Vec<DatasetId> = Vec::with_capacity(named.len());
    for scored in ranking.iter() {
        if named.contains(&scored.id) {
            first.push(scored.id.clone());
        }
    }
    for id in named {
        if !first.contains(id) {
            first.push(id.clone());
        }
    }
    let is_first = ranking.len() >= first.len()
        && ranking
            .iter()
            .zip(&first)
            .all(|(scored, id)| scored.id == *id);
    if is_first {
        return ranking;
    }
    let best = match ranking.iter().next() {
        Some(scored) => scored.score,
        None => 0.0,
    };
    let mut scores = Vec::with_capacity(ranking.len() + first.len());
    for (place, id) in first.iter().enumerate() {
        scores.push(Scored {
            id: id.clone(),
            // Scores are shown and compared, so the order alone is not enough.
            score: best + (first.len() - place) as f64,
        });
    }
    scores.extend(
        ranking
            .iter()
            .filter(|scored| !named.contains(&scored.id))
            .cloned(),
    );
    Ranking::from_scores(scores)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(names: &[&str]) -> Vec<DatasetId> {
        names
            .iter()
            .map(|name| DatasetId::new(*name).expect("an id"))
            .collect()
    }

    fn ranking(names: &[&str]) -> Ranking {
        Ranking::from_scores(
            ids(names)
                .into_iter()
                .enumerate()
                .map(|(place, id)| Scored {
                    id,
                    score: 1.0 / (place + 1) as f64,
                })
                .collect(),
        )
    }

    fn with_first(ranked: &[&str], named: &[&str]) -> Vec<String> {
        let ranking = with_named_first(ranking(ranked), &ids(named));
        ranking.iter().map(|scored| scored.id.to_string()).collect()
    }

    #[test]
    fn named_datasets_come_first_and_the_rest_keeps_its_order() {
        assert_eq!(with_first(&["a", "b", "c"], &["c"]), ["c", "a", "b"]);
        assert_eq!(
            with_first(&["a", "b", "c"], &["x", "c", "b"]),
            ["b", "c", "x", "a"]
        );
        assert_eq!(with_first(&[], &["x", "y"]), ["x", "y"]);
        let same = ranking(&["a", "b"]);
        assert_eq!(with_named_first(same.clone(), &ids(&["a"])), same);
        assert_eq!(with_named_first(same.clone(), &[]), same);
    }
}
