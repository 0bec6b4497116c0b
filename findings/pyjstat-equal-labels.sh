#!/usr/bin/env bash
# pyjstat 2.4.0: it reads JSON-stat into a table with the labels of the categories in place of their codes. JSON-stat 2.0 identifies a category by its
# code; two may have one label, for example "Total" of two classifications. Seen: written as JSON-stat again, the two categories are
# one, while the values of both remain: two cells with four values, which is no valid dataset. No warning is printed.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" -q --disable-pip-version-check install pyjstat==2.4.0
"$folder/bin/python" -W error::UserWarning - <<'PYTHON'
import json
from pyjstat import pyjstat

dataset = {
    "version": "2.0", "class": "dataset", "id": ["branch", "year"], "size": [2, 2], "value": [10, 20, 30, 40],
    "dimension": {
        "branch": {"category": {"index": ["A", "B"], "label": {"A": "Total", "B": "Total"}}},
        "year": {"category": {"index": ["2023", "2024"]}},
    },
}
table = pyjstat.Dataset.read(json.dumps(dataset)).write("dataframe")
again = json.loads(pyjstat.Dataset.read(table).write("jsonstat"))
print(table)
print(f"sizes {again['size']}, values {again['value']}, categories {again['dimension']['branch']['category']['index']}")
assert again["size"] == [1, 2] and again["value"] == [10, 20, 30, 40], "the behaviour changed"
PYTHON
