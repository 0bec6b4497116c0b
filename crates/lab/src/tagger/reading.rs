//! One text read: the names in it, each with what stands around it.

use super::cue::{self, Cue};
use super::lexicon::{Lexicon, Use};
use super::text::{Token, tokens};
use std::ops::Range;

/// A name in a text and what is said around it.
#[derive(Clone, Debug)]
pub(super) struct Read {
    pub(super) found: Use,
    /// Written without a capital.
    pub(super) is_lower: bool,
    /// The cue beside it.
    pub(super) cue: Option<Cue>,
    /// The cue beside the list that it is an item of.
    pub(super) listed_cue: Option<Cue>,
    /// The list, as a place in the text; the name alone where it stands in none.
    pub(super) list: Range<usize>,
    /// The next word makes it a method's name.
    pub(super) is_method: bool,
    /// A word with a capital or a digit is next to it.
    pub(super) is_part: bool,
    /// The paper gives something new this name.
    pub(super) is_introduced: bool,
    /// What the text says it is short for.
    pub(super) expansion: Option<Range<usize>>,
    /// Whether the words it is short for are of a dataset.
    pub(super) expands_to_kind: bool,
}

pub(super) struct Reading {
    pub(super) uses: Vec<Read>,
}

impl Reading {
    pub(super) fn of(lexicon: &Lexicon, text: &str, any_case: Option<&[bool]>) -> Self {
        let found = lexicon.uses(text, any_case);
        if found.is_empty() {
            return Self { uses: Vec::new() };
        }
        let tokens = tokens(text);
        let covered: Vec<Range<usize>> = found.iter().map(|found| cue::covered(&tokens, &found.place)).collect();
        let uses = found.into_iter().zip(&covered).map(|(found, name)| read(&tokens, text, found, name));
        Self { uses: uses.collect() }
    }

    /// The names in a part of the text.
    pub(super) fn within<'r>(&'r self, part: &'r Range<usize>) -> impl Iterator<Item = &'r Read> {
        // Names follow one another and do not overlap.
        let first = self.uses.partition_point(|read| read.found.place.start < part.start);
        self.uses[first..].iter().take_while(|read| read.found.place.end <= part.end)
    }
}

fn read(tokens: &[Token], text: &str, found: Use, name: &Range<usize>) -> Read {
    let expansion = cue::explained(tokens, name);
    let list = cue::list(tokens, name);
    let is_heading = is_heading(tokens, name);
    let heads_kind = is_heading && cue::names_one(&tokens[name.end..]);
    Read {
        is_lower: !text[found.place.clone()].chars().any(char::is_uppercase),
        cue: if heads_kind { Some(Cue::Kind) } else { cue::cue(tokens, name) },
        listed_cue: cue::cue(tokens, &list),
        list: place(tokens, &list),
        is_method: cue::is_method(tokens, name),
        is_part: cue::is_part(tokens, name),
        is_introduced: is_heading || cue::is_introduced(tokens, name),
        expands_to_kind: expansion.as_ref().is_some_and(|words| cue::names_kind(&tokens[words.clone()])),
        expansion: expansion.map(|words| place(tokens, &words)),
        found,
    }
}

/// Where tokens stand in the text.
fn place(tokens: &[Token], range: &Range<usize>) -> Range<usize> {
    tokens[range.start].place.start..tokens[range.end - 1].place.end
}

/// "NAME: what it is", as titles of papers begin.
fn is_heading(tokens: &[Token], name: &Range<usize>) -> bool {
    name.start == 0 && tokens.get(name.end).is_some_and(|token| token.word == ":")
}
