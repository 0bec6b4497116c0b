#!/usr/bin/env bash
# Trains the shipped encoder and exports it, in fp32 and in int8.
# usage: datafinder.sh PROGRAM HOME LOD DATA OUTPUT
#   PROGRAM: lodeseek-lab (`make release-lab`); HOME: DATA/datafinder/collection.jsonl loaded and indexed; LOD: home of DATA/lod
# An interrupted run can be restarted; finished steps are skipped.
set -euo pipefail
program=$(realpath "$1") home=$(realpath "$2") lod=$(realpath "$3") data=$(realpath "$4") output=$(realpath -m "$5")
cd "$(dirname "$0")/.."
base=$(python3 tools/model.py)
python=$(bash training/environment.sh)
made() { [ -d "$output/data/$2" ] || "$program" --home "$1" training-data "${@:2}" --output "$output/data/$2"; }
papers=(--papers "$data/datafinder/mentions.jsonl" --topics "$data/datafinder/dev.jsonl" --qrels "$data/datafinder/dev.qrels")
made "$home" mentions --queries "$data/datafinder/train_keyphrases.txt" "${papers[@]}"
made "$home" crops "${papers[@]}"
made "$lod" titles --catalog "$data/eu-portal/datasets.jsonl" --with-home
made "$lod" queries
export PYTHONPATH=training HF_HUB_OFFLINE=1
"$python" -m lodeseek_training train datafinder --base "$base" --data "$output/data" --output "$output/trained"
[ -d "$output/models/mentions" ] || "$python" -m lodeseek_training export "$output/trained/mentions/best" "$output/models/mentions" --parity
[ -d "$output/models/mentions-int8" ] || "$python" -m lodeseek_training export "$output/trained/mentions/best" "$output/models/mentions-int8" --int8-only
