#!/usr/bin/env bash
# Tests a sample of mutants with cargo-mutants (`cargo install cargo-mutants --locked`) and lists the missed ones.
# usage: mutants.sh SHARD/SHARDS [OPTION ...]   (options of cargo-mutants, e.g. --package lodeseek-harvest)
# Results: mutants.out/. Missed mutants and timeouts are findings, not failures: the script exits with 0.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/env.sh
# Each mutant changes one file: incremental builds save most of the time, also in continuous integration.
export CARGO_INCREMENTAL=1
status=0
# shellcheck disable=SC2086
cargo mutants --workspace --test-workspace true --in-place --shard "$1" "${@:2}" --timeout 600 $LODESEEK_FEATURES -- --lib --bins || status=$?
case $status in
  0 | 2 | 3) ;; # none missed; missed mutants; timeouts
  *) exit "$status" ;;
esac
if [ -s mutants.out/missed.txt ]; then
  echo "mutants: missed:"
  cat mutants.out/missed.txt
fi
