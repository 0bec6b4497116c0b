//! Language detection.
//!
//! # Why whatlang?
//!
//! Three crates were compared on 36,934 literals of the development collection. Each carries the tag of one of the 17
//! languages that occur there and have a stemmer. Most literals are short. Precision matters more than recall, because
//! a wrong stemmer does harm and the English one does little.
//!
//! | crate | time per text | data | detected / correct, < 24 characters | 24–47 | 48–95 |
//! |---|---|---|---|---|---|
//! | whatlang 0.18, 18 languages, confidence ≥ 0.5 | 14 µs | 0.1 MB | 33 % / 99.3 % | 55 % / 99.3 % | 87 % / 99.6 % |
//! | lingua 1.8, the same languages, ≥ 0.8 | 1,700 µs, on a busier machine | 57 MB, compressed | 49 % / 99.2 % | 66 % / 99.7 % | 87 % / 100 % |
//! | whichlang 0.1 | 0.5 µs | 0.3 MB | 100 % / 54 % | 100 % / 69 % | 100 % / 72 % |
//!
//! The first pair of values is for texts of 12 to 23 characters. whichlang supports sixteen languages, without Danish,
//! Norwegian, Finnish, Hungarian, Romanian and Greek. It always returns a language, however uncertain. lingua detects
//! more short texts, with hundreds of times the data and a time that would exceed the rest of indexing.
//!
//! Texts of undetected language are analysed as English.

use lodeseek_rdf::corrected_language_code;
use lru::LruCache;
use std::hash::{BuildHasher, RandomState};
use std::num::NonZeroUsize;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tantivy::tokenizer::Language;
use whatlang::{Detector, Lang};

/// Languages with a stemmer, English first, and their BCP 47 tags.
pub(crate) const LANGUAGES: [(Language, Lang, &str); 18] = [
    (Language::English, Lang::Eng, "en"),
    (Language::German, Lang::Deu, "de"),
    (Language::French, Lang::Fra, "fr"),
    (Language::Spanish, Lang::Spa, "es"),
    (Language::Italian, Lang::Ita, "it"),
    (Language::Portuguese, Lang::Por, "pt"),
    (Language::Dutch, Lang::Nld, "nl"),
    (Language::Swedish, Lang::Swe, "sv"),
    (Language::Danish, Lang::Dan, "da"),
    (Language::Norwegian, Lang::Nob, "no"),
    (Language::Finnish, Lang::Fin, "fi"),
    (Language::Hungarian, Lang::Hun, "hu"),
    (Language::Romanian, Lang::Ron, "ro"),
    (Language::Russian, Lang::Rus, "ru"),
    (Language::Turkish, Lang::Tur, "tr"),
    (Language::Greek, Lang::Ell, "el"),
    (Language::Arabic, Lang::Ara, "ar"),
    (Language::Tamil, Lang::Tam, "ta"),
];

/// Articles, prepositions and conjunctions, by BCP 47 tag: words of a query that carry nothing, and show its language.
const FUNCTION_WORDS: [(&str, &str); 10] = [
    (
        "de",
        "der die das dem den des ein eine einer eines einem einen und oder von vom zu zum zur im am auf aus bei beim für mit \
         nach über unter durch gegen ohne um als ist sind",
    ),
    (
        "fr",
        "le la les l du de des un une et ou en au aux à dans par pour sur sous avec sans chez est sont qui que quels quelles où",
    ),
    (
        "es",
        "el la los las lo un una unos unas de del y e u en al por para con sin sobre entre es son qué que dónde cuáles",
    ),
    (
        "it",
        "il lo la gli le l un uno una di del dello della dei degli delle e ed nel nello nella nei nelle negli al allo alla ai \
         agli alle da dal dalla dai per con su sul sulla sui tra fra è sono quali dove che",
    ),
    (
        "pt",
        "o os as um uma uns umas de da dos das e ou em na nos nas ao à aos às por pelo pela para com sem sobre entre é são \
         que onde quais",
    ),
    (
        "nl",
        "de het een en van op aan bij voor met naar door tegen zonder om te tot uit als zijn welke waar",
    ),
    (
        "sv",
        "och eller av på i för med till från om över som är en ett den det de vid",
    ),
    (
        "da",
        "og eller af på i for med til fra om over som er en et den det de ved",
    ),
    (
        "no",
        "og eller av på i for med til fra om over som er en et den det de ved",
    ),
    ("ro", "de din la și pe cu pentru în cel cea"),
];
/// Function words that are also words of English or parts of names: `die casting`, `Los Angeles`, `white van`.
const AMBIGUOUS_FUNCTION_WORDS: [&str; 8] = ["die", "en", "la", "las", "le", "los", "om", "van"];
/// Minimum confidence of a query's language if all its function words are ambiguous.
const MIN_AMBIGUOUS_CONFIDENCE: f64 = 0.6;

/// Minimum confidence of a detection. At 0.3, 4 % of detections were wrong, and 1 in 22 English texts of 24 to 47
/// characters was detected as another language. At 0.5 it is less than 1 %, and 1 in 80.
const MIN_CONFIDENCE: f64 = 0.5;
/// Minimum length of ASCII texts in bytes. Shorter texts and single words are skipped: they are most frequent and
/// rarely detected.
const MIN_TEXT_BYTES: usize = 20;
/// Maximum number of bytes inspected. More bytes take more time and do not change the result.
const MAX_INSPECTED_BYTES: usize = 240;
/// Maximum number of texts whose language is remembered, some 5 MB.
const MAX_CACHED_TEXTS: NonZeroUsize = NonZeroUsize::MIN.saturating_add((1 << 16) - 1);

/// Index of English in [`LANGUAGES`].
pub(super) const ENGLISH: usize = 0;

/// Returns the language of a BCP 47 tag in lower case, without script and region. Mistaken codes are corrected. Both forms of Norwegian are `no`.
pub(super) fn language_code(tag: &str) -> String {
    let language = corrected_language_code(tag);
    match language.as_str() {
        "nb" | "nn" => "no".to_owned(),
        _ => language,
    }
}

/// Language detector.
///
/// Labels repeat in the entities of a dataset, and the texts of a result in the next one. Detection was a sixth of the time of a
/// search, so the languages of the latest texts are remembered, by a keyed hash of what is inspected.
pub(super) struct LanguageDetector {
    detector: Detector,
    hasher: RandomState,
    remembered: Mutex<LruCache<u64, Option<u8>>>,
}

impl LanguageDetector {
    pub(super) fn new() -> Self {
        // A cache that is made with its limit takes the memory of all entries at once.
        let mut remembered = LruCache::unbounded();
        remembered.resize(MAX_CACHED_TEXTS);
        Self {
            detector: Detector::with_allowlist(
                LANGUAGES.iter().map(|(_, detected, _)| *detected).collect(),
            ),
            hasher: RandomState::new(),
            remembered: Mutex::new(remembered),
        }
    }

    /// Returns the index in [`LANGUAGES`] of a text's language, or `None` if it is uncertain.
    pub(super) fn detect(&self, text: &str) -> Option<usize> {
        if text.is_ascii()
            && (text.len() < MIN_TEXT_BYTES || !text.bytes().any(|byte| byte == b' '))
        {
            return None;
        }
        let inspected = &text[..text.floor_char_boundary(MAX_INSPECTED_BYTES)];
        let key = self.hasher.hash_one(inspected);
        if let Some(language) = self.lock_cache().get(&key) {
            return language.map(usize::from);
        }
        let language = self.detect_anew(inspected);
        self.lock_cache().put(key, language);
        language.map(usize::from)
    }

    fn lock_cache(&self) -> MutexGuard<'_, LruCache<u64, Option<u8>>> {
        self.remembered
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn detect_anew(&self, text: &str) -> Option<u8> {
        let detection = self.detector.detect(text)?;
        if detection.confidence() < MIN_CONFIDENCE {
            return None;
        }
        let languages = 0_u8..;
        let mut detected = languages.zip(LANGUAGES);
        let (place, _) = detected.find(|(_, (_, language, _))| *language == detection.lang())?;
        Some(place)
    }

    /// Returns the index in [`LANGUAGES`] of the language of a short query, by the function words among its words that are no
    /// stop words of English. If several languages have them, letters decide, English included: `civil war` and `isle of man`
    /// remain English. `None` without such words, or if the query is rather English.
    pub(super) fn detect_by_function_words(&self, text: &str, words: &[&str]) -> Option<usize> {
        let mut allowed = vec![Lang::Eng];
        let mut is_certain = false;
        for (tag, function_words) in FUNCTION_WORDS {
            for word in function_words.split_whitespace() {
                if !words.contains(&word) {
                    continue;
                }
                is_certain |= !AMBIGUOUS_FUNCTION_WORDS.contains(&word);
                let language = LANGUAGES.iter().find(|(.., other)| *other == tag);
                allowed.extend(language.map(|(_, detected, _)| *detected));
                break;
            }
        }
        if allowed.len() == 1 {
            return None;
        }
        let detection = Detector::with_allowlist(allowed).detect(text)?;
        if detection.lang() == Lang::Eng
            || !is_certain && detection.confidence() < MIN_AMBIGUOUS_CONFIDENCE
        {
            return None;
        }
        LANGUAGES
            .iter()
            .position(|(_, detected, _)| *detected == detection.lang())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn function_words_show_the_language_of_a_query() {
        let has_function_words = |text: &str| {
            let lower = text.to_lowercase();
            let words: Vec<&str> = lower.split(' ').collect();
            LanguageDetector::new()
                .detect_by_function_words(&lower, &words)
                .is_some()
        };
        for text in [
            "accidentes de tráfico",
            "accidentes de trafico",
            "accidents de la route",
            "qualidade do ar da cidade",
            "regioni e province",
            "Luft der Stadt",
            "die Luftqualität",
            "liedjes van David Bowie",
        ] {
            assert!(has_function_words(text), "{text}");
        }
        for text in [
            "civil war",
            "die casting",
            "white van crime",
            "Los Angeles crime",
            "La Rioja wine",
            "nitrogen reduction plan",
        ] {
            assert!(!has_function_words(text), "{text}");
        }
    }

    fn detected(text: &str) -> Option<Language> {
        LanguageDetector::new()
            .detect(text)
            .map(|place| LANGUAGES[place].0)
    }

    #[test]
    fn sentences_are_told() {
        for (text, language) in [
            (
                "Results of the elections to the city council",
                Language::English,
            ),
            (
                "Classificazione a stelle delle strutture ricettive",
                Language::Italian,
            ),
            (
                "Ofertas de los alojamientos turísticos de Euskadi",
                Language::Spanish,
            ),
            (
                "Verzeichnis der deutschen Bibliotheken und ihrer Bestände",
                Language::German,
            ),
            (
                "La liste des bibliothèques municipales de la ville",
                Language::French,
            ),
        ] {
            assert_eq!(detected(text), Some(language), "{text}");
        }
    }

    #[test]
    fn the_language_of_a_repeated_text_is_the_same() {
        let detector = LanguageDetector::new();
        for _ in 0..2 {
            let found = detector.detect("Ofertas de los alojamientos turísticos de Euskadi");
            assert_eq!(found.map(|place| LANGUAGES[place].2), Some("es"));
            assert_eq!(detector.detect("Wege Straßen Gassen"), detected_anew());
        }
    }

    fn detected_anew() -> Option<usize> {
        let detector = LanguageDetector::new();
        let language = detector.detect_anew("Wege Straßen Gassen");
        language.map(usize::from)
    }

    #[test]
    fn a_script_tells() {
        assert_eq!(detected("библиотека"), Some(Language::Russian));
        assert_eq!(detected("βιβλίο"), Some(Language::Greek));
    }

    #[test]
    fn short_texts_are_not_told() {
        for text in [
            "",
            "42",
            "Province",
            "hasPhoneNumber",
            "http://example.org/the/quick/brown/fox",
            "1.5, 2.5, 3.5",
        ] {
            assert_eq!(detected(text), None, "{text}");
        }
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(
            detected(&"äöü ".repeat(200)).is_some(),
            detected(&"äöü ".repeat(400)).is_some()
        );
    }
}
