//! Days and periods in the proleptic Gregorian calendar.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Last year of a day, and first year before the common era. Years of geology are out of range.
const MAX_YEAR: i32 = 9999;
/// Years that count in the words of a text; other numbers of four digits are rarely years.
pub(super) const TEXT_YEARS: std::ops::RangeInclusive<i32> = 1000..=2100;
/// Words for an end that is still to come.
const OPEN_ENDS: [&str; 12] = [
    "*", "..", "current", "now", "null", "ongoing", "onwards", "open", "present", "to date",
    "today", "unknown",
];
/// Words and marks between two dates of a text, besides those of ISO 8601.
const RANGE_WORDS: [&str; 8] = [
    "--",
    " to ",
    " - ",
    " – ",
    " until ",
    " through ",
    " bis ",
    " thru ",
];
/// Maximum number of characters of a text that is searched for years.
const MAX_SEARCHED_CHARS: usize = 1000;

/// A day, as the number of days since 1970-01-01.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Day(i32);

impl Day {
    /// Creates a day from its date. Returns `None` if there is no such date, or the year is not from -9999 to 9999.
    #[must_use]
    pub fn from_date(year: i32, month: u32, day: u32) -> Option<Self> {
        let is_valid = (-MAX_YEAR..=MAX_YEAR).contains(&year) && (1..=12).contains(&month);
        if !is_valid || day == 0 || day > days_of_month(year, month) {
            return None;
        }
        // Years begin in March, so that the leap day is the last of the year.
        let (month, day) = (i64::from(month), i64::from(day));
        let year = i64::from(year) - i64::from(month <= 2);
        // Days before a month, counted from March: 153 days are five months.
        let in_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
        let days =
            // Days from 0000-03-01; 719,468 of them are before 1970-01-01.
            365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + in_year
                - 719_468;
        i32::try_from(days).ok().map(Self)
    }

    /// Creates a day from the number of days since 1970-01-01.
    #[must_use]
    pub fn from_number(days: i32) -> Self {
        Self(days)
    }

    /// Returns the number of days since 1970-01-01.
    #[must_use]
    pub fn number(self) -> i32 {
        self.0
    }

    /// Returns year, month and day.
    #[must_use]
    pub fn date(self) -> (i32, u32, u32) {
        let days = i64::from(self.0) + 719_468;
        // An era of 400 years always has 146,097 days.
        let (era, in_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
        let year_of_era = (in_era - in_era / 1460 + in_era / 36_524 - in_era / 146_096) / 365;
        let in_year = in_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted = (5 * in_year + 2) / 153;
        let day = in_year - (153 * shifted + 2) / 5 + 1;
        let month = (shifted + 2) % 12 + 1;
        let year = era * 400 + year_of_era + i64::from(month <= 2);
        // A day has 32 bits, so that its year fits.
        (year as i32, month as u32, day as u32)
    }

    /// Returns the year.
    #[must_use]
    pub fn year(self) -> i32 {
        self.date().0
    }
}

fn days_of_month(year: i32, month: u32) -> u32 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = self.date();
        let sign = if year < 0 { "-" } else { "" };
        write!(f, "{sign}{:04}-{month:02}-{day:02}", year.abs())
    }
}

impl From<Day> for String {
    fn from(day: Day) -> Self {
        day.to_string()
    }
}

impl TryFrom<String> for Day {
    type Error = InvalidPeriod;

    fn try_from(text: String) -> Result<Self, InvalidPeriod> {
        let days = Period::from_date_text(&text).ok_or_else(|| InvalidPeriod::new(&text))?;
        days.first.ok_or_else(|| InvalidPeriod::new(&text))
    }
}

/// A period from a first to a last day, both included. A missing end is open; at least one end is known.
///
/// ```
/// use lodeseek_catalog::Period;
/// let years: Period = "2010..2015".parse()?;
/// assert!(years.overlaps("2015-12-31..".parse()?) && !years.overlaps("2016..".parse()?));
/// assert_eq!(years.first().map(|day| day.to_string()).as_deref(), Some("2010-01-01"));
/// # Ok::<(), lodeseek_catalog::InvalidPeriod>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Period {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    first: Option<Day>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last: Option<Day>,
}

/// Error for a text that is not a period.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "{0:?} is not a period: expected years or dates, as in 2010..2015, 2010-05-01.., ..2015 or 2010"
)]
pub struct InvalidPeriod(String);

impl InvalidPeriod {
    fn new(text: &str) -> Self {
        Self(text.chars().take(80).collect())
    }
}

impl Period {
    /// Creates a period. Returns `None` without ends, or if the last day is before the first.
    #[must_use]
    pub fn new(first: Option<Day>, last: Option<Day>) -> Option<Self> {
        let is_reversed = first.zip(last).is_some_and(|(first, last)| last < first);
        ((first.is_some() || last.is_some()) && !is_reversed).then_some(Self { first, last })
    }

    /// Returns the first day; `None` if the period has no known beginning.
    #[must_use]
    pub fn first(self) -> Option<Day> {
        self.first
    }

    /// Returns the last day; `None` if the period has no known end.
    #[must_use]
    pub fn last(self) -> Option<Day> {
        self.last
    }

    /// Returns true if the periods have a day in common.
    #[must_use]
    pub fn overlaps(self, other: Self) -> bool {
        begins_by(self.first, other.last) && begins_by(other.first, self.last)
    }

    /// Returns the shortest period that contains all periods. `None` without periods.
    #[must_use]
    pub fn around(periods: &[Self]) -> Option<Self> {
        if periods.is_empty() {
            return None;
        }
        let first = periods
            .iter()
            .map(|period| period.first)
            .collect::<Option<Vec<_>>>();
        let last = periods
            .iter()
            .map(|period| period.last)
            .collect::<Option<Vec<_>>>();
        Self::new(
            first.and_then(|days| days.into_iter().min()),
            last.and_then(|days| days.into_iter().max()),
        )
    }

    /// Reads a year, month, date or date with time of ISO 8601 and XML Schema. A time and a time zone are ignored.
    #[must_use]
    pub fn from_date_text(text: &str) -> Option<Self> {
        let text = text.trim();
        let (sign, digits) = match text.strip_prefix('-') {
            Some(rest) => (-1, rest),
            None => (1, text),
        };
        let (date, time) =
            digits.split_at(digits.find(['T', ' ', 'Z', '+']).unwrap_or(digits.len()));
        if !is_time(time) && !is_basic_time(date, time) {
            return None;
        }
        if sign == 1 && date.len() == 8 && parse_number(date, 8).is_some() {
            return Self::from_basic_date(date);
        }
        // A time zone west of Greenwich follows a year, a month or a day: 2010-05:00.
        let date = match date.rsplit_once('-') {
            Some((date, zone)) if zone.contains(':') && is_time(zone) => date,
            _ => date,
        };
        let mut parts = date.split('-');
        let year = sign * parse_number(parts.next()?, 4)?;
        let (month, day) = (parts.next(), parts.next());
        if parts.next().is_some() {
            return None;
        }
        if let Some(week) = month.and_then(|text| text.strip_prefix('W')) {
            return Self::from_week(
                year,
                parse_number(week, 2)?,
                day.map(|day| parse_number(day, 1)),
            );
        }
        if let (Some(number), None) = (month.and_then(|text| parse_number(text, 3)), day) {
            return Self::from_day_of_year(year, number);
        }
        let [month, day] = [month, day].map(|part| part.map(|text| parse_number(text, 2)));
        match (month, day) {
            (None, _) => Self::whole(Day::from_date(year, 1, 1)?, Day::from_date(year, 12, 31)?),
            (Some(month), None) => {
                let month = month? as u32;
                let first = Day::from_date(year, month, 1)?;
                Self::whole(
                    first,
                    Day::from_date(year, month, days_of_month(year, month))?,
                )
            }
            (Some(month), Some(day)) => {
                let day = Day::from_date(year, month? as u32, day? as u32)?;
                Self::whole(day, day)
            }
        }
    }

    /// Reads a date of the basic format of ISO 8601, as in `20100131`. Other numbers of eight digits are rarely dates.
    fn from_basic_date(digits: &str) -> Option<Self> {
        let [year, month, day] = [
            parse_number(&digits[..4], 4)?,
            parse_number(&digits[4..6], 2)?,
            parse_number(&digits[6..], 2)?,
        ];
        let day = Day::from_date(year, month as u32, day as u32)
            .filter(|_| TEXT_YEARS.contains(&year))?;
        Self::whole(day, day)
    }

    /// Creates the period of a week of ISO 8601, or of a day in it.
    fn from_week(year: i32, week: i32, weekday: Option<Option<i32>>) -> Option<Self> {
        if !(1..=53).contains(&week) {
            return None;
        }
        // The first week has the fourth of January. 1970-01-01 was a Thursday.
        let fourth = Day::from_date(year, 1, 4)?.number();
        let monday = fourth - (fourth + 3).rem_euclid(7) + 7 * (week - 1);
        match weekday {
            None => Self::whole(Day::from_number(monday), Day::from_number(monday + 6)),
            Some(weekday) => {
                let day = Day::from_number(
                    monday + weekday.filter(|weekday| (1..=7).contains(weekday))? - 1,
                );
                Self::whole(day, day)
            }
        }
    }

    fn from_day_of_year(year: i32, number: i32) -> Option<Self> {
        let day = Day::from_number(Day::from_date(year, 1, 1)?.number() + number - 1);
        (number > 0 && day.year() == year)
            .then_some(day)
            .and_then(|day| Self::whole(day, day))
    }

    fn whole(first: Day, last: Day) -> Option<Self> {
        Self::new(Some(first), Some(last))
    }

    /// Creates the period from the beginning of one date to the end of another. A missing date and words such as
    /// `present` are open ends, another unreadable date makes the period invalid.
    #[must_use]
    pub fn between(start: Option<&str>, end: Option<&str>) -> Option<Self> {
        let [start, end] =
            [start, end].map(|text| text.map(str::trim).filter(|text| !is_open(text)));
        let first = start.map(|text| Self::from_any_date(text)?.first);
        let last = end.map(|text| Self::from_any_date(text)?.last);
        if first == Some(None) || last == Some(None) {
            return None;
        }
        Self::new(first.flatten(), last.flatten())
    }

    /// Reads a period from the forms that descriptions use: an ISO 8601 interval, a DCMI Period, a date, two years, or
    /// the years in a text.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.contains("://") {
            return None;
        }
        if let Some(period) =
            // Before intervals, whose separator is a slash, too.
            Self::from_separated_date(text).or_else(|| Self::from_separated_dates(text))
        {
            return Some(period);
        }
        let known = Self::from_dcmi(text)
            .or_else(|| Self::from_interval(text))
            .or_else(|| Self::from_date_text(text));
        // The day of a date that does not exist must not become a whole year.
        if known.is_none() && has_form_of_date(text) {
            return None;
        }
        known.or_else(|| Self::from_years_in(text))
    }

    fn from_any_date(text: &str) -> Option<Self> {
        Self::from_date_text(text).or_else(|| Self::from_separated_date(text))
    }

    /// Reads `31/12/2021`, `12/31/2021`, `31.12.2021` or `2021/12/31`. If day and month cannot be distinguished, the date is its
    /// year.
    fn from_separated_date(text: &str) -> Option<Self> {
        let separator = text.chars().find(|c| matches!(c, '/' | '.'))?;
        let parts: Vec<&str> = text.trim().splitn(4, separator).collect();
        let &[first, second, third] = parts.as_slice() else {
            return None;
        };
        let year = parse_number(first, 4).filter(|_| separator == '/');
        let days = match year {
            Some(year) => [
                Day::from_date(year, short_number(second)?, short_number(third)?),
                None,
            ],
            None => {
                let year = parse_number(third, 4)?;
                let (first, second) = (short_number(first)?, short_number(second)?);
                let month_first = Day::from_date(year, first, second).filter(|_| separator == '/');
                [Day::from_date(year, second, first), month_first]
            }
        };
        match days {
            [Some(one), Some(other)] if one != other => Self::whole(
                Day::from_date(one.year(), 1, 1)?,
                Day::from_date(one.year(), 12, 31)?,
            ),
            [Some(day), _] | [None, Some(day)] => Self::whole(day, day),
            [None, None] => None,
        }
    }

    /// Reads an interval of which a date has slashes, as in `2020/31/12/2021`.
    fn from_separated_dates(text: &str) -> Option<Self> {
        let slashes: Vec<usize> = text
            .match_indices('/')
            .map(|(place, _)| place)
            .take(6)
            .collect();
        let places: &[usize] = match slashes.as_slice() {
            [first, _, last] => &[*first, *last],
            [_, _, middle, _, _] => &[*middle],
            _ => &[],
        };
        places
            .iter()
            .find_map(|place| Self::between(Some(&text[..*place]), Some(&text[place + 1..])))
    }

    /// Reads a DCMI Period, as in `start=2010; end=2015-06-30; scheme=W3C-DTF;`.
    /// <https://www.dublincore.org/specifications/dublin-core/dcmi-period/>
    fn from_dcmi(text: &str) -> Option<Self> {
        Self::between(dcmi_component(text, "start"), dcmi_component(text, "end"))
    }

    /// Reads an interval: of ISO 8601, two dates with a word between them, or a range of Solr, as in `[2010 TO *]`.
    fn from_interval(text: &str) -> Option<Self> {
        if let Some(range) = text
            .strip_prefix(['[', '{'])
            .and_then(|text| text.strip_suffix([']', '}']))
        {
            let (start, end) = range.split_once(" TO ")?;
            return Self::between(Some(start), Some(end));
        }
        if let Some((start, end)) = text.split_once('/') {
            return Self::from_iso_interval(text).or_else(|| Self::between(Some(start), Some(end)));
        }
        if let Some((start, end)) = text.split_once("..") {
            return Self::between(Some(start), Some(end));
        }
        let ends = RANGE_WORDS.iter().find_map(|word| text.split_once(word));
        let (start, end) =
            ends.filter(|(start, end)| !start.trim().is_empty() && !end.trim().is_empty())?;
        Self::between(Some(start), Some(end))
    }

    /// Reads an interval of ISO 8601: two dates, or a date and a duration, repeated or not. Of the second date, the parts that
    /// are equal to those of the first may be missing.
    fn from_iso_interval(text: &str) -> Option<Self> {
        let (repetitions, interval) =
            match text.strip_prefix('R').and_then(|rest| rest.split_once('/')) {
                // Repetitions without a number, or -1, have no end.
                Some(("" | "-1", interval)) => (None, interval),
                Some((number, interval)) => {
                    (Some(number.parse::<i32>().ok()?.clamp(1, 10_000)), interval)
                }
                None => (Some(1), text),
            };
        let (start, end) = interval.split_once('/')?;
        let (start, end) = (start.trim(), end.trim());
        match (Duration::parse(start), Duration::parse(end)) {
            (None, Some(duration)) => {
                let first = Self::from_date_text(start)?.first?;
                let Some(times) = repetitions else {
                    return Self::new(Some(first), None);
                };
                let next = duration.times(times)?.after(first)?;
                // The duration ends before the next one begins; one of less than a day is the first day.
                Self::new(Some(first), Some(Day(next.0 - 1).max(first)))
            }
            (Some(duration), None) => {
                let last = Self::from_date_text(end)?.last?;
                let Some(times) = repetitions else {
                    return Self::new(None, Some(last));
                };
                let first = duration.times(-times)?.after(Day(last.0 + 1))?;
                Self::new(Some(first.min(last)), Some(last))
            }
            (None, None) => {
                let whole = Self::between(Some(start), Some(end));
                let whole = whole
                    .or_else(|| Self::between(Some(start), Some(&complete_end(start, end)?)))?;
                if repetitions.is_none() {
                    Self::new(whole.first, None)
                } else {
                    Some(whole)
                }
            }
            (Some(_), Some(_)) => None,
        }
    }

    /// Returns the period of the years in a text: numbers of four digits from 1000 to 2100 that stand alone. If the last
    /// word is one such as `present`, the end is open.
    fn from_years_in(text: &str) -> Option<Self> {
        let text: String = text.chars().take(MAX_SEARCHED_CHARS).collect();
        let words: Vec<&str> = text
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .collect();
        let years = words
            .iter()
            .filter_map(|word| parse_number(word, 4))
            .filter(|year| TEXT_YEARS.contains(year));
        let years: Vec<i32> = years.collect();
        let (first, last) = (*years.iter().min()?, *years.iter().max()?);
        let last = Day::from_date(last, 12, 31)
            .filter(|_| !words.last().is_some_and(|word| is_open(word)));
        Self::new(Some(Day::from_date(first, 1, 1)?), last)
    }
}

/// A duration of ISO 8601 in months and days. Its time of less than a day is ignored.
#[derive(Clone, Copy)]
struct Duration {
    months: i32,
    days: i32,
}

impl Duration {
    /// Reads a duration, as in `P1Y6M` and `P2W`: years, months, weeks and days in this order, each at most once.
    fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix('P')?;
        let (date, time) = match rest.split_once('T') {
            Some((date, time)) => (date, Some(time)),
            None => (rest, None),
        };
        let is_time = time.is_none_or(|time| {
            !time.is_empty()
                && time
                    .chars()
                    .all(|c| c.is_ascii_digit() || "HMS.,".contains(c))
        });
        if !is_time || date.is_empty() && time.is_none() {
            return None;
        }
        let mut duration = Self { months: 0, days: 0 };
        let mut rest = date;
        // Units that may still follow.
        let mut units = "YMWD";
        while !rest.is_empty() {
            let length = rest.find(|c: char| !c.is_ascii_digit())?;
            let number: i32 = rest[..length]
                .parse()
                .ok()
                .filter(|number| *number <= 20_000)?;
            let unit = rest[length..].chars().next()?;
            let place = units.find(unit)?;
            duration = match unit {
                'Y' => duration.plus(number.checked_mul(12)?, 0)?,
                'M' => duration.plus(number, 0)?,
                'W' => duration.plus(0, number.checked_mul(7)?)?,
                _ => duration.plus(0, number)?,
            };
            units = &units[place + 1..];
            rest = &rest[length + 1..];
        }
        Some(duration)
    }

    /// Adds months and days. Returns `None` for an overflow.
    fn plus(self, months: i32, days: i32) -> Option<Self> {
        Some(Self {
            months: self.months.checked_add(months)?,
            days: self.days.checked_add(days)?,
        })
    }

    fn times(self, number: i32) -> Option<Self> {
        Some(Self {
            months: self.months.checked_mul(number)?,
            days: self.days.checked_mul(number)?,
        })
    }

    /// Returns the day after the duration since another day.
    fn after(self, day: Day) -> Option<Day> {
        let (year, month, day_of_month) = day.date();
        let months = year
            .checked_mul(12)?
            .checked_add(month as i32 - 1)?
            .checked_add(self.months)?;
        let (year, month) = (months.div_euclid(12), months.rem_euclid(12) as u32 + 1);
        // A month later than the 31st may be shorter: its last day.
        let moved = Day::from_date(year, month, day_of_month.min(days_of_month(year, month)))?;
        let (year, ..) = Day(moved.0.checked_add(self.days)?).date();
        (-MAX_YEAR..=MAX_YEAR)
            .contains(&year)
            .then(|| Day(moved.0 + self.days))
    }
}

/// Completes the second date of an interval by the first parts of the first one, as in `2008-02-15/03-14`, `2008-02/03` and
/// `2008-02-15T09:00/17:30`.
fn complete_end(start: &str, end: &str) -> Option<String> {
    let (date, time) = match start.split_once('T') {
        Some((date, time)) => (date, Some(time)),
        None => (start, None),
    };
    Period::from_date_text(date)?;
    let is_time = !end.contains(['-', 'T']) && end.contains(':');
    if time.is_some() && is_time {
        return Some(format!("{date}T{end}"));
    }
    let kept = match (date.len(), end.split('T').next()?.len()) {
        (10, 5) | (7, 2) => 5,
        (10, 2) => 8,
        _ => return None,
    };
    Some(format!("{}{end}", date.get(..kept)?))
}

/// Returns true for a text in the form of a date with year, month and day, which may be no day of the calendar.
fn has_form_of_date(text: &str) -> bool {
    text.len() == 10
        && text.bytes().enumerate().all(|(place, byte)| match place {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

/// Returns true for a time of the basic format after a date of the basic format.
fn is_basic_time(date: &str, time: &str) -> bool {
    let is_basic = date.len() == 8 && !date.contains('-');
    is_basic
        && time.starts_with('T')
        && time[1..]
            .chars()
            .all(|c| c.is_ascii_digit() || "Z.+-".contains(c))
}

/// Returns true for nothing and for a word for an end that is still to come.
fn is_open(text: &str) -> bool {
    text.is_empty() || OPEN_ENDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Returns true for a time, a time zone or both, which follow a date, and for nothing.
fn is_time(text: &str) -> bool {
    let has_characters = text
        .chars()
        .all(|c| c.is_ascii_digit() || "TZ :.+-".contains(c));
    text.is_empty() || text == "Z" || has_characters && text.contains(':')
}

/// Returns the number of exactly so many digits.
fn parse_number(text: &str, digits: usize) -> Option<i32> {
    let is_number = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

/// Returns the number of one or two digits.
fn short_number(text: &str) -> Option<u32> {
    parse_number(text, 2)
        .or_else(|| parse_number(text, 1))
        .map(|number| number as u32)
}

/// Returns true unless a period of this first day begins after this last day. An open end is no limit.
fn begins_by(first: Option<Day>, last: Option<Day>) -> bool {
    first.zip(last).is_none_or(|(first, last)| first <= last)
}

/// Returns the value of a component in the syntax of DCMI, as in `start=2010; end=2015-06-30`.
pub(super) fn dcmi_component<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let mut components = text.split(';').filter_map(|part| part.split_once('='));
    components
        .find(|(key, _)| key.trim().eq_ignore_ascii_case(name))
        .map(|(_, value)| value)
}

/// Formats the end of a period, as its year if the period consists of whole years.
fn format_end(day: Option<Day>, is_whole_years: bool) -> String {
    let mut text = day.map(|day| day.to_string()).unwrap_or_default();
    if is_whole_years {
        text.truncate(text.len().saturating_sub("-01-01".len()));
    }
    text
}

impl FromStr for Period {
    type Err = InvalidPeriod;

    fn from_str(text: &str) -> Result<Self, InvalidPeriod> {
        let period = if text.contains("..") {
            Self::from_interval(text.trim())
        } else {
            Self::from_date_text(text)
        };
        period.ok_or_else(|| InvalidPeriod::new(text))
    }
}

/// Writes years if the ends are whole years, or else dates: `2010..2015`, `2010-05-01..`.
impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let begins_year = self
            .first
            .is_none_or(|day| day.date().1 == 1 && day.date().2 == 1);
        let ends_year = self
            .last
            .is_none_or(|day| day.date().1 == 12 && day.date().2 == 31);
        let is_whole_years = begins_year && ends_year;
        let first = format_end(self.first, is_whole_years);
        let last = format_end(self.last, is_whole_years);
        if first == last {
            f.write_str(&first)
        } else {
            write!(f, "{first}..{last}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> String {
        match Period::from_text(text) {
            Some(period) => [period.first, period.last]
                .map(|day| day.map(|day| day.to_string()).unwrap_or_default())
                .join(" "),
            None => "none".to_owned(),
        }
    }

    #[test]
    fn days_are_counted_from_1970() {
        for (text, number) in [
            ("1970-01-01", 0),
            ("1969-12-31", -1),
            ("2000-02-29", 11_016),
            ("2000-03-01", 11_017),
            ("1600-01-01", -135_140),
            ("0000-03-01", -719_468),
        ] {
            let day = Day::try_from(text.to_owned()).expect(text);
            assert_eq!((day.number(), day.to_string().as_str()), (number, text));
        }
        assert_eq!(Day::from_date(1900, 2, 29), None);
        assert_eq!(Day::from_date(2023, 4, 31), None);
        assert_eq!(Day::from_date(10_000, 1, 1), None);
    }

    #[test]
    fn forms_of_descriptions_are_read() {
        for (text, expected) in [
            ("2010", "2010-01-01 2010-12-31"),
            ("2010-02", "2010-02-01 2010-02-28"),
            ("2010-02-03", "2010-02-03 2010-02-03"),
            ("2010-02-03T23:59:59.5Z", "2010-02-03 2010-02-03"),
            ("2010-02-03T00:00:00-05:00", "2010-02-03 2010-02-03"),
            ("2010-02-03-05:00", "2010-02-03 2010-02-03"),
            ("2010-02-05:00", "2010-02-01 2010-02-28"),
            ("2010-05:00", "2010-01-01 2010-12-31"),
            ("2010-05:00/2011-02-05:00", "2010-01-01 2011-02-28"),
            ("2010Z", "2010-01-01 2010-12-31"),
            ("-0500", "-0500-01-01 -0500-12-31"),
            ("2010-01-01/2015-12-31", "2010-01-01 2015-12-31"),
            ("2010/2015-06", "2010-01-01 2015-06-30"),
            ("2010-01-01/..", "2010-01-01 "),
            ("/2015", " 2015-12-31"),
            ("2010..2015", "2010-01-01 2015-12-31"),
            (
                "start=2010-05-01; end=2015; scheme=W3C-DTF; name=Trees",
                "2010-05-01 2015-12-31",
            ),
            ("name=Trees; START=2010", "2010-01-01 "),
            ("2010-01-01/P1Y", "2010-01-01 2010-12-31"),
            ("2010/P5Y6M", "2010-01-01 2015-06-30"),
            ("2010-01-31/P1M", "2010-01-31 2010-02-27"),
            ("2010-01-01T00:00:00Z/P2W", "2010-01-01 2010-01-14"),
            ("2010-01-01/PT6H", "2010-01-01 2010-01-01"),
            ("P1Y/2010-12-31", "2010-01-01 2010-12-31"),
            ("P10D/2010-01-10", "2010-01-01 2010-01-10"),
            ("R/2010-01-01/P1Y", "2010-01-01 "),
            ("R5/2010-01-01/P1M", "2010-01-01 2010-05-31"),
            ("R/2010-01-01/2010-12-31", "2010-01-01 "),
            ("R/P1Y/2010-12-31", " 2010-12-31"),
            ("2008-02-15/03-14", "2008-02-15 2008-03-14"),
            ("2008-02-15/20", "2008-02-15 2008-02-20"),
            ("2008-02/03", "2008-02-01 2008-03-31"),
            ("2008-02-15T09:00/17:30", "2008-02-15 2008-02-15"),
            ("2008-02-30", "none"),
            ("2008-02-15T08:00/20T17:00", "2008-02-15 2008-02-20"),
            (
                "2010-01-01T00:00:00+01:00/2011-06-30T23:59:59+02:00",
                "2010-01-01 2011-06-30",
            ),
            ("20100131/20110228", "2010-01-31 2011-02-28"),
            ("20100131T120000Z", "2010-01-31 2010-01-31"),
            ("2010-W05", "2010-02-01 2010-02-07"),
            ("2009-W53-7", "2010-01-03 2010-01-03"),
            ("2010-032", "2010-02-01 2010-02-01"),
            (
                "[2010-01-01T00:00:00 TO 2010-12-31T23:59:59]",
                "2010-01-01 2010-12-31",
            ),
            ("[2010-05-01T00:00:00 TO *]", "2010-05-01 "),
            ("2010-02-03 to 2011-04-05", "2010-02-03 2011-04-05"),
            ("2010-02-03 - present", "2010-02-03 "),
            ("2010-02-03--2011-04-05", "2010-02-03 2011-04-05"),
            ("../2020", " 2020-12-31"),
            ("2020/", "2020-01-01 "),
            ("P1Y", "none"),
            ("P1Y/P2Y", "none"),
            ("R/P1Y", "none"),
            ("2010-01-01/P99999Y", "2010-01-01 2010-12-31"),
            ("2010-01-01/P1Y1M1W1D", "2010-01-01 2011-02-08"),
            // No durations: repeated or in another order. The year remains.
            ("2010-01-01/P1Y1Y", "2010-01-01 2010-12-31"),
            ("2010-01-01/P1M1Y", "2010-01-01 2010-12-31"),
            ("2010-01-01/P1D1W", "2010-01-01 2010-12-31"),
            ("2010-01-01/P1Ä", "2010-01-01 2010-12-31"),
            ("12345678", "none"),
            ("2010-367", "2010-01-01 2010-12-31"),
            ("2010-2015", "2010-01-01 2015-12-31"),
            ("2010 – 2015", "2010-01-01 2015-12-31"),
            (
                "Census of 1991 and 2001, 3500 houses",
                "1991-01-01 2001-12-31",
            ),
            ("01.02.1999 bis 03.04.2004", "1999-02-01 2004-04-03"),
            ("2010 and 2015", "2010-01-01 2015-12-31"),
            ("2010 2015", "2010-01-01 2015-12-31"),
            ("2010-05-01 12:30", "2010-05-01 2010-05-01"),
            ("2015/2010", "2010-01-01 2015-12-31"),
            ("2010-01-01/present", "2010-01-01 "),
            ("2010 - Present", "2010-01-01 "),
            ("2010 to 2015, presented", "2010-01-01 2015-12-31"),
            ("2020/31/12/2021", "2020-01-01 2021-12-31"),
            ("01/02/2020/31/12/2021", "2020-01-01 2021-12-31"),
            ("13/02/2020/2021", "2020-02-13 2021-12-31"),
            ("31/12/2020/..", "2020-12-31 "),
            ("2020/01/31", "2020-01-31 2020-01-31"),
            ("31.12.2021", "2021-12-31 2021-12-31"),
            ("12/31/2021", "2021-12-31 2021-12-31"),
            ("32/01/2021", "2021-01-01 2021-12-31"),
            ("now", "none"),
            ("last year", "none"),
            ("20101 a2010", "none"),
            ("http://example.org/2010", "none"),
            ("", "none"),
            ("/", "none"),
            ("..", "none"),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn filters_are_read_and_written() {
        for (text, written) in [
            ("2010..2015", "2010..2015"),
            ("2010..", "2010.."),
            ("..2015", "..2015"),
            ("2010", "2010"),
            ("2010-05-01..2015", "2010-05-01..2015-12-31"),
            ("2010-05-01", "2010-05-01"),
            ("-0044..0014", "-0044..0014"),
            ("2010-05..", "2010-05-01.."),
        ] {
            let period: Period = text.parse().expect(text);
            assert_eq!(period.to_string(), written);
            assert_eq!(written.parse(), Ok(period), "{written}");
        }
        for wrong in [
            "",
            "..",
            "2015..2010",
            "2010..x",
            "years 2010",
            "2010-13",
            "2010-x:y",
            "2010..2015..2020",
            "12010",
        ] {
            assert!(wrong.parse::<Period>().is_err(), "{wrong}");
        }
        let json =
            serde_json::to_string(&"2010..".parse::<Period>().expect("a period")).expect("written");
        assert_eq!(json, r#"{"first":"2010-01-01"}"#);
        assert_eq!(
            serde_json::from_str::<Period>(&json)
                .expect("read")
                .to_string(),
            "2010.."
        );
    }

    #[test]
    fn periods_overlap_in_a_day() {
        let period = |text: &str| text.parse::<Period>().expect("a period");
        for (one, other, expected) in [
            ("2010..2015", "2015..2020", true),
            ("2010..2015", "2016..", false),
            ("2010..", "..2009", false),
            ("2010..", "..2010-01-01", true),
            ("..2015", "..1900", true),
            ("2010..", "2050", true),
        ] {
            assert_eq!(
                period(one).overlaps(period(other)),
                expected,
                "{one} {other}"
            );
            assert_eq!(
                period(other).overlaps(period(one)),
                expected,
                "{other} {one}"
            );
        }
        let around = |texts: &[&str]| {
            let periods: Vec<Period> = texts.iter().map(|text| period(text)).collect();
            Period::around(&periods).map(|period| period.to_string())
        };
        assert_eq!(
            around(&["2010..2012", "2001"]).as_deref(),
            Some("2001..2012")
        );
        assert_eq!(around(&["2010..", "2001"]).as_deref(), Some("2001.."));
        assert_eq!(around(&["2010..", "..2001"]), None, "both ends are open");
    }

    proptest! {
        #[test]
        fn dates_of_days_are_their_dates(number in -4_370_000i32..2_930_000) {
            let day = Day::from_number(number);
            let (year, month, of_month) = day.date();
            prop_assert_eq!(Day::from_date(year, month, of_month), Some(day));
            prop_assert_eq!(Day::try_from(day.to_string()), Ok(day));
            prop_assert!(Day::from_number(number + 1).date() > (year, month, of_month));
        }

        #[test]
        fn no_text_ends_the_program(text in "\\PC{0,30}|[-0-9TZ:/. =;]{0,24}") {
            if let Some(period) = Period::from_text(&text) {
                prop_assert!(period.first().zip(period.last()).is_none_or(|(first, last)| first <= last));
            }
        }
    }
}
