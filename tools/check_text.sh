#!/usr/bin/env bash
# Checks that compile nothing: language of the sources, documentation, crate diagram, and the tests of the checks themselves.
# usage: check_text.sh
set -euo pipefail
cd "$(dirname "$0")/.."
python3 -m unittest discover -q -s tests/tools
python3 tools/language_check.py
python3 tools/docs_check.py
python3 tools/crate_diagram.py --check
