#!/usr/bin/env python3
"""Writes the first inputs of the fuzz targets, from testdata/ and from queries/.

usage: fuzz_seeds.py FOLDER   (a folder for each target is made in it; existing files are replaced)

Some targets read the first byte of an input as a choice, for example of the syntax. Such seeds get it in front.
"""

import base64
import bz2
import gzip
import io
import lzma
import struct
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DUMPS = ROOT / "testdata" / "dumps"
CATALOGS = ROOT / "testdata" / "catalogs"
# Longer inputs slow the search down.
MAX_BYTES = 16 * 1024

JSONLD = [
    b'{"@context": {"a0": "http://example.org/", "a1": "a0:x", "n": {"@id": "a1:n", "@type": "@id"}}, "@id": "a1:s", "n": "a0:o"}',
    b'{"@context": [{"@vocab": "urn:v:", "@base": "http://b/"}, {"l": {"@container": "@list"}, "k": {"@container": "@language"}}],'
    b' "@graph": [{"l": [1, 2.5, true, null], "k": {"de": "x"}, "@reverse": {"p": {"@id": "_:b"}}}]}',
    b'{"@context": {"@version": 1.1, "p": {"@id": "urn:p", "@context": {"q": "urn:q"}}, "i": "@id"}, "p": {"q": {"i": "urn:x"}}}',
    b'{"@context": "http://schema.org/", "@type": "Dataset", "name": "x", "@included": [{"@id": "a"}]}',
]
TURTLE = [
    b'@prefix : <http://example.org/> . @base <http://b/> . :a :p "x"@en, 1.5e3, \'\'\'long\n\'\'\', [ :q ( 1 2 ) ] ; a :C .',
    b'PREFIX e: <urn:e:>\nBASE <x>\ne:a e:p <y> . broken here\ne:b e:p "unclosed\ne:c e:p true .',
    b"@prefix : <urn:> . :g { :a :p :b . { :x :y } } GRAPH :h { [] :p [] } :c :p :d .",
    b"@prefix : <urn:> . { :a :p ?x } => { ?x :q :a } . :a = :b . @forAll :x .",
]
LINES = [
    b'<urn:a> <urn:p> "x\\u00e9\\n"@en-GB .\n_:b <urn:p> "1"^^<urn:d> <urn:g> .\nbroken\n<urn:c> <urn:p> <urn:d> .\n',
]
XML = [
    b'<?xml version="1.0"?><!DOCTYPE r [<!ENTITY e "http://e/">]><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'
    b' xmlns:x="&e;" xml:base="http://b/"><x:C rdf:about="a" x:p="v"><x:q rdf:parseType="Collection"><x:D/></x:q>'
    b'<x:r rdf:parseType="Literal"><b>x</b></x:r><x:s xml:lang="de" rdf:ID="i">t</x:s><rdf:li rdf:nodeID="n"/></x:C></rdf:RDF>',
]
RESULTS = [
    (5, b'{"head":{"vars":["a","b"]},"results":{"bindings":[{"a":{"type":"uri","value":"urn:a"},"b":{"type":"literal",'
        b'"value":"x","xml:lang":"en"}},{"a":{"type":"bnode","value":"nodeID://b1"}}]}}'),
    (5, b'<?xml version="1.0"?><sparql xmlns="http://www.w3.org/2005/sparql-results#"><head><variable name="a"/></head><results>'
        b'<result><binding name="a"><uri>urn:a</uri></binding></result><result><binding name="a"><literal datatype="urn:d">1'
        b"</literal></binding></result></results></sparql>"),
    (0, b'{"head":{},"boolean":true}'),
    (0, b'<sparql xmlns="http://www.w3.org/2005/sparql-results#"><head/><boolean>false</boolean></sparql>'),
    (1, XML[0]), (2, TURTLE[0]), (3, LINES[0]),
]
# Messages of worker processes; each line is one. Frames and triples are written below.
WORKERS = [
    (1, b'{"Solutions":["a","b"]}\n{"Rows":[[{"I":"urn:a"},null],[{"B":"b"},{"G":["x","en"]}]]}\n{"End":{"truncated":false}}'),
    (1, b'"Graph"\n{"Triples":[[{"I":"urn:a"},{"I":"urn:p"},{"D":["1","urn:d"]}],[{"B":"b"},{"I":"urn:p"},{"T":[{"I":"urn:a"},'
        b'{"I":"urn:p"},{"L":"x"}]}]]}\n{"End":{"truncated":true}}'),
    (1, b'{"Boolean":true}\n{"Failed":{"Worker":"x"}}'),
    (2, b'[[{"I":"urn:a"},null,{"L":"x"},{"Ltr":["x","ar"]},{"T":[{"B":"b"},{"I":"urn:p"},{"L":"x"}]}],[]]'),
    (4, b'D{"metadata":{"id":"a","titles":[{"value":"A","language":"en"}],"descriptions":[{"value":"x"}],"keywords":[{"value":"k"}],'
        b'"publishers":[{"name":"p"}],"license":"https://e.org/l","issued":"2022-08-01","modified":"2022","source":"http://e.org/d"},'
        b'"distributions":[{"location":{"file":"dumps/a.ttl"},"media_type":"text/turtle"}],"copies":[null],"remote":null,'
        b'"extra_statements":[{"subject":"Dataset","predicate":"urn:p","object":{"Node":{"Part":"x-1"}}},{"subject":{"Part":"x-1"},'
        b'"predicate":"urn:q","object":{"Literal":["x",{"Language":"en"}]}},{"subject":{"Part":"x-1"},"predicate":"urn:q","object":'
        b'{"Literal":["1",{"Datatype":"urn:d"}]}},{"subject":{"Part":"x-1"},"predicate":"urn:r","object":{"Node":{"Iri":"urn:o"}}}]}\n'
        b'C{"folder":"/","problems":["x"],"unreadable_entries":0,"is_truncated":false,"other_resources":{"catalogs":1,"records":0,'
        b'"services":0},"dialect":"Dcat","next_pages":["http://e.org/2"]}'),
    (4, b'E{"NoDataset":"/x"}'),
    (5, b'[{"file":"a.ttl","syntax":"Turtle","triples":1,"skipped":0,"outcome":"complete","problems":[]}]'),
    (6, b'{"triples":3,"features":[],"texts":null}'),
]
CKAN = [
    b'{"success":true,"result":{"count":2,"results":[{"name":"a","id":"1","metadata_modified":"2024-05-01T10:00:00.123456"},'
    b'{"name":"b","id":"2","metadata_modified":"2024-05-01T10:00:00+02:00"}]}}',
    b'{"success":true,"result":["a","b"]}',
    b'{"success":true,"result":{"name":"a","id":"1","metadata_modified":"-0001-12-31T24:00:00Z"}}',
]
RESPONSES = [
    (1, b'<?page=0>; rel="prev", <?page=2>; rel="next last"\n<feed?page=2>; title="a, b"; REL=next'),
    (2, b"<html><head><LINK rel=stylesheet href=a><link REL='nofollow alternate' type='text/turtle; charset=utf-8' href='f?a=1&amp;b'/>"),
    (3, b"User-agent: *\nDisallow: /private\nCrawl-delay: 1.5\n\nUser-agent: lodeseek\nAllow: /data/*?page=$\nSitemap: http://e.org/s\n"),
    (4, b"https://e.org/api/3/action/package_search?fq=a:b&rows=5"),
    (5, b'{"files":{"https://portal.example.org/data/catalog?page=1":{"file":"empty","length":0,"sha256":"0123456789abcdef0123456789",'
        b'"etag":"x","address":"http://e.org/","next":"http://e.org/2"}},"datasets":{"a":{"key":"k","source":"s","fingerprint":"f"}},'
        b'"portals":{"p":{"mark":"2024-05-01T10:00:00","count":1,"in_part":0,"pages":["q"]}}}'),
]
WORKS = [
    b'{"title": "Digits", "abstract": "We read.", "year": 2019, "datasets": ["MNIST", "Fashion MNIST"]}\n'
    b'{"title": "a", "year": "2020-01", "url": "https://doi.org/10.1/1", "positives": ["b"]}\n\nnot JSON\n{"title": "a"}\n',
]
QUERIES = [
    "SELECT * { GRAPH ?g { ?a <urn:p>/<urn:q>* ?b OPTIONAL { ?b a ?c } } }",
    "SELECT ?c (COUNT(DISTINCT ?a) AS ?n) { GRAPH ?g { ?a a ?c } } GROUP BY ?c HAVING (COUNT(?a) > 1) ORDER BY DESC(?n) LIMIT 3",
    "CONSTRUCT { ?a <urn:x> [] } WHERE { { ?a <urn:p> 1 } UNION { VALUES ?a { <urn:a> UNDEF } } MINUS { ?a !(<urn:q>|^a) ?b } }",
    "DESCRIBE <urn:a>", "ASK { FILTER(!(!(1 IN (1, 2)))) }",
    "SELECT (GROUP_CONCAT(STR(?x); SEPARATOR=\",\") AS ?y) { { SELECT ?x { ?x ?p ?o } } BIND(REPLACE(STR(?x), 'a', 'b') AS ?z) }",
    "SELECT * { SERVICE SILENT <urn:s> { ?a ?b ?c } FILTER NOT EXISTS { ?a (<x:p>|!<x:p>)+ ?b } }",
]


def number(value):
    """Encodes a number of HDT: seven bits a byte, the last one marked."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F)
        value >>= 7
    out.append(value | 0x80)
    return bytes(out)


def control(kind, form, properties):
    return b"$HDT" + bytes([kind]) + form + b"\0" + properties + b"\0" + b"\0\0"


def sequence(values, bits=8):
    """Writes numbers of one byte each. Fuzz builds ignore checksums, so they are zero."""
    return bytes([1, bits]) + number(len(values)) + b"\0" + bytes(values) + bytes(4)


def bitmap(bits):
    packed = sum(1 << place for place, bit in enumerate(bits) if bit)
    return bytes([1]) + number(len(bits)) + b"\0" + packed.to_bytes((len(bits) + 7) // 8, "little") + bytes(4)


def section(terms):
    """Writes a dictionary section with front coding, in one block."""
    text = b""
    for place, term in enumerate(terms):
        before = terms[place - 1] if place else b""
        common = 0
        while place and common < min(len(before), len(term)) and before[common] == term[common]:
            common += 1
        text += (number(common) if place else b"") + term[common:] + b"\0"
    starts = [0, len(text)] if terms else [0]
    return bytes([2]) + number(len(terms)) + number(len(text)) + number(16) + b"\0" + sequence(starts) + text + bytes(4)


def hdt():
    """Writes an HDT file of four triples."""
    header = b"<urn:f> <urn:p> <urn:o> .\n"
    parts = [
        control(1, b"<http://purl.org/HDT/hdt#HDTv1>", b"Software=seeds;"),
        control(2, b"ntriples", b"length=%d;" % len(header)), header,
        control(3, b"<http://purl.org/HDT/hdt#dictionaryFour>", b"mapping=1;sizeStrings=9;"),
        section([b"urn:a"]), section([b"_:x", b"urn:b"]), section([b"urn:p", b"urn:q"]),
        section([b'"1"^^<urn:d>', b'"x"', b'"x"@en']),
        control(4, b"<http://purl.org/HDT/hdt#triplesBitmap>", b"order=1;numTriples=4;"),
        bitmap([True, False, True, True]), bitmap([True, True, True, True]), sequence([1, 1, 2, 2]), sequence([2, 1, 3, 4]),
    ]
    return b"".join(parts)


def frame(kind, content):
    return kind + struct.pack("<I", len(content)) + content


def calls():
    """Writes frames of a worker process that calls the server: a query, a search, a message and the end of a call."""
    query = (b'{"Select":{"service":"http://localhost:7878/sparql","query":"SELECT ?a { ?a ?b ?c } LIMIT 3","variables":["a"],'
             b'"bindings":0,"time":{"secs":1,"nanos":0}}}')
    words = b'[[{"L":"soil"}]]'
    search = (b'{"Search":{"properties":["https://w3id.org/lodeseek/search#query"],"values":[%s]}}'
              % b",".join(b"%d" % byte for byte in words))
    first, second = struct.pack("<I", 1), struct.pack("<I", 2)
    return (frame(b"Q", first + query) + frame(b"M", first + b'O{"Ok":null}') + frame(b"Q", second + search) + frame(b"X", second))


def stream():
    """Writes triples as worker processes send them."""
    def text(kind, value):
        return kind + struct.pack("<I", len(value)) + value

    tagged = text(b"G", b"x") + struct.pack("<I", 2) + b"en"
    typed = text(b"D", b"1") + struct.pack("<I", 5) + b"urn:d"
    quoted = b"Q" + text(b"B", b"b") + text(b"I", b"urn:p") + text(b"L", b"x")
    head = text(b"I", b"urn:a") + text(b"I", b"urn:p")
    return b"F" + b"T" + head + text(b"I", b"urn:b") + b"T==" + tagged + b"T=" + text(b"I", b"urn:q") + typed + b"T" + \
        text(b"B", b"b") + b"=" + quoted


def archives():
    """Yields the choice of the file name, and an archive."""
    turtle, lines = TURTLE[0], LINES[0]
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.ttl", turtle)
        archive.writestr("b/c.nt", lines)
    yield 0, buffer.getvalue()
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, content in (("a.ttl", turtle), ("b.nq", lines)):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    yield 6, buffer.getvalue()
    yield 1, gzip.compress(buffer.getvalue(), mtime=0)
    yield 2, gzip.compress(lines, mtime=0)
    yield 3, bz2.compress(turtle)
    yield 4, lzma.compress(lines)
    # Zstandard: one frame of one uncompressed block.
    yield 5, b"\x28\xb5\x2f\xfd\x20" + bytes([len(lines)]) + struct.pack("<I", 1 | len(lines) << 3)[:3] + lines


# A cube of PX with codes, a translation, a missing number and a zero.
PX = b"""CHARSET="ANSI";
CODEPAGE="utf-8";
LANGUAGES="sv","en";
TITLE="Boats by "
"harbour";
TITLE[en]="Boats";
UNITS="number";
STUB="Harbour";
HEADING="Year";
VALUES("Harbour")="North","South";
CODES("Harbour")="01","02";
TIMEVAL("Year")=TLIST(A1,"2020"-"2021");
DATA=
12 "..."
"-" 3.5;
"""
# The same without the line of zeros.
PX_KEYS = PX.replace(b"DATA=", b'KEYS("Harbour")=CODES;\nDATA=').replace(b'12 "..."\n"-" 3.5', b'"02",12 3.5')


# Two wells with names and depths, one of them without a name.
PARQUET = (
    "UEFSMRUAFR4VHiwVBBUAFQYVBhwAAAACAAAAAwEFAAAATm9ydGgVABUsFSwsFQQVABUGFQYcAAAAAgAAAAQBAAAAAAAAKUAAAAAAAAAdQBUEGTw1ABgGc2NoZW1hFQQAFQwlAhgEd2Vs"
    "bCUATBwAAAAVCiUCGAVkZXB0aAAWBBkcGSwmABwVDBklBgAZGAR3ZWxsFQAWBBZEFkQmCEkcFQAVABUCADwWChkGGSYCAgAAACYAHBUKGSUGABkYBWRlcHRoFQAWBBZSFlImTEkcFQAV"
    "ABUCADwpBhkmAAQAAAAWlgEWBCYIFpYBACggcGFycXVldC1jcHAtYXJyb3cgdmVyc2lvbiAyNi4wLjEZLBwAABwAAADHAAAAUEFSMQ=="
)


def tables():
    """Returns the tables of testdata/, a Parquet file and cubes, each behind the number of its name in the target."""
    numbers = {".csv": 1, ".xlsx": 3, ".json": 5, ".geojson": 6}
    files = sorted(file for file in (ROOT / "testdata" / "tables").iterdir() if file.suffix in numbers)
    found = [bytes([numbers[file.suffix]]) + file.read_bytes()[:MAX_BYTES] for file in files]
    return found + [b"\x08" + base64.b64decode(PARQUET), b"\x09" + PX, b"\x09" + PX_KEYS]


def pieces(path, suffixes):
    """Returns the beginnings of the files with these suffixes."""
    files = sorted(file for file in path.rglob("*") if file.suffix in suffixes)
    return [file.read_bytes()[:MAX_BYTES] for file in files]


def chosen(choices, documents):
    return [bytes([choice]) + document for document in documents for choice in choices]


def seeds():
    """Returns the seeds by target."""
    terse = TURTLE + pieces(DUMPS, {".ttl", ".trig", ".n3"}) + pieces(ROOT / "testdata" / "hostile", {".ttl"})
    lines = LINES + pieces(DUMPS, {".nq"})
    xml = XML + pieces(DUMPS, {".rdf", ".owl"})
    jsonld = JSONLD + pieces(DUMPS, {".jsonld"}) + pieces(CATALOGS, {".jsonld"})
    own = [(ROOT / "testdata" / name).read_bytes()[:MAX_BYTES] for name in ("acordar.json", "papers-with-code.json", "catalog.ttl")]
    catalogs = pieces(CATALOGS, {".json", ".jsonld", ".ttl", ".html"}) + own
    queries = [text.encode() for text in QUERIES] + pieces(ROOT / "queries", {".rq"})
    return {
        "dump_turtle": chosen((0, 1, 2), terse),
        "dump_lines": chosen((0, 1), lines),
        "dump_xml": chosen((0,), xml),
        "dump_jsonld": chosen((0,), jsonld),
        "dump_hdt": [hdt()],
        "dump_archive": [bytes([choice]) + archive for choice, archive in archives()],
        "turtle_differential": chosen((0, 1), terse) + chosen((2, 3), lines),
        "catalog": chosen((0, 5), catalogs + jsonld + xml) + chosen((6,), pieces(CATALOGS, {".json"})),
        "sparql_text": queries,
        "sparql_results": [bytes([choice]) + body for choice, body in RESULTS],
        "worker_results": [bytes([choice]) + body for choice, body in WORKERS] + [
            b"\0" + frame(b"R", b"") + frame(b"O", b"x") + frame(b"D", b""), b"\3" + stream(), b"\7" + calls()],
        "harvest_responses": chosen((0,), CKAN) + [bytes([choice]) + body for choice, body in RESPONSES],
        "tables": tables(),
        "works": chosen((0, 1), WORKS),
    }


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.splitlines()[2])
    for target, inputs in seeds().items():
        folder = Path(sys.argv[1]) / target
        folder.mkdir(parents=True, exist_ok=True)
        for place, content in enumerate(inputs):
            (folder / f"seed-{place:03}").write_bytes(content)


if __name__ == "__main__":
    main()
