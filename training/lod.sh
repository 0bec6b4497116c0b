#!/usr/bin/env bash
# Trains DR2's grid over the judged topics of DATA/lod and exports every model in the layout of acordar/lod-dev-trained.toml.
# usage: lod.sh PROGRAM HOME DATA OUTPUT [TOKENS [RUN ...]]
#   PROGRAM: lodeseek-lab (`make release-lab`); HOME: DATA/lod loaded and indexed
#   TOKENS: maximum length of a text in training, indexing and querying (default 128); RUN: a run of plans/lod.toml (default all)
# An interrupted run can be restarted; finished steps are skipped.
set -euo pipefail
program=$(realpath "$1") home=$(realpath "$2") data=$(realpath "$3") output=$(realpath -m "$4")
tokens=${5:-128}
only=()
for run in "${@:6}"; do only+=(--only "$run"); done
cd "$(dirname "$0")/.."
python=$(bash training/environment.sh)
# A base with the length of this experiment, in tokens, which training, indexing and querying take from it.
base=$output/models/untuned
if [ ! -d "$base" ]; then
  mkdir -p "$output/models"
  rm -rf "$base.new" && cp -r "$(python3 tools/model.py)" "$base.new"
  sed -i 's/"max_seq_length": [0-9]*/"max_seq_length": '"$tokens"'/' "$base.new/sentence_bert_config.json"
  mv "$base.new" "$base"
fi
grep -q "\"max_seq_length\": $tokens\b" "$base/sentence_bert_config.json" ||
  { echo "lod.sh: the models in $output have another length than $tokens tokens; use another folder" >&2; exit 1; }
made() { [ -d "$output/data/$1" ] || "$program" --home "$home" training-data "$@" --output "$output/data/$1"; }
made titles --catalog "$data/eu-portal/datasets.jsonl" --with-home
made queries
made judged --topics "$data/lod/dev/queries.tsv" --qrels "$data/lod/dev/qrels.txt" --folds 5
export PYTHONPATH=training HF_HUB_OFFLINE=1
"$python" -m lodeseek_training train lod --base "$base" --data "$output/data" --output "$output/trained" "${only[@]}"
for best in "$output"/trained/*/best "$output"/trained/*/fold*/best; do
  [ -d "$best" ] || continue # no run of the kind
  model="$output/models${best#"$output/trained"}"
  model="${model%/best}"
  # Models newer than their checkpoint are kept.
  [ "$model" -nt "$best" ] || "$python" -m lodeseek_training export "$best" "$model"
done
# The shipped model beside them.
ln -sfn "$PWD/models/lodeseek-minilm" "$output/models/shipped"
