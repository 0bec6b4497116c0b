#!/usr/bin/env bash
# ir-measures 0.4.3: its documentation defines the cutoff of RR as a limit of the depth, so that RR and RR@10 of two documents are one value.
# Seen: with equal scores one is 1.0 and the other 0.5. RR, P, nDCG and AP come from trec_eval, which puts the document id that sorts last
# first. RR with a cutoff comes from the script of MS MARCO, where the id that sorts first is first. One call reports RR@10 1.0 and P@1 0.0.
# trec_eval compares scores in single precision, so that 17.1234568 and 17.1234567 are equal for RR, but not for RR@10. No warning is printed.
# Issue 18 of its repository, from 2021, requests one order for all providers.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" -q --disable-pip-version-check install ir-measures==0.4.3 pytrec-eval-terrier==0.5.11
"$folder/bin/python" - <<'PYTHON'
import ir_measures
from ir_measures import P, RR, Qrel, ScoredDoc

MEASURES = [RR, RR @ 10, P @ 1]

def values(relevant, scores):
    judgements = [Qrel("1", document, int(document == relevant)) for document in scores]
    run = [ScoredDoc("1", document, score) for document, score in scores.items()]
    result = ir_measures.calc_aggregate(MEASURES, judgements, run)
    return [result[measure] for measure in MEASURES]

SCORES = {
    "different scores": {"a": 2.0, "b": 1.0},
    "equal scores": {"a": 1.0, "b": 1.0},
    "scores that differ in the seventh decimal": {"a": 17.1234568, "b": 17.1234567},
    "scores that differ in the eighth decimal": {"a": 0.50000001, "b": 0.5},
}
found = {(name, relevant): values(relevant, scores) for name, scores in SCORES.items() for relevant in "ab"}
for (name, relevant), result in found.items():
    print(f"{name} {SCORES[name]}, {relevant} is relevant: {dict(zip(map(str, MEASURES), result))}")
for name in SCORES:
    if name == "different scores":
        expected = [1.0, 1.0, 1.0], [0.5, 0.5, 0.0]
    else:
        expected = [0.5, 1.0, 0.0], [1.0, 0.5, 1.0]
    assert (found[name, "a"], found[name, "b"]) == expected, "the behaviour changed"
PYTHON
