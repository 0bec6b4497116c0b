#!/usr/bin/env python3
"""Derives a collection on Spark, kills one of two executors, and compares the rankings with those of one machine.

usage: cluster.py PROGRAM [DATA]

Spark runs in the mode local-cluster with two executors; dumps, results and snapshots are on an S3 server (moto). With DATA, the folder of
the 476 real datasets with topics (lod), all of them are derived, and all topics are ranked. Without it, testdata/ is. The runs of the
published snapshot must equal those of a home that `load` and `index` made, byte for byte: four models, and vectors if ONNX Runtime is
installed. A dataset that needs too much memory must fail alone, with its reason. Workers download files from two hosts: each host must get
one request at a time.

pyspark, pyarrow and moto are installed from PyPI into the cache folder (450 MB). Without them, or without Java 17, the test is skipped
with a message. Exits with 1 at the first difference.
"""

import http.server
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import clients
import packages
import replicas
from replicas import expect, free_port, wait_until

ROOT = clients.ROOT
BUCKET = "lodeseek"
MODELS = ["tf-idf", "bm25", "lmd", "fsdm"]
TOPICS = "1\tnitrogen reduction plan\n2\tstreet trees at night\n3\tsoil\n4\twater quality of rivers\n5\tpedestrians crossing a street\n"
EXECUTOR_MEMORY = 1024  # megabytes
PATIENCE = 900  # seconds until the first objects are stored


def stored(site, prefix):
    """Returns the number of objects below a prefix."""
    return len(replicas.listed(site, prefix))


class Site:
    """An S3 server, and the environment of all commands."""

    def __init__(self, program, folder, moto, spark):
        self.program, self.folder = program, folder
        port = free_port()
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("LODESEEK_", "AWS_", "SPARK_"))}
        self.environment = {**kept, "NO_COLOR": "1", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": "us-east-1",
                            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}", "SPARK_HOME": str(spark / "pyspark"), "PYSPARK_PYTHON": sys.executable,
                            "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_WORKER_DIR": str(folder / "spark-work"),
                            "PYTHONPATH": os.pathsep.join([str(ROOT / "python/lodeseek/src"), str(spark)])}
        log = open(folder / "moto.log", "a")
        replicas.processes.append(subprocess.Popen([sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)], stdout=log,
                                                   stderr=log, env={**self.environment, "PYTHONPATH": str(moto)}))
        sys.path.insert(0, str(moto))
        import boto3
        self.s3 = boto3.client("s3", endpoint_url=f"http://127.0.0.1:{port}", region_name="us-east-1", aws_access_key_id="test",
                               aws_secret_access_key="test")
        wait_until(lambda: socket.create_connection(("127.0.0.1", port), 1).close() is None, "the S3 server starts")
        self.s3.create_bucket(Bucket=BUCKET)

    def run(self, home, *arguments, accepted=(0,), **more):
        done = subprocess.run([self.program, "--home", str(home), *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=self.environment, cwd=ROOT, **more)
        expect(done.returncode in accepted, f"{arguments} ended with {done.returncode}: {done.stderr.decode()[-2000:]}")
        return done

    def upload(self, source, prefix):
        """Copies the files of a folder to the bucket."""
        for path in sorted(source.rglob("*")):
            if path.is_file():
                self.s3.upload_file(str(path), BUCKET, f"{prefix}/{path.relative_to(source)}")

    def spark(self, home, catalog, files, prefix, executors, *options):
        """Starts the job. Its standard output is its report."""
        command = [sys.executable, "-m", "lodeseek.spark", str(catalog), "--home", str(home), "--destination", f"s3://{BUCKET}/{prefix}", "--files",
                   str(files), "--files-at", f"s3://{BUCKET}/dumps", "--master", f"local-cluster[{executors},1,{EXECUTOR_MEMORY}]", "--program",
                   self.program, *options]
        log = open(self.folder / f"spark-{prefix}.log", "w")
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, env=self.environment, cwd=self.folder, text=True)
        replicas.processes.append(process)
        return process

    def report(self, process, prefix):
        out, _ = process.communicate(timeout=3000)
        log = (self.folder / f"spark-{prefix}.log").read_text()
        expect(process.returncode == 0, f"the job ended with {process.returncode}: {log[-3000:]}")
        return json.loads(out[out.index("{"):]), log


def executors(process):
    """Returns the process numbers of the executors of a job."""
    parents, found = {}, []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
            if b"CoarseGrainedExecutorBackend" in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
        except OSError:
            pass  # the process has ended

    def is_child(number):
        while number in parents and number != process.pid:
            number = parents[number]
        return number == process.pid

    return [number for number in found if is_child(number)]


def kill_one(site, process, prefix, objects):
    """Kills one executor as soon as some objects are stored."""
    until = time.monotonic() + PATIENCE
    while stored(site, prefix) < objects and process.poll() is None and time.monotonic() < until:
        time.sleep(0.2)
    running = executors(process)
    expect(len(running) == 2, f"two executors run: {running}, {process.poll()}")
    os.kill(running[0], signal.SIGKILL)
    print(f"ok: one of two executors was killed after {stored(site, prefix)} objects", flush=True)


def runs(site, home, topics, has_vectors):
    """Returns the run of each model, and of all with vectors."""
    found = {model: site.run(home, "run", "--topics", topics, "--model", model).stdout for model in MODELS}
    found["best" if has_vectors else "balanced"] = site.run(home, "run", "--topics", topics).stdout
    return found


def published(site, prefix):
    """Serves a snapshot, and returns the folder of its home while the server runs."""
    cache = site.folder / f"cache-{prefix}"
    address = f"127.0.0.1:{free_port()}"
    log = open(site.folder / "serve.log", "a")
    process = subprocess.Popen([site.program, "--home", str(site.folder / "none"), "serve", "--bind", address, "--snapshot",
                                f"s3://{BUCKET}/{prefix}", "--cache", str(cache)], stdout=log, stderr=log, env=site.environment)
    replicas.processes.append(process)
    wait_until(lambda: replicas.fetch(address, "/readyz"), "the replica starts")
    home = site.folder / f"published-{prefix}"
    shutil.copytree(next((cache / "homes").iterdir()), home)
    process.terminate()
    process.wait(60)
    return home


def compare(site, expected, home, topics, has_vectors, name):
    found = runs(site, home, topics, has_vectors)
    for model, run in expected.items():
        expect(run and found[model] == run, f"{name}: the run of {model} differs")
    lines = sum(run.count(b"\n") for run in found.values())
    print(f"ok: {name} ranks as one machine, byte for byte: {', '.join(found)} ({lines} lines)", flush=True)


def check_failure(site, catalog, files):
    """A dataset beyond the limit of memory fails alone, and the others are assembled."""
    hostile = site.folder / "hostile"
    shutil.copytree(files, hostile / "files")
    big = hostile / "files/big.nt"
    with open(big, "w") as out:
        for number in range(1_500_000):
            out.write(f"<http://e.org/{number}> <http://e.org/p> \"{number} different words\" .\n")
    turtle = hostile / "catalog.ttl"
    turtle.write_text("@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .\n" + "".join(
        f'<http://e.org/{name}> a dcat:Dataset ; dct:identifier "{name}" ; dct:title "{name}" ; dcat:distribution [ dcat:downloadURL '
        f"<files/{file}> ] .\n" for name, file in [("big", "big.nt"), ("small", "small.nt"), ("absent", "absent.nt")]))
    (hostile / "files/small.nt").write_text("<http://e.org/s> <http://e.org/p> \"a small one\" .\n")
    location = f"file://{hostile}/storage"
    plan = site.run("none", "cluster", "plan", turtle).stdout
    results = site.run("none", "cluster", "work", location, "--ranking", "words", "--memory", 150, input=plan).stdout
    home = hostile / "home"
    done = site.run(home, "cluster", "assemble", location, "--ranking", "words", input=results, accepted=(1,))
    messages = done.stderr.decode()
    expect("not derived: big: the task needs more than 150 MB of memory" in messages, f"the reason is named: {messages}")
    listed = site.run(home, "list", "--json").stdout.decode()
    expect('"small"' in listed and '"absent"' in listed and '"big"' not in listed, f"the others are there: {listed[:500]}")
    again = site.run("none", "cluster", "work", location, "--ranking", "words", "--memory", 150, input=plan).stdout
    expect(records(results) == records(again), "a repeated task has the same bytes")
    print("ok: a dataset beyond the limit of memory fails alone; repeated tasks have the same bytes", flush=True)


def records(results):
    """Returns the hashes of all records and graph files in a stream of results."""
    import pyarrow as pa
    table = pa.ipc.open_stream(results).read_all()
    return table.select(["id", "status", "reason", "graph", "record"]).to_pylist()


class Hosts:
    """Serves files on loopback addresses, and counts requests and those that overlap another one to the same address."""

    def __init__(self, files, addresses):
        self.files, self.port = files, free_port()
        self.requests, self.running, self.overlaps = {}, dict.fromkeys(addresses, 0), 0
        self.lock = threading.Lock()
        hosts = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                address = self.server.server_address[0]
                with hosts.lock:
                    hosts.requests.setdefault(address, []).append(self.path)
                    hosts.running[address] += 1
                    hosts.overlaps += hosts.running[address] > 1
                time.sleep(0.2)  # a second worker would overlap
                path = hosts.files / self.path.lstrip("/")
                # Ended before the last byte: the next request may follow at once.
                with hosts.lock:
                    hosts.running[address] -= 1
                if path.is_file():
                    body = path.read_bytes()
                    self.send_response(200)
                    self.send_header("Content-Type", "application/n-triples")
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                else:
                    self.send_error(404)

            def log_message(self, *_):
                pass

        for address in addresses:
            server = http.server.ThreadingHTTPServer((address, self.port), Handler)
            threading.Thread(target=server.serve_forever, daemon=True).start()


def check_downloads(site):
    """Workers of two executors download the files of a catalogue from two hosts, with one request at a time to each."""
    folder = site.folder / "web"
    folder.mkdir()
    addresses = ["127.0.0.2", "127.0.0.3"]
    hosts = Hosts(folder, addresses)
    entries = []
    for number in range(8):
        (folder / f"{number}.nt").write_text(f'<http://e.org/{number}> <http://www.w3.org/2000/01/rdf-schema#label> "word{number}" .\n')
        entries.append(f'<http://e.org/dataset/{number}> a dcat:Dataset ; dct:identifier "d{number}" ; dct:title "Dataset {number}" ; '
                       f"dcat:distribution [ dcat:downloadURL <http://{addresses[number % 2]}:{hosts.port}/{number}.nt> ; "
                       'dcat:mediaType <https://www.iana.org/assignments/media-types/application/n-triples> ] .\n')
    catalog = site.folder / "web.ttl"
    catalog.write_text("@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .\n" + "".join(entries))
    home = site.folder / "home-web"
    allowed = " ".join(f"--host http://{address}:{hosts.port}/" for address in addresses)
    process = site.spark(home, catalog, folder, "web", 2, "--download", "--ranking", "words", "--worker-options", f"{allowed} --allow-private-network 127.0.0.0/8")
    report, _ = site.report(process, "web")
    expect(report["datasets"] == 8 and report["failed"] == 0 and report["triples"] == 8, f"every file was downloaded: {report}")
    for place, address in enumerate(addresses):
        files = sorted(path for path in hosts.requests[address] if path != "/robots.txt")
        expect(files == sorted(f"/{number}.nt" for number in range(place, 8, 2)), f"{address} got one request for each file: {files}")
    expect(hosts.overlaps == 0, f"{hosts.overlaps} requests overlapped another one to their host")
    found = json.loads(site.run(home, "search", "--json", "word5").stdout)
    expect("d5" in json.dumps(found), f"the content of a downloaded file is found: {found}")
    print("ok: workers on Spark download files, one request at a time to each host", flush=True)


def seconds(function):
    began = time.monotonic()
    function()
    return time.monotonic() - began


def measure(site, catalog, files, alone):
    """Compares one executor and two with the indexer of one thread, in one run on the same two cores."""
    print(f"    one machine, load and index: {alone:.1f} s", flush=True)
    for count in (1, 2):
        prefix = f"speed{count}"
        process = site.spark(site.folder / f"home-{prefix}", catalog, files, prefix, count)
        report, _ = site.report(process, prefix)
        print(f"    {count} executors: derivation {report['derivation_seconds']:.1f} s, of it work {report['seconds']:.1f} s (vectors "
              f"{report['encoding_seconds']:.1f} s); assembly {report['assembly_seconds']:.1f} s, publication {report['publication_seconds']:.1f} s; "
              f"peak memory of a worker {report['peak_bytes'] / 2**20:.0f} MiB; stored {report['stored_bytes'] / 1e6:.1f} MB", flush=True)


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    data = pathlib.Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else None
    if not shutil.which("java"):
        return print("SKIPPED: Java is not installed (apt-get install openjdk-17-jre-headless)")
    try:
        moto, spark = packages.cached("moto", clients.CACHE), packages.cached("spark", clients.CACHE)
    except packages.PackageError as reason:
        return print(f"SKIPPED: {reason}")
    sys.path.insert(0, str(spark))
    with tempfile.TemporaryDirectory(prefix="lodeseek-cluster-") as name:
        site = Site(program, pathlib.Path(name), moto, spark)
        try:
            check(site, data)
        finally:
            for process in replicas.processes:
                process.kill()


def check(site, data):
    files = data or ROOT / "testdata"
    catalog = files / ("datasets.json" if data else "catalog.ttl")
    topics = data / "dev/queries.tsv" if data else site.folder / "topics.tsv"
    if not data:
        topics.write_text(TOPICS)
    site.upload(files, "dumps")
    single = site.folder / "single"
    alone = seconds(lambda: (site.run(single, "load", catalog), site.run(single, "index")))
    has_vectors = any((single / "vectors").glob("*"))
    expected = runs(site, single, topics, has_vectors)
    process = site.spark(site.folder / "home", catalog, files, "portal", 2)
    kill_one(site, process, "portal", 400 if data else 3)
    report, log = site.report(process, "portal")
    expect(report["failed"] == 0 and report["snapshot"] == 1, f"every dataset was derived: {report}")
    expect("Lost executor" in log or "Executor lost" in log or "exited" in log, "Spark noticed the loss")
    print(f"    {json.dumps(report)}", flush=True)
    compare(site, expected, site.folder / "home", topics, has_vectors, "the assembled home")
    home = published(site, "portal")
    compare(site, expected, home, topics, has_vectors, "the published snapshot")
    site.run(site.folder / "home", "verify")
    check_failure(site, catalog, ROOT / "testdata/dumps")
    check_downloads(site)
    if data:
        measure(site, catalog, files, alone)


if __name__ == "__main__":
    main()
