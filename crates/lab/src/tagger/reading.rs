//! Names in one text, each with its context.

use super::cue::{self, Cue};
use super::lexicon::{Lexicon, NameMatch};
use super::text::{Token, tokenize};
use std::ops::Range;

/// A name in a text and its context.
#[derive(Clone, Debug)]
pub(super) struct Occurrence {
    pub(super) found: NameMatch,
    /// If true, the name is written without a capital.
    pub(super) is_lower: bool,
    /// Cue beside the name.
    pub(super) cue: Option<Cue>,
    /// Cue beside the list that contains the name.
    pub(super) listed_cue: Option<Cue>,
    /// Byte range of the list; that of the name alone if there is no list.
    pub(super) list: Range<usize>,
    /// If true, the next word marks a method.
    pub(super) is_method: bool,
    /// If true, a word with a capital or a digit is next to the name.
    pub(super) is_part: bool,
    /// If true, the paper introduces something of this name.
    pub(super) is_introduced: bool,
    /// Byte range of the words that the name abbreviates.
    pub(super) expansion: Option<Range<usize>>,
    /// If true, the abbreviated words describe a dataset.
    pub(super) expands_to_kind: bool,
}

pub(super) struct TextReading {
    pub(super) uses: Vec<Occurrence>,
}

impl TextReading {
    pub(super) fn new(lexicon: &Lexicon, text: &str, any_case: Option<&[bool]>) -> Self {
        let found = lexicon.matches(text, any_case);
        if found.is_empty() {
            return Self { uses: Vec::new() };
        }
        let tokens = tokenize(text);
        let ranges: Vec<Range<usize>> = found
            .iter()
            .map(|found| cue::token_range(&tokens, &found.place))
            .collect();
        let uses = found
            .into_iter()
            .zip(&ranges)
            .map(|(found, name)| read_occurrence(&tokens, text, found, name));
        Self {
            uses: uses.collect(),
        }
    }

    /// Returns the names in a part of the text.
    pub(super) fn within<'r>(
        &'r self,
        part: &'r Range<usize>,
    ) -> impl Iterator<Item = &'r Occurrence> {
        // Names are in order and do not overlap.
        let first = self
            .uses
            .partition_point(|read| read.found.place.start < part.start);
        self.uses[first..]
            .iter()
            .take_while(|read| read.found.place.end <= part.end)
    }
}

fn read_occurrence(
    tokens: &[Token],
    text: &str,
    found: NameMatch,
    name: &Range<usize>,
) -> Occurrence {
    let expansion = cue::expansion_of(tokens, name);
    let list = cue::find_list(tokens, name);
    let is_heading = is_heading(tokens, name);
    let heads_kind = is_heading && cue::describes_one_dataset(&tokens[name.end..]);
    Occurrence {
        is_lower: !text[found.place.clone()].chars().any(char::is_uppercase),
        cue: if heads_kind {
            Some(Cue::Kind)
        } else {
            cue::find_cue(tokens, name)
        },
        listed_cue: cue::find_cue(tokens, &list),
        list: text_range(tokens, &list),
        is_method: cue::is_method(tokens, name),
        is_part: cue::is_part(tokens, name),
        is_introduced: is_heading || cue::is_introduced(tokens, name),
        expands_to_kind: expansion
            .as_ref()
            .is_some_and(|words| cue::describes_dataset(&tokens[words.clone()])),
        expansion: expansion.map(|words| text_range(tokens, &words)),
        found,
    }
}

/// Returns the byte range of tokens in the text.
fn text_range(tokens: &[Token], range: &Range<usize>) -> Range<usize> {
    tokens[range.start].place.start..tokens[range.end - 1].place.end
}

/// Recognises "NAME: definition", as titles of papers begin.
fn is_heading(tokens: &[Token], name: &Range<usize>) -> bool {
    name.start == 0 && tokens.get(name.end).is_some_and(|token| token.word == ":")
}
