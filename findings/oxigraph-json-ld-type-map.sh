#!/usr/bin/env bash
# pyoxigraph 0.5.13: a type map ("@container": "@type", JSON-LD 1.1, 4.6.4) whose nodes have an @id is rejected, because the type of a node
# is expected at its beginning, and the map states it before. Seen: SyntaxError, "@type must be the first key of an object or right after
# @context", for a document without the key @type. PyLD 3.3.0 makes the three triples.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" -q --disable-pip-version-check install pyoxigraph==0.5.13 PyLD==3.3.0
"$folder/bin/python" - <<'PYTHON'
import json
import pyoxigraph
from pyld import jsonld

document = {
    "@context": {"@vocab": "http://example.org/", "part": {"@container": "@type"}},
    "@id": "http://example.org/whole",
    "part": {"River": {"@id": "http://example.org/value", "name": "Thorn"}},
}
expected = jsonld.to_rdf(document)["@default"]
try:
    quads = list(pyoxigraph.parse(json.dumps(document), pyoxigraph.RdfFormat.JSON_LD))
except SyntaxError as error:
    print(f"PyLD: {len(expected)} triples; pyoxigraph: {error}")
    assert len(expected) == 3 and "@type must be the first key" in str(error)
else:
    raise SystemExit(f"the behaviour changed: {quads}")
PYTHON
