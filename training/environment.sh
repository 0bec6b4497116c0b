#!/usr/bin/env bash
# Prints a Python with the packages of requirements.lock, installed into the cache folder. torch takes some gigabytes.
# LODESEEK_TRAINING_PYTHON: another Python to use instead.
set -euo pipefail
if [ -n "${LODESEEK_TRAINING_PYTHON:-}" ]; then echo "$LODESEEK_TRAINING_PYTHON"; exit; fi
here=$(cd "$(dirname "$0")" && pwd)
cache="${LODESEEK_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/lodeseek}"
folder="$cache/training-$(sha256sum "$here/requirements.lock" | cut -c1-12)"
if [ ! -d "$folder" ]; then
  echo "training: installing torch and the other packages of requirements.lock (some gigabytes)" >&2
  rm -rf "$folder.new"
  python3 -m venv "$folder.new"
  "$folder.new/bin/python" -m pip install -q -r "$here/requirements.lock" >&2
  mv "$folder.new" "$folder"
fi
echo "$folder/bin/python"
