//! Text tables: CSV, TSV and their relatives.

use crate::dialect::Dialect;
use crate::encoding::{TextEncoding, Utf8Reader};
use crate::limits::{MAX_RECORD_BYTES, SNIFFED_BYTES};
use crate::output::Output;
use crate::table::{FormatFacts, Rows, TablePlace, read_table};
use csv::StringRecord;
use lodeseek_rdf::dump::Refusal;
use std::cell::Cell;
use std::io::{self, Cursor, Read};
use std::rc::Rc;

/// Reads a text table. `expected` is the delimiter that the name or the media type suggests.
pub(crate) fn read(
    mut reader: impl Read,
    expected: Option<u8>,
    place: &TablePlace<'_>,
    output: &mut Output<'_>,
) -> io::Result<()> {
    let mut head = Vec::new();
    (&mut reader)
        .take(SNIFFED_BYTES as u64)
        .read_to_end(&mut head)?;
    let is_whole = head.len() < SNIFFED_BYTES;
    let encoding = TextEncoding::detect(&head, is_whole);
    let sample = encoding.decode_sample(&head);
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
        inner: encoding.decode(Cursor::new(head).chain(reader)),
        limit: output.limits().document_bytes,
        bytes: Rc::clone(&bytes),
    };
    let mut rows = DelimitedRows {
        reader: dialect.reader().from_reader(text),
        bytes: Rc::clone(&bytes),
        number: 0,
        line: 0,
    };
    let result = read_table(&mut rows, place, &format, output);
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
    bytes: Rc<ByteCounts>,
    number: u64,
    line: u64,
}

impl<R: Read> Rows for DelimitedRows<R> {
    fn next_row(&mut self, row: &mut StringRecord) -> io::Result<bool> {
        let line = self.reader.position().line();
        self.bytes.line.set(line);
        match self.reader.read_record(row) {
            Ok(true) => {
                self.bytes.since_record.set(0);
                self.number += 1;
                self.line = row.position().map_or(line, csv::Position::line);
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
