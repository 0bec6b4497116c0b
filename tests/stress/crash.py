#!/usr/bin/env python3
"""Crash test: kills `load` and `index` with SIGKILL at random moments, twenty times each, and checks that nothing is lost.

usage: crash.py PROGRAM CATALOGUE.json

A first part of the catalogue is loaded and indexed without interruption. In copies of that home the load of the whole catalogue
is killed; in copies with everything loaded, the indexing. After each kill, queries on the first part must return the same results
as before, and the next load or index must succeed. Finally, a killed home must return the same results as one that was not killed.
"""

import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

ROUNDS = 20
QUERIES = ["water quality", "allotments Greater Manchester", "ontology of sensors", "public procurement", "music", "smell"]


def run(program, home, *arguments, check=True):
    done = subprocess.run([program, "--home", str(home), *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if check and done.returncode not in (0, 1):
        sys.exit(f"FAIL: {' '.join(map(str, arguments))} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return done


def answers(program, home):
    return [run(program, home, "search", "--json", "-k", "20", query).stdout for query in QUERIES]


def count(program, home, iri):
    query = f"SELECT (COUNT(*) AS ?n) WHERE {{ GRAPH <{iri}> {{ ?s ?p ?o }} }}"
    return run(program, home, "query", query).stdout


def killed_after(program, home, *arguments, seconds):
    """Kills the command after `seconds`. If false, it had ended before."""
    child = subprocess.Popen([program, "--home", str(home), *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        child.wait(timeout=seconds)
        return False
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
        return True


def expect(condition, message):
    if not condition:
        sys.exit(f"FAIL: {message}")


def kill_until(rounds, prepare, command, duration, chance, check):
    """Kills the command in `rounds` homes, at moments spread over its usual duration."""
    done = 0
    while done < rounds:
        home = prepare()
        moment = chance.uniform(0.02, 0.98) * duration
        if not killed_after(*command(home), seconds=moment):
            duration *= 0.9  # the command ended before the kill
            continue
        done += 1
        check(home, done)
        print(f"{command(home)[2]}: killed after {moment:5.2f} s, number {done}", flush=True)


def main():
    program, catalogue = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    if not catalogue.exists():
        print(f"SKIPPED: {catalogue} does not exist; set LODESEEK_DATA to the data folder")
        return
    chance = random.Random(11)
    entries = json.loads(catalogue.read_text())
    with tempfile.TemporaryDirectory(prefix="lodeseek-crash-") as scratch:
        scratch = pathlib.Path(scratch)
        folder = scratch / "data"
        folder.mkdir()
        (folder / "files").symlink_to(catalogue.parent / "files")
        first, all_ = folder / "first.json", folder / "all.json"
        first.write_text(json.dumps(entries[:40]))
        all_.write_text(json.dumps(entries))
        iri = f"http://localhost:7878/dataset/{entries[0]['dataset_id']}"
        title = entries[0]["title"]

        part, full = scratch / "part", scratch / "full"
        run(program, part, "load", first)
        run(program, part, "index")
        shutil.copytree(part, full)
        started = time.monotonic()
        run(program, full, "load", all_)
        load_time = time.monotonic() - started
        reference = scratch / "reference"
        shutil.copytree(full, reference)
        started = time.monotonic()
        run(program, reference, "index")
        index_time = time.monotonic() - started
        before, expected = count(program, part, iri), answers(program, reference)

        def copy_of(home):
            def prepare():
                victim = scratch / "victim"
                shutil.rmtree(victim, ignore_errors=True)
                shutil.copytree(home, victim)
                return victim
            return prepare

        def committed(home, moment):
            expect(count(program, home, iri) == before, f"{moment}: the content of {iri} differs from the committed one")
            found = run(program, home, "search", "--json", title)
            expect(f'"id": "{entries[0]["dataset_id"]}"' in found.stdout, f"{moment}: {title!r} is no longer found")

        def after_load(home, number):
            committed(home, f"load, kill {number}")
            run(program, home, "load", all_ if number % 5 == 0 else first)
            committed(home, f"load, kill {number}, next load")

        def after_index(home, number):
            committed(home, f"index, kill {number}")
            run(program, home, "index")
            expect(answers(program, home) == expected, f"index, kill {number}: results differ after the next index")

        kill_until(ROUNDS, copy_of(part), lambda home: (program, home, "load", all_), load_time, chance, after_load)
        kill_until(ROUNDS // 2, copy_of(full), lambda home: (program, home, "index"), index_time, chance, after_index)
        # The committed index stays in use until a rebuild is complete.
        rebuild = lambda home: (program, home, "index", "--rebuild")
        kill_until(ROUNDS // 2, copy_of(reference), rebuild, index_time, chance, after_index)
        print(f"OK: {ROUNDS} loads and {ROUNDS} indexings killed; nothing committed was lost, and the results are the same")


if __name__ == "__main__":
    main()
