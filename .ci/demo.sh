#!/usr/bin/env bash
# The demo: what a newcomer sees first. With the shipped model where ONNX Runtime can be had; without it by words alone.
set -euo pipefail
program=$1
home=$2
run() { printf '\n$ lodeseek %s\n' "$*"; "$program" --home "$home" "$@" 2>&1; }

rm -rf "$home"
meaning=()
if [ -n "${ORT_DYLIB_PATH:-}" ]; then
  meaning=(--dpr models/lodeseek-minilm --colbert models/lodeseek-minilm)
else
  echo "demo: no ONNX Runtime: words alone are compared"
fi
editor=()
if folder=$(python3 .ci/editor.py); then
  editor=(--editor "$folder")
else
  echo "demo: NO SPARQL EDITOR: npm's packages cannot be had; the page /sparql has its plain form"
fi
run load testdata/catalog.ttl
run index "${meaning[@]}"
run search -k 2 nitrogen reduction plan
run search -k 2 "${meaning[@]}" "Where can I find pictures of pedestrians crossing a street at night?"
run search -k 1 --explain ginkgo biloba
if [ ${#meaning[@]} -gt 0 ]; then
  printf '\nNone of these words is in any dataset; vectors find what is near in meaning:\n'
  run search -k 1 "${meaning[@]}" "contamination of the atmosphere"
fi
printf '\nServe it:  %s --home %s serve %s    then open http://localhost:7878/\n' "$program" "$home" "${meaning[*]} ${editor[*]}"
if [ -t 0 ] && [ -t 1 ]; then
  printf 'Serving now; Ctrl-C ends it.\n'
  "$program" --home "$home" serve "${meaning[@]}" "${editor[@]}"
fi
