#!/usr/bin/env python3
"""Test of the ONNX export of training, without torch: a small random network is compared with numpy, then opened by Lodeseek.

usage: export.py PROGRAM

Skipped with a message if numpy, onnx, onnxruntime and safetensors cannot be installed from PyPI.
"""

import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]

sys.path.insert(0, str(ROOT / "tools"))
import model as base

TOKENIZER = ROOT / "testdata/models/sentence-transformers"
HIDDEN, WIDE, HEADS, LAYERS, PLACES, VOCABULARY, ROWS = 32, 64, 4, 2, 48, 223, 16


def weights(numpy):
    """Returns a random checkpoint with the tensor names of transformers."""
    random = numpy.random.default_rng(7)
    shapes = {"embeddings.word_embeddings.weight": (VOCABULARY, HIDDEN), "embeddings.position_embeddings.weight": (PLACES, HIDDEN),
              "embeddings.token_type_embeddings.weight": (2, HIDDEN)}
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}."
        linear = {f"attention.self.{part}": (HIDDEN, HIDDEN) for part in ("query", "key", "value")}
        linear |= {"attention.output.dense": (HIDDEN, HIDDEN), "intermediate.dense": (WIDE, HIDDEN), "output.dense": (HIDDEN, WIDE)}
        for name, shape in linear.items():
            shapes |= {f"{at}{name}.weight": shape, f"{at}{name}.bias": shape[:1]}
    tensors = {name: random.normal(0, 0.3, shape).astype(numpy.float32) for name, shape in shapes.items()}
    for at in ["embeddings"] + [f"encoder.layer.{layer}.{part}output" for layer in range(LAYERS) for part in ("attention.", "")]:
        tensors[f"{at}.LayerNorm.weight"] = random.uniform(0.5, 1.5, HIDDEN).astype(numpy.float32)
        tensors[f"{at}.LayerNorm.bias"] = random.normal(0, 0.1, HIDDEN).astype(numpy.float32)
    return tensors


def forward(numpy, tensors, ids):
    """Computes BERT (Devlin et al., NAACL 2019) for one text."""
    def linear(rows, name):
        return rows @ tensors[f"{name}.weight"].T + tensors[f"{name}.bias"]

    def normalized(rows, name):
        centred = rows - rows.mean(-1, keepdims=True)
        return centred / numpy.sqrt((centred ** 2).mean(-1, keepdims=True) + 1e-12) * tensors[f"{name}.weight"] + tensors[f"{name}.bias"]

    rows = (tensors["embeddings.word_embeddings.weight"][ids] + tensors["embeddings.position_embeddings.weight"][:len(ids)]
            + tensors["embeddings.token_type_embeddings.weight"][0])
    rows = normalized(rows, "embeddings.LayerNorm")
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}"
        query, key, value = (linear(rows, f"{at}.attention.self.{part}").reshape(len(ids), HEADS, -1) for part in ("query", "key", "value"))
        mixed = []
        for head in range(HEADS):
            scores = query[:, head] @ key[:, head].T / math.sqrt(HIDDEN / HEADS)
            shares = numpy.exp(scores - scores.max(-1, keepdims=True))
            mixed.append(shares / shares.sum(-1, keepdims=True) @ value[:, head])
        attended = linear(numpy.concatenate(mixed, -1), f"{at}.attention.output.dense")
        rows = normalized(attended + rows, f"{at}.attention.output.LayerNorm")
        wide = linear(rows, f"{at}.intermediate.dense")
        wide = wide * 0.5 * (1 + numpy.vectorize(math.erf)(wide / math.sqrt(2)))
        rows = normalized(linear(wide, f"{at}.output.dense") + rows, f"{at}.output.LayerNorm")
    return rows


def checkpoint(numpy, folder):
    from safetensors.numpy import save_file
    for name in ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(TOKENIZER / name, folder / name)
    tensors = weights(numpy)
    save_file(tensors, folder / "model.safetensors")
    (folder / "pieces/1_Dense").mkdir(parents=True)
    save_file({"linear.weight": numpy.random.default_rng(8).normal(0, 0.3, (ROWS, HIDDEN)).astype(numpy.float32)},
              folder / "pieces/1_Dense/model.safetensors")
    kinds = "sentence_transformers.models"
    settings = {
        "config.json": {"model_type": "bert", "hidden_act": "gelu", "hidden_size": HIDDEN, "num_attention_heads": HEADS,
                        "num_hidden_layers": LAYERS, "intermediate_size": WIDE, "max_position_embeddings": PLACES,
                        "layer_norm_eps": 1e-12, "vocab_size": VOCABULARY},
        "sentence_bert_config.json": {"max_seq_length": PLACES, "do_lower_case": False},
        "modules.json": [{"idx": 0, "name": "0", "path": "", "type": f"{kinds}.Transformer"},
                         {"idx": 1, "name": "1", "path": "1_Pooling", "type": f"{kinds}.Pooling"},
                         {"idx": 2, "name": "2", "path": "2_Normalize", "type": f"{kinds}.Normalize"}],
        "1_Pooling/config.json": {"word_embedding_dimension": HIDDEN, "pooling_mode_mean_tokens": True},
    }
    for path, value in settings.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(json.dumps(value))
    return tensors


def compare(numpy, folder, tensors):
    import onnxruntime
    for file, least in [("model.onnx", 0.999999), ("model_int8.onnx", 0.995)]:
        session = onnxruntime.InferenceSession(str(folder / file), providers=["CPUExecutionProvider"])
        cosines = []
        for ids in [[2, 10, 3], [2, *range(5, 40), 3]]:
            theirs = forward(numpy, tensors, numpy.array(ids)).ravel()
            row = numpy.array([ids], numpy.int64)
            ours = session.run(["last_hidden_state"], {"input_ids": row, "attention_mask": numpy.ones_like(row),
                                                       "token_type_ids": numpy.zeros_like(row)})[0].ravel()
            cosines.append(float(ours @ theirs / numpy.linalg.norm(ours) / numpy.linalg.norm(theirs)))
        print(f"export: {file}: cosine with numpy's result at least {min(cosines):.7f}")
        if min(cosines) < least:
            sys.exit(f"export: {file} is not the network that was trained")


def opened(program, work):
    def run(*arguments):
        done = subprocess.run([program, "--home", str(work / "home"), *arguments], cwd=ROOT, text=True, capture_output=True)
        if done.returncode != 0:
            sys.exit(f"export: lodeseek {' '.join(arguments)} ended with {done.returncode}: {done.stderr}")
        return done
    model = str(work / "model")
    run("load", "testdata/catalog.ttl")
    log = run("index", "--dpr", model, "--colbert", model).stderr
    if log.count("datasets encoded") != 2:
        sys.exit(f"export: not encoded by both heads: {log}")
    found = json.loads(run("search", "--json", "trees").stdout)
    kinds = [one["granularity"] for one in found["hits"][0]["dense"]]
    if kinds != ["text", "piece"]:
        sys.exit(f"export: the first hit was scored by {kinds}")


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    if not os.environ.get("ORT_DYLIB_PATH"):
        print("export: SKIPPED, ORT_DYLIB_PATH is not set: no ONNX Runtime")
        return
    try:
        base.tools()
    except SystemExit as reason:
        print(f"export: SKIPPED, Python packages could not be installed: {reason}")
        return
    import numpy
    from lodeseek_training.export import export
    with tempfile.TemporaryDirectory(prefix="lodeseek-export-") as name:
        work = pathlib.Path(name)
        tensors = checkpoint(numpy, work / "trained")
        export(work / "trained", work / "model")
        compare(numpy, work / "model", tensors)
        opened(program, work)
    print("export: exported, compared, opened with both heads")


if __name__ == "__main__":
    main()
