//! The names of places as words.

use super::super::places::{Place, PlaceName};
use super::fold_text;
use std::collections::HashMap;
use std::sync::LazyLock;

/// Names that contain the name of a place, and are none of the table.
const OTHER_NAMES: [&str; 12] = [
    "American Samoa",
    "Baja California",
    "Golf von Mexiko",
    "Golfe du Mexique",
    "Golfo de México",
    "Golfo del Messico",
    "Gulf of Mexico",
    "Kansas City",
    "Maine et Loire",
    "Monaco di Baviera",
    "New Guinea",
    "Sierra Nevada",
];

/// A name as words in lower case and without accents.
pub(super) struct FoldedName {
    pub(super) words: Vec<String>,
    /// The place that it names, and the name; `None` for a name that is no place of the table.
    pub(super) place: Option<(&'static Place, PlaceName)>,
}

/// The names that are recognized, by their first word. Those of more words are first.
pub(super) static FOLDED_NAMES: LazyLock<HashMap<String, Vec<FoldedName>>> = LazyLock::new(|| {
    let mut names: Vec<FoldedName> = OTHER_NAMES
        .map(|name| FoldedName {
            words: split_name(name),
            place: None,
        })
        .into();
    for place in Place::all() {
        for &name in &place.names {
            names.push(FoldedName {
                words: split_name(name.text),
                place: Some((place, name)),
            });
        }
    }
    names.sort_by_key(|name| std::cmp::Reverse(name.words.len()));
    let mut by_first_word: HashMap<String, Vec<FoldedName>> = HashMap::new();
    for name in names {
        by_first_word
            .entry(name.words[0].clone())
            .or_default()
            .push(name);
    }
    by_first_word
});

/// Splits a name into words in lower case and without accents.
fn split_name(name: &str) -> Vec<String> {
    fold_text(name)
        .split([' ', '-', '\''])
        .map(str::to_owned)
        .collect()
}
