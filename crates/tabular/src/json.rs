//! JSON: lists of records, objects with lists, JSON Lines, GeoJSON, TopoJSON, JSON-stat.

use crate::encoding::TextEncoding;
use crate::geometry::Topology;
use crate::json_stat::{self, is_json_stat};
use crate::limits::{MAX_JSON_BYTES, MAX_SNIFF_BYTES};
use crate::output::Output;
use crate::records::RecordWriter;
use crate::table::{FormatFacts, Rows, TablePlace, file_stem, read_table};
use crate::value::{OwnedEvent, Value, next_event, read_value};
use csv::StringRecord;
use json_event_parser::ReaderJsonParser;
use lodeseek_rdf::dump::{Refusal, read_beginning};
use std::borrow::Cow;
use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::rc::Rc;

/// Reads a JSON document.
pub(crate) fn read(
    reader: impl Read,
    place: &TablePlace<'_>,
    output: &mut Output<'_>,
) -> io::Result<()> {
    let head = read_beginning(reader, MAX_SNIFF_BYTES)?;
    let encoding = TextEncoding::detect(&head.bytes, head.is_whole);
    let beginning = Beginning::read(encoding.decode(head.reader));
    let sample = String::from_utf8_lossy(&beginning.bytes).into_owned();
    let is_whole = beginning.is_whole;
    let bytes = Rc::new(Cell::new(0));
    let text = CountedReader {
        inner: beginning.into_reader(),
        limit: output.limits().document_bytes,
        all: 0,
        since_value: Rc::clone(&bytes),
    };
    if is_json_lines(&sample, place.file) {
        return read_lines(text, encoding.name(), place, output);
    }
    // The reference system may be declared behind the geometries.
    let crs = if is_whole && sample.contains("\"crs\"") {
        let document = parse_line(&sample).ok();
        document.and_then(|document| document.get("crs").cloned())
    } else {
        None
    };
    Document {
        parser: ReaderJsonParser::new(text),
        bytes,
        place,
        encoding: encoding.name(),
        is_whole: is_json_stat(&sample) || sample.contains("\"Topology\""),
        crs,
    }
    .read(output)
}

/// Beginning of a text, from which its kind is determined: with the first line and what follows it.
struct Beginning<R> {
    bytes: Vec<u8>,
    is_whole: bool,
    rest: R,
    /// Error that ended the beginning.
    error: Option<io::Error>,
}

impl<R: Read> Beginning<R> {
    fn read(mut rest: R) -> Self {
        let mut bytes = Vec::new();
        let (mut is_whole, mut error) = (false, None);
        let mut has_line = false;
        while !is_whole && error.is_none() && (bytes.len() as u64) < MAX_JSON_BYTES {
            let before = bytes.len();
            let read = (&mut rest)
                .take(MAX_SNIFF_BYTES as u64)
                .read_to_end(&mut bytes);
            error = read.err();
            is_whole = error.is_none() && bytes.len() - before < MAX_SNIFF_BYTES;
            // The part behind that of the line's end may be needed: it has the next line.
            if has_line {
                break;
            }
            let line = bytes.trim_ascii_start();
            // Only what was read last is searched, so that long lines cost linear time.
            let searched = line.len().min(bytes.len() - before);
            has_line = line[line.len() - searched..].contains(&b'\n');
            if has_line && before == 0 {
                break;
            }
        }
        Self {
            bytes,
            is_whole,
            rest,
            error,
        }
    }

    /// Returns a reader of the whole text.
    fn into_reader(self) -> impl Read {
        let rest = FailedReader {
            error: self.error,
            inner: self.rest,
        };
        Cursor::new(self.bytes).chain(rest)
    }
}

/// Reader that returns an error of before.
struct FailedReader<R> {
    error: Option<io::Error>,
    inner: R,
}

impl<R: Read> Read for FailedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.error.take() {
            Some(error) => Err(error),
            None => self.inner.read(buffer),
        }
    }
}

/// Returns true if a text has a value a line. No JSON document has a line after its first value, or two values in lines without a
/// comma. A single line has such a name.
fn is_json_lines(sample: &str, file: &str) -> bool {
    let mut lines = sample
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .peekable();
    let Some(first) = lines.next() else {
        return false;
    };
    let is_named = file.contains(".jsonl") || file.contains(".ndjson");
    if lines.peek().is_none() && !is_named {
        return false;
    }
    let mut is_value_before = is_nested_value(first);
    if is_value_before {
        return true;
    }
    for line in lines {
        let is_value = is_nested_value(line);
        if is_value && is_value_before {
            return true;
        }
        is_value_before = is_value;
    }
    false
}

/// Returns true for an object or a list.
fn is_nested_value(line: &str) -> bool {
    line.starts_with(['{', '[']) && line.ends_with(['}', ']']) && parse_line(line).is_ok()
}

fn parse_line(line: &str) -> io::Result<Value> {
    let mut parser = ReaderJsonParser::new(line.as_bytes());
    let first = next_event(&mut parser)?;
    let value = read_value(first, &mut parser)?;
    expect_end(&mut parser)?;
    Ok(value)
}

/// Checks that nothing follows the value that was read.
fn expect_end<R: Read>(parser: &mut ReaderJsonParser<R>) -> io::Result<()> {
    match next_event(parser) {
        Ok(OwnedEvent::Eof) => Ok(()),
        Err(error) if error.kind() != io::ErrorKind::InvalidData => Err(error),
        _ => Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "more content follows the first JSON value",
        )),
    }
}

fn read_lines(
    text: impl Read,
    encoding: &'static str,
    place: &TablePlace<'_>,
    output: &mut Output<'_>,
) -> io::Result<()> {
    let mut lines = Lines {
        reader: BufReader::new(text),
        line: String::new(),
        number: 0,
        max_listed: output.limits().listed_problems,
        broken: Vec::new(),
        broken_count: 0,
    };
    let result = match lines.next_value() {
        Ok(Some(first)) if first.as_list().is_some() => {
            let mut rows = ListRows::new(&mut lines, Some(first));
            read_table(
                &mut rows,
                place,
                &table_format("JSON Lines", encoding),
                output,
            )
        }
        first => read_records(first, &mut lines, encoding, place, output),
    };
    output.skip(lines.broken_count);
    let listed = lines.broken.len() as u64;
    for (number, reason) in lines.broken {
        output.problem(Some(number), format!("the line is not JSON: {reason}"));
    }
    if lines.broken_count > listed {
        let count = lines.broken_count - listed;
        output.problem(None, format!("further lines that are not JSON: {count}"));
    }
    result
}

/// Adds a record for each line. `first` is the value of the first one.
fn read_records(
    first: io::Result<Option<Value>>,
    lines: &mut Lines<impl Read>,
    encoding: &'static str,
    place: &TablePlace<'_>,
    output: &mut Output<'_>,
) -> io::Result<()> {
    let label = file_stem(place.file);
    let mut writer =
        RecordWriter::new(output, place.base, place.file, "JSON Lines", Some(encoding));
    let (mut index, mut value) = (0, first);
    while let Ok(Some(record)) = &value {
        writer.record(None, index, record, label);
        index += 1;
        value = lines.next_value();
    }
    writer.finish();
    value.map(drop)
}

/// Source of the values of a list.
trait Values {
    /// Returns the next value.
    fn next_value(&mut self) -> io::Result<Option<Value>>;

    /// Returns the line of the value that was read last, if it has one.
    fn line(&self) -> Option<u64>;
}

/// Values of JSON Lines. Lines that are not JSON are left out.
struct Lines<R> {
    reader: BufReader<R>,
    line: String,
    number: u64,
    max_listed: usize,
    /// Numbers of the first lines that are not JSON, with the reasons.
    broken: Vec<(u64, String)>,
    broken_count: u64,
}

impl<R: Read> Values for Lines<R> {
    fn next_value(&mut self) -> io::Result<Option<Value>> {
        loop {
            self.line.clear();
            self.number += 1;
            let mut limited = (&mut self.reader).take(MAX_JSON_BYTES);
            if limited.read_line(&mut self.line)? == 0 {
                return Ok(None);
            }
            if self.line.len() as u64 >= MAX_JSON_BYTES {
                return Err(Refusal::RecordSize {
                    limit: MAX_JSON_BYTES,
                    line: self.number,
                }
                .into());
            }
            if self.line.trim().is_empty() {
                continue;
            }
            match parse_line(self.line.trim()) {
                Ok(value) => return Ok(Some(value)),
                Err(error) => {
                    self.broken_count += 1;
                    if self.broken.len() < self.max_listed {
                        self.broken.push((self.number, error.to_string()));
                    }
                }
            }
        }
    }

    fn line(&self) -> Option<u64> {
        Some(self.number)
    }
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
    /// If true, the document may be a cube or a topology, which are read as a whole.
    is_whole: bool,
    /// Reference system that the document declares anywhere, if it is known before it is read.
    crs: Option<Value>,
}

impl<R: Read> Document<'_, R> {
    fn read(mut self, output: &mut Output<'_>) -> io::Result<()> {
        match next_event(&mut self.parser)? {
            OwnedEvent::StartArray => self.read_list(output)?,
            OwnedEvent::StartObject if self.is_whole => self.read_whole_document(output)?,
            OwnedEvent::StartObject => self.read_object(output)?,
            OwnedEvent::Eof => return Ok(()),
            first => {
                let value = read_value(first, &mut self.parser)?;
                let mut writer = self.writer(output);
                writer.record(None, 0, &value, file_stem(self.place.file));
                writer.finish();
            }
        }
        expect_end(&mut self.parser)
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

    fn read_list(&mut self, output: &mut Output<'_>) -> io::Result<()> {
        let first = self.next_value()?;
        if let Some(Value::List(_)) = first {
            let (place, format) = (self.place, table_format("JSON", self.encoding));
            return read_table(&mut ListRows::new(self, first), place, &format, output);
        }
        let mut writer = self.writer(output);
        writer.begin_list(None);
        let (mut index, mut element) = (0, Ok(first));
        while let Ok(Some(value)) = &element {
            writer.record(None, index, value, file_stem(self.place.file));
            index += 1;
            element = self.next_value();
        }
        writer.finish();
        element.map(drop)
    }

    /// Reads a cube, a topology, or else an object, as a whole.
    fn read_whole_document(&mut self, output: &mut Output<'_>) -> io::Result<()> {
        let value = read_value(OwnedEvent::StartObject, &mut self.parser)?;
        if json_stat::read(&value, self.encoding, self.place, output)? {
            return Ok(());
        }
        let mut topology = Topology::new(&value);
        let mut writer = self.writer(output);
        let mut single = Vec::new();
        for (key, member) in value.as_object().unwrap_or_default() {
            match (member, &mut topology) {
                (_, Some(_)) if key == "arcs" || key == "transform" => (),
                (Value::Object(objects), Some(topology)) if key == "objects" => {
                    for (name, object) in objects {
                        for (index, feature) in topology.features(object).iter().enumerate() {
                            writer.record(Some(name), index, feature, name);
                        }
                    }
                }
                (Value::List(elements), _) => {
                    for (index, element) in elements.iter().enumerate() {
                        writer.record(Some(key), index, element, key);
                    }
                }
                _ => single.push((key.clone(), member.clone())),
            }
        }
        writer.members(&single, file_stem(self.place.file));
        writer.finish();
        Ok(())
    }

    /// Reads an object. Lists in it are read element by element.
    fn read_object(&mut self, output: &mut Output<'_>) -> io::Result<()> {
        let mut writer = self.writer(output);
        if let Some(crs) = &self.crs {
            writer.set_reference_system(crs);
        }
        let mut members = Vec::new();
        let mut columns = Vec::new();
        // The members before an error are written, too.
        let result = loop {
            match next_event(&mut self.parser) {
                Ok(OwnedEvent::Key(key)) => {
                    let read = self.object_member(key, &mut members, &mut columns, &mut writer);
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

    /// Reads a member. `columns` are the names of columns that an earlier member lists.
    fn object_member(
        &mut self,
        key: String,
        members: &mut Vec<(String, Value)>,
        columns: &mut Vec<String>,
        writer: &mut RecordWriter<'_, '_>,
    ) -> io::Result<()> {
        let first = next_event(&mut self.parser)?;
        // A geometry is one value.
        let is_geometry = matches!(key.as_str(), "coordinates" | "geometries");
        if !matches!(first, OwnedEvent::StartArray) || is_geometry {
            let value = read_value(first, &mut self.parser)?;
            if key == "crs" {
                writer.set_reference_system(&value);
            }
            members.push((key, value));
            return Ok(());
        }
        writer.begin_list(Some(&key));
        let first = self.next_value()?;
        if first.as_ref().is_some_and(is_row) {
            return self.rows(first, &key, columns, writer);
        }
        let lists_columns = matches!(key.as_str(), "columns" | "fields" | "header" | "headers");
        let (mut index, mut element) = (0, first);
        while let Some(value) = element {
            if lists_columns {
                // A column is a name, or an object with a name.
                let name = value.get("name").unwrap_or(&value);
                columns.push(name.scalar_text().unwrap_or_default().to_owned());
            }
            writer.record(Some(&key), index, &value, &key);
            index += 1;
            element = self.next_value()?;
        }
        Ok(())
    }

    /// Reads a list of lists within an object: each one is a record, whose keys are the names of the columns.
    fn rows(
        &mut self,
        first: Option<Value>,
        key: &str,
        columns: &[String],
        writer: &mut RecordWriter<'_, '_>,
    ) -> io::Result<()> {
        let mut index = 0;
        let mut row = first;
        let mut names = Vec::new();
        if row.as_ref().and_then(Value::as_list).map(<[Value]>::len) == Some(columns.len()) {
            names = columns.to_vec();
        } else if let Some(header) = row.as_ref().and_then(header_names) {
            let second = self.next_value()?;
            // Two rows of different texts: the first one may be data as well.
            if second
                .as_ref()
                .is_some_and(|row| header_names(row).is_none())
            {
                names = header;
                index = 1;
            } else if let Some(row) = &row {
                writer.record(Some(key), index, &named_row(row, &[]), key);
                index = 1;
            }
            row = second;
        }
        while let Some(value) = row {
            writer.record(Some(key), index, &named_row(&value, &names), key);
            index += 1;
            row = self.next_value()?;
        }
        Ok(())
    }
}

impl<R: Read> Values for Document<'_, R> {
    /// Returns the next element of the open list.
    fn next_value(&mut self) -> io::Result<Option<Value>> {
        // The limit is that of one value, because only one is in memory.
        self.bytes.set(0);
        match next_event(&mut self.parser)? {
            OwnedEvent::End => Ok(None),
            OwnedEvent::Eof => Err(io::ErrorKind::UnexpectedEof.into()),
            first => read_value(first, &mut self.parser).map(Some),
        }
    }

    fn line(&self) -> Option<u64> {
        None
    }
}

/// Returns true for a list with a value that is no list: a row of a table, not of coordinates.
fn is_row(value: &Value) -> bool {
    let cells = value.as_list().unwrap_or_default();
    cells.iter().any(|cell| cell.as_list().is_none())
}

/// Returns the names in a row that may be a header: different texts.
fn header_names(row: &Value) -> Option<Vec<String>> {
    let mut names: Vec<String> = Vec::new();
    for cell in row.as_list()? {
        let name = cell.as_text()?;
        if name.trim().is_empty() || names.iter().any(|found| found == name) {
            return None;
        }
        names.push(name.to_owned());
    }
    Some(names)
}

/// Returns a row as an object. Cells without a name have their number.
fn named_row(row: &Value, names: &[String]) -> Value {
    let Value::List(cells) = row else {
        return row.clone();
    };
    let mut members = Vec::with_capacity(cells.len());
    for (place, cell) in cells.iter().enumerate() {
        let name = match names.get(place) {
            Some(name) if !name.is_empty() => name.clone(),
            _ => format!("column_{}", place + 1),
        };
        members.push((name, cell.clone()));
    }
    Value::Object(members)
}

fn table_format(format: &'static str, encoding: &'static str) -> FormatFacts {
    FormatFacts {
        format,
        encoding: Some(encoding),
        ..FormatFacts::default()
    }
}

/// Rows of a list of lists.
struct ListRows<'s, S> {
    source: &'s mut S,
    /// First value, which was read before.
    first: Option<Value>,
    has_ended: bool,
    number: u64,
}

impl<'s, S: Values> ListRows<'s, S> {
    fn new(source: &'s mut S, first: Option<Value>) -> Self {
        Self {
            source,
            first,
            has_ended: false,
            number: 0,
        }
    }
}

impl<S: Values> Rows for ListRows<'_, S> {
    fn next_row(&mut self, row: &mut StringRecord) -> io::Result<bool> {
        let mut value = self.first.take();
        if value.is_none() && !self.has_ended {
            value = self.source.next_value()?;
        }
        let Some(value) = value else {
            self.has_ended = true;
            return Ok(false);
        };
        row.clear();
        match &value {
            Value::List(cells) => {
                for cell in cells {
                    row.push_field(&cell_text(cell));
                }
            }
            other => row.push_field(&cell_text(other)),
        }
        self.number += 1;
        Ok(true)
    }

    fn row_number(&self) -> u64 {
        self.number
    }

    fn line(&self) -> Option<u64> {
        self.source.line()
    }
}

/// Returns the text of a cell. Lists and objects are JSON.
fn cell_text(value: &Value) -> Cow<'_, str> {
    if value.is_nested() {
        return Cow::Owned(to_json(value));
    }
    Cow::Borrowed(value.scalar_text().unwrap_or_default())
}

fn to_json(value: &Value) -> String {
    match value {
        Value::List(elements) => {
            let elements: Vec<String> = elements.iter().map(to_json).collect();
            format!("[{}]", elements.join(","))
        }
        Value::Object(members) => {
            let mut parts = Vec::with_capacity(members.len());
            for (key, member) in members {
                parts.push(format!("{}:{}", quote_json(key), to_json(member)));
            }
            format!("{{{}}}", parts.join(","))
        }
        Value::Text(text) => quote_json(text),
        other => other.scalar_text().unwrap_or("null").to_owned(),
    }
}

fn quote_json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
