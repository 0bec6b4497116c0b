#!/usr/bin/env python3
"""Chaos test: damages homes, kills processes and fills disks, and checks that no answer is wrong without an error.

usage: chaos.py PROGRAM [TRIALS] [SEED] [PART ...]

Parts: flips, log, kills, backup, disk, read-only, processes, clock. Default: all. TRIALS (default 300) is the number of flipped
bits; the other parts scale with it.

A home with generated datasets and the catalogue of testdata/ is loaded and indexed. A battery of commands (search, similar, list,
status, query, show) gives the reference. Each trial changes a copy of the home and runs the battery again:

  harmless   every command returns what it returned before
  detected   a command fails with a message that names a command of lodeseek as remedy; none returns anything else
  wrong      a command succeeds with another result, and no message
  panic      a command panics, is ended by a signal, or does not end

After a detected damage, `verify` must report it, and `repair` (followed by `load` and `index` if it lists datasets to load again) must restore the
reference. Prints a table in Markdown. Exits with 1 if a trial was wrong, panicked or was not repaired.
"""

import collections
import http.client
import json
import os
import pathlib
import random
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
REMEDIES = ("lodeseek verify", "lodeseek repair", "lodeseek index", "lodeseek load", "correct it", "use an absolute", "/lodeseek.toml:", "remove the folder and run", "use another backup",
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
        return self.code < 0 or self.code >= 101 or "panicked" in self.err

    def is_clear_error(self):
        return self.code == 2 and any(remedy in self.err for remedy in REMEDIES)


def environment():
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LODESEEK_")}
    return {**kept, "NO_COLOR": "1", "RUST_BACKTRACE": "0"}


def run(program, home, *arguments):
    command = [program, "--home", str(home), *map(str, arguments)]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), timeout=TIMEOUT)
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
]


def battery(program, home):
    return [run(program, home, *arguments) for arguments in BATTERY]


def normal(text):
    """Without times of snippets and records, which a repair makes again."""
    changing = ("generatedAtTime", "#generatedAt", '"modified": "20', '"origin":')
    return "\n".join(sorted(line for line in text.splitlines() if not any(word in line for word in changing)))


def classify(done, reference):
    """Returns the outcome of a battery and a note."""
    detected = ""
    for arguments, one, expected in zip(BATTERY, done, reference):
        name = " ".join(arguments)[:60]
        if one.panicked():
            return "panic", f"{name}: {one.err[-400:]}"
        if one.is_clear_error():
            detected = detected or f"{name}: {one.err.strip()[-300:]}"
        elif one.code == 2:
            return "wrong", f"{name}: an error without a remedy: {one.err[-400:]}"
        elif (one.code, normal(one.out)) != (expected.code, normal(expected.out)):
            if "damaged" in one.err or "cannot be used" in one.err:
                detected = detected or f"{name}: {one.err.strip()[-300:]}"
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


class Chaos:
    def __init__(self, program, trials, seed, scratch):
        self.program, self.trials, self.chance, self.scratch = program, trials, random.Random(seed), scratch
        self.table = Table()
        self.catalogs = [write_catalog(scratch / f"data{generation}", generation) for generation in (0, 1)]
        self.testdata = ROOT / "testdata" / "catalog.ttl"
        self.feed = scratch / "feed"
        shutil.copytree(ROOT / "testdata", self.feed)
        self.home = scratch / "home"
        must(program, self.home, "load", self.testdata)
        must(program, self.home, *self.harvest(), codes=(0, 1))
        must(program, self.home, "load", self.catalogs[0])
        must(program, self.home, "index")
        self.reference = battery(program, self.home)
        for arguments, one in zip(BATTERY, self.reference):
            if one.code not in (0, 1):
                sys.exit(f"FAIL: {arguments} ended with {one.code} on a sound home:\n{one.err}")
        must(program, self.home, "verify")

    def harvest(self):
        return ["harvest", self.feed / "catalog.ttl", "--name", "feed", "--id-prefix"]

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
        return name

    def flips(self):
        kinds = collections.defaultdict(list)
        for path in sorted(self.home.rglob("*")):
            relative = path.relative_to(self.home)
            skip = relative.name in ("lock", "LOCK", "LOG") or relative.name.startswith(("LOG.", ".tantivy"))
            if path.is_file() and path.stat().st_size > 0 and not skip:
                kinds[self.kind(relative)].append(relative)
        names = sorted(kinds)
        for trial in range(self.trials):
            kind = names[trial % len(names)]
            path = self.chance.choice(kinds[kind])
            victim = self.copy()
            data = bytearray((victim / path).read_bytes())
            place = self.chance.randrange(len(data))
            data[place] ^= 1 << self.chance.randrange(8)
            times = (victim / path).stat()
            (victim / path).write_bytes(data)
            os.utime(victim / path, ns=(times.st_atime_ns, times.st_mtime_ns))
            note = f"{path}, byte {place}"
            attack = f"one bit flipped: {kind}"
            outcome, detail = classify(battery(self.program, victim), self.reference)
            if outcome == "detected":
                outcome = self.repaired(victim, attack, note)
                self.table.add(attack, outcome, f"{note}; {detail}")
            else:
                if outcome == "harmless" and run(self.program, victim, "verify").code == 1:
                    outcome = self.repaired(victim, attack, note, "detected by verify")
                self.table.add(attack, outcome, f"{note}; {detail}")
            if trial % 20 == 19:
                print(f"flips: {trial + 1} of {self.trials}", flush=True)

    def repaired(self, victim, attack, note, outcome="detected"):
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
            shutil.copy(self.home / "lodeseek.toml", victim / "lodeseek.toml")
        done = run(self.program, victim, "repair")
        if done.panicked() or done.code == 2:
            failures.append(f"{attack}: {note}: repair ended with {done.code}: {done.err[-400:]}")
            return "not repaired"
        if done.code == 1:
            for source in (self.testdata, self.catalogs[0]):
                must(self.program, victim, "load", source, codes=(0, 1))
            must(self.program, victim, *self.harvest(), codes=(0, 1))
            must(self.program, victim, "index")
            outcome += ", loaded again"
        else:
            outcome += ", repaired"
        after, detail = classify(battery(self.program, victim), self.reference)
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
            if not problem and moved != normal(self.reference[-1].out.replace("http://localhost:7878/", "https://data.example.org/")):
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

    def serve(self, home, *arguments):
        """Starts a server and waits until it responds."""
        port = random.randrange(20000, 60000)
        command = [self.program, "--home", str(home), "serve", "--bind", f"127.0.0.1:{port}", *map(str, arguments)]
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment())
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
        for part in parts:
            getattr(chaos, part.replace("-", "_"))()
            print(f"{part}: done after {time.monotonic() - started:.0f} s", flush=True)
        chaos.table.print()
    if failures:
        print("\n" + "\n".join(failures))
        sys.exit(f"FAIL: {len(failures)} trials were wrong, panicked or were not repaired")
    print(f"OK: {sum(sum(row.values()) for row in chaos.table.rows.values())} trials in {time.monotonic() - started:.0f} s, seed {seed}")


if __name__ == "__main__":
    main()
