#!/usr/bin/env python3
"""Useful work of a SPARQL endpoint under load, beside `oxigraph serve` over a copy of the same store.

usage: useful_work.py PROGRAM HOME [SECONDS] [CLIENTS ...]

1, 4, 16 and 64 clients (or CLIENTS), each with an address of its own, send heavy, valid queries for SECONDS (default 40). Each client
goes through all queries in an order of its own, gives up after PATIENCE, and sends a query again until it is answered. Both servers
get the same queries in the same order, one server after the other. First no two queries are equal: a number in a comment differs.
Then clients send equal queries. An answer is useful if it is complete and in time. Printed for each number of clients: complete
answers and their rows a second, the share of the processor's time spent on them (that of a query alone on the server, from the first
table, over the time of all processes), and the statuses. Exits with 1 if Lodeseek has fewer useful rows a second than Oxigraph at 16
clients or more.
"""

import collections
import http.client
import itertools
import json
import pathlib
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "interop"))
import peers
import soak

PATIENCE = 30  # seconds; the deadline of `serve` by default
RESULTS = "application/sparql-results+json"
PREFIXES = """PREFIX dcat: <http://www.w3.org/ns/dcat#> PREFIX dct: <http://purl.org/dc/terms/> PREFIX foaf: <http://xmlns.com/foaf/0.1/>
PREFIX skos: <http://www.w3.org/2004/02/skos/core#> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
"""
NO_ROWS = "SELECT * WHERE { ?subject <urn:none> ?object . ?object ?property ?value }"
# Joins, aggregates, paths and sorts over all graphs. Statistics answer none of them.
QUERIES = {
    "entities by class and language": """SELECT ?class ?language (COUNT(DISTINCT ?entity) AS ?entities) WHERE {
  GRAPH ?graph { ?entity a ?class ; rdfs:label ?label } BIND(LANG(?label) AS ?language) } GROUP BY ?class ?language""",
    "objects shared by datasets": """SELECT ?object (COUNT(DISTINCT ?graph) AS ?graphs) WHERE {
  GRAPH ?graph { ?subject rdfs:seeAlso|foaf:homepage|dct:relation ?object } } GROUP BY ?object HAVING(COUNT(DISTINCT ?graph) > 1)""",
    "labels that contain a word": """SELECT ?graph ?entity ?label WHERE {
  GRAPH ?graph { ?entity rdfs:label ?label FILTER(CONTAINS(LCASE(STR(?label)), "water")) } }""",
    "degrees": """SELECT ?degree (COUNT(?entity) AS ?entities) WHERE {
  { SELECT ?entity (COUNT(*) AS ?degree) WHERE { GRAPH ?graph { ?entity ?property ?value } } GROUP BY ?entity } }
GROUP BY ?degree ORDER BY ?degree""",
    "classes above classes": """SELECT ?class (COUNT(DISTINCT ?above) AS ?all) WHERE {
  GRAPH ?graph { ?class rdfs:subClassOf+ ?above } } GROUP BY ?class ORDER BY DESC(?all) LIMIT 100""",
    "longest texts": """SELECT ?graph ?entity (STRLEN(STR(?text)) AS ?length) WHERE {
  GRAPH ?graph { ?entity rdfs:comment|dct:description ?text } } ORDER BY DESC(?length) LIMIT 100""",
    "properties of classes": """SELECT ?class ?property (COUNT(*) AS ?triples) WHERE {
  VALUES ?class { skos:Concept foaf:Person foaf:Organization foaf:Document dcat:Dataset }
  GRAPH ?graph { ?entity a ?class ; ?property ?value FILTER(ISIRI(?value)) } } GROUP BY ?class ?property ORDER BY DESC(?triples) LIMIT 500""",
}


class Server:
    """A server under test, as a context."""

    def __init__(self, name, command, path):
        self.name, self.command, self.path = name, command, path

    def __enter__(self):
        self.port = peers.free_port()
        command = [part.replace("PORT", str(self.port)) for part in self.command]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.time() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return self
            except OSError:
                if time.time() > until or self.process.poll() is not None:
                    sys.exit(f"FAIL: {self.name} does not start: {' '.join(command)}")
                time.sleep(.1)

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def processor_time(self):
        """Returns the seconds of the processor that the server and its children have used."""
        seconds = 0
        for process in soak.processes(self.process.pid):
            try:
                fields = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue  # it ended
            seconds += sum(int(field) for field in fields[11:15]) / 100
        return seconds

    def settle(self):
        """Waits until the work of the start has ended: caches that are filled in the background are none of the queries' costs."""
        before = self.processor_time()
        for _ in range(60):
            time.sleep(1)
            now = self.processor_time()
            if now - before < .05:
                return
            before = now
        sys.exit(f"FAIL: {self.name} is still at work a minute after its start")

    def answer(self, query, client):
        """Returns status and number of rows; 0 rows if the answer is not complete."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE, source_address=(soak.address(client), 0))
        until = time.time() + PATIENCE
        try:
            body = urllib.parse.urlencode({"query": PREFIXES + query})
            connection.request("POST", self.path, body, {"Accept": RESULTS, "Content-Type": "application/x-www-form-urlencoded"})
            answer = connection.getresponse()
            text = b""
            while piece := answer.read1(1 << 16):
                text += piece
                if time.time() > until:
                    return "late", 0
            if answer.status != 200:
                return answer.status, 0
            return 200, len(json.loads(text)["results"]["bindings"])
        except (http.client.HTTPException, ValueError):
            return "cut", 0
        except socket.timeout:
            return "late", 0
        except OSError as error:
            return type(error).__name__, 0
        finally:
            connection.close()


def alone(server):
    """Returns rows, and seconds of the processor, of each query without another one."""
    costs = {}
    server.answer(NO_ROWS, 1)
    server.settle()
    for name, query in QUERIES.items():
        server.answer(query, 1)  # fills caches
        before = server.processor_time()
        status, rows = server.answer(query, 1)
        if status != 200:
            sys.exit(f"FAIL: {server.name}, {name!r} alone: {status}")
        costs[name] = rows, server.processor_time() - before
    return costs


def load(server, clients, seconds, costs, distinct):
    """Lets clients send queries, distinct or equal ones. Prints a line and returns the useful rows a second."""
    until, lock, numbers = time.time() + seconds, threading.Lock(), itertools.count()
    outcomes, useful = collections.Counter(), collections.Counter()

    def work(number):
        draw = random.Random(number)
        names = itertools.cycle(draw.sample(list(QUERIES), len(QUERIES)))
        name = next(names)
        while time.time() < until:
            comment = f"# {next(numbers)}\n" if distinct else ""
            status, rows = server.answer(comment + QUERIES[name], number)
            is_wrong = status == 200 and rows != costs[name][0]
            with lock:
                outcomes["wrong" if is_wrong else status] += 1
                useful[name] += status == 200 and not is_wrong
            if status == 200:
                name = next(names)
            else:
                time.sleep(draw.random())  # the same query again

    began, before = time.time(), server.processor_time()
    threads = [threading.Thread(target=work, args=(number,)) for number in range(1, clients + 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    elapsed, processor = time.time() - began, server.processor_time() - before
    rows = sum(count * costs[name][0] for name, count in useful.items()) / elapsed
    share = sum(count * costs[name][1] for name, count in useful.items()) / max(processor, .01)
    kind = "distinct" if distinct else "equal"
    print(f"{clients:3} clients  {kind:8} {server.name:9} {sum(useful.values()) / elapsed:6.2f} answers/s {rows:9.0f} useful rows/s  useful share of the "
          f"processor {min(share, 1):4.0%}  {dict(outcomes)}", flush=True)
    return rows


def main():
    program, home, *others = sys.argv[1:]
    seconds, *numbers = [int(other) for other in others] or [40]
    with tempfile.TemporaryDirectory(prefix="lodeseek-useful-") as folder:
        store = pathlib.Path(folder) / "store"
        shutil.copytree(pathlib.Path(home) / "store", store)
        ours = Server("Lodeseek", [program, "--home", home, "serve", "--bind", "127.0.0.1:PORT"], "/sparql")
        other = Server("Oxigraph", [peers.oxigraph(), "serve", "--location", str(store), "--bind", "127.0.0.1:PORT"], "/query")
        costs = {}
        for server in (other, ours):
            with server:
                costs[server.name] = alone(server)
        for name in QUERIES:
            (rows, processor), (expected, reference) = costs["Lodeseek"][name], costs["Oxigraph"][name]
            print(f"{name:32} {rows:7} rows {processor:6.2f} s; Oxigraph {expected:7} rows {reference:6.2f} s")
        behind = []
        for distinct, clients in itertools.product([True, False], numbers or [1, 4, 16, 64]):
            rows = []
            for server in (other, ours):
                with server:
                    server.answer(NO_ROWS, 1)
                    server.settle()
                    rows.append(load(server, clients, seconds, costs[server.name], distinct))
            print(f"{clients:3} clients  {'distinct' if distinct else 'equal'}  ratio {rows[1] / max(rows[0], .01):.2f}", flush=True)
            if clients >= 16 and rows[1] < rows[0]:
                behind.append(clients)
    if behind:
        print(f"FAIL: fewer useful rows a second than Oxigraph with {behind} clients")
    return 1 if behind else 0


if __name__ == "__main__":
    sys.exit(main())
