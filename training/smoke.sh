#!/usr/bin/env bash
# The whole way on the project's own small data, in minutes on a CPU: training data, two stages, ONNX, an index, a ranking.
# Says nothing of quality; that is in RESULTS.md.
# usage: smoke.sh PROGRAM
set -euo pipefail
cd "$(dirname "$0")/.."
program=$(realpath "$1")
base=$(python3 .ci/model.py)
python=$(bash training/environment.sh)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
run() { printf '\n$ %s\n' "$*" | sed "s#$program#lodeseek#; s#$work/##g"; "$@"; }

run "$program" --home "$work/home" load testdata/catalog.ttl
run "$program" --home "$work/home" index
run "$program" --home "$work/home" training-data queries --output "$work/data/queries"
run "$program" --home "$work/home" training-data judged --topics testdata/queries.tsv --qrels testdata/qrels.txt --folds 3 --output "$work/data/judged"
export PYTHONPATH=training HF_HUB_OFFLINE=1
run "$python" -m lodeseek_training train smoke --base "$base" --data "$work/data" --output "$work/trained" --fold 0
run "$python" -m lodeseek_training export "$work/trained/st+ft/fold0/best" "$work/model" --parity
run "$python" -m lodeseek_training parity "$work/model"
run "$program" --home "$work/home" index --dpr "$work/model" --colbert "$work/model"
run "$program" --home "$work/home" search -k 2 --dpr "$work/model" --colbert "$work/model" "contamination of the atmosphere"
run "$program" --home "$work/home" index --dpr "$work/model" --onnx model_int8.onnx
run "$program" --home "$work/home" search -k 2 --dpr "$work/model" --onnx model_int8.onnx "pictures of pedestrians at night" || [ $? = 1 ]
echo "train-smoke: trained, exported, ranked"
