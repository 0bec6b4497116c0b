#!/usr/bin/env python3
"""Comparison of `lodeseek-lab reproduce iclr` with scikit-learn: TF-IDF, SVD with and without L2 norm, folds and votes.

usage: scikit.py PROGRAM [DATA]   (PROGRAM: lodeseek-lab)

Compares random papers and, with DATA, those in DATA/iclr. scikit-learn is installed from PyPI into the cache folder, unless this
Python or the one in LODESEEK_SKLEARN_PYTHON has it. If it cannot be installed, the comparison is skipped with a message.
An accuracy that differs by more than 0.1 points fails, and so does a mean over other folds.
"""

import csv
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import packages

CACHE = pathlib.Path(os.environ.get("LODESEEK_CACHE") or
                     pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "lodeseek")
PACKAGES = packages.described("scikit")
ROOT = pathlib.Path(__file__).resolve().parents[2]
POINTS = 0.1


def install():
    """Makes scikit-learn importable. If false, it cannot be installed."""
    named = os.environ.get("LODESEEK_SKLEARN_PYTHON")
    if named and pathlib.Path(named).resolve() != pathlib.Path(sys.executable).resolve() and "LODESEEK_SKLEARN_RUNS" not in os.environ:
        os.execve(named, [named, *sys.argv], {**os.environ, "LODESEEK_SKLEARN_RUNS": "1"})
    try:
        import sklearn
        return True
    except ImportError:
        pass
    try:
        folder = packages.cached("scikit", CACHE)
    except packages.PackageError as reason:
        print(reason, file=sys.stderr)
        return False
    sys.path.insert(0, str(folder))
    return True


def papers(seed):
    """Returns papers of seven fields with specific and common words; a fifth has no label, and some classes are rare."""
    rng = random.Random(seed)
    common = [f"common{number}" for number in range(300)] + ["café", "x_1", "l'été", "a", "42", "ÉTÉ", "state-of-the-art"]
    fields = [[f"field{field}word{number}" for number in range(120)] for field in range(7)]
    rows = []
    for number in range(400):
        field = min(int(rng.expovariate(0.45)), 6)
        words = [rng.choice(fields[field if rng.random() < 0.8 else rng.randrange(7)]) if rng.random() < 0.12 else
                 common[min(int(rng.expovariate(0.02)), len(common) - 1)] for _ in range(rng.randint(40, 160))]
        label = "unlabeled" if rng.random() < 0.2 else f"label {6 - field}"
        rows.append({"id": str(number), "abstract": " ".join(words), "keywords": [], "labels": label})
    return rows


def labelled(data):
    rows = [json.loads(line) for line in (data / "iclr_2017_2018.jsonl").read_text(encoding="utf-8").splitlines()]
    table = json.loads((data / "keyword_labels.json").read_text(encoding="utf-8"))
    for number, row in enumerate(rows, 1):
        listed = [keyword for keyword in map(str.lower, row["keywords"]) if keyword in table["keyword_frequency"]]
        rarest = min(listed, key=table["keyword_frequency"].get, default=None)
        row["labels"] = table["keyword_to_label"].get(rarest, "unlabeled")
        row["id"] = str(number)
    return rows


def reference(rows):
    """Returns accuracy and correctness of each labelled paper by row, the folds, and the papers' ids."""
    import warnings

    import numpy
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.model_selection import StratifiedKFold, cross_val_predict, cross_validate
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.preprocessing import normalize

    warnings.filterwarnings("ignore", message="The least populated class")
    labels = numpy.array([row["labels"] for row in rows])
    known = labels != "unlabeled"
    tfidf = TfidfVectorizer(sublinear_tf=True).fit_transform([row["abstract"] for row in rows])
    svd = TruncatedSVD(n_components=100, random_state=42, algorithm="arpack").fit_transform(tfidf)
    folds = list(StratifiedKFold(10).split(labels[known], labels[known]))
    results = {}
    for name, vectors in {"TF-IDF": tfidf, "SVD": svd, "SVD, L2": normalize(svd)}.items():
        neighbors = KNeighborsClassifier(n_neighbors=10, algorithm="brute", metric="euclidean")
        scores = cross_validate(neighbors, vectors[known], labels[known], cv=10)["test_score"]
        correct = cross_val_predict(neighbors, vectors[known], labels[known], cv=10) == labels[known]
        results[name] = scores.mean(), correct
    return results, folds, [row["id"] for row, is_known in zip(rows, known) if is_known]


def ours(executable, papers, data, folder):
    command = [executable, "reproduce", str(ROOT / "acordar/iclr.toml"), "--data", str(data), "--papers", str(papers),
               "--output", str(folder / "results.md"), "--by-topic", str(folder / "papers.tsv")]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"FAIL: {' '.join(command)}: {done.stderr}")
    correct, printed = {}, {}
    with open(folder / "papers.tsv", encoding="utf-8") as lines:
        for line in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
            if line["measure"] == "all dimensions":
                correct.setdefault(line["row"], {})[line["topic"]] = line["value"] == "1"
    for line in (folder / "results.md").read_text(encoding="utf-8").splitlines():
        if found := re.match(r"\| ([^|]+) \| ([.\d]+)", line):
            printed[found[1]] = float(found[2])
    return correct, printed


def compare(what, executable, rows, papers, data, folder):
    results, folds, ids = reference(rows)
    correct, printed = ours(executable, papers, data, folder)
    failed = 0
    for name, (theirs, hits) in results.items():
        mine = [correct[name][paper] for paper in ids]
        mean = sum(sum(mine[place] for place in test) / len(test) for _, test in folds) / len(folds)
        points, differ = 100 * abs(mean - theirs), sum(one != bool(other) for one, other in zip(mine, hits))
        wrong = points > POINTS or abs(mean - printed[name]) > 5.1e-5
        failed += wrong
        print(f"scikit {what}: {name} ... {printed[name]:.4f} here, {theirs:.4f} there; {differ} of {len(ids)} papers differ"
              + (" FAIL" if wrong else ""))
    return failed


def main():
    executable = str(pathlib.Path(sys.argv[1]).resolve())
    data = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    if not install():
        print(f"scikit ... SKIPPED: {PACKAGES} could not be installed from PyPI")
        return
    failed = 0
    for seed in range(2):
        with tempfile.TemporaryDirectory(prefix="lodeseek-sklearn-") as name:
            folder = pathlib.Path(name)
            (folder / "iclr").mkdir()
            (folder / "iclr/keyword_labels.json").write_text('{"keyword_frequency": {}, "keyword_to_label": {}}')
            rows = papers(seed)
            (folder / "papers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
            failed += compare(f"random {seed}", executable, rows, folder / "papers.jsonl", folder, folder)
    if data and (data / "iclr").exists():
        with tempfile.TemporaryDirectory(prefix="lodeseek-sklearn-") as name:
            path = data / "iclr/iclr_2017_2018.jsonl"
            failed += compare("iclr", executable, labelled(data / "iclr"), path, data, pathlib.Path(name))
    elif data:
        print(f"scikit iclr ... SKIPPED: {data}/iclr does not exist")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
