//! Texts as words and signs, each in its place, so that some can be taken out and the rest put together again.

use std::ops::Range;

/// A word or a sign.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'t> {
    pub(super) text: &'t str,
    /// Where it begins in the source.
    pub(super) start: usize,
    /// Whether white space is before it.
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

    /// Whether it is written like a name: with a capital or a digit.
    pub(super) fn is_marked(&self) -> bool {
        self.text.chars().any(|c| c.is_uppercase() || c.is_ascii_digit())
    }

    /// Whether it is written like nothing but a name: as an acronym, with capitals inside, or with letters and digits.
    pub(super) fn is_strongly_marked(&self) -> bool {
        let inner = self.text.chars().skip(1).any(char::is_uppercase);
        let has = |is: fn(char) -> bool| self.text.chars().any(is);
        inner || has(char::is_alphabetic) && has(char::is_numeric)
    }

    pub(super) fn ends_sentence(&self) -> bool {
        matches!(self.text, "." | "!" | "?")
    }
}

/// Short forms that hold points and end no sentence.
const SHORT_FORMS: [&str; 9] = ["e.g.", "i.e.", "et al.", "vs.", "cf.", "w.r.t.", "etc.", "e.g", "i.e"];

/// The tokens of a text: runs of letters and digits, with apostrophes and with points among digits; every other sign alone.
pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let (mut place, mut is_spaced) = (0, false);
    while let Some(first) = text[place..].chars().next() {
        if first.is_whitespace() {
            (place, is_spaced) = (place + first.len_utf8(), true);
            continue;
        }
        let length = length(&text[place..]);
        tokens.push(Token { text: &text[place..place + length], start: place, is_spaced });
        (place, is_spaced) = (place + length, false);
    }
    tokens
}

/// How long the token is that a text begins with.
fn length(text: &str) -> usize {
    let is_short_form = |form: &&&str| {
        text.get(..form.len()).is_some_and(|head| head.eq_ignore_ascii_case(form))
            && !text[form.len()..].starts_with(char::is_alphanumeric)
    };
    if let Some(form) = SHORT_FORMS.iter().find(is_short_form) {
        return form.len();
    }
    let mut end = 0;
    let mut characters = text.char_indices().peekable();
    while let Some((place, character)) = characters.next() {
        let next = characters.peek().map(|(_, next)| *next);
        let joins = match character {
            '\'' | '’' => next.is_some_and(char::is_alphabetic),
            '.' | ',' => {
                text[..place].ends_with(|c: char| c.is_ascii_digit()) && next.is_some_and(|c| c.is_ascii_digit())
            }
            _ => character.is_alphanumeric(),
        };
        if !joins || end == 0 && !character.is_alphanumeric() {
            break;
        }
        end = place + character.len_utf8();
    }
    if end == 0 { text.chars().next().map_or(0, char::len_utf8) } else { end }
}

/// The sentences of a text, as runs of its tokens.
pub(super) fn sentences(tokens: &[Token<'_>]) -> Vec<Range<usize>> {
    let mut sentences = Vec::new();
    let mut start = 0;
    for (place, token) in tokens.iter().enumerate() {
        let next = tokens.get(place + 1);
        let begins = next.is_none_or(|next| next.is_spaced && (next.is_marked() || !next.is_word()));
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

/// Puts tokens together, with single spaces where the source has any.
pub(super) fn joined<'t>(tokens: impl IntoIterator<Item = Token<'t>>) -> String {
    let mut text = String::new();
    for token in tokens {
        if token.is_spaced && !text.is_empty() {
            text.push(' ');
        }
        text.push_str(token.text);
    }
    text
}

/// The words of a text in lower case, parted by single spaces: what two texts have in common whatever their punctuation.
pub(super) fn normalized(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

/// A word in lower case without the s of its plural.
pub(super) fn singular(word: &str) -> &str {
    word.strip_suffix('s').filter(|stem| stem.len() > 2 && !stem.ends_with('s')).unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_signs_and_short_forms() {
        let text = "We don't use 3.5% of MNIST-10 (e.g., digits).";
        let all = tokens(text);
        let texts: Vec<&str> = all.iter().map(|token| token.text).collect();
        assert_eq!(
            texts,
            ["We", "don't", "use", "3.5", "%", "of", "MNIST", "-", "10", "(", "e.g.", ",", "digits", ")", "."]
        );
        assert_eq!(joined(all.iter().copied()), text);
        assert!(all.iter().all(|token| &text[token.place()] == token.text));
    }

    #[test]
    fn sentences_end_at_points_before_capitals() {
        let text = "One has 2.5 of it. Two, e.g. This et al. Are one? three. Four";
        let all = tokens(text);
        let told: Vec<String> = sentences(&all).into_iter().map(|place| joined(all[place].iter().copied())).collect();
        assert_eq!(told, ["One has 2.5 of it.", "Two, e.g. This et al. Are one? three.", "Four"]);
    }
}
