"""Settings of a model's folder that training, indexing and querying share: the maximum length of a text in tokens, and the pooling of
the text head. Lodeseek reads the same files. Needs no torch."""

import json
import pathlib

LENGTH = "sentence_bert_config.json"
POOLING = "1_Pooling/config.json"
MODES = {"mean": "pooling_mode_mean_tokens", "cls": "pooling_mode_cls_token"}


def read(path):
    return json.loads(path.read_text()) if path.exists() else {}


def length(folder):
    """Returns the maximum number of tokens of a text, special tokens included."""
    folder = pathlib.Path(folder)
    found = read(folder / LENGTH).get("max_seq_length") or read(folder / "config.json").get("max_position_embeddings")
    if not isinstance(found, int):
        raise SystemExit(f"{folder}: neither {LENGTH} nor config.json states the maximum length of a text")
    return found


def pooling(folder):
    """Returns the pooling of the text head: `mean` of all tokens, or `cls`, the first token."""
    folder = pathlib.Path(folder)
    settings = read(folder / POOLING)
    named = settings.get("pooling_mode")
    modes = [named] if named else [mode for mode, key in MODES.items() if settings.get(key)]
    others = [key for key, value in settings.items() if key.startswith("pooling_mode_") and value and key not in MODES.values()]
    if len(modes) != 1 or modes[0] not in MODES or others:
        raise SystemExit(f"{folder / POOLING}: models with mean or cls pooling are trained here, not with {modes + others}")
    return modes[0]


def write(folder, maximum=None, mode=None):
    """Changes the length and the pooling of a model's folder. None: unchanged."""
    folder = pathlib.Path(folder)
    if maximum is not None:
        most = read(folder / "config.json").get("max_position_embeddings", maximum)
        if not 3 <= maximum <= most:
            raise SystemExit(f"{folder}: a length of {maximum} tokens is not possible: 3 to {most}")
        store(folder / LENGTH, {**read(folder / LENGTH), "max_seq_length": maximum})
    if mode is not None:
        if mode not in MODES:
            raise SystemExit(f"unknown pooling {mode!r}; known: {', '.join(MODES)}")
        own = {key: value for key, value in read(folder / POOLING).items() if not key.startswith("pooling_mode")}
        store(folder / POOLING, {**own, **{key: name == mode for name, key in MODES.items()}})


def store(path, settings):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(settings, indent=2) + "\n")
