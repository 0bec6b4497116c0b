#!/usr/bin/env bash
# Runs the quick checks without network, sudo or installation: formatting, clippy, unit tests, language, documentation.
# usage: check.sh
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/env.sh --offline
for component in fmt clippy; do
  cargo "$component" --version >/dev/null 2>&1 || { echo "check: cargo $component is missing; run \`rustup component add rustfmt clippy\`" >&2; exit 1; }
done
tools/check_text.sh
cargo fmt --all --check
# shellcheck disable=SC2086
cargo clippy --workspace --all-targets $LODESEEK_FEATURES -- -D warnings
# shellcheck disable=SC2086
cargo test --workspace --lib --bins $LODESEEK_FEATURES
