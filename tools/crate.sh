#!/usr/bin/env bash
# Runs the unit, integration and doc tests of one library crate with all its features.
# usage: crate.sh NAME [ARGUMENT ...]   (NAME: a folder of crates/; arguments of cargo test, e.g. a test's name)
set -euo pipefail
cd "$(dirname "$0")/.."
name=$1
[ -f "crates/$name/Cargo.toml" ] || { echo "crate: crates/$name does not exist; crates: $(cd crates && echo *)" >&2; exit 2; }
# Only what the crate links is set up: RocksDB, ONNX Runtime, or neither.
LODESEEK_FEATURES=""
if grep -q '^rocksdb = ' "crates/$name/Cargo.toml"; then
  . tools/env.sh
elif grep -q '^onnx = ' "crates/$name/Cargo.toml"; then
  . tools/env.sh --without-rocksdb
fi
features=""
for feature in onnx rocksdb rocksdb-pkg-config; do
  if [ "$feature" = rocksdb-pkg-config ] && [ -z "$LODESEEK_FEATURES" ]; then continue; fi # LODESEEK_BUNDLED=1
  if grep -q "^$feature = " "crates/$name/Cargo.toml"; then features="$features,lodeseek-$name/$feature"; fi
done
exec cargo test -p "lodeseek-$name" --features "$features" "${@:2}"
