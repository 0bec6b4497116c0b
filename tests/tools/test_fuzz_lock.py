"""Tests that fuzz/Cargo.lock fits the crates: the fuzz targets are not built with every change."""

import tomllib
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def toml(path):
    return tomllib.loads((ROOT / path).read_text())


def names(table, is_optional):
    """Returns the packages of a table of dependencies."""
    wanted = ((name, {} if isinstance(entry, str) else entry) for name, entry in table.items())
    return {entry.get("package", name) for name, entry in wanted if bool(entry.get("optional")) == is_optional}


def versions(lock):
    """Returns the versions of the packages by name."""
    found = {}
    for package in lock["package"]:
        found.setdefault(package["name"], set()).add(package["version"])
    return found


class FuzzLock(unittest.TestCase):
    def setUp(self):
        self.lock = toml("fuzz/Cargo.lock")

    def test_dependencies_are_those_of_the_crates(self):
        checked = 0
        for package in self.lock["package"]:
            name = package["name"]
            if not name.startswith("lodeseek-"):
                continue
            folder = "fuzz" if name == "lodeseek-fuzz" else f"crates/{name.removeprefix('lodeseek-')}"
            manifest = toml(f"{folder}/Cargo.toml")
            locked = {entry.split(" ")[0] for entry in package.get("dependencies", [])}
            tables = [manifest, *manifest.get("target", {}).values()]
            required = names(manifest["dependencies"], False)
            known = required.union(*(names(table.get(kind, {}), optional) for table in tables
                                     for kind in ("dependencies", "build-dependencies") for optional in (False, True)))
            self.assertLessEqual(required, locked, f"{name}: update fuzz/Cargo.lock: cargo metadata --manifest-path fuzz/Cargo.toml")
            self.assertLessEqual(locked, known, f"{name}: fuzz/Cargo.lock has a dependency that the crate lacks")
            checked += 1
        self.assertGreater(checked, 10)

    def test_versions_are_those_of_the_program(self):
        program = versions(toml("Cargo.lock"))
        for name, found in versions(self.lock).items():
            self.assertLessEqual(found, program.get(name, found), f"{name}: fuzz/Cargo.lock has another version than Cargo.lock")


if __name__ == "__main__":
    unittest.main()
