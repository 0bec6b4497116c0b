//! Dialect of a text table: delimiter, quote, escape, found by trying.

use csv::{ReaderBuilder, StringRecord};
use std::collections::BTreeMap;

/// Dialect of a text table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Dialect {
    pub(crate) delimiter: u8,
    /// Quote around cells. `None` if quotes are characters of the cells.
    pub(crate) quote: Option<u8>,
    pub(crate) escape: Option<u8>,
    /// If true, cells begin with a quote that does not end with them, so that quotes are read as characters.
    pub(crate) has_loose_quotes: bool,
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
            match sample.rfind(['\n', '\r']) {
                Some(end) => &sample[..end],
                None => sample,
            }
        };
        let mut best: Option<(f64, Self)> = None;
        for delimiter in DELIMITERS {
            let dialect = Self::with_delimiter(delimiter, sample, is_whole);
            let consistency = dialect.consistency(sample);
            let (mut score, width) = (consistency.score, consistency.width);
            let found = Self {
                is_consistent: width > 1 && score >= 0.7,
                width,
                ..dialect
            };
            if consistency.is_complete {
                score += COMPLETE_SCORE;
            }
            if width > 1 && Some(delimiter) == expected {
                score += 0.2;
            }
            // Clearly higher only: of equal scores, the delimiter that precedes in the list stays.
            if width > 1 && best.is_none_or(|(highest, _)| score > highest + 1e-9) {
                best = Some((score, found));
            }
        }
        match best {
            Some((score, dialect)) if score > 0.3 => dialect,
            _ => Self::with_delimiter(expected.unwrap_or(b','), sample, is_whole),
        }
    }

    /// Returns the dialect with a delimiter, and with the quote that a sample has.
    fn with_delimiter(delimiter: u8, sample: &str, is_whole: bool) -> Self {
        let escape = detect_escape(sample);
        let double = QuotedCells::count(sample, '"', escape, delimiter, is_whole);
        let single = QuotedCells::count(sample, '\'', None, delimiter, is_whole);
        let has_loose_quotes = double.closed == 0 && double.loose > 0;
        let (quote, escape) = if double.closed + double.loose == 0
            && single.closed >= 4
            && single.closed > 10 * single.loose
        {
            (Some(b'\''), None)
        } else if has_loose_quotes {
            (None, None)
        } else {
            (Some(b'"'), escape)
        };
        Self {
            delimiter,
            quote,
            escape,
            has_loose_quotes,
            is_consistent: false,
            width: 1,
        }
    }

    /// Returns a builder of a reader in this dialect.
    pub(crate) fn reader(self) -> ReaderBuilder {
        let mut builder = ReaderBuilder::new();
        builder
            .has_headers(false)
            .flexible(true)
            .delimiter(self.delimiter)
            .quoting(self.quote.is_some())
            .quote(self.quote.unwrap_or(b'"'))
            .escape(self.escape)
            .double_quote(true);
        builder
    }

    /// Compares the numbers of cells of the rows. The score is slightly higher for tables with more columns.
    fn consistency(self, sample: &str) -> Consistency {
        let mut reader = self.reader().from_reader(sample.as_bytes());
        let mut widths = BTreeMap::new();
        let mut record = StringRecord::new();
        let (mut records, mut many_lines) = (0usize, 0usize);
        while records < MAX_RECORDS && reader.read_record(&mut record).unwrap_or(false) {
            *widths.entry(record.len()).or_insert(0usize) += 1;
            records += 1;
            // A cell of many lines is more often a quote that is not closed.
            many_lines += usize::from(record.iter().any(|cell| cell.matches('\n').count() > 20));
        }
        let Some((&width, &count)) = widths
            .iter()
            .filter(|(width, _)| **width > 1)
            .max_by_key(|(width, count)| (**count, **width))
        else {
            return Consistency {
                score: 0.0,
                width: 1,
                is_complete: false,
            };
        };
        // Rows with one cell are titles, notes or wrong.
        let part = count as f64 / records as f64;
        let penalty = many_lines as f64 / records as f64;
        Consistency {
            score: part - penalty + 0.01 * (width.min(20) as f64),
            width,
            is_complete: count == records && records > 2,
        }
    }
}

/// Numbers of cells of the rows of a sample.
struct Consistency {
    /// Part of the rows that have the most frequent number of cells.
    score: f64,
    width: usize,
    /// If true, all rows have this number.
    is_complete: bool,
}

/// Addition to the score of a delimiter that divides all rows, with the header, into as many cells. Decimal commas divide the rows
/// below the header only.
const COMPLETE_SCORE: f64 = 0.5;

/// Returns the character that escapes a double quote within a cell, if it is not doubled.
fn detect_escape(sample: &str) -> Option<u8> {
    let escaped = sample.matches("\\\"").count();
    // `""` is also an empty cell, and `\""` an escaped quote before the end of a cell.
    let has_doubled = sample.match_indices("\"\"").any(|(place, _)| {
        let before = sample[..place].chars().next_back();
        before.is_some_and(|c| !matches!(c, '\\' | ',' | ';' | '\t' | '|' | '\n' | '\r'))
    });
    // `\"` may also end a cell with a backslash.
    let inside = sample
        .match_indices("\\\"")
        .filter(|(place, _)| {
            let after = sample[place + 2..].chars().next();
            after.is_some_and(|c| !matches!(c, ',' | ';' | '\t' | '|' | '\n' | '\r'))
        })
        .count();
    (escaped > 0 && !has_doubled && 2 * inside >= escaped).then_some(b'\\')
}

/// Maximum number of lines of a cell in quotes. A longer one is a quote that is not closed.
const MAX_QUOTED_LINES: usize = 50;

/// Numbers of cells that begin with a quote.
#[derive(Default)]
struct QuotedCells {
    /// Cells that end with the quote, too.
    closed: usize,
    /// Cells with text behind the next quote, and those without one: an apostrophe, a mark of inches, a forgotten quote.
    loose: usize,
}

impl QuotedCells {
    fn count(sample: &str, quote: char, escape: Option<u8>, delimiter: u8, is_whole: bool) -> Self {
        let mut found = Self::default();
        let cell_ends = [delimiter as char, '\n', '\r'];
        let mut is_start = true;
        let mut rest = sample;
        while let Some(character) = rest.chars().next() {
            rest = &rest[character.len_utf8()..];
            if !is_start || character != quote {
                is_start = cell_ends.contains(&character);
                continue;
            }
            match closing_quote(rest, quote, escape) {
                Some(end) => {
                    rest = &rest[end + 1..];
                    let after = rest.trim_start_matches(' ').chars().next();
                    if after.is_none_or(|after| cell_ends.contains(&after)) {
                        found.closed += 1;
                    } else {
                        found.loose += 1;
                    }
                }
                // The sample may end within a cell.
                None if is_whole || rest.lines().count() > MAX_QUOTED_LINES => found.loose += 1,
                None => break,
            }
            is_start = false;
        }
        found
    }
}

/// Returns the place of the next quote that is neither doubled nor escaped.
fn closing_quote(text: &str, quote: char, escape: Option<u8>) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut place = 0;
    while let Some(found) = text[place..].find(quote) {
        let end = place + found;
        if end > 0 && Some(bytes[end - 1]) == escape {
            place = end + 1;
        } else if bytes.get(end + 1) == Some(&(quote as u8)) {
            place = end + 2;
        } else {
            return Some(end);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detect(sample: &str) -> (char, char, usize) {
        let dialect = Dialect::detect(sample, true, None);
        (
            dialect.delimiter as char,
            dialect.quote.map(char::from).unwrap_or(' '),
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
    fn decimal_commas_are_no_delimiters() {
        let mut text = "length;share\n".to_owned();
        for number in 0..250 {
            text.push_str(&format!("{number},0;0,{number}\n"));
        }
        let dialect = Dialect::detect(&text, true, Some(b','));
        assert_eq!((dialect.delimiter, dialect.width), (b';', 2));
    }

    #[test]
    fn quotes_end_with_their_cells() {
        let quote = |sample: &str, delimiter| {
            let dialect = Dialect::detect(sample, true, Some(delimiter));
            (dialect.quote.map(char::from), dialect.has_loose_quotes)
        };
        for (sample, delimiter, expected) in [
            (
                "town,n\n's-Hage,5\n's-Bosch,4\nUlm,2\n't Zand,1\n's-Berg,8\n",
                b',',
                (Some('"'), false),
            ),
            (
                "time;n\n'90s;1\n'80s;2\n'70s;3\n'60s;4\n",
                b';',
                (Some('"'), false),
            ),
            (
                "a,b\n'O''Neill, A',1\n'B',2\n'C',3\n'D',4\n",
                b',',
                (Some('\''), false),
            ),
            (
                "name,n,place\nOak,1,\"north\nElm,2,south\nAsh,3,east\n",
                b',',
                (None, true),
            ),
            ("part\tsize\nA\t\"5 inch\nB\t3 inch\n", b'\t', (None, true)),
            (
                "title\tyear\n\"Heroes\" and villains\t2001\nPlain\t2002\n",
                b'\t',
                (None, true),
            ),
            (
                "a,b\n\"x\ny\",1\n\"say \"\"z\"\"\",2\n",
                b',',
                (Some('"'), false),
            ),
            (
                "a,b\n\"say \\\"hi, you\\\"\",1\nz,2\n",
                b',',
                (Some('"'), false),
            ),
            ("a,b\n\"C:\\\",1\nz,2\n", b',', (Some('"'), false)),
            ("{\"x\"},b\n3,4\n5,6\n", b',', (Some('"'), false)),
        ] {
            assert_eq!(quote(sample, delimiter), expected, "{sample}");
        }
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
