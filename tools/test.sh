#!/usr/bin/env bash
# Runs every test in one profile: text checks, unit, integration and doc tests, real clients.
# usage: test.sh
set -euo pipefail
. tools/env.sh --once

# Runs a command and prints how long it took.
stage() {
  local name=$1 started=$SECONDS
  shift
  "$@"
  echo "test: $name: $((SECONDS - started)) s"
}

echo "test: setup: $SECONDS s"
stage "text checks" tools/check_text.sh
# shellcheck disable=SC2086
stage "build of the tests" cargo test --workspace $LODESEEK_FEATURES --no-run
# shellcheck disable=SC2086
stage "unit, integration and doc tests" cargo test --workspace $LODESEEK_FEATURES
# shellcheck disable=SC2086
stage "build of the programs" cargo build -p lodeseek -p lodeseek-lab $LODESEEK_FEATURES
tools/interop.sh target/debug/lodeseek
