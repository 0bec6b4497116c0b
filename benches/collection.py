#!/usr/bin/env python3
"""Writes a collection of generated datasets: a catalogue in the format of ACORDAR, and one file of N-Triples for each dataset.

usage: collection.py DATASETS FOLDER [TRIPLES]

Each dataset has TRIPLES triples (default 40), five for an entity. Words and classes follow Zipf's law. Equal arguments write equal files.
"""

import json
import pathlib
import random
import sys

WORDS, CLASSES, IN_FOLDER = 40_000, 400, 1_000
RDF, RDFS = "http://www.w3.org/1999/02/22-rdf-syntax-ns#", "http://www.w3.org/2000/01/rdf-schema#"


def main():
    count, folder = int(sys.argv[1]), pathlib.Path(sys.argv[2])
    entities = (int(sys.argv[3]) if len(sys.argv) > 3 else 40) // 5
    generator = random.Random(12345)
    syllables = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]
    # Log-uniform ranks: frequencies fall with the rank, by Zipf's law. They are drawn once and read from there, which is fast.
    ranks = [int(WORDS ** generator.random()) for _ in range(1_000_003)]

    def word(place):
        rank = ranks[place % len(ranks)]
        return "".join(syllables[rank // 70**digit % 70] for digit in range(3))

    place = 0

    def text(words):
        nonlocal place
        place += words
        return " ".join(word(place - number) for number in range(words))

    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "datasets.json", "w") as catalog:
        for number in range(count):
            path = pathlib.Path(f"{number // IN_FOLDER}/{number}.nt")
            if number % IN_FOLDER == 0:
                (folder / path.parent).mkdir(exist_ok=True)
            base = f"http://example.org/{number}"
            lines = []
            for entity in range(entities):
                subject = f"<{base}/{entity}>"
                lines += [f"{subject} <{RDF}type> <http://example.org/class/{ranks[(place + entity) % len(ranks)] % CLASSES}> .",
                          f'{subject} <{RDFS}label> "{text(3)}" .',
                          f'{subject} <{RDFS}comment> "{text(12)}" .',
                          f"{subject} <http://example.org/property/{entity % 7}> <{base}/{(entity * 7 + 1) % entities}> .",
                          f'{subject} <http://example.org/number> "{number * entity}" .']
            (folder / path).write_text("\n".join(lines) + "\n")
            entry = {"dataset_id": f"d{number}", "title": text(6), "description": text(40), "tags": text(3).split(), "download": str(path)}
            catalog.write(("," if number else "[") + json.dumps(entry) + "\n")
        catalog.write("]\n")


if __name__ == "__main__":
    main()
