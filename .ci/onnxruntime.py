#!/usr/bin/env python3
"""Put ONNX Runtime's library, as PyPI's package onnxruntime ships it, into the cache.

Neural models are run by a shared library that is found when the program runs. The package is downloaded and unpacked, not
installed: Python's own packages stay as they are. Nothing is done where the library is there already.

Prints the library's path on stdout, everything else on stderr.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

VERSION = "1.31.1"
NAMES = ("libonnxruntime.so", "libonnxruntime.dylib", "libonnxruntime.1", "onnxruntime.dll")


def say(text):
    print(f"onnxruntime: {text}", file=sys.stderr, flush=True)


def library(folder):
    found = [path for path in folder.glob("*") if path.name.startswith(NAMES)] if folder.exists() else []
    return found[0] if found else None


def fetch(folder):
    say(f"fetching {VERSION} from PyPI")
    with tempfile.TemporaryDirectory(prefix="lodeseek-onnxruntime-") as name:
        work = pathlib.Path(name)
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "-d", str(work),
                   f"onnxruntime=={VERSION}"]
        if subprocess.run(command, stdout=sys.stderr).returncode != 0:
            sys.exit("onnxruntime: it could not be fetched; pip install onnxruntime where it can, and set ORT_DYLIB_PATH")
        staged = folder.with_name(folder.name + ".new")
        shutil.rmtree(staged, ignore_errors=True)
        staged.mkdir(parents=True)
        with zipfile.ZipFile(next(work.glob("*.whl"))) as wheel:
            for entry in wheel.namelist():
                if pathlib.PurePosixPath(entry).name.startswith(NAMES) or entry.endswith(("LICENSE", "ThirdPartyNotices.txt")):
                    (staged / pathlib.PurePosixPath(entry).name).write_bytes(wheel.read(entry))
        if library(staged) is None:
            sys.exit("onnxruntime: the package holds no library for this system")
        os.replace(staged, folder)  # whole or not at all


def main():
    cache = pathlib.Path(os.environ.get("LODESEEK_CACHE") or
                         pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "lodeseek")
    folder = cache / f"onnxruntime-{VERSION}"
    if library(folder) is None:
        fetch(folder)
    print(library(folder))


if __name__ == "__main__":
    main()
