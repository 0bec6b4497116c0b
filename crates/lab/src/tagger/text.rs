//! Papers' texts as the automaton and the rules see them: folded for matching, as tokens for reading around a match.

use std::ops::Range;

/// A text without case, white space, hyphens and underscores, and where each of its bytes came from. Spellings of one
/// name ("CIFAR-10", "Cifar 10") fold to the same key; what their differences are worth is judged on the text itself.
pub(super) struct Folded {
    pub(super) text: String,
    /// The bytes of the source that each byte of `text` stands for.
    sources: Vec<Range<usize>>,
}

impl Folded {
    pub(super) fn of(source: &str) -> Self {
        let mut folded = Self { text: String::with_capacity(source.len()), sources: Vec::with_capacity(source.len()) };
        for (start, character) in source.char_indices().filter(|(_, character)| !is_separator(*character)) {
            for lower in character.to_lowercase() {
                folded.text.push(lower);
                let place = start..start + character.len_utf8();
                folded.sources.resize(folded.text.len(), place);
            }
        }
        folded
    }

    /// What a match in the folded text is in the source.
    pub(super) fn source(&self, found: Range<usize>) -> Range<usize> {
        self.sources[found.start].start..self.sources[found.end - 1].end
    }
}

/// The key under which all spellings of a name are found.
pub(super) fn key(name: &str) -> String {
    Folded::of(name).text
}

/// White space, hyphens of any kind, underscores: what spellings of one name differ in.
pub(super) fn is_separator(character: char) -> bool {
    character.is_whitespace() || character == '_' || is_hyphen(character)
}

pub(super) fn is_hyphen(character: char) -> bool {
    matches!(character, '-' | '\u{2010}'..='\u{2015}' | '\u{2212}')
}

/// Whether a name may begin and end here. "ImageNet" is neither in "ImageNetV2" nor in "mini-ImageNet" or "ImageNet-A":
/// these are names of something else. It is in "ImageNet-pretrained" and "ImageNet-based", since a word in lower case
/// after the hyphen says what is done with it, and in "ImageNet-2012", which is one year's edition.
pub(super) fn stands_alone(text: &str, place: &Range<usize>) -> bool {
    starts_name(&text[..place.start]) && ends_name(&text[place.end..]) && !is_in_address(text, place)
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

/// What follows the hyphen after a name: nothing, two or more letters in lower case, or a year.
fn continues_as_word(rest: &str) -> bool {
    let word: String = rest.chars().take_while(|character| character.is_alphanumeric()).collect();
    let is_year = word.len() == 4 && (word.starts_with("19") || word.starts_with("20"));
    let is_year = is_year && word.bytes().all(|byte| byte.is_ascii_digit());
    word.is_empty() || is_year || word.chars().count() > 1 && word.chars().all(char::is_lowercase)
}

/// Bytes of an address looked at on each side of a name: what has no white space at all is not read anew for every name.
const ADDRESS: usize = 256;

/// Whether the run of characters around the place is an address on the Web.
fn is_in_address(text: &str, place: &Range<usize>) -> bool {
    let first = text.floor_char_boundary(place.start.saturating_sub(ADDRESS));
    let last = text.ceil_char_boundary((place.end + ADDRESS).min(text.len()));
    let before = text[first..place.start].rsplit(char::is_whitespace).next().unwrap_or_default();
    let end = text[place.end..last].find(char::is_whitespace).map_or(last, |space| place.end + space);
    let run = &text[place.start - before.len()..end];
    run.contains("://")
        || run.contains("www.")
        || [".com/", ".org/", ".io/", ".net/"].iter().any(|end| run.contains(end))
}

/// A word, or one character of punctuation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Token {
    pub(super) place: Range<usize>,
    /// In lower case.
    pub(super) word: String,
    /// Whether it has a capital or a digit, as names have.
    pub(super) is_marked: bool,
}

impl Token {
    pub(super) fn is_word(&self) -> bool {
        self.word.chars().any(char::is_alphanumeric)
    }
}

/// The tokens of a text. A word is a run of letters and digits, with single hyphens, points and apostrophes inside it.
pub(super) fn tokens(text: &str) -> Vec<Token> {
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
        let is_marked = word.chars().any(|character| character.is_uppercase() || character.is_numeric());
        tokens.push(Token { place: start..end, word: word.to_lowercase(), is_marked });
    }
    tokens
}

/// How far a word goes on after its first character.
fn word_length(rest: &str) -> usize {
    let mut end = 0;
    let mut characters = rest.char_indices().peekable();
    while let Some((place, character)) = characters.next() {
        let joins = is_hyphen(character) || matches!(character, '.' | '\'' | '\u{2019}');
        let goes_on = characters.peek().is_some_and(|(_, next)| next.is_alphanumeric());
        if !(character.is_alphanumeric() || joins && goes_on) {
            break;
        }
        end = place + character.len_utf8();
    }
    end
}
