#!/usr/bin/env bash
# pyaxis 0.4.3: PX files may omit rows of zeros. Then KEYS names the dimensions whose codes or values stand before the values of a row
# (PC-Axis file format, keyword KEYS). Seen: the keys count as values, and ValueError says that 3 values do not fit to 4 cells; if as many
# cells are omitted as keys are written, the keys are returned as data.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" -q --disable-pip-version-check install pyaxis==0.4.3
"$folder/bin/python" - "$folder/table.px" <<'PYTHON'
import sys
from pyaxis import pyaxis

HEAD = '''CHARSET="ANSI";
AXIS-VERSION="2010";
TITLE="Population by region and year";
UNITS="persons";
CONTENTS="Population";
STUB="region";
HEADING="year";
VALUES("region")="North","South";
VALUES("year")="2001","2002";
'''

def read(data, head=HEAD):
    with open(sys.argv[1], "w", encoding="cp1252") as file:
        file.write(head + data)
    return list(pyaxis.parse(sys.argv[1], encoding="cp1252")["DATA"]["DATA"])

KEYS = 'KEYS("region")=VALUES;\n'
print("whole:", read("DATA=\n1 2\n3 4;\n"))
try:
    print("one row:", read(KEYS + 'DATA=\n"South", 3 4;\n'))
except ValueError as error:
    print("one row: ValueError:", error)
    assert "Length of values (3)" in str(error)
else:
    raise SystemExit("the behaviour changed")
one_column = HEAD.replace('"2001","2002"', '"2001"')
wrong = read(KEYS + 'DATA=\n"South", 3;\n', one_column)
print("one column, the row of North omitted:", wrong)
assert len(wrong) == 2 and "3" in str(wrong[1]), "the behaviour changed"
PYTHON
