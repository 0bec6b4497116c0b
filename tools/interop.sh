#!/usr/bin/env bash
# Tests a program with its documentation, real clients and reference implementations (tests/interop/).
# usage: interop.sh PROGRAM   (lodeseek; lodeseek-lab is beside it)
# LODESEEK_DATA names the folder of research data; without it, the comparisons on that data are skipped.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/env.sh
program=$1
lab=$(dirname "$program")/lodeseek-lab

# Runs a test and prints how long it took.
run() {
  local name=$1 started=$SECONDS
  python3 "tests/interop/$name.py" "${@:2}"
  echo "interop: $name: $((SECONDS - started)) s"
}

for test in documentation clients agents federation expressions portal roundtrip pages portal_operator replicas cluster export trec; do
  run "$test" "$program"
done
run scikit "$lab" ${LODESEEK_DATA:+"$LODESEEK_DATA"}
