#!/usr/bin/env python3
"""Plays the operator of a portal, from the first configuration to the restored and the upgraded home, while searches go on.

usage: portal_operator.py PROGRAM [CHANGES]

Part one: a home is configured, three catalogues are harvested from a web server on this machine, a dataset is uploaded, its title is
changed, a dataset is removed, a fourth catalogue is harvested through the running server, and a backup is made while all this is
searched. A second server takes over from the restored backup, the home is destroyed and restored, and the first server takes over
again. No search may fail, and none may miss a dataset that is there.

Upgrade: homes made by previous versions (testdata/homes) are read, served, changed and verified; their hits are those of a new home.

Part two: CHANGES (default 300) changes by four clients of the administration, beside 32 clients that search. A change must be found by
each search that begins after its response, as a whole, and none may be lost. Prints the 99th percentile of the search times with and
without changes; they are not tested.

Every result is compared with what the changes should have made. Exits with 1 at the first difference.
"""

import collections
import functools
import http.client
import http.server
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import urllib.parse

DATASETS = 4  # of each catalogue
CLIENTS, ADMINISTRATORS = 32, 4
PAUSE = 0.05  # seconds between two searches of a client
SECONDS = 120  # limit of each wait
DCAT = "@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .\n"
PLACES = ["harbour", "forest", "market"]


servers = []  # processes


def fail(message):
    print(f"FAIL: {message}", flush=True)
    for process in servers:
        process.kill()
    os._exit(1)  # other threads may be waiting


def expect(condition, message):
    if not condition:
        fail(message)


def environment():
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LODESEEK_")}
    return {**kept, "NO_COLOR": "1"}


def run(program, home, *arguments, code=0):
    done = subprocess.run([program, "--home", str(home), *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=environment(), timeout=600)
    expect(done.returncode == code, f"lodeseek {' '.join(map(str, arguments))} ended with {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout


def content(words, state, lines=20):
    """Returns N-Triples whose literals have the words and a state."""
    text = []
    for number in range(lines):
        subject = f"<http://e.org/{words.replace(' ', '-')}/{number}>"
        text.append(f'{subject} <http://www.w3.org/2000/01/rdf-schema#label> "{words} {number} state{state}" .')
        text.append(f"{subject} <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://e.org/Station{number % 3}> .")
    return "\n".join(text) + "\n"


class Portals:
    """A web server with three catalogues: DCAT as Turtle and as N-Triples, and Project Open Data."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir()
        handler = functools.partial(Quiet, directory=str(folder))
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        for place in PLACES:
            for number in range(DATASETS):
                (folder / f"{place}{number}.nt").write_text(content(f"{place} measurements {number}", 0))
        (folder / "harbour.ttl").write_text(DCAT + "".join(self.turtle("harbour", number) for number in range(DATASETS)))
        (folder / "forest.nt").write_text("".join(self.triples("forest", number) for number in range(DATASETS)))
        entries = [self.entry("market", number) for number in range(DATASETS)]
        catalogue = {"conformsTo": "https://project-open-data.cio.gov/v1.1/schema", "dataset": entries}
        (folder / "data.json").write_text(json.dumps(catalogue))
        self.sources = [f"{self.address}/{name}" for name in ("harbour.ttl", "forest.nt", "data.json")]

    def turtle(self, place, number):
        return (f'<{self.address}/{place}/{number}> a dcat:Dataset ; dct:identifier "{place}{number}" ;\n'
                f'  dct:title "Measurements of the {place} {number}" ;\n'
                f"  dcat:distribution [ dcat:downloadURL <{self.address}/{place}{number}.nt> ] .\n")

    def triples(self, place, number):
        dataset, file = f"<{self.address}/{place}/{number}>", f"_:d{number}"
        return (f"{dataset} <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://www.w3.org/ns/dcat#Dataset> .\n"
                f'{dataset} <http://purl.org/dc/terms/identifier> "{place}{number}" .\n'
                f'{dataset} <http://purl.org/dc/terms/title> "Measurements of the {place} {number}" .\n'
                f"{dataset} <http://www.w3.org/ns/dcat#distribution> {file} .\n"
                f"{file} <http://www.w3.org/ns/dcat#downloadURL> <{self.address}/{place}{number}.nt> .\n")

    def entry(self, place, number):
        distribution = {"downloadURL": f"{self.address}/{place}{number}.nt", "mediaType": "application/n-triples"}
        return {"@type": "dcat:Dataset", "identifier": f"{place}{number}", "title": f"Measurements of the {place} {number}",
                "description": "Values of all stations.", "distribution": [distribution]}


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Server:
    """`lodeseek serve` on a free port. Its messages are in a file."""

    def __init__(self, program, home, log):
        self.log = log
        with open(log, "w") as file:
            self.process = subprocess.Popen([program, "--home", str(home), "serve", "--bind", "127.0.0.1:0"],
                                            stdout=subprocess.DEVNULL, stderr=file, env=environment())
        servers.append(self.process)
        found = wait_for(lambda: re.search(r"listening on http://(127\.0\.0\.1:\d+)", log.read_text()) or self.process.poll() is not None,
                         "the server does not listen")
        if found is True:
            fail(f"the server ended: {log.read_text()[-2000:]}")
        self.address = found[1]
        wait_for(lambda: get(self.address, "/readyz")[0] == 200, "the server is not ready")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=SECONDS)
        expect(code == 0, f"the server ended with {code}: {self.log.read_text()[-2000:]}")


def wait_for(condition, message):
    until = time.monotonic() + SECONDS
    while True:
        found = condition()
        if found:
            return found
        expect(time.monotonic() < until, f"{message} within {SECONDS} s")
        time.sleep(0.05)


def request(connection, method, path, body=None, headers=None):
    """Sends a request. Returns status and body."""
    connection.request(method, path, body, headers or {})
    response = connection.getresponse()
    return response.status, response.read()


def get(address, path):
    connection = http.client.HTTPConnection(address, timeout=SECONDS)
    try:
        return request(connection, "GET", path)
    finally:
        connection.close()


def search_path(words):
    return "/api/search?" + urllib.parse.urlencode({"q": words, "k": 100, "duplicates": "all"})


def ids(body):
    return {hit["id"] for hit in json.loads(body)["hits"]}


class Administrator:
    """A client of the administration. It waits for the end of each change."""

    def __init__(self, address, token):
        self.connection = http.client.HTTPConnection(address, timeout=SECONDS)
        self.headers = {"Authorization": f"Bearer {token}", "Prefer": f"wait={SECONDS}"}

    def put(self, name, title=None, dump=None):
        parts = []
        if title is not None:
            metadata = json.dumps({"title": title})
            parts.append(f'Content-Disposition: form-data; name="metadata"; filename="m.json"\r\nContent-Type: application/json\r\n\r\n{metadata}')
        if dump is not None:
            parts.append(f'Content-Disposition: form-data; name="dump"; filename="{name}.nt"\r\nContent-Type: application/n-triples\r\n\r\n{dump}')
        body = "".join(f"--BOUNDARY\r\n{part}\r\n" for part in parts) + "--BOUNDARY--\r\n"
        headers = {**self.headers, "Content-Type": "multipart/form-data; boundary=BOUNDARY"}
        self.send("PUT", name, (200, 201), body.encode(), headers)

    def remove(self, name):
        self.send("DELETE", name, (200,), None, self.headers)

    def send(self, method, name, statuses, body, headers):
        status, answer = request(self.connection, method, f"/api/admin/datasets/{name}", body, headers)
        expect(status in statuses, f"{method} {name} returned {status}: {answer[:500]}")


class Searches:
    """Clients that search the server that `use` sets, as a reverse proxy does."""

    def __init__(self, address, clients=2):
        self.address, self.number, self.is_running = address, 0, True
        self.present = set()  # datasets that each search must find
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self.search, daemon=True) for _ in range(clients)]
        for thread in self.threads:
            thread.start()

    def search(self):
        while self.is_running:
            with self.lock:
                address, present = self.address, set(self.present)
            try:
                status, body = get(address, search_path("measurements"))
            except OSError as error:
                fail(f"a search failed: {error}")
            expect(status == 200, f"a search returned {status}: {body[:500]}")
            missing = present - ids(body)
            expect(not missing, f"a search did not find {sorted(missing)}")
            with self.lock:
                self.number += 1
            time.sleep(PAUSE / 5)

    def must_find(self, *names):
        with self.lock:
            self.present.update(names)

    def may_miss(self, name):
        """Allows that searches do not find a dataset. Searches in progress are not affected; see `proceed`."""
        with self.lock:
            self.present.discard(name)

    def use(self, address):
        with self.lock:
            self.address = address

    def proceed(self):
        """Waits until each client has ended a search that began after this call."""
        with self.lock:
            number = self.number + 2 * len(self.threads)
        wait_for(lambda: self.number >= number, "searches do not go on")

    def stop(self):
        self.is_running = False
        for thread in self.threads:
            thread.join()


def configure(program, home, portals):
    run(program, home, "config", "init")
    sources = "".join(f'[[harvest]]\nsource = "{source}"\nevery = "6h"\ndownload = true\n' for source in portals.sources)
    (home / "lodeseek.toml").write_text(f"""ranking = "words"
[portal]
title = "Measurements of Northport"
[server]
admin = true
max-connections = 512
[service]
private-networks = ["127.0.0.0/8"]
{sources}""")
    run(program, home, "config", "check")


def state_of(address):
    """Returns the results that a restored home must return, too."""
    kept = []
    for words in ("measurements", "harbour", "uploaded tide gauges", "state0", "forest 3"):
        hits = json.loads(get(address, search_path(words))[1])["hits"]
        kept.append([(hit["id"], hit["title"], round(hit["score"], 9)) for hit in hits])
    return kept


def harvest_through(program, home, server, portals, searches):
    """Harvests a fourth catalogue through the running server, changes it, and harvests it again from another machine."""
    (portals.folder / "bridge.nt").write_text(portals.triples("bridge", 0))
    (portals.folder / "bridge0.nt").write_text(content("bridge measurements 0", 0))
    source = f"{portals.address}/bridge.nt"
    run(program, home, "harvest", source, "--download", "--allow-private-network", "127.0.0.0/8")
    expect("bridge0" in ids(get(server.address, search_path("bridge"))[1]), "the requested harvest is not served")
    searches.must_find("bridge0")
    token = folder_token(program, home)
    (portals.folder / "bridge0.nt").write_text(content("bridge measurements 0", 1))
    report = home / "bridge.json"
    run(program, home / "none", "harvest", source, "--download", "--report", report, "--server", f"http://{server.address}", "--token-file", token)
    expect(json.loads(report.read_text())["changed"] == ["bridge0"], f"the second harvest reports {report.read_text()}")
    expect("bridge0" in ids(get(server.address, search_path("bridge state1"))[1]), "the changed file is not served")
    searches.may_miss("bridge0")
    searches.proceed()
    (portals.folder / "bridge.nt").write_text(portals.triples("bridge", 1))
    (portals.folder / "bridge1.nt").write_text(content("bridge measurements 1", 0))
    run(program, home, "harvest", source, "--allow-private-network", "127.0.0.0/8")
    found = ids(get(server.address, search_path("bridge"))[1])
    expect("bridge1" in found and "bridge0" not in found, f"the third harvest serves {sorted(found)}")
    run(program, home, "remove", "bridge1")
    token.unlink()
    report.unlink()
    print("ok: a fourth catalogue harvested three times through the running server", flush=True)


def folder_token(program, home):
    """Writes a new token into a file, and returns the file."""
    file = home / "harvest.token"
    file.touch(mode=0o600)
    file.write_text(run(program, home, "token", "add", "harvester", "--scope", "admin"))
    return file


def part_one(program, folder):
    home, backup = folder / "home", folder / "backup"
    portals = Portals(folder / "portals")
    configure(program, home, portals)
    server = Server(program, home, folder / "log1")
    print("ok: configured and served", flush=True)

    searches = Searches(server.address)
    harvested = {f"{place}{number}" for place in PLACES for number in range(DATASETS)}
    wait_for(lambda: ids(get(server.address, search_path("measurements"))[1]) >= harvested, "the catalogues were not harvested")
    wait_for(lambda: ids(get(server.address, search_path("state0"))[1]) >= harvested, "the files were not downloaded")
    searches.must_find(*harvested)
    print(f"ok: {len(harvested)} datasets of three catalogues harvested", flush=True)

    token = run(program, home, "token", "add", "operator", "--scope", "admin").strip()
    administrator = Administrator(server.address, token)
    administrator.put("tides", "Uploaded tide gauges: measurements", content("tide gauges", 0))
    searches.must_find("tides")
    administrator.put("tides", "Tide gauges, all measurements")
    hits = json.loads(get(server.address, search_path("tide gauges state0"))[1])["hits"]
    expect((hits[0]["id"], hits[0]["title"]) == ("tides", "Tide gauges, all measurements"), f"the title was not changed: {hits[0]}")
    searches.may_miss("forest2")
    searches.proceed()
    run(program, home, "remove", "forest2")
    expect("forest2" not in ids(get(server.address, search_path("measurements"))[1]), "a removed dataset was found")
    print("ok: a dataset uploaded, its title changed, another one removed", flush=True)

    harvest_through(program, home, server, portals, searches)

    before = searches.number
    first = json.loads(run(program, home, "backup", backup, "--json"))
    second = json.loads(run(program, home, "backup", backup, "--json"))
    expect(first["datasets"] == second["datasets"] == len(harvested), f"the backup has {first['datasets']} datasets")
    expect(second["copiedFiles"] < first["copiedFiles"], f"the second backup copied {second['copiedFiles']} files")
    print(f"ok: backup of {first['files']} files beside {searches.number - before} searches; the second copied {second['copiedFiles']}",
          flush=True)

    expected = state_of(server.address)
    standby = folder / "standby"
    run(program, standby, "restore", backup)
    other = Server(program, standby, folder / "log2")
    searches.use(other.address)
    searches.proceed()
    server.stop()
    shutil.rmtree(home)
    run(program, home, "restore", backup)
    run(program, home, "verify")
    server = Server(program, home, folder / "log3")
    expect(state_of(server.address) == expected, "the restored home returns other results")
    searches.use(server.address)
    searches.proceed()
    other.stop()
    Administrator(server.address, token).put("tides", "Tide gauges: measurements after the restoration")
    searches.stop()
    server.stop()
    run(program, home, "verify")
    print(f"ok: home destroyed and restored; {searches.number} searches, none failed", flush=True)


class Watched:
    """The datasets of part two. The changes of a dataset are numbered: number n gives it state n, or removes it."""

    def __init__(self):
        self.lock = threading.Lock()
        self.begun, self.ended = collections.Counter(), collections.Counter()  # the last change that began, and that ended
        self.removals = set()  # (name, number)
        self.times = []
        self.is_running = True

    def begin(self, name, is_removal):
        with self.lock:
            self.begun[name] += 1
            if is_removal:
                self.removals.add((name, self.begun[name]))
            return self.begun[name]

    def end(self, name, number):
        with self.lock:
            self.ended[name] = number

    def is_absent(self, name, number):
        return number == 0 or (name, number) in self.removals

    def search(self, address, seed):
        """Searches single datasets until the end, and checks each response."""
        choice = random.Random(seed)
        connection = http.client.HTTPConnection(address, timeout=SECONDS)
        while self.is_running:
            with self.lock:
                name = choice.choice(sorted(self.begun))
                ended = self.ended[name]
            begun = time.monotonic()
            status, body = request(connection, "GET", search_path(name))
            self.times.append(time.monotonic() - begun)
            expect(status == 200, f"a search returned {status}: {body[:500]}")
            with self.lock:
                possible = range(ended, self.begun[name] + 1)
                self.check(name, possible, json.loads(body)["hits"])
            time.sleep(PAUSE * choice.uniform(0.5, 1.5))

    def check(self, name, possible, hits):
        """Compares a response with the changes that had ended before it, or had begun."""
        hit = next((hit for hit in hits if hit["id"] == name), None)
        if hit is None:
            expect(any(self.is_absent(name, number) for number in possible), f"{name} was not found; its state is in {possible}")
            return
        states = {int(state) for state in re.findall(r"state(\d+)", json.dumps(hit))}
        expect(len(states) == 1, f"{name} was half visible: states {sorted(states)} in one hit")
        state = states.pop()
        expect(state in possible and not self.is_absent(name, state), f"{name} was found in state {state} instead of {possible}")


def percentile(times, share):
    ordered = sorted(times)
    return 1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def changes_of(number, changes):
    """Yields the changes of one administrator: datasets are added, replaced, and every tenth change removes one."""
    choice, present, added = random.Random(number), [], 0
    for step in range(changes):
        if step % 10 == 9:
            name = present.pop(choice.randrange(len(present)))
            yield "remove", name
        elif step % 3 == 0 or not present:
            name = f"sensor{number}x{added}"
            added += 1
            present.append(name)
            yield "put", name
        else:
            yield "put", choice.choice(present)


def administer(watched, address, token, number, changes):
    administrator = Administrator(address, token)
    for action, name in changes_of(number, changes):
        state = watched.begin(name, action == "remove")
        if action == "remove":
            administrator.remove(name)
        else:
            administrator.put(name, f"{name} measurements state{state}", content(name, state))
        watched.end(name, state)


def hits_of(home, program, words):
    hits = json.loads(run(program, home, "search", words, "--json"))["hits"]
    return [(hit["id"], hit["title"], round(hit["score"], 9), hit["snippet"]) for hit in hits]


def upgrade(program, folder):
    """Takes over homes of previous versions: reads them, serves them with changes, and reads them again."""
    repository = pathlib.Path(__file__).resolve().parents[2]
    dumps = [repository / "testdata/dumps" / name for name in ("soils.ttl", "trees.nt.gz")]
    packed = sorted((repository / "testdata/homes").glob("*.tar.xz"))
    expect(packed, "testdata/homes has no home of a previous version")
    for archive in packed:
        home, fresh = folder / archive.stem, folder / f"{archive.stem}.fresh"
        with tarfile.open(archive) as file:
            file.extractall(folder / "unpacked", filter="data")
        (folder / "unpacked/lodeseek").rename(home)
        for place in (home, fresh):
            place.mkdir(exist_ok=True)
            settings = place / "lodeseek.toml"
            text = settings.read_text() if settings.exists() else ""
            settings.write_text(text + 'ranking = "words"\nanalysis = "english"\n[server]\nadmin = true\n')
        run(program, fresh, "load", *dumps, repository / "testdata/dumps/museum.jsonld")
        run(program, fresh, "index")
        run(program, home, "verify")
        for words in ("ginkgo", "museum", "soil"):
            expect(hits_of(home, program, words) == hits_of(fresh, program, words), f"{archive.name}: other hits for {words!r}")
        server = Server(program, home, folder / f"{archive.stem}.log")
        token = run(program, home, "token", "add", "operator", "--scope", "admin").strip()
        Administrator(server.address, token).put("tides", "Tide gauges", content("tide gauges", 0))
        expect("tides" in ids(get(server.address, search_path("gauges"))[1]), f"{archive.name}: an uploaded dataset was not found")
        expect("trees" in ids(get(server.address, search_path("ginkgo"))[1]), f"{archive.name}: a dataset was lost")
        server.stop()
        run(program, home, "verify")
        query = "SELECT ?g (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } } GROUP BY ?g"
        counts = dict(line.split("\t") for line in run(program, home, "query", query, "--format", "tsv").splitlines()[1:])
        wanted = {"museum": "75", "soils": "103", "trees": "105", "tides": "40"}
        expect(counts == {f"<http://localhost:7878/dataset/{name}>": count for name, count in wanted.items()}, f"{archive.name}: {counts}")
        run(program, home, "load", *dumps)
        names = {dataset["id"] for dataset in json.loads(run(program, home, "list", "--json"))}
        expect(names == set(wanted), f"{archive.name}: the home has {sorted(names)}")
        print(f"ok: home of a previous version taken over: {archive.name}", flush=True)


def part_two(program, folder, changes):
    home = folder / "home"
    server = Server(program, home, folder / "log4")
    token = run(program, home, "token", "add", "ci", "--scope", "write").strip()
    watched = Watched()
    for number in range(10):  # datasets that the searches without changes find
        name = f"fixed{number}"
        Administrator(server.address, token).put(name, f"{name} measurements state1", content(name, 1))
        watched.end(name, watched.begin(name, is_removal=False))
    searchers = [threading.Thread(target=watched.search, args=(server.address, seed), daemon=True) for seed in range(CLIENTS)]
    for thread in searchers:
        thread.start()
    time.sleep(10)
    quiet, watched.times = watched.times, []
    begun = time.monotonic()
    workers = []
    for number in range(ADMINISTRATORS):
        share = changes // ADMINISTRATORS + (number < changes % ADMINISTRATORS)
        workers.append(threading.Thread(target=administer, args=(watched, server.address, token, number, share), daemon=True))
    for thread in workers:
        thread.start()
    for thread in workers:
        thread.join()
    seconds, busy = time.monotonic() - begun, watched.times
    watched.is_running = False
    for thread in searchers:
        thread.join()
    for name, state in watched.ended.items():
        hits = json.loads(get(server.address, search_path(name))[1])["hits"]
        found = {hit["id"]: hit["title"] for hit in hits}.get(name)
        wanted = None if watched.is_absent(name, state) else f"{name} measurements state{state}"
        expect(found == wanted, f"{name} has the title {found!r} instead of {wanted!r}")
    server.stop()
    run(program, home, "verify")
    audit = [json.loads(line) for line in (home / "audit.jsonl").read_text().splitlines()]
    done = sum(entry["by"] == "ci" and entry["outcome"] == "done" for entry in audit)
    expect(done == changes + 10, f"the audit log has {done} changes instead of {changes + 10}")
    print(f"ok: {changes} changes in {seconds:.0f} s beside {CLIENTS} clients, none lost, none half visible", flush=True)
    print(f"p99 of searches: {percentile(busy, 0.99):.0f} ms with changes ({len(busy)} searches), "
          f"{percentile(quiet, 0.99):.0f} ms without ({len(quiet)}); median {percentile(busy, 0.5):.0f} and {percentile(quiet, 0.5):.0f} ms")


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    program = os.path.abspath(sys.argv[1])
    changes = int(sys.argv[2]) if len(sys.argv) == 3 else 300
    with tempfile.TemporaryDirectory(prefix="lodeseek-operator-") as folder:
        part_one(program, pathlib.Path(folder))
        upgrade(program, pathlib.Path(folder))
        part_two(program, pathlib.Path(folder), changes)


if __name__ == "__main__":
    main()
