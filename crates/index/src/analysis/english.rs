//! English words and their stems.

use super::words::{Words, lower};
use rustc_hash::FxHashSet;
use tantivy::tokenizer::{Language, RawTokenizer, Stemmer, TextAnalyzer, TokenStream};

/// Lucene's `ENGLISH_STOP_WORDS_SET`.
const STOP_WORDS: [&str; 33] = [
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it",
    "no", "not", "of", "on", "or", "such", "that", "the", "their", "then", "there", "these",
    "they", "this", "to", "was", "will", "with",
];

pub(super) struct English {
    stop_words: FxHashSet<&'static str>,
    stemmer: TextAnalyzer,
}

impl English {
    pub(super) fn new() -> Self {
        let stemmer = TextAnalyzer::builder(RawTokenizer::default())
            .filter(Stemmer::new(Language::English))
            .build();
        Self {
            stop_words: STOP_WORDS.into_iter().collect(),
            stemmer,
        }
    }

    /// Returns the lower-case words of a text and their stems.
    pub(super) fn words(&self, text: &str) -> impl Iterator<Item = (String, String)> {
        let mut stemmer = self.stemmer.clone();
        let words = Words::new(text).map(|word| without_possessive(lower(word)));
        let without_stop_words = words.filter(|word| !self.stop_words.contains(word.as_str()));
        without_stop_words.map(move |word| {
            let stem = stem_word(&mut stemmer, &word);
            (word, stem)
        })
    }
}

/// Removes a final 's from a word, with a typewriter or a typographic apostrophe.
fn without_possessive(mut word: String) -> String {
    if let Some(whose) = ["'s", "\u{2019}s", "\u{ff07}s"]
        .into_iter()
        .find(|ending| word.ends_with(ending))
    {
        word.truncate(word.len() - whose.len());
    }
    word
}

fn stem_word(stemmer: &mut TextAnalyzer, word: &str) -> String {
    let mut stream = stemmer.token_stream(word);
    match stream.next() {
        Some(token) => token.text.clone(),
        None => word.to_owned(),
    }
}
