#!/usr/bin/env python3
"""Measures suggested themes: precision and coverage over datasets whose published themes are hidden.

    tools/theme_suggestions.py PROGRAM DATASETS.jsonl [--by-order] [--limit N]

DATASETS has one object a line with `title`, `description` and `categories_uri`, the IRIs of its data themes. Four of six parts keep their
themes, one loses them, and one is left out: it is for choosing constants. The parts are chosen by the hash of the title, or by the order
of the file, whose ends come from different publishers.
"""
import argparse
import collections
import contextlib
import functools
import hashlib
import json
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

THEMES = "http://publications.europa.eu/resource/authority/data-theme/"
# Parts of the data that keep their themes, and the part that loses them.
LABELLED = range(4)
HIDDEN = 5


def part(row, number, count, by_order):
    if by_order:
        return 6 * number // count
    return hashlib.sha256(row["title"].encode()).digest()[0] % 6


def write_catalog(rows, by_order, path):
    """Writes descriptions in DCAT, and returns the hidden themes by id."""
    hidden = {}
    with path.open("w", encoding="utf-8") as out:
        for number, row in enumerate(rows):
            place = part(row, number, len(rows), by_order)
            if place not in (*LABELLED, HIDDEN):
                continue
            node, literal = f"<http://e.org/d{number}>", functools.partial(json.dumps, ensure_ascii=False)
            lines = [f"{node} a <http://www.w3.org/ns/dcat#Dataset> .",
                     f"{node} <http://purl.org/dc/terms/identifier> \"d{number}\" .",
                     f"{node} <http://purl.org/dc/terms/title> {literal(row['title'])} .",
                     f"{node} <http://purl.org/dc/terms/description> {literal(row['description'])} ."]
            if place == HIDDEN:
                hidden[f"d{number}"] = {iri.removeprefix(THEMES) for iri in row["categories_uri"]}
            else:
                lines += [f"{node} <http://www.w3.org/ns/dcat#theme> <{iri}> ." for iri in row["categories_uri"]]
            out.write("\n".join(lines) + "\n")
    return hidden


@contextlib.contextmanager
def serve(program, home):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    server = subprocess.Popen([program, "--home", home, "serve", "--bind", f"127.0.0.1:{port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(300):
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"{address}/healthz", timeout=5).read()
                break
            time.sleep(.2)
        yield address
    finally:
        server.terminate()
        server.wait()


def suggestions(address, ids):
    """Returns the suggested themes by id, from the descriptions in RDF."""
    found = {}
    for one in ids:
        url = f"{address}/dataset/{urllib.parse.quote(one)}?format=nt"
        lines = urllib.request.urlopen(url, timeout=120).read().decode().splitlines()
        objects = [line.split(" ")[2] for line in lines if " <https://w3id.org/lodeseek/ns#suggestedTheme> " in line]
        found[one] = {iri.strip("<>").removeprefix(THEMES) for iri in objects}
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("datasets", type=pathlib.Path)
    parser.add_argument("--by-order", action="store_true")
    parser.add_argument("--limit", type=int, help="number of datasets, evenly distributed over the file")
    arguments = parser.parse_args()
    rows = [json.loads(line) for line in arguments.datasets.open(encoding="utf-8")]
    if arguments.limit:
        step = max(1, len(rows) // arguments.limit)
        rows = rows[::step]
    with tempfile.TemporaryDirectory() as folder:
        catalog, home = pathlib.Path(folder, "catalog.ttl"), str(pathlib.Path(folder, "home"))
        hidden = write_catalog(rows, arguments.by_order, catalog)
        for command in (["load", str(catalog)], ["index", "--ranking", "words"]):
            made = subprocess.run([arguments.program, "--home", home, *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if made.returncode != 0:
                sys.exit(f"theme_suggestions: {' '.join(command)} failed: {made.stdout[-2000:]}")
        with serve(arguments.program, home) as address:
            found = suggestions(address, hidden)
    right = sum(len(themes & hidden[one]) for one, themes in found.items())
    number = sum(map(len, found.values()))
    covered = sum(1 for themes in found.values() if themes)
    by_theme = collections.Counter(theme for themes in found.values() for theme in themes)
    print(f"{len(rows)} datasets, {len(hidden)} with hidden themes: precision {right / max(1, number):.3f} of {number} suggestions, "
          f"coverage {covered / max(1, len(hidden)):.3f}")
    print("suggestions by theme: " + ", ".join(f"{theme} {count}" for theme, count in by_theme.most_common()))


if __name__ == "__main__":
    main()
