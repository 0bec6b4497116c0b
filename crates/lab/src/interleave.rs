//! Interleaving of rankings, for systems whose scores cannot be compared.
//!
//! Balanced interleaving: T. Joachims: *Optimizing search engines using clickthrough data*, KDD 2002. DataFinder's Table 2
//! merges the answers of search engines to several keyphrase queries in this way.

use lodeseek_eval::Run;
use lodeseek_ranking::{DatasetId, Ranking, Scored};
use std::collections::BTreeSet;

/// Interleaves rankings: the first datasets of all rankings, then the second ones, and so on, each dataset once.
///
/// Within a rank the order of the rankings decides, where Joachims tosses a coin: equal input gives equal output. The scores
/// of the result are 1, 1/2, 1/3 … and encode the order only.
///
/// ```
/// use lodeseek_lab::interleave::interleave_rankings;
/// use lodeseek_ranking::{DatasetId, Ranking, Scored};
/// let scored = |id: &str, score| Scored { id: DatasetId::new(id).expect("an id"), score };
/// let one = Ranking::from_scores(vec![scored("a", 3.0), scored("b", 2.0), scored("c", 1.0)]);
/// let other = Ranking::from_scores(vec![scored("b", 3.0), scored("d", 2.0), scored("e", 1.0)]);
/// let merged = interleave_rankings(&[&one, &other], 4);
/// let ids: Vec<_> = merged.iter().map(|entry| entry.id.as_str()).collect();
/// assert_eq!(ids, ["a", "b", "d", "c"]);
/// ```
#[must_use]
pub fn interleave_rankings(rankings: &[&Ranking], depth: usize) -> Ranking {
    let lists: Vec<Vec<&DatasetId>> = rankings
        .iter()
        .map(|ranking| ranking.iter().map(|scored| &scored.id).collect())
        .collect();
    let longest = lists.iter().map(Vec::len).max().unwrap_or(0);
    let (mut seen, mut merged) = (BTreeSet::new(), Vec::new());
    for rank in 0..longest {
        for id in lists.iter().filter_map(|list| list.get(rank).copied()) {
            if merged.len() < depth && seen.insert(id) {
                let score = 1.0 / (merged.len() + 1) as f64;
                merged.push(Scored {
                    id: id.clone(),
                    score,
                });
            }
        }
    }
    Ranking::from_scores(merged)
}

/// Interleaves runs, topic by topic. A topic that a run lacks is taken from the others.
#[must_use]
pub fn interleave_runs(runs: &[Run], depth: usize) -> Run {
    let topics: BTreeSet<&str> = runs
        .iter()
        .flat_map(|run| run.iter().map(|(topic, _)| topic))
        .collect();
    let mut interleaved = Run::new("lodeseek-interleaved");
    for topic in topics {
        let rankings: Vec<&Ranking> = runs.iter().filter_map(|run| run.ranking(topic)).collect();
        interleaved.insert(topic, interleave_rankings(&rankings, depth));
    }
    interleaved
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranking(ids: &[&str]) -> Ranking {
        Ranking::from_scores(
            ids.iter()
                .enumerate()
                .map(|(place, id)| Scored {
                    id: DatasetId::new(*id).expect("id"),
                    score: -(place as f64),
                })
                .collect(),
        )
    }

    fn ids(ranking: &Ranking) -> Vec<&str> {
        ranking.iter().map(|scored| scored.id.as_str()).collect()
    }

    #[test]
    fn ranks_alternate_and_every_dataset_comes_once() {
        let (one, other, short) = (
            ranking(&["a", "b", "c"]),
            ranking(&["c", "a", "d"]),
            ranking(&["e"]),
        );
        assert_eq!(
            ids(&interleave_rankings(&[&one, &other], 10)),
            ["a", "c", "b", "d"]
        );
        assert_eq!(
            ids(&interleave_rankings(&[&other, &one], 10)),
            ["c", "a", "b", "d"]
        );
        assert_eq!(
            ids(&interleave_rankings(&[&short, &one, &other], 3)),
            ["e", "a", "c"]
        );
        assert_eq!(interleave_rankings(&[], 10).len(), 0);
        // Among equal scores the higher identifier would come first: scores must differ to keep the order.
        let many: Vec<String> = (0..2000).map(|number| format!("d{number:04}")).collect();
        let long = ranking(&many.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(ids(&interleave_rankings(&[&long], 2000)), ids(&long));
    }

    #[test]
    fn a_topic_of_one_run_alone_is_kept() {
        let (mut one, mut other) = (Run::new("one"), Run::new("other"));
        one.insert("q1", ranking(&["a", "b"]));
        one.insert("q2", ranking(&["a"]));
        other.insert("q1", ranking(&["b", "c"]));
        let interleaved = interleave_runs(&[one, other], 2);
        assert_eq!(interleaved.len(), 2);
        assert_eq!(ids(interleaved.ranking("q1").expect("ranked")), ["a", "b"]);
        assert_eq!(ids(interleaved.ranking("q2").expect("ranked")), ["a"]);
    }
}
