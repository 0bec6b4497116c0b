#!/usr/bin/env bash
# The demo: what a newcomer sees first.
set -euo pipefail
program=$1
home=$2
run() { printf '\n$ lodeseek %s\n' "$*"; "$program" --home "$home" "$@" 2>&1; }

rm -rf "$home"
run load testdata/catalog.ttl
run index
run search -k 2 nitrogen reduction plan
run search -k 2 "Where can I find pictures of pedestrians crossing a street at night?"
run search -k 1 --explain ginkgo biloba
printf '\nServe it:  %s --home %s serve    then open http://localhost:7878/\n' "$program" "$home"
if [ -t 0 ] && [ -t 1 ]; then
  printf 'Serving now; Ctrl-C ends it.\n'
  "$program" --home "$home" serve
fi
