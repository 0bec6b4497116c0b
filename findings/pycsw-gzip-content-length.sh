#!/usr/bin/env bash
# pycsw 2.6.2 with `gzip_compresslevel` set: its WSGI application compresses the body, but `Content-Length` remains that of the uncompressed
# one. RFC 9110, 8.6: it states the length of the content as it is sent. A client that accepts gzip waits for bytes that never come, and
# reports a broken response; one that does not accept it reads everything.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" -q --disable-pip-version-check install pycsw==2.6.2 SQLAlchemy==1.4.54
cat > "$folder/pycsw.cfg" <<CONFIG
[server]
home=$folder
url=http://localhost/csw
mimetype=application/xml; charset=UTF-8
encoding=UTF-8
language=en-US
maxrecords=10
gzip_compresslevel=6
[manager]
transactions=false
[metadata:main]
identification_title=Ferries
identification_abstract=Ferries
identification_keywords=ferries
[metadata:inspire]
enabled=false
[repository]
database=sqlite:///$folder/records.db
table=records
CONFIG
cd "$folder"
PYCSW_CONFIG="$folder/pycsw.cfg" "$folder/bin/python" -W ignore - <<'PYTHON'
import contextlib
import gzip
import io
import os
from wsgiref.util import setup_testing_defaults

from pycsw import wsgi
from pycsw.core import admin

def answer(encoding):
    environment = {"QUERY_STRING": "service=CSW&version=2.0.2&request=DescribeRecord", "HTTP_ACCEPT_ENCODING": encoding}
    setup_testing_defaults(environment)
    started = {}
    body = b"".join(wsgi.application(environment, lambda status, headers: started.update(headers, status=status)))
    return started, body

with contextlib.redirect_stdout(io.StringIO()):
    folder = os.getcwd()
    admin.setup_db(f"sqlite:///{folder}/records.db", "records", folder)
    plain, whole = answer("identity")
    packed, body = answer("gzip")
print("without gzip:", plain["status"], plain["Content-Length"], len(whole))
print("with gzip:   ", packed["status"], packed.get("Content-Encoding"), packed["Content-Length"], len(body))
assert plain["Content-Length"] == str(len(whole))
assert packed["Content-Encoding"] == "gzip" and len(gzip.decompress(body)) > len(body)
assert int(packed["Content-Length"]) > len(body), "the behaviour changed: the length is that of the compressed body"
PYTHON
