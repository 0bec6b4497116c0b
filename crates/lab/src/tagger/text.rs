//! Representations of papers' texts: folded for matching, tokenised for the rules.

use std::ops::Range;

/// A text without case, white space, hyphens and underscores, with the origin of each of its bytes.
///
/// All spellings of a name ("CIFAR-10", "Cifar 10") fold to the same key. Differences between spellings are judged on
/// the original text.
pub(super) struct FoldedText {
    pub(super) text: String,
    /// Bytes of the source for each byte of `text`.
    sources: Vec<Range<usize>>,
}

impl FoldedText {
    pub(super) fn new(source: &str) -> Self {
        let mut folded = Self {
            text: String::with_capacity(source.len()),
            sources: Vec::with_capacity(source.len()),
        };
        for (start, character) in source
            .char_indices()
            .filter(|(_, character)| !is_separator(*character))
        {
            for lower in character.to_lowercase() {
                folded.text.push(lower);
                let place = start..start + character.len_utf8();
                // A character may have several lower-case ones, and each of these several bytes.
                folded.sources.resize(folded.text.len(), place);
            }
        }
        folded
    }

    /// Returns the byte range in the source of a match in the folded text.
    pub(super) fn source(&self, found: Range<usize>) -> Range<usize> {
        self.sources[found.start].start..self.sources[found.end - 1].end
    }
}

/// Returns the key that all spellings of a name share.
pub(super) fn name_key(name: &str) -> String {
    FoldedText::new(name).text
}

/// Returns true for white space, hyphens of any kind and underscores. Spellings of one name differ in these.
pub(super) fn is_separator(character: char) -> bool {
    character.is_whitespace() || character == '_' || is_hyphen(character)
}

pub(super) fn is_hyphen(character: char) -> bool {
    matches!(character, '-' | '\u{2010}'..='\u{2015}' | '\u{2212}')
}

/// Returns true if a name may begin and end here.
///
/// "ImageNet" is not a name in "ImageNetV2", "mini-ImageNet" or "ImageNet-A", which name other things. It is one in
/// "ImageNet-pretrained" and "ImageNet-based": a lower-case word after the hyphen describes a use of the dataset. It is
/// also one in "ImageNet-2012", an annual edition.
pub(super) fn stands_alone(text: &str, place: &Range<usize>) -> bool {
    starts_name(&text[..place.start])
        && ends_name(&text[place.end..])
        && !is_in_address(text, place)
}

fn starts_name(before: &str) -> bool {
    let mut before = before.chars().rev();
    match before.next() {
        None => true,
        Some(last) if last.is_alphanumeric() || matches!(last, '_' | '@' | '#') => false,
        Some(last) if is_hyphen(last) || matches!(last, '.' | '+' | '&') => {
            before.next().is_none_or(|letter| !letter.is_alphanumeric())
        }
        Some(_) => true,
    }
}

fn ends_name(after: &str) -> bool {
    let mut characters = after.chars();
    match characters.next() {
        None => true,
        Some(first) if first.is_alphanumeric() || matches!(first, '_' | '@') => false,
        Some(first) if is_hyphen(first) => continues_as_word(characters.as_str()),
        Some('+' | '&' | '*') => false,
        Some('.' | ':') => characters.next().is_none_or(|next| !next.is_alphanumeric()),
        Some(_) => true,
    }
}

/// Returns true if the hyphen after a name is followed by nothing, by two or more lower-case letters, or by a year.
fn continues_as_word(rest: &str) -> bool {
    let word: String = rest
        .chars()
        .take_while(|character| character.is_alphanumeric())
        .collect();
    let is_year = word.len() == 4 && (word.starts_with("19") || word.starts_with("20"));
    let is_year = is_year && word.bytes().all(|byte| byte.is_ascii_digit());
    word.is_empty() || is_year || word.chars().count() > 1 && word.chars().all(char::is_lowercase)
}

/// Maximum number of bytes scanned for an address on each side of a name. The bound keeps text without white space linear.
const MAX_ADDRESS_BYTES: usize = 256;

/// Returns true if the surrounding run of characters is a Web address.
fn is_in_address(text: &str, place: &Range<usize>) -> bool {
    // The distance in bytes may end within a character.
    let first = text.floor_char_boundary(place.start.saturating_sub(MAX_ADDRESS_BYTES));
    let last = text.ceil_char_boundary((place.end + MAX_ADDRESS_BYTES).min(text.len()));
    let before = text[first..place.start]
        .rsplit(char::is_whitespace)
        .next()
        .unwrap_or_default();
    let end = match text[place.end..last].find(char::is_whitespace) {
        Some(space) => place.end + space,
        None => last,
    };
    let run = &text[place.start - before.len()..end];
    run.contains("://")
        || run.contains("www.")
        || [".com/", ".org/", ".io/", ".net/"]
            .iter()
            .any(|end| run.contains(end))
}

/// A word, or one punctuation character.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Token {
    pub(super) place: Range<usize>,
    /// Lower-cased.
    pub(super) word: String,
    /// If true, the word has a capital or a digit, as names do.
    pub(super) is_marked: bool,
}

impl Token {
    pub(super) fn is_word(&self) -> bool {
        self.word.chars().any(char::is_alphanumeric)
    }
}

/// Splits a text into tokens. A word is a run of letters and digits, with single hyphens, points and apostrophes inside
/// it.
pub(super) fn tokenize(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut characters = text.char_indices().peekable();
    while let Some((start, first)) = characters.next() {
        if first.is_whitespace() {
            continue;
        }
        let mut end = start + first.len_utf8();
        if first.is_alphanumeric() {
            end += word_length(&text[end..]);
            while characters.next_if(|(place, _)| *place < end).is_some() {}
        }
        let word = &text[start..end];
        let is_marked = word
            .chars()
            .any(|character| character.is_uppercase() || character.is_numeric());
        tokens.push(Token {
            place: start..end,
            word: word.to_lowercase(),
            is_marked,
        });
    }
    tokens
}

/// Returns the number of bytes of a word after its first character.
fn word_length(rest: &str) -> usize {
    let mut end = 0;
    let mut characters = rest.char_indices().peekable();
    while let Some((place, character)) = characters.next() {
        let joins = is_hyphen(character) || matches!(character, '.' | '\'' | '\u{2019}');
        let goes_on = characters
            .peek()
            .is_some_and(|(_, next)| next.is_alphanumeric());
        if !(character.is_alphanumeric() || joins && goes_on) {
            break;
        }
        end = place + character.len_utf8();
    }
    end
}
