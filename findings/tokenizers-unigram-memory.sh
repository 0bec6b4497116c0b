#!/usr/bin/env bash
# tokenizers 0.23.1 (PyPI; the Rust crate has the same code) keeps a unigram vocabulary in a tree with a hash table at every node. Seen: 45 MB
# for 32,000 pieces, for which sentencepiece 0.2.1 takes 10 MB; both read a text alike. Vocabularies of many languages have 250,000 pieces:
# loaded, they can be larger than the weights of a small encoder in four bits.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" -q --disable-pip-version-check install tokenizers==0.23.1 sentencepiece==0.2.1
cd "$folder"
bin/python - <<'PYTHON'
import json
import random
import subprocess
import sys
import sentencepiece

random.seed(1)
syllables = [a + b + c for a in "bdfgklmnprst" for b in "aeiou" for c in ("", "l", "n", "r", "s")]
words = sorted({"".join(random.choices(syllables, k=random.randint(1, 4))) for _ in range(60_000)})
with open("text", "w") as out:
    for _ in range(60_000):
        out.write(" ".join(random.choices(words, k=8)) + "\n")
sentencepiece.SentencePieceTrainer.train(input="text", model_prefix="m", vocab_size=32_000, model_type="unigram", hard_vocab_limit=False, minloglevel=2)
model = sentencepiece.SentencePieceProcessor(model_file="m.model")
pieces = [[model.id_to_piece(i), model.get_score(i)] for i in range(len(model))]
with open("tokenizer.json", "w") as out:
    json.dump({"version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None, "post_processor": None,
               "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": False}, "decoder": None,
               "model": {"type": "Unigram", "unk_id": 0, "vocab": pieces, "byte_fallback": False}}, out)

MEASURE = """
import sys
def resident():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmRSS:")) / 1024
import tokenizers, sentencepiece
before = resident()
if sys.argv[1] == "tokenizers":
    model = tokenizers.Tokenizer.from_file("tokenizer.json")
    pieces = model.encode("badal fenos").tokens
else:
    model = sentencepiece.SentencePieceProcessor(model_file="m.model")
    pieces = model.encode("badal fenos", out_type=str)
print(round(resident() - before, 1), "".join(pieces))
"""
found = {}
for library in ("tokenizers", "sentencepiece"):
    megabytes, text = subprocess.run([sys.executable, "-c", MEASURE, library], check=True, capture_output=True, text=True).stdout.split()
    found[library] = float(megabytes), text
    print(f"{library}: {megabytes} MB for {len(pieces)} pieces, reads {text}")
assert found["tokenizers"][1] == found["sentencepiece"][1], "they read another text"
assert found["tokenizers"][0] > 3 * found["sentencepiece"][0], "the behaviour changed"
PYTHON
