//! Word segmentation by Unicode Standard Annex #29, with the choices of Lucene's `StandardTokenizer`.
//!
//! The default rules of UAX #29 define the boundaries and leave open which segments are words. Differences between
//! Lucene's choice, made here, and `unicode_words`:
//!
//! * A run of characters in South-East Asian scripts (Thai, Lao, Khmer, Myanmar …) is one word. UAX #29 defers to
//!   dictionaries for them; by its default rules every character would be a word.
//! * Numbers that are not decimal digits (`²`, `½`, `①`) are not words. In UAX #29 they are neither `Numeric` nor
//!   `ALetter`.
//! * A word longer than 255 characters is cut into pieces of that length.
//! * Lower case is computed for each character, regardless of its position: a final `Σ` becomes `σ`.
//!
//! Two differences from Lucene remain. Since version 7.4, Lucene makes words of emoji. They are ignored here, because
//! dataset searches do not contain them. Lucene counts the 255 in UTF-16 units; this module counts characters.

use std::iter::Peekable;
use unicode_segmentation::{UnicodeSegmentation, UnicodeWordIndices};

/// Lucene's `maxTokenLength`.
const MAX_TOKEN_CHARACTERS: usize = 255;

/// Iterator over the words of a text, unchanged.
pub(super) struct Words<'t> {
    text: &'t str,
    segments: Peekable<UnicodeWordIndices<'t>>,
    /// Rest of a word that is too long.
    rest: &'t str,
}

impl<'t> Words<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self {
            text,
            segments: text.unicode_word_indices().peekable(),
            rest: "",
        }
    }

    /// Returns the next word of any length.
    fn next_whole(&mut self) -> Option<&'t str> {
        loop {
            let (start, word) = self.segments.next()?;
            // Both exceptions concern characters beyond ASCII only.
            if word.as_bytes()[0] < 0x80 {
                return Some(word);
            }
            let first = word.chars().next()?;
            if is_complex_context(first) {
                return Some(self.join_run(start, word));
            }
            if !is_other_number(first) {
                return Some(word);
            }
        }
    }

    /// Returns a segment together with adjacent ones, as long as they are of scripts without spaces.
    fn join_run(&mut self, start: usize, word: &'t str) -> &'t str {
        let mut end = start + word.len();
        while let Some((_, next)) = self
            .segments
            .next_if(|(start, next)| *start == end && next.starts_with(is_complex_context))
        {
            end += next.len();
        }
        &self.text[start..end]
    }
}

impl<'t> Iterator for Words<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        let word = if self.rest.is_empty() {
            self.next_whole()?
        } else {
            std::mem::take(&mut self.rest)
        };
        // A word has at least as many bytes as characters: most are not counted.
        if word.len() <= MAX_TOKEN_CHARACTERS {
            return Some(word);
        }
        let end = match word.char_indices().nth(MAX_TOKEN_CHARACTERS) {
            Some((end, _)) => end,
            None => word.len(),
        };
        let (piece, rest) = word.split_at(end);
        self.rest = rest;
        Some(piece)
    }
}

/// Returns a word in lower case, character by character.
pub(super) fn lower(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    lower_into(word, &mut out);
    out
}

/// Appends a word in lower case.
pub(super) fn lower_into(word: &str, out: &mut String) {
    if word.is_ascii() {
        let start = out.len();
        out.push_str(word);
        out[start..].make_ascii_lowercase();
    } else {
        // Only `İ` has two characters in lower case; the first is Java's result.
        out.extend(
            word.chars()
                .map(|character| character.to_lowercase().next().unwrap_or(character)),
        );
    }
}

/// Returns true for letters of the line breaking class `Complex_Context`: scripts without spaces that require a
/// dictionary.
pub(super) fn is_complex_context(character: char) -> bool {
    matches!(character,
        '\u{0E01}'..='\u{0E3A}' | '\u{0E40}'..='\u{0E4E}' // Thai
        | '\u{0E81}'..='\u{0ECF}' | '\u{0EDC}'..='\u{0EDF}' // Lao
        | '\u{1000}'..='\u{103F}' | '\u{1050}'..='\u{108F}' | '\u{109A}'..='\u{109F}' // Myanmar
        | '\u{1780}'..='\u{17D3}' | '\u{17D7}' | '\u{17DC}'..='\u{17DD}' // Khmer
        | '\u{1950}'..='\u{1974}' | '\u{1980}'..='\u{19C9}' // Tai Le, New Tai Lue
        | '\u{1A20}'..='\u{1A7C}' | '\u{1AA0}'..='\u{1AAD}' // Tai Tham
        | '\u{A9E0}'..='\u{A9EF}' | '\u{A9FA}'..='\u{A9FE}' | '\u{AA60}'..='\u{AADF}') // Myanmar's extensions, Tai Viet
}

/// Returns true for characters of category `No` in the blocks in use: superscripts, fractions, enclosed numbers.
fn is_other_number(character: char) -> bool {
    matches!(character,
        '\u{B2}' | '\u{B3}' | '\u{B9}' | '\u{BC}'..='\u{BE}'
        | '\u{2070}' | '\u{2074}'..='\u{2079}' | '\u{2080}'..='\u{2089}'
        | '\u{2150}'..='\u{215F}' | '\u{2189}' | '\u{2460}'..='\u{249B}' | '\u{24EA}'..='\u{24FF}'
        | '\u{2776}'..='\u{2793}' | '\u{3220}'..='\u{3229}' | '\u{3248}'..='\u{324F}'
        | '\u{3251}'..='\u{325F}' | '\u{3280}'..='\u{3289}' | '\u{32B1}'..='\u{32BF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        Words::new(text).collect()
    }

    #[test]
    fn boundaries_of_uax_29() {
        for (text, expected) in [
            // WB13a and WB13b: an underscore joins its neighbours; alone it is not a word.
            ("air_quality _x_ ___", vec!["air_quality", "_x_"]),
            // WB6 and WB7: MidNumLet joins between letters, not at the end.
            (
                "Maryland's dogs' l’eau e.g. example.com",
                vec!["Maryland's", "dogs", "l’eau", "e.g", "example.com"],
            ),
            // WB6 and WB7 again: a colon is MidLetter and joins only between letters.
            (
                "rdf:type x:1 http://a.b/",
                vec!["rdf:type", "x", "1", "http", "a.b"],
            ),
            // WB11 and WB12: between digits; WB9 and WB10: letters and digits.
            (
                "3.14 1,000.5 v1.2 CO2 a.1 1,a",
                vec!["3.14", "1,000.5", "v1.2", "CO2", "a", "1", "1", "a"],
            ),
            (
                "C++ R&D reduction-plan",
                vec!["C", "R", "D", "reduction", "plan"],
            ),
            // WB4: Extend and Format characters belong to the preceding character.
            (
                "e\u{301}te\u{301} a\u{ad}b",
                vec!["e\u{301}te\u{301}", "a\u{ad}b"],
            ),
            ("", vec![]),
        ] {
            assert_eq!(words(text), expected, "{text}");
        }
    }

    #[test]
    fn scripts_as_lucene_bounds_them() {
        assert_eq!(
            words("東京タワー ひらがな 한국어"),
            ["東", "京", "タワー", "ひ", "ら", "が", "な", "한국어"]
        );
        assert_eq!(words("ภาษาไทย ดี ๒๕"), ["ภาษาไทย", "ดี", "๒๕"]);
        assert_eq!(
            words("ພາສາລາວ ភាសាខ្មែរ မြန်မာ"),
            ["ພາສາລາວ", "ភាសាខ្មែរ", "မြန်မာ"]
        );
        assert_eq!(words("xไทยy"), ["x", "ไทย", "y"]);
    }

    #[test]
    fn no_words() {
        assert_eq!(words("m² ½ ① Ⅳ 😀 👍🏽 — … €"), ["m", "Ⅳ"]);
    }

    #[test]
    fn long_words_are_cut_by_characters() {
        let text = "ä".repeat(600);
        let lengths: Vec<usize> = Words::new(&text)
            .map(|piece| piece.chars().count())
            .collect();
        assert_eq!(lengths, [255, 255, 90]);
        assert_eq!(words(&"a".repeat(255)).len(), 1);
        assert_eq!(words(&format!("{} b", "a".repeat(256))).len(), 3);
    }

    #[test]
    fn lower_case_is_taken_by_characters() {
        assert_eq!(lower("ΟΔΟΣ"), "οδοσ");
        assert_eq!(lower("İzmir"), "izmir");
        assert_eq!(lower("ÉTÉ"), "été");
        assert_eq!(lower("CO2"), "co2");
    }
}
