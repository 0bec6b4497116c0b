"""Tests of the plugin over ``testdata/``; `make wheel-test` runs them on the installed wheels."""

import atexit
import os
import pathlib
import tarfile
import tempfile
import unittest
import warnings

import pandas as pd
import pyterrier as pt
from ir_measures import AP, RR, nDCG
from lodeseek import IncompleteLoad, Lodeseek, LodeseekError
from lz4.frame import LZ4FrameFile
from pyterrier_lodeseek import LodeseekIndex

TESTDATA = pathlib.Path(os.environ["TESTDATA"])
FOLDER = tempfile.TemporaryDirectory(prefix="pyterrier-lodeseek-test-")
atexit.register(FOLDER.cleanup)
HOME = pathlib.Path(FOLDER.name) / "home"
TOPICS = pd.read_csv(TESTDATA / "queries.tsv", sep="\t", names=["qid", "query"])
QRELS = pd.read_csv(TESTDATA / "qrels.txt", sep="\t", names=["qid", "iteration", "docno", "label"])


def setUpModule():
    """Loads and indexes the collection, with vectors if the environment has ONNX Runtime and the model."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IncompleteLoad)
        with Lodeseek.open(HOME) as collection:
            collection.load(TESTDATA / "catalog.ttl")
            collection.index()


def rankers(index):
    """Returns rankers with the options of the same ranking for `lodeseek run`."""
    found = {"bm25": (index.bm25(), ["--model", "bm25"]), "fsdm": (index.fsdm(), ["--model", "fsdm"]),
             "search": (index.search(), []), "lmd": (index.lmd(), ["--model", "lmd"])}
    if index.collection.status()["vectors"]:
        found["dense"] = (index.dense(), ["--dpr", "lodeseek-minilm", "--fusion", "none", "--dense-depth", "1000"])
    return found


class Plugin(unittest.TestCase):
    def setUp(self):
        self.index = LodeseekIndex(HOME)
        self.addCleanup(self.index.collection.close)

    def test_rankings_are_those_of_the_program(self):
        for name, (ranker, options) in rankers(self.index).items():
            with self.subTest(name):
                file = pathlib.Path(FOLDER.name) / f"{name}.run"
                self.index.collection.command("run", "--topics", TESTDATA / "queries.tsv", "--depth", "1000", "-o", file, *options)
                expected = pd.read_csv(file, sep="\t", names=["qid", "Q0", "docno", "rank", "score", "tag"])
                expected["rank"] -= 1
                found = ranker(TOPICS)
                self.assertEqual(list(found["qid"].unique()), [qid for qid in TOPICS["qid"] if qid in set(expected["qid"])])
                order = ["qid", "rank"]
                pd.testing.assert_frame_equal(found.sort_values(order)[["qid", "docno", "rank", "score"]].reset_index(drop=True),
                                              expected.sort_values(order)[["qid", "docno", "rank", "score"]].reset_index(drop=True))

    def test_an_experiment_beside_another_engine_has_the_values_of_the_program(self):
        from pyterrier_pisa import PisaIndex
        pisa = PisaIndex(str(pathlib.Path(FOLDER.name) / "pisa"), text_field="text")
        pisa.index(self.index.get_corpus_iter())
        named = {name: ranker for name, (ranker, _) in rankers(self.index).items()}
        measures = [nDCG @ 10, AP @ 10, RR @ 10]
        table = pt.Experiment([*named.values(), pisa.bm25()], TOPICS, QRELS, measures, names=[*named, "pisa"], baseline=0)
        self.assertGreater(table.set_index("name").loc["pisa", "nDCG@10"], 0.5)
        runs = {name: pathlib.Path(FOLDER.name) / f"{name}.run" for name in named}
        for name, file in runs.items():
            self.index.collection.command("run", "--topics", TESTDATA / "queries.tsv", "--depth", "1000", "-o", file, *rankers(self.index)[name][1])
        expected = self.index.collection.evaluate(QRELS, runs, measures=[str(measure) for measure in measures]).means
        for measure in map(str, measures):
            for name in named:
                self.assertAlmostEqual(table.set_index("name").loc[name, measure], expected.loc[name, measure], places=6, msg=name)

    def test_re_ranking_keeps_the_documents_and_orders_them_as_the_retriever(self):
        pool = pd.merge(TOPICS, pd.DataFrame({"docno": ["street-trees", "chesapeake-water", "contracts", "soil-types"]}), how="cross")
        for name, (ranker, _) in rankers(self.index).items():
            with self.subTest(name):
                found = ranker(pool)
                self.assertEqual(set(zip(found["qid"], found["docno"])), set(zip(pool["qid"], pool["docno"])))
                retrieved = {(row.qid, row.docno): row.score for row in ranker(TOPICS).itertuples()}
                for qid, rows in found.groupby("qid"):
                    ranked = [row for row in rows.sort_values("rank").itertuples()]
                    known = [(qid, row.docno) in retrieved for row in ranked]
                    self.assertEqual(known, sorted(known, reverse=True), "documents without a match are last")
                    for row, is_known in zip(ranked, known):
                        if is_known:
                            self.assertEqual(row.score, retrieved[(qid, row.docno)])

    def test_pipelines_cut_fuse_and_re_rank(self):
        cut = (self.index.bm25() % 2).compile()
        self.assertEqual(getattr(cut, "num_results", None), 2)
        self.assertLessEqual(cut(TOPICS).groupby("qid").size().max(), 2)
        chain = (self.index.bm25() % 3 >> self.index.fsdm())(TOPICS)
        self.assertEqual(set(map(tuple, chain[["qid", "docno"]].values)), set(map(tuple, (self.index.bm25() % 3)(TOPICS)[["qid", "docno"]].values)))
        fused = (self.index.bm25() + self.index.fsdm()).search("ginkgo biloba")
        self.assertEqual(fused.iloc[0]["docno"], "street-trees")

    def test_unusual_queries(self):
        topics = pd.DataFrame({"qid": ["a b", "2", "3"], "query": ["ginkgo\tbiloba\n", "  ", "qwertz nothing"], "kept": [1, 2, 3]})
        found = self.index.bm25()(topics)
        self.assertEqual(found[["qid", "docno", "kept", "rank"]].values.tolist(), [["a b", "street-trees", 1, 0]])
        self.assertEqual(len(self.index.bm25()(topics.iloc[:0])), 0)
        self.assertEqual(list(self.index.bm25()(topics.iloc[1:]).columns), list(found.columns))
        with self.assertRaises(pt.validate.InputValidationError):
            self.index.bm25()(pd.DataFrame({"docno": ["a"]}))
        with self.assertRaises(LodeseekError):
            self.index.retriever(["--model", "pagerank"])(TOPICS)

    def test_rows_without_a_query_have_that_of_their_topic(self):
        rows = pd.DataFrame({"qid": ["1", "1", "2"], "query": [float("nan"), "ginkgo biloba", "water quality"],
                             "docno": ["contracts", "street-trees", "chesapeake-water"]})
        expected = self.index.bm25()(rows.assign(query=["ginkgo biloba", "ginkgo biloba", "water quality"]))
        for missing in (float("nan"), None, pd.NA, "", "  "):
            with self.subTest(repr(missing)):
                given = rows.astype({"query": object})
                given.loc[0, "query"] = missing
                pd.testing.assert_frame_equal(self.index.bm25()(given), expected)
                topics = given.drop(columns="docno")
                self.assertEqual(set(self.index.bm25()(topics)["query"]), {"ginkgo biloba", "water quality"})
        mixed = (self.index.bm25() % 1 + self.index.fsdm()) >> self.index.lmd()
        self.assertEqual(set(mixed(TOPICS)["query"]), set(TOPICS["query"]) & set(mixed(TOPICS)["query"]))
        self.assertEqual(mixed.search("ginkgo biloba").iloc[0]["docno"], "street-trees")

    def test_topics_without_a_query_are_errors(self):
        for missing in (float("nan"), None, pd.NA):
            rows = pd.DataFrame({"qid": ["1", "2"], "query": pd.Series(["ginkgo", missing], dtype=object)})
            for frame in (rows, rows.assign(docno="contracts")):
                with self.subTest(repr(missing)), self.assertRaisesRegex(ValueError, "no query, for example '2'"):
                    self.index.bm25()(frame)
        for query in (2020.0, ["ginkgo"], True):
            with self.subTest(repr(query)), self.assertRaisesRegex(TypeError, "topic '1': the query is"):
                self.index.bm25()(pd.DataFrame({"qid": ["1"], "query": pd.Series([query], dtype=object)}))
        years = [self.index.bm25()(pd.DataFrame({"qid": ["1"], "query": [year]}))["docno"].tolist() for year in (2020, "2020")]
        self.assertEqual(years[0], years[1])

    def test_texts_have_metadata_and_content(self):
        texts = (self.index.bm25() >> self.index.text_loader(budget=5)).search("ginkgo biloba")
        self.assertEqual(texts.iloc[0]["title"], "City tree register")
        self.assertIn("year of planting", texts.iloc[0]["text"])
        self.assertIn("Street Tree", texts.iloc[0]["text"])
        self.assertNotIn("Street Tree", self.index.compact_document("street-trees", budget=0)["text"])
        self.assertEqual(len(list(self.index.get_corpus_iter())), len(self.index))

    def test_the_artifact_is_found_without_and_with_its_package(self):
        self.assertIsInstance(pt.Artifact.load(str(HOME)), LodeseekIndex)
        self.assertEqual(pt.inspect.artifact_type_format(self.index), ("sparse_index", "lodeseek"))
        package = self.index.build_package(str(pathlib.Path(FOLDER.name) / "home.tar.lz4"), verbose=False)
        unpacked = pathlib.Path(FOLDER.name) / "unpacked"
        with LZ4FrameFile(package) as plain, tarfile.open(fileobj=plain, mode="r|") as archive:
            archive.extractall(unpacked, filter="data")
        self.assertTrue((unpacked / "pt_meta.json").is_file())
        copy = pt.Artifact.load(str(unpacked))
        pd.testing.assert_frame_equal(copy.fsdm()(TOPICS), self.index.fsdm()(TOPICS))

    def test_documents_are_indexed(self):
        documents = [
            {"docno": "trees", "title": "City \"trees\"", "text": "Species\nand girth", "keywords": ["parks", "nature"], "publisher": "Parks",
             "path": TESTDATA / "dumps/trees.nt.gz"},
            {"docno": "letters.2-x_y", "text": "Letters of a whaling captain", "rdf": '<urn:a> <urn:b> "harpoon" .\n'},
        ]
        index = LodeseekIndex(pathlib.Path(FOLDER.name) / "documents", ranking="words")
        self.addCleanup(index.collection.close)
        self.assertFalse(index.built())
        self.assertIs(index.index(iter(documents)), index)
        self.assertTrue(index.built())
        self.assertEqual(len(index), 2)
        queries = ["girth", "nature", "parks", "ginkgo", "captain", "harpoon"]
        topics = pd.DataFrame({"qid": range(len(queries)), "query": queries})
        self.assertEqual(index.bm25()(topics)["docno"].tolist(), ["trees"] * 4 + ["letters.2-x_y"] * 2)
        with self.assertRaisesRegex(ValueError, "is a home already"):
            index.index(documents)

    def test_documents_that_cannot_be_indexed_are_errors(self):
        for number, (text, documents) in enumerate({"two documents": [{"docno": "a"}, {"docno": "a"}], "there is no file": [{"docno": "a", "path": "/none.ttl"}],
                                                    "cannot keep their docno": [{"docno": "a b/c", "text": "x"}],
                                                    "no triples": [{"docno": "a", "rdf": "no RDF"}, {"docno": "b", "text": "x"}]}.items()):
            with self.subTest(text), self.assertRaisesRegex(ValueError, text):
                LodeseekIndex(pathlib.Path(FOLDER.name) / f"refused{number}").index(documents)


if __name__ == "__main__":
    unittest.main()
