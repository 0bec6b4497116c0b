//! Dates of catalogues: years, months, days and times, with or without a time zone.

use oxsdatatypes::{Date, DateTime, TimezoneOffset};
use std::str::FromStr;

/// Form of a date.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Precision {
    Year,
    Month,
    Day,
    Time,
}

/// A date of a catalogue, as its first second.
///
/// Read are the forms of XML Schema (`gYear`, `gYearMonth`, `date`, `dateTime`, each with or without a time zone), and times
/// as portals write them: with a space instead of `T`, without seconds, with a zone as `+0200`, `+02` or `UTC`. The default
/// time zone is UTC. A year, month or day is that of its place: its zone does not move it to another day.
///
/// ```
/// use lodeseek_catalog::Moment;
/// for (text, second) in [
///     ("2021-02-11Z", "2021-02-11T00:00:00"),
///     ("2021-02", "2021-02-01T00:00:00"),
///     ("2021-02-11T01:00:00.25+02:00", "2021-02-10T23:00:00"),
/// ] {
///     assert_eq!(Moment::parse(text).expect("a date").second(), second);
/// }
/// assert_eq!(Moment::parse("soon"), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// First second, in UTC: `2021-02-11T00:00:00`.
    second: String,
    /// First second with its fraction, in UTC: `2021-02-11T00:00:00.25`.
    instant: String,
    /// The date without the zone of a day, month or year; times with their zone.
    written: String,
    precision: Precision,
}

impl Moment {
    /// Parses a date. `None` for other texts.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (local, zone) = split_zone(text)?;
        let precision = match local.len() {
            4 => Precision::Year,
            7 => Precision::Month,
            10 => Precision::Day,
            _ => Precision::Time,
        };
        let full = match precision {
            Precision::Year => format!("{local}-01-01T00:00:00"),
            Precision::Month => format!("{local}-01T00:00:00"),
            Precision::Day => format!("{local}T00:00:00"),
            Precision::Time => with_seconds(local)?,
        };
        // The zone of a day must be valid, but does not move the day.
        let zoned =
            DateTime::from_str(&format!("{full}{}", zone.as_deref().unwrap_or("Z"))).ok()?;
        let utc = match precision {
            Precision::Time => zoned.adjust(Some(TimezoneOffset::UTC))?,
            _ => DateTime::from_str(&format!("{full}Z")).ok()?,
        };
        let instant = utc.to_string().trim_end_matches('Z').to_owned();
        let second = instant.split('.').next().unwrap_or(&instant).to_owned();
        let written = match precision {
            // The end of a day is the beginning of the next one.
            Precision::Time if full.get(10..13) == Some("T24") => {
                let next_day = zoned.to_string();
                match zone {
                    Some(_) => next_day,
                    None => next_day.trim_end_matches('Z').to_owned(),
                }
            }
            Precision::Time => format!("{full}{}", zone.unwrap_or_default()),
            _ => local.to_owned(),
        };
        Some(Self {
            second,
            instant,
            written,
            precision,
        })
    }

    /// Returns the first second in UTC, `2021-02-11T00:00:00`. These texts are ordered as the seconds are.
    #[must_use]
    pub fn second(&self) -> String {
        self.second.clone()
    }

    /// Returns the first second in UTC with its fraction, which has no zeros at its end: `2021-02-11T00:00:00.25`. These texts are
    /// ordered as the times are.
    #[must_use]
    pub fn instant(&self) -> &str {
        &self.instant
    }

    /// Returns the date as in ISO 8601, which schema.org requires: days, months and years have no zone.
    #[must_use]
    pub fn iso(&self) -> &str {
        &self.written
    }

    /// Returns the calendar day, `2021-02-11`, if the date has one: that of its own zone.
    #[must_use]
    pub fn day(&self) -> Option<&str> {
        let has_day = matches!(self.precision, Precision::Day | Precision::Time);
        self.written.get(..10).filter(|_| has_day)
    }
}

/// Splits a text into a local date or time, and its zone as XML Schema writes it. `None` if the zone is none.
fn split_zone(text: &str) -> Option<(&str, Option<String>)> {
    for name in ["Z", "z", " UTC", " GMT", "UTC", "GMT"] {
        if let Some(local) = text.strip_suffix(name) {
            return Some((local, Some("Z".to_owned())));
        }
    }
    // The hyphens of a date are no sign of a zone: a zone follows a time, or has a colon.
    let has_time = text
        .get(10..11)
        .is_some_and(|separator| "Tt ".contains(separator));
    let Some(sign) = text
        .rfind(['+', '-'])
        .filter(|sign| *sign >= if has_time { 11 } else { 4 })
    else {
        return Some((text, None));
    };
    let (local, offset) = (text[..sign].trim_end(), &text[sign..]);
    let digits: String = offset[1..].chars().filter(char::is_ascii_digit).collect();
    let is_zone = match (offset.len(), digits.len()) {
        (6, 4) => offset.as_bytes()[3] == b':',
        (5, 4) | (3, 2) => has_time,
        _ => false,
    };
    match is_zone {
        true => Some((
            local,
            Some(format!(
                "{}{}:{:0<2}",
                &offset[..1],
                &digits[..2],
                &digits[2..]
            )),
        )),
        false if has_time => None,
        false => Some((text, None)),
    }
}

/// Returns a local time as XML Schema writes it.
fn with_seconds(local: &str) -> Option<String> {
    let (day, time) = (local.get(..10)?, local.get(10..)?);
    Date::from_str(day).ok()?;
    let time = time.strip_prefix(['T', 't', ' '])?.trim();
    let seconds = if time.len() == 5 { ":00" } else { "" };
    Some(format!("{day}T{time}{seconds}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read() {
        for (text, second, iso) in [
            ("2019", "2019-01-01T00:00:00", "2019"),
            ("2019Z", "2019-01-01T00:00:00", "2019"),
            ("2019-05:00", "2019-01-01T00:00:00", "2019"),
            ("2019-05", "2019-05-01T00:00:00", "2019-05"),
            ("2019-05+14:00", "2019-05-01T00:00:00", "2019-05"),
            ("2019-05-07", "2019-05-07T00:00:00", "2019-05-07"),
            (" 2019-05-07Z\n", "2019-05-07T00:00:00", "2019-05-07"),
            ("2019-05-07-03:30", "2019-05-07T00:00:00", "2019-05-07"),
            (
                "2019-05-07T12:30:00",
                "2019-05-07T12:30:00",
                "2019-05-07T12:30:00",
            ),
            (
                "2019-05-07T12:30:00.123456",
                "2019-05-07T12:30:00",
                "2019-05-07T12:30:00.123456",
            ),
            (
                "2019-05-07T12:30:00Z",
                "2019-05-07T12:30:00",
                "2019-05-07T12:30:00Z",
            ),
            (
                "2019-05-07t12:30:00z",
                "2019-05-07T12:30:00",
                "2019-05-07T12:30:00Z",
            ),
            (
                "2019-05-07T00:30:00+01:00",
                "2019-05-06T23:30:00",
                "2019-05-07T00:30:00+01:00",
            ),
            (
                "2019-05-07T23:30:00.5-0130",
                "2019-05-08T01:00:00",
                "2019-05-07T23:30:00.5-01:30",
            ),
            (
                "2019-05-07 12:30:00+02",
                "2019-05-07T10:30:00",
                "2019-05-07T12:30:00+02:00",
            ),
            (
                "2019-05-07 12:30",
                "2019-05-07T12:30:00",
                "2019-05-07T12:30:00",
            ),
            (
                "2019-05-07T12:30Z",
                "2019-05-07T12:30:00",
                "2019-05-07T12:30:00Z",
            ),
            (
                "2019-05-07 12:30:00 UTC",
                "2019-05-07T12:30:00",
                "2019-05-07T12:30:00Z",
            ),
            (
                "2019-12-31T24:00:00",
                "2020-01-01T00:00:00",
                "2020-01-01T00:00:00",
            ),
            (
                "2019-12-31T24:00:00-02:00",
                "2020-01-01T02:00:00",
                "2020-01-01T00:00:00-02:00",
            ),
        ] {
            let moment = Moment::parse(text);
            let read = moment
                .as_ref()
                .map(|moment| (moment.second(), moment.iso().to_owned()));
            assert_eq!(read, Some((second.to_owned(), iso.to_owned())), "{text}");
        }
        let instants = ["10:00:00", "10:00:00.25", "10:00:00.500", "10:00:01"].map(|time| {
            let moment = Moment::parse(&format!("2019-05-07T{time}Z")).expect("a time");
            moment.instant().to_owned()
        });
        assert!(instants.is_sorted(), "{instants:?}");
        assert_eq!(instants[2], "2019-05-07T10:00:00.5");
        let day =
            |text: &str| Moment::parse(text).and_then(|moment| moment.day().map(str::to_owned));
        assert_eq!(
            day("2019-05-07T00:30:00+01:00").as_deref(),
            Some("2019-05-07")
        );
        assert_eq!(day("2019-12-31T24:00:00Z").as_deref(), Some("2020-01-01"));
        assert_eq!(
            (day("2019-05-07Z").as_deref(), day("2019-05Z")),
            (Some("2019-05-07"), None)
        );
    }

    #[test]
    fn other_texts_are_no_dates() {
        for text in [
            "",
            "Z",
            "soon",
            "19",
            "2019-13",
            "2019-02-30",
            "2019-05-07+25:00",
            "2019-05-07T12",
            "2019-05-07T25:00:00",
            "2019-05-07T12:30:00+1",
            "2019-05-07T12:30:00 CEST",
            "07.05.2019",
            "2019/05/07",
            "about 2019",
            "é019",
            "2019-05-07é12:30:00",
            "2019-05-07+é1:00",
            "20190507",
        ] {
            assert_eq!(Moment::parse(text), None, "{text}");
        }
    }
}
