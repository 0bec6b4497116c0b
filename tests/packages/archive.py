#!/usr/bin/env python3
"""Test of the release archive: unpacks it, checks its checksums, searches with the model and library inside it, and runs its tutorials.

usage: archive.py LODESEEK.tar.gz
"""

import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"
EXPECTED = ["lodeseek", "INSTALL.md", "LICENSE", "man/lodeseek.1", "completions/lodeseek.bash", "models/lodeseek-minilm/model_int8.onnx",
            "models/lodeseek-multilingual/model.onnx",
            "deploy/systemd/lodeseek.service", "deploy/proxy/nginx.conf", "deploy/docker/Dockerfile",
            "testdata/catalog.ttl", "docs/src/SUMMARY.md", "acordar/RESULTS.md"]


def fail(message):
    sys.exit(f"FAIL: {message}")


def main():
    archive = pathlib.Path(sys.argv[1]).resolve()
    name = archive.name.removesuffix(".tar.gz")
    subprocess.run(["sha256sum", "--quiet", "--check", f"{name}.sha256"], cwd=archive.parent, check=True)
    with tempfile.TemporaryDirectory(prefix="lodeseek-archive-") as folder:
        with tarfile.open(archive) as packed:
            packed.extractall(folder)
        unpacked = pathlib.Path(folder) / name
        missing = [file for file in EXPECTED if not (unpacked / file).exists()]
        if missing:
            fail(f"the archive lacks {missing}")
        if "libc.so.6" not in (unpacked / "INSTALL.md").read_text():
            fail("INSTALL.md does not list the needed libraries")
        # Neither a cache folder nor a variable helps to find the library.
        environment = {"PATH": os.environ["PATH"], "HOME": folder}

        def run(*arguments):
            done = subprocess.run([unpacked / "lodeseek", *arguments], cwd=folder, env=environment, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True)
            if done.returncode != 0:
                fail(f"{arguments} ended with {done.returncode}: {done.stderr}")
            return done.stdout, done.stderr

        run("load", str(unpacked / "testdata" / "catalog.ttl"))
        run("index")
        # No dataset contains these words.
        found, messages = run("search", "-k", "1", "contamination of the atmosphere")
        if not found.strip() or "ranked by words" in messages:
            fail(f"the model of the archive is not used: {found} {messages}")
        # Blocks that need ONNX Runtime are skipped without the variable.
        library = next(unpacked.glob("lib/*/libonnxruntime.so*"))
        tutorials = subprocess.run([sys.executable, TOOLS / "docs_commands.py", unpacked / "lodeseek", "--files", unpacked],
                                   env=dict(environment, ORT_DYLIB_PATH=str(library)))
        if tutorials.returncode != 0:
            fail("a tutorial of the archive prints something else than it states")
    print(f"ok: {archive.name}, {archive.stat().st_size / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
