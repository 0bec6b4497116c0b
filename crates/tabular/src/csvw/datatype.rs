//! Datatypes of cells: built-in types, formats of numbers, dates and booleans, constraints.

use oxsdatatypes::{
    Date, DateTime, DayTimeDuration, Duration, GDay, GMonth, GMonthDay, GYear, GYearMonth, Time,
    YearMonthDuration,
};
use regex::{Regex, RegexBuilder};
use std::cmp::Ordering;
use std::str::FromStr;

/// Maximum size of a compiled regular expression in bytes.
const MAX_PATTERN_BYTES: usize = 1 << 20;

/// Kind of a built-in datatype.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Family {
    Text,
    Binary,
    Boolean,
    /// Integers, with their bounds.
    Integer(Option<i128>, Option<i128>),
    Decimal,
    Float,
    Date,
    Time,
    DateTime,
    /// Parts of dates.
    DatePart,
    Duration,
}

const XSD: &str = "http://www.w3.org/2001/XMLSchema#";

/// Built-in datatypes: name, IRI or name in XML Schema, family.
const BUILTIN: &[(&str, &str, Family)] = &[
    ("anyAtomicType", "anyAtomicType", Family::Text),
    ("any", "anyAtomicType", Family::Text),
    ("string", "string", Family::Text),
    ("normalizedString", "normalizedString", Family::Text),
    ("token", "token", Family::Text),
    ("language", "language", Family::Text),
    ("Name", "Name", Family::Text),
    ("NMTOKEN", "NMTOKEN", Family::Text),
    ("anyURI", "anyURI", Family::Text),
    ("QName", "QName", Family::Text),
    (
        "xml",
        "http://www.w3.org/1999/02/22-rdf-syntax-ns#XMLLiteral",
        Family::Text,
    ),
    (
        "html",
        "http://www.w3.org/1999/02/22-rdf-syntax-ns#HTML",
        Family::Text,
    ),
    ("json", "http://www.w3.org/ns/csvw#JSON", Family::Text),
    ("base64Binary", "base64Binary", Family::Binary),
    ("binary", "base64Binary", Family::Binary),
    ("hexBinary", "hexBinary", Family::Binary),
    ("boolean", "boolean", Family::Boolean),
    ("integer", "integer", Family::Integer(None, None)),
    (
        "long",
        "long",
        Family::Integer(Some(i64::MIN as i128), Some(i64::MAX as i128)),
    ),
    (
        "int",
        "int",
        Family::Integer(Some(i32::MIN as i128), Some(i32::MAX as i128)),
    ),
    (
        "short",
        "short",
        Family::Integer(Some(i16::MIN as i128), Some(i16::MAX as i128)),
    ),
    (
        "byte",
        "byte",
        Family::Integer(Some(i8::MIN as i128), Some(i8::MAX as i128)),
    ),
    (
        "nonNegativeInteger",
        "nonNegativeInteger",
        Family::Integer(Some(0), None),
    ),
    (
        "positiveInteger",
        "positiveInteger",
        Family::Integer(Some(1), None),
    ),
    (
        "unsignedLong",
        "unsignedLong",
        Family::Integer(Some(0), Some(u64::MAX as i128)),
    ),
    (
        "unsignedInt",
        "unsignedInt",
        Family::Integer(Some(0), Some(u32::MAX as i128)),
    ),
    (
        "unsignedShort",
        "unsignedShort",
        Family::Integer(Some(0), Some(u16::MAX as i128)),
    ),
    (
        "unsignedByte",
        "unsignedByte",
        Family::Integer(Some(0), Some(u8::MAX as i128)),
    ),
    (
        "nonPositiveInteger",
        "nonPositiveInteger",
        Family::Integer(None, Some(0)),
    ),
    (
        "negativeInteger",
        "negativeInteger",
        Family::Integer(None, Some(-1)),
    ),
    ("decimal", "decimal", Family::Decimal),
    ("double", "double", Family::Float),
    ("number", "double", Family::Float),
    ("float", "float", Family::Float),
    ("date", "date", Family::Date),
    ("time", "time", Family::Time),
    ("dateTime", "dateTime", Family::DateTime),
    ("datetime", "dateTime", Family::DateTime),
    ("dateTimeStamp", "dateTimeStamp", Family::DateTime),
    ("gDay", "gDay", Family::DatePart),
    ("gMonth", "gMonth", Family::DatePart),
    ("gMonthDay", "gMonthDay", Family::DatePart),
    ("gYear", "gYear", Family::DatePart),
    ("gYearMonth", "gYearMonth", Family::DatePart),
    ("duration", "duration", Family::Duration),
    ("dayTimeDuration", "dayTimeDuration", Family::Duration),
    ("yearMonthDuration", "yearMonthDuration", Family::Duration),
];

/// Returns the IRI of a built-in datatype.
pub(super) fn builtin_iri(name: &str) -> Option<String> {
    BUILTIN
        .iter()
        .find(|(known, _, _)| *known == name)
        .map(|(_, iri, _)| {
            if iri.contains(':') {
                (*iri).to_owned()
            } else {
                format!("{XSD}{iri}")
            }
        })
}

/// Returns the kind of a built-in datatype.
pub(super) fn family(name: &str) -> Option<Family> {
    BUILTIN
        .iter()
        .find(|(known, _, _)| *known == name)
        .map(|(_, _, family)| *family)
}

/// Returns true for the IRI of a built-in datatype.
pub(super) fn is_builtin_iri(iri: &str) -> bool {
    BUILTIN
        .iter()
        .any(|(name, _, _)| builtin_iri(name).as_deref() == Some(iri))
}

/// Format of a datatype.
#[derive(Clone, Debug, Default)]
pub(super) enum Format {
    #[default]
    None,
    /// Regular expression of the whole text.
    Pattern(Regex),
    Boolean {
        yes: String,
        no: String,
    },
    Number(NumberFormat),
    Date(DateFormat),
}

/// Datatype of a column.
#[derive(Clone, Debug)]
pub(super) struct Datatype {
    pub(super) base: &'static str,
    pub(super) family: Family,
    /// IRI of literals.
    pub(super) iri: String,
    pub(super) format: Format,
    pub(super) length: Option<usize>,
    pub(super) min_length: Option<usize>,
    pub(super) max_length: Option<usize>,
    pub(super) bounds: Vec<(Bound, String)>,
}

/// Bound of values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Bound {
    MinInclusive,
    MaxInclusive,
    MinExclusive,
    MaxExclusive,
}

impl Datatype {
    /// Creates a built-in datatype.
    pub(super) fn builtin(name: &str) -> Option<Self> {
        let (base, _, family) = BUILTIN.iter().find(|(known, _, _)| *known == name)?;
        Some(Self {
            base,
            family: *family,
            iri: builtin_iri(base)?,
            format: Format::None,
            length: None,
            min_length: None,
            max_length: None,
            bounds: Vec::new(),
        })
    }

    /// Returns true if white space at the ends of a text belongs to it.
    pub(super) fn keeps_space(&self) -> bool {
        matches!(
            self.base,
            "string" | "json" | "xml" | "html" | "any" | "anyAtomicType"
        )
    }

    /// Returns the lexical form of a text, or the reason why it is none of this type.
    pub(super) fn parse(&self, text: &str) -> Result<String, String> {
        if let (Family::Text | Family::Binary | Family::Duration, Format::Pattern(pattern)) =
            (self.family, &self.format)
            && !pattern.is_match(text)
        {
            return Err(format!("{text:?} does not match the format"));
        }
        let value = self
            .lexical_form(text)
            .ok_or_else(|| format!("{text:?} is no {}", self.base))?;
        self.check_length(&value)?;
        self.check_bounds(&value)?;
        Ok(value)
    }

    /// Returns the lexical form of a text, whatever the regular expression, the length and the bounds of the type are.
    fn lexical_form(&self, text: &str) -> Option<String> {
        match self.family {
            Family::Text | Family::Binary | Family::Duration => {
                let is_valid = match (self.family, self.base) {
                    (Family::Duration, "dayTimeDuration") => {
                        DayTimeDuration::from_str(text).is_ok()
                    }
                    (Family::Duration, "yearMonthDuration") => {
                        YearMonthDuration::from_str(text).is_ok()
                    }
                    (Family::Duration, _) => Duration::from_str(text).is_ok(),
                    _ => true,
                };
                is_valid.then(|| text.to_owned())
            }
            Family::Boolean => match &self.format {
                Format::Boolean { yes, .. } if text == yes => Some("true".to_owned()),
                Format::Boolean { no, .. } if text == no => Some("false".to_owned()),
                Format::Boolean { .. } => None,
                _ => match text {
                    "true" | "1" => Some("true".to_owned()),
                    "false" | "0" => Some("false".to_owned()),
                    _ => None,
                },
            },
            Family::Integer(..) | Family::Decimal | Family::Float => {
                let default = NumberFormat::default();
                let format = match &self.format {
                    Format::Number(format) => format,
                    _ => &default,
                };
                format.parse(text, self.family)
            }
            Family::Date | Family::Time | Family::DateTime => match &self.format {
                Format::Date(format) => format.parse(text, self.family),
                _ => self.parse_date(text),
            },
            Family::DatePart => self.parse_date(text),
        }
    }

    fn parse_date(&self, text: &str) -> Option<String> {
        let is_valid = match self.base {
            "date" => Date::from_str(text).is_ok(),
            "time" => Time::from_str(text).is_ok(),
            "dateTimeStamp" => {
                DateTime::from_str(text).is_ok_and(|time| time.timezone_offset().is_some())
            }
            "dateTime" | "datetime" => DateTime::from_str(text).is_ok(),
            "gDay" => GDay::from_str(text).is_ok(),
            "gMonth" => GMonth::from_str(text).is_ok(),
            "gMonthDay" => GMonthDay::from_str(text).is_ok(),
            "gYear" => GYear::from_str(text).is_ok(),
            "gYearMonth" => GYearMonth::from_str(text).is_ok(),
            _ => false,
        };
        is_valid.then(|| text.to_owned())
    }

    fn check_length(&self, value: &str) -> Result<(), String> {
        if self.length.is_none() && self.min_length.is_none() && self.max_length.is_none() {
            return Ok(());
        }
        let length = match self.base {
            "hexBinary" => value.len() / 2,
            "base64Binary" | "binary" => {
                let digits = value
                    .bytes()
                    .filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=');
                digits.count() * 3 / 4
            }
            _ => value.chars().count(),
        };
        let fits = self.length.is_none_or(|exact| length == exact)
            && self.min_length.is_none_or(|least| length >= least)
            && self.max_length.is_none_or(|most| length <= most);
        if fits {
            Ok(())
        } else {
            Err(format!("{value:?} has the wrong length"))
        }
    }

    fn check_bounds(&self, value: &str) -> Result<(), String> {
        for (bound, limit) in &self.bounds {
            let Some(order) = self.compare(value, limit) else {
                continue;
            };
            let fits = match bound {
                Bound::MinInclusive => order != Ordering::Less,
                Bound::MaxInclusive => order != Ordering::Greater,
                Bound::MinExclusive => order == Ordering::Greater,
                Bound::MaxExclusive => order == Ordering::Less,
            };
            if !fits {
                return Err(format!("{value:?} is out of bounds"));
            }
        }
        Ok(())
    }

    /// Compares two lexical forms; `None` if they have no order.
    pub(super) fn compare(&self, left: &str, right: &str) -> Option<Ordering> {
        match self.family {
            Family::Integer(..) | Family::Decimal => {
                let exact = DecimalDigits::parse(left).zip(DecimalDigits::parse(right.trim()));
                match exact {
                    Some((left, right)) => Some(left.compare(&right)),
                    // A bound may have an exponent.
                    None => compare_floats(left, right),
                }
            }
            Family::Float => compare_floats(left, right),
            Family::Date => Date::from_str(left)
                .ok()?
                .partial_cmp(&Date::from_str(right).ok()?),
            Family::Time => Time::from_str(left)
                .ok()?
                .partial_cmp(&Time::from_str(right).ok()?),
            Family::DateTime => DateTime::from_str(left)
                .ok()?
                .partial_cmp(&DateTime::from_str(right).ok()?),
            Family::Duration => Duration::from_str(left)
                .ok()?
                .partial_cmp(&Duration::from_str(right).ok()?),
            Family::DatePart => Some(left.cmp(right)),
            Family::Text | Family::Binary | Family::Boolean => None,
        }
    }
}

fn compare_floats(left: &str, right: &str) -> Option<Ordering> {
    let left: f64 = left.parse().ok()?;
    left.partial_cmp(&right.trim().parse().ok()?)
}

/// Digits of a decimal number. They are compared as they are: a double has 53 bits only.
struct DecimalDigits<'t> {
    is_negative: bool,
    /// Digits before the point, without leading zeros.
    integer: &'t str,
    /// Digits after the point, without zeros at the end.
    fraction: &'t str,
}

impl<'t> DecimalDigits<'t> {
    /// Parses a number without an exponent; `None` for other texts.
    fn parse(text: &'t str) -> Option<Self> {
        let (has_minus, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (integer, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let mut bytes = integer.bytes().chain(fraction.bytes());
        let is_empty = integer.is_empty() && fraction.is_empty();
        if is_empty || !bytes.all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let integer = integer.trim_start_matches('0');
        let fraction = fraction.trim_end_matches('0');
        Some(Self {
            // Zero has no sign.
            is_negative: has_minus && !(integer.is_empty() && fraction.is_empty()),
            integer,
            fraction,
        })
    }

    fn compare(&self, other: &Self) -> Ordering {
        match (self.is_negative, other.is_negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => self.compare_magnitude(other),
            (true, true) => other.compare_magnitude(self),
        }
    }

    fn compare_magnitude(&self, other: &Self) -> Ordering {
        let lengths = self.integer.len().cmp(&other.integer.len());
        lengths
            .then_with(|| self.integer.cmp(other.integer))
            .then_with(|| self.fraction.cmp(other.fraction))
    }
}

/// Compiles a regular expression for whole texts; `None` if it is not valid.
pub(super) fn whole_pattern(pattern: &str) -> Option<Regex> {
    // The size is limited, because the pattern is part of the document. The library has no backtracking.
    RegexBuilder::new(&format!("^(?:{pattern})$"))
        .size_limit(MAX_PATTERN_BYTES)
        .build()
        .ok()
}

/// Format of numbers: characters, and a pattern of Unicode TR 35.
#[derive(Clone, Debug)]
pub(super) struct NumberFormat {
    pub(super) decimal: char,
    pub(super) group: char,
    pub(super) pattern: Option<NumberPattern>,
}

impl Default for NumberFormat {
    fn default() -> Self {
        Self {
            decimal: '.',
            group: ',',
            pattern: None,
        }
    }
}

/// Pattern of numbers, for example `#,##0.0#`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct NumberPattern {
    /// Characters before the digits: signs.
    prefix: String,
    /// Characters after the digits: percent and per mille signs.
    suffix: String,
    min_integer: usize,
    /// Maximum number of digits before the decimal point of a number with an exponent.
    max_integer: usize,
    /// Sizes of the group before the decimal point, and of those before it.
    primary_group: Option<usize>,
    secondary_group: Option<usize>,
    min_fraction: usize,
    max_fraction: usize,
    fraction_group: Option<usize>,
    /// Minimum number of digits of an exponent, and true if it has a sign.
    exponent: Option<(usize, bool)>,
}

/// Characters of the digits of a number pattern.
const DIGIT_CHARACTERS: [char; 4] = ['0', '#', ',', '.'];

impl NumberPattern {
    /// Parses a pattern. It always has `.` and `,` (TR 35), whatever characters the cells have.
    pub(super) fn parse(pattern: &str) -> Option<Self> {
        let start = pattern.find(DIGIT_CHARACTERS)?;
        let prefix = &pattern[..start];
        let mut rest = &pattern[start..];
        if !prefix.chars().all(|c| matches!(c, '+' | '-' | '%' | '‰')) {
            return None;
        }
        let end = rest
            .find(|c| !DIGIT_CHARACTERS.contains(&c))
            .unwrap_or(rest.len());
        let digits = &rest[..end];
        rest = &rest[end..];
        let mut parsed = Self {
            prefix: prefix.to_owned(),
            ..Self::default()
        };
        if let Some(exponent) = rest.strip_prefix('E') {
            let (sign, exponent) = match exponent.strip_prefix('+') {
                Some(exponent) => (true, exponent),
                None => (false, exponent),
            };
            let zeros = exponent
                .chars()
                .take_while(|c| matches!(c, '0' | '#'))
                .count();
            if zeros == 0 {
                return None;
            }
            let required = exponent[..zeros].matches('0').count();
            parsed.exponent = Some((required.max(1), sign));
            rest = &exponent[zeros..];
        }
        if !rest.chars().all(|c| matches!(c, '+' | '-' | '%' | '‰')) {
            return None;
        }
        parsed.suffix = rest.to_owned();
        let (integer, fraction) = match digits.split_once('.') {
            Some((integer, fraction)) => (integer, Some(fraction)),
            None => (digits, None),
        };
        parsed.parse_integer(integer)?;
        if let Some(fraction) = fraction {
            parsed.parse_fraction(fraction)?;
        }
        Some(parsed)
    }

    fn parse_integer(&mut self, integer: &str) -> Option<()> {
        let plain: String = integer.chars().filter(|c| *c != ',').collect();
        // Optional digits precede required ones.
        let required = plain.trim_start_matches('#');
        if required.contains('#') {
            return None;
        }
        self.min_integer = required.len();
        self.max_integer = plain.len();
        let groups: Vec<&str> = integer.split(',').collect();
        if groups.len() > 1 {
            let last = groups[groups.len() - 1].len();
            if last == 0 {
                return None;
            }
            self.primary_group = Some(last);
            self.secondary_group = Some(if groups.len() > 2 {
                groups[groups.len() - 2].len()
            } else {
                last
            });
        }
        Some(())
    }

    fn parse_fraction(&mut self, fraction: &str) -> Option<()> {
        let plain: String = fraction.chars().filter(|c| *c != ',').collect();
        let required = plain.trim_end_matches('#');
        if required.contains('#') || fraction.contains('.') {
            return None;
        }
        self.min_fraction = required.len();
        self.max_fraction = plain.len();
        if let Some(first) = fraction.find(',') {
            self.fraction_group = Some(first);
        }
        Some(())
    }

    /// Returns true if the parts of a number are as the pattern requires.
    fn accepts(&self, integer: &str, fraction: Option<&str>, group: char) -> bool {
        let digits = integer.chars().filter(|c| *c != group).count();
        if digits < self.min_integer || (self.exponent.is_some() && digits > self.max_integer) {
            return false;
        }
        let groups: Vec<&str> = integer.split(group).collect();
        match (self.primary_group, self.secondary_group) {
            (Some(primary), Some(secondary)) => {
                let last = groups.len() - 1;
                // The first group may be shorter. All others have the size of the pattern.
                for (place, part) in groups.iter().enumerate() {
                    let size = if place == last { primary } else { secondary };
                    let fits = if place == 0 {
                        part.len() <= size && (!part.is_empty() || last == 0)
                    } else {
                        part.len() == size
                    };
                    if !fits {
                        return false;
                    }
                }
            }
            _ if groups.len() > 1 => return false,
            _ => (),
        }
        let fraction = fraction.unwrap_or_default();
        let digits = fraction.chars().filter(|c| *c != group).count();
        if digits < self.min_fraction || digits > self.max_fraction {
            return false;
        }
        let groups: Vec<&str> = fraction.split(group).collect();
        match self.fraction_group {
            Some(size) => {
                let last = groups.len() - 1;
                groups.iter().enumerate().all(|(place, part)| {
                    if place == last {
                        part.len() <= size && (!part.is_empty() || last == 0)
                    } else {
                        part.len() == size
                    }
                })
            }
            None => groups.len() == 1,
        }
    }
}

impl NumberFormat {
    /// Returns the lexical form of a number.
    fn parse(&self, text: &str, family: Family) -> Option<String> {
        if matches!(text, "NaN" | "INF" | "-INF") {
            return (family == Family::Float).then(|| text.to_owned());
        }
        let mut rest = text;
        let mut sign = "";
        if let Some(after) = rest.strip_prefix('-') {
            (sign, rest) = ("-", after);
        } else if let Some(after) = rest.strip_prefix('+') {
            (sign, rest) = ("+", after);
        }
        let mut shift = 0;
        for (mark, digits) in [('%', 2), ('‰', 3)] {
            if let Some(inner) = rest.strip_suffix(mark).or_else(|| rest.strip_prefix(mark)) {
                (rest, shift) = (inner, digits);
                break;
            }
        }
        // The sign may follow the mark, or the number.
        if sign.is_empty() {
            if let Some(after) = rest.strip_prefix('-').or_else(|| rest.strip_suffix('-')) {
                (sign, rest) = ("-", after);
            } else if let Some(after) = rest.strip_prefix('+').or_else(|| rest.strip_suffix('+')) {
                rest = after;
            }
        }
        if let Some(pattern) = &self.pattern {
            let marks = format!("{}{}", pattern.prefix, pattern.suffix);
            let expected = if marks.contains('%') {
                2
            } else if marks.contains('‰') {
                3
            } else {
                0
            };
            if expected != shift {
                return None;
            }
            // A plus or minus of the pattern is required.
            if marks.contains('+') && !text.contains(['+', '-']) {
                return None;
            }
        }
        let (mantissa, exponent) = match rest.find(['E', 'e']) {
            Some(place) => (&rest[..place], Some(&rest[place + 1..])),
            None => (rest, None),
        };
        let (integer, fraction) = match mantissa.split_once(self.decimal) {
            Some((integer, fraction)) => (integer, Some(fraction)),
            None => (mantissa, None),
        };
        if !self.are_digits(integer) || fraction.is_some_and(|digits| !self.are_digits(digits)) {
            return None;
        }
        if integer.is_empty() && fraction.is_none_or(str::is_empty) {
            return None;
        }
        if let Some(exponent) = exponent {
            let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            if !is_number || digits.len() > 6 || family != Family::Float {
                return None;
            }
        }
        if let Some(pattern) = &self.pattern {
            match (exponent, pattern.exponent) {
                (Some(exponent), Some((digits, _))) => {
                    let found = exponent.trim_start_matches(['+', '-']);
                    if found.len() < digits {
                        return None;
                    }
                }
                (None, None) => (),
                _ => return None,
            }
            if !pattern.accepts(integer, fraction, self.group) {
                return None;
            }
        } else if !self.is_grouped(integer) {
            return None;
        }
        let integer: String = integer.chars().filter(|c| *c != self.group).collect();
        let fraction: String = fraction
            .unwrap_or_default()
            .chars()
            .filter(|c| *c != self.group)
            .collect();
        if let Family::Integer(least, most) = family {
            if mantissa.contains(self.decimal) || shift > 0 {
                return None;
            }
            return integer_form(sign, &integer, least, most);
        }
        Some(decimal_form(sign, integer, fraction, exponent, shift))
    }

    fn are_digits(&self, text: &str) -> bool {
        text.chars().all(|c| c.is_ascii_digit() || c == self.group)
    }

    /// Returns true if no two group separators follow each other, and none is at an end.
    fn is_grouped(&self, integer: &str) -> bool {
        !integer.contains(self.group) || integer.split(self.group).all(|part| !part.is_empty())
    }
}

fn integer_form(
    sign: &str,
    digits: &str,
    least: Option<i128>,
    most: Option<i128>,
) -> Option<String> {
    let text = format!("{sign}{digits}");
    match text.parse::<i128>() {
        Ok(value) => {
            let fits =
                least.is_none_or(|least| value >= least) && most.is_none_or(|most| value <= most);
            fits.then_some(text)
        }
        // More digits than 128 bits hold: the sign alone decides.
        Err(_) => {
            let fits = if sign == "-" {
                least.is_none()
            } else {
                most.is_none()
            };
            fits.then_some(text)
        }
    }
}

fn decimal_form(
    sign: &str,
    mut integer: String,
    mut fraction: String,
    exponent: Option<&str>,
    shift: usize,
) -> String {
    if shift > 0 {
        // Percent and per mille: the decimal point moves to the left.
        // By digits, not by a division: the lexical form stays exact.
        while integer.len() < shift + 1 {
            integer.insert(0, '0');
        }
        let moved = integer.split_off(integer.len() - shift);
        fraction.insert_str(0, &moved);
        while fraction.ends_with('0') {
            fraction.pop();
        }
    }
    if integer.is_empty() {
        integer.push('0');
    }
    let sign = if shift > 0 && sign == "+" { "" } else { sign };
    let mut text = format!("{sign}{integer}");
    if !fraction.is_empty() {
        text.push('.');
        text.push_str(&fraction);
    }
    if let Some(exponent) = exponent {
        text.push('e');
        text.push_str(exponent);
    }
    text
}

/// Part of a date format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum DatePiece {
    Year,
    /// Month and day, with the minimum number of digits.
    Month(usize),
    Day(usize),
    Hour,
    Minute,
    Second,
    /// Fraction of a second, with the maximum number of digits.
    Fraction(usize),
    /// Time zone: with `Z` for UTC, and the number of letters.
    Zone(bool, usize),
    Literal(char),
}

/// Format of dates and times of Unicode TR 35.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DateFormat {
    pieces: Vec<DatePiece>,
}

impl DateFormat {
    /// Parses a format for a datatype; `None` if it is not valid.
    pub(super) fn parse_format(format: &str, family: Family) -> Option<Self> {
        let characters: Vec<char> = format.chars().collect();
        let mut pieces = Vec::new();
        let mut place = 0;
        while place < characters.len() {
            let character = characters[place];
            let run = characters[place..]
                .iter()
                .take_while(|c| **c == character)
                .count();
            let (piece, length) = match (character, run) {
                ('y', 4) => (DatePiece::Year, 4),
                ('M', 1 | 2) => (DatePiece::Month(run), run),
                ('d', 1 | 2) => (DatePiece::Day(run), run),
                ('H', 2) => (DatePiece::Hour, 2),
                ('m', 2) => (DatePiece::Minute, 2),
                ('s', 2) => (DatePiece::Second, 2),
                ('S', _) => (DatePiece::Fraction(run), run),
                ('X', 1..=3) => (DatePiece::Zone(true, run), run),
                ('x', 1..=3) => (DatePiece::Zone(false, run), run),
                ('-' | '/' | '.' | ':' | ' ' | 'T', _) => (DatePiece::Literal(character), 1),
                _ => return None,
            };
            pieces.push(piece);
            place += length;
        }
        let (mut date, mut time) = ([0; 3], [0; 2]);
        for piece in &pieces {
            match piece {
                DatePiece::Year => date[0] += 1,
                DatePiece::Month(_) => date[1] += 1,
                DatePiece::Day(_) => date[2] += 1,
                DatePiece::Hour => time[0] += 1,
                DatePiece::Minute => time[1] += 1,
                _ => {}
            }
        }
        let has_date = date == [1, 1, 1];
        let has_no_date = date == [0, 0, 0];
        let has_time = time == [1, 1];
        let has_no_time = time == [0, 0];
        let is_valid = match family {
            Family::Date => has_date && has_no_time,
            Family::Time => has_no_date && has_time,
            _ => has_date && has_time,
        };
        is_valid.then_some(Self { pieces })
    }

    /// Returns the lexical form of a text in this format.
    fn parse(&self, text: &str, family: Family) -> Option<String> {
        let (mut year, mut month, mut day) = (0, 1, 1);
        let (mut hour, mut minute, mut second) = (0, 0, 0);
        let (mut fraction, mut zone) = ("", String::new());
        let mut rest = text;
        for (place, piece) in self.pieces.iter().enumerate() {
            match *piece {
                DatePiece::Literal(literal) => {
                    // A fraction is optional, and so is the point before it.
                    let next = self.pieces.get(place + 1);
                    match rest.strip_prefix(literal) {
                        Some(after) => rest = after,
                        None if literal == '.' && matches!(next, Some(DatePiece::Fraction(_))) => {}
                        None => return None,
                    }
                }
                DatePiece::Year => year = take_number(&mut rest, 4, 4)?,
                DatePiece::Month(least) => month = take_number(&mut rest, least, 2)?,
                DatePiece::Day(least) => day = take_number(&mut rest, least, 2)?,
                DatePiece::Hour => hour = take_number(&mut rest, 2, 2)?,
                DatePiece::Minute => minute = take_number(&mut rest, 2, 2)?,
                DatePiece::Second => second = take_number(&mut rest, 2, 2)?,
                DatePiece::Fraction(most) => {
                    let length = rest.bytes().take_while(u8::is_ascii_digit).count();
                    if length > most {
                        return None;
                    }
                    (fraction, rest) = rest.split_at(length);
                }
                DatePiece::Zone(has_z, letters) => {
                    zone = take_zone(&mut rest, has_z, letters)?;
                }
            }
        }
        if !rest.is_empty() || month == 0 || month > 12 || day == 0 {
            return None;
        }
        if day > crate::values::days_of_month(year, month)
            || hour > 24
            || minute > 59
            || second > 59
        {
            return None;
        }
        let mut out = String::new();
        if family != Family::Time {
            out.push_str(&format!("{year:04}-{month:02}-{day:02}"));
        }
        if family == Family::DateTime {
            out.push('T');
        }
        if family != Family::Date {
            out.push_str(&format!("{hour:02}:{minute:02}:{second:02}"));
            let fraction = fraction.trim_end_matches('0');
            if !fraction.is_empty() {
                out.push('.');
                out.push_str(fraction);
            }
        }
        out.push_str(&zone);
        Some(out)
    }
}

fn take_number(rest: &mut &str, least: usize, most: usize) -> Option<u32> {
    let length = rest
        .bytes()
        .take(most)
        .take_while(u8::is_ascii_digit)
        .count();
    if length < least {
        return None;
    }
    let (digits, after) = rest.split_at(length);
    *rest = after;
    digits.parse().ok()
}

fn take_zone(rest: &mut &str, has_z: bool, letters: usize) -> Option<String> {
    if has_z && let Some(after) = rest.strip_prefix('Z') {
        *rest = after;
        return Some("Z".to_owned());
    }
    let sign = rest.chars().next().filter(|c| matches!(c, '+' | '-'))?;
    *rest = &rest[1..];
    let hours = take_number(rest, 2, 2)?;
    let mut minutes = 0;
    if letters == 3 {
        *rest = rest.strip_prefix(':')?;
        minutes = take_number(rest, 2, 2)?;
    } else if letters == 2
        || rest
            .bytes()
            .next()
            .is_some_and(|byte| byte.is_ascii_digit())
    {
        minutes = take_number(rest, 2, 2)?;
    }
    (hours <= 14 && minutes <= 59).then(|| format!("{sign}{hours:02}:{minutes:02}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_and_decimals_are_compared_exactly() {
        let integer = Datatype::builtin("integer").expect("a type");
        let decimal = Datatype::builtin("decimal").expect("a type");
        for (left, right, expected) in [
            ("9007199254740993", "9007199254740992", Ordering::Greater),
            ("-9007199254740993", "-9007199254740992", Ordering::Less),
            ("+007", " 7 ", Ordering::Equal),
            ("-0", "0", Ordering::Equal),
            ("-1", "1", Ordering::Less),
            ("10", "9", Ordering::Greater),
            ("1", "1.5", Ordering::Less),
            ("100", "1e2", Ordering::Equal),
        ] {
            assert_eq!(
                integer.compare(left, right),
                Some(expected),
                "{left} {right}"
            );
            assert_eq!(
                integer.compare(right.trim(), left),
                Some(expected.reverse()),
                "{right} {left}"
            );
        }
        for (left, right, expected) in [
            ("0.10000000000000000001", "0.1", Ordering::Greater),
            (".5", "0.50", Ordering::Equal),
            ("0.45", "0.5", Ordering::Less),
            ("-0.45", "-0.5", Ordering::Greater),
        ] {
            assert_eq!(
                decimal.compare(left, right),
                Some(expected),
                "{left} {right}"
            );
        }
        assert_eq!(integer.compare("1", "one"), None);
    }

    #[test]
    fn bounds_of_large_integers_are_exact() {
        let mut datatype = Datatype::builtin("integer").expect("a type");
        let limit = "9007199254740992".to_owned();
        datatype.bounds.push((Bound::MaxInclusive, limit.clone()));
        assert_eq!(datatype.parse(&limit), Ok(limit));
        let above = datatype.parse("9007199254740993");
        assert_eq!(
            above,
            Err("\"9007199254740993\" is out of bounds".to_owned())
        );
    }
}
