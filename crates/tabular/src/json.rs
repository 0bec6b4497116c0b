//! JSON: lists of records, objects with lists, JSON Lines, GeoJSON, JSON-stat.

use crate::encoding::TextEncoding;
use crate::json_stat::{self, is_json_stat};
use crate::limits::{MAX_JSON_BYTES, SNIFFED_BYTES};
use crate::output::Output;
use crate::records::RecordWriter;
use crate::table::{FormatFacts, Rows, TablePlace, file_stem, read_table};
use crate::value::{OwnedEvent, Value, next_event, read_value};
use csv::StringRecord;
use json_event_parser::ReaderJsonParser;
use lodeseek_rdf::dump::Refusal;
use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::rc::Rc;

/// Reads a JSON document.
pub(crate) fn read(
    mut reader: impl Read,
    place: &TablePlace<'_>,
    output: &mut Output<'_>,
) -> io::Result<()> {
    let mut head = Vec::new();
    (&mut reader)
        .take(SNIFFED_BYTES as u64)
        .read_to_end(&mut head)?;
    let encoding = TextEncoding::detect(&head, head.len() < SNIFFED_BYTES);
    let sample = encoding.decode_sample(&head);
    let bytes = Rc::new(Cell::new(0));
    let text = CountedReader {
        inner: encoding.decode(Cursor::new(head).chain(reader)),
        limit: output.limits().document_bytes,
        all: 0,
        since_value: Rc::clone(&bytes),
    };
    if is_json_lines(&sample) {
        read_lines(text, encoding.name(), place, output)
    } else {
        Document {
            parser: ReaderJsonParser::new(text),
            bytes,
            place,
            encoding: encoding.name(),
            is_json_stat: is_json_stat(&sample),
        }
        .read(output)
    }
}

/// Returns true if the first two lines are an object each.
fn is_json_lines(sample: &str) -> bool {
    let mut lines = sample
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty());
    let is_object = |line: Option<&str>| {
        line.is_some_and(|line| {
            line.starts_with('{') && line.ends_with('}') && parse_line(line).is_ok()
        })
    };
    is_object(lines.next()) && is_object(lines.next())
}

fn parse_line(line: &str) -> io::Result<Value> {
    let mut parser = ReaderJsonParser::new(line.as_bytes());
    let first = next_event(&mut parser)?;
    let value = read_value(first, &mut parser)?;
    match next_event(&mut parser)? {
        OwnedEvent::Eof => Ok(value),
        _ => Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "more than one value",
        )),
    }
}

fn read_lines(
    text: impl Read,
    encoding: &'static str,
    place: &TablePlace<'_>,
    output: &mut Output<'_>,
) -> io::Result<()> {
    let mut reader = BufReader::new(text);
    let label = file_stem(place.file);
    let mut writer =
        RecordWriter::new(output, place.base, place.file, "JSON Lines", Some(encoding));
    let (mut broken, mut index, mut number) = (Vec::new(), 0, 0);
    let mut result = Ok(());
    let mut line = String::new();
    loop {
        line.clear();
        number += 1;
        match (&mut reader).take(MAX_JSON_BYTES).read_line(&mut line) {
            Ok(0) => break,
            Ok(_) => (),
            Err(error) => {
                result = Err(error);
                break;
            }
        }
        if line.len() as u64 >= MAX_JSON_BYTES {
            result = Err(Refusal::RecordSize {
                limit: MAX_JSON_BYTES,
                line: number,
            }
            .into());
            break;
        }
        if line.trim().is_empty() {
            continue;
        }
        match parse_line(line.trim()) {
            Ok(value) => {
                writer.record(None, index, &value, label);
                index += 1;
            }
            Err(error) => broken.push((number, error.to_string())),
        }
    }
    writer.finish();
    output.skip(broken.len() as u64);
    for (number, reason) in broken {
        output.problem(Some(number), format!("the line is not JSON: {reason}"));
    }
    result
}

/// Text that ends with an error within a value that is too long.
struct CountedReader<R> {
    inner: R,
    limit: u64,
    all: u64,
    since_value: Rc<Cell<u64>>,
}

impl<R: Read> Read for CountedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.all += read as u64;
        if self.all > self.limit {
            return Err(Refusal::DecompressedSize { limit: self.limit }.into());
        }
        let since = self.since_value.get() + read as u64;
        self.since_value.set(since);
        if since > MAX_JSON_BYTES {
            let reason = format!("a JSON value of more than {MAX_JSON_BYTES} bytes");
            return Err(Refusal::Document { reason }.into());
        }
        Ok(read)
    }
}

struct Document<'p, R: Read> {
    parser: ReaderJsonParser<R>,
    /// Bytes since the last value of a list.
    bytes: Rc<Cell<u64>>,
    place: &'p TablePlace<'p>,
    encoding: &'static str,
    /// If true, the document may be a cube.
    is_json_stat: bool,
}

impl<R: Read> Document<'_, R> {
    fn read(mut self, output: &mut Output<'_>) -> io::Result<()> {
        match next_event(&mut self.parser)? {
            OwnedEvent::StartArray => self.list(output),
            OwnedEvent::StartObject if self.is_json_stat => self.cube(output),
            OwnedEvent::StartObject => self.object(output),
            OwnedEvent::Eof => Ok(()),
            first => {
                let value = read_value(first, &mut self.parser)?;
                let mut writer = self.writer(output);
                writer.record(None, 0, &value, file_stem(self.place.file));
                writer.finish();
                Ok(())
            }
        }
    }

    fn writer<'w, 'a>(&self, output: &'w mut Output<'a>) -> RecordWriter<'w, 'a> {
        RecordWriter::new(
            output,
            self.place.base,
            self.place.file,
            "JSON",
            Some(self.encoding),
        )
    }

    /// Returns the next element of the open list.
    fn element(&mut self) -> io::Result<Option<Value>> {
        self.bytes.set(0);
        match next_event(&mut self.parser)? {
            OwnedEvent::End => Ok(None),
            OwnedEvent::Eof => Err(io::ErrorKind::UnexpectedEof.into()),
            first => read_value(first, &mut self.parser).map(Some),
        }
    }

    fn list(mut self, output: &mut Output<'_>) -> io::Result<()> {
        let first = self.element()?;
        if first
            .as_ref()
            .is_some_and(|value| value.as_list().is_some())
        {
            return self.rows(first, output);
        }
        let mut writer = self.writer(output);
        let (mut index, mut element) = (0, Ok(first));
        while let Ok(Some(value)) = &element {
            writer.record(None, index, value, file_stem(self.place.file));
            index += 1;
            element = self.element();
        }
        writer.finish();
        element.map(drop)
    }

    /// Reads a list of lists, which is a table.
    fn rows(self, first: Option<Value>, output: &mut Output<'_>) -> io::Result<()> {
        let place = self.place.clone();
        let format = FormatFacts {
            format: "JSON",
            encoding: Some(self.encoding),
            ..FormatFacts::default()
        };
        let mut rows = ListRows {
            document: self,
            next: first,
            number: 0,
        };
        read_table(&mut rows, &place, &format, output)
    }

    /// Reads a cube, or else an object, as a whole.
    fn cube(mut self, output: &mut Output<'_>) -> io::Result<()> {
        let value = read_value(OwnedEvent::StartObject, &mut self.parser)?;
        if json_stat::read(&value, self.encoding, self.place, output)? {
            return Ok(());
        }
        let mut writer = self.writer(output);
        writer.members(
            value.as_object().unwrap_or_default(),
            file_stem(self.place.file),
        );
        writer.finish();
        Ok(())
    }

    /// Reads an object. Lists in it are read element by element.
    fn object(mut self, output: &mut Output<'_>) -> io::Result<()> {
        let mut writer = self.writer(output);
        let mut members = Vec::new();
        let result = loop {
            match next_event(&mut self.parser) {
                Ok(OwnedEvent::Key(key)) => {
                    let read = self.object_member(key, &mut members, &mut writer);
                    if read.is_err() {
                        break read;
                    }
                }
                Ok(_) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        writer.members(&members, file_stem(self.place.file));
        writer.finish();
        result
    }

    fn object_member(
        &mut self,
        key: String,
        members: &mut Vec<(String, Value)>,
        writer: &mut RecordWriter<'_, '_>,
    ) -> io::Result<()> {
        match next_event(&mut self.parser)? {
            OwnedEvent::StartArray => {
                let mut index = 0;
                while let Some(value) = self.element()? {
                    writer.record(Some(&key), index, &value, &key);
                    index += 1;
                }
                Ok(())
            }
            first => {
                let value = read_value(first, &mut self.parser)?;
                members.push((key, value));
                Ok(())
            }
        }
    }
}

struct ListRows<'p, R: Read> {
    document: Document<'p, R>,
    next: Option<Value>,
    number: u64,
}

impl<R: Read> Rows for ListRows<'_, R> {
    fn next_row(&mut self, row: &mut StringRecord) -> io::Result<bool> {
        let Some(value) = self.next.take() else {
            return Ok(false);
        };
        row.clear();
        match &value {
            Value::List(cells) => {
                for cell in cells {
                    row.push_field(cell.scalar_text().unwrap_or_default());
                }
            }
            other => row.push_field(other.scalar_text().unwrap_or_default()),
        }
        self.number += 1;
        self.next = self.document.element()?;
        Ok(true)
    }

    fn row_number(&self) -> u64 {
        self.number
    }

    fn line(&self) -> Option<u64> {
        None
    }
}
