#!/usr/bin/env python3
"""Tests of a running server with SPARQLWrapper, rdflib and, if installed, Chromium.

usage: clients.py PROGRAM

Missing Python packages are installed from PyPI into the cache folder. Checks whose client cannot be installed are skipped with a
message. The last line counts passed, failed and skipped checks.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import urllib.error
import urllib.parse
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import packages

CACHE = pathlib.Path(os.environ.get("LODESEEK_CACHE") or
                     pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "lodeseek")
PACKAGES = packages.described("clients")
ROOT = pathlib.Path(__file__).resolve().parents[2]


def install():
    """Returns the folder of the Python clients, or None if they cannot be installed."""
    try:
        return packages.cached("clients", CACHE)
    except packages.PackageError as reason:
        print(reason, file=sys.stderr)
        return None


class Server:
    def __init__(self, program, home, *options, port=0):
        self.program, self.home, self.options, self.port = program, home, options, port

    def __enter__(self):
        self.process = subprocess.Popen([self.program, "--home", self.home, "serve", "--bind", f"127.0.0.1:{self.port}", *self.options],
                                        stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            found = re.search(r"http://127\.0\.0\.1:\d+", line)
            if found:
                self.address = found[0]
                # The server waits while nobody reads its log and the pipe is full.
                threading.Thread(target=self.process.stderr.read, daemon=True).start()
                return self
        sys.exit("FAIL: the server did not start")

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.status = self.process.wait(timeout=20)


def fetch(url, accept="*/*", data=None):
    request = urllib.request.Request(url, data=data, headers={"Accept": accept})
    with urllib.request.urlopen(request, timeout=20) as response:
        return response.read().decode()


def check_search(server):
    answer = json.loads(fetch(server.address + "/api/search?k=3&q=" + urllib.parse.quote("nitrogen reduction plan")))
    assert answer["hits"][0]["id"] == "chesapeake-water", answer["hits"][0]["id"]
    assert answer["hits"][0]["snippet"], "no snippet"


def check_errors(server):
    for path, status in [("/api/search", 400), ("/dataset/nothing", 404), ("/sparql?query=SELEC", 400), ("/nowhere", 404)]:
        try:
            fetch(server.address + path)
            raise AssertionError(f"{path} answered")
        except urllib.error.HTTPError as error:
            assert error.code == status, (path, error.code)


def check_sparqlwrapper(server):
    from SPARQLWrapper import CSV, JSON, POST, TURTLE, XML, SPARQLWrapper
    client = SPARQLWrapper(server.address + "/sparql")
    client.setQuery((ROOT / "queries/datasets.rq").read_text())
    client.setReturnFormat(JSON)
    rows = client.queryAndConvert()["results"]["bindings"]
    assert len(rows) == 13, len(rows)  # twelve datasets, one with titles in two languages
    client.setMethod(POST)
    assert len(client.queryAndConvert()["results"]["bindings"]) == 13
    client.setReturnFormat(XML)
    assert len(client.queryAndConvert().getElementsByTagName("result")) == 13
    client.setReturnFormat(CSV)
    assert client.queryAndConvert().decode().splitlines()[0].startswith("dataset,title")
    client.setQuery("CONSTRUCT { ?s ?p ?o } WHERE { ?s a <http://www.w3.org/ns/dcat#Dataset> ; ?p ?o }")
    client.setReturnFormat(TURTLE)
    import rdflib
    graph = rdflib.Graph().parse(data=client.queryAndConvert(), format="turtle")
    assert len(set(graph.subjects())) == 12


def check_linked_data(server):
    import rdflib
    graphs = []
    for media_type, name in [("text/turtle", "turtle"), ("application/ld+json", "json-ld"), ("application/n-triples", "nt"), ("application/rdf+xml", "xml")]:
        text = fetch(server.address + "/dataset/street-trees", accept=media_type)
        graphs.append(rdflib.Graph().parse(data=text, format=name))
    assert len(graphs[0]) > 50 and len({len(graph) for graph in graphs}) == 1, [len(graph) for graph in graphs]
    assert all(graph.isomorphic(graphs[0]) for graph in graphs)


def check_chromium(server):
    """Checks the first result in a browser, with no inline script; saves a screenshot as target/page.png."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if not browser:
        raise LookupError("chromium is not installed")
    url = server.address + "/?q=" + urllib.parse.quote("nitrogen reduction plan")
    options = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
               "--disable-background-networking", "--disable-component-update"]
    picture = ROOT / "target/page.png"
    with tempfile.TemporaryDirectory() as profile:
        options.append(f"--user-data-dir={profile}")
        dom = subprocess.run([*options, "--dump-dom", url], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=120).stdout
        subprocess.run([*options, "--window-size=1200,1400", f"--screenshot={picture}", url], stderr=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, timeout=120)
    assert 'href="/dataset/chesapeake-water"' in dom, "the first result is not on the page"
    scripts = re.findall(r"<script[^>]*>", dom)
    assert scripts and all(re.search(r'src="/[a-z.]+"', script) for script in scripts), f"scripts on the page: {scripts}"
    assert picture.stat().st_size > 20_000, "the picture is empty"


def check_editor(server):
    """Checks that the bundled editor replaces the query form under the page's content security policy."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if not browser or not server.options:
        raise LookupError("chromium is not installed" if server.options else "the editor could not be bundled from npm")
    url = server.address + "/sparql?query=" + urllib.parse.quote("ASK {}")
    with tempfile.TemporaryDirectory() as profile:
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--window-size=1280,900", f"--user-data-dir={profile}",
                   "--enable-logging=stderr", "--virtual-time-budget=5000", "--dump-dom", url]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
    assert "CodeMirror-code" in done.stdout and "cm-keyword" in done.stdout, "no editor on the page"
    assert re.search(r'<form class="query"[^>]* hidden', done.stdout), "the plain form is still shown"
    assert "Content Security Policy" not in done.stderr, done.stderr[-2000:]


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    passed = failed = skipped = 0
    clients = install()
    if clients:
        sys.path.insert(0, str(clients))
    with tempfile.TemporaryDirectory(prefix="lodeseek-clients-") as home:
        for command in (["load", str(ROOT / "testdata/catalog.ttl")], ["index", "--analysis", "acordar", "--ranking", "words"]):
            subprocess.run([program, "--home", home, *command], check=True, stderr=subprocess.DEVNULL)
        made = subprocess.run([sys.executable, str(ROOT / "tools/editor.py")], stdout=subprocess.PIPE, text=True)
        server = Server(program, home, *(["--editor", made.stdout.strip()] if made.returncode == 0 else []))
        with server:
            for check in (check_search, check_errors, check_sparqlwrapper, check_linked_data, check_chromium, check_editor):
                name = check.__name__.removeprefix("check_")
                try:
                    if name in ("sparqlwrapper", "linked_data") and not clients:
                        raise LookupError(f"{PACKAGES} could not be installed from PyPI")
                    check(server)
                    passed += 1
                    print(f"client {name} ... ok")
                except LookupError as reason:
                    skipped += 1
                    print(f"client {name} ... SKIPPED: {reason}")
                except Exception as error:  # the remaining checks must run
                    failed += 1
                    print(f"client {name} ... FAILED: {type(error).__name__}: {error}")
    if server.status != 0:
        failed += 1
        print(f"client shutdown ... FAILED: status {server.status} after SIGTERM")
    else:
        passed += 1
        print("client shutdown ... ok")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
