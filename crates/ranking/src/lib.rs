//! The one order in which scores become ranks.
//!
//! trec_eval ignores the rank column of a run: it sorts by score, descending, and breaks ties by document id, descending
//! *as a string*. Published numbers hang on it, so nothing else in this program sorts results.

mod id;

pub use id::{DatasetId, InvalidDatasetId};

use std::collections::BTreeSet;

/// A dataset and its score.
#[derive(Clone, Debug, PartialEq)]
pub struct Scored {
    /// The dataset.
    pub id: DatasetId,
    /// The score; higher is better.
    pub score: f64,
}

/// Datasets by score descending, then id descending as strings. A score that is no number comes last.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Ranking {
    entries: Vec<Scored>,
}

impl Ranking {
    /// Sorts scores.
    ///
    /// ```
    /// use lodeseek_ranking::{DatasetId, Ranking, Scored};
    /// let scored = |id: &str, score| Scored { id: DatasetId::new(id).expect("an id"), score };
    /// let ranking = Ranking::from_scores(vec![scored("10", 1.0), scored("9", 1.0), scored("2", 3.0)]);
    /// let ids: Vec<_> = ranking.iter().map(|entry| entry.id.as_str()).collect();
    /// assert_eq!(ids, ["2", "9", "10"]);
    /// ```
    #[must_use]
    pub fn from_scores(mut entries: Vec<Scored>) -> Self {
        // Adding 0 makes −0 and 0 one.
        let key = |score: f64| if score.is_nan() { f64::NEG_INFINITY } else { score + 0.0 };
        entries.sort_by(|a, b| key(b.score).total_cmp(&key(a.score)).then_with(|| b.id.cmp(&a.id)));
        Self { entries }
    }

    /// The first `depth` entries.
    #[must_use]
    pub fn cut(mut self, depth: usize) -> Self {
        self.entries.truncate(depth);
        self
    }

    /// This ranking and, behind it, what else another holds, in that one's order. How far below the last score the scores
    /// of these lie says that order and no more: nothing compares them.
    ///
    /// ```
    /// use lodeseek_ranking::{DatasetId, Ranking, Scored};
    /// let scored = |id: &str, score| Scored { id: DatasetId::new(id).expect("an id"), score };
    /// let first = Ranking::from_scores(vec![scored("a", 1.0)]);
    /// let other = Ranking::from_scores(vec![scored("c", 9.0), scored("a", 8.0), scored("b", 7.0)]);
    /// let ids: Vec<_> = first.followed_by(&other).iter().map(|entry| entry.id.to_string()).collect();
    /// assert_eq!(ids, ["a", "c", "b"]);
    /// ```
    #[must_use]
    pub fn followed_by(mut self, other: &Self) -> Self {
        let held: BTreeSet<DatasetId> = self.entries.iter().map(|scored| scored.id.clone()).collect();
        let lowest = self.entries.last().map_or(0.0, |scored| scored.score);
        let others = other.entries.iter().filter(|scored| !held.contains(&scored.id)).zip(1_u32..);
        let behind = others.map(|(scored, place)| Scored { id: scored.id.clone(), score: lowest - f64::from(place) });
        self.entries.extend(behind);
        Self::from_scores(self.entries)
    }

    /// The entries from rank 1 on.
    pub fn iter(&self) -> impl Iterator<Item = &Scored> {
        self.entries.iter()
    }

    /// The number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether nothing was ranked.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}
