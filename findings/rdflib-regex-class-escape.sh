#!/usr/bin/env bash
# rdflib 7.6.0: REGEX hands its pattern to the module re of Python. An error of re is not an error of the expression, which FILTER would count as
# false (SPARQL 1.1 Query, 17.2): it ends the whole query with an exception of Python. The escapes \i and \c of XML Schema Part 2,
# appendix F, are valid patterns of XPath Functions 3.1, 5.6.1. Seen: re.error, "bad escape \i at position 1", instead of the solution of the other branch.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" -q --disable-pip-version-check install rdflib==7.6.0
"$folder/bin/python" - <<'PYTHON'
import re
import rdflib

query = r"""SELECT ?branch {
  { BIND("first" AS ?branch) FILTER(REGEX("a1", "^\\i\\c$")) } UNION { BIND("second" AS ?branch) }
}"""
try:
    rows = [str(row.branch) for row in rdflib.Graph().query(query)]
except re.error as error:
    print(f"re.error: {error}")
    assert "bad escape" in str(error)
else:
    raise SystemExit(f"the behaviour changed: {rows}")
PYTHON
