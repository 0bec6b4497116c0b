"""Training data: folders written by `lodeseek-lab training-data`, texts cut into pieces as Lodeseek's encoder cuts them, batches."""

import dataclasses
import json
import pathlib
import random

import tokenizers
import torch


@dataclasses.dataclass
class Passage:
    """A text of a dataset, in parts: exactly what the engine encodes."""
    id: str
    dataset: str
    parts: list
    pieces_a_part: int | None
    year: int | None


@dataclasses.dataclass
class Example:
    """A query, the passages that answer it, and those that do not though they look so, the hardest first."""
    id: str
    query: str
    style: str
    positives: list
    negatives: list
    year: int | None
    split: str | None
    fold: int | None


def lines(path):
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            try:
                yield json.loads(line)
            except ValueError as error:
                raise SystemExit(f"{path}:{number}: {error}") from error


class Folder:
    """One folder of training data."""

    def __init__(self, path):
        path = pathlib.Path(path)
        wanted = {field.name for field in dataclasses.fields(Passage)}
        passages = [Passage(**{key: value for key, value in line.items() if key in wanted}) for line in lines(path / "passages.jsonl")]
        self.passages = {passage.id: passage for passage in passages}
        self.examples = [Example(**line) for line in lines(path / "examples.jsonl")]
        for example in self.examples:
            for passage in example.positives + example.negatives:
                if passage not in self.passages:
                    raise SystemExit(f"{path}: example {example.id} names the passage {passage}, which is not there")

    def split(self, fold=None, folds=None):
        """Examples to train with, and to choose by. Fold i tests the examples of fold i, chooses by those of the next and
        trains with the others, as `Folds::deal` of the engine."""
        judged = [example for example in self.examples if example.fold is not None]
        if judged and fold is None:
            raise SystemExit("judged examples are parted by folds: which fold tests?")
        if judged:
            count = folds or 1 + max(example.fold for example in judged)
            return ([example for example in judged if example.fold not in (fold, (fold + 1) % count)],
                    [example for example in judged if example.fold == (fold + 1) % count])
        return ([example for example in self.examples if example.split == "train"],
                [example for example in self.examples if example.split == "valid"])


class Cutter:
    """Texts to pieces, as the engine's encoder does it (src/rerank/encoder/pieces.rs): parts are cut one by one, the separator
    stands between them, the whole is cut to the length and framed. The tokenizer's own cutting and filling is not used."""

    def __init__(self, base, length):
        self.tokenizer = tokenizers.Tokenizer.from_file(str(pathlib.Path(base) / "tokenizer.json"))
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        known = {name: self.tokenizer.token_to_id(name) for name in ("[CLS]", "[SEP]", "[PAD]")}
        if None in known.values():
            raise SystemExit(f"{base}: tokenizer.json lacks one of [CLS], [SEP], [PAD]: only BERT's tokenizers are trained here")
        self.first, self.separator, self.filler = known.values()
        self.length = length

    def pieces(self, text):
        return self.tokenizer.encode(text.strip(), add_special_tokens=False).ids

    def framed(self, body):
        return [self.first] + body[:self.length - 2] + [self.separator]

    def query(self, text):
        return self.framed(self.pieces(text))

    def passage(self, passage):
        body = []
        for part in passage.parts:
            pieces = self.pieces(part)[:passage.pieces_a_part]
            if pieces:
                body += ([self.separator] if body else []) + pieces
        return self.framed(body)

    def filled(self, rows):
        """Rows of pieces as a tensor, and which of its places are pieces."""
        longest = max(map(len, rows))
        ids = torch.tensor([row + [self.filler] * (longest - len(row)) for row in rows])
        return ids, torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rows])


class Texts:
    """The pieces of a folder's passages, cut once, and their years."""

    def __init__(self, folder, cutter):
        self.ids = list(folder.passages)
        self.places = {passage: place for place, passage in enumerate(self.ids)}
        self.rows = [cutter.passage(folder.passages[passage]) for passage in self.ids]
        self.parts = [[part.casefold() for part in folder.passages[passage].parts] for passage in self.ids]
        # A passage without a year is never too late.
        self.years = torch.tensor([folder.passages[passage].year or 0 for passage in self.ids])


@dataclasses.dataclass
class Batch:
    """Queries, the places of the passages beside them, which of these answers each, and which must not count against it."""
    examples: list
    passages: list
    targets: list
    ignored: torch.Tensor
    often: torch.Tensor | None


def drawn(example, texts, negatives, generator):
    """One passage that answers, and some that do not: of the hardest four times as many."""
    positive = generator.choice(example.positives)
    hardest = example.negatives[:4 * negatives]
    return texts.places[positive], [texts.places[one] for one in generator.sample(hardest, min(negatives, len(hardest)))]


def batch(examples, texts, settings, generator, shares):
    passages, targets = [], []
    for example in examples:
        positive, others = drawn(example, texts, settings.negatives, generator)
        for place in [positive, *others]:
            if place not in passages:
                passages.append(place)
        targets.append(passages.index(positive))
    for place in generator.sample(range(len(texts.ids)), min(settings.random, len(texts.ids))):
        if place not in passages:
            passages.append(place)
    ignored = torch.stack([unfit(example, texts, passages) for example in examples])
    queries = [example.query.casefold() for example in examples]
    for row, target in enumerate(targets):
        # Equal queries have the same positives.
        for other, theirs in enumerate(targets):
            if queries[row] == queries[other]:
                ignored[row, theirs] = True
        # A query that is a piece of an abstract must not be a negative of its own abstract.
        for column, place in enumerate(passages):
            if texts.parts[place] == [queries[row]]:
                ignored[row, column] = True
        ignored[row, target] = False
    often = len(examples) * shares[passages] + settings.random / len(texts.ids) if settings.random else None
    return Batch(examples, passages, targets, ignored, often)


def shares(examples, texts):
    """Returns the probability of each passage to be drawn as a positive."""
    found = torch.zeros(len(texts.ids))
    for example in examples:
        for passage in example.positives:
            found[texts.places[passage]] += 1 / len(example.positives) / len(examples)
    return found


def unfit(example, texts, passages):
    """Passages that are no wrong answers: right ones, and those later than the query's year, in the order of their places."""
    years = texts.years[passages]
    found = years > example.year if example.year else torch.zeros(len(years), dtype=torch.bool)
    right = {texts.places[positive] for positive in example.positives}
    for column, place in enumerate(passages):
        if place in right:
            found[column] = True
    return found


def batches(examples, texts, settings, epoch):
    """The batches of an epoch: always the same for a seed. Examples of like length stand together, so that little is filled up;
    the batches come in any order."""
    generator = random.Random(settings.seed + epoch)
    order = sorted(generator.sample(examples, len(examples)), key=lambda example: len(example.query) // 60)
    groups = [order[start:start + settings.batch] for start in range(0, len(order), settings.batch)]
    generator.shuffle(groups)
    often = shares(examples, texts)
    for group in groups:
        yield batch(group, texts, settings, generator, often)
