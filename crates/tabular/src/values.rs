//! Kinds of cells, and the datatypes of columns.

use oxrdf::NamedNodeRef;
use oxrdf::vocab::xsd;
use std::borrow::Cow;

/// Kind of the text of a cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CellKind {
    /// Nothing, or white space.
    Empty,
    /// A mark for a missing value, such as `NA`.
    Missing,
    Integer,
    Decimal,
    Double,
    Boolean,
    Date,
    DateTime,
    YearMonth,
    Iri,
    Text,
}

/// Type of the cells of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ColumnType {
    Integer,
    Decimal,
    Double,
    Boolean,
    Date,
    DateTime,
    YearMonth,
    Iri,
    Text,
}

/// Notation of numbers in a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct NumberFormat {
    /// If true, the comma separates decimals, and the point groups of digits.
    pub(crate) is_decimal_comma: bool,
}

impl ColumnType {
    /// Returns the IRI of the datatype. IRIs and texts have none.
    pub(crate) fn datatype(self) -> Option<NamedNodeRef<'static>> {
        Some(match self {
            Self::Integer => xsd::INTEGER,
            Self::Decimal => xsd::DECIMAL,
            Self::Double => xsd::DOUBLE,
            Self::Boolean => xsd::BOOLEAN,
            Self::Date => xsd::DATE,
            Self::DateTime => xsd::DATE_TIME,
            Self::YearMonth => xsd::G_YEAR_MONTH,
            Self::Iri | Self::Text => return None,
        })
    }

    pub(crate) fn is_numeric(self) -> bool {
        matches!(self, Self::Integer | Self::Decimal | Self::Double)
    }

    fn of_kind(kind: CellKind) -> Option<Self> {
        Some(match kind {
            CellKind::Empty | CellKind::Missing => return None,
            CellKind::Integer => Self::Integer,
            CellKind::Decimal => Self::Decimal,
            CellKind::Double => Self::Double,
            CellKind::Boolean => Self::Boolean,
            CellKind::Date => Self::Date,
            CellKind::DateTime => Self::DateTime,
            CellKind::YearMonth => Self::YearMonth,
            CellKind::Iri => Self::Iri,
            CellKind::Text => Self::Text,
        })
    }

    /// Returns the narrowest type of two values: numbers become a wider number, others a text.
    fn join(self, other: Self) -> Self {
        match (self, other) {
            (a, b) if a == b => a,
            (a, b) if a.is_numeric() && b.is_numeric() => {
                if a == Self::Double || b == Self::Double {
                    Self::Double
                } else {
                    Self::Decimal
                }
            }
            _ => Self::Text,
        }
    }
}

/// Returns the type of a column from cells of it. Marks for missing values count only if all other cells agree.
pub(crate) fn column_type<'c>(
    cells: impl Iterator<Item = &'c str>,
    format: NumberFormat,
) -> ColumnType {
    let mut found: Option<ColumnType> = None;
    for cell in cells {
        if let Some(kind) = ColumnType::of_kind(cell_kind(cell, format)) {
            found = Some(found.map_or(kind, |found| found.join(kind)));
            if found == Some(ColumnType::Text) {
                break;
            }
        }
    }
    found.unwrap_or(ColumnType::Text)
}

/// Returns the type of a column of which all values are known: one that each of them has.
pub(crate) fn common_type<'c>(cells: impl Iterator<Item = &'c str> + Clone) -> ColumnType {
    let format = NumberFormat::default();
    let is_complete = cells
        .clone()
        .all(|cell| ColumnType::of_kind(cell_kind(cell, format)).is_some());
    if is_complete {
        column_type(cells, format)
    } else {
        ColumnType::Text
    }
}

/// Returns the kind of a cell.
pub(crate) fn cell_kind(cell: &str, format: NumberFormat) -> CellKind {
    let cell = cell.trim();
    let bytes = cell.as_bytes();
    let Some(&first) = bytes.first() else {
        return CellKind::Empty;
    };
    if is_missing_mark(cell) {
        return CellKind::Missing;
    }
    if first.is_ascii_digit() || matches!(first, b'-' | b'+' | b'.' | b',') {
        if let Some(kind) = number_kind(cell, format) {
            return kind;
        }
        return date_kind(bytes).unwrap_or(CellKind::Text);
    }
    if cell.eq_ignore_ascii_case("true") || cell.eq_ignore_ascii_case("false") {
        return CellKind::Boolean;
    }
    if is_web_iri(cell) {
        return CellKind::Iri;
    }
    CellKind::Text
}

/// Returns true for the marks of missing values in statistics programs and spreadsheets.
pub(crate) fn is_missing_mark(cell: &str) -> bool {
    matches!(
        cell,
        "NA" | "N/A"
            | "n/a"
            | "na"
            | "NaN"
            | "nan"
            | "NULL"
            | "null"
            | "None"
            | "#N/A"
            | "-"
            | "–"
            | "—"
            | "."
            | ".."
            | "..."
            | "…"
            | ":"
            | "?"
            | "\\N"
    )
}

fn is_web_iri(cell: &str) -> bool {
    (cell.starts_with("http://") || cell.starts_with("https://"))
        && cell.len() > 10
        && cell.len() <= 2000
        && oxiri::Iri::parse(cell).is_ok()
}

/// Returns the kind of a number; `None` for other texts, and for codes with leading zeros.
fn number_kind(cell: &str, format: NumberFormat) -> Option<CellKind> {
    let (point, group) = if format.is_decimal_comma {
        (b',', b'.')
    } else {
        (b'.', b',')
    };
    let unsigned = cell.strip_prefix(['-', '+']).unwrap_or(cell).as_bytes();
    let exponent = unsigned
        .iter()
        .position(|byte| matches!(byte, b'e' | b'E'))
        .filter(|&place| place > 0);
    let mantissa = &unsigned[..exponent.unwrap_or(unsigned.len())];
    if let Some(place) = exponent {
        let digits = unsigned[place + 1..]
            .strip_prefix(b"-")
            .or_else(|| unsigned[place + 1..].strip_prefix(b"+"))
            .unwrap_or(&unsigned[place + 1..]);
        if digits.is_empty() || digits.len() > 4 || !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
    }
    let mut parts = mantissa.splitn(2, |&byte| byte == point);
    let whole = parts.next().unwrap_or_default();
    let fraction = parts.next();
    let is_fraction_alone = whole.is_empty() && fraction.is_some();
    if !is_fraction_alone && !is_grouped(whole, group) {
        return None;
    }
    if whole.len() > 1 && whole[0] == b'0' {
        return None;
    }
    match fraction {
        Some(digits) if digits.is_empty() && whole.is_empty() => None,
        Some(digits) if !digits.iter().all(u8::is_ascii_digit) => None,
        _ if exponent.is_some() => Some(CellKind::Double),
        Some(_) => Some(CellKind::Decimal),
        // More digits than any machine's integer: an identifier.
        None if whole.len() > 18 => None,
        None => Some(CellKind::Integer),
    }
}

/// Returns true for digits, with or without separators of groups of three.
fn is_grouped(whole: &[u8], separator: u8) -> bool {
    if whole.is_empty() {
        return false;
    }
    if whole.iter().all(u8::is_ascii_digit) {
        return true;
    }
    let mut groups = whole.split(|&byte| byte == separator);
    let first = groups.next().unwrap_or_default();
    (1..=3).contains(&first.len())
        && first.iter().all(u8::is_ascii_digit)
        && groups.all(|group| group.len() == 3 && group.iter().all(u8::is_ascii_digit))
}

fn date_kind(bytes: &[u8]) -> Option<CellKind> {
    if bytes.len() < 7 || bytes[4] != b'-' {
        return None;
    }
    digits(&bytes[..4])?;
    let month = digits(&bytes[5..7])?;
    if !(1..=12).contains(&month) {
        return None;
    }
    if bytes.len() == 7 {
        return Some(CellKind::YearMonth);
    }
    if bytes.len() < 10 || bytes[7] != b'-' {
        return None;
    }
    let (year, day) = (digits(&bytes[..4])?, digits(&bytes[8..10])?);
    if day == 0 || day > days_of_month(year, month) {
        return None;
    }
    if bytes.len() == 10 {
        return Some(CellKind::Date);
    }
    if matches!(bytes[10], b'T' | b't' | b' ') && is_time(&bytes[11..]) {
        return Some(CellKind::DateTime);
    }
    None
}

fn digits(bytes: &[u8]) -> Option<u32> {
    let mut value = 0;
    for byte in bytes {
        if !byte.is_ascii_digit() {
            return None;
        }
        value = value * 10 + u32::from(byte - b'0');
    }
    Some(value)
}

/// Returns the number of days of a month of the Gregorian calendar.
pub(crate) fn days_of_month(year: u32, month: u32) -> u32 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => {
            29
        }
        2 => 28,
        _ => 31,
    }
}

/// Returns true for `hh:mm:ss`, with optional fraction and time zone.
fn is_time(bytes: &[u8]) -> bool {
    if bytes.len() < 8 || bytes[2] != b':' || bytes[5] != b':' {
        return false;
    }
    let parts = [
        digits(&bytes[..2]),
        digits(&bytes[3..5]),
        digits(&bytes[6..8]),
    ];
    let [Some(hour), Some(minute), Some(second)] = parts else {
        return false;
    };
    if hour > 23 || minute > 59 || second > 59 {
        return false;
    }
    let mut rest = &bytes[8..];
    if let Some(fraction) = rest.strip_prefix(b".") {
        let length = fraction
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        if length == 0 {
            return false;
        }
        rest = &fraction[length..];
    }
    match rest {
        [] | [b'Z'] => true,
        [b'+' | b'-', h1, h2, b':', m1, m2] => {
            [h1, h2, m1, m2].iter().all(|digit| digit.is_ascii_digit())
        }
        _ => false,
    }
}

/// Returns the lexical form of a cell in the type of its column; `None` if it does not have this type.
pub(crate) fn lexical_form(
    cell: &str,
    column: ColumnType,
    format: NumberFormat,
) -> Option<Cow<'_, str>> {
    let kind = ColumnType::of_kind(cell_kind(cell, format))?;
    let fits = kind == column
        || match column {
            ColumnType::Double => kind.is_numeric(),
            ColumnType::Decimal => kind == ColumnType::Integer,
            _ => false,
        };
    if !fits {
        return None;
    }
    Some(match column {
        ColumnType::Integer | ColumnType::Decimal | ColumnType::Double => {
            plain_number(cell, format)
        }
        ColumnType::Boolean if cell.bytes().any(|byte| byte.is_ascii_uppercase()) => {
            Cow::Owned(cell.to_ascii_lowercase())
        }
        ColumnType::DateTime if !cell.contains('T') => {
            Cow::Owned(cell.replacen([' ', 't'], "T", 1))
        }
        _ => Cow::Borrowed(cell),
    })
}

fn plain_number(cell: &str, format: NumberFormat) -> Cow<'_, str> {
    let (point, group) = if format.is_decimal_comma {
        (',', '.')
    } else {
        ('.', ',')
    };
    let needs_change = cell.contains(group)
        || (format.is_decimal_comma && cell.contains(point))
        || cell.starts_with(point)
        || cell.ends_with(point);
    if !needs_change {
        return Cow::Borrowed(cell);
    }
    let mut plain = String::with_capacity(cell.len() + 1);
    for character in cell.chars() {
        if character == point {
            if plain.is_empty() || plain == "-" || plain == "+" {
                plain.push('0');
            }
            plain.push('.');
        } else if character != group {
            plain.push(character);
        }
    }
    if plain.ends_with('.') {
        plain.pop();
    }
    Cow::Owned(plain)
}

/// Detects decimal commas: numbers that have no other reading, such as `1,5` and `1234,56`. Numbers with a decimal point exclude
/// them.
pub(crate) fn detect_number_format<'c>(cells: impl Iterator<Item = &'c str>) -> NumberFormat {
    let (mut commas, mut points) = (0usize, 0usize);
    let comma_format = NumberFormat {
        is_decimal_comma: true,
    };
    for cell in cells {
        let cell = cell.trim();
        if cell.len() > 40 || !cell.bytes().any(|byte| matches!(byte, b',' | b'.')) {
            continue;
        }
        let as_points = number_kind(cell, NumberFormat::default());
        let as_commas = number_kind(cell, comma_format);
        match (as_points, as_commas) {
            (Some(_), None) => points += 1,
            (None, Some(_)) => commas += 1,
            // "1.234" or "1,234": a decimal number in one notation, and a group of digits in the other.
            _ => (),
        }
    }
    NumberFormat {
        is_decimal_comma: commas > 10 * points,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(cell: &str) -> CellKind {
        cell_kind(cell, NumberFormat::default())
    }

    #[test]
    fn kinds_of_cells() {
        let cases = [
            ("", CellKind::Empty),
            ("NA", CellKind::Missing),
            ("-", CellKind::Missing),
            ("-12", CellKind::Integer),
            ("1,234,567", CellKind::Integer),
            ("1,23", CellKind::Text),
            ("007", CellKind::Text),
            ("0", CellKind::Integer),
            ("0.50", CellKind::Decimal),
            (".5", CellKind::Decimal),
            ("1e5", CellKind::Double),
            ("1e", CellKind::Text),
            ("12345678901234567890", CellKind::Text),
            ("TRUE", CellKind::Boolean),
            ("2024-02-30", CellKind::Text),
            ("2024-02-29", CellKind::Date),
            ("2024-02", CellKind::YearMonth),
            ("2024-02-01 10:00:00", CellKind::DateTime),
            ("2024-02-01T10:00:00.5+01:00", CellKind::DateTime),
            ("https://e.org/a", CellKind::Iri),
            ("https://e.org/a b", CellKind::Text),
            ("Spree", CellKind::Text),
        ];
        for (cell, expected) in cases {
            assert_eq!(kind(cell), expected, "{cell}");
        }
    }

    #[test]
    fn columns_have_the_widest_type() {
        let column = |cells: &[&str]| column_type(cells.iter().copied(), NumberFormat::default());
        assert_eq!(column(&["1", "", "NA", "2"]), ColumnType::Integer);
        assert_eq!(column(&["1", "2.5"]), ColumnType::Decimal);
        assert_eq!(column(&["1", "2e5"]), ColumnType::Double);
        assert_eq!(column(&["1", "x"]), ColumnType::Text);
        assert_eq!(column(&["", "NA"]), ColumnType::Text);
        assert_eq!(column(&["2024-01-01", "2024"]), ColumnType::Text);
    }

    #[test]
    fn missing_values_are_texts_of_a_known_column() {
        let column = |cells: &[&str]| common_type(cells.iter().copied());
        assert_eq!(column(&["2001", "2002"]), ColumnType::Integer);
        assert_eq!(column(&["2001", ".."]), ColumnType::Text);
    }

    #[test]
    fn numbers_are_normalized() {
        let comma = NumberFormat {
            is_decimal_comma: true,
        };
        let form = |cell, column, format| {
            lexical_form(cell, column, format).map(std::borrow::Cow::into_owned)
        };
        assert_eq!(
            form("1,234", ColumnType::Integer, NumberFormat::default()).as_deref(),
            Some("1234")
        );
        assert_eq!(
            form("1.234,5", ColumnType::Decimal, comma).as_deref(),
            Some("1234.5")
        );
        assert_eq!(
            form("-,5", ColumnType::Decimal, comma).as_deref(),
            Some("-0.5")
        );
        assert_eq!(
            form("x", ColumnType::Decimal, NumberFormat::default()),
            None
        );
        let detect = |cells: &[&str]| detect_number_format(cells.iter().copied()).is_decimal_comma;
        assert!(detect(&["1,5", "2.000,75", "1,234"]));
        assert!(!detect(&["1,234", "5.25"]));
    }
}
