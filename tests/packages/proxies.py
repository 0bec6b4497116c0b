#!/usr/bin/env python3
"""Test of the examples for reverse proxies in deploy/proxy/: runs each installed proxy in front of a server.

usage: proxies.py PROGRAM

Only ports, certificates and paths of the examples are replaced. Proxies that are not installed are skipped, and printed so.
"""

import json
import os
import pathlib
import re
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import time

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = REPOSITORY / "deploy" / "proxy"
SITE = "data.example.org"


def fail(message):
    sys.exit(f"FAIL: {message}")


def expect(condition, message):
    if not condition:
        fail(message)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def certificate(folder):
    """Writes a certificate with its key, and both in one file."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", f"/CN={SITE}", "-keyout", folder / "key.pem", "-out", folder / "cert.pem"],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    (folder / "both.pem").write_text((folder / "cert.pem").read_text() + (folder / "key.pem").read_text())


def replaced(name, replacements):
    """Returns an example with replacements, each of which must occur."""
    text = (EXAMPLES / name).read_text()
    for old, new in replacements:
        expect(old in text, f"{name} has no {old!r}")
        text = text.replace(old, new)
    return text


def nginx(folder, server, plain, secure):
    site = replaced("nginx.conf", [
        ("    listen [::]:80;\n", ""), ("    listen [::]:443 ssl http2;\n", ""),
        ("listen 80;", f"listen 127.0.0.1:{plain};"), ("listen 443 ssl", f"listen 127.0.0.1:{secure} ssl"),
        ("127.0.0.1:7878", f"127.0.0.1:{server}"),
        ("/etc/letsencrypt/live/data.example.org/fullchain.pem", f"{folder}/cert.pem"),
        ("/etc/letsencrypt/live/data.example.org/privkey.pem", f"{folder}/key.pem")])
    paths = "".join(f"{name}_temp_path {folder}/{name};\n" for name in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"])
    (folder / "nginx.conf").write_text(f"daemon off; pid {folder}/pid; error_log stderr;\nuser {os.environ.get('USER', 'root')};\n"
                                       f"events {{}}\nhttp {{\naccess_log off;\n{paths}{site}}}\n")
    return ["nginx", "-c", folder / "nginx.conf", "-e", "stderr"]


def caddy(folder, server, plain, secure):
    site = replaced("Caddyfile", [("\ndata.example.org {\n", "\ndata.example.org {\n\ttls internal\n"),
                                  ("127.0.0.1:7878", f"127.0.0.1:{server}")])
    options = f"{{\n\tadmin off\n\tskip_install_trust\n\thttp_port {plain}\n\thttps_port {secure}\n\tstorage file_system {folder}/caddy\n}}\n"
    (folder / "Caddyfile").write_text(options + site)
    return ["caddy", "run", "--adapter", "caddyfile", "--config", folder / "Caddyfile"]


def haproxy(folder, server, plain, secure):
    site = replaced("haproxy.cfg", [("bind :80\n", f"bind 127.0.0.1:{plain}\n"), ("bind :443", f"bind 127.0.0.1:{secure}"),
                                    ("/etc/haproxy/data.example.org.pem", f"{folder}/both.pem"),
                                    ("127.0.0.1:7878", f"127.0.0.1:{server}")])
    (folder / "haproxy.cfg").write_text(site)
    return ["haproxy", "-db", "-f", folder / "haproxy.cfg"]


def exchange(port, request, body=b"", secure=True):
    """Sends one request. Returns status, headers, and the bytes of the body."""
    lines = [request, f"Host: {SITE}", "Connection: close", "X-Forwarded-For: 192.0.2.66", "X-Forwarded-Host: evil.example",
             "X-Forwarded-Proto: ftp", "Forwarded: for=192.0.2.66;host=evil.example;proto=http"]
    if body:
        lines += [f"Content-Length: {len(body)}", "Content-Type: text/turtle", "Accept: application/json"]
    with socket.create_connection(("127.0.0.1", port), timeout=120) as stream:
        if secure:
            context = ssl.create_default_context()
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            stream = context.wrap_socket(stream, server_hostname=SITE)
        stream.sendall("\r\n".join(lines).encode() + b"\r\n\r\n")
        try:
            stream.sendall(body)
        except OSError:
            pass  # the response came before the end of the body
        received = b""
        try:
            while piece := stream.recv(1 << 16):
                received += piece
        except OSError:
            pass  # closed after the response, because of unread parts of the body
        stream.close()
    head, _, content = received.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
    return int(lines[0].split(" ")[1]) if head else 0, headers, content


def turtle(megabytes):
    """Returns a Turtle file: a few triples and a long comment."""
    triple = b"<http://example.org/a> <http://purl.org/dc/terms/title> \"Street trees\" .\n"
    return triple + b"# filler\n" * (megabytes * 1_000_000 // 9)


def wait_for(port, process, log):
    until = time.monotonic() + 30
    while time.monotonic() < until and process.poll() is None:
        try:
            status = exchange(port, "GET /readyz HTTP/1.1")[0]
            if status == 200:
                return
        except OSError:
            pass
        time.sleep(0.2)
    fail(f"the proxy is not ready: {log.read_text()[-2000:]}")


def check(name, plain, secure, server_log):
    status, headers, _ = exchange(plain, "GET /dataset/x?a=b HTTP/1.1", secure=False)
    moved = re.sub(r":\d+/", "/", headers.get("location", ""))
    expect(status == 308 and moved == f"https://{SITE}/dataset/x?a=b", f"{name}: plain HTTP is redirected: {status} {headers}")
    status, headers, content = exchange(secure, "GET /robots.txt HTTP/1.1")
    expect(status == 200 and f"Sitemap: https://{SITE}/sitemap.xml".encode() in content,
           f"{name}: links begin with the forwarded address: {content}")
    expect("strict-transport-security" in headers, f"{name}: HSTS: {headers}")
    seen = [line for line in server_log.read_text().splitlines() if "/robots.txt" in line][-1]
    expect("192.0.2.66" not in seen and "127.0.0.1" in seen, f"{name}: a forged client address is used: {seen}")
    for path, expected in [("/metrics", 404), ("/operator", 401), ("/api/admin/jobs", 401), ("/livez", 200)]:
        status = exchange(secure, f"GET {path} HTTP/1.1")[0]
        expect(status == expected, f"{name}: {path} has status {status}, not {expected}")
    for megabytes, expected in [(15, 200), (20, 413)]:
        status, _, content = exchange(secure, "POST /like HTTP/1.1", turtle(megabytes))
        expect(status == expected, f"{name}: a file of {megabytes} MB has status {status}, not {expected}: {content[:300]}")
    query = "SELECT%20*%20WHERE%20%7B%3Fs%20%3Fp%20%3Fo%7D"
    status, headers, content = exchange(secure, f"GET /sparql?query={query}&format=csv HTTP/1.1")
    expect(status == 200 and content.count(b"\r\n") > 100, f"{name}: a streamed result: {status} {len(content)} bytes")
    status, _, content = exchange(secure, "QUERY /sparql HTTP/1.1\r\nContent-Length: 0")
    expect(status in (400, 415), f"{name}: the method QUERY reaches the server: {status} {content[:200]}")


def check_container_health(port):
    """Runs the health check of the container file, for a running server and for none."""
    text = (REPOSITORY / "deploy" / "docker" / "Dockerfile").read_text()
    command = json.loads(re.search(r"^ +CMD (\[.*\])$", text, re.MULTILINE)[1])
    for tried, expected in [(port, 0), (free_port(), 1)]:
        here = [part.replace("/7878", f"/{tried}") for part in command]
        code = subprocess.run(here, stderr=subprocess.DEVNULL).returncode
        expect(code == expected, f"the health check ended with {code}, not {expected}")
    print("ok: health check of the container")


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    found = [proxy for proxy in (nginx, caddy, haproxy) if shutil.which(proxy.__name__)]
    for proxy in (nginx, caddy, haproxy):
        if proxy not in found:
            print(f"SKIPPED: {proxy.__name__} is not installed")
    with tempfile.TemporaryDirectory(prefix="lodeseek-proxies-") as name:
        folder = pathlib.Path(name)
        certificate(folder)
        (folder / "token").write_text("0123456789abcdef0123456789abcdef")
        (folder / "token").chmod(0o600)
        home, log, server_port = folder / "home", folder / "server.log", free_port()
        for arguments in [["load", "testdata/catalog.ttl"], ["index", "--ranking", "words"]]:
            subprocess.run([program, "--home", home, *arguments], check=True, cwd=REPOSITORY, stderr=subprocess.DEVNULL)
        settings = home / "lodeseek.toml"
        settings.write_text(settings.read_text() + f'[server]\nbind = "127.0.0.1:{server_port}"\nadmin = true\n'
                            f'trusted-proxies = ["127.0.0.1"]\noperator-token-file = "{folder}/token"\n')
        server = subprocess.Popen([program, "--home", home, "serve"], stderr=open(log, "w"))
        try:
            for proxy in found:
                plain, secure = free_port(), free_port()
                proxy_log = folder / f"{proxy.__name__}.log"
                command = proxy(folder, server_port, plain, secure)
                process = subprocess.Popen(command, stdout=open(proxy_log, "w"), stderr=subprocess.STDOUT,
                                           env={**os.environ, "HOME": name})
                try:
                    wait_for(secure, process, proxy_log)
                    check(proxy.__name__, plain, secure, log)
                    print(f"ok: {proxy.__name__}", flush=True)
                finally:
                    process.terminate()
                    process.wait(30)
            check_container_health(server_port)
        finally:
            server.terminate()
            server.wait(60)


if __name__ == "__main__":
    main()
