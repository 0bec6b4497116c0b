#!/usr/bin/env bash
# pyoxigraph 0.5.13 (Oxigraph on RocksDB): Store.bulk_load writes table files named bulk-*.sst into the folder of the store and moves them
# into it at the end. A process that is killed before leaves them. Opening the store, optimize() and backup() neither use nor remove
# them: each killed load of a large file keeps its space for good. The store itself is consistent.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" -q --disable-pip-version-check install pyoxigraph==0.5.13
"$folder/bin/python" - "$folder" <<'PYTHON'
import pathlib
import signal
import subprocess
import sys
import time

import pyoxigraph

folder = pathlib.Path(sys.argv[1]) / "store"
LOAD = """import sys
import pyoxigraph

pyoxigraph.Store(sys.argv[1]).bulk_load(path=sys.argv[2], format=pyoxigraph.RdfFormat.N_TRIPLES)
"""
document = folder.parent / "large.nt"
with open(document, "w") as out:
    for number in range(4_000_000):
        out.write(f"<http://example.org/{number}> <http://example.org/p> <http://example.org/o> .\n")


def files():
    return sorted(folder.glob("bulk-*.sst"))


loading = subprocess.Popen([sys.executable, "-c", LOAD, str(folder), str(document)])
until = time.time() + 120
while not files() and loading.poll() is None and time.time() < until:
    time.sleep(0.05)
loading.send_signal(signal.SIGKILL)
loading.wait()
left = files()
store = pyoxigraph.Store(str(folder))
store.optimize()
store.flush()
del store
size = sum(file.stat().st_size for file in files())
print({"left by the killed load": len(left), "after the next use": len(files()), "bytes": size})
assert left and files() == left and size > 0, "the behaviour of pyoxigraph changed"
PYTHON
