//! The language of a text.
//!
//! # Why whatlang?
//!
//! Three crates were compared on 36,934 literals of the development collection that carry the tag of one of the 17
//! languages found there which have a stemmer. Most are short: what counts is to say nothing rather than something wrong,
//! for a wrong stemmer does harm and the English one little.
//!
//! | crate | time a text | its data | told / right, < 24 characters | 24–47 | 48–95 |
//! |---|---|---|---|---|---|
//! | whatlang 0.18, 18 languages, confidence ≥ 0.5 | 14 µs | 0.1 MB | 33 % / 99.3 % | 55 % / 99.3 % | 87 % / 99.6 % |
//! | lingua 1.8, the same languages, ≥ 0.8 | 1,700 µs, on a busier machine | 57 MB, compressed | 49 % / 99.2 % | 66 % / 99.7 % | 87 % / 100 % |
//! | whichlang 0.1 | 0.5 µs | 0.3 MB | 100 % / 54 % | 100 % / 69 % | 100 % / 72 % |
//!
//! (The first column of pairs is of texts of 12 to 23 characters.) whichlang knows sixteen languages, neither Danish,
//! Norwegian, Finnish, Hungarian, Romanian nor Greek, and cannot say that it does not know. lingua tells some more of the
//! short texts, at hundreds of times the data and a time that would exceed all the rest of indexing.
//!
//! What is not told is analysed as English.

use tantivy::tokenizer::Language;
use whatlang::{Detector, Lang};

/// The languages that have a stemmer, English first.
pub(super) const LANGUAGES: [(Language, Lang); 18] = [
    (Language::English, Lang::Eng),
    (Language::German, Lang::Deu),
    (Language::French, Lang::Fra),
    (Language::Spanish, Lang::Spa),
    (Language::Italian, Lang::Ita),
    (Language::Portuguese, Lang::Por),
    (Language::Dutch, Lang::Nld),
    (Language::Swedish, Lang::Swe),
    (Language::Danish, Lang::Dan),
    (Language::Norwegian, Lang::Nob),
    (Language::Finnish, Lang::Fin),
    (Language::Hungarian, Lang::Hun),
    (Language::Romanian, Lang::Ron),
    (Language::Russian, Lang::Rus),
    (Language::Turkish, Lang::Tur),
    (Language::Greek, Lang::Ell),
    (Language::Arabic, Lang::Ara),
    (Language::Tamil, Lang::Tam),
];

/// Below it a detection is not believed. At 0.3, 4 in 100 were wrong and 1 in 22 English texts of 24 to 47 characters was
/// taken for another language; at 0.5, fewer than 1 in 100 and 1 in 80.
const CONFIDENCE: f64 = 0.5;
/// ASCII texts shorter than this, or of one word, are not looked at: they are hardly ever told, and they are the most.
const SHORTEST: usize = 20;
/// Bytes of a text that are looked at: more do not change the answer, and the time grows with them.
const LONGEST: usize = 240;

/// The place of English in [`LANGUAGES`].
pub(super) const ENGLISH: usize = 0;

/// Tells the language of texts.
pub(super) struct LanguageDetector(Detector);

impl LanguageDetector {
    pub(super) fn new() -> Self {
        Self(Detector::with_allowlist(LANGUAGES.iter().map(|(_, detected)| *detected).collect()))
    }

    /// The place in [`LANGUAGES`] of a text's language; `None` where it is not certain.
    pub(super) fn detect(&self, text: &str) -> Option<usize> {
        if text.is_ascii() && (text.len() < SHORTEST || !text.bytes().any(|byte| byte == b' ')) {
            return None;
        }
        let found = self.0.detect(&text[..text.floor_char_boundary(LONGEST)])?;
        let place = LANGUAGES.iter().position(|(_, detected)| *detected == found.lang());
        place.filter(|_| found.confidence() >= CONFIDENCE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Option<Language> {
        LanguageDetector::new().detect(text).map(|place| LANGUAGES[place].0)
    }

    #[test]
    fn sentences_are_told() {
        for (text, language) in [
            ("Results of the elections to the city council", Language::English),
            ("Classificazione a stelle delle strutture ricettive", Language::Italian),
            ("Ofertas de los alojamientos turísticos de Euskadi", Language::Spanish),
            ("Verzeichnis der deutschen Bibliotheken und ihrer Bestände", Language::German),
            ("La liste des bibliothèques municipales de la ville", Language::French),
        ] {
            assert_eq!(told(text), Some(language), "{text}");
        }
    }

    #[test]
    fn a_script_tells() {
        assert_eq!(told("библиотека"), Some(Language::Russian));
        assert_eq!(told("βιβλίο"), Some(Language::Greek));
    }

    #[test]
    fn short_texts_are_not_told() {
        for text in ["", "42", "Province", "hasPhoneNumber", "http://example.org/the/quick/brown/fox", "1.5, 2.5, 3.5"]
        {
            assert_eq!(told(text), None, "{text}");
        }
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(told(&"äöü ".repeat(200)).is_some(), told(&"äöü ".repeat(400)).is_some());
    }
}
