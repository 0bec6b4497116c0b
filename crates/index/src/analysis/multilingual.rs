//! Multilingual analysis: words stemmed, and stop words removed, by the language of their text.
//!
//! A text is analysed in its detected language, else as English (see `language`). The steps are Unicode normalization
//! (see `normalization`), lower case, stop words of the language, its Snowball stemmer, and removal of accents, so that
//! `Málaga` and `Malaga` match. Accents are removed last because the stemmers require them. RDF requires two more rules:
//!
//! * **Local names are split.** The label of an entity without a label is the last part of its IRI. `air_quality` gives
//!   `air` and `quality`. `hasPhoneNumber` gives `phone`, `number` and the whole name, so that `openstreetmap` still
//!   matches `OpenStreetMap`. In UAX #29 either is one word.
//! * **Elided articles are removed** (`l'eau`, `dell'acqua`) in texts of any language. Labels of two words are usually
//!   too short for language detection.
//!
//! # Queries
//!
//! Queries of two or three words are too short for language detection, and their matches are in several languages. A
//! query word therefore has its stems in *all* languages as synonyms. An occurrence of any stem is an occurrence of the
//! word, and the document frequency is that of all of them together. A word thus matches the same word in a text of any
//! detected language, right or wrong. It matches other forms where the stemmer of the text's language does. Most words
//! have one to three stems, of which a text in one language usually contains one.
//!
//! Words without meaning are removed: the stop words of English, and those of the query's language. Detection fails on most
//! queries, so that the articles, prepositions and conjunctions of a query decide, too (`accidentes de tráfico`). A query of
//! stop words only (`WHO`, `to be or not to be`) finds the names that contain it.
//!
//! A local name that is split in documents is also split in queries. Its parts are consecutive words, not synonyms.

use super::language::{ENGLISH, LANGUAGES, LanguageDetector};
use super::normalization::{fold_text, normalize};
use super::stop_words::STOP_WORDS;
use super::words::{Words, lower_into};
use super::{AnalyzedWord, QueriedWord, QueryTerm};
use tantivy::tokenizer::{
    AsciiFoldingFilter, Language, Stemmer, StopWordFilter, TextAnalyzer, Token, TokenStream,
    Tokenizer,
};

/// Words elided before a vowel in French, Italian and Catalan: articles, pronouns, prepositions with article.
const ELIDED: &[&str] = &[
    "l", "d", "j", "m", "t", "s", "n", "c", "qu", "un", "all", "dall", "dell", "nell", "sull",
    "coll", "quell", "quest", "sant", "gl", "jusqu", "lorsqu", "puisqu", "quoiqu",
];

pub(super) struct Multilingual {
    languages: LanguageDetector,
    /// Analysers by index in [`LANGUAGES`].
    chains: Vec<TextAnalyzer>,
}

impl Multilingual {
    pub(super) fn new() -> Self {
        let chains = LANGUAGES
            .iter()
            .map(|(language, ..)| build_chain(*language))
            .collect();
        Self {
            languages: LanguageDetector::new(),
            chains,
        }
    }

    /// Returns the tokens of a document's text. They depend only on the text, so that highlighting matches the index.
    pub(super) fn tokens(&self, text: &str) -> Vec<String> {
        tokens_by(&mut self.chain_of(text), text)
    }

    /// Returns an analyser of the language of a text.
    pub(super) fn chain_of(&self, text: &str) -> TextAnalyzer {
        self.chain(self.language(text))
    }

    /// Returns an analyser of a language, by its index in [`LANGUAGES`].
    pub(super) fn chain(&self, language: usize) -> TextAnalyzer {
        self.chains[language].clone()
    }

    /// Returns the index in [`LANGUAGES`] of the language in which a text is analysed.
    fn language(&self, text: &str) -> usize {
        self.language_of_normalized_text(&normalize(text))
    }

    /// Returns the same for a text that is [normalized](normalize).
    pub(super) fn language_of_normalized_text(&self, text: &str) -> usize {
        self.languages.detect(text).unwrap_or(ENGLISH)
    }

    /// Returns the index in [`LANGUAGES`] of the language whose stop words a query may contain, besides those of English.
    fn query_language(&self, text: &str) -> usize {
        self.known_query_language(text).unwrap_or(ENGLISH)
    }

    /// Returns the BCP 47 tag of the language of a query. `None` if neither its letters nor its function words show it.
    pub(super) fn query_code(&self, text: &str) -> Option<&'static str> {
        self.known_query_language(text)
            .map(|place| LANGUAGES[place].2)
    }

    fn known_query_language(&self, text: &str) -> Option<usize> {
        let text = &*normalize(text);
        if let Some(language) = self.languages.detect(text) {
            return Some(language);
        }
        let words = Self::whole_words(text);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let foreign: Vec<&str> = words
            .iter()
            .copied()
            .filter(|word| !STOP_WORDS.contains(word))
            .collect();
        self.languages
            .detect_by_function_words(&words.join(" "), &foreign)
    }

    /// Returns the distinct tokens of a word by the analysis of some languages.
    pub(super) fn tokens_in(&self, word: &str, codes: [&str; 2]) -> Vec<String> {
        let mut tokens: Vec<String> = Vec::new();
        for place in codes.into_iter().filter_map(place_of) {
            for token in tokens_by(&mut self.chains[place].clone(), word) {
                if !tokens.contains(&token) {
                    tokens.push(token);
                }
            }
        }
        tokens
    }

    /// Returns a query's words with their stems in every language, without common words.
    pub(super) fn query_words(&self, text: &str) -> Vec<QueryTerm> {
        self.terms_by_word(text, None)
            .into_iter()
            .flatten()
            .collect()
    }

    /// Returns for each word of a query its stems in every language. `None`: a stop word of English or of the query's
    /// language, which is detected unless it is known. Stop words of all languages are not removed: `war` is one in
    /// German.
    pub(super) fn terms_by_word(
        &self,
        text: &str,
        language: Option<&str>,
    ) -> Vec<Option<QueryTerm>> {
        let own = language
            .and_then(place_of)
            .unwrap_or_else(|| self.query_language(text));
        self.terms(text, 0..LANGUAGES.len(), [ENGLISH, own])
    }

    /// Returns a text's words with their stems in some languages, without stop words of the first one.
    pub(super) fn terms_in<'c>(
        &self,
        text: &str,
        languages: impl Iterator<Item = &'c str>,
    ) -> Vec<QueryTerm> {
        let places: Vec<usize> = languages.filter_map(place_of).collect();
        match places.as_slice() {
            [] => self.query_words(text),
            [first, ..] => self
                .terms(text, places.iter().copied(), [*first; 2])
                .into_iter()
                .flatten()
                .collect(),
        }
    }

    /// Returns for each word of a text its stems in some languages. `None`: a stop word of one of two languages.
    fn terms(
        &self,
        text: &str,
        languages: impl Iterator<Item = usize>,
        without_stop_words_of: [usize; 2],
    ) -> Vec<Option<QueryTerm>> {
        let text = &*normalize(text);
        let words = Self::whole_words(text).into_iter();
        let mut terms: Vec<QueryTerm> = words
            .map(|text| QueryTerm {
                text,
                alternatives: Vec::new(),
            })
            .collect();
        let mut kept_in = vec![0; terms.len()];
        for language in languages {
            let mut chain = self.chains[language].clone();
            // Removed words leave gaps: positions are indexes into `terms` in every language.
            chain.token_stream(text).process(&mut |token| {
                let stems = &mut terms[token.position].alternatives;
                if !stems.contains(&token.text) {
                    stems.push(token.text.clone());
                }
                for other in without_stop_words_of {
                    kept_in[token.position] += u32::from(language == other);
                }
            });
        }
        terms
            .into_iter()
            .zip(kept_in)
            // Both languages must keep the word. The same language, given twice, counts twice.
            .map(|(term, kept)| (kept == 2).then_some(term))
            .collect()
    }

    /// Returns the unprocessed words, from which the analysers of all languages make their tokens.
    pub(super) fn whole_words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        LabelWords
            .token_stream(&normalize(text))
            .process(&mut |token| words.push(token.text.clone()));
        words
    }

    /// Returns the words of a text in their order, with their tokens in the language of the text.
    pub(super) fn analyze_words(&self, text: &str) -> Vec<AnalyzedWord> {
        let text = &*normalize(text);
        let mut words = Vec::new();
        let mut folding = TextAnalyzer::builder(LabelWords)
            .filter(AsciiFoldingFilter)
            .build();
        folding.token_stream(text).process(&mut |token| {
            words.push(AnalyzedWord {
                text: token.text.clone(),
                token: None,
            });
        });
        self.chain_of(text)
            .token_stream(text)
            .process(&mut |token| {
                if let Some(word) = words.get_mut(token.position) {
                    word.token = Some(token.text.clone());
                }
            });
        words
    }

    /// Returns the words of a query in their order, with their stems in every language.
    pub(super) fn queried_words(&self, text: &str) -> Vec<QueriedWord> {
        let words = Self::whole_words(text).into_iter();
        let mut queried = Vec::new();
        for (word, term) in words.zip(self.terms_by_word(text, None)) {
            let tokens = term.map(|term| term.alternatives).unwrap_or_default();
            queried.push(QueriedWord {
                text: fold_text(&word),
                tokens,
            });
        }
        queried
    }

    /// Returns the BCP 47 tag of a text's language. `None` if it is uncertain.
    pub(super) fn detect_code(&self, text: &str) -> Option<&'static str> {
        self.languages
            .detect(&normalize(text))
            .map(|place| LANGUAGES[place].2)
    }

    /// Returns the tokens of a text by the analysis of each language.
    pub(super) fn tokens_by_language(&self, text: &str) -> Vec<Vec<String>> {
        self.chains
            .iter()
            .map(|chain| tokens_by(&mut chain.clone(), text))
            .collect()
    }
}

/// Returns the tokens of a text by an analyser.
pub(super) fn tokens_by(chain: &mut TextAnalyzer, text: &str) -> Vec<String> {
    let text = normalize(text);
    let mut stream = chain.token_stream(&text);
    let mut tokens = Vec::new();
    while stream.advance() {
        tokens.push(std::mem::take(&mut stream.token_mut().text));
    }
    tokens
}

/// Returns the index in [`LANGUAGES`] of a BCP 47 tag.
pub(super) fn place_of(code: &str) -> Option<usize> {
    LANGUAGES.iter().position(|(.., other)| *other == code)
}

/// Returns an analyser that stems the words of a language, without its stop words, and keeps accents. Words of a
/// language without stemmer remain whole.
pub(super) fn stemmer(code: &str) -> TextAnalyzer {
    let mut builder = TextAnalyzer::builder(LabelWords).dynamic();
    if let Some(place) = place_of(code) {
        let language = LANGUAGES[place].0;
        if let Some(stop_words) = stop_words(language) {
            builder = builder.filter_dynamic(stop_words);
        }
        builder = builder.filter_dynamic(Stemmer::new(language));
    }
    builder.build()
}

fn build_chain(language: Language) -> TextAnalyzer {
    let mut builder = TextAnalyzer::builder(LabelWords).dynamic();
    if let Some(stop_words) = stop_words(language) {
        builder = builder.filter_dynamic(stop_words);
    }
    builder
        .filter_dynamic(Stemmer::new(language))
        .filter_dynamic(AsciiFoldingFilter)
        .build()
}

/// Returns NLTK's list for English, as in the other analyses. For other languages returns tantivy's list, if any.
fn stop_words(language: Language) -> Option<StopWordFilter> {
    match language {
        Language::English => Some(StopWordFilter::remove(
            STOP_WORDS.iter().map(|&word| word.to_owned()),
        )),
        other => StopWordFilter::new(other),
    }
}

/// Tokenizer: lower-case words, local names split, elided articles removed.
#[derive(Clone)]
struct LabelWords;

struct LabelStream<'t> {
    words: Words<'t>,
    /// Remaining parts of a split word, the next one last.
    waiting: Vec<&'t str>,
    token: Token,
}

impl Tokenizer for LabelWords {
    type TokenStream<'t> = LabelStream<'t>;

    fn token_stream<'t>(&'t mut self, text: &'t str) -> LabelStream<'t> {
        LabelStream {
            words: Words::new(text),
            waiting: Vec::new(),
            token: Token::default(),
        }
    }
}

impl<'t> LabelStream<'t> {
    fn part(&mut self) -> Option<&'t str> {
        if let Some(part) = self.waiting.pop() {
            return Some(part);
        }
        let word = without_elision(self.words.next()?);
        if !is_compound(word) {
            return Some(word);
        }
        if !word.contains('_') {
            self.waiting.push(word);
        }
        let whole = self.waiting.len();
        split_compound(word, &mut self.waiting);
        self.waiting[whole..].reverse();
        self.waiting.pop()
    }
}

impl TokenStream for LabelStream<'_> {
    fn advance(&mut self) -> bool {
        let Some(part) = self.part() else {
            return false;
        };
        self.token.text.clear();
        lower_into(part, &mut self.token.text);
        if self.token.text.contains('’') {
            self.token.text = self.token.text.replace('’', "'"); // the stemmers know the plain apostrophe
        }
        // tantivy's default position is `usize::MAX`: the first token gets 0.
        self.token.position = self.token.position.wrapping_add(1);
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}

fn without_elision(word: &str) -> &str {
    let Some((before, after)) = word.split_once(['\'', '’']) else {
        return word;
    };
    let elided = after.chars().nth(1).is_some()
        && ELIDED
            .iter()
            .any(|prefix| prefix.eq_ignore_ascii_case(before));
    if elided { after } else { word }
}

/// Returns true if a word is a compound: with underscores, or with lower-case letters and capitals inside.
fn is_compound(word: &str) -> bool {
    word.contains('_')
        || word
            .chars()
            .skip(1)
            .any(|character| character.is_uppercase())
            && word.chars().any(char::is_lowercase)
}

fn split_compound<'t>(word: &'t str, parts: &mut Vec<&'t str>) {
    for name in word.split('_').filter(|name| !name.is_empty()) {
        let mut start = 0;
        let mut before: Option<char> = None;
        let mut characters = name.char_indices().peekable();
        while let Some((at, character)) = characters.next() {
            let before_small = characters
                .peek()
                .is_some_and(|(_, next)| next.is_lowercase());
            let begins = character.is_uppercase()
                && before.is_some_and(|before| !before.is_uppercase() || before_small);
            if begins {
                parts.push(&name[start..at]);
                start = at;
            }
            before = Some(character);
        }
        parts.push(&name[start..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(word: &str) -> Vec<&str> {
        let mut parts = Vec::new();
        split_compound(word, &mut parts);
        parts
    }

    fn matches(analysis: &Multilingual, query: &str, text: &str) -> bool {
        let tokens = analysis.tokens(text);
        analysis
            .query_words(query)
            .iter()
            .any(|word| tokens.iter().any(|token| word.matches(token)))
    }

    #[test]
    fn names_are_split() {
        assert_eq!(parts("hasPhoneNumber"), ["has", "Phone", "Number"]);
        assert_eq!(parts("air_quality__index_"), ["air", "quality", "index"]);
        assert_eq!(parts("RDFSchema2Term"), ["RDF", "Schema2", "Term"]);
        assert_eq!(parts("straßenÄnderung"), ["straßen", "Änderung"]);
        for simple in ["NASA", "Paris", "co2", "CO2", "ÖBB", "PM10"] {
            assert!(!is_compound(simple), "{simple}");
        }
    }

    #[test]
    fn a_split_name_is_found_by_its_parts_and_as_a_whole() {
        let analysis = Multilingual::new();
        for query in ["phone", "phone numbers", "hasPhoneNumber", "hasphonenumber"] {
            assert!(matches(&analysis, query, "hasPhoneNumber"), "{query}");
        }
        assert!(
            matches(&analysis, "air", "air_quality")
                && matches(&analysis, "air_quality", "quality of air")
        );
        assert_eq!(
            analysis.tokens("hasPhoneNumber"),
            ["phone", "number", "hasphonenumb"]
        );
    }

    #[test]
    fn a_query_is_its_words_in_their_order() {
        let analysis = Multilingual::new();
        let texts = |query: &str| {
            analysis
                .query_words(query)
                .into_iter()
                .map(|word| word.text)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            texts("Cities of the hasPhoneNumber"),
            ["cities", "phone", "number", "hasphonenumber"]
        );
        assert_eq!(texts("air_quality Air"), ["air", "quality", "air"]);
        assert_eq!(texts("Maryland’s dell'acqua"), ["maryland's", "acqua"]);
        let words = analysis.query_words("alojamientos");
        assert!(
            words[0].alternatives.len() > 1 && words[0].matches("aloj"),
            "{words:?}"
        );
        assert!(analysis.query_words("").is_empty());
    }

    #[test]
    fn other_forms_match_in_the_language_of_the_text() {
        let analysis = Multilingual::new();
        for (query, text) in [
            (
                "alojamiento turístico",
                "Ofertas de los alojamientos turísticos de Euskadi",
            ),
            (
                "struttura ricettiva",
                "Classificazione a stelle delle strutture ricettive in Italia",
            ),
            ("Muenchen", "Die Bäume in den Straßen der Stadt München"),
            (
                "Bibliothek",
                "Verzeichnis der deutschen Bibliotheken und ihrer Bestände",
            ),
            (
                "bibliothèque",
                "La liste des bibliothèques municipales de la ville",
            ),
            ("cities", "A list of every city"),
            ("библиотека", "Список всех библиотек города"),
        ] {
            assert!(matches(&analysis, query, text), "{query}: {text}");
        }
    }

    #[test]
    fn a_word_finds_itself_whatever_language_its_text_was_taken_for() {
        let analysis = Multilingual::new();
        for word in [
            "organisations",
            "universities",
            "Málaga",
            "Straße",
            "années",
            "città",
            "Österreich",
            "ruoli",
        ] {
            let query_words = analysis.query_words(word);
            for language in 0..LANGUAGES.len() {
                let tokens = tokens_by(&mut analysis.chains[language].clone(), word);
                assert_eq!(
                    (query_words.len(), query_words[0].text.as_str()),
                    (1, word.to_lowercase().as_str())
                );
                assert!(
                    tokens.iter().all(|token| query_words[0].matches(token)),
                    "{word}: {tokens:?} {query_words:?}"
                );
            }
        }
    }

    #[test]
    fn accents_and_elisions() {
        let analysis = Multilingual::new();
        assert!(matches(&analysis, "malaga", "Málaga"));
        assert!(matches(&analysis, "acqua", "dell'acqua") && matches(&analysis, "eau", "L’eau"));
        assert_eq!(without_elision("O'Neil"), "O'Neil");
        assert_eq!(without_elision("d'a"), "d'a");
        assert_eq!(analysis.tokens("Maryland’s bays"), ["maryland", "bay"]);
    }

    #[test]
    fn words_have_their_tokens_and_stop_words_have_none() {
        let analysis = Multilingual::new();
        let words = analysis.analyze_words("The Cafe\u{301}s of cities");
        let pairs: Vec<(&str, Option<&str>)> = words
            .iter()
            .map(|word| (word.text.as_str(), word.token.as_deref()))
            .collect();
        assert_eq!(
            pairs,
            [
                ("the", None),
                ("cafes", Some("cafe")),
                ("of", None),
                ("cities", Some("citi"))
            ]
        );
    }

    #[test]
    fn forms_of_a_text_match_each_other() {
        let analysis = Multilingual::new();
        for (query, text) in [
            ("e\u{301}cole", "École"),
            ("école", "E\u{301}cole"),
            ("ecole", "E\u{301}cole"),
            ("SO2", "SO₂ emissions"),
            ("SO₂", "SO2 emissions"),
            ("oeuvre", "Œuvres"),
            ("ﬂood", "flood maps"),
            ("data", "ｄａｔａ"),
            ("データ", "ﾃﾞｰﾀ"),
            ("ماء", "ﻣﺎء"),
            ("Grösse", "Größe"),
            ("größe", "GRÖSSE"),
            ("izmir", "I\u{307}zmir"),
            ("İZMİR", "izmir"),
            ("cooperation", "co\u{AD}opera\u{200B}tion"),
            ("air quality", "air\u{A0}quality"),
            ("quality", "air\u{2011}quality"),
            ("\u{1112}\u{1161}\u{11AB}", "한"),
        ] {
            assert!(matches(&analysis, query, text), "{query}: {text}");
        }
    }

    #[test]
    fn stop_words_of_the_language() {
        let analysis = Multilingual::new();
        assert!(analysis.query_words("of the").is_empty());
        assert!(!analysis.query_words("war").is_empty());
        let tokens = analysis.tokens("Die Liste der Bibliotheken in der Stadt und auf dem Land");
        assert!(
            !tokens
                .iter()
                .any(|token| ["die", "der", "und", "auf", "dem"].contains(&token.as_str())),
            "{tokens:?}"
        );
    }
}
