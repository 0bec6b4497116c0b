"""The network: a BERT-like encoder with a head for one vector a text (DPR), one for a vector a piece (ColBERT), or both."""

import json
import pathlib
import string

import torch
import transformers
from safetensors.torch import load_file, save_file
from torch import nn
from torch.nn import functional

from .folder import pooling as folder_pooling

PIECES = "pieces"


class Ranker(nn.Module):
    """Text head: the mean of the pieces' vectors or the first one, of length 1, as the folder is pooled. Piece head: each vector through a
    projection without bias, of length 1; a score is the sum over the query's pieces of the best cosine among the passage's
    (MaxSim), punctuation of passages left out. Neither markers nor expansion: one pass of the network serves both heads."""

    def __init__(self, network, projection, punctuation, pooling):
        super().__init__()
        self.network, self.projection, self.pooling = network, projection, pooling
        self.register_buffer("punctuation", torch.tensor(punctuation), persistent=False)

    @classmethod
    def open(cls, folder, dimension=None, pooling=None):
        """The model in a folder. `dimension`: the piece head's, where the folder has none; its projection is then made by
        `fit_projection`. `pooling`: another one than the folder's."""
        folder = pathlib.Path(folder)
        network = transformers.AutoModel.from_pretrained(folder, attn_implementation="eager", add_pooling_layer=False)
        for module in network.modules():
            if isinstance(module, nn.Dropout):
                module.p = 0.0  # twice as fast on CPUs; what is learned here is stopped early instead
        # Half of the weights, of which a batch sees few: not worth the time they take, and rare words keep what they mean.
        network.embeddings.requires_grad_(False)
        vocabulary = json.loads((folder / "tokenizer.json").read_text())["model"]["vocab"]
        punctuation = [vocabulary[mark] for mark in string.punctuation if mark in vocabulary]
        projection = None
        weights = folder / PIECES / "1_Dense" / "model.safetensors"
        if weights.exists():
            weight = load_file(weights)["linear.weight"]
            projection = nn.Linear(weight.shape[1], weight.shape[0], bias=False)
            projection.weight.data.copy_(weight)
        elif dimension:
            projection = nn.Linear(network.config.hidden_size, dimension, bias=False)
        return cls(network, projection, punctuation, pooling or folder_pooling(folder))

    def forward(self, ids, mask):
        """Vectors of texts, `[texts, hidden]`, and of pieces, `[texts, length, dimension]`, zero where there is no piece."""
        rows = self.network(input_ids=ids, attention_mask=mask).last_hidden_state.float()
        real = mask.unsqueeze(-1).float()
        pooled = rows[:, 0] if self.pooling == "cls" else (rows * real).sum(1) / real.sum(1)
        text = functional.normalize(pooled, dim=-1)
        if self.projection is None:
            return text, None
        return text, functional.normalize(self.projection(rows), dim=-1) * real

    def kept(self, ids, mask):
        """Returns the mask of passage tokens that take part in MaxSim."""
        return mask.bool() & ~torch.isin(ids, self.punctuation)

    @torch.no_grad()
    def fit_projection(self, ids, mask):
        """Sets the projection to the principal directions of some texts' token vectors: cosines change little, so training starts from
        the base model and not from noise."""
        rows = self.network(input_ids=ids, attention_mask=mask).last_hidden_state[mask.bool()].float()
        _, _, directions = torch.linalg.svd(functional.normalize(rows, dim=-1), full_matrices=False)
        self.projection.weight.copy_(directions[:self.projection.out_features])

    def save(self, folder):
        folder = pathlib.Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        tensors = {name: value.contiguous() for name, value in self.network.state_dict().items() if "position_ids" not in name}
        save_file(tensors, folder / "model.safetensors")
        if self.projection is not None:
            (folder / PIECES / "1_Dense").mkdir(parents=True, exist_ok=True)
            save_file({"linear.weight": self.projection.weight.data.contiguous()}, folder / PIECES / "1_Dense" / "model.safetensors")


def max_sim(queries, query_mask, passages, kept):
    """MaxSim of every query with every passage, `[queries, passages]`, over the query's number of pieces: scores of -1 to 1."""
    cosines = torch.einsum("qid,pjd->qpij", queries, passages).masked_fill(~kept[None, :, None, :], -1.0)
    best = cosines.amax(-1) * query_mask[:, None, :]
    return best.sum(-1) / query_mask.sum(-1, keepdim=True)
