#!/usr/bin/env bash
# Comunica 5.4.1 compares plain strings in the order of a natural language. SPARQL 1.1, 17.3, maps the operators to fn:compare with the
# collation of code points. Seen: "a" < "B" is true, MIN and ORDER BY put apple before Berlin, and a range from "A" to "a" finds nothing.
# `=` and IN use the same comparison, which ignores a soft hyphen: they find two texts where the graph has one. The language comes from
# LC_ALL, so that "ä" < "z" is true on a German machine and false on a Swedish one. rdflib 7.6.0 and pyoxigraph 0.5.13 follow the
# specification.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-fund --no-audit @comunica/query-sparql-rdfjs@5.4.1 \
  @comunica/actor-function-factory-term-lesser-than@5.4.0 @comunica/actor-function-factory-term-equality@5.4.0 n3@2.13.12
python3 -m venv python
python/bin/pip -q --disable-pip-version-check install rdflib==7.6.0 pyoxigraph==0.5.13
cat > data.nt <<'TRIPLES'
<http://example.org/1> <http://example.org/name> "apple" .
<http://example.org/2> <http://example.org/name> "Berlin" .
<http://example.org/3> <http://example.org/name> "Zug" .
<http://example.org/4> <http://example.org/name> "data\u00ADset" .
<http://example.org/5> <http://example.org/name> "dataset" .
TRIPLES
cat > query.mjs <<'JAVASCRIPT'
import { readFileSync } from "node:fs";
import { QueryEngine } from "@comunica/query-sparql-rdfjs";
import { Parser, Store } from "n3";

const store = new Store(new Parser().parse(readFileSync("data.nt", "utf8")));
const results = [];
for (const query of JSON.parse(process.argv[2])) {
  const rows = await (await new QueryEngine().queryBindings(query, { sources: [store] })).toArray();
  results.push(rows.map((row) => row.get("x").value));
}
console.log(JSON.stringify(results));
JAVASCRIPT
python/bin/python - <<'PYTHON'
import json
import os
import subprocess
import pyoxigraph
import rdflib

NAMES = "?s <http://example.org/name> ?x"
QUERIES = {
    "<": 'SELECT ("a" < "B" AS ?x) {}',
    "MIN": "SELECT (MIN(?name) AS ?x) { ?s <http://example.org/name> ?name }",
    "ORDER BY": f"SELECT ?x {{ {NAMES} FILTER(STRLEN(?x) < 7) }} ORDER BY ?x",
    "range": f'SELECT ?x {{ {NAMES} FILTER(?x >= "A" && ?x < "a") }}',
    "IN": f'SELECT ?x {{ {NAMES} FILTER(?x IN ("dataset")) }}',
    "=": 'SELECT ("dataset" = "data\\u00ADset" AS ?x) {}',
    "umlaut": 'SELECT ("ä" < "z" AS ?x) {}',
}

def by_comunica(language):
    command = ["node", "query.mjs", json.dumps(list(QUERIES.values()))]
    output = subprocess.check_output(command, env=os.environ | {"LC_ALL": language}, text=True, encoding="utf-8")
    return dict(zip(QUERIES, json.loads(output)))

def by_rdflib():
    graph = rdflib.Graph().parse("data.nt")
    return {name: [str(row[0]) for row in graph.query(query)] for name, query in QUERIES.items()}

def by_pyoxigraph():
    store = pyoxigraph.Store()
    store.load(path="data.nt")
    return {name: [row[0].value for row in store.query(query)] for name, query in QUERIES.items()}

engines = {
    "rdflib": by_rdflib(),
    "pyoxigraph": by_pyoxigraph(),
    "Comunica, German": by_comunica("de_DE.UTF-8"),
    "Comunica, Swedish": by_comunica("sv_SE.UTF-8"),
}
for name in QUERIES:
    for engine, results in engines.items():
        results[name] = results[name] if name == "ORDER BY" else sorted(results[name])
        print(f"{name}: {engine} {ascii(results[name])}")

SPECIFIED = {
    "<": ["false"],
    "MIN": ["Berlin"],
    "ORDER BY": ["Berlin", "Zug", "apple"],
    "range": ["Berlin", "Zug"],
    "IN": ["dataset"],
    "=": ["false"],
    "umlaut": ["false"],
}
GERMAN = {
    "<": ["true"],
    "MIN": ["apple"],
    "ORDER BY": ["apple", "Berlin", "Zug"],
    "range": [],
    "IN": ["dataset", "data\u00adset"],
    "=": ["true"],
    "umlaut": ["true"],
}
assert list(engines.values()) == [SPECIFIED, SPECIFIED, GERMAN, GERMAN | {"umlaut": ["false"]}], "the behaviour changed"
PYTHON
