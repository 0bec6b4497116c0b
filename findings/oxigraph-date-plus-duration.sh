#!/usr/bin/env bash
# pyoxigraph 0.5.13 (SPARQL optimizer sparopt): the operands of `+` are put into an order that depends on the names of the variables, and a
# duration plus a date has no value, whereas a date plus a duration has one. XPath Functions 3.1, 9.7, backs both orders.
# Seen: with a date in ?d and a duration in ?p, ?d + ?p has no value; with the names ?x and ?y instead, ?x + ?y has one.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" -q --disable-pip-version-check install pyoxigraph==0.5.13
"$folder/bin/python" - <<'PYTHON'
from pyoxigraph import Store

def add(date, duration):
    query = """PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
        SELECT (?%s + ?%s AS ?value) { VALUES (?%s ?%s) { ("2024-01-31"^^xsd:date "P1M"^^xsd:yearMonthDuration) } }"""
    [row] = Store().query(query % (date, duration, date, duration))
    return row[0].value if row[0] else None

found = {names: add(*names) for names in ["dp", "pd", "xy", "yx", "ab", "ba"]}
print(found)
assert set(found.values()) == {"2024-02-29", None}, "the behaviour changed: the value no longer depends on the names"
PYTHON
