//! Days and periods in the proleptic Gregorian calendar.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Last year of a day, and first year before the common era. Years of geology are out of range.
const MAX_YEAR: i32 = 9999;
/// Years that count in the words of a text; other numbers of four digits are rarely years.
pub(super) const TEXT_YEARS: std::ops::RangeInclusive<i32> = 1000..=2100;
/// Words for an end that is still to come.
const OPEN_ENDS: [&str; 6] = ["..", "current", "now", "ongoing", "present", "today"];
/// Maximum number of characters of a text that is searched for years.
const MAX_TEXT: usize = 1000;

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
        let in_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
        let days = 365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + in_year - 719_468;
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
        let (era, in_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
        let year_of_era = (in_era - in_era / 1460 + in_era / 36_524 - in_era / 146_096) / 365;
        let in_year = in_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted = (5 * in_year + 2) / 153;
        let day = in_year - (153 * shifted + 2) / 5 + 1;
        let month = (shifted + 2) % 12 + 1;
        let year = era * 400 + year_of_era + i64::from(month <= 2);
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
#[error("{0:?} is not a period: expected years or dates, as in 2010..2015, 2010-05-01.., ..2015 or 2010")]
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
        let begins_by =
            |first: Option<Day>, last: Option<Day>| first.zip(last).is_none_or(|(first, last)| first <= last);
        begins_by(self.first, other.last) && begins_by(other.first, self.last)
    }

    /// Returns the shortest period that contains all periods. `None` without periods.
    #[must_use]
    pub fn around(periods: &[Self]) -> Option<Self> {
        if periods.is_empty() {
            return None;
        }
        let first = periods.iter().map(|period| period.first).collect::<Option<Vec<_>>>();
        let last = periods.iter().map(|period| period.last).collect::<Option<Vec<_>>>();
        Self::new(first.and_then(|days| days.into_iter().min()), last.and_then(|days| days.into_iter().max()))
    }

    /// Reads a year, month, date or date with time of ISO 8601 and XML Schema. A time and a time zone are ignored.
    #[must_use]
    pub fn from_date_text(text: &str) -> Option<Self> {
        let text = text.trim();
        let (sign, digits) = match text.strip_prefix('-') {
            Some(rest) => (-1, rest),
            None => (1, text),
        };
        let (date, time) = digits.split_at(digits.find(['T', ' ', 'Z', '+']).unwrap_or(digits.len()));
        if !is_time(time) {
            return None;
        }
        // A time zone west of Greenwich follows a year, a month or a day: 2010-05:00.
        let date = match date.rsplit_once('-') {
            Some((date, zone)) if zone.contains(':') && is_time(zone) => date,
            _ => date,
        };
        let mut parts = date.split('-');
        let year = sign * number(parts.next()?, 4)?;
        let month = parts.next().map(|text| number(text, 2));
        let day = parts.next().map(|text| number(text, 2));
        if parts.next().is_some() {
            return None;
        }
        match (month, day) {
            (None, _) => Self::whole(Day::from_date(year, 1, 1)?, Day::from_date(year, 12, 31)?),
            (Some(month), None) => {
                let month = month? as u32;
                let first = Day::from_date(year, month, 1)?;
                Self::whole(first, Day::from_date(year, month, days_of_month(year, month))?)
            }
            (Some(month), Some(day)) => {
                let day = Day::from_date(year, month? as u32, day? as u32)?;
                Self::whole(day, day)
            }
        }
    }

    fn whole(first: Day, last: Day) -> Option<Self> {
        Self::new(Some(first), Some(last))
    }

    /// Creates the period from the beginning of one date to the end of another. A missing date and words such as
    /// `present` are open ends, another unreadable date makes the period invalid.
    #[must_use]
    pub fn between(start: Option<&str>, end: Option<&str>) -> Option<Self> {
        let [start, end] = [start, end].map(|text| text.map(str::trim).filter(|text| !is_open(text)));
        let first = start.map(|text| Self::from_date_text(text)?.first);
        let last = end.map(|text| Self::from_date_text(text)?.last);
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
        let known = Self::from_dcmi(text).or_else(|| Self::from_interval(text)).or_else(|| Self::from_date_text(text));
        known.or_else(|| Self::from_years_in(text))
    }

    /// Reads a DCMI Period, as in `start=2010; end=2015-06-30; scheme=W3C-DTF;`.
    /// <https://www.dublincore.org/specifications/dublin-core/dcmi-period/>
    fn from_dcmi(text: &str) -> Option<Self> {
        let component = |name: &str| {
            let mut named = text.split(';').filter_map(|part| part.split_once('='));
            named.find(|(key, _)| key.trim().eq_ignore_ascii_case(name)).map(|(_, value)| value)
        };
        Self::between(component("start"), component("end"))
    }

    /// Reads `start/end`, with an open end as `..` or nothing. `..` also separates the ends.
    fn from_interval(text: &str) -> Option<Self> {
        let (start, end) = text.split_once('/').or_else(|| text.split_once(".."))?;
        Self::between(Some(start), Some(end))
    }

    /// Returns the period of the years in a text: numbers of four digits from 1000 to 2100 that stand alone. If the last
    /// word is one such as `present`, the end is open.
    fn from_years_in(text: &str) -> Option<Self> {
        let text: String = text.chars().take(MAX_TEXT).collect();
        let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let years = words.iter().filter_map(|word| number(word, 4)).filter(|year| TEXT_YEARS.contains(year));
        let years: Vec<i32> = years.collect();
        let (first, last) = (*years.iter().min()?, *years.iter().max()?);
        let last = Day::from_date(last, 12, 31).filter(|_| !words.last().is_some_and(|word| is_open(word)));
        Self::new(Some(Day::from_date(first, 1, 1)?), last)
    }
}

/// Returns true for nothing and for a word for an end that is still to come.
fn is_open(text: &str) -> bool {
    text.is_empty() || OPEN_ENDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Returns true for a time, a time zone or both, which follow a date, and for nothing.
fn is_time(text: &str) -> bool {
    let has_characters = text.chars().all(|c| c.is_ascii_digit() || "TZ :.+-".contains(c));
    text.is_empty() || text == "Z" || has_characters && text.contains(':')
}

/// Returns the number of exactly so many digits.
fn number(text: &str, digits: usize) -> Option<i32> {
    let is_number = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

impl FromStr for Period {
    type Err = InvalidPeriod;

    fn from_str(text: &str) -> Result<Self, InvalidPeriod> {
        let period = if text.contains("..") { Self::from_interval(text.trim()) } else { Self::from_date_text(text) };
        period.ok_or_else(|| InvalidPeriod::new(text))
    }
}

/// Writes years if the ends are whole years, or else dates: `2010..2015`, `2010-05-01..`.
impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let begins_year = self.first.is_none_or(|day| day.date().1 == 1 && day.date().2 == 1);
        let ends_year = self.last.is_none_or(|day| day.date().1 == 12 && day.date().2 == 31);
        let text = |day: Option<Day>| {
            let text = day.map(|day| day.to_string()).unwrap_or_default();
            let year = text.len().saturating_sub("-01-01".len());
            if begins_year && ends_year { text[..year].to_owned() } else { text }
        };
        let (first, last) = (text(self.first), text(self.last));
        if first == last { f.write_str(&first) } else { write!(f, "{first}..{last}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> String {
        let ends =
            |period: Period| [period.first, period.last].map(|day| day.map(|day| day.to_string()).unwrap_or_default());
        Period::from_text(text).map_or("none".to_owned(), |period| ends(period).join(" "))
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
            ("start=2010-05-01; end=2015; scheme=W3C-DTF; name=Trees", "2010-05-01 2015-12-31"),
            ("name=Trees; START=2010", "2010-01-01 "),
            ("2010-2015", "2010-01-01 2015-12-31"),
            ("2010 – 2015", "2010-01-01 2015-12-31"),
            ("Census of 1991 and 2001, 3500 houses", "1991-01-01 2001-12-31"),
            ("01.02.1999 bis 03.04.2004", "1999-01-01 2004-12-31"),
            ("2010 and 2015", "2010-01-01 2015-12-31"),
            ("2010 2015", "2010-01-01 2015-12-31"),
            ("2010-05-01 12:30", "2010-05-01 2010-05-01"),
            ("2015/2010", "2010-01-01 2015-12-31"),
            ("2010-01-01/present", "2010-01-01 "),
            ("2010 - Present", "2010-01-01 "),
            ("2010 to 2015, presented", "2010-01-01 2015-12-31"),
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
        for wrong in
            ["", "..", "2015..2010", "2010..x", "years 2010", "2010-13", "2010-x:y", "2010..2015..2020", "12010"]
        {
            assert!(wrong.parse::<Period>().is_err(), "{wrong}");
        }
        let json = serde_json::to_string(&"2010..".parse::<Period>().expect("a period")).expect("written");
        assert_eq!(json, r#"{"first":"2010-01-01"}"#);
        assert_eq!(serde_json::from_str::<Period>(&json).expect("read").to_string(), "2010..");
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
            assert_eq!(period(one).overlaps(period(other)), expected, "{one} {other}");
            assert_eq!(period(other).overlaps(period(one)), expected, "{other} {one}");
        }
        let around = |texts: &[&str]| {
            let periods: Vec<Period> = texts.iter().map(|text| period(text)).collect();
            Period::around(&periods).map(|period| period.to_string())
        };
        assert_eq!(around(&["2010..2012", "2001"]).as_deref(), Some("2001..2012"));
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
