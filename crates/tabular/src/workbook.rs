//! Workbooks: XLSX, XLSB, XLS and ODS, one table a sheet.

use crate::limits::{MAX_COLUMNS, MAX_SHEETS, MAX_WORKBOOK_BYTES, MAX_WORKBOOK_PARTS_BYTES};
use crate::output::Output;
use crate::table::{FormatFacts, Rows, TablePlace, read_table};
use crate::values::CellOrigin;
use calamine::{
    Data, DataRef, ExcelDateTime, Reader, SheetType, Sheets, open_workbook_auto_from_rs,
};
use csv::StringRecord;
use lodeseek_rdf::dump::{Limits, Refusal};
use std::io::{self, Cursor, Read};

/// Reads all sheets of a workbook.
pub(crate) fn read(
    reader: impl Read,
    place: &TablePlace<'_>,
    output: &mut Output<'_>,
) -> io::Result<()> {
    let mut bytes = Vec::new();
    reader
        .take(MAX_WORKBOOK_BYTES + 1)
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_WORKBOOK_BYTES.min(output.limits().document_bytes) {
        return Err(refusal(format!(
            "a workbook of more than {MAX_WORKBOOK_BYTES} bytes"
        )));
    }
    // Before the library decompresses them.
    check_parts(&bytes, output.limits())?;
    let mut workbook =
        open_workbook_auto_from_rs(Cursor::new(bytes)).map_err(|error| match error {
            calamine::Error::Msg(_) => {
                refusal("a document of an office program that is no workbook".to_owned())
            }
            error => unreadable(error),
        })?;
    let format = FormatFacts {
        format: match &workbook {
            Sheets::Xls(_) => "XLS",
            Sheets::Xlsx(_) => "XLSX",
            Sheets::Xlsb(_) => "XLSB",
            Sheets::Ods(_) => "ODS",
        },
        is_sheet: true,
        ..FormatFacts::default()
    };
    let sheets = workbook.sheets_metadata().to_vec();
    if sheets.len() > MAX_SHEETS {
        output.problem(
            None,
            format!(
                "the workbook has {} sheets; the first {MAX_SHEETS} were read",
                sheets.len()
            ),
        );
    }
    let names: Vec<String> = sheets
        .into_iter()
        .filter(|sheet| sheet.typ == SheetType::WorkSheet)
        .map(|sheet| sheet.name)
        .take(MAX_SHEETS)
        .collect();
    for name in &names {
        let is_part = names.len() > 1 || !crate::table::is_default_name(name);
        let sheet = TablePlace {
            part: is_part.then_some(name.as_str()),
            ..place.clone()
        };
        if let Err(error) = read_sheet(&mut workbook, name, &sheet, &format, output) {
            // The other sheets may be readable.
            if error.get_ref().is_some_and(|cause| cause.is::<Refusal>()) && names.len() == 1 {
                return Err(error);
            }
            output.skip(1);
            output.problem(
                None,
                format!("the sheet {name:?} was not read to its end: {error}"),
            );
        }
    }
    Ok(())
}

fn read_sheet(
    workbook: &mut Sheets<Cursor<Vec<u8>>>,
    name: &str,
    place: &TablePlace<'_>,
    format: &FormatFacts,
    output: &mut Output<'_>,
) -> io::Result<()> {
    match workbook {
        // The size that a sheet states may be wrong by millions of cells: only the present ones are read.
        Sheets::Xlsx(workbook) => {
            let mut cells = workbook
                .worksheet_cells_reader(name)
                .map_err(|error| unreadable(error.into()))?;
            let mut rows = CellRows::new(|| match cells.next_cell() {
                Ok(cell) => {
                    Ok(cell.map(|cell| SheetCell::new(cell.get_position(), cell.get_value())))
                }
                Err(error) => Err(unreadable(error.into())),
            });
            read_table(&mut rows, place, format, output)
        }
        Sheets::Xlsb(workbook) => {
            let mut cells = workbook
                .worksheet_cells_reader(name)
                .map_err(|error| unreadable(error.into()))?;
            let mut rows = CellRows::new(|| match cells.next_cell() {
                Ok(cell) => {
                    Ok(cell.map(|cell| SheetCell::new(cell.get_position(), cell.get_value())))
                }
                Err(error) => Err(unreadable(error.into())),
            });
            read_table(&mut rows, place, format, output)
        }
        Sheets::Xls(_) | Sheets::Ods(_) => {
            let range = workbook.worksheet_range(name).map_err(unreadable)?;
            let (first_row, first_column) = range.start().unwrap_or_default();
            let mut cells = range.used_cells();
            let mut rows = CellRows::new(|| {
                Ok(cells.next().map(|(row, column, value)| {
                    // Sheets have less than 2^32 rows and columns.
                    let place = (first_row + row as u32, first_column + column as u32);
                    SheetCell::from_data(place, value)
                }))
            });
            read_table(&mut rows, place, format, output)
        }
    }
}

fn refusal(reason: String) -> io::Error {
    Refusal::Document { reason }.into()
}

fn unreadable(error: calamine::Error) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("the workbook cannot be read: {error}"),
    )
}

/// Decompresses the parts of a workbook that is a zip file, and refuses one whose parts are too large. Their stated sizes may be
/// wrong.
fn check_parts(bytes: &[u8], limits: &Limits) -> io::Result<()> {
    if !bytes.starts_with(b"PK") {
        return Ok(());
    }
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).map_err(io::Error::other)?;
    if archive.len() > limits.archive_members {
        return Err(Refusal::MemberCount {
            limit: limits.archive_members,
        }
        .into());
    }
    let limit = MAX_WORKBOOK_PARTS_BYTES.min(limits.decompressed_bytes);
    let mut left = limit;
    for index in 0..archive.len() {
        let part = match archive.by_index(index) {
            Ok(part) => part,
            Err(zip::result::ZipError::UnsupportedArchive(reason))
                if reason.contains("assword") =>
            {
                return Err(Refusal::Encrypted.into());
            }
            Err(error) => return Err(io::Error::other(error)),
        };
        let copied = io::copy(&mut part.take(left + 1), &mut io::sink())?;
        left = left
            .checked_sub(copied)
            .ok_or(Refusal::DecompressedSize { limit })?;
    }
    Ok(())
}

/// Cell of a sheet, with its row and column, beginning with 0.
struct SheetCell {
    row: u32,
    column: u32,
    text: String,
    origin: CellOrigin,
}

impl SheetCell {
    fn new((row, column): (u32, u32), value: &DataRef<'_>) -> Self {
        let origin = match value {
            DataRef::Int(_) | DataRef::Float(_) => CellOrigin::Number,
            DataRef::DateTime(value) => date_origin(value),
            DataRef::DateTimeIso(_) => CellOrigin::Date,
            _ => CellOrigin::Text,
        };
        Self {
            row,
            column,
            text: text_of(value),
            origin,
        }
    }

    fn from_data((row, column): (u32, u32), value: &Data) -> Self {
        let origin = match value {
            Data::Int(_) | Data::Float(_) => CellOrigin::Number,
            Data::DateTime(value) => date_origin(value),
            Data::DateTimeIso(_) => CellOrigin::Date,
            _ => CellOrigin::Text,
        };
        Self {
            row,
            column,
            text: text_of_data(value),
            origin,
        }
    }
}

fn date_origin(value: &ExcelDateTime) -> CellOrigin {
    if value.is_datetime() {
        CellOrigin::Date
    } else {
        CellOrigin::Number
    }
}

/// Rows of a sheet, from its cells in the order of rows.
struct CellRows<F> {
    next_cell: F,
    /// First cell of the next row.
    waiting: Option<SheetCell>,
    has_started: bool,
    row: u32,
    /// Origins of the cells of the row.
    origins: Vec<CellOrigin>,
    /// Number of columns so far.
    width: usize,
}

impl<F: FnMut() -> io::Result<Option<SheetCell>>> CellRows<F> {
    fn new(next_cell: F) -> Self {
        Self {
            next_cell,
            waiting: None,
            has_started: false,
            row: 0,
            origins: Vec::new(),
            width: 0,
        }
    }

    /// Returns the next cell with a value.
    fn next_cell_with_value(&mut self) -> io::Result<Option<SheetCell>> {
        while let Some(cell) = (self.next_cell)()? {
            if cell.text.trim().is_empty() {
                continue;
            }
            if cell.column as usize >= MAX_COLUMNS {
                return Err(Refusal::ColumnCount { limit: MAX_COLUMNS }.into());
            }
            return Ok(Some(cell));
        }
        Ok(None)
    }
}

impl<F: FnMut() -> io::Result<Option<SheetCell>>> Rows for CellRows<F> {
    fn next_row(&mut self, row: &mut StringRecord) -> io::Result<bool> {
        if !self.has_started {
            self.has_started = true;
            self.waiting = self.next_cell_with_value()?;
        }
        let Some(first) = self.waiting.take() else {
            return Ok(false);
        };
        self.row = first.row;
        self.origins.clear();
        let mut cells: Vec<String> = Vec::with_capacity(self.width);
        let mut next = Some(first);
        while let Some(cell) = next {
            if cell.row != self.row {
                self.waiting = Some(cell);
                break;
            }
            let column = cell.column as usize;
            if column >= cells.len() {
                cells.resize(column + 1, String::new());
                self.origins.resize(column + 1, CellOrigin::Text);
            }
            cells[column] = cell.text;
            self.origins[column] = cell.origin;
            next = self.next_cell_with_value()?;
        }
        // Rows end with their last value: all have the width of the widest one so far.
        self.width = self.width.max(cells.len());
        cells.resize(self.width, String::new());
        row.clear();
        for cell in &cells {
            row.push_field(cell);
        }
        Ok(true)
    }

    fn row_number(&self) -> u64 {
        u64::from(self.row) + 1
    }

    fn line(&self) -> Option<u64> {
        Some(self.row_number())
    }

    fn origins(&self) -> &[CellOrigin] {
        &self.origins
    }
}

fn text_of_data(cell: &Data) -> String {
    match cell {
        Data::Empty | Data::Error(_) => String::new(),
        Data::String(value) | Data::DateTimeIso(value) | Data::DurationIso(value) => value.clone(),
        Data::Int(value) => value.to_string(),
        Data::Float(value) => number_text(*value),
        Data::Bool(value) => value.to_string(),
        Data::DateTime(value) => date_text(value),
    }
}

fn text_of(cell: &DataRef<'_>) -> String {
    match cell {
        DataRef::Empty | DataRef::Error(_) => String::new(),
        DataRef::SharedString(value) => (*value).to_owned(),
        DataRef::String(value) | DataRef::DateTimeIso(value) | DataRef::DurationIso(value) => {
            value.clone()
        }
        DataRef::Int(value) => value.to_string(),
        DataRef::Float(value) => number_text(*value),
        DataRef::Bool(value) => value.to_string(),
        DataRef::DateTime(value) => date_text(value),
    }
}

/// Largest number up to which a double has all integers.
const MAX_EXACT_INTEGER: f64 = 9_007_199_254_740_992.0;

/// Writes a number without the noise of binary fractions: spreadsheets have 15 digits. Integers are exact.
fn number_text(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() <= MAX_EXACT_INTEGER {
        return format!("{value:.0}");
    }
    let rounded: f64 = format!("{value:.14e}").parse().unwrap_or(value);
    if rounded.abs() >= 1e-5 && rounded.abs() < 1e15 {
        rounded.to_string()
    } else {
        format!("{rounded:e}")
    }
}

/// Writes a date, a time or a duration as ISO 8601 has it, with milliseconds if there are any; a duration in days as a number.
fn date_text(value: &ExcelDateTime) -> String {
    if !value.is_datetime() {
        return number_text(value.as_f64());
    }
    let (year, month, day, hour, minute, second, millisecond) = value.to_ymd_hms_milli();
    let mut time = format!("{hour:02}:{minute:02}:{second:02}");
    if millisecond > 0 {
        time.push_str(&format!(".{millisecond:03}"));
    }
    // The numbers below 1 are times without a date.
    if (0.0..1.0).contains(&value.as_f64()) {
        return time;
    }
    if (hour, minute, second, millisecond) == (0, 0, 0, 0) {
        return format!("{year:04}-{month:02}-{day:02}");
    }
    format!("{year:04}-{month:02}-{day:02}T{time}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use calamine::ExcelDateTimeType;

    #[test]
    fn integers_and_milliseconds_are_exact() {
        assert_eq!(number_text(1_234_567_890_123_456.0), "1234567890123456");
        assert_eq!(number_text(0.1 + 0.2), "0.3");
        let date = |days: f64| {
            date_text(&ExcelDateTime::new(
                days,
                ExcelDateTimeType::DateTime,
                false,
            ))
        };
        assert_eq!(date(45292.0), "2024-01-01");
        assert_eq!(date(45292.0 + 1.0 / 24.0), "2024-01-01T01:00:00");
        assert_eq!(date(45292.0 + 0.5 / 86400.0), "2024-01-01T00:00:00.500");
    }
}
