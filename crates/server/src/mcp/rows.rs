//! Rows of tables for agents: a row in few bytes.

use serde_json::{Value, json};

/// Maximum number of columns of a row in a hit.
const MAX_COLUMNS: usize = 6;

/// Replaces the table of a snippet by lists of texts, and removes the triples, which have the same content. Other snippets are unchanged.
pub(super) fn compact_table(mut snippet: Value) -> Value {
    let table = snippet["table"].take();
    let (Some(members), Some(rows)) = (snippet.as_object_mut(), table["rows"].as_array()) else {
        return snippet;
    };
    let mut compact_rows = Vec::with_capacity(rows.len());
    for row in rows {
        compact_rows.push(json!({ "number": row["number"], "cells": texts(&row["cells"]) }));
    }
    members.remove("triples");
    members.insert(
        "table".to_owned(),
        json!({
            "title": table["title"],
            "columns": texts(&table["columns"]),
            "rows": compact_rows,
            "allRows": table["allRows"],
            "allColumns": table["allColumns"],
        }),
    );
    snippet
}

/// Returns the rows of a hit's table with words of the query, each as one text: `well name: Old Brewery; depth: 48.0`.
pub(super) fn matching_rows(table: &Value, most: usize) -> Vec<Value> {
    let headers = texts(&table["columns"]);
    let mut rows = Vec::new();
    for row in table["rows"].as_array().into_iter().flatten() {
        let cells = row["cells"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        if rows.len() == most || !cells.iter().any(|cell| cell["matched"].is_array()) {
            continue;
        }
        let mut parts = Vec::new();
        for (header, cell) in headers.iter().zip(texts(&row["cells"])) {
            if parts.len() < MAX_COLUMNS && !cell.is_empty() {
                parts.push(format!("{header}: {cell}"));
            }
        }
        rows.push(Value::from(parts.join("; ")));
    }
    rows
}

/// Returns the texts of cells.
fn texts(cells: &Value) -> Vec<&str> {
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
        assert_eq!(compact_table(graph.clone())["triples"], graph["triples"]);
    }
}
