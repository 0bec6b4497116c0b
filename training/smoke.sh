#!/usr/bin/env bash
# Smoke test of training on the small test data, minutes on a CPU: training data, two stages, ONNX export, index, ranking.
# It measures no quality; see RESULTS.md.
# usage: smoke.sh PROGRAM   (lodeseek; lodeseek-lab is beside it)
set -euo pipefail
cd "$(dirname "$0")/.."
program=$(realpath "$1")
lab=$(dirname "$program")/lodeseek-lab
base=$(python3 tools/model.py)
python=$(bash training/environment.sh)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
run() { printf '\n$ %s\n' "$*" | sed "s#$lab#lodeseek-lab#; s#$program#lodeseek#; s#$work/##g"; "$@"; }

run "$program" --home "$work/home" load testdata/catalog.ttl
run "$program" --home "$work/home" index --ranking words
run "$lab" --home "$work/home" training-data queries --output "$work/data/queries"
run "$lab" --home "$work/home" training-data judged --topics testdata/queries.tsv --qrels testdata/qrels.txt --folds 3 --output "$work/data/judged"
export PYTHONPATH=training HF_HUB_OFFLINE=1
run "$python" -m lodeseek_training train smoke --base "$base" --data "$work/data" --output "$work/trained" --fold 0
run "$python" -m lodeseek_training export "$work/trained/st+ft/fold0/best" "$work/model" --parity
run "$python" -m lodeseek_training parity "$work/model"
run "$python" -m lodeseek_training export "$work/trained/mean/fold0/best" "$work/mean" --parity
run "$python" -m lodeseek_training parity "$work/mean"
# A random language model writes random queries: only the command is tested, not the queries.
"$python" - "$base" "$work/t5" <<'PYTHON'
import sys, transformers
tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_file=f"{sys.argv[1]}/tokenizer.json", pad_token="[PAD]", eos_token="[SEP]", unk_token="[UNK]")
config = transformers.T5Config(vocab_size=len(tokenizer), d_model=32, d_kv=8, d_ff=64, num_layers=1, num_heads=4,
                               pad_token_id=tokenizer.pad_token_id, eos_token_id=tokenizer.eos_token_id, decoder_start_token_id=tokenizer.pad_token_id)
transformers.set_seed(1)
transformers.T5ForConditionalGeneration(config).save_pretrained(sys.argv[2])
tokenizer.save_pretrained(sys.argv[2])
PYTHON
run "$python" -m lodeseek_training generate "$work/data/queries" --model "$work/t5" --output "$work/written.tsv" --queries 2
run "$lab" --home "$work/home" training-data queries --written "$work/written.tsv" --output "$work/data/written" || [ $? = 1 ]
run "$program" --home "$work/home" index --dpr "$work/model" --colbert "$work/model"
run "$program" --home "$work/home" search -k 2 "contamination of the atmosphere"
run "$program" --home "$work/home" index --dpr "$work/model" --onnx model_int8.onnx
run "$program" --home "$work/home" search -k 2 "pictures of pedestrians at night" || [ $? = 1 ]
echo "train-smoke: trained, exported, ranked"
