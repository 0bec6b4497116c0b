//! Text analysis: from text to tokens.
//!
//! [`AnalysisKind::Acordar`] and [`AnalysisKind::English`] are comparable with published results.
//! [`AnalysisKind::Multilingual`] is for interactive search. Documents and queries require the same analysis; the index
//! records it.

mod english;
mod inflections;
mod term_finder;
mod language;
mod multilingual;
mod normalization;
mod stop_words;
mod translations;
mod word_use;
mod words;

pub use normalization::{compose, fold_text};
pub use stop_words::STOP_WORDS;
pub use term_finder::TermFinder;
pub use translations::{Translation, Translations, TranslationsBuilder};

use english::English;
use inflections::add_inflections;
pub(super) use language::LANGUAGES;
use multilingual::Multilingual;
use normalization::normalize;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use tantivy::tokenizer::{TextAnalyzer, TokenStream};
pub(super) use translations::Vocabulary;
pub(super) use word_use::WordUse;
use word_use::remove_misleading_stems;
use words::Words;

/// Kind of analysis.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AnalysisKind {
    /// ACORDAR's use of Lucene's `StandardAnalyzer`: words by UAX #29, lower case, without NLTK's English stop words,
    /// no stemming. The published results use it.
    #[default]
    Acordar,
    /// Anserini's use of Lucene's `EnglishAnalyzer`: words by UAX #29 without a possessive 's, lower case, without
    /// Lucene's English stop words, stemmed. The stemmer is Snowball's English one, Porter's own revision of the
    /// stemmer in Lucene.
    English,
    /// Words stemmed, and stop words removed, by the language of the text.
    Multilingual,
}

impl AnalysisKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Acordar, Self::English, Self::Multilingual];

    /// Returns the name in lower case.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Acordar => "acordar",
            Self::English => "english",
            Self::Multilingual => "multilingual",
        }
    }

    /// Returns the revision of the analysis. It changes with the tokens of documents, so that old documents are indexed
    /// again. The first revision is empty.
    pub(super) fn revision(self) -> &'static str {
        match self {
            Self::Acordar | Self::English => "",
            Self::Multilingual => " 2",
        }
    }
}

impl fmt::Display for AnalysisKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Error for an unknown analysis name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("unknown analysis {0:?}; supported: acordar, english, multilingual")]
pub struct UnknownAnalysis(String);

impl FromStr for AnalysisKind {
    type Err = UnknownAnalysis;

    fn from_str(name: &str) -> Result<Self, UnknownAnalysis> {
        let kind = Self::ALL.into_iter().find(|kind| kind.name() == name);
        kind.ok_or_else(|| UnknownAnalysis(name.to_owned()))
    }
}

/// Query word with its tokens in documents. The tokens are synonyms: any of them is an occurrence of the word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryTerm {
    /// Word as typed, in lower case.
    pub text: String,
    /// Distinct tokens.
    pub alternatives: Vec<String>,
}

impl QueryTerm {
    /// Returns true if a document token is an occurrence of the word.
    #[must_use]
    pub fn matches(&self, token: &str) -> bool {
        self.alternatives
            .iter()
            .any(|alternative| alternative == token)
    }

    /// Returns true if two words have the same tokens.
    #[must_use]
    pub fn is_equivalent(&self, other: &Self) -> bool {
        self.alternatives.len() == other.alternatives.len()
            && self.alternatives.iter().all(|token| other.matches(token))
    }

    /// Returns the word in quotation marks, with its tokens if there are several.
    #[must_use]
    pub fn quote(&self) -> String {
        match self.alternatives.as_slice() {
            [_, _, ..] => format!("“{}” (as {})", self.text, self.alternatives.join(", ")),
            _ => format!("“{}”", self.text),
        }
    }
}

impl From<String> for QueryTerm {
    /// Creates a word that is its own only token.
    fn from(word: String) -> Self {
        Self {
            text: word.clone(),
            alternatives: vec![word],
        }
    }
}

impl From<&str> for QueryTerm {
    fn from(word: &str) -> Self {
        word.to_owned().into()
    }
}

/// Word of a document's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnalyzedWord {
    /// Word as [`fold_text`] returns it.
    pub text: String,
    /// Token in the index. `None`: a stop word.
    pub token: Option<String>,
}

/// Word of a query that keeps its stop words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueriedWord {
    /// Word as [`fold_text`] returns it.
    pub text: String,
    /// Tokens in documents; none of a stop word.
    pub tokens: Vec<String>,
}

impl QueriedWord {
    /// Returns true if a word of a document is an occurrence.
    #[must_use]
    pub fn matches(&self, word: &AnalyzedWord) -> bool {
        self.text == word.text
            || word
                .token
                .as_ref()
                .is_some_and(|token| self.tokens.contains(token))
    }
}

/// Analysis of documents and queries.
///
/// ```
/// use lodeseek_index::{Analysis, AnalysisKind};
/// let analysis = Analysis::default();
/// let tokens: Vec<String> = analysis.tokens("The Nitrogen reduction-plan in Maryland's bay").collect();
/// assert_eq!(tokens, ["nitrogen", "reduction", "plan", "maryland's", "bay"]);
/// let analysis = Analysis::new(AnalysisKind::Multilingual);
/// let tokens: Vec<String> = analysis.tokens("Le stazioni delle metropolitane italiane").collect();
/// assert_eq!(tokens, ["stazion", "metropolitan", "italian"]);
/// ```
#[derive(Clone)]
pub struct Analysis {
    pipeline: Pipeline,
    translations: Option<Arc<Translations>>,
    /// Words of the index. `None` in an analysis without an index.
    vocabulary: Option<Arc<dyn Vocabulary>>,
}

#[derive(Clone)]
enum Pipeline {
    Acordar(Arc<FxHashSet<&'static str>>),
    English(Arc<English>),
    Multilingual(Arc<Multilingual>),
}

impl Default for Analysis {
    fn default() -> Self {
        Self::new(AnalysisKind::default())
    }
}

impl fmt::Debug for Analysis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Analysis").field(&self.kind()).finish()
    }
}

impl Analysis {
    /// Creates an analysis. Clone it instead of creating one for every text.
    #[must_use]
    pub fn new(kind: AnalysisKind) -> Self {
        let pipeline = match kind {
            AnalysisKind::Acordar => {
                Pipeline::Acordar(Arc::new(STOP_WORDS.iter().copied().collect()))
            }
            AnalysisKind::English => Pipeline::English(Arc::new(English::new())),
            AnalysisKind::Multilingual => Pipeline::Multilingual(Arc::new(Multilingual::new())),
        };
        Self {
            pipeline,
            translations: None,
            vocabulary: None,
        }
    }

    /// Sets the dictionary that translates the words of queries. Only [`AnalysisKind::Multilingual`] uses it.
    #[must_use]
    pub fn with_translations(self, translations: Option<Arc<Translations>>) -> Self {
        Self {
            translations,
            ..self
        }
    }

    /// Sets the words of the index: compounds among them are searched for as typed.
    pub(super) fn with_vocabulary(self, vocabulary: Arc<dyn Vocabulary>) -> Self {
        Self {
            vocabulary: Some(vocabulary),
            ..self
        }
    }

    /// Returns the analysis with queries as typed.
    #[must_use]
    pub fn without_translations(&self) -> Self {
        self.clone().with_translations(None)
    }

    /// Returns the kind.
    #[must_use]
    pub fn kind(&self) -> AnalysisKind {
        match self.pipeline {
            Pipeline::Acordar(_) => AnalysisKind::Acordar,
            Pipeline::English(_) => AnalysisKind::English,
            Pipeline::Multilingual(_) => AnalysisKind::Multilingual,
        }
    }

    /// Returns the BCP 47 tag of a text's language. `None` if it is uncertain, or the analysis does not depend on languages.
    #[must_use]
    pub fn detected_language(&self, text: &str) -> Option<&'static str> {
        match &self.pipeline {
            Pipeline::Multilingual(multilingual) => multilingual.detect_code(text),
            Pipeline::Acordar(_) | Pipeline::English(_) => None,
        }
    }

    /// Returns the BCP 47 tag of the language of a query, which its letters or its function words show. `None` if neither does, or
    /// the analysis does not depend on languages.
    #[must_use]
    pub fn query_language(&self, text: &str) -> Option<&'static str> {
        match &self.pipeline {
            Pipeline::Multilingual(multilingual) => multilingual.query_code(text),
            Pipeline::Acordar(_) | Pipeline::English(_) => None,
        }
    }

    /// Returns true if most datasets with a word as written are in a language, by its BCP 47 tag. `None` if that is unknown.
    pub(super) fn is_word_of(&self, word: &str, language: &str) -> Option<bool> {
        let vocabulary = self.vocabulary.as_ref()?;
        vocabulary.word_use(word).is_of_language(language)
    }

    /// Returns the tokens of a document text.
    pub fn tokens<'t>(&'t self, text: &'t str) -> impl Iterator<Item = String> + 't {
        match &self.pipeline {
            Pipeline::Acordar(stop_words) => Tokens::Acordar(Words::new(text), stop_words),
            Pipeline::English(english) => Tokens::Made(
                english
                    .words(text)
                    .map(|(_, token)| token)
                    .collect::<Vec<_>>()
                    .into_iter(),
            ),
            Pipeline::Multilingual(multilingual) => {
                Tokens::Made(multilingual.tokens(text).into_iter())
            }
        }
    }

    /// Returns a function from a word of a text to its tokens in the index. The language is that of the whole text.
    ///
    /// ```
    /// use lodeseek_index::{Analysis, AnalysisKind};
    /// let analysis = Analysis::new(AnalysisKind::Multilingual);
    /// let tokens = analysis.word_tokens("Ofertas de los alojamientos turísticos de Euskadi");
    /// assert_eq!(tokens("alojamientos"), ["aloj"]);
    /// ```
    pub fn word_tokens<'a>(&'a self, text: &str) -> impl Fn(&str) -> Vec<String> + use<'a> {
        let chain = match &self.pipeline {
            Pipeline::Multilingual(multilingual) => Some(RefCell::new(multilingual.chain_of(text))),
            _ => None,
        };
        move |word| match &chain {
            Some(chain) => multilingual::tokens_by(&mut chain.borrow_mut(), word),
            None => self.tokens(word).collect(),
        }
    }

    /// Returns the words of a query in their order, with their tokens.
    ///
    /// ```
    /// use lodeseek_index::{Analysis, AnalysisKind};
    /// let words = Analysis::new(AnalysisKind::Multilingual).query_words("the alojamientos");
    /// assert_eq!(words.len(), 1);
    /// assert_eq!(words[0].text, "alojamientos");
    /// assert!(words[0].matches("aloj"), "{:?}", words[0].alternatives);
    /// ```
    #[must_use]
    pub fn query_words(&self, text: &str) -> Vec<QueryTerm> {
        self.translated_words(text).0
    }

    /// Returns the words of a query in their order, with the tokens of their translations, and the translation if a word
    /// was translated.
    #[must_use]
    pub fn translated_words(&self, text: &str) -> (Vec<QueryTerm>, Option<Translation>) {
        let (mut words, translation) = self.typed_and_translated_words(text);
        if let (Pipeline::Multilingual(multilingual), Some(vocabulary)) =
            (&self.pipeline, &self.vocabulary)
        {
            let language = multilingual.query_code(text);
            let is_translated = translation.is_some();
            remove_misleading_stems(
                &mut words,
                language,
                is_translated,
                multilingual,
                vocabulary.as_ref(),
            );
            add_inflections(&mut words, language, multilingual, vocabulary.as_ref());
        }
        (words, translation)
    }

    /// Returns the words of a query without the other number of each word.
    fn typed_and_translated_words(&self, text: &str) -> (Vec<QueryTerm>, Option<Translation>) {
        let words = match &self.pipeline {
            Pipeline::Acordar(_) => self.tokens(text).map(QueryTerm::from).collect(),
            Pipeline::English(english) => english
                .words(text)
                .map(|(text, token)| QueryTerm {
                    text,
                    alternatives: vec![token],
                })
                .collect(),
            Pipeline::Multilingual(multilingual) => {
                let translations = self.translations.as_ref();
                match translations.and_then(|translations| {
                    translations.translate(text, multilingual, self.vocabulary.as_deref())
                }) {
                    Some((words, translation)) => return (words, Some(translation)),
                    None => multilingual.query_words(text),
                }
            }
        };
        (words, None)
    }

    /// Returns the words of a document's text in their order, stop words included.
    ///
    /// ```
    /// use lodeseek_index::{Analysis, AnalysisKind};
    /// let words = Analysis::new(AnalysisKind::Multilingual).words("The cities");
    /// assert_eq!((words[0].text.as_str(), words[0].token.as_deref()), ("the", None));
    /// assert_eq!((words[1].text.as_str(), words[1].token.as_deref()), ("cities", Some("citi")));
    /// ```
    #[must_use]
    pub fn words(&self, text: &str) -> Vec<AnalyzedWord> {
        match &self.pipeline {
            Pipeline::Multilingual(multilingual) => multilingual.analyze_words(text),
            _ => self
                .tokens(text)
                .map(|token| AnalyzedWord {
                    text: fold_text(&token),
                    token: Some(token),
                })
                .collect(),
        }
    }

    /// Returns the words of a query in their order, stop words included, to be compared with [`words`](Self::words).
    #[must_use]
    pub fn queried_words(&self, text: &str) -> Vec<QueriedWord> {
        match &self.pipeline {
            Pipeline::Multilingual(multilingual) => multilingual.queried_words(text),
            _ => self
                .tokens(text)
                .map(|token| QueriedWord {
                    text: fold_text(&token),
                    tokens: vec![token],
                })
                .collect(),
        }
    }

    /// Returns the token sequences that a phrase may have in documents, one for each distinct analysis of it.
    ///
    /// ```
    /// use lodeseek_index::{Analysis, AnalysisKind};
    /// let forms = Analysis::new(AnalysisKind::Multilingual).phrase_forms("qualité de l'air");
    /// assert!(forms.contains(&vec!["qualit".to_owned(), "air".to_owned()]), "{forms:?}");
    /// ```
    #[must_use]
    pub fn phrase_forms(&self, text: &str) -> Vec<Vec<String>> {
        let forms = match &self.pipeline {
            Pipeline::Multilingual(multilingual) => multilingual.tokens_by_language(text),
            _ => vec![self.tokens(text).collect()],
        };
        let mut distinct: Vec<Vec<String>> = Vec::new();
        for form in forms {
            if !form.is_empty() && !distinct.contains(&form) {
                distinct.push(form);
            }
        }
        distinct
    }
}

/// Writer of the tokens of many texts. It keeps an analyser of each language that occurs.
pub(super) struct TokenWriter<'a> {
    analysis: &'a Analysis,
    /// Analysers by the place of their language.
    chains: FxHashMap<usize, TextAnalyzer>,
}

impl<'a> TokenWriter<'a> {
    pub(super) fn new(analysis: &'a Analysis) -> Self {
        Self {
            analysis,
            chains: FxHashMap::default(),
        }
    }

    /// Appends the [tokens](Analysis::tokens) of a text, each followed by a space, and returns their number. Empty tokens would have
    /// no position in the index and are left out.
    pub(super) fn append(&mut self, text: &str, out: &mut String) -> u64 {
        let mut count = 0;
        if let Pipeline::Multilingual(multilingual) = &self.analysis.pipeline {
            let text = normalize(text);
            let language = multilingual.language_of_normalized_text(&text);
            let chain = self
                .chains
                .entry(language)
                .or_insert_with(|| multilingual.chain(language));
            chain
                .token_stream(&text)
                .process(&mut |token| count += push_token(&token.text, out));
        } else {
            for token in self.analysis.tokens(text) {
                count += push_token(&token, out);
            }
        }
        count
    }
}

/// Appends a token and a space, and returns the number of tokens: 0 for an empty one.
fn push_token(token: &str, out: &mut String) -> u64 {
    if token.is_empty() {
        return 0;
    }
    out.push_str(token);
    out.push(' ');
    1
}

/// Returns the words of a text as written, in lower case, local names split.
pub(super) fn whole_words(text: &str) -> Vec<String> {
    Multilingual::whole_words(text)
}

enum Tokens<'t> {
    Acordar(Words<'t>, &'t FxHashSet<&'static str>),
    Made(std::vec::IntoIter<String>),
}

impl Iterator for Tokens<'_> {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        match self {
            Self::Acordar(words, stop_words) => words
                .map(words::lower)
                .find(|word| !stop_words.contains(word.as_str())),
            Self::Made(tokens) => tokens.next(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_one_name_everywhere() {
        for kind in AnalysisKind::ALL {
            assert_eq!(kind.to_string().parse(), Ok(kind));
            assert_eq!(
                serde_json::to_string(&kind).expect("JSON"),
                format!("\"{kind}\"")
            );
            assert_eq!(Analysis::new(kind).kind(), kind);
        }
        assert!("Acordar".parse::<AnalysisKind>().is_err());
        assert_eq!(Analysis::default().kind(), AnalysisKind::Acordar);
    }

    #[test]
    fn acordar_leaves_out_stop_words_and_nothing_else() {
        let analysis = Analysis::default();
        let text = "Don't you THINK the hasPhoneNumber of Müller’s café isn't 3.14?";
        let expected = ["think", "hasphonenumber", "müller’s", "café", "3.14"];
        assert_eq!(analysis.tokens(text).collect::<Vec<_>>(), expected);
        assert_eq!(analysis.query_words(text), expected.map(QueryTerm::from));
    }

    #[test]
    fn english_words_lose_their_endings() {
        let analysis = Analysis::new(AnalysisKind::English);
        let text = "The networks’ models for NETWORKING, and such: Wordnet's relations";
        let expected = ["network", "model", "network", "wordnet", "relat"];
        assert_eq!(analysis.tokens(text).collect::<Vec<_>>(), expected);
        let query = analysis.query_words("Learning the Relations");
        assert_eq!(
            query
                .iter()
                .map(|term| term.text.as_str())
                .collect::<Vec<_>>(),
            ["learning", "relations"]
        );
        assert!(query[1].matches("relat") && query[0].matches("learn"));
    }

    #[test]
    fn written_tokens_are_those_of_each_text() {
        let texts = [
            "Ofertas de los alojamientos turísticos de Euskadi",
            "The cities",
            "",
            "hasPhoneNumber",
            "Die Liste der Bibliotheken in der Stadt und auf dem Land",
            "CO\u{2082} l'eau",
        ];
        for kind in AnalysisKind::ALL {
            let analysis = Analysis::new(kind);
            let mut writer = TokenWriter::new(&analysis);
            for text in texts.into_iter().chain(texts) {
                let mut written = String::new();
                let count = writer.append(text, &mut written);
                let tokens: Vec<String> = analysis.tokens(text).collect();
                assert_eq!(written.split_terminator(' ').collect::<Vec<_>>(), tokens);
                assert_eq!(count, tokens.len() as u64);
            }
        }
    }

    #[test]
    fn an_analysis_can_be_shared() {
        fn shared<T: Clone + Send + Sync + fmt::Debug>(_: &T) {}
        shared(&Analysis::new(AnalysisKind::Multilingual));
    }
}
