#!/usr/bin/env bash
# ckanext-dcat 2.4.4: in CKAN, `license` of a resource may be any text. The exporter of DCAT-AP then states the type of the licence, with the
# licence as subject, also if it is a literal. RDF 1.1 Concepts, 3.1: a subject is an IRI or a blank node. The profile of DCAT-AP 3 so writes
# N-Triples that rdflib, which wrote them, cannot parse, and RDF/XML with the text as rdf:about.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" -q --disable-pip-version-check install "ckan[requirements]==2.12.0" "ckanext-dcat==2.4.4"
"$folder/bin/python" - <<'PYTHON'
import logging
logging.disable(logging.CRITICAL)
from ckan.common import config
config["ckan.site_url"] = "http://portal.example"
config["ckan.locale_default"] = "en"
import rdflib
from ckanext.dcat.processors import RDFSerializer

package = {
    "id": "wells", "name": "wells", "title": "Wells", "notes": "Wells of a town", "extras": [],
    "resources": [{"id": "r1", "package_id": "wells", "name": "Table", "url": "http://portal.example/wells.csv", "license": "Open licence of the bay"}],
}
lines = RDFSerializer(profiles=["euro_dcat_ap_3"]).serialize_dataset(package, _format="nt").splitlines()
[line] = [line for line in lines if line.startswith('"')]
print(line)
assert line.startswith('"Open licence of the bay" <http://purl.org/dc/terms/type>'), "the behaviour changed"
try:
    rdflib.Graph().parse(data=line, format="nt")
except Exception as error:
    print(f"rdflib: {type(error).__name__}: {error}")
else:
    raise SystemExit("the behaviour changed: rdflib parsed the line")
PYTHON
