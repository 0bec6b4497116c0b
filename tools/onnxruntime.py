#!/usr/bin/env python3
"""ONNX Runtime's shared library: downloads PyPI's package onnxruntime into the cache folder.

usage: onnxruntime.py [--offline]

The program loads this library when it runs. The package is unpacked, not installed: Python's own packages stay unchanged.
With --offline nothing is downloaded: the script fails if the cache does not contain the library.
Prints the library's path on stdout, messages on stderr.
"""

import os
import packages
import pathlib
import shutil
import sys
import tempfile
import zipfile

VERSION = "1.31.1"
NAMES = ("libonnxruntime.so", "libonnxruntime.dylib", "libonnxruntime.1", "onnxruntime.dll")


def log(text):
    print(f"onnxruntime: {text}", file=sys.stderr, flush=True)


def library(folder):
    found = [path for path in folder.glob("*") if path.name.startswith(NAMES)] if folder.exists() else []
    return found[0] if found else None


def fetch(folder):
    log(f"downloading {VERSION} from PyPI")
    with tempfile.TemporaryDirectory(prefix="lodeseek-onnxruntime-") as name:
        work = pathlib.Path(name)
        try:
            wheel = packages.wheel("onnxruntime", work)
        except packages.PackageError as reason:
            sys.exit(f"onnxruntime: {reason}; or set ORT_DYLIB_PATH to the library of an installed onnxruntime")
        staged = folder.with_name(folder.name + ".new")
        shutil.rmtree(staged, ignore_errors=True)
        staged.mkdir(parents=True)
        with zipfile.ZipFile(wheel) as wheel:
            for entry in wheel.namelist():
                if pathlib.PurePosixPath(entry).name.startswith(NAMES) or entry.endswith(("LICENSE", "ThirdPartyNotices.txt")):
                    (staged / pathlib.PurePosixPath(entry).name).write_bytes(wheel.read(entry))
        if library(staged) is None:
            sys.exit("onnxruntime: the package contains no library for this system")
        os.replace(staged, folder)  # atomic


def main():
    cache = pathlib.Path(os.environ.get("LODESEEK_CACHE") or
                         pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "lodeseek")
    folder = cache / f"onnxruntime-{VERSION}"
    if library(folder) is None:
        if "--offline" in sys.argv[1:]:
            sys.exit("onnxruntime: the cache contains no library; run `make setup`")
        fetch(folder)
    print(library(folder))


if __name__ == "__main__":
    main()
