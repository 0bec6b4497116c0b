#!/usr/bin/env python3
"""Compares expressions, paths and aggregates of SPARQL with rdflib, Comunica and Jena ARQ (peers.py).

usage: expressions.py PROGRAM [--show]

Each case is evaluated by a running server and by each peer. Numbers are compared by datatype and value, times with one notation of
their zone, language tags without case. A difference must be listed in expressions.tsv, with the peers and the section of a
specification that decides it; a listed difference that no longer exists fails, too. `--show` prints all differences as lines of that
file. Peers that cannot be installed are skipped with a message.
"""

import base64
import collections
import decimal
import json
import logging
import pathlib
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import warnings

import clients
import peers

ROOT = clients.ROOT
XSD = "http://www.w3.org/2001/XMLSchema#"
PREFIXES = f"PREFIX xsd: <{XSD}> PREFIX : <http://example.org/> "
FOLDER = pathlib.Path(__file__).resolve().parent
LISTED = FOLDER / "expressions.tsv"
DATA = """@prefix : <http://example.org/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:oak :broader :tree ; :related :tree , :wood ; :height 20 ; :label "oak"@en , "Eiche"@de .
:tree :broader :plant ; :height 1.5 ; :label "tree"@en . :plant :broader :plant ; :height 2.5e0 .
:wood :part :oak ; :flag true . :moss2 :flag false ; :height 3 .
"""

EXPRESSIONS = r'''
xsd:boolean("1") | xsd:boolean("true") | xsd:boolean("TRUE") | xsd:boolean(0.0) | xsd:boolean("NaN"^^xsd:double) | xsd:boolean(" true ")
xsd:integer("1.5") | xsd:integer(1.5) | xsd:integer(-1.9e0) | xsd:integer("NaN"^^xsd:double) | xsd:integer(" 42 ") | xsd:integer("+5")
xsd:integer(true) | xsd:integer("true") | xsd:integer("") | xsd:decimal("1e0") | xsd:decimal(1e0) | xsd:decimal("1.50")
xsd:decimal("INF"^^xsd:double) | xsd:double("1") | xsd:double("INF") | xsd:double("inf") | xsd:double("abc") | xsd:double(1) | xsd:float("1.5")
xsd:dateTime("2020-01-01"^^xsd:date) | xsd:dateTime("2020-01-01") | xsd:dateTime("2020-01-01T00:00:00Z") | xsd:dateTime(" 2020-01-01T00:00:00Z ")
xsd:string(<http://example.org/b>) | xsd:string("a"@en) | xsd:string(1.0) | xsd:string(1e0) | xsd:string(1e7) | xsd:string(1.5e-7) | xsd:string(true) | xsd:string(1)
1 + 2 | 1 + 2.5 | 1 + 2.5e0 | 10 / 4 | 2 * 1.5 | 7 - 10 | 1 / 0 | 1e0 / 0 | 1 + "1" | 1 + true | -(1.5) | +(2) | "1"^^xsd:int + 1 | "2"^^xsd:float * 2
false < true | true > false | true <= false | true < 1 | true = 1 | "a" < "b" | "a" < "b"@en | "b" > "a" | 1 < 1.5 | 1 = 1.0 | "1"^^xsd:int = 1
"NaN"^^xsd:double = "NaN"^^xsd:double | "INF"^^xsd:double = "INF"^^xsd:double | 2 >= 2e0 | 1 != 2 | "a" != "b" | "a" = "a"@en | "a"@en = "a"@EN
"abc"^^xsd:integer = 1 | "a"^^:x = "b"^^:x | "a"^^:x = "a"^^:x | "a" = 1 | <http://example.org/a> = "a" | sameTerm(1, 1.0) | sameTerm(1, 1) | sameTerm("a", "a"@en)
"2020-01-31"^^xsd:date + "P1M"^^xsd:yearMonthDuration | "P1M"^^xsd:yearMonthDuration + "2020-01-31"^^xsd:date
"2020-03-31"^^xsd:date - "P1M"^^xsd:yearMonthDuration | "2020-01-01"^^xsd:date + "P1D"^^xsd:dayTimeDuration
"2020-01-31T10:00:00Z"^^xsd:dateTime + "PT36H"^^xsd:dayTimeDuration | "2020-01-02"^^xsd:date - "2020-01-01"^^xsd:date
"2020-01-02T00:00:00Z"^^xsd:dateTime - "2020-01-01T12:00:00Z"^^xsd:dateTime | "23:00:00"^^xsd:time + "PT2H"^^xsd:dayTimeDuration
"2020-01-01T00:00:00Z"^^xsd:dateTime < "2020-01-01T01:00:00Z"^^xsd:dateTime | "2020-01-01T00:00:00Z"^^xsd:dateTime = "2020-01-01T01:00:00+01:00"^^xsd:dateTime
"2020-01-01"^^xsd:date < "2020-01-02"^^xsd:date | "2020-01-01"^^xsd:date = "2020-01-01"^^xsd:date
REPLACE("abcd", "b", "Z") | REPLACE("oak_12", "([a-z]+)_[0-9]+", "$1_13") | REPLACE("a1", "([a-z])", "$10") | REPLACE("a/b", "/", "\\\\")
REPLACE("abracadabra", "a(.)", "a$1$1") | REPLACE("AAAA", "A+?", "b") | REPLACE("abracadabra", ".*?", "$1") | REPLACE("oak", "(o)(x)?", "[$2]")
REPLACE("a.b", ".", "-", "q") | REPLACE("aAbB", "[a]", "x", "i") | REPLACE("abcd"@en, "b", "Z") | REPLACE("oak", "o", "$") | REPLACE("$", "\\$", "\\$\\$")
REGEX("helloworld", "hello world", "x") | REGEX("x#y", "^x#y$", "x") | REGEX("xyz", "^[a-z-[aeiou]]+$") | REGEX("aei", "^[a-z-[aeiou]]+$")
REGEX("Mum", "([md])[aeiou]\\1", "i") | REGEX("R&D", "^[R&&D]+$") | REGEX("dct:title", "^\\i\\c*$") | REGEX("abc", "^\\p{IsBasicLatin}+$")
REGEX("a.c", "a.c", "q") | REGEX("abc", "a.c", "q") | REGEX("a\nb", "^b", "m") | REGEX("a\nb", "a.b") | REGEX("a\nb", "a.b", "s") | REGEX("abc", "B", "i")
REGEX("oak tree", "\\btree") | REGEX("a", "(?=a)") | REGEX("oak", "(?:o|a)+k") | REGEX("abc"@en, "b") | REGEX("é", "^\\w$") | REGEX("12", "^\\d+$") | REGEX("a", "[") | REGEX("a", "a", "z")
CONCAT("a", "b") | CONCAT("a"@en, "b"@en) | CONCAT("a"@en, "b") | CONCAT() | CONCAT("a", 1) | SUBSTR("foobar", 4) | SUBSTR("foobar"@en, 4, 1) | SUBSTR("abc", 0) | SUBSTR("𝄞ab", 2)
STRLEN("𝄞a") | UCASE("straße"@de) | LCASE("ÄB") | STRSTARTS("foobar"@en, "foo") | STRSTARTS("foobar", "foo"@en) | STRENDS("foobar", "bar") | CONTAINS("foobar"@en, "o"@en) | CONTAINS("foobar"@en, "o"@fr)
STRBEFORE("abc"@en, "b") | STRBEFORE("abc"@en, "z") | STRBEFORE("abc"@en, "") | STRAFTER("abc"@en, "b") | STRAFTER("abc", "") | STRAFTER("abc"@en, "z"@en) | ENCODE_FOR_URI("a b/é")
LANGMATCHES("en-GB", "en") | LANGMATCHES("en", "en-GB") | LANGMATCHES("", "*") | LANGMATCHES("EN", "en") | LANG("a"@en) | LANG("a") | LANG(1) | STRLANG("a", "en") | STRDT("1", xsd:integer) | STRDT("1"@en, xsd:integer)
DATATYPE("a") | DATATYPE("a"@en) | DATATYPE(1) | DATATYPE(1.0) | DATATYPE(1e0) | DATATYPE("1"^^xsd:int) | DATATYPE(<http://example.org/a>) | STR(<http://example.org/a>) | STR("a"@en) | STR(1)
IRI("http://example.org/x") | isIRI(<http://example.org/a>) | isLiteral("a") | isBlank(BNODE()) | isNumeric(1) | isNumeric("1") | isNumeric("abc"^^xsd:integer) | isNumeric("1"^^xsd:int) | BOUND(?unbound)
ABS(-1.5) | CEIL(1.2) | FLOOR(-1.2) | ROUND(2.5) | ROUND(-2.5) | ROUND(1.5e0) | CEIL(1) | ABS("a") | MD5("abc") | SHA1("abc") | SHA256("abc")
YEAR("2020-02-03T04:05:06Z"^^xsd:dateTime) | MONTH("2020-02-03T04:05:06Z"^^xsd:dateTime) | DAY("2020-02-03T04:05:06Z"^^xsd:dateTime) | HOURS("2020-02-03T04:05:06+02:00"^^xsd:dateTime)
MINUTES("2020-02-03T04:05:06Z"^^xsd:dateTime) | SECONDS("2020-02-03T04:05:06.5Z"^^xsd:dateTime) | TIMEZONE("2020-02-03T04:05:06-05:00"^^xsd:dateTime) | TIMEZONE("2020-02-03T04:05:06Z"^^xsd:dateTime)
TIMEZONE("2020-02-03T04:05:06"^^xsd:dateTime) | TZ("2020-02-03T04:05:06-05:00"^^xsd:dateTime) | TZ("2020-02-03T04:05:06Z"^^xsd:dateTime) | TZ("2020-02-03T04:05:06"^^xsd:dateTime) | YEAR("x")
1 IN (2, 1) | 1 IN (2, 1/0) | 1 IN (1, 1/0) | 1 NOT IN (2) | 1 NOT IN (1/0) | IF(true, 1, 2) | IF("", 1, 2) | IF(1/0, 1, 2) | IF("abc"^^xsd:integer, 1, 2) | COALESCE(1/0, 2) | COALESCE(?unbound, 1/0)
xsd:integer(589342e0) | xsd:integer(1e10) | xsd:integer("16777216"^^xsd:float) | xsd:decimal(589342e0) | xsd:decimal(1.5e0) | xsd:integer(1e30)
"NaN"^^xsd:double < 1 | "NaN"^^xsd:double <= "NaN"^^xsd:double | !(1 < "NaN"^^xsd:double) | 1 >= "NaN"^^xsd:float | "NaN"^^xsd:double < "x"
isNumeric("1200"^^xsd:byte) | isNumeric("127"^^xsd:byte) | isNumeric(99999999999999999999) | 99999999999999999999 > 5 | 99999999999999999999 < 1e30 | isNumeric("-1"^^xsd:unsignedInt)
isBlank(BNODE("a b")) | BNODE("x") = BNODE("x") | BNODE("x") = BNODE("y") | isBlank(BNODE(1)) | STRDT("2020", xsd:gYear) | COALESCE(:unknown(1), 2)
xsd:dayTimeDuration("P1Y1D"^^xsd:duration) | xsd:yearMonthDuration("P1Y1D"^^xsd:duration) | "PT1H"^^xsd:dayTimeDuration * 2
true || 1/0 | false || 1/0 | false && 1/0 | true && 1/0 | !"a" | !"" | !0 | !"false"^^xsd:boolean | !"x"^^xsd:boolean | !"a"@en | !<http://example.org/a> | !"2020-01-01"^^xsd:date
'''

QUERIES = [
    "SELECT ?x { :oak :broader* ?x }", "SELECT ?x { :moss :broader* ?x }", "SELECT ?x { :moss :broader? ?x }", "SELECT ?x { ?x :broader* :moss }",
    "SELECT ?x { :moss :broader+ ?x }", "SELECT (1 AS ?x) { :moss :broader* :moss }", "SELECT ?x { VALUES ?s { :moss } ?s :broader* ?x }",
    "SELECT ?s ?x { ?s :broader? ?x }", "SELECT ?x { :oak :broader|:related ?x }", "SELECT ?x { :oak (:broader|:related)/:broader ?x }",
    "SELECT ?x { :oak (:broader|:related)+ ?x }", "SELECT ?x { ?x ^(:broader|:related) :oak }", "SELECT ?x { :wood !:part ?x }", "SELECT ?x { :oak !(^:part|:height) ?x }",
    "SELECT ?x { :plant :broader+ ?x }", "SELECT ?x { :oak ^:part/:flag ?x }", "SELECT ?x { 20 ^:height ?x }", "SELECT ?x { :moss (:broader|:related?) ?x }",
    "SELECT (COUNT(*) AS ?x) { ?s ?p ?o }", "SELECT (COUNT(DISTINCT ?s) AS ?x) { ?s ?p ?o }", "SELECT (SUM(?h) AS ?x) { ?s :height ?h }", "SELECT (AVG(?h) AS ?x) { ?s :height ?h FILTER(?h > 2) }",
    "SELECT (MIN(?h) AS ?x) (MAX(?h) AS ?y) { ?s :height ?h }", "SELECT (SUM(?h) AS ?x) { ?s :none ?h }", "SELECT (AVG(?h) AS ?x) { ?s :none ?h }", "SELECT (MIN(?h) AS ?x) { ?s :none ?h }",
    "SELECT ?k (SUM(?h) AS ?s) (COUNT(*) AS ?n) (?s / ?n AS ?x) { VALUES (?k ?h) { ('a' 1) ('a' 2) } } GROUP BY ?k", "SELECT (COUNT(DISTINCT ?b) AS ?x) { VALUES ?v { 1 2 } BIND(BNODE('a') AS ?b) }",
    "SELECT (SUM(?h) AS ?x) { VALUES ?h { 1 'a' } }", "SELECT (GROUP_CONCAT(?v; SEPARATOR = '|') AS ?x) { VALUES ?v { 'a' } }", "SELECT (GROUP_CONCAT(?v) AS ?x) { VALUES ?v { <http://example.org/a> } }",
    "SELECT (GROUP_CONCAT(?v) AS ?x) { VALUES ?v { 12 } }", "SELECT (GROUP_CONCAT(?v) AS ?x) { VALUES ?v { 'a'@en } }", "SELECT (GROUP_CONCAT(DISTINCT ?v) AS ?x) { VALUES ?v { 'a' 'a' } }",
    "SELECT (GROUP_CONCAT(?h) AS ?x) { ?s :none ?h }", "SELECT (COUNT(?v) AS ?x) { VALUES ?v { 1 UNDEF 2 } }", "SELECT (COUNT(DISTINCT ?v) AS ?x) { VALUES ?v { 1 1.0 1 } }",
    "SELECT ?s (COUNT(?o) AS ?x) { ?s :label ?o } GROUP BY ?s", "SELECT ?s (COUNT(?o) AS ?x) { ?s :label ?o } GROUP BY ?s HAVING (COUNT(?o) > 1)", "SELECT (SAMPLE(?v) AS ?x) { VALUES ?v { 7 } }",
    "SELECT ?s { ?s :flag ?f FILTER(?f) }", "SELECT ?s { ?s :flag ?f FILTER(?f < true) }", "SELECT ?s { ?s :height ?h FILTER(?h >= 2.5) }", "SELECT ?s { ?s :label ?l FILTER(LANG(?l) = 'de') }",
    "SELECT ?s { ?s :label ?l FILTER(?l) }", "SELECT ?s ?l { ?s :height ?h OPTIONAL { ?s :label ?l FILTER(?h > 10) } }", "SELECT ?s { ?s :height ?h MINUS { ?s :broader ?b } }",
    "SELECT ?s { ?s :height ?h FILTER NOT EXISTS { ?s :broader ?b } }", "SELECT ?s { ?s :height ?h FILTER EXISTS { ?s :label ?b } }", "SELECT ?s { { ?s :flag ?f } UNION { ?s :flag ?f } }",
    "SELECT DISTINCT ?f { ?s :flag ?f }", "SELECT ?x { BIND(1/0 AS ?x) }", "SELECT ?x ?y { VALUES (?x ?y) { (1 UNDEF) (UNDEF 2) } }", "SELECT ?s { ?s :height ?h } ORDER BY DESC(?h) LIMIT 1",
]


def cases():
    """Returns the texts of all cases: expressions and queries."""
    expressions = [one.strip() for line in EXPRESSIONS.strip().splitlines() for one in line.split(" | ")]
    return expressions, QUERIES


def normal(term):
    """Returns a term in a form that does not depend on notation."""
    if term is None:
        return "error"
    value, kind = term["value"], term.get("type")
    if kind == "uri":
        return f"<{value}>"
    if kind == "bnode":
        return "_:"
    if "xml:lang" in term:
        return f"{json.dumps(value, ensure_ascii=False)}@{term['xml:lang'].lower()}"
    datatype = term.get("datatype", XSD + "string").removeprefix(XSD)
    if datatype == "string":
        return json.dumps(value, ensure_ascii=False)
    if datatype in ("dateTime", "date", "time"):
        value = value.replace("+00:00", "Z").replace(".000", "").replace(".0Z", "Z")
    if datatype in ("boolean",):
        value = {"1": "true", "0": "false"}.get(value, value)
    try:
        if datatype in ("integer", "int", "long", "decimal"):
            value = str(round(decimal.Decimal(value), 10).normalize() + 0)
        elif datatype in ("double", "float"):
            value = f"{float(value):.6g}"
    except (decimal.InvalidOperation, ValueError):
        pass
    return f"{value}^^{datatype}"


def rows(answer):
    """Returns the rows of results in JSON as sorted texts."""
    found = json.loads(answer)
    names = sorted(found["head"]["vars"])
    shown = [" ".join(normal(row.get(name)) for name in names) for row in found["results"]["bindings"]]
    return "; ".join(sorted(shown)) or "no rows"


def queries():
    """Returns the query of each case."""
    expressions, others = cases()
    found = {expression: f"{PREFIXES}SELECT ({expression} AS ?x) {{}}" for expression in expressions}
    found.update((query, PREFIXES + query) for query in others)
    return found


def values(answers):
    """Returns the value of each case from results in JSON. A query without a result has the value `error`."""
    return {case: "error" if answer is None else rows(answer) for case, answer in zip(queries(), answers)}


def by_program(command, **options):
    """Returns the results of a program that reads queries from stdin (JenaQueries.java, comunica_queries.cjs)."""
    sent = "".join(base64.b64encode(query.encode()).decode() + "\n" for query in queries().values())
    made = subprocess.run(command, input=sent, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=1200, **options)
    lines = made.stdout.split()
    if made.returncode != 0 or len(lines) != len(queries()):
        raise peers.Missing(f"{command[0]} failed: {made.stderr.strip()[-300:]}")
    return [None if line == "!" else base64.b64decode(line).decode() for line in lines]


def rdflib_values(file):
    import rdflib
    logging.getLogger("rdflib").setLevel(logging.CRITICAL)
    warnings.simplefilter("ignore")
    graph, answers = rdflib.Graph().parse(file), []
    for query in queries().values():
        try:
            answers.append(graph.query(query).serialize(format="json").decode())
        except Exception:  # rdflib has exceptions of many kinds
            answers.append(None)
    return values(answers)


def comunica_values(file):
    node, commands, environment = peers.comunica()
    folder = commands.parents[3]
    return values(by_program([node, str(FOLDER / "comunica_queries.cjs"), str(folder), str(file)], env=environment))


def jena_values(file):
    java, _, classes, _ = peers.jena()
    if not shutil.which("javac"):
        raise peers.Missing("a Java program needs a JDK (Debian: default-jdk-headless)")
    return values(by_program([java, "-cp", classes, str(FOLDER / "JenaQueries.java"), str(file)]))


def our_values(program, folder):
    (folder / "datasets.json").write_text('[{"dataset_id": "data", "title": "Data", "download": ["data.ttl"]}]')
    for command in (["load", str(folder / "datasets.json")], ["index", "--ranking", "words"]):
        subprocess.run([program, "--home", str(folder / "home"), *command], check=True, stderr=subprocess.DEVNULL)
    answers = []
    with clients.Server(program, str(folder / "home")) as server:
        endpoint = f"{server.address}/sparql?default-graph-uri=http://localhost:7878/dataset/data"
        for query in queries().values():
            try:
                answers.append(peers.ask(endpoint, query))
            except urllib.error.HTTPError:
                answers.append(None)
    return values(answers)


def listed():
    """Returns the listed differences: case → (peers, reason)."""
    found = {}
    for line in LISTED.read_text().splitlines():
        if line and not line.startswith("#"):
            case, names, section, reason = line.split("\t")
            assert section and reason, f"{LISTED.name}: {case} has no section or reason"
            found[case] = set(names.split(","))
    return found


def main():
    program, show = str(pathlib.Path(sys.argv[1]).resolve()), "--show" in sys.argv
    peers.end_well()
    packages = clients.install()
    if not packages:
        print("expressions ... SKIPPED: rdflib could not be installed from PyPI")
        return
    sys.path.insert(0, str(packages))
    with tempfile.TemporaryDirectory(prefix="lodeseek-expressions-") as folder:
        folder = pathlib.Path(folder)
        file = folder / "data.ttl"
        file.write_text(DATA)
        ours, theirs = our_values(program, folder), {}
        for name, evaluate in (("rdflib", rdflib_values), ("comunica", comunica_values), ("jena", jena_values)):
            try:
                theirs[name] = evaluate(file)
            except peers.Missing as reason:
                print(f"expressions {name} ... SKIPPED: {reason}", flush=True)
    differences = collections.defaultdict(set)
    for name, values in theirs.items():
        for case, value in values.items():
            if value != ours[case]:
                differences[case].add(name)
    known, failures = listed(), []
    for case, names in differences.items():
        if show:
            print(f"{case}\t{','.join(sorted(names))}\t\t{ours[case]} | " + " | ".join(f"{name}: {theirs[name][case]}" for name in sorted(names)))
        for name in sorted(names - known.get(case, set())):
            failures.append(f"{case}: {ours[case]}, but {theirs[name][case]} by {name}")
    for case, names in known.items():
        if case not in ours:
            failures.append(f"{LISTED.name} lists {case}, which is no case")
        for name in sorted((names & set(theirs)) - differences.get(case, set())):
            failures.append(f"{LISTED.name} lists a difference from {name} that does not exist: {case}")
    if not show:
        for failure in failures:
            print(f"expressions ... FAILED: {failure}")
    print(f"expressions: {len(ours)} cases, {', '.join(theirs)}: {len(differences)} listed differences, {len(failures)} failures")
    sys.exit(1 if failures and not show else 0)


if __name__ == "__main__":
    main()
