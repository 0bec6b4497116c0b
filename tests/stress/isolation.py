#!/usr/bin/env python3
"""Measure the isolation of SPARQL queries in worker processes: its price, and what attacks cost others.

usage: isolation.py PROGRAM [REFUSALS]

Loads generated data (160,000 triples) into a temporary home and prints

- the latency (p50, p99) of small queries with and without worker processes;
- the resident memory of the server before and after REFUSALS (default 48) queries that reach the limit of memory;
- the time until the permit of a property path that lasts longer than its deadline is free again;
- the latency of searches and small queries beside 16 clients that send such queries.

Exits with 1 if the price is above 1 ms at p50, if the memory of the server grows by more than a third, or if the permit is not freed.
"""

import collections
import http.client
import http.server
import json
import pathlib
import random
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

SUBJECTS = 40_000
BASE = "http://e.org/"
GRAPH = "<http://localhost:7878/dataset/big>"
JOIN = f"SELECT ?n ?o {{ GRAPH {GRAPH} {{ <{BASE}7> <{BASE}linked> ?o . ?o <{BASE}name> ?n }} }}"
LOOKUP = f"SELECT ?p ?o {{ GRAPH {GRAPH} {{ <{BASE}7> ?p ?o }} }}"
COUNT = f"SELECT (COUNT(*) AS ?n) {{ GRAPH {GRAPH} {{ ?s a ?c }} }}"
SEARCH = f"""PREFIX search: <https://w3id.org/lodeseek/search#> SELECT ?d ?n {{ ?d search:text "big" .
  GRAPH ?d {{ <{BASE}7> <{BASE}linked> ?o . ?o <{BASE}name> ?n }} }}"""
# Finite queries, and limits that they reach.
GREEDY = f"""SELECT DISTINCT * {{ {{ SELECT * {{ GRAPH {GRAPH} {{ ?a ?b ?c }} }} LIMIT 700 }}
  {{ SELECT * {{ GRAPH {GRAPH} {{ ?d ?e ?f }} }} LIMIT 700 }} }} ORDER BY ?c"""
PATH = f"""SELECT (COUNT(*) AS ?n) {{ {{ SELECT DISTINCT ?a {{ GRAPH {GRAPH} {{ ?a <{BASE}linked> ?x }} }} LIMIT 100 }}
  GRAPH {GRAPH} {{ ?a (<{BASE}linked>|!<{BASE}linked>)* ?b }} }}"""
MEMORY = {"LODESEEK_SERVER_WORKER_MEMORY": "128"}


def write_data(folder):
    draw = random.Random(1)
    with open(folder / "big.nt", "w") as dump:
        for number in range(SUBJECTS):
            subject = f"<{BASE}{number}>"
            dump.write(f'{subject} <{BASE}name> "item number {number}" .\n')
            for _ in range(2):
                dump.write(f"{subject} <{BASE}linked> <{BASE}{draw.randrange(SUBJECTS)}> .\n")
            dump.write(f"{subject} <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <{BASE}C{number % 20}> .\n")
    (folder / "datasets.json").write_text(json.dumps([{"dataset_id": "big", "title": "Big", "download": ["big.nt"]}]))


class Server:
    def __init__(self, program, home, variables, options=()):
        command = [program, "--home", home, "serve", "--bind", "127.0.0.1:0", *options]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=os.environ | variables)
        for line in self.process.stderr:
            found = re.search(r"http://127\.0\.0\.1:(\d+)", line)
            if found:
                self.port = int(found.group(1))
                break
        threading.Thread(target=self.process.stderr.read, daemon=True).start()
        time.sleep(2)  # caches

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)

    def megabytes(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) // 1024


class Endpoint(http.server.BaseHTTPRequestHandler):
    """An endpoint with one row."""

    protocol_version = "HTTP/1.1"
    rows = json.dumps({"head": {"vars": ["o"]}, "results": {"bindings": [{"o": {"type": "uri", "value": f"{BASE}8"}}]}}).encode()

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "application/sparql-results+json")
        self.send_header("Content-Length", str(len(self.rows)))
        self.end_headers()
        self.wfile.write(self.rows)

    def log_message(self, *_):
        pass


def sparql(query):
    return "/sparql?" + urllib.parse.urlencode({"query": query})


def request(connection, path):
    """Returns status and seconds."""
    start = time.perf_counter()
    connection.request("GET", path)
    response = connection.getresponse()
    response.read()
    return response.status, time.perf_counter() - start


def milliseconds(times, share):
    return sorted(times)[int(len(times) * share)] * 1000


def price(program, home):
    """Returns the difference of the median latencies of the join, in milliseconds."""
    times = collections.defaultdict(list)
    endpoint = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    threading.Thread(target=endpoint.serve_forever, daemon=True).start()
    service = f"http://127.0.0.1:{endpoint.server_port}/sparql"
    federated = f"SELECT ?n {{ SERVICE <{service}> {{ <{BASE}7> <{BASE}linked> ?o }} GRAPH {GRAPH} {{ ?o <{BASE}name> ?n }} }}"
    queries = {"join": JOIN, "lookup": LOOKUP, "count": COUNT, "federated": federated, "search in SPARQL": SEARCH}
    small = {kind: sparql(query) for kind, query in queries.items()} | {"search": "/api/search?q=big"}
    allowed = ["--service", service, "--allow-private-network", "127.0.0.0/8"]
    with Server(program, home, {"LODESEEK_SERVER_WORKERS": "false"}, allowed) as without, Server(program, home, {}, allowed) as workers:
        servers = {"without": without, "workers": workers}
        for turn in range(11):  # the first one warms up
            for name, server in servers.items():
                connection = server.connect()  # the server closes idle ones
                for kind, path in small.items():
                    found = [request(connection, path) for _ in range(30)]
                    assert all(status == 200 for status, _ in found), found
                    if turn:
                        times[kind, name] += [seconds for _, seconds in found]
    for (kind, name), values in sorted(times.items()):
        print(f"{kind:16} {name:8} p50 {milliseconds(values, 0.5):7.2f} ms   p99 {milliseconds(values, 0.99):7.2f} ms")
    return milliseconds(times["join", "workers"], 0.5) - milliseconds(times["join", "without"], 0.5)


def memory(program, home, refusals):
    """Returns the resident memory before and after."""
    with Server(program, home, MEMORY) as server:
        connection, before, statuses = server.connect(), server.megabytes(), collections.Counter()
        for _ in range(refusals):
            statuses[request(connection, sparql(GREEDY))[0]] += 1
        after = server.megabytes()
    print(f"{refusals} queries at the limit of memory: status {dict(statuses)}, server {before} MB before, {after} MB after")
    return before, after


def path(program, home):
    """Returns the seconds from the answer until the only permit is free."""
    with Server(program, home, {"LODESEEK_SPARQL_QUERIES": "1", "LODESEEK_SPARQL_DEADLINE": "1"}) as server:
        connection = server.connect()
        status, seconds = request(connection, sparql(PATH))
        ended = time.perf_counter()
        while request(connection, sparql(JOIN))[0] != 200 and time.perf_counter() - ended < 30:
            time.sleep(0.02)
        free = time.perf_counter() - ended
        print(f"property path: status {status} after {seconds:.1f} s, permit free {free:.2f} s later, server {server.megabytes()} MB")
    return free


def beside(program, home):
    with Server(program, home, MEMORY) as server:
        stop = threading.Event()

        def attack(number):
            while not stop.is_set():
                try:
                    request(server.connect(), sparql(f"{GREEDY} # {number}"))  # equal queries share one evaluation
                except OSError:
                    pass

        attackers = [threading.Thread(target=attack, args=(number,), daemon=True) for number in range(16)]
        for attacker in attackers:
            attacker.start()
        time.sleep(3)
        connection = server.connect()
        for kind, address in {"search": "/api/search?q=item", "lookup": sparql(LOOKUP), "count": sparql(COUNT)}.items():
            found = [request(connection, address) for _ in range(40)]
            times, statuses = [seconds for _, seconds in found], collections.Counter(status for status, _ in found)
            print(f"beside 16 attackers: {kind:7} status {dict(statuses)} p50 {milliseconds(times, 0.5):6.1f} ms   p99 {milliseconds(times, 0.99):6.1f} ms")
        stop.set()


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    program, refusals = sys.argv[1], int(sys.argv[2]) if len(sys.argv) == 3 else 48
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        write_data(folder)
        home = str(folder / "home")
        for command in (["load", str(folder / "datasets.json")], ["index"]):
            subprocess.run([program, "--home", home, *command], check=True, stderr=subprocess.DEVNULL)
        hop = price(program, home)
        before, after = memory(program, home, refusals)
        free = path(program, home)
        beside(program, home)
    failures = []
    if hop > 1:
        failures.append(f"a worker costs {hop:.2f} ms")
    if after > before * 4 / 3:
        failures.append("the memory of the server has grown")
    if free > 10:
        failures.append("the permit is not free")
    print(f"price of a worker at p50: {hop:.2f} ms" + "".join(f"\nFAIL: {failure}" for failure in failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
