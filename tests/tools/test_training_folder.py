"""Settings of a model's folder: what training reads and writes is what the engine reads."""

import json
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "training"))

from lodeseek_training import folder  # noqa: E402


class FolderTest(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)
        (self.folder / "config.json").write_text('{"max_position_embeddings": 512}')
        folder.store(self.folder / folder.LENGTH, {"max_seq_length": 256, "do_lower_case": False})
        folder.store(self.folder / folder.POOLING, {"word_embedding_dimension": 384, "pooling_mode_mean_tokens": True})

    def test_the_included_model_states_both(self):
        model = ROOT / "models" / "lodeseek-minilm"
        self.assertEqual((folder.length(model), folder.pooling(model)), (256, "mean"))

    def test_a_stage_changes_what_it_sets(self):
        folder.write(self.folder, None, None)
        self.assertEqual((folder.length(self.folder), folder.pooling(self.folder)), (256, "mean"))
        folder.write(self.folder, 512, "cls")
        self.assertEqual((folder.length(self.folder), folder.pooling(self.folder)), (512, "cls"))
        self.assertIs(json.loads((self.folder / folder.LENGTH).read_text())["do_lower_case"], False)
        settings = json.loads((self.folder / folder.POOLING).read_text())
        self.assertEqual((settings["pooling_mode_mean_tokens"], settings["word_embedding_dimension"]), (False, 384))

    def test_without_the_setting_the_network_decides(self):
        (self.folder / folder.LENGTH).unlink()
        self.assertEqual(folder.length(self.folder), 512)

    def test_what_cannot_be_is_refused(self):
        for length, pooling in [(2, None), (513, None), (None, "max")]:
            with self.assertRaises(SystemExit):
                folder.write(self.folder, length, pooling)
        for settings in [{}, {"pooling_mode_max_tokens": True}, {"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": True},
                         {"pooling_mode": "lasttoken"}, {"pooling_mode_mean_tokens": True, "pooling_mode_max_tokens": True}]:
            folder.store(self.folder / folder.POOLING, settings)
            with self.assertRaises(SystemExit):
                folder.pooling(self.folder)

    def test_the_new_form_of_the_pooling(self):
        folder.store(self.folder / folder.POOLING, {"pooling_mode": "cls"})
        self.assertEqual(folder.pooling(self.folder), "cls")


if __name__ == "__main__":
    unittest.main()
