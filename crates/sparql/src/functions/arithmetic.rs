//! Operators of numbers, durations, dates and times, comparisons, and casts.
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
    Boolean, Date, DateTime, DayTimeDuration, Decimal, Double, Duration, Float, GDay, GMonth,
    GMonthDay, GYear, GYearMonth, Integer, Time, YearMonthDuration,
};
use std::cmp::Ordering;
use std::fmt::Display;
use std::str::FromStr;

/// Decimals are multiples of one divided by this.
const DECIMAL_UNITS: u128 = 1_000_000_000_000_000_000;
/// Integers with a minimum, a maximum, or both (XML Schema 1.1, part 2, 3.4).
const INTEGER_RANGES: [(NamedNodeRef<'_>, i128, i128); 12] = [
    (xsd::BYTE, -128, 127),
    (xsd::SHORT, -32_768, 32_767),
    (xsd::INT, -2_147_483_648, 2_147_483_647),
    (xsd::LONG, i64::MIN as i128, i64::MAX as i128),
    (xsd::UNSIGNED_BYTE, 0, 255),
    (xsd::UNSIGNED_SHORT, 0, 65_535),
    (xsd::UNSIGNED_INT, 0, 4_294_967_295),
    (xsd::UNSIGNED_LONG, 0, u64::MAX as i128),
    (xsd::POSITIVE_INTEGER, 1, i128::MAX),
    (xsd::NON_NEGATIVE_INTEGER, 0, i128::MAX),
    (xsd::NEGATIVE_INTEGER, i128::MIN, -1),
    (xsd::NON_POSITIVE_INTEGER, i128::MIN, 0),
];

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
        match self {
            Self::Integer(value) => typed_literal(value, xsd::INTEGER),
            Self::Decimal(value) => typed_literal(value, xsd::DECIMAL),
            Self::Float(value) => typed_literal(value, xsd::FLOAT),
            Self::Double(value) => typed_literal(value, xsd::DOUBLE),
            Self::DateTime(value) => typed_literal(value, xsd::DATE_TIME),
            Self::Date(value) => typed_literal(value, xsd::DATE),
            Self::Time(value) => typed_literal(value, xsd::TIME),
            Self::Months(value) => typed_literal(value, xsd::YEAR_MONTH_DURATION),
            Self::Days(value) => typed_literal(value, xsd::DAY_TIME_DURATION),
            Self::Duration(value) => typed_literal(value, xsd::DURATION),
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

fn typed_literal(value: impl Display, datatype: NamedNodeRef<'static>) -> Term {
    Literal::new_typed_literal(value.to_string(), datatype).into()
}

/// Returns the sum of two terms. `None` if the operator is not defined for them, or if the sum is out of range.
pub(super) fn add(left: &Term, right: &Term) -> Option<Term> {
    let (left, right) = (Value::from_term(left)?, Value::from_term(right)?);
    let sum = match (left, right) {
        (Value::Integer(a), Value::Integer(b)) => Value::Integer(a.checked_add(b)?),
        (Value::Months(a), Value::Months(b)) => Value::Months(a.checked_add(b)?),
        (Value::Days(a), Value::Days(b)) => Value::Days(a.checked_add(b)?),
        (Value::DateTime(_) | Value::Date(_) | Value::Time(_), _) => add_duration(left, right)?,
        (_, Value::DateTime(_) | Value::Date(_) | Value::Time(_)) => add_duration(right, left)?,
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
fn add_duration(start: Value, duration: Value) -> Option<Value> {
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

/// Returns the order of two terms: `Some(None)` if one of them is `NaN`, and `None` if no operator compares them.
///
/// Numbers of more than 64 bits are compared by their digits. Identical terms are equal.
pub(super) fn compare(left: &Term, right: &Term) -> Option<Option<Ordering>> {
    if let (Some(left), Some(right)) = (Number::from_term(left), Number::from_term(right)) {
        return left.compare(&right);
    }
    match (left, right) {
        _ if left == right => Some(Some(Ordering::Equal)),
        (Term::Literal(left), Term::Literal(right)) => compare_literals(left, right).map(Some),
        (Term::Triple(left), Term::Triple(right))
            if left.subject == right.subject && left.predicate == right.predicate =>
        {
            compare(&left.object, &right.object)
        }
        _ => None,
    }
}

/// Compares literals that are no numbers.
fn compare_literals(left: &Literal, right: &Literal) -> Option<Ordering> {
    fn by_value<T: FromStr + PartialOrd>(left: &str, right: &str) -> Option<Ordering> {
        left.parse::<T>()
            .ok()?
            .partial_cmp(&right.parse::<T>().ok()?)
    }
    let (a, b) = (left.value(), right.value());
    let datatype = left.datatype();
    if left.language().is_some() || right.language().is_some() {
        let is_same = left.language() == right.language() && left.direction() == right.direction();
        return is_same.then(|| a.cmp(b));
    }
    if is_duration(datatype) && is_duration(right.datatype()) {
        return by_value::<Duration>(a, b);
    }
    if datatype != right.datatype() {
        return None;
    }
    match datatype {
        xsd::STRING => Some(a.cmp(b)),
        xsd::BOOLEAN => {
            let [a, b] = [a, b].map(|text| text.parse::<Boolean>().ok().map(bool::from));
            Some(a?.cmp(&b?))
        }
        xsd::DATE_TIME | xsd::DATE_TIME_STAMP => by_value::<DateTime>(a, b),
        xsd::DATE => by_value::<Date>(a, b),
        xsd::TIME => by_value::<Time>(a, b),
        xsd::G_YEAR_MONTH => by_value::<GYearMonth>(a, b),
        xsd::G_YEAR => by_value::<GYear>(a, b),
        xsd::G_MONTH_DAY => by_value::<GMonthDay>(a, b),
        xsd::G_DAY => by_value::<GDay>(a, b),
        xsd::G_MONTH => by_value::<GMonth>(a, b),
        _ => None,
    }
}

fn is_duration(datatype: NamedNodeRef<'_>) -> bool {
    [
        xsd::DURATION,
        xsd::YEAR_MONTH_DURATION,
        xsd::DAY_TIME_DURATION,
    ]
    .contains(&datatype)
}

/// A number that is compared.
enum Number<'t> {
    Small(Value),
    /// Text of an integer or decimal that the store cannot keep by value.
    Large(&'t str),
}

impl<'t> Number<'t> {
    fn from_term(term: &'t Term) -> Option<Self> {
        let Term::Literal(literal) = term else {
            return None;
        };
        match Value::from_term(term) {
            Some(value) => value.double().map(|_| Self::Small(value)),
            None => large_number(literal).map(Self::Large),
        }
    }

    fn compare(&self, other: &Self) -> Option<Option<Ordering>> {
        if let (Self::Small(a), Self::Small(b)) = (self, other) {
            if let (Some(a), Some(b)) = (a.decimal(), b.decimal()) {
                return Some(Some(a.cmp(&b)));
            }
            if let (Some(a), Some(b)) = (a.float(), b.float()) {
                return Some(a.partial_cmp(&b));
            }
            return Some(a.double()?.partial_cmp(&b.double()?));
        }
        match (self.digits(), other.digits()) {
            (Some(a), Some(b)) => Some(Some(compare_decimal_texts(&a, &b))),
            _ => Some(self.double()?.partial_cmp(&other.double()?)),
        }
    }

    /// Returns the text of an integer or decimal.
    fn digits(&self) -> Option<String> {
        match self {
            Self::Small(value) => value.decimal().map(|value| value.to_string()),
            Self::Large(text) => Some((*text).to_owned()),
        }
    }

    fn double(&self) -> Option<f64> {
        match self {
            Self::Small(value) => value.double().map(f64::from),
            Self::Large(text) => text.parse().ok(),
        }
    }
}

/// Returns the text of a valid integer or decimal that is out of the range of the store.
pub(super) fn large_number(literal: &Literal) -> Option<&str> {
    let text = literal.value();
    let is_large = match literal.datatype() {
        xsd::DECIMAL => is_decimal_text(text) && text.parse::<Decimal>().is_err(),
        datatype if INTEGERS.contains(&datatype) => {
            is_integer_text(text) && text.parse::<Integer>().is_err()
        }
        _ => false,
    };
    (is_large && is_numeric(literal)).then_some(text)
}

/// Returns true if a literal is a valid number of its datatype (SPARQL 1.1, 17.4.2.4).
pub(super) fn is_numeric(literal: &Literal) -> bool {
    let text = literal.value();
    match literal.datatype() {
        xsd::FLOAT | xsd::DOUBLE => !is_foreign_double(text) && text.parse::<Double>().is_ok(),
        xsd::DECIMAL => is_decimal_text(text),
        datatype if INTEGERS.contains(&datatype) => {
            is_integer_text(text) && is_in_range(text, datatype)
        }
        _ => false,
    }
}

/// Returns true if an integer belongs to a datatype derived from integers.
fn is_in_range(text: &str, datatype: NamedNodeRef<'_>) -> bool {
    let Some((_, min, max)) = INTEGER_RANGES.iter().find(|(name, ..)| *name == datatype) else {
        return true;
    };
    match text.parse::<i128>() {
        Ok(value) => (*min..=*max).contains(&value),
        // Out of the range of i128: only an open end includes it.
        Err(_) if text.starts_with('-') => *min == i128::MIN,
        Err(_) => *max == i128::MAX,
    }
}

fn is_integer_text(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_decimal_text(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (integer, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    !(integer.is_empty() && fraction.is_empty())
        && integer
            .bytes()
            .chain(fraction.bytes())
            .all(|byte| byte.is_ascii_digit())
}

/// Compares the texts of two decimals by value.
fn compare_decimal_texts(left: &str, right: &str) -> Ordering {
    /// Returns true below zero, and the digits before and after the point.
    fn parts(text: &str) -> (bool, &str, &str) {
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        let (integer, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let (integer, fraction) = (
            integer.trim_start_matches('0'),
            fraction.trim_end_matches('0'),
        );
        let is_zero = integer.is_empty() && fraction.is_empty();
        (text.starts_with('-') && !is_zero, integer, fraction)
    }
    let (is_negative, integer, fraction) = parts(left);
    let (is_other_negative, other_integer, other_fraction) = parts(right);
    // Without leading zeros, the longer integer is larger.
    let magnitude = integer
        .len()
        .cmp(&other_integer.len())
        .then_with(|| integer.cmp(other_integer))
        .then_with(|| fraction.cmp(other_fraction));
    match (is_negative, is_other_negative) {
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        (true, true) => magnitude.reverse(),
        (false, false) => magnitude,
    }
}

/// Returns the product of two numbers, or of a duration and a number in any order (Functions and Operators 3.1, 4.2 and 8.4). `None` for
/// other operands, and if it is out of range.
pub(super) fn multiply(left: &Term, right: &Term) -> Option<Term> {
    match (Value::from_term(left)?, Value::from_term(right)?) {
        (duration @ (Value::Months(_) | Value::Days(_)), number)
        | (number, duration @ (Value::Months(_) | Value::Days(_))) => scale_duration(
            duration,
            number,
            |months, factor| months * factor,
            |seconds, factor| seconds.checked_mul(factor),
        ),
        (Value::Integer(a), Value::Integer(b)) => {
            Some(Value::Integer(a.checked_mul(b)?).into_term())
        }
        (a, b) => combine_numbers(a, b, Decimal::checked_mul, |a, b| a * b, |a, b| a * b),
    }
}

/// Returns the quotient of two numbers, of a duration and a number, or of two durations. `None` for other operands.
pub(super) fn divide(left: &Term, right: &Term) -> Option<Term> {
    let quotient = match (Value::from_term(left)?, Value::from_term(right)?) {
        (Value::Months(a), Value::Months(b)) => {
            Decimal::from(total_months(a)).checked_div(Decimal::from(total_months(b)))?
        }
        (Value::Days(a), Value::Days(b)) => total_seconds(a).checked_div(total_seconds(b))?,
        // A decimal, in which the quotient would be computed, cannot be infinite.
        (Value::Days(_), Value::Float(_) | Value::Double(_)) if is_infinite(right) => {
            return Some(Value::Days(DayTimeDuration::default()).into_term());
        }
        (duration @ (Value::Months(_) | Value::Days(_)), number) => {
            return scale_duration(
                duration,
                number,
                |months, divisor| months / divisor,
                |seconds, divisor| seconds.checked_div(divisor),
            );
        }
        (a, b) => {
            return combine_numbers(a, b, Decimal::checked_div, |a, b| a / b, |a, b| a / b);
        }
    };
    Some(Value::Decimal(quotient).into_term())
}

/// Computes with two numbers in the wider type of both. Integers become decimals.
fn combine_numbers(
    left: Value,
    right: Value,
    decimals: fn(Decimal, Decimal) -> Option<Decimal>,
    floats: fn(Float, Float) -> Float,
    doubles: fn(Double, Double) -> Double,
) -> Option<Term> {
    let value = if let (Some(a), Some(b)) = (left.decimal(), right.decimal()) {
        Value::Decimal(decimals(a, b)?)
    } else if let (Some(a), Some(b)) = (left.float(), right.float()) {
        Value::Float(floats(a, b))
    } else {
        Value::Double(doubles(left.double()?, right.double()?))
    };
    Some(value.into_term())
}

/// Returns true for the infinite floats and doubles.
fn is_infinite(term: &Term) -> bool {
    let number = Value::from_term(term).and_then(Value::double);
    number.is_some_and(|number| f64::from(number).is_infinite())
}

/// Returns a duration changed by a number. Months are rounded to whole ones.
fn scale_duration(
    duration: Value,
    number: Value,
    change_months: fn(f64, f64) -> f64,
    change_seconds: fn(Decimal, Decimal) -> Option<Decimal>,
) -> Option<Term> {
    let scaled = match duration {
        Value::Months(months) => {
            let number = f64::from(number.double()?);
            #[expect(
                clippy::cast_precision_loss,
                reason = "the operators are those of doubles"
            )]
            let months = Double::from(change_months(total_months(months) as f64, number)).round();
            Value::Months(YearMonthDuration::new(i64::from(integer_of(
                months.into(),
            )?)))
        }
        Value::Days(days) => {
            let number = match number.decimal() {
                Some(number) => number,
                // The shortest notation of a double is the number that was meant.
                None => f64::from(number.double()?).to_string().parse().ok()?,
            };
            Value::Days(DayTimeDuration::new(change_seconds(
                total_seconds(days),
                number,
            )?))
        }
        _ => return None,
    };
    Some(scaled.into_term())
}

fn total_months(duration: YearMonthDuration) -> i64 {
    i64::from_be_bytes(duration.to_be_bytes())
}

fn total_seconds(duration: DayTimeDuration) -> Decimal {
    Decimal::from_be_bytes(duration.to_be_bytes())
}

/// Returns the integer part of a double. `None` if it is not finite, or has more than 64 bits.
fn integer_of(value: f64) -> Option<Integer> {
    // The next double above the largest integer is 2 to the power of 63.
    let range = -9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0;
    let value = value.trunc();
    #[expect(clippy::cast_possible_truncation, reason = "it is in the range")]
    range.contains(&value).then(|| Integer::from(value as i64))
}

/// Returns the decimal that is closest to a double; the one closer to zero of two. `None` if it is not finite, or out of range.
fn decimal_of(value: f64) -> Option<Decimal> {
    if !value.is_finite() {
        return None;
    }
    let bits = value.to_bits();
    let exponent = i32::try_from(bits >> 52 & 0x7ff).ok()?;
    let fraction = bits & ((1 << 52) - 1);
    // The mantissa is taken as an integer: the exponent of IEEE 754 is reduced by its bias and by 52.
    // Zero marks subnormal numbers, which lack the leading bit.
    let (mantissa, exponent) = match exponent {
        0 => (fraction, -1074),
        _ => (fraction | 1 << 52, exponent - 1075),
    };
    let mantissa = u128::from(mantissa);
    let units = if exponent >= 0 {
        // 53 bits are shifted by at most 74, so none is lost.
        let exponent = u32::try_from(exponent).ok().filter(|it| *it < 75)?;
        (mantissa << exponent).checked_mul(DECIMAL_UNITS)?
    } else {
        // At most 113 bits.
        let product = mantissa * DECIMAL_UNITS;
        let shift = exponent.unsigned_abs();
        if shift >= 128 {
            0
        } else {
            let rest = product & ((1 << shift) - 1);
            (product >> shift) + u128::from(rest > 1 << (shift - 1))
        }
    };
    let units = i128::try_from(units).ok()?;
    let units = if value.is_sign_negative() {
        -units
    } else {
        units
    };
    Some(Decimal::from_be_bytes(units.to_be_bytes()))
}

/// Prepares the argument of a cast to `xsd:integer`: the integer part of a double or float.
pub(super) fn to_integer(term: &Term) -> Option<Term> {
    match Value::from_term(term) {
        Some(number @ (Value::Double(_) | Value::Float(_))) => {
            let integer = integer_of(number.double()?.into())?;
            Some(Value::Integer(integer).into_term())
        }
        _ => Some(collapse_space(term)),
    }
}

/// Prepares the argument of a cast to `xsd:decimal`: the decimal that is closest to a double or float (19.1.2.3).
pub(super) fn to_decimal(term: &Term) -> Option<Term> {
    match Value::from_term(term) {
        Some(number @ (Value::Double(_) | Value::Float(_))) => {
            let decimal = decimal_of(number.double()?.into())?;
            Some(Value::Decimal(decimal).into_term())
        }
        _ => Some(collapse_space(term)),
    }
}

/// Prepares the argument of a cast to `xsd:double` or `xsd:float`: a decimal or a large integer becomes a string, which is parsed
/// (19.1.2.1 and 19.1.2.2).
pub(super) fn to_double(term: &Term) -> Option<Term> {
    match Number::from_term(term) {
        Some(Number::Large(text)) => Some(Literal::from(text).into()),
        Some(Number::Small(Value::Decimal(decimal))) => {
            Some(Literal::from(decimal.to_string()).into())
        }
        _ => Some(collapse_space(term)),
    }
}

/// Prepares the argument of a cast to `xsd:duration`. Texts that are none become the empty string: Oxigraph reads a `T` without a time,
/// and a point without digits at both sides.
pub(super) fn to_duration(term: &Term) -> Option<Term> {
    let term = collapse_space(term);
    let Term::Literal(literal) = &term else {
        return Some(term);
    };
    let text = literal.value();
    let is_valid = !text.ends_with('T')
        && text.split_once('.').is_none_or(|(whole, fraction)| {
            whole.ends_with(|last: char| last.is_ascii_digit())
                && fraction.starts_with(|first: char| first.is_ascii_digit())
        });
    if literal.datatype() == xsd::STRING && !is_valid {
        return Some(Literal::from("").into());
    }
    Some(term)
}

/// Returns the literal for the 29 February, which Oxigraph does not cast. `None` for other texts.
pub(super) fn leap_day(term: &Term) -> Option<Term> {
    let Term::Literal(literal) = collapse_space(term) else {
        return None;
    };
    let is_text = literal.datatype() == xsd::STRING || literal.datatype() == xsd::G_MONTH_DAY;
    let zone = literal
        .value()
        .strip_prefix("--02-29")
        .filter(|_| is_text)?;
    // The zone is valid if another day with it is.
    GMonthDay::from_str(&format!("--02-28{zone}")).ok()?;
    Some(Literal::new_typed_literal(literal.value(), xsd::G_MONTH_DAY).into())
}

/// Prepares the argument of a cast to `xsd:yearMonthDuration`: the years and months of a duration (19.1.4).
pub(super) fn to_months(term: &Term) -> Option<Term> {
    let Some(duration) = Value::from_term(term).and_then(Value::duration) else {
        return to_duration(term);
    };
    // A duration is stored as its months, then its seconds.
    let bytes = duration.to_be_bytes();
    let (months, _) = bytes.split_first_chunk()?;
    Some(Value::Months(YearMonthDuration::from_be_bytes(*months)).into_term())
}

/// Prepares the argument of a cast to `xsd:dayTimeDuration`: the days and seconds of a duration (19.1.4).
pub(super) fn to_days(term: &Term) -> Option<Term> {
    let Some(duration) = Value::from_term(term).and_then(Value::duration) else {
        return to_duration(term);
    };
    let bytes = duration.to_be_bytes();
    let (_, seconds) = bytes.split_last_chunk()?;
    Some(Value::Days(DayTimeDuration::from_be_bytes(*seconds)).into_term())
}

/// Prepares the argument of a cast: a string without white space at its ends (Functions and Operators 3.1, 19.2). Spellings of infinity
/// that XML Schema lacks become the empty string, which no number has.
pub(super) fn collapse_space(term: &Term) -> Term {
    match term {
        Term::Literal(literal) if literal.datatype() == xsd::STRING => {
            let text = literal.value().trim_matches([' ', '\t', '\n', '\r']);
            Literal::from(if is_foreign_double(text) { "" } else { text }).into()
        }
        _ => term.clone(),
    }
}

/// Returns true for spellings of infinity and `NaN` that XML Schema lacks.
fn is_foreign_double(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    unsigned.starts_with(|char: char| char.is_ascii_alphabetic())
        && unsigned.parse::<f64>().is_ok()
        && !matches!(text, "INF" | "+INF" | "-INF" | "NaN")
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

    #[test]
    fn doubles_become_the_closest_decimals() {
        for (value, expected) in [
            ("589342e0", Some("589342")),
            ("-589342e0", Some("-589342")),
            ("1e10", Some("10000000000")),
            ("1e20", Some("100000000000000000000")),
            ("1.5e0", Some("1.5")),
            ("0.1e0", Some("0.100000000000000006")),
            ("1e-18", Some("0.000000000000000001")),
            ("4e-19", Some("0")),
            ("5e-324", Some("0")),
            ("-0.0e0", Some("0")),
            ("0.0000019073486328125", Some("0.000001907348632812")), // halfway between two decimals
            ("1.7e20", Some("170000000000000000000")),
            ("1.8e20", None),
            ("1e300", None),
            ("INF", None),
            ("NaN", None),
        ] {
            let expected = expected.map(|text| typed(text, xsd::DECIMAL));
            assert_eq!(to_decimal(&typed(value, xsd::DOUBLE)), expected, "{value}");
        }
        let float = to_decimal(&typed("16777216", xsd::FLOAT));
        assert_eq!(float, Some(typed("16777216", xsd::DECIMAL)));
    }

    #[test]
    fn doubles_become_their_integer_parts() {
        for (value, expected) in [
            ("589342e0", Some("589342")),
            ("1e10", Some("10000000000")),
            ("-1.9e0", Some("-1")),
            ("9007199254740993e0", Some("9007199254740992")),
            ("9.2e18", Some("9200000000000000000")),
            ("-9.223372036854775808e18", Some("-9223372036854775808")),
            ("9.223372036854775808e18", None),
            ("INF", None),
            ("NaN", None),
        ] {
            let expected = expected.map(|text| typed(text, xsd::INTEGER));
            assert_eq!(to_integer(&typed(value, xsd::DOUBLE)), expected, "{value}");
        }
    }

    #[test]
    fn numbers_are_compared_by_value() {
        use Ordering::{Equal, Greater, Less};
        let large = "123456789012345678901234567890";
        for (left, right, expected) in [
            (
                (large, xsd::INTEGER),
                ("5", xsd::INTEGER),
                Some(Some(Greater)),
            ),
            (
                (large, xsd::INTEGER),
                ("5.5", xsd::DECIMAL),
                Some(Some(Greater)),
            ),
            (
                (large, xsd::INTEGER),
                ("1e40", xsd::DOUBLE),
                Some(Some(Less)),
            ),
            ((large, xsd::INTEGER), ("NaN", xsd::DOUBLE), Some(None)),
            ((large, xsd::INTEGER), ("5", xsd::STRING), None),
            (
                (large, xsd::INTEGER),
                ("0123456789012345678901234567890.0", xsd::DECIMAL),
                Some(Some(Equal)),
            ),
            (
                ("-99999999999999999999", xsd::INTEGER),
                ("-99999999999999999998", xsd::INTEGER),
                Some(Some(Less)),
            ),
            (
                ("0.0000000000000000000000001", xsd::DECIMAL),
                ("0", xsd::INTEGER),
                Some(Some(Greater)),
            ),
            (
                ("-0.0000000000000000000000000", xsd::DECIMAL),
                ("0", xsd::INTEGER),
                Some(Some(Equal)),
            ),
            (("NaN", xsd::DOUBLE), ("NaN", xsd::DOUBLE), Some(None)),
            (("NaN", xsd::FLOAT), ("1", xsd::INTEGER), Some(None)),
            (
                ("true", xsd::BOOLEAN),
                ("0", xsd::BOOLEAN),
                Some(Some(Greater)),
            ),
            (("true", xsd::BOOLEAN), ("0", xsd::INTEGER), None),
            (
                ("P1M", xsd::YEAR_MONTH_DURATION),
                ("P40D", xsd::DURATION),
                Some(Some(Less)),
            ),
            (
                ("P1M", xsd::YEAR_MONTH_DURATION),
                ("P30D", xsd::DURATION),
                None,
            ),
        ] {
            let (left, right) = (typed(left.0, left.1), typed(right.0, right.1));
            assert_eq!(compare(&left, &right), expected, "{left} {right}");
            let reversed = expected.map(|order| order.map(Ordering::reverse));
            assert_eq!(compare(&right, &left), reversed, "{right} {left}");
        }
    }

    #[test]
    fn only_valid_literals_are_numeric() {
        for (text, datatype, expected) in [
            ("1200", xsd::BYTE, false),
            ("127", xsd::BYTE, true),
            ("-1", xsd::UNSIGNED_LONG, false),
            ("18446744073709551615", xsd::UNSIGNED_LONG, true),
            ("0", xsd::POSITIVE_INTEGER, false),
            ("99999999999999999999", xsd::INTEGER, true),
            ("99999999999999999999", xsd::LONG, false),
            (
                "-9999999999999999999999999999999999999999999",
                xsd::NEGATIVE_INTEGER,
                true,
            ),
            (
                "-9999999999999999999999999999999999999999999",
                xsd::POSITIVE_INTEGER,
                false,
            ),
            ("1.0", xsd::INTEGER, false),
            (".", xsd::DECIMAL, false),
            (".5", xsd::DECIMAL, true),
            ("1e0", xsd::DECIMAL, false),
            ("INF", xsd::DOUBLE, true),
            ("inf", xsd::DOUBLE, false),
            ("1", xsd::STRING, false),
        ] {
            let literal = Literal::new_typed_literal(text, datatype);
            assert_eq!(is_numeric(&literal), expected, "{literal}");
        }
    }
}
