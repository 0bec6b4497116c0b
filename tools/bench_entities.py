#!/usr/bin/env python3
"""Benchmark of entity search and of occurrences of resources: p50 and p95 in milliseconds.

usage: bench_entities.py PROGRAM HOME QUERIES.tsv [--rounds N]

HOME is an indexed home, QUERIES.tsv has a number and words on each line. The home is only read. A server runs on it, and each query is
sent in turn, over one HTTP request each, so that times include HTTP and JSON. `first` is the first round: the graphs are read from
the disk cache of the system. Later rounds use the server's cache of graphs, too.

  words        entities of all datasets by /api/entities, ten hits
  sparql       the same in SPARQL by search:literalText, ten hits
  joined       the same, joined with the classes of the entities in their graphs
  datasets     two datasets by search:text, and five entities of each by search:inDataset
  occurrences  the datasets of the best entity of each query
"""

import argparse
import json
import pathlib
import statistics
import sys
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests/interop"))
import clients

PREFIX = "PREFIX search: <https://w3id.org/lodeseek/search#> "


def literal(text):
    return json.dumps(text, ensure_ascii=False)


def entities(words):
    return (f"SERVICE search:service {{ ?match search:literalText {literal(words)} ; search:rank ?rank ; search:dataset ?dataset ; "
            "search:entity ?entity ; search:literal ?literal }")


def requests(words, resource):
    sparql = {
        "sparql": f"SELECT * {{ {entities(words)} }}",
        "joined": f"SELECT * {{ {entities(words)} GRAPH ?dataset {{ ?entity a ?class }} }}",
        "datasets": f"SELECT * {{ SERVICE search:service {{ ?dataset search:text {literal(words)} ; search:limit 2 ; search:rank ?place }} "
                    f"SERVICE search:service {{ ?match search:literalText {literal(words)} ; search:inDataset ?dataset ; "
                    "search:limit 5 ; search:entity ?entity } }",
    }
    paths = {name: "/sparql?query=" + urllib.parse.quote(PREFIX + query) for name, query in sparql.items()}
    paths = {"words": "/api/entities?q=" + urllib.parse.quote(words), **paths}
    if resource:
        paths["occurrences"] = "/api/entities?q=" + urllib.parse.quote(f"<{resource}>")
    return paths


def best_entity(server, words):
    hits = json.loads(clients.fetch(server.address + "/api/entities?q=" + urllib.parse.quote(words)))["hits"]
    return next((hit["entity"]["value"] for hit in hits if hit["entity"]["type"] == "iri"), None)


def percentile(times, share):
    return statistics.quantiles(times, n=100, method="inclusive")[share - 1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("home")
    parser.add_argument("queries")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    queries = [line.split("\t")[1].strip() for line in open(arguments.queries) if line.strip()]
    times = {}
    with clients.Server(arguments.program, arguments.home) as server:
        for round_ in range(arguments.rounds):
            for words in queries:
                resource = best_entity(server, words) if round_ else None
                for name, path in requests(words, resource).items():
                    started = time.perf_counter()
                    text = clients.fetch(server.address + path, accept="application/json")
                    took = 1000 * (time.perf_counter() - started)
                    json.loads(text)
                    times.setdefault((name, "later" if round_ else "first"), []).append(took)
    print(f"{len(queries)} queries, {arguments.rounds} rounds")
    print("kind\tround\trequests\tp50\tp95\tmax")
    for (name, when), each in sorted(times.items()):
        print(f"{name}\t{when}\t{len(each)}\t{percentile(each, 50):.1f}\t{percentile(each, 95):.1f}\t{max(each):.1f}")


if __name__ == "__main__":
    main()
