//! Values by topic, and the three ways of making one number of them.

use super::metrics::{Grades, Metric, mean};
use super::significance::{Comparison, Differences, SignificanceTest, holm};
use super::{Folds, Qrels, Run};
use std::collections::BTreeMap;

/// Which topics a mean is over.
///
/// A system that stays silent on hard topics looks good under [`Average::Intersection`], so that is not the default here,
/// though it is trec_eval's.
#[derive(Clone, Copy, Debug, Default)]
pub enum Average<'f> {
    /// All judged topics, those the run has no ranking for with 0: trec_eval's `-c`, and ir_measures' way.
    #[default]
    AllTopics,
    /// The judged topics the run has a ranking for: trec_eval's default.
    Intersection,
    /// The mean over the folds of the means of their test topics, those the run has no ranking for with 0.
    Macro(&'f Folds),
}

/// The values of a run under one measure, by topic.
#[derive(Clone, Debug, PartialEq)]
pub struct TopicValues {
    metric: Metric,
    /// For all judged topics; `None` where the run has no ranking.
    values: BTreeMap<String, Option<f64>>,
}

impl TopicValues {
    /// Measures a run: the values under every measure, in the order of the measures.
    #[must_use]
    pub fn evaluate(run: &Run, qrels: &Qrels, metrics: &[Metric]) -> Vec<Self> {
        let mut columns: Vec<Self> = metrics.iter().map(|&metric| Self { metric, values: BTreeMap::new() }).collect();
        for topic in qrels.topics() {
            let grades = run.ranking(topic).map(|ranking| Grades::new(qrels, topic, ranking));
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

    /// The topics a mean is over and their values, by topic.
    pub fn counted(&self, average: Average<'_>) -> impl Iterator<Item = (&str, f64)> {
        self.values.iter().filter_map(move |(topic, value)| Some((topic.as_str(), counted(*value, average)?)))
    }

    /// The number of judged topics the run has no ranking for.
    #[must_use]
    pub fn missing(&self) -> usize {
        self.values.values().filter(|value| value.is_none()).count()
    }

    /// The mean; 0 of no topics.
    #[must_use]
    pub fn mean(&self, average: Average<'_>) -> f64 {
        let Average::Macro(folds) = average else {
            return mean(&self.counted(average).map(|(_, value)| value).collect::<Vec<_>>());
        };
        let of_topic = |topic: &str| self.values.get(topic).copied().flatten().unwrap_or(0.0);
        let tested = folds.0.iter().filter(|fold| !fold.test.is_empty());
        let means = tested.map(|fold| mean(&fold.test.topics().map(of_topic).collect::<Vec<_>>()));
        mean(&means.collect::<Vec<_>>())
    }

    /// This run's values minus those of a baseline, over the topics that count for both.
    ///
    /// Under [`Average::Macro`] these are all topics, each once: tests of significance know no folds.
    #[must_use]
    pub fn minus(&self, baseline: &Self, average: Average<'_>) -> Differences {
        let difference = |(topic, value): (&String, &Option<f64>)| {
            Some(counted(*value, average)? - counted(*baseline.values.get(topic)?, average)?)
        };
        Differences::new(self.values.iter().filter_map(difference))
    }
}

/// The value as it counts, if it does.
fn counted(value: Option<f64>, average: Average<'_>) -> Option<f64> {
    match average {
        Average::Intersection => value,
        Average::AllTopics | Average::Macro(_) => Some(value.unwrap_or(0.0)),
    }
}

/// Compares runs with a baseline under one measure; the p values are corrected over these runs.
#[must_use]
pub fn compare(
    baseline: &TopicValues,
    others: &[&TopicValues],
    average: Average<'_>,
    test: SignificanceTest,
) -> Vec<Comparison> {
    let mut comparisons: Vec<Comparison> =
        others.iter().map(|other| Comparison::new(&other.minus(baseline, average), test)).collect();
    let corrected = holm(&comparisons.iter().map(|comparison| comparison.p).collect::<Vec<_>>());
    for (comparison, corrected) in comparisons.iter_mut().zip(corrected) {
        comparison.corrected_p = corrected;
    }
    comparisons
}
