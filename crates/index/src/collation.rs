//! Order of texts for readers: by base letters, then accents, then case, as the language has it.
//!
//! The [Unicode Collation Algorithm](https://www.unicode.org/reports/tr10/) with the tailorings of CLDR. Digits are compared
//! one by one: `10` comes before `9`, as is the default of CLDR.

use crate::analysis::fold_text;
use icu_collator::CollatorBorrowed;
use icu_collator::options::CollatorOptions;
use icu_locale_core::Locale;

/// Number of characters of a text that are compared.
const MAX_COMPARED_CHARACTERS: usize = 1000;

/// Order of texts in a language.
///
/// ```
/// use lodeseek_index::Collation;
/// let collation = Collation::new("en");
/// let mut titles = ["zebra", "Ångström", "apple", "Zürich", "Élan", "elan"];
/// titles.sort_by_cached_key(|title| collation.key(title));
/// assert_eq!(titles, ["Ångström", "apple", "elan", "Élan", "zebra", "Zürich"]);
/// let swedish = Collation::new("sv");
/// assert!(swedish.key("Zürich") < swedish.key("Ångström"));
/// ```
pub struct Collation(Option<CollatorBorrowed<'static>>);

impl Collation {
    /// Creates the order of a language, by its BCP 47 tag. An unknown language has the order that is the same for all.
    #[must_use]
    pub fn new(language: &str) -> Self {
        let locale = Locale::try_from_str(language).unwrap_or(Locale::UNKNOWN);
        let collator = CollatorBorrowed::try_new((&locale).into(), CollatorOptions::default());
        Self(collator.ok())
    }

    /// Returns the sort key of a text, from its first 1,000 characters. Keys are compared byte by byte.
    #[must_use]
    pub fn key(&self, text: &str) -> Box<[u8]> {
        let text = text.trim();
        let text = match text.char_indices().nth(MAX_COMPARED_CHARACTERS) {
            Some((end, _)) => &text[..end],
            None => text,
        };
        let mut key = Vec::new();
        match &self.0 {
            Some(collator) => match collator.write_sort_key_to(text, &mut key) {
                Ok(()) => {}
            },
            // Compiled data has every language; without it the order would still ignore case and accents.
            None => key.extend(fold_text(text).into_bytes()),
        }
        key.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted<'t>(language: &str, texts: &[&'t str]) -> Vec<&'t str> {
        let collation = Collation::new(language);
        let mut sorted = texts.to_vec();
        sorted.sort_by_cached_key(|text| collation.key(text));
        sorted
    }

    #[test]
    fn base_letters_come_before_accents_and_case() {
        let titles = [
            "Örtliche Wege",
            "oak",
            "Ozean",
            "école",
            "Ecole",
            "ecole",
            "  eau",
            "ß",
            "st",
            "sr",
        ];
        for language in ["en", "de", "fr", "und", "not a language", ""] {
            let expected = [
                "  eau",
                "ecole",
                "Ecole",
                "école",
                "oak",
                "Örtliche Wege",
                "Ozean",
                "sr",
                "ß",
                "st",
            ];
            assert_eq!(sorted(language, &titles), expected, "{language}");
        }
    }

    #[test]
    fn languages_have_their_own_order() {
        assert_eq!(
            sorted("es", &["nz", "ñandú", "oca"]),
            ["nz", "ñandú", "oca"]
        );
        assert_eq!(
            sorted("en", &["nz", "ñandú", "oca"]),
            ["ñandú", "nz", "oca"]
        );
        assert_eq!(sorted("et", &["z", "t", "s"]), ["s", "z", "t"]);
        assert_eq!(sorted("de-AT", &["Z", "ä"]), ["ä", "Z"]);
    }

    #[test]
    fn equivalent_texts_have_one_key_and_digits_are_letters() {
        let collation = Collation::new("en");
        assert_eq!(collation.key("e\u{301}te\u{301}"), collation.key("été"));
        assert_eq!(sorted("en", &["9", "10", "a"]), ["10", "9", "a"]);
        let long = "a".repeat(5000);
        assert_eq!(collation.key(&long), collation.key(&long[..1000]));
    }
}
