#!/usr/bin/env bash
# pyoxigraph 0.5.13 (SPARQL engine spareval): a path of length zero from a term that does not occur in the graph has no solution.
# SPARQL 1.1 Query, 18.4 (ZeroLengthPath): if one end is a term, the other end is bound to that term, whether the graph has it or not.
# Seen: <x> <p>* ?o has no solution in an empty graph. rdflib 7.6.0 has the solution ?o = <x>.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" -q --disable-pip-version-check install pyoxigraph==0.5.13 rdflib==7.6.0
"$folder/bin/python" - <<'PYTHON'
import pyoxigraph
import rdflib

query = "SELECT ?o { <http://example.org/x> <http://example.org/p>* ?o }"
oxigraph = [row["o"].value for row in pyoxigraph.Store().query(query)]
rdflib_rows = [str(row.o) for row in rdflib.Graph().query(query)]
print({"pyoxigraph": oxigraph, "rdflib": rdflib_rows})
assert oxigraph == [], "the behaviour of pyoxigraph changed"
assert rdflib_rows == ["http://example.org/x"], "the behaviour of rdflib changed"
PYTHON
