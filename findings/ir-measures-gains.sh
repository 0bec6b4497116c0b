#!/usr/bin/env bash
# ir-measures 0.4.3: its documentation defines `gains` as a parameter of one nDCG. Seen: a plain nDCG in the same call takes over these gains.
# Of two nDCG with one cutoff, one has the value 0. ir_measures.calc_aggregate puts the measures into a set, whose order differs from process
# to process. Thus one program reports different values for the same run and judgements. No warning is printed. Each measure in a call of its
# own is right.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" -q --disable-pip-version-check install ir-measures==0.4.3 pytrec-eval-terrier==0.5.11
cat > "$folder/evaluate.py" <<'PYTHON'
import ir_measures
from ir_measures import Qrel, ScoredDoc, nDCG

JUDGEMENTS = [Qrel("1", "a", 1), Qrel("1", "b", 2), Qrel("1", "c", 0)]
RUN = [ScoredDoc("1", "a", 3.0), ScoredDoc("1", "b", 2.0), ScoredDoc("1", "c", 1.0)]
STEEP = nDCG(gains={0: 0, 1: 1, 2: 10}) @ 10

def values(measures, provider=ir_measures):
    result = provider.calc_aggregate(measures, JUDGEMENTS, RUN)
    return [round(result[measure], 3) for measure in measures]
PYTHON
cd "$folder"
"$folder/bin/python" - <<'PYTHON'
import math
import os
import subprocess
import sys
from evaluate import STEEP, ir_measures, nDCG, values

def ndcg(gains):
    def dcg(ranking):
        return sum(gain / math.log2(rank + 2) for rank, gain in enumerate(ranking))
    return round(dcg(gains) / dcg(sorted(gains, reverse=True)), 3)

plain, steep = ndcg([1, 2, 0]), ndcg([1, 10, 0])
print(f"by the formula: nDCG {plain}, with gains {steep}")
assert [values([nDCG @ 5]), values([nDCG @ 10]), values([STEEP])] == [[plain], [plain], [steep]]
together = values([STEEP, nDCG @ 5], ir_measures.pytrec_eval)
same_cutoff = values([STEEP, nDCG @ 10], ir_measures.pytrec_eval)
print(f"nDCG with gains and nDCG@5 in one call: {together}; with one cutoff: {same_cutoff}")
assert together == [steep, steep] and same_cutoff == [0.0, steep], "the behaviour changed"

PROGRAM = "from evaluate import *; print(values([STEEP, nDCG @ 5]))"
RANDOM_ORDER = os.environ | {"PYTHONHASHSEED": "random"}
processes = [subprocess.check_output([sys.executable, "-c", PROGRAM], env=RANDOM_ORDER, text=True).strip() for _ in range(24)]
print(f"24 processes with ir_measures.calc_aggregate: {({value: processes.count(value) for value in sorted(set(processes))})}")
assert set(processes) == {str([steep, plain]), str([steep, steep])}, "the behaviour changed"
PYTHON
