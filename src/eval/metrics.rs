//! Measures, by their ir_measures names, computed as trec_eval computes them.

use super::Qrels;
use crate::ranking::Ranking;
use std::fmt;
use std::str::FromStr;

/// A measure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Metric {
    /// `nDCG@k` (trec_eval's `ndcg_cut`): linear gain, discount log2(rank + 1), ideal over all judged documents.
    Ndcg(usize),
    /// `AP@k` (`map_cut`): precision at the relevant ranks up to k, over *all* relevant documents.
    AveragePrecision(usize),
    /// `P@k`.
    Precision(usize),
    /// `R@k`.
    Recall(usize),
    /// `RR`.
    ReciprocalRank,
}

/// A name that is no measure's.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0:?} is no measure; known are nDCG@k, AP@k, P@k, R@k and RR")]
pub struct ParseMetricError(String);

impl FromStr for Metric {
    type Err = ParseMetricError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let unknown = || ParseMetricError(name.to_owned());
        if name == "RR" {
            return Ok(Self::ReciprocalRank);
        }
        let (kind, depth) = name.split_once('@').ok_or_else(unknown)?;
        let depth = depth.parse().ok().filter(|&depth| depth > 0).ok_or_else(unknown)?;
        match kind {
            "nDCG" => Ok(Self::Ndcg(depth)),
            "AP" => Ok(Self::AveragePrecision(depth)),
            "P" => Ok(Self::Precision(depth)),
            "R" => Ok(Self::Recall(depth)),
            _ => Err(unknown()),
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ndcg(k) => write!(f, "nDCG@{k}"),
            Self::AveragePrecision(k) => write!(f, "AP@{k}"),
            Self::Precision(k) => write!(f, "P@{k}"),
            Self::Recall(k) => write!(f, "R@{k}"),
            Self::ReciprocalRank => f.write_str("RR"),
        }
    }
}

impl Metric {
    /// The ranks the measure looks at; 0 where it looks at all.
    #[must_use]
    pub fn depth(self) -> usize {
        match self {
            Self::Ndcg(k) | Self::AveragePrecision(k) | Self::Precision(k) | Self::Recall(k) => k,
            Self::ReciprocalRank => 0,
        }
    }

    /// The value for one topic, in [0, 1]; 0 where nothing is relevant.
    #[must_use]
    pub fn of(self, qrels: &Qrels, topic: &str, ranking: &Ranking) -> f64 {
        let grades: Vec<i32> = ranking.iter().map(|entry| qrels.grade(topic, entry.id.as_str())).collect();
        let mut ideal: Vec<i32> = qrels.relevant(topic).collect();
        ideal.sort_unstable_by(|a, b| b.cmp(a));
        self.of_grades(&grades, &ideal)
    }

    /// The same from the grades in the order of ranks and all grades above 0, descending: for a search that judges the
    /// same documents in thousands of orders.
    #[must_use]
    pub fn of_grades(self, grades: &[i32], ideal: &[i32]) -> f64 {
        if ideal.is_empty() {
            return 0.0;
        }
        let relevant = |grades: &[i32]| grades.iter().filter(|&&grade| grade > 0).count() as f64;
        match self {
            Self::Ndcg(k) => discounted_gain(cut(grades, k)) / discounted_gain(cut(ideal, k)),
            Self::AveragePrecision(k) => {
                let at_relevant = |(place, _): (usize, &i32)| relevant(&grades[..=place]) / (place + 1) as f64;
                cut(grades, k).iter().enumerate().filter(|(_, grade)| **grade > 0).map(at_relevant).sum::<f64>()
                    / ideal.len() as f64
            }
            Self::Precision(k) => relevant(cut(grades, k)) / k as f64,
            Self::Recall(k) => relevant(cut(grades, k)) / ideal.len() as f64,
            Self::ReciprocalRank => {
                grades.iter().position(|&grade| grade > 0).map_or(0.0, |place| 1.0 / (place + 1) as f64)
            }
        }
    }
}

fn cut(grades: &[i32], depth: usize) -> &[i32] {
    &grades[..depth.min(grades.len())]
}

fn discounted_gain(grades: &[i32]) -> f64 {
    grades.iter().enumerate().map(|(place, &grade)| f64::from(grade.max(0)) / ((place + 2) as f64).log2()).sum()
}

/// The mean of values; 0 of none.
#[must_use]
pub fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::DatasetId;
    use crate::ranking::Scored;
    use proptest::prelude::*;

    fn ranking(ids: &[&str]) -> Ranking {
        let scored = ids
            .iter()
            .enumerate()
            .map(|(place, id)| Scored { id: DatasetId::new(*id).expect("an id"), score: -(place as f64) });
        Ranking::from_scores(scored.collect())
    }

    #[test]
    fn values_by_hand() {
        let mut qrels = Qrels::default();
        for (document, grade) in [("a", 2), ("b", 1), ("c", 0), ("d", 1)] {
            qrels.insert("1", document, grade);
        }
        let ranking = ranking(&["x", "a", "c", "b"]);
        let value = |name: &str| name.parse::<Metric>().expect(name).of(&qrels, "1", &ranking);
        let gain = 2.0 / 3.0_f64.log2() + 1.0 / 5.0_f64.log2();
        let ideal = 2.0 + 1.0 / 3.0_f64.log2() + 1.0 / 4.0_f64.log2();
        assert!((value("nDCG@10") - gain / ideal).abs() < 1e-12);
        assert!((value("AP@10") - (0.5 + 0.5) / 3.0).abs() < 1e-12);
        assert!((value("AP@2") - 0.5 / 3.0).abs() < 1e-12);
        assert!(
            (value("P@5") - 0.4).abs() < 1e-12
                && (value("R@2") - 1.0 / 3.0).abs() < 1e-12
                && (value("RR") - 0.5).abs() < 1e-12
        );
        assert!("nDCG@0".parse::<Metric>().is_err() && "MAP".parse::<Metric>().is_err());
    }

    proptest! {
        #[test]
        fn every_measure_is_between_zero_and_one_and_ideal_order_is_best(grades in proptest::collection::vec(0i32..3, 1..8), k in 1usize..9) {
            let mut qrels = Qrels::default();
            let names: Vec<String> = (0..grades.len()).map(|n| format!("d{n}")).collect();
            for (name, &grade) in names.iter().zip(&grades) {
                qrels.insert("1", name, grade);
            }
            let mut best: Vec<&str> = names.iter().map(String::as_str).collect();
            let any = ranking(&best);
            best.sort_by_key(|name| -qrels.grade("1", name));
            let best = ranking(&best);
            for metric in [Metric::Ndcg(k), Metric::AveragePrecision(k), Metric::Precision(k), Metric::Recall(k), Metric::ReciprocalRank] {
                let (any, best) = (metric.of(&qrels, "1", &any), metric.of(&qrels, "1", &best));
                prop_assert!((0.0..=1.0 + 1e-12).contains(&any) && best >= any - 1e-12, "{} {} {}", metric, any, best);
            }
        }
    }
}
