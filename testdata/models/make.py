#!/usr/bin/env python3
"""Makes the tiny models of this folder, and what the reference implementations make of a few texts with them.

usage: make.py families     everything but `native`: needs torch, transformers, sentence-transformers 5, pylate, onnx,
                            onnxruntime, safetensors
       make.py native       needs sentence-transformers 6 in place of 5

Run by hand; the results are kept. Weights are random with a fixed seed, far larger than usual so that vectors differ;
words and texts were written for this purpose. Each folder holds a model as its own software writes it, with the network as
ONNX in place of torch's weights, and `expected.json`: for each way of opening it (`options` are settings to be changed in
the named files before), the vectors of TEXTS as queries and as documents.
"""

import json
import os
import pathlib
import shutil
import string
import sys
import tempfile

import torch
import transformers

transformers.logging.set_verbosity_error()
HERE = pathlib.Path(__file__).resolve().parent
HIDDEN, POSITIONS, ROWS = 16, 48, 8
WORDS = """the a of in and for to is on with data dataset water air quality river bay tree street city park hospital trial school
bus stop train station map museum object painting glass coin soil rock bore hole sensor building room energy heat rain wind
snow temperature pressure number count year month day time name label type class property link person place country region
france paris york maryland chesapeake nitrogen oxygen plan report table list open linked ontology query search engine question
where can i find what which how many are there measured found made by from at near under over high low small large old new""".split()
PIECES = ["##s", "##ed", "##ing", "##er", "##ly", "##tion", "##ity", "##al"]
TEXTS = [
    "air quality in Paris",
    "Where can I find measured nitrogen, oxygen and temperature of the Chesapeake Bay?",
    "rain",
    "Bore-holes (old and new): rocks, soils & pressures; see the report, table 7.",
    "Hospitals near Maryland's schools \u2014 caf\u00e9 na\u00efve \u4e2d\u6587 \U0001f600 unknowable",
    "the bus stops at the station and the train stops at the museum; " * 6,
]


def vocabulary():
    letters = string.ascii_lowercase + string.digits
    special = ["[PAD]", "[unused0]", "[unused1]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    entries = special + list(string.punctuation) + list(letters) + ["##" + letter for letter in letters] + WORDS + PIECES
    return list(dict.fromkeys(entries))


def tokenizer(folder, limit=POSITIONS):
    """As BERT's. Like all-MiniLM-L6-v2's, tokenizer.json cuts and fills at a length that is not the model's."""
    from tokenizers import BertWordPieceTokenizer
    folder.mkdir(parents=True, exist_ok=True)
    made = BertWordPieceTokenizer(vocab={entry: number for number, entry in enumerate(vocabulary())}, lowercase=True)
    made.enable_truncation(9)
    made.enable_padding(length=9)
    made.save(str(folder / "tokenizer.json"), pretty=False)
    names = {"unk_token": "[UNK]", "sep_token": "[SEP]", "pad_token": "[PAD]", "cls_token": "[CLS]", "mask_token": "[MASK]"}
    settings = {**names, "tokenizer_class": "BertTokenizer", "model_max_length": limit, "do_lower_case": True}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    (folder / "special_tokens_map.json").write_text(json.dumps(names))


def settings(**more):
    return dict(vocab_size=len(vocabulary()), hidden_size=HIDDEN, num_hidden_layers=1, num_attention_heads=2,
                intermediate_size=32, max_position_embeddings=POSITIONS, initializer_range=0.4, **more)


def bert(seed):
    torch.manual_seed(seed)
    return transformers.BertModel(transformers.BertConfig(**settings()), add_pooling_layer=False).eval()


class Graph(torch.nn.Module):
    """What goes into the ONNX file."""

    def __init__(self, model, finish=lambda rows: rows, types=True):
        super().__init__()
        self.model, self.finish, self.types = model, finish, types

    def forward(self, input_ids, attention_mask, token_type_ids=None):
        types = {"token_type_ids": token_type_ids} if self.types else {}
        return self.finish(self.model(input_ids=input_ids, attention_mask=attention_mask, **types)[0])


def export(model, path, output="last_hidden_state", axes=("batch", "length"), **more):
    path.parent.mkdir(parents=True, exist_ok=True)
    graph = Graph(model, **more).eval()
    names = ["input_ids", "attention_mask"] + (["token_type_ids"] if graph.types else [])
    example = tuple(torch.ones(2, 5, dtype=torch.long) for _ in names)
    dynamic = {name: {0: "batch", 1: "length"} for name in names} | {output: dict(enumerate(axes))}
    torch.onnx.export(graph, example, str(path), input_names=names, output_names=[output], dynamic_axes=dynamic, opset_version=17,
                      dynamo=False)
    slim(path)


def slim(path):
    """Drops what the exporter notes about its own source lines."""
    import onnx
    model = onnx.load(str(path))
    for node in model.graph.node:
        node.doc_string = ""
    onnx.save(model, str(path))


def quantized(path, target):
    from onnxruntime.quantization import QuantType, quantize_dynamic
    target.parent.mkdir(parents=True, exist_ok=True)
    # Seven bits: on processors with AVX2 and without VNNI, ONNX Runtime's sums of two products of eight bits saturate.
    quantize_dynamic(str(path), str(target), per_channel=True, reduce_range=True, weight_type=QuantType.QInt8)


def halved(path, target):
    import onnx
    from onnxruntime.transformers.float16 import convert_float_to_float16
    onnx.save(convert_float_to_float16(onnx.load(str(path)), keep_io_types=False), str(target))


def rows(tensor):
    return [[float(f"{value:.7g}") for value in row] for row in torch.as_tensor(tensor).reshape(-1, torch.as_tensor(tensor).shape[-1]).tolist()]


def write(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=1) + "\n")


def expect(folder, cases):
    (folder / "expected.json").write_text(json.dumps({"texts": TEXTS, "cases": cases}, separators=(",", ":")) + "\n")


def case(name, queries, documents, **options):
    """The vectors of each text; `options` maps files to the settings to be changed in them."""
    return {"name": name, "options": options.get("options", {}), "queries": [rows(one) for one in queries],
            "documents": [rows(one) for one in documents]}


def sentence_transformers():
    from sentence_transformers import SentenceTransformer
    folder = HERE / "sentence-transformers"
    modules = ["Transformer", "Pooling", "Dense", "Normalize"]
    paths = ["", "1_Pooling", "2_Dense", "3_Normalize"]
    model = bert(1)
    tokenizer(folder)
    model.config.save_pretrained(folder)
    export(model, folder / "model.onnx")
    quantized(folder / "model.onnx", folder / "onnx/model_quantized.onnx")
    halved(folder / "model.onnx", folder / "model_fp16.onnx")
    write(folder / "modules.json", [{"idx": number, "name": str(number), "path": path, "type": f"sentence_transformers.models.{kind}"}
                                    for number, (kind, path) in enumerate(zip(modules, paths))])
    write(folder / "sentence_bert_config.json", {"max_seq_length": 24, "do_lower_case": False})
    old = {"word_embedding_dimension": HIDDEN, "pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True,
           "pooling_mode_max_tokens": False, "pooling_mode_mean_sqrt_len_tokens": False}
    write(folder / "1_Pooling/config.json", old)
    (folder / "3_Normalize").mkdir(exist_ok=True)
    (folder / "3_Normalize/config.json").write_text("{}\n")
    dense(folder / "2_Dense", HIDDEN, ROWS, "torch.nn.modules.activation.Tanh", bias=True, seed=2)
    write(folder / "config_sentence_transformers.json", {"prompts": {}, "default_prompt_name": None, "similarity_fn_name": "cosine"})
    prompts = {"prompts": {"query": "find: ", "passage": "The report: "}, "default_prompt_name": None, "similarity_fn_name": "dot"}
    two = dict(old, pooling_mode_cls_token=True, pooling_mode_max_tokens=True, pooling_mode_mean_tokens=False)
    kinds = [("plain", {})]
    for mode in ["cls", "max", "mean_sqrt_len_tokens", "weightedmean", "lasttoken"]:
        new = {"word_embedding_dimension": HIDDEN, "pooling_mode": mode}
        kinds.append((mode, {"1_Pooling/config.json": new}))
    kinds.append(("prompts", {"config_sentence_transformers.json": prompts, "sentence_bert_config.json": {"max_seq_length": 24, "do_lower_case": True}}))
    kinds.append(("prompts left out of the mean", {"config_sentence_transformers.json": prompts, "1_Pooling/config.json": dict(old, include_prompt=False)}))
    without = [module for module in json.loads((folder / "modules.json").read_text()) if module["path"] not in ("2_Dense", "3_Normalize")]
    kinds.append(("two poolings, nothing behind them", {"1_Pooling/config.json": two, "modules.json": without}))
    kinds.append(("the tokenizer's own length", {"sentence_bert_config.json": {"max_seq_length": None}}))
    cases = []
    for name, options in kinds:
        with tempfile.TemporaryDirectory() as work:
            copy = pathlib.Path(work) / "model"
            shutil.copytree(folder, copy)
            model.save_pretrained(copy)
            for file, value in options.items():
                write(copy / file, value)
            reference = SentenceTransformer(str(copy), device="cpu")
            # By name: encode_document would find the empty prompt `document` first, which the library itself adds.
            names = {side: name for side, name in [(True, "query"), (False, "passage")] if reference.prompts.get(name)}
            encode = lambda text, side: reference.encode(text, prompt_name=names.get(side), convert_to_tensor=True)
            cases.append(case(name, [encode(text, True) for text in TEXTS], [encode(text, False) for text in TEXTS], options=options))
    expect(folder, cases)


def dense(folder, columns, count, activation, bias, seed):
    from safetensors.torch import save_file
    torch.manual_seed(seed)
    write(folder / "config.json", {"in_features": columns, "out_features": count, "bias": bias, "activation_function": activation})
    weights = {"linear.weight": torch.randn(count, columns) * 0.3}
    if bias:
        weights["linear.bias"] = torch.randn(count)
    save_file(weights, str(folder / "model.safetensors"))
    return weights


def dpr():
    folder = HERE / "dpr"
    sides = [("question_encoder", transformers.DPRQuestionEncoder, 3), ("ctx_encoder", transformers.DPRContextEncoder, 4)]
    vectors = []
    for name, kind, seed in sides:
        torch.manual_seed(seed)
        model = kind(transformers.DPRConfig(**settings(projection_dim=0))).eval()
        tokenizer(folder / name)
        model.config.save_pretrained(folder / name)
        base = getattr(model, "question_encoder", None) or model.ctx_encoder
        export(base.bert_model, folder / name / "model.onnx")
        cutter = transformers.BertTokenizerFast(tokenizer_file=str(folder / name / "tokenizer.json"))
        with torch.no_grad():
            vectors.append([model(**cutter(text, return_tensors="pt", truncation=True, padding=False, max_length=POSITIONS)).pooler_output
                            for text in TEXTS])
    expect(folder, [case("plain", *vectors)])


def stanford():
    """The reference is PyLate's reading of the checkpoint."""
    from pylate import models
    from safetensors.torch import load_file, save_file
    folder = HERE / "colbert-stanford"
    model = bert(5)
    tokenizer(folder)
    write(folder / "config.json", dict(model.config.to_dict(), architectures=["HF_ColBERT"]))
    export(model, folder / "model.onnx", types=False)
    torch.manual_seed(6)
    linear = torch.randn(ROWS, HIDDEN) * 0.3
    save_file({"linear.weight": linear}, str(folder / "model.safetensors"))
    metadata = {"query_token_id": "[unused0]", "doc_token_id": "[unused1]", "query_token": "[Q]", "doc_token": "[D]", "dim": ROWS,
                "similarity": "cosine", "mask_punctuation": True, "attend_to_mask_tokens": False, "query_maxlen": 16, "doc_maxlen": 32}
    cases = []
    for name, more in [("plain", {}), ("attention to masks", {"attend_to_mask_tokens": True}), ("punctuation counts", {"mask_punctuation": False})]:
        changed = dict(metadata, **more)
        with torch.no_grad():
            cases.append(case(name, [by_stanford(folder, model, linear, changed, text, True) for text in TEXTS],
                              [by_stanford(folder, model, linear, changed, text, False) for text in TEXTS],
                              options={"artifact.metadata": changed} if more else {}))
        if changed["mask_punctuation"]:
            # PyLate reads the same checkpoint; it knows neither another skip list nor `mask_punctuation`.
            with tempfile.TemporaryDirectory() as work:
                copy = pathlib.Path(work) / "model"
                shutil.copytree(folder, copy)
                save_file(dict({"bert." + name: value.contiguous() for name, value in model.state_dict().items()}, **{"linear.weight": linear}),
                          str(copy / "model.safetensors"), metadata={"format": "pt"})
                write(copy / "artifact.metadata", changed)
                pylate = models.ColBERT(str(copy), device="cpu", query_length=16, document_length=32,
                                        attend_to_expansion_tokens=changed["attend_to_mask_tokens"])
                for side, mine in [(True, cases[-1]["queries"]), (False, cases[-1]["documents"])]:
                    for text, vectors in zip(TEXTS, mine):
                        theirs = torch.as_tensor(pylate.encode(text, is_query=side))
                        assert theirs.shape == torch.tensor(vectors).shape, (name, side, text, theirs.shape)
                        difference = (theirs - torch.tensor(vectors)).abs().max().item()
                        assert difference < 1e-5, (name, side, text, difference)
    write(folder / "artifact.metadata", metadata)
    expect(folder, cases)


def by_stanford(folder, model, linear, metadata, text, query):
    """colbert-ai's QueryTokenizer, DocTokenizer and ColBERT.query/doc, said again; PyLate's reading is held against it."""
    cutter = transformers.BertTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"), pad_token="[PAD]", mask_token="[MASK]")
    # A text of their own holds the place of the marker.
    cut = cutter(". " + text, return_tensors="pt", truncation="longest_first", padding="max_length" if query else False,
                 max_length=metadata["query_maxlen" if query else "doc_maxlen"])
    ids, mask = cut["input_ids"], cut["attention_mask"]
    ids[:, 1] = cutter.convert_tokens_to_ids(metadata["query_token_id" if query else "doc_token_id"])
    if query:
        ids[ids == cutter.pad_token_id] = cutter.mask_token_id
        if metadata["attend_to_mask_tokens"]:
            mask[ids == cutter.mask_token_id] = 1
    vectors = torch.nn.functional.normalize(model(input_ids=ids, attention_mask=mask)[0] @ linear.T, dim=2)[0]
    if query:
        return vectors
    skipped = {cutter.encode(symbol, add_special_tokens=False)[0] for symbol in string.punctuation} if metadata["mask_punctuation"] else set()
    return vectors[[number for number, id in enumerate(ids[0].tolist()) if id not in skipped and id != cutter.pad_token_id]]


def pylate():
    from pylate import models
    from safetensors.torch import load_file
    folder = HERE / "colbert-pylate"
    with tempfile.TemporaryDirectory() as work:
        base, saved = pathlib.Path(work) / "base", pathlib.Path(work) / "saved"
        model = bert(7)
        tokenizer(base)
        model.save_pretrained(base)
        torch.manual_seed(8)
        made = models.ColBERT(str(base), device="cpu", embedding_size=ROWS, query_length=16, document_length=32)
        # Its two markers are new entries, whose vectors PyLate makes up.
        with torch.no_grad():
            made[0].auto_model.embeddings.word_embeddings.weight[-2:] = torch.randn(2, HIDDEN)
        made.save_pretrained(str(saved))
        export(made[0].auto_model, folder / "model.onnx")
        for name in ["config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "modules.json", "sentence_bert_config.json",
                     "config_sentence_transformers.json", "1_Dense/config.json", "1_Dense/model.safetensors"]:
            if (saved / name).exists():
                (folder / name).parent.mkdir(exist_ok=True)
                shutil.copy(saved / name, folder / name)
        written = json.loads((saved / "config_sentence_transformers.json").read_text())
        cases = []
        for name, more in [("plain", {}), ("attention to masks", {"attend_to_expansion_tokens": True}), ("no expansion", {"do_query_expansion": False}),
                           ("another skip list", {"skiplist_words": ["the", ";"]})]:
            write(saved / "config_sentence_transformers.json", dict(written, **more))
            reference = models.ColBERT(str(saved), device="cpu")
            encode = lambda text, side: reference.encode(text, is_query=side)
            cases.append(case(name, [encode(text, True) for text in TEXTS], [encode(text, False) for text in TEXTS],
                              options={"config_sentence_transformers.json": dict(written, **more)} if more else {}))
        expect(folder, cases)
        # The same as `pylate-onnx-export` writes it: projection and normalisation in the graph, settings in one file.
        exported = HERE / "colbert-pylate-onnx"
        linear = load_file(str(folder / "1_Dense/model.safetensors"))["linear.weight"]
        finish = lambda rows: torch.nn.functional.normalize(rows @ linear.T, dim=-1)
        export(made[0].auto_model, exported / "model.onnx", output="output", finish=finish)
        quantized(exported / "model.onnx", exported / "model_int8.onnx")
        for name in ["tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"]:
            if (folder / name).exists():
                shutil.copy(folder / name, exported / name)
        write(exported / "onnx_config.json", {
            "model_type": "ColBERT", "model_name": "tiny", "model_class": "BertModel", "uses_token_type_ids": True, "query_prefix": "[Q] ",
            "document_prefix": "[D] ", "query_prefix_id": reference.query_prefix_id, "document_prefix_id": reference.document_prefix_id,
            "query_length": 16, "document_length": 32, "do_query_expansion": True, "attend_to_expansion_tokens": False,
            "skiplist_words": list(string.punctuation), "embedding_dim": ROWS, "mask_token_id": reference.tokenizer.mask_token_id,
            "pad_token_id": reference.tokenizer.mask_token_id, "do_lower_case": False})
        expect(exported, cases[:1])


def native():
    from sentence_transformers import MultiVectorEncoder
    folder = HERE / "colbert-native"
    with tempfile.TemporaryDirectory() as work:
        copy = pathlib.Path(work) / "model"
        shutil.copytree(folder, copy, dirs_exist_ok=True) if folder.exists() else None
        model = bert(9)
        for place in (folder, copy):
            tokenizer(place)
            write(place / "config.json", dict(model.config.to_dict(), architectures=["BertModel"]))
            kinds = ["base.modules.transformer.Transformer", "base.modules.dense.Dense", "multi_vector_encoder.modules.multi_vector_mask.MultiVectorMask",
                     "base.modules.normalize.Normalize"]
            paths = ["", "1_Dense", "2_MultiVectorMask", "3_Normalize"]
            write(place / "modules.json", [{"idx": number, "name": str(number), "path": path, "type": f"sentence_transformers.{kind}"}
                                           for number, (kind, path) in enumerate(zip(kinds, paths))])
            dense(place / "1_Dense", HIDDEN, ROWS, "torch.nn.modules.linear.Identity", bias=False, seed=10)
            write(place / "1_Dense/config.json", {"in_features": HIDDEN, "out_features": ROWS, "bias": False,
                                                  "activation_function": "torch.nn.modules.linear.Identity", "module_input_name": "token_embeddings"})
            write(place / "2_MultiVectorMask/config.json", {"skiplist_words": [",", ";", "no entry"]})
            write(place / "3_Normalize/config.json", {"module_input_name": "token_embeddings"})
            write(place / "config_sentence_transformers.json", {"model_type": "MultiVectorEncoder", "prompts": {"query": "find: ", "document": "The report: "},
                                                                "default_prompt_name": None, "similarity_fn_name": "maxsim"})
            base = {"transformer_task": "feature-extraction", "module_output_name": "token_embeddings", "document_length": 32, "query_length": 24,
                    "query_expansion": {"strategy": "fixed", "attend": False, "token": None, "length": 16}}
            write(place / "sentence_bert_config.json", base)
        export(model, folder / "onnx/model.onnx")
        model.save_pretrained(copy)
        cases = []
        for name, more in [("plain", {}), ("at least ten, attended to", {"query_expansion": {"strategy": "min", "attend": True, "token": "[unused0]", "length": 10}}),
                           ("no expansion", {"query_expansion": None})]:
            write(copy / "sentence_bert_config.json", dict(base, **more))
            reference = MultiVectorEncoder(str(copy), device="cpu")
            cases.append(case(name, [reference.encode_query(text) for text in TEXTS], [reference.encode_document(text) for text in TEXTS],
                              options={"sentence_bert_config.json": dict(base, **more)} if more else {}))
        expect(folder, cases)


if __name__ == "__main__":
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    torch.set_num_threads(1)
    if sys.argv[1:] == ["native"]:
        native()
    elif sys.argv[1:] == ["families"]:
        for family in (sentence_transformers, dpr, stanford, pylate):
            print(family.__name__, file=sys.stderr)
            family()
    else:
        sys.exit(__doc__)
