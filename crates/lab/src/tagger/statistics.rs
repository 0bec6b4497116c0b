//! Use of names in a collection of papers: how often as ordinary words, and how often beside a cue.

use super::lexicon::{Form, Lexicon};
use super::reading::{Occurrence, TextReading};
use super::{Standing, TaggerOptions};
use std::collections::BTreeSet;

/// Numbers of papers that contain a name, by the way they use it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Counts {
    /// Papers that write it as the catalogue does.
    papers: u32,
    /// Papers among these that write it beside a cue, in a list beside a cue, or in a list with a marked name.
    cued: u32,
    /// Papers that write it with other capitals.
    cased: u32,
    /// Papers that write it without any capital, unlike the catalogue.
    lower: u32,
}

/// Counts of every name of a lexicon.
#[derive(Clone, Debug)]
pub struct Statistics {
    counts: Vec<Counts>,
}

impl Statistics {
    /// Starts without papers. Names are then judged by their form alone.
    #[must_use]
    pub fn new(lexicon: &Lexicon) -> Self {
        Self {
            counts: vec![Counts::default(); lexicon.len()],
        }
    }

    /// Adds a paper, given as its texts.
    pub fn add(&mut self, lexicon: &Lexicon, texts: &[&str]) {
        let readings: Vec<TextReading> = texts
            .iter()
            // All capitals are read, because these counts decide later which are accepted.
            .map(|text| TextReading::new(lexicon, text, None))
            .collect();
        for name in select_names(&readings, |_, read| is_meant(read)) {
            self.counts[name].papers += 1;
        }
        for name in select_names(&readings, |reading, read| {
            is_meant(read) && (read.listed_cue.is_some() || has_marked_item(lexicon, reading, read))
        }) {
            self.counts[name].cued += 1;
        }
        for name in select_names(&readings, |_, read| read.found.is_cased) {
            self.counts[name].cased += 1;
        }
        for name in select_names(&readings, |_, read| {
            read.is_lower && read.found.owners.is_empty()
        }) {
            self.counts[name].lower += 1;
        }
    }

    /// Returns true if other capitals than the catalogue's are accepted as the name. This holds if papers mostly write
    /// it as the catalogue does, or if a digit distinguishes it from words. "Imagenet" is ImageNet, but "Mutual" is not
    /// "MuTual".
    pub(super) fn allows_other_case(&self, lexicon: &Lexicon, name: usize) -> bool {
        let counts = self.counts[name];
        lexicon.names[name].has_digit() || counts.papers > counts.cased
    }

    /// Computes the standing of a name from its form and its counts.
    pub(super) fn standing(
        &self,
        lexicon: &Lexicon,
        name: usize,
        options: &TaggerOptions,
    ) -> Standing {
        let (counts, own) = (self.counts[name], &lexicon.names[name]);
        let known = counts.papers >= options.least_papers;
        let cued = share(counts.cued, counts.papers);
        let is_word = share(counts.lower, counts.papers + counts.lower) > options.ordinary;
        match own.form {
            Form::Marked if known && cued < options.foreign => Standing::Ambiguous,
            Form::Marked => Standing::Distinctive,
            Form::Phrase if own.ends_in_kind() => Standing::Distinctive,
            _ if is_word || own.is_lower() || known && cued < options.foreign => Standing::Foreign,
            _ if known && cued >= options.distinctive => Standing::Distinctive,
            Form::Phrase if !known && lexicon.names[name].text().split(' ').count() > 2 => {
                Standing::Distinctive
            }
            _ => Standing::Ambiguous,
        }
    }
}

fn share(part: u32, whole: u32) -> f64 {
    f64::from(part) / f64::from(whole.max(1))
}

/// Returns true if the name is that of datasets, and has the capitals of the catalogue.
fn is_meant(read: &Occurrence) -> bool {
    !read.found.owners.is_empty() && !read.found.is_cased
}

/// Returns the distinct names among a paper's occurrences that satisfy `fits`.
fn select_names(
    readings: &[TextReading],
    fits: impl Fn(&TextReading, &Occurrence) -> bool,
) -> BTreeSet<usize> {
    let reads = readings
        .iter()
        .flat_map(|reading| reading.uses.iter().map(move |read| (reading, read)));
    reads
        .filter(|(reading, read)| fits(reading, read))
        .map(|(_, read)| read.found.name)
        .collect()
}

/// Returns true if another item of the list has a marked form, which is seldom an ordinary word.
fn has_marked_item(lexicon: &Lexicon, reading: &TextReading, read: &Occurrence) -> bool {
    let others = reading
        .within(&read.list)
        .filter(|other| other.found.name != read.found.name);
    others
        .filter(|other| is_meant(other))
        .any(|other| lexicon.names[other.found.name].form == Form::Marked)
}
