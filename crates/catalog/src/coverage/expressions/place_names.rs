//! The names of places as words.

use super::super::places::Place;
use super::folded;
use std::sync::LazyLock;

/// The names as words in lower case and without accents, with the places. Names of more words are first.
static FOLDED: LazyLock<Vec<(Vec<String>, &'static Place)>> = LazyLock::new(|| {
    let mut names = Vec::new();
    for place in Place::all() {
        for name in place.names() {
            names.push((folded(name).split([' ', '-', '\'']).map(str::to_owned).collect::<Vec<String>>(), place));
        }
    }
    names.sort_by_key(|(words, _)| std::cmp::Reverse(words.len()));
    names
});

/// Returns the place with the longest name that satisfies a predicate, and the number of words of the name.
pub(super) fn longest_name(matches: impl Fn(&[String]) -> bool) -> Option<(&'static Place, usize)> {
    let (words, place) = FOLDED.iter().find(|(words, _)| matches(words))?;
    Some((*place, words.len()))
}
