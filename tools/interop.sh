#!/usr/bin/env bash
# Tests a program with its documentation, real clients and reference implementations (tests/interop/).
# usage: interop.sh PROGRAM   (built with the feature `lab`)
# LODESEEK_DATA names the folder of research data; without it, the comparisons on that data are skipped.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/env.sh
program=$1

# Runs tests one after the other, and prints how long each took. Stops at the first failure.
run() {
  local name started
  for name in "$@"; do
    started=$SECONDS
    case $name in
      scikit) python3 "tests/interop/$name.py" "$program" ${LODESEEK_DATA:+"$LODESEEK_DATA"} ;;
      *) python3 "tests/interop/$name.py" "$program" ;;
    esac
    echo "interop: $name: $((SECONDS - started)) s"
  done
}

# Two at a time: tests have their own homes and ports, and the browser waits for much of its time.
run pages portal_operator &
first=$!
run documentation clients agents federation portal cluster export trec scikit &
second=$!
status=0
wait "$first" || status=$?
wait "$second" || status=$?
[ "$status" = 0 ] || exit "$status"
# Kills replicas under load, and counts failed requests: it needs both processors.
run replicas
