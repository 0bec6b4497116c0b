#!/usr/bin/env bash
# Builds the fuzz targets and runs them, one after the other, on one core, at low priority.
# usage: fuzz.sh [TARGET|all] [SECONDS]   (default: all, 60 s each; a target: a file in fuzz/fuzz_targets/)
#
# It works with the stable compiler: libFuzzer counts coverage, without a sanitizer, since the code is safe Rust. Findings are
# panics, failed comparisons, stack overflows, inputs that take more than TIMEOUT seconds, and inputs that need more than 1 GiB.
# Overflow checks and debug assertions are on.
#
# Results: fuzz/corpus/TARGET holds the inputs of later runs, fuzz/artifacts/TARGET the inputs that failed, fuzz/runs.tsv one line
# a run: target, seconds, executions, inputs in the corpus, outcome. To repeat a failure: fuzz.sh TARGET FILE
# Reads:  FUZZ_TIMEOUT  seconds for one input (default 20)
# The script ends with 1 if a target failed, and runs the others first.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${1:-all}
amount=${2:-60}
timeout=${FUZZ_TIMEOUT:-20}
host=$(rustc -vV | sed -n 's/^host: //p')
targets=$(cd fuzz/fuzz_targets && ls ./*.rs | sed 's|^\./||; s|\.rs$||')
if [ "$target" != all ]; then
  [ -f "fuzz/fuzz_targets/$target.rs" ] || { echo "fuzz: no target $target; targets: $(echo "$targets" | paste -s -d' ' -)" >&2; exit 2; }
  targets=$target
fi

# Coverage counters for libFuzzer. --target keeps them out of build scripts and procedural macros.
flags="--cfg fuzzing -Cpasses=sancov-module"
for option in -sanitizer-coverage-level=4 -sanitizer-coverage-inline-8bit-counters -sanitizer-coverage-pc-table \
  -sanitizer-coverage-trace-compares; do
  flags="$flags -Cllvm-args=$option"
done
selection=--bins
if [ "$target" != all ]; then selection="--bin $target"; fi
# shellcheck disable=SC2086
(cd fuzz && RUSTFLAGS=$flags cargo build --locked --profile fuzz --target "$host" $selection)
binaries=fuzz/target/$host/fuzz

if [ -f "$amount" ]; then
  exec "$binaries/$target" -timeout="$timeout" "$amount"
fi

python3 tools/fuzz_seeds.py fuzz/seeds
failed=""
for name in $targets; do
  corpus=fuzz/corpus/$name
  mkdir -p "$corpus" "fuzz/artifacts/$name" "fuzz/seeds/$name"
  log=$(mktemp)
  options="-max_total_time=$amount -timeout=$timeout -max_len=16384 -print_final_stats=1 -verbosity=0"
  if [ -f "fuzz/dictionaries/$name.dict" ]; then options="$options -dict=fuzz/dictionaries/$name.dict"; fi
  outcome=passed
  # shellcheck disable=SC2086
  nice -n 15 "$binaries/$name" $options -artifact_prefix="fuzz/artifacts/$name/" "$corpus" "fuzz/seeds/$name" 2>"$log" || outcome=failed
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  printf '%s\t%s\t%s\t%s\t%s\n' "$name" "$amount" "${executions:-?}" "$(find "$corpus" -type f | wc -l)" "$outcome" | tee -a fuzz/runs.tsv
  if [ "$outcome" = failed ]; then
    failed="$failed $name"
    tail -n 60 "$log" >&2
  fi
  rm -f "$log"
done
if [ -n "$failed" ]; then
  echo "fuzz: failed:$failed. The inputs are in fuzz/artifacts/; repeat one with tools/fuzz.sh TARGET FILE" >&2
  exit 1
fi
