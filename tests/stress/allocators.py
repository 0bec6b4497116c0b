#!/usr/bin/env python3
"""Compares memory allocators: memory after refused queries and after searches, and processor time of searches.

usage: allocators.py PROGRAM HOME [QUERIES] [LIBRARY ...]

Each LIBRARY (for example Debian's libjemalloc.so.2 or libmimalloc.so.2) is loaded with LD_PRELOAD, so that it replaces malloc of the whole
process, RocksDB included. The first run is without a library; the second is with two arenas of the C library. Each run starts a server,
and sends QUERIES queries (default 48) one after the other that are refused at the memory limit, and then 2,000 searches by four clients.
It prints the resident memory of the server when it is idle, at most, right after the queries, 60 s later, and 60 s after the searches;
and the processor time of a search.
"""

import concurrent.futures
import os
import pathlib
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

REST = 60
SEARCHES = 2000
WORDS = "water plan energy health school city species language music transport map museum census library weather".split()
REFUSED = "SELECT * { { SELECT * { ?a ?b ?c } LIMIT 700 } { SELECT * { ?d ?e ?f } LIMIT 700 } } ORDER BY RAND()"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def status(url):
    try:
        with urllib.request.urlopen(url, timeout=120) as answer:
            answer.read()
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0


def memory(process, field="VmRSS"):
    for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) // 1024
    raise ProcessLookupError(process.pid)


def processor_time(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(program, home, queries, environment):
    port = free_port()
    base = f"http://127.0.0.1:{port}"
    server = subprocess.Popen([program, "--home", home, "serve", "--bind", f"127.0.0.1:{port}"],
                              env=os.environ | {"LODESEEK_SERVER_WORKER_MEMORY": "128"} | environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while status(f"{base}/healthz") != 200 and server.poll() is None:
            time.sleep(.2)
        for word in WORDS:
            status(f"{base}/api/search?q={word}")
        time.sleep(2)
        idle = memory(server)
        refused = "/sparql?" + urllib.parse.urlencode({"query": REFUSED})
        statuses = {status(base + refused) for _ in range(queries)}
        directly = memory(server)
        time.sleep(REST)
        rested = memory(server)
        began = processor_time(server)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            searches = [f"{base}/api/search?q={WORDS[n % len(WORDS)]}+{WORDS[n * 7 % len(WORDS)]}" for n in range(SEARCHES)]
            found = set(pool.map(status, searches))
        search = (processor_time(server) - began) / SEARCHES * 1000
        time.sleep(REST)
        return (f"idle {idle} MB; {queries} refused queries {sorted(statuses)}: at most {memory(server, 'VmHWM')} MB, then {directly} MB, "
                f"after {REST} s {rested} MB; {SEARCHES} searches {sorted(found)}: {search:.2f} ms each, after {REST} s {memory(server)} MB")
    except (ProcessLookupError, FileNotFoundError):
        return f"the server ended with status {server.wait()}"
    finally:
        server.terminate()
        server.wait()


def main():
    program, home = sys.argv[1], sys.argv[2]
    queries = int(sys.argv[3]) if len(sys.argv) > 3 else 48
    runs = [("C library", {}), ("C library, 2 arenas", {"MALLOC_ARENA_MAX": "2"})]
    runs += [(pathlib.Path(library).name, {"LD_PRELOAD": library}) for library in sys.argv[4:]]
    for name, environment in runs:
        print(f"allocators {name:22} {measure(program, home, queries, environment)}", flush=True)


if __name__ == "__main__":
    main()
