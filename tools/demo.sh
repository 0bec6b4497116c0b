#!/usr/bin/env bash
# Demo: loads testdata/, indexes it, searches it and, in a terminal, serves it. Without ONNX Runtime, ranking by words only.
# usage: demo.sh PROGRAM HOME
set -euo pipefail
program=$1
home=$2
run() { printf '\n$ lodeseek %s\n' "$*"; "$program" --home "$home" "$@" 2>&1; }

rm -rf "$home"
editor=()
if folder=$(python3 tools/editor.py); then
  editor=(--editor "$folder")
else
  echo "demo: NO SPARQL EDITOR: npm packages could not be installed; the page /sparql shows a plain form"
fi
run load testdata/catalog.ttl
run index
run search -k 2 nitrogen reduction plan
run search -k 2 "Where can I find pictures of pedestrians crossing a street at night?"
run search -k 1 --explain ginkgo biloba
if [ -n "${ORT_DYLIB_PATH:-}" ]; then
  printf '\nNo dataset contains any of these words; embeddings find datasets similar in meaning:\n'
  run search -k 1 "contamination of the atmosphere"
fi
printf '\nServe it:  %s --home %s serve %s    then open http://localhost:7878/\n' "$program" "$home" "${editor[*]}"
if [ -t 0 ] && [ -t 1 ]; then
  printf 'Serving; press Ctrl-C to stop.\n'
  "$program" --home "$home" serve "${editor[@]}"
fi
