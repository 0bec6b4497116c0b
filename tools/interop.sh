#!/usr/bin/env bash
# Tests a program with its documentation, real clients and reference implementations (tests/interop/).
# usage: interop.sh PROGRAM   (built with the feature `lab`)
# LODESEEK_DATA names the folder of research data; without it, the comparisons on that data are skipped.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/env.sh
program=$1
for test in documentation clients agents federation portal pages portal_operator replicas cluster export trec; do
  started=$SECONDS
  python3 "tests/interop/$test.py" "$program"
  echo "interop: $test: $((SECONDS - started)) s"
done
started=$SECONDS
python3 tests/interop/scikit.py "$program" ${LODESEEK_DATA:+"$LODESEEK_DATA"}
echo "interop: scikit: $((SECONDS - started)) s"
