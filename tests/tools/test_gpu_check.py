"""Tests of tools/gpu_check.py with synthetic pieces, vectors and rankings: no network, no GPU, no program."""

import json
import math
import pathlib
import struct
import sys
import tempfile
import unittest
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
sys.dont_write_bytecode = True

import gpu_check  # noqa: E402


class Pieces(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.archive, self.joined = self.folder / "archive", self.folder / "joined"
        self.archive.write_bytes(bytes(range(250)))

    def test_joined_pieces_are_the_archive(self):
        for size, count in [(100, 3), (125, 2), (250, 1), (251, 1)]:
            self.assertEqual(gpu_check.split(self.archive, self.folder, {"datasets": 7}, size), count)
            self.assertEqual(gpu_check.join(self.folder, self.joined), {"datasets": 7})
            self.assertEqual(self.joined.read_bytes(), self.archive.read_bytes())
            self.assertLessEqual(max(path.stat().st_size for path in self.folder.glob("piece-*")), 251)

    def test_a_damaged_or_missing_piece_is_named(self):
        gpu_check.split(self.archive, self.folder, {}, 100)
        piece = self.folder / "piece-001"
        piece.write_bytes(piece.read_bytes()[:-1] + b"x")
        with self.assertRaisesRegex(gpu_check.CheckError, "piece-001 is damaged"):
            gpu_check.join(self.folder, self.joined)
        piece.unlink()
        with self.assertRaisesRegex(gpu_check.CheckError, "piece-001 is missing"):
            gpu_check.join(self.folder, self.joined)
        (self.folder / gpu_check.MANIFEST).unlink()
        with self.assertRaisesRegex(gpu_check.CheckError, "run `gpu_check.py prepare`"):
            gpu_check.join(self.folder, self.joined)

    def test_pieces_are_smaller_than_64_mib(self):
        self.assertLess(gpu_check.PIECE, 64)


class Vectors(unittest.TestCase):
    def write(self, folder, checksum=None, precision="f16"):
        """Writes vectors of two datasets in the format of the index: two texts and one text."""
        vectors = folder / "vectors/0123"
        vectors.mkdir(parents=True)
        blocks = [struct.pack("<4e", 1, 0, 0.5, 0.25), struct.pack("<2e", 0, 1)]
        (vectors / "blocks.0").write_bytes(b"??" + b"".join(blocks))
        lines = [{"format": 1, "columns": 2, "precision": precision, "data": "blocks.0"},
                 ["a", {"offset": 2, "rows": [1, 1], "checksum": zlib.crc32(blocks[0])}],
                 ["b", {"offset": 10, "rows": [0, 1], "checksum": checksum or zlib.crc32(blocks[1])}]]
        (vectors / "directory").write_text("".join(json.dumps(line) + "\n" for line in lines))

    def test_stored_vectors_are_read(self):
        with tempfile.TemporaryDirectory() as name:
            self.write(pathlib.Path(name))
            self.assertEqual(gpu_check.read_vectors(pathlib.Path(name)), {("a", 0): (1, 0), ("a", 1): (0.5, 0.25), ("b", 1): (0, 1)})

    def test_damaged_vectors_and_other_formats_are_errors(self):
        for options, message in [({"checksum": 1}, "vectors of b are damaged"), ({"precision": "int8"}, "another format")]:
            with tempfile.TemporaryDirectory() as name, self.assertRaisesRegex(gpu_check.CheckError, message):
                self.write(pathlib.Path(name), **options)
                gpu_check.read_vectors(pathlib.Path(name))

    def passes(self, ours, theirs, model="fp32"):
        return gpu_check.vectors_check("vectors", model, {"a": (0.6, 0.8), **ours}, {"a": (0.6, 0.8), **theirs})[1]

    def test_a_difference_beyond_the_tolerance_fails(self):
        self.assertTrue(self.passes({}, {}))
        self.assertTrue(self.passes({"b": (1.0, 0.0)}, {"b": (1.0, 0.0009)}))
        self.assertFalse(self.passes({"b": (1.0, 0.0)}, {"b": (1.0, 0.0011)}))
        self.assertTrue(self.passes({"b": (1.0, 0.0)}, {"b": (1.0, 0.0019)}, "int8"))
        self.assertFalse(self.passes({"b": (1.0, 0.0)}, {"b": (1.0, 0.0021)}, "int8"))

    def test_a_cosine_beyond_the_tolerance_fails(self):
        # 1,000 numbers, each of which differs by less than the tolerance.
        ours = [math.sqrt(1 / 1000)] * 1000
        self.assertFalse(self.passes({"b": ours}, {"b": [x + 0.0009 * (-1) ** n for n, x in enumerate(ours)]}))

    def test_vectors_that_are_missing_zero_or_not_finite_fail(self):
        self.assertFalse(gpu_check.vectors_check("vectors", "fp32", {}, {})[1])
        self.assertFalse(self.passes({"b": (1.0, 0.0)}, {}))
        for damaged in [(0.0, 0.0), (math.nan, 1.0), (1.0, math.nan), (math.inf, 0.0), ()]:
            self.assertFalse(self.passes({"b": (1.0, 0.0)}, {"b": damaged}), damaged)


class Results(unittest.TestCase):
    RUN = "q1\tQ0\ta\t1\t0.9\tt\nq1\tQ0\tb\t2\t0.5\tt\nq1\tQ0\tc\t3\t0.499\tt\n"

    def check(self, other):
        ours, theirs = gpu_check.read_run(self.RUN), gpu_check.read_run(other)
        return gpu_check.rankings_check("rankings", "fp32", ours, theirs)[1:]

    def test_only_nearly_equal_scores_may_change_places(self):
        self.assertEqual(self.check(self.RUN)[0], True)
        passed, detail = self.check(self.RUN.replace("b", "x").replace("c", "b").replace("x", "c"))
        self.assertTrue(passed)
        self.assertIn("0 of 1 topics", detail)
        passed, detail = self.check(self.RUN.replace("a", "x").replace("b", "a").replace("x", "b"))
        self.assertFalse(passed)
        self.assertTrue(detail.endswith(", q1"))

    def test_missing_topics_and_datasets_fail(self):
        for other in ["", self.RUN.replace("q1", "q2"), self.RUN.splitlines()[0], self.RUN.replace("c", "d")]:
            self.assertFalse(self.check(other)[0], other)

    def test_a_fallback_to_the_cpu_fails(self):
        for device, message, growth, passed in [
                ("cuda", "the models run on cuda:0\n", 900, True), ("cuda", "the models run on cuda:0\n", None, True),
                ("cuda", "the models run on cuda:0\n", 3, False), ("cuda", "the models run on cpu, 2 threads; no GPU: …\n", 900, False),
                ("cuda", "", 900, False), ("cpu", "12 datasets\nthe models run on cpu, 2 threads\n", None, True)]:
            self.assertEqual(gpu_check.provider_check("provider", device, message, growth)[1], passed, (device, message, growth))

    def test_the_table_is_aligned(self):
        lines = gpu_check.table([["Lodeseek", "fp32", "cuda", 1234.56, 0.5, 100.0, None]]).splitlines()
        self.assertEqual(lines, ["program   model  device  texts/s  ms/query  RSS MiB  GPU MiB",
                                 "Lodeseek  fp32   cuda    1234.6   0.5       100.0    –"])

    def test_memory_and_exit_codes_of_commands(self):
        output, messages, seconds, memory, _ = gpu_check.execute([sys.executable, "-c", "import sys; print(1); print(2, file=sys.stderr)"], None)
        self.assertEqual((output, messages), ("1\n", "2\n"))
        self.assertTrue(0 < seconds < 60 and 1 < memory < 1000)
        with self.assertRaisesRegex(gpu_check.CheckError, "exited with 3: reason"):
            gpu_check.execute([sys.executable, "-c", "import sys; print('reason', file=sys.stderr); sys.exit(3)"], None)

    def test_generated_data_are_the_same_each_time(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            tokenizer = folder / "tokenizer.json"
            tokenizer.write_text(json.dumps({"model": {"vocab": {"[CLS]": 0, "water": 1, "river": 2, "##ing": 3, "gauges": 4}}}))
            gpu_check.write_data(folder, tokenizer, 3)
            texts, topics = (folder / "texts.json").read_text(), (folder / "topics.tsv").read_text()
            gpu_check.write_data(folder, tokenizer, 3)
            self.assertEqual((texts, topics), ((folder / "texts.json").read_text(), (folder / "topics.tsv").read_text()))
            self.assertEqual(len(json.loads(texts)), 3)
            self.assertEqual(len(topics.splitlines()), gpu_check.TOPICS)
            self.assertEqual((folder / "generated.ttl").read_text().count("a dcat:Dataset"), 3)


if __name__ == "__main__":
    unittest.main()
