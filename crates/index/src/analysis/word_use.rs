//! Use of a word in the languages of datasets, and the stems of a query word that it justifies.
//!
//! The language of a query word is unknown, and so it is searched for by its stem in every language (see `multilingual`). Most of
//! these stems lack an ending only, and find related words (`Schulen`: `schul`, as of `Schule`). Some are other words: the Portuguese
//! stemmer makes `par` of `Paris`, the Turkish one `w` of `wine`, and a French text contains `par` whatever it is about. A stem of a
//! foreign language that is short, or lacks more than an ending, is therefore searched for only if most datasets that contain it are in
//! this language, which their function words show; a longer one also if they are in English. The same holds for every foreign stem of a
//! word that is written in English datasets: what has this stem there is another word (`parties` is no form of `part`).

use super::QueryTerm;
use super::language::{ENGLISH, LANGUAGES};
use super::multilingual::{Multilingual, place_of};
use super::normalization::fold_text;
use super::translations::Vocabulary;
use std::cell::LazyCell;

/// Use of a word in the datasets that were read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct WordUse {
    /// Datasets with it that were read.
    pub(crate) datasets: usize,
    /// Datasets with function words of any language.
    pub(crate) of_known_language: usize,
    /// Datasets with function words of each language, by index in [`LANGUAGES`].
    pub(crate) of_language: [usize; LANGUAGES.len()],
}

impl WordUse {
    /// Returns true if the word is one of the language: most datasets with it are, and not more are English. `None` if no dataset
    /// with it has a known language.
    pub(super) fn is_of_language(&self, language: &str) -> Option<bool> {
        let place = place_of(language)?;
        if self.of_known_language == 0 {
            return None;
        }
        let english = self.of_language[ENGLISH];
        Some(self.is_frequent(place) && self.of_language[place] >= english)
    }

    /// Returns true if a token is the stem of a word of the language, by its index in [`LANGUAGES`], rather than an English word:
    /// most datasets with it are of the language, and fewer are English.
    fn is_stem_of(&self, place: usize) -> bool {
        self.is_frequent(place) && self.of_language[place] > self.of_language[ENGLISH]
    }

    fn is_frequent(&self, place: usize) -> bool {
        2 * self.of_language[place] >= self.of_known_language && self.of_known_language > 0
    }
}

/// Minimum letters of a foreign stem that is searched for in other languages, too: most shorter texts are a word of some language.
const MIN_STEM_LETTERS: usize = 4;
/// Maximum letters that a foreign stem lacks at the end of the word to be searched for in all languages: the ending of an inflection.
/// A stem that lacks more is searched for in English, too (`forensisch`: `forens`), but `Manchester` does not find la Manche.
const MAX_ENDING_LETTERS: usize = 3;

/// Returns true if the datasets with a stem of some languages, by their indexes in [`LANGUAGES`], may be about the word.
/// `is_english`: the word is one of English datasets.
fn may_be_about(
    word: &str,
    is_english: bool,
    stem: &str,
    languages: &[usize],
    vocabulary: &dyn Vocabulary,
) -> bool {
    let letters = stem.chars().count();
    let is_long = letters >= MIN_STEM_LETTERS && !is_english;
    // Most stems of foreign words cost no look into the index.
    if is_long && word.chars().count() <= letters + MAX_ENDING_LETTERS {
        return true;
    }
    let used = vocabulary.token_use(stem);
    languages.iter().any(|place| used.is_stem_of(*place))
        || is_long && used.is_of_language(LANGUAGES[ENGLISH].2) == Some(true)
}

/// Removes the stems of foreign languages that are other words in the collection. A word as typed, and its stems in English and in
/// the language of the query, remain. A translated query is of no English word, whatever the collection has.
pub(super) fn remove_misleading_stems(
    terms: &mut [QueryTerm],
    detected: Option<&str>,
    is_translated: bool,
    analysis: &Multilingual,
    vocabulary: &dyn Vocabulary,
) {
    let own = [ENGLISH, detected.and_then(place_of).unwrap_or(ENGLISH)];
    for term in terms {
        let stems = analysis.tokens_by_language(&term.text);
        let typed = fold_text(&term.text);
        let text = term.text.as_str();
        // Only a foreign stem needs this look into the index.
        let is_english = LazyCell::new(|| {
            !is_translated
                && vocabulary
                    .word_use(text)
                    .is_of_language(LANGUAGES[ENGLISH].2)
                    == Some(true)
        });
        term.alternatives.retain(|token| {
            let mut languages = Vec::new();
            for (place, tokens) in stems.iter().enumerate() {
                if tokens.contains(token) {
                    languages.push(place);
                }
            }
            let is_own = own.iter().any(|place| languages.contains(place));
            // What is no stem of the word is a translation.
            let is_translation = languages.is_empty();
            is_own
                || is_translation
                || *token == typed
                || may_be_about(&typed, *is_english, token, &languages, vocabulary)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tokens with the languages of the datasets that contain them.
    struct Collection(&'static [(&'static str, &'static [&'static str])]);

    impl Vocabulary for Collection {
        fn contains(&self, _: &[String]) -> bool {
            true
        }

        fn word_use(&self, word: &str) -> WordUse {
            self.token_use(word)
        }

        fn token_use(&self, token: &str) -> WordUse {
            let mut found = WordUse::default();
            let datasets = self.0.iter().filter(|(other, _)| *other == token);
            for language in datasets.flat_map(|(_, languages)| *languages) {
                found.datasets += 1;
                if let Some(place) = place_of(language) {
                    found.of_known_language += 1;
                    found.of_language[place] += 1;
                }
            }
            found
        }
    }

    fn searched(word: &str, detected: Option<&str>, collection: &Collection) -> Vec<String> {
        let analysis = Multilingual::new();
        let mut terms = analysis.query_words(word);
        remove_misleading_stems(&mut terms, detected, false, &analysis, collection);
        terms.remove(0).alternatives
    }

    #[test]
    fn a_stem_that_is_a_word_of_another_language_is_not_searched_for() {
        let collection = Collection(&[("par", &["fr", "fr"]), ("win", &["en", "en", "de"])]);
        assert_eq!(searched("Paris", None, &collection), ["pari", "paris"]);
        assert_eq!(searched("wine", None, &collection), ["wine"]);
    }

    #[test]
    fn a_stem_of_a_language_of_the_collection_is_searched_for() {
        let collection = Collection(&[("aloj", &["es", "es", "en"])]);
        let tokens = searched("alojamientos", None, &collection);
        assert!(tokens.iter().any(|token| token == "aloj"), "{tokens:?}");
        let tokens = searched("alojamientos", None, &Collection(&[("aloj", &["fr"])]));
        assert!(!tokens.iter().any(|token| token == "aloj"), "{tokens:?}");
    }

    #[test]
    fn a_stem_that_lacks_an_ending_is_searched_for_wherever_it_occurs() {
        let tokens = searched("Schulen", None, &Collection(&[("schul", &["fr"])]));
        assert!(tokens.iter().any(|token| token == "schul"), "{tokens:?}");
        let tokens = searched("forensisch", None, &Collection(&[("forens", &["en"])]));
        assert!(tokens.iter().any(|token| token == "forens"), "{tokens:?}");
        let tokens = searched("Manchester", None, &Collection(&[("manche", &["?"])]));
        assert!(!tokens.iter().any(|token| token == "manche"), "{tokens:?}");
    }

    #[test]
    fn an_english_word_is_not_searched_for_as_another_one() {
        let collection = Collection(&[("parties", &["en"]), ("part", &["en", "en"])]);
        let tokens = searched("parties", None, &collection);
        assert_eq!(tokens.iter().find(|token| *token == "part"), None);
        assert!(tokens.iter().any(|token| token == "parti"), "{tokens:?}");
        // Not English there: it may be the Portuguese word.
        let tokens = searched("parties", None, &Collection(&[("part", &["en"])]));
        assert!(tokens.iter().any(|token| token == "part"), "{tokens:?}");
    }

    #[test]
    fn the_language_of_the_query_counts_whatever_the_collection_has() {
        let tokens = searched("alojamientos", Some("es"), &Collection(&[]));
        assert!(tokens.iter().any(|token| token == "aloj"), "{tokens:?}");
    }
}
