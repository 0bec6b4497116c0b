"""Queries for datasets, written by a T5-like model in a local folder: DR2's self-training where such weights are given.

A dataset's text is its metadata and its triples as the engine encodes them. Queries are drawn (top-k sampling), since the likeliest
ones are all alike; the same seed draws the same. `lodeseek-lab training-data queries --written` takes what comes out, and drops what does
not find its dataset."""

import pathlib
import sys

import torch
import transformers

from .data import Folder

PIECES, WORDS = 384, 24
TOP, BATCH = 25, 8


def texts(data):
    """The text of each dataset, by id."""
    found = {}
    # Metadata come before data where passages are of both.
    for passage in sorted(Folder(data).passages.values(), key=lambda passage: passage.id, reverse=True):
        found.setdefault(passage.dataset, []).append(". ".join(passage.parts))
    return {dataset: " ".join(parts) for dataset, parts in sorted(found.items())}


def generate(data, model, output, queries, prefix, seed):
    tokenizer = transformers.AutoTokenizer.from_pretrained(model)
    network = transformers.AutoModelForSeq2SeqLM.from_pretrained(model).eval()
    network.to("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(seed)
    datasets = list(texts(data).items())
    with open(pathlib.Path(output), "w", encoding="utf-8") as file:
        for start in range(0, len(datasets), BATCH):
            batch = datasets[start:start + BATCH]
            cut = tokenizer([prefix + text for _, text in batch], truncation=True, max_length=PIECES, padding=True, return_tensors="pt")
            with torch.no_grad():
                written = network.generate(input_ids=cut.input_ids.to(network.device), attention_mask=cut.attention_mask.to(network.device),
                                           do_sample=True, top_k=TOP, max_new_tokens=WORDS, num_return_sequences=queries)
            lines = [" ".join(line.split()) for line in tokenizer.batch_decode(written, skip_special_tokens=True)]
            for place, (dataset, _) in enumerate(batch):
                file.writelines(f"{dataset}\t{line}\n" for line in lines[place * queries:(place + 1) * queries] if line)
            print(f"{start + len(batch)} of {len(datasets)} datasets", file=sys.stderr, flush=True)
