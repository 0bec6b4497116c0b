#!/usr/bin/env python3
"""Makes the tiny models of later kinds, and what their reference implementations make of a few texts with them.

usage: make_kinds.py        needs numpy, onnx, tokenizers, safetensors, model2vec

Run by hand after `make.py`, whose WordPiece tokenizer it uses; the results are kept. The reference of `static-model2vec` is
model2vec itself. The others are reimplementations in numpy of the modules of sentence-transformers and PyLate, network included:
they need no torch. Weights are random with a fixed seed.
"""

import json
import pathlib
import shutil
import string

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

HERE = pathlib.Path(__file__).resolve().parent
HIDDEN, POSITIONS, ROWS = 16, 48, 8
EXPECTED = json.loads((HERE / "dpr/expected.json").read_text())
TEXTS = EXPECTED["texts"]
SPECIAL = {"unk_token": "[UNK]", "sep_token": "[SEP]", "pad_token": "[PAD]", "cls_token": "[CLS]", "mask_token": "[MASK]"}
# Pairs of a query and a text for cross-encoders, one text longer than the model.
PAIRS = [(TEXTS[0], TEXTS[1]), (TEXTS[0], TEXTS[2]), (TEXTS[2], TEXTS[5] * 3), (TEXTS[4], TEXTS[0]), (TEXTS[5], TEXTS[5])]


def write(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=1) + "\n")


def word_pieces(folder):
    """Copies the tokenizer of `make.py`; returns it without truncation and padding."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ["tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"]:
        shutil.copy(HERE / "dpr/question_encoder" / name, folder / name)
    return bare(folder / "tokenizer.json")


def bare(path):
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def byte_pairs(folder):
    """Trains a byte-level tokenizer of the kind of ModernBERT's, with PyLate's two markers."""
    tokenizer = Tokenizer(models.BPE(unk_token=None))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(TEXTS, trainers.BpeTrainer(vocab_size=320, special_tokens=special, initial_alphabet=alphabet))
    tokenizer.add_tokens(["[Q] ", "[D] "])
    ids = {name: tokenizer.token_to_id(name) for name in special}
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B [SEP]", special_tokens=[("[CLS]", ids["[CLS]"]), ("[SEP]", ids["[SEP]"])])
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    settings = {**SPECIAL, "tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": POSITIONS,
                "model_input_names": ["input_ids", "attention_mask"]}
    write(folder / "tokenizer_config.json", settings)
    return tokenizer


class Network:
    """One layer of attention over embeddings; the same in numpy and as ONNX."""

    def __init__(self, seed, vocabulary, head=None, types=True):
        random = np.random.default_rng(seed)
        matrix = lambda *shape: random.normal(0, 0.5, shape).astype(np.float32)
        self.weights = {"words": matrix(vocabulary, HIDDEN), "places": matrix(POSITIONS, HIDDEN), "query": matrix(HIDDEN, HIDDEN),
                        "key": matrix(HIDDEN, HIDDEN), "value": matrix(HIDDEN, HIDDEN)}
        self.types, self.head = types, head
        if types:
            self.weights["types"] = matrix(2, HIDDEN)
        if head == "terms":
            self.weights["head"], self.weights["bias"] = matrix(HIDDEN, vocabulary), matrix(vocabulary) - 1.5
        if head == "label":
            self.weights["head"], self.weights["bias"] = matrix(HIDDEN, 1), matrix(1)

    def run(self, ids, types=None):
        w, ids = self.weights, np.array(ids)
        x = w["words"][ids] + w["places"][: len(ids)]
        if self.types:
            x = x + w["types"][np.zeros(len(ids), int) if types is None else np.array(types)]
        scores = (x @ w["query"]) @ (x @ w["key"]).T / 4
        scores = np.exp(scores - scores.max(1, keepdims=True))
        y = x + np.tanh(scores / scores.sum(1, keepdims=True) @ x @ w["value"])
        if self.head == "terms":
            return y @ w["head"] + w["bias"]
        return y if self.head is None else np.tanh(y[0]) @ w["head"] + w["bias"]

    def save(self, path):
        names = ["input_ids", "attention_mask"] + (["token_type_ids"] if self.types else [])
        node = lambda kind, inputs, output, **more: helper.make_node(kind, inputs, [output], **more)
        nodes = [node("Gather", ["words", "input_ids"], "embedded"), node("Shape", ["input_ids"], "shape"),
                 node("Slice", ["shape", "one", "two"], "length"), node("Slice", ["places", "zero", "length"], "placed"),
                 node("Add", ["embedded", "placed"], "x0")]
        if self.types:
            nodes += [node("Gather", ["types", "token_type_ids"], "typed"), node("Add", ["x0", "typed"], "x")]
        else:
            nodes += [node("Identity", ["x0"], "x")]
        nodes += [node("MatMul", ["x", "query"], "q"), node("MatMul", ["x", "key"], "k"), node("Transpose", ["k"], "kt", perm=[0, 2, 1]),
                  node("MatMul", ["q", "kt"], "dots"), node("Div", ["dots", "four"], "scaled"),
                  node("Cast", ["attention_mask"], "attended", to=TensorProto.FLOAT), node("Sub", ["unit", "attended"], "hidden"),
                  node("Mul", ["hidden", "far"], "penalty"), node("Unsqueeze", ["penalty", "one"], "penalties"),
                  node("Add", ["scaled", "penalties"], "masked"), node("Softmax", ["masked"], "shares", axis=-1),
                  node("MatMul", ["shares", "x"], "mixed"), node("MatMul", ["mixed", "value"], "valued"), node("Tanh", ["valued"], "bent")]
        output, shape = "last_hidden_state", ["batch", "length", HIDDEN]
        if self.head is None:
            nodes += [node("Add", ["x", "bent"], output)]
        else:
            output, width = "logits", self.weights["head"].shape[1]
            nodes += [node("Add", ["x", "bent"], "y")]
            if self.head == "label":
                shape = ["batch", width]
                nodes += [node("Gather", ["y", "first"], "y0", axis=1), node("Tanh", ["y0"], "bent0"), node("MatMul", ["bent0", "head"], "product")]
            else:
                shape = ["batch", "length", width]
                nodes += [node("MatMul", ["y", "head"], "product")]
            nodes += [node("Add", ["product", "bias"], output)]
        constants = {"zero": np.array([0]), "one": np.array([1]), "two": np.array([2]), "first": np.array(0),
                     "four": np.array(4, np.float32), "unit": np.array(1, np.float32), "far": np.array(-1e4, np.float32)}
        used = {name for one in nodes for name in one.input}
        values = {name: value for name, value in {**self.weights, **constants}.items() if name in used}
        tensors = [numpy_helper.from_array(value, name) for name, value in values.items()]
        inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"]) for name in names]
        outputs = [helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)]
        model = helper.make_model(helper.make_graph(nodes, "tiny", inputs, outputs, tensors), opset_imports=[helper.make_opsetid("", 17)])
        model.ir_version = 8
        onnx.checker.check_model(model)
        path.parent.mkdir(parents=True, exist_ok=True)
        onnx.save(model, str(path))


def listed(rows):
    return [[float(f"{value:.7g}") for value in row] for row in np.atleast_2d(rows).tolist()]


def expect(folder, queries, documents, name="plain"):
    case = {"name": name, "options": {}, "queries": [listed(one) for one in queries], "documents": [listed(one) for one in documents]}
    (folder / "expected.json").write_text(json.dumps({"texts": TEXTS, "cases": [case]}, separators=(",", ":")) + "\n")


def config(folder, vocabulary, kind="BertModel", **more):
    write(folder / "config.json", {"architectures": [kind], "hidden_size": HIDDEN, "max_position_embeddings": POSITIONS,
                                   "vocab_size": vocabulary, **more})


def static_model2vec():
    from model2vec import StaticModel
    folder = HERE / "static-model2vec"
    tokenizer = word_pieces(folder)
    random = np.random.default_rng(21)
    size = tokenizer.get_vocab_size()
    # As after quantisation of the vocabulary: fewer vectors than tokens, and a weight for each token.
    model = StaticModel(random.normal(0, 1, (40, ROWS)).astype(np.float32), tokenizer, normalize=True, max_length=40,
                        weights=random.uniform(0.1, 2, size), token_mapping=random.integers(0, 40, size),
                        config={"model_type": "model2vec"})
    model.save_pretrained(folder)
    (folder / "README.md").unlink(missing_ok=True)
    vectors = [model.encode(text) for text in TEXTS]
    expect(folder, vectors, vectors)


def static_sentence_transformers():
    """StaticEmbedding: the mean over all tokens, without special ones; no truncation."""
    folder = HERE / "static-sentence-transformers"
    tokenizer = word_pieces(folder / "0_StaticEmbedding")
    for name in ["tokenizer_config.json", "special_tokens_map.json"]:
        (folder / "0_StaticEmbedding" / name).unlink()
    table = np.random.default_rng(22).normal(0, 1, (tokenizer.get_vocab_size(), ROWS)).astype(np.float32)
    save_file({"embedding.weight": table}, str(folder / "0_StaticEmbedding/model.safetensors"))
    modules = [("0_StaticEmbedding", "StaticEmbedding"), ("1_Normalize", "Normalize")]
    write(folder / "modules.json", [{"idx": place, "name": str(place), "path": path, "type": f"sentence_transformers.models.{kind}"}
                                    for place, (path, kind) in enumerate(modules)])
    means = [table[tokenizer.encode(text, add_special_tokens=False).ids].mean(0) for text in TEXTS]
    vectors = [mean / np.linalg.norm(mean) for mean in means]
    expect(folder, vectors, vectors)


def transformers_folder():
    """The mean of the token vectors, special tokens included."""
    folder = HERE / "transformers"
    tokenizer = word_pieces(folder)
    network = Network(23, tokenizer.get_vocab_size())
    network.save(folder / "onnx/model.onnx")
    config(folder, tokenizer.get_vocab_size())
    vectors = [network.run(cut(tokenizer, text, POSITIONS)).mean(0) for text in TEXTS]
    expect(folder, vectors, vectors)


def cut(tokenizer, text, length):
    """The tokens of a text with the special ones, at most `length`."""
    ids = tokenizer.encode(text).ids
    return ids if len(ids) <= length else ids[: length - 1] + ids[-1:]


def colbert_modernbert():
    """As PyLate reads mxbai-edge-colbert or LateOn: a byte-level tokenizer, no segments, two projections with a residual, no expansion."""
    folder = HERE / "colbert-modernbert"
    tokenizer = byte_pairs(folder)
    network = Network(24, tokenizer.get_vocab_size(), types=False)
    network.save(folder / "model.onnx")
    config(folder, tokenizer.get_vocab_size(), "ModernBertModel", model_type="modernbert", global_attn_every_n_layers=3, local_attention=128)
    random = np.random.default_rng(25)
    matrix = lambda *shape: random.normal(0, 0.4, shape).astype(np.float32)
    first, second, residual = matrix(HIDDEN, HIDDEN), matrix(ROWS, HIDDEN), matrix(ROWS, HIDDEN)
    for name, tensors in [("1_Dense", {"linear.weight": first}), ("2_Dense", {"linear.weight": second, "residual.weight": residual})]:
        (folder / name).mkdir(exist_ok=True)
        rows, columns = tensors["linear.weight"].shape
        write(folder / name / "config.json", {"in_features": columns, "out_features": rows, "bias": False, "use_residual": True,
                                              "activation_function": "torch.nn.modules.linear.Identity",
                                              "module_input_name": "token_embeddings", "module_output_name": "token_embeddings"})
        save_file(tensors, str(folder / name / "model.safetensors"))
    kinds = [("", "sentence_transformers.models.Transformer"), ("1_Dense", "pylate.models.Dense.Dense"), ("2_Dense", "pylate.models.Dense.Dense")]
    write(folder / "modules.json", [{"idx": place, "name": str(place), "path": path, "type": kind} for place, (path, kind) in enumerate(kinds)])
    write(folder / "sentence_bert_config.json", {"max_seq_length": 31, "do_lower_case": True})
    skipped = list(string.punctuation)
    write(folder / "config_sentence_transformers.json", {
        "model_type": "ColBERT", "prompts": {"query": "", "document": ""}, "default_prompt_name": None, "similarity_fn_name": "MaxSim",
        "query_prefix": "[Q] ", "document_prefix": "[D] ", "query_length": 16, "document_length": 32, "attend_to_expansion_tokens": False,
        "do_query_expansion": False, "skiplist_words": skipped})
    skipped = {tokenizer.token_to_id(word) for word in skipped} - {None}

    def encode(text, query):
        # PyLate cuts to one token less, and inserts the marker.
        ids = cut(tokenizer, text.lower().strip(), (16 if query else 32) - 1)
        ids.insert(1, tokenizer.token_to_id("[Q] " if query else "[D] "))
        rows = network.run(ids)
        rows = rows @ first.T + rows
        rows = rows @ second.T + rows @ residual.T
        rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return rows if query else rows[[place for place, id in enumerate(ids) if id not in skipped]]

    expect(folder, [encode(text, True) for text in TEXTS], [encode(text, False) for text in TEXTS])


def cross_encoder():
    folder = HERE / "cross-encoder"
    tokenizer = word_pieces(folder)
    network = Network(26, tokenizer.get_vocab_size(), head="label")
    network.save(folder / "onnx/model.onnx")
    config(folder, tokenizer.get_vocab_size(), "BertForSequenceClassification", id2label={"0": "LABEL_0"})
    tokenizer.enable_truncation(POSITIONS, strategy="longest_first")
    scores = []
    for query, text in PAIRS:
        encoding = tokenizer.encode(query, text)
        logit = float(network.run(encoding.ids, encoding.type_ids)[0])
        scores.append({"query": query, "text": text, "logit": logit, "score": 1 / (1 + float(np.exp(-logit)))})
    (folder / "expected.json").write_text(json.dumps(scores, indent=1) + "\n")


def splade():
    """Twice the same network: with queries by the network, and with queries by weights of their tokens."""
    folder, routed = HERE / "splade", HERE / "splade-inference-free"
    tokenizer = word_pieces(folder)
    size = tokenizer.get_vocab_size()
    network = Network(27, size, head="terms")
    network.save(folder / "onnx/model.onnx")
    config(folder, size, "BertForMaskedLM")
    modules = [("", "MLMTransformer"), ("1_SpladePooling", "SpladePooling")]
    prefix = "sentence_transformers.sparse_encoder.models"
    write(folder / "modules.json", [{"idx": place, "name": str(place), "path": path, "type": f"{prefix}.{kind}"} for place, (path, kind) in enumerate(modules)])
    pooling = {"pooling_strategy": "max", "activation_function": "relu", "word_embedding_dimension": size}
    write(folder / "1_SpladePooling/config.json", pooling)
    write(folder / "sentence_bert_config.json", {"max_seq_length": 32, "do_lower_case": False})
    settings = {"model_type": "SparseEncoder", "prompts": {"query": "", "document": ""}, "default_prompt_name": None, "similarity_fn_name": "dot"}
    write(folder / "config_sentence_transformers.json", settings)

    def by_network(text, twice):
        weights = np.log1p(np.maximum(network.run(cut(tokenizer, text, 32)), 0))
        weights = np.log1p(weights) if twice else weights
        return pairs(weights.max(0))

    def pairs(weights):
        return [[int(term), float(f"{weights[term]:.7g}")] for term in np.flatnonzero(weights)]

    def expected(place, query, twice):
        value = {"texts": TEXTS, "queries": [query(text) for text in TEXTS], "documents": [by_network(text, twice) for text in TEXTS]}
        (place / "expected.json").write_text(json.dumps(value, separators=(",", ":")) + "\n")

    expected(folder, lambda text: by_network(text, False), False)

    # The module of the transformer lies in the folder itself, as in the models of OpenSearch.
    word_pieces(routed)
    word_pieces(routed / "query_0_SparseStaticEmbedding")
    network.save(routed / "model.onnx")
    config(routed, size, "BertForMaskedLM")
    write(routed / "sentence_bert_config.json", {"max_seq_length": 32, "do_lower_case": False})
    write(routed / "config_sentence_transformers.json", settings)
    write(routed / "document_1_SpladePooling/config.json", {**pooling, "activation_function": "log1p_relu"})
    write(routed / "query_0_SparseStaticEmbedding/config.json", {"frozen": False})
    idf = np.random.default_rng(28).uniform(0, 9, size).astype(np.float32)
    save_file({"weight": idf}, str(routed / "query_0_SparseStaticEmbedding/model.safetensors"))
    write(routed / "modules.json", [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Router"}])
    types = {"query_0_SparseStaticEmbedding": "SparseStaticEmbedding", "": "MLMTransformer", "document_1_SpladePooling": "SpladePooling"}
    write(routed / "router_config.json", {
        "types": {name: f"{prefix}.{kind}" for name, kind in types.items()},
        "structure": {"query": ["query_0_SparseStaticEmbedding"], "document": ["", "document_1_SpladePooling"]},
        "parameters": {"default_route": "query", "allow_empty_key": True}})

    def by_weights(text):
        present = np.zeros(size, np.float32)
        present[tokenizer.encode(text, add_special_tokens=False).ids] = 1
        return pairs(present * idf)

    expected(routed, by_weights, True)


if __name__ == "__main__":
    for make in (static_model2vec, static_sentence_transformers, transformers_folder, colbert_modernbert, cross_encoder, splade):
        make()
