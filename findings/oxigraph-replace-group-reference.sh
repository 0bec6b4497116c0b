#!/usr/bin/env bash
# pyoxigraph 0.5.13 (SPARQL engine spareval): in the replacement of REPLACE, `$` takes all following letters and digits as the name of a
# group. XPath Functions 3.1, 5.6.4 (fn:replace): `$` is followed by digits; `$1x` is the group 1 and the letter x, and `\$` is a dollar sign.
# Seen: REPLACE("abc", "(b)", "$1x") is "ac" instead of "abxc"; "$1$1" is right; REPLACE("abc", "b", "\\$") is "a\$c" instead of "a$c".
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" -q --disable-pip-version-check install pyoxigraph==0.5.13
"$folder/bin/python" - <<'PYTHON'
from pyoxigraph import Store

def evaluate(expression):
    [row] = Store().query("SELECT (%s AS ?value) {}" % expression)
    return row[0].value

found = {
    "group and letter": evaluate('REPLACE("abc", "(b)", "$1x")'),
    "group twice": evaluate('REPLACE("abc", "(b)", "$1$1")'),
    "escaped dollar": evaluate(r'REPLACE("abc", "b", "\\$")'),
}
print(found)
assert found == {"group and letter": "ac", "group twice": "abbc", "escaped dollar": "a\\$c"}, "the behaviour changed"
PYTHON
