#!/usr/bin/env python3
"""Tests of the feeds that a server publishes, OAI-PMH and the event stream, with the clients that harvesters use.

usage: feeds.py PROGRAM

Sickle and oaipmh-scythe (PyPI) and ldes-client (npm) read a catalogue of 250 datasets, then what changed after one dataset was edited,
one removed and one added. Lodeseek itself harvests both feeds, twice. Checks whose client cannot be installed are skipped with a
message. The last line counts passed, failed and skipped checks.
"""

import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import clients
import editor
import peers

LDES_CLIENT = "ldes-client@0.3.0"
DATASETS = 250
PUBLISHED = "https://www.w3.org/ns/activitystreams#"
# Reads all records by both Python clients and prints them as JSON: {client: [[identifier, datestamp, deleted, title or null]]}.
READERS = """
import json, sys
from sickle import Sickle
from oaipmh_scythe import Scythe
address, prefix, since = sys.argv[1:]
arguments = {"metadataPrefix": prefix, **({"from": since} if since else {})}
records = {"Sickle": [], "Scythe": []}
for record in Sickle(address).ListRecords(**arguments):
    title = None if record.deleted else (record.metadata.get("title") or [None])[0]
    records["Sickle"].append([record.header.identifier, record.header.datestamp, record.deleted, title])
with Scythe(address) as scythe:
    for record in scythe.list_records(metadata_prefix=prefix, **({"from_": since} if since else {})):
        title = None if record.deleted else (record.metadata.get("title") or [None])[0]
        records["Scythe"].append([record.header.identifier, record.header.datestamp, record.deleted, title])
print(json.dumps(records))
"""


def turtle(numbers, title="Wells of district"):
    datasets = [f"""<http://feed.example/{number}> a dcat:Dataset ; dct:identifier "wells-{number}" ; dct:title "{title} {number}"@en ;
  dct:description "Depths of wells <in> district {number} & around"@en ; dct:publisher <http://feed.example/office> ; dcat:keyword "wells"@en ;
  dcat:distribution [ dcat:accessURL <http://feed.example/{number}.csv> ; dcat:mediaType "text/csv" ] .""" for number in numbers]
    return """@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> . @prefix foaf: <http://xmlns.com/foaf/0.1/> .
<http://feed.example/office> a foaf:Agent ; foaf:name "Office of wells" .
""" + "\n".join(datasets)


class Portal:
    """A home with a server that is stopped while the home changes."""

    def __init__(self, program, folder):
        self.program, self.folder, self.home = program, pathlib.Path(folder), str(pathlib.Path(folder, "home"))
        self.port = peers.free_port()

    def run(self, *arguments, codes=(0,), home=None):
        done = subprocess.run([self.program, "--home", home or self.home, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert done.returncode in codes, f"{arguments}: {done.returncode}: {done.stderr[-800:]}"
        return done

    def load(self, name, text):
        source = self.folder / name
        source.write_text(text)
        self.run("load", str(source))
        self.run("index", "--ranking", "words")

    def serve(self):
        return clients.Server(self.program, self.home, port=self.port)


@contextlib.contextmanager
def portal(program):
    with tempfile.TemporaryDirectory(prefix="lodeseek-feeds-") as folder:
        made = Portal(program, folder)
        made.load("wells.ttl", turtle(range(DATASETS)))
        yield made


def change(made):
    """Edits one dataset, removes one, adds one."""
    made.run("edit", "wells-7", "--set", "title=Deep wells")
    made.run("remove", "wells-8")
    made.load("more.ttl", turtle([DATASETS], "Springs of district"))


def check_oai_pmh(program):
    """Both clients read every record once, then only what changed, with the removal."""
    folder = str(peers.python_packages("feeds"))

    def read(address, prefix, since=""):
        done = subprocess.run([sys.executable, "-c", READERS, address + "/oai", prefix, since], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env={**os.environ, "PYTHONPATH": folder})
        assert done.returncode == 0, done.stderr[-1500:]
        return json.loads(done.stdout)

    with portal(program) as made:
        with made.serve() as server:
            for prefix in ("oai_dc", "dcat_ap"):
                for client, records in read(server.address, prefix).items():
                    names = [identifier.rsplit(":", 1)[1] for identifier, *_ in records]
                    assert sorted(names) == sorted(f"wells-{number}" for number in range(DATASETS)), f"{client}, {prefix}: {len(names)} records"
                    titles = {title for *_, title in records}
                    assert len(titles) == DATASETS and "Wells of district 7" in titles, f"{client}, {prefix}: {sorted(map(str, titles))[:5]}"
        time.sleep(1.1)  # dates have seconds
        since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        change(made)
        with made.serve() as server:
            for client, records in read(server.address, "oai_dc", since).items():
                changed = sorted([identifier.rsplit(":", 1)[1], deleted, title] for identifier, _, deleted, title in records)
                assert changed == [[f"wells-{DATASETS}", False, f"Springs of district {DATASETS}"], ["wells-7", False, "Deep wells"],
                                   ["wells-8", True, None]], f"{client}: {changed}"
            errors = {"": "badVerb", "verb=Look": "badVerb", "verb=ListRecords": "badArgument", "verb=Identify&from=2026-01-01": "badArgument",
                      "verb=ListRecords&metadataPrefix=marc": "cannotDisseminateFormat", "verb=GetRecord&metadataPrefix=oai_dc&identifier=oai:x:y": "idDoesNotExist",
                      "verb=ListRecords&resumptionToken=x": "badResumptionToken", "verb=ListSets": "noSetHierarchy",
                      "verb=ListIdentifiers&metadataPrefix=oai_dc&until=1999-01-01": "noRecordsMatch",
                      "verb=ListIdentifiers&metadataPrefix=oai_dc&from=2026-01-01&until=2026-01-01T00:00:00Z": "badArgument"}
            for query, code in errors.items():
                text = clients.fetch(f"{server.address}/oai?{query}")
                assert f'<error code="{code}">' in text, f"{query}: {text[:600]}"


def ldes_client():
    """Returns the command of the client and its environment."""
    try:
        node, npm = editor.node(least=18)
    except SystemExit as reason:
        raise peers.Missing(str(reason)) from None
    environment = {**os.environ, "PATH": os.pathsep.join([os.path.dirname(node[0]), os.environ.get("PATH", "")])}

    def make(folder):
        (folder / "package.json").write_text('{"private": true}')
        peers.done([*npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", LDES_CLIENT], f"{LDES_CLIENT} could not be installed from npm",
                   cwd=folder, env=environment)

    return [*node, str(peers.kept(LDES_CLIENT, make) / "node_modules/.bin/ldes-client")], environment


def check_event_stream(program):
    """The client reads each dataset once in any order, and after a change only the new events, with the removal."""
    command, environment = ldes_client()

    def read(address, *options):
        done = subprocess.run([*command, address + "/feeds/changes", *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
                              timeout=300)
        assert done.returncode == 0, done.stderr[-1500:]
        kinds = re.findall(rf"/dataset/([^>#]*)#change-[\d-]+> <http://www\.w3\.org/1999/02/22-rdf-syntax-ns#type> <{PUBLISHED}(\w+)>", done.stdout)
        times = re.findall(rf'<{PUBLISHED}published> "([^"]+)"', done.stdout)
        return kinds, times, done.stdout

    with portal(program) as made:
        state = str(made.folder / "state")
        with made.serve() as server:
            for options in ((), ("--ordered", "ascending"), ("--save", state)):
                kinds, times, text = read(server.address, *options)
                assert sorted(name for name, _ in kinds) == sorted(f"wells-{number}" for number in range(DATASETS)), f"{options}: {len(kinds)} members: {text[:1500]}"
                assert {kind for _, kind in kinds} == {"Create"}, f"{options}: {set(kinds)}"
                assert f'"Wells of district {DATASETS - 1}"@en' in text, f"{options}: the descriptions are missing"
                assert "--ordered" not in options or times == sorted(times), "the events are not in order"
        change(made)
        with made.serve() as server:
            kinds, _, text = read(server.address, "--save", state)
        assert sorted(kinds) == [(f"wells-{DATASETS}", "Create"), ("wells-7", "Update"), ("wells-8", "Delete")], f"resumed: {kinds}"
        assert '"Deep wells"' in text, text[:1500]


def check_own_harvest(program):
    """Lodeseek harvests both feeds into the same datasets, and the second time only what changed."""
    with portal(program) as made:
        homes = {path: str(made.folder / f"harvest-{number}") for number, path in enumerate(("/oai", "/feeds/changes"))}

        def harvest(server, path):
            made.run("harvest", server.address + path, "--allow-private-network", "127.0.0.0/8", "--host", f"http://localhost:{made.port}/",
                     home=homes[path])
            listed = json.loads(made.run("list", "--json", home=homes[path]).stdout)
            return {entry["title"] for entry in listed}

        with made.serve() as server:
            for path in homes:
                titles = harvest(server, path)
                assert titles == {f"Wells of district {number}" for number in range(DATASETS)}, f"{path}: {len(titles)} titles: {sorted(titles)[:3]}"
        change(made)
        expected = {f"Wells of district {number}" for number in range(DATASETS) if number not in (7, 8)} | {"Deep wells", f"Springs of district {DATASETS}"}
        with made.serve() as server:
            for path in homes:
                titles = harvest(server, path)
                assert titles == expected, f"{path}: missing {sorted(expected - titles)[:5]}, too many {sorted(titles - expected)[:5]}"


def main():
    peers.end_well()
    program = str(pathlib.Path(sys.argv[1]).resolve())
    passed = failed = skipped = 0
    for check in (check_oai_pmh, check_event_stream, check_own_harvest):
        name = check.__name__.removeprefix("check_")
        try:
            check(program)
            passed += 1
            print(f"feeds {name} ... ok", flush=True)
        except peers.Missing as reason:
            skipped += 1
            print(f"feeds {name} ... SKIPPED: {reason}")
        except Exception as error:  # the remaining checks must run
            failed += 1
            print(f"feeds {name} ... FAILED: {type(error).__name__}: {error}")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
