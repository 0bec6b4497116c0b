"""What is minimised: the negative log likelihood of the passage that answers, among those of the batch, the hard ones drawn for
each query, and passages drawn at random."""

import torch
from torch.nn import functional

OUT = -1e4


def contrast(scores, batch, scale):
    """Of `scores` `[queries, passages]`. Scores are lessened by the logarithm of how often a passage stands in a batch, where
    `batch.often` says it: popular passages stand as often against a query as they answer one, so that without this their
    popularity would cancel out (sampled softmax, Y. Bengio and J.-S. Senécal, *IEEE Transactions on Neural Networks* 2008)."""
    scores = scores * scale
    if batch.often is not None:
        scores = scores - batch.often.to(scores.device).log()
    return functional.cross_entropy(scores.masked_fill(batch.ignored, OUT), torch.tensor(batch.targets, device=scores.device))
