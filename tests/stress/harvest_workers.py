#!/usr/bin/env python3
"""Measure the price of worker processes in a harvest.

usage: harvest_workers.py PROGRAM [ROUNDS]

Generates two catalogues, one of many small datasets and one of few large ones, and harvests each into new homes, in turn without and
with worker processes (default 5 rounds). Prints the median time of a harvest, and the ratio.
"""

import json
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

# Name, number of datasets, triples of each.
CATALOGS = [("small", 500, 100), ("large", 4, 100_000)]
PROCESSES = {"without": ["--no-workers"], "workers": []}


def write_catalog(folder, datasets, triples):
    draw = random.Random(1)
    folder.mkdir()
    entries = []
    for number in range(datasets):
        with open(folder / f"{number}.ttl", "w") as dump:
            dump.write("@prefix e: <http://e.org/> .\n")
            for place in range(triples // 4):
                subject, other = f"e:d{number}s{place}", draw.randrange(triples)
                dump.write(f'{subject} a e:C{place % 20} ; e:name "item {place}" ; e:linked e:d{number}s{other} ; e:size {other} .\n')
        entries.append({"dataset_id": f"d{number}", "title": f"Dataset {number}", "download": [f"{number}.ttl"]})
    (folder / "datasets.json").write_text(json.dumps(entries))


def harvest(program, catalog, home, options):
    """Returns the seconds of a harvest."""
    start = time.perf_counter()
    command = [program, "--home", str(home), "harvest", str(catalog / "datasets.json"), *options]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    seconds = time.perf_counter() - start
    shutil.rmtree(home)
    return seconds


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    program, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) == 3 else 5
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name, datasets, triples in CATALOGS:
            catalog = folder / name
            write_catalog(catalog, datasets, triples)
            times = {kind: [] for kind in PROCESSES}
            for turn in range(rounds + 1):  # the first one warms up
                for kind, options in PROCESSES.items():
                    seconds = harvest(program, catalog, folder / "home", options)
                    if turn:
                        times[kind].append(seconds)
            without, workers = (statistics.median(times[kind]) for kind in ("without", "workers"))
            ratio = workers / without
            print(f"{name}: {datasets} datasets of {triples} triples: without {without:.2f} s, with workers {workers:.2f} s, ratio {ratio:.2f}")


if __name__ == "__main__":
    main()
