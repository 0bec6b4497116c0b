//! Tokenization of texts with byte positions, so that tokens can be removed and the rest joined again.

use std::ops::Range;

/// A word or a punctuation character.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'t> {
    pub(super) text: &'t str,
    /// Byte position in the source.
    pub(super) start: usize,
    /// If true, white space precedes it.
    pub(super) is_spaced: bool,
}

impl<'t> Token<'t> {
    pub(super) fn place(&self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }

    pub(super) fn is_word(&self) -> bool {
        self.text.starts_with(char::is_alphanumeric)
    }

    pub(super) fn is(&self, text: &str) -> bool {
        self.text.eq_ignore_ascii_case(text)
    }

    pub(super) fn is_any(&self, texts: &[&str]) -> bool {
        texts.iter().any(|text| self.is(text))
    }

    /// Returns true for a word with a capital or a digit, as in names.
    pub(super) fn is_marked(&self) -> bool {
        self.text
            .chars()
            .any(|c| c.is_uppercase() || c.is_ascii_digit())
    }

    /// Returns true for a word that resembles no ordinary word: acronyms, capitals inside, or letters with digits.
    pub(super) fn is_strongly_marked(&self) -> bool {
        let inner = self.text.chars().skip(1).any(char::is_uppercase);
        inner
            || self.text.chars().any(char::is_alphabetic) && self.text.chars().any(char::is_numeric)
    }

    pub(super) fn ends_sentence(&self) -> bool {
        matches!(self.text, "." | "!" | "?")
    }
}

/// Abbreviations with points that end no sentence.
const SHORT_FORMS: [&str; 9] = [
    "e.g.", "i.e.", "et al.", "vs.", "cf.", "w.r.t.", "etc.", "e.g", "i.e",
];

/// Splits a text into tokens: runs of letters and digits, with apostrophes, and with points between digits. Every other
/// character is a token of its own.
pub(super) fn tokenize(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let (mut place, mut is_spaced) = (0, false);
    while let Some(first) = text[place..].chars().next() {
        if first.is_whitespace() {
            (place, is_spaced) = (place + first.len_utf8(), true);
            continue;
        }
        let length = first_token_length(&text[place..]);
        tokens.push(Token {
            text: &text[place..place + length],
            start: place,
            is_spaced,
        });
        (place, is_spaced) = (place + length, false);
    }
    tokens
}

/// Returns the byte length of the first token of a text.
fn first_token_length(text: &str) -> usize {
    let short_form = SHORT_FORMS.iter().find(|form| {
        text.get(..form.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(form))
            && !text[form.len()..].starts_with(char::is_alphanumeric)
    });
    if let Some(form) = short_form {
        return form.len();
    }
    let mut end = 0;
    let mut characters = text.char_indices().peekable();
    while let Some((place, character)) = characters.next() {
        let next = characters.peek().map(|(_, next)| *next);
        let joins = match character {
            '\'' | '’' => next.is_some_and(char::is_alphabetic),
            '.' | ',' => {
                text[..place].ends_with(|c: char| c.is_ascii_digit())
                    && next.is_some_and(|c| c.is_ascii_digit())
            }
            _ => character.is_alphanumeric(),
        };
        if !joins || end == 0 && !character.is_alphanumeric() {
            break;
        }
        end = place + character.len_utf8();
    }
    if end > 0 {
        return end;
    }
    match text.chars().next() {
        Some(first) => first.len_utf8(),
        None => 0,
    }
}

/// Returns the sentences of a text as ranges of its tokens.
pub(super) fn split_sentences(tokens: &[Token<'_>]) -> Vec<Range<usize>> {
    let mut sentences = Vec::new();
    let mut start = 0;
    for (place, token) in tokens.iter().enumerate() {
        let next = tokens.get(place + 1);
        let begins =
            next.is_none_or(|next| next.is_spaced && (next.is_marked() || !next.is_word()));
        if token.ends_sentence() && begins {
            sentences.push(start..place + 1);
            start = place + 1;
        }
    }
    if start < tokens.len() {
        sentences.push(start..tokens.len());
    }
    sentences
}

/// Returns the number of words among tokens.
pub(super) fn count_words(tokens: &[Token<'_>]) -> usize {
    tokens.iter().filter(|token| token.is_word()).count()
}

/// Joins tokens, with single spaces where the source has white space.
pub(super) fn join_tokens<'t>(tokens: impl IntoIterator<Item = Token<'t>>) -> String {
    let mut text = String::new();
    for token in tokens {
        if token.is_spaced && !text.is_empty() {
            text.push(' ');
        }
        text.push_str(token.text);
    }
    text
}

/// Returns the words of a text in lower case, joined by single spaces. It serves to compare texts regardless of
/// punctuation.
pub(super) fn normalize_text(text: &str) -> String {
    let words = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

/// Returns a lower-case word without the s of the plural.
pub(super) fn singular(word: &str) -> &str {
    word.strip_suffix('s')
        .filter(|stem| stem.len() > 2 && !stem.ends_with('s'))
        .unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_signs_and_short_forms() {
        let text = "We don't use 3.5% of MNIST-10 (e.g., digits).";
        let all = tokenize(text);
        let texts: Vec<&str> = all.iter().map(|token| token.text).collect();
        assert_eq!(
            texts,
            [
                "We", "don't", "use", "3.5", "%", "of", "MNIST", "-", "10", "(", "e.g.", ",",
                "digits", ")", "."
            ]
        );
        assert_eq!(join_tokens(all.iter().copied()), text);
        assert!(all.iter().all(|token| &text[token.place()] == token.text));
    }

    #[test]
    fn sentences_end_at_points_before_capitals() {
        let text = "One has 2.5 of it. Two, e.g. This et al. Are one? three. Four";
        let all = tokenize(text);
        let texts: Vec<String> = split_sentences(&all)
            .into_iter()
            .map(|place| join_tokens(all[place].iter().copied()))
            .collect();
        assert_eq!(
            texts,
            [
                "One has 2.5 of it.",
                "Two, e.g. This et al. Are one? three.",
                "Four"
            ]
        );
    }
}
