//! Layout of a table: titles above the header, rows of the header, a row of units, footnotes.

use crate::limits::MAX_PREAMBLE_ROWS;
use crate::values::{CellKind, ColumnType, NumberFormat, cell_kind, column_type};

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

/// Determines the layout from the first rows of a table.
pub(crate) fn detect_layout<R: AsRef<[String]>>(rows: &[R], format: NumberFormat) -> Layout {
    let rows: Vec<&[String]> = rows.iter().map(AsRef::as_ref).collect();
    let width = typical_width(&rows);
    let preamble_rows = preamble_rows(&rows, width);
    let Some(header) = rows.get(preamble_rows).copied() else {
        return Layout::default();
    };
    let data = &rows[preamble_rows + 1..];
    if !is_header(header, data, format) {
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
        if continues_header(above, next, below, format) {
            layout.header_rows += 1;
        } else {
            break;
        }
    }
    let next = data.get(layout.header_rows - 1);
    let below = data.get(layout.header_rows..).unwrap_or_default();
    layout.has_units = next.is_some_and(|next| is_units_row(next, below, format));
    layout
}

fn filled(row: &[String]) -> usize {
    row.iter().filter(|cell| !cell.trim().is_empty()).count()
}

/// Returns the most frequent number of cells up to the last filled one.
fn typical_width(rows: &[&[String]]) -> usize {
    let mut counts = std::collections::BTreeMap::new();
    for row in rows {
        let last = row.iter().rposition(|cell| !cell.trim().is_empty());
        *counts
            .entry(last.map_or(0, |last| last + 1))
            .or_insert(0usize) += 1;
    }
    let mut best = (0, 0);
    for (width, count) in counts {
        if width > 0 && count >= best.1 {
            best = (width, count);
        }
    }
    best.0
}

/// Returns the number of rows above the header: those with few filled cells in comparison to the table.
fn preamble_rows(rows: &[&[String]], width: usize) -> usize {
    if width < 2 {
        return 0;
    }
    let enough = (width / 3).max(2);
    for (place, row) in rows.iter().enumerate().take(MAX_PREAMBLE_ROWS + 1) {
        let is_comment = row
            .first()
            .is_some_and(|cell| cell.starts_with('#') && row.len() < width);
        if filled(row) >= enough && !is_comment {
            return place;
        }
    }
    0
}

/// Returns true if a row names the columns below it.
fn is_header(header: &[String], data: &[&[String]], format: NumberFormat) -> bool {
    if data.is_empty() {
        return header.iter().any(|cell| is_name(cell, format));
    }
    let (mut names, mut values, mut repeated, mut texts) = (0usize, 0usize, 0usize, 0usize);
    for (place, cell) in header.iter().enumerate() {
        let column = || {
            data.iter()
                .filter_map(|row| row.get(place).map(String::as_str))
        };
        let is_typed = column_type(column(), format) != ColumnType::Text;
        match (is_typed, is_name(cell, format)) {
            (true, true) => names += 1,
            (true, false) if !cell.trim().is_empty() => values += 1,
            (false, true) => {
                texts += 1;
                repeated += usize::from(column().any(|value| value == cell));
            }
            _ => (),
        }
    }
    // Years and other numbers may be names of columns, if other columns have names in words.
    if names > 0 {
        return true;
    }
    if values > 0 {
        return texts > repeated && is_sequence(header, format);
    }
    texts > 0 && 2 * repeated <= texts
}

/// Returns true if the numbers of a row are different, as the years above columns are.
fn is_sequence(header: &[String], format: NumberFormat) -> bool {
    let numbers: Vec<i64> = header
        .iter()
        .filter(|cell| cell_kind(cell, format) == CellKind::Integer)
        .filter_map(|cell| cell.trim().parse().ok())
        .collect();
    numbers.len() > 1
        && numbers
            .windows(2)
            .all(|pair| (pair[1] - pair[0]).abs() == 1)
}

/// Returns true for a text that is neither a number nor a date.
fn is_name(cell: &str, format: NumberFormat) -> bool {
    matches!(cell_kind(cell, format), CellKind::Text | CellKind::Missing)
}

/// Returns true if a row continues the header above it: the header has gaps, which this row fills with texts, most of which occur
/// nowhere below. It has no value of a typed column; without typed columns, its first cell is empty.
fn continues_header(
    above: &[String],
    next: &[String],
    below: &[&[String]],
    format: NumberFormat,
) -> bool {
    // A gap in the first column is that of row names.
    let (mut gaps, mut filled_gaps, mut recurring) = (0usize, 0usize, 0usize);
    let mut has_typed_column = false;
    for (place, cell) in next.iter().enumerate() {
        let cell = cell.trim();
        let column = || {
            below
                .iter()
                .filter_map(|row| row.get(place).map(String::as_str))
        };
        if column_type(column(), format) != ColumnType::Text {
            has_typed_column = true;
            if !cell.is_empty() && !is_name(cell, format) {
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
        if !is_name(cell, format) {
            return false;
        }
        filled_gaps += 1;
        recurring += usize::from(column().any(|value| value.trim() == cell));
    }
    let begins_empty = next.first().is_none_or(|cell| cell.trim().is_empty());
    gaps > 0
        && 2 * filled_gaps > gaps
        && 2 * recurring <= filled_gaps
        && (has_typed_column || begins_empty)
}

/// Returns true if a row below the header has short texts in place of the numbers of the columns.
fn is_units_row(row: &[String], below: &[&[String]], format: NumberFormat) -> bool {
    if below.len() < 2 {
        return false;
    }
    let (mut units, mut numeric) = (0usize, 0usize);
    for place in 0..row.len() {
        let cells = below
            .iter()
            .filter_map(|row| row.get(place).map(String::as_str));
        let cell = row[place].trim();
        if column_type(cells, format).is_numeric() {
            numeric += 1;
            if cell.is_empty() {
                continue;
            }
            if !is_name(cell, format)
                || cell.chars().count() > 20
                || crate::values::is_missing_mark(cell)
            {
                return false;
            }
            units += 1;
        }
    }
    numeric > 0 && units > 0 && 2 * units >= numeric
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
    let lower = first.to_lowercase();
    const BEGINNINGS: [&str; 14] = [
        "source",
        "note",
        "quelle",
        "anmerkung",
        "fonte",
        "fuente",
        "nota",
        "footnote",
        "*",
        "†",
        "(1)",
        "1)",
        "[1]",
        "©",
    ];
    first.chars().count() >= 40
        || BEGINNINGS
            .iter()
            .any(|beginning| lower.starts_with(beginning))
}

/// Returns the names of the columns: the cells of the header from top to bottom. A cell above empty ones spans them if another row
/// of the header follows.
pub(crate) fn column_names(header: &[&[String]], columns: usize) -> Vec<String> {
    let mut names = vec![String::new(); columns];
    for (level, row) in header.iter().enumerate() {
        let is_last = level + 1 == header.len();
        let mut spanning = "";
        for (place, name) in names.iter_mut().enumerate() {
            let cell = row.get(place).map_or("", |cell| cell.trim());
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
        let layout = detect_layout(&rows(text), NumberFormat::default());
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
    }
}
