//! Dates of filters, with Solr's arithmetic: `2026-01-31`, `NOW`, `NOW/DAY-7DAYS`, `2026-01-31T00:00:00Z+1MONTH`.
//! <https://solr.apache.org/guide/solr/latest/indexing-guide/date-formatting-math.html>

use lodeseek_catalog::Moment;
use oxsdatatypes::{DateTime, Duration};

/// Converts a date expression to a time in UTC; `None` if it is invalid.
pub(super) fn evaluate_date(text: &str) -> Option<String> {
    evaluate_at(text, DateTime::now())
}

fn evaluate_at(text: &str, now: DateTime) -> Option<String> {
    let text = text.trim();
    if let Some(steps) = text.strip_prefix("NOW") {
        return apply_steps(parse_instant(&now.to_string())?, steps);
    }
    match text.split_once('Z') {
        Some((date, steps)) if !steps.is_empty() => apply_steps(parse_instant(date)?, steps),
        _ => parse_instant(text),
    }
}

/// Converts a time to the form in which times are compared: in UTC, with a fraction of a second if there is one.
fn parse_instant(text: &str) -> Option<String> {
    Moment::parse(text).map(|moment| moment.instant().to_owned())
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

fn round_down(time: &str, unit: &str) -> Option<String> {
    // Length of the prefix of `2026-01-31T12:34:56.789` that the unit keeps, and the rest of its beginning.
    let (length, rest) = match unit.trim_end_matches('S') {
        "YEAR" => (4, "-01-01T00:00:00"),
        "MONTH" => (7, "-01T00:00:00"),
        "DAY" | "DATE" => (10, "T00:00:00"),
        "HOUR" => (13, ":00:00"),
        "MINUTE" => (16, ":00"),
        "SECOND" => (19, ""),
        "MILLI" | "MILLISECOND" => (23.min(time.len()), ""),
        _ => return None,
    };
    parse_instant(&format!("{}{rest}", time.get(..length)?))
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
        "MILLI" | "MILLISECOND" => format!("PT{}.{:03}S", number / 1000, number % 1000),
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
    parse_instant(&to?.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_reckoned_with() {
        let now = "2026-03-31T12:34:56.789Z".parse().expect("a time");
        for (text, expected) in [
            ("NOW", "2026-03-31T12:34:56.789"),
            ("NOW/SECOND", "2026-03-31T12:34:56"),
            ("NOW/MILLI", "2026-03-31T12:34:56.789"),
            ("NOW-1DAY", "2026-03-30T12:34:56.789"),
            ("NOW+1500MILLIS", "2026-03-31T12:34:58.289"),
            ("NOW/MINUTE-1MILLISECOND", "2026-03-31T12:33:59.999"),
            ("2026-01-31T00:00:00.1009Z/MILLI", "2026-01-31T00:00:00.1"),
            ("NOW/DAY-7DAYS", "2026-03-24T00:00:00"),
            ("NOW-1MONTH", "2026-02-28T12:34:56.789"),
            ("NOW/YEAR", "2026-01-01T00:00:00"),
            ("NOW/HOUR+30MINUTES", "2026-03-31T12:30:00"),
            ("2026-01-31", "2026-01-31T00:00:00"),
            ("2026-01-31T00:00:00Z", "2026-01-31T00:00:00"),
            ("2026-01-31T00:00:00Z+1YEAR", "2027-01-31T00:00:00"),
        ] {
            assert_eq!(evaluate_at(text, now).as_deref(), Some(expected), "{text}");
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
            assert_eq!(evaluate_at(text, now), None, "{text}");
        }
    }
}
