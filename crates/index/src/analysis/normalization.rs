//! Unicode normalization of texts before their analysis.
//!
//! Canonically equivalent texts are the same text, and compatibility forms name the same words ([UAX #15]). The composed
//! and the decomposed `é`, `ﬁ` and `fi`, `CO₂` and `CO2`, full-width and half-width forms, and the presentation forms of
//! Arabic letters therefore have the same tokens. Characters without a width of their own, such as soft hyphens, are no
//! part of a word.
//!
//! [UAX #15]: https://www.unicode.org/reports/tr15/

use super::words::is_complex_context;
use std::borrow::Cow;
use tantivy::tokenizer::{AsciiFoldingFilter, RawTokenizer, TextAnalyzer, TokenStream};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick, is_nfkc_quick};

/// Returns a text in the form in which it is analysed: NFKC, without ignorable characters and without combining marks
/// that have no composed form with their letter. ASCII texts are returned as they are.
pub(super) fn normalize(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let has_dropped = text
        .chars()
        .any(|character| is_ignorable(character) || is_combining_diacritic(character));
    if !has_dropped && is_nfkc_quick(text.chars()) == IsNormalized::Yes {
        return Cow::Borrowed(text);
    }
    let composed = if text.contains(is_ignorable) {
        without_ignorable(text).nfkc().collect()
    } else {
        text.nfkc().collect::<String>()
    };
    if composed.contains(is_combining_diacritic) {
        // Letters that a mark separated may have a composition.
        let plain = composed
            .chars()
            .filter(|character| !is_combining_diacritic(*character));
        return Cow::Owned(plain.nfkc().collect());
    }
    Cow::Owned(composed)
}

/// Removes ignorable characters. A zero-width space between letters of a script without spaces separates words.
fn without_ignorable(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    let mut before = None;
    while let Some(character) = characters.next() {
        let separates = character == '\u{200B}'
            && before.is_some_and(is_complex_context)
            && characters.peek().copied().is_some_and(is_complex_context);
        if separates {
            kept.push(' ');
        } else if !is_ignorable(character) {
            kept.push(character);
            before = Some(character);
        }
    }
    kept
}

/// Returns true for characters without a width: soft hyphens, joiners, marks of direction, variation selectors.
fn is_ignorable(character: char) -> bool {
    matches!(character,
        '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}'
        | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{3164}'
        | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}' | '\u{1BCA0}'..='\u{1BCA3}' | '\u{E0000}'..='\u{E0FFF}')
}

/// Returns true for the marks on Latin, Greek and Cyrillic letters, and for the vowel points and accents of Hebrew, which most texts
/// omit. The punctuation between the points separates words.
fn is_combining_diacritic(character: char) -> bool {
    matches!(character, '\u{300}'..='\u{34E}' | '\u{350}'..='\u{36F}'
        | '\u{591}'..='\u{5BD}' | '\u{5BF}' | '\u{5C1}' | '\u{5C2}' | '\u{5C4}' | '\u{5C5}' | '\u{5C7}')
}

/// Returns the canonical composition (NFC) of a text, in which values are compared.
#[must_use]
pub fn compose(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfc_quick(text.chars()) == IsNormalized::Yes {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.nfc().collect())
    }
}

/// Returns a text in lower case, normalized and without accents, as the multilingual analysis compares words.
///
/// ```
/// use lodeseek_index::fold_text;
/// assert_eq!(fold_text("ﬁn CÔTE Stra\u{df}e \u{130}zmir"), "fin cote strasse izmir");
/// ```
#[must_use]
pub fn fold_text(text: &str) -> String {
    let normalized = normalize(text);
    let lower = super::words::lower(&normalized);
    if lower.is_ascii() {
        return lower;
    }
    let mut analyzer = TextAnalyzer::builder(RawTokenizer::default())
        .filter(AsciiFoldingFilter)
        .build();
    let mut stream = analyzer.token_stream(&lower);
    match stream.next() {
        Some(token) => token.text.clone(),
        None => lower.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ascii_and_normalized_texts_are_borrowed() {
        for text in [
            "",
            "Air quality (2020), CO2",
            "Müller’s café",
            "東京",
            "библиотека",
        ] {
            assert!(
                matches!(normalize(text), Cow::Borrowed(same) if same == text),
                "{text}"
            );
        }
    }

    #[test]
    fn forms_of_a_text_have_one_normal_form() {
        for (form, normal) in [
            ("e\u{301}te\u{301}", "été"),
            ("\u{1112}\u{1161}\u{11AB}", "\u{D55C}"),
            ("NO₃ m² ①", "NO3 m2 1"),
            ("ﬂood ﬆation Ǆ", "flood station DŽ"),
            ("Ｗｅｂ　２０", "Web 20"),
            ("ﾃﾞｰﾀ", "データ"),
            ("ﻣﺎء", "ماء"),
            ("co\u{AD}op\u{200B}era\u{200D}te\u{FEFF}", "cooperate"),
            ("a\u{A0}b\u{2011}c", "a b\u{2010}c"),
            ("I\u{307}zmir i\u{307}zmir", "İzmir izmir"),
            ("сло\u{301}во", "слово"),
            (
                "\u{5E9}\u{5C1}\u{5B8}\u{5DC}\u{5D5}\u{5B9}\u{5DD}\u{5BE}\u{FB2A}",
                "\u{5E9}\u{5DC}\u{5D5}\u{5DD}\u{5BE}\u{5E9}",
            ),
            ("ទិន្ន\u{200B}ន័យ", "ទិន្ន ន័យ"),
        ] {
            assert_eq!(normalize(form), normal, "{form:?}");
        }
    }

    proptest! {
        #[test]
        fn normalization_is_stable(text in "[a-zé\u{301}\u{307}\u{327}Iİßﬁ²\u{AD}\u{200B}\u{1100}-\u{1110}\u{1161}-\u{1170}ก-ฮ ]{0,20}") {
            let once = normalize(&text).into_owned();
            for form in [once.clone(), text.nfd().collect(), text.nfc().collect()] {
                prop_assert_eq!(normalize(&form).into_owned(), once.as_str());
            }
            prop_assert_eq!(fold_text(&once), fold_text(&text));
        }
    }
}
