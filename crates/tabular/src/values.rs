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

/// Notation of the numbers of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct NumberFormat {
    /// Separator of decimals.
    point: Option<char>,
    /// Separator of groups of three digits.
    group: Option<char>,
}

impl NumberFormat {
    /// Decimal point; the comma separates groups of digits.
    pub(crate) const POINT: Self = Self::new(Some('.'), Some(','));
    /// Decimal comma; the point separates groups of digits.
    pub(crate) const COMMA: Self = Self::new(Some(','), Some('.'));
    /// Numbers that a program wrote: a decimal point, and no groups.
    pub(crate) const NATIVE: Self = Self::new(Some('.'), None);
    /// Digits only: numbers with points or commas can be read in two ways, and stay texts.
    pub(crate) const DIGITS: Self = Self::new(None, None);

    const fn new(point: Option<char>, group: Option<char>) -> Self {
        Self { point, group }
    }
}

impl Default for NumberFormat {
    fn default() -> Self {
        Self::POINT
    }
}

/// Origin of a cell: its text in the file, or a value that the file stores as such.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum CellOrigin {
    #[default]
    Text,
    Number,
    /// Date, with or without a time. Midnight is written without one.
    Date,
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
            let joined = match found {
                Some(found) => found.join(kind),
                None => kind,
            };
            found = Some(joined);
            // No type is wider.
            if joined == ColumnType::Text {
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

/// Maximum size of a cell that is an IRI, in bytes.
const MAX_IRI_BYTES: usize = 2000;

fn is_web_iri(cell: &str) -> bool {
    (cell.starts_with("http://") || cell.starts_with("https://"))
        && cell.len() > 10
        && cell.len() <= MAX_IRI_BYTES
        && oxiri::Iri::parse(cell).is_ok()
}

/// Minimum number of digits of a telephone number, which has a plus in front.
const MIN_PHONE_DIGITS: usize = 7;

/// Returns the kind of a number; `None` for other texts, for codes with leading zeros, addresses of machines and telephone numbers.
fn number_kind(cell: &str, format: NumberFormat) -> Option<CellKind> {
    let unsigned = cell.strip_prefix(['-', '+']).unwrap_or(cell);
    // An exponent in front is a word such as `e5`.
    let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
        Some(place) if place > 0 => (&unsigned[..place], Some(&unsigned[place + 1..])),
        _ => (unsigned, None),
    };
    if let Some(exponent) = exponent {
        let digits = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        if digits.len() > 4 || !is_digits(digits) {
            return None;
        }
    }
    let (whole, fraction) = match format.point.and_then(|point| mantissa.split_once(point)) {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let is_fraction_alone = whole.is_empty() && fraction.is_some();
    if !is_fraction_alone && !is_grouped(whole, format.group) {
        return None;
    }
    // Leading zeros distinguish codes, which a number would lose.
    if whole.len() > 1 && whole.starts_with('0') {
        return None;
    }
    match fraction {
        Some("") if whole.is_empty() => None,
        Some(digits) if !digits.is_empty() && !is_digits(digits) => None,
        _ if exponent.is_some() => Some(CellKind::Double),
        Some(_) => Some(CellKind::Decimal),
        // More digits than any machine's integer: an identifier.
        None if whole.len() > 18 => None,
        None if cell.starts_with('+') && whole.len() >= MIN_PHONE_DIGITS && is_digits(whole) => {
            None
        }
        // With the point as a separator of groups, `192.168.100.200` would be a number.
        None if whole.parse::<std::net::Ipv4Addr>().is_ok() => None,
        None => Some(CellKind::Integer),
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns true for digits, with or without separators of groups of three.
fn is_grouped(whole: &str, separator: Option<char>) -> bool {
    if is_digits(whole) {
        return true;
    }
    let Some(separator) = separator else {
        return false;
    };
    let mut groups = whole.split(separator);
    let first = groups.next().unwrap_or_default();
    (1..=3).contains(&first.len())
        && is_digits(first)
        && groups.all(|group| group.len() == 3 && is_digits(group))
}

fn date_kind(bytes: &[u8]) -> Option<CellKind> {
    if bytes.len() < 7 || bytes[4] != b'-' {
        return None;
    }
    parse_digits(&bytes[..4])?;
    let month = parse_digits(&bytes[5..7])?;
    if !(1..=12).contains(&month) {
        return None;
    }
    if bytes.len() == 7 {
        return Some(CellKind::YearMonth);
    }
    if bytes.len() < 10 || bytes[7] != b'-' {
        return None;
    }
    let (year, day) = (parse_digits(&bytes[..4])?, parse_digits(&bytes[8..10])?);
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

fn parse_digits(bytes: &[u8]) -> Option<u32> {
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
        parse_digits(&bytes[..2]),
        parse_digits(&bytes[3..5]),
        parse_digits(&bytes[6..8]),
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
    let NumberFormat { point, group } = format;
    let needs_change = group.is_some_and(|group| cell.contains(group))
        || point.is_some_and(|point| {
            (point != '.' && cell.contains(point))
                || cell.trim_start_matches(['-', '+']).starts_with(point)
                || cell.ends_with(point)
        });
    if !needs_change {
        return Cow::Borrowed(cell);
    }
    let mut plain = String::with_capacity(cell.len() + 1);
    for character in cell.chars() {
        if Some(character) == point {
            if plain.is_empty() || plain == "-" || plain == "+" {
                plain.push('0');
            }
            plain.push('.');
        } else if Some(character) != group {
            plain.push(character);
        }
    }
    if plain.ends_with('.') {
        plain.pop();
    }
    Cow::Owned(plain)
}

/// Numbers of a column by the notations in which they can be read.
#[derive(Clone, Copy, Default)]
struct Notations {
    /// Numbers that the file stores as such.
    native: usize,
    /// Numbers with a decimal point, and with no other reading.
    points: usize,
    /// Numbers with a decimal comma, or with points between groups of digits, and with no other reading.
    commas: usize,
    /// Numbers such as "1.234": a decimal number, or a group of digits.
    unclear_points: usize,
    /// Numbers such as "1,234".
    unclear_commas: usize,
    /// Integers of up to three digits, and longer ones.
    short_integers: usize,
    long_integers: usize,
}

impl Notations {
    fn add(&mut self, cell: &str, origin: CellOrigin) {
        let cell = cell.trim();
        if origin == CellOrigin::Number {
            self.native += 1;
            return;
        }
        if cell.is_empty() || cell.len() > 40 {
            return;
        }
        let as_points = number_kind(cell, NumberFormat::POINT);
        let as_commas = number_kind(cell, NumberFormat::COMMA);
        match (as_points, as_commas) {
            (None, None) => (),
            (Some(_), None) => self.points += 1,
            (None, Some(_)) => self.commas += 1,
            _ if cell.contains('.') => self.unclear_points += 1,
            _ if cell.contains(',') => self.unclear_commas += 1,
            _ if cell.len() <= 3 => self.short_integers += 1,
            _ => self.long_integers += 1,
        }
    }

    fn has_decimal_commas(&self) -> bool {
        self.native == 0 && self.commas > self.points
    }

    fn has_decimal_points(&self) -> bool {
        self.native == 0 && self.points > 0 && self.points >= self.commas
    }

    /// Returns the notation. `has_commas` and `has_points` are true if numbers of the table have decimal commas and points.
    fn format(&self, has_commas: bool, has_points: bool, delimiter: Option<char>) -> NumberFormat {
        if self.native > 0 {
            return NumberFormat::NATIVE;
        }
        if self.has_decimal_commas() {
            return NumberFormat::COMMA;
        }
        if self.has_decimal_points() {
            return NumberFormat::POINT;
        }
        if self.unclear_commas > 0 {
            // Where commas separate decimals, semicolons separate cells.
            let has_commas = has_commas || delimiter == Some(';');
            return match (has_commas, has_points || self.unclear_points > 0) {
                (true, true) => NumberFormat::DIGITS,
                (true, false) => NumberFormat::COMMA,
                (false, _) => NumberFormat::POINT,
            };
        }
        if self.unclear_points > 0 && has_commas {
            // A column of decimal numbers has no integers from 1 to 999 only beside its values: groups of digits have.
            return if self.short_integers > 0 && self.long_integers == 0 {
                NumberFormat::COMMA
            } else {
                NumberFormat::DIGITS
            };
        }
        NumberFormat::POINT
    }
}

/// Detects the notation of the numbers of each column. Its own cells determine it; if all of them can be read in two ways, the
/// other columns and the delimiter do. `origins` are those of the cells, or empty.
pub(crate) fn detect_number_formats<R: AsRef<[String]>>(
    rows: &[R],
    origins: &[&[CellOrigin]],
    delimiter: Option<char>,
) -> Vec<NumberFormat> {
    let mut columns: Vec<Notations> = Vec::new();
    for (number, row) in rows.iter().enumerate() {
        let row = row.as_ref();
        if row.len() > columns.len() {
            columns.resize(row.len(), Notations::default());
        }
        let origins = origins.get(number).copied().unwrap_or_default();
        for (place, (column, cell)) in columns.iter_mut().zip(row).enumerate() {
            column.add(cell, origins.get(place).copied().unwrap_or_default());
        }
    }
    let has_commas = columns.iter().any(Notations::has_decimal_commas);
    let has_points = columns.iter().any(Notations::has_decimal_points);
    columns
        .iter()
        .map(|column| column.format(has_commas, has_points, delimiter))
        .collect()
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
        let comma = NumberFormat::COMMA;
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
        assert_eq!(
            form("+.5", ColumnType::Decimal, NumberFormat::POINT).as_deref(),
            Some("+0.5")
        );
    }

    #[test]
    fn codes_are_no_numbers() {
        for (cell, format) in [
            ("+493012345", NumberFormat::POINT),
            ("192.168.100.201", NumberFormat::COMMA),
            ("1.234", NumberFormat::DIGITS),
            ("1,234", NumberFormat::NATIVE),
        ] {
            assert_eq!(cell_kind(cell, format), CellKind::Text, "{cell}");
        }
        assert_eq!(cell_kind("+12", NumberFormat::POINT), CellKind::Integer);
        assert_eq!(
            cell_kind("1.045.100.201", NumberFormat::COMMA),
            CellKind::Integer
        );
    }

    #[test]
    fn columns_have_their_own_notation() {
        const POINT: NumberFormat = NumberFormat::POINT;
        const COMMA: NumberFormat = NumberFormat::COMMA;
        const DIGITS: NumberFormat = NumberFormat::DIGITS;
        let cases: [(&[&str], char, &[NumberFormat]); 9] = [
            (&["1,5", "2.000,75", "1,234"], ';', &[COMMA]),
            (&["1,234", "5.25"], ',', &[POINT]),
            (&["1,234", "12,500"], ',', &[POINT]),
            (&["1,234", "12,500"], ';', &[COMMA]),
            (&["1,50|52.5170365", "2,75|50.73"], ';', &[COMMA, POINT]),
            // A number of inhabitants, or a place on the map.
            (&["1,50|52.517", "2,75|50.735"], ';', &[COMMA, DIGITS]),
            (&["1,50|1.517", "2,75|735"], ';', &[COMMA, COMMA]),
            (&["1,50|1,517|0.5"], '\t', &[COMMA, DIGITS, POINT]),
            (&["52.517|13.389"], ';', &[POINT, POINT]),
        ];
        for (rows, delimiter, expected) in cases {
            let rows: Vec<Vec<String>> = rows
                .iter()
                .map(|row| row.split('|').map(str::to_owned).collect())
                .collect();
            assert_eq!(
                detect_number_formats(&rows, &[], Some(delimiter)),
                expected,
                "{rows:?}"
            );
        }
        let rows = [["1,50".to_owned(), "52.517".to_owned()]];
        let origins = [CellOrigin::Text, CellOrigin::Number];
        assert_eq!(
            detect_number_formats(&rows, &[&origins], None),
            [COMMA, NumberFormat::NATIVE]
        );
    }
}
