#!/usr/bin/env python3
"""Run the commands of the tutorials and compare their output.

    python3 tools/docs_commands.py BINARY [--files FOLDER] [PAGE.md ...]

Reads the pages of docs/src/tutorials, or those given, and runs their ```console blocks from top to bottom.
Each page gets an empty temporary folder, in which testdata, queries, models and acordar are links into the repository.
With --files, pages and links are those of another folder, such as an unpacked archive.
A folder with BINARY, and with `lodeseek-lab` if it is beside BINARY, is put before all others on PATH.

In a block:

- `$ COMMAND` is run by bash; a trailing backslash continues it on the next line.
- The lines after a command must occur in its output (stdout and stderr), in this order. Other lines may stand between them.
- `...` inside a line matches any text; a line of `...` alone is ignored.
- `[exit N]` states the exit code; without it, 0 is expected.
- `$ lodeseek serve ... --bind 127.0.0.1:7878` runs in the background until the end of the page. A free port replaces 7878 in
  every `127.0.0.1:7878` of the page.

A block marked ```console needs-onnxruntime is skipped where the environment variable ORT_DYLIB_PATH is not set; one marked
needs-lab, where there is no `lodeseek-lab`.
Exit code: 0 if all output is as stated, 1 otherwise. Python's standard library only.
"""

import argparse
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = Path("docs") / "src" / "tutorials"
LINKED = ["testdata", "queries", "models", "acordar"]
ADDRESS = "127.0.0.1:7878"
COMMAND_SECONDS = 300
SERVER_SECONDS = 60
BLOCK = re.compile(r"^```console([^\n]*)\n(.*?)^```\s*$", re.MULTILINE | re.DOTALL)


class Failure(Exception):
    """A command whose output or exit code is not as stated."""


def blocks(text):
    """Yield the marks, the first line number and the body of every console block."""
    for match in BLOCK.finditer(text):
        yield match.group(1).replace(",", " ").split(), text.count("\n", 0, match.start()) + 2, match.group(2)


def steps(first_line, body):
    """Yield the line number, the command and the expected lines of every step of a block."""
    number, command, expected, continued = 0, None, [], False
    for offset, line in enumerate(body.splitlines()):
        if continued:
            command += "\n" + line
            continued = line.endswith("\\")
        elif line.startswith("$ "):
            if command is not None:
                yield number, command, expected
            number, command, expected = first_line + offset, line[2:], []
            continued = line.endswith("\\")
        elif command is None:
            raise Failure(f"line {first_line + offset}: output without a command: {line}")
        else:
            expected.append(line.rstrip())
    if command is not None:
        yield number, command, expected


def as_pattern(line):
    return re.compile(".*".join(re.escape(part) for part in line.split("...")) + r"\s*$")


def compare(output, code, expected):
    """Raise Failure unless the expected lines occur in order and the exit code is as stated."""
    stated = 0
    printed = output.splitlines()
    place = 0
    for line in expected:
        exit_code = re.fullmatch(r"\[exit (\d+)\]", line)
        if exit_code:
            stated = int(exit_code.group(1))
            continue
        if line in ("", "..."):
            continue
        pattern = as_pattern(line)
        found = next((i for i in range(place, len(printed)) if pattern.match(printed[i])), None)
        if found is None:
            raise Failure(f"expected line not found: {line!r}\n--- output ---\n{output}")
        place = found + 1
    if code != stated:
        raise Failure(f"exit code {code}, expected {stated}\n--- output ---\n{output}")


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def lab_beside(binary):
    """Return the path of `lodeseek-lab` in the folder of a program."""
    return binary.with_name("lodeseek-lab")


class Page:
    """One tutorial, its folder and the servers that it started."""

    def __init__(self, path, binary, files, folder):
        self.path = path
        self.folder = folder
        self.port = free_port()
        self.servers = []
        self.environment = dict(os.environ, PATH=f"{folder}/.bin:{os.environ['PATH']}", LC_ALL="C.UTF-8", TERM="dumb",
                                NO_COLOR="1")
        self.environment.pop("LODESEEK_HOME", None)
        (folder / ".bin").mkdir()
        (folder / ".bin" / "lodeseek").symlink_to(binary)
        if lab_beside(binary).exists():
            (folder / ".bin" / "lodeseek-lab").symlink_to(lab_beside(binary))
        for name in LINKED:
            (folder / name).symlink_to(files / name)

    def run(self, command, expected):
        command = command.replace(ADDRESS, f"127.0.0.1:{self.port}")
        if re.match(r"lodeseek (--home \S+ )?serve\b", command):
            self.serve(command)
            return
        done = subprocess.run(["bash", "-c", command], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=COMMAND_SECONDS)
        output = done.stdout.decode(errors="replace").replace(f"127.0.0.1:{self.port}", ADDRESS)
        compare(output, done.returncode, expected)

    def serve(self, command):
        """Start a server and wait until it accepts connections."""
        log = open(self.folder / f".server-{len(self.servers)}.log", "w+b")
        server = subprocess.Popen(["bash", "-c", f"exec {command}"], cwd=self.folder, env=self.environment,
                                  stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        self.servers.append(server)
        deadline = time.monotonic() + SERVER_SECONDS
        while time.monotonic() < deadline and server.poll() is None:
            with socket.socket() as client:
                if client.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.2)
        log.seek(0)
        raise Failure(f"the server accepts no connection\n--- output ---\n{log.read().decode(errors='replace')}")

    def close(self):
        for server in self.servers:
            if server.poll() is None:
                os.killpg(server.pid, signal.SIGTERM)
                try:
                    server.wait(20)
                except subprocess.TimeoutExpired:
                    os.killpg(server.pid, signal.SIGKILL)


def run_page(path, binary, files, lab):
    """Run one page; return the numbers of commands run and of blocks skipped."""
    ran = skipped = 0
    with tempfile.TemporaryDirectory(prefix="lodeseek-docs-") as folder:
        page = Page(path, binary, files, Path(folder))
        try:
            for marks, line, body in blocks(path.read_text()):
                if "needs-onnxruntime" in marks and not os.environ.get("ORT_DYLIB_PATH"):
                    skipped += 1
                    continue
                if "needs-lab" in marks and not lab:
                    skipped += 1
                    continue
                for number, command, expected in steps(line, body):
                    try:
                        page.run(command, expected)
                    except (Failure, subprocess.TimeoutExpired) as failure:
                        raise Failure(f"{path.name}:{number}: $ {command}\n{failure}") from None
                    ran += 1
        finally:
            page.close()
    return ran, skipped


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", metavar="BINARY", type=Path)
    parser.add_argument("--files", metavar="FOLDER", type=Path, default=ROOT)
    parser.add_argument("pages", metavar="PAGE.md", type=Path, nargs="*")
    # The folder may stand before and after the pages.
    return parser.parse_intermixed_args()


def main():
    arguments = parse_arguments()
    binary, files = arguments.binary.resolve(), arguments.files.resolve()
    pages = arguments.pages or sorted((files / PAGES).glob("*.md"))
    if not pages:
        print(f"docs: {files / PAGES} has no pages", file=sys.stderr)
        return 1
    lab = lab_beside(binary).exists()
    failed = 0
    for page in pages:
        try:
            ran, skipped = run_page(page, binary, files, lab)
            print(f"docs: {page.name}: {ran} commands as stated" + (f", {skipped} blocks skipped" if skipped else ""))
        except Failure as failure:
            failed += 1
            print(f"docs: FAIL {failure}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
