#!/usr/bin/env python3
"""Other SPARQL programs beside a running server: they ask it, search with it by SERVICE, and it asks them.

usage: federation.py PROGRAM

Comunica, rdflib, SPARQLWrapper, Jena ARQ, Virtuoso and Oxigraph (peers.py, clients.py). What must come out is computed by
rdflib from the files of testdata/. Who cannot be had is skipped, loudly. The last line counts passed, failed and skipped checks.
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
    """Our two servers, and what they and their peers hold."""

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
        self.heights.add((rdflib.URIRef(PEER + "elsewhere"), rdflib.URIRef(PEER + "height"), rdflib.Literal(1)))
        self.file = pathlib.Path(folder) / "heights.ttl"
        self.heights.serialize(self.file, format="turtle")

    def expected(self, query, *graphs):
        """What rdflib finds in these graphs together."""
        import rdflib
        all = rdflib.Graph()
        for graph in graphs or (self.trees, self.heights):
            all += graph
        answer = all.query(PREFIXES + query)
        rows = table([{str(name): str(row[name]) for name in answer.vars if row[name] is not None} for row in answer])
        assert rows, "nothing is expected: a check that could not fail"
        return rows

    def described(self, hit, path):
        """What the catalogue says of a hit, by rdflib."""
        query = f'SELECT ?value {{ ?dataset dct:identifier "{hit["dataset"].rsplit("/", 1)[1]}" ; {path} ?value }}'
        return sorted(str(row.value) for row in self.catalog.query(PREFIXES + query))

    def query(self, query):
        """What our server answers, over the content of the trees."""
        return from_json(peers.ask(self.trees_endpoint, PREFIXES + query))

    def asked(self, words=WORDS):
        """What is found, by the interface that is not SPARQL: rank and title."""
        hits = json.loads(clients.fetch(self.server.address + "/api/search?q=" + urllib.parse.quote(words)))["hits"]
        assert "chesapeake-water" in [hit["id"] for hit in hits]
        return [{"dataset": f"{self.server.address}/dataset/{hit['id']}", "rank": str(hit["rank"]), "title": hit["title"]} for hit in hits]


def table(rows):
    """Rows as text in one order, whoever answered them."""
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
    """Its joins, counts and optional parts over our endpoint, which it knows by its service description."""
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
    """It joins us with a second endpoint, itself finding out who has what."""
    query = f"SELECT ?tree ?street ?height {{ {TREE} {HEIGHT} }}"
    sources = [f"sparql@{world.trees_endpoint}", f"sparql@{world.heights_endpoint}"]
    equal(comunica(sources, query), world.expected(query))


def check_comunica_search(world):
    """A SERVICE of its query is our search, by the base or another name of the address; another part of it our catalogue."""
    hits = [(hit, issued) for hit in world.asked() for issued in world.described(hit, "dct:issued")]
    expected = table([{"rank": hit["rank"], "title": hit["title"], "issued": issued} for hit, issued in hits])
    for address in (world.server.address, world.server.address.replace("127.0.0.1", "localhost")):
        query = f"SELECT ?rank ?title ?issued {{ SERVICE <{address}/search> {{ {FOUND} }} ?dataset dct:issued ?issued }}"
        equal(comunica([f"sparql@{address}/sparql"], query), expected)


def check_rdflib_search(world):
    import rdflib
    answer = rdflib.Graph().query(f"{PREFIXES} SELECT ?dataset ?rank ?title {{ SERVICE <{world.search}> {{ {FOUND} }} }}")
    equal(table([{str(name): str(row[name]) for name in answer.vars} for row in answer]), table(world.asked()))
    graph = world.heights
    query = f"SELECT ?tree ?street ?height {{ SERVICE <{world.trees_endpoint}> {{ {TREE} }} {HEIGHT} }}"
    answer = graph.query(PREFIXES + query)
    rows = table([{str(name): str(row[name]) for name in answer.vars} for row in answer])
    equal(rows, world.expected(f"SELECT ?tree ?street ?height {{ {TREE} {HEIGHT} }}"))


def check_sparqlwrapper_search(world):
    """The worked examples as they stand in queries/, by the client most programs in Python have."""
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
            expected = [[hit["rank"], hit["title"], *world.described(hit, "dct:publisher/foaf:name")] for hit in world.asked()]
            equal(rows, expected)
        elif "CONSTRUCT" in file.read_text():
            import rdflib
            found = set(rdflib.Graph().parse(data=answer, format="turtle").objects(None, rdflib.DCTERMS.title))
            known = set(world.catalog.objects(None, rdflib.DCTERMS.title))
            assert found and found <= known, found - known
        else:
            assert answer["results"]["bindings"], f"{file.name} finds nothing"


def check_readme(world):
    """The query that README shows."""
    text = (ROOT / "README.md").read_text()
    (query,) = (block for block in re.findall("```sparql\n(.*?)```", text, re.DOTALL) if "/search>" in block)
    (words,) = re.findall('search:text "(.*?)"', query)
    found = from_json(peers.ask(world.server.address + "/sparql", query.replace("http://localhost:7878/search", world.search)))
    hits = [(hit, issued) for hit in world.asked(words) for issued in world.described(hit, "dct:issued")]
    equal(found, table([{"rank": hit["rank"], "title": hit["title"], "issued": issued} for hit, issued in hits]))


def check_jena(world):
    """It joins a file with our content, one request for each of its bindings; and searches."""
    command = peers.jena()

    def ask(query):
        done = subprocess.run([*command, "--data", str(world.file), "--results", "json", PREFIXES + query], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=180)
        assert done.returncode == 0 and done.stdout.strip(), done.stderr[-500:]
        return from_json(done.stdout)

    query = f"SELECT ?tree ?street ?height {{ {HEIGHT} SERVICE <{world.trees_endpoint}> {{ {TREE} }} }}"
    equal(ask(query), world.expected(f"SELECT ?tree ?street ?height {{ {HEIGHT} {TREE} }}"))
    equal(ask(f"SELECT ?dataset ?rank ?title {{ SERVICE <{world.search}> {{ {FOUND} }} }}"), table(world.asked()))


def ask_peer(world, endpoint):
    """Our content joined with another's in one request for all of its bindings; also where nothing need be there, or may."""
    world.counter.point(endpoint)
    service = f"SERVICE <{world.counter.endpoint}> {{ {HEIGHT} }}"
    for inside, outside in ((service, HEIGHT), (f"OPTIONAL {{ {service} }}", f"OPTIONAL {{ {HEIGHT} }}"),
                            (f"FILTER NOT EXISTS {{ {service} }}", f"FILTER NOT EXISTS {{ {HEIGHT} }}")):
        world.counter.reset()
        equal(world.query(f"SELECT * {{ {TREE} {inside} }}"), world.expected(f"SELECT * {{ {TREE} {outside} }}"))
        assert world.counter.requests == 1, f"{world.counter.requests} requests"
        assert "height" in world.counter.last and PEER + "elsewhere" not in world.counter.last, "asked for what joins nothing"


def asks_us(world, peer):
    """Another's content joined with ours and with our search."""
    query = f"SELECT ?tree ?street ?height {{ {HEIGHT} SERVICE <{world.trees_endpoint}> {{ {TREE} }} }}"
    equal(from_json(peers.ask(peer.endpoint, PREFIXES + query)), world.expected(f"SELECT ?tree ?street ?height {{ {HEIGHT} {TREE} }}"))
    query = f"SELECT ?dataset ?rank ?title {{ SERVICE <{world.search}> {{ {FOUND} }} }}"
    equal(from_json(peers.ask(peer.endpoint, PREFIXES + query)), table(world.asked()))


def check_oxigraph(world):
    with peers.Oxigraph(world.file) as peer:
        ask_peer(world, peer.endpoint)
        asks_us(world, peer)


def check_virtuoso(world):
    with peers.Virtuoso(world.file) as peer:
        ask_peer(world, peer.endpoint)
        asks_us(world, peer)


def check_lodeseek(world):
    """One of ours asks another of ours."""
    ask_peer(world, world.heights_endpoint)


CHECKS = (check_comunica_alone, check_comunica_federated, check_comunica_search, check_rdflib_search, check_sparqlwrapper_search,
          check_readme, check_jena, check_lodeseek, check_oxigraph, check_virtuoso)


def make_home(program, home, catalog, base):
    for command in (["load", "--base", base, str(catalog)], ["index"]):
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
    except Exception as error:  # a failed check must not hide the others
        print(f"federation {name} ... FAILED: {type(error).__name__}: {error}", flush=True)
        return "failed"


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    peers.end_well()
    packages = clients.install()
    if not packages:
        missing = " and ".join(clients.PACKAGES)
        print(f"federation ... SKIPPED: {missing} could not be installed from PyPI, and they say what is expected")
        return
    sys.path.insert(0, str(packages))
    with tempfile.TemporaryDirectory(prefix="lodeseek-federation-") as folder:
        folder = pathlib.Path(folder)
        world = World(folder)
        (folder / "datasets.json").write_text('[{"dataset_id": "heights", "title": "Heights", "download": ["heights.ttl"]}]')
        one, two = peers.free_port(), peers.free_port()
        # The base is the address by which others ask, as for any home that is published.
        make_home(program, folder / "one", ROOT / "testdata/catalog.ttl", f"http://127.0.0.1:{one}/")
        make_home(program, folder / "two", folder / "datasets.json", f"http://127.0.0.1:{two}/")
        with peers.Counter(plain=True) as world.counter, clients.Server(program, str(folder / "two"), port=two) as second:
            allowed = ["--service", world.counter.address + "/", "--inner-network", "127.0.0.0/8"]
            with clients.Server(program, str(folder / "one"), *allowed, port=one) as world.server:
                world.search = world.server.address + "/search"
                world.trees_endpoint = f"{world.server.address}/sparql?default-graph-uri={world.server.address}/dataset/street-trees"
                world.heights_endpoint = f"{second.address}/sparql?default-graph-uri={second.address}/dataset/heights"
                results = [run(check, world) for check in CHECKS]
    print(", ".join(f"{results.count(kind)} {kind}" for kind in ("passed", "failed", "skipped")))
    sys.exit(1 if "failed" in results else 0)


if __name__ == "__main__":
    main()
