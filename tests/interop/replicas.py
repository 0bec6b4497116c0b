#!/usr/bin/env python3
"""Tests replicas that serve snapshots of an S3 server (moto) behind HAProxy.

usage: replicas.py PROGRAM [CLIENTS]

CLIENTS (default 8) search without a pause while a new snapshot is published, and while one of two replicas is killed with SIGKILL. No
request may fail, but those that the killed replica was answering: they are counted. Then an object of the next snapshot is damaged: both
replicas must name it and go on with the snapshot before. HAProxy runs with deploy/replicas/haproxy.cfg; only addresses are replaced.
Exits with 1 at the first difference.

moto is installed from PyPI into the cache folder. Without it, or without HAProxy, the test is skipped with a message.
"""

import concurrent.futures
import http.client
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
import urllib.parse
import urllib.request

import clients
import packages

ROOT = clients.ROOT
BUCKET, PREFIX = "lodeseek", "portal"
WORDS = ["nitrogen reduction plan", "ginkgo", "soil", "street trees", "water"]
SECONDS = 60  # limit of each wait
processes = []


def fail(message):
    print(f"FAIL: {message}", flush=True)
    for process in processes:
        process.kill()
    os._exit(1)  # other threads may be waiting


def expect(condition, message):
    if not condition:
        fail(message)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def wait_until(holds, message):
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        try:
            if holds():
                return
        except OSError:
            pass
        time.sleep(0.1)
    fail(f"{message}: not within {SECONDS} s")


def fetch(address, path):
    with urllib.request.urlopen(f"http://{address}{path}", timeout=SECONDS) as response:
        return response.read()


class Site:
    """The program with its home, the bucket, two replicas and the load balancer."""

    def __init__(self, program, folder, moto):
        self.program, self.folder, self.home = program, folder, folder / "home"
        storage = free_port()
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("LODESEEK_", "AWS_"))}
        self.environment = {**kept, "NO_COLOR": "1", "LODESEEK_RANKING": "words", "AWS_ACCESS_KEY_ID": "test",
                            "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": "us-east-1",
                            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{storage}", "LODESEEK_SERVER_SNAPSHOT_INTERVAL": "1"}
        self.start("moto", [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(storage)], PYTHONPATH=str(moto))
        sys.path.insert(0, str(moto))
        import boto3
        self.s3 = boto3.client("s3", endpoint_url=f"http://127.0.0.1:{storage}", region_name="us-east-1", aws_access_key_id="test",
                               aws_secret_access_key="test")
        wait_until(lambda: socket.create_connection(("127.0.0.1", storage), 1).close() is None, "the S3 server starts")
        self.s3.create_bucket(Bucket=BUCKET)
        self.replicas = [f"127.0.0.1:{free_port()}" for _ in range(2)]
        self.balancer = f"127.0.0.1:{free_port()}"

    def start(self, name, command, **variables):
        log = open(self.folder / f"{name}.log", "a")
        process = subprocess.Popen([str(part) for part in command], stdout=log, stderr=log, env={**self.environment, **variables}, cwd=ROOT)
        processes.append(process)
        return process

    def log(self, name):
        return (self.folder / f"{name}.log").read_text()

    def run(self, *arguments, home=None, code=0):
        done = subprocess.run([self.program, "--home", home or self.home, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, env=self.environment, timeout=600, cwd=ROOT)
        expect(code is None or done.returncode == code, f"{arguments} ended with {done.returncode}: {done.stderr[-2000:]}")
        return done

    def publish(self, prefix=PREFIX):
        return json.loads(self.run("publish", f"s3://{BUCKET}/{prefix}", "--json").stdout)

    def serve(self, number):
        return self.start(f"replica{number}", [self.program, "--home", self.folder / "none", "serve", "--bind", self.replicas[number],
                                               "--snapshot", f"s3://{BUCKET}/{PREFIX}", "--cache", self.folder / f"cache{number}"])

    def balance(self):
        text = (ROOT / "deploy/replicas/haproxy.cfg").read_text()
        for old, new in [("bind :8080", f"bind {self.balancer}"), ("one:7878", self.replicas[0]), ("two:7878", self.replicas[1])]:
            expect(old in text, f"deploy/replicas/haproxy.cfg has no {old!r}")
            text = text.replace(old, new)
        (self.folder / "haproxy.cfg").write_text(text)
        return self.start("haproxy", ["haproxy", "-db", "-f", self.folder / "haproxy.cfg"])

    def snapshot(self, number):
        """Returns the number of the snapshot that a replica serves."""
        lines = fetch(self.replicas[number], "/metrics").decode().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("lodeseek_snapshot "))

    def wait_for_snapshot(self, snapshot):
        for number in range(2):
            wait_until(lambda: self.snapshot(number) == snapshot, f"replica {number} serves snapshot {snapshot}")


class Clients:
    """Clients that search without a pause, each over a connection of its own."""

    def __init__(self, address, count):
        self.address, self.stopped = address, threading.Event()
        self.seconds, self.failures = [], []  # durations; (start, message)
        self.threads = [threading.Thread(target=self.search, args=(number,)) for number in range(count)]
        for thread in self.threads:
            thread.start()

    def search(self, number):
        connection, sent = None, number
        while not self.stopped.is_set():
            words = WORDS[sent % len(WORDS)]
            sent += 1
            began = time.monotonic()
            try:
                if connection is None:
                    connection = http.client.HTTPConnection(self.address, timeout=SECONDS)
                connection.request("GET", "/api/search?q=" + urllib.parse.quote(words))
                response = connection.getresponse()
                body = response.read()
                if response.status != 200:
                    raise OSError(f"status {response.status}: {body[:200]}")
                expect(json.loads(body)["hits"], f"no hits for {words}")
                self.seconds.append(time.monotonic() - began)
            except (OSError, http.client.HTTPException) as error:
                self.failures.append((began, f"{type(error).__name__}: {error}"))
                connection = None

    def wait_for(self, count):
        """Waits until some more requests have ended."""
        wanted = len(self.seconds) + count
        wait_until(lambda: len(self.seconds) >= wanted, f"{count} requests")

    def stop(self):
        self.stopped.set()
        for thread in self.threads:
            thread.join(SECONDS)


def hits(address):
    return [fetch(address, "/api/search?k=20&q=" + urllib.parse.quote(words)) for words in WORDS]


def check_manifests(site):
    """The examples for containers and Kubernetes are valid YAML, and their settings are settings of the program."""
    import yaml  # a dependency of moto
    folder = ROOT / "deploy/replicas"
    services = yaml.safe_load((folder / "compose.yaml").read_text())["services"]
    deployment, service = yaml.safe_load_all((folder / "kubernetes.yaml").read_text())
    container = deployment["spec"]["template"]["spec"]["containers"][0]
    expect(service["spec"]["selector"] == deployment["spec"]["selector"]["matchLabels"], "the Service selects the Deployment")
    environments = [services["one"]["environment"], services["two"]["environment"],
                    {item["name"]: item["value"] for item in container["env"]}]
    for environment in environments:
        variables = {name: value for name, value in environment.items() if name.startswith("LODESEEK_")}
        expect(variables["LODESEEK_SERVER_ADMIN"] == "false", "the image enables changes")
        done = subprocess.run([site.program, "--home", site.home, "config", "check"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, env={**site.environment, **variables})
        expect(done.returncode == 0, f"settings of deploy/replicas: {done.stderr}")
    print("ok: the examples for containers and Kubernetes", flush=True)


def check_ranking(site):
    """The replicas answer as a server of the home."""
    address = f"127.0.0.1:{free_port()}"
    process = site.start("home", [site.program, "--home", site.home, "serve", "--bind", address])
    wait_until(lambda: fetch(address, "/readyz"), "the server of the home starts")
    expected = hits(address)
    for replica in site.replicas:
        expect(hits(replica) == expected, f"{replica} ranks as the home")
    process.terminate()
    process.wait(SECONDS)
    print("ok: both replicas answer as the home, byte for byte", flush=True)


def check_requests(site, count):
    load = Clients(site.balancer, count)
    load.wait_for(100)
    site.run("load", "testdata/dumps/soils.ttl")
    site.run("index")
    report = site.publish()
    expect(report["snapshot"] == 2 and report["reusedFiles"] > 0, f"the second publication reuses objects: {report}")
    site.wait_for_snapshot(2)
    load.wait_for(100)
    expect(not load.failures, f"a request failed during the publication: {load.failures[:3]}")
    during = len(load.seconds)
    print(f"ok: {during} requests of {count} clients during a publication, none failed", flush=True)
    killed = time.monotonic()
    site.processes[0].send_signal(signal.SIGKILL)
    load.wait_for(200)
    time.sleep(3)
    load.stop()
    late = [failure for failure in load.failures if failure[0] > killed]
    expect(not late, f"a request that began after the end of a replica failed: {late[:3]}")
    expect(len(load.failures) <= count, f"{len(load.failures)} requests of {count} clients failed: {load.failures[:3]}")
    times = sorted(load.seconds)
    print(f"ok: {len(times) - during} requests after a replica was killed; {len(load.failures)} were in flight on it and failed",
          flush=True)
    print(f"    all {len(times)} requests: median {1000 * times[len(times) // 2]:.1f} ms, 99th percentile "
          f"{1000 * times[len(times) * 99 // 100]:.1f} ms", flush=True)
    site.processes[0].wait()
    site.processes[0] = site.serve(0)
    site.wait_for_snapshot(2)
    print("ok: the killed replica starts again from its cache", flush=True)


def check_damage(site):
    """The snapshot is copied to its place with one damaged object, so that no replica can be faster."""
    site.run("load", "testdata/dumps/trees.nt.gz")
    site.run("index")
    present = {item["Key"].removeprefix(f"{PREFIX}/") for item in listed(site, PREFIX)}
    for name in present:
        put(site, f"staged/{name}", content(site, f"{PREFIX}/{name}"))
    expect(site.publish("staged")["snapshot"] == 3, "the copy continues the chain")
    new = [item for item in listed(site, "staged") if item["Key"].removeprefix("staged/") not in present]
    objects = {item["Key"].removeprefix("staged/"): content(site, item["Key"]) for item in new if "/objects/" in item["Key"]}
    names = [name for name in objects if not objects[name].startswith(b'{\n  "format"')]
    damaged = max(names, key=lambda name: len(objects[name]))
    for name, body in objects.items():
        put(site, f"{PREFIX}/{name}", damage(body) if name == damaged else body)
    put(site, f"{PREFIX}/snapshots/0000000003.json", content(site, "staged/snapshots/0000000003.json"))
    for number in range(2):
        wait_until(lambda: f"{damaged} is damaged" in site.log(f"replica{number}"), f"replica {number} names {damaged}")
        expect(site.snapshot(number) == 2, "the snapshot before is still served")
    expect(all(json.loads(body)["hits"] for body in hits(site.balancer)), "searches succeed")
    print(f"ok: a damaged object is named and not served: {damaged}", flush=True)
    site.s3.delete_object(Bucket=BUCKET, Key=f"{PREFIX}/{damaged}")
    report = site.publish()
    expect((report["snapshot"], report["uploadedFiles"]) == (3, 1), f"the object is uploaded again: {report}")
    site.wait_for_snapshot(3)
    print("ok: it is uploaded again, and the snapshot is served", flush=True)


def listed(site, prefix):
    pages = site.s3.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix=f"{prefix}/")
    return [item for page in pages for item in page.get("Contents", [])]


def content(site, key):
    return site.s3.get_object(Bucket=BUCKET, Key=key)["Body"].read()


def put(site, key, body):
    site.s3.put_object(Bucket=BUCKET, Key=key, Body=body)


def damage(body):
    """Returns a content with one other bit."""
    middle = len(body) // 2
    return body[:middle] + bytes([body[middle] ^ 1]) + body[middle + 1:]


def check_publishers(site):
    """Of two concurrent publications of different homes one succeeds."""
    homes = [site.folder / "one", site.folder / "two"]
    for home, dump in zip(homes, ["trees.nt.gz", "soils.ttl"]):
        site.run("load", f"testdata/dumps/{dump}", home=home)
        site.run("index", home=home)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        runs = list(pool.map(lambda home: site.run("publish", f"s3://{BUCKET}/race", home=home, code=None), homes))
    succeeded = sum(run.returncode == 0 for run in runs)
    records = [item for item in listed(site, "race") if "/snapshots/" in item["Key"]]
    expect(succeeded == len(records) == 1, f"{succeeded} publications, {len(records)} snapshots")
    reasons = ("another process published", "another home published it")
    for run in runs:
        expect(run.returncode == 0 or any(reason in run.stderr for reason in reasons), f"the reason is named: {run.stderr}")
    print("ok: one of two concurrent publications succeeded, none was overwritten", flush=True)


def main():
    program, count = str(pathlib.Path(sys.argv[1]).resolve()), int(sys.argv[2]) if len(sys.argv) > 2 else 8
    if not shutil.which("haproxy"):
        return print("SKIPPED: haproxy is not installed (apt-get install haproxy)")
    try:
        moto = packages.cached("moto", clients.CACHE)
    except packages.PackageError as reason:
        return print(f"SKIPPED: {reason}")
    with tempfile.TemporaryDirectory(prefix="lodeseek-replicas-") as name:
        site = Site(program, pathlib.Path(name), moto)
        try:
            site.run("load", "testdata/catalog.ttl")
            site.run("index")
            first = site.publish()
            expect(first["snapshot"] == 1 and first["uploadedFiles"] > 10, f"the first publication: {first}")
            again = site.publish()
            expect(again["unchanged"] and again["uploadedFiles"] == 0, f"nothing is uploaded twice: {again}")
            check_manifests(site)
            site.processes = [site.serve(0), site.serve(1)]
            site.wait_for_snapshot(1)
            check_ranking(site)
            site.balance()
            wait_until(lambda: fetch(site.balancer, "/readyz"), "the load balancer finds the replicas")
            check_requests(site, count)
            check_damage(site)
            check_publishers(site)
        finally:
            for process in processes:
                process.kill()


if __name__ == "__main__":
    main()
