//! Years, months and days, and their ranges.

use super::{CoverageValue, Words};
use crate::coverage::period::TEXT_YEARS;
use crate::coverage::{Day, Period};

/// Characters between the dates of a range.
const DASHES: [&str; 6] = ["-", "–", "—", "/", "..", "…"];

/// Meaning of words before a date.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cue {
    /// Begins a range; before a date alone it has no meaning.
    Range,
    /// Begins a range with an "and" between its dates.
    Between,
    /// The period begins with the date.
    Since,
    /// The period begins after the date.
    After,
    /// The period ends before the date.
    Before,
    /// The period ends with the date.
    Until,
}

/// Words before a date, in lower case and without accents. Longer ones are before those that they begin with.
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

/// Words between a cue and its date.
const FILLERS: [&str; 17] = [
    "the", "year", "years", "dem", "den", "jahr", "jahren", "l", "la", "annee", "annees", "el",
    "ano", "anos", "il", "anno", "anni",
];
/// Maximum number of such words.
const MAX_FILLERS: usize = 2;

/// Words between the dates of a range.
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
/// Words between the dates of a range that began with [`Cue::Between`].
const AND: &[&[&str]] = &[&["and"], &["und"], &["et"], &["y"], &["e"]];
/// Words for the present, as the end of a range.
const PRESENT: &[&[&str]] = &[
    &["present"],
    &["today"],
    &["now"],
    &["heute"],
    &["aujourd", "hui"],
    &["hoy"],
    &["la", "actualidad"],
    &["oggi"],
];
/// Words after "from" and a date, for a range without end.
const ONWARDS: &[&[&str]] = &[&["on"], &["onward"], &["onwards"]];

/// Names of the months, in lower case and without accents. French `mars` is omitted: in English it is a planet.
const MONTHS: [&[&str]; 12] = [
    &["january", "januar", "janner", "janvier", "enero", "gennaio"],
    &["february", "februar", "fevrier", "febrero", "febbraio"],
    &["march", "marz", "marzo"],
    &["april", "avril", "abril", "aprile"],
    &["may", "mai", "mayo", "maggio"],
    &["june", "juni", "juin", "junio", "giugno"],
    &["july", "juli", "juillet", "julio", "luglio"],
    &["august", "aout", "agosto"],
    &["september", "septembre", "septiembre", "settembre"],
    &["october", "oktober", "octobre", "octubre", "ottobre"],
    &["november", "novembre", "noviembre"],
    &["december", "dezember", "decembre", "diciembre", "dicembre"],
];
/// Words between a month and its year.
const OF: [&str; 3] = ["of", "de", "del"];

/// Returns the period of a year, a month or a day.
fn period_of(year: i32, month: Option<u32>, day: Option<u32>) -> Option<Period> {
    let mut date = format!("{year:04}");
    for number in [month, day].into_iter().flatten() {
        date += &format!("-{number:02}");
    }
    Period::from_date_text(&date)
}

/// Returns the period of the expression that begins at a word, and the place of the word after it.
pub(super) fn expression_at(words: &Words<'_>, place: usize) -> Option<(CoverageValue, usize)> {
    if continues_date(words, place) {
        return None;
    }
    let (cue, start) = match cue_at(words, place) {
        Some((cue, next)) => (Some(cue), after_fillers(words, next)),
        None => (None, place),
    };
    let (period, next) = period_at(words, cue, start)?;
    Some((CoverageValue::Period(period), next))
}

/// Returns the meaning of the cue at a word, and the place of the word after it.
fn cue_at(words: &Words<'_>, place: usize) -> Option<(Cue, usize)> {
    let (phrase, cue) = CUES
        .iter()
        .find(|(phrase, _)| words.has_phrase(place, phrase))?;
    Some((*cue, place + phrase.len()))
}

/// Returns the place after words such as "the year".
fn after_fillers(words: &Words<'_>, place: usize) -> usize {
    let mut next = place;
    while next < place + MAX_FILLERS
        && words
            .folded_word(next)
            .is_some_and(|word| FILLERS.contains(&word))
    {
        next += 1;
    }
    next
}

/// Returns true if a word other than a year follows a day or a month whose expression was not recognized, as in "5 May to 7 June 2015":
/// the rest alone would be another period.
fn continues_date(words: &Words<'_>, place: usize) -> bool {
    let Some(before) = place.checked_sub(1) else {
        return false;
    };
    if is_month_at(words, before) && cue_at(words, place).is_some()
        || is_day_at(words, before) && is_month_at(words, place)
    {
        return true;
    }
    if !is_day_at(words, place) && !is_month_at(words, place) {
        return false;
    }
    is_month_at(words, before) && DASHES.contains(&words.gap_before(place))
        || TO.iter().chain(AND).any(|phrase| {
            place.checked_sub(phrase.len() + 1).is_some_and(|month| {
                is_month_at(words, month) && words.has_phrase(month + 1, phrase)
            })
        })
}

fn is_day_at(words: &Words<'_>, place: usize) -> bool {
    (1..=2).any(|digits| number_at(words, place, digits).is_some())
}

fn is_month_at(words: &Words<'_>, place: usize) -> bool {
    month_name(words, place).is_some()
}

/// Returns the period from a month to another of the same year, as in "May to July 2015", and the place of the word after it.
fn months_at(words: &Words<'_>, cue: Option<Cue>, place: usize) -> Option<(Period, usize)> {
    let first = month_name(words, place)?;
    let second = place + 1;
    let second = if DASHES.contains(&words.gap_before(second)) {
        second
    } else {
        second + range_words(words, cue, second)?
    };
    let last = month_name(words, second)?;
    let (year, next) = year_after_month(words, second)?;
    let [first, last] = [first, last].map(|month| period_of(year, Some(month), None));
    Some((Period::new(first?.first(), last?.last())?, next))
}

/// Returns the period of the date at a word after a cue, or of the range that begins with it.
fn period_at(words: &Words<'_>, cue: Option<Cue>, place: usize) -> Option<(Period, usize)> {
    if matches!(cue, None | Some(Cue::Range | Cue::Between))
        && let Some(months) = months_at(words, cue, place)
    {
        return Some(months);
    }
    let (date, next) = date_at(words, place)?;
    // Punctuation between a word and a date ends the meaning of the word.
    if cue.is_some() && !is_connected(words, place) {
        return None;
    }
    if !matches!(cue, Some(Cue::Until | Cue::Before | Cue::After))
        && let Some((last, next)) = end_of_range(words, cue, next)
        && let Some(period) = Period::new(date.first(), last.and_then(Period::last))
    {
        return Some((period, next));
    }
    let (first, last) = match cue {
        None => (date.first(), date.last()),
        Some(Cue::Range) => {
            let onwards = phrase_at(words, ONWARDS, next).filter(|_| is_connected(words, next))?;
            return Some((Period::new(date.first(), None)?, next + onwards));
        }
        // Without its second date, the expression is not understood.
        Some(Cue::Between) => return None,
        Some(Cue::Since) => (date.first(), None),
        Some(Cue::After) => (
            date.last().map(|day| Day::from_number(day.number() + 1)),
            None,
        ),
        Some(Cue::Before) => (
            None,
            date.first().map(|day| Day::from_number(day.number() - 1)),
        ),
        Some(Cue::Until) => (None, date.last()),
    };
    Some((Period::new(first, last)?, next))
}

/// Returns the last date of a range, and the place of the word after it. `Some(None)` is the present.
fn end_of_range(
    words: &Words<'_>,
    cue: Option<Cue>,
    place: usize,
) -> Option<(Option<Period>, usize)> {
    words.folded_word(place)?;
    if DASHES.contains(&words.gap_before(place)) {
        return end_at(words, place);
    }
    let connecting = range_words(words, cue, place)?;
    let (start, end) = (place + connecting, after_fillers(words, place + connecting));
    let found = end_at(words, end).or_else(|| end_at(words, start));
    found.filter(|_| is_connected(words, place) && is_connected(words, end))
}

/// Returns the number of words between the dates of a range, if they are at a word.
fn range_words(words: &Words<'_>, cue: Option<Cue>, place: usize) -> Option<usize> {
    phrase_at(words, TO, place)
        .or_else(|| phrase_at(words, AND, place).filter(|_| cue == Some(Cue::Between)))
}

/// Returns the date or the present at a word, and the place of the word after it.
fn end_at(words: &Words<'_>, place: usize) -> Option<(Option<Period>, usize)> {
    if let Some((date, next)) = date_at(words, place) {
        return Some((Some(date), next));
    }
    phrase_at(words, PRESENT, place).map(|length| (None, place + length))
}

/// Returns the number of words of the first phrase that begins at a word.
fn phrase_at(words: &Words<'_>, phrases: &[&[&str]], place: usize) -> Option<usize> {
    let found = phrases
        .iter()
        .find(|phrase| words.has_phrase(place, phrase));
    found.map(|phrase| phrase.len())
}

/// Returns true if only spaces or an apostrophe separate a word from the one before it.
fn is_connected(words: &Words<'_>, place: usize) -> bool {
    matches!(words.gap_before(place), "" | "'" | "’")
}

/// Returns the date at a word, and the place of the word after it: `2015`, `May 2015`, `mayo de 2015`, `5 May 2015`, `2015-05` or
/// `2015-05-07`.
fn date_at(words: &Words<'_>, place: usize) -> Option<(Period, usize)> {
    if let Some(year) = year_at(words, place) {
        return iso_date(words, year, place);
    }
    let day = (1..=2).find_map(|digits| number_at(words, place, digits));
    let day = day.filter(|_| matches!(words.gap_before(place + 1), "" | "."));
    let month_place = place + usize::from(day.is_some());
    let month = month_name(words, month_place)?;
    let (year, next) = year_after_month(words, month_place)?;
    Some((period_of(year, Some(month), day)?, next))
}

/// Returns the date of ISO 8601 that begins with the year at a word. A year with the last digits of the next one, such as 2009-10, is
/// none: these are seasons and fiscal years.
fn iso_date(words: &Words<'_>, year: i32, place: usize) -> Option<(Period, usize)> {
    let Some(month) = hyphenated_number_at(words, place + 1) else {
        return Some((period_of(year, None, None)?, place + 1));
    };
    match hyphenated_number_at(words, place + 2) {
        Some(day) => Some((period_of(year, Some(month), Some(day))?, place + 3)),
        None if i64::from(month) == i64::from(year + 1) % 100 => None,
        None => Some((period_of(year, Some(month), None)?, place + 2)),
    }
}

/// Returns the number of two digits at a word, if a hyphen precedes it.
fn hyphenated_number_at(words: &Words<'_>, place: usize) -> Option<u32> {
    number_at(words, place, 2).filter(|_| words.between(place) == "-")
}

/// Returns the number of the month that a word names, from 1.
fn month_name(words: &Words<'_>, place: usize) -> Option<u32> {
    let name = words.folded_word(place)?;
    (1..)
        .zip(MONTHS)
        .find_map(|(month, names)| names.contains(&name).then_some(month))
}

/// Returns the year after the month at a word, and the place of the word after it.
fn year_after_month(words: &Words<'_>, month: usize) -> Option<(i32, usize)> {
    let next = month + 1;
    let has_of = words
        .folded_word(next)
        .is_some_and(|word| OF.contains(&word));
    let place = next + usize::from(has_of);
    let is_connected = (next..=place).all(|place| words.gap_before(place).is_empty());
    Some((year_at(words, place).filter(|_| is_connected)?, place + 1))
}

fn year_at(words: &Words<'_>, place: usize) -> Option<i32> {
    let year = number_at(words, place, 4)?;
    i32::try_from(year)
        .ok()
        .filter(|year| TEXT_YEARS.contains(year))
}

/// Returns the number at a word if it has exactly `digits` digits.
fn number_at(words: &Words<'_>, place: usize, digits: usize) -> Option<u32> {
    let word = words.folded_word(place)?;
    let is_number = word.len() == digits && word.bytes().all(|byte| byte.is_ascii_digit());
    word.parse().ok().filter(|_| is_number)
}
