"""Writes a generated page of the documentation, or checks that it is up to date."""

import difflib
import sys


def write_or_check(path, text, command, check):
    """Writes `text` to `path`. With `check`, compares instead and prints the differences. Returns the exit status."""
    if not check:
        path.write_text(text)
        return 0
    before = path.read_text() if path.is_file() else ""
    if before == text:
        return 0
    sys.stderr.writelines(difflib.unified_diff(before.splitlines(True), text.splitlines(True), str(path), "generated"))
    print(f"docs: {path} is not up to date: run {command}", file=sys.stderr)
    return 1
