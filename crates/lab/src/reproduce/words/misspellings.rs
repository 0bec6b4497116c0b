//! Generated misspellings.

use anyhow::ensure;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// Minimum letters of a word that is misspelt: shorter ones are similar to nearly any other.
const MIN_LETTERS: usize = 4;
/// Maximum letters of a word with one edit.
const MAX_LETTERS_OF_ONE_EDIT: usize = 7;
/// Maximum number of attempts to misspell a word so that the collection does not contain the result.
const MAX_ATTEMPTS: usize = 20;

/// The words of a title that are misspelt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Misspelling {
    OneWord,
    EveryWord,
}

impl Misspelling {
    pub(super) const ALL: [Self; 2] = [Self::OneWord, Self::EveryWord];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::OneWord => "one word misspelt",
            Self::EveryWord => "every word misspelt",
        }
    }
}

/// Returns misspelt titles, each with the place of its title. Titles are used in turn, from the first, and only those with a
/// word of at least four letters. `is_known` returns true for the words of the collection.
pub(super) fn misspell_titles(
    titles: &[&str],
    kind: Misspelling,
    count: usize,
    seed: u64,
    is_known: &dyn Fn(&str) -> anyhow::Result<bool>,
) -> anyhow::Result<Vec<(usize, String)>> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut queries = Vec::with_capacity(count);
    while queries.len() < count {
        let before = queries.len();
        for (place, title) in titles.iter().enumerate() {
            if queries.len() == count {
                break;
            }
            if let Some(query) = misspell_title(title, kind, &mut random, is_known)? {
                queries.push((place, query));
            }
        }
        // Without a new query in a whole turn, the loop would never end.
        ensure!(queries.len() > before, "no title can be misspelt");
    }
    Ok(queries)
}

/// Returns a title with misspelt words. `None` if no word is long enough.
fn misspell_title(
    title: &str,
    kind: Misspelling,
    random: &mut ChaCha8Rng,
    is_known: &dyn Fn(&str) -> anyhow::Result<bool>,
) -> anyhow::Result<Option<String>> {
    let mut words: Vec<String> = title
        .split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let mut places: Vec<usize> = Vec::new();
    for (place, word) in words.iter().enumerate() {
        if word.chars().count() >= MIN_LETTERS && word.chars().all(char::is_alphabetic) {
            places.push(place);
        }
    }
    if places.is_empty() {
        return Ok(None);
    }
    if kind == Misspelling::OneWord {
        places = vec![places[draw_number(random, places.len())]];
    }
    let mut is_misspelt = false;
    for place in places {
        for _ in 0..MAX_ATTEMPTS {
            let wrong = edit_word(&words[place], random);
            if wrong != words[place] && !is_known(&wrong)? {
                words[place] = wrong;
                is_misspelt = true;
                break;
            }
        }
    }
    Ok(is_misspelt.then(|| words.join(" ")))
}

/// Returns a word with one edit, or two if it has more than seven letters: a letter replaced by a letter of the word or the
/// alphabet, removed, inserted, or swapped with its neighbour. The first letter stays: people rarely mistake it.
fn edit_word(word: &str, random: &mut ChaCha8Rng) -> String {
    let mut letters: Vec<char> = word.chars().collect();
    let edits = if letters.len() > MAX_LETTERS_OF_ONE_EDIT {
        2
    } else {
        1
    };
    for _ in 0..edits {
        let place = 1 + draw_number(random, letters.len() - 1);
        let letter = char::from(b'a' + draw_number(random, 26) as u8);
        match draw_number(random, 4) {
            0 => letters[place] = letter,
            1 => {
                letters.remove(place);
            }
            2 => letters.insert(place, letter),
            _ if place > 1 => letters.swap(place - 1, place),
            _ => letters.insert(place, letter),
        }
    }
    letters.into_iter().collect()
}

/// Returns a number below `end`.
fn draw_number(random: &mut ChaCha8Rng, end: usize) -> usize {
    (random.next_u64() % end as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspellings_are_deterministic_and_keep_short_words() {
        let titles = ["Renewable energy use in the city", "of a"];
        let is_known = |word: &str| Ok(word == "energyy");
        let of = |kind| misspell_titles(&titles, kind, 20, 7, &is_known).expect("misspelt");
        assert_eq!(of(Misspelling::EveryWord), of(Misspelling::EveryWord));
        for (place, query) in of(Misspelling::EveryWord) {
            let words: Vec<&str> = query.split(' ').collect();
            assert_eq!((place, words.len()), (0, 6), "{query}");
            assert_eq!([words[2], words[3], words[4]], ["use", "in", "the"]);
            assert!(words[0] != "renewable" && words[1] != "energy" && words[5] != "city");
            assert!(
                words[0].starts_with('r') && words[1] != "energyy",
                "{query}"
            );
        }
        for (_, query) in of(Misspelling::OneWord) {
            let correct = "renewable energy use in the city".split(' ');
            let wrong = query.split(' ').zip(correct).filter(|(a, b)| a != b);
            assert_eq!(wrong.count(), 1, "{query}");
        }
        assert!(misspell_titles(&["of a"], Misspelling::OneWord, 1, 7, &is_known).is_err());
    }
}
