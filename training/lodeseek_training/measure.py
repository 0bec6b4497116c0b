"""Validation measures by which a stage selects its best weights. Reported figures come from `lodeseek evaluate` on the engine's rankings."""

import math
import random

import torch

from .data import unfit
from .model import max_sim


def ranked(stage):
    """Mean average precision over the right passages, by the text head among the passages of validation not later than the query;
    for the piece head mean reciprocal rank among the right passages of the first 64 examples."""
    found, settings = {}, stage.settings
    rows = [stage.cutter.query(example.query) for example in stage.valid]
    encoded = [stage.encoded(rows[start:start + 64]) for start in range(0, len(rows), 64)]
    if "text" in settings.heads:
        places = compared(stage)
        scores = torch.cat([one[2] for one in encoded]) @ stage.vectors(places).T
        found["map"] = sum(average_precision(line, example, stage.texts, places) for line, example in zip(scores, stage.valid)) / len(rows)
    if "piece" in settings.heads:
        found["mrr_pieces"] = pieces(stage, encoded)
    return found


def compared(stage):
    """Places of the passages that validation ranks: all, or the right ones and others drawn at random. Always the same ones."""
    count, size = stage.settings.validation_passages, len(stage.texts.rows)
    if count is None or count >= size:
        return list(range(size))
    right = {stage.texts.places[passage] for example in stage.valid for passage in example.positives}
    others = [place for place in range(size) if place not in right]
    drawn = random.Random(stage.settings.seed).sample(others, max(0, count - len(right)))
    return sorted(right.union(drawn))


def average_precision(scores, example, texts, places):
    columns = {place: column for column, place in enumerate(places)}
    right = [columns[texts.places[passage]] for passage in example.positives]
    late = unfit(example, texts, places)
    late[right] = False
    scores = scores.masked_fill(late.to(scores.device), -2.0)
    ranks = sorted(1 + int((scores > scores[place]).sum()) for place in right)
    return sum((number + 1) / rank for number, rank in enumerate(ranks)) / len(ranks)


def pieces(stage, encoded):
    examples = stage.valid[:64]
    places = [stage.texts.places[example.positives[0]] for example in examples]
    ids, mask, _, passages = stage.encoded([stage.texts.rows[place] for place in places])
    _, query_mask, _, queries = encoded[0]
    total = 0.0
    kept = stage.model.kept(ids, mask)
    for row in range(len(examples)):
        length = int(query_mask[row].sum())
        scores = max_sim(queries[row:row + 1, :length], query_mask[row:row + 1, :length], passages, kept)[0]
        total += 1 / (1 + int((scores > scores[row]).sum()))
    return total / len(examples)


def judged(stage):
    """nDCG over the judged passages of each query, a dataset's score the better of its two texts, as the engine combines them;
    its gain is 1 where its passages are right. For each head."""
    found = {head: 0.0 for head in stage.settings.heads}
    for example in stage.valid:
        right = {stage.source.passages[passage].dataset for passage in example.positives}
        candidates = example.positives + example.negatives
        _, query_mask, query, query_pieces = stage.encoded([stage.cutter.query(example.query)])
        scores = {head: {} for head in found}
        for start in range(0, len(candidates), 32):
            some = candidates[start:start + 32]
            ids, mask, text, passages = stage.encoded([stage.texts.rows[stage.texts.places[one]] for one in some])
            by_head = {"text": lambda: (query @ text.T)[0],
                       "piece": lambda: max_sim(query_pieces, query_mask, passages, stage.model.kept(ids, mask))[0]}
            for head, best in scores.items():
                for passage, score in zip(some, by_head[head]().tolist()):
                    dataset = stage.source.passages[passage].dataset
                    best[dataset] = max(score, best.get(dataset, -2.0))
        for head, best in scores.items():
            found[head] += ndcg(best, right) / len(stage.valid)
    return found


def ndcg(scores, right):
    order = sorted(scores, key=lambda dataset: (-scores[dataset], dataset))
    gain = sum(1 / math.log2(rank + 1) for rank, dataset in enumerate(order[:10], 1) if dataset in right)
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, 1 + min(10, len(right))))
    return gain / ideal if ideal else 0.0
