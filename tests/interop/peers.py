"""SPARQL peers for tests: Comunica from npm, Oxigraph from PyPI, Jena ARQ and Virtuoso from Debian.

Each is installed once into the cache folder; the system is not changed. A failed installation raises Missing with the reason.
Servers are context managers that listen on the loopback interface. Counter is a proxy that counts requests and bytes.
"""

import glob
import http.client
import http.server
import os
import pathlib
import re
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
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import editor
import packages

CACHE = editor.CACHE
COMUNICA = "@comunica/query-sparql@5.4.1"
JENA = "libapache-jena-java"
VIRTUOSO = "virtuoso-opensource-7-bin"
POSTGRES = "postgresql"


class Missing(LookupError):
    """A program that cannot be installed here."""


def end_well():
    """Exits on SIGTERM, so that context managers stop their servers."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


def done(command, reason, **options):
    made = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if made.returncode != 0:
        raise Missing(f"{reason}: {(made.stdout.strip().splitlines() or ['no reason given'])[-1]}")
    return made.stdout


def kept(what, make):
    """Returns a folder of the cache; `make` fills it on the first call."""
    folder = CACHE / re.sub(r"[^A-Za-z0-9.]+", "-", what).strip("-")
    if not folder.exists():
        print(f"peers: downloading {what}", file=sys.stderr)
        CACHE.mkdir(parents=True, exist_ok=True)
        work = pathlib.Path(tempfile.mkdtemp(dir=CACHE))
        try:
            make(work)
            os.replace(work, folder)
        except OSError:
            if not folder.exists():  # otherwise a concurrent run finished first
                raise
        finally:
            shutil.rmtree(work, ignore_errors=True)
    return folder


def comunica():
    """Returns the path of Node, the folder of Comunica's commands and the environment."""
    try:
        node, npm = editor.node(least=22)
    except SystemExit as reason:
        raise Missing(str(reason)) from None
    path = os.pathsep.join([os.path.dirname(node[0]), os.environ.get("PATH", "")])
    environment = {**os.environ, "PATH": path}

    def make(folder):
        (folder / "package.json").write_text('{"private": true}')
        done([*npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", COMUNICA], "Comunica could not be installed from npm",
             cwd=folder, env=environment)

    return node[0], kept("comunica-" + COMUNICA, make) / "node_modules/@comunica/query-sparql/bin", environment


def oxigraph():
    """Returns the path of the oxigraph program."""
    return str(python_packages("oxigraph") / "bin/oxigraph")


def python_packages(name, python=sys.executable):
    """Returns the folder of packages from PyPI, by the name of their requirements, for an interpreter."""
    try:
        return packages.cached(name, CACHE, python)
    except packages.PackageError as reason:
        raise Missing(str(reason)) from None


def later_python(least):
    """Returns the path of an interpreter of Python of this version, such as (3, 12), or a later one."""
    root = os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv")
    found = [shutil.which(f"python{least[0]}.{minor}") for minor in range(least[1], least[1] + 4)]
    for path in [sys.executable, *filter(None, found), *sorted(glob.glob(f"{root}/versions/*/bin/python3"))]:
        tried = subprocess.run([path, "-c", f"import sys; sys.exit(sys.version_info < {least})"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if tried.returncode == 0:
            return path
    raise Missing(f"needs Python {'.'.join(map(str, least))} or later")


def postgres():
    """Returns the folder of PostgreSQL's programs."""
    pattern = "usr/lib/postgresql/*/bin/initdb"
    found = sorted(glob.glob(f"/{pattern}")) or sorted(glob.glob(str(debian(POSTGRES) / pattern)))
    if not found:
        raise Missing("Debian's package of PostgreSQL has no initdb")
    return os.path.dirname(found[-1])


def debian(package):
    """Returns a folder with the files of a Debian package and of its dependencies that are not installed."""
    if not shutil.which("apt-get") or not shutil.which("dpkg-deb"):
        raise Missing(f"{package} requires Debian (apt-get and dpkg-deb)")

    def make(folder):
        needed = done(["apt-cache", "depends", "--recurse", "--no-recommends", "--no-suggests", "--no-conflicts", "--no-breaks",
                       "--no-replaces", "--no-enhances", package], f"Debian's package lists contain no {package}")
        names = sorted(set(re.findall(r"^[a-z0-9][a-z0-9.+-]*", needed, re.MULTILINE)))
        known = subprocess.run(["dpkg-query", "-W", "-f", "${Package} ${db:Status-Abbrev}\n", *names], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True).stdout
        installed = set(re.findall(r"^(\S+) ii", known, re.MULTILINE))
        missing = [name for name in names if name not in installed or name.endswith("-java")]  # jars all in one place
        done(["apt-get", "download", *missing], f"{package} could not be installed from Debian", cwd=folder)
        for file in glob.glob(str(folder / "*.deb")):
            done(["dpkg-deb", "-x", file, str(folder)], f"{file} cannot be unpacked")
            os.unlink(file)

    return kept("debian-" + package, make)


def jena():
    """Returns the command of Jena ARQ without arguments."""
    java = shutil.which("java")
    if not java:
        raise Missing("Jena needs java (Debian: default-jre-headless)")
    folder = debian(JENA)
    jars = [jar for jar in sorted(glob.glob(str(folder / "usr/share/java/*.jar"))) if not re.search(r"-\d[\d.]*\.jar$", jar)]
    # Log bridges are left out: two of them call each other.
    jars = [jar for jar in jars if not re.search(r"log4j|slf4j-(jdk|jcl|simple|migr|ext)|jcl-over|jul-to", jar)]
    # Debian's jar has the messages of the XML library under another path than the library reads.
    messages = folder / "messages"
    if not messages.exists():
        with zipfile.ZipFile(folder / "usr/share/java/jena-core.jar") as jar:
            for name in jar.namelist():
                if name.startswith("org/apache/jena/ext/xerces/") and name.endswith(".properties"):
                    target = messages / name.removeprefix("org/apache/jena/ext/")
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(jar.read(name))
    return [java, "-cp", os.pathsep.join([str(messages), *jars]), "arq.sparql"]


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def ask(endpoint, query, accept="application/sparql-results+json", timeout=600):
    """Returns the response of an endpoint to a query, as text."""
    form = urllib.parse.urlencode({"query": query}).encode()
    request = urllib.request.Request(endpoint, data=form, headers={"Accept": accept})
    with urllib.request.urlopen(request, timeout=timeout) as response:
        return response.read().decode()


class Process:
    """A server process; it is ready once `self.endpoint` responds to ASK {}."""

    endpoint = None
    process = None

    def start(self, command, seconds=60, **options):
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log, **options)
        until = time.monotonic() + seconds
        while True:
            try:
                ask(self.endpoint, "ASK {}", "*/*", timeout=5)
                return self
            except OSError as error:
                if self.process.poll() is not None or time.monotonic() > until:
                    self.stop()
                    self.log.seek(0)
                    raise Missing(f"{command[0]} does not start: {error}: {self.log.read()[-500:].decode(errors='replace')}") from None
                time.sleep(0.1)

    def stop(self):
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def __exit__(self, *_):
        self.stop()


class Oxigraph(Process):
    """`oxigraph serve` over a file of Turtle or N-Triples."""

    def __init__(self, data):
        self.data = data

    def __enter__(self):
        program, port = oxigraph(), free_port()
        self.folder = tempfile.TemporaryDirectory(prefix="lodeseek-oxigraph-")
        done([program, "load", "--location", self.folder.name, "--file", self.data], "Oxigraph does not load")
        self.endpoint = f"http://127.0.0.1:{port}/query"
        return self.start([program, "serve-read-only", "--location", self.folder.name, "--bind", f"127.0.0.1:{port}"])

    def __exit__(self, *_):
        self.stop()
        self.folder.cleanup()


class Virtuoso(Process):
    """Virtuoso over a file of Turtle; SERVICE is allowed to every user."""

    GRAPH = "urn:lodeseek:peer"

    def __init__(self, data):
        self.data = pathlib.Path(data)

    def __enter__(self):
        root, port, sql = debian(VIRTUOSO), free_port(), free_port()
        libraries = {os.path.dirname(file) for file in glob.glob(str(root / "**/*.so*"), recursive=True) if "hosting" not in file}
        environment = {**os.environ, "LD_LIBRARY_PATH": os.pathsep.join([*sorted(libraries), os.environ.get("LD_LIBRARY_PATH", "")])}
        self.folder = tempfile.TemporaryDirectory(prefix="lodeseek-virtuoso-")
        folder = pathlib.Path(self.folder.name)
        shutil.copy(self.data, folder / "data.ttl")
        (folder / "virtuoso.ini").write_text(f"""
[Database]
DatabaseFile = virtuoso.db
ErrorLogFile = virtuoso.log
LockFile = virtuoso.lck
TransactionFile = virtuoso.trx
xa_persistent_file = virtuoso.pxa
[TempDatabase]
DatabaseFile = virtuoso-temp.db
TransactionFile = virtuoso-temp.trx
[Parameters]
ServerPort = 127.0.0.1:{sql}
DisableUnixSocket = 1
NumberOfBuffers = 10000
MaxDirtyBuffers = 6000
DirsAllowed = .
[HTTPServer]
ServerPort = 127.0.0.1:{port}
ServerThreads = 8
[SPARQL]
ResultSetMaxRows = 100000
DefaultGraph = {self.GRAPH}
""")
        self.endpoint = f"http://127.0.0.1:{port}/sparql"
        self.start([str(root / "usr/bin/virtuoso-t"), "+configfile", "virtuoso.ini", "+foreground"], cwd=folder, env=environment)
        statements = f"""
DB.DBA.TTLP_MT(file_to_string_output('data.ttl'), '', '{self.GRAPH}');
GRANT SELECT ON DB.DBA.SPARQL_SINV_2 TO "SPARQL";
GRANT EXECUTE ON DB.DBA.SPARQL_SINV_IMP TO "SPARQL";
GRANT SPARQL_LOAD_SERVICE_DATA TO "SPARQL";
GRANT SPARQL_SPONGE TO "SPARQL";
"""
        done([str(root / "usr/bin/isql-vt"), f"127.0.0.1:{sql}", "dba", "dba", "VERBOSE=OFF"], "Virtuoso does not load",
                         input=statements, env=environment)
        return self

    def __exit__(self, *_):
        self.stop()
        self.folder.cleanup()


class Comunica(Process):
    """Comunica as an endpoint over sources."""

    def __init__(self, *sources):
        self.sources = sources

    def __enter__(self):
        node, commands, environment = comunica()
        port = free_port()
        self.endpoint = f"http://127.0.0.1:{port}/sparql"
        return self.start([node, str(commands / "http.js"), "--port", str(port), "--workers", "1", "--timeout", "900", *self.sources],
                          env=environment)


class Counter:
    """Proxy before one server at a time: counts requests and bytes, delays responses by `latency` seconds; with `plain`, requests
    uncompressed responses."""

    KEPT_BACK = {"connection", "keep-alive", "transfer-encoding", "content-length", "host"}

    def __init__(self, target=None, latency=0.0, plain=False):
        self.latency, self.lock = latency, threading.Lock()
        self.kept_back = self.KEPT_BACK | ({"accept-encoding"} if plain else set())
        self.point(target or "http://127.0.0.1:9/")

    def point(self, target):
        self.target = urllib.parse.urlsplit(target)
        self.reset()

    def reset(self):
        self.requests = self.sent = self.received = 0
        self.last = ""

    @property
    def endpoint(self):
        path = self.target.path + ("?" + self.target.query if self.target.query else "")
        return self.address + path

    def __enter__(self):
        counter, connections = self, threading.local()

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True
            wbufsize = -1  # head and body of a response in one write

            def answer(self):
                body = self.body()
                head = {name: value for name, value in self.headers.items() if name.lower() not in counter.kept_back}
                response, answer = self.forward(head, body)
                time.sleep(counter.latency)
                with counter.lock:
                    counter.requests += 1
                    counter.sent += len(self.requestline) + len(str(self.headers)) + len(body)
                    counter.received += len(str(response.headers)) + len(answer)
                    counter.last = answer.decode(errors="replace") if len(answer) < 65536 else ""
                self.send_response_only(response.status, response.reason)
                for name, value in response.getheaders():
                    if name.lower() not in counter.KEPT_BACK:
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(answer)
                self.wfile.flush()

            def forward(self, head, body):
                target = counter.target.netloc
                if getattr(connections, "target", None) != target:
                    connections.target, connections.one = target, http.client.HTTPConnection(target)
                    connections.one.connect()
                    connections.one.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                connections.one.request(self.command, self.path, body or None, head)
                response = connections.one.getresponse()
                return response, response.read()

            def body(self):
                if "chunked" not in self.headers.get("Transfer-Encoding", ""):
                    return self.rfile.read(int(self.headers.get("Content-Length", 0)))
                parts = []
                while size := int(self.rfile.readline().split(b";")[0], 16):
                    parts.append(self.rfile.read(size))
                    self.rfile.readline()
                self.rfile.readline()
                return b"".join(parts)

            do_GET = do_POST = do_HEAD = do_OPTIONS = answer

            def log_message(self, *_):
                pass

        class Threads(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, *_):  # a closed connection is no error
                pass

        self.server = Threads(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
