#!/usr/bin/env python3
"""Packages of PyPI for tools and tests, each checked against a SHA-256 in `tools/requirements/`.

usage: packages.py NAME FOLDER   (installs tools/requirements/NAME.txt into FOLDER)
       packages.py --lock NAME…  (resolves NAME.in again and writes NAME.txt, by uv)

`NAME.in` lists the packages that are used, `NAME.txt` their versions with the hashes of all files that PyPI has for them. pip
refuses a file with another hash. After changing `NAME.in`, run `packages.py --lock NAME`.
"""

import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

REQUIREMENTS = pathlib.Path(__file__).resolve().parent / "requirements"
UV = "uv==0.13.9"
# Packages that are downloaded without their dependencies.
ALONE = ["base-model", "cuda", "multilingual-model", "onnxruntime", "onnxruntime-gpu"]
# Versions of Python of packages that need a later one than the others.
PYTHON = "3.11"
LATER_PYTHON = {"fdpneo": "3.12"}


class PackageError(LookupError):
    """Packages that could not be installed, with the reason."""


def pip(name, *arguments, python=sys.executable):
    """Runs pip with the requirements of a name. Raises PackageError if it fails; a wrong hash ends the program."""
    file = REQUIREMENTS / f"{name}.txt"
    command = [python, "-m", "pip", *arguments, "-q", "--disable-pip-version-check", "--require-hashes", "-r", str(file)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode == 0:
        return
    lines = [line for line in done.stdout.splitlines() if line.strip()]
    if "DO NOT MATCH THE HASHES" in done.stdout or "Expected sha256" in done.stdout:
        sys.exit(f"packages: a file from PyPI has another SHA-256 than tools/requirements/{name}.txt records, so it was not "
                 "installed. The package index or a proxy may have been tampered with: try another network. If the package was "
                 f"published again, check it and run `tools/packages.py --lock {name}`.\n" + "\n".join(lines[-8:]))
    errors = [line for line in lines if "ERROR" in line] or lines
    raise PackageError(f"pip could not install tools/requirements/{name}.txt: {errors[-1] if errors else 'no reason given'}")


def install(name, folder, python=sys.executable):
    """Installs packages into a folder, which appears only if everything was installed. `python` is the interpreter that will run them."""
    folder = pathlib.Path(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    staged = pathlib.Path(tempfile.mkdtemp(prefix=folder.name + ".", dir=folder.parent))
    try:
        # The file lists all dependencies. Older versions of pip reject those with an extra, such as rdflib[html].
        pip(name, "install", "--no-deps", "--target", str(staged), python=python)
        staged.chmod(0o755)
        try:
            os.replace(staged, folder)
        except OSError:
            if not folder.exists():  # otherwise a concurrent run finished first
                raise
    finally:
        shutil.rmtree(staged, ignore_errors=True)
    return folder


def wheel(name, folder):
    """Downloads one package without dependencies into a folder. Returns the path of the wheel."""
    pip(name, "download", "--no-deps", "--only-binary", ":all:", "-d", str(folder))
    return next(pathlib.Path(folder).glob("*.whl"))


def cached(name, cache, python=sys.executable):
    """Returns the folder of installed packages below `cache`. Its name changes with the requirements."""
    digest = hashlib.sha256((REQUIREMENTS / f"{name}.txt").read_bytes()).hexdigest()[:12]
    folder = pathlib.Path(cache) / f"{name}-{digest}"
    if not folder.exists():
        print(f"packages: downloading {name}", file=sys.stderr, flush=True)
        install(name, folder, python)
    return folder


def described(name):
    """Returns the packages of a name for messages, for example `rdflib==7.1.4`."""
    return " and ".join((REQUIREMENTS / f"{name}.in").read_text().split())


def lock(names):
    with tempfile.TemporaryDirectory() as work:
        subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--target", work, UV], check=True)
        for name in names:
            alone = ["--no-deps"] if name in ALONE else []
            subprocess.run([f"{work}/bin/uv", "pip", "compile", "-q", *alone, "--upgrade", "--generate-hashes", "--universal",
                            "--python-version", LATER_PYTHON.get(name, PYTHON), "--no-annotate", "--no-header", f"{name}.in", "-o", f"{name}.txt"],
                           cwd=REQUIREMENTS, check=True)


def main():
    if sys.argv[1:2] == ["--lock"]:
        return lock(sys.argv[2:] or sorted(file.stem for file in REQUIREMENTS.glob("*.in")))
    try:
        install(sys.argv[1], sys.argv[2])
    except PackageError as error:
        sys.exit(f"packages: {error}")


if __name__ == "__main__":
    main()
