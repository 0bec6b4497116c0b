#!/usr/bin/env bash
# JSON-LD 1.1 API, 8.2.2 (Object to RDF Conversion): a number without a fractional part and below 1e21 becomes an xsd:integer in canonical
# form, other numbers an xsd:double in canonical form. PyLD 3.3.0 follows it. rdflib 7.6.0 looks at the notation: 1.0 and 1e20 become doubles,
# and 5e-7 has the form "5e-07" of Python. pyoxigraph 0.5.13 makes 1e20 a double, but 1.0 an integer.
# So three libraries read three graphs, and a query for an exact term finds each number in one or two of them.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" -q --disable-pip-version-check install pyoxigraph==0.5.13 rdflib==7.6.0 PyLD==3.3.0
"$folder/bin/python" - <<'PYTHON'
import json
import pyoxigraph
import rdflib
from pyld import jsonld

numbers = ["1.0", "1e20", "5e-7"]
XSD = "http://www.w3.org/2001/XMLSchema#"

def document(number):
    return '{"@context": {"@vocab": "http://example.org/"}, "@id": "http://example.org/s", "n": %s}' % number

def by_rdflib(number):
    [(_, _, literal)] = rdflib.Graph().parse(data=document(number), format="json-ld")
    return str(literal), str(literal.datatype).removeprefix(XSD)

def by_pyoxigraph(number):
    [quad] = pyoxigraph.parse(document(number).encode(), pyoxigraph.RdfFormat.JSON_LD)
    return quad.object.value, quad.object.datatype.value.removeprefix(XSD)

def by_pyld(number):
    [quad] = jsonld.to_rdf(json.loads(document(number)))["@default"]
    return quad["object"]["value"], quad["object"]["datatype"].removeprefix(XSD)

found = {number: [by_rdflib(number), by_pyoxigraph(number), by_pyld(number)] for number in numbers}
for number, literals in found.items():
    print(number, literals)
assert found == {
    "1.0": [("1.0", "double"), ("1", "integer"), ("1", "integer")],
    "1e20": [("1e+20", "double"), ("1.0E20", "double"), ("100000000000000000000", "integer")],
    "5e-7": [("5e-07", "double"), ("5.0E-7", "double"), ("5.0E-7", "double")],
}, "the behaviour changed"
PYTHON
