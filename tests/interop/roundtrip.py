#!/usr/bin/env python3
"""Tests that what comes in goes out to the programs that portals use: ckanext-dcat, rdflib, mlcroissant and, if installed, rapper.

usage: roundtrip.py PROGRAM

Each check loads a catalogue, serves it, and compares the result of a reader on the served catalogue with its result on the source.
ckanext-dcat is used as a library, without a database. Missing packages are installed from PyPI into the cache folder. Checks whose
client cannot be installed are skipped with a message. The last line counts passed, failed and skipped checks.
"""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import urllib.request

import clients
import peers

SYNTAXES = {"text/turtle": "turtle", "application/ld+json": "json-ld", "application/n-triples": "nt", "application/rdf+xml": "xml"}
PREFIXES = """@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> . @prefix foaf: <http://xmlns.com/foaf/0.1/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix skos: <http://www.w3.org/2004/02/skos/core#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix theme: <http://publications.europa.eu/resource/authority/data-theme/> . @prefix place: <http://publications.europa.eu/resource/authority/country/> .
"""
# A feed that describes its terms, as those of European portals do.
TERMS = PREFIXES + """
<http://feed.example/> a dcat:Catalog ; dcat:dataset <http://feed.example/dunes>, <http://feed.example/marsh> .
<http://feed.example/dunes> a dcat:Dataset ; dct:identifier "dunes" ; dct:title "Dunes"@en ; dct:description "Heights of dunes"@en ;
  dct:publisher <http://feed.example/office> ; dcat:theme theme:ENVI, theme:REGI ; dct:spatial place:NLD ; dcat:version 2.10 ;
  dct:language <http://publications.europa.eu/resource/authority/language/NLD> ; dct:conformsTo <http://feed.example/standard> ;
  dct:accessRights <http://publications.europa.eu/resource/authority/access-right/PUBLIC> ;
  dct:accrualPeriodicity <http://publications.europa.eu/resource/authority/frequency/ANNUAL> ;
  dcat:distribution [ a dcat:Distribution ; dcat:accessURL <http://feed.example/dunes.csv> ;
    dct:license <http://creativecommons.org/licenses/by/4.0/> ; dct:format <http://publications.europa.eu/resource/authority/file-type/CSV> ] .
<http://feed.example/marsh> a dcat:Dataset ; dct:identifier "marsh" ; dct:title "Marsh"@en ; dcat:theme theme:ENVI .
<http://feed.example/office> a foaf:Agent ; foaf:name "Office of the coast"@en .
theme:ENVI a skos:Concept ; skos:prefLabel "Environment"@en . theme:REGI a skos:Concept ; skos:prefLabel "Regions"@en .
place:NLD a dct:Location ; skos:prefLabel "Netherlands"@en .
<http://feed.example/standard> a dct:Standard ; dct:title "Rules of the coast" .
<http://creativecommons.org/licenses/by/4.0/> a dct:LicenseDocument ; skos:prefLabel "Attribution" .
<http://publications.europa.eu/resource/authority/language/NLD> a dct:LinguisticSystem ; skos:prefLabel "Dutch"@en .
<http://publications.europa.eu/resource/authority/access-right/PUBLIC> a dct:RightsStatement ; skos:prefLabel "public"@en .
<http://publications.europa.eu/resource/authority/frequency/ANNUAL> a dct:Frequency ; skos:prefLabel "annual"@en .
<http://publications.europa.eu/resource/authority/file-type/CSV> a dct:MediaTypeOrExtent ; skos:prefLabel "CSV" .
"""
# Statements of RDF 1.2, and characters that XML 1.0 has not or changes.
VERSION_2 = 'VERSION "1.2"\n' + PREFIXES + """
<http://feed.example/> a dcat:Catalog ; dcat:dataset <http://feed.example/wells>, <http://feed.example/reeds> .
<http://feed.example/wells> a dcat:Dataset ; dct:identifier "wells" ; dct:title "آبار"@ar--rtl, "Wells"@en ; dcat:keyword "water"@en {| dct:source <http://feed.example/k> |} .
<http://feed.example/reeds> a dcat:Dataset ; dct:identifier "reeds" ; dct:title "Reeds" ; dct:description "first line\\r\\nsecond\\u000Bline" .
"""
CROISSANT = {
    "@context": {"@language": "en", "@vocab": "https://schema.org/", "sc": "https://schema.org/", "cr": "http://mlcommons.org/croissant/",
                 "dct": "http://purl.org/dc/terms/", "rai": "http://mlcommons.org/croissant/RAI/", "citeAs": "cr:citeAs", "column": "cr:column",
                 "conformsTo": "dct:conformsTo", "dataType": {"@id": "cr:dataType", "@type": "@vocab"}, "extract": "cr:extract", "field": "cr:field",
                 "fileObject": "cr:fileObject", "fileSet": "cr:fileSet", "includes": "cr:includes", "key": "cr:key", "recordSet": "cr:recordSet",
                 "source": "cr:source", "isLiveDataset": "cr:isLiveDataset"},
    "@type": "sc:Dataset", "name": "moorings", "description": "Moored sensors of a bay", "conformsTo": "http://mlcommons.org/croissant/1.0",
    "citeAs": "@misc{moorings}", "license": "https://creativecommons.org/licenses/by/4.0/", "url": "https://feed.example/moorings",
    "datePublished": "2023-04-01", "version": "1.0.0", "creator": {"@type": "sc:Person", "name": "Bo Skerry"}, "inLanguage": "en",
    "rai:dataCollection": "by divers",
    "distribution": [{"@type": "cr:FileObject", "@id": "table", "name": "table", "contentUrl": "https://feed.example/moorings.csv", "contentSize": "120 KB",
                      "encodingFormat": "text/csv", "sha256": "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0"}],
    "recordSet": [{"@type": "cr:RecordSet", "@id": "rows", "name": "rows", "field": [
        {"@type": "cr:Field", "@id": "rows/depth", "name": "depth", "description": "Depth of the sensor in metres", "dataType": "sc:Float",
         "source": {"fileObject": {"@id": "table"}, "extract": {"column": "depth"}}}]}],
}
# ckanext-dcat as a library: prints what its harvester reads from a feed, or what its exporters write, as JSON.
CKAN = """
import logging, json, sys
logging.disable(logging.CRITICAL)
from ckan.common import config
config["ckan.site_url"] = "http://portal.example"
config["ckan.locale_default"] = "en"
from ckanext.dcat.processors import RDFParser, RDFSerializer
import ckanext.dcat.profiles.croissant, ckanext.dcat.profiles.schemaorg
for module in (ckanext.dcat.profiles.croissant, ckanext.dcat.profiles.schemaorg):
    if hasattr(module, "url_for"):
        module.url_for = lambda *_, **named: "http://portal.example/dataset/" + str(named.get("id", ""))
if sys.argv[1] == "read":
    parser = RDFParser(profiles=["euro_dcat_ap_3"])
    parser.parse(sys.stdin.read(), _format="turtle")
    print(json.dumps(list(parser.datasets())))
else:
    package = json.load(sys.stdin)
    print(RDFSerializer(profiles=[sys.argv[2]]).serialize_dataset(package, _format=sys.argv[3]))
"""
PACKAGE = {
    "id": "f00d", "name": "piers", "title": "Piers", "notes": "Piers of a coast", "tags": [{"name": "harbour", "display_name": "harbour"}],
    "extras": [{"key": "publisher_name", "value": "Coast office"}, {"key": "issued", "value": "2022-03"}, {"key": "identifier", "value": "p-7"},
               {"key": "theme", "value": '["http://publications.europa.eu/resource/authority/data-theme/TRAN"]'},
               {"key": "spatial", "value": '{"type":"Point","coordinates":[5.0,52.5]}'}],
    "resources": [{"id": "r1", "package_id": "f00d", "name": "Table", "url": "http://portal.example/old piers.csv", "format": "CSV", "mimetype": "text/csv",
                   "license": "http://creativecommons.org/licenses/by/4.0/"}],
}


class Readers:
    """The program, and the clients that read what it serves."""

    def __init__(self, program):
        self.program = program

    @contextlib.contextmanager
    def serve(self, name, text):
        """Loads and serves one catalogue. Yields the server."""
        with tempfile.TemporaryDirectory(prefix="lodeseek-roundtrip-") as folder:
            source, home = pathlib.Path(folder, name), folder + "/home"
            source.write_text(text, newline="")
            for command in (["load", str(source)], ["index", "--ranking", "words"]):
                subprocess.run([self.program, "--home", home, *command], check=True, stderr=subprocess.DEVNULL)
            with clients.Server(self.program, home) as server:
                yield server

    def ckan(self, text, *arguments):
        """Runs ckanext-dcat and returns its output."""
        environment = {**os.environ, "PYTHONPATH": str(peers.python_packages("ckanext-dcat"))}
        done = subprocess.run([sys.executable, "-c", CKAN, *arguments], input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
        assert done.returncode == 0, done.stderr[-1500:]
        return done.stdout

    def rdflib(self):
        folder = str(peers.python_packages("shacl"))
        if folder not in sys.path:
            sys.path.insert(0, folder)
        import rdflib
        return rdflib


def fields(package):
    """Returns the values of a package by name, with lists in order and without those that depend on the portal."""
    values = {extra["key"]: extra["value"] for extra in package.get("extras", [])}
    values.update({key: package[key] for key in ("title", "notes", "version") if package.get(key)})
    values["tags"] = sorted(tag["name"] for tag in package.get("tags", []))
    values["resources"] = [{key: one.get(key) for key in ("url", "access_url", "format", "license", "mimetype")} for one in package["resources"]]
    for key, value in values.items():
        if isinstance(value, str) and value.startswith("["):
            values[key] = sorted(json.loads(value), key=str)
    for key in ("uri", "guid", "dcat_catalog_homepage"):
        values.pop(key, None)
    return values


def check_terms_for_ckan(readers):
    """The harvester of CKAN reads the same values, and the IRIs of all described terms, from the served feed."""
    source = {package["title"]: fields(package) for package in json.loads(readers.ckan(TERMS, "read"))}
    with readers.serve("feed.ttl", TERMS) as server:
        served = {package["title"]: fields(package) for package in json.loads(readers.ckan(clients.fetch(server.address + "/catalog.ttl"), "read"))}
    assert sorted(source) == sorted(served) == ["Dunes", "Marsh"], (sorted(source), sorted(served))
    for title, expected in source.items():
        for key, value in expected.items():
            assert served[title].get(key) == value, f"{title}, {key}: {served[title].get(key)!r} instead of {value!r}"


def check_terms_for_rdflib(readers):
    """Every statement about the datasets and their terms is in the catalogue and in the description, in four syntaxes."""
    rdflib = readers.rdflib()
    source = rdflib.Graph().parse(data=TERMS, format="turtle")
    identifier = rdflib.URIRef("http://purl.org/dc/terms/identifier")
    office = rdflib.URIRef("http://feed.example/office")

    def statements(graph, name):
        node = graph.value(predicate=identifier, object=rdflib.Literal(name))
        return {(p, o) for p, o in graph.predicate_objects(node) if not isinstance(o, rdflib.BNode)}

    with readers.serve("feed.ttl", TERMS) as server:
        for media_type, syntax in SYNTAXES.items():
            catalogue = rdflib.Graph().parse(data=clients.fetch(server.address + "/catalog", media_type), format=syntax)
            description = rdflib.Graph().parse(data=clients.fetch(server.address + "/dataset/dunes", media_type), format=syntax)
            for graph in (catalogue, description):
                missing = statements(source, "dunes") - statements(graph, "dunes")
                assert not missing, (media_type, missing)
                missing = set(source.triples((office, None, None))) - set(graph)
                assert not missing, (media_type, missing)


def check_versions(readers):
    """Clients without RDF 1.2 read all datasets, in four syntaxes; those that request version 1.2 get it."""
    rdflib = readers.rdflib()
    title = rdflib.URIRef("http://purl.org/dc/terms/title")
    with readers.serve("feed.ttl", VERSION_2) as server:
        for media_type, syntax in SYNTAXES.items():
            for path in ("/catalog", "/dataset/wells", "/dataset/reeds"):
                with urllib.request.urlopen(urllib.request.Request(server.address + path, headers={"Accept": media_type})) as answer:
                    assert "1.2" not in answer.headers["content-type"], answer.headers["content-type"]
                    graph = rdflib.Graph().parse(data=answer.read(), format=syntax)
                titles = {literal.n3() for literal in graph.objects(None, title)}
                if path != "/dataset/reeds":
                    assert {'"آبار"@ar', '"Wells"@en'} <= titles, (media_type, path, titles)
                if path != "/dataset/wells":
                    assert '"Reeds"' in titles, (media_type, path, titles)
        request = urllib.request.Request(server.address + "/catalog", headers={"Accept": "text/turtle;version=1.2"})
        with urllib.request.urlopen(request) as answer:
            text = answer.read().decode()
            assert "version=1.2" in answer.headers["content-type"].replace('"', ""), answer.headers["content-type"]
        assert text.startswith("VERSION") and "@ar--rtl" in text, text[:200]


def check_rapper(readers):
    rapper = shutil.which("rapper")
    if not rapper:
        raise LookupError("rapper is not installed (Debian: raptor2-utils)")
    with readers.serve("feed.ttl", VERSION_2) as server, tempfile.NamedTemporaryFile("w", suffix=".rdf") as file:
        file.write(clients.fetch(server.address + "/catalog.rdf"))
        file.flush()
        done = subprocess.run([rapper, "-q", "-i", "rdfxml", "-o", "ntriples", file.name], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0 and "Reeds" in done.stdout, done.stderr[:1000]


def check_exports_of_ckan(readers):
    """The same package in the profiles of ckanext-dcat is one dataset each, with the same facts."""
    for profile, syntax, name in [("euro_dcat_ap_2", "turtle", "feed.ttl"), ("euro_dcat_ap_3", "turtle", "feed.ttl"), ("euro_dcat_ap_3", "xml", "feed.rdf"),
                                  ("dcat_us_3", "json-ld", "feed.jsonld"), ("schemaorg", "json-ld", "feed.jsonld"), ("croissant", "json-ld", "feed.jsonld")]:
        text = readers.ckan(json.dumps(PACKAGE), "write", profile, syntax)
        with readers.serve(name, text) as server:
            [package] = json.loads(clients.fetch(server.address + "/api/3/action/package_search?q=piers"))["result"]["results"]
        found = {"title": package["title"], "notes": package["notes"], "tags": [tag["name"] for tag in package["tags"]],
                 "organization": (package["organization"] or {}).get("title"), "url": package["resources"][0]["url"], "format": package["resources"][0]["format"]}
        # The exporter of Croissant leaves the publisher out.
        expected = {"title": "Piers", "notes": "Piers of a coast", "tags": ["harbour"], "organization": None if profile == "croissant" else "Coast office",
                    "url": "http://portal.example/old%20piers.csv", "format": "CSV"}
        assert found == expected, f"{profile}, {syntax}: {found}"


def check_croissant(readers):
    """mlcroissant reads the same record sets from the served document, without warnings that the source did not have."""
    folder = str(peers.python_packages("croissant"))
    script = """if True:
        import json, logging, sys, warnings
        logging.disable(logging.CRITICAL)
        warnings.simplefilter("ignore")
        import mlcroissant
        metadata = mlcroissant.Dataset(jsonld=json.load(sys.stdin)).metadata
        fields = [[record.name, field.name, field.description, str(field.data_types)] for record in metadata.record_sets for field in record.fields]
        issues = metadata.ctx.issues
        print(json.dumps({"fields": fields, "cite": metadata.cite_as, "license": metadata.license, "files": [str(one.name) for one in metadata.distribution],
                          "description": metadata.description, "errors": sorted(issues.errors), "warnings": sorted(issues.warnings)}, default=str))"""

    def read(text):
        done = subprocess.run([sys.executable, "-c", script], input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": folder})
        assert done.returncode == 0, done.stderr[-1500:]
        return json.loads(done.stdout)

    text = json.dumps(CROISSANT)
    source = read(text)
    assert source["fields"], "the source has no field: the check could not fail"
    with readers.serve("moorings.json", text) as server:
        [hit] = json.loads(clients.fetch(server.address + "/api/search?q=depth+of+the+sensor"))["hits"]
        document = clients.fetch(f"{server.address}/dataset/{hit['id']}/croissant")
    served = read(document)
    assert not set(served["warnings"]) - set(source["warnings"]), served["warnings"]
    for key in ("fields", "cite", "license", "files", "description", "errors"):
        assert served[key] == source[key], f"{key}: {served[key]} instead of {source[key]}"
    assert json.loads(document)["rai:dataCollection"] == "by divers", document


def main():
    peers.end_well()
    readers = Readers(str(pathlib.Path(sys.argv[1]).resolve()))
    passed = failed = skipped = 0
    for check in (check_terms_for_ckan, check_terms_for_rdflib, check_versions, check_rapper, check_exports_of_ckan, check_croissant):
        name = check.__name__.removeprefix("check_")
        try:
            check(readers)
            passed += 1
            print(f"roundtrip {name} ... ok")
        except (KeyError, IndexError) as error:
            failed += 1
            print(f"roundtrip {name} ... FAILED: {type(error).__name__}: {error}")
        except LookupError as reason:
            skipped += 1
            print(f"roundtrip {name} ... SKIPPED: {reason}")
        except Exception as error:  # the remaining checks must run
            failed += 1
            print(f"roundtrip {name} ... FAILED: {type(error).__name__}: {error}")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
