#!/usr/bin/env python3
"""An experiment of PyTerrier over real datasets: rankers of the plugin beside PISA's BM25 over the compact documents.

usage: experiment.py COLLECTION FOLDER   (in an environment with the wheels; COLLECTION has datasets.json and dev/)

Indexes the collection in FOLDER, unless it has been indexed there. Prints the table. Fails if a place or a score differs from
those of `lodeseek run`, or a mean from that of `lodeseek evaluate`.
"""

import pathlib
import shutil
import sys

import pandas as pd
import pyterrier as pt
from ir_measures import AP, RR, nDCG
from pyterrier_lodeseek import LodeseekIndex
from pyterrier_pisa import PisaIndex

DEPTH = "1000"
MEASURES = [nDCG @ 10, AP @ 10, RR @ 10]


def places(run):
    return run.sort_values(["qid", "rank"])[["qid", "docno", "score"]].values.tolist()


def main():
    collection, folder = map(pathlib.Path, sys.argv[1:])
    index = LodeseekIndex(folder / "home")
    lodeseek = index.collection
    if not index.built():
        folder.mkdir(parents=True, exist_ok=True)
        lodeseek.load(collection / "datasets.json")
        lodeseek.index(ranking="best")
    topics_file, qrels_file = collection / "dev/queries.tsv", collection / "dev/qrels.txt"
    topics = pd.read_csv(topics_file, sep="\t", names=["qid", "query"], dtype=str)
    qrels = pd.read_csv(qrels_file, sep=r"\s+", names=["qid", "iteration", "docno", "label"], dtype={"qid": str, "docno": str})
    shutil.rmtree(folder / "pisa", ignore_errors=True)
    pisa = PisaIndex(str(folder / "pisa"), text_field="text")
    pisa.index(index.get_corpus_iter())
    rankers = {
        "bm25": (index.bm25(), ["--model", "bm25"]),
        "fsdm": (index.fsdm(), ["--model", "fsdm"]),
        "dense": (index.dense(), ["--dpr", "lodeseek-minilm", "--fusion", "none", "--dense-depth", DEPTH]),
        "search": (index.search(), []),
    }
    systems = [ranker for ranker, _ in rankers.values()]
    table = pt.Experiment([*systems, pisa.bm25()], topics, qrels, MEASURES, names=[*rankers, "PISA BM25, compact documents"])
    print(table.round(4).to_string(index=False))
    runs, compared = {}, 0
    for name, (ranker, options) in rankers.items():
        runs[name] = folder / f"{name}.run"
        lodeseek.command("run", "--topics", topics_file, "--depth", DEPTH, "-o", runs[name], *options)
        expected = pd.read_csv(runs[name], sep="\t", names=["qid", "Q0", "docno", "rank", "score", "tag"], dtype={"qid": str, "docno": str})
        assert places(ranker(topics)) == places(expected), f"{name}: the ranking differs from that of `lodeseek run`"
        compared += len(expected)
    means = lodeseek.evaluate(qrels_file, runs, measures=[str(measure) for measure in MEASURES]).means
    difference = (table.set_index("name").loc[list(rankers)] - means).abs().max().max()
    assert difference < 1e-6, f"a mean differs from that of `lodeseek evaluate` by {difference}"
    print(f"{compared:,} places and {means.size} means are equal to those of the program")


if __name__ == "__main__":
    main()
