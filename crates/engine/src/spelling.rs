//! What somebody may have meant by a word that hardly any dataset has: one of the index's own that is written nearly so.

use super::{Card, EngineError};
use lodeseek_index::document::Field;
use lodeseek_index::{AnalysisKind, AnalyzedQuery, SpellingCandidate, QueryTerm, Snapshot};

/// Datasets with a word at most, for it to be a typing error: one in a thousand, and one in few.
const RARE_IN: u64 = 1000;
/// How many times more frequent than a word that some datasets have another must be to be meant.
const MORE: u64 = 20;
/// How much more frequent a word of one more edit must be, as a logarithm.
const COST_OF_EDIT: f64 = 3.0;
/// Datasets with another word at least, where the rest of the query is known: a sentence has words that no dataset has.
const BESIDE_KNOWN: u64 = 2;
/// Letters of a word that may have one error, and of one that may have two: of shorter words nearly any other is near.
const LETTERS: usize = 4;
const MORE_LETTERS: usize = 6;
/// Letters at most: nobody means so long a word, and its automaton would be large.
const MOST_LETTERS: usize = 40;
/// Words of a query that are looked at.
const WORDS: usize = 12;
/// Candidates that are looked at, where stems have to be traced back to words.
const CANDIDATES: usize = 5;

/// The fields whose texts a card tells.
const TOLD: [Field; 4] = [Field::Title, Field::Description, Field::Author, Field::Tags];

/// The query with the words that were meant; `None` where it is spelled as the index spells.
pub(super) fn respelled(text: &str, query: &AnalyzedQuery, snapshot: &Snapshot) -> Result<Option<String>, EngineError> {
    let mut respelled: Option<String> = None;
    let terms = || query.distinct.iter().take(WORDS);
    let documents: Vec<u64> =
        terms().map(|term| snapshot.document_frequency(term, &Field::ALL)).collect::<Result<_, _>>()?;
    let least = if documents.iter().any(|documents| *documents > 0) { BESIDE_KNOWN } else { 1 };
    for (term, documents) in terms().zip(documents) {
        if let Some(meant) = meant(term, documents, least, snapshot)? {
            let old = respelled.as_deref().unwrap_or(text);
            respelled = Some(replaced(old, &term.text, &meant));
        }
    }
    Ok(respelled.filter(|respelled| respelled != text))
}

/// The word of the index that was meant by a rare one.
fn meant(term: &QueryTerm, documents: u64, least: u64, snapshot: &Snapshot) -> Result<Option<String>, EngineError> {
    let letters = term.text.chars().count();
    if !(LETTERS..=MOST_LETTERS).contains(&letters) || !term.text.chars().all(char::is_alphabetic) {
        return Ok(None);
    }
    if documents > 1 + snapshot.len() / RARE_IN {
        return Ok(None);
    }
    let stems = snapshot.analysis().kind() != AnalysisKind::Acordar;
    let fields: &[Field] = if stems { &TOLD } else { &Field::ALL };
    let edits = if letters < MORE_LETTERS { 1 } else { 2 };
    let mut near = snapshot.spelling_candidates(&term.text, edits, fields)?;
    near.retain(|near| near.documents >= least.max(MORE * documents) && is_likely(near, term));
    near.sort_by(|a, b| likelihood(b).total_cmp(&likelihood(a)).then_with(|| a.word.cmp(&b.word)));
    for near in near.into_iter().take(CANDIDATES) {
        let word = if stems { written(&near.word, snapshot)? } else { Some(near.word) };
        if word.is_some() {
            return Ok(word);
        }
    }
    Ok(None)
}

/// Two errors are hardly ever made in a word whose first letter is wrong too; another form of the word is no error.
fn is_likely(near: &SpellingCandidate, term: &QueryTerm) -> bool {
    let (own, other) = (term.text.chars().next(), near.word.chars().next());
    (near.edits == 1 || own == other) && !term.matches(&near.word) && near.word.chars().all(char::is_alphabetic)
}

fn likelihood(near: &SpellingCandidate) -> f64 {
    (near.documents as f64).ln_1p() - COST_OF_EDIT * f64::from(near.edits)
}

/// A word, as a dataset writes it, that has a stem.
fn written(stem: &str, snapshot: &Snapshot) -> Result<Option<String>, EngineError> {
    for field in TOLD {
        let Some(address) = snapshot.first_with_token(stem, field)? else { continue };
        let Some(card) = snapshot.card(&snapshot.id(address)?)? else { continue };
        let metadata = serde_json::from_slice::<Card>(&card)?.metadata;
        let texts = [&metadata.titles, &metadata.descriptions, &metadata.keywords].into_iter().flatten();
        let texts = texts.map(|text| text.value.as_str()).chain(metadata.agents().map(|agent| agent.name.as_str()));
        let mut words = texts.flat_map(|text| text.split(|c: char| !c.is_alphabetic()));
        let is_of_stem = |word: &&str| !word.is_empty() && snapshot.analysis().tokens(word).any(|token| token == stem);
        if let Some(word) = words.find(is_of_stem) {
            return Ok(Some(word.to_lowercase()));
        }
    }
    Ok(None)
}

/// The text with a word, in whatever case it stands there, replaced by another.
fn replaced(text: &str, word: &str, by: &str) -> String {
    let parts = text.split_inclusive(|c: char| !c.is_alphanumeric()).flat_map(|part| {
        let end = part.trim_end_matches(|c: char| !c.is_alphanumeric()).len();
        [&part[..end], &part[end..]]
    });
    parts.map(|part| if part.to_lowercase() == word { by } else { part }).collect()
}

#[cfg(test)]
mod tests {
    use super::super::Texts;
    use super::*;
    use lodeseek_catalog::DatasetId;

    fn meant_in(texts: &[&str], kind: AnalysisKind, query: &str) -> Option<String> {
        let texts = texts.iter().enumerate();
        let texts = texts.map(|(place, text)| (DatasetId::new(place.to_string()).expect("an id"), *text));
        let texts = Texts::new(texts, kind).expect("indexed");
        respelled(query, &AnalyzedQuery::new(query, texts.snapshot().analysis()), texts.snapshot()).expect("answered")
    }

    #[test]
    fn a_word_is_replaced_where_it_stands_as_a_word() {
        assert_eq!(
            replaced("Nitrogne, (nitrogne) nitrogness", "nitrogne", "nitrogen"),
            "nitrogen, (nitrogen) nitrogness"
        );
    }

    #[test]
    fn what_nobody_has_is_taken_for_the_most_frequent_that_is_near() {
        let texts = ["water quality", "water samples", "waiter jobs", "nitrogen in water", "boreholes"];
        let meant = |query| meant_in(&texts, AnalysisKind::Acordar, query);
        assert_eq!(meant("Watre quality").as_deref(), Some("water quality"), "two neighbours changed places");
        assert_eq!(meant("nitorgenn").as_deref(), Some("nitrogen"));
        assert_eq!(meant("waiterr").as_deref(), Some("waiter"), "one edit comes before two");
        assert_eq!(meant("water boreholes"), None, "these words are known");
        assert_eq!(meant("waitr waters").as_deref(), Some("waiter water"));
        assert_eq!(meant("water nitrogne"), None, "one dataset is too few beside a word that is known");
        assert_eq!(meant("wtr bo 2020"), None, "too short, and no words");
        assert_eq!(meant("xitrogeen"), None, "two errors, and one of them in the first letter");
    }

    #[test]
    fn a_word_that_a_dataset_has_is_an_error_only_beside_a_frequent_one() {
        let mut texts = vec!["lakes"; 19];
        texts.push("lakse");
        assert_eq!(meant_in(&texts, AnalysisKind::Acordar, "lakse"), None);
        texts.push("lakes");
        assert_eq!(meant_in(&texts, AnalysisKind::Acordar, "lakse").as_deref(), Some("lakes"));
    }
}
