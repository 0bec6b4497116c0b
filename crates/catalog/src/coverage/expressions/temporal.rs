//! Years and their ranges.

use super::{CoverageValue, Words};
use crate::coverage::period::TEXT_YEARS;
use crate::coverage::{Day, Period};

/// Characters between the years of a range.
const DASHES: [&str; 6] = ["-", "–", "—", "/", "..", "…"];

/// Meaning of words before a year.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cue {
    /// Begins a range; before a year alone it has no meaning.
    Range,
    /// Begins a range with an "and" between its years.
    Between,
    /// The period begins with the year.
    Since,
    /// The period begins after the year.
    After,
    /// The period ends before the year.
    Before,
    /// The period ends with the year.
    Until,
}

/// Words before a year, in lower case and without accents. Longer ones are before those that they begin with.
const CUES: &[(&[&str], Cue)] = &[
    // English.
    (&["from"], Cue::Range),
    (&["between"], Cue::Between),
    (&["since"], Cue::Since),
    (&["after"], Cue::After),
    (&["before"], Cue::Before),
    (&["until"], Cue::Until),
    (&["till"], Cue::Until),
    (&["up", "to"], Cue::Until),
    // German.
    (&["von"], Cue::Range),
    (&["zwischen"], Cue::Between),
    (&["seit"], Cue::Since),
    (&["ab"], Cue::Since),
    (&["nach"], Cue::After),
    (&["vor"], Cue::Before),
    (&["bis"], Cue::Until),
    // French, Spanish and Italian.
    (&["de"], Cue::Range),
    (&["du"], Cue::Range),
    (&["del"], Cue::Range),
    (&["entre"], Cue::Between),
    (&["tra"], Cue::Between),
    (&["fra"], Cue::Between),
    (&["depuis"], Cue::Since),
    (&["desde"], Cue::Since),
    (&["dal"], Cue::Since),
    (&["a", "partir", "de"], Cue::Since),
    (&["a", "partire", "dal"], Cue::Since),
    (&["apres"], Cue::After),
    (&["despues", "de"], Cue::After),
    (&["despues", "del"], Cue::After),
    (&["dopo"], Cue::After),
    (&["avant"], Cue::Before),
    (&["antes", "de"], Cue::Before),
    (&["antes", "del"], Cue::Before),
    (&["prima", "del"], Cue::Before),
    (&["jusqu", "en"], Cue::Until),
    (&["jusqu", "a"], Cue::Until),
    (&["hasta"], Cue::Until),
    (&["fino", "al"], Cue::Until),
];

/// Words between a cue and its year.
const FILLERS: [&str; 17] = [
    "the", "year", "years", "dem", "den", "jahr", "jahren", "l", "la", "annee", "annees", "el", "ano", "anos", "il",
    "anno", "anni",
];
/// Maximum number of such words.
const MAX_FILLERS: usize = 2;

/// Words between the years of a range.
const TO: &[&[&str]] = &[
    &["to"],
    &["until"],
    &["till"],
    &["through"],
    &["bis"],
    &["a"],
    &["jusqu", "en"],
    &["jusqu", "a"],
    &["al"],
    &["au"],
    &["hasta"],
    &["fino", "al"],
    &["fino", "a"],
];
/// Words between the years of a range that began with [`Cue::Between`].
const AND: &[&[&str]] = &[&["and"], &["und"], &["et"], &["y"], &["e"]];
/// Words for the present, as the end of a range.
const PRESENT: &[&[&str]] =
    &[&["present"], &["today"], &["now"], &["heute"], &["aujourd", "hui"], &["hoy"], &["la", "actualidad"], &["oggi"]];
/// Words after "from" and a year, for a range without end.
const ONWARDS: &[&[&str]] = &[&["on"], &["onward"], &["onwards"]];

/// Returns the period of the expression that begins at a word, and the place of the word after it.
pub(super) fn expression_at(words: &Words<'_>, place: usize) -> Option<(CoverageValue, usize)> {
    let (cue, start) = match cue_at(words, place) {
        Some((cue, next)) => (Some(cue), after_fillers(words, next)),
        None => (None, place),
    };
    let (period, next) = period_at(words, cue, start)?;
    Some((CoverageValue::Period(period), next))
}

/// Returns the meaning of the cue at a word, and the place of the word after it.
fn cue_at(words: &Words<'_>, place: usize) -> Option<(Cue, usize)> {
    let (phrase, cue) = CUES.iter().find(|(phrase, _)| words.has_phrase(place, phrase))?;
    Some((*cue, place + phrase.len()))
}

/// Returns the place after words such as "the year".
fn after_fillers(words: &Words<'_>, place: usize) -> usize {
    let mut next = place;
    while next < place + MAX_FILLERS && words.folded(next).is_some_and(|word| FILLERS.contains(&word)) {
        next += 1;
    }
    next
}

/// Returns the period of the year at a word after a cue, or of the range that begins with it.
fn period_at(words: &Words<'_>, cue: Option<Cue>, place: usize) -> Option<(Period, usize)> {
    let year = year_at(words, place)?;
    if cue.is_some() && !is_connected(words, place) {
        return None;
    }
    if !matches!(cue, Some(Cue::Until | Cue::Before | Cue::After))
        && let Some((last, next)) = end_of_range(words, cue, place + 1)
        && let Some(period) = years(Some(year), last)
    {
        return Some((period, next));
    }
    let next = place + 1;
    match cue {
        None => Some((years(Some(year), Some(year))?, next)),
        Some(Cue::Range) => {
            let onwards = phrase_at(words, ONWARDS, next).filter(|_| is_connected(words, next))?;
            Some((years(Some(year), None)?, next + onwards))
        }
        Some(Cue::Between) => None,
        Some(Cue::Since) => Some((years(Some(year), None)?, next)),
        Some(Cue::After) => Some((years(Some(year + 1), None)?, next)),
        Some(Cue::Before) => Some((years(None, Some(year - 1))?, next)),
        Some(Cue::Until) => Some((years(None, Some(year))?, next)),
    }
}

/// Returns the last year of a range, and the place of the word after it. `Some(None)` is the present.
fn end_of_range(words: &Words<'_>, cue: Option<Cue>, place: usize) -> Option<(Option<i32>, usize)> {
    words.folded(place)?;
    if DASHES.contains(&words.gap_before(place)) {
        return end_at(words, place);
    }
    let connecting = phrase_at(words, TO, place);
    let connecting = connecting.or_else(|| phrase_at(words, AND, place).filter(|_| cue == Some(Cue::Between)))?;
    let (start, end) = (place + connecting, after_fillers(words, place + connecting));
    let found = end_at(words, end).or_else(|| end_at(words, start));
    found.filter(|_| is_connected(words, place) && is_connected(words, end))
}

/// Returns the year or the present at a word, and the place of the word after it.
fn end_at(words: &Words<'_>, place: usize) -> Option<(Option<i32>, usize)> {
    if let Some(year) = year_at(words, place) {
        return Some((Some(year), place + 1));
    }
    phrase_at(words, PRESENT, place).map(|length| (None, place + length))
}

/// Returns the number of words of the first phrase that begins at a word.
fn phrase_at(words: &Words<'_>, phrases: &[&[&str]], place: usize) -> Option<usize> {
    let found = phrases.iter().find(|phrase| words.has_phrase(place, phrase));
    found.map(|phrase| phrase.len())
}

/// Returns true if only spaces or an apostrophe separate a word from the one before it.
fn is_connected(words: &Words<'_>, place: usize) -> bool {
    matches!(words.gap_before(place), "" | "'" | "’")
}

fn year_at(words: &Words<'_>, place: usize) -> Option<i32> {
    let word = words.folded(place)?;
    let is_number = word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_digit());
    word.parse().ok().filter(|year| is_number && TEXT_YEARS.contains(year))
}

/// Returns the period from the beginning of a year to the end of another. `None` if it is reversed.
fn years(first: Option<i32>, last: Option<i32>) -> Option<Period> {
    let first = first.and_then(|year| Day::from_date(year, 1, 1));
    Period::new(first, last.and_then(|year| Day::from_date(year, 12, 31)))
}
