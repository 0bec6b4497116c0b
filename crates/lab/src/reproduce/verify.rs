//! What must be true of a collection before a number is believed.

use super::folds::FoldSource;
use anyhow::{Context, ensure};
use lodeseek_engine::Searcher;
use lodeseek_eval::digest;
use lodeseek_eval::{Folds, Metric, Qrels, Run, Topics, mean};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Judgements and folds, their counts, and digests of whatever else is read.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Collection {
    /// The judgements.
    pub qrels: PathBuf,
    /// The folder of the folds, or how many the sorted topics are dealt into.
    pub folds: FoldSource,
    /// The topics' texts, where a home ranks.
    pub queries: Option<PathBuf>,
    /// What must be true of the home that ranks.
    pub home: Option<HomeFacts>,
    /// Judged topics.
    pub topics: usize,
    /// Judgements.
    pub judgements: usize,
    /// Test topics of each fold.
    pub topics_by_fold: Vec<usize>,
    /// Of files and folders; [`digest`] says what a folder's is.
    #[serde(default)]
    pub sha256: BTreeMap<PathBuf, String>,
}

/// The counts of a home: other datasets, or other tokens, give other numbers.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HomeFacts {
    /// Its datasets.
    pub datasets: u64,
    /// The analysis that made its tokens.
    pub analysis: String,
    /// Tokens in all fields, where they are known.
    pub tokens: Option<u64>,
    /// How the triples were ranked that encoders read, where they are read.
    #[serde(rename = "compact-method")]
    pub compact_method: Option<String>,
}

/// A verified collection.
pub(super) struct Facts {
    pub(super) topics: Vec<String>,
    pub(super) folds: Folds,
    pub(super) queries: Topics,
    pub(super) home: Option<HomeFacts>,
    qrels: Qrels,
    judgements: usize,
}

impl Collection {
    pub(super) fn verify(&self, data: &Path) -> anyhow::Result<Facts> {
        let folder = if let FoldSource::Folder(folder) = &self.folds { Some(folder) } else { None };
        for path in [&self.qrels].into_iter().chain(folder).chain(&self.queries).chain(self.sha256.keys()) {
            ensure!(data.join(path).exists(), "{} is missing", data.join(path).display());
        }
        for (path, expected) in &self.sha256 {
            let found = digest(&data.join(path))?;
            ensure!(found == *expected, "{} is not the one expected: SHA-256 {found}, not {expected}", path.display());
        }
        let path = data.join(&self.qrels);
        let qrels = Qrels::read(&path)?;
        let folds = self.folds.read(data, &qrels)?;
        let queries = self.queries.as_ref().map(|queries| Topics::read(&data.join(queries))).transpose()?;
        let queries = queries.unwrap_or_default();
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let judgements = text.lines().filter(|line| !line.trim().is_empty()).count();
        let topics: Vec<String> = qrels.topics().map(str::to_owned).collect();
        let facts = Facts { topics, folds, queries, home: self.home.clone(), qrels, judgements };
        self.compare(&facts)?;
        Ok(facts)
    }

    fn compare(&self, facts: &Facts) -> anyhow::Result<()> {
        ensure!(facts.topics.len() == self.topics, "{} judged topics instead of {}", facts.topics.len(), self.topics);
        ensure!(facts.judgements == self.judgements, "{} judgements instead of {}", facts.judgements, self.judgements);
        let by_fold = facts.topics_by_fold();
        ensure!(by_fold == self.topics_by_fold, "folds of {by_fold:?} topics instead of {:?}", self.topics_by_fold);
        let mut tested: Vec<&str> = facts.folds.0.iter().flat_map(|fold| fold.test.topics()).collect();
        tested.sort_unstable();
        ensure!(tested == facts.topics, "the folds do not test every judged topic once");
        for topic in facts.topics.iter().filter(|_| self.queries.is_some()) {
            let has_text = facts.queries.0.iter().any(|query| query.id == *topic);
            ensure!(has_text, "the judged topic {topic} has no text");
        }
        Ok(())
    }
}

impl HomeFacts {
    pub(super) fn verify(&self, searcher: &Searcher) -> anyhow::Result<()> {
        let (datasets, analysis, tokens) = (searcher.len()?, searcher.analysis()?.to_string(), searcher.tokens()?);
        ensure!(datasets == self.datasets, "the home has {datasets} datasets instead of {}", self.datasets);
        ensure!(
            analysis == self.analysis,
            "the home's analysis is {analysis} instead of {0}: `lodeseek index --analysis {0}`",
            self.analysis
        );
        let same = self.tokens.is_none_or(|expected| expected == tokens);
        ensure!(same, "the home has {tokens} tokens instead of {}", self.tokens.unwrap_or(0));
        if let Some(expected) = &self.compact_method {
            let found = searcher.compact_methods()?;
            ensure!(
                found.iter().eq([expected]),
                "the triples that encoders read are ranked by {}, not by {expected}: `lodeseek index --compact-method {expected}`",
                found.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
            );
        }
        Ok(())
    }
}

impl Facts {
    fn topics_by_fold(&self) -> Vec<usize> {
        self.folds.0.iter().map(|fold| fold.test.topics().count()).collect()
    }

    pub(super) fn sentence(&self) -> String {
        let folds: Vec<String> = self.topics_by_fold().iter().map(usize::to_string).collect();
        format!("{} topics, {} judgements, folds of {} topics", self.topics.len(), self.judgements, folds.join(", "))
    }

    /// The value of every judged topic; 0 where the run has no ranking.
    pub(super) fn values(&self, run: &Run, measure: Metric) -> BTreeMap<String, f64> {
        let of = |topic: &String| run.ranking(topic).map_or(0.0, |ranking| measure.evaluate(&self.qrels, topic, ranking));
        self.topics.iter().map(|topic| (topic.clone(), of(topic))).collect()
    }

    pub(super) fn mean_of_folds(&self, values: &BTreeMap<String, f64>) -> f64 {
        let of = |qrels: &Qrels| mean(&qrels.topics().map(|topic| values[topic]).collect::<Vec<_>>());
        mean(&self.folds.0.iter().map(|fold| of(&fold.test)).collect::<Vec<_>>())
    }
}
