"""Tests over ``testdata/``, and over the published collections if LODESEEK_DATA names their folder."""

import os
import pathlib
import unittest

import ir_datasets
import ir_datasets_lodeseek as collections

TESTDATA = pathlib.Path(os.environ["TESTDATA"])
DATA = pathlib.Path(os.environ.get("LODESEEK_DATA", "/nonexistent"))
needs_data = unittest.skipUnless(DATA.exists(), "LODESEEK_DATA does not name a folder of collections")


class Collections(unittest.TestCase):
    def check_ids(self, dataset):
        """Checks that all judged topics and documents exist."""
        topics = {query.query_id for query in dataset.queries_iter()}
        self.assertEqual({qrel.query_id for qrel in dataset.qrels_iter()} - topics, set())
        if dataset.has_docs():
            documents = {document.doc_id for document in dataset.docs_iter()}
            self.assertEqual({qrel.doc_id for qrel in dataset.qrels_iter()} - documents, set())

    def test_user_collections(self):
        mine = collections.register_collection("mine", TESTDATA, catalog=TESTDATA / "acordar.json")
        self.assertIs(ir_datasets.load("lodeseek/mine"), mine)
        self.assertEqual(len(list(mine.queries_iter())), 10)
        self.assertEqual({type(qrel.relevance) for qrel in mine.qrels_iter()}, {int})
        tree = mine.docs_store().get("42")
        self.assertEqual((tree.title, tree.description, tree.keywords), ("City tree register", "", ["trees", "parks", "urban greenery"]))
        self.assertIn("urban greenery", tree.default_text())
        with self.assertRaises(KeyError):
            mine.docs_store().get("43000")
        tests = [set(map(tuple, ir_datasets.load(f"lodeseek/mine/fold{fold}/test").qrels_iter())) for fold in range(3)]
        self.assertEqual({row[:3] for rows in tests for row in rows}, {tuple(row)[:3] for row in mine.qrels_iter()})

    def test_missing_files_are_errors(self):
        nothing = collections.register_collection("nothing", "/nonexistent")
        self.assertFalse(nothing.has_docs() or nothing.has_qrels())
        with self.assertRaises(FileNotFoundError):
            list(nothing.queries_iter())

    @needs_data
    def test_acordar(self):
        acordar = collections.register_acordar(DATA / "acordar")
        self.assertEqual((len(list(acordar.queries_iter())), len(list(acordar.qrels_iter()))), (493, 10671))
        self.check_ids(acordar)
        for fold in range(5):
            self.assertTrue(list(ir_datasets.load(f"lodeseek/acordar/fold{fold}/valid").qrels_iter()))

    @needs_data
    def test_acordar2(self):
        acordar = collections.register_acordar2(DATA / "acordar2")
        self.assertEqual((len(list(acordar.queries_iter())), len(list(acordar.qrels_iter()))), (510, 19340))
        self.check_ids(acordar)
        questions = ir_datasets.load("lodeseek/acordar2/questions")
        self.assertEqual(sum(len(query.other_forms) for query in questions.queries_iter()), 1337)
        self.check_ids(questions)

    @needs_data
    def test_datafinder(self):
        datafinder = collections.register_datafinder(DATA / "datafinder")
        topics = {query.query_id for query in datafinder.queries_iter()}
        judged = {qrel.query_id for qrel in datafinder.qrels_iter()}
        # Of the published judgements, 4 topics are not in dev.jsonl and 26 datasets are not in the collection.
        self.assertEqual((datafinder.docs_count(), len(topics), len(judged), len(topics & judged)), (3294, 195, 199, 195))
        documents = {document.doc_id for document in datafinder.docs_iter()}
        relevant = {qrel.doc_id for qrel in datafinder.qrels_iter()}
        self.assertEqual((len(relevant), len(relevant & documents)), (207, 181))

    @needs_data
    def test_real_datasets(self):
        lod = collections.register_collection("lod", DATA / "lod" / "dev", catalog=DATA / "lod" / "datasets.json")
        self.assertEqual((lod.docs_count(), len(list(lod.queries_iter())), len(list(lod.qrels_iter()))), (476, 44, 916))
        self.check_ids(lod)


if __name__ == "__main__":
    unittest.main()
