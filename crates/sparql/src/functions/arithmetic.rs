//! Addition of numbers, durations, dates and times, and casts.
//!
//! The operators are those of XPath and XQuery Functions and Operators 3.1, sections 4.2 (numbers), 8.4 (durations) and 9.7 (dates and
//! times); SPARQL 1.2 lists them as operators, too (<https://github.com/w3c/sparql-dev/blob/main/SEP/SEP-0002/sep-0002.md>).
//!
//! *Why not those of Oxigraph?* Its optimizer sorts the operands of `+` by a hash, and its evaluation needs the duration on the
//! right. So the value of `?date + ?duration` depends on the names of the variables.

use super::super::ordering::INTEGERS;
use oxrdf::vocab::xsd;
use oxrdf::{Literal, NamedNodeRef, Term};
use oxsdatatypes::{
    Boolean, Date, DateTime, DayTimeDuration, Decimal, Double, Duration, Float, Integer, Time,
    YearMonthDuration,
};
use std::fmt::Display;
use std::str::FromStr;

/// Value of a literal that can be added.
#[derive(Clone, Copy)]
enum Value {
    Integer(Integer),
    Decimal(Decimal),
    Float(Float),
    Double(Double),
    DateTime(DateTime),
    Date(Date),
    Time(Time),
    Months(YearMonthDuration),
    Days(DayTimeDuration),
    Duration(Duration),
}

impl Value {
    fn from_term(term: &Term) -> Option<Self> {
        fn parse<T: FromStr>(text: &str, value: fn(T) -> Value) -> Option<Value> {
            text.parse().ok().map(value)
        }
        let Term::Literal(literal) = term else {
            return None;
        };
        let text = literal.value();
        match literal.datatype() {
            xsd::DECIMAL => parse(text, Self::Decimal),
            xsd::FLOAT => parse(text, Self::Float),
            xsd::DOUBLE => parse(text, Self::Double),
            xsd::DATE_TIME | xsd::DATE_TIME_STAMP => parse(text, Self::DateTime),
            xsd::DATE => parse(text, Self::Date),
            xsd::TIME => parse(text, Self::Time),
            xsd::YEAR_MONTH_DURATION => parse(text, Self::Months),
            xsd::DAY_TIME_DURATION => parse(text, Self::Days),
            xsd::DURATION => parse(text, Self::Duration),
            datatype if INTEGERS.contains(&datatype) => parse(text, Self::Integer),
            _ => None,
        }
    }

    fn into_term(self) -> Term {
        fn typed(value: impl Display, datatype: NamedNodeRef<'static>) -> Term {
            Literal::new_typed_literal(value.to_string(), datatype).into()
        }
        match self {
            Self::Integer(value) => typed(value, xsd::INTEGER),
            Self::Decimal(value) => typed(value, xsd::DECIMAL),
            Self::Float(value) => typed(value, xsd::FLOAT),
            Self::Double(value) => typed(value, xsd::DOUBLE),
            Self::DateTime(value) => typed(value, xsd::DATE_TIME),
            Self::Date(value) => typed(value, xsd::DATE),
            Self::Time(value) => typed(value, xsd::TIME),
            Self::Months(value) => typed(value, xsd::YEAR_MONTH_DURATION),
            Self::Days(value) => typed(value, xsd::DAY_TIME_DURATION),
            Self::Duration(value) => typed(value, xsd::DURATION),
        }
    }

    fn double(self) -> Option<Double> {
        match self {
            Self::Integer(value) => Some(value.into()),
            Self::Decimal(value) => Some(value.into()),
            Self::Float(value) => Some(value.into()),
            Self::Double(value) => Some(value),
            _ => None,
        }
    }

    fn float(self) -> Option<Float> {
        match self {
            Self::Integer(value) => Some(value.into()),
            Self::Decimal(value) => Some(value.into()),
            Self::Float(value) => Some(value),
            _ => None,
        }
    }

    fn decimal(self) -> Option<Decimal> {
        match self {
            Self::Integer(value) => Some(value.into()),
            Self::Decimal(value) => Some(value),
            _ => None,
        }
    }

    fn duration(self) -> Option<Duration> {
        match self {
            Self::Months(value) => Some(value.into()),
            Self::Days(value) => Some(value.into()),
            Self::Duration(value) => Some(value),
            _ => None,
        }
    }
}

/// Returns the sum of two terms. `None` if the operator is not defined for them, or if the sum is out of range.
pub(super) fn add(left: &Term, right: &Term) -> Option<Term> {
    let (left, right) = (Value::from_term(left)?, Value::from_term(right)?);
    let sum = match (left, right) {
        (Value::Integer(a), Value::Integer(b)) => Value::Integer(a.checked_add(b)?),
        (Value::Months(a), Value::Months(b)) => Value::Months(a.checked_add(b)?),
        (Value::Days(a), Value::Days(b)) => Value::Days(a.checked_add(b)?),
        (Value::DateTime(_) | Value::Date(_) | Value::Time(_), _) => later(left, right)?,
        (_, Value::DateTime(_) | Value::Date(_) | Value::Time(_)) => later(right, left)?,
        _ => match (left.duration(), right.duration()) {
            (Some(a), Some(b)) => Value::Duration(a.checked_add(b)?),
            (None, None) => add_numbers(left, right)?,
            _ => return None,
        },
    };
    Some(sum.into_term())
}

/// Returns the sum of two numbers of the wider type.
fn add_numbers(left: Value, right: Value) -> Option<Value> {
    if let (Some(a), Some(b)) = (left.decimal(), right.decimal()) {
        return Some(Value::Decimal(a.checked_add(b)?));
    }
    if let (Some(a), Some(b)) = (left.float(), right.float()) {
        return Some(Value::Float(a + b));
    }
    Some(Value::Double(left.double()? + right.double()?))
}

/// Returns a date or time that is later by a duration. The days of a month that is shorter end with its last one.
fn later(start: Value, duration: Value) -> Option<Value> {
    match (start, duration) {
        (Value::DateTime(start), Value::Months(months)) => start
            .checked_add_year_month_duration(months)
            .map(Value::DateTime),
        (Value::DateTime(start), Value::Days(days)) => start
            .checked_add_day_time_duration(days)
            .map(Value::DateTime),
        (Value::DateTime(start), Value::Duration(duration)) => {
            start.checked_add_duration(duration).map(Value::DateTime)
        }
        (Value::Date(start), Value::Months(months)) => start
            .checked_add_year_month_duration(months)
            .map(Value::Date),
        (Value::Date(start), Value::Days(days)) => {
            start.checked_add_day_time_duration(days).map(Value::Date)
        }
        (Value::Date(start), Value::Duration(duration)) => {
            start.checked_add_duration(duration).map(Value::Date)
        }
        (Value::Time(start), Value::Days(days)) => {
            start.checked_add_day_time_duration(days).map(Value::Time)
        }
        (Value::Time(start), Value::Duration(duration)) => {
            start.checked_add_duration(duration).map(Value::Time)
        }
        _ => None,
    }
}

/// Returns true if the first of two booleans is false and the second true.
pub(super) fn is_less(left: &Term, right: &Term) -> Option<bool> {
    Some(!boolean(left)? & boolean(right)?)
}

fn boolean(term: &Term) -> Option<bool> {
    match term {
        Term::Literal(literal) if literal.datatype() == xsd::BOOLEAN => {
            literal.value().parse::<Boolean>().ok().map(Into::into)
        }
        _ => None,
    }
}

/// Prepares the argument of a cast: a string without white space at its ends (Functions and Operators 3.1, 19.2). Spellings of infinity
/// that XML Schema lacks become the empty string, which no number has.
pub(super) fn collapse_space(term: &Term) -> Term {
    match term {
        Term::Literal(literal) if literal.datatype() == xsd::STRING => {
            let text = literal.value().trim_matches([' ', '\t', '\n', '\r']);
            let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
            let is_foreign = unsigned.starts_with(|char: char| char.is_ascii_alphabetic())
                && unsigned.parse::<f64>().is_ok()
                && !matches!(text, "INF" | "+INF" | "-INF" | "NaN");
            Literal::from(if is_foreign { "" } else { text }).into()
        }
        _ => term.clone(),
    }
}

/// Prepares the argument of a cast to `xsd:string`: doubles and floats are written as XPath writes them (19.1.2.2): as decimals from
/// 0.000001 to 1000000, and with an exponent beyond.
pub(super) fn write_double(term: &Term) -> Term {
    let text = match term {
        Term::Literal(literal) if literal.datatype() == xsd::DOUBLE => literal
            .value()
            .parse::<Double>()
            .ok()
            .map(|value| (f64::from(value), format!("{:e}", f64::from(value)))),
        Term::Literal(literal) if literal.datatype() == xsd::FLOAT => literal
            .value()
            .parse::<Float>()
            .ok()
            .map(|value| (f64::from(value), format!("{:e}", f32::from(value)))),
        _ => None,
    };
    match text {
        Some((value, text))
            if value.is_finite() && value != 0.0 && !(1e-6..1e6).contains(&value.abs()) =>
        {
            let Some((digits, exponent)) = text.split_once('e') else {
                return term.clone();
            };
            let point = if digits.contains('.') { "" } else { ".0" };
            Literal::from(format!("{digits}{point}E{exponent}")).into()
        }
        _ => term.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(value: &str, datatype: NamedNodeRef<'_>) -> Term {
        Literal::new_typed_literal(value, datatype).into()
    }

    #[test]
    fn sums_do_not_depend_on_the_order() {
        let (date, time, moment) = (xsd::DATE, xsd::TIME, xsd::DATE_TIME);
        let (months, days) = (xsd::YEAR_MONTH_DURATION, xsd::DAY_TIME_DURATION);
        for (left, right, sum) in [
            (
                ("2021-01-31", date),
                ("P1M", months),
                Some(("2021-02-28", date)),
            ),
            (
                ("2024-02-29", date),
                ("P1Y", months),
                Some(("2025-02-28", date)),
            ),
            (
                ("2024-02-29", date),
                ("P4Y", months),
                Some(("2028-02-29", date)),
            ),
            (
                ("2021-03-31", date),
                ("-P1M", months),
                Some(("2021-02-28", date)),
            ),
            (
                ("2021-12-31Z", date),
                ("P1D", days),
                Some(("2022-01-01Z", date)),
            ),
            (
                ("2021-12-31", date),
                ("PT30H", days),
                Some(("2022-01-01", date)),
            ),
            (
                ("2021-12-31", date),
                ("P1M1D", xsd::DURATION),
                Some(("2022-02-01", date)),
            ),
            (
                ("2021-12-31T23:30:00Z", moment),
                ("PT45M", days),
                Some(("2022-01-01T00:15:00Z", moment)),
            ),
            (
                ("2021-12-31T23:30:00", moment),
                ("P2M", months),
                Some(("2022-02-28T23:30:00", moment)),
            ),
            (("22:30:00", time), ("PT2H", days), Some(("00:30:00", time))),
            (("22:30:00", time), ("P1M", months), None),
            (("2021-12-31", date), ("2021-12-31", date), None),
            (("2021-12-31", date), ("1", xsd::INTEGER), None),
            (("P1Y", months), ("P2M", months), Some(("P1Y2M", months))),
            (("P1D", days), ("PT1H", days), Some(("P1DT1H", days))),
            (
                ("P1Y", months),
                ("PT1H", days),
                Some(("P1YT1H", xsd::DURATION)),
            ),
            (("P1Y", months), ("1", xsd::INTEGER), None),
            (
                ("1", xsd::INTEGER),
                ("2", xsd::SHORT),
                Some(("3", xsd::INTEGER)),
            ),
            (
                ("1", xsd::INTEGER),
                ("2.5", xsd::DECIMAL),
                Some(("3.5", xsd::DECIMAL)),
            ),
            (
                ("1", xsd::DECIMAL),
                ("2.5", xsd::FLOAT),
                Some(("3.5", xsd::FLOAT)),
            ),
            (
                ("1", xsd::FLOAT),
                ("2.5", xsd::DOUBLE),
                Some(("3.5", xsd::DOUBLE)),
            ),
            (
                ("9223372036854775807", xsd::INTEGER),
                ("1", xsd::INTEGER),
                None,
            ),
            (("1", xsd::STRING), ("1", xsd::INTEGER), None),
        ] {
            let (left, right) = (typed(left.0, left.1), typed(right.0, right.1));
            let sum = sum.map(|(value, datatype)| typed(value, datatype));
            assert_eq!(add(&left, &right), sum, "{left} + {right}");
            assert_eq!(add(&right, &left), sum, "{right} + {left}");
        }
    }

    #[test]
    fn doubles_are_written_as_xpath_does() {
        for (value, expected) in [
            ("1e6", "1.0E6"),
            ("123456789", "1.23456789E8"),
            ("-1.5e-7", "-1.5E-7"),
            ("1e300", "1.0E300"),
        ] {
            assert_eq!(
                write_double(&typed(value, xsd::DOUBLE)),
                Literal::from(expected).into()
            );
        }
        for value in ["1", "999999.5", "0.000001", "INF", "NaN", "0"] {
            assert_eq!(
                write_double(&typed(value, xsd::DOUBLE)),
                typed(value, xsd::DOUBLE)
            );
        }
    }

    #[test]
    fn casts_ignore_space_at_the_ends() {
        for (text, expected) in [
            (" 1\n", "1"),
            ("1 2", "1 2"),
            ("inf", ""),
            ("-INF", "-INF"),
            ("+infinity", ""),
            ("true", "true"),
        ] {
            assert_eq!(
                collapse_space(&Literal::from(text).into()),
                Literal::from(expected).into()
            );
        }
    }
}
