#!/usr/bin/env python3
"""Benchmark of `harvest` by CSW and OAI-PMH: requests, time and memory, beside OWSLib and Sickle.

usage: bench_harvest.py PROGRAM [--records N] [--rounds N]

pycsw and oaipmh publish N records (default 10,000) in pages of 50. A proxy keeps their answers: in the measured rounds every answer comes
from its memory. OWSLib and Sickle fetch and parse the records, and keep nothing. The program maps them to DCAT and commits them to a new
home. The two take turns. Prints requests, bytes, median, minimum and maximum of the time, and the greatest sum of the memory (PSS) of
the program and its workers.
"""

import argparse
import http.client
import http.server
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "tests" / folder) for folder in ("interop", "stress")]
import harvest_sources
import peers
import soak

# A client of each protocol, as its documentation shows. It prints the number of records.
OWSLIB = """import sys
from owslib.csw import CatalogueServiceWeb
service = CatalogueServiceWeb(sys.argv[1], timeout=300)
number, start = 0, 1
while start:
    service.getrecords2(startposition=start, maxrecords=50, esn="full", outputschema="http://www.isotc211.org/2005/gmd", typenames="gmd:MD_Metadata")
    number += len([record.identification.title for record in service.records.values()])
    start = service.results["nextrecord"]
print(number)
"""
SICKLE = """import sys
from sickle import Sickle
print(len([record.metadata for record in Sickle(sys.argv[1], timeout=300).ListRecords(metadataPrefix="dcat")]))
"""


START_SECONDS = 1800  # pycsw reads the records into its database


class Cache:
    """Proxy that keeps the answers of a server."""

    def __init__(self):
        self.answers, self.requests, self.bytes, self.target = {}, 0, 0, None
        cache = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # headers and body in one packet
            disable_nagle_algorithm = True  # a part of an answer must not wait for the acknowledgement of the one before

            def answer(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                cache.requests += 1
                key = self.command, self.path, body
                if key not in cache.answers:
                    connection = http.client.HTTPConnection("127.0.0.1", cache.target, timeout=300)
                    kind = {"Content-Type": self.headers["Content-Type"]} if body else {}
                    connection.request(self.command, self.path, body or None, kind)
                    answer = connection.getresponse()
                    cache.answers[key] = answer.status, answer.headers["Content-Type"], answer.read()
                    connection.close()
                status, kind, content = cache.answers[key]
                cache.bytes += len(content)
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = answer

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, daemon=True).start()


def memory(process):
    """Returns the memory of a process and its descendants in bytes; what they share counts once."""
    total = 0
    for one in soak.processes(process):
        try:
            for line in pathlib.Path(f"/proc/{one}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1]) << 10
        except OSError:
            continue  # it ended
    return total


def run(command, **options):
    """Runs a command. Returns its output, the seconds and the greatest memory."""
    began, peak = time.monotonic(), 0
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    lines = []
    reader = threading.Thread(target=lambda: lines.extend(process.stdout))
    reader.start()
    while process.poll() is None:
        peak = max(peak, memory(process.pid))
        time.sleep(.05)
    reader.join()
    seconds = time.monotonic() - began
    if process.returncode:
        sys.exit(f"FAIL: {' '.join(command[:3])}: {''.join(lines)[-2000:]}")
    return "".join(lines), seconds, peak


def compare(program, name, client, packages, server, path, records, rounds):
    cache = Cache()
    cache.target = server.start(records, cache.address + path, START_SECONDS)
    try:
        measured = {"lodeseek": [], name: []}
        for number in range(rounds + 1):  # the first round fills the cache
            for who in measured:
                cache.requests = cache.bytes = 0
                with tempfile.TemporaryDirectory(prefix="lodeseek-bench-") as home:
                    if who == "lodeseek":
                        command = [program, "--home", home, "harvest", cache.address + path, "--allow-private-network", "127.0.0.0/8", "--pause", "0"]
                        output, seconds, peak = run(command)
                        found = subprocess.run([program, "--home", home, "status", "--json"], stdout=subprocess.PIPE, text=True).stdout
                        is_whole = json.loads(found)["datasets"] == len(records)
                    else:
                        environment = {"PYTHONPATH": str(packages), "PATH": "/usr/bin:/bin"}
                        output, seconds, peak = run([sys.executable, "-W", "ignore", "-c", client, cache.address + path.partition("?")[0]], env=environment)
                        is_whole = output.strip() == str(len(records))
                if not is_whole:
                    sys.exit(f"FAIL: {who} has not found {len(records)} records: {output[-2000:]}")
                if number:
                    measured[who].append((seconds, peak, cache.requests, cache.bytes))
        for who, runs in measured.items():
            times = [one[0] for one in runs]
            print(f"{server.name:8} {who:9} {runs[-1][2]:5} requests {runs[-1][3] / 1e6:6.1f} MB  median {statistics.median(times):6.2f} s "
                  f"({min(times):.2f} to {max(times):.2f})  {max(one[1] for one in runs) >> 20:4} MB of memory", flush=True)
        ours, theirs = (statistics.median(one[0] for one in runs) for runs in measured.values())
        print(f"{server.name:8} ratio {ours / theirs:.2f}", flush=True)
    finally:
        server.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--records", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    records = [harvest_sources.record(number) for number in range(options.records)]
    csw = harvest_sources.PythonServer("pycsw", "pycsw")
    compare(options.program, "OWSLib", OWSLIB, csw.packages, csw, "/csw", records, options.rounds)
    oai = harvest_sources.PythonServer("oaipmh", "oai-repository")
    compare(options.program, "Sickle", SICKLE, peers.python_packages("feeds"), oai, "/?verb=Identify", records, options.rounds)


if __name__ == "__main__":
    main()
