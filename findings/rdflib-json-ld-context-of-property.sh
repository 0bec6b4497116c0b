#!/usr/bin/env bash
# rdflib 7.6.0: a context of a property with "@propagate": false applies to the nodes that are values of the property, and not to the nodes in
# them (JSON-LD 1.1, 4.1.8 and 4.1.9). rdflib applies it to neither. Seen: the title of the value is <http://example.org/title>
# instead of dct:title, which PyLD 3.3.0 and pyoxigraph 0.5.13 make.
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

document = {
    "@context": {
        "@vocab": "http://example.org/",
        "part": {"@context": {"@propagate": False, "title": "http://purl.org/dc/terms/title"}},
    },
    "@id": "http://example.org/whole",
    "part": {"@id": "http://example.org/value", "title": "Rivers", "inner": {"@id": "http://example.org/inner", "title": "Fords"}},
}

def properties(triples):
    return {text: property for _, property, text in triples if not text.startswith("http")}

text = json.dumps(document)
by_rdflib = properties((str(s), str(p), str(o)) for s, p, o in rdflib.Graph().parse(data=text, format="json-ld"))
by_pyoxigraph = properties((q.subject.value, q.predicate.value, q.object.value) for q in pyoxigraph.parse(text, pyoxigraph.RdfFormat.JSON_LD))
by_pyld = properties((t["subject"]["value"], t["predicate"]["value"], t["object"]["value"]) for t in jsonld.to_rdf(document)["@default"])
print(f"rdflib: {by_rdflib}\npyoxigraph: {by_pyoxigraph}\nPyLD: {by_pyld}")
right = {"Rivers": "http://purl.org/dc/terms/title", "Fords": "http://example.org/title"}
assert by_pyoxigraph == by_pyld == right, "the other libraries changed"
assert by_rdflib == {**right, "Rivers": "http://example.org/title"}, "the behaviour changed"
PYTHON
