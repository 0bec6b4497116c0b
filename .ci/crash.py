#!/usr/bin/env python3
"""Kill `load` and `index` with SIGKILL at random moments, twenty times each, and look whether anything is lost.

usage: crash.py PROGRAM CATALOGUE.json

A reference home is made without interruption. In another home a first part of the catalogue is loaded and indexed; then
every further load and index is killed, and after each kill the next command must work and the first part must answer as
before. In the end the home must answer every query as the reference does.
"""

import json
import pathlib
import random
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


def killed_after(program, home, seconds, *arguments):
    """Whether the command was still running when it was killed."""
    child = subprocess.Popen([program, "--home", str(home), *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        child.wait(timeout=seconds)
        return False
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
        return True


def main():
    program, catalogue = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    if not catalogue.exists():
        print(f"SKIPPED: {catalogue} is not here; LODESEEK_DATA names another place")
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
        reference = scratch / "reference"
        times = {}
        for command in (["load", all_], ["index"]):
            started = time.monotonic()
            run(program, reference, *command)
            times[command[0]] = time.monotonic() - started
        expected = answers(program, reference)

        home = scratch / "home"
        run(program, home, "load", first)
        run(program, home, "index")
        iri = f"http://localhost:7878/dataset/{entries[0]['dataset_id']}"
        before = count(program, home, iri)
        kills = {"load": 0, "index": 0}
        for command in ("load", "index"):
            while kills[command] < ROUNDS:
                # The moments spread over the whole run; a command that was faster is started over.
                if command == "load":
                    victim = scratch / f"victim{kills[command] % 2}"
                    arguments = ["load", all_]
                    moment = chance.uniform(0.02, 0.95) * times["load"]
                    if kills[command] % 2 == 0:
                        target = home
                    else:
                        target = victim
                        run(program, target, "load", first)
                else:
                    target, arguments = home, ["index", "--rebuild"] if kills[command] % 4 == 3 else ["index"]
                    moment = chance.uniform(0.02, 0.95) * times["index"]
                    if kills[command] == 0:
                        run(program, home, "load", all_)
                was_killed = killed_after(program, target, moment, *arguments)
                if count(program, target, iri) != before:
                    sys.exit(f"FAIL: after kill {kills[command]} of {command} the content of {iri} is not what was committed")
                if command == "load" and target == home:
                    run(program, home, "search", "--json", QUERIES[0])
                if command == "index":
                    # Whatever was committed is searchable; without any commit there is no index, and that is said.
                    run(program, home, "search", "--json", QUERIES[0], check=not arguments[1:])
                if was_killed:
                    kills[command] += 1
                    print(f"{command}: killed after {moment:5.2f} s, number {kills[command]}", flush=True)
                elif command == "index":
                    run(program, home, "index", "--rebuild") if chance.random() < 0.3 else None
                    times["index"] *= 0.8
                    if times["index"] < 0.3:
                        times["index"] = 6.0
                        import shutil
                        shutil.rmtree(home / "index")
                else:
                    import shutil
                    shutil.rmtree(target)
                    run(program, target, "load", first)
                    if target == home:
                        run(program, home, "index")
        run(program, home, "load", all_)
        run(program, home, "index")
        if answers(program, home) != expected:
            sys.exit("FAIL: the home that was killed answers otherwise than the one that was not")
        print(f"OK: {kills['load']} loads and {kills['index']} indexings killed; nothing committed was lost, and the answers are the same")


if __name__ == "__main__":
    main()
