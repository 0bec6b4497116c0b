#!/usr/bin/env bash
# csvw 4.1.1: the number format 000 rejects 007. Model for Tabular Data, 6.4.2, takes such formats from UTS #35, whose section on number
# patterns defines 0 as zero-padding: with 00000.0000, 1234.567 becomes 01234.5670. Seen: leading zeros do not count as digits, so that 000
# accepts 100, but not 007, and 00 rejects 07. The cell stays a text, and the table is reported as invalid. The library rejects the very text
# that it writes for a number with this format.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" -q --disable-pip-version-check install csvw==4.1.1 babel==2.19.0
"$folder/bin/python" - "$folder/table.csv" <<'PYTHON'
import decimal
import json
import sys
import warnings
from csvw import CSVW, Datatype

def read(base, number_format, cell):
    with open(sys.argv[1], "w", encoding="utf-8") as table:
        table.write(f"key\n{cell}\n")
    column = {"name": "key", "titles": "key", "datatype": {"base": base, "format": number_format}}
    with open(sys.argv[1] + "-metadata.json", "w", encoding="utf-8") as metadata:
        json.dump({"@context": "http://www.w3.org/ns/csvw", "url": "table.csv", "tableSchema": {"columns": [column]}}, metadata)
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        csvw = CSVW(sys.argv[1] + "-metadata.json", validate=True)
        [row] = csvw.to_json(minimal=True)
        return row["key"], csvw.is_valid

def write(base, number_format, number):
    return Datatype.fromvalue({"base": base, "format": number_format}).formatted(number)

found = {}
for base, number_format, number in [
    ("integer", "000", 7),
    ("integer", "000", 100),
    ("integer", "00", 7),
    ("integer", "00", 10),
    ("decimal", "00000.0000", decimal.Decimal("1234.567")),
    ("decimal", "00000.0000", decimal.Decimal("12345.678")),
]:
    cell = write(base, number_format, number)
    value, is_valid = read(base, number_format, cell)
    print(f"{base} {number} with the format {number_format}: written {cell}, read {value!r}, valid: {is_valid}")
    found[number_format, cell] = value, is_valid
assert found == {
    ("000", "007"): ("007", False),
    ("000", "100"): (100, True),
    ("00", "07"): ("07", False),
    ("00", "10"): (10, True),
    ("00000.0000", "01234.5670"): ("01234.5670", False),
    ("00000.0000", "12345.6780"): (12345.678, True),
}, "the behaviour changed"
PYTHON
