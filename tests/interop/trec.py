#!/usr/bin/env python3
"""Comparison of `lodeseek evaluate` with pytrec_eval and ir_measures, value by value.

usage: trec.py PROGRAM [DATA]

Compares random runs and judgements with many special cases. With DATA, which takes minutes more, all runs in DATA/acordar and
their published scores are compared too. The reference programs are installed from PyPI into the cache folder. If they cannot be
installed, the comparison is skipped with a message. The last lines count the compared values; any difference fails.
"""

import ctypes
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import packages

CACHE = pathlib.Path(os.environ.get("LODESEEK_CACHE") or
                     pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "lodeseek")
PACKAGES = packages.described("trec")
ROOT = pathlib.Path(__file__).resolve().parents[2]
TOLERANCE = 1e-6
# Measures of pytrec_eval, which sorts the runs and stores scores in single precision.
TREC = ["nDCG", "nDCG@1", "nDCG@5", "nDCG@10", "nDCG@100", "AP", "AP@5", "AP@10", "AP(rel=2)", "AP(rel=2)@10", "P@5", "P@100",
        "P(rel=2)@5", "R@5", "R@100", "R(rel=2)@10", "RR", "RR(rel=2)"]
# Measures of ir_measures' other providers, which break ties differently: they get a run without ties in trec_eval's order.
OTHERS = ["RR@2", "RR@10", "RR(rel=2)@5", "Judged", "Judged@1", "Judged@10", "Judged@100"]
# Exponential gain: pytrec_eval with other gains and, on random runs if perl is installed, gdeval, which prints five digits.
EXPONENTIAL = ["nDCG(dcg='exp-log2')", "nDCG(dcg='exp-log2')@1", "nDCG(dcg='exp-log2')@5", "nDCG(dcg='exp-log2')@10"]
GAINS = "{1:1,2:3,3:7,4:15}"


def install():
    """Returns the folder of the reference programs, or None if they cannot be installed."""
    try:
        return packages.cached("trec", CACHE)
    except packages.PackageError as reason:
        print(reason, file=sys.stderr)
        return None


def read(path, document, number, kind):
    table = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        columns = line.split()
        if columns:
            table.setdefault(columns[0], {})[columns[document]] = kind(columns[number])
    return table


def rounded(score, precision):
    return ctypes.c_float(score).value if precision == "single" else score


def without_ties(run, precision):
    """Returns the run in trec_eval's order with distinct scores."""
    ranked = {}
    for topic, scores in run.items():
        order = sorted(scores, key=lambda document: (rounded(scores[document], precision), document.encode()))
        ranked[topic] = {document: float(place) for place, document in enumerate(order)}
    return ranked


def program(executable, qrels, runs, *options):
    measures = ",".join(TREC + OTHERS + EXPONENTIAL)
    command = [executable, "evaluate", str(qrels), *map(str, runs), "--metrics", measures, "--format", "json", *options]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"FAIL: {' '.join(command)}: {done.stderr}")
    return {run["run"]: run for run in json.loads(done.stdout)["runs"]}


class Comparison:
    def __init__(self):
        self.values = self.means = self.differences = 0

    def same(self, what, ours, theirs, tolerance=TOLERANCE):
        if not abs(ours - theirs) <= tolerance:
            self.differences += 1
            if self.differences <= 20:
                print(f"trec: {what}: {ours} here, {theirs} there")

    def reference(self, qrels, run, precision, gdeval):
        """Yields (measure by Lodeseek's name, topic, value, tolerance) of the reference programs."""
        import ir_measures
        ranked = without_ties(run, precision)
        sorted_by_them = run if precision == "single" else ranked
        # pytrec_eval crashes on topics whose grades are all below 0; zeros mean the same to every measure.
        safe = {topic: grades if max(grades.values()) >= 0 else dict.fromkeys(grades, 0) for topic, grades in qrels.items()}
        gains = {f"nDCG(gains={GAINS})" + name.removeprefix("nDCG(dcg='exp-log2')"): name for name in EXPONENTIAL}
        groups = [({name: name for name in TREC}, sorted_by_them, TOLERANCE), ({name: name for name in OTHERS}, ranked, TOLERANCE),
                  (gains, sorted_by_them, TOLERANCE)]
        if gdeval:
            groups.append(({name: name for name in EXPONENTIAL if "@" in name}, ranked, 6e-6))
        for names, seen, tolerance in groups:
            measures = {ir_measures.parse_measure(name): ours for name, ours in names.items()}
            assert len(measures) == len(names)
            for found in ir_measures.iter_calc(list(measures), safe, seen):
                yield measures[found.measure], found.query_id, found.value, tolerance

    def collection(self, executable, name, qrels_path, paths, gdeval=None):
        before = self.values
        qrels = read(qrels_path, 2, 3, int)
        for precision in ("single", "double"):
            options = ["--scores", precision]
            ours = program(executable, qrels_path, paths, "--per-query", *options)
            silent = program(executable, qrels_path, paths, "--average", "intersection", *options)
            for path in paths:
                run = read(path, 2, 4, float)
                mine, values, seen = ours[path.stem], {}, set()
                for measure, topic, theirs, tolerance in self.reference(qrels, run, precision, gdeval):
                    self.same(f"{path.name}, topic {topic}, {measure}, {precision}", mine["per_query"][topic][measure], theirs, tolerance)
                    self.values += 1
                    seen.add((measure, topic))
                    if tolerance == TOLERANCE:
                        values.setdefault(measure, {})[topic] = theirs
                expected = {(measure, topic) for measure in TREC + OTHERS + EXPONENTIAL for topic in qrels}
                assert seen == expected, f"{path.name}: not everything was compared"
                for measure, by_topic in values.items():
                    both = [value for topic, value in by_topic.items() if topic in run]
                    self.same(f"{path.name}, {measure}, all", mine["means"][measure], sum(by_topic.values()) / len(by_topic))
                    self.same(f"{path.name}, {measure}, intersection", silent[path.stem]["means"][measure], sum(both) / len(both))
                    self.means += 2
        print(f"trec {name} ... {len(paths)} runs, {self.values - before:,} values compared")


def awkward(folder, seed):
    """Writes runs with ties, near ties, both zeros and extreme scores, and judgements with grades below 0. Some topics have no
    results, no relevant documents or no judgements; some documents are only judged or only ranked."""
    rng = random.Random(seed)
    documents = [f"d{number}" for number in range(60)] + [f"dé{number}" for number in range(10)] + ["Z", "z", "~", "10", "9", "é", "文"]
    topics = [str(number) for number in range(1, 41)]
    separators = [" ", "\t", "  \t"]
    with open(folder / "qrels.txt", "w", encoding="utf-8") as out:
        for topic in topics:
            grades = rng.choice([[0], [-1, 0], [-2, -1], [0, 1], [0, 1, 2], [-1, 0, 1, 2, 3, 4], [4]])
            for document in rng.sample(documents, rng.randint(1, 60)):
                out.write(rng.choice(separators).join([topic, "0", document, str(rng.choice(grades))]) + "\n")
    scores = [
        lambda: float(rng.randint(-2, 2)), lambda: rng.random(), lambda: rng.choice([0.0, -0.0, 1e-300, -1e-300]),
        lambda: 1 + rng.randint(0, 30) * 1e-8, lambda: rng.choice([1e30, 1e-30, -1e30]) * rng.random(),
    ]
    paths = []
    for number in range(30):
        paths.append(folder / f"random{number}.run")
        with open(paths[-1], "w", encoding="utf-8") as out:
            for topic in rng.sample(topics, rng.randint(20, 40)) + ["1000"]:
                score = rng.choice(scores)
                chosen = rng.sample(documents, rng.choice([1, 3, 10, 60]))
                for rank, document in enumerate(chosen, 1):
                    out.write(f"{topic} Q0 {document} {rank} {score()!r} random\n")
    return folder / "qrels.txt", paths


def published(executable, data):
    """Compares the published scores, four digits each, in both precisions; returns the smaller number of differences."""
    def path(system):
        source, name = system.split(" ", 1)
        if source == "ACORDAR":
            return data / "runs" / (re.sub(r" \[(.)\]", r".\1", name) + ".run")
        return data / "dr2-runs" / f"{name}.run" if source == "DR2" else data / "cds-runs" / f"{source}.acordar_{name}.run"
    lines = [line.split("\t") for line in (data / "published_scores.tsv").read_text().splitlines()[1:]]
    paths = {line[0]: path(line[0]) for line in lines}
    measures = ["nDCG@5", "nDCG@10", "AP@5", "AP@10"]
    wrong = {}
    for precision in ("single", "double"):
        command = [executable, "evaluate", str(data / "qrels.txt"), *map(str, paths.values()), "--scores", precision, "--format", "json"]
        micro, macro = (
            {run["run"]: run for run in json.loads(subprocess.run([*command, *more], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)["runs"]}
            for more in ([], ["--folds", str(data / "folds")]))
        wrong[precision] = []
        for line in lines:
            stem = paths[line[0]].stem
            for run in (micro[stem], macro[stem]):
                assert run["topics"] == 493 and run["topics"] - run["missing_topics"] == int(line[9]), stem
            ours = [table[stem]["means"][measure] for table in (micro, macro) for measure in measures]
            wrong[precision] += [(line[0], value, printed) for value, printed in zip(ours, line[1:9]) if f"{value:.4f}" != printed]
        print(f"trec published ... {len(lines)} systems, {len(lines) * 8} scores, {len(wrong[precision])} differ with {precision} precision")
        for system, value, printed in wrong[precision]:
            print(f"trec published: {system}: {value:.6f} here, {printed} there")
    return min(map(len, wrong.values()))


def main():
    executable = str(pathlib.Path(sys.argv[1]).resolve())
    data = pathlib.Path(sys.argv[2]) / "acordar" if len(sys.argv) > 2 else None
    failed, comparison = 0, Comparison()
    references = install()
    if references:
        sys.path.insert(0, str(references))
        for seed in range(3):
            with tempfile.TemporaryDirectory(prefix="lodeseek-trec-") as folder:
                qrels, paths = awkward(pathlib.Path(folder), seed)
                comparison.collection(executable, f"random {seed}", qrels, paths, gdeval=shutil.which("perl"))
        if data and data.exists():
            for folder in ("runs", "dr2-runs", "cds-runs"):
                comparison.collection(executable, f"acordar/{folder}", data / "qrels.txt", sorted((data / folder).glob("*.run")))
    else:
        print(f"trec ... SKIPPED: {PACKAGES} could not be installed from PyPI")
    if data and data.exists():
        failed += published(executable, data)
    elif data:
        print(f"trec acordar ... SKIPPED: {data} does not exist")
    failed += comparison.differences
    print(f"{comparison.values:,} values and {comparison.means:,} means compared, {failed} differences")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
