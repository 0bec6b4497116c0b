#!/usr/bin/env python3
"""Runs the notebooks of python/notebooks/ with nbclient, in the root of the repository.

usage: notebooks.py [NAME ...]   (in an environment with the wheels, nbclient and ipykernel)

An error of a cell, or a failed assertion in it, is a failure. A notebook that trains is skipped unless LODESEEK_TRAINING_PYTHON names a Python with the
packages of training (`bash training/environment.sh` prints one), and LODESEEK_PROGRAM a build of `lodeseek` with `lodeseek-lab` beside it.
"""

import os
import pathlib
import sys
import time

import nbclient
import nbformat

ROOT = pathlib.Path(__file__).resolve().parents[2]


def can_train():
    return "LODESEEK_PROGRAM" in os.environ and "LODESEEK_TRAINING_PYTHON" in os.environ


def main():
    failed = 0
    for path in sorted((ROOT / "python" / "notebooks").glob("*.ipynb")):
        if sys.argv[1:] and path.stem not in sys.argv[1:]:
            continue
        notebook = nbformat.read(path, as_version=4)
        if notebook.metadata.get("lodeseek", {}).get("needs") == "training" and not can_train():
            print(f"notebook {path.name} ... SKIPPED: LODESEEK_PROGRAM or LODESEEK_TRAINING_PYTHON is not set")
            continue
        if any(cell.get("outputs") for cell in notebook.cells):
            print(f"notebook {path.name} ... FAIL: it has outputs; remove them before it is committed")
            failed += 1
            continue
        begin = time.monotonic()
        try:
            nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(ROOT)}}).execute()
        except nbclient.exceptions.CellExecutionError as error:
            print(f"notebook {path.name} ... FAIL: {error}")
            failed += 1
        else:
            print(f"notebook {path.name} ... ok, {time.monotonic() - begin:.1f} s")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
