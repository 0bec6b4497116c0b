#!/usr/bin/env python3
"""Load test: 64 concurrent clients send mixed requests for five minutes; prints latencies and checks that the server survives.

usage: soak.py PROGRAM HOME [SECONDS] [CLIENTS]

Each client has its own address, sent in X-Forwarded-For. Accepted errors are 429 and 503. For each kind of request the script
prints the number of served and rejected requests and the latency (p50, p99), and finally the server's peak memory. Exits with 1 on
any other error, or if the server does not respond afterwards.
"""

import collections
import http.client
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

PORT = 7897
RESULTS = "application/sparql-results+json"
REFUSALS = (429, 503)


def sparql(query):
    return "/sparql?" + urllib.parse.urlencode({"query": query})


PREFIXES = """PREFIX dct: <http://purl.org/dc/terms/> PREFIX dcat: <http://www.w3.org/ns/dcat#> PREFIX void: <http://rdfs.org/ns/void#>
PREFIX search: <https://w3id.org/lodeseek/search#> """
WORDS = "water plan energy health school city species language music transport map museum census library weather".split()


def requests(draw):
    """Returns kind and path of a random request."""
    word = draw.choice(WORDS)
    kind = draw.choices(["search", "count", "join", "search in SPARQL", "large", "costly", "page"], [30, 15, 20, 15, 5, 5, 10])[0]
    return kind, {
        "search": f"/api/search?q={word}&k=10",
        "count": sparql("SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s a ?c } }"),
        "join": sparql(PREFIXES + "SELECT ?t ?n { ?d dct:title ?t ; void:triples ?n FILTER(?n > %d) } LIMIT 50" % draw.randrange(5000)),
        "search in SPARQL": sparql(PREFIXES + 'SELECT ?d ?t { ?d search:text "%s" ; search:title ?t . ?d void:triples ?n }' % word),
        "large": sparql("SELECT * { ?s ?p ?o } LIMIT 20000"),
        "costly": sparql("SELECT (COUNT(*) AS ?n) { ?a ?p ?b . ?b ?q ?c . ?c ?r ?d . ?d ?s ?e }"),
        "page": f"/?q={word}",
    }[kind]


class Tally:
    def __init__(self):
        self.lock = threading.Lock()
        self.times = collections.defaultdict(list)
        self.refused = collections.Counter()
        self.wrong = collections.Counter()

    def add(self, kind, status, seconds):
        with self.lock:
            if status == 200:
                self.times[kind].append(seconds)
            elif status in REFUSALS:
                self.refused[kind, status] += 1
            else:
                self.wrong[kind, status] += 1


def client(number, until, tally):
    draw = random.Random(number)
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=60)
    while time.time() < until:
        kind, path = requests(draw)
        began = time.time()
        try:
            connection.request("GET", path, headers={"Accept": f"{RESULTS}, */*;q=0.5", "X-Forwarded-For": f"192.0.2.{number}"})
            answer = connection.getresponse()
            answer.read()
            status = answer.status
        except http.client.IncompleteRead:
            status = 503  # the server aborts a response that has begun at its deadline
            connection.close()
        except OSError as error:
            status = type(error).__name__
            connection.close()
        tally.add(kind, status, time.time() - began)
        if status in REFUSALS:
            time.sleep(draw.random() / 2)


def memory(process):
    for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) // 1024
    return 0


def quantile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def main():
    program, home = sys.argv[1], sys.argv[2]
    seconds, clients = [int(argument) for argument in (sys.argv[3:] + ["300", "64"][len(sys.argv) - 3:])][:2]
    log = tempfile.TemporaryFile()
    server = subprocess.Popen([program, "--home", home, "serve", "--bind", f"127.0.0.1:{PORT}", "--trusted-proxy", "127.0.0.1",
                               "--sparql-deadline", "10"], stdout=log, stderr=log)
    try:
        time.sleep(5)
        tally, until = Tally(), time.time() + seconds
        threads = [threading.Thread(target=client, args=(number + 1, until, tally)) for number in range(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=30)
        time.sleep(11)  # cancelled queries end
        connection.request("GET", "/healthz")
        up = connection.getresponse().status == 200
        print(f"soak {clients} clients, {seconds} s; server {'up' if up else 'DOWN'} afterwards, at most {memory(server)} MB")
        for kind in sorted(tally.times):
            times = tally.times[kind]
            refused = " ".join(f"{status}: {count}" for (known, status), count in sorted(tally.refused.items()) if known == kind)
            print(f"soak {kind:17} {len(times):7,} served, p50 {quantile(times, .5) * 1000:8.1f} ms, p99 {quantile(times, .99) * 1000:8.1f} ms"
                  f"; rejected {refused or 'none'}")
        for (kind, status), count in tally.wrong.items():
            print(f"soak WRONG {kind}: {status} {count} times")
        return 0 if up and not tally.wrong else 1
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    sys.exit(main())
