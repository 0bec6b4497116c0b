"""Tests of the package with a program and ``testdata/``; `make wheel-test` runs them on the installed wheel."""

import atexit
import doctest
import importlib
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import warnings
from unittest import mock

import lodeseek
from lodeseek import IncompleteLoad, Lodeseek, LodeseekError, MissingDependency
from lodeseek._program import run_program
from lodeseek._server import PrivateServer

TESTDATA = pathlib.Path(os.environ["TESTDATA"])
MODULES = ["lodeseek", "lodeseek._program", "lodeseek._client", "lodeseek._evaluation", "lodeseek._sparql"]
FOLDER = tempfile.TemporaryDirectory(prefix="lodeseek-test-")
atexit.register(FOLDER.cleanup)
HOME = pathlib.Path(FOLDER.name) / "home"


def setUpModule():
    """Loads and indexes the collection. The doctests, which run later, use it, too."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IncompleteLoad)
        with Lodeseek.open(HOME) as collection:
            collection.load(TESTDATA / "catalog.ttl")
            collection.index(ranking="words")


def load_tests(loader, tests, pattern):
    """Adds the doctests, with an indexed collection."""
    def prepare(test):
        folder = pathlib.Path(FOLDER.name)
        test.globs.update(home=folder / "doctest", catalog=TESTDATA / "catalog.ttl", testdata=TESTDATA, collection=Lodeseek.open(HOME))

    def close(test):
        test.globs["collection"].close()

    for name in MODULES:
        tests.addTests(doctest.DocTestSuite(importlib.import_module(name), setUp=prepare, tearDown=close))
    return tests


class Requests(unittest.TestCase):
    def setUp(self):
        self.collection = Lodeseek.open(HOME)
        self.addCleanup(self.collection.close)

    def test_search_has_the_order_of_the_command_line(self):
        import json
        for line in (TESTDATA / "queries.tsv").read_text(encoding="utf-8").splitlines():
            query = line.split("\t")[1]
            output = run_program(["--home", HOME, "search", "--json", "-k", "20", query], accepted=(0, 1)).stdout
            expected = [(hit["id"], hit["score"]) for hit in json.loads(output)["hits"]] if output else []
            found = self.collection.search(query, k=20)
            self.assertEqual(list(zip(found["id"], found["score"])), expected, query)

    def test_filters_and_models_restrict_and_order(self):
        all_of = self.collection.search("trees water contracts", k=20)
        recent = self.collection.search("trees water contracts", k=20, filters={"since": 2020})
        self.assertTrue(0 < len(recent) < len(all_of), (len(recent), len(all_of)))
        self.assertTrue((recent["year"].dropna() >= 2020).all())
        tree = self.collection.search("trees", filters={"class": ["http://example.org/trees/vocab#StreetTree", "http://example.org/none"]})
        self.assertEqual(list(tree["id"]), ["street-trees"])
        fsdm, bm25 = (self.collection.search("water", model=model)["score"].iloc[0] for model in ("fsdm", "bm25"))
        self.assertNotEqual(fsdm, bm25)

    def test_a_suggested_filter_is_an_argument_of_the_next_search(self):
        hits = self.collection.hits("trees water contracts after 2000")
        self.assertEqual(hits.suggested_filters, {"covers": ["2001.."]})
        filtered = self.collection.hits("trees water contracts after 2000", filters=hits.suggested_filters)
        self.assertTrue(0 < filtered.total < hits.total, (filtered.total, hits.total))
        self.assertEqual(filtered.suggested_filters, {})

    def test_more_hits_than_one_request_returns_are_fetched(self):
        with mock.patch("lodeseek._client.PAGE", 3):
            paged = self.collection.hits("water trees contracts library", k=8)
        at_once = self.collection.hits("water trees contracts library", k=8)
        self.assertEqual([hit.id for hit in paged], [hit.id for hit in at_once])
        self.assertGreater(len(at_once), 3)

    def test_snippets_are_graphs_of_the_data_with_a_drawing(self):
        import rdflib
        graph = self.collection.snippet("street-trees", 7, query="ginkgo biloba")
        self.assertIsInstance(graph, rdflib.Graph)
        self.assertEqual(len(graph), 7)
        self.assertTrue(any("ginkgo" in str(term).lower() for triple in graph for term in triple))
        self.assertTrue(graph._repr_svg_().startswith("<svg"))
        expected = rdflib.Graph()
        arguments = ["--home", HOME, "snippet", "museum-objects", "-k", "20", "--rdf", "nt"]
        expected.parse(data=run_program(arguments).stdout, format="nt")
        self.assertTrue(expected.isomorphic(self.collection.snippet("museum-objects")))
        self.assertTrue(any(isinstance(term, rdflib.BNode) for triple in expected for term in triple))

    def test_query_converts_values(self):
        rows = self.collection.query('SELECT * { VALUES (?a ?b ?c ?d ?e) { (1 1.5 true "x"@en UNDEF) (<http://e.org/> 2e0 "y" 3 4) } }')
        expected = {"a": [1, "http://e.org/"], "b": [1.5, 2.0], "c": [True, "y"], "d": ["x", 3]}
        self.assertEqual(rows[list("abcd")].to_dict("list"), expected)
        self.assertEqual((str(rows["e"].dtype), rows["e"].isna().tolist(), rows["e"][1]), ("Int64", [True, False], 4))
        self.assertIs(self.collection.query("ASK { ?s ?p 'no such literal' }"), False)
        self.assertEqual(len(self.collection.query("CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o } LIMIT 7")), 7)

    def test_truncated_results_are_errors(self):
        with Lodeseek.open(HOME, settings={"sparql.rows": 5}) as limited:
            for query in ["SELECT * { ?s ?p ?o }", "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }"]:
                with self.assertRaisesRegex(LodeseekError, "truncated"):
                    limited.query(query)

    def test_errors_name_the_cause(self):
        causes = {
            "a query begins with SELECT": lambda: self.collection.query("SELEC"),
            "unknown parameter \"colour\"": lambda: self.collection.search("x", filters={"colour": "red"}),
            "there is no dataset nothing": lambda: self.collection.snippet("nothing"),
            "No such file": lambda: self.collection.load("/nothing.ttl"),
            "is not a Lodeseek home": lambda: Lodeseek.open("/nothing").search("x"),
            "not in the allow list": lambda: self.collection.query("SELECT * { SERVICE <http://127.0.0.1:1/> { ?s ?p ?o } }"),
            "no program at": lambda: Lodeseek.open(HOME, program="/nothing").status(),
            "unknown ranking": lambda: Lodeseek.open(HOME, ranking="good").search("x"),
            "cannot be an identifier": lambda: self.collection.run({"a b": "x"}),
        }
        for text, call in causes.items():
            with self.subTest(text), self.assertRaisesRegex(LodeseekError, text):
                call()

    def test_missing_libraries_are_errors_with_the_command(self):
        for library, call in [("pandas", lambda: self.collection.search("x")), ("rdflib", lambda: self.collection.snippet("street-trees"))]:
            with self.subTest(library), mock.patch.dict(sys.modules, {library: None}):
                with self.assertRaisesRegex(MissingDependency, r"pip install 'lodeseek\[(pandas|rdf)\]'"):
                    call()
        self.assertEqual(self.collection.hits("ginkgo biloba")[0].id, "street-trees")

    def test_notebooks_display_html_without_markup_of_the_data(self):
        page = self.collection.hits("ginkgo <script>")._repr_html_()
        self.assertIn("&lt;script&gt;", page)
        self.assertNotIn("<script>", page)
        self.assertIn("street-trees", page)
        self.assertIn("1,081", self.collection._repr_html_())

    def test_runs_and_evaluations_take_tables(self):
        import pandas
        topics = pandas.read_csv(TESTDATA / "queries.tsv", sep="\t", names=["qid", "query"])
        qrels = pandas.read_csv(TESTDATA / "qrels.txt", sep="\t", names=["qid", "x", "docno", "label"])
        runs = {model: self.collection.run(topics, options=["--model", model]) for model in ("bm25", "fsdm")}
        evaluation = self.collection.evaluate(qrels, runs, measures=["nDCG@10", "RR"], baseline="bm25", test="randomisation")
        self.assertEqual(list(evaluation.means.index), ["bm25", "fsdm"])
        files = {}
        for model, run in runs.items():
            files[model] = pathlib.Path(FOLDER.name) / f"{model}-of-the-command.run"
            run_program(["--home", HOME, "run", "--topics", TESTDATA / "queries.tsv", "--model", model, "-o", files[model]])
        same = self.collection.evaluate(TESTDATA / "qrels.txt", files, measures=["nDCG@10", "RR"])
        self.assertEqual(same.means.to_dict(), evaluation.means.to_dict())
        self.assertEqual(set(evaluation.comparisons["run"]), {"fsdm"})
        mean = evaluation.per_query.query("run == 'fsdm' and measure == 'RR'")["value"].sum() / qrels["qid"].nunique()
        self.assertAlmostEqual(mean, evaluation.means.loc["fsdm", "RR"])
        self.assertTrue(evaluation.to_latex().startswith("\\begin{tabular}"))

    def test_a_broken_file_is_a_warning_and_an_outcome(self):
        source = pathlib.Path(FOLDER.name) / "broken.nt"
        source.write_text("<http://e.org/a> <http://e.org/b> .\n<http://e.org/a> <http://e.org/p> \"b\" .\n")
        with Lodeseek.open(pathlib.Path(FOLDER.name) / "broken") as other:
            outcome = other.load(source)[0]
        self.assertEqual((outcome["outcome"], outcome["triples"], outcome["skipped"]), ("loaded", 1, 1))


    def test_tables_are_shown_as_rows(self):
        with Lodeseek.open(pathlib.Path(FOLDER.name) / "tables") as other:
            other.load(TESTDATA / "tables" / "catalog.ttl")
            other.index(ranking="words")
            rows = other.rows("water", query="brewery")
            self.assertEqual(list(zip(rows["well name"], rows["depth"])), [("Old Brewery", "48.0")])
            self.assertEqual((rows.index.name, list(rows.index)), ("row", [2]))
            self.assertEqual(rows.attrs, {"title": "wells", "all_rows": 3, "matching_rows": 1})
            first = other.rows("water", limit=2)
            self.assertEqual((list(first.index), first.attrs), ([1, 2], {"title": "wells", "all_rows": 3}))
            self.assertEqual(len(other.rows("water", query="nonsense")), 0)
            hit = other.hits("brewery")[0]
            self.assertEqual([cell["text"] for cell in hit.table["columns"]], ["well name", "depth", "Pb", "sampled"])
            page = other.hits("brewery")._repr_html_()
            self.assertIn("<td style='text-align:left'>48.0</td>", page)
            self.assertIn("wells: 3 of 3 rows, 4 of 4 columns", page)
        with self.assertRaisesRegex(LodeseekError, "is no table"):
            self.collection.rows("street-trees")


class Servers(unittest.TestCase):
    def test_load_and_index_end_the_server_and_requests_start_it_again(self):
        with Lodeseek.open(pathlib.Path(FOLDER.name) / "changing") as collection:
            collection.load(TESTDATA / "dumps" / "soils.ttl")
            collection.index(ranking="words")
            self.assertEqual(len(collection.hits("soil")), 1)
            first = collection.url
            collection.load(TESTDATA / "dumps" / "stops.trig")
            collection.index()
            self.assertEqual(collection.hits("tram stop")[0].id, "stops")
            self.assertNotEqual(collection.url, first)
        self.assertEqual(servers_of(pathlib.Path(FOLDER.name) / "changing"), [])

    def test_the_server_ends_with_python(self):
        endings = {"normal end": "", "error": "raise SystemExit(3)", "forgotten": "del collection; gc.collect(); print('collected', flush=True); time.sleep(60)",
                   "killed": "print('ready', flush=True); time.sleep(60)"}
        for name, ending in endings.items():
            with self.subTest(name):
                code = f"import gc, time, lodeseek\ncollection = lodeseek.Lodeseek.open({str(HOME)!r})\ncollection.hits('x')\n{ending}"
                python = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
                if name in ("killed", "forgotten"):
                    python.stdout.readline()
                    if name == "killed":
                        self.assertEqual(len(servers_of(HOME)), 1)
                        python.send_signal(signal.SIGKILL)
                    self.assertEqual(ended(HOME), [])
                    python.kill()
                python.wait(60)
                python.stdout.close()
                self.assertEqual(ended(HOME), [])

    def test_a_server_that_ended_is_replaced(self):
        with Lodeseek.open(HOME) as collection:
            collection.hits("x")
            (server,) = servers_of(HOME)
            os.kill(server, signal.SIGKILL)
            self.assertEqual(ended(HOME), [])
            collection._server._reader.join(20)
            self.assertEqual(collection.hits("ginkgo biloba")[0].id, "street-trees")

    def test_a_server_that_cannot_start_reports_its_last_message(self):
        with self.assertRaisesRegex(LodeseekError, "the server did not start: .*unexpected argument '--colour'"):
            PrivateServer(HOME, options=["--colour"])
        self.assertEqual(servers_of(HOME), [])

    def test_forked_processes_do_not_end_the_server(self):
        with Lodeseek.open(HOME) as collection:
            collection.hits("x")
            child = os.fork()
            if child == 0:
                collection._server.close()
                os._exit(0)
            os.waitpid(child, 0)
            self.assertEqual(len(servers_of(HOME)), 1)

    def test_many_threads_share_a_server(self):
        from concurrent.futures import ThreadPoolExecutor
        with Lodeseek.open(HOME) as collection, ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda _: collection.hits("ginkgo biloba", k=1)[0].id, range(40)))
            self.assertEqual(len(servers_of(HOME)), 1)
        self.assertEqual(set(found), {"street-trees"})

    def test_python_m_runs_the_program(self):
        version = subprocess.run([sys.executable, "-m", "lodeseek", "--version"], capture_output=True, text=True, check=True).stdout
        self.assertRegex(version, r"^lodeseek \d+\.\d+\.\d+\n$")


def servers_of(home):
    """Returns the ids of the server processes of a home."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if command[0].endswith("lodeseek") and str(home) in command and "serve" in command:
            found.append(int(folder.name))
    return found


def ended(home, seconds=20):
    """Waits until a home has no server, and returns those that are left."""
    end = time.monotonic() + seconds
    while servers_of(home) and time.monotonic() < end:
        time.sleep(0.05)
    return servers_of(home)


if __name__ == "__main__":
    unittest.main()
