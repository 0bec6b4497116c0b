#!/usr/bin/env bash
# rdflib 7.6.0: the Turtle parser keeps the fragment of @base, and resolves a query alone against the folder. RFC 3986, 5.2.2: the fragment of
# the base is never inherited, and a reference that begins with "?" keeps the path. Ontologies often have a base that ends with "#".
# Seen: <#A> becomes <…/onto##A>, which is no IRI, and <> becomes <…/onto#>. The parser of RDF/XML of the same library resolves all right,
# so that one ontology has other classes in Turtle than in RDF/XML.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" -q --disable-pip-version-check install rdflib==7.6.0
"$folder/bin/python" - <<'PYTHON'
import rdflib

BASE = "http://example.org/onto#"

def subject(document, syntax):
    [node] = rdflib.Graph().parse(data=document, format=syntax).subjects()
    return str(node)

def in_turtle(reference):
    return subject(f"@base <{BASE}> . <{reference}> a <http://example.org/Class> .", "turtle")

def in_xml(reference):
    return subject(f"""<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://example.org/" xml:base="{BASE}">
      <e:Class r:about="{reference}"/></r:RDF>""", "xml")

found = {reference: (in_turtle(reference), in_xml(reference)) for reference in ("#A", "", "?q", "A")}
for reference, nodes in found.items():
    print(f"<{reference}>: Turtle <{nodes[0]}>, RDF/XML <{nodes[1]}>")
assert found == {
    "#A": ("http://example.org/onto##A", "http://example.org/onto#A"),
    "": ("http://example.org/onto#", "http://example.org/onto"),
    "?q": ("http://example.org/?q", "http://example.org/onto?q"),
    "A": ("http://example.org/A", "http://example.org/A"),
}, "the behaviour changed"
PYTHON
