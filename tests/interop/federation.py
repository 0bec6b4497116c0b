#!/usr/bin/env python3
"""Tests of SPARQL federation with Comunica, rdflib, SPARQLWrapper, Jena ARQ, Virtuoso and Oxigraph (peers.py, clients.py).

usage: federation.py PROGRAM

The peers query a running server and search with it by SERVICE; the server queries the peers. Expected results are computed by
rdflib from the files of testdata/. Checks whose peer cannot be installed are skipped with a message. The last line counts passed,
failed and skipped checks.
"""

import gzip
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.parse

import clients
import peers

ROOT = clients.ROOT
TREES = "http://example.org/trees/vocab#"
PEER = "http://example.org/peer#"
SEARCH = "https://w3id.org/lodeseek/search#"
WORDS = "nitrogen reduction plan"
PREFIXES = f"""PREFIX dcat: <http://www.w3.org/ns/dcat#> PREFIX dct: <http://purl.org/dc/terms/>
PREFIX foaf: <http://xmlns.com/foaf/0.1/>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> PREFIX t: <{TREES}> PREFIX peer: <{PEER}> PREFIX search: <{SEARCH}>
"""
TREE = "?tree t:hasSpecies ?species ; t:streetName ?street ."
HEIGHT = "?species peer:height ?height ."
FOUND = f'?dataset search:text "{WORDS}" ; search:rank ?rank ; search:title ?title .'


class World:
    """Two Lodeseek servers and the graphs that they and their peers contain."""

    def __init__(self, folder):
        import rdflib
        self.trees, self.heights, self.catalog = rdflib.Graph(), rdflib.Graph(), rdflib.Graph()
        with gzip.open(ROOT / "testdata/dumps/trees.nt.gz") as file:
            self.trees.parse(file, format="nt")
        self.catalog.parse(ROOT / "testdata/catalog.ttl")
        species = sorted(self.trees.subjects(rdflib.RDF.type, rdflib.URIRef(TREES + "Species")))
        for place, one in enumerate(species[1:]):  # one has no height
            self.heights.add((one, rdflib.URIRef(PEER + "height"), rdflib.Literal(20 + 5 * place)))
            self.heights.add((one, rdflib.RDF.type, rdflib.URIRef(PEER + "Measured")))
        for one in species:
            self.heights.add((one, rdflib.URIRef(PEER + "note"), rdflib.Literal(f"measured: {str(one).rsplit('/', 1)[1].replace('_', ' ')}")))
        self.heights.add((rdflib.URIRef(PEER + "elsewhere"), rdflib.URIRef(PEER + "height"), rdflib.Literal(1)))
        self.file = pathlib.Path(folder) / "heights.ttl"
        self.heights.serialize(self.file, format="turtle")

    def expected(self, query, *graphs):
        """Returns the rows that rdflib finds in the union of the graphs."""
        import rdflib
        all = rdflib.Graph()
        for graph in graphs or (self.trees, self.heights):
            all += graph
        answer = all.query(PREFIXES + query)
        rows = table([{str(name): str(row[name]) for name in answer.vars if row[name] is not None} for row in answer])
        assert rows, "the expected result is empty: the check could not fail"
        return rows

    def described(self, hit, path):
        """Returns the catalogue's values of a property path for a hit, by rdflib."""
        query = f'SELECT ?value {{ ?dataset dct:identifier "{hit["dataset"].rsplit("/", 1)[1]}" ; {path} ?value }}'
        return sorted(str(row.value) for row in self.catalog.query(PREFIXES + query))

    def query(self, query):
        """Returns the rows of the server over the dataset of trees."""
        return from_json(peers.ask(self.trees_endpoint, PREFIXES + query))

    def hits(self, words=WORDS):
        """Returns dataset, rank and title of each hit of the JSON API."""
        hits = json.loads(clients.fetch(self.server.address + "/api/search?q=" + urllib.parse.quote(words)))["hits"]
        assert "chesapeake-water" in [hit["id"] for hit in hits]
        return [{"dataset": f"{self.server.address}/dataset/{hit['id']}", "rank": str(hit["rank"]), "title": hit["title"]} for hit in hits]


def table(rows):
    """Returns rows as sorted tuples of text."""
    return sorted(tuple(sorted(row.items())) for row in rows)


def from_json(text):
    answer = json.loads(text)
    return table([{name: term["value"] for name, term in row.items()} for row in answer["results"]["bindings"]])


def equal(found, expected):
    assert found == expected, f"{len(found)} rows: {str(found)[:300]} for {len(expected)}: {str(expected)[:300]}"


def comunica(sources, query):
    node, commands, environment = peers.comunica()
    command = [node, str(commands / "query.js"), *sources, "-q", PREFIXES + query, "-t", "application/sparql-results+json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=180, env=environment)
    assert done.returncode == 0, done.stderr[-500:]
    return from_json(done.stdout)


def check_comunica_alone(world):
    """Comunica runs joins, counts and OPTIONAL on the endpoint, detected by its service description."""
    source = [f"sparql@{world.trees_endpoint}"]
    for query in (
        f"SELECT ?tree ?street ?label {{ {TREE} ?species rdfs:label ?label FILTER(LANG(?label) = 'la') }}",
        "SELECT (COUNT(*) AS ?trees) { ?tree a t:StreetTree }",
        "SELECT ?tree ?year ?girth { ?tree a t:StreetTree OPTIONAL { ?tree t:plantedYear ?year } OPTIONAL { ?tree t:trunkGirthCm ?girth } }",
        "SELECT ?family (COUNT(?tree) AS ?trees) { ?tree t:hasSpecies/t:family ?family } GROUP BY ?family",
    ):
        equal(comunica(source, query), world.expected(query))
    named = comunica([world.server.address + "/sparql"], "SELECT ?title { ?d a dcat:Dataset ; dct:title ?title }")
    equal(named, world.expected("SELECT ?title { ?d a dcat:Dataset ; dct:title ?title }", world.catalog))


def check_comunica_federated(world):
    """Comunica joins the server with a second endpoint and selects the sources itself."""
    query = f"SELECT ?tree ?street ?height {{ {TREE} {HEIGHT} }}"
    sources = [f"sparql@{world.trees_endpoint}", f"sparql@{world.heights_endpoint}"]
    equal(comunica(sources, query), world.expected(query))


def check_comunica_search(world):
    """Comunica calls the search by SERVICE, by the base or another host name, and joins it with the catalogue."""
    hits = [(hit, issued) for hit in world.hits() for issued in world.described(hit, "dct:issued")]
    expected = table([{"rank": hit["rank"], "title": hit["title"], "issued": issued} for hit, issued in hits])
    for address in (world.server.address, world.server.address.replace("127.0.0.1", "localhost")):
        query = f"SELECT ?rank ?title ?issued {{ SERVICE <{address}/search> {{ {FOUND} }} ?dataset dct:issued ?issued }}"
        equal(comunica([f"sparql@{address}/sparql"], query), expected)


def check_rdflib_search(world):
    import rdflib
    answer = rdflib.Graph().query(f"{PREFIXES} SELECT ?dataset ?rank ?title {{ SERVICE <{world.search}> {{ {FOUND} }} }}")
    equal(table([{str(name): str(row[name]) for name in answer.vars} for row in answer]), table(world.hits()))
    graph = world.heights
    query = f"SELECT ?tree ?street ?height {{ SERVICE <{world.trees_endpoint}> {{ {TREE} }} {HEIGHT} }}"
    answer = graph.query(PREFIXES + query)
    rows = table([{str(name): str(row[name]) for name in answer.vars} for row in answer])
    equal(rows, world.expected(f"SELECT ?tree ?street ?height {{ {TREE} {HEIGHT} }}"))


def check_sparqlwrapper_search(world):
    """SPARQLWrapper runs the example queries in queries/."""
    from SPARQLWrapper import JSON, POST, TURTLE, SPARQLWrapper
    client = SPARQLWrapper(world.server.address + "/sparql")
    client.setMethod(POST)
    for file in sorted((ROOT / "queries").glob("search-*.rq")):
        client.setQuery(file.read_text())
        client.setReturnFormat(TURTLE if "CONSTRUCT" in file.read_text() else JSON)
        answer = client.queryAndConvert()
        if file.name == "search-datasets.rq":
            rows = [[row["rank"]["value"], row["title"]["value"], *([row["creator"]["value"]] if "creator" in row else [])]
                    for row in answer["results"]["bindings"]]
            expected = [[hit["rank"], hit["title"], *world.described(hit, "dct:publisher/foaf:name")] for hit in world.hits()]
            equal(rows, expected)
        elif "CONSTRUCT" in file.read_text():
            import rdflib
            found = set(rdflib.Graph().parse(data=answer, format="turtle").objects(None, rdflib.DCTERMS.title))
            known = set(world.catalog.objects(None, rdflib.DCTERMS.title))
            assert found and found <= known, found - known
        else:
            assert answer["results"]["bindings"], f"{file.name} finds nothing"


# Words lead to species in both datasets: in the trees by their labels, in the heights by notes. The data of both is joined.
ENTITIES = """SELECT ?tree ?street ?species ?height WHERE {{
  SERVICE <{search}> {{ ?match search:literalText "ginkgo tilia" ; search:limit 100 ; search:entity ?species . }}
  SERVICE <{other_search}> {{ ?other search:literalText "ginkgo tilia" ; search:limit 100 ; search:entity ?species . }}
  {{ ?tree t:hasSpecies ?species ; t:streetName ?street . }}
  {heights}
}}"""


def entities_expected(world):
    """Returns the rows that rdflib finds with both words as regular expressions."""
    words = "FILTER(EXISTS { ?species rdfs:label ?label FILTER(REGEX(?label, '\\\\b(ginkgo|tilia)\\\\b', 'i')) })"
    return world.expected(f"SELECT DISTINCT ?tree ?street ?species ?height {{ {TREE} {HEIGHT} {words} }}")


def check_comunica_entities(world):
    """Comunica goes from words to the entities that two datasets of two servers have in common."""
    words = 'search:literalText "ginkgo tilia" ; search:limit 100 ; search:entity ?species .'
    query = f"SELECT ?species {{ SERVICE <{world.search}> {{ ?match {words} }} SERVICE <{world.other_search}> {{ ?other {words} }} }}"
    found = comunica([f"sparql@{world.trees_endpoint}"], query)
    species = sorted({dict(row)["species"] for row in entities_expected(world)})
    assert species and sorted({dict(row)["species"] for row in found}) == species, found


def check_sparqlwrapper_entities(world):
    """SPARQLWrapper sends the same query to one server, which calls the other one."""
    from SPARQLWrapper import JSON, POST, SPARQLWrapper
    heights = f"SERVICE <{world.heights_endpoint}> {{ {HEIGHT} }}"
    client = SPARQLWrapper(world.trees_endpoint.split("?")[0])
    client.addParameter("default-graph-uri", world.trees_endpoint.split("default-graph-uri=")[1])
    client.setMethod(POST)
    client.setReturnFormat(JSON)
    client.setQuery(PREFIXES + ENTITIES.format(search=world.search, other_search=world.other_search, heights=heights))
    answer = client.queryAndConvert()
    rows = [{name: term["value"] for name, term in row.items()} for row in answer["results"]["bindings"]]
    equal(table(rows), entities_expected(world))


def check_guide(world):
    """The search query of the guide to federation returns the hits of the JSON API."""
    text = (ROOT / "docs/src/how-to/federate-sparql.md").read_text()
    (query,) = (block for block in re.findall("```sparql\n(.*?)```", text, re.DOTALL) if "/search>" in block and "search:text" in block)
    (words,) = re.findall('search:text "(.*?)"', query)
    found = from_json(peers.ask(world.server.address + "/sparql", query.replace("http://localhost:7878/search", world.search)))
    hits = [(hit, issued) for hit in world.hits(words) for issued in world.described(hit, "dct:issued")]
    equal(found, table([{"rank": hit["rank"], "title": hit["title"], "issued": issued} for hit, issued in hits]))


def check_jena(world):
    """Jena joins a file with the server's content, one request a binding, and searches by SERVICE."""
    command = peers.jena()

    def ask(query):
        done = subprocess.run([*command, "--data", str(world.file), "--results", "json", PREFIXES + query], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=180)
        assert done.returncode == 0 and done.stdout.strip(), done.stderr[-500:]
        return from_json(done.stdout)

    query = f"SELECT ?tree ?street ?height {{ {HEIGHT} SERVICE <{world.trees_endpoint}> {{ {TREE} }} }}"
    equal(ask(query), world.expected(f"SELECT ?tree ?street ?height {{ {HEIGHT} {TREE} }}"))
    equal(ask(f"SELECT ?dataset ?rank ?title {{ SERVICE <{world.search}> {{ {FOUND} }} }}"), table(world.hits()))


def query_peer(world, endpoint):
    """Checks that the server joins its content with a peer's in one request, also in OPTIONAL and FILTER NOT EXISTS."""
    world.counter.point(endpoint)
    service = f"SERVICE <{world.counter.endpoint}> {{ {HEIGHT} }}"
    for inside, outside in ((service, HEIGHT), (f"OPTIONAL {{ {service} }}", f"OPTIONAL {{ {HEIGHT} }}"),
                            (f"FILTER NOT EXISTS {{ {service} }}", f"FILTER NOT EXISTS {{ {HEIGHT} }}")):
        world.counter.reset()
        equal(world.query(f"SELECT * {{ {TREE} {inside} }}"), world.expected(f"SELECT * {{ {TREE} {outside} }}"))
        assert world.counter.requests == 1, f"{world.counter.requests} requests"
        assert "height" in world.counter.last and PEER + "elsewhere" not in world.counter.last, "the request contains bindings that join nothing"


def query_from_peer(world, peer):
    """Checks that a peer joins its content with the server's and calls its search."""
    query = f"SELECT ?tree ?street ?height {{ {HEIGHT} SERVICE <{world.trees_endpoint}> {{ {TREE} }} }}"
    equal(from_json(peers.ask(peer.endpoint, PREFIXES + query)), world.expected(f"SELECT ?tree ?street ?height {{ {HEIGHT} {TREE} }}"))
    query = f"SELECT ?dataset ?rank ?title {{ SERVICE <{world.search}> {{ {FOUND} }} }}"
    equal(from_json(peers.ask(peer.endpoint, PREFIXES + query)), table(world.hits()))


def check_oxigraph(world):
    with peers.Oxigraph(world.file) as peer:
        query_peer(world, peer.endpoint)
        query_from_peer(world, peer)


def check_virtuoso(world):
    with peers.Virtuoso(world.file) as peer:
        query_peer(world, peer.endpoint)
        query_from_peer(world, peer)


def check_lodeseek(world):
    """A Lodeseek server queries another one."""
    query_peer(world, world.heights_endpoint)


CHECKS = (check_comunica_alone, check_comunica_federated, check_comunica_search, check_rdflib_search, check_sparqlwrapper_search,
          check_comunica_entities, check_sparqlwrapper_entities, check_guide, check_jena, check_lodeseek, check_oxigraph, check_virtuoso)


def make_home(program, home, catalog, base):
    for command in (["load", "--base", base, str(catalog)], ["index", "--analysis", "acordar", "--ranking", "words"]):
        subprocess.run([program, "--home", str(home), *command], check=True, stderr=subprocess.DEVNULL)


def run(check, world):
    name = check.__name__.removeprefix("check_")
    try:
        check(world)
        print(f"federation {name} ... ok", flush=True)
        return "passed"
    except peers.Missing as reason:
        print(f"federation {name} ... SKIPPED: {reason}", flush=True)
        return "skipped"
    except Exception as error:  # the remaining checks must run
        print(f"federation {name} ... FAILED: {type(error).__name__}: {error}", flush=True)
        return "failed"


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    peers.end_well()
    packages = clients.install()
    if not packages:
        missing = " and ".join(clients.PACKAGES)
        print(f"federation ... SKIPPED: {missing} could not be installed from PyPI; rdflib computes the expected results")
        return
    sys.path.insert(0, str(packages))
    with tempfile.TemporaryDirectory(prefix="lodeseek-federation-") as folder:
        folder = pathlib.Path(folder)
        world = World(folder)
        (folder / "datasets.json").write_text('[{"dataset_id": "heights", "title": "Heights", "download": ["heights.ttl"]}]')
        one, two = peers.free_port(), peers.free_port()
        # The base is the public address of the server.
        make_home(program, folder / "one", ROOT / "testdata/catalog.ttl", f"http://127.0.0.1:{one}/")
        make_home(program, folder / "two", folder / "datasets.json", f"http://127.0.0.1:{two}/")
        with peers.Counter(plain=True) as world.counter, clients.Server(program, str(folder / "two"), port=two) as second:
            allowed = ["--service", world.counter.address + "/", "--service", second.address + "/",
                       "--allow-private-network", "127.0.0.0/8"]
            with clients.Server(program, str(folder / "one"), *allowed, port=one) as world.server:
                world.search = world.server.address + "/search"
                world.other_search = second.address + "/search"
                world.trees_endpoint = f"{world.server.address}/sparql?default-graph-uri={world.server.address}/dataset/street-trees"
                world.heights_endpoint = f"{second.address}/sparql?default-graph-uri={second.address}/dataset/heights"
                results = [run(check, world) for check in CHECKS]
    print(", ".join(f"{results.count(kind)} {kind}" for kind in ("passed", "failed", "skipped")))
    sys.exit(1 if "failed" in results else 0)


if __name__ == "__main__":
    main()
