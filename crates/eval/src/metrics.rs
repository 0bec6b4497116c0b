//! Effectiveness measures with the names of ir_measures and the values of trec_eval.
//!
//! For measures that trec_eval lacks, the values are those of ir_measures: `RR@k` of its MS MARCO provider, `Judged@k` of
//! its own provider, and `nDCG(dcg='exp-log2')` of gdeval. One difference is deliberate: here all measures use the order
//! of trec_eval, while the first two providers break score ties in the opposite order.

use super::Qrels;
use lodeseek_ranking::Ranking;
use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;

/// Measure with an optional rank cut-off.
///
/// ```
/// use lodeseek_eval::Metric;
/// let metric: Metric = "nDCG(dcg='exp-log2')@10".parse().expect("a measure");
/// assert_eq!((metric.depth(), metric.to_string().as_str()), (10, "nDCG(dcg='exp-log2')@10"));
/// assert_eq!("AP(rel=1)@5".parse(), Ok(Metric::average_precision(5)));
/// assert_eq!("MAP@5".parse(), Ok(Metric::average_precision(5)));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Metric {
    measure: Measure,
    cutoff: Option<NonZeroUsize>,
}

/// Formula of a measure, without the cut-off.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Measure {
    /// `nDCG`: gain discounted by log2(rank + 1), divided by that of the ideal order of all judged documents.
    ///
    /// K. Järvelin, J. Kekäläinen: Cumulated gain-based evaluation of IR techniques. TOIS 20(4), 2002.
    Ndcg(Gain),
    /// `AP`: sum of the precision at the ranks of relevant documents, divided by the number of *all* relevant documents.
    ///
    /// The divisor is not limited by the cut-off. `MAP`, as in ir_measures, and `map`, as in trec_eval, are other names of it.
    AveragePrecision(MinimumGrade),
    /// `P`: number of relevant documents divided by the cut-off, even if fewer documents were ranked.
    Precision(MinimumGrade),
    /// `R`: number of relevant documents found, divided by the number of all relevant documents.
    Recall(MinimumGrade),
    /// `RR`: reciprocal of the rank of the first relevant document.
    ReciprocalRank(MinimumGrade),
    /// `Judged`: share of judged documents, of any grade, among the documents ranked down to the cut-off.
    Judged,
}

/// Gain of a relevance grade. Grades below 0 have no gain.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Gain {
    /// The grade itself, as in trec_eval's `ndcg` and `ndcg_cut`.
    #[default]
    Linear,
    /// 2^grade − 1.
    ///
    /// C. Burges and others: Learning to rank using gradient descent. ICML 2005.
    Exponential,
}

/// Lowest grade that counts as relevant. It is at least 1, because 0 stands for documents without a judgement.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MinimumGrade(i32);

impl MinimumGrade {
    /// Creates a minimum grade. Returns `None` for grades below 1.
    #[must_use]
    pub fn new(grade: i32) -> Option<Self> {
        (grade > 0).then_some(Self(grade))
    }

    /// Returns the grade.
    #[must_use]
    pub fn get(self) -> i32 {
        self.0
    }

    /// Returns for each rank if its document is relevant.
    fn mark_relevant(self, ranked: &[Option<i32>]) -> impl Iterator<Item = bool> {
        ranked
            .iter()
            .map(move |grade| grade.is_some_and(|grade| grade >= self.0))
    }

    /// Counts the relevant documents of a ranking.
    fn count_relevant(self, ranked: &[Option<i32>]) -> f64 {
        self.mark_relevant(ranked)
            .filter(|&is_relevant| is_relevant)
            .count() as f64
    }

    /// Counts the relevant documents among the judged ones, whose grades are sorted, best first.
    fn count_relevant_judgements(self, judged: &[i32]) -> f64 {
        judged.iter().take_while(|&&grade| grade >= self.0).count() as f64
    }
}

impl Default for MinimumGrade {
    fn default() -> Self {
        Self(1)
    }
}

/// Error for an unknown measure name.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error(
    "unknown measure {0:?}; supported: nDCG, nDCG@k, nDCG(dcg='exp-log2')@k, AP (or MAP), AP@k, P@k, R@k, RR, RR@k and \
     Judged@k, and AP, P, R and RR with (rel=N)"
)]
pub struct ParseMetricError(String);

impl FromStr for Metric {
    type Err = ParseMetricError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        parse(name).ok_or_else(|| ParseMetricError(name.to_owned()))
    }
}

/// Parses `NAME`, `NAME@k`, `NAME(parameter=value)` or `NAME(parameter=value)@k`.
fn parse(name: &str) -> Option<Metric> {
    let (measure, cutoff) = match name.rsplit_once('@') {
        // The type of the cut-off rejects `@0`.
        Some((measure, cutoff)) => (measure, Some(cutoff.parse().ok()?)),
        None => (name, None),
    };
    let (kind, parameter) = match measure.split_once('(') {
        Some((kind, rest)) => (kind, Some(rest.strip_suffix(')')?.split_once('=')?)),
        None => (measure, None),
    };
    let measure = match kind {
        "nDCG" => Measure::Ndcg(parse_gain(parameter)?),
        "AP" | "MAP" | "map" => Measure::AveragePrecision(parse_minimum_grade(parameter)?),
        // As in ir_measures, P and R need a cut-off.
        "P" if cutoff.is_some() => Measure::Precision(parse_minimum_grade(parameter)?),
        "R" if cutoff.is_some() => Measure::Recall(parse_minimum_grade(parameter)?),
        "RR" => Measure::ReciprocalRank(parse_minimum_grade(parameter)?),
        "Judged" if parameter.is_none() => Measure::Judged,
        _ => return None,
    };
    Some(Metric { measure, cutoff })
}

fn parse_minimum_grade(parameter: Option<(&str, &str)>) -> Option<MinimumGrade> {
    match parameter {
        None => Some(MinimumGrade::default()),
        Some(("rel", grade)) => grade.parse().ok().and_then(MinimumGrade::new),
        Some(_) => None,
    }
}

fn parse_gain(parameter: Option<(&str, &str)>) -> Option<Gain> {
    match parameter {
        None | Some(("dcg", "'log2'" | "\"log2\"")) => Some(Gain::Linear),
        Some(("dcg", "'exp-log2'" | "\"exp-log2\"")) => Some(Gain::Exponential),
        Some(_) => None,
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, relevant) = match self.measure {
            Measure::Ndcg(Gain::Linear) => ("nDCG", None),
            Measure::Ndcg(Gain::Exponential) => ("nDCG(dcg='exp-log2')", None),
            Measure::AveragePrecision(grade) => ("AP", Some(grade)),
            Measure::Precision(grade) => ("P", Some(grade)),
            Measure::Recall(grade) => ("R", Some(grade)),
            Measure::ReciprocalRank(grade) => ("RR", Some(grade)),
            Measure::Judged => ("Judged", None),
        };
        f.write_str(name)?;
        // Names of ir_measures leave out the default grade.
        if let Some(grade) = relevant.filter(|&grade| grade != MinimumGrade::default()) {
            write!(f, "(rel={})", grade.get())?;
        }
        match self.cutoff {
            Some(cutoff) => write!(f, "@{cutoff}"),
            None => Ok(()),
        }
    }
}

/// Input of a measure: the grades of a topic's ranking and of its judgements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grades {
    /// Grades by rank; `None` if a document was not judged.
    ranked: Vec<Option<i32>>,
    /// Grades of all judged documents, best first.
    judged: Vec<i32>,
}

impl Grades {
    /// Returns the grades of all judged documents of a topic, best first.
    #[must_use]
    pub fn judgements(qrels: &Qrels, topic: &str) -> Vec<i32> {
        let mut judged: Vec<i32> = qrels.judgements(topic).map(|(_, grade)| grade).collect();
        judged.sort_unstable_by(|a, b| b.cmp(a));
        judged
    }

    /// Looks up the grades of the documents of a ranking.
    #[must_use]
    pub fn new(qrels: &Qrels, topic: &str, ranking: &Ranking) -> Self {
        let judged = Self::judgements(qrels, topic);
        Self {
            ranked: ranking
                .iter()
                .map(|entry| qrels.find_grade(topic, entry.id.as_str()))
                .collect(),
            judged,
        }
    }
}

impl Metric {
    /// Creates `nDCG@cutoff` with linear gain; a cut-off of 0 stands for `nDCG`.
    #[must_use]
    pub const fn ndcg(cutoff: usize) -> Self {
        Self {
            measure: Measure::Ndcg(Gain::Linear),
            cutoff: NonZeroUsize::new(cutoff),
        }
    }

    /// Creates `AP@cutoff`; a cut-off of 0 stands for `AP`.
    #[must_use]
    pub const fn average_precision(cutoff: usize) -> Self {
        Self {
            measure: Measure::AveragePrecision(MinimumGrade(1)),
            cutoff: NonZeroUsize::new(cutoff),
        }
    }

    /// Measures of ACORDAR: nDCG and AP at 5 and 10.
    pub const ACORDAR: [Self; 4] = [
        Self::ndcg(5),
        Self::ndcg(10),
        Self::average_precision(5),
        Self::average_precision(10),
    ];

    /// Returns the formula without the cut-off.
    #[must_use]
    pub fn measure(self) -> Measure {
        self.measure
    }

    /// Returns the cut-off: the number of ranks that are evaluated. 0 stands for all ranks.
    #[must_use]
    pub fn depth(self) -> usize {
        match self.cutoff {
            Some(cutoff) => cutoff.get(),
            None => 0,
        }
    }

    /// Returns the value for one topic, in [0, 1]. It is 0 if no document is relevant.
    #[must_use]
    pub fn evaluate(self, qrels: &Qrels, topic: &str, ranking: &Ranking) -> f64 {
        self.value(&Grades::new(qrels, topic, ranking))
    }

    /// Returns the value for the grades of one topic.
    #[must_use]
    pub fn value(self, grades: &Grades) -> f64 {
        self.evaluate_grades(&grades.ranked, &grades.judged)
    }

    /// Returns the value for grades by rank and for all judged grades, best first.
    ///
    /// An unjudged document has the grade `None`. Parameter searches use this function, because they evaluate thousands of
    /// orders of the same documents.
    #[must_use]
    pub fn evaluate_grades(self, ranked: &[Option<i32>], judged: &[i32]) -> f64 {
        let ranked = self.cut(ranked);
        match self.measure {
            Measure::Ndcg(gain) => {
                // The ideal order has the same cut-off, so that the best possible ranking has the value 1.
                let ideal = gain.discount_gains(self.cut(judged).iter().copied());
                divide_or_zero(
                    gain.discount_gains(ranked.iter().map(|grade| grade.unwrap_or(0))),
                    ideal,
                )
            }
            Measure::AveragePrecision(minimum) => divide_or_zero(
                precision_at_relevant(minimum.mark_relevant(ranked)),
                minimum.count_relevant_judgements(judged),
            ),
            Measure::Precision(minimum) => {
                divide_or_zero(minimum.count_relevant(ranked), self.depth() as f64)
            }
            Measure::Recall(minimum) => divide_or_zero(
                minimum.count_relevant(ranked),
                minimum.count_relevant_judgements(judged),
            ),
            Measure::ReciprocalRank(minimum) => {
                let first = minimum
                    .mark_relevant(ranked)
                    .position(|is_relevant| is_relevant);
                match first {
                    Some(place) => 1.0 / (place + 1) as f64,
                    None => 0.0,
                }
            }
            Measure::Judged => {
                divide_or_zero(ranked.iter().flatten().count() as f64, ranked.len() as f64)
            }
        }
    }

    fn cut<T>(self, grades: &[T]) -> &[T] {
        match self.cutoff {
            Some(cutoff) => &grades[..cutoff.get().min(grades.len())],
            None => grades,
        }
    }
}

impl Gain {
    fn value(self, grade: i32) -> f64 {
        let grade = f64::from(grade.max(0));
        match self {
            Self::Linear => grade,
            Self::Exponential => grade.exp2() - 1.0,
        }
    }

    /// Returns the sum of the gains by rank, each divided by log2(rank + 1).
    fn discount_gains(self, grades: impl Iterator<Item = i32>) -> f64 {
        let gains = grades
            .enumerate()
            .map(|(place, grade)| self.value(grade) / ((place + 2) as f64).log2());
        // The sum of no numbers is -0.0 in Rust.
        gains.sum::<f64>() + 0.0
    }
}

/// Returns the sum of the precision at each relevant rank.
fn precision_at_relevant(ranks: impl Iterator<Item = bool>) -> f64 {
    let (mut found, mut sum) = (0.0, 0.0);
    for (place, _) in ranks.enumerate().filter(|(_, relevant)| *relevant) {
        found += 1.0;
        sum += found / (place + 1) as f64;
    }
    sum
}

/// Divides two numbers; 0 if the divisor is 0.
fn divide_or_zero(part: f64, whole: f64) -> f64 {
    if whole == 0.0 { 0.0 } else { part / whole }
}

/// Returns the mean of values, or 0 if there are none.
#[must_use]
pub fn mean(values: &[f64]) -> f64 {
    if values.is_empty() {
        0.0
    } else {
        values.iter().sum::<f64>() / values.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_ranking::DatasetId;
    use lodeseek_ranking::Scored;
    use proptest::prelude::*;

    fn ranking(ids: &[&str]) -> Ranking {
        let scored = ids.iter().enumerate().map(|(place, id)| Scored {
            id: DatasetId::new(*id).expect("an id"),
            score: -(place as f64),
        });
        Ranking::from_scores(scored.collect())
    }

    #[test]
    fn values_by_hand() {
        let mut qrels = Qrels::default();
        for (document, grade) in [("a", 2), ("b", 1), ("c", 0), ("d", 1)] {
            qrels.insert("1", document, grade);
        }
        let ranking = ranking(&["x", "a", "c", "b"]);
        let value = |name: &str| {
            name.parse::<Metric>()
                .expect(name)
                .evaluate(&qrels, "1", &ranking)
        };
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
        let exponential = 3.0 / 3.0_f64.log2() + 1.0 / 5.0_f64.log2();
        let exponential_ideal = 3.0 + 1.0 / 3.0_f64.log2() + 1.0 / 4.0_f64.log2();
        for (name, expected) in [
            ("nDCG(dcg='exp-log2')@10", exponential / exponential_ideal),
            ("nDCG", gain / ideal),
            ("nDCG@1", 0.0),
            ("AP", 1.0 / 3.0),
            ("AP(rel=2)@5", 0.5),
            ("AP(rel=3)", 0.0),
            ("P(rel=2)@5", 0.2),
            ("R(rel=2)@2", 1.0),
            ("RR@1", 0.0),
            ("RR(rel=2)@2", 0.5),
            ("Judged@2", 0.5),
            ("Judged@10", 0.75), // of four documents ranked, not of ten
            ("Judged", 0.75),
        ] {
            assert!(
                (value(name) - expected).abs() < 1e-12,
                "{name}: {} instead of {expected}",
                value(name)
            );
        }
    }

    #[test]
    fn names_are_those_of_ir_measures() {
        for name in [
            "nDCG",
            "nDCG@5",
            "nDCG(dcg='exp-log2')",
            "nDCG(dcg='exp-log2')@5",
            "AP",
            "AP@5",
            "AP(rel=2)",
            "AP(rel=2)@5",
            "P@5",
            "P(rel=2)@5",
            "R@5",
            "R(rel=2)@5",
            "RR",
            "RR@5",
            "RR(rel=2)",
            "RR(rel=2)@5",
            "Judged",
            "Judged@5",
        ] {
            assert_eq!(
                name.parse::<Metric>()
                    .map(|metric| metric.to_string())
                    .as_deref(),
                Ok(name)
            );
        }
        for (name, short) in [
            ("P(rel=1)@5", "P@5"),
            ("nDCG(dcg='log2')", "nDCG"),
            ("nDCG(dcg=\"exp-log2\")@5", "nDCG(dcg='exp-log2')@5"),
            ("MAP", "AP"),
            ("map", "AP"),
            ("MAP@5", "AP@5"),
            ("MAP(rel=2)@5", "AP(rel=2)@5"),
        ] {
            assert_eq!(
                name.parse::<Metric>()
                    .map(|metric| metric.to_string())
                    .as_deref(),
                Ok(short)
            );
        }
        for name in [
            "",
            "Map",
            "MAP(rel=0)",
            "MAP@",
            "ndcg@5",
            "nDCG@0",
            "nDCG@-1",
            "nDCG@",
            "nDCG@5@5",
            "P",
            "R",
            "R(rel=2)",
            "AP(rel=0)",
            "AP(rel=-1)@5",
            "AP(rel=2",
            "AP()@5",
            "AP(rel)@5",
            "nDCG(rel=2)@5",
            "nDCG(dcg='log3')",
            "nDCG(dcg=log2)",
            "Judged(rel=2)@5",
            "RR (rel=2)",
        ] {
            assert_eq!(
                name.parse::<Metric>(),
                Err(ParseMetricError(name.to_owned()))
            );
        }
    }

    #[test]
    fn grades_below_zero_and_topics_without_relevant_documents() {
        let mut qrels = Qrels::default();
        for (topic, document, grade) in [
            ("1", "a", 1),
            ("1", "b", -1),
            ("1", "c", 2),
            ("1", "d", -2),
            ("2", "a", -1),
            ("3", "a", 0),
        ] {
            qrels.insert(topic, document, grade);
        }
        let value = |name: &str, topic: &str, ids: &[&str]| {
            name.parse::<Metric>()
                .expect(name)
                .evaluate(&qrels, topic, &ranking(ids))
        };
        // pytrec_eval's values, but for Judged, which is ir_measures' own
        for (name, expected) in [
            ("nDCG", 0.567_207_416_956_870_9),
            ("nDCG@2", 0.239_812_466_568_131_46),
            ("AP", 0.5),
            ("AP@2", 0.25),
            ("AP(rel=2)", 0.25),
            ("P@3", 1.0 / 3.0),
            ("R@2", 0.5),
            ("RR", 0.5),
            ("RR(rel=2)", 0.25),
            ("Judged@3", 1.0),
        ] {
            let value = value(name, "1", &["b", "a", "d", "c"]);
            assert!(
                (value - expected).abs() < 1e-12,
                "{name}: {value} instead of {expected}"
            );
        }
        for (topic, judged) in [("2", 0.5), ("3", 0.5), ("unknown", 0.0)] {
            for name in [
                "nDCG",
                "nDCG@5",
                "nDCG(dcg='exp-log2')",
                "AP",
                "AP@5",
                "P@5",
                "R@5",
                "RR",
            ] {
                assert_eq!(value(name, topic, &["a", "b"]), 0.0, "{name} of {topic}");
                assert_eq!(
                    value(name, topic, &[]),
                    0.0,
                    "{name} of {topic}, nothing ranked"
                );
            }
            assert_eq!(value("Judged@5", topic, &["a", "b"]), judged);
        }
        assert_eq!(value("Judged", "1", &[]), 0.0);
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
            for name in ["nDCG", "nDCG(dcg='exp-log2')", "AP", "AP(rel=2)", "P", "R", "RR", "Judged"] {
                let metric: Metric = format!("{name}@{k}").parse().expect("a measure");
                let (any, best) = (metric.evaluate(&qrels, "1", &any), metric.evaluate(&qrels, "1", &best));
                prop_assert!((0.0..=1.0 + 1e-12).contains(&any) && best >= any - 1e-12, "{} {} {}", metric, any, best);
            }
        }
    }
}
