"""A trained model as the folder that Lodeseek opens: ONNX in fp32 and int8, tokenizer, settings; with a piece head, a second folder
in it for ColBERT, whose network is the same file. Needs no torch but for `parity.json`."""

import json
import pathlib
import shutil
import string
import tempfile

from .folder import length, pooling
from .onnx_bert import bert, in_blocks

COPIED = ["config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "sentence_bert_config.json",
          "config_sentence_transformers.json", "modules.json", "1_Pooling/config.json"]
CHECKED = ["air quality in Paris", "rain", "nitrogen reduction plan of the Chesapeake Bay, 2010 to 2025; " * 12,
           "Où trouver des données ouvertes sur les arbres de la ville ?",
           "I want to use adversarial learning to perform domain adaptation for semantic segmentation"]


def export(model, output, parity=False, variants=("model.onnx", "model_int8.onnx")):
    """Writes `output` whole or not at all."""
    import onnx
    from safetensors.numpy import load_file
    model, output = pathlib.Path(model), pathlib.Path(output)
    output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".export-", dir=output.parent) as name:
        staged = pathlib.Path(name) / "model"
        for file in COPIED:
            if (model / file).exists():
                (staged / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(model / file, staged / file)
        network = bert(json.loads((model / "config.json").read_text()), load_file(str(model / "model.safetensors")), output.name)
        onnx.save(network, str(staged / "model.onnx"))
        if "model_int8.onnx" in variants:
            in_blocks(staged / "model.onnx", staged / "model_int8.onnx")
        if (model / "pieces").exists():
            pieces(model / "pieces", staged / "pieces")
        if parity:
            (staged / "parity.json").write_text(json.dumps(reference(model)) + "\n")
        if "model.onnx" not in variants:
            (staged / "model.onnx").unlink()
        shutil.rmtree(output, ignore_errors=True)
        staged.rename(output)


def pieces(source, folder):
    """ColBERT's modules as sentence-transformers writes them: the transformer is the folder above."""
    from safetensors import safe_open
    (folder / "1_Dense").mkdir(parents=True)
    shutil.copy(source / "1_Dense" / "model.safetensors", folder / "1_Dense" / "model.safetensors")
    with safe_open(str(source / "1_Dense" / "model.safetensors"), "np") as tensors:
        rows, columns = tensors.get_slice("linear.weight").get_shape()
    kinds = "sentence_transformers.models"
    settings = {
        "modules.json": [{"idx": 0, "name": "0", "path": "..", "type": f"{kinds}.Transformer"},
                         {"idx": 1, "name": "1", "path": "1_Dense", "type": f"{kinds}.Dense"},
                         {"idx": 2, "name": "2", "path": "2_Normalize", "type": f"{kinds}.Normalize"},
                         {"idx": 3, "name": "3", "path": "3_MultiVectorMask", "type": f"{kinds}.MultiVectorMask"}],
        "1_Dense/config.json": {"in_features": columns, "out_features": rows, "bias": False,
                                "activation_function": "torch.nn.modules.linear.Identity"},
        "3_MultiVectorMask/config.json": {"skiplist_words": list(string.punctuation)},
        "config_sentence_transformers.json": {"similarity_fn_name": "MaxSim"},
    }
    for path, value in settings.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(json.dumps(value, indent=1) + "\n")


def reference(model):
    """Texts, and what torch's network makes of them: the vector of each as query, and with a piece head the first three rows of
    each as query, and as passage how many rows are left."""
    import torch

    from .data import Cutter, Passage
    from .model import Ranker
    network = Ranker.open(model).eval()
    cutter = Cutter(model, length(model))
    found = []
    with torch.no_grad():
        for text in CHECKED:
            ids, mask = cutter.filled([cutter.query(text)])
            vector, rows = network(ids, mask)
            line = {"text": text, "pieces": ids.shape[1], "vector": [round(value, 6) for value in vector[0].tolist()]}
            if rows is not None:
                ids, mask = cutter.filled([cutter.passage(Passage("", "", [text], None, None))])
                line |= {"rows": [[round(value, 6) for value in row] for row in rows[0, :3].tolist()],
                         "kept": int(network.kept(ids, mask).sum())}
            found.append(line)
    return found


def parity(folder):
    """The networks in an exported folder against torch's vectors in its `parity.json`: the least cosine of each file."""
    import numpy as np
    import onnxruntime

    from .data import Cutter
    folder = pathlib.Path(folder)
    cutter, mode = Cutter(folder, length(folder)), pooling(folder)
    found = {}
    for path in sorted(folder.glob("model*.onnx")):
        session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        cosines = []
        for line in json.loads((folder / "parity.json").read_text()):
            ids = np.array([cutter.query(line["text"])], np.int64)
            inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
            rows = session.run(["last_hidden_state"], inputs)[0][0]
            ours = rows[0] if mode == "cls" else rows.mean(axis=0)
            cosines.append(float(ours @ np.array(line["vector"]) / np.linalg.norm(ours)))
        found[path.name] = min(cosines)
    least = {"model.onnx": 0.99999, "model_int8.onnx": 0.995}
    for name, cosine in found.items():
        print(f"{name}: cosine against torch at least {cosine:.6f}")
        if cosine < least[name]:
            raise SystemExit(f"{folder / name} differs from torch's")
