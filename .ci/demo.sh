#!/usr/bin/env bash
# The demo: what a newcomer sees first.
set -euo pipefail
program=$1
home=$2
run() { printf '\n$ lodeseek %s\n' "$*"; "$program" --home "$home" "$@"; }

rm -rf "$home"
run load testdata/catalog.ttl
run index
run search -k 2 nitrogen reduction plan
run search -k 2 "which sculptures were made of bronze?"
run search -k 1 --explain drilling depth
printf '\nServe it:  %s --home %s serve    then open http://localhost:7878/\n' "$program" "$home"
if [ -t 0 ] && [ -t 1 ]; then
  printf 'Serving now; Ctrl-C ends it.\n'
  "$program" --home "$home" serve
fi
