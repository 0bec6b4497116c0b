//! PX, the format of PC-Axis and PxWeb
//! (<https://www.scb.se/en/services/statistical-programs-for-px-files/px-file-format/>): a cube of numbers as a table, with a row for
//! each observation.
//!
//! A dimension is a column with the texts of its categories, followed by one with their codes if they differ. Texts are those of the
//! file's own language; titles and names of columns in its other languages become labels with a language tag.
//!
//! With `KEYS`, each line of the data begins with the categories of the stub, and lines of zeros are omitted. Their cells are counted
//! in the report and are no observations.
//!
//! # Why not a library?
//!
//! crates.io has no reader of PX. The format is a list of keywords, followed by numbers in row-major order.

use crate::cube::Role;
use crate::descriptors::TableDescription;
use crate::encoding::TextEncoding;
use crate::limits::{MAX_CELL_BYTES, MAX_COLUMNS, MAX_PX_KEYWORDS_BYTES, MAX_SNIFF_BYTES, cut};
use crate::output::Output;
use crate::table::{ColumnDescription, FormatFacts, Rows, TablePlace, read_table};
use crate::values::{ColumnType, common_type};
use csv::StringRecord;
use lodeseek_rdf::dump::{Refusal, read_beginning};
use lodeseek_rdf::vocab::rdfs;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, Read};

/// Name of the format in reports.
const FORMAT: &str = "PX";
/// Header of the values if the file has no name for them.
const VALUE: &str = "value";
/// Keywords of which one begins each file.
const FIRST_KEYWORDS: [&str; 8] = [
    "CHARSET",
    "AXIS-VERSION",
    "CODEPAGE",
    "LANGUAGE",
    "LANGUAGES",
    "CREATION-DATE",
    "MATRIX",
    "SUBJECT-CODE",
];
/// Maximum length of a number in bytes.
const MAX_NUMBER_BYTES: usize = 100;

/// Returns true if a text begins as a PX file.
pub(crate) fn begins_with_px(text: &str) -> bool {
    let Some((keyword, rest)) = text.split_once('=') else {
        return false;
    };
    FIRST_KEYWORDS.contains(&keyword.trim())
        && rest.trim_start().starts_with('"')
        && rest.contains(';')
        && ["STUB", "HEADING", "VALUES(", "MATRIX=", "TITLE="]
            .iter()
            .any(|keyword| rest.contains(keyword))
}

/// Reads a file.
pub(crate) fn read(
    content: impl Read,
    place: &TablePlace<'_>,
    output: &mut Output<'_>,
) -> io::Result<()> {
    let beginning = read_beginning(content, MAX_SNIFF_BYTES)?;
    let encoding = TextEncoding::detect(&beginning.bytes, beginning.is_whole);
    let encoding = encoding.with_declared(find_codepage(&beginning.bytes));
    let limit = output.limits().document_bytes;
    let mut text = BufReader::new(encoding.decode(beginning.reader).take(limit));
    let keywords = read_keywords(&mut text)?;
    let cube = Cube::new(&keywords)?;
    let (roles, types, columns) = cube.describe(&keywords);
    let description = describe_table(&keywords, columns, place.description);
    let place = TablePlace {
        description: &description,
        ..place.clone()
    };
    let format = FormatFacts {
        format: FORMAT,
        encoding: Some(encoding.name()),
        header_rows: Some(1),
        roles: Some(roles),
        types,
        ..FormatFacts::default()
    };
    let mut rows = PxRows {
        cube: &cube,
        text,
        keys: StubKeys::new(&keywords, &cube)?,
        line_rest: 0,
        has_header: false,
        cell: 0,
        read_cells: 0,
        number: 0,
        surplus: 0,
        damaged: 0,
        unknown_keys: 0,
        has_ended: false,
    };
    let result = read_table(&mut rows, &place, &format, output);
    add_translations(&keywords, &cube, &place, output);
    add_notes(&keywords, &place, output);
    if result.is_ok() && rows.read_cells < cube.size {
        let message = if rows.keys.is_some() {
            let omitted = cube.size - rows.read_cells;
            format!("cells of zeros that the file omits, as KEYS states: {omitted}")
        } else {
            format!("{} numbers for {} cells", rows.read_cells, cube.size)
        };
        output.problem(None, message);
    }
    if cube.cut_texts > 0 {
        output.problem(
            None,
            format!(
                "texts of categories cut after {MAX_CELL_BYTES} bytes: {}",
                cube.cut_texts
            ),
        );
    }
    for (count, reason) in [
        (rows.surplus, "numbers that are in no cell"),
        (
            rows.damaged,
            "values that are no number and no sign of a missing one",
        ),
        (
            rows.unknown_keys,
            "lines of the data whose keys are no categories",
        ),
    ] {
        if count > 0 {
            output.skip(count);
            output.problem(None, format!("{reason}: {count}"));
        }
    }
    result
}

fn refusal(reason: &str) -> io::Error {
    Refusal::Document {
        reason: format!("PX: {reason}"),
    }
    .into()
}

/// Returns the encoding that a file declares.
fn find_codepage(head: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(head);
    let (_, rest) = text.split_once("CODEPAGE=\"")?;
    let (name, _) = rest.split_once('"')?;
    Some(name.to_owned())
}

/// Keyword with its values: `VALUES[en]("Region")="North","South";`.
#[derive(Debug, Default)]
struct Keyword {
    name: String,
    language: Option<String>,
    /// Name of the variable and others in parentheses.
    subjects: Vec<String>,
    /// Texts in quotation marks. Those without a comma between them are one text.
    values: Vec<String>,
    /// Text outside of quotation marks: `TLIST(A1)`, `YES`.
    bare: String,
}

/// Keywords before the data.
struct Keywords(Vec<Keyword>);

impl Keywords {
    /// Returns the values of a keyword in the file's own language.
    fn values(&self, name: &str, subject: Option<&str>) -> &[String] {
        match self.find(name, subject, None) {
            Some(found) => found.values.as_slice(),
            None => &[],
        }
    }

    fn text(&self, name: &str, subject: Option<&str>) -> Option<&str> {
        let found = self.find(name, subject, None)?;
        let first = found.values.first().unwrap_or(&found.bare);
        Some(first.trim()).filter(|text| !text.is_empty())
    }

    fn find(&self, name: &str, subject: Option<&str>, language: Option<&str>) -> Option<&Keyword> {
        self.0.iter().find(|keyword| {
            keyword.name == name
                && keyword.language.as_deref() == language
                && keyword.subjects.first().map(String::as_str) == subject
        })
    }

    /// Returns the languages of translations.
    fn languages(&self) -> Vec<&str> {
        let mut languages = Vec::new();
        for keyword in &self.0 {
            if let Some(language) = &keyword.language
                && !languages.contains(&language.as_str())
            {
                languages.push(language.as_str());
            }
        }
        languages
    }
}

/// Reads the keywords to `DATA=`.
fn read_keywords(text: &mut impl BufRead) -> io::Result<Keywords> {
    let mut keywords = Vec::new();
    let mut bytes = 0;
    loop {
        let Some(keyword) = read_keyword(text, &mut bytes)? else {
            return Err(refusal("the keyword DATA is missing"));
        };
        match keyword.name.as_str() {
            "DATA" => return Ok(Keywords(keywords)),
            _ => keywords.push(keyword),
        }
    }
}

/// Reads a keyword with its values, or `DATA=`. Returns `None` at the end of the text.
fn read_keyword(text: &mut impl BufRead, bytes: &mut u64) -> io::Result<Option<Keyword>> {
    let mut keyword = Keyword::default();
    let mut part = String::new();
    let (mut is_quoted, mut is_value, mut is_subject) = (false, false, false);
    // A text continues that of the line before, unless a comma precedes.
    let mut is_continued = false;
    loop {
        let Some(character) = next_character(text)? else {
            return Ok(None);
        };
        *bytes += character.len_utf8() as u64;
        if *bytes > MAX_PX_KEYWORDS_BYTES {
            return Err(refusal(&format!(
                "more than {MAX_PX_KEYWORDS_BYTES} bytes before the data"
            )));
        }
        // Long texts are broken over lines within their quotation marks.
        if is_quoted && character != '"' {
            if !matches!(character, '\r' | '\n') {
                part.push(character);
            }
            continue;
        }
        match character {
            '"' if is_quoted => {
                is_quoted = false;
                let list = if is_value {
                    &mut keyword.values
                } else {
                    &mut keyword.subjects
                };
                match list.last_mut().filter(|_| is_continued) {
                    Some(last) => last.push_str(&part),
                    None => list.push(std::mem::take(&mut part)),
                }
                part.clear();
                is_continued = true;
            }
            '"' => is_quoted = true,
            ',' => is_continued = false,
            ';' if is_value => return Ok(Some(keyword)),
            // A second semicolon, or a keyword without a value.
            ';' => {
                keyword = Keyword::default();
                (is_subject, is_continued) = (false, false);
            }
            '=' if !is_value => {
                is_value = true;
                is_continued = false;
                if keyword.name == "DATA" {
                    return Ok(Some(keyword));
                }
            }
            '(' if !is_value => is_subject = true,
            ')' if !is_value => is_subject = false,
            '[' if !is_value => keyword.language = Some(String::new()),
            ']' if !is_value => (),
            other if is_value => {
                keyword.bare.push(other);
                is_continued &= other.is_whitespace();
            }
            other if other.is_whitespace() || is_subject => (),
            other => match &mut keyword.language {
                Some(language) => language.push(other),
                None => keyword.name.push(other),
            },
        }
    }
}

/// Returns the next character of UTF-8.
fn next_character(text: &mut impl BufRead) -> io::Result<Option<char>> {
    let Some(first) = next_byte(text)? else {
        return Ok(None);
    };
    // The decoder returns valid UTF-8, so that the first byte states the length.
    let length = match first {
        0..0x80 => return Ok(Some(char::from(first))),
        0xc0..0xe0 => 2,
        0xe0..0xf0 => 3,
        _ => 4,
    };
    let mut bytes = [first, 0, 0, 0];
    for byte in &mut bytes[1..length] {
        let Some(next) = next_byte(text)? else {
            return Ok(None);
        };
        *byte = next;
    }
    let character = std::str::from_utf8(&bytes[..length]).ok();
    let character = character.and_then(|text| text.chars().next());
    Ok(Some(character.unwrap_or(char::REPLACEMENT_CHARACTER)))
}

fn next_byte(text: &mut impl BufRead) -> io::Result<Option<u8>> {
    let byte = text.fill_buf()?.first().copied();
    text.consume(usize::from(byte.is_some()));
    Ok(byte)
}

struct Dimension {
    name: String,
    texts: Vec<String>,
    /// Codes, if they differ from the texts.
    codes: Option<Vec<String>>,
}

/// Dimensions of a file: first those of the stub, then those of the heading, whose last one varies fastest.
struct Cube {
    dimensions: Vec<Dimension>,
    /// Number of dimensions of the stub.
    stub: usize,
    /// Number of cells.
    size: usize,
    /// Header of the values.
    value: String,
    /// Number of texts of categories that were cut.
    cut_texts: u64,
}

impl Cube {
    fn new(keywords: &Keywords) -> io::Result<Self> {
        let stub = keywords.values("STUB", None);
        let names = [stub, keywords.values("HEADING", None)].concat();
        if names.is_empty() {
            return Err(refusal("the keywords STUB and HEADING are missing"));
        }
        if names.len() > MAX_COLUMNS {
            return Err(Refusal::ColumnCount { limit: MAX_COLUMNS }.into());
        }
        let mut dimensions = Vec::with_capacity(names.len());
        let (mut size, mut cut_texts) = (1usize, 0);
        for name in names {
            let texts = keywords.values("VALUES", Some(&name));
            let mut codes = keywords.values("CODES", Some(&name)).to_vec();
            if codes.is_empty() {
                codes = time_values(keywords, &name);
                // Times are a description of the values. If there are others, the values precede.
                if !texts.is_empty() && codes.len() != texts.len() {
                    codes.clear();
                }
            }
            let mut texts = if texts.is_empty() { &codes } else { texts }.to_vec();
            for text in texts.iter_mut().chain(&mut codes) {
                let length = cut(text, MAX_CELL_BYTES).len();
                cut_texts += u64::from(length < text.len());
                text.truncate(length);
            }
            if texts.is_empty() {
                return Err(refusal(&format!("the variable {name:?} has no values")));
            }
            if !codes.is_empty() && codes.len() != texts.len() {
                return Err(refusal(&format!(
                    "the variable {name:?} has {} values and {} codes",
                    texts.len(),
                    codes.len()
                )));
            }
            size = size
                .checked_mul(texts.len())
                .ok_or_else(|| refusal("too many cells"))?;
            let codes = Some(codes).filter(|codes| !codes.is_empty() && *codes != texts);
            dimensions.push(Dimension { name, texts, codes });
        }
        // With a variable of contents, each of its categories has a unit of its own.
        let has_contents = keywords.text("CONTVARIABLE", None).is_some();
        let contents = keywords.text("CONTENTS", None);
        let contents = contents.filter(|text| {
            !has_contents && dimensions.iter().all(|dimension| dimension.name != *text)
        });
        Ok(Self {
            dimensions,
            stub: stub.len(),
            size,
            value: contents.unwrap_or(VALUE).to_owned(),
            cut_texts,
        })
    }

    /// Returns the roles, the types and the descriptions of the columns.
    fn describe(
        &self,
        keywords: &Keywords,
    ) -> (Vec<Role>, Vec<Option<ColumnType>>, Vec<ColumnDescription>) {
        let (mut roles, mut types, mut columns) = (Vec::new(), Vec::new(), Vec::new());
        for dimension in &self.dimensions {
            roles.push(Role::Dimension);
            types.push(Some(common_type(
                dimension.texts.iter().map(String::as_str),
            )));
            columns.push(ColumnDescription {
                name: dimension.name.clone(),
                description: keywords
                    .text("NOTE", Some(&dimension.name))
                    .or_else(|| keywords.text("NOTEX", Some(&dimension.name)))
                    .map(with_line_breaks),
                ..ColumnDescription::default()
            });
            if dimension.codes.is_some() {
                roles.push(Role::Attribute);
                types.push(Some(ColumnType::Text));
                columns.push(ColumnDescription {
                    name: code_header(&dimension.name),
                    ..ColumnDescription::default()
                });
            }
        }
        roles.push(Role::Measure);
        types.push(Some(ColumnType::Decimal));
        columns.push(ColumnDescription {
            name: self.value.clone(),
            unit: keywords.text("UNITS", None).map(str::to_owned),
            ..ColumnDescription::default()
        });
        (roles, types, columns)
    }
}

/// Returns the header of the codes of a dimension.
fn code_header(name: &str) -> String {
    format!("{name} (code)")
}

/// Returns the times of `TIMEVAL`: a list, or a first and a last year.
fn time_values(keywords: &Keywords, name: &str) -> Vec<String> {
    let Some(keyword) = keywords.find("TIMEVAL", Some(name), None) else {
        return Vec::new();
    };
    let list: String = keyword.bare.split_whitespace().collect();
    let is_monthly = list.contains("TLIST(M1");
    let is_range = list.contains('-');
    if is_range {
        // TLIST(A1,"1994"-"1996"): other periods have no simple arithmetic, and are lists.
        let [first, last] = keyword.values.as_slice() else {
            return Vec::new();
        };
        let (Ok(first), Ok(last)) = (first.parse::<i32>(), last.parse::<i32>()) else {
            return Vec::new();
        };
        // A year has four digits, so that a short keyword does not become millions of texts.
        if !list.contains("TLIST(A1") || first > last || first < 0 || last > 9999 {
            return Vec::new();
        }
        return (first..=last).map(|year| year.to_string()).collect();
    }
    let mut times = Vec::with_capacity(keyword.values.len());
    for time in &keyword.values {
        // A month is one of XML Schema.
        match time.split_at_checked(4) {
            Some((year, month)) if is_monthly && month.len() == 2 => {
                times.push(format!("{year}-{month}"));
            }
            _ => times.push(time.clone()),
        }
    }
    times
}

/// Texts of several lines mark their ends by `#`.
fn with_line_breaks(text: &str) -> String {
    text.replace('#', "\n").trim().to_owned()
}

/// Returns the description of the table; a descriptor beside the file precedes.
fn describe_table(
    keywords: &Keywords,
    columns: Vec<ColumnDescription>,
    beside: &TableDescription,
) -> TableDescription {
    let title = keywords
        .text("TITLE", None)
        .or_else(|| keywords.text("DESCRIPTION", None));
    let mut notes = Vec::new();
    for name in ["NOTEX", "NOTE", "SOURCE"] {
        // There may be several notes.
        let found = keywords.0.iter().filter(|keyword| {
            keyword.name == name && keyword.subjects.is_empty() && keyword.language.is_none()
        });
        notes.extend(found.map(|keyword| with_line_breaks(&keyword.values.join(" "))));
    }
    notes.retain(|note| !note.is_empty());
    let notes = Some(notes.join("\n")).filter(|notes| !notes.is_empty());
    TableDescription {
        title: beside.title.clone().or_else(|| title.map(str::to_owned)),
        description: beside.description.clone().or(notes),
        columns: [beside.columns.clone(), columns].concat(),
        problems: Vec::new(),
    }
}

/// Adds the notes about values and cells as comments on the table, each with the categories that it is about.
fn add_notes(keywords: &Keywords, place: &TablePlace<'_>, output: &mut Output<'_>) {
    for keyword in &keywords.0 {
        let is_note = matches!(
            keyword.name.as_str(),
            "VALUENOTE" | "VALUENOTEX" | "CELLNOTE" | "CELLNOTEX"
        );
        if !is_note || keyword.language.is_some() {
            continue;
        }
        let text = with_line_breaks(&keyword.values.join(" "));
        let note = format!("{}: {text}", keyword.subjects.join(", "));
        let kept = cut(&note, MAX_CELL_BYTES);
        if kept.len() < note.len() {
            output.problem(None, format!("a note is cut after {MAX_CELL_BYTES} bytes"));
        }
        output.text(&place.table(), rdfs::COMMENT, kept);
    }
}

/// Adds the titles and names of columns in other languages.
fn add_translations(
    keywords: &Keywords,
    cube: &Cube,
    place: &TablePlace<'_>,
    output: &mut Output<'_>,
) {
    for language in keywords.languages() {
        if oxrdf::Literal::new_language_tagged_literal("", language).is_err() {
            continue;
        }
        let tag = &language.to_ascii_lowercase();
        let title = keywords
            .find("TITLE", None, Some(language))
            .or_else(|| keywords.find("DESCRIPTION", None, Some(language)));
        if let Some(title) = title.and_then(|keyword| keyword.values.first()) {
            output.tagged_label(&place.table(), title, tag);
        }
        let mut names: Vec<&String> = Vec::new();
        for keyword in ["STUB", "HEADING"] {
            if let Some(translated) = keywords.find(keyword, None, Some(language)) {
                names.extend(&translated.values);
            }
        }
        for (dimension, name) in cube.dimensions.iter().zip(names) {
            output.tagged_label(&place.property(&dimension.name), name, tag);
        }
    }
}

/// Keys before the numbers of a line of the data: for each dimension of the stub the places of its categories, by texts or codes.
struct StubKeys {
    places: Vec<FxHashMap<String, usize>>,
    /// Number of cells of a line.
    line_cells: usize,
}

impl StubKeys {
    /// Returns `None` for a file without `KEYS`.
    fn new(keywords: &Keywords, cube: &Cube) -> io::Result<Option<Self>> {
        if cube.stub == 0 || !keywords.0.iter().any(|keyword| keyword.name == "KEYS") {
            return Ok(None);
        }
        let (stub, heading) = cube.dimensions.split_at(cube.stub);
        let mut places = Vec::with_capacity(stub.len());
        for dimension in stub {
            let keys = match keywords.text("KEYS", Some(&dimension.name)) {
                Some("VALUES") => &dimension.texts,
                Some("CODES") => dimension.codes.as_ref().unwrap_or(&dimension.texts),
                _ => {
                    let name = &dimension.name;
                    return Err(refusal(&format!(
                        "KEYS of the variable {name:?} is neither VALUES nor CODES"
                    )));
                }
            };
            places.push(
                keys.iter()
                    .enumerate()
                    .map(|(place, key)| (key.clone(), place))
                    .collect(),
            );
        }
        let line_cells = heading.iter().map(|dimension| dimension.texts.len());
        Ok(Some(Self {
            places,
            line_cells: line_cells.product(),
        }))
    }

    /// Returns the first cell of the line with these keys. `None` if one of them is no category.
    fn first_cell(&self, keys: &[String]) -> Option<usize> {
        let mut line = 0;
        for (places, key) in self.places.iter().zip(keys) {
            // Row-major order, as of the cells: the last key of the stub varies fastest.
            line = line * places.len() + places.get(key)?;
        }
        Some(line * self.line_cells)
    }
}

/// Header and observations of a file.
struct PxRows<'c, R> {
    cube: &'c Cube,
    text: R,
    /// Keys before the numbers of each line.
    keys: Option<StubKeys>,
    /// Number of cells of a line with keys that were not read.
    line_rest: usize,
    has_header: bool,
    /// Place of the next cell.
    cell: usize,
    /// Number of cells that were read.
    read_cells: usize,
    number: u64,
    /// Numbers behind the last cell.
    surplus: u64,
    /// Values that are no number and no sign of a missing one.
    damaged: u64,
    /// Lines whose keys are no categories.
    unknown_keys: u64,
    has_ended: bool,
}

impl<R: BufRead> PxRows<'_, R> {
    /// Reads the next value, which is empty if there is nothing between its quotation marks. Returns false at the end of the data.
    fn next_token(&mut self, token: &mut String) -> io::Result<bool> {
        let mut bytes = Vec::new();
        let has_begun = self.next_bytes(&mut bytes)?;
        token.clear();
        token.push_str(&String::from_utf8_lossy(&bytes));
        Ok(has_begun)
    }

    fn next_bytes(&mut self, bytes: &mut Vec<u8>) -> io::Result<bool> {
        let (mut is_quoted, mut has_begun) = (false, false);
        while let Some(byte) = next_byte(&mut self.text)? {
            match byte {
                b'"' => {
                    is_quoted = !is_quoted;
                    has_begun = true;
                }
                b';' if !is_quoted => {
                    self.has_ended = self.is_last()?;
                    if self.has_ended || has_begun {
                        return Ok(has_begun);
                    }
                }
                b' ' | b'\t' | b'\r' | b'\n' | b',' if !is_quoted => {
                    if has_begun {
                        return Ok(true);
                    }
                }
                byte => {
                    has_begun = true;
                    // A longer token is neither a number nor a category.
                    if bytes.len() <= MAX_CELL_BYTES {
                        bytes.push(byte);
                    }
                }
            }
        }
        self.has_ended = true;
        Ok(has_begun)
    }

    /// Finds the cells of a line of which `token` is the first key, and reads its first number. Skips lines whose keys are no
    /// categories. Returns false at the end of the data.
    fn find_line(&mut self, token: &mut String) -> io::Result<bool> {
        let Some((stub, line_cells)) = self
            .keys
            .as_ref()
            .map(|keys| (keys.places.len(), keys.line_cells))
        else {
            return Ok(true);
        };
        let mut line = Vec::with_capacity(stub);
        loop {
            line.clear();
            line.push(std::mem::take(token));
            while line.len() < stub {
                if self.has_ended || !self.next_token(token)? {
                    return Ok(false);
                }
                line.push(std::mem::take(token));
            }
            let found = self.keys.as_ref().and_then(|keys| keys.first_cell(&line));
            // The first number of the line, or all of them and the first key of the next one.
            let skipped = if found.is_some() { 0 } else { line_cells };
            for _ in 0..=skipped {
                if self.has_ended || !self.next_token(token)? {
                    self.unknown_keys += u64::from(found.is_none());
                    return Ok(false);
                }
            }
            match found {
                Some(cell) => {
                    (self.cell, self.line_rest) = (cell, line_cells);
                    return Ok(true);
                }
                None => self.unknown_keys += 1,
            }
        }
    }

    /// Returns true if no value follows: old files have semicolons between values, too.
    fn is_last(&mut self) -> io::Result<bool> {
        loop {
            let Some(byte) = self.text.fill_buf()?.first().copied() else {
                return Ok(true);
            };
            if !byte.is_ascii_whitespace() {
                return Ok(!(byte.is_ascii_digit()
                    || matches!(byte, b'-' | b'+' | b'.' | b'"' | b',')
                    || !byte.is_ascii()));
            }
            self.text.consume(1);
        }
    }
}

impl<R: BufRead> Rows for PxRows<'_, R> {
    fn next_row(&mut self, row: &mut StringRecord) -> io::Result<bool> {
        row.clear();
        if !self.has_header {
            self.has_header = true;
            for dimension in &self.cube.dimensions {
                row.push_field(&dimension.name);
                if dimension.codes.is_some() {
                    row.push_field(&code_header(&dimension.name));
                }
            }
            row.push_field(&self.cube.value);
            self.number = 1;
            return Ok(true);
        }
        let mut token = String::new();
        while !self.has_ended && self.next_token(&mut token)? {
            if self.keys.is_some() && self.line_rest == 0 && !self.find_line(&mut token)? {
                break;
            }
            self.line_rest = self.line_rest.saturating_sub(1);
            if self.cell >= self.cube.size {
                self.surplus += 1;
                continue;
            }
            let cell = self.cell;
            self.cell += 1;
            self.read_cells += 1;
            let value = match token.as_str() {
                // A dash is a number that is zero exactly.
                "-" => Cow::Borrowed("0"),
                // Dots stand for a missing number; their number states the reason.
                dots if !dots.is_empty() && dots.bytes().all(|byte| byte == b'.') => continue,
                number => match plain_decimal(number) {
                    Some(decimal) => decimal,
                    None => {
                        self.damaged += 1;
                        continue;
                    }
                },
            };
            // From the number of the cell to its categories: the last dimension varies fastest.
            let (mut place, mut rest) = (cell, self.cube.size);
            for dimension in &self.cube.dimensions {
                rest /= dimension.texts.len();
                let category = place / rest;
                row.push_field(&dimension.texts[category]);
                if let Some(codes) = &dimension.codes {
                    row.push_field(&codes[category]);
                }
                place %= rest;
            }
            row.push_field(&value);
            self.number += 1;
            return Ok(true);
        }
        Ok(false)
    }

    fn row_number(&self) -> u64 {
        self.number
    }

    fn line(&self) -> Option<u64> {
        None
    }
}

/// Returns a number without an exponent. `None` for other texts.
fn plain_decimal(token: &str) -> Option<Cow<'_, str>> {
    if token.len() > MAX_NUMBER_BYTES {
        return None;
    }
    let number: f64 = token
        .parse()
        .ok()
        .filter(|number: &f64| number.is_finite())?;
    if token.contains(['e', 'E']) {
        Some(Cow::Owned(number.to_string()))
    } else {
        Some(Cow::Borrowed(token))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_sink::Collected;
    use lodeseek_rdf::dump::{FileReport, Limits};

    fn read_text(text: &str) -> (io::Result<()>, Vec<String>, FileReport) {
        let mut report = FileReport::unreadable("boats.px", "");
        report.problems.clear();
        let mut sink = Collected::default();
        let limits = Limits::default();
        let mut output = Output::new(&mut sink, &mut report, &limits);
        let place = TablePlace {
            base: "http://e.org/boats.px",
            file: "boats.px",
            part: None,
            description: &TableDescription::default(),
        };
        let result = read(text.as_bytes(), &place, &mut output);
        (result, sink.0, report)
    }

    const BOATS: &str = r#"CHARSET="ANSI";
AXIS-VERSION="2013";
LANGUAGE="sv";
LANGUAGES="sv","en";
CONTENTS="Antal båtar";
CONTENTS[en]="Number of boats";
TITLE="Båtar efter hamn, "
"typ och månad";
TITLE[en]="Boats by harbour, type and month";
UNITS="antal";
STUB="Hamn","Typ";
STUB[en]="Harbour","Type";
HEADING="Månad";
HEADING[en]="Month";
VALUES("Hamn")="Norra; hamnen",
"Södra hamnen";
VALUES("Typ")="segelbåt","roddbåt";
VALUES("Månad")="2021M01","2021M02";
CODES("Hamn")="01","02";
TIMEVAL("Månad")=TLIST(M1),"202101","202102";
NOTE="Räknade varje måndag.#Utan kanoter.";
DATA=
12 ".."
3.5 "-"
1.5 4 
. 7 ;
"#;

    #[test]
    fn cells_become_observations() {
        let (result, triples, report) = read_text(BOATS);
        result.expect("read");
        let base = "http://e.org/boats.px";
        for (subject, property, value) in [
            // The second number is missing, so that the third one is that of the second row.
            ("#row=3", "#Typ", "\"roddbåt\""),
            ("#row=3", "#Hamn", "\"Norra; hamnen\""),
            ("#row=2", "#Månad%20%28code%29", "\"2021-01\""),
            ("#row=2", "#Hamn%20%28code%29", "\"01\""),
        ] {
            let triple = format!("<{base}{subject}> <{base}{property}> {value}");
            assert!(
                triples.contains(&triple),
                "{triple}\n{}",
                triples.join("\n")
            );
        }
        let text = triples.join("\n");
        for part in [
            "<http://e.org/boats.px> <http://www.w3.org/2000/01/rdf-schema#label> \"Båtar efter hamn, typ och månad\"",
            "<http://e.org/boats.px> <http://www.w3.org/2000/01/rdf-schema#label> \"Boats by harbour, type and month\"@en",
            "<http://e.org/boats.px#Hamn> <http://www.w3.org/2000/01/rdf-schema#label> \"Harbour\"@en",
            "<http://e.org/boats.px#Hamn> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://purl.org/linked-data/cube#DimensionProperty>",
            "<http://purl.org/linked-data/cube#MeasureProperty>",
            "\"Räknade varje måndag.\\nUtan kanoter.\"",
            "\"antal\"",
            "\"12\"^^<http://www.w3.org/2001/XMLSchema#decimal>",
            "\"0\"^^<http://www.w3.org/2001/XMLSchema#decimal>",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        let facts = &report.tables[0];
        assert_eq!((facts.rows, facts.columns), (6, 6), "{facts:?}");
        assert!(report.problems.is_empty(), "{:?}", report.problems);
    }

    #[test]
    fn notes_are_comments() {
        let notes = "VALUENOTE(\"Typ\",\"roddbåt\")=\"utan motor\";\nCELLNOTE(\"01\",\"*\",\"2021M01\")=\"skattad\";\n\
            NOTE=\"Andra noten.\";\nDATA=";
        let (result, triples, _) = read_text(&BOATS.replace("DATA=", notes));
        result.expect("read");
        let text = triples.join("\n");
        for part in [
            "<http://e.org/boats.px> <http://www.w3.org/2000/01/rdf-schema#comment> \"Typ, roddbåt: utan motor\"",
            "\"01, *, 2021M01: skattad\"",
            "Andra noten.",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }

    #[test]
    fn damaged_files_are_reported() {
        let (result, _, report) = read_text(&BOATS.replace(". 7 ;", "x 7 8 9;"));
        result.expect("read");
        let problems: Vec<&str> = report
            .problems
            .iter()
            .map(|one| one.message.as_str())
            .collect();
        assert_eq!(
            problems,
            [
                "numbers that are in no cell: 2",
                "values that are no number and no sign of a missing one: 1"
            ]
        );
        let (result, _, report) = read_text(&BOATS.replace(". 7 ;", ""));
        result.expect("read");
        assert_eq!(report.problems[0].message, "6 numbers for 8 cells");
        for (from, to, expected) in [
            ("DATA=", "DATE=", "the keyword DATA is missing"),
            ("HEADING=", "X=", ""),
            (
                "CODES(\"Hamn\")=\"01\",",
                "CODES(\"Hamn\")=",
                "has 2 values and 1 codes",
            ),
            (
                "NOTE=",
                "KEYS(\"Hamn\")=CODES;NOTE=",
                "KEYS of the variable \"Typ\" is neither VALUES nor CODES",
            ),
        ] {
            let (result, _, _) = read_text(&BOATS.replacen(from, to, 1));
            match result {
                Ok(()) => assert!(expected.is_empty(), "{expected}"),
                Err(error) => assert!(error.to_string().contains(expected), "{error}"),
            }
        }
    }

    #[test]
    fn lines_with_keys_may_be_omitted() {
        let keys = "KEYS(\"Hamn\")=CODES;KEYS(\"Typ\")=VALUES;DATA=";
        let (head, _) = BOATS.split_once("DATA=").expect("data");
        for (data, expected, messages) in [
            (
                "\"02\",\"roddbåt\",5,6 \n\"01\",\"segelbåt\",1 \"-\" ;",
                ["5", "6", "1", "0"].as_slice(),
                vec!["cells of zeros that the file omits, as KEYS states: 4"],
            ),
            (
                "02 kanot 5 6\n02 segelbåt 7 ..;",
                &["7"],
                vec![
                    "cells of zeros that the file omits, as KEYS states: 6",
                    "lines of the data whose keys are no categories: 1",
                ],
            ),
            (
                "01 segelbåt 1 2 01 roddbåt 3 4 02 segelbåt 5 6 02 roddbåt 7 8;",
                &["1", "2", "3", "4", "5", "6", "7", "8"],
                vec![],
            ),
            (
                "02",
                &[],
                vec!["cells of zeros that the file omits, as KEYS states: 8"],
            ),
        ] {
            let (result, triples, report) = read_text(&format!("{head}{keys}{data}"));
            result.expect("read");
            let mut found = Vec::new();
            for triple in &triples {
                if let Some((_, value)) = triple.split_once("#Antal%20båtar> ")
                    && value.ends_with("#decimal>")
                    && let Some((number, _)) = value.trim_start_matches('"').split_once('"')
                {
                    found.push(number);
                }
            }
            assert_eq!(found, expected, "{data}");
            let found: Vec<&str> = report
                .problems
                .iter()
                .map(|one| one.message.as_str())
                .collect();
            assert_eq!(found, messages, "{data}");
        }
        let text = format!("{head}{keys}\"02\",\"roddbåt\",5,6;");
        let (_, triples, _) = read_text(&text);
        let base = "http://e.org/boats.px";
        for (property, value) in [("Hamn", "Södra hamnen"), ("Typ", "roddbåt")] {
            let triple = format!("<{base}#row=2> <{base}#{property}> \"{value}\"");
            assert!(triples.contains(&triple), "{triple}\n{triples:?}");
        }
    }

    const SMALL: &str = "MATRIX=\"a\";TITLE=\"b\";HEADING=\"h\";VALUES(\"h\")=\"p\",\"q\",\"r\",\"s\";DATA=1 2 3 4;";

    /// Returns the value of each row's category, and the messages.
    fn read_values(text: &str) -> (Vec<String>, Vec<String>) {
        let (result, triples, report) = read_text(text);
        result.expect("read");
        let mut values = Vec::new();
        for triple in &triples {
            if let Some((_, value)) = triple.split_once("#value> ")
                && value.ends_with("#decimal>")
                && let Some((number, _)) = value.trim_start_matches('"').split_once('"')
            {
                values.push(number.to_owned());
            }
        }
        let messages = report.problems.into_iter().map(|one| one.message);
        (values, messages.collect())
    }

    #[test]
    fn damaged_values_keep_their_cells() {
        let damaged = "values that are no number and no sign of a missing one: 1";
        let digits = "1".repeat(200);
        for data in [
            "1 \"\" 3 4;",
            "1 … 3 4;",
            "1;…;3;4;",
            "1 x 3 4;",
            &format!("1 {digits} 3 4;"),
        ] {
            let (values, messages) = read_values(&SMALL.replace("1 2 3 4;", data));
            assert_eq!(
                (values.join(" ").as_str(), messages),
                ("1 3 4", vec![damaged.to_owned()]),
                "{data}"
            );
        }
        let (values, _) = read_values(&SMALL.replace("1 2", "1e-5 -2.5E3"));
        assert_eq!(values, ["0.00001", "-2500", "3", "4"]);
    }

    #[test]
    fn unusual_keywords_are_read() {
        let text = SMALL.replace(
            "TITLE=\"b\";",
            "TITLE=\"b\";;UNITS=tonnes of fish;TIMEVAL(\"h\")=TLIST(A1),\"2001\";",
        );
        let (result, triples, _) = read_text(&text);
        result.expect("read");
        let triples = triples.join("\n");
        assert!(triples.contains("\"tonnes of fish\""), "{triples}");
        assert!(triples.contains("#h> \"p\"") && !triples.contains("\"2001\""));
        let long = "ä".repeat(MAX_CELL_BYTES);
        let (_, messages) = read_values(&SMALL.replace("\"q\"", &format!("\"{long}\"")));
        assert_eq!(messages, ["texts of categories cut after 10000 bytes: 1"]);
    }

    #[test]
    fn types_are_those_of_all_categories() {
        let numbers: Vec<String> = (0..600).map(|number| format!("\"{number}\"")).collect();
        let cells = "1 ".repeat(601);
        let text = format!(
            "MATRIX=\"a\";TITLE=\"b\";HEADING=\"h\";VALUES(\"h\")={},\"all\";DATA={cells};",
            numbers.join(",")
        );
        let (result, triples, report) = read_text(&text);
        result.expect("read");
        assert!(report.problems.is_empty(), "{:?}", report.problems);
        assert!(triples.join("\n").contains("#h> \"7\"\n"));
    }

    #[test]
    fn years_may_be_a_range() {
        let text = "MATRIX=\"a\";TITLE=\"b\";HEADING=\"Year\";TIMEVAL(\"Year\")=TLIST(A1,\"1999\"-\"2001\");DATA=1;2;3;";
        assert!(begins_with_px(text));
        let (result, triples, report) = read_text(text);
        result.expect("read");
        assert_eq!(report.tables[0].rows, 3, "{triples:?}");
        assert!(
            triples
                .iter()
                .any(|triple| triple.contains("#Year> \"2001\""))
        );
        let (result, ..) = read_text(&text.replace("\"1999\"-\"2001\"", "\"-1\"-\"1\""));
        let error = result.expect_err("a year before 0000");
        assert!(error.to_string().contains("has no values"), "{error}");
    }
}
