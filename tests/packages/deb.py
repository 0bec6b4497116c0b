#!/usr/bin/env python3
"""Test of the Debian package: installs it in a new Debian, serves as its unit states, and removes it.

usage: deb.py LODESEEK.deb      (as root)

Needs debootstrap, systemd-analyze and libseccomp2; the first run downloads Debian (50 MB), which stays in the cache folder. There is
no systemd: tests/packages/unit.py runs the unit's command under its restrictions. DEBIAN_SUITE and DEBIAN_MIRROR select the Debian.
"""

import atexit
import ctypes
import json
import os
import pathlib
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

from unit import read_unit

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
SUITE = os.environ.get("DEBIAN_SUITE", "bookworm")
MIRROR = os.environ.get("DEBIAN_MIRROR", "http://deb.debian.org/debian")
HOME = "/var/lib/lodeseek"
UNIT = "/usr/lib/systemd/system/lodeseek.service"
# Files that every package changes, and those that adduser changes.
KEPT = ("/var/lib/dpkg", "/var/lib/systemd", "/var/log", "/var/cache", "/etc/passwd", "/etc/group", "/etc/shadow",
        "/etc/gshadow", "/etc/subuid", "/etc/subgid", "/etc/.pwd.lock", "/run", "/proc", "/sys", "/dev", "/srv", HOME)


def fail(message):
    sys.exit(f"FAIL: {message}")


def expect(condition, message):
    if not condition:
        fail(message)


def new_root(folder):
    """Unpacks a Debian with the packages that are always there, and adduser, which the package depends on."""
    cache = pathlib.Path(os.environ.get("LODESEEK_CACHE") or pathlib.Path.home() / ".cache" / "lodeseek")
    archive = cache / f"debian-{SUITE}.tar"
    if not archive.exists():
        if shutil.which("debootstrap") is None:
            fail("debootstrap is missing; run `apt-get install debootstrap`")
        cache.mkdir(parents=True, exist_ok=True)
        made = pathlib.Path(tempfile.mkdtemp(prefix="debian.", dir=cache))
        print(f"downloading Debian {SUITE}", flush=True)
        command = ["debootstrap", "--variant=minbase", "--include=adduser", SUITE, str(made), MIRROR]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            fail(f"debootstrap: {done.stdout[-500:]}")
        subprocess.run(["tar", "-C", made, "-cf", f"{archive}.new", "."], check=True)
        os.replace(f"{archive}.new", archive)
        shutil.rmtree(made)
    subprocess.run(["tar", "-C", folder, "-xpf", archive], check=True)
    os.chmod(folder, 0o755)


class Root:
    """A Debian in a folder."""

    def __init__(self, folder):
        self.folder = folder
        new_root(folder)
        for name in ["proc", "dev"]:
            subprocess.run(["mount", "--rbind", f"/{name}", f"{folder}/{name}"], check=True)

    def run(self, *command, code=0):
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "HOME": "/root"}
        done = subprocess.run(["chroot", self.folder, *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env=environment, cwd="/", timeout=600)
        expect(code is None or done.returncode == code, f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout[-3000:]}")
        return done.stdout

    def lodeseek(self, *arguments, code=0):
        """Runs the program as the user of the service."""
        return self.run("runuser", "-u", "lodeseek", "--", "lodeseek", "--home", HOME, *arguments, code=code)

    def files(self):
        found = set()
        for folder, folders, names in os.walk(self.folder):
            inside = "/" + os.path.relpath(folder, self.folder).lstrip(".")
            folders[:] = [name for name in folders if not os.path.join(inside, name).startswith(KEPT)]
            found.update(path for path in (os.path.join(inside, name) for name in names) if not path.startswith(KEPT))
        return found


class Service:
    """The command of the unit."""

    def __init__(self, root, port, log):
        self.log, self.address = log, f"http://127.0.0.1:{port}"
        command = [sys.executable, HERE / "unit.py", root.folder, root.folder + UNIT]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=open(log, "w"))
        atexit.register(self.process.kill)
        self.wait(lambda: self.get("/readyz", {}) is not None, 60, "is not ready")

    def wait(self, condition, seconds, message):
        until = time.monotonic() + seconds
        while not condition():
            if self.process.poll() is not None or time.monotonic() > until:
                fail(f"the service {message}:\n{self.log.read_text()[-3000:]}")
            time.sleep(0.2)

    def get(self, path, parameters):
        query = f"?{urllib.parse.urlencode(parameters)}" if parameters else ""
        try:
            with urllib.request.urlopen(f"{self.address}{path}{query}", timeout=60) as response:
                return response.read().decode()
        except urllib.error.HTTPError as error:
            fail(f"{path} returned {error.code}: {error.read()[:500]}")
        except OSError:
            return None

    def search(self, query):
        return json.loads(self.get("/api/search", {"q": query, "k": 3}))

    def workers(self):
        """Returns the number of worker processes."""
        children = pathlib.Path(f"/proc/{self.process.pid}/task").glob("*/children")
        return sum(len(path.read_text().split()) for path in children)


def has_landlock():
    """Returns true if this kernel has all rights of Landlock that workers use (Linux 6.12)."""
    return ctypes.CDLL(None).syscall(444, None, 0, 1) >= 6


def check_service(root, port, log):
    """Serves the empty home, fills it by commands, and searches it."""
    service = Service(root, port, log)
    expect(service.workers() > 0, "the service has no worker processes")
    expect(service.search("trees")["hits"] == [], "an empty home has no hits")
    root.lodeseek("load", "/srv/testdata/catalog.ttl")
    hits = service.search("nitrogen reduction plan")["hits"]
    expect(hits, "the loaded datasets are found")
    # No dataset contains these words: the included model, run by the included ONNX Runtime, finds one.
    similar = "contamination of the atmosphere"
    service.wait(lambda: service.search(similar)["hits"], 120, "finds nothing by meaning")
    rows = "SELECT (COUNT(*) AS ?n) WHERE { ?a ?p ?x . ?b ?q ?x . FILTER(?a != ?b && ?p = ?q) }"
    answer = json.loads(service.get("/sparql", {"query": rows, "format": "json"}))
    expect(int(answer["results"]["bindings"][0]["n"]["value"]) >= 0, "a worker evaluates an expensive query")
    reload = read_unit(root.folder + UNIT)["ExecReload"][0].replace("$MAINPID", str(service.process.pid))
    root.run(*shlex.split(reload))
    service.wait(lambda: "reloaded" in log.read_text(), 10, "does not reload at SIGHUP")
    service.process.terminate()
    try:
        code = service.process.wait(60)
    except subprocess.TimeoutExpired:
        fail("the service does not stop within 60 s")
    text = log.read_text()
    expect(code == 0 and "stopped" in text, f"the service ended with {code}:\n{text[-3000:]}")
    lacking = [line for line in text.splitlines() if "lack a protection" in line]
    expect(not (lacking and has_landlock()), f"the unit takes protections from the workers: {lacking}")
    expect("ERROR" not in text, f"the log has errors:\n{text}")
    return hits[0]["id"]


def check_unit(root):
    """Checks the names and values of the unit, and that its commands exist."""
    done = subprocess.run(["systemd-analyze", f"--root={root.folder}", "--man=no", "verify", "lodeseek.service"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    # The folder contains no systemd, so that its targets are missing.
    problems = [line for line in done.stdout.splitlines() if "target not found" not in line]
    expect(not problems, f"systemd-analyze verify: {problems}")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def check(package, folder):
    root = Root(folder)
    shutil.copytree(REPOSITORY / "testdata", f"{folder}/srv/testdata")
    shutil.copy(package, f"{folder}/srv/lodeseek.deb")
    before = root.files()
    installed = root.run("dpkg", "-i", "/srv/lodeseek.deb")
    expect("systemctl enable --now lodeseek" in installed, f"the next step is printed: {installed}")
    size = subprocess.run(["du", "-sh", "--apparent-size", package], stdout=subprocess.PIPE, text=True).stdout.split()[0]
    print(f"ok: installed ({size}): {root.run('lodeseek', '--version').strip()}")
    expect(oct(os.stat(folder + HOME).st_mode & 0o777) == "0o700", "the home is private")
    expect("no problem found" in root.lodeseek("config", "check"), "the configuration is valid")
    for file in ["usr/share/man/man1/lodeseek-serve.1.gz", "usr/share/doc/lodeseek/copyright",
                 "usr/share/doc/lodeseek/examples/nginx.conf", "usr/share/bash-completion/completions/lodeseek",
                 "usr/share/lodeseek/models/lodeseek-minilm/model_int8.onnx",
                 "usr/share/lodeseek/models/lodeseek-multilingual/model.onnx"]:
        expect(os.path.exists(f"{folder}/{file}"), f"{file} is missing")
    check_unit(root)
    port = free_port()
    settings = pathlib.Path(f"{folder}{HOME}/lodeseek.toml")
    text = settings.read_text()
    expect("\nadmin = true\n" in text, "the service accepts changes by local commands")
    settings.write_text(text.replace('# bind = "127.0.0.1:7878"', f'bind = "127.0.0.1:{port}"'))
    dataset = check_service(root, port, pathlib.Path(folder) / "srv" / "log")
    print("ok: served, loaded, searched by words and by meaning, reloaded, stopped")
    expect("no damage" in root.lodeseek("verify", code=None).lower(), "the home is intact")
    root.run("dpkg", "-i", "/srv/lodeseek.deb")
    expect(dataset in root.lodeseek("list"), "an upgrade keeps the home")
    root.run("dpkg", "-r", "lodeseek")
    # Debian masks the unit of a removed package until it is purged.
    left = root.files() - before - {"/etc/systemd/system/lodeseek.service"}
    expect(not left, f"files are left after the removal: {sorted(left)[:20]}")
    purged = root.run("dpkg", "--purge", "lodeseek")
    expect("were kept" in purged and settings.exists(), f"the home is kept: {purged}")
    expect("lodeseek" not in root.run("dpkg", "-l"), "the package is purged")
    expect(root.files() == before, f"files differ after the purge: {sorted(root.files() ^ before)[:20]}")
    root.run("dpkg", "-i", "/srv/lodeseek.deb")
    expect(dataset in root.lodeseek("list"), "a new installation uses the kept home")
    print("ok: upgraded, removed, purged, installed again; the home was kept")


def main():
    if os.geteuid() != 0:
        fail("run this test as root: it makes a root folder with users of its own")
    package = pathlib.Path(sys.argv[1]).resolve()
    # Mounts of this test are not visible outside, and end with it.
    libc = ctypes.CDLL(None)
    expect(libc.unshare(0x20000) == 0, "no mount namespace can be made")
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
    with tempfile.TemporaryDirectory(prefix="lodeseek-deb-") as folder:
        try:
            check(package, folder)
        finally:
            for name in ["proc", "dev"]:
                subprocess.run(["umount", "--recursive", "--lazy", f"{folder}/{name}"], check=False)


if __name__ == "__main__":
    main()
