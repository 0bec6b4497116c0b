#!/usr/bin/env python3
"""Chaos test: damages homes, kills processes and fills disks, and checks that no answer is wrong without an error.

usage: chaos.py PROGRAM [TRIALS] [SEED] [PART ...]

Parts: flips, log, kills, backup, disk, read-only, processes, clock. Default: all. TRIALS (default 300) is the number of flipped
bits; the other parts scale with it. Each kind of file of a home gets the same number of flipped bits.

A home with generated datasets, the catalogue of testdata/, works that use datasets, a sample of an endpoint, checked addresses, tokens
and an audit log is loaded and indexed, with vectors if the model is found (LODESEEK_MODELS). So is a second one whose content is in
files alone (`load --no-store`). A battery of commands (search, similar, list, status, query, show, quality, token list) gives the
reference. Each trial changes a copy of a home and runs the battery again. If the battery does not read the changed file, the command that does runs as well: `serve --admin` for tokens and the
audit log, `load --endpoint` for cached responses.

  harmless   every command returns what it returned before
  detected   a command fails with a message that names a command of lodeseek as remedy; none returns anything else
  wrong      a command succeeds with another result, and no message
  panic      a command panics, is ended by a signal, or does not end

In the part clock, the clock jumps by Debian's faketime while commands run; without faketime this is skipped.

After a detected damage, `verify` must report it, and `repair` (followed by `load` and `index` if it lists datasets to load again) must restore the
reference. Prints a table in Markdown. Exits with 1 if a trial was wrong, panicked or was not repaired.
"""

import collections
import glob
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
import tempfile
import threading
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATASETS, ENTITIES = 24, 40
TIMEOUT = 300
REMEDIES = ("lodeseek verify", "lodeseek repair", "lodeseek index", "lodeseek load", "lodeseek token add", "correct it", "use an absolute", "/lodeseek.toml:", "remove the folder and run", "use another backup",
            # Oxigraph repeats the error of a damaged block until the memory of the answer is used up; `verify` names the block.
            "the answer takes more than")
PARTS = ["flips", "log", "kills", "backup", "disk", "read-only", "processes", "clock"]

failures = []


class Table:
    """Counts outcomes of attacks, in the order of their first occurrence."""

    def __init__(self):
        self.rows = collections.OrderedDict()

    def add(self, attack, outcome, note=""):
        self.rows.setdefault(attack, collections.Counter())[outcome] += 1
        if outcome in ("wrong", "panic", "not repaired"):
            failures.append(f"{attack}: {outcome}: {note}")
            print(f"FAIL {failures[-1]}", flush=True)

    def print(self):
        print("\n| attack | tries | outcome |\n|---|---|---|")
        for attack, outcomes in self.rows.items():
            listed = ", ".join(f"{number} {outcome}" for outcome, number in sorted(outcomes.items()))
            print(f"| {attack} | {sum(outcomes.values())} | {listed} |")


class Run:
    """Outcome of a command."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def panicked(self):
        return self.code < 0 or self.code >= 101 or "panicked at" in self.err

    def is_clear_error(self):
        return self.code == 2 and any(remedy in self.err for remedy in REMEDIES)


def environment(**further):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LODESEEK_") or name == "LODESEEK_MODELS"}
    return {**kept, "NO_COLOR": "1", "RUST_BACKTRACE": "0", **further}


def run(program, home, *arguments, **variables):
    command = [program, "--home", str(home), *map(str, arguments)]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(**variables), timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return Run(-1, "", f"{' '.join(map(str, arguments))} did not end within {TIMEOUT} s")
    return Run(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))


def must(program, home, *arguments, codes=(0,)):
    done = run(program, home, *arguments)
    if done.code not in codes:
        sys.exit(f"FAIL: {' '.join(map(str, arguments))} ended with {done.code}:\n{done.err[-2000:]}")
    return done


def write_catalog(folder, generation):
    """Writes a catalogue of generated datasets, each of one generation."""
    folder.mkdir(parents=True, exist_ok=True)
    entries = []
    for number in range(DATASETS):
        lines = [f'<http://e.org/{number}> <http://e.org/generation> "{generation}" .']
        for entity in range(ENTITIES):
            subject = f"<http://e.org/{number}/{entity}>"
            lines.append(f'{subject} <http://www.w3.org/2000/01/rdf-schema#label> "thing {entity} of generation{generation}" .')
            lines.append(f"{subject} <http://e.org/next> <http://e.org/{number}/{(entity * 7 + number) % ENTITIES}> .")
            lines.append(f"{subject} <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://e.org/Class{entity % 5}> .")
            lines.append(f'{subject} <http://e.org/size> "{entity}.50"^^<http://www.w3.org/2001/XMLSchema#decimal> .')
        (folder / f"{number}.nt").write_text("\n".join(lines) + "\n")
        entries.append({"dataset_id": f"g{number}", "title": f"Things {number} generation{generation}", "download": f"{number}.nt"})
    (folder / "datasets.json").write_text(json.dumps(entries))
    return folder / "datasets.json"


def write_works(path):
    """Writes works that use the generated datasets."""
    works = [{"title": f"Work {number} about things", "abstract": f"Things {number}.", "year": 2000 + number,
              "datasets": [f"g{number}", f"g{number + 1}"]} for number in range(12)]
    path.write_text("".join(json.dumps(work) + "\n" for work in works))
    return path


def write_addresses(path, port):
    """Writes a catalogue with two addresses, one of which responds."""
    path.write_text(f"""@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .
<http://e.org/checked> a dcat:Dataset ; dct:identifier "checked" ; dct:title "Checked" ; dcat:distribution [
    dcat:accessURL <http://127.0.0.1:{port}/there> ; dcat:downloadURL <http://127.0.0.1:{port}/gone> ] .
""")
    return path


class Addresses(http.server.BaseHTTPRequestHandler):
    """Responds to checks of addresses."""

    def do_HEAD(self):
        self.send_response(200 if self.path == "/there" else 404)
        self.end_headers()

    do_GET = do_HEAD

    def log_message(self, *_):
        pass


TRIPLES = 4 * ENTITIES + 1
COUNTS = """SELECT ?d (COUNT(*) AS ?n) { ?d <https://w3id.org/lodeseek/ns#graph> ?g GRAPH ?g { ?s ?p ?o } } GROUP BY ?d ORDER BY ?d"""
PROFILES = """SELECT ?d ?n { ?d <http://rdfs.org/ns/void#triples> ?n } ORDER BY ?d ?n"""
METADATA = """SELECT ?d ?p ?o { ?d a <http://www.w3.org/ns/dcat#Dataset> ; ?p ?o } ORDER BY ?d ?p ?o"""
BATTERY = [
    ["search", "--json", "-k", "20", "ginkgo"],
    ["search", "--json", "-k", "40", "thing generation0"],
    ["search", "--json", "--explain", "air quality"],
    ["similar", "--json", "street-trees"],
    ["show", "--json", "g3"],
    ["show", "--rdf", "nt", "g5"],
    ["snippet", "g7"],
    ["list", "--format", "json"],
    ["query", COUNTS],
    ["query", PROFILES],
    ["query", METADATA],
    # These read the list of works, the results of checked addresses, and the tokens.
    ["status"],
    ["quality", "--json", "checked"],
    ["token", "list"],
]
# The content of the second home is in files alone: SPARQL cannot read it, snippets do.
INDEX_ONLY_BATTERY = [
    ["search", "--json", "-k", "20", "ginkgo"],
    ["similar", "--json", "street-trees"],
    ["show", "--json", "g3"],
    *(["snippet", f"g{number}"] for number in range(6)),
    ["list", "--format", "json"],
    ["query", METADATA],
]


def battery(program, home, commands=BATTERY):
    return [run(program, home, *arguments) for arguments in commands]


def normal(text):
    """Without the folder and sizes of the home, and without times of snippets and records, which a repair makes again."""
    changing = ("generatedAtTime", "#generatedAt", '"modified": "20', '"origin":')
    starts = ("home ", "changed ", "size ")
    lines = [line for line in text.splitlines() if not any(word in line for word in changing) and not line.startswith(starts)]
    text = re.sub(r"(status \d+) at [0-9T:.Z-]+", r"\1", "\n".join(sorted(lines)))
    return re.sub(r"^(vectors .*), [0-9.]+ [kM]?B;", r"\1;", text, flags=re.MULTILINE)


def classify(done, reference, commands=BATTERY):
    """Returns the outcome of a battery and a note."""
    detected = ""
    for arguments, one, expected in zip(commands, done, reference):
        name = " ".join(arguments)[:60]
        if one.panicked():
            return "panic", f"{name}: {one.err[-400:]}"
        if one.is_clear_error():
            detected = detected or f"{name}: {one.err.strip()[-300:]}"
        elif one.code == 2:
            return "wrong", f"{name}: an error without a remedy: {one.err[-400:]}"
        elif (one.code, normal(one.out)) != (expected.code, normal(expected.out)):
            # `status` lists damaged vectors in its output.
            reported = one.out if "damaged" in one.out and "damaged" not in expected.out else one.err
            if "damaged" in reported or "cannot be used" in reported:
                detected = detected or f"{name}: {reported.strip()[-300:]}"
            else:
                return "wrong", f"{name}: another result; stderr: {one.err[-300:]}"
    return ("detected", detected) if detected else ("harmless", "")


def replace_dataset(port, token, acknowledged):
    """Uploads one state of a dataset after the other until the server is gone. `acknowledged` has the number of the last one."""
    while True:
        state = acknowledged[0] + 1
        dump = "".join(f'<http://e.org/changing/{entity}> <http://e.org/state> "{state}" .\n' for entity in range(ENTITIES))
        body = ("--B\r\nContent-Disposition: form-data; name=\"metadata\"; filename=\"m.json\"\r\nContent-Type: application/json\r\n\r\n"
                f'{{"title": "Changing {state}"}}\r\n--B\r\nContent-Disposition: form-data; name="dump"; filename="d.nt"\r\n'
                f"Content-Type: application/n-triples\r\n\r\n{dump}\r\n--B--\r\n")
        headers = {"Authorization": f"Bearer {token}", "Prefer": "wait=60", "Content-Type": "multipart/form-data; boundary=B"}
        request = urllib.request.Request(f"http://127.0.0.1:{port}/api/admin/datasets/changing", body.encode(), headers, method="PUT")
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                if response.status not in (200, 201):
                    return
        except (OSError, http.client.HTTPException):
            return
        acknowledged[0] = state


class Subject:
    """A sound home, the commands that read it, and their results."""

    def __init__(self, name, home, commands):
        self.name, self.home, self.commands, self.reference = name, home, commands, []

    def read(self, program):
        """Runs the commands, and keeps their results as the reference."""
        self.reference = battery(program, self.home, self.commands)
        for arguments, one in zip(self.commands, self.reference):
            if one.code not in (0, 1):
                sys.exit(f"FAIL: {arguments} ended with {one.code} on a sound home:\n{one.err}")
        must(program, self.home, "verify")


class Chaos:
    def __init__(self, program, trials, seed, scratch):
        self.program, self.trials, self.chance, self.scratch = program, trials, random.Random(seed), scratch
        self.table = Table()
        self.addresses = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Addresses)
        threading.Thread(target=self.addresses.serve_forever, daemon=True).start()
        self.checked = write_addresses(scratch / "checked.ttl", self.addresses.server_port)
        self.works = write_works(scratch / "works.jsonl")
        self.catalogs = [write_catalog(scratch / f"data{generation}", generation) for generation in (0, 1)]
        self.testdata = ROOT / "testdata" / "catalog.ttl"
        self.feed = scratch / "feed"
        shutil.copytree(ROOT / "testdata", self.feed)
        self.endpoint_server, self.endpoint = None, ""
        self.home = scratch / "home"

    def prepare(self):
        """Makes the homes and their references."""
        self.serve_endpoint()
        self.load(self.home)
        self.check_addresses(self.home)
        self.token = must(self.program, self.home, "token", "add", "reader", "--scope", "read").out.strip()
        must(self.program, self.home, "token", "add", "writer")
        # Changes through a server are in the audit log.
        server, _ = self.serve(self.home, "--admin")
        must(self.program, self.home, "load", self.testdata)
        must(self.program, self.home, "index")
        server.terminate()
        server.wait()
        self.audit = self.administration(self.home)["audit"][1].splitlines()
        # It removes the server's checkpoints of the store.
        must(self.program, self.home, "index")
        whole = Subject("", self.home, BATTERY)
        whole.read(self.program)
        self.reference = whole.reference
        index_only = Subject("index-only ", self.scratch / "index-only", INDEX_ONLY_BATTERY)
        self.load(index_only.home, "--no-store")
        index_only.read(self.program)
        self.subjects = [whole, index_only]

    def serve_endpoint(self):
        """Starts a server on a home of its own, which the other one samples."""
        home = self.scratch / "endpoint"
        # With another base, a change of the base of the home does not concern its graphs.
        must(self.program, home, "load", ROOT / "testdata" / "dumps" / "soils.ttl", "--base", "http://endpoint.example/")
        must(self.program, home, "index")
        self.endpoint_server, port = self.serve(home)
        self.endpoint = f"http://127.0.0.1:{port}/sparql"

    def close(self):
        if self.endpoint_server:
            self.endpoint_server.kill()
            self.endpoint_server.wait()
        self.addresses.shutdown()

    def load(self, home, *options):
        """Loads and indexes everything, also again after a repair. With options for `load`, only what they apply to."""
        must(self.program, home, "load", self.testdata, self.checked, *options, codes=(0, 1))
        if not options:
            must(self.program, home, *self.harvest(), codes=(0, 1))
            must(self.program, home, *self.sample())
        must(self.program, home, "load", self.catalogs[0], self.works, *options)
        must(self.program, home, "index")
        must(self.program, home, "translations", ROOT / "testdata" / "thesaurus.ttl")

    def harvest(self):
        return ["harvest", self.feed / "catalog.ttl", "--name", "feed", "--id-prefix"]

    def sample(self):
        return ["load", "--endpoint", self.endpoint, "--graphs", "http://endpoint.example/dataset/soils", "--sample-triples", "20",
                "--pause", "0", "--id-prefix", "sampled-", "--allow-private-network", "127.0.0.0/8"]

    def check_addresses(self, home):
        must(self.program, home, "quality", "checked", "--check", "--allow-private-network", "127.0.0.0/8",
             "--inner-address", f"http://127.0.0.1:{self.addresses.server_port}/")

    def copy(self, home=None):
        victim = self.scratch / "victim"
        shutil.rmtree(victim, ignore_errors=True)
        shutil.copytree(home or self.home, victim)
        return victim

    # -- flipped bits -------------------------------------------------------------------------------------------------------

    @staticmethod
    def kind(path):
        """Returns the kind of a file of a home."""
        folder, name = path.parts[0], path.name
        if folder == "store":
            return "store " + ("MANIFEST" if name.startswith("MANIFEST") else "OPTIONS" if name.startswith("OPTIONS")
                               else path.suffix or name)
        if folder == "index":
            return "index " + (path.suffix if name.count("-") == 0 and path.suffix not in (".json", ".lock") else name)
        if folder == "graphs":
            return "graphs " + path.suffix
        if folder == "harvest":
            return "harvest " + (name if name in ("state.json", "lock") else "files")
        if folder == "remote":
            return "remote " + (name if name == "state.json" else "responses")
        return "/".join(path.parts)

    def kinds(self):
        """Returns the files of all homes by kind, as (subject, path)."""
        kinds = collections.defaultdict(list)
        for subject in self.subjects:
            for path in sorted(subject.home.rglob("*")):
                relative = path.relative_to(subject.home)
                skip = relative.name in ("lock", "LOCK", "LOG") or relative.name.startswith(("LOG.", ".tantivy"))
                if path.is_file() and path.stat().st_size > 0 and not skip:
                    kind = self.kind(relative)
                    # In the second home, the files of the content are what differs.
                    if subject.name and not kind.startswith("graphs"):
                        kind = "other files"
                    kinds[subject.name + kind].append((subject, relative))
        return kinds

    def flips(self):
        kinds = self.kinds()
        names = sorted(kinds)
        for kind in names:
            self.table.rows.setdefault(f"one bit flipped: {kind}", collections.Counter())
        for trial in range(self.trials):
            kind = names[trial % len(names)]
            subject, path = self.chance.choice(kinds[kind])
            victim = self.copy(subject.home)
            data = bytearray((victim / path).read_bytes())
            place = self.chance.randrange(len(data))
            data[place] ^= 1 << self.chance.randrange(8)
            times = (victim / path).stat()
            (victim / path).write_bytes(data)
            os.utime(victim / path, ns=(times.st_atime_ns, times.st_mtime_ns))
            note = f"{path}, byte {place}"
            attack = f"one bit flipped: {kind}"
            outcome, detail = classify(battery(self.program, victim, subject.commands), subject.reference, subject.commands)
            if outcome in ("harmless", "detected") and kind in ("tokens.json", "audit.jsonl", "audit.head"):
                outcome, detail = self.administered(victim, outcome, detail)
            if outcome == "harmless" and kind.startswith("remote"):
                outcome, detail = self.sampled(victim)
            if outcome == "harmless" and run(self.program, victim, "verify").code == 1:
                outcome = self.repaired(subject, victim, attack, note, "detected by verify")
            elif outcome == "detected":
                outcome = self.repaired(subject, victim, attack, note)
            self.table.add(attack, outcome, f"{note}; {detail}")
            if trial % 20 == 19:
                print(f"flips: {trial + 1} of {self.trials}", flush=True)

    def administration(self, home):
        """Returns status and body of the routes of a server that read the tokens and the audit log."""
        server, port = self.serve(home, "--admin")
        try:
            answers = {}
            for route in ("token", "audit"):
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
                connection.request("GET", f"/api/admin/{route}", headers={"Authorization": f"Bearer {self.token}"})
                response = connection.getresponse()
                answers[route] = (response.status, response.read().decode(errors="replace"))
            return answers
        finally:
            server.terminate()
            server.wait()

    def administered(self, victim, outcome, detail):
        """Returns the outcome of requests to a server with damaged tokens, or a damaged audit log."""
        answers = self.administration(victim)
        if outcome == "detected":
            is_rejected = all(status == 500 for status, _ in answers.values())
            return (outcome, detail) if is_rejected else ("wrong", f"the server uses damaged tokens: {answers}")
        status, found = answers["audit"]
        lost = [line for line in self.audit if line not in found.splitlines()]
        # A changed line break makes one line of two.
        if status != 200 or len(lost) > 2 or (lost and '{"damaged":' not in found):
            return "wrong", f"status {status}, {len(lost)} entries of the audit log are lost"
        return outcome, detail

    def sampled(self, victim):
        """Returns the outcome of a further sampling: a damaged response is requested again."""
        again = run(self.program, victim, *self.sample())
        if again.code != 0 or "(0 loaded, 0 replaced, 1 unchanged)" not in again.err:
            return "wrong", again.err[-400:]
        return classify(battery(self.program, victim), self.reference)

    def repaired(self, subject, victim, attack, note, outcome="detected"):
        """Verifies, repairs and, if datasets are listed, loads them again. Returns the outcome."""
        verified = run(self.program, victim, "verify")
        if verified.panicked() or verified.code == 0:
            failures.append(f"{attack}: {note}: verify ended with {verified.code}: {verified.err[-300:]}")
            return "not repaired"
        if verified.code == 2 and not verified.is_clear_error():
            failures.append(f"{attack}: {note}: verify: {verified.err[-300:]}")
            return "not repaired"
        if "settings:" in verified.out or "correct it" in verified.err or "/lodeseek.toml:" in verified.err or "its base is" in verified.out:
            # The settings are the operator's: verify names the file, and a person corrects it.
            shutil.copy(subject.home / "lodeseek.toml", victim / "lodeseek.toml")
        # The message names the files, and a backup of them as remedy.
        parts = (("tokens:", "tokens.json"), ("audit:", "audit.jsonl"), ("audit:", "audit.head"))
        lost = [file for part, file in parts if part in verified.out]
        for file in lost:
            shutil.copy(subject.home / file, victim / file)
        done = run(self.program, victim, "repair")
        if done.panicked() or done.code == 2:
            failures.append(f"{attack}: {note}: repair ended with {done.code}: {done.err[-400:]}")
            return "not repaired"
        if done.code == 1:
            self.load(victim, *(["--no-store"] if subject.name else []))
            outcome += ", loaded again"
        else:
            outcome += ", restored from a backup" if lost else ", repaired"
        if "quality:" in verified.out:
            self.check_addresses(victim)
        after, detail = classify(battery(self.program, victim, subject.commands), subject.reference, subject.commands)
        if after != "harmless" or run(self.program, victim, "verify").code != 0:
            failures.append(f"{attack}: {note}: after repair: {after}: {detail}; {done.out[-600:]}")
            return "not repaired"
        return outcome

    # -- kill -9 ------------------------------------------------------------------------------------------------------------

    def duration(self, *arguments):
        victim = self.copy()
        started = time.monotonic()
        must(self.program, victim, *arguments, codes=(0, 1))
        return time.monotonic() - started

    def killed(self, home, arguments, seconds):
        """Kills a command after some seconds. Returns false if it had ended before."""
        command = [self.program, "--home", str(home), *map(str, arguments)]
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment())
        try:
            child.wait(timeout=seconds)
            return False
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
            return True

    def is_whole(self, home):
        """Returns a problem if a generated dataset is not wholly of one generation, or verify finds damage."""
        verified = run(self.program, home, "verify")
        if verified.code != 0:
            return f"verify: {verified.out[-300:]}{verified.err[-300:]}"
        query = """SELECT ?id ?generation (COUNT(*) AS ?n) (SUM(IF(CONTAINS(STR(?o), CONCAT("generation", ?generation)), 1, 0)) AS ?labels)
          { ?d <https://w3id.org/lodeseek/ns#graph> ?g ; <http://purl.org/dc/terms/identifier> ?id
            GRAPH ?g { ?root <http://e.org/generation> ?generation . ?s ?p ?o } } GROUP BY ?id ?generation"""
        done = run(self.program, home, "query", "--format", "csv", query)
        rows = [line.split(",") for line in done.out.split()[1:]]
        if done.code != 0 or len(rows) < DATASETS:
            return f"{len(rows)} datasets: {done.err[-300:]}"
        wrong = [row for row in rows if row[2:] != [str(TRIPLES), str(ENTITIES)]]
        return f"mixed datasets: {wrong}" if wrong else ""

    def kills(self):
        commands = {
            "load": ["load", self.catalogs[1]],
            "index": ["index", "--rebuild"],
            "harvest": ["harvest", self.catalogs[1], "--name", "generated"],
            "remove": ["remove", "street-trees", "boreholes"],
        }
        for name, arguments in commands.items():
            duration = self.duration(*arguments)
            for _ in range(max(1, self.trials // 20)):
                victim = self.copy()
                if not self.killed(victim, arguments, self.chance.uniform(0.02, 0.98) * duration):
                    self.table.add(f"kill -9 in {name}", "ended before")
                    continue
                problem = self.is_whole(victim)
                again = run(self.program, victim, *arguments)
                # The killed removal may have removed one of the datasets, or all.
                is_done = again.code in (0, 1) or (name == "remove" and "there is no dataset" in again.err)
                index = run(self.program, victim, "index")
                problem = problem or ("" if is_done and index.code == 0 else f"again: {again.err[-300:]} {index.err[-300:]}")
                problem = problem or self.is_whole(victim)
                self.table.add(f"kill -9 in {name}", "wrong" if problem else "nothing committed was lost", problem)
        self.kill_rebase()
        self.kill_servers()
        self.kill_administration()

    def kill_rebase(self):
        """Kills a change of the base. Until it is completed, the home is as it was or cannot be opened."""
        change = ["rebase", "https://data.example.org/"]
        duration = self.duration(*change)
        for _ in range(max(1, self.trials // 20)):
            victim = self.copy()
            if not self.killed(victim, change, self.chance.uniform(0.02, 0.98) * duration):
                self.table.add("kill -9 in rebase", "ended before")
                continue
            reading = run(self.program, victim, "query", METADATA)
            is_named = reading.code == 2 and "run `lodeseek rebase https://data.example.org/` again" in reading.err
            problem = "" if is_named or reading.code == 0 else f"{reading.code}: {reading.err[-300:]}"
            again = run(self.program, victim, *change)
            problem = problem or ("" if again.code == 0 else f"again: {again.err[-300:]}") or self.is_whole(victim)
            moved = normal(run(self.program, victim, "query", METADATA).out)
            if not problem and moved != normal(self.reference[BATTERY.index(["query", METADATA])].out.replace("http://localhost:7878/", "https://data.example.org/")):
                problem = "the metadata differs"
            self.table.add("kill -9 in rebase", "wrong" if problem else "nothing committed was lost", problem)

    def kill_servers(self):
        for _ in range(max(1, self.trials // 40)):
            victim = self.copy()
            server, port = self.serve(victim)
            try:
                for query in ("ginkgo", "thing", "air"):
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/api/search?q={query}", timeout=30).read()
            finally:
                server.kill()
                server.wait()
            outcome, detail = classify(battery(self.program, victim), self.reference)
            verified = run(self.program, victim, "verify").code
            self.table.add("kill -9 in serve", "nothing committed was lost" if (outcome, verified) == ("harmless", 0) else "wrong", detail)

    def kill_administration(self):
        """Kills a server while a client replaces a dataset. The last acknowledged state must be there, or the one that followed."""
        for _ in range(max(1, self.trials // 20)):
            victim = self.copy()
            token = must(self.program, victim, "token", "add", "chaos", "--scope", "write").out.strip()
            server, port = self.serve(victim, "--admin")
            acknowledged = [0]
            client = threading.Thread(target=replace_dataset, args=(port, token, acknowledged))
            client.start()
            time.sleep(self.chance.uniform(0.05, 2.5))
            server.kill()
            server.wait()
            client.join()
            problem = self.is_whole(victim)
            query = """SELECT ?state (COUNT(*) AS ?n) { GRAPH <http://localhost:7878/dataset/changing> { ?s <http://e.org/state> ?state } }
              GROUP BY ?state"""
            rows = run(self.program, victim, "query", "--format", "csv", query).out.split()[1:]
            allowed = [[f"{state},{ENTITIES}"] for state in (acknowledged[0], acknowledged[0] + 1)]
            if not problem and rows not in allowed and not (acknowledged[0] == 0 and not rows):
                problem = f"acknowledged {acknowledged[0]}, found {rows}"
            again = run(self.program, victim, "index")
            problem = problem or ("" if again.code == 0 else again.err[-300:])
            self.table.add("kill -9 in serve --admin beside changes", "wrong" if problem else "nothing acknowledged was lost", problem)

    def serve(self, home, *arguments, **variables):
        """Starts a server and waits until it responds."""
        port = random.randrange(20000, 60000)
        command = [self.program, "--home", str(home), "serve", "--bind", f"127.0.0.1:{port}", *map(str, arguments)]
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment(**variables))
        for _ in range(600):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5).read()
                return server, port
            except OSError:
                if server.poll() is not None:
                    break
                time.sleep(0.1)
        server.kill()
        sys.exit(f"FAIL: the server did not start (exit code {server.poll()})")

    def log(self):
        """Flips bits of a write-ahead log that a killed load left."""
        duration = self.duration("load", self.catalogs[1])
        tries = left = 0
        while left < max(2, self.trials // 20) and tries < self.trials:
            tries += 1
            victim = self.copy()
            if not self.killed(victim, ["load", self.catalogs[1]], self.chance.uniform(0.3, 1.0) * duration):
                continue
            logs = [path for path in (victim / "store").glob("*.log") if path.stat().st_size > 0]
            if not logs:
                continue
            left += 1
            data = bytearray(logs[0].read_bytes())
            place = self.chance.randrange(len(data))
            data[place] ^= 1 << self.chance.randrange(8)
            logs[0].write_bytes(data)
            problem = self.is_whole(victim)
            outcome = "old or new state" if not problem else "detected"
            if problem:
                repaired = run(self.program, victim, "repair")
                again = run(self.program, victim, "load", self.catalogs[1])
                indexed = run(self.program, victim, "index")
                after = self.is_whole(victim)
                if repaired.panicked() or again.code or indexed.code or after:
                    outcome, problem = "not repaired", f"{problem}; {repaired.err[-300:]}; {after}"
            self.table.add("one bit flipped: write-ahead log after kill -9", outcome, problem)

    # -- backups ------------------------------------------------------------------------------------------------------------

    def backup(self):
        target = self.scratch / "backup"
        for _ in range(max(1, self.trials // 40)):
            shutil.rmtree(target, ignore_errors=True)
            must(self.program, self.home, "backup", target)
            changed = self.copy()
            must(self.program, changed, "load", self.catalogs[1])
            must(self.program, changed, "index")
            duration = self.duration("backup", self.scratch / "other")
            shutil.rmtree(self.scratch / "other", ignore_errors=True)
            was_killed = self.killed(changed, ["backup", target], self.chance.uniform(0.02, 0.98) * duration)
            problem = self.restored(target, None if was_killed else changed)
            if not problem:
                must(self.program, changed, "backup", target)
                problem = self.restored(target, changed)
            self.table.add("kill -9 in backup", "wrong" if problem else "the last complete backup was restored", problem)
        self.backup_flips(target)
        self.backup_while_serving()

    def restored(self, target, changed):
        """Restores a backup and returns a problem if it is not one of the expected states."""
        restored = self.scratch / "restored"
        shutil.rmtree(restored, ignore_errors=True)
        done = run(self.program, restored, "restore", target)
        if done.code != 0:
            return f"restore: {done.err[-300:]}"
        if run(self.program, restored, "verify").code != 0:
            return "verify finds damage in the restored home"
        found = [normal(one.out) for one in battery(self.program, restored)]
        states = [self.home] if changed is None else [changed]
        if changed is None:
            states.append(self.scratch / "victim")
        if any(found == [normal(one.out) for one in battery(self.program, state)] for state in states):
            return ""
        return "the restored home differs from the one backed up"

    def backup_flips(self, target):
        files = [path for path in target.rglob("*") if path.is_file() and path.stat().st_size > 0]
        for _ in range(max(1, self.trials // 20)):
            path = self.chance.choice(files)
            sound = path.read_bytes()
            data = bytearray(sound)
            data[self.chance.randrange(len(data))] ^= 1 << self.chance.randrange(8)
            path.write_bytes(data)
            restored = self.scratch / "restored"
            shutil.rmtree(restored, ignore_errors=True)
            done = run(self.program, restored, "restore", target)
            path.write_bytes(sound)
            is_home = (restored / "lodeseek.toml").exists()
            detected = done.code == 2 and "damaged" in done.err and not is_home
            self.table.add("one bit flipped: backup", "detected" if detected else "panic" if done.panicked() else "wrong", done.err[-300:])

    def backup_while_serving(self):
        victim = self.copy()
        server, port = self.serve(victim)
        errors, stop = [], threading.Event()

        def search():
            while not stop.is_set():
                try:
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/api/search?q=thing", timeout=30).read()
                except OSError as error:
                    errors.append(str(error))

        thread = threading.Thread(target=search)
        thread.start()
        target = self.scratch / "served"
        shutil.rmtree(target, ignore_errors=True)
        done = run(self.program, victim, "backup", target)
        stop.set()
        thread.join()
        server.terminate()
        server.wait()
        problem = done.err if done.code else errors[0] if errors else self.restored(target, victim)
        self.table.add("backup while serving", "wrong" if problem else "restored, no search failed", problem)

    # -- disk, permissions, processes, clock ----------------------------------------------------------------------------------

    def mount(self, *arguments):
        return subprocess.run(["mount", *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0

    def disk(self):
        folder = self.scratch / "small"
        folder.mkdir(exist_ok=True)
        commands = {"load": ["load", self.catalogs[1]], "index": ["index", "--rebuild"], "remove": ["remove", "street-trees"]}
        for number in range(max(3, self.trials // 25)):
            name = list(commands)[number % len(commands)]
            # The disk is made as small as the home, plus a part of what the command needs.
            size, spare = 1 << 30, self.chance.randrange(1 << 12, 1 << 20)
            if not self.mount("-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder):
                print("SKIPPED: disk: mounting is not permitted; run as root", flush=True)
                return
            try:
                home = folder / "home"
                shutil.copytree(self.home, home)
                disk = os.statvfs(folder)
                used = (disk.f_blocks - disk.f_bfree) * disk.f_frsize
                self.mount("-o", f"remount,size={used + spare}", folder)
                done = run(self.program, home, *commands[name])
                is_full = done.code == 2 and ("space" in done.err.lower())
                if done.panicked() or (done.code not in (0, 1) and not is_full):
                    self.table.add(f"disk full in {name}", "panic" if done.panicked() else "wrong", done.err[-400:])
                    continue
                self.mount("-o", f"remount,size={size}", folder)
                problem = self.is_whole(home)
                again = run(self.program, home, *commands[name])
                is_done = again.code in (0, 1) or "there is no dataset" in again.err
                index = run(self.program, home, "index")
                problem = problem or ("" if is_done and index.code == 0 else f"{again.err[-300:]} {index.err[-300:]}")
                problem = problem or self.is_whole(home)
                outcome = "clear error, nothing lost" if is_full else "it fitted"
                self.table.add(f"disk full in {name}", "wrong" if problem else outcome, problem)
            finally:
                subprocess.run(["umount", "-l", str(folder)], check=False)

    def read_only(self):
        folder = self.scratch / "read-only"
        folder.mkdir(exist_ok=True)
        victim = self.copy()
        if not (self.mount("--bind", victim, folder) and self.mount("-o", "remount,bind,ro", folder)):
            subprocess.run(["umount", "-l", str(folder)], check=False, stderr=subprocess.DEVNULL)
            print("SKIPPED: read-only: mounting is not permitted; run as root", flush=True)
            return
        try:
            outcome, detail = classify(battery(self.program, folder), self.reference)
            self.table.add("read-only file system: reading", "harmless" if outcome == "harmless" else "wrong", f"{outcome} {detail}")
            for arguments, codes in [(["verify"], (0,)), (["status"], (0,)), (["backup", self.scratch / "of-read-only"], (0,))]:
                done = run(self.program, folder, *arguments)
                self.table.add("read-only file system: reading", "harmless" if done.code in codes else "wrong", done.err[-300:])
            for arguments in (["load", self.catalogs[1]], ["index"], ["remove", "boreholes"]):
                done = run(self.program, folder, *arguments)
                clear = done.code == 2 and "ead-only" in done.err and not done.panicked()
                self.table.add("read-only file system: writing", "clear error" if clear else "wrong", done.err[-300:])
        finally:
            subprocess.run(["umount", "-l", str(folder)], check=False)

    def processes(self):
        victim = self.copy()
        server, _ = self.serve(victim)
        for arguments in (["load", self.catalogs[1]], ["index"], ["remove", "boreholes"]):
            done = run(self.program, victim, *arguments)
            clear = done.code == 2 and "in use by another lodeseek process" in done.err and str(server.pid) in done.err
            self.table.add("two processes: writing while serving", "clear error" if clear else "wrong", done.err[-300:])
        server.send_signal(signal.SIGTERM)
        server.wait()
        for _ in range(max(1, self.trials // 60)):
            victim = self.copy()
            commands = [["load", self.catalogs[1]], ["load", self.catalogs[1]], ["index"]]
            children = [subprocess.Popen([self.program, "--home", str(victim), *map(str, arguments)], stdout=subprocess.DEVNULL,
                                         stderr=subprocess.PIPE, env=environment()) for arguments in commands]
            errors = [child.communicate()[1].decode(errors="replace") for child in children]
            is_clear = all(child.returncode == 0 or "in use by another" in error for child, error in zip(children, errors))
            problem = self.is_whole(victim) if is_clear else str(errors)[-400:]
            self.table.add("two processes: writing at once", "wrong" if problem else "one wrote, the others failed clearly", problem)

    def clock(self):
        for years in (-20, 20):
            victim = self.copy()
            moment = time.time() + years * 365 * 24 * 3600
            for path in victim.rglob("*"):
                os.utime(path, (moment, moment))
            outcome, detail = classify(battery(self.program, victim), self.reference)
            self.table.add("clock jump: files 20 years old or ahead", outcome, detail)
            must(self.program, victim, "load", self.catalogs[1])
            must(self.program, victim, "index")
            problem = self.is_whole(victim)
            self.table.add("clock jump: files 20 years old or ahead", "wrong" if problem else "harmless", problem)
        self.clock_jumps()

    def clock_jumps(self):
        """Lets the clock jump by years while commands run, and while a client replaces a dataset."""
        libraries = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
        if not libraries:
            print("SKIPPED: clock jumps: faketime is not installed (apt-get install faketime)", flush=True)
            return
        offset = self.scratch / "offset"
        # The date jumps, as when an administrator sets it; the monotonic clock and the times of files do not.
        fake = {"LD_PRELOAD": libraries[0], "FAKETIME_TIMESTAMP_FILE": str(offset), "FAKETIME_NO_CACHE": "1",
                "FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1", "NO_FAKE_STAT": "1"}
        commands = {"load": ["load", self.catalogs[1]], "index": ["index", "--rebuild"], "serve --admin": None}
        for number in range(max(len(commands), self.trials // 40)):
            name = list(commands)[number % len(commands)]
            victim = self.copy()
            stop = threading.Event()
            jumping = threading.Thread(target=self.jump, args=(offset, stop))
            self.set_clock(offset, "+0")
            jumping.start()
            try:
                problem = self.beside_jumps(victim, commands[name], fake)
            finally:
                stop.set()
                jumping.join()
            again = run(self.program, victim, "index")
            problem = problem or (again.err[-300:] if again.code else "") or self.is_whole(victim)
            failed = [one.err for one in battery(self.program, victim) if one.code not in (0, 1)]
            problem = problem or (failed[0][-300:] if failed else "")
            self.table.add(f"clock jumps in {name}", "wrong" if problem else "harmless", problem)

    def jump(self, offset, stop):
        """Sets the clock again and again: 20 years ahead, back, 20 years into the past, back."""
        while True:
            for days in ("+7300d", "+0", "-7300d", "+0"):
                if stop.wait(0.1):
                    return
                self.set_clock(offset, days)

    @staticmethod
    def set_clock(offset, days):
        written = offset.with_suffix(".new")
        written.write_text(days + "\n")
        written.rename(offset)

    def beside_jumps(self, home, command, fake):
        """Runs a command, or a server with a client that replaces a dataset, while the clock jumps. Returns a problem."""
        if command:
            done = run(self.program, home, *command, **fake)
            return "" if done.code == 0 else done.err[-300:]
        token = must(self.program, home, "token", "add", "chaos", "--scope", "write").out.strip()
        server, port = self.serve(home, "--admin", **fake)
        acknowledged = [0]
        client = threading.Thread(target=replace_dataset, args=(port, token, acknowledged))
        client.start()
        time.sleep(5)
        server.terminate()
        code = server.wait()
        client.join()
        is_fine = code == 0 and acknowledged[0] >= 2
        return "" if is_fine else f"the server ended with {code} after {acknowledged[0]} changes"


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    program = str(pathlib.Path(sys.argv[1]).resolve())
    trials = int(sys.argv[2]) if len(sys.argv) > 2 else 300
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    parts = sys.argv[4:] or PARTS
    unknown = [part for part in parts if part not in PARTS]
    if unknown:
        sys.exit(f"unknown parts: {', '.join(unknown)}; parts: {', '.join(PARTS)}")
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="lodeseek-chaos-") as scratch:
        chaos = Chaos(program, trials, seed, pathlib.Path(scratch))
        try:
            chaos.prepare()
            for part in parts:
                getattr(chaos, part.replace("-", "_"))()
                print(f"{part}: done after {time.monotonic() - started:.0f} s", flush=True)
        finally:
            chaos.close()
        chaos.table.print()
    if failures:
        print("\n" + "\n".join(failures))
        sys.exit(f"FAIL: {len(failures)} trials were wrong, panicked or were not repaired")
    print(f"OK: {sum(sum(row.values()) for row in chaos.table.rows.values())} trials in {time.monotonic() - started:.0f} s, seed {seed}")


if __name__ == "__main__":
    main()
