//! Spelling: a word that occurs in hardly any dataset is replaced by a similar, frequent word of the index, a compound that occurs
//! in none and resembles no word by its parts (`Luftqualität`: `luft qualität`).
//!
//! Candidates are the words of datasets as written: stems differ from misspelled words by their endings
//! (`renewabel`: `renew`). A word that a dataset contains is never replaced in a search: its correction is a suggestion only.
//! Neither is a word that is spelled correctly although no dataset contains it: in a collection without plant pathology, `wheat
//! rust` does not become `what rust`. The vocabularies of the encoders show such words; a ranking by words
//! alone has no such list. If the language of the query is known, corrections are words of that language.

use super::EngineError;
use super::card::read_card;
use lodeseek_index::document::Field;
use lodeseek_index::{
    AnalysisKind, AnalyzedQuery, QueryTerm, STOP_WORDS, Snapshot, SpellingCandidate,
};
use std::cmp::Reverse;

/// A word is a possible misspelling if at most 1 + N / `RARE_WORD_DIVISOR` of N datasets contain it.
const RARE_WORD_DIVISOR: u64 = 1000;
/// Minimum ratio of the document frequencies of a correction and of the word it replaces.
const MIN_FREQUENCY_RATIO: u64 = 20;
/// Cost of an edit, in natural logarithms of the document frequency.
const EDIT_COST: f64 = 3.0;
/// Minimum document frequency of a correction if the index contains another word of the query: sentences have words that no
/// dataset contains.
const MIN_FREQUENCY_BESIDE_FOUND: u64 = 2;
/// Minimum letters of a word with one error: shorter words are similar to nearly any other.
const MIN_LETTERS: usize = 4;
/// Minimum letters of a word with two errors.
const MIN_LETTERS_FOR_TWO_EDITS: usize = 8;
/// Minimum letters of a word with one error that is corrected to a word of one dataset, beside words that the index contains.
const MIN_LETTERS_OF_RARE: usize = 7;
/// Maximum letters of a word: the automaton of a longer one would be large.
const MAX_LETTERS: usize = 40;
/// Maximum number of words of a query that are checked.
const MAX_WORDS: usize = 12;
/// Minimum letters of a part of a compound: most shorter texts are a word of some language.
const MIN_PART_LETTERS: usize = 4;
/// Maximum number of parts of a compound.
const MAX_PARTS: usize = 3;
/// Letters between the parts of a compound. Other linking elements, such as `en`, are endings that stemmers remove.
const LINKING_ELEMENTS: [&str; 2] = ["", "s"];
/// Maximum number of candidates that are checked if stems have to be mapped back to words.
const MAX_CANDIDATES: usize = 5;

/// The fields whose texts a card contains.
const CARD_FIELDS: [Field; 4] = [Field::Title, Field::Description, Field::Author, Field::Tags];

/// Words that are spelled correctly.
pub(super) trait WordList {
    /// Returns true if a word in lower case is one of them.
    fn contains(&self, word: &str) -> bool;
}

/// Corrections of a query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Corrections {
    /// The query without the words that no dataset contains: they are replaced. `None` if there are none with a correction.
    pub(super) replaced: Option<String>,
    /// The query with rare words replaced, too. `None` if nothing is corrected.
    pub(super) suggestion: Option<String>,
}

/// Returns a query with its misspelled words corrected. `known` are words that are spelled correctly, if there is a list.
pub(super) fn correct_spelling(
    text: &str,
    query: &AnalyzedQuery,
    known: Option<&dyn WordList>,
    snapshot: &Snapshot,
) -> Result<Corrections, EngineError> {
    let terms = &query.distinct[..query.distinct.len().min(MAX_WORDS)];
    let mut frequencies = Vec::with_capacity(terms.len());
    for term in terms {
        frequencies.push(snapshot.document_frequency(term, &Field::ALL)?);
    }
    let has_found_term = frequencies.iter().any(|frequency| *frequency > 0);
    let language = snapshot.analysis().query_language(text);
    let min_frequency = if has_found_term {
        MIN_FREQUENCY_BESIDE_FOUND
    } else {
        1
    };
    let (mut replaced, mut suggestion) = (text.to_owned(), text.to_owned());
    for (term, frequency) in terms.iter().zip(frequencies) {
        let is_known = known.is_some_and(|known| known.contains(&term.text));
        let correction = if is_known {
            split_compound(term, frequency, min_frequency, snapshot)?
        } else {
            correct_word(term, frequency, min_frequency, language, snapshot)?
        };
        if let Some(correction) = correction {
            suggestion = replace_word(&suggestion, &term.text, &correction);
            if frequency == 0 {
                replaced = replace_word(&replaced, &term.text, &correction);
            }
        }
    }
    Ok(Corrections {
        replaced: (replaced != text).then_some(replaced),
        suggestion: (suggestion != text).then_some(suggestion),
    })
}

/// Returns the correction of a rare word: the likeliest similar word of the index, which is one of the query's language if that is
/// known.
fn correct_word(
    term: &QueryTerm,
    frequency: u64,
    min_frequency: u64,
    language: Option<&str>,
    snapshot: &Snapshot,
) -> Result<Option<String>, EngineError> {
    let letters = term.text.chars().count();
    if !(MIN_LETTERS..=MAX_LETTERS).contains(&letters)
        || !term.text.chars().all(char::is_alphabetic)
    {
        return Ok(None);
    }
    if frequency > 1 + snapshot.len() / RARE_WORD_DIVISOR {
        return Ok(None);
    }
    let has_stems = !snapshot.has_names() && snapshot.analysis().kind() != AnalysisKind::Acordar;
    let max_edits = if letters < MIN_LETTERS_FOR_TWO_EDITS {
        1
    } else {
        2
    };
    let min_frequency = min_frequency.max(MIN_FREQUENCY_RATIO * frequency);
    let mut candidates = if snapshot.has_names() {
        snapshot.written_candidates(&term.text, max_edits)?
    } else {
        let fields: &[Field] = if has_stems { &CARD_FIELDS } else { &Field::ALL };
        snapshot.spelling_candidates(&term.text, max_edits, fields)?
    };
    candidates.retain(|candidate| {
        let is_rare_and_long =
            frequency == 0 && candidate.edits == 1 && letters >= MIN_LETTERS_OF_RARE;
        (candidate.documents >= min_frequency || is_rare_and_long)
            && is_likely(candidate, term)
            && !is_stop_word(&candidate.word, snapshot)
            && language.is_none_or(|language| {
                snapshot.is_word_of(&candidate.word, language) != Some(false)
            })
    });
    candidates.sort_by(|a, b| {
        likelihood(b)
            .total_cmp(&likelihood(a))
            .then_with(|| a.word.cmp(&b.word))
    });
    // A misspelled word is likelier than a compound.
    if candidates.is_empty() {
        return split_compound(term, frequency, min_frequency, snapshot);
    }
    for candidate in candidates.into_iter().take(MAX_CANDIDATES) {
        let word = if has_stems {
            word_with_stem(&candidate.word, snapshot)?
        } else {
            Some(candidate.word)
        };
        if word.is_some() {
            return Ok(word);
        }
    }
    Ok(None)
}

/// Returns the parts of a compound that no dataset contains, if the index has them.
fn split_compound(
    term: &QueryTerm,
    frequency: u64,
    min_frequency: u64,
    snapshot: &Snapshot,
) -> Result<Option<String>, EngineError> {
    let letters = term.text.chars().count();
    if frequency > 0 || letters > MAX_LETTERS || !term.text.chars().all(char::is_alphabetic) {
        return Ok(None);
    }
    let words = IndexWords {
        snapshot,
        min_frequency: min_frequency.max(2 + snapshot.len() / RARE_WORD_DIVISOR),
    };
    let parts = words.split(&term.text, MAX_PARTS)?;
    Ok(parts.map(|(parts, _)| parts.join(" ")))
}

/// Words of the index that are frequent enough for a suggestion.
struct IndexWords<'s> {
    snapshot: &'s Snapshot,
    min_frequency: u64,
}

impl IndexWords<'_> {
    /// Returns the fewest parts of a text, at most `parts`, with the document frequency of the rarest. Of equally many parts returns those whose rarest
    /// is the most frequent. A text that is a word of the index is its only part.
    fn split<'t>(
        &self,
        text: &'t str,
        parts: usize,
    ) -> Result<Option<(Vec<&'t str>, u64)>, EngineError> {
        let frequency = self.frequency(text)?;
        if frequency >= self.min_frequency {
            return Ok(Some((vec![text], frequency)));
        }
        let mut best: Option<(Vec<&str>, u64)> = None;
        if parts == 1 {
            return Ok(best);
        }
        let letters = text.chars().count();
        // Neither part is shorter than `MIN_PART_LETTERS`.
        for (end, _) in text
            .char_indices()
            .take((letters + 1).saturating_sub(MIN_PART_LETTERS))
            .skip(MIN_PART_LETTERS)
        {
            let (head, rest) = text.split_at(end);
            let frequency = self.frequency(head)?;
            if frequency < self.min_frequency {
                continue;
            }
            for tail in LINKING_ELEMENTS
                .iter()
                .filter_map(|linking| rest.strip_prefix(linking))
            {
                if tail.chars().count() < MIN_PART_LETTERS {
                    continue;
                }
                let Some((tail, rarest)) = self.split(tail, parts - 1)? else {
                    continue;
                };
                let rarest = rarest.min(frequency);
                let is_better = best.as_ref().is_none_or(|(parts, best_rarest)| {
                    (tail.len() + 1, Reverse(rarest)) < (parts.len(), Reverse(*best_rarest))
                });
                if is_better {
                    best = Some(([head].into_iter().chain(tail).collect(), rarest));
                }
            }
        }
        Ok(best)
    }

    /// Returns the number of datasets with a word as written; in an index of an earlier version, in any of its forms. 0 for a text
    /// that is not one word.
    fn frequency(&self, word: &str) -> Result<u64, EngineError> {
        // Stems that nobody writes are no parts.
        if self.snapshot.has_names() && self.snapshot.written_frequency(word)? == 0 {
            return Ok(0);
        }
        let query = AnalyzedQuery::new(word, self.snapshot.analysis());
        match query.distinct.as_slice() {
            [term] => Ok(self.snapshot.document_frequency(term, &Field::ALL)?),
            _ => Ok(0),
        }
    }
}

/// Returns true if a candidate is a plausible correction. Two errors rarely include the first letter. Another form of the same
/// word is no correction: its frequency is that of the word.
fn is_likely(candidate: &SpellingCandidate, term: &QueryTerm) -> bool {
    let has_same_initial = term.text.chars().next() == candidate.word.chars().next();
    (candidate.edits == 1 || has_same_initial)
        && !term.matches(&candidate.word)
        && candidate.word.chars().all(char::is_alphabetic)
}

/// Returns true if the word alone has no token in a document.
fn is_stop_word(word: &str, snapshot: &Snapshot) -> bool {
    STOP_WORDS.contains(&word) || snapshot.analysis().tokens(word).next().is_none()
}

fn likelihood(candidate: &SpellingCandidate) -> f64 {
    (candidate.documents as f64).ln_1p() - EDIT_COST * f64::from(candidate.edits)
}

/// Returns a word with a given stem, in lower case, from the metadata of a dataset that contains the stem.
fn word_with_stem(stem: &str, snapshot: &Snapshot) -> Result<Option<String>, EngineError> {
    for field in CARD_FIELDS {
        let Some(address) = snapshot.first_with_token(stem, field)? else {
            continue;
        };
        let Some(card) = read_card(snapshot, &snapshot.id(address)?)? else {
            continue;
        };
        let metadata = &card.metadata;
        let texts = [&metadata.titles, &metadata.descriptions, &metadata.keywords]
            .into_iter()
            .flatten();
        let texts = texts
            .map(|text| text.value.as_str())
            .chain(metadata.agents().map(|agent| agent.name.as_str()));
        let mut words = texts.flat_map(|text| text.split(|c: char| !c.is_alphabetic()));
        let word = words.find(|word| {
            !word.is_empty() && snapshot.analysis().tokens(word).any(|token| token == stem)
        });
        if let Some(word) = word {
            return Ok(Some(word.to_lowercase()));
        }
    }
    Ok(None)
}

/// Replaces every occurrence of a lower-case word, in whatever case, by another word.
fn replace_word(text: &str, word: &str, replacement: &str) -> String {
    let mut replaced = String::with_capacity(text.len());
    for part in text.split_inclusive(|c: char| !c.is_alphanumeric()) {
        let (candidate, separator) =
            part.split_at(part.trim_end_matches(|c: char| !c.is_alphanumeric()).len());
        replaced.push_str(if candidate.to_lowercase() == word {
            replacement
        } else {
            candidate
        });
        replaced.push_str(separator);
    }
    replaced
}

#[cfg(test)]
mod tests {
    use super::super::Texts;
    use super::*;
    use lodeseek_catalog::DatasetId;

    fn suggest_in(texts: &[&str], kind: AnalysisKind, query: &str) -> Option<String> {
        corrections_in(texts, kind, query).suggestion
    }

    /// Words that are spelled correctly.
    struct Words(&'static [&'static str]);

    impl WordList for Words {
        fn contains(&self, word: &str) -> bool {
            self.0.contains(&word)
        }
    }

    fn corrections_in(texts: &[&str], kind: AnalysisKind, query: &str) -> Corrections {
        corrections_with(texts, kind, query, None)
    }

    fn corrections_with(
        texts: &[&str],
        kind: AnalysisKind,
        query: &str,
        known: Option<&dyn WordList>,
    ) -> Corrections {
        let texts = texts.iter().enumerate();
        let texts =
            texts.map(|(place, text)| (DatasetId::new(place.to_string()).expect("an id"), *text));
        let texts = Texts::new(texts, kind).expect("indexed");
        correct_spelling(
            query,
            &AnalyzedQuery::new(query, texts.snapshot().analysis()),
            known,
            texts.snapshot(),
        )
        .expect("answered")
    }

    #[test]
    fn only_whole_words_are_replaced() {
        assert_eq!(
            replace_word("Nitrogne, (nitrogne) nitrogness", "nitrogne", "nitrogen"),
            "nitrogen, (nitrogen) nitrogness"
        );
    }

    #[test]
    fn unknown_words_are_corrected_to_the_likeliest_similar_word() {
        let texts = [
            "water quality",
            "water samples",
            "waiter jobs",
            "nitrogen in water",
            "boreholes",
        ];
        let suggest = |query| suggest_in(&texts, AnalysisKind::Acordar, query);
        assert_eq!(
            suggest("Watre quality").as_deref(),
            Some("water quality"),
            "two neighbours changed places"
        );
        assert_eq!(suggest("nitorgenn").as_deref(), Some("nitrogen"));
        assert_eq!(
            suggest("waiterr").as_deref(),
            Some("waiter"),
            "one edit comes before two"
        );
        assert_eq!(
            suggest("water boreholes"),
            None,
            "the index contains both words"
        );
        assert_eq!(suggest("waitr waters").as_deref(), Some("waiter water"));
        assert_eq!(
            suggest("water waitr"),
            None,
            "one dataset is too few beside a word of the index"
        );
        assert_eq!(
            suggest("water nitrogne").as_deref(),
            Some("water nitrogen"),
            "but not for a long word with one error"
        );
        assert_eq!(suggest("wtr bo 2020"), None, "too short, and no words");
        assert_eq!(
            suggest("xitrogeen"),
            None,
            "two errors, and one of them in the first letter"
        );
    }

    #[test]
    fn unknown_compounds_are_split_into_words_of_the_index() {
        let texts = [
            "Qualität der Luft",
            "Luft in Berlin und deren Qualität",
            "street trees",
            "trees of a street",
            "Straßen und Bäume",
            "Straße, Baum",
        ];
        let suggest = |query| suggest_in(&texts, AnalysisKind::Multilingual, query);
        assert_eq!(
            suggest("Luftqualität Berlin").as_deref(),
            Some("luft qualität Berlin")
        );
        assert_eq!(suggest("streettrees").as_deref(), Some("street trees"));
        assert_eq!(
            suggest("Qualitätsluft").as_deref(),
            Some("qualität luft"),
            "with a linking element"
        );
        assert_eq!(
            suggest("Luftstraßenbaum").as_deref(),
            Some("luft straßen baum")
        );
        assert_eq!(
            suggest("Berlinluft"),
            None,
            "one dataset with a part is too few"
        );
        assert_eq!(suggest("Luft"), None, "a word of the index");
    }

    #[test]
    fn every_word_of_a_query_is_corrected_and_none_split() {
        let mut texts = vec!["Renewable energy consumption"; 3];
        texts.extend([
            "abel renew consum",
            "tion of abel",
            "renew abel consum tion",
        ]);
        let corrections = corrections_in(
            &texts,
            AnalysisKind::Multilingual,
            "renewabel enery consumtion",
        );
        let expected = Some("renewable energy consumption".to_owned());
        assert_eq!(corrections.suggestion, expected);
        assert_eq!(
            corrections.replaced, expected,
            "no dataset contains a word as typed"
        );
    }

    #[test]
    fn words_of_the_collection_are_not_replaced() {
        let mut texts = vec!["lakes"; 40];
        texts.push("lakse");
        let corrections = corrections_in(&texts, AnalysisKind::Multilingual, "lakse");
        assert_eq!(corrections.suggestion.as_deref(), Some("lakes"));
        assert_eq!(corrections.replaced, None);
    }

    #[test]
    fn a_word_of_a_dataset_is_corrected_only_to_a_frequent_one() {
        let mut texts = vec!["lakes"; 19];
        texts.push("lakse");
        assert_eq!(suggest_in(&texts, AnalysisKind::Acordar, "lakse"), None);
        texts.push("lakes");
        assert_eq!(
            suggest_in(&texts, AnalysisKind::Acordar, "lakse").as_deref(),
            Some("lakes")
        );
    }

    #[test]
    fn words_that_are_spelled_correctly_are_not_replaced() {
        let texts = [
            "field trials",
            "field names",
            "moral stories",
            "story domains",
        ];
        let known = Words(&["yield", "coral"]);
        let kind = AnalysisKind::Multilingual;
        for query in ["coral domain", "crop yield"] {
            let corrections = corrections_with(&texts, kind, query, Some(&known));
            assert_eq!(corrections, Corrections::default(), "{query}");
        }
        let corrections = corrections_with(&texts, kind, "feild names", Some(&known));
        assert_eq!(corrections.replaced.as_deref(), Some("field names"));
    }

    #[test]
    fn a_stop_word_is_no_correction() {
        let texts = ["what is a whale", "what grows", "while it grows"];
        for query in ["wheat", "whil"] {
            let corrections = corrections_in(&texts, AnalysisKind::Acordar, query);
            assert_eq!(corrections.replaced, None, "{query}");
        }
    }
}
