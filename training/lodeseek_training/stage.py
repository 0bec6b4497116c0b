"""One stage: a model trained on one folder of data, resumable at every validation, stopped when it no longer gets better."""

import dataclasses
import json
import math
import os
import pathlib
import shutil
import time

import torch

from . import folder as folders
from . import measure
from .curve import curve
from .data import Cutter, Folder, Texts, batches
from .losses import contrast
from .model import PIECES, Ranker, max_sim

# Steps between two words of how it goes.
TOLD = 50
KEPT = ["config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt", "modules.json",
        "sentence_bert_config.json", "config_sentence_transformers.json", "1_Pooling/config.json"]


@dataclasses.dataclass
class Settings:
    """Settings of a stage. `length`: maximum number of tokens of a text, `pooling` of the text head (mean, cls), both by default
    those of the folder it begins with, and written to the folder of its model; `negatives`: hard ones drawn for each query; `random`: passages drawn from all for
    each batch, with which popularity is learned; `validation_passages`: number of passages that validation ranks, the right ones and
    others drawn at random, by default all; `mix`: shares of the trained weights that are tried against the start's, the best
    by validation is kept; `share`: the share that is tried beside these, kept where there are none; `hold_out`: one example in so
    many chooses instead of training, for data too few to have such of their own; `again`: how many times an epoch examples of a
    style are seen, once if it is not named; `beside`: other folders of data, each with its name and settings of its own; every
    `beside_every` steps a batch of the next of them adds to the loss, so that their content is learned, too, or not forgotten."""
    heads: list = dataclasses.field(default_factory=lambda: ["text", "piece"])
    styles: list | None = None
    epochs: int = 1
    batch: int = 16
    negatives: int = 1
    rate: float = 2e-5
    warmup: float = 0.1
    clip: float = 2.0
    scale: float = 20.0
    decay: float = 0.01
    length: int | None = None
    pooling: str | None = None
    dimension: int = 128
    random: int = 0
    validate_every: int = 200
    validated: int = 400
    validation_passages: int | None = None
    patience: int = 4
    examples: int | None = None
    mix: list = dataclasses.field(default_factory=list)
    share: float = 1.0
    hold_out: int = 0
    again: dict = dataclasses.field(default_factory=dict)
    beside: list = dataclasses.field(default_factory=list)
    beside_every: int = 3
    seed: int = 12345


class Beside:
    """Data that are trained on now and then, beside a stage's own: batch after batch, epoch after epoch. Of the stage's settings
    its own take precedence; neither hard nor random passages, unless they say so."""

    def __init__(self, parent, start, stage, own):
        own = dict(own)
        source = Folder(parent / own.pop("data"))
        self.settings = dataclasses.replace(stage, **{"negatives": 0, "random": 0, "examples": None, "styles": None, **own})
        self.cutter = Cutter(start, stage.length or folders.length(start))
        self.examples = source.split()[0][:self.settings.examples]
        self.texts = Texts(source, self.cutter)
        self.each = math.ceil(len(self.examples) / self.settings.batch)
        self.epoch, self.kept = None, []

    def batch(self, number):
        if self.epoch != number // self.each:
            self.epoch = number // self.each
            self.kept = list(batches(self.examples, self.texts, self.settings, self.epoch))
        return self.kept[number % self.each]


class Stage:
    """A training run in a folder: `state.pt` while it goes on, `best/` the model, `log.jsonl`, `curve.svg`, `done.json`."""

    def __init__(self, start, data, folder, settings, fold=None, folds=None, say=print):
        self.start, self.folder, self.settings, self.say = pathlib.Path(start), pathlib.Path(folder), settings, say
        self.data, self.fold, self.folds = pathlib.Path(data), fold, folds
        self.folder.mkdir(parents=True, exist_ok=True)

    def prepare(self):
        """Reads the data and the model: most of a minute, which what is done already need not take."""
        settings = self.settings
        torch.manual_seed(settings.seed)
        self.cutter = Cutter(self.start, settings.length or folders.length(self.start))
        self.source = Folder(self.data)
        self.texts = Texts(self.source, self.cutter)
        train, valid = self.source.split(self.fold, self.folds)
        if settings.styles:
            train, valid = ([one for one in part if one.style in settings.styles] for part in (train, valid))
        if settings.hold_out and not valid:
            valid = train[::settings.hold_out]
            train = [example for place, example in enumerate(train) if place % settings.hold_out]
        self.train, self.valid = train[:settings.examples], valid[:settings.validated]
        self.train = [example for example in self.train for _ in range(settings.again.get(example.style, 1))]
        if not self.train or not self.valid:
            raise SystemExit(f"{self.data}: {len(train)} examples to train with, {len(valid)} to choose by: both are needed")
        self.beside = [Beside(self.data.parent, self.start, settings, own) for own in settings.beside]
        self.judged = self.fold is not None and any(example.fold is not None for example in self.source.examples)
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.model = self.begun()
        self.steps = settings.epochs * math.ceil(len(self.train) / settings.batch)
        self.step, self.best, self.waited, self.spent = 0, None, 0, 0.0

    def begun(self):
        """The model that the stage begins with."""
        heads = {head for settings in (self.settings, *(one.settings for one in self.beside)) for head in settings.heads}
        dimension = self.settings.dimension if "piece" in heads else None
        model = Ranker.open(self.start, dimension, self.settings.pooling).to(self.device)
        if dimension and not (self.start / PIECES).exists():
            model.fit_projection(*self.tensors(self.texts.rows[:256]))
        return model

    def tensors(self, rows):
        return (tensor.to(self.device) for tensor in self.cutter.filled(rows))

    def half(self):
        """bf16 where the hardware has it: three times as fast on CPUs with AVX-512's or AMX's; weights stay fp32."""
        capable = self.device == "cuda" or torch.cpu._is_avx512_bf16_supported()
        return torch.autocast(self.device, dtype=torch.bfloat16, enabled=capable)

    def encoded(self, rows):
        ids, mask = self.tensors(rows)
        with self.half():
            text, pieces = self.model(ids, mask)
        return ids, mask, text, pieces

    # -- one step ------------------------------------------------------------------------------------------------------

    def loss(self, batch, source):
        """Of a batch of the stage's own data, or of those beside them."""
        settings = source.settings
        _, query_mask, query, query_pieces = self.encoded([source.cutter.query(example.query) for example in batch.examples])
        ids, mask, passage, passage_pieces = self.encoded([source.texts.rows[place] for place in batch.passages])
        batch.ignored = batch.ignored.to(self.device)
        total = 0.0
        if "text" in settings.heads:
            total = total + contrast(query @ passage.T, batch, settings.scale)
        if "piece" in settings.heads:
            scores = max_sim(query_pieces, query_mask, passage_pieces, self.model.kept(ids, mask))
            total = total + contrast(scores, batch, settings.scale)
        return total

    def rate(self, step):
        warm = max(1, int(self.steps * self.settings.warmup))
        return step / warm if step < warm else max(0.0, (self.steps - step) / max(1, self.steps - warm))

    # -- the run -------------------------------------------------------------------------------------------------------

    def run(self):
        """Trains, from where it was stopped; returns the folder of the best model."""
        told = self.same_settings()
        if (self.folder / "done.json").exists():
            return self.cleared()
        self.prepare()
        (self.folder / "settings.json").write_text(json.dumps(told, indent=1) + "\n")
        settings = self.settings
        if not 0 < settings.share <= 1 or not all(0 < share <= 1 for share in settings.mix):
            raise SystemExit(f"{self.folder}: shares of trained weights are above 0 and at most 1")
        learning = [weight for weight in self.model.parameters() if weight.requires_grad]
        optimizer = torch.optim.AdamW(learning, lr=settings.rate, weight_decay=settings.decay, fused=True)
        self.resume(optimizer)
        if self.best is None:
            self.judge(optimizer, None)
        if self.waited >= settings.patience:
            return self.finish()
        started = time.monotonic() - self.spent
        losses = []
        for epoch in range(settings.epochs):
            each = math.ceil(len(self.train) / settings.batch)
            if self.step >= (epoch + 1) * each:
                continue
            for number, batch in enumerate(batches(self.train, self.texts, settings, epoch)):
                if epoch * each + number < self.step:
                    continue
                for group in optimizer.param_groups:
                    group["lr"] = settings.rate * self.rate(self.step)
                self.model.train()
                loss = self.loss(batch, self)
                loss.backward()
                if self.beside and self.step % settings.beside_every == 0:
                    turn, place = divmod(self.step // settings.beside_every, len(self.beside))
                    beside = self.beside[place]
                    self.loss(beside.batch(turn), beside).backward()
                torch.nn.utils.clip_grad_norm_(self.model.parameters(), settings.clip)
                optimizer.step()
                optimizer.zero_grad(set_to_none=True)
                losses.append(loss.item())
                self.step += 1
                if self.step % TOLD == 0:
                    self.say(f"{self.folder.name}: step {self.step} of {self.steps}, loss {sum(losses[-TOLD:]) / len(losses[-TOLD:]):.3f}")
                if self.step % settings.validate_every == 0 or self.step == self.steps:
                    self.spent = time.monotonic() - started
                    self.judge(optimizer, sum(losses) / len(losses))
                    losses = []
                    if self.waited >= settings.patience:
                        return self.finish()
        return self.finish()

    def same_settings(self):
        """If true, the folder's stage was started with the same settings, so it is resumed or counted as done."""
        path = self.folder / "settings.json"
        start = self.start.parent.name if self.start.name == "best" else self.start.name
        told = {"start": start, **dataclasses.asdict(self.settings)}
        # Settings that came later are what they are by default.
        if path.exists() and {**dataclasses.asdict(Settings()), **json.loads(path.read_text())} != told:
            raise SystemExit(f"{self.folder} was begun with other settings ({path.name}): remove it, or train into another folder")
        return told

    def judge(self, optimizer, loss):
        """Measures, keeps the model where it is the best so far, and leaves all that a resumed run needs."""
        found = self.measured()
        score = sum(found.values()) / len(found)
        if self.best is None or score > self.best:
            self.best, self.waited = score, 0
            self.write(self.folder / "best")
        else:
            self.waited += 1
        self.log({"step": self.step, "of": self.steps, "seconds": round(self.spent, 1), "loss": loss and round(loss, 4),
                  **{name: round(value, 4) for name, value in found.items()}, "kept": self.waited == 0})
        self.checkpoint(optimizer)

    def measured(self):
        self.model.eval()
        with torch.no_grad():
            return measure.judged(self) if self.judged else measure.ranked(self)

    @torch.no_grad()
    def vectors(self, places):
        """Vectors of the passages at these places, one row each, in their order."""
        self.model.eval()
        order = sorted(range(len(places)), key=lambda row: len(self.texts.rows[places[row]]))
        vectors = torch.zeros(len(order), self.model.network.config.hidden_size, device=self.device)
        for start in range(0, len(order), 64):
            rows = order[start:start + 64]
            vectors[rows] = self.encoded([self.texts.rows[places[row]] for row in rows])[2]
        return vectors

    # -- what is kept --------------------------------------------------------------------------------------------------

    def log(self, line):
        text = json.dumps(line)
        with open(self.folder / "log.jsonl", "a", encoding="utf-8") as file:
            file.write(text + "\n")
        self.say(f"{self.folder.name}: {text}")

    def checkpoint(self, optimizer):
        state = {"step": self.step, "best": self.best, "waited": self.waited, "spent": self.spent,
                 "model": self.model.state_dict(), "optimizer": optimizer.state_dict()}
        torch.save(state, self.folder / "state.pt.new")
        os.replace(self.folder / "state.pt.new", self.folder / "state.pt")

    def resume(self, optimizer):
        path = self.folder / "state.pt"
        if not path.exists():
            return
        state = torch.load(path, map_location=self.device, weights_only=True)
        self.step, self.best, self.waited, self.spent = (state[key] for key in ("step", "best", "waited", "spent"))
        self.model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        self.say(f"{self.folder.name}: goes on at step {self.step} of {self.steps}")

    def write(self, best):
        """A model's folder: weights, and the base's settings and tokenizer, with the length and the pooling of this stage."""
        staged = best.with_name(best.name + ".new")
        shutil.rmtree(staged, ignore_errors=True)
        for name in KEPT:
            if (self.start / name).exists():
                (staged / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(self.start / name, staged / name)
        folders.write(staged, self.settings.length, self.settings.pooling)
        self.model.save(staged)
        shutil.rmtree(best, ignore_errors=True)
        os.replace(staged, best)

    def finish(self):
        best = self.folder / "best"
        share = self.mixed(best) if self.settings.mix or self.settings.share != 1 else 1.0
        done = {"steps": self.step, "seconds": round(self.spent, 1), "best": round(self.best, 4), "share": share,
                "device": self.device, "threads": torch.get_num_threads(), "train": len(self.train), "valid": len(self.valid),
                "settings": dataclasses.asdict(self.settings)}
        (self.folder / "curve.svg").write_text(curve(self.folder / "log.jsonl"))
        (self.folder / "done.json").write_text(json.dumps(done, indent=1) + "\n")
        return self.cleared()

    def cleared(self):
        """The best model's folder, without what only a run that goes on needs."""
        (self.folder / "state.pt").unlink(missing_ok=True)
        shutil.rmtree(self.folder / "unmixed", ignore_errors=True)
        return self.folder / "best"

    def mixed(self, best):
        """Weights between those of the start and the trained ones (M. Wortsman et al., *Robust fine-tuning of zero-shot
        models*, CVPR 2022): few examples teach much that holds for these examples alone."""
        # Stopped while it mixes, a run does not mix what is mixed.
        unmixed = self.folder / "unmixed"
        if not unmixed.exists():
            shutil.copytree(best, staged := self.folder / "unmixed.new", dirs_exist_ok=True)
            os.replace(staged, unmixed)
        start = self.begun().state_dict()
        self.model.load_state_dict(Ranker.open(unmixed).state_dict())
        trained = {name: value.clone() for name, value in self.model.state_dict().items()}

        def between(share):
            return {name: start[name] + share * (value - start[name]) if value.is_floating_point() else value
                    for name, value in trained.items()}

        tried = []
        for share in sorted({*self.settings.mix, self.settings.share}):
            self.model.load_state_dict(between(share))
            found = self.measured()
            tried.append((sum(found.values()) / len(found), share))
            self.log({"share": share, **{name: round(value, 4) for name, value in found.items()}})
        self.best, share = max(tried)
        self.model.load_state_dict(between(share))
        self.write(best)
        return share
