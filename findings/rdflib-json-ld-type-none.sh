#!/usr/bin/env bash
# rdflib 7.6.0: the JSON-LD parser takes "@none", the type that switches coercion off (JSON-LD 1.1 API, 5.3 Value Expansion), for the name of a
# datatype. Seen: a plain text becomes a literal of the datatype <http://example.org/@none>, so that no query for the text finds it. PyLD
# 3.3.0 and pyoxigraph 0.5.13 make a plain literal.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" -q --disable-pip-version-check install rdflib==7.6.0 pyoxigraph==0.5.13 PyLD==3.3.0
"$folder/bin/python" - <<'PYTHON'
import json
import pyoxigraph
import rdflib
from pyld import jsonld

document = {"@context": {"@vocab": "http://example.org/", "status": {"@type": "@none"}}, "@id": "http://example.org/dataset", "status": "final"}
[literal] = rdflib.Graph().parse(data=json.dumps(document), format="json-ld").objects()
[quad] = pyoxigraph.parse(json.dumps(document), pyoxigraph.RdfFormat.JSON_LD)
expected = jsonld.to_rdf(document, {"format": "application/n-quads"})
print(f"rdflib: {literal.n3()}\npyoxigraph: {quad.object}\nPyLD: {expected}")
assert '"final" .' in expected and str(quad.object) == '"final"', "the other libraries changed"
assert literal.n3() == '"final"^^<http://example.org/@none>', "the behaviour changed"
PYTHON
