#!/usr/bin/env python3
"""Crash test: kills `load`, `index` and `restore` with SIGKILL at random moments, and checks that nothing is lost or half visible.

usage: crash.py PROGRAM CATALOGUE.json [ROUNDS] [DATASETS]

Each command is killed ROUNDS times (default 20) over the first DATASETS of the catalogue (default: all). A first part is loaded and
indexed, with vectors, without interruption. In copies of that home the load of the rest is killed; in copies with everything
loaded, the indexing. After each kill, queries on the first part must return the same results as before, and the next load or index
must succeed. `restore` is killed while it writes a home: that home answers as the one that was backed up, or every command refuses
it; restored again, it answers. Finally, a killed home must return the same results as one that was not killed.
"""

import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

FIRST = 40  # datasets of the first part, at most
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


def refused(program, home):
    """Returns true if commands refuse the home: an error that says so, and not one answer."""
    done = [run(program, home, *command, check=False) for command in (["search", "--json", QUERIES[0]], ["list"], ["query", "ASK {}"])]
    return all(each.returncode == 2 and not each.stdout and each.stderr.startswith("lodeseek: ") for each in done)


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
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 20
    if not catalogue.exists():
        print(f"SKIPPED: {catalogue} does not exist; set LODESEEK_DATA to the data folder")
        return
    chance = random.Random(11)
    entries = json.loads(catalogue.read_text())[:int(sys.argv[4]) if len(sys.argv) > 4 else None]
    with tempfile.TemporaryDirectory(prefix="lodeseek-crash-") as scratch:
        scratch = pathlib.Path(scratch)
        folder = scratch / "data"
        folder.mkdir()
        (folder / "files").symlink_to(catalogue.parent / "files")
        first, all_ = folder / "first.json", folder / "all.json"
        first.write_text(json.dumps(entries[:min(FIRST, len(entries) // 2)]))
        all_.write_text(json.dumps(entries))
        iri = f"http://localhost:7878/dataset/{entries[0]['dataset_id']}"
        title = entries[0]["title"]

        part, full = scratch / "part", scratch / "full"
        run(program, part, "load", first)
        run(program, part, "index")
        if not (part / "vectors").is_dir():
            sys.exit("FAIL: index made no vectors: set LODESEEK_MODELS and source tools/env.sh")
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

        def unrestored():
            victim = scratch / "restored"
            shutil.rmtree(victim, ignore_errors=True)
            return victim

        def after_restore(home, number):
            if home.exists() and not refused(program, home):
                expect(answers(program, home) == expected, f"restore, kill {number}: a half-restored home answers")
            run(program, unrestored(), "restore", backup)
            expect(answers(program, home) == expected, f"restore, kill {number}: results differ after the next restore")

        backup = scratch / "backup"
        run(program, reference, "backup", backup)
        started = time.monotonic()
        run(program, unrestored(), "restore", backup)
        restore_time = time.monotonic() - started

        kill_until(rounds, copy_of(part), lambda home: (program, home, "load", all_), load_time, chance, after_load)
        kill_until(rounds // 2, copy_of(full), lambda home: (program, home, "index"), index_time, chance, after_index)
        # The committed index stays in use until a rebuild is complete.
        rebuild = lambda home: (program, home, "index", "--rebuild")
        kill_until(rounds - rounds // 2, copy_of(reference), rebuild, index_time, chance, after_index)
        kill_until(rounds, unrestored, lambda home: (program, home, "restore", backup), restore_time, chance, after_restore)
        print(f"OK: load, index and restore killed {rounds} times each; nothing committed was lost, and the results are the same")


if __name__ == "__main__":
    main()
