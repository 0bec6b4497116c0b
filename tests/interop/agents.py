#!/usr/bin/env python3
"""Tests the Model Context Protocol with its official Python client, over standard input and output and over HTTP, and with its inspector.

usage: agents.py PROGRAM

Each transport solves three tasks as an agent would: find datasets about a subject, inspect the schema of one, answer a question
by SPARQL. The client is installed from PyPI and the inspector from npm; checks without theirs are skipped with a message. The last line counts
passed and failed checks.
"""

import asyncio
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from clients import CACHE, ROOT, Server
import packages
import peers
from peers import editor

failed = []
passed = 0


def check(name, value):
    global passed
    print(f"{'ok  ' if value else 'FAIL'} {name}", flush=True)
    if value:
        passed += 1
    else:
        failed.append(name)


async def solve(client, transport):
    async def tool(name, **arguments):
        result = await client.call_tool(name, arguments)
        if result.is_error:
            sys.exit(f"FAIL {transport}: {name}: {result.content[0].text}")
        content = result.structured_content
        if not content["untrusted"] or content != json.loads(result.content[0].text):
            sys.exit(f"FAIL {transport}: {name}: not marked, or text and structure differ")
        return content["result"]

    tools = (await client.list_tools()).tools
    check(f"{transport}: eight tools, all read-only", len(tools) == 8 and all(one.annotations.read_only_hint for one in tools))
    hits = (await tool("search_datasets", query="trees of the city", limit=3))["hits"]
    check(f"{transport}: finds datasets about a subject", hits[0]["title"] == "City tree register")
    schema = await tool("get_schema", id=hits[0]["id"])
    classes = [iri for iri, _ in schema["profile"]["classes"]]
    check(f"{transport}: inspects the schema", "http://example.org/trees/vocab#Species" in classes)
    query = f"""PREFIX v: <http://example.org/trees/vocab#> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
      SELECT ?name (COUNT(?tree) AS ?trees) WHERE {{ GRAPH <{hits[0]["iri"]}> {{
        ?tree v:hasSpecies ?species . ?species rdfs:label ?name FILTER(LANG(?name) = "en") }} }}
      GROUP BY ?name ORDER BY DESC(?trees) LIMIT 1"""
    rows = (await tool("query_sparql", query=query))["results"]["bindings"]
    check(f"{transport}: answers which species is the most frequent", len(rows) == 1 and int(rows[0]["trees"]["value"]) >= 1)
    wrong = await client.call_tool("query_sparql", {"query": "DELETE WHERE { ?s ?p ?o }"})
    check(f"{transport}: rejects an update", wrong.is_error)
    read = await client.read_resource(f"dataset://{hits[0]['id']}")
    check(f"{transport}: reads a dataset as a resource", "City tree register" in read.contents[0].text)


async def main(program, home):
    from mcp import Client, StdioServerParameters

    async with Client(StdioServerParameters(command=str(pathlib.Path(program).resolve()), args=["--home", home, "mcp"])) as client:
        await solve(client, "stdio")
    with Server(program, home) as server:
        async with Client(f"{server.address}/mcp") as client:
            await solve(client, "HTTP")


INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"


def inspect(program, home):
    """Lists the tools and calls one with the inspector's command line, over both transports."""
    try:
        node, npm = editor.node(least=20)
        environment = {**os.environ, "PATH": os.pathsep.join([os.path.dirname(node[0]), os.environ.get("PATH", "")])}

        def make(folder):
            (folder / "package.json").write_text('{"private": true}')
            peers.done([*npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", INSPECTOR], "the inspector could not be installed from npm",
                       cwd=folder, env=environment)

        command = str(peers.kept(INSPECTOR, make) / "node_modules/.bin/mcp-inspector")
    except (peers.Missing, SystemExit) as reason:
        print(f"SKIPPED: inspector: {reason}", flush=True)
        return

    def run(target, *arguments):
        done = subprocess.run([command, "--cli", *target, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
                              timeout=120)
        try:
            return json.loads(done.stdout)
        except ValueError:
            sys.exit(f"FAIL inspector: {' '.join(arguments)}: {done.stderr[-1000:]}")

    with Server(program, home) as server:
        targets = {"stdio": [str(pathlib.Path(program).resolve()), "--home", home, "mcp"], "HTTP": [f"{server.address}/mcp", "--transport", "http"]}
        for transport, target in targets.items():
            tools = {tool["name"] for tool in run(target, "--method", "tools/list", "--strict")["tools"]}
            check(f"inspector, {transport}: lists the tools, whose schemas it accepts", len(tools) == 8 and "query_sparql" in tools)
            found = run(target, "--method", "tools/call", "--tool-name", "search_datasets", "--tool-arg", "query=trees of the city")
            hits = found["structuredContent"]["result"]["hits"]
            check(f"inspector, {transport}: searches", hits[0]["title"] == "City tree register")


if __name__ == "__main__":
    try:
        sys.path.insert(0, str(packages.cached("mcp", CACHE)))
    except packages.PackageError as reason:
        print(f"{reason}\nagents: skipped, the client cannot be installed")
        sys.exit(0)
    with tempfile.TemporaryDirectory() as home:
        for arguments in (["load", str(ROOT / "testdata" / "catalog.ttl")], ["index"]):
            subprocess.run([sys.argv[1], "--home", home, *arguments], check=True, capture_output=True)
        asyncio.run(main(sys.argv[1], home))
        inspect(sys.argv[1], home)
    print(f"agents: {passed} passed, {len(failed)} failed")
    sys.exit(1 if failed else 0)
