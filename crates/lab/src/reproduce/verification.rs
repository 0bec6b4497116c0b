//! Verification of a collection before scores are computed.

use super::dsebench;
use super::folds::FoldSource;
use anyhow::{Context, bail, ensure};
use lodeseek_engine::Searcher;
use lodeseek_eval::digest;
use lodeseek_eval::{Fold, Folds, Metric, Qrels, Run, Topics, mean};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Judgements and folds with their counts, and digests of other input files.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Collection {
    /// Judgements in TREC's format, or in JSON of DSEBench.
    pub qrels: PathBuf,
    /// Folder of the folds, or the number of folds. If absent, every topic is tested, and nothing can be learned.
    pub folds: Option<FoldSource>,
    /// Texts of the topics, for rows that a home ranks.
    pub queries: Option<PathBuf>,
    /// Questions of the topics, for runs over them.
    pub questions: Option<QuestionFile>,
    /// Requirements on the home.
    pub home: Option<HomeRequirements>,
    /// Number of judged topics. If absent, it is not verified, like the following numbers.
    pub topics: Option<usize>,
    /// Number of judgements.
    pub judgements: Option<usize>,
    /// Number of test topics of each fold.
    pub topics_by_fold: Option<Vec<usize>>,
    /// SHA-256 digests of files and folders. [`digest`] defines the digest of a folder.
    #[serde(default)]
    pub sha256: BTreeMap<PathBuf, String>,
}

/// Questions of the topics. The question with the number n of a topic has the identifier `TOPIC-n`, counted from 1.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuestionFile {
    /// JSON file in the format of ACORDAR 2.0: a list of objects with `query_id` and `questions`.
    pub file: PathBuf,
    /// Required number of questions.
    pub count: usize,
}

/// Questions of a topic in the file.
#[derive(Deserialize)]
struct TopicQuestions {
    query_id: String,
    questions: Vec<String>,
}

impl QuestionFile {
    /// Returns the identifiers of the questions, by topic.
    fn read(&self, data: &Path) -> anyhow::Result<BTreeMap<String, Vec<String>>> {
        let path = data.join(&self.file);
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let topics: Vec<TopicQuestions> =
            serde_json::from_str(&text).with_context(|| path.display().to_string())?;
        let mut questions = BTreeMap::new();
        for TopicQuestions {
            query_id,
            questions: texts,
        } in topics
        {
            let ids = (1..=texts.len())
                .map(|number| format!("{query_id}-{number}"))
                .collect();
            questions.insert(query_id, ids);
        }
        let count = questions.values().map(Vec::len).sum::<usize>();
        ensure!(
            count == self.count,
            "{}: {count} questions instead of {}",
            path.display(),
            self.count
        );
        Ok(questions)
    }
}

/// Required counts of a home. Other datasets or other tokens would give other scores.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HomeRequirements {
    /// Number of datasets.
    pub datasets: u64,
    /// Analysis of texts.
    pub analysis: String,
    /// Number of tokens in all fields, if known.
    pub tokens: Option<u64>,
    /// Minimum number of datasets with content. A collection of descriptions alone gives other scores.
    #[serde(rename = "with-content")]
    pub with_content: Option<u64>,
    /// Ranking of the triples that encoders read, if they are read.
    #[serde(rename = "compact-method")]
    pub compact_method: Option<String>,
}

/// A verified collection.
pub(super) struct VerifiedCollection {
    pub(super) topics: Vec<String>,
    pub(super) folds: Folds,
    pub(super) queries: Topics,
    pub(super) home: Option<HomeRequirements>,
    questions: BTreeMap<String, Vec<String>>,
    qrels: Qrels,
    judgements: usize,
}

impl Collection {
    pub(super) fn verify(&self, data: &Path) -> anyhow::Result<VerifiedCollection> {
        let folder = if let Some(FoldSource::Folder(folder)) = &self.folds {
            Some(folder)
        } else {
            None
        };
        let questions = self.questions.as_ref().map(|questions| &questions.file);
        let single = [&self.qrels]
            .into_iter()
            .chain(folder)
            .chain(&self.queries)
            .chain(questions);
        // Before the digests, because those of large folders take long.
        for path in single.chain(self.sha256.keys()) {
            ensure!(
                data.join(path).exists(),
                "{} is missing",
                data.join(path).display()
            );
        }
        for (path, expected) in &self.sha256 {
            let found = digest(&data.join(path))?;
            ensure!(
                found == *expected,
                "{} is not the one expected: its SHA-256 is {found}, not {expected}",
                path.display()
            );
        }
        let path = data.join(&self.qrels);
        let (qrels, judgements) = read_qrels(&path)?;
        let folds = match &self.folds {
            Some(folds) => folds.read(data, &qrels)?,
            None => Folds(vec![Fold {
                test: qrels.clone(),
                ..Fold::default()
            }]),
        };
        let queries = self
            .queries
            .as_ref()
            .map(|queries| Topics::read(&data.join(queries)))
            .transpose()?;
        let queries = queries.unwrap_or_default();
        let questions = self
            .questions
            .as_ref()
            .map(|questions| questions.read(data))
            .transpose()?
            .unwrap_or_default();
        let topics: Vec<String> = qrels.topics().map(str::to_owned).collect();
        let collection = VerifiedCollection {
            topics,
            folds,
            queries,
            home: self.home.clone(),
            questions,
            qrels,
            judgements,
        };
        self.compare(&collection)?;
        Ok(collection)
    }

    fn compare(&self, collection: &VerifiedCollection) -> anyhow::Result<()> {
        check_count(collection.topics.len(), self.topics, "judged topics")?;
        check_count(collection.judgements, self.judgements, "judgements")?;
        let by_fold = collection.topics_by_fold();
        if let Some(expected) = &self.topics_by_fold {
            ensure!(
                by_fold == *expected,
                "folds of {by_fold:?} topics instead of {expected:?}"
            );
        }
        let mut tested: Vec<&str> = collection
            .folds
            .0
            .iter()
            .flat_map(|fold| fold.test.topics())
            .collect();
        tested.sort_unstable();
        // Repetitions are kept, so topics that are tested twice are found, too.
        ensure!(
            tested == collection.topics,
            "the folds do not test every judged topic once"
        );
        for topic in collection.topics.iter().filter(|_| self.queries.is_some()) {
            let has_text = collection.queries.0.iter().any(|query| query.id == *topic);
            ensure!(has_text, "the judged topic {topic} has no text");
        }
        for topic in collection
            .topics
            .iter()
            .filter(|_| self.questions.is_some())
        {
            let has_questions = collection
                .questions
                .get(topic)
                .is_some_and(|ids| !ids.is_empty());
            ensure!(has_questions, "the judged topic {topic} has no question");
        }
        Ok(())
    }
}

/// Checks a number, if one is expected.
fn check_count(found: usize, expected: Option<usize>, noun: &str) -> anyhow::Result<()> {
    match expected {
        Some(expected) if expected != found => bail!("{found} {noun} instead of {expected}"),
        _ => Ok(()),
    }
}

/// Reads judgements in TREC's format, or of DSEBench, and counts them.
fn read_qrels(path: &Path) -> anyhow::Result<(Qrels, usize)> {
    let qrels = if dsebench::is_json(path) {
        dsebench::read_qrels(path)?
    } else {
        Qrels::read(path)?
    };
    let judgements = qrels.judgement_count();
    Ok((qrels, judgements))
}

impl HomeRequirements {
    pub(super) fn verify(&self, searcher: &Searcher) -> anyhow::Result<()> {
        let (datasets, analysis, tokens) = (
            searcher.catalog().len()?,
            searcher.catalog().analysis()?.to_string(),
            searcher.catalog().tokens()?,
        );
        ensure!(
            datasets == self.datasets,
            "the home has {datasets} datasets instead of {}",
            self.datasets
        );
        ensure!(
            analysis == self.analysis,
            "the home's analysis is {analysis} instead of {0}: run `lodeseek index --analysis {0}`",
            self.analysis
        );
        let same = self.tokens.is_none_or(|expected| expected == tokens);
        ensure!(
            same,
            "the home has {tokens} tokens instead of {}",
            self.tokens.unwrap_or(0)
        );
        if let Some(expected) = self.with_content {
            let found = searcher.catalog().with_content()?;
            ensure!(
                found >= expected,
                "{found} of {datasets} datasets in the home have content, and at least {expected} must have: load the dumps with \
                 `lodeseek load datasets.json --dumps DIR`, then run `lodeseek index`"
            );
        }
        if let Some(expected) = &self.compact_method {
            let found = searcher.catalog().compact_methods()?;
            ensure!(
                found.iter().eq([expected]),
                "the triples for encoders are ranked by {} instead of {expected}: run `lodeseek index --compact-method {expected}`",
                found
                    .iter()
                    .map(String::as_str)
                    .collect::<Vec<_>>()
                    .join(", ")
            );
        }
        Ok(())
    }
}

impl VerifiedCollection {
    fn topics_by_fold(&self) -> Vec<usize> {
        self.folds
            .0
            .iter()
            .map(|fold| fold.test.topics().count())
            .collect()
    }

    pub(super) fn sentence(&self) -> String {
        let counts = format!(
            "{} topics, {} judgements",
            self.topics.len(),
            self.judgements
        );
        if self.folds.0.len() < 2 {
            return counts;
        }
        let folds: Vec<String> = self.topics_by_fold().iter().map(usize::to_string).collect();
        format!("{counts}, folds of {} topics", folds.join(", "))
    }

    /// Returns the value of every judged topic, and 0 for topics without a ranking.
    pub(super) fn values(&self, run: &Run, measure: Metric) -> BTreeMap<String, f64> {
        let mut values = BTreeMap::new();
        for topic in &self.topics {
            let value = match run.ranking(topic) {
                Some(ranking) => measure.evaluate(&self.qrels, topic, ranking),
                None => 0.0,
            };
            values.insert(topic.clone(), value);
        }
        values
    }

    /// Returns the value of every judged topic: the mean over its questions, 0 for a question without a ranking.
    ///
    /// Fails if the collection has no questions, or if the run ranks something else than them.
    pub(super) fn values_of_questions(
        &self,
        run: &Run,
        measure: Metric,
    ) -> anyhow::Result<BTreeMap<String, f64>> {
        ensure!(
            !self.questions.is_empty(),
            "a run over questions needs `questions` in [collection]"
        );
        let known: BTreeSet<&str> = self
            .questions
            .values()
            .flatten()
            .map(String::as_str)
            .collect();
        // A run over topics would have the value 0 everywhere, without an error.
        if let Some((id, _)) = run.iter().find(|(id, _)| !known.contains(id)) {
            bail!("the run ranks {id}, which is no question of the collection");
        }
        let mut values = BTreeMap::new();
        for topic in &self.topics {
            let questions: Vec<f64> = self.questions[topic]
                .iter()
                .map(|id| match run.ranking(id) {
                    Some(ranking) => measure.evaluate(&self.qrels, topic, ranking),
                    None => 0.0,
                })
                .collect();
            values.insert(topic.clone(), mean(&questions));
        }
        Ok(values)
    }

    /// Returns the number of datasets that are relevant for a topic.
    pub(super) fn relevant(&self, topic: &str) -> usize {
        self.qrels.relevant(topic).count()
    }

    /// Returns the grade of a dataset for a topic, if it is judged.
    pub(super) fn grade(&self, topic: &str, document: &str) -> Option<i32> {
        self.qrels.find_grade(topic, document)
    }

    pub(super) fn mean_of_folds(&self, values: &BTreeMap<String, f64>) -> f64 {
        let mut means = Vec::with_capacity(self.folds.0.len());
        for fold in &self.folds.0 {
            let values: Vec<f64> = fold.test.topics().map(|topic| values[topic]).collect();
            means.push(mean(&values));
        }
        mean(&means)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_is_no_judgement() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("qrels.txt");
        fs::write(
            &path,
            "QueryID\t0\tDocID\tRelevance\nt1\t0\ta\t1\nt1\t0\tb\t0\n",
        )
        .expect("written");
        let (qrels, judgements) = read_qrels(&path).expect("judgements");
        assert_eq!((qrels.len(), judgements), (1, 2));
    }
}
