#!/usr/bin/env bash
# Runs every test in one profile: text checks, unit, integration and doc tests, real clients. Checks the library crates without features.
# usage: test.sh
set -euo pipefail
. tools/env.sh
tools/check_text.sh
# shellcheck disable=SC2086
cargo test --workspace $LODESEEK_FEATURES --features lodeseek/lab
echo "test: checking the library crates without features"
# Without them the crates have error messages in place of a store on disk and of models, so that compiling is enough.
cargo check --workspace --no-default-features --lib
# shellcheck disable=SC2086
cargo build $LODESEEK_FEATURES --features lodeseek/lab
tools/interop.sh target/debug/lodeseek
