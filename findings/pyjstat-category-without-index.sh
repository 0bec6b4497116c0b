#!/usr/bin/env bash
# pyjstat 2.4.0: the index of the categories is optional for a dimension with one category, whose label states its code (JSON-stat 2.0,
# "category" and "index"): a constant dimension, such as the unit or the country. Seen: KeyError: 0.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" -q --disable-pip-version-check install pyjstat==2.4.0
"$folder/bin/python" - <<'PYTHON'
import json
from pyjstat import pyjstat

def rows(country):
    dataset = {
        "version": "2.0", "class": "dataset", "id": ["country", "year"], "size": [1, 2], "value": [1.5, 2.5],
        "dimension": {"country": {"category": country}, "year": {"category": {"index": ["2023", "2024"]}}},
    }
    return len(pyjstat.Dataset.read(json.dumps(dataset)).write("dataframe"))

assert rows({"index": ["EX"], "label": {"EX": "Example"}}) == 2, "the behaviour changed"
try:
    number = rows({"label": {"EX": "Example"}})
except KeyError as error:
    print(f"KeyError: {error}")
else:
    raise SystemExit(f"the behaviour changed: {number} rows")
PYTHON
