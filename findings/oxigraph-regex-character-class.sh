#!/usr/bin/env bash
# pyoxigraph 0.5.13 (SPARQL engine spareval): REGEX takes the syntax of the Rust crate regex, where `&&` in a character class is an
# intersection. XML Schema Part 2, appendix F, which XPath Functions 3.1, 5.6.1 extends, has no such operator: `[a&&b]` contains a, & and b.
# Seen: REGEX("&", "^[a&&b]$") is false. Nothing is reported: the pattern has another meaning.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" -q --disable-pip-version-check install pyoxigraph==0.5.13
"$folder/bin/python" - <<'PYTHON'
from pyoxigraph import Store

def matches(text, pattern):
    [row] = Store().query('SELECT (REGEX("%s", "%s") AS ?value) {}' % (text, pattern))
    return row[0].value

found = {text: matches(text, "^[a&&b]$") for text in ["a", "&", "b"]}
print(found)
assert found == {"a": "false", "&": "false", "b": "false"}, "the behaviour changed"
assert matches("&", "^[a&b]$") == "true"
PYTHON
