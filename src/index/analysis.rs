//! Text to tokens, as ACORDAR does it with Lucene's `StandardAnalyzer`: words by UAX #29, lower case, NLTK's English stop
//! words left out, no stemming.

use rustc_hash::FxHashSet;
use unicode_segmentation::UnicodeSegmentation;

/// Lucene's `maxTokenLength`: a longer word is cut into pieces of this many characters.
const LONGEST_TOKEN: usize = 255;

/// NLTK's list of English stop words.
pub const STOP_WORDS: &[&str] = &[
    "i",
    "me",
    "my",
    "myself",
    "we",
    "our",
    "ours",
    "ourselves",
    "you",
    "you're",
    "you've",
    "you'll",
    "you'd",
    "your",
    "yours",
    "yourself",
    "yourselves",
    "he",
    "him",
    "his",
    "himself",
    "she",
    "she's",
    "her",
    "hers",
    "herself",
    "it",
    "it's",
    "its",
    "itself",
    "they",
    "them",
    "their",
    "theirs",
    "themselves",
    "what",
    "which",
    "who",
    "whom",
    "this",
    "that",
    "that'll",
    "these",
    "those",
    "am",
    "is",
    "are",
    "was",
    "were",
    "be",
    "been",
    "being",
    "have",
    "has",
    "had",
    "having",
    "do",
    "does",
    "did",
    "doing",
    "a",
    "an",
    "the",
    "and",
    "but",
    "if",
    "or",
    "because",
    "as",
    "until",
    "while",
    "of",
    "at",
    "by",
    "for",
    "with",
    "about",
    "against",
    "between",
    "into",
    "through",
    "during",
    "before",
    "after",
    "above",
    "below",
    "to",
    "from",
    "up",
    "down",
    "in",
    "out",
    "on",
    "off",
    "over",
    "under",
    "again",
    "further",
    "then",
    "once",
    "here",
    "there",
    "when",
    "where",
    "why",
    "how",
    "all",
    "any",
    "both",
    "each",
    "few",
    "more",
    "most",
    "other",
    "some",
    "such",
    "no",
    "nor",
    "not",
    "only",
    "own",
    "same",
    "so",
    "than",
    "too",
    "very",
    "s",
    "t",
    "can",
    "will",
    "just",
    "don",
    "don't",
    "should",
    "should've",
    "now",
    "d",
    "ll",
    "m",
    "o",
    "re",
    "ve",
    "y",
    "ain",
    "aren",
    "aren't",
    "couldn",
    "couldn't",
    "didn",
    "didn't",
    "doesn",
    "doesn't",
    "hadn",
    "hadn't",
    "hasn",
    "hasn't",
    "haven",
    "haven't",
    "isn",
    "isn't",
    "ma",
    "mightn",
    "mightn't",
    "mustn",
    "mustn't",
    "needn",
    "needn't",
    "shan",
    "shan't",
    "shouldn",
    "shouldn't",
    "wasn",
    "wasn't",
    "weren",
    "weren't",
    "won",
    "won't",
    "wouldn",
    "wouldn't",
];

/// The analysis of documents and queries alike.
///
/// ```
/// use lodeseek::index::Analysis;
/// let analysis = Analysis::default();
/// let tokens: Vec<String> = analysis.tokens("The Nitrogen reduction-plan in Maryland's bay").collect();
/// assert_eq!(tokens, ["nitrogen", "reduction", "plan", "maryland's", "bay"]);
/// ```
#[derive(Clone, Debug)]
pub struct Analysis {
    stop_words: FxHashSet<&'static str>,
}

impl Default for Analysis {
    fn default() -> Self {
        Self { stop_words: STOP_WORDS.iter().copied().collect() }
    }
}

impl Analysis {
    /// The tokens of a text.
    pub fn tokens<'t>(&'t self, text: &'t str) -> impl Iterator<Item = String> + 't {
        text.unicode_words()
            .map(str::to_lowercase)
            .filter(|word| !self.stop_words.contains(word.as_str()))
            .flat_map(pieces)
    }
}

fn pieces(word: String) -> Vec<String> {
    if word.len() <= LONGEST_TOKEN {
        return vec![word];
    }
    let characters: Vec<char> = word.chars().collect();
    characters.chunks(LONGEST_TOKEN).map(|piece| piece.iter().collect()).collect()
}
