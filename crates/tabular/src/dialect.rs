//! Dialect of a text table: delimiter, quote, escape, found by trying.

use csv::{ReaderBuilder, StringRecord};
use std::collections::BTreeMap;

/// Dialect of a text table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Dialect {
    pub(crate) delimiter: u8,
    pub(crate) quote: u8,
    pub(crate) escape: Option<u8>,
    /// If true, more than one column was found, and most rows have as many cells.
    pub(crate) is_consistent: bool,
    /// Number of columns of most rows.
    pub(crate) width: usize,
}

/// Delimiters in the order of preference.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];
/// Maximum number of records from which the delimiter is determined.
const MAX_RECORDS: usize = 300;

impl Dialect {
    /// Detects the dialect of a sample. `expected` is the delimiter that the name or the media type of the file suggests.
    pub(crate) fn detect(sample: &str, is_whole: bool, expected: Option<u8>) -> Self {
        let sample = if is_whole {
            sample
        } else {
            // The last line is incomplete.
            sample
                .rfind(['\n', '\r'])
                .map_or(sample, |end| &sample[..end])
        };
        let (quote, escape) = detect_quote(sample);
        let mut best: Option<(f64, Self)> = None;
        for delimiter in DELIMITERS {
            let dialect = Self {
                delimiter,
                quote,
                escape,
                is_consistent: false,
                width: 1,
            };
            let (mut score, width) = dialect.consistency(sample);
            if width > 1 && Some(delimiter) == expected {
                score += 0.2;
            }
            let found = Self {
                is_consistent: width > 1 && score >= 0.7,
                width,
                ..dialect
            };
            if width > 1 && best.is_none_or(|(highest, _)| score > highest + 1e-9) {
                best = Some((score, found));
            }
        }
        let single = Self {
            delimiter: expected.unwrap_or(b','),
            quote,
            escape,
            is_consistent: false,
            width: 1,
        };
        best.filter(|(score, _)| *score > 0.3)
            .map_or(single, |(_, dialect)| dialect)
    }

    /// Returns a builder of a reader in this dialect.
    pub(crate) fn reader(self) -> ReaderBuilder {
        let mut builder = ReaderBuilder::new();
        builder
            .has_headers(false)
            .flexible(true)
            .delimiter(self.delimiter)
            .quote(self.quote)
            .escape(self.escape)
            .double_quote(true);
        builder
    }

    /// Returns the part of the rows that have the typical number of cells, from 0 to 1, and that number. Slightly higher for tables
    /// with more columns.
    fn consistency(self, sample: &str) -> (f64, usize) {
        let mut reader = self.reader().from_reader(sample.as_bytes());
        let mut widths = BTreeMap::new();
        let mut record = StringRecord::new();
        let (mut records, mut many_lines) = (0usize, 0usize);
        while records < MAX_RECORDS && reader.read_record(&mut record).unwrap_or(false) {
            *widths.entry(record.len()).or_insert(0usize) += 1;
            records += 1;
            many_lines += usize::from(record.iter().any(|cell| cell.matches('\n').count() > 20));
        }
        let Some((&width, &count)) = widths
            .iter()
            .filter(|(width, _)| **width > 1)
            .max_by_key(|(width, count)| (**count, **width))
        else {
            return (0.0, 1);
        };
        // Rows with one cell are titles, notes or wrong.
        let part = count as f64 / records as f64;
        let penalty = many_lines as f64 / records as f64;
        (part - penalty + 0.01 * (width.min(20) as f64), width)
    }
}

/// Returns the quote, and the character that escapes it within a cell.
fn detect_quote(sample: &str) -> (u8, Option<u8>) {
    let double = count_quoted(sample, '"');
    let single = count_quoted(sample, '\'');
    if double == 0 && single >= 4 {
        return (b'\'', None);
    }
    let escaped = sample.matches("\\\"").count();
    let doubled = sample.matches("\"\"").count();
    // `\"` may also end a cell with a backslash.
    let inside = sample
        .match_indices("\\\"")
        .filter(|(place, _)| {
            let after = sample[place + 2..].chars().next();
            after.is_some_and(|c| !matches!(c, ',' | ';' | '\t' | '|' | '\n' | '\r'))
        })
        .count();
    let escape = (escaped > 0 && doubled == 0 && 2 * inside >= escaped).then_some(b'\\');
    (b'"', escape)
}

/// Returns the number of cells that begin with a quote.
fn count_quoted(sample: &str, quote: char) -> usize {
    let mut count = 0;
    let mut before = '\n';
    for character in sample.chars() {
        if character == quote && matches!(before, ',' | ';' | '\t' | '|' | '\n' | '\r') {
            count += 1;
        }
        before = character;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detect(sample: &str) -> (char, char, usize) {
        let dialect = Dialect::detect(sample, true, None);
        (
            dialect.delimiter as char,
            dialect.quote as char,
            dialect.width,
        )
    }

    #[test]
    fn dialects() {
        assert_eq!(detect("a,b\n1,2\n3,4\n"), (',', '"', 2));
        assert_eq!(detect("a;b;c\n1,5;2,5;3,5\n4,5;5,5;6,5\n"), (';', '"', 3));
        assert_eq!(detect("a\tb\nx, y\t2\nz, w\t4\n"), ('\t', '"', 2));
        assert_eq!(detect("a|b|c\n1|2|3\n"), ('|', '"', 3));
        assert_eq!(detect("volume\n3\n4\n"), (',', '"', 1));
        assert_eq!(detect("a,b\n'1,5','2'\n'3','4'\n"), (',', '\'', 2));
        assert_eq!(
            detect("Title; with a semicolon\n\nname,n\noak,1\nelm,2\nash,3\n"),
            (',', '"', 2)
        );
    }

    #[test]
    fn backslashes_escape_quotes() {
        let escaped = Dialect::detect("a,b\n\"say \\\"x\\\" y\",1\n", true, None);
        assert_eq!(escaped.escape, Some(b'\\'));
        let path = Dialect::detect("a,b\n\"C:\\\",1\n", true, None);
        assert_eq!(path.escape, None);
    }

    #[test]
    fn text_is_no_table() {
        let text = "Once upon a time, there was a tree.\nIt stood alone.\nNobody, not even the owls, knew it.\nThe end\n";
        assert!(!Dialect::detect(text, true, None).is_consistent);
    }
}
