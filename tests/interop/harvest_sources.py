#!/usr/bin/env python3
"""Tests of `harvest` with the servers that portals use, and with faults of these servers.

usage: harvest_sources.py PROGRAM [CHECK…]

pycsw, oaipmh, oai_repo, pygeoapi, fdpneo and Oxigraph (PyPI) and Virtuoso (Debian) publish 220 records. Each is harvested twice. Then pages are
cut or replaced by HTML, tokens expire and the server is stopped in the middle of its list: no dataset may be removed, and the report must
state the reason. Then one record has changed, one is new, one is deleted and one is broken; at last the broken one is repaired.
The servers run at the same time. Checks whose server cannot be installed are skipped with a message. The last line counts passed,
failed and skipped checks.
"""

import concurrent.futures
import contextlib
import http.client
import http.server
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

import peers

RECORDS = 220
SERVERS = pathlib.Path(__file__).resolve().parent / "harvest_servers.py"
# Datasets of a home: identifier, title, description, keyword, file.
DESCRIPTIONS = """PREFIX dcat: <http://www.w3.org/ns/dcat#> PREFIX dct: <http://purl.org/dc/terms/>
SELECT ?title ?description ?keyword ?file WHERE {
  ?dataset a dcat:Dataset ; dct:title ?title . OPTIONAL { ?dataset dct:description ?description } OPTIONAL { ?dataset dcat:keyword ?keyword }
  OPTIONAL { ?dataset dcat:distribution [ dcat:downloadURL|dcat:accessURL ?file ] } }"""


def record(number, title="Ferries of harbour"):
    return {"id": f"ferry-{number}", "title": f"{title} {number}", "description": f"Departures & arrivals <daily> at harbour {number}",
            "keyword": "ferry", "file": f"http://harbour.example/files/{number}.csv", "modified": "2026-03-01T10:00:00Z"}


def changed(records):
    """Returns the records after the changes."""
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    after = [dict(one) for one in records]
    after[7].update(title="Night ferries of harbour 7", modified=now)
    after[8].update(deleted=True, modified=now)
    after[9].update(broken=True, modified=now)
    after.append({**record(RECORDS, "Barges of harbour"), "modified": now})
    return after


def truth(records):
    return {(one["title"], one["description"], one["keyword"], one["file"]) for one in records if not one.get("deleted")}


class Proxy:
    """Proxy before one server, with a fault from some page of its list on.

    `is_page` tells the requests of pages. After `after` of them, `fault` applies to each: "stop" ends the server, "short" closes the
    connection within the body, "half" sends the first half as the whole body, "html" sends a page of HTML with status 200, and "token" replaces the
    resumption token of the request, once if `once` is set. Requests that contain `refused` have status 400.
    """

    def __init__(self, is_page):
        self.is_page, self.port = is_page, peers.free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.target, self.stop_server, self.refused = None, None, None
        self.set()

    def set(self, fault=None, after=2, once=False):
        self.fault, self.after, self.once, self.pages = fault, after, once, 0

    def start(self, target, stop_server):
        self.target, self.stop_server = target, stop_server
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self):
                proxy.answer(self)

            do_GET = do_POST = answer

            def log_message(self, *_):
                pass

        class Threads(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):  # a closed connection is no error
                pass

        self.server = Threads(("127.0.0.1", self.port), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self):
        if self.server is not None:
            server, self.server = self.server, None
            server.shutdown()
            server.server_close()

    def answer(self, handler):
        body = handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
        path, fault = handler.path, None
        if self.is_page(path, body.decode()):
            self.pages += 1
            if self.pages > self.after:
                fault = self.fault
                if self.once:
                    self.fault = None
        if fault == "stop":
            self.stop()
            self.stop_server()
            handler.close_connection = True
            return
        if self.refused and self.refused in urllib.parse.unquote_plus(body.decode()):
            handler.send_error(400)
            return
        if fault == "token":
            path = re.sub(r"resumptionToken=[^&]+", "resumptionToken=expired", path)
        connection = http.client.HTTPConnection("127.0.0.1", self.target, timeout=60)
        headers = {name: value for name, value in handler.headers.items() if name.lower() not in ("connection", "accept-encoding")}
        connection.request(handler.command, path, body or None, headers)
        response = connection.getresponse()
        content, kind = response.read(), response.getheader("Content-Type", "text/plain")
        connection.close()
        length = len(content)
        if fault == "html":
            content, kind = b"<!DOCTYPE html><html><head><title>Maintenance</title></head><body><p>Back at noon</p></body></html>", "text/html"
            length = len(content)
        elif fault in ("short", "half"):
            # Within an IRI or a tag: a cut between two statements does not show.
            content = content[:max(content.rfind(b"<", 0, length // 2) + 5, length // 4)]
            length = length if fault == "short" else len(content)
        handler.send_response(response.status)
        handler.send_header("Content-Type", kind)
        handler.send_header("Content-Length", str(length))
        handler.end_headers()
        handler.wfile.write(content)
        handler.close_connection = True


class PythonServer:
    """A server of harvest_servers.py."""

    seconds = 60  # maximum time to start
    max_harvest_seconds = 60

    def __init__(self, name, packages):
        self.name, self.packages = name, peers.python_packages(packages)
        self.is_live = name != "pycsw"  # others read the records at each request
        self.command, self.environment = [sys.executable, "-W", "ignore", str(SERVERS), name], {}

    def start(self, records, address, seconds=None):
        self.folder = tempfile.TemporaryDirectory(prefix="lodeseek-sources-")
        self.file = pathlib.Path(self.folder.name, "records.json")
        self.write(records)
        self.port, self.log = peers.free_port(), tempfile.TemporaryFile()
        command = [*self.command, str(self.file), str(self.port), address]
        environment = {**os.environ, "PYTHONPATH": str(self.packages), "TMPDIR": self.folder.name, **self.environment}
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log, env=environment)
        until = time.monotonic() + (seconds or self.seconds)
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 5).close()
                return self.port
            except OSError:
                if self.process.poll() is not None or time.monotonic() > until:
                    self.stop()
                    self.log.seek(0)
                    raise AssertionError(f"{self.name} does not start: {self.log.read()[-800:].decode(errors='replace')}") from None
                time.sleep(0.1)

    def write(self, records):
        # The server never reads a part.
        part = self.file.with_suffix(".part")
        part.write_text(json.dumps(records))
        part.replace(self.file)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=20)
        self.folder.cleanup()


class DataPoint(PythonServer):
    """A FAIR Data Point, by fair_data_point.py."""

    seconds = 1800  # it validates each of 440 documents by SHACL
    max_harvest_seconds = 600  # it answers about ten requests a second

    def __init__(self):
        python = peers.later_python((3, 12))
        self.name, self.packages, self.is_live = "fdpneo", peers.python_packages("fdpneo", python), True
        self.command = [python, "-W", "ignore", str(SERVERS.with_name("fair_data_point.py"))]
        self.environment = {"OXIGRAPH": peers.oxigraph(), "POSTGRES": peers.postgres()}


class Endpoint:
    """A SPARQL endpoint with the records as a catalogue. It refuses to describe a broken record: the proxy does so."""

    is_live = False
    max_harvest_seconds = 60

    def __init__(self, peer):
        self.peer = peer

    def start(self, records, _):
        self.folder = tempfile.TemporaryDirectory(prefix="lodeseek-sources-")
        data = pathlib.Path(self.folder.name, "data.ttl")
        entries = [self.turtle(one) for one in records if not one.get("deleted")]
        data.write_text("@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .\n" + "\n".join(entries))
        self.server = self.peer(str(data))
        self.server.__enter__()
        return urllib.parse.urlsplit(self.server.endpoint).port

    def turtle(self, one):
        return (f'<http://harbour.example/{one["id"]}> a dcat:Dataset ; dct:identifier "{one["id"]}" ; dct:title {json.dumps(one["title"])}@en ; '
                f'dct:description {json.dumps(one["description"])}@en ; dcat:keyword "{one["keyword"]}"@en ; '
                f'dcat:distribution [ dcat:accessURL <{one["file"]}> ; dcat:downloadURL <{one["file"]}> ] .')

    def stop(self):
        self.server.__exit__(None, None, None)
        self.folder.cleanup()


class Source:
    """A server behind the proxy, and the home that harvests it."""

    def __init__(self, program, folder, server, path, is_page):
        self.program, self.server, self.folder = program, server, pathlib.Path(folder)
        self.home, self.is_running = str(self.folder / "home"), False
        self.proxy = Proxy(is_page)
        self.address = self.proxy.address + path

    def serve(self, records):
        if self.is_running and self.server.is_live:
            self.server.write(records)
            return
        self.stop()
        port = self.server.start(records, self.proxy.address)
        self.is_running = True
        self.proxy.start(port, self.stop_server)

    def stop_server(self):
        if self.is_running:
            self.is_running = False
            self.server.stop()

    def stop(self):
        if self.is_running:
            self.proxy.stop()
        self.stop_server()

    def harvest(self, *options):
        """Harvests, and returns the exit code and the report."""
        report = self.folder / "report.json"
        report.unlink(missing_ok=True)
        done = self.run("harvest", self.address, "--allow-private-network", "127.0.0.0/8", "--pause", "0", "--report", str(report), *options)
        assert report.exists(), f"no report: {done.stderr[-800:]}"
        return done.returncode, json.loads(report.read_text()), done.stderr

    def run(self, *arguments):
        return subprocess.run([self.program, "--home", self.home, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)

    def content(self):
        """Returns the datasets of the home."""
        done = self.run("index", "--ranking", "words")
        assert done.returncode == 0, done.stderr[-800:]
        done = self.run("query", DESCRIPTIONS, "--format", "json")
        assert done.returncode == 0, done.stderr[-800:]
        rows = json.loads(done.stdout)["results"]["bindings"]
        return {tuple(row.get(name, {}).get("value") for name in ("title", "description", "keyword", "file")) for row in rows}

    def expect(self, expected, when):
        found = self.content()
        assert found == expected, f"{when}: missing {sorted(map(str, expected - found))[:3]}, too many {sorted(map(str, found - expected))[:3]}"


def reasons(report):
    """Returns the failures and the problems of a report, each with what they are about."""
    texts = [f"{one['what']}: {one['reason']}" for source in report["sources"] for one in source["failed"]]
    return texts + [problem for source in report["sources"] for problem in source["problems"]]


def play(program, server, path, is_page, faults, broken):
    """Plays all steps. `faults` are (name, options of the proxy, pattern of the reason); without a pattern, the harvest must succeed.
    `broken` is the pattern of the report on the broken record."""
    records = [record(number) for number in range(RECORDS)]
    with tempfile.TemporaryDirectory(prefix="lodeseek-sources-") as folder, contextlib.ExitStack() as stack:
        source = Source(program, folder, server, path, is_page)
        stack.callback(source.stop)
        source.serve(records)
        code, report, log = source.harvest()
        assert code == 0 and len(report["new"]) == RECORDS, f"first harvest: exit code {code}, {len(report['new'])} new: {log[-800:]}"
        source.expect(truth(records), "first harvest")
        code, report, log = source.harvest()
        assert (code, report["new"], report["changed"], report["unchanged"]) == (0, [], [], RECORDS), f"second harvest: {code}: {log[-800:]}"
        assert report["sources"][0]["whole"] and not report["sources"][0]["gone"], f"second harvest: {log[-800:]}"
        # A record less, so that a list that counts as whole by mistake removes datasets.
        fewer = [*records[:-1], {**records[-1], "deleted": True}]
        for name, options, reason in faults:
            source.serve(fewer if reason else records)
            source.proxy.set(name, **options)
            started = time.monotonic()
            code, report, log = source.harvest("--full-harvest-every", "0")
            seconds = time.monotonic() - started
            source.proxy.set()
            if reason is None:
                assert code == 0 and report["sources"][0]["whole"], f"{name}: exit code {code}: {log[-800:]}"
            else:
                assert code == 1 and not report["sources"][0]["whole"], f"{name}: exit code {code}: {log[-800:]}"
                assert not report["sources"][0]["removed"], f"{name}: datasets were removed: {log[-800:]}"
                assert any(re.search(reason, one) for one in reasons(report)), f"{name}: not {reason!r}, but {reasons(report)[:3]}: {log[-800:]}"
            assert seconds < server.max_harvest_seconds, f"{name}: {seconds:.0f} s"
            source.expect(truth(records), name)
        # The list is complete again, so that the next harvest may request changes only.
        source.serve(records)
        code, report, log = source.harvest()
        assert (code, report["new"], report["changed"]) == (0, [], []), f"after the faults: exit code {code}: {log[-800:]}"
        after = changed(records)
        source.serve(after)
        source.proxy.refused = None if isinstance(server, PythonServer) else "ferry-9>"
        code, report, log = source.harvest()
        named = [text for text in reasons(report) if re.search(broken, text)]
        assert named, f"broken record: not {broken!r}, but exit code {code}, {reasons(report)[:4]}: {log[-800:]}"
        found = source.content()
        expected = truth(after[:9] + [records[9]] + after[10:])
        assert expected <= found, f"changes: missing {sorted(expected - found)[:3]}: {log[-800:]}"
        whole, is_there = report["sources"][0]["whole"], bool(found & truth([records[8]]))
        assert whole is not is_there and code == 0 + (not whole), f"deleted record: exit code {code}, list whole {whole}, stored {is_there}"
        source.proxy.refused = None
        after[9].pop("broken")
        source.serve(after)
        code, report, log = source.harvest()
        assert code == 0, f"repaired: exit code {code}: {log[-800:]}"
        source.expect(truth(after), "repaired")


def is_csw_page(path, _):
    return "request=GetRecords" in path


def check_pycsw(program):
    """CSW 2.0.2 with ISO 19139."""
    play(program, PythonServer("pycsw", "pycsw"), "/csw", is_csw_page,
         [("html", {"after": 3}, "without a description"), ("half", {"after": 3}, "XML"), ("half", {"after": 3, "once": True}, None),
          ("stop", {"after": 3}, "connection")],
         broken=r"record \d+: .*serialization failed")


def is_oai_page(path, _):
    return "verb=ListRecords" in path


OAI_FAULTS = [("html", {}, "without a description"), ("half", {}, "XML"), ("token", {}, "badResumptionToken"),
              ("token", {"once": True}, None), ("stop", {}, "connection")]


def check_oaipmh(program):
    """OAI-PMH with RDF and deleted records that are kept."""
    play(program, PythonServer("oaipmh", "oai-repository"), "/?verb=Identify", is_oai_page, OAI_FAULTS, broken="ferry-9")


def check_oai_repo(program):
    """OAI-PMH with Dublin Core and deleted records that are forgotten."""
    play(program, PythonServer("oai_repo", "oai-repository"), "/?verb=Identify", is_oai_page,
         [("short", {}, "connection|truncated"), *OAI_FAULTS[:-1]], broken="ferry-9")


def check_pygeoapi(program):
    """OGC API Records."""
    play(program, PythonServer("pygeoapi", "pygeoapi"), "/collections?f=json", lambda path, _: "/items" in path,
         [("html", {}, "without a description"), ("half", {}, "JSON|EOF"), ("stop", {}, "connection")], broken="ferry-9")


def check_fdpneo(program):
    """A FAIR Data Point: a document for each dataset and each distribution. A draft is status 404."""
    play(program, DataPoint(), "/", lambda path, _: path.startswith("/dataset/"),
         [("html", {"after": 3}, "HTML|without a description"), ("half", {"after": 3}, "ends within a statement|truncated"), ("stop", {"after": 3}, "connection")],
         broken="ferry-9.*404")


def is_description(_, body):
    return "CONSTRUCT" in urllib.parse.unquote_plus(body)


ENDPOINT_FAULTS = [("html", {"after": 1}, "without a description"), ("half", {"after": 1}, "truncated|the answer describes"),
                   ("stop", {"after": 1}, "connection")]


def check_oxigraph(program):
    """A catalogue in Oxigraph."""
    peers.oxigraph()
    play(program, Endpoint(peers.Oxigraph), "/query", is_description, ENDPOINT_FAULTS, broken="ferry-9")


def check_virtuoso(program):
    """A catalogue in Virtuoso."""
    peers.debian(peers.VIRTUOSO)
    play(program, Endpoint(peers.Virtuoso), "/sparql", is_description, ENDPOINT_FAULTS, broken="ferry-9")


def main():
    peers.end_well()
    program = str(pathlib.Path(sys.argv[1]).resolve())
    checks = [check_pycsw, check_oaipmh, check_oai_repo, check_pygeoapi, check_fdpneo, check_oxigraph, check_virtuoso]
    checks = [check for check in checks if not sys.argv[2:] or check.__name__.removeprefix("check_") in sys.argv[2:]]
    passed = failed = skipped = 0
    # Most of the time is spent waiting for repeated requests.
    with concurrent.futures.ThreadPoolExecutor(len(checks) or 1) as threads:
        running = [(check.__name__.removeprefix("check_"), threads.submit(check, program)) for check in checks]
        for name, check in running:
            try:
                check.result()
                passed += 1
                print(f"source {name} ... ok", flush=True)
            except peers.Missing as reason:
                skipped += 1
                print(f"source {name} ... SKIPPED: {reason}", flush=True)
            except Exception as error:  # the remaining checks must run
                failed += 1
                print(f"source {name} ... FAILED: {type(error).__name__}: {error}", flush=True)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
