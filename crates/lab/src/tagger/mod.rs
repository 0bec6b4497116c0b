//! Dataset mention tagger: finds the datasets of a catalogue that papers name.
//!
//! Pairs of a paper and its datasets are training and test data of retrieval. V. Viswanathan et al. (*DataFinder*, ACL
//! 2023) accept a dataset if the paper names it and cites its paper. Here only title and abstract are available. The
//! evidence of a citation is replaced by the spelling of the name and its context.
//!
//! All names are found in one pass ([`Lexicon`]). Each name then gets a [`Standing`] from its [`Form`] and from its use
//! in the tagged papers ([`Statistics`]). No word list is needed to recognise that "MAP" is usually no dataset. Each
//! mention is accepted by a [`Rule`] or rejected for a [`Reason`]; both are part of the result.

mod cue;
mod evaluation;
mod lexicon;
mod reading;
mod statistics;
mod text;

pub use evaluation::{Agreement, PairCounts, draw_sample};
pub use lexicon::{Form, Lexicon};
pub use statistics::Statistics;

use cue::Cue;
use lodeseek_ranking::DatasetId;
use reading::{Occurrence, TextReading};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Errors of building a lexicon.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TaggerError {
    /// The automaton of names cannot be built.
    #[error("cannot build the automaton of dataset names: {0}")]
    Names(#[from] aho_corasick::BuildError),
}

/// Strength of a name as evidence of its dataset.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// The name alone is sufficient.
    Distinctive,
    /// The name needs a second mention or a cue.
    Ambiguous,
    /// The name mostly means something else in these papers. Only a word for datasets beside it is sufficient.
    Foreign,
}

/// Rule that accepted a mention.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// The name is distinctive.
    Distinctive,
    /// A cue is beside it.
    Cued,
    /// It is in a list beside a cue, or in a list with a distinctive name.
    Listed,
    /// The paper expands it to words that the catalogue contains for the dataset.
    Explained,
    /// The paper names it again.
    Repeated,
    /// Another mention of the dataset in the paper was accepted.
    Confirmed,
}

/// Reason for which a mention was rejected.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// Several datasets have the name, and it is the id or title of none.
    Shared,
    /// The paper expands it to something else.
    ExplainedOtherwise,
    /// The paper introduces something of this name, or the next word marks a method.
    OtherThing,
    /// A word that is part of a longer name outside the catalogue.
    PartOfName,
    /// An ambiguous name, mentioned once and without a cue.
    NoEvidence,
    /// The name mostly means something else in these papers, and no word for datasets is beside it.
    Foreign,
}

/// Decision about a mention, with its rule or reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The mention counts.
    Accepted(Rule),
    /// The mention does not count.
    Rejected(Reason),
}

/// A dataset's name in a paper.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mention {
    /// Position of the text in the paper.
    pub text: usize,
    /// Byte range in this text.
    pub place: Range<usize>,
    /// The name as the paper writes it.
    pub surface: String,
    /// The dataset. Several datasets if the name is shared and was rejected for it.
    pub datasets: Vec<DatasetId>,
    /// Decision, with its rule or reason.
    pub verdict: Verdict,
}

impl Mention {
    /// Returns the dataset if the mention counts.
    #[must_use]
    pub fn accepted_dataset(&self) -> Option<&DatasetId> {
        matches!(self.verdict, Verdict::Accepted(_))
            .then(|| self.datasets.first())
            .flatten()
    }
}

/// Thresholds between the standings of names.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TaggerOptions {
    /// Minimum number of papers with a name for its share of cues to be used.
    pub least_papers: u32,
    /// Share of papers with a cue from which a word or an acronym is distinctive, in [0, 1].
    pub distinctive: f64,
    /// Share of papers with a cue below which a name is foreign, in [0, 1].
    pub foreign: f64,
    /// Share of papers that write the name without capitals above which it is an ordinary word, in [0, 1].
    pub ordinary: f64,
}

impl Default for TaggerOptions {
    fn default() -> Self {
        Self {
            least_papers: 5,
            distinctive: 0.5,
            foreign: 0.2,
            ordinary: 0.2,
        }
    }
}

/// Finds and judges mentions of datasets.
///
/// ```
/// use lodeseek_catalog::{DatasetId, Metadata, Text};
/// use lodeseek_lab::tagger::{Lexicon, Statistics, Tagger, TaggerOptions};
/// let mut trees = Metadata::new(DatasetId::new("Trees-10").expect("an id"));
/// trees.titles.push(Text::plain("Trees-10"));
/// let lexicon = Lexicon::from_datasets(&[trees]).expect("names");
/// let paper = ["Pruning", "We report results on Trees10."];
/// let mut statistics = Statistics::new(&lexicon);
/// statistics.add(&lexicon, &paper);
/// let mentions = Tagger::new(lexicon, &statistics, &TaggerOptions::default()).tag(&paper);
/// assert_eq!(mentions[0].surface, "Trees10");
/// assert_eq!(mentions[0].accepted_dataset().map(DatasetId::as_str), Some("Trees-10"));
/// ```
#[derive(Debug)]
pub struct Tagger {
    lexicon: Lexicon,
    standings: Vec<Standing>,
    /// For each name: if true, other capitals than the catalogue's are accepted.
    any_case: Vec<bool>,
}

impl Tagger {
    /// Builds a tagger for these names, with the statistics of the papers.
    #[must_use]
    pub fn new(lexicon: Lexicon, statistics: &Statistics, options: &TaggerOptions) -> Self {
        let standings = (0..lexicon.len())
            .map(|name| statistics.standing(&lexicon, name, options))
            .collect();
        let any_case = (0..lexicon.len())
            .map(|name| statistics.allows_other_case(&lexicon, name))
            .collect();
        Self {
            lexicon,
            standings,
            any_case,
        }
    }

    /// Returns the mentions in a paper's texts, in their order.
    #[must_use]
    pub fn tag(&self, texts: &[&str]) -> Vec<Mention> {
        let readings: Vec<TextReading> = texts
            .iter()
            .map(|text| TextReading::new(&self.lexicon, text, Some(&self.any_case)))
            .collect();
        let mut found: Vec<Candidate<'_>> = Vec::new();
        for (text, reading) in readings.iter().enumerate() {
            for read in reading
                .uses
                .iter()
                .filter(|read| !read.found.owners.is_empty())
            {
                let surface = &texts[text][read.found.place.clone()];
                let dataset = self.lexicon.resolve(surface, &read.found.owners);
                let verdict = Verdict::Rejected(Reason::NoEvidence);
                found.push(Candidate {
                    text,
                    read,
                    surface,
                    dataset,
                    verdict,
                });
            }
        }
        self.judge(&mut found, texts, &readings);
        found.into_iter().map(|found| self.mention(found)).collect()
    }

    fn mention(&self, found: Candidate<'_>) -> Mention {
        let owners = match found.dataset {
            Some(dataset) => vec![dataset],
            None => found.read.found.owners.clone(),
        };
        Mention {
            text: found.text,
            place: found.read.found.place.clone(),
            surface: found.surface.to_owned(),
            datasets: owners
                .into_iter()
                .map(|owner| self.lexicon.datasets[owner].id.clone())
                .collect(),
            verdict: found.verdict,
        }
    }

    /// Judges every mention by itself, then by the paper's other mentions.
    fn judge(&self, found: &mut [Candidate<'_>], texts: &[&str], readings: &[TextReading]) {
        // A paper explains a name at one mention; the meaning applies to all mentions of the paper.
        let senses = self.senses(found, texts);
        let mut times: BTreeMap<usize, usize> = BTreeMap::new();
        for mention in found.iter() {
            *times.entry(mention.read.found.name).or_default() += 1;
        }
        for mention in found.iter_mut() {
            let repeated = times[&mention.read.found.name] > 1;
            let sense = senses.get(&mention.read.found.name).copied();
            mention.verdict = self.verdict(mention, sense, repeated, readings);
        }
        let accepted: BTreeSet<usize> = found
            .iter()
            .filter(|mention| matches!(mention.verdict, Verdict::Accepted(_)))
            .filter_map(|mention| mention.dataset)
            .collect();
        for mention in found.iter_mut() {
            let known = mention
                .dataset
                .is_some_and(|dataset| accepted.contains(&dataset));
            // Evidence against a mention is stronger than another mention of the dataset.
            if known && matches!(mention.verdict, Verdict::Rejected(Reason::NoEvidence)) {
                mention.verdict = Verdict::Accepted(Rule::Confirmed);
            }
        }
    }

    /// Returns the meanings that the paper itself gives to names.
    fn senses(&self, found: &[Candidate<'_>], texts: &[&str]) -> BTreeMap<usize, Sense> {
        let mut senses = BTreeMap::new();
        for mention in found {
            let new = mention.read.is_introduced || mention.read.is_method;
            let sense = self
                .explanation(mention, texts)
                .or_else(|| new.then_some(Sense::New));
            if let Some(sense) = sense {
                let known = senses.entry(mention.read.found.name).or_insert(sense);
                *known = sense.max(*known);
            }
        }
        senses
    }

    /// Returns the meaning of a mention's expansion.
    fn explanation(&self, mention: &Candidate<'_>, texts: &[&str]) -> Option<Sense> {
        let words = &texts[mention.text][mention.read.expansion.clone()?];
        let known = mention
            .dataset
            .is_some_and(|own| self.lexicon.datasets[own].is_described_by(words));
        // A single capital may only begin a sentence.
        let is_proper = words
            .chars()
            .filter(|character| character.is_uppercase())
            .count()
            > 1;
        Some(match known {
            _ if mention.read.expands_to_kind || mention.read.cue == Some(Cue::Kind) => {
                Sense::Dataset
            }
            true if is_proper => Sense::Dataset,
            true => Sense::CommonNoun,
            false => Sense::Other,
        })
    }

    fn verdict(
        &self,
        mention: &Candidate<'_>,
        sense: Option<Sense>,
        repeated: bool,
        readings: &[TextReading],
    ) -> Verdict {
        let (read, standing) = (mention.read, self.standings[mention.read.found.name]);
        match sense {
            _ if mention.dataset.is_none() => return Verdict::Rejected(Reason::Shared),
            Some(Sense::Dataset) => return Verdict::Accepted(Rule::Explained),
            Some(Sense::Other) if read.cue != Some(Cue::Kind) => {
                return Verdict::Rejected(Reason::ExplainedOtherwise);
            }
            _ if standing == Standing::Distinctive && sense != Some(Sense::CommonNoun) => {
                return Verdict::Accepted(Rule::Distinctive);
            }
            _ => {}
        }
        let is_word = self.lexicon.names[read.found.name].form == Form::Word;
        if is_word && read.is_part && mention.surface.chars().skip(1).any(char::is_lowercase) {
            return Verdict::Rejected(Reason::PartOfName);
        }
        // In descending order of strength: a word for datasets beside the name outweighs the meaning that the paper gives to
        // it.
        match (read.cue, read.listed_cue) {
            (Some(Cue::Kind), _) => Verdict::Accepted(Rule::Cued),
            _ if sense == Some(Sense::New) => Verdict::Rejected(Reason::OtherThing),
            (_, Some(Cue::Kind)) => Verdict::Accepted(Rule::Listed),
            _ if standing == Standing::Foreign => Verdict::Rejected(Reason::Foreign),
            _ if sense == Some(Sense::CommonNoun) => Verdict::Rejected(Reason::ExplainedOtherwise),
            (Some(_), _) => Verdict::Accepted(Rule::Cued),
            (None, Some(_)) => Verdict::Accepted(Rule::Listed),
            _ if self.is_beside_distinctive(mention, readings) => Verdict::Accepted(Rule::Listed),
            _ if repeated => Verdict::Accepted(Rule::Repeated),
            _ => Verdict::Rejected(Reason::NoEvidence),
        }
    }

    fn is_beside_distinctive(&self, mention: &Candidate<'_>, readings: &[TextReading]) -> bool {
        let others = readings[mention.text].within(&mention.read.list);
        others
            .filter(|read| !read.found.owners.is_empty())
            .any(|read| {
                read.found.name != mention.read.found.name
                    && self.standings[read.found.name] == Standing::Distinctive
            })
    }
}

/// Meaning that a paper gives to a name. If there are several, the later variant takes precedence.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Sense {
    /// A new thing of the paper, or a method.
    New,
    /// An abbreviation of words that the catalogue does not contain for the dataset.
    Other,
    /// An abbreviation of words that the catalogue contains, but in lower case: an activity or a task.
    CommonNoun,
    /// An abbreviation of a dataset's name, or of something called a dataset.
    Dataset,
}

/// A mention before its verdict.
struct Candidate<'p> {
    text: usize,
    read: &'p Occurrence,
    surface: &'p str,
    dataset: Option<usize>,
    verdict: Verdict,
}

#[cfg(test)]
mod tests;
