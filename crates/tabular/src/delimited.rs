//! Text tables: CSV, TSV and their relatives.

use crate::dialect::Dialect;
use crate::encoding::{TextEncoding, Utf8Reader};
use crate::limits::{MAX_RECORD_BYTES, MAX_SNIFF_BYTES};
use crate::output::Output;
use crate::table::{FormatFacts, Rows, TablePlace, read_table};
use csv::StringRecord;
use lodeseek_rdf::dump::{Refusal, read_beginning};
use std::cell::Cell;
use std::collections::VecDeque;
use std::io::{self, Read};
use std::rc::Rc;

/// Reads a text table. `expected` is the delimiter that the name or the media type suggests.
pub(crate) fn read(
    reader: impl Read,
    expected: Option<u8>,
    place: &TablePlace<'_>,
    output: &mut Output<'_>,
) -> io::Result<()> {
    let beginning = read_beginning(reader, MAX_SNIFF_BYTES)?;
    let is_whole = beginning.is_whole;
    let encoding = TextEncoding::detect(&beginning.bytes, is_whole);
    let sample = encoding.decode_sample(&beginning.bytes);
    let dialect = Dialect::detect(&sample, is_whole, expected);
    drop(sample);
    let format = FormatFacts {
        format: if dialect.delimiter == b'\t' {
            "TSV"
        } else {
            "CSV"
        },
        encoding: Some(encoding.name()),
        delimiter: Some(dialect.delimiter as char),
        ..FormatFacts::default()
    };
    let bytes = Rc::new(ByteCounts::default());
    let text = CountedReader {
        inner: encoding.decode(beginning.reader),
        limit: output.limits().document_bytes,
        bytes: Rc::clone(&bytes),
    };
    if dialect.has_loose_quotes {
        output.problem(
            None,
            "quotes at the beginning of cells do not end with them; they were read as characters of the cells"
                .to_owned(),
        );
    }
    let mut rows = DelimitedRows {
        reader: dialect.reader().from_reader(text),
        dialect,
        bytes: Rc::clone(&bytes),
        number: 0,
        line: 0,
        unclosed_line: None,
        rest: VecDeque::new(),
        first_enclosing_line: None,
    };
    let result = read_table(&mut rows, place, &format, output);
    if rows.unclosed_line.is_some() {
        output.problem(
            rows.unclosed_line,
            "a quote is not closed; it was read as a character of the cell, and the lines below as rows"
                .to_owned(),
        );
    }
    if rows.first_enclosing_line.is_some() {
        output.problem(
            rows.first_enclosing_line,
            "the lines of a cell look like rows of the table: a quote may not be closed".to_owned(),
        );
    }
    if bytes.stray.get() > 0 {
        output.problem(
            None,
            format!(
                "{} bytes are not in the encoding {}; they were read as Windows-1252",
                bytes.stray.get(),
                encoding.name()
            ),
        );
    }
    result
}

/// Numbers of bytes, shared by a reader and the parser that owns it.
#[derive(Default)]
struct ByteCounts {
    all: Cell<u64>,
    /// Bytes since the last record ended.
    since_record: Cell<u64>,
    /// Bytes that are not in the encoding of the file.
    stray: Cell<u64>,
    line: Cell<u64>,
    /// Double quotes.
    quotes: Cell<u64>,
    /// If true, the last character but line ends is a double quote.
    ends_with_quote: Cell<bool>,
    has_ended: Cell<bool>,
}

impl ByteCounts {
    fn add_quotes(&self, text: &[u8]) {
        let quotes = text.iter().filter(|byte| **byte == b'"').count();
        self.quotes.set(self.quotes.get() + quotes as u64);
        if let Some(last) = text
            .iter()
            .rev()
            .find(|byte| !matches!(byte, b'\n' | b'\r'))
        {
            self.ends_with_quote.set(*last == b'"');
        }
    }

    /// Returns true if the text has ended within quotes.
    fn has_unclosed_quote(&self) -> bool {
        self.has_ended.get() && self.quotes.get() % 2 == 1 && !self.ends_with_quote.get()
    }
}

/// Text that ends with an error within a record that is too long.
struct CountedReader<R> {
    inner: Utf8Reader<R>,
    limit: u64,
    bytes: Rc<ByteCounts>,
}

impl<R: Read> Read for CountedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.bytes.stray.set(self.inner.stray_bytes());
        self.bytes.add_quotes(&buffer[..read]);
        self.bytes.has_ended.set(read == 0);
        let all = self.bytes.all.get() + read as u64;
        self.bytes.all.set(all);
        if all > self.limit {
            return Err(Refusal::DecompressedSize { limit: self.limit }.into());
        }
        let since = self.bytes.since_record.get() + read as u64;
        self.bytes.since_record.set(since);
        if since > MAX_RECORD_BYTES {
            return Err(Refusal::RecordSize {
                limit: MAX_RECORD_BYTES,
                line: self.bytes.line.get(),
            }
            .into());
        }
        Ok(read)
    }
}

struct DelimitedRows<R> {
    reader: csv::Reader<CountedReader<R>>,
    dialect: Dialect,
    bytes: Rc<ByteCounts>,
    number: u64,
    line: u64,
    /// Line of a record whose quote is not closed.
    unclosed_line: Option<u64>,
    /// Rows within that record.
    rest: VecDeque<StringRecord>,
    /// Line of the first record with a cell that encloses rows.
    first_enclosing_line: Option<u64>,
}

/// Minimum number of lines of a cell that look like rows, from which a quote may not be closed: in tables of two columns, in which
/// such lines are also texts, and in others.
const MIN_ENCLOSED_ROWS: (usize, usize) = (5, 2);

impl<R> DelimitedRows<R> {
    /// Returns true if the lines of a cell, without the first and the last, have as many delimiters as the rows of the table.
    fn encloses_rows(&self, row: &StringRecord) -> bool {
        let Dialect {
            delimiter, width, ..
        } = self.dialect;
        let min_rows = if width > 2 {
            MIN_ENCLOSED_ROWS.1
        } else {
            MIN_ENCLOSED_ROWS.0
        };
        row.iter().any(|cell| {
            let count = cell.matches('\n').count().saturating_sub(1);
            count >= min_rows
                && cell
                    .lines()
                    .skip(1)
                    .take(count)
                    .all(|line| line.matches(delimiter as char).count() + 1 == width)
        })
    }

    /// Divides the last record, whose last cell has the rest of the file because its quote is not closed, into rows.
    fn divide_unclosed_record(&mut self, row: &mut StringRecord) {
        let Some(last) = row.iter().next_back().filter(|cell| cell.contains('\n')) else {
            return;
        };
        // The parser has removed the opening quote, which is a character of the cell now.
        let text = format!("\"{last}");
        let dialect = Dialect {
            quote: None,
            ..self.dialect
        };
        let mut reader = dialect.reader().from_reader(text.as_bytes());
        let mut first = StringRecord::new();
        // A text gives no errors.
        if !reader.read_record(&mut first).unwrap_or(false) {
            return;
        }
        let mut record = StringRecord::new();
        while reader.read_record(&mut record).unwrap_or(false) {
            self.rest.push_back(record.clone());
        }
        let mut whole = StringRecord::new();
        for cell in row.iter().take(row.len() - 1).chain(&first) {
            whole.push_field(cell);
        }
        *row = whole;
        self.unclosed_line = Some(self.line);
    }
}

impl<R: Read> Rows for DelimitedRows<R> {
    fn next_row(&mut self, row: &mut StringRecord) -> io::Result<bool> {
        if let (Some(next), Some(start)) = (self.rest.pop_front(), self.unclosed_line) {
            self.number += 1;
            let line = match next.position() {
                Some(position) => position.line(),
                None => 1,
            };
            self.line = start + line - 1;
            *row = next;
            return Ok(true);
        }
        let line = self.reader.position().line();
        self.bytes.line.set(line);
        match self.reader.read_record(row) {
            Ok(true) => {
                self.bytes.since_record.set(0);
                self.number += 1;
                self.line = match row.position() {
                    Some(position) => position.line(),
                    None => line,
                };
                // With an escape, the number of quotes does not show if one is open.
                if self.dialect.quote == Some(b'"')
                    && self.dialect.escape.is_none()
                    && self.bytes.has_unclosed_quote()
                {
                    self.divide_unclosed_record(row);
                }
                // Most records have one line: their cells are not searched.
                let is_long = self.reader.position().line() > self.line + 2;
                if is_long && self.first_enclosing_line.is_none() && self.encloses_rows(row) {
                    self.first_enclosing_line = Some(self.line);
                }
                Ok(true)
            }
            Ok(false) => Ok(false),
            Err(error) => Err(match error.into_kind() {
                csv::ErrorKind::Io(error) => error,
                kind => io::Error::new(io::ErrorKind::InvalidData, format!("{kind:?}")),
            }),
        }
    }

    fn row_number(&self) -> u64 {
        self.number
    }

    fn line(&self) -> Option<u64> {
        Some(self.line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::descriptors::TableDescription;
    use crate::test_sink::Collected;
    use lodeseek_rdf::dump::{FileReport, Limits};

    fn read_text(text: &str) -> (Vec<String>, FileReport) {
        let mut report = FileReport::unreadable("t.csv", "");
        report.problems.clear();
        let mut sink = Collected::default();
        let limits = Limits::default();
        let mut output = Output::new(&mut sink, &mut report, &limits);
        let place = TablePlace {
            base: "http://e.org/t",
            file: "t.csv",
            part: None,
            description: &TableDescription::default(),
        };
        read(text.as_bytes(), Some(b','), &place, &mut output).expect("read");
        (sink.0, report)
    }

    #[test]
    fn unclosed_quotes_hide_no_rows() {
        let closed = "name,n,place\n\"Oak, old\",1,here\nElm,2,\"north\nAsh,3,south\nFir,4,west\n";
        for (text, line) in [
            (closed, Some(3)),
            (&closed.replace("\"Oak, old\"", "Oak"), None),
        ] {
            let (triples, report) = read_text(text);
            for triple in [
                "<http://e.org/t#row=3> <http://e.org/t#place> \"\\\"north\"",
                "<http://e.org/t#row=5> <http://e.org/t#place> \"west\"",
            ] {
                assert!(
                    triples.iter().any(|found| found == triple),
                    "{triple}\n{}",
                    triples.join("\n")
                );
            }
            assert_eq!(report.tables[0].rows, 4);
            assert_eq!(report.problems.len(), 1, "{:?}", report.problems);
            assert_eq!(report.problems[0].line, line);
        }
        // A quote that another one closes.
        let (_, report) = read_text(
            "name,n,place\n\"Oak\",1,here\nElm,2,\"north\nAsh,3,south\nFir,4,west\nYew,5,\"east\"\nBox,6,x\n",
        );
        assert_eq!(report.tables[0].rows, 3);
        assert_eq!(report.problems[0].line, Some(3), "{:?}", report.problems);
        // An odd number of quotes, and a cell of two lines at the end.
        let (_, report) = read_text("size,note\n5\" pipe,x\n\"6\",\"a\nb\"");
        assert_eq!(report.tables[0].rows, 2);
    }
}
