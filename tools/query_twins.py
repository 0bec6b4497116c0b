#!/usr/bin/env python3
"""Measures questions and translated queries against their original topics.

Usage: query_twins.py LODESEEK HOME FOLDER [OPTION ...]

LODESEEK is the program, HOME the indexed collection, FOLDER has queries.tsv and qrels.txt. Further options go to
`lodeseek run`. Prints nDCG@10 (gain 2^grade - 1), the ratio to the originals and a two-sided paired randomization test.
"""

import math
import random
import subprocess
import sys
import tempfile
from pathlib import Path

TWINS = Path(__file__).resolve().parent.parent / "testdata" / "query-twins"
DEPTH = 10
SAMPLES = 100_000
SEED = 1


def read_rows(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if line.strip()]


def read_qrels(path):
    qrels = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        topic, _, dataset, grade = line.split()
        qrels.setdefault(topic, {})[dataset] = max(0, int(grade))
    return qrels


def dcg(grades):
    return sum((2**grade - 1) / math.log2(place + 2) for place, grade in enumerate(grades[:DEPTH]))


def measure(program, home, topics, qrels, options):
    """Returns nDCG@10 by topic."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "topics.tsv"
        path.write_text("".join(f"{topic}\t{text}\n" for topic, text in topics.items()), encoding="utf-8")
        command = [program, "run", "--home", home, "--topics", str(path), *options]
        run = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    ranked = {topic: [] for topic in topics}
    for line in run.splitlines():
        topic, _, dataset, _, score, _ = line.split()
        ranked[topic].append((float(score), dataset))
    scores = {}
    for topic, found in ranked.items():
        found.sort(reverse=True)
        grades = [qrels[topic].get(dataset, 0) for _, dataset in found]
        best = dcg(sorted(qrels[topic].values(), reverse=True))
        scores[topic] = dcg(grades) / best if best else 0.0
    return scores


def p_value(differences):
    """Returns the share of random signs that give a mean difference at least as large."""
    generator = random.Random(SEED)
    observed = abs(sum(differences))
    reached = 0
    for _ in range(SAMPLES):
        total = sum(value if generator.random() < 0.5 else -value for value in differences)
        reached += abs(total) >= observed - 1e-12
    return reached / SAMPLES


def report(name, originals, twins):
    before = sum(originals[topic] for topic in twins) / len(twins)
    after = sum(twins.values()) / len(twins)
    p = p_value([twins[topic] - originals[topic] for topic in twins])
    print(f"{name}\t{len(twins)}\t{before:.4f}\t{after:.4f}\t{after / before:.3f}\t{p:.3f}")


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    program, home, folder, options = sys.argv[1], sys.argv[2], Path(sys.argv[3]), sys.argv[4:]
    qrels = read_qrels(folder / "qrels.txt")
    questions = dict(read_rows(TWINS / "questions.tsv"))
    translations = read_rows(TWINS / "translations.tsv")
    topics = {topic: text for topic, text in read_rows(folder / "queries.tsv") if topic in questions}
    originals = measure(program, home, topics, qrels, options)
    print("twins\ttopics\toriginal\ttwin\tratio\tp")
    report("questions", originals, measure(program, home, questions, qrels, options))
    translated = measure(program, home, {row[0]: row[2] for row in translations}, qrels, options)
    report("translations", originals, translated)
    for language in sorted({row[1] for row in translations}):
        report(language, originals, {row[0]: translated[row[0]] for row in translations if row[1] == language})


if __name__ == "__main__":
    main()
