//! Runs in TREC's form: `topic Q0 document rank score tag`.

use super::EvalError;
use super::lines::Lines;
use lodeseek_ranking::DatasetId;
use lodeseek_ranking::{Ranking, Scored};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

/// With how many digits the scores of a run are compared.
///
/// Two scores that differ by less than about 1e-7 of their size are a tie for programs that hold them as `float`, and
/// ties are broken by document id: the measures of a run can differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ScorePrecision {
    /// As 64-bit numbers, like trec_eval from 9.0.8 on.
    #[default]
    Double,
    /// As 32-bit numbers, like pytrec_eval, ir_measures through it, and trec_eval up to 9.0.7.
    Single,
}

impl ScorePrecision {
    /// The score as compared. Adding zero makes -0 and 0 the tie they are in C.
    fn round(self, score: f64) -> f64 {
        match self {
            Self::Double => score + 0.0,
            Self::Single => f64::from(score as f32) + 0.0,
        }
    }
}

/// A ranking for every topic.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// What made it; the last column.
    pub tag: String,
    rankings: BTreeMap<String, Ranking>,
}

impl Run {
    /// An empty run.
    #[must_use]
    pub fn new(tag: impl Into<String>) -> Self {
        Self { tag: tag.into(), rankings: BTreeMap::new() }
    }

    /// Reads a file. The rank column is ignored, as trec_eval ignores it, and so is a heading in the first line,
    /// which trec_eval would count as a topic; a line of another form, a score that is no
    /// number, and a document ranked twice for a topic are refused with their line.
    pub fn read(path: &Path) -> Result<Self, EvalError> {
        Self::read_with(path, ScorePrecision::default())
    }

    /// Reads a file, as [`Run::read`], with scores of a precision.
    pub fn read_with(path: &Path, precision: ScorePrecision) -> Result<Self, EvalError> {
        let lines = Lines::read(path)?;
        let (mut tag, mut scored) = (None, BTreeMap::<&str, Vec<Scored>>::new());
        let mut seen = rustc_hash::FxHashSet::default();
        for (number, line) in lines.iter() {
            let [topic, _, document, _, score, name] =
                lines.columns(number, line, "topic Q0 document rank score tag")?;
            if lines.is_heading(number, score) {
                continue;
            }
            let score = parse_score(score).ok_or_else(|| lines.error(number, format!("{score:?} is no score")))?;
            if !seen.insert((topic, document)) {
                let reason = format!("document {document} is ranked twice for topic {topic}");
                return Err(lines.error(number, reason));
            }
            let id = DatasetId::new(document).map_err(|cause| lines.error(number, cause.to_string()))?;
            scored.entry(topic).or_default().push(Scored { id, score: precision.round(score) });
            tag.get_or_insert_with(|| name.to_owned());
        }
        let tag = tag.ok_or_else(|| lines.empty("ranked documents"))?;
        let ranked = |(topic, scored): (&str, Vec<Scored>)| (topic.to_owned(), Ranking::from_scores(scored));
        Ok(Self { tag, rankings: scored.into_iter().map(ranked).collect() })
    }

    /// Writes the run, ranks from 1, scores with all their digits.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        for (topic, ranking) in &self.rankings {
            for (place, entry) in ranking.iter().enumerate() {
                writeln!(out, "{topic}\tQ0\t{}\t{}\t{}\t{}", entry.id, place + 1, entry.score, self.tag)?;
            }
        }
        Ok(())
    }

    /// Puts the ranking for a topic.
    pub fn insert(&mut self, topic: impl Into<String>, ranking: Ranking) {
        self.rankings.insert(topic.into(), ranking);
    }

    /// The ranking for a topic.
    #[must_use]
    pub fn ranking(&self, topic: &str) -> Option<&Ranking> {
        self.rankings.get(topic)
    }

    /// All topics and their rankings, by topic.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Ranking)> {
        self.rankings.iter().map(|(topic, ranking)| (topic.as_str(), ranking))
    }

    /// The number of topics.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rankings.len()
    }

    /// Whether no topic has a ranking.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rankings.is_empty()
    }
}

/// A number, infinities included, but not "not a number".
fn parse_score(text: &str) -> Option<f64> {
    text.parse().ok().filter(|score: &f64| !score.is_nan())
}
