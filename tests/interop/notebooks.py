#!/usr/bin/env python3
"""Runs the notebooks of python/notebooks/ with nbclient, in the root of the repository.

usage: notebooks.py   (in an environment with the wheels, nbclient and ipykernel)

An error of a cell, or a failed assertion in it, is a failure.
"""

import pathlib
import sys
import time

import nbclient
import nbformat

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    failed = 0
    for path in sorted((ROOT / "python" / "notebooks").glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
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
