#!/usr/bin/env python3
"""Converts dictionaries of FreeDict, from Debian's packages, to SKOS for `lodeseek translations`.

Usage: freedict.py LANGUAGE ... > dictionary.ttl

LANGUAGE is a language of queries by its ISO 639-3 code, such as deu, fra, ita, spa. The dictionaries to English and from
English (packages dict-freedict-LANGUAGE-eng and dict-freedict-eng-LANGUAGE) are downloaded with apt-get. FreeDict's
dictionaries have licences of their own, see /usr/share/doc in the packages.
"""

import gzip
import re
import subprocess
import sys
import tempfile
from pathlib import Path

DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
# Grammatical notes, remarks, references and pronunciations.
NOTE = re.compile(r"<[^>]*>|\([^)]*\)|\[[^\]]*\]|\{[^}]*\}|/[^/]*/")
TAGS = {"ara": "ar", "ces": "cs", "dan": "da", "deu": "de", "ell": "el", "fin": "fi", "fra": "fr", "hun": "hu", "ita": "it",
        "nld": "nl", "nor": "no", "pol": "pl", "por": "pt", "rus": "ru", "spa": "es", "swe": "sv", "tur": "tr"}


def number(text):
    """Returns the value of a number of dictd, which has base 64."""
    value = 0
    for digit in text:
        value = value * 64 + DIGITS.index(digit)
    return value


def download(pair, folder):
    """Returns the folder with the files of a dictionary. None if Debian has no such package."""
    package = f"dict-freedict-{pair}"
    done = subprocess.run(["apt-get", "download", package], cwd=folder, capture_output=True, text=True)
    archive = next(Path(folder).glob(f"{package}_*.deb"), None)
    if archive is None:
        print(f"freedict: no package {package}: {done.stderr.strip()}", file=sys.stderr)
        return None
    subprocess.run(["dpkg-deb", "-x", archive, folder], check=True)
    return Path(folder) / "usr/share/dictd"


def entries(pair, folder):
    """Yields the headword of each entry with its translations."""
    data = gzip.decompress((folder / f"freedict-{pair}.dict.dz").read_bytes())
    places = set()
    for line in (folder / f"freedict-{pair}.index").read_text(encoding="utf-8").splitlines():
        headword, start, length = line.split("\t")[:3]
        place = (number(start), number(length))
        if headword.startswith("00database") or place in places:
            continue
        places.add(place)
        first, *lines = data[place[0]:sum(place)].decode("utf-8").split("\n")
        translations = []
        for line in lines:
            # Indented lines are examples, synonyms and references, unless they begin with the subject in brackets.
            if line[:1].strip() or line.startswith(" ["):
                line = NOTE.sub("", re.sub(r"^\d+\.\s*", "", line))
                translations += [text.strip(' "') for text in re.split("[,;]", line)]
        yield NOTE.sub("", re.sub(r"\s*/.*$", "", first)).strip(), [text for text in translations if text.strip()]


def label(text, tag):
    text = text.replace("\\", "\\\\").replace('"', '\\"').replace("‐", "-")
    return f'"{text}"@{tag}'


def main():
    languages = sys.argv[1:]
    if not languages or any(language not in TAGS for language in languages):
        sys.exit(f"{__doc__}\nSupported languages: {', '.join(TAGS)}")
    print("@prefix skos: <http://www.w3.org/2004/02/skos/core#> .")
    written = 0
    for language in languages:
        tag = TAGS[language]
        for pair, source, target in ((f"{language}-eng", tag, "en"), (f"eng-{language}", "en", tag)):
            with tempfile.TemporaryDirectory() as folder:
                files = download(pair, folder)
                for headword, translations in entries(pair, files) if files else ():
                    if not headword or not translations:
                        continue
                    first, *others = translations
                    labels = f"skos:prefLabel {label(headword, source)}, {label(first, target)}"
                    if others:
                        labels += " ; skos:altLabel " + ", ".join(label(text, target) for text in others)
                    print(f"[] {labels} .")
                    written += 1
    print(f"freedict: {written} entries", file=sys.stderr)


if __name__ == "__main__":
    main()
