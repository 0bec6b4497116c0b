#!/usr/bin/env bash
# csvw 4.1.1: a URI template such as valueUrl takes the text that Python prints for the value of a cell. Metadata Vocabulary for Tabular Data,
# 5.1.3: a value that is not a string has its canonical representation of XML Schema, so that a date is 2010-10-18. Seen: a date has a time,
# a boolean is True, a duration is "1 day, 0:00:00", and an IRI is the list of its parts. A time has the date of the day on which the program
# runs. Such IRIs do not link to those of other converters, and those of times change from day to day.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" -q --disable-pip-version-check install csvw==4.1.1
"$folder/bin/python" - "$folder/table.csv" <<'PYTHON'
import datetime
import json
import sys
from urllib.parse import unquote
from csvw import CSVW

BASE = "http://example.org/"

def value_iri(datatype, cell):
    with open(sys.argv[1], "w", encoding="utf-8") as table:
        table.write(f"key\n{cell}\n")
    column = {"name": "key", "titles": "key", "datatype": datatype, "valueUrl": BASE + "{key}"}
    with open(sys.argv[1] + "-metadata.json", "w", encoding="utf-8") as metadata:
        json.dump({"@context": "http://www.w3.org/ns/csvw", "url": "table.csv", "tableSchema": {"columns": [column]}}, metadata)
    [row] = CSVW(sys.argv[1] + "-metadata.json").to_json(minimal=True)
    return row["key"]

cells = {
    "integer": "5",
    "date": "2010-10-18",
    "boolean": "true",
    "duration": "P1D",
    "anyURI": "http://example.org/a",
    "time": "10:00:00",
}
before = datetime.date.today()
found = {datatype: value_iri(datatype, cell) for datatype, cell in cells.items()}
for datatype, iri in found.items():
    print(f"{datatype} {cells[datatype]}: <{iri}>")
keys = {datatype: unquote(iri.removeprefix(BASE)) for datatype, iri in found.items()}
assert keys.pop("time") in {f"{day} 10:00:00" for day in (before, datetime.date.today())}, "the behaviour changed"
assert keys == {
    "integer": "5",
    "date": "2010-10-18 00:00:00",
    "boolean": "True",
    "duration": "1 day, 0:00:00",
    "anyURI": "http,example.org,/a,None,None",
}, "the behaviour changed"
PYTHON
