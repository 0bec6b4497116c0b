#!/usr/bin/env bash
# Comunica 5.4.1: ENCODE_FOR_URI keeps the characters / ? # & of a text. SPARQL 1.1, 17.4.3.11, refers to fn:encode-for-uri of XPath, which
# escapes everything but letters, digits, - _ . and ~, so that a text becomes one segment of a path. Seen: the IRI of "AC/DC" has two
# segments, that of "Room #5" a fragment, and that of "Who?" an empty query. Nothing is reported. The IRIs differ from those of an engine
# that follows the specification, so that the two results do not link.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-fund --no-audit @comunica/query-sparql-rdfjs@5.4.1 \
  @comunica/actor-function-factory-term-encode-for-uri@5.4.0 n3@2.13.12
cat > encode.mjs <<'JAVASCRIPT'
import assert from "node:assert";
import { QueryEngine } from "@comunica/query-sparql-rdfjs";
import { Store } from "n3";

const QUERY = `SELECT ?name (IRI(CONCAT("http://example.org/", ENCODE_FOR_URI(?name))) AS ?iri)
  { VALUES ?name { "Buenos Aires" "AC/DC" "Room #5" "Who?" "R&D" } }`;
const rows = await (await new QueryEngine().queryBindings(QUERY, { sources: [new Store()] })).toArray();
const found = Object.fromEntries(rows.map((row) => [row.get("name").value, row.get("iri").value]));
for (const [name, iri] of Object.entries(found)) {
  console.log(`${name}: <${iri}>, specified <http://example.org/${encodeURIComponent(name)}>`);
}
assert.deepStrictEqual(found, {
  "Buenos Aires": "http://example.org/Buenos%20Aires",
  "AC/DC": "http://example.org/AC/DC",
  "Room #5": "http://example.org/Room%20#5",
  "Who?": "http://example.org/Who?",
  "R&D": "http://example.org/R&D",
}, "the behaviour changed");
JAVASCRIPT
node encode.mjs
