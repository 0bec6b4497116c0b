#!/usr/bin/env bash
# Runs every test in one profile: text checks, unit, integration and doc tests, library crates without features, real clients.
# usage: test.sh
set -euo pipefail
. tools/env.sh
tools/check_text.sh
# shellcheck disable=SC2086
cargo test --workspace $LODESEEK_FEATURES --features lodeseek/lab
echo "test: library crates without features"
cargo test --workspace --no-default-features --lib
# shellcheck disable=SC2086
cargo build $LODESEEK_FEATURES --features lodeseek/lab
tools/interop.sh target/debug/lodeseek
