#!/usr/bin/env python3
"""Re-ranking by the base model in Python's ONNX Runtime, for comparison with `make bench-rerank`.

usage: rerank_peer.py TASK

TASK, the file of candidates and texts, is written by benches/rerank/queries.rs. Texts are tokenized as in lodeseek, scores are
compared with lodeseek's, and times are those of one thread. Required packages (numpy, onnxruntime, tokenizers) are installed from
PyPI into the cache folder; if that fails, the comparison is skipped with a message. PyLate is measured only if TASK contains the
path of a Python that has it, because it installs torch.
"""

import json
import os
import packages
import pathlib
import statistics
import subprocess
import sys
import time

for name in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"]:
    os.environ[name] = "1"  # read when numpy and torch are loaded

CACHE = pathlib.Path(os.environ.get("LODESEEK_CACHE") or
                     pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "lodeseek")
# Texts in a batch, sorted by length as in sentence-transformers.
BATCH = 32
COUNTS = {"stored": [10, 20], "on the fly": [10]}


def log(text):
    print(f"  Python: {text}", flush=True)


def install():
    """Returns the folder of the packages, or None if they cannot be installed."""
    try:
        return packages.cached("rerank-peer", CACHE)
    except packages.PackageError as reason:
        log(reason)
        return None


class Model:
    """Tokenizer and network, by default on one thread of the CPU."""

    def __init__(self, folder, variant, pieces_a_triple, providers=("CPUExecutionProvider",), threads=1):
        import onnxruntime
        import tokenizers
        self.tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        settings = json.loads((folder / "sentence_bert_config.json").read_text())
        self.length, self.pieces_a_triple = settings["max_seq_length"], pieces_a_triple
        self.start, self.stop = (self.tokenizer.token_to_id(name) for name in ("[CLS]", "[SEP]"))
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        self.session = onnxruntime.InferenceSession(str(folder / variant), options, providers=list(providers))

    def cut(self, parts, most=None):
        """Returns the token ids of a text's parts, separated by [SEP]."""
        ids = []
        for encoding in self.tokenizer.encode_batch([part.strip() for part in parts if part.strip()], add_special_tokens=False):
            if encoding.ids:
                ids += [self.stop] * bool(ids) + encoding.ids[:most]
        return [self.start, *ids[:self.length - 2], self.stop] if ids else []

    def rows(self, cut):
        """Returns a matrix of token vectors for each text, None for an empty one."""
        import numpy as np
        found = [None] * len(cut)
        places = sorted((place for place, ids in enumerate(cut) if ids), key=lambda place: len(cut[place]))
        for first in range(0, len(places), BATCH):
            group = places[first:first + BATCH]
            width = len(cut[group[-1]])
            ids, attention = np.zeros((2, len(group), width), np.int64)
            for line, place in enumerate(group):
                ids[line, :len(cut[place])] = cut[place]
                attention[line, :len(cut[place])] = 1
            given = {"input_ids": ids, "attention_mask": attention, "token_type_ids": np.zeros_like(ids)}
            for line, rows in zip(group, self.session.run(["last_hidden_state"], given)[0]):
                found[line] = rows[:len(cut[line])]
        return found

    def texts(self, candidates):
        """Returns the token ids of metadata and triples of each candidate."""
        return [ids for one in candidates for ids in (self.cut(one["metadata"]), self.cut(one["triples"], self.pieces_a_triple))]

    def vectors(self, kind, cut):
        return [finish(kind, rows) for rows in self.rows(cut)]


def finish(kind, rows):
    """Returns the normalized mean of the token vectors (DPR) or each normalized token vector (ColBERT)."""
    return None if rows is None else unit(rows.mean(axis=0, keepdims=True) if kind == "DPR" else rows)


def unit(rows):
    import numpy as np
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def likeness(query, document):
    """Returns MaxSim, which is the inner product for single vectors."""
    return float((query @ document.T).max(axis=1).sum())


def score(query, vectors):
    """Returns the higher score of each candidate's two texts."""
    pairs = zip(vectors[::2], vectors[1::2])
    return [max(likeness(query, rows) for rows in pair if rows is not None) for pair in pairs]


def stored(model, kind, queries, count, rounds, kept):
    """Measures encoding of the query and scoring of candidates from float32 vectors in memory."""
    spent, differences = [], []
    for number in range(rounds + 1):
        for query in queries:
            candidates = [one for one in query["candidates"] if one[kind] is not None][:count]
            if not candidates:
                continue
            vectors = [rows for one in candidates for rows in kept[one["id"]]]
            clock, core = time.perf_counter(), time.thread_time()
            scores = score(model.vectors(kind, [model.cut([query["text"]])])[0], vectors)
            if number:
                spent.append((time.perf_counter() - clock, time.thread_time() - core))
            width = len(model.cut([query["text"]])) if kind == "ColBERT" else 1
            differences += [abs(ours - one[kind]) / width for ours, one in zip(scores, candidates)]
    return spent, differences


def on_the_fly(model, kind, queries, count):
    spent = []
    for query in queries:
        clock, core = time.perf_counter(), time.thread_time()
        encoded = model.vectors(kind, [model.cut([query["text"]])])[0]
        score(encoded, model.vectors(kind, model.texts(query["candidates"][:count])))
        spent.append((time.perf_counter() - clock, time.thread_time() - core))
    return spent


def measure(task):
    model = Model(pathlib.Path(task["model"]), task["variant"], task["pieces_a_triple"])
    candidates = {one["id"]: one for query in task["queries"] for one in query["candidates"]}
    all_rows = model.rows(model.texts(candidates.values()))
    for kind in ("DPR", "ColBERT"):
        vectors = [finish(kind, rows) for rows in all_rows]
        kept = {id: vectors[2 * place:2 * place + 2] for place, id in enumerate(candidates)}
        for count in COUNTS["stored"]:
            spent, differences = stored(model, kind, task["queries"], count, task["rounds"], kept)
            report(task, kind, "stored", count, spent)
        log(f"{kind}: scores differ from lodeseek's by {max(differences):.5f} at most, {statistics.mean(differences):.6f} on average"
            + (" (for a row of the query)" if kind == "ColBERT" else ""))
        for count in COUNTS["on the fly"]:
            report(task, kind, "on the fly", count, on_the_fly(model, kind, task["queries"][:task["on_the_fly"]], count))


def report(task, kind, way, count, spent):
    """Prints the median wall time of short runs or the mean CPU time of long ones, as lodeseek does."""
    clock, core = statistics.median(one[0] for one in spent) * 1e3, statistics.mean(one[1] for one in spent) * 1e3
    theirs, how = (clock, "p50 by the clock") if way == "stored" else (core, "mean on its core")
    ours = [entry["ms"] for entry in task["ours"] if (entry["model"], entry["way"], entry["count"]) == (kind, way, count) and entry["ms"]]
    ratio = f"; lodeseek {ours[0]:.2f} ms: {theirs / ours[0]:.2f} times as long" if ours else ""
    log(f"{way}, {kind}, {count} candidates: {how} {theirs:.2f} ms{ratio}")


PYLATE = """
import json, sys, time, statistics, torch
from pylate import models, rank
torch.set_num_threads(1)
task = json.load(open(sys.argv[1]))
model = models.ColBERT(model_name_or_path=task["model"], device="cpu", query_length=32, document_length=256)
fly, kept = [], []
for query in task["queries"][:task["on_the_fly"]]:
    candidates = query["candidates"][:10]
    texts = [" ".join(one[part]) for one in candidates for part in ("metadata", "triples")]
    for number in range(2):
        started = time.thread_time()
        query_vectors = model.encode([query["text"]], is_query=True, show_progress_bar=False)
        encoded = time.thread_time() - started
        documents = model.encode(texts, is_query=False, show_progress_bar=False)
        both = time.thread_time() - started
        rank.rerank(documents_ids=[list(range(len(texts)))], queries_embeddings=query_vectors, documents_embeddings=[documents])
        whole = time.thread_time() - started
    fly.append(whole * 1e3)
    kept.append((encoded + whole - both) * 1e3)
print(json.dumps({"fly": statistics.mean(fly), "kept": statistics.median(kept)}))
"""


def pylate(task, path):
    """Measures PyLate's ColBERT on the same network. It adds an untrained projection to 128 columns, so only times are compared."""
    python = task.get("pylate")
    if not python:
        log("SKIPPED: PyLate; set --pylate to a Python that has it")
        return
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run([python, "-c", PYLATE, str(path)], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=environment | {"HF_HUB_OFFLINE": "1"})
    if done.returncode != 0:
        log(f"SKIPPED: PyLate: {done.stderr.strip().splitlines()[-1:]}")
        return
    times = json.loads(done.stdout.splitlines()[-1])
    log(f"PyLate (torch, fp32, projected to 128), 10 candidates: on the fly {times['fly']:.0f} ms, from vectors in memory "
        f"{times['kept']:.1f} ms, on its core")


def main():
    path = pathlib.Path(sys.argv[1])
    task = json.loads(path.read_text())
    folder = install()
    if folder is None:
        log(f"SKIPPED: {', '.join(PACKAGES)} could not be installed from PyPI")
        return
    sys.path.insert(0, str(folder))
    measure(task)
    pylate(task, path)


if __name__ == "__main__":
    main()
