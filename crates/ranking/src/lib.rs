#![doc = include_str!("../README.md")]

mod id;

pub use id::{DatasetId, InvalidDatasetId};

use std::collections::BTreeSet;

/// Dataset with its score.
#[derive(Clone, Debug, PartialEq)]
pub struct Scored {
    /// Dataset identifier.
    pub id: DatasetId,
    /// Score; higher is better.
    pub score: f64,
}

/// Datasets sorted by descending score, then by descending identifier (compared as strings). `NaN` scores come last.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Ranking {
    entries: Vec<Scored>,
}

impl Ranking {
    /// Sorts scored datasets into a ranking.
    ///
    /// ```
    /// use lodeseek_ranking::{DatasetId, Ranking, Scored};
    /// let scores = [("10", 1.0), ("9", 1.0), ("2", 3.0)];
    /// let ranking = Ranking::from_scores(scores.map(|(id, score)| Scored { id: DatasetId::new(id).expect("an id"), score }).to_vec());
    /// let ids: Vec<_> = ranking.iter().map(|entry| entry.id.as_str()).collect();
    /// assert_eq!(ids, ["2", "9", "10"]);
    /// ```
    #[must_use]
    pub fn from_scores(mut entries: Vec<Scored>) -> Self {
        entries.sort_by(|a, b| {
            sort_key(b.score)
                .total_cmp(&sort_key(a.score))
                .then_with(|| b.id.cmp(&a.id))
        });
        Self { entries }
    }

    /// Returns the first `depth` entries.
    #[must_use]
    pub fn cut(mut self, depth: usize) -> Self {
        self.entries.truncate(depth);
        self
    }

    /// Appends the datasets of another ranking that are missing here, in the order of the other ranking.
    ///
    /// The appended scores descend in steps of 1 below the last score. They encode the order only and must not be compared.
    ///
    /// ```
    /// use lodeseek_ranking::{DatasetId, Ranking, Scored};
    /// fn ranking(scores: &[(&str, f64)]) -> Ranking {
    ///     Ranking::from_scores(scores.iter().map(|(id, score)| Scored { id: DatasetId::new(*id).expect("an id"), score: *score }).collect())
    /// }
    /// let first = ranking(&[("a", 1.0)]);
    /// let other = ranking(&[("c", 9.0), ("a", 8.0), ("b", 7.0)]);
    /// let ids: Vec<_> = first.append(&other).iter().map(|entry| entry.id.to_string()).collect();
    /// assert_eq!(ids, ["a", "c", "b"]);
    /// ```
    #[must_use]
    pub fn append(mut self, other: &Self) -> Self {
        let present: BTreeSet<DatasetId> = self
            .entries
            .iter()
            .map(|scored| scored.id.clone())
            .collect();
        let lowest = match self.entries.last() {
            Some(scored) => scored.score,
            None => 0.0,
        };
        let others = other
            .entries
            .iter()
            .filter(|scored| !present.contains(&scored.id))
            .zip(1_u32..);
        let behind = others.map(|(scored, place)| Scored {
            id: scored.id.clone(),
            score: lowest - f64::from(place),
        });
        self.entries.extend(behind);
        Self::from_scores(self.entries)
    }

    /// Iterates over the entries, from rank 1.
    pub fn iter(&self) -> impl Iterator<Item = &Scored> {
        self.entries.iter()
    }

    /// Returns the number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns true if the ranking has no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// Returns the number by which a score is sorted.
fn sort_key(score: f64) -> f64 {
    if score.is_nan() {
        f64::NEG_INFINITY
    } else {
        // Adding 0 turns −0 into 0, so that both are tied.
        score + 0.0
    }
}
