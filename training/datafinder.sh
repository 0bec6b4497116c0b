#!/usr/bin/env bash
# Trains the bi-encoder on DATA/datafinder/mentions.jsonl and exports it, whole and in eight bits alone.
# usage: datafinder.sh PROGRAM HOME DATA OUTPUT   (HOME: DATA/datafinder/collection.jsonl loaded and indexed)
# Stopped anywhere, it goes on from there.
set -euo pipefail
program=$(realpath "$1") home=$(realpath "$2") data=$(realpath "$3") output=$(realpath -m "$4")
cd "$(dirname "$0")/.."
base=$(python3 .ci/model.py)
python=$(bash training/environment.sh)
for kind in mentions abstracts; do
  [ -d "$output/data/$kind" ] || "$program" --home "$home" training-data $kind --papers "$data/datafinder/mentions.jsonl" \
    --topics "$data/datafinder/dev.jsonl" --qrels "$data/datafinder/dev.qrels" --output "$output/data/$kind"
done
export PYTHONPATH=training HF_HUB_OFFLINE=1
"$python" -m lodeseek_training train datafinder --base "$base" --data "$output/data" --output "$output/trained"
[ -d "$output/models/mentions" ] || "$python" -m lodeseek_training export "$output/trained/mentions/best" "$output/models/mentions" --parity
[ -d "$output/models/mentions-int8" ] || "$python" -m lodeseek_training export "$output/trained/mentions/best" "$output/models/mentions-int8" --int8-only
