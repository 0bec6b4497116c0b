#!/usr/bin/env bash
# Builds the Python wheels: the program with its client, the included model, the plugins of PyTerrier and ir_datasets.
# usage: wheel.sh PROFILE FOLDER   (PROFILE: dev or release)
# The platform tag of the program is that of the system libraries it needs: build in manylinux_2_28 for glibc 2.28.
set -euo pipefail
[ $# = 2 ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
profile=$1
mkdir -p "$2"
output=$(realpath "$2")
cd "$(dirname "$0")/.."
if [ "$profile" = release ]; then . tools/env.sh --release; else . tools/env.sh; fi
tools=$(python3 -c 'import pathlib, sys; sys.path.insert(0, "tools"); import packages; print(packages.cached("wheel", sys.argv[1]))' \
  "${LODESEEK_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/lodeseek}")

version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
for project in python/*/pyproject.toml; do
  declared=$(sed -n 's/^version = "\(.*\)"/\1/p' "$project")
  if [ "${declared:-$version}" != "$version" ]; then
    echo "wheel: $project has version $declared, Cargo.toml has $version; change the former" >&2
    exit 1
  fi
done

rm -f "$output"/*.whl
# shellcheck disable=SC2086
(cd python/lodeseek && "$tools/bin/maturin" build --locked --profile "$profile" $LODESEEK_FEATURES --out "$output" >&2)
for project in python/*/pyproject.toml; do
  if grep -q '^build-backend = "hatchling.build"' "$project"; then
    (cd "$(dirname "$project")" && PYTHONPATH=$tools python3 -m hatchling build --target wheel --directory "$output" >&2)
  fi
done
ls "$output"/*.whl
