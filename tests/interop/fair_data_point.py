"""A FAIR Data Point (fdpneo) over Oxigraph and PostgreSQL on the loopback interface, for the tests of `harvest`.

usage: fair_data_point.py RECORDS PORT ADDRESS

RECORDS is a JSON file with the records, each a dataset with one distribution. It is read at each request, and what changed is published
before the answer. A broken record is a draft, which only its authors can read. ADDRESS is the one under which clients reach the server.
Needs Python 3.12, fdpneo, the path of the program oxigraph in OXIGRAPH, and the folder of PostgreSQL's programs in POSTGRES.
"""

import atexit
import http.client
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
import urllib.parse

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

CATALOG = "/catalog/ferries"
PREFIXES = """@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .
@prefix foaf: <http://xmlns.com/foaf/0.1/> .
<http://harbour.example/office> a foaf:Agent ; foaf:name "Harbour office" .
"""
COMMON = """dct:license <http://harbour.example/licence> ; dct:publisher <http://harbour.example/office> ; dcat:version "1" ; dct:hasVersion "1" """
# Before the end of a run, other checks compile and index on the same processors.
REQUEST_SECONDS = 300


class Quiet(http.server.BaseHTTPRequestHandler):
    def send(self, status, headers, content):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


class Programs:
    """Programs that end with this one."""

    def __init__(self, folder):
        self.folder, self.running = folder, []
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        atexit.register(self.stop)

    def start(self, port, command, **options):
        """Starts a server, and returns when it listens."""
        file = self.folder / f"{port}.log"
        with file.open("wb") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log, **options)
        self.running.append(process)
        while process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", port), 5).close()
                return
            except OSError:
                time.sleep(0.1)
        sys.exit(f"{command[0]} does not start: {file.read_text()[-800:]}")

    def stop(self):
        for process in reversed(self.running):
            process.terminate()
            process.wait()


class Issuer:
    """Issuer of a token of OpenID Connect with the role of a steward."""

    def __init__(self):
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        public = {**json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key())), "kid": "clerk", "alg": "RS256", "use": "sig"}
        issuer = self

        class Handler(Quiet):
            def do_GET(self):
                found = {"keys": [public]} if self.path == "/keys" else {"issuer": issuer.address, "jwks_uri": f"{issuer.address}/keys"}
                self.send(200, {"Content-Type": "application/json"}, json.dumps(found).encode())

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        now = int(time.time())
        claims = {"iss": self.address, "aud": "fdp", "sub": "clerk", "iat": now, "exp": now + 86_400,
                  "realm_access": {"roles": ["steward"]}}
        self.token = jwt.encode(claims, key, algorithm="RS256", headers={"kid": "clerk"})


class DataPoint:
    """The server, and the records that it publishes."""

    def __init__(self, address, port, token):
        self.address, self.port, self.token, self.published = address, port, token, {}

    def request(self, method, path, body=None, headers=()):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=REQUEST_SECONDS)
        connection.request(method, path, body, {"Host": urllib.parse.urlsplit(self.address).netloc, **dict(headers)})
        response = connection.getresponse()
        answer = response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()
        connection.close()
        return answer

    def change(self, method, path, body=None, kind="text/turtle"):
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": kind, "Prefer": "publication-state=PUBLISHED"}
        status, found, _ = self.request("GET", path, None, {"Authorization": headers["Authorization"], "Accept": "text/turtle"})
        if status == 200 and "etag" in found:
            headers["If-Match"] = found["etag"]
        status, _, content = self.request(method, path, body and body.encode(), headers)
        if status >= 300:
            raise OSError(f"{method} {path}: {status} {content[:500]!r}")

    def put(self, path, kind, text):
        self.change("PUT", path, f"{PREFIXES}<{self.address}{path}> a dcat:{kind} ; {COMMON} ; {text} .")

    def put_record(self, record):
        name = record["id"]
        self.put(f"/dataset/{name}", "Dataset", f"""dct:isPartOf <{self.address}{CATALOG}> ; dct:title {json.dumps(record["title"])}@en ;
dct:description {json.dumps(record["description"])}@en ; dcat:keyword "{record["keyword"]}"@en ; dcat:contactPoint <http://harbour.example/desk> ;
dcat:theme <http://publications.europa.eu/resource/authority/data-theme/TRAN>""")
        self.put(f"/distribution/{name}", "Distribution", f"""dct:isPartOf <{self.address}/dataset/{name}> ; dct:title "File"@en ;
dcat:accessURL <{record["file"]}> ; dcat:downloadURL <{record["file"]}> ;
dcat:mediaType <https://www.iana.org/assignments/media-types/text/csv>""")

    def publish(self, records):
        """Publishes what changed."""
        for record in records:
            name, before = record["id"], self.published.get(record["id"])
            if record == before or record.get("deleted") and (before is None or before.get("deleted")):
                continue
            was_broken = before is not None and before.get("broken", False)
            if record.get("deleted"):
                self.change("DELETE", f"/distribution/{name}")
                self.change("DELETE", f"/dataset/{name}")
            elif record.get("broken", False) != was_broken:
                state = "DRAFT" if record.get("broken") else "PUBLISHED"
                self.change("POST", f"/fdp-api/dataset/{name}/state", json.dumps({"to": state}), "application/json")
            else:
                self.put_record(record)
            self.published[name] = record


def start_postgres(programs, data, port):
    options = {"cwd": "/"}
    if os.getuid() == 0:  # PostgreSQL refuses to run as root
        options.update(user="nobody", group="nogroup")
        shutil.chown(data, "nobody", "nogroup")
    commands = pathlib.Path(os.environ["POSTGRES"])
    subprocess.run([commands / "initdb", "-D", data, "-U", "fdp", "--auth", "trust", "--no-sync"], stdout=subprocess.DEVNULL, check=True, **options)
    command = [commands / "postgres", "-D", data, "-p", str(port), "-h", "127.0.0.1", "-k", data, "-c", "fsync=off"]
    programs.start(port, command, **options)


def free_ports(count):
    opened = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in opened]
    for one in opened:
        one.close()
    return ports


def main():
    records, port, address = pathlib.Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    folder = pathlib.Path(tempfile.mkdtemp(prefix="lodeseek-fdpneo-"))
    postgres, oxigraph, inner = free_ports(3)
    # The user of PostgreSQL may not enter the folder of this program. What is registered first is done last.
    data = tempfile.mkdtemp(prefix="lodeseek-postgres-", dir="/tmp")
    atexit.register(shutil.rmtree, data, ignore_errors=True)
    programs, issuer = Programs(folder), Issuer()
    start_postgres(programs, data, postgres)
    programs.start(oxigraph, [os.environ["OXIGRAPH"], "serve", "--location", folder / "oxigraph", "--bind", f"127.0.0.1:{oxigraph}"])
    store = f"http://127.0.0.1:{oxigraph}"
    environment = {**os.environ, "POSTGRES_DSN": f"postgresql+asyncpg://fdp@127.0.0.1:{postgres}/postgres", "BASE_URL": address,
                   "FDP_TRIPLESTORE_QUERY_ENDPOINT": f"{store}/query", "FDP_TRIPLESTORE_UPDATE_ENDPOINT": f"{store}/update",
                   "FDP_TRIPLESTORE_GRAPH_STORE_ENDPOINT": f"{store}/store", "FDP_OIDC_ISSUER": issuer.address, "FDP_OIDC_AUDIENCE": "fdp",
                   "FDP_PROFILE_AUTO_APPLY": "true", "FDP_RATELIMIT_ENABLED": "false"}
    options = {"env": environment, "cwd": folder}
    subprocess.run([sys.executable, "-c", "from fdpneo_server.cli import app; app()", "db", "migrate"], check=True,
                   stdout=subprocess.DEVNULL, **options)
    programs.start(inner, [sys.executable, "-m", "uvicorn", "fdpneo_server.main:app", "--port", str(inner), "--log-level", "warning"], **options)
    point = DataPoint(address, inner, issuer.token)
    point.put(CATALOG, "Catalog", f'dct:title "Ferries"@en ; dct:isPartOf <{address}>')
    point.publish(json.loads(records.read_text()))
    lock = threading.Lock()

    class Front(Quiet):
        def do_GET(self):
            with lock:
                point.publish(json.loads(records.read_text()))
            status, headers, content = point.request("GET", self.path, None, {"Accept": self.headers.get("Accept", "*/*")})
            self.send(status, {name: headers[name] for name in ("content-type", "link", "etag") if name in headers}, content)

    http.server.ThreadingHTTPServer(("127.0.0.1", port), Front).serve_forever()


if __name__ == "__main__":
    main()
