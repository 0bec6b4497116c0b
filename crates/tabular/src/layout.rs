//! Layout of a table: titles above the header, rows of the header, a row of units, footnotes.

use crate::limits::MAX_PREAMBLE_ROWS;
use crate::values::{CellKind, ColumnType, NumberFormat, cell_kind, column_type, is_missing_mark};

/// Rows of a table that are no data.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Layout {
    /// Number of rows above the header: titles, sources, notes.
    pub(crate) preamble_rows: usize,
    /// Number of rows of the header. 0 if the table has none.
    pub(crate) header_rows: usize,
    /// If true, a row of units follows the header.
    pub(crate) has_units: bool,
}

impl Layout {
    /// Returns the number of rows above the data.
    pub(crate) fn first_data_row(&self) -> usize {
        self.preamble_rows + self.header_rows + usize::from(self.has_units)
    }
}

/// Determines the layout from the first rows of a table. `formats` are the notations of the columns.
pub(crate) fn detect_layout<R: AsRef<[String]>>(rows: &[R], formats: &[NumberFormat]) -> Layout {
    let rows: Vec<&[String]> = rows.iter().map(AsRef::as_ref).collect();
    let width = typical_width(&rows);
    let preamble_rows = preamble_rows(&rows, width, formats);
    let Some(header) = rows.get(preamble_rows).copied() else {
        return Layout::default();
    };
    let data = &rows[preamble_rows + 1..];
    if !is_header(header, data, formats) {
        return Layout {
            preamble_rows,
            ..Layout::default()
        };
    }
    let mut layout = Layout {
        preamble_rows,
        header_rows: 1,
        has_units: false,
    };
    // Two rows of data at least: otherwise nothing tells a second header from the data.
    while layout.header_rows < 3 && data.len() > layout.header_rows + 1 {
        let above = rows[preamble_rows + layout.header_rows - 1];
        let (next, below) = (data[layout.header_rows - 1], &data[layout.header_rows..]);
        if continues_header(above, next, below, formats) {
            layout.header_rows += 1;
        } else {
            break;
        }
    }
    let next = data.get(layout.header_rows - 1);
    let below = data.get(layout.header_rows..).unwrap_or_default();
    layout.has_units = next.is_some_and(|next| is_units_row(next, below, formats));
    layout
}

fn count_filled_cells(row: &[String]) -> usize {
    row.iter().filter(|cell| !cell.trim().is_empty()).count()
}

/// Returns the number of cells up to the last filled one; 0 if all are empty.
pub(crate) fn filled_width(row: &[String]) -> usize {
    match row.iter().rposition(|cell| !cell.trim().is_empty()) {
        Some(last) => last + 1,
        None => 0,
    }
}

/// Returns a cell without white space around it; an empty text if the row is shorter.
pub(crate) fn trimmed_cell(row: &[String], place: usize) -> &str {
    match row.get(place) {
        Some(cell) => cell.trim(),
        None => "",
    }
}

/// Returns the most frequent number of cells up to the last filled one.
fn typical_width(rows: &[&[String]]) -> usize {
    let mut counts = std::collections::BTreeMap::new();
    for row in rows {
        *counts.entry(filled_width(row)).or_insert(0usize) += 1;
    }
    let mut best = (0, 0);
    for (width, count) in counts {
        // Of equally frequent widths, the largest one.
        if width > 0 && count >= best.1 {
            best = (width, count);
        }
    }
    best.0
}

/// Returns the number of rows above the header: those with few filled cells in comparison to the table.
fn preamble_rows(rows: &[&[String]], width: usize, formats: &[NumberFormat]) -> usize {
    // In a list of texts, a title cannot be distinguished from a value.
    if width < 2 {
        return 0;
    }
    let enough = (width / 3).max(2);
    for (place, row) in rows.iter().enumerate().take(MAX_PREAMBLE_ROWS + 1) {
        let is_comment = row
            .first()
            .is_some_and(|cell| cell.starts_with('#') && row.len() < width);
        let has_corner =
            count_filled_cells(row) + 1 >= width && has_empty_corner(row, &rows[place + 1..]);
        if is_comment || (count_filled_cells(row) < enough && !has_corner) {
            continue;
        }
        if !is_title(row, &rows[place + 1..], width, formats) {
            return place;
        }
    }
    // No row begins a table: titles would then be all of it.
    0
}

/// Returns true if the first cell of a row is empty, but not the one below it: the header of row names.
fn has_empty_corner(row: &[String], below: &[&[String]]) -> bool {
    first_cell(row).is_empty()
        && below
            .first()
            .is_some_and(|next| !first_cell(next).is_empty())
}

fn first_cell(row: &[String]) -> &str {
    trimmed_cell(row, 0)
}

/// Returns true if a row has two cells, such as a name and a value, above a header of all columns, of which two or more have types.
fn is_title(row: &[String], below: &[&[String]], width: usize, formats: &[NumberFormat]) -> bool {
    if !is_pair(row, width) {
        return false;
    }
    let Some(place) = below.iter().position(|next| !is_pair(next, width)) else {
        return false;
    };
    let header = below[place];
    let data = &below[place + 1..];
    let evidence = HeaderEvidence::new(header, data, formats);
    let has_names = if evidence.values == 0 {
        evidence.names >= 2
    } else {
        evidence.texts > evidence.repeated
            && evidence.values >= 2
            && are_names(header, data, formats)
    };
    place < MAX_PREAMBLE_ROWS
        && count_filled_cells(header) == width
        && header.iter().enumerate().all(|(place, cell)| {
            let kind = cell_kind(cell, format_of(formats, place));
            matches!(kind, CellKind::Empty | CellKind::Text | CellKind::Integer)
        })
        && has_names
}

/// Returns true if only the first two cells of a row are filled, in a table of more columns.
fn is_pair(row: &[String], width: usize) -> bool {
    width > 2
        && count_filled_cells(row) == 2
        && row.iter().take(2).all(|cell| !cell.trim().is_empty())
}

fn format_of(formats: &[NumberFormat], place: usize) -> NumberFormat {
    formats.get(place).copied().unwrap_or_default()
}

/// Returns the cells of a column.
fn cells_of<'r>(rows: &'r [&[String]], place: usize) -> impl Iterator<Item = &'r str> + Clone {
    rows.iter()
        .filter_map(move |row| row.get(place).map(|cell| cell.trim()))
}

/// Returns the type of the cells of a column.
fn type_of(rows: &[&[String]], place: usize, formats: &[NumberFormat]) -> ColumnType {
    column_type(cells_of(rows, place), format_of(formats, place))
}

/// Numbers of cells of a row that are, or are not, values of the columns below it.
#[derive(Default)]
struct HeaderEvidence {
    /// Cells that cannot be values of their columns.
    names: usize,
    /// Cells that may be values of their columns, which have types.
    values: usize,
    /// Texts above columns of texts.
    texts: usize,
    /// Those of them that are also values below.
    repeated: usize,
}

impl HeaderEvidence {
    fn new(header: &[String], data: &[&[String]], formats: &[NumberFormat]) -> Self {
        let mut found = Self::default();
        for (place, cell) in header.iter().enumerate() {
            let kind = cell_kind(cell, format_of(formats, place));
            let column = type_of(data, place, formats);
            match (kind, column) {
                (CellKind::Empty, _) => (),
                (CellKind::Text | CellKind::Missing, ColumnType::Text) => {
                    found.texts += 1;
                    let cell = cell.trim();
                    found.repeated += usize::from(cells_of(data, place).any(|value| value == cell));
                }
                (CellKind::Text | CellKind::Missing, _) => found.names += 1,
                // An IRI is the property of a column; days and months are the names of columns of numbers.
                (CellKind::Iri, ColumnType::Text) => {
                    let is_value = cells_of(data, place)
                        .any(|value| cell_kind(value, NumberFormat::POINT) == CellKind::Iri);
                    found.names += usize::from(!is_value);
                }
                (CellKind::Iri, column) if column != ColumnType::Iri => found.names += 1,
                (CellKind::Date | CellKind::DateTime | CellKind::YearMonth, column)
                    if column.is_numeric() =>
                {
                    found.names += 1;
                }
                (_, ColumnType::Text) => (),
                _ => found.values += 1,
            }
        }
        found
    }
}

/// Returns true if a row names the columns below it.
fn is_header(header: &[String], data: &[&[String]], formats: &[NumberFormat]) -> bool {
    if data.is_empty() {
        return header
            .iter()
            .enumerate()
            .any(|(place, cell)| is_name(cell, format_of(formats, place)));
    }
    let evidence = HeaderEvidence::new(header, data, formats);
    if evidence.names > 0 {
        return true;
    }
    // Years and other numbers may be names of columns, if other columns have names in words, or the first one has row names.
    if evidence.values > 0 {
        return (evidence.texts > evidence.repeated || has_empty_corner(header, data))
            && are_names(header, data, formats);
    }
    evidence.texts > 0 && 2 * evidence.repeated <= evidence.texts
}

/// Returns true if the numbers of a row differ from those of the columns below it: they are years, and most others are none, or
/// their steps are equal, and those of other rows are not.
fn are_names(header: &[String], data: &[&[String]], formats: &[NumberFormat]) -> bool {
    let mut places = Vec::new();
    for (place, cell) in header.iter().enumerate() {
        let kind = cell_kind(cell, format_of(formats, place));
        if type_of(data, place, formats).is_numeric() && kind != CellKind::Empty {
            places.push(place);
        }
    }
    let names = numbers_of(header, &places);
    if names.is_empty() || names.len() < places.len() {
        return false;
    }
    let mut sorted = names.clone();
    sorted.sort_by(f64::total_cmp);
    sorted.dedup();
    // Equal years are values, not names.
    if sorted.len() == names.len() && are_years_above(&names, data, &places) {
        return true;
    }
    let similar = data
        .iter()
        .filter(|row| has_equal_steps(&numbers_of(row, &places)));
    has_equal_steps(&names) && 4 * similar.count() <= data.len()
}

/// Returns true if numbers are years, and most of those below are not.
fn are_years_above(names: &[f64], data: &[&[String]], places: &[usize]) -> bool {
    let values: Vec<f64> = data
        .iter()
        .flat_map(|row| numbers_of(row, places))
        .collect();
    let years = values.iter().copied().filter(|value| is_year(*value));
    !names.is_empty() && names.iter().copied().all(is_year) && 2 * years.count() < values.len()
}

fn numbers_of(row: &[String], places: &[usize]) -> Vec<f64> {
    places
        .iter()
        .filter_map(|place| row.get(*place)?.trim().parse().ok())
        .collect()
}

fn is_year(number: f64) -> bool {
    number.fract() == 0.0 && (1800.0..=2100.0).contains(&number)
}

/// Returns true for three numbers or more at equal distances, and for two successive years.
fn has_equal_steps(numbers: &[f64]) -> bool {
    let [first, second, rest @ ..] = numbers else {
        return false;
    };
    let step = second - first;
    if rest.is_empty() {
        return step.abs() == 1.0 && is_year(*first) && is_year(*second);
    }
    step != 0.0
        && numbers
            .windows(2)
            .all(|pair| (pair[1] - pair[0] - step).abs() <= 1e-9 * step.abs())
}

/// Returns true for a text that is neither a number nor a date.
fn is_name(cell: &str, format: NumberFormat) -> bool {
    matches!(cell_kind(cell, format), CellKind::Text | CellKind::Missing)
}

/// Returns true if all integers of a row are years, and most numbers below them are not.
fn has_years_above(row: &[String], below: &[&[String]], formats: &[NumberFormat]) -> bool {
    let mut places = Vec::new();
    for (place, cell) in row.iter().enumerate() {
        if cell_kind(cell, format_of(formats, place)) == CellKind::Integer {
            places.push(place);
        }
    }
    are_years_above(&numbers_of(row, &places), below, &places)
}

/// Returns true if a row continues the header above it: the header has gaps, which this row fills with texts, most of which occur
/// nowhere below. It has no value of a typed column, and no row name below the header of the row names.
fn continues_header(
    above: &[String],
    next: &[String],
    below: &[&[String]],
    formats: &[NumberFormat],
) -> bool {
    // A gap in the first column is that of row names.
    let (mut gaps, mut filled_gaps, mut recurring) = (0usize, 0usize, 0usize);
    let mut has_typed_column = false;
    let begins_empty = first_cell(next).is_empty();
    let has_years =
        (begins_empty || first_cell(above).is_empty()) && has_years_above(next, below, formats);
    for (place, cell) in next.iter().enumerate() {
        let cell = cell.trim();
        let kind = cell_kind(cell, format_of(formats, place));
        let is_year = has_years && kind == CellKind::Integer;
        if type_of(below, place, formats) != ColumnType::Text {
            has_typed_column = true;
            if !is_year && !matches!(kind, CellKind::Empty | CellKind::Text) {
                return false;
            }
        }
        let is_gap = above.get(place).is_none_or(|cell| cell.trim().is_empty());
        if place == 0 || !is_gap {
            continue;
        }
        gaps += 1;
        if cell.is_empty() {
            continue;
        }
        if !is_year && !matches!(kind, CellKind::Text | CellKind::Missing) {
            return false;
        }
        filled_gaps += 1;
        recurring += usize::from(cells_of(below, place).any(|value| value == cell));
    }
    let is_row_name = !begins_empty
        && !first_cell(above).is_empty()
        && type_of(below, 0, formats) == ColumnType::Text;
    gaps > 0
        && 2 * filled_gaps > gaps
        && 2 * recurring <= filled_gaps
        && (has_typed_column || begins_empty)
        && !is_row_name
}

/// Returns true if a row below the header has units in place of the numbers of the columns, and no other values.
fn is_units_row(row: &[String], below: &[&[String]], formats: &[NumberFormat]) -> bool {
    if below.len() < 2 {
        return false;
    }
    let mut units: Vec<&str> = Vec::new();
    let (mut numeric, mut without_unit) = (0usize, 0usize);
    // Cells that a row of data hardly has.
    let mut has_other_mark = false;
    for (place, cell) in row.iter().enumerate() {
        let cell = cell.trim();
        let column = type_of(below, place, formats);
        let has_numbers = column.is_numeric() || is_mostly_numeric(below, place, formats);
        numeric += usize::from(has_numbers);
        if cell.is_empty() {
            has_other_mark |= cells_of(below, place).any(|cell| !cell.is_empty());
        } else if is_dash(cell) || (has_numbers && cell == "1") {
            has_other_mark = true;
            without_unit += usize::from(has_numbers);
        } else if is_unit(cell) && (has_numbers || is_bracketed(cell)) {
            has_other_mark |= is_bracketed(cell);
            if has_numbers {
                units.push(cell);
            }
        } else if column != ColumnType::Text && !has_numbers && is_date_pattern(cell) {
            has_other_mark = true;
        } else {
            return false;
        }
    }
    if units.is_empty() || 2 * (units.len() + without_unit) < numeric {
        return false;
    }
    // Without a gap or mark, equal words such as "unknown" are values.
    let are_different = units.iter().any(|unit| *unit != units[0]);
    has_other_mark || (units.len() > 1 && (are_different || units[0].chars().count() <= 3))
}

/// Returns true if half of the cells of a column are numbers. The others may be marks such as "<0.1".
fn is_mostly_numeric(rows: &[&[String]], place: usize, formats: &[NumberFormat]) -> bool {
    let (mut numbers, mut all) = (0usize, 0usize);
    for cell in cells_of(rows, place) {
        let kind = cell_kind(cell, format_of(formats, place));
        all += usize::from(kind != CellKind::Empty);
        numbers += usize::from(matches!(
            kind,
            CellKind::Integer | CellKind::Decimal | CellKind::Double
        ));
    }
    2 * numbers >= all
}

fn is_dash(cell: &str) -> bool {
    matches!(cell, "-" | "–" | "—")
}

fn is_bracketed(cell: &str) -> bool {
    (cell.starts_with('[') && cell.ends_with(']')) || (cell.starts_with('(') && cell.ends_with(')'))
}

/// Returns true for a text that may be a unit: a word or sign, which may follow a power of ten.
fn is_unit(cell: &str) -> bool {
    let inner = if is_bracketed(cell) {
        cell[1..cell.len() - 1].trim()
    } else {
        cell
    };
    // "k.A." and "n.d." are marks for missing values.
    if inner.chars().count() > 20
        || inner.matches('.').count() > 1
        || inner.parse::<f64>().is_ok()
        || is_missing_mark(inner)
    {
        return false;
    }
    let mut rest = inner;
    if let Some(power) = inner.strip_prefix('1') {
        rest = power.trim_start_matches('0');
        if let Some(exponent) = rest.strip_prefix('^') {
            rest = exponent.trim_start_matches(|c: char| c.is_ascii_digit() || c == '-');
        }
        rest = rest.trim_start_matches(['²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹', ' ']);
    }
    rest.starts_with(|c: char| c.is_alphabetic() || "°%‰µ€$£¥/#".contains(c))
}

/// Returns true for patterns of dates such as "yyyy-mm-dd", and for the time zone of dates.
fn is_date_pattern(cell: &str) -> bool {
    let inner = cell.trim_matches(['[', ']', '(', ')']);
    matches!(inner, "UTC" | "GMT")
        || inner
            .chars()
            .all(|c| !c.is_alphanumeric() || "yYmMdDhHsStTzZ".contains(c))
}

/// Returns true if a row may be a footnote: its first cell alone is filled, with a long text or with a usual beginning.
pub(crate) fn may_be_footnote<'c>(
    mut cells: impl Iterator<Item = &'c str>,
    columns: usize,
) -> bool {
    let first = cells.next().unwrap_or_default().trim();
    if columns < 3 || first.is_empty() || cells.any(|cell| !cell.trim().is_empty()) {
        return false;
    }
    const MARKS: [&str; 6] = ["*", "†", "(1)", "1)", "[1]", "©"];
    const WORDS: [&str; 8] = [
        "source",
        "note",
        "quelle",
        "anmerkung",
        "fonte",
        "fuente",
        "nota",
        "footnote",
    ];
    if first.chars().count() >= 40 || MARKS.iter().any(|mark| first.starts_with(mark)) {
        return true;
    }
    // A word, also in plural or with a number, and a colon or the like. The same letters begin names.
    let word_end = first
        .find(|c: char| !c.is_alphabetic())
        .unwrap_or(first.len());
    let word = first[..word_end].to_lowercase();
    let is_word = WORDS.iter().any(|known| {
        word.strip_prefix(known)
            .is_some_and(|ending| matches!(ending, "" | "s" | "n" | "en" | "i"))
    });
    is_word
        && first[word_end..]
            .trim_start()
            .starts_with(|c: char| c.is_ascii_digit() || ":.-–—=(".contains(c))
}

/// Returns the names of the columns: the cells of the header from top to bottom. A cell above empty ones spans them if another row
/// of the header follows.
pub(crate) fn column_names(header: &[&[String]], columns: usize) -> Vec<String> {
    let mut names = vec![String::new(); columns];
    for (level, row) in header.iter().enumerate() {
        let is_last = level + 1 == header.len();
        let mut spanning = "";
        for (place, name) in names.iter_mut().enumerate() {
            let cell = trimmed_cell(row, place);
            if !cell.is_empty() {
                spanning = cell;
            }
            let part = if is_last { cell } else { spanning };
            if part.is_empty() || name.split(": ").any(|above| above == part) {
                continue;
            }
            if !name.is_empty() {
                name.push_str(": ");
            }
            name.push_str(part);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Vec<Vec<String>> {
        text.lines()
            .map(|line| line.split('|').map(|cell| cell.trim().to_owned()).collect())
            .collect()
    }

    fn layout(text: &str) -> (usize, usize, bool) {
        let layout = detect_layout(&rows(text), &[]);
        (layout.preamble_rows, layout.header_rows, layout.has_units)
    }

    #[test]
    fn layouts() {
        let cases = [
            ("year|mean\n2000|1.5\n2001|1.7", (0, 1, false)),
            (
                "Mean height of trees||\nSource: forest office||\n||\nyear|mean|count\n2000|1.5|3\n2001|1.7|4",
                (3, 1, false),
            ),
            (
                "station|depth|level\n|m|cm\nA|1.5|3\nB|1.7|4\nC|2|5",
                (0, 1, true),
            ),
            (
                "id|Which fruit?||\n|apple|pear|plum\n1|apple tree|yes|no\n2|x|yes|no\n3|x|no|no",
                (0, 2, false),
            ),
            // Texts that are the header of one column and the values of another; a row of data under a header with gaps.
            (
                "id|Seen?||Rank|\n|Heron|Tern|Heron|Tern\n1|Heron||2|1\n2||Tern|1|2",
                (0, 2, false),
            ),
            ("id|tree||\n1|oak|tall|old\n2|elm|low|young", (0, 1, false)),
            (
                "name|tree||\nA|oak|tall|old\nB|elm|low|young",
                (0, 1, false),
            ),
            ("1|2|3\n4|5|6\n7|8|9", (0, 0, false)),
            ("oak|12\nelm|13\nash|9", (0, 0, false)),
            ("tree|2019|2020|2021\noak|5|6|7\nelm|1|2|3", (0, 1, false)),
            ("|species|count\n1|oak|5\n2|elm|6", (0, 1, false)),
            ("name\noak\nelm", (0, 1, false)),
            ("name|family\noak|Fagaceae\nelm|Ulmaceae", (0, 1, false)),
            // Texts in the place of numbers in the first row of data are no units.
            ("pond|lead\nMill|<0.1\nHeron|1.5\nQuay|1.7", (0, 1, false)),
            (
                "code|town\n01067|Ulm\n10115|Kiel\n80331|Bonn",
                (0, 1, false),
            ),
            ("town|n\nUlm|k.A.\nKiel|3\nBonn|4", (0, 1, false)),
            ("town|n\n|(123)\nKiel|3\nBonn|4", (0, 1, false)),
            ("town|n\n|INF\nKiel|3\nBonn|4", (0, 1, false)),
            ("town|n\n|10:30\nKiel|3\nBonn|4", (0, 1, false)),
            ("n|m\nunknown|unknown\n3|4\n5|6", (0, 1, false)),
            ("pond|depth|ratio\n|m|-\nA|1.5|3\nB|1.7|4", (0, 1, true)),
            ("pond|depth|ratio\n|m|1\nA|1.5|3\nB|1.7|4", (0, 1, true)),
            (
                "day|flow\nyyyy-mm-dd|10^6 m3\n2024-01-01|3\n2024-01-02|4",
                (0, 1, true),
            ),
            ("time|heat\ns|degC\n1|20.5\n2|20.7", (0, 1, true)),
            (
                "pond|lead\n[name]|[mg/l]\nMill|<0.1\nHeron|1.5\nQuay|1.7",
                (0, 1, true),
            ),
            // Numbers, dates and IRIs in a header.
            ("tree|2000|2005|2010\noak|5|6|7\nelm|1|2|3", (0, 1, false)),
            ("tree|2020\noak|5\nelm|1", (0, 1, false)),
            ("tree|2020\noak|2019\nelm|2018", (0, 0, false)),
            ("|2019|2020\noak|5|6\nelm|1|2", (0, 1, false)),
            (
                "tree|2020-01-22|2020-01-23\noak|5|6\nelm|1|2",
                (0, 1, false),
            ),
            ("|genus\noak|Quercus\nelm|Ulmus", (0, 1, false)),
            (
                "http://e.org/tree|http://e.org/park\noak|Lund\nelm|Ulm",
                (0, 1, false),
            ),
            ("oak|12|13\nelm|13|15\nash|9|4", (0, 0, false)),
            ("oak|1990\nelm|2001\nash|1987", (0, 0, false)),
            (
                "http://e.org/oak|tall\nhttp://e.org/elm|tall",
                (0, 0, false),
            ),
            // A row of data below a header with a gap.
            (
                "name|count|\noak|NA|estimated\nelm|5|\nash|6|\nfir|7|",
                (0, 1, false),
            ),
            (
                "name|count|\noak||estimated\nelm|5|\nash|6|\nfir|7|",
                (0, 1, false),
            ),
            // Years below groups of columns.
            (
                "tree|Old||Young|\n|2019|2020|2019|2020\noak|1|2|3|4\nelm|5|6|7|8",
                (0, 2, false),
            ),
            (
                "|Old||Young|\ntree|2019|2020|2019|2020\noak|1|2|3|4\nelm|5|6|7|8",
                (0, 2, false),
            ),
            // Titles of two cells.
            (
                "Table 1|Trees in the park|\nid|name|height\n1|oak|5\n2|elm|6",
                (1, 1, false),
            ),
            (
                "Park:|Lund\nUnit:|mm\nday|min|max\n2024-01-01|1|2\n2024-01-02|1|3\n2024-01-03|1|4",
                (2, 1, false),
            ),
            (
                "Source:|Forest office\ntree|2000|2010|2020\noak|5|6|7\nelm|1|2|3",
                (1, 1, false),
            ),
            ("id|name\n1|oak|5\n2|elm|6", (0, 1, false)),
        ];
        for (text, expected) in cases {
            assert_eq!(layout(text), expected, "{text}");
        }
    }

    #[test]
    fn header_cells_span_the_columns_below() {
        let rows = rows("id|Which fruit?||\n|apple|pear|plum");
        let header: Vec<&[String]> = rows.iter().map(Vec::as_slice).collect();
        assert_eq!(
            column_names(&header, 4),
            [
                "id",
                "Which fruit?: apple",
                "Which fruit?: pear",
                "Which fruit?: plum"
            ]
        );
        assert_eq!(
            column_names(&header[..1], 4),
            ["id", "Which fruit?", "", ""]
        );
    }

    #[test]
    fn footnotes() {
        let is_footnote = |cells: &[&str]| may_be_footnote(cells.iter().copied(), 3);
        assert!(is_footnote(&["Source: forest office", "", ""]));
        assert!(is_footnote(&["* estimated"]));
        assert!(!is_footnote(&["Oak", "", ""]));
        assert!(!is_footnote(&["Source: x", "1", ""]));
        assert!(is_footnote(&["Quellen: Forstamt"]));
        assert!(is_footnote(&["Note 2: estimated"]));
        for name in [
            "Fontenay-sous-Bois",
            "Noteć",
            "Noteboom",
            "Nota",
            "Sourceview",
        ] {
            assert!(!is_footnote(&[name, "", ""]), "{name}");
        }
    }
}
