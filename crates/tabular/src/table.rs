//! Direct mapping of a table: a row is an entity, a header a property.
//!
//! The names of the terms follow <https://www.w3.org/TR/csv2rdf/>, with IRIs in place of its blank nodes: `#row=7` is the seventh row
//! of the file, `#NAME` the property of a column.

use crate::cube::{self, Role};
use crate::descriptors::TableDescription;
use crate::iri::{encode_fragment, without_fragment};
use crate::layout::{
    Layout, column_names, detect_layout, filled_width, may_be_footnote, trimmed_cell,
};
use crate::limits::{
    MAX_CELL_BYTES, MAX_COLUMNS, MAX_FOOTNOTE_ROWS, MAX_HEADER_BYTES, MAX_SAMPLE_BYTES,
    MAX_SAMPLE_ROWS, cut,
};
use crate::output::Output;
use crate::values::{
    CellKind, CellOrigin, ColumnType, NumberFormat, cell_kind, column_type, detect_number_formats,
    lexical_form,
};
use csv::StringRecord;
use lodeseek_rdf::dump::{Refusal, TableFacts};
use lodeseek_rdf::vocab::{csvw, prov, qb, rdf, rdfs, schema};
use lodeseek_rdf::words;
use rustc_hash::FxHashSet;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::io;

/// Rows of a table, from first to last.
pub(crate) trait Rows {
    /// Reads the next row that is not empty. Returns false at the end.
    fn next_row(&mut self, row: &mut StringRecord) -> io::Result<bool>;

    /// Returns the number of the row that was read last, beginning with 1.
    fn row_number(&self) -> u64;

    /// Returns the line of the row that was read last, if the file has lines.
    fn line(&self) -> Option<u64>;

    /// Returns the origins of the cells of the row that was read last. Those that are left out are texts.
    fn origins(&self) -> &[CellOrigin] {
        &[]
    }
}

/// Names and descriptions of columns from a descriptor of the table.
#[derive(Clone, Debug, Default)]
pub(crate) struct ColumnDescription {
    /// Name as in the header.
    pub(crate) name: String,
    /// Title for people.
    pub(crate) title: Option<String>,
    /// Description.
    pub(crate) description: Option<String>,
    /// Unit.
    pub(crate) unit: Option<String>,
    /// IRI of the property that the descriptor declares.
    pub(crate) property: Option<String>,
    /// If true, the values are texts, whatever they look like.
    pub(crate) is_text: bool,
}

/// Name of the class of rows in the IRIs of a table.
const ROW: &str = "Row";
/// Name of the dialect of a file in the IRIs of a table.
pub(crate) const DIALECT: &str = "Dialect";

/// Place of a table: its file, and its name within the file.
#[derive(Clone, Debug)]
pub(crate) struct TablePlace<'a> {
    /// Address of the file.
    pub(crate) base: &'a str,
    /// Name of the file.
    pub(crate) file: &'a str,
    /// Name of the sheet or list. `None` if the file is one table.
    pub(crate) part: Option<&'a str>,
    /// Description beside the file.
    pub(crate) description: &'a TableDescription,
}

impl TablePlace<'_> {
    /// Returns the beginning of the IRIs of rows and columns.
    fn prefix(&self) -> String {
        let base = without_fragment(self.base);
        match self.part {
            Some(part) => format!("{base}#{}/", encode_fragment(part)),
            None => format!("{base}#"),
        }
    }

    /// Returns the IRI of the table.
    pub(crate) fn table(&self) -> String {
        let base = without_fragment(self.base);
        match self.part {
            Some(part) => format!("{base}#{}", encode_fragment(part)),
            None => base.to_owned(),
        }
    }

    /// Returns the IRI of the property of a column whose header no other column has.
    pub(crate) fn property(&self, header: &str) -> String {
        property_iri(&self.prefix(), header, 0, &mut FxHashSet::default())
    }

    /// Returns the title of a descriptor, or the label of the file.
    fn title(&self) -> String {
        match &self.description.title {
            Some(title) if self.part.is_none() => title.clone(),
            _ => self.label(),
        }
    }

    /// Returns the label of the rows' class: the name of the sheet, or that of the file without its suffix.
    fn label(&self) -> String {
        if let Some(part) = self.part.filter(|part| !is_default_name(part)) {
            return words(part);
        }
        words(file_stem(self.file))
    }
}

/// Returns the name of a file without folders, archives and suffixes.
pub(crate) fn file_stem(file: &str) -> &str {
    let name = file.rsplit(['/', '\\', '!']).next().unwrap_or(file);
    let name = name.split(['?', '#']).next().unwrap_or(name);
    match name.split_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem,
        _ => name,
    }
}

/// Returns true for the names that spreadsheet programs give to sheets.
pub(crate) fn is_default_name(name: &str) -> bool {
    let rest = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == ' ');
    [
        "Sheet", "Tabelle", "Feuille", "Feuil", "Hoja", "Foglio", "Planilha", "Лист",
    ]
    .iter()
    .any(|default| rest.eq_ignore_ascii_case(default))
}

/// Column of a table.
struct Column {
    /// Header; empty if there is none.
    header: String,
    property: String,
    column_type: ColumnType,
    number_format: NumberFormat,
    /// If true, the format declares the type, so that no value has another one.
    has_declared_type: bool,
    unit: Option<String>,
    title: Option<String>,
    description: Option<String>,
}

/// Facts about the format of a table's file.
#[derive(Clone, Debug, Default)]
pub(crate) struct FormatFacts {
    pub(crate) format: &'static str,
    pub(crate) encoding: Option<&'static str>,
    pub(crate) delimiter: Option<char>,
    /// If true, rows end with their last value, and say nothing about the number of columns.
    pub(crate) is_sheet: bool,
    /// Number of rows of the header, if the format determines it.
    pub(crate) header_rows: Option<usize>,
    /// Roles of the columns, if the format is that of a cube.
    pub(crate) roles: Option<Vec<Role>>,
    /// Types of the columns that the format declares. Their values are in lexical form.
    pub(crate) types: Vec<Option<ColumnType>>,
}

/// Reads a table, and adds its triples.
///
/// # Errors
/// If a row cannot be read, or the table has too many columns.
pub(crate) fn read_table(
    rows: &mut dyn Rows,
    place: &TablePlace<'_>,
    format: &FormatFacts,
    output: &mut Output<'_>,
) -> io::Result<()> {
    let mut sample = Vec::new();
    let mut row = StringRecord::new();
    // An error is returned after the rows before it are written: a damaged file is read as far as possible.
    let mut error = None;
    let mut bytes = 0;
    while sample.len() < MAX_SAMPLE_ROWS && bytes < MAX_SAMPLE_BYTES {
        match rows.next_row(&mut row) {
            Ok(true) => {
                check_width(&row)?;
                bytes += row.as_slice().len();
                sample.push(SampleRow {
                    number: rows.row_number(),
                    line: rows.line(),
                    cells: row.clone(),
                    origins: rows.origins().to_vec(),
                });
            }
            Ok(false) => break,
            Err(found) => {
                error = Some(found);
                break;
            }
        }
    }
    let mut writer = TableWriter::new(&sample, place, format, output);
    writer.write_schema();
    for row in sample.drain(..).skip(writer.layout.first_data_row()) {
        writer.push(&row.cells, &row.origins, row.number, row.line);
    }
    while error.is_none() {
        match rows.next_row(&mut row) {
            Ok(true) => {
                if let Err(wide) = check_width(&row) {
                    error = Some(wide);
                    break;
                }
                writer.push(&row, rows.origins(), rows.row_number(), rows.line());
            }
            Ok(false) => break,
            Err(found) => error = Some(found),
        }
    }
    writer.finish();
    match error {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

fn check_width(row: &StringRecord) -> io::Result<()> {
    if row.len() > MAX_COLUMNS && row.iter().skip(MAX_COLUMNS).any(|cell| !cell.is_empty()) {
        return Err(Refusal::ColumnCount { limit: MAX_COLUMNS }.into());
    }
    Ok(())
}

struct SampleRow {
    number: u64,
    line: Option<u64>,
    cells: StringRecord,
    origins: Vec<CellOrigin>,
}

/// Sampling of rows beyond a number of cells: every second row, then every fourth, and so on.
#[derive(Default)]
struct RowSampling {
    /// A row is kept if its number is a multiple of this. 0 before sampling begins.
    stride: u64,
    /// Number of rows kept with this stride.
    kept: u64,
    /// Number of rows that were left out.
    skipped: u64,
    first_row: u64,
}

/// Number of rows after which the sample becomes half as dense.
const MAX_STRIDE_ROWS: u64 = 10_000;

struct TableWriter<'w, 'a> {
    output: &'w mut Output<'a>,
    layout: Layout,
    is_sheet: bool,
    /// If false, the format has rows of data only below its header.
    may_have_footnotes: bool,
    columns: Vec<Column>,
    table: String,
    class: String,
    class_label: String,
    prefix: String,
    /// Cells that label a row.
    label_columns: Vec<usize>,
    /// Roles of the columns of a cube.
    roles: Option<Vec<Role>>,
    preamble: Vec<String>,
    /// Rows that may be footnotes, if no other row follows.
    possible_notes: Vec<SampleRow>,
    subject: String,
    buffer: String,
    sampling: RowSampling,
    facts: TableFacts,
    cut_cells: u64,
    mixed_cells: u64,
    short_rows: u64,
    long_rows: u64,
    first_ragged_line: Option<u64>,
}

impl<'w, 'a> TableWriter<'w, 'a> {
    fn new(
        sample: &[SampleRow],
        place: &TablePlace<'_>,
        format: &FormatFacts,
        output: &'w mut Output<'a>,
    ) -> Self {
        let texts = sample_texts(sample);
        let origins: Vec<&[CellOrigin]> = sample.iter().map(|row| &*row.origins).collect();
        let layout = match format.header_rows {
            Some(header_rows) => Layout {
                header_rows,
                ..Layout::default()
            },
            None => detect_layout(
                &texts,
                &detect_number_formats(&texts, &origins, format.delimiter),
            ),
        };
        let mut data: Vec<&[String]> = texts
            .iter()
            .skip(layout.first_data_row())
            .map(Vec::as_slice)
            .collect();
        // Footnotes are no cells of the first column.
        let width = declared_columns(&texts, &layout);
        let may_have_footnotes = format.header_rows.is_none();
        while may_have_footnotes
            && data.len() > 1
            && data
                .last()
                .is_some_and(|row| may_be_footnote(row.iter().map(String::as_str), width))
        {
            data.pop();
        }
        let prefix = place.prefix();
        // A format with a header of its own has a decimal point.
        let number_formats = match format.header_rows {
            Some(_) => Vec::new(),
            None => {
                // Again without the header: its texts and years are no numbers of the columns.
                let origins = origins.get(layout.first_data_row()..).unwrap_or_default();
                detect_number_formats(&data, origins, format.delimiter)
            }
        };
        let columns = build_columns(
            &texts,
            &layout,
            &data,
            &number_formats,
            &prefix,
            &place.description.columns,
            &format.types,
        );
        let label_columns = label_columns(&columns, &data);
        let headers: Vec<&str> = columns
            .iter()
            .map(|column| column.header.as_str())
            .collect();
        let roles = format.roles.clone().or_else(|| cube::sdmx_roles(&headers));
        let preamble = texts
            .iter()
            .take(layout.preamble_rows)
            .map(|row| join_cells(row))
            .filter(|text| !text.is_empty())
            .chain(place.description.description.clone())
            .collect();
        let facts = TableFacts {
            format: format.format.into(),
            name: place.part.map(str::to_owned),
            columns: if format.is_sheet {
                columns.len()
            } else {
                declared_columns(&texts, &layout)
            },
            header_rows: layout.header_rows as u64,
            records: layout.first_data_row().min(sample.len()) as u64,
            encoding: format.encoding.map(Into::into),
            delimiter: format.delimiter,
            ..TableFacts::default()
        };
        Self {
            output,
            layout,
            is_sheet: format.is_sheet,
            may_have_footnotes,
            columns,
            table: place.table(),
            class: format!("{prefix}{ROW}"),
            class_label: place.title(),
            prefix,
            label_columns,
            roles,
            preamble,
            possible_notes: Vec::new(),
            subject: String::new(),
            buffer: String::new(),
            sampling: RowSampling::default(),
            facts,
            cut_cells: 0,
            mixed_cells: 0,
            short_rows: 0,
            long_rows: 0,
            first_ragged_line: None,
        }
    }

    /// Adds the triples about the table, the class of its rows and its columns.
    fn write_schema(&mut self) {
        let Self {
            output,
            table,
            class,
            class_label,
            ..
        } = self;
        output.iri(table, rdf::TYPE, csvw::TABLE);
        output.text(table, rdfs::LABEL, class_label);
        for line in &self.preamble {
            output.text(table, rdfs::COMMENT, cut(line, MAX_CELL_BYTES));
        }
        output.text(class, rdfs::LABEL, class_label);
        output.iri(class, prov::WAS_DERIVED_FROM, table);
        if let Some(roles) = &self.roles {
            output.iri(table, rdf::TYPE, qb::DATA_SET_CLASS);
            for (column, role) in self.columns.iter().zip(roles) {
                output.iri(&column.property, rdf::TYPE, role.class());
            }
        }
        for (number, column) in (1..).zip(&self.columns) {
            let label = column.label();
            output.text(&column.property, rdfs::LABEL, &label);
            output.integer(&column.property, schema::POSITION, number);
            output.iri(&column.property, rdfs::DOMAIN, class);
            if let Some(datatype) = column.column_type.datatype() {
                output.iri(&column.property, rdfs::RANGE, datatype.as_str());
            }
            if label != column.header && !column.header.is_empty() {
                output.text(&column.property, csvw::TITLE, &column.header);
            }
            if let Some(unit) = &column.unit {
                output.text(&column.property, schema::UNIT_TEXT, unit);
            }
            if let Some(description) = &column.description {
                output.text(
                    &column.property,
                    rdfs::COMMENT,
                    cut(description, MAX_CELL_BYTES),
                );
            }
        }
    }

    /// Adds a row, after those that may be footnotes.
    fn push(&mut self, row: &StringRecord, origins: &[CellOrigin], number: u64, line: Option<u64>) {
        self.facts.records += 1;
        if self.may_have_footnotes
            && self.possible_notes.len() < MAX_FOOTNOTE_ROWS
            // Rows that wait are in memory.
            && row.as_slice().len() <= MAX_CELL_BYTES
            && may_be_footnote(row.iter(), self.columns.len())
        {
            self.possible_notes.push(SampleRow {
                number,
                line,
                cells: row.clone(),
                origins: origins.to_vec(),
            });
            return;
        }
        for row in std::mem::take(&mut self.possible_notes) {
            self.write_row(&row.cells, &row.origins, row.number, row.line);
        }
        self.write_row(row, origins, number, line);
    }

    fn write_row(
        &mut self,
        row: &StringRecord,
        origins: &[CellOrigin],
        number: u64,
        line: Option<u64>,
    ) {
        self.facts.rows += 1;
        self.count_ragged_row(row, line);
        if !self.is_kept(row) {
            self.sampling.skipped += 1;
            return;
        }
        self.subject.clear();
        // Writing to a string does not fail.
        let _ = write!(self.subject, "{}row={number}", self.prefix);
        let subject = std::mem::take(&mut self.subject);
        self.output.iri(&subject, rdf::TYPE, &self.class);
        if self.roles.is_some() {
            self.output.iri(&subject, rdf::TYPE, qb::OBSERVATION);
            self.output.iri(&subject, qb::DATA_SET, &self.table);
        }
        self.write_label(&subject, row);
        self.output.integer(&subject, csvw::ROWNUM, self.facts.rows);
        for (place, cell) in row.iter().enumerate() {
            if place < self.columns.len() {
                let origin = origins.get(place).copied().unwrap_or_default();
                self.write_cell(&subject, place, cell.trim(), origin);
            }
        }
        self.subject = subject;
    }

    fn write_cell(&mut self, subject: &str, place: usize, cell: &str, origin: CellOrigin) {
        let column = &self.columns[place];
        if cell.is_empty() {
            self.facts.empty_cells += 1;
            return;
        }
        if column.column_type == ColumnType::Text {
            let text = cut(cell, MAX_CELL_BYTES);
            self.cut_cells += u64::from(text.len() < cell.len());
            self.output.text(subject, &column.property, text);
            return;
        }
        let number_format = match origin {
            CellOrigin::Number => NumberFormat::NATIVE,
            CellOrigin::Text | CellOrigin::Date => column.number_format,
        };
        if !column.has_declared_type && cell_kind(cell, number_format) == CellKind::Missing {
            self.facts.empty_cells += 1;
            return;
        }
        let form = if column.column_type == ColumnType::DateTime && is_midnight(cell, origin) {
            Some(Cow::Owned(format!("{cell}{MIDNIGHT}")))
        } else {
            lexical_form(cell, column.column_type, number_format)
        };
        // Integers of 64 bits and distant dates are beyond what is recognized in texts.
        let form = form.or_else(|| column.has_declared_type.then_some(Cow::Borrowed(cell)));
        match form {
            Some(form) => match column.column_type.datatype() {
                Some(datatype) => {
                    self.output
                        .typed_literal(subject, &column.property, &form, datatype)
                }
                None => self.output.iri(subject, &column.property, &form),
            },
            None => {
                self.mixed_cells += 1;
                let text = cut(cell, MAX_CELL_BYTES);
                self.cut_cells += u64::from(text.len() < cell.len());
                self.output.text(subject, &column.property, text);
            }
        }
    }

    fn write_label(&mut self, subject: &str, row: &StringRecord) {
        self.buffer.clear();
        for place in &self.label_columns {
            let cell = row.get(*place).map(str::trim).unwrap_or_default();
            if cell.is_empty() {
                continue;
            }
            if !self.buffer.is_empty() {
                self.buffer.push_str(", ");
            }
            self.buffer.push_str(cut(cell, MAX_HEADER_BYTES));
        }
        if !self.buffer.is_empty() {
            self.output.text(subject, rdfs::LABEL, &self.buffer);
        }
    }

    fn count_ragged_row(&mut self, row: &StringRecord, line: Option<u64>) {
        if self.is_sheet || self.layout.header_rows == 0 || row.len() == self.facts.columns {
            return;
        }
        if row.len() < self.facts.columns {
            self.short_rows += 1;
        } else if row
            .iter()
            .skip(self.facts.columns)
            .any(|cell| !cell.is_empty())
        {
            self.long_rows += 1;
        } else {
            return;
        }
        self.first_ragged_line = self.first_ragged_line.or(line);
    }

    /// Returns true if a row becomes triples: all rows do, up to a number of cells.
    fn is_kept(&mut self, row: &StringRecord) -> bool {
        let cells = row.len() as u64 + 2;
        let sampling = &mut self.sampling;
        if sampling.stride == 0 {
            if self.output.cells_left > cells {
                self.output.cells_left -= cells;
                return true;
            }
            // The number of rows is unknown here, so that the sample becomes sparser as it grows.
            sampling.stride = 2;
            sampling.first_row = self.facts.rows;
        }
        if !self.facts.rows.is_multiple_of(sampling.stride) {
            return false;
        }
        sampling.kept += 1;
        if sampling.kept == MAX_STRIDE_ROWS {
            sampling.kept = 0;
            sampling.stride *= 2;
        }
        true
    }

    fn finish(mut self) {
        let notes = std::mem::take(&mut self.possible_notes);
        // A list of texts is no table with footnotes only.
        if self.facts.rows == 0 {
            for row in &notes {
                self.write_row(&row.cells, &row.origins, row.number, row.line);
            }
        } else {
            for row in &notes {
                let text = join_cells(&row.cells.iter().map(str::to_owned).collect::<Vec<_>>());
                self.output
                    .text(&self.table, rdfs::COMMENT, cut(&text, MAX_CELL_BYTES));
            }
        }
        self.report_problems();
        self.facts.mixed_cells = self.mixed_cells;
        self.facts.sampled_rows = self.sampling.skipped;
        let dialect = format!("{}{DIALECT}", self.prefix);
        self.output
            .describe_facts(&self.table, &dialect, &self.facts);
        self.output.facts(self.facts);
    }

    fn report_problems(&mut self) {
        let columns = self.facts.columns;
        let mut problems = Vec::new();
        if self.short_rows > 0 {
            problems.push((
                self.first_ragged_line,
                format!(
                    "rows with fewer cells than the {columns} columns of the header: {}; the others are empty",
                    self.short_rows
                ),
            ));
        }
        if self.long_rows > 0 {
            problems.push((
                self.first_ragged_line,
                format!(
                    "rows with more cells than the {columns} columns of the header: {}; the others have no name, or are in the \
                     wrong columns",
                    self.long_rows
                ),
            ));
        }
        if self.mixed_cells > 0 {
            problems.push((
                None,
                format!(
                    "cells that do not have the type of their column: {}; they are texts",
                    self.mixed_cells
                ),
            ));
        }
        if self.cut_cells > 0 {
            problems.push((
                None,
                format!("cells cut after {MAX_CELL_BYTES} bytes: {}", self.cut_cells),
            ));
        }
        if self.sampling.skipped > 0 {
            problems.push((
                None,
                format!(
                    "{} of {} rows are not in the graph: from row {} on, a sample was taken that becomes sparser",
                    self.sampling.skipped, self.facts.rows, self.sampling.first_row
                ),
            ));
        }
        for (line, message) in problems {
            self.output.problem(line, message);
        }
    }
}

impl Column {
    /// Returns the label of the property: the title of a descriptor, or the words of the header.
    fn label(&self) -> String {
        match &self.title {
            Some(title) => title.clone(),
            None => header_label(&self.header, &self.property),
        }
    }
}

/// Returns the words of a header. A header with spaces, or of up to three characters, stays as it is.
pub(crate) fn header_label(header: &str, property: &str) -> String {
    if header.is_empty() {
        return words(property.rsplit(['#', '/']).next().unwrap_or(property));
    }
    if header.contains(char::is_whitespace) || header.chars().count() <= 3 {
        return header.to_owned();
    }
    words(header)
}

/// Time of a date that a workbook stores without one, beside others with times.
const MIDNIGHT: &str = "T00:00:00";

/// Returns true for a stored date whose time is midnight, or which has none.
fn is_midnight(cell: &str, origin: CellOrigin) -> bool {
    origin == CellOrigin::Date && cell_kind(cell, NumberFormat::NATIVE) == CellKind::Date
}

/// Returns the texts of the cells of a sample. Stored dates in a column of dates with times have one, too.
fn sample_texts(sample: &[SampleRow]) -> Vec<Vec<String>> {
    let mut has_times = Vec::new();
    for row in sample {
        has_times.resize(row.cells.len().max(has_times.len()), false);
        for ((cell, origin), has_time) in row.cells.iter().zip(&row.origins).zip(&mut has_times) {
            *has_time |= *origin == CellOrigin::Date
                && cell_kind(cell, NumberFormat::NATIVE) == CellKind::DateTime;
        }
    }
    let mut texts = Vec::with_capacity(sample.len());
    for row in sample {
        let mut cells: Vec<String> = row.cells.iter().map(str::to_owned).collect();
        for ((cell, origin), has_time) in cells.iter_mut().zip(&row.origins).zip(&has_times) {
            if *has_time && is_midnight(cell, *origin) {
                cell.push_str(MIDNIGHT);
            }
        }
        texts.push(cells);
    }
    texts
}

fn join_cells(row: &[String]) -> String {
    let cells: Vec<&str> = row
        .iter()
        .map(|cell| cell.trim())
        .filter(|cell| !cell.is_empty())
        .collect();
    cells.join(" ")
}

/// Returns the number of columns of the header, or of the first row if there is none.
fn declared_columns(rows: &[Vec<String>], layout: &Layout) -> usize {
    match rows.get(layout.preamble_rows) {
        Some(row) => row.len(),
        None => 0,
    }
}

fn build_columns(
    rows: &[Vec<String>],
    layout: &Layout,
    data: &[&[String]],
    number_formats: &[NumberFormat],
    prefix: &str,
    descriptions: &[ColumnDescription],
    types: &[Option<ColumnType>],
) -> Vec<Column> {
    let mut count = declared_columns(rows, layout);
    for row in data {
        count = count.max(filled_width(row));
    }
    let count = count.min(MAX_COLUMNS);
    let header: Vec<&[String]> = rows
        .iter()
        .skip(layout.preamble_rows)
        .take(layout.header_rows)
        .map(Vec::as_slice)
        .collect();
    let units = layout
        .has_units
        .then(|| rows.get(layout.first_data_row() - 1))
        .flatten();
    let mut used = FxHashSet::default();
    let mut columns = Vec::with_capacity(count);
    for (place, name) in column_names(&header, count).into_iter().enumerate() {
        let header = cut(&name, MAX_HEADER_BYTES).to_owned();
        let description = descriptions.iter().find(|found| found.name == header);
        let cells = data
            .iter()
            .filter_map(|row| row.get(place).map(String::as_str));
        let declared_type = types.get(place).copied().flatten();
        let number_format = number_formats.get(place).copied().unwrap_or_default();
        let column_type = match declared_type {
            _ if description.is_some_and(|found| found.is_text) => ColumnType::Text,
            // Formats have no type of IRIs.
            Some(ColumnType::Text) => match column_type(cells, number_format) {
                ColumnType::Iri => ColumnType::Iri,
                _ => ColumnType::Text,
            },
            Some(declared) => declared,
            None => column_type(cells, number_format),
        };
        let unit = units
            .and_then(|units| units.get(place))
            .map(|unit| unit.trim().to_owned())
            .filter(|unit| !unit.is_empty());
        let declared = description.and_then(|found| found.property.clone());
        columns.push(Column {
            property: declared.unwrap_or_else(|| property_iri(prefix, &header, place, &mut used)),
            column_type,
            number_format,
            has_declared_type: declared_type == Some(column_type),
            unit: unit.or_else(|| description.and_then(|found| found.unit.clone())),
            title: description.and_then(|found| found.title.clone()),
            description: description.and_then(|found| found.description.clone()),
            header,
        });
    }
    columns
}

/// Returns the IRI of a column: the header itself if it is an IRI, else a fragment that no other column has.
fn property_iri(prefix: &str, header: &str, place: usize, used: &mut FxHashSet<String>) -> String {
    if (header.starts_with("http://") || header.starts_with("https://"))
        && oxiri::Iri::parse(header).is_ok()
    {
        return header.to_owned();
    }
    let name = if header.is_empty() {
        format!("column_{}", place + 1)
    } else {
        encode_fragment(header)
    };
    let mut iri = format!("{prefix}{name}");
    let mut number = 2;
    while is_reserved(&iri[prefix.len()..]) || !used.insert(iri.clone()) {
        iri = format!("{prefix}{name}_{number}");
        number += 1;
    }
    iri
}

/// Returns true for the names of the class of rows and of the dialect.
fn is_reserved(name: &str) -> bool {
    name == ROW || name == DIALECT
}

/// Maximum number of columns that label a row together.
const MAX_LABEL_COLUMNS: usize = 3;

/// Returns the columns that label a row: the first one with unique texts in words, else the first one with unique texts, else the
/// first columns that are unique together.
fn label_columns(columns: &[Column], data: &[&[String]]) -> Vec<usize> {
    let mut unique_code = None;
    for (place, column) in columns.iter().enumerate() {
        if column.column_type != ColumnType::Text || !is_unique(data, &[place]) {
            continue;
        }
        if has_words(data, place) {
            return vec![place];
        }
        unique_code = unique_code.or(Some(place));
    }
    if let Some(place) = unique_code {
        return vec![place];
    }
    let mut key = Vec::new();
    for place in 0..columns.len().min(MAX_LABEL_COLUMNS) {
        key.push(place);
        if is_unique(data, &key) {
            return key;
        }
    }
    key.truncate(2);
    key
}

/// Returns true if no two rows have the same texts in some columns, and most rows have one there.
fn is_unique(data: &[&[String]], places: &[usize]) -> bool {
    let mut seen = FxHashSet::default();
    let mut empty = 0;
    for row in data {
        let key: Vec<&str> = places
            .iter()
            .map(|place| trimmed_cell(row, *place))
            .collect();
        if key.iter().all(|cell| cell.is_empty()) {
            empty += 1;
        } else if !seen.insert(key) {
            return false;
        }
    }
    !seen.is_empty() && 10 * empty <= data.len()
}

/// Maximum size of a cell that counts as words, in bytes.
const MAX_WORDS_BYTES: usize = 200;

/// Returns true if most cells of a column have a lower-case letter, or a letter of a script without cases, and are short.
fn has_words(data: &[&[String]], place: usize) -> bool {
    let (mut in_words, mut all) = (0usize, 0usize);
    for row in data {
        let cell = trimmed_cell(row, place);
        if cell.is_empty() {
            continue;
        }
        all += 1;
        let has_letter = cell.chars().any(|c| c.is_alphabetic() && !c.is_uppercase());
        let has_digit = cell.chars().any(|c| c.is_ascii_digit()) && !cell.contains(' ');
        in_words += usize::from(has_letter && !has_digit && cell.len() <= MAX_WORDS_BYTES);
    }
    2 * in_words > all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_sink::Collected;
    use lodeseek_rdf::dump::{FileReport, Limits};

    /// Reads a table of which `cells` cells become triples.
    fn read(text: &str, cells: u64) -> (Vec<String>, FileReport) {
        let mut report = FileReport::unreadable("trees.csv", "");
        report.problems.clear();
        let mut sink = Collected::default();
        let limits = Limits::default();
        let mut output = Output::new(&mut sink, &mut report, &limits);
        output.cells_left = cells;
        let place = TablePlace {
            base: "http://e.org/trees.csv",
            file: "trees.csv",
            part: None,
            description: &TableDescription::default(),
        };
        crate::delimited::read(text.as_bytes(), None, &place, &mut output).expect("read");
        (sink.0, report)
    }

    /// Rows whose cells a workbook stores as numbers (`#1.5`), dates (`@2024-01-01`) or texts.
    struct StoredRows {
        rows: Vec<&'static str>,
        next: usize,
        origins: Vec<CellOrigin>,
    }

    impl Rows for StoredRows {
        fn next_row(&mut self, row: &mut StringRecord) -> io::Result<bool> {
            row.clear();
            self.origins.clear();
            let Some(cells) = self.rows.get(self.next) else {
                return Ok(false);
            };
            self.next += 1;
            for cell in cells.split('|') {
                self.origins.push(match cell.as_bytes()[0] {
                    b'#' => CellOrigin::Number,
                    b'@' => CellOrigin::Date,
                    _ => CellOrigin::Text,
                });
                row.push_field(cell.trim_start_matches(['#', '@']));
            }
            Ok(true)
        }

        fn row_number(&self) -> u64 {
            self.next as u64
        }

        fn line(&self) -> Option<u64> {
            None
        }

        fn origins(&self) -> &[CellOrigin] {
            &self.origins
        }
    }

    #[test]
    fn stored_numbers_and_dates_keep_their_values() {
        let mut rows = StoredRows {
            rows: vec![
                "seen|price|lat",
                "@2024-01-01|1,50|#52.517",
                "@2024-01-01T01:00:00|2,75|#50.735",
                "@2024-01-02|#3.125|#54.323",
            ],
            next: 0,
            origins: Vec::new(),
        };
        let mut report = FileReport::unreadable("trees.xlsx", "");
        let mut sink = Collected::default();
        let limits = Limits::default();
        let mut output = Output::new(&mut sink, &mut report, &limits);
        let place = TablePlace {
            base: "http://e.org/t",
            file: "t",
            part: None,
            description: &TableDescription::default(),
        };
        read_table(&mut rows, &place, &FormatFacts::default(), &mut output).expect("read");
        for (subject, property, value, datatype) in [
            ("row=2", "lat", "52.517", "decimal"),
            ("row=2", "seen", "2024-01-01T00:00:00", "dateTime"),
            ("row=4", "seen", "2024-01-02T00:00:00", "dateTime"),
        ] {
            let triple = format!(
                "<http://e.org/t#{subject}> <http://e.org/t#{property}> \"{value}\"^^<http://www.w3.org/2001/XMLSchema#{datatype}>"
            );
            assert!(sink.0.contains(&triple), "{triple}\n{}", sink.0.join("\n"));
        }
    }

    #[test]
    fn rows_become_entities() {
        let text = "Trees of the park,,,\n\ncode,treeName,height,seen\nq1,Royal Oak,21.5,2024-01-02\nu2,Wych Elm,18,NA\nf3,Ash,tall,2024-01-05\nSource: park office,,,\n";
        let (triples, report) = read(text, u64::MAX);
        let has = |triple: &str| triples.iter().any(|found| found == triple);
        for triple in [
            "<http://e.org/trees.csv> <http://www.w3.org/2000/01/rdf-schema#comment> \"Trees of the park\"",
            "<http://e.org/trees.csv> <http://www.w3.org/2000/01/rdf-schema#comment> \"Source: park office\"",
            "<http://e.org/trees.csv#treeName> <http://www.w3.org/2000/01/rdf-schema#label> \"tree Name\"",
            "<http://e.org/trees.csv#treeName> <http://www.w3.org/ns/csvw#title> \"treeName\"",
            "<http://e.org/trees.csv#row=3> <http://www.w3.org/2000/01/rdf-schema#label> \"Royal Oak\"",
            "<http://e.org/trees.csv#row=4> <http://www.w3.org/ns/csvw#rownum> \"2\"^^<http://www.w3.org/2001/XMLSchema#integer>",
            "<http://e.org/trees.csv#row=5> <http://e.org/trees.csv#seen> \"2024-01-05\"^^<http://www.w3.org/2001/XMLSchema#date>",
            // One text makes the column one of texts.
            "<http://e.org/trees.csv#row=3> <http://e.org/trees.csv#height> \"21.5\"",
        ] {
            assert!(has(triple), "{triple}\n{}", triples.join("\n"));
        }
        let facts = &report.tables[0];
        assert_eq!((facts.rows, facts.columns, facts.records), (3, 4, 6));
        assert_eq!((facts.empty_cells, facts.mixed_cells), (1, 0));
    }

    #[test]
    fn large_tables_are_sampled() {
        let mut text = "name\n".to_owned();
        for number in 1..=2000 {
            let _ = writeln!(text, "tree {number}");
        }
        // A row counts as its cells and two more.
        let (triples, report) = read(&text, 3 * 100 + 1);
        let labels = triples
            .iter()
            .filter(|triple| {
                triple.starts_with("<http://e.org/trees.csv#row=") && triple.contains("#label>")
            })
            .count();
        assert_eq!(labels, 100 + 950);
        assert_eq!(
            (report.tables[0].rows, report.tables[0].sampled_rows),
            (2000, 950)
        );
        assert!(
            report.problems[0]
                .message
                .contains("950 of 2000 rows are not in the graph: from row 101"),
            "{:?}",
            report.problems
        );
    }

    #[test]
    fn columns_have_different_properties() {
        let (triples, report) = read("Row,a,a,\n1,2,3,4\n5,6,7,8,9\n", u64::MAX);
        for property in ["Row_2", "a", "a_2", "column_4", "column_5"] {
            let iri = format!("<http://e.org/trees.csv#{property}>");
            assert!(
                triples.iter().any(|triple| triple.contains(&iri)),
                "{property}: {triples:?}"
            );
        }
        assert!(
            report.problems[0]
                .to_string()
                .contains("line 3: rows with more cells"),
            "{:?}",
            report.problems
        );
    }

    #[test]
    fn labels_are_unique_texts_in_words() {
        let label = |text: &str| {
            let (triples, _) = read(text, u64::MAX);
            let found = triples.into_iter().find(|triple| {
                triple.starts_with("<http://e.org/trees.csv#row=2>") && triple.contains("#label>")
            });
            found.and_then(|triple| Some(triple.rsplit_once("> ")?.1.to_owned()))
        };
        for (text, expected) in [
            ("id,iso,name\n1,DE,Germany\n2,FR,France\n", "\"Germany\""),
            ("id,iso\n1,DE\n2,FR\n", "\"DE\""),
            (
                "country,year,n\nItaly,2001,5\nItaly,2002,6\n",
                "\"Italy, 2001\"",
            ),
        ] {
            assert_eq!(label(text).as_deref(), Some(expected), "{text}");
        }
    }
}
