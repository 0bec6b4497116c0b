#!/usr/bin/env python3
"""Test of hostile inputs: each must be rejected. Prints the time and the memory.

usage: bombs.py PROGRAM

Each input is a little beyond a limit of Lodeseek, so that it does not harm other software.
"""

import bz2
import gzip
import io
import lzma
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile

MEMORY_LIMIT_MB = 200
TOKEN_BYTES = 8 << 20  # limit of a token
FREE_BYTES = 4 << 20  # decompressed bytes whose ratio is not limited
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"


def entity_bomb(levels):
    entities = "".join(f'<!ENTITY e{n} "{("&e%d;" % (n - 1)) * 10}">' for n in range(1, levels + 1))
    return (f'<?xml version="1.0"?><!DOCTYPE rdf:RDF [<!ENTITY e0 "0123456789">{entities}]>'
            f'<rdf:RDF xmlns:rdf="{RDF}" xmlns:e="http://e.org/"><rdf:Description rdf:about="http://e.org/a">'
            f'<e:p>&e{levels};</e:p></rdf:Description></rdf:RDF>').encode()


def nested_zip():
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("a.nt", "<http://e.org/a> <http://e.org/p> <http://e.org/b> .\n")
    outer = io.BytesIO()
    with zipfile.ZipFile(outer, "w") as archive:
        archive.writestr("inner.zip", inner.getvalue())
    return outer.getvalue()


def traversal():
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        info = tarfile.TarInfo("../a.nt")
        data = b"<http://e.org/a> <http://e.org/p> <http://e.org/b> .\n"
        info.size = len(data)
        archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def zip_bomb(size):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.nt", b"a" * size)
    return out.getvalue()


# (name, file, a word of the expected message)
INPUTS = [
    ("entities in entities", "bomb.rdf", "entity bomb"),
    ("external entity", "xxe.rdf", "never fetched"),
    ("many uses of one entity", "quadratic.rdf", "token"),
    ("gzip bomb", "bomb.nt.gz", "bomb"),
    ("bzip2 bomb", "bomb.nt.bz2", "bomb"),
    ("xz bomb", "bomb.nt.xz", "bomb"),
    ("zip bomb", "bomb.zip", "bomb"),
    ("zip in zip", "nested.zip", "nested"),
    ("gzip in gzip", "nested.nt.gz", "nested"),
    ("tar member ../a.nt", "outside.tar", "outside"),
    ("line of 9 MB", "line.nt", "token"),
    ("Turtle literal of 9 MB", "literal.ttl", "token"),
    ("JSON-LD literal of 9 MB", "literal.jsonld", "token"),
]


def bombs():
    size, long = FREE_BYTES + (1 << 20), b"a" * (TOKEN_BYTES + (1 << 20))
    yield "bomb.rdf", entity_bomb(3)
    external = entity_bomb(0).replace(b'<!ENTITY e0 "0123456789">', b'<!ENTITY e0 SYSTEM "entity.txt">')
    yield "xxe.rdf", external
    quadratic = entity_bomb(0).replace(b"0123456789", b"x" * 1000).replace(b"&e0;", b"&e0;" * 9_000)
    yield "quadratic.rdf", quadratic
    yield "bomb.nt.gz", gzip.compress(b"a" * size)
    yield "bomb.nt.bz2", bz2.compress(b"a" * size)
    yield "bomb.nt.xz", lzma.compress(b"a" * size)
    yield "bomb.zip", zip_bomb(size)
    yield "nested.zip", nested_zip()
    yield "nested.nt.gz", gzip.compress(gzip.compress(b"<http://e.org/a> <http://e.org/p> 1 ."))
    yield "outside.tar", traversal()
    yield "line.nt", b'<http://e.org/a> <http://e.org/p> "' + long + b'" .\n'
    yield "literal.ttl", b'<http://e.org/a> <http://e.org/p> "' + long + b'" .\n'
    yield "literal.jsonld", b'{"@id": "http://e.org/a", "http://e.org/p": "' + long + b'"}'


def make(folder):
    """Writes the inputs. Runs in a separate process, because children inherit the peak memory of their parent."""
    for file, content in bombs():
        (pathlib.Path(folder) / file).write_bytes(content)


def main():
    if sys.argv[1] == "--make":
        return make(sys.argv[2])
    program = sys.argv[1]
    failed = 0
    print(f"{'input':28} {'bytes':>10} {'ms':>7} {'peak MB':>8}  answer")
    with tempfile.TemporaryDirectory(prefix="lodeseek-bombs-") as scratch:
        subprocess.run([sys.executable, __file__, "--make", scratch], check=True)
        for name, file, expected in INPUTS:
            path = pathlib.Path(scratch) / file
            started = time.monotonic()
            child = subprocess.Popen([program, "snippet", str(path)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            output = child.stdout.read()
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            milliseconds = (time.monotonic() - started) * 1000
            megabytes = usage.ru_maxrss / 1024
            answer = output.strip().splitlines()[0] if output.strip() else ""
            good = expected in answer and child.returncode == 2 and megabytes < MEMORY_LIMIT_MB
            failed += not good
            short = answer.replace(str(path), file)
            print(f"{name:28} {path.stat().st_size:>10} {milliseconds:>7.0f} {megabytes:>8.0f}  {'' if good else 'FAIL '}{short[:150]}")
    print(f"{'FAIL' if failed else 'OK'}: {failed} inputs were not rejected within {MEMORY_LIMIT_MB} MB")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
