//! Dates of filters, with Solr's arithmetic: `2026-01-31`, `NOW`, `NOW/DAY-7DAYS`, `2026-01-31T00:00:00Z+1MONTH`.
//! <https://solr.apache.org/guide/solr/latest/indexing-guide/date-formatting-math.html>

use crate::portal::metadata::moment;
use oxsdatatypes::{DateTime, Duration};

/// Converts a date expression to CKAN's format; `None` if it is invalid.
pub(super) fn date(text: &str) -> Option<String> {
    evaluate(text, DateTime::now())
}

fn evaluate(text: &str, now: DateTime) -> Option<String> {
    let text = text.trim();
    if let Some(steps) = text.strip_prefix("NOW") {
        return apply_steps(moment(&now.to_string())?, steps);
    }
    match text.split_once('Z') {
        Some((date, steps)) if !steps.is_empty() => apply_steps(moment(date)?, steps),
        _ => moment(text),
    }
}

/// Applies steps to a time: `/UNIT` rounds down, `+2UNITS` and `-2UNITS` add and subtract.
fn apply_steps(from: String, mut steps: &str) -> Option<String> {
    let mut at = from;
    while let Some(kind) = steps.chars().next() {
        let rest = steps.get(1..).filter(|_| "/+-".contains(kind))?;
        let end = rest.find(['/', '+', '-']).unwrap_or(rest.len());
        let step = &rest[..end];
        at = if kind == '/' {
            round_down(&at, step)?
        } else {
            add_step(&at, step, kind == '+')?
        };
        steps = &rest[end..];
    }
    Some(at)
}

fn round_down(moment: &str, unit: &str) -> Option<String> {
    // Length of the prefix of `2026-01-31T12:34:56` that the unit keeps, and the rest of its beginning.
    let (kept, rest) = match unit.trim_end_matches('S') {
        "YEAR" => (4, "-01-01T00:00:00"),
        "MONTH" => (7, "-01T00:00:00"),
        "DAY" | "DATE" => (10, "T00:00:00"),
        "HOUR" => (13, ":00:00"),
        "MINUTE" => (16, ":00"),
        "SECOND" => (19, ""),
        _ => return None,
    };
    Some(format!("{}{rest}", moment.get(..kept)?))
}

fn add_step(from: &str, step: &str, is_forward: bool) -> Option<String> {
    let digits = step.find(|c: char| !c.is_ascii_digit())?;
    let number: u32 = step[..digits].parse().ok()?;
    let duration = match step[digits..].trim_end_matches('S') {
        "YEAR" => format!("P{number}Y"),
        "MONTH" => format!("P{number}M"),
        "DAY" | "DATE" => format!("P{number}D"),
        "HOUR" => format!("PT{number}H"),
        "MINUTE" => format!("PT{number}M"),
        "SECOND" => format!("PT{number}S"),
        _ => return None,
    };
    let (from, duration) = (
        format!("{from}Z").parse::<DateTime>().ok()?,
        duration.parse::<Duration>().ok()?,
    );
    let to = if is_forward {
        from.checked_add_duration(duration)
    } else {
        from.checked_sub_duration(duration)
    };
    moment(&to?.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_reckoned_with() {
        let now = "2026-03-31T12:34:56.789Z".parse().expect("a time");
        for (text, expected) in [
            ("NOW", "2026-03-31T12:34:56"),
            ("NOW-1DAY", "2026-03-30T12:34:56"),
            ("NOW/DAY-7DAYS", "2026-03-24T00:00:00"),
            ("NOW-1MONTH", "2026-02-28T12:34:56"),
            ("NOW/YEAR", "2026-01-01T00:00:00"),
            ("NOW/HOUR+30MINUTES", "2026-03-31T12:30:00"),
            ("2026-01-31", "2026-01-31T00:00:00"),
            ("2026-01-31T00:00:00Z", "2026-01-31T00:00:00"),
            ("2026-01-31T00:00:00Z+1YEAR", "2027-01-31T00:00:00"),
        ] {
            assert_eq!(evaluate(text, now).as_deref(), Some(expected), "{text}");
        }
        for text in [
            "NOWADAYS",
            "NOW-",
            "NOW-DAY",
            "NOW-1FORTNIGHT",
            "NOW/",
            "NOW+99999999999YEARS",
            "yesterday",
            "",
        ] {
            assert_eq!(evaluate(text, now), None, "{text}");
        }
    }
}
