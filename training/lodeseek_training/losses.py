"""Loss functions: the negative log likelihood of the positive passage among those of the batch, the hard negatives of each query and
random passages."""

import torch
from torch.nn import functional

OUT = -1e4


def contrast(scores, batch, scale):
    """Returns the loss of `scores` `[queries, passages]`. If `batch.often` is set, its logarithm is subtracted from the scores: popular
    passages are as often negatives as positives, so without this correction their popularity would cancel out (sampled softmax, Y. Bengio and J.-S. Senécal, *IEEE Transactions on Neural Networks* 2008)."""
    scores = scores * scale
    if batch.often is not None:
        scores = scores - batch.often.to(scores.device).log()
    return functional.cross_entropy(scores.masked_fill(batch.ignored, OUT), torch.tensor(batch.targets, device=scores.device))
