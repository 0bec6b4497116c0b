#!/usr/bin/env python3
"""Benchmark of joins of 1, 100 and 10,000 local bindings with a remote endpoint: requests, bytes and time, compared with others.

usage: bench_federation.py PROGRAM [--rounds N] [--keep FILE]

The remote endpoint is `oxigraph serve` over 200,000 triples of one property; the largest join touches 10,000. A counting proxy
before it delays each response. The same query is run in five ways, by servers that start before the first round:

  bind-join   this program: SERVICE with the bindings in VALUES batches
  forwarding  `oxigraph serve`: the pattern of SERVICE is forwarded unchanged and joined locally
  each        one request a binding, sequentially over one connection, by a minimal client
  comunica    Comunica over the local data (by its own choice, the pattern is forwarded or bindings are sent in small batches)
  comunica-2  Comunica over both endpoints, without SERVICE

Each round runs all of them, in rotating order, and compares every result with the generated data. Prints median, minimum and
maximum. A way slower than SLOW seconds runs in the first round only. The proxy forwards a response once it is complete.

Batch sizes were measured with 10,000 bindings requested by three threads, after a first batch of 100: the program's sizes took
0.29 s, four times larger ones 0.26 s, 2,000 at once 0.34 s and 9,900 at once 0.33 s. The differences are within the spread (0.19 to
0.44 s), so larger batches bring nothing. The place of `VALUES` before, inside or behind a group made no difference to oxigraph.
"""

import argparse
import http.client
import json
import pathlib
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests/interop"))
import clients
import federation
import peers
from peers import packages

SEED = 20261121
LOCAL, REMOTE = 10_000, 200_000
SIZES = [1, 100, 10_000]
LATENCIES = [0.0, 0.02]
SLOW = 30
HERE, THERE = "http://here.example/", "http://there.example/"


def make(folder):
    """Writes the two files; returns the remote value of each local entity."""
    chance = random.Random(SEED)
    remote = {f"{THERE}entity/{number:06}": str(chance.randrange(10**9)) for number in range(REMOTE)}
    local = chance.sample(sorted(remote), LOCAL)
    with open(folder / "local.nt", "w") as file:
        for place, entity in enumerate(local):
            for size in SIZES:
                if place < size:
                    file.write(f"<{HERE}thing/{place}> <{HERE}in{size}> <{entity}> .\n")
    with open(folder / "remote.nt", "w") as file:
        file.writelines(f'<{entity}> <{THERE}value> "{value}" .\n' for entity, value in remote.items())
    return [(entity, remote[entity]) for entity in local]


def rows(text):
    return sorted((row["e"]["value"], row["v"]["value"]) for row in json.loads(text)["results"]["bindings"])


class Bench:
    def __init__(self, values):
        self.values, self.kept = values, []

    def joined(self, size):
        return f"SELECT ?e ?v {{ ?x <{HERE}in{size}> ?e SERVICE <{self.counter.endpoint}> {{ ?e <{THERE}value> ?v }} }}"

    def bind_join(self, size):
        return rows(peers.ask(self.ours, self.joined(size)))

    def forwarding(self, size):
        return rows(peers.ask(self.theirs.endpoint, self.joined(size)))

    def comunica(self, size):
        return rows(peers.ask(self.one.endpoint, self.joined(size)))

    def comunica_2(self, size):
        return rows(peers.ask(self.both.endpoint, f"SELECT ?e ?v {{ ?x <{HERE}in{size}> ?e . ?e <{THERE}value> ?v }}"))

    def each(self, size):
        local = json.loads(peers.ask(self.theirs.endpoint, f"SELECT ?e {{ ?x <{HERE}in{size}> ?e }}"))
        connection = http.client.HTTPConnection(urllib.parse.urlsplit(self.counter.address).netloc)
        head = {"Content-Type": "application/sparql-query", "Accept": "application/sparql-results+json"}
        found = []
        for row in local["results"]["bindings"]:
            entity = row["e"]["value"]
            connection.request("POST", "/query", f"SELECT ?v {{ <{entity}> <{THERE}value> ?v }}", head)
            answer = json.loads(connection.getresponse().read())
            found.extend((entity, value["v"]["value"]) for value in answer["results"]["bindings"])
        connection.close()
        return sorted(found)

    def measure(self, way, size, latency):
        self.counter.latency = latency
        self.counter.reset()
        started = time.perf_counter()
        found = way(size)
        seconds = time.perf_counter() - started
        assert found == sorted(self.values[:size]), f"{way.__name__}, {size}: {len(found)} rows, and not those expected"
        kept = {"way": way.__name__, "bindings": size, "latency": latency, "seconds": seconds, "requests": self.counter.requests,
                "sent": self.counter.sent, "received": self.counter.received}
        self.kept.append(kept)
        return kept

    def run(self, rounds, ways):
        for latency in LATENCIES:
            for size in SIZES:
                slow = set()
                for turn in range(rounds):
                    for place in range(len(ways)):
                        way = ways[(place + turn) % len(ways)]
                        if way.__name__ not in slow and self.measure(way, size, latency)["seconds"] > SLOW:
                            slow.add(way.__name__)
                self.print(latency, size)

    def print(self, latency, size):
        print(f"\n{size:,} bindings, answers {latency * 1000:.0f} ms late")
        print(f"{'':12} {'requests':>9} {'KB sent':>9} {'KB back':>9} {'seconds':>9}  least to most, rounds")
        here = [kept for kept in self.kept if (kept["latency"], kept["bindings"]) == (latency, size)]
        for way in dict.fromkeys(kept["way"] for kept in here):
            own = [kept for kept in here if kept["way"] == way]
            middle = {key: statistics.median(kept[key] for kept in own) for key in ("requests", "sent", "received", "seconds")}
            times = [kept["seconds"] for kept in own]
            print(f"{way:12} {middle['requests']:9,.0f} {middle['sent'] / 1000:9,.1f} {middle['received'] / 1000:9,.1f} "
                  f"{middle['seconds']:9.3f}  {min(times):.3f} to {max(times):.3f}, {len(times)}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--keep", help="a file for every figure, as JSON")
    parser.add_argument("--without", action="append", default=[], help="a way to leave out")
    arguments = parser.parse_args()
    peers.end_well()
    program = str(pathlib.Path(arguments.program).resolve())
    with tempfile.TemporaryDirectory(prefix="lodeseek-bench-") as folder:
        folder = pathlib.Path(folder)
        bench = Bench(make(folder))
        (folder / "datasets.json").write_text('[{"dataset_id": "local", "title": "Local", "download": ["local.nt"]}]')
        port = peers.free_port()
        federation.make_home(program, folder / "home", folder / "datasets.json", f"http://127.0.0.1:{port}/")
        with peers.Oxigraph(folder / "remote.nt") as remote, peers.Counter(remote.endpoint) as bench.counter, \
             peers.Oxigraph(folder / "local.nt") as bench.theirs, \
             clients.Server(program, str(folder / "home"), "--service", bench.counter.endpoint, "--allow-private-network", "127.0.0.0/8",
                            port=port) as server:
            bench.ours = f"{server.address}/sparql?default-graph-uri={server.address}/dataset/local"
            ways = [bench.bind_join, bench.forwarding, bench.each]
            try:
                local, there = f"sparql@{bench.theirs.endpoint}", f"sparql@{bench.counter.endpoint}"
                with peers.Comunica(local) as bench.one, peers.Comunica(local, there) as bench.both:
                    ways = [way for way in [*ways, bench.comunica, bench.comunica_2] if way.__name__ not in arguments.without]
                    about(program)
                    bench.run(arguments.rounds, ways)
            except peers.Missing as reason:
                sys.exit(f"SKIPPED: {reason}")
    if arguments.keep:
        pathlib.Path(arguments.keep).write_text(json.dumps(bench.kept, indent=1) + "\n")


def about(program):
    version = subprocess.run([program, "--version"], stdout=subprocess.PIPE, text=True).stdout.strip()
    machine = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    print(f"{version}, {packages.described('oxigraph')}, {peers.COMUNICA}; {machine}; seed {SEED}", flush=True)


if __name__ == "__main__":
    main()
