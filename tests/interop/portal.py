#!/usr/bin/env python3
"""Tests of the portal interfaces with ckanapi, mlcroissant, pySHACL and, if installed, Chromium.

usage: portal.py PROGRAM

Expected results are computed by rdflib from testdata/catalog.ttl. Missing packages are installed from PyPI into the cache folder.
Checks whose client cannot be installed are skipped with a message. The last line counts passed, failed and skipped checks.
"""

import collections
import json
import logging
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
import warnings
import xml.etree.ElementTree as xml

import clients
import peers

ROOT = clients.ROOT
SH = "http://www.w3.org/ns/shacl#"
ATOM = "{http://www.w3.org/2005/Atom}"
MAP = "{http://www.sitemaps.org/schemas/sitemap/0.9}"


def package(name):
    """Returns the folder of packages from PyPI, by the name of their requirements."""
    return str(peers.python_packages(name))


class World:
    """A server over testdata/, and its catalogue as read by rdflib."""

    def __init__(self, server, program):
        self.address = server.address
        self.program = program

    def portal(self):
        sys.path.insert(0, package("ckan"))
        import ckanapi
        return ckanapi, ckanapi.RemoteCKAN(self.address)

    def catalogued(self, path):
        """Returns (identifier, value) of all datasets for a property path."""
        sys.path.insert(0, package("ckan"))
        import rdflib
        graph = rdflib.Graph().parse(ROOT / "testdata/catalog.ttl")
        prefixes = """PREFIX dcat: <http://www.w3.org/ns/dcat#> PREFIX dct: <http://purl.org/dc/terms/>
            PREFIX foaf: <http://xmlns.com/foaf/0.1/> PREFIX skos: <http://www.w3.org/2004/02/skos/core#>"""
        rows = graph.query(f"{prefixes} SELECT ?id ?value {{ ?dataset a dcat:Dataset ; dct:identifier ?id ; {path} ?value }}")
        values = sorted((str(row.id), str(row.value)) for row in rows)
        assert values, "the expected result is empty: the check could not fail"
        return values


def check_lists(world):
    _, portal = world.portal()
    assert portal.action.site_read() is True
    assert portal.action.status_show()["ckan_version"].startswith("2.10")
    ids = [name for name, _ in world.catalogued("a")]
    assert portal.action.package_list() == ids, portal.action.package_list()
    titles = sorted((one["id"], one["title"]) for one in portal.action.current_package_list_with_resources())
    for pair in titles:
        assert pair in world.catalogued("dct:title"), pair
    organizations = {one["title"]: one["package_count"] for one in portal.action.organization_list(all_fields=True)}
    assert organizations == collections.Counter(name for _, name in world.catalogued("dct:publisher/foaf:name"))
    for one in portal.action.organization_list():
        shown = portal.action.organization_show(id=one, include_datasets=True)
        assert {package["organization"]["name"] for package in shown["packages"]} == {one}
    tags, themes = ({tag for _, tag in world.catalogued(path)} for path in ("dcat:keyword", "dcat:theme/skos:prefLabel"))
    assert tags <= set(portal.action.tag_list()) <= tags | themes, portal.action.tag_list()
    urls = {one["url"] for one in portal.action.license_list()}
    assert urls == {url for _, url in world.catalogued("dct:license")}, urls


def check_packages(world):
    _, portal = world.portal()
    files = collections.Counter(name for name, _ in world.catalogued("dcat:distribution"))
    modified = dict(world.catalogued("dct:modified"))
    for name in portal.action.package_list():
        shown = portal.action.package_show(id=name)
        assert (shown["name"], shown["num_resources"]) == (name, files[name]), shown
        assert shown["metadata_modified"] == modified[name] + "T00:00:00"
        assert {tag["name"] for tag in shown["tags"]} >= {tag for one, tag in world.catalogued("dcat:keyword") if one == name}, shown["tags"]
        for resource in shown["resources"]:
            assert portal.action.resource_show(id=resource["id"]) == resource
            address = resource["url"].replace("http://localhost:7878", world.address)
            # Files are served with the bytes that were loaded, in any encoding.
            with urllib.request.urlopen(address, timeout=30) as response:
                size = len(response.read())
            assert size > 0 and resource["size"] in (None, size), resource


def check_search(world):
    _, portal = world.portal()
    found = portal.action.package_search(q="nitrogen reduction plan")
    assert found["results"][0]["id"] == "chesapeake-water" and found["results"][0]["matched"], found
    seen = []
    for start in range(0, 15, 5):
        page = portal.action.package_search(rows=5, start=start, sort="name asc")
        assert page["count"] == 12
        seen += [one["name"] for one in page["results"]]
    assert seen == portal.action.package_list(), seen
    answer = portal.call_action("package_search", {"facet.field": ["organization", "tags", "license_id"], "facet.limit": -1, "rows": 0})
    tags = {item["name"]: item["count"] for item in answer["search_facets"]["tags"]["items"]}
    expected = collections.Counter(tag for _, tag in set(world.catalogued("dcat:keyword")))
    assert {tag: tags[tag] for tag in expected} == expected, tags
    for tag, count in tags.items():
        assert portal.action.package_search(fq=f'tags:"{tag}"', rows=0)["count"] == count
    since = portal.action.package_search(fq="metadata_modified:[2022-01-01T00:00:00Z TO *]", rows=100)["results"]
    assert sorted(one["id"] for one in since) == [name for name, date in world.catalogued("dct:modified") if date >= "2022"]
    by_get = portal.call_action("package_search", {"q": "trees", "rows": 1}, requests_kwargs={"timeout": 20})
    get = json.loads(clients.fetch(world.address + "/api/3/action/package_search?q=trees&rows=1"))
    assert get["result"] == by_get


def check_errors(world):
    ckanapi, portal = world.portal()
    for call, kind in [
        (lambda: portal.action.package_show(id="nothing"), ckanapi.NotFound),
        (lambda: portal.action.package_show(), ckanapi.ValidationError),
        (lambda: portal.action.package_search(rows=-1), ckanapi.ValidationError),
        (lambda: portal.action.package_search(fq="tags:(a"), ckanapi.SearchQueryError),
        (lambda: portal.action.package_search(sort="colour desc"), ckanapi.SearchQueryError),
        (lambda: portal.action.package_create(name="new"), ckanapi.NotAuthorized),
        (lambda: portal.action.package_dance(), ckanapi.CKANAPIError),
    ]:
        try:
            call()
        except ckanapi.CKANAPIError as error:
            assert type(error) is kind, f"{type(error).__name__} for {kind.__name__}: {error}"
        else:
            raise AssertionError(f"{kind.__name__} was expected")


def check_dump(world):
    """`ckanapi dump datasets --all` copies the whole portal."""
    folder = package("ckan")
    command = [folder + "/bin/ckanapi", "dump", "datasets", "--all", "-r", world.address]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120,
                          env={**os.environ, "PYTHONPATH": folder, "PATH": folder + "/bin:" + os.environ.get("PATH", "")})
    assert done.returncode == 0, done.stderr[-500:]
    names = sorted(json.loads(line)["name"] for line in done.stdout.splitlines())
    assert names == [name for name, _ in world.catalogued("a")], names


def check_feeds(world):
    feed = xml.fromstring(clients.fetch(world.address + "/feeds/datasets.atom?q=trees"))
    entries = feed.findall(ATOM + "entry")
    assert any(entry.findtext(ATOM + "title") == "City tree register" for entry in entries), len(entries)
    for one in [feed, *entries]:
        assert all(one.findtext(ATOM + name) for name in ("id", "title", "updated"))
    index = xml.fromstring(clients.fetch(world.address + "/sitemap.xml"))
    part = index.find(f"{MAP}sitemap/{MAP}loc").text.replace("http://localhost:7878", world.address)
    pages = {url.text.rsplit("/", 1)[1] for url in xml.fromstring(clients.fetch(part)).findall(f"{MAP}url/{MAP}loc")}
    assert pages == {name for name, _ in world.catalogued("a")}, pages


def check_croissant(world):
    """mlcroissant reads every dataset without errors; the values equal those of the catalogue."""
    sys.path.insert(0, package("croissant"))
    import mlcroissant
    logging.getLogger("absl").setLevel(logging.ERROR)
    warnings.simplefilter("ignore")
    files = collections.Counter(name for name, _ in world.catalogued("dcat:distribution"))
    titles = collections.defaultdict(set)
    for name, title in world.catalogued("dct:title"):
        titles[name].add(title)
    for name in files:
        document = json.loads(clients.fetch(f"{world.address}/dataset/{name}/croissant"))
        read = mlcroissant.Dataset(jsonld=document)
        issues = read.metadata.ctx.issues
        assert not issues.errors, issues.report()
        assert read.metadata.name in titles[name] and len(read.metadata.distribution) == files[name], read.metadata.name
        assert str(read.metadata.ctx.conforms_to.value).endswith("/1.1"), read.metadata.ctx.conforms_to
        assert document["conformsTo"] == "http://mlcommons.org/croissant/1.1", document["conformsTo"]


def check_structured_data(world):
    """Chromium finds the JSON-LD in the page, and the content security policy permits it."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if not browser:
        raise LookupError("chromium is not installed")
    with tempfile.TemporaryDirectory() as profile:
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", f"--user-data-dir={profile}",
                   "--enable-logging=stderr", "--dump-dom", world.address + "/dataset/street-trees"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
    found = re.findall(r'<script type="application/ld\+json">(.*?)</script>', done.stdout, re.DOTALL)
    assert len(found) == 1 and json.loads(found[0])["name"] == "City tree register", found
    assert "Content Security Policy" not in done.stderr, done.stderr[-2000:]


def pages(address):
    """Yields the pages of the catalogue as graphs, following the Link headers."""
    import rdflib
    following = address + "/catalog.nt?rows=100"
    while following:
        with urllib.request.urlopen(following, timeout=60) as answer:
            links = answer.headers.get_all("link")
            yield rdflib.Graph().parse(data=answer.read(), format="nt")
        following = next((link.split(">")[0].lstrip("<") for link in links if link.endswith('rel="next"')), None)
        following = following and following.replace("http://localhost:7878", address)


def violations(address, shapes):
    """Returns the number of datasets on all pages, and the violations by path and constraint."""
    sys.path.insert(0, package("shacl"))
    import pyshacl
    import rdflib
    wanted = rdflib.Graph().parse(shapes)
    # Two property shapes of the official file have no path and cannot be evaluated.
    for shape, part in list(wanted.subject_objects(rdflib.URIRef(SH + "property"))):
        if wanted.value(part, rdflib.URIRef(SH + "path")) is None:
            wanted.remove((shape, rdflib.URIRef(SH + "property"), part))
    datasets, found = 0, collections.Counter()
    for page in pages(address):
        datasets += len(set(page.objects(None, rdflib.URIRef("http://www.w3.org/ns/dcat#dataset"))))
        _, report, _ = pyshacl.validate(page, shacl_graph=wanted, inference="none")
        for result in report.subjects(rdflib.RDF.type, rdflib.URIRef(SH + "ValidationResult")):
            found[str(report.value(result, rdflib.URIRef(SH + "resultPath"))),
                  str(report.value(result, rdflib.URIRef(SH + "sourceConstraintComponent")))] += 1
    return datasets, found


def check_profile(world):
    """The catalogue conforms to DCAT-AP; a catalogue without access URLs does not."""
    datasets, found = violations(world.address, ROOT / "testdata/dcat-ap.shapes.ttl")
    assert datasets == 12 and not found, (datasets, found)
    sys.path.insert(0, package("shacl"))
    import pyshacl
    import rdflib
    page = next(pages(world.address))
    page.remove((None, rdflib.URIRef("http://www.w3.org/ns/dcat#accessURL"), None))
    conforms, _, _ = pyshacl.validate(page, shacl_graph=rdflib.Graph().parse(ROOT / "testdata/dcat-ap.shapes.ttl"))
    assert not conforms, "the shapes cannot fail"


def check_official_profile(world):
    """Real catalogues conform to the official shapes; needs LODESEEK_DATA."""
    data = pathlib.Path(os.environ.get("LODESEEK_DATA", "/nowhere"))
    shapes = data / "shapes/dcat-ap-3.0.1-shacl.ttl"
    catalogs = {"lod": (data / "lod/datasets.json", 476), "papers with code": (data / "datafinder/collection.jsonl", 3294)}
    if not shapes.exists() or not all(path.exists() for path, _ in catalogs.values()):
        raise LookupError("LODESEEK_DATA is not a folder with shapes/, lod/ and datafinder/")
    for name, (path, expected) in catalogs.items():
        with tempfile.TemporaryDirectory(prefix="lodeseek-profile-") as home:
            for command in (["load", str(path)], ["index", "--analysis", "acordar", "--ranking", "words"]):
                subprocess.run([world.program, "--home", home, *command], check=True, stderr=subprocess.DEVNULL)
            with clients.Server(world.program, home) as server:
                datasets, found = violations(server.address, shapes)
        print(f"portal official_profile: {name}: {datasets} datasets, {sum(found.values())} violations")
        assert datasets == expected and not found, (name, datasets, found)


def check_shapes(world):
    """The content of every dataset conforms to its shapes; the shapes are SHACL and can fail."""
    sys.path.insert(0, package("shacl"))
    import pyshacl
    import rdflib
    datasets = [name for name, _ in world.catalogued("a")]
    with_shapes = 0
    for name in datasets:
        shapes = rdflib.Graph().parse(data=clients.fetch(f"{world.address}/dataset/{name}/shapes", "text/turtle"))
        iri = urllib.parse.quote(f"http://localhost:7878/dataset/{name}", safe="")
        data = rdflib.Graph().parse(data=clients.fetch(f"{world.address}/rdf-graph-store?graph={iri}&format=nt"), format="nt")
        triples_here = len(data)
        conforms, _, report = pyshacl.validate(data, shacl_graph=shapes, meta_shacl=True, inference="none")
        assert conforms, (name, report)
        targets = sorted(shapes.objects(None, rdflib.URIRef(SH + "targetClass")))
        with_shapes += bool(targets)
        for target in targets[:1]:
            data.add((rdflib.URIRef("urn:nothing-known"), rdflib.RDF.type, target))
            conforms, _, _ = pyshacl.validate(data, shacl_graph=shapes, inference="none")
            required = any(shapes.value(part, rdflib.URIRef(SH + "minCount")) for shape in shapes.subjects(rdflib.URIRef(SH + "targetClass"), target)
                           for part in shapes.objects(shape, rdflib.URIRef(SH + "property")))
            assert conforms != required, f"{name}: an entity of {target} without properties"
        statistics = rdflib.Graph().parse(data=clients.fetch(f"{world.address}/dataset/{name}/void", "text/turtle"))
        triples = statistics.value(rdflib.URIRef(f"http://localhost:7878/dataset/{name}"), rdflib.URIRef("http://rdfs.org/ns/void#triples"))
        assert int(triples) >= triples_here > 0, (name, triples, triples_here)
    assert with_shapes > len(datasets) / 2, f"{with_shapes} of {len(datasets)} datasets have shapes"


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def description_of(address):
    """Returns the dataset descriptions of a catalogue, independent of its base and without the harvest's provenance."""
    import rdflib
    dcat, foaf = rdflib.Namespace("http://www.w3.org/ns/dcat#"), rdflib.Namespace("http://xmlns.com/foaf/0.1/")
    whole = rdflib.Graph()
    for page in pages(address):
        whole += page
    left_out = {rdflib.OWL.sameAs, rdflib.DCTERMS.isPartOf, foaf.isPrimaryTopicOf}
    names = {}

    def ours(term):
        return bool(re.match(r"http://(localhost|127\.0\.0\.1):\d+/dataset/", str(term)))

    def named(term):
        if not isinstance(term, rdflib.URIRef):
            return term
        text = str(term)
        if ours(term) and "#" in text:  # a part of a description, of this home or of the one it was harvested from
            return names.setdefault(text, rdflib.BNode())
        return rdflib.URIRef(re.sub(r"^http://(localhost|127\.0\.0\.1):\d+/", "urn:base:", text))

    result, waiting, seen = rdflib.Graph(), list(whole.subjects(rdflib.RDF.type, dcat.Dataset)), set()
    assert waiting, "a catalogue without datasets"
    while waiting:
        node = waiting.pop()
        if node in seen or not ours(node):
            continue
        seen.add(node)
        for property, value in whole.predicate_objects(node):
            if property not in left_out:
                result.add((named(node), property, named(value)))
                waiting.append(value)
    return result


def check_round_trip(world):
    """A catalogue harvested from its own pages or by the CKAN API has the same descriptions."""
    sys.path.insert(0, package("shacl"))
    from rdflib import DCTERMS, compare
    port = free_port()
    base = f"http://127.0.0.1:{port}/"
    with tempfile.TemporaryDirectory(prefix="lodeseek-first-") as first, tempfile.TemporaryDirectory(prefix="lodeseek-second-") as second, \
            tempfile.TemporaryDirectory(prefix="lodeseek-third-") as third:
        run = lambda home, *command: subprocess.run([world.program, "--home", home, *command], check=True, stderr=subprocess.PIPE, text=True)
        run(first, "load", "--base", base, str(ROOT / "testdata/catalog.ttl"))
        run(first, "index", "--analysis", "acordar", "--ranking", "words")
        with clients.Server(world.program, first, port=port) as server:
            expected = description_of(server.address)
            harvest = ["--allow-private-network", "127.0.0.0/8", "--pause", "1"]
            run(second, "harvest", *harvest, base + "catalog.ttl?rows=5")
            run(second, "index", "--analysis", "acordar", "--ranking", "words")
            again = run(second, "harvest", *harvest, base + "catalog.ttl?rows=5").stderr
            assert "0 new, 0 changed, 12 unchanged, 0 gone" in again, again
            run(third, "harvest", *harvest, base)
            run(third, "index", "--analysis", "acordar", "--ranking", "words")
            with clients.Server(world.program, second) as copy:
                found = description_of(copy.address)
                assert len(expected) > 100
                if not compare.isomorphic(expected, found):
                    _, here, there = compare.graph_diff(expected, found)
                    raise AssertionError(f"only in the first:\n{here.serialize()}\nonly in the second:\n{there.serialize()}"[:4000])
            with clients.Server(world.program, third) as copy:
                found = description_of(copy.address)
                for property in (DCTERMS.title, DCTERMS.description, DCTERMS.identifier):
                    wanted = {str(value) for node, value in expected.subject_objects(property) if str(node).startswith("urn:base:dataset/")}
                    had = {str(value) for node, value in found.subject_objects(property) if str(node).startswith("urn:base:dataset/")}
                    assert had and had <= wanted, (property, had - wanted)


def check_live(world):
    """A running server with --harvest serves the current state of a catalogue that changes."""
    with tempfile.TemporaryDirectory(prefix="lodeseek-live-") as folder:
        shutil.copytree(ROOT / "testdata", folder + "/data")
        catalog = pathlib.Path(folder, "data/catalog.ttl")
        with clients.Server(world.program, folder + "/home", "--ranking", "words", "--harvest", str(catalog), "--every", "1s") as server:
            found = lambda words: json.loads(clients.fetch(server.address + "/api/search?q=" + words))["hits"]

            def until(holds, what):
                for _ in range(200):
                    if holds():
                        return
                    time.sleep(0.1)
                raise AssertionError(f"{what}: not within 20 s")

            until(lambda: any(hit["id"] == "street-trees" for hit in found("trees")), "an empty home is filled")
            text = catalog.read_text()
            assert not found("xylophone")
            catalog.write_text(text.replace('"City tree register"', '"City xylophone register"'))
            until(lambda: [hit["id"] for hit in found("xylophone")] == ["street-trees"], "a changed title is found")
            query = "SELECT ?t { ?d <http://purl.org/dc/terms/identifier> 'street-trees' ; <http://purl.org/dc/terms/title> ?t }"
            answer = clients.fetch(server.address + "/sparql?query=" + urllib.parse.quote(query), "text/csv")
            assert "xylophone" in answer, answer


def main():
    peers.end_well()
    program = str(pathlib.Path(sys.argv[1]).resolve())
    passed = failed = skipped = 0
    with tempfile.TemporaryDirectory(prefix="lodeseek-portal-") as home:
        for command in (["load", str(ROOT / "testdata/catalog.ttl")], ["index", "--analysis", "acordar", "--ranking", "words"]):
            subprocess.run([program, "--home", home, *command], check=True, stderr=subprocess.DEVNULL)
        with clients.Server(program, home) as server:
            world = World(server, program)
            for check in (check_lists, check_packages, check_search, check_errors, check_dump, check_feeds, check_croissant,
                          check_structured_data, check_profile, check_official_profile, check_shapes,
                          check_round_trip, check_live):
                name = check.__name__.removeprefix("check_")
                try:
                    check(world)
                    passed += 1
                    print(f"portal {name} ... ok")
                except LookupError as reason:
                    if isinstance(reason, (KeyError, IndexError)):
                        failed += 1
                        print(f"portal {name} ... FAILED: {type(reason).__name__}: {reason}")
                        continue
                    skipped += 1
                    print(f"portal {name} ... SKIPPED: {reason}")
                except Exception as error:  # the remaining checks must run
                    failed += 1
                    print(f"portal {name} ... FAILED: {type(error).__name__}: {error}")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
