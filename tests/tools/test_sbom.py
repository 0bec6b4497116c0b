"""Tests of tools/sbom.py on metadata made here."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
sys.dont_write_bytecode = True

import sbom  # noqa: E402


def package(name):
    return {"id": name, "name": name, "version": "1.0.0", "license": "MIT/Apache-2.0", "repository": None}


def needs(package, *others):
    return {"id": package, "deps": [{"pkg": name, "dep_kinds": [{"kind": kind}]} for name, kind in others]}


class Sbom(unittest.TestCase):
    def setUp(self):
        nodes = [needs("app", ("lib", None), ("tests", "dev")), needs("lib", ("make", "build")), needs("make"), needs("tests")]
        self.data = {"packages": [package(name) for name in ["app", "lib", "make", "tests"]],
                     "resolve": {"root": "app", "nodes": nodes}}
        self.lock = {"package": [{"name": "lib", "version": "1.0.0", "checksum": "ab"}, {"name": "app", "version": "1.0.0"}]}

    def test_components_are_those_of_the_build(self):
        made = sbom.document(self.data, self.lock, "a-target")
        self.assertEqual([one["purl"] for one in made["components"]], ["pkg:cargo/lib@1.0.0", "pkg:cargo/make@1.0.0"])
        lib = made["components"][0]
        self.assertEqual(lib["hashes"], [{"alg": "SHA-256", "content": "ab"}])
        self.assertEqual(lib["licenses"], [{"expression": "MIT OR Apache-2.0"}])
        self.assertEqual(made["metadata"]["component"]["type"], "application")

    def test_every_dependency_is_a_component(self):
        made = sbom.document(self.data, self.lock, "a-target")
        known = {one["bom-ref"] for one in made["components"]} | {made["metadata"]["component"]["bom-ref"]}
        for one in made["dependencies"]:
            self.assertLessEqual({one["ref"], *one["dependsOn"]}, known)
        self.assertEqual(made["dependencies"][0], {"ref": "pkg:cargo/app@1.0.0", "dependsOn": ["pkg:cargo/lib@1.0.0"]})


if __name__ == "__main__":
    unittest.main()
