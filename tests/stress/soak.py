#!/usr/bin/env python3
"""Load test: 64 clients send mixed requests while a hostile minority attacks; prints latencies, outcomes, memory and descriptors.

usage: soak.py PROGRAM HOME [SECONDS] [CLIENTS]

Each client has a loopback address of its own, so that limits for each client address apply. One client in twenty is hostile: it
repeats the attacks of ATTACKS. The other clients accept 200, 429 and 503. For each kind of request the script prints the number of
served and rejected requests and the latency (p50, p99). For each attack it prints tries, outcomes and the longest duration. Before the
test, the friendly clients alone fill caches for a fifth of its time. Memory (of the server and its worker processes) and descriptors are
those after this and a minute without requests, their maximum, and those after the test and a minute without requests. Exits with 1 if the
server ended, if a response had another status, if p99 of a search exceeds a second, or if the memory of the server is above 1.3 times
that before.
"""

import collections
import http.client
import io
import json
import os
import pathlib
import random
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import zipfile

RESULTS = "application/sparql-results+json"
REFUSALS = (429, 503)
# Statuses with which an attack may be answered: the request is wrong, too slow, too large, not allowed, or too much.
REJECTIONS = {200, 400, 403, 404, 408, 413, 414, 421, 422, 429, 431, 503}
NOT_REJECTED = 599  # outcome of an attack that was answered
REST = 60  # seconds without requests before the last measurement
SEARCH_P99 = 1.0  # seconds
# Small limits of the server, so that small queries reach them.
SERVER_VARIABLES = {"LODESEEK_SPARQL_DEADLINE": "2", "LODESEEK_SERVER_WORKER_MEMORY": "128"}
GROWTH = 1.3  # memory of the server after the test, relative to that before
HELD = 30  # seconds for which attacks hold a connection; the server ends most of them earlier


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


PORT = free_port()


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
        "costly": sparql("SELECT (COUNT(*) AS ?n) { SELECT * { ?a ?p ?b . ?b ?q ?c . ?c ?r ?d . ?d ?s ?e } LIMIT 2000000 }"),
        "page": f"/?q={word}",
    }[kind]


class Tally:
    def __init__(self):
        self.lock = threading.Lock()
        self.times = collections.defaultdict(list)
        self.refused = collections.Counter()
        self.wrong = collections.Counter()
        self.attacks = collections.defaultdict(collections.Counter)
        self.longest = collections.Counter()

    def add(self, kind, status, seconds):
        with self.lock:
            if status == 200:
                self.times[kind].append(seconds)
            elif status in REFUSALS:
                self.refused[kind, status] += 1
            else:
                self.wrong[kind, status] += 1

    def attacked(self, name, outcome, seconds):
        with self.lock:
            self.attacks[name][outcome] += 1
            self.longest[name] = max(self.longest[name], seconds)
            if isinstance(outcome, int) and outcome not in REJECTIONS:
                self.wrong[name, outcome] += 1


def address(number, network=1):
    return f"127.0.{network}.{number % 250 + 1}"


def client(number, until, tally):
    draw = random.Random(number)
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=60, source_address=(address(number), 0))
    while time.time() < until:
        kind, path = requests(draw)
        began = time.time()
        try:
            connection.request("GET", path, headers={"Accept": f"{RESULTS}, */*;q=0.5"})
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


# Attacks: functions of a source address and a random generator that return a status or a description of the outcome.


def opened(source):
    return socket.create_connection(("127.0.0.1", PORT), timeout=60, source_address=(source, 0))


def status_of(reply):
    """Returns the status of a response, or "closed" without one."""
    parts = reply.split(b" ", 2)
    return int(parts[1]) if len(parts) > 2 and parts[0].startswith(b"HTTP/") else "closed"


def received(stream):
    try:
        return status_of(stream.recv(4096))
    except ConnectionError:
        return "closed"
    except socket.timeout:
        return "no response in 60 s"


def send_raw(source, data):
    with opened(source) as stream:
        try:
            stream.sendall(data)
        except ConnectionError:
            pass  # the server answered before it read everything
        return received(stream)


def send(source, method, path, body=None, headers=None):
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=60, source_address=(source, 0))
    try:
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        answer.read()
        return answer.status
    except http.client.HTTPException:
        return "closed"
    except ConnectionError:
        return "closed"
    except socket.timeout:
        return "no response in 60 s"
    finally:
        connection.close()


# Routes that answer everybody who may use the server.
PATHS = ("/", "/operator", "/api/search?q=water", "/sparql?query=ASK%7B%7D", "/rdf-graph-store?default", "/catalog.ttl", "/mcp")


def foreign_host(source, path):
    """Sends a request as a page does whose name was rebound to this machine."""
    status = send(source, "GET", path, headers={"Host": f"rebound.example.org:{PORT}"})
    return NOT_REJECTED if status not in (421, *REFUSALS, "closed") else status


def unfinished(source, begin, count, dripped):
    """Opens connections, sends the same beginning on each, and then a byte a second until the server closes the first."""
    streams = []
    try:
        for _ in range(count):
            stream = opened(source)
            streams.append(stream)
            try:
                stream.sendall(begin)
            except ConnectionError:
                return received(stream)
        stream = streams[0]
        stream.settimeout(1)
        for _ in range(HELD):
            try:
                return status_of(stream.recv(4096))
            except socket.timeout:
                if dripped:
                    stream.sendall(dripped)
        return f"open after {HELD} s"
    except ConnectionError:
        return "closed"
    finally:
        for stream in streams:
            stream.close()


def upload(source, media_type, body):
    return send(source, "POST", "/like", body, {"Content-Type": media_type})


def drop_by_drop(source, path):
    """Reads a response in small pieces with pauses, with a small receive buffer."""
    stream = socket.socket()
    stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    stream.settimeout(60)
    with stream:
        stream.bind((source, 0))
        try:
            stream.connect(("127.0.0.1", PORT))
            stream.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept: application/n-triples\r\nConnection: close\r\n\r\n".encode())
            status = status_of(stream.recv(512))
            if status != 200:
                return status
            for _ in range(HELD):
                time.sleep(1)
                if not stream.recv(64):
                    return "complete or closed"
            return f"open after {HELD} s"
        except ConnectionError:
            return "closed"


# Inputs a little beyond the limits of the server, which other software answers at once.
CHAIN = json.dumps({"@context": {"a0": "http://e.org/"} | {f"a{n}": f"a{n - 1}:x" for n in range(1, 65)}, "@id": "a64:y", "@type": "a64:z"})
LONG_BASE = "@base <http://e.org/%s> .\n" % ("x" * 8_000) + "".join(f"<a{n}> <b> <c{n}> .\n" for n in range(2500))
# Documents with errors, parts of which the server reads again.
PREFIXES_WITH_ERRORS = "".join(f"@prefix p{n}: <http://e.org/{n}/> .\np{n}:a p0:p 1.p7:b x:y p{n}:c .\n" for n in range(8000))
LONG_SUBJECT = "<http://e.org/%s> <http://e.org/p> %s 1 .\n" % ("s" * 100_000, "x:y, " * 120_000)
CONTEXTS = json.dumps({"@context": {f"a{n}": f"http://e.org/{n}" for n in range(2300)},
                       "@graph": [{"@context": {}, "@id": "http://e.org/x", "a1": 1}] * 2300})
RDF_XML = '<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e.org/" %s>%s</r:RDF>'
NAMESPACES = RDF_XML % ("".join(f'xmlns:n{n}="http://e.org/{n}/" ' for n in range(3000)), "<e:C/>\n" * 20_000)


def overlapping():
    """Returns a zip archive with two directory entries for one member."""
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.nt", "".join(f"<http://e.org/{n}> <http://e.org/p> {n} .\n" for n in range(500)))
    content = output.getvalue()
    start, end = content.index(b"PK\x01\x02"), content.index(b"PK\x05\x06")
    directory = content[start:end] * 2
    return content[:start] + directory + b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 2, 2, len(directory), start, 0)


OVERLAPPING = overlapping()
# Products of so many rows last longer than the deadline of the server, or need more memory than its workers have.
PRODUCT = "{ SELECT * { ?a ?b ?c } LIMIT %d } { SELECT * { ?d ?e ?f } LIMIT %d }"
QUERIES = {
    "cross product": "SELECT (COUNT(*) AS ?n) { %s }" % (PRODUCT % (6000, 6000)),
    "rows that fill the memory": "SELECT * { %s } ORDER BY RAND()" % (PRODUCT % (600, 600)),
    "nested repeated groups": "ASK { <http://e.org/a> " + "(" * 5 + "<p>*" + ")*" * 5 + " ?b }",
    "IN with too many members": "SELECT * { ?s ?p ?o FILTER(?o IN (%s)) }" % ", ".join(str(n) for n in range(1001)),
}
ATTACKS = {
    "unfinished headers": lambda source, draw: unfinished(source, b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ", 40, b"x"),
    "idle connections": lambda source, draw: unfinished(source, b"", 40, b""),
    "unfinished uploads": lambda source, draw: unfinished(
        source, b"POST /like HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/turtle\r\nContent-Length: 16000000\r\n\r\n" + b" " * 1_000_000, 4, b" "),
    "more connections than allowed": lambda source, draw: unfinished(source, b"GET / HTTP/1.1\r\n", 200, b""),
    "readers drop by drop": lambda source, draw: drop_by_drop(source, "/rdf-graph-store?default"),
    "IRI amplification": lambda source, draw: upload(source, "text/turtle", LONG_BASE),
    "chain of contexts": lambda source, draw: upload(source, "application/ld+json", CHAIN),
    "errors among prefixes": lambda source, draw: upload(source, "text/turtle", PREFIXES_WITH_ERRORS),
    "errors in a long statement": lambda source, draw: upload(source, "text/turtle", LONG_SUBJECT),
    "contexts inside contexts": lambda source, draw: upload(source, "application/ld+json", CONTEXTS),
    "namespaces of RDF/XML": lambda source, draw: upload(source, "application/rdf+xml", NAMESPACES),
    "overlapping members": lambda source, draw: upload(source, "application/zip", OVERLAPPING),
    "two Host headers": lambda source, draw: send_raw(source, b"GET /operator HTTP/1.1\r\nHost: localhost\r\nHost: e.org\r\n\r\n"),
    "Host with a user": lambda source, draw: send_raw(source, b"GET /operator HTTP/1.1\r\nHost: user@localhost\r\n\r\n"),
    "foreign Host": lambda source, draw: foreign_host(source, draw.choice(PATHS)),
} | {
    f"SPARQL: {name}": lambda source, draw, query=query: send(
        source, "POST", "/sparql", query, {"Content-Type": "application/sparql-query", "Accept": RESULTS})
    for name, query in QUERIES.items()
}


def attacker(number, until, tally):
    draw = random.Random(number)
    source = address(number, network=2)
    while time.time() < until:
        for name in draw.sample(list(ATTACKS), len(ATTACKS)):
            if time.time() >= until:
                return
            began = time.time()
            try:
                outcome = ATTACKS[name](source, draw)
            except OSError as error:
                outcome = type(error).__name__
            tally.attacked(name, outcome, time.time() - began)


def processes(root):
    """Returns a process and its descendants."""
    children = collections.defaultdict(list)
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                children[int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])].append(int(entry.name))
            except OSError:
                continue
    found, waiting = [], [root]
    while waiting:
        process = waiting.pop()
        found.append(process)
        waiting += children[process]
    return found


def usage(root):
    """Returns the resident memory in MB of a process and of its descendants, and the number of its descriptors."""
    def resident(process):
        try:
            return int(pathlib.Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
        except OSError:
            return 0
    own = resident(root)
    try:
        descriptors = len(os.listdir(f"/proc/{root}/fd"))
    except OSError:
        descriptors = 0
    return own, sum(map(resident, processes(root))), descriptors


def watch(root, until, peak):
    while time.time() < until:
        peak[:] = map(max, peak, usage(root))
        time.sleep(.5)


def quantile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def wait_until_up(server):
    for _ in range(600):
        try:
            if send("127.0.0.1", "GET", "/healthz") == 200:
                return
        except OSError:
            pass
        if server.poll() is not None:
            sys.exit(f"soak: the server ended with status {server.returncode}")
        time.sleep(.1)
    sys.exit("soak: the server does not respond")


def run(server, seconds, clients):
    wait_until_up(server)
    hostile = max(1, round(clients / 20))
    warm, until = Tally(), time.time() + seconds / 5
    friendly = [threading.Thread(target=client, args=(number + 1, until, warm)) for number in range(clients - hostile)]
    for thread in friendly:
        thread.start()
    for thread in friendly:
        thread.join()
    time.sleep(REST)
    before, peak = usage(server.pid), [0, 0, 0]
    tally, until = Tally(), time.time() + seconds
    threads = [threading.Thread(target=client, args=(number + 1, until, tally)) for number in range(clients - hostile)]
    threads += [threading.Thread(target=attacker, args=(number + 1, until, tally), daemon=True) for number in range(hostile)]
    threads.append(threading.Thread(target=watch, args=(server.pid, until + 70, peak), daemon=True))
    for thread in threads:
        thread.start()
    for thread in threads[:-1]:
        thread.join()
    time.sleep(REST)
    after = usage(server.pid)
    is_up = server.poll() is None and send("127.0.0.1", "GET", "/healthz") == 200
    print(f"soak {clients} clients, {hostile} of them hostile, {seconds} s; server {'up' if is_up else 'DOWN'} afterwards")
    for label, position, unit in (("memory of the server", 0, " MB"), ("memory with workers", 1, " MB"), ("descriptors", 2, "")):
        print(f"soak {label:22} {before[position]:.0f}{unit} before, {peak[position]:.0f}{unit} at most, {after[position]:.0f}{unit} after {REST} s")
    for kind in sorted(tally.times):
        times = tally.times[kind]
        refused = " ".join(f"{status}: {count}" for (known, status), count in sorted(tally.refused.items()) if known == kind)
        print(f"soak {kind:17} {len(times):7,} served, p50 {quantile(times, .5) * 1000:8.1f} ms, p99 {quantile(times, .99) * 1000:8.1f} ms"
              f"; rejected {refused or 'none'}")
    for name, outcomes in sorted(tally.attacks.items()):
        listed = ", ".join(f"{outcome}: {count}" for outcome, count in sorted(outcomes.items(), key=str))
        print(f"soak attack {name:36} {sum(outcomes.values()):5} tries; {listed}; longest {tally.longest[name]:.1f} s")
    for (kind, status), count in tally.wrong.items():
        print(f"soak WRONG {kind}: {status} {count} times")
    slow = quantile(tally.times["search"] or [0], .99) > SEARCH_P99
    if slow:
        print(f"soak WRONG p99 of a search exceeds {SEARCH_P99:.0f} s")
    has_grown = after[0] > GROWTH * before[0]
    if has_grown:
        print(f"soak WRONG the server keeps {after[0] / before[0]:.2f} times the memory of before")
    return 0 if is_up and not tally.wrong and not slow and not has_grown else 1


def main():
    program, home = sys.argv[1], sys.argv[2]
    seconds, clients = [int(argument) for argument in (sys.argv[3:] + ["300", "64"][len(sys.argv) - 3:])][:2]
    with tempfile.TemporaryFile() as log:
        server = subprocess.Popen([program, "--home", home, "serve", "--bind", f"127.0.0.1:{PORT}"], stdout=log, stderr=log,
                                  env=os.environ | SERVER_VARIABLES)
        try:
            result = run(server, seconds, clients)
            log.seek(0)
            panics = log.read().count(b"panicked at")
            if panics:
                print(f"soak WRONG {panics} panics in the server's log")
            return result or int(panics > 0)
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    sys.exit(main())
