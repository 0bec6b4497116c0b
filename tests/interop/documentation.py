#!/usr/bin/env python3
"""Test of the documentation against a program: tutorials, command-line reference and HTTP reference.

usage: documentation.py PROGRAM   (PROGRAM: lodeseek; lodeseek-lab is beside it)

Runs the commands of the tutorials and checks that the reference pages are up to date. The last line counts passed, failed and
skipped checks.
"""

import pathlib
import subprocess
import sys
import tempfile

import clients

TOOLS = clients.ROOT / "tools"


def run(tool, *arguments):
    """Runs a tool and returns true on success."""
    return subprocess.run([sys.executable, str(TOOLS / tool), *arguments]).returncode == 0


def check_tutorials(program):
    return run("docs_commands.py", program)


def check_command_line_reference(program):
    return run("cli_reference.py", program, "--check")


def check_http_reference(program):
    with tempfile.TemporaryDirectory(prefix="lodeseek-documentation-") as home:
        for command in (["load", str(clients.ROOT / "testdata/catalog.ttl")], ["index", "--analysis", "acordar", "--ranking", "words"]):
            subprocess.run([program, "--home", home, *command], check=True, stderr=subprocess.DEVNULL)
        with clients.Server(program, home) as server:
            return run("http_reference.py", server.address, "--check")


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    failed = 0
    checks = (check_tutorials, check_command_line_reference, check_http_reference)
    for check in checks:
        passed = check(program)
        failed += not passed
        print(f"documentation {check.__name__.removeprefix('check_')} ... {'ok' if passed else 'FAILED'}", flush=True)
    print(f"{len(checks) - failed} passed, {failed} failed, 0 skipped")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
