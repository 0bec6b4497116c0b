//! Good and weak matches: the model that marks them, derived from judged topics and measured by folds.
//!
//! Every candidate of every topic is a sample, relevant if its grade is above 0. Logistic regression is learned on the topics of
//! the other folds; the minimum probability of a good match is that of the program.

use super::Encoders;
use super::experiment::{ExperimentModels, read_experiment_file};
use super::report::{Cell, Report, RowReport, TableReport};
use super::reranking::RerankSpec;
use super::verification::{Collection, VerifiedCollection};
use anyhow::{Context, ensure};
use faer::Mat;
use faer::prelude::Solve;
use lodeseek_engine::{
    MatchFeatures, MatchQuality, QuerySyntax, Reranker, SearchRequest, Searcher,
};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Number of coefficients: the intercept and one for each feature.
const COEFFICIENT_COUNT: usize = MatchFeatures::LEN + 1;
/// Weight of the squared coefficients in the loss, which keeps them finite.
const RIDGE_WEIGHT: f64 = 0.1;
/// Number of steps of Newton's method. Later ones change no digit that is printed.
const MAX_STEPS: usize = 30;
/// Maximum number of hits of a topic that are read.
const MAX_HITS: usize = 1000;

/// An experiment on good and weak matches.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Matches {
    /// Name of the file without `.toml`.
    #[serde(skip)]
    pub name: String,
    /// Kind of experiment: always `matches`.
    pub task: String,
    /// Title in a few words.
    pub title: String,
    /// Description in a few sentences.
    pub about: String,
    /// Shell command that runs the experiment.
    pub command: String,
    /// Source of the data.
    pub get: String,
    /// Models whose scores are expected. If absent, those of the index.
    #[serde(default)]
    pub models: ExperimentModels,
    /// Judgements, folds and topics.
    pub collection: Collection,
    /// Rankings whose matches are marked.
    pub rankings: Vec<MarkedRanking>,
}

/// A ranking whose matches are marked.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MarkedRanking {
    /// Name of its rows.
    pub name: String,
    /// The ranking. Without it, BM25 alone.
    pub rerank: Option<RerankSpec>,
    /// Expected values by folds.
    #[serde(default)]
    pub expected: Vec<f64>,
    /// Expected values of the program's constants.
    #[serde(default)]
    pub expected_of_program: Vec<f64>,
}

/// A candidate of a topic.
struct Sample {
    values: [f64; MatchFeatures::LEN],
    is_relevant: bool,
    /// If true, the program marks it as good.
    is_good: bool,
    /// If true, the program marks it as good in any case: the topic names it.
    is_named: bool,
}

/// The candidates of a topic, and the number of relevant datasets.
struct JudgedTopic {
    samples: Vec<Sample>,
    relevant: usize,
}

/// Numbers of good matches.
#[derive(Clone, Copy, Default)]
struct Counts {
    good: usize,
    good_and_relevant: usize,
    relevant: usize,
    topics: usize,
}

impl Counts {
    fn add(&mut self, topic: &JudgedTopic, is_good: impl Fn(&Sample) -> bool) {
        self.topics += 1;
        self.relevant += topic.relevant;
        for sample in &topic.samples {
            if is_good(sample) {
                self.good += 1;
                self.good_and_relevant += usize::from(sample.is_relevant);
            }
        }
    }

    /// Returns the share of relevant datasets among the good ones, the share of relevant datasets that are good, and the number of
    /// good ones of a topic.
    fn measures(self) -> [f64; 3] {
        [
            share(self.good_and_relevant, self.good),
            share(self.good_and_relevant, self.relevant),
            share(self.good, self.topics),
        ]
    }
}

fn share(part: usize, all: usize) -> f64 {
    part as f64 / all.max(1) as f64
}

/// Returns true if a learned model marks a sample as good.
fn is_good(coefficients: &[f64; COEFFICIENT_COUNT], sample: &Sample) -> bool {
    sample.is_named || estimate_probability(coefficients, sample) >= MatchFeatures::MIN_PROBABILITY
}

fn estimate_probability(coefficients: &[f64; COEFFICIENT_COUNT], sample: &Sample) -> f64 {
    let mut sum = coefficients[0];
    for (value, weight) in sample.values.iter().zip(&coefficients[1..]) {
        sum += value * weight;
    }
    1.0 / (1.0 + (-sum).exp())
}

/// Returns the coefficients of logistic regression with a ridge penalty, by Newton's method.
fn fit_coefficients(topics: &[&JudgedTopic]) -> [f64; COEFFICIENT_COUNT] {
    let mut coefficients = [0.0; COEFFICIENT_COUNT];
    for _ in 0..MAX_STEPS {
        let mut gradient = Mat::<f64>::zeros(COEFFICIENT_COUNT, 1);
        let mut hessian = Mat::<f64>::zeros(COEFFICIENT_COUNT, COEFFICIENT_COUNT);
        for (place, coefficient) in coefficients.iter().enumerate() {
            hessian[(place, place)] = RIDGE_WEIGHT;
            gradient[(place, 0)] = -RIDGE_WEIGHT * coefficient;
        }
        // Gradient and negative Hessian of the log-likelihood. The ridge keeps the matrix invertible.
        for sample in topics.iter().flat_map(|topic| &topic.samples) {
            let estimate = estimate_probability(&coefficients, sample);
            let target = f64::from(u8::from(sample.is_relevant));
            let mut row = [1.0; COEFFICIENT_COUNT];
            row[1..].copy_from_slice(&sample.values);
            for (i, left) in row.iter().enumerate() {
                gradient[(i, 0)] += (target - estimate) * left;
                for (j, right) in row.iter().enumerate() {
                    hessian[(i, j)] += estimate * (1.0 - estimate) * left * right;
                }
            }
        }
        let step = hessian.partial_piv_lu().solve(&gradient);
        for (place, coefficient) in coefficients.iter_mut().enumerate() {
            *coefficient += step[(place, 0)];
        }
    }
    coefficients
}

impl Matches {
    /// Reads an experiment file.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read or parsed.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let (experiment, name) = read_experiment_file::<Self>(path)?;
        ensure!(
            experiment.collection.folds.is_some(),
            "{}: `folds` of [collection] is missing: the model is learned by folds",
            path.display()
        );
        for ranking in &experiment.rankings {
            if let Some(rerank) = &ranking.rerank {
                rerank.check()?;
            }
        }
        Ok(Self { name, ..experiment })
    }

    /// Learns the model by folds and on all topics, and measures it.
    ///
    /// # Errors
    ///
    /// Fails if the collection or the home is not the expected one, or if a search fails.
    pub fn reproduce(
        &self,
        data: &Path,
        home: &Path,
        encoders: &Encoders<'_>,
        progress: &dyn Fn(&str),
    ) -> anyhow::Result<Report> {
        let collection = self.collection.verify(data)?;
        let mut rows = Vec::new();
        for ranking in &self.rankings {
            progress(&ranking.name);
            let mut searcher = Searcher::open(home)?;
            if let Some(expected) = &collection.home {
                expected
                    .verify(&searcher)
                    .with_context(|| home.display().to_string())?;
            }
            if let Some(spec) = &ranking.rerank {
                let mut opened = Vec::new();
                for &granularity in &spec.encoders {
                    opened.push(encoders(granularity, None)?);
                }
                searcher = searcher.with_reranker(Reranker::open(home, opened, spec.options())?);
            }
            let topics = judged_topics(&searcher, &collection)?;
            rows.extend(ranking.rows(&topics, &collection));
        }
        let table = TableReport {
            id: "matches".to_owned(),
            title: "Good matches".to_owned(),
            source: "Share of relevant datasets (grade 1 or 2) among the good matches, share of relevant datasets that are good matches, \
                     and good matches of a topic."
                .to_owned(),
            average: None,
            measures: ["relevant among good", "good among relevant", "good"]
                .map(str::to_owned)
                .to_vec(),
            rows,
        };
        Ok(Report {
            name: self.name.clone(),
            title: self.title.clone(),
            about: self.about.clone(),
            command: self.command.clone(),
            collection: collection.sentence(),
            tables: vec![table],
            rankings: Vec::new(),
        })
    }
}

impl MarkedRanking {
    fn rows(
        &self,
        topics: &BTreeMap<String, JudgedTopic>,
        collection: &VerifiedCollection,
    ) -> [RowReport; 2] {
        let mut by_folds = Counts::default();
        for fold in &collection.folds.0 {
            let tested: BTreeSet<&str> = fold.test.topics().collect();
            let others = topics
                .iter()
                .filter(|(id, _)| !tested.contains(id.as_str()));
            let learned = fit_coefficients(&others.map(|(_, topic)| topic).collect::<Vec<_>>());
            for (id, topic) in topics {
                if tested.contains(id.as_str()) {
                    by_folds.add(topic, |sample| is_good(&learned, sample));
                }
            }
        }
        let all = fit_coefficients(&topics.values().collect::<Vec<_>>());
        let mut of_program = Counts::default();
        for topic in topics.values() {
            of_program.add(topic, |sample| sample.is_good);
        }
        let coefficients = all.map(|one| format!("{one:.2}")).join(", ");
        let constants = format!("coefficients learned on all topics: {coefficients}");
        [
            build_row(
                &format!("{}, by folds", self.name),
                by_folds,
                &self.expected,
                Some(constants),
            ),
            build_row(
                &format!("{}, constants of the program", self.name),
                of_program,
                &self.expected_of_program,
                None,
            ),
        ]
    }
}

fn build_row(name: &str, counts: Counts, expected: &[f64], note: Option<String>) -> RowReport {
    let mut cells = Vec::new();
    for (place, measured) in counts.measures().into_iter().enumerate() {
        let expected = expected.get(place).copied();
        cells.push(Cell::with_optional_expectation(expected, measured));
    }
    RowReport {
        name: name.to_owned(),
        fused: false,
        cells,
        note,
        by_topic: Vec::new(),
        against: Vec::new(),
        decisions: Vec::new(),
    }
}

/// Searches for every topic, and returns its assessed hits with their judgements.
fn judged_topics(
    searcher: &Searcher,
    collection: &VerifiedCollection,
) -> anyhow::Result<BTreeMap<String, JudgedTopic>> {
    let mut topics = BTreeMap::new();
    for query in &collection.queries.0 {
        if !collection.topics.contains(&query.id) {
            continue;
        }
        let response = searcher.search(&SearchRequest {
            syntax: QuerySyntax::Interpreted,
            depth: MAX_HITS,
            ..SearchRequest::new(&query.text)
        })?;
        let mut samples = Vec::new();
        for hit in &response.hits {
            let Some(features) = hit.features else {
                continue;
            };
            let grade = collection.grade(&query.id, hit.card.metadata.id.as_str());
            let is_good = hit.quality == MatchQuality::Good;
            samples.push(Sample {
                values: features.values(),
                is_relevant: grade.is_some_and(|grade| grade > 0),
                is_good,
                // A name marks a hit as good although its features alone do not.
                is_named: is_good && features.quality() == MatchQuality::Weak,
            });
        }
        let relevant = collection.relevant(&query.id);
        topics.insert(query.id.clone(), JudgedTopic { samples, relevant });
    }
    Ok(topics)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(score: f64, is_relevant: bool) -> Sample {
        Sample {
            values: [1.0, 0.0, score, 0.0],
            is_relevant,
            is_good: false,
            is_named: false,
        }
    }

    #[test]
    fn relevant_samples_are_learned() {
        let samples =
            (0..40).map(|place| sample(f64::from(place) / 40.0, place >= 30 && place != 35));
        let topic = JudgedTopic {
            samples: samples.collect(),
            relevant: 9,
        };
        let learned = fit_coefficients(&[&topic]);
        assert!(learned[3] > 1.0, "{learned:?}");
        let mut counts = Counts::default();
        counts.add(&topic, |sample| is_good(&learned, sample));
        let [precision, recall, good] = counts.measures();
        assert!(precision >= 0.6 && recall == 1.0, "{precision} {recall}");
        assert!((9.0..=15.0).contains(&good));
    }
}
