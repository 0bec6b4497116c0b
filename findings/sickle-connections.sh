#!/usr/bin/env bash
# Sickle 0.7.0, a client of OAI-PMH, opens a connection for every page of a list, although the server keeps connections open (RFC 9112,
# 9.3). Seen: five pages over five connections. With TLS each page pays for a handshake.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" -q --disable-pip-version-check install Sickle==0.7.0
"$folder/bin/python" - <<'PYTHON'
import http.server
import threading
from sickle import Sickle

PAGES = 5
connections, requests = set(), []

class Repository(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        connections.add(self.client_address)
        requests.append(self.path)
        number = len(requests)
        token = f"<resumptionToken>page-{number}</resumptionToken>" if number < PAGES else ""
        metadata = f'<dc xmlns="http://purl.org/dc/elements/1.1/"><title>Record {number}</title></dc>'
        body = f"""<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"><responseDate>2026-01-01T00:00:00Z</responseDate><request/><ListRecords>
          <record><header><identifier>oai:example.org:{number}</identifier><datestamp>2026-01-01</datestamp></header>
          <metadata>{metadata}</metadata></record>{token}</ListRecords></OAI-PMH>""".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/xml")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Repository)
threading.Thread(target=server.serve_forever, daemon=True).start()
records = list(Sickle(f"http://127.0.0.1:{server.server_port}/").ListRecords(metadataPrefix="oai_dc"))
print(f"{len(records)} records, {len(requests)} requests, {len(connections)} connections")
assert len(records) == len(requests) == PAGES, "the list was not read"
assert len(connections) == PAGES, "the behaviour changed"
PYTHON
