//! Rows of tables for agents: a row in few bytes.

use serde_json::{Value, json};

/// Maximum number of columns of a row in a hit.
const MAX_COLUMNS: usize = 6;
/// Maximum length of a cell of a row in a hit in characters.
const MAX_CELL_CHARS: usize = 100;

/// Replaces the table of a snippet by lists of texts, and removes the triples, which have the same content. Other snippets are unchanged.
pub(super) fn compact_table(mut snippet: Value) -> Value {
    let Some(members) = snippet.as_object_mut() else {
        return snippet;
    };
    let table = members.remove("table").unwrap_or_default();
    let Some(rows) = table["rows"].as_array() else {
        return snippet;
    };
    let mut compact_rows = Vec::with_capacity(rows.len());
    for row in rows {
        compact_rows.push(json!({ "number": row["number"], "cells": cell_texts(&row["cells"]) }));
    }
    let mut compact = json!({
        "title": table["title"],
        "columns": cell_texts(&table["columns"]),
        "rows": compact_rows,
        "allRows": table["allRows"],
        "allColumns": table["allColumns"],
    });
    if let Some(matching) = table.get("matchingRows") {
        compact["matchingRows"] = matching.clone();
    }
    members.remove("triples");
    members.insert("table".to_owned(), compact);
    snippet
}

/// Returns the rows of a hit's table with words of the query, each as one text: `well name: Old Brewery; depth: 48.0`.
/// Cells with words of the query precede the others if a row has too many.
pub(super) fn matching_rows(table: &Value, limit: usize) -> Vec<Value> {
    let headers = cell_texts(&table["columns"]);
    let mut rows = Vec::new();
    for row in table["rows"].as_array().into_iter().flatten() {
        let cells = row["cells"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        if rows.len() == limit || !cells.iter().any(is_matched) {
            continue;
        }
        let mut shown = Vec::new();
        for (place, (header, cell)) in headers.iter().zip(cells).enumerate() {
            let text = cell["text"].as_str().unwrap_or_default();
            if !text.is_empty() {
                shown.push((!is_matched(cell), place, header, text));
            }
        }
        shown.sort_unstable();
        shown.truncate(MAX_COLUMNS);
        shown.sort_unstable_by_key(|(_, place, _, _)| *place);
        let parts: Vec<String> = shown
            .into_iter()
            .map(|(_, _, header, text)| format!("{header}: {}", shorten_cell(text)))
            .collect();
        rows.push(Value::from(parts.join("; ")));
    }
    rows
}

fn is_matched(cell: &Value) -> bool {
    cell["matched"].is_array()
}

fn shorten_cell(text: &str) -> String {
    match text.char_indices().nth(MAX_CELL_CHARS) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

/// Returns the texts of cells.
fn cell_texts(cells: &Value) -> Vec<&str> {
    let cells = cells.as_array().into_iter().flatten();
    cells
        .map(|cell| cell["text"].as_str().unwrap_or_default())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Value {
        json!({
            "title": "wells", "columns": [{ "text": "well" }, { "text": "depth" }, { "text": "note" }],
            "rows": [
                { "number": 1, "iri": "a", "cells": [{ "text": "Mill" }, { "text": "21" }, { "text": "" }] },
                { "number": 2, "iri": "b", "cells": [{ "text": "Brewery", "matched": ["brewery"] }, { "text": "48" }, { "text": "" }] },
            ],
            "allRows": 3, "allColumns": 3,
        })
    }

    #[test]
    fn rows_are_short() {
        assert_eq!(matching_rows(&table(), 2), ["well: Brewery; depth: 48"]);
        assert!(matching_rows(&table(), 0).is_empty());
        assert!(matching_rows(&Value::Null, 2).is_empty());
        let compact = compact_table(json!({ "triples": [1], "table": table() }));
        assert_eq!(
            compact["table"]["rows"][1]["cells"],
            json!(["Brewery", "48", ""])
        );
        assert_eq!(compact["triples"], Value::Null);
        let graph = json!({ "triples": [1] });
        assert_eq!(compact_table(graph.clone()), graph);
    }

    #[test]
    fn matching_cells_of_wide_rows_are_kept_and_shortened() {
        let names: Vec<Value> = (0..9)
            .map(|place| json!({ "text": place.to_string() }))
            .collect();
        let mut cells = vec![json!({ "text": "x" }); 8];
        cells.push(json!({ "text": "brewery ".repeat(50), "matched": ["brewery"] }));
        let table = json!({ "columns": names, "rows": [{ "number": 1, "cells": cells }] });
        let rows = matching_rows(&table, 2);
        let row = rows[0].as_str().expect("a text");
        assert!(
            row.starts_with("0: x; 1: x; 2: x; 3: x; 4: x; 8: brewery"),
            "{row}"
        );
        assert!(row.ends_with('…') && row.chars().count() < 200, "{row}");
    }
}
