//! Runs in TREC format: `topic Q0 document rank score tag`.

use super::EvalError;
use super::lines::Lines;
use lodeseek_ranking::DatasetId;
use lodeseek_ranking::{Ranking, Scored};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

/// Floating-point precision in which scores are compared.
///
/// In single precision, scores with a relative difference below about 1e-7 are tied. Ties are broken by document
/// identifier, so the measures of a run can depend on the precision.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ScorePrecision {
    /// 64-bit numbers, as in trec_eval from 9.0.8 on.
    #[default]
    Double,
    /// 32-bit numbers, as in pytrec_eval, ir_measures (which uses pytrec_eval) and trec_eval up to 9.0.7.
    Single,
}

impl ScorePrecision {
    /// Rounds a score for comparison. Adding zero turns -0 into 0, which are tied in C.
    fn round(self, score: f64) -> f64 {
        match self {
            Self::Double => score + 0.0,
            Self::Single => f64::from(score as f32) + 0.0,
        }
    }
}

/// Rankings of one system, by topic.
///
/// ```
/// use lodeseek_eval::Run;
/// use lodeseek_ranking::{DatasetId, Ranking, Scored};
///
/// let mut run = Run::new("bm25");
/// run.insert("t1", Ranking::from_scores(vec![Scored { id: DatasetId::new("soil")?, score: 2.5 }]));
/// let mut text = Vec::new();
/// run.write(&mut text)?;
/// assert_eq!(text, b"t1\tQ0\tsoil\t1\t2.5\tbm25\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// Name of the system: the last column of the file.
    pub tag: String,
    rankings: BTreeMap<String, Ranking>,
}

impl Run {
    /// Creates an empty run.
    #[must_use]
    pub fn new(tag: impl Into<String>) -> Self {
        Self {
            tag: tag.into(),
            rankings: BTreeMap::new(),
        }
    }

    /// Reads a run file in double precision.
    ///
    /// The rank column is ignored, as in trec_eval. A heading in the first line is skipped; trec_eval would count it as a
    /// topic.
    ///
    /// # Errors
    ///
    /// Returns [`EvalError::Line`] for a malformed line, a score that is not a number, and a document that is ranked twice
    /// for one topic.
    pub fn read(path: &Path) -> Result<Self, EvalError> {
        Self::read_with(path, ScorePrecision::default())
    }

    /// Reads a run file as [`Run::read`] does, with the given score precision.
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
            let score = parse_score(score)
                .ok_or_else(|| lines.error(number, format!("invalid score {score:?}")))?;
            if !seen.insert((topic, document)) {
                let reason = format!("document {document} is ranked twice for topic {topic}");
                return Err(lines.error(number, reason));
            }
            let id =
                DatasetId::new(document).map_err(|cause| lines.error(number, cause.to_string()))?;
            scored.entry(topic).or_default().push(Scored {
                id,
                score: precision.round(score),
            });
            tag.get_or_insert_with(|| name.to_owned());
        }
        let tag = tag.ok_or_else(|| lines.empty("ranked documents"))?;
        let mut run = Self::new(tag);
        for (topic, scored) in scored {
            run.insert(topic, Ranking::from_scores(scored));
        }
        Ok(run)
    }

    /// Writes the run in TREC format, with ranks from 1 and full score precision.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        for (topic, ranking) in &self.rankings {
            for (place, entry) in ranking.iter().enumerate() {
                writeln!(
                    out,
                    "{topic}\tQ0\t{}\t{}\t{}\t{}",
                    entry.id,
                    place + 1,
                    entry.score,
                    self.tag
                )?;
            }
        }
        Ok(())
    }

    /// Sets the ranking of a topic.
    pub fn insert(&mut self, topic: impl Into<String>, ranking: Ranking) {
        self.rankings.insert(topic.into(), ranking);
    }

    /// Returns the ranking of a topic.
    #[must_use]
    pub fn ranking(&self, topic: &str) -> Option<&Ranking> {
        self.rankings.get(topic)
    }

    /// Iterates over topics and rankings, ordered by topic.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Ranking)> {
        self.rankings
            .iter()
            .map(|(topic, ranking)| (topic.as_str(), ranking))
    }

    /// Returns the number of topics.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rankings.len()
    }

    /// Returns true if no topic has a ranking.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rankings.is_empty()
    }
}

/// Parses a score. Infinities are accepted, `NaN` is not.
fn parse_score(text: &str) -> Option<f64> {
    text.parse().ok().filter(|score: &f64| !score.is_nan())
}
