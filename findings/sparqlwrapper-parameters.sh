#!/usr/bin/env bash
# SPARQLWrapper 2.0.0 sends three parameters with a query that no specification knows: format, output and results. The SPARQL 1.1 Protocol (2.1)
# defines query, default-graph-uri and named-graph-uri, and leaves the format to Accept. Seen: all three with a query. A server that
# rejects unknown parameters rejects its queries, and one that knows a parameter of such a name may prefer it to Accept.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" -q --disable-pip-version-check install SPARQLWrapper==2.0.0
"$folder/bin/python" - <<'PYTHON'
import http.server
import threading
import urllib.parse
from SPARQLWrapper import JSON, SPARQLWrapper

received = []

class Endpoint(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        received.append((dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query)), self.headers["Accept"]))
        body = b'{"head": {"vars": []}, "results": {"bindings": []}}'
        self.send_response(200)
        self.send_header("Content-Type", "application/sparql-results+json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
threading.Thread(target=server.serve_forever, daemon=True).start()
client = SPARQLWrapper(f"http://127.0.0.1:{server.server_port}/sparql")
client.setQuery("SELECT * WHERE { }")
client.setReturnFormat(JSON)
client.query()
[(parameters, accept)] = received
parameters.pop("query")
print(f"parameters besides query: {parameters}; Accept: {accept}")
assert parameters == {"format": "json", "output": "json", "results": "json"}, "the behaviour changed"
PYTHON
