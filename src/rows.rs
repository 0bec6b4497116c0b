//! Rows of a table as aligned text.

use super::terminal::{Style, cut, grouped};
use lodeseek_engine::{QueryWords, SnippetCell, SnippetTable};
use unicode_width::UnicodeWidthStr;

/// Maximum number of characters of a cell.
const MAX_CELL_CHARACTERS: usize = 28;
/// Maximum width of a line in character cells of the terminal. Columns with words of the query come first.
const MAX_LINE_WIDTH: usize = 110;

/// Returns the lines of a table: name and size, header, rows. Words of a query are emphasised.
pub(super) fn table_lines(
    table: &SnippetTable,
    style: Style,
    words: Option<&QueryWords>,
) -> Vec<String> {
    let columns = fitting_columns(table, words);
    let number_width = table.rows.iter().map(|row| grouped(row.number).len()).max();
    let number_width = number_width.unwrap_or(0).max(1);
    let mut header = style.faint(&format!("{:>number_width$}", "#"));
    for &(place, width) in &columns {
        header += &pad_cell(&table.columns[place], width, style, words);
    }
    let all_rows = match table.matching_rows {
        Some(matching) if matching > 0 || table.rows.is_empty() => format!(
            "{} matching rows ({} in all)",
            grouped(matching as u64),
            grouped(table.all_rows as u64)
        ),
        _ => format!("{} rows", grouped(table.all_rows as u64)),
    };
    let size = format!(
        "{} of {all_rows}, {} of {} columns",
        table.rows.len(),
        columns.len(),
        grouped(table.all_columns as u64)
    );
    let mut lines = vec![
        format!("{}: {}", cut(&table.title, 60), style.faint(&size)),
        header.trim_end().to_owned(),
    ];
    for row in &table.rows {
        let mut line = style.faint(&format!("{:>number_width$}", grouped(row.number)));
        for &(place, width) in &columns {
            line += &pad_cell(&row.cells[place], width, style, words);
        }
        lines.push(line.trim_end().to_owned());
    }
    lines
}

/// Returns the columns that fit on a line, in their order, with their widths.
fn fitting_columns(table: &SnippetTable, words: Option<&QueryWords>) -> Vec<(usize, usize)> {
    let mut columns = Vec::with_capacity(table.columns.len());
    for (place, column) in table.columns.iter().enumerate() {
        let cells = table.rows.iter().map(|row| &row.cells[place]);
        let (mut width, mut has_match) = (0, false);
        for cell in cells.chain([column]) {
            width = width.max(shorten_cell(cell, words).width());
            has_match |= !cell.matched.is_empty();
        }
        columns.push((!has_match, place, width));
    }
    columns.sort_unstable();
    let mut left = MAX_LINE_WIDTH;
    let mut fitting = Vec::with_capacity(columns.len());
    for (_, place, width) in columns {
        if width + 2 <= left {
            left -= width + 2;
            fitting.push((place, width));
        }
    }
    fitting.sort_unstable();
    fitting
}

/// Returns the beginning of a cell or, if its first word of the query is later, the part that begins with this word.
fn shorten_cell(cell: &SnippetCell, words: Option<&QueryWords>) -> String {
    let text = cell.text.as_str();
    let length = text.chars().count();
    let words = words.filter(|_| length > MAX_CELL_CHARACTERS && !cell.matched.is_empty());
    let Some(words) = words else {
        return cut(text, MAX_CELL_CHARACTERS);
    };
    let is_match = words.in_text(text);
    let mut start = 0;
    for word in text.split_inclusive(' ') {
        let end = start + word.len();
        if is_match(word.trim_end()) && text[..end].chars().count() > MAX_CELL_CHARACTERS {
            return cut(&format!("…{}", &text[start..]), MAX_CELL_CHARACTERS);
        }
        if is_match(word.trim_end()) {
            break;
        }
        start = end;
    }
    cut(text, MAX_CELL_CHARACTERS)
}

/// Returns a cell after two spaces, filled to a width.
fn pad_cell(cell: &SnippetCell, width: usize, style: Style, words: Option<&QueryWords>) -> String {
    let text = shorten_cell(cell, words);
    let fill = " ".repeat(width.saturating_sub(text.width()));
    let text = match words {
        Some(words) => style.highlight_words(&text, words.in_text(&cell.text)),
        None => text,
    };
    format!("  {text}{fill}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodeseek_engine::SnippetRow;

    fn cell(text: &str, is_match: bool) -> SnippetCell {
        SnippetCell {
            text: text.to_owned(),
            matched: is_match.then(|| "w".to_owned()).into_iter().collect(),
        }
    }

    #[test]
    fn columns_are_aligned_and_fit() {
        let long = "x".repeat(40);
        let mut columns = vec![cell("name", false), cell("高さ", false)];
        columns.extend((0..5).map(|_| cell(&long, false)));
        columns.push(cell("lead", true));
        let mut cells = vec![cell("Old Brewery", false), cell("2", false)];
        cells.extend((0..5).map(|_| cell("", false)));
        cells.push(cell("3", true));
        let table = SnippetTable {
            title: "wells".to_owned(),
            columns,
            rows: vec![SnippetRow {
                number: 7,
                iri: String::new(),
                cells,
            }],
            all_columns: 8,
            all_rows: 12,
            matching_rows: None,
        };
        let lines = table_lines(&table, Style::plain(), None);
        assert_eq!(lines[0], "wells: 1 of 12 rows, 5 of 8 columns");
        assert!(
            lines[1].starts_with("#  name         高さ  x"),
            "{}",
            lines[1]
        );
        assert!(lines[1].ends_with("…  lead"), "{}", lines[1]);
        assert!(
            lines[2].starts_with("7  Old Brewery  2     "),
            "{}",
            lines[2]
        );
        assert!(lines[2].ends_with(" 3"), "{}", lines[2]);
    }
}
