"""Tests of tools/packages.py with wheels made here, without a network."""

import hashlib
import os
import pathlib
import sys
import tempfile
import unittest
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
sys.dont_write_bytecode = True

import packages  # noqa: E402


def write_wheel(folder):
    """Writes a package with one module and returns the SHA-256 of its file."""
    path = folder / "tiny_example-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr("tiny_example.py", "ANSWER = 42\n")
        wheel.writestr("tiny_example-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny-example\nVersion: 1.0\n")
        wheel.writestr("tiny_example-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr("tiny_example-1.0.dist-info/RECORD", "")
    return hashlib.sha256(path.read_bytes()).hexdigest()


class Packages(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.requirements = packages.REQUIREMENTS
        packages.REQUIREMENTS = self.folder
        self.addCleanup(setattr, packages, "REQUIREMENTS", self.requirements)
        for name, value in [("PIP_NO_INDEX", "1"), ("PIP_FIND_LINKS", str(self.folder))]:
            os.environ[name] = value
            self.addCleanup(os.environ.pop, name)
        self.hash = write_wheel(self.folder)

    def require(self, hash):
        (self.folder / "tiny.txt").write_text(f"tiny-example==1.0 --hash=sha256:{hash}\n")

    def test_a_file_with_its_hash_is_installed_once(self):
        self.require(self.hash)
        folder = packages.cached("tiny", self.folder / "cache")
        self.assertEqual((folder / "tiny_example.py").read_text(), "ANSWER = 42\n")
        (self.folder / "tiny_example-1.0-py3-none-any.whl").unlink()
        self.assertEqual(packages.cached("tiny", self.folder / "cache"), folder)

    def test_a_file_with_another_hash_ends_the_program(self):
        self.require("0" * 64)
        for get in [lambda: packages.cached("tiny", self.folder / "cache"), lambda: packages.wheel("tiny", self.folder / "wheels")]:
            with self.assertRaises(SystemExit) as raised:
                get()
            self.assertIn("another SHA-256 than tools/requirements/tiny.txt", str(raised.exception))
            self.assertIn("packages.py --lock tiny", str(raised.exception))
        self.assertEqual([path.name for path in (self.folder / "cache").glob("*")], [], "nothing is left behind")

    def test_a_missing_package_is_reported(self):
        (self.folder / "other.txt").write_text(f"other-example==1.0 --hash=sha256:{self.hash}\n")
        with self.assertRaisesRegex(packages.PackageError, "other-example"):
            packages.install("other", self.folder / "other")

    def test_every_list_of_packages_has_hashes(self):
        names = sorted(path.stem for path in self.requirements.glob("*.in"))
        self.assertTrue(names)
        for name in names:
            text = (self.requirements / f"{name}.txt").read_text().replace("\\\n", "")
            for line in filter(None, text.splitlines()):
                self.assertRegex(line, r"^[A-Za-z0-9._\[\]-]+==\S+ .*--hash=sha256:[0-9a-f]{64}", name)
            wanted, locked = [
                {line.split("==")[0].split("[")[0].lower().replace("_", "-") for line in lines}
                for lines in [(self.requirements / f"{name}.in").read_text().split(), text.splitlines()]]
            self.assertLessEqual(wanted, locked, f"run `tools/packages.py --lock {name}`")


if __name__ == "__main__":
    unittest.main()
