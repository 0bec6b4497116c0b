#!/usr/bin/env python3
"""Makes a dictionary for `lodeseek translations`: from the languages of queries to English, as labels in SKOS.

Usage: dictionary.py LANGUAGE ... > dictionary.ttl

LANGUAGE is a language of queries by its ISO 639-3 code, such as deu, fra, ita, spa, nld. Sources:

- FreeDict's dictionaries to and from English, from Debian's packages dict-freedict-LANGUAGE-eng and -eng-LANGUAGE, downloaded with
  apt-get. Their licences (mostly GPL and CC BY-SA) are in /usr/share/doc of the packages.
- Words that FreeDict has in German or French only, translated on from there: the dictionary from German to English is the
  largest one. Of the paths of all translations the likeliest English words are kept.
- The names of countries, languages, scripts and cities of Unicode's CLDR (Unicode License v3), from the package babel of PyPI.
"""

import gzip
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
# Grammatical notes, remarks, references and pronunciations.
NOTE = re.compile(r"<[^>]*>|\([^)]*\)|\[[^\]]*\]|\{[^}]*\}|/[^/]*/")
TAGS = {"ara": "ar", "ces": "cs", "dan": "da", "deu": "de", "ell": "el", "fin": "fi", "fra": "fr", "hun": "hu", "ita": "it",
        "nld": "nl", "nor": "no", "pol": "pl", "por": "pt", "rus": "ru", "spa": "es", "swe": "sv", "tur": "tr"}
# Languages between that of the queries and English, the nearest first.
ROUTES = (("deu",), ("fra", "deu"))
# A longer route is used for languages with fewer words than these on the shorter one.
MIN_WORDS_OF_ROUTE = 20_000
# Minimum likelihood and maximum number of translations by way of other languages.
MIN_LIKELIHOOD = 0.1
MAX_TRANSLATIONS = 6


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
        print(f"dictionary: no package {package}: {done.stderr.strip()}", file=sys.stderr)
        return None
    subprocess.run(["dpkg-deb", "-x", archive, folder], check=True)
    return Path(folder) / "usr/share/dictd"


def read_entries(pair, folder):
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
        headword = NOTE.sub("", re.sub(r"\s*/.*$", "", first)).strip()
        translations = [text for text in translations if text.strip()]
        if headword and translations:
            yield headword, translations


class FreeDict:
    """FreeDict's dictionaries, each downloaded once."""

    def __init__(self):
        self.pairs = {}

    def entries(self, source, target):
        """Returns the entries of a dictionary, none if Debian does not have it."""
        pair = f"{source}-{target}"
        if pair not in self.pairs:
            with tempfile.TemporaryDirectory() as folder:
                files = download(pair, folder)
                self.pairs[pair] = list(read_entries(pair, files)) if files else []
        return self.pairs[pair]

    def lexicon(self, source, target):
        """Returns the likelihoods of the translations of each word in lower case, from the dictionaries of both directions."""
        weights = defaultdict(lambda: defaultdict(float))
        for headword, translations in self.entries(source, target):
            for place, translation in enumerate(translations):
                weights[headword.lower()][translation] += 1 / (1 + place)
        for headword, translations in self.entries(target, source):
            for place, translation in enumerate(translations):
                weights[translation.lower()][headword] += 1 / (1 + place)
        for translations in weights.values():
            total = sum(translations.values())
            for translation in translations:
                translations[translation] /= total
        return weights


def translate_on(words, lexicon):
    """Returns the likelihoods of the translations of words with likelihoods."""
    found = defaultdict(float)
    for word, likelihood in words.items():
        for translation, share in lexicon.get(word.lower(), {}).items():
            found[translation] += likelihood * share
    return found


def translate_by_way(freedict, language):
    """Yields words and their English translations by way of other languages."""
    done = set()
    for route in ROUTES:
        if language in route or len(done) >= MIN_WORDS_OF_ROUTE:
            continue
        stations = [language, *route, "eng"]
        first, *others = [freedict.lexicon(*pair) for pair in zip(stations, stations[1:])]
        for word, translations in first.items():
            if word in done:
                continue
            for lexicon in others:
                translations = translate_on(translations, lexicon)
            ranked = sorted(translations.items(), key=lambda pair: (-pair[1], pair[0]))[:MAX_TRANSLATIONS]
            likely = [text for text, likelihood in ranked if likelihood >= MIN_LIKELIHOOD]
            if likely:
                done.add(word)
                yield word, likely


def names(tag):
    """Yields names of CLDR in a language and in English."""
    from babel import Locale

    own, english = Locale.parse(tag), Locale.parse("en")
    for kind in ("territories", "languages", "scripts"):
        theirs = getattr(english, kind)
        for code, name in getattr(own, kind).items():
            if code in theirs:
                yield name, theirs[code]
    for zone, values in own.time_zones.items():
        # The English city is the last part of the name of its time zone, unless CLDR states another one.
        other = english.time_zones.get(zone, {}).get("city") or zone.rsplit("/", 1)[-1].replace("_", " ")
        if "city" in values:
            yield values["city"], other


def label(text, tag):
    text = text.replace("\\", "\\\\").replace('"', '\\"').replace("‐", "-")
    return f'"{text}"@{tag}'


def write_entry(headword, source, translations, target):
    first, *others = translations
    labels = f"skos:prefLabel {label(headword, source)}, {label(first, target)}"
    if others:
        labels += " ; skos:altLabel " + ", ".join(label(text, target) for text in others)
    print(f"[] {labels} .")


def install_babel(folder):
    """Downloads the package babel into a folder, unless Python has it."""
    try:
        import babel  # noqa: F401
    except ImportError:
        command = [sys.executable, str(Path(__file__).with_name("packages.py")), "dictionary", folder]
        subprocess.run(command, check=True, stdout=sys.stderr)
        sys.path.insert(0, folder)


def main():
    languages = sys.argv[1:]
    if not languages or any(language not in TAGS for language in languages):
        sys.exit(f"{__doc__}\nSupported languages: {', '.join(TAGS)}")
    with tempfile.TemporaryDirectory() as folder:
        install_babel(folder)
        write_dictionary(languages)


def write_dictionary(languages):
    freedict = FreeDict()
    print("# Sources: FreeDict (GPL and CC BY-SA, see the Debian packages dict-freedict-*), Unicode CLDR (Unicode License v3).")
    print("@prefix skos: <http://www.w3.org/2004/02/skos/core#> .")
    for language in languages:
        tag = TAGS[language]
        counts = [0, 0, 0]
        for name, english in names(tag):
            write_entry(name, tag, [english], "en")
            counts[0] += 1
        known = set()
        for headword, translations in freedict.entries(language, "eng"):
            write_entry(headword, tag, translations, "en")
            known.add(headword.lower())
            counts[1] += 1
        for headword, translations in freedict.entries("eng", language):
            write_entry(headword, "en", translations, tag)
            known.update(translation.lower() for translation in translations)
            counts[1] += 1
        for word, translations in translate_by_way(freedict, language):
            if word not in known:
                write_entry(word, tag, translations, "en")
                counts[2] += 1
        print(f"dictionary: {tag}: {counts[0]} names, {counts[1]} entries, {counts[2]} words by way of other languages", file=sys.stderr)


if __name__ == "__main__":
    main()
