//! A tagger: which datasets of a catalogue the texts of papers name.
//!
//! Pairs of a paper and the datasets it uses are what retrieval is trained on and judged by. V. Viswanathan et al.
//! (*DataFinder*, ACL 2023) take a paper to use a dataset where it names it and cites its paper. Here only texts are at
//! hand, a title and an abstract, so that what a citation would prove must be read from how the name is written and what
//! stands beside it.
//!
//! All names are found in one pass ([`Lexicon`]). Each then has a [`Standing`], by its [`Form`] and by how the papers
//! tagged write it ([`Statistics`]): no list of words is needed to know that "MAP" is mostly no dataset. A mention is
//! accepted by a [`Rule`] or rejected for a [`Reason`], and says by which.

mod cue;
mod evaluation;
mod lexicon;
mod reading;
mod statistics;
mod text;

pub use evaluation::{Agreement, PairCounts, draw};
pub use lexicon::{Form, Lexicon};
pub use statistics::Statistics;

use cue::Cue;
use lodeseek_ranking::DatasetId;
use reading::{Read, Reading};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Names that cannot be searched for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TaggerError {
    /// They make no automaton.
    #[error("the names of the datasets: {0}")]
    Names(#[from] aho_corasick::BuildError),
}

/// What finding a name proves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// That the dataset is meant.
    Distinctive,
    /// Little: two mentions or a cue must come to it.
    Ambiguous,
    /// Nothing: in these papers it mostly means something else. Only a word for datasets beside it counts.
    Foreign,
}

/// Why a mention was accepted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// The name is distinctive.
    Distinctive,
    /// A cue is beside it.
    Cued,
    /// It stands in a list beside a cue, or with a distinctive name.
    Listed,
    /// It is explained as short for words by which the catalogue knows the dataset.
    Explained,
    /// The paper names it again.
    Repeated,
    /// Another mention of it in the paper was accepted.
    Confirmed,
}

/// Why a mention was rejected.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// Several datasets have the name and none has it for its own.
    Shared,
    /// The paper explains it as something else.
    ExplainedOtherwise,
    /// The paper brings something of this name, or the next word makes it a method's.
    OtherThing,
    /// A word that is part of a longer name, which the catalogue does not have.
    PartOfName,
    /// An ambiguous name, once and without a cue.
    NoEvidence,
    /// In these papers the name mostly means something else, and no word for datasets is beside it.
    Foreign,
}

/// Whether a mention counts, and why.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It does.
    Accepted(Rule),
    /// It does not.
    Rejected(Reason),
}

/// A dataset's name in a paper.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mention {
    /// In which of the paper's texts.
    pub text: usize,
    /// Its bytes there.
    pub place: Range<usize>,
    /// As written.
    pub surface: String,
    /// The dataset; several where the name is shared and was rejected for it.
    pub datasets: Vec<DatasetId>,
    /// Whether it counts.
    pub verdict: Verdict,
}

impl Mention {
    /// The dataset, where the mention counts.
    #[must_use]
    pub fn accepted(&self) -> Option<&DatasetId> {
        matches!(self.verdict, Verdict::Accepted(_)).then(|| self.datasets.first()).flatten()
    }
}

/// Where the standings of names part.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TaggerOptions {
    /// Papers that must have a name before its share of cues says anything.
    pub least_papers: u32,
    /// The share of papers with a cue from which a word or an acronym is distinctive.
    pub distinctive: f64,
    /// The share below which a name is foreign.
    pub foreign: f64,
    /// The share of papers writing it without capitals above which a name is an ordinary word.
    pub ordinary: f64,
}

impl Default for TaggerOptions {
    fn default() -> Self {
        Self { least_papers: 5, distinctive: 0.5, foreign: 0.2, ordinary: 0.2 }
    }
}

/// Finds and judges mentions of datasets.
///
/// ```
/// use lodeseek_catalog::{DatasetId, Metadata, Text};
/// use lodeseek_lab::tagger::{Lexicon, Statistics, Tagger, TaggerOptions};
/// let mut trees = Metadata::new(DatasetId::new("Trees-10").expect("an id"));
/// trees.titles.push(Text::plain("Trees-10"));
/// let lexicon = Lexicon::of(&[trees]).expect("names");
/// let paper = ["Pruning", "We report results on Trees10."];
/// let mut statistics = Statistics::new(&lexicon);
/// statistics.add(&lexicon, &paper);
/// let mentions = Tagger::new(lexicon, &statistics, &TaggerOptions::default()).tag(&paper);
/// assert_eq!(mentions[0].surface, "Trees10");
/// assert_eq!(mentions[0].accepted().map(DatasetId::as_str), Some("Trees-10"));
/// ```
#[derive(Debug)]
pub struct Tagger {
    lexicon: Lexicon,
    standings: Vec<Standing>,
    /// Whether other capitals than the catalogue's are the name, too.
    any_case: Vec<bool>,
}

impl Tagger {
    /// A tagger for these names, after what the papers tell of them.
    #[must_use]
    pub fn new(lexicon: Lexicon, statistics: &Statistics, options: &TaggerOptions) -> Self {
        let standings = (0..lexicon.len()).map(|name| statistics.standing(&lexicon, name, options)).collect();
        let any_case = (0..lexicon.len()).map(|name| statistics.allows_other_case(&lexicon, name)).collect();
        Self { lexicon, standings, any_case }
    }

    /// The mentions in a paper's texts, in their order.
    #[must_use]
    pub fn tag(&self, texts: &[&str]) -> Vec<Mention> {
        let readings: Vec<Reading> =
            texts.iter().map(|text| Reading::of(&self.lexicon, text, Some(&self.any_case))).collect();
        let mut found: Vec<Found<'_>> = Vec::new();
        for (text, reading) in readings.iter().enumerate() {
            for read in reading.uses.iter().filter(|read| !read.found.owners.is_empty()) {
                let surface = &texts[text][read.found.place.clone()];
                let dataset = self.lexicon.resolve(surface, &read.found.owners);
                let verdict = Verdict::Rejected(Reason::NoEvidence);
                found.push(Found { text, read, surface, dataset, verdict });
            }
        }
        self.judge(&mut found, texts, &readings);
        found.into_iter().map(|found| self.mention(found)).collect()
    }

    fn mention(&self, found: Found<'_>) -> Mention {
        let owners = found.dataset.map_or_else(|| found.read.found.owners.clone(), |dataset| vec![dataset]);
        Mention {
            text: found.text,
            place: found.read.found.place.clone(),
            surface: found.surface.to_owned(),
            datasets: owners.into_iter().map(|owner| self.lexicon.datasets[owner].id.clone()).collect(),
            verdict: found.verdict,
        }
    }

    /// First every mention by itself, then what the paper's other mentions say of it.
    fn judge(&self, found: &mut [Found<'_>], texts: &[&str], readings: &[Reading]) {
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
            let known = mention.dataset.is_some_and(|dataset| accepted.contains(&dataset));
            if known && matches!(mention.verdict, Verdict::Rejected(Reason::NoEvidence)) {
                mention.verdict = Verdict::Accepted(Rule::Confirmed);
            }
        }
    }

    /// What the paper itself says that its names are.
    fn senses(&self, found: &[Found<'_>], texts: &[&str]) -> BTreeMap<usize, Sense> {
        let mut senses = BTreeMap::new();
        for mention in found {
            let new = mention.read.is_introduced || mention.read.is_method;
            let sense = self.explanation(mention, texts).or_else(|| new.then_some(Sense::New));
            if let Some(sense) = sense {
                let known = senses.entry(mention.read.found.name).or_insert(sense);
                *known = sense.max(*known);
            }
        }
        senses
    }

    /// What the words say that a mention is said to be short for.
    fn explanation(&self, mention: &Found<'_>, texts: &[&str]) -> Option<Sense> {
        let words = &texts[mention.text][mention.read.expansion.clone()?];
        let known = mention.dataset.is_some_and(|own| self.lexicon.datasets[own].is_described_by(words));
        let is_proper = words.chars().filter(|character| character.is_uppercase()).count() > 1;
        Some(match known {
            _ if mention.read.expands_to_kind || mention.read.cue == Some(Cue::Kind) => Sense::Dataset,
            true if is_proper => Sense::Dataset,
            true => Sense::CommonNoun,
            false => Sense::Other,
        })
    }

    fn verdict(&self, mention: &Found<'_>, sense: Option<Sense>, repeated: bool, readings: &[Reading]) -> Verdict {
        let (read, standing) = (mention.read, self.standings[mention.read.found.name]);
        match sense {
            _ if mention.dataset.is_none() => return Verdict::Rejected(Reason::Shared),
            Some(Sense::Dataset) => return Verdict::Accepted(Rule::Explained),
            Some(Sense::Other) if read.cue != Some(Cue::Kind) => return Verdict::Rejected(Reason::ExplainedOtherwise),
            _ if standing == Standing::Distinctive && sense != Some(Sense::CommonNoun) => {
                return Verdict::Accepted(Rule::Distinctive);
            }
            _ => {}
        }
        let is_word = self.lexicon.names[read.found.name].form == Form::Word;
        if is_word && read.is_part && mention.surface.chars().skip(1).any(char::is_lowercase) {
            return Verdict::Rejected(Reason::PartOfName);
        }
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

    fn is_beside_distinctive(&self, mention: &Found<'_>, readings: &[Reading]) -> bool {
        let others = readings[mention.text].within(&mention.read.list);
        others.filter(|read| !read.found.owners.is_empty()).any(|read| {
            read.found.name != mention.read.found.name && self.standings[read.found.name] == Standing::Distinctive
        })
    }
}

/// What a paper says that a name is; what is further down counts where it says several things.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Sense {
    /// Something of its own, or a method.
    New,
    /// Short for words that the catalogue does not know of the dataset.
    Other,
    /// Short for words that the catalogue knows, but written without capitals: an activity, a task.
    CommonNoun,
    /// Short for a dataset's name, or for something called a dataset.
    Dataset,
}

/// A mention while it is judged.
struct Found<'p> {
    text: usize,
    read: &'p Read,
    surface: &'p str,
    dataset: Option<usize>,
    verdict: Verdict,
}

#[cfg(test)]
mod tests;
