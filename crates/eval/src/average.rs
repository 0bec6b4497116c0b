//! Values by topic, and three ways to average them.

use super::metrics::{Grades, Metric, mean};
use super::significance::{Comparison, Correction, Differences, SignificanceTest};
use super::{Folds, Qrels, Run};
use std::collections::BTreeMap;

/// Set of topics over which a mean is computed.
///
/// trec_eval's default is [`Average::Intersection`]. It is not the default here, because it rewards a system that returns
/// nothing for hard topics.
#[derive(Clone, Copy, Debug, Default)]
pub enum Average<'f> {
    /// All judged topics. Topics without a ranking count as 0, as in `trec_eval -c` and ir_measures.
    #[default]
    AllTopics,
    /// Judged topics with a ranking: trec_eval's default.
    Intersection,
    /// Mean over folds of the mean over their test topics. Topics without a ranking count as 0.
    Macro(&'f Folds),
}

/// Values of a run under one measure, by topic.
#[derive(Clone, Debug, PartialEq)]
pub struct TopicValues {
    metric: Metric,
    /// Value of each judged topic; `None` if the run has no ranking for it.
    values: BTreeMap<String, Option<f64>>,
}

impl TopicValues {
    /// Evaluates a run under several measures. Returns one column per measure, in the given order.
    #[must_use]
    pub fn evaluate(run: &Run, qrels: &Qrels, metrics: &[Metric]) -> Vec<Self> {
        let mut columns: Vec<Self> = metrics
            .iter()
            .map(|&metric| Self {
                metric,
                values: BTreeMap::new(),
            })
            .collect();
        // A ranking of a topic without judgements has no value, so the topics of the judgements decide.
        for topic in qrels.topics() {
            let grades = run
                .ranking(topic)
                .map(|ranking| Grades::new(qrels, topic, ranking));
            for column in &mut columns {
                let value = grades.as_ref().map(|grades| column.metric.value(grades));
                column.values.insert(topic.to_owned(), value);
            }
        }
        columns
    }

    /// The measure.
    #[must_use]
    pub fn metric(&self) -> Metric {
        self.metric
    }

    /// Iterates over the topics that the mean includes, with their values.
    pub fn averaged_values(&self, average: Average<'_>) -> impl Iterator<Item = (&str, f64)> {
        self.values.iter().filter_map(move |(topic, value)| {
            Some((topic.as_str(), averaged_value(*value, average)?))
        })
    }

    /// Returns the number of judged topics without a ranking.
    #[must_use]
    pub fn missing(&self) -> usize {
        self.values.values().filter(|value| value.is_none()).count()
    }

    /// Returns the mean, or 0 if there are no topics.
    #[must_use]
    pub fn mean(&self, average: Average<'_>) -> f64 {
        let Average::Macro(folds) = average else {
            return mean(
                &self
                    .averaged_values(average)
                    .map(|(_, value)| value)
                    .collect::<Vec<_>>(),
            );
        };
        let mut fold_means = Vec::new();
        // The mean of a fold without test topics would be 0 and lower the result.
        for fold in folds.0.iter().filter(|fold| !fold.test.is_empty()) {
            let values: Vec<f64> = fold
                .test
                .topics()
                .map(|topic| self.value_or_zero(topic))
                .collect();
            fold_means.push(mean(&values));
        }
        mean(&fold_means)
    }

    fn value_or_zero(&self, topic: &str) -> f64 {
        self.values.get(topic).copied().flatten().unwrap_or(0.0)
    }

    /// Subtracts the values of a baseline, for the topics that count for both runs.
    ///
    /// Under [`Average::Macro`] these are all topics, each once: significance tests ignore folds.
    #[must_use]
    pub fn minus(&self, baseline: &Self, average: Average<'_>) -> Differences {
        let mut differences = Vec::new();
        for (topic, value) in &self.values {
            let other = baseline
                .values
                .get(topic)
                .and_then(|other| averaged_value(*other, average));
            if let (Some(value), Some(other)) = (averaged_value(*value, average), other) {
                differences.push(value - other);
            }
        }
        Differences::new(differences)
    }
}

/// Returns the value that enters the mean, or `None` if the topic is left out.
fn averaged_value(value: Option<f64>, average: Average<'_>) -> Option<f64> {
    match average {
        Average::Intersection => value,
        Average::AllTopics | Average::Macro(_) => Some(value.unwrap_or(0.0)),
    }
}

/// Compares pairs of runs under one measure: each run with its baseline. The p values are corrected for the number of pairs.
#[must_use]
pub fn compare(
    pairs: &[(&TopicValues, &TopicValues)],
    average: Average<'_>,
    test: SignificanceTest,
    correction: Correction,
) -> Vec<Comparison> {
    let mut comparisons: Vec<Comparison> = pairs
        .iter()
        .map(|(run, baseline)| Comparison::new(&run.minus(baseline, average), test))
        .collect();
    let corrected = correction.correct(
        &comparisons
            .iter()
            .map(|comparison| comparison.p)
            .collect::<Vec<_>>(),
    );
    for (comparison, corrected) in comparisons.iter_mut().zip(corrected) {
        comparison.corrected_p = corrected;
    }
    comparisons
}
